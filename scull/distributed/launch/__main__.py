"""The command line of the launcher."""

from scull.distributed.launch.main import launch

launch()
