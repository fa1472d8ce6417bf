"""What servers fetched goes when they go, and nothing else ever does."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.safety.program_cache import cache_of, remove_others
from tests.servers.mcp import hostile
from tests.unit.tools.mcp_kit import McpBench


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
        kept.name, *(folder.name for folder in others), "mcp-file-0123456789abcdef", "mcp-link-0123456789abcdef",
    }  # fmt: skip
    assert (kept / "npm" / "deep" / "file").read_text() == "fetched"
    assert (outside / "precious").read_text() == "x"
    assert remove_others(str(tmp_path / "nowhere"), "mcp-", []) == []


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[McpBench]:
    made = McpBench(tmp_path, caches=str(tmp_path / "cache"), idle_s=0.05)
    yield made
    await made.end()


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
