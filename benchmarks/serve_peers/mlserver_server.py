"""The same model behind MLServer: ``python mlserver_server.py MODEL PORT``."""

import asyncio
import sys

from mlserver import MLModel, MLServer, ModelSettings, Settings
from mlserver.codecs import NumpyCodec, StringCodec
from mlserver.types import InferenceRequest, InferenceResponse

from zslearn.persistence import load


class Recognize(MLModel):
    """Answers the names."""

    async def load(self) -> bool:
        """Read the model."""
        self.recognizer = load(sys.argv[1]).recognizer()
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        """Answer the names."""
        X = NumpyCodec.decode_input(payload.inputs[0])
        names = self.recognizer.rank(X, 1).names[:, 0].tolist()
        return InferenceResponse(
            model_name="model", outputs=[StringCodec.encode_output("predict", names)]
        )


async def main() -> None:
    """Serve until stopped."""
    port = int(sys.argv[2])
    settings = Settings(
        host="127.0.0.1",
        http_port=port,
        grpc_port=port + 1,
        metrics_port=port + 2,
        parallel_workers=0,
        debug=False,
    )
    model = ModelSettings(name="model", implementation=Recognize)
    await MLServer(settings).start([model])


asyncio.run(main())
