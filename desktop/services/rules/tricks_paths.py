"""Tricks with paths: the same file by another way, another file by nearly the same name, files that others run."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator

from desktop.services.rules.tricks import Sample, Trick, lookalike, samples

_PARENT = "'..' leads out of the folder"
_LINK = "a link leads elsewhere; where it leads counts"
_OTHER = "another folder whose name is nearly the same"
_RUNS = "a file that other programs run or take their settings from"
RUN_BY_OTHERS = (
    "conftest.py",
    "Makefile",
    "package.json",
    "setup.py",
    "pyproject.toml",
    ".git/config",
    ".git/hooks/pre-commit",
    ".gitattributes",
    ".gitmodules",
    ".envrc",
    ".env",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".npmrc",
    ".bashrc",
    ".pre-commit-config.yaml",
    ".github/workflows/ci.yml",
    "Dockerfile",
    "justfile",
    "CMakeLists.txt",
    "build.rs",
    "sitecustomize.py",
)
SYSTEM = (
    "/etc/passwd",
    "/etc/cron.d/evil",
    "/etc/ld.so.preload",
    "/usr/local/bin/git",
    "/root/.bashrc",
    "~/.bashrc",
    "~/.profile",
    "~/.ssh/authorized_keys",
    "~/.config/autostart/evil.desktop",
    "~/.gitconfig",
    "~/.agent/config.yaml",
    "~/.agent/tools.yaml",
    "~/.agent/data/assent.db",
    "~/.agent/agents/evil.yaml",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/../evil",
    "/dev/shm/evil",
)


def path_tricks(glob: str, workspace: str, home: str) -> Iterator[Trick]:
    """Every trick for a constraint on a path. ``workspace`` and ``home`` are real, absolute."""
    for sample in samples(glob):
        head = sample.pieces[0]
        folder = head[: head.rfind("/") + 1]
        name = sample.pieces[-1].rpartition("/")[2] or "a.md"
        base = sample.pieces[0] if len(sample.pieces) == 1 else f"{folder}{'' if name[0] != '.' else 'a'}{name}"
        yield from _ways_out(folder, base, name)
        yield from _names(folder, name)
        if len(sample.pieces) == 1:
            yield Trick("longer name", f"{base}x", ((len(base), 1),), "another file whose name begins the same")
        yield from _links(folder, name, workspace, home)
        yield from _others(workspace)
        yield from _run_inside(sample, folder)


def _ways_out(folder: str, base: str, name: str) -> Iterator[Trick]:
    inside = folder or "./"
    for family, text in (
        ("parent", f"{inside}../{name}"),
        ("two parents", f"{inside}../../{name}"),
        ("parent further down", f"{inside}a/../../{name}"),
        ("parent behind a dot", f"{inside}./../{name}"),
        ("doubled slashes", f"{inside}/..//{name}"),
        ("parent of a file", f"{base}/../../{name}"),
        ("many parents", f"{inside}{'../' * 12}etc/passwd"),
        ("parent at the end", f"{inside}.."),
        ("parent and back", f"{inside}../other/{name}"),
    ):
        yield Trick(family, text, _at(text, ".."), _PARENT)
    for family, text, why in (
        ("backslashes", f"{inside}..\\..\\{name}", "a backslash is a letter here, elsewhere it parts folders"),
        ("null", f"{inside}{name}\0.md", "no path can hold this character"),
    ):
        yield Trick(family, text, ((len(inside), max(1, len(text) - len(inside) - len(name))),), why)


def _names(folder: str, name: str) -> Iterator[Trick]:
    bare = folder.rstrip("/")
    if bare:
        for family, text in (
            ("sibling", f"{bare}-old/{name}"),
            ("longer name", f"{bare}x/{name}"),
            ("sibling with a dot", f"{bare}.bak/{name}"),
            ("sibling with a blank", f"{bare} /{name}"),
            ("capitals", f"{bare.upper()}/{name}"),
            ("one capital", f"{bare[:-1]}{bare[-1:].upper()}/{name}"),
            ("look-alike", f"{lookalike(bare)}/{name}" if lookalike(bare) else ""),
            ("unseen character", f"{bare}\u200b/{name}"),
            ("below another", f"other/{bare.lstrip('~/')}/{name}"),
            ("hidden twin", f".{bare.lstrip('~/')}/{name}"),
            ("absolute twin", f"/{bare.lstrip('~/')}/{name}"),
            ("at home", f"~/evil/{bare.lstrip('~/')}/{name}"),
            ("decomposed letters", unicodedata.normalize("NFD", f"{bare}\u00e9/{name}")),
        ):
            if text and not text.startswith(folder):
                yield Trick(family, text, ((0, text.rfind("/")),), _OTHER)


def _links(folder: str, name: str, workspace: str, home: str) -> Iterator[Trick]:
    for family, leads in (
        ("link to a sibling", f"{workspace}/other/{name}"),
        ("link out", f"/srv/{name}"),
        ("link to the home folder", f"{home}/.bashrc"),
        ("link to a key", f"{home}/.ssh/authorized_keys"),
        ("link to the system", "/etc/passwd"),
        ("link to a hook", f"{workspace}/.git/hooks/pre-commit"),
        ("link to Assent's own files", f"{home}/.agent/config.yaml"),
        ("link to the root", "/"),
        ("link to a device", "/dev/sda"),
    ):
        if family == "link to a sibling" and not folder:
            continue
        text = f"{folder}link/{name}" if "folder" in family else f"{folder}{name}"
        yield Trick(family, text, ((len(folder), len(text) - len(folder)),), _LINK, leads=leads)


def _others(workspace: str) -> Iterator[Trick]:
    for name in RUN_BY_OTHERS:
        yield Trick(f"file {name}", name, ((0, len(name)),), _RUNS)
    for path in SYSTEM:
        yield Trick(f"place {path}", path, ((0, len(path)),), "a place outside the workspace")
    text = os.path.join(os.path.dirname(workspace), "evil.txt")
    yield Trick("beside the workspace", text, ((0, len(text)),), "a place outside the workspace")
    yield Trick("workspace's sibling", f"{workspace}-old/a.md", ((len(workspace), 4),), "a place outside the workspace")


def _run_inside(sample: Sample, folder: str) -> Iterator[Trick]:
    """Files that others run, in the folders that the pattern is about: in its first, and where its last star stands."""
    deeper, end = "a".join(sample.pieces[:-1]), sample.pieces[-1]
    for name in RUN_BY_OTHERS:
        texts = [f"{folder}{name}"]
        if len(sample.pieces) > 1 and name.endswith(end):
            texts.append(f"{deeper}{name}")
        for text in dict.fromkeys(texts):
            yield Trick(f"inside {name}", text, ((len(text) - len(name), len(name)),), _RUNS)


def _at(text: str, part: str) -> tuple[tuple[int, int], ...]:
    at = text.find(part)
    return ((at, len(part)),) if at >= 0 else ((0, len(text)),)
