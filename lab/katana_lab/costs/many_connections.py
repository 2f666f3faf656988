"""Many connections at once: do all of them work, and what does one of them cost?

    many_connections.py [--connections 200000] [--seconds 30] [--rate 2000] [--engine epoll-edge,io_uring]
                        [--opening 60] [--build build/bench] [--json FILE] [--markdown FILE]

hello_world_server runs with one reactor on CPU 0. The clients are katana-load on CPU 1, each in a separate network
namespace, because an address has no more than 64,512 ports. They open all connections as WebSockets. Then they send
--rate messages a second in an open loop over all of them; each message has to come back unchanged. Where a process may
not have so many descriptors (ulimit -Hn) there are several servers, side by side on the same CPU.
    servers      processes
    open         connections at once, as the servers' descriptors count them
    opened       seconds until they were
    messages     that came back in the measured time; failed: everything that did not, and connections that broke
    p99, lag     of the slowest client, from the intended time, and how late it sent: all of them have CPU 1 alone
    server B     anonymous memory of the servers for each connection (Pss_Anon, beyond what they had without any)
    kernel KiB   what the machine has less of (MemAvailable) for each connection, both ends and the clients included,
                 without the servers'
    CPU us       of the servers for each message, while all are open
Needs root, for namespaces.
"""
from __future__ import annotations

import collections
import contextlib
import json
import os
import re
import resource
import subprocess
import time
from collections.abc import Callable, Iterator

from katana_lab import LabError, proc
from katana_lab.contest.memory import pss_anon_kib
from katana_lab.costs import harness
from katana_lab.heading import made_by

NAME = "katana-many-{}"
FIRST_PORT, LAST_PORT = 1024, 65535
PORTS = LAST_PORT - FIRST_PORT
SPARE = 1000                             # descriptors that are no connections


def parse_options():
    """The flags, checked."""
    parser = harness.parser(__doc__, 0, 30.0, 200_000)
    parser.add_argument("--rate", type=harness.at_least_one(float), default=2000.0,
                        help="messages a second; default 2000")
    parser.add_argument("--opening", type=harness.at_least_one(float), default=60.0,
                        help="seconds in which all connections are to be open; default 60")
    parser.add_argument("--engine", default="epoll-edge,io_uring", metavar="NAME,…", help="default epoll-edge,io_uring")
    options = parser.parse_args()
    options.engine = harness.known(parser, "engine", options.engine, harness.engines(options.build))
    allowed = raise_descriptor_limit(options.connections + SPARE) - SPARE
    options.servers = -(-options.connections // allowed)
    # Each client has a separate address, and one server.
    addresses = -(-options.connections // min(allowed, PORTS))
    options.clients = -(-addresses // options.servers) * options.servers
    return options


def run(*command: str) -> None:
    """Run ip quietly."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"{' '.join(command)}: {done.stderr.strip() or 'failed'}; this needs root and iproute2")


@contextlib.contextmanager
def namespaces(count: int) -> Iterator[list[str]]:
    """The server's address as each namespace sees it: a veth pair for each, with this namespace at its other end."""
    names = [NAME.format(index) for index in range(count)]

    def remove() -> None:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    remove()
    try:
        for index, name in enumerate(names):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"kmany{index}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "addr", "add", f"10.98.{index}.1/24", "dev", f"kmany{index}")
            run("ip", "link", "set", f"kmany{index}", "up")
            run("ip", "-n", name, "addr", "add", f"10.98.{index}.2/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "netns", "exec", name, "sh", "-c",
                f"echo {FIRST_PORT} {LAST_PORT} > /proc/sys/net/ipv4/ip_local_port_range")
        yield [f"10.98.{index}.1" for index in range(count)]
    finally:
        remove()


def raise_descriptor_limit(wanted: int) -> int:
    """For this process and all that it starts; as many as are allowed."""
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    except (ValueError, OSError):            # not for this user, or beyond fs.nr_open
        wanted = min(wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    return wanted


def available_kib() -> int:
    """The available memory of the machine, in KiB."""
    return int(re.search(r"^MemAvailable:\s+(\d+)", proc.read("/proc/meminfo"), re.M)[1])


def descriptors(pid: int) -> int:
    """The number of open descriptors of a process; its entries are not listed, because they are many."""
    return os.stat(f"/proc/{pid}/fd").st_size


def load_command(options, index: int, address: str, port: int) -> list[str]:
    """katana-load within its namespace: its share of the connections and of the rate."""
    share = options.connections // options.clients + (index < options.connections % options.clients)
    return ["ip", "netns", "exec", NAME.format(index), proc.tool("taskset"), "-c", str(harness.CLIENT_CPU),
            proc.built("katana-load", options.build), "-t", "1", "-c", str(share),
            "-R", f"{options.rate / options.clients:g}", "--warmup", f"{options.opening:g}s",
            "-d", f"{options.seconds:g}s", "--connect-timeout", "60s", "--timeout", "20s",
            "--websocket", "--reset", "--quiet", "--json", "-", f"http://{address}:{port}/ws"]


def opened_after(count: Callable[[], int], wanted: int, patience_s: float) -> tuple[int, float]:
    """The number of connections, and the seconds until all of them were open, or the time was over."""
    began = time.monotonic()
    while True:
        found, took = count(), time.monotonic() - began
        if found >= wanted or took > patience_s:
            return found, took
        time.sleep(0.1)


def results_of(clients: list[subprocess.Popen]) -> list[dict]:
    """The result of each client."""
    said = [client.communicate()[0] for client in clients]
    try:
        return [json.loads(each) for each in said]
    except ValueError:
        raise LabError(f"a client wrote no result: {said}") from None


def measure(options, engine: str, addresses: list[str]) -> dict:
    """One run of one engine."""
    command = harness.own_server(options.build, engine, "--address", "0.0.0.0",
                                 "--connections-max", str(options.connections + SPARE))
    ports = proc.free_port()
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(harness.serving(engine, command, ports)) for _ in range(options.servers)]

        def summed(of: Callable[[int], int]) -> int:
            return sum(of(server.pid) for server in servers)

        free, own, before = available_kib(), summed(pss_anon_kib), summed(descriptors)
        clients = [subprocess.Popen(load_command(options, index, address, servers[index % len(servers)].port),
                                    stdout=subprocess.PIPE, text=True)
                   for index, address in enumerate(addresses)]
        try:
            count, took = opened_after(lambda: summed(descriptors) - before, options.connections, options.opening)
            time.sleep(max(0.0, options.opening - took) + options.seconds * 0.1)
            cpu_s = -sum(proc.usage(server.pid).cpu_s for server in servers)
            time.sleep(options.seconds * 0.6)
            cpu_s += sum(proc.usage(server.pid).cpu_s for server in servers)
            server_kib = summed(pss_anon_kib) - own
            used_kib = free - available_kib() - server_kib
            told = results_of(clients)
        finally:
            for client in clients:
                client.kill()
                client.wait()
    errors = collections.Counter()
    for each in told:
        errors.update({kind: count for kind, count in each["errors"].items() if count and kind != "total"})
    return {"servers": len(servers), "open": count, "opened_s": took,
            "requests": sum(each["requests"] for each in told), "failed": dict(errors),
            "lag_p99_us": max(each["generator"]["send_lag_us"]["p99"] for each in told),
            "p99_us": max(each["latency_us"]["p99"] for each in told),
            "server_bytes": server_kib * 1024 / count, "kernel_kib": used_kib / count,
            "cpu_us": cpu_s * 1e6 / (options.rate * options.seconds * 0.6)}


def failures(told: dict) -> str:
    """The failures by kind; 0: nothing failed."""
    return ", ".join(f"{count:,} {kind}" for kind, count in told["failed"].items()) or "0"


def table(results: dict[str, dict]) -> list[str]:
    """A row for each engine."""
    titles = ("engine", "servers", "open", "opened s", "messages", "failed", "p99 ms", "lag p99 ms", "server B",
              "kernel KiB", "CPU us")
    rows = [f"| {' | '.join(titles)} |", "|---" + "|---:" * (len(titles) - 1) + "|"]
    for engine, told in results.items():
        cells = (engine, told["servers"], f"{told['open']:,}", f"{told['opened_s']:.1f}", f"{told['requests']:,}",
                 failures(told), f"{told['p99_us'] / 1000:.1f}", f"{told['lag_p99_us'] / 1000:.1f}",
                 f"{told['server_bytes']:,.0f}", f"{told['kernel_kib']:.1f}", f"{told['cpu_us']:.1f}")
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return rows


def main() -> int:
    """Run the command line; 1 when a connection or a message failed."""
    options = parse_options()
    results = {}
    with namespaces(options.clients) as addresses:
        for engine in options.engine:
            results[engine] = measure(options, engine, addresses)
    print("\n".join(table(results)))
    heading = ["# Many connections", "", made_by("lab/many_connections.py"), ""]
    if options.markdown:
        options.markdown.write_text("\n".join([*heading, *table(results), ""]), encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    bad = [engine for engine, told in results.items() if told["failed"] or told["open"] < options.connections]
    return 1 if bad else 0

# SPDX-License-Identifier: Apache-2.0
