"""The pages of the reference, generated from what the build itself reads.

Each function takes a Site and adds its pages, the anchors that these pages must
have in the built site, and a fault for whatever lacks a description.
"""

import html
import json
import pathlib
import re
import subprocess
import sys

from links import PROSE, identifier, table, toctree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dev"))
import check_api_docs  # noqa: E402
import check_layers  # noqa: E402

LLVM = "/usr/lib/llvm-22"
FIRST_LINE = re.compile(r"===- (?P<file>\S+) - (?P<title>.*?)\s*-[-*]")


def title_of(file):
    """What a file's first line says about it."""
    line = file.read_text().partition("\n")[0]
    match = FIRST_LINE.search(line)
    return match["title"] if match else file.name


def run(*command):
    """The output of a program, which must succeed."""
    return subprocess.run([str(part) for part in command], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def add_c_api(site):
    """One page for each public header; breathe fills it from Doxygen's XML."""
    functions = {}
    for function in check_api_docs.find_functions(site.root):
        header = function.location.rpartition(":")[0]
        functions.setdefault(header, []).append(function)
    entries, rows = [], []
    include = site.root / check_api_docs.INCLUDE
    for header in sorted(include.rglob("*.h")):
        name = header.relative_to(include).as_posix()
        page = f"reference/capi/{name.removesuffix('.h').replace('/', '-')}"
        declared = functions.get(header.relative_to(site.root).as_posix(), [])
        site.add(f"{page}.md", header_page(header, name, declared))
        site.expect("functions", f"{page}.html",
                    {each.name: f"c.{each.name}" for each in declared})
        entries.append(f"{name.removeprefix('miopen/')} </{page}>")
        rows.append([f"[{name}](capi/{page.rpartition('/')[2]}.md)",
                     title_of(header), str(len(declared))])
    site.add("reference/capi.md", "# C API\n\n"
             "Clients include `<miopen/miopen.h>`, whose page defines the words "
             "of all the others, and `<tessera/tessera.h>`, which holds what is "
             "not in MIOpen. Every function is in the {ref}`genindex`.\n\n" +
             table(["header", "about", "functions"], rows) + "\n" +
             toctree(entries))


def header_page(header, name, functions):
    """The page of a header: its description, a list, and every symbol."""
    # The target is Doxygen's name of the file, for links in its comments.
    target = header.name.replace("_", "__").replace(".", "_8")
    text = f"({target})=\n\n# {name}: {title_of(header)}\n\n"
    if functions:
        text += table(["function", "what it does"],
                      [[f"{{c:func}}`{each.name}`", purpose_of(each)]
                       for each in functions]) + "\n"
    return text + f"```{{doxygenfile}} {name}\n```\n"


def purpose_of(function):
    """The first sentence of a function's comment."""
    purpose, _ = check_api_docs.split_comment(function.comment or "")
    sentence = re.match(r".*?(?:\.(?=\s)|$)", " ".join(purpose.split()))[0]
    return re.sub(r"([|*_<\[])", r"\\\1", sentence)


def read_records(site, file):
    """The records of a .td file by class, and all of them by name."""
    text = run(f"{LLVM}/bin/llvm-tblgen", "--dump-json", "-I", site.root,
               "-I", f"{LLVM}/include", file)
    records = json.loads(text)
    return records["!instanceof"], records


def generate(site, file, generator):
    """The sections that mlir-tblgen makes of a .td file, by their headings."""
    text = run(f"{LLVM}/bin/mlir-tblgen", f"-gen-{generator}-doc", "-I",
               site.root, "-I", f"{LLVM}/include", file)
    pieces = re.split(r"^### +(.*)$", text, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2]))


def check_described(faults, file, records, names, fields):
    """A fault for each record without one of the fields."""
    faults += [f"{file.parent.name}/{file.name}: {name} has no {field}"
               for name in names for field in fields
               if not (records[name].get(field) or "").strip()]


def tidy(body):
    """The body of a generated section, in the Markdown of the other pages."""
    def rows(match):
        cells = [[html.unescape(cell).replace("|", "\\|") for cell in
                  re.findall(r"<t[hd]>(.*?)</t[hd]>", row)]
                 for row in re.findall(r"<tr>(.*?)</tr>", match[0], re.S)]
        return table([*cells[0]], [[re.sub(r"</?code>", "`", cell)
                                    for cell in row] for row in cells[1:]])

    body = re.sub(r"<table>.*?</table>\n", rows, body, flags=re.S)
    body = re.sub(r"^#### (.*?):?$", r"**\1**", body, flags=re.M)
    body = re.sub(r":-+:", "---", body)
    # Each condition and the example is a paragraph of its own.
    body = re.sub(r"^ *(Pre-condition|Post-condition|Example)\b([^:\n]*): *",
                  r"\n**\1**\2: ", body, flags=re.M)
    return body.strip() + "\n"


def section(name, anchor, body):
    """A section with an anchor that does not depend on its heading."""
    return f"({anchor})=\n\n## {name}\n\n{tidy(body)}\n"


def summary_of(body):
    """The sentence under the heading of a generated section."""
    match = re.search(r"^_(.*)_$", body, re.M)
    return match[1] if match else ""


def add_dialect(site):
    """One page of ops for each .td file, and one of attributes, types and enums."""
    kinds = {"attrdef": {}, "typedef": {}, "enum": {}}
    entries, ops = [], []
    for file in sorted((site.root / "dialect/IR").glob("*.td")):
        classes, records = read_records(site, file)
        check_described(site.faults, file, records, classes.get("Dialect", []),
                        ["summary", "description"])
        for kind in ("AttrDef", "TypeDef", "EnumInfo"):
            check_described(site.faults, file, records, classes.get(kind, []),
                            ["summary"])
        for generator, found in kinds.items():
            found.update(generate(site, file, generator))
        names = classes.get("Op", [])
        if not names:
            continue
        check_described(site.faults, file, records, names, ["summary", "description"])
        page = f"reference/dialect/{file.stem.lower()}"
        text = f"# {title_of(file)}\n\n"
        anchors = {}
        for title, body in generate(site, file, "op").items():
            name, kind = re.match(r"`(\S+)` \((.*)\)", title).groups()
            anchors[name] = identifier(f"op-{name}")
            text += section(f"`{name}`", anchors[name],
                            f"{body}\n\nC++ class: `{kind}`\n")
            ops.append([f"[`{name}`]({anchors[name]})", summary_of(body)])
        for name in names:
            mnemonic = f"dnn.{records[name]['opName']}"
            if mnemonic not in anchors:
                site.faults.append(f"{file.name}: no page has {mnemonic}")
        site.expect("ops", f"{page}.html", anchors)
        site.add(f"{page}.md", site.links.rewrite(text, "", f"{page}.md", PROSE))
        entries.append(f"/{page}")
    entries.append(add_attributes(site, kinds))
    add_dialect_index(site, ops, entries)


def add_attributes(site, kinds):
    """The page of attributes, types and enums."""
    titles = {"attrdef": "attributes", "typedef": "types", "enum": "enums"}
    page = "reference/dialect/attributes"
    text = "# Attributes, types and enums\n\n"
    for generator, found in kinds.items():
        anchors = {name: identifier(f"{generator}-{name}") for name in found}
        for name, body in sorted(found.items()):
            text += section(f"`{name}`", anchors[name], body)
        site.expect(titles[generator], f"{page}.html", anchors)
    site.add(f"{page}.md", site.links.rewrite(text, "", f"{page}.md", PROSE))
    return f"/{page}"


def add_dialect_index(site, ops, entries):
    """What the dialect is, and all its ops."""
    _, records = read_records(site, site.root / "dialect/IR/Dnn.td")
    page = "reference/dialect.md"
    lines = records["DnnDialect"]["description"].splitlines()
    text = "\n".join(line.removeprefix("    ") for line in lines)
    text = site.links.rewrite(text, "", page, PROSE)
    site.add(page, "# The dnn dialect\n\n" + records["DnnDialect"]["summary"] +
             f".\n\n{text}\n\n## Ops\n\n" + table(["op", "what it is"],
                                                  sorted(ops)) +
             "\n" + toctree(entries))


def add_passes(site):
    """One page with all passes, by the folder that has them."""
    page = "reference/passes.md"
    text, rows, anchors = "", [], {}
    for file in sorted((site.root / "compiler").glob("*/Passes.td")):
        classes, records = read_records(site, file)
        names = classes.get("PassBase", [])
        check_described(site.faults, file, records, names, ["summary", "description"])
        for name in names:
            for option in records[name]["options"]:
                check_described(site.faults, file, records, [option["def"]],
                                ["description"])
        for title, body in generate(site, file, "pass").items():
            name = title.strip("`").removeprefix("-")
            anchors[name] = identifier(f"pass-{name}")
            text += section(f"`{name}`", anchors[name], body)
            rows.append([f"[`{name}`]({anchors[name]})", summary_of(body),
                         f"compiler/{file.parent.name}"])
        for name in names:
            if records[name]["argument"] not in anchors:
                site.faults.append(f"{file.relative_to(site.root)}: no page has "
                                   f"{records[name]['argument']}")
    site.expect("passes", page.replace(".md", ".html"), anchors)
    text = site.links.rewrite(text, "", page, PROSE)
    site.add(page, "# Passes\n\nEach can be run alone: `dnn-opt --PASS`.\n\n" +
             table(["pass", "what it does", "layer"], rows) + f"\n{text}")


# A row of a table of variables: its names, and the other cells.
ROW = re.compile(r"^\| ((?:`[A-Z0-9_]+`(?:, )?)+) \| (.*) \|$", re.M)
NAME = re.compile(r'"((?:TESSERA|MIOPEN)_[A-Z0-9_]+)"')
GUIDE = "docs/guides/environment.md"


def read_variables(text):
    """The rows of each variable: (section, titles of columns, cells)."""
    variables = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        heading = part.partition("\n")[0]
        match = re.search(r"^\| variable \| (.*) \|$", part, re.M)
        for names, cells in ROW.findall(part):
            for name in re.findall(r"[A-Z0-9_]+", names):
                variables.setdefault(name, []).append(
                    (heading, match[1].split(" | "),
                     re.split(r" *(?<!\\)\| *", cells)))
    return variables


def add_environment(site):
    """Every variable by its name, from the tables of the guide."""
    page = "reference/environment.md"
    guide = (site.root / GUIDE).read_text()
    variables = read_variables(guide)
    read = {name for layer in ("runtime", "capi", "compiler", "tools")
            for file in (site.root / layer).rglob("*")
            if file.suffix in {".cpp", ".h"}
            for name in NAME.findall(file.read_text())}
    for name in sorted(read - set(variables)):
        site.faults.append(f"{GUIDE}: no table has {name}")
    text = "# Environment variables\n\nBy name; " \
           f"[the guide](/{GUIDE}) has them by subject.\n\n"
    text = site.links.rewrite(text, GUIDE, page)
    for name, rows in sorted(variables.items()):
        text += f"```{{envvar}} {name}\n"
        for heading, columns, cells in rows:
            lines = [f"- {column}: {cell}" for column, cell in
                     zip(columns, cells) if cell.strip()]
            lines.append(f"- see [{heading}](#{identifier(heading)})")
            text += site.links.rewrite("\n".join(lines), GUIDE, page) + "\n"
        text += "```\n\n"
    site.expect("variables", page.replace(".md", ".html"),
                {name: f"envvar-{name}" for name in variables})
    site.add(page, text)


def find_includes(root):
    """The includes between the layers' folders, as pairs of these."""
    pairs, folders = set(), set()
    for layer in check_layers.LAYERS:
        for file in (root / layer).rglob("*"):
            if file.suffix not in check_layers.SUFFIXES:
                continue
            user = component(file.relative_to(root).as_posix())
            folders.add(user)
            for line in file.read_text(errors="replace").splitlines():
                match = check_layers.INCLUDE.match(line)
                name = match[2] if match else ""
                if name.startswith(("miopen/", "tessera/")):
                    name = f"{check_api_docs.INCLUDE}/{name}"
                if name.startswith(check_layers.LAYERS):
                    pairs.add((user, component(name)))
    return folders, {(user, used) for user, used in pairs
                     if user != used and used in folders}


def component(path):
    """The folder of a layer in which a file is."""
    return "/".join(path.split("/")[:2])


def add_layers(site):
    """The components of the source and their includes, as a diagram."""
    folders, pairs = find_includes(site.root)
    lines = ["digraph layers {", "rankdir=TB; ranksep=0.5; nodesep=0.2;",
             'node [shape=box, style="rounded,filled", fillcolor=white, '
             'fontname="Helvetica", fontsize=11];',
             'graph [fontname="Helvetica", fontsize=12, style="rounded,filled",'
             ' color="#c8d2e0"]; edge [color="#5a6b85", arrowsize=0.6];']
    colours = dict(zip(check_layers.LAYERS,
                       ("#eef6ee", "#eaf1fb", "#fdf4e3", "#f6ecf7")))
    for layer in check_layers.LAYERS:
        inside = [folder for folder in sorted(folders)
                  if folder.startswith(f"{layer}/")]
        lines.append(f'subgraph "cluster_{layer}" {{ label="{layer}"; '
                     f'fillcolor="{colours[layer]}";')
        lines += [f'"{folder}" [label="{folder.partition("/")[2]}"];'
                  for folder in inside] + ["}"]
    lines += [f'"{user}" -> "{used}";' for user, used in sorted(pairs)] + ["}"]
    reduced = subprocess.run(["tred"], input="\n".join(lines), text=True,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=True).stdout
    picture = subprocess.run(["dot", "-Tsvg"], input=reduced, text=True,
                             stdout=subprocess.PIPE, check=True).stdout
    site.add("reference/layers.svg", picture)
    rules = [f"- {f'`{files}`' if files else 'No file'} "
             f"{'must not' if files else 'may'} include `{forbidden}`: {reason}."
             for files, forbidden, reason in check_layers.RULES]
    site.add("reference/layers.md",
             "# Layers\n\nThe folders of the source, and who includes whom. An "
             "arrow that follows from others is left out.\n\n"
             "```{image} layers.svg\n:alt: includes between the layers\n"
             ":class: diagram\n```\n\n## What must not be included\n\n"
             "`tools/dev/check_layers.py` checks these rules. Files and includes "
             "are regular expressions that match from the beginning.\n\n" +
             "\n".join(rules) + "\n")


def self_test():
    """Undescribed records are found, and tables are read and written right."""
    faults = []
    check_described(faults, pathlib.Path("a/IR/B.td"),
                    {"X": {"summary": "x", "description": " \n"}, "Y": {}},
                    ["X", "Y"], ["summary", "description"])
    assert faults == ["IR/B.td: X has no description",
                      "IR/B.td: Y has no summary",
                      "IR/B.td: Y has no description"], faults
    variables = read_variables(
        "# E\n\n## Device\n\n| variable | values | default |\n"
        "| --- | --- | --- |\n| `A_B`, `C` | x \\| y | |\n")
    row = ("Device", ["values", "default"], ["x \\| y", ""])
    assert variables == {"A_B": [row], "C": [row]}, variables
    body = tidy("#### Operands:\n<table>\n<tr><th>A</th></tr>\n"
                "<tr><td><code>a</code>&gt; b|c</td></tr>\n</table>\n"
                "Pre-condition:  p.\nPost-condition: q.\n")
    assert body == ("**Operands**\n| A |\n| --- |\n| `a`> b\\|c |\n\n"
                    "**Pre-condition**: p.\n\n**Post-condition**: q.\n"), body
