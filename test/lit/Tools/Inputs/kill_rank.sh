#!/usr/bin/env bash
# kill_rank.sh RANK FOLDER COMMAND... runs one rank of an MPI job. Rank RANK is killed
# when it has finished a problem and tunes the next one; FOLDER/killed exists
# afterwards if that happened.
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
