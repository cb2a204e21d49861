"""Programs trained on samples in files of text."""

import gzip
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.base.executor import FetchHandler
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    MissingFileError,
    RunError,
    UnsupportedError,
)

LINES = "2 1 2 2 5 4 1 2\n1 3 2 7 8 1 3\n\n3 1 1 1 2 9 9 1 4\n"


@pytest.fixture
def variables(static):
    """A sequence of numbers, two numbers and a label."""
    ids = paddle.static.data("ids", [None, 1], "int64", lod_level=1)
    return [ids, paddle.static.data("x", [None, 2]), paddle.static.data("y", [None, 1], "int64")]


@pytest.fixture
def static():
    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.enable_static()
    with (
        paddle.static.program_guard(main, startup),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        yield main
    paddle.disable_static()


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "samples.txt"
    found.write_text(LINES)
    return found


def dataset(kind, variables, *paths, **settings):
    """A data set of some files."""
    made = kind()
    made.init(batch_size=2, use_var=variables, **settings)
    made.set_filelist([*paths])
    return made


def contents(feeds):
    """What is fed, as lists, with the lengths of sequences."""
    return [
        {
            n: (np.asarray(v).tolist(), v.recursive_sequence_lengths())
            if hasattr(v, "recursive_sequence_lengths")
            else v.tolist()
            for n, v in feed.items()
        }
        for feed in feeds
    ]


FED = [
    {"ids": ([[1], [2], [3]], [[2, 1]]), "x": [[5.0, 4.0], [7.0, 8.0]], "y": [[2], [3]]},
    {"ids": ([[1], [1], [1]], [[3]]), "x": [[9.0, 9.0]], "y": [[4]]},
]


def test_lines_are_read_in_batches(variables, path):
    queue = dataset(paddle.distributed.QueueDataset, variables, path, thread_num=4)
    assert contents(queue.feeds()) == FED
    held = dataset(paddle.distributed.InMemoryDataset, variables, path)
    held.load_into_memory()
    assert (held.get_memory_data_size(), held.get_shuffle_data_size()) == (3, 0)
    assert contents(held.feeds()) == FED


def test_a_loader_gives_batches_and_leaves_a_small_one_out(variables, path):
    queue = dataset(paddle.distributed.QueueDataset, variables, path)
    for drop_last, count in ((True, 1), (False, 2)):
        loader = paddle.base.io.DataLoader.from_dataset(queue, [paddle.CPUPlace()], drop_last)
        batches = [feeds for feeds in loader()]
        assert [len(feeds) for feeds in batches] == [1] * count
        assert contents(feed for (feed,) in batches) == [
            {n: v if n == "ids" else (v, []) for n, v in feed.items()} for feed in FED[:count]
        ]


def test_packed_files_are_unpacked(variables, path, tmp_path):
    packed = tmp_path / "samples.txt.gz"
    packed.write_bytes(gzip.compress(LINES.encode()))
    kind = paddle.distributed.QueueDataset
    assert contents(dataset(kind, variables, packed).feeds()) == FED
    turned = dataset(kind, variables, packed, pipe_command="sed 's/9 9/8 8/'")
    assert contents(turned.feeds())[1]["x"] == [[8.0, 8.0]]


def test_a_generator_makes_the_samples_of_lines(variables, path, tmp_path):
    script = tmp_path / "generator.py"
    script.write_text(
        "import scull.distributed.fleet as fleet\n"
        "class Words(fleet.MultiSlotDataGenerator):\n"
        "    def generate_sample(self, line):\n"
        "        def samples():\n"
        "            words = [int(v) for v in line.split()]\n"
        "            yield [('ids', words), ('x', [sum(words) / 2, 1.5]), ('y', [len(words)])]\n"
        "        return samples\n"
        "Words().run_from_stdin()\n".replace("\\n", "\n")
    )
    path.write_text("4 6\n1\n")
    queue = dataset(
        paddle.distributed.QueueDataset, variables, path, pipe_command=f"{sys.executable} {script}"
    )
    (feed,) = contents(queue.feeds())
    assert feed["ids"] == ([[4], [6], [1]], [[2, 1]])
    assert (feed["x"], feed["y"]) == ([[5.0, 1.5], [0.5, 1.5]], [[2], [1]])


def test_a_command_that_fails_is_an_error(variables, path):
    queue = dataset(paddle.distributed.QueueDataset, variables, path, pipe_command="false")
    with pytest.raises(RunError, match=r"`false` over .* ended with status 1"):
        list(queue.feeds())


def test_who_stops_early_leaves_no_command_running(variables, path):
    queue = dataset(
        paddle.distributed.QueueDataset, variables, path, pipe_command="yes 1 1 2 0 0 1 0"
    )
    feeds = queue.feeds()
    assert contents([next(feeds)])[0]["y"] == [[0], [0]]
    feeds.close()


@pytest.mark.parametrize(
    ("line", "law"),
    [
        ("1 3 2 1 2", "line ends before slot y"),
        ("1 3 2 1", "slot x has 2 values, and 1 are left"),
        ("0 2 1 2 1 0", "slot ids has no value"),
        ("1 3 3 1 2 3 1 0", "slot x has 3 values, not 2 a row"),
        ("1 z 2 1 2 1 0", "slot ids is int64, invalid literal"),
        ("1 3 2 1 2 1 0 7 7", "2 words are left behind slot y"),
        ("-1 3", "slot ids begins with '-1'"),
    ],
)
def test_a_line_that_is_no_sample_is_named(variables, path, line, law):
    path.write_text(f"1 3 2 1 2 1 0\n{line}\n")
    queue = dataset(paddle.distributed.QueueDataset, variables, path)
    with pytest.raises(FileError, match=f"{path}:2: .*{law}"):
        list(queue.feeds())


def test_ids_without_a_sign_have_64_bits(variables, path):
    path.write_text(f"1 {2**64 - 5} 2 1 2 1 0\n")
    (feed,) = dataset(paddle.distributed.QueueDataset, variables, path).feeds()
    assert np.asarray(feed["ids"]).tolist() == [[-5]]


def test_shuffling_keeps_every_sample(variables, path):
    path.write_text("".join(f"1 {n} 2 {n} 0 1 {n}\n" for n in range(50)))
    held = dataset(paddle.distributed.InMemoryDataset, variables, path)
    held.load_into_memory()
    np.random.seed(3)
    held.local_shuffle()
    order = [y[0] for feed in held.feeds() for y in feed["y"].tolist()]
    assert sorted(order) == [*range(50)] != order
    held.global_shuffle()
    assert held.get_shuffle_data_size() == 50
    held.slots_shuffle(["x"])
    pairs = [(x[0], y[0]) for f in held.feeds() for x, y in zip(f["x"], f["y"], strict=True)]
    assert sorted(x for x, _ in pairs) == [*range(50)]
    assert any(x != y for x, y in pairs)
    with pytest.raises(ArgumentError, match="no slot 'z', only ids, x, y"):
        held.slots_shuffle(["z"])


def test_memory_is_loaded_beside_and_released(variables, path):
    held = dataset(paddle.distributed.InMemoryDataset, variables, path)
    held.preload_into_memory()
    assert contents(held.feeds()) == FED
    held.release_memory()
    assert held.get_memory_data_size() == 0
    with pytest.raises(RunError, match=r"call load_into_memory\(\) first"):
        list(held.feeds())
    held.set_filelist([f"{path}.none"])
    held.preload_into_memory()
    with pytest.raises(MissingFileError, match="there is no file"):
        held.wait_preload_done()


def test_settings_are_checked(variables, static):
    made = paddle.distributed.QueueDataset()
    for settings, kind, law in [
        ({"batch_size": 0}, ArgumentError, "batch_size is 0"),
        ({"use_var": ["x"]}, ArgumentTypeError, "use_var takes variables, not str"),
        ({"fs_name": "hdfs://x"}, UnsupportedError, "fs_name is 'hdfs://x'"),
        ({"nope": 1}, ArgumentTypeError, "unexpected keyword argument 'nope'"),
    ]:
        with pytest.raises(kind, match=law):
            made.init(**settings)
    with pytest.raises(ArgumentTypeError, match="a list of paths"):
        made.set_filelist("samples.txt")
    wide = paddle.static.data("wide", [None, None])
    with pytest.raises(ArgumentError, match=r"rows of \[-1\], whose size is not known"):
        made.init(use_var=[wide])
    with pytest.raises(RunError, match="has no variables"):
        next(made.feeds())


def test_training_over_files_is_training_over_their_batches(variables, static, path, capsys):
    ids, x, y = variables
    rows = paddle.static.nn.embedding(ids, [10, 4])
    pooled = paddle.reshape(paddle.static.nn.sequence_lod.sequence_pool(rows, "sum"), [-1, 4])
    scores = paddle.static.nn.fc(paddle.concat([pooled, x], 1), 5)
    loss = paddle.mean(paddle.nn.functional.cross_entropy(scores, y))
    paddle.optimizer.SGD(0.01).minimize(loss)
    exe, scope = paddle.static.Executor(), paddle.static.global_scope()
    exe.run(paddle.static.default_startup_program())
    weights = {
        p.name: np.array(scope.find_var(p.name).get_tensor()) for p in static.all_parameters()
    }
    queue = dataset(paddle.distributed.QueueDataset, variables, path)
    want = [exe.run(static, feed, [loss])[0] for feed in queue.feeds()]
    after = {n: np.array(scope.find_var(n).get_tensor()) for n in weights}
    for n, array in weights.items():
        scope.find_var(n).get_tensor().set(array, paddle.CPUPlace())
    capsys.readouterr()
    exe.train_from_dataset(
        static, queue, fetch_list=[loss, y], fetch_info=["loss", "y"], print_period=1
    )
    for n, array in after.items():
        np.testing.assert_array_equal(np.array(scope.find_var(n).get_tensor()), array)
    found = re.findall(
        r"^time: \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\], batch: \[(\d)\], "
        r"loss\[1\]:\[([\d.]+)\], y\[(\d)\]:\[([\d ]+)\]$",
        capsys.readouterr().out,
        re.MULTILINE,
    )
    assert found == [("1", f"{want[0]:g}", "2", "2 3"), ("2", f"{want[1]:g}", "1", "4")]


def test_a_handler_gets_values_now_and_then(variables, static, path):
    total = paddle.sum(variables[1])
    seen = []

    class Keep(FetchHandler):
        def handler(self, res_dict):
            seen.append({n: v.tolist() for n, v in res_dict.items()})

    exe = paddle.static.Executor()
    queue = dataset(paddle.distributed.QueueDataset, variables, path)
    exe.infer_from_dataset(static, queue, fetch_handler=Keep({"total": total}, period_secs=0))
    assert seen == [{"total": 24.0}, {"total": 18.0}]
    with pytest.raises(AssertionError, match="fetch_info has 0 texts for 1"):
        exe.train_from_dataset(static, queue, fetch_list=[total], fetch_info=[])
    with pytest.raises(RuntimeError, match="dataset is None"):
        exe.train_from_dataset(static)
    with pytest.raises(ValueError, match="print_period is 0"):
        exe.train_from_dataset(static, queue, print_period=0)


def test_the_older_name_has_a_method_for_each_setting(variables, path):
    factory = paddle.base.DatasetFactory()
    assert isinstance(factory.create_dataset(), paddle.base.dataset.QueueDataset)
    held = factory.create_dataset("InMemoryDataset")
    held.set_batch_size(2)
    held.set_use_var(variables)
    held.set_pipe_command("cat")
    held.set_thread(3)
    held.set_filelist([path])
    held.load_into_memory()
    assert contents(held.feeds()) == FED
    with pytest.raises(ValueError, match="no data set Files, only QueueDataset, InMemoryDataset"):
        factory.create_dataset("Files")
    with pytest.raises(NotImplementedError, match="files are on this machine"):
        held.set_hdfs_config("hdfs://x", "me")
    assert Path(path).exists()
