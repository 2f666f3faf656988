"""main_job.py: its database, what its loads send, and its tables, made of figures that are given. No test measures."""
import contextlib
import itertools
import json
import sqlite3

import pytest

from katana_lab import LabError, plots
from katana_lab.costs import main_job, main_job_tables
from katana_lab.main_job import loads, servers


def figures(us, rate=1000.0, **more):
    """The figures of a server in a round of a test."""
    return {"us": us, "rate": rate, "p99_us": 500, "other": 0.0, "server": 1.0, "generator": 0.5, "errors": 0, **more}


def at_rate(rate, p99, **more):
    """The figures of a server at a rate."""
    return {"rate": rate, "us": 5, "other": 0, "errors": 0, "void": False, "samples": 5000, "p50": 50, "p99": p99,
            "p999": 900, **more}


def visit(us, p99=200, **more):
    """A round of a server."""
    return {"start_ms": 20.0, "rest_kib": 2048, "most_kib": 4096, "tests": {name: figures(us) for name in loads.LOADS},
            "rates": {"20%": at_rate(200, p99), "5,000/s": at_rate(5000, p99)}, **more}


FAILED = {"tests": {}, "rates": {}}


@pytest.fixture(name="small")
def fixture_small(monkeypatch):
    """A table of 50 users."""
    monkeypatch.setattr(loads, "USERS", 50)
    monkeypatch.setattr(loads, "PATHS", 30)


def test_the_database_has_all_users_in_one_file_and_in_wal(tmp_path, small):
    loads.make_database(tmp_path / "users.db")
    assert not (tmp_path / "users.db-wal").exists()
    with contextlib.closing(sqlite3.connect(tmp_path / "users.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert database.execute("SELECT count(*), max(id) FROM users").fetchone() == (50, 50)
        with pytest.raises(sqlite3.IntegrityError):
            database.execute("INSERT INTO users (name, email) VALUES ('x', 'user7@example.org')")


def test_reads_are_the_same_in_every_run_and_of_users_that_exist(tmp_path, small):
    assert loads.LOADS["user"].write(tmp_path, 0) == ("--urls", str(tmp_path / "load"))
    first = (tmp_path / "load").read_text().split()
    loads.LOADS["user"].write(tmp_path, 0)
    assert (tmp_path / "load").read_text().split() == first and len(first) == 30
    assert {1 <= int(path.removeprefix("/users/")) <= 50 for path in first} == {True}
    pages = itertools.islice(loads.random_pages(), 30)
    assert all(0 <= int(path.partition("after=")[2]) <= 30 for path in pages)


def test_no_two_posts_of_a_run_have_one_email(tmp_path):
    sent = []
    for name in ("post", "mix", "post"):
        assert loads.LOADS[name].write(tmp_path, 50)[0] == "--requests-file"
        lines = map(json.loads, (tmp_path / "load").read_text().splitlines())
        sent += [json.loads(line["content"])["email"] for line in lines if line["method"] == "POST"]
    assert len(sent) == 50 + 10 + 50 == len(set(sent))


def test_the_mix_is_four_reads_and_a_post():
    methods = [request["method"] for request in itertools.islice(loads.mixed(), 10)]
    assert methods == ["GET"] * 4 + ["POST"] + ["GET"] * 4 + ["POST"]


def test_an_open_loop_has_its_rate_and_a_closed_one_none(tmp_path):
    load = loads.LOADS["user"]
    assert "-R" not in load.job(1, tmp_path, 64, 2.0, ()).flags
    paced = load.job(1, tmp_path, 64, 2.0, (), 1234.5)
    assert paced.flags[:2] == ("-R", "1234") and paced.connections == 64


def test_limits_name_the_nearest_rival_and_whether_they_hold():
    rounds = [{"katana": visit(5, 200), "katana_logged": visit(4), "axum": visit(10, 400), "net_http": visit(7)},
              {"katana": visit(5, 600), "katana_logged": visit(4), "axum": visit(10, 400), "net_http": visit(8)}]
    lines = main_job_tables.limits_table(rounds)
    assert "| CPU for each request below every rival's: GET /health | held | the nearest, net_http, takes 1.50" \
        " (1.40–1.60) of it |" in lines
    assert "| p99 at 5,000/s at most axum's | held | 1.00 (0.50–1.50) of it |" in lines
    slower = [{"katana": visit(9, 500), "axum": visit(8, 400)}]
    assert all("NOT held" in line for line in main_job_tables.limits_table(slower)[2:])


def test_limits_without_a_rival_are_not_measured():
    lines = main_job_tables.limits_table([{"katana": visit(5)}, {"katana": FAILED}])[2:]
    assert len(lines) == 7 and all("not measured" in line for line in lines)


def test_latency_is_marked_where_it_was_void_and_has_no_tail_of_few_samples():
    assert main_job_tables.latency_cells([at_rate(250, 300, samples=500, void=True)]) == ("250", "50 / 300 / n/a*")
    assert main_job_tables.latency_cells([at_rate(5000, 300)]) == ("5,000", "50 / 300 / 900")
    assert main_job_tables.latency_cells([]) == ("n/a", "over its capacity")


def test_a_rate_that_the_generator_limited_is_a_lower_bound():
    row = main_job_tables.test_row([{"katana": figures(5, generator=0.99, server=0.5)}], "katana")
    assert row == ("katana", "5.00", "1.00 (1.00–1.00)", "≥ 1,000", "500", "50 %", "99 %", "0")


def test_tables_have_every_test_and_a_server_that_failed_in_a_round():
    entered = [servers.SERVERS[name] for name in ("katana", "axum")]
    rounds = [{"katana": visit(5), "axum": FAILED}, {"katana": visit(5), "axum": visit(10)}]
    text = "\n".join(main_job_tables.tables(rounds, entered, 1234.5))
    assert "1,234 us to append and flush" in text and "| axum | 20.0 | 2.0 | 4.0 |" in text
    assert all(f"## {load.title}" in text for load in loads.LOADS.values())
    assert "| axum | 10.00 | 2.00 (2.00–2.00) |" in text
    assert "| katana | 200/s | 50 / 200 / 900 | 50 / 200 / 900 |" in text


def test_the_picture_has_a_group_of_bars_for_each_test(tmp_path):
    rounds = [{"katana": visit(5), "axum": visit(10), "fastify": FAILED}]
    ratios = main_job_tables.median_ratios(rounds)
    assert ratios["GET /health"] == {"katana": 1.0, "axum": 2.0}
    plot = plots.cpu_ratios(ratios, "katana")
    assert [bar["name"] for bar in plot["data"]] == [load.title for load in loads.LOADS.values()]
    assert list(plot["data"][0]["y"]) == ["axum", "katana"] and list(plot["data"][0]["x"]) == [2, 1]
    plots.write_page(plot, tmp_path / "page.html")
    assert "a multiple of katana" in (tmp_path / "page.html").read_text()


def test_a_server_that_fails_in_a_round_costs_the_others_nothing(tmp_path, monkeypatch, capsys):
    def measure(server, *_):
        if server.name == "axum":
            raise LabError("it ended with status 1")
        return visit(5)

    monkeypatch.setattr(main_job, "visit", measure)
    options = main_job.parse_options(["--rounds", "2", "--json", str(tmp_path / "kept.json")])
    rounds = main_job.run(options, [servers.SERVERS[name] for name in ("katana", "axum")], tmp_path)
    assert [one["axum"] for one in rounds] == [FAILED, FAILED]
    assert "axum: it ended with status 1" in capsys.readouterr().err
    assert len(json.loads((tmp_path / "kept.json").read_text())["visits"]) == 4


@pytest.mark.parametrize("arguments, culprit", [
    (["--servers", "iis"], "'iis'"), (["--rounds", "0"], "--rounds"), (["--seconds", "-1"], "--seconds"),
])
def test_wrong_usage_names_what_is_wrong(arguments, culprit, capsys):
    with pytest.raises(SystemExit) as ended:
        main_job.parse_options(arguments)
    assert ended.value.code == 2 and culprit in capsys.readouterr().err

# SPDX-License-Identifier: Apache-2.0
