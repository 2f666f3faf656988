"""cached_cost.py: its results from rounds, and the replies that it refuses. No test measures with it."""
import http.server
import json
import subprocess
import sys
import threading

import pytest

from katana_lab import LAB, LabError
from katana_lab.costs import cached


def result(cpu_us):
    """The cost of one request in one round."""
    return {"us": cpu_us, "other": 0.0, "client": 0.5, "errors": 0}


def test_the_ratio_is_taken_within_a_round():
    rounds = [{"/health": result(10), "cached": result(11)}, {"/health": result(20), "cached": result(20)},
              {"/health": result(40), "cached": result(48)}]
    assert cached.row("cached", rounds) == ("cached", "20.00", "1.10 (1.00–1.20)", "50 %", "0")


@pytest.fixture(name="say")
def server_that_says():
    """A server on `port` that answers each GET with a user and the given Cache-Status."""
    said = {"status": "katana; hit", "name": "ada"}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(201)
            self.send_header("Location", "/users/1")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self):
            content = json.dumps({"name": said["name"]}).encode()
            self.send_response(200)
            self.send_header("Cache-Status", said["status"])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        said["port"] = server.server_address[1]
        yield said
        server.shutdown()


def test_a_reply_that_is_not_the_user_or_not_of_the_cache_ends_the_run(say):
    assert cached.prepare(say["port"], True) == "/users/1"
    with pytest.raises(LabError, match="Cache-Status"):
        cached.prepare(say["port"], False)
    say["status"] = "katana; fwd=uri-miss"
    with pytest.raises(LabError, match="Cache-Status"):
        cached.prepare(say["port"], True)
    say["name"] = "grace"
    with pytest.raises(LabError, match="grace"):
        cached.prepare(say["port"], True)


def test_help_is_the_programs_own():
    done = subprocess.run([sys.executable, LAB / "cached_cost.py", "--help"], capture_output=True, text=True,
                          check=True)
    assert "/health" in done.stdout and "--rounds" in done.stdout

# SPDX-License-Identifier: Apache-2.0
