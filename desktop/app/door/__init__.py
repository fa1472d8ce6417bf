"""Programs outside and the home: framed messages over the home's socket, for as long as both sides want."""
