# The options, and what they set. A preset chooses the values; nothing here depends on the machine.
#
# As a subproject (add_subdirectory, FetchContent) KATANA is a library and nothing else: no programs, tests or warnings,
# and no variable, flag or folder of the project around it changes.
option(KATANA_APPS "build the servers of apps/" ${PROJECT_IS_TOP_LEVEL})
option(KATANA_TESTS "build the tests" ${PROJECT_IS_TOP_LEVEL})
option(KATANA_LAB "build the laboratory's programs" ${PROJECT_IS_TOP_LEVEL})
option(KATANA_WERROR "warn, and treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(KATANA_INSTALL "build one archive per component, and install them with headers and package files" ${PROJECT_IS_TOP_LEVEL})
option(KATANA_SHARED "one shared library per component in place of an archive" ${BUILD_SHARED_LIBS})
option(KATANA_INSTALL_PROGRAMS "build the tool katana, if all components are built, and install it" ${KATANA_INSTALL})
option(KATANA_DEBIAN "install the files that Debian packages have, for cpack" OFF)
set(KATANA_MAINTAINER "" CACHE STRING "who makes them, as 'Name <name@host>'")
set(KATANA_COMPONENTS all CACHE STRING "components to build, with what they require (docs/guides/install.md lists them)")
option(KATANA_SIMULATION "build the simulator's seeds without the other tests" OFF)
option(KATANA_MICRO "build the micro-benchmarks" OFF)
option(KATANA_FUZZ "build the libFuzzer targets (clang)" OFF)
set(KATANA_FUZZING_ENGINE -fsanitize=fuzzer CACHE STRING "what links the engine to them: a flag, or a file")
option(KATANA_NATIVE "tune for this machine's CPU" OFF)
option(KATANA_SQL_CHECKS "check the SQL of a program of apps/ also when only that program is built" ON)
option(KATANA_UNITY "compile several sources at once" OFF)
set(KATANA_UNITY_BATCH 8 CACHE STRING "so many of them, with KATANA_UNITY")
option(KATANA_PRECOMPILED "compile headers that most sources read once" OFF)
option(KATANA_LTO "link-time optimisation" OFF)
set(KATANA_SANITIZE "" CACHE STRING "sanitizers, as in -fsanitize=…")

# From here to the end variables and options of this directory change, which the project around it does not see.
set(CMAKE_CXX_EXTENSIONS OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_STANDARD 23)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()

if(KATANA_WERROR)
  add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
  # g++ 12 warns at -O3 of `"x" + std::string()` without cause (GCC 105651).
  add_compile_options($<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
endif()
if(KATANA_SHARED)
  # While the version is 0.x, each minor version is another interface.
  set(KATANA_SOVERSION ${PROJECT_VERSION_MAJOR})
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(KATANA_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  # Inline functions are each library's own, and no program replaces a function of a library: calls inside of one are direct.
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
  add_compile_options(-fno-semantic-interposition)
endif()
if(KATANA_NATIVE)
  add_compile_options(-march=native)
endif()
if(KATANA_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  # g++ 12, seeing a whole program at once, warns of fmt's parser without cause.
  add_link_options($<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
endif()
if(KATANA_SANITIZE)
  add_compile_options(-fsanitize=${KATANA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KATANA_SANITIZE})
  # Archives that nobody installs name their objects and do not repeat them.
  set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcT <TARGET> <LINK_FLAGS> <OBJECTS>")
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  # Paths in checks, records and debug information count from the root: two clones build the same archives.
  add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${PROJECT_BINARY_DIR}/=build/)
endif()

find_program(CCACHE ccache)
if(CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the root count from there: every clone is served by what another has compiled.
  set(CMAKE_C_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
  if(KATANA_PRECOMPILED)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compile-cached ${PROJECT_SOURCE_DIR} ${CCACHE})
  endif()
endif()

# One compiler run for several sources of a target: the headers of the standard library, fmt and GoogleTest are read, and
# what they instantiate is compiled, once for all of them. The dev preset builds each source by itself.
if(KATANA_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${KATANA_UNITY_BATCH})
endif()

# SPDX-License-Identifier: Apache-2.0
