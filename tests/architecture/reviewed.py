"""Exceptions from the house rules that were looked at, each with its reason. A needless entry fails."""

# Files that may start tasks without a TaskGroup, because they own and end them.
TASK_OWNERS: dict[str, str] = {
    "desktop/presenter/bridge.py": "the one owner of tasks above the runtime",
    "desktop/supervision/tasks.py": "the one owner of tasks of runs, closed at shutdown",
    "desktop/workers/child.py": "one keeper task a child process, ended by stop()",
    "desktop/workers/inside.py": "in a child process: one task a call, cancelled with it",
    "desktop/workers/link.py": "the two readers of a child's pipes, ended with the child",
}

# Files that may catch Exception, and how often: a named boundary to a child, a hook, a listener or a person's file.
BROAD_EXCEPTS: dict[str, int] = {}

# Files that may call `.exec()` for something that is no dialog (a statement of SQL, a loop of a separate process).
EXEC_CALLS: dict[str, str] = {
    "desktop/app/event_loop.py": "the application's own loop, run once",
}

# Files that import inside a function: heavy and not needed for the first paint, or not there on every system.
LATE_IMPORTS: dict[str, str] = {
    "desktop/pipeline/validation.py": "jsonschema_rs, loaded in a thread before the first tool call",
    "desktop/workers/model_host/library.py": "litellm takes 5 s; loaded in the model host only, once it has said hello",
    "desktop/safety/paths.py": "fcntl does not exist on Windows",
}
