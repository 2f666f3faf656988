# The files of the docs page (katana/openapi/document/swagger_ui): Swagger UI is not in the repository, and nothing is
# fetched by a build. KATANA_SWAGGER_UI is the folder swagger-ui-dist, of npm's package of that name or of PyPI's
# drf-spectacular-sidecar; tools/setup puts the latter where it is found. Without it the docs page says what to install.
set(swagger_ui_target katana_openapi_document_swagger_ui)
if(NOT TARGET ${swagger_ui_target})
  return()
endif()
set(KATANA_SWAGGER_UI "" CACHE PATH "the folder swagger-ui-dist; empty: that of tools/setup, if it is there")
set(swagger_ui_folder ${KATANA_SWAGGER_UI})
if(NOT swagger_ui_folder)
  set(swagger_ui_folder ${PROJECT_SOURCE_DIR}/.assets/swagger-ui-dist)
endif()
set(swagger_ui_files swagger-ui-bundle.js swagger-ui.css favicon-32x32.png oauth2-redirect.html oauth2-redirect.js)
set(swagger_ui_missing "")
foreach(name IN LISTS swagger_ui_files)
  if(NOT EXISTS ${swagger_ui_folder}/${name})
    list(APPEND swagger_ui_missing ${name})
  endif()
endforeach()
find_program(KATANA_GZIP gzip)
mark_as_advanced(KATANA_GZIP)
if(swagger_ui_missing OR NOT KATANA_GZIP)
  if(KATANA_SWAGGER_UI)
    list(JOIN swagger_ui_missing ", " swagger_ui_missing)
    message(FATAL_ERROR "KATANA_SWAGGER_UI: ${KATANA_SWAGGER_UI} lacks ${swagger_ui_missing}, or there is no gzip")
  endif()
  message(STATUS "KATANA: the docs page is built without Swagger UI: run tools/setup, or name the folder swagger-ui-dist "
    "by -DKATANA_SWAGGER_UI=FOLDER")
  return()
endif()

# The version of a path is that of the content.
file(SHA256 ${swagger_ui_folder}/swagger-ui-bundle.js swagger_ui_hash)
string(SUBSTRING ${swagger_ui_hash} 0 12 swagger_ui_version)
set(swagger_ui_generated ${PROJECT_BINARY_DIR}/swagger_ui/${swagger_ui_version})
foreach(name IN LISTS swagger_ui_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${swagger_ui_folder}/${name})
  if(NOT EXISTS ${swagger_ui_generated}/${name}.gz)
    file(MAKE_DIRECTORY ${swagger_ui_generated})
    execute_process(COMMAND ${KATANA_GZIP} -9 -n -c ${swagger_ui_folder}/${name} OUTPUT_FILE ${swagger_ui_generated}/${name}.part
      COMMAND_ERROR_IS_FATAL ANY)
    file(RENAME ${swagger_ui_generated}/${name}.part ${swagger_ui_generated}/${name}.gz)
  endif()
endforeach()
target_compile_definitions(${swagger_ui_target} PRIVATE
  KATANA_SWAGGER_UI="${swagger_ui_generated}" KATANA_SWAGGER_UI_VERSION="${swagger_ui_version}")
# Symbols of an assembler text are unknown to link-time optimisation.
set_target_properties(${swagger_ui_target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
target_compile_options(${swagger_ui_target} PRIVATE -fno-lto)

# SPDX-License-Identifier: Apache-2.0
