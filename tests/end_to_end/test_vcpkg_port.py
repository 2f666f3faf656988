"""The vcpkg port: its features are components, and its portfile asks vcpkg's functions for what KATANA's build takes.

vcpkg itself takes its ports and tools from other hosts, so its functions are stand-ins here, which write down their
arguments.
"""
import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORT = ROOT / "packaging/vcpkg/ports/katana"
STAND_INS = """
foreach(name IN ITEMS vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_install_copyright
    vcpkg_cmake_configure)
  cmake_language(EVAL CODE "function(${name})\\nmessage(\\"${name} \\${ARGN}\\")\\nendfunction()")
endforeach()
function(vcpkg_find_acquire_program name)
  set(${name} /usr/bin/pkg-config PARENT_SCOPE)
endfunction()
"""


def port():
    """The port's manifest."""
    return json.loads((PORT / "vcpkg.json").read_text(encoding="utf-8"))


def test_features_are_components_and_the_version_is_the_projects():
    """A feature that no component has would configure nothing."""
    listing = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    components = set(re.findall(r"^katana_component\((\w+)", listing, re.M))
    assert {name.replace("-", "_") for name in port()["features"]} <= components
    assert port()["version"] == re.search(r"project\(katana VERSION ([\d.]+)", listing)[1]


@pytest.mark.parametrize("features, components", [
    (["core"], "http"), (["core", "application-sqlite", "zstd"], "http;application_sqlite;zstd")])
def test_the_portfile_configures_this_tree(features, components, tmp_path):
    """With the components of the features, without programs and tests, and with its licence."""
    script = tmp_path / "port.cmake"
    script.write_text(f'{STAND_INS}set(FEATURES {" ".join(features)})\nset(CURRENT_PACKAGES_DIR {tmp_path}/packages)\n'
                      f'include("{PORT}/portfile.cmake")\n', encoding="utf-8")
    done = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=True, timeout=60)
    asked = {line.split(" ", 1)[0]: line for line in done.stderr.splitlines()}
    configured = asked["vcpkg_cmake_configure"]
    assert f"SOURCE_PATH;{ROOT};" in configured and f"-DKATANA_COMPONENTS={components};" in configured
    assert "-DKATANA_TESTS=OFF" in configured and "-DKATANA_WERROR=OFF" in configured
    assert "CONFIG_PATH;lib/cmake/katana" in asked["vcpkg_cmake_config_fixup"]
    assert f"{ROOT}/LICENSE" in asked["vcpkg_install_copyright"]

# SPDX-License-Identifier: Apache-2.0
