#!/usr/bin/env bash
# kill_rank.sh RANK FOLDER COMMAND...: one rank of an MPI job. The rank RANK is
# killed when it has finished a problem, so at work on the next one, and leaves
# FOLDER/killed if it was killed indeed.
rank=$1 folder=$2
shift 2
[ "$OMPI_COMM_WORLD_RANK" = "$rank" ] || exec "$@"
mkdir -p "$folder"
"$@" &
child=$!
shared=$(printf '%s\n' "$@" | grep -A1 -x -e --mpi | tail -1)
until grep -qs "^rank-$rank " "$shared"/done/*; do sleep 0.01; done
kill -KILL "$child" && touch "$folder/killed"
wait "$child"
