"""Recipes: the configurations that the guides print. A test deploys the text that a reader copies.

A test may only replace the parts that differ between a reader's machine and its own (names of files, ports). Every text
that it replaces has to be there.
"""
import re

from program_process import ROOT

GUIDES = ROOT / "docs" / "guides"
HEADING = re.compile(r"^#+ (?P<title>.+)$")
FENCE = re.compile(r"^```(?P<language>\S*)\s*$")
# In a shell's command: -e NAME=VALUE, with or without quotes.
VARIABLE = re.compile(r"""-e (?:'([^']+)'|"([^"]+)"|(\S+))""")


class Block:
    """A fenced block: its language, the title above it, and its text."""

    def __init__(self, guide, title, language, text):
        self.guide, self.title, self.language, self.text = guide, title, language, text

    def __repr__(self):
        return f"{self.guide}, {self.title}: {self.language}"


def blocks(guide):
    """Return every fenced block of a guide, in its order."""
    found, title, language, lines = [], "", None, []
    for line in (GUIDES / guide).read_text(encoding="utf-8").splitlines():
        fence, heading = FENCE.match(line), HEADING.match(line)
        if language is not None and line.startswith("```"):
            found.append(Block(guide, title, language, "\n".join(lines) + "\n"))
            language, lines = None, []
        elif language is not None:
            lines.append(line)
        elif fence:
            language = fence["language"]
        elif heading:
            title = heading["title"]
    assert language is None, f"{guide}: a block under {title} does not end"
    return found


def block(guide, title, language):
    """Return the text of the one block of this language under this title."""
    found = [each for each in blocks(guide) if (each.title, each.language) == (title, language)]
    assert len(found) == 1, f"{guide} has {len(found)} blocks of {language} under '{title}', not one"
    return found[0].text


def replaced(text, changes):
    """Return the text with each key replaced by its value; all of them have to be there."""
    for old, new in changes.items():
        assert old in text, f"'{old}' is not in the recipe any more:\n{text}"
        text = text.replace(old, new)
    return text


def variables(text):
    """Return the variables of a file for EnvironmentFile=, as systemd reads one."""
    pairs = [line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#")]
    return dict(pairs)


def variables_of_command(text):
    """Return what `-e` gives in a command of podman or docker."""
    given = ["".join(found) for found in VARIABLE.findall(text)]
    return dict(each.split("=", 1) for each in given)


def renamed(given, prefix="NOTES_", new="KATANA_"):
    """Return variables of the guides' `notes` as those of fullstack."""
    assert all(name.startswith(prefix) for name in given), given
    return {new + name[len(prefix):]: value for name, value in given.items()}

# SPDX-License-Identifier: Apache-2.0
