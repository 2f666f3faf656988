"""katana-migrate as a program: its output, and its changes of the file."""
import os
import re
import sqlite3
import subprocess

import pytest

PROGRAM = os.path.join(os.environ.get("KATANA_BUILD", "build/release"), "katana-migrate")


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def folder(tmp_path):
    """Two migrations."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m/1_create.sql").write_text("CREATE TABLE users (id INTEGER PRIMARY KEY);")
    (tmp_path / "m/2_add.sql").write_text("ALTER TABLE users ADD COLUMN name TEXT;")
    return tmp_path


def test_help_and_version():
    """Both on standard output, exit 0."""
    for flag, expected in (("--help", r"--dry-run"), ("--version", r"^katana-migrate \d+\.\d+\.\d+\n$")):
        ended = run(flag)
        assert ended.returncode == 0 and re.search(expected, ended.stdout) and not ended.stderr


def test_wrong_usage_is_one_line_and_exit_2():
    """Each line names the mistake."""
    for arguments, named in (("--dir m", "--database"), ("--database a.db", "--dir"),
                             ("--database a.db --dir m --x", "--x")):
        ended = run(*arguments.split())
        assert ended.returncode == 2 and ended.stderr.count("\n") == 1 and named in ended.stderr


def test_a_dry_run_changes_nothing_and_a_run_applies_each_once(folder):
    """The second run finds nothing to do."""
    path = folder / "a.db"
    arguments = ("--database", path, "--dir", folder / "m")
    dry = run(*arguments, "--dry-run")
    assert dry.returncode == 0 and "would apply 1_create.sql\nwould apply 2_add.sql\n" in dry.stdout
    assert run(*arguments).stdout.startswith("applied 1_create.sql\napplied 2_add.sql\n")
    assert run(*arguments).stdout == f"{path}: 2 migrations before, 0 applied\n"
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT id, name FROM users").fetchall() == []
    connection.close()


def test_a_url_names_the_database_and_a_file_may_be_for_one_kind(folder, postgres):
    """sqlite:FILE and postgresql://; each applies its own files and those for both."""
    (folder / "m/3_kind.sqlite.sql").write_text("CREATE TABLE kind (of_sqlite INTEGER) STRICT;")
    (folder / "m/3_kind.postgres.sql").write_text("CREATE TABLE kind (of_postgres JSONB);")
    sqlite = run("--database", f"sqlite:{folder / 'a.db'}", "--dir", folder / "m")
    assert sqlite.returncode == 0 and "applied 3_kind.sqlite.sql\n" in sqlite.stdout
    assert f"{folder / 'a.db'}: 0 migrations before, 3 applied" in sqlite.stdout
    url = postgres.new_database()
    arguments = ("--database", url.replace("katana@", "katana:hush-hush@"), "--dir", folder / "m")
    dry = run(*arguments, "--dry-run")
    assert dry.returncode == 0 and dry.stdout.endswith("0 migrations before, 3 to apply; nothing was changed\n"), dry
    applied = run(*arguments)
    assert applied.returncode == 0 and "applied 3_kind.postgres.sql\n" in applied.stdout
    assert "hush-hush" not in dry.stdout + applied.stdout
    assert run(*arguments).stdout.endswith("3 migrations before, 0 applied\n")
    assert postgres.ask("SELECT count(*) FROM kind", url.rsplit("/", 1)[1]) == "0"
    (folder / "m/4_wrong.postgres.sql").write_text("CREATE TABLE broken (;")
    wrong = run(*arguments)
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1 and "4_wrong.postgres.sql" in wrong.stderr
    malformed = run("--database", "postgresql:nowhere", "--dir", folder / "m")
    assert malformed.returncode == 2 and "--database" in malformed.stderr


def test_a_changed_migration_is_refused(folder):
    """One line on standard error, exit 1."""
    arguments = ("--database", folder / "a.db", "--dir", folder / "m")
    assert run(*arguments).returncode == 0
    (folder / "m/1_create.sql").write_text("CREATE TABLE people (id INTEGER PRIMARY KEY);")
    ended = run(*arguments)
    assert ended.returncode == 1 and ended.stderr.count("\n") == 1
    assert "'1_create.sql' was changed after it was applied" in ended.stderr


def test_the_lock_of_another_program_is_waited_for_and_named(folder):
    """Another program writes to the file for longer than --wait."""
    path = folder / "a.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("BEGIN IMMEDIATE")
    ended = run("--database", path, "--dir", folder / "m", "--wait", "0.1")
    assert ended.returncode == 1 and "another process holds the lock" in ended.stderr
    other.execute("COMMIT")
    other.close()
    assert run("--database", path, "--dir", folder / "m").returncode == 0

# SPDX-License-Identifier: Apache-2.0
