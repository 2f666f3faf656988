"""The printed limit of memory holds: each kind of holder is driven to the bound, and RSS is read."""
import contextlib
import re
import socket
import struct
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import pytest

from application_process import Application
from chat_process import ChatServer, Client
from raw_client import HOST, Reader, eventually, request
from server_process import Server

MIB = 1024 * 1024
HELD_MIB, OUTPUT_MIB = 16, 16
CONNECTIONS = 250
# Memory that is not counted: code and stacks as they are touched; 256 pieces of 16 KiB that the recycler keeps. A
# content while it grows is there twice.
ALLOWANCE_MIB = 8
FLAGS = ("--held-mib", str(HELD_MIB), "--output-mib", str(OUTPUT_MIB), "--connections-max", str(CONNECTIONS),
         "--drain-s", "0")
COUNT = 80
PIECE = b"x" * 900_000
UPGRADE = ("GET /ws HTTP/1.1\r\n" + HOST + "Connection: Upgrade\r\nUpgrade: websocket\r\n"
           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode()


def printed_mib(server):
    """Return the most memory that the server prints."""
    return float(re.search(r"address space reserved: ([0-9.]+) MiB", server.stderr()).group(1))


def send_what_goes(sock, octets):
    """Send; the server may have enough of it."""
    with contextlib.suppress(OSError):
        sock.sendall(octets)


def contents(server, stack):
    """Contents that are collected for a handler, all but their last bytes, over HTTP/1.1."""
    head = f"GET /metrics HTTP/1.1\r\n{HOST}Content-Length: {len(PIECE) + 10}\r\n\r\n".encode()
    socks = [stack.enter_context(server.connect(timeout=20)) for _ in range(COUNT)]
    for sock in socks:
        send_what_goes(sock, head + PIECE)
    return socks


def read_pieces(server, stack):
    """Contents that a handler reads in pieces, and waits for more of."""
    head = f"POST /echo HTTP/1.1\r\n{HOST}Content-Length: 100000\r\n\r\n".encode()
    socks = [stack.enter_context(server.connect(timeout=20)) for _ in range(2 * COUNT)]
    for sock in socks:
        send_what_goes(sock, head + b"y" * 60_000)
    return socks


def contents_of_http2(server, stack):
    """The same as contents() in streams of HTTP/2: as much as windows allow."""
    socks = []
    for _ in range(COUNT // 4):
        sock = stack.enter_context(server.connect(timeout=2))
        http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        http.initiate_connection()
        left = {}
        for _ in range(4):
            stream = http.get_next_available_stream_id()
            http.send_headers(stream, [(":method", "GET"), (":path", "/metrics"), (":scheme", "http"),
                                       (":authority", "localhost"), ("content-length", str(len(PIECE) + 10))])
            left[stream] = len(PIECE)
        for _ in range(200):
            for stream in list(left):
                with contextlib.suppress(h2.exceptions.ProtocolError):
                    size = min(left[stream], http.local_flow_control_window(stream), http.max_outbound_frame_size)
                    if size > 0:
                        http.send_data(stream, b"z" * size)
                        left[stream] -= size
            try:
                sock.sendall(http.data_to_send())
                events = http.receive_data(sock.recv(1 << 16))
            except (OSError, h2.exceptions.ProtocolError):
                break
            for event in events:
                if isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                    left.pop(event.stream_id, None)
            if not any(left.values()):
                break
        socks.append(sock)
    return socks


def messages(server, stack):
    """WebSocket messages that are not complete."""
    socks = []
    for _ in range(COUNT):
        sock = stack.enter_context(server.connect(timeout=20))
        sock.sendall(UPGRADE)
        assert Reader(sock).head().status == 101
        send_what_goes(sock, struct.pack("!BBQI", 0x82, 0xff, len(PIECE) + 10, 0) + PIECE)
        socks.append(sock)
    return socks


def carries(server, stack):
    """Requests behind a reply that its client does not read."""
    socks = []
    for _ in range(COUNT):
        sock = stack.enter_context(server.connect(timeout=1, receive_buffer=4096))
        send_what_goes(sock, request("/bytes/100000000") + request("/plaintext") * 1500)
        socks.append(sock)
    return socks


def output(server, stack):
    """Replies that their clients do not read."""
    socks = []
    for _ in range(2 * COUNT):
        sock = stack.enter_context(server.connect(timeout=20, receive_buffer=4096))
        sock.sendall(request("/bytes/100000000"))
        socks.append(sock)
    return socks


# The most by which each may make the process grow: its share of the sum that is printed.
HOLDERS = {contents: HELD_MIB, read_pieces: HELD_MIB, contents_of_http2: HELD_MIB, messages: HELD_MIB,
           carries: OUTPUT_MIB + COUNT * 100 / 1024, output: OUTPUT_MIB}


def answers(socks):
    """Return the bytes that each connection has received, without waiting."""
    received = []
    for sock in socks:
        sock.setblocking(False)
        try:
            received.append(sock.recv(1 << 12))
        except (BlockingIOError, ConnectionResetError):
            received.append(b"")
    return received


@pytest.mark.parametrize("holder", HOLDERS, ids=lambda holder: holder.__name__)
def test_what_peers_make_it_keep_is_bounded(holder, record_property):
    """One kind of holder at a time; meanwhile a client that holds nothing is served."""
    with Server(*FLAGS, threads=1) as server, contextlib.ExitStack() as stack:
        before = server.status_kib("VmRSS")
        socks = holder(server, stack)
        time.sleep(0.5)     # it may take more in than it should, and nothing tells when it has not
        with server.connect() as other:
            other.sendall(request("/plaintext"))
            assert Reader(other).reply().body == b"Hello, World!"
        grown = (server.status_kib("VmHWM") - before) / 1024
        figures = f"{holder.__name__}: grew by {grown:.1f} MiB of {HOLDERS[holder]:.0f}, all {printed_mib(server):.1f}"
        record_property("figures", figures)
        print(figures)
        assert grown <= HOLDERS[holder] + ALLOWANCE_MIB, figures
        assert server.status_kib("VmHWM") / 1024 <= printed_mib(server) + ALLOWANCE_MIB
        # One after another until shed_after is over; then all go on, and those that do not fit are refused.
        refusal = {contents: b" 503 ", messages: b"\x03\xf5"}.get(holder, b"")
        deadline = time.monotonic() + 30
        while not any(refusal in got for got in answers(socks)):
            assert time.monotonic() < deadline, "nobody was refused"
            time.sleep(0.05)


def test_all_holders_at_once_stay_below_the_sum(record_property):
    """The printed sum holds for all of them together, and memory is given back."""
    with Server(*FLAGS, threads=1) as server:
        for holder in HOLDERS:
            with contextlib.ExitStack() as stack:
                holder(server, stack)
        assert server.status_kib("VmHWM") / 1024 <= printed_mib(server) + ALLOWANCE_MIB
        record_property("figures", f"VmHWM {server.status_kib('VmHWM') / 1024:.1f} of {printed_mib(server):.1f} MiB")
        with socket.create_connection(("127.0.0.1", server.port)) as other:
            assert eventually(lambda: held(server) < 4096), held(server)
            other.sendall(request("/plaintext"))
            assert Reader(other).reply().status == 200


def held(server):
    """Return the bytes that the server counts as held; this request is part of them."""
    with server.connect() as sock:
        sock.sendall(request("/metrics"))
        text = Reader(sock).reply().body.decode()
    return float(re.search(r'^katana_memory_used_bytes\{[^}]*pool="held"\} (\S+)$', text, re.MULTILINE).group(1))


# ---- queues of slow readers ----

def peak_kib(pid, name="VmHWM"):
    """Return a size of a process."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(rf"^{name}:\s+(\d+) kB$", status.read(), re.MULTILINE).group(1))


def frame(text):
    """Return a text message of a client, with a mask of zero."""
    assert len(text) < 126
    return struct.pack("!BBI", 0x81, 0x80 | len(text), 0) + text


def topic_socket(port, stack, receive_buffer=None):
    """Return a WebSocket connection to /topics."""
    sock = stack.enter_context(socket.socket())
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.settimeout(20)
    sock.connect(("127.0.0.1", port))
    sock.sendall(UPGRADE.replace(b"/ws", b"/topics"))
    assert Reader(sock).head().status == 101
    return sock


def test_what_slow_subscribers_keep_is_bounded(tmp_path, engine, record_property):
    """Each has its own topic, of which it takes nothing; the bound of all is less than their queues."""
    flags = [f"http.held_max={HELD_MIB}MiB", f"http.output_max={OUTPUT_MIB}MiB", "http.reactors=1",
             "http.connections_max=400", f"http.engine={engine}"]
    with Application(tmp_path, *(part for flag in flags for part in ("--set", flag))) as app, \
            contextlib.ExitStack() as stack:
        port, pid = int(app.ready["port"]), app.process.pid
        before = peak_kib(pid, "VmRSS")
        publisher = topic_socket(port, stack)
        reader = topic_socket(port, stack)
        reader.sendall(frame(b"subscribe read"))
        assert reader.recv(100) == b"\x81\x04done"
        for number in range(300):
            slow = topic_socket(port, stack, receive_buffer=4096)
            slow.sendall(frame(b"subscribe %d" % number))
            assert slow.recv(6) == b"\x81\x04done"
            for _ in range(36):     # the kernel takes some of them, the queue two
                publisher.sendall(frame(b"publish %d" % number))
                assert publisher.recv(6) == b"\x81\x04done"
        publisher.sendall(frame(b"publish read"))
        got = b""
        while len(got) < 100_010:
            piece = reader.recv(1 << 20)
            assert piece, "who reads was closed"
            got += piece
        grown = (peak_kib(pid) - before) / 1024
        shed = sum_of(app.get("/metrics")[1], "katana_memory_sheds")
        figures = f"{engine}: grew by {grown:.1f} MiB of {HELD_MIB + OUTPUT_MIB}, {shed:.0f} shed"
        record_property("figures", figures)
        print(figures)
        assert grown <= HELD_MIB + OUTPUT_MIB, figures
        assert shed > 0, figures


def sum_of(text, name):
    """Return the sum of a counter's series."""
    return sum(float(value) for value in re.findall(rf"^{name}(?:_total)?(?:\{{[^}}]*\}})? (\S+)$", text, re.M))


def test_what_slow_readers_of_the_chat_keep_is_bounded(engine, record_property):
    """Rooms of two, one of whom reads nothing: queues of 4 MiB each, and a bound for all of them."""
    rooms = 30
    with ChatServer("--held-mib", str(HELD_MIB), "--queue-bytes-max", str(4 * MIB), "--connections-max", "100",
                    "--drain-s", "0", engine=engine, threads=1) as server:
        before = server.status_kib("VmRSS")
        talkers, deaf = [], []
        for number in range(rooms):
            talkers.append(Client(server.port).enter())
            deaf.append(socket.socket())
            deaf[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf[-1].connect(("127.0.0.1", server.port))
            deaf[-1].sendall(b"/join r%d\n" % number)
            talkers[-1].say(f"/join r{number}\n")
            talkers[-1].hear("You are in room")
        for _ in range(70):
            for each in talkers:
                each.say((b"x" * 7900 + b"\n") * 8)
        metrics, sent = {}, 70 * 8 * rooms
        assert eventually(lambda: metrics.update(server.metrics()) or metrics["messages"] == sent), (metrics, sent)
        grown = (server.status_kib("VmHWM") - before) / 1024
        queues = metrics["queued_bytes"] / MIB
        figures = (f"{engine}: grew by {grown:.1f} MiB of {HELD_MIB}, queues {queues:.1f} MiB,"
                   f" {metrics['dropped.slow_reader']:.0f} dropped")
        record_property("figures", figures)
        print(figures)
        assert grown <= HELD_MIB + ALLOWANCE_MIB, figures
        assert server.status_kib("VmHWM") / 1024 <= printed_mib(server) + ALLOWANCE_MIB
        assert metrics["dropped.slow_reader"] > 0, figures
        for each in deaf + [talker.socket for talker in talkers]:
            each.close()

# SPDX-License-Identifier: Apache-2.0
