#!/usr/bin/env python3
"""Runs a command where the kernel seems to have no Landlock, as in many containers:

    tests/support/without_landlock.py COMMAND...

A filter answers the calls of Landlock with ENOSYS."""
import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, AT_LEAST, ABOVE, RETURN = 0x20, 0x35, 0x25, 0x06
ALLOW, FAIL = 0x7fff0000, 0x00050000 | errno.ENOSYS
FIRST, LAST = 444, 446  # landlock_create_ruleset() to landlock_restrict_self()

PROGRAM = b''.join(struct.pack('HBBI', *step) for step in (
    (LOAD, 0, 0, 0),  # the number of the call
    (AT_LEAST, 0, 2, FIRST),
    (ABOVE, 1, 0, LAST),
    (RETURN, 0, 0, FAIL),
    (RETURN, 0, 0, ALLOW)))


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(PROGRAM, len(PROGRAM))
    program = ctypes.create_string_buffer(
        struct.pack('HP', len(PROGRAM) // 8, ctypes.addressof(code)))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        sys.exit(os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[1], sys.argv[1:])


main()
