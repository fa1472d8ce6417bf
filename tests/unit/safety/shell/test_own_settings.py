"""Settings of a program's own that send it elsewhere than a rule's host: which are seen, and that the real programs
obey them (D-4, R-PRM-11)."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from desktop.domain.approval.network_use import network_of
from tests.harness.timeouts import WAIT_S
from tests.unit.safety.shell.command_patterns import Patterns
from tests.unit.safety.world import World

ALL = {"rule", "list", "job"}
CURL, GIT, SCP = (
    ("curl https://a.b/*", "curl https://a.b/x"),
    ("git fetch a.b:*", "git fetch a.b:x"),
    ("scp f a.b:*", "scp f a.b:x"),
)
WGET = ("wget --max-redirect=0 https://a.b/*", "wget --max-redirect=0 https://a.b/x")
DIG, HTTP, RSYNC, LFTP = (
    ("dig a.b*", "dig a.b"),
    ("http a.b/*", "http a.b/x"),
    ("rsync f a.b:*", "rsync f a.b:x"),
    ("lftp a.b*", "lftp a.b"),
)
ELSEWHERE: tuple[tuple[tuple[str, str], str, str], ...] = (
    (CURL, "~/.curlrc", "proxy = evil:80\n"),
    (CURL, "~/.curlrc", "silent\n\n  connect-to ::evil:443\n"),
    (CURL, "~/.config/curlrc", "url = evil"),
    (CURL, "~/.curlrc", "location"),
    (CURL, "~/_curlrc", "-x evil"),
    (CURL, "~/.config/.curlrc", "silent\rproxy=evil"),
    (CURL, "~/.curlrc", "s" * 2_000_000),
    (WGET, "~/.wgetrc", "https_proxy = evil\n"),
    (WGET, "/etc/wgetrc", "# x\nuse_proxy = on\n"),
    (WGET, "~/.wgetrc", "max_redirect = 20\n"),
    (WGET, "/etc/wgetrc", "base = http://evil/\n"),
    (SCP, "~/.ssh/config", "Host a.b\n  HostName evil\n"),
    (SCP, "~/.ssh/config", "ProxyCommand nc evil 22"),
    (SCP, "~/.ssh/config", "\tproxyjump=evil"),
    (SCP, "/etc/ssh/ssh_config", 'Host *\n "ProxyJump" evil\n'),
    (SCP, "~/.ssh/config", "Match exec 'touch x'\n User u\n"),
    (SCP, "~/.ssh/config", "Nonsense yes\n"),
    (GIT, "~/.ssh/config", "HostName evil\n"),
    (RSYNC, "~/.ssh/config", "HostName evil\n"),
    (RSYNC, "~/.popt", "rsync alias -a -e evil\n"),
    (GIT, "~/.gitconfig", '[url "evil:"]\n insteadOf = a.b:\n'),
    (GIT, "~/.gitconfig", '[url "evil:"] insteadOf = a.b:'),
    (GIT, "~/.gitconfig", '[user] [url "evil:"]insteadof=a.b:'),
    (GIT, "~/.config/git/config", '[URL "evil:"]\n PUSHINSTEADOF = a.b:\n'),
    (GIT, "/etc/gitconfig", "[core]\n sshCommand = ssh evil\n"),
    (GIT, ".git/config", '[remote "a.b:x"]\nurl = evil:y\n'),
    (GIT, ".git/config", "[core]\n\tgitProxy = evil\n"),
    (GIT, ".git/remotes/a.b:x", "URL: evil:y\n"),
    (GIT, ".git/config", '[user]\n name = x \\\n[url "evil:"]\n insteadOf = a.b:\n'),
    (GIT, ".git/config", "[alias]\n a = b ; c \\\n[core]\n sshCommand = evil\n"),
    (GIT, ".git/config", '[submodule "s"]\n url = https://evil/x\n'),
    (GIT, ".git/config", "[what]\n ever = 1\n"),
    (GIT, ".git/config", '[remote "o"]\n promisor = true\n'),
    (GIT, ".git/config", "nonsense {\n"),
    (DIG, "~/.digrc", "@evil\n"),
    (HTTP, "~/.config/httpie/config.json", '{"default_options": ["--follow"]}'),
    (LFTP, "~/.lftprc", "set http:proxy evil\n"),
    (LFTP, "/etc/lftp.conf", "open evil\n"),
)
HARMLESS: tuple[tuple[tuple[str, str], str, str], ...] = (
    (CURL, "~/.curlrc", '# mine\nsilent\n--show-error\nuser-agent = "x y"\nmax-time 5\n'),
    (CURL, "~/.curlrc", ""),
    (WGET, "/etc/wgetrc", "# x = y\n\npassive_ftp = on\n"),
    (WGET, "~/.wgetrc", "tries=3\nconnect_timeout = 5\n"),
    (SCP, "/etc/ssh/ssh_config", "Include /nowhere/*.conf\nHost *\n    SendEnv LANG LC_*\n HashKnownHosts yes\n"),
    (SCP, "~/.ssh/config", "Host *\n IdentityFile ~/.ssh/k\n User me\nMatch host x\n Port 22\n"),
    (
        GIT,
        "~/.gitconfig",
        '[user]\n\tname = x ; y\n[credential "https://x"]\n helper = y\n[alias]\n a = "!f() { \\\n'
        '   x; \\\n }; f"\n[http]\n postBuffer = 5\n[core] editor = vim\n',
    ),
    (
        GIT,
        ".git/config",
        '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://evil/x\n\tfetch = +refs/*\n'
        '[branch "main"]\n remote = origin\n',
    ),
    (DIG, "~/.digrc", "+short +time=2\n"),
    (HTTP, "~/.config/httpie/config.json", '{"default_options": []}'),
    (RSYNC, "/etc/popt", "rpm alias --x --y\n"),
)


def lay(world: World, place: str, text: str) -> None:
    path = {"~": world.person, "/etc": world.root / "etc"}.get(place.rsplit("/", 99)[0] or "/etc", world.workspace)
    path = path / (place.removeprefix("~/") if place[0] == "~" else place.removeprefix("/etc/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")


def covering(world: World, rule: str, command: str) -> set[str]:
    return Patterns(world, [rule]).covering(world.reader.read_now(command), command)


@pytest.mark.spec("R-PRM-11", "R-CRON-3", "R-PAT-8")
@pytest.mark.parametrize(("pair", "place", "text"), ELSEWHERE)
def test_no_rule_that_names_a_host_stands_for_what_settings_send_elsewhere(
    world: World, pair: tuple[str, str], place: str, text: str
) -> None:
    rule, command = pair
    assert covering(world, rule, command) == ALL
    lay(world, place, text)
    assert covering(world, rule, command) == set()
    assert covering(world, command, command) == set()
    program = command.split()[0]
    assert covering(world, f"{program} *", command) == ALL  # a rule that names none stands for any


@pytest.mark.parametrize(("pair", "place", "text"), ELSEWHERE[:1] + ELSEWHERE[7:12] + ELSEWHERE[20:25])
def test_the_request_says_which_file_and_what_in_it(world: World, pair: tuple[str, str], place: str, text: str) -> None:
    lay(world, place, text)
    sentence = network_of("as asked", world.reader.read_now(pair[1]), "bubblewrap").sentence
    assert f"reads {place}" in sentence.replace(str(world.root), "").replace(str(world.workspace), "")
    assert "can send it to other computers" in sentence
    assert "others that are not in its text" in sentence


@pytest.mark.parametrize(("pair", "place", "text"), HARMLESS)
def test_settings_that_lead_nowhere_change_nothing(world: World, pair: tuple[str, str], place: str, text: str) -> None:
    lay(world, place, text)
    assert covering(world, *pair) == ALL


@pytest.mark.parametrize(
    ("place", "text", "rule", "command"),
    [
        ("~/.curlrc", "proxy=evil", "curl -q https://a.b/*", "curl -q https://a.b/x"),
        ("~/.curlrc", "proxy=evil", "curl --disable https://a.b/*", "curl --disable https://a.b/x"),
        (
            "~/.wgetrc",
            "base = x",
            "wget --no-config --max-redirect=0 https://a.b/*",
            "wget --no-config --max-redirect=0 https://a.b/x",
        ),
        ("~/.ssh/config", "HostName evil", "scp -F none f a.b:*", "scp -F none f a.b:x"),
        ("~/.ssh/config", "HostName evil", "scp -F /dev/null f a.b:*", "scp -F /dev/null f a.b:x"),
        ("~/.digrc", "@evil", "dig -r a.b*", "dig -r a.b"),
    ],
)
def test_a_program_that_was_told_not_to_read_them_is_covered(
    world: World, place: str, text: str, rule: str, command: str
) -> None:
    lay(world, place, text)
    assert covering(world, rule, command) == ALL


@pytest.mark.parametrize(
    ("place", "text", "command"),
    [
        ("~/.curlrc", "proxy=evil", "curl https://a.b/x -q"),
        ("~/.curlrc", "proxy=evil", "curl -s -q https://a.b/x"),
        ("~/.wgetrc", "base = x", "wget -O --no-config --max-redirect=0 https://a.b/x"),
        ("~/.ssh/config", "HostName evil", "scp f a.b:x -F none"),
        ("~/.digrc", "@evil", "dig a.b -r"),
    ],
)
def test_where_that_option_does_not_count_it_is_not(world: World, place: str, text: str, command: str) -> None:
    lay(world, place, text)
    assert world.reader.read_now(command).astray


def test_files_that_settings_take_in_are_read_too(world: World) -> None:
    lay(world, "~/.gitconfig", "[include]\n path = more\n")
    lay(world, "~/.ssh/config", "Include conf.d/*\n")
    assert covering(world, *GIT) == covering(world, *SCP) == ALL
    lay(world, "~/more", '[includeIf "gitdir:/"]\n path = ~/even-more\n')
    lay(world, "~/even-more", '[url "evil:"]\n insteadOf = a.b:\n')
    lay(world, "~/.ssh/conf.d/x", "Include deeper\n")
    lay(world, "~/.ssh/deeper", "HostName evil\n")
    assert covering(world, *GIT) == covering(world, *SCP) == set()


def test_of_more_files_than_are_read_one_may_lead_elsewhere(world: World) -> None:
    lay(world, "~/.ssh/config", "Include conf.d/*\n")
    for number in range(80):
        lay(world, f"~/.ssh/conf.d/{number:03}", "HostName evil\n" if number == 79 else "User me\n")
    assert covering(world, *SCP) == set()


def test_a_repository_far_away_and_one_that_is_named_are_read(world: World) -> None:
    elsewhere = world.workspace / "sub" / "deep"
    elsewhere.mkdir(parents=True)
    lay(world, "sub/.git/config", '[url "evil:"]\n insteadOf = a.b:\n')
    lay(world, "linked/.git", "gitdir: ../sub/.git/worktrees/w\n")
    lay(world, "sub/.git/worktrees/w/commondir", "../..\n")
    lay(world, "sub/.git/worktrees/w/HEAD", "x\n")
    for command in (
        "cd sub/deep && git fetch a.b:x",
        "git -C sub/deep fetch a.b:x",
        "cd linked; git fetch a.b:x",
        "git --git-dir=sub/.git fetch a.b:x",
    ):
        assert world.reader.read_now(command).astray, command
    assert not world.reader.read_now("git fetch a.b:x").astray


def test_variables_that_name_settings_count(world: World) -> None:
    lay(world, "~/elsewhere/.curlrc", "proxy=evil")
    lay(world, "~/wgetrc", "http_proxy=evil")
    assert covering(world, *CURL) == covering(world, *WGET) == covering(world, *GIT) == ALL
    world.let_find(
        {
            "CURL_HOME": str(world.person / "elsewhere"),
            "WGETRC": str(world.person / "wgetrc"),
            "GIT_SSH_COMMAND": "ssh evil",
        }
    )
    assert covering(world, *CURL) == covering(world, *WGET) == covering(world, *GIT) == set()


def test_a_file_that_never_ends_does_not_hold_the_reader(world: World) -> None:
    os.mkfifo(world.person / ".curlrc")
    (world.person / ".wgetrc").symlink_to("/dev/zero")
    (world.person / ".digrc").symlink_to("/dev/null")
    assert covering(world, *CURL) == covering(world, *WGET) == set()
    assert covering(world, *DIG) == ALL


def test_a_redirect_that_git_would_follow_is_said_unless_it_is_switched_off(world: World) -> None:
    pair = ("git fetch https://a.b/*", "git fetch https://a.b/x")
    assert covering(world, *pair) == set()
    lay(world, "~/.gitconfig", "[http]\n followRedirects = false\n")
    assert covering(world, *pair) == ALL
    lay(world, ".git/config", '[http "https://a.b"]\n followRedirects\n')
    assert covering(world, *pair) == set()


# -- the real programs --


class _Site(BaseHTTPRequestHandler):
    """Answers everything, and sends /moved on to ``other``."""

    asked: list[str]
    other = ""

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(302 if self.other else 200)
        if self.other:
            self.send_header("Location", self.other)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def _serve(other: str = "") -> tuple[ThreadingHTTPServer, list[str]]:
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Site", (_Site,), {"asked": asked, "other": other}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, asked


@pytest.fixture
def site() -> Iterator[tuple[ThreadingHTTPServer, list[str]]]:
    server, asked = _serve()
    yield server, asked
    server.shutdown()
    server.server_close()


def run(world: World, *argv: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(world.person), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        argv,
        cwd=world.workspace,
        env=environment,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
def test_curl_goes_where_its_settings_say_and_not_when_told_not_to_read_them(
    world: World, site: tuple[ThreadingHTTPServer, list[str]]
) -> None:
    server, asked = site
    lay(world, "~/.curlrc", f'connect-to = "::127.0.0.1:{server.server_port}"\n')
    assert world.reader.read_now("curl http://a.invalid/one").astray
    assert run(world, "curl", "http://a.invalid/one").returncode == 0
    assert run(world, "curl", "-q", "http://a.invalid/two").returncode != 0
    assert run(world, "curl", "http://a.invalid/three", "-q").returncode == 0
    assert asked == ["/one", "/three"]


@pytest.mark.skipif(shutil.which("wget") is None, reason="no wget here")
def test_wget_goes_where_its_settings_and_a_server_send_it(
    world: World, site: tuple[ThreadingHTTPServer, list[str]]
) -> None:
    server, asked = site
    here = f"http://127.0.0.1:{server.server_port}"
    moving, first = _serve(f"{here}/moved")
    there = f"http://127.0.0.1:{moving.server_port}/x"
    run(world, "wget", "-t1", "-O", "/dev/null", there)
    assert (first, asked) == (["/x"], ["/moved"])
    run(world, "wget", "-t1", "-O", "/dev/null", "--max-redirect=0", there)
    assert asked == ["/moved"]
    moving.shutdown()
    moving.server_close()
    lay(world, "~/.wgetrc", f"http_proxy = {here}\n")
    assert run(world, "wget", "-t1", "-O", "/dev/null", "http://a.invalid/one").returncode == 0
    assert run(world, "wget", "--no-config", "-t1", "-O", "/dev/null", "http://a.invalid/two").returncode != 0
    assert asked[1:] == ["http://a.invalid/one"]


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh here")
@pytest.mark.parametrize("text", [text for pair, place, text in (*ELSEWHERE, *HARMLESS) if place == "~/.ssh/config"])
def test_ssh_changes_its_way_for_no_setting_that_is_called_harmless(world: World, text: str) -> None:
    (world.person / "config").write_text(text)
    said = run(world, "ssh", "-G", "-F", str(world.person / "config"), "a.b").stdout.splitlines()
    ways = ("hostname ", "proxycommand", "proxyjump", "localcommand", "controlpath")
    way = [line for line in said if line.startswith(ways)]
    lay(world, "~/.ssh/config", text)
    assert not said or way == ["hostname a.b"] or world.reader.read_now("scp f a.b:x").astray


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
@pytest.mark.parametrize(
    "text",
    [
        '[url "{0}"]\n insteadOf = a.b:x\n',
        '[url "{0}"] insteadOf = a.b:x',
        '[user] [url "{0}"]insteadof=a.b:x',
        '[remote "a.b:x"]\n url = {0}\n',
        '[core] editor = x\n[URL "{0}"]\nINSTEADOF = "a.b:x" # y\n',
        '[user] name = x \\\n[url]\n[url "{0}"]\n insteadOf = a.b:x\n',
        "[include]\n path = ../more\n",
        '[includeIf "gitdir:/"]\n path = ~/more\n',
    ],
)
def test_git_goes_where_its_settings_say_and_the_reader_sees_each(world: World, text: str) -> None:
    other = world.outside / "repo"
    run(world, "git", "init", "-q", str(other))
    person = ("-c", "user.name=a", "-c", "user.email=b")
    run(world, "git", "-C", str(other), *person, "commit", "-q", "--allow-empty", "-mx")
    run(world, "git", "init", "-q", str(world.workspace))
    assert not world.reader.read_now("git ls-remote a.b:x").astray
    config = world.workspace / ".git" / "config"
    more = f'[url "{other}"]\n insteadOf = a.b:x\n'
    (world.person / "more").write_text(more)
    (world.workspace / "more").write_text(more)
    config.write_text("[core]\n repositoryformatversion = 0\n" + text.replace("{0}", str(other)))
    assert "HEAD" in run(world, "git", "ls-remote", "a.b:x").stdout
    assert world.reader.read_now("git ls-remote a.b:x").astray
