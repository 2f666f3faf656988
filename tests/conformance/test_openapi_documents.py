"""Public OpenAPI documents: each is generated, with as many operations and errors as the list says.

KATANA_OPENAPI_PACKAGES names a folder with the unpacked npm packages of openapi_documents.json (npm pack NAME@VERSION,
then tar). Each is in a folder of the name that the list gives it. Without it the tests are skipped.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from program_process import built  # noqa: E402  (its folder is not this one)

LIST = json.loads(pathlib.Path(__file__).with_name("openapi_documents.json").read_text())
SMALL_BYTES = 3 << 20
STRICT = ("--client", "--group-by-path", "--quiet")


def path_of(document):
    """Return the document's path, or skip."""
    folder = os.environ.get("KATANA_OPENAPI_PACKAGES")
    if not folder:
        pytest.skip("KATANA_OPENAPI_PACKAGES names no folder with the packages of openapi_documents.json")
    path = pathlib.Path(folder) / document["package"] / "package" / document["file"]
    if not path.exists():
        pytest.skip(f"{path} is missing: npm pack {LIST['packages'][document['package']]}")
    if path.stat().st_size > SMALL_BYTES:
        pytest.skip(f"{path.name} has more than {SMALL_BYTES >> 20} MiB")
    return path


def generate(path, out, *flags):
    return subprocess.run([built("katana"), "openapi", "generate", str(path), "--out", str(out), *flags],
                          capture_output=True, text=True, timeout=300, check=False)


def errors_of(done):
    found = re.search(r"(\d+) errors: nothing is written", done.stderr)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("document", LIST["documents"], ids=lambda each: pathlib.PurePath(each["file"]).stem)
def test_a_public_document_is_generated(document, tmp_path):
    path = path_of(document)
    done = generate(path, tmp_path / "partial", *STRICT, "--allow-partial")
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"{document['operations']} operations, {document['types']} types" in done.stdout
    assert errors_of(generate(path, tmp_path / "strict", *STRICT)) == document["errors"]
    assert errors_of(generate(path, tmp_path / "client", *STRICT, "--no-server")) == document["client_errors"]

# SPDX-License-Identifier: Apache-2.0
