"""Replies that depart from the program's own OpenAPI document: told in development, refused where that is chosen."""
import sqlite3

from fullstack_process import FullStack

WORDS = "a reply departs from its description: status 200, content "


def with_wrong_rows(folder, sets=()):
    """Return a fullstack whose database has what another program wrote: two users without an e-mail address."""
    with FullStack(folder, sets=sets) as program:
        assert program.add_user("Ada", "ada@example.com").status_code == 201
    with sqlite3.connect(folder / "var/katana.db") as database:
        database.executemany("INSERT INTO users (name, email) VALUES (?, ?)", [("Bob", "nobody"), ("Cy", "nowhere")])
    database.close()
    return FullStack(folder, sets=sets)


def told(folder):
    """Return the records of departures, once the program has ended."""
    return [line for line in (folder / "var/log/fullstack.log").read_text().splitlines() if WORDS in line]


def test_each_place_is_told_once_in_development(tmp_path):
    """With operation, status, pointer and remedy; the reply goes out as it is."""
    with with_wrong_rows(tmp_path, ["development=true"]) as program:
        assert program.client.get("/api/users/1").json()["name"] == "Ada"
        for _ in range(3):
            assert program.client.get("/api/users/2").json()["email"] == "nobody"
            assert program.client.get("/api/users/3").json()["email"] == "nowhere"
            assert program.client.get("/api/users?limit=10").status_code == 200
            assert program.client.get("/api/users/99").status_code == 404
    found = told(tmp_path)
    assert len(found) == 2, found
    assert f"GET /api/users/{{id}}: {WORDS}/email: is no email; correct the handler, or responses/200 of the " \
        "operation 'getUser' (GET /api/users/{id})" in found[0], found[0]
    assert "/users/1/email: is no email" in found[1] and "'listUsers'" in found[1], found[1]
    assert "request_id" in found[0]


def test_nobody_looks_in_production_and_a_setting_has_the_last_word(tmp_path):
    """Not at all by default; `refuse` sends 500 instead, without the reason where it is no development."""
    with with_wrong_rows(tmp_path) as program:
        assert program.client.get("/api/users/2").status_code == 200
    assert not told(tmp_path)
    with FullStack(tmp_path, sets=["development=true", "requests.check_replies=off"]) as program:
        assert program.client.get("/api/users/2").status_code == 200
    assert not told(tmp_path)
    with FullStack(tmp_path, sets=["requests.check_replies=refuse"]) as program:
        assert program.client.get("/api/users/1").status_code == 200
        refused = program.client.get("/api/users/2")
        assert refused.status_code == 500 and "email" not in refused.text
    assert len(told(tmp_path)) == 1, told(tmp_path)

# SPDX-License-Identifier: Apache-2.0
