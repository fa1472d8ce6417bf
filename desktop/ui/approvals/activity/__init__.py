"""The Activity tab: every call and decision."""
