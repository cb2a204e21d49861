"""Snippets of eager code, by chapter; what the last expression gives is harvested."""

REPR = """
t(1.5)
t(True)
t(3)
t(3, 'int32')
t(2.0, 'float64')
t(1 + 2j)
t(1.0, 'float16')
t(1.0, 'bfloat16')
t([True, False])
t([1, 2, 3], 'uint8')
t([-1, 2, 3], 'int8')
t([-1, 20, 3], 'int16')
t([1, 2, 3], 'int32')
t([1, 2, 300])
t([1.0, 2.5, 3.25], 'float16')
t([1.0, 2.5, 3.25], 'bfloat16')
t([1.0, 2.5, -3.25])
t([1.0, 2.5, 3.25], 'float64')
t([1 + 2j, 3 - 4j])
t([1 + 2j, 3 - 4j], 'complex128')
t([[1.0, 2.0], [3.0, 4.0]])
t([[1, 2, 3], [40, 500, 6000]])
t([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
t([])
paddle.zeros([0, 3])
paddle.zeros([2, 0], 'int64')
paddle.zeros([1, 1, 1])
t([1e-8, 1.0])
t([1e10, 1.0])
t([123456.789, 0.001])
t([1e38, 1e-38])
t([100000000.0])
t([0.1, 0.123456789])
t([1.0, 2.0, 3.0])
t([0.00001])
t([math.nan, math.inf, -math.inf])
t([math.nan, 1.5])
t(math.nan)
t([True, False, True]) & t([True, True, False])
paddle.arange(1000)
paddle.arange(1001)
paddle.arange(1001, dtype='float32')
paddle.arange(1200).reshape([30, 40])
paddle.arange(1200, dtype='float32').reshape([2, 20, 30])
paddle.arange(90).reshape([9, 10])
paddle.ones([1, 1100])
paddle.full([50, 50], 0.5)
t(1.0, stop_gradient=False)
t([1.0, 2.0], stop_gradient=False)
t([1.0, 2.0], stop_gradient=False) * 2
(t([1.0, 2.0], stop_gradient=False) * 2).detach()
paddle.create_parameter([2], 'float32', default_initializer=paddle.nn.initializer.Constant(0.5))
paddle.nn.Linear(2, 1, weight_attr=paddle.nn.initializer.Constant(0.5)).weight
paddle.nn.Linear(2, 1).bias
x = t([1.0, 2.0], stop_gradient=False); x.sum().backward(); x.grad
str(t([1.0, 2.0]))
f'{t([1.0, 2.0])}'
f'{t(1.5):.2f}'
print(t(2.5))
paddle.set_printoptions(precision=3); t([1.23456, 2.0])
paddle.set_printoptions(sci_mode=True); t([1.5, 20.0])
paddle.set_printoptions(threshold=5, edgeitems=2); paddle.arange(10)
paddle.set_printoptions(threshold=5, edgeitems=1); paddle.arange(16.0).reshape([4, 4])
paddle.set_printoptions(linewidth=40); paddle.arange(20)
t([1.0, 2.0]).place
t([1.0, 2.0]).dtype
t([1, 2]).shape
paddle.CPUPlace()
paddle.nn.Linear(2, 3)
paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
paddle.nn.Conv2D(1, 4, 3, padding=1)
paddle.nn.BatchNorm2D(4)
paddle.nn.Dropout(0.2)
paddle.nn.LayerNorm(4)
paddle.nn.Embedding(10, 3)
paddle.nn.MaxPool2D(2)
paddle.nn.CrossEntropyLoss()
paddle.float32
paddle.bool
str(paddle.float32)
repr(paddle.int64)
paddle.bfloat16
paddle.iinfo(paddle.int8)
paddle.finfo(paddle.float32)
"""

NAMES = """
t(1.0).name
[t(1.0).name, t(2.0).name]
paddle.zeros([2]).name
(t(1.0) + t(2.0)).name
x = t(1.0); y = x * 2; [x.name, y.name, (y + y).name]
paddle.nn.functional.relu(t(1.0)).name
x = t(1.0); x.name = 'mine'; x.name
paddle.create_parameter([2], 'float32').name
layer = paddle.nn.Linear(2, 1); [layer.weight.name, layer.bias.name]
layer = paddle.nn.Linear(2, 1); layer.full_name()
layers = [paddle.nn.Linear(2, 1), paddle.nn.Linear(1, 1)]; [each.weight.name for each in layers]
layer = paddle.nn.Conv2D(1, 2, 3); [each.name for each in layer.parameters()]
layer = paddle.nn.BatchNorm2D(2); [each.name for each in layer.parameters()]
layer = paddle.nn.BatchNorm2D(2); [each.name for each in layer.buffers()]
layer = paddle.nn.BatchNorm2D(2); list(layer.state_dict())
layer = paddle.nn.LayerNorm(2); [each.name for each in layer.parameters()]
layer = paddle.nn.Embedding(4, 2); [each.name for each in layer.parameters()]
layer = paddle.nn.Sequential(paddle.nn.Linear(2, 1), paddle.nn.ReLU()); list(layer.state_dict())
layer = paddle.nn.Linear(2, 1, weight_attr=paddle.ParamAttr(name='mine')); layer.weight.name
x = t([1.0], stop_gradient=False); (x * 2).sum().backward(); x.grad.name
layer = paddle.nn.Linear(2, 1); optimizer = paddle.optimizer.Adam(parameters=layer.parameters()); \
layer(paddle.ones([1, 2])).sum().backward(); optimizer.step(); sorted(optimizer.state_dict())
layer = paddle.nn.Linear(2, 1); optimizer = paddle.optimizer.Momentum(0.1, parameters=\
layer.parameters()); layer(paddle.ones([1, 2])).sum().backward(); optimizer.step(); \
sorted(optimizer.state_dict())
"""

BEHAVIOUR = """
t(1.0).stop_gradient
paddle.create_parameter([1], 'float32').stop_gradient
(t([1.0], stop_gradient=False) * t([2.0])).stop_gradient
t([1.0], stop_gradient=False).is_leaf
(t([1.0], stop_gradient=False) * 2).is_leaf
(t([1.0]) * 2).is_leaf
t([[1.0, 2.0]]).tolist()
t(1.5).item()
t([1, 2, 3]).item(1)
t([[1, 2], [3, 4]]).item(1, 0)
type(t([1]).item()).__name__
type(t(1.0).numpy()).__name__
t(1.0).numpy().shape
len(t([1, 2]))
bool(t([1]))
int(t(2.7))
float(t([3]))
hash(t(1.0)) == hash(t(1.0))
t([1, 2]) == t([1, 3])
t([1, 2]) is None
t([1, 2]).ndim
t([[1, 2]]).size
t([1, 2]).element_size()
t([[1, 2], [3, 4]]).T
t([1, 2]).astype('float32')
list(t([1, 2]))
1 in t([1, 2])
x = t([1.0, 2.0]); x.inplace_version
x = t([1.0, 2.0]); x[0] = 5.0; [x.inplace_version, x.tolist()]
x = t([1.0, 2.0]); x.add_(t([1.0, 1.0])); [x.inplace_version, x.tolist()]
x = t([1.0, 2.0, 3.0]); y = x[1:]; y[0] = 9.0; [x.tolist(), x.inplace_version]
x = t([1.0, 2.0, 3.0]); y = x[0]; y.fill_(9.0); [x.tolist(), y.tolist()]
x = t([1.0, 2.0, 3.0, 4.0]); y = x.reshape([2, 2]); y[0, 0] = 9.0; x.tolist()
x = t([1.0, 2.0]); y = x.detach(); y[0] = 9.0; x.tolist()
x = t([[1.0, 2.0], [3.0, 4.0]]); y = x.transpose([1, 0]); y[0, 1] = 9.0; x.tolist()
x = t([1.0, 2.0]); y = x.clone(); y[0] = 9.0; x.tolist()
x = t([1.0, 2.0]); y = paddle.assign(x); y[0] = 9.0; x.tolist()
x = t([1.0, 2.0]); y = x.unsqueeze(0); y[0, 0] = 9.0; x.tolist()
x = t([1.0, 2.0]); a = x.numpy(); a[0] = 9.0; x.tolist()
a = np.ones(2, 'float32'); x = t(a); a[0] = 9.0; x.tolist()
x = t([1.0, 2.0, 3.0, 4.0]); [each.tolist() for each in x.split(2)]
paddle.arange(6).reshape([2, 3])[1].tolist()
paddle.arange(6).reshape([2, 3])[:, 1].tolist()
paddle.arange(6).reshape([2, 3])[..., -1].tolist()
paddle.arange(6).reshape([2, 3])[None, 0].shape
paddle.arange(6).reshape([2, 3])[[0, 1], [1, 2]].tolist()
paddle.arange(6)[t([True, False, True, False, False, True])].tolist()
paddle.arange(6)[t([0, 5])].tolist()
paddle.arange(6)[::-1].tolist()
paddle.arange(6)[4:100].tolist()
paddle.arange(6)[5:2].shape
paddle.arange(6).reshape([2, 3])[1, 2].shape
paddle.arange(6).reshape([2, 3])[[True, False]].shape
x = t([2.0], stop_gradient=False); (x * x).backward(); x.grad.tolist()
x = t([2.0], stop_gradient=False); (x * x).backward(); (x * 3).backward(); x.grad.tolist()
x = t([2.0], stop_gradient=False); (x * x).backward(); x.clear_grad(); x.grad.tolist()
x = t([2.0], stop_gradient=False); (x * x).backward(); x.clear_gradient(False); x.grad
x = t([2.0], stop_gradient=False); x.grad
x = t([2.0], stop_gradient=False); y = x * x; y.backward(); y.grad
x = t([2.0], stop_gradient=False); y = x * x; y.retain_grads(); (y * 2).backward(); y.grad.tolist()
x = t([2.0, 3.0], stop_gradient=False); (x * x).backward(); x.grad.tolist()
x = t([2.0], stop_gradient=False); y = x * x; y.backward(t([5.0])); x.grad.tolist()
x = t([2.0], stop_gradient=False); paddle.grad(x * x * x, x)
x = t([2.0], stop_gradient=False); g = paddle.grad(x * x * x, x, create_graph=True)[0]; \
paddle.grad(g, x)
x = t([2.0], stop_gradient=False); z = t([1.0], stop_gradient=False); \
paddle.grad(x * x, [x, z], allow_unused=True)
x = t([2.0], stop_gradient=False); h = x.register_hook(lambda g: g * 10); (x * 3).backward(); \
x.grad.tolist()
x = t([1.0, 0.0, -1.0], stop_gradient=False); paddle.nn.functional.relu(x).sum().backward(); \
x.grad.tolist()
x = t([0.0], stop_gradient=False); paddle.abs(x).backward(); x.grad.tolist()
x = t([0.0], stop_gradient=False); paddle.sqrt(x).backward(); x.grad.tolist()
x = t([1.0, 1.0], stop_gradient=False); paddle.max(x).backward(); x.grad.tolist()
x = t([1.0, 1.0], stop_gradient=False); y = t([1.0, 2.0], stop_gradient=False); \
paddle.maximum(x, y).sum().backward(); [x.grad.tolist(), y.grad.tolist()]
paddle.to_tensor(1).dtype
paddle.to_tensor(1.0).dtype
paddle.to_tensor(np.float64(1)).dtype
paddle.to_tensor(np.ones(2)).dtype
paddle.to_tensor([1, 2.5]).dtype
paddle.to_tensor([True, 2]).dtype
paddle.to_tensor(np.arange(2, dtype='int32')).dtype
paddle.arange(3).dtype
paddle.arange(3.0).dtype
paddle.full([1], 1).dtype
paddle.full([1], 1.0).dtype
paddle.full([1], True).dtype
paddle.full_like(t([1]), 2.5).dtype
paddle.sum(t([True, True])).dtype
paddle.sum(t([1], 'int32')).dtype
paddle.mean(t([1.0], 'float64')).dtype
paddle.argmax(t([1.0])).dtype
paddle.shape(t([1.0])).dtype
paddle.topk(t([1.0]), 1)[1].dtype
paddle.linspace(0, 1, 3).dtype
paddle.rand([1]).dtype
paddle.randint(0, 3, [1]).dtype
paddle.set_default_dtype('float64'); [paddle.to_tensor(1.0).dtype, paddle.ones([1]).dtype]
paddle.mod(t([-3, 3]), t([2, -2])).tolist()
paddle.floor_divide(t([-3, 3]), t([2, -2])).tolist()
(t([-3]) // 2).tolist()
(t([-3.0]) // 2).tolist()
(t([-3.0]) % 2).tolist()
(t([7]) / 2).tolist()
(t([7]) + 2.5).tolist()
(t([7], 'int32') * 2.5).dtype
(t([2]) ** 3).tolist()
(t([2]) ** -1).tolist()
(t([1.0]) / 0).tolist()
(2 ** t([3.0])).tolist()
(1 - t([3.0])).tolist()
(-t([1, 2])).tolist()
(~t([True, False])).tolist()
(t([1, 3]) & t([2, 3])).tolist()
t([1.5, 2.5, -0.5]).round().tolist()
paddle.nn.functional.softmax(t([1.0, 1.0])).tolist()
layer = paddle.nn.Dropout(0.5); layer.eval(); layer(t([1.0, 2.0])).tolist()
paddle.in_dynamic_mode()
paddle.is_tensor(t(1))
paddle.get_default_dtype()
paddle.is_grad_enabled()
paddle.get_device()
"""

ERRORS = """
t([1.0, 2.0]) + t([1.0, 2.0, 3.0])
t([[1.0, 2.0]]) @ t([[1.0, 2.0]])
paddle.matmul(t(1.0), t([1.0]))
paddle.concat([t([[1.0]]), t([1.0])])
paddle.concat([t([[1.0, 2.0]]), t([[1.0]])], axis=0)
paddle.concat([t([1.0]), t([1.0])], axis=2)
paddle.concat([])
paddle.stack([t([1.0]), t([1.0, 2.0])])
paddle.split(t([1.0, 2.0, 3.0]), 2)
paddle.split(t([1.0, 2.0, 3.0]), [1, 1])
paddle.reshape(t([1.0, 2.0, 3.0]), [2, 2])
paddle.reshape(t([1.0, 2.0, 3.0]), [-1, -1])
paddle.reshape(t([1.0, 2.0, 3.0]), [-1, 2])
paddle.transpose(t([[1.0, 2.0]]), [0])
paddle.transpose(t([[1.0, 2.0]]), [0, 2])
paddle.transpose(t([[1.0, 2.0]]), [0, 0])
paddle.squeeze(t([[1.0, 2.0]]), axis=5)
paddle.unsqueeze(t([1.0]), axis=5)
paddle.sum(t([1.0]), axis=3)
paddle.mean(t([1.0]), axis=3)
paddle.max(t([1.0]), axis=3)
paddle.max(paddle.zeros([0]))
paddle.argmax(t([1.0]), axis=3)
paddle.topk(t([1.0, 2.0]), 5)
paddle.cumsum(t([1.0]), axis=3)
paddle.gather(t([1.0, 2.0]), t([5]))
paddle.gather(t([1.0, 2.0]), t([1.0]))
paddle.nn.functional.embedding(t([7]), t([[1.0], [2.0]]))
paddle.nn.functional.embedding(t([0.5]), t([[1.0], [2.0]]))
t([1.0, 2.0])[5]
t([1.0, 2.0])[0, 0]
t([1.0, 2.0])['a']
t([1.0, 2.0])[1.5]
t(1.0)[0]
x = t([1.0, 2.0]); x[5] = 1.0
x = t([1.0, 2.0]); x[0] = t([1.0, 2.0, 3.0])
paddle.slice(t([1.0]), [3], [0], [1])
paddle.where(t([1.0]), t([1.0]), t([1.0]))
paddle.where(t([True]), t([1.0]), t([1]))
paddle.cast(t([1.0]), 'float31')
paddle.exp(t([1]))
paddle.exp('a')
paddle.exp(1.0)
paddle.tanh(None)
paddle.add(t([1.0]), 1.0)
paddle.sqrt(t([True]))
paddle.to_tensor('text')
paddle.to_tensor([[1, 2], [3]])
paddle.to_tensor(object())
paddle.to_tensor(1.0, dtype='nothing')
paddle.to_tensor(1.0, place='nowhere')
paddle.zeros([-1, 2])
paddle.zeros('a')
paddle.zeros([1.5])
paddle.arange(0, 5, 0)
t([1.0, 2.0]).item()
t([1.0, 2.0]).item(7)
float(t([1.0, 2.0]))
bool(t([1.0, 2.0]))
int(t([1, 2]))
len(t(1.0))
list(t(1.0))
t([1.0]).nothing
t([1.0]).backward()
x = t([2.0], stop_gradient=False); y = x * x; y.backward(); y.backward()
x = t([2.0], stop_gradient=False); y = x * x; y.backward(retain_graph=True); y.backward()
x = t([2.0], stop_gradient=False); x.add_(t([1.0]))
x = t([2.0], stop_gradient=False); x[0] = 1.0
x = t([2.0], stop_gradient=False); y = x * 1; z = y * y; y.add_(t([1.0])); z.backward()
x = t([2.0], stop_gradient=False); y = x * 1; z = y * y; y[0] = 5.0; z.backward()
x = t([2.0], stop_gradient=False); z = paddle.exp(x); z.add_(t([1.0])); z.backward()
x = t([2.0, 1.0], stop_gradient=False); (x * x).backward(t([1.0]))
x = t([2.0], stop_gradient=False); paddle.grad(t([1.0], stop_gradient=False) * 2, x)
x = t([2.0]); paddle.grad(x * x, x)
paddle.grad(1.0, t([1.0]))
x = t([1]); x.stop_gradient = False; (x * 2).backward()
x = t([1.0], stop_gradient=False); type(x.register_hook(3)).__name__
t([1.0]).register_hook(lambda g: g)
paddle.nn.Linear(2, 3)(t([[1.0]]))
paddle.nn.Linear(2, 3)(t([1]))
paddle.nn.Conv2D(3, 4, 3)(paddle.ones([1, 2, 8, 8]))
paddle.nn.Conv2D(3, 4, 3)(paddle.ones([1, 3, 2, 2]))
paddle.nn.Conv2D(3, 4, 3)(paddle.ones([3, 8, 8]))
paddle.nn.Conv2D(3, 4, 3, groups=2)
paddle.nn.functional.max_pool2d(paddle.ones([1, 8, 8]), 2)
paddle.nn.functional.max_pool2d(paddle.ones([1, 1, 2, 2]), 5)
paddle.nn.BatchNorm2D(3)(paddle.ones([1, 2, 4, 4]))
paddle.nn.BatchNorm2D(3)(paddle.ones([1, 3]))
paddle.nn.LayerNorm(3)(paddle.ones([1, 2]))
paddle.nn.functional.softmax(t([1.0]), axis=4)
paddle.nn.functional.dropout(t([1.0]), p=2)
paddle.nn.functional.dropout(t([1.0]), mode='other')
paddle.nn.functional.cross_entropy(paddle.ones([2, 3]), t([5, 1]))
paddle.nn.functional.cross_entropy(paddle.ones([2, 3]), t([[1], [1], [1]]))
paddle.nn.functional.cross_entropy(paddle.ones([2, 3]), t([1, 1]), reduction='other')
paddle.nn.functional.mse_loss(t([1.0]), t([1.0]), reduction='other')
paddle.nn.functional.relu(t([1], 'bool'))
paddle.optimizer.SGD(0.1)
paddle.optimizer.SGD('fast', parameters=paddle.nn.Linear(1, 1).parameters())
paddle.optimizer.Adam(0.1, beta1=2.0, parameters=paddle.nn.Linear(1, 1).parameters())
paddle.optimizer.SGD(0.1, parameters=t([1.0]))
paddle.nn.Linear(2, 1).set_state_dict({'weight': np.ones((3, 1), 'float32')})
paddle.nn.Linear(2, 1).set_state_dict({'other': np.ones((3, 1), 'float32')})
paddle.nn.Sequential(3)
paddle.nn.Layer().forward()
layer = paddle.nn.Layer(); layer.add_sublayer('a', 3)
layer = paddle.nn.Layer(); layer.add_parameter('a', 3)
layer = paddle.nn.Layer(); layer.register_buffer('a', 3)
paddle.load('/no/such/file.pdparams')
paddle.set_device('nowhere')
paddle.seed('a')
paddle.static.data('x', [1])
t([1.0]).set_value(np.ones(2, 'float32'))
t([1.0]).set_value(np.ones(1, 'float64'))
t([1.0]) + 'a'
t([1.0]) + None
t([1.0]) + [1.0]
t([1.0]) < 'a'
t([1.0]) @ 2.0
{t([1.0]): 1}[t([1.0])]
"""


def snippets(chapter: str) -> list:
    """Return the snippets of a chapter."""
    return [line for line in chapter.strip().splitlines() if line]
