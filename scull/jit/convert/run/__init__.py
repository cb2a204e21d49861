"""What the calls in converted code do when it runs: Python, or a part of a Program."""
