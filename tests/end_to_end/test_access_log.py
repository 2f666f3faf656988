"""hello_world_server --access-log: a record of every exchange, whole, once, whatever the client does."""
import json
import subprocess

import httpx

from program_process import built
from raw_client import eventually, exchange
from server_process import Server, run_program


def test_every_request_is_one_record_even_those_of_many_connections_at_once(engine, tmp_path):
    """No record is lost on an orderly end, and the order on one connection is that of its requests."""
    path = tmp_path / "access.jsonl"
    with Server("--access-log", str(path), engine=engine) as server:
        clients = [httpx.Client(base_url=server.url("")) for _ in range(4)]
        for number in range(25):
            for client in clients:
                assert client.get(f"/hello/{number}").status_code == 200
        for client in clients:
            client.close()
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(records) == 100
    by_peer = {}
    for record in records:
        by_peer.setdefault(record["peer"], []).append(record)
    assert len(by_peer) == 4
    for exchanges in by_peer.values():
        assert [record["request"] for record in exchanges] == list(range(1, 26))
        assert [record["message"] for record in exchanges] == [f"GET /hello/{number}" for number in range(25)]
        assert all(record["status"] == 200 and record["end"] == "replied" for record in exchanges)


def test_a_binary_access_log_says_the_same_once_it_is_printed(tmp_path):
    """The cheapest form, for servers that log millions of requests."""
    path = tmp_path / "access.bin"
    with Server("--access-log", str(path)) as server:
        assert httpx.get(server.url("/hello/there")).status_code == 200
    printed = subprocess.run([built("katana-log"), "--format", "json", str(path)], capture_output=True, text=True,
                             timeout=20, check=True)
    record = json.loads(printed.stdout)
    assert (record["message"], record["route"], record["status"]) == ("GET /hello/there", "/hello/{name}", 200)
    assert record["peer"].startswith("127.0.0.1:") and record["request"] == 1


def test_hostile_targets_cannot_write_a_line_of_their_own(tmp_path):
    """A text line for each request and no more; refused heads are records, too."""
    path = tmp_path / "access.log"
    with Server("--access-log", str(path)) as server:
        for octets in (b"GET /%0d%0aFORGED HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                       b"\x1b[2JNONSENSE\r\n\r\n"):
            with server.connect() as connection:
                exchange(connection, octets)
    lines = path.read_text().splitlines()
    assert len(lines) == 2, lines
    assert 'GET /%0d%0aFORGED route="" status=404' in lines[0]
    assert '- - route="" status=400' in lines[1] and "\x1b" not in lines[1]


def test_a_log_that_cannot_be_written_is_reported_once_and_requests_are_served(tmp_path):
    """The server is worth more than its log."""
    with Server("--access-log", str(tmp_path / "missing" / "access.log")) as server:
        assert httpx.get(server.url("/json")).status_code == 200
        assert eventually(lambda: "No such file or directory" in server.stderr())
        assert httpx.get(server.url("/json")).status_code == 200
        assert server.stderr().count("No such file or directory") == 1


def test_an_empty_name_is_wrong_usage():
    """One line, exit 2."""
    result = run_program("--access-log", "")
    assert result.returncode == 2 and "--access-log" in result.stderr and result.stderr.count("\n") == 1

# SPDX-License-Identifier: Apache-2.0
