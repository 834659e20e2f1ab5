#!/usr/bin/env python3
"""Writes the sources of the site: the tree's Markdown and the reference.

usage: tools/docs/sources.py FOLDER | --self-test

Sphinx makes the site from FOLDER; see tools/docs.sh. Exits 1 with one line for
each page that is in no section, link without a target, and symbol without a
description. FOLDER/expected.json lists what check_site.py then looks for.
"""

import fnmatch
import json
import pathlib
import posixpath
import sys
import tempfile

import reference
from links import PROSE, Links, copy_of, headings, toctree

# The navigation: for each reader, the pages below docs/, in this order. A page
# must be in exactly one section; a name that is no page yet is no fault,
# because whoever links to it finds out.
SECTIONS = {
    "For users": [
        "guides/replacing-miopen.md", "clients.md", "performance.md",
        "limits.md", "guides/environment.md", "guides/databases.md",
        "guides/tuning.md", "guides/gpu-host.md"],
    "For authors of clients": [
        "guides/ahead-of-time.md", "guides/emulator.md",
        "guides/porting-from-cudnn.md", "guides/python.md",
        "guides/pytorch.md", "guides/jax.md", "guides/onnxruntime.md"],
    "For compiler engineers": [
        "guides/architecture.md", "guides/pipeline.md",
        "guides/adding-an-algorithm.md", "guides/cost-models.md",
        "guides/kernel-lessons.md", "guides/dnn-emu.md",
        "guides/glossary.md"],
    "For maintainers": [
        "guides/building.md", "guides/testing.md", "guides/contributing.md"],
    "Specification": ["spec/*.md"],
    "Design": ["design/*.md"],
}
# Sections whose pages are listed on a page of their own.
LISTED = {"Design": ("design/index", "Design records",
                     "Why the library is built as it is: the context of each "
                     "decision, what follows from it, and what was rejected.")}
REFERENCE = ["C API <reference/capi>", "The dnn dialect <reference/dialect>",
             "Passes <reference/passes>",
             "Variables by name <reference/environment>",
             "Layers <reference/layers>", "Index <genindex>"]


class Site:
    """What is written, what is expected of it, and what is wrong."""

    def __init__(self, root, pages):
        self.root = root
        self.links = Links(root, pages)
        self.texts = {}
        self.expected = {}
        self.faults = self.links.faults

    def add(self, path, text):
        self.texts[path] = text

    def expect(self, kind, page, anchors):
        """The built `page` must have these anchors, by the symbols' names."""
        self.expected.setdefault(kind, {}).update(
            {name: f"{page}#{anchor}" for name, anchor in anchors.items()})


def find_pages(root):
    """The pages of the tree, by the path that a link in the tree has."""
    pages = {"README.md": "index.md"}
    for file in sorted((root / "docs").rglob("*.md")):
        path = file.relative_to(root).as_posix()
        pages[path] = path.removeprefix("docs/")
    for entry, _, _ in LISTED.values():
        pages[f"docs/{posixpath.dirname(entry)}"] = f"{entry}.md"
    return pages


def sort_pages(pages, sections):
    """The pages of each section, and a fault for each page not in one."""
    names = [name for path, name in pages.items() if path.endswith(".md") and
             path.startswith("docs/")]
    sorted_names = {
        title: [name for pattern in patterns
                for name in fnmatch.filter(names, pattern)]
        for title, patterns in sections.items()}
    faults = []
    for name in names:
        count = sum(found.count(name) for found in sorted_names.values())
        if count != 1:
            faults.append(f"docs/{name}: is in {count} sections of the site, "
                          "but must be in one; see SECTIONS in "
                          "tools/docs/sources.py")
    return sorted_names, faults


def add_navigation(site, sections):
    """The home page's list of all pages, which every page shows."""
    trees = ""
    for title, names in sections.items():
        entries = [name.removesuffix(".md") for name in names]
        if title in LISTED:
            page, first_line, text = LISTED[title]
            site.add(f"{page}.md", f"# {first_line}\n\n{text}\n\n" +
                     toctree([f"/{entry}" for entry in entries], hidden=False))
            entries = [page]
        trees += toctree(entries, title) + "\n"
    site.texts["index.md"] += "\n" + trees + toctree(REFERENCE, "Reference")


def add_pages(site):
    """The Markdown of the tree."""
    for source, page in site.links.pages.items():
        if not source.endswith(".md"):
            continue
        text = (site.root / source).read_text()
        count = len(headings(text))
        if count != 1:
            site.faults.append(f"{source}: has {count} headings of level 1, but "
                               "a page has one title")
        site.add(page, site.links.rewrite(text, source, page))


def make(root):
    """The sources of the site of a tree."""
    pages = find_pages(root)
    site = Site(root, pages)
    sections, faults = sort_pages(pages, SECTIONS)
    site.faults += faults
    add_pages(site)
    add_navigation(site, sections)
    for add in (reference.add_c_api, reference.add_dialect,
                reference.add_passes, reference.add_environment,
                reference.add_layers):
        add(site)
    site.expected["pages"] = {
        page: page.replace(".md", ".html") for page in site.texts
        if page.endswith(".md")}
    return site


def write(site, folder):
    """Writes all files; copies of the tree's go to a folder of their own."""
    files = {f"pages/{path}": text for path, text in site.texts.items()}
    files["expected.json"] = json.dumps(site.expected, indent=1)
    for path in sorted(site.links.copies):
        files[f"copies/{copy_of(path)}"] = (site.root / path).read_text()
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


# What stands in a page of a small tree, and what the site has in its place.
LINKS = [
    ("[b](b.md#x)", "[b](b.md#x)"),
    ("[`b`](b.md)", "[`b`](b.md)"),
    ("[top](#a)", "[top](#a)"),
    ("[home](../../README.md)", "[home](../index.md)"),
    ("[why](../design)", "[why](../design/index.md)"),
    ("[code](../../src/a.cpp)",
     '<a href="../source/src/a.cpp.txt">code</a>'),
    ("[folder](../../src)", "folder"),
    ("[out](https://example.org)", "[out](https://example.org)"),
    ("`[b](nowhere.md)`", "`[b](nowhere.md)`"),
    ("```c\nx[i](j);\n```", "```c\nx[i](j);\n```"),
    ("docs/guides/b.md", "docs/guides/b.md"),
]
TREE = {
    "README.md": "# Home\n", "src/a.cpp": "", "docs/design/0001-x.md": "# X\n",
    "docs/guides/a.md": "# A\n" + "\n\n".join(text for text, _ in LINKS),
    "docs/guides/b.md": "# B\n\n```sh\n# no heading\n```\n",
}


def self_test():
    """Links are rewritten, and each kind of fault in a page is found."""
    sections = {"Guides": ["guides/a.md", "guides/b.md"],
                "Design": ["design/*.md"]}

    def make_site(changes):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**TREE, **changes}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            site = Site(root, find_pages(root))
            found, faults = sort_pages(site.links.pages, sections)
            site.faults += faults
            add_pages(site)
            add_navigation(site, found)
            return site

    site = make_site({})
    assert not site.faults, site.faults
    assert site.texts["guides/a.md"] == "# A\n" + "\n\n".join(
        wanted for _, wanted in LINKS), site.texts["guides/a.md"]
    prose = site.links.rewrite("See docs/guides/b.md and docs/c.md.", "",
                               "index.md", PROSE)
    assert prose == "See [docs/guides/b.md](guides/b.md) and docs/c.md.", prose
    assert len(site.faults) == 1, site.faults   # docs/c.md does not exist.
    for name, text, wanted in [
            ("docs/guides/b.md", "# B\n[x](nowhere.md)\n", "leads to no file"),
            ("docs/guides/b.md", "# B\n# C\n", "has 2 headings of level 1"),
            ("docs/guides/b.md", "B\n", "has 0 headings of level 1"),
            ("docs/guides/c.md", "# C\n", "is in 0 sections")]:
        faults = make_site({name: text}).faults
        assert len(faults) == 1 and wanted in faults[0], (wanted, faults)
    reference.self_test()


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        print("sources: self-test passed")
        return 0
    root = pathlib.Path(__file__).resolve().parents[2]
    site = make(root)
    write(site, pathlib.Path(sys.argv[1]))
    for fault in site.faults:
        print(f"sources: {fault}", file=sys.stderr)
    return 1 if site.faults else 0


if __name__ == "__main__":
    sys.exit(main())
