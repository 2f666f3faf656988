"""From visits to statements: summaries, ratios to the baseline, verdicts, checks, scaling, drift. No printing here."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from katana_lab import generator, scaling, statistics
from katana_lab.figures import FIGURES, show, significant, title_of
from katana_lab.models import Claim
from katana_lab.results import CaseResult, CheckResult, ExperimentResult, Finding

LATENCY = [name for name in FIGURES if name.startswith("latency_")]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A case beside the baseline at the same value of the sweep. `p`: sign test over the rounds."""

    case: str
    base: str
    figure: str
    ratio: statistics.Interval
    p: float
    verdict: str

    @property
    def sentence(self) -> str:
        """The verdict in words that keep equivalence apart from ignorance."""
        figure = FIGURES[self.figure]
        words = {"greater": "more" if figure.better != "higher" else "better",
                 "less": "less" if figure.better != "higher" else "worse",
                 "equivalent": "equivalent", "undecided": "not decided by this many rounds"}
        return words[self.verdict]


def summary(case: CaseResult, figure: str) -> statistics.Summary:
    """The statistics of one figure of a case over its rounds."""
    return statistics.summarise(case.values(figure))


def compare_cases(case: CaseResult, base: CaseResult, figure: str, threshold: float) -> Comparison | None:
    """The ratio of a case to the baseline, within rounds that both have; None when there is none."""
    ours, theirs = case.by_round(figure), base.by_round(figure)
    rounds = sorted(set(ours) & set(theirs))
    if not rounds or case.name == base.name:
        return None
    a, b = [ours[number] for number in rounds], [theirs[number] for number in rounds]
    ratio = statistics.paired_ratio(a, b)
    if not math.isfinite(ratio.estimate):
        return None
    return Comparison(case.name, base.name, figure, ratio, statistics.sign_test(a, b),
                      statistics.verdict(ratio, threshold))


def comparisons(result: ExperimentResult, figure: str) -> list[Comparison]:
    """Every case beside the baseline variant at its value."""
    found = []
    for case in result.cases:
        base = next((one for one in result.cases if one.variant == result.definition.base and one.value == case.value),
                    None)
        one = compare_cases(case, base, figure, result.definition.threshold) if base else None
        if one:
            found.append(one)
    return found


def check_results(result: ExperimentResult) -> list[CheckResult]:
    """The experiment's conditions on the medians of its cases."""
    found = []
    for check in result.definition.checks:
        for case in result.cases:
            if case.skipped or (check.variant and case.variant != check.variant) or not case.visits:
                continue
            median = statistics.summarise(case.values(check.figure)).median.estimate
            worst = max((value for value in case.values(check.figure) if math.isfinite(value)), default=math.nan)
            value = worst if check.figure == "errors" else median
            if not math.isfinite(value):
                continue
            limits = [f"{word} {show(check.figure, limit)}" for word, limit in
                      (("at most", check.at_most), ("at least", check.at_least)) if limit is not None]
            passed = ((check.at_most is None or value <= check.at_most)
                      and (check.at_least is None or value >= check.at_least))
            found.append(CheckResult(text=f"{case.name}: {title_of(check.figure)} is {show(check.figure, value)}, "
                                          f"wanted {' and '.join(limits)}", passed=passed))
    return found


@dataclasses.dataclass(frozen=True)
class VariantScaling:
    """The law fitted to one variant, with the measured points; `left_out`: values without a CPU for each reactor."""

    variant: str
    points: list[tuple[float, float]]
    fit: scaling.ScalingFit | None
    left_out: list[float]


def scalings(result: ExperimentResult) -> list[VariantScaling]:
    """The scaling law of every variant of an experiment that asks for it."""
    sweep = result.definition.sweep
    if sweep is None or not sweep.scaling:
        return []
    limited = sweep.parameter == "option:threads"
    found = []
    for variant in dict.fromkeys(case.variant for case in result.cases):
        points, left_out = [], []
        for case in result.cases:
            if case.variant != variant or case.skipped or not isinstance(case.value, (int, float)):
                continue
            if limited and case.value > result.server_cpus:
                left_out.append(float(case.value))
                continue
            points += [(float(case.value), rate) for rate in case.by_round("rate_per_s").values()]
        fit = scaling.fit_scaling([n for n, _ in points], [rate for _, rate in points])
        found.append(VariantScaling(variant, points, fit, left_out))
    return found


def merged_histogram(case: CaseResult, void: bool = False):
    """The histogram of all rounds that count, or of those that are void; None where there are none."""
    texts = [visit.histogram for visit in case.visits if visit.histogram and bool(visit.void) == void]
    return generator.merge([generator.decode(text) for text in texts]) if texts else None


@dataclasses.dataclass(frozen=True)
class Found:
    """The measured value of a claim. `ratio`: measured / claimed, where units agree. `n`: the number of its rounds."""

    text: str
    ratio: float | None = None
    n: int = 0


@dataclasses.dataclass(frozen=True)
class ClaimRow:
    """A claim beside the figure that was measured here."""

    what: str
    source: str
    claimed: str
    found: Found


def _stage_share(case: CaseResult, name: str) -> float:
    """The share of a stage in the time of all stages but waiting; NaN where nothing was traced."""
    rows = [(stage, time) for stage, _, time in stages(case) if math.isfinite(time)]
    total = sum(time for _, time in rows)
    return sum(time for stage, time in rows if stage == name) / total if total else math.nan


def _calls(case: CaseResult, name: str) -> float:
    """The system calls of a request by name; NaN where nothing was traced."""
    if not case.calls:
        return math.nan
    return sum(call.per_request for call in case.calls
               if call.name == name or (name == WORKING and call.name not in STAGES["wait"]))


def _gain(claim: Claim, case: CaseResult, against: CaseResult) -> Found:
    """The gain of a case over another within rounds, in the unit of the claim, whichever direction is better."""
    ours, theirs = case.by_round(claim.figure), against.by_round(claim.figure)
    if FIGURES[claim.figure].better == "lower":
        ours, theirs = theirs, ours
    rounds = sorted(set(ours) & set(theirs))
    found = statistics.paired_ratio([ours[number] for number in rounds], [theirs[number] for number in rounds])
    if not math.isfinite(found.estimate):
        return Found("n/a")
    values = [f"{100 * (one - 1):+.1f}" if claim.unit == "%" else significant(one)
              for one in (found.estimate, found.low, found.high)]
    interval = f" [{values[1]}, {values[2]}]" if found.n > 1 else ""
    ratio = found.estimate / claim.value if claim.value and claim.unit == "times" else None
    return Found(f"{values[0]} {claim.unit}{interval}, by {FIGURES[claim.figure].title}", ratio, found.n)


def _measured(claim: Claim, case: CaseResult) -> Found:
    """The figure of one case; system calls by name come from one run."""
    n = 1
    if claim.stage:
        value, unit = 100 * _stage_share(case, claim.stage), "%"
    elif claim.call:
        value, unit = _calls(case, claim.call), "calls"
    else:
        figure, median = FIGURES[claim.figure], statistics.summarise(case.values(claim.figure)).median
        value, unit, n = figure.scale * median.estimate, figure.unit, median.n
    if not math.isfinite(value):
        return Found("n/a")
    return Found(f"{significant(value)} {unit}".strip(),
                 value / claim.value if claim.value and claim.unit == unit else None, n)


def _found(claim: Claim, result: ExperimentResult, doctor: Sequence[Finding]) -> Found:
    if claim.finding:
        return Found(next((one.value for one in doctor if one.what == claim.finding), "not looked at"))
    cases = [result.case(name) for name in (claim.case, claim.against) if name]
    if not cases:
        return Found("no figure of this laboratory")
    if any(case is None or case.skipped or not case.visits for case in cases):
        return Found("not in this run")
    return _gain(claim, *cases) if claim.against else _measured(claim, cases[0])


def claim_rows(result: ExperimentResult, doctor: Sequence[Finding] = ()) -> list[ClaimRow]:
    """The seed's figures with ours beside them."""
    return [ClaimRow(claim.what, claim.source,
                     "no figure" if claim.value is None else f"{claim.value:,g} {claim.unit}".strip(),
                     _found(claim, result, doctor)) for claim in result.definition.claims]


def top_functions(stacks: dict[str, int], count: int = 12, kernel: bool = True) -> list[tuple[str, float, bool]]:
    """(function, share of all samples, in the kernel?) of the functions in which the CPU was found, busiest first.

    Without `kernel`, only functions of the program are listed.
    """
    leaves: dict[str, int] = {}
    for stack, samples in stacks.items():
        leaf = stack.rsplit(";", 1)[-1]
        leaves[leaf] = leaves.get(leaf, 0) + samples
    total = sum(leaves.values())
    wanted = {name: samples for name, samples in leaves.items() if kernel or not name.endswith("_[k]")}
    best = sorted(wanted.items(), key=lambda item: -item[1])[:count]
    return [(name.removesuffix("_[k]"), samples / total, name.endswith("_[k]")) for name, samples in best]


WORKING = "working"               # every system call but those that wait
STAGES = {
    "accept": ("accept4", "accept", "setsockopt", "getsockname", "getpeername"),
    "register": ("epoll_ctl",),
    "read": ("read", "recvfrom", "recvmsg", "readv"),
    "respond": ("write", "sendto", "sendmsg", "writev"),
    "close": ("close", "shutdown"),
    "wait": ("epoll_wait", "epoll_pwait", "epoll_pwait2", "io_uring_enter", "poll", "futex", "nanosleep"),
}


def stages(case: CaseResult) -> list[tuple[str, float, float]]:
    """(stage, calls per request, µs per request) of a connection's life, from the traced system calls.

    `wait` is where the server sleeps, or io_uring does all its work: its time says nothing and is NaN.
    """
    rows = []
    known = {name for names in STAGES.values() for name in names}
    groups = {**STAGES, "other": tuple(call.name for call in case.calls if call.name not in known)}
    for stage, names in groups.items():
        calls = [call for call in case.calls if call.name in names]
        if calls:
            time = sum(call.per_request * call.us_per_call for call in calls)
            rows.append((stage, sum(call.per_request for call in calls), math.nan if stage == "wait" else time))
    return rows


def shown_figures(result: ExperimentResult) -> list[str]:
    """Figures that some case of the experiment has, headline first."""
    have = {name for case in result.cases for visit in case.visits for name, value in visit.figures.items()
            if value is not None and math.isfinite(value)}
    order = [*result.definition.headline, *(name for name in FIGURES if name not in result.definition.headline)]
    return [name for name in order if name in have]

# SPDX-License-Identifier: Apache-2.0
