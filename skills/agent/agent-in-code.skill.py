"""The place of an agent in code: called for each skill with ``role: agent``, never by a model."""

from desktop.agents.hosted.hosting import host_agent

frontmatter = {
    "name": "agent-in-code",
    "description": "Gives an agent in code its place in the run, and goes on with its code.",
    "metadata": {"category": "read", "visibility": "hidden", "tags": ["meta-internal"]},
}


async def run(ctx, args):
    """What the agent's code returned."""
    return await host_agent(ctx, args)
