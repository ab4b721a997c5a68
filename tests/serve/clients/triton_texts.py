"""Send texts by tritonclient, run by its own Python: ``triton_texts.py HOST:PORT TEXT ...``."""

import json
import sys

import numpy as np
import tritonclient.http as http


def main(address, *texts):
    """Print what the server answered to texts, as JSON and as raw bytes."""
    client = http.InferenceServerClient(address)
    found = {"inputs": client.get_model_metadata("made")["inputs"]}
    for binary in (True, False):
        result = client.infer("made", [tensor(texts, binary)], outputs=outputs(binary))
        names = result.as_numpy("predict").tolist()
        found[f"names {binary}"] = [n.decode() if isinstance(n, bytes) else n for n in names]
        found["scores"] = result.as_numpy("scores").tolist()
    try:
        client.infer("made", [tensor([texts[0], " "], True)])
    except http.InferenceServerException as error:
        found["error"] = str(error)
    sys.stdout.write(json.dumps(found))


def tensor(texts, binary):
    """The texts as an input."""
    one = http.InferInput("text", [len(texts)], "BYTES")
    one.set_data_from_numpy(np.array(texts, dtype=object), binary_data=binary)
    return one


def outputs(binary):
    """Names and scores."""
    return [http.InferRequestedOutput(name, binary_data=binary) for name in ("predict", "scores")]


main(*sys.argv[1:])
