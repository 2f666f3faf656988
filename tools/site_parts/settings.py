"""docs/reference/settings.md: a section for each group of settings, from what programs print as their defaults."""

import re

PAGE = "docs/reference/settings.md"
SOURCE = "katana/app/settings.hpp"
STRUCTS = ("ApplicationSettings", "SettingsWithDatabase")
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
