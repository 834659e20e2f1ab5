"""Settings of Sphinx for the site; tools/docs.sh calls it."""

import pathlib

from pygments.lexer import RegexLexer, words
from pygments.token import (Comment, Keyword, Name, Number, Operator,
                            Punctuation, String, Text)

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build/docs"

project = "Tessera"
copyright = ""
extensions = ["myst_parser", "breathe"]
root_doc = "index"
smartquotes_action = "D"  # Quotes stay as they are written.

# Links to headings are spelt as on a git host.
myst_heading_anchors = 6
suppress_warnings = ["myst.header"]  # A page may begin a level with level 3.

breathe_projects = {"capi": str(BUILD / "doxygen/xml")}
breathe_default_project = "capi"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
# Types that no header of ours declares, opaque structs, and unnamed unions.
nitpick_ignore_regex = [("c:identifier", r"size_t|u?int\d+_t|hipStream_t"),
                        ("c:identifier", r"miopen\w+(?<!_t)|.*\.@\d+")]
toc_object_entries = False

html_theme = "furo"
html_title = "Tessera"
# Debian's furo takes this style sheet from a web server's root, where a site of
# files has none; tools/docs.sh corrects the link.
html_static_path = [str(HERE / "static/site.css"),
                    "/usr/share/javascript/normalize.css/normalize.css"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "static/scorer.js")
html_extra_path = [str(BUILD / "sources/copies")]
html_show_copyright = False
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_domain_indices = False
pygments_style = "friendly"
pygments_dark_style = "monokai"


class MlirLexer(RegexLexer):
    """Colours of MLIR, for which Debian's Pygments has none."""
    name, aliases = "MLIR", ["mlir"]
    tokens = {"root": [
        (r"//.*", Comment.Single),
        (r'"[^"\n]*"', String),
        (r"[%^][\w$.]+", Name.Variable),
        (r"@[\w$.-]+", Name.Function),
        (r"[#!][A-Za-z_][\w.]*", Name.Decorator),
        (words(("memref", "tensor", "vector", "affine_map", "index", "f16",
                "bf16", "f32", "f64", "true", "false", "attributes"),
               prefix=r"\b", suffix=r"\b"), Keyword.Type),
        (r"\b[iu]\d+\b", Keyword.Type),
        (r"\b[a-z_]\w*\.[\w.]+", Name.Builtin),
        (r"-?\b\d[\w.]*", Number),
        (r"->|::|[=*+/-]", Operator),
        (r"[A-Za-z_]\w*", Text),
        (r"[<>(){}\[\]:,.?|]", Punctuation),
        (r"\s+", Text),
        (r".", Text),
    ]}


def setup(app):
    app.add_lexer("mlir", MlirLexer)
