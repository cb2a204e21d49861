# `make demo` and `make test` need Python (3.11 or newer) and make, nothing else.

ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python python3.14 python3.13 python3.12 python3.11; do \
  $$name -c '$(ENOUGH)' 2>/dev/null && echo $$name && break; done)
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test sweep nightly fuzz bench dist lint clean

# An environment made for another folder runs that folder's code: make it anew.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
$(shell rm -f $(READY))
endif

demo: $(READY)
	$(BIN)/scull demo

test: lint
	$(BIN)/python -m pytest -q -n 2
	$(BIN)/python tools/size.py

# Every sample and dtype, where `make test` takes one of each kind.
sweep: $(READY)
	$(BIN)/python -m pytest -q -n 2 --sweep

# Ten times the random orders of the executor's corpus, a hundred thousand steps of training, ten
# thousand programs with control flow, ten thousand Layers made static, 32 threads on one predictor,
# a hundred thousand graphs of operators as machine code, every figure of the benchmarks.
nightly: $(READY)
	$(BIN)/python -m pytest -q -n 2 --nightly tests/executor tests/control tests/compiler \
		tests/jit/test_random_programs.py tests/inference tests/benchmarks

# A million damaged files: a model or a typed error each time. It goes on where its log ends.
fuzz: $(READY)
	$(BIN)/python -m tools.fuzz --cases 1000000 --log fuzz.json

bench: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

lint: $(READY)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

# The wheel, built from the source archive, tried where nothing of the checkout can be seen.
dist: $(READY)
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	set -e; unset PYTHONPATH; away=$$(mktemp -d); trap 'rm -rf "$$away"' EXIT; mkdir "$$away/empty"; \
	  $(PYTHON) -m venv "$$away/venv"; \
	  "$$away/venv/bin/python" -m pip install --quiet dist/*.whl; \
	  if [ -f examples/first.py ]; then cp examples/first.py "$$away"; fi; \
	  cd "$$away/empty"; \
	  "$$away/venv/bin/scull" doctor; \
	  if [ -f ../first.py ]; then "$$away/venv/bin/python" ../first.py; fi

clean:
	rm -rf .venv build dist report .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@[ -n "$(PYTHON)" ] || { echo 'No Python 3.11 or newer is on the path: make PYTHON=/where/it/is'; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@echo '$(CURDIR)' > $(READY)
