"""Exceptions from the house rules that were looked at, each with its reason. A needless entry fails."""

# Files that may start tasks without a TaskGroup, because they own and end them.
TASK_OWNERS: dict[str, str] = {
    "desktop/presenter/bridge.py": "the one owner of tasks above the runtime",
}

# Files that may catch Exception, and how often: a named boundary to a child, a hook, a listener or a person's file.
BROAD_EXCEPTS: dict[str, int] = {}

# Files that may call `.exec()` for something that is no dialog (a statement of SQL, a loop of a separate process).
EXEC_CALLS: dict[str, str] = {}
