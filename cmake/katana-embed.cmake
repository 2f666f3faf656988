# katana_embed_migrations(TARGET FOLDER)
#
# The numbered SQL files of FOLDER as a part of the program: TARGET finds migrations.hpp, which has
# `katana::embedded::migrations()` for ApplicationOptions::migrations. A file that changes, comes or goes is noticed by the
# next build.
function(katana_embed_migrations target folder)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.sql)
  if(NOT files)
    message(FATAL_ERROR "katana_embed_migrations(${target} ${folder}): there is no *.sql in ${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
  endif()
  set(text "// Made from ${folder}/ by katana_embed_migrations().\n#pragma once\n\n#include <vector>\n\n")
  string(APPEND text "#include \"katana/stores/database/migrations.hpp\"\n\nnamespace katana::embedded {\n\n")
  string(APPEND text "inline std::vector<database::MigrationFile> migrations() {\n  return {\n")
  foreach(path IN LISTS files)
    get_filename_component(name ${path} NAME)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} content)
    if(content MATCHES "\\)katana_sql\"")
      message(FATAL_ERROR "${path}: the text )katana_sql\" cannot be embedded")
    endif()
    string(APPEND text "      {\"${name}\", R\"katana_sql(${content})katana_sql\"},\n")
  endforeach()
  string(APPEND text "  };\n}\n\n}  // namespace katana::embedded\n")
  set(header ${CMAKE_CURRENT_BINARY_DIR}/katana_embedded/${target}/migrations.hpp)
  file(WRITE ${header}.new "${text}")
  file(COPY_FILE ${header}.new ${header} ONLY_IF_DIFFERENT)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/katana_embedded/${target})
endfunction()

# SPDX-License-Identifier: Apache-2.0
