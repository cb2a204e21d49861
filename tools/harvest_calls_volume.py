"""Typical public calls over volumes, and of norms: `inputs : call`, by operator type."""

from harvest_calls_everyday import CALLS as EVERYDAY

IMAGES, VOLUMES = "x=2,4,6,6", "x=2,3,4,6,6"
PLACES = "static.data('i', [2, 4, 3, 3], 'int32')"
PLACES_3D = "static.data('i', [2, 3, 2, 3, 3], 'int32')"

CALLS = {
    "conv3d": [
        "x=2,3,5,5,5 w=4,3,3,3,3 : F.conv3d(x, w)",
        "x=2,3,5,5,5 w=4,3,3,3,3 b=4 : F.conv3d(x, w, b, stride=2, padding=1)",
        "x=2,5,5,5,3 w=4,3,3,3,3 b=4 : F.conv3d(x, w, b, data_format='NDHWC', padding='SAME')",
        "x=2,4,5,5,5 w=4,1,3,3,3 : F.conv3d(x, w, groups=4)",
        "x=2,3,5,5,5 w=4,3,3,3,3 : F.conv3d(x, w, padding=[0, 1, 1, 0, 1, 1])",
        "x=-1,3,5,5,5 : static.nn.conv3d(x, 4, 3, act='relu')",
        "x=-1,3,5,5,5 : static.nn.conv3d(x, 3, 3, groups=3, bias_attr=False)",
    ],
    "conv3d_transpose": [
        "x=2,3,4,4,4 w=3,4,3,3,3 : F.conv3d_transpose(x, w)",
        "x=2,3,4,4,4 w=3,4,3,3,3 b=4 : F.conv3d_transpose(x, w, b, 2, output_size=[9, 9, 9])",
        "x=2,4,4,4,3 w=3,4,3,3,3 b=4 : F.conv3d_transpose(x, w, b, stride=2, padding=1, "
        "output_padding=1, data_format='NDHWC')",
        "x=-1,3,4,4,4 : static.nn.conv3d_transpose(x, 2, filter_size=3, act='relu')",
        "x=-1,3,4,4,4 : static.nn.conv3d_transpose(x, 2, output_size=8, stride=2)",
    ],
    "conv2d_transpose": [
        *EVERYDAY["conv2d_transpose"],
        "x=-1,3,4,4 : static.nn.conv2d_transpose(x, 2, filter_size=3, act='relu')",
        "x=-1,3,4,4 : static.nn.conv2d_transpose(x, 2, output_size=[8, 8], stride=2, padding=1)",
        "x=-1,3,4,4 : static.nn.conv2d_transpose(x, 3, filter_size=2, groups=3, bias_attr=False)",
    ],
    "pool3d": [
        f"{VOLUMES} : F.max_pool3d(x, 2)",
        f"{VOLUMES} : F.avg_pool3d(x, 3, stride=1, padding=1, exclusive=False)",
        f"{VOLUMES} : F.avg_pool3d(x, 2, divisor_override=4)",
        f"{VOLUMES} : F.adaptive_avg_pool3d(x, 2)",
        "x=2,4,6,6,3 : F.max_pool3d(x, 2, padding='SAME', data_format='NDHWC')",
    ],
    "max_pool3d_with_index": [
        f"{VOLUMES} : F.max_pool3d(x, 2, return_mask=True)[0]",
        f"{VOLUMES} : F.adaptive_max_pool3d(x, 2)",
    ],
    "unpool": [
        f"x=2,4,3,3 : F.max_unpool2d(x, {PLACES}, 2)",
        f"x=2,4,3,3 : F.max_unpool2d(x, {PLACES}, 2, output_size=[7, 7])",
        "x=2,4,3 : F.max_unpool1d(x, static.data('i', [2, 4, 3], 'int32'), 2)",
    ],
    "unpool3d": [f"x=2,3,2,3,3 : F.max_unpool3d(x, {PLACES_3D}, 2)"],
    "spectral_norm": [
        "w=4,3 u!=4 v!=3 : append('spectral_norm', {'Weight': w, 'U': u, 'V': v}, {'Out': 1})",
        "w=4,3,2 : static.nn.spectral_norm(w, dim=1, power_iters=2)",
    ],
    "data_norm": ["x=-1,3 : static.nn.data_norm(x)", "x=-1,3 : static.nn.data_norm(x, act='relu')"],
    "group_norm": [
        *EVERYDAY["group_norm"],
        f"{IMAGES} : static.nn.group_norm(x, 2, act='relu', bias_attr=False)",
    ],
    "instance_norm": [
        *EVERYDAY["instance_norm"],
        f"{IMAGES} : static.nn.instance_norm(x)",
        f"{IMAGES} : static.nn.instance_norm(x, param_attr=False, bias_attr=False)",
        f"{IMAGES} w=4 b=4 : F.instance_norm(x, weight=w, bias=b)",
    ],
    "bilinear_tensor_product": [
        "x=-1,3 y=-1,4 : static.nn.bilinear_tensor_product(x, y, 5)",
        "x=2,3 y=2,4 w=5,3,4 b=1,5 : F.bilinear(x, y, w, b)",
    ],
    "row_conv": ["x=2,6,4 : static.nn.row_conv(x, 2, act='relu')"],
    "lrn": ["x=2,4,6,6 : append('lrn', {'X': x}, {'Out': 1, 'MidOut': 1}, {'n': 5})"],
    "prelu": [*EVERYDAY["prelu"], "x=-1,3,4,4 : static.nn.prelu(x, 'channel')"],
}
