"""What readers find: words of pages, and queries with the page that has to be among the first three.

The queries of docs/site/search.toml are asked of the site that was built, by the worker that its pages use, in Node.
"""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

SOURCE = "docs/site/search.toml"
PLACES = 3  # among these the page has to be
ASK = Path(__file__).parent / "ask_search.js"


def load(root):
    path = root / SOURCE
    return tomllib.loads(path.read_text()) if path.is_file() else {"words": {}, "queries": {}}


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


def findings(root, site):
    """A finding for each query whose page is not among the first; none without Node."""
    node, queries = shutil.which("node"), load(root)["queries"]
    if node is None or not queries:
        return
    run = subprocess.run([node, ASK, site, *queries], capture_output=True, text=True, check=False)
    if run.returncode:
        yield f"the search cannot be asked: {run.stderr.strip()[-300:]}"
        return
    for query, answers in json.loads(run.stdout).items():
        first = first_pages(answers)[:PLACES]
        if not set(first) & set(queries[query]):
            yield (f"{SOURCE}: '{query}' finds {', '.join(first) or 'nothing'}, and not {' or '.join(queries[query])}. "
                   "Give that page the word.")

# SPDX-License-Identifier: Apache-2.0
