"""Files and folders of this machine, as scripts that prepare data ask for them."""

import os
import shutil
from typing import Any, NoReturn

from scull.core.absent import absent
from scull.errors import AssertError, ScullError, UnsupportedError


class FSFileExistsError(ScullError, FileExistsError):
    """There is something where a file was to be put: pass `overwrite=True`, or delete it first."""


class FSFileNotExistsError(ScullError, FileNotFoundError):
    """There is nothing where a file was to be taken from."""


class FS:
    """A file system: what `LocalFS` does, and what only a distant one could."""

    def refuse(self, function: str) -> NoReturn:
        raise UnsupportedError(f"`{type(self).__name__}.{function}` is not in scull")

    def upload(self, local_path: Any, fs_path: Any) -> Any:
        """Refused: nothing is copied."""
        self.refuse("upload")

    def upload_dir(self, local_dir: Any, dest_dir: Any) -> Any:
        """Refused: nothing is copied."""
        self.refuse("upload_dir")

    def download(self, fs_path: Any, local_path: Any) -> Any:
        """Refused: nothing is copied."""
        self.refuse("download")

    def cat(self, fs_path: Any = None) -> Any:
        """Refused: open the file."""
        self.refuse("cat")


class LocalFS(FS):
    """The files of this machine.

    Examples:
        >>> import os, tempfile
        >>> from scull.distributed.fleet.utils import LocalFS
        >>> files, top = LocalFS(), tempfile.mkdtemp()
        >>> files.mkdirs(os.path.join(top, "part"))
        >>> files.touch(os.path.join(top, "a.txt"))
        >>> files.ls_dir(top)
        (['part'], ['a.txt'])
    """

    def ls_dir(self, fs_path: Any) -> tuple[list[str], list[str]]:
        """The names of the folders and of the files in a folder, in order; none of nothing."""
        names = sorted(os.listdir(fs_path)) if self.is_exist(fs_path) else []
        folders = [name for name in names if os.path.isdir(os.path.join(fs_path, name))]
        return folders, [name for name in names if name not in folders]

    def list_dirs(self, fs_path: Any) -> list[str]:
        """The names of the folders in a folder, in order."""
        return self.ls_dir(fs_path)[0]

    def mkdirs(self, fs_path: Any) -> None:
        """Make a folder, and those it lies in.

        Raises:
            AssertionError: there is a file.
        """
        if os.path.isfile(fs_path):
            raise AssertError(f"{fs_path} is already a file")
        os.makedirs(fs_path, exist_ok=True)

    def is_file(self, fs_path: Any) -> bool:
        """Whether there is a file."""
        return os.path.isfile(fs_path)

    def is_dir(self, fs_path: Any) -> bool:
        """Whether there is a folder."""
        return os.path.isdir(fs_path)

    def is_exist(self, fs_path: Any) -> bool:
        """Whether there is something."""
        return os.path.exists(fs_path)

    def touch(self, fs_path: Any, exist_ok: bool = True) -> None:
        """Make an empty file where there is nothing.

        Raises:
            FSFileExistsError: there is something, and `exist_ok` is False.
        """
        if not self.is_exist(fs_path):
            with open(fs_path, "a", encoding="utf-8"):
                return
        if not exist_ok:
            raise FSFileExistsError(f"there is `{fs_path}` already")

    def delete(self, fs_path: Any) -> None:
        """Delete a file, or a folder with all that is in it; nothing where there is none."""
        if self.is_dir(fs_path) and not os.path.islink(fs_path):
            shutil.rmtree(fs_path)
        elif os.path.lexists(fs_path):
            os.remove(fs_path)

    def rename(self, fs_src_path: Any, fs_dst_path: Any) -> None:
        """Move a file or a folder; a file takes the place of another."""
        os.rename(fs_src_path, fs_dst_path)

    def mv(
        self, src_path: Any, dst_path: Any, overwrite: bool = False, test_exists: bool = False
    ) -> None:
        """Move a file or a folder.

        Args:
            src_path (str): where it is.
            dst_path (str): where it is to be.
            overwrite (bool): whether what is there is deleted.
            test_exists (bool): not looked at, as in Paddle.

        Raises:
            FSFileNotExistsError: there is nothing to move.
            FSFileExistsError: there is something already, and `overwrite` is False.
        """
        if not self.is_exist(src_path):
            raise FSFileNotExistsError(f"there is no `{src_path}`")
        if overwrite:
            self.delete(dst_path)
        if self.is_exist(dst_path):
            raise FSFileExistsError(f"there is `{dst_path}` already")
        self.rename(src_path, dst_path)

    def need_upload_download(self) -> bool:
        """Whether files must be copied to be read: False."""
        return False


__getattr__ = absent(__name__, {"there are no servers of files": "AFSClient HDFSClient"})
