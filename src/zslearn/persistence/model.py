"""A fitted classifier as one file."""

from __future__ import annotations

import os
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from zslearn._files import first_line
from zslearn.exceptions import InvalidTypeError, ModelFileError, ZslearnError
from zslearn.persistence.checks import check_answers
from zslearn.persistence.container import other_version, read, write
from zslearn.persistence.decoding import Decoder
from zslearn.persistence.encoding import Encoder
from zslearn.persistence.trusted import estimator_name

# What decoding a document of a wrong shape may raise; all end as one refusal.
_WRONG_SHAPE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to one file, without pickle.

    The file is in the safetensors format: parameters, class names, signatures and learned state as
    arrays and JSON, with a checksum. It is written beside `path` and then renamed, so that `path`
    is never half a file.

    Parameters
    ----------
    model : estimator
        A fitted estimator of zslearn or of a class given to `register`, or a Pipeline that ends
        in one, with steps before it that scikit-learn brings and that keep numbers and text alone
        (`zslearn.persistence.trusted.SCIKIT_LEARN`).
    path : path-like
        Where to write; an existing file is replaced.

    Raises
    ------
    InvalidTypeError
        If the model holds something that cannot be saved; the message names the attribute.

    Examples
    --------
    >>> import os, tempfile
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.persistence import load, save
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> model = SAEClassifier(data.signatures, lam=0.1).fit(data.X, data.y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.zsl")
    >>> save(model, path)
    >>> bool((load(path).predict(data.X) == model.predict(data.X)).all())
    True
    """
    name = estimator_name(model)
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if name is None or (estimator_name(last) or "").startswith("sklearn."):
        raise InvalidTypeError(
            "save takes a fitted estimator of zslearn, or a pipeline that ends in one; got a "
            f"{type(last).__qualname__}. "
            "A class of your own is allowed by zslearn.persistence.register."
        )
    check_is_fitted(model)
    encoder = Encoder()
    document = encoder.encode(model, name)
    write(path, document, encoder.tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a classifier that `save` wrote.

    No code from the file is run: it names classes of a fixed list, which `register` extends, and
    otherwise holds numbers and text.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    estimator
        The fitted classifier, with the same scores as the one saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, cut off, altered, of another program or of a newer format.
    MissingFileError
        If there is no such file.
    """
    document, tensors = read(path)
    try:
        if not isinstance(document, dict) or document.get("kind") != "estimator":
            raise ModelFileError(path, "it describes no estimator")
        model = Decoder(tensors).decode(document)
        check_is_fitted(model)
        check_answers(model)
        return model
    except ModelFileError:
        raise
    except (ZslearnError, *_WRONG_SHAPE) as error:
        reason = str(error) if isinstance(error, ZslearnError) else first_line(error)
        reason = f"its content makes no model: {reason.rstrip('.')}{other_version(path)}"
        raise ModelFileError(path, reason) from error
