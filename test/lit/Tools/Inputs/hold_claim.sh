#!/usr/bin/env bash
# hold_claim.sh COMMAND...: COMMAND makes a kernel that another process, which
# is stuck in its compiler, makes at the same time.
TESSERA_WORKER_FAULT=loop TESSERA_COMPILE_TIMEOUT=300 "$@" > /dev/null &
holder=$!
# Its worker is started behind its claim.
until [ -n "$(cat /proc/$holder/task/*/children 2> /dev/null)" ]; do sleep 0.02; done
"$@"
status=$?
kill -KILL "$holder"
exit "$status"
