"""Go's net/http, Node's undici and ws, Java's HttpClient. Skipped, with the reason, where a tool chain is missing."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from program_process import ROOT
from server_process import Server

CLIENTS = pathlib.Path(__file__).resolve().parent / "clients"
TOOLS = ROOT / "build" / "tools"
NODE_PACKAGES = {"undici": "6.21.1", "ws": "8.18.0"}


def program(name, package, *places):
    """Return the path of a tool, or skip."""
    found = shutil.which(name) or next((place for place in places if os.access(place, os.X_OK)), None)
    return found or pytest.skip(f"{name} is not installed (apt-get install {package})")


pytestmark = pytest.mark.timeout(600)   # a first `go build` compiles the whole of net/http


def run(*command, seconds=300, **options):
    """Run a client to its end; return its output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture(name="urls")
def urls_of_two_servers():
    """One without TLS and one with it."""
    with Server() as plain, Server("--tls-dev") as secure:
        yield f"http://localhost:{plain.port}", f"https://localhost:{secure.port}"


def test_go_speaks_http1_and_http2_over_tls(urls, tmp_path):
    """50 uploads at once that come back, three times."""
    go = program("go", "golang-go", "/usr/local/go/bin/go")
    binary = tmp_path / "client"
    run(go, "build", "-o", str(binary), str(CLIENTS / "client.go"), env={**os.environ, "GO111MODULE": "off"})
    assert run(str(binary), *urls) == ["HTTP/1.1 50 echoes", "HTTP/1.1 50 echoes", "HTTP/2.0 50 echoes"]


def test_java_asks_for_h2c_and_is_answered_in_http1(urls):
    """Upgrade: h2c is ignored; over TLS it is HTTP/2; and a WebSocket."""
    java = program("java", "openjdk-17-jdk-headless")
    if subprocess.run([java, "--list-modules"], capture_output=True, text=True, timeout=60,
                      check=False).stdout.find("jdk.compiler") < 0:
        pytest.skip("java has no compiler (apt-get install openjdk-17-jdk-headless)")
    assert run(java, "-Djdk.internal.httpclient.disableHostnameVerification=true", str(CLIENTS / "Client.java"),
               *urls) == ["Upgrade: h2c 30 echoes", "h2 over TLS 30 echoes", "WebSocket"]


def test_node_speaks_all_of_it(urls):
    """Its packages are fetched once, into build/tools."""
    node, npm = program("node", "nodejs"), program("npm", "npm")
    folder = TOOLS / "node"
    if not (folder / "node_modules" / "ws").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": NODE_PACKAGES}))
        fetched = subprocess.run([npm, "install", "--no-audit", "--no-fund"], cwd=folder, capture_output=True,
                                 text=True, timeout=120, check=False)
        if fetched.returncode != 0:
            pytest.skip(f"undici and ws could not be fetched: {fetched.stderr.strip()[-200:]}")
    assert run(node, str(CLIENTS / "client.mjs"), *urls, str(folder)) == [
        "undici h1 30 echoes", "undici h1 tls 30 echoes", "undici h2 tls 30 echoes", "ws 100 messages",
        "ws tls 100 messages"]

# SPDX-License-Identifier: Apache-2.0
