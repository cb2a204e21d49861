"""Programs that combine whatever an executor must get right; every pair of features occurs.

`python -m tests.executor.corpus` prints which.
"""
