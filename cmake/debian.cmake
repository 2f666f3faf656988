# What `cpack` makes of an installation with prefix /usr: libkatana-dev, with KATANA_SHARED libkatana0, and katana-tools, as
# Debian packages.
if(NOT KATANA_MAINTAINER MATCHES "^.+ <.+@.+>$")
  message(FATAL_ERROR "KATANA_DEBIAN: say who makes the packages, -DKATANA_MAINTAINER='Name <name@host>'")
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME katana)
set(CPACK_PACKAGE_VENDOR "The KATANA authors")
set(CPACK_PACKAGE_CONTACT "${KATANA_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL katana-development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Debian's packages of what the installed components link, those of the components named and of what they require; for one
# that is not installed, nothing.
function(katana_debian_packages result)
  set(wanted ${ARGN})
  set(found "")
  set(backwards ${katana_installed})
  list(REVERSE backwards)
  foreach(name IN LISTS backwards)
    if(name IN_LIST wanted)
      get_property(requires GLOBAL PROPERTY KATANA_COMPONENT_${name}_requires)
      get_property(externals GLOBAL PROPERTY KATANA_COMPONENT_${name}_externals)
      list(APPEND wanted ${requires})
      foreach(external IN LISTS externals)
        get_property(packages GLOBAL PROPERTY "KATANA_EXTERNAL_${external}_DEBIAN")
        list(APPEND found ${packages})
      endforeach()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  list(SORT found)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# A server and a client are what everybody has: Depends. A whole program with SQLite: Recommends. The rest, such as
# PostgreSQL and other codecs: Suggests. find_package() names what is missing for a component.
katana_debian_packages(depends base http client testing)
katana_debian_packages(recommends application_sqlite testing_application)
katana_debian_packages(suggests ${katana_installed})
list(REMOVE_ITEM recommends ${depends})
list(REMOVE_ITEM suggests ${depends} ${recommends})
list(APPEND depends "libstdc++-12-dev | libstdc++-14-dev")
if(KATANA_SHARED)
  list(APPEND depends "libkatana0 (= ${PROJECT_VERSION})")
endif()
foreach(field IN ITEMS depends recommends suggests)
  list(JOIN ${field} ", " value)
  string(TOUPPER ${field} upper)
  set(CPACK_DEBIAN_KATANA-DEVELOPMENT_PACKAGE_${upper} "${value}")
endforeach()
set(CPACK_DEBIAN_KATANA-DEVELOPMENT_PACKAGE_NAME libkatana-dev)
set(CPACK_DEBIAN_KATANA-DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_KATANA-DEVELOPMENT_DESCRIPTION
"Headers, libraries to link, and the files by which CMake and pkg-config find
them: HTTP servers and clients, WebSocket, TLS, logs, metrics, configuration,
databases and tests of services, on epoll and io_uring.")

# The shared libraries. Its name stays while versions are 0.x; each minor version has libraries of other names, so that what
# links them asks for its own (shlibs).
if(KATANA_SHARED)
  list(APPEND CPACK_COMPONENTS_ALL katana-runtime)
  set(CPACK_DEBIAN_KATANA-RUNTIME_PACKAGE_NAME libkatana0)
  set(CPACK_DEBIAN_KATANA-RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_KATANA-RUNTIME_PACKAGE_SHLIBDEPS ON)
  set(CPACK_COMPONENT_KATANA-RUNTIME_DESCRIPTION
"Shared libraries of KATANA: what services that are written with it link, one
for each component.")
  math(EXPR next_minor "${PROJECT_VERSION_MINOR} + 1")
  set(shlibs "")
  foreach(name IN LISTS katana_installed)
    get_target_property(kind katana_component_${name} TYPE)
    if(kind STREQUAL "SHARED_LIBRARY")
      string(APPEND shlibs "libkatana-${name} ${KATANA_SOVERSION} libkatana0 (>= ${PROJECT_VERSION}), libkatana0 (<< "
        "${PROJECT_VERSION_MAJOR}.${next_minor}~)\n")
    endif()
  endforeach()
  file(WRITE ${katana_generated}/shlibs "${shlibs}")
  file(WRITE ${katana_generated}/triggers "activate-noawait ldconfig\n")
  file(CHMOD ${katana_generated}/shlibs ${katana_generated}/triggers PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  set(CPACK_DEBIAN_KATANA-RUNTIME_PACKAGE_CONTROL_EXTRA "${katana_generated}/shlibs;${katana_generated}/triggers")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
endif()
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_NAME katana-tools)
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_KATANA-PROGRAMS_DESCRIPTION
"Tools for services that are written with KATANA: katana makes projects,
rebuilds and restarts them as they change, reads binary logs, and applies
migrations to a database of SQLite.")

# Debian wants a copyright file and a changelog in a folder of each package.
file(WRITE ${katana_generated}/copyright "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: KATANA

Files: *
Copyright: 2026 The KATANA authors
License: Apache-2.0
 On Debian systems, the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0. NOTICE, beside this file, names the
 libraries that programs with KATANA link, and their licences.
")
file(WRITE ${katana_generated}/changelog "\
katana (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}. CHANGELOG.md of the sources says what changed.

 -- ${KATANA_MAINTAINER}  Thu, 01 Jan 2026 00:00:00 +0000
")
execute_process(COMMAND gzip -9 --no-name --force ${katana_generated}/changelog COMMAND_ERROR_IS_FATAL ANY)
if(KATANA_INSTALL_PROGRAMS)
  list(APPEND CPACK_COMPONENTS_ALL katana-programs)
endif()
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES ${katana_generated}/copyright ${katana_generated}/changelog.gz NOTICE
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${component})
endforeach()
# Packages of the same sources are the same: cpack takes the times of files as they were staged.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package-times.cmake)
include(CPack)

# SPDX-License-Identifier: Apache-2.0
