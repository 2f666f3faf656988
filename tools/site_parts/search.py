"""The search of the site: texts of pages, words for them, and queries with a page that must be among the first three.

The texts stand once in the site, as a script, which a page may read from disk and over HTTP. The queries of
docs/site/search.toml are asked of the site that was built, by the worker that its pages use, in Node.
"""

import html
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

SOURCE = "docs/site/search.toml"
PLACES = 3  # among these the page has to be
TEXTS = "search/texts.js"
BLOCK_TAG = re.compile(r"</?(?:p|pre|li|ul|ol|table|thead|tbody|tr|td|th|h\d|div|br|dl|dt|dd|details|summary)\b[^<>]*>")
TAG = re.compile(r"<[^<>]*>")
ASK = Path(__file__).parent / "ask_search.js"


def load(root):
    path = root / SOURCE
    return tomllib.loads(path.read_text()) if path.is_file() else {"words": {}, "queries": {}}


def plain(text):
    """HTML as the words that a reader sees."""
    return re.sub(r"\s+", " ", html.unescape(TAG.sub("", BLOCK_TAG.sub(" ", text)))).strip()


def write_texts(site):
    """The texts of the theme's index as docs/site/search.js reads them, in the place of that index."""
    source = site / "search/search_index.json"
    index = json.loads(source.read_text())
    pages = {}
    for doc in index["docs"]:
        page, _, anchor = doc["location"].partition("#")
        row = pages.setdefault(page, [page, doc.get("boost", 1), doc.get("tags", []), []])
        row[3] += [anchor, plain(doc["title"]), plain(doc["text"])]
    # ASCII: browsers keep a script with any other character in two bytes for each.
    rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in pages.values())
    (site / TEXTS).write_text(f"var __texts=[\n{rows}\n]\n")
    # The theme's own script reads the configuration of the search from this one.
    (site / "search/search_index.js").write_text(f"var __index={json.dumps({'config': index['config'], 'docs': []})}\n")
    source.unlink()


def size_findings(site, most):
    """The first query reads all texts: their bytes are its time."""
    size = (site / TEXTS).stat().st_size
    if size > most:
        yield (f"{TEXTS} has {size / 1e6:.1f} MB, the limit is {most / 1e6:.1f} MB: the first query would wait for it. "
               "Exclude pages from the search (ranked() in tools/site).")


def word_findings(root, pages):
    """A finding for each page that search.toml names and that does not exist."""
    given = load(root)
    named = {page: "words" for page in given["words"]}
    named |= {page: f"the query '{query}'" for query, wanted in given["queries"].items() for page in wanted}
    for page, where in named.items():
        if page not in pages:
            yield f"{SOURCE}: '{page}' ({where}) names no page. Mend the path, or remove it."


def first_pages(answers):
    """The pages of an answer of the search, in its order, each once, as sources have them."""
    return list(dict.fromkeys(place.split("#")[0].removesuffix(".html") + ".md" for place in answers))


def ask(site, queries):
    """Query -> the places that the site's worker finds, the best first."""
    run = subprocess.run([shutil.which("node"), ASK, site, *queries], capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"the search cannot be asked: {run.stderr.strip()[-300:]}")
    return json.loads(run.stdout)


def findings(root, site):
    """A finding for each query whose page is not among the first; none without Node."""
    queries = load(root)["queries"]
    if shutil.which("node") is None or not queries:
        return
    for query, answers in ask(site, queries).items():
        first = first_pages(answers)[:PLACES]
        if not set(first) & set(queries[query]):
            yield (f"{SOURCE}: '{query}' finds {', '.join(first) or 'nothing'}, and not {' or '.join(queries[query])}. "
                   "Give that page the word.")

# SPDX-License-Identifier: Apache-2.0
