# katana_check_sql(TARGET [MIGRATIONS FOLDER] [DATABASE sqlite|postgres…] [LOCK FILE] [WARNINGS_AS_ERRORS] [OPTIONAL])
#
# Compares the SQL of TARGET's sources with its migrations in each build, which fails with file and line where they do not
# fit: docs/guides/checked-sql.md. FOLDER (default: migrations) has the numbered SQL files, or a folder of them for each
# database, named sqlite and postgres. If FILE (default: sql.lock) is there, no database is asked, and `katana sql check
# --update` writes it. Both are relative to the directory of the CMakeLists.txt. OPTIONAL: without the program katana there
# is a warning, and no check.
include(${CMAKE_CURRENT_LIST_DIR}/katana-tool.cmake)

function(katana_check_sql target)
  cmake_parse_arguments(PARSE_ARGV 1 check "WARNINGS_AS_ERRORS;OPTIONAL" "MIGRATIONS;LOCK" "DATABASE")
  if(check_UNPARSED_ARGUMENTS OR NOT TARGET ${target})
    message(FATAL_ERROR "katana_check_sql(${target} ${ARGN}): ${target} has to be a target, and there is no option "
      "'${check_UNPARSED_ARGUMENTS}'")
  endif()
  if(TARGET katana_sql_checker)
    set(tool $<TARGET_FILE:katana_sql_checker>)
    set(tool_depends katana_sql_checker)
  else()
    katana_find_tool("katana_check_sql(${target})" "by which SQL is checked" "${check_OPTIONAL}")
  endif()
  if(NOT tool)
    return()
  endif()
  if(NOT check_DATABASE)
    set(check_DATABASE sqlite)
  endif()
  if(NOT check_MIGRATIONS)
    set(check_MIGRATIONS migrations)
  endif()
  if(NOT check_LOCK)
    set(check_LOCK sql.lock)
  endif()
  cmake_path(ABSOLUTE_PATH check_MIGRATIONS BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  cmake_path(ABSOLUTE_PATH check_LOCK BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)

  set(text "name ${target}\nfolder ${CMAKE_CURRENT_SOURCE_DIR}\nlock ${check_LOCK}\n")
  if(check_WARNINGS_AS_ERRORS)
    string(APPEND text "warnings errors\n")
  endif()
  set(inputs "")
  foreach(database IN LISTS check_DATABASE)
    if(NOT database MATCHES "^(sqlite|postgres)$")
      message(FATAL_ERROR "katana_check_sql(${target} DATABASE ${database}): a database is sqlite or postgres")
    endif()
    set(folder ${check_MIGRATIONS})
    if(IS_DIRECTORY ${folder}/${database})
      set(folder ${folder}/${database})
    endif()
    file(GLOB files CONFIGURE_DEPENDS ${folder}/*.sql)
    if(NOT files)
      message(FATAL_ERROR "katana_check_sql(${target}): there is no *.sql in ${folder}; name the folder by MIGRATIONS")
    endif()
    list(APPEND inputs ${files})
    string(APPEND text "dialect ${database}\nmigrations ${database} ${folder}\n")
  endforeach()
  file(GLOB lock CONFIGURE_DEPENDS ${check_LOCK})  # which may come and go

  # What the compiler writes down for the check is data that no code refers to (katana/stores/database/sql_record.hpp).
  target_compile_definitions(${target} PRIVATE KATANA_SQL_RECORDS)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-ffat-lto-objects>)
  foreach(property IN ITEMS SOURCES:source INCLUDE_DIRECTORIES:include)
    string(REGEX REPLACE "(.+):(.+)" "\\2 $<JOIN:$<TARGET_PROPERTY:${target},\\1>,\n\\2 >\n" line ${property})
    string(APPEND text "${line}")
  endforeach()
  string(APPEND text "object $<JOIN:$<TARGET_OBJECTS:${target}>,\nobject >\n")
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  set(base ${CMAKE_CURRENT_BINARY_DIR}/katana_sql/${target})
  if(is_multi_config)
    string(APPEND base -$<CONFIG>)
  endif()
  file(GENERATE OUTPUT ${base}.target CONTENT "${text}")
  add_custom_command(OUTPUT ${base}.stamp
    COMMAND ${tool} sql check ${base}.target --stamp ${base}.stamp
    DEPENDS ${target} ${tool_depends} ${inputs} ${lock} ${base}.target
    COMMENT "Checking the SQL of ${target}" VERBATIM)
  add_custom_target(${target}_sql ALL DEPENDS ${base}.stamp)

  # A build of the target alone checks it, too. The one above also notices a change of the migrations or of the lock alone.
  if(TARGET katana_sql_checker AND NOT KATANA_SQL_CHECKS)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY)$")
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${tool} sql check ${base}.target --stamp ${base}.built VERBATIM)
    if(TARGET katana_sql_checker)
      add_dependencies(${target} katana_sql_checker)
    endif()
  endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0
