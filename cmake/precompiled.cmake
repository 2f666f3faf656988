# With KATANA_PRECOMPILED: headers that most sources read are compiled once, for all targets that are compiled alike: a small
# program takes a third to a half of the time. A change of one of these headers compiles nearly all again, so the dev preset is
# without them. A source must still include what it uses: there nobody else does. With clang every target has them; with g++
# the modules and fullstack, which is what `make run` compiles.

set(katana_precompiled_headers
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <coroutine> <cstdint> <cstdio> <cstring> <deque> <exception>
  <expected> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <optional> <random> <ranges> <set> <span>
  <sstream> <string> <string_view> <thread> <tuple> <type_traits> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> katana/base/values/described.hpp katana/base/system/result.hpp katana/base/coroutine/task.hpp)
# What links one of these modules has its headers, too. (Not katana/testing: its namespace hides that of GoogleTest.)
set(katana_precompiled_headers_http_handlers
  katana/data/container/json_read.hpp katana/data/container/json_write.hpp katana/http/handlers/json.hpp katana/http/handlers/router.hpp)
set(katana_precompiled_headers_http_server ${katana_precompiled_headers_http_handlers} katana/http/server/http_server.hpp)
set(katana_precompiled_headers_app ${katana_precompiled_headers_http_server} katana/app/application.hpp)
set(katana_precompiled_headers_tests
  <gmock/gmock.h> <gtest/gtest.h>)

# Whether a target links another one, directly or through others.
function(katana_links target wanted result)
  get_property(known GLOBAL PROPERTY KATANA_LINKS_${target}_${wanted})
  if("${known}" STREQUAL "")
    set_property(GLOBAL PROPERTY KATANA_LINKS_${target}_${wanted} OFF)  # for circles
    set(known OFF)
    set(links "")
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(listed ${target} ${property})
      if(listed)
        list(APPEND links ${listed})
      endif()
    endforeach()
    foreach(link IN LISTS links)
      if(link STREQUAL wanted)
        set(known ON)
      elseif(TARGET ${link} AND NOT known)
        katana_links(${link} ${wanted} known)
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY KATANA_LINKS_${target}_${wanted} ${known})
  endif()
  set(${result} ${known} PARENT_SCOPE)
endfunction()

# All targets of a folder and those below it.
function(katana_targets_below folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    katana_targets_below(${below} more)
    list(APPEND targets ${more})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# Lets a target use the headers that suit it, compiled with its flags; unless it has definitions that these could see.
function(katana_precompile_for_clang target)
  get_target_property(type ${target} TYPE)
  get_target_property(definitions ${target} COMPILE_DEFINITIONS)
  list(FILTER definitions EXCLUDE REGEX "^KATANA_VERSION=|NOTFOUND$")  # no header has it
  get_target_property(sources ${target} SOURCES)
  katana_links(${target} katana_base is_ours)
  if(NOT type MATCHES "^(EXECUTABLE|STATIC_LIBRARY)$" OR definitions OR NOT sources MATCHES "\\.cpp" OR NOT is_ours)
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  list(FILTER options INCLUDE REGEX "^-(O|fsanitize=fuzzer)")
  set(name katana_precompiled)
  set(headers ${katana_precompiled_headers})
  set(links fmt::fmt)
  if(options)
    string(MAKE_C_IDENTIFIER "${options}" suffix)
    string(APPEND name ${suffix})
  endif()
  foreach(module app http_server http_handlers)  # a program must also link what inline functions of their headers need
    katana_links(${target} katana_${module} has_module)
    if(has_module)
      string(APPEND name _${module})
      list(APPEND headers ${katana_precompiled_headers_${module}})
      list(APPEND links simdjson::simdjson)
      break()
    endif()
  endforeach()
  katana_links(${target} GTest::gmock is_test)
  if(is_test)
    string(APPEND name _tests)
    list(APPEND headers ${katana_precompiled_headers_tests})
    list(APPEND links GTest::gmock Threads::Threads)
  endif()
  if(NOT TARGET ${name})
    katana_precompiled_target(${name} "${links}" "${headers}" "${options}")
  endif()
  set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM ${name})
endfunction()

# A target that is nothing but its headers. Of libraries it links those from outside: KATANA's wait for it.
function(katana_precompiled_target name links headers options)
  set(source ${PROJECT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Only its headers matter.\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE ${links})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${options})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Without the time of each header in it, which ccache would find different in every clone.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  list(TRANSFORM headers REPLACE "^katana/.*" "\"${PROJECT_SOURCE_DIR}/\\0\"")
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

# The same for g++, which needs seconds and 100 MB for each set of headers. There are two: what every module may read, and
# what modules above http/handlers read, too. g++ takes them at another -O level, but not with another definition: they link
# fmt alone (none of these headers includes simdjson.h), and not as position-independent code where a program has other flags.
function(katana_precompile_for_gcc target)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(EXECUTABLE|STATIC_LIBRARY)$" OR target STREQUAL "katana_base" OR KATANA_SHARED)
    return()
  endif()
  katana_links(${target} katana_http_handlers has_handlers)
  if(has_handlers OR target STREQUAL "katana_http_handlers")
    set(name katana_precompiled_http_server)
    set(headers ${katana_precompiled_headers} ${katana_precompiled_headers_http_server})
  else()
    set(name katana_precompiled)
    set(headers ${katana_precompiled_headers})
  endif()
  if(NOT TARGET ${name})
    katana_precompiled_target(${name} fmt::fmt "${headers}" "")
  endif()
  set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM ${name})
endfunction()

function(katana_precompile_all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    get_property(modules GLOBAL PROPERTY KATANA_MODULES)
    katana_targets(targets ${modules})
    foreach(target IN LISTS targets ITEMS fullstack)
      if(TARGET ${target})
        katana_precompile_for_gcc(${target})
      endif()
    endforeach()
    return()
  endif()
  katana_targets_below(${PROJECT_SOURCE_DIR} targets)
  foreach(target IN LISTS targets)
    katana_precompile_for_clang(${target})
  endforeach()
endfunction()

# At the very end, when every target has its flags.
cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL katana_precompile_all)

# SPDX-License-Identifier: Apache-2.0
