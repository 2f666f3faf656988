"""Families of metrics, as the sources of katana/ register them: also those that no program of tools/docs serves."""

import re

from . import markdown, messages

DECLARED = re.compile(rf'"((?:katana|process)_[a-z0-9_]*[a-z0-9])"\s*,\s*(?:\.help\s*=\s*)?({messages.LITERAL})'
                      r'(,\s*false\b|,\s*true\b)?(?:,\s*\.unit\s*=\s*"\w+")?(?:,\s*\.labels\s*=\s*{([^}]*)})?')
# A family for each signal of OTLP: the source has the prefix, and behind it a choice of the help by signal.
BY_SIGNAL = re.compile(r'"(katana_\w+_)" \+ sender\.signal\(\);')
CHOICE = re.compile(rf'(?:signal\(\) == "([\w ]+)"\s*\?|:)\s*({messages.LITERAL})')
LABELS = re.compile(r"\.labels = {([^}]*)}")
LAST_SIGNAL = "log records"  # the one that the choice does not name
AFTER = 600  # characters behind the prefix, where the choice and the labels stand
BEFORE = 200  # characters in front of a name, where the kind of its family stands


def kind_of(before, flag):
    """The type of a family, by the call that registers it; a row of a table has a flag: whether it is a gauge."""
    if flag:
        return "gauge" if flag.endswith("true") else "counter"
    found = re.findall(r"counter|histogram|gauge", before)
    return found[-1] if found else "gauge"


def registered(root, files):
    """name -> (type, labels, help) of each family of the sources, named as /metrics has it."""
    result = {}
    for _, text in messages.sources(root, files):
        for match in DECLARED.finditer(text):
            kind = kind_of(text[max(0, match.start() - BEFORE):match.start()], match[3])
            name = match[1] + ("_total" if kind == "counter" else "")
            labels = ", ".join(re.findall(r'"(\w+)"', match[4] or ""))
            result[name] = (kind, labels, messages.text_of(match[2]))
        result |= by_signal(text)
    return result


def by_signal(text):
    """name -> row of the counters of a source whose names end with a signal of OTLP."""
    result = {}
    for match in BY_SIGNAL.finditer(text):
        behind = text[match.end():match.end() + AFTER].partition("\n}")[0]
        labels = ", ".join(re.findall(r'"(\w+)"', LABELS.search(behind)[1]))
        for signal, words in CHOICE.findall(behind):
            name = f"{match[1]}{(signal or LAST_SIGNAL).replace(' ', '_')}_total"
            result[name] = ("counter", labels, messages.text_of(words))
    return result


def unlisted(root, files, known):
    """The families of the sources that `known` has not, neither as a counter nor as another kind."""
    plain = {name.removesuffix("_total") for name in known}
    return {name: row for name, row in registered(root, files).items() if name.removesuffix("_total") not in plain}


def others(root, files, known):
    """The section of docs/reference/metrics.md of what no program has that its page is made of."""
    rows = [[f"`{name}`", *row] for name, row in sorted(unlisted(root, files, known).items())]
    return ("## Other parts of a program\n\nWhat an application has beside those above when it uses jobs, the job "
            "queue, idempotency keys, sessions in memory,\nthe audit log or Redis. A label that the part itself adds, "
            "such as the queue, is not shown.\n\n" + markdown.table(["metric", "type", "labels", "meaning"], rows))


def findings(root, files, page="docs/reference/metrics.md"):
    """A finding for each family of the sources that the reference has not."""
    if page not in files:
        return
    listed = set(re.findall(r"`((?:katana|process)_\w+)`", (root / page).read_text()))
    for name in sorted(unlisted(root, files, listed)):
        yield f"{page}: {name} is missing. Run tools/docs."

# SPDX-License-Identifier: Apache-2.0
