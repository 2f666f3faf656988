"""The built site, checked: every link leads to a page, a file or an anchor of it, and all that is loaded is in it."""

import html.parser
import os
import urllib.parse

LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("source", "src"), ("iframe", "src")}
NOT_LOADED = {"canonical", "prev", "next", "alternate"}  # relations of <link> that fetch nothing


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        for name in ("href", "src"):
            goal = attributes.get(name)
            if not goal or tag == "base":
                continue
            self.links.append(goal)
            if (tag, name) in LOADED and attributes.get("rel") not in NOT_LOADED:
                self.loaded.append(goal)


def findings(folder):
    pages = {str(path.relative_to(folder)): Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    for name, page in pages.items():
        for goal in page.loaded:
            if urllib.parse.urlsplit(goal).netloc:
                yield f"{name}: loads {goal}. Readers without a network have nothing of it: keep it in the site."
        for goal in dict.fromkeys(page.links):
            parts = urllib.parse.urlsplit(goal)
            if parts.scheme or parts.netloc:
                continue
            path = urllib.parse.unquote(parts.path)
            place = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not (folder / place).is_file():
                yield f"{name}: links to {goal}, which does not exist. Mend the link in its source."
            elif parts.fragment and place in pages and parts.fragment not in pages[place].anchors \
                    and not parts.fragment.startswith("__"):
                yield f"{name}: links to {goal}, and {place} has no such anchor. Mend the link in its source."

# SPDX-License-Identifier: Apache-2.0
