"""Errors of the API: each has a code and parameters for clients, and a one-line message in English.

For each code, the page has a text in the user's language and fills in the parameters.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from awello.errors import AwelloError

MAX_ERROR_CHARS = 200
MAX_QUOTED_CHARS = 40  # a message quotes at most this many characters of a client's input

ErrorFields = dict[str, Any]


class ApiError(HTTPException):
    """A refused request, with its HTTP status, code, message and parameters."""

    def __init__(self, status: int, code: str, message: str, **params: Any) -> None:
        super().__init__(status, message)
        self.code, self.params = code, params


def describe_error(error: ValidationError | RequestValidationError | AwelloError | HTTPException) -> ErrorFields:
    """Return the `code`, `message` and `params` of an error."""
    if isinstance(error, HTTPException):
        code = getattr(error, "code", HTTPStatus(error.status_code).name.lower())
        return error_fields(code, error.detail, getattr(error, "params", {}))
    if isinstance(error, ValidationError | RequestValidationError):
        cause = error.errors()[0].get("ctx", {}).get("error")
        return describe_error(cause) if isinstance(cause, AwelloError) else _describe_validation(error.errors())
    return error_fields(error.code, str(error), error.params)


def error_fields(code: str, message: str, params: ErrorFields) -> ErrorFields:
    """Return the fields that describe an error in HTTP responses and WebSocket messages."""
    clean = {key: _encodable(value) if isinstance(value, str) else value for key, value in params.items()}
    return {"code": code, "message": _encodable(to_one_line(message)), "params": clean}


def _encodable(text: str) -> str:
    """Escape lone surrogates, which JSON can represent but UTF-8 cannot."""
    return text.encode("utf-8", "backslashreplace").decode()


def _describe_validation(errors: Sequence[Any]) -> ErrorFields:
    """Describe the first invalid field, and count the others."""
    first, others = errors[0], len(errors) - 1
    context = {key: value for key, value in first.get("ctx", {}).items() if isinstance(value, str | int | float)}
    if first["type"] == "json_invalid":
        detail = str(context.get("error", ""))
        return error_fields(
            "invalid_json", f"the request is not valid JSON ({detail}): send a JSON object", {"detail": detail}
        )
    field = ".".join(str(part) for part in first["loc"] if part != "body")[:MAX_QUOTED_CHARS]
    params = {"field": field, "others": others}
    if first["type"] == "string_pattern_mismatch" and {"move", "moves"} & set(first["loc"]):
        move = str(first["input"])[:MAX_QUOTED_CHARS]
        code, params = "invalid_move", {**params, "move": move}
        text = f"{move!r} is not a move: write a move such as f5 or C, or 'pass' to pass"
    else:
        code, text = "invalid_field", first["msg"][:1].lower() + first["msg"][1:]
        params = context | params | {"reason": first["type"]}
    more = f" (more errors: {others})" if others else ""
    return error_fields(code, f"{field}: {text}{more}" if field else f"{text}{more}", params)


def to_one_line(text: str) -> str:
    """Join the lines of a text; cut it after `MAX_ERROR_CHARS` characters and append `...` if it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_ERROR_CHARS else f"{line[:MAX_ERROR_CHARS]}..."


INTERNAL_ERROR = error_fields("internal_error", "an internal error occurred: see the server's log", {})
