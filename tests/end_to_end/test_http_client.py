"""HttpClient against servers of others, over TLS and in clear: nghttpd, and nginx, which says GOAWAY now and then."""
import re
import shutil
import subprocess

import pytest

from program_process import built
from raw_client import eventually
from server_process import free_port
from test_tls import write_certificate

COUNTS = re.compile(r"connections (\d+), handshakes (\d+), resumed (\d+), retries (\d+)\n$")


def fetch(url, count, at_once, authorities="-", http2="by_alpn"):
    """Ask COUNT times; return how often each outcome was, and the counts of connections, handshakes and the rest."""
    finished = subprocess.run([built("http_fetch"), url, str(count), str(at_once), authorities, http2],
                              capture_output=True, text=True, timeout=60, check=False)
    assert finished.returncode == 0, finished.stderr
    found = COUNTS.search(finished.stdout)
    outcomes = dict(reversed(line.split(" ", 1)) for line in finished.stdout[:found.start()].splitlines())
    names = ("connections", "handshakes", "resumed", "retries")
    return outcomes, dict(zip(names, map(int, found.groups())))


def find(name):
    """The path of a server, or a skipped test."""
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def run_server(command, port, authorities, scheme="https"):
    """Start a server, and return it once it answers."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def answers():
        assert process.poll() is None, process.stderr.read()
        http2 = "by_alpn" if scheme == "https" else "prior_knowledge"
        return any(each.startswith("HTTP/") for each in
                   fetch(f"{scheme}://localhost:{port}/", 1, 1, authorities, http2)[0])
    try:
        eventually(answers)
    except BaseException:
        process.kill()
        raise
    return process


@pytest.fixture(scope="module", name="certificate")
def certificate_fixture(tmp_path_factory):
    """A certificate for localhost, and its key."""
    return write_certificate(tmp_path_factory.mktemp("client"), "localhost")


@pytest.mark.parametrize("scheme", ["https", "http"])
def test_nghttpd_is_asked_on_one_connection(tmp_path, certificate, scheme):
    """Small replies at once, and long ones, on as many streams as there are requests."""
    chain, key = certificate
    port = free_port()
    (tmp_path / "small").write_bytes(b"x" * 100)
    (tmp_path / "long").write_bytes(b"y" * 2_000_000)
    tls = [str(port), key, chain] if scheme == "https" else ["--no-tls", str(port)]
    http2 = "by_alpn" if scheme == "https" else "prior_knowledge"
    process = run_server([find("nghttpd"), "-a", "127.0.0.1", "-d", str(tmp_path), *tls], port, chain, scheme)
    try:
        url = f"{scheme}://localhost:{port}"
        outcomes, counts = fetch(f"{url}/small", 300, 64, chain, http2)
        assert outcomes == {"HTTP/2 200 100 bytes": "300"}
        assert counts["connections"] == 1 and counts["retries"] == 0
        outcomes, counts = fetch(f"{url}/long", 6, 6, chain, http2)
        assert outcomes == {"HTTP/2 200 2000000 bytes": "6"}
        assert counts["connections"] == 1
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("http2", ["by_alpn", "never"])
def test_nginx_ends_its_connections_and_no_request_is_lost(tmp_path, certificate, http2):
    """After 20 requests nginx says GOAWAY, or Connection: close: the next connections resume, and all are answered."""
    chain, key = certificate
    port = free_port()
    paths = "".join(f"{name}_temp_path {tmp_path}/{name};\n"
                    for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (tmp_path / "nginx.conf").write_text(f"""
        daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/error.log;
        events {{ worker_connections 256; }}
        http {{ access_log off; {paths} keepalive_requests 20;
          server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {chain}; ssl_certificate_key {key};
            ssl_session_tickets on; location / {{ return 200 "hello"; }} }} }}
    """)
    command = [find("nginx"), "-e", f"{tmp_path}/error.log", "-c", str(tmp_path / "nginx.conf")]
    process = run_server(command, port, chain)
    try:
        outcomes, counts = fetch(f"https://localhost:{port}/", 200, 8, chain, http2)
        version = "1" if http2 == "never" else "2"
        assert outcomes == {f"HTTP/{version} 200 5 bytes": "200"}
        assert counts["handshakes"] >= 10
        assert counts["resumed"] >= counts["handshakes"] - 8
    finally:
        process.kill()
        process.wait()

# SPDX-License-Identifier: Apache-2.0
