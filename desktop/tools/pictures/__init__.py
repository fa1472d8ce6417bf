"""Pictures from anywhere, opened in a process of their own and made anew."""
