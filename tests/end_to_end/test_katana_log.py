"""katana-log as a program: its output for a binary log, written here byte by byte from the description."""
import json
import os
import re
import struct
import subprocess

import pytest

PROGRAM = os.path.join(os.environ.get("KATANA_BUILD", "build/release"), "katana-log")
SIGNED, TEXT = 2, 7  # kinds of values
LEVELS = ("trace", "debug", "info", "warn", "error", "fatal")


def frame(kind, payload):
    return struct.pack("<IB", len(payload), kind) + payload


def text(value):
    return struct.pack("<I", len(value)) + value


def session():
    return frame(1, b"\x89katana-log 1\r\n\n")


def site(number, level, logger, pattern, kinds=(), fields=()):
    """A call site with positional values of these kinds, and fields (name, kind)."""
    head = struct.pack("<IBIHHH", number, LEVELS.index(level), 7, len(kinds) + len(fields), len(kinds), len(fields))
    values = b"".join(struct.pack("<B", kind) + text(b"") for kind in (*kinds, *(kind for _, kind in fields)))
    names = b"".join(text(name) for name, _ in fields)
    return frame(3, head + values + names + text(logger) + text(pattern) + text(b"x.cpp") + text(b"f"))


def record(number, arguments, context=b"", wall_ns=1_769_903_999_123_456_789):
    return frame(4, struct.pack("<IIqH", number, 41, wall_ns, len(context)) + arguments + context)


def run(*arguments, stdin=b""):
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=30, check=False)


WHOLE = (session() + site(0, "info", b"shop", b"{} of {}", (SIGNED, TEXT), ((b"status", SIGNED),))
         + site(1, "error", b"stock", b"none") + frame(2, struct.pack("<I", 0) + b"request_id")
         + record(0, struct.pack("<q", -3) + text(b"tea\n") + struct.pack("<q", 200),
                  struct.pack("<IB", 0, TEXT) + text(b"a1"))
         + record(1, b""))


@pytest.fixture
def log(tmp_path):
    """A path with WHOLE in it."""
    path = tmp_path / "a.bin"
    path.write_bytes(WHOLE)
    return path


def test_help_and_version():
    """Both on standard output, exit 0."""
    for flag, expected in (("--help", r"--format"), ("--version", r"^katana-log \d+\.\d+\.\d+\n$")):
        result = run(flag)
        assert result.returncode == 0 and result.stderr == b""
        assert re.search(expected, result.stdout.decode())


@pytest.mark.parametrize("arguments, culprit", [([], "FILE"), (["--format", "xml", "a"], "xml"),
                                                (["--level", "loud", "a"], "loud"),
                                                (["--no-such-flag", "a"], "--no-such")])
def test_wrong_usage_is_one_line_and_exit_2(arguments, culprit):
    """It names the culprit."""
    result = run(*arguments)
    lines = result.stderr.decode().splitlines()
    assert result.returncode == 2 and len(lines) == 1 and culprit in lines[0] and result.stdout == b""


def test_a_file_that_is_not_there_is_exit_1():
    """It is named."""
    result = run("/no/such/file")
    assert result.returncode == 1 and b"katana-log: /no/such/file: No such file" in result.stderr


def test_text_has_one_line_for_each_record(log):
    """Logged text cannot end its line."""
    result = run(str(log))
    assert result.returncode == 0 and result.stderr == b""
    assert result.stdout.decode() == (
        "2026-01-31T23:59:59.123456Z info  shop: -3 of tea\\n status=200 request_id=a1\n"
        "2026-01-31T23:59:59.123456Z error stock: none\n")


def test_json_has_one_object_for_each_record(log):
    """Fields keep their types."""
    lines = [json.loads(line) for line in run("--format", "json", str(log)).stdout.splitlines()]
    assert lines[0] == {"time": "2026-01-31T23:59:59.123456Z", "level": "info", "logger": "shop", "thread": 41,
                        "message": "-3 of tea\n", "status": 200, "request_id": "a1"}
    assert len(lines) == 2


def test_level_and_logger_select_records(log):
    """And standard input is a file like others."""
    assert run("--level", "error", str(log)).stdout.count(b"\n") == 1
    assert run("--logger", "shop", "-", stdin=WHOLE).stdout.count(b"\n") == 1


def test_a_file_that_is_cut_is_printed_up_to_the_cut(log):
    """The file of a running program looks like this: exit 0, and a word on standard error."""
    log.write_bytes(WHOLE[:-1])
    result = run(str(log))
    assert result.returncode == 0 and result.stdout.count(b"\n") == 1
    assert b"are the beginning of a record" in result.stderr


def test_damage_is_skipped_and_reported_with_exit_1(log):
    """The records after the damage are printed."""
    log.write_bytes(session() + frame(9, b"?") + WHOLE)
    result = run(str(log))
    assert result.returncode == 1 and result.stdout.count(b"\n") == 2
    assert b"an unknown frame at offset 21" in result.stderr


def test_a_reader_that_leaves_is_exit_1():
    """No signal, one line."""
    command = f"{PROGRAM} - >/dev/full"
    result = subprocess.run(command, shell=True, input=WHOLE, capture_output=True, timeout=30, check=False)
    assert result.returncode == 1 and b"standard output: No space left" in result.stderr

# SPDX-License-Identifier: Apache-2.0
