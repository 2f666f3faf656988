"""docs/README.md, the index by task, is complete; pages for operators name metrics and messages that exist."""

import collections
import json
import re

from . import markdown, stage

INDEX = "docs/README.md"
LISTED = re.compile(r"docs/(?:(?:concepts|guides|operate|recipes|coming-from)/[\w-]+|tutorial/index)\.md")
METRIC = re.compile(r"\b(?:katana|process)_[a-z0-9]+(?:_[a-z0-9]+)+\b")
REFERENCE = "docs/reference/metrics.md"
TABLE = re.compile(r"^\| (?:message|`detail`|reason) contains \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", re.M)
MESSAGE_BYTES_MIN = 6  # the shortest part of a message that is searched


def findings(root, files):
    """A finding for each page that the index has not, or has more than once."""
    if INDEX not in files:
        return
    count = collections.Counter(stage.target_of(INDEX, link.target)[0]
                                for link in markdown.links((root / INDEX).read_text()))
    for page in files:
        if LISTED.fullmatch(page) and count[page] != 1:
            yield (f"{INDEX}: {page} is linked {count[page]} times. Give it one row, with the words that one would "
                   "search for.")


def metrics_of(text):
    """The metrics that a text names, without the endings of a histogram's series."""
    return {re.sub(r"_(?:bucket|sum|count)$", "", name) for name in METRIC.findall(text)}


def metric_findings(root, files):
    """A finding for each metric of docs/operate that the reference has not; in prose a guide may have it, too."""
    if REFERENCE not in files:
        return
    listed = metrics_of((root / REFERENCE).read_text())
    told = set().union(*(metrics_of((root / name).read_text()) for name in files
                         if name.startswith("docs/guides/") and name.endswith(".md")))
    for name in files:
        if not name.startswith("docs/operate/"):
            continue
        text = (root / name).read_text()
        if name.endswith(".json"):
            json.loads(text)
        known = listed | told if name.endswith(".md") else listed
        for metric in sorted(metrics_of(text) - known):
            yield f"{name}: no program serves '{metric}' ({REFERENCE}). Correct the name."


def message_findings(root, files):
    """A finding for each message in code style, in a table of messages of docs/operate, that no program prints."""
    texts = None
    for name in files:
        if not name.startswith("docs/operate/") or not name.endswith(".md"):
            continue
        rows = "".join(table[1] for table in TABLE.finditer((root / name).read_text()))
        for message in re.findall(r"`([^`]+)`", "".join(row.split(" | ")[0] for row in rows.splitlines())):
            if texts is None:
                texts = "\n".join(printed((root / each).read_text()) for each in files
                                  if each.startswith("katana/") and each.endswith((".cpp", ".hpp")))
            missing = [part for part in re.split(r" *…[ ,;]*|'…'", message)
                       if len(part) >= MESSAGE_BYTES_MIN and part not in texts]
            if missing:
                yield f"{name}: no source has the message '{missing[0]}'. Quote it as the program prints it."


def printed(source):
    """A source whose string literals that follow one another are one."""
    return re.sub(r'(?<!\\)"\s+"', "", source)

# SPDX-License-Identifier: Apache-2.0
