"""A repository on the Skills page: what it has with ticks, one of it beside, and the dialogs around it."""
