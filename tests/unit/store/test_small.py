"""Audit, rules, drafts and the state of windows."""

import pytest

from desktop.domain.approval.audit import AuditFilter
from desktop.domain.approval.permission import AuditEntry, RuleRecord
from desktop.domain.errors import NotFound
from desktop.domain.messages import ImageBlock
from desktop.domain.threads import DraftRecord, ThreadRecord
from desktop.store import Store
from tests.harness.store import calls_noted


def entry(number: int, **more) -> AuditEntry:
    values = {
        "at": float(number),
        "run_id": "r",
        "thread_id": "t",
        "call_id": f"c{number}",
        "chain": ("assistant", "bash"),
        "tool": "bash",
        "category": "write",
        "decision": "allow_once",
        "by": "user",
        "digest": "abc",
        "summary": "ls",
        "paths": ("/tmp/a",),
        "extra": {"waited_s": 1.5},
    }
    return AuditEntry(**values | more)


@pytest.mark.spec("R-PRM-13")
async def test_every_decision_is_kept_newest_first_and_outlives_its_thread(store, thread):
    for number in range(1, 6):
        await store.audit.add(entry=entry(number))
    denied = await store.audit.add(entry=entry(9, decision="deny", tool="write-file", by="rule"))
    found = await calls_noted(store.audit)
    assert found[0] == (denied, entry(9, decision="deny", tool="write-file", by="rule"))
    assert [e.call_id for _, e in await calls_noted(store.audit, tool="bash", limit=2)] == ["c5", "c4"]
    assert [e.call_id for _, e in await calls_noted(store.audit, before=found[2][0], limit=2)] == ["c3", "c2"]
    rows = (await store.audit.page(AuditFilter(decision="denied", thread_id="t"))).rows
    assert [row.entry.tool for row in rows] == ["write-file"]
    await store.threads.delete(thread_id="t", at=1.0)
    await store.threads.purge(thread_id="t")
    assert len(await calls_noted(store.audit)) == 6


@pytest.mark.spec("R-PRM-13")
async def test_an_outcome_is_filled_in_once_and_lines_are_noted_without_waiting(store):
    number = await store.audit.add(entry=entry(1))
    store.audit.settle(number=number, outcome="done")
    store.audit.settle(number=number, outcome="failed")
    store.audit.note(entry=entry(2, decision="refused", by="boundary", outcome="denied"))
    later, first = [e for _, e in await calls_noted(store.audit)]
    assert first.outcome == "done"
    assert (later.decision, later.by, later.outcome) == ("refused", "boundary", "denied")


async def test_a_line_of_the_activity_log_is_found_by_what_a_person_reads_of_it(store):
    for number, more in enumerate(({"paths": ("/tmp/100%_mine/A",)}, {"summary": "ls -la"}, {"outcome": "failed"})):
        await store.audit.add(entry=entry(number, **more))
    for text, found in (("100%_MINE", ["c0"]), ("-la", ["c1"]), ("failed", ["c2"]), ("100x", []), ("bash", 3)):
        calls = [e.call_id for _, e in await calls_noted(store.audit, text=text)]
        assert (len(calls) if isinstance(found, int) else calls) == found, text


async def test_rules_are_remembered_counted_and_revoked(store):
    rule = RuleRecord("a", "write-file", {"path": "notes/*"}, "allow", "the request of Monday", 1.0)
    await store.rules.add(rule=rule)
    assert await store.rules.list_rules() == [rule]
    await store.rules.used(rule_id="a", at=5.0)
    (used,) = await store.rules.list_rules()
    assert (used.uses, used.last_used_at) == (1, 5.0)
    await store.rules.revoke(rule_id="a", at=6.0)
    assert await store.rules.list_rules() == []
    assert [r.revoked_at for r in await store.rules.list_rules(revoked=True)] == [6.0]
    with pytest.raises(NotFound):
        await store.rules.revoke(rule_id="a", at=7.0)


async def test_drafts_are_kept_for_each_thread_and_for_the_chat_that_does_not_exist_yet(tmp_path):
    path = tmp_path / "assent.db"
    drafts = [DraftRecord("", "new", (), 1.0), DraftRecord("t", "half", (ImageBlock("image/png", "QQ=="),), 2.0)]
    store = Store(path)
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "First", 1, 1))
    for draft in drafts:
        await store.drafts.put(draft=draft)
    await store.close()
    await store.open()
    assert [await store.drafts.get(thread_id=d.thread_id) for d in drafts] == drafts
    await store.drafts.put(draft=DraftRecord("t", ""))
    await store.drafts.delete(thread_id="")
    assert [await store.drafts.get(thread_id=d.thread_id) for d in drafts] == [None, None]
    await store.close()


async def test_the_text_of_a_draft_changes_without_its_attachments(store):
    image = ImageBlock("image/png", "QQ==")
    await store.drafts.put(draft=DraftRecord("t", "half", (image,), 1.0))
    await store.drafts.put_text(thread_id="t", text="", at=2.0)
    assert await store.drafts.get(thread_id="t") == DraftRecord("t", "", (image,), 2.0)
    await store.drafts.put_text(thread_id="other", text="new", at=3.0)
    assert await store.drafts.get(thread_id="other") == DraftRecord("other", "new", (), 3.0)
    await store.drafts.put_text(thread_id="other", text="", at=4.0)
    assert await store.drafts.get(thread_id="other") is None


async def test_the_state_of_windows_comes_back(store):
    await store.state.put_many(values={"window": {"geometry": [1, 2]}, "thread": "t"})
    await store.state.put(key="thread", value=None)
    assert await store.state.everything() == {"window": {"geometry": [1, 2]}, "thread": None}
    await store.state.delete(key="window")
    assert await store.state.get(key="window", default="none") == "none"
