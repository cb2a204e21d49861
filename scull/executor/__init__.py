"""The executor: a plan made ahead by pure steps, and a loop that runs it."""
