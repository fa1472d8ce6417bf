"""Questions of servers to a person: what may be asked, and the way there and back."""
