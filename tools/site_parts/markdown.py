"""Markdown as the documents use it: prose, links and headings, each with its place."""

import collections
import re

Link = collections.namedtuple("Link", "line begin end target")  # begin and end: of the target in the text
FENCE = re.compile(r"^( *)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$", re.M | re.S)
INLINE_CODE = re.compile(r"(`+)(?!`)(?:.|\n(?!\n))+?(?<!`)\1(?!`)")
COMMENT = re.compile(r"<!--.*?-->", re.S)
TARGET = re.compile(r"\]\(\s*<?([^()\s>]+(?:\([^()\s]*\)[^()\s>]*)?)>?(?:\s+\"[^\"]*\")?\s*\)"
                    r"|^\[[^\]]+\]:\s+(\S+)|(?:href|src)=\"([^\"]+)\"", re.M)
HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?(?:[ \t]*\{#([\w-]+)\})?[ \t]*$", re.M)


def blank(text, *patterns):
    """The text with all matches of the patterns turned into spaces; offsets stay."""
    for pattern in patterns:
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def links(text):
    for match in TARGET.finditer(blank(text, FENCE, INLINE_CODE, COMMENT)):
        group = match.lastindex
        yield Link(text.count("\n", 0, match.start()) + 1, *match.span(group), match[group])


def slug(title):
    """The anchor of a heading: that of GitHub, and of pymdownx.slugs with case=lower."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    title = re.sub(r"`([^`]*)`|<[^>]+>", lambda match: match[1] or "", title)
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def headings(text):
    """(level, title, anchor) of each heading."""
    known = collections.Counter()
    for match in HEADING.finditer(blank(text, FENCE, COMMENT)):
        title = text[match.start(2):match.end(2)]
        anchor = match[3] or slug(title)
        yield len(match[1]), title, anchor if not known[anchor] else f"{anchor}_{known[anchor]}"
        known[anchor] += 1


def title(text, default):
    return next((title for level, title, _ in headings(text) if level == 1), default)


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
                     for line in lines)

# SPDX-License-Identifier: Apache-2.0
