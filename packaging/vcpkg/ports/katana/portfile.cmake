# KATANA for vcpkg, as an overlay port of this source tree:
#
#   vcpkg install "katana[application-sqlite]" --overlay-ports=packaging/vcpkg/ports
#
# Features are components, with '-' for '_'. The libraries come from vcpkg; liburing and libargon2 are found by pkg-config.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

set(components http)
foreach(feature IN LISTS FEATURES)
  if(NOT feature STREQUAL "core")
    string(REPLACE "-" "_" component "${feature}")
    list(APPEND components ${component})
  endif()
endforeach()

vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    "-DKATANA_COMPONENTS=${components}"
    -DKATANA_INSTALL=ON -DKATANA_INSTALL_PROGRAMS=OFF -DKATANA_APPS=OFF -DKATANA_TESTS=OFF -DKATANA_LAB=OFF -DKATANA_WERROR=OFF
    -DKATANA_UNITY=ON "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME katana CONFIG_PATH lib/cmake/katana)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")

# SPDX-License-Identifier: Apache-2.0
