#!/usr/bin/env python3
"""Checks that the links of the tree's markdown pages work and the pages are
readable.

Every relative link must name a file or folder of the tree, and its anchor a
heading of that page as GitHub spells it; no line outside tables and code has
more than 120 columns; docs/performance.md has at most 150 lines, so that it
stays a page for users; and no HTML is kept, because pages are made from their
sources. Exits 1 with one line for each fault.
"""

import os
import pathlib
import re
import sys
import tempfile

import tree_check

COLUMNS = 120
LINES = {"docs/performance.md": 150}

FENCE = re.compile(r"\s*(?:```|~~~)")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


def find_files(root):
    """The files of the tree by their paths, without builds and hidden folders.
    """
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders
                            if name != "build" and not name.startswith("."))
        for name in sorted(names):
            yield (pathlib.Path(folder) / name).relative_to(root).as_posix()


def read_prose(text):
    """The numbered lines of a page outside blocks of code."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            yield number, line


def make_anchor(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def find_anchors(text):
    """The anchors of a page; of equal headings all except the first are
    numbered.
    """
    counts, anchors = {}, set()
    for _, line in read_prose(text):
        if match := HEADING.match(line):
            anchor = make_anchor(match[1])
            count = counts.get(anchor, 0)
            counts[anchor] = count + 1
            anchors.add(f"{anchor}-{count}" if count else anchor)
    return anchors


def find_broken_links(root, page, pages):
    """Returns the faults of one page's links, and the number of links."""
    faults, count = [], 0
    for number, line in read_prose(pages[page]):
        for target in LINK.findall(CODE.sub("", line)):
            if ADDRESS.match(target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            file = os.path.normpath(
                os.path.join(os.path.dirname(page), path)) if path else page
            if file.startswith("..") or not (root / file).exists():
                faults.append(f"{page}:{number}: there is no {target}")
            elif anchor and anchor not in find_anchors(pages.get(file, "")):
                faults.append(f"{page}:{number}: {file} has no heading #{anchor}")
    return faults, count


def find_long_lines(page, text):
    """Faults of a page's size."""
    lines = text.splitlines()
    faults = [  # Code may quote long lines of output.
        f"{page}:{number}: {len(line)} columns; fold at {COLUMNS}"
        for number, line in read_prose(text)
        if len(line) > COLUMNS and not line.lstrip().startswith("|")]
    if len(lines) > LINES.get(page, len(lines)):
        faults.append(f"{page}: {len(lines)} lines; it may have {LINES[page]}")
    return faults


def check(root):
    """Returns (number of links, list of faults)."""
    pages, faults, count = {}, [], 0
    for file in find_files(root):
        if file.endswith((".html", ".htm")):
            faults.append(f"{file}: generated pages are not kept; say how it is made")
        elif file.endswith(".md"):
            pages[file] = (root / file).read_text()
    for page, text in pages.items():
        broken, links = find_broken_links(root, page, pages)
        faults += broken + find_long_lines(page, text)
        count += links
    return count, faults


def self_test():
    """Good pages pass, and each rule names the line that breaks it."""
    good = {
        "docs/a.md": "# A page's *name*\n[b](b.md#two-words) [up](../x.txt) "
                     "[here](#a-pages-name) [web](https://a.b/c#d)\n"
                     "`[no](link.md)` is code, and so is\n```\n[no](link.md)\n```\n"
                     "| " + "x" * 200 + " |\n",
        "docs/b.md": "## Two `words`\n## Two words\n[second](#two-words-1)\n",
        "docs/performance.md": "a line\n" * 150,
        "x.txt": "\n",
        "build/page.html": "[not](looked-at.md)\n",
    }
    cases = [
        ("docs/a.md", "[b](c.md)\n", "docs/a.md:1: there is no c.md"),
        ("docs/a.md", "\n[out](../../x)\n", "docs/a.md:2: there is no ../../x"),
        ("docs/b.md", "## Other\n", "docs/a.md:2: docs/b.md has no heading #two-words"),
        ("docs/b.md", "```\n## Two words\n```\n",
         "docs/a.md:2: docs/b.md has no heading #two-words"),
        ("docs/b.md", good["docs/b.md"] + "x" * 121 + "\n",
         "docs/b.md:4: 121 columns; fold at 120"),
        ("docs/performance.md", "a line\n" * 151,
         "docs/performance.md: 151 lines; it may have 150"),
        ("docs/page.html", "\n",
         "docs/page.html: generated pages are not kept; say how it is made"),
    ]
    for changed, text, fault in [(None, None, None)] + cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, content in (good | {changed: text} if changed else good).items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            count, faults = check(root)
        if changed is None:
            assert (count, faults) == (4, []), (count, faults)
        else:
            assert faults == [fault], (fault, faults)


if __name__ == "__main__":
    sys.exit(tree_check.main(check, self_test, "links"))
