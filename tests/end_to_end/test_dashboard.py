"""The dashboard in a real browser: headless Chromium draws it, and shows what the server says."""
import pathlib
import re
import shutil
import subprocess

import pytest

from browser import Browser
from fullstack_process import FullStack

# All that it would otherwise ask the network for.
QUIET = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars")


def browse(tmp_path, url, *flags, milliseconds=4000):
    """Return what Chromium writes of a page that it has looked at for a while."""
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("chromium is not installed: tools/setup installs it")
    profile = tmp_path / "profile"
    return subprocess.run([chromium, *QUIET, f"--user-data-dir={profile}", f"--timeout={milliseconds}", *flags, url],
                          capture_output=True, text=True, timeout=100, check=False)


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
        assert browser.value("document.getElementsByClassName('load').length") == 2   # reactors
        browser.see("database", "checks")
        uptime = browser.text("uptime")
        browser.eventually(lambda: browser.text("uptime") != uptime)                  # it goes on
        assert browser.value("violations") == []


@pytest.mark.parametrize("size, flags", [("360,780", ()), ("1280,900", ("--blink-settings=preferredColorScheme=0",))],
                         ids=["phone", "dark"])
def test_it_is_drawn(program, tmp_path, size, flags):
    """A picture of each form comes out, and is no empty page."""
    picture = pathlib.Path(tmp_path) / "picture.png"
    browse(tmp_path, program.url("/"), f"--screenshot={picture}", f"--window-size={size}", *flags)
    assert picture.exists() and picture.stat().st_size > 10_000
