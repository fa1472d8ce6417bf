"""What keeps effects inside what a person allowed: boundary, shell reading, environment, processes, confinement,
permission, redaction and secrets. Tools meet it through ``desktop.domain.safety``."""
