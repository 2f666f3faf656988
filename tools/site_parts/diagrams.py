"""State diagrams as pictures: Mermaid's notation, as far as docs/diagrams uses it, drawn by Graphviz.

Mermaid itself is a script that browsers would have to load, which the site does not do.
"""

import html
import re
import subprocess

DIAGRAM = re.compile(r"^```mermaid\nstateDiagram-v2\n(.*?)^```$", re.M | re.S)
EDGE = re.compile(r"\s*(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: (.+))?")
# The page's own colours, so that a picture is right in light and dark.
LOOK = """digraph { bgcolor=transparent; rankdir=TB; nodesep=0.35; ranksep=0.55;
node [shape=box style=rounded fontname="sans-serif" fontsize=12 margin="0.16,0.07" color=currentcolor];
edge [fontname="sans-serif" fontsize=10 color=currentcolor arrowsize=0.7];
"""


def graph(text):
    lines, labels = [LOOK], {}
    for line in filter(str.strip, text.split("\n")):
        match = EDGE.fullmatch(line)
        if not match:
            raise ValueError(f"'{line.strip()}' is no transition 'a --> b: label'. Mend the diagram.")
        begin = "begin" if match[1] == "[*]" else match[1]
        labels.setdefault((begin, "end" if match[2] == "[*]" else match[2]), []).append(match[3] or "")
    for point, more in (("begin", ""), ("end", " peripheries=2")):
        if any(point in edge for edge in labels):
            lines.append(f'{point} [shape=circle style=filled label="" width=0.14 fillcolor=currentcolor{more}];')
    for (begin, end), texts in labels.items():
        label = "\\n".join(each.replace('"', "'") for each in texts)
        lines.append(f'{begin} -> {end} [label="{label}"];')
    return "\n".join(lines) + "\n}\n"


def draw(match):
    svg = subprocess.run(["dot", "-Tsvg"], input=graph(match[1]), capture_output=True, text=True, check=True).stdout
    svg = re.sub(r"<!--.*?-->\s*|<title>.*?</title>\s*", "", svg[svg.index("<svg"):], flags=re.S)
    svg = svg.replace("currentcolor", "currentColor").replace("<text ", '<text fill="currentColor" ')
    svg = re.sub(r"\n\s*", " ", svg).strip()
    return (f'<div class="diagram" markdown="0">{svg}</div>\n\n<details markdown="0"><summary>As text</summary><pre>'
            f"{html.escape(match[1].strip())}</pre></details>")


def drawn(text):
    """A page with its diagrams drawn."""
    return DIAGRAM.sub(draw, text)

# SPDX-License-Identifier: Apache-2.0
