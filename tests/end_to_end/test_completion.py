"""Completion of katana in bash, zsh and fish at a terminal, and its manual page: both say what --help lists."""
import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("KATANA_BUILD", "build/release")).resolve()
SCRIPTS = ROOT / "apps/katana_tool/completion"
SECONDS_MAX = 60


def run(*arguments, program="katana"):
    return subprocess.run([BUILD / program, *arguments], capture_output=True, text=True, check=True,
                          timeout=SECONDS_MAX)


def words(*line, program="katana"):
    """The completions of the last word."""
    return [found.split("\t")[0] for found in run("--complete", *line, program=program).stdout.splitlines()]


def commands(*path):
    """Every command that --help of another lists, by its words."""
    text = run(*path, "--help").stdout
    listed = re.findall(r"^  (\w+) ", text.split("\nCommands:\n")[1], re.M) if "\nCommands:\n" in text else []
    return [path, *(each for name in listed for each in commands(*path, name))]


def flags(*path):
    return set(re.findall(r"(?:^  |^  -\w, )(--[\w-]+)", run(*path, "--help").stdout, re.M))


ALL = commands()


def test_every_command_and_flag_of_help_is_completed():
    assert len(ALL) > 10, ALL
    for path in ALL:
        # --version is a flag of the program alone, and none is offered where a command is expected.
        assert set(words(*path, "--")) == flags(*path), path
        below = [other[-1] for other in ALL if len(other) == len(path) + 1 and other[:-1] == path]
        if below:
            assert words(*path, "") == below, path


@pytest.mark.parametrize("line, offered", [
    (["new", "shop", "--database", "s"], ["sqlite"]),
    (["new", "shop", "--database=s"], ["--database=sqlite"]),
    (["new", "shop", "--with", "websocket,o"], ["websocket,openapi"]),
    (["new", "shop", "--with", "websocket,w"], []),
    (["new", "--database", "none", "--data"], []),
    (["add", "route", "DEL"], ["DELETE"]),
    (["add", "route", "GET", "/", ""], ["--help", "--file"]),
    (["migrate", "--dir", ""], [":folder"]),
    (["log", "--level", "warn", "one.bin", ""], [":file"]),
    (["dev", "--", "--p"], []),
    (["nothing", "--unknown", "x"], []),
    ([], []),
])
def test_what_may_come_depends_on_what_stands_before(line, offered):
    assert words(*line) == offered


def test_older_names_complete_as_their_commands():
    assert words("--f", program="katana-log") == ["--format"]
    assert words("--dir", "", program="katana-migrate") == [":folder"]


class Terminal:
    """A shell at its own terminal."""

    def __init__(self, home, *command):
        self.seen = ""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(home / "work")
            os.environ.update(PATH=f"{home}/bin:{os.environ['PATH']}", HOME=str(home), TERM="dumb")
            os.execvp(command[0], command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)

    def type(self, text, until):
        """The output after the typed text, as soon as `until` is in it."""
        begin, end = len(self.seen), time.monotonic() + SECONDS_MAX
        os.write(self.descriptor, text.encode())
        while until not in self.seen[begin:]:
            left = end - time.monotonic()
            assert left > 0 and select.select([self.descriptor], [], [], left)[0], (until, self.seen)
            self.seen += os.read(self.descriptor, 4096).decode(errors="replace")


SHELLS = {  # how each begins, and reads its script
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"source {SCRIPTS}/katana.bash"),
    "zsh": (["zsh", "-f", "-i"], "setopt no_auto_remove_slash; autoload -U compinit; compinit -u -D; "
            f"source {SCRIPTS}/katana.zsh"),
}
LINES = [  # typed, and what its last word becomes by a tab
    ("katana conf", "config"),
    ("katana new shop --databa", "--database"),
    ("katana new shop --database sq", "sqlite"),
    ("katana new shop --with=job,o", "--with=job,openapi"),
    ("katana add route PA", "PATCH"),
    ("katana log reco", "records.bin"),
    ("katana migrate --database=reco", "--database=records.bin"),
    ("katana migrate --dir fol", "folder/"),
    ("katana-log --form", "--format"),
]


@pytest.fixture(name="home")
def folder_with_a_file_and_programs(tmp_path):
    """The programs complete as they are, and otherwise print their arguments."""
    (tmp_path / "bin").mkdir()
    for name in ("katana", "katana-log"):
        (tmp_path / f"bin/{name}").write_text(
            f'#!/bin/sh\n[ "$1" != --complete ] || exec {BUILD}/{name} "$@"\nprintf "<%s>" "$@"; echo\n')
        (tmp_path / f"bin/{name}").chmod(0o755)
    (tmp_path / "work/folder").mkdir(parents=True)
    (tmp_path / "work/records.bin").touch()
    return tmp_path


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_at_its_terminal(home, shell):
    command, begin = SHELLS[shell]
    with Terminal(home, *command) as terminal:
        terminal.type(f"{begin}; echo re''ady\n", "ready")
        for typed, completed in LINES:
            terminal.type(f"{typed}\t\n", f"<{completed}>\r\n")


def test_fish_completes(home):
    for typed, completed in LINES:
        done = subprocess.run(["fish", "--no-config", "--command",
                               f'source {SCRIPTS}/katana.fish; complete --do-complete "{typed}"'],
                              cwd=home / "work", capture_output=True, text=True, timeout=SECONDS_MAX, check=True,
                              env={**os.environ, "PATH": f"{home}/bin:{os.environ['PATH']}", "HOME": str(home)})
        assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [completed], (typed, done.stdout)


@pytest.fixture(name="manual", scope="module")
def manual_of_the_program(tmp_path_factory):
    page = tmp_path_factory.mktemp("manual") / "katana.1"
    page.write_text(run("--manual").stdout)
    return page


def test_the_manual_has_every_command_and_flag(manual):
    text = manual.read_text().replace("\\-", "-")
    for path in ALL:
        section = text
        if len(path) > 1 or path and not any(other[:-1] == path for other in ALL):
            heading = f".SS katana {' '.join(path)}\n"
            assert heading in text, heading
            section = re.split(r"^\.S[SH] ", text.split(heading)[1], maxsplit=1, flags=re.M)[0]
        for flag in flags(*path) - {"--help"}:
            assert f"\\fB{flag}\\fR" in section, (path, flag)


def test_the_manual_is_a_page_without_findings(manual):
    done = subprocess.run(["man", "--warnings", "--local-file", manual], capture_output=True, text=True, check=True,
                          timeout=SECONDS_MAX, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
    assert done.stderr == "" and "katana new [flags] NAME" in done.stdout, done
    lint = subprocess.run(["mandoc", "-T", "lint", manual], capture_output=True, text=True, check=False,
                          timeout=SECONDS_MAX)
    assert lint.stdout == "", lint.stdout

# SPDX-License-Identifier: Apache-2.0
