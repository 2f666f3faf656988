"""The checker is checked: servers that are wrong on purpose must be caught, and one that is right must pass."""
import contextlib
import io
import socket
import threading

import pytest

import h1check
from h1case import Outcome, fault_of, load_cases, matches, raw_bytes
from h1response import Malformed, ResponseParser

OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
BAD = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
ALL_CASES = [case for path in h1check.CORPORA for case in load_cases(path)]


class Standin:
    """A tiny server that is right for the small cases below. Subclasses are wrong in one way each."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        with contextlib.suppress(OSError), sock:
            self.serve(sock)

    def serve(self, sock):
        """Answer requests until the connection ends."""
        data = b""
        while received := sock.recv(65536):
            data += received
            while (taken := self.take(data)) is not None:
                content, data = taken
                if content is None:
                    sock.sendall(BAD)
                    return
                sock.sendall(self.reply(content))

    def take(self, data):
        """Return (content, the rest) of the first request, None while it is incomplete; content None = refuse."""
        head, found, rest = data.partition(b"\r\n\r\n")
        if not found:
            return None
        if b"Bad" in head:
            return None, b""
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        return (rest[:length], rest[length:]) if len(rest) >= length else None

    def reply(self, content):
        """Return the response to a request with this content."""
        return OK % (len(content), content)


class NoCloseAfterRefusal(Standin):
    """Refuses, and keeps the connection."""

    def serve(self, sock):
        """Refuse, but do not close the connection as announced."""
        super().serve(sock)
        sock.recv(65536)
        threading.Event().wait(2)


class TrustsSegments(Standin):
    """Takes the result of one read for a request: right as long as each request comes in one segment."""

    def take(self, data):
        """Treat whatever has arrived as whole."""
        return super().take(data) or ((b"", b"") if data else None)


class IgnoresContent(Standin):
    """Reads content as the next request."""

    def take(self, data):
        """Take the head only."""
        head, found, rest = data.partition(b"\r\n\r\n")
        return (b"hello" if b"/echo" in head else b"", rest) if found else None


class AcceptsEverything(Standin):
    """Never refuses."""

    def take(self, data):
        """Overlook bad input."""
        return super().take(data.replace(b"Bad", b"Odd"))


class AnswersTwice(Standin):
    """Sends every response twice."""

    def reply(self, content):
        """One too many."""
        return 2 * super().reply(content)


class LosesContent(Standin):
    """Changes the content on its way."""

    def reply(self, content):
        """Same length, other bytes."""
        return super().reply(content[:1] * len(content))


class NeverAnswers(Standin):
    """Accepts and stays silent."""

    def serve(self, sock):
        """Read to the end."""
        while sock.recv(65536):
            pass


class TwoLengths(Standin):
    """Sends an ambiguous response."""

    def reply(self, content):
        """Two framings in one head."""
        return super().reply(content).replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n", 1)


class NoInterim(Standin):
    """Does not know 100 (Continue): right in all small cases but one."""


class Continues(Standin):
    """Sends 100 (Continue) to clients that expect it."""

    def serve(self, sock):
        """Answer the expectation once the head is there, and the request once its content is."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += sock.recv(65536)
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while self.take(data) is None:
            data += sock.recv(65536)
        sock.sendall(self.reply(self.take(data)[0]))
        super().serve(sock)


def small(name, raw, *expect, **more):
    """Return a case."""
    return {"name": name, "group": "small", "section": "-", "level": "must", "raw": raw, "expect": list(expect), **more}


SMALL = [
    small("get", [GET], {"responses": ["2xx"], "end": "open"}),
    small("echo", [POST], {"responses": ["200"], "bodies": ["hello"], "end": "open"}),
    small("pipeline", [POST, GET], {"responses": ["200", "200"], "bodies": ["hello", ""], "end": "open"}),
    small("bad", ["GET / HTTP/1.1\r\nBad: x\r\n\r\n"], {"responses": ["400"], "end": "closed"}),
    small("unfinished", ["GET / HT"], {"responses": [], "end": "waiting"}),
]
CONTINUE = small("continue", [POST[:-5].replace("Content", "Expect: 100-continue\r\nContent"), "hello"],
                 {"responses": ["200"], "bodies": ["hello"], "interim": "required", "end": "open"}, staged=True)


def failures(server_type, cases):
    """Run cases against a stand-in and return the set of (case, mode) that failed; None for an unmet requirement."""
    server, out = server_type(), io.StringIO()
    options = h1check.parse_options(["127.0.0.1", str(server.port), "--wait", "0.1", "--timeout", "0.5"])
    summary = h1check.run(cases, options, out)
    server.listener.close()
    if not summary.record:
        assert out.getvalue().endswith("0 passed, 1 failed\n")
        return None
    failed = {(result["case"], result["mode"]) for result in summary.record if not result["passed"]}
    assert out.getvalue().count("FAIL") == len(failed) == summary.totals["failed"]
    return failed


def test_a_right_server_passes_every_case_in_every_mode():
    """No false alarms."""
    assert failures(Standin, SMALL) == set()
    assert failures(Continues, [CONTINUE]) == set()


@pytest.mark.parametrize("server_type, wanted", [
    (NoCloseAfterRefusal, {("bad", "whole"), ("bad", "bytes"), ("bad", "splits")}),
    (TrustsSegments, {("get", "bytes"), ("get", "splits"), ("echo", "splits"), ("unfinished", "whole")}),
    (IgnoresContent, {("pipeline", "whole")}),
    (AcceptsEverything, {("bad", "whole")}),
    (NoInterim, {("continue", "staged")}),
])
def test_a_wrong_server_fails_the_case_that_is_about_it(server_type, wanted):
    """Each fault is found where it is."""
    failed = failures(server_type, SMALL + [CONTINUE])
    assert failed is not None and wanted <= failed


@pytest.mark.parametrize("server_type", [AnswersTwice, LosesContent, NeverAnswers, TwoLengths])
def test_a_server_that_is_no_server_is_refused_at_once(server_type):
    """A check that cannot be made has not passed."""
    failed = failures(server_type, SMALL)
    assert failed is None or failed


@pytest.mark.parametrize("octets", [
    b"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n: x\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n",
])
def test_a_malformed_response_is_named(octets):
    """The parser of responses is strict."""
    parser = ResponseParser()
    parser.data += octets
    with pytest.raises(Malformed):
        parser.next()


@pytest.mark.parametrize("octets", [
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Le",
])
def test_a_response_cut_short_is_incomplete_while_open_and_malformed_at_the_end(octets):
    """A close must not pass for an end."""
    parser = ResponseParser()
    parser.data += octets
    assert parser.next() is None
    parser.eof = True
    with pytest.raises(Malformed):
        parser.next()


def test_responses_of_every_framing_are_read():
    """Length, chunks with extensions and trailers, HEAD, 204, and until the close."""
    parser = ResponseParser(head_responses=[2])
    parser.data += (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"
                    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nc\r\n"
                    b"A\r\n0123456789\r\n0\r\nT: v\r\n\r\n"
                    b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"
                    b"HTTP/1.1 204 No Content\r\n\r\n"
                    b"HTTP/1.1 200 OK\r\n\r\nrest")
    assert [parser.next().body for _ in range(4)] == [b"ab", b"c0123456789", b"", b""]
    assert parser.next() is None
    parser.eof = True
    last = parser.next()
    assert (last.body, last.close, parser.next()) == (b"rest", True, None)


def outcome_of(end, *statuses, fields=None):
    """Return an Outcome."""
    outcome = Outcome()
    for status in statuses:
        outcome.add(status, b"", fields)
    outcome.end = end
    return outcome


def test_fields_are_compared_by_value_member_and_absence():
    """The three forms of an expected field."""
    outcome = outcome_of("open", 405, fields={"allow": "GET, HEAD", "connection": "Close"})
    for fields, wanted in (({"allow": ["HEAD", "GET"]}, True), ({"allow": ["PUT"]}, False), ({"allow": "GET"}, False),
                           ({"connection": "close"}, True), ({"connection": None}, False), ({"x": None}, True),
                           ({"x": True}, False), ({"allow": True}, True)):
        expected = {"responses": ["405"], "fields": [fields], "end": "open"}
        assert matches(expected, outcome) is wanted, fields


def test_same_fields_sees_every_difference_but_the_date():
    """HEAD against GET."""
    outcome = outcome_of("open", 200, 200)
    outcome.fields = [{"date": "1", "content-length": "13"}, {"date": "2", "content-length": "13"}]
    expected = {"responses": ["200", "200"], "same_fields": [[0, 1]], "end": "open"}
    assert matches(expected, outcome)
    outcome.fields[1]["content-length"] = "0"
    assert not matches(expected, outcome)


def test_the_corpora_are_well_formed():
    """Unique names, known keys, and a reason for every strict case."""
    names = [case["name"] for case in ALL_CASES]
    assert len(names) == len(set(names)) > 500
    assert {case["name"]: fault_of(case) for case in ALL_CASES if fault_of(case)} == {}
    assert [case["name"] for case in load_cases(h1check.CORPORA[1]) if len(case.get("note", "")) < 10] == []
    assert all(raw_bytes(case) for case in ALL_CASES)


def passes_thoughtless(case, outcome):
    """True when a case lets this outcome through."""
    return any(matches(expected, outcome) for expected in case["expect"])


def test_every_case_refuses_a_server_that_does_not_look():
    """No case passes with all of these servers: always agree, refuse, wait or hang up. None takes a 500."""
    blind = []
    for case in ALL_CASES:
        count = max(1, *(len(expected["responses"]) for expected in case["expect"]))
        thoughtless = [outcome_of("open", *[200] * count), outcome_of("closed", 400), outcome_of("waiting"),
                       outcome_of("closed")]
        if all(passes_thoughtless(case, outcome) for outcome in thoughtless) or \
                passes_thoughtless(case, outcome_of("closed", 500)):
            blind.append(case["name"])
    assert blind == []

# SPDX-License-Identifier: Apache-2.0
