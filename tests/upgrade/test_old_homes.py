"""What every release left behind opens in this one, with everything in it.

The files in data/ are real: tests/upgrade/make.py made them when the release was current. They are never made anew.
"""

import asyncio
import shutil
from pathlib import Path

import pytest

from desktop.domain.messages import ImageBlock, NoticeBlock, ReasoningBlock, TextBlock, Usage
from desktop.settings import SettingsService
from desktop.store import Store
from desktop.store.audit_log import head_path
from desktop.store.database import MIGRATIONS, verify
from tests.harness.store import calls_noted, search_faults
from tests.samples import make_messages

DATA = Path(__file__).resolve().parent / "data"
RELEASES = sorted(path.stem for path in DATA.glob("*.db"))


def test_there_is_a_database_of_every_format():
    assert len(RELEASES) == len(list(MIGRATIONS.glob("*.sql")))


@pytest.mark.spec("R-PKG-2")
@pytest.mark.parametrize("release", RELEASES)
async def test_an_old_database_opens_with_everything_in_it(tmp_path, release):
    path = tmp_path / "data" / "assent.db"
    path.parent.mkdir()
    shutil.copy(DATA / f"{release}.db", path)
    if head_path(DATA / f"{release}.db").exists():
        shutil.copy(head_path(DATA / f"{release}.db"), head_path(path))
    store = Store(path)
    recovery = await store.open()
    assert (recovery.runs, recovery.messages) == ((), 0)
    await asyncio.to_thread(verify, store.path)
    assert await search_faults(store) == []

    (thread,) = await store.threads.list_all()
    assert (thread.title, thread.pinned, thread.active_leaf, thread.usage) == (
        "A long talk",
        True,
        "answer",
        Usage(10, 2, 1, 0, 0.5),
    )
    assert [t.title for t in await store.threads.list_all(deleted=True)] == ["Deleted"]
    expected = make_messages(60, 40_000)
    assert await store.messages.path_to(message_id=expected[-1].message_id) == expected
    path_shown = await store.messages.path(thread_id="sample")
    assert [m.message_id for m in path_shown[-3:]] == [expected[9].message_id, "branch", "answer"]
    assert path_shown[-2].blocks == (TextBlock("Another way 数据库"), ImageBlock("image/png", "aGVsbG8=", "a.png"))
    assert path_shown[-1].blocks == (ReasoningBlock("hm"), TextBlock("Yes."), NoticeBlock("note", "limit"))
    assert await store.messages.sibling_places(message_ids=["branch"]) == {"branch": (2, 2)}
    assert [h.message_id for h in await store.search.messages(text="数据库 another")] == ["branch"]

    assert [r.end_reason for r in await store.runs.of_thread(thread_id="sample")] == ["cancelled"]
    assert len(await store.traces.kept(run_id="run")) == (release >= "0004")
    assert [m.message_id for m in await store.traces.messages(run_id="run")] == ["answer"]
    debates = [row.thread_id for row in await store.debates.rows()]
    assert debates == (["argued"] if release >= "0005" else [])
    assert [turn.outcome for turn in await store.debates.turns(thread_id="argued")] == ["Tea."] * len(debates)
    effects = ["1 now completed 5.1"] * (release >= "0006")
    log = [f"{e.sequence} {e.kind} {e.phase} {e.value}" for e in await store.effects.load("run")]
    assert log == [*effects, f"{len(effects) + 1} end cancelled "]  # the end was in a log of its own once
    jobs = await store.jobs.list_all()
    assert [job.policy.allowed_tools for job in jobs] == [("look",)] * (release >= "0007")
    overlay = await store.overlays.for_branch(thread_id="sample", leaf="answer")
    assert (overlay.summary, len(overlay.pins)) == (("They spoke.", 1) if release >= "0008" else ("", 0))
    assert await _agents(store) == [("assistant", 2, 1_000)] * (release >= "0009")
    assert [e.decision for _, e in await calls_noted(store.audit)] == ["deny"]
    assert (await store.audit.check(lambda _done, _total: None, lambda: False)).whole
    assert [r.tool for r in await store.rules.list_rules()] == ["write-file"]
    draft = await store.drafts.get(thread_id="sample")
    assert draft is not None
    assert draft.text == "half a thought"
    assert [q.text for q in await store.queue.waiting(thread_id="sample")] == ["later"]
    assert await store.state.everything() == {"window": {"width": 1200}}
    await store.close()


async def _agents(store: Store) -> list[tuple[str, int, int | None]]:
    kept = await store.run_agents.last(thread_id="sample")
    return [(one.agent, one.rounds, one.budget.max_tokens) for one in kept.nodes] if kept is not None else []


@pytest.mark.parametrize("release", RELEASES)
async def test_old_settings_hold_and_can_be_saved(tmp_path, release):
    shutil.copy(DATA / f"{release}.yaml", tmp_path / "config.yaml")
    service = SettingsService(tmp_path)
    found = await service.load()
    assert [p for p in service.problems if p.severity == "error"] == []
    assert (found.appearance.theme, found.appearance.reduce_motion, found.chat.max_iterations) == ("dark", "on", 7)
    assert [c.base_url for c in found.models.connections] == ["http://localhost:8000/v1"]
    assert found.security.allowed_paths == ("~/work",)
    await service.update("chat.send_on_enter", False)
    assert service.current.chat.max_iterations == 7
