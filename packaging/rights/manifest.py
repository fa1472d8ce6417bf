"""The manifest: from the code, the tools, the skills that come along, the settings, and the form of the database."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from desktop import __version__
from desktop.domain.updates.rights import Manifest, Right, category_of, gravity
from desktop.settings.schema import schema
from desktop.tools.builtin.catalogue import BUILT_IN

from .code import Found, found_in, sources
from .words import HELD, PARTS, PROCESSES

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "resources" / "rights.json"
CATEGORY = {
    "reaches": "network",
    "listens": "network",
    "opens": "network",
    "knows": "network",
    "desktop": "read",
    "starts": "admin",
    "keys": "admin",
    "system": "admin",
}
OPENING = ("security.", "tools.", "web.", "other_apps.", "skills.", "updates.", "models.", "middleware.")
"""Settings that open something begin so."""
WITHOUT = {
    frozenset({"shut_in", "serve_shut_in", "shut_in_with_network"}): "reaches files",
    frozenset({"harden", "shut_in", "serve_shut_in"}): "can be looked into by your other programs",
    frozenset({"bound_memory", "shut_in"}): "takes as much memory as there is",
}
"""What a helper process may do that calls none of these functions of ``desktop/workers``."""
EVERYTHING = "whatever its caller may call"
"""The fact of a skill without a list; it stands for the gravest, like all that is no name of a tool."""


class Unexplained(Exception):
    """The code does something that has no words, or words are there for what it does not do."""


def made(files: Iterable[tuple[str, ast.Module]] | None = None) -> Manifest:
    """The manifest of the code of this checkout, or of these files of it. Raises Unexplained."""
    found, unknown = found_in(sources(ROOT) if files is None else files)
    folders = {path.parent.name for path in (ROOT / "desktop/workers").glob("*/__main__.py")}
    explained(found, unknown, folders)
    rights = [*_parts(found), *processes(found, folders), *_tools(), *_skills(ROOT), *_settings()]
    return Manifest(__version__, {right.id: right for right in rights}, {"database": _database(ROOT)})


def explained(found: Found, unknown: set[str], folders: set[str]) -> None:
    """All that is done has words, and there are no others. Raises Unexplained."""
    done, said = {key for key in found if key[0] != "walls"}, set(PARTS)
    lacking = [
        *(f"{name}: a library that stands in no table of packaging/rights/code.py" for name in sorted(unknown)),
        *(f"{kind} {part}: has no words in packaging/rights/words.py" for kind, part in sorted(done - said)),
        *(f"{kind} {part}: has words, but the code does no such thing" for kind, part in sorted(said - done)),
        *(f"workers/{name}: has no words in PROCESSES" for name in sorted(folders - set(PROCESSES))),
        *(f"workers/{name}: has words in PROCESSES, but is not there" for name in sorted(set(PROCESSES) - folders)),
    ]
    if lacking:
        raise Unexplained("\n".join(lacking))


def _parts(found: Found) -> Iterator[Right]:
    for (kind, part), facts in found.items():
        if kind != "walls":
            words = PARTS[kind, part]
            yield Right(f"{kind}:{part}", CATEGORY[kind], words.title, words.detail, tuple(sorted(facts)))


def processes(found: Found, folders: Iterable[str]) -> Iterator[Right]:
    """What each helper process may reach: a wall that is taken away is a fact that is added."""
    for name in sorted(folders):
        walls = found.get(("walls", f"workers/{name}"), set())
        facts = {said for wall, said in WITHOUT.items() if not walls & wall}
        if ("reaches", f"workers/{name}") in found and "shut_in" not in walls:
            facts.add("reaches other computers")
        held = HELD.get(name, "")
        if held:
            facts -= {"reaches files"}
        category = "network" if "reaches other computers" in facts else "admin" if "reaches files" in facts else "read"
        detail = f"A helper process that {held or ', '.join(sorted(facts)) or 'reaches nothing'}."
        yield Right(
            f"process:{name}", category, PROCESSES[name], detail, tuple(sorted({*facts, *([held] if held else [])}))
        )


def _tools() -> Iterator[Right]:
    for tool in BUILT_IN.values():
        category = "network" if tool.about == "host" or tool.name.startswith("web-") else category_of(tool.category)
        words = re.split(r"(?<=[.:]) ", tool.description.replace("\n", " "), maxsplit=1)[0].rstrip(".:")
        facts = tuple(sorted(f"argument {name}" for name in tool.params.get("properties", {})))
        yield Right(f"tool:{tool.name}", category, f"Tool `{tool.name}`", f"{words}."[:400], facts)


def _skills(root: Path) -> Iterator[Right]:
    """Those that come along, and what each may call."""
    heads = {path: head for path in sorted((root / "skills").rglob("*")) if (head := _frontmatter(path)) is not None}
    names = {path: str(head.get("name") or path.name.partition(".")[0]) for path, head in heads.items()}
    known = {one.id.partition(":")[2]: one.category for one in _tools()} | dict.fromkeys(names.values(), "read")
    for path, head in heads.items():
        name, allowed = names[path], head.get("allowed-tools")
        facts = tuple(sorted(set(str(allowed).split()))) if allowed is not None else (EVERYTHING,)
        category = max((known.get(fact.removesuffix("-agent"), "admin") for fact in facts), key=gravity, default="read")
        about = str(head.get("description") or "").partition(". ")[0].rstrip(".")
        yield Right(f"skill:{name}", category, f"Skill `{name}`", f"{about}."[:400], facts)


def _frontmatter(path: Path) -> dict[str, object] | None:
    if path.name.endswith(".skill.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and any(getattr(to, "id", "") == "frontmatter" for to in node.targets):
                return dict(ast.literal_eval(node.value))
    if path.name.endswith(".skill.md") or path.name == "SKILL.md":
        found = yaml.safe_load(path.read_text("utf-8").split("---", 2)[1])
        return dict(found) if isinstance(found, dict) else None
    return None


def _settings() -> Iterator[Right]:
    """Switches and choices that open something, as they are at first."""
    for key, setting in schema().items():
        if setting.kind in ("flag", "choice") and key.startswith(OPENING):
            first = {True: "on", False: "off"}.get(setting.default, setting.default)
            category = "admin" if key.startswith("security.") else "write"
            yield Right(
                f"setting:{key}", category, f"Setting “{setting.title}”", setting.help[:400], (f"{first} at first",)
            )


def _database(root: Path) -> int:
    return max(int(path.name.partition("_")[0]) for path in (root / "desktop/store/migrations").glob("*.sql"))
