# The bill of materials (SPDX 2.3, JSON) that an installation writes of itself: the files that it installed, with their
# checksums, the components, the libraries that each links, their versions found here, and licences. Installed whole it is
# katana.spdx.json; an installation of one CMake component writes one of its own, katana-development.spdx.json and so on.
#
# Comes last, since it lists what was installed before it. SOURCE_DATE_EPOCH sets its date.

# The name and the version of a library, as it was found.
function(katana_describe_external target name version)
  get_property(package GLOBAL PROPERTY "KATANA_EXTERNAL_${target}_PACKAGE")
  get_property(modules GLOBAL PROPERTY "KATANA_EXTERNAL_${target}_PKG_CONFIG")
  string(REGEX REPLACE "^.*::" "" prefix ${target})
  list(GET modules 0 module)
  string(REGEX REPLACE "[<>=].*$" "" module ${module})
  set(found "")
  if(package)
    list(GET package 0 prefix)
    string(TOUPPER ${prefix} upper)
    set(candidates ${prefix}_VERSION ${upper}_VERSION ${upper}_VERSION_STRING)
  else()
    set(candidates ${prefix}_VERSION ${prefix}_${module}_VERSION)
  endif()
  foreach(variable IN LISTS candidates)
    if(NOT found AND ${variable})
      set(found ${${variable}})
    endif()
  endforeach()
  set(${name} ${prefix} PARENT_SCOPE)
  set(${version} "${found}" PARENT_SCOPE)
endfunction()

set(katana_sbom "set(version ${PROJECT_VERSION})\nset(components ${katana_installed})\n")
set(katana_seen "")
foreach(component IN LISTS katana_installed)
  foreach(field IN ITEMS requires externals)
    get_property(${field} GLOBAL PROPERTY KATANA_COMPONENT_${component}_${field})
  endforeach()
  set(names "")
  foreach(external IN LISTS externals)
    get_property(licence GLOBAL PROPERTY "KATANA_EXTERNAL_${external}_LICENCE")
    if(NOT licence)
      continue()
    endif()
    katana_describe_external(${external} name found)
    list(APPEND names ${name})  # OpenSSL once, whichever part
    if(NOT name IN_LIST katana_seen)
      list(APPEND katana_seen ${name})
      string(APPEND katana_sbom "set(library_${name} \"${found}\" \"${licence}\")\n")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  string(APPEND katana_sbom "set(requires_${component} ${requires})\nset(libraries_${component} ${names})\n")
endforeach()
if(KATANA_INSTALL_PROGRAMS AND TARGET katana_tool)
  # What the tool links, which is not a component.
  string(APPEND katana_sbom "set(library_CLI11 \"${CLI11_VERSION}\" BSD-3-Clause)\n"
    "set(libraries_programs fmt simdjson yaml-cpp sqlite3 OpenSSL libargon2 CLI11)\n")
  list(APPEND katana_seen CLI11)
endif()
string(APPEND katana_sbom "set(libraries ${katana_seen})\nset(folder ${CMAKE_INSTALL_DATADIR}/sbom)\n")
file(WRITE ${katana_generated}/sbom.cmake "${katana_sbom}include(${PROJECT_SOURCE_DIR}/cmake/sbom-write.cmake)\n")
install(SCRIPT ${katana_generated}/sbom.cmake ALL_COMPONENTS)

# SPDX-License-Identifier: Apache-2.0
