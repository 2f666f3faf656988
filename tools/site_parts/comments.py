"""A header as Doxygen is to read it.

The headers have plain `//` comments, which Doxygen ignores. Comments before or behind a declaration become its own,
whole and uninterpreted (\\verbatim): their text needs no escapes. Lines keep their numbers.
"""

import re

STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|(?P<comment>//.*)')
UNATTACHED = re.compile(r"\s*(?:#(?!define)|[})]|namespace\b)")
SKIPPED = re.compile(r"//\s*(?:NOLINT|clang-format|SPDX|IWYU|namespace\b)")


def split_trailing(line):
    """(code, text) of `code  // text`, or (line, None)."""
    for match in STRING.finditer(line):
        if match["comment"] and not SKIPPED.match(match["comment"]):
            return line[:match.start()], match["comment"][2:].strip()
    return line, None


def is_comment(line):
    return line.lstrip().startswith("//")


def block(lines, mark):
    """Comment lines as one Doxygen comment with their text as it is."""
    texts = [re.sub(r"^\s*// ?", "", line).replace("\\endverbatim", "").replace("*/", "* /") for line in lines]
    texts[0] = f"{mark} \\verbatim " + texts[0]
    texts[-1] += " \\endverbatim */"
    return texts


def convert(text):
    lines, out, i = text.split("\n"), [], 0
    while i < len(lines):
        if not is_comment(lines[i]):
            code, comment = split_trailing(lines[i])
            following = i + 1
            if comment is not None and code.rstrip().endswith((";", ",", "}")) or comment and re.match(
                    r"\s*\w+(?: = [^;{]*)?\s*$", code):
                column = len(code)  # a comment goes on in lines of its own below where it begins
                while following < len(lines) and re.match(rf"\s{{{column}}}//", lines[following]):
                    following += 1
                first, *rest = block(["//" + comment, *lines[i + 1:following]], "/**<")
                out += [code + first, *rest]
            else:
                out.append(lines[i])
            i = following
            continue
        end = i
        while end < len(lines) and is_comment(lines[end]):
            end += 1
        attached = end < len(lines) and lines[end].strip() and not UNATTACHED.match(lines[end])
        usable = [line for line in lines[i:end] if not SKIPPED.match(line.strip())]
        if i > 0 and attached and len(usable) == end - i:
            out += block(lines[i:end], "/**")
        else:
            out += [""] * (end - i)
        i = end
    return "\n".join(out)

# SPDX-License-Identifier: Apache-2.0
