"""Several listeners of one program: https, http beside it, one that leads to https, and a Unix socket, by curl."""
import pathlib
import re
import socket
import stat
import subprocess

from application_process import Application, clean_environment, program_path
from raw_client import eventually


def curl(*arguments):
    """Return the output of curl; fails with its error."""
    done = subprocess.run(["curl", "--silent", "--show-error", "--max-time", "20", *arguments], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_config(folder, text):
    """Write a configuration, and return the flags that name it."""
    path = folder / "listeners.yaml"
    path.write_text(text, encoding="utf-8")
    return "--config", str(path), "--set", "http.port=0"


def listening(program, count):
    """Return the log once it names so many listeners."""
    assert eventually(lambda: program.stderr().count("listening on") >= count), program.stderr()
    return program.stderr()


def test_https_http_a_redirect_and_a_unix_socket_in_one_program(tmp_path):
    """Each says the same, but for the one that leads to https; the log names them all; the file goes at the end."""
    path = tmp_path / "app.sock"
    flags = write_config(tmp_path, f"""
http:
  listeners:
    - {{address: 127.0.0.1, port: 0}}
    - {{address: 127.0.0.1, port: 0, redirect_to_https: true}}
    - {{address: "unix:{path}", mode: 0600}}
""")
    with Application(tmp_path, *flags, "--set", "http.tls.development=true") as program:
        port = program.ready["port"]
        program.wait_for_log(f"listening on unix:{path}")
        plain, redirecting = re.findall(r"listening on http://127\.0\.0\.1:([0-9]+)", program.stderr())
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        told = [curl("--insecure", f"https://localhost:{port}/greeting"), curl(f"http://localhost:{plain}/greeting"),
                curl("--unix-socket", str(path), "http://localhost/greeting"),
                curl("--insecure", "--location", f"http://localhost:{redirecting}/greeting")]
        assert told[0] and told == [told[0]] * len(told)
        shown = curl("--output", "/dev/null", "--write-out", "%{http_code} %{redirect_url}",
                     f"http://localhost:{redirecting}/users/7?a=b")
        assert shown == f"308 https://localhost:{port}/users/7?a=b"
        assert curl(f"http://localhost:{redirecting}/health").startswith('{"status":"pass"')
        assert program.end() == 0
    assert not path.exists()


def test_a_socket_that_a_killed_program_left_is_replaced_and_one_in_use_is_not(tmp_path):
    """The second start beside a program that runs fails and names the path; after a kill it succeeds."""
    path = tmp_path / "app.sock"
    flags = write_config(tmp_path, f"http: {{listeners: [{{address: 'unix:{path}'}}]}}\n")
    with Application(tmp_path, *flags) as program:
        second = subprocess.run([program_path(), *flags, "--database", "sqlite:second.db"], cwd=tmp_path, timeout=60,
                                capture_output=True, text=True, env=clean_environment(), check=False)
        assert second.returncode == 1
        assert f"listen on unix:{path}: another program listens there" in second.stderr
        program.process.kill()
        program.process.wait(20)
    assert path.is_socket()
    with Application(tmp_path, *flags) as program:
        assert curl("--unix-socket", str(path), "http://localhost/greeting")
        program.end()
    assert not path.exists()


def test_a_listener_speaks_the_versions_that_it_is_told(tmp_path):
    """By ALPN with TLS, where a client that offers only another is refused. Without TLS, by the connection's first
    bytes."""
    flags = write_config(tmp_path, """
http:
  versions: http2
  listeners:
    - {port: 0, tls: true, versions: http1}
    - {port: 0, tls: true}
    - {port: 0, versions: http1}
    - {port: 0, versions: http2}
    - {port: 0}
""")

    def spoken(scheme, port, *how):
        done = subprocess.run(["curl", "--silent", "--insecure", "--max-time", "20", "--output", "/dev/null", *how,
                               "--write-out", "%{http_version} %{http_code}", f"{scheme}://localhost:{port}/greeting"],
                              capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else f"curl: {done.returncode}"

    both, old, new = ("--http2",), ("--http1.1",), ("--http2-prior-knowledge",)
    with Application(tmp_path, *flags, "--set", "http.tls.development=true") as program:
        first = program.ready["port"]
        _, *others = re.findall(r"listening on (https?)://127\.0\.0\.1:([0-9]+)", listening(program, 6))
        (_, old_tls), (_, any_tls), (_, old_plain), (_, new_plain), (_, any_plain) = others
        assert [scheme for scheme, _ in others] == ["https"] * 2 + ["http"] * 3
        assert [spoken("https", first, *how) for how in (both, old)] == ["2 200", "curl: 35"]
        assert [spoken("https", old_tls, *how) for how in (both, old)] == ["1.1 200"] * 2
        assert [spoken("https", any_tls, *how) for how in (both, old)] == ["2 200", "1.1 200"]
        # curl takes the answer to its preface for one of HTTP/2, and gives up.
        assert spoken("http", old_plain, *new).startswith("curl: ") and spoken("http", old_plain, *old) == "1.1 200"
        assert spoken("http", new_plain, *new) == "2 200" and spoken("http", new_plain, *old).startswith("curl: ")
        assert [spoken("http", any_plain, *how) for how in (new, old)] == ["2 200", "1.1 200"]
        with socket.create_connection(("127.0.0.1", int(old_plain)), timeout=20) as line:
            line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            assert line.recv(64).startswith(b"HTTP/1.1 505 ")
        assert program.end() == 0


def test_check_config_names_every_mistake_of_the_listeners(tmp_path):
    """The check makes nothing: no socket, no file."""
    flags = write_config(tmp_path, f"""
http:
  listeners:
    - {{port: 81, tls: true}}
    - {{address: "unix:{tmp_path}/b.sock", port: 1}}
    - {{address: "unix:{tmp_path}/a.sock", mode: 0999}}
    - {{port: 81}}
    - {{port: 82, versions: http2}}
  http2: {{enabled: false}}
""")
    done = subprocess.run([program_path(), *flags, "--check-config"], cwd=tmp_path, env=clean_environment(), text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    for name in ("listeners[0].tls", "listeners[1].port", "listeners[2].mode", "listeners[3]", "listeners[4].versions"):
        assert f"http.{name}" in done.stderr, done.stderr
    assert not list(pathlib.Path(tmp_path).glob("*.sock"))


def test_a_socket_of_the_service_manager_is_the_first_listener_and_others_stand_beside_it(tmp_path):
    """The given one, which goes on when the program ends, and a Unix socket, which does not."""
    path = tmp_path / "app.sock"
    flags = write_config(tmp_path, f"http: {{listeners: [{{address: 'unix:{path}'}}]}}\n")
    with socket.create_server(("127.0.0.1", 0)) as given:
        for _ in range(2):
            with Application(tmp_path, *flags, listener=given) as program:
                assert int(program.ready["port"]) == given.getsockname()[1]
                told = curl(f"{program.url}/greeting")
                assert told and told == curl("--unix-socket", str(path), "http://localhost/greeting")
                program.end()
            assert not path.exists()


def test_a_listener_that_others_reach_turns_the_operations_pages_off_and_is_named(tmp_path):
    """A Unix socket does not; but it is where a proxy connects, so its clients are shown none of the pages."""
    path = tmp_path / "app.sock"
    flags = write_config(tmp_path, f"http: {{listeners: [{{address: 'unix:{path}'}}]}}\n")
    with Application(tmp_path, *flags) as program:
        assert "# HELP" in program.get("/metrics")[1]
        assert '"status":404' in curl("--unix-socket", str(path), "http://localhost/metrics")
        assert curl("--unix-socket", str(path), "http://localhost/ready") == '{"status":"pass"}'
        program.end()
    flags = write_config(tmp_path, f"http: {{listeners: [{{address: 'unix:{path}'}}, {{address: 0.0.0.0}}]}}\n")
    with Application(tmp_path, *flags) as program:
        line = program.wait_for_log("operations pages .* are off")
        assert "http://0.0.0.0:" in line, line
        assert program.get("/metrics")[0] == 404
        program.end()

# SPDX-License-Identifier: Apache-2.0
