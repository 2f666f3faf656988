# What `cpack` makes of an installation with prefix /usr: libkatana-dev and katana-tools, as Debian packages.
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

# What an archive's user links, by the components that are installed.
set(depends "libstdc++-12-dev | libstdc++-14-dev")
foreach(name IN LISTS katana_installed)
  get_property(externals GLOBAL PROPERTY KATANA_COMPONENT_${name}_externals)
  foreach(external IN LISTS externals)
    get_property(packages GLOBAL PROPERTY "KATANA_EXTERNAL_${external}_DEBIAN")
    separate_arguments(packages)
    list(APPEND depends ${packages})
  endforeach()
endforeach()
list(REMOVE_DUPLICATES depends)
list(JOIN depends ", " depends)
set(CPACK_DEBIAN_KATANA-DEVELOPMENT_PACKAGE_NAME libkatana-dev)
set(CPACK_DEBIAN_KATANA-DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_KATANA-DEVELOPMENT_PACKAGE_DEPENDS "${depends}")
set(CPACK_COMPONENT_KATANA-DEVELOPMENT_DESCRIPTION
"Headers, static libraries, and the files by which CMake and pkg-config find them: HTTP servers and clients, WebSocket, TLS,
logs, metrics, configuration, databases and tests of services, on epoll and io_uring.")
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_NAME katana-tools)
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_KATANA-PROGRAMS_DESCRIPTION
"Tools for services that are written with KATANA: katana makes projects, rebuilds and restarts them as they change, reads
binary logs, and applies migrations to a database of SQLite.")

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
install(FILES ${katana_generated}/copyright ${katana_generated}/changelog.gz NOTICE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libkatana-dev COMPONENT katana-development)
if(KATANA_INSTALL_PROGRAMS)
  list(APPEND CPACK_COMPONENTS_ALL katana-programs)
  install(FILES ${katana_generated}/copyright ${katana_generated}/changelog.gz NOTICE
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/katana-tools COMPONENT katana-programs)
endif()
include(CPack)

# SPDX-License-Identifier: Apache-2.0
