"""The schema: complete, consistent, and the docs follow from it."""

from pathlib import Path

import pytest

from desktop.settings import defaults, pages, schema
from desktop.settings.checks import Unfit, check, plain
from desktop.settings.schema import default_values, snapshot
from desktop.settings.spec import flat

KEYS = """
appearance.theme appearance.text_scale appearance.reduce_motion models.default models.fallbacks
models.corrections models.connections models.llamacpp.file models.llamacpp.sees_with models.llamacpp.context
models.llamacpp.leave_running models.llamacpp.with_assent models.llamacpp.program models.llamacpp.port
models.ollama.context models.ollama.leave_running models.ollama.with_assent models.ollama.program models.ollama.port
tools.bash.timeout_s
tools.bash.network tools.bash.path tools.timeouts tools.commands_first
tools.output_limit_bytes tools.memory_gb tools.offered
tools.offered_share tools.own_hosts tools.env_allowlist web.search security.allowed_paths
security.denied_paths
security.auto_approve_workspace_writes security.auto_approve_reading_commands
security.blocklist_extra security.rm_without_recursion
security.admin_jobs security.approval_timeout_s chat.max_iterations chat.summaries chat.model_titles
chat.agent_threads chat.send_on_enter limits.concurrent_runs
limits.run_tokens limits.run_cost_usd limits.run_rounds limits.thread_rounds limits.run_minutes
changes.keep_days changes.keep_mb
skills.projects skills.trusted_projects
middleware.switched_on middleware.switched_off middleware.rate_limit.per_minute
middleware.rate_limit.skills_per_minute middleware.content_filter.patterns
middleware.content_filter.action middleware.content_filter.replacement middleware.response_cache.minutes
middleware.response_cache.entries notifications.desktop other_apps.offered updates.look
""".split()


def test_every_setting_is_there_with_all_that_a_page_needs():
    assert list(schema()) == KEYS
    for setting in schema().values():
        assert setting.title
        assert setting.help.endswith(".")
        assert setting.page
        assert bool(setting.choices) == (setting.kind == "choice")
        assert (setting.minimum is not None) == (setting.kind in {"number", "whole", "times"})


CAREFUL = {
    "models.llamacpp.leave_running": False,
    "models.llamacpp.with_assent": False,
    "models.ollama.leave_running": False,
    "models.ollama.with_assent": False,
    "tools.bash.network": "as asked",
    "tools.commands_first": "show",
    "tools.offered": 40,
    "tools.offered_share": 10,
    "security.auto_approve_workspace_writes": False,
    "security.auto_approve_reading_commands": False,
    "security.admin_jobs": False,
    "updates.look": False,
    "security.rm_without_recursion": "block",
    "limits.run_rounds": 250,
    "limits.concurrent_runs": 4,
    "middleware.rate_limit.per_minute": 10,
    "middleware.switched_on": (),
}
"""What bounds an agent before a person has changed anything: decisions, each of them."""


@pytest.mark.spec("S-DEF-1", "C-28", "C-34")
@pytest.mark.parametrize("key", CAREFUL)
def test_who_changes_nothing_has_the_careful_values(key: str):
    assert schema()[key].default == CAREFUL[key]


@pytest.mark.spec("R-AAT-6")
def test_the_chat_of_a_called_agent_is_kept_until_the_run_ends_unless_somebody_says_otherwise():
    assert defaults(Path("/home")).chat.agent_threads == "run"


def test_every_setting_is_on_exactly_one_page():
    assert sorted(s.key for group in pages().values() for s in group) == sorted(KEYS)


def test_every_default_fits_its_own_setting_also_after_a_round_through_the_file():
    for key, value in default_values(Path("/home/ann/.agent")).items():
        assert check(schema()[key], value) == value
        assert check(schema()[key], plain(value)) == value


def test_a_snapshot_and_its_values_are_the_same_thing():
    values = default_values(Path("/x"))
    assert flat(snapshot(values)) == values
    assert snapshot(values) == defaults(Path("/x"))


@pytest.mark.spec("R-TMO-1")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"bash": 300, "kubectl_get": 2.5}, (("bash", 300), ("kubectl-get", 2.5))),
        ([], ()),
        ({}, ()),
        ({"bash": 0}, None),
        ({"bash": 90_000}, None),
        ({"bash": "5"}, None),
        ({"bash": True}, None),
        ({"Bash": 5}, None),
        ({7: 5}, None),
        ({"../x": 5}, None),
        ("bash", None),
        ([["bash", 5]], None),
        ({"bash": float("inf")}, None),
        ({"bash": None}, None),
    ],
)
def test_time_limits_of_single_tools_are_names_with_seconds(written, read):
    setting = schema()["tools.timeouts"]
    if read is None:
        with pytest.raises(Unfit):
            check(setting, written)
    else:
        assert check(setting, written) == read
        assert check(setting, plain(check(setting, written))) == read


def test_a_limit_is_none_or_one_that_makes_sense():
    setting = schema()["tools.memory_gb"]
    assert [check(setting, value) for value in (0, 0.1, 2)] == [0, 0.1, 2]
    with pytest.raises(Unfit, match=r"at least 0.1, or 0 \(half of this computer's\)"):
        check(setting, 0.05)
    with pytest.raises(Unfit):
        check(setting, -1)
