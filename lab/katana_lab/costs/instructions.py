"""Where the user instructions of one keep-alive request go, module by module.

    instructions.py [--build build/count] [--path /plaintext] [--connections 64] [--rounds 25 150] [--engine epoll-edge]
                    [--by module|file|function] [--markdown FILE]

    instructions.py --server 'build/count/e2e_benchmarks --serve logging=background port=0 folder={folder}' [--path …]

Counts under valgrind's callgrind, which needs no hardware counters and gives the same figure on every machine. The
server runs twice, for a short and for a long load. The difference, divided by the difference in requests, is the cost
of a request once everything is warm. An inlined function counts for the file that it is written in.

Without --server it is hello_world_server. All threads count, also one that only looks whether there is work. Time is
slow under valgrind: such a thread looks more often for each request than it does otherwise.

The request is wrk's: a request line and Host. `build/count` is the bench build for a CPU that valgrind knows:
    cmake --preset count && cmake --build --preset count
"""
from __future__ import annotations

import argparse
import collections
import functools
import os
import pathlib
import platform
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from katana_lab import ROOT, LabError

LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)
COST = re.compile(r"^(?:0x[0-9a-f]+ |[+*-]\S* )?(\+\d+|-\d+|\*|\d+) (\d+)$")
NAME = re.compile(r"\((\d+)\)(?: (.*))?")
PARTS = re.compile(r"^katana_module\((\S+)(?:\s+THREADED)?\s+FOLDERS\s+([\w\s]+?)\s+LINKS\b", re.MULTILINE)


def read_reply(link):
    """Read one whole reply, which must be a 200 or a 201."""
    received = b""
    while True:
        piece = link.recv(65536)
        if not piece:
            raise LabError(f"the server ended a connection; it had sent {received!r}")
        received += piece
        head, behind, content = received.partition(b"\r\n\r\n")
        length = LENGTH.search(head + b"\r\n")
        if behind and (not head.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 201 ")) or length is None):
            raise LabError(f"a 200 or 201 with Content-Length is wanted, and this came: {received!r}")
        if behind and len(content) == int(length[1]):
            return


def load(port, path, connections, rounds, content=None):
    """Send a request on every connection in turn, then read every reply; return how many requests that were."""
    fields = f"Host: 127.0.0.1:{port}\r\n"
    if content is not None:
        fields += f"Content-Type: application/json\r\nContent-Length: {len(content.encode())}\r\n"
    method = "GET" if content is None else "POST"
    request = f"{method} {path} HTTP/1.1\r\n{fields}\r\n{content or ''}".encode()
    links = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(connections)]
    for _ in range(rounds):
        for link in links:
            link.sendall(request)
        for link in links:
            read_reply(link)
    for link in links:
        link.close()
    return connections * rounds


def ready_port(process):
    """Return the port that the server names in its ready line."""
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(r"listening on http://\S+:(\d+) ", line):
            return int(found.group(1))
    raise LabError(f"the server did not start: {said or 'it printed nothing'}")


def count(options, rounds):
    """Run the server under callgrind for so many rounds; return (instructions by file or function, requests)."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        server = shlex.split(options.server.replace("{folder}", folder))
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *server]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                requests = load(ready_port(process), options.path, options.connections, rounds, options.content)
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(60)
        return charged(out, ("fn",) if options.by == "function" else ("fl", "fi", "fe")), requests


def charged(path, keys):
    """Return the instructions that a callgrind file charges to each source file or function, without callees."""
    names, current, is_call = {}, "", False
    counts = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            key, _, rest = line.rstrip("\n").partition("=")
            if key in (*keys, *("c" + one for one in keys)):
                number, name = NAME.match(rest).groups()
                names.setdefault(number, name)
                if key in keys:
                    current = names[number]
            elif key in ("fl", "fi", "fe", "fn", "cfl", "cfi", "cfn"):
                continue
            elif key == "calls":
                is_call = True                  # the next line charges the callee
            elif found := COST.match(line):
                if not is_call:
                    counts[current] += int(found.group(2))
                is_call = False
    return counts


@functools.cache
def parts():
    """Return folder -> module, for the folders of modules that have several."""
    rows = PARTS.findall((ROOT / "CMakeLists.txt").read_text())
    return {f"{module}/{folder}": module for module, folders in rows for folder in folders.split()}


def module_of(path):
    """Return the module that a source file belongs to; code of the standard library has a group for itself."""
    found = re.search(r"/(?:katana|apps)/(.+)/[^/]+$", path)
    if found:
        return parts().get(found.group(1), found.group(1))
    if "/include/" in path:
        return "C++ library and intrinsics, inlined"
    return "C library"


def table(costs, title):
    """Return the Markdown rows, largest first; rows below half an instruction are added up."""
    rows = [f"| {title} | user instructions per request |", "|---|---|"]
    rows += [f"| {name} | {cost:,.0f} |" for name, cost in costs.most_common() if cost >= 0.5]
    return rows + [f"| **all** | **{sum(costs.values()):,.0f}** |"]


def describe(options):
    """Return the lines that say how the figures came about."""
    command = "lab/instructions.py " + " ".join(sys.argv[1:])
    version = subprocess.run(["g++-12", "-dumpfullversion"], capture_output=True, text=True, check=False)
    kernel = platform.release().split("-")[0]
    return [f"`{command.strip()}`, {time.strftime('%Y-%m-%d')}, Linux {kernel}, g++ {version.stdout.strip()}.", "",
            f"`{'GET' if options.content is None else 'POST'} {options.path}` on {options.connections} keep-alive "
            "connections, one reactor."]


def parse_options():
    """Return the options, complete and checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", type=pathlib.Path, default=ROOT / "build" / "count")
    add("--server", metavar="COMMAND", help="another program; {folder} is an empty one")
    add("--path", default="/plaintext", help="what is asked for, with 200 and Content-Length")
    add("--content", metavar="JSON", help="sent by POST, instead of GET")
    add("--connections", type=int, default=64)
    add("--rounds", type=int, nargs=2, default=(25, 150), metavar=("SHORT", "LONG"))
    add("--engine", default="epoll-edge")
    add("--by", choices=("module", "file", "function"), default="module")
    add("--markdown", type=pathlib.Path, metavar="FILE", help="write the table there, too")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        raise LabError("valgrind is missing: apt-get install valgrind")
    program = options.build / "hello_world_server"
    if options.server is None:
        if not program.exists():
            raise LabError(f"{program} is missing: cmake --preset count && cmake --build --preset count")
        options.server = f"{program} --threads 1 --port 0 --engine {options.engine}"
    if options.rounds[0] >= options.rounds[1]:
        parser.error("--rounds wants the smaller number first")
    return options


def main() -> None:
    """Run the command line."""
    options = parse_options()
    (small, few), (large, many) = (count(options, rounds) for rounds in options.rounds)
    name_of = {"module": module_of, "function": str,
               "file": lambda path: os.path.relpath(path, ROOT) if "/" in path else path}[options.by]
    costs = collections.Counter()
    for path, instructions in large.items():
        costs[name_of(path)] += (instructions - small[path]) / (many - few)
    lines = table(costs, options.by)
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(["# Instructions of a request", "", *describe(options), "", *lines, ""]),
                                    encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
