"""hello_world_server's /ws, which sends every message back, against RFC 6455 and RFC 7692, in strict behaviour.

The cases follow the groups of the Autobahn test suite. These are framing, pings, reserved bits, opcodes, fragmentation,
UTF-8 and when it fails, close handshakes, limits, compression. The file `test_autobahn.py` runs that suite itself where
Python 2.7 has it.
"""
import os
import signal
import subprocess
import sys
import zlib

import pytest

from server_process import ENGINES, Server
from ws_client import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Client, close_payload, frame

SIZES = (0, 1, 125, 126, 127, 128, 65535, 65536)
MEBIBYTE = 1024 * 1024
FLAGS = ("--websocket-bytes-max", str(16 * MEBIBYTE), "--websocket-deflate")
BYE = frame(CLOSE, close_payload(1000))


@pytest.fixture(scope="module", params=ENGINES)
def server(request):
    """A server on each engine that is allowed here."""
    import without_io_uring
    if request.param == "io_uring" and not without_io_uring.available():
        pytest.skip("io_uring is not allowed here")
    with Server(*FLAGS, engine=request.param) as running:
        yield running


def talk(server, data, chop=None, more=""):
    """Send bytes and a close frame, and return all frames that come back."""
    with Client(server.port, more=more) as client:
        assert client.head.startswith(b"HTTP/1.1 101 "), client.head
        client.send(data + BYE, chop)
        return client.receive_all()


def code_of(frames):
    """The code of the close frame that ends the frames; None without one, or without a code."""
    opcode, payload = frames[-1]
    return int.from_bytes(payload[:2], "big") if opcode == CLOSE and len(payload) >= 2 else None


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
@pytest.mark.parametrize("chop", [None, 997])
def test_messages_of_every_size_come_back(server, opcode, chop):
    """Groups 1 and 9."""
    payloads = [b"*" * size for size in SIZES]
    frames = talk(server, b"".join(frame(opcode, each) for each in payloads), chop)
    assert frames == [*((opcode, each) for each in payloads), (CLOSE, close_payload(1000))]


def test_a_message_that_arrives_octet_by_octet(server):
    """Group 1, chopped to the utmost."""
    assert talk(server, frame(TEXT, b"x" * 200), 1)[0] == (TEXT, b"x" * 200)


def test_pings_are_answered_in_order_and_with_their_payload(server):
    """Group 2."""
    payloads = [b"", b"Hello, world!", bytes(range(0, 250, 2)), b"\xfe" * 125, *(b"p%d" % n for n in range(10))]
    frames = talk(server, frame(PONG, b"unsolicited") + b"".join(frame(PING, each) for each in payloads))
    assert frames[:-1] == [(PONG, each) for each in payloads]


REFUSED = {
    "a ping of 126 octets": (frame(PING, b"x" * 126), 1002),
    "reserved bit 1 where nothing is compressed": (frame(PING, b"", rsv=4), 1002),
    **{f"reserved bits {bits}": (frame(TEXT, b"x", rsv=bits), 1002) for bits in (1, 2, 3)},
    **{f"opcode {opcode}": (frame(opcode, b"x"), 1002) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    "an unmasked frame": (frame(TEXT, b"x", masked=False), 1002),
    "a length that is not minimal": (frame(TEXT, b"x" * 5, length=b"\x7e\x00\x05"), 1002),
    "a long length that is not minimal": (frame(TEXT, b"x" * 5, length=b"\x7f" + bytes(7) + b"\x05"), 1002),
    "a ping in fragments": (frame(PING, b"x", fin=False), 1002),
    "a pong in fragments": (frame(PONG, b"x", fin=False), 1002),
    "a continuation of nothing": (frame(CONTINUATION, b"x"), 1002),
    "a continuation of nothing, not final": (frame(CONTINUATION, b"x", fin=False), 1002),
    "a message within a message": (frame(TEXT, b"x", fin=False) + frame(TEXT, b"y"), 1002),
    "a close frame of one octet": (frame(CLOSE, b"\x03"), 1002),
    **{f"close code {code}": (frame(CLOSE, close_payload(code)), 1002)
       for code in (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65535)},
    "a close reason that is not UTF-8": (frame(CLOSE, close_payload(1000, b"\xce\xba\xed\xa0\x80")), 1007),
    "a close frame of 126 octets": (frame(CLOSE, close_payload(1000, b"x" * 124)), 1002),
    "more than a message may have": (frame(BINARY, length=b"\x7f" + (16 * MEBIBYTE + 1).to_bytes(8, "big")), 1009),
    "a length of 64 bits": (frame(BINARY, b"", length=b"\x7f" + b"\xff" * 8), 1002),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_peer_may_send_ends_the_connection_with_its_code(server, name):
    """Groups 3 to 5, and 7: what came before is answered, what comes behind is not."""
    data, code = REFUSED[name]
    frames = talk(server, frame(TEXT, b"before") + data + frame(TEXT, b"behind"))
    assert frames[0] == (TEXT, b"before")
    assert len(frames) == 2 and code_of(frames) == code, frames


def test_fragments_with_control_frames_between_them(server):
    """Group 5."""
    data = (frame(TEXT, b"one ", fin=False) + frame(PING, b"1") + frame(CONTINUATION, b"", fin=False) +
            frame(CONTINUATION, b"two ", fin=False) + frame(PING, b"2") + frame(CONTINUATION, b"three"))
    frames = talk(server, data)
    assert frames[:-1] == [(PONG, b"1"), (PONG, b"2"), (TEXT, b"one two three")]


GOOD_TEXT = [
    "\u03ba\u03cc\u03c3\u03bc\u03b5", "\ud7ff", "\ue000", "\ufffd", "\U0010ffff", "\x00", "\x7f", "\u0080", "\u07ff",
    "\u0800", "\uffff", "\U00010000", "Hello-\u00b5@\u00df\u00f6\u00e4\u00fc\u00e0\u00e1-UTF-8!!"]
BAD_TEXT = [
    b"\xce\xba\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\x80", b"\xbf",
    b"\xf8\x88\x80\x80\x80", b"\xfe", b"\xff", b"\xed\xbf\xbf", b"\xed\xa0\x80\xed\xb0\x80", b"\xc1\xbf",
    b"\xf7\xbf\xbf\xbf"]


def test_text_is_text_however_it_is_cut(server):
    """Groups 6.2, 6.5 to 6.22."""
    for chop in (None, 1):
        for cut in (1, 2, 3):
            parts = []
            for text in GOOD_TEXT:
                data = text.encode()
                parts += [frame(TEXT, data[:cut], fin=False), frame(CONTINUATION, data[cut:])]
            frames = talk(server, b"".join(parts), chop)
            assert [payload.decode() for _, payload in frames[:-1]] == GOOD_TEXT


@pytest.mark.parametrize("bad", BAD_TEXT, ids=lambda bad: bad.hex())
def test_what_is_not_utf8_ends_the_connection_at_once(server, bad):
    """Group 6.4: at the byte that cannot be, before the frame or the message is complete."""
    whole = frame(TEXT, b"fine " + bad + b" more")
    assert code_of(talk(server, whole)) == 1007
    unfinished = frame(TEXT, b"fine ", fin=False) + frame(CONTINUATION, bad + b" ", fin=False)
    with Client(server.port) as client:
        client.send(unfinished)
        assert code_of(client.receive_all()) == 1007
    # Part of a frame, whose rest never comes.
    with Client(server.port) as client:
        client.send(frame(TEXT, bad + b"x" * 1000)[:-1000])
        assert code_of(client.receive_all()) == 1007


@pytest.mark.parametrize("code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999,
                                  4000, 4999])
def test_codes_that_may_be_sent_are_answered(server, code):
    """Group 7.7."""
    with Client(server.port) as client:
        client.send(frame(CLOSE, close_payload(code, b"x" * 123)) + frame(TEXT, b"late") + frame(PING))
        assert client.receive_all() == [(CLOSE, close_payload(code))]


def test_a_close_frame_without_a_code_is_answered_by_one(server):
    """Group 7.3.1."""
    with Client(server.port) as client:
        client.send(frame(CLOSE))
        assert client.receive_all() == [(CLOSE, b"")]


def test_messages_of_16_mebibytes_and_in_65536_fragments_come_back(server):
    """Group 9, at its largest."""
    large = os.urandom(16 * MEBIBYTE)
    assert talk(server, frame(BINARY, large))[0] == (BINARY, large)
    parts = [frame(BINARY, b"ab", fin=False)] + [frame(CONTINUATION, b"cd", fin=False)] * 65534
    assert talk(server, b"".join(parts) + frame(CONTINUATION, b"ef"))[0] == (BINARY, b"ab" + b"cd" * 65534 + b"ef")


OFFERS = {
    "permessage-deflate": 12,
    "permessage-deflate; client_max_window_bits": 12,
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover": 12,
    "permessage-deflate; server_max_window_bits=9": 9,
    "permessage-deflate; server_max_window_bits=15; client_max_window_bits=8": 12,
    "x-unknown, permessage-deflate; server_max_window_bits=8, permessage-deflate": 12,
}


def packed(payload):
    """A message that is compressed alone."""
    stream = zlib.compressobj(6, zlib.DEFLATED, -15)
    return (stream.compress(payload) + stream.flush(zlib.Z_SYNC_FLUSH))[:-4]


@pytest.mark.parametrize("offer", OFFERS)
def test_compressed_messages_come_back_compressed(server, offer):
    """Groups 12 and 13."""
    line = f"Sec-WebSocket-Extensions: {offer}\r\n"
    text = ("KATANA " * 3000).encode()
    with Client(server.port, more=line) as client:
        assert b"permessage-deflate; server_no_context_takeover; client_no_context_takeover" in client.head
        for opcode, data in ((TEXT, text), (BINARY, os.urandom(5000)), (TEXT, text[:50])):
            squeezed = packed(data)
            client.send(frame(opcode, squeezed[:20], fin=False, rsv=4) + frame(PING) +
                        frame(CONTINUATION, squeezed[20:]))
            assert client.receive_frame() == (0x80 | PONG, b"")
            first, payload = client.receive_frame()
            assert first & 15 == opcode and bool(first & 0x40) == (len(data) >= 256)
            compressed = bool(first & 0x40)
            while not first & 0x80:
                first, more = client.receive_frame()
                payload += more
            if compressed:
                stream = zlib.decompressobj(-OFFERS[offer])
                assert len(payload) < len(data) * 17 // 16 + 64
                payload = stream.decompress(payload + b"\x00\x00\xff\xff")
            assert payload == data


def test_compression_that_is_wrong_or_a_bomb_ends_the_connection(server):
    """Invalid data and bombs that a decompressor must refuse."""
    line = "Sec-WebSocket-Extensions: permessage-deflate\r\n"
    assert code_of(talk(server, frame(TEXT, b"\xff\xff\xff\xff", rsv=4), more=line)) == 1007
    bomb = packed(bytes(17 * MEBIBYTE))
    assert len(bomb) < 20_000
    assert code_of(talk(server, frame(BINARY, bomb, rsv=4), more=line)) == 1009
    assert code_of(talk(server, frame(TEXT, packed(b"\xed\xa0\x80"), rsv=4), more=line)) == 1007
    assert code_of(talk(server, frame(PING, b"", rsv=4), more=line)) == 1002


def test_a_server_that_stops_says_1001():
    """The close handshake of a drain; nothing is cut off."""
    with Server(*FLAGS) as running, Client(running.port) as client:
        client.send(frame(TEXT, b"here"))
        assert client.receive_frame() == (0x80 | TEXT, b"here")
        running.send_signal(signal.SIGTERM)
        first, payload = client.receive_frame()
        assert first & 15 == CLOSE and int.from_bytes(payload[:2], "big") == 1001
        client.send(frame(CLOSE, payload[:2]))
        assert client.receive_all() == []


LIBRARY_CLIENT = """
import asyncio, sys, websockets
async def main():
    url = "ws://127.0.0.1:%s/ws" % sys.argv[1]
    for compression in ("deflate", None):
        async with websockets.connect(url, compression=compression, max_size=None) as one:
            for size in (0, 1, 125, 126, 70000, 1 << 20):
                for message in ("x" * size, b"y" * size):
                    await one.send(message)
                    assert await one.recv() == message
            await one.send(["in ", "three ", "parts"])
            assert await one.recv() == "in three parts"
            await (await one.ping(b"?"))
        assert one.close_code == 1000, one.close_code
asyncio.run(main())
"""


def test_the_websockets_library_gets_its_messages_back(server):
    """A real client, with compression and without."""
    pytest.importorskip("websockets")
    done = subprocess.run([sys.executable, "-c", LIBRARY_CLIENT, str(server.port)], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr

# SPDX-License-Identifier: Apache-2.0
