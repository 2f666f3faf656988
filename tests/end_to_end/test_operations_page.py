"""The operations page in headless Chromium: its charts, its token, its widths, and people who use it by keyboard."""
import base64
import contextlib
import os
import pathlib
import re
import threading

import httpx
import pytest

from accessibility import serious_problems
from browser import Browser
from test_dashboard import FAINT
from test_live import Live

TOKEN = "a-token-of-32-characters-or-more-0123"
CHARTS = {"Requests by class of status, per second", "Duration of requests: number of requests in each step",
          "Load of reactors, percent of a CPU", "Resident memory, MiB"}


@contextlib.contextmanager
def load(program):
    """Request pages that are there and pages that are not."""
    over = threading.Event()

    def run():
        while not over.wait(0.02):
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(program.url("/waiting"), timeout=60)
                httpx.get(program.url("/nowhere"), timeout=60)
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture(name="program", scope="module")
def running(tmp_path_factory):
    """A program that has a history: two columns of ten seconds."""
    with Live(tmp_path_factory.mktemp("operations"), shared=True) as program:
        with load(program):
            Browser.eventually(lambda: len(program.get("/operations/history")["columns"]) >= 2, seconds=120)
        yield program


def wait_for_charts(browser):
    """Until they are drawn."""
    browser.eventually(lambda: browser.value("document.querySelectorAll('#drawn figure').length") >= len(CHARTS))


def test_history_has_rates_durations_and_the_load_of_reactors(program):
    """Requests by class, durations by route, load, memory; no column is of the future."""
    past = program.get("/operations/history")
    assert past["interval_s"] == 10 and past["columns_max"] == 90
    sums = [sum(column["statuses"][index] for column in past["columns"]) for index in range(6)]
    assert sums[2] > 0 and sums[4] > 0 and sums[5] == 0
    assert all(len(column["busy_permille"]) == 2 and column["resident_bytes"] > 0 for column in past["columns"])
    routes = {each["route"]: each["cells"] for each in past["routes"]}
    assert "GET /waiting" in routes and "(no route)" in routes
    cells = routes["GET /waiting"]
    assert len(cells) % 3 == 0 and sum(cells[2::3]) > 0
    assert all(column < len(past["columns"]) and bucket <= len(past["bounds_us"])
               for column, bucket in zip(cells[::3], cells[1::3]))


def test_every_chart_names_its_unit_and_interval_and_its_latest_values(program, tmp_path):
    """In its caption, and for those who do not see it in its name."""
    with Browser(tmp_path) as browser:
        browser.open(program.url("/operations"))
        wait_for_charts(browser)
        captions = browser.value("[...document.querySelectorAll('figcaption')].map((each) => each.textContent)")
        assert {each.removesuffix(", every 10 s, last 15 minutes") for each in captions} == CHARTS, captions
        names = browser.value("[...document.querySelectorAll('#drawn svg')].map((each) => each.ariaLabel)")
        assert all(re.search(r"(Latest: |The slowest took up to )\S", name) for name in names), names
        assert browser.value("document.querySelectorAll('#drawn svg .status2').length") > 0
        assert browser.text("title") == "crash_server 1.2.3"
        assert browser.value("document.title") == "crash_server 1.2.3 — operations"
        assert browser.value("violations") == []


def test_the_heat_map_shows_the_route_that_is_chosen(program, tmp_path):
    """Other routes have other cells."""
    with Browser(tmp_path) as browser:
        browser.open(program.url("/operations"))
        wait_for_charts(browser)
        cells = "[...document.querySelectorAll('#drawn rect[class^=heat]')].length"
        everything = browser.value(cells)
        browser.value("const select = document.getElementById('route'); select.value = '(no route)';"
                      "select.dispatchEvent(new Event('change'));")
        assert browser.value("document.getElementById('route').value") == "(no route)"
        assert 0 < browser.value(cells) <= everything


@pytest.mark.parametrize("width, height, scheme", [
    (390, 844, "light"), (390, 844, "dark"), (1280, 900, "light"), (1280, 900, "dark"), (3840, 2160, "dark")])
def test_it_can_be_read_on_a_phone_and_on_a_wall(program, tmp_path, width, height, scheme):
    """Nothing sticks out, every text stands out, and axe-core finds nothing serious."""
    with Browser(tmp_path) as browser:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=width < 500)
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(program.url("/operations"))
        wait_for_charts(browser)
        browser.see("GET", "tables")
        browser.value("document.getElementById('running').click()")
        assert browser.value("document.documentElement.scrollWidth") <= width
        assert browser.value(FAINT) == []
        assert serious_problems(browser) == []
        assert browser.value("violations") == []
        if "KATANA_PICTURES" in os.environ:
            picture = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
            path = pathlib.Path(os.environ["KATANA_PICTURES"]) / f"operations-{width}-{scheme}.png"
            path.write_bytes(base64.b64decode(picture))


def test_the_keyboard_reaches_every_control_and_every_table(program, tmp_path):
    """Tab goes through the controls and the tables, which then scroll."""
    with Browser(tmp_path) as browser:
        browser.open(program.url("/operations"))
        wait_for_charts(browser)
        browser.see("GET", "tables")
        browser.value("document.getElementById('running').click(); document.body.focus();")
        seen = set()
        for _ in range(60):
            for kind in ("keyDown", "keyUp"):
                browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
            seen.add(browser.value("document.activeElement.id || document.activeElement.ariaLabel || "
                                   "document.activeElement.textContent"))
        assert {"running", "route", "Reactors", "Log, the last records", "metrics"} <= seen, seen


def test_the_page_asks_for_the_token_and_keeps_it_in_memory(tmp_path):
    """The form has it sent with each request. It is in no URL, and the next page asks again."""
    with Live(tmp_path, f"operations.token={TOKEN}") as program, Browser(tmp_path / "browser") as browser:
        shown = "getComputedStyle(document.getElementById('login')).display !== 'none'"
        browser.open(program.url("/operations"))
        browser.eventually(lambda: browser.value(shown))
        browser.see("it asks for its token", "status")
        assert "crash_server" not in browser.value("document.documentElement.outerHTML")
        assert serious_problems(browser) == []

        def enter(token):
            browser.value("document.getElementById('token').focus()")
            browser.call("Input.insertText", text=token)
            browser.value("document.querySelector('#login button').click()")
        enter("wrong")
        browser.see("the token is wrong", "status")
        enter(TOKEN)
        browser.see("crash_server 1.2.3", "title")
        browser.see("Process", "tables")
        assert not browser.value(shown)
        assert browser.value("location.href") == program.url("/operations")
        assert TOKEN not in browser.value("document.documentElement.outerHTML")
        assert browser.value("localStorage.length + sessionStorage.length + document.cookie.length") == 0
        assert browser.value("violations") == []
        browser.open(program.url("/operations"))
        browser.eventually(lambda: browser.value(shown))

# SPDX-License-Identifier: Apache-2.0
