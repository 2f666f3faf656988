"""A login at a real OpenID provider, in a browser: the npm package oidc-provider, which tools/matrix installs.

KATANA_OIDC_PROVIDER names the folder with its node_modules and provider.mjs.
"""
import json
import os
import subprocess

import pytest

from browser import Browser
from fullstack_process import FullStack
from server_process import free_port

FOLDER = os.environ.get("KATANA_OIDC_PROVIDER")
pytestmark = pytest.mark.skipif(not FOLDER, reason="KATANA_OIDC_PROVIDER is not set: tools/matrix oidc does it")


@pytest.fixture
def program(tmp_path):
    """A fullstack whose users are those of its own provider."""
    port, own = free_port(), free_port()
    callback = f"http://localhost:{own}/login/callback"
    provider = subprocess.Popen(["node", "provider.mjs", str(port), callback], cwd=FOLDER, stdout=subprocess.PIPE,
                                text=True)
    try:
        assert any("is ready" in line for line in provider.stdout), "the provider did not start"
        oidc = {"issuer": f"http://localhost:{port}", "client_id": "shop", "client_secret": "a secret of the test",
                "redirect_uri": callback, "scopes": ["openid", "profile"], "secrets": ["0123456789abcdef" * 2],
                "secure": False}
        policy = f"default-src 'self'; form-action 'self' http://localhost:{port}"  # its logout is behind ours
        settings = {"http": {"csrf": {"enabled": True},
                             "security_headers": {"enabled": True, "content_security_policy": policy}},
                    "sessions": {"store": "database", "secure": False, "cookie_name": "session"},
                    "login": {"enabled": True, "oidc": oidc}}
        (tmp_path / "login.yaml").write_text(json.dumps(settings))
        with FullStack(tmp_path, "--config", "login.yaml", "--port", str(own)) as running:
            yield running
    finally:
        provider.kill()
        provider.wait()


def submit(browser, **fields):
    """Fill in the form of the page, and send it."""
    browser.eventually(lambda: browser.value("document.readyState === 'complete' && document.forms.length > 0"))
    for name, value in fields.items():
        browser.value(f"document.forms[0].elements[{name!r}].value = {value!r}")
    browser.value("document.querySelector('form [type=submit], form button').click()")


def test_a_user_of_the_provider_logs_in_and_out(program, tmp_path):
    """Login and consent at the provider, an account with the roles of its claims, and the end of both sessions."""
    with Browser(tmp_path / "browser") as browser:
        here = f"http://localhost:{program.port}"
        browser.open(f"{here}/login")
        browser.eventually(lambda: browser.value("!!document.getElementById('provider')"))
        browser.value("document.getElementById('provider').click()")
        browser.eventually(lambda: browser.value("!!document.forms[0]?.elements.login"))
        submit(browser, login="ada", password="whatever")
        browser.eventually(lambda: browser.value("document.forms.length > 0 && !document.forms[0].elements.login"))
        submit(browser)  # consent
        browser.see("User ada", "user")
        assert browser.value("location.href") == f"{here}/account"
        assert browser.text("roles") == "editor"
        browser.value("fetch('/api/users').then((reply) => { window.status_seen = reply.status; }); 0")
        browser.eventually(lambda: browser.value("window.status_seen") == 200)
        browser.value("document.getElementById('logout').click()")
        browser.eventually(lambda: browser.value("document.readyState === 'complete' && "
                                                 "location.pathname.startsWith('/session/end')"))
        browser.value("document.querySelector('button[name=logout]').click()")
        browser.eventually(lambda: browser.value("location.href") == f"{here}/login")
        browser.open(f"{here}/account")
        browser.eventually(lambda: "Log in first" in (browser.value("document.body.textContent") or ""))

# SPDX-License-Identifier: Apache-2.0
