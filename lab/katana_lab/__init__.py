"""The laboratory of KATANA: runs experiments, samples the server, compares with intervals, writes reports.

Light on purpose: importing the package imports nothing else, so that programs on a bare Python may use katana_lab.proc.
"""
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
ROOT = LAB.parent


class LabError(Exception):
    """An error that a person can mend: one line names the input and the remedy. The command exits with status 1."""


class UsageError(LabError):
    """A wrong command line or file: exit status 2."""

# SPDX-License-Identifier: Apache-2.0
