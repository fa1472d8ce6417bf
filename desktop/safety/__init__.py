"""What keeps effects inside what a person allowed: boundary, shell reading, environment, processes, confinement,
permission, redaction and secrets (semantics.md 25, 28-31, 33). Tools meet it through ``desktop.domain.safety``."""
