"""Clients that mean harm or are broken: the others are served, memory is bounded, and nothing spins."""
import contextlib
import select
import time

from raw_client import HOST, Reader, eventually, exchange, request, reset
from server_process import Server, raise_descriptor_limit

DOWNLOAD = request("/bytes/100000000")
IDLE_CONNECTIONS, IDLE_BYTES_MAX = 5000, 512
RSS_GROWTH_KIB_MAX = 32 * 1024
CPU_SHARE_MAX = 0.15          # a calm server shows 0.00; a spinning one, on a busy machine, a third of a core


def assert_calm(server):
    """The server uses next to no CPU for a second in which nothing is asked of it."""
    used, start = server.cpu_seconds(), time.monotonic()
    time.sleep(1)       # what is measured is a time of rest
    share = (server.cpu_seconds() - used) / (time.monotonic() - start)
    assert share < CPU_SHARE_MAX, f"{100 * share:.0f} % CPU with nothing to do"


def assert_serves(server, times=20):
    """New clients are served."""
    for _ in range(times):
        with server.connect() as sock:
            assert exchange(sock, request()).body == b"Hello, World!"


def assert_descriptors_return(server, before):
    """Whatever was opened for clients is closed again."""
    assert eventually(lambda: server.open_descriptors() <= before), (before, server.open_descriptors())


def readable(socks, seconds):
    """Return the sockets that have something to read (or have ended)."""
    poll = select.poll()
    by_number = {sock.fileno(): sock for sock in socks}
    for sock in socks:
        poll.register(sock, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(seconds * 1000)]


@contextlib.contextmanager
def connections(server, count, **options):
    """`count` client connections."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(server.connect(**options)) for _ in range(count)]


# ---- slow ----------------------------------------------------------------------------------------

def test_a_slow_head_is_served(server):
    """One byte per 50 ms on twenty connections; others do not notice."""
    octets = request()
    with connections(server, 20) as socks:
        for index in range(len(octets)):
            for sock in socks:
                sock.send(octets[index:index + 1])
            time.sleep(0.05)    # slow is what they are
            if index == len(octets) // 2:
                assert readable(socks, 0) == []
                assert_serves(server)
        assert all(Reader(sock).reply().status == 200 for sock in socks)


def test_a_head_that_never_ends_is_408_and_closed(server):
    """Forty connections that send one byte of a head per 50 ms, for ever."""
    started, field, replies = time.monotonic(), b"X: y\r\n", []
    with connections(server, 40) as socks:
        for sock in socks:
            sock.send(b"GET / HTTP/1.1\r\n" + HOST.encode())
        waiting, turn = list(socks), 0
        while waiting and time.monotonic() < started + 30:
            for sock in readable(waiting, 0):
                replies.append((time.monotonic() - started, Reader(sock).reply()))
                waiting.remove(sock)
            for sock in waiting:
                with contextlib.suppress(OSError):
                    sock.send(field[turn % len(field):][:1])
            turn += 1
            time.sleep(0.05)    # slow is what they are
        assert waiting == [], f"{len(waiting)} of {len(socks)} still held after 30 s"
        assert {reply.status for _, reply in replies} == {408}
        assert {reply.fields["connection"].lower() for _, reply in replies} == {"close"}
        assert min(after for after, _ in replies) > 5, "long before the 10 s of the contract"
    assert_serves(server)


# ---- many ----------------------------------------------------------------------------------------

def test_an_idle_connection_owns_next_to_no_memory(engine):
    """Resident memory per idle keep-alive connection, kernel memory not included.

    Pages of the program file are not counted: code that runs for the first time meanwhile is no connection's."""
    raise_descriptor_limit(IDLE_CONNECTIONS + 1000)
    with Server(engine=engine, threads=1, descriptors=IDLE_CONNECTIONS + 1000) as server:
        with connections(server, 500) as warm:
            assert all(exchange(sock, request()).status == 200 for sock in warm)
            descriptors, before = server.open_descriptors(), server.status_kib("RssAnon")
            with connections(server, IDLE_CONNECTIONS) as socks:
                assert all(exchange(sock, request()).status == 200 for sock in socks)
                each = 1024 * (server.status_kib("RssAnon") - before) / IDLE_CONNECTIONS
                print(f"{engine}: {each:.0f} bytes of resident memory per idle connection")
                assert each <= IDLE_BYTES_MAX, f"{each:.0f} bytes per idle connection"
                assert_calm(server)
                assert_serves(server)
                assert all(exchange(sock, request()).status == 200 for sock in socks[::100])
            assert_descriptors_return(server, descriptors)


def test_running_out_of_descriptors_pauses_accepting_and_nothing_else(engine):
    """64 descriptors, 200 clients: no spinning, open connections are served, the others as soon as there is room."""
    with Server(engine=engine, descriptors=64) as server, connections(server, 200) as waiting:
        for sock in waiting:
            sock.send(request())
        served = []
        while ready := readable(waiting, 1):
            for sock in ready:
                assert Reader(sock).reply().status == 200
                served.append(sock)
                waiting.remove(sock)
        assert len(served) >= 20 and len(waiting) >= 100, (len(served), len(waiting))
        assert_calm(server)
        assert all(exchange(sock, request()).status == 200 for sock in served)
        while waiting:
            for sock in served:
                sock.close()
            ready = readable(waiting, 15)
            assert ready, f"{len(waiting)} clients still wait 15 s after others left"
            for sock in ready:
                assert Reader(sock).reply().status == 200
                waiting.remove(sock)
            served = ready


# ---- rude ----------------------------------------------------------------------------------------

def test_resets_at_any_moment_cost_nothing(server):
    """After connecting, inside a head, inside content, with pipelined requests, inside a download."""
    assert_serves(server)
    before = server.open_descriptors()
    upload = request("/echo", "POST", content=b"x" * 100_000)
    for _ in range(20):
        for octets, reads in ((b"", 0), (request()[:20], 0), (upload[:5000], 0), (upload, 0), (request() * 200, 0),
                              (DOWNLOAD, 0), (DOWNLOAD, 100_000), (DOWNLOAD * 3, 1)):
            sock = server.connect()
            sock.sendall(octets)
            if reads:
                Reader(sock).take(reads)
            reset(sock)
    assert_serves(server)
    assert_descriptors_return(server, before)
    assert_calm(server)


def test_half_closed_clients_get_their_replies(server):
    """A client that has said all it wanted still listens."""
    with server.connect() as sock:
        sock.sendall(request("/hello/a") + request("/bytes/300000"))
        sock.shutdown(1)
        reader = Reader(sock)
        assert reader.reply().body == b"Hello, a!"
        assert len(reader.reply().body) == 300000
        assert sock.recv(1) == b""


def test_a_refused_upload_is_read_past_for_a_while(server):
    """The refusal ends our direction only: a client still sending must read it before it sees a reset."""
    with server.connect() as sock:
        sock.sendall(request("/echo", "POST", fields=f"Content-Length: {1 << 41}\r\n"))
        reader = Reader(sock)
        assert reader.reply().status == 413
        for _ in range(10):
            sock.sendall(bytes(65536))
            time.sleep(0.02)    # a server that closed would have reset the connection by now
        assert sock.recv(1) == b""


def test_downloads_that_nobody_reads_hold_no_memory(kernel_memory, server):
    """Sixteen times 100 MB asked for and never read: others are served, memory is bounded, no spinning."""
    assert_serves(server)
    before, descriptors = server.status_kib("VmHWM"), server.open_descriptors()
    with connections(server, 16) as socks:
        for sock in socks:
            sock.sendall(DOWNLOAD)
        time.sleep(0.5)     # it may take more than it should, and nothing tells when it does not
        assert_serves(server)
        assert_calm(server)
        growth = server.status_kib("VmHWM") - before
        assert growth < RSS_GROWTH_KIB_MAX, f"{growth} KiB for 16 downloads"
        for sock in socks:
            reset(sock)
    assert_descriptors_return(server, descriptors)


def test_a_client_that_only_sends_is_not_read_from_until_it_reads(kernel_memory, server):
    """Pipelined requests without end: the kernel's buffers fill, the server's do not. Then every reply is there."""
    with server.connect() as sock:
        sock.sendall(request())
        reply_bytes = len(sock.recv(65536))
    before, block, sent, sent_max = server.status_kib("VmHWM"), request() * 1000, 0, 256 << 20
    with server.connect() as sock:
        sock.settimeout(1)
        with contextlib.suppress(TimeoutError):
            while sent < sent_max:
                sent += sock.send(block)
        assert sent < sent_max, "the server read everything although no reply was taken"
        assert_serves(server)
        assert_calm(server)
        growth = server.status_kib("VmHWM") - before
        assert growth < RSS_GROWTH_KIB_MAX, f"{growth} KiB for {sent} octets of requests"
        wanted, received = sent // len(request()) * reply_bytes, 0
        sock.settimeout(10)
        while received < wanted:
            try:
                octets = sock.recv(1 << 18)
            except TimeoutError:
                octets = b""
            assert octets, f"{received} of {wanted} octets of replies, then nothing"
            received += len(octets)
        assert octets.endswith(b"Hello, World!") and received == wanted

# SPDX-License-Identifier: Apache-2.0
