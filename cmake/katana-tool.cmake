# katana_find_tool(CALL WHAT OPTIONAL): how a build runs the program katana, for the functions that do.
#
# Sets tool (a command) and tool_depends (what it is made of) where it is called. Without the program: tool is empty, with a
# warning, if OPTIONAL is true, and otherwise an error. CALL and WHAT are for the message: who needs it, and what for.
macro(katana_find_tool call what optional)
  if(TARGET katana_tool)
    set(tool $<TARGET_FILE:katana_tool>)
    set(tool_depends katana_tool)
  else()
    find_program(KATANA_TOOL katana HINTS ${katana_DIR}/../../../bin ${katana_DIR}/../../../../bin DOC "the program katana")
    set(tool "")
    if(KATANA_TOOL)
      set(tool ${KATANA_TOOL})
    endif()
    set(tool_depends ${tool})
    if(NOT tool)
      set(katana_level FATAL_ERROR)
      if("${optional}")
        set(katana_level WARNING)
      endif()
      message(${katana_level} "${call}: the program katana is not found, ${what}: install it (component katana-programs, "
        "package katana-tools), or name it by -DKATANA_TOOL=FILE")
    endif()
  endif()
endmacro()

# SPDX-License-Identifier: Apache-2.0
