"""The boundary: which paths it allows, under every spelling of them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation
from desktop.domain.safety import Access, SafetySettings
from desktop.safety.boundary import paths
from desktop.safety.boundary.policy import PROTECTED_NAMES, BoundaryPolicy, elevated_write
from desktop.systems.windows_names import path_problem
from tests.unit.safety.world import World

READ, WRITE, LIST = Access.READ, Access.WRITE, Access.LIST


@pytest.mark.spec("R-FS-1")
def test_a_relative_path_starts_in_the_workspace_and_a_tilde_at_home(world: World) -> None:
    assert world.policy.explain("a/b.txt", WRITE).resolved == str(world.workspace / "a/b.txt")
    assert world.policy.explain("~/x", READ).resolved == str(world.person / "x")
    assert world.policy.explain("./a/../b", READ).resolved == str(world.workspace / "b")


@pytest.mark.spec("R-FS-2")
def test_a_link_that_points_outside_is_refused_with_the_resolved_path(world: World) -> None:
    (world.workspace / "door").symlink_to(world.outside / "secret.txt")
    verdict = world.policy.explain("door", READ)
    assert not verdict.allowed
    assert verdict.resolved == str(world.outside / "secret.txt")
    assert verdict.resolved in verdict.sentence


@pytest.mark.spec("R-FS-2")
def test_a_link_two_levels_above_a_missing_path_is_followed(world: World) -> None:
    (world.workspace / "link").symlink_to(world.outside)
    verdict = world.policy.explain("link/not/there/yet.txt", WRITE)
    assert (verdict.allowed, verdict.resolved) == (False, str(world.outside / "not/there/yet.txt"))


@pytest.mark.spec("R-FS-2")
def test_a_dangling_link_is_judged_by_where_it_would_lead(world: World) -> None:
    (world.workspace / "new").symlink_to(world.outside / "created.txt")
    assert not world.policy.explain("new", WRITE).allowed


@pytest.mark.spec("R-FS-1", "R-FS-2")
def test_dots_after_a_link_mean_the_parent_of_its_target(world: World) -> None:
    (world.outside / "deep").mkdir()
    (world.workspace / "link").symlink_to(world.outside / "deep")
    assert world.policy.explain("link/../secret.txt", READ).resolved == str(world.outside / "secret.txt")
    assert not world.policy.explain("link/../secret.txt", READ).allowed


@pytest.mark.spec("R-FS-2")
def test_a_loop_of_links_is_refused(world: World) -> None:
    (world.workspace / "a").symlink_to("b")
    (world.workspace / "b").symlink_to("a")
    assert not world.policy.explain("a", READ).allowed


@pytest.mark.spec("R-FS-3")
def test_denied_wins_over_allowed(world: World) -> None:
    (world.workspace / "private").mkdir()
    world.change(denied=(str(world.workspace / "private"),))
    verdict = world.policy.explain("private/x", WRITE)
    assert not verdict.allowed
    assert verdict.rule == f"denied {world.workspace / 'private'}"
    world.change(allowed=(str(world.workspace / "private"),))
    assert not world.policy.explain("private/x", WRITE).allowed


@pytest.mark.spec("R-FS-4")
@pytest.mark.parametrize("name", ["workspace2/x", "workspace-old", "workspac", "workspacE/x"])
def test_a_folder_with_a_similar_name_is_outside(world: World, name: str) -> None:
    verdict = world.policy.explain(str(world.home / name), READ)
    assert (verdict.allowed, verdict.rule) == (False, "outside")


@pytest.mark.spec("R-FS-4")
def test_tmp_agent2_is_outside_tmp_agent() -> None:
    policy = BoundaryPolicy("/nonexistent/home", lambda: SafetySettings(workspace="/tmp/agent"))
    assert policy.explain("/tmp/agent/x", WRITE).allowed
    assert not policy.explain("/tmp/agent2/x", WRITE).allowed


@pytest.mark.spec("R-FS-5")
def test_entries_of_the_lists_are_resolved_like_paths(world: World) -> None:
    (world.root / "alias").symlink_to(world.outside)
    world.change(allowed=(str(world.root / "alias"),))
    assert world.policy.explain(str(world.outside / "x"), WRITE).allowed
    world.change(denied=(str(world.root / "alias"),))
    assert not world.policy.explain(str(world.outside / "x"), WRITE).allowed


@pytest.mark.spec("R-FS-5")
def test_a_denied_entry_that_is_a_link_protects_both_its_names(world: World) -> None:
    (world.workspace / "keys").symlink_to(world.ssh)
    world.change(allowed=(str(world.root),), denied=(str(world.workspace / "keys"),))
    assert not world.policy.explain(str(world.ssh / "id_rsa"), READ).allowed
    assert not world.policy.explain("keys", WRITE).allowed


@pytest.mark.spec("R-FS-7")
def test_outside_the_allowed_folders_names_path_and_rule(world: World) -> None:
    with pytest.raises(BoundaryViolation) as caught:
        world.policy.require(str(world.outside / "secret.txt"), READ)
    assert caught.value.code == "denied.boundary"
    assert str(world.outside / "secret.txt") in str(caught.value)
    assert str(world.workspace) in str(caught.value)


@pytest.mark.spec("R-FS-10")
@pytest.mark.parametrize(
    "name", [*PROTECTED_NAMES, "anything-new", "config.yaml.tmp", "data/assent.db-wal", "agents/a.yaml"]
)
def test_the_apps_own_files_are_never_writable_even_where_the_home_is_allowed(world: World, name: str) -> None:
    world.change(allowed=(str(world.person), str(world.home)))
    verdict = world.policy.explain(str(world.home / name), WRITE)
    assert not verdict.allowed
    assert verdict.rule.startswith("protected ")


@pytest.mark.spec("R-FS-10")
def test_the_workspace_in_an_allowed_home_stays_writable(world: World) -> None:
    world.change(allowed=(str(world.person),))
    assert world.policy.explain("new/file.txt", WRITE).allowed


@pytest.mark.spec("R-FS-10")
@pytest.mark.parametrize("target", [".", "data", "agents"])
def test_a_workspace_that_is_a_link_to_the_apps_files_opens_none_of_them(world: World, target: str) -> None:
    fake = world.home / "fake"
    fake.symlink_to(world.home / target)
    world.change(workspace=str(fake), allowed=(str(fake), str(world.home)))
    assert not world.policy.explain("config.yaml", WRITE).allowed
    assert not world.policy.explain(str(world.home / "agents/x"), WRITE).allowed
    assert not world.policy.explain(str(world.home / "data/x"), WRITE).allowed


@pytest.mark.spec("R-FS-10", "R-FS-14")
def test_conversations_and_logs_cannot_even_be_read(world: World) -> None:
    world.change(allowed=("/",))
    assert not world.policy.explain(str(world.home / "data/assent.db"), READ).allowed
    assert not world.policy.explain(str(world.home / "logs/new.log"), READ).allowed
    assert world.policy.explain(str(world.home / "config.yaml"), READ).allowed


@pytest.mark.spec("R-FS-12")
def test_a_change_of_the_lists_counts_from_the_next_call(world: World) -> None:
    policy = world.policy
    target = str(world.outside / "x")
    assert not policy.explain(target, WRITE).allowed
    world.change(allowed=(str(world.workspace), str(world.outside)))
    assert policy.explain(target, WRITE).allowed
    world.change(denied=(str(world.outside),))
    assert not policy.explain(target, WRITE).allowed


@pytest.mark.spec("R-FS-13")
def test_pipes_sockets_and_devices_are_refused(world: World, short_tmp: Path) -> None:
    os.mkfifo(world.workspace / "pipe")
    world.change(allowed=(str(world.workspace), str(short_tmp), "/dev", "/proc", "/sys"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(short_tmp / "s"))
        for path in (world.workspace / "pipe", short_tmp / "s", "/dev/zero", "/proc/self/environ", "/sys/kernel"):
            for access in (READ, WRITE):
                verdict = world.policy.explain(str(path), access)
                assert (verdict.allowed, verdict.rule) == (False, "special file"), path


@pytest.mark.spec("R-FS-13")
def test_the_door_through_proc_leads_where_it_leads(world: World) -> None:
    verdict = world.policy.explain(f"/proc/self/root{world.outside}/secret.txt", READ)
    assert not verdict.allowed
    assert not world.policy.explain("/proc/1/root", READ).allowed
    assert not world.policy.explain("/proc/self/cwd/../../../etc/passwd", READ).allowed


@pytest.mark.spec("R-FS-3")
def test_a_hard_link_to_a_denied_file_is_refused(world: World) -> None:
    os.link(world.ssh / "id_rsa", world.workspace / "innocent.txt")
    verdict = world.policy.explain("innocent.txt", READ)
    assert not verdict.allowed
    assert "another name" in verdict.sentence


def test_a_hard_link_between_allowed_files_is_fine(world: World) -> None:
    os.link(world.workspace / "note.txt", world.workspace / "twin.txt")
    assert world.policy.explain("twin.txt", READ).allowed


@pytest.mark.spec("R-FS-3")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting needs root")
def test_a_denied_folder_mounted_elsewhere_stays_denied(world: World) -> None:
    (world.workspace / "mounted").mkdir()
    script = f"""
import sys
sys.path.insert(0, {str(Path.cwd())!r})
from desktop.domain.safety import Access, SafetySettings
from desktop.safety.boundary.policy import BoundaryPolicy
settings = SafetySettings(workspace={str(world.workspace)!r}, allowed=({str(world.workspace)!r},))
policy = BoundaryPolicy({str(world.home)!r}, lambda: settings)
verdict = policy.explain("mounted/id_rsa", Access.READ)
print(verdict.allowed, verdict.rule)
"""
    mount = f"mount --bind {world.ssh} {world.workspace / 'mounted'}"
    command = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$0" -c "$1"', sys.executable, script]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "HOME": str(world.person)}, timeout=30
    )
    if done.returncode != 0 and done.stderr.startswith(("unshare:", "mount:")):
        pytest.skip(f"no mounts here: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False denied ~/.ssh"


@pytest.mark.spec("R-FS-6")
@pytest.mark.parametrize(
    "path",
    [
        r"\\server\share\x",
        r"\\?\C:\x",
        r"\\.\C:",
        "//server/share",
        "C:x",
        r"C:\a\b:stream",
        r"C:\a\NUL",
        r"C:\a\con.txt",
        r"C:\a\COM1",
        r"dir\aux\x",
        r"C:\a\b.",
        r"C:\a\b \c",
        "lpt9.log",
        r"C:\x::$DATA",
    ],
)
def test_windows_paths_that_mean_something_else_are_problems(path: str) -> None:
    assert path_problem(path)


@pytest.mark.spec("R-FS-6")
@pytest.mark.parametrize("path", [r"C:\a\b.txt", "c:/a/b", r"a\..\b", "console.txt", r"C:\a\.git", "com10"])
def test_ordinary_windows_paths_are_none(path: str) -> None:
    assert path_problem(path) == ""


@pytest.mark.spec("R-FS-6")
def test_comparison_by_components_can_ignore_case() -> None:
    assert paths.is_within("/Users/Ann/Work/x", "/users/ann/work", fold=True)
    assert not paths.is_within("/Users/Ann/Work/x", "/users/ann/work")
    assert not paths.is_within("/Users/Ann/Work2", "/users/ann/work", fold=True)


@pytest.mark.spec("R-FS-6")
def test_this_file_system_is_recognised_as_minding_case(world: World) -> None:
    sample = world.workspace / "CaseProbe"
    sample.touch()
    expected = (world.workspace / "cASEpROBE").exists()
    assert paths.ignores_case(str(sample)) is expected
    assert paths.ignores_case(str(sample / "missing" / "Deep")) is expected


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000, "bad\ud800name"])
def test_a_text_that_is_no_path_is_refused_in_words(world: World, path: str) -> None:
    verdict = world.policy.explain(path, READ)
    assert (verdict.allowed, verdict.rule, verdict.resolved) == (False, "malformed", "")
    assert verdict.sentence.startswith("Permission denied: the path")


@pytest.mark.spec("R-TOOL-4")
def test_what_only_a_session_grant_allows_is_admin(world: World) -> None:
    world.change(granted=(str(world.outside),))
    verdict = world.policy.explain(str(world.outside / "secret.txt"), READ)
    assert verdict.allowed
    assert "grant" in verdict.elevated
    assert world.policy.explain("note.txt", READ).elevated == ""


@pytest.mark.spec("R-TOOL-4")
@pytest.mark.parametrize("path", ["/etc/hosts", "/usr/local/x", "/var/lib/x", "/ws/.git/hooks/pre-commit", "/opt/x"])
def test_system_paths_and_files_that_run_code_are_admin(path: str) -> None:
    assert elevated_write(path, "/ws")


@pytest.mark.spec("R-TOOL-4")
@pytest.mark.parametrize(
    ("path", "workspace", "admin"),
    [("/srv/x", "/srv", False), ("/srv/a/x", "/srv/a", False), ("/srv/b", "/srv/a", True), ("/srv/x", "/", True)],
)
def test_a_workspace_in_a_system_folder_is_ones_own_and_the_whole_disk_never_is(
    path: str, workspace: str, admin: bool
) -> None:
    assert bool(elevated_write(path, workspace)) is admin


@pytest.mark.spec("R-TOOL-4")
def test_startup_files_are_admin_and_ordinary_ones_are_not(world: World) -> None:
    assert elevated_write(str(world.person / ".bashrc"), str(world.workspace))
    assert elevated_write(str(world.person / ".config/autostart/x.desktop"), str(world.workspace))
    later = (".vscode/tasks.json", "a/.envrc", ".husky/pre-commit", "sub/.GIT/hooks/x", ".bashrc", "b.git/hooks/update")
    for name in (*later, ".agent/agents/x.yaml", "sub/.AGENTS/Agents/x"):
        assert elevated_write(str(world.workspace / name), str(world.workspace)), name
    for name in (".hg/hgrc", ".jj/repo/config.toml", "_darcs/prefs/defaults", ".devcontainer.json", "a.code-workspace"):
        assert elevated_write(str(world.workspace / name), str(world.workspace)), name
    for name in (".lefthook-local.toml", "mise.local.toml", ".mise.toml", "opencode.json", "x/.dir-locals-2.el"):
        assert elevated_write(str(world.workspace / name), str(world.workspace)), name
    plain = (".gitignore", ".gitattributes", "promise.toml", "head.ts", "head/x.py", "config", "src/config")
    for name in (*plain, "docs/workspace.code", "x.json"):
        assert not elevated_write(str(world.workspace / name), str(world.workspace)), name
    plain = (".gitignore", ".gitattributes", "docs/.hidden", "src/hooks/use.ts", "profile", ".github/x.yml")
    for name in (*plain, ".agent/a", "agents/a"):
        assert not elevated_write(str(world.workspace / name), str(world.workspace)), name
    (world.workspace / ".git").mkdir()
    (world.workspace / ".git" / "config").write_text('[core]\n\thooksPath = "ci/hooks"\n')
    assert elevated_write(str(world.workspace / "ci/hooks/pre-commit"), str(world.workspace))
    assert not elevated_write(str(world.workspace / "x.py"), str(world.workspace))
    assert not elevated_write("/srv/project/x", "/srv/project")


@pytest.mark.spec("R-TOOL-4")
def test_a_folder_that_git_takes_for_a_repository_is_admin_whatever_it_is_called(world: World) -> None:
    assert "repository" in elevated_write(str(world.workspace / "docs/HEAD"), str(world.workspace))
    settings = [str(world.workspace / "docs" / name) for name in ("config", "config.worktree", "commondir")]
    (world.workspace / "docs").mkdir()
    assert not any(elevated_write(path, str(world.workspace)) for path in settings), "there is no HEAD beside it"
    (world.workspace / "docs" / "HEAD").write_text("ref: refs/heads/main\n")
    assert all(elevated_write(path, str(world.workspace)) for path in settings)
    assert not elevated_write(str(world.workspace / "docs/notes"), str(world.workspace))


@pytest.mark.spec("R-TOOL-4")
@pytest.mark.parametrize(
    ("workspace", "inner", "admin"),
    [
        (".config", "autostart/x.desktop", True),
        (".config", "systemd/user/x.service", True),
        (".config", "gtk-3.0/settings.ini", False),
        (".config/nvim", "init.lua", False),
        (".local/share", "applications/x.desktop", True),
        (".agents", "skills/x.md", True),
        ("tools/hooks", "pre-commit", True),
        ("tools/hooks", "use.ts", False),
    ],
)
def test_a_workspace_that_is_the_upper_half_of_such_a_place_does_not_open_it(
    world: World, monkeypatch: pytest.MonkeyPatch, workspace: str, inner: str, admin: bool
) -> None:
    monkeypatch.setenv("HOME", str(world.person))
    folder = world.person / workspace
    assert bool(elevated_write(str(folder / inner), str(folder))) is admin


@pytest.mark.spec("R-FS-3")
def test_the_passwords_of_the_screen_are_denied_whatever_the_lists_say(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(world.person))
    elsewhere = world.outside / "xauth_Ab12"
    monkeypatch.setenv("XAUTHORITY", str(elsewhere))
    world.change(allowed=(str(world.person), str(world.outside)), denied=())
    for path in (world.person / ".Xauthority", world.person / ".ICEauthority", elsewhere):
        for access in (Access.READ, Access.WRITE):
            assert world.policy.explain(str(path), access).rule.startswith("denied "), path


@pytest.mark.spec("R-TOOL-4")
@pytest.mark.parametrize("folder", [".agent/agents", ".agents/agents", ".agent/skills", ".agents/skills"])
def test_a_file_where_assent_looks_for_agents_and_skills_is_admin(world: World, folder: str) -> None:
    path = str(world.workspace / "project" / folder / "x.md")
    assert "Assent takes agents and skills from there" in world.policy.explain(path, Access.WRITE).elevated
