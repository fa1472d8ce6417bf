"""Skills as chats use them: found, named in a message, listed, their files read; and edited by a person."""
