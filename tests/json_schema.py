#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks JSON against a schema: json_schema.py SCHEMA <FILE. Knows the part of JSON Schema that tests/*.json use, and
refuses schemas that say more. Where the library jsonschema is there, it has to agree."""
import json
import sys

KNOWN = {"$schema", "$ref", "$defs", "title", "type", "enum", "required", "properties", "additionalProperties",
         "items", "minItems", "minimum", "maximum"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name in ("number", "integer"):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (name == "number" and isinstance(value, float))
    return isinstance(value, TYPES[name])


def check(value, schema, root, where, faults):
    unknown = set(schema) - KNOWN
    if unknown:
        faults.append(f"the schema says {sorted(unknown)}, which is not understood")
    if "$ref" in schema:
        check(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where, faults)
        return
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        faults.append(f"{where}: {value!r} is no {' or '.join(types)}")
        return
    if "enum" in schema and value not in schema["enum"]:
        faults.append(f"{where}: {value!r} is none of {schema['enum']}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            faults.append(f"{where}: {value} is out of range")
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                faults.append(f"{where}: has no {name}")
        for name, inner in value.items():
            if name in schema.get("properties", {}):
                check(inner, schema["properties"][name], root, f"{where}.{name}", faults)
            elif schema.get("additionalProperties") is False:
                faults.append(f"{where}: what is {name}?")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            faults.append(f"{where}: has only {len(value)}")
        for i, inner in enumerate(value):
            check(inner, schema.get("items", {}), root, f"{where}[{i}]", faults)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    faults = []
    document = json.load(sys.stdin)
    check(document, schema, schema, "document", faults)
    try:
        import jsonschema
    except ImportError:
        jsonschema = None
    if jsonschema:
        found = [f"jsonschema: {e.json_path}: {e.message}" for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]
        if bool(found) != bool(faults):
            faults.append("jsonschema says otherwise")
        faults += found
    for fault in faults[:10]:
        print(fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
