"""Takes a shell command apart with tree-sitter-bash: simple commands, redirections, what joins them.

The grammar marks what it cannot parse instead of raising; every such place is reported as a problem, so that nothing
passes unread (R-BLK-5). The first use imports the parser (15 ms): call it in a thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from itertools import dropwhile
from typing import TYPE_CHECKING, Any

from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.syntax.arithmetic import COMPUTING, Computed, Sum
from desktop.safety.shell.syntax.words import (
    UNREAD,
    Word,
    joined_by_quotes,
    literal,
    node_text,
    substitutions,
    unescaped,
    word_of,
)

# Together they cost more than the app's own start may: in a thread, at the first command.
if TYPE_CHECKING:
    import tree_sitter
    import tree_sitter_bash
else:
    tree_sitter = lazy_module("tree_sitter")
    tree_sitter_bash = lazy_module("tree_sitter_bash")

MAX_DEPTH = 200
_RESERVED = frozenset("function { } if then elif else fi do done case esac select for while until in (( [[".split())
_WORDS = (
    "word",
    "string",
    "raw_string",
    "ansi_c_string",
    "concatenation",
    "number",
    "simple_expansion",
    "expansion",
    "command_substitution",
    "process_substitution",
    "arithmetic_expansion",
    "translated_string",
)
_TIGHT = ("simple_expansion", "variable_assignment", "concatenation", "command_name", "subscript")
_DELIMITER = re.compile(r"""[\w.+\-]+|'[\w.+\- ]+'|"[\w.+\- ]+"|\\\w+""")
_ENDS_WORD = (b"", b" ", b"\t", b"\n", b";", b"&", b"|", b"<", b">", b"(", b")")
# Nodes that hold text between their parts.
_WITH_TEXT = (
    "string",
    "translated_string",
    "heredoc_body",
    "heredoc_redirect",
    "regex",
    "arithmetic_expansion",
    "expansion",
    "comment",
    "test_command",
    "redirected_statement",
)
_OPERATORS = {"&&", "||", "|", "|&", ";", ";;", "&", "\n"}
_HIDDEN_RUN = re.compile(r"\$\(|`")
_CONTINUED = re.compile(r"\\\n")
_PLAIN = re.compile(rb"[\w./+%,@:=^\-]+")
"""A word that stands for itself, and in which nothing else can be."""
_PLAIN_KINDS = ("word", "number", "command_name")
_ASSIGNS = re.compile(r"\w+\+?=")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BLANKS = (b"\n", b" ", b"\t")
_COMMANDS = ("command", "declaration_command", "unset_command", "test_command")
_ONLY_NAMES = ("command", "builtin", "time", "!", "jobs")
_EVALUATING = frozenset(
    "printf test [ [[ unset read let declare typeset local export readonly mapfile readarray getopts wait bind "
    "complete compgen enable".split()
)
# Leaves whose text bash expands although the grammar took it for plain text.
_LEAVES = ("heredoc_content", "heredoc_body", "regex", "extglob_pattern", "test_operator", "word", "string_content")


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection. ``operator`` is > >> >| &> &>> < <> <<< or <<; ``target`` the file, or the text fed in for the
    last two."""

    operator: str
    target: Word
    quoted: bool = False

    @property
    def writes(self) -> bool:
        """Whether the file may change."""
        return ">" in self.operator

    @property
    def feeds_text(self) -> bool:
        """Whether ``target`` is input text and no file."""
        return self.operator in ("<<<", "<<", "<<-")


@dataclass(slots=True)
class SimpleCommand:
    """A simple command. ``words[0]`` is the command word; empty when there are only assignments or redirections.
    ``piped_from`` is the command whose output it reads through a pipe."""

    text: str
    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    redirects: list[Redirect] = field(default_factory=list)
    operator: str = ""
    piped_from: SimpleCommand | None = None


@dataclass(slots=True)
class Parsed:
    """Everything found in a text of shell commands.

    ``problems`` are reasons why the reading may be incomplete; ``unread`` texts to read again; ``kinds`` the kinds of
    all named nodes of the grammar, and its double brackets; ``computed`` what bash computes.
    """

    commands: list[SimpleCommand] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    computed: Computed = field(default_factory=Computed)


@lru_cache(maxsize=1)
def load_parser() -> Any:
    """With the grammar of bash. Blocks at first."""
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(source: str, variables: Mapping[str, str]) -> Parsed:
    """All simple commands of ``source``, nested ones included. ``variables`` are HOME and PWD."""
    walker = _Walker(variables)
    walker.read(source)
    if _CONTINUED.search(source):
        walker.read(_CONTINUED.sub("", source))  # both ways: bash joins lines, but not in comments
    if _CONTROL.search(source):
        walker.found.problems.append("it contains control characters")
    return walker.found


class _Walker:
    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.found = Parsed()
        self._pending = ""
        self._source = b""
        self._heredoc_rows: set[int] = set()

    def read(self, source: str) -> None:
        self._source = source.encode("utf-8", "replace")
        root = load_parser().parse(self._source).root_node
        if root.has_error:
            self.found.problems.append("it is not complete, correct bash")
        self._pending = ""
        self._heredoc_rows.clear()
        self._covered(root)
        self._visit(root, 0)

    def _covered(self, root: Any) -> None:
        """Between the parts of the tree there may be only blanks, and between two words there must be some: elsewhere
        the grammar has split differently from bash."""
        source, found, waiting = self._source, self.found, [root]
        while waiting:
            node = waiting.pop()
            kind, children = node.type, node.children
            if node.is_named or kind == "((":
                found.kinds.add(kind)
            if kind in COMPUTING:
                if kind == "subshell" and source.startswith(b"((", node.start_byte, node.end_byte):
                    found.kinds.add("((")
                if found.computed.look_at(node, kind) and _hides_a_run(node):
                    found.problems.append("its arithmetic may run what is written in quotes")
            misread = kind == "word" and source.startswith(_BLANKS, node.start_byte, node.end_byte)
            if misread or (children and kind not in _WITH_TEXT and not _gaps_are_blank(source, node, kind)):
                found.problems.append("a part of it could not be read")
                return
            waiting += children

    def _visit(self, node: Any, depth: int) -> SimpleCommand | None:
        """Walk a node; returns the last simple command directly in it, for pipes and redirections."""
        if depth > MAX_DEPTH:
            self.found.problems.append("it is nested too deeply")
            return None
        if node.type in _COMMANDS:
            return self._command(node, depth)
        if node.type == "redirected_statement":
            return self._redirected(node, depth)
        if node.type == "variable_assignment":
            return self._assignment(node, depth)
        if node.type == "pipeline":
            return self._pipeline(node, depth)
        if node.type == "function_definition":
            self._function(node)
        if node.type in ("for_statement", "case_statement"):
            self._choices(node)
        self._leaf(node)
        return self._children(node, depth)

    def _children(self, node: Any, depth: int) -> SimpleCommand | None:
        last = None
        if node.type == "command_substitution" and node_text(node).startswith("`") and "\\" in node_text(node):
            self.found.unread.append(unescaped(node_text(node)[1:-1]))
        if node.type in ("command_substitution", "process_substitution", "subshell", "compound_statement"):
            self._pending = node.children[0].type if node.children else self._pending
        for child in node.children:
            if child.type in _OPERATORS:
                self._pending = child.type
                continue
            last = self._visit(child, depth + 1) or last
        return last

    def _pipeline(self, node: Any, depth: int) -> SimpleCommand | None:
        before: SimpleCommand | None = None
        for child in node.children:
            if child.type in _OPERATORS:
                self._pending = child.type
                continue
            at = len(self.found.commands)
            last = self._visit(child, depth + 1)
            for command in self.found.commands[at:]:
                if before is not None and command.piped_from is None:
                    command.piped_from = before
            before = last or before
        return before

    def _command(self, node: Any, depth: int) -> SimpleCommand:
        words: list[Word] = []
        assignments: list[Word] = []
        nested: list[Any] = []
        command = SimpleCommand(node_text(node), (), operator=self._take())
        self.found.commands.append(command)
        parts = node.children if node.type != "test_command" else [node.children[0], *_operands(node)]
        for child in parts:
            kind = child.type
            if kind in _PLAIN_KINDS and (plain := _PLAIN.fullmatch(self._source, child.start_byte, child.end_byte)):
                text = plain[0].decode("ascii")
                words.append(Word(text, text, start=child.start_byte))
            elif kind.endswith("_redirect"):
                self._redirect(child, command, depth)
            elif kind == "variable_assignment" and node.type == "command":
                assignments.append(self._word(child))
                nested.append(child)
            elif node_text(child).startswith("\n"):  # a grammar's mistake: here the next command begins
                rest: bytes = node.text[child.start_byte - node.start_byte :]
                self.found.unread.append(rest.decode("utf-8", "replace").lstrip("\n"))
                break
            else:
                words.append(self._word(child))
                nested.append(child)
        if words and words[0].text in _RESERVED and node.type == "command":
            self.found.problems.append(f"'{words[0].text}' stands where a command should")
        command.words, command.assignments = (*words, *command.words), tuple(assignments)
        self._evaluated(node, words)
        for child in nested if node.type != "test_command" else node.children:
            self._inside(child, depth)
        return command

    def _evaluated(self, node: Any, words: list[Word]) -> None:
        """Builtins that evaluate a part of their arguments, single-quoted or not, as an array's index does."""
        own = dropwhile(lambda word: word.text in _ONLY_NAMES or word.text.startswith("-"), words)
        name = next((word.text for word in own), "")
        assigns = any("=" in word.text and _ASSIGNS.match(word.text) for word in words)
        if (assigns or name in _EVALUATING) and _hides_a_run(node):
            self.found.problems.append(f"{name} may run what is written in its arguments")

    def _assignment(self, node: Any, depth: int) -> SimpleCommand | None:
        parts = [self._word(child) for array in _descend(node, ("array",)) for child in array.named_children]
        made = SimpleCommand(node_text(node), (), (self._word(node), *parts), operator=self._take())
        self.found.commands.append(made)
        self._inside(node, depth)
        if _hides_a_run(node):
            self.found.problems.append("a variable is given text that could be run as a command")
        return None

    def _redirected(self, node: Any, depth: int) -> SimpleCommand | None:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        command = self._visit(body, depth + 1) if body is not None else None
        owner = command if body is not None and body.type in (*_COMMANDS, "list", "pipeline") else None
        if owner is None:
            text = " ".join(node_text(item) for item in redirects)
            owner = SimpleCommand(text, (), operator=self._take())
            self.found.commands.append(owner)
        for item in redirects:
            self._redirect(item, owner, depth)
        for child in node.children:
            if child is not body and not child.type.endswith("_redirect") and child.is_named and child != body:
                self._visit(child, depth + 1)
        return command or owner

    def _redirect(self, node: Any, owner: SimpleCommand, depth: int) -> None:
        if node.type == "heredoc_redirect":
            self._heredoc(node, owner, depth)
            return
        operator = next((c.type for c in node.children if not c.is_named), "")
        named = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        for child in named[:1]:
            word = self._word(child)
            duplicates = operator in (">&", "<&") and re.fullmatch(r"\d*-?", word.text)
            if not duplicates:
                owner.redirects.append(Redirect(operator, word))
        owner.words += tuple(self._word(child) for child in named[1:])  # arguments that follow a redirection
        for child in named:
            self._inside(child, depth)

    def _heredoc(self, node: Any, owner: SimpleCommand, depth: int) -> None:
        """Read a here-document: its text is input; what follows on the same line belongs to the pipeline around it."""
        mark = next((child for child in node.children if child.type == "heredoc_start"), None)
        start, row = node_text(mark) if mark is not None else "", node.start_point[0]
        glued = mark is not None and self._source[mark.end_byte : mark.end_byte + 1] not in _ENDS_WORD
        if not _DELIMITER.fullmatch(start) or row in self._heredoc_rows or glued:
            self.found.problems.append("where a here-document ends could not be read")
        self._heredoc_rows.add(row)
        quoted = any(character in start for character in "'\"\\")
        for child in node.children:
            if child.type == "heredoc_body":
                self._heredoc_body(node_text(child), owner, quoted)
            elif child.type in _OPERATORS:
                self._pending = child.type
            elif child.type not in ("heredoc_start", "heredoc_end", "file_descriptor") and child.is_named:
                self._behind_heredoc(child, owner, depth)

    def _heredoc_body(self, body: str, owner: SimpleCommand, quoted: bool) -> None:
        if not quoted:  # the grammar overlooks substitutions after leading blanks: read them ourselves
            self.found.unread += substitutions(body)
            _computed_in(body, self.found.computed)
        owner.redirects.append(Redirect("<<", Word(body, body, dynamic=not quoted and "$" in body), quoted))

    def _behind_heredoc(self, child: Any, owner: SimpleCommand, depth: int) -> None:
        """What stands on the line after ``<<END``: redirections, arguments, the rest of a pipeline."""
        if child.type.endswith("_redirect"):
            self._redirect(child, owner, depth)
            return
        if child.type in _WORDS:
            if child.prev_sibling is not None and child.prev_sibling.end_byte == child.start_byte:
                self.found.problems.append("where a here-document ends could not be read")
            owner.words += (self._word(child),)
            self._inside(child, depth)
            return
        at = len(self.found.commands)
        self._visit(child, depth + 1)
        for command in self.found.commands[at:]:
            command.piped_from = command.piped_from or (owner if "|" in command.operator else None)

    def _choices(self, node: Any) -> None:
        """The words that ``for``, ``select`` and ``case`` go through, as a command of that name."""
        values = node.children_by_field_name("value")
        if values:
            words = tuple(self._word(child) for child in values)
            text = " ".join(node_text(child) for child in node.children[: node.children.index(values[-1]) + 1])
            self.found.commands.append(SimpleCommand(text, (literal(node.children[0].type), *words)))

    def _function(self, node: Any) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.found.functions.add(node_text(name))

    def _inside(self, node: Any, depth: int) -> None:
        """Commands within a word: substitutions."""
        kept = self._pending
        self._leaf(node)
        if node.type in ("command_substitution", "process_substitution"):
            self._children(node, depth)
        else:
            for child in node.children:
                self._visit(child, depth + 1)
        self._pending = kept

    def _leaf(self, node: Any) -> None:
        if node.child_count == 0 and node.type in _LEAVES and UNREAD.search(text := node_text(node)):
            self.found.problems.append("a part of it could not be read")
            self.found.unread += substitutions(text)

    def _word(self, node: Any) -> Word:
        if not node.is_named and node.type in ("[", "[[", "]", "]]"):
            return literal(node.type, node.start_byte)
        word = word_of(node, self._variables)
        if word.unread:
            self.found.problems.append("a part of it could not be read")
            self.found.unread += substitutions(node_text(node))
        return word

    def _take(self) -> str:
        operator, self._pending = self._pending, ""
        return operator


def _gaps_are_blank(source: bytes, node: Any, kind: str) -> bool:
    """Whether the parts of a node follow each other as bash would split them."""
    end = node.start_byte
    tight, command, before = kind in _TIGHT, kind == "command", None
    for child in node.children:
        gap = source[end : child.start_byte]
        if gap and gap != b" ":
            gap = gap.replace(b"\\\n", b"")
        if gap and (tight or gap.strip(b" \t\n")):
            return False
        if command and not gap and before is not None and child.is_named and _are_glued(before, child):
            return False
        before, end = child, child.end_byte
    return True


def _are_glued(before: Any, child: Any) -> bool:
    return before.is_named and not child.type.endswith("_redirect") and not before.type.endswith("_redirect")


def _hides_a_run(node: Any) -> bool:
    """Whether text that is quoted, and so is only text for now, would run something when it is read again."""
    quoted = (node_text(part) for part in _descend(node, ("raw_string", "ansi_c_string")))
    return any(_HIDDEN_RUN.search(text) for text in quoted) or joined_by_quotes(node_text(node))


def _operands(node: Any) -> list[Any]:
    """The words compared in ``[[ ]]``, without what joins them."""
    found: list[Any] = []
    waiting = list(node.children)
    while waiting:
        current = waiting.pop(0)
        if current.type.endswith("_expression"):
            waiting = [*current.children, *waiting]
        elif current.is_named and current.type != "test_operator":
            found.append(current)
    return found


def _computed_in(body: str, computed: Computed) -> None:
    """Find computed texts in a here-document, which is like a text in quotes; a quote in it means nothing there."""
    if "$" not in body:
        return
    root = load_parser().parse(('"' + body.replace('"', "§") + '"').encode("utf-8", "replace")).root_node
    if root.has_error:
        computed.sums.append(Sum(body))
    for node in _nodes(root):
        computed.look_at(node, node.type)


def _nodes(root: Any) -> Iterator[Any]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def _descend(node: Any, kinds: tuple[str, ...]) -> list[Any]:
    found: list[Any] = []
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in kinds:
            found.append(current)
        waiting += current.children
    return found
