"""Pages for those who run a program: for its own names, on their own listener, with a token, or not at all."""
import os

import httpx
import pytest

from fullstack_process import FullStack
from server_process import Server, free_port

PAGES = ("/", "/dashboard.js", "/dashboard/lines", "/metrics")
PROBES = ("/health", "/ready")


def get(port, path, host="localhost", **fields):
    """Return the reply to one request, whatever it calls the server."""
    return httpx.get(f"http://127.0.0.1:{port}{path}", headers={"Host": host, **fields}, timeout=20)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """One program for the tests that do not configure it."""
    with FullStack(tmp_path_factory.mktemp("operations"), shared=True) as running:
        yield running


@pytest.mark.parametrize("path", PAGES)
def test_a_page_answers_to_names_of_the_server_alone(program, path):
    """A name that an attacker's DNS lets resolve to 127.0.0.1 is told 421."""
    for host in ("localhost", f"127.0.0.1:{program.port}", "[::1]:1"):
        assert get(program.port, path, host).status_code == 200, host
    for host in ("evil.example", f"evil.example:{program.port}", "localhost.evil.example", "10.0.0.1"):
        refused = get(program.port, path, host)
        assert refused.status_code == 421 and "http.hosts" in refused.text, (host, refused.text)


def test_probes_tell_strangers_their_status_alone_and_routes_answer_to_any_name(program):
    """A load balancer asks by any name; the guard does not protect the API until http.hosts is set."""
    for path in PROBES:
        assert get(program.port, path).json()["checks"]
        assert get(program.port, path, "evil.example").json() == {"status": "pass"}
    assert get(program.port, "/api/users", "evil.example").status_code == 200


def test_with_hosts_every_route_answers_to_them_alone_and_the_pages_are_off(tmp_path):
    """Probes are exempt: their status is for all. Strangers know a name, so the pages need a listener or a token."""
    with FullStack(tmp_path, sets=('http.hosts=["shop.example"]',)) as program:
        served = ("shop.example", "Shop.Example:99", "localhost")
        for host, status in (*((each, 200) for each in served), ("other.example", 421)):
            assert get(program.port, "/api/users", host).status_code == status, host
            assert get(program.port, "/metrics", host).status_code == 404, host
            assert get(program.port, "/health", host).json() == {"status": "pass"}, host


def test_a_listener_of_their_own_has_all_of_the_pages_and_nothing_else(tmp_path):
    """The pages are only on this listener, and the routes of the public port are not."""
    port = free_port()
    with FullStack(tmp_path, sets=(f"operations.port={port}",)) as program:
        assert f"on http://127.0.0.1:{port}" in program.stderr()
        for path in PAGES:
            assert get(program.port, path).status_code == 404 and get(port, path).status_code == 200, path
            assert get(port, path, "evil.example").status_code == 421, path
        for path in PROBES:
            assert get(program.port, path).json() == {"status": "pass"}
            assert get(port, path).json()["checks"]
        assert get(program.port, "/api/users").status_code == 200 and get(port, "/api/users").status_code == 404


def test_on_an_address_that_others_reach_they_are_off_until_a_token_is_asked_for(tmp_path):
    """One line of the start says so; with the token, which no output shows, they are on."""
    everywhere = "http.address=0.0.0.0"
    with FullStack(tmp_path, sets=(everywhere,)) as program:
        lines = [line for line in program.stderr().splitlines() if "operations pages" in line]
        assert len(lines) == 1 and "are off" in lines[0] and "operations.token" in lines[0], program.stderr()
        assert [get(program.port, path).status_code for path in PAGES] == [404] * len(PAGES)
        assert get(program.port, "/ready").json() == {"status": "pass"}
    token = "a-long-word-that-nobody-knows"
    with FullStack(tmp_path, sets=(everywhere, f"operations.token={token}")) as program:
        bearer = {"Authorization": f"Bearer {token}"}
        for path in PAGES:
            refused = get(program.port, path)
            assert refused.status_code == 401 and refused.headers["www-authenticate"].startswith("Bearer"), path
            assert get(program.port, path, Authorization=f"Bearer {token[:-1]}x").status_code == 401, path
            assert get(program.port, path, **bearer).status_code == 200, path
            assert get(program.port, path, "evil.example", **bearer).status_code == 421, path
        assert get(program.port, "/ready").json() == {"status": "pass"}
        assert get(program.port, "/ready", **bearer).json()["checks"]
        assert token not in program.stderr()


def test_hello_world_servers_metrics_answer_to_its_names_and_its_routes_to_any():
    """It has one listener; --host adds a name."""
    with Server("--host", "bench.example") as server:
        for host, status in (("localhost", 200), ("bench.example:1", 200), ("evil.example", 421)):
            assert get(server.port, "/metrics", host).status_code == status, host
            assert get(server.port, "/plaintext", host).status_code == 200, host
        assert get(server.port, "/health", "evil.example").json() == {"status": "pass"}


def test_secret_parameters_and_left_out_queries_are_in_no_log(tmp_path):
    """The secret is neither in the access log nor among the slow requests, nor on the dashboard."""
    target = "/openapi.json?limit=3&token=open-sesame"
    slow = "requests.slow=1ns"
    with FullStack(tmp_path, sets=('requests.secret_parameters=["token"]', slow)) as program:
        assert get(program.port, target).status_code == 200
        shown = get(program.port, "/dashboard/lines").text
        program.stop()
        log = program.stderr() + (tmp_path / "var/log/fullstack.log").read_text(encoding="utf-8")
    assert "open-sesame" not in log + shown
    assert log.count("GET /openapi.json?limit=3&token=***") >= 2 and "slow: GET /openapi.json?limit=3&token=***" in log
    with FullStack(tmp_path, sets=("requests.queries=false", slow)) as program:
        assert get(program.port, target).status_code == 200
        program.stop()
        assert "limit=3" not in program.stderr() and "GET /openapi.json " in program.stderr()


def test_files_of_the_program_are_for_its_user_and_group_alone(tmp_path):
    """Database, its log and index, and the program's log, also under a mask that would let all users read."""
    before = os.umask(0o022)
    try:
        with FullStack(tmp_path) as program:
            program.add_user("Ada", "ada@example.org")
            files = [path for path in (tmp_path / "var").rglob("*") if path.is_file()]
            modes = {path.name: oct(path.stat().st_mode & 0o777) for path in files}
    finally:
        os.umask(before)
    assert {"katana.db", "katana.db-wal", "katana.db-shm", "fullstack.log"} <= set(modes), modes
    assert set(modes.values()) == {"0o640"}, modes

# SPDX-License-Identifier: Apache-2.0
