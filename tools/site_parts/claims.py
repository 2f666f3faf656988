"""Claims of the documents that a machine can check: features that KATANA is said to lack, metrics, cited commits."""

import re
import subprocess
import tomllib

from . import index

FEATURES = "docs/site/features.toml"
LACKS = re.compile(r"^## What .* has and KATANA lacks$\n(.*?)(?=^## |\Z)", re.M | re.S)
POINT = re.compile(r"^- .*\n(?:  .*\n)*", re.M)
# "its commit" is one of another repository.
COMMIT = re.compile(r"(?<!its )\bcommit\s+`?([0-9a-f]{7,40})\b|\(\d{4}-\d\d-\d\d, ([0-9a-f]{7,40})\)")
COUNTED = re.compile(r"_(?:total|seconds|bytes|ratio)$")
MEASURED = re.compile(r"<!-- measured -->\n(.*?)<!-- /measured -->", re.S)


def feature_findings(root, files):
    """A finding for each feature that a comparison says KATANA lacks."""
    if FEATURES not in files:
        return
    features = tomllib.loads((root / FEATURES).read_text())["features"]
    for page in features:
        if f"docs/{page}" not in files:
            yield f"{FEATURES}: there is no page docs/{page}."
    for name in files:
        found = LACKS.search((root / name).read_text()) if re.fullmatch(r"docs/coming-from/[\w-]+\.md", name) else None
        for point in POINT.findall(found[1]) if found else ():
            for page, words in features.items():
                said = [word for word in words if re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w-])", point)]
                if said and f"../{page}" not in point:
                    yield (f"{name}: '{said[0]}' stands among what KATANA lacks, and docs/{page} is about it. Leave it "
                           "out, or say what KATANA has and link the page.")


def metric_findings(root, files):
    """A finding for each metric of any page that no source registers under that name."""
    if index.REFERENCE not in files:
        return
    known = index.metrics_of((root / index.REFERENCE).read_text())
    for each in files:  # programs register some only with a flag
        if each.startswith("apps/") and each.endswith(".cpp"):
            known |= {f"{name}_total" for name in re.findall(r'"(katana_\w+)"', (root / each).read_text())}
    for name in files:
        if not name.endswith(".md") or name in (index.REFERENCE, "CHANGELOG.md") or "/decisions/" in name:
            continue
        text = (root / name).read_text()
        # A figure of the laboratory or of a program's own has any name; one of KATANA begins with its.
        for metric in sorted(each for each in index.metrics_of(text) - known if each.startswith("katana_")):
            if f"{metric}_total" in known:
                yield f"{name}: '{metric}' is served as '{metric}_total'. Correct the name."
            elif COUNTED.search(metric) and re.search(rf"`{metric}[`{{]", text):
                yield f"{name}: no program serves '{metric}' ({index.REFERENCE}). Correct the name."


def commits_of(text):
    """The commits of this repository that a text cites."""
    return {first or second for first, second in COMMIT.findall(text)}


def is_in_history(root, commit):
    """Whether the history of this clone has the commit."""
    found = subprocess.run(["git", "-C", root, "merge-base", "--is-ancestor", commit, "HEAD"], capture_output=True,
                           check=False)
    return found.returncode == 0


def has_history(root):
    """Whether the folder is a clone with all commits, and not a release or a shallow clone."""
    said = subprocess.run(["git", "-C", root, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True,
                          check=False)
    return said.stdout.strip() == "false"


def commit_findings(root, files, is_there=is_in_history):
    """A finding for each cited commit that the history has not, and for a table of costs without one."""
    for name in files:
        if not name.endswith(".md"):
            continue
        text = (root / name).read_text()
        for commit in sorted(commits_of(text)):
            if not is_there(root, commit):
                yield f"{name}: the history has no commit {commit}. Measure again, or cite the one that has the code."
        if name == "README.md" and "lab/cost.py" in text:
            table = MEASURED.search(text)
            if table is None or not commits_of(table[1]):
                yield (f"{name}: the table of costs needs its markers '<!-- measured -->' and '<!-- /measured -->', "
                       "and the commit. lab/cost.py --readme writes it.")


def findings(root, files):
    """Every claim that is wrong."""
    yield from feature_findings(root, files)
    yield from metric_findings(root, files)
    if has_history(root):
        yield from commit_findings(root, files)

# SPDX-License-Identifier: Apache-2.0
