"""Model servers of this computer that a person has Assent start."""
