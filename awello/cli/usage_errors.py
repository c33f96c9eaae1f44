"""Describe errors in the command line in the style of Awello's other errors, not in that of Typer and pydantic."""

import re

import typer

from awello.errors import describe_invalid_value, join_choices

USAGE_TEXTS = {  # by a pattern of Typer's message
    r"Missing \w+ '([^']+)'.*": r"\1 is missing",
    r"No such option: (\S+) \(Possible options: (.+)\)": r"there is no option \1 (did you mean \2?)",
    r"No such option: (\S+)": r"there is no option \1",
    r"No such command '(.+)'\. Did you mean '(.+)'\?": r"there is no command \1 (did you mean \2?)",
    r"No such command '(.+)'\.": r"there is no command \1",
    r"Got unexpected extra argument\(s\) \((.+)\)": r"too many arguments: remove \1",
    r"Option '(.+)' requires an argument\.": r"\1 needs a value: write it after the option",
    r"Option '(.+)' does not take a value\.": r"\1 takes no value: write only the option",
}


def describe_usage_error(error: typer.TyperException) -> str:
    """Describe a command-line error in one line."""
    if (invalid := getattr(error.__cause__, "errors", None)) and (parameter := getattr(error, "param", None)):
        name = parameter.get_error_hint().strip("'")
        if choices := parameter.type_descriptor.choices:
            return f"{name} {invalid()[0]['input']!r} is unknown: choose {join_choices(choices)}"
        return describe_invalid_value(name, invalid()[0])
    message, context = error.format_message(), getattr(error, "ctx", None)
    for pattern, text in USAGE_TEXTS.items():
        if match := re.fullmatch(pattern, message, re.DOTALL):
            message = match.expand(text)
            break
    advice = f"; see '{context.command_path} --help'" if context else ""
    return message.rstrip(".") + advice
