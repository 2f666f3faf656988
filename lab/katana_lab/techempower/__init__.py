"""TechEmpower's seven tests: their data, their rules, the servers that are compared, and the check of each.

Every server has the flags `--port PORT --database URL --connections N`, one thread, and the same routes:
    GET /json                     {"message":"Hello, World!"}, serialised for each request
    GET /plaintext                Hello, World!
    GET /db                       one row of `world`, of a random id
    GET /queries?queries=N        N rows, each by a statement and its own transaction
    GET /fortunes                 the rows of `fortune` and one more, sorted by message, as HTML
    GET /updates?queries=N        N rows as above, then written with other numbers
    GET /cached-queries?count=N   N rows of a cache in memory, which reads what it has not from the database
N that is missing, no number or below 1 is 1; above 500 it is 500.
For lab/postgres_http_cost.py they have GET /health and GET /users/{id} as well.
"""
from __future__ import annotations

import dataclasses

from katana_lab import LAB, ROOT

FOLDER = LAB / "techempower"
BUILD = ROOT / "build" / "techempower"
ROWS, MOST = 10_000, 500
ADDED = (0, "Additional fortune added at request time.")
FORTUNES = (
    (1, "fortune: No such file or directory"),
    (2, "A computer scientist is someone who fixes things that aren't broken."),
    (3, "After enough decimal places, nobody gives a damn."),
    (4, "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1"),
    (5, "A computer program does what you tell it to do, not what you want it to do."),
    (6, "Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen"),
    (7, "Any program that runs right is obsolete."),
    (8, "A list is only as strong as its weakest link. — Donald Knuth"),
    (9, "Feature: A bug with seniority."),
    (10, "Computers make very fast, very accurate mistakes."),
    (11, '<script>alert("This should not be displayed in a browser alert box.");</script>'),
    (12, "フレームワークのベンチマーク"),
)


def _schema() -> str:
    quoted = ((number, message.replace("'", "''")) for number, message in FORTUNES)
    values = ", ".join(f"({number}, '{message}')" for number, message in quoted)
    return f"""CREATE TABLE world (id INT PRIMARY KEY, randomnumber INT NOT NULL);
INSERT INTO world SELECT n, 1 + n * 7919 % {ROWS} FROM generate_series(1, {ROWS}) n;
CREATE TABLE fortune (id INT PRIMARY KEY, message VARCHAR(2048) NOT NULL);
INSERT INTO fortune VALUES {values};
VACUUM ANALYZE;"""


SCHEMA = _schema()


@dataclasses.dataclass(frozen=True)
class Test:
    """One of the seven. `parameter`: of how many rows are asked for, and `rows`: how many are. `in_flight`: requests of
    a pipeline. `asks_database`: for each request. `writes`: to the database.
    """

    path: str
    about: str
    parameter: str = ""
    rows: tuple[int, ...] = ()
    in_flight: int = 1
    asks_database: bool = True
    writes: bool = False

    def target(self, rows: int | str) -> str:
        """The target of a request."""
        return f"{self.path}?{self.parameter}={rows}" if self.parameter else self.path


TESTS = {
    "json": Test("/json", "an object, serialised for each request", asks_database=False),
    "plaintext": Test("/plaintext", "a text, 16 requests of a pipeline", in_flight=16, asks_database=False),
    "db": Test("/db", "a row by a random id"),
    "queries": Test("/queries", "rows by random ids, each by a statement of its own", "queries", (1, 20)),
    "fortunes": Test("/fortunes", "12 rows and one more, sorted, as HTML"),
    "updates": Test("/updates", "rows by random ids, then written with other numbers", "queries", (1, 20), writes=True),
    "cached-queries": Test("/cached-queries", "rows by random ids from a cache in memory", "count", (1, 100),
                           asks_database=False),
}

# SPDX-License-Identifier: Apache-2.0
