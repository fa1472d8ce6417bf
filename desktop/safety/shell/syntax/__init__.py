"""The language of a shell: words, commands, sums, options."""
