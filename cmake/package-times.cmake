# Gives every file that cpack has staged the time of SOURCE_DATE_EPOCH, if that is set, so that two builds of the same
# sources give the same packages.
if(DEFINED ENV{SOURCE_DATE_EPOCH} AND CPACK_TEMPORARY_DIRECTORY)
  execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
    COMMAND_ERROR_IS_FATAL ANY)
endif()

# SPDX-License-Identifier: Apache-2.0
