"""Diagrams as pictures: Mermaid's notation, as far as the documents use it.

Graphviz draws states and flows, sequence.py draws sequences. Mermaid itself is a script of 3 MB for browsers.
"""

import html
import re
import subprocess

from . import sequence

DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)
EDGE = re.compile(r"\s*(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: (.+))?")
NODE = r'(\w+)(?:\["?([^"\]]+)"?\])?'
FLOW_EDGE = re.compile(rf'\s*{NODE} -->(?:\|"?([^"|]+)"?\|)? {NODE}')
# Becomes the page's own colour, so that a picture is right in light and dark; Graphviz does not know currentColor.
INK = "#123456"
LOOK = f"""digraph {{{{ bgcolor=transparent; rankdir={{direction}}; nodesep=0.35; ranksep=0.55;
node [shape=box style=rounded fontname="sans-serif" fontsize=12 margin="0.16,0.07" color="{INK}" fontcolor="{INK}"];
edge [fontname="sans-serif" fontsize=10 color="{INK}" fontcolor="{INK}" arrowsize=0.7];
"""


def quoted(text):
    """A label of Graphviz."""
    return '"' + re.sub(r"<br ?/?>", "\\\\n", text.replace('"', "'")) + '"'


def states(text):
    """A state diagram as Graphviz reads it."""
    lines, labels = [LOOK.format(direction="TB")], {}
    for line in filter(str.strip, text.split("\n")):
        match = EDGE.fullmatch(line)
        if not match:
            raise ValueError(f"'{line.strip()}' is no transition 'a --> b: label'. Mend the diagram.")
        begin = "begin" if match[1] == "[*]" else match[1]
        labels.setdefault((begin, "end" if match[2] == "[*]" else match[2]), []).append(match[3] or "")
    for point, more in (("begin", ""), ("end", " peripheries=2")):
        if any(point in edge for edge in labels):
            lines.append(f'{point} [shape=circle style=filled label="" width=0.14 fillcolor="{INK}"{more}];')
    for (begin, end), texts in labels.items():
        lines.append(f"{begin} -> {end} [label={quoted('<br>'.join(texts))}];")
    return "\n".join(lines) + "\n}\n"


def flow(text, direction):
    """A flowchart as Graphviz reads it."""
    lines, titles = [LOOK.format(direction=direction)], {}
    for line in filter(str.strip, text.split("\n")):
        match = FLOW_EDGE.fullmatch(line)
        if not match:
            raise ValueError(f"'{line.strip()}' is no edge 'a --> b[\"title\"]'. Mend the diagram.")
        begin, begin_title, label, end, end_title = match.groups()
        for name, title in ((begin, begin_title), (end, end_title)):
            titles[name] = title or titles.get(name, name)
        lines.append(f"{begin} -> {end} [label={quoted(label or '')}];")
    lines += [f"{name} [label={quoted(title)}];" for name, title in titles.items()]
    return "\n".join(lines) + "\n}\n"


def laid_out(graph):
    """Graphviz's picture of a graph, as an SVG element."""
    svg = subprocess.run(["dot", "-Tsvg"], input=graph, capture_output=True, text=True, check=True).stdout
    svg = re.sub(r"<!--.*?-->\s*|<title>.*?</title>\s*", "", svg[svg.index("<svg"):], flags=re.S)
    return re.sub(r"\n\s*", " ", svg.replace(INK, "currentColor")).strip()


def picture(text):
    kind, _, rest = text.partition("\n")
    if kind == "stateDiagram-v2":
        return laid_out(states(rest))
    if match := re.fullmatch(r"flowchart (LR|TB)", kind):
        return laid_out(flow(rest, match[1]))
    if kind == "sequenceDiagram":
        return sequence.picture(rest)
    raise ValueError(f"'{kind}' is no kind of diagram that tools/site draws. Draw states, a flowchart or a sequence.")


def draw(match):
    return (f'<div class="diagram" markdown="0">{picture(match[1])}</div>\n\n<details markdown="0"><summary>As text'
            f"</summary><pre>{html.escape(match[1].strip())}</pre></details>")


def drawn(text):
    """A page with its diagrams drawn."""
    return DIAGRAM.sub(draw, text)

# SPDX-License-Identifier: Apache-2.0
