"""config.yaml as a person and the app meet it: real files, mistakes told with their place, nothing lost."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.errors import HomeNotWritable, SettingsError, StoreFull
from desktop.domain.models import Connection
from desktop.settings import SettingsService, defaults
from desktop.settings.groups.limits import Limits
from tests.harness.timeouts import WAIT_S

EDITED = """\
# my settings
appearance:
  theme: dark      # easier at night
  text_scale: 1.25

# the future
hologram:
  depth: 3
chat:
    max_iterations: 7
"""


async def loaded(home: Path, text: str | None = None, **more) -> SettingsService:
    if text is not None:
        (home / "config.yaml").write_text(text)
    service = SettingsService(home, **more)
    await service.load()
    return service


async def test_without_a_file_the_defaults_hold_and_none_is_made(tmp_path):
    service = await loaded(tmp_path)
    assert service.current == defaults(tmp_path)
    assert service.problems == ()
    assert list(tmp_path.iterdir()) == []


async def test_what_the_file_says_holds_and_the_rest_has_its_default(tmp_path):
    service = await loaded(tmp_path, EDITED)
    assert (service.current.appearance.theme, service.current.appearance.text_scale) == ("dark", 1.25)
    assert (service.current.chat.max_iterations, service.current.chat.send_on_enter) == (7, True)
    assert service.is_changed("chat.max_iterations")
    assert not service.is_changed("chat.send_on_enter")


async def test_default_paths_follow_the_home_that_was_given(tmp_path):
    security = defaults(tmp_path / "home").security
    assert security.allowed_paths == (f"{tmp_path}/home/workspace", "/tmp/agent")
    assert f"{tmp_path}/home/data" in security.denied_paths
    usual = defaults(Path.home() / ".agent").security
    assert usual.allowed_paths == ("~/.agent/workspace", "/tmp/agent")
    assert {"~/.ssh", "~/.gnupg", "/etc/shadow", "/etc/passwd", "~/.aws", "~/.kube"} <= set(usual.denied_paths)


@pytest.mark.spec("R-TMO-1", "R-TMO-5", "R-ENV-1", "R-BLK-7")
async def test_the_defaults_are_those_of_the_reference(tmp_path):
    found = defaults(tmp_path)
    assert (found.tools.bash.timeout_s, found.tools.output_limit_bytes) == (120, 200_000)
    assert found.tools.env_allowlist == ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR", "TZ")
    assert (found.security.rm_without_recursion, found.security.auto_approve_workspace_writes) == ("block", False)
    assert (found.chat.max_iterations, found.limits.concurrent_runs) == (20, 4)


async def test_saving_keeps_comments_order_and_unknown_keys(tmp_path):
    service = await loaded(tmp_path, EDITED)
    await service.update_many({"chat.send_on_enter": False, "appearance.theme": "light"})
    text = service.path.read_text()
    assert text == EDITED.replace("theme: dark", "theme: light") + "    send_on_enter: false\n"
    again = await loaded(tmp_path)
    assert again.current == service.current
    assert [p.key for p in again.problems] == ["hologram"]


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        ("# mine\n", "# mine\nappearance:\n  theme: light\n"),
        ('{"chat": {"max_iterations": 7}}', "chat:\n  max_iterations: 7\nappearance:\n  theme: light\n"),
        ("chat: {max_iterations: 7} # few\n", "chat: {max_iterations: 7} # few\nappearance:\n  theme: light\n"),
        ("appearance:\r\n    theme: dark\r\n", "appearance:\r\n    theme: light\r\n"),
        ("a: 1\n...\n", "a: 1\nappearance:\n  theme: light\n...\n"),
        ("null\n", "appearance:\n  theme: light\n"),
    ],
)
async def test_saving_writes_its_key_into_a_file_of_any_shape(tmp_path, text, saved):
    service = await loaded(tmp_path, text)
    await service.update("appearance.theme", "light")
    assert service.path.read_bytes().decode() == saved


async def test_a_file_without_a_key_keeps_its_comments(tmp_path):
    service = await loaded(tmp_path, "# mine\nchat:\n  max_iterations: 7\n# and this\n")
    await service.reset("chat.max_iterations")
    assert service.path.read_text() == "# mine\n# and this\n"


async def test_a_reset_of_what_was_never_set_writes_nothing(tmp_path):
    service = await loaded(tmp_path, "")
    await service.reset("chat.max_iterations")
    assert service.path.read_text() == ""


async def test_a_list_has_a_line_for_each_entry(tmp_path):
    service = await loaded(tmp_path, "")
    await service.update("security.allowed_paths", ["~/work", "/srv/my data"])
    assert service.path.read_text().endswith("security:\n  allowed_paths:\n    - ~/work\n    - /srv/my data\n")


async def test_a_reset_takes_the_key_out_of_the_file(tmp_path):
    service = await loaded(tmp_path, EDITED)
    await service.reset("chat.max_iterations", "appearance.text_scale")
    assert service.current.chat.max_iterations == 20
    text = service.path.read_text()
    assert "max_iterations" not in text
    assert "text_scale" not in text
    assert "easier at night" in text
    assert "hologram" in text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("appearance:\n  theme: [dark\n", 3, "line 3"),
        ("appearance:\n\ttheme: dark\n", 2, "line 2"),
        ("a: b: c\n", 1, "line 1"),
        ("- one\n- two\n", 1, "must hold names"),
        ("just words\n", 1, "must hold names"),
        ("chat: &a\n  max_iterations: 3\nmore: *a\n", 1, "anchors and aliases"),
        ("chat: !!python/object/apply:os.system ['true']\n", 1, "could not determine a constructor"),
        ("? [a, b]\n: 1\n", 1, "plain word"),
        ("chat: " + "[" * 5_000, None, ""),
    ],
)
async def test_a_mistake_is_told_with_its_line_and_the_last_good_values_stay(tmp_path, text, line, says):
    service = await loaded(tmp_path, EDITED)
    before = service.current
    service.path.write_text(text)
    assert await service.reload_if_changed()
    assert service.current is before
    (problem,) = service.problems
    assert says in str(problem)
    assert problem.severity == "error"
    assert problem.next_step
    if line is not None:
        assert problem.line == line
        assert problem.column is not None
    with pytest.raises(SettingsError):
        await service.update("appearance.theme", "light")
    assert service.path.read_text() == text, "a file with a mistake is not overwritten"
    again = await loaded(tmp_path)
    assert again.current == before, "the last good values hold after a new start too"


async def test_a_file_of_the_same_size_whose_time_was_set_back_is_read_again(tmp_path):
    service = await loaded(tmp_path, "appearance:\n  text_scale: 1.25\n")
    before = service.path.stat()
    with service.path.open("r+") as file:  # no other inode either
        file.write("appearance:\n  text_scale: 1.50\n")
    os.utime(service.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert await service.reload_if_changed()
    assert service.current.appearance.text_scale == 1.5


async def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path):
    service = await loaded(tmp_path)
    service.path.write_bytes(b"appearance:\n  theme: d\xffrk\n")
    await service.reload_if_changed()
    assert (service.problems[0].line, service.problems[0].column) == (2, 11)


async def test_a_file_of_a_megabyte_is_refused(tmp_path):
    service = await loaded(tmp_path, "# " + "x" * 1_000_000)
    assert "larger than a megabyte" in service.problems[0].message


@pytest.mark.parametrize(
    ("text", "key", "line", "says"),
    [
        ("appearance:\n  theme: drak\n", "appearance.theme", 2, "Did you mean dark?"),
        ("appearance:\n  text_scale: big\n", "appearance.text_scale", 2, "must be a number"),
        ("appearance:\n  text_scale: 5\n", "appearance.text_scale", 2, "from 0.8 to 2"),
        ("appearance:\n  text_scale: .nan\n", "appearance.text_scale", 2, "must be a number"),
        ("chat:\n  max_iterations: true\n", "chat.max_iterations", 2, "whole number"),
        ("chat:\n  max_iterations: 1.5\n", "chat.max_iterations", 2, "whole number"),
        ("chat:\n  send_on_enter: maybe\n", "chat.send_on_enter", 2, "true or false"),
        ("chat: 5\n", "chat", 1, "is a group"),
        ("tools:\n  bash: 10\n", "tools.bash", 2, "is a group"),
        ("security:\n  allowed_paths: /tmp\n", "security.allowed_paths", 2, "must be a list"),
        ("security:\n  allowed_paths: [work]\n", "security.allowed_paths", 2, "begin with / or ~"),
        ("security:\n  denied_paths: ['']\n", "security.denied_paths", 2, "empty entry"),
        ("security:\n  blocklist_extra: ['(']\n", "security.blocklist_extra", 2, "no regular expression"),
        ("tools:\n  env_allowlist: [A B]\n", "tools.env_allowlist", 2, "no name of an environment variable"),
        ("models:\n  connections: [{id: a}]\n", "models.connections", 2, "needs a provider"),
        ("models:\n  connections: [{id: a, provider: b, base_url: 'ftp://x'}]\n", "models.connections", 2, "http://"),
        ("models:\n  connections: [{id: a, provider: b, titel: c}]\n", "models.connections", 2, "Did you mean title?"),
        ("models:\n  connections: [{id: a, provider: b}, {id: a, provider: c}]\n", "models.connections", 2, "two conn"),
        ("models:\n  connections: [{id: a, provider: b, options: {n: 1}}]\n", "models.connections", 2, "quotes"),
    ],
)
async def test_a_value_that_does_not_fit_is_told_by_key_and_the_others_hold(tmp_path, text, key, line, says):
    service = await loaded(tmp_path, text + "limits:\n  concurrent_runs: 9\n")
    (problem,) = service.problems
    assert (problem.key, problem.line, problem.severity) == (key, line, "error")
    assert says in problem.message
    assert service.current.limits.concurrent_runs == 9
    assert service.current == replace(defaults(tmp_path), limits=Limits(9))


async def test_a_value_that_does_not_fit_leaves_the_last_good_one_in_force(tmp_path):
    service = await loaded(tmp_path, EDITED)
    service.path.write_text(EDITED.replace("1.25", "huge").replace("dark", "light"))
    await service.reload_if_changed()
    assert (service.current.appearance.text_scale, service.current.appearance.theme) == (1.25, "light")
    again = await loaded(tmp_path)
    assert again.current.appearance.text_scale == 1.25, "after a new start too"


async def test_unknown_keys_are_reported_with_what_was_meant(tmp_path):
    service = await loaded(tmp_path, "apearance:\n  theme: dark\nchat:\n  max_iteration: 3\nzzz: 1\n")
    assert [(p.key, p.line, p.severity) for p in service.problems] == [
        ("apearance", 1, "warning"),
        ("chat.max_iteration", 4, "warning"),
        ("zzz", 5, "warning"),
    ]
    assert "Did you mean chat.max_iterations?" in service.problems[1].message
    assert "Did you mean" not in service.problems[2].message


async def test_a_key_written_twice_is_told_and_not_saved_over(tmp_path):
    service = await loaded(tmp_path, "chat:\n  max_iterations: 3\nchat:\n  max_iterations: 4\n")
    assert service.current.chat.max_iterations == 4
    assert {(p.key, p.line) for p in service.problems} == {("chat", 3), ("chat.max_iterations", 4)}
    with pytest.raises(SettingsError, match="written twice"):
        await service.update("appearance.theme", "dark")


async def test_on_and_off_without_quotes_mean_what_they_say(tmp_path):
    service = await loaded(tmp_path, "appearance:\n  reduce_motion: on\n")
    assert service.current.appearance.reduce_motion == "on"
    for value in ("off", "on", "system"):
        await service.update("appearance.reduce_motion", value)
        assert (await loaded(tmp_path)).current.appearance.reduce_motion == value


async def test_words_that_yaml_would_read_as_something_else_come_back_as_written(tmp_path):
    words = ("1:30", "yes", "null", "~", "0x10", "1e3", "- a", "a: b", "# c", "'", '"', "é 数据")
    service = await loaded(tmp_path)
    await service.update("security.blocklist_extra", list(words))
    assert (await loaded(tmp_path)).current.security.blocklist_extra == words


# Built from pieces, so that no scanner takes them for real.
SECRET = "sk-" + "proj-" + "a1B2" * 8


@pytest.mark.spec("R-SEC-1")
@pytest.mark.parametrize(
    "text",
    [
        f"models:\n  default: {SECRET}\n",
        f"models:\n  connections:\n    - {{id: a, provider: openai, options: {{x: {SECRET}}}}}\n",
        "models:\n  connections:\n    - {id: a, provider: openai, api_key: hunter2hunter2}\n",
        "models:\n  connections:\n    - {id: a, provider: openai, base_url: 'https://me:hunter2hunter2@host/v1'}\n",
        f"something:\n  deep: [[{SECRET}]]\n",
        "openai_api_key: hunter2hunter2\n",
        f"tools:\n  env_allowlist: ['{SECRET}']\n",
    ],
)
async def test_what_looks_like_a_secret_is_refused_with_the_way_to_the_keyring_and_not_repeated(tmp_path, text):
    service = await loaded(tmp_path, text)
    errors = [p for p in service.problems if p.severity == "error"]
    assert len(errors) == 1
    assert "ecret" in errors[0].message
    assert "keyring" in errors[0].next_step
    told = " ".join(f"{p} {p.next_step}" for p in service.problems)
    assert SECRET not in told
    assert "hunter2" not in told
    assert SECRET not in repr(service.current)
    assert "hunter2" not in repr(service.current)
    assert not (tmp_path / "data").exists(), "no copy is kept of a file with a secret"


@pytest.mark.spec("R-SEC-1")
async def test_a_secret_is_not_saved_either(tmp_path):
    service = await loaded(tmp_path)
    for key, value in (("models.default", SECRET), ("models.connections", [Connection("a", "b", SECRET)])):
        with pytest.raises(SettingsError, match="secret") as caught:
            await service.update(key, value)
        assert "keyring" in caught.value.next_step
        assert SECRET not in str(caught.value)
    assert not service.path.exists()


@pytest.mark.spec("R-ENV-9")
async def test_a_variable_that_often_holds_a_secret_is_warned_of(tmp_path):
    service = await loaded(tmp_path, "tools:\n  env_allowlist: [PATH, GITHUB_TOKEN]\n")
    (problem,) = service.problems
    assert (problem.severity, problem.line) == ("warning", 2)
    assert "GITHUB_TOKEN" in problem.message
    assert service.current.tools.env_allowlist == ("PATH", "GITHUB_TOKEN")


async def test_connections_come_back_as_they_were_saved(tmp_path):
    service = await loaded(tmp_path)
    made = (
        Connection("openai", "openai", "OpenAI", secret_name="openai"),
        Connection("lab", "openai-compatible", "Lab server", "http://10.0.0.5:8000/v1", "", {"api_version": "1"}),
    )
    await service.update("models.connections", made)
    assert (await loaded(tmp_path)).current.models.connections == made
    assert service.current.models.connections == made


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("appearance.theme", "pink"),
        ("chat.max_iterations", 0),
        ("appearence.theme", "dark"),
        ("chat", {}),
        ("models.default", "x\x00y"),
        ("models.default", "x" * 5_000),
        ("security.allowed_paths", "/tmp"),
    ],
)
async def test_a_change_that_does_not_fit_changes_nothing(tmp_path, key, value):
    service = await loaded(tmp_path, EDITED)
    with pytest.raises(SettingsError):
        await service.update_many({"chat.send_on_enter": False, key: value})
    assert service.path.read_text() == EDITED
    assert service.current.chat.send_on_enter


async def test_listeners_hear_what_changed_until_they_stop(tmp_path):
    service = await loaded(tmp_path)
    heard: list[tuple[str, frozenset[str]]] = []
    stop = service.subscribe(lambda settings, keys: heard.append((settings.appearance.theme, keys)))
    await service.update("appearance.theme", "dark")
    await service.update("appearance.theme", "dark")
    service.path.write_text("appearance:\n  theme: light\nlimits:\n  concurrent_runs: 2\n")
    await service.reload_if_changed()
    assert not await service.reload_if_changed()
    stop()
    stop()
    await service.reset("appearance.theme")
    assert heard == [
        ("dark", frozenset({"appearance.theme"})),
        ("light", frozenset({"appearance.theme", "limits.concurrent_runs"})),
    ]


@pytest.mark.expects_log("a listener of the settings failed")
async def test_a_listener_that_fails_keeps_nobody_from_hearing(tmp_path):
    service = await loaded(tmp_path)
    heard = []
    service.subscribe(lambda *_: 1 / 0)
    service.subscribe(lambda *_: heard.append(1))
    await service.update("appearance.theme", "dark")
    assert heard == [1]


async def test_a_snapshot_never_changes(tmp_path):
    service = await loaded(tmp_path)
    before = service.current
    await service.update("appearance.theme", "dark")
    assert (before.appearance.theme, service.current.appearance.theme) == ("system", "dark")
    with pytest.raises(AttributeError):
        before.appearance.theme = "light"
    assert before.value("appearance.theme") == "system"


async def test_a_change_from_outside_is_kept_when_something_else_is_saved(tmp_path):
    service = await loaded(tmp_path, EDITED)
    service.path.write_text(EDITED.replace("max_iterations: 7", "max_iterations: 8"))
    await service.update("appearance.theme", "light")
    assert (service.current.chat.max_iterations, service.current.appearance.theme) == (8, "light")


async def test_a_file_that_goes_away_changes_nothing_until_it_is_saved_again(tmp_path):
    service = await loaded(tmp_path, EDITED)
    service.path.unlink()
    assert await service.reload_if_changed()
    assert service.current.chat.max_iterations == 7
    assert service.problems[0].severity == "warning"
    await service.update("appearance.theme", "light")
    assert service.problems == ()


async def test_many_changes_at_once_are_all_saved_in_few_writes(tmp_path):
    service = await loaded(tmp_path)
    inodes = set()
    service.subscribe(lambda *_: inodes.add(service.path.stat().st_ino))
    waiting = [service.update("chat.max_iterations", n) for n in range(1, 51)]
    waiting += [service.update("tools.output_limit_bytes", 1_000 + n) for n in range(50)]
    await asyncio.gather(*waiting)
    assert (service.current.chat.max_iterations, service.current.tools.output_limit_bytes) == (50, 1_049)
    assert len(inodes) <= 3
    assert (await loaded(tmp_path)).current == service.current


TOUCHED = """
import asyncio, sys, threading
from pathlib import Path
from desktop.settings import SettingsService

here, watching, touched = threading.get_ident(), [], []

def hook(event, arguments):
    if watching and event in {"open", "os.rename", "import"} and threading.get_ident() == here:
        touched.append((event, str(arguments[0])))

async def main():
    service = SettingsService(Path(sys.argv[1]))
    await asyncio.to_thread(int)
    sys.addaudithook(hook)
    watching.append(1)
    await service.load()
    await service.update("appearance.theme", "dark")
    await service.reload_if_changed()
    watching.clear()
    assert service.path.exists() and "yaml" in sys.modules
    print(touched)

assert "yaml" not in sys.modules
asyncio.run(main())
"""


@pytest.mark.spec("R-UI-7")
def test_no_file_is_touched_and_nothing_imported_on_the_loops_thread(tmp_path):
    """The interpreter itself reports every file that is opened and every import, and in which thread."""
    (tmp_path / "config.yaml").write_text(EDITED)
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", TOUCHED, str(tmp_path)], cwd=root, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


async def test_a_link_stays_a_link_and_permissions_stay_as_they_were(tmp_path):
    real = tmp_path / "dotfiles" / "assent.yaml"
    real.parent.mkdir()
    real.write_text(EDITED)
    real.chmod(0o640)
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").symlink_to(real)
    service = await loaded(home)
    await service.update("appearance.theme", "light")
    assert (home / "config.yaml").is_symlink()
    assert "light" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    fresh = await loaded(tmp_path / "fresh")
    await fresh.update("appearance.theme", "light")
    assert fresh.path.stat().st_mode & 0o777 == 0o600


RENAMES = {"ui.theme": "appearance.theme", "chat.max_rounds": "chat.max_iterations"}


async def test_a_key_of_an_older_version_is_read_and_gets_its_new_name_when_saved(tmp_path):
    old = "ui:\n  theme: dark\nchat:\n  max_rounds: 5  # enough\n"
    service = await loaded(tmp_path, old, renames=RENAMES)
    assert (service.current.appearance.theme, service.current.chat.max_iterations) == ("dark", 5)
    assert [p.severity for p in service.problems] == ["warning", "warning"]
    assert service.path.read_text() == old
    await service.update("limits.concurrent_runs", 2)
    assert service.problems == ()
    text = service.path.read_text()
    assert "max_rounds" not in text
    assert "ui:" not in text
    again = await loaded(tmp_path)
    assert (again.current.appearance.theme, again.current.chat.max_iterations) == ("dark", 5)


async def test_the_new_name_wins_over_the_old(tmp_path):
    text = "ui:\n  theme: dark\nappearance:\n  theme: light\n"
    service = await loaded(tmp_path, text, renames=RENAMES)
    assert service.current.appearance.theme == "light"
    await service.update("limits.concurrent_runs", 2)
    assert service.path.read_text() == "appearance:\n  theme: light\nlimits:\n  concurrent_runs: 2\n"


@contextlib.contextmanager
def nobody():
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_home_that_cannot_be_written_is_told_in_words(short_tmp):
    os.chmod(short_tmp, 0o755)
    service = await loaded(short_tmp, EDITED)
    os.chmod(short_tmp, 0o555)
    try:
        with nobody(), pytest.raises(HomeNotWritable, match=r"config\.yaml") as caught:
            await service.update("appearance.theme", "light")
    finally:
        os.chmod(short_tmp, 0o755)
    assert caught.value.next_step
    assert service.current.appearance.theme == "dark"


async def test_a_full_disk_keeps_the_old_file(tmp_path):
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        service = await loaded(disk, EDITED)
        with contextlib.suppress(OSError), (disk / "ballast").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        with pytest.raises(StoreFull, match="disk is full"):
            await service.update("appearance.theme", "light")
        assert service.path.read_text() == EDITED
        (disk / "ballast").unlink()
        await service.update("appearance.theme", "light")
        assert (await loaded(disk)).current.appearance.theme == "light"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize(
    ("what", "said"), [("a pipe", "is no file"), ("an endless device", "is no file"), ("far too long", "larger than")]
)
async def test_what_is_no_ordinary_file_does_not_keep_the_start_waiting(tmp_path: Path, what: str, said: str) -> None:
    path = tmp_path / "config.yaml"
    if what == "a pipe":
        os.mkfifo(path)
    elif what == "an endless device":
        path.symlink_to("/dev/zero")
    else:
        path.write_text("# long\n" * 1_000_000)
    async with asyncio.timeout(WAIT_S):
        service = SettingsService(tmp_path)
        await service.load()
    assert said in service.problems[0].message
    assert service.current == defaults(tmp_path)
