"""What people thought of films."""

import re
import zipfile
import zlib
from dataclasses import dataclass

import numpy as np

from scull.errors import FileError
from scull.io import Dataset
from scull.io.archive import content
from scull.io.source import checked, file_of
from scull.text.datasets.words import arrays, numbered

URL = "https://dataset.bj.bcebos.com/movielens%2Fml-1m.zip"
MD5 = "c4d9eecfca2ab87c1945afe126590906"
age_table = [1, 18, 25, 35, 45, 50, 56]
DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, KeyError, ValueError)
TITLE = re.compile(r"^(.*)\((\d+)\)$")  # and its year


@dataclass(repr=False)
class MovieInfo:
    """A film: its number, its kinds, and its title without the year."""

    index: int
    categories: list[str]
    title: str

    def value(self, categories_dict, movie_title_dict):
        """The numbers of the film, of its kinds, and of the words of its title."""
        words = self.title.lower().split()
        kinds = [categories_dict[kind] for kind in self.categories]
        return [[self.index], kinds, [movie_title_dict[word] for word in words]]

    def __repr__(self):
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"


@dataclass(repr=False)
class UserInfo:
    """Somebody: a number, whether a man, the place of the age in `age_table`, and the trade."""

    index: int
    is_male: bool
    age: int
    job_id: int

    def value(self):
        """These numbers; 0 of a man, 1 of a woman."""
        return [[self.index], [0 if self.is_male else 1], [self.age], [self.job_id]]

    def __repr__(self):
        gender, age = "M" if self.is_male else "F", age_table[self.age]
        return f"<UserInfo id({self.index}), gender({gender}), age({age}), job({self.job_id})>"


class Movielens(Dataset):
    """Marks of films: somebody's number, sex, age and trade, a film's number, kinds and words of
    its title, int64 each, and the mark from -3 to 5, float64[1].

    F. M. Harper and J. A. Konstan, "The MovieLens datasets" (2015). `movie_info` and `user_info`
    have films and people by their numbers, `categories_dict` and `movie_title_dict` the numbers of
    kinds and words, in the order of the alphabet.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        mode (str): ``"train"`` or ``"test"``.
        test_ratio (float): the part of the marks that is drawn for ``"test"``.
        rand_seed (int): of that draw.
        download (bool): True: look for a file that is not given; nothing is downloaded.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: the archive is damaged, lacks a file, or a line does not say what it should.
        AssertError: another mode, or no file and `download` is False.
    """

    def __init__(self, data_file=None, mode="train", test_ratio=0.1, rand_seed=0, download=True):
        self.mode = checked(mode)
        # Paddle puts it there.
        self.data_file = file_of(data_file, "data_file", "sentiment", URL, MD5, download)
        self.test_ratio, self.rand_seed = test_ratio, rand_seed
        try:
            with zipfile.ZipFile(self.data_file) as archive:
                self._load_people(archive)
                self._load_marks(archive)
        except DAMAGES as error:
            if isinstance(error, FileError):
                raise
            law = f"`{self.data_file}` is no archive of this data set"
            raise FileError(f"{law}: {error}") from None

    def _load_people(self, archive):
        self.movie_info, self.user_info = {}, {}
        for number, title, kinds in rows(archive, "movies"):
            name = TITLE.match(title)
            if name is None:
                raise ValueError(f"`{title}` ends without a year")
            film = MovieInfo(int(number), kinds.split("|"), name.group(1))
            self.movie_info[film.index] = film
        for number, gender, age, job, _ in rows(archive, "users"):
            person = UserInfo(int(number), gender == "M", age_table.index(int(age)), int(job))
            self.user_info[person.index] = person
        films = self.movie_info.values()
        words = {word for film in films for word in film.title.lower().split()}
        self.movie_title_dict = numbered(sorted(words))
        kinds = {kind for film in films for kind in film.categories}
        self.categories_dict = numbered(sorted(kinds))

    def _load_marks(self, archive):
        draw = np.random.RandomState(self.rand_seed)
        people = {n: person.value() for n, person in self.user_info.items()}
        names = self.categories_dict, self.movie_title_dict
        films = {n: film.value(*names) for n, film in self.movie_info.items()}
        self.data = [
            [*people[int(person)], *films[int(film)], [float(mark) * 2 - 5]]
            for person, film, mark, _ in rows(archive, "ratings")
            if (draw.rand() < self.test_ratio) == (self.mode == "test")
        ]

    def __getitem__(self, idx):
        return arrays(*self.data[idx])

    def __len__(self):
        return len(self.data)


def rows(archive, part):
    """The fields of each line of a file."""
    name = f"ml-1m/{part}.dat"
    with archive.open(name) as stream:
        text = content(stream, name).decode("latin-1")
    return (line.split("::") for line in text.splitlines() if line.strip())
