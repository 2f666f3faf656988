"""hello_world_server against both HTTP/1.1 corpora, whole, byte by byte and split at every boundary."""
import io

import pytest

import h1check
import without_io_uring
from server_process import ENGINES, Server

# A wait shorter than a busy machine's scheduling delay could only hide an answer that is allowed to be missing. The
# timeout is only spent where an answer is required and missing.
OPTIONS = ["--jobs", "32", "--wait", "0.25", "--timeout", "10"]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_case_of_both_corpora_passes(engine):
    """No result may fail, and few may be other than the preferred outcome."""
    if engine == "io_uring" and not without_io_uring.available():
        pytest.skip("io_uring is not allowed here")
    with Server(engine=engine) as server:
        options = h1check.parse_options([*OPTIONS, "127.0.0.1", str(server.port)])
        out = io.StringIO()
        summary = h1check.run(h1check.select_cases(options), options, out)
        report = out.getvalue()
    print("\n".join(report.splitlines()[-5:]))
    assert summary.totals["failed"] == 0, report
    assert summary.cases > 500 and summary.totals["passed"] > summary.cases

# SPDX-License-Identifier: Apache-2.0
