"""Images and sounds of messages: opened large, copied, saved."""
