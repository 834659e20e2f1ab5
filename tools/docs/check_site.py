#!/usr/bin/env python3
"""Checks a built site: links, anchors, what it loads, what it must contain.

usage: tools/docs/check_site.py SITE EXPECTED.json | --self-test

Every link inside the site leads to a file, and to an anchor if it names one.
No page loads anything from elsewhere: the site is complete without a network.
Each symbol and page of EXPECTED.json is there. Exits 1 with one line for each
fault, and ends with the counts.
"""

import html.parser
import json
import pathlib
import re
import sys
import tempfile
import urllib.parse

# Attributes that make a browser load what they name. A link to another page
# (<a href>) is followed only by the reader.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"),
          ("iframe", "src"), ("embed", "src"), ("object", "data"),
          ("video", "src"), ("audio", "src"), ("input", "src"),
          ("use", "href"), ("image", "href"), ("image", "xlink:href")}
STYLE_URL = re.compile(r"@import\s+[\"']([^\"']+)|url\(\s*[\"']?([^\"')]+)")
# How a script would load something; the names of XML's languages are no loads.
SCRIPT_URL = re.compile(r"(?:src\s*=|import|importScripts|fetch|open)\s*\(?\s*"
                        r"[\"'`](?:GET[\"'`],\s*[\"'`])?(?:https?:)?//")


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.in_style = tag == "style"
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (tag, name) in LOADED:
                self.loads.append(value or "")
            elif name == "srcset":
                self.loads += [part.split()[0] for part in value.split(",")]
            elif name == "style":
                self.loads += urls_of_style(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.append(value or "")

    def handle_endtag(self, tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.loads += urls_of_style(data)


def urls_of_style(text):
    """What a style sheet loads."""
    return [first or second for first, second in STYLE_URL.findall(text)]


def has_scheme(url):
    """True for a URL that names no file of the site."""
    return bool(re.match(r"[a-z][a-z0-9+.-]*:|//", url, re.I))


def is_external(url):
    """True for what lies on another machine; data: holds what it names."""
    return has_scheme(url) and not url.startswith("data:")


def check_target(site, file, url, anchors):
    """The fault of a link, or None. `anchors` are those of every page."""
    if has_scheme(url):
        return None
    path, _, anchor = urllib.parse.unquote(url).partition("#")
    path = path.partition("?")[0]
    target = (file.parent / path).resolve() if path else file
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site):
        return f"the link to {url} leads out of the site"
    if not target.is_file():
        return f"the link to {url} leads to no file"
    if anchor and target in anchors and anchor not in anchors[target]:
        return f"the link to {url} names no anchor of its page"
    return None


def check_style(site, file):
    """Faults of a style sheet or a picture."""
    faults = []
    for url in urls_of_style(file.read_text(errors="replace")):
        fault = "is loaded from elsewhere" if is_external(url) else \
            check_target(site, file, url, {})
        if fault:
            faults.append(f"{file.relative_to(site)}: {url}: {fault}")
    return faults


def check_files(site, pages):
    """Returns (number of links, faults) of all pages and what they load."""
    count, faults = 0, []
    anchors = {file: page.anchors for file, page in pages.items()}
    for file, page in pages.items():
        found = [f"{url} is loaded from elsewhere" for url in page.loads
                 if is_external(url)]
        for url in page.links + page.loads:
            count += not has_scheme(url)
            fault = check_target(site, file, url, anchors)
            found += [fault] if fault else []
        faults += [f"{file.relative_to(site)}: {fault}" for fault in found]
    for file in sorted(site.rglob("*")):
        if file.suffix in {".css", ".svg"}:
            faults += check_style(site, file)
        elif file.suffix == ".js" and SCRIPT_URL.search(
                file.read_text(errors="replace")):
            faults.append(f"{file.relative_to(site)}: loads from elsewhere")
    return count, faults


def check(site, expected):
    """Returns (counts by kind, faults)."""
    site = site.resolve()
    pages = {file: Page(file.read_text()) for file in sorted(site.rglob("*.html"))
             if "_static" not in file.parts}
    links, faults = check_files(site, pages)
    for kind, targets in expected.items():
        for name, target in targets.items():
            path, _, anchor = target.partition("#")
            if site / path not in pages:
                faults.append(f"{path}: the page is missing ({kind}: {name})")
            elif anchor and anchor not in pages[site / path].anchors:
                faults.append(f"{path}: {name} is missing ({kind})")
        if not targets:
            faults.append(f"there are no {kind}")
    counts = {kind: len(targets) for kind, targets in expected.items()}
    return {**counts, "pages": len(pages), "links checked": links}, faults


# A good site; then what is replaced in which file, and the fault that it makes.
GOOD = {
    "index.html": '<link href="s.css"><a href="a/b.html#x">b</a>'
                  '<a href="https://example.org">out</a><a href="a/">a</a>',
    "a/index.html": '<script src="../s.js"></script>',
    "a/b.html": '<h1 id="x">b</h1><a href="../index.html">home</a>'
                '<a href="#x">x</a><style>p{background:url(data:x)}</style>',
    "s.css": "p { background: url('p.svg') }",
    "p.svg": '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    "s.js": 'fetch("searchindex.js"); ns = "http://www.w3.org/1999/xhtml";',
}
EXPECTED = {"ops": {"dnn.x": "a/b.html#x"}, "pages": {"a": "a/index.html"}}
BROKEN = [
    ("index.html", "b.html#x", "c.html#x", "leads to no file"),
    ("index.html", "b.html#x", "b.html#y", "names no anchor"),
    ("index.html", "a/b.html#x", "../b.html", "leads out of the site"),
    ("index.html", '"s.css"', '"https://cdn.example.org/s.css"',
     "is loaded from elsewhere"),
    ("a/b.html", 'href="#x"', 'href="#y"', "names no anchor"),
    ("a/b.html", 'id="x"', 'id="z"', "dnn.x is missing (ops)"),
    ("a/b.html", "url(data:x)", "url(//fonts.example.org/f)",
     "is loaded from elsewhere"),
    ("a/index.html", "../s.js", "//cdn.example.org/s.js",
     "is loaded from elsewhere"),
    ("s.css", "url('p.svg')", "url('q.svg')", "leads to no file"),
    ("s.css", "p {", "@import 'https://fonts.example.org/f'; p {",
     "is loaded from elsewhere"),
    ("s.js", '"searchindex.js"', '"https://cdn.example.org/index"',
     "loads from elsewhere"),
    ("a/index.html", None, None, "the page is missing (pages: a)"),
]


def check_texts(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = pathlib.Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return check(pathlib.Path(folder), EXPECTED)


def self_test():
    """A good site has no faults, and each way to break it is found."""
    counts, faults = check_texts(GOOD)
    assert not faults, faults
    assert counts == {"ops": 1, "pages": 3, "links checked": 6}, counts
    for name, old, new, wanted in BROKEN:
        files = dict(GOOD)
        if old is None:
            del files[name]
        else:
            assert old in files[name], old
            files[name] = files[name].replace(old, new, 1)
        faults = check_texts(files)[1]
        assert any(wanted in fault for fault in faults), (wanted, faults)


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        print("check_site: self-test passed")
        return 0
    site, expected = map(pathlib.Path, sys.argv[1:])
    counts, faults = check(site, json.loads(expected.read_text()))
    for fault in faults:
        print(f"check_site: {fault}", file=sys.stderr)
    print("check_site: " + ", ".join(f"{number} {kind}" for kind, number in
                                     counts.items()) + f", {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
