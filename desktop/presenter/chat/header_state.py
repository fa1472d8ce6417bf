"""What the header and the composer say of a thread, from its record and its live state."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from desktop.domain.threads import ThreadRecord
from desktop.presenter.chat.state import Meters, RunState
from desktop.presenter.transcript.live_threads import ThreadState
from desktop.services.definitions.others import PREFIX


def meters_of(
    record: ThreadRecord | None,
    live: ThreadState,
    chosen_agent: str,
    chosen_model: str,
    agent_titles: Mapping[str, str],
    describe: Callable[[str], tuple[str, int | None]],
    measured: int = 0,
    estimate: int = 0,
    scale: Callable[[str], float] = lambda _model: 1.0,
) -> Meters:
    """Agent, model, context, tokens, cost. ``describe`` gives a model's name and window; unknown stays unknown.

    Until a request of this start has measured the context, what an earlier one ``measured`` stands for it, else the
    ``estimate`` of what is shown, with as many of the model's tokens to an estimated one as ``scale`` says.
    """
    model = (record.model if record and record.model else "") or chosen_model
    agent = record.agent if record else chosen_agent
    title, window = describe(model)
    usage = record.usage if record else None
    tokens = usage.input_tokens + usage.output_tokens if usage else 0
    return Meters(
        agent=agent,
        agent_title=agent_titles.get(agent, agent),
        model=model,
        model_title=title,
        context_used=live.context_used or measured or round(estimate * scale(model)),
        context_window=live.context_window or window,
        tokens=tokens,
        cost=usage.cost_usd if usage and tokens else 0.0,
        used=usage,
        compacting=live.compacted,
        dropped=live.dropped,
        token_scale=scale(model),
    )


def run_state_of(live: ThreadState, meters: Meters) -> RunState:
    """Whether something runs, waits or stops, and whether anything can be sent."""
    phase = "stopping" if live.stopping else live.phase
    return RunState(
        running=live.running,
        waiting=bool(live.waiting_calls),
        stopping=live.stopping,
        can_send=bool(meters.model) or meters.agent.startswith(PREFIX),
        phase=phase,
        sentence=f"{meters.agent_title}: {phase}" if live.running else "",
        listening=tuple(live.listening.values()) if live.running and not live.stopping else (),
    )
