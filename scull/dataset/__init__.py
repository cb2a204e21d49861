"""Data sets that Paddle downloads: the names exist, so that files with them can be imported."""

import sys
from types import ModuleType

from scull.core.absent import absent

DOWNLOADED = "nothing is downloaded; read files you have by paddle.io.Dataset"
MODULES = {
    "cifar": "train10 test10 train100 test100 fetch reader_creator",
    "common": "DATA_HOME cluster_files_reader download fetch_all md5file must_mkdirs split",
    "conll05": "get_dict get_embedding test fetch corpus_reader reader_creator",
    "flowers": "train test valid fetch reader_creator",
    "image": (
        "batch_images_from_tar center_crop left_right_flip load_and_transform load_image"
        " load_image_bytes random_crop resize_short simple_transform to_chw"
    ),
    "imdb": "build_dict fetch test tokenize train word_dict",
    "imikolov": "DataType build_dict fetch test train",
    "mnist": "fetch reader_creator test train",
    "movielens": (
        "MovieInfo UserInfo age_table fetch get_movie_title_dict max_job_id max_movie_id"
        " max_user_id movie_categories movie_info test train unittest user_info"
    ),
    "uci_housing": "feature_range fetch load_data predict_reader test train",
    "voc2012": "reader_creator test train val",
    "wmt14": "fetch gen get_dict test train",
    "wmt16": "fetch get_dict test train validation",
}

for name, names in MODULES.items():
    made = ModuleType(f"{__name__}.{name}", f"The data set `{name}`, which is not there.")
    made.__getattr__ = absent(made.__name__, {DOWNLOADED: names})  # type: ignore[method-assign]
    sys.modules[made.__name__] = globals()[name] = made

__all__ = list(MODULES)
