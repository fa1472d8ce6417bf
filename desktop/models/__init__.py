"""Models: the client that talks to the model host, the catalogue, the demo model and the scripted model for tests.

Start with ``desktop.models.client.build``. Imports nothing of ours but ``domain``.
"""
