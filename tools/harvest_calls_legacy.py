"""Typical calls of older operators and of those that support training, by operator type."""

HISTORY = "a=2,3 p=2,3 q=2,3 r=2,3 i=int64:1 j=int64:1 k=int64:1"
COUNTS = (
    "'in_num_accumulates': i, 'in_old_num_accumulates': j, 'in_num_updates': k}, "
    "{'out_sum_1': 1, 'out_sum_2': 1, 'out_sum_3': 1, 'out_num_accumulates': 1, "
    "'out_old_num_accumulates': 1, 'out_num_updates': 1}"
)
MARGIN = "{'Logits': x, 'Label': y}, {'Softmax': 1, 'Loss': 1}, {'margin2': 0.3}"
GRAPH = "i=int64:3 j=int64:3"
COLUMNS = "i=int64:6 j=int64:4 k=int64:2"
SAMPLED = "i=int64:2 j=int64:5 k=int32:2"

CALLS = {
    "cross_entropy": [
        "x=2,5 y=int64:2,1 : append('cross_entropy', {'X': x, 'Label': y}, {'Y': 1})",
        "x=2,5 y=2,5 : append('cross_entropy', {'X': x, 'Label': y}, {'Y': 1}, "
        "{'soft_label': True})",
    ],
    "flatten2": [
        "x=2,3,4 : append('flatten2', {'X': x}, {'Out': 1, 'XShape': 1}, {'axis': 2})",
    ],
    "reshape": ["x=2,3 : append('reshape', {'X': x}, {'Out': 1}, {'shape': [3, 2]})"],
    "transpose": ["x=2,3 : append('transpose', {'X': x}, {'Out': 1}, {'axis': [1, 0]})"],
    "lookup_table": ["w=5,3 i=int64:4,1 : append('lookup_table', {'W': w, 'Ids': i}, {'Out': 1})"],
    "minus": ["x=2,3 y=2,3 : append('minus', {'X': x, 'Y': y}, {'Out': 1})"],
    "reverse": [
        "x=2,3 : append('reverse', {'X': x}, {'Out': 1}, {'axis': [1]})",
    ],
    "fill_any": ["x=2,3 : append('fill_any', {'X': x}, {'Out': 1}, {'value': 2.0})"],
    "fill_diagonal": ["x=3,3 : append('fill_diagonal', {'X': x}, {'Out': 1}, {'value': 2.0})"],
    "fill_diagonal_tensor": ["x=3,4 y=3 : paddle.Tensor.fill_diagonal_tensor(x, y)"],
    "empty": [": paddle.empty([2, 3])", "s=int32:2 : paddle.empty(s, 'int64')"],
    "logspace": [": paddle.logspace(0.0, 2.0, 5)"],
    "is_empty": ["x=2,3 : paddle.is_empty(x)"],
    "tril_indices": [": paddle.tril_indices(3, 4, 1)"],
    "triu_indices": [": paddle.triu_indices(3, 4, 1)"],
    "uniform_random_batch_size_like": [
        "x=-1,3 : append('uniform_random_batch_size_like', {'Input': x}, {'Out': 1}, "
        "{'shape': [-1, 4]})"
    ],
    "sequence_mask": [
        "x=int64:3 : F.sequence_mask(x, 5)",
        "x=int64:3 m=int32:1 : F.sequence_mask(x, m, 'float32')",
    ],
    "shard_index": ["x=int64:3,1 : paddle.shard_index(x, 20, 2, 0)"],
    "edit_distance": [
        "x=int64:2,3 y=int64:2,4 n=int64:2 m=int64:2 : "
        "paddle.nn.functional.loss.edit_distance(x, y, True, None, n, m)"
    ],
    "gru_unit": [
        "x=2,9 h=2,3 w=3,9 b=1,9 : append('gru_unit', "
        "{'Input': x, 'HiddenPrev': h, 'Weight': w, 'Bias': b}, "
        "{'Gate': 1, 'ResetHiddenPrev': 1, 'Hidden': 1})",
        "x=2,9 h=2,3 w=3,9 : append('gru_unit', "
        "{'Input': x, 'HiddenPrev': h, 'Weight': w}, "
        "{'Gate': 1, 'ResetHiddenPrev': 1, 'Hidden': 1})",
    ],
    "lod_reset": ["x=5,3 : append('lod_reset', {'X': x}, {'Out': 1}, {'target_lod': [0, 2, 5]})"],
    "average_accumulates": [
        f"{HISTORY} : append('average_accumulates', "
        "{'param': a, 'in_sum_1': p, 'in_sum_2': q, 'in_sum_3': r, " + COUNTS + ")"
    ],
    "lars_momentum": [
        "x=2,3 g=2,3 v=2,3 r=1 : append('lars_momentum', "
        "{'Param': [x], 'Grad': [g], 'Velocity': [v], 'LearningRate': [r]}, "
        "{'ParamOut': 1, 'VelocityOut': 1}, {'mu': 0.9})"
    ],
    "auc": ["x=4,2 y=int64:4,1 : static.auc(x, y)[0]"],
    "hinge_loss": ["x=4,1 y=4,1 : append('hinge_loss', {'Logits': x, 'Labels': y}, {'Loss': 1})"],
    "log_loss": ["x=4,1 y=4,1 : F.log_loss(x, y)"],
    "rank_loss": [
        "y=4,1 a=4,1 b=4,1 : append('rank_loss', {'Label': y, 'Left': a, 'Right': b}, {'Out': 1})"
    ],
    "bpr_loss": ["x=2,5 y=int64:2,1 : append('bpr_loss', {'X': x, 'Label': y}, {'Y': 1})"],
    "margin_cross_entropy": [f"x=2,5 y=int64:2 : append('margin_cross_entropy', {MARGIN})"],
    "modified_huber_loss": [
        "x=4,1 y=4,1 : append('modified_huber_loss', {'X': x, 'Y': y}, "
        "{'IntermediateVal': 1, 'Out': 1})"
    ],
    "l1_norm": ["x=2,3 : append('l1_norm', {'X': x}, {'Out': 1})"],
    "soft_relu": ["x=2,3 : append('soft_relu', {'X': x}, {'Out': 1})"],
    "crop": [
        "x=4,5 : append('crop', {'X': x}, {'Out': 1}, {'shape': [2, 3], 'offsets': [1, 1]})",
        "x=4,5 y=2,3 : append('crop', {'X': x, 'Y': y}, {'Out': 1}, {'offsets': [1, 1]})",
    ],
    "crop_tensor": [
        "x=4,5 : paddle.crop(x, [2, 3], [1, 1])",
        "x=4,5 s=int32:2 : paddle.crop(x, s, [1, 1])",
        "x=4,5 s=int32:1 : paddle.crop(x, [2, s], [1, s])",
    ],
    "pad2d": ["x=1,2,3,4 : append('pad2d', {'X': x}, {'Out': 1}, {'paddings': [1, 1, 0, 2]})"],
    "gather_tree": ["x=int64:3,2,2 y=int64:3,2,2 : F.gather_tree(x, y)"],
    "viterbi_decode": [
        "x=2,3,4 t=4,4 n=int64:2 : paddle.text.viterbi_decode(x, t, n, False)",
    ],
    "segment_pool": [
        "x=3,2 i=int64:3 : paddle.geometric.segment_sum(x, i)",
        "x=3,2 i=int64:3 : paddle.geometric.segment_mean(x, i)",
        "x=3,2 i=int64:3 : paddle.geometric.segment_max(x, i)",
    ],
    "graph_send_recv": [
        f"x=3,2 {GRAPH} : paddle.geometric.send_u_recv(x, i, j)",
        f"x=3,2 {GRAPH} : paddle.geometric.send_u_recv(x, i, j, 'mean')",
        f"x=3,2 {GRAPH} : paddle.geometric.send_u_recv(x, i, j, 'max')",
    ],
    "graph_send_ue_recv": [
        f"x=3,2 y=3,1 {GRAPH} : paddle.geometric.send_ue_recv(x, y, i, j)",
        f"x=3,2 y=3,1 {GRAPH} : paddle.geometric.send_ue_recv(x, y, i, j, 'mul', 'mean')",
        f"x=3,2 y=3,1 {GRAPH} : paddle.geometric.send_ue_recv(x, y, i, j, 'mul', 'max')",
    ],
    "graph_send_uv": [f"x=3,2 y=3,2 {GRAPH} : paddle.geometric.send_uv(x, y, i, j, 'mul')"],
    "graph_khop_sampler": [
        f"{COLUMNS} : paddle.incubate.graph_khop_sampler(i, j, k, [2, 3])",
        f"{COLUMNS} e=int64:6 : paddle.incubate.graph_khop_sampler(i, j, k, [2], e, True)",
    ],
    "graph_reindex": [
        f"{SAMPLED} : paddle.geometric.reindex_graph(i, j, k)",
        f"{SAMPLED} a=int32:9 b=int32:9 : paddle.geometric.reindex_graph(i, j, k, a, b)",
        f"{SAMPLED} m=int64:4 n=int32:2 : paddle.geometric.reindex_heter_graph(i, [j, m], [k, n])",
        f"{SAMPLED} : paddle.incubate.graph_reindex(i, j, k)",
    ],
    "graph_sample_neighbors": [
        f"{COLUMNS} : paddle.geometric.sample_neighbors(i, j, k, 2)",
        f"{COLUMNS} e=int64:6 p=int64:6 : "
        "paddle.geometric.sample_neighbors(i, j, k, 2, e, True, p)",
        f"{COLUMNS} : paddle.incubate.graph_sample_neighbors(i, j, k, sample_size=2)",
    ],
    "weighted_sample_neighbors": [
        f"{COLUMNS} w=6 : paddle.geometric.weighted_sample_neighbors(i, j, w, k, 2)",
        f"{COLUMNS} w=6 e=int64:6 : "
        "paddle.geometric.weighted_sample_neighbors(i, j, w, k, 2, e, True)",
    ],
    "assert": ["c=bool:1 x=2,3 : static.nn.control_flow.Assert(c, [x])"],
    "nop": ["x=2,3 : append('nop', {'X': [x]}, {'Out': 1})"],
}
