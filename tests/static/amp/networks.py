"""Networks with decorated optimizers, for scull and for the reference that made the records."""


def dense(paddle, guard=None):
    """The loss of a perceptron of three layers, the one in the middle within a guard."""
    x = paddle.static.data("x", [None, 8])
    label = paddle.static.data("label", [None, 1], "int64")
    hidden = paddle.static.nn.fc(x, 16, activation="relu")
    if guard is not None:
        with guard():
            hidden = paddle.static.nn.fc(hidden, 16, activation="tanh")
    out = paddle.static.nn.fc(hidden, 4)
    return paddle.mean(paddle.nn.functional.cross_entropy(out, label))


def pictures(paddle):
    """The loss of a convolution with a batch norm and a pooling."""
    hidden = paddle.static.nn.conv2d(paddle.static.data("x", [None, 1, 8, 8]), 4, 3)
    hidden = paddle.static.nn.batch_norm(hidden, act="relu")
    hidden = paddle.nn.functional.max_pool2d(hidden, 2, 2)
    return paddle.mean(paddle.static.nn.fc(hidden, 4))


def lists(paddle):
    loss, amp = dense(paddle), paddle.static.amp
    optimizer = paddle.optimizer.SGD(0.1)
    return loss, amp.decorate(optimizer, init_loss_scaling=128.0, use_dynamic_loss_scaling=True)


def custom_lists(paddle):
    loss, amp = dense(paddle), paddle.static.amp
    own = amp.CustomOpLists(custom_black_list={"elementwise_add"})
    return loss, amp.decorate(paddle.optimizer.Adam(0.1), own)


def fixed_factor(paddle):
    loss, amp = dense(paddle), paddle.static.amp
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    optimizer = paddle.optimizer.Momentum(0.1, grad_clip=clip)
    return loss, amp.decorate(optimizer, use_dynamic_loss_scaling=False, init_loss_scaling=8.0)


def convolution(paddle):
    return pictures(paddle), paddle.static.amp.decorate(paddle.optimizer.SGD(0.1))


def second_level(paddle):
    return dense(paddle), paddle.static.amp.decorate(paddle.optimizer.Adam(0.1), level="O2")


def pure_guard(paddle):
    loss, amp = dense(paddle, paddle.static.amp.fp16_guard), paddle.static.amp
    optimizer = paddle.optimizer.Momentum(0.1, multi_precision=True)
    return loss, amp.decorate(optimizer, init_loss_scaling=128.0, use_pure_fp16=True)


def pure_convolution(paddle):
    loss, amp = pictures(paddle), paddle.static.amp
    own = amp.CustomOpLists(custom_black_list=["pool2d"])
    optimizer = paddle.optimizer.Momentum(0.1, multi_precision=True)
    return loss, amp.decorate(optimizer, own, 128.0, use_pure_fp16=True, use_fp16_guard=False)


def master_gradients(paddle):
    loss, amp = dense(paddle), paddle.static.amp
    optimizer = paddle.optimizer.AdamW(0.1)
    options = {"level": "O2", "dtype": "bfloat16", "master_grad": True, "use_promote": True}
    return loss, amp.decorate(optimizer, init_loss_scaling=4.0, **options)


def white_list_alone(paddle):
    loss, amp = dense(paddle), paddle.static.amp
    return loss, amp.decorate(paddle.optimizer.SGD(0.1), level="OD", dtype="bfloat16")


def bfloat16(paddle):
    loss, amp = dense(paddle), paddle.static.amp
    return loss, amp.bf16.decorate_bf16(paddle.optimizer.SGD(0.1))


def pure_bfloat16(paddle):
    loss, amp = dense(paddle, paddle.static.amp.bf16.bf16_guard), paddle.static.amp
    return loss, amp.bf16.decorate_bf16(paddle.optimizer.SGD(0.1), use_pure_bf16=True)


NETWORKS = (
    lists,
    custom_lists,
    fixed_factor,
    convolution,
    second_level,
    pure_guard,
    pure_convolution,
    master_gradients,
    white_list_alone,
    bfloat16,
    pure_bfloat16,
)
SHOWN = ("in_dtype", "out_dtype", "dtype", "multi_precision", "stop_update")


def lines(program):
    """The operators of a Program as texts: all that mixed precision decides."""
    found = []
    for block in program.blocks:
        for o in block.ops:
            reads = {s: o.input(s) for s in sorted(o.input_names) if o.input(s)}
            makes = {s: o.output(s) for s in sorted(o.output_names) if o.output(s)}
            attrs = {n: o.attr(n) for n in SHOWN if o.has_attr(n)}
            role = o.attr("op_role"), o.attr("op_role_var") if o.has_attr("op_role_var") else []
            found.append(f"{o.type} {reads} {makes} {attrs} {role[0]} {list(role[1])}")
    return found


def programs(paddle, build):
    """What `minimize` makes of a network: both Programs, the loss and the optimizer."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    guard = paddle.static.program_guard(main, startup)
    with paddle.utils.unique_name.guard(), guard:
        loss, optimizer = build(paddle)
        optimizer.minimize(loss)
    return main, startup, loss, optimizer
