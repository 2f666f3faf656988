#!/usr/bin/env python3
"""What a chat delivery costs the server, on each engine and beside the floor, in one run.

    chat_cost.py [--quick] [--rounds N] [--seconds S] [--tests sizes,connections,shapes,seed,sustained,memory,network]
                 [--engines epoll-edge,epoll-level,io_uring] [--no-trace] [--build build/bench]
                 [--json FILE] [--markdown docs/figures/chat.md]

Each round runs every server once (A B C D, A B C D, …), in a fresh process pinned to CPU 0, chat_load on CPU 1 with
every delivery checked. Tables:
    sizes        messages of 64 to 16,384 bytes
    connections  10 to 5,000, all of them receive
    shapes       nobody reads (write-heavy), few speak and all hear (read-heavy), many speak and few hear (asymmetric),
                 evenly and in bursts
    seed         the table that asked the question: 500 clients, 50 messages/s each, bursts, nobody reads
    sustained    the highest rate at which nothing is missing and the server is not behind when the sending ends, 500
                 connections, all receive; and latency at half of it
    memory       5,000 connections at rest and under load
    network      between network namespaces over veth, as it is, with delay, and with delay and loss (tc netem), where
                 this machine lets us make them
CPU is the server's, user and system, from the scheduler over the whole run; wake-ups are returns of epoll_wait or
io_uring_enter, counted with the other system calls by perf trace in a run of its own, as tracing slows the server.
A ratio is the median over rounds of (engine / floor) within a round. A server that is never idle takes another turn
with what came meanwhile, so its CPU per delivery is that of the rate, whatever a delivery costs: such rounds are left
out of ratios and verdict, "busy" where no other is left. Messages longer than 8 KiB need --line-bytes-max, which the
server is given.
"""
import argparse
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from katana_lab.heading import made_by          # lab/katana_lab; it needs no more than Python itself

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = pathlib.Path(tempfile.gettempdir()) / f"katana-chat-cost-{os.getuid()}"
SERVER_CPU, CLIENT_CPU = "0", "1"
ENGINES = ("epoll-edge", "epoll-level", "io_uring")
TESTS = ("sizes", "connections", "shapes", "seed", "sustained", "memory", "network")
BUSY = 0.95                                      # of a CPU; above it a server is never idle
BURSTS = 6                                       # at least, one a second: two may be anything
LOAD_MAX = 1.0                                   # load average above which a machine is not calm
COLUMNS = ("server", "CPU us/delivery", "ratio to floor", "deliveries/s", "missing", "p50 us", "p99 us", "CPU server",
           "CPU client", "context switches/s", "wake-ups/s", "system calls/delivery")
# The figures of the seed, as they were published: bytes/s are kilobytes in truth, and what the server dropped was not
# counted.
SEED = {(64, "ET"): (21962.9, 1405.6), (64, "LT"): (22072.8, 1412.7), (128, "ET"): (22286.6, 2852.7),
        (128, "LT"): (22111.7, 2830.3), (256, "ET"): (13518.4, 3460.7), (256, "LT"): (12065.4, 3088.7),
        (512, "ET"): (7294.2, 3734.6), (512, "LT"): (6905.9, 3535.8)}
NAMESPACES = ("katana-chat-a", "katana-chat-b")
LINKS = {"veth": None, "veth, 5 ms delay": "delay 5ms", "veth, 5 ms delay, 1 % loss": "delay 5ms loss 1%"}


class Load:
    """What chat_load is to do; the flags it is given."""

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


# ---- servers -------------------------------------------------------------------------------------

def built(name, options):
    """Return the path of a program of the build, or end with the command that makes it."""
    path = options.build / name
    if not path.exists():
        sys.exit(f"chat_cost.py: {path} is missing: cmake --preset bench && cmake --build --preset bench")
    return str(path)


def server_command(name, port, options, address="127.0.0.1"):
    """Return the argv of a server, unpinned."""
    if name == "floor":
        return [built("floor_chat", options), str(port)]
    return [built("chat_server", options), "--address", address, "--port", str(port), "--threads", "1", "--engine",
            name, "--line-bytes-max", "32768", "--log", "error"]


@contextlib.contextmanager
def running(command, prefix=()):
    """A server that has said that it is ready; ended at the end."""
    with open(WORK / "stderr", "w", encoding="utf-8") as log:
        process = subprocess.Popen([*prefix, "taskset", "-c", SERVER_CPU, *command], stdout=subprocess.PIPE, stderr=log,
                                   text=True)
    try:
        line = process.stdout.readline()
        if "ready on" not in line:
            sys.exit(f"chat_cost.py: {' '.join(command)} did not start")
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def cpu_s(pid):
    """Return user and system time of all threads of a process; the scheduler counts nanoseconds."""
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def switches(pid):
    """Return the context switches of all threads of a process."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text(encoding="ascii", errors="replace")
        total += sum(map(int, re.findall(r"ctxt_switches:\s+(\d+)", text)))
    return total


def memory_kib(pid, name="VmRSS"):
    """Return a size of /proc/PID/status."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1])


# ---- one measurement -----------------------------------------------------------------------------

def run_load(load, port, options, prefix=(), host="127.0.0.1"):
    """Run chat_load once and return its JSON."""
    figures = WORK / "load.json"
    figures.unlink(missing_ok=True)
    done = subprocess.run([*prefix, "taskset", "-c", CLIENT_CPU, built("chat_load", options), host, str(port),
                           *load.flags(options), "--json", str(figures), "--quiet"],
                          capture_output=True, text=True, check=False)
    if not figures.exists():
        sys.exit(f"chat_cost.py: chat_load failed: {done.stderr.strip()}")
    return json.loads(figures.read_text(encoding="utf-8"))


def deliveries_of(load, told):
    """Return how many deliveries the server owed: what nobody received has been sent all the same."""
    return told["expected"] if load.receive else told["sent"] * (load.connections - 1)


def share_not_delivered(due):
    """Return which share of the deliveries the last server did not get rid of; None when it says nothing."""
    said = re.search(r"(\d+) deliveries", (WORK / "stderr").read_text(encoding="utf-8"))
    return max(0.0, 1 - int(said[1]) / due) if said else None


def measure(name, load, port, options, prefixes=((), ()), address="127.0.0.1"):
    """Start a server, load it, and return what it cost. `prefixes`: what the server and the load are run by."""
    with running(server_command(name, port, options, address), prefixes[0]) as pid:
        cpu, switched, began = cpu_s(pid), switches(pid), time.monotonic()
        told = run_load(load, port, options, prefixes[1], address)
        elapsed = time.monotonic() - began
        used, switched = cpu_s(pid) - cpu, switches(pid) - switched
        peak = memory_kib(pid, "VmHWM")
    due = max(1, deliveries_of(load, told))
    return {"us": 1e6 * used / due, "deliveries": told["deliveries_per_s"], "missing": told["missing"],
            "sent": told["sent"], "unsent": told["unsent"], "rate": told["rate_per_s"], "bytes": told["bytes"],
            "told": told["told_dropped"], "p50": told["latency_us"]["p50"], "p99": told["latency_us"]["p99"],
            "server": used / (told["duration_s"] + told["behind_s"]), "behind": told["behind"],
            "client": told["generator"]["cpu_share"],
            "saturated": told["generator"]["saturated"], "switches": switched / elapsed, "peak_kib": peak,
            "duplicated": told["duplicated"], "out_of_order": told["out_of_order"], "lost": share_not_delivered(due)}


def stop_tracing(trace):
    """End perf, which looks for a signal before it waits, and not between: one that comes just then is sent again."""
    for _ in range(50):
        trace.send_signal(signal.SIGINT)
        try:
            return trace.wait(0.2)
        except subprocess.TimeoutExpired:
            pass
    trace.kill()
    return trace.wait()


def count_calls(name, load, port, options):
    """Return (system calls per delivery, wake-ups per second), counted in a run of its own."""
    if not shutil.which("perf"):
        return None, None
    out = WORK / "trace"
    with running(server_command(name, port, options)) as pid:
        trace = subprocess.Popen(["perf", "trace", "-s", "-o", str(out), "-p", str(pid)], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        told = run_load(load, port, options)
        stop_tracing(trace)
    calls = {call: int(number) for call, number in
             re.findall(r"^\s+(\w+)\s+(\d+)\s", out.read_text(errors="replace"), re.M)}
    if not calls:
        return None, None
    waits = sum(calls.get(call, 0) for call in ("epoll_wait", "epoll_pwait", "epoll_pwait2", "io_uring_enter"))
    return sum(calls.values()) / max(1, deliveries_of(load, told)), waits / told["duration_s"]


# ---- tables --------------------------------------------------------------------------------------

def rounds_of(load, options, ports, servers):
    """Return one {server: result} per round, servers interleaved."""
    rounds = []
    for index in range(options.rounds):
        one = {}
        for name in servers:
            print(f"\r{load}: round {index + 1}/{options.rounds} {name:<12}", end="", file=sys.stderr, flush=True)
            one[name] = measure(name, load, next(ports), options)
        rounds.append(one)
    print(file=sys.stderr)
    return rounds


def median(rounds, name, key):
    """Return the median of a figure of one server."""
    return statistics.median(one[name][key] for one in rounds)


def ratios_of(rounds, name, base):
    """Return the ratio of costs in each round in which both servers were idle at times."""
    return [one[name]["us"] / one[base]["us"] for one in rounds
            if one[base]["us"] > 0 and max(one[name]["server"], one[base]["server"]) < BUSY]


def ratio_text(rounds, name, base):
    """Return median and range of the ratio within rounds."""
    ratios = ratios_of(rounds, name, base)
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})" if ratios else "busy"


def table(load, options, ports, results):
    """Measure and return the lines of one table."""
    servers = ["floor", *options.engines]
    rounds = rounds_of(load, options, ports, servers)
    results[str(load)] = rounds
    lines = ["", f"### {load}", "", "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for name in servers:
        calls, wakes = count_calls(name, load, next(ports), options) if options.trace else (None, None)
        busy = median(rounds, name, "client")
        mark = " *" if any(one[name]["saturated"] for one in rounds) else ""
        cells = (name, f"{median(rounds, name, 'us'):.3f}", ratio_text(rounds, name, "floor"),
                 f"{median(rounds, name, 'deliveries'):,.0f}", f"{median(rounds, name, 'missing'):,.0f}",
                 f"{median(rounds, name, 'p50'):,.0f}", f"{median(rounds, name, 'p99'):,.0f}",
                 f"{100 * median(rounds, name, 'server'):.0f} %", f"{100 * busy:.0f} %{mark}",
                 f"{median(rounds, name, 'switches'):,.0f}", "n/a" if wakes is None else f"{wakes:,.0f}",
                 "n/a" if calls is None else f"{calls:.4f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def seed_table(options, ports, results):
    """Return the seed's table beside ours, under its own parameters."""
    lines = ["", "| size | mode | the seed: msg/s | the seed: \"bytes/s\" (kB/s) | sent msg/s | MB/s"
             " | deliveries owed/s | of them not delivered, as nobody reads | CPU server |", "|" + "---|" * 9]
    modes = {"ET": "epoll-edge", "LT": "epoll-level", "uring": "io_uring"}
    for size in (64, 128, 256, 512):
        load = Load(500, size, 50, receive=False, burst=True)
        engines = [engine for engine in modes.values() if engine in options.engines]
        rounds = rounds_of(load, options, ports, engines)
        results[f"seed {size}"] = rounds
        for mode, engine in modes.items():
            if engine not in engines:
                continue
            published = SEED.get((size, mode))
            rate = median(rounds, engine, "rate")
            sent = median(rounds, engine, "bytes") / options.seconds / 1e6
            lines.append(f"| {size} | {mode} | {published[0] if published else '–'} |"
                         f" {published[1] if published else '–'} | {rate:,.0f} | {sent:.2f} | {rate * 499:,.0f} |"
                         f" {100 * (median(rounds, engine, 'lost') or 0):.0f} % |"
                         f" {100 * median(rounds, engine, 'server'):.0f} % |")
    return lines


def sustained_rate(name, size, options, ports):
    """Return the result of the highest rate of each of 500 senders that is sustained: nothing is missing, all was sent,
    and the last delivery came soon after the end of the sending: what is queued then was delivered in no second."""
    best, low, high = None, 0.0, 60.0
    for _ in range(5 if options.quick else 7):
        rate = (low + high) / 2
        print(f"\rsustained: {name}, {size} B, {rate:.1f} msg/s each   ", end="", file=sys.stderr, flush=True)
        result = measure(name, Load(500, size, round(rate, 1)), next(ports), options)
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
    lines = ["", "| server | size | deliveries/s sustained | CPU us/delivery"
             " | deliveries per core and second | p99 us at half of that: median (range) | CPU client |",
             "|" + "---|" * 7]
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
                lines.append(f"| {name} | {size} | none of the rates tried | | | | |")
                continue
            p99 = [each[name]["p99"] for each in latencies]
            lines.append(f"| {name} | {size} | {one['deliveries']:,.0f} | {one['us']:.3f} | {1e6 / one['us']:,.0f} |"
                         f" {statistics.median(p99):,.0f} ({min(p99):,.0f}–{max(p99):,.0f}) |"
                         f" {100 * one['client']:.0f} %{' *' if one['saturated'] else ''} |")
    return lines


def memory_table(options, ports, results):
    """Return what 5,000 connections take."""
    lines = ["", "| engine | after 5,000 connections, all receiving, 0.2 msg/s each: peak RSS MiB |", "|---|---|"]
    for engine in options.engines:
        result = measure(engine, Load(5000, 64, 0.2), next(ports), options)
        results[f"memory {engine}"] = result
        lines.append(f"| {engine} | {result['peak_kib'] / 1024:.1f} |")
    return lines


# ---- network namespaces --------------------------------------------------------------------------

def ip(*arguments, check=True):
    """Run ip or tc quietly."""
    return subprocess.run(arguments, capture_output=True, text=True, check=check)


@contextlib.contextmanager
def namespaces():
    """Two network namespaces with a veth pair between them, or nothing where that is forbidden."""
    one, other = NAMESPACES
    remove = [("ip", "netns", "del", name) for name in NAMESPACES]
    for command in remove:
        ip(*command, check=False)
    try:
        for name in NAMESPACES:
            ip("ip", "netns", "add", name)
        ip("ip", "link", "add", "kc0", "netns", one, "type", "veth", "peer", "name", "kc1", "netns", other)
        for name, device, address in ((one, "kc0", "10.99.0.1/24"), (other, "kc1", "10.99.0.2/24")):
            ip("ip", "-n", name, "addr", "add", address, "dev", device)
            ip("ip", "-n", name, "link", "set", device, "up")
            ip("ip", "-n", name, "link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or str(error)
        for command in remove:
            ip(*command, check=False)
        yield detail.strip().splitlines()[-1] if detail.strip() else "forbidden"
        return
    try:
        yield None
    finally:
        for command in remove:
            ip(*command, check=False)


def shape_link(netem):
    """Give both ends of the veth pair a netem discipline, or none. False: this kernel has no netem."""
    for name, device in zip(NAMESPACES, ("kc0", "kc1")):
        ip("tc", "-n", name, "qdisc", "del", "dev", device, "root", check=False)
        if netem and ip("tc", "-n", name, "qdisc", "add", "dev", device, "root", "netem", "limit", "100000",
                        *netem.split(), check=False).returncode != 0:
            return False
    return True


def network_table(options, ports, results):
    """Return the engines over veth with what netem does to it."""
    load = Load(100, 64, 20)
    lines = ["", f"{load}:", "",
             "| link | server | CPU us/delivery | deliveries/s | missing | p50 us | p99 us |", "|" + "---|" * 7]
    with namespaces() as problem:
        if problem:
            return ["", f"Not measured: this machine makes no network namespaces ({problem})."]
        inside = tuple(("ip", "netns", "exec", name) for name in NAMESPACES)
        for title, netem in LINKS.items():
            if not shape_link(netem):
                lines.append(f"| {title} | not measured: this kernel has no netem | | | | | |")
                continue
            for engine in options.engines:
                print(f"\rnetwork: {title}, {engine}       ", end="", file=sys.stderr, flush=True)
                result = measure(engine, load, next(ports), options, inside, "10.99.0.1")
                results[f"network {title} {engine}"] = result
                lines.append(f"| {title} | {engine} | {result['us']:.3f} | {result['deliveries']:,.0f} |"
                             f" {result['missing']} | {result['p50']:,.0f} | {result['p99']:,.0f} |")
    print(file=sys.stderr)
    return lines


# ---- the verdict ---------------------------------------------------------------------------------

def beside_floor(results):
    """Return what deliveries cost beside the floor, in a sentence."""
    said = []
    for name in ENGINES:
        ratios = [statistics.median(each) for each in
                  (ratios_of(rounds, name, "floor") for rounds in results.values()
                   if isinstance(rounds, list) and "floor" in rounds[0] and name in rounds[0]) if each]
        if ratios:
            said.append(f"{name} {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f} by load)")
    return f"CPU of a delivery to that of the floor, where both are idle at times: {'; '.join(said) or 'nowhere'}."


def verdict(results, load_before):
    """Return what the figures say about edge against level, in sentences."""
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
    lines += ["", beside_floor(results), ""]
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
    """Return the loads of a test in tables of their own."""
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
            " is kept waiting",
            "finds more to send in its next turn and pays less for each delivery, so that then not even the ratios",
            "hold: only what is missing and what was counted. For the same reason a server that is never idle has",
            "the CPU per delivery of the rate, whatever a delivery costs it: the ratio is \"busy\" then, and latency",
            "and system calls are what to compare. Bursts, which no server can spread, show the cost.",
            "",
            "A delivery is one message for one recipient. The floor (`lab/floor/floor_chat.c`) frames and sends the",
            "same bytes and does nothing else. `*`: the generator was the limit in a round; rates are then lower",
            "bounds and latencies contain its own, while the cost of a delivery stands.",
            "[lab/README.md](../../lab/README.md) says how such tables are read."]


def parse_options(arguments=None):
    """Return the options, complete and checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer loads, two rounds of two seconds")
    add("--rounds", type=int)
    add("--seconds", type=int)
    add("--tests", default=",".join(TESTS))
    add("--engines", default=",".join(ENGINES))
    add("--no-trace", dest="trace", action="store_false", help="do not count system calls")
    add("--port", type=int, default=19400, help="ports above this one are used, one after another")
    add("--build", type=pathlib.Path, default=ROOT / "build" / "bench")
    add("--json", type=pathlib.Path)
    add("--markdown", type=pathlib.Path)
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (2 if options.quick else 5)
    options.seconds = options.seconds or (2 if options.quick else 4)
    options.tests, options.engines = options.tests.split(","), options.engines.split(",")
    for given, known in ((options.tests, TESTS), (options.engines, ENGINES)):
        for name in given:
            if name not in known:
                parser.error(f"'{name}' is not one of {', '.join(known)}")
    return options


def sections(options, ports, results):
    """Yield the lines of each test."""
    titles = {"sizes": "Sizes", "connections": "Connections", "shapes": "Shapes of load",
              "seed": "The seed's table beside ours", "sustained": "Sustained, and latency at half of it",
              "memory": "Memory", "network": "Between network namespaces"}
    special = {"seed": seed_table, "sustained": sustained_tables, "memory": memory_table, "network": network_table}
    for test in options.tests:
        lines = ["", f"## {titles[test]}"]
        if test in special:
            lines += special[test](options, ports, results)
        else:
            lines += itertools.chain.from_iterable(
                table(load, options, ports, results) for load in loads_of(test, options))
        yield lines


def main():
    """Run the command line."""
    options = parse_options()
    WORK.mkdir(parents=True, exist_ok=True)
    for name in ("chat_server", "chat_load", "floor_chat"):
        built(name, options)
    load_before = os.getloadavg()[0]
    ports, results, lines = iter(range(options.port + 1, 65536)), {}, heading(load_before)
    for section in sections(options, ports, results):
        print("\n".join(section), flush=True)
        lines += section
    closing = verdict(results, load_before)
    print("\n".join(closing))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if options.markdown:
        options.markdown.write_text("\n".join(lines + closing) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
