"""What runs in the MCP host: the MCP client library, one owner task a server, nothing of the app.

It is a child of its own and not part of the model host: what MCP servers send is parsed here, and a server that brings
this process down must not end the streams of models. All servers share it (64 MB once, not each); everything that one
of them sends is capped before it is kept (limits.py), so that one does not starve the others. The servers themselves
are processes of their own, started with the confined command that the app prepared.
"""
