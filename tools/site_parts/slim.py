"""The pages of the built site without what a browser does not show: comments, white space around blocks, marks of code
that have no colour.

The theme indents its templates: half of a page was white space. Text of <pre>, <textarea>, <script> and <style> stays.
"""

import re

KEPT = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
# White space beside one of these tags is not shown; between words and inline tags it is.
BLOCKS = "article|aside|body|dd|div|dl|dt|footer|form|h[1-6]|head|header|hr|html|input|label|li|link|main|meta|nav|" \
         "ol|p|section|svg|table|tbody|td|th|thead|title|tr|ul"
AFTER_BLOCK = re.compile(rf"(</?(?:{BLOCKS})\b[^<>]*>)\s+")
BEFORE_BLOCK = re.compile(rf"\s+(?=</?(?:{BLOCKS})\b)")
# Titles of the navigation are blocks.
TITLE = re.compile(r'\s*(<span class="md-ellipsis">)\s*(.*?)\s*(</span>)\s*', re.S)
SPACE = re.compile(r"\s+")
# Names, white space and errors of the highlighter are as dark as text; operators are as pale as punctuation.
COLOURLESS = re.compile(r'<span class="(?:w|n|nx|err|kc)">([^<]*)</span>')
PALE = re.compile(r'<span class="o">')
NEIGHBOURS = re.compile(r'(<span class="p">[^<]*)</span><span class="p">')


def slim(page):
    """A page of HTML that shows the same."""
    out, place = [], 0
    for kept in KEPT.finditer(page):
        out += [_slim_part(page[place:kept.start()]), _slim_code(kept[0]) if kept[2] == "pre" else kept[0]]
        place = kept.end()
    return "".join([*out, _slim_part(page[place:])])


def _slim_code(text):
    text, count = PALE.sub('<span class="p">', COLOURLESS.sub(r"\1", text)), 1
    while count:
        text, count = NEIGHBOURS.subn(r"\1", text)
    return text.replace("<pre><span></span>", "<pre>")


def _slim_part(text):
    text = TITLE.sub(r"\1\2\3", SPACE.sub(" ", COMMENT.sub("", text)))
    return BEFORE_BLOCK.sub("", AFTER_BLOCK.sub(r"\1", text))


def size_findings(folder, most):
    """The site is copied, packed and opened from disk: it stays below so many bytes."""
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > most:
        yield (f"the site has {size / 1e6:.0f} MB, the limit is {most / 1e6:.0f} MB. "
               "Look for what grew: du -s build/site/*")

# SPDX-License-Identifier: Apache-2.0
