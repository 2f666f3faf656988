"""Rules of HTTP/2 and HTTP/1.1 for TLS (RFC 9113 §9.2, RFC 9112 §9.8), seen from the other side of the connection."""
import contextlib
import os
import socket
import ssl
import struct
import subprocess
import threading

import pytest

from program_process import built
from server_process import Server
from test_tls import flags_of, openssl

CIPHER = "ECDHE-RSA-AES128-GCM-SHA256"


@pytest.fixture(scope="module", name="pair")
def rsa_certificate(tmp_path_factory):
    """A certificate for localhost with an RSA key, and its key."""
    folder = tmp_path_factory.mktemp("rsa")
    chain, key = str(folder / "localhost.pem"), str(folder / "localhost.key")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", chain)
    return chain, key


@pytest.fixture(name="secure")
def secure_server(pair):
    """A server with that certificate and HTTP/2."""
    with Server(*flags_of(pair)) as running:
        yield running


@contextlib.contextmanager
def connection(server, pair, change):
    """A connection whose context `change` has prepared."""
    context = ssl.create_default_context(cafile=pair[0])
    change(context)
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as secured:
            yield secured


def get(secured):
    """The start of the reply to a request."""
    secured.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return secured.recv(12)


def test_tls_1_2_has_the_cipher_that_http2_demands(secure, pair):
    """RFC 9113 §9.2.2; a client may offer no other."""
    def change(context):
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(CIPHER)
    with connection(secure, pair, change) as secured:
        assert secured.cipher()[0] == CIPHER
        assert get(secured) == b"HTTP/1.1 200"


def hello(compressions):
    """A ClientHello of TLS 1.2 that offers these compression methods."""
    def extension(kind, content):
        return struct.pack(">HH", kind, len(content)) + content

    groups, signatures = struct.pack(">HHH", 4, 0x001D, 0x0017), struct.pack(">HHHH", 6, 0x0804, 0x0401, 0x0403)
    extensions = extension(10, groups) + extension(11, b"\1\0") + extension(13, signatures)
    body = (b"\3\3" + os.urandom(32) + b"\0" + struct.pack(">HH", 2, 0xC02F) +
            bytes([len(compressions)]) + bytes(compressions) + struct.pack(">H", len(extensions)) + extensions)
    message = b"\1" + len(body).to_bytes(3, "big") + body
    return b"\x16\3\1" + struct.pack(">H", len(message)) + message


def test_a_client_that_offers_compression_gets_none(secure):
    """RFC 9113 §9.2.1: the ServerHello names the null method, though DEFLATE is offered first."""
    with socket.create_connection(("127.0.0.1", secure.port), timeout=20) as plain:
        plain.sendall(hello([1, 0]))
        reply = plain.makefile("rb")
        kind, _, _, size = struct.unpack(">BBBH", reply.read(5))
        message = reply.read(size)
    assert kind == 22 and message[0] == 2, "it is a ServerHello"
    session = message[38]
    cipher, compression = struct.unpack(">HB", message[39 + session:42 + session])
    assert cipher == 0xC02F and compression == 0


def test_no_certificate_is_asked_for_behind_the_handshake(secure, pair):
    """RFC 9113 §9.2.3: also not of a client that would show one then."""
    messages = []

    def change(context):
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.post_handshake_auth = True
        # The only way by which Python shows the messages of a handshake.
        context._msg_callback = note  # pylint: disable=protected-access

    def note(_, direction, _version, _content, kind, _data):
        messages.append((direction, kind))
    with connection(secure, pair, change) as secured:
        for _ in range(3):
            assert get(secured) == b"HTTP/1.1 200"
            secured.recv(4096)
    kinds = [getattr(kind, "name", str(kind)) for direction, kind in messages if direction == "read"]
    assert "FINISHED" in kinds, "the messages were seen"
    assert "CERTIFICATE_REQUEST" not in kinds


def test_the_client_says_the_end_before_it_closes(pair):
    """RFC 9112 §9.8: where the server says close, the client's close_notify comes before the end of the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    ends = []

    def serve(listening):
        plain, _ = listening.accept()
        with context.wrap_socket(plain, server_side=True, suppress_ragged_eofs=False) as secured:
            secured.settimeout(20)
            while b"\r\n\r\n" not in secured.recv(4096):
                pass
            secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
            try:
                ends.append(secured.recv(1))
            except (ssl.SSLError, OSError) as failure:   # an end without close_notify
                ends.append(failure)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        url = f"https://localhost:{listening.getsockname()[1]}/"
        done = subprocess.run([built("http_fetch"), url, "1", "1", pair[0], "never"], capture_output=True, text=True,
                              timeout=60, check=False)
        thread.join(30)
    assert "1 HTTP/1 200 2 bytes" in done.stdout, done.stdout + done.stderr
    assert ends == [b""]

# SPDX-License-Identifier: Apache-2.0
