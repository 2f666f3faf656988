"""The chat server over WebSocket: the same rooms as plain connections, and the page for browsers."""
import re
import signal
import socket
import urllib.request

import pytest

from chat_process import ChatServer
from server_process import free_port
from ws_client import BINARY, CLOSE, TEXT, Client, close_payload, frame


class Lines:
    """A WebSocket client of the chat that reads lines, however they are put into messages."""

    def __init__(self, port):
        self.client = Client(port, path="/chat")
        assert self.client.head.startswith(b"HTTP/1.1 101 "), self.client.head
        self.pending = ""

    def say(self, text):
        """Send a line, or several."""
        self.client.send(frame(TEXT, text.encode()))

    def hear(self):
        """Return the next line."""
        while "\n" not in self.pending:
            first, payload = self.client.receive_frame()
            assert first == 0x80 | TEXT, (first, payload)
            assert payload.endswith(b"\n"), "a message is whole lines"
            self.pending += payload.decode()
        line, _, self.pending = self.pending.partition("\n")
        return line

    def settled(self):
        """Ask for something and wait for the answer: earlier messages have then arrived. Return the number."""
        self.say("/who")
        line = self.hear()
        while not line.startswith("* "):
            line = self.hear()
        return line


@pytest.fixture(scope="module")
def chat():
    """A chat on two reactors; yields it and its WebSocket port."""
    port = free_port()
    with ChatServer("--websocket-port", str(port), threads=2) as server:
        yield server, port


def plain_lines(server):
    """A connection of lines, and what reads them."""
    one = socket.create_connection(("127.0.0.1", server.port), 20)
    return one, one.makefile("r", encoding="utf-8")


def test_browsers_and_plain_clients_are_in_one_room(chat):
    """Each client hears the messages of the others, in its own form."""
    server, port = chat
    web = [Lines(port) for _ in range(4)]
    for each in web:
        each.settled()
    plain, reader = plain_lines(server)
    plain.sendall(b"/nick pat\n/who\n")
    assert reader.readline() == "* You are pat.\n"
    assert "5 in room lobby" in reader.readline()
    plain.sendall("grüße\n".encode())
    for each in web:
        assert each.hear() == "[pat] grüße"
    web[0].say("/nick wanda")
    assert web[0].hear() == "* You are wanda."
    web[0].say("one\ntwo\n//three")
    expected = ["[wanda] one", "[wanda] two", "[wanda] /three"]
    assert [reader.readline().rstrip("\n") for _ in expected] == expected
    for each in web[1:]:
        assert [each.hear() for _ in expected] == expected
    web[1].say("/join attic")
    assert web[1].hear() == "* You are in room attic."
    web[1].say("bad \x01")
    assert web[1].hear().startswith("! ")
    web[1].say("/quit")
    assert web[1].hear() == "* Goodbye."
    opcode, payload = web[1].client.receive_frame()
    assert opcode & 15 == CLOSE and payload[:2] == close_payload(1000)
    web[2].client.send(frame(BINARY, b"x"))
    opcode, payload = web[2].client.receive_frame()
    assert opcode & 15 == CLOSE and payload[:2] == close_payload(1003)
    plain.close()


def test_the_page_loads_nothing_from_elsewhere(chat):
    """One document, with a policy that says so."""
    with urllib.request.urlopen(f"http://127.0.0.1:{chat[1]}/", timeout=20) as reply:
        text = reply.read().decode()
        policy = reply.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert not re.search(r"https?://(?!\")|src=|href=|@import", text.replace('"https:"', ""))
    assert 'lang="en"' in text and 'role="log"' in text and '<label for="line">' in text


def test_a_server_that_stops_says_goodbye_and_then_1001():
    """The farewell of the chat comes before the close frame."""
    port = free_port()
    with ChatServer("--websocket-port", str(port), threads=1) as server:
        web = Lines(port)
        web.settled()
        server.process.send_signal(signal.SIGTERM)
        assert web.hear() == "* The server is stopping. Goodbye."
        opcode, payload = web.client.receive_frame()
        assert opcode & 15 == CLOSE and payload[:2] == close_payload(1001)
        web.client.send(frame(CLOSE, payload[:2]))
        assert web.client.receive_all() == []

# SPDX-License-Identifier: Apache-2.0
