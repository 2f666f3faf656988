# The libraries that KATANA stands on, and how each is found: here, and by katana-config.cmake, with which this file is
# installed.
#
# katana_external(TARGET DEBIAN package [LICENCE expression] [PACKAGE name [version]] [PKG_CONFIG module…] [LIBS flag…])
#   DEBIAN      the package that brings it, for messages
#   LICENCE     an SPDX expression, for the bill of materials; none: a part of the platform
#   PACKAGE     the arguments of find_package(); without it pkg-config finds the library
#   PKG_CONFIG  what katana-NAME.pc requires, and what pkg_check_modules() is asked for where there is no PACKAGE
#   LIBS        what the linker is given instead, where there is no module
function(katana_external target)
  cmake_parse_arguments(external "" "DEBIAN;LICENCE" "PACKAGE;PKG_CONFIG;LIBS" ${ARGN})
  foreach(field IN ITEMS DEBIAN LICENCE PACKAGE PKG_CONFIG LIBS)
    set_property(GLOBAL PROPERTY "KATANA_EXTERNAL_${target}_${field}" "${external_${field}}")
  endforeach()
endfunction()

katana_external(Threads::Threads      DEBIAN libc6-dev       PACKAGE Threads LIBS -pthread)
katana_external(fmt::fmt              DEBIAN libfmt-dev      LICENCE "MIT" PACKAGE fmt PKG_CONFIG fmt)
katana_external(simdjson::simdjson    DEBIAN libsimdjson-dev LICENCE "Apache-2.0 AND BSD-3-Clause AND BSL-1.0"
                                      PACKAGE simdjson PKG_CONFIG simdjson)
katana_external(yaml-cpp              DEBIAN libyaml-cpp-dev LICENCE "MIT" PACKAGE yaml-cpp PKG_CONFIG yaml-cpp)
katana_external(ZLIB::ZLIB            DEBIAN zlib1g-dev      LICENCE "Zlib" PACKAGE ZLIB PKG_CONFIG zlib)
katana_external(OpenSSL::SSL          DEBIAN libssl-dev      LICENCE "Apache-2.0" PACKAGE OpenSSL 3.0 PKG_CONFIG openssl>=3.0)
katana_external(OpenSSL::Crypto       DEBIAN libssl-dev      LICENCE "Apache-2.0" PACKAGE OpenSSL 3.0 PKG_CONFIG libcrypto>=3.0)
katana_external(PkgConfig::liburing   DEBIAN liburing-dev    LICENCE "MIT OR LGPL-2.1-or-later" PKG_CONFIG liburing>=2.3)
katana_external(PkgConfig::libnghttp2 DEBIAN libnghttp2-dev  LICENCE "MIT" PKG_CONFIG libnghttp2>=1.52)
katana_external(PkgConfig::brotli     DEBIAN libbrotli-dev   LICENCE "MIT" PKG_CONFIG libbrotlienc libbrotlidec)
katana_external(PkgConfig::zstd       DEBIAN libzstd-dev     LICENCE "BSD-3-Clause OR GPL-2.0-only" PKG_CONFIG libzstd)
katana_external(PkgConfig::sqlite3    DEBIAN libsqlite3-dev  LICENCE "blessing" PKG_CONFIG sqlite3>=3.40)
katana_external(PkgConfig::libargon2  DEBIAN libargon2-dev   LICENCE "Apache-2.0 OR CC0-1.0" PKG_CONFIG libargon2)
katana_external(PkgConfig::libpcre2   DEBIAN libpcre2-dev   LICENCE "BSD-3-Clause" PKG_CONFIG libpcre2-8>=10.40)

# katana_find_external(TARGET): the target exists, or `katana_missing` says what is missing and what to install.
macro(katana_find_external target)
  unset(katana_missing)
  if(NOT TARGET ${target})
    get_property(katana_package GLOBAL PROPERTY "KATANA_EXTERNAL_${target}_PACKAGE")
    get_property(katana_modules GLOBAL PROPERTY "KATANA_EXTERNAL_${target}_PKG_CONFIG")
    get_property(katana_debian GLOBAL PROPERTY "KATANA_EXTERNAL_${target}_DEBIAN")
    if(katana_package)
      find_package(${katana_package} QUIET)
      if(TARGET ${target}::${target} AND NOT TARGET ${target})  # yaml-cpp has a namespace since 0.8
        add_library(${target} INTERFACE IMPORTED)
        target_link_libraries(${target} INTERFACE ${target}::${target})
      endif()
    else()
      find_package(PkgConfig QUIET)
      string(REPLACE "PkgConfig::" "" katana_prefix ${target})
      if(PkgConfig_FOUND)
        pkg_check_modules(${katana_prefix} QUIET IMPORTED_TARGET ${katana_modules})
      else()
        set(katana_debian "pkg-config ${katana_debian}")
      endif()
      set(katana_package ${katana_modules})
    endif()
    if(NOT TARGET ${target})
      string(REPLACE ";" " " katana_missing "${katana_package} is not found: install its development files (Debian: ${katana_debian})")
    endif()
  endif()
endmacro()

# SPDX-License-Identifier: Apache-2.0
