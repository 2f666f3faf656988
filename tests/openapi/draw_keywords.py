#!/usr/bin/env python3
"""Writes keywords.yaml: a schema for each keyword, and combinations of keywords that a seed draws.

    tests/openapi/draw_keywords.py > tests/openapi/keywords.yaml

keywords_test.cpp compares the values that the generated types accept with those that katana/data/schema accepts. A name
that begins with "warned_" is of a keyword that types do not check; "drawn_" may be either.
"""

import json
import random

CASES = {
    "const_text": {"const": "and"},
    "const_text_typed": {"type": "string", "const": "or"},
    "const_integer": {"type": "integer", "const": 3},
    "const_untyped_integer": {"const": 3},
    "const_number": {"type": "number", "const": 1.5},
    "const_boolean": {"const": True},
    "const_null": {"const": None},
    "const_list": {"const": [1, {"a": None}]},
    "const_object": {"const": {"a": 1, "b": [True]}},
    "enum_text": {"type": "string", "enum": ["a", "ab", ""]},
    "enum_integers": {"type": "integer", "enum": [1, 2, 100]},
    "enum_numbers": {"type": "number", "enum": [1, 1.5]},
    "enum_booleans": {"type": "boolean", "enum": [True]},
    "enum_mixed": {"enum": ["a", 1, None, [1]]},
    "enum_null_beside_type": {"type": "string", "enum": ["a", None]},
    "enum_nullable": {"type": ["string", "null"], "enum": ["a", None]},
    "enum_not_nullable": {"type": ["string", "null"], "enum": ["a"]},
    "enum_of_nothing": {"type": "string", "enum": [1]},
    "one_of_constants": {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]},
    "one_of_integers": {"type": "integer", "oneOf": [{"const": 0}, {"const": 1, "description": "one"}]},
    "any_of_integers": {"anyOf": [{"type": "integer", "const": 1}, {"type": "integer", "const": 2}]},
    "one_of_constants_or_null": {"oneOf": [{"const": "a"}, {"type": "null"}]},
    "type_object": {"type": "object"},
    "type_object_or_null": {"type": ["object", "null"]},
    "type_array": {"type": "array"},
    "type_boolean": {"type": "boolean"},
    "type_null": {"type": "null"},
    "type_several": {"type": ["string", "integer", "null"]},
    "anything": {},
    "minimum": {"type": "integer", "minimum": 1},
    "minimum_of_fraction": {"type": "integer", "minimum": 0.5, "maximum": 99.5},
    "maximum": {"type": "number", "maximum": 1.5},
    "exclusive_minimum": {"type": "integer", "exclusiveMinimum": 1},
    "exclusive_minimum_number": {"type": "number", "exclusiveMinimum": 1},
    "exclusive_maximum_number": {"type": "number", "exclusiveMaximum": 1.5},
    "both_minimums": {"type": "integer", "minimum": 2, "exclusiveMinimum": 2},
    "multiple_of": {"type": "integer", "multipleOf": 2},
    "multiple_of_number": {"type": "number", "multipleOf": 0.5},
    "nothing_fits": {"type": "integer", "minimum": 3, "maximum": 2},
    "length": {"type": "string", "minLength": 1, "maxLength": 2},
    "pattern": {"type": "string", "pattern": "^[a-b]+$"},
    "warned_pattern": {"type": "string", "pattern": "^(a|or)$"},
    "format_date": {"type": "string", "format": "date"},
    "format_uuid": {"type": "string", "format": "uuid"},
    "format_without_check": {"type": "string", "format": "colour"},
    "warned_format_ipv4": {"type": "string", "format": "ipv4"},
    "items": {"type": "array", "items": {"type": "integer", "minimum": 1}},
    "items_of_items": {"type": "array", "items": {"type": "array", "maxItems": 1, "items": {"type": "integer"}}},
    "items_of_text_with_enum": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
    "items_length": {"type": "array", "minItems": 1, "maxItems": 2},
    "unique_texts": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "unique_values": {"type": "array", "uniqueItems": True},
    "unique_numbers": {"type": "array", "items": {"type": ["number", "null"]}, "uniqueItems": True},
    "warned_unique_objects": {"type": "array", "uniqueItems": True,
                              "items": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    "warned_tuple": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
    "warned_contains": {"type": "array", "contains": {"const": 1}, "minContains": 2},
    "warned_unevaluated_items": {"type": "array", "prefixItems": [True], "unevaluatedItems": False},
    "dictionary": {"type": "object", "additionalProperties": {"type": "integer", "maximum": 2}},
    "dictionary_count": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1,
                         "maxProperties": 2},
    "warned_count": {"type": "object", "minProperties": 2, "properties": {"a": {"type": "integer"}}},
    "count_that_is_there": {"type": "object", "minProperties": 1, "maxProperties": 2, "required": ["a"],
                            "properties": {"a": {"type": "integer"}, "b": {}}, "additionalProperties": False},
    "strict": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    "required": {"type": "object", "required": ["a"], "properties": {"a": {"type": ["integer", "null"]}}},
    "warned_required": {"type": "object", "required": ["b"], "properties": {"a": {"type": "integer"}}},
    "warned_required_of_any": {"type": "object", "required": ["a"]},
    "warned_additional": {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
    "warned_property_names": {"type": "object", "propertyNames": {"maxLength": 1}},
    "warned_pattern_properties": {"type": "object", "patternProperties": {"^a": {"type": "integer"}}},
    "warned_dependent_required": {"type": "object", "properties": {"a": {}, "b": {}},
                                  "dependentRequired": {"a": ["b"]}},
    "warned_dependent_schemas": {"type": "object", "properties": {"a": {}, "b": {}},
                                 "dependentSchemas": {"a": {"required": ["b"]}}},
    "warned_not": {"type": "string", "not": {"const": "a"}},
    "warned_if": {"type": "integer", "if": {"minimum": 2}, "then": {"multipleOf": 100}, "else": {"const": 1}},
    "all_of_one": {"allOf": [{"type": "string", "maxLength": 1}]},
    "all_of_texts": {"allOf": [{"type": "string", "maxLength": 2}, {"minLength": 1}], "pattern": "^a.*$"},
    "all_of_objects": {"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
                                 {"type": "object", "properties": {"b": {"type": "string"}}}]},
    "unevaluated_properties": {"type": "object", "unevaluatedProperties": False,
                               "allOf": [{"type": "object", "properties": {"a": {}}},
                                         {"type": "object", "properties": {"b": {}}}]},
    "warned_strict_part": {"allOf": [{"type": "object", "properties": {"a": {}}, "additionalProperties": False},
                                     {"type": "object", "properties": {"b": {}}}]},
    "warned_property_twice": {"allOf": [{"type": "object", "properties": {"a": {"type": "integer", "minimum": 2}}},
                                        {"type": "object", "properties": {"a": {"type": "integer"}}}]},
    "reference": {"$ref": "#/components/schemas/Short"},
    "reference_with_more": {"$ref": "#/components/schemas/Short", "minLength": 1},
    "reference_in_all_of": {"allOf": [{"$ref": "#/components/schemas/Short"}], "description": "as in OpenAPI 3.0"},
    "reference_or_null": {"anyOf": [{"$ref": "#/components/schemas/Short"}, {"type": "null"}]},
    "any_of_types": {"anyOf": [{"type": "string"}, {"type": "integer"},
                               {"type": "array", "items": {"type": "string"}}]},
    "one_of_disjoint": {"oneOf": [{"type": "boolean"}, {"type": "string"}]},
    "warned_one_of_numbers": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    "warned_any_of_lengths": {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "integer"}]},
    "told_apart_by_constants": {"oneOf": [
        {"type": "object", "required": ["op"], "properties": {"op": {"const": "and"}, "of": {"type": "array"}}},
        {"type": "object", "required": ["op"], "properties": {"op": {"const": "or"}, "of": {"type": "array"}}}]},
    "warned_one_of_objects": {"oneOf": [
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
        {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}}]},
    "warned_one_of_beside_properties": {"type": "object", "properties": {"a": {}, "b": {}},
                                        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "annotations": {"type": "string", "title": "t", "description": "d", "default": "a", "examples": ["a"],
                    "deprecated": True, "contentMediaType": "text/plain", "xml": {"name": "x"}, "$comment": "c"},
}


def draw(random, depth=0):
    """A schema of a type, with some of the keywords that are about it."""
    kind = random.choice(["string", "integer", "number", "array", "object", "boolean"][:6 if depth < 2 else 3])
    schema = {"type": kind if random.random() < 0.8 else [kind, "null"]}

    def maybe(**keywords):
        for name, value in keywords.items():
            if random.random() < 0.4:
                schema[name] = value

    if kind == "string":
        maybe(minLength=random.randint(0, 2), maxLength=random.randint(1, 3), pattern=random.choice(["^[a-z]*$", "b"]),
              enum=["a", "ab", "or"], format=random.choice(["date", "uuid", "colour"]))
    elif kind in ("integer", "number"):
        maybe(minimum=random.choice([0, 1, 1.5]), maximum=random.choice([2, 99.5, 100]),
              multipleOf=random.choice([1, 2, 0.5]), exclusiveMinimum=random.choice([-1, 0]),
              enum=[0, 1, 2, 100], exclusiveMaximum=random.choice([3, 1.5]))
    elif kind == "array":
        maybe(items=draw(random, depth + 1), minItems=random.randint(0, 1), maxItems=random.randint(1, 3),
              uniqueItems=True, contains={"type": "integer"})
    elif kind == "object":
        maybe(properties={name: draw(random, depth + 1) for name in "ab"}, required=["a"], minProperties=1,
              maxProperties=2, additionalProperties=random.choice([False, {"type": "integer"}]),
              dependentRequired={"a": ["b"]})
    if random.random() < 0.15:
        extra = dict(schema)
        schema.clear()
        schema["allOf"] = [extra]
        schema["description"] = "drawn"
    if random.random() < 0.1:
        schema = {"oneOf": [schema, {"type": "null"}]}
    return schema


def main():
    seeded = random.Random(20261127)
    cases = dict(CASES)
    for number in range(60):
        cases[f"drawn_{number}"] = draw(seeded)
    print("# Made by draw_keywords.py: not to be changed.\nopenapi: 3.1.0\ninfo: {title: Keywords, version: '1'}")
    print("components:\n  schemas:\n    Short: {type: string, maxLength: 2}")
    print("    Cases:\n      type: object\n      properties:")
    for name, schema in cases.items():
        print(f"        {name}: {json.dumps(schema)}")
    print("\n# SPDX-License-Identifier: Apache-2.0")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
