"""One chat on three servers, with a real nats-server between them: the ledger, presence, names, history, a kill."""
import json
import re
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager

from chat_process import ChatServer, Client, built
from server_process import free_port

GONE_AFTER = 3.5                                 # ClusterOptions::gone_after_max()


@contextmanager
def nats_server(port=None):
    """Run a nats-server of the test's own; give its port."""
    program = shutil.which("nats-server") or "/usr/sbin/nats-server"
    port = port or free_port()
    process = subprocess.Popen([program, "-a", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


def wait_until(holds, seconds=20):
    """Return when it holds; fail when it does not."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


def servers_of(stack, nats_port, names, *flags):
    """Start a server for each name; return them when each has heard all others."""
    servers = [stack.enter_context(ChatServer("--bus", f"nats://127.0.0.1:{nats_port}", "--node", name, *flags))
               for name in names]
    for each in servers:
        wait_until(lambda each=each: each.metrics()["bus_servers"] == len(servers) - 1)
    return servers


def load(servers, *flags):
    """Begin a load on all of them."""
    first, *others = servers
    targets = [text for each in others for text in ("--target", f"127.0.0.1:{each.port}")]
    return subprocess.Popen([built("chat_load"), "127.0.0.1", str(first.port), *targets, *flags, "--threads", "1",
                             "--json", "/dev/stdout", "--quiet"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def figures(running):
    """Return the figures of the load."""
    out, errors = running.communicate(timeout=60)
    assert running.returncode == 0, errors
    return json.loads(out)


def test_a_room_is_one_on_three_servers():
    """Messages, numbers, names, who is here, history; and the ledger of a load over all three balances."""
    with nats_server() as nats, ExitStack() as stack:
        servers = servers_of(stack, nats, ["a", "b", "c"], "--history", "5")
        first, second, third = (Client(each.port).enter() for each in servers)
        wait_until(lambda: all(each.metrics()["bus_remote_members"] == 2 for each in servers))
        first.say("hello\n")
        names = {each.hear("] hello\n") for each in (second, third)}
        assert len(names) == 1 and re.fullmatch(r"\[USER1\d{3}\] hello\n", names.pop())
        second.say("/nick alice\nI am\n")
        second.hear("* You are alice.\n")
        assert first.hear("\n") == "[alice] I am\n"
        third.hear("I am\n")
        third.say("/nick alice\n")
        assert third.hear("\n").startswith("! Somebody has that name")
        wait_until(lambda: "alice" in said_of(first, "/who\n"))
        assert re.fullmatch(r"\* 3 in room lobby: .*", said_of(third, "/who\n").strip())
        second.say("/join red\nmany words\n")
        second.hear("red.\n")
        wait_until(lambda: " red: alice" in said_of(first, "/who red\n"))
        first.say("/join red\n")
        assert "many words" in first.hear("many words\n")
        for each in (first, second, third):
            each.socket.close()
        told = figures(load(servers, "--conns", "30", "--duration-s", "1", "--rate-per-s", "30"))
        assert told["connected"] == 30
        assert told["delivered"] == told["expected"] == 30 * 30 * 29
        assert (told["missing"], told["duplicated"], told["out_of_order"], told["unknown_lines"]) == (0, 0, 0, 0)
        assert told["accounts"]["unaccounted"] == 0


def said_of(client, line):
    """Return the next line that answers."""
    client.say(line)
    return client.hear("\n")


def test_the_ledger_balances_when_a_server_is_killed_and_the_bus_goes_away():
    """kill -9 of a server under load, and of the bus: the others are told of the messages that they do not get."""
    with ExitStack() as stack:
        with nats_server() as nats:
            servers = servers_of(stack, nats, ["a", "b"])
            victim = ChatServer("--bus", f"nats://127.0.0.1:{nats}", "--node", "c")
            wait_until(lambda: servers[0].metrics()["bus_servers"] == 2)
            running = load([*servers, victim], "--conns", "30", "--duration-s", "3", "--rate-per-s", "50")
            wait_until(lambda: servers[0].metrics()["messages"] > 300)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            killed_at = time.monotonic()
            wait_until(lambda: servers[0].metrics()["bus_servers"] == 1)
            # The stated time, and what a loaded machine adds to it.
            assert time.monotonic() - killed_at < GONE_AFTER + 2
        with nats_server(nats):
            told = figures(running)
        accounts = told["accounts"]
        assert accounts["receivers"] == 20
        assert accounts["unaccounted"] == 0, told
        assert accounts["delivered"] > 0
        assert (told["duplicated"], told["out_of_order"], told["unknown_lines"]) == (0, 0, 0)

# SPDX-License-Identifier: Apache-2.0
