"""The cascade: a skill's frontmatter with its authorities and ancestors merged in (R-INV-10 … R-INV-14)."""
