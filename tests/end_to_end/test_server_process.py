"""The harness is checked: programs that break the contract in one way each must be caught by Server and Load."""
import socket
import threading

import pytest

import server_process
from load import Load
from server_process import Server, free_port

READY = "hello_world_server: listening on http://127.0.0.1:$PORT (engine epoll-edge, 2 reactors) in 3 ms"
REPORT = "echo 'hello_world_server: stopped after 5 requests on 3 connections' >&2"
SCRIPT = """#!/bin/sh
PORT=$2
trap '{on_signal}' TERM INT
{start}
while :; do sleep 0.05; done
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return a function that puts a shell script in the place of the server."""
    def install(start=f'echo "{READY}"', on_signal=f'{REPORT.replace(chr(39), chr(34))}; exit 0'):
        path = tmp_path / server_process.PROGRAM
        path.write_text(SCRIPT.format(start=start, on_signal=on_signal), encoding="ascii")
        path.chmod(0o755)
        monkeypatch.setenv("KATANA_BUILD", str(tmp_path))
    return install


def test_a_program_that_keeps_the_contract_passes(program):
    """No false alarm."""
    program()
    with Server(port=free_port()) as server:
        assert server.alive()
    assert not server.alive()


@pytest.mark.parametrize("start, culprit", [
    ("exit 7", "exit 7"),
    ("echo ready", "not the one of the contract"),
    (f'echo "{READY.replace("reactors)", "reactors")}"', "not the one of the contract"),
    (f'echo " {READY}"', "not the one of the contract"),
    (f'echo "{READY.replace("$PORT", "1")}"', "127.0.0.1:1 "),
    (f'echo "{READY.replace("2 reactors", "1 reactors")}"', "1 reactors"),
    (f'echo "{READY.replace("edge", "level")}"', "epoll-level"),
], ids=str)
def test_a_wrong_ready_line_is_caught(program, start, culprit):
    """Another form, another port, engine or count; or none."""
    program(start=start)
    with pytest.raises(AssertionError, match=culprit.replace(".", r"\.")):
        with Server(port=free_port()):
            pass


@pytest.mark.parametrize("program_parts, culprit", [
    ({"on_signal": "exit 3"}, "exit status 3"),
    ({"on_signal": "exit 0"}, "wanted one line"),
    ({"on_signal": 'printf "stopped after 5 requests\\nstopped after 5 requests\\n" >&2; exit 0'}, "wanted one line"),
    ({"on_signal": 'echo "stopped after some requests" >&2; exit 0'}, "wanted one line"),
    ({"on_signal": 'echo "stopped: 5 requests" >&2; exit 0'}, "wanted one line"),
    # One write: between two, the end that the ready line permits could come.
    ({"start": f"printf '%s\\nmore\\n' \"{READY}\""}, "more than the ready line"),
    ({"on_signal": ""}, "still running"),
], ids=str)
def test_a_wrong_end_is_caught(program, monkeypatch, program_parts, culprit):
    """Exit status, report, chatter, and no end at all."""
    monkeypatch.setattr(Server.wait, "__defaults__", (1,))
    program(**program_parts)
    with pytest.raises(AssertionError, match=culprit):
        with Server(port=free_port()) as server:
            pass
    assert culprit and not server.alive()


def test_a_missing_program_is_named_with_the_command_that_builds_it(tmp_path, monkeypatch):
    """The error names the command."""
    monkeypatch.setenv("KATANA_BUILD", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="cmake --build"):
        Server()


@pytest.mark.parametrize("answer, culprit", [
    (b"", "end of stream after 0 octets"),
    (b"HTTP/1.1 200 OK\r\nContent-Le", "end of stream after 27 octets"),
])
def test_load_reports_a_request_without_a_whole_reply(answer, culprit):
    """A server that takes a request and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    load = Load(listener.getsockname()[1], connections=1, keep_alive=True)
    load.start()
    connection, _ = listener.accept()
    with connection:
        assert connection.recv(4096).startswith(b"GET /plaintext ")
        connection.sendall(answer)
        load.told_to_stop.set()
        listener.close()
    assert [culprit in failure for failure in load.stop()] == [True]


def test_load_reports_a_refusal_before_the_stop_and_requests_left_unanswered():
    """The two other ways to fail."""
    load = Load(free_port(), connections=1, keep_alive=False)
    load.start()
    load.join(0.3)
    assert ["ECONNREFUSED" in failure for failure in load.stop()] == [True]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = Load(listener.getsockname()[1], connections=3, keep_alive=True)
        silent.start()
        threading.Event().wait(0.3)
        assert silent.stop(seconds=0.3) == ["3 requests without any reply"]

# SPDX-License-Identifier: Apache-2.0
