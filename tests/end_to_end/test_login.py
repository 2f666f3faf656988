"""Logins of fullstack: by password, in a browser and by hand; and their records in the audit log."""
import json
import re
import subprocess

import httpx
import pytest

from browser import Browser
from fullstack_process import FullStack, run_program
from program_process import built

PASSWORD = "correct horse battery staple"
OWN = {"Sec-Fetch-Site": "same-origin"}
GUARDED = {"http": {"csrf": {"enabled": True}, "security_headers": {"enabled": True}},
           "sessions": {"store": "database", "secure": False, "cookie_name": "session"}}


def hash_of(password):
    """The hash by `katana password`, with little memory for a quick test."""
    done = subprocess.run([built("katana"), "password", "--memory-kib", "256", "--passes", "1"], input=password + "\n",
                          capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.strip()


def started(folder, **kwargs):
    """A program with two accounts, one of which may change something."""
    accounts = [{"name": "ada", "password": hash_of(PASSWORD), "roles": ["editor"]},
                {"name": "bob", "password": hash_of("bob's"), "roles": []}]
    settings = {**GUARDED, "audit": {"file": "audit.jsonl"}, "login": {"enabled": True, "accounts": accounts}}
    (folder / "login.yaml").write_text(json.dumps(settings))  # JSON is YAML
    return FullStack(folder, "--config", "login.yaml", **kwargs)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """One program for the tests of this file."""
    with started(tmp_path_factory.mktemp("login"), shared=True) as running:
        yield running


@pytest.fixture
def client(program):
    """A client without cookies."""
    with httpx.Client(base_url=program.url(), timeout=20) as made:
        yield made


def log_in(client, name, password, **fields):
    """Send the form of the login page."""
    token = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/login").text)[1]
    form = {"name": name, "password": password, "csrf_token": token}
    return client.post("/login", data=form, headers={**OWN, **fields})


def records(program):
    """The audit log."""
    return [json.loads(line) for line in (program.folder / "audit.jsonl").read_text().splitlines()]


def test_a_browser_logs_in_and_out(program, tmp_path):
    """The whole way with the policies that pages have: login, account, API, logout."""
    with Browser(tmp_path) as browser:
        browser.open(program.url("/login"))
        browser.eventually(lambda: browser.value("!!document.forms[0]"))
        browser.value("document.forms[0].name.value = 'ada'; document.forms[0].password.value = 'wrong';"
                      "document.getElementById('login').click()")
        browser.see("wrong", "said")
        browser.value(f"document.forms[0].name.value = 'ada'; document.forms[0].password.value = '{PASSWORD}';"
                      "document.getElementById('login').click()")
        browser.see("ada", "user")
        assert browser.text("roles") == "editor"
        assert browser.value("violations.length") == 0
        assert browser.value("document.cookie") == ""  # HttpOnly
        browser.value("document.getElementById('logout').click()")
        browser.eventually(lambda: browser.value("location.pathname") == "/login")
        browser.open(program.url("/account"))
        browser.eventually(lambda: "Log in first" in (browser.value("document.body.textContent") or ""))


def test_roles_are_told_apart(program, client):
    """401 without a login, 403 for a reader who writes, 201 for an editor."""
    user = {"name": "Grace", "email": "grace@example.org"}
    reply = client.get("/api/users")
    assert reply.status_code == 401 and "www-authenticate" in reply.headers
    assert log_in(client, "bob", "bob's").status_code == 303
    assert client.get("/api/users").status_code == 200
    assert client.get("/api/users").headers["cache-control"] == "no-store"
    assert client.post("/api/users", json=user, headers=OWN).status_code == 403
    assert log_in(client, "ada", PASSWORD).status_code == 303
    assert client.post("/api/users", json=user, headers=OWN).status_code == 201
    assert client.get("/health").status_code == 200  # without a login


def test_another_site_changes_nothing(program, client):
    """Forms and scripts of other sites are refused, also with the cookie of a user."""
    log_in(client, "ada", PASSWORD)
    for fields in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {}):
        assert client.post("/api/data", json={"a": 1}, headers=fields).status_code == 403
        assert client.post("/logout", headers=fields).status_code == 403
        assert httpx.post(program.url("/login"), data={"name": "bob"}, headers=fields).status_code == 403
    # A request of our own pages needs the token of the form.
    assert client.post("/logout", headers=OWN).status_code == 403
    assert client.get("/account").status_code == 200


def test_a_login_gives_a_new_session(program, client):
    """Neither an invented id nor that of the visitor is valid after the login."""
    made_up = "A" * 43
    answer = httpx.get(program.url("/login"), cookies={"session": made_up})
    assert answer.cookies["session"] != made_up
    client.get("/login")
    before = client.cookies["session"]
    log_in(client, "ada", PASSWORD)
    assert client.get("/account").status_code == 200 and client.cookies["session"] != before
    assert httpx.get(program.url("/account"), cookies={"session": before}).status_code == 401


def test_guesses_are_throttled(program, client):
    """An account has to wait after five wrong passwords in a row; an unknown name as well."""
    for name in ("bob", "nobody"):
        statuses = [log_in(client, name, "guess").status_code for _ in range(7)]
        assert statuses[:5] == [401] * 5 and 429 in statuses[5:], statuses
        reply = log_in(client, name, "bob's")
        assert reply.status_code in (401, 429)
        if reply.status_code == 429:
            assert int(reply.headers["retry-after"]) >= 1


def test_the_audit_log_has_every_login_and_shows_what_was_changed(program, client):
    """Each record has the actor, the address and the outcome; `katana audit verify` finds a line that was altered."""
    log_in(client, "ada", "wrong")
    log_in(client, "ada", PASSWORD)
    said = [(each["actor"], each["outcome"]) for each in records(program) if each["action"] == "login"]
    assert said[-2:] == [("ada", "denied"), ("ada", "succeeded")]
    assert records(program)[-1]["address"] == "127.0.0.1"
    file = program.folder / "audit.jsonl"
    verify = [built("katana"), "audit", "verify"]
    assert subprocess.run([*verify, file], capture_output=True, check=False, timeout=20).returncode == 0
    altered = program.folder / "altered.jsonl"
    altered.write_text(file.read_text().replace('"denied"', '"succeeded"', 1))
    done = subprocess.run([*verify, altered], capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 1 and "altered.jsonl" in done.stderr


def test_a_password_that_is_no_hash_is_refused_at_the_start(tmp_path):
    """The message names the account and the remedy, and not the password."""
    settings = {**GUARDED, "login": {"enabled": True, "accounts": [{"name": "eve", "password": "plain text"}]}}
    (tmp_path / "login.yaml").write_text(json.dumps(settings))
    done = run_program(tmp_path, "--config", "login.yaml", "--port", "0")
    assert done.returncode == 2
    assert "'eve' is no hash of argon2id; `katana password` makes one" in done.stderr
    assert "plain text" not in done.stderr


def test_a_login_without_sessions_is_refused_at_the_start(tmp_path):
    """With what to set, and so is one without a check of the origin."""
    flags = ("--set", "login.enabled=true", "--port", "0")
    done = run_program(tmp_path, *flags)
    assert done.returncode == 2 and "set sessions.store, for example to database" in done.stderr
    done = run_program(tmp_path, *flags, "--set", "sessions.store=memory")
    assert done.returncode == 2 and "http.csrf.enabled: true" in done.stderr


def test_the_document_says_that_a_cookie_is_asked_for(client):
    """For authors of clients: the cookie by its name, 401 without it, 403 without the role."""
    document = client.get("/openapi.json").json()
    scheme = document["components"]["securitySchemes"]["session"]
    assert (scheme["type"], scheme["in"], scheme["name"]) == ("apiKey", "cookie", "session")
    added = document["paths"]["/api/users"]["post"]
    assert added["security"] == [{"session": []}] and {"401", "403"} <= set(added["responses"])

# SPDX-License-Identifier: Apache-2.0
