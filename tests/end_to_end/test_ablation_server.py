"""ablation_server: decisions of an engine that are taken back one by one, for the laboratory."""
import socket

import pytest

import without_io_uring
from raw_client import Reader, request
from server_process import Server, assert_refused, run_program

PROGRAM = "ablation_server"
UNDONE = {
    "epoll-edge": ("read_again=on", "first_read=off", "deferred_accept=off", "inherited_options=off",
                   "delete_before_close=on", "close_at_turn_end=on", "accepts_per_event=1", "events_per_wait=1",
                   "lazy_timers=off"),
    "io_uring": ("deferred_work=off", "enter_again=off", "registered_ring=off", "multishot_receive=off",
                 "first_receive_single=off", "quiet_entries=off", "multishot_accept=off", "shared_buffers=off",
                 "staged_output=off", "receive_kib=64", "completions=64", "submissions=8", "collect_us=20",
                 "lazy_timers=off")}


class AblationServer(Server):
    """hello_world_server whose decisions can be taken back."""

    program = PROGRAM


@pytest.fixture(params=UNDONE)
def undone(request):
    """An engine that can be taken apart, and every decision of it."""
    if request.param == "io_uring" and not without_io_uring.available():
        pytest.skip("io_uring is not allowed here")
    return request.param, UNDONE[request.param]


def test_a_server_whose_decisions_are_all_taken_back_serves_nevertheless(undone):
    """Every decision at once, on kept and on new connections."""
    engine, settings = undone
    with AblationServer(*(flag for setting in settings for flag in ("--decision", setting)), engine=engine) as server:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", server.port), 10) as link:
                reader = Reader(link)
                for _ in range(3):
                    link.sendall(request())
                    assert reader.reply().status == 200


def test_decisions_that_an_engine_has_not_are_refused_with_those_that_it_has(undone):
    """Decisions of one engine are refused by the other."""
    engine, settings = undone
    other = next(setting for name in UNDONE if name != engine for setting in UNDONE[name])
    keys = (setting.split("=")[0] for setting in settings)
    result = run_program("--engine", engine, "--decision", other, program=PROGRAM)
    assert_refused(result, 2, f"'{other}'", *keys, program=PROGRAM)


@pytest.mark.parametrize("arguments, culprit", [
    (["--decision", "first_read"], "first_read"),
    (["--decision", "first_read=maybe"], "on or off"),
    (["--decision", "events_per_wait=1025"], "from 1 to 1024"),
    (["--decision", "colour=red"], "lazy_timers"),
    (["--decision", "read_again=on", "--engine", "epoll-level"], "epoll-edge"),
])
def test_a_decision_that_cannot_be_taken_back_is_exit_2_and_named(arguments, culprit):
    """With what may be given instead."""
    assert_refused(run_program(*arguments, program=PROGRAM), 2, culprit, program=PROGRAM)

# SPDX-License-Identifier: Apache-2.0
