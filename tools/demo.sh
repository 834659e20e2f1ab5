#!/usr/bin/env bash
# Runs the main job, end to end, on a machine without a GPU: builds the library,
# then runs layers of ResNet-50 through MIOpen's C API. Each layer is compiled
# for its exact problem, run on an emulated gfx942 and compared with a reference
# on the host. Then the same runs again in new processes, which find every
# kernel in the database and compile nothing.
#
# usage: tools/demo.sh [PRESET | --installed]
#   PRESET       of CMakePresets.json: dev (default, which tools/test.sh builds),
#                release, ...
#   --installed  builds nothing and runs the dnn-driver of the PATH
#
# TESSERA_DEVICE selects another device, MIOPEN_CUSTOM_CACHE_DIR a database that
# is kept. Exits 1 if a layer fails or the second run compiles anything.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-dev}
build=build/$preset
driver=$build/bin/dnn-driver
start=$SECONDS

step() { printf '\n==> %s (%d s)\n' "$*" $((SECONDS - start)); }
die() { printf 'demo.sh: error: %s\n' "$*" >&2; exit 1; }

# Each line has a name and MIOpenDriver's flags. The layers are f16, NHWC, batch
# 2: small enough to emulate, and more than one image.
layers=(
  "stem 7x7/2    3->64    224x224|-c 3   -H 224 -W 224 -k 64   -y 7 -x 7 -p 3 -q 3 -u 2 -v 2"
  "3x3          64->64     56x56|-c 64  -H 56  -W 56  -k 64   -y 3 -x 3 -p 1 -q 1"
  "3x3/2       128->128    56x56|-c 128 -H 56  -W 56  -k 128  -y 3 -x 3 -p 1 -q 1 -u 2 -v 2"
  "1x1         256->64     56x56|-c 256 -H 56  -W 56  -k 64   -y 1 -x 1"
  "1x1         512->2048    7x7|-c 512 -H 7   -W 7   -k 2048 -y 1 -x 1"
)
common="-n 2 -I NHWC -O NHWC -f NHWC -F 1 -i 1 -S 0 -V 1 -t 0 --kernel-info 1"

# -- build --------------------------------------------------------------------

if [[ $preset == --installed ]]; then
  driver=dnn-driver
else
  step "Installing what is missing"
  tools/setup.sh

  step "Configuring, preset $preset"
  mkdir -p build
  cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 ||
    { cat "build/configure-$preset.log"; die "cannot configure; see above"; }

  step "Building in $build with $(nproc) jobs"
  cmake --build --preset "$preset" --parallel "$(nproc)" \
        --target tessera dnn-driver lib/libtessera-emulator.so ||
    die "the build failed; see above"
fi

# -- run ----------------------------------------------------------------------

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset MIOPEN_DISABLE_CACHE
export TESSERA_DEVICE=${TESSERA_DEVICE:-emulated:gfx942}
export MIOPEN_CUSTOM_CACHE_DIR=${MIOPEN_CUSTOM_CACHE_DIR:-$scratch/cache}
log=$scratch/log

# Prints the text between $1 and the end of its line in the log; exits if it is
# missing.
find_line() {
  sed -n "s/^$1//p" "$log" | grep . ||
    { cat "$log" >&2; die "dnn-driver did not print '$1'; see above"; }
}

run_layer() {  # NAME FLAGS
  # Both lists of flags are meant to be split into words.
  # shellcheck disable=SC2086
  timeout 600 "$driver" convfp16 $2 $common >"$log" 2>&1 ||
    { cat "$log" >&2; die "layer '$1' failed; see above"; }
  verdict=$(find_line 'Forward Convolution Verifies OK on CPU reference ')
  kernel=$(find_line 'Kernel: ')
  counters=$(find_line 'Library: ')
}

step "First run, on $TESSERA_DEVICE: each layer in a process of its own"
for layer in "${layers[@]}"; do
  run_layer "${layer%%|*}" "${layer#*|}"
  resources=$(find_line 'Kernel resources: ')
  # A kernel from a database that the caller keeps has no compile times.
  time=$(sed -n 's/^Compile time: //p' "$log")
  printf '%s\n' "${layer%%|*}"
  printf '    verified   error %s\n' "${verdict//[()]/}"
  printf '    kernel     %s\n' "$kernel"
  printf '    uses       %s\n' "$resources"
  printf '    compiled   %s\n' "${time:-earlier, by another process}"
done

step "Second run: the same layers in new processes"
for layer in "${layers[@]}"; do
  run_layer "${layer%%|*}" "${layer#*|}"
  [[ $counters == "compiled 0, from database 1,"* ]] ||
    die "layer '${layer%%|*}' was not taken from the database: $counters"
  printf '%-32s verified, kernel from the database\n' "${layer%%|*}"
done

step "Done"
printf 'The second run compiled nothing: %d of %d kernels came from the database.\n' \
       ${#layers[@]} ${#layers[@]}
if [[ $TESSERA_DEVICE == emulated* ]]; then
  echo "Kernels ran on the emulated device, whose times say nothing of a GPU."
fi
