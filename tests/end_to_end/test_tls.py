"""HTTPS from end to end: curl, openssl s_client, Python's ssl and httpx; names, reload, drain, limits."""
import concurrent.futures
import contextlib
import re
import signal
import socket
import ssl
import subprocess
import time

import httpx
import pytest

from raw_client import Reader, eventually, exchange, request
from server_process import Server, run_program

MEGABYTE = 1_000_000


def openssl(*arguments, **options):
    """Run the openssl program; fails with its error."""
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=20, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_certificate(folder, name, *names, authority=None):
    """Write NAME.pem and NAME.key for these DNS names, self-signed or signed by `authority`; return their paths."""
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    alternatives = ",".join(f"DNS:{each}" for each in names or (name,))
    signer = ["-CA", authority[0], "-CAkey", authority[1]] if authority else []
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", f"/CN={name}", "-addext", f"subjectAltName={alternatives}", *signer, "-keyout", key, "-out", chain)
    return str(chain), str(key)


@pytest.fixture(scope="module", name="files")
def certificate_files(tmp_path_factory):
    """A folder with certificates for localhost, for *.example.org, and of an authority with its own client."""
    folder = tmp_path_factory.mktemp("tls")
    made = {"localhost": write_certificate(folder, "localhost"),
            "example": write_certificate(folder, "example", "*.example.org"),
            "authority": write_certificate(folder, "authority")}
    made["client"] = write_certificate(folder, "client", authority=made["authority"])
    return made


def flags_of(pair):
    """The flags that give the server this certificate."""
    return ["--tls-cert", pair[0], "--tls-key", pair[1]]


@pytest.fixture(name="secure")
def secure_server(engine, files):
    """A server with both certificates on each engine, without HTTP/2: the tests are of the transport."""
    with Server(*flags_of(files["localhost"]), *flags_of(files["example"]), engine=engine) as running:
        yield running


def context_for(files, **versions):
    """A client that trusts the server, speaks HTTP/1.1 and these versions."""
    context = ssl.create_default_context(cafile=files["localhost"][0])
    context.set_alpn_protocols(["http/1.1"])
    for name, version in versions.items():
        setattr(context, name, version)
    return context


def connect(server, context, name="localhost", **options):
    """A connection with TLS; `options` are those of Server.connect()."""
    return context.wrap_socket(server.connect(**options), server_hostname=name)


def metric(server, files, name):
    """The sum of a metric over reactors, whose labels contain what stands in the braces of `name`."""
    wanted, _, label = name.partition("{")
    with httpx.Client(verify=context_for(files)) as client:
        text = client.get(f"https://localhost:{server.port}/metrics").text
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
               if line.startswith(wanted + "{") and label.rstrip("}") in line)


# ---- clients -------------------------------------------------------------------------------------

def test_curl_speaks_both_versions(secure, files, tool):
    """TLS 1.2 and 1.3, verified; small and large replies, and an upload."""
    for version in ("1.2", "1.3"):
        base = [tool("curl"), "-sS", "--http1.1", "--cacert", files["localhost"][0], f"--tlsv{version}", "--tls-max",
                version]
        url = f"https://localhost:{secure.port}"
        done = subprocess.run([*base, f"{url}/", f"{url}/json"], capture_output=True, timeout=20, check=True)
        assert done.stdout == b'Hello, World!{"message":"Hello, World!"}'
        done = subprocess.run([*base, f"{url}/bytes/{5 * MEGABYTE}"], capture_output=True, timeout=20, check=True)
        assert len(done.stdout) == 5 * MEGABYTE
        sent = bytes(range(256)) * 8000
        done = subprocess.run([*base, "--data-binary", "@-", f"{url}/echo"], input=sent, capture_output=True,
                              timeout=20, check=True)
        assert done.stdout == sent
    assert metric(secure, files, 'katana_tls_handshakes_total{version="1.2"') == 3
    assert metric(secure, files, 'katana_tls_handshakes_total{version="1.3"') >= 3


def test_many_httpx_clients_at_once(secure, files):
    """Connections that are kept alive, each with several requests."""
    def talk(number):
        with httpx.Client(verify=context_for(files)) as client:
            return [client.get(f"https://localhost:{secure.port}/hello/{number}").text for _ in range(10)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for number, texts in enumerate(pool.map(talk, range(16))):
            assert texts == [f"Hello, {number}!"] * 10


def test_requests_in_any_pieces_are_answered_in_order(secure, files):
    """Pipelined, one byte to a record."""
    with connect(secure, context_for(files)) as sock:
        for octet in request("/hello/one") + request("/hello/two"):
            sock.sendall(bytes([octet]))
        reader = Reader(sock)
        assert [reader.reply().body, reader.reply().body] == [b"Hello, one!", b"Hello, two!"]


def test_a_slow_reader_gets_everything(secure, files):
    """The ciphertext waits as plain replies do: it begins to read when a turn of the server is over."""
    with connect(secure, context_for(files), receive_buffer=1 << 16) as sock:
        sock.sendall(request(f"/bytes/{8 * MEGABYTE}"))
        with connect(secure, context_for(files)) as other:
            assert exchange(other, request()).status == 200
        assert len(Reader(sock).reply().body) == 8 * MEGABYTE
    assert secure.status_kib("VmRSS") < 80 * 1024


def test_s_client_agrees_on_the_protocol_and_is_refused_renegotiation(secure, files):
    """ALPN as offered; an R on a line asks for renegotiation, and the connection goes on without."""
    address = ["-connect", f"localhost:{secure.port}", "-CAfile", files["localhost"][0]]
    said = openssl("s_client", *address, "-alpn", "http/1.1", input="")
    assert "ALPN protocol: http/1.1" in said and "Verify return code: 0" in said
    command = ["openssl", "s_client", *address, "-tls1_2", "-legacy_renegotiation"]
    done = subprocess.run(command, input="R\n", capture_output=True, text=True, timeout=20, check=False)
    assert "no renegotiation" in done.stderr
    offer = subprocess.run(["openssl", "s_client", *address, "-alpn", "imap"], input="", capture_output=True, text=True,
                           timeout=20, check=False)
    assert "no application protocol" in offer.stderr
    assert metric(secure, files, 'katana_tls_failures_total{reason="alpn"') == 1


def test_what_alpn_agreed_on_is_spoken_and_nothing_else(secure, files):
    """HTTP/1.1 where h2 was agreed on: GOAWAY (PROTOCOL_ERROR), no reply. The preface of HTTP/2 after http/1.1: 505."""
    context = context_for(files)
    context.set_alpn_protocols(["h2"])
    with connect(secure, context) as sock:
        assert sock.selected_alpn_protocol() == "h2"
        sock.sendall(request("/"))
        said = b"".join(iter(lambda: sock.recv(65536), b""))
    assert b"HTTP/1.1" not in said
    frames = []
    while said:
        size = 9 + int.from_bytes(said[:3], "big")
        frames.append((said[3], said[9:size]))
        said = said[size:]
    kind, payload = frames[-1]
    assert kind == 7 and payload[4:8] == b"\x00\x00\x00\x01"  # GOAWAY, PROTOCOL_ERROR
    with connect(secure, context_for(files)) as sock:
        sock.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        assert Reader(sock).reply().status == 505


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_sessions_are_resumed_by_ticket(secure, files, tmp_path, version):
    """The second connection has no full handshake."""
    saved = str(tmp_path / "session.pem")
    address = ["-connect", f"localhost:{secure.port}", "-CAfile", files["localhost"][0], version]
    # A request, so that the tickets of TLS 1.3, which come after the handshake, are read.
    ask = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert "New, TLS" in openssl("s_client", *address, "-ign_eof", "-sess_out", saved, input=ask)
    assert "Reused, TLS" in openssl("s_client", *address, "-ign_eof", "-sess_in", saved, input=ask)
    assert metric(secure, files, "katana_tls_resumptions_total") == 1


def test_the_certificate_is_that_of_the_name(secure, files):
    """SNI: exact, wildcard, unknown."""
    def shown(name):
        return openssl("s_client", "-connect", f"localhost:{secure.port}", "-servername", name, input="")
    assert "CN = example" in shown("shop.example.org")
    assert "CN = localhost" in shown("localhost")
    assert "CN = localhost" in shown("elsewhere.net")
    assert files["example"]


# ---- refusals ----------------------------------------------------------------------------------

def test_old_versions_and_plain_http_are_refused_with_a_reason(files):
    """--tls-min 1.3; a client that forgets the s is told so."""
    with Server(*flags_of(files["localhost"]), "--tls-min", "1.3", "--hsts-s", "3600", engine="epoll-edge") as server:
        with pytest.raises(ssl.SSLError):
            connect(server, context_for(files, maximum_version=ssl.TLSVersion.TLSv1_2))
        with server.connect() as sock:
            reply = exchange(sock, request())
        assert reply.status == 400 and b"https://" in reply.body
        with connect(server, context_for(files)) as sock:
            assert exchange(sock, request()).fields["strict-transport-security"] == "max-age=3600"
        assert metric(server, files, 'katana_tls_failures_total{reason="version"') == 1
        assert metric(server, files, 'katana_tls_failures_total{reason="plain_http"') == 1


def test_clients_must_show_a_certificate_if_authorities_are_given(files):
    """--tls-client-ca."""
    with Server(*flags_of(files["localhost"]), "--tls-client-ca", files["authority"][0], engine="epoll-edge") as server:
        context = context_for(files)
        with pytest.raises((ssl.SSLError, ConnectionError)), connect(server, context) as sock:
            exchange(sock, request())       # TLS 1.3: the client knows only now
        context.load_cert_chain(*files["client"])
        with connect(server, context) as sock:
            assert exchange(sock, request()).body == b"Hello, World!"


def test_wrong_flags_and_files_are_named(files, tmp_path):
    """Status 2, and one line that names the file and the remedy."""
    chain, key = files["localhost"]
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    for arguments, words in (
            (["--tls-cert", chain], ["--tls-key"]),
            (["--tls-client-ca", chain], ["--tls-cert"]),
            (["--tls-dev", "--tls-min", "1.1"], ["1.1"]),
            (["--tls-cert", str(broken), "--tls-key", key], [str(broken), "openssl x509"]),
            (["--tls-cert", chain, "--tls-key", files["example"][1]], [files["example"][1], chain])):
        done = run_program("--port", "0", *arguments)
        assert done.returncode == 2 and all(word in done.stderr for word in words), (arguments, done.stderr)
    done = run_program("--port", "0", "--tls-cert", "no/such.pem", "--tls-key", key)
    assert done.returncode == 1 and "no/such.pem" in done.stderr


def test_a_handshake_that_is_not_completed_is_cut_off(files):
    """When its time is up, whatever it has sent; established connections do not notice."""
    flags = [*flags_of(files["localhost"]), "--tls-handshake-s", "1"]
    with Server(*flags, engine="epoll-edge", threads=1) as server:
        with contextlib.ExitStack() as stack:
            kept = stack.enter_context(connect(server, context_for(files)))
            slow = [stack.enter_context(server.connect()) for _ in range(20)]
            for sock in slow:
                sock.sendall(b"\x16\x03\x01\x02\x00")       # the head of a record, and never the rest
            began = time.monotonic()
            slow[0].settimeout(30)
            with contextlib.suppress(ConnectionError):
                assert slow[0].recv(1) == b""
            assert time.monotonic() - began > 0.5
            assert exchange(kept, request()).body == b"Hello, World!"
            assert eventually(
                lambda: metric(server, files, 'katana_tls_failures_total{reason="timed_out"') == len(slow))


# ---- while it runs -------------------------------------------------------------------------------

def test_certificates_are_read_again_without_dropping_a_connection(tmp_path):
    """SIGHUP; half a file changes nothing and is named."""
    first = write_certificate(tmp_path, "first", "localhost")
    second = write_certificate(tmp_path, "second", "localhost")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"

    def install(pair):
        with open(pair[0], encoding="ascii") as certificate, open(pair[1], encoding="ascii") as secret:
            chain.write_text(certificate.read())
            key.write_text(secret.read())

    def shown(server):
        said = openssl("s_client", "-connect", f"localhost:{server.port}", input="")
        return re.search(r"subject=CN = (\w+)", said)[1]

    install(first)
    with Server("--tls-cert", str(chain), "--tls-key", str(key), engine="epoll-edge") as server:
        context = ssl.create_default_context(cafile=first[0])
        with connect(server, context) as kept:
            assert exchange(kept, request()).body == b"Hello, World!" and shown(server) == "first"
            install(second)
            server.send_signal(signal.SIGHUP)
            assert eventually(lambda: "certificates read again" in server.stderr())
            assert shown(server) == "second"
            key.write_text("half of a key")
            server.send_signal(signal.SIGHUP)
            assert eventually(lambda: "certificates stay as they were" in server.stderr())
            assert str(key) in server.stderr() and shown(server) == "second"
            assert exchange(kept, request()).body == b"Hello, World!"


def test_a_drain_finishes_replies_and_says_the_end(secure, files):
    """Replies under way arrive whole, close_notify comes, and a half-open handshake does not hold it up."""
    with connect(secure, context_for(files)) as sock, connect(secure, context_for(files)) as idle, \
            secure.connect() as half:
        half.sendall(b"\x16")
        sock.sendall(request(f"/bytes/{2 * MEGABYTE}"))
        first = sock.recv(1000)
        secure.send_signal()
        data = bytearray(first)
        while part := sock.recv(1 << 16):     # Python's ssl raises if the end comes without close_notify
            data += part
        assert len(data.partition(b"\r\n\r\n")[2]) == 2 * MEGABYTE
        assert idle.recv(1) == b""


def test_a_peer_that_leaves_without_a_word_is_counted(files):
    """Truncation is told from an end that was said."""
    with Server(*flags_of(files["localhost"]), engine="epoll-edge", threads=1) as server:
        with connect(server, context_for(files)) as said:
            exchange(said, request())
            said.settimeout(5)
            with contextlib.suppress(OSError):
                said.unwrap()
        sock = connect(server, context_for(files))
        exchange(sock, request())
        with socket.socket(fileno=sock.detach()) as bare:
            bare.shutdown(socket.SHUT_RDWR)
        assert eventually(lambda: metric(server, files, "katana_tls_truncations_total") >= 1)

# SPDX-License-Identifier: Apache-2.0
