"""Ask a server by the client of KServe, run by its own Python with HOST:PORT and ROWS.npy."""

import asyncio
import json
import sys

import numpy as np
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig


async def main(address, path):
    """Print what the server answered."""
    rows = np.load(path)
    base = f"http://{address}"
    client = InferenceRESTClient(RESTConfig(protocol="v2", retries=1))
    found = {
        "live": await client.is_server_live(base),
        "ready": await client.is_server_ready(base),
        "model_ready": await client.is_model_ready(base, "made"),
    }
    for binary in (True, False):
        part = InferInput("features", list(rows.shape), "FP32")
        part.set_data_from_numpy(rows, binary_data=binary)
        request = InferRequest("made", [part])
        response = await client.infer(base, request, model_name="made")
        [output] = response.outputs
        found[f"names {binary}"] = [
            name.decode() if isinstance(name, bytes) else name
            for name in np.asarray(output.data).ravel().tolist()
        ]
    sys.stdout.write(json.dumps(found))


asyncio.run(main(*sys.argv[1:]))
