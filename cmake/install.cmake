# What `cmake --install` writes: for each component its archive or shared library, headers, targets and pkg-config file. Nothing of it has
# a path of the build or of the prefix in it, so the tree may be moved.
include(CMakePackageConfigHelpers)
set(katana_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/katana)
set(katana_pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(katana_generated ${PROJECT_BINARY_DIR}/package)

# The headers of a folder, without those of tests.
function(katana_install_headers folder)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
  list(FILTER headers EXCLUDE REGEX "_(test|fuzz)\\.hpp$")
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT katana-development)
endfunction()

# katana-NAME.pc. Whatever uses an archive links all it requires, and headers show types of these: nothing is private.
function(katana_install_pkgconfig name requires externals)
  list(TRANSFORM requires REPLACE "(.+)" "katana-\\1 = ${PROJECT_VERSION}")
  set(libs "")
  foreach(external IN LISTS externals)
    get_property(modules GLOBAL PROPERTY "KATANA_EXTERNAL_${external}_PKG_CONFIG")
    list(TRANSFORM modules REPLACE ">=" " >= ")
    list(APPEND requires ${modules})
    get_property(flags GLOBAL PROPERTY "KATANA_EXTERNAL_${external}_LIBS")
    list(APPEND libs ${flags})
  endforeach()
  get_target_property(kind katana_component_${name} TYPE)
  if(NOT kind STREQUAL "INTERFACE_LIBRARY")
    list(PREPEND libs "-L\${libdir} -lkatana-${name}")
  endif()
  set(definitions "")
  if(name STREQUAL "base" AND katana_definitions)
    set(definitions " -D${katana_definitions}")
  endif()
  list(JOIN requires ", " requires)
  list(JOIN libs " " libs)
  get_property(about GLOBAL PROPERTY KATANA_COMPONENT_${name}_about)
  file(RELATIVE_PATH prefix /prefix/${katana_pkgconfig_folder} /prefix)
  file(CONFIGURE OUTPUT ${katana_generated}/katana-${name}.pc @ONLY CONTENT
"prefix=\${pcfiledir}/@prefix@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: katana-@name@
Description: KATANA: @about@
Version: @PROJECT_VERSION@
Requires: @requires@
Libs: @libs@
Cflags: -I\${includedir}@definitions@
")
  install(FILES ${katana_generated}/katana-${name}.pc DESTINATION ${katana_pkgconfig_folder} COMPONENT katana-development)
endfunction()

# Whether memory of pools is poisoned for AddressSanitizer is decided once: a program under the sanitizer would poison
# what an archive without it takes up again.
set(katana_definitions "")
if(NOT "${KATANA_SANITIZE} ${CMAKE_CXX_FLAGS}" MATCHES "address")
  set(katana_definitions KATANA_WITHOUT_POISON)
  target_compile_definitions(katana_component_base INTERFACE $<INSTALL_INTERFACE:${katana_definitions}>)
endif()

katana_chosen_components(katana_installed)
set(katana_rows "set(katana_components ${katana_installed})\n")
katana_install_headers(katana)
foreach(name IN LISTS katana_installed)
  foreach(field IN ITEMS modules requires externals)
    get_property(${field} GLOBAL PROPERTY KATANA_COMPONENT_${name}_${field})
  endforeach()
  foreach(module IN LISTS modules)
    katana_install_headers(katana/${module})
    get_property(below GLOBAL PROPERTY KATANA_FOLDERS_${module})
    foreach(folder IN LISTS below)
      katana_install_headers(katana/${module}/${folder})
    endforeach()
  endforeach()
  install(TARGETS katana_component_${name} EXPORT katana-${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT katana-development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT katana-runtime NAMELINK_COMPONENT katana-development)
  install(EXPORT katana-${name} NAMESPACE katana:: FILE katana-${name}-targets.cmake
    DESTINATION ${katana_package_folder} COMPONENT katana-development)
  katana_install_pkgconfig(${name} "${requires}" "${externals}")
  string(APPEND katana_rows "set(katana_${name}_requires ${requires})\nset(katana_${name}_externals ${externals})\n")
endforeach()

string(REPLACE ";" " " katana_rows "${katana_rows}")
file(WRITE ${katana_generated}/katana-components.cmake "# Made by cmake/install.cmake.\n${katana_rows}")
write_basic_package_version_file(${katana_generated}/katana-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/katana-config.cmake cmake/katana-embed.cmake cmake/katana-openapi.cmake cmake/katana-openapi-document.cmake
              cmake/katana-sql.cmake cmake/katana-lint.cmake cmake/katana-tool.cmake ${katana_generated}/katana-config-version.cmake
              ${katana_generated}/katana-components.cmake
  DESTINATION ${katana_package_folder} COMPONENT katana-development)
install(FILES cmake/externals.cmake RENAME katana-externals.cmake
  DESTINATION ${katana_package_folder} COMPONENT katana-development)
# Printers of gdb, and its commands for coroutines.
install(FILES packaging/gdb/katana.py DESTINATION ${CMAKE_INSTALL_DATADIR}/katana/gdb COMPONENT katana-development)
if(KATANA_DEBIAN)
  include(cmake/debian.cmake)
else()
  install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT katana-development)
endif()


# SPDX-License-Identifier: Apache-2.0
