"""What `dev.py package` makes: wheel and sdist, the self-contained folder, and the packages made of it."""
