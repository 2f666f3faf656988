# katana_lint(TARGET [OPTIONAL])
#
# Runs `katana lint` over TARGET's sources in each build that changes one, and fails it where an awaited expression is one that
# g++ 12 compiles wrongly (docs/concepts/lifetimes.md). The headers beside the sources are read, too. OPTIONAL: without the
# program katana there is a warning, and no check.
include(${CMAKE_CURRENT_LIST_DIR}/katana-tool.cmake)

function(katana_lint target)
  cmake_parse_arguments(PARSE_ARGV 1 lint "OPTIONAL" "" "")
  if(lint_UNPARSED_ARGUMENTS OR NOT TARGET ${target})
    message(FATAL_ERROR "katana_lint(${target} ${ARGN}): ${target} has to be a target, and there is no option "
      "'${lint_UNPARSED_ARGUMENTS}'")
  endif()
  set_property(GLOBAL PROPERTY katana_is_linted ON)
  katana_find_tool("katana_lint(${target})" "by which sources are checked" "${lint_OPTIONAL}")
  if(NOT tool)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(files "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
    # What the build makes is not the project's to change.
    if(NOT source MATCHES "[.](cpp|cc|cxx|hpp|hh|hxx|h)$" OR source MATCHES "[$]<" OR source MATCHES "^${CMAKE_BINARY_DIR}/")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH beside)
    file(GLOB headers CONFIGURE_DEPENDS ${beside}/*.hpp ${beside}/*.hh ${beside}/*.hxx ${beside}/*.h)
    list(APPEND files ${source} ${headers})
  endforeach()
  list(REMOVE_DUPLICATES files)
  if(NOT files)
    message(FATAL_ERROR "katana_lint(${target}): the target has no C++ source")
  endif()
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/katana_lint/${target}.stamp)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/katana_lint)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${tool} lint ${files} --stamp ${stamp}
    DEPENDS ${files} ${tool_depends}
    COMMENT "Checking what ${target} awaits" VERBATIM)
  add_custom_target(${target}_lint ALL DEPENDS ${stamp})
  add_dependencies(${target} ${target}_lint)  # first: what is wrong is said before it is compiled
endfunction()

# Called at the end of the project: g++ 12 says nothing itself.
function(katana_warn_without_lint)
  get_property(is_linted GLOBAL PROPERTY katana_is_linted)
  if(NOT is_linted)
    message(WARNING "g++ 12 compiles some awaited expressions wrongly, without a message, and such a program dies. "
      "katana_lint(TARGET) after add_executable() or add_library() finds them in each build; -DKATANA_LINT_WARNING=OFF ends "
      "this warning.")
  endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0
