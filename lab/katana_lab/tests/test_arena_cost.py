"""arena.py: HttpArena's score, places and tables, made of figures that are given. No test measures."""
import os

import pytest

from katana_lab import LabError, UsageError, plots
from katana_lab.arena import score, servers
from katana_lab.contest import memory
from katana_lab.costs import arena as arena_cost


def figures(us, rate, mib=10.0, **more):
    """The figures of a server in a round."""
    return {"us": us, "rate": rate, "pss_anon_kib": mib * 1024, "rest_kib": 1024, "reply_bytes": 100, "p99_us": 500,
            "other": 0.0, "server": 1.0, "generator": 0.5, "errors": 0, **more}


def one_profile(**servers):
    """Results of one profile with one round."""
    return {"baseline": {64: [servers]}}


def test_points_are_shares_of_the_best_and_memory_counts_by_the_root_of_the_rate():
    points = score.points_of("baseline", {"fast": score.Entry(4_000_000, 400), "small": score.Entry(1_000_000, 50)})
    assert points["fast"].rate == 100 and points["small"].rate == 25
    # thrift: 2000 / 400 = 5, and 1000 / 50 = 20
    assert points["small"].memory == 50 and points["fast"].memory == 12.5


def test_large_replies_lose_by_their_square_where_compression_is_the_question():
    entries = {"br": score.Entry(1000, 10, 1000), "gzip": score.Entry(2000, 10, 2000)}
    assert score.weighted_rates("json-comp", entries) == {"br": 1000, "gzip": 500}
    assert score.weighted_rates("json", entries) == {"br": 1000, "gzip": 2000}


def test_the_score_is_the_sum_over_profiles_and_nothing_for_those_not_entered():
    by_profile, sums = score.score({"baseline": {"a": score.Entry(10, 1), "b": score.Entry(5, 1)},
                                    "json": {"b": score.Entry(7, 1)}, "static": {}})
    assert list(by_profile) == ["baseline", "json"] and list(sums) == ["b", "a"]
    assert sums["b"].rate == 150 and sums["a"] == score.Points(100, 50)


def test_a_server_that_answered_nothing_has_no_points():
    assert score.points_of("json", {"a": score.Entry(0, 1)}) == {"a": score.Points()}


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
    assert rows[0][8] == "n/a"                                         # no cgroup was given


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
    text = "\n".join(arena_cost.tables(results, "katana"))
    assert "| actix | 256 | n/a | n/a | 0 | n/a |" in text and "| json-comp | 1 of 2," in text
    assert "| actix | production | Rust | 1 | 0 | 0 | 0 |" in text


def test_tables_have_the_score_and_every_profile():
    text = "\n".join(arena_cost.tables(one_profile(katana=figures(5, 100), actix=figures(10, 200)), "katana"))
    assert "| actix | production | Rust | 1 | 100 | 50 | 150 |" in text
    assert "## Where katana stands" in text and "## baseline" in text


def test_the_picture_has_a_bar_for_each_profile_and_one_for_memory(tmp_path):
    points = score.score({"baseline": {"a": score.Entry(10, 1), "b": score.Entry(5, 1)},
                          "json": {"a": score.Entry(7, 1)}})
    plot = plots.arena_score(points)
    assert [bar["name"] for bar in plot["data"]] == ["baseline", "json", "memory bonus"]
    assert list(plot["data"][0]["y"]) == ["b", "a"] and list(plot["data"][1]["x"]) == [0, 100]
    plots.write_page(plot, tmp_path / "page.html")
    assert "memory bonus" in (tmp_path / "page.html").read_text()


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
