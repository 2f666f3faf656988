# katana_embed(TARGET HEADER file…)
#
# Files as constants of the program: HEADER, in the build folder, has a `char NAME[]` for each file, named after it with
# `_` for whatever is no letter or digit. A file that changes is read again before the next build. In the namespace
# `katana::embedded`.
function(katana_embed target header)
  set(text "// Made from files by cmake/embed.cmake.\n#pragma once\n\nnamespace katana::embedded {\n")
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} content)
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" constant "file_${name}")
    string(APPEND text "inline constexpr char ${constant}[] = R\"katana(${content})katana\";\n")
  endforeach()
  string(APPEND text "}  // namespace katana::embedded\n")
  set(path ${CMAKE_CURRENT_BINARY_DIR}/embedded/${header})
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded)
endfunction()

# SPDX-License-Identifier: Apache-2.0
