"""The printers that the library installs for gdb, run in batch mode."""
import shutil
import subprocess

import pytest

from program_process import ROOT, built

SCRIPT = ROOT / "packaging" / "gdb" / "katana.py"


@pytest.fixture(name="printed", scope="module")
def values():
    """The output of gdb, by expression."""
    if shutil.which("gdb") is None:
        pytest.skip("there is no gdb (tools/setup test)")
    names = ("text", "literal", "bare", "wide", "duration", "instant", "uuid", "good", "bad", "nothing", "waiting",
             "fresh")
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", f"source {SCRIPT}",
             "-ex", "break planted_stop", "-ex", "run", "-ex", "up"]
    for name in names:
        words += ["-ex", f"echo expression {name}\\n", "-ex", f"print {name}"]
    run = subprocess.run([*words, built("printed_values")], capture_output=True, text=True, timeout=120, check=False)
    found = dict(part.split("\n", 1) for part in run.stdout.split("expression ")[1:] if "\n" in part)
    assert set(names) <= set(found), run.stdout + run.stderr
    return {name: found[name].split(" = ", 1)[1].split("\n")[0] for name in names}


@pytest.mark.parametrize("name, text", [
    ("text", '"katana é"'),
    ("literal", '"literal"'),
    ("bare", "not_found"),
    ("wide", "unavailable: open database 'a': connection refused"),
    ("duration", "1.5 s"),
    ("instant", "at 3 s"),
    ("uuid", "0af76519-16cd-43dd-8448-eb211c80319c"),
    ("good", "value = {value = 7}"),
    ("bad", "error data_loss: page 3"),
    ("nothing", "value"),
    ("fresh", "runs, or has not begun"),
])
def test_a_value_is_printed_as_people_read_it(printed, name, text):
    """And not by its members."""
    assert printed[name] == text


def test_a_task_is_printed_with_the_places_where_it_waits(printed):
    """Callers before callees, and what the last one awaits."""
    text = printed["waiting"]
    assert text.startswith("waits in ") and "planted_caller" in text.split("; awaits ")[0], text
    assert "planted_callee" in text.split("; awaits ")[1] and "suspend_always" in text, text
    assert "printed_values.cpp:" in text, text

# SPDX-License-Identifier: Apache-2.0
