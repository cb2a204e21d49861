"""Words that two actresses say in seven moods."""

import os

from scull.audio.datasets.dataset import AudioClassificationDataset, extracted, fold
from scull.errors import AssertError, FileError


class TESS(AudioClassificationDataset):
    """Words said in seven moods: what a file is seen as, and the number of its mood.

    M. K. Pichora-Fuller and K. Dupuis, "Toronto emotional speech set" (2020). Files are taken in
    the order of their names, one after the other into each fold.

    Args:
        mode (str): ``"train"``: all folds except one; otherwise that one.
        n_folds (int): how many folds there are.
        split (int): the fold that is left out, from 1 on.
        feat_type (str): what sounds are seen as, as in `AudioClassificationDataset`.
        archive (dict, optional): the ``"url"`` and ``"md5"`` that a refusal names.
        kwargs: the arguments of the layer that makes features.

    Raises:
        MissingFileError: the files are not where Paddle extracts them; the message says where.
        FileError: the name of a file has no mood.
        AssertError: there is no such fold, or there are none.
        RunError: another `feat_type`.
    """

    archive = {  # noqa: RUF012
        "url": "https://bj.bcebos.com/paddleaudio/datasets/TESS_Toronto_emotional_speech_set.zip",
        "md5": "1465311b24d1de704c4c63e4ccc470c7",
    }
    label_list = ["angry", "disgust", "fear", "happy", "neutral", "ps", "sad"]  # noqa: RUF012
    audio_path = "TESS_Toronto_emotional_speech_set"

    def __init__(self, mode="train", n_folds=5, split=1, feat_type="raw", archive=None, **kwargs):
        if not isinstance(n_folds, int) or n_folds < 1:
            law = "the n_folds should be integer and n_folds >= 1, but got"
            raise AssertError(f"{law} {n_folds}")
        split = fold(split, n_folds)
        if archive is not None:
            self.archive = archive
        top = extracted(self.archive, self.audio_path) / self.audio_path
        paths = [
            os.path.join(folder, name)
            for folder, _, names in sorted(os.walk(top))
            for name in sorted(names)
            if name.endswith(".wav")
        ]
        files = [
            path for i, path in enumerate(paths) if (i % n_folds + 1 == split) != (mode == "train")
        ]
        super().__init__(files, [self._mood(path) for path in files], feat_type, **kwargs)

    def _mood(self, path):
        """The number of the mood, which is the last word of the name of a file."""
        mood = os.path.basename(path).removesuffix(".wav").rpartition("_")[2]
        if mood not in self.label_list:
            raise FileError(f"`{path}` names no mood; there are {', '.join(self.label_list)}")
        return self.label_list.index(mood)
