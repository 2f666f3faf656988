"""Whether a server keeps TechEmpower's rules; exit status 1 with every failure.

    lab/techempower/check [--servers NAME,…] [--build build/bench]       # starts each of these itself, and checks it

The checks are the same for all servers, and are those of TechEmpower's verification with some more:

* statuses, Server, Date that goes on, Content-Type
* the contents of each route against the rows of the database; ids that differ
* the number of rows for N = (nothing), foo, 0, -5, 1, 2, 20, 500, 501
* the page of fortunes, row by row; a pipeline of 16
* updates that are in the database, and no other change of it
* a statement and a transaction for each row that is read (pg_stat_statements, pg_stat_database)
* a cache that does not ask the database any more once it has all rows
"""
from __future__ import annotations

import email.utils
import html.parser
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from katana_lab import proc
from katana_lab.contest import check as contest_check
from katana_lab.contest import wire
from katana_lab.contest.servers import Server
from katana_lab.contest.wire import Reply
from katana_lab.costs import harness, postgres
from katana_lab.techempower import ADDED, FORTUNES, MOST, ROWS, SCHEMA, TESTS, servers

KINDS = {"json": r"application/json(; ?charset=utf-8)?", "html": r"text/html; ?charset=utf-8",
         "text": r"text/plain(; ?charset=utf-8)?"}
# The parameter of a request, and the number of rows that have to come.
CASES = {"": 1, "foo": 1, "0": 1, "-5": 1, "1": 1, "2": 2, "20": 20, "500": 500, "501": 500}
SHOWN = ("id", "message")
IGNORED_TAGS = ("meta", "link", "thead", "tbody")
DATE_PAUSE_S = 1.1
FILLING, FILLED = 250, 20                # requests of 500 rows: until a cache has all, and then
MISSES_MAX = 0.01
BURST, BURST_ROWS = 16, 20
SETTINGS = {"shared_preload_libraries": "pg_stat_statements"}
Table = Mapping[int, int]


class Page(html.parser.HTMLParser):
    """The structure of a page of fortunes, and its cells as a browser shows them."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.declared, self.tags, self.cells, self.title = "", [], [], ""
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_decl(self, decl: str) -> None:
        """<!DOCTYPE html>"""
        self.declared = decl.lower()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        """A cell begins empty."""
        if tag in IGNORED_TAGS:
            return
        self.tags.append(tag)
        self._open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        """In the order in which they were opened."""
        if tag not in IGNORED_TAGS:
            self.tags.append(f"/{tag}")
            if self._open and self._open[-1] == tag:
                self._open.pop()

    def handle_data(self, data: str) -> None:
        """Text belongs in a cell or the title."""
        within = self._open[-1] if self._open else ""
        if within in ("td", "th"):
            self.cells[-1] += data
        elif within == "title":
            self.title += data
        elif data.strip():
            self.cells.append(f"outside of a cell: {data.strip()}")


def wanted_page() -> tuple[list[str], list[str]]:
    """Tags and cells of TechEmpower's page: 13 rows, sorted by the bytes of their messages."""
    rows = sorted([*FORTUNES, ADDED], key=lambda row: row[1].encode())
    cells = [*SHOWN, *(text for number, message in rows for text in (str(number), message))]
    line = ["tr", "td", "/td", "td", "/td", "/tr"]
    return ["html", "head", "title", "/title", "/head", "body", "table", "tr", "th", "/th", "th", "/th", "/tr",
            *line * len(rows), "/table", "/body", "/html"], cells


# ---- judgements: the mistake in a reply, or nothing --------------------------------------------------

def wrong_head(reply: Reply, kind: str) -> str:
    """Status and fields."""
    if reply.status != 200:
        return f"the status is {reply.status}: {reply.text[:100]}"
    missing = [name for name in ("Server", "Date", "Content-Type") if not reply.fields.get(name.lower())]
    if missing:
        return f"there is no {' and no '.join(missing)}"
    if "content-length" not in reply.fields and "transfer-encoding" not in reply.fields:
        return "there is neither Content-Length nor Transfer-Encoding"
    try:
        email.utils.parsedate_to_datetime(reply.fields["date"])
    except ValueError:
        return f"the Date is {reply.fields['date']!r}"
    if not re.fullmatch(KINDS[kind], reply.fields["content-type"], re.IGNORECASE):
        return f"the Content-Type is {reply.fields['content-type']!r}"
    return ""


def wrong_message(body: bytes) -> str:
    """The mistake in a reply of /json."""
    try:
        got = json.loads(body)
    except ValueError:
        return f"it is no JSON: {body[:60]!r}"
    return "" if got == {"message": "Hello, World!"} else f"it is {body[:60]!r}"


def worlds_of(body: bytes) -> list[tuple[int, int]]:
    """The rows of a reply; ValueError with the mistake in them."""
    got = json.loads(body)
    rows = got if isinstance(got, list) else [got]
    for row in rows:
        if not isinstance(row, dict) or sorted(row) != ["id", "randomNumber"]:
            raise ValueError(f"a row is {str(row)[:60]}")
        if not all(type(value) is int and 1 <= value <= ROWS for value in row.values()):
            raise ValueError(f"a row is {row}")
    return [(row["id"], row["randomNumber"]) for row in rows]


def wrong_worlds(body: bytes, count: int | None, table: Table | None) -> str:
    """The mistake in rows, compared with the table; None: an object for `count`, anything for `table`."""
    try:
        rows = worlds_of(body)
        is_list = isinstance(json.loads(body), list)
    except ValueError as error:
        return str(error)
    if is_list != (count is not None):
        return f"it is {'an array' if is_list else 'an object'}"
    if len(rows) != (count or 1):
        return f"there are {len(rows)} rows, not {count or 1}"
    for number, found in rows if table is not None else ():
        if table[number] != found:
            return f"row {number} has {found}, and {table[number]} in the database"
    return ""


def wrong_ids(ids: Sequence[int]) -> str:
    """Whether the ids look like random ones of 10,000: few of them twice, from all over the table."""
    expected = ROWS * (1 - (1 - 1 / ROWS) ** len(ids))
    if len(set(ids)) < 0.9 * expected:
        return f"of {len(ids)} ids {len(set(ids))} differ, by chance it were {expected:.0f}"
    if len(ids) >= 100 and not (min(ids) < 0.1 * ROWS and max(ids) > 0.9 * ROWS):
        return f"they are from {min(ids)} to {max(ids)}"
    return ""


def wrong_page(text: str) -> str:
    """The first difference of /fortunes to TechEmpower's page."""
    page, (tags, cells) = Page(text), wanted_page()
    if page.declared != "doctype html":
        return "it does not begin with <!DOCTYPE html>"
    if "<script" in text.lower():
        return "it has a <script>: a message is not escaped"
    if page.title != "Fortunes":
        return f"its title is {page.title!r}"
    for got, wanted in zip(page.cells, cells, strict=False):
        if got != wanted:
            return f"it has {got!r} where {wanted!r} belongs"
    if len(page.cells) != len(cells):
        return f"it has {len(page.cells)} cells, not {len(cells)}"
    return "" if page.tags == tags else f"its tags are not TechEmpower's: {' '.join(page.tags)[:200]}"


def wrong_update(answered: Sequence[tuple[int, int]], before: Table, after: Table) -> str:
    """The mistake in an update. The reply has to be in the database, most of it new, and all else unchanged."""
    numbers: dict[int, set[int]] = {}
    for number, value in answered:
        numbers.setdefault(number, set()).add(value)
    for number, values in numbers.items():
        if after[number] not in values:
            return f"row {number} was answered with {min(values)}, and the database has {after[number]}"
    changed = {number for number in after if after[number] != before[number]}
    if changed - numbers.keys():
        return f"row {min(changed - numbers.keys())} was changed and not answered"
    if len(changed) < 0.9 * len(numbers):
        return f"of {len(numbers)} rows {len(changed)} were changed"
    return ""


def wrong_counts(rows: int, statements: int, read: int, transactions: int) -> str:
    """The mistake in PostgreSQL's counts for queries of `rows` rows."""
    if statements < rows:
        return f"{rows} rows took {statements} statements: they are not queries of their own"
    if read > statements:
        return f"{statements} statements gave {read} rows: a query gives more than one"
    if transactions < rows:
        return f"{rows} rows took {transactions} transactions: several statements share a sync (general rule 7)"
    return ""


# ---- asking ------------------------------------------------------------------------------------------

class Check(contest_check.Check):
    """One server under test, and its database."""

    def __init__(self, port: int, cluster: postgres.Cluster):
        super().__init__()
        self.port, self.client, self.cluster = port, contest_check.Client(port), cluster

    def table(self) -> dict[int, int]:
        """`world` as it is."""
        lines = self.cluster.ask("SELECT id, randomnumber FROM world", "bench").splitlines()
        return {int(number): int(value) for number, value in (line.split("|") for line in lines)}

    def get(self, target: str, kind: str) -> Reply:
        """GET, with its head judged."""
        reply = self.client.get(target)
        self.judge(f"GET {target}", wrong_head(reply, kind))
        return reply


def texts(check: Check) -> None:
    """/json and /plaintext, a pipeline, and a Date that is not kept."""
    first = check.get("/json", "json")
    check.judge("GET /json", wrong_message(first.body))
    body = check.get("/plaintext", "text").body
    check.judge("GET /plaintext", "" if body == b"Hello, World!" else f"it is {body[:60]!r}")
    request = f"GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1:{check.port}\r\n\r\n".encode()
    bodies = wire.pipelined(check.port, request, 16)
    check.judge("a pipeline of 16", "" if bodies == [b"Hello, World!"] * 16 else f"{len(bodies)} answers are right")
    time.sleep(DATE_PAUSE_S)
    later = check.get("/json", "json").fields.get("date")
    check.judge("the Date", f"it is still {later}" if later == first.fields.get("date") else "")


def rows(check: Check) -> None:
    """Check /db, /queries and /cached-queries against the table, which does not change."""
    table, ids = check.table(), []
    for _ in range(40):
        body = check.get("/db", "json").body
        check.judge("GET /db", wrong_worlds(body, None, table))
        ids += [number for number, _ in worlds_of(body)]
    check.judge("ids of /db", wrong_ids(ids))
    for name in ("queries", "cached-queries"):
        test = TESTS[name]
        for asked, count in CASES.items():
            for target in (test.target(asked), *((test.path,) if not asked else ())):
                check.judge(f"GET {target}", wrong_worlds(check.get(target, "json").body, count, table))
        ids = [number for number, _ in worlds_of(check.client.get(test.target(MOST)).body)]
        check.judge(f"ids of {test.path}", wrong_ids(ids))


def fortunes(check: Check) -> None:
    """The page, in UTF-8."""
    body = check.get("/fortunes", "html").body
    check.judge("GET /fortunes", wrong_page(body.decode("utf-8", "replace")))


def cached(check: Check) -> None:
    """A cache that has all rows asks for none."""
    target = TESTS["cached-queries"].target(MOST)
    for _ in range(FILLING):
        check.client.get(target)
    before = statements(check.cluster, "SELECT")[0]
    for _ in range(FILLED):
        check.client.get(target)
    count = statements(check.cluster, "SELECT")[0] - before
    check.judge("the cache", "" if count <= MISSES_MAX * FILLED * MOST else
                f"{FILLED * MOST} rows took {count} statements once it could have all of them")


def updates(check: Check) -> None:
    """Check N as with /queries, and the contents of the database afterwards."""
    test = TESTS["updates"]
    for asked, count in CASES.items():
        before = check.table()
        body = check.get(test.target(asked), "json").body
        wrong = wrong_worlds(body, count, None)
        check.judge(f"GET {test.target(asked)}", wrong)
        if not wrong:
            check.judge(f"GET {test.target(asked)}", wrong_update(worlds_of(body), before, check.table())
                        if count > 1 else "")


def statements(cluster: postgres.Cluster, verb: str) -> tuple[int, int]:
    """The statements with that verb over `world`, and their rows; those of this check are not counted."""
    found = cluster.ask("SELECT coalesce(sum(calls), 0), coalesce(sum(rows), 0) FROM pg_stat_statements WHERE query"
                        f" ILIKE '{verb}%world%' AND query LIKE '%$1%' AND query NOT LIKE '%pg_stat%'", "bench")
    calls, given = found.split("|")
    return int(calls), int(given)


def transactions(cluster: postgres.Cluster) -> int:
    """The number of committed transactions; a connection reports its transactions at its end at the latest."""
    proc.wait_for(lambda: int(cluster.ask("SELECT count(*) FROM pg_stat_activity WHERE datname = 'bench'", "bench"))
                  == 1, 5)
    return int(cluster.ask("SELECT xact_commit FROM pg_stat_database WHERE datname = 'bench'", "bench"))


CHECKS: dict[str, Callable[[Check], None]] = {"texts": texts, "rows": rows, "fortunes": fortunes, "cached": cached,
                                              "updates": updates}


def examine(port: int, cluster: postgres.Cluster, checks: Mapping[str, Callable[[Check], None]] | None = None) -> Check:
    """All checks of a server that runs."""
    check = Check(port, cluster)
    check.run_all(CHECKS if checks is None else checks)
    return check


def count_queries(check: Check, server: Server, build: Path, connections: int) -> None:
    """Check PostgreSQL's counts for a fresh server that gets only requests of /queries."""
    before = statements(check.cluster, "SELECT"), transactions(check.cluster)
    with servers.running(server, build, check.cluster, connections) as process:
        client = Check(process.port, check.cluster).client
        for _ in range(BURST):
            client.get(TESTS["queries"].target(BURST_ROWS))
    after = statements(check.cluster, "SELECT"), transactions(check.cluster)
    check.judge("queries", wrong_counts(BURST * BURST_ROWS, after[0][0] - before[0][0], after[0][1] - before[0][1],
                                        after[1] - before[1] if server.is_ranked else BURST * BURST_ROWS))


def check_server(server: Server, build: Path, cluster: postgres.Cluster, connections: int) -> tuple[str, list[str]]:
    """Return the number of checks and the failures. A server that is not ranked may let statements share a sync."""
    with servers.running(server, build, cluster, connections, ready="/db") as process:
        done = examine(process.port, cluster)
    count_queries(done, server, build, connections)
    return f"{done.count} checks", done.failures


def cluster_of(port: int):
    """A PostgreSQL that counts statements, with the tables."""
    return postgres.cluster(port, "CREATE EXTENSION pg_stat_statements;" + SCHEMA, SETTINGS)


def failures_of(server: Server, build: Path, cluster: postgres.Cluster, connections: int) -> tuple[str, list[str]]:
    """Return the number of checks and the failures, also where the server does not start."""
    return contest_check.failures_of(lambda: check_server(server, build, cluster, connections))


def main() -> int:
    """Check; exit status 1 when anything failed."""
    parser = contest_check.parser(__doc__, servers.CONTEST)
    parser.add_argument("--connections", type=harness.at_least_one(int), default=4, help="to the database; default 4")
    options = parser.parse_args()
    entered = servers.chosen(options.servers)
    with cluster_of(next(proc.free_port())) as cluster:
        return contest_check.check_all(entered, lambda server: check_server(server, options.build, cluster,
                                                                            options.connections))

# SPDX-License-Identifier: Apache-2.0
