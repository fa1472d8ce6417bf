"""What a person reads of each right that the code has. Each entry of the code needs one here, and each here one in the
code; which category it has follows from what is done, and stands nowhere here."""

from typing import NamedTuple


class Words(NamedTuple):
    """A sentence, and when it happens or what holds it."""

    title: str
    detail: str


PARTS: dict[tuple[str, str], Words] = {
    ("reaches", "app/commands"): Words(
        "Serves what you offer to other programs.", "Only by `assent mcp --http`, on this computer, with a token."
    ),
    ("reaches", "models/server_programs"): Words(
        "Looks for a free port on this computer.", "When you have a model server started. Nothing is sent."
    ),
    ("reaches", "systems/windows"): Words(
        "Says on Windows that it was started again.", "To the Assent that runs already, on this computer."
    ),
    ("reaches", "workers/acp_agent"): Words(
        "Answers editors that start `assent acp`.", "Over the pipes of the editor; no other computer is asked."
    ),
    ("reaches", "workers/acp_host"): Words(
        "Talks to agents of other makers.", "Over their pipes. Each is off until you switch it on."
    ),
    ("reaches", "workers/mcp_host"): Words(
        "Connects to the MCP servers that you have added.",
        "Each is off until you switch it on, and signs in by your browser.",
    ),
    ("reaches", "workers/model_host"): Words(
        "Asks the providers of models that you have connected.",
        "What you write goes there. None is connected at first.",
    ),
    ("reaches", "workers/update_host"): Words(
        "Looks for new versions.", "Off until you switch it on. Sends nothing but the question."
    ),
    ("reaches", "workers/web_host"): Words(
        "Reads pages of the web and asks search services.", "Each host is asked about, unless a rule allows it."
    ),
    ("listens", "systems/posix"): Words(
        "Hears when it is started again.", "By a socket in its own folder that is yours alone."
    ),
    ("listens", "systems/windows"): Words(
        "Hears on Windows when it is started again.",
        "By a port of this computer alone; who does not know the secret in its folder is sent away.",
    ),
    ("listens", "workers/mcp_host"): Words(
        "Listens on this computer for one answer.", "While you sign in to an MCP server in your browser."
    ),
    ("starts", "app/commands"): Words("Starts itself, to see whether Qt works.", "By `assent --check`."),
    ("starts", "app/desktop"): Words(
        "Asks the desktop for its settings.", "Whether it wants less motion, and large text."
    ),
    ("starts", "app/lifecycle"): Words("Starts itself again.", "After an update, when you press Restart now."),
    ("starts", "safety/confinement"): Words(
        "Starts commands and tools, confined.", "Each is judged first; what confines them is said at each request."
    ),
    ("starts", "safety/outcomes"): Words(
        "Makes copies of folders with the programs of the system.", "In which commands are tried before they are real."
    ),
    ("starts", "services/local_servers"): Words(
        "Starts Ollama and llama-server.", "When you ask for it, or have switched on that they start with Assent."
    ),
    ("starts", "services/skills"): Words(
        "Starts ssh for repositories of skills.", "When you add one that is reached by it."
    ),
    ("starts", "services/updates"): Words(
        "Starts a new version once, to see that it does.", "It says its number and ends. After your yes to the update."
    ),
    ("starts", "systems/posix"): Words(
        "Starts programs for the parts in this list.", "Each apart, so that it is ended with all that it started."
    ),
    ("starts", "systems/windows"): Words(
        "Starts programs for the parts in this list.", "Each ends with all that it started."
    ),
    ("starts", "workers/child"): Words("Starts its own helper processes.", "Those that stand in this list."),
    ("starts", "workers/js_code"): Words("Starts the sandbox for code that models write.", "It reaches nothing."),
    ("starts", "workers/stdio_process"): Words(
        "Starts MCP servers and agents of other makers.", "Confined, and each only after you have switched it on."
    ),
    ("opens", "app/wiring"): Words("Opens the page where you sign in.", "In your browser, after your yes."),
    ("opens", "ui/changes"): Words("Opens the folder of a changed file.", "When you press the button."),
    ("opens", "ui/chat"): Words("Opens links of chats.", "When you press one; its whole address is shown."),
    ("opens", "ui/settings"): Words("Opens the page where you sign in to a server.", "When you press the button."),
    ("opens", "ui/skills"): Words("Opens links in a skill's text.", "When you press one."),
    ("opens", "ui/transcript"): Words("Opens a picture that you have saved.", "When you press the button."),
    ("keys", "workers/keyring_host"): Words(
        "Reads and writes its entries in your system's keyring.", "Keys of providers, and what you keep for tools."
    ),
    ("desktop", "app/desktop"): Words("Shows notifications.", "That a request waits; never what it is about."),
    ("system", "systems/windows"): Words(
        "Calls Windows itself.", "For locks and real paths of files, for memory, and to hold and end what it started."
    ),
    ("system", "systems/message_box"): Words("Calls Windows itself.", "To say why Assent cannot start."),
    ("system", "app/desktop"): Words("Calls libraries of the system.", "To look which ones Qt misses."),
    ("system", "app/lifecycle"): Words("Calls libraries of the system.", "For the memory that it gives back."),
    ("system", "safety/boundary"): Words("Calls the system directly.", "To open files without following links."),
    ("system", "safety/changes"): Words("Calls the system directly.", "To replace files in one step."),
    ("system", "safety/confinement"): Words("Calls the system directly.", "To shut processes in."),
    ("system", "safety/outcomes"): Words("Calls the system directly.", "To read what a command did in its copy."),
    ("system", "workers/document_host"): Words("Calls PDFium directly.", "To read PDF documents, shut in."),
    ("system", "workers/hardening"): Words("Calls the system directly.", "To shut helper processes in."),
    ("system", "workers/update_host"): Words(
        "Calls the system directly.", "To have a new version written to the disk."
    ),
    ("knows", "models/providers"): Words(
        "Knows the addresses of providers of models.", "Asked only when you connect one."
    ),
    ("knows", "workers/model_host"): Words(
        "Knows where providers list their models.", "Asked only when you connect one."
    ),
    ("knows", "tools/builtin"): Words("Knows the addresses of search services.", "Asked only when you connect one."),
}

PROCESSES: dict[str, str] = {
    "acp_host": "Talks to agents of other makers.",
    "document_host": "Reads documents.",
    "fence_host": "Colours code and draws diagrams.",
    "file_search": "Searches files.",
    "js_code": "Runs code that models write.",
    "keyring_host": "Talks to the system's keyring.",
    "mcp_host": "Talks to MCP servers.",
    "model_host": "Talks to providers of models.",
    "picture_host": "Opens pictures.",
    "python_skill": "Runs your skills in Python.",
    "result_host": "Draws pages and tables that chats write.",
    "update_host": "Looks for new versions and unpacks them.",
    "web_host": "Reads pages of the web.",
}
"""The helper processes, by their folders in ``desktop/workers``."""

HELD: dict[str, str] = {
    "acp_host": "confines each agent that it starts",
    "file_search": "goes only where the boundary lets it",
    "mcp_host": "confines each server that it starts",
    "python_skill": "is confined anew for each call",
}
"""What holds a process that does not shut itself in: whoever starts it, or what it heeds."""
