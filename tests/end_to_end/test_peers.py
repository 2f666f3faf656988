"""The address of a client is known whatever the client does: limits count it, and records name it."""
import collections
import json
import signal
import socket
import struct

from application_process import Application

CLIENTS = 2000
BURST = 5       # tokens of /limited/, which is hardly ever filled again


def ask_and_reset(port, count):
    """Send one request on each of `count` connections, and reset it at once, without reading a reply."""
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port), timeout=20)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(b"GET /limited/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.close()


def test_clients_that_reset_after_sending_are_limited_and_named(engine, tmp_path):
    """A socket that was reset has no address any more: its client is limited, and logged, all the same."""
    log = tmp_path / "log.jsonl"
    with Application(tmp_path, "--set", f"http.engine={engine}", "--set", f"log.json_file={log}",
                     "--set", "log.console=false", "--set", "log.when_full=block") as program:
        ask_and_reset(int(program.ready["port"]), CLIENTS)
        program.send_signal(signal.SIGTERM)
        assert program.process.wait(60) == 0, program.stderr()
    written = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert sum(record["message"].startswith("stopped after ") for record in written) == 1
    records = [record for record in written if record.get("route") == "/limited/"]
    statuses = collections.Counter(record["status"] for record in records)
    unnamed = sum(not record["peer"] for record in records)
    assert unnamed == 0 and statuses[200] <= BURST, f"{unnamed} of {len(records)} without a peer; statuses {statuses}"
    assert all(record["peer"].startswith("127.0.0.1:") for record in records)
    # io_uring has to ask for the address, and closes those that had left by then; the others are told.
    if engine != "io_uring":
        assert len(records) == CLIENTS and statuses[200] == BURST, statuses

# SPDX-License-Identifier: Apache-2.0
