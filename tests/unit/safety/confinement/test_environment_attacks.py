"""Code smuggled in by variables and by the files that programs read by themselves: as data, and run for real."""

import os
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from desktop.domain.errors import ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.environment import AllowlistEnvironment, needs_admin
from desktop.safety.confinement.environment_names import usable_path
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from tests.unit.safety import escapes
from tests.unit.safety.world import World

# name and value as an attacker would set them; {w} is the workspace, where {w}/evil.sh, .py, .so and .js lie
HOSTILE = {
    "BASH_ENV": "{w}/evil.sh",
    "ENV": "{w}/evil.sh",
    "PROMPT_COMMAND": ". {w}/evil.sh",
    "SHELLOPTS": "xtrace",
    "BASHOPTS": "extdebug",
    "PS4": "$(. {w}/evil.sh)",
    "IFS": "/",
    "CDPATH": "{w}",
    "GLOBIGNORE": "*",
    "BASH_LOADABLES_PATH": "{w}",
    "BASH_XTRACEFD": "1",
    "INPUTRC": "{w}/.inputrc",
    "ZDOTDIR": "{w}",
    "HOME": "{w}",
    "XDG_CONFIG_HOME": "{w}",
    "SHELL": "{w}/evil.sh",
    "PATH": "{w}",
    "LD_PRELOAD": "{w}/evil.so",
    "LD_LIBRARY_PATH": "{w}",
    "LD_AUDIT": "{w}/evil.so",
    "LD_DEBUG_OUTPUT": "{w}/log",
    "LD_PROFILE": "libc.so.6",
    "DYLD_INSERT_LIBRARIES": "{w}/evil.so",
    "DYLD_LIBRARY_PATH": "{w}",
    "GCONV_PATH": "{w}",
    "LOCPATH": "{w}",
    "NLSPATH": "{w}/%N",
    "TERMINFO": "{w}",
    "TERMINFO_DIRS": "{w}",
    "GLIBC_TUNABLES": "glibc.malloc.check=3",
    "OPENSSL_CONF": "{w}/openssl.cnf",
    "OPENSSL_MODULES": "{w}",
    "HOSTALIASES": "{w}/hosts",
    "PYTHONPATH": "{w}",
    "PYTHONSTARTUP": "{w}/evil.py",
    "PYTHONHOME": "{w}",
    "PYTHONINSPECT": "1",
    "PYTHONBREAKPOINT": "evil.run",
    "PYTHONWARNINGS": "all:0:evil.x:0:0",
    "PYTHONUSERBASE": "{w}",
    "NODE_OPTIONS": "--require {w}/evil.js",
    "NODE_PATH": "{w}",
    "PERL5OPT": "-M-strict -I{w} -Mevil",
    "PERL5LIB": "{w}",
    "PERL5DB": "BEGIN {{ do '{w}/evil.pl' }}",
    "RUBYOPT": "-r{w}/evil",
    "RUBYLIB": "{w}",
    "LUA_INIT": "@{w}/evil.lua",
    "JAVA_TOOL_OPTIONS": "-javaagent:{w}/evil.jar",
    "_JAVA_OPTIONS": "-XX:x",
    "DOTNET_STARTUP_HOOKS": "{w}/evil.dll",
    "MAKEFLAGS": "--eval=x:;evil",
    "GOFLAGS": "-toolexec={w}/evil.sh",
    "RUSTC_WRAPPER": "{w}/evil.sh",
    "npm_config_script_shell": "{w}/evil.sh",
    "GIT_SSH_COMMAND": "{w}/evil.sh",
    "GIT_SSH": "{w}/evil.sh",
    "GIT_EXTERNAL_DIFF": "{w}/evil.sh",
    "GIT_EDITOR": "{w}/evil.sh",
    "GIT_PAGER": "{w}/evil.sh",
    "GIT_ASKPASS": "{w}/evil.sh",
    "GIT_EXEC_PATH": "{w}",
    "GIT_TEMPLATE_DIR": "{w}",
    "GIT_DIR": "{w}/evil.git",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "{w}/evil.sh",
    "GIT_CONFIG_GLOBAL": "{w}/.gitconfig",
    "GIT_CONFIG_PARAMETERS": "'core.pager'='{w}/evil.sh'",
    "GIT_PROXY_COMMAND": "{w}/evil.sh",
    "PAGER": "{w}/evil.sh",
    "MANPAGER": "{w}/evil.sh",
    "EDITOR": "{w}/evil.sh",
    "VISUAL": "{w}/evil.sh",
    "BROWSER": "{w}/evil.sh",
    "LESSOPEN": "|{w}/evil.sh %s",
    "LESSCLOSE": "{w}/evil.sh",
    "SSH_ASKPASS": "{w}/evil.sh",
    "SUDO_ASKPASS": "{w}/evil.sh",
    "TAR_OPTIONS": "--checkpoint-action=exec={w}/evil.sh",
    "RSYNC_RSH": "{w}/evil.sh",
    "VIMINIT": "source {w}/evil.vim",
    "BASH_FUNC_ls%%": "() {{ . {w}/evil.sh; }}",
    "BASH_FUNC_echo()": "() {{ . {w}/evil.sh; }}",
    "ls": "() {{ :; }}; . {w}/evil.sh",
}
# services of the desktop and of other programs: nothing harmful in the words, but doors
DOORS = (
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
    "AT_SPI_BUS_ADDRESS",
    "PULSE_SERVER",
    "DOCKER_HOST",
    "SESSION_MANAGER",
    "KRB5CCNAME",
    "VAULT_TOKEN",
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AGENT_HOME",
    "QT_PLUGIN_PATH",
    "VIRTUAL_ENV",
)
USUAL = {"PATH", "HOME", "SHELL"}  # inherited as the person has them, never set by a tool


def host(name: str, value: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": "/home/ann", "LANG": "C.UTF-8", name: value}


@pytest.mark.spec("R-ENV-1", "R-ENV-6")
@pytest.mark.parametrize("name", [name for name in (*HOSTILE, *DOORS) if name not in USUAL])
async def test_nothing_of_the_apps_own_environment_that_was_not_asked_for_gets_in(world: World, name: str) -> None:
    value = HOSTILE.get(name, "unix:path=/run/user/1000/bus").format(w=world.workspace)
    made = AllowlistEnvironment(lambda: world.settings, host=lambda: host(name, value))
    passed = name in await made.build({})
    escapes.tried("environment: inherited", passed)
    assert not passed


@pytest.mark.spec("R-ENV-7")
@pytest.mark.parametrize("name", HOSTILE)
async def test_no_tool_but_an_admin_one_sets_what_runs_other_code(world: World, name: str) -> None:
    made = AllowlistEnvironment(lambda: world.settings, host=lambda: {"PATH": "/usr/bin:/bin"})
    passed = False
    try:
        passed = name in await made.build({name: HOSTILE[name].format(w=world.workspace)})
    except ToolFailure:
        pass
    passed = passed and name != "ls"  # a name like any other: what it holds is no function to anybody
    escapes.tried("environment: declared", passed)
    assert not passed


@pytest.mark.parametrize("name", ["KUBECONFIG", "LANG", "TZ", "PYTHONUNBUFFERED", "NO_COLOR", "GIT_AUTHOR_NAME", "X_Y"])
def test_ordinary_variables_stay_everybodys(name: str) -> None:
    assert not needs_admin(name)


@pytest.mark.spec("R-ENV-1")
@pytest.mark.parametrize(
    ("value", "usable"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (".:/usr/bin", "/usr/bin"),
        (":/usr/bin:", "/usr/bin"),
        ("bin:/usr/bin:./x:../y", "/usr/bin"),
        ("", ""),
    ],
)
def test_a_path_that_depends_on_the_folder_is_left_out(value: str, usable: str) -> None:
    escapes.tried("environment: PATH", usable_path(value) != usable)
    assert usable_path(value) == usable


def test_a_path_of_windows_keeps_its_drives() -> None:
    assert usable_path(r"C:\Windows;.;\\srv\x;bin;d:\y", ";") == r"C:\Windows;\\srv\x;d:\y"


EVIL_SH = "#!/bin/sh\necho planted > '{w}/PLANTED'\n"
EVIL_PY = "open({w!r} + '/PLANTED', 'w').write('planted')\n"
# what programs read of themselves in the folder where they start, or look for by their name
PLANTED = {
    ".bashrc": EVIL_SH,
    ".bash_profile": EVIL_SH,
    ".profile": EVIL_SH,
    ".bash_login": EVIL_SH,
    ".bash_logout": EVIL_SH,
    ".inputrc": "$include evil\n",
    ".gitconfig": "[core]\n\tpager = {w}/evil.sh\n\tfsmonitor = {w}/evil.sh\n",
    ".pythonrc.py": EVIL_PY,
    "sitecustomize.py": EVIL_PY,
    "usercustomize.py": EVIL_PY,
    "os.py": EVIL_PY,
    "encodings/__init__.py": EVIL_PY,
    "python311.zip": "no zip",
    "pyvenv.cfg": "home = {w}\n",
    "ls": EVIL_SH,
    "git": EVIL_SH,
    "cat": EVIL_SH,
    "python3": EVIL_SH,
    ".env": "BASH_ENV={w}/evil.sh\n",
    ".envrc": EVIL_SH,
    ".curlrc": "output = {w}/PLANTED\nurl = file:///etc/hostname\n",
    ".lessfilter": EVIL_SH,
    "ld.so.preload": "{w}/evil.so\n",
    ".vimrc": "!{w}/evil.sh\n",
    "BASH_ENV": EVIL_SH,
    "evil.sh": EVIL_SH,
}
KINDS: list[Kind] = ["bubblewrap", "landlock", "none"]


@pytest.mark.spec("R-ENV-1", "R-BLT-7")
@pytest.mark.parametrize("kind", KINDS)
async def test_no_file_of_the_workspace_is_run_or_read_by_itself(world: World, kind: Kind) -> None:
    """Also with a host whose PATH begins in the folder and whose variables name those files."""
    for name, text in PLANTED.items():
        path = Path(world.workspace, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(w=str(world.workspace)))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    hostile = {name: value.format(w=world.workspace) for name, value in HOSTILE.items() if name not in USUAL}
    hostile |= {"PATH": f".::{os.environ['PATH']}", "HOME": str(world.person)}
    built = await AllowlistEnvironment(lambda: world.settings, host=lambda: hostile).build({})
    commands = {
        "note": ("bash", "--noprofile", "--norc", "-c", "ls >/dev/null; git --version; cat note.txt; type ls"),
        "works": (sys.executable, "-I", "-c", "import os, site; print('works')"),
    }
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as confinement:
        if confinement.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        for says, argv in commands.items():
            spec = ProcessSpec(argv, str(world.workspace), built)
            outcome = await GroupRunner().run(confinement.wrap(spec), CancellationToken())
            assert says in outcome.output
    passed = (world.workspace / "PLANTED").exists()
    for _ in PLANTED:
        escapes.tried("environment: files of the workspace", passed)
    assert not passed


async def test_the_same_files_run_in_an_environment_that_is_merely_inherited(world: World) -> None:
    """So that the test above can fail."""
    for name in ("evil.sh", "ls"):
        path = world.workspace / name
        path.write_text(EVIL_SH.format(w=world.workspace))
        path.chmod(0o755)
    for name, value in (
        ("BASH_ENV", f"{world.workspace}/evil.sh"),
        ("PATH", f".:{os.environ['PATH']}"),
        ("BASH_FUNC_ls%%", f"() {{ . {world.workspace}/evil.sh; }}"),
    ):
        env = {"PATH": os.environ["PATH"], name: value}
        spec = ProcessSpec(("bash", "--norc", "-c", "ls >/dev/null"), str(world.workspace), env)
        await GroupRunner().run(spec, CancellationToken())
        assert (world.workspace / "PLANTED").exists(), name
        (world.workspace / "PLANTED").unlink()


@pytest.mark.skipif(sys.platform != "linux", reason="the loader's variables are Linux's")
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_a_variable_of_the_loader_acts_on_the_program_and_on_nothing_that_confines_it(
    world: World, kind: Kind
) -> None:
    """A person may declare LD_PRELOAD and its like for a server or an agent: what they name is loaded inside."""
    outside, inside = world.person / "out", world.workspace / "in"
    outside.mkdir()
    inside.mkdir()
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as confinement:
        if confinement.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        for place in (outside, inside):
            declared = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": f"{place}/log", "PS4": 'it\'s "$(here)" '}
            built = await AllowlistEnvironment(lambda: world.settings).build(declared, admin=True)
            argv = (sys.executable, "-I", "-c", "import os; print(sorted(os.environ.items()))")
            outcome = await GroupRunner().run(
                confinement.wrap(ProcessSpec(argv, str(world.workspace), built)), CancellationToken()
            )
            assert all(repr(pair) in outcome.output for pair in declared.items())
            assert "ASSENT_INSIDE" not in outcome.output
    passed = any(outside.iterdir())
    escapes.tried("environment: the loader", passed)
    assert not passed
    assert any(inside.iterdir()), "the program itself was started with them"


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 80
    assert len(PLANTED) >= 25
