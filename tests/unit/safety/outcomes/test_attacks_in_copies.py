"""The attacks on confined commands, from inside a copy: none gets out, and nothing real changes at all, not even where
commands may write."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from desktop.safety.outcomes.copies import Copies
from tests.unit.safety import escapes
from tests.unit.safety.confinement.attacks import ATTACKS, Attack
from tests.unit.safety.confinement.test_attacks import SYSTEM, Field
from tests.unit.safety.outcomes.rehearsals import KINDS, tree

pytestmark = pytest.mark.skipif(not SYSTEM, reason="the attacks are written for Linux on x86-64")
QUICK = 9
"""Every so many of them are tried each time; all of them when asked for."""


def made(attacked: Field, kind: Kind) -> SystemConfinement:
    world = attacked.world
    return SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,), caches=str(world.home / "cache"))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    saved = os.environ["HOME"]
    with ExitStack() as stack:
        field = Field(tmp_path_factory.mktemp("field") / "w", stack, tmp_path_factory.mktemp("n"))
        os.environ["HOME"] = str(field.world.person)
        (field.world.home / "cache" / "copies").mkdir(parents=True)
        field.before = field.state()
        yield field
    os.environ["HOME"] = saved


async def none_gets_out(attacked: Field, kind: Kind, attacks: list[Attack]) -> None:
    passed = []
    with closing(made(attacked, kind)) as confinement:
        copies = Copies(str(attacked.world.home / "cache" / "copies"), confinement, attacked.world.policy)
        if confinement.probe().kind != kind or copies.refusal():
            pytest.skip("this machine makes no such copies")
        for attack in attacks:
            before = {**tree(attacked.world.workspace), **tree(attacked.open)}
            copy = copies.make()
            wrapped = confinement.wrap(attacked.spec(attack), network=attack.network, copy=copy)
            outcome = await GroupRunner().run(wrapped, CancellationToken())
            began = copy.began()
            copy.read()
            copy.drop()
            after = {**tree(attacked.world.workspace), **tree(attacked.open)}
            got = attacked.passed(outcome) + ("" if after == before else " changed what it may write")
            escapes.tried(f"in a copy, {kind}", bool(got))
            passed += [f"{attack}: {got}"] if got else []
            passed += [] if began else [f"{attack}: did not begin: {outcome.output}"]
    assert passed == []


@pytest.mark.spec("R-OUT-1", "R-OUT-4", "C-33")
@pytest.mark.parametrize("kind", KINDS)
async def test_no_attack_gets_out_of_a_copy(attacked: Field, kind: Kind) -> None:
    await none_gets_out(attacked, kind, ATTACKS[::QUICK])


@pytest.mark.soak
@pytest.mark.spec("R-OUT-1", "R-OUT-4", "C-33")
@pytest.mark.parametrize("kind", KINDS)
async def test_none_of_all_attacks_gets_out_of_a_copy(attacked: Field, kind: Kind) -> None:
    await none_gets_out(attacked, kind, ATTACKS)
