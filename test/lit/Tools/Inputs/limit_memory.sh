# Runs a program with at most so many KiB of address space.
# Usage: limit_memory.sh KIB PROGRAM [ARGUMENT]...
ulimit -v "$1" || exit 1
shift
exec "$@"
