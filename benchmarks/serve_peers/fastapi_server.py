"""The least a FastAPI handler needs to give the same answers; arguments: MODEL PORT."""

import sys

import numpy as np
import uvicorn
from fastapi import FastAPI, Request

from zslearn.persistence import load

app = FastAPI()
recognizer = load(sys.argv[1]).recognizer()


@app.post("/v2/models/model/infer")
async def infer(request: Request) -> dict:
    """Answer the names."""
    part = (await request.json())["inputs"][0]
    X = np.array(part["data"], np.float32).reshape(part["shape"])
    names = recognizer.rank(X, 1).names[:, 0].tolist()
    output = {"name": "predict", "datatype": "BYTES", "shape": [len(names)], "data": names}
    return {"model_name": "model", "outputs": [output]}


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", access_log=False)
