"""Debates: two sides by turns, steered by a person, judged, forked and exported."""
