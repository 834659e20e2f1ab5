#!/usr/bin/env bash
# Runs the unit tests of the library and of the compiler under sanitizers:
#
#   tools/dev/sanitize.sh asan|tsan [COMPILER_BUILD]   default build/dev
#
# asan is the address and the undefined-behaviour sanitizer, tsan the thread
# sanitizer. The library and the emulated device are sanitized; kernels come
# from the compiler of another build of the same sources, in its worker
# processes. The compiler's own tests run only under asan: our part of it is
# sanitized, the system's LLVM is not. Every finding ends the program that has
# it, and fails the run.
set -euo pipefail
cd "$(dirname "$0")/../.."

preset=${1:-}
other=$PWD/${2:-build/dev}
build=$PWD/build/$preset
case $preset in
asan)
  compiler=(AlgorithmTests AmdgpuTargetTests ConversionTests DriverTests
    FrontendTests NvptxTargetTests PipelineTests TargetTests) ;;
tsan) compiler=() ;;
*) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
programs=(CapiTests CapiFuzz EngineTests DatabaseTortureTests DbTests GpuTests
  HipOnCudaTests TuningTests WorkerTests EmulatorHipTests ApiRowWiseTests
  "${compiler[@]}")
read -ra programs <<<"${PROGRAMS:-${programs[*]}}"

for file in "$other"/lib/{libtessera-compiler.so,tessera-compile-worker}; do
  [[ -f $file ]] || { echo "$file is missing: build it first" >&2; exit 1; }
done
[[ -f $build/build.ninja ]] || cmake --preset "$preset" >/dev/null
nice ninja -C "$build" tessera tessera-emulator resnet50 "${programs[@]}"

export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# LLVM's headers poison unused memory, and the linked LLVM does not unpoison it.
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_init_order=1:allow_user_poisoning=0
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
export TESSERA_COMPILER_LIBRARY=$other/lib/libtessera-compiler.so
export TESSERA_COMPILE_WORKER=$other/lib/tessera-compile-worker
export TESSERA_DEVICE=emulated:gfx942
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

failed=0
report() { # NAME COMMAND...
  local name=$1 begin=$SECONDS
  shift
  if nice "$@" >"$work/output.txt" 2>&1; then
    printf '%-24s ok, %d s\n' "$name" $((SECONDS - begin))
  else
    grep -nE -m 1 -A 25 'ERROR: |WARNING: ThreadSan|runtime error:|^\[  FAILED' "$work/output.txt" ||
      tail -n 20 "$work/output.txt"
    printf '%-24s FAILED, %d s\n' "$name" $((SECONDS - begin))
    failed=1
  fi
}

for program in "${programs[@]}"; do
  report "$program" "$build/bin/$program"
done

# Clients of the C API, sanitized like the library: a training step, as its test
# in tools/resnet50 runs it, and those of the lit suite.
report resnet50 "$build/bin/resnet50" --batch 2 --size 64 --blocks 1,1,1,2 \
  --classes 64
flags=(-fsanitize=address,undefined)
[[ $preset == tsan ]] && flags=(-fsanitize=thread)
for source in threads.cpp forward-convolution.c gradients.c fusion.c; do
  language=(-xc -std=c11)
  [[ $source == *.cpp ]] && language=(-xc++ -std=c++20)
  clang++-22 "${flags[@]}" -g "${language[@]}" "test/lit/CAPI/$source" \
    -o "$work/client" -Icapi/include -L"$build/lib" -lMIOpen \
    -ltessera-emulator -Wl,-rpath,"$build/lib"
  report "CAPI/$source" "$work/client"
done
exit $failed
