"""Sequence diagrams as pictures: Mermaid's notation, as far as the documents use it, drawn as SVG.

Graphviz has no layout for them; lanes and rows need none. Text is wrapped by a width that is estimated.
"""

import dataclasses
import html
import re
import textwrap

PARTICIPANT = re.compile(r"\s*participant (\w+)(?: as (.+))?")
MESSAGE = re.compile(r"\s*(\w+)-(-?)>>(\w+): (.+)")
NOTE = re.compile(r"\s*Note over (\w+)(?:,(\w+))?: (.+)")
LETTER = 6.2  # pixels, the mean of a sans-serif font of LINE pixels
LINE = 14  # pixels from a line of text to the next
LANE = 104  # pixels from a participant to the next
CHARACTERS = 16  # in a line between two neighbours
MARGIN = 58  # pixels left of the first lane and right of the last
HEAD = 40  # pixels of height, of the participants' boxes


@dataclasses.dataclass
class Row:
    begin: str
    end: str  # equal to begin: a message of a participant to itself
    text: str
    dashed: bool = False
    note: bool = False


def parsed(text):
    """({participant: its title}, rows) in the order of the diagram."""
    titles, rows = {}, []
    for line in filter(str.strip, text.split("\n")):
        if match := PARTICIPANT.fullmatch(line):
            titles[match[1]] = match[2] or match[1]
        elif match := MESSAGE.fullmatch(line):
            rows.append(Row(match[1], match[3], match[4], dashed=bool(match[2])))
        elif match := NOTE.fullmatch(line):
            rows.append(Row(match[1], match[2] or match[1], match[3], note=True))
        else:
            raise ValueError(f"'{line.strip()}' is no participant, message or note. Mend the diagram.")
    for row in rows:
        titles.setdefault(row.begin, row.begin)
        titles.setdefault(row.end, row.end)
    return titles, rows


def words(lines, x, y):
    """Lines of text, centred at x, the first with its foot at y."""
    spans = "".join(f'<tspan x="{x:g}" dy="{LINE if number else 0}">{html.escape(line, quote=False)}</tspan>'
                    for number, line in enumerate(lines))
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle">{spans}</text>'


def box(lines, x, y, radius):
    """A box around lines, centred at x, its top at y."""
    width = max(len(line) for line in lines) * LETTER + 16
    height = len(lines) * LINE + 8
    return (f'<rect class="filled" x="{x - width / 2:g}" y="{y:g}" width="{width:g}" height="{height}" rx="{radius}"/>'
            + words(lines, x, y + LINE + 1))


def head(title, x):
    lines = textwrap.wrap(title, CHARACTERS - 2)
    return box(lines, x, HEAD - len(lines) * LINE - 8, 4)


def arrow(row, x, goal, y):
    dash = ' stroke-dasharray="4 3"' if row.dashed else ""
    if x == goal:
        return (f'<path d="M{x:g} {y} h26 v12 h-22"{dash}/><path class="head" d="M{x + 1:g} {y + 12} l8 -4 v8 z"/>')
    back = -8 if goal > x else 8
    return (f'<path d="M{x:g} {y} H{goal + back:g}"{dash}/>'
            f'<path class="head" d="M{goal:g} {y} l{back} -4 v8 z"/>')


def drawn_row(row, places, y):
    """(shapes, height) of a row whose top is y."""
    x, goal = places[row.begin], places[row.end]
    lanes = max(1, round(abs(goal - x) / LANE))
    lines = textwrap.wrap(row.text, CHARACTERS * lanes + 2 if row.note or x != goal else CHARACTERS + 2)
    height = len(lines) * LINE
    if row.note:
        return box(lines, (x + goal) / 2, y, 2), height + 20
    if x == goal:
        return words(lines, x, y + LINE - 3) + arrow(row, x, goal, y + height + 4), height + 30
    return words(lines, (x + goal) / 2, y + LINE - 3) + arrow(row, x, goal, y + height + 4), height + 18


def picture(text):
    """The diagram as an SVG element; its colours are the page's."""
    titles, rows = parsed(text)
    places = {name: MARGIN + LANE * number for number, name in enumerate(titles)}
    shapes, y = [], HEAD + 26
    for row in rows:
        drawn, height = drawn_row(row, places, y)
        shapes.append(drawn)
        y += height
    width = 2 * MARGIN + LANE * (len(titles) - 1)
    lanes = "".join(f'<path class="lane" d="M{x:g} {HEAD} V{y}"/>' for x in places.values())
    heads = "".join(head(titles[name], x) for name, x in places.items())
    return (f'<svg class="sequence" width="{width}" height="{y + 4}" viewBox="0 0 {width} {y + 4}" '
            f'xmlns="http://www.w3.org/2000/svg">{lanes}{heads}{"".join(shapes)}</svg>')

# SPDX-License-Identifier: Apache-2.0
