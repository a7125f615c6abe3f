"""Says whether a value is as a JSON schema wants it: the part of draft 7 that report/schema.json is
written in, made into functions once. jsonschema, which reads the schema anew for each value, takes
longer to hold a line against it than a program of the tests takes to write the report.

tests/unit/test_report_schema.py holds the two against each other.
"""

import re

# Those that say nothing of a value.
REMARKS = {"$id", "$schema", "definitions", "description", "title"}
TYPES = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: is_number(value) and float(value).is_integer(),
    "null": lambda value: value is None,
    "number": lambda value: is_number(value),
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_same(value, other):
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def each(rules):
    """All of them; a generator for all() takes a third longer."""
    def fits(value):
        for rule in rules:
            if not rule(value):
                return False
        return True
    return fits


class Schema:
    """`fits(value)` is what the schema says of it. A schema that has a keyword which is not known
    here raises KeyError."""

    def __init__(self, schema):
        self.definitions = schema.get("definitions", {})
        self.named = {}
        self.fits = self.made(schema)

    def made(self, schema):
        """The function that tells whether a value fits a part of the schema."""
        if isinstance(schema, bool):
            return lambda value: schema
        if "$ref" in schema:  # what stands beside it says nothing
            return self.reference(schema["$ref"].removeprefix("#/definitions/"))
        rules = [rule for keyword, wanted in schema.items() if keyword not in REMARKS | {"additionalProperties"}
                 for rule in [self.RULES[keyword](self, wanted)]]
        if "additionalProperties" in schema:
            rules.append(self.others(schema["additionalProperties"], schema.get("properties", {})))
        return rules[0] if len(rules) == 1 else each(rules)

    def reference(self, name):
        """A definition may have itself among its parts, so it is made when it is asked first."""
        def fits(value):
            if name not in self.named:
                self.named[name] = self.made(self.definitions[name])
            return self.named[name](value)
        return fits

    def type(self, wanted):
        kinds = [TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted)]
        return kinds[0] if len(kinds) == 1 else lambda value: any(fits(value) for fits in kinds)

    def enum(self, wanted):
        return lambda value: any(is_same(value, one) for one in wanted)

    def minimum(self, least):
        return lambda value: not is_number(value) or value >= least

    def pattern(self, wanted):
        found = re.compile(wanted).search
        return lambda value: not isinstance(value, str) or found(value) is not None

    def min_length(self, least):
        return lambda value: not isinstance(value, str) or len(value) >= least

    def min_items(self, least):
        return lambda value: not isinstance(value, list) or len(value) >= least

    def max_items(self, most):
        return lambda value: not isinstance(value, list) or len(value) <= most

    def items(self, schema):
        fits = self.made(schema)
        return lambda value: not isinstance(value, list) or all(map(fits, value))

    def one_of(self, schemas):
        kinds = [self.made(schema) for schema in schemas]
        return lambda value: sum(fits(value) for fits in kinds) == 1

    def required(self, names):
        names = frozenset(names)
        return lambda value: not isinstance(value, dict) or names <= value.keys()

    def properties(self, schemas):
        parts = [(name, self.made(schema)) for name, schema in schemas.items()]

        def fits(value):
            for name, fits_part in parts if isinstance(value, dict) else ():
                if name in value and not fits_part(value[name]):
                    return False
            return True
        return fits

    def property_names(self, schema):
        fits = self.made(schema)
        return lambda value: not isinstance(value, dict) or all(map(fits, value))

    def others(self, schema, named):
        """Those that `properties` does not name."""
        fits, named = self.made(schema), frozenset(named)
        return lambda value: not isinstance(value, dict) or all(
            fits(value[name]) for name in value.keys() - named)

    RULES = {"const": lambda self, wanted: self.enum([wanted]), "enum": enum, "items": items,
             "maxItems": max_items, "minItems": min_items, "minLength": min_length,
             "minimum": minimum, "oneOf": one_of, "pattern": pattern, "properties": properties,
             "propertyNames": property_names, "required": required, "type": type}
