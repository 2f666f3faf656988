"""Thousands of readers that take next to nothing: those who ask for little beside them are answered at once."""
import contextlib
import os
import re
import socket
import threading
import time
import urllib.request

from raw_client import exchange, request
from server_process import Server, raise_descriptor_limit

# KATANA_SLOW_READERS=10000 gives the figures of the guide. Fewer readers answer the question as well. They leave the
# kernel memory for the sockets of other tests: 1,500 took 1.5 GiB, where net.ipv4.tcp_mem calls it scarce.
READERS = int(os.environ.get("KATANA_SLOW_READERS", "600"))
OUTPUT_MIB = max(8, READERS // 100)
ANSWER_SECONDS_MAX = 60     # By the clock only to end the test; the time that it took is reported.


def counter(server, name):
    """Return the sum of a counter's series."""
    with urllib.request.urlopen(server.url("/metrics"), timeout=ANSWER_SECONDS_MAX) as reply:
        text = reply.read().decode()
    return sum(float(value) for value in re.findall(rf"^{name}_total\S* (\S+)$", text, re.MULTILINE))


def wait_until_full(server):
    """Wait until the kernel's buffers of the readers are filled, which is work for a while."""
    used = server.cpu_seconds()
    for _ in range(40):
        time.sleep(0.5)     # a window of the measurement
        before, used = used, server.cpu_seconds()
        if used - before < 0.1:
            return


class Prober(threading.Thread):
    """Ask for 13 bytes every 10 ms on one connection, and keep how long each answer took."""

    def __init__(self, connection):
        """Begin at start()."""
        super().__init__()
        self.connection = connection
        self.took_ms = []
        self.over = threading.Event()

    def run(self):
        """Ask until stopped."""
        while not self.over.wait(0.01):
            start = time.monotonic()
            assert exchange(self.connection, request("/plaintext")).body == b"Hello, World!"
            self.took_ms.append(1000 * (time.monotonic() - start))

    def stop(self):
        """Return the figures as a line."""
        self.over.set()
        self.join()
        took = sorted(self.took_ms)
        at = {name: took[int(share * (len(took) - 1))] for name, share in
              (("median", 0.5), ("99 %", 0.99), ("most", 1.0))}
        return f"{len(took)} answers, " + ", ".join(f"{name} {value:.2f} ms" for name, value in at.items())


@contextlib.contextmanager
def slow_readers(server, count):
    """`count` connections that ask for much and read nothing, from several addresses."""
    with contextlib.ExitStack() as stack:
        for number in range(count):
            sock = stack.enter_context(contextlib.closing(socket.socket()))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.bind((f"127.0.0.{2 + number % 8}", 0))
            sock.settimeout(ANSWER_SECONDS_MAX)
            sock.connect(("127.0.0.1", server.port))
            sock.sendall(request("/bytes/100000000"))
        yield


def test_13_octets_are_served_beside_slow_readers(kernel_memory, engine, record_property):
    """New and kept connections alike, while the readers could hold four times the output memory."""
    raise_descriptor_limit(READERS + 500)
    flags = ("--output-mib", str(OUTPUT_MIB), "--drain-s", "0")
    with Server(*flags, engine=engine, threads=1, descriptors=READERS + 500) as server:
        with server.connect(timeout=ANSWER_SECONDS_MAX) as kept, contextlib.ExitStack() as stack:
            prober = Prober(kept)
            prober.start()
            try:
                stack.enter_context(slow_readers(server, READERS))
                wait_until_full(server)
            finally:
                while_filling = prober.stop()
            assert counter(server, "katana_output_deferrals") > 0
            took = []
            for _ in range(30):
                start = time.monotonic()
                assert exchange(kept, request("/plaintext")).body == b"Hello, World!"
                with server.connect(timeout=ANSWER_SECONDS_MAX) as fresh:
                    assert exchange(fresh, request("/plaintext")).body == b"Hello, World!"
                took.append((time.monotonic() - start) / 2)
            took.sort()
            figures = (f"{engine}: {READERS} slow readers, /plaintext median {1000 * took[15]:.2f} ms, most"
                       f" {1000 * took[-1]:.2f} ms, {counter(server, 'katana_output_sheds'):.0f} reset")
            figures += f"; while buffers filled: {while_filling}"
            record_property("figures", figures)
            print(figures)
            # A client that holds nothing and asks for much is served when others had a second to go on.
            with urllib.request.urlopen(server.url("/bytes/300000"), timeout=60) as reply:
                assert len(reply.read()) == 300000

# SPDX-License-Identifier: Apache-2.0
