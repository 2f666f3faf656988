"""The cost of a request of HTTP/2 for a server, beside others, in interleaved rounds.

Every server gets the same load, `h2load -t1 -c16 -m16` for a reply of 13 bytes, one after the other, round after round.
The server runs on CPU 0 and h2load on CPU 1. A figure is the server's processor time (user and system) for each
request. The table has the median of the rounds, and of the ratios to the first server within a round, with their range.
Servers that are not installed are left out.

  lab/http2_cost.py                       # build/bench/hello_world_server beside nghttpd and h2o
  lab/http2_cost.py --rounds 9 --requests 400000 --json FILE
  lab/http2_cost.py --client              # what the generators cost: katana-load --http2 beside h2load

With --client both generators load the first server in turn, with the same connections and streams. A figure is the
generator's processor time for each request, beside its user instructions where perf can count them.
"""
from __future__ import annotations

import contextlib
import pathlib
import shutil

from katana_lab import LabError, proc
from katana_lab.costs import generators, harness
from katana_lab.drivers import Job, drive

H2O_CONFIGURATION = """\
num-threads: 1
listen: {{host: 127.0.0.1, port: {port}}}
hosts:
  "127.0.0.1":
    paths:
      "/":
        file.dir: {folder}
access-log: /dev/null
error-log: /dev/null
"""
CONNECTIONS, STREAMS, WARM_UP = 16, 16, 20_000


def nghttpd(port, work):
    """nghttpd, which serves a file."""
    (work / "plaintext").write_text("Hello, World!")
    return ["nghttpd", "--no-tls", "-n1", "-d", str(work), str(port)]


def h2o(port, work):
    """h2o, which serves a file."""
    (work / "plaintext").write_text("Hello, World!")
    (work / "h2o.yaml").write_text(H2O_CONFIGURATION.format(port=port, folder=work))
    return ["h2o", "-m", "worker", "-c", str(work / "h2o.yaml")]


def servers_of(options):
    """Return {name: command for harness.serving} of the servers that are here."""
    found = {"katana": lambda port, work: [options.server, "--port", str(port), "--threads", "1"]}
    return found | {name: command for name, command in (("nghttpd", nghttpd), ("h2o", h2o)) if shutil.which(name)}


def job_of(port, options, requests, build=None):
    """The load, of h2load or of ours."""
    return Job(port, build or options.build, connections=CONNECTIONS, requests=requests, in_flight=STREAMS)


def load(server, options, requests):
    """Run h2load; LabError when one request failed."""
    done = drive("h2load", job_of(server.port, options, requests), [harness.CLIENT_CPU])
    if done.errors:
        raise LabError(f"{done.errors} of {requests} requests failed")


def listens(port, process, log):
    """nghttpd speaks HTTP/2 only: it is up when it listens."""
    proc.wait_for(lambda: proc.listens(process, port) or process.poll() is not None, 10)
    if not proc.listens(process, port):
        raise LabError(f"{process.args[-1]} does not listen on {port}: {proc.read(log).strip()}")


def measure(options):
    """Return one {name: figures} for each round; every server runs all the time."""
    ports, servers = proc.free_port(), {}
    with contextlib.ExitStack() as stack:
        for name, command in servers_of(options).items():
            servers[name] = stack.enter_context(harness.serving(name, command, ports, listens))
            load(servers[name], options, WARM_UP)

        def one(name):
            result, done = harness.measure_load(servers[name].pid, "h2load",
                                                job_of(servers[name].port, options, options.requests))
            if done.errors:
                raise LabError(f"{name}: {done.errors} requests failed")
            return result

        return harness.in_rounds(options.rounds, list(servers), one, "http2")


def measure_clients(options):
    """Return one {generator: figures} for each round."""
    with harness.serving("katana", servers_of(options)["katana"], proc.free_port(), listens) as server:
        load(server, options, WARM_UP)

        def one(name):
            ours = options.generator.parent
            return generators.cost_of({"katana-load": "http2"}.get(name, name),
                                      job_of(server.port, options, options.requests, ours), server.work)

        return harness.in_rounds(options.rounds, ["katana-load", "h2load"], one, "generators")


def clients_table(rounds):
    """Return the lines of the generators."""
    rows = [(name, harness.median([one[name] for one in rounds], "us"),
             harness.median([one[name] for one in rounds], "instructions", ",.0f"),
             harness.spread(harness.ratios(rounds, name, "h2load"))) for name in rounds[0]]
    return harness.markdown(("generator", "CPU us/request", "user instructions", "ratio to h2load"), rows)


def servers_table(rounds):
    """Return the lines of the servers."""
    rows = [(name, harness.median([one[name] for one in rounds], "us"),
             harness.spread(harness.ratios(rounds, name, "katana"))) for name in rounds[0]]
    return harness.markdown(("server", "CPU us/request", "ratio to katana"), rows)


def main() -> None:
    """Measure, print, write."""
    parser = harness.parser(__doc__, 5)
    parser.add_argument("--server", help="ours, in place of hello_world_server of --build")
    parser.add_argument("--generator", type=pathlib.Path, help="katana-load, in place of that of --build")
    parser.add_argument("--client", action="store_true", help="measure the generators, not the servers")
    parser.add_argument("--requests", type=harness.at_least_one(int), default=200_000, help="of each round and server")
    options = parser.parse_args()
    harness.need("h2load")
    options.server = options.server or proc.built("hello_world_server", options.build)
    options.generator = options.generator or pathlib.Path(proc.built("katana-load", options.build))
    rounds = measure_clients(options) if options.client else measure(options)
    lines = clients_table(rounds) if options.client else servers_table(rounds)
    print("\n".join(lines))
    harness.write(options, lines, rounds if options.client else {
        "cpu_us_per_request": {name: [one[name]["us"] for one in rounds] for name in rounds[0]}})

# SPDX-License-Identifier: Apache-2.0
