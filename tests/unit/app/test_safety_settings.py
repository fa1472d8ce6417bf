"""What a person set is what safety obeys, from the next call on."""

from pathlib import Path

import pytest

from desktop.app.wiring.boundary import safety_of
from desktop.safety.boundary.session_grants import SessionGrants
from desktop.settings import SettingsService

CHANGES = [
    ("tools.bash.network", "always", "shell_network", "always"),
    ("tools.commands_first", "ask", "commands_first", "ask"),
    ("tools.bash.path", "/opt/bash", "bash_path", "/opt/bash"),
    ("tools.bash.timeout_s", 30, "tool_timeout_s", 30),
    ("tools.output_limit_bytes", 5_000, "output_limit", 5_000),
    ("tools.memory_gb", 4, "memory_limit", 4_000_000_000),
    ("tools.env_allowlist", ["PATH"], "environment_allowlist", ("PATH",)),
    ("security.approval_timeout_s", 90, "approval_timeout_s", 90),
    ("security.approval_timeout_s", 0, "approval_timeout_s", None),
    ("security.allowed_paths", ["/srv/data"], "allowed", ("/srv/data",)),
    ("security.denied_paths", ["/srv/secret"], "denied", ("/srv/secret",)),
    ("security.blocklist_extra", ["rmdir"], "blocked_patterns", ("rmdir",)),
    ("security.rm_without_recursion", "ask", "relax_plain_rm", True),
    ("security.auto_approve_workspace_writes", True, "auto_approve_workspace_writes", True),
    ("security.auto_approve_reading_commands", True, "auto_approve_reading_commands", True),
]


@pytest.mark.parametrize(("key", "value", "field", "obeyed"), CHANGES)
@pytest.mark.spec("R-FS-12", "R-TMO-1")
async def test_a_changed_setting_holds_for_the_next_call(
    tmp_path: Path, key: str, value: object, field: str, obeyed: object
) -> None:
    settings = SettingsService(tmp_path)
    await settings.load()
    safety = safety_of(settings, tmp_path, SessionGrants())
    await settings.update(key, value)
    assert getattr(safety(), field) == obeyed


@pytest.mark.parametrize(("written", "means"), [("true", "always"), ("false", "never"), ("as asked", "as asked")])
async def test_what_older_versions_wrote_of_the_network_still_counts(tmp_path: Path, written: str, means: str) -> None:
    (tmp_path / "config.yaml").write_text(f"tools:\n  bash:\n    network: {written}\n")
    settings = SettingsService(tmp_path)
    await settings.load()
    assert settings.problems == ()
    assert safety_of(settings, tmp_path, SessionGrants())().shell_network == means


async def test_by_default_commands_have_the_network_as_asked_and_requests_wait(tmp_path: Path) -> None:
    settings = SettingsService(tmp_path)
    await settings.load()
    now = safety_of(settings, tmp_path, SessionGrants())()
    assert (now.shell_network, now.approval_timeout_s, now.granted) == ("as asked", None, ())
