#!/usr/bin/python3
"""startup: what a program on host::Application takes from exec to its first 200, by part.

    lab/startup.py [--rounds N] [PROGRAM] [FLAG…]

PROGRAM (default build/release/application_server) is started N times, each time in an empty folder, so its database is made
and its migrations are applied. Printed are medians and extremes, in milliseconds. Parts that do not need one another overlap.
"""
import argparse
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(port, path):
    """Return the reply to a request; nothing while nobody listens."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: startup\r\nConnection: close\r\n\r\n".encode())
            text = b""
            while piece := client.recv(65536):
                text += piece
            return text.decode()
    except ConnectionRefusedError:
        return ""


def run_once(program, flags):
    """Start the program, and return milliseconds by phase."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        process = subprocess.Popen([program, "--port", str(port), *flags], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (reply := get(port, "/health")):
                if process.poll() is not None:
                    sys.exit(f"startup: {program} ended with {process.returncode}")
            first = (time.perf_counter() - began) * 1e3
            if not reply.startswith("HTTP/1.1 200 "):
                sys.exit(f"startup: GET /health: {reply.splitlines()[0]}")
            metrics = get(port, "/metrics")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
    phases = {part: float(value) * 1e3
              for part, value in re.findall(r'^katana_startup_seconds\{part="([^"]+)"\} (\S+)$', metrics, re.MULTILINE)}
    return {**phases, "exec to the first 200": first}


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="starts of the program (default 15)")
    parser.add_argument("program", nargs="?", default="build/release/application_server")
    parser.add_argument("flags", nargs=argparse.REMAINDER, help="passed on to the program")
    chosen = parser.parse_args()
    program = Path(chosen.program).resolve()
    if not program.exists():
        sys.exit(f"startup: {program} is missing: build it, or name another")
    rounds = [run_once(str(program), chosen.flags) for _ in range(chosen.rounds)]
    print(f"| part | median ms | least | most |   ({chosen.rounds} starts of {program.name})\n|---|---|---|---|")
    for phase in rounds[0]:
        values = [each[phase] for each in rounds]
        print(f"| {phase} | {statistics.median(values):.2f} | {min(values):.2f} | {max(values):.2f} |")


if __name__ == "__main__":
    main()
