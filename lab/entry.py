#!/usr/bin/env python3
"""Every file of lab/ and scripts/ that is a command is a link to this one: katana_lab.commands says which is what."""
import os
import sys
from pathlib import Path

LAB = Path(__file__).resolve().parent
VENV = LAB.parent / ".venv"
if (VENV / "bin/python").exists() and Path(sys.prefix).resolve() != VENV.resolve():
    os.execv(VENV / "bin/python", [str(VENV / "bin/python"), *sys.argv])
sys.path.insert(0, str(LAB))

from katana_lab.commands import run_file  # noqa: E402

sys.exit(run_file(sys.argv[0], sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
