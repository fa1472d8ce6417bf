"""Which paths tools may read and write, and how they are opened so that what was checked is what is used."""
