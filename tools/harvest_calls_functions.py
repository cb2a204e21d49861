"""Typical public calls of further functions, by operator type; see `harvest_records.py`."""

CALLS = {
    "i0": ["x=2,3 : paddle.i0(x)"],
    "i0e": ["x=2,3 : paddle.i0e(x)"],
    "i1": ["x=2,3 : paddle.i1(x)"],
    "i1e": ["x=2,3 : paddle.i1e(x)"],
    "renorm": ["x=2,3 : paddle.renorm(x, 2.0, 0, 1.0)"],
    "nanmedian": ["x=2,3 : paddle.nanmedian(x)", "x=2,3 : paddle.nanmedian(x, 1, True)"],
    "nextafter": ["x=2,3 y=2,3 : paddle.nextafter(x, y)"],
    "poisson": ["x=2,3 : paddle.poisson(x)"],
    "lu": ["x=3,3 : paddle.linalg.lu(x)[0]"],
    "lu_unpack": ["x=3,3 : paddle.linalg.lu_unpack(*paddle.linalg.lu(x)[:2])[2]"],
    "eig": ["x=3,3 : paddle.linalg.eig(x)[0]"],
}
