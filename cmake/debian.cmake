# What `cpack` makes of an installation with prefix /usr: libkatana-dev and katana-tools, as Debian packages.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME katana)
set(CPACK_PACKAGE_VENDOR "The KATANA authors")
set(CPACK_PACKAGE_CONTACT "The KATANA authors <katana@localhost.localdomain>")
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
"C++23 framework for network services (development files)
 HTTP servers and clients, WebSocket, TLS, logs, metrics, configuration,
 databases and tests of services, on epoll and io_uring.
 .
 Headers, static libraries, and the files by which CMake and pkg-config find
 them.")
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_NAME katana-tools)
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_KATANA-PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_KATANA-PROGRAMS_DESCRIPTION
"tools for services written with KATANA
 katana makes projects, rebuilds and restarts them as they change, reads binary
 logs, and applies migrations to a database of SQLite.")

# Debian wants a copyright file and a changelog in a folder of each package.
file(READ LICENSE licence)
file(READ NOTICE notice)
file(WRITE ${katana_generated}/copyright "${notice}\n${licence}")
file(WRITE ${katana_generated}/changelog "katana (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}; CHANGELOG.md of the sources says what changed.

 -- ${CPACK_PACKAGE_CONTACT}  Thu, 01 Jan 2026 00:00:00 +0000
")
file(ARCHIVE_CREATE OUTPUT ${katana_generated}/changelog.gz PATHS ${katana_generated}/changelog FORMAT raw COMPRESSION GZip
  COMPRESSION_LEVEL 9 MTIME "2026-01-01")
install(FILES ${katana_generated}/copyright ${katana_generated}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libkatana-dev COMPONENT katana-development)
if(KATANA_INSTALL_PROGRAMS)
  list(APPEND CPACK_COMPONENTS_ALL katana-programs)
  install(FILES ${katana_generated}/copyright ${katana_generated}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/katana-tools COMPONENT katana-programs)
endif()
include(CPack)
