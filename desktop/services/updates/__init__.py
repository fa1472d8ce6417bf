"""New versions of Assent: looked for, shown with what they may newly do, laid down, and taken back."""
