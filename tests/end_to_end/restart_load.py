"""Requests by the million while the server is restarted again and again: kept connections and one request each.

Prints a line for each engine, and exits with 1 when a request that was sent got no whole reply, or a connection was
refused. `--control` kills the server and starts it again, and shows what this finds.
"""
import argparse
import multiprocessing
import os
import signal
import sys
import time

from lineage import Lineage
from load import Load
from server_process import ENGINES, Server

CONNECTIONS = 24


def work(port, keep_alive, finished, ending, results):
    """One process of clients."""
    load = Load(port, CONNECTIONS, keep_alive)
    load.start()
    while not ending.is_set() and not load.crash:
        finished.value = load.finished
        time.sleep(0.02)
    try:
        failed = load.stop(30)
    except Exception as error:      # pylint: disable=broad-except
        failed = [repr(error)]
    results.put((load.finished, failed))


def restart(lineage, engine, control):
    """The next process serves; with `control` it begins when the one before was killed."""
    if not control:
        lineage.restart()
        return
    lineage.first.kill()
    lineage.first = Server("--restart-spread-s", "0", engine=engine, port=lineage.first.port)
    lineage.processes = [lineage.first.process.pid]


def run(engine, requests, interval, control):
    """Return whether nothing failed."""
    began, restarts = time.monotonic(), 0
    with Lineage(Server("--restart-spread-s", "0", engine=engine)) as lineage:
        ending, results = multiprocessing.Event(), multiprocessing.Queue()
        counts = [multiprocessing.Value("q", 0) for _ in range(2)]
        workers = [multiprocessing.Process(target=work, args=(lineage.first.port, keep, counts[keep], ending, results))
                   for keep in (False, True)]
        for worker in workers:
            worker.start()
        while sum(count.value for count in counts) < requests and not (control and restarts == 3):
            time.sleep(interval)
            restart(lineage, engine, control)
            restarts += 1
        ending.set()
        ended = [results.get(timeout=60) for _ in workers]
        for worker in workers:
            worker.join()
        for each in lineage.processes[:-1]:
            lineage.wait_for_end_of(each)
        os.kill(lineage.pid, signal.SIGTERM)
    failed = [each for _, some in ended for each in some]
    print(f"{engine}: {sum(count for count, _ in ended)} requests, {restarts} restarts, {len(failed)} failed, "
          f"{time.monotonic() - began:.0f} s", flush=True)
    for each in sorted(set(failed))[:5]:
        print(f"  {failed.count(each)} times: {each}")
    return not failed


def main():
    """All engines that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000, help="of each engine (%(default)s)")
    parser.add_argument("--interval-s", type=float, default=2.0, help="between restarts (%(default)s)")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="default: all")
    parser.add_argument("--control", action="store_true", help="kill and start instead")
    flags = parser.parse_args()
    whole = [run(engine, flags.requests, flags.interval_s, flags.control) for engine in flags.engine or ENGINES]
    return 0 if all(whole) else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
