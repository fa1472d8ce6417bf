"""Exceptions from the house rules that were looked at. A needless entry fails.

Each has its reason, but for those in ``BROAD_EXCEPTS``: they have a count, and the comment at the ``except`` says why.
"""

# Files that may start tasks without a TaskGroup, because they own and end them.
TASK_OWNERS: dict[str, str] = {
    "desktop/presenter/events/bridge.py": "the one owner of tasks above the runtime",
    "desktop/supervision/tasks.py": "the one owner of tasks of runs, closed at shutdown",
    "desktop/workers/child.py": "one keeper task a child process, ended by stop()",
    "desktop/workers/js_code/engine.py": "one worker at a time that starts ahead of need, ended by close()",
    "desktop/workers/inside.py": "in a child process: one task a call, cancelled with it",
    "desktop/workers/python_skill/run_context.py": "one task a child that an agent in code starts, ended by close()",
    "desktop/workers/mcp_host/connection.py": "in a child process: two waits of one connection, ended with it",
    "desktop/workers/mcp_host/host.py": "in a child process: what a server tells is forwarded until it is gone",
    "desktop/workers/mcp_host/watching.py": "in a child process: one request for changes, ended with its connection",
    "desktop/workers/mcp_host/under_way.py": "in a child process: a question, awaited and ended with its request",
    "desktop/workers/acp_host/host.py": "in a child process: what belongs to one session, ended with it",
    "desktop/workers/acp_host/tool_server.py": "in a child process: one task a bridge and a call, ended with it",
    "desktop/workers/stdio_process.py": "in a child process: what a program writes beside its messages, ended with it",
    "desktop/safety/secrets/keyring.py": "values that the system's keyring has yet to take, ended by close",
    "desktop/workers/update_host/host.py": "in a child process: the work of one call, awaited by it",
    "desktop/workers/link.py": "the two readers of a child's pipes, ended with the child",
}

# Files that may catch Exception, and how often: a named boundary to a child, a hook, a listener or a person's file.
BROAD_EXCEPTS: dict[str, int] = {
    "desktop/workers/document_host/locked.py": 1,
    "desktop/workers/picture_host/remaking.py": 2,
    "desktop/agents/loop/answer.py": 1,
    "desktop/agents/loop/rounds.py": 1,
    "desktop/app/commands/check.py": 1,
    "desktop/app/commands/reach.py": 1,
    "desktop/app/door/host.py": 1,
    "desktop/app/door/peer.py": 1,
    "desktop/app/home/crash.py": 1,
    "desktop/app/loop/event_loop.py": 1,
    "desktop/app/lifecycle/session.py": 1,
    "desktop/app/lifecycle/shutdown.py": 1,
    "desktop/app/lifecycle/start.py": 2,
    "desktop/services/delegation/calls.py": 1,
    "desktop/services/debates/run.py": 1,
    "desktop/services/schedules/runs.py": 1,
    "desktop/services/schedules/service.py": 2,
    "desktop/services/chats/run.py": 1,
    "desktop/services/chats/service.py": 1,
    "desktop/domain/runs/cancellation.py": 1,
    "desktop/pipeline/skills/manager.py": 1,
    "desktop/pipeline/observe.py": 1,
    "desktop/pipeline/pipeline.py": 1,
    "desktop/pipeline/skills/run.py": 1,
    "desktop/safety/permission/gate.py": 1,
    "desktop/settings/service.py": 2,
    "desktop/skills/formats/loader.py": 1,
    "desktop/skills/resolution/fabric.py": 1,
    "desktop/skills/catalogue/index.py": 1,
    "desktop/skills/catalogue/watch.py": 1,
    "desktop/store/worker.py": 2,
    "desktop/supervision/askers.py": 1,
    "desktop/supervision/bus.py": 1,
    "desktop/tools/mcp/offered.py": 1,
    "desktop/tools/mcp/server.py": 1,
    "desktop/ui/transcript/pieces/formulas.py": 1,
    "desktop/ui/transcript/pieces/pooled.py": 1,
    "desktop/workers/fence_host/colouring.py": 1,
    "desktop/workers/inside.py": 2,
    "desktop/workers/keyring_host/host.py": 1,
    "desktop/workers/mcp_host/host.py": 2,
    "desktop/workers/model_host/library.py": 1,
    "desktop/workers/model_host/request_settings.py": 1,
    "desktop/workers/model_host/streaming.py": 1,
    "desktop/workers/model_host/wire/usage.py": 1,
    "desktop/workers/python_skill/host.py": 2,
    "desktop/workers/result_host/drawn.py": 1,
}

# Files that may call `.exec()` for something that is no dialog (a statement of SQL, a loop of a separate process).
EXEC_CALLS: dict[str, str] = {
    "desktop/app/lifecycle/start.py": "Qt goes on while a thread loads the session; there is no asyncio loop yet",
    "desktop/app/loop/event_loop.py": "the application's own loop, run once",
    "desktop/app/lifecycle/startup_error.py": "a refusal in a window of its own, when no loop of ours runs",
    "desktop/app/lifecycle/window_watch.py": "Qt alone until the first paint, before there is a loop of ours",
}

# Files that import inside a function: heavy and not needed for the first paint, or not there on every system.
LATE_IMPORTS: dict[str, str] = {
    "desktop/__main__.py": "all of our code: that it is gone has to be said without it",
    "desktop/app/main.py": "Qt, which `--version` and a refusal do without, and which needs a word afterwards",
    "desktop/workers/keyring_host/host.py": "keyring takes 60 ms and may hang; a test hands the host another one",
    "desktop/workers/model_host/clouds.py": "botocore, in a thread, to sign with an access key (90 ms, 11 MB)",
    "desktop/workers/model_host/library.py": "litellm and openai take 5 s, and their types as long for mypy",
    "desktop/workers/model_host/mends.py": "parts of litellm, which take seconds, put right once it is loaded",
}

# Files outside ``desktop/systems`` that ask which system this is, or use what one does not have.
CHOOSERS: dict[str, str] = {
    "desktop/app/loop/descriptors.py": "chooses what the loop waits with",
    "desktop/safety/boundary/reach_probe.py": "a script that stands alone: none of our modules are there",
    "desktop/safety/confinement/machine.py": "looks for what a system can confine with",
    "desktop/safety/confinement/shut_in.py": "chooses what workers shut themselves in with",
    "desktop/safety/confinement/trees.py": "chooses what holds and ends a process with all it started",
    "desktop/safety/confinement/walls.py": "chooses what confines",
    "desktop/safety/outcomes/here.py": "chooses whether commands can have copies of folders",
    "desktop/workers/acp_host/bridge.py": "a script that stands alone: none of our modules are there",
    "desktop/workers/js_code/__main__.py": "a script that stands alone: none of our modules are there",
}

# Files that say the name of a built-in tool, or a word that is spelled alike.
TOOL_NAMES: dict[str, str] = {
    "desktop/models/demo.py": "the demo model asks for tools by name, as every model does",
    "desktop/models/demo_roles.py": "the demo model asks for tools by name, as every model does",
    "desktop/skills/formats/other_tools.py": "the table of other products' tools and ours; skills do not see tools",
    "desktop/skills/repositories/reach.py": "what a list of tools declares, compared by name; skills do not see tools",
    "desktop/safety/shell/programs/interpreters.py": "bash, the program, as a command may start it",
    "desktop/tools/cli/category.py": "bash, the program, as an entry of tools.yaml may start it",
    "desktop/ui/approvals/rules/trial.py": "example rules, which the page shows to a person",
    "desktop/ui/schedules/form.py": "example rules, which the form shows to a person",
    "desktop/ui/transcript/colours/highlight.py": "bash, the language of a piece of code",
}

# Folders with more modules than one finds one's way in by path alone.
CROWDED: dict[str, str] = {
    "desktop/store": "one module a table or a question to the database, named for it; below them one connection"
}

# Modules that say the name of their folder again.
SAME_NAME: dict[str, str] = {
    "desktop/pipeline/pipeline.py": "the way of a call itself; the other modules of the room are its steps"
}

# Functions over the limit, each of them one list that is read from top to bottom.
LONG: dict[str, str] = {
    "desktop/app/wiring/runtime.py:_services": "every service is made here, with one argument a line",
    "tests/upgrade/make.py:fill": "one of everything that an old home can hold",
}
