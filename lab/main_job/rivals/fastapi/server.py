"""Users over SQLite by FastAPI on uvicorn with uvloop and httptools, and sqlite3 of the standard library.

    server.py --port PORT --database FILE

Handlers are plain functions, as FastAPI's documents recommend for a library that blocks: its pool of threads runs them.
Reads have a connection for each thread, writes share one behind a lock; sqlite3 keeps each statement compiled.
"""
import argparse
import sqlite3
import threading
from typing import Annotated

import uvicorn
from fastapi import FastAPI, HTTPException, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

SCHEMA = ("CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE) "
          "STRICT")
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "cache_size = -8192", "busy_timeout = 5000")


class NewUser(BaseModel):
    """A user, as the request has it."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    email: Annotated[str, Field(max_length=200, pattern="@")]


class User(BaseModel):
    """A user, as it is stored."""

    id: int
    name: str
    email: str


class Page(BaseModel):
    """`next`: the id after which the next page begins; null: there is none."""

    users: list[User]
    next: int | None


def connect(file: str) -> sqlite3.Connection:
    """In autocommit, so that an INSERT is on the disk when it returns."""
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


class Users:
    """The table. Any thread."""

    def __init__(self, file: str):
        self._file = file
        self._own = threading.local()
        self._writer = connect(file)
        self._writer.execute(SCHEMA)
        self._lock = threading.Lock()

    @property
    def _reader(self) -> sqlite3.Connection:
        if not hasattr(self._own, "reader"):
            self._own.reader = connect(self._file)
        return self._own.reader

    def find(self, number: int) -> tuple | None:
        """A row."""
        return self._reader.execute("SELECT id, name, email FROM users WHERE id = ?", (number,)).fetchone()

    def list(self, after: int, limit: int) -> list[tuple]:
        """Rows by id."""
        return self._reader.execute("SELECT id, name, email FROM users WHERE id > ? ORDER BY id LIMIT ?",
                                    (after, limit)).fetchall()

    def add(self, user: NewUser) -> int:
        """Its id."""
        with self._lock:
            return self._writer.execute("INSERT INTO users (name, email) VALUES (?, ?)",
                                        (user.name, user.email)).lastrowid


def application_of(users: Users) -> FastAPI:
    """The routes."""
    application = FastAPI()

    @application.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "pass"}

    @application.get("/users/{number}")
    def find(number: int) -> User:
        row = users.find(number)
        if row is None:
            raise HTTPException(404, "There is no such user.")
        return User(id=row[0], name=row[1], email=row[2])

    @application.get("/users")
    def page(after: Annotated[int, Query(ge=0)] = 0, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> Page:
        rows = users.list(after, limit + 1)                      # one more says whether there is another page
        found = [User(id=row[0], name=row[1], email=row[2]) for row in rows[:limit]]
        return Page(users=found, next=found[-1].id if len(rows) > limit else None)

    @application.post("/users", status_code=201, response_model=User)
    def add(user: NewUser, response: Response) -> User | JSONResponse:
        try:
            number = users.add(user)
        except sqlite3.IntegrityError:
            return JSONResponse({"detail": "Another user has this e-mail address."}, 409)
        response.headers["Location"] = f"/users/{number}"
        return User(id=number, name=user.name, email=user.email)

    return application


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database", required=True)
    flags = parser.parse_args()
    uvicorn.run(application_of(Users(flags.database)), host="127.0.0.1", port=flags.port, access_log=False,
                log_level="warning")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
