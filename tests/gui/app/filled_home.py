"""A home after some months: connections, skills, agents, servers, tools and limits, whole and broken."""

import json
import sys
from pathlib import Path

from tests.gui.skills.kit import PARAMS, skill
from tests.servers.mcp import honest, hostile

LONG = "A connection that somebody gave a name as long as the sentence that explains what it is for, and then some"
WORD = "anamewithoutanyblankinitthatislongerthananybodywouldevertypeandstillallowed"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)


def fill(home: Path) -> None:
    """Everything that files can make."""
    home.mkdir(mode=0o700)
    _config(home)
    _servers(home)
    _tools(home)
    _skills(home)
    _agents(home)


def _config(home: Path) -> None:
    nowhere = "http://127.0.0.1:9/v1"
    connections = [
        {"id": "lab", "provider": "openai_compatible", "title": LONG, "base_url": f"{nowhere}/{WORD}"},
        {"id": "openai", "provider": "openai", "title": "OpenAI", "secret_name": "connection/openai"},
        {
            "id": "cloud",
            "provider": "azure",
            "title": WORD,
            "base_url": "https://x.openai.azure.com",
            "secret_name": "connection/cloud",
            "options": {"api_version": "2024-10-21", "deployment": "gpt"},
        },
        {"id": "ollama", "provider": "ollama", "title": "Ollama", "base_url": nowhere},
    ]
    project = home.parent / "project" / WORD
    config = {
        "models": {"default": "scripted/scripted", "connections": connections},
        "security": {
            "allowed_paths": ["~/work", f"~/{WORD}/{WORD}", "/"],
            "denied_paths": ["~/.ssh", "/nowhere/at/all"],
            "blocklist_extra": [r"\bterraform\s+apply\b"],
        },
        "tools": {"timeouts": {"bash": 600, f"tickets-{WORD[:40]}": 20}},
        "skills": {"projects": [str(project)]},
        "nonsense": {"key": 1},
    }
    (home / "config.yaml").write_text(json.dumps(config))


def _servers(home: Path) -> None:
    def entry(name: str, command: list[str], **more: object) -> dict[str, object]:
        return {"name": name, "command": command[0], "args": command[1:], "enabled": True, **more}

    servers = [
        entry("files", honest(), tools={"say": "read"}),
        entry("ends", hostile("dies")),
        {"name": "elsewhere-with-a-long-name-to-it", "url": f"https://{WORD}.example.org/mcp/{WORD}/{WORD}"},
        {"name": "off", "command": "npx", "args": ["-y", f"@{WORD}/{WORD}"]},
        {"name": "Broken", "command": "a b"},
    ]
    (home / "mcp.yaml").write_text(json.dumps({"servers": servers}))


def _tools(home: Path) -> None:
    tools = [
        {
            "name": f"look-up-{WORD[:30]}",
            "description": LONG,
            "category": "read",
            "cmd": sys.executable,
            "args": ["-c", WORD, "{{text}}"],
            "parameters": {"text": {"type": "string"}},
        },
        {
            "name": "kube",
            "description": "Lists pods.",
            "category": "write",
            "cmd": "kubectl",
            "args": ["get", "pods"],
            "env": {"TOKEN": "${keyring:cluster/me}"},
        },
        "broken",
    ]
    (home / "tools.yaml").write_text(json.dumps({"tools": tools}))


def _skills(home: Path) -> None:
    mine = home / "skills"
    beside = mine / "pdf" / "scripts"
    beside.mkdir(parents=True)
    (mine / "pdf" / "SKILL.md").write_text(skill("pdf", LONG, tags="data, files", extra=PARAMS))
    (beside / f"{WORD}.py").write_text("print(1)\n")
    (mine / "poem.skill.md").write_text(skill("poem", "Writes a poem.", tags=f"{WORD}, poems"))
    (mine / "broken.skill.md").write_text("---\nname: broken\ndescription: [\n---\nText\n")
    theirs = home.parent / "project" / WORD / ".claude" / "skills" / "deploy"
    theirs.mkdir(parents=True)
    (theirs / "SKILL.md").write_text(skill("deploy", "Deploys the project."))


def _agents(home: Path) -> None:
    agents = home / "agents"
    agents.mkdir()
    (agents / "tide.png").write_bytes(PNG)
    (agents / "tide_agent.yaml").write_text(
        f"name: tide_agent\ntitle: {LONG}\ndescription: {LONG}\nicon: {agents / 'tide.png'}\n"
        "sideA:\n  prompt: assistant\n  maxSteps: 12\nexposeAsTool: true\ntoolDescription: Looks at the tide.\n"
    )
    (agents / "pair_agent.yaml").write_text(
        "name: pair_agent\ntype: dual_ai\ndescription: Two of them.\nsideA:\n  label: For\n  prompt: assistant\n"
        "sideB:\n  label: Against\n  prompt: assistant\n"
    )
    (agents / "broken_agent.yaml").write_text("name: ../bad\nsideA: 1\n")
