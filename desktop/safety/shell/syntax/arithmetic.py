"""Where in a shell command bash computes, or takes a text for the name of a variable: both may run what stands in an
index, be it ``a[$(rm x)]`` (R-BLK-5). The texts are found in the grammar's tree; ``computed_text.py`` judges them.
"""

from __future__ import annotations

import re
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.syntax.words import node_text

COMPUTING = frozenset(
    "subscript arithmetic_expansion command_substitution compound_statement test_command subshell "
    "c_style_for_statement expansion for_statement case_statement array command declaration_command".split()
)
"""The kinds of nodes that ``Computed`` looks at; no other says anything."""
_COMPARING = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
_NAMING = ("-v", "-R")
_COMPARES = re.compile(r"\s-(?:eq|ne|lt|le|gt|ge|v|R)\s")
_TESTS = ("test", "[")
_UNQUOTED = ("simple_expansion", "expansion", "command_substitution")
_MANY_WORDS = re.compile(r"\$@|\$\{!?(?:@|\w+(?:\[@\]|@))")
"""In quotes, too, one becomes several, of which the first may be ``-v``."""
_AFTER_NAME = ("", "/", "#", "%", "^", ",", "@", "-", "+", "?")
"""What may follow a variable's name in ``${}`` besides a colon and an equals sign."""
_DECLARES = ("declare", "typeset", "local", "export", "readonly")
_BEFORE = ("command", "builtin", "time", "!", "jobs", "coproc")
_QUOTES = ("string", "raw_string", "ansi_c_string", "concatenation")


@dataclass(frozen=True, slots=True)
class Sum:
    """A text that is computed; ``array`` is the name of the array of which it is an index."""

    text: str
    array: str = ""


@dataclass(slots=True)
class Computed:
    """``sums``: what bash computes; ``names``: what it takes for a variable's name, or may take for a test's option;
    ``given``: variables and what a loop or ``${X:=Y}`` sets them to."""

    sums: list[Sum] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    given: list[tuple[str, str]] = field(default_factory=list)

    def look_at(self, node: Any, kind: str) -> bool:
        """Take in what this node, of one of the kinds in ``COMPUTING``, says, without those below it. Whether it is a
        sum itself."""
        if kind in ("command", "declaration_command"):
            self._command(node.children)
            return False
        text = node_text(node)
        if kind == "subscript":
            array, _, index = text.partition("[")
            self.sums.append(Sum(index.removesuffix("]"), array))
        elif kind == "arithmetic_expansion" or (kind == "command_substitution" and text.startswith("$((")):
            self.sums.append(Sum(text[2:-1] if text.startswith("$[") else text[3:-2]))
        elif kind in ("compound_statement", "test_command") and text.startswith("(("):
            self.sums.append(Sum(text[2:-2]))
        elif kind == "subshell" and text.startswith("((") and "))" in text:
            # after ``!`` and ``time`` the grammar sees commands where bash computes: it may be either, both are read
            self.sums.append(Sum(text[2:].removesuffix("))")))
            return False
        elif kind == "c_style_for_statement":
            self._head(node, text)
        elif kind == "test_command":
            self._test(node, text)
            return False
        else:
            self._look_at_words(node, kind, text)
            return False
        return True

    def _look_at_words(self, node: Any, kind: str, text: str) -> None:
        if kind == "expansion":
            self._expansion(node, text)
        elif kind in ("for_statement", "case_statement"):
            self._loop(node)
        elif kind == "array":
            array = node_text(node.parent).partition("=")[0].removesuffix("+")
            self.sums += [Sum(index, array) for child in node.named_children if (index := _index(node_text(child)))]

    def _command(self, children: list[Any]) -> None:
        """Tests, and lists in quotes, whose indexes are computed: ``declare 'a=([x]=1)'``."""
        at, name = _name_in(children)
        if name in _TESTS:
            self._tested(children[at:])
        elif name in _DECLARES:
            texts = [node_text(child) for child in children if child.type in _QUOTES]
            self.sums += [Sum(text) for text in texts if "=(" in text and "[" in text]

    def _head(self, node: Any, text: str) -> None:
        body = node.child_by_field_name("body")
        raw: bytes = node.text
        head = raw[: body.start_byte - node.start_byte].decode("utf-8", "replace") if body is not None else text
        self.sums.append(Sum(head.partition("((")[2].rpartition("))")[0]))

    def _loop(self, node: Any) -> None:
        """``for X`` without a list goes through the arguments."""
        if (variable := node.child_by_field_name("variable")) is not None:
            values = [node_text(value) for value in node.children_by_field_name("value")]
            self.given.append((node_text(variable), " ".join(values) if values else "$@"))

    def _expansion(self, node: Any, text: str) -> None:
        """``${X:a:b}``, ``${!X}``, ``${X:=Y}``; what is not known to be something else is computed."""
        named = next((child for child in node.children if _is_name(child)), None)
        if named is None:
            self.sums += [] if re.fullmatch(r"\$\{[#?$!@*\-_]\}|\$\{#[@*#?$!\-]?\}", text) else [Sum(text)]
            return
        raw: bytes = node.text
        name = node_text(named)
        head = raw[: named.start_byte - node.start_byte].decode()
        rest = raw[named.end_byte - node.start_byte :].decode("utf-8", "replace").removesuffix("}")
        if rest.startswith(("=", ":=")):
            self.given.append((name.partition("[")[0], rest.partition("=")[2]))
        elif rest.startswith(":"):
            self.sums += [Sum(rest[1:])] if rest[1:2] not in tuple("-+?") else []
        elif rest[:1] not in _AFTER_NAME:
            self.sums.append(Sum(text))
        if "!" in head and not (rest in ("@", "*") or (name.endswith(("[@]", "[*]")) and not rest)):
            self._pointed(name, rest)

    def _pointed(self, name: str, rest: str) -> None:
        """With an equals sign it sets a variable that only running shows."""
        if rest.startswith(("=", ":=")):
            self.sums.append(Sum("${" + name + "}"))
        else:
            self.names.append("${" + name + "}")

    def _test(self, node: Any, text: str) -> None:
        if not text.startswith("[["):
            self._tested(node.children)
            return
        tokens, found = _flat(node), 0
        for at, token in enumerate(tokens):
            operator = node_text(token)
            if operator in _COMPARING and 0 < at < len(tokens) - 1:
                self.sums += [Sum(node_text(tokens[at - 1])), Sum(node_text(tokens[at + 1]))]
                found += 1
            elif operator in _NAMING and at < len(tokens) - 1:
                self.names.append(node_text(tokens[at + 1]))
                found += 1
        if found < len(_COMPARES.findall(re.sub(r"\s", "  ", text))):
            self.sums.append(Sum(text))  # the tree does not show which are compared

    def _tested(self, children: list[Any]) -> None:
        """Note the words of ``[ $X ]``: without quotes one may become ``-v`` and a name, and so may two that follow
        each other."""
        tokens = [token for child in children for token in (_flat(child) or [child])]
        for at, token in enumerate(tokens):
            text = node_text(token)
            follows = at > 0 and _is_dynamic(tokens[at - 1])
            if follows and _is_dynamic(token):
                self.names += [node_text(tokens[at - 1]), text]
            elif (at > 0 and node_text(tokens[at - 1]) in _NAMING) or _may_split(token) or _may_be_option(token):
                self.names.append(text)


def _name_in(children: list[Any]) -> tuple[int, str]:
    """The name of a command without quotes, and which of its parts that is."""
    for at, child in enumerate(children):
        bare = node_text(child).replace("'", "").replace('"', "").replace("\\", "")
        if bare not in _BEFORE and not bare.startswith("-"):
            return at, bare
    return len(children), ""


def _index(text: str) -> str:
    """The index ``x`` in ``[x]=1``; rather too much text than too little."""
    return text[1:].rpartition("]")[0] if text.startswith("[") else ""


def _is_name(node: Any) -> bool:
    return node.is_named and node.type in ("variable_name", "subscript", "special_variable_name")


def _flat(node: Any) -> list[Any]:
    """The operands and operators of a test, one after the other."""
    if not (node.type.endswith("_expression") or node.type == "test_command"):
        return [node]
    return [token for child in node.children for token in _flat(child)]


def _may_split(node: Any) -> bool:
    parts = node.children if node.type == "concatenation" else [node]
    return any(part.type in _UNQUOTED for part in parts) or _MANY_WORDS.search(node_text(node)) is not None


def _may_be_option(node: Any) -> bool:
    """Whether a pattern may become ``-v``."""
    text = node_text(node)
    return node.type == "word" and text not in _NAMING and any(fnmatchcase(option, text) for option in _NAMING)


def _is_dynamic(node: Any) -> bool:
    return "$" in node_text(node) or "`" in node_text(node)
