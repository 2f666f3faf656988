"""The dashboard in a real browser: headless Chromium draws it, and shows the server's figures."""
import base64
import re
import socket

import pytest

from browser import Browser
from fullstack_process import FullStack

# Find text that is too faint to be read: a contrast below 4.5 (WCAG 2.2, 1.4.3).
FAINT = """(() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  return [...document.querySelectorAll("body *")]
    .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .filter((each) => contrast(light(numbers(getComputedStyle(each).color)), light(behind(each))) < 4.5)
    .map((each) => each.outerHTML.slice(0, 80));
})()"""


def events_so_far(program):
    """The first events that a reader gets at once."""
    with socket.create_connection(("127.0.0.1", program.port), 20) as reader:
        reader.sendall(b"GET /dashboard/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        told = b""
        while b"retry:" not in told:
            told += reader.recv(65536)
        return told


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """One program for the tests of this file."""
    with FullStack(tmp_path_factory.mktemp("dashboard"), shared=True) as running:
        running.add_user("Ada", "ada@example.org")
        yield running


def test_the_browser_shows_what_the_server_says(program, tmp_path):
    """State, figures, reactors, checks and log lines are there, and the policy was broken by nothing."""
    with Browser(tmp_path) as browser:
        browser.open(program.url("/"))
        browser.see("healthy", "state")
        browser.see("POST /api/users", "lines")
        assert browser.text("db-state") == "ready"
        assert re.fullmatch(r"[0-9.]+ MiB", browser.text("memory"))
        assert re.fullmatch(r"[0-9.]+ (B|KiB)", browser.text("log-waiting")) and browser.text("log-fullest") == "0"
        assert browser.value("document.getElementsByClassName('load').length") == 2   # reactors
        browser.see("database", "checks")
        uptime = browser.text("uptime")
        browser.eventually(lambda: browser.text("uptime") != uptime)                  # it goes on
        assert browser.value("violations") == []


def test_no_line_of_the_log_is_shown_twice(tmp_path):
    """Lines of events before the page was opened are also among the lines that it asks for."""
    with FullStack(tmp_path) as program, Browser(tmp_path / "browser") as browser:
        for _ in range(3):
            for _ in range(8):
                program.client.get("/api/users")
            browser.eventually(lambda: b"\nevent: lines" in events_so_far(program))
            browser.open(program.url("/"))
            browser.see("GET /dashboard/lines", "lines")
            browser.see("healthy", "state")
            lines = browser.value("[...document.querySelectorAll('#lines li')].map((each) => each.textContent)")
            assert len(lines) == len(set(lines)) > 8


@pytest.mark.parametrize("width, height, scheme", [(360, 780, "light"), (1280, 900, "dark")], ids=["phone", "dark"])
def test_it_can_be_read_and_used(program, tmp_path, width, height, scheme):
    """Nothing sticks out, every text stands out, and every control and mark has a name."""
    with Browser(tmp_path) as browser:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=width < 500)
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(program.url("/"))
        browser.see("healthy", "state")
        browser.see("POST /api/users", "lines")
        assert browser.value("document.documentElement.scrollWidth") <= width
        assert browser.value("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
        assert browser.value(FAINT) == []
        nodes = [node for node in browser.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
        roles = [(node["role"]["value"], node.get("name", {}).get("value")) for node in nodes]
        nameless = {"button", "link", "region", "img", "image"}
        assert [role for role, name in roles if role in nameless and not name] == []
        assert {"status", "heading", "columnheader", "rowheader"} <= {role for role, _ in roles}
        assert ("button", "Pause") in roles and ("region", "Recent log lines") in roles
        browser.value("document.getElementById('pause').click()")
        assert browser.text("pause") == "Go on"
        assert browser.value("document.getElementById('pause').ariaPressed") == "true"
        picture = base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"])
        assert picture.startswith(b"\x89PNG") and len(picture) > 10_000               # no empty page


def test_a_page_whose_server_ends_says_so_and_goes_on_with_the_next_one(tmp_path):
    """The page recovers without a reload."""
    with Browser(tmp_path) as browser:
        with FullStack(tmp_path) as first:
            port = first.port
            browser.open(first.url("/"))
            browser.see("healthy", "state")
        browser.see("no connection", "state")
        with FullStack(tmp_path, "--port", str(port)):
            browser.see("healthy", "state")

# SPDX-License-Identifier: Apache-2.0
