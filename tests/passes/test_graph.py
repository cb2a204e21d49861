"""The graph of a block: nodes, versions, links, and the Program it becomes again."""

import numpy as np
import pytest

import scull as paddle
from scull.core.meta import Kind
from scull.errors import ProgramError, SlotError
from scull.ir.verify import verify
from scull.passes.graph import IrGraph
from tests.passes.check import Recorded, f32, types


def classifier(x, label):
    """The example of Paddle's documents: a layer, its loss, a step of training."""
    hidden = paddle.static.nn.fc(x, 4, activation="relu")
    loss = paddle.nn.functional.softmax_with_cross_entropy(hidden, label).mean()
    paddle.optimizer.SGD(0.1).minimize(loss)
    return loss


def trained():
    return Recorded(classifier, f32(2, 3), np.array([[1], [3]]))


def test_a_step_of_training_reads_as_a_graph_of_values(golden):
    assert str(trained().graph()) == golden


def test_a_graph_becomes_the_program_it_was_made_of():
    step = trained()
    made = step.graph().to_program()
    verify(made)
    assert str(made) == str(step.main.clone())
    assert step.run()[0][0] == step.run(made)[0][0]


def test_a_graph_is_drawn_in_the_language_of_graphviz(golden, tmp_path, capsys):
    graph = Recorded(lambda x: paddle.tanh(x) * x, f32(2)).graph()
    assert graph.to_dot([n for n in graph.all_op_nodes() if n.name() == "tanh"]) == golden
    graph.draw(str(tmp_path / "pictures"), "net", marked_nodes=graph.operators()[0])
    text = (tmp_path / "pictures" / "net.dot").read_text()
    assert "fillcolor" in text and capsys.readouterr().out == "Total ops num = 2.\n"


def test_every_write_is_a_new_version_and_order_follows_from_them():
    def counted(x):
        y = x * 2.0
        z = y + 1.0
        paddle.increment(y)
        return y, z

    graph = Recorded(counted, f32(1)).graph()
    versions = sorted((n.name(), n.version) for n in graph.all_var_nodes())
    assert [name for name, version in versions if version] == ["tmp_0"]
    first, second, third = graph.operators()
    assert (second, third) in set(graph.orders())
    third.place, second.place = second.place, third.place
    assert graph.topology_sort() == [first, second, third]


def test_nodes_tell_what_they_are():
    graph = Recorded(lambda x: paddle.tanh(x), f32(2, 3)).graph()
    (node,) = graph.all_op_nodes()
    (x,), (y,) = node.inputs, node.outputs
    assert node.is_op() and not node.is_var() and node.node_type() == "Operation"
    assert x.is_var() and x.node_type() == "Variable" and not x.is_ctrl_var()
    assert (x.shape(), x.dtype(), x.type()) == ((2, 3), paddle.float32, Kind.DENSE)
    assert (x.var().name(), y.op(), node.op().type()) == ("x0", None, "tanh")
    assert node.input("X") == node.input_arg_names() == ["x0"]
    assert node.output("Out") == node.output_arg_names() == [y.name()]
    assert {n.id() for n in graph.all_nodes()} == {0, 1, 2}
    assert graph.all_persistable_nodes() == set() and not graph.is_test()
    x.set_shape([None, 3])
    assert x.shape() == (-1, 3)


def test_a_graph_is_built_node_by_node():
    graph = Recorded(lambda x: paddle.tanh(x), f32(2)).graph()
    (tanh,) = graph.all_op_nodes()
    (y,) = tanh.outputs
    z = graph.create_var_node("z", Kind.DENSE, [2], "float32")
    relu = graph.create_op_node("relu", {}, {"X": y}, {"Out": [z]})
    graph.link_to(y, relu)
    graph.link_to(relu, z)
    assert graph.topology_sort() == [tanh, relu]
    assert graph.build_adjacency_list() == {tanh: set(), relu: {tanh}}
    assert graph.graph_num() == 1 and not graph.has_circle()
    program = graph.to_program()
    verify(program)
    (found,) = paddle.static.Executor().run(program, {"x0": np.ones(2, "f4")}, ["z"])
    np.testing.assert_allclose(found, np.tanh(np.ones(2)), rtol=1e-6)


def test_links_and_names_change_together():
    graph = Recorded(lambda x: (paddle.tanh(x), paddle.exp(x)), f32(2)).graph()
    tanh, exp = graph.operators()
    graph.update_input_link(exp.inputs[0], tanh.outputs[0], exp)
    assert exp.input_arg_names() == [tanh.outputs[0].name()]
    w = graph.create_persistable_node("w", Kind.DENSE, [2], "float32")
    graph.update_output_link(exp.outputs[0], w, exp)
    assert exp.output_arg_names() == ["w"] and graph.all_persistable_nodes() == {w}
    exp.set_type("abs")
    assert graph.to_program().global_block().ops[1].type == "abs"
    with pytest.raises(SlotError, match="no value called `nothing` is linked to `tanh`"):
        tanh.rename_input("x0", "nothing")


def test_an_operator_like_another_is_made_on_the_variables_of_its_names():
    graph = Recorded(lambda x: paddle.tanh(x), f32(2)).graph()
    (tanh,) = graph.operators()
    z = graph.create_var_node_from_desc(tanh.outputs[0].var())
    again = graph.create_op_node_from_desc(tanh.op())
    graph.link_to(tanh.inputs[0], again)
    graph.link_to(again, z)
    assert z.version == 1 and types(graph.to_program()) == ["tanh", "tanh"]


def test_what_waits_for_itself_is_a_circle():
    graph = Recorded(lambda x: paddle.exp(paddle.tanh(x)), f32(2)).graph()
    first, second = graph.operators()
    graph.update_input_link(first.inputs[0], second.outputs[0], first)
    assert graph.has_circle()
    with pytest.raises(ProgramError, match="operators wait for one another: exp, tanh"):
        graph.topology_sort()


def test_nodes_go_with_their_links():
    graph = Recorded(lambda x: (paddle.tanh(x), paddle.exp(x)), f32(2)).graph()
    tanh, exp = graph.operators()
    order = graph.create_control_dep_var()
    graph.link_to(exp, order)
    graph.link_to(order, tanh)
    assert order.is_ctrl_var() and graph.topology_sort() == [exp, tanh]
    graph.safe_remove_nodes({exp, *exp.outputs, order})
    graph.fetched = frozenset()
    assert types(graph.to_program()) == ["tanh"]
    with pytest.raises(ProgramError, match="is no node of this graph"):
        graph.link_to(exp, tanh)


def test_a_clone_changes_apart_and_sub_graphs_are_those_of_blocks():
    def chosen(x):
        return paddle.static.nn.cond(x.sum() > 0, lambda: x * 2.0, lambda: x - 1.0)

    graph = Recorded(chosen, f32(2)).graph()
    inner = graph.all_sub_graphs()
    assert [[n.name() for n in g.operators()] for g in inner] == [["scale", "assign"]] * 2
    copy = graph.clone()
    copy.safe_remove_nodes(copy.all_op_nodes())
    assert graph.all_op_nodes() and not copy.all_op_nodes()


def test_a_graph_without_change_keeps_a_program_with_blocks():
    def looped(x):
        i, n = paddle.zeros([1], "int64"), paddle.full([1], 3, "int64")
        w = paddle.create_parameter([2, 2], "float32")
        found = paddle.static.nn.while_loop(
            lambda i, y: (i < n).all(), lambda i, y: [i + 1, paddle.tanh(y @ w)], [i, x]
        )[1]
        loss = found.mean()
        paddle.optimizer.Adam(0.1).minimize(loss)
        return loss

    loop = Recorded(looped, f32(2, 2))
    made = loop.graph().to_program()
    assert str(made) == str(loop.main.clone())
    assert IrGraph(made).topology_sort()
