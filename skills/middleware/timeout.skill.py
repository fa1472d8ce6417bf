"""A time limit for one call, tighter than the app's own."""

from desktop.agents.middleware.settings import config_of, number, options
from desktop.domain.errors import ToolTimeout
from desktop.domain.runs.scopes import Interrupt

frontmatter = {
    "name": "timeout",
    "description": "Ends a call that takes too long. metadata.timeout: seconds, or {seconds}.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "activatable": True,
        "order": {"after": ["cache", "retry"]},
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
        "params": {
            "type": "object",
            "required": ["seconds"],
            "properties": {
                "seconds": {"type": "number", "minimum": 0.001, "description": "How long the call may take."}
            },
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The call's value, or a failure that names the limit. Time in which a person is asked is not counted."""
    seconds = number(options(config_of(ctx), "seconds").get("seconds"), "timeout", minimum=0.001)
    served = ctx.envelope.target.call.invocation
    limit = Interrupt(ctx.envelope.signal, seconds=seconds)
    served.more_clocks.append(limit)
    try:
        async with limit:
            return await ctx.manager.next()
    except TimeoutError as error:
        name = ctx.envelope.target.run.tool.name
        raise ToolTimeout(f"{name} was stopped after {seconds:g} s (metadata.timeout).") from error
    finally:
        served.more_clocks.remove(limit)
