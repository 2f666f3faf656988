"""The tool katana: its output and refusals, and how katana dev goes on. tests/consume builds its projects."""
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from load import Load
from program_process import built
from server_process import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(os.environ.get("KATANA_BUILD", "build/release")).resolve() / "katana"
SECONDS_MAX = 30


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=SECONDS_MAX,
                          check=False)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_help_and_version_of_every_subcommand():
    done = run("--version")
    assert re.fullmatch(r"katana \d+\.\d+\.\d+\n", done.stdout) and done.returncode == 0
    for words in ("", "new", "add", "add route", "dev", "routes", "config", "config schema", "migrate", "lint", "log",
                  "sql", "sql check"):
        done = run(*words.split(), "--help")
        assert done.returncode == 0 and "Usage: katana" in done.stdout, (words, done.stdout, done.stderr)


@pytest.mark.parametrize("words, said", [
    (("frob",), "there is no command 'frob' ('katana --help' lists all)"),
    (("nwe",), "there is no command 'nwe'; did you mean 'new'? ('katana --help' lists all)"),
    (("sql", "chekc"), "there is no command 'chekc'; did you mean 'check'? ('katana sql --help' lists all)"),
    (("new", "shop", "--databse", "none"), "unknown flag '--databse'; did you mean '--database'? (see --help)"),
    (("new", "shop", "surplus"), "unexpected argument 'surplus' (see --help)"),
    (("migrate", "--dir"), "--dir needs a value"),
    (("new",), "NAME is required"),
    (("new", "9lives"), "'9lives' cannot be the name of a project: the first character has to be a-z"),
    (("new", "Notes"), "upper-case letters are not allowed; try 'notes'"),
    (("new", "a" * 41), "it has 41 characters, and 40 are allowed"),
    (("new", "a.b"), "only a-z, 0-9, '-' and '_' are allowed"),
    (("new", "test"), "CMake has a target of this name"),
    (("new", "katana"), "'katana' cannot be the name of a project: this is the name of the library"),
    (("new", "shop", "--with", "blockchain"), "blockchain not in"),
    (("new", "shop", "--database", "oracle"), "oracle not in"),
    (("add", "route", "FETCH", "/x"), "FETCH not in"),
    (("add", "job", "x", "--every", "soon"), "--every 'soon': give a time"),
    (("routes",), "there is no CMakeLists.txt with a project(NAME) here"),
    (("sql", "check"), "'build' has no target that is checked: call katana_check_sql(TARGET …)"),
    (("dev", "--address", "localhost"), "there is no CMakeLists.txt"),
])
def test_a_mistake_is_one_line_and_status_2(tmp_path, words, said):
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert files(tmp_path) == []


@pytest.mark.parametrize("words", [(), ("sql",), ("openapi",), ("config",)])
def test_a_command_that_needs_another_prints_its_help(words):
    """On standard error, because nothing was done."""
    done = run(*words)
    assert done.returncode == 2 and done.stdout == "", done.stdout
    assert done.stderr == run(*words, "--help").stdout


def test_no_line_of_any_help_is_wider_than_80_columns():
    """Check the tool with all of its commands."""
    def helps(*words):
        text = run(*words, "--help").stdout
        yield " ".join(words), text
        listed = text.partition("\nCommands:\n")[2]
        for name in re.findall(r"^  (\w[\w-]*) ", listed, re.M):
            yield from helps(*words, name)
    seen = dict(helps())
    assert len(seen) > 25 and "openapi generate" in seen, sorted(seen)
    wide = {name: [line for line in text.splitlines() if len(line) > 80] for name, text in seen.items()}
    assert not any(wide.values()), wide


def test_a_folder_that_has_something_is_left_alone(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/precious").write_text("data")
    done = run("new", "shop", cwd=tmp_path)
    assert done.returncode == 2 and "not an empty folder" in done.stderr
    assert files(tmp_path) == ["shop/precious"]


def test_names_become_namespaces_and_prefixes(tmp_path):
    assert run("new", "my-shop", "--database", "none", cwd=tmp_path).returncode == 0
    home = tmp_path / "my-shop"
    text = (home / "src/app.cpp").read_text()
    assert "namespace my_shop_app {" in text and 'environment_prefix = "MY_SHOP_"' in text and "sqlite" not in text
    assert not any("{{" in (home / name).read_text() for name in files(home) if not name.endswith("test.yml"))
    assert not (home / "migrations").exists()


# A keyword, a macro, main, functions and types of the C library, a namespace of C++ and one of KATANA's.
CLASHES = ("namespace", "class", "concept", "co-await", "main", "link", "time", "read", "signal", "index", "exit",
           "std", "errno", "unix", "linux", "assert", "stdin", "log", "http", "fmt", "option", "environ")


@pytest.mark.parametrize("name", CLASHES)
def test_no_name_of_a_project_is_a_name_of_its_code(tmp_path, name):
    """The compiler sees NAME_app; other uses are strings, and names of files, variables and targets."""
    assert run("new", name, "--with", "openapi,job,websocket", cwd=tmp_path).returncode == 0
    own = f"{name.replace('-', '_')}_app"
    for path in (tmp_path / name).rglob("*.[ch]pp"):
        opened = re.findall(r"^namespace (\w+) \{", path.read_text(), re.MULTILINE)
        assert opened == ([] if path.name == "main.cpp" else [own]), path
    assert f"{own}::configure(app);" in (tmp_path / name / "src/main.cpp").read_text()


def test_a_program_of_a_name_that_clashes_compiles(tmp_path):
    """The worst of them as the compiler sees it: the header, with the names of the C library beside it."""
    for name in ("namespace", "time"):
        assert run("new", name, "--database", "none", cwd=tmp_path).returncode == 0
        probe = tmp_path / f"{name}.cpp"
        main = (tmp_path / name / "src/main.cpp").read_text()
        own = re.search(r"Application<(\w+)::Settings>", main)[1]
        probe.write_text(f"#include <ctime>\n#include <unistd.h>\nnamespace {own} {{ int x; }}\nint y = {own}::x;\n")
        done = subprocess.run(["g++-12", "-std=gnu++23", "-fsyntax-only", probe], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == 0, done.stderr


def test_names_of_targets_of_cmake_are_refused(tmp_path):
    """Each of them would fail when it is configured."""
    for name in ("test", "all", "install", "clean", "package", "help"):
        done = run("new", name, cwd=tmp_path)
        assert done.returncode == 2 and "CMake has a target of this name" in done.stderr, done.stderr
    assert files(tmp_path) == []


def test_a_project_for_postgresql_has_sqlite_for_its_tests_and_a_migration_for_each(tmp_path):
    made = run("new", "shop", "--database", "postgres", cwd=tmp_path)
    assert made.returncode == 0
    assert "  createuser shop && createdb --owner=shop shop " in made.stdout, "the step before the first make run"
    home = tmp_path / "shop"
    assert "TemporaryPostgres database(options().migrations);" in (home / "tests/app_test.cpp").read_text()
    assert "testing_application testing_postgres)" in (home / "CMakeLists.txt").read_text()
    assert "made.database = {app::postgres(), app::sqlite()};" in (home / "src/app.cpp").read_text()
    assert "url: postgresql://shop@localhost/shop" in (home / "shop.yaml").read_text()
    assert "COMPONENTS application_sqlite application_postgres OPTIONAL" in (home / "CMakeLists.txt").read_text()
    assert "COPY migrations" in (home / "Containerfile").read_text()
    assert sorted(each.name for each in (home / "migrations").iterdir()) == [
        "0001_notes.postgres.sql", "0001_notes.sqlite.sql"]
    assert not any("{{" in (home / name).read_text() for name in files(home) if not name.endswith("test.yml"))
    assert run("add", "migration", "more", cwd=home).stdout == "migrations/0002_more.sql\n"


def test_add_extends_a_project_and_refuses_what_is_there(tmp_path):
    assert run("new", "shop", cwd=tmp_path).returncode == 0
    home = tmp_path / "shop"
    assert run("add", "route", "DELETE", "/a/{x}/{y}", cwd=home).returncode == 0
    text = (home / "src/app.cpp").read_text()
    assert 'routes.delete_("/a/{x}/{y}", delete_a_x_y);' in text and "Path<std::string> x, Path<std::string> y" in text
    assert run("add", "route", "GET", "/b/{class}/{2}/{format_text}", cwd=home).returncode == 0
    assert "Path<std::string> class_, Path<std::string> n2, Path<std::string> format_text_2" in (
        home / "src/app.cpp").read_text()
    assert run("add", "job", "delete", cwd=home).returncode == 0
    text = (home / "src/app.cpp").read_text()
    assert 'app.job("delete", jobs::every(milliseconds(600000)), delete_);' in text and "delete_(const" in text
    for words, said in ((("route", "DELETE", "/a/{x}/{y}"), "there is a function 'delete_a_x_y' already"),
                        (("route", "GET", "no-slash"), "is no path of a route"),
                        (("route", "GET", "/{"), "a parameter is a name in braces"),
                        (("job", "Bad"), "'Bad' is not a valid name"),
                        (("migration", "../x"), "'../x' is not a valid name")):
        done = run("add", *words, cwd=home)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    assert (home / "src/app.cpp").read_text() == text
    assert run("add", "migration", "more", cwd=home).stdout == "migrations/0002_more.sql\n"
    assert "has that name" in run("add", "migration", "more", cwd=home).stderr
    (home / "src/app.cpp").write_text("int x;\n")
    assert "has no line '// katana: handlers'" in run("add", "route", "GET", "/b", cwd=home).stderr


def test_units_of_systemd_are_those_of_the_full_stack_application(tmp_path):
    """Name and prefix are equal: tests/deploy/systemd then runs the same units that projects get."""
    (tmp_path / "CMakeLists.txt").write_text("project(fullstack LANGUAGES CXX)\n")
    done = run("add", "systemd", cwd=tmp_path)
    assert done.stdout == "systemd/fullstack.service\nsystemd/fullstack.socket\n", done.stderr
    for name in ("fullstack.service", "fullstack.socket"):
        text = (tmp_path / "systemd" / name).read_text().replace("FULLSTACK_", "KATANA_")
        assert text == (ROOT / "packaging/systemd" / name).read_text(), name
    # A database that is away for long must not use the restarts up.
    service = (tmp_path / "systemd/fullstack.service").read_text()
    assert "\nRestartSec=2\n" in service and "\nStartLimitIntervalSec=0\n" in service
    again = run("add", "systemd", cwd=tmp_path)
    assert again.returncode == 2 and "exists already" in again.stderr
    units = [str(tmp_path / "systemd/fullstack.service")]
    score = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", *units],
                           capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    assert score.returncode == 0, score.stdout + score.stderr  # exposure above 2.0


# A project whose build is a copy of a script, so that katana dev is tested and no compiler.
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES NONE)
add_custom_target(toy ALL COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/toy.py ${CMAKE_BINARY_DIR}/toy)
add_custom_target(judge ALL COMMAND sh -c "! grep BROKEN ${CMAKE_SOURCE_DIR}/toy.py")
"""
SCRIPT = """#!/usr/bin/env python3
import os, signal, socket, sys
assert os.environ["LISTEN_FDS"] == "1" and int(os.environ["LISTEN_PID"]) == os.getpid()
listener = socket.socket(fileno=3)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
while True:
    peer, _ = listener.accept()
    peer.recv(4096)
    peer.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nVERSION " + " ".join(sys.argv[1:]).encode())
    peer.close()
"""


class Dev:
    """katana dev in a folder, and its port."""

    def __init__(self, folder, *arguments):
        self.port = free_port()
        self.log = folder.parent / "dev.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen([PROGRAM, "dev", "--port", str(self.port), *arguments], cwd=folder,
                                            stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=SECONDS_MAX) as reply:
            return reply.read().decode()

    def wait(self, holds, what):
        end = time.monotonic() + SECONDS_MAX
        while time.monotonic() < end:
            try:
                if holds():
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            time.sleep(0.05)
        raise AssertionError(f"{what}: {self.log.read_text()}")


def toy(tmp_path, version):
    home = tmp_path / "toy"
    home.mkdir(exist_ok=True)
    if not (home / "CMakeLists.txt").exists():
        (home / "CMakeLists.txt").write_text(CMAKE)
    (home / "toy.py").write_text(SCRIPT.replace("VERSION", version))
    (home / "toy.py").chmod(0o755)
    return home


def test_files_for_editors_are_written_where_they_are_wanted(tmp_path):
    assert run("new", "shop", "--with", "editor", cwd=tmp_path).returncode == 0
    assert run("new", "plain", cwd=tmp_path).returncode == 0
    made = {each.replace("shop", "plain") for each in files(tmp_path / "shop")}
    plain = set(files(tmp_path / "plain"))
    assert made - plain == {".clangd", ".vscode/tasks.json", ".vscode/launch.json", ".vscode/extensions.json",
                            ".devcontainer/devcontainer.json"}
    for name in made - plain - {".clangd"}:
        json.loads((tmp_path / "shop" / name).read_text())
    launch = json.loads((tmp_path / "shop/.vscode/launch.json").read_text())
    assert [each["program"] for each in launch["configurations"]] == [
        "${workspaceFolder}/build/shop", "${workspaceFolder}/build/shop_test"]


def test_lint_names_what_g_plus_plus_12_destroys_twice(tmp_path):
    source = tmp_path / "src/app.cpp"
    (tmp_path / "build").mkdir()
    source.parent.mkdir()
    good = "Task<void> f() {\n  co_await g(x ? 1 : 2);\n}\n"
    bad = good.replace("x ? 1 : 2", 'x ? *x + ", far" : "near"')
    source.write_text(good)
    (tmp_path / "build/made.cpp").write_text(bad)
    done = run("lint", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "1 files, 0 findings\n"), done.stderr
    source.write_text(bad)
    done = run("lint", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("src/app.cpp:2:16: error: a conditional expression stands in what is"), done.stderr
    found = json.loads(run("lint", "--json", "src/app.cpp", cwd=tmp_path).stdout)
    assert [(each["file"], each["line"], each["rule"]) for each in found] == [
        ("src/app.cpp", 2, "conditional-argument")]
    done = run("lint", "nowhere", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "katana lint: 'nowhere' is no file and no folder\n")


def test_dev_builds_again_on_a_change_and_keeps_the_port(tmp_path):
    home = toy(tmp_path, "one")
    with Dev(home, "--", "--flag") as dev:
        dev.wait(lambda: dev.ask() == "one --flag", "the first build")
        toy(tmp_path, "two")
        dev.wait(lambda: dev.ask() == "two --flag", "a change")
        toy(tmp_path, "BROKEN")
        dev.wait(lambda: "the build failed" in dev.log.read_text(), "a build that fails")
        assert dev.ask() == "two --flag"  # goes on
        toy(tmp_path, "three")
        dev.wait(lambda: dev.ask() == "three --flag", "a build that is right again")
        dev.process.send_signal(signal.SIGINT)
        assert dev.process.wait(SECONDS_MAX) == 0
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            dev.ask()
        assert "katana dev: toy.py changed" in dev.log.read_text()


def test_dev_replaces_an_application_while_it_serves_and_fails_no_request(tmp_path):
    """Changes under load; a configuration that is wrong leaves the program that serves."""
    home = tmp_path / "toy"
    home.mkdir()
    program = built("application_server")
    (home / "CMakeLists.txt").write_text(CMAKE.split("add_custom_target")[0] + "add_custom_target(toy ALL COMMAND cp "
                                         f"--remove-destination {program} ${{CMAKE_BINARY_DIR}}/toy)\n")

    def write(reactors):
        (home / "toy.yaml").write_text(json.dumps({
            "greeting": "Hello, World!", "http": {"reactors": reactors, "drain_notice": "0s"},
            "restart": {"spread": "0s", "idle": "1s"}, "database": {"url": f"sqlite:{tmp_path}/users.db"}}))

    write(1)
    with Dev(home, "--", "--config", "toy.yaml") as dev:
        dev.wait(lambda: urllib.request.urlopen(f"http://127.0.0.1:{dev.port}/greeting", timeout=5), "the first build")
        load = Load(dev.port, connections=4, keep_alive=False)
        load.request = load.request.replace(b"/plaintext", b"/greeting")
        try:
            load.start()
            for count, reactors in ((1, 2), (2, 3)):
                write(reactors)
                dev.wait(lambda count=count: dev.log.read_text().count("is replaced") == count, "a change")
            write(-2)
            dev.wait(lambda: "did not start; the one before goes on" in dev.log.read_text(), "a mistake")
            write(1)
            dev.wait(lambda: dev.log.read_text().count("is replaced") == 3, "its end")
            failed = load.stop()
        finally:
            load.ending = True
        assert failed == [] and load.finished > 0, failed[:5]
        dev.process.send_signal(signal.SIGINT)
        assert dev.process.wait(SECONDS_MAX) == 0
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            dev.ask()


def test_dev_says_that_the_program_ended_and_waits(tmp_path):
    home = toy(tmp_path, "one")
    (home / "toy.py").write_text("#!/bin/sh\nexit 3\n")
    with Dev(home) as dev:
        dev.wait(lambda: "the program ended (exit status 3)" in dev.log.read_text(), "a program that ends")
        toy(tmp_path, "two")
        dev.wait(lambda: dev.ask() == "two --set development=true", "a program that stays")


def test_dev_leaves_a_port_in_use_alone(tmp_path):
    home = toy(tmp_path, "one")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("dev", "--port", str(taken.getsockname()[1]), cwd=home)
        assert done.returncode == 1 and "choose another --port" in done.stderr, done.stderr

# SPDX-License-Identifier: Apache-2.0
