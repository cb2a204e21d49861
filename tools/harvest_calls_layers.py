"""Typical public calls that make the operators of further layers: `inputs : call`, by type."""

CALLS = {
    "affine_channel": [
        "x=2,3,4,5 s=3 b=3 : append('affine_channel', {'X': x, 'Scale': s, 'Bias': b}, "
        "{'Out': 1}, {'data_layout': 'NCHW'})",
    ],
    "affine_grid": [
        "t=2,2,3 : F.affine_grid(t, [2, 3, 4, 5])",
        "t=2,3,4 : F.affine_grid(t, [2, 3, 4, 5, 6], align_corners=False)",
        "t=2,2,3 s=int32:4 : F.affine_grid(t, s)",
    ],
    "bilinear_tensor_product": [
        "x=2,3 y=2,4 w=5,3,4 : F.bilinear(x, y, w)",
        "x=2,3 y=2,4 w=5,3,4 b=1,5 : F.bilinear(x, y, w, b)",
    ],
    "grid_sampler": [
        "x=2,3,4,5 g=2,6,7,2 : F.grid_sample(x, g)",
        "x=2,3,4,5,6 g=2,3,4,5,3 : F.grid_sample(x, g, 'nearest', 'border', False)",
    ],
    "gumbel_softmax": [
        "x=2,3 : F.gumbel_softmax(x)",
        "x=2,3 : F.gumbel_softmax(x, 0.5, hard=True, axis=0)",
    ],
    "hierarchical_sigmoid": [
        "x=4,3 l=int64:4,1 w=5,3 b=5,1 : F.hsigmoid_loss(x, l, 6, w, b)",
        "x=4,3 l=int64:4,1 w=5,3 t=int64:4,2 c=int64:4,2 : "
        "F.hsigmoid_loss(x, l, 6, w, path_table=t, path_code=c)",
    ],
    "lrn": [
        "x=2,6,4,5 : append('lrn', {'X': x}, {'Out': 1, 'MidOut': 1}, {'n': 5})",
    ],
    "maxout": ["x=2,4,3,3 : F.maxout(x, 2)", "x=2,3,3,4 : F.maxout(x, 2, axis=-1)"],
    "roi_align": [
        "x=2,3,8,8 r=3,4 n=int32:2 : paddle.vision.ops.roi_align(x, r, n, (2, 3), 0.5)",
    ],
    "roi_pool": [
        "x=2,3,8,8 r=3,4 n=int32:2 : paddle.vision.ops.roi_pool(x, r, n, 2)",
    ],
    "box_coder": [
        "p=3,4 t=2,4 : paddle.vision.ops.box_coder(p, [0.1, 0.1, 0.2, 0.2], t)",
        "p=3,4 v=3,4 t=2,3,4 : paddle.vision.ops.box_coder(p, v, t, 'decode_center_size', False)",
    ],
    "yolo_box": [
        "x=2,14,4,4 s=int32:2,2 : paddle.vision.ops.yolo_box(x, s, [10, 13, 16, 30], 2, 0.01, 32)",
    ],
    "yolov3_loss": [
        "x=2,14,4,4 b=2,3,4 c=int32:2,3 : "
        "paddle.vision.ops.yolo_loss(x, b, c, [10, 13, 16, 30], [0, 1], 2, 0.5, 8)",
        "x=2,7,4,4 b=2,3,4 c=int32:2,3 s=2,3 : "
        "paddle.vision.ops.yolo_loss(x, b, c, [10, 13, 16, 30], [1], 2, 0.5, 8, s, False)",
    ],
    "prior_box": [
        "x=2,3,4,4 i=2,3,9,9 : "
        "paddle.vision.ops.prior_box(x, i, [2.0], [4.0], [1.0, 2.0], flip=True)",
    ],
    "nms": ["b=5,4 : paddle.vision.ops.nms(b, 0.1)"],
    "deformable_conv": [
        "x=2,3,6,6 o=2,18,4,4 w=5,3,3,3 m=2,9,4,4 b=5 : "
        "paddle.vision.ops.deform_conv2d(x, o, w, b, mask=m)",
    ],
    "deformable_conv_v1": [
        "x=2,3,6,6 o=2,18,4,4 w=5,3,3,3 : paddle.vision.ops.deform_conv2d(x, o, w)",
    ],
    "row_conv": ["x=2,5,3 w=3,3 : append('row_conv', {'X': x, 'Filter': w}, {'Out': 1})"],
    "rrelu": ["x=2,3 : F.rrelu(x)", "x=2,3 : F.rrelu(x, 0.1, 0.3, training=False)"],
    "shuffle_channel": [
        "x=2,6,3,3 : append('shuffle_channel', {'X': x}, {'Out': 1}, {'group': 2})"
    ],
    "temporal_shift": [
        "x=6,4,2,2 : F.temporal_shift(x, 3)",
        "x=6,2,2,4 : F.temporal_shift(x, 3, 0.2, data_format='NHWC')",
    ],
    "warpctc": [
        "x=5,2,4 l=int32:2,3 a=int64:2 b=int64:2 : F.ctc_loss(x, l, a, b, reduction='none')",
        "x=5,2,4 l=int32:2,3 a=int64:2 b=int64:2 : F.ctc_loss(x, l, a, b, norm_by_times=True)",
    ],
    "warprnnt": [
        "x=2,5,4,4 l=int32:2,3 a=int32:2 b=int32:2 : F.rnnt_loss(x, l, a, b, reduction='none')",
    ],
}
