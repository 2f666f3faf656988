"""TechEmpower's tests: the check of right and wrong answers, ranks and tables of given figures, arguments."""
import dataclasses
import http.server
import json
import os
import random
import threading
from pathlib import Path

import pytest

from katana_lab import ROOT, LabError, UsageError, proc
from katana_lab.contest.wire import Reply
from katana_lab.costs import postgres
from katana_lab.costs import techempower as cost
from katana_lab.techempower import ADDED, FORTUNES, SCHEMA, TESTS, check, servers

BUILD = ROOT / Path(os.environ.get("KATANA_BUILD", "build/bench"))
FIELDS = {"server": "x", "date": "Fri, 27 Nov 2026 11:21:11 GMT", "content-type": "application/json",
          "content-length": "2"}


def reply(status=200, body=b"{}", **fields):
    """A reply that is right except for the given values; None: without that field."""
    given = {**FIELDS, **{name.replace("_", "-"): value for name, value in fields.items()}}
    return Reply(status, "HTTP/1.1", {name: value for name, value in given.items() if value is not None}, body)


def page_of(rows, *, before="<!DOCTYPE html>", title="Fortunes"):
    """A page of escaped rows."""
    lines = "".join(f"<tr><td>{number}</td><td>{message}</td></tr>" for number, message in rows)
    return f"{before}<html><head><title>{title}</title></head><body><table><tr><th>id</th><th>message</th></tr>" \
           f"{lines}</table></body></html>"


def escaped(text):
    """The same as html.escape, which a test of html should not use."""
    for character, reference in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(character, reference)
    return text


ROWS = sorted(((number, escaped(message)) for number, message in [*FORTUNES, ADDED]),
              key=lambda row: row[1].replace("&lt;", "<").encode())


@pytest.mark.parametrize("wrong, kind, said", [
    ({}, "json", ""), ({"content_type": "application/json; charset=UTF-8"}, "json", ""),
    ({"content_type": "text/plain"}, "text", ""), ({"content_type": "text/html; charset=utf-8"}, "html", ""),
    ({"content_type": "text/html"}, "html", "Content-Type is 'text/html'"),
    ({"content_type": "text/json"}, "json", "Content-Type"), ({"server": None}, "json", "no Server"),
    ({"server": None, "date": None}, "json", "no Server and no Date"), ({"date": "yesterday"}, "json", "the Date is"),
    ({"content_length": None}, "json", "neither Content-Length"),
    ({"content_length": None, "transfer_encoding": "chunked"}, "json", ""), ({"status": 500}, "json", "status is 500"),
])
def test_a_head_has_server_date_size_and_the_right_type(wrong, kind, said):
    found = check.wrong_head(reply(**wrong), kind)
    assert said in found if said else found == ""


def test_the_message_is_that_object():
    assert check.wrong_message(b'{"message":"Hello, World!"}') == ""
    for body in (b'{"message":"Hello"}', b'{"message":"Hello, World!","more":1}', b"Hello, World!"):
        assert check.wrong_message(body)


def worlds(*rows):
    """An array."""
    return json.dumps([{"id": number, "randomNumber": value} for number, value in rows]).encode()


@pytest.mark.parametrize("body, count, said", [
    (worlds((1, 5), (2, 6)), 2, ""), (worlds((1, 5)), 1, ""), (b'{"id":1,"randomNumber":5}', None, ""),
    (worlds((1, 5)), None, "it is an array"), (b'{"id":1,"randomNumber":5}', 1, "it is an object"),
    (worlds((1, 5)), 2, "1 rows, not 2"), (worlds((1, 6)), 1, "row 1 has 6, and 5 in the database"),
    (b'[{"id":1,"randomnumber":5}]', 1, "a row is"), (b'[{"id":"1","randomNumber":5}]', 1, "a row is"),
    (worlds((0, 5)), 1, "a row is"), (worlds((10_001, 5)), 1, "a row is"), (b"[", 1, "Expecting value"),
])
def test_rows_are_as_many_as_asked_for_and_as_the_table_has_them(body, count, said):
    found = check.wrong_worlds(body, count, {1: 5, 2: 6})
    assert said in found if said else found == ""


def test_ids_are_what_chance_draws():
    draw = random.Random(7)
    assert check.wrong_ids([draw.randint(1, 10_000) for _ in range(500)]) == ""
    assert "differ" in check.wrong_ids([5] * 40)
    assert "they are from" in check.wrong_ids(list(range(1, 501)))


def test_the_page_of_fortunes_is_taken_with_any_escaping_that_shows_the_same():
    assert check.wrong_page(page_of(ROWS)) == ""
    loose = [(number, message.replace("&#39;", "'").replace("&quot;", "&#34;")) for number, message in ROWS]
    assert check.wrong_page(page_of(loose).replace("<tr>", "\n<tr>")) == ""
    assert check.wrong_page(page_of(ROWS, before='<!doctype html><meta charset="utf-8">')) == ""


@pytest.mark.parametrize("page, said", [
    (page_of(ROWS[:-1]), "has 26 cells, not 28"), (page_of(sorted(ROWS)), "belongs"),
    (page_of([row for row in ROWS if row[0]]), "where '0' belongs"), (page_of(ROWS, before=""), "DOCTYPE"),
    (page_of(ROWS, title="fortunes"), "its title"),
    (page_of([(11, FORTUNES[10][1]), *ROWS[1:]]), "a message is not escaped"),
    (page_of([*ROWS[:-1], (12, "????")]), "belongs"), (page_of(ROWS).replace("<tr><td>4", "<tr><th>4"), "tags"),
    (page_of(ROWS).replace("</table>", "</table><p>more</p>"), "cells"),
    (page_of([(number, escaped(message)) for number, message in ROWS]), "belongs"),
])
def test_a_page_that_is_not_techempowers_is_found(page, said):
    assert said in check.wrong_page(page)


def test_an_update_is_in_the_database_and_nothing_else_is_changed():
    before = dict.fromkeys(range(1, 11), 1)
    assert check.wrong_update([(1, 5), (2, 6), (2, 7)], before, {**before, 1: 5, 2: 7}) == ""
    assert "the database has 1" in check.wrong_update([(1, 5)], before, before)
    assert "was changed and not answered" in check.wrong_update([(1, 5)], before, {**before, 1: 5, 3: 5})
    assert "of 2 rows 0 were changed" in check.wrong_update([(1, 1), (2, 1)], before, before)


def test_queries_are_statements_and_transactions_of_their_own():
    assert check.wrong_counts(320, 320, 320, 335) == ""
    assert "not queries of their own" in check.wrong_counts(320, 16, 320, 320)
    assert "more than one" in check.wrong_counts(320, 320, 640, 320)
    assert "share a sync" in check.wrong_counts(320, 320, 320, 29)


class Handler(http.server.BaseHTTPRequestHandler):
    """/json and /plaintext as they should be, but for a Date that stands still."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Log nothing."""

    def date_time_string(self, timestamp=None):
        """It is kept."""
        return FIELDS["date"]

    def do_GET(self):
        """Both routes."""
        is_json = self.path == "/json"
        body = b'{"message":"Hello, World!"}' if is_json else b"Hello, World!"
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if is_json else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_a_date_that_stands_still_is_found_and_all_else_passes():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        done = check.examine(server.server_port, None, {"texts": check.texts})
    finally:
        server.shutdown()
        server.server_close()
    assert done.failures == [f"the Date: it is still {FIELDS['date']}"] and done.count == 7


def test_nobody_who_listens_is_a_failure():
    assert "cannot be made" in check.examine(1, None, {"texts": check.texts}).failures[0]


def test_the_schema_has_techempowers_rows():
    assert "aren''t broken" in SCHEMA and SCHEMA.count("(12, 'フレームワークのベンチマーク')") == 1


# ---- the command ---------------------------------------------------------------------------------

def figures(us, rate=1000.0, mib=10.0, **more):
    """The figures of a server in a round."""
    return {"us": us, "rate": rate, "rss_kib": 1024 * mib, "other": 0.0, "server": 1.0, "generator": 0.5, "errors": 0,
            **more}


def test_cases_are_of_text_by_connections_and_of_rows_by_their_number():
    options = cost.parse_options(["--tests", "json,queries,db", "--text-connections", "8,16"])
    assert [case.title for case in cost.cases_of(options)] == [
        "json, 8 connections", "json, 16 connections", "queries, 1 row, 64 connections",
        "queries, 20 rows, 64 connections", "db, 64 connections"]
    options = cost.parse_options(["--cases", "headline"])
    assert [case.title for case in cost.cases_of(options)] == [
        "json, 64 connections", "plaintext, 64 connections", "db, 64 connections", "queries, 20 rows, 64 connections",
        "fortunes, 64 connections", "updates, 20 rows, 64 connections", "cached-queries, 100 rows, 64 connections"]


def test_only_a_client_that_pipelines_has_few_connections_to_the_database():
    options = cost.parse_options(["--database-connections", "2", "--blocking-connections", "9"])
    found = {name: cost.database_connections(server, options) for name, server in servers.SERVERS.items()}
    assert found == {"katana": 2, "axum": 2, "actix": 2, "net_http": 9, "katana_shared": 2}


def test_targets_have_their_own_parameter():
    assert TESTS["queries"].target(20) == "/queries?queries=20" and TESTS["db"].target(0) == "/db"
    assert TESTS["cached-queries"].target("foo") == "/cached-queries?count=foo"


def test_ranks_are_by_value_and_equal_values_share_one():
    assert cost.ranks({"a": 3.0, "b": 1.0, "c": 3.0, "d": 9.0}, False) == {"b": 1, "a": 2, "c": 2, "d": 4}
    assert cost.ranks({"a": 3.0, "b": 1.0}, True) == {"a": 1, "b": 2}


def test_tables_have_ranks_first_and_no_rank_for_who_breaks_a_rule():
    entered = servers.chosen("katana,axum,katana_shared")
    case = cost.Case("queries", 64, 20)
    rounds = [{"katana": figures(10, 100), "axum": figures(8, 200), "katana_shared": figures(4, 400)},
              {"katana": figures(10, 100), "axum": figures(5, 100), "katana_shared": dict(cost.FAILED)}]
    text = "\n".join(cost.tables({case: rounds}, entered))
    assert "| test | katana | axum |\n|---|---|---|\n" in text
    assert "| queries, 20 rows, 64 connections | 2 / 2 / 1 | 1 / 1 / 1 |\n" in text
    assert "| axum | 6.50 | 1.62 (1.25–2.00) | 150 | 0.75 (0.50–1.00) | 10.0 | 100 % | 50 % | 0 |" in text
    assert "| (katana_shared) | 4.00 | 2.50 (2.50–2.50) | 400 | 0.25 (0.25–0.25) |" in text
    assert text.index("## Ranks") < text.index("## queries")


def test_a_rate_that_cpu_1_limited_is_a_lower_bound():
    row = cost.row([{"katana": figures(5, generator=0.99, server=0.5)}], "katana")
    assert row[3] == "≥ 1,000" and row[5:] == ("10.0", "50 %", "99 %", "0")


def test_a_server_that_fails_in_a_round_costs_the_others_nothing():
    def measured(server, case):
        if server.name == "axum":
            raise LabError("it ended with status 1")
        return figures(5)

    options = cost.parse_options(["--rounds", "2", "--tests", "db"])
    results, failed = cost.run(options, servers.chosen("katana,axum"), measured)
    assert failed == ["axum in db, 64 connections: it ended with status 1"] * 2
    text = "\n".join(cost.tables(results, servers.chosen("katana,axum")))
    assert "| db, 64 connections | 1 / 1 / 1 | – / – / – |" in text


def test_a_server_that_fails_the_check_is_named_and_the_status_is_1(monkeypatch, capsys):
    monkeypatch.setattr(cost, "entrants", lambda options: (servers.chosen("katana"), ["axum: GET /json: no Server"]))
    monkeypatch.setattr(cost, "measure", lambda *_: figures(5))
    monkeypatch.setattr(cost.harness, "need", lambda *_: None)
    monkeypatch.setattr(cost.postgres, "cluster", lambda *_: open("/dev/null", encoding="utf-8"))
    monkeypatch.setattr("sys.argv", ["techempower.py", "--tests", "json", "--rounds", "1"])
    assert cost.main() == 1
    assert "left out: axum: GET /json: no Server" in capsys.readouterr().err


@pytest.mark.skipif(not (BUILD / "techempower").exists() or not postgres.PROGRAMS,
                    reason="this build has no techempower (KATANA_BUILD names one), or there is no PostgreSQL here")
def test_katanas_own_server_keeps_the_rules_and_its_defaults_share_a_sync():
    with check.cluster_of(next(proc.free_port())) as cluster:
        assert check.failures_of(servers.SERVERS["katana"], BUILD, cluster, 1)[1] == []
        shared = dataclasses.replace(servers.SERVERS["katana_shared"], is_ranked=True)
        asked = check.Check(1, cluster)
        check.count_queries(asked, shared, BUILD, 1)
    assert len(asked.failures) == 1 and "share a sync" in asked.failures[0]


def test_an_unknown_server_is_refused_with_those_that_are_known():
    with pytest.raises(UsageError, match="unknown server 'iis'; known: katana, axum"):
        servers.chosen("axum,iis")


def test_a_server_that_is_not_built_says_how_it_would_be(tmp_path):
    assert "--target techempower" in servers.SERVERS["katana"].missing(tmp_path)


@pytest.mark.parametrize("arguments, culprit", [
    (["--servers", "iis"], "'iis'"), (["--tests", "db,xml"], "'xml'"), (["--text-connections", "64,0"], "0"),
    (["--cases", "some"], "some"), (["--database-connections", "0"], "--database-connections"),
])
def test_wrong_usage_names_what_is_wrong(arguments, culprit, capsys):
    with pytest.raises(SystemExit) as ended:
        cost.parse_options(arguments)
    assert ended.value.code == 2 and culprit in capsys.readouterr().err

# SPDX-License-Identifier: Apache-2.0
