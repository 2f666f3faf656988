"""The OpenAPI document of fullstack, judged by schemathesis against the running program."""
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from fullstack_process import FullStack  # noqa: E402  (its folder is not this one)

EXAMPLES = 12


def tool():
    """Return the path of schemathesis, or skip."""
    beside = pathlib.Path(sys.executable).with_name("schemathesis")
    path = str(beside) if beside.exists() else shutil.which("schemathesis")
    if not path:
        pytest.skip("schemathesis is not installed: tools/setup installs it into .venv")
    return path


def test_schemathesis_finds_nothing(tmp_path):
    """Every operation, with what fits and what does not; replies are as the document says, and no server error."""
    found = tool()
    with FullStack(tmp_path, sets=["log.levels=warn"]) as program:
        run = subprocess.run(
            [found, "run", program.url("/openapi.json"), "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color"],
            cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
        assert program.alive() and program.client.get("/ready").status_code == 200

# SPDX-License-Identifier: Apache-2.0
