"""What tests of Paddle's other IR run within."""

import functools
from collections.abc import Callable
from typing import Any

from scull.core import session
from scull.framework.setting import set_flags
from scull.ir.mode import disable_static, enable_static, in_dynamic_mode


class IrGuard:
    """Within the block mode is static and `in_pir_mode()` holds; Programs are scull's own."""

    def __init__(self) -> None:
        self.was_dynamic = False

    def __enter__(self) -> None:
        self.was_dynamic = in_dynamic_mode()
        enable_static()
        self.tell(True)

    def __exit__(self, *error: Any) -> None:
        self.tell(False)
        if self.was_dynamic:
            disable_static()

    def tell(self, pir: bool) -> None:
        """Say which IR code is told of."""
        session.put("pir", pir)
        set_flags({"FLAGS_enable_pir_api": pir, "FLAGS_enable_pir_in_executor": pir})


def test_with_pir_api(func: Callable[..., Any]) -> Callable[..., None]:
    """`func` as it is and then within an `IrGuard`.

    Args:
        func (Callable): a test.
    """

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> None:
        func(*args, **kwargs)
        with IrGuard():
            func(*args, **kwargs)

    return both
