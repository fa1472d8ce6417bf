"""Every room made once and joined to the others, in no other place."""
