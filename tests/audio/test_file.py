"""Sounds are read from files and written, and data sets of them found where they were extracted."""

import contextlib
import io
import struct
import wave
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.audio import backends, datasets
from scull.errors import (
    ArgumentError,
    AssertError,
    DtypeError,
    FileError,
    MissingFileError,
    RunError,
    UnsupportedError,
)
from scull.io import source

STEREO = np.array([[1, -2], [300, 400], [-32768, 32767]], "<i2")  # three samples of two channels


def recorded(path, samples=STEREO, width=2, rate=8000):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(samples.shape[1])
        sound.setsampwidth(width)
        sound.setframerate(rate)
        sound.writeframes(samples.tobytes())
    return str(path)


def test_a_sound_is_read_with_its_rate(tmp_path):
    path = recorded(tmp_path / "a.wav")
    found, rate = paddle.audio.load(path)
    assert rate == 8000 and found.dtype == paddle.float32
    assert np.array_equal(found.numpy(), STEREO.T / np.float32(32768))
    raw, _ = paddle.audio.load(tmp_path / "a.wav", normalize=False, channels_first=False)
    assert raw.dtype == paddle.float32 and np.array_equal(raw.numpy(), STEREO)
    part, _ = paddle.audio.load(path, 1, 5, normalize=False)
    assert part.tolist() == [[300, -32768], [400, 32767]]
    assert paddle.audio.load(path, 2, -1)[0].shape == [2, 3]  # as in Paddle: -1 is all of it
    with open(path, "rb") as stream:
        assert paddle.audio.load(stream)[0].shape == [2, 3] and stream.closed
    head = paddle.audio.info(path)
    assert (head.sample_rate, head.num_samples, head.num_channels) == (8000, 3, 2)
    assert (head.bits_per_sample, head.encoding) == (16, "PCM_S")


def test_a_sound_is_written_as_numbers_of_16_bits(tmp_path):
    path = str(tmp_path / "a.wav")
    paddle.audio.save(path, paddle.to_tensor([[0.5, -0.25, 1.0, -1.0, 7.0]]), 44100)
    with wave.open(path) as sound:
        assert sound.getparams()[:4] == (1, 2, 44100, 5)
        assert np.frombuffer(sound.readframes(5), "<i2").tolist() == [
            *(16384, -8192, 32767, -32768, 32767)
        ]
    memory = io.BytesIO()
    paddle.audio.save(memory, paddle.to_tensor(STEREO), 8000, channels_first=False)
    memory.seek(0)
    again, _ = paddle.audio.load(memory, normalize=False, channels_first=False)
    assert np.array_equal(again.numpy(), STEREO)
    paddle.audio.save(tmp_path / "b.wav", paddle.to_tensor([[0.5]], "float64"), 8000)
    assert paddle.audio.load(tmp_path / "b.wav")[0].tolist() == [[0.5]]


def test_another_format_is_refused(tmp_path):
    floats = struct.pack("<IHHIIHH", 16, 3, 1, 8000, 32000, 4, 32)
    (tmp_path / "f.wav").write_bytes(b"RIFF\x24\0\0\0WAVEfmt " + floats + b"data\0\0\0\0")
    for function in (paddle.audio.load, paddle.audio.info):
        with pytest.raises(UnsupportedError, match="PCM integers of 16 bits"):
            function(str(tmp_path / "f.wav"))
        (tmp_path / "half.wav").write_bytes(b"RIFF")
        with pytest.raises(FileError, match="ends early"):
            function(str(tmp_path / "half.wav"))
        with pytest.raises(FileNotFoundError):
            function(str(tmp_path / "nowhere.wav"))
        with pytest.raises(TypeError, match="a path or a file, not NoneType"):
            function(None)
    bytes_ = recorded(tmp_path / "8.wav", STEREO.astype("uint8"), width=1)
    with pytest.raises(FileError, match="has samples of 8 bits"):
        paddle.audio.load(bytes_)
    assert paddle.audio.info(bytes_).bits_per_sample == 8


def test_any_bytes_give_a_sound_or_an_error(tmp_path):
    whole = Path(recorded(tmp_path / "a.wav")).read_bytes()
    damaged = [whole[:end] for end in range(len(whole))]
    for at in range(len(whole)):
        damaged += [whole[:at] + bytes([byte]) + whole[at + 1 :] for byte in (0, 1, 85, 255)]
    for data in damaged:
        for function in (paddle.audio.load, paddle.audio.info):
            with contextlib.suppress(FileError, UnsupportedError):
                function(io.BytesIO(data))


def test_what_cannot_be_written_is_refused(tmp_path):
    path, sound = str(tmp_path / "a.wav"), paddle.zeros([1, 4])
    with pytest.raises(AssertError, match="Expected 2D tensor"):
        paddle.audio.save(path, sound[0], 8000)
    with pytest.raises(ArgumentError, match="only support 16 bit"):
        paddle.audio.save(path, sound, 8000, bits_per_sample=8)
    with pytest.raises(ArgumentError, match="`sample_rate` is a number above 0, not '8000'"):
        paddle.audio.save(path, sound, "8000")
    with pytest.raises(DtypeError, match="not int64"):
        paddle.audio.save(path, paddle.to_tensor([[1]]), 8000)
    with pytest.raises(FileNotFoundError):
        paddle.audio.save(str(tmp_path / "no" / "a.wav"), sound, 8000)
    assert not (tmp_path / "a.wav").exists()


def test_there_is_one_backend():
    assert backends.list_available_backends() == ["wave_backend"]
    backends.set_backend("wave_backend")
    assert backends.get_current_backend() == "wave_backend"
    assert backends.backend.AudioInfo is backends.wave_backend.AudioInfo
    with pytest.raises(UnsupportedError, match="no backend 'soundfile'"):
        backends.set_backend("soundfile")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "CACHE", tmp_path)
    return tmp_path


def test_sounds_of_fifty_kinds_are_found_by_their_list(cache):
    folder = cache / "ESC-50-master"
    rows = ["filename,fold,target,category,esc10,src_file,take"]
    for i in range(7):
        recorded(folder / "audio" / f"{i}.wav", STEREO[:, :1].repeat(200, 0))
        rows.append(f"{i}.wav,{i % 5 + 1},{3 * i},cat,False,{i},A")
    (folder / "meta").mkdir()
    (folder / "meta" / "esc50.csv").write_text("\n".join(rows))
    train, dev = datasets.ESC50(), datasets.ESC50("dev")
    assert (train.labels, dev.labels) == ([3, 6, 9, 12, 18], [0, 15])
    assert len(datasets.ESC50("dev", split=2)) == 2 and len(datasets.ESC50.label_list) == 50
    sound, label = dev[1]
    assert (sound.shape, label, dev.sample_rate) == ([600], 15, 8000)
    features, _ = datasets.ESC50(feat_type="mfcc", n_mfcc=7, n_mels=8, n_fft=64)[0]
    assert features.shape == [7, 38]
    assert datasets.ESC50(feat_type="spectrogram", n_fft=64)[0][0].shape == [33, 2]
    with pytest.raises(AssertError, match="1 <= split <= 5, but got 6"):
        datasets.ESC50(split=6)
    with pytest.raises(RunError, match="Unknown feat_type: tempo"):
        datasets.ESC50(feat_type="tempo")
    (folder / "meta" / "esc50.csv").write_text("filename,fold\na.wav,1\n")
    with pytest.raises(FileError, match="lists no sounds"):
        datasets.ESC50()


def test_words_have_the_mood_that_ends_their_name(cache):
    folder = cache / "TESS_Toronto_emotional_speech_set"
    for mood in ("sad", "angry", "ps"):
        for word in ("back", "bean"):
            recorded(folder / f"OAF_{mood}" / f"OAF_{word}_{mood}.wav")
    (folder / "readme.txt").write_text("moods")
    train, dev = datasets.TESS(n_folds=2), datasets.TESS("dev", n_folds=2)
    assert (train.labels, dev.labels) == ([0, 5, 6], [0, 5, 6])
    assert not {*train.files} & {*dev.files}
    with pytest.raises(AssertError, match="n_folds >= 1, but got 0"):
        datasets.TESS(n_folds=0)
    recorded(folder / "OAF_new_bored.wav")
    with pytest.raises(FileError, match="names no mood"):
        datasets.TESS("dev", n_folds=1)


def test_a_data_set_that_is_not_there_is_named_with_where_it_comes_from(cache):
    with pytest.raises(MissingFileError, match=r"get https://.*ESC-50-master\.zip .*extract"):
        datasets.ESC50()
    with pytest.raises(MissingFileError, match=r"get mirror \(MD5 1\)"):
        datasets.TESS(archive={"url": "mirror", "md5": "1"})
