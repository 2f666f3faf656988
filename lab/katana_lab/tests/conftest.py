"""The fixtures of workbench.py, for every test of this folder. (Other folders have their own conftest.)"""
import signal
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

from workbench import bench, busy_process, places  # noqa: E402, F401

# SPDX-License-Identifier: Apache-2.0
