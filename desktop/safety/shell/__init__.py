"""Shell commands read before anybody is asked: which files they touch, what they write, what each part does."""
