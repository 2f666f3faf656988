"""A strict, incremental parser of HTTP/1.1 responses, fed by the owner of the socket.

A server that is checked gets no leniency. Bytes that break the grammar of RFC 9112, or that a forwarder could read in
two ways, raise Malformed.
"""
import re

TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2}) [^\r\n\x00]*")
CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,16})(?:[ \t]*;.*)?")
NON_HTTP = "non-http"


class Malformed(Exception):
    """The server sent a response that breaks the HTTP/1.1 grammar."""


class Response:
    """One response. Field names are lower-case, repeated fields joined by a comma; `close`: it ends the connection."""

    def __init__(self, status, fields, body, close):
        self.status, self.fields, self.body, self.close = status, fields, body, close


class ResponseParser:
    """Append received bytes to `data`, set `eof` at the end of the stream, call `next` until it returns None.

    `head_responses` are the indices of the final responses that answer HEAD and so have no content.
    """

    def __init__(self, head_responses=()):
        self.data = bytearray()
        self.eof = False
        self.count = 0
        self.head_responses = set(head_responses)

    def next(self):
        """Return a Response, NON_HTTP, or None when more data is needed."""
        if not self.data:
            return None
        if not b"HTTP/".startswith(bytes(self.data[:5])):
            return NON_HTTP
        end = self.data.find(b"\r\n\r\n")
        if end < 0:
            return self._more("a response head")
        lines = bytes(self.data[:end]).split(b"\r\n")
        status, fields = parse_status(lines[0]), parse_fields(lines[1:])
        if status < 200:
            check_no_framing(status, fields)
            del self.data[:end + 4]
            return Response(status, fields, b"", False)
        found = self._content(status, fields, end + 4)
        if found is None:
            return None
        body, stop, close = found
        del self.data[:stop]
        self.count += 1
        return Response(status, fields, body, close)

    def _more(self, where):
        if self.eof:
            raise Malformed(f"connection closed inside {where}")

    def _content(self, status, fields, start):
        """Return (content, where it stops, whether the connection ends), or None when more data is needed."""
        close = "close" in [token.strip().lower() for token in fields.get("connection", "").split(",")]
        if "transfer-encoding" in fields and "content-length" in fields:
            raise Malformed("response with Transfer-Encoding and Content-Length")
        if status == 204:
            check_no_framing(status, fields)
        if self.count in self.head_responses or status in (204, 304):
            return b"", start, close
        if "transfer-encoding" in fields:
            if fields["transfer-encoding"].lower() != "chunked":
                raise Malformed("unexpected Transfer-Encoding in a response")
            found = self._chunked(start)
            return found and (*found, close)
        if "content-length" in fields:
            stop = start + parse_length(fields["content-length"])
            if len(self.data) < stop:
                return self._more("response content")
            return bytes(self.data[start:stop]), stop, close
        if not self.eof:                        # content delimited by the close of the connection
            return None
        return bytes(self.data[start:]), len(self.data), True

    def _chunked(self, position):
        """Return (content, where the message stops), or None when more data is needed."""
        body = bytearray()
        while (end := self.data.find(b"\r\n", position)) >= 0:
            line = CHUNK_LINE.fullmatch(self.data, position, end)
            if not line:
                raise Malformed(f"bad chunk size line in a response: {bytes(self.data[position:end])[:20]!r}")
            size, position = int(line.group(1), 16), end + 2
            if size == 0:
                stop = self._after_trailers(position)
                return self._more("a trailer section") if stop is None else (bytes(body), stop)
            if len(self.data) < position + size + 2:
                break
            body += self.data[position:position + size]
            position += size + 2
            if self.data[position - 2:position] != b"\r\n":
                raise Malformed("chunk data in a response not followed by CRLF")
        return self._more("chunked response content")

    def _after_trailers(self, position):
        """Return where the trailer section that starts at `position` stops, or None."""
        while (end := self.data.find(b"\r\n", position)) >= 0:
            if end == position:
                return position + 2
            parse_fields([bytes(self.data[position:end])])
            position = end + 2
        return None


def parse_status(line):
    """Return the status of a status line."""
    found = STATUS_LINE.fullmatch(line)
    if not found:
        raise Malformed(f"bad status line {line[:60]!r}")
    return int(found.group(1))


def parse_fields(lines):
    """Return the fields of a head as {lower-case name: value}; framing fields may not be repeated."""
    fields = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not TOKEN.fullmatch(name) or CONTROL.search(value):
            raise Malformed(f"bad field line {line[:60]!r}")
        key, text = name.decode("latin-1").lower(), value.strip(b" \t").decode("latin-1")
        if key in ("content-length", "transfer-encoding") and key in fields:
            raise Malformed(f"repeated {key} in a response")
        fields[key] = f"{fields[key]}, {text}" if key in fields else text
    return fields


def parse_length(text):
    """Return the Content-Length of a response."""
    if not (text.isascii() and text.isdigit()):
        raise Malformed(f"bad Content-Length in a response: {text!r}")
    return int(text)


def check_no_framing(status, fields):
    """1xx and 204 carry neither Content-Length nor Transfer-Encoding (RFC 9110 §8.6, RFC 9112 §6.1)."""
    for name in ("content-length", "transfer-encoding"):
        if name in fields:
            raise Malformed(f"{name} in a {status} response")

# SPDX-License-Identifier: Apache-2.0
