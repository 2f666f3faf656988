"""Messages of programs to people: records of the log, and problem documents, as the sources of katana/ have them.

docs/reference/log-messages.md and errors.md list them. Their first columns are made of the sources; the last one is
written by hand, and stays while its message does.
"""

import re
from pathlib import Path

from . import markdown

LITERAL = r'(?:"(?:\\.|[^"\\])*"\s*)+'
RECORD = re.compile(rf"\b(?:\w*logger_?|slow|stall_log)(?:\.|->)(info|warn|error|fatal)\(\s*({LITERAL})[,)]")
FAILURE = re.compile(rf"(?:\.what = |\bsend_failure\(\w+,\s*)({LITERAL})")  # told with the logger `failures`
PROBLEM = re.compile(rf"\b([45]\d\d)\s*,\s*(?:Bytes\(|Text\(|fmt::format\(|format_text\()?\s*({LITERAL})")
NAMED_PROBLEM = re.compile(r"\b([45]\d\d)\s*,\s*((?:\w+::)*[a-z_]\w*)\)")
CONSTANT = re.compile(rf"\bconstexpr (?:Bytes|const char\*)\s+(\w+)\s*=\s*({LITERAL});")
TYPES = "katana/http/handlers/framework_problems.hpp"
TYPE = re.compile(r'((?:^// .*\n)+)inline constexpr ProblemType (\w+){\s*\.uri = "([^"]+)",\s*\.status = (\d+),'
                  r'\s*\.title = "[^"]+"};', re.M)
TYPED = re.compile(rf"\b(?:problem_)?types::(\w+),\s*(?:Bytes\(|Text\(|fmt::format\(|format_text\()?\s*({LITERAL})")
NAMED_TYPED = re.compile(r"\b(?:problem_)?types::(\w+),\s*((?:\w+::)*[a-z_]\w*)\)")
UNTYPED = re.compile(r"(?<![\w.>])problem\(\s*\d")
PROBLEM_FOLDERS = ("katana/http/", "katana/identity/", "katana/openapi/document/", "katana/openapi/validation/",
                   "katana/wire/")
PAGES = {"docs/reference/log-messages.md": ("log messages", ("level", "message", "meaning, and what to do")),
         "docs/reference/errors.md": ("problem documents", ("status", "detail", "cause, and what to do"))}


def text_of(literals):
    """The text of string literals that follow one another."""
    joined = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literals))
    return joined.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")


def sources(root, files):
    for name in files:
        if name.startswith("katana/") and name.endswith((".cpp", ".hpp")) and "_test" not in name:
            if not name.startswith("katana/testing/"):
                text = (root / name).read_text()
                yield name, re.sub(r"^\s*//.*$", "", text, flags=re.M)


def records(root, files):
    """(level, message) of each record that has its own text."""
    found = set()
    for _, text in sources(root, files):
        for match in RECORD.finditer(text):
            words = text_of(match[2])
            if re.search(r"\w", re.sub(r"{[^}]*}", "", words)):
                found.add((match[1], words))
        found |= {("failure", text_of(match[1])) for match in FAILURE.finditer(text)}
    return found


def types(root, files):
    """Name -> (URI, status, when it is sent, remedy of the client) of each type of problem that KATANA makes."""
    if TYPES not in files:
        return {}
    found = {}
    for comment, name, uri, status in TYPE.findall((root / TYPES).read_text()):
        sent, _, remedy = re.sub(r"\s*\n?// ", " ", comment).strip().partition(" Client: ")
        found[name] = (uri, status, sent, remedy)
    return found


def types_table(root, files):
    return markdown.table(["type", "status", "when the server sends it", "what the client can do"],
                          [[f"`{uri}`", status, *texts] for uri, status, *texts in sorted(types(root, files).values())])


def type_findings(root, files):
    """A finding for each type that the page of problems lacks or has for nothing, and for a problem without one."""
    known = types(root, files)
    if not known:
        return
    page = root / "docs/reference/errors.md"
    has = set(re.findall(r"^\| `(urn:katana:problem:[a-z-]+)` \|", page.read_text() if page.is_file() else "", re.M))
    wanted = {uri for uri, *_ in known.values()}
    for uri in sorted(wanted - has):
        yield f"docs/reference/errors.md: {uri} is missing. Run tools/docs --sources."
    for uri in sorted(has - wanted):
        yield f"docs/reference/errors.md: no source has {uri}. Run tools/docs --sources."
    for name, (uri, *_) in sorted(known.items()):
        if uri != "urn:katana:problem:" + name.replace("_", "-"):
            yield f"{TYPES}: {name} has the URI {uri}. Give it the one of its name."
    for name, text in sources(root, files):
        if UNTYPED.search(text):
            yield f"{name}: problem(STATUS, …) has no type. Take one of {TYPES}, or add one."


def problems(root, files):
    """(status, detail) of each problem document with a detail that is known here."""
    found, constants, named = set(), {}, set()
    statuses = {name: status for name, (_, status, *_) in types(root, files).items()}
    for name, text in sources(root, files):
        constants |= {match[1]: text_of(match[2]) for match in CONSTANT.finditer(text)}
        if name.startswith(PROBLEM_FOLDERS):
            found |= {(match[1], text_of(match[2])) for match in PROBLEM.finditer(text)}
            named |= {(match[1], match[2].split("::")[-1]) for match in NAMED_PROBLEM.finditer(text)}
            found |= {(statuses[match[1]], text_of(match[2])) for match in TYPED.finditer(text) if match[1] in statuses}
            named |= {(statuses[match[1]], match[2].split("::")[-1]) for match in NAMED_TYPED.finditer(text)
                      if match[1] in statuses}
    found |= {(status, constants[name]) for status, name in named if name in constants}
    # A sentence: the names of statuses are none.
    return {(status, words.strip()) for status, words in found if re.fullmatch(r"[A-Z].* .*[.:] ?", words)}


def shown(words):
    """A message as a cell of a table has it: in code style, with … for what differs."""
    return "`" + re.sub(r"{[^}]*}", "…", words).replace("`", "'") + "`"


def rows_of(page):
    """(first column, message) -> last column, of the table of a page."""
    rows = {}
    for line in page.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and cells[1].startswith("`"):
            rows[cells[0], cells[1]] = cells[2]
    return rows


def listed(root, files, name):
    """The rows that a page is to have, without their last column."""
    found = records(root, files) if name.endswith("log-messages.md") else problems(root, files)
    return sorted({(first, shown(words)) for first, words in found}, key=lambda row: (row[0], row[1].lower()))


def table(root, files, name):
    """The table of a page anew: hand-written text of messages that are still there stays."""
    kept = rows_of((root / name).read_text())
    return markdown.table(list(PAGES[name][1]),
                          [[first, words.replace("|", "\\|"), kept.get((first, words), "").replace("|", "\\|")]
                           for first, words in listed(root, files, name)])


def findings(root, files):
    """A finding for each message that a page has not, has for nothing, or does not explain."""
    for name in PAGES:
        if name not in files:
            continue
        rows, wanted = rows_of((root / name).read_text()), set(listed(root, files, name))
        for first, words in sorted(wanted - set(rows)):
            yield f"{name}: {first} {words} is missing. Run tools/docs --sources, and write what it means."
        for first, words in sorted(set(rows) - wanted):
            yield f"{name}: no source has {first} {words}. Run tools/docs --sources."
        for (first, words), meaning in rows.items():
            if not meaning:
                yield f"{name}: {first} {words} has no meaning yet. Write it into the last column."
    yield from type_findings(root, files)


def written(root):
    """Files of the tree, for tools that do not ask git."""
    return sorted(str(path.relative_to(root)) for path in (Path(root) / "katana").rglob("*.[ch]pp"))

# SPDX-License-Identifier: Apache-2.0
