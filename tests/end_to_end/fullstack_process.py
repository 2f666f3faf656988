"""fullstack as a child process in its own folder: started, awaited, ended and checked against its contract."""
import os
import pathlib
import signal
import subprocess

import httpx

from program_process import Program, built, stop_report

PROGRAM = "fullstack"
# Settings for quick tests: they wait neither for a load balancer nor for an idle client.
QUICK = ("http.drain_notice=0s", "http.drain_timeout=5s", "http.reactors=2")


def environment(**variables):
    """Return this process's environment without the program's variables, plus the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KATANA_")}
    return {**kept, **variables}


def flags_of(sets):
    """Return --set flags."""
    return [part for each in sets for part in ("--set", each)]


def run_program(folder, *arguments, seconds=20, prefix=(), **variables):
    """Run the program to its end in a folder and return the CompletedProcess with text output."""
    return subprocess.run([*prefix, built(PROGRAM), *arguments], cwd=folder, env=environment(**variables),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False)


class FullStack(Program):
    """One running program. A context manager: leaving it drains the program and checks how that ended.

    `sets` are configuration, as for --set. `prefix` is a program that starts it, such as prlimit. One that is `shared`
    by several tests is not ended when one of them fails.
    """

    def __init__(self, folder, *flags, sets=(), prefix=(), shared=False):
        self.folder = pathlib.Path(folder)
        quiet = (each.startswith(("log.levels=", "log.console=false")) and not each.startswith("log.levels=info")
                 for each in sets)
        self.logs_its_end = not any(quiet) and "--config" not in flags     # a file may have the log elsewhere
        command = [*prefix, built(PROGRAM), "--port", "0", *flags_of(QUICK), *flags_of(sets), *flags]
        self._start(PROGRAM, command, shared, cwd=folder, env=environment())
        self.client = httpx.Client(base_url=self.url(), timeout=20)

    def add_user(self, name, email, path="/api/users"):
        """Add a user and return the reply."""
        return self.client.post(path, json={"name": name, "email": email})

    def wait(self, *limits):
        """Wait for the end and return the exit status."""
        self.client.close()
        return super().wait(*limits)

    def stop(self, number=signal.SIGTERM):
        """Drain it; check exit status and report. Return the report, or None when it was over already."""
        if not self.alive():
            return None
        self.send_signal(number)
        status = self.wait()
        assert status == 0, f"exit status {status}; stderr: {self.stderr()}"
        return stop_report(self.stderr()) if self.logs_its_end else None

# SPDX-License-Identifier: Apache-2.0
