"""The launcher of a measured build: runs a compiler or a linker, and adds a line to a log.

    python3 build_record.py LOG COMMAND…

CMake starts it (CMAKE_CXX_COMPILER_LAUNCHER). A line is JSON: the output, CPU seconds, peak memory in MiB, and the
clock's beginning and end. Standard library only. Lines of one log may be added by several processes at once.
"""
import json
import os
import subprocess
import sys
import time


def record(log: str, command: list[str]) -> int:
    """Runs the command; its exit status."""
    began = time.time()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    made = command[command.index("-o") + 1] if "-o" in command[:-1] else ""
    source = command[command.index("-c") + 1] if "-c" in command[:-1] else ""
    line = json.dumps({"made": made, "source": source, "seconds": usage.ru_utime + usage.ru_stime,
                       "mebibytes": usage.ru_maxrss / 1024, "began": began, "ended": time.time()}) + "\n"
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, line.encode())
    os.close(file)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


if __name__ == "__main__":
    sys.exit(record(sys.argv[1], sys.argv[2:]))

# SPDX-License-Identifier: Apache-2.0
