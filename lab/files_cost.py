#!/usr/bin/env python3
"""What a static file costs a server, beside nginx with sendfile, in one run.

    files_cost.py [--sizes 1024,1048576] [--engines epoll-edge,io_uring] [--rounds 9] [--seconds 3] [--connections 16]
                  [--build build/bench] [--json FILE] [--markdown FILE]

Each round runs every server once (A B C A B C …), in a fresh process with one worker on CPU 0, wrk on CPU 1. All of
them serve the same files from the page cache on kept connections, and first show that they do: a reply that is not the
file ends the run. nginx keeps files open for a second, as KATANA does (lab/peers/nginx_files.conf).
    CPU us/request   user and kernel time of the server's processes for each request
    CPU ns/KiB       the same for each KiB of the file
    ratio to nginx   of the processor time for each byte: median over rounds of (server / nginx) within a round
    system calls     for each request; n/a where the machine does not count
Needs wrk, nginx and perf.
"""
import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import cost
from katana_lab.heading import made_by

PEER = "nginx"
COLUMNS = ("file", "server", "CPU us/request", "CPU ns/KiB", "ratio to nginx", "system calls", "client", "errors")
OWN = "{program} --port {{port}} --threads 1 --engine {engine} --files {folder}"


def sizes(text):
    """Return the sizes of a list such as 1024,1048576."""
    found = cost.numbers(text)
    if not all(0 < size <= 1 << 30 for size in found):
        raise argparse.ArgumentTypeError(f"{text!r}: a file has 1 to {1 << 30} bytes")
    return found


def parse_options(arguments=None):
    """Return the options, complete and checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--sizes", type=sizes, default=[1 << 10, 1 << 20], metavar="BYTES,…", help="of the files; 1024,1048576")
    add("--engines", default="epoll-edge,io_uring", metavar="NAME,…", help=f"of {', '.join(cost.OWN_ENGINES)}")
    add("--rounds", type=int, default=9)
    add("--seconds", type=int, default=3)
    add("--connections", type=int, default=16)
    add("--port", type=int, default=9600, help="ports above this one are used, one after another")
    add("--build", type=pathlib.Path, default=cost.ROOT / "build" / "bench", help="where the built programs are")
    add("--json", type=pathlib.Path, metavar="FILE", help="write every round's results")
    add("--markdown", type=pathlib.Path, metavar="FILE", help="write the table there, too")
    options = parser.parse_args(arguments)
    options.engines = options.engines.split(",")
    for name in options.engines:
        if name not in cost.OWN_ENGINES:
            parser.error(f"no engine is called {name!r}; known: {', '.join(cost.OWN_ENGINES)}")
    if min(options.rounds, options.seconds, options.connections) < 1:
        parser.error("--rounds, --seconds and --connections are at least 1")
    return options


def write_files(folder, wanted):
    """Write a file of random bytes for each size, which servers that run as somebody else can read."""
    files = folder / "files"
    files.mkdir()
    for size in wanted:
        (files / str(size)).write_bytes(os.urandom(size))
    for path in (folder, files):
        path.chmod(0o755)
    return files


def servers_of(options, folder):
    """Return [(name, command)], nginx first."""
    program = cost.built("hello_world_server", options.build)
    own = [(engine, OWN.format(program=program, engine=engine, folder=folder / "files")) for engine in options.engines]
    return [(PEER, f"{cost.HERE}/peers/nginx_files.sh {{port}} {folder}"), *own]


def check_content(name, spec, path, port):
    """Start a server and see that its reply is the file; ends the run when it is not."""
    process = subprocess.Popen(spec.format(port=port).split(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        cost.wait_until_up(name, port, f"/files/{path.name}", process)
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        link.request("GET", f"/files/{path.name}")
        got = link.getresponse().read()
        link.close()
    finally:
        cost.stop(process)
    if got != path.read_bytes():
        sys.exit(f"files_cost.py: {name} answers {len(got)} bytes for {path}, which are not those of the file")


def label(size):
    """1 KiB, 1 MiB, 1000 B."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def row(size, name, rounds):
    """Return the cells of one server and file."""
    results = [one[name] for one in rounds]
    calm = [one for one in results if one["other"] <= cost.OTHER_SHARE_MAX] or results
    ratios = [one[name]["us"] / one[PEER]["us"] for one in rounds if one[PEER]["us"]] or [float("nan")]
    calls = [one["raw_syscalls:sys_enter"] for one in calm if "raw_syscalls:sys_enter" in one]
    cpu_us = statistics.median(one["us"] for one in calm)
    return (label(size), name, f"{cpu_us:.2f}", f"{1e3 * cpu_us / (size / 1024):.1f}",
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
            f"{statistics.median(calls):.2f}" if calls else "n/a",
            f"{100 * statistics.median(one['client'] for one in calm):.0f} %",
            str(sum(one["errors"] for one in results)))


def table(everything):
    """Return the Markdown table of {size: rounds} as lines."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    return lines + ["| " + " | ".join(row(size, name, rounds)) + " |"
                    for size, rounds in everything.items() for name in rounds[0]]


def measure(options, folder):
    """Return {size: [{server: result} of each round]}."""
    files, servers = write_files(folder, options.sizes), servers_of(options, folder)
    ports = iter(range(options.port + 1, 65536))
    for size in options.sizes:
        for name, spec in servers:
            check_content(name, spec, files / str(size), next(ports))
    everything = {}
    for size in options.sizes:
        options.path = f"/files/{size}"
        everything[size] = cost.run_rounds(("keepalive", options.connections), servers, options, ports)
    return everything


def main():
    """Measure, print, write."""
    options = parse_options()
    for name in ("wrk", "nginx", "perf", "taskset"):
        cost.tool(name)
    cost.WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="katana-files-") as name:
        everything = measure(options, pathlib.Path(name))
    lines = ["# What a static file costs", "", made_by("lab/files_cost.py"), "", *table(everything)]
    print("\n".join(lines))
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1), encoding="utf-8")
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
