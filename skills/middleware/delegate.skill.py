"""Lets another skill do the work of this one."""

from desktop.domain.errors import ToolFailure

frontmatter = {
    "name": "delegate",
    "description": "Replaces what a skill does by a call of another. metadata.delegate: its reference.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "visibility": "hidden",
        "order": {"after": ["cache", "retry", "timeout", "session"]},
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
    },
}


async def run(ctx, args):
    """What the other skill returns for the same arguments, called by the served skill and through all gates."""
    target = ctx.envelope.target
    ref = ctx.locals["config"]
    if not isinstance(ref, str) or not ref:
        raise ToolFailure("metadata.delegate names the skill that does the work.", code="skill.configuration")
    setter = target.call.cascade.setters.get("delegate")
    if target.run.definition is None or setter not in ("library", "mine", "program"):
        raise ToolFailure("Only skills of yours and of the library may delegate.", code="denied.untrusted_ref")
    return await ctx.manager.invoke(ref, dict(target.args), {"as_served": True})
