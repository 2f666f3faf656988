#!/usr/bin/python3
"""check_guide: is the program that a guide quotes the one that the tests compile, and does it do what the guide says?

    check_guide.py GUIDE.md SOURCE.cpp OUTPUT PROGRAM LOG

GUIDE.md must quote SOURCE.cpp and OUTPUT, each as one block. PROGRAM is run with the path LOG, and the lines that it
writes there, without their times, must be OUTPUT.
"""

import pathlib
import re
import subprocess
import sys


def blocks(guide):
    return re.findall(r"^```\w*\n(.*?)^```$", guide, re.M | re.S)


def main():
    guide, source, output, program, log = sys.argv[1:]
    quoted = blocks(pathlib.Path(guide).read_text())
    expected = pathlib.Path(output).read_text()
    for path in (source, output):
        if pathlib.Path(path).read_text() not in quoted:
            return f"{guide} does not quote {path} as it is: copy it into a block of its own"
    for old in (pathlib.Path(log), pathlib.Path(log + ".json")):
        old.unlink(missing_ok=True)
    subprocess.run([program, log], check=True, timeout=60, stderr=subprocess.DEVNULL)
    lines = pathlib.Path(log).read_text().splitlines(keepends=True)
    found = "".join(line.split(" ", 1)[1] for line in lines)
    return None if found == expected else f"{program} wrote\n{found}where {output} has\n{expected}"


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
