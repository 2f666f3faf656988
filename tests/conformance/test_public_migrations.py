"""Migrations of public projects: each is applied to PostgreSQL as it is, in the order of its project.

KATANA_MIGRATION_PACKAGES names a folder with the packages of public_migrations.json, unpacked as tar does it. Without
it the tests are skipped.
"""
import glob
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from program_process import built  # noqa: E402  (its folder is not this one)

PACKAGES = json.loads(pathlib.Path(__file__).with_name("public_migrations.json").read_text())["packages"]


def files_of(package):
    """Return the files in their order, or skip."""
    folder = os.environ.get("KATANA_MIGRATION_PACKAGES")
    if not folder:
        pytest.skip("KATANA_MIGRATION_PACKAGES names no folder with the packages of public_migrations.json")
    found = sorted(glob.glob(f"{folder}/{package['files']}"))
    if not found:
        pytest.skip(f"{package['files']} is missing: {package['from']}")
    return found


@pytest.mark.parametrize("name", PACKAGES)
def test_the_migrations_of_a_public_project_are_applied(name, tmp_path):
    """By `katana sql check`, which applies them to a server of its own before it looks at a statement."""
    package = PACKAGES[name]
    files = files_of(package)
    assert len(files) == package["count"]
    folder = tmp_path / "migrations"
    folder.mkdir()
    for number, file in enumerate(files, 1):
        text = pathlib.Path(file).read_text(encoding="utf-8")
        for there, here in package.get("replace", {}).items():
            text = text.replace(there, here)
        first = package.get("first", "") if number == 1 else ""
        (folder / f"{number:04}_{name.replace('-', '_')}.sql").write_text(first + text, encoding="utf-8")
    source = tmp_path / "statements.cpp"
    source.write_text('constexpr auto now = database::sql("SELECT now()");\n', encoding="utf-8")
    subprocess.run(["c++", "-x", "c++", "-c", "-o", tmp_path / "statements.o", os.devnull], check=True)
    target = tmp_path / "public.target"
    target.write_text(f"name public\nfolder {tmp_path}\nlock {tmp_path}/sql.lock\ndialect postgres\n"
                      f"migrations postgres {folder}\nsource {source}\nobject {tmp_path}/statements.o\n",
                      encoding="utf-8")
    done = subprocess.run([built("katana"), "sql", "check", "--update", str(target)], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]

# SPDX-License-Identifier: Apache-2.0
