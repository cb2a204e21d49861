"""A logger with a format of its own."""

import logging


def get_logger(name: str, level: int | str, fmt: str | None = None) -> logging.Logger:
    """The logger `name`, which prints by itself.

    Args:
        name (str): what it is called.
        level (int): from which level on it prints.
        fmt (str, optional): the format of a line.

    Returns:
        Logger: the same one for the same name; its format is the first that was given.

    Examples:
        >>> import logging
        >>> get_logger("scull.example", logging.INFO, fmt="%(levelname)s: %(message)s").level
        20
    """
    logger = logging.getLogger(name)
    logger.setLevel(level)
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(fmt) if fmt else None)
        logger.addHandler(handler)
    logger.propagate = False
    return logger
