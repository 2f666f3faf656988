#!/usr/bin/env python3
"""http2_cost: what a request of HTTP/2 costs a server, beside others, in interleaved rounds.

Every server gets the same load, `h2load -t1 -c16 -m16` for a reply of 13 octets, one after the other, round after
round; the server runs on CPU 0 and h2load on CPU 1. A figure is the server's processor time (user and system, from
/proc/PID/stat) for each request; the table has the median of the rounds, and of the ratios to the first server within a
round, with their range. Servers that are not installed are left out.

  lab/http2_cost.py                       # build/bench/hello_world_server beside nghttpd and h2o
  lab/http2_cost.py --rounds 9 --requests 400000 --json FILE
  lab/http2_cost.py --client              # what the generators cost: katana-load --http2 beside h2load

With --client the first server is loaded by both generators in turn, with the same connections and streams, and a figure
is the generator's own processor time for each request, beside its user instructions where perf can count them.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
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


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def commands(options, folder):
    """Return {name: (command, port, path)} of the servers that are here."""
    (folder / "plaintext").write_text("Hello, World!")
    ports = {name: free_port() for name in ("katana", "nghttpd", "h2o")}
    (folder / "h2o.yaml").write_text(H2O_CONFIGURATION.format(port=ports["h2o"], folder=folder))
    found = {"katana": [options.server, "--port", str(ports["katana"]), "--threads", "1"]}
    if shutil.which("nghttpd"):
        found["nghttpd"] = ["nghttpd", "--no-tls", "-n1", "-d", str(folder), str(ports["nghttpd"])]
    if shutil.which("h2o"):
        found["h2o"] = ["h2o", "-m", "worker", "-c", str(folder / "h2o.yaml")]
    return {name: (command, ports[name], "/plaintext") for name, command in found.items()}


def cpu_seconds(pid):
    """Return user and system time of a process and its threads so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def wait_for(port, process):
    """Wait until the server accepts; fails when it has ended."""
    for _ in range(200):
        if process.poll() is not None:
            sys.exit(f"http2_cost: {process.args[0]} ended: run it by hand: {' '.join(process.args)}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"http2_cost: {process.args[0]} does not listen on {port}")


def load(port, path, requests):
    """Run h2load and return the requests per second that it saw; fails when one request failed."""
    output = subprocess.run(["taskset", "-c", "1", "h2load", "-t1", "-c16", "-m16", "-n", str(requests),
                             f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True).stdout
    if f"{requests} succeeded, 0 failed" not in output or f"{requests} 2xx" not in output:
        sys.exit(f"http2_cost: requests failed:\n{output}")
    return float(re.search(r"([\d.]+) req/s", output)[1])


def measure(servers, options):
    """Return {name: [microseconds of processor for each request, by round]}."""
    running = {}
    costs = {name: [] for name in servers}
    try:
        for name, (command, port, path) in servers.items():
            running[name] = subprocess.Popen(["taskset", "-c", "0", *command], stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL)
            wait_for(port, running[name])
            load(port, path, 20_000)
        for _ in range(options.rounds):
            for name, (_, port, path) in servers.items():
                before = cpu_seconds(running[name].pid)
                load(port, path, options.requests)
                costs[name].append((cpu_seconds(running[name].pid) - before) / options.requests * 1e6)
    finally:
        for process in running.values():
            process.send_signal(signal.SIGTERM)
        for process in running.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
    return costs


def generators(options, port, path):
    """Return {name: command} of the generators of load, which send the same requests."""
    url = f"http://127.0.0.1:{port}{path}"
    return {"katana-load": [options.generator, "--http2", "-c", "16", "--streams", "16", "-n", str(options.requests),
                            "--strict", "--quiet", url],
            "h2load": ["h2load", "-t1", "-c16", "-m16", "-n", str(options.requests), url]}


def run_generator(command, counts):
    """Run it on CPU 1 and return its processor seconds and user instructions; fails when it does."""
    counted = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", counts] if shutil.which("perf") else []
    process = subprocess.Popen([*counted, "taskset", "-c", "1", *command], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or ("h2load" in command[0] and " 0 failed, 0 errored" not in output):
        sys.exit(f"http2_cost: {' '.join(command)} failed:\n{output}")
    found = re.search(r"^(\d+),", pathlib.Path(counts).read_text(encoding="utf-8"), re.M) if counted else None
    return usage.ru_utime + usage.ru_stime, int(found[1]) if found else None


def measure_clients(server, options, folder):
    """Return {name: ([microseconds for each request, by round], [user instructions])} of the generators."""
    command, port, path = server
    process = subprocess.Popen(["taskset", "-c", "0", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = {}
    try:
        wait_for(port, process)
        load(port, path, 20_000)
        for _ in range(options.rounds):
            for name, generator in generators(options, port, path).items():
                seconds, instructions = run_generator(generator, str(folder / "counts"))
                costs = found.setdefault(name, ([], []))
                costs[0].append(seconds / options.requests * 1e6)
                if instructions is not None:
                    costs[1].append(instructions / options.requests)
    finally:
        process.terminate()
        process.wait(10)
    return found


def print_clients(found):
    """Print the table of the generators."""
    print(f"{'generator':<12} {'CPU us/request':>15} {'user instructions':>18} {'ratio to h2load (median, range)':>34}")
    for name, (own, instructions) in found.items():
        ratios = sorted(cost / base for cost, base in zip(own, found["h2load"][0]))
        span = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        counted = f"{statistics.median(instructions):.0f}" if instructions else "n/a"
        print(f"{name:<12} {statistics.median(own):>15.2f} {counted:>18} {span:>34}")


def main():
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(ROOT / "build/bench/hello_world_server"), help="ours")
    parser.add_argument("--generator", default=str(ROOT / "build/bench/katana-load"), help="ours")
    parser.add_argument("--client", action="store_true", help="measure the generators, not the servers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=200_000, help="of each round and server")
    parser.add_argument("--json", metavar="FILE", help="write the figures of each round")
    options = parser.parse_args()
    for tool in ("h2load", "taskset"):
        if shutil.which(tool) is None:
            sys.exit(f"http2_cost: {tool} is missing: apt-get install nghttp2-client util-linux")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        servers = commands(options, pathlib.Path(folder))
        if options.client:
            print_clients(measure_clients(servers["katana"], options, pathlib.Path(folder)))
            return
        costs = measure(servers, options)
    print(f"{'server':<10} {'CPU us/request':>15} {'ratio to katana (median, range)':>34}")
    for name, own in costs.items():
        ratios = sorted(cost / base for cost, base in zip(own, costs["katana"]))
        span = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"{name:<10} {statistics.median(own):>15.2f} {span:>34}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"cpu_us_per_request": costs}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
