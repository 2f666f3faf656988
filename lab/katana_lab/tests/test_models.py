"""Experiments and descriptions of servers: the permitted contents of their files, and the texts of refusals."""
import pytest

from katana_lab import LAB, UsageError, peers, runner
from katana_lab.figures import FIGURES
from katana_lab.files import read_yaml
from katana_lab.models import Experiment, Peer, cases_of

FILES = sorted((LAB / "experiments").glob("*.yaml"))
GOOD = """title: T
question: Q?
variants:
  one: {server: nginx}
"""


def refusal(tmp_path, text, model=Experiment):
    """The one line that a wrong file ends with."""
    path = tmp_path / "wrong.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        read_yaml(model, path)
    line = str(raised.value)
    assert "wrong.yaml: " in line and "\n" not in line
    return line


@pytest.mark.parametrize("text, culprit", [
    (GOOD + "colour: red\n", "colour: there is no such key"),
    (GOOD + "load: {connectoins: 5}\n", "load.connectoins: there is no such key"),
    (GOOD + "load: {connections: 0}\n", "load.connections"),
    (GOOD + "load: {connections: many}\n", "load.connections"),
    (GOOD + "title: again\n", "'title' stands twice"),
    (GOOD + "sweep: {parameter: colour, values: [1]}\n", "sweep.parameter"),
    (GOOD + "sweep: {parameter: connections, values: [1, 2], labels: [one]}\n", "one for each value"),
    (GOOD + "sweep: {parameter: connections, values: [1], quick: [7]}\n", "7 is none of the values"),
    (GOOD + "headline: [speed]\n", "there is no figure 'speed'"),
    (GOOD + "baseline: two\n", "there is no variant 'two'"),
    (GOOD + "claims: [{source: s, what: w, value: 1, case: one}]\n", "case and one of figure, stage and call"),
    (GOOD + "claims: [{source: s, what: w, value: 1, case: one, stage: read, call: read}]\n", "belong together"),
    (GOOD + "claims: [{source: s, what: w, value: 1, unit: µs, case: one, against: two, figure: rate_per_s}]\n",
     "against wants a figure, and one of these units: %, times"),
    (GOOD + "checks: [{figure: errors}]\n", "wants at_most or at_least"),
    (GOOD + "load: {pipeline: 4, rate_per_s: 10}\n", "exclude one another"),
    (GOOD.replace("nginx}", "nginx, load: {speed: 1}}"), "variants.one.load.speed"),
    ("title: [\n", "no YAML"),
    ("title: T\n", "question"),
    ("just text\n", "the file")])
def test_a_wrong_file_is_refused_with_its_name_and_key(tmp_path, text, culprit):
    assert culprit in refusal(tmp_path, text)


def test_a_peer_with_an_unknown_key_is_refused(tmp_path):
    text = "about: a\nneeds: {remedy: r}\ncommand: c\nstard: x\n"
    assert "stard: there is no such key" in refusal(tmp_path, text, Peer)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="there is no experiment 'nothing'"):
        runner.find_experiments(["nothing"], quick=True)
    with pytest.raises(UsageError, match="nothing.yaml: No such file"):
        runner.find_experiments(["/tmp/nothing.yaml"], quick=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_experiment_is_complete(path):
    experiment, servers = read_yaml(Experiment, path), peers.load_peers()
    cases = cases_of(experiment, quick=False)
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        peers.check_options(servers[case.server], case.options, path.name)
    names = {case.name for case in cases}
    assert experiment.claims and experiment.why_they_differ, "what was claimed before, and why it differs"
    for claim in experiment.claims:
        assert claim.case or claim.finding, f"{claim.what}: nothing that is measured stands beside it"
        for name in (claim.case, claim.against):
            assert not name or name in names, f"{claim.what}: there is no case '{name}'"
    assert experiment.question.endswith("?")


def test_the_quick_suite_takes_at_most_ten_minutes():
    suite = runner.find_experiments([], quick=True)
    assert sum(runner.planned_seconds(experiment, True) for experiment in suite.values()) < 570


def test_a_sweep_makes_a_case_of_each_variant_at_each_value():
    data = {"title": "T", "question": "Q?", "variants": {"a": {"server": "x"}, "b": {"server": "y"}},
            "sweep": {"parameter": "connections", "values": [1, 2, 3], "quick": [1, 3]}, "quick_variants": ["b"]}
    experiment = Experiment.model_validate(data)
    assert [case.name for case in cases_of(experiment, False)] == ["a · 1", "b · 1", "a · 2", "b · 2", "a · 3", "b · 3"]
    assert [(case.name, case.load.connections) for case in cases_of(experiment, True)] == [("b · 1", 1), ("b · 3", 3)]


def test_an_option_that_a_peer_has_not_is_refused():
    with pytest.raises(UsageError, match="nginx has no option 'engine'; it has: threads"):
        peers.check_options(peers.load_peers()["nginx"], {"engine": "epoll"}, "x.yaml")


@pytest.mark.parametrize("name, server", peers.load_peers().items())
def test_every_peer_has_a_command_that_can_be_filled_in(name, server, tmp_path):
    options = {"close_after_each": True} if "close_after_each" in server.peer.options else {}
    command = peers.command_of(server, options, 12345, tmp_path / "build", tmp_path)
    assert "12345" in " ".join(command) + "".join(path.read_text() for path in tmp_path.rglob("*.conf"))
    assert not any("{" in part for part in command)
    assert server.peer.needs.remedy


def test_a_peer_whose_toolchain_is_missing_says_what_would_help(tmp_path):
    server = peers.load_peers()["katana"]
    with pytest.raises(peers.Unavailable, match="hello_world_server is missing: cmake --preset bench"):
        peers.prepare(server, tmp_path)


def test_every_figure_has_a_title_and_a_side_that_is_better():
    assert all(figure.title and figure.better in ("lower", "higher", "neither") for figure in FIGURES.values())

# SPDX-License-Identifier: Apache-2.0
