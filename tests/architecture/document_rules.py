"""The rules that documents have to keep, each a function from texts to its findings. Proven in test_documents.py."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

LINK = re.compile(r"\]\(([^()\s]+)\)")
NAMED = re.compile(r"(?<!`)`((?:desktop|tests|packaging|resources|skills)/[\w./-]*)`")


def dead_links(root: Path, texts: Mapping[str, str]) -> list[str]:
    """A relative link of a document that leads to no file. Addresses of other computers are not looked at."""
    return [
        f"{name}:{number}: {target} leads nowhere"
        for name, number, line in _prose(texts)
        for target in LINK.findall(line)
        if "://" not in target and not target.startswith("#")
        if not (root / name).parent.joinpath(target.partition("#")[0]).exists()
    ]


def dead_modules(root: Path, readme: str, text: str) -> list[str]:
    """Modules in backticks that are neither in the room of this README, nor below desktop/, nor at the top."""
    return [
        found
        for found in re.findall(r"`([a-z_/]+\.py)`", text)
        if not any((top / found).exists() for top in (root, root / "desktop"))
        and not modules_called(found, (root / readme).parent)
    ]


def modules_called(name: str, folder: Path) -> list[Path]:
    """The files below a folder whose paths end like this."""
    return [path for path in _python_files(folder) if f"/{path}".endswith(f"/{name}")]


@cache
def _python_files(folder: Path) -> tuple[Path, ...]:
    """Without hidden folders: there lie what is installed, and what git keeps."""
    inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return tuple(file for path in inside for file in ([path] if path.suffix == ".py" else path.rglob("*.py")))


NAME_IN_MODULE = re.compile(
    r"((?:`[A-Za-z_][\w.]*`(?:,|\s+and|\s+or)?\s+)+)(?:(?:\w+\s+){0,3}?(?:in|of)\s+`([\w./]+\.py)`|\(`([\w./]+\.py)`\))"
)
"""Names in backticks, then their module: ``PAGES`` and ``ROWS`` of ``desktop/x.py``, ``PAGES`` (``desktop/x.py``)."""


NAMES_BEHIND_MODULE = re.compile(r"`([\w./]+\.py)`\s+\(([^()]*)\)")
"""A module, then names in parentheses, among other words: ``desktop/x.py`` (the table ``PAGES``)."""


def dead_names(root: Path, document: str, text: str) -> list[str]:
    """Names that a document says are in a module, and that no module of this path has."""
    room = (root / document).parent
    found = []
    said = [(names, after or within) for names, after, within in NAME_IN_MODULE.findall(text)]
    said += [(names, module) for module, names in NAMES_BEHIND_MODULE.findall(text)]
    for names, module in said:
        files = [root / module, root / "desktop" / module, *modules_called(module, room)]
        words = {word for file in files if file.is_file() for word in _words(file)}
        called = [name for name in re.findall(r"`([\w.]+)`", names) if not name.endswith(".py")]
        found += [f"{name} is not in {module}" for name in called if not words.issuperset(name.split("."))]
    return found


def unnamed_modules(folder: Path, text: str) -> list[str]:
    """Modules of a folder, without those in folders below it, that a text does not name."""
    modules = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    return sorted(modules - {found.rpartition("/")[2] for found in re.findall(r"`([a-z_/]+\.py)`", text)})


def gone_signals(sources: Mapping[str, str]) -> list[str]:
    """Signals such as ``close_wanted`` that a docstring names, and that its module has nowhere else."""
    return [
        f"{name}: {signal} is not there"
        for name, source in sources.items()
        for signal in sorted(set(re.findall(r"``(\w+_wanted)``", source)))
        if not re.search(rf"(?<!``)\b{signal}\b", source)
    ]


def long_lines(texts: Mapping[str, str]) -> list[str]:
    """Lines of more than 121 characters. Rows of tables and blocks of code cannot be wrapped."""
    return [
        f"{name}:{number}: {len(line)} characters"
        for name, number, line in _prose(texts)
        if len(line) > 121 and not line.startswith("|")
    ]


@cache
def _words(file: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", file.read_text("utf-8")))


def dead_paths(root: Path, texts: Mapping[str, str]) -> list[str]:
    """A path of the repository that a document names in backticks and that is not there."""
    return [
        f"{name}:{number}: {path} does not exist"
        for name, number, line in _prose(texts)
        for path in NAMED.findall(line)
        if not (root / path).exists()
    ]


def _prose(texts: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """The lines of documents that stand in no block of code."""
    for name, text in texts.items():
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            fenced ^= line.startswith("```")
            if not fenced:
                yield name, number, line
