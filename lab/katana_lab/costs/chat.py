"""The cost of a chat delivery for the server, on each engine and beside the floor, in one run.

    chat_cost.py [--quick] [--rounds N] [--seconds S] [--tests sizes,connections,shapes,seed,sustained,memory,network]
                 [--engines epoll-edge,epoll-level,io_uring] [--no-trace] [--build build/bench]
                 [--json FILE] [--markdown docs/figures/chat.md]

Each round runs every server once (A B C D …), in a fresh process pinned to CPU 0. On CPU 1, chat_load checks every
delivery. Tables:
    sizes        messages of 64 to 16,384 bytes
    connections  10 to 5,000, all of them receive
    shapes       no client reads (write-heavy), few speak and all hear (read-heavy), many speak and few hear
                 (asymmetric), evenly and in bursts
    seed         the table that asked the question: 500 clients, 50 messages/s each, bursts, no client reads
    sustained    the highest rate at which nothing is missing and the server is not behind when the sending ends.
                 500 connections, all receive; and latency at half of that rate
    memory       5,000 connections at rest and under load
    network      between network namespaces over veth, unchanged, with delay, and with delay and loss (tc netem). Only
                 where this machine permits them.
CPU is the server's, user and system, from the scheduler over the whole run. Wake-ups are returns of epoll_wait or
io_uring_enter. A separate run of perf trace counts them and the other system calls, as tracing slows the server.
A ratio is the median over rounds of (engine / floor) within a round. A server that is never idle takes another turn
with the messages that came meanwhile. Its CPU per delivery then depends on the rate, not on the cost of a delivery.
Such rounds are left out of ratios and verdict; the table says "busy" where no other round is left. Messages longer than
8 KiB need --line-bytes-max, which the server is given.
"""
from __future__ import annotations

import itertools
import os
import re
import shutil
import statistics
import sys

from katana_lab import perf, proc
from katana_lab.costs import chat_network, harness
from katana_lab.drivers import Job, drive
from katana_lab.heading import made_by

TESTS = {"sizes": "Sizes", "connections": "Connections", "shapes": "Shapes of load",
         "seed": "The seed's table beside ours", "sustained": "Sustained, and latency at half of it",
         "memory": "Memory", "network": "Between network namespaces"}
BUSY = 0.95                                      # The share of a CPU above which a server is never idle.
BURSTS = 6                                       # The fewest bursts, one a second: two may be anything.
LOAD_MAX = 1.0                                   # The load average above which a machine is not calm.
COLUMNS = ("server", "CPU us/delivery", "ratio to floor", "deliveries/s", "missing", "p50 us", "p99 us", "CPU server",
           "CPU client", "context switches/s", "wake-ups/s", "system calls/delivery")
# The figures of the seed, as they were published: bytes/s are kilobytes in truth, and messages that the server dropped
# were not counted.
SEED = {(64, "ET"): (21962.9, 1405.6), (64, "LT"): (22072.8, 1412.7), (128, "ET"): (22286.6, 2852.7),
        (128, "LT"): (22111.7, 2830.3), (256, "ET"): (13518.4, 3460.7), (256, "LT"): (12065.4, 3088.7),
        (512, "ET"): (7294.2, 3734.6), (512, "LT"): (6905.9, 3535.8)}
WAITS = ("epoll_wait", "epoll_pwait", "epoll_pwait2", "io_uring_enter")


class Load:
    """A job of chat_load, and its flags."""

    def __init__(self, connections=500, size=64, rate=10.0, receive=True, burst=False, **others):
        self.connections, self.size, self.rate, self.receive, self.burst = connections, size, rate, receive, burst
        self.others = others

    def seconds(self, options):
        """Return how long it takes."""
        counts = self.burst and self.receive and not options.quick
        return max(options.seconds, BURSTS) if counts else options.seconds

    def flags(self, options):
        """Return the arguments behind host and port."""
        extra = [text for name, value in self.others.items() for text in (f"--{name}", str(value))]
        numbers = (self.connections, self.seconds(options), self.size, self.rate, int(self.receive), int(self.burst))
        return [*map(str, numbers), "--threads", "1", *extra]

    def __str__(self):
        others = "".join(f", {name} {value}" for name, value in self.others.items())
        return (f"{self.connections} connections, {self.size} B, {self.rate:g} msg/s each"
                f"{', bursts' if self.burst else ''}{'' if self.receive else ', nobody reads'}{others}")


# ---- one measurement -----------------------------------------------------------------------------

def serving(name, options, ports, address="127.0.0.1", prefix=()):
    """A chat server on an engine, or the floor."""
    program = proc.built("floor_chat" if name == "floor" else "chat_server", options.build)

    def command(port, _):
        if name == "floor":
            return [program, str(port)]
        return [program, "--address", address, "--port", str(port), "--threads", "1", "--engine", name,
                "--line-bytes-max", "32768", "--log", "error"]

    return harness.serving(name, command, ports, harness.ready_line, prefix, 15)


def job_of(load, port, options, address="127.0.0.1"):
    """The load as a job of chat_load."""
    return Job(port, options.build, host=address, flags=tuple(load.flags(options)))


def deliveries_of(load, told):
    """Return how many deliveries the server owed; messages that no client received have been sent all the same."""
    return max(1, told["expected"] if load.receive else told["sent"] * (load.connections - 1))


def share_not_delivered(said, due):
    """Return which share of the deliveries a server did not get rid of; None when it says nothing."""
    found = re.search(r"(\d+) deliveries", said)
    return max(0.0, 1 - int(found[1]) / due) if found else None


def measure(name, load, ports, options, prefixes=((), ()), address="127.0.0.1"):
    """Start a server, load it, and return its costs. `prefixes`: commands that run the server and the load."""
    with serving(name, options, ports, address, prefixes[0]) as server:
        spent, done = harness.measure_load(server.pid, "chat_load", job_of(load, server.port, options, address),
                                           prefixes[1])
        peak = proc.memory_kib(server.pid, "VmHWM")
    told, due = done.told, deliveries_of(load, done.told)
    kept = ("missing", "sent", "unsent", "bytes", "behind", "duplicated", "out_of_order")
    return {**{key: told[key] for key in kept}, "us": 1e6 * spent["cpu_s"] / due,
            "deliveries": told["deliveries_per_s"], "rate": told["rate_per_s"], "told": told["told_dropped"],
            "p50": told["latency_us"]["p50"], "p99": told["latency_us"]["p99"],
            "server": spent["cpu_s"] / (told["duration_s"] + told["behind_s"]),
            "client": told["generator"]["cpu_share"], "saturated": told["generator"]["saturated"],
            "switches": spent["switches_per_s"], "peak_kib": peak, "lost": share_not_delivered(server.said, due)}


def count_calls(name, load, ports, options):
    """Return (system calls per delivery, wake-ups per second), counted in its own run."""
    if not shutil.which("perf"):
        return None, None
    with serving(name, options, ports) as server:
        with perf.Trace(server.pid, "perf", server.work) as trace:
            told = drive("chat_load", job_of(load, server.port, options), [harness.CLIENT_CPU]).told
    if not trace.calls:
        return None, None
    waits = sum(call.calls for call in trace.calls if call.name in WAITS)
    return sum(call.calls for call in trace.calls) / deliveries_of(load, told), waits / told["duration_s"]


# ---- tables --------------------------------------------------------------------------------------

def rounds_of(load, options, ports, servers):
    """Return one {server: result} per round, servers interleaved."""
    return harness.in_rounds(options.rounds, servers, lambda name: measure(name, load, ports, options), str(load))


def ratios_of(rounds, name, base):
    """Return the ratio of costs in each round in which both servers were idle at times."""
    return harness.ratios([one for one in rounds if max(one[name]["server"], one[base]["server"]) < BUSY], name, base)


def row(name, rounds, calls, wakes):
    """Return the cells of one server."""
    results = [one[name] for one in rounds]

    def median(figure, form=",.0f", scale=1.0):
        return harness.median(results, figure, form, scale)

    mark = " *" if any(one["saturated"] for one in results) else ""
    return (name, median("us", ".3f"), harness.spread(ratios_of(rounds, name, "floor"), nothing="busy"),
            *map(median, ("deliveries", "missing", "p50", "p99")), f"{median('server', '.0f', 100)} %",
            f"{median('client', '.0f', 100)} %{mark}", median("switches"), "n/a" if wakes is None else f"{wakes:,.0f}",
            "n/a" if calls is None else f"{calls:.4f}")


def table(load, options, ports, results):
    """Measure and return the lines of one table."""
    servers = ["floor", *options.engines]
    rounds = results[str(load)] = rounds_of(load, options, ports, servers)
    rows = [row(name, rounds, *(count_calls(name, load, ports, options) if options.trace else (None, None)))
            for name in servers]
    return ["", f"### {load}", "", *harness.markdown(COLUMNS, rows)]


def seed_table(options, ports, results):
    """Return the seed's table beside ours, under its own parameters."""
    modes = {mode: engine for mode, engine in (("ET", "epoll-edge"), ("LT", "epoll-level"), ("uring", "io_uring"))
             if engine in options.engines}
    rows = []
    for size in (64, 128, 256, 512):
        rounds = results[f"seed {size}"] = rounds_of(Load(500, size, 50, receive=False, burst=True), options, ports,
                                                     list(modes.values()))
        for mode, engine in modes.items():
            own = [one[engine] for one in rounds]
            rate, lost = (statistics.median(one[key] or 0 for one in own) for key in ("rate", "lost"))
            rows.append((str(size), mode, *map(str, SEED.get((size, mode), ("–", "–"))), f"{rate:,.0f}",
                         harness.median(own, "bytes", ".2f", 1 / options.seconds / 1e6), f"{rate * 499:,.0f}",
                         f"{100 * lost:.0f} %", f"{harness.median(own, 'server', '.0f', 100)} %"))
    return ["", *harness.markdown(("size", "mode", "the seed: msg/s", "the seed: \"bytes/s\" (kB/s)", "sent msg/s",
                                   "MB/s", "deliveries owed/s", "of them not delivered, as no client reads",
                                   "CPU server"), rows)]


def sustained_rate(name, size, options, ports):
    """Return the result of the highest sustained rate of each of 500 senders.

    A rate is sustained if nothing is missing, all messages were sent, and the last delivery came soon after the end of
    the sending. Messages that are queued at the end were not delivered in time."""
    best, low, high = None, 0.0, 60.0
    for _ in range(5 if options.quick else 7):
        rate = (low + high) / 2
        print(f"\rsustained: {name}, {size} B, {rate:.1f} msg/s each   ", end="", file=sys.stderr, flush=True)
        result = measure(name, Load(500, size, round(rate, 1)), ports, options)
        kept = (result["missing"] == 0 and result["rate"] > 0.97 * 500 * rate and result["unsent"] == 0
                and not result["behind"])
        if kept:
            low, best = rate, {**result, "per_sender": rate}
        else:
            high = rate
    print(file=sys.stderr)
    return best


def sustained_tables(options, ports, results):
    """Return the sustained rates, and the latency at half of each."""
    rows = []
    for size in (64,) if options.quick else (64, 128, 256, 512):
        servers = ["floor", *options.engines]
        best = {name: sustained_rate(name, size, options, ports) for name in servers}
        known = [one["per_sender"] for one in best.values() if one]
        # The same rate for all, or they do not compare.
        half = Load(500, size, round(min(known) / 2, 1)) if known else None
        latencies = rounds_of(half, options, ports, servers) if half else []
        results[f"sustained {size}"] = {"best": best, "half": latencies}
        for name, one in best.items():
            if one is None:
                rows.append((name, str(size), "none of the rates tried", "", "", "", ""))
                continue
            p99 = [each[name]["p99"] for each in latencies]
            rows.append((name, str(size), f"{one['deliveries']:,.0f}", f"{one['us']:.3f}", f"{1e6 / one['us']:,.0f}",
                         f"{statistics.median(p99):,.0f} ({min(p99):,.0f}–{max(p99):,.0f})",
                         f"{100 * one['client']:.0f} %{' *' if one['saturated'] else ''}"))
    return ["", *harness.markdown(("server", "size", "deliveries/s sustained", "CPU us/delivery",
                                   "deliveries per core and second", "p99 us at half of that: median (range)",
                                   "CPU client"), rows)]


def memory_table(options, ports, results):
    """Return what 5,000 connections take."""
    rows = []
    for engine in options.engines:
        results[f"memory {engine}"] = result = measure(engine, Load(5000, 64, 0.2), ports, options)
        rows.append((engine, f"{result['peak_kib'] / 1024:.1f}"))
    return ["", *harness.markdown(("engine", "after 5,000 connections, all receiving, 0.2 msg/s each: peak RSS MiB"),
                                  rows)]


def network_table(options, ports, results):
    """Return the engines over veth with what netem does to it."""
    load, rows = Load(100, 64, 20), []
    with chat_network.namespaces() as problem:
        if problem:
            return ["", f"Not measured: this machine makes no network namespaces ({problem})."]
        for link, netem in chat_network.LINKS.items():
            if not chat_network.shape_link(netem):
                rows.append((link, "not measured: this kernel has no netem", "", "", "", "", ""))
                continue
            for engine in options.engines:
                print(f"\rnetwork: {link}, {engine}       ", end="", file=sys.stderr, flush=True)
                results[f"network {link} {engine}"] = result = measure(
                    engine, load, ports, options, chat_network.INSIDE, chat_network.ADDRESS)
                rows.append((link, engine, f"{result['us']:.3f}", f"{result['deliveries']:,.0f}",
                             str(result["missing"]), f"{result['p50']:,.0f}", f"{result['p99']:,.0f}"))
    print(file=sys.stderr)
    return ["", f"{load}:", "", *harness.markdown(("link", "server", "CPU us/delivery", "deliveries/s", "missing",
                                                   "p50 us", "p99 us"), rows)]


# ---- the verdict ---------------------------------------------------------------------------------

def beside_floor(results, engines):
    """Return what deliveries cost beside the floor, in a sentence."""
    said = []
    for name in engines:
        ratios = [statistics.median(each) for each in
                  (ratios_of(rounds, name, "floor") for rounds in results.values()
                   if isinstance(rounds, list) and "floor" in rounds[0] and name in rounds[0]) if each]
        if ratios:
            said.append(f"{name} {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f} by load)")
    return f"CPU of a delivery to that of the floor, where both are idle at times: {'; '.join(said) or 'nowhere'}."


def verdict(results, engines, load_before):
    """Return the comparison of edge and level, in sentences."""
    ratios, better, rounds_count = [], [], 0
    for rounds in results.values():
        if isinstance(rounds, list) and "epoll-edge" in rounds[0] and "epoll-level" in rounds[0]:
            both = ratios_of(rounds, "epoll-level", "epoll-edge")
            if both:
                rounds_count = max(rounds_count, len(both))
                ratios.append(statistics.median(both))
                better.append(all(ratio > 1 for ratio in both) or all(ratio < 1 for ratio in both))
    if not ratios:
        return []
    lines = ["", "## Verdict", ""]
    if load_before > LOAD_MAX:
        return [*lines, "None: the machine was busy with other things. Run it again on a calm one."]
    lines += [f"In {len(ratios)} of the loads both are idle at times. There level-triggered costs"
              f" {statistics.median(ratios):.2f} times the CPU of edge-triggered for a delivery ({min(ratios):.2f} to"
              f" {max(ratios):.2f} by load); in {sum(better)} of them every round agrees about which is cheaper, of at"
              f" most {rounds_count} rounds."]
    lines += ["", beside_floor(results, engines), ""]
    spread = max(abs(ratio - 1) for ratio in ratios)
    if spread < 0.1:
        lines.append("The trigger mode does not matter here: the cost of a broadcast is that of the sends, which both"
                     " make alike. The seed's differences measured what its server dropped and its kernel buffered.")
    else:
        lines.append("Where they differ, the table of that load says by how much; what the seed measured was something"
                     " else: what its server dropped was not counted.")
    return lines


# ---- the run -------------------------------------------------------------------------------------

def loads_of(test, options):
    """Return the loads of a test in their own tables."""
    if test == "sizes":
        sizes = (64, 1024) if options.quick else (64, 128, 256, 512, 1024, 4096, 16384)
        return [Load(200, size, 20 if size <= 1024 else 4) for size in sizes]
    if test == "connections":
        every = ((10, 1000), (100, 100), (500, 8), (1000, 2), (5000, 0.1))
        return [Load(count, 64, rate) for count, rate in (((10, 500), (500, 8)) if options.quick else every)]
    if test == "shapes":
        write_heavy = [Load(500, 64, 50, receive=False, burst=burst) for burst in (False, True)]
        others = [Load(500, 64, 200, senders=10), Load(500, 64, 50, receivers=20)]
        bursts = [Load(500, 64, 20, burst=True), Load(500, 64, 5, burst=True), Load(500, 512, 2, burst=True)]
        return write_heavy[:1] + bursts[:1] if options.quick else write_heavy + others + bursts
    return []


def heading(load_before):
    """Return the lines that say how the figures came about."""
    return ["# What a chat delivery costs", "",
            made_by("lab/chat_cost.py"), "",
            f"Load average when it began: {load_before:.1f}. Above {LOAD_MAX:g}, others used the machine. A server that"
            " is kept waiting finds more to send in",
            "its next turn and pays less for each delivery. Then not even the ratios hold, only the counts and what is"
            " missing. For",
            "the same reason, the rate decides the CPU per delivery of a server that is never idle, not the cost of a"
            " delivery. The",
            "ratio is \"busy\" then; compare latency and system calls. Bursts, which no server can spread, show the"
            " cost.",
            "",
            "A delivery is one message for one recipient. The floor (`lab/floor/floor_chat.c`) frames and sends the"
            " same bytes and",
            "does nothing else. `*` means that the generator was the limit in a round. Rates are then lower bounds, and"
            " latencies",
            "contain its own. The cost of a delivery stands.",
            "[lab/README.md](../../lab/README.md) says how such tables are read."]


def parse_options():
    """Return the options, complete and checked."""
    parser = harness.parser(__doc__, 0, 0)
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer loads, two rounds of two seconds")
    add("--tests", default=",".join(TESTS))
    add("--engines", help="NAME,…; default: those of --list-engines")
    add("--no-trace", dest="trace", action="store_false", help="do not count system calls")
    add("--port", type=int, default=19400, help="ports above this one are used, one after another")
    options = parser.parse_args()
    options.rounds = options.rounds or (2 if options.quick else 5)
    options.seconds = options.seconds or (2 if options.quick else 4)
    options.tests = harness.known(parser, "test", options.tests, list(TESTS))
    names = harness.engines(options.build)
    options.engines = harness.known(parser, "engine", options.engines or ",".join(names), names)
    return options


def sections(options, ports, results):
    """Yield the lines of each test."""
    special = {"seed": seed_table, "sustained": sustained_tables, "memory": memory_table, "network": network_table}
    for test in options.tests:
        lines = ["", f"## {TESTS[test]}"]
        if test in special:
            lines += special[test](options, ports, results)
        else:
            lines += itertools.chain.from_iterable(
                table(load, options, ports, results) for load in loads_of(test, options))
        yield lines


def main() -> None:
    """Measure, print, write."""
    options = parse_options()
    harness.need()
    for name in ("chat_server", "chat_load", "floor_chat"):
        proc.built(name, options.build)
    load_before = os.getloadavg()[0]
    ports, results, lines = proc.free_port(options.port + 1, 65536), {}, heading(load_before)
    for section in sections(options, ports, results):
        print("\n".join(section), flush=True)
        lines += section
    closing = verdict(results, options.engines, load_before)
    print("\n".join(closing))
    harness.write(options, lines + closing, results)

# SPDX-License-Identifier: Apache-2.0
