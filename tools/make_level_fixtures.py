"""Write tests/data/levels/: Programs that compute by levels of detail, and what they give.

Run with the Python that has the reference installed, and PYTHONHASHSEED=0, in `tools`; arguments
are how the names begin of the only ones that are written. Each archive
holds a Program without the lines of this script, what is fed, and values and levels of what comes
out: results, and gradients of what is fed.
"""

import json
import sys
from pathlib import Path

import numpy as np
import paddle
from make_file_fixtures import stripped
from paddle import static
from paddle.static import nn

TARGET = Path(__file__).resolve().parent.parent / "tests" / "data" / "levels"
MIXED = [[2, 0, 3, 1]]  # lengths, one of which is none
WHOLE = [[2, 3, 1]]
NESTED = [[2, 1], [1, 3, 2]]
CASES = {}


def floats(*shape):
    """Numbers that are not alike."""
    size = int(np.prod(shape))
    values = np.random.default_rng(size).permutation(size).astype("float32")
    return ((values + 0.5) / size * 4 - 2).reshape(shape)


def case(name, **inputs):
    """Register a case: by name of an input its array and its lengths."""

    def register(build):
        CASES[name] = build, inputs
        return build

    return register


def made(type, inputs, attrs=None, outputs=("Out",), dtype="float32"):
    """The results of an operator that no function appends."""
    block = static.default_main_program().current_block()
    results = {slot: [block.create_var(name=f"{type}_{slot}", dtype=dtype)] for slot in outputs}
    slots = {slot: v if isinstance(v, list) else [v] for slot, v in inputs.items()}
    block.append_op(type=type, inputs=slots, outputs=results, attrs=attrs or {})
    return [results[slot][0] for slot in outputs]


X = (floats(6, 3), MIXED)
TWO = (floats(6, 3), NESTED)

for pooling in ("sum", "average", "sqrt", "max", "last", "first"):
    case(f"pool_{pooling}", x=X)(
        lambda x, pooling=pooling: [nn.sequence_pool(x, pooling, pad_value=0.5)]
    )
case("pool_nested", x=TWO)(lambda x: [nn.sequence_pool(x, "sum")])
case("softmax", x=(floats(6, 1), MIXED))(lambda x: [nn.sequence_softmax(x)])
case("softmax_flat", x=(floats(6), WHOLE))(lambda x: [nn.sequence_softmax(x)])
case("reverse", x=X)(lambda x: [nn.sequence_reverse(x)])
case("concat", x=X, y=(floats(7, 3), [[1, 2, 0, 4]]))(lambda x, y: [nn.sequence_concat([x, y])])
case("reshape", x=(floats(6, 4), [[2, 0, 4]]))(lambda x: [nn.sequence_reshape(x, 8)])
case("expand", x=(floats(4, 3), None), y=(floats(6, 1), MIXED))(
    lambda x, y: [nn.sequence_expand(x, y)]
)
case("expand_sequences", x=(floats(6, 3), [[1, 2, 3]]), y=(floats(4, 1), [[2, 0, 2]]))(
    lambda x, y: [nn.sequence_expand(x, y)]
)
case("expand_outer", x=(floats(2, 3), None), y=TWO)(lambda x, y: [nn.sequence_expand(x, y, 0)])
case("expand_inner", x=(floats(3, 3), [[2, 0, 1]]), y=TWO)(
    lambda x, y: [nn.sequence_expand(x, y, 1)]
)
case("expand_as", x=(floats(4, 3), None), y=(floats(6, 1), MIXED))(
    lambda x, y: [nn.sequence_expand_as(x, y)]
)
case("pad", x=X)(lambda x: list(nn.sequence_pad(x, paddle.full([1], 0.25))))
case("pad_to", x=X)(lambda x: list(nn.sequence_pad(x, paddle.full([3], 0.25), maxlen=5)))
case("unpad", x=(floats(3, 4, 2), None), n=(np.array([2, 4, 1], "int64"), None))(
    lambda x, n: [nn.sequence_unpad(x, n)]
)
case(
    "slice",
    x=(floats(6, 3), WHOLE),
    begin=(np.array([[1], [0], [0]], "int64"), None),
    count=(np.array([[1], [2], [1]], "int64"), None),
)(lambda x, begin, count: [nn.sequence_slice(x, begin, count)])
case(
    "scatter",
    x=(floats(3, 5), None),
    ids=(np.array([[0], [1], [2], [4], [0], [3]], "int64"), WHOLE),
    y=(floats(6, 1), WHOLE),
)(lambda x, ids, y: [nn.sequence_scatter(x, ids, y)])
IDS = (np.array([[3], [1], [4], [1], [5], [9]], "int64"), MIXED)
case("enumerate", ids=IDS)(lambda ids: [nn.sequence_enumerate(ids, 3, pad_value=7)])
case("erase", ids=IDS)(
    lambda ids: made("sequence_erase", {"X": ids}, {"tokens": [1, 9]}, dtype="int64")
)
case("columns", x=(floats(6, 8), MIXED))(
    lambda x: [nn.sequence_pool(x[:, 0:2], "max"), paddle.tanh(x)]
)


@case("convolution", x=X)
def convolution(x):
    weight = static.data("w", [9, 2])
    start = {"contextLength": 3, "contextStart": -1, "contextStride": 1}
    return made("sequence_conv", {"X": x, "Filter": weight}, start)


@case("convolution_ahead", x=X)
def convolution_ahead(x):
    weight = static.data("w", [6, 2])
    start = {"contextLength": 2, "contextStart": 1, "contextStride": 1}
    return made("sequence_conv", {"X": x, "Filter": weight}, start)


@case("convolution_padded", x=X)
def convolution_padded(x):
    weight, padding = static.data("w", [12, 2]), static.data("padding", [3, 3])
    attrs = {"contextLength": 4, "contextStart": -2, "contextStride": 1, "paddingTrainable": True}
    inputs = {"X": x, "Filter": weight, "PaddingData": padding}
    return made("sequence_conv", inputs, attrs)


@case("row_convolution", x=(floats(6, 3), WHOLE))
def row_convolution(x):
    return made("row_conv", {"X": x, "Filter": static.data("w", [2, 3])})


case("reset", x=X)(lambda x: made("lod_reset", {"X": x}, {"target_lod": [0, 1, 6]}))
case("reset_by_data", x=X, y=(np.array([0, 4, 6], "int32"), None))(
    lambda x, y: made("lod_reset", {"X": x, "Y": y})
)
case("reset_by_levels", x=X, y=(floats(6, 1), NESTED))(
    lambda x, y: made("lod_reset", {"X": x, "Y": y})
)
case("reset_appended", x=(floats(6, 3), [[2, 4]]))(
    lambda x: made("lod_reset", {"X": x}, {"target_lod": [0, 1, 2, 4, 5, 5, 6], "append": True})
)


def recurrent(type, width, **attrs):
    """A recurrent network over sequences: 4 states."""

    def build(x):
        size = 7 if attrs.get("use_peepholes") else width
        weight = static.data("w", [4, 4 * width])
        bias = static.data("b", [1, 4 * size])
        inputs = {"Input": x, "Weight": weight, "Bias": bias}
        outs = {
            "lstm": ("Hidden", "Cell", "BatchGate", "BatchCellPreAct"),
            "gru": ("Hidden", "BatchGate", "BatchResetHiddenPrev", "BatchHidden"),
        }[type]
        found = made(type, inputs, {"is_test": False, **attrs} if type == "lstm" else attrs, outs)
        return found[: 2 if type == "lstm" else 1]

    return build


case("lstm", x=(floats(6, 16), WHOLE))(recurrent("lstm", 4, use_peepholes=False))
case("lstm_peepholes", x=(floats(6, 16), WHOLE))(recurrent("lstm", 4, use_peepholes=True))
case("lstm_reversed", x=(floats(6, 16), WHOLE))(
    recurrent("lstm", 4, use_peepholes=True, is_reverse=True, candidate_activation="relu")
)
case("gru", x=(floats(6, 12), WHOLE))(recurrent("gru", 3))
case("gru_reversed", x=(floats(6, 12), WHOLE))(
    recurrent("gru", 3, is_reverse=True, origin_mode=True)
)


@case("lstm_started", x=(floats(6, 16), WHOLE), h=(floats(3, 4), None), c=(floats(3, 4) / 2, None))
def lstm_started(x, h, c):
    inputs = {"Input": x, "H0": h, "C0": c}
    inputs |= {"Weight": static.data("w", [4, 16]), "Bias": static.data("b", [1, 16])}
    outs = ("Hidden", "Cell", "BatchGate", "BatchCellPreAct")
    return made("lstm", inputs, {"use_peepholes": False}, outs)[:2]


@case("gru_started", x=(floats(6, 12), WHOLE), h=(floats(3, 4), None))
def gru_started(x, h):
    inputs = {"Input": x, "H0": h, "Weight": static.data("w", [4, 12])}
    outs = ("Hidden", "BatchGate", "BatchResetHiddenPrev", "BatchHidden")
    return made("gru", inputs, {}, outs)[:1]


@case("crf_decoding", x=(floats(6, 3), WHOLE))
def crf_decoding(x):
    inputs = {"Emission": x, "Transition": static.data("w", [5, 3])}
    return made("crf_decoding", inputs, outputs=("ViterbiPath",), dtype="int64")


@case(
    "crf_agreement",
    x=(floats(6, 3), WHOLE),
    label=(np.array([[1], [0], [2], [1], [1], [0]]), WHOLE),
)
def crf_agreement(x, label):
    inputs = {"Emission": x, "Transition": static.data("w", [5, 3]), "Label": label}
    return made("crf_decoding", inputs, outputs=("ViterbiPath",), dtype="int64")


LABELS = (np.array([[1], [0], [2], [1], [1], [0]]), WHOLE)


@case("crf", x=(floats(6, 3), WHOLE), label=LABELS)
def crf(x, label):
    inputs = {"Emission": x, "Transition": static.data("w", [5, 3]), "Label": label}
    outs = ("LogLikelihood", "Alpha", "EmissionExps", "TransitionExps")
    return made("linear_chain_crf", inputs, outputs=outs)[:1]


@case("crf_padded", x=(floats(2, 4, 3), None), label=(np.array([[1, 0, 2, 1], [2, 2, 0, 0]]), None))
def crf_padded(x, label):
    length = paddle.assign(np.array([[4], [2]], "int64"))
    inputs = {"Emission": x, "Transition": static.data("w", [5, 3]), "Label": label}
    outs = ("LogLikelihood", "Alpha", "EmissionExps", "TransitionExps")
    return made("linear_chain_crf", inputs | {"Length": length}, outputs=outs)[:1]


for name, lengths in (("counts", WHOLE), ("counts_of_rows", None)):
    shown = (abs(floats(3 if lengths else 6, 2)), None)
    case(name, x=(abs(floats(6, 4)), lengths), shown=shown)(
        lambda x, shown: made("cvm", {"X": x, "CVM": shown}, {"use_cvm": True}, ("Y",))
    )
case("positions", x=(floats(6, 4), WHOLE))(
    lambda x: made("add_position_encoding", {"X": x}, {"alpha": 0.5, "beta": 2.0})
)


@case("words_summed", ids=(np.array([[3], [1], [0], [1], [2], [3]], "int64"), WHOLE))
def words_summed(ids):
    inputs = {"W": static.data("w", [4, 3]), "Ids": ids}
    return made("fused_embedding_seq_pool", inputs, {"combiner": "sum", "padding_idx": 1})


@case("match", x=(floats(6, 3), WHOLE), y=(floats(5, 3), [[1, 2, 2]]))
def match(x, y):
    inputs = {"X": x, "Y": y, "W": static.data("w", [3, 2, 3])}
    return made("match_matrix_tensor", inputs, {"dim_t": 2}, ("Out", "Tmp"))


case("images", x=(floats(2, 2, 4, 5), None))(
    lambda x: made(
        "im2sequence",
        {"X": x},
        {"kernels": [2, 3], "strides": [2, 1], "paddings": [0, 1, 1, 0], "out_stride": [1, 1]},
    )
)
case("alignment", ids=(np.array([[0], [1], [1], [0], [4], [4]], "int32"), WHOLE))(
    lambda ids: made(
        "ctc_align", {"Input": ids}, {"blank": 0, "merge_repeated": True}, ("Output",), "int32"
    )
)


@case("text", words=(np.array([[3], [1], [4], [1], [5], [9]], "int64"), WHOLE))
def text(words):
    """A classifier of texts, as 1.8 has it."""
    x = made("lookup_table", {"W": static.data("w", [10, 4]), "Ids": words}, {"padding_idx": -1})[0]
    start = {"contextLength": 3, "contextStart": -1, "contextStride": 1}
    weight = static.data("filter", [12, 5])
    found = []
    along = made("sequence_conv", {"X": x, "Filter": weight}, start)[0]
    found.append(nn.sequence_pool(paddle.tanh(along), "max"))
    return [paddle.nn.functional.softmax(found[0])]


BOXES = np.concatenate([floats(2, 9, 2) / 4, floats(2, 9, 2) / 4 + abs(floats(2, 9, 2)[::-1])], -1)


def choice(type, threshold):
    """A choice among the boxes of each class."""

    def build(boxes, scores):
        attrs = {"score_threshold": threshold, "nms_top_k": -1, "keep_top_k": 7}
        attrs |= {"nms_threshold": 0.3, "normalized": True, "background_label": 0, "nms_eta": 1.0}
        inputs = {"BBoxes": boxes, "Scores": scores}
        outputs = ("Out", "Index")[: 1 + (type == "multiclass_nms2")]
        boxes.stop_gradient = scores.stop_gradient = True
        return made(type, inputs, attrs, outputs)

    return build


DETECTED = {"boxes": (BOXES, None), "scores": (abs(floats(2, 3, 9)) / 2, None)}
case("boxes", **DETECTED)(choice("multiclass_nms", 0.2))
case("boxes_none", **DETECTED)(choice("multiclass_nms", 2.0))
case("boxes_numbered", **DETECTED)(choice("multiclass_nms2", 0.2))


def lod_tensor(array, lengths):
    tensor = paddle.base.core.LoDTensor()
    tensor.set(array, paddle.CPUPlace())
    if lengths:
        tensor.set_recursive_sequence_lengths(lengths)
    return tensor


def write(name, build, inputs):
    """Build one case, run it and keep all that belongs to it."""
    main, inputs = static.Program(), dict(inputs)
    with static.program_guard(main, static.Program()), paddle.utils.unique_name.guard():
        given = []
        for key, (array, lengths) in inputs.items():
            shape = [-1 if array.ndim > 1 else len(array), *array.shape[1:]]
            v = static.data(key, shape, str(array.dtype), lod_level=len(lengths or ()))
            v.stop_gradient = array.dtype != "float32"
            given.append(v)
        results = build(*given)
        block = main.global_block()
        for v in [v for v in block.vars.values() if v.is_data and v.name not in inputs]:
            v.stop_gradient = False
            inputs[v.name] = floats(*v.shape), None
        sources = [block.var(n) for n in inputs if not block.var(n).stop_gradient]
        derived = []
        if results[0].dtype == paddle.float32 and sources:
            share = paddle.reshape(paddle.sum(results[0] * results[0]), [1])
            derived = [v.name for v in static.gradients([share], sources) if v is not None]
    feed = {key: lod_tensor(*value) for key, value in inputs.items()}
    names = [v.name for v in results] + derived
    values = static.Executor().run(main, feed=feed, fetch_list=names, return_numpy=False)
    levels = {n: v.recursive_sequence_lengths() for n, v in zip(names, values, strict=True)}
    lengths = {n: value[1] or [] for n, value in inputs.items()}
    said = json.dumps({"fed": lengths, "found": levels})
    arrays = {f"in {n}": value[0] for n, value in inputs.items()}
    arrays |= {f"out {n}": np.array(v) for n, v in zip(names, values, strict=True)}
    program = np.frombuffer(stripped(main.desc.serialize_to_string()), "uint8")
    np.savez_compressed(TARGET / f"{name}.npz", program=program, levels=said, **arrays)


def write_all(cases):
    """Write all of some cases, or those whose names begin as the arguments say."""
    paddle.enable_static()
    TARGET.mkdir(exist_ok=True)
    for name, (build, inputs) in cases.items():
        if name.startswith(tuple(sys.argv[1:] or [""])):
            write(name, build, inputs)


if __name__ == "__main__":
    write_all(CASES)
