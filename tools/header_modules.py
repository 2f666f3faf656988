"""header_modules: finds the headers that do not compile alone, and reads each header once to do so.

clang++ makes a module of each header, and of the standard library. An `#include` of a header then imports the module
that was compiled before. A module sees its own includes and nothing else, as a source with this header alone would. To
compile each header alone takes four times as long: every one reads its includes again.

g++-12 then reads all headers of katana/ in one source, for what only that compiler refuses.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
from pathlib import Path

CLANG, GXX = "clang++-19", "g++-12"
# libpq's headers have their own folder, where pkg-config says.
FLAGS = "-std=c++23 -fsyntax-only -I. -Iapps -isystem /usr/include/postgresql -Wall -Wextra -Werror".split()
MODULE_FLAGS = ["-Wno-#warnings",  # warnings of clang's own headers
                "-ferror-limit=0", "-fmodules", "-Xclang", "-fmodules-local-submodule-visibility",
                # A crash of the compiler within a module ends it; in one process with the driver it waits for ever.
                "-fno-integrated-cc1"]
# Headers of libraries that take long, each a module.
LIBRARIES = "fmt/core.h fmt/format.h simdjson.h gtest/gtest.h CLI/CLI.hpp".split()
# Standard headers that warn of themselves, or read others by macros.
NO_MODULES = set("ccomplex ctgmath cstdalign ciso646 cassert cstdbool execution codecvt".split())
ERROR = re.compile(r"^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.M)
UNBUILT = "could not build module"
COMMAND = [*FLAGS, *MODULE_FLAGS]  # the result depends on it, and on the headers


def missing_compilers():
    return [name for name in (CLANG, GXX) if not shutil.which(name)]


def search_folders():
    """Where clang++ looks for headers."""
    run = subprocess.run([CLANG, "-E", "-v", "-x", "c++", "/dev/null"], text=True, capture_output=True, check=True)
    block = run.stderr.split("#include <...> search starts here:\n")[1].split("End of search list.")[0]
    return [Path(line.strip()) for line in block.splitlines()]


def library_map(folders):
    """The module map of the standard library and of LIBRARIES."""
    standard = next(folder for folder in folders if (folder / "vector").is_file())
    names = sorted(path.name for path in standard.iterdir() if path.is_file() and not path.suffix)
    lines = ["module std [system] {"]
    lines += [f'  module "std_{name}" {{ header "{standard / name}" export * }}' for name in names
              if name not in NO_MODULES]
    lines.append("}")
    for name in LIBRARIES:
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if path:
            lines.append(f'module "{name}" [system] {{ header "{path}" export * }}')
    return "\n".join(lines) + "\n"


def header_map(root, headers):
    return "".join(f'module "{header}" {{ header "{root / header}" export * }}\n' for header in headers)


def write_if_changed(path, text):
    """Modules are older than a map that is written anew, and would be compiled again."""
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def include_lines(headers):
    return "".join(f'#include "{header}"\n' for header in headers)


def errors_of(command, root, headers):
    """Header -> (line, first message), of the headers that are at fault; () -> the output that names none of them."""
    run = subprocess.run([*command, "-x", "c++", "-"], input=include_lines(headers), cwd=root, text=True,
                         capture_output=True, check=False)
    if run.returncode == 0:
        return {}
    found = {}
    for path, line, message in ERROR.findall(run.stderr):
        path = os.path.relpath(os.path.join(root, path), root)
        if UNBUILT not in message and path != "<stdin>":
            found.setdefault(path, (int(line), message))
    return found or {(): (1, run.stderr.strip()[-2000:])}


def broken_headers(root, headers, closures, folder):
    """Header -> (line, message) for those of `headers` that do not compile alone. `closures` has what each header
    includes, directly or not, for all headers of the tree; modules stay in `folder` for the next time."""
    root, folder = Path(root), Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    maps = [folder / "libraries.modulemap", folder / "headers.modulemap"]
    write_if_changed(maps[0], library_map(search_folders()))
    write_if_changed(maps[1], header_map(root.resolve(), sorted(closures)))
    modules = [CLANG, *COMMAND, f"-fmodules-cache-path={folder / 'cache'}",
               *(f"-fmodule-map-file={path}" for path in maps)]
    broken, left, is_alone = {}, list(headers), False
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        # Two processes begin at both ends, and each uses the modules that the other has compiled. An error ends a
        # process. The headers that are not at fault are then compiled again without it.
        while left:
            found = {}
            for errors in pool.map(lambda part: errors_of(modules, root, part),
                                   (left,) if is_alone else (left, left[::-1])):
                found |= errors
            if not found:
                break
            known = {path: found[path] for path in found if path in closures}
            # Two compilers that change the same modules may lose a name. A header that compiles without them is right.
            if known and not any(errors_of([CLANG, *FLAGS], root, [path]) for path in known):
                known = {}
            if not known and not is_alone:  # two compilers that change the same modules may crash: one, from nothing
                is_alone = True
                shutil.rmtree(folder / "cache", ignore_errors=True)
                continue
            if not known:  # an error of the compiler, or of a library
                return broken | {left[0]: next(iter(found.values()))}
            broken |= known
            left = [header for header in left if not closures[header] & broken.keys()]
    own = [header for header in left if header.startswith("katana/") and not header.endswith("_test.hpp")]
    if own:
        found = errors_of([GXX, *FLAGS], root, own)
        broken |= {path if path in closures else own[0]: (line, f"{GXX}: {message}")
                   for path, (line, message) in found.items()}
    return broken

# SPDX-License-Identifier: Apache-2.0
