"""The cost of a chat delivery for a server that is one of three, beside one that is alone, in one run.

    chat_nodes_cost.py [--rounds N] [--seconds S] [--connections N] [--rate N] [--same-clients]
                       [--build build/bench]

Each round runs one server alone and then three with a nats-server between them, each server with one reactor. The same
messages are said in the room both times; with three servers, each gets a third of them. Each server has as many clients
as the single one, and makes the same deliveries. With --same-clients the clients of the single server are divided among
the three instead. A third of the deliveries then shares the cost of a message for a server.

A node's figure is its deliveries for each second of CPU that it used, user and system. The bus's connection is
included, the nats-server is not. For three servers it is the sum of both. Nothing may be missing. The load comes in
bursts, a second's messages at once. The number of messages in a turn then does not depend on how busy the machine is.
The ratio is the median over rounds of (three / one) within a round.
"""
from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from katana_lab import proc


def parse_options():
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--connections", type=int, default=100, help="of each server")
    parser.add_argument("--same-clients", action="store_true", help="divide them among the three instead")
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--build", type=Path, default=Path("build/bench"))
    return parser.parse_args()


def start(command, log):
    """Start a process; its output goes to the log."""
    return subprocess.Popen(command, stdout=log, stderr=log)


def deliveries_per_cpu_second(options, count, ports, log):
    """Run a load on so many servers; return deliveries of one for each second of its CPU."""
    processes, servers = [], [next(ports) for _ in range(count)]
    try:
        bus = []
        if count > 1:
            nats = next(ports)
            processes.append(start([shutil.which("nats-server") or "/usr/sbin/nats-server", "-a", "127.0.0.1",
                                    "-p", str(nats)], log))
            bus = ["--bus", f"nats://127.0.0.1:{nats}"]
        chats = [start([proc.built("chat_server", options.build), "--port", str(port), "--threads", "1", *bus], log)
                 for port in servers]
        processes += chats
        for process, port in zip(chats, servers):
            if not proc.wait_for(lambda process=process, port=port: proc.listens(process, port), 10):
                raise SystemExit(f"chat_server on port {port} did not start")
        targets = [text for port in servers[1:] for text in ("--target", f"127.0.0.1:{port}")]
        before = [proc.usage(each.pid).cpu_s for each in chats]
        connections = options.connections * (1 if options.same_clients else count)
        numbers = {"conns": connections, "senders": options.connections, "duration-s": options.seconds,
                   "rate-per-s": options.rate, "burst": 1, "threads": 1, "json": "/dev/stdout"}
        flags = [text for name, value in numbers.items() for text in (f"--{name}", str(value))]
        done = subprocess.run([proc.built("chat_load", options.build), "127.0.0.1", str(servers[0]), *targets, *flags,
                               "--quiet"], capture_output=True, text=True, check=True)
        used = sum(proc.usage(each.pid).cpu_s - first for each, first in zip(chats, before))
        told = json.loads(done.stdout)
        if told["missing"] or told["accounts"]["unaccounted"]:
            raise SystemExit(f"{told['missing']} deliveries of {count} servers are missing")
        return told["delivered"] / used
    finally:
        for each in processes:
            each.kill()
            each.wait()


def main() -> None:
    """Measure and print."""
    options = parse_options()
    ports = proc.free_port(19500, 65536)
    ratios = []
    with tempfile.TemporaryFile() as log:
        for number in range(options.rounds):
            one, three = (deliveries_per_cpu_second(options, count, ports, log) for count in (1, 3))
            ratios.append(three / one)
            print(f"round {number + 1}: one server {one:,.0f} deliveries per CPU second, each of three {three:,.0f}: "
                  f"{ratios[-1]:.2f}", flush=True)
    clients = f"{options.connections} clients {'in all' if options.same_clients else 'each'}"
    print(f"each of three beside one, {clients}, {options.rate:g} messages/s each: median "
          f"{statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")

# SPDX-License-Identifier: Apache-2.0
