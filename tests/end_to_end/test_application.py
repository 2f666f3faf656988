"""A program on app::Application: its start and end, signals, reload, systemd, names of requests."""
import fcntl
import json
import os
import re
import select
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from application_process import Application, SECONDS_MAX, clean_environment, program_path
from server_process import free_port

TRACE = "0af7651916cd43dd8448eb211c80319c"


class Notifications:
    """The socket at which systemd would listen."""

    def __init__(self, folder):
        self.path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(SECONDS_MAX)

    def next(self, but="WATCHDOG=1"):
        """Return the next datagram that is not `but`."""
        while True:
            text = self.socket.recv(4096).decode()
            if text != but:
                return text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def run(folder, *flags, **variables):
    """Run the program to its end."""
    return subprocess.run([program_path(), *flags], cwd=folder, env=clean_environment(**variables), text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS_MAX, check=False)


def test_the_console_can_have_json_lines_alone(tmp_path):
    """Standard error for a platform that collects it; with `off` nothing at all is printed."""
    with Application(tmp_path, "--set", "log.console=json", "--set", "log.levels=info") as app:
        assert app.get("/users/7")[0] == 200
        app.send_signal(signal.SIGTERM)     # it writes all of its log before it ends
        assert app.process.wait(SECONDS_MAX) == 0
    lines = [json.loads(line) for line in app.stderr().splitlines()]
    assert any(each["message"].startswith("listening on") for each in lines)
    assert all({"time", "level", "logger", "message"} <= set(each) for each in lines)
    with Application(tmp_path, "--set", "log.console=off") as app:
        assert app.get("/users/7")[0] == 200
    assert app.stderr() == ""


def test_the_log_of_the_start_comes_before_the_line_of_its_address(tmp_path):
    """While the console cannot be written, the line of standard output waits, but for a second at most."""
    console, its_end = os.pipe()
    fcntl.fcntl(its_end, fcntl.F_SETPIPE_SZ, 4096)
    os.write(its_end, b"x" * 4096)      # full
    command = [program_path(), "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, env=clean_environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=its_end, text=True) as process:
        os.close(its_end)
        try:
            assert not select.select([process.stdout], [], [], 0.7)[0], "printed before the log of the start"
            said = ""
            while "listening on" not in said:
                said += os.read(console, 65536).decode()
            assert process.stdout.readline().startswith("application_server: listening on ")
        finally:
            process.terminate()
            os.close(console)


def test_it_serves_from_its_database_and_tells_everything_about_itself(tmp_path):
    """From nothing but the program: a database with its migrations, metrics of every system, checks."""
    with Application(tmp_path) as app:
        assert app.get("/users/7")[:2] == (200, "ada")
        assert app.get("/users/8")[0] == 404
        assert app.get("/work")[:2] == (200, "42")
        ready = app.get("/ready")
        assert ready[0] == 200 and '"name":"database"' in ready[1] and '"name":"pool work"' in ready[1], ready[1]
        assert app.get("/health")[0] == 200
        metrics = app.get("/metrics")[1]
        for line in (r'katana_startup_seconds\{part="database"\}', r'katana_pool_jobs_ran_total\{pool="work"\} [1-9]',
                     "katana_database_usable 1", "katana_log_records_total", "katana_log_waiting_bytes [0-9]",
                     "katana_log_fullest_ring_ratio 0", "katana_reactor_stalls_total",
                     r'katana_http_route_requests_total\{method="GET",route="/users/\{id\}",status="2xx"\} 1',
                     r'katana_http_route_requests_total\{method="GET",route="/users/\{id\}",status="4xx"\} 1'):
            assert re.search("^" + line, metrics, re.MULTILINE), f"{line} is not in\n{metrics}"
        assert (tmp_path / "var" / "katana.db").exists()
        assert app.end() == 0


def test_every_record_of_a_request_has_its_names(tmp_path):
    """The id and the trace that came with it; also behind a co_await, and in the access log."""
    with Application(tmp_path) as app:
        _, _, fields = app.get("/work", **{"X-Request-Id": "order-7",
                                           "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"})
        assert fields["X-Request-Id"] == "order-7"
        for record in (app.wait_for_log("worked"), app.wait_for_log("GET /work")):
            assert "order-7" in record and TRACE in record, record
        made = app.get("/nowhere", **{"X-Request-Id": "not good"})[2]["X-Request-Id"]
        assert re.fullmatch("[0-9a-f]{32}", made)
        assert made in app.wait_for_log("GET /nowhere")
        assert app.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_what_is_in_flight_finish(tmp_path, number):
    """The reply comes, the program reports its work, and its status is 0."""
    with Application(tmp_path) as app, app.connect() as client:
        client.sendall(b"GET /sleep/300 HTTP/1.1\r\nHost: x\r\n\r\n")
        app.get("/greeting")
        app.send_signal(number)
        text = b""
        while piece := client.recv(4096):
            text += piece
        client.close()
        assert text.startswith(b"HTTP/1.1 200 ") and text.endswith(b"slept"), text
        assert app.end(None) == 0


def test_a_second_signal_ends_it_at_once(tmp_path):
    """Requests in flight are cut off, and counted."""
    with Application(tmp_path) as app, app.connect() as client:
        client.sendall(b"GET /greeting HTTP/1.1\r\nHost: x\r\n\r\nGET /sleep/20000 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 200 ")     # the handler of the next request has then begun
        app.send_signal(signal.SIGTERM)
        app.wait_for_log("draining for up to")
        assert app.end() >= 1


def test_sighup_applies_what_is_right_and_a_broken_file_changes_nothing(tmp_path):
    """The log names the changes, and for mistakes the file and the line."""
    file = tmp_path / "app.yaml"
    file.write_text("greeting: Good morning\n")
    with Application(tmp_path, "--config", str(file)) as app:
        assert app.get("/greeting")[1] == "Good morning"
        file.write_text("greeting: Good night\nhttp: {pin: true}\n")
        app.send_signal(signal.SIGHUP)
        app.wait_for_log("needs a restart: http.pin")
        app.wait_for_log("read again, 1 changed")
        assert app.get("/greeting")[1] == "Good night"
        file.write_text("greeting: [1\n")
        app.send_signal(signal.SIGHUP)
        assert "app.yaml" in app.wait_for_log("the configuration was not reloaded")
        assert app.get("/greeting")[1] == "Good night"
        assert app.end() == 0


def test_systemd_hears_of_start_life_reload_and_end(tmp_path):
    """Type=notify, and WatchdogSec=: datagrams at NOTIFY_SOCKET."""
    with Notifications(tmp_path) as systemd:
        variables = {"NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "40000"}
        with Application(tmp_path, **variables) as app:
            assert systemd.next().startswith("READY=1\nSTATUS=serving on http://127.0.0.1:")
            assert systemd.next(but=None) == "WATCHDOG=1"
            assert systemd.next(but=None) == "WATCHDOG=1"
            app.send_signal(signal.SIGHUP)
            assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=[0-9]+", systemd.next())
            assert systemd.next() == "READY=1\nSTATUS=serving"
            app.send_signal(signal.SIGTERM)
            assert systemd.next().startswith("STOPPING=1\n")
            assert app.end(None) == 0


def test_a_socket_that_is_given_outlives_the_program(tmp_path):
    """Socket activation: who connects between two processes is answered by the second."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with Application(tmp_path, "--set", "http.port=1", listener=listener) as first:
            assert first.ready["port"] == str(port)
            assert first.get("/users/7")[1] == "ada"
            assert first.end() == 0
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS_MAX) as between:
            between.sendall(b"GET /users/7 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            with Application(tmp_path, listener=listener) as second:
                text = b""
                while piece := between.recv(4096):
                    text += piece
                assert text.endswith(b"ada"), text
                assert second.end() == 0


def test_systemd_starts_the_program_by_the_first_connection(tmp_path):
    """systemd-socket-activate: LISTEN_FDS and LISTEN_PID as systemd sets them, and http.port is not opened."""
    port = free_port()
    command = ["systemd-socket-activate", "--listen", f"127.0.0.1:{port}", program_path(), "--set", "http.port=1"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as systemd:
        try:
            reply, deadline = None, time.monotonic() + SECONDS_MAX
            while reply is None:
                try:
                    reply = urllib.request.urlopen(f"http://127.0.0.1:{port}/users/7", timeout=SECONDS_MAX).read()
                except urllib.error.URLError:   # systemd does not listen yet
                    assert time.monotonic() < deadline and systemd.poll() is None
                    time.sleep(0.02)
            assert reply == b"ada"
            assert f"listening on http://127.0.0.1:{port} " in systemd.stdout.readline()
        finally:
            systemd.terminate()     # it has become the program
        assert systemd.wait(SECONDS_MAX) == 0


def test_a_variable_of_its_own_sets_the_port(tmp_path):
    """KATANA_PORT; and a flag wins over it."""
    with Application(tmp_path, KATANA_PORT="0") as app:
        assert app.get("/greeting")[0] == 200
        assert app.end() == 0
    refused = run(tmp_path, KATANA_PORT="70000")
    assert refused.returncode == 2 and "KATANA_PORT: http.port" in refused.stderr, refused.stderr


@pytest.mark.parametrize("flags, status, words", [
    (["--prot", "1"], 2, "unknown flag '--prot'; did you mean '--port'?"),
    (["--set", "http.prot=1"], 2, "did you mean 'port'"),
    (["--config", "nowhere.yaml"], 2, "nowhere.yaml"),
    (["--port", "0", "--database", "sqlite:stderr/app.db"], 1,
     "'database' did not start: "),
    (["--port", "0", "--set", "http.address=192.0.2.1"], 1, "'http' did not start: "),
])
def test_what_is_wrong_is_named(tmp_path, flags, status, words):
    """Wrong usage is 2; a part that fails is 1."""
    (tmp_path / "stderr").write_text("a file where a folder is wanted")
    result = run(tmp_path, *flags)
    assert result.returncode == status and words in result.stderr, (result.returncode, result.stderr)
    assert result.stdout == ""


@pytest.mark.parametrize("tls", [(), ("--set", "http.tls.development=true")])
def test_the_program_asks_another_of_its_settings_for_its_health(tmp_path, tls):
    """--health-check: with a certificate of any name, and without a client in the image."""
    with Application(tmp_path, *tls) as app:
        flags = ["--port", app.ready["port"], *tls, "--health-check"]
        asked = run(tmp_path, *flags)
        assert (asked.returncode, asked.stdout, asked.stderr) == (0, "", "")
        assert app.end() == 0
    refused = run(tmp_path, *flags)
    assert refused.returncode == 1 and "Connection refused" in refused.stderr, refused.stderr
    unknown = run(tmp_path, "--port", "0", "--health-check")
    assert unknown.returncode == 2 and "http.port is 0" in unknown.stderr, unknown.stderr


def test_help_version_and_the_whole_configuration_are_printed(tmp_path):
    """And nothing is started."""
    assert "--print-config" in run(tmp_path, "--help").stdout
    assert run(tmp_path, "--version").stdout == "application_server 1.0\n"
    printed = run(tmp_path, "--print-config", "--set", "http.port=9000").stdout
    assert re.search(r"^  port: 9000 +# --set http.port$", printed, re.MULTILINE), printed
    assert not (tmp_path / "var").exists()

# SPDX-License-Identifier: Apache-2.0
