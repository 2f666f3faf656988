#!/usr/bin/env python3
"""A small generator with katana-load's flags and files, for tests that must not depend on a build.

Blocking, one thread for each connection: slow, but its figures are true. In open loop it counts latency from the
intended moment. It calls itself saturated when its sends lag more than a millisecond at the 99th percentile.
"""
import argparse
import collections
import json
import socket
import sys
import threading
import time
from urllib.parse import urlsplit

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

INTERVAL_S = 0.1


def flags(arguments):
    """The flags that the laboratory uses."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-t", type=int, default=1)
    parser.add_argument("-c", type=int, default=1)
    parser.add_argument("-d", default="1s")
    parser.add_argument("-R", type=float)
    parser.add_argument("--churn", type=int, default=0)
    parser.add_argument("--pipeline", type=int, default=1)
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--method", default="GET")
    parser.add_argument("--body", default="")
    parser.add_argument("--json")
    parser.add_argument("--hdr")
    parser.add_argument("--interval", default="100ms")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("url")
    return parser.parse_args(arguments)


class Client(threading.Thread):
    """One connection until the end; `done` holds (moment, latency ns), `lags` seconds."""

    def __init__(self, options, index, began, seconds):
        super().__init__(daemon=True)
        self.options, self.index, self.began, self.end = options, index, began, began + seconds
        self.done, self.lags, self.errors, self.spent = [], [], collections.Counter(), 0.0
        extra = "".join(f"{line}\r\n" for line in options.header)
        parts = urlsplit(options.url)
        self.address = (parts.hostname, parts.port)
        self.request = f"{options.method} {parts.path} HTTP/1.1\r\nHost: x\r\n{extra}\r\n".encode()

    def run(self):
        """The loop."""
        link, sent = None, 0
        spacing = self.options.c / self.options.R if self.options.R else 0.0
        due = self.began + spacing * self.index / self.options.c
        while (now := time.monotonic()) < self.end:
            intended = now
            if spacing:
                if due >= self.end:
                    break
                time.sleep(max(0.0, due - now))
                self.lags.append(max(0.0, time.monotonic() - due))
                intended, due = due, due + spacing
            try:
                if link is None or (self.options.churn and sent % self.options.churn == 0):
                    if link:
                        link.close()
                    link = socket.create_connection(self.address, 2)
                link.sendall(self.request)
                sent += 1
                self.read(link, intended)
            except OSError as error:
                self.errors["reset" if isinstance(error, ConnectionError) else "timeout"] += 1
                link = None
        self.spent = time.thread_time()

    def read(self, link, intended):
        """One reply with a Content-Length."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.receive(link)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self.receive(link)
        if b" 200 " in head.split(b"\r\n")[0]:
            moment = time.monotonic()
            self.done.append((moment, int(1e9 * (moment - intended))))
        else:
            self.errors["wrong_status"] += 1

    @staticmethod
    def receive(link):
        """Some bytes, or an error at the end."""
        data = link.recv(65536)
        if not data:
            raise ConnectionResetError
        return data


def write_log(path, done, began, wall, seconds):
    """The interval log; returns the histogram of all."""
    whole = HdrHistogram(1, 3_600_000_000_000, 3)
    with open(path, "w", encoding="ascii") as out:
        writer = HistogramLogWriter(out)
        writer.output_legend()
        for index in range(int(round(seconds / INTERVAL_S))):
            one = HdrHistogram(1, 3_600_000_000_000, 3)
            for moment, latency in done:
                if index * INTERVAL_S <= moment - began < (index + 1) * INTERVAL_S:
                    one.record_value(latency)
            one.set_start_time_stamp(1000 * (wall + index * INTERVAL_S))
            one.set_end_time_stamp(1000 * (wall + (index + 1) * INTERVAL_S))
            writer.output_interval_histogram(one)
            whole.add(one)
    return whole


def main():
    """Run, write, and say nothing."""
    options = flags(sys.argv[1:])
    seconds, began, wall = float(options.d.rstrip("s")), time.monotonic(), time.time()
    clients = [Client(options, index, began, seconds) for index in range(options.c)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    elapsed = time.monotonic() - began
    done = sorted(pair for client in clients for pair in client.done)
    lags = sorted(lag for client in clients for lag in client.lags) or [0.0]
    errors = sum((client.errors for client in clients), collections.Counter())
    whole = write_log(options.hdr, done, began, wall, seconds)
    lag_us = 1e6 * lags[int(0.99 * (len(lags) - 1))]
    at = {name: whole.get_value_at_percentile(percent) / 1000 for name, percent in
          (("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9), ("max", 100))}
    result = {"requests": len(done), "duration_s": elapsed, "rate_per_s": len(done) / elapsed, "bytes": 0,
              "latency_us": {**at, "samples": len(done)}, "errors": dict(errors),
              "generator": {"cpu_share": sum(client.spent for client in clients) / elapsed,
                            "send_lag_us": {"p99": lag_us}, "saturated": bool(options.R) and lag_us > 1000}}
    with open(options.json, "w", encoding="utf-8") as out:
        json.dump(result, out)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
