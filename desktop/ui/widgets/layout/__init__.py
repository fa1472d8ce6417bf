"""How widgets stand on a page: columns, cards, panes that fold."""
