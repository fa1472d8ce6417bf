"""Caps on what an MCP server may make this process hold or do. Characters unless said otherwise."""

MESSAGE_MAX = 8 * 1024 * 1024  # bytes of one message, and of one HTTP answer
GARBAGE_MAX = 100  # lines that are no JSON-RPC: programs print by accident, but not forever
BURST = 4_000  # messages at once
PER_SECOND = 2_000  # messages a second, sustained; the fastest honest server makes 860 calls
STDERR_PIECE = 4_000  # of what it writes to stderr, told at most four times a second
STDERR_PAUSE = 0.25  # seconds
LOG_AT_ONCE = 40  # lines of its log told in that time; of more the newest
LOG_LINE = 500
TOOLS_MAX = 200
PAGES_MAX = 50
TOOL_MAX = 64_000  # one tool's declaration as JSON
LIST_PAUSE = 1.0  # seconds between two listings, however often the list is said to have changed
LIST_TIMEOUT = 30.0  # seconds
TEXT_MAX = 4_000_000  # text of one result
STRUCTURED_MAX = 256_000  # a structured result as JSON
MEDIA_MAX = 7_000_000  # base64 of the images and sounds of one result, together
MEDIA_COUNT = 8
BLOCKS_MAX = 200  # pieces of content in one result
PROGRESS_MAX = 500  # one report of progress
WORDS_MAX = 2_000  # what a server says about an error
INSTRUCTIONS_MAX = 16_000  # how it wants to be used; the app keeps less, and says so
CLOSE_TIMEOUT = 2.0  # seconds for a server whose stdin was closed
FAILED_TIMEOUT = 0.4  # the same, after it did something wrong
KILL_TIMEOUT = 1.0  # seconds for one that was told to end
MEMORY_MAX = 3 * 1024**3  # bytes of data of this process; servers do not inherit it
