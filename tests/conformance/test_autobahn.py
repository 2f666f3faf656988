"""The Autobahn test suite against hello_world_server's /ws. Skipped where the suite is not installed.

It runs under Python 2.7 only, so it is no part of `make setup`. To have it (pyenv or another Python 2.7):

    python2.7 -m pip install --target build/autobahn autobahntestsuite && touch build/autobahn/zope/__init__.py
    KATANA_AUTOBAHN=build/autobahn pytest tests/conformance/test_autobahn.py
    KATANA_AUTOBAHN=build/autobahn KATANA_AUTOBAHN_CASES='*' pytest tests/conformance/test_autobahn.py   # all 517
"""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from program_process import ROOT
from server_process import Server

# Without groups 9, 12 and 13, whose subjects test_ws.py has, and which take minutes.
CASES = ["1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "10.*"]
PASSED = ("OK", "INFORMATIONAL")    # never NON-STRICT


def test_every_case_is_strictly_right(tmp_path):
    """Behaviour and close handshake of each case."""
    suite = os.environ.get("KATANA_AUTOBAHN", "")
    python = shutil.which(os.environ.get("KATANA_PYTHON2", "python2.7"))
    if not suite or python is None:
        pytest.skip("KATANA_AUTOBAHN names no folder with the suite, or there is no python2.7")
    cases = os.environ.get("KATANA_AUTOBAHN_CASES", "")
    with Server("--websocket-bytes-max", str(32 << 20), "--websocket-deflate", threads=1) as server:
        spec = {"outdir": str(tmp_path / "reports"), "cases": cases.split() or CASES, "exclude-cases": [],
                "exclude-agent-cases": {},
                "servers": [{"agent": "KATANA", "url": f"ws://127.0.0.1:{server.port}/ws"}]}
        (tmp_path / "spec.json").write_text(json.dumps(spec))
        subprocess.run([python, "-m", "autobahntestsuite.wstest", "-m", "fuzzingclient", "-s",
                        str(tmp_path / "spec.json")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "PYTHONPATH": str(pathlib.Path(ROOT / suite).resolve())},
                       timeout=3600 if cases else 240)
        results = json.loads((tmp_path / "reports" / "index.json").read_text())["KATANA"]
    failed = {name: (each["behavior"], each["behaviorClose"]) for name, each in results.items()
              if each["behavior"] not in PASSED or each["behaviorClose"] not in PASSED}
    assert not failed and len(results) > (0 if cases else 240), failed

# SPDX-License-Identifier: Apache-2.0
