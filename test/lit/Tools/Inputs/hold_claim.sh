#!/usr/bin/env bash
# hold_claim.sh COMMAND... runs COMMAND, which needs a kernel that another process is
# compiling. That process is COMMAND as well, with a compiler that never ends.
TESSERA_WORKER_FAULT=loop TESSERA_COMPILE_TIMEOUT=300 "$@" > /dev/null &
holder=$!
# The worker is started after the claim is made, so that its existence proves the claim.
until [ -n "$(cat /proc/$holder/task/*/children 2> /dev/null)" ]; do sleep 0.02; done
"$@"
status=$?
kill -KILL "$holder"
exit "$status"
