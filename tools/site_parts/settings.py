"""docs/reference/settings.md: a section for each group of settings, from what programs print as their defaults."""

import re

from . import markdown

PAGE = "docs/reference/settings.md"
SOURCE = "katana/app/settings.hpp"
STRUCTS = ("ApplicationSettings", "SettingsWithDatabase")
BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.M | re.S)
KEY = re.compile(r"( *)(\w+):(?: (\S.*?))??(?:\s+# (.*))?")
PART = re.compile(r'\bPartWith\("([a-z_]+)"')  # a part of a program, and the name of its group


def groups(text):
    """Name -> YAML of each top-level key that --print-defaults prints, in its order."""
    parts = re.split(r"^(?=[a-z_]+:)", text, flags=re.M)
    return {part.split(":")[0]: part.rstrip() for part in parts if part.strip()}


def page(all_groups, own_keys, more):
    """The page: the groups of programs that have every part, without their own keys, and those of another one."""
    shown = {}
    for printed in all_groups:
        for name, text in groups(printed).items():
            if name not in own_keys:
                shown.setdefault(name, text)
    lines = ["# Settings", "",
             "Every key of the configuration with its default. `--print-defaults` prints those that a program has.",
             "[Configuration](../guides/config.md) says where values come from.", "",
             "Groups: " + ", ".join(f"[{name}](#{name})" for name in shown) + "."]
    for name, text in shown.items():
        lines += ["", f"## {name}", "", "```yaml", text, "```"]
    for name, text in groups(more).items():
        if name not in shown:
            lines += ["", f"## {name}", "", "Of the program `fullstack` alone.", "", "```yaml", text, "```"]
    return "\n".join(lines)


def rows_of(block):
    """[(key with those above it, default, meaning)] of YAML as --print-defaults writes it."""
    rows, above = [], []  # above: (indentation, key)
    for line in re.sub(r"^( *)# (?= *\w+:)", r"\1", block, flags=re.M).rstrip().split("\n"):
        match = KEY.fullmatch(line)
        if not match:
            raise ValueError(f"{PAGE}: '{line}' is no setting 'key: value  # meaning'.")
        depth = len(match[1])
        above = [each for each in above if each[0] < depth] + [(depth, match[2])]
        if match[3] or match[4]:
            rows.append((".".join(key for _, key in above), match[3] or "", match[4] or ""))
    return rows


def escaped(text):
    return re.sub(r"`[^`]*`|([*_<\[])", lambda match: f"\\{match[1]}" if match[1] else match[0], text)


def tabled(text):
    """The page with tables for its YAML, whose lines are longer than a screen."""
    def table(match):
        rows = [[f"`{key}`", f"`{value}`" if value else "", escaped(meaning)]
                for key, value, meaning in rows_of(match[1])]
        return markdown.table(["setting", "default", "meaning"], rows)
    return BLOCK.sub(table, text)


def declared(root):
    """The keys that the structs of the framework have."""
    text = re.sub(r"//[^\n]*", "", (root / SOURCE).read_text())
    names = set()
    for struct in STRUCTS:
        described = re.search(rf"KATANA_DESCRIBE(?:_DERIVED)?\({struct},(.*?)\)\n\n", text, re.S)
        if described is None:
            raise ValueError(f"{SOURCE}: no description of {struct}")
        words = re.sub(r'"(?:\\.|[^"\\])*"', "", described[1])
        names |= {name for name in re.findall(r"[(,]\s*([a-z_]+)(?=\s*[,)]|\s*$)", "," + words)
                  if name not in ("reloadable", "secret", "hidden")}
    return names


def findings(root, files):
    """A finding for each key of the framework that the page lacks."""
    if SOURCE not in files:
        return
    text = (root / PAGE).read_text() if PAGE in files else ""
    parts = {part for each in files if each.startswith("katana/") and each.endswith(".cpp")
             and not each.endswith("_test.cpp") for part in PART.findall((root / each).read_text())}
    for name in sorted(declared(root) | parts):
        if f"\n## {name}\n" not in text:
            yield f"{PAGE}: the settings '{name}' are missing. Run tools/docs."

# SPDX-License-Identifier: Apache-2.0
