#!/usr/bin/env python3
"""openapi_tools: `katana openapi lint` beside Spectral, and `katana openapi diff` beside oasdiff.

    tests/conformance/openapi_tools.py lint --katana build/release/katana --spectral …/spectral FILE…
    tests/conformance/openapi_tools.py diff --katana build/release/katana --oasdiff …/oasdiff

With lint, both tools look at each document. Each rule that both have must find the same places. With diff, there are
pairs of documents that differ in one thing. Both tools must find the same breaking changes by the same rules. Intended
differences are in LINT_DIFFERENCES and DIFF_DIFFERENCES, with the reason. Exits with 1 when something else differs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# The words of these, and so the number of their findings, are each validator's own: one finding or none counts.
BY_PRESENCE = {"oas3-schema", "oas2-schema", "oas3-valid-media-example", "oas3-valid-schema-example"}
# (document, rule): why.
LINT_DIFFERENCES = {
    # An example, "file=@2018-report.pdf", of an object. Spectral says nothing.
    ("schema-circular.json", "oas3-valid-schema-example"),
    # null as the default of a string in 3.1, where `nullable` has no effect. Spectral says nothing.
    ("readme.json", "oas3-valid-schema-example"),
    # `examples` of a schema: Spectral looks at `example` alone.
    ("train-travel.json", "oas3-valid-schema-example"),
    # Schemas of other dialects, by $schema: their meaning is read as far as 2020-12 has it.
    ("schema-validation-local.json", "oas3-schema"),
    ("schema-validation-top-level.json", "oas3-schema"),
    ("schema-validation-local.json", "oas3-valid-schema-example"),
    ("schema-validation-top-level.json", "oas3-valid-schema-example"),
}
# Rules that only Spectral has.
SPECTRAL_ALONE = {"unrecognized-format", "parser", "invalid-ref", "oas2-unused-definition", "oas2-api-host",
                  "oas2-api-schemes", "oas2-valid-schema-example", "oas2-valid-media-example",
                  "oas2-operation-security-defined",
                  "oas2-operation-formData-consume-check", "oas2-host-trailing-slash", "oas2-anyOf", "oas2-oneOf",
                  "oas2-discriminator"}
# Pair: why.
DIFF_DIFFERENCES = {
    "uniqueItems": "oasdiff has the rule for requests alone",
    "allOf removed": "oasdiff warns when the types of what is left are the same; a bound that went is a break here",
}


def spectral_findings(spectral, folder, document):
    ruleset = folder / "ruleset.yaml"
    ruleset.write_text('extends: ["spectral:oas"]\n')
    found = folder / "found.json"  # its output to a pipe is cut off
    subprocess.run([spectral, "lint", "-r", str(ruleset), "-f", "json", "-o", str(found), "--quiet", str(document)],
                   capture_output=True, check=False)
    return json.loads(found.read_text() or "[]")


def pointer_of(path):
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def lint_of(katana, document):
    done = subprocess.run([katana, "openapi", "lint", "--json", str(document)],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{document}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def lint(options):
    differences = []
    agreed = 0
    ours_known = {line.split()[0] for line in subprocess.run(
        [options.katana, "openapi", "lint", "--rules"], capture_output=True, text=True, check=True).stdout.splitlines()}
    with tempfile.TemporaryDirectory() as folder:
        for document in options.documents:
            theirs = spectral_findings(options.spectral, Path(folder), document)
            ours = lint_of(options.katana, document)
            rules = {each["code"] for each in theirs} | {each["rule"] for each in ours}
            for rule in sorted(rules - SPECTRAL_ALONE - {"no-effect"}):
                mine = {each["pointer"] for each in ours if each["rule"] == rule}
                other = {pointer_of(each["path"]) for each in theirs if each["code"] == rule}
                if rule in BY_PRESENCE:
                    mine, other = {bool(mine)}, {bool(other)}
                if mine == other and rule in ours_known:
                    agreed += len(mine)
                elif (Path(document).name, rule) not in LINT_DIFFERENCES:
                    differences.append(f"{document}: {rule}: only here {sorted(mine - other)[:3]}, "
                                       f"only Spectral's {sorted(other - mine)[:3]}")
    return agreed, differences, len(options.documents)


HEAD = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}}
OK = {"200": {"description": "ok"}}


def of_paths(paths, **more):
    return {**HEAD, "paths": paths, **more}


def of_get(responses=None, **more):
    return of_paths({"/x": {"get": {"responses": responses or OK, **more}}})


def of_post(body=None):
    more = {} if body is None else {"requestBody": body}
    return of_paths({"/x": {"post": {**more, "responses": OK}}})


def field(required):
    words = {"required": True, "schema": STRING} if required else {"schema": STRING}
    return of_get({"200": {"description": "ok", "headers": {"X-A": words}}})


def of_a(**methods):
    return of_paths({"/a": {"get": {"responses": OK}, **methods}})


def at_path(name):
    parameter = {"name": name, "in": "path", "required": True, "schema": STRING}
    return of_paths({f"/a/{{{name}}}": {"get": {"parameters": [parameter], "responses": OK}}})


def secured(*names):
    schemes = {"a": {"type": "http", "scheme": "basic"}, "b": {"type": "http", "scheme": "bearer"}}
    operation = {"security": [{name: []} for name in names], "responses": OK}
    return of_paths({"/x": {"get": operation}}, components={"securitySchemes": schemes})


def of_schema(schema):
    content = {"content": {"application/json": {"schema": schema}}}
    return of_paths({"/x": {"post": {"requestBody": content, "responses": {"200": {"description": "ok", **content}}}}})


def of_property(schema, required=()):
    whole = {"type": "object", "properties": {"p": schema}}
    return of_schema({**whole, "required": list(required)} if required else whole)


def of_parameters(*parameters):
    return of_paths({"/x": {"get": {"parameters": list(parameters), "responses": OK}}})


def query(schema, **more):
    return {"name": "q", "in": "query", "schema": schema, **more}


CAT = {"type": "object", "title": "Cat", "properties": {"cat": {"type": "string"}}}
DOG = {"type": "object", "title": "Dog", "properties": {"dog": {"type": "string"}}}
STRING, INTEGER = {"type": "string"}, {"type": "integer"}
PAIRS = {
    "type": (of_property(STRING), of_property(INTEGER)),
    "type widened": (of_property(INTEGER), of_property({"type": "number"})),
    "type narrowed": (of_property({"type": "number"}), of_property(INTEGER)),
    "format": (of_property(STRING), of_property({"type": "string", "format": "uuid"})),
    "nullable": (of_property(STRING), of_property({"type": "string", "nullable": True})),
    "not nullable": (of_property({"type": "string", "nullable": True}), of_property(STRING)),
    "minimum set": (of_property(INTEGER), of_property({"type": "integer", "minimum": 1})),
    "minimum raised": (of_property({"type": "integer", "minimum": 1}), of_property({"type": "integer", "minimum": 2})),
    "minimum lowered": (of_property({"type": "integer", "minimum": 2}), of_property({"type": "integer", "minimum": 1})),
    "minimum unset": (of_property({"type": "integer", "minimum": 2}), of_property(INTEGER)),
    "maximum set": (of_property(INTEGER), of_property({"type": "integer", "maximum": 9})),
    "maximum lowered": (of_property({"type": "integer", "maximum": 9}), of_property({"type": "integer", "maximum": 8})),
    "maximum raised": (of_property({"type": "integer", "maximum": 8}), of_property({"type": "integer", "maximum": 9})),
    "maxLength set": (of_property(STRING), of_property({"type": "string", "maxLength": 9})),
    "maxLength raised": (of_property({"type": "string", "maxLength": 9}),
                         of_property({"type": "string", "maxLength": 10})),
    "minLength set": (of_property(STRING), of_property({"type": "string", "minLength": 1})),
    "minLength lowered": (of_property({"type": "string", "minLength": 3}),
                          of_property({"type": "string", "minLength": 2})),
    "maxItems set": (of_property({"type": "array", "items": STRING}),
                     of_property({"type": "array", "items": STRING, "maxItems": 3})),
    "uniqueItems": (of_property({"type": "array", "items": STRING}),
                    of_property({"type": "array", "items": STRING, "uniqueItems": True})),
    "items": (of_property({"type": "array", "items": STRING}), of_property({"type": "array", "items": INTEGER})),
    "pattern set": (of_property(STRING), of_property({"type": "string", "pattern": "^a"})),
    "pattern changed": (of_property({"type": "string", "pattern": "^b"}),
                        of_property({"type": "string", "pattern": "^a"})),
    "pattern unset": (of_property({"type": "string", "pattern": "^b"}), of_property(STRING)),
    "enum value removed": (of_property({"type": "string", "enum": ["a", "b"]}),
                           of_property({"type": "string", "enum": ["a"]})),
    "enum value added": (of_property({"type": "string", "enum": ["a"]}),
                         of_property({"type": "string", "enum": ["a", "b"]})),
    "became enum": (of_property(STRING), of_property({"type": "string", "enum": ["a"]})),
    "became no enum": (of_property({"type": "string", "enum": ["a"]}), of_property(STRING)),
    "default": (of_property({"type": "string", "default": "a"}), of_property({"type": "string", "default": "b"})),
    "property removed": (of_property(STRING), of_schema({"type": "object"})),
    "required property removed": (of_property(STRING, ["p"]), of_schema({"type": "object"})),
    "property added": (of_schema({"type": "object"}), of_property(STRING)),
    "required property added": (of_schema({"type": "object"}), of_property(STRING, ["p"])),
    "required property with default": (of_schema({"type": "object"}),
                                       of_property({"type": "string", "default": "a"}, ["p"])),
    "became required": (of_property(STRING), of_property(STRING, ["p"])),
    "became optional": (of_property(STRING, ["p"]), of_property(STRING)),
    "became readOnly": (of_property(STRING), of_property({"type": "string", "readOnly": True})),
    "became writeOnly": (of_property(STRING, ["p"]), of_property({"type": "string", "writeOnly": True}, ["p"])),
    "oneOf removed": (of_property({"oneOf": [CAT, DOG]}), of_property({"oneOf": [CAT]})),
    "oneOf added": (of_property({"oneOf": [CAT]}), of_property({"oneOf": [CAT, DOG]})),
    "anyOf removed": (of_property({"anyOf": [CAT, DOG]}), of_property({"anyOf": [CAT]})),
    "anyOf added": (of_property({"anyOf": [CAT]}), of_property({"anyOf": [CAT, DOG]})),
    "allOf added": (of_property({"allOf": [STRING]}), of_property({"allOf": [STRING, {"minLength": 2}]})),
    "allOf removed": (of_property({"allOf": [STRING, {"minLength": 2}]}), of_property({"allOf": [STRING]})),
    "body type": (of_schema(STRING), of_schema(INTEGER)),
    "body enum": (of_schema({"type": "string", "enum": ["a", "b"]}), of_schema({"type": "string", "enum": ["b", "c"]})),
    "body nullable": (of_schema(STRING), of_schema({"type": "string", "nullable": True})),
    "body maximum": (of_schema({"type": "integer", "maximum": 8}), of_schema({"type": "integer", "maximum": 9})),
    "path removed": (of_paths({"/a": {"get": {"responses": OK}}, "/b": {"get": {"responses": OK}}}), of_a()),
    "path removed, deprecated": (
        of_paths({"/a": {"get": {"responses": OK}}, "/b": {"get": {"deprecated": True, "responses": OK}}}), of_a()),
    "operation removed": (of_a(put={"responses": OK}), of_a()),
    "operation removed before its sunset": (
        of_a(put={"deprecated": True, "x-sunset": "2199-01-01", "responses": OK}), of_a()),
    "operation added": (of_a(), of_a(put={"responses": OK})),
    "required parameter added": (of_parameters(), of_parameters(query(STRING, required=True))),
    "optional parameter added": (of_parameters(), of_parameters(query(STRING))),
    "parameter removed": (of_parameters(query(STRING)), of_parameters()),
    "parameter became required": (of_parameters(query(STRING)), of_parameters(query(STRING, required=True))),
    "parameter type": (of_parameters(query(STRING)), of_parameters(query(INTEGER))),
    "parameter enum": (of_parameters(query({"type": "string", "enum": ["a", "b"]})),
                       of_parameters(query({"type": "string", "enum": ["a"]}))),
    "parameter maximum": (of_parameters(query({"type": "integer", "maximum": 9})),
                          of_parameters(query({"type": "integer", "maximum": 8}))),
    "parameter pattern": (of_parameters(query(STRING)), of_parameters(query({"type": "string", "pattern": "^a"}))),
    "path parameter renamed": (at_path("b"), at_path("c")),
    "body added": (of_post(), of_post({"required": True, "content": {"text/plain": {}}})),
    "body removed": (of_post({"content": {"text/plain": {}}}), of_post()),
    "body became required": (of_post({"content": {"text/plain": {}}}),
                             of_post({"required": True, "content": {"text/plain": {}}})),
    "request media type removed": (of_post({"content": {"text/plain": {}, "text/csv": {}}}),
                                   of_post({"content": {"text/plain": {}}})),
    "reply media type removed": (
        of_get({"200": {"description": "ok", "content": {"text/plain": {}, "text/csv": {}}}}),
        of_get({"200": {"description": "ok", "content": {"text/plain": {}}}})),
    "success status removed": (of_get({**OK, "201": {"description": "made"}}), of_get()),
    "other status removed": (of_get({**OK, "404": {"description": "no"}}), of_get()),
    "required field removed": (field(True), of_get()),
    "field became optional": (field(True), field(False)),
    "security alternative removed": (secured("a", "b"), secured("a")),
    "sunset removed": (of_get(deprecated=True, **{"x-sunset": "2199-01-01"}), of_get(deprecated=True)),
}


def changes_of_oasdiff(oasdiff, before, after):
    done = subprocess.run([oasdiff, "changelog", "-f", "json", before, after],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"oasdiff: {done.stderr}")
    levels = {3: "breaking", 2: "warning", 1: "info"}
    return {(levels[each["level"]], each["id"]) for each in json.loads(done.stdout or "[]") or []}


def diff(options):
    differences = []
    agreed = 0
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before.json", Path(folder) / "after.json"
        for name, (old, new) in PAIRS.items():
            before.write_text(json.dumps(old))
            after.write_text(json.dumps(new))
            done = subprocess.run([options.katana, "openapi", "diff", "--all", "--json", before, after],
                                  capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1):
                raise SystemExit(f"{name}: {done.stderr}")
            ours = {(each["level"], each["rule"]) for each in json.loads(done.stdout)}
            theirs = changes_of_oasdiff(options.oasdiff, str(before), str(after))
            if ours == theirs:
                agreed += len(ours)
            elif name not in DIFF_DIFFERENCES:
                differences.append(f"{name}: only here {sorted(ours - theirs)}, only oasdiff's {sorted(theirs - ours)}")
            breaks = any(level == "breaking" for level, _ in ours)
            if breaks != (done.returncode == 1):
                differences.append(f"{name}: status {done.returncode}")
    return agreed, differences, len(PAIRS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run, tool in (("lint", lint, "--spectral"), ("diff", diff, "--oasdiff")):
        command = commands.add_parser(name)
        command.set_defaults(run=run, name=name)
        command.add_argument("--katana", required=True)
        command.add_argument(tool, required=True)
        if name == "lint":
            command.add_argument("documents", nargs="+")
    options = parser.parse_args()
    agreed, differences, count = options.run(options)
    for each in differences:
        print(each)
    print(f"{options.name}: {count} inputs, {agreed} findings the same, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
