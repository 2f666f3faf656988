"""Pages of the API: one for each header that users include, grouped by module, in the order of the tree.

Users include the headers of katana/ itself, and with these all that they include. Other headers are in the lists of
their modules, without a page.
"""

import html
import re

from . import markdown

WORD_OF_CODE = re.compile(r"`[^`\n]+`|(?<![\w`/.-])(?:[A-Za-z_]\w*(?:::~?\w+)+(?:\(\))?|[A-Za-z_]\w*\(\)|"
                          r"[A-Z]\w*<[\w:, ]+>|[a-z]+(?:_[a-z0-9]+)+_?|(?:[A-Z][a-z0-9]+){2,}|(?:co_await|std::\w+))"
                          r"(?![\w`/])")
KINDS = {"class": "class", "struct": "struct", "union": "union", "enum": "enum", "concept": "concept",
         "function": "function", "variable": "constant", "typedef": "type", "define": "macro"}
# A comment "# net: what it has." begins the modules of a folder.
ROW = re.compile(r"^# (?P<folder>\w+): (?P<about>.+)\.$|^katana_module\(\s*(?P<module>[\w/]+)(?:\s+THREADED)?"
                 r"(?:\s+FOLDERS\s+(?P<parts>[\w\s]+?))?(?=\s+(?:LINKS|TEST_LINKS)\b|\s*\))", re.M)
INCLUDE = re.compile(r'^#include "(katana/[^"]+)"', re.M)
COMPONENT = re.compile(r'^katana_component\((\w+) ABOUT "([^"]+)"\s+(MODULES|REQUIRES)\s+([^)]+)\)', re.M)


def components(root):
    """[(name, description, modules)] in the order of CMakeLists.txt."""
    text = re.sub(r"#[^\n]*", "", (root / "CMakeLists.txt").read_text())
    return [(name, about, listed.split() if kind == "MODULES" else [])
            for name, about, kind, listed in COMPONENT.findall(text)]


class Modules:
    """The modules of CMakeLists.txt, in its order. A module may have several folders."""

    def __init__(self, root):
        self.about = {}  # folder of katana/ -> its description
        self.owner = {"": ""}  # folder below katana/ -> its module
        for row in ROW.finditer((root / "CMakeLists.txt").read_text()):
            module = row["module"]
            if module is None:
                self.about[row["folder"]] = row["about"]
                continue
            self.owner[module] = module
            self.owner.update((f"{module}/{part}", module) for part in (row["parts"] or "").split())

    def of(self, path):
        """The module of a header; "" of one that gathers others."""
        folder = path.removeprefix("katana/").rpartition("/")[0]
        return self.owner.get(folder, folder)

    def ordered(self, paths):
        """The modules of these headers, in the order of the tree."""
        order = {module: number for number, module in enumerate(dict.fromkeys(self.owner.values()))}
        return sorted({self.of(path) for path in paths}, key=lambda module: (order.get(module, len(order)), module))


class Includes:
    """Finds the headers that include each header of `headers`."""

    def __init__(self, root, headers):
        known = set(headers)
        self.of = {path: known.intersection(INCLUDE.findall((root / path).read_text())) for path in headers}
        self.umbrellas = {path for path in headers if path.count("/") == 1}

    def gathered(self):
        """The headers of katana/ itself, and those that they name."""
        return self.umbrellas.union(*(self.of[path] for path in self.umbrellas))

    def user_headers(self):
        """The headers of katana/ itself, and all that they include, however far."""
        found, waiting = set(), list(self.umbrellas)
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                waiting += self.of[path]
        return found


def page_of(path):
    return f"api/{path.removesuffix('.hpp')}.md"


def module_page(module):
    return f"api/katana/{module}/index.md" if module else "api/katana/index.md"


def up(page, goal):
    """A relative link from one page of the API to another."""
    return "../" * page.count("/") + goal


class Pages:
    """Makes the pages of `headers` (path -> Header); those that are not in `with_page` are listed alone."""

    def __init__(self, root, headers, with_page):
        self.headers = {path: header for path, header in headers.items() if path in with_page}
        self.internal = {path: header for path, header in headers.items() if path not in with_page}
        self.modules = Modules(root)
        self.owner = {module: name for name, _, modules in components(root) for module in modules}
        self.places = {}  # name of a class -> its page and anchor; None: there is more than one
        for header in self.headers.values():
            for entity, anchor in self.anchored(header):
                if entity.kind in KINDS and entity.name[0].isupper():
                    place = f"{page_of(header.path)}#{anchor}"
                    self.places[entity.name] = None if entity.name in self.places else place

    @staticmethod
    def anchored(header):
        """(entity, anchor) of those of the namespace; overloads share one."""
        known = {}
        for entity in header.entities:
            anchor = re.sub(r"\W+", "-", entity.qualified().removeprefix("katana::")).strip("-").lower()
            if entity.kind != "function":  # a type and a function may differ in case alone
                anchor = "type-" + anchor if entity.kind in ("class", "struct", "enum") else anchor
            known.setdefault((entity.kind, entity.qualified()), anchor)
            yield entity, known[entity.kind, entity.qualified()]

    def prose(self, page, text):
        """A comment as Markdown: indented text is code, words that look like code are marked, types are links."""
        parts, code = [], []
        for line in [*text.split("\n"), None]:
            if line is not None and (re.match(r" {2,}\S", line) or not line and code):
                code.append(line)
                continue
            if code:
                parts += ["", "```cpp", *strip_indent(code), "```", ""]
                code = []
            if line is not None:
                parts.append(self.inline(page, line))
        return "\n".join(parts).strip()

    def inline(self, page, line):
        out, end = [], 0
        for match in WORD_OF_CODE.finditer(line):
            out += [escaped(line[end:match.start()]), self.code(page, match[0])]
            end = match.end()
        return "".join(out) + escaped(line[end:])

    def code(self, page, word):
        bare = word.strip("`")
        shown = f"`{bare}`"
        place = self.places.get(re.split(r"::|<|\(", bare)[0])
        if place and place.split("#")[0] != page:
            return f"[{shown}]({up(page, place)})"
        return shown

    def header_page(self, header):
        page, module = page_of(header.path), self.modules.of(header.path)
        name = header.path.removeprefix("katana/")
        component = self.owner.get(module)
        where = f"[{module or 'katana'}]({up(page, module_page(module))})"
        where += f" · component `katana::{component}`" if component else ""
        out = [f"# {name}", "", f"{where}", "", "```cpp", f'#include "{header.path}"', "```", "",
               self.prose(page, header.summary), ""]
        if header.contract:
            rows = [[f"**{key}**", self.inline(page, text)] for key, text in header.contract]
            out += [markdown.table(["Contract", ""], rows), ""]
        shown = set()
        for entity, anchor in self.anchored(header):
            if (entity.kind, anchor) in shown:
                continue
            shown.add((entity.kind, anchor))
            same = [each for each, place in self.anchored(header) if (each.kind, place) == (entity.kind, anchor)]
            out += self.section(page, same, anchor)
        return with_own_anchors("\n".join(out) + "\n")

    def section(self, page, same, anchor):
        """A heading for a name of a namespace: its overloads, or its members."""
        entity = same[0]
        scope = entity.scope.removeprefix("katana").strip(":")
        name = f"{scope}::{entity.name}" if scope else entity.name
        out = [f"## {KINDS[entity.kind]} `{name}` {{#{anchor}}}", ""]
        out += self.declared(page, same)
        if entity.kind == "enum":
            rows = [[f"`{value.signature}`", self.inline(page, value.comment.replace("\n", " "))]
                    for value in entity.members]
            return [*out, markdown.table(["value", "meaning"], rows) if rows else "", ""]
        if entity.members and all(member.kind == "variable" for member in entity.members):
            return [*out, self.fields(page, entity.members), ""]
        by_name = {}
        for member in entity.members:
            if not member.comment and re.match(r"~|operator (?:new|delete)", member.name):
                continue
            by_name.setdefault(member.name, []).append(member)
        for name, members in by_name.items():
            below = re.sub(r"\W+", "-", name).strip("-").lower() or "operator"
            below = "destructor" if name.startswith("~") else below + ("-operator" if "operator" in name else "")
            title = name if members[0].kind != "enum" else f"enum {name}"
            out += [f"### `{title}` {{#{anchor}-{below}}}", "", *self.declared(page, members)]
            if members[0].kind == "enum":
                out += [markdown.table(["value", "meaning"], [
                    [f"`{value.signature}`", self.inline(page, value.comment.replace("\n", " "))]
                    for value in members[0].members]), ""]
        return out

    def fields(self, page, members):
        rows = [[f"`{member.signature}`", self.inline(page, member.comment.replace("\n", " "))] for member in members]
        return markdown.table(["member", "meaning"], rows)

    def declared(self, page, same):
        """Each declaration with the comment that stands before it; those without share the one above."""
        out, block = [], []

        def flush():
            if block:
                out.extend(["```cpp", *block, "```", ""])
                block.clear()

        for entity in same:
            if entity.comment and block:
                flush()
            if re.fullmatch(r"(?:class|struct|union|enum class) \w+", entity.signature):
                out += [self.prose(page, entity.comment), ""]  # the heading says it all
                continue
            block.append(entity.signature + (";" if entity.kind in ("function", "variable", "typedef") else ""))
            if entity.comment:
                flush()
                out += [self.prose(page, entity.comment), ""]
        flush()
        return out

    def module_index(self, module):
        page = module_page(module)
        rows = []
        for header in self.inside(module):
            names = [entity.name for entity in header.entities if entity.kind in KINDS and "<" not in entity.name]
            names = list(dict.fromkeys(names))
            shown = ", ".join(f"`{name}`" for name in names[:8]) + (" …" if len(names) > 8 else "")
            name = header.path.removeprefix("katana/").removeprefix(f"{module}/")
            rows.append([f"[{name}]({up(page, page_of(header.path))})", self.first_sentence(page, header), shown])
        component = self.owner.get(module)
        lead = f"Component `katana::{component}`.\n\n" if component else ""
        if not module:
            lead = "Headers that gather those of a component: what most programs include.\n\n"
        listed = markdown.table(["header", "is", "declares"], rows) if rows else "Programs do not include its headers."
        return f"# {module or 'katana'}\n\n{lead}{listed}\n{self.internal_table(page, module)}"

    def internal_table(self, page, module):
        """The headers of a module that have no page."""
        rows = [[f"`{header.path}`", self.first_sentence(page, header)] for header in self.internal.values()
                if self.modules.of(header.path) == module]
        if not rows:
            return ""
        return ("\n## Internal headers {#internal}\n\nNo header that programs include has these; their sources have "
                f"the contracts.\n\n{markdown.table(['header', 'is'], rows)}\n")

    def first_sentence(self, page, header):
        text = re.sub(r"\s+", " ", header.summary.split("\n\n")[0])
        match = re.match(r"(.+?[.:;])(?:\s|$)(?! )", text)
        sentence = text if len(text) < 140 else match[1] if match else text
        sentence = re.sub(r"^[\w<>:, ]{1,40}: (?=\w)", "", sentence)
        return self.inline(page, sentence.rstrip(":;"))

    def index(self):
        page = "api/index.md"
        count = sum(1 + len(entity.members) for header in self.headers.values() for entity in header.entities)
        out = ["# API", "", "Every public name that the headers of components bring, directly or through another: "
               f"{len(self.headers)} headers, {count:,} names. Each page begins with its header's contract: what it "
               "owns and borrows, which thread may call it, whether it allocates, how it fails, and what always holds. "
               f"The page of a module also lists its internal headers, {len(self.internal)} in all. "
               "What counts as API, and for how long, is said in [support](../project/SUPPORT.md#what-is-api).", "",
               "Most programs include the headers of a component:", "", self.umbrella_table(page), ""]
        folders = {}  # folder of katana/ -> its modules
        for module in filter(None, self.all_modules()):
            folders.setdefault(module.split("/")[0], []).append(module)
        for folder, modules in folders.items():
            out += [f"## katana/{folder} {{#folder-{folder}}}", ""]
            if about := self.modules.about.get(folder):
                out += [about[0].upper() + about[1:] + ".", ""]
            out += [markdown.table(["module", "component", "headers"],
                                   [self.module_row(page, module) for module in modules]), ""]
        return "\n".join(out) + "\n"

    def all_modules(self):
        return self.modules.ordered([*self.headers, *self.internal])

    def inside(self, module):
        return [header for header in self.headers.values() if self.modules.of(header.path) == module]

    def umbrella_table(self, page):
        rows = [[f"[{header.path}]({up(page, page_of(header.path))})", self.first_sentence(page, header)]
                for header in self.inside("")]
        return markdown.table(["header", "gathers"], rows)

    def module_row(self, page, module):
        links = ", ".join(f"[{header.path.rpartition('/')[2].removesuffix('.hpp')}]({up(page, page_of(header.path))})"
                          for header in self.inside(module))
        component = f"`katana::{self.owner[module]}`" if module in self.owner else ""
        return [f"[{module}]({up(page, module_page(module))})", component, links]

    def all(self):
        """Path in the site -> text."""
        return {"api/index.md": self.index(),
                **{module_page(module): self.module_index(module) for module in self.all_modules()},
                **{page_of(path): self.header_page(header) for path, header in self.headers.items()}}


    def navigation(self):
        """For mkdocs: the folders of the tree, in each its modules, in each its headers."""
        folders = {}
        for module in self.all_modules():
            folders.setdefault(module.split("/")[0], []).append(self.module_navigation(module))
        # A folder of one module is that module: a page lists only the parts of its own section.
        return ["api/index.md", *(modules[0] if len(modules) == 1 else {folder: modules}
                                  for folder, modules in folders.items())]

    def module_navigation(self, module):
        paths = sorted(header.path for header in self.inside(module))
        folders = {}  # folder of the module -> its headers
        for path in paths:
            folder, _, name = path.removeprefix("katana/").removeprefix(f"{module}/").rpartition("/")
            folders.setdefault(folder, []).append((name, page_of(path)))
        if len(folders) == 1:
            shown = [{f"{folder}/{name}".lstrip("/"): page} for folder in folders for name, page in folders[folder]]
        else:  # a page lists the headers of its own folder alone
            shown = [{folder or "others": [{name: page} for name, page in folders[folder]]} for folder in folders]
        return {module or "katana": [module_page(module), *shown]}


def with_own_anchors(text):
    """A page whose anchors that come again are numbered: the search fails on a page with two of one name."""
    count = {}

    def numbered(match):
        count[match[1]] = count.get(match[1], 0) + 1
        return match[0] if count[match[1]] == 1 else f"{{#{match[1]}-{count[match[1]]}}}"

    return re.sub(r"\{#([\w-]+)\}", numbered, text)


def strip_indent(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    least = min(len(line) - len(line.lstrip()) for line in lines if line)
    return [line[least:] for line in lines]


def escaped(text):
    return re.sub(r"([*_\[\]#])", r"\\\1", html.escape(text, quote=False)) if text else ""

# SPDX-License-Identifier: Apache-2.0
