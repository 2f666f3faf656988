#!/usr/bin/python3
"""tutorial: writes the files of docs/tutorial, as a reader has them after each step.

  tutorial.py OUT     OUT/1 … OUT/7, each with app.hpp, app.cpp, app_test.cpp and migrations.hpp

A block whose first line names a file is that file from its step on. Namespaces get the number of their step, so that
all steps are one program; nothing else is changed. A file that does not change is not written again.
"""
import re
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent.parent / "docs/tutorial"
BLOCK = re.compile(r"^```(?:cpp|sql)\n(?://|--) ([\w/.]+)\n(.*?)^```$", re.M | re.S)


def numbered(text, step):
    return re.sub(r"\b(namespace notes|(?<=[ =])embedded)\b", rf"\1_{step}", text)


def migrations_header(files, step):
    rows = "".join(f'      {{"{Path(name).name}", R"sql({text})sql"}},\n'
                   for name, text in sorted(files.items()) if name.startswith("migrations/"))
    return ('#pragma once\n#include <katana/database.hpp>\n\n'
            f"namespace katana::embedded_{step} {{\n"
            "inline std::vector<katana::database::MigrationFile> migrations() {\n"
            f"  return {{\n{rows}  }};\n}}\n}}\n")


def steps():
    """(number, its files) of each step: path -> text."""
    files = {}
    pages = sorted(PAGES.glob("[0-9]*.md"))
    if [int(page.name.split("-")[0]) for page in pages] != list(range(1, 8)):
        sys.exit("tutorial.py: docs/tutorial does not have the pages 1-… to 7-…")
    for step, page in enumerate(pages, 1):
        found = dict(BLOCK.findall(page.read_text()))
        if "tests/app_test.cpp" not in found:
            sys.exit(f"tutorial.py: {page.name} has no block that begins with '// tests/app_test.cpp'")
        files |= found
        yield step, dict(files)


def main():
    out = Path(sys.argv[1])
    for step, files in steps():
        made = {Path(name).name: numbered(files[name], step)
                for name in ("src/app.hpp", "src/app.cpp", "tests/app_test.cpp")}
        made["migrations.hpp"] = migrations_header(files, step)
        for name, text in made.items():
            target = out / str(step) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_file() or target.read_text() != text:
                target.write_text(text)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
