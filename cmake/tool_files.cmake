# What is installed beside the tool: its manual page, which it writes itself, and the scripts by which shells complete it.
# A tool of another processor needs CMAKE_CROSSCOMPILING_EMULATOR to write the page; without one there is none.
set(scripts ${CMAKE_CURRENT_SOURCE_DIR}/katana_tool/completion)
set(older_names katana-log katana-migrate)
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
  set(pages ${manual}/katana.1)
  foreach(name IN LISTS older_names)
    file(CONFIGURE OUTPUT ${manual}/${name}.1 CONTENT ".so man1/katana.1\n")
    list(APPEND pages ${manual}/${name}.1)
  endforeach()
  set(compress "")
  if(KATANA_DEBIAN)  # where pages are compressed
    set(compress COMMAND gzip -9 --no-name --force --keep ${pages})
    list(TRANSFORM pages APPEND .gz)
  endif()
  add_custom_command(TARGET katana_tool POST_BUILD COMMAND katana_tool --manual > ${manual}/katana.1 ${compress} VERBATIM)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT katana-programs)
endif()

# bash looks for a file of the command's name, fish as well; zsh reads the names in the file.
set(bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
foreach(name katana ${older_names})
  install(FILES ${scripts}/katana.bash RENAME ${name} DESTINATION ${bash} COMPONENT katana-programs)
  install(FILES ${scripts}/katana.fish RENAME ${name}.fish DESTINATION ${fish} COMPONENT katana-programs)
endforeach()
set(zsh site-functions)
if(KATANA_DEBIAN)
  set(zsh vendor-completions)
endif()
install(FILES ${scripts}/katana.zsh RENAME _katana DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh} COMPONENT katana-programs)

# SPDX-License-Identifier: Apache-2.0
