"""The model of ten million connections: small cases by hand, what has to hold for any, and the page."""
import dataclasses
import json
import re

import pytest

from katana_lab import ROOT, UsageError
from katana_lab.costs import scale

INPUTS = {"idle_user_bytes": 1000, "idle_kernel_bytes": 3000, "join_cpu_us": 10, "tls_idle_user_bytes": 9000,
          "tls_join_cpu_us": 400, "tls_resumed_join_cpu_us": 200, "delivery_cpu_us": 2, "publish_cpu_us": 20,
          "nats_message_cpu_us": 30, "receive_cpu_us": 10, "nats_subscription_bytes": 500}
SMALL = scale.Scenario(connections=4000, machines=4, room_members=2, messages_per_member_per_s=1, nats_servers=1,
                       behind_share=0.01, queue_bytes=100_000, tickets_share=0.5, reconnect_spread_s=10)


def need(name, inputs=None, scenario=SMALL):
    """Return the resource of that name."""
    return next(each for each in scale.needs(inputs or INPUTS, scenario) if each.name == name)


def test_a_room_of_two_is_on_two_machines_three_times_in_four():
    """The second member is elsewhere with 3/4."""
    assert scale.servers_of_room(SMALL) == pytest.approx(1.75)
    assert scale.rates(SMALL) == pytest.approx(
        {"said": 4000, "deliveries": 4000, "received": 3000, "routed": 0, "nats_hops": 7000})


def test_cores_and_memory_are_as_by_hand():
    """A thousand members on each machine."""
    assert scale.steady_cores(INPUTS, SMALL) == pytest.approx(
        {"deliveries": 0.002, "publishing": 0.02, "receiving": 0.0075})
    assert scale.member_bytes(INPUTS, SMALL) == 9000 + 3000 + 1000
    assert need("memory of a machine").used * scale.GIB == pytest.approx(13_000_000)
    assert need("rooms of a process").used == pytest.approx(2000 * 1.75 / 4)
    assert need("CPU of a NATS server").used == pytest.approx(7000 * 15e-6)


def test_a_herd_costs_its_handshakes_over_the_time_in_which_it_comes():
    """Half of them have tickets."""
    assert scale.join_cpu_us(INPUTS, SMALL) == 300
    assert scale.herd_cores(INPUTS, SMALL, 4) == pytest.approx(1000 / 10 * 300e-6)
    assert scale.herd_cores(INPUTS, SMALL, 3) == pytest.approx(1000 / 3 / 10 * 300e-6)
    least = scale.spread_min_s(INPUTS, SMALL)
    at_least = dataclasses.replace(SMALL, reconnect_spread_s=least)
    assert need("CPU of a machine, all clients come back", scenario=at_least).share == pytest.approx(1)


def test_a_server_that_has_no_core_left_takes_nobody_back():
    """However long it takes."""
    assert scale.spread_min_s({**INPUTS, "publish_cpu_us": 1e9}, SMALL) == float("inf")


def test_a_rolling_restart_keeps_all_clients_and_ends_with_an_empty_machine():
    """The first of two machines takes the other's clients, and both are moved once more than once."""
    _, most, moves = scale.rolling_restart(dataclasses.replace(SMALL, machines=2))
    assert most == 2 and moves == pytest.approx(1.5)
    seconds, most, moves = scale.rolling_restart(scale.Scenario())
    assert seconds == 40 * 90 and 2 < most < 3 and 1 < moves < 2


def test_growth_is_where_the_resource_breaks():
    """The resource is full with that number of connections."""
    factor = scale.growth(INPUTS, SMALL, "memory of a machine")
    grown = dataclasses.replace(SMALL, connections=SMALL.connections * factor)
    assert need("memory of a machine", scenario=grown).share == pytest.approx(1)


def test_twice_the_cost_of_what_is_fullest_is_the_strongest_of_the_measured():
    """And nothing measured makes anything cheaper."""
    now = scale.needs(INPUTS, SMALL)[0].share
    for name, share, _ in scale.sensitivity(INPUTS, SMALL):
        if name in INPUTS:
            assert share >= now - 1e-12, name


def test_wrong_words_are_refused():
    """With the names that there are."""
    for words, told in ((["x=1"], "there is no 'x'"), (["cores=many"], "no number"), (["cores=0"], "above zero")):
        with pytest.raises(UsageError, match=told):
            scale.scenario_of(words)
    assert scale.scenario_of(["machines=50", "tls=0"]).machines == 50


def test_the_page_says_what_the_model_computes(tmp_path):
    """docs/scale.md and its pictures are those of `lab/scale.py --write docs/scale.md`."""
    measured = json.loads((ROOT / "lab/scale_inputs.json").read_text())
    (tmp_path / "pictures").mkdir()
    page = tmp_path / "scale.md"
    page.write_text((ROOT / "docs/scale.md").read_text())
    scale.write_page(page, measured, scale.Scenario())
    assert page.read_text() == (ROOT / "docs/scale.md").read_text()
    for name in ("scale.svg", "scale-herd.svg"):
        assert (tmp_path / "pictures" / name).read_text() == (ROOT / "docs/pictures" / name).read_text()


def test_what_the_page_says_breaks_first_does():
    """Names of resources in bold are those beyond their limit, and no others."""
    inputs = json.loads((ROOT / "lab/scale_inputs.json").read_text())["inputs"]
    listed = scale.needs(inputs, scale.Scenario())
    text = (ROOT / "docs/scale.md").read_text()
    said = {name for name in re.findall(r"\*\*(.+?)\*\*", text) if name in {each.name for each in listed}}
    assert said == {each.name for each in listed if each.share > 1}
    both = dataclasses.replace(scale.Scenario(), **dict(scale.VARIANTS)["both"])
    assert scale.needs(inputs, both)[0].share < 1, "the way out that the page names is none"


def test_routes_are_those_with_somebody_behind_them():
    """With two servers, one other process is behind the other one half of the time."""
    two = dataclasses.replace(SMALL, nats_servers=2, room_processes_max=2, room_members=1e9)
    assert scale.rates(two)["routed"] == pytest.approx(4000 * 0.5)

# SPDX-License-Identifier: Apache-2.0
