"""A stranger: asks a site for pages that it must not see, by HTTP/1.1 and HTTP/2, with and without TLS.

It may come from any address of the loopback network, say any Host, send any header, and write a path in any way.
"""
import socket
import ssl

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from raw_client import Reader

SECONDS_MAX = 20
STRANGER = "127.0.0.2"  # not the address of a proxy that a recipe trusts
PAGES = ("/metrics", "/", "/dashboard.js", "/dashboard/lines", "/queues")
# Ways to write /metrics that a proxy may take for another path.
ODD_PATHS = ("//metrics", "/%6detrics", "/metrics/", "/metrics;x=1", "/./metrics", "/api/../metrics", "/metrics?x",
             "/METRICS", "/metrics%2f", "/metrics%00", "/metrics%0d%0ax:y", "/api/users/..%2f..%2fmetrics",
             "/metrics%3f", "/%2e/metrics", "/\\metrics", "///metrics//")
# Ways in which a client may look like this machine to a program that believes it.
FORGED = {
    "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost", "X-Forwarded-Proto": "https",
    "X-Forwarded-Port": "443", "X-Forwarded-Prefix": "/metrics", "X-Forwarded-Server": "localhost",
    "X-Forwarded": "127.0.0.1", "Forwarded": "for=127.0.0.1;host=localhost;proto=https;by=127.0.0.1",
    "Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", "X-Client-IP": "127.0.0.1", "True-Client-IP": "127.0.0.1",
    "X-Original-URL": "/metrics", "X-Rewrite-URL": "/metrics", "X-Original-Host": "localhost", "X-Host": "localhost",
    "X-Cluster-Client-IP": "127.0.0.1", "CF-Connecting-IP": "127.0.0.1", "Via": "1.1 localhost",
    "X-Forwarded-Ssl": "on", "Front-End-Https": "on", "X-Scheme": "https",
    "X-HTTP-Method-Override": "GET", "Origin": "http://localhost",
    "Sec-Fetch-Site": "same-origin", "Authorization": "Bearer ",
    "Connection": "close, X-Forwarded-For, X-Forwarded-Proto, Host",
}
LISTS = {
    "X-Forwarded-For": "127.0.0.1, 127.0.0.1", "X-Forwarded-Proto": "https, https",
    "X-Forwarded-Host": "localhost, localhost",
    "Forwarded": "for=127.0.0.1, for=127.0.0.1;proto=https;host=localhost",
}
HOSTS = ("localhost", "localhost:9100", "127.0.0.1", "127.0.0.1:8080", "[::1]", "0.0.0.0", "evil.example", "10.0.0.1",
         "localhost.", "LOCALHOST")


class Answer:
    """Status, fields and content; status 0: the connection ended without a reply."""

    def __init__(self, status=0, fields=None, body=b""):
        self.status, self.fields, self.body = status, fields or {}, body

    def shows_something(self):
        """Whether it has content, and is no refusal."""
        return 200 <= self.status < 300 and bool(self.body)

    def shows_application(self):
        """Whether it is a reply of the API."""
        return self.status == 200 and "json" in self.fields.get("content-type", "")

    def __repr__(self):
        return f"{self.status} {self.body[:200]!r}"


def without_checks():
    """TLS without checks of the certificate, by any version of HTTP that is asked for."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Stranger:
    """A client that reaches one port of a site. It keeps its connections as long as the site does."""

    def __init__(self, port, name, tls=False, source=STRANGER):
        self.port, self.name, self.tls, self.source = port, name, tls, source
        self.kept, self.kept_h2 = None, None  # a socket; a socket with its connection of HTTP/2

    def _connect(self, protocol):
        sock = socket.create_connection(("127.0.0.1", self.port), SECONDS_MAX, source_address=(self.source, 0))
        if not self.tls:
            return sock
        context = without_checks()
        context.set_alpn_protocols([protocol])
        wrapped = context.wrap_socket(sock, server_hostname=self.name)
        assert wrapped.selected_alpn_protocol() in (None, protocol)
        return wrapped

    def close(self):
        """End the kept connections."""
        for each in (self.kept, self.kept_h2 and self.kept_h2[0]):
            if each:
                each.close()
        self.kept, self.kept_h2 = None, None

    def __del__(self):
        self.close()

    def ask(self, target="/", host=None, fields=(), method="GET", content=b""):
        """One request of HTTP/1.1; `fields`: pairs, or a dictionary. A second time where a kept connection is over."""
        pairs = list(fields.items() if isinstance(fields, dict) else fields)
        lines = [f"{method} {target} HTTP/1.1", *([f"Host: {host or self.name}"] if host != "" else []),
                 *(f"{name}: {value}" for name, value in pairs)]
        if content:
            lines.append(f"Content-Length: {len(content)}")
        octets = "\r\n".join([*lines, "", ""]).encode("latin-1") + content
        for _ in range(2):
            was_kept, sock = self.kept is not None, self.kept or self._connect("http/1.1")
            self.kept = None
            try:
                sock.sendall(octets)
                answer, ends = read_reply(sock)
            except (EOFError, ConnectionError, ssl.SSLError):
                sock.close()
                if not was_kept:
                    break
                continue
            if ends:
                sock.close()
            else:
                self.kept = sock
            return answer
        return Answer()

    def ask_h2(self, target="/", host=None, fields=()):
        """The same by HTTP/2. Needs TLS."""
        pairs = list(fields.items() if isinstance(fields, dict) else fields)
        head = [(":method", "GET"), (":path", target), (":scheme", "https"), (":authority", host or self.name)]
        head += [(name.lower(), value) for name, value in pairs if name.lower() != "connection"]
        for _ in range(2):
            was_kept, kept = self.kept_h2 is not None, self.kept_h2
            self.kept_h2 = None
            if kept is None:
                connection = h2.connection.H2Connection(h2.config.H2Configuration(
                    validate_outbound_headers=False, normalize_outbound_headers=False))
                connection.initiate_connection()
                kept = (self._connect("h2"), connection)
            sock, connection = kept
            try:
                stream = connection.get_next_available_stream_id()
                connection.send_headers(stream, head, end_stream=True)
                sock.sendall(connection.data_to_send())
                answer = read_h2(sock, connection, stream)
            except (EOFError, ConnectionError, ssl.SSLError, h2.exceptions.H2Error):
                sock.close()
                if not was_kept:
                    break
                continue
            self.kept_h2 = kept
            return answer
        return Answer()


def read_reply(sock):
    """One reply, whose content has a length, chunks, or the end of the stream; and whether its connection ends."""
    reader = Reader(sock)
    head = reader.head()
    ends = head.fields.get("connection", "").lower() == "close"
    if "chunked" in head.fields.get("transfer-encoding", ""):
        body = b""
        while size := int(reader.line().split(b";")[0], 16):
            body += reader.take(size)
            reader.take(2)
        while reader.line():
            pass
    elif "content-length" in head.fields:
        body = reader.take(int(head.fields["content-length"]))
    elif head.status in (204, 304):
        body = b""
    else:
        while reader.more():
            pass
        body, ends = bytes(reader.data), True
    return Answer(head.status, head.fields, body), ends


def read_h2(sock, connection, stream):
    """The reply to a stream; the only one that is open."""
    answer = Answer()
    while True:
        received = sock.recv(1 << 16)
        if not received:
            raise EOFError("the connection ended")
        done = False
        for event in connection.receive_data(received):
            if isinstance(event, h2.events.ResponseReceived):
                text = {name.decode(): value.decode("latin-1") for name, value in event.headers}
                answer.status, answer.fields = int(text.pop(":status")), text
            elif isinstance(event, h2.events.DataReceived):
                answer.body += event.data
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                done = done or event.stream_id == stream
            elif isinstance(event, h2.events.ConnectionTerminated):
                raise EOFError("GOAWAY")
        sock.sendall(connection.data_to_send())
        if done:
            return answer


def every_disguise(name):
    """Yield (target, host, fields): all that a stranger tries to see a page of operators of a site of this name."""
    for target in (*PAGES, *ODD_PATHS):
        yield target, None, {}
    for host in (*HOSTS, f"{name}:9100"):
        yield "/metrics", host, {}
    for target in ("http://localhost/metrics", "http://127.0.0.1:9100/metrics", f"https://{name}/metrics", "*"):
        yield target, None, {}
    for host in (None, "localhost"):
        for forged in ({each: value} for each, value in (*FORGED.items(), *LISTS.items())):
            yield "/metrics", host, forged
    everything = list(FORGED.items()) + list(LISTS.items())
    yield "/metrics", "localhost", [pair for pair in everything if pair[0] != "Connection"]


def sees_operations(stranger, versions):
    """Return what showed a page of operators to a stranger; `versions`: ask, or ask and ask_h2."""
    shown = []
    for target, host, fields in every_disguise(stranger.name):
        for version in versions:
            answer = getattr(stranger, version)(target, host, fields)
            if answer.shows_something():
                shown.append((version, target, host, fields, answer))
    return shown


def is_rebound(stranger, versions, target="/api/users"):
    """Return what let a page of another site, whose name leads here, read a reply: good names where Host is not."""
    let = []
    forged = [{}, {"X-Forwarded-Host": stranger.name}, {"Forwarded": f"host={stranger.name}"},
              {"X-Forwarded-Host": "localhost"}, {"Forwarded": "for=127.0.0.1;host=localhost"},
              {"X-Host": stranger.name}, {"X-Original-Host": stranger.name}, {"X-Forwarded-Server": stranger.name}]
    for host in ("evil.example", f"{stranger.name}.evil.example", f"evil.example:{stranger.port}"):
        for fields in forged:
            for version in versions:
                answer = getattr(stranger, version)(target, host, fields)
                if answer.shows_application():
                    let.append((version, host, fields, answer))
    return let


# SPDX-License-Identifier: Apache-2.0
