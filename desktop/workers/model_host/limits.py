"""Caps on what a model or a server may make this process hold. Characters unless said otherwise."""

ANSWER_MAX = 4_000_000  # text of one answer; more ends it as if by the output limit
REASONING_MAX = 4_000_000
SEALED_MAX = 1_000_000  # what a provider wants back with one piece of thinking, as JSON
SEALED_ALL_MAX = 4_000_000  # of one answer
SEALS_MAX = 128
CALLS_MAX = 128  # tool calls in one message
ARGUMENTS_MAX = 1_000_000  # of one call
VALUES_MAX = 20_000  # values inside one call's arguments
ALL_ARGUMENTS_MAX = 4_000_000
NAME_MAX = 256
ID_MAX = 1_000
WINDOWS_KEPT = 32  # message windows remembered, least recently used go first
WINDOWS_SIZE = 64_000_000  # all of them together
BODY_MAX = 8_000_000  # bytes of a plain answer (model lists)
MODELS_MAX = 2_000  # in one list
MEMORY_MAX = 4 * 1024**3  # bytes of address space for data: the last bound, which ends this process and not the machine
LINE_MAX = 16 * 1024**2  # bytes of one line of an answer, and of one event of a stream, unpacked
LINES_MAX = 4_000_000  # of one answer, blank ones too
EVENT_LINES_MAX = 1_000  # in one event of a stream
RESPONSE_MAX = 512 * 1024**2  # bytes of one answer with all that is around its text, unpacked
ERROR_BODY_MAX = 64 * 1024  # bytes of what a server says to a refusal; the library searches it slowly
ENCODINGS_MAX = 2  # one packing around another
