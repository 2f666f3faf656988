"""The command line: list, run, compare, report, engines, doctor. Exit 0 good, 1 failed or worse, 2 wrong usage."""
from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from katana_lab import ROOT, LabError, UsageError, analysis, commands, doctor, gate, machine, peers, results
from katana_lab.figures import show, title_of
from katana_lab.models import Experiment, cases_of
from katana_lab.results import ExperimentResult, Run
from katana_lab.runner import EXPERIMENTS, ExperimentRunner, find_experiments, make_bench, planned_seconds

PROGRAM = "katana-lab"
LATEST = ROOT / "lab/results/latest"
BUILD = ROOT / "build/bench"
OUT = Console()
ERR = Console(stderr=True)
ENGINE_EXPERIMENTS = ("engines", "engines_churn")
DESCRIPTION = """Runs the experiments of lab/experiments, samples the servers, compares with intervals, writes reports.

  katana-lab list                          what can be asked, and how long it takes
  katana-lab run --quick                   the quick suite (make bench)
  katana-lab run churn --peers nginx,h2o   one experiment, beside these rivals only
  katana-lab report lab/results/latest     write the report of a run again
  katana-lab compare BEFORE AFTER          which figures got worse, with intervals
  katana-lab engines                       which engine is cheaper on this machine
  katana-lab doctor                        what will falsify figures here, and the remedy

What something costs, each beside something else; --help of each says more:
""" + "\n".join(f"  katana-lab {name:<20} {command.about}" for name, command in commands.COMMANDS.items())


def make_parser() -> argparse.ArgumentParser:
    """All commands and their flags."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=DESCRIPTION, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"{PROGRAM} results schema {results.SCHEMA}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        made.add_argument("--build", type=Path, default=BUILD, help="where the built programs are (build/bench)")
        return made

    command("list", "names the experiments, their questions and how long they take")
    run = command("run", "runs experiments and writes results.json, report.md and report.html")
    run.add_argument("experiments", metavar="EXPERIMENT", nargs="*", help="names or files; default: the whole suite")
    run.add_argument("--quick", action="store_true", help="short phases, few rounds, and only the quick suite")
    run.add_argument("--peers", metavar="NAME,…", help="only these rivals (or 'none') beside KATANA and the floors")
    run.add_argument("--rounds", type=int, metavar="N", help="in place of the experiment's")
    run.add_argument("--out", type=Path, default=LATEST, metavar="DIR", help="default lab/results/latest")
    run.add_argument("--baseline", type=Path, metavar="FILE", help="also write a small results.json, to keep")
    two = command("compare", "compares two result files; exit 1 when a figure got worse beyond doubt")
    two.add_argument("baseline", metavar="A", type=Path, help="JSON file, or folder of a run: what was before")
    two.add_argument("current", metavar="B", type=Path, help="what is now")
    gate.add_flags(two)
    again = command("report", "writes report.html and report.md from a results.json again")
    again.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=LATEST)
    engines = command("engines", "measures which engine is cheaper on this machine")
    engines.add_argument("--full", action="store_true", help="the full phases: minutes, not seconds")
    command("doctor", "says what will falsify figures on this machine; exit 1 when something will")
    return parser


def run_list(_: argparse.Namespace) -> int:
    """A table of experiments."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, options in (("experiment", {"no_wrap": True}), ("question", {}), ("cases", {"justify": "right"}),
                          ("quick", {"justify": "right"}), ("full", {"justify": "right"})):
        table.add_column(name, **options)
    every = find_experiments([path.stem for path in sorted(EXPERIMENTS.glob("*.yaml"))], quick=False)
    totals = {True: 0.0, False: 0.0}
    for name, experiment in every.items():
        cells = []
        for quick, suite in ((True, "quick"), (False, "full")):
            seconds = planned_seconds(experiment, quick)
            member = suite in experiment.suites
            totals[quick] += seconds if member else 0.0
            cells.append(duration(seconds) if member else "–")
        table.add_row(name, experiment.question, str(len(cases_of(experiment, False))), *cells)
    OUT.print(table)
    OUT.print(f"\n{len(every)} experiments; the quick suite takes about {duration(totals[True])}, the full one "
              f"{duration(totals[False])}")
    return 0


def duration(seconds: float) -> str:
    """'45 s', '7 min', '2.5 h'."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def select_peers(experiments: dict[str, Experiment], wanted: str | None,
                 servers: dict[str, peers.Server]) -> dict[str, Experiment]:
    """The experiments without the rivals that were not asked for."""
    if wanted is None:
        return experiments
    names = set() if wanted == "none" else set(filter(None, wanted.split(",")))
    for name in names - set(servers):
        raise UsageError(f"--peers: there is no lab/peers/{name}.yaml; there are {', '.join(servers)}")

    def keeps(server: str) -> bool:
        return server in names or server.startswith("floor") or (server in servers and servers[server].peer.ours)

    found = {}
    for name, experiment in experiments.items():
        kept = {key: variant for key, variant in experiment.variants.items() if keeps(variant.server)}
        if experiment.kind == "load" and not kept:
            continue
        baseline = experiment.base if experiment.base in kept else None
        quick = [key for key in experiment.quick_variants if key in kept]
        found[name] = experiment.model_copy(update={"variants": kept, "baseline": baseline, "quick_variants": quick})
    return found


def run_experiments(experiments: dict[str, Experiment], quick: bool, build: Path, command: str,
                    servers: dict[str, peers.Server]) -> Run:
    """Run all, with a bar on a terminal and a line for each experiment elsewhere."""
    bench = make_bench(build)
    run = Run(machine=machine.describe(), command=command, suite="quick" if quick else "full",
              unavailable=bench.access.reasons, doctor=doctor.examine(build))
    os.sched_setaffinity(0, {bench.cpus[-1]})                    # the bar's thread is not to fall on a server's CPU
    began = time.monotonic()
    total = sum(planned_seconds(experiment, quick) for experiment in experiments.values())
    with Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left:"),
                  TimeRemainingColumn(elapsed_when_finished=False, compact=False), console=ERR,
                  disable=not ERR.is_terminal, refresh_per_second=2) as bar:
        task = bar.add_task("starting", total=total)

        def progress(text: str, seconds: float) -> None:
            bar.update(task, description=text, advance=seconds)

        try:
            for name, experiment in experiments.items():
                result = ExperimentResult(name=name, definition=experiment)
                if experiment.kind == "load":
                    result = ExperimentRunner(name, experiment, quick, bench, servers, progress).run()
                if not result.interrupted or any(case.visits for case in result.cases):
                    run.experiments.append(result)
                    say_done(result, bar.console)
                if result.interrupted:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            run.interrupted = True
            left = len(experiments) - len(run.experiments)
            bar.console.print("interrupted: what was measured until now is in the results"
                              + (f"; {left} of {len(experiments)} experiments were not run" if left else ""),
                              highlight=False, soft_wrap=True)
    run.seconds = time.monotonic() - began
    os.sched_setaffinity(0, bench.cpus)
    return run


def say_done(result: ExperimentResult, console: Console) -> None:
    """One line for a finished experiment, and one for each thing that went wrong in it."""
    counted = sum(bool(case.visits) for case in result.cases)
    console.print(f"{result.name}: {counted} of {len(result.cases)} cases in {duration(result.seconds)}"
                  f"{', interrupted' if result.interrupted else ''}", highlight=False)
    for case in result.cases:
        for word, reason in (("skipped", case.skipped), ("failed", case.failed)):
            if reason:
                console.print(f"  {case.name} {word}: {reason}", highlight=False, soft_wrap=True)
    for check in result.checks:
        if not check.passed:
            console.print(f"  check failed: {check.text}", highlight=False, soft_wrap=True)


def run_run(flags: argparse.Namespace) -> int:
    """Run, write, and say where it stands."""
    servers = peers.load_peers()
    experiments = select_peers(find_experiments(flags.experiments, flags.quick), flags.peers, servers)
    if flags.rounds is not None:
        if not 1 <= flags.rounds <= 1000:
            raise UsageError(f"--rounds is {flags.rounds}, expected 1 to 1000")
        key = "quick" if flags.quick else "full"
        experiments = {name: one.model_copy(update={key: getattr(one, key).model_copy(update={"rounds": flags.rounds})})
                       for name, one in experiments.items()}
    if not experiments:
        raise UsageError("no experiment is left to run; `katana-lab list` names them")
    command = " ".join([PROGRAM, *sys.argv[1:]])
    run = run_experiments(experiments, flags.quick, flags.build, command, servers)
    results.write(run, flags.out / "results.json")
    if flags.baseline:
        results.write(results.slim(run), flags.baseline)
    write_report(run, flags.out)
    OUT.print(f"wrote {flags.out}/report.html, report.md and results.json in {duration(run.seconds)}", highlight=False,
              soft_wrap=True)
    failed = [case for one in run.experiments for case in one.cases if case.failed]
    unmet = [check for one in run.experiments for check in one.checks if not check.passed]
    return 1 if failed or unmet or run.interrupted else 0


def write_report(run: Run, folder: Path) -> None:
    """report.html and report.md; plotly is only loaded by those who need it."""
    from katana_lab import report
    report.write(run, folder)


def run_report(flags: argparse.Namespace) -> int:
    """From results.json to the reports."""
    run = results.read(flags.folder)
    folder = flags.folder if flags.folder.is_dir() else flags.folder.parent
    write_report(run, folder)
    OUT.print(f"wrote {folder}/report.html and report.md", highlight=False, soft_wrap=True)
    return 0


def run_engines(flags: argparse.Namespace) -> int:
    """Find the engine that costs least here, for kept and for new connections."""
    servers = peers.load_peers()
    experiments = select_peers(find_experiments(ENGINE_EXPERIMENTS, not flags.full), "none", servers)
    run = run_experiments(experiments, not flags.full, flags.build, f"{PROGRAM} engines", servers)
    for result in run.experiments:
        say_engines(result)
    return 0 if all(any(case.visits for case in one.cases) for one in run.experiments) else 1


def say_engines(result: ExperimentResult) -> None:
    """A table of one workload, and the verdict in a sentence."""
    figure = "cpu_us_per_request"
    ratios = {one.case: one for one in analysis.comparisons(result, figure)}
    table = Table(title=result.definition.title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for name in ("engine", title_of(figure), "against " + result.definition.base, "system calls", "verdict"):
        table.add_column(name)
    for case in result.cases:
        if case.skipped or case.failed:
            table.add_row(case.name, "n/a", "", "", case.skipped or case.failed)
            continue
        one = ratios.get(case.name)
        ratio = f"{one.ratio.estimate:.2f} [{one.ratio.low:.2f}, {one.ratio.high:.2f}]" if one else "1"
        calls = show("calls_per_request", analysis.summary(case, "calls_per_request").median.estimate)
        table.add_row(case.name, show(figure, analysis.summary(case, figure).median.estimate), ratio, calls,
                      one.sentence if one else "what the others are compared with")
    OUT.print(table)
    cheaper = sorted((one for one in ratios.values() if one.verdict == "less"), key=lambda one: one.ratio.estimate)
    if cheaper:
        OUT.print(f"cheapest: {cheaper[0].case}, by {100 * (1 - cheaper[0].ratio.estimate):.0f} %\n", highlight=False,
                  soft_wrap=True)
    else:
        OUT.print(f"no engine is cheaper than {result.definition.base} beyond doubt in this many rounds\n",
                  highlight=False)


def run_doctor(flags: argparse.Namespace) -> int:
    """A table of findings; exit 1 when a figure would be falsified."""
    marks = {"good": "[green]good[/]", "note": "[yellow]note[/]", "bad": "[red]bad[/]"}
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("", "what", "found", "remedy"):
        table.add_column(name, no_wrap=name in ("", "what"))
    findings = doctor.examine(flags.build)
    for one in findings:
        table.add_row(marks[one.state], one.what, one.value, one.remedy)
    OUT.print(table)
    bad = [one.what for one in findings if one.state == "bad"]
    OUT.print(f"\nfigures are falsified by: {', '.join(bad)}" if bad else "\nnothing here falsifies figures; read the "
              "notes", highlight=False, soft_wrap=True)
    return 1 if bad else 0


COMMANDS = {"list": run_list, "run": run_run, "compare": gate.run, "report": run_report, "engines": run_engines,
            "doctor": run_doctor}


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status; errors are one line on standard error."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments and arguments[0] in commands.COMMANDS:
        return commands.run(arguments[0], arguments[1:], f"{PROGRAM} {arguments[0]}")
    flags = make_parser().parse_args(arguments)
    try:
        return COMMANDS[flags.command](flags)
    except LabError as error:
        print(f"{PROGRAM}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted; what was not yet written is lost", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        return 128 + signal.SIGPIPE

# SPDX-License-Identifier: Apache-2.0
