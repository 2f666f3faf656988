# katana_openapi_document(TARGET FILE [DOCUMENT NAME] [ARGUMENTS argument…] [NO_TEST])
#
# Keeps the OpenAPI document of the program TARGET in the repository, as FILE beside the CMakeLists.txt:
#
#   cmake --build build --target TARGET_openapi   writes it
#   ctest -R TARGET_openapi                       fails when it is not what the program serves, and shows what differs
#
# Nothing is started for it: docs/guides/openapi.md. NAME: of several documents, this one. The arguments are for the
# program, as --set or --config. NO_TEST: the file is only written.
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${PROGRAM} --print-openapi ${ARGUMENTS} OUTPUT_FILE ${MADE} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} --print-openapi failed: ${status}")
  endif()
  if(WRITE)
    file(COPY_FILE ${MADE} ${FILE} ONLY_IF_DIFFERENT)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${MADE} ${FILE} RESULT_VARIABLE differs ERROR_QUIET)
  if(differs)
    find_program(diff diff NO_CACHE)
    if(diff AND EXISTS ${FILE})
      execute_process(COMMAND ${diff} -u --label ${FILE} --label "the program's" ${FILE} ${MADE})
    endif()
    message(FATAL_ERROR "${FILE} is not what the program serves. If the change is meant, write it anew: "
      "cmake --build <build> --target ${NAME}")
  endif()
  return()
endif()

set_property(GLOBAL PROPERTY katana_openapi_document_script ${CMAKE_CURRENT_LIST_FILE})
function(katana_openapi_document target file)
  cmake_parse_arguments(PARSE_ARGV 2 document "NO_TEST" "DOCUMENT" "ARGUMENTS")
  if(document_UNPARSED_ARGUMENTS OR NOT TARGET ${target})
    message(FATAL_ERROR "katana_openapi_document(${target} ${file} ${ARGN}): ${target} has to be a program, and there is "
      "no option '${document_UNPARSED_ARGUMENTS}'")
  endif()
  set(arguments ${document_ARGUMENTS})
  set(name ${target}_openapi)
  if(document_DOCUMENT)
    list(APPEND arguments --document ${document_DOCUMENT})
    string(APPEND name _${document_DOCUMENT})
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  set(command ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> "-DARGUMENTS=${arguments}" -DFILE=${file}
    -DMADE=${CMAKE_CURRENT_BINARY_DIR}/${name}.json -DNAME=${name})
  get_property(script GLOBAL PROPERTY katana_openapi_document_script)
  add_custom_target(${name} COMMAND ${command} -DWRITE=ON -P ${script} DEPENDS ${target} VERBATIM
    COMMENT "Writing ${file}")
  if(NOT document_NO_TEST)
    add_test(NAME ${name} COMMAND ${command} -P ${script} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0
