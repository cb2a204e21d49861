"""Typical public calls that make the everyday operators: `inputs : call`, by operator type."""

UNARY = {
    "paddle": """
        abs sign expm1 log2 log10 log1p rsqrt reciprocal sin cos tan asin acos atan sinh cosh
        asinh acosh atanh erf erfinv floor ceil round trunc
    """,
    "F": "relu6 selu celu silu swish mish softsign",
}

CALLS = {
    op_type: [f"x=2,3 : {module}.{op_type}(x)"]
    for module, types in UNARY.items()
    for op_type in types.split()
}

CALLS |= {
    "elementwise_pow": [
        "x=2,3 : x ** 0.5",
        "x=2,3 y=2,3 : paddle.pow(x, y)",
        "x=2,3 y=3 : x ** y",
        "x=2,3 : 2.0 ** x",
    ],
    "elementwise_mod": [
        "x=2,3 y=2,3 : paddle.mod(x, y)",
        "i=int64:2,3 : i % 2",
        "x=2,3 y=3 : x % y",
    ],
    "elementwise_floordiv": [
        "i=int64:2,3 j=int64:2,3 : paddle.floor_divide(i, j)",
        "i=int64:2,3 : i // 2",
    ],
    "elementwise_fmax": ["x=2,3 y=3 : paddle.fmax(x, y)"],
    "elementwise_fmin": ["x=2,3 y=3 : paddle.fmin(x, y)"],
    "matmul": [
        "x=2,3 y=3,4 : append('matmul', {'X': x, 'Y': y}, {'Out': 1}, {'alpha': 0.5})",
        "x=5,2,3 y=5,4,3 : append('matmul', {'X': x, 'Y': y}, {'Out': 1}, {'transpose_Y': True})",
    ],
    "mul": [
        "x=2,3,4 y=12,5 : append('mul', {'X': x, 'Y': y}, {'Out': 1}, {'x_num_col_dims': 1})",
        "x=-1,3 : static.nn.fc(x, 4)",
    ],
    "bmm": ["x=5,2,3 y=5,3,4 : paddle.bmm(x, y)"],
    "mv": ["x=2,3 y=3 : paddle.mv(x, y)"],
    "dot": ["x=3 y=3 : paddle.dot(x, y)", "x=2,3 y=2,3 : paddle.dot(x, y)"],
    "addmm": ["x=2,3 y=3,4 z=2,4 : paddle.addmm(z, x, y, beta=0.5, alpha=2.0)"],
    "kron": ["x=2,3 y=3,2 : paddle.kron(x, y)"],
    "cross": ["x=2,3 y=2,3 : paddle.cross(x, y)", "x=3,3 y=3,3 : paddle.cross(x, y, axis=1)"],
    "trace": ["x=3,4 : paddle.trace(x)", "x=2,3,4 : paddle.trace(x, 1, 1, 2)"],
    "reduce_min": ["x=2,3 : paddle.min(x)", "x=2,3,4 : paddle.min(x, axis=[0, -1], keepdim=True)"],
    "reduce_prod": ["x=2,3 : paddle.prod(x)", "x=2,3,4 : paddle.prod(x, axis=1, keepdim=True)"],
    "reduce_all": [
        "c=bool:2,3 : paddle.all(c)",
        "c=bool:2,3 : paddle.all(c, axis=0, keepdim=True)",
    ],
    "reduce_any": ["c=bool:2,3 : paddle.any(c)", "c=bool:2,3 : paddle.any(c, axis=[1])"],
    "logsumexp": [
        "x=2,3 : paddle.logsumexp(x)",
        "x=2,3 : paddle.logsumexp(x, axis=1, keepdim=True)",
    ],
    "p_norm": [
        "x=2,3 : paddle.norm(x, p=2, axis=1)",
        "x=2,3 : paddle.norm(x, p=1)",
        "x=2,3 : F.normalize(x)",
        "x=2,3 : paddle.norm(x, p=math.inf, axis=0, keepdim=True)",
    ],
    "frobenius_norm": ["x=2,3 : paddle.norm(x)", "x=2,3,4 : paddle.norm(x, p='fro', axis=[0, 1])"],
    "norm": ["x=2,3 : append('norm', {'X': x}, {'Norm': 1, 'Out': 1}, {'axis': 1})"],
    "clip": [
        "x=2,3 : paddle.clip(x, -1.0, 1.0)",
        "x=2,3 : paddle.clip(x, min=0)",
        "x=2,3 m=1 : paddle.clip(x, m, 2.0)",
        "x=-1,3 : paddle.optimizer.SGD(0.1, grad_clip=paddle.nn.ClipGradByValue(1.0))"
        ".minimize(paddle.mean(static.nn.fc(x, 2)))",
    ],
    "cumsum": ["x=2,3 : paddle.cumsum(x)", "x=2,3 : paddle.cumsum(x, axis=1)"],
    "cumprod": ["x=2,3 : paddle.cumprod(x, dim=1)"],
    "logcumsumexp": ["x=2,3 : paddle.logcumsumexp(x)", "x=2,3 : paddle.logcumsumexp(x, axis=1)"],
    "arg_min": ["x=2,3 : paddle.argmin(x)", "x=2,3 : paddle.argmin(x, axis=0)"],
    "argsort": [
        "x=2,3 : paddle.argsort(x)",
        "x=2,3 : paddle.sort(x, axis=0, descending=True)",
    ],
    "kthvalue": ["x=2,5 : paddle.kthvalue(x, 2)", "x=2,5 : paddle.kthvalue(x, 1, 0, True)"],
    "mode": ["x=2,5 : paddle.mode(x)"],
    "top_k": ["x=2,5 : append('top_k', {'X': x}, {'Out': 1, 'Indices': 1}, {'k': 2})"],
    "unique": [
        "i=int64:6 : paddle.unique(i)",
        "i=int64:6 : paddle.unique(i, True, True, True)",
        "x=4,3 : paddle.unique(x, axis=0)",
    ],
    "where_index": [
        "x=2,3 : paddle.nonzero(x)",
        "c=bool:2,3 : paddle.nonzero(c, as_tuple=True)",
        "x=2,3 c=bool:2,3 : x[c]",
    ],
    "masked_select": ["x=2,3 c=bool:2,3 : paddle.masked_select(x, c)"],
    "pow": [
        "x=2,3 : paddle.pow(x, 2)",
        "x=2,3 f=1 : append('pow', {'X': x, 'FactorTensor': f}, {'Out': 1})",
    ],
    "atan2": ["x=2,3 y=2,3 : paddle.atan2(x, y)"],
    "isnan_v2": ["x=2,3 : paddle.isnan(x)"],
    "isinf_v2": ["x=2,3 : paddle.isinf(x)"],
    "isfinite_v2": ["x=2,3 : paddle.isfinite(x)"],
    "allclose": ["x=2,3 y=2,3 : paddle.allclose(x, y)"],
    "isclose": ["x=2,3 y=2,3 : paddle.isclose(x, y, rtol=1e-4, equal_nan=True)"],
    "bitwise_and": [
        "i=int32:3 j=int32:3 : paddle.bitwise_and(i, j)",
        "i=int32:3 j=int32:3 : i & j",
    ],
    "bitwise_or": ["i=int32:3 j=int32:3 : paddle.bitwise_or(i, j)"],
    "bitwise_xor": ["i=int32:3 j=int32:3 : paddle.bitwise_xor(i, j)"],
    "bitwise_not": ["i=int32:3 : paddle.bitwise_not(i)", "i=bool:3 : ~i"],
    "assign_value": [
        ": paddle.assign(np.array([[1, 2], [3, 4]], 'int64'))",
        ": paddle.assign([1.5, 2.5])",
        ": paddle.to_tensor([True, False])",
        ": paddle.to_tensor(3)",
        ": static.create_parameter([2], 'float32', "
        "default_initializer=paddle.nn.initializer.Assign([1.0, 2.0]))",
    ],
    "fill_constant_batch_size_like": [
        "x=-1,3 : append('fill_constant_batch_size_like', {'Input': x}, {'Out': 1}, "
        "{'shape': [-1, 4], 'value': 2.0, 'dtype': 5})",
    ],
    "range": [
        ": paddle.arange(5)",
        ": paddle.arange(0.0, 1.0, 0.25)",
        "n=int64:1 : paddle.arange(n)",
    ],
    "linspace": [": paddle.linspace(0, 1, 5)", ": paddle.linspace(0, 10, 3, 'int32')"],
    "eye": [": paddle.eye(3)", ": paddle.eye(2, 3, 'int64')"],
    "diag_v2": [
        "x=3 : paddle.diag(x)",
        "x=3,3 : paddle.diag(x, offset=1)",
        "x=3 : paddle.diag(x, padding_value=2)",
    ],
    "diag_embed": ["x=2,3 : paddle.diag_embed(x)", "x=2,3 : paddle.diag_embed(x, 1, 0, 2)"],
    "diagonal": ["x=3,4 : paddle.diagonal(x)", "x=2,3,4 : paddle.diagonal(x, 1, 1, 2)"],
    "tril_triu": ["x=3,4 : paddle.tril(x)", "x=3,4 : paddle.triu(x, 1)"],
    "meshgrid": ["x=2 y=3 : paddle.meshgrid(x, y)", "x=2 y=3 z=4 : paddle.meshgrid([x, y, z])"],
    "one_hot_v2": ["i=int64:4 : F.one_hot(i, 5)"],
    "size": ["x=2,3 : paddle.numel(x)"],
    "flatten_contiguous_range": [
        "x=2,3,4 : paddle.flatten(x)",
        "x=-1,3,4 : paddle.flatten(x, 1)",
        "x=2,3,4 : paddle.nn.Flatten()(x)",
    ],
    "stack": ["x=2,3 y=2,3 : paddle.stack([x, y])", "x=2,3 y=2,3 : paddle.stack([x, y], axis=-1)"],
    "unstack": ["x=2,3 : paddle.unstack(x)", "x=2,3 : paddle.unstack(x, axis=1)"],
    "unbind": ["x=2,3 : paddle.unbind(x)", "x=2,3 : paddle.unbind(x, axis=1)"],
    "strided_slice": [
        "x=6,5 : paddle.strided_slice(x, [0], [0], [6], [2])",
        "x=6,5 : x[::2]",
        "x=6,5 : x[::-1, 1:4:2]",
    ],
    "set_value": [
        "x=4,5 : static.setitem(x, 0, 1.0)",
        "x=4,5 : static.setitem(x, slice(1, 3), 0)",
        "x=4,5 y=5 : static.setitem(x, 0, y)",
        "x=4,5 y=4,2 : static.setitem(x, (slice(None), slice(0, 4, 2)), y)",
    ],
    "expand_v2": [
        "x=1,3 : paddle.expand(x, [2, 3])",
        "x=3 : paddle.broadcast_to(x, [2, 3])",
        "x=1,3 n=int32:1 : paddle.expand(x, [n, 3])",
        "x=1,3 : paddle.expand(x, [4, -1])",
    ],
    "expand_as_v2": ["x=1,3 y=2,3 : paddle.expand_as(x, y)"],
    "broadcast_tensors": ["x=2,1 y=3 : paddle.broadcast_tensors([x, y])"],
    "tile": ["x=2,3 : paddle.tile(x, [2, 1])", "x=2,3 n=int32:1 : paddle.tile(x, [n, 2])"],
    "pad": [
        "x=2,3 : F.pad(x, [0, 1, 2, 0], value=1.5)",
        "x=2,3 : append('pad', {'X': x}, {'Out': 1}, {'paddings': [0, 1, 1, 0]})",
    ],
    "pad3d": [
        "x=1,2,3,4 : F.pad(x, [1, 0, 1, 2])",
        "x=1,2,3,4 : F.pad(x, [1, 1, 1, 1], mode='reflect')",
        "x=1,2,3,4,5 : F.pad(x, [1, 1, 0, 1, 1, 0], value=0.5, data_format='NCDHW')",
    ],
    "flip": ["x=2,3 : paddle.flip(x, [0])", "x=2,3 : paddle.flip(x, -1)"],
    "roll": ["x=2,3 : paddle.roll(x, 1)", "x=2,3 : paddle.roll(x, [1, 2], axis=[0, 1])"],
    "gather_nd": ["x=3,4 i=int64:2,2 : paddle.gather_nd(x, i)", "x=3,4 i=int64:2 : x[i]"],
    "scatter": [
        "x=3,4 i=int64:2 u=2,4 : paddle.scatter(x, i, u)",
        "x=3,4 i=int64:2 u=2,4 : paddle.scatter(x, i, u, overwrite=False)",
    ],
    "scatter_nd_add": [
        "x=3,4 i=int64:2,1 u=2,4 : paddle.scatter_nd_add(x, i, u)",
        "i=int64:2,1 u=2,4 : paddle.scatter_nd(i, u, [3, 4])",
    ],
    "index_select": [
        "x=3,4 i=int64:2 : paddle.index_select(x, i)",
        "x=3,4 i=int32:2 : paddle.index_select(x, i, axis=1)",
    ],
    "index_sample": ["x=3,4 i=int64:3,2 : paddle.index_sample(x, i)"],
    "index_add": ["x=3,4 i=int64:2 u=2,4 : paddle.index_add(x, i, 0, u)"],
    "take_along_axis": ["x=3,4 i=int64:3,2 : paddle.take_along_axis(x, i, 1)"],
    "put_along_axis": [
        "x=3,4 i=int64:3,2 u=3,2 : paddle.put_along_axis(x, i, u, 1)",
        "x=3,4 i=int64:3,2 u=3,2 : paddle.put_along_axis(x, i, u, 1, reduce='add')",
    ],
    "repeat_interleave": ["x=2,3 : paddle.repeat_interleave(x, 2, axis=1)"],
    "leaky_relu": ["x=2,3 : F.leaky_relu(x)", "x=2,3 : F.leaky_relu(x, 0.2)"],
    "elu": ["x=2,3 : F.elu(x)", "x=2,3 : F.elu(x, 0.5)"],
    "prelu": ["x=2,3,4 a=1 : F.prelu(x, a)", "x=2,3,4 : paddle.nn.PReLU(3)(x)"],
    "gelu": ["x=2,3 : F.gelu(x)", "x=2,3 : F.gelu(x, approximate=True)"],
    "logsigmoid": ["x=2,3 : F.log_sigmoid(x)"],
    "hard_sigmoid": ["x=2,3 : F.hardsigmoid(x)"],
    "hard_swish": ["x=2,3 : F.hardswish(x)"],
    "brelu": ["x=2,3 : F.hardtanh(x)"],
    "softplus": ["x=2,3 : F.softplus(x)", "x=2,3 : F.softplus(x, beta=2, threshold=10)"],
    "softshrink": ["x=2,3 : F.softshrink(x, 0.3)"],
    "hard_shrink": ["x=2,3 : F.hardshrink(x)"],
    "tanh_shrink": ["x=2,3 : F.tanhshrink(x)"],
    "thresholded_relu": ["x=2,3 : F.thresholded_relu(x)"],
    "log_softmax": ["x=2,3 : F.log_softmax(x)", "x=2,3,4 : F.log_softmax(x, axis=1)"],
    "cross_entropy2": [
        "x=2,5 y=int64:2,1 : append('cross_entropy2', {'X': x, 'Label': y}, "
        "{'Y': 1, 'XShape': 1, 'MatchX': 1})"
    ],
    "bce_loss": [
        "x=2,3 y=2,3 : F.binary_cross_entropy(x, y, reduction='none')",
        "x=2,3 y=2,3 w=2,3 : F.binary_cross_entropy(x, y, weight=w)",
    ],
    "sigmoid_cross_entropy_with_logits": [
        "x=2,3 y=2,3 : F.binary_cross_entropy_with_logits(x, y)",
        "x=2,3 y=2,3 p=3 : F.binary_cross_entropy_with_logits(x, y, reduction='sum', pos_weight=p)",
    ],
    "huber_loss": [
        "x=2,3 y=2,3 : F.smooth_l1_loss(x, y)",
        "x=2,3 y=2,3 : F.smooth_l1_loss(x, y, 'none', 0.5)",
    ],
    "nll_loss": [
        "x=2,5 y=int64:2 : F.nll_loss(x, y)",
        "x=2,5 y=int64:2 w=5 : F.nll_loss(x, y, w, reduction='none')",
    ],
    "kldiv_loss": [
        "x=2,3 y=2,3 : F.kl_div(x, y)",
        "x=2,3 y=2,3 : F.kl_div(x, y, reduction='batchmean')",
    ],
    "label_smooth": ["y=2,5 : F.label_smooth(y)", "y=2,5 p=1,5 : F.label_smooth(y, p, 0.2)"],
    "depthwise_conv2d": [
        "x=2,4,8,8 w=4,1,3,3 : F.conv2d(x, w, groups=4)",
        "x=-1,4,8,8 : paddle.nn.Conv2D(4, 8, 3, groups=4, padding=1)(x)",
    ],
    "conv2d_transpose": [
        "x=2,3,8,8 w=3,4,3,3 : F.conv2d_transpose(x, w)",
        "x=2,3,8,8 w=3,4,3,3 b=4 : F.conv2d_transpose(x, w, b, 2, 1, output_padding=1)",
        "x=-1,3,8,8 : paddle.nn.Conv2DTranspose(3, 4, 3)(x)",
    ],
    "depthwise_conv2d_transpose": ["x=2,4,8,8 w=4,1,3,3 : F.conv2d_transpose(x, w, groups=4)"],
    "max_pool2d_with_index": [
        "x=2,3,8,8 : F.max_pool2d(x, 2, return_mask=True)",
        "x=2,3,8,8 : F.adaptive_max_pool2d(x, [2, 3])",
    ],
    "group_norm": [
        "x=2,4,3,3 : paddle.nn.GroupNorm(2, 4)(x)",
        "x=-1,4,3,3 : static.nn.group_norm(x, 2)",
    ],
    "instance_norm": [
        "x=2,4,3,3 : F.instance_norm(x)",
        "x=2,4,3,3 : paddle.nn.InstanceNorm2D(4)(x)",
    ],
    "nearest_interp_v2": [
        "x=1,2,3,4 : F.interpolate(x, scale_factor=2)",
        "x=1,2,3,4 : F.interpolate(x, size=[6, 8])",
    ],
    "bilinear_interp_v2": [
        "x=1,2,3,4 : F.interpolate(x, size=[6, 8], mode='bilinear')",
        "x=1,2,3,4 : F.upsample(x, scale_factor=[2, 3], mode='bilinear', align_corners=True)",
    ],
    "pixel_shuffle": ["x=1,8,3,4 : F.pixel_shuffle(x, 2)"],
    "unfold": ["x=1,2,5,5 : F.unfold(x, 3)", "x=1,2,5,5 : F.unfold(x, [2, 3], 2, 1, 1)"],
    "truncated_gaussian_random": [
        ": static.create_parameter([2, 3], 'float32', "
        "default_initializer=paddle.nn.initializer.TruncatedNormal(0.0, 0.02))",
    ],
    "randint": [": paddle.randint(0, 5, [2, 3])", "x=2,3 : paddle.randint_like(x, 0, 5, 'int32')"],
    "randperm": [": paddle.randperm(5)"],
    "bernoulli": ["x=2,3 : paddle.bernoulli(x)"],
    "multinomial": [
        "x=2,3 : paddle.multinomial(x, 2)",
        "x=2,3 : paddle.multinomial(x, 5, replacement=True)",
    ],
    "seed": [": append('seed', {}, {'Out': 1}, {'seed': 5}, 'int32')"],
    "check_finite_and_unscale": [
        "x=2,3 s=1 : append('check_finite_and_unscale', {'X': [x], 'Scale': s}, "
        "{'Out': 1, 'FoundInfinite': 1})",
    ],
    "update_loss_scaling": [
        "x=2,3 f=bool:1 s=1 g=int32:1 b=int32:1 : append('update_loss_scaling', {'X': [x], "
        "'FoundInfinite': f, 'PrevLossScaling': s, 'InGoodSteps': g, 'InBadSteps': b}, {'Out': 1, "
        "'LossScaling': 1, 'OutGoodSteps': 1, 'OutBadSteps': 1}, {'incr_every_n_steps': 1000, "
        "'decr_every_n_nan_or_inf': 2, 'incr_ratio': 2.0, 'decr_ratio': 0.5})",
    ],
    "coalesce_tensor": [
        "x=2,3 y=4 : append('coalesce_tensor', {'Input': [x, y]}, {'Output': 2, 'FusedOutput': 1}, "
        "{'dtype': 5, 'copy_data': True, 'use_align': False})",
    ],
    "py_func": [
        "x=2,3 y=2,3 : static.py_func(lambda a: a, x, y)",
        "x=2,3 y=2,3 : static.py_func(lambda a: a, x, y, lambda a, b, d: d)",
    ],
    "einsum": [
        "x=2,3 y=3,4 : paddle.einsum('ij,jk->ik', x, y)",
        "x=2,3 : paddle.einsum('ij->j', x)",
    ],
    "cholesky": [
        "x=3,3 : paddle.linalg.cholesky(x)",
        "x=3,3 : paddle.linalg.cholesky(x, upper=True)",
    ],
    "inverse": ["x=3,3 : paddle.linalg.inv(x)"],
    "determinant": ["x=3,3 : paddle.linalg.det(x)"],
    "solve": ["x=3,3 y=3,2 : paddle.linalg.solve(x, y)"],
    "triangular_solve": ["x=3,3 y=3,2 : paddle.linalg.triangular_solve(x, y, upper=False)"],
    "svd": ["x=3,4 : paddle.linalg.svd(x)"],
    "qr": ["x=4,3 : paddle.linalg.qr(x)"],
    "eigh": ["x=3,3 : paddle.linalg.eigh(x)"],
    "matrix_power": ["x=3,3 : paddle.linalg.matrix_power(x, 3)"],
    "ftrl": [
        "p=3 s=3 l=3 g=3 r=1 : append('ftrl', {'Param': p, 'SquaredAccumulator': s, "
        "'LinearAccumulator': l, 'Grad': g, 'LearningRate': r}, {'ParamOut': 1, "
        "'SquaredAccumOut': 1, 'LinearAccumOut': 1}, {'l1': 0.1, 'l2': 0.2})",
    ],
}

OPTIMIZERS = {
    "adamax": "Adamax(0.1)",
    "adagrad": "Adagrad(0.1, initial_accumulator_value=0.5)",
    "adadelta": "Adadelta(0.1)",
    "rmsprop": "RMSProp(0.1, centered=True, momentum=0.9)",
    "lamb": "Lamb(0.1)",
}

CALLS |= {
    op_type: [f"x=-1,3 : paddle.optimizer.{made}.minimize(paddle.mean(static.nn.fc(x, 2)))"]
    for op_type, made in OPTIMIZERS.items()
}
