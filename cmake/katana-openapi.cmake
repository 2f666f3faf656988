# katana_openapi(TARGET FILE [NAMESPACE NAME] [SOURCES NUMBER] [CLIENT] [NO_SERVER] [GROUP_BY_PATH] [ALLOW_PARTIAL])
#
# The code of an OpenAPI description as a part of TARGET: `#include "api.hpp"` has its structs and interfaces, made by
# `katana openapi generate` when FILE, or a file that it refers to, changes: docs/guides/openapi-spec-first.md. FILE is
# relative to the directory of the CMakeLists.txt; NAMESPACE is api unless it is given. CLIENT: typed clients, too, for which TARGET links
# katana::openapi_client; NO_SERVER: no interfaces and routes. SOURCES, 1 unless it is given: in how many sources the tags are compiled, at
# once where there are processors. A hundred operations take a compiler 20 s and 2 GB. GROUP_BY_PATH: what has no tag has its path's first word
# as one, in the place of a single group.
include(${CMAKE_CURRENT_LIST_DIR}/katana-tool.cmake)

function(katana_openapi target file)
  cmake_parse_arguments(PARSE_ARGV 2 openapi "CLIENT;NO_SERVER;GROUP_BY_PATH;ALLOW_PARTIAL" "NAMESPACE;SOURCES" "")
  if(openapi_UNPARSED_ARGUMENTS OR NOT TARGET ${target})
    message(FATAL_ERROR "katana_openapi(${target} ${file} ${ARGN}): ${target} has to be a target, and there is no option "
      "'${openapi_UNPARSED_ARGUMENTS}'")
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "katana_openapi(${target}): there is no ${file}")
  endif()
  katana_find_tool("katana_openapi(${target})" "which makes the code" OFF)
  if(NOT openapi_NAMESPACE)
    set(openapi_NAMESPACE api)
  endif()
  set(flags "")
  if(openapi_CLIENT)
    list(APPEND flags --client)
  endif()
  if(openapi_NO_SERVER)
    list(APPEND flags --no-server)
  endif()
  if(openapi_GROUP_BY_PATH)
    list(APPEND flags --group-by-path)
  endif()
  if(openapi_ALLOW_PARTIAL)
    list(APPEND flags --allow-partial)
  endif()
  if(NOT openapi_SOURCES)
    set(openapi_SOURCES 1)
  endif()
  if(NOT openapi_SOURCES MATCHES "^[1-9][0-9]?[0-9]?$")
    message(FATAL_ERROR "katana_openapi(${target}): SOURCES ${openapi_SOURCES} is no number from 1 to 999")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/katana_openapi/${target}_${openapi_NAMESPACE})
  # Files for each tag are not known before; these include them.
  set(sources ${folder}/api.cpp)
  foreach(number RANGE 2 ${openapi_SOURCES})
    if(NOT number GREATER openapi_SOURCES) # RANGE 2 1 counts down
      list(APPEND sources ${folder}/api_${number}.cpp)
    endif()
  endforeach()
  add_custom_command(OUTPUT ${sources} ${folder}/api.hpp
    COMMAND ${tool} openapi generate ${file} --out ${folder} --namespace ${openapi_NAMESPACE} --sources ${openapi_SOURCES} ${flags}
      --quiet --depfile ${folder}.d
    COMMAND ${CMAKE_COMMAND} -E touch ${sources} ${folder}/api.hpp
    DEPENDS ${file} ${tool_depends}
    DEPFILE ${folder}.d
    COMMENT "Generating ${openapi_NAMESPACE} from ${file}" VERBATIM)
  target_sources(${target} PRIVATE ${sources} ${folder}/api.hpp)
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()

# SPDX-License-Identifier: Apache-2.0
