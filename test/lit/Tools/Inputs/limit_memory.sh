# Runs a program with so many KiB of addresses at most.
# Usage: limit_memory.sh KIB PROGRAM [ARGUMENT]...
ulimit -v "$1" || exit 1
shift
exec "$@"
