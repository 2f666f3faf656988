"""A model of a chat of ten million connections on forty machines: what each has to bear, and what breaks first.

    scale.py [--inputs lab/scale_inputs.json] [--set NAME=VALUE]… [--write docs/scale.md]

Inputs are measured by scale_inputs.py; the scenario is chosen, and --set changes it. Members are spread evenly and at
random over machines. Each message has a turn for itself: turns that gather several would make everything cheaper. Costs
are taken as linear: caches that overflow and contended locks are not in the model.

--write replaces the text between the markers of the page, and draws its pictures.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from katana_lab import ROOT, UsageError

GIB = 1 << 30
PAGE_BEGIN, PAGE_END = "<!-- lab/scale.py -->\n", "<!-- lab/scale.py: end -->"


@dataclasses.dataclass(frozen=True)
class Scenario:
    """The chosen numbers of the scenario."""

    connections: float = 10e6
    machines: int = 40
    cores: float = 32  # in each machine
    memory_gib: float = 128
    network_gbit_per_s: float = 25  # each way
    cpu_share_max: float = 0.7  # more is for peaks
    memory_share_max: float = 0.8
    room_members: float = 20
    rooms_per_member: float = 1
    messages_per_member_per_s: float = 1 / 60
    message_bytes: float = 200
    behind_share: float = 0.001  # share of members whose queue is full
    queue_bytes: float = 64 * 1024
    tls: int = 1
    reconnect_spread_s: float = 60  # time in which clients that lost their server come back
    tickets_share: float = 0  # share of them that resume their TLS session: keys belong to one process
    drain_s: float = 30  # for a machine that restarts
    nats_servers: int = 3
    nats_cores: float = 16
    nats_memory_gib: float = 64
    processes_per_machine: int = 1  # chat_server
    room_processes_max: float = 1000  # processes over which a room is spread, where clients are sent by room
    rooms_max: float = 65_536  # in each process: --rooms-max
    connections_max: float = 1_048_576  # in each process: --connections-max
    nodes_max: float = 1000  # processes of one chat: the last three digits of USERn


# Bytes around a message: TCP/IP and Ethernet with gap and preamble; a TLS record; the line and stamp of NATS.
PACKET_BYTES, RECORD_BYTES, BUS_BYTES = 78, 22, 100


@dataclasses.dataclass(frozen=True)
class Need:
    """The load of a resource, in its unit, and how much there is of it."""

    name: str
    used: float
    limit: float
    unit: str

    @property
    def share(self):
        """Above 1 it breaks."""
        return self.used / self.limit


# Remedies for the limits, each with the changed inputs.
VARIANTS = (("as it is", {}), ("nine NATS servers", {"nats_servers": 9}),
            ("clients are sent by room, to two machines", {"room_processes_max": 2}),
            ("both", {"nats_servers": 9, "room_processes_max": 2}),
            ("both, all clients within 10 s", {"nats_servers": 9, "room_processes_max": 2, "reconnect_spread_s": 10}),
            ("both, a message every 6 s", {"nats_servers": 9, "room_processes_max": 2,
                                           "messages_per_member_per_s": 1 / 6}))


def hit(count, trials):
    """The expected number of `count` places that `trials` hit, if the trials fall evenly."""
    return count * (1 - (1 - 1 / count) ** trials)


def servers_of_room(scenario):
    """In how many processes a room has members."""
    count = min(scenario.machines * scenario.processes_per_machine, scenario.room_processes_max)
    return hit(count, scenario.room_members)


def rates(scenario):
    """Events a second: of all machines, and of NATS."""
    said = scenario.connections * scenario.messages_per_member_per_s
    others = servers_of_room(scenario) - 1
    # Routes to NATS servers of which one of the others is a client.
    count = scenario.nats_servers
    routes = hit(count, others) * (count - 1) / count
    return {"said": said, "deliveries": said * (scenario.room_members - 1), "received": said * others,
            "routed": said * routes,
            # In, over each route out and in, and out to each process.
            "nats_hops": said * (1 + 2 * routes + others)}


def join_cpu_us(inputs, scenario):
    """A client that comes back."""
    if not scenario.tls:
        return inputs["join_cpu_us"]
    return (scenario.tickets_share * inputs["tls_resumed_join_cpu_us"] +
            (1 - scenario.tickets_share) * inputs["tls_join_cpu_us"])


def member_bytes(inputs, scenario):
    """The memory of a machine for a member on average: the memory of an idle member, and its share of queues."""
    user = inputs["tls_idle_user_bytes"] if scenario.tls else inputs["idle_user_bytes"]
    return user + inputs["idle_kernel_bytes"] + scenario.behind_share * scenario.queue_bytes


def steady_cores(inputs, scenario):
    """Cores of one machine that messages take, by what for."""
    found = rates(scenario)
    each = 1e-6 / scenario.machines
    return {"deliveries": found["deliveries"] * inputs["delivery_cpu_us"] * each,
            "publishing": found["said"] * inputs["publish_cpu_us"] * each,
            "receiving": found["received"] * inputs["receive_cpu_us"] * each}


def herd_cores(inputs, scenario, machines_back):
    """Cores of each of `machines_back` machines while the clients of all, or of the one that is gone, come back."""
    clients = scenario.connections
    if machines_back < scenario.machines:
        clients = scenario.connections / scenario.machines
    return clients / machines_back / scenario.reconnect_spread_s * join_cpu_us(inputs, scenario) * 1e-6


def spread_min_s(inputs, scenario):
    """The shortest time in which all clients may come back at once."""
    free = scenario.cores * scenario.cpu_share_max - sum(steady_cores(inputs, scenario).values())
    work = scenario.connections / scenario.machines * join_cpu_us(inputs, scenario) * 1e-6
    return work / free if free > 0 else float("inf")


def needs(inputs, scenario):
    """Each resource, the fullest first."""
    found, machines = rates(scenario), scenario.machines
    on_each = scenario.connections / machines
    rooms = scenario.connections * scenario.rooms_per_member / scenario.room_members
    memberships = rooms * servers_of_room(scenario)  # processes in rooms
    cpu = scenario.cores * scenario.cpu_share_max
    steady = sum(steady_cores(inputs, scenario).values())
    framed = scenario.message_bytes + PACKET_BYTES + (RECORD_BYTES if scenario.tls else 0)
    bus = scenario.message_bytes + BUS_BYTES + PACKET_BYTES
    bits = 8e-9 / machines
    hop_us = inputs["nats_message_cpu_us"] / 2
    of_nats = scenario.nats_servers
    listed = [
        Need("memory of a machine", on_each * member_bytes(inputs, scenario) / GIB,
             scenario.memory_gib * scenario.memory_share_max, "GiB"),
        Need("CPU of a machine, messages", steady, cpu, "cores"),
        Need("CPU of a machine, another one is gone", steady * machines / (machines - 1) +
             herd_cores(inputs, scenario, machines - 1), cpu, "cores"),
        Need("CPU of a machine, all clients come back", steady + herd_cores(inputs, scenario, machines), cpu, "cores"),
        Need("network of a machine, out", (found["deliveries"] * framed + found["said"] * bus) * bits,
             scenario.network_gbit_per_s, "Gbit/s"),
        Need("network of a machine, in", (found["said"] * framed + found["received"] * bus) * bits,
             scenario.network_gbit_per_s, "Gbit/s"),
        Need("connections of a process", on_each / scenario.processes_per_machine, scenario.connections_max, ""),
        Need("rooms of a process", memberships / machines / scenario.processes_per_machine, scenario.rooms_max, ""),
        Need("processes of one chat", machines * scenario.processes_per_machine, scenario.nodes_max, ""),
        Need("CPU of a NATS server", found["nats_hops"] * hop_us * 1e-6 / of_nats,
             scenario.nats_cores * scenario.cpu_share_max, "cores"),
        Need("memory of a NATS server, interest",
             memberships * inputs["nats_subscription_bytes"] / GIB,
             scenario.nats_memory_gib * scenario.memory_share_max, "GiB"),
        Need("network of a NATS server, out",
             (found["received"] + found["routed"]) * bus * 8e-9 / of_nats,
             scenario.network_gbit_per_s, "Gbit/s")]
    return sorted(listed, key=lambda need: -need.share)


def rolling_restart(scenario):
    """Machines restart one after another, and their clients go to the others.

    Return the seconds that it takes, the most that a machine has of the average, and how often a client reconnects.
    """
    count = scenario.machines
    loads, moved, most = [1.0] * count, 0.0, 1.0
    for index in range(count):
        moved += loads[index]
        share = loads[index] / (count - 1)
        loads = [0.0 if other == index else load + share for other, load in enumerate(loads)]
        most = max(most, max(loads))
    return count * (scenario.drain_s + scenario.reconnect_spread_s), most, moved / count


def sensitivity(inputs, scenario):
    """The effect of twice each number on the fullest resource: (name, its share, which it is), the strongest first."""
    found = []
    for name, value in inputs.items():
        worst = needs({**inputs, name: value * 2}, scenario)[0]
        found.append((name, worst.share, worst.name))
    for field in dataclasses.fields(scenario):
        value = getattr(scenario, field.name)
        if field.name == "tls" or field.name.endswith("_share"):
            continue
        changed = dataclasses.replace(scenario, **{field.name: value * 2})
        if field.name.endswith("_share_max"):
            continue
        worst = needs(inputs, changed)[0]
        found.append((field.name, worst.share, worst.name))
    now = needs(inputs, scenario)[0].share
    return sorted(found, key=lambda each: -abs(each[1] / now - 1))


def growth(inputs, scenario, name):
    """The factor of connections that the resource bears, everything else unchanged."""
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        grown = dataclasses.replace(scenario, connections=scenario.connections * middle)
        share = next(need.share for need in needs(inputs, grown) if need.name == name)
        low, high = (middle, high) if share <= 1 else (low, middle)
    return low


# ---- the page ----

def number(value):
    """With three digits that count."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def tables(measured, scenario):
    """Return the part of the page that is computed."""
    inputs, about = measured["inputs"], measured["about"]
    lines = [f"Measured by `{about['command']}` on {about['machine']} ({about['date']}, {about['commit']}):", "",
             "| input | value |", "| --- | ---: |"]
    lines += [f"| `{name}` | {number(value)} |" for name, value in inputs.items()]
    lines += ["", "Chosen (`--set NAME=VALUE`):", "", "| scenario | value |", "| --- | ---: |"]
    lines += [f"| `{field.name}` | {number(getattr(scenario, field.name))} |" for field in dataclasses.fields(scenario)]
    lines += ["", "The load of each, the fullest first; the last column is how many times as many connections it "
              "would bear:", "", "| resource | used | limit | share | connections |",
              "| --- | ---: | ---: | ---: | ---: |"]
    for need in needs(inputs, scenario):
        unit = f" {need.unit}" if need.unit else ""
        lines.append(f"| {need.name} | {number(need.used)}{unit} | {number(need.limit)}{unit} | {need.share:.0%} | "
                     f"× {number(growth(inputs, scenario, need.name))} |")
    found, on_each = rates(scenario), scenario.connections / scenario.machines
    cores = steady_cores(inputs, scenario)
    seconds, most, moves = rolling_restart(scenario)
    full, resumed = (dataclasses.replace(scenario, tickets_share=share) for share in (0.0, 1.0))
    lines += ["", "| | |", "| --- | ---: |",
              f"| connections of a machine | {number(on_each)} |",
              f"| memory of a member | {number(member_bytes(inputs, scenario))} bytes |",
              f"| processes with members of a room | {servers_of_room(scenario):.1f} |",
              f"| messages said, deliveries, both a second | {number(found['said'])}, {number(found['deliveries'])} |",
              f"| messages that machines get from NATS, a second | {number(found['received'])} |",
              f"| cores of a machine: deliveries, publishing, receiving | {number(cores['deliveries'])}, "
              f"{number(cores['publishing'])}, {number(cores['receiving'])} |",
              f"| all clients may come back within, with whole handshakes | {number(spread_min_s(inputs, full))} s |",
              f"| the same, with tickets | {number(spread_min_s(inputs, resumed))} s |",
              f"| a rolling restart of all machines | {number(seconds / 60)} minutes |",
              f"| in it, the fullest machine beside the average | {most:.2f} |",
              f"| in it, reconnects of a client | {moves:.2f} |"]
    lines += ["", "Other choices, and the two fullest resources then:", "",
              "| scenario | fullest | second |", "| --- | --- | --- |"]
    for name, changes in VARIANTS:
        first, second = needs(inputs, dataclasses.replace(scenario, **changes))[:2]
        lines.append(f"| {name} | {first.name}: {first.share:.0%} | {second.name}: {second.share:.0%} |")
    lines += ["", "Twice of one number, and the fullest resource then; numbers that move it by less than 5 % are left "
              "out:", "", "| twice | share | resource |", "| --- | ---: | --- |"]
    now = needs(inputs, scenario)[0].share
    lines += [f"| `{name}` | {share:.0%} | {resource} |" for name, share, resource in sensitivity(inputs, scenario)
              if abs(share / now - 1) >= 0.05]
    return "\n".join(lines) + "\n"


def bar_picture(inputs, scenario):
    """Shares of the resources as SVG."""
    listed = needs(inputs, scenario)
    most = max(1.2, listed[0].share)
    width, left, row = 900, 330, 26
    height = row * len(listed) + 40
    scale = (width - left - 70) / most
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
             f'font-size="13" role="img"><title>What breaks first</title>',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for index, need in enumerate(listed):
        top = 10 + index * row
        colour = "#b3261e" if need.share > 1 else "#b58900" if need.share > 0.7 else "#2e6f9e"
        lines.append(f'<text x="{left - 8}" y="{top + 15}" text-anchor="end">{need.name}</text>'
                     f'<rect x="{left}" y="{top + 2}" width="{max(need.share * scale, 1):.1f}" height="17" '
                     f'fill="{colour}"/><text x="{left + need.share * scale + 6:.1f}" y="{top + 15}">'
                     f'{need.share:.0%}</text>')
    limit = left + scale
    lines.append(f'<line x1="{limit:.1f}" y1="6" x2="{limit:.1f}" y2="{height - 24}" stroke="#333333" '
                 f'stroke-dasharray="4 3"/><text x="{limit:.1f}" y="{height - 8}" text-anchor="middle">limit</text>'
                 '</svg>')
    return "\n".join(lines) + "\n"


def herd_picture(inputs, scenario):
    """Cores of a machine over the time in which all clients come back, with tickets and without, as SVG."""
    width, height, left, bottom = 900, 320, 70, 50
    spreads = [5 * 1.1 ** step for step in range(50) if 5 * 1.1 ** step <= 300]
    steady = sum(steady_cores(inputs, scenario).values())
    cpu = scenario.cores * scenario.cpu_share_max
    top_cores = scenario.cores * 1.5

    def place(spread, cores):
        x = left + (width - left - 30) * (spread - 5) / 295
        return f"{x:.1f},{height - bottom - (height - bottom - 20) * min(cores, top_cores) / top_cores:.1f}"

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
             f'font-size="13" role="img"><title>All clients come back</title>',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for share, colour, name in ((0.0, "#b3261e", "whole handshakes"), (1.0, "#2e6f9e", "tickets")):
        points = " ".join(place(spread, steady + herd_cores(inputs, dataclasses.replace(
            scenario, tickets_share=share, reconnect_spread_s=spread), scenario.machines)) for spread in spreads)
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="{width - 200}" y="{40 if share else 60}" fill="{colour}">{name}</text>')
    level = place(5, cpu).split(",")[1]
    lines.append(f'<line x1="{left}" y1="{level}" x2="{width - 30}" y2="{level}" stroke="#333333" '
                 f'stroke-dasharray="4 3"/><text x="{left - 6}" y="{level}" text-anchor="end">{cpu:.0f}</text>'
                 f'<text x="{left}" y="{height - 28}">5</text><text x="{width - 30}" y="{height - 28}" '
                 f'text-anchor="end">300</text><text x="{width / 2}" y="{height - 8}" text-anchor="middle">seconds '
                 f'over which all clients come back</text><text x="{left}" y="14">cores of a machine; the line is its '
                 f'limit</text></svg>')
    return "\n".join(lines) + "\n"


def scenario_of(words):
    """Return the scenario with NAME=VALUE of the command line."""
    fields = {field.name: field for field in dataclasses.fields(Scenario)}
    changes = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in fields:
            raise UsageError(f"--set {word}: there is no '{name}'; there are {', '.join(fields)}")
        try:
            changes[name] = type(getattr(Scenario, name))(float(value))
        except ValueError:
            raise UsageError(f"--set {word}: '{value}' is no number") from None
        if changes[name] < 0 or (changes[name] == 0 and name not in ("tls", "behind_share", "tickets_share")):
            raise UsageError(f"--set {word}: it is above zero")
    return Scenario(**changes)


def write_page(page, measured, scenario):
    """Replace the computed part of the page, and its pictures."""
    before, _, rest = page.read_text().partition(PAGE_BEGIN)
    _, end, after = rest.partition(PAGE_END)
    if not end:
        raise UsageError(f"{page} has no lines '{PAGE_BEGIN.strip()}' and '{PAGE_END}'")
    page.write_text(f"{before}{PAGE_BEGIN}\n{tables(measured, scenario)}\n{PAGE_END}{after}")
    pictures = page.parent / "pictures"
    (pictures / "scale.svg").write_text(bar_picture(measured["inputs"], scenario))
    (pictures / "scale-herd.svg").write_text(herd_picture(measured["inputs"], scenario))


def main() -> None:
    """Compute, print or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, default=ROOT / "lab/scale_inputs.json")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    measured, scenario = json.loads(options.inputs.read_text()), scenario_of(options.set)
    if options.write:
        write_page(options.write, measured, scenario)
    else:
        print(tables(measured, scenario), end="")

# SPDX-License-Identifier: Apache-2.0
