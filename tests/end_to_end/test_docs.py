"""Documents that repeat facts of the code and the programs."""
import os
import subprocess

from program_process import ROOT


def test_the_generated_parts_of_documents_are_what_the_code_says():
    """Layers, decisions, flags, settings and metrics: tools/docs writes them, and finds nothing to write."""
    build = os.environ.get("KATANA_BUILD", ROOT / "build" / "release")
    result = subprocess.run([ROOT / "tools" / "docs", "--check", "--build", build], cwd=ROOT, capture_output=True,
                            text=True, timeout=500, check=False)
    assert result.returncode == 0, result.stderr


def test_the_documents_have_no_dead_link_and_every_public_name_that_is_new_has_a_comment():
    """Links and anchors, the site's navigation, spelling, and the ratchet of comments: tools/site --check."""
    result = subprocess.run([ROOT / "tools" / "site", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=500,
                            check=False)
    assert result.returncode == 0, result.stderr

# SPDX-License-Identifier: Apache-2.0
