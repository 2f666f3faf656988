"""The page of the chat in headless Chromium, over TLS and HTTP/2. Skipped where there is no Chromium."""
import json
import shutil
import socket
import ssl
import subprocess
import time

import pytest

from chat_process import ChatServer
from server_process import free_port

SECONDS_MAX = 60


class Browser:
    """Headless Chromium, driven by its DevTools protocol."""

    def __init__(self, folder):
        self.client = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")
        path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if path is None:
            pytest.skip("there is no Chromium (apt-get install chromium)")
        self.folder = folder
        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--ignore-certificate-errors", "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.number, self.session, self.connection, self.socket = 0, None, None, None

    def __enter__(self):
        file = self.folder / "DevToolsActivePort"
        port, path = self.eventually(lambda: file.exists() and len(lines := file.read_text().split()) == 2 and lines)
        self.connection = self.client.connect(f"ws://127.0.0.1:{port}{path}", max_size=None, open_timeout=SECONDS_MAX)
        self.socket = self.connection.__enter__()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return self

    def __exit__(self, *_):
        if self.socket is not None:
            self.connection.__exit__(None, None, None)
        self.process.kill()
        self.process.wait()

    @staticmethod
    def eventually(condition):
        """What the condition gives, once that is something."""
        last = time.monotonic() + SECONDS_MAX
        while time.monotonic() < last:
            if found := condition():
                return found
            time.sleep(0.05)
        raise AssertionError("it did not come true")

    def call(self, method, **parameters):
        """Call a method of the browser and wait for its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=SECONDS_MAX))
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def value(self, expression):
        """Evaluate it in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def see(self, text):
        """Wait until the log has it."""
        self.eventually(lambda: text in (self.value("document.getElementById('log').textContent") or ""))


def test_a_browser_and_a_plain_client_talk_to_each_other(tmp_path):
    """Both over TLS; the page came by HTTP/2."""
    port = free_port()
    with Browser(tmp_path) as browser, ChatServer("--websocket-port", str(port), "--tls-dev") as server:
        browser.call("Page.enable")
        browser.call("Page.navigate", url=f"https://localhost:{port}/")
        browser.eventually(lambda: "Connected" in (browser.value(
            "document.getElementById('state') && document.getElementById('state').textContent") or ""))
        assert browser.value("performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), SECONDS_MAX)) as plain:
            reader = plain.makefile("r", encoding="utf-8")
            plain.sendall(b"/nick pat\n/who\n")
            assert reader.readline() == "* You are pat.\n"
            assert "2 in room lobby" in reader.readline()
            plain.sendall("grüße\n".encode())
            browser.see("[pat] grüße")
            browser.value("document.getElementById('line').value = 'from the page <b>';"
                          "document.getElementById('say').requestSubmit()")
            assert "from the page <b>" in reader.readline()
            browser.see("from the page <b>")
            plain.sendall(b"/quit\n")
            assert reader.readline() == "* Goodbye.\n"


def test_a_chat_with_tls_refuses_what_a_browser_is_made_to_send_to_its_lines():
    """A client that offers HTTP only does not get through the handshake; one that offers nothing does."""
    with ChatServer("--tls-dev") as server:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2", "http/1.1"])
        with socket.create_connection(("127.0.0.1", server.port), SECONDS_MAX) as sock:
            with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
                context.wrap_socket(sock)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), SECONDS_MAX)) as plain:
            plain.sendall(b"/who\n")
            assert b"in room lobby" in plain.recv(1000)
            plain.sendall(b"/quit\n")
            assert plain.recv(1000) == b"* Goodbye.\n"
