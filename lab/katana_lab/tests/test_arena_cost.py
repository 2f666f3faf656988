"""arena.py: HttpArena's score, places and tables, made of figures that are given. No test measures."""
import os
import subprocess

import pytest

from katana_lab import LabError, UsageError, plots
from katana_lab.arena import score, servers
from katana_lab.contest import memory
from katana_lab.costs import arena as arena_cost


def figures(us, rate, mib=10.0, **more):
    """The figures of a server in a round."""
    return {"us": us, "rate": rate, "pss_anon_kib": mib * 1024, "rest_kib": 1024, "reply_bytes": 100, "p99_us": 500,
            "mean_us": 200, "other": 0.0, "server": 1.0, "generator": 0.5, "errors": 0, **more}


def one_profile(**servers):
    """Results of one profile with one round."""
    return {"baseline": {64: [servers]}}


def entry(rate, reply_bytes=100.0, cpu_us=10.0, p99_us=100.0, mean_us=50.0):
    """A server in a profile."""
    return score.Entry(rate, reply_bytes, cpu_us, p99_us, mean_us)


def test_points_are_thousandths_of_the_best_rate():
    points = score.points_of("baseline", {"fast": entry(4_000_000), "slow": entry(1_000_000)})
    assert points == {"fast": 1000, "slow": 250}


def test_large_replies_lose_by_their_square_where_compression_is_the_question():
    entries = {"br": entry(1000, 1000), "gzip": entry(2000, 2000)}
    assert score.weighted_rates("json-comp", entries) == {"br": 1000, "gzip": 500}
    assert score.weighted_rates("json", entries) == {"br": 1000, "gzip": 2000}


def test_paced_profiles_have_the_published_scores():
    """HttpArena's table of latency-10k, September 2026: microseconds of CPU, mean and p99, and the score."""
    published = {"axum": (24.1, 71, 102, 100.0), "actix": (27.4, 74, 114, 93.1), "drogon": (32.0, 80, 116, 86.0),
                 "userver": (88.1, 103, 134, 58.6)}
    scores = score.paced_scores(10_000, {name: entry(9_600, 0, cpu, p99, mean)
                                         for name, (cpu, mean, p99, _) in published.items()})
    assert {name: round(value, 1) for name, value in scores.items()} == pytest.approx(
        {name: row[3] for name, row in published.items()}, abs=0.11)


def test_a_paced_server_that_is_late_loses_by_its_rate_and_one_that_is_silent_wins_nothing():
    scores = score.paced_scores(1000, {"late": entry(475), "right": entry(960), "silent": entry(0, 0, 0, 0, 0)})
    assert scores == {"late": 50, "right": 100, "silent": 0}
    assert score.points_of("latency-1m", {"silent": entry(0, 0, 0, 0, 0)}) == {"silent": 0}


def test_boards_are_sums_of_their_profiles_and_references_are_in_none():
    boards = score.score({"baseline": {"a": entry(10), "b": entry(5)}, "async": {"b": entry(7)}, "async-db": {},
                          "pipelined": {"a": entry(9)}, "echo-ws": {"a": entry(3)}})
    assert boards == {"h1": {"b": {"baseline": 500, "async": 1000}, "a": {"baseline": 1000}},
                      "ws": {"a": {"echo-ws": 1000}}}
    assert list(boards["h1"]) == ["b", "a"]


def test_a_server_that_answered_nothing_has_no_points():
    assert score.points_of("json", {"a": entry(0)}) == {"a": 0}


def test_the_rate_is_the_mean_over_connection_counts():
    results = {"baseline": {8: [{"a": figures(1, 100)}], 64: [{"a": figures(1, 300)}]}}
    assert arena_cost.entries_of(results)["baseline"]["a"].rate == 200


def test_places_are_by_cpu_by_rate_and_by_memory_beside_the_best_of_the_others():
    results = one_profile(katana=figures(5, 100, 20), actix=figures(10, 200, 10), nginx=figures(20, 50, 40))
    assert arena_cost.standing(results, "katana")[-1] == (
        "| baseline | 1 of 3, 0.50 × actix | 2 of 3, 0.50 × actix | 2 of 3, 2.00 × actix |")
    assert len(arena_cost.standing(results, "absent")) == 2


def test_a_rate_that_the_generator_limited_is_a_lower_bound():
    bound = {"generator": 0.99, "server": 0.5}
    results = one_profile(katana=figures(5, 100, **bound), actix=figures(10, 200, generator=0.99))
    rows = [arena_cost.row(results["baseline"][64], name, 64) for name in ("katana", "actix")]
    assert rows[0][4] == "≥ 100" and rows[1][4] == "200" and rows[1][3] == "2.00 (2.00–2.00)"
    assert rows[0][9] == "n/a"                                         # no cgroup was given


def test_a_server_that_fails_in_a_round_costs_the_others_nothing(tmp_path, monkeypatch, capsys):
    def measure(server, profile, connections, options):
        if server.name == "actix":
            raise LabError("it ended with status 1")
        return figures(5, 100)

    monkeypatch.setattr(arena_cost, "measure", measure)
    options = arena_cost.parse_options(["--rounds", "2", "--profiles", "json-comp", "--counts", "largest", "--json",
                                        str(tmp_path / "kept.json")])
    results = arena_cost.run(options, {"json-comp": ["katana", "actix"]})
    assert list(results["json-comp"]) == [256] and "256" in (tmp_path / "kept.json").read_text()
    assert "actix in json-comp: it ended with status 1" in capsys.readouterr().err
    text = "\n".join(arena_cost.tables(results, "katana", False))
    assert "| actix | 256 | n/a | n/a | 0 | n/a |" in text and "| json-comp | 1 of 2," in text
    assert "| actix | standard | Rust | 0 | 0 |" in text and "no cgroup could be made" in text


def test_tables_have_the_points_of_each_board_and_every_profile():
    text = "\n".join(arena_cost.tables(one_profile(katana=figures(5, 100), actix=figures(10, 200)), "katana", True))
    assert "### h1" in text and "| actix | standard | Rust | 1,000 | 1,000 |" in text
    assert "## Where katana stands" in text and "## baseline" in text and "its cgroup was charged" in text


def test_the_picture_has_a_bar_for_each_profile(tmp_path):
    plot = plots.arena_score(score.score({"baseline": {"a": entry(10), "b": entry(5)}, "async": {"a": entry(7)},
                                          "echo-ws": {"b": entry(1)}}))
    assert [bar["name"] for bar in plot["data"]] == ["baseline", "async", "echo-ws"]
    assert list(plot["data"][0]["y"]) == ["b (ws)", "b (h1)", "a (h1)"] and list(plot["data"][1]["x"]) == [0, 0, 1000]
    plots.write_page(plot, tmp_path / "page.html")
    assert "echo-ws" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("name, text, used", [
    ("cpu.stat", "usage_usec 1500\nuser_usec 1\n", 1500), ("cpuacct.usage", "2500000\n", 2500), ("none", "", None)])
def test_a_groups_cpu_time_is_read_from_both_kinds_of_cgroup(tmp_path, name, text, used):
    (tmp_path / name).write_text(text)
    assert memory.cpu_us(tmp_path) == used


def test_a_group_has_a_folder_in_each_parent_and_its_command_enters_all(tmp_path):
    parents = tmp_path / "memory", tmp_path / "cpuacct"
    for parent in parents:
        parent.mkdir()
    group = memory.Group(*parents)
    made = [path / "cgroup.procs" for path in group.paths]
    done = subprocess.run([*group.prefix, "echo", "a b", "--", "c"], capture_output=True, text=True, check=True)
    assert done.stdout == "a b -- c\n"
    assert all(int(path.read_text()) > 0 for path in made) and len({path.read_text() for path in made}) == 1


@pytest.mark.parametrize("names, text, used", [
    (("memory.current", "memory.stat"), "anon 1\ninactive_file 1048576\n", 2048),
    (("memory.usage_in_bytes", "memory.stat"), "cache 7\ntotal_inactive_file 2097152\n", 1024),
    (("memory.current",), "", None),
])
def test_a_groups_memory_is_without_what_the_kernel_may_drop(tmp_path, names, text, used):
    (tmp_path / names[0]).write_text(f"{3 << 20}\n")
    if len(names) > 1:
        (tmp_path / names[1]).write_text(text)
    assert memory.used_kib(tmp_path) == used


def test_a_watch_keeps_the_most_it_saw_and_looks_at_least_once(monkeypatch):
    with memory.Watch(os.getpid()).watching() as most:
        pass
    assert most["pss_anon_kib"] > 1000 and most["rss_anon_kib"] >= most["pss_anon_kib"] // 2
    watch, sizes = memory.Watch(0), iter([5, 9, 7])
    monkeypatch.setattr(memory, "pss_anon_kib", lambda pid: next(sizes))
    monkeypatch.setattr(memory.proc, "memory_kib", lambda pid, what: 1)
    for _ in range(3):
        watch.look()
    assert watch.most == {"pss_anon_kib": 9, "rss_anon_kib": 1}


def test_a_group_that_cannot_be_made_is_named_with_the_remedy(tmp_path):
    with pytest.raises(LabError, match="give a folder of cgroup"):
        memory.Group(tmp_path / "absent")


def test_an_unknown_server_is_refused_with_those_that_are_known():
    with pytest.raises(UsageError, match="unknown server 'iis'; known: katana, actix"):
        servers.chosen("actix,iis")


def test_a_server_that_is_not_built_says_how_it_would_be(tmp_path):
    assert "--target arena" in servers.SERVERS["katana"].missing(tmp_path)


@pytest.mark.parametrize("arguments, culprit", [
    (["--profiles", "json,http4"], "'http4'"), (["--servers", "iis"], "'iis'"), (["--scale", "0"], "--scale"),
])
def test_wrong_usage_names_what_is_wrong(arguments, culprit, capsys):
    with pytest.raises(SystemExit) as ended:
        arena_cost.parse_options(arguments)
    assert ended.value.code == 2 and culprit in capsys.readouterr().err

# SPDX-License-Identifier: Apache-2.0
