"""The memory of the pool: what its threads tell one another, each on lines of its own.

The first word says which job there is: in the upper half the job's number, in the lower how many
workers are in it (16 bits) and how many more may come (16 bits).
"""

MOST = 256  # threads
LINE = 128  # bytes that two cores never share
CPUS = 1024  # that a mask of CPUs has bits for
STACK = 8 << 20  # bytes of a worker's stack
SECTIONS = 4096  # where the sections begin

POOL = {
    "word": (0, "i64"),
    "inside": (0, "i32"),  # the lower half, which who waits for workers sleeps on
    "number": (4, "i32"),  # the upper half, which workers sleep on
    "function": (8, "ptr"),
    "arguments": (16, "ptr"),
    "count": (24, "i64"),  # of sections
    "control": (32, "i32"),  # how the processor rounds: that of the thread whose job it is
    "cpu": (36, "i32"),  # on which whoever woke the others last is
    "sleepers": (LINE, "i64"),
    "waiting": (2 * LINE, "i64"),
    "busy": (3 * LINE, "i64"),
    "threads": (4 * LINE, "i64"),
    "spin": (4 * LINE + 8, "i64"),
    "started": (4 * LINE + 16, "i64"),
    "ending": (4 * LINE + 24, "i64"),
    "patience": (4 * LINE + 32, "i64"),
    "alone": (5 * LINE, "i64"),  # how many small jobs to come run alone
    "owed": (5 * LINE + 16, "i64"),  # the work of jobs for which nobody was woken
    "waits": (5 * LINE + 8, "i64"),  # a measure of how often one had to wait lately
    "handles": (1024, "i64"),
}
SECTION = {"next": (0, "i64"), "end": (8, "i64")}
SIZE = SECTIONS + MOST * LINE
COMING = 1 << 16  # one more that may come
CLOSED = ~(0xFFFF << 16)
LARGE = 1_000_000  # nanoseconds of a job that is worth being waited for
WAKE = 100_000  # nanoseconds of work for which threads are woken
MOST_ALONE = 255
