"""Denied folders that one tool reads because it says so: what may be opened, and real confinement around it (D-4)."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.approval.consents import Consent
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Access, ProcessSpec
from desktop.safety.boundary.closed_places import judged
from desktop.safety.boundary.consents import MAX_CONSENTS, Consents
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.profile import SandboxProfile, profile_for
from desktop.safety.confinement.seatbelt import sandbox_text
from desktop.safety.confinement.select import Kind, SystemConfinement
from tests.unit.safety.world import World


@pytest.fixture
def closed(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A home with two denied folders beside the keys; one of them holds what is denied by itself."""
    monkeypatch.setenv("HOME", str(world.person))
    for name in (".kube/cache", ".kube/private", ".aws"):
        (world.person / name).mkdir(parents=True)
    (world.person / ".kube/config").write_text("CLUSTER")
    (world.person / ".kube/private/key").write_text("INNER")
    (world.person / ".aws/credentials").write_text("CLOUD")
    world.change(denied=(*world.settings.denied, "~/.kube", "~/.kube/private", "~/.aws"))
    return world


KINDS: tuple[Kind, ...] = ("bubblewrap", "landlock")


@pytest.fixture(params=KINDS)
def confinement(request: pytest.FixtureRequest, closed: World) -> Iterator[SystemConfinement]:
    with closing(SystemConfinement(closed.policy, lambda: closed.settings, kinds=(request.param,))) as made:
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made


async def said(confinement: SystemConfinement, world: World, command: str, *opened: Path) -> str:
    spec = ProcessSpec(("sh", "-c", f"exec 2>/dev/null; {command}"), str(world.workspace), {"PATH": "/usr/bin:/bin"})
    wrapped = confinement.wrap(spec, opened=tuple(map(str, opened)))
    return (await GroupRunner().run(wrapped, CancellationToken())).output


@pytest.mark.spec("R-FS-3")
async def test_what_is_opened_is_read_by_that_process_alone_and_everything_else_stays_closed(
    confinement: SystemConfinement, closed: World
) -> None:
    kube, home = closed.person / ".kube", closed.person
    look = f"cat {kube}/config; cat {kube}/private/key; cat {home}/.aws/credentials; cat {closed.ssh}/id_rsa; echo end"
    assert await said(confinement, closed, look, kube) == "CLUSTERend\n"
    assert await said(confinement, closed, look) == "end\n"
    change = f"cd {kube}; echo x >>config; echo x >new; rm -f config; mkdir cache/d; echo x >{home}/new"
    await said(confinement, closed, change, kube)
    assert (kube / "config").read_text() == "CLUSTER"
    assert sorted(os.listdir(kube)) == ["cache", "config", "private"]
    assert os.listdir(kube / "cache") == []
    assert not (home / "new").exists()


async def test_a_file_or_folder_in_a_denied_folder_is_opened_without_its_neighbours(
    confinement: SystemConfinement, closed: World
) -> None:
    kube = closed.person / ".kube"
    look = f"cat {kube}/config; cat {kube}/private/key; ls {kube}/cache && echo listed"
    assert await said(confinement, closed, look, kube / "config") == "CLUSTER"
    assert await said(confinement, closed, look, kube / "private/key", kube / "cache") == "INNERlisted\n"


async def test_a_denied_folder_in_an_allowed_one_is_read_and_still_not_written(
    confinement: SystemConfinement, closed: World
) -> None:
    inner = closed.outside / "vault"
    inner.mkdir()
    (inner / "file").write_text("VAULT")
    allowed = (*closed.settings.allowed, str(closed.outside))
    closed.change(allowed=allowed, denied=(*closed.settings.denied, str(inner)))
    assert await said(confinement, closed, f"cat {inner}/file; echo x >{inner}/file; mv {inner} away", inner) == "VAULT"
    assert (inner / "file").read_text() == "VAULT"


async def test_the_walls_open_nothing_that_may_not_be_opened_whoever_asks(
    confinement: SystemConfinement, closed: World
) -> None:
    data = closed.home / "data"
    closed.change(denied=(*closed.settings.denied, str(closed.home / "agents")))
    assert await said(confinement, closed, f"cat {data}/assent.db; echo end", data, closed.home / "agents") == "end\n"
    assert profile_for(closed.policy, lambda: closed.settings, opened=(str(data), str(closed.person))).opened == ()


def test_file_tools_know_nothing_of_what_is_opened_for_a_tool(closed: World) -> None:
    assert judged(closed.policy, "~/.kube").comes_to == "opens"
    assert not closed.policy.explain("~/.kube/config", Access.READ).allowed


REFUSED = {
    "/": "home",
    "~": "begins",
    "~/": "home",
    "~/.": "home",
    ".kube": "begins",
    "": "begins",
    "~/x/../.kube": "begins",
    "~root/.ssh": "begins",
    "~/link": "link",
    "~/link/cache": "link",
    "~/.agent": "Assent",
    "~/.agent/data": "Assent",
    "~/.local/share/keyrings": "keyring",
    "~/.local/share/keyrings/login.keyring": "keyring",
    "~/.local": "keyring",
    "~/.Xauthority": "keyring",
    "/proc/sys": "virtual",
    "~/.kube/pipe": "pipe",
    "~/.kube\0": "NUL",
    "~/" + "x" * 5000: "longer",
    "~/folder": "name that itself",
    "~/loop": "itself",
}


@pytest.mark.parametrize("entry", REFUSED)
def test_an_entry_that_means_more_or_another_place_is_refused(closed: World, entry: str) -> None:
    home = closed.person
    (home / "link").symlink_to(home / ".kube")
    (home / "loop").symlink_to(home / "loop")
    os.mkfifo(home / ".kube/pipe")
    (home / "folder/inner").mkdir(parents=True)
    closed.change(denied=(*closed.settings.denied, "~/.local", "~/folder/inner", "~/.agent"))
    found = judged(closed.policy, entry)
    assert found.comes_to == "refused"
    assert REFUSED[entry] in found.sentence


@pytest.mark.parametrize(("entry", "why"), [("~/.kube/none", "does not exist"), ("~/plain", "no denied folder")])
def test_an_entry_that_is_absent_or_not_closed_opens_nothing(closed: World, entry: str, why: str) -> None:
    (closed.person / "plain").mkdir()
    found = judged(closed.policy, entry)
    assert found.comes_to == "nothing"
    assert why in found.sentence


def test_a_home_behind_a_link_is_the_home(closed: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (closed.root / "linked").symlink_to(closed.person)
    monkeypatch.setenv("HOME", str(closed.root / "linked"))
    assert judged(closed.policy, "~/.kube").resolved == str(closed.person / ".kube")


def test_on_a_mac_the_inner_rule_comes_last() -> None:
    at = SandboxProfile(
        ("/w",), (), (), ("/h/kube", "/h/ssh"), False, opened=("/h/kube",), still_hidden=("/h/kube/private",)
    )
    lines = sandbox_text(at, "/t").splitlines()
    deny = lines.index('(deny file-read* file-write* (subpath "/h/kube") (subpath "/h/ssh"))')
    allow = lines.index('(allow file-read* (subpath "/h/kube"))')
    again = lines.index('(deny file-read* file-write* (subpath "/h/kube/private"))')
    assert deny < allow < again
    assert sandbox_text(replace(at, opened=(), still_hidden=()), "/t").count("/h/kube") == 1


class State:
    """The store's state, as it survives a restart."""

    def __init__(self) -> None:
        self.kept: dict[str, object] = {}

    async def get(self, *, key: str, default: object = None) -> object:
        return self.kept.get(key, default)

    async def put(self, *, key: str, value: object) -> None:
        await asyncio.sleep(0)  # as a database, which others do not wait for
        self.kept[key] = value


async def test_a_consent_outlives_a_restart_and_holds_for_that_definition_and_those_paths(closed: World) -> None:
    state, given = State(), Consent("pods", "v1", ("/k", "/l"))
    await Consents(closed.policy, state).agree(given)
    again = Consents(closed.policy, state)
    assert not again.agreed(given)
    await again.load()
    assert again.agreed(given)
    assert again.agreed(replace(given, paths=("/l",)))
    for other in (replace(given, version="v2"), replace(given, tool="x"), replace(given, paths=("/k", "/m"))):
        assert not again.agreed(other)
    await again.take_back("pods")
    await again.load()
    assert not again.agreed(given)


async def test_a_consent_that_is_taken_back_while_another_is_being_kept_does_not_return(closed: World) -> None:
    made, first, second = Consents(closed.policy, State()), Consent("pods", "v", ("/k",)), Consent("logs", "v", ("/k",))
    await made.agree(first)
    async with asyncio.TaskGroup() as group:
        group.create_task(made.take_back("pods"))
        group.create_task(made.agree(second))
    assert not made.agreed(first)
    assert made.agreed(second)


async def test_what_was_kept_may_be_anything_and_is_bounded(closed: World) -> None:
    state = State()
    state.kept["reads"] = [["pods"], 5, ["a", "b", 3], ["good", "v", "/k"]]
    made = Consents(closed.policy, state)
    await made.load()
    assert made.agreed(Consent("good", "v", ("/k",)))
    for number in range(MAX_CONSENTS + 1):
        await made.agree(Consent(f"t{number}", "v", ("/k",)))
    kept = state.kept["reads"]
    assert isinstance(kept, list)
    assert len(kept) == MAX_CONSENTS
