#!/usr/bin/env python3
"""Holds JSON on standard input against a schema, of which it knows as much as ours uses.

usage: schema.py SCHEMA

Prints what does not fit, a line each; the status is 1 then.
"""
import json
import re
import sys

TYPES = {"array": list, "object": dict, "string": str, "null": type(None), "integer": int, "boolean": bool}
KNOWN = {"$schema", "$defs", "$ref", "title", "type", "items", "required", "additionalProperties",
         "properties", "enum", "pattern", "minimum", "maximum"}


def faults(value, schema, root, where="$"):
    unknown = set(schema) - KNOWN
    if unknown:
        yield f"the schema at {where} says {unknown}, which this does not know"
    if "$ref" in schema:
        yield from faults(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(isinstance(value, TYPES[name]) and (name != "integer" or not isinstance(value, bool))
                         for name in names):
        yield f"{where} is {value!r}, not {names}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, not one of {schema['enum']}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where} is {value!r}, not {schema['pattern']}"
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{where} is {value}, out of its bounds"
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), root, f"{where}[{i}]")
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where} lacks {name}"
        for name, member in value.items():
            if name in schema.get("properties", {}):
                yield from faults(member, schema["properties"][name], root, f"{where}.{name}")
            elif schema.get("additionalProperties", True) is False:
                yield f"{where} has {name}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    found = list(faults(json.load(sys.stdin), schema, schema))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
