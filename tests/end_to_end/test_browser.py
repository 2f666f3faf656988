"""The page of the chat in headless Chromium, over TLS and HTTP/2. Skipped where there is no Chromium."""
import socket
import ssl

import pytest

from browser import SECONDS_MAX, Browser
from chat_process import ChatServer
from server_process import free_port


def test_a_browser_and_a_plain_client_talk_to_each_other(tmp_path):
    """Both over TLS; the page came by HTTP/2."""
    port = free_port()
    with Browser(tmp_path) as browser, ChatServer("--websocket-port", str(port), "--tls-dev") as server:
        browser.open(f"https://localhost:{port}/")
        browser.see("Connected", "state")
        assert browser.value("performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), SECONDS_MAX)) as plain:
            reader = plain.makefile("r", encoding="utf-8")
            plain.sendall(b"/nick pat\n/who\n")
            assert reader.readline() == "* You are pat.\n"
            assert "2 in room lobby" in reader.readline()
            plain.sendall("grüße\n".encode())
            browser.see("[pat] grüße")
            browser.value("document.getElementById('line').value = 'from the page <b>';"
                          "document.getElementById('say').requestSubmit()")
            assert "from the page <b>" in reader.readline()
            browser.see("from the page <b>")
            plain.sendall(b"/quit\n")
            assert reader.readline() == "* Goodbye.\n"


def test_a_chat_with_tls_refuses_what_a_browser_is_made_to_send_to_its_lines():
    """A client that offers HTTP only does not get through the handshake; one that offers nothing does."""
    with ChatServer("--tls-dev") as server:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2", "http/1.1"])
        with socket.create_connection(("127.0.0.1", server.port), SECONDS_MAX) as sock:
            with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
                context.wrap_socket(sock)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), SECONDS_MAX)) as plain:
            plain.sendall(b"/who\n")
            assert b"in room lobby" in plain.recv(1000)
            plain.sendall(b"/quit\n")
            assert plain.recv(1000) == b"* Goodbye.\n"

# SPDX-License-Identifier: Apache-2.0
