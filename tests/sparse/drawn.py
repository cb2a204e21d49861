"""Sparse tensors that are drawn, and what dense functions say of them."""

import numpy as np

import scull as paddle


def drawn(seed, shape, share, kind="coo", axes=None, dtype="float64"):
    """A leaf with about such a share of its places stored, of a kind, with sparse `axes`."""
    rng = np.random.default_rng(seed)
    axes = axes or len(shape)
    stored = rng.random(shape[:axes]) < share
    stored.flat[0] = True
    places = np.array(stored.nonzero())
    values = rng.uniform(0.2, 0.9, (places.shape[1], *shape[axes:])).astype(dtype)
    made = paddle.sparse.sparse_coo_tensor(places, values, shape, stop_gradient=False)
    if kind == "csr":
        made = made.detach().to_sparse_csr()
        made.stop_gradient = False
    return made


def whole(x):
    """A dense leaf with the same elements."""
    return paddle.to_tensor(x.numpy(), stop_gradient=False)


def at_places(x, dense):
    """The elements of an array where `x` stores its own."""
    axes = len(x.shape)
    found = x if x.is_sparse_coo() else x.detach().to_sparse_coo(axes)
    return dense[tuple(found.indices().numpy())]


def check(sparse_function, dense_function, *tensors):
    """Two functions give the same elements, and the same gradients of those stored."""
    wholes = [whole(x) if x.is_sparse() else x.detach() for x in tensors]
    for x, own in zip(wholes, tensors, strict=True):
        x.stop_gradient, own.grad = False, None
    found, expected = sparse_function(*tensors), dense_function(*wholes)
    result = found.to_dense() if found.is_sparse() else found
    np.testing.assert_allclose(result.numpy(), expected.numpy(), 1e-6, 1e-9)
    weights = paddle.to_tensor(np.random.default_rng(9).standard_normal(expected.shape))
    (result * result * weights).sum().backward()
    (expected * expected * weights).sum().backward()
    for x, dense in zip(tensors, wholes, strict=True):
        wanted = dense.grad.numpy()
        if x.is_sparse():
            wanted = at_places(x, wanted)
        own = x.grad.values() if x.is_sparse() else x.grad
        np.testing.assert_allclose(own.numpy(), wanted, 1e-6, 1e-9)
    return found
