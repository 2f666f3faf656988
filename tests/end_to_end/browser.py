"""Headless Chromium for tests: opens pages, evaluates scripts in them, and waits for their output."""
import json
import shutil
import subprocess
import time

import pytest

SECONDS_MAX = 20


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
    def eventually(condition, describe=None, seconds=SECONDS_MAX):
        """The result of the condition, once it is true."""
        last = time.monotonic() + seconds
        while time.monotonic() < last:
            if found := condition():
                return found
            time.sleep(0.05)
        raise AssertionError(f"it did not come true: {describe() if describe else condition}")

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

    def open(self, url):
        """Go to a page, which then lists in `violations` what broke its Content-Security-Policy."""
        self.call("Page.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source="window.violations = [];"
                  "addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective));")
        self.call("Page.navigate", url=url)

    def text(self, identity):
        """The text of an element; empty while there is none."""
        return (self.value(f"document.getElementById({identity!r})?.textContent") or "").strip()

    def see(self, text, identity="log"):
        """Wait until an element has it."""
        self.eventually(lambda: text in self.text(identity), lambda: f"{text!r} in {self.text(identity)!r}")

# SPDX-License-Identifier: Apache-2.0
