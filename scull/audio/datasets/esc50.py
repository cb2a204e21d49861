"""Sounds of fifty kinds: animals, weather, people, houses, streets."""

import csv

from scull.audio.datasets.dataset import AudioClassificationDataset, extracted, fold
from scull.errors import FileError

KINDS = """
    Dog; Rooster; Pig; Cow; Frog; Cat; Hen; Insects (flying); Sheep; Crow;
    Rain; Sea waves; Crackling fire; Crickets; Chirping birds; Water drops; Wind; Pouring water;
    Toilet flush; Thunderstorm; Crying baby; Sneezing; Clapping; Breathing; Coughing; Footsteps;
    Laughing; Brushing teeth; Snoring; Drinking, sipping; Door knock; Mouse click;
    Keyboard typing; Door, wood creaks; Can opening; Washing machine; Vacuum cleaner; Clock alarm;
    Clock tick; Glass breaking; Helicopter; Chainsaw; Siren; Car horn; Engine; Train;
    Church bells; Airplane; Fireworks; Hand saw"""


class ESC50(AudioClassificationDataset):
    """Sounds of fifty kinds, of five seconds: what a file is seen as, and the number of its kind.

    K. J. Piczak, "ESC: Dataset for Environmental Sound Classification" (2015).

    Args:
        mode (str): ``"train"``: all folds except one; otherwise that one.
        split (int): the fold that is left out, from 1 to 5.
        feat_type (str): what sounds are seen as, as in `AudioClassificationDataset`.
        archive (dict, optional): the ``"url"`` and ``"md5"`` that a refusal names.
        kwargs: the arguments of the layer that makes features.

    Raises:
        MissingFileError: the files are not where Paddle extracts them; the message says where.
        FileError: the list of the files is none.
        AssertError: there is no such fold.
        RunError: another `feat_type`.
    """

    archive = {  # noqa: RUF012
        "url": "https://paddleaudio.bj.bcebos.com/datasets/ESC-50-master.zip",
        "md5": "7771e4b9d86d0945acce719c7a59305a",
    }
    label_list = [kind.strip() for kind in KINDS.split(";")]  # noqa: RUF012
    meta = "ESC-50-master/meta/esc50.csv"
    audio_path = "ESC-50-master/audio"

    def __init__(self, mode="train", split=1, feat_type="raw", archive=None, **kwargs):
        split = fold(split, 5)
        if archive is not None:
            self.archive = archive
        files, labels = self._chosen(mode, split)
        super().__init__(files, labels, feat_type, **kwargs)

    def _chosen(self, mode, split):
        folder = extracted(self.archive, self.meta, self.audio_path)
        files, labels = [], []
        with open(folder / self.meta, encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                try:
                    name, part, label = row["filename"], int(row["fold"]), int(row["target"])
                except (KeyError, TypeError, ValueError):
                    raise FileError(f"`{folder / self.meta}` lists no sounds: {row}") from None
                if (part == split) != (mode == "train"):
                    files.append(str(folder / self.audio_path / name))
                    labels.append(label)
        return files, labels
