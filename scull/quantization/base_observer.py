"""What every observer can be asked."""

from abc import abstractmethod
from typing import Any

from scull.quantization.base_quanter import BaseQuanter


class BaseObserver(BaseQuanter):
    """The parent of quanters that watch numbers without changing them."""

    @abstractmethod
    def cal_thresholds(self) -> Any:
        """Find the scales of what was seen."""
