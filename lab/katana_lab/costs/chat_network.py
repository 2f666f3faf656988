"""Two network namespaces with a veth pair between them, and what netem does to it; needs root and ip."""
from __future__ import annotations

import contextlib
import subprocess

NAMESPACES = ("katana-chat-a", "katana-chat-b")
INSIDE = tuple(("ip", "netns", "exec", name) for name in NAMESPACES)
ADDRESS = "10.99.0.1"                    # address of the first namespace
LINKS = {"veth": None, "veth, 5 ms delay": "delay 5ms", "veth, 5 ms delay, 1 % loss": "delay 5ms loss 1%"}


def ip(*arguments, check=True):
    """Run ip or tc quietly."""
    return subprocess.run(arguments, capture_output=True, text=True, check=check)


@contextlib.contextmanager
def namespaces():
    """Two network namespaces with a veth pair between them, or nothing where that is forbidden."""
    one, other = NAMESPACES
    remove = [("ip", "netns", "del", name) for name in NAMESPACES]
    for command in remove:
        ip(*command, check=False)
    try:
        for name in NAMESPACES:
            ip("ip", "netns", "add", name)
        ip("ip", "link", "add", "kc0", "netns", one, "type", "veth", "peer", "name", "kc1", "netns", other)
        for name, device, address in ((one, "kc0", "10.99.0.1/24"), (other, "kc1", "10.99.0.2/24")):
            ip("ip", "-n", name, "addr", "add", address, "dev", device)
            ip("ip", "-n", name, "link", "set", device, "up")
            ip("ip", "-n", name, "link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or str(error)
        for command in remove:
            ip(*command, check=False)
        yield detail.strip().splitlines()[-1] if detail.strip() else "forbidden"
        return
    try:
        yield None
    finally:
        for command in remove:
            ip(*command, check=False)


def shape_link(netem):
    """Give both ends of the veth pair a netem discipline, or none. False: this kernel has no netem."""
    for name, device in zip(NAMESPACES, ("kc0", "kc1")):
        ip("tc", "-n", name, "qdisc", "del", "dev", device, "root", check=False)
        if netem and ip("tc", "-n", name, "qdisc", "add", "dev", device, "root", "netem", "limit", "100000",
                        *netem.split(), check=False).returncode != 0:
            return False
    return True

# SPDX-License-Identifier: Apache-2.0
