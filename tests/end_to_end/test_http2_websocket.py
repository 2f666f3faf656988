"""WebSocket on streams of HTTP/2 (RFC 8441) with h2 and wsproto: as it stands and under TLS, drain, refusals."""
import signal
import socket
import ssl

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from server_process import Server

SECONDS_MAX = 20


class Streams:
    """A connection of HTTP/2 whose streams can be WebSocket ones."""

    def __init__(self, server, tls=False):
        self.sock = socket.create_connection(("127.0.0.1", server.port), SECONDS_MAX)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_alpn_protocols(["h2"])
            self.sock = context.wrap_socket(self.sock, server_hostname="localhost")
            assert self.sock.selected_alpn_protocol() == "h2"
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.http.initiate_connection()
        self.sockets, self.status, self.received, self.ended = {}, {}, {}, set()
        self.kept, self.goodbye = b"", False
        self.pump(lambda: self.http.remote_settings.get(h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL) == 1)

    def flush(self):
        """Send the waiting bytes."""
        if data := self.http.data_to_send():
            self.sock.sendall(data)

    def pump(self, done):
        """Receive until `done`, or the end."""
        self.flush()
        while not done():
            data = self.sock.recv(65536)
            if not data:
                return False
            for event in self.http.receive_data(self.without_goodbye(data)):
                self.take(event)
            self.flush()
        return True

    def without_goodbye(self, data):
        """Whole frames but GOAWAY, behind which h2 takes nothing any more, although streams go on (RFC 9113 §6.8)."""
        self.kept += data
        frames = b""
        while len(self.kept) >= 9 and len(self.kept) >= (size := 9 + int.from_bytes(self.kept[:3], "big")):
            frame, self.kept = self.kept[:size], self.kept[size:]
            if frame[3] == 7:
                assert int.from_bytes(frame[13:17], "big") == 0, frame
                self.goodbye = True
            else:
                frames += frame
        return frames

    def take(self, event):
        """One event of HTTP/2."""
        if isinstance(event, h2.events.ResponseReceived):
            self.status[event.stream_id] = dict(event.headers)[":status"]
        elif isinstance(event, h2.events.DataReceived):
            self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.data and event.stream_id in self.sockets and self.status[event.stream_id] == "200":
                self.hear(event.stream_id, event.data)
        elif isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
            self.ended.add(event.stream_id)

    def hear(self, stream, data):
        """Record the server's messages on a WebSocket stream; answer its close frame and its pings."""
        self.sockets[stream].receive_data(data)
        for event in self.sockets[stream].events():
            self.received[stream].append(event)
            if isinstance(event, (CloseConnection, Ping)) and self.sockets[stream].state.name != "CLOSED":
                self.send(stream, event.response())
            if isinstance(event, CloseConnection):
                self.http.end_stream(stream)

    def connect(self, path, *more):
        """Ask for a WebSocket connection on a new stream; return the stream."""
        stream = self.http.get_next_available_stream_id()
        self.http.send_headers(stream, [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"),
                                        (":path", path), (":authority", "localhost"),
                                        ("sec-websocket-version", "13"), *more])
        self.sockets[stream], self.received[stream] = Connection(ConnectionType.CLIENT), []
        self.pump(lambda: stream in self.status or stream in self.ended)
        return stream

    def send(self, stream, event):
        """Say it on the stream, as its window allows."""
        data = self.sockets[stream].send(event)
        while data:
            self.pump(lambda: self.http.local_flow_control_window(stream) > 0)
            size = min(len(data), self.http.local_flow_control_window(stream), self.http.max_outbound_frame_size)
            self.http.send_data(stream, data[:size])
            data = data[size:]
        self.flush()

    def messages(self, stream):
        """The complete messages so far, as bytes or text."""
        whole, part = [], None
        for event in self.received[stream]:
            if isinstance(event, (TextMessage, BytesMessage)):
                part = event.data if part is None else part + event.data
                if event.message_finished:
                    whole.append(part)
                    part = None
        return whole


@pytest.fixture(params=["plain", "tls"])
def streams(request, engine):
    """A connection to a server on each engine, as it stands and under TLS."""
    tls = request.param == "tls"
    with Server(*(["--tls-dev"] if tls else []), engine=engine) as server:
        connection = Streams(server, tls)
        yield connection
        connection.sock.close()


def test_messages_come_back_on_many_streams_of_one_connection(streams):
    """Small and large ones, text and bytes, beside a request."""
    opened = [streams.connect("/ws") for _ in range(5)]
    large = bytes(range(256)) * 2000
    for number, stream in enumerate(opened):
        assert streams.status[stream] == "200"
        streams.send(stream, TextMessage(f"grüße {number}"))
        streams.send(stream, BytesMessage(large))
        streams.send(stream, Ping(b"there?"))
    get = streams.http.get_next_available_stream_id()
    streams.http.send_headers(get, [(":method", "GET"), (":scheme", "http"), (":path", "/plaintext"),
                                    (":authority", "localhost")], end_stream=True)
    streams.pump(lambda: get in streams.ended and all(len(streams.messages(each)) == 2 for each in opened)
                 and all(isinstance(streams.received[each][-1], Pong) for each in opened))
    assert streams.status[get] == "200"
    for number, stream in enumerate(opened):
        assert streams.messages(stream) == [f"grüße {number}", large]
        streams.send(stream, CloseConnection(1000, "enough"))
    streams.pump(lambda: streams.ended.issuperset(opened))
    assert all(streams.received[each][-1].code == 1000 for each in opened)


def test_what_is_no_handshake_is_answered_and_the_connection_goes_on(streams):
    """Another path, a page of another host, another protocol; and CONNECT itself."""
    assert streams.status[streams.connect("/nowhere")] == "404"
    assert streams.status[streams.connect("/ws", ("origin", "https://other.example"))] == "403"
    other = streams.http.get_next_available_stream_id()
    streams.http.send_headers(other, [(":method", "CONNECT"), (":protocol", "connect-udp"), (":scheme", "http"),
                                      (":path", "/ws"), (":authority", "localhost")])
    plain = streams.http.get_next_available_stream_id()
    streams.http.send_headers(plain, [(":method", "CONNECT"), (":authority", "localhost:80")])
    streams.pump(lambda: other in streams.status and plain in streams.status)
    assert (streams.status[other], streams.status[plain]) == ("501", "501")
    assert streams.status[streams.connect("/ws")] == "200"


def test_a_server_that_stops_says_1001_on_every_stream_and_goodbye(engine):
    """No message is cut off."""
    with Server(engine=engine) as server:
        streams = Streams(server)
        opened = [streams.connect("/ws") for _ in range(3)]
        server.send_signal(signal.SIGTERM)
        assert not streams.pump(lambda: False), "the server ends the connection"
        assert [streams.received[each][-1].code for each in opened] == [1001] * 3
        assert streams.goodbye
        streams.sock.close()
        assert server.wait() == 0
        assert server.drain_report()["cut_off"] == 0

# SPDX-License-Identifier: Apache-2.0
