"""The colours of code, by Pygments: some 500 languages, by the names that fences give them.

Pygments is slow and its expressions backtrack: a few lines can be written that keep it busy for hours. Whoever calls
bounds the time; what is coloured by then is the answer.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pygments.lexers
import pygments.plugin
from pygments import token as kinds
from pygments.lexer import Lexer
from pygments.lexers import LEXERS

from desktop.domain.fences.colours import CodeRole
from desktop.workers.fence_host.bounded import TimeUp

_ALSO = """
apacheconf: htaccess
bash: ash dash dotenv env shell-script
batch: cmd
c: h
clojure: edn
console: command terminal
cpp: cc cxx hpp
cuda: cuh
diff: git patch
docker: containerfile
emacs-lisp: el
fish: fish-shell
fsharp: fs
golo: golo-lang
graphql: gql
groovy: gradle jenkinsfile
hcl: tfvars
html: astro ejs htm svelte xhtml
html+handlebars: hbs
html+jinja: njk nunjucks
ini: conf editorconfig gitconfig
javascript: cjs jsonc mjs mongo mongodb node
jinja: jinja2
json: ndjson
kotlin: kt kts
markdown: mdown mdx mkd skill
nasm: assembly x86asm
nginx: nginxconf
ocaml: ml
octave: matlab-octave
postgresql: pgsql
powershell: ps
protobuf: proto3
ruby: gemfile podfile rake
sass: stylus
solidity: sol
sql: bigquery plsql snowflake sqlite
systemd: service
tsql: mssql
typescript: cts mts
vbnet: vb
vim: vimscript
wat: wasm
xml: axml csproj plist rss
yaml: ansible compose docker-compose helm k8s kubernetes
"""
"""By language the names that fences give it and Pygments does not know."""
_PLAIN = frozenset({"text", "output"})
"""Languages of Pygments in which nothing is coloured."""
_ROLES: tuple[tuple[Any, CodeRole | None], ...] = (
    (kinds.Comment.Preproc, "keyword"),
    (kinds.Comment.PreprocFile, "string"),
    (kinds.Comment, "comment"),
    (kinds.Keyword, "keyword"),
    (kinds.Operator.Word, "keyword"),
    (kinds.Name.Builtin.Pseudo, "keyword"),
    (kinds.Name.Function, "name"),
    (kinds.Name.Class, "name"),
    (kinds.Name.Tag, "name"),
    (kinds.Name.Attribute, "name"),
    (kinds.Name.Property, "name"),
    (kinds.Name.Decorator, "name"),
    (kinds.Name.Builtin, "name"),
    (kinds.Name.Exception, "name"),
    (kinds.Name.Label, "name"),
    (kinds.Name.Entity, "name"),
    (kinds.Name.Variable, "name"),
    (kinds.Name.Constant, "number"),
    (kinds.String.Interpol, "name"),
    (kinds.String, "string"),
    (kinds.Number, "number"),
    (kinds.Literal, "number"),
    (kinds.Generic.Heading, "keyword"),
    (kinds.Generic.Subheading, "name"),
    (kinds.Generic.Strong, "keyword"),
    (kinds.Generic.Prompt, "comment"),
    (kinds.Generic.Inserted, "inserted"),
    (kinds.Generic.Deleted, "deleted"),
    (kinds.Generic.Error, "deleted"),
    (kinds.Generic.Traceback, "deleted"),
)


def load() -> None:
    """Everything that would be read from files later, when there are none any more: a tenth of a second."""
    for module in pkgutil.iter_modules(pygments.lexers.__path__):
        name = f"pygments.lexers.{module.name}"
        importlib.import_module(name)
    # A lexer that meets a fence of its own asks for the language in it, also among what other packages bring.
    pygments.plugin.iter_entry_points = lambda *_: ()


@lru_cache(maxsize=1)
def _by_name() -> dict[str, str]:
    """The class of a language by the name of a fence."""
    found: dict[str, str] = {}
    for class_name, (_, _, aliases, _, _) in LEXERS.items():
        for alias in aliases:
            found.setdefault(alias.casefold(), class_name)
    for row in _ALSO.strip().splitlines():
        language, _, names = row.partition(": ")
        found.update(dict.fromkeys(names.split(), found[language]))
    return {name: class_name for name, class_name in found.items() if name not in _PLAIN}


def lexer_of(name: str, code: str) -> Lexer | None:
    """What reads a code in a language; None where the name says nothing."""
    class_name = _by_name().get(name.casefold())
    if class_name is None:
        return None
    # PHP often stands in a fence without the sign that begins it in a page.
    made: Lexer = getattr(importlib.import_module(LEXERS[class_name][0]), class_name)(startinline="<?" not in code)
    return made


@lru_cache(maxsize=512)
def role_of(kind: Any) -> CodeRole | None:
    """The role of a kind of token."""
    return next((role for family, role in _ROLES if kind in family), None)


def coloured(lexer: Lexer, code: str) -> list[tuple[int, int, CodeRole]]:
    """The spans of a code; those that were found before time was up, or before the lexer broke."""
    found: list[tuple[int, int, CodeRole]] = []
    try:
        for start, end, role in _spans(lexer, code):
            if found and found[-1][2] == role and found[-1][1] == start:
                found[-1] = (found[-1][0], end, role)
            else:
                found.append((start, end, role))
    except (TimeUp, RecursionError):
        pass
    except Exception:  # noqa: BLE001 - the boundary to third-party lexers; what they found before stands
        pass
    return found


def _spans(lexer: Lexer, code: str) -> Iterator[tuple[int, int, CodeRole]]:
    for start, kind, text in lexer.get_tokens_unprocessed(code + "\n"):
        role = role_of(kind)
        end = min(start + len(text), len(code))
        if role is not None and start < end and not text.isspace():
            yield start, end, role
