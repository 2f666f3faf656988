"""Documents that repeat what the code and the programs say."""
import os
import subprocess

from program_process import ROOT


def test_the_generated_parts_of_documents_are_what_the_code_says():
    """Layers, decisions, flags, settings and metrics: tools/docs writes them, and finds nothing to write."""
    build = os.environ.get("KATANA_BUILD", ROOT / "build" / "release")
    result = subprocess.run([ROOT / "tools" / "docs", "--check", "--build", build], cwd=ROOT, capture_output=True,
                            text=True, timeout=100, check=False)
    assert result.returncode == 0, result.stderr

# SPDX-License-Identifier: Apache-2.0
