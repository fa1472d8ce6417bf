"""Child processes: the pipe protocol, their life cycle, and what runs inside them.

Everything on a pipe is data, capped and checked on both ends; a child that crashes, hangs or lies costs one call with
a clear error, never the app. Imports nothing of ours but ``domain``.
"""
