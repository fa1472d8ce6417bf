"""What servers fetched goes when they go, and nothing else ever does."""

import os
import shlex
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from desktop.presenter.mcp.example import EXAMPLE
from desktop.safety.confinement.environment import needs_admin
from desktop.safety.confinement.program_cache import cache_of, remove_others
from desktop.tools.mcp.definitions import McpDefinition, parse
from tests.harness.help_pages import HELP, samples
from tests.servers.mcp import honest, hostile
from tests.unit.tools.mcp.kit import Lent, McpBench


def filled(root: Path, program: str) -> Path:
    folder = Path(cache_of(str(root), program))
    (folder / "npm" / "deep").mkdir(parents=True)
    (folder / "npm" / "deep" / "file").write_text("fetched")
    (folder / "npm" / "deep").chmod(0o500)
    return folder


def test_only_caches_of_the_kind_that_are_not_kept_are_removed(tmp_path: Path) -> None:
    root, outside = tmp_path / "cache", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "precious").write_text("x")
    kept, gone = filled(root, "mcp-one npx a"), filled(root, "mcp-two npx b")
    os.symlink(outside, gone / "npm" / "way-out")
    others = [filled(root, "tool-mcp uv"), filled(root, "bash"), root / "mcp-notes", root / "mcp-x-0123456789abcdef0"]
    for folder in others[2:]:
        folder.mkdir()
    (root / "mcp-file-0123456789abcdef").write_text("no folder")
    os.symlink(outside, root / "mcp-link-0123456789abcdef")
    interrupted = root / "mcp-three-0123456789abcdef.going"
    interrupted.mkdir()
    assert set(remove_others(str(root), "mcp-", ["mcp-one npx a"])) == {gone.name, interrupted.name}
    assert {entry.name for entry in root.iterdir()} == {
        kept.name,
        *(folder.name for folder in others),
        "mcp-file-0123456789abcdef",
        "mcp-link-0123456789abcdef",
    }
    assert (kept / "npm" / "deep" / "file").read_text() == "fetched"
    assert (outside / "precious").read_text() == "x"
    assert remove_others(str(tmp_path / "nowhere"), "mcp-", []) == []


@pytest_asyncio.fixture(loop_scope="session")
async def bench(tmp_path: Path, lent: Lent) -> AsyncIterator[McpBench]:
    made = McpBench(tmp_path, caches=str(tmp_path / "cache"), idle_s=0.05, host=lent)
    yield made
    await made.end()


@pytest.mark.asyncio(loop_scope="session")
async def test_the_cache_of_a_server_goes_with_it_and_leftovers_some_time_after_the_start(
    bench: McpBench, tmp_path: Path
) -> None:
    root = tmp_path / "cache"
    leftover, other = filled(root, "mcp-old npx gone"), filled(root, "tool-git git")
    command = hostile("plain")
    one = {"name": "one", "command": command[0], "args": command[1:]}
    off = {"name": "off", "command": "npx", "args": ["x"], "enabled": False}
    disabled = filled(root, "mcp-off npx x")
    broken = "servers:\n  - {name: off, command: npx, args: [x]}\n  - {name: Bad Name, command: x}\n"
    await bench.put(text=broken)
    await bench.put(one, off)
    await bench.running("one")
    await bench.until(lambda: not leftover.exists(), "the leftover gone")
    (used,) = [entry for entry in root.iterdir() if entry.name.startswith("mcp-one")]
    await bench.put(text=broken)  # a mistake: what cannot be read is still meant
    await bench.until(lambda: not bench.servers._leaving, "the first one ended")
    assert used.exists()
    await bench.put(one, off)
    await bench.running("one")
    await bench.put(off)
    await bench.until(lambda: not used.exists(), "its cache gone")
    assert disabled.exists()
    assert other.exists()


def shown_servers() -> list[McpDefinition]:
    """Every server that a page for users or the app's own example shows."""
    blocks = [text for path in HELP.glob("*.md") for text in samples(path.stem, "yaml") if text.startswith("servers:")]
    found = [parse(block, needs_admin) for block in (*blocks, EXAMPLE)]
    assert [one.problems for one in found] == [()] * len(found)
    return [definition for one in found for definition in one.definitions]


def as_entry(shown: McpDefinition) -> dict[str, object]:
    return {
        "name": shown.name,
        "command": shown.command,
        "args": list(shown.args),
        "env": dict(shown.env),
        "network": shown.network,
        "category": "read",
    }


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_every_server_that_is_shown_to_a_person_gets_a_cache_it_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, lent: Lent
) -> None:
    """What npx and uvx themselves would do needs a network (below, with -m soak): a server stands for them,
    in the workspace, where it can be seen; so each call asks."""
    bench = McpBench(tmp_path, (kind,), caches=str(tmp_path / "cache"), host=lent)
    programs = bench.world.workspace / "programs"
    programs.mkdir()
    for name in ("npx", "uvx"):
        (programs / name).write_text(f"#!/bin/sh\nexec {shlex.join(honest())}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    bench.person.answers = ["allow_once"] * 4
    bench.keys["tickets", "me"] = "a token"
    try:
        shown = [one for one in shown_servers() if one.command]
        assert {one.name for one in shown} == {"tickets", "files"}
        await bench.put(*map(as_entry, shown))
        for one in shown:
            await bench.accept(one.name)
            variables = (await bench.call(f"{one.name}_variables")).result.structured
            places = [variables[name] for name in ("npm_config_cache", "UV_CACHE_DIR", "XDG_CACHE_HOME")]
            assert all(place.startswith(f"{tmp_path}/cache/mcp-{one.name}") for place in places), places
            assert not (await bench.call(f"{one.name}_write", path=f"{places[2]}/fetched", text="x")).result.is_error
            assert Path(places[2], "fetched").read_text() == "x"
    finally:
        await bench.end()


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("npx") is None, reason="npx is not installed")
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_the_example_really_starts_with_npx_and_an_empty_cache(tmp_path: Path, kind: str) -> None:
    bench = McpBench(tmp_path, (kind,), caches=str(tmp_path / "cache"))
    try:
        (shown,) = (one for one in shown_servers() if one.name == "files")
        await bench.put(as_entry(shown))
        await bench.accept("files")
        listed = (await bench.call("files_list_directory", path=".")).result
        assert "note.txt" in listed.text
        assert list((tmp_path / "cache").glob("mcp-files*/npm/_npx"))
    finally:
        await bench.end()
