"""KATANA for Conan 2: builds the components named by an option, with the libraries of the system.

    conan create packaging/conan -o "katana/*:components=application_sqlite"

The package manager gives Debian's packages (tools.system.package_manager:mode=install installs them). Their names are
in cmake/externals.cmake. Nothing is taken from Conan's own packages: the tested libraries are then the linked ones.
"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

SOURCES = ("CMakeLists.txt", "LICENSE", "NOTICE", "cmake/*", "katana/*", "apps/*", "packaging/*")


class Katana(ConanFile):
    name = "katana"
    description = "Network services in C++23 on Linux"
    license = "Apache-2.0"
    topics = ("http", "websocket", "server", "io_uring")
    settings = "os", "compiler", "build_type", "arch"
    package_type = "static-library"
    options = {"components": ["ANY"]}
    default_options = {"components": "http"}  # several: "http;sqlite"

    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root(), "CMakeLists.txt"))
        self.version = re.search(r"project\(katana VERSION ([\d.]+)", text).group(1)

    def export(self):
        copy(self, "externals.cmake", os.path.join(self._root(), "cmake"), self.export_folder)

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, self._root(), self.export_sources_folder, excludes="*/test_package/*")

    def validate(self):
        check_min_cppstd(self, 23)

    def system_requirements(self):
        text = load(self, os.path.join(self.recipe_folder, "externals.cmake"))
        named = re.findall(r'^katana_external\(.*?DEBIAN ("[^"]+"|\S+)', text, re.M)
        Apt(self).install([package for names in named for package in names.strip('"').split()], update=True, check=True)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["KATANA_COMPONENTS"] = str(self.options.components)
        for name in ("APPS", "TESTS", "LAB", "WERROR", "INSTALL_PROGRAMS"):
            toolchain.cache_variables[f"KATANA_{name}"] = "OFF"
        toolchain.cache_variables["KATANA_UNITY"] = "ON"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="katana_components")

    def package(self):
        CMake(self).install()

    def package_info(self):
        # KATANA's own files answer find_package(katana). They know each component and the libraries that it links.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "katana"))
        self.buildenv_info.prepend_path("PKG_CONFIG_PATH", os.path.join(self.package_folder, "lib", "pkgconfig"))

# SPDX-License-Identifier: Apache-2.0
