"""Sounds with classes, as they are or as spectra."""

from scull.audio.backends.wave_backend import load
from scull.audio.features.pitch import MFCC, LogMelSpectrogram, MelSpectrogram
from scull.audio.features.spectrum import Spectrogram
from scull.errors import AssertError, MissingFileError, RunError
from scull.io import Dataset, source

FEATURES = {
    "raw": None,
    "melspectrogram": MelSpectrogram,
    "mfcc": MFCC,
    "logmelspectrogram": LogMelSpectrogram,
    "spectrogram": Spectrogram,
}


class AudioClassificationDataset(Dataset):
    """Sounds of files: what they are to be seen as, and the number of their class.

    Args:
        files (list[str]): the files.
        labels (list[int]): the classes.
        feat_type (str): ``"raw"``: the samples; ``"spectrogram"``, ``"melspectrogram"``,
            ``"logmelspectrogram"`` or ``"mfcc"``: what such a layer of `audio.features` makes of
            them.
        sample_rate (int, optional): not looked at: the file says it.
        kwargs: the arguments of that layer, except `sr`.

    Raises:
        RunError: another `feat_type`.
    """

    def __init__(self, files, labels, feat_type="raw", sample_rate=None, **kwargs):
        if feat_type not in FEATURES:
            law = f"Unknown feat_type: {feat_type}, it must be one in {list(FEATURES)}"
            raise RunError(law)
        self.files, self.labels = files, labels
        self.feat_type, self.sample_rate, self.feat_config = feat_type, sample_rate, kwargs

    def __getitem__(self, idx):
        sound, self.sample_rate = load(self.files[idx])
        sound = sound.squeeze(0) if sound.shape[0] == 1 else sound
        layer = FEATURES[self.feat_type]
        if layer is not None:
            rate = {} if layer is Spectrogram else {"sr": self.sample_rate}
            sound = layer(**rate, **self.feat_config)(sound)
        return sound, self.labels[idx]

    def __len__(self):
        return len(self.files)


def extracted(archive, *needed):
    """The folder of an archive that Paddle downloaded and extracted.

    Raises:
        MissingFileError: some of what is needed is not there; the message says what to do.
    """
    for path in (source.CACHE / part for part in needed):
        if not path.exists():
            raise MissingFileError(
                f"scull downloads nothing: get {archive['url']} (MD5 {archive['md5']}) and extract"
                f" it at {source.CACHE}, so that there is {path}"
            )
    return source.CACHE


def fold(split, count):
    """A fold, from 1 on."""
    if not isinstance(split, int) or not 1 <= split <= count:
        law = "The selected split should be integer, and 1 <= split <="
        raise AssertError(f"{law} {count}, but got {split}")
    return split
