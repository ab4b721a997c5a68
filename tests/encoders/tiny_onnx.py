"""A small ONNX network to encode pictures with, where the vectors do not matter."""

import json

from onnx import TensorProto, helper


def write_onnx(path, *, batch="n", size=4, mean=False):
    """Write a network that gives the values of the pictures, or the mean of each channel."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, size, size])]
    if mean:
        nodes = [helper.make_node("GlobalAveragePool", ["x"], ["v"])]
        outputs = [helper.make_tensor_value_info("v", TensorProto.FLOAT, [batch, 3, 1, 1])]
    else:
        nodes = [helper.make_node("Flatten", ["x"], ["v"])]
        outputs = [helper.make_tensor_value_info("v", TensorProto.FLOAT, [batch, 3 * size**2])]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs)
    opset = helper.make_opsetid("", 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    path.write_bytes(model.SerializeToString())
    path.with_suffix(".json").write_text(json.dumps({"size": size, "crop": 1.0}))
    return f"onnx:{path}"
