#!/usr/bin/env bash
# Builds everything and runs every test: the checks of the tree, unit tests, the
# lit suite and the execution tests. The last lines say how many there were.
#
# usage: tools/test.sh [PRESET]
#   PRESET   of CMakePresets.json: dev (default), release, asan, ci
#
# Exits 1 if anything failed. All steps run nevertheless, except that nothing is
# tested that could not be built.
set -uo pipefail
cd "$(dirname "$0")/.."

preset=${1:-dev}
build=build/$preset
jobs=$(nproc)
start=$SECONDS
faults=()

step() { printf '\n==> %s (%d s)\n' "$*" $((SECONDS - start)); }
die() { printf 'test.sh: error: %s\n' "$*" >&2; exit 1; }

command -v cmake >/dev/null ||
  die "cmake is not installed; run tools/setup.sh first"

step "Checking the tree"
for script in tools/dev/check_*.py tools/dev/count_tests.py \
    tools/docs/{sources,check_site}.py; do
  "$script" --self-test || faults+=("$script --self-test")
done
for script in tools/dev/check_*.py; do
  "$script" || faults+=("$script")
done

step "Configuring, preset $preset"
mkdir -p build
cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 ||
  { cat "build/configure-$preset.log"; die "cannot configure; see above"; }

step "Building in $build with $jobs jobs"
cmake --build --preset "$preset" --parallel "$jobs" ||
  die "the build failed; see above"

# The output of a test is kept completely, because the numbers are counted from
# it.
step "Running the tests"
junit=$PWD/$build/tests.xml
rm -f "$junit"
ctest --preset "$preset" --parallel "$jobs" --output-junit "$junit" \
      --test-output-size-passed 10000000 --test-output-size-failed 10000000 ||
  faults+=("ctest")

step "Done"
tools/dev/count_tests.py "$junit" || faults+=("tests")
[ ${#faults[@]} -eq 0 ] || die "failed: ${faults[*]}"
