"""The public names of the installed headers: Doxygen's XML as entities, with their comments as they stand."""

import dataclasses
import re
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

from . import comments

# A description of members is no declaration: Doxygen would take the words in it for functions.
DOXYFILE = """
PROJECT_NAME = KATANA
INPUT = katana
RECURSIVE = YES
FILE_PATTERNS = *.hpp
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
XML_NS_MEMB_FILE_SCOPE = YES
EXTRACT_ALL = YES
EXTRACT_STATIC = YES
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
SKIP_FUNCTION_MACROS = NO
PREDEFINED = "KATANA_DESCRIBE(...)=" "KATANA_DESCRIBE_STRICT(...)=" "KATANA_DESCRIBE_DERIVED(...)="
PREDEFINED += "KATANA_DESCRIBE_ENUM(...)="
EXPAND_AS_DEFINED = KATANA_LOG_LEVEL
WARNINGS = NO
QUIET = YES
SORT_MEMBER_DOCS = NO
HAVE_DOT = NO
NUM_PROC_THREADS = 1
"""
CONTRACT_KEYS = ("Owns", "Borrows", "Thread", "Threads", "Allocates", "Fails", "Invariant", "Invariants", "Links",
                 "Requires", "Order", "Cost", "Limits", "Bounds", "Units")
CONTRACT_LINE = re.compile(rf"({'|'.join(CONTRACT_KEYS)}) +(\S.*)")
# Names whose meaning the language or the standard library fixes need no comment.
CONVENTIONAL = re.compile(r"~|operator|(?:c?r?(?:begin|end)|size|empty|data|swap|value_type|iterator|promise_type|"
                          r"await_ready|await_suspend|await_resume|what|Base)$")


@dataclasses.dataclass
class Entity:
    kind: str  # class, struct, union, enum, concept, function, variable, typedef, define, value
    name: str
    scope: str  # the namespace or class that has it
    file: str
    line: int
    signature: str
    comment: str
    members: list = dataclasses.field(default_factory=list)
    documented: bool = False

    def qualified(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name


@dataclasses.dataclass
class Header:
    path: str
    summary: str
    contract: list  # (key, text)
    entities: list


def public_headers(files):
    """The installed headers: cmake/install.cmake leaves out those that only tests use."""
    return [name for name in files if name.startswith("katana/") and name.endswith(".hpp")
            and not name.endswith(("_test.hpp", "_fuzz.hpp"))]


def flat(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip() if element is not None else ""


def comment_of(element):
    texts = [each.text or "" for each in element.iter("verbatim")]
    return "\n".join(re.sub(r"[ \t]+$", "", text, flags=re.M).strip() for text in texts).strip()


def template_of(element):
    listed = element.find("templateparamlist")
    if listed is None:
        return ""
    parts = []
    for param in listed.findall("param"):
        name, default = flat(param.find("declname")), flat(param.find("defval"))
        kind = flat(param.find("type"))
        parts.append(kind + (f" {name}" if name else "") + (f" = {default}" if default else ""))
    requires = flat(element.find("requiresclause"))
    return f"template <{', '.join(parts)}>\n" + (f"  requires {requires}\n" if requires else "")


def tidy_type(text):
    text = re.sub(r"< ", "<", re.sub(r" (?=>)", "", text))
    text = re.sub(r"\s*([&*]+)(?=[\s),>]|$)", r"\1", re.sub(r"\s+([&*]+)(?=\w)", r"\1 ", text))
    text = re.sub(r"(?<=[\w)\]>])=(?=[\w{\"'(\[:-])", " = ", text)
    return re.sub(r"\)(&&?)(?=$|\s)", r") \1", text)


def function_signature(member, name, arguments):
    words = [word for word, value in (("virtual", member.get("virt") in ("virtual", "pure-virtual")),
                                      ("static", member.get("static") == "yes"),
                                      ("explicit", member.get("explicit") == "yes"),
                                      ("constexpr", member.get("constexpr") == "yes")) if value]
    kind = tidy_type(flat(member.find("type")))
    if words and re.search(r"\b(?:static|virtual)\b", kind):
        words = []
    if "override" in arguments and "virtual" in words:
        words.remove("virtual")
    if kind.startswith("constexpr") and "constexpr" in words:
        words.remove("constexpr")
    head = " ".join([*words, *([kind] if kind else []), name])
    text = head + arguments
    if len(text) > 88 and "," in arguments:
        inside, tail = split_arguments(arguments)
        text = head + "(\n    " + ",\n    ".join(inside) + ")" + tail
    return template_of(member) + text


def split_arguments(arguments):
    """(`a, b`) const -> (['a', 'b'], ' const')."""
    depth, parts, begin = 0, [], 1
    for index, letter in enumerate(arguments):
        depth += letter in "(<[{"
        depth -= letter in ")]}" or letter == ">" and arguments[index - 1] != "-"
        if depth == 1 and letter == "," or depth == 0:
            parts.append(arguments[begin:index].strip())
            begin = index + 1
            if depth == 0:
                break
    return parts, arguments[begin:]


def member_entity(member, scope):
    kind, name = member.get("kind"), flat(member.find("name"))
    place = member.find("location")
    arguments = tidy_type(flat(member.find("argsstring")))
    value = flat(member.find("initializer"))
    value = value if len(value) <= 60 else "= …"
    if kind == "function":
        signature = function_signature(member, name, arguments)
    elif kind == "enum":
        scoped = "enum class" if member.get("strong") == "yes" else "enum"
        below = flat(member.find("type"))
        signature = f"{scoped} {name}" + (f" : {below}" if below else "")
    elif kind == "define":
        params = [flat(param) for param in member.findall("param")]
        signature = f"#define {name}" + (f"({', '.join(params)})" if params else "")
    elif kind == "typedef":
        definition = tidy_type(flat(member.find("definition")))
        definition = re.sub(rf"^using \S*\b{re.escape(name)} = ", f"using {name} = ", definition)
        signature = template_of(member) + definition
    else:
        words = "static " if member.get("static") == "yes" and "::" in scope else ""
        signature = (template_of(member) + words + tidy_type(flat(member.find("type"))) + f" {name}" + arguments
                     + (f" {value}" if value else ""))
    entity = Entity(kind, name, scope, place.get("file"), int(place.get("line")), signature,
                    comment_of_compound(member))
    for each in member.findall("enumvalue"):
        entity.members.append(Entity("value", flat(each.find("name")), entity.qualified(), entity.file, entity.line,
                                     " ".join(filter(None, (flat(each.find("name")), flat(each.find("initializer"))))),
                                     comment_of(each)))
    return entity


def hidden(name):
    return re.search(r"detail\b|@|^std\b|DETAIL|_$", name) is not None


def scope_members(compound, scope):
    for section in compound.findall("sectiondef"):
        for member in section.findall("memberdef"):
            if member.get("prot") == "private" or member.get("kind") in ("friend", "namespace"):
                continue
            name = flat(member.find("name"))
            if not name or hidden(flat(member.find("qualifiedname")) or name) or name == "__pad0__":
                continue
            yield member_entity(member, scope)



def compound_entity(compound):
    kind, qualified = compound.get("kind"), flat(compound.find("compoundname"))
    scope, _, name = qualified.rpartition("::") if "<" not in qualified else (
        qualified[:qualified.index("<")].rpartition("::")[0], "", qualified[qualified.index("<"):])
    if "<" in qualified:
        name = qualified[len(scope) + 2:] if scope else qualified
    bases = [f"{base.get('prot')} {tidy_type(flat(base))}" for base in compound.findall("basecompoundref")
             if "detail" not in flat(base)]
    place = compound.find("location")
    text = flat(compound.find("initializer")) if kind == "concept" else ""
    signature = (tidy_type(text) if text else
                 template_of(compound) + f"{kind} {tidy_type(name)}" + (f" : {', '.join(bases)}" if bases else ""))
    entity = Entity(kind, tidy_type(name), scope, place.get("file"), int(place.get("line")), signature,
                    comment_of_compound(compound))
    entity.members = sorted(scope_members(compound, qualified), key=lambda each: each.line)
    return entity


def comment_of_compound(compound):
    return "\n".join(filter(None, (comment_of(each) for each in compound
                                   if each.tag in ("briefdescription", "detaileddescription"))))


NAME = r"(?:\w|::)+(?:<[\w, ]+>|\(\))?"
# A separator must follow each name: with an optional one, each letter of a sentence without a colon doubles the time.
LIST_OF_NAMES = re.compile(rf"({NAME}(?:(?:,\s+and|,|\s+and)\s+{NAME})*):\s")


def contract_names(summary):
    """The names to which the contract of a header belongs: `Path<T>, Query<T>: handler parameters …`."""
    head = LIST_OF_NAMES.match(summary)
    return set(re.findall(r"\w+", re.sub(r"<[^>]*>", "", head[1]))) if head else set()


def specialised(entity):
    """The template that an explicit specialisation, or a member of one, is that of: `TextForm` of `TextForm<Uuid>`."""
    words = re.match(r"(?:\w+::)*(\w+) ?<.*>$", entity.name) or re.match(r"(?:\w+::)*(\w+) ?<.*>$", entity.scope)
    return words[1] if words else None


def mark_specialisations(headers):
    """The comment of a template says what its specialisations and their members are."""
    entities = [entity for header in headers for entity in header.entities]
    templates = {entity.name for entity in entities if entity.documented and not specialised(entity)}
    for entity in entities:
        if specialised(entity) in templates:
            for each in (entity, *entity.members):
                each.documented = True


def mark_documented(entities, lines, leads):
    """Sets `documented`: by its own comment, that of its group or an overload, or by convention."""
    previous, leading = None, False  # leading: a comment above is for those that follow without a gap, too
    for entity in entities:
        gap = previous is None or any(not line.strip() for line in lines[previous.line:entity.line - 1])
        grouped = leading and not gap and previous.kind == entity.kind
        leading = grouped or bool(entity.comment) and "//" not in lines[entity.line - 1]
        constructor = entity.kind == "function" and entity.scope.rpartition("::")[2].split("<")[0] == entity.name
        entity.documented = bool(
            entity.comment or grouped or constructor or CONVENTIONAL.match(entity.name) or entity.name in leads
            or re.search(r"\boverride\b|= (?:default|delete)$", entity.signature))
        previous = entity
    names = {entity.name for entity in entities if entity.documented}
    for entity in entities:
        entity.documented = entity.documented or entity.name in names
        mark_documented(entity.members, lines, leads)
        if entity.kind == "enum" and entity.documented and "}" in lines[entity.line - 1]:
            for value in entity.members:  # one line for all: the comment above it is theirs
                value.documented = True


def private_types(text):
    """Classes that a private section only declares, and that are defined below their class."""
    sections = re.findall(r"^ *private:\n(.*?)^(?: *(?:public|protected):|\};)", text, re.M | re.S)
    return {name for section in sections for name in re.findall(r"^ *(?:struct|class) (\w+);", section, re.M)}


DESCRIBE = re.compile(r"^KATANA_DESCRIBE(?:_STRICT|_DERIVED)?\(\s*([\w:]+)\s*,", re.M)
LIST_MACRO = re.compile(r"^#define (KATANA_\w+_)\s+((?:[^\n]*\\\n)*[^\n]*)$", re.M)
QUOTED = r'"(?:[^"\\]|\\.)*"'
HELP = re.compile(rf"""\(\s*(\w+)\s*,((?:[^()"]|{QUOTED}|\((?:[^()"]|{QUOTED}|\([^()]*\))*\))*)\)""")
HELP_TEXT = re.compile(r"\bhelp\(\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)")
NAMED_HELP = re.compile(r"\bauto (\w+) =\s+(?:rules::)?(help\(\s*(?:\"(?:[^\"\\]|\\.)*\"\s*)+\))")


def help_texts(texts):
    """(name of a described struct, member) -> its help, which is its comment. Macros with lists are looked into."""
    lists = {match[1]: match[2].replace("\\\n", "\n") for text in texts for match in LIST_MACRO.finditer(text)}
    named = {match[1]: match[2] for text in texts for match in NAMED_HELP.finditer(text)}
    found = {}
    for text in texts:
        for match in DESCRIBE.finditer(text):
            depth, at, quoted = 1, match.end(), False
            while depth and at < len(text):
                each = text[at]
                if each == '"' and text[at - 1] != "\\":
                    quoted = not quoted
                elif not quoted:
                    depth += {"(": 1, ")": -1}.get(each, 0)
                at += 1
            body = re.sub(r"\bKATANA_\w+_\b", lambda name: lists.get(name[0], name[0]), text[match.end():at - 1])
            for member in HELP.finditer(body):
                rules = re.sub(r"\boption_rules::(\w+)", lambda rule: named.get(rule[1], rule[0]), member[2])
                if words := HELP_TEXT.search(rules):
                    name = match[1].rpartition("::")[2]
                    found[name, member[1]] = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', words[1]))
    return found


def take_helps(entities, helps):
    """Gives members of described structs the help of their description as comment, where they have none."""
    for entity in entities:
        for member in entity.members:
            words = helps.get((entity.name, member.name))
            if words and member.kind == "variable" and not member.comment:
                member.comment, member.documented = words, True
        take_helps(entity.members, helps)


def contract_of(text):
    """(summary, [(key, text)]) of the comment that a header begins with."""
    opening = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        opening.append(line[3:] if line.startswith("// ") else line[2:])
    summary, rows = [], []
    for line in opening:
        match = CONTRACT_LINE.fullmatch(line)
        if match:
            rows.append([match[1], match[2]])
        elif rows and line.startswith("  ") and rows[-1] is not None:
            rows[-1][1] += " " + line.strip()
        else:
            summary.append(line)
    return "\n".join(summary).strip(), [tuple(row) for row in rows]


def run_doxygen(root, folder, files):
    """Doxygen's XML of these headers, in folder/xml."""
    for name in files:
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(comments.convert((root / name).read_text()))
    subprocess.run(["doxygen", "-"], input=DOXYFILE, text=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "xml"


def read(root, folder, files):
    """The headers with their public names, in order of their paths."""
    headers, entities = {}, {name: [] for name in files}
    output = run_doxygen(root, Path(folder), files)
    seen = set()
    for path in sorted(output.glob("*.xml")):
        if path.name in ("index.xml", "Doxyfile.xml") or path.name.startswith(("namespace", "dir_")):
            continue
        compound = xml.parse(path).getroot().find("compounddef")
        kind, name = compound.get("kind"), flat(compound.find("compoundname"))
        if kind in ("class", "struct", "union", "concept"):
            if compound.get("prot", "public") == "public" and not hidden(name):  # a concept has none
                entity = compound_entity(compound)
                entities.get(entity.file, []).append(entity)
        elif kind == "file":
            for section in compound.findall("sectiondef"):
                for member in section.findall("memberdef"):
                    qualified = flat(member.find("qualifiedname")) or flat(member.find("name"))
                    if hidden(qualified) or member.get("id") in seen or not flat(member.find("name")):
                        continue
                    seen.add(member.get("id"))
                    entity = member_entity(member, qualified.rpartition("::")[0])
                    entities.get(entity.file, []).append(entity)
    helps = help_texts([path.read_text() for path in sorted((root / "katana").rglob("*.[ch]pp"))])
    for name in files:
        text = (root / name).read_text()
        summary, contract = contract_of(text)
        private, undefined = private_types(text), set(re.findall(r"^#undef (\w+)", text, re.M))
        listed = sorted((each for each in entities[name] if not ("::" in each.scope and each.name in private)
                         and not (each.kind == "define" and each.name in undefined)),
                        key=lambda each: (each.line, each.name))
        mark_documented(listed, text.split("\n"), contract_names(summary))
        take_helps(listed, helps)
        headers[name] = Header(name, summary, contract, listed)
    mark_specialisations(headers.values())
    return headers


def undocumented(header):
    """The public names of a header that have no comment, as `line: name`."""
    def below(entities):
        for entity in entities:
            if not entity.documented:
                yield entity
            yield from below(entity.members)
    return list(below(header.entities))

# SPDX-License-Identifier: Apache-2.0
