"""A login, walked in headless Chromium: form, session, what other sites can do, logout, audit log."""
import subprocess

import pytest

from browser import Browser
from fullstack_process import FullStack
from program_process import built

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose API is for ann alone."""
    folder = tmp_path_factory.mktemp("login")
    hashed = subprocess.run([built("katana"), "password", "--memory-kib", "64", "--passes", "1"], input=PASSWORD,
                            capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    sets = {"accounts.users.ann": hashed, "sessions.store": "database", "http.csrf.enabled": "true",
            "http.security_headers.enabled": "true", "audit.file": str(folder / "audit.jsonl")}
    with FullStack(folder, sets=[f"{key}={value}" for key, value in sets.items()]) as running:
        yield running


def log_in(browser, program, password):
    """Fill in the form and send it."""
    browser.open(program.url("/login"))
    browser.eventually(lambda: browser.value("document.forms.length") == 1)
    browser.value("document.forms[0].elements.name.value = 'ann'")
    browser.value(f"document.forms[0].elements.password.value = {password!r}")
    browser.value("document.forms[0].requestSubmit()")


def body_has(browser, text):
    """Wait until the page has the text."""
    browser.eventually(lambda: text in (browser.value("document.body?.innerText") or ""),
                       lambda: browser.value("document.body?.innerText"))


def status_of(browser, method, path):
    """What the page gets when it asks."""
    browser.value(f"window.status_ = 0; fetch({path!r}, {{method: {method!r}}}).then((r) => window.status_ = r.status)")
    return browser.eventually(lambda: browser.value("window.status_"))


def test_a_login_is_walked_in_a_browser(program, tmp_path):
    """Wrong, right, the API, out again; the policy of no page was broken, and the log has all of it."""
    with Browser(tmp_path) as browser:
        log_in(browser, program, "wrong horse")
        body_has(browser, "Name or password are wrong.")
        assert status_of(browser, "GET", "/api/users") == 401
        log_in(browser, program, PASSWORD)
        body_has(browser, '"name":"ann"')
        assert browser.value("document.cookie") == ""  # no script sees it
        assert status_of(browser, "GET", "/api/users") == 200
        # Another site, in the same browser, with a form of its own.
        browser.open("data:text/html,<form method=post action=" + program.url("/logout") + "></form>")
        browser.eventually(lambda: browser.value("document.forms.length") == 1)
        browser.value("document.forms[0].submit()")
        body_has(browser, "another origin")
        browser.open(program.url("/me"))
        body_has(browser, '"name":"ann"')
        assert status_of(browser, "POST", "/logout") == 200  # what it is led to
        assert status_of(browser, "GET", "/api/users") == 401
        assert browser.value("window.violations.length") == 0
    log = (program.folder / "audit.jsonl").read_text()
    for action, outcome in (("login", "denied"), ("login", "succeeded"), ("logout", "succeeded")):
        assert f'"action":"{action}","outcome":"{outcome}","actor":"ann"' in log, log
    verified = subprocess.run([built("katana"), "audit", "verify", program.folder / "audit.jsonl"],
                              capture_output=True, text=True, check=False, timeout=60)
    assert verified.returncode == 0, verified.stderr

# SPDX-License-Identifier: Apache-2.0
