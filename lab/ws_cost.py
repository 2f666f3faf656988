#!/usr/bin/env python3
"""What a WebSocket message costs the server, beside a request on a kept connection, in interleaved rounds; and what an idle
WebSocket connection takes beyond an idle HTTP one.

Needs hello_world_server and ws_load of the same build. Prints Markdown.
"""
import argparse
import os
import pathlib
import resource
import socket
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK")
HANDSHAKE = (b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
PLAIN = b"GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=str(ROOT / "build" / "bench"), help="folder of the programs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--bytes", type=int, nargs="+", default=[13, 125, 1024])
    parser.add_argument("--idle", type=int, default=5000, help="idle connections to weigh; 0: none")
    parser.add_argument("--engine", default="epoll-edge")
    return parser.parse_args()


class Server:
    """hello_world_server with one reactor, on the first CPU if there are two."""

    def __init__(self, options):
        pin = ["taskset", "-c", "0"] if (os.cpu_count() or 1) > 1 else []
        self.process = subprocess.Popen([*pin, f"{options.build}/hello_world_server", "--port", "0", "--threads", "1",
                                         "--engine", options.engine, "--connections-max", "65536"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline().split("127.0.0.1:")[1].split()[0])

    def cpu_s(self):
        """Processor time that it has used."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def anonymous_bytes(self):
        """Memory of its own that is resident."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("RssAnon is missing from /proc/PID/status")

    def stop(self):
        """End it at once."""
        self.process.kill()
        self.process.wait()


def cost_us(server, options, mode, size):
    """Server CPU microseconds for each message or request."""
    pin = ["taskset", "-c", "1"] if (os.cpu_count() or 1) > 1 else []
    before = server.cpu_s()
    out = subprocess.run([*pin, f"{options.build}/ws_load", str(server.port), mode, str(options.connections),
                          str(options.seconds), str(size)], check=True, capture_output=True, text=True).stdout
    count = int(out.split()[0])
    return (server.cpu_s() - before) / count * 1e6, count / float(out.split()[1])


def interval(ratios):
    """Median, least and greatest."""
    return statistics.median(ratios), min(ratios), max(ratios)


def idle_bytes(options, opening):
    """Anonymous memory of the server for each idle connection."""
    server = Server(options)
    try:
        sockets = []

        def add(count):
            for _ in range(count):
                one = socket.create_connection(("127.0.0.1", server.port))
                one.sendall(opening)
                one.recv(4096)
                sockets.append(one)

        add(200)    # what the first ones allocate is everybody's
        time.sleep(0.2)
        before = server.anonymous_bytes()
        add(options.idle)
        time.sleep(0.2)
        return (server.anonymous_bytes() - before) / options.idle
    finally:
        server.stop()


def main():
    """Measure and print."""
    options = parse()
    print("| message | CPU of a message | of a request | ratio | least … greatest |\n|---|---|---|---|---|")
    for size in options.bytes:
        server = Server(options)
        try:
            cost_us(server, options, "ws", size), cost_us(server, options, "http", size)    # warm
            rounds = [(cost_us(server, options, "ws", size)[0], cost_us(server, options, "http", size)[0])
                      for _ in range(options.rounds)]
        finally:
            server.stop()
        middle, least, greatest = interval([ws / http for ws, http in rounds])
        print(f"| {size} B | {statistics.median(ws for ws, _ in rounds):.2f} µs"
              f" | {statistics.median(http for _, http in rounds):.2f} µs | {middle:.2f} | {least:.2f} … {greatest:.2f} |")
    if options.idle:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        plain, websocket = idle_bytes(options, PLAIN), idle_bytes(options, HANDSHAKE)
        print(f"\nidle connection: HTTP {plain:.0f} bytes, WebSocket {websocket:.0f} bytes,"
              f" {websocket - plain:+.0f} beyond it ({options.idle} connections)")
    print(f"\n`lab/ws_cost.py --rounds {options.rounds} --seconds {options.seconds:g} --connections {options.connections}"
          f" --engine {options.engine}`")


if __name__ == "__main__":
    main()
