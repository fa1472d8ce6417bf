"""Messages, usage and supervision as plain data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.approval.judgement import Category
from desktop.domain.ids import AgentId, new_id
from desktop.domain.messages import (
    AudioBlock,
    FileBlock,
    ImageBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    Usage,
    apart,
    block_from_plain,
    to_plain,
    with_media,
)
from desktop.domain.runs.supervision import ExecutionBudget, HistoryRetention, Priority, SpawnBudget, Supervision

BLOCKS = [
    TextBlock("hello"),
    ReasoningBlock("hm"),
    ImageBlock("image/png", "AAAA", "a.png"),
    FileBlock("a.txt", "text"),
    ToolCallBlock("c1", "read_file", {"path": "a"}, '{"path": "a"}'),
    ToolCallBlock("c2", "bash", None, "{oops", "not JSON"),
    ToolResultBlock("c1", "read_file", "ok", False, {"n": 1}, {"bytes": 2}),
    AudioBlock("audio/wav", "AAAA", "a.wav"),
    ToolResultBlock("c1", "shot", "ok", media=(ImageBlock("image/png", "AAAA"), AudioBlock("audio/wav", "BB"))),
    NoticeBlock("cut", "model.stream_cut", "Continue.", "warning"),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: b.kind)
def test_a_block_survives_the_way_to_plain_data_and_back(block):
    assert block_from_plain(to_plain(block)) == block


def test_what_a_tool_gave_is_stored_beside_its_result_and_found_there_again():
    image, sound = ImageBlock("image/png", "AAAA", "a.png"), AudioBlock("audio/wav", "BB")
    results = [
        ToolResultBlock("c1", "shot", "one", media=(image, sound)),
        ToolResultBlock("c2", "shot", "two"),
        ToolResultBlock("c3", "shot", "three", media=(image,)),
    ]
    stored = [block_from_plain(to_plain(block)) for block in apart(results)]
    assert [block.kind for block in stored] == ["tool_result", "image", "audio", "tool_result", "tool_result", "image"]
    assert "media" not in to_plain(stored[0]), "an older Assent reads the result all the same"
    assert with_media(stored) == results


@pytest.mark.spec("S-CTX-1")
def test_a_block_of_another_version_is_kept_as_it_is():
    data = {"kind": "hologram", "x": 1}
    block = block_from_plain(data)
    assert isinstance(block, UnknownBlock)
    assert to_plain(block) == data
    odd = {"kind": "text", "text": "a", "new_field": 1}
    assert to_plain(block_from_plain(odd)) == odd


usages = st.builds(
    Usage, st.integers(0, 99), st.integers(0, 99), cost_usd=st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.25]))
)


@given(usages, usages)
def test_a_sum_of_usage_never_hides_an_unknown_cost(first, second):
    total = first.plus(second)
    assert total.input_tokens == first.input_tokens + second.input_tokens
    for part in (first, second):
        if part.cost_usd is None and (part.input_tokens or part.output_tokens):
            assert total.cost_usd is None


def test_nothing_used_adds_nothing_to_a_known_cost():
    assert Usage().plus(Usage(10, 5, cost_usd=0.2)).cost_usd == 0.2
    assert Usage(10, 5, cost_usd=0.2).plus(Usage()).cost_usd == 0.2
    assert Usage(10, 5, cost_usd=None).plus(Usage(1, 1, cost_usd=0.1)).cost_usd is None


@pytest.mark.spec("R-SUP-7")
@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ((7, 3, 0, 2, 0.5), Usage(7, 3, 0, 2, 0.5)),
        ((10**19, -4, True, "9", 10**30), Usage(10**9, 0, 0, 0, 10.0**6)),
        ((1.5, None, [], {}, float("inf")), Usage()),
        ((0, 0, 0, 0, float("nan")), Usage()),
        ((1, 1, 0, 0, True), Usage(1, 1)),
        ((1, 1, 0, 0, "0.1"), Usage(1, 1)),
        ((1, 1, 0, 0, -1), Usage(1, 1)),
    ],
)
def test_usage_that_a_server_says_is_never_more_than_a_round_can_use(said, taken):
    *counts, cost = said
    assert Usage.reported(*counts, cost=cost) == taken


@pytest.mark.spec("R-SUP-1", "R-SUP-2", "R-SUP-3", "Q-11")
def test_a_root_is_minted_and_a_child_is_derived_from_it():
    budget = SpawnBudget()
    root = Supervision.root(AgentId("assistant", "1"), spawn_budget=budget)
    assert (root.depth, root.parent_id, root.retention) == (0, None, HistoryRetention.PERMANENT)
    assert root.session_id
    assert (str(AgentId("assistant", "1")), AgentId("a", "1") == AgentId("a", "2")) == ("assistant/1", False)
    child = root.spawn_child(AgentId("assistant", "1"), execution_budget=ExecutionBudget(max_rounds=3))
    assert (child.run_id, child.session_id, child.root_id) == (root.run_id, root.session_id, root.root_id)
    assert child.spawn_budget is budget
    assert (child.depth, child.retention, child.priority) == (1, HistoryRetention.RUN, Priority.NORMAL)
    with pytest.raises(AttributeError):
        child.depth = 5  # type: ignore[misc]


@pytest.mark.spec("R-SES-1")
def test_ids_are_random_and_do_not_repeat():
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(i) == 32 and i[12] == "4" for i in ids), "uuid4"


def test_categories_have_an_order():
    assert Category.READ.rank < Category.WRITE.rank < Category.ADMIN.rank
