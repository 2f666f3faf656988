#!/usr/bin/env python3
"""What a request costs katana-load beside wrk, and how well each sees a latency that is known.

    compare_wrk.py [--rounds 7] [--seconds 3] [--connections 64] [--build build/bench] [--realtime]
                   [--markdown FILE] [--json FILE]

cost      Both load hello_world_server (one reactor, CPU 0) from CPU 1 in a closed loop over kept connections,
          interleaved in rounds (wrk, katana-load, wrk, …). CPU is user and system time of the generator's process,
          from wait4(); system calls come from a run of their own under perf stat. The ratio is the median over the
          rounds of katana-load / wrk within a round, with the smallest and the largest.
accuracy  A server answers each request after 1 ms and each 200th after 20 ms, and measures those delays itself. The
          generators offer a constant rate far below what it can take. At p50, p99 and p99.9 the table has what the
          server took and what each generator reports on top. wrk2 takes the place of wrk where it is found (it has a
          rate; wrk has none and runs in a closed loop); it corrects for omission from a millisecond clock.
          --realtime gives server and generator precedence over everything else (chrt, root), for busy machines.
Needs wrk, perf (linux-perf) and two CPUs.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cost  # noqa: E402  (beside this folder)

LIMIT = 0.8
DELAYS = ("delay_us=1000", "slow_every=200", "slow_us=20000")
ACCURACY_RATE, ACCURACY_CONNECTIONS = 2000, 32
# wrk's own table ends at p99.
TAIL_SCRIPT = """done = function(_, latency, _)
  io.write(string.format("  99.9%% %.3fus\\n", latency:percentile(99.9)))
end
"""
UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def generator_command(name, url, connections, seconds, build):
    """Return the argv of a closed loop over kept connections, pinned."""
    pin = ["taskset", "-c", str(cost.CLIENT_CPU)]
    if name == "wrk":
        return pin + [cost.tool("wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", url]
    return pin + [cost.built("katana-load", build), "-c", str(connections), "-d", str(seconds), "--quiet", url]


def requests_of(output):
    """Return how many requests a generator reports, and how many errors."""
    match = re.search(r"(\d+) requests in", output) or re.search(r"^requests +(\d+)", output, re.M)
    errors = 0
    if found := re.search(r"^errors +(\d+):", output, re.M):
        errors += int(found.group(1))
    if found := re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output):
        errors += sum(map(int, found.groups()))
    return int(match.group(1)), errors


def timed(command):
    """Run a generator; return its requests, errors and the CPU time of its process in microseconds a request."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        output = process.stdout.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    requests, errors = requests_of(output)
    return {"requests": requests, "errors": errors, "us": 1e6 * (usage.ru_utime + usage.ru_stime) / requests,
            "user_us": 1e6 * usage.ru_utime / requests}


def counted(command):
    """Run a generator under perf stat and return its system calls for each request; None where perf cannot."""
    stat = cost.WORK / "stat"
    perf = [cost.tool("perf"), "stat", "-x", ",", "-o", str(stat), "-e", "raw_syscalls:sys_enter", "--"]
    output = cost.run_load(perf + command)
    fields = [line.split(",") for line in stat.read_text(encoding="utf-8").splitlines() if "sys_enter" in line]
    if not fields or not fields[0][0].isdigit():
        return None
    return int(fields[0][0]) / requests_of(output)[0]


def measure_cost(options, ports):
    """Return one {generator: result} for each round."""
    port = next(ports)
    server = subprocess.Popen(["taskset", "-c", str(cost.SERVER_CPU), cost.built("hello_world_server", options.build),
                               "--port", str(port), "--threads", "1"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    rounds = []
    try:
        cost.wait_until_up("hello_world_server", port, "/plaintext", server)
        url = f"http://127.0.0.1:{port}/plaintext"
        for index in range(options.rounds):
            print(f"\rcost: round {index + 1}/{options.rounds}", end="", file=sys.stderr, flush=True)
            one = {}
            for name in ("wrk", "katana-load"):
                command = generator_command(name, url, options.connections, options.seconds, options.build)
                one[name] = timed(command)
                one[name]["syscalls"] = counted(command)
            rounds.append(one)
        print(file=sys.stderr)
    finally:
        cost.stop(server)
    return rounds


def latency_of_wrk(output):
    """Return {percentile: microseconds} of wrk --latency."""
    found = {}
    for percent, value, unit in re.findall(r"^ +([\d.]+)% +([\d.]+)(us|ms|s)$", output, re.M):
        found[float(percent)] = float(value) * UNITS[unit]
    return found


def measure_accuracy(name, options, port):
    """Return (what the server took, what the generator saw) in microseconds, by percentile."""
    precedence = [cost.tool("chrt"), "-f", "10"] if options.realtime else []
    server = subprocess.Popen([*precedence, "taskset", "-c", str(cost.SERVER_CPU),
                               cost.built("delay_server", options.build), str(port), *DELAYS],
                              stdout=subprocess.PIPE, text=True)
    pin = [*precedence, "taskset", "-c", str(cost.CLIENT_CPU)]
    url = f"http://127.0.0.1:{port}/"
    try:
        cost.wait_until_up("delay_server", port, "/", server)
        if name == "katana-load":
            command = pin + [cost.built("katana-load", options.build), "-R", str(ACCURACY_RATE), "-c",
                             str(ACCURACY_CONNECTIONS), "-d", str(options.seconds * 2), "--quiet", "--json", "-", url]
            result = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
            latency = result["latency_us"]
            seen = {50: latency["p50"], 99: latency["p99"], 99.9: latency["p999"]}
            remark = "; ".join(result["void_reasons"]) or "its schedule was kept"
        else:
            rate = ["-R", str(ACCURACY_RATE)] if name == "wrk2" else []
            script = cost.write_file(cost.WORK / "tail.lua", TAIL_SCRIPT)
            command = pin + [cost.tool(name), "-t1", f"-c{ACCURACY_CONNECTIONS}", f"-d{options.seconds * 2}s",
                             "--latency", "-s", script, *rate, url]
            seen, remark = latency_of_wrk(cost.run_load(command)), "closed loop" if name == "wrk" else "open loop"
    finally:
        server.terminate()
        took = json.loads(server.communicate(timeout=10)[0])["delay_us"]
    return {50: took["p50"], 99: took["p99"], 99.9: took["p999"]}, seen, remark


def cost_table(rounds, options):
    """Return the Markdown lines of the first table."""
    lines = ["", f"## Cost, {options.connections} connections, {options.rounds} rounds of {options.seconds} s", "",
             "| generator | CPU us/request | of it user | ratio to wrk | system calls/request | requests/s | errors |",
             "|---|--:|--:|--:|--:|--:|--:|"]
    for name in ("wrk", "katana-load"):
        results = [one[name] for one in rounds]
        ratios = [one[name]["us"] / one["wrk"]["us"] for one in rounds]
        calls = [result["syscalls"] for result in results if result["syscalls"]]
        lines.append(
            f"| {name} | {statistics.median(result['us'] for result in results):.2f} |"
            f" {statistics.median(result['user_us'] for result in results):.2f} |"
            f" {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}) |"
            f" {f'{statistics.median(calls):.2f}' if calls else 'n/a'} |"
            f" {statistics.median(result['requests'] for result in results) / options.seconds:,.0f} |"
            f" {sum(result['errors'] for result in results)} |")
    ratio = statistics.median(one["katana-load"]["us"] / one["wrk"]["us"] for one in rounds)
    verdict = "met" if ratio <= LIMIT else "missed"
    return lines + ["", f"The aim is a ratio of at most {LIMIT}: {verdict}."]


def accuracy_table(results):
    """Return the Markdown lines of the second table."""
    lines = ["", f"## Accuracy against known delays, {ACCURACY_RATE}/s, {ACCURACY_CONNECTIONS} connections", "",
             "| generator | percentile | the server took (us) | reported (us) | on top (us) | remark |",
             "|---|--:|--:|--:|--:|---|"]
    for name, (took, seen, remark) in results.items():
        for percent, value in took.items():
            if percent in seen:
                lines.append(f"| {name} | p{percent} | {value:,.0f} | {seen[percent]:,.0f} |"
                             f" {seen[percent] - value:,.0f} | {remark} |")
    return lines


def parse_options():
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--build", type=pathlib.Path, default=cost.ROOT / "build" / "bench")
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main():
    """Measure, print, write."""
    options = parse_options()
    cost.WORK.mkdir(exist_ok=True)
    ports = iter(range(18600, 18700))
    rounds = measure_cost(options, ports)
    names = [name for name in ("wrk2", "wrk") if shutil.which(name)][:1] + ["katana-load"]
    accuracy = {name: measure_accuracy(name, options, next(ports)) for name in names}
    command = " ".join(["lab/load/compare_wrk.py", *sys.argv[1:]])
    where = re.sub(r"^`lab/cost.py.*?`", f"`{command}`", cost.heading()[2])
    lines = ["# katana-load beside wrk", "", where]
    lines += cost_table(rounds, options) + accuracy_table(accuracy)
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps({"cost": rounds, "accuracy": accuracy}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
