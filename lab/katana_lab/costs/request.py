"""The cost of one request for a server, beside the floor and beside rivals, in one run.

    cost.py [--server mine='build/bench/hello_world_server --port {port} --threads 1 --engine epoll-edge']
            [--server other='…'] [--with floor,floor_uring,nginx,h2o] [--tests keepalive,pipeline,churn]
            [--rounds 5] [--seconds 3] [--connections 64,1000] [--path /plaintext] [--build build/bench]
            [--json FILE] [--markdown FILE] [--readme]

Without --server: hello_world_server of the bench build with one reactor, on each engine.

Each round runs every server once (A B C A B C …), in a fresh process pinned to CPU 0. The load generator is on CPU 1.
    keepalive  wrk -t1 -cN, for each N of --connections. Requests/s, and server CPU us/request (utime+stime of the
               process tree). User and kernel instructions and system calls per request (perf stat). These are n/a
               where the machine does not count.
    pipeline   the same with 16 requests per segment, for the first N
    churn      katana-load --churn (connect, one request, whole reply, close): CPU us and system calls per connection.
The ratio column is the median over rounds of (server / first server of that test) within a round. The first server is
the floor, unless --with says otherwise. The column 'other' is the share of CPU 0 that other processes took. A round
with more than 8 % is left out where calmer ones exist. The column 'client' above 90 % means the generator was the
limit: the rate is then a lower bound, the cost per request stands.
Needs wrk and perf (linux-perf); nginx and h2o only if named; the floor programs and katana-load from the bench build.
"""
from __future__ import annotations


from katana_lab import ROOT, LabError, proc
from katana_lab.costs import harness
from katana_lab.drivers import Job
from katana_lab.heading import made_by, replace_between

PIPELINE_DEPTH = 16
EVENTS = ("instructions:u", "instructions:k", harness.CALLS)
RIVALS = ("floor", "floor_uring", "nginx", "h2o")
TESTS = {"keepalive": "wrk", "pipeline": "wrk", "churn": "churn"}       # and the driver of each
OWN = "{program} --port {{port}} --threads 1 --engine {engine}"
COLUMNS = ("server", "CPU us/request", "ratio to {base}", "user instr.", "kernel instr.", "syscalls", "requests/s",
           "server", "client", "other", "RSS MiB", "errors")
README_COLUMNS = ("server", "CPU µs/request", "ratio to the floor", "system calls")


def server_command(name, spec, test, options):
    """The command of a server for `harness.serving`. `spec`: the user's, None for a rival we know. The floor that ends
    each connection itself is the floor of churn.
    """
    if spec:
        return lambda port, work: spec.format(port=port).split()
    if name.startswith("floor"):
        program = proc.built("floor_epoll" if name == "floor" else name, options.build)
        ends = ["close"] if test == "churn" and name == "floor" else []
        return lambda port, work: [program, str(port), *ends]
    try:
        from katana_lab import peers
    except ImportError as error:
        raise LabError(f"{error}: run tools/setup bench, and .venv/bin/python lab/cost.py") from None
    server = peers.load_peers()[name]
    peers.prepare(server, options.build)
    return lambda port, work: peers.command_of(server, {}, port, options.build, work)


def measure(name, spec, trial, options, ports):
    """Start a server, warm it up, measure time and events, and end it."""
    test, connections = trial
    with harness.serving(name, server_command(name, spec, test, options), ports, options.path) as server:
        def job(seconds, depth=PIPELINE_DEPTH if test == "pipeline" else 1):
            return Job(server.port, options.build, options.path, connections=connections, seconds=seconds,
                       in_flight=depth)

        harness.drive(TESTS[test], job(1, 1), [harness.CLIENT_CPU])
        result, _ = harness.measure_load(server.pid, TESTS[test], job(options.seconds))
        return {**result, **harness.count_events(server.pid, TESTS[test], job(options.seconds), EVENTS, server.work)}


def title(trial):
    """Return what a trial is called."""
    return f"{trial[0]}, {trial[1]} connections"


def row(name, base, rounds):
    """Return the cells of one server."""
    calm, median = harness.calm(rounds, name), harness.median
    return (name, median(calm, "us"), harness.spread(harness.ratios(rounds, name, base)),
            *(median(calm, event, ",.0f") for event in EVENTS[:2]), median(calm, harness.CALLS),
            median(calm, "rate", ",.0f"),
            *(f"{median(calm, share, '.0f', 100)} %" for share in ("server", "client", "other")),
            median(calm, "rss_kib", ".1f", 1 / 1024), str(sum(one[name]["errors"] for one in rounds)))


def table(trial, rounds, options):
    """Return the Markdown table of one trial as lines."""
    base = next(iter(rounds[0]))
    return ["", f"## {title(trial)}: {options.rounds} rounds of {options.seconds} s", "",
            *harness.markdown([column.format(base=base) for column in COLUMNS],
                              [row(name, base, rounds) for name in rounds[0]])]


def readme_table(trial, rounds):
    """Return the short table of the README as lines: what means something on another machine."""
    base = next(iter(rounds[0]))
    wanted = [COLUMNS.index(name) for name in ("server", "CPU us/request", "ratio to {base}", "syscalls")]
    rows = [[row(name, base, rounds)[at] for at in wanted] for name in rounds[0]]
    return ["", made_by("lab/cost.py"), "", *harness.markdown(README_COLUMNS, rows), "",
            f"`GET` of a short text, {title(trial)}. The floor parses nothing and makes only the system calls.", ""]


def parse_options():
    """Return the options, complete and checked."""
    parser = harness.parser(__doc__, 5, 3)
    add = parser.add_argument
    add("--server", action="append", default=[], metavar="NAME=COMMAND", help="{port} in COMMAND is replaced")
    add("--with", dest="rivals", help=", ".join(RIVALS) + "; default floor, with --readme floor,floor_uring")
    add("--tests", help=",".join(TESTS) + "; default all, with --readme keepalive")
    add("--connections", type=harness.numbers, default=[64], metavar="N,…", help="default 64")
    add("--path", default="/plaintext")
    add("--port", type=int, default=9400, help="ports above this one are used, one after another")
    add("--readme", action="store_true", help="put the first table, shortened, into README.md")
    options = parser.parse_args()
    options.rivals = options.rivals or ("floor,floor_uring" if options.readme else "floor")
    options.tests = options.tests or ("keepalive" if options.readme else ",".join(TESTS))
    options.rivals = harness.known(parser, "server", options.rivals, RIVALS)
    options.tests = harness.known(parser, "test", options.tests, list(TESTS))
    if not all("=" in server for server in options.server):
        parser.error("--server needs NAME=COMMAND")
    return options


def servers_of(options):
    """Return {name: command or None}: the rivals, then the measured servers."""
    own = dict(server.split("=", 1) for server in options.server)
    if not own:
        program = proc.built("hello_world_server", options.build)
        own = {engine: OWN.format(program=program, engine=engine) for engine in harness.engines(options.build)}
    return {**dict.fromkeys(options.rivals), **own}


def main() -> None:
    """Measure, print, write."""
    options = parse_options()
    servers, everything, lines = servers_of(options), {}, [
        "# What a request costs", "", made_by("lab/cost.py"), "",
        "[lab/README.md](../../lab/README.md) says how to read the tables. The ratio is what means the same elsewhere."]
    plan = {(test, connections): [name for name in servers if not (test == "churn" and name == "floor_uring")]
            for test in options.tests
            for connections in (options.connections if test == "keepalive" else options.connections[:1])}
    harness.need("perf", *["wrk"] * (set(options.tests) != {"churn"}))
    for (test, _), names in plan.items():
        for name in names:
            server_command(name, servers[name], test, options)
    ports = proc.free_port(options.port + 1, 65536)
    for trial, names in plan.items():
        def one(name, trial=trial):
            return measure(name, servers[name], trial, options, ports)

        everything[title(trial)] = harness.in_rounds(options.rounds, names, one, title(trial))
        made = table(trial, everything[title(trial)], options)
        print("\n".join(made), flush=True)
        lines += made
    if options.readme:
        first = next(iter(plan))
        replace_between(ROOT / "README.md", "measured", readme_table(first, everything[title(first)]))
    harness.write(options, lines, everything)

# SPDX-License-Identifier: Apache-2.0
