"""The list of what this version may do is worked out from the code, and the one that packages carry is that one."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from rights.code import found_in, part_of
from rights.manifest import FILE, ROOT, Unexplained, explained, made, processes
from rights.words import PARTS, PROCESSES

from desktop.domain.updates.rights import Manifest, differences, read_manifest, written
from tests.architecture import rules

pytestmark = pytest.mark.spec("R-UPD-3")


def test_the_list_that_packages_carry_is_what_the_code_does() -> None:
    files = rules.sources(ROOT, "desktop", "skills")
    now = made((file.name, file.tree) for file in files)
    assert FILE.read_text("utf-8") == written(now), "run `python3 packaging/dev.py rights`, and look at what it says"
    assert len([one for one in now.rights if one.startswith("process:")]) == len(PROCESSES)


def _done(place: str, code: str) -> tuple[dict[tuple[str, str], set[str]], set[str]]:
    """What a file does, beside all that has words."""
    found, unknown = found_in([(place, ast.parse(code))])
    return {**{key: {"x"} for key in PARTS}, **found}, unknown


@pytest.mark.parametrize(
    ("place", "code", "said"),
    [
        ("desktop/domain/x.py", "import socket\nsocket.socket(socket.AF_INET)\n", "reaches domain/x"),
        ("desktop/domain/x.py", "import socket as s\ndef f(kind): s.create_connection(kind)\n", "reaches domain/x"),
        ("desktop/domain/x.py", "from urllib.request import urlopen\n", "reaches domain/x"),
        ("desktop/domain/x.py", "from urllib import request\n", "reaches domain/x"),
        ("desktop/store/x.py", "import importlib\nimportlib.import_module('httpx')\n", "reaches store/x"),
        ("desktop/store/x.py", "x = lazy_module('tuf.ngclient')\n", "reaches store/x"),
        ("desktop/store/x.py", "def f():\n  import subprocess\n  subprocess.run(['x'])\n", "starts store/x"),
        ("desktop/store/x.py", "from subprocess import Popen\nPopen('x')\n", "starts store/x"),
        ("desktop/store/x.py", "from desktop.systems import processes\nprocesses.start('x')\n", "starts store/x"),
        ("desktop/store/x.py", "import multiprocessing\n", "starts store/x"),
        ("desktop/ui/frog/x.py", "import os\nos.execv('x', [])\n", "starts ui/frog"),
        ("desktop/ui/frog/x.py", "import asyncio\nasyncio.start_server(1, 2)\n", "listens ui/frog"),
        ("desktop/ui/frog/x.py", "QDesktopServices.openUrl(1)\n", "opens ui/frog"),
        ("desktop/domain/x.py", "import keyring\n", "keys domain/x"),
        ("desktop/domain/x.py", "import ctypes.util\n", "system domain/x"),
        ("desktop/domain/x.py", "A = f'https://tracker.net/{1}'\n", "knows domain/x"),
        ("skills/x.skill.py", "import requests\n", "reaches skills/x.skill"),
    ],
)
def test_what_the_code_newly_does_has_to_be_explained(place: str, code: str, said: str) -> None:
    with pytest.raises(Unexplained) as caught:
        explained(*_done(place, code), set(PROCESSES))
    assert str(caught.value) == f"{said}: has no words in packaging/rights/words.py"


def test_a_library_that_nobody_looked_at_stops_the_build() -> None:
    with pytest.raises(Unexplained, match="strange: a library that stands in no table"):
        explained(*_done("desktop/domain/x.py", "import strange.thing\n"), set(PROCESSES))


def test_a_new_helper_process_has_to_be_explained() -> None:
    with pytest.raises(Unexplained, match="workers/new_host: has no words in PROCESSES"):
        explained(*_done("desktop/domain/x.py", ""), {*PROCESSES, "new_host"})


def test_words_for_what_is_not_done_are_found() -> None:
    found, unknown = _done("desktop/domain/x.py", "")
    del found["starts", "services/local_servers"]
    with pytest.raises(Unexplained, match="starts services/local_servers: has words, but the code does no such thing"):
        explained(found, unknown, set(PROCESSES))


def test_a_wall_that_is_taken_away_is_a_right_more() -> None:
    place = "desktop/workers/web_host/host.py"
    text = (ROOT / place).read_text("utf-8")
    facts = []
    for code in (text, text.replace("shut_in_with_network", "let_out").replace("harden", "soften")):
        (right,) = processes(found_in([(place, ast.parse(code))])[0], ["web_host"])
        facts.append(set(right.facts))
    assert facts[1] - facts[0] == {"reaches files", "can be looked into by your other programs"}


def test_a_skill_that_lays_down_its_list_may_more() -> None:
    """Without one it may call whatever its caller may."""
    known = read_manifest(FILE.read_bytes()).rights
    lists = {
        path: yaml.safe_load(path.read_text("utf-8").split("---", 2)[1]) for path in ROOT.glob("skills/**/*.skill.md")
    }
    without = [head["name"] for head in lists.values() if "allowed-tools" not in head]
    assert without
    for name in without:
        right = known[f"skill:{name}"]
        assert (right.category, right.facts) == ("admin", ("whatever its caller may call",))
        listed = replace(right, category="write", facts=("bash",))
        (change,) = differences(Manifest("1", {right.id: listed}), Manifest("2", {right.id: right}))
        assert change.change == "more"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("from os import system\nsystem('x')", "starts"),
        ("from subprocess import run as go\ngo(['x'])", "starts"),
        ("import subprocess as quiet\nquiet.run(['x'])", "starts"),
        ("import os\nos.spawnv(os.P_WAIT, 'x', ['x'])", "starts"),
        ("import subprocess\nsubprocess.getstatusoutput('x')", "starts"),
        ("from PySide6.QtCore import QProcess\nQProcess().start('x')", "starts"),
        ("from concurrent.futures import ProcessPoolExecutor as Pool\nPool()", "starts"),
        ("from socket import socket\nsocket()", "reaches"),
        ("import socket as line\nline.socket()", "reaches"),
        ("import socket\nsocket.socket(type=socket.SOCK_DGRAM)", "reaches"),
        ("from asyncio import open_connection as go\ngo('x', 1)", "reaches"),
        ("import asyncio\nasyncio.get_running_loop().create_datagram_endpoint(x)", "reaches"),
        ("from PySide6.QtNetwork import QTcpSocket", "reaches"),
        ("from PySide6 import QtNetwork", "reaches"),
        ("from PySide6.QtGui import QDesktopServices as to\nto.openUrl('x')", "opens"),
    ],
)
def test_a_right_is_found_by_whatever_name_it_is_called(code: str, what: str) -> None:
    assert (what, "x") in found_in([("desktop/x.py", ast.parse(code))])[0]


def test_what_the_code_says_of_itself_is_no_host() -> None:
    code = '"""See https://docs.somewhere.net."""\nA = "https://api.somewhere.net/v1"\nB = "https://x.example"\n'
    assert found_in([("desktop/x.py", ast.parse(code))])[0] == {("knows", "x"): {"api.somewhere.net"}}


def test_parts_of_the_code() -> None:
    assert part_of(Path("desktop/workers/web_host/host.py")) == "workers/web_host"
    assert part_of(Path("desktop/workers/child.py")) == "workers/child"
    assert part_of(Path("skills/agents/x.skill.py")) == "skills/agents"
