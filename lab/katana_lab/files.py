"""YAML and JSON files into typed models; errors are one line with the file, the key and the mistake."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Literal, TypeVar

import pydantic
import yaml

from katana_lab import ROOT, UsageError

Model = TypeVar("Model", bound=pydantic.BaseModel)


class StrictModel(pydantic.BaseModel):
    """A model that refuses keys it does not know: a misspelt key is an error, not a default."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


class _UniqueKeys(yaml.SafeLoader):
    """YAML without repeated keys, of which the last would win silently."""


def _mapping(loader: _UniqueKeys, node: yaml.MappingNode) -> dict:
    seen = set()
    for key, _ in node.value:
        name = loader.construct_object(key)
        if name in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key '{name}' stands twice", key.start_mark)
        seen.add(name)
    return loader.construct_mapping(node, deep=True)


_UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def shown(path: Path) -> str:
    """The path as a person of this clone would type it."""
    try:
        return str(path.resolve().relative_to(ROOT))
    except ValueError:
        return str(path)


def explain(error: pydantic.ValidationError) -> str:
    """The first errors of a model as `key: what is wrong`, in one line."""
    lines = []
    for item in error.errors()[:3]:
        key = ".".join(str(part) for part in item["loc"]) or "the file"
        if item["type"] == "extra_forbidden":
            lines.append(f"{key}: there is no such key")
        else:
            given = item.get("input")
            short = "" if isinstance(given, (dict, list)) or item["type"] == "missing" else f" (it is {given!r})"
            lines.append(f"{key}: {item['msg'].removeprefix('Value error, ')}{short}")
    more = len(error.errors()) - 3
    return "; ".join(lines) + (f"; and {more} more" if more > 0 else "")


def parse(model: type[Model], data: object, source: str, extra: Literal["ignore", "forbid"] | None = None) -> Model:
    """The model, or UsageError that names the source and the key. `extra` overrides the model's treatment of unknown
    keys.
    """
    try:
        return model.model_validate(data, extra=extra)
    except pydantic.ValidationError as error:
        raise UsageError(f"{source}: {explain(error)}") from None


def read_yaml(model: type[Model], path: Path) -> Model:
    """A YAML file as a model."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)   # a SafeLoader
    except OSError as error:
        raise UsageError(f"{shown(path)}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{shown(path)}: no YAML: {' '.join(str(error).split())}") from None
    return parse(model, data, shown(path))


def read_json(path: Path) -> object:
    """A JSON file as plain data."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{shown(path)}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{shown(path)}: no JSON: {error}") from None


def write_whole(path: Path, text: str) -> None:
    """All of it or nothing: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)

# SPDX-License-Identifier: Apache-2.0
