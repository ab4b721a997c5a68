"""Ask a server by tritonclient; run by its own Python: ``python triton.py HOST:PORT ROWS.npy``."""

import json
import sys

import numpy as np
import tritonclient.http as http


def main(address, path):
    """Print what the server answered in every way of asking."""
    rows = np.load(path)
    client = http.InferenceServerClient(address)
    found = {
        "live": client.is_server_live(),
        "ready": client.is_server_ready(),
        "model_ready": client.is_model_ready("made"),
        "name": client.get_server_metadata()["name"],
        "inputs": client.get_model_metadata("made")["inputs"],
        "index": client.get_model_repository_index(),
    }
    for binary in (True, False):
        for compression in (None, "gzip", "deflate"):
            for want in (True, False):
                result = infer(client, rows, binary, compression, want)
                names = [np.asarray(n).tolist() for n in result.as_numpy("predict").ravel()]
                key = f"{binary} {compression} {want}"
                found[key] = {
                    "names": [n.decode() if isinstance(n, bytes) else n for n in names],
                    "scores": result.as_numpy("scores").tolist(),
                }
    best = [http.InferRequestedOutput("scores", binary_data=False, class_count=2)]
    result = client.infer("made", [tensor(rows, True)], outputs=best)
    found["classes"] = [
        text.decode() if isinstance(text, bytes) else text
        for text in result.as_numpy("scores")[0].tolist()
    ]
    few = client.infer("made", [tensor(rows, True)], parameters={"candidates": '["unseen0"]'})
    found["few"] = [name.decode() for name in few.as_numpy("predict").tolist()]
    try:
        client.infer("made", [tensor(rows[:, :3], True)])
    except Exception as error:
        found["error"] = [type(error).__name__, str(error)]
    client.unload_model("made")
    found["unloaded"] = client.is_model_ready("made")
    client.load_model("made")
    found["loaded"] = client.is_model_ready("made")
    sys.stdout.write(json.dumps(found))


def tensor(rows, binary):
    """The samples as an input."""
    one = http.InferInput("features", list(rows.shape), "FP32")
    one.set_data_from_numpy(rows, binary_data=binary)
    return one


def infer(client, rows, binary, compression, want):
    """Ask for names and scores."""
    outputs = [http.InferRequestedOutput(name, binary_data=want) for name in ("predict", "scores")]
    return client.infer(
        "made", [tensor(rows, binary)], outputs=outputs, request_compression_algorithm=compression
    )


main(*sys.argv[1:])
