#!/usr/bin/python3
"""prose: the sentences of documents, comments and printed texts, and the rules of language that a machine can see.

HACKING.md ("Language") has the rules. `tools/tidy --only words` counts the mistakes of each file. RATCHET has the
counts of files that still have some: they may shrink, and never grow.

  tools/prose.py FILE…      the mistakes of these files
  tools/prose.py --lower    lowers the ratchet to the counts of the tree; raises none
"""

import ast
import collections
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path

RATCHET = "tools/prose_ratchet.json"

WORDS_MAX = 25  # of a sentence
# Rule -> (pattern in a sentence, remedy). Where a pattern begins with ^, it is judged at the beginning of a sentence.
RULES = {
    "subject": (r"\b(?:[Nn]obody|[Ww]hom?ever|[Tt]hat which|[Bb]y (?:itself|themselves))\b"
                r"|\b[Oo]f (?:its|their) own(?=[.,;:)!?]|$| (?:and|or|in|to|for|with|that|which|where|when|because|at"
                r"|on|by|is|as|from|it|but|each|if|so)\b)", "Name the subject"),
    "opening": (r"^(?:Who|Whom|Whose|What|Of|Beside|So|Else)\b(?!.*\?$)", "Begin with a named subject"),
    "octet": (r"\b[Oo]ctets?\b(?!-)", "Write byte"),
    "peer": (r"\b[Pp]eers?\b", "Write client, server, or the other side"),
}
LONG = "long"  # the rule of WORDS_MAX
SPECIFIED = re.compile(r"\bRFC\b|§|application/octet-stream|octet-stream")  # a sentence that quotes a specification
# Made from code that is judged itself, rules of specifications in their words, and the history of the past.
NO_PROSE = re.compile(r"docs/reference/(?:conformance|errors|flags|log-messages|metrics|modules|openapi-documents|"
                      r"settings|where-things-go)\.md|LICENSE.*|.*/fuzz_seeds/.*|lab/results/.*")
# Files that speak of the words: this one, and those with its rules.
SPEAKS_OF_WORDS = {"tools/prose.py", "tools/prose_test.py", "tools/tidy_test.py", "HACKING.md"}
# String literals that are raw, single characters, SQL, HTML or HTTP.
NO_SENTENCES = re.compile(r"""R|'|"[^a-z"]*\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|LIMIT|VALUES)\b"""
                          r"""|"\s*<!doctype|"HTTP/1|"[a-z]+ TEXT NOT NULL|"[a-z]+_us, """)
MARKED = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?")
CODE = re.compile(r"``.+?``|`[^`]*`", re.S)
QUOTED = re.compile(r'"[^"\n]{0,200}"|“[^”]*”')
ENDS = re.compile(r"(?<=[.!?])(?:[)\"'*_]*)\s+(?=[\"'(*_]*[A-Z0-9\x00])")
ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|No|Dr|St)\.$")
COMMENT = re.compile(
    r"""(?P<comment>//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/)"""
    r"""|(?P<string>(?:R"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*")(?:\s*"(?:[^"\\\n]|\\.)*")*"""
    r"""|'(?:[^'\\\n]|\\.)+')|(?P<number>(?<!\w)\d(?:'?[\w.])*)""", re.S)
Sentence = collections.namedtuple("Sentence", "line text")
Mistake = collections.namedtuple("Mistake", "line rule found remedy")


def split(block, line):
    """The sentences of one block of text without marks; a `\0` stands for code."""
    start, pieces = 0, []
    for match in ENDS.finditer(block):
        if not ABBREVIATED.search(block[:match.start()]):
            pieces.append((start, block[start:match.start()]))
            start = match.end()
    for offset, text in [*pieces, (start, block[start:])]:
        words = " ".join(text.split())
        if re.search(r"[A-Za-z]", words):
            yield Sentence(line + block.count("\n", 0, offset), words)


def plain(text):
    """Without code, targets of links and marks; quotations are one word."""
    text = CODE.sub("\0", text)
    text = re.sub(r"<https?:[^>]*>|https?://\S+", "\0", text)
    text = MARKED.sub(r"\1", text)
    return QUOTED.sub(lambda match: re.sub(r"[^\n]+", "\0", match[0]), text)


def blocks_of_markdown(text):
    """(line, text) of paragraphs, items and cells; not of code, headings, comments and front matter."""
    text = re.sub(r"\A---\n.*?\n---\n", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)
    text = re.sub(r"<!--.*?-->|^( *)(```+|~~~+).*?^ *\2 *$|^ *\$\$.*?\$\$", lambda match: "\n" * match[0].count("\n"),
                  text, flags=re.S | re.M)
    block, first = [], 1
    for number, line in enumerate(text.split("\n"), 1):
        begins = re.match(r" *(?:[-*+]|\d+[.)]) +", line)
        is_text = line.strip() and not re.match(r"#|    |\||<|\s*[-=|: ]+$|!!!|===", line)
        if (begins or not is_text) and block:
            yield first, "\n".join(block)
            block = []
        if re.match(r" *\|", line):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                yield number, cell
        elif is_text:
            if not block:
                first = number
            block.append(line[begins.end():] if begins else line.lstrip("> "))
    if block:
        yield first, "\n".join(block)


def blocks_of_cpp(text, kinds):
    """(line, text) of comments, `comment`, and of string literals that are sentences, `string`."""
    for match in COMMENT.finditer(text):
        if match.lastgroup not in kinds and not (match["string"] and "string" in kinds):
            continue
        line = text.count("\n", 0, match.start()) + 1
        if match["comment"]:
            for first, body in columns_of(match[0], match.start() - text.rfind("\n", 0, match.start()) - 1, line):
                yield from paragraphs(re.sub(r"(?m)^[ \t]*(?://+|\*)|/\*+|\*/", "", body), first)
        elif not NO_SENTENCES.match(match[0]) and len(re.findall(r"[A-Za-z]{2,}", match[0])) > 3:
            body = re.sub(r'"\s*\n\s*"', "\n", match[0])
            yield line, re.sub(r'"[ \t]*"', "", body).strip('"').replace(r"\n", " ").replace(r'\"', "'")


def columns_of(comment, column, line):
    """(line, text) of lines of a comment that begin in one column: below a comment behind code another one begins."""
    rows, first = [], line
    for number, row in enumerate(comment.split("\n"), line):
        begins = column if number == line else len(row) - len(row.lstrip())
        if rows and begins != column and comment.startswith("//"):
            yield first, "\n".join(rows)
            rows, first, column = [], number, begins
        rows.append(row)
    yield first, "\n".join(rows)


def paragraphs(body, line):
    """Blocks of a comment: a table of aligned columns or a drawing is no prose, a list has items."""
    block, first = [], line
    for number, row in enumerate(body.split("\n"), line):
        item = re.match(r"\s*(?:[-*]|\d+[.)]|\w+ {2,})\s*", row)
        drawn = re.search(r"\S {3,}\S|[-=]{4,}|[│─┌┐└┘├┤+|]{2,}|SPDX-|clang-format|NOLINT", row)
        if (not row.strip() or item or drawn) and block:
            yield first, "\n".join(block)
            block = []
        if row.strip() and (item or not drawn):
            if not block:
                first = number
            block.append(row[item.end():] if item else row)
    if block:
        yield first, "\n".join(block)


def blocks_of_python(text):
    """(line, text) of comments and of docstrings."""
    try:
        tree, tokens = ast.parse(text), list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError):
        return
    block, first, column = [], 0, 0
    for token in [*(token for token in tokens if token.type == tokenize.COMMENT), None]:
        if block and (token is None or token.start != (first + len(block), column)):
            yield from paragraphs("\n".join(block), first)
            block = []
        if token and not token.string.startswith("#!"):
            first, column = (first if block else token.start[0]), token.start[1]
            block.append(token.string.lstrip("# "))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node):
            yield from paragraphs(node.body[0].value.value, node.body[0].lineno)


def blocks(path, text):
    if NO_PROSE.fullmatch(path):
        return
    if path.endswith(".md"):
        yield from blocks_of_markdown(text)
    elif path.endswith((".hpp", ".cpp", ".h", ".c")):
        printed = path.startswith(("katana/", "apps/")) and not re.search(r"_(?:test|fuzz|bench)\.[ch]pp$", path)
        yield from blocks_of_cpp(text, ("comment", "string") if printed else ("comment",))
    elif path.endswith(".py") or re.match("#!.*python", text):
        yield from blocks_of_python(text)


def sentences(path, text):
    for line, block in blocks(path, text):
        yield from split(plain(block), line)


def length(sentence):
    return len(re.findall(r"[\w\x00][\w\x00'’.,/:+-]*", sentence))


def mistakes(path, text):
    if path in SPEAKS_OF_WORDS:
        return
    for line, sentence in sentences(path, text):
        for rule, (pattern, remedy) in RULES.items():
            found = re.search(pattern, sentence)
            if found and not (rule in ("octet", "peer") and SPECIFIED.search(sentence)):
                yield Mistake(line, rule, found[0], remedy)
        if length(sentence) > WORDS_MAX:
            yield Mistake(line, LONG, f"{sentence[:40].replace(chr(0), '…')}…", f"Write at most {WORDS_MAX} words")


def judge(texts, ratchet):
    """(path, line, message, remedy) of each mistake beyond the ratchet, and of each count in it that is too high."""
    unused = {(path, rule) for path, counts in ratchet.items() for rule in counts}
    for path, text in texts:
        found = collections.defaultdict(list)
        for mistake in mistakes(path, text):
            found[mistake.rule].append(mistake)
        for rule, those in found.items():
            allowed = ratchet.get(path, {}).get(rule, 0)
            unused.discard((path, rule))
            if len(those) > allowed:
                kept = f" ({len(those)} of the kind, {allowed} in {RATCHET})" if allowed else ""
                for mistake in those:
                    yield path, mistake.line, f"{rule}: '{mistake.found}'{kept}", mistake.remedy
            elif len(those) < allowed:
                yield RATCHET, 1, f"'{path}' has {len(those)} of '{rule}', {allowed} here", "Run tools/prose.py --lower"
    for path, rule in sorted(unused):
        yield RATCHET, 1, f"'{path}' has none of '{rule}'", "Run tools/prose.py --lower"


def lowered(texts, ratchet):
    """The ratchet with the counts of the texts, where these are lower."""
    lower = {}
    for path, text in texts:
        counts = collections.Counter(mistake.rule for mistake in mistakes(path, text)) if path in ratchet else {}
        kept = {rule: min(counts[rule], limit) for rule, limit in ratchet.get(path, {}).items() if counts[rule]}
        if kept:
            lower[path] = kept
    return lower


def main(arguments):
    root = Path(__file__).resolve().parent.parent
    if arguments == ["--lower"]:
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True, check=True)
        names = [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]
        texts = ((name, (root / name).read_text(errors="replace")) for name in names)
        ratchet = lowered(texts, json.loads((root / RATCHET).read_text()))
        rows = ",\n".join(f" {json.dumps(path)}: {json.dumps(counts, sort_keys=True)}"
                          for path, counts in sorted(ratchet.items()))
        (root / RATCHET).write_text(f"{{\n{rows}\n}}\n")
        return 0
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr if arguments != ["--help"] else sys.stdout)
        return 0 if arguments == ["--help"] else 2
    found = 0
    for name in arguments:
        path = Path(name).resolve()
        if not path.is_file():
            print(f"{name}: there is no such file", file=sys.stderr)
            return 2
        for line, rule, words, remedy in mistakes(str(path.relative_to(root)), path.read_text(errors="replace")):
            found += 1
            print(f"{name}:{line}: {rule}: '{words}'. {remedy}.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
