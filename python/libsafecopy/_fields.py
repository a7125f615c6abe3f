"""Lines of JSON that may hold anything, and words out of them that may be shown."""

import json

NONE = type(None)


class Malformed(ValueError):
    """A line is not as the library writes it."""


def parsed(line):
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Malformed("no JSON") from error
    if not isinstance(value, dict):
        raise Malformed("no object")
    return value


def field(record, key, *kinds):
    value = record.get(key) if isinstance(record, dict) else NotImplemented
    if not isinstance(value, kinds):
        raise Malformed(key)
    return value


def shown(text):
    """Names of files steer no terminal, and forge no line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
