"""Several listeners of one program: https, http beside it, one that leads to https, and a Unix socket, by curl."""
import pathlib
import re
import socket
import stat
import subprocess

from application_process import Application, clean_environment, program_path


def curl(*arguments):
    """Return what curl writes; fails with what it says."""
    done = subprocess.run(["curl", "--silent", "--show-error", "--max-time", "20", *arguments], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_config(folder, text):
    """Write a configuration, and return the flags that name it."""
    path = folder / "listeners.yaml"
    path.write_text(text, encoding="utf-8")
    return "--config", str(path), "--set", "http.port=0"


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
        program.wait_for_log(f"also serving on unix:{path}")
        plain, redirecting = re.findall(r"also serving on http://127\.0\.0\.1:([0-9]+)", program.stderr())
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


def test_check_config_names_every_mistake_of_the_listeners(tmp_path):
    """Nothing is made for it: no socket, no file."""
    flags = write_config(tmp_path, f"""
http:
  listeners:
    - {{port: 81, tls: true}}
    - {{address: "unix:{tmp_path}/b.sock", port: 1}}
    - {{address: "unix:{tmp_path}/a.sock", mode: 0999}}
    - {{port: 81}}
""")
    done = subprocess.run([program_path(), *flags, "--check-config"], cwd=tmp_path, env=clean_environment(), text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    for name in ("listeners[0].tls", "listeners[1].port", "listeners[2].mode", "listeners[3]"):
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
    """A Unix socket does not: its file says who may connect."""
    path = tmp_path / "app.sock"
    flags = write_config(tmp_path, f"http: {{listeners: [{{address: 'unix:{path}'}}]}}\n")
    with Application(tmp_path, *flags) as program:
        assert "# HELP" in curl("--unix-socket", str(path), "http://localhost/metrics")
        program.end()
    flags = write_config(tmp_path, f"http: {{listeners: [{{address: 'unix:{path}'}}, {{address: 0.0.0.0}}]}}\n")
    with Application(tmp_path, *flags) as program:
        line = program.wait_for_log("operations pages .* are off")
        assert "http://0.0.0.0:" in line, line
        assert program.get("/metrics")[0] == 404
        program.end()

# SPDX-License-Identifier: Apache-2.0
