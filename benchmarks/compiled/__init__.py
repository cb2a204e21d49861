"""Programs as machine code, beside the fastest of what is installed.

Every contender works in a process of its own, so that what its threads do is nobody else's time.
"""
