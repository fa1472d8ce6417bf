"""What people and models read of calls that an earlier process had begun."""

NOBODY_KNOWS = "This had begun when Assent ended, and nobody knows whether it was done."
ANOTHER_WAY = (
    "Assent ended in the middle of this, and it goes another way now than it did then. This call is new; what was made "
    "then may be the same in other words."
)
JUST_LIKE_IT = "A call just like this had begun when Assent ended, and nobody knows whether it was done."
SECRET_NOT_KEPT = "its arguments held a secret, which Assent does not keep."
SAID_DONE = "This call had begun when Assent was closed. The person says that it was done; what it gave is not known."
SKIPPED = "This call had begun when Assent was closed, and nobody knows whether it was done. It was not made again."
DONE_BEFORE = "This call was done before; what it gave is not kept any more."
FAILED_BEFORE = "This call was made before, and it failed; why is not kept any more."
MADE_BEFORE = "Before Assent ended, this call had made these, and it did not come to them again:"
LOOK_FIRST = "It was not made again. Find out whether it was done before you do anything like it."
NOT_MADE = "This call was not made: the run ended before it began. Nobody said no to it."
CUT_OFF = "This call, which only reads, was cut off when Assent ended."
