#!/usr/bin/env python3
"""What one request costs a server, beside the floor and beside rivals, in one run.

    cost.py [--server mine='build/bench/hello_world_server --port {port} --threads 1 --engine epoll-edge']
            [--server other='…'] [--with floor,floor_uring,nginx,h2o] [--tests keepalive,pipeline,churn]
            [--rounds 5] [--seconds 3] [--connections 64,1000] [--path /plaintext] [--build build/bench]
            [--json FILE] [--markdown FILE] [--readme]

Without --server: hello_world_server of the bench build with one reactor, on each engine.

Each round runs every server once (A B C A B C …), in a fresh process pinned to CPU 0, the load generator on CPU 1.
    keepalive  wrk -t1 -cN, for each N of --connections: server CPU us/request (utime+stime of the process tree),
               instructions user/kernel and system calls per request (perf stat; n/a where the machine does not count),
               requests/s
    pipeline   the same with 16 requests per segment, for the first N
    churn      connect, one request, whole reply, close: CPU us and system calls per connection
The ratio column is the median over rounds of (server / first server of that test: the floor, unless --with says
otherwise) within a round. 'other' is the share of CPU 0 that strangers took: above 8 % a round is left out where calmer
ones exist.
'client' above 90 % means the generator was the limit: the rate is then a lower bound, the cost per request stands.
Needs wrk and perf (linux-perf); nginx and h2o only if named; the floor programs and churn from the bench build.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from katana_lab import LabError, proc            # lab/katana_lab; these need no more than Python itself
from katana_lab.heading import made_by, replace_between
from katana_lab.proc import cpu_busy_s, process_cpu_s, rss_kib, stop, tree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = pathlib.Path(tempfile.gettempdir()) / f"katana-cost-{os.getuid()}"
SERVER_CPU, CLIENT_CPU = 0, 1
OTHER_SHARE_MAX = 0.08
PIPELINE_DEPTH = 16
EVENTS = ["instructions:u", "instructions:k", "raw_syscalls:sys_enter"]
RIVALS = ("floor", "floor_uring", "nginx", "h2o")
TESTS = ("keepalive", "pipeline", "churn")
OWN = "{program} --port {{port}} --threads 1 --engine {engine}"
OWN_ENGINES = ("epoll-edge", "epoll-level", "io_uring")
COLUMNS = ("server", "CPU us/request", "ratio to {base}", "user instr.", "kernel instr.", "syscalls", "requests/s",
           "server", "client", "other", "RSS MiB", "errors")


# ---- programs ------------------------------------------------------------------------------------

def or_end(function, *arguments):
    """Return what the laboratory's function does, or end with its one line."""
    try:
        return function(*arguments)
    except LabError as error:
        sys.exit(f"cost.py: {error}")


def tool(name):
    """Return the path of an external program, or end with the package that has it."""
    return or_end(proc.tool, name)


def built(name, build):
    """Return the path of a program of the build, or end with the command that makes it."""
    return or_end(proc.built, name, build)


def write_file(path, text):
    """Write a file and the folder it stands in; return its path as text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def server_command(name, spec, port, test, build):
    """Return the argv of a server. `spec`: the user's command, None for a rival we know. The floor differs by test."""
    if spec:
        return spec.format(port=port).split()
    if name == "floor":
        return [built("floor_epoll", build), str(port)] + (["close"] if test == "churn" else [])
    if name == "floor_uring":
        return [built("floor_uring", build), str(port)]
    if name in RIVALS:
        return or_end(rival_command, name, port, build)
    raise ValueError(f"no server is called {name!r}")


def rival_command(name, port, build):
    """Return the argv of a server of lab/peers, whose configuration is written into WORK."""
    try:
        from katana_lab import peers
    except ImportError as error:
        raise LabError(f"{error}: run tools/setup, and .venv/bin/python lab/cost.py") from None
    server = peers.load_peers()[name]
    peers.prepare(server, build)
    return peers.command_of(server, {}, port, build, WORK)


def load_command(test, connections, port, options, seconds):
    """Return the argv of the load generator, pinned to its CPU."""
    pin = ["taskset", "-c", str(CLIENT_CPU)]
    if test == "churn":
        return pin + [built("churn", options.build), str(port), str(connections), str(seconds)]
    wrk = pin + [tool("wrk"), "-t1", f"-c{connections}", f"-d{seconds}s"]
    url = f"http://127.0.0.1:{port}{options.path}"
    if test == "pipeline":
        return wrk + ["-s", str(HERE / "pipeline.lua"), url, "--", str(PIPELINE_DEPTH)]
    return wrk + [url]


def count(test, output):
    """Return (requests, requests/s, errors) from what the load generator printed."""
    if test == "churn":
        rate, requests, errors = output.split()[:3]
        return int(requests), float(rate), int(errors)
    requests = int(re.search(r"(\d+) requests in", output).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))
    errors = sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", output)))
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    return requests, rate, errors + (int(refused.group(1)) if refused else 0)


# ---- one measurement -----------------------------------------------------------------------------

def wait_until_up(name, port, path, process):
    """Wait until the server answers; ends the program when it does not."""
    or_end(proc.wait_until_up, name, port, path, process)


def run_load(command):
    """Run a load generator to its end and return what it printed."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def measure_time(test, process, load):
    """Run the load once and return CPU time, rate, errors and shares."""
    pid, started = process.pid, time.monotonic()
    cpu, busy, client = process_cpu_s(pid), cpu_busy_s(SERVER_CPU), cpu_busy_s(CLIENT_CPU)
    output = run_load(load)
    elapsed = time.monotonic() - started
    cpu, busy = process_cpu_s(pid) - cpu, cpu_busy_s(SERVER_CPU) - busy
    client = cpu_busy_s(CLIENT_CPU) - client
    requests, rate, errors = count(test, output)
    return {"requests": requests, "rate": rate, "errors": errors, "us": 1e6 * cpu / max(requests, 1),
            "server": cpu / elapsed, "client": client / elapsed, "other": max(0.0, busy - cpu) / elapsed,
            "rss_kib": rss_kib(pid)}


def measure_events(test, process, load):
    """Run the load under perf stat and return each event per request; counting slows the server, hence apart."""
    stat_file = WORK / "stat"
    pids = ",".join(map(str, tree(process.pid)))
    perf = [tool("perf"), "stat", "-x", ",", "-o", str(stat_file), "-e", ",".join(EVENTS), "-p", pids, "--"]
    requests, _, _ = count(test, run_load(perf + load))
    lines = [line.split(",") for line in stat_file.read_text(encoding="utf-8").splitlines()]
    return {fields[2]: int(fields[0]) / max(requests, 1) for fields in lines if len(fields) > 3 and fields[0].isdigit()}


def measure(name, spec, trial, port, options):
    """Start a server, warm it up, measure it in both ways, and end it."""
    test, connections = trial
    command = ["taskset", "-c", str(SERVER_CPU), *server_command(name, spec, port, test, options.build)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_up(name, port, options.path, process)
        warm_up = "churn" if test == "churn" else "keepalive"
        run_load(load_command(warm_up, connections, port, options, seconds=1))
        load = load_command(test, connections, port, options, options.seconds)
        result = measure_time(test, process, load)
        return {**result, **measure_events(test, process, load)}
    finally:
        stop(process)


# ---- the run -------------------------------------------------------------------------------------

def run_rounds(trial, servers, options, ports):
    """Return one {server: result} per round, servers interleaved."""
    rounds = []
    for index in range(options.rounds):
        one = {}
        for name, spec in servers:
            print(f"\r{title(trial)}: round {index + 1}/{options.rounds} {name:<20}", end="", file=sys.stderr,
                  flush=True)
            one[name] = measure(name, spec, trial, next(ports), options)
        rounds.append(one)
    print(file=sys.stderr)
    return rounds


def row(name, base, rounds):
    """Return the cells of one server."""
    results = [one[name] for one in rounds]
    calm = [result for result in results if result["other"] <= OTHER_SHARE_MAX] or results
    ratios = [one[name]["us"] / one[base]["us"] for one in rounds if one[base]["us"]] or [float("nan")]

    def median(key, form, scale=1.0):
        values = [scale * result[key] for result in calm if key in result]
        return format(statistics.median(values), form) if values else "n/a"

    return (name, median("us", ".2f"), f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
            median("instructions:u", ",.0f"), median("instructions:k", ",.0f"), median("raw_syscalls:sys_enter", ".2f"),
            median("rate", ",.0f"), *(median(key, ".0f", 100) + " %" for key in ("server", "client", "other")),
            median("rss_kib", ".1f", 1 / 1024), str(sum(result["errors"] for result in results)))


def title(trial):
    """Return what a trial is called."""
    return f"{trial[0]}, {trial[1]} connections"


def table(trial, rounds, options):
    """Return the Markdown table of one trial as lines."""
    names = list(rounds[0])
    lines = ["", f"## {title(trial)}: {options.rounds} rounds of {options.seconds} s", "",
             "| " + " | ".join(COLUMNS).format(base=names[0]) + " |", "|" + "---|" * len(COLUMNS)]
    return lines + ["| " + " | ".join(row(name, names[0], rounds)) + " |" for name in names]


def heading():
    """Return the lines that say how the figures came about."""
    return ["# What a request costs", "",
            made_by("lab/cost.py"), "",
            "[lab/README.md](../../lab/README.md) says how to read the tables. The ratio is what means the same"
            " elsewhere."]


README_COLUMNS = ("server", "CPU µs/request", "ratio to the floor", "system calls")


def readme_table(trial, rounds):
    """Return the short table of the README as lines: what means something on another machine."""
    lines = ["", made_by("lab/cost.py"), "", "| " + " | ".join(README_COLUMNS) + " |",
             "|" + "---|" * len(README_COLUMNS)]
    wanted = [COLUMNS.index(name) for name in ("server", "CPU us/request", "ratio to {base}", "syscalls")]
    for name in rounds[0]:
        cells = row(name, next(iter(rounds[0])), rounds)
        lines.append("| " + " | ".join(cells[at] for at in wanted) + " |")
    return [*lines, "", f"`GET` of a short text, {title(trial)}. The floor parses nothing and makes only the system"
            " calls.", ""]


def numbers(text):
    """Return the numbers of a list such as 64,1000."""
    return [int(number) for number in text.split(",")]


def parse_options(arguments=None):
    """Return the options, complete and checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--server", action="append", default=[], metavar="NAME=COMMAND", help="{port} in COMMAND is replaced")
    add("--with", dest="rivals", default="floor", help=", ".join(RIVALS))
    add("--tests", default=",".join(TESTS))
    add("--rounds", type=int, default=5)
    add("--seconds", type=int, default=3)
    add("--connections", type=numbers, default=[64], metavar="N,…", help="default 64")
    add("--path", default="/plaintext")
    add("--port", type=int, default=9400, help="ports above this one are used, one after another")
    add("--build", type=pathlib.Path, default=ROOT / "build" / "bench", help="where the built programs are")
    add("--json", metavar="FILE", help="write every round's results")
    add("--markdown", type=pathlib.Path, metavar="FILE", help="write the tables there, too")
    add("--readme", action="store_true", help="put the first table, shortened, into README.md")
    options = parser.parse_args(arguments)
    options.rivals = [name for name in options.rivals.split(",") if name]
    options.tests = options.tests.split(",")
    for kind, given, known in (("server", options.rivals, RIVALS), ("test", options.tests, TESTS)):
        for name in given:
            if name not in known:
                parser.error(f"no {kind} is called {name!r}; known: {', '.join(known)}")
    if not all("=" in server for server in options.server):
        parser.error("--server wants NAME=COMMAND")
    return options


def servers_of(options):
    """Return [(name, command or None)]: the rivals, then what is measured."""
    own = [tuple(server.split("=", 1)) for server in options.server]
    if not own:
        program = built("hello_world_server", options.build)
        own = [(engine, OWN.format(program=program, engine=engine)) for engine in OWN_ENGINES]
    return [(name, None) for name in options.rivals] + own


def check_programs(plan, options):
    """End now, not in the middle of the run, when a program is missing."""
    for name in ("taskset", "perf"):
        tool(name)
    for (test, connections), servers in plan.items():
        load_command(test, connections, options.port, options, seconds=1)
        for name, spec in servers:
            server_command(name, spec, options.port, test, options.build)


def main():
    """Run the command line."""
    options = parse_options()
    WORK.mkdir(parents=True, exist_ok=True)
    servers, everything, lines = servers_of(options), {}, heading()
    plan = {(test, connections): [server for server in servers if not (test == "churn" and server[0] == "floor_uring")]
            for test in options.tests
            for connections in (options.connections if test == "keepalive" else options.connections[:1])}
    check_programs(plan, options)
    ports = iter(range(options.port + 1, 65536))
    for trial, taking_part in plan.items():
        rounds = run_rounds(trial, taking_part, options, ports)
        everything[title(trial)] = rounds
        print("\n".join(table(trial, rounds, options)), flush=True)
        lines += table(trial, rounds, options)
    if options.readme:
        first = next(iter(plan))
        replace_between(ROOT / "README.md", "measured", readme_table(first, everything[title(first)]))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(everything, out, indent=1)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
