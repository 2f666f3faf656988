"""Lets the conformance tests start a server with the helper of the end-to-end tests."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))

# SPDX-License-Identifier: Apache-2.0
