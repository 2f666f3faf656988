#!/usr/bin/env python3
"""Run a program in which io_uring_setup() fails with EPERM, as under the seccomp filter of a container.

    without_io_uring.py PROGRAM [ARGUMENT…]
"""
import ctypes
import errno
import os
import struct
import sys

SYS_IO_URING_SETUP = 425
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
BPF_LOAD_WORD, BPF_JUMP_EQUAL, BPF_RETURN = 0x20, 0x15, 0x06
SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO = 0x7FFF0000, 0x00050000


def forbid():
    """Install the filter in this process; it stays over exec."""
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in (
        (BPF_LOAD_WORD, 0, 0, 0),                           # seccomp_data.nr
        (BPF_JUMP_EQUAL, 0, 1, SYS_IO_URING_SETUP),
        (BPF_RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.EPERM),
        (BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW)))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HP", len(code) // 8, ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program):
        sys.exit(f"without_io_uring.py: prctl: {os.strerror(ctypes.get_errno())}")


def available():
    """True when this process may make a ring: EFAULT means that the call itself is allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(SYS_IO_URING_SETUP, 1, None) == -1 and ctypes.get_errno() == errno.EFAULT


if __name__ == "__main__":
    forbid()
    os.execvp(sys.argv[1], sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
