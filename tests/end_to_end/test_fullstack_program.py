"""fullstack as a program: flags, configuration and templates, and its messages when it cannot start."""
import json
import pathlib
import socket

import pytest

from fullstack_process import FullStack, run_program
from program_process import ROOT

TEMPLATES = sorted((ROOT / "apps" / "fullstack" / "config").glob("*.yaml"))


def test_help_and_version_succeed_and_a_flag_that_is_unknown_is_named(tmp_path):
    """0, 0 and 2 with one line."""
    assert "--config" in run_program(tmp_path, "--help").stdout
    assert run_program(tmp_path, "--version").stdout.startswith("fullstack ")
    wrong = run_program(tmp_path, "--colour")
    assert wrong.returncode == 2 and "--colour" in wrong.stderr and wrong.stderr.count("\n") == 1


def test_without_a_configuration_it_makes_its_folder_its_database_and_its_log(tmp_path):
    """The defaults need nothing to be there; the log is on standard error, too."""
    with FullStack(tmp_path) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        program.stop()
        assert (tmp_path / "var" / "katana.db").exists()
        written = (tmp_path / "var" / "log" / "fullstack.log").read_text(encoding="utf-8")
        assert "POST /api/users" in written
        assert set(written.splitlines()) <= set(program.stderr().splitlines())
    with FullStack(tmp_path) as program:
        assert [each["name"] for each in program.client.get("/users").json()["users"]] == ["Ada"]


def test_on_postgresql_another_url_is_all_that_differs(tmp_path, postgres):
    """Its tables are made, and the rows are there after a restart, but no file is. No output has the password."""
    url = postgres.new_database()
    name = url.rsplit("/", 1)[1]
    with_password = url.replace("katana@", "katana:hush-hush@")
    with FullStack(tmp_path, "--database", with_password) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        assert program.client.get("/ready").status_code == 200
        program.stop()
        assert "hush-hush" not in program.stderr()
    assert not (tmp_path / "var" / "katana.db").exists()
    assert postgres.ask("SELECT name || ' ' || email FROM users", name) == "Ada ada@example.org"
    assert postgres.ask("SELECT count(*) FROM katana_migrations", name) == "3"
    with FullStack(tmp_path, "--database", url) as program:
        assert [each["name"] for each in program.client.get("/users").json()["users"]] == ["Ada"]
    missing = run_program(tmp_path, "--database", with_password.replace(name, "nowhere"))
    assert missing.returncode == 1 and '"nowhere" does not exist' in missing.stderr, missing.stderr
    assert "hush-hush" not in missing.stderr


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_every_template_starts_and_serves(tmp_path, template):
    """As it is, but for the number of connections, whose memory this machine may not have to spare."""
    with FullStack(tmp_path, "--config", str(template), sets=["http.connections_max=256"]) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        assert program.client.get("/users").json()["users"][0]["name"] == "Ada"


def test_there_are_the_three_templates():
    """Their names are those of the guide."""
    assert [path.stem for path in TEMPLATES] == ["database_heavy", "high_throughput", "low_latency"]


def test_a_configuration_that_is_wrong_is_named_with_its_line(tmp_path):
    """2, every mistake with its place."""
    (tmp_path / "wrong.yaml").write_text("http:\n  prot: 80\n  idle_timeout: soon\n", encoding="ascii")
    wrong = run_program(tmp_path, "--config", "wrong.yaml")
    assert wrong.returncode == 2
    for words in ("wrong.yaml:2", "'port'", "wrong.yaml:3", "soon"):
        assert words in wrong.stderr, wrong.stderr
    assert run_program(tmp_path, "--config", "nowhere.yaml").returncode == 2


def test_a_port_in_use_is_named_and_nothing_is_left_behind(tmp_path):
    """1, with the port; what had been started is stopped."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run_program(tmp_path, "--port", str(port))
    assert refused.returncode == 1 and str(port) in refused.stderr, refused.stderr
    assert "in use" in refused.stderr
    assert not pathlib.Path(tmp_path / "var" / "katana.db-wal").exists()   # the database was closed in order


def test_the_access_log_and_the_dashboard_have_the_same_lines(tmp_path):
    """The dashboard gets the same lines as the file."""
    with FullStack(tmp_path, sets=["log.json_file=var/log/fullstack.jsonl"]) as program:
        program.client.get("/api/users?limit=3")
    lines = (tmp_path / "var" / "log" / "fullstack.jsonl").read_text(encoding="utf-8").splitlines()
    access = [json.loads(line) for line in lines if '"logger":"access"' in line]
    assert [each["message"] for each in access] == ["GET /api/users?limit=3"]
    assert access[0]["status"] == 200

# SPDX-License-Identifier: Apache-2.0
