"""The libraries that programs load: a program pays for the modules that it names, and for no other."""
import re
import subprocess

import pytest

from program_process import built

OPTIONAL = {"argon2", "pq", "sqlite3", "yaml-cpp"}  # no program loads pq, which tests compare with


def loaded(program):
    """The names of the libraries that a program loads, as `sqlite3` for libsqlite3.so.0."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=20, check=True).stdout
    return set(re.findall(r"^\s*lib([\w+-]+?)\.so", listed, re.M))


@pytest.mark.parametrize("name, wanted", [
    ("hello_world_server", set()),
    ("chat_server", set()),
    ("bare_application", {"yaml-cpp"}),
    ("fullstack", {"argon2", "sqlite3", "yaml-cpp"}),
    ("katana", {"argon2", "sqlite3", "yaml-cpp"}),
])
def test_a_program_loads_the_databases_and_formats_that_it_uses(name, wanted):
    libraries = loaded(built(name))
    assert "ssl" in libraries, libraries  # ldd was understood
    assert libraries & OPTIONAL == wanted


def test_a_program_without_a_database_has_neither_its_flag_nor_its_settings():
    program = built("bare_application")

    def run(*flags):
        return subprocess.run([program, *flags], capture_output=True, text=True, timeout=20, check=False)

    assert "--database" not in run("--help").stdout
    defaults = run("--print-defaults").stdout
    assert "\nhttp:\n" in f"\n{defaults}" and "\ndatabase:\n" not in f"\n{defaults}", defaults
    refused = run("--database", "sqlite:a.db")
    assert refused.returncode == 2 and "unknown flag '--database'" in refused.stderr, refused.stderr
    refused = run("--set", "database.url=sqlite:a.db", "--check-config")
    assert refused.returncode == 2 and "database" in refused.stderr, refused.stderr


def test_a_database_that_the_program_was_built_without_is_refused_and_those_it_has_are_named(tmp_path):
    refused = subprocess.run([built("fullstack"), "--port", "0", "--database", "mysql://ada:secret@db/users"],
                             capture_output=True, text=True, timeout=20, check=False, cwd=tmp_path)
    assert refused.returncode == 2, refused.stderr
    assert "'mysql'" in refused.stderr and "give" in refused.stderr, refused.stderr
    assert "sqlite:FILE" in refused.stderr and "postgresql://" in refused.stderr, refused.stderr
    assert "secret" not in refused.stderr, refused.stderr

# SPDX-License-Identifier: Apache-2.0
