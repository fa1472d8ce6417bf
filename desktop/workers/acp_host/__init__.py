"""What runs in the ACP host: the connections to agents of other makers, which speak the Agent Client Protocol.

It is a child of its own: the protocol's library costs a second and 40 MB, and what agents send is parsed here. An agent
is a process of its own below it, started with the confined command that the app prepared. Nothing is decided here:
whatever an agent asks for (a file, a command, a permission, a tool) is passed to the app, and the app's answer to it.
"""
