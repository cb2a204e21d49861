"""Print the matrix of features, then the Programs."""

import scull as paddle
from tests.executor.corpus.cover import matrix
from tests.executor.corpus.program import listing

paddle.enable_static()
print(matrix())
print(listing())
