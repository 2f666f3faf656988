"""The docs page of fullstack in headless Chromium: within its policy, a request made from it answers."""
import re

import httpx

from browser import Browser
from fullstack_process import FullStack


def test_a_request_made_from_the_page_answers(tmp_path):
    """The operation is opened and executed by its buttons; its reply stands in the page."""
    with FullStack(tmp_path, sets=["docs.enabled=on", "log.levels=warn"]) as program, Browser(tmp_path) as browser:
        program.add_user("Ada Lovelace", "ada@example.org")
        browser.open(program.url("/docs"))
        browser.eventually(lambda: browser.value("document.querySelectorAll('.opblock').length") >= 10)
        operation = "document.querySelector('#operations-users-listUsers')"
        browser.value(f"{operation}.querySelector('.opblock-summary-control').click()")
        shown = f"{operation}.querySelector('.live-responses-table')?.textContent ?? ''"
        # The page fills the fields in when it has resolved the operation. Before that it does not send them.
        limit = f"{operation}.querySelector('[data-param-name=limit] input')?.value"
        browser.eventually(lambda: browser.value(limit) == "20", lambda: browser.value(limit))
        browser.value(f"{operation}.querySelector('.execute').click()")
        browser.eventually(lambda: "Ada Lovelace" in browser.value(shown),
                           lambda: browser.value(f"{operation}.innerHTML"))
        assert browser.text("documents").split() == ["default", "root"]
        assert "200" in browser.value(shown)
        assert browser.value("violations") == []
        assert browser.value("performance.getEntriesByType('resource').every((each) => "
                             "each.name.startsWith(location.origin) || each.name.startsWith('data:'))")


def test_its_files_are_immutable_under_their_version(tmp_path):
    """In gzip, or as they are for a client that takes no coding; the page itself is asked for again each time."""
    with FullStack(tmp_path, sets=["docs.enabled=on", "docs.path=/api-docs"]) as program:
        page = program.client.get("/api-docs")
        assert page.headers["cache-control"] == "no-cache"
        assert "script-src 'self'" in page.headers["content-security-policy"]
        files = re.findall(r'(?:src|href)="(/api-docs/[^"]+)"', page.text)
        assert len(files) == 5, files
        for file in files:
            packed, plain = program.client.get(file), program.client.get(file, headers={"accept-encoding": "identity"})
            assert packed.status_code == plain.status_code == 200 and packed.content == plain.content
            assert "content-encoding" not in plain.headers
            if "docs." not in file:
                assert "immutable" in packed.headers["cache-control"]
                assert packed.headers["content-encoding"] == "gzip" and packed.headers["vary"] == "Accept-Encoding"
            again = program.client.get(file, headers={"if-none-match": packed.headers["etag"]})
            assert again.status_code == 304 and not again.content
        assert program.client.get("/api-docs/oauth2-redirect.html").status_code == 200
        assert program.client.get("/docs").status_code == 404


def test_it_is_there_in_development_alone_unless_settings_say_otherwise(tmp_path):
    """By default a program on a public address has none."""
    for sets, status in ((["development=true"], 200), ([], 404), (["development=true", "docs.enabled=off"], 404)):
        with FullStack(tmp_path, sets=sets) as program:
            assert httpx.get(program.url("/docs")).status_code == status, sets

# SPDX-License-Identifier: Apache-2.0
