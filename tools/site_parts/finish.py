"""Makes the theme's output fit for a site that is read from disk and over HTTP alike.

The theme is of one version (tools/requirements-docs.txt): a finding names a text that is to be replaced and is missing.
"""

import re
import shutil
import urllib.parse

from . import slim

SEARCH = re.compile(r'"search": "((?:\.\./)*)assets/javascripts/workers/search\.\w+\.min\.js"')
FROM_ROOT = re.compile(r'\b(href|src)="/(?!/)([^"]*)"')
# Over HTTP the page is shown at any address: its links begin at the root of the host, and from disk at the page.
BASE = ('<base href="/"><script>if(location.protocol==="file:")document.querySelector("base").href=location.href'
        "</script>")
ICON = re.compile(r'<svg xmlns="http://www\.w3\.org/2000/svg" viewBox="0 0 24 24"><path d="([^"]+)"/></svg>')
PALETTE = re.compile(r"<script>(var palette=__md_get.*?)</script>", re.S)
TABS = re.compile(r'<script>var (?:tabs=__md_get\("__tabs"\)|target=document\.getElementById).*?</script>', re.S)
FROM_DISK = r'location\.protocol==="file:"\?(?=\w+\(`\$\{new URL\("search/search_index\.js")'
CONFIG = re.compile(r'(<script id="__config"[^>]*>[^<]*</script>)')
BASE_OF_CONFIG = ('<script>if(location.protocol!=="file:"){const c=document.getElementById("__config");'
                  """c.textContent=c.textContent.replace('"base": "."','"base": "/"')}</script>""")
NOT_FOUND = ('<h1>Page not found</h1><p>No page has this address. Search, or begin at <a href="index.html">the first '
             'page</a>, <a href="documents.html">the index by task</a> or <a href="api/index.html">the API</a>.</p>')


class Changes:
    """Replaces texts that have to be there; `missing` has a finding for each that was not."""

    def __init__(self):
        self.missing = []

    def replaced(self, name, text, pattern, new):
        result, count = re.subn(pattern, new, text)
        if not count:
            self.missing.append(f"{name} has no '{pattern}': the theme has changed. Mend tools/site_parts/finish.py.")
        return result


def page(changes, name, text):
    """A page that uses the site's own search, docs/site/search.js."""
    return changes.replaced(name, text, SEARCH, r'"search": "\1site/search.js"')


class Shared:
    """Moves the parts that all pages share to files: pictures of buttons, and the script that chooses the colours."""

    def __init__(self):
        self.icons = {}  # path of a picture -> its class
        self.script = ""

    def taken(self, text):
        """The page without these."""
        text = ICON.sub(lambda icon: f'<svg class="i{self.number(icon[1])}"></svg>', text)
        if match := PALETTE.search(text):
            self.script = match[1]
            up = re.search(r'href="((?:\.\./)*)site/site\.css"', text)[1]
            # Not deferred: it runs before anything is drawn.
            text = text.replace(match[0], f'<script src="{up}site/palette.js"></script>')
        return text if "tabbed-set" in text.partition("<article")[2].partition("</article>")[0] else TABS.sub("", text)

    def number(self, path):
        return self.icons.setdefault(path, len(self.icons))

    def style(self):
        picture = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><path d='{}'/></svg>"
        names = ",".join(f".i{number}" for number in self.icons.values())
        rules = [f".i{number}{{--icon:url(\"data:image/svg+xml,{urllib.parse.quote(picture.format(path))}\")}}"
                 for path, number in self.icons.items()]
        return "\n".join([*rules, f"{names}{{background:currentcolor;-webkit-mask:var(--icon) center/contain no-repeat;"
                                  "mask:var(--icon) center/contain no-repeat}\n"])


def not_found(changes, text):
    """404.html, with links that lead somewhere from disk as well."""
    text = changes.replaced("404.html", FROM_ROOT.sub(r'\1="\2"', text), "<h1>404 - Not found</h1>", NOT_FOUND)
    text = changes.replaced("404.html", text, re.escape('__md_scope=new URL("/",location)'),
                            '__md_scope=new URL(".",document.baseURI)')
    text = changes.replaced("404.html", text, '"base": "/"', '"base": "."')
    text = changes.replaced("404.html", text, '"search": "/assets', '"search": "assets')
    text = changes.replaced("404.html", text, CONFIG, lambda match: match[1] + BASE_OF_CONFIG)
    return changes.replaced("404.html", text, "<head>", "<head>" + BASE)


def finish(site):
    """Changes the built site in place; yields findings."""
    changes = Changes()
    path = site / "404.html"
    path.write_text(not_found(changes, path.read_text()))
    shared = Shared()
    for path in sorted(site.rglob("*.html")):
        path.write_text(slim.slim(shared.taken(page(changes, path.name, path.read_text()))))
    (site / "site/palette.js").write_text(shared.script)
    with (site / "site/site.css").open("a") as style:
        style.write(shared.style())
    scripts = site / "assets/javascripts"
    for path in sorted(scripts.glob("bundle.*.min.js")):
        # The configuration of the search is read from one file: not from disk a script and over HTTP JSON.
        path.write_text(changes.replaced(path.name, path.read_text(), FROM_DISK, "true?"))
    for name in ("workers", "lunr"):
        shutil.rmtree(scripts / name)
    for path in sorted(site.glob("assets/**/*.map")):
        path.unlink()
    for name in ("sitemap.xml", "sitemap.xml.gz"):  # they are for a host that has a name
        (site / name).unlink(missing_ok=True)
    yield from changes.missing

# SPDX-License-Identifier: Apache-2.0
