"""What the page of mcp.yaml offers to begin with. No Qt."""

EXAMPLE = """\
# Each entry is an MCP server. Its tools become tools here once you have looked at them.
servers:
  - name: files
    command: npx                   # one program, by name or absolute path; it is confined like commands
    args: ["-y", "@modelcontextprotocol/server-filesystem", "."]
    env: {}                        # the whole of it beside the allowlist; keys as "${keyring:service/user}"
    network: true                  # leave it out to follow the setting for commands
    enabled: false                 # nothing starts before you say so
    category: admin                # of its tools: read runs, write asks each time, admin asks and is never remembered
    tools:
      list_directory: read         # for this one alone
"""
