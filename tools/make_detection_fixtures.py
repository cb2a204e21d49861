"""Write more of tests/data/levels/: operators of detectors, by themselves.

Run as `make_level_fixtures.py` is.
"""

import numpy as np
import paddle
from make_level_fixtures import floats, write_all
from paddle import static
from paddle.utils import unique_name

CASES = {}


def chances(*shape):
    """Numbers between 0 and 1 that are not alike."""
    return (floats(*shape) + 2) / 4


def boxes_of(count, size, seed=0):
    """Boxes (left, top, right, bottom) that are not alike."""
    low, wide = np.random.default_rng([count, seed]).uniform(0, size, (2, count, 2))
    return np.concatenate([low, low + wide], 1).astype("float32")


def of_boxes(name, type, outputs, attrs=None, given=None, **inputs):
    """Register an operator of detectors: `outputs` by slot their element types, or lists of such.

    `given` says by input of the case in which slot it stands, where the name does not.
    """

    def build(**variables):
        block, slots = static.default_main_program().current_block(), {}
        for key, v in variables.items():
            slots.setdefault((given or {}).get(key, key), []).append(v)
            v.stop_gradient = True
        listed = {slot: t if isinstance(t, list) else [t] for slot, t in outputs.items()}
        made = {
            slot: [block.create_var(name=f"{type}_{slot}{i}", dtype=t) for i, t in enumerate(types)]
            for slot, types in listed.items()
        }
        block.append_op(type=type, inputs=slots, outputs=made, attrs=attrs or {})
        return [v for variables in made.values() for v in variables]

    CASES[name] = (lambda *v: build(**dict(zip(inputs, v, strict=True)))), inputs


F, WHOLE_NUMBER = "float32", "int32"
INFO = (np.array([[20, 16, 1], [18, 22, 2]], F), None)
of_boxes("detect_clip", "box_clip", {"Output": F}, Input=(boxes_of(5, 12), [[2, 3]]), ImInfo=INFO)
of_boxes(
    "detect_decode",
    "box_decoder_and_assign",
    {"DecodeBox": F, "OutputAssignBox": F},
    {"box_clip": 4.135},
    PriorBox=(boxes_of(5, 12), [[2, 3]]),
    PriorBoxVar=(np.full(4, 0.1, F), None),
    TargetBox=(floats(5, 12), [[4, 1]]),
    BoxScore=(floats(5, 3), None),
)
of_boxes(
    "detect_coded",
    "box_coder",
    {"OutputBox": F},
    {"code_type": "decode_center_size", "axis": 1, "variance": [0.1] * 4, "box_normalized": False},
    PriorBox=(boxes_of(5, 12), [[2, 3]]),
    TargetBox=(floats(5, 3, 4), [[4, 1]]),
)
of_boxes(
    "detect_common",
    "iou_similarity",
    {"Out": F},
    {"box_normalized": False},
    X=(boxes_of(5, 12), [[2, 3]]),
    Y=(boxes_of(4, 12), None),
)
NUMBERED = {f"{n}{i}": n for n in ("MultiLevelRois", "MultiLevelScores") for i in (0, 1)}
of_boxes(
    "detect_collect",
    "collect_fpn_proposals",
    {"FpnRois": F, "RoisNum": WHOLE_NUMBER},
    {"post_nms_topN": 5},
    NUMBERED,
    MultiLevelRois0=(boxes_of(5, 12), [[2, 3]]),
    MultiLevelRois1=(boxes_of(4, 12), [[3, 1]]),
    MultiLevelScores0=(chances(5, 1), [[2, 3]]),
    MultiLevelScores1=(chances(4, 1), [[3, 1]]),
)
of_boxes(
    "detect_deal",
    "distribute_fpn_proposals",
    {"MultiFpnRois": [F] * 3, "RestoreIndex": WHOLE_NUMBER},
    {"min_level": 2, "max_level": 4, "refer_level": 3, "refer_scale": 112, "pixel_offset": True},
    FpnRois=(boxes_of(6, 400), [[2, 4]]),
)
for pooling, slots in {
    "roi_align": {"Out": F},
    "roi_pool": {"Out": F, "Argmax": "int64"},
    "psroi_pool": {"Out": F},
}.items():
    size = {"pooled_height": 2, "pooled_width": 1, "spatial_scale": 1.0}
    more = {"output_channels": 2} if pooling == "psroi_pool" else {}
    regions = boxes_of(5, 3), [[2, 3]]
    of_boxes(
        f"detect_{pooling}", pooling, slots, size | more, X=(floats(2, 4, 6, 5), None), ROIs=regions
    )
MAPS = {"Scores": (chances(2, 2, 2, 3), None), "BboxDeltas": (floats(2, 8, 2, 3), None)}
MAPS |= {"ImInfo": INFO, "Anchors": (boxes_of(12, 12).reshape(2, 3, 2, 4), None)}
of_boxes(
    "detect_propose",
    "generate_proposals",
    {"RpnRois": F, "RpnRoiProbs": F},
    {"pre_nms_topN": 9, "post_nms_topN": 4, "nms_thresh": 0.5, "min_size": 1.5, "eta": 1.0},
    **MAPS,
    Variances=(np.full((2, 3, 2, 4), 0.5, F), None),
)
MOST = {"score_threshold": 0.2, "nms_top_k": -1, "nms_threshold": 0.3, "keep_top_k": 7}
MOST |= {"nms_eta": 1.0}
of_boxes(
    "detect_by_regions",
    "multiclass_nms",
    {"Out": F},
    MOST | {"normalized": False, "background_label": 0},
    BBoxes=(boxes_of(18, 12).reshape(6, 3, 4), [[2, 4]]),
    Scores=(chances(6, 3), [[2, 4]]),
)
of_boxes(
    "detect_neighbours",
    "locality_aware_nms",
    {"Out": F},
    MOST | {"normalized": True, "background_label": -1},
    BBoxes=(np.repeat(boxes_of(6, 9), 2, 0).reshape(2, 6, 4), None),
    Scores=(chances(2, 2, 6), None),
)
of_boxes(
    "detect_pyramid",
    "retinanet_detection_output",
    {"Out": F},
    MOST | {"nms_top_k": 9},
    {f"{n}{i}": n for n in ("BBoxes", "Scores", "Anchors") for i in (0, 1)},
    BBoxes0=(floats(2, 4, 4) / 4, None),
    BBoxes1=(floats(2, 3, 4) / 4, None),
    Scores0=(chances(2, 4, 2), None),
    Scores1=(chances(2, 3, 2), None),
    Anchors0=(boxes_of(4, 12), None),
    Anchors1=(boxes_of(3, 12), None),
    ImInfo=INFO,
)
of_boxes(
    "detect_match",
    "bipartite_match",
    {"ColToRowMatchIndices": WHOLE_NUMBER, "ColToRowMatchDist": F},
    {"match_type": "per_prediction", "dist_threshold": 0.4},
    DistMat=(chances(5, 4), [[2, 3]]),
)
of_boxes(
    "detect_mine",
    "mine_hard_examples",
    {"NegIndices": WHOLE_NUMBER, "UpdatedMatchIndices": WHOLE_NUMBER},
    {"neg_pos_ratio": 1.5, "neg_dist_threshold": 0.6, "mining_type": "max_negative"},
    ClsLoss=(chances(2, 5), None),
    MatchIndices=(np.array([[0, -1, -1, 1, -1], [-1, -1, 2, -1, -1]], "int32"), None),
    MatchDist=(chances(2, 5)[::-1].copy(), None),
)
TRUTH, GIVEN = boxes_of(4, 12), [[1, 3]]
of_boxes(
    "detect_learn_anchors",
    "rpn_target_assign",
    {"LocationIndex": WHOLE_NUMBER, "ScoreIndex": WHOLE_NUMBER, "TargetBBox": F}
    | {"TargetLabel": WHOLE_NUMBER, "BBoxInsideWeight": F},
    {"rpn_batch_size_per_im": 6, "rpn_straddle_thresh": -1.0, "rpn_positive_overlap": 0.7}
    | {"rpn_negative_overlap": 0.3, "rpn_fg_fraction": 0.5, "use_random": False},
    Anchor=(np.concatenate([boxes_of(9, 12), TRUTH + 0.4]), None),
    GtBoxes=(TRUTH, GIVEN),
    IsCrowd=(np.array([[0], [0], [1], [0]], "int32"), GIVEN),
    ImInfo=INFO,
)
of_boxes(
    "detect_learn_regions",
    "generate_proposal_labels",
    {"Rois": F, "LabelsInt32": WHOLE_NUMBER, "BboxTargets": F, "BboxInsideWeights": F}
    | {"BboxOutsideWeights": F, "MaxOverlapWithGT": F},
    {"batch_size_per_im": 4, "fg_fraction": 0.5, "fg_thresh": 0.5, "bg_thresh_hi": 0.5}
    | {"bg_thresh_lo": 0.0, "bbox_reg_weights": [0.1, 0.1, 0.2, 0.2], "class_nums": 4}
    | {"use_random": False, "is_cascade_rcnn": False, "is_cls_agnostic": False},
    RpnRois=(np.concatenate([boxes_of(6, 12), TRUTH + 0.4]), [[4, 6]]),
    GtClasses=(np.array([[1], [3], [2], [2]], "int32"), GIVEN),
    IsCrowd=(np.array([[0], [0], [1], [0]], "int32"), GIVEN),
    GtBoxes=(TRUTH, GIVEN),
    ImInfo=INFO,
)
of_boxes(
    "detect_moved_bins",
    "deformable_psroi_pooling",
    {"Output": F, "TopCount": F},
    {"no_trans": False, "spatial_scale": 0.9, "output_dim": 2, "group_size": [2, 1]}
    | {"pooled_height": 2, "pooled_width": 2, "part_size": [2, 2], "sample_per_part": 2}
    | {"trans_std": 0.1},
    Input=(floats(2, 4, 6, 5), None),
    ROIs=(boxes_of(5, 3), [[2, 3]]),
    Trans=(floats(5, 2, 2, 2), None),
)
of_boxes(
    "detect_precision",
    "detection_map",
    {"AccumPosCount": WHOLE_NUMBER, "AccumTruePos": F, "AccumFalsePos": F, "MAP": F},
    {"class_num": 3, "overlap_threshold": 0.3, "ap_type": "11point", "background_label": 0},
    DetectRes=(
        np.concatenate([[[1], [1], [2], [1], [2]], chances(5, 1), boxes_of(5, 0.5)], 1, dtype=F),
        [[3, 2]],
    ),
    Label=(np.concatenate([[[1], [2], [1]], boxes_of(5, 0.5)[[1, 2, 3]]], 1, dtype=F), [[2, 1]]),
)


def appended(type, inputs, outputs, **attrs):
    """What a new operator gives: variables by slot, as many as `outputs` says."""
    block = static.default_main_program().current_block()
    found = {
        slot: [block.create_var(name=unique_name.generate(type), dtype=F) for _ in range(count)]
        for slot, count in outputs.items()
    }
    block.append_op(type=type, inputs=inputs, outputs=found, attrs=attrs)
    return [v for variables in found.values() for v in variables]


def proposed(x, size, info):
    """The regions that a level of a pyramid proposes, and their scores."""
    sizes = {"anchor_sizes": [size], "aspect_ratios": [1.0, 2.0], "variances": [1.0] * 4}
    around = {"Anchors": 1, "Variances": 1}
    anchors, variances = appended(
        "anchor_generator", {"Input": x}, around, stride=[size / 2] * 2, offset=0.5, **sizes
    )
    told = {"Scores": x[:, :2], "BboxDeltas": x[:, 2:] / 4, "ImInfo": info}
    told |= {"Anchors": anchors, "Variances": variances}
    most = {"pre_nms_topN": 30, "post_nms_topN": 6, "nms_thresh": 0.6, "min_size": 0.0}
    slots = {"RpnRois": 1, "RpnRoiProbs": 1}
    return appended("generate_proposals", told, slots, eta=1.0, **most)


def detector(near, far, info):
    """A detector with a pyramid of two levels, as releases 1.6 to 1.8 build it."""
    for v in (near, far, info):
        v.stop_gradient = True
    weight, seen = (
        appended(
            "assign_value",
            {},
            {"Out": 1},
            shape=[40, n],
            dtype=5,
            fp32_values=[float(v) for v in floats(40, n).reshape(-1) / 9],
        )[0]
        for n in (12, 3)
    )
    rois, sure = zip(proposed(near, 4.0, info), proposed(far, 8.0, info), strict=True)
    told = {"MultiLevelRois": list(rois), "MultiLevelScores": list(sure)}
    (chosen,) = appended("collect_fpn_proposals", told, {"FpnRois": 1}, post_nms_topN=9)
    levels = {"min_level": 2, "max_level": 3, "refer_level": 3, "refer_scale": 8}
    slots = {"MultiFpnRois": 2, "RestoreIndex": 1}
    *dealt, order = appended("distribute_fpn_proposals", {"FpnRois": chosen}, slots, **levels)
    order.desc.set_dtype(paddle.int32)
    size = {"pooled_height": 2, "pooled_width": 2, "sampling_ratio": 2}
    parts = [
        appended("roi_align", {"X": x, "ROIs": own}, {"Out": 1}, spatial_scale=scale, **size)[0]
        for x, own, scale in zip((near, far), dealt, (0.5, 0.25), strict=True)
    ]
    (joined,) = appended("concat", {"X": parts}, {"Out": 1}, axis=0)
    (features,) = appended("gather", {"X": joined, "Index": order}, {"Out": 1})
    (moves,) = appended("mul", {"X": features, "Y": weight}, {"Out": 1}, x_num_col_dims=1)
    (classes,) = appended("mul", {"X": features, "Y": seen}, {"Out": 1}, x_num_col_dims=1)
    (chance,) = appended("softmax", {"X": classes}, {"Out": 1})
    (moved,) = appended("reshape2", {"X": moves}, {"Out": 1, "XShape": 1}, shape=[-1, 3, 4])[:1]
    coded = {"PriorBox": chosen, "TargetBox": moved}
    how = {"code_type": "decode_center_size", "box_normalized": False, "axis": 1}
    (boxes,) = appended("box_coder", coded, {"OutputBox": 1}, variance=[0.1] * 4, **how)
    (clipped,) = appended("box_clip", {"Input": boxes, "ImInfo": info}, {"Output": 1})
    told = {"BBoxes": clipped, "Scores": chance}
    most = MOST | {"normalized": False, "background_label": 0, "score_threshold": 0.1}
    return [*appended("multiclass_nms", told, {"Out": 1}, **most), chosen]


CASES["detect_whole"] = (
    detector,
    {
        "near": (floats(2, 10, 8, 7), None),
        "far": (floats(2, 10, 4, 4)[:, ::-1].copy(), None),
        "info": INFO,
    },
)


if __name__ == "__main__":
    write_all(CASES)
