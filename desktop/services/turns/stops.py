"""What ends a side turn besides a text: its stop tool, its end-session tool, its last round (R-SES-7 … R-SES-13)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from desktop.agents.loop.rounds import RoundVerdict
from desktop.agents.skill.calls import CodeCalls
from desktop.agents.skill.result_contract import ResultContract
from desktop.agents.skill.turn_events import TurnEvents
from desktop.domain.debates import TurnEnd
from desktop.domain.errors import Denied, LimitReached, ToolFailure
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.limits import Limit
from desktop.pipeline.names import ToolTable
from desktop.recovery.past import NEVER_BEGUN, Past
from desktop.services.turns.spec import SideSpec
from desktop.services.turns.toolbox import Toolbox

NUDGE = "Continue."
Told = Callable[[ToolCallBlock, ToolResultBlock], None]


class SideStops:
    """Watches the calls of one turn and judges each round; also the loop's way to its tools, for it sees each result.

    ``limit`` is asked with the rounds that were made. ``by`` says what ended the turn, empty while nothing here did;
    ``value`` is what the stop tool's property held and ``missing`` that it was in neither place (R-SES-10).
    ``contract`` takes what the prompt promised; ``told`` hears of the call that gives it, which no pipeline sees;
    ``events`` tells topics of each call.
    ``handed``: another agent has taken the thread over (S-AAT-1).
    """

    def __init__(
        self,
        spec: SideSpec,
        table: ToolTable,
        tools: Toolbox,
        code: CodeCalls,
        limit: Callable[[int], Limit],
        contract: ResultContract,
        told: Told = lambda _call, _result: None,
        events: TurnEvents | None = None,
        handed: bool = False,
    ) -> None:
        self._spec = spec
        self._table = table
        self._tools = tools
        self._code = code
        self._limit = limit
        self._contract = contract
        self._told = told
        self._events = events
        self._seen: dict[str, tuple[ToolCallBlock, ToolResultBlock]] = {}
        self.by: TurnEnd | None = None
        self.value: Any = None
        self.missing = False
        self.handed = handed

    async def run(
        self, call: ToolCallBlock, past: Past = NEVER_BEGUN, *, ends: CancellationToken | None = None
    ) -> ToolResultBlock:
        """One call through the pipeline; a failed one stops nothing (R-SES-12). The rest: see ``CallRequest``."""
        if self._events is not None:
            self._events.called(call)
        result = await self._made(call, past, ends)
        if self._events is not None:
            self._events.answered(call, result)
        return result

    async def _made(self, call: ToolCallBlock, past: Past, ends: CancellationToken | None) -> ToolResultBlock:
        if self._contract.takes(call.tool):
            result = await self._finished_by(call)
            self._told(call, result)
            return result
        result = await self._tools.run(call, past, ends=ends)
        for made in ((call, result), *self._code.made):
            self.handed = self.handed or _hands_over(made[1])
            self._see(*made)
        self._code.made.clear()
        return result

    async def _finished_by(self, call: ToolCallBlock) -> ToolResultBlock:
        """Accept the value of a native ``finish``, or say what is wrong with it (R-RET-3)."""
        try:
            value = await self._contract.finish_natively(call.arguments)
        except ToolFailure as failure:
            facts = {"state": "denied" if isinstance(failure, Denied) else "failed", "code": failure.code}
            return ToolResultBlock(call.call_id, call.tool, str(failure), True, None, facts)
        return ToolResultBlock(call.call_id, call.tool, "Accepted.", False, value, {"state": "done", "code": ""})

    def recall(self, messages: Sequence[ChatMessage]) -> None:
        """The calls of the last round, made before the app was started again. If one gave the conversation away,
        whoever has it is who goes on now."""
        results: dict[str, ToolResultBlock] = {}
        for message in reversed(messages):
            results.update((b.call_id, b) for b in message.blocks if isinstance(b, ToolResultBlock))
            for call in message.tool_calls:
                if (result := results.get(call.call_id)) is not None:
                    self._code.recall(call, result)
                    if self._contract.takes(call.tool) and not result.is_error:
                        self._contract.recall(result.structured)
                    self._see(call, result)
            if message.role == "assistant":
                return

    def _see(self, call: ToolCallBlock, result: ToolResultBlock) -> None:
        """Whether this call ends something; one that code made counts as one of the model's own (R-COD-6)."""
        if result.is_error:
            return
        for wanted in (self._spec.stop_tool, self._spec.end_session_tool):
            if wanted and same_tool(self._table, call.tool, wanted):
                self._seen.setdefault(wanted, (call, result))

    def parallel(self, call: ToolCallBlock) -> bool:
        return self._tools.parallel(call)

    async def after(self, message: ChatMessage, number: int) -> RoundVerdict:
        """After a round and all of its calls: the end of the session wins over the end of the turn (R-SES-11)."""
        spec, contract = self._spec, self._contract
        if not message.tool_calls:
            await contract.finish_with_text(message.text)
        if spec.end_session_tool and spec.end_session_tool in self._seen:
            self.by = "end_session_tool"
        elif spec.stop_tool and spec.stop_tool in self._seen:
            self.by = "stop_tool"
            self._extract(*self._seen[spec.stop_tool])
        elif contract.done:
            self.by, self.value = "stop_tool", contract.value
        if self.by is not None or self.handed:
            return RoundVerdict(stop=True)
        if (maximum := self._tools.exhausted) is not None:
            raise LimitReached(f"The agent stopped without finishing: {maximum}.", limit=str(maximum))
        if contract.declared is not None and not message.tool_calls:
            reminder = contract.reminder() if number < self._limit(number).value else ""
            return RoundVerdict(nudge=reminder) if reminder else RoundVerdict(stop=True)
        if message.tool_calls or spec.stop_on_response:
            return RoundVerdict()
        if number >= self._limit(number).value:  # it said its last: nothing was left undone (R-LOOP-9)
            self.by = "max_steps"
            return RoundVerdict(stop=True)
        return RoundVerdict(nudge=NUDGE)

    def _extract(self, call: ToolCallBlock, result: ToolResultBlock) -> None:
        """Keep the value of the stop property: from the structured result, else from the arguments (R-SES-10)."""
        for place in (result.structured, call.arguments):
            if isinstance(place, Mapping) and place.get(self._spec.stop_property) is not None:
                self.value = place[self._spec.stop_property]
                return
        self.missing = True


def _hands_over(result: ToolResultBlock) -> bool:
    return not result.is_error and result.facts.get("handoff") == "transfer"


def same_tool(table: ToolTable, called: str, wanted: str) -> bool:
    """Whether both names are one tool, canonical or as a provider writes it."""
    one, other = table.find(called), table.find(wanted)
    return one is not None and other is not None and one.spec.name == other.spec.name


def as_text(value: Any) -> str:
    """An extracted value as what is read of it; "" for none."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)
