"""The pages of the built site without what a browser does not show: comments, and white space around blocks.

The theme indents its templates: half of a page was white space. Text of <pre>, <textarea>, <script> and <style> stays.
"""

import re

KEPT = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
# Beside one of these tags white space is not shown; between words and inline tags it is.
BLOCKS = "article|aside|body|dd|div|dl|dt|footer|form|h[1-6]|head|header|hr|html|input|label|li|link|main|meta|nav|" \
         "ol|p|section|svg|table|tbody|td|th|thead|title|tr|ul"
AFTER_BLOCK = re.compile(rf"(</?(?:{BLOCKS})\b[^<>]*>)\s+")
BEFORE_BLOCK = re.compile(rf"\s+(?=</?(?:{BLOCKS})\b)")
SPACE = re.compile(r"\s+")


def slim(page):
    """A page of HTML that shows the same."""
    out, place = [], 0
    for kept in KEPT.finditer(page):
        out += [_slim_part(page[place:kept.start()]), kept[0]]
        place = kept.end()
    return "".join([*out, _slim_part(page[place:])])


def _slim_part(text):
    text = SPACE.sub(" ", COMMENT.sub("", text))
    return BEFORE_BLOCK.sub("", AFTER_BLOCK.sub(r"\1", text))


def slim_folder(folder):
    for path in sorted(folder.rglob("*.html")):
        path.write_text(slim(path.read_text()))


def size_findings(folder, most):
    """The site is copied, packed and opened from disk: it stays below so many bytes."""
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > most:
        yield (f"the site has {size / 1e6:.0f} MB, the limit is {most / 1e6:.0f} MB. "
               "Look for what grew: du -s build/site/*")

# SPDX-License-Identifier: Apache-2.0
