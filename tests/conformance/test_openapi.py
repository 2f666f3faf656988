"""OpenAPI documents: kept in the repository, made without starting anything, and equal to the served ones."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from fullstack_process import FullStack  # noqa: E402  (its folder is not this one)
from program_process import built  # noqa: E402

EXAMPLES = 12
KEPT = ROOT / "apps/fullstack/openapi.json"


def tool():
    """Return the path of schemathesis, or skip."""
    beside = pathlib.Path(sys.executable).with_name("schemathesis")
    path = str(beside) if beside.exists() else shutil.which("schemathesis")
    if not path:
        pytest.skip("schemathesis is not installed: tools/setup installs it into .venv")
    return path


def run(*command, folder, **variables):
    return subprocess.run(command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True,
                          timeout=60, check=False)


@pytest.mark.parametrize("document", ["openapi.json", "openapi-root.json"])
def test_schemathesis_finds_nothing(tmp_path, document):
    """Every operation, with what fits and what does not, and sequences of them; replies are as the document says."""
    found = tool()
    with FullStack(tmp_path, sets=["log.levels=warn"]) as program:
        done = subprocess.run(
            [found, "run", program.url(f"/{document}"), "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color",
             "--phases", "examples,coverage,fuzzing,stateful"],
            cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
        assert re.search(r"Stateful", done.stdout), done.stdout[-3000:]
        assert program.alive() and program.client.get("/ready").status_code == 200


def test_the_document_in_the_repository_is_what_fullstack_serves(tmp_path):
    """Compare by the tool, and over HTTP; a difference is shown, and is exit status 1."""
    check = run(built("katana"), "openapi", "dump", "--program", built("fullstack"), "--check", KEPT, folder=tmp_path)
    assert check.returncode == 0, check.stdout + check.stderr
    changed = tmp_path / "changed.json"
    changed.write_text(KEPT.read_text().replace('"Adds a user"', '"Adds an user"', 1))
    check = run(built("katana"), "openapi", "dump", "--program", built("fullstack"), "--check", changed,
                folder=tmp_path)
    assert check.returncode == 1 and "openapi dump --out" in check.stderr, check.stderr
    assert '-        "summary": "Adds an user"' in check.stdout and '+        "summary": "Adds a user"' in check.stdout
    changed.unlink()
    assert list(tmp_path.iterdir()) == []
    with FullStack(tmp_path) as program:
        assert program.client.get("/openapi.json").json() == json.loads(KEPT.read_text())


def test_nothing_is_opened_for_a_document(tmp_path):
    """No socket, no file that is written, no database, and no variable of the environment."""
    trace = tmp_path / "trace"
    done = run("strace", "-f", "-o", trace, "-e", "trace=network,openat,mkdir,unlink,rename", built("fullstack"),
               "--print-openapi", folder=tmp_path, KATANA_PORT="x",
               KATANA_DATABASE__URL="postgresql://nowhere.example/")
    assert done.returncode == 0 and done.stdout == KEPT.read_text(), done.stderr
    calls = trace.read_text()
    assert "openat(" in calls  # it was traced
    for call in ("socket(", "bind(", "listen(", "connect(", "O_CREAT", "O_WRONLY", "mkdir("):
        assert call not in calls, [line for line in calls.splitlines() if call in line]
    assert list(tmp_path.iterdir()) == [trace]


def test_a_document_that_there_is_not_is_named(tmp_path):
    """With those that there are; a program without one says how it gets one."""
    done = run(built("fullstack"), "--print-openapi", "--document", "partner", folder=tmp_path)
    assert done.returncode == 2 and "no document 'partner'; there are: 'default' 'root'" in done.stderr, done.stderr
    done = run(built("katana"), "openapi", "dump", folder=tmp_path)
    assert done.returncode == 2 and "CMakeLists.txt" in done.stderr, done.stderr


def test_a_document_of_3_0_has_nothing_that_is_of_3_1(tmp_path):
    """For generators that read no other."""
    done = run(built("katana"), "openapi", "dump", "--program", built("fullstack"), "--specification", "3.0",
               folder=tmp_path)
    assert done.returncode == 0 and '"openapi": "3.0.3"' in done.stdout, done.stderr
    assert '"nullable": true' in done.stdout and '"null"' not in done.stdout and '"identifier"' not in done.stdout

# SPDX-License-Identifier: Apache-2.0
