"""What a version of Assent may do, worked out from its own code: `python3 packaging/dev.py rights` writes it to
`resources/rights.json`, which every package carries, and which the next version is compared with."""
