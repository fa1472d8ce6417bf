"""Windows. None of it was run there by us; what was seen to work under Wine, the room's README says."""
