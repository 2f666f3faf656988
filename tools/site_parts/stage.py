"""The place of each page: the documents of the tree, the files that they link to, and the navigation."""

import fnmatch
import os
import re
import subprocess
import tomllib
from pathlib import Path

from . import api, markdown

LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash", ".yaml": "yaml", ".yml": "yaml",
             ".json": "json", ".toml": "toml", ".cmake": "cmake", ".sql": "sql", ".html": "html", ".css": "css",
             ".js": "javascript", ".service": "ini"}
FOLDERS = {"docs/decisions": "decisions/index.md", "docs/figures": "figures/index.md", "docs/guides": "documents.md",
           "docs/reference": "reference/flags.md", "docs/formats": "formats/binary.md", "docs": "documents.md",
           "docs/recipes": "recipes/index.md", "docs/coming-from": "coming-from/index.md",
           "docs/concepts": "concepts/request-flow.md", "docs/tutorial": "tutorial/index.md",
           ".": "project/README.md"}
SHOWN_FILE_BYTES_MAX = 200_000  # the largest linked file that becomes a page


def tracked(root):
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted({name for name in listed.split("\0") if name and (root / name).is_file()})


def documents(files):
    """The documents: their path in the tree -> their path in the site."""
    pages = {}
    for name in files:
        if name.startswith("docs/site/") and name != "docs/site/index.md":
            continue
        if name == "docs/site/index.md":
            pages[name] = "index.md"
        elif name == "docs/README.md":
            pages[name] = "documents.md"
        elif name == "docs/decisions/README.md":
            pages[name] = "decisions/index.md"
        elif name.startswith("docs/") and name.endswith((".md", ".png", ".svg")):
            pages[name] = name.removeprefix("docs/")
        elif "/" not in name and name.endswith(".md"):
            pages[name] = "project/" + name
        elif re.fullmatch(r"(?:lab|examples/\w+)/README\.md", name):
            pages[name] = name
    return pages


def target_of(source, link):
    """(path in the tree, anchor) of a relative link in a file of the tree; path None: not of the tree."""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
        return None, ""
    path, _, anchor = link.partition("#")
    joined = os.path.normpath(os.path.join(os.path.dirname(source), path)) if path else source
    return joined, anchor


def broken_links(root, files):
    """A finding for every relative link, of any document of the tree, to a file or a heading that does not exist."""
    known = set(files)
    folders = {str(parent) for name in files for parent in Path(name).parents}
    anchors = {}
    for source in files:
        if not source.endswith(".md") or "fixtures/" in source or source.endswith(".cases.md"):
            continue
        text = (root / source).read_text()
        for link in markdown.links(text):
            path, anchor = target_of(source, link.target)
            if path is None or path.startswith("docs/api"):  # pages of the API are made; the built site is checked
                continue
            if path not in known and path not in folders:
                yield (f"{source}:{link.line}: '{link.target}' names no file of this tree. Mend the path, or remove "
                       "the link.")
            elif anchor and path.endswith(".md"):
                if path not in anchors:
                    anchors[path] = {each for _, _, each in markdown.headings((root / path).read_text())}
                if anchor not in anchors[path]:
                    yield (f"{source}:{link.line}: {path} has no heading with the anchor '{anchor}'. Its headings: "
                           f"{', '.join(sorted(anchors[path]))}.")


def named(before, path, root):
    """The text before a link's target, with the page's title where only its file name was the link's text."""
    match = re.search(r"\[`?(?:\w+/)*([\w-]+\.md)`?\]\($", before)
    if not match or match[1] != os.path.basename(path) or not (root / path).is_file():
        return before
    return before[:match.start()] + f"[{markdown.title((root / path).read_text(), path)}]("


class Stage:
    """The pages in the making. `pages`: path in the site -> text; `binaries`: path in the site -> file.

    Links to a header of `with_page` lead to its page of the API.
    """

    def __init__(self, root, files, with_page=frozenset()):
        self.root = root
        self.files = files
        self.with_page = with_page
        self.documents = documents(self.files)
        self.pages, self.binaries = {}, {}
        for source, place in self.documents.items():
            if place.endswith(".md"):
                self.pages[place] = self.relinked(source, place, (root / source).read_text())
            else:
                self.binaries[place] = root / source

    def relinked(self, source, place, text):
        """The text with its links as they are to be in the site."""
        for link in reversed(list(markdown.links(text))):
            path, anchor = target_of(source, link.target)
            if path is None or link.target.startswith("#"):
                continue
            goal = self.place_of(path)
            if goal is not None:
                relative = os.path.relpath(goal, os.path.dirname(place) or ".")
                text = (named(text[:link.begin], path, self.root) + relative + ("#" + anchor if anchor else "")
                        + text[link.end:])
        return text

    def place_of(self, path):
        """The place of a file or folder in the site; it is added if it is not a document. None: nowhere."""
        if path in self.documents:
            return self.documents[path]
        if path in FOLDERS:
            return FOLDERS[path]
        if path.startswith("docs/api/"):
            return path.removeprefix("docs/")
        if path in self.with_page:
            return api.page_of(path)
        place = f"files/{path}.md"
        if place in self.pages:
            return place
        if (self.root / path).is_dir():
            inside = [name for name in self.files if os.path.dirname(name) == path]
            self.pages[place] = ""  # before its files, which may link back
            lines = [f"- [{os.path.basename(name)}]({os.path.relpath(goal, os.path.dirname(place))})"
                     for name in inside if (goal := self.place_of(name))]
            self.pages[place] = f"# {path}/\n\n" + "\n".join(lines) + "\n"
            return place
        if path not in self.files or (self.root / path).stat().st_size > SHOWN_FILE_BYTES_MAX:
            return None
        try:
            text = (self.root / path).read_text()
        except UnicodeDecodeError:
            return None
        language = LANGUAGES.get(Path(path).suffix, "text")
        fence = "`" * (2 + max((len(run) for run in re.findall(r"`{2,}", text)), default=1))
        self.pages[place] = f"# {path}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"
        return place


def by_line(stage, name, pages):
    """Pages in groups by their line `name: …`, in the order of the alphabet; those without it stand first."""
    first, groups = [], {}
    for each in pages:
        (page,) = each.values()
        line = re.search(rf"^{name}: (.+)$", stage.pages[page], re.M)
        (groups.setdefault(line[1].strip(), []) if line else first).append(each)
    return first + [{title: groups[title]} for title in sorted(groups)]


def navigation(stage, mistakes):
    """mkdocs' nav, from docs/site/nav.toml; a pattern without `*` that names no page is a mistake."""
    sections = tomllib.loads((stage.root / "docs/site/nav.toml").read_text())["section"]
    taken = set()
    orders = [entry["pages"] for section in sections for entry in (section, *section.get("group", ()))
              if "pages" in entry]
    named = {pattern for patterns in orders for pattern in patterns if "*" not in pattern}

    def chosen(patterns):
        result = []
        for pattern in patterns:
            # A page that is named elsewhere stands there, and not where a pattern would have it.
            found = [page for page in sorted(stage.pages) if fnmatch.fnmatchcase(page, pattern)
                     and page.count("/") == pattern.count("/") and page not in taken
                     and (page == pattern or page not in named)]
            if not found and "*" not in pattern and pattern not in taken:
                mistakes.append(f"docs/site/nav.toml: '{pattern}' names no page. Mend the path, or remove it.")
            taken.update(found)
            # The navigation shows titles as text, without marks of code.
            result += [{markdown.title(stage.pages[page], page).replace("`", ""): page} for page in found]
        return result

    nav = []
    for section in sections:
        inside = chosen(section.get("pages", ()))
        inside += [{group["title"]: by_line(stage, group["by"], pages) if "by" in group else pages}
                   for group in section.get("group", ()) if (pages := chosen(group["pages"]))]
        if "rest" in section and (pages := chosen([section["rest"]])):
            inside.append({"More guides": pages})
        nav.append({section["title"]: inside})
    for page in sorted(stage.pages):
        if page not in taken and not page.startswith(("files/", "api/")):
            mistakes.append(f"docs/site/nav.toml: no section has '{page}'. Add it to one.")
    return nav

# SPDX-License-Identifier: Apache-2.0
