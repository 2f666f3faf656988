"""The chat server as its clients meet it: the protocol, its limits, hostile and careless clients, and its end."""
import json
import re
import select
import signal
import socket
import subprocess
import time

import pytest

from chat_process import FAREWELL, ChatServer, Client, built
from raw_client import eventually
from server_process import raise_descriptor_limit

TCP_REPAIR = 19


def test_lines_commands_and_rooms(engine):
    """The promises of docs/guides/chat.md, over a real socket."""
    with ChatServer(engine=engine) as server:
        first, second, third = (Client(server.port).enter() for _ in range(3))
        first.say("hello\r\n")
        assert second.hear("\n") == "[USER1] hello\n"
        assert third.hear("\n") == "[USER1] hello\n"
        second.say("/nick alice\n/join red\n")
        assert second.hear("red.\n") == "* You are alice.\n* You are in room red.\n"
        third.say("/join red\n")
        third.hear("\n")
        second.say("only here\n")
        assert third.hear("\n") == "[alice] only here\n"
        first.say("/who red\n")
        assert first.hear("\n") == "* 2 in room red: alice, USER3\n"
        first.say("a\x1bb\n" + "x" * 9000 + "\n/quit\n")
        assert first.hear_end() == ("! The line has a control character and was skipped.\n"
                                    "! The line is too long and was skipped to its end.\n* Goodbye.\n")


def test_a_client_that_knows_nothing_of_rooms_works(engine):
    """It connects, sends `text\\n`, and reads what others sent, or does not read at all."""
    with ChatServer(engine=engine, threads=1) as server:
        plain = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(10)]
        reader = Client(server.port).enter()
        for number, each in enumerate(plain):
            each.sendall(b"m" * 63 + b"\n")
            reader.hear(f"[USER{number + 1}] " + "m" * 63 + "\n")


@pytest.mark.parametrize("policy", ["drop", "disconnect"])
def test_who_stops_reading_slows_nobody(engine, policy):
    """The reader gets everything. The other is told how many messages it lost, or is disconnected."""
    with ChatServer("--slow-reader", policy, "--queue-bytes-max", "131072", engine=engine) as server:
        talker, reader = Client(server.port).enter(), Client(server.port).enter()
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", server.port))
        line, lines = b"x" * 4000 + b"\n", 4000
        for _ in range(lines // 10):
            talker.say(line * 10)
            reader.read_until(lambda heard: heard.count(b"\n") >= 10)
            assert reader.heard == (b"[USER1] " + line) * 10
            reader.heard = b""
        if policy == "drop":
            deaf.settimeout(20)
            heard, told = b"", None
            while told is None:
                heard = heard[-200:] + deaf.recv(1 << 20)       # it comes in thousands of small pieces
                told = re.search(rb"^\* (\d+) messages were dropped because", heard, re.M)
            # Another reactor may have the deaf one: it counts what it drops before it tells.
            assert 0 < int(told[1]) <= server.metrics()["dropped.slow_reader"]
        else:
            assert eventually(lambda: (server.metrics()["disconnects"], server.metrics()["members"]) == (1, 2))
        deaf.close()                            # or the server would wait for it as long as a drain may last


def test_limits_on_connections_and_rate(engine):
    """One connection too many is told so; a client above its rate is read later, and nothing is lost."""
    with ChatServer("--connections-max", "3", "--rate-max", "50", "--rate-burst", "10", engine=engine) as server:
        clients = [Client(server.port).enter() for _ in range(3)]
        refused = Client(server.port)
        assert refused.hear_end().startswith("! The server has as many connections")
        began = time.monotonic()
        clients[0].say("".join(f"line {number}\n" for number in range(60)))
        heard = clients[1].read_until(lambda heard: b"line 59\n" in heard).decode()
        assert [int(number) for number in re.findall(r"line (\d+)", heard)] == list(range(60))
        assert time.monotonic() - began > 0.8
        assert server.metrics()["throttles"] > 0


def test_a_drain_says_farewell_to_everybody(engine):
    """Earlier messages come before the farewell, on every reactor, and the stream ends in order."""
    server = ChatServer(engine=engine, threads=3)
    clients = [Client(server.port).enter() for _ in range(30)]
    clients[0].say("the last words\n")
    for each in clients[1:]:
        each.hear("[USER1] the last words\n")
    report = server.stop()
    for each in clients:
        assert each.hear_end().encode().endswith(FAREWELL)
    assert (report["messages"], report["deliveries"], report["cut_off"]) == (1, 29, 0)


def vanish(connection):
    """Close without notice, as a machine does that loses its power; a reset where that is forbidden."""
    try:
        connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    except PermissionError:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


class Crowd:
    """A thousand clients of five kinds, in one thread."""

    GARBAGE = b"\xff\xfe\n" + b"\x00" * 50 + b"\n" + b"y" * 10000 + b"\n/nonsense\n" + b"z" * 700

    def __init__(self, port):
        self.all = [socket.create_connection(("127.0.0.1", port)) for _ in range(1000)]
        self.readers, self.deaf = self.all[:500], self.all[500:650]
        self.vanishing, self.slow, self.garbage = self.all[650:800], self.all[800:900], self.all[900:]
        self.received = {each: b"" for each in self.readers}
        self.poll = select.epoll()
        self.by_descriptor = {each.fileno(): each for each in self.readers}
        for each in self.readers:
            each.setblocking(False)
            self.poll.register(each, select.EPOLLIN)

    def read(self, until, seconds=60):
        """Read for all readers until `until()` holds."""
        end = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < end, "not everything came"
            for descriptor, _ in self.poll.poll(0.1):
                reader = self.by_descriptor[descriptor]
                self.received[reader] += reader.recv(1 << 16)


def test_a_thousand_clients_of_all_kinds(engine):
    """500 read; 150 never do, 150 vanish in the middle of a line, 100 send a byte at a time, 100 send garbage."""
    raise_descriptor_limit(4096)
    with ChatServer(engine=engine) as server:
        crowd = Crowd(server.port)
        end = time.monotonic() + 30
        while server.metrics()["connections"] < 1000:
            assert time.monotonic() < end
            time.sleep(0.05)
        for number, each in enumerate(crowd.vanishing):
            each.sendall(b"half a line of %d" % number)
            vanish(each)
        for each in crowd.garbage:
            each.sendall(Crowd.GARBAGE)
        for byte in b"slowly\n":
            for each in crowd.slow:
                each.sendall(bytes([byte]))
        rounds = 5
        for number in range(rounds):
            for each in crowd.readers[:100] + crowd.deaf:
                each.setblocking(True)
                each.sendall(b"round %d\n" % number)
                each.setblocking(False)
        # Each of 100 readers misses its own lines.
        due = 500 * (100 + rounds * 250) - 100 * rounds
        crowd.read(lambda: sum(map(lambda got: got.count(b"\n"), crowd.received.values())) >= due)
        for reader, got in crowd.received.items():
            lines = got.decode().splitlines()
            assert all(re.fullmatch(r"\[USER\d+\] (slowly|round \d)", line) for line in lines)
            by_sender = {}
            for line in lines:
                name, text = line.split("] ")
                by_sender.setdefault(name, []).append(text)
            assert all(said in (["slowly"], [f"round {n}" for n in range(rounds)]) for said in by_sender.values())
            assert len(by_sender) == (349 if reader in crowd.readers[:100] else 350)
        metrics = server.metrics()
        assert metrics["messages"] == 100 + rounds * 250
        assert metrics["lines_refused"] == 4 * 100
        assert metrics["dropped.slow_reader"] == 0
        assert server.rss_kib() < 64 * 1024
        for each in crowd.all:
            each.close()


def test_the_load_generator_agrees_that_nothing_is_lost(engine, tmp_path):
    """Sent and delivered add up, in its JSON and in the server's metrics."""
    figures = tmp_path / "chat.json"
    with ChatServer(engine=engine) as server:
        done = subprocess.run([built("chat_load"), "127.0.0.1", str(server.port), "50", "1", "64", "40", "1", "0",
                               "--json", str(figures)], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        told = json.loads(figures.read_text(encoding="utf-8"))
        assert told["sent"] == 50 * 40
        assert told["delivered"] == told["expected"] == 50 * 40 * 49
        assert (told["missing"], told["duplicated"], told["out_of_order"], told["unknown_lines"]) == (0, 0, 0, 0)
        assert told["latency_us"]["samples"] == told["delivered"]
        assert "saturated" in told["generator"]
        assert server.metrics()["dropped.slow_reader"] == 0


def test_an_interrupted_load_still_says_what_it_found():
    """Ctrl-C ends the sending; the load waits for the sent messages, and none is missing."""
    with ChatServer() as server:
        load = subprocess.Popen([built("chat_load"), "127.0.0.1", str(server.port), "10", "600", "64", "50"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 20
        while server.metrics()["messages"] < 100:
            assert time.monotonic() < end and load.poll() is None
        load.send_signal(signal.SIGINT)
        text, errors = load.communicate(timeout=60)
    assert load.returncode == 0, errors
    assert re.search(r"^missing +0 ", text, re.M) and "interrupted after" in text, text


@pytest.mark.parametrize("program, arguments, says", [
    ("chat_server", ["--slow-reader", "scold"], "slow-reader"),
    ("chat_server", ["--queue-bytes-max", "1"], "queue-bytes-max"),
    ("chat_server", ["--engine", "steam"], "engine 'steam' is unknown"),
    ("chat_load", ["127.0.0.1"], "port is required"),
    ("chat_load", ["127.0.0.1", "9000", "10", "1", "20"], "--msg-bytes: expected 35 to 1048576, got '20'"),
])
def test_wrong_usage_is_one_line_and_exit_2(program, arguments, says):
    """The line names the mistake."""
    done = subprocess.run([built(program), *arguments], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert says in done.stderr and done.stderr.count("\n") == 1


def test_a_port_in_use_and_a_server_that_is_not_there_are_exit_1():
    """With the port in the message."""
    with ChatServer() as server:
        done = subprocess.run([built("chat_server"), "--port", str(server.port)], capture_output=True, text=True,
                              timeout=20, check=False)
        assert done.returncode == 1 and str(server.port) in done.stderr
        port = server.port
    done = subprocess.run([built("chat_load"), "127.0.0.1", str(port), "2", "1"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 1 and str(port) in done.stderr

# SPDX-License-Identifier: Apache-2.0
