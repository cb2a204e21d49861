"""Processes that send each other something."""

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {
        "processes do not train together": (
            "Group _GroupManager _add_new_group _get_global_group _get_or_throw_group_rank"
            " _warn_cur_rank_not_in_group barrier destroy_process_group get_backend wait"
        )
    },
)
