"""What every test stands on: guards that fail a test for what it leaves behind, loops, and real helper processes."""
