"""Data sets are read from files of their formats, and nothing is downloaded."""

import doctest
import gzip
import hashlib
import io
import struct
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import scull as paddle
from scull.errors import AssertError, FileError, MissingFileError, UnsafeFileError
from scull.io import source
from scull.vision import datasets, image, ops
from scull.vision import transforms as T
from scull.vision.datasets import (
    MNIST,
    Cifar10,
    Cifar100,
    DatasetFolder,
    FashionMNIST,
    ImageFolder,
    folder,
)
from scull.vision.transforms import pillow

DIGITS = (np.arange(5 * 28 * 28) * 7 % 256).astype("uint8").reshape(5, 28, 28)
NUMBERS = np.array([3, 1, 4, 1, 5], "uint8")
PHOTOS = (np.arange(4 * 3072) * 11 % 256).astype("uint8").reshape(4, 3072)


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "CACHE", tmp_path / "cache")


def idx(array, kind):
    sizes = struct.pack(f">{array.ndim + 1}I", kind, *array.shape)
    return sizes + array.tobytes()


@pytest.fixture
def files(tmp_path):
    images, labels = tmp_path / "images.gz", tmp_path / "labels"
    images.write_bytes(gzip.compress(idx(DIGITS, 0x803), mtime=0))
    labels.write_bytes(idx(NUMBERS, 0x801))
    return {"image_path": str(images), "label_path": str(labels)}


def text(data):
    """Bytes as the pickles of Python 2 have them."""
    return b"T" + struct.pack("<i", len(data)) + data


def batch(photos, labels, key):
    """A batch of CIFAR as Python 2 pickled it."""
    rows, columns = (b"M" + struct.pack("<H", size) for size in photos.shape)
    dtype = b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R(K\x03" + text(b"|")
    dtype += b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b")
    array += b"\x87R(K\x01" + rows + columns + b"\x86" + dtype + b"\x89"
    array += text(photos.tobytes()) + b"tb"
    numbers = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    return b"\x80\x02}(" + text(b"data") + array + text(key) + numbers + b"u."


def archive(path, **members):
    with tarfile.open(path, "w:gz") as made:
        for name, data in members.items():
            item = tarfile.TarInfo(f"cifar/{name}")
            item.size = len(data)
            made.addfile(item, io.BytesIO(data))
    return str(path)


@pytest.mark.parametrize("module", [folder, image])
def test_the_examples_print_what_they_say(module):
    results = doctest.testmod(module)
    assert results.attempted and not results.failed


@pytest.mark.parametrize("kind", [MNIST, FashionMNIST])
def test_digits_are_read_with_their_labels(kind, files):
    digits = kind(**files, backend="cv2")
    assert len(digits) == 5 and digits.mode == "train"
    found, label = digits[2]
    assert found.dtype == np.float32 and np.array_equal(found, DIGITS[2])
    assert label.dtype == np.int64 and label.tolist() == [4]


def test_a_network_learns_from_digits_without_pillow(files, monkeypatch):
    monkeypatch.setattr(pillow, "is_installed", lambda: False)
    assert MNIST(**files)[0][0].dtype == np.uint8
    steps = T.Compose([T.Resize(28), T.ToTensor(), T.Normalize([0.5], [0.5])])
    digits = MNIST(**files, mode="test", transform=steps)
    found, _ = digits[1]
    assert found.shape == [1, 28, 28]
    assert np.allclose(found.numpy()[0], (DIGITS[1] / 255 - 0.5) / 0.5, atol=1e-6)
    model = paddle.Model(paddle.vision.models.LeNet())
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    model.prepare(optimizer, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    model.fit(digits, batch_size=5, verbose=0)
    assert 0 <= model.evaluate(digits, batch_size=5, verbose=0)["acc"] <= 1


def test_images_of_pillow_come_where_they_are_asked_for(files):
    if not pillow.is_installed():
        with pytest.raises(ImportError, match="pip install pillow"):
            _ = MNIST(**files, backend="pil")[0]
        pytest.skip("Pillow is not installed")
    found, _ = MNIST(**files)[0]
    assert pillow.is_image(found) and np.array_equal(np.asarray(found), DIGITS[0])


def test_photos_are_read_with_their_labels(tmp_path):
    ten = archive(
        tmp_path / "ten.tar.gz",
        data_batch_2=batch(PHOTOS[2:], [7, 9], b"labels"),
        data_batch_1=batch(PHOTOS[:2], [3, 1], b"labels"),
        test_batch=batch(PHOTOS[:1], [5], b"labels"),
    )
    photos = Cifar10(ten, backend="cv2")
    assert [int(label) for _, label in photos] == [3, 1, 7, 9]
    found, label = photos[3]
    assert found.dtype == np.float32 and label.shape == () and label.dtype == np.int64
    assert np.array_equal(found, PHOTOS[3].reshape(3, 32, 32).transpose(1, 2, 0))
    assert len(Cifar10(ten, mode="TEST")) == 1
    hundred = archive(tmp_path / "hundred.tar.gz", train=batch(PHOTOS, [99] * 4, b"fine_labels"))
    assert [int(label) for _, label in Cifar100(hundred, backend="cv2")] == [99] * 4


def test_what_paddle_downloaded_is_found_when_it_is_whole(files, tmp_path, monkeypatch):
    folder = tmp_path / "cache" / "mnist"
    folder.mkdir(parents=True)
    for name, kind in (("image_path", "images-idx3"), ("label_path", "labels-idx1")):
        with open(files[name], "rb") as stream:
            data = stream.read()
        (folder / f"train-{kind}-ubyte.gz").write_bytes(data)
        digest = hashlib.md5(data).hexdigest()
        monkeypatch.setattr(MNIST, f"TRAIN_{name[:5].upper()}_MD5", digest)
    assert len(MNIST()) == 5
    (folder / "train-images-idx3-ubyte.gz").write_bytes(b"half of it")
    with pytest.raises(MissingFileError, match=r"get https://.*/train-images.* \(MD5 "):
        MNIST()


def test_a_file_that_is_not_there_is_named_with_where_it_comes_from(files, tmp_path):
    with pytest.raises(MissingFileError, match=r"downloads nothing: get https://.*t10k-im"):
        MNIST(mode="test")
    with pytest.raises(MissingFileError, match=r"cifar-100-python.*as `data_file`, or put it at"):
        Cifar100()
    with pytest.raises(MissingFileError, match="there is no file `nowhere`"):
        MNIST(image_path="nowhere")
    with pytest.raises(AssertError, match="data_file is not set and downloading"):
        Cifar10(download=False)
    with pytest.raises(AssertError, match="'train' or 'test', but got valid"):
        MNIST(**files, mode="valid")
    for kind, end in ((datasets.Flowers, r"102flowers\.tgz"), (datasets.VOC2012, r"2012\.tar")):
        with pytest.raises(MissingFileError, match=rf"downloads nothing: get https?://.*{end}"):
            kind()
        with pytest.raises(AssertError, match="data_file is not set and downloading"):
            kind(download=False)
        with pytest.raises(AssertError, match="'train', 'valid' or 'test', but got x"):
            kind(mode="x")
        with pytest.raises(ValueError, match=r"one of \['pil', 'cv2'\], but got tensor"):
            kind(backend="tensor")


@pytest.mark.parametrize(
    ("data", "law"),
    [
        (idx(DIGITS, 0x801), "begins with 0x801, and 0x803 is wanted"),
        (idx(DIGITS, 0x803)[:-1], "has not the 3920 bytes"),
        (idx(DIGITS, 0x803) + b"1", "has not the 3920 bytes"),
        (b"\x00\x00", "ends within its head"),
        (gzip.compress(idx(DIGITS, 0x803), mtime=0)[:40], "cannot be unpacked"),
        (idx(DIGITS[:4], 0x803), "4 images and 5 labels"),
    ],
)
def test_a_damaged_file_of_digits_is_refused(data, law, files, tmp_path):
    (tmp_path / "damaged").write_bytes(data)
    with pytest.raises(FileError, match=law):
        MNIST(str(tmp_path / "damaged"), files["label_path"])


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(b"no archive")
    with pytest.raises(FileError, match="is no archive"):
        Cifar10(str(path))
    with pytest.raises(FileError, match="has no member `data_batch`"):
        Cifar10(archive(path, other=b""))
    with pytest.raises(FileError, match="is no batch: 'labels'"):
        Cifar10(archive(path, data_batch=batch(PHOTOS, [1] * 4, b"names")))
    with pytest.raises(FileError, match="is no batch"):
        Cifar10(archive(path, data_batch=batch(PHOTOS, [1], b"labels")))
    with pytest.raises(UnsafeFileError):
        Cifar10(archive(path, data_batch=b"\x80\x02cos\nsystem\n(S'echo'\ntR."))


def test_folders_are_classes(tmp_path):
    for name in ("dogs/b.PNG", "cats/a.jpg", "cats/old/c.png", "cats/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)

    def read(path):
        with open(path) as stream:
            return stream.read()

    found = DatasetFolder(str(tmp_path), read, transform=str.upper)
    assert found.classes == ["cats", "dogs"] and found.targets == [0, 0, 1]
    assert [found[i] for i in range(3)] == [
        ("CATS/A.JPG", 0),
        ("CATS/OLD/C.PNG", 0),
        ("DOGS/B.PNG", 1),
    ]
    flat = ImageFolder(str(tmp_path), read, is_valid_file=lambda path: path.endswith(".txt"))
    assert [*flat] == [["cats/notes.txt"]] and len(flat) == 1
    for kind in (DatasetFolder, ImageFolder):
        with pytest.raises(RuntimeError, match=r"Found 0 [^$]* extensions are: \.gif"):
            kind(str(tmp_path), extensions=(".gif",))
    with pytest.raises(AssertError, match="must be list or tuple"):
        ImageFolder(str(tmp_path), extensions=".png")


def picture(seed, kind="PNG", colors=True):
    """The bytes of a file of a picture, and its pixels."""
    library = pytest.importorskip("PIL.Image", reason="pictures are decoded by Pillow")
    shape = (4 + seed, 6, 3) if colors else (4 + seed, 6)
    pixels = (np.arange(np.prod(shape)) * 37 % 256).astype("uint8").reshape(shape)
    stream = io.BytesIO()
    library.fromarray(pixels).save(stream, kind)
    return stream.getvalue(), pixels


def bundle(path, members, mode):
    """An archive of files."""
    with tarfile.open(path, mode) as made:
        for name, data in members.items():
            item = tarfile.TarInfo(name)
            item.size = len(data)
            made.addfile(item, io.BytesIO(data))
    return str(path)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_flowers_are_read_with_their_kinds(mode, tmp_path):
    matlab = pytest.importorskip("scipy.io", reason="SciPy writes files of MATLAB")
    photos = {f"jpg/image_{i:05d}.jpg": picture(i)[0] for i in range(1, 6)}
    matlab.savemat(tmp_path / "kinds.mat", {"labels": np.array([[9, 7, 102, 1, 3]], "uint8")})
    parts = {"trnid": [[2]], "valid": [[5]], "tstid": [[4, 3, 1]]}
    parts = {name: np.array(part, "uint16") for name, part in parts.items()}
    matlab.savemat(tmp_path / "parts.mat", parts)
    given = [bundle(tmp_path / "a.tgz", photos, mode)]
    given += [str(tmp_path / "kinds.mat"), str(tmp_path / "parts.mat")]
    flowers = datasets.Flowers(*given)
    assert [label.tolist() for _, label in flowers] == [[1], [102], [9]]
    found, label = flowers[1]
    assert pillow.is_image(found) and np.array_equal(np.asarray(found), picture(3)[1])
    assert label.dtype == np.int64 and len(datasets.Flowers(*given, mode="VALID")) == 1
    (found, _) = datasets.Flowers(*given, mode="test", backend="cv2")[0]
    assert found.dtype == np.float32 and np.array_equal(found, picture(2)[1])
    made = datasets.Flowers(*given, transform=T.ToTensor(), backend="cv2")[2][0]
    np.testing.assert_allclose(made.numpy(), picture(1)[1].transpose(2, 0, 1) / 255, atol=1e-6)
    with pytest.raises(FileError, match="has no `tstid`"):
        datasets.Flowers(*given[:2], given[1])
    matlab.savemat(given[2], {"tstid": np.array([[6]])})
    with pytest.raises(FileError, match=r"names pictures that .* lacks"):
        datasets.Flowers(*given)
    matlab.savemat(given[2], {"tstid": np.array([[2]])})
    bundle(given[0], {"jpg/image_00002.jpg": b"no picture"}, mode)
    with pytest.raises(FileError, match=r"`jpg/image_00002\.jpg` of .* is no picture"):
        datasets.Flowers(*given)[0]
    bundle(given[0], {}, mode)
    with pytest.raises(FileError, match=r"has no member `jpg/image_00002\.jpg`"):
        datasets.Flowers(*given)[0]


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_photographs_are_read_with_the_kinds_of_their_pixels(mode, tmp_path):
    top = "VOCdevkit/VOC2012/"
    parts = {"trainval": "a\nb\nc\n", "val": "c\n", "train": "a\nb\n"}
    files = {f"{top}ImageSets/Segmentation/{p}.txt": n.encode() for p, n in parts.items()}
    for i, name in enumerate("abc"):
        files[f"{top}JPEGImages/{name}.jpg"] = picture(i)[0]
        files[f"{top}SegmentationClass/{name}.png"] = picture(i, colors=False)[0]
    path = bundle(tmp_path / "voc.tar", files, mode)
    assert [len(datasets.VOC2012(path, mode)) for mode in ("train", "valid", "test")] == [3, 1, 2]
    photo, kinds = datasets.VOC2012(path, "valid")[0]
    assert np.array_equal(np.asarray(photo), picture(2)[1])
    assert np.array_equal(np.asarray(kinds), picture(2, colors=False)[1])
    turned = datasets.VOC2012(path, transform=lambda image: image[::-1], backend="cv2")
    photo, kinds = turned[1]
    assert photo.dtype == kinds.dtype == np.float32
    assert np.array_equal(photo, picture(1)[1][::-1])
    assert np.array_equal(kinds, picture(1, colors=False)[1])
    with pytest.raises(FileError, match=r"has no member `VOCdevkit/.*/trainval\.txt`"):
        datasets.VOC2012(bundle(tmp_path / "other.tar", {"a": b""}, mode))


def test_the_files_of_images_are_read_by_the_library_that_is_chosen(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.png").write_bytes(b"")
    found = DatasetFolder(str(tmp_path))
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    pillow.part.cache_clear()
    with pytest.raises(ImportError, match="need Pillow"):
        _ = found[0]
    with pytest.raises(ImportError, match="need Pillow"):
        paddle.vision.image_load("b.png")
    pillow.part.cache_clear()
    monkeypatch.setitem(image.CHOSEN, "backend", "cv2")
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match="pip install opencv-python"):
        _ = found[0]
    library = ModuleType("cv2")
    library.imread = lambda path: np.arange(12, dtype="uint8").reshape(2, 2, 3)
    monkeypatch.setitem(sys.modules, "cv2", library)
    assert found[0][0][0, 0].tolist() == [2, 1, 0]
    assert paddle.vision.image_load("b.png")[0, 0].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="Expected backend are one of"):
        paddle.vision.set_image_backend("jpeg")


def test_the_bytes_of_a_jpeg_file_are_read_and_decoded(tmp_path):
    path = str(tmp_path / "red.jpg")
    library = pytest.importorskip("PIL.Image", reason="JPEG files are decoded by Pillow")
    library.new("RGB", (5, 4), (255, 0, 0)).save(path, quality=95)
    found = ops.read_file(path)
    assert (found.dtype, found.shape) == (paddle.uint8, [Path(path).stat().st_size])
    assert found[:2].tolist() == [0xFF, 0xD8]  # every JPEG file begins so
    pixels = ops.decode_jpeg(found)
    assert (pixels.dtype, pixels.shape) == (paddle.uint8, [3, 4, 5])
    np.testing.assert_allclose(pixels.numpy()[:, 1, 1], [255, 0, 0], atol=4)
    gray = ops.decode_jpeg(found, mode="gray")
    assert gray.shape == [1, 4, 5] and abs(gray[0, 0, 0].item() - 76) < 4  # 0.299 of 255
    with pytest.raises(FileNotFoundError, match="there is no file"):
        ops.read_file(str(tmp_path / "blue.jpg"))
    with pytest.raises(ValueError, match="unchanged, gray, rgb"):
        ops.decode_jpeg(found, mode="cmyk")


def test_names_are_found_where_paddle_has_them():
    assert paddle.vision.MNIST is datasets.MNIST and paddle.vision.Compose is T.Compose
    assert paddle.vision.get_image_backend() == "pil"
    assert paddle.vision.transforms.functional.resize is paddle.vision.resize
