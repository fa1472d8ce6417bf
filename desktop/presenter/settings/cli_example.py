"""What the page of tools.yaml offers to begin with. No Qt."""

EXAMPLE = """\
# Each entry becomes a tool. The program gets its arguments one by one: there is no shell in between.
tools:
  - name: count_lines
    description: Count the lines of a file in the workspace.
    category: read                 # read runs, write asks each time, admin asks and is never remembered
    cmd: wc                        # one program, by name or absolute path
    args: ["-l", "{{file}}"]       # {{name}} is filled in, and stays one argument
    parameters:
      file:
        type: string               # string, integer, number, boolean or enum
        description: The file, relative to the workspace.
        pattern: "^[A-Za-z0-9_./-]+$"
        maxLength: 200
"""
