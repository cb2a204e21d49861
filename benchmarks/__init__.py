"""The figures scull is built to, measured beside other frameworks: `python -m benchmarks`."""

import os

# One thread each: read by the libraries when they are imported, which is after this line.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[name] = "1"

os.environ.setdefault("SCULL_COMPILE", "off")  # rows of machine code say so
