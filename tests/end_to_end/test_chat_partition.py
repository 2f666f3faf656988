"""Three chat servers in separate network namespaces, with a nats-server between them: one loses its connection to it.

Each server has two links: one to the bus, which is cut without a word, and one to its clients, which stays. Needs root
and `ip`; run by the row chat-cluster of tools/matrix, which sets KATANA_NAMESPACES.
"""
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack, contextmanager

import pytest
from chat_process import PROGRAM, Program, built
from server_process import free_port

pytestmark = pytest.mark.skipif("KATANA_NAMESPACES" not in os.environ, reason="it makes network namespaces, as root: "
                                "tools/matrix chat-cluster, or KATANA_NAMESPACES=1")

NAMES = ("a", "b", "c")
NET = "198.18"          # RFC 2544: a network for tests.
EXPIRY_SECONDS = 3.5    # ClusterOptions::gone_after_max()
CUT_SECONDS = 6
LOAD_SECONDS = 15
CONNECTIONS = 30
RATE_PER_S = 10


def ip(*words):
    """Run ip(8)."""
    subprocess.run(["ip", *map(str, words)], check=True, timeout=20)


class Namespaces:
    """A namespace for each server: `bus` is a port of the bridge that nats-server is on, `clients` leads to the test.

    A port that is down drops what comes, and neither side is told.
    """

    def __init__(self):
        self.tag = f"k{os.getpid() % 100000}"
        self.bridge = f"{self.tag}br"

    def __enter__(self):
        ip("link", "add", self.bridge, "type", "bridge")
        ip("addr", "add", f"{NET}.0.1/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        for number, name in enumerate(NAMES, 2):
            space = self.space(name)
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
            for inside, outside in (("bus", self.port(name)), ("clients", f"{self.tag}{name}c")):
                ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space)
                ip("link", "set", outside, "up")
            ip("link", "set", self.port(name), "master", self.bridge)
            ip("-n", space, "addr", "add", f"{NET}.0.{number}/24", "dev", "bus")
            ip("addr", "add", f"{NET}.{number}.1/30", "dev", f"{self.tag}{name}c")
            ip("-n", space, "addr", "add", f"{NET}.{number}.2/30", "dev", "clients")
            for inside in ("bus", "clients"):
                ip("-n", space, "link", "set", inside, "up")
        return self

    def __exit__(self, *_):
        for name in NAMES:  # a namespace takes its ends of the links with it, and those the others
            subprocess.run(["ip", "netns", "del", self.space(name)], check=False, timeout=20)
        subprocess.run(["ip", "link", "del", self.bridge], check=False, timeout=20)

    def space(self, name):
        """Return the name of a server's namespace."""
        return f"{self.tag}-{name}"

    def port(self, name):
        """Return the name of its port of the bridge."""
        return f"{self.tag}{name}b"

    def cut(self, name):
        """Lose all traffic between this server and the bus, in both directions."""
        ip("link", "set", self.port(name), "down")

    def heal(self, name):
        """It can talk to the bus again."""
        ip("link", "set", self.port(name), "up")


class Server(Program):
    """A chat_server in its namespace."""

    def __init__(self, spaces, name, bus):
        self.address, self.metrics_port = f"{NET}.{NAMES.index(name) + 2}.2", free_port()
        self._start(PROGRAM, ["ip", "netns", "exec", spaces.space(name), built(PROGRAM), "--address", self.address,
                              "--port", str(free_port()), "--metrics-port", str(self.metrics_port), "--threads", "1",
                              "--bus", f"nats://{NET}.0.1:{bus}", "--node", name])

    def metrics(self):
        """Return the sums of the chat's series by name."""
        text = urllib.request.urlopen(f"http://{self.address}:{self.metrics_port}/metrics", timeout=10).read().decode()
        sums = {}
        for name, value in re.findall(r"^katana_chat_(\w+?)(?:_total)?(?:\{[^}]*\})? (\S+)$", text, re.M):
            sums[name] = sums.get(name, 0) + float(value)
        return sums

    def stop(self):
        """End it as an operator does."""
        self.send_signal()
        assert self.wait() == 0, self.stderr()


@contextmanager
def nats_server():
    """Run a nats-server that all namespaces reach; give its port."""
    program, port = shutil.which("nats-server") or "/usr/sbin/nats-server", free_port()
    process = subprocess.Popen([program, "-a", f"{NET}.0.1", "-p", str(port)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


def wait_for(servers, wanted, seconds=30):
    """Wait until each of them knows of so many others; return how long that took."""
    begin = time.monotonic()
    while (known := [each.metrics()["bus_servers"] for each in servers]) != wanted:
        assert time.monotonic() < begin + seconds, f"they know of {known} others, not {wanted}"
        time.sleep(0.05)
    return time.monotonic() - begin


@pytest.mark.timeout(180)
def test_a_server_that_is_cut_off_and_comes_back_leaves_no_delivery_unaccounted():
    """Both sides go on. When the cut has healed, each is told of the messages that it did not get."""
    with Namespaces() as spaces, nats_server() as bus, ExitStack() as stack:
        servers = [stack.enter_context(Server(spaces, name, bus)) for name in NAMES]
        wait_for(servers, [2, 2, 2])
        targets = [text for each in servers[1:] for text in ("--target", f"{each.address}:{each.port}")]
        load = subprocess.Popen([built("chat_load"), servers[0].address, str(servers[0].port), *targets, "--conns",
                                 str(CONNECTIONS), "--duration-s", str(LOAD_SECONDS), "--rate-per-s", str(RATE_PER_S),
                                 "--threads", "1", "--json", "/dev/stdout", "--quiet"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        stack.callback(load.kill)
        while servers[0].metrics()["messages"] < 100:
            time.sleep(0.05)
        spaces.cut("c")
        gone = wait_for(servers, [1, 1, 0])
        # A loaded machine adds up to two seconds to the stated time.
        assert gone < EXPIRY_SECONDS + 2
        before = [each.metrics()["messages"] for each in servers]
        time.sleep(CUT_SECONDS - EXPIRY_SECONDS)    # both sides go on for so long
        assert all(each.metrics()["messages"] > count for each, count in zip(servers, before)), "one stands still"
        spaces.heal("c")
        back = wait_for(servers, [2, 2, 2])
        out, errors = load.communicate(timeout=90)
        assert load.returncode == 0, errors
        told = json.loads(out)
        print(f"gone after {gone:.1f} s, back {back:.1f} s after the cut healed: {told}")
        accounts = told["accounts"]
        assert accounts["receivers"] == CONNECTIONS
        assert accounts["unaccounted"] == 0 and accounts["told"] == told["missing"], told
        assert accounts["told"] > 0, "nothing was cut"
        assert (told["duplicated"], told["out_of_order"], told["unknown_lines"]) == (0, 0, 0), told

# SPDX-License-Identifier: Apache-2.0
