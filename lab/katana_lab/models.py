"""The schema of experiments and of the servers in them (lab/experiments/ and `lab/peers/`).

An experiment asks one question of several variants under one load. A variant is a server (a file of `lab/peers`; ours
is one of them) with options. A sweep repeats every variant for each value of one parameter. A case is a variant at one
value of the sweep; a visit is one run of one case in one round.

Units stand in the names: `_s` seconds, `_us` microseconds, `_bytes`. docs/guides/laboratory.md explains every key.
"""
from __future__ import annotations

import dataclasses
import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from katana_lab.files import StrictModel
from katana_lab.figures import FIGURES

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=60)]
Value = int | float | str | bool
LOAD_SWEEPS = ("connections", "pipeline", "requests_per_connection", "header_bytes", "rate_per_s", "response_bytes",
               "message_bytes")


class Fill(StrictModel):
    """Data that is added before the load, to be read later: requests of one operation."""

    operation: str
    count: int = Field(200, ge=1, le=100_000)
    unique: dict[str, str] = Field({}, description="members of the content; {number} in them counts the requests")


class Scenario(StrictModel):
    """Requests of the server's OpenAPI document, drawn by `katana openapi requests`, in place of one request."""

    document: str = Field("/openapi.json", pattern=r"^/")
    weights: dict[str, float] = Field(min_length=1, description="operationId: its share; others are not asked for")
    ranges: dict[str, str] = Field({}, description="values that there are: {id: 1-200}")
    requests: int = Field(20_000, ge=1, le=1_000_000, description="that are drawn; then they come again")
    seed: int = 1
    statuses: str = Field("2xx,3xx", description="what counts as a success")
    fill: Fill | None = None


class Load(StrictModel):
    """The options of katana-load. Without `rate_per_s` it is a closed loop: a reply brings the next request."""

    protocol: Literal["http1", "http2", "websocket"] = "http1"
    connections: int = Field(64, ge=1, le=100_000)
    threads: int | None = Field(None, ge=1, le=1024, description="none: one for each CPU of the generator")
    rate_per_s: float | None = Field(None, gt=0, description="open loop: latency counts from the intended time")
    pipeline: int = Field(1, ge=1, le=1024, description="in flight on a connection: requests, streams, messages")
    requests_per_connection: int | None = Field(None, ge=1, description="then the connection is closed and opened anew")
    path: str = Field("/plaintext", pattern=r"^/")
    method: str = Field("GET", pattern=r"^[A-Z]+$")
    headers: dict[str, str] = {}
    header_bytes: int = Field(0, ge=0, le=16_000, description="this much is added to each request's head")
    response_bytes: int | None = Field(None, ge=0, description="asks /bytes/N instead of `path`")
    body: str | None = None
    message_bytes: int | None = Field(None, ge=0, le=1 << 20, description="WebSocket: of each message; 13 without it")
    scenario: Scenario | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Load:
        if self.pipeline > 1 and self.rate_per_s:
            raise ValueError("pipeline and rate_per_s exclude one another")
        if self.message_bytes is not None and self.protocol != "websocket":
            raise ValueError("message_bytes is of protocol: websocket")
        if self.scenario is not None and (self.protocol != "http1" or self.method != "GET" or self.body is not None):
            raise ValueError("a scenario says what is sent, by http1: leave protocol, method and body out")
        return self

    @property
    def target(self) -> str:
        """The path that is asked for."""
        return self.path if self.response_bytes is None else f"/bytes/{self.response_bytes}"


class Variant(StrictModel):
    """A server and its options."""

    server: Name
    options: dict[Name, Value] = {}
    load: dict[str, Value | dict[str, str] | dict[str, object]] = {}     # differences from the experiment's load
    note: str = ""


class Phases(StrictModel):
    """Durations and repetitions. The load runs warm_up_s_max + measure_s; the end of warm-up is detected."""

    warm_up_s_max: float = Field(gt=0, le=600)
    measure_s: float = Field(gt=0, le=7200)
    cool_down_s: float = Field(ge=0, le=600)
    rounds: int = Field(ge=1, le=1000)


QUICK = Phases(warm_up_s_max=0.8, measure_s=1.2, cool_down_s=0.1, rounds=3)
FULL = Phases(warm_up_s_max=5, measure_s=15, cool_down_s=2, rounds=9)


class Sweep(StrictModel):
    """One parameter, several values. `parameter` is one of the load's, or `option:NAME` of the server."""

    parameter: str
    values: list[Value] = Field(min_length=1)
    quick: list[Value] = []
    labels: list[str] = []
    scaling: bool = False                # fit the Universal Scalability Law over the values

    @field_validator("parameter")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in LOAD_SWEEPS and not re.fullmatch(r"option:[a-z0-9_]+", name):
            raise ValueError(f"must be option:NAME or one of {', '.join(LOAD_SWEEPS)}")
        return name

    @model_validator(mode="after")
    def _matching(self) -> Sweep:
        if self.labels and len(self.labels) != len(self.values):
            raise ValueError("labels: one for each value")
        if self.scaling and not all(isinstance(value, (int, float)) for value in self.values):
            raise ValueError("scaling: the values must be numbers")
        for value in self.quick:
            if value not in self.values:
                raise ValueError(f"quick: {value!r} is none of the values")
        return self

    def label(self, value: Value) -> str:
        """The name of a value in tables."""
        return self.labels[self.values.index(value)] if self.labels else f"{value}"


class Sampling(StrictModel):
    """Samples taken besides time. Each costs an extra run of the case in separate rounds."""

    every_s: float = Field(0.1, gt=0, le=1)   # The interval of samples of /proc, without any extra run.
    counters: bool = True                # Instructions, cycles, cache misses, all system calls (perf stat).
    calls: bool = False                  # System calls by name (perf trace -s, else strace -c).
    profile: bool = False                # Top functions and the flame graph (perf record).
    metrics: bool = True                 # the server's own /metrics, before and after


class Check(StrictModel):
    """A condition on a figure of every case (or of `variant`); its failure is told, and is exit status 1."""

    figure: str
    variant: str | None = None
    at_most: float | None = None
    at_least: float | None = None

    @model_validator(mode="after")
    def _one(self) -> Check:
        if self.figure not in FIGURES:
            raise ValueError(f"figure: there is no '{self.figure}'; there are {', '.join(FIGURES)}")
        if self.at_most is None and self.at_least is None:
            raise ValueError("wants at_most or at_least")
        return self


GAIN_UNITS = ("%", "times")


class Claim(StrictModel):
    """A figure that was claimed before, and its comparison.

    `case` has one of three keys. `figure` is a figure of it. `stage` is the share of a stage in the traced system
    calls, in percent. `call` is how often that system call is made for a request (`working`: all that do not wait).
    `against` names another case: the result is then how much better `figure` is in `case` than there, in % or in times.
    For a figure that is better lower it is the inverse. `finding`, without a case: the doctor's finding.
    """

    source: str
    what: str
    value: float | None                  # null: the source has no figure (a failure, or a statement)
    unit: str = ""
    case: str = ""
    figure: str = ""
    against: str = ""
    stage: str = ""
    call: str = ""
    finding: str = ""

    @model_validator(mode="after")
    def _known(self) -> Claim:
        if self.figure and self.figure not in FIGURES:
            raise ValueError(f"figure: there is no '{self.figure}'; there are {', '.join(FIGURES)}")
        if sum(map(bool, (self.figure, self.stage, self.call))) != bool(self.case):
            raise ValueError("case and one of figure, stage and call belong together")
        if self.against and (not self.figure or self.unit not in GAIN_UNITS):
            raise ValueError(f"against wants a figure, and one of these units: {', '.join(GAIN_UNITS)}")
        return self


class Pinning(StrictModel):
    """CPUs by number, or in words. `half`: the upper half of the CPUs, for servers that a single one cannot load."""

    server: list[int] | Literal["all", "all_but_generator"] = "all_but_generator"
    generator: list[int] | Literal["last", "half"] = "last"


class Experiment(StrictModel):
    """One question. `baseline` is the variant to which ratios are taken: the first unless named."""

    title: str
    question: str
    kind: Literal["load", "machine"] = "load"
    suites: list[Literal["quick", "full"]] = ["quick", "full"]
    claims: list[Claim] = []
    why_they_differ: str = ""
    variants: dict[Name, Variant] = {}
    quick_variants: list[Name] = []
    baseline: Name | None = None
    load: Load = Load()
    sweep: Sweep | None = None
    quick: Phases = QUICK
    full: Phases = FULL
    pinning: Pinning = Pinning()
    sample: Sampling = Sampling()
    threshold: float = Field(1.05, gt=1, le=2)      # within this ratio two figures are equivalent
    headline: list[str] = ["cpu_us_per_request", "rate_per_s"]
    gate: list[str] = ["cpu_us_per_request", "calls_per_request"]
    checks: list[Check] = [Check(figure="errors", at_most=0)]

    @field_validator("headline", "gate")
    @classmethod
    def _figures(cls, names: list[str]) -> list[str]:
        for name in names:
            if name not in FIGURES:
                raise ValueError(f"there is no figure '{name}'; there are {', '.join(FIGURES)}")
        return names

    @model_validator(mode="after")
    def _consistent(self) -> Experiment:
        if self.kind == "load" and not self.variants:
            raise ValueError("variants: at least one is needed")
        for name in [*self.quick_variants, *([self.baseline] if self.baseline else [])]:
            if name not in self.variants:
                raise ValueError(f"there is no variant '{name}'; there are {', '.join(self.variants)}")
        for name, variant in self.variants.items():
            for key in variant.load:
                if key not in Load.model_fields:
                    raise ValueError(f"variants.{name}.load.{key}: there is no such key")
        return self

    def phases(self, quick: bool) -> Phases:
        """Lengths of the suite."""
        return self.quick if quick else self.full

    @property
    def base(self) -> str:
        """The variant to which ratios are taken."""
        return self.baseline or next(iter(self.variants), "")


@dataclasses.dataclass(frozen=True)
class Case:
    """A variant at one value of the sweep; `name` is unique within its experiment."""

    name: str
    variant: str
    value: Value | None
    label: str
    server: str
    options: dict[str, Value]
    load: Load
    note: str = ""


def cases_of(experiment: Experiment, quick: bool) -> list[Case]:
    """Every case of a suite, in the order of one round."""
    names = (quick and experiment.quick_variants) or list(experiment.variants)
    sweep = experiment.sweep
    values: list[Value | None] = [None] if sweep is None else list((quick and sweep.quick) or sweep.values)
    cases = []
    for value in values:
        for name in names:
            variant = experiment.variants[name]
            options, load = dict(variant.options), dict(variant.load)
            label = ""
            if sweep is not None and value is not None:
                label = sweep.label(value)
                if sweep.parameter.startswith("option:"):
                    options[sweep.parameter.removeprefix("option:")] = value
                else:
                    load[sweep.parameter] = value
            base = experiment.load.model_dump()
            if isinstance(load.get("scenario"), dict):
                load["scenario"] = {**(base["scenario"] or {}), **load["scenario"]}
            merged = Load.model_validate({**base, **load})
            cases.append(Case(f"{name} · {label}" if label else name, name, value, label, variant.server, options,
                              merged, variant.note))
    return cases


class Needs(StrictModel):
    """The programs that a server needs before it can run, and the remedy when they are missing."""

    programs: list[str] = []
    remedy: str


class Build(StrictModel):
    """The build of a server in its folder of `lab/peers`; into `build/peers`, never into the tree."""

    folder: Name
    command: list[str] = Field(min_length=1)
    produces: str
    environment: dict[str, str] = {}


class Peer(StrictModel):
    """A server that the laboratory can start. In texts `{port}`, `{work}`, `{build}`, `{peers}`, `{threads}` are
    replaced."""

    about: str
    language: str = ""
    needs: Needs
    build: Build | None = None
    files: dict[str, str] = {}
    command: str
    options: dict[Name, str] = {}        # option -> its words of the command; {value} is the variant's
    defaults: dict[Name, Value] = {}
    metrics: str | None = None           # path of its Prometheus text
    paths: list[str] = Field(["/plaintext"], min_length=1)       # paths that it answers like ours, by GET
    ours: bool = False

# SPDX-License-Identifier: Apache-2.0
