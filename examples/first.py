"""A network learns x², eagerly and as a Program: from one seed both come to the same loss."""

import scull as paddle

x = paddle.linspace(-1, 1, 64).reshape([64, 1])
paddle.seed(1)
network = paddle.nn.Sequential(paddle.nn.Linear(1, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 1))
adam = paddle.optimizer.Adam(0.05, parameters=network.parameters())
for _ in range(200):  # eager: every line computes at once
    loss = paddle.nn.functional.mse_loss(network(x), x * x)
    loss.backward()
    adam.step()
    adam.clear_grad()

paddle.enable_static()  # static: a Program is described, then run
paddle.seed(1)
inputs = paddle.static.data("x", [64, 1])
network = paddle.nn.Sequential(paddle.nn.Linear(1, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 1))
cost = paddle.nn.functional.mse_loss(network(inputs), inputs * inputs)
paddle.optimizer.Adam(0.05).minimize(cost)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
costs = [exe.run(feed={"x": x.numpy()}, fetch_list=[cost])[0].item() for _ in range(200)]
print(f"eager {loss.item():.8f}, static {costs[-1]:.8f}")
