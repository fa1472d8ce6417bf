"""The message tree: adding, the path that is shown, branches."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.domain.errors import BugError, NotFound
from desktop.domain.messages import (
    FileBlock,
    ImageBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    Usage,
)
from desktop.domain.threads import MessageRecord, QueuedRecord, ThreadRecord
from desktop.store.rows import block_from, block_row, blocks_from_json, blocks_json
from tests.harness.store import add_all, search_faults
from tests.samples import make_messages
from tests.unit.store.conftest import say

EVERY_KIND = (
    TextBlock("# Title\n\x00 after a zero"),
    ReasoningBlock("hm"),
    ImageBlock("image/png", "aGVsbG8=", "a.png"),
    FileBlock("notes.txt", "content"),
    ToolCallBlock("c1", "bash", {"command": "ls", "n": [1, None, {"a": 2.5}]}),
    ToolCallBlock("c2", "bash", None, raw="{not json", problem="no JSON"),
    ToolResultBlock("c1", "bash", "out", is_error=True, structured={"a": [1]}, facts={"elapsed_ms": 3}),
    NoticeBlock("stopped", "limit", "go on", "warning"),
    UnknownBlock({"kind": "hologram", "depth": 3}),
)


async def ids(store, **more):
    return [m.message_id for m in await store.messages.path(thread_id="t", **more)]


@pytest.mark.spec("R-CTX-11", "S-CTX-1")
async def test_a_message_comes_back_as_it_was_stored_with_every_kind_of_block(store, thread):
    await store.messages.add(record=say("m1", None))
    record = MessageRecord(
        "m2",
        "t",
        "m1",
        "assistant",
        EVERY_KIND,
        7.5,
        "interrupted",
        "a",
        "Assistant",
        "demo/demo",
        "r1",
        3,
        "tool_calls",
        Usage(1, 2, 3, 4, 0.125),
        900,
    )
    await store.messages.add(record=record)
    assert await store.messages.get(message_id="m2") == record
    assert (await store.messages.path(thread_id="t"))[1] == record


TEXTS = st.text(st.characters(codec=None), max_size=50)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.integers(), TEXTS), max_size=4))
def test_any_block_survives_its_row_and_is_valid_utf8_there(text, name, facts):
    for block in (TextBlock(text), FileBlock(name, text), ToolResultBlock("c", name, text, facts=facts)):
        row = block_row(block)
        "".join(row).encode()
        stored = block_from(*row)
        assert block_row(stored) == row
        if text.isprintable():
            assert stored == block
    assert blocks_from_json(blocks_json([TextBlock(text)])) == (TextBlock(text),)


def test_text_with_halves_of_surrogate_pairs_is_stored_with_replacement_signs():
    assert block_row(TextBlock("a\udcffb\ud83d\ude00"))[1] == "a\ufffdb😀"


async def test_the_path_is_oldest_first_and_is_paged_upwards(store, thread):
    messages = make_messages(500, 300_000, thread_id="t")
    await add_all(store.messages, messages)
    assert await store.messages.path(thread_id="t") == messages
    assert await store.messages.path(thread_id="t", limit=30) == messages[-30:]
    seen = messages[-30:]
    while page := await store.messages.path(thread_id="t", before=seen[0].message_id, limit=100):
        seen = page + seen
    assert seen == messages


async def test_reading_a_long_thread_lets_writes_pass(store, thread):
    messages = make_messages(3_000, 300_000, thread_id="t")
    await add_all(store.messages, messages)
    ended = []

    async def read() -> None:
        assert await store.messages.path(thread_id="t") == messages
        ended.append("read")

    async def write() -> None:
        await store.state.put(key="a", value=1)
        ended.append("write")

    async with asyncio.TaskGroup() as group:
        group.create_task(read())
        await asyncio.sleep(0)
        group.create_task(write())
    assert ended == ["write", "read"]


async def test_an_empty_thread_has_an_empty_path(store, thread):
    assert await ids(store) == []


async def test_editing_a_message_adds_a_sibling_and_overwrites_nothing(store, thread):
    for name, parent in (("m1", None), ("m2", "m1"), ("m3", "m2"), ("m4", "m3")):
        await store.messages.add(record=say(name, parent))
    await store.messages.add(record=say("m5", "m2"))  # instead of m3
    assert await ids(store) == ["m1", "m2", "m5"]
    assert await store.messages.siblings(message_id="m3") == ["m3", "m5"]
    places = await store.messages.sibling_places(message_ids=["m1", "m2", "m3", "m5", "unknown"])
    assert places == {"m3": (1, 2), "m5": (2, 2)}
    assert [m.message_id for m in await store.messages.path_to(message_id="m4")] == ["m1", "m2", "m3", "m4"]


async def test_the_first_message_can_have_siblings_too(store, thread):
    await store.messages.add(record=say("m1", None))
    await store.threads.set_leaf(thread_id="t", message_id=None)
    assert await ids(store) == []
    await store.messages.add(record=say("m2", None))
    assert await store.messages.sibling_places(message_ids=["m1", "m2"]) == {"m1": (1, 2), "m2": (2, 2)}
    assert [m.message_id for m in await store.messages.children(thread_id="t", message_id=None)] == ["m1", "m2"]


async def grown(store):
    """m1 - m2 - (m3 - (m4 - m8, m7), m5 - m6): the numbers are the order of birth."""
    parents = {"m1": None, "m2": "m1", "m3": "m2", "m4": "m3", "m5": "m2", "m6": "m5", "m7": "m3", "m8": "m4"}
    for name, parent in parents.items():
        await store.messages.add(record=say(name, parent))


async def test_going_back_to_a_branch_comes_to_where_one_was(store, thread):
    await grown(store)
    assert await store.messages.leaf_below(message_id="m3") == "m8"
    await store.threads.set_leaf(thread_id="t", message_id="m7")
    await store.threads.set_leaf(thread_id="t", message_id="m6")
    assert await ids(store) == ["m1", "m2", "m5", "m6"]
    assert await store.messages.leaf_below(message_id="m3") == "m7", "shown last in this branch"
    assert await store.messages.leaf_below(message_id="m1") == "m6"
    assert await store.messages.leaf_below(message_id="m8") == "m8"


async def test_showing_a_deep_leaf_points_the_whole_way_to_it(store, thread):
    await grown(store)
    await store.threads.set_leaf(thread_id="t", message_id="m6")
    await store.threads.set_leaf(thread_id="t", message_id="m8")  # m4 pointed at m8 all the time, m3 and m2 did not
    assert await store.messages.leaf_below(message_id="m1") == "m8"


async def test_children_come_with_their_content(store, thread):
    await grown(store)
    found = await store.messages.children(thread_id="t", message_id="m3")
    assert [(m.message_id, m.parent_id, m.text) for m in found] == [("m4", "m3", "m4"), ("m7", "m3", "m7")]


async def test_a_message_added_off_the_path_leaves_the_leaf_alone(store, thread):
    await grown(store)
    before = (await store.threads.get(thread_id="t")).active_leaf
    await store.messages.add(record=say("m9", "m2"), make_leaf=False)
    assert (await store.threads.get(thread_id="t")).active_leaf == before == "m8"


async def test_messages_do_not_cross_threads(store, thread):
    await grown(store)
    await store.threads.create(record=ThreadRecord("u", "Other", 1, 1))
    with pytest.raises(BugError):
        await store.messages.add(record=say("m9", "m1", thread_id="u"))
    with pytest.raises(NotFound):
        await store.threads.set_leaf(thread_id="u", message_id="m1")
    with pytest.raises(NotFound):
        await store.messages.add(record=say("m9", "nowhere"))
    with pytest.raises(BugError):
        await store.messages.add(record=say("m8", "m1"))
    assert await search_faults(store) == []


async def test_many_writers_at_once_lose_nothing(store, thread):
    await store.messages.add(record=say("m0", None))
    await asyncio.gather(*(store.messages.add(record=say(f"m{n}", "m0"), make_leaf=False) for n in range(1, 200)))
    assert len(await store.messages.children(thread_id="t", message_id="m0")) == 199


async def test_a_queued_message_is_sent_once_and_leaves_the_queue_in_the_same_moment(store, thread):
    await store.queue.add(record=QueuedRecord("q1", "t", "later", (FileBlock("a", "b"),), 5.0))
    await store.queue.add(record=QueuedRecord("q2", "t", "even later"))
    waiting = await store.queue.waiting(thread_id="t")
    assert waiting[0] == QueuedRecord("q1", "t", "later", (FileBlock("a", "b"),), 5.0)
    with pytest.raises(NotFound):
        await store.messages.add(record=say("m1", "nowhere"), from_queue="q1")
    assert len(await store.queue.waiting(thread_id="t")) == 2, "what was not sent still waits"
    await store.messages.add(record=say("m1", None), from_queue="q1")
    with pytest.raises(NotFound):
        await store.messages.add(record=say("m2", "m1"), from_queue="q1")
    assert [q.queue_id for q in await store.queue.waiting(thread_id="t")] == ["q2"]
    assert await store.queue.remove(queue_id="q2")
    assert not await store.queue.remove(queue_id="q2")


async def test_five_megabytes_pasted_and_two_in_one_line_are_stored_and_found(store, thread):
    pasted = "line of pasted text\n" * 250_000 + "needle"
    result = ToolResultBlock("c", "bash", "x" * 2_000_000)
    await store.messages.add(record=say("m1", None, pasted))
    await store.messages.add(record=MessageRecord("m2", "t", "m1", "tool", (result,), 3.0))
    assert [m.blocks for m in await store.messages.path(thread_id="t")] == [(TextBlock(pasted),), (result,)]
    (hit,) = await store.search.messages(text="needle")
    assert len(hit.snippet) < 2_000
