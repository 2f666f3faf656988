"""fullstack restarted under load: TLS, HTTP/1.1 and HTTP/2, users in SQLite; nothing that was acknowledged is lost."""
import json
import select
import socket
import sqlite3
import ssl
import struct
import threading

import h2.config
import h2.connection
import h2.events

from fullstack_process import FullStack
from lineage import Lineage
from raw_client import Reader, eventually, request

RESTARTS = 3
ADDED_BETWEEN = 60
CLIENTS = 4     # for each version
HEADER, GOAWAY = 9, 7   # a frame's header in bytes, a frame's type


class Secure(threading.Thread):
    """A client that adds a user and reads it again, for ever; one request at a time, each of which must be answered.

    A connection that the server ended before the request was sent is no failure: the next one takes its place.
    """

    def __init__(self, port, number, protocol):
        super().__init__(daemon=True)
        self.port, self.name, self.protocol = port, f"{protocol}-{number}".replace("/", "-"), protocol
        self.added, self.failed, self.ending = [], [], False
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.context.set_alpn_protocols([protocol])

    def connect(self):
        """A connection that speaks this client's protocol."""
        sock = self.context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=20))
        assert sock.selected_alpn_protocol() == self.protocol
        return sock

    def run(self):
        """Add until told to end; a failure is the last thing that it does."""
        while not self.ending and not self.failed:
            try:
                with self.connect() as sock:
                    self.talk(Http2(sock) if self.protocol == "h2" else Http1(sock))
            except Exception as error:      # pylint: disable=broad-except
                self.failed.append(f"{self.name}, after {len(self.added)}: {error!r}")

    def talk(self, connection):
        """Use a connection until it is not to be used any more."""
        while not self.ending and connection.is_open():
            email = f"{self.name}-{len(self.added)}@example.org"
            answer = connection.ask("POST", "/api/users", {"name": self.name, "email": email})
            if answer is None:      # not taken, and said so: on another connection
                return
            status, content = answer
            assert status == 201, answer
            self.added.append(email)
            number = json.loads(content)["id"]
            if not connection.is_open() or (answer := connection.ask("GET", f"/api/users/{number}")) is None:
                return
            assert answer[0] == 200 and json.loads(answer[1])["email"] == email, answer


class Http1:
    """Requests on one connection, one after another."""

    def __init__(self, sock):
        self.sock, self.reader, self.last = sock, Reader(sock), False

    def is_open(self):
        """False once the server has said that it ends, or did."""
        if self.last:
            return False
        while select.select([self.sock], [], [], 0)[0]:     # a ticket of TLS, or the end
            self.sock.settimeout(0)
            try:
                return self.sock.recv(1) != b""
            except ssl.SSLWantReadError:
                continue
            except OSError:
                return False
            finally:
                self.sock.settimeout(20)
        return True

    def ask(self, method, path, content=None):
        """Return status and content."""
        fields = "Content-Type: application/json\r\n" if content else ""
        self.sock.sendall(request(path, method, fields, json.dumps(content).encode() if content else b""))
        reply = self.reader.reply()
        self.last = reply.fields.get("connection", "").lower() == "close"
        return reply.status, reply.body


class Http2:
    """The same as streams. h2 takes a connection for ended by the first GOAWAY, so it is not shown any."""

    def __init__(self, sock):
        self.sock, self.last_taken, self.data = sock, None, b""
        self.machine = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.machine.initiate_connection()
        self.flush()

    def flush(self):
        """Send the machine's output."""
        self.sock.sendall(self.machine.data_to_send())

    def is_open(self):
        """False once the server has said that it takes no more streams, or is gone."""
        while self.last_taken is None and (self.sock.pending() or select.select([self.sock], [], [], 0)[0]):
            self.sock.settimeout(0)
            try:
                self.receive()
            except ssl.SSLWantReadError:
                break
            except OSError:
                return False
            finally:
                self.sock.settimeout(20)
        return self.last_taken is None

    def receive(self):
        """The received bytes, as events; a GOAWAY is noted. OSError: the end."""
        received = self.sock.recv(1 << 16)
        if not received:
            raise ConnectionError("the end of the stream")
        self.data += received
        shown = b""
        while len(self.data) >= (size := HEADER + int.from_bytes(self.data[:3], "big")):
            frame, self.data = self.data[:size], self.data[size:]
            if frame[3] == GOAWAY:
                self.last_taken, error = struct.unpack_from("!II", frame, HEADER)
                assert error == 0, frame
            else:
                shown += frame
        return self.machine.receive_data(shown)

    def ask(self, method, path, content=None):
        """Return status and content; None when the server said that it did not look at the request."""
        stream = self.machine.get_next_available_stream_id()
        fields = [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
        if content:
            fields.append(("content-type", "application/json"))
        self.machine.send_headers(stream, fields, end_stream=not content)
        if content:
            self.machine.send_data(stream, json.dumps(content).encode(), end_stream=True)
        self.flush()
        status, body, ended = 0, b"", False
        while not ended:
            if self.last_taken is not None and stream > self.last_taken:
                return None
            for event in self.receive():
                assert not isinstance(event, h2.events.StreamReset), event
                if isinstance(event, h2.events.ResponseReceived):
                    status = int(dict(event.headers)[":status"])
                elif isinstance(event, h2.events.DataReceived):
                    body += event.data
                    self.machine.acknowledge_received_data(event.flow_controlled_length, stream)
                ended = ended or isinstance(event, h2.events.StreamEnded)
            self.flush()
        return status, body


def add_for_a_while(clients):
    """Wait until each client has added some users from here on."""
    ends = [len(client.added) + ADDED_BETWEEN for client in clients]
    assert eventually(lambda: any(client.failed for client in clients) or
                      all(len(client.added) >= end for client, end in zip(clients, ends)), seconds=60), \
        [len(client.added) for client in clients]


def test_users_are_added_by_tls_and_http2_while_the_program_is_restarted(tmp_path):
    """Two processes have the same database for a while. Each POST is answered, and each user is there once."""
    program = FullStack(tmp_path, sets=("http.tls.development=true", "restart.spread=0s",
                                        f"database.url=sqlite:{tmp_path}/users.db"))
    with Lineage(program) as lineage:
        clients = [Secure(program.port, number, protocol)
                   for protocol in ("http/1.1", "h2") for number in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            for _ in range(RESTARTS):
                add_for_a_while(clients)
                lineage.restart()
            add_for_a_while(clients)
        finally:
            for client in clients:
                client.ending = True
            for client in clients:
                client.join(30)
        assert [each for client in clients for each in client.failed] == [], program.stderr()
        for each in lineage.processes[:-1]:
            lineage.wait_for_end_of(each)
        lineage.end()
    with sqlite3.connect(tmp_path / "users.db") as database:
        found = [email for email, in database.execute("SELECT email FROM users")]
    assert sorted(found) == sorted(email for client in clients for email in client.added)

# SPDX-License-Identifier: Apache-2.0
