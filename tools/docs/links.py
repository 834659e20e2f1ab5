"""Turns links between files of the tree into links between pages of the site.

The Markdown of the tree is written for a git host, where a link may lead to any
file or folder. On the site a link leads to a page, or to a copy of the file's
text; a folder without a page is named but not linked.
"""

import html
import os
import pathlib
import posixpath
import re

# What stands in a fence or between backticks is no link.
TOKEN = re.compile(
    r"^[ ]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^[ ]*(?P=fence)[ ]*$"
    r"|(?P<ticks>`+)[^`].*?(?P=ticks)"
    r"|(?P<image>!?)\[(?P<text>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<target>[^()\s]+)\)",
    re.M | re.S)
# A path in the prose of an op or a pass, such as docs/spec/pooling.md, too.
PROSE = re.compile(
    TOKEN.pattern +
    r"|(?<![\w/.])(?P<path>(?:docs|test|compiler|dialect|runtime|capi|tools)/"
    r"[\w/.-]+\.(?:md|mlir|cpp|h|td|py|test))(?![\w/])", re.M | re.S)


class Links:
    """Resolves links; collects faults, and the files that must be copied."""

    def __init__(self, root, pages):
        """`pages` maps a path in the tree to the page made from it."""
        self.root = pathlib.Path(root)
        self.pages = pages
        self.copies = set()
        self.faults = []

    def rewrite(self, text, source, page, pattern=TOKEN):
        """The text of `source`, with its links as `page` needs them."""
        def replace(match):
            found = match.groupdict()
            if found.get("path"):
                return self._link("", found["path"], f"/{found['path']}",
                                  source, page)
            if found["target"] is None:
                return match[0]
            return self._link(found["image"], found["text"], found["target"],
                              source, page)
        return pattern.sub(replace, text)

    def _link(self, image, text, target, source, page):
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target):
            return f"{image}[{text}]({target})"
        path, _, anchor = target.partition("#")
        folder = "" if path.startswith("/") else posixpath.dirname(source)
        path = posixpath.normpath(posixpath.join(folder, path.lstrip("/"))) \
            if path else source
        anchor = f"#{anchor}" if anchor else ""
        if path in self.pages:
            if self.pages[path] == page:
                return f"[{text}]({anchor or posixpath.basename(page)})"
            return f"[{text}]({relative(self.pages[path], page)}{anchor})"
        if (self.root / path).is_dir():
            return text
        if not (self.root / path).is_file():
            self.faults.append(f"{source or page}: the link to {target} leads "
                               "to no file of the tree")
            return text
        self.copies.add(path)
        url = html.escape(relative(copy_of(path), page))
        if image:
            return f'<img src="{url}" alt="{html.escape(text)}">'
        return f'<a href="{url}">{text}</a>'


def copy_of(path):
    """Where the site has the text of a file; .txt makes a browser show it."""
    shown = path.endswith((".txt", ".svg", ".png"))
    return f"source/{path}{'' if shown else '.txt'}"


def relative(path, page):
    """`path` as seen from the folder of `page`."""
    return os.path.relpath(path, posixpath.dirname(page) or ".")


def headings(text):
    """The headings of level 1, as plain text. A page has one, its title."""
    text = TOKEN.sub(lambda match: "" if match["fence"] else match[0], text)
    return [line.replace("`", "").strip()
            for line in re.findall(r"^# +(.+)", text, re.M)]


def identifier(name):
    """The anchor that docutils makes of a name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def table(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def toctree(entries, caption="", hidden=True):
    """The directive that puts pages into the navigation, in this order."""
    options = (f":caption: {caption}\n" if caption else "") + \
        (":hidden:\n" if hidden else "") + ":maxdepth: 1\n"
    return f"```{{toctree}}\n{options}\n" + "\n".join(entries) + "\n```\n"
