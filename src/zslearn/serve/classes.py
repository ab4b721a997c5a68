"""Classes at run time: by a vector, by likeness, in words, by examples; and without them."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, field
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from zslearn.encoders import describe_classes, read_phrase
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.serve.changes import ServedModel, unknown_class
from zslearn.serve.inference import Rows, Texts, given_rows, read_given
from zslearn.serve.openapi import JSON, TEXT, Operation, Schema, convert_body
from zslearn.serve.responses import RequestError, json_response, read_json, refuse
from zslearn.serve.settings import Limits
from zslearn.serve.state import ModelSlot, read_request, server_of
from zslearn.signatures import Signatures
from zslearn.zero_shot.explanation import numbered_dimensions

# Encoders that name their dimensions by their kind alone, so that the weights are not known.
OTHER_ENCODERS = ("hf", "open_clip")
MOST_TEXTS = 100
MOST_LETTERS = 10_000
EXAMPLES = "/examples"


class Vector(Struct, forbid_unknown_fields=True):
    """A class by its signature: numbers, or one number per dimension by name."""

    vector: list[float] | dict[str, float]

    def signature(self, model: ServedModel, name: str | int) -> Described:
        """Return the class as a table of one row, and what else there is to say."""
        dimensions = model.signatures.dimensions
        if len(self.vector) != len(dimensions):
            raise refuse(
                f"vector must have {len(dimensions)} numbers, one per dimension; got "
                f"{len(self.vector)}. A class that differs little from another is "
                '{"like": CLASS, "changes": {...}}.'
            )
        return Signatures.from_dict({name: self.vector}, dimensions), {}


class Like(Struct, forbid_unknown_fields=True):
    """A class by its likeness to another, with changes by dimension."""

    like: str | int
    changes: dict[str, float] = {}

    def signature(self, model: ServedModel, name: str | int) -> Described:
        """Return the class as a table of one row, and what else there is to say."""
        other = model.class_of(str(self.like))
        if other not in model.recognizer.names:
            raise RequestError(400, unknown_class(model, other).message)
        table = model.signatures
        known = str(self.like) if table.names.dtype.kind == "U" else other
        return table.like(known, self.changes, name=name), {}


class Words(Struct, forbid_unknown_fields=True):
    """A class by texts, for the text encoder of the signatures, or in words of the table."""

    text: str | Annotated[list[str], Meta(min_length=1, max_length=MOST_TEXTS)]

    def signature(self, model: ServedModel, name: str | int) -> Described:
        """Return the class as a table of one row, and how traits were understood."""
        texts = self.text if isinstance(self.text, list) else [self.text]
        if sum(map(len, texts)) > MOST_LETTERS:
            raise refuse(f"text must have at most {MOST_LETTERS} letters.")
        table, recognizer = model.signatures, model.recognizer
        if model.text_encoder is not None:
            return describe_classes({name: texts}, table), {}
        if len(numbered_dimensions(table.dimensions)) == table.n_dimensions:
            raise refuse(_why_no_words(model))
        seen = recognizer.names[recognizer.seen].tolist()
        said = read_phrase(", ".join(texts), table, seen=seen).checked()
        facts = {
            "understood": said.understood,
            "not_understood": [*said.unknown, *said.constant],
            "suggestions": said.suggestions,
        }
        return Signatures([name], said.row[None], table.dimensions), facts


Described = tuple[Signatures, dict[str, Any]]
Way = Vector | Like | Words
WAYS: dict[str, type[Way]] = {"vector": Vector, "like": Like, "text": Words}


class Examples(Struct, forbid_unknown_fields=True):
    """Samples of a class: rows of numbers, or texts; a single one need not be in a list."""

    rows: Rows = field(default_factory=list)
    texts: Texts = field(default_factory=list)


def _why_no_words(model: ServedModel) -> str:
    kind = model.signatures.dimensions[0].removesuffix("0")
    if kind in OTHER_ENCODERS:
        return (
            f"the signatures of {model.name} come from a text encoder of the kind {kind!r}, and "
            "the model file does not say which; encode the words with it and send vector, or fit "
            "the model again."
        )
    return (
        f"the signatures of {model.name} were not made by a text encoder and their dimensions have "
        "no names, so words cannot be compared with them; send vector, or like with changes."
    )


def checked_name(model: ServedModel, name: str) -> str | int:
    """Return a class name in the type of the model's names, or refuse what is none."""
    if not 0 < len(name) <= 200 or name != name.strip() or not name.isprintable():
        raise refuse(f"a class needs a name of 1 to 200 printable letters; got {name!r:.80}.")
    if name.endswith(EXAMPLES):
        raise refuse(f"the name of a class cannot end in {EXAMPLES!r}, an address of its own.")
    return model.class_of(name)


def read_signature(model: ServedModel, name: str | int, body: bytes) -> Described:
    """Return the signature in a request as a table of one row, and how words were understood.

    Parameters
    ----------
    model : ServedModel
        The model as it is now.
    name : str or int
        The class, whose name counts beside its texts.
    body : bytes
        JSON with one of `vector` (numbers, or one number per dimension by name), `like` (a class,
        with `changes` by dimension) and `text` (one or several).
    """
    document = read_json(body)
    ways = [way for way in WAYS if way in document] if isinstance(document, dict) else []
    if len(ways) != 1:
        raise refuse(
            'a class is given by one of {"vector": [...]}, {"like": CLASS, "changes": {...}} and '
            '{"text": "..."}.'
        )
    way = convert_body(document, WAYS[ways[0]])
    try:
        # The check that every table makes: length, numbers, no row of zeros where it matters.
        return way.signature(model, name)
    except InvalidTypeError as error:
        raise InvalidInputError(str(error)) from error


async def list_classes(request: Request) -> Response:
    """Answer the classes of a model and the dimensions of their signatures."""
    slot = server_of(request).shelf.slot(request.path_params["name"])
    return json_response(await server_of(request).pool.run(described, slot))


async def get_class(request: Request) -> Response:
    """Answer the signature of one class."""
    slot = server_of(request).shelf.slot(request.path_params["name"])
    work = server_of(request).pool.run(described_class, slot, request.path_params["class_name"])
    return json_response(await work)


async def put_class(request: Request) -> Response:
    """Add a class, 201, or give it another signature, 200; the next request can answer it."""
    place = _to_change(request)
    body = await read_request(request)
    facts = await server_of(request).pool.run(put, *place, body)
    return json_response(facts, 201 if facts["created"] else 200)


async def delete_class(request: Request) -> Response:
    """Remove a class."""
    await server_of(request).pool.run(remove, *_to_change(request))
    return Response(status_code=204)


async def post_examples(request: Request) -> Response:
    """Add samples of a class, 201 if it is new; the next request is answered with them."""
    place, server = _to_change(request), server_of(request)
    body = await read_request(request)
    given = await read_given(request.headers, body, Examples, Examples)
    facts = await server.pool.run(teach, *place, *given, server.settings.limits)
    return json_response(facts, 201 if facts["created"] else 200)


async def delete_examples(request: Request) -> Response:
    """Take back the samples that were added of a class."""
    await server_of(request).pool.run(forget, *_to_change(request))
    return Response(status_code=204)


def _to_change(request: Request) -> tuple[ModelSlot, str]:
    """Return the model and the name of the class that a request changes, if it may."""
    slot = server_of(request).shelf.slot(request.path_params["name"])
    if server_of(request).settings.read_only:
        raise RequestError(403, "the classes of this server cannot be changed (--read-only).")
    return slot, request.path_params["class_name"]


def described(slot: ModelSlot) -> dict[str, Any]:
    """Return the classes of a model."""
    model, changes = slot.model(), slot.changes()
    changed, recognizer = changes.changed(), model.recognizer
    return {
        "model_name": model.name,
        "dimensions": list(model.signatures.dimensions),
        "text_encoder": model.text_encoder,
        "description_counts_as": model.kappa,
        "classes": [
            {
                "name": name,
                "seen": seen,
                "changed": name in changed,
                "examples": changes.n_examples(name),
            }
            for name, seen in zip(recognizer.names.tolist(), recognizer.seen.tolist(), strict=True)
        ],
    }


def described_class(slot: ModelSlot, given: str) -> dict[str, Any]:
    """Return the signature of a class."""
    model = slot.model()
    name, names = model.class_of(given), model.recognizer.names.tolist()
    if name not in names:
        raise unknown_class(model, name)
    place, table = names.index(name), model.signatures
    return {
        "name": name,
        "seen": model.recognizer.seen[place],
        "changed": name in slot.changes().changed(),
        "examples": slot.changes().n_examples(name),
        "vector": dict(zip(table.dimensions, table.vectors[place].tolist(), strict=True)),
    }


def put(slot: ModelSlot, given: str, body: bytes) -> dict[str, Any]:
    """Add or change a class."""
    model = slot.model()
    name = checked_name(model, given)
    table, facts = read_signature(model, name, body)
    created = slot.changes().put(name, table.vectors[0].tolist(), table.phrases.get(name))
    return {"name": name, "created": created, "n_classes": len(slot.model().recognizer), **facts}


def teach(
    slot: ModelSlot, given: str, samples: Examples, pictures: list[bytes], limits: Limits
) -> dict[str, Any]:
    """Add examples of a class."""
    model, changes = slot.model(), slot.changes()
    model.check_teachable()
    name = checked_name(model, given)
    X: NDArray[Any] = np.asarray(given_rows(samples, pictures, model, limits))
    created = changes.teach(name, X)
    return {
        "name": name,
        "created": created,
        "added": len(X),
        "examples": changes.n_examples(name),
        "description_counts_as": model.kappa,
        "n_classes": len(slot.model().recognizer),
    }


def forget(slot: ModelSlot, given: str) -> None:
    """Take back the examples of a class."""
    slot.changes().forget(slot.model().class_of(given))


def remove(slot: ModelSlot, given: str) -> None:
    """Remove a class."""
    slot.changes().remove(slot.model().class_of(given))


CLASS = "/v2/models/{name}/classes/{class_name}"
CURL = """curl -X PUT {base}/v2/models/NAME/classes/okapi \\
  -d '{"text": "like a horse, with stripes, not domestic"}'
curl -X PUT {base}/v2/models/NAME/classes/okapi \\
  -d '{"like": "horse", "changes": {"stripes": 80}}'
curl -X DELETE {base}/v2/models/NAME/classes/okapi"""
CURL_EXAMPLES = """curl {base}/v2/models/NAME/classes/okapi/examples \\
  -F image=@one.jpg -F image=@two.jpg
curl {base}/v2/models/NAME/classes/okapi/examples -d '{"rows": [[0.1, 0.2]]}'
curl -X DELETE {base}/v2/models/NAME/classes/okapi/examples"""
FORM: Schema = {
    "type": "object",
    "required": ["image"],
    "properties": {"image": {"type": "array", "items": TEXT | {"format": "binary"}}},
}
OPERATIONS = [
    Operation(
        "POST",
        CLASS + EXAMPLES,
        post_examples,
        "Add examples of a class: rows of numbers, texts or pictures.",
        body={JSON: Examples, "multipart/form-data": FORM},
        ok=("200", "201"),
        example=CURL_EXAMPLES,
    ),
    Operation(
        "DELETE",
        CLASS + EXAMPLES,
        delete_examples,
        "Take the examples of a class back.",
        ok=("204",),
    ),
    Operation("GET", "/v2/models/{name}/classes", list_classes, "Classes and dimensions."),
    Operation("GET", CLASS, get_class, "The signature of a class."),
    Operation(
        "PUT",
        CLASS,
        put_class,
        "Add a class or change it: a vector, a likeness with changes, or words.",
        body={JSON: tuple(WAYS.values())},
        ok=("200", "201"),
        example=CURL,
    ),
    Operation("DELETE", CLASS, delete_class, "Remove a class and its examples.", ok=("204",)),
]
