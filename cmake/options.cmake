# Flags shared by every target. A preset chooses the values; nothing here depends on the machine.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(KATANA_TESTS "build the tests" ON)
option(KATANA_SIMULATION "build the simulator's seeds without the other tests" OFF)
option(KATANA_LAB "build the laboratory's programs" ON)
option(KATANA_MICRO "build the micro-benchmarks" OFF)
option(KATANA_FUZZ "build the libFuzzer targets (clang)" OFF)
option(KATANA_NATIVE "tune for this machine's CPU" OFF)
option(KATANA_UNITY "compile several sources at once" OFF)
set(KATANA_UNITY_BATCH 8 CACHE STRING "so many of them, with KATANA_UNITY")
option(KATANA_LTO "link-time optimisation" OFF)
set(KATANA_SANITIZE "" CACHE STRING "sanitizers, as in -fsanitize=…")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
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
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Paths below the root count from there: every clone is served by what another has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# One compiler run for several sources of a target: the headers of the standard library, fmt and GoogleTest are read, and
# what they instantiate is compiled, once for all of them. The dev preset builds each source by itself.
if(KATANA_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${KATANA_UNITY_BATCH})
endif()
