"""Makes the database and the config.yaml that a release leaves behind; run once a release, and the result is kept.

`python -m tests.upgrade.make NAME` writes tests/upgrade/data/NAME.db and NAME.yaml, and refuses to overwrite them.
"""

import asyncio
import sqlite3
import sys
from pathlib import Path

from desktop.domain.approval.permission import AuditEntry, RuleRecord
from desktop.domain.context import Overlay
from desktop.domain.debates import TurnRecord
from desktop.domain.jobs import Job, JobPolicy, JobRun
from desktop.domain.messages import ImageBlock, NoticeBlock, ReasoningBlock, TextBlock, Usage
from desktop.domain.models import Connection
from desktop.domain.runs.effects import EffectRecord
from desktop.domain.runs.supervision import ExecutionBudget, Priority
from desktop.domain.runs.tree import NodeFacts, NodeState
from desktop.domain.threads import DraftRecord, MessageRecord, QueuedRecord, RunRecord, ThreadRecord
from desktop.settings import SettingsService
from desktop.store import Store
from tests.harness.store import add_all
from tests.samples import make_messages

DATA = Path(__file__).resolve().parent / "data"


async def fill(store: Store) -> None:
    """Something of everything: every kind of block, branches, an interrupted run, a deleted thread."""
    await store.threads.create(record=ThreadRecord("sample", "A long talk", 1.0, 1.0, model="demo/demo", pinned=True))
    messages = make_messages(60, 40_000)
    await add_all(store.messages, messages)
    await store.messages.add(
        record=MessageRecord(
            "branch",
            "sample",
            messages[9].message_id,
            "user",
            (TextBlock("Another way 数据库"), ImageBlock("image/png", "aGVsbG8=", "a.png")),
            2_000_000_000.0,
        )
    )
    await store.messages.add(
        record=MessageRecord(
            "answer",
            "sample",
            "branch",
            "assistant",
            (ReasoningBlock("hm"), TextBlock("Yes."), NoticeBlock("note", "limit")),
            2_000_000_001.0,
            "interrupted",
            "a",
            "assistant",
            "demo/demo",
            "run",
            1,
            "aborted",
            Usage(10, 2, 1, 0, 0.5),
            70,
        )
    )
    await store.threads.add_usage(thread_id="sample", usage=Usage(10, 2, 1, 0, 0.5))
    await store.threads.create(record=ThreadRecord("gone", "Deleted", 2.0, 2.0))
    await store.threads.archive(thread_id="gone", archived=True)
    await store.threads.delete(thread_id="gone", at=3.0)
    await store.runs.start(record=RunRecord("run", "sample", 5.0, "assistant", "demo/demo"))
    await store.runs.end(run_id="run", reason="cancelled", at=6.0, usage=Usage(10, 2))
    retry = {"type": "retry", "at": 5.5, "context": "run", "data": {}}
    await store.traces.add(run_id="run", sequence=1, entries=[retry])
    await store.audit.add(entry=AuditEntry(7.0, "run", "sample", "c", ("a",), "bash", "write", "deny", "user", "d"))
    await store.rules.add(rule=RuleRecord("rule", "write-file", {"path": "notes/*"}, "allow", "test", 8.0))
    await store.drafts.put(draft=DraftRecord("sample", "half a thought", (), 9.0))
    await store.queue.add(record=QueuedRecord("q", "sample", "later", (), 10.0))
    await store.queue.post(inbox="sample", thread_id="sample", run_id="", text="posted")
    topic = MessageRecord("topic", "argued", None, "user", (TextBlock("Tea or coffee?"),), 11.0)
    await store.debates.create(thread=ThreadRecord("argued", "Drinks", 11.0, 11.0), setup={"topic": "t"}, topic=topic)
    said = MessageRecord("said", "argued", "topic", "assistant", (TextBlock("Tea."),), 12.0, side="a")
    await store.messages.add(record=said)
    record = TurnRecord(
        "argued", 1, "a", "said", "said", "Tea.", "response", 1, 0, Usage(10, 2), 11.0, 12.0, "demo/demo", "argued-run"
    )
    await store.debates.finish_turn(thread_id="argued", record=record)
    await store.effects.append(
        [
            EffectRecord("run", 1, "0", 1, "now", "", "", "completed", 5.1, "5.1"),
            EffectRecord("run", 2, "", 0, "end", "", "", "cancelled", 6.0),
        ]
    )
    job = Job("job", "Report", "Write it.", "0 9 * * *", policy=JobPolicy(("look",)), created_at=13.0)
    await store.jobs.put(job=job)
    await store.jobs.note(run=JobRun("jr", "job", 14.0, "done", 14.0, 15.0, "sample", "run"), seen_at=14.0)
    overlay = Overlay("They spoke.", "branch", frozenset({"answer"}), False, 3)
    await store.overlays.put(thread_id="sample", overlay=overlay)
    limits = ExecutionBudget(max_tokens=1_000)
    agent = NodeFacts(
        "0",
        "",
        "assistant",
        NodeState.CANCELLED,
        Priority.NORMAL,
        0,
        limits,
        "the run's budget",
        thread_id="sample",
        rounds=2,
        started_at=5.0,
        ended_at=6.0,
    )
    await store.run_agents.keep(run_id="run", nodes=[agent])
    await store.runs.start(record=RunRecord("called", "gone", 5.5, "helper", "demo/demo"))
    await store.runs.end(run_id="called", reason="response", at=5.6)
    await store.called.add(run_id="called", tree_run_id="run", call_key="answer:c")
    await store.state.put(key="window", value={"width": 1200})


async def make(name: str) -> None:
    path = DATA / f"{name}.db"
    if path.exists():
        raise SystemExit(f"{path} is kept as it is")
    DATA.mkdir(exist_ok=True)
    store = Store(path)
    await store.open()
    await fill(store)
    await store.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("VACUUM")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    settings = SettingsService(DATA / "home")
    await settings.update_many(
        {
            "appearance.theme": "dark",
            "appearance.reduce_motion": "on",
            "chat.max_iterations": 7,
            "models.connections": (Connection("lab", "openai-compatible", "Lab", "http://localhost:8000/v1"),),
            "security.allowed_paths": ("~/work",),
        }
    )
    settings.path.rename(DATA / f"{name}.yaml")
    (DATA / "home" / "data" / "config.last-good.yaml").unlink()
    (DATA / "home" / "data").rmdir()
    (DATA / "home").rmdir()


if __name__ == "__main__":
    asyncio.run(make(sys.argv[1]))
