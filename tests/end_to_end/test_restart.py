"""SIGUSR2: another process of the program has the listening sockets before this one ends, and no client is refused."""
import os
import shutil
import signal
import threading
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import program_process
from lineage import Lineage, is_alive, wait_until
from load import Load
from raw_client import eventually, exchange, request
from server_process import PROGRAM, Server, environment

RESTARTS = 3
REQUESTS_BETWEEN = 300
NOT_RESTARTED = "not restarted, this process goes on"


class Copied(Server):
    """A server whose program is a copy, so that a test can put another one in its place."""

    @classmethod
    def start(cls, folder, *flags):
        """Start a copy in the folder."""
        path = folder / PROGRAM
        shutil.copy(program_process.built(PROGRAM), path)
        server = cls.__new__(cls)
        server.path = path
        server._start(PROGRAM, [str(path), "--port", "0", "--threads", "2", *flags], env=environment())
        return server

    def put(self, script):
        """Replace the program by a script; none: by the program itself, in a new file."""
        fresh = self.path.with_suffix(".new")
        if script is None:
            shutil.copy(program_process.built(PROGRAM), fresh)
        else:
            fresh.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
            fresh.chmod(0o755)
        fresh.replace(self.path)


def serve_for_a_while(loads):
    """Wait until every load has been served from here on."""
    for load in loads:
        end = load.finished + REQUESTS_BETWEEN
        assert eventually(lambda load=load, end=end: load.crash or load.finished > end, seconds=30), load.failed
        assert not load.crash, load.crash


def test_restarts_under_load_fail_no_request_and_refuse_no_connection(engine):
    """Kept connections and one request each, at once."""
    with Lineage(Server("--restart-spread-s", "0", engine=engine)) as lineage:
        loads = [Load(lineage.first.port, connections=16, keep_alive=keep) for keep in (True, False)]
        try:
            for load in loads:
                load.start()
            for _ in range(RESTARTS):
                serve_for_a_while(loads)
                lineage.restart()
            serve_for_a_while(loads)
            failed = [each for load in loads for each in load.stop()]
        finally:
            for load in loads:
                load.ending = True
        assert failed == [], f"{len(failed)} of {sum(load.finished for load in loads)}: {failed[:5]}"
        for each in lineage.processes[:-1]:
            lineage.wait_for_end_of(each)
        lineage.end()
        assert NOT_RESTARTED not in lineage.first.stderr()


def cpus_of(process):
    """The CPUs to which a thread of a process is bound alone."""
    found = set()
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/status", encoding="utf-8") as status:
            found |= {line.split()[1] for line in status if line.startswith("Cpus_allowed_list:")}
    return {each for each in found if each.isdecimal()}


def test_pinned_reactors_of_a_successor_are_spread_as_those_before():
    """The thread that starts a successor is begun by a reactor that is bound to a CPU."""
    wanted = min(2, len(os.sched_getaffinity(0)))
    with Lineage(Server("--pin", "--restart-spread-s", "0", threads=2)) as lineage:
        for _ in range(3):      # threads are bound as they begin to run, which may be after the line that they do
            process = lineage.pid
            assert eventually(lambda process=process: len(cpus_of(process)) == wanted, seconds=10), cpus_of(process)
            lineage.restart()


def test_a_connection_that_is_idle_may_begin_one_more_request(engine):
    """The process that ends answers it, and says that it is the last one."""
    with Lineage(Server("--restart-spread-s", "0", engine=engine)) as lineage:
        sock = lineage.first.connect()
        assert exchange(sock, request()).status == 200
        lineage.restart()
        time.sleep(0.5)     # a process that ends as by SIGTERM closes it in this time
        reply = exchange(sock, request())
        assert reply.status == 200 and reply.fields["connection"] == "close"
        assert sock.recv(1) == b""
        lineage.end()


@pytest.mark.parametrize(("script", "why"), [
    ("exit 3", "ended with status 3 before it was ready"),
    ("kill -9 $$", "ended by signal 9"),
    ("exec sleep 60", "was not ready within"),
], ids=["ends", "killed", "never-ready"])
def test_a_successor_that_fails_changes_nothing_and_the_next_one_is_taken(tmp_path, script, why):
    """The program file is replaced by one that fails, and then by a good one."""
    with Lineage(Copied.start(tmp_path, "--restart-ready-s", "1")) as lineage:
        server = lineage.first
        server.put(script)
        server.send_signal(signal.SIGUSR2)
        wait_until(lambda: NOT_RESTARTED in server.stderr(), server.stderr)
        assert why in server.stderr() and server.alive()
        with server.connect() as sock:
            reply = exchange(sock, request())
            assert reply.status == 200 and "connection" not in reply.fields
        server.put(None)
        lineage.restart()
        lineage.end()


def test_sigterm_calls_a_restart_off(tmp_path):
    """A program that is ended with SIGTERM does not start another one."""
    with Lineage(Copied.start(tmp_path)) as lineage:
        server = lineage.first
        server.put(f"echo $$ > {tmp_path}/started.new; mv {tmp_path}/started.new {tmp_path}/started; exec sleep 60")
        server.send_signal(signal.SIGUSR2)
        wait_until((tmp_path / "started").exists, server.stderr)
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
        successor = int((tmp_path / "started").read_text(encoding="ascii"))
        assert not is_alive(successor)


def test_websockets_are_told_to_come_back_one_after_another(engine):
    """1012, spread over the time that was set; echoes go on until then."""
    count, spread = 24, 1.0
    echoed, ended = [], []

    def client(port):
        with connect(f"ws://127.0.0.1:{port}/ws") as socket:
            try:
                while True:
                    socket.send("again")
                    assert socket.recv(timeout=20) == "again"
                    echoed.append(socket)
                    time.sleep(0.02)    # leaves the processor to the others
            except ConnectionClosed as closed:
                ended.append((time.monotonic(), closed.rcvd.code if closed.rcvd else None))

    with Lineage(Server("--restart-spread-s", str(spread), engine=engine)) as lineage:
        threads = [threading.Thread(target=client, args=(lineage.first.port,)) for _ in range(count)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(set(echoed)) == count, lineage.first.stderr)
        lineage.restart()
        for thread in threads:
            thread.join(30)
        assert [code for _, code in ended] == [1012] * count
        middle = min(moment for moment, _ in ended) + spread / 2
        in_halves = [sum(moment < middle for moment, _ in ended), sum(moment >= middle for moment, _ in ended)]
        assert min(in_halves) >= count // 4, in_halves
        with connect(f"ws://127.0.0.1:{lineage.first.port}/ws") as socket:
            socket.send("here")
            assert socket.recv(timeout=20) == "here"
        lineage.end()

# SPDX-License-Identifier: Apache-2.0
