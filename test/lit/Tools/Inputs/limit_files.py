"""Runs a program whose files may have at most so many bytes: writing more fails as
on a full disk. Usage: limit_files.py BYTES PROGRAM [ARGUMENT]..."""

import os
import resource
import signal
import sys

# The signal is ignored, so that a write fails instead of ending the program.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execvp(sys.argv[2], sys.argv[2:])
