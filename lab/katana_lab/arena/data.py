"""The input of the arena's servers: the data set, twenty files with their compressed siblings, and a certificate.

    lab/arena/data [--folder build/arena/data] [--force]

Everything but the certificate follows from a seed. A file has exactly its size in HttpArena, and a text that gzip
compresses about as well as theirs. The text repeats phrases, and the share of new words is found by bisection. Needs
brotli and openssl.
"""
from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import zlib
from pathlib import Path

from katana_lab import LabError, proc
from katana_lab.arena import DATA
from katana_lab.files import write_whole

SEED = 20260429
ITEMS = 50
CATEGORIES = ("electronics", "tools", "books", "clothing", "sports", "toys", "home", "garden", "office", "auto")
TAGS = ("fast", "new", "popular", "sale", "premium", "eco", "limited", "compact", "durable", "gift")
NAMES = ("Alpha", "Bravo", "Cedar", "Delta", "Ember", "Flint", "Grove", "Haven", "Indigo", "Jasper")
KINDS = ("Widget", "Gear", "Tool", "Kit", "Box")
# File -> its size in bytes, and about how many gzip makes of it; None: it is compressed already.
FILES: dict[str, tuple[int, int | None]] = {
    "reset.css": (8192, 2838), "layout.css": (25600, 6380), "theme.css": (18432, 5138),
    "components.css": (204800, 39348), "utilities.css": (61440, 13040), "analytics.js": (12288, 4390),
    "helpers.js": (22528, 7442), "app.js": (204800, 54813), "vendor.js": (307200, 79899), "router.js": (35840, 10856),
    "header.html": (122880, 11769), "footer.html": (56320, 8256), "logo.svg": (15344, 3654),
    "icon-sprite.svg": (71680, 13657), "manifest.json": (2883, 927), "regular.woff2": (18432, None),
    "bold.woff2": (22528, None), "hero.webp": (46080, None), "thumb1.webp": (8192, None), "thumb2.webp": (6144, None),
}
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
BISECTIONS = 12


def items(seed: int = SEED) -> list[dict]:
    """The data set: 50 items of HttpArena's shape and ranges."""
    chance = random.Random(seed)
    return [{"id": number, "name": f"{chance.choice(NAMES)} {chance.choice(KINDS)}"[:12],
             "category": chance.choice(CATEGORIES), "price": chance.randint(2, 496), "quantity": chance.randint(4, 97),
             "active": chance.random() < 0.5, "tags": chance.sample(TAGS, chance.randint(1, 4)),
             "rating": {"score": chance.randint(1, 50), "count": chance.randint(5, 489)}}
            for number in range(1, ITEMS + 1)]


def _text(name: str, size: int, share: float) -> bytes:
    """Lines of words; `share` of them are new, the others are those of a line before."""
    chance = random.Random(f"{SEED} {name}")
    words, pieces, length = ["color", "value", "return", "width"], [], 0
    while length < size:
        if chance.random() < share:
            word = "".join(chance.choices(LETTERS, weights=range(len(LETTERS), 0, -1), k=chance.randint(3, 11)))
            words.append(word)
            line = f"  {word}: {chance.choice(words)}({chance.randint(0, 999)});\n"
        else:
            line = pieces[chance.randrange(max(0, len(pieces) - 400), len(pieces))] if pieces else "{}\n"
        pieces.append(line)
        length += len(line)
    return "".join(pieces).encode()[:size]


def text_of(name: str, size: int, zipped: int) -> bytes:
    """A text of exactly that size, of which zlib makes about `zipped` bytes."""
    low, high, made = 0.0, 1.0, b""
    for _ in range(BISECTIONS):
        share = (low + high) / 2
        made = _text(name, size, share)
        if len(zlib.compress(made, 9)) > zipped:
            high = share
        else:
            low = share
    return made


def content_of(name: str) -> bytes:
    """A file's content."""
    size, zipped = FILES[name]
    return random.Random(f"{SEED} {name}").randbytes(size) if zipped is None else text_of(name, size, zipped)


def write_files(folder: Path) -> None:
    """The twenty files, and .gz and .br beside those that are text."""
    brotli = proc.tool("brotli")
    folder.mkdir(parents=True, exist_ok=True)
    for name, (_, zipped) in FILES.items():
        path, content = folder / name, content_of(name)
        path.write_bytes(content)
        if zipped is not None:
            path.with_name(f"{name}.gz").write_bytes(gzip.compress(content, 9, mtime=0))
            subprocess.run([brotli, "-q", "11", "-f", "-o", f"{path}.br", path], check=True)


def write_certificate(folder: Path) -> None:
    """server.crt and server.key: RSA of 2048 bits for localhost, self-signed."""
    command = [proc.tool("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-sha256", "-days", "3650",
               "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
               "-keyout", folder / "server.key", "-out", folder / "server.crt"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise LabError(f"openssl made no certificate in {folder}: {made.stderr.strip().splitlines()[-1]}")


def prepare(folder: Path = DATA, force: bool = False) -> Path:
    """Make the missing files; return the folder."""
    done = folder / "complete"
    if force or not done.exists() or done.read_text(encoding="utf-8") != str(SEED):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "dataset.json", json.dumps(items(), indent=1) + "\n")
        write_files(folder / "static")
        write_certificate(folder)
        write_whole(done, str(SEED))
    return folder


def main() -> None:
    """Make it, and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=DATA, help=f"default {DATA}")
    parser.add_argument("--force", action="store_true", help="make it again")
    options = parser.parse_args()
    print(prepare(options.folder, options.force))

# SPDX-License-Identifier: Apache-2.0
