"""Data sets of files under their older name, with a method for each setting."""

from typing import Any

from scull.distributed.fleet import dataset
from scull.errors import ArgumentError, UnsupportedError


class DatasetFactory:
    """What makes data sets."""

    def create_dataset(self, datafeed_class: str = "QueueDataset") -> Any:
        """A data set of a kind.

        Args:
            datafeed_class (str): "QueueDataset" or "InMemoryDataset".
        """
        if datafeed_class not in KINDS:
            raise ArgumentError(f"there is no data set {datafeed_class}, only {', '.join(KINDS)}")
        return KINDS[datafeed_class]()


class DatasetBase(dataset.Samples):
    """Samples in files of text, as `paddle.distributed.QueueDataset` says."""

    def set_batch_size(self, batch_size: int) -> None:
        """Say how many samples a run is fed with."""
        self.init(batch_size=batch_size)

    def set_use_var(self, var_list: list[Any]) -> None:
        """Say which variables are fed, in the order of a line's slots."""
        self.init(use_var=var_list)

    def set_pipe_command(self, pipe_command: str) -> None:
        """Say through which command of the shell each file goes."""
        self.init(pipe_command=pipe_command)

    def set_thread(self, thread_num: int) -> None:
        """Take a number of threads, of no effect."""

    def set_input_type(self, input_type: int) -> None:
        """Take a type of input, of no effect."""

    def set_download_cmd(self, download_cmd: str) -> None:
        """Take a command, of no effect."""

    def set_hdfs_config(self, fs_name: str, fs_ugi: str) -> None:
        """Refuse files of other machines."""
        raise UnsupportedError(f"there is no file system {fs_name}: files are on this machine")


class QueueDataset(DatasetBase, dataset.QueueDataset):
    """Samples that are read while a Program runs."""


class InMemoryDataset(DatasetBase, dataset.InMemoryDataset):
    """Samples that are read into memory first."""

    def set_queue_num(self, queue_num: int) -> None:
        """Take a number of queues, of no effect."""

    def set_fea_eval(self, record_candidate_size: int, fea_eval: bool = True) -> None:
        """Take how many samples are looked at where slots are shuffled, of no effect."""


KINDS = {"QueueDataset": QueueDataset, "InMemoryDataset": InMemoryDataset}
