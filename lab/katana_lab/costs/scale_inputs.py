"""The inputs of the model of a chat on many machines (scale.py), measured on this machine.

    scale_inputs.py [--build build/release] [--connections 12000] [--json lab/scale_inputs.json]

CPU is that of the server's process, user and system, without the CPU that it uses in the same time without load.
Messages are said one at a time: none shares a turn with another, which costs the most. Memory is that of the kernel
(/proc/meminfo: Slab and PageTables) and of the process (RssAnon), each before and with the connections. Half of the
kernel's memory belongs to the client, which is on this machine as well. Over the loopback the kernel charges the
receiver's cost of a packet to the sender. With a network card the server has to bear that as well.
"""
from __future__ import annotations

import argparse
import datetime
import json
import platform
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

from katana_lab import ROOT, machine, proc

PER_ADDRESS = 20_000  # connections from one address of the loopback
CPU_IDLE_S = 1.0


def parse_options():
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--connections", type=int, default=12_000, help="that are idle")
    parser.add_argument("--seconds", type=float, default=4, help="of each load")
    parser.add_argument("--json", type=Path, default=ROOT / "lab/scale_inputs.json")
    return parser.parse_args()


def anonymous_bytes(process):
    """Memory of the process that is its own."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024


def kernel_bytes():
    """Memory of the kernel that grows with sockets."""
    rows = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return sum(int(rows[name].split()[0]) * 1024 for name in ("Slab", "PageTables"))


class Servers:
    """The processes of a measurement; they end with it."""

    def __init__(self, options):
        self.options, self.processes = options, []
        self.ports = proc.free_port(20500, 65536)
        self.log = tempfile.TemporaryFile()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
        self.log.close()

    def start(self, command, port):
        """Start a server and wait for its port."""
        process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.processes.append(process)
        if not proc.wait_for(lambda: proc.listens(process, port), 10):
            raise SystemExit(f"{command[0]} on port {port} did not start")
        return process

    def chat(self, *flags):
        """Return a chat_server and its port."""
        port = next(self.ports)
        command = [proc.built("chat_server", self.options.build), "--port", str(port), "--threads", "1", "--log", "off",
                   "--connections-max", "100000", *flags]
        return self.start(command, port), port

    def nats(self):
        """Return a nats-server and its port."""
        port = next(self.ports)
        return self.start([shutil.which("nats-server") or "/usr/sbin/nats-server", "-a", "127.0.0.1", "-p",
                           str(port)], port), port


def connect(port, number=0):
    """Return a member, whose greeting was read."""
    member = socket.socket()
    if number >= PER_ADDRESS:
        member.bind((f"127.0.1.{number // PER_ADDRESS}", 0))
    member.connect(("127.0.0.1", port))
    return member


def cpu_of(process, work, idle_s=CPU_IDLE_S):
    """CPU seconds of the process for `work()`, less its use without work; and the result of work()."""
    first = proc.usage(process.pid).cpu_s
    time.sleep(idle_s)
    idle = (proc.usage(process.pid).cpu_s - first) / idle_s
    before, began = proc.usage(process.pid).cpu_s, time.monotonic()
    result = work()
    return proc.usage(process.pid).cpu_s - before - idle * (time.monotonic() - began), result


def idle_members(options):
    """The cost of members that say nothing, and of letting them in."""
    with Servers(options) as servers:
        server, port = servers.chat()
        connect(port).close()
        time.sleep(0.5)
        own, kernel = anonymous_bytes(server), kernel_bytes()
        members = []
        cpu, _ = cpu_of(server, lambda: (members.extend(connect(port, n) for n in range(options.connections)),
                                         time.sleep(1)))
        count = len(members)
        result = {"idle_user_bytes": (anonymous_bytes(server) - own) / count,
                  "idle_kernel_bytes": (kernel_bytes() - kernel) / count / 2,
                  "join_cpu_us": cpu / count * 1e6}
        for member in members:
            member.close()
        return result


def tls_members(options):
    """The same over TLS, with a whole handshake and with a ticket."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    count = max(200, min(2000, options.connections // 6))
    with Servers(options) as servers:
        server, port = servers.chat("--tls-dev")
        members, session = [], None

        def join(ticket):
            member = context.wrap_socket(connect(port), session=ticket)
            member.sendall(b"/who\n")
            member.recv(4096)  # the tickets of TLS 1.3 come in front of it
            return member

        members.append(join(None))
        session = members[0].session
        time.sleep(0.5)
        own = anonymous_bytes(server)
        whole, _ = cpu_of(server, lambda: members.extend(join(None) for _ in range(count)))
        bytes_each = (anonymous_bytes(server) - own) / count
        resumed, some = cpu_of(server, lambda: [join(session) for _ in range(count)])
        if not all(member.session_reused for member in some):
            raise SystemExit("a ticket was not taken")
        return {"tls_idle_user_bytes": bytes_each, "tls_join_cpu_us": whole / count * 1e6,
                "tls_resumed_join_cpu_us": resumed / count * 1e6}


def drain(members):
    """Read what has come."""
    for member in members:
        try:
            while member.recv(65536):
                pass
        except BlockingIOError:
            continue


def say_singly(sender, readers, rate, seconds):
    """Say one line at a time; return how many."""
    count, began = int(rate * seconds), time.monotonic()
    for number in range(count):
        sender.sendall(f"message {number:08d} of thirty-two octets\n".encode())
        drain(readers)
        time.sleep(max(0.0, began + (number + 1) / rate - time.monotonic()))
    time.sleep(0.3)
    drain(readers)
    return count


def members_of(port, count):
    """Return members that do not wait."""
    members = [connect(port) for _ in range(count)]
    time.sleep(0.3)
    for member in members:
        member.setblocking(False)
    drain(members)
    return members


def deliveries(options, receivers=60, rate=150):
    """The cost of one delivery, in a room with one server."""
    with Servers(options) as servers:
        server, port = servers.chat()
        readers, sender = members_of(port, receivers), connect(port)
        cpu, count = cpu_of(server, lambda: say_singly(sender, readers, rate, options.seconds))
        return {"delivery_cpu_us": cpu / (count * receivers) * 1e6}


def bus_messages(options, rate=1000):
    """The cost of a message that goes to another server: for the sender, for NATS, and for the receiver."""
    def sent(flags):
        with Servers(options) as servers:
            nats, nats_port = servers.nats()
            bus = ["--bus", f"nats://127.0.0.1:{nats_port}"] if flags else []
            one, port = servers.chat(*bus)
            other, other_port = servers.chat(*bus)
            reader, sender = members_of(other_port, 1), connect(port)
            time.sleep(2)  # they have heard of each other
            before = {each: proc.usage(each.pid).cpu_s for each in (nats, other)}
            cpu, count = cpu_of(one, lambda: say_singly(sender, reader, rate, options.seconds), 2.0)
            # The CPU that the others use without load is the same in both runs.
            return [value / count * 1e6 for value in (
                cpu, *(proc.usage(each.pid).cpu_s - before[each] for each in (nats, other)))]
    alone, shared = sent(False), sent(True)
    return {"publish_cpu_us": shared[0] - alone[0], "nats_message_cpu_us": shared[1] - alone[1],
            "receive_cpu_us": shared[2] - alone[2]}


def interest(options, subjects=100_000):
    """The memory of NATS for a subscription."""
    with Servers(options) as servers:
        nats, port = servers.nats()
        client = socket.create_connection(("127.0.0.1", port))
        client.recv(4096)
        client.sendall(b'CONNECT {"verbose":false}\r\nPING\r\n')
        client.recv(64)
        before = anonymous_bytes(nats)
        client.sendall(b"".join(b"SUB chat.room.r%d %d\r\n" % (number, number) for number in range(subjects)))
        client.sendall(b"PING\r\n")
        client.recv(64)
        time.sleep(1)
        return {"nats_subscription_bytes": (anonymous_bytes(nats) - before) / subjects}


UNITS = {"bytes": "octets", "us": "µs"}


def main() -> None:
    """Measure, print and write."""
    options = parse_options()
    found = {}
    for part in (idle_members, tls_members, deliveries, bus_messages, interest):
        for name, value in part(options).items():
            found[name] = round(value, 1)
            print(f"{name:<26} {value:>10.1f} {UNITS[name.rsplit('_', 1)[1]]}", flush=True)
            if value <= 0:
                raise SystemExit(f"{name} is {value}: the machine was too busy, or the load too small; measure again")
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=False).stdout.strip()
    about = {"command": f"lab/scale_inputs.py --connections {options.connections} --seconds {options.seconds:g}",
             "date": datetime.date.today().isoformat(), "commit": commit,
             "machine": f"{machine.cpu_model()}, Linux {platform.release()}"}
    options.json.write_text(json.dumps({"about": about, "inputs": found}, indent=1) + "\n")

# SPDX-License-Identifier: Apache-2.0
