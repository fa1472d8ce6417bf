"""What tools reach of the keyring: their own entries, what a person agreed to, and never a provider's key."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from desktop.domain.errors import SecretsUnavailable, ToolFailure
from desktop.domain.keyring import KeyringEntry, entry_of, referred_to
from desktop.domain.safety import SafetySettings
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.secrets.keyring import KeyringSecrets
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.safety.secrets.tool_secrets import EntryRefused, ToolSecrets
from desktop.workers.keyring_child import keyring_host
from tests.harness.timeouts import WAIT_S

PROVIDER = KeyringEntry("assent", "connection/openai")
OWN = KeyringEntry("assent", f"test-{os.getpid()}")
FOREIGN = KeyringEntry(f"login-{os.getpid()}", "ida@example.org")


class State:
    """The store's state, in memory, as JSON would bring it back."""

    def __init__(self, value: Any = None) -> None:
        self.value = value

    async def get(self, *, key: str, default: Any = None) -> Any:
        return default if self.value is None else self.value

    async def put(self, *, key: str, value: Any) -> None:
        self.value = value


class FullDisk(State):
    async def put(self, *, key: str, value: Any) -> None:
        raise EntryRefused("the disk is full")


class World:
    """A real keyring, tools' secrets over it, and what redaction heard."""

    def __init__(self, state: State | None = None) -> None:
        self.redactor = SecretRedactor()
        self.keyring = KeyringSecrets(keyring_host(), timeout_s=WAIT_S, on_value=self.redactor.remember)
        self.state = state or State()
        self.secrets = ToolSecrets(self.keyring, self.state, lambda: {"my-key"})

    async def environment(self, value: str, tool: str = "deploy") -> str:
        settings = SafetySettings(workspace="/w")
        made = AllowlistEnvironment(
            lambda: settings, keyring=self.keyring.lookup, may_read=self.secrets.refusal, give=self.secrets.give
        )
        return (await made.build({"TOKEN": value}, tool=tool))["TOKEN"]


@pytest.fixture
async def world(keyring_session: Any) -> AsyncIterator[World]:
    made = World()
    yield made
    for entry in (OWN, FOREIGN, PROVIDER):
        await made.keyring.drop(entry.service, entry.user)
    await made.keyring.close()


@pytest.mark.spec("R-ENV-5", "R-SEC-1")
async def test_a_secret_made_for_tools_reaches_the_tool_that_names_it(world: World) -> None:
    assert await world.secrets.keep(OWN, "value-of-mine") is True
    assert await world.environment(OWN.reference) == "value-of-mine"
    assert await world.secrets.length(OWN) == 13
    assert "value-of-mine" not in repr(world.state.value)


@pytest.mark.spec("R-ENV-5", "R-SEC-1")
async def test_an_entry_of_ours_is_the_first_tools_that_reads_it_and_no_others_without_a_yes(world: World) -> None:
    await world.secrets.keep(OWN, "value-of-mine")
    assert world.secrets.refusal(OWN.service, OWN.user, "deploy") == "", "nobody has it yet"
    assert world.secrets.holders(OWN) == (), "to judge a reference gives nothing away"
    assert await world.environment(OWN.reference) == "value-of-mine"
    assert world.secrets.holders(OWN) == ("deploy",)
    again = ToolSecrets(world.keyring, world.state)
    await again.load()
    for secrets in (world.secrets, again):
        for other in ("mcp-pasted", "Deploy", ""):
            assert "is deploy's, and nobody has agreed" in secrets.refusal(OWN.service, OWN.user, other)
    with pytest.raises(ToolFailure, match="is deploy's, and nobody has agreed"):
        await world.environment(OWN.reference, "mcp-pasted")
    with pytest.raises(EntryRefused, match="is deploy's"):
        await world.secrets.give(OWN.service, OWN.user, "mcp-pasted")
    await world.secrets.agree(OWN, ["mcp-pasted"])
    assert await world.environment(OWN.reference, "mcp-pasted") == "value-of-mine"
    assert await world.environment(OWN.reference) == "value-of-mine"


@pytest.mark.spec("R-ENV-5")
async def test_of_two_tools_that_read_an_entry_at_once_one_gets_it(world: World) -> None:
    await world.secrets.keep(OWN, "value-of-mine")
    tools = [f"tool-{number}" for number in range(8)]
    found = await asyncio.gather(*(world.environment(OWN.reference, tool) for tool in tools), return_exceptions=True)
    assert found.count("value-of-mine") == 1
    assert sum(isinstance(one, ToolFailure) for one in found) == 7


@pytest.mark.spec("R-MCP-2", "R-ENV-6")
@pytest.mark.parametrize("service", ["assent", "ASSENT"])
@pytest.mark.parametrize(
    ("user", "what"),
    [
        (f"mcp-sign-in/test-{os.getpid()}", "sign-in to an MCP server"),
        ("mcp-http-token", "token of `assent mcp --http`"),
    ],
)
async def test_no_tool_is_given_what_assent_keeps_for_itself_whatever_it_and_the_person_say(
    world: World, service: str, user: str, what: str
) -> None:
    kept = KeyringEntry("assent", user)
    entry = KeyringEntry(service, kept.user)
    await world.keyring.keep(kept.service, kept.user, '{"tokens": {"access_token": "of-the-person"}}')
    try:
        with pytest.raises(EntryRefused, match=what):
            await world.secrets.agree(entry, ["deploy"])
        with pytest.raises(EntryRefused, match=what):
            await world.secrets.keep(entry, "x" * 10)
        with pytest.raises(ToolFailure, match=r"TOKEN refers to .* no tool is ever given") as caught:
            await world.environment(entry.reference)
        assert "of-the-person" not in str(caught.value)
        with pytest.raises(EntryRefused):
            await world.secrets.length(entry)
    finally:
        await world.keyring.drop(kept.service, kept.user)


@pytest.mark.spec("R-ENV-6", "R-SEC-1")
@pytest.mark.parametrize(
    "entry",
    [
        PROVIDER,
        KeyringEntry("assent", "connection/bedrock/access_key_id"),
        KeyringEntry("assent", "my-key"),
        KeyringEntry("ASSENT", "connection/openai"),
        KeyringEntry("assent", "Connection/openai"),
        KeyringEntry("assent", "MY-KEY"),
    ],
    ids=str,
)
async def test_no_tool_is_given_a_providers_key_whatever_it_and_the_person_say(
    world: World, entry: KeyringEntry
) -> None:
    await world.keyring.put("connection/openai", "sk-of-a-provider")
    with pytest.raises(EntryRefused, match="key of a provider"):
        await world.secrets.agree(entry, ["deploy"])
    with pytest.raises(EntryRefused, match="key of a provider"):
        await world.secrets.keep(entry, "x" * 10)
    with pytest.raises(ToolFailure, match=r"TOKEN refers to .* no tool is ever given") as caught:
        await world.environment(entry.reference)
    assert "sk-of" not in str(caught.value)
    with pytest.raises(EntryRefused):
        await world.secrets.length(entry)


@pytest.mark.spec("R-ENV-5", "R-SEC-1")
async def test_another_programs_entry_needs_a_yes_for_this_tool_and_is_not_even_looked_at_before(world: World) -> None:
    await world.keyring.keep(FOREIGN.service, FOREIGN.user, "value-of-another")
    asked: list[str] = []
    lookup = world.keyring.lookup

    async def watched(service: str, user: str) -> str | None:
        asked.append(service)
        return await lookup(service, user)

    world.keyring.lookup = watched  # type: ignore[method-assign]
    with pytest.raises(ToolFailure, match="nobody has agreed"):
        await world.environment(FOREIGN.reference)
    with pytest.raises(EntryRefused):
        await world.secrets.length(FOREIGN)
    assert asked == []
    await world.secrets.agree(FOREIGN, ["deploy"])
    assert await world.environment(FOREIGN.reference) == "value-of-another"
    for other in ("imported", "", "Deploy"):
        with pytest.raises(ToolFailure, match="nobody has agreed"):
            await world.environment(FOREIGN.reference, other)
    again = ToolSecrets(world.keyring, world.state)
    await again.load()
    assert again.refusal(FOREIGN.service, FOREIGN.user, "deploy") == ""
    await again.disagree(FOREIGN)
    assert "nobody has agreed" in again.refusal(FOREIGN.service, FOREIGN.user, "deploy")


@pytest.mark.spec("R-SEC-1")
async def test_what_another_program_keeps_is_neither_overwritten_nor_deleted(world: World) -> None:
    await world.keyring.keep(FOREIGN.service, FOREIGN.user, "value-of-another")
    with pytest.raises(EntryRefused, match="Another program keeps"):
        await world.secrets.keep(FOREIGN, "mine-now")
    with pytest.raises(EntryRefused, match="Another program keeps"):
        await world.secrets.delete(FOREIGN)
    assert await world.keyring.lookup(FOREIGN.service, FOREIGN.user) == "value-of-another"


@pytest.mark.spec("R-UI-6")
async def test_a_missing_entry_of_any_service_can_be_added_here_replaced_and_deleted(world: World) -> None:
    await world.secrets.keep(FOREIGN, "first-value", ["deploy"])
    assert not world.secrets.is_foreign(FOREIGN)
    await world.secrets.keep(FOREIGN, "second-value")
    assert await world.environment(FOREIGN.reference) == "second-value"
    with pytest.raises(ToolFailure):
        await world.environment(FOREIGN.reference, "imported")
    await world.secrets.delete(FOREIGN)
    assert world.secrets.is_foreign(FOREIGN)
    with pytest.raises(ToolFailure, match="nobody has agreed"):
        await world.environment(FOREIGN.reference)


@pytest.mark.spec("R-SEC-4")
async def test_what_is_kept_for_tools_is_known_to_redaction_from_the_start(world: World) -> None:
    await world.secrets.keep(OWN, "value-of-mine")
    later = World(world.state)
    await later.secrets.load()
    assert later.redactor.mask_known("value-of-mine") == "value-of-mine"
    await later.secrets.learn()
    assert later.redactor.mask_known("value-of-mine") == "[REDACTED]"
    await later.keyring.close()


@pytest.mark.spec("R-SEC-2")
async def test_without_a_keyring_a_tools_secret_lasts_until_the_app_is_closed() -> None:
    world = World()  # no bus in tests without the daemon
    assert await world.secrets.keep(OWN, "value-of-mine") is False
    assert world.secrets.place(OWN) == "session"
    assert await world.environment(OWN.reference) == "value-of-mine"
    with pytest.raises(ToolFailure, match="TOKEN refers to the keyring entry assent/none: Assent found no"):
        await world.environment("${keyring:assent/none}")
    with pytest.raises(SecretsUnavailable):
        await world.secrets.length(KeyringEntry("assent", "none"))
    await world.secrets.learn()
    await world.secrets.delete(OWN)
    assert world.secrets.place(OWN) != "session"
    await world.keyring.close()


@pytest.mark.spec("R-ENV-4", "R-ENV-5")
async def test_a_missing_entry_names_the_variable_and_the_entry(world: World) -> None:
    with pytest.raises(ToolFailure, match=r"TOKEN refers to the keyring entry assent/nothing, which does not exist"):
        await world.environment("${keyring:assent/nothing}")


@pytest.mark.spec("R-ENV-5")
async def test_before_a_call_is_agreed_to_a_reference_is_judged_but_not_read(world: World) -> None:
    asked: list[str] = []

    async def lookup(service: str, user: str) -> str:
        asked.append(user)
        return "value"

    settings = SafetySettings(workspace="/w")
    made = AllowlistEnvironment(lambda: settings, keyring=lookup, may_read=world.secrets.refusal)
    built = await made.build({"A": OWN.reference, "B": "plain"}, tool="deploy", secrets=False)
    assert built["B"] == "plain"
    assert "A" not in built
    with pytest.raises(ToolFailure, match="nobody has agreed"):
        await made.build({"A": FOREIGN.reference}, tool="deploy", secrets=False)
    assert asked == []


@pytest.mark.spec("R-ENV-5")
@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "a\u200bb", "a{b", "x" * 129, "a\0b", "a\u202eb"])
async def test_names_that_hide_something_are_no_names(world: World, name: str) -> None:
    assert KeyringEntry("assent", name).problem
    assert KeyringEntry(name, "user").problem
    with pytest.raises(EntryRefused, match="cannot be used in a keyring"):
        await world.secrets.keep(KeyringEntry("assent", name), "value-1")
    assert "no entry of a keyring" in world.secrets.refusal("assent", name, "deploy")


def test_references_and_entries_are_read_alike() -> None:
    assert referred_to("${keyring:github/me/too}") == KeyringEntry("github", "me/too")
    assert referred_to("x${keyring:github/me}") is None
    assert entry_of("github") == KeyringEntry("assent", "github")
    assert entry_of("a/b/c") == KeyringEntry("a", "b/c")
    assert KeyringEntry("a", "b").reference == "${keyring:a/b}"


@pytest.mark.parametrize(
    "kept", [None, [], {"own": 5}, {"own": [["a"], ["a", 5], "ab"], "agreed": [["a", "b"]]}, {"own": [["a ", "b"]]}]
)
async def test_what_was_kept_wrongly_is_nothing(kept: Any) -> None:
    made = ToolSecrets(KeyringSecrets(keyring_host()), State(kept))
    await made.load()
    assert made.own == frozenset()


async def test_what_cannot_be_written_down_does_not_hold() -> None:
    made = ToolSecrets(KeyringSecrets(keyring_host()), FullDisk())
    with pytest.raises(EntryRefused, match="disk is full"):
        await made.agree(FOREIGN, ["deploy"])
    assert not made.agreed(FOREIGN, "deploy")


async def test_secrets_of_no_or_too_many_characters_are_refused_in_words() -> None:
    made = ToolSecrets(KeyringSecrets(keyring_host()), State())
    for value in ("", "x" * 16_385):
        with pytest.raises(EntryRefused, match="16,384"):
            await made.keep(OWN, value)


async def test_a_secret_of_the_most_characters_is_kept(world: World) -> None:
    assert await world.secrets.keep(OWN, "x" * 16_384) is True
    assert await world.secrets.length(OWN) == 16_384
