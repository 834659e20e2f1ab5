#!/usr/bin/env bash
# Builds other people's programs, unchanged, against the installed library, and
# runs them:
#
#   tools/dev/clients.sh build SOURCES [BUILD]   default build/dev
#   tools/dev/clients.sh run BINARIES [program...]
#
# SOURCES has a folder for each of their repositories; docs/clients.md says
# which and how to get them. The result is two folders of binaries,
# BUILD/clients/emulated and BUILD/clients/nvidia, which differ in the device
# code inside. `run` needs only such a folder, the libraries (LD_LIBRARY_PATH)
# and TESSERA_DEVICE; on the emulated device the long ones execute a sample of
# each launch.
set -euo pipefail

# Each line has a name, a source, whether it has a kernel of its own, and flags.
clients=(
  "demo MIOpen_Demo/demo.cpp host"
  "verify_miopen ROCm-RDNA1/Verification/verify_miopen.cpp host"
  "conv_bench DeepBench/code/amd/conv_bench_rocm.cpp host -IDeepBench/code/kernels -std=c++11"
  "rnn_bench DeepBench/code/amd/rnn_bench_rocm.cpp host -IDeepBench/code/kernels -std=c++11"
  "conv_segfault miopen-benchmark/conv_segfault.cpp host"
  "main miopen-benchmark/main.cpp kernel"
  "benchmark_wino miopen-benchmark/benchmark_wino.cpp kernel"
  "layerwise miopen-benchmark/layerwise.cpp kernel"
  "alexnet miopen-benchmark/alexnet.cpp kernel"
  "resnet miopen-benchmark/resnet.cpp kernel"
)
chips=(gfx90a gfx942 gfx1030 gfx1100)

# How each program is run: its arguments, and a line that its output has if it
# ran to its end (the results themselves, if the program prints any).
arguments() {
  case $1 in
  conv_bench) echo "${REPEATS:-1} float" ;;
  rnn_bench) echo "${RNN_MODE:-inference}" ;;
  benchmark_wino) echo "W1 ${REPEATS:-1}" ;;
  esac
}
expected() {
  case $1 in
  demo) echo '1 4 3 1 2 4 1 2 3 .*completed successfully' ;;
  verify_miopen) echo '-6 -6 -6 -6 -6 -6 -6 -6 -6' ;;
  conv_bench | rnn_bench) echo 'Totals' ;;
  conv_segfault) echo 'HIP devices found: 1' ;;
  main) echo '\[\[0, 4.15\], \[4, 6\]\]' ;;
  benchmark_wino) echo 'KernelTime' ;;
  layerwise) echo 'Layer L1.*Avg time per fwd\+bwd' ;;
  alexnet | resnet) echo 'Avg time per fwd\+bwd' ;;
  esac
}

# Compiles the kernel in a header by itself: its PTX needs none of HIP's
# headers.
build_ptx() { # SOURCES HERE OUT
  {
    cat "$2/tools/dev/clients/compat.h"
    sed -n '/^__global__ /,/^}/p' "$1/miopen-benchmark/multi_layers.hpp"
  } >"$3/kernel.cu"
  clang++-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 \
    --cuda-feature=+ptx70 -nocudainc -nocudalib -Wno-unknown-cuda-version \
    -DTESSERA_CLIENT_PTX -O2 -S "$3/kernel.cu" -o "$3/kernel.ptx"
  printf '\0' >>"$3/kernel.ptx" # the loader's text ends with a zero
}

build() {
  local here sources tree out
  here=$(cd "$(dirname "$0")/../.." && pwd)
  sources=$(cd "$1" && pwd)
  tree=$(cd "${2:-$here/build/dev}" && pwd)
  out=$tree/clients
  rm -rf "$out" && mkdir -p "$out"/{emulated,nvidia}
  cmake --install "$tree" --component capi --prefix "$out/prefix" >/dev/null
  build_ptx "$sources" "$here" "$out"
  local common=(-O2 -w -D__HIP_PLATFORM_AMD__ -DLAYER_TIMING=1
    "-I$out/prefix/include" "-L$out/prefix/lib")
  local hip=(-x hip -nogpulib -std=c++17 "-I$here" "-I$here/tools/dev/clients"
    -include "$here/tools/dev/clients/compat.h")
  for client in "${clients[@]}"; do
    read -r name source kind flags <<<"$client"
    [[ -f $sources/$source ]] || { echo "$name: no $source"; continue; }
    cd "$sources"
    if [[ $kind == host ]]; then
      # shellcheck disable=SC2086
      g++ "${common[@]}" $flags "$source" -lMIOpen -lamdhip64 -o "$out/emulated/$name"
      cp "$out/emulated/$name" "$out/nvidia/$name"
    else
      clang++-22 "${hip[@]}" "${common[@]}" "${chips[@]/#/--offload-arch=}" \
        "$source" -lMIOpen -lamdhip64 -o "$out/emulated/$name"
      clang++-22 "${hip[@]}" "${common[@]}" --offload-host-only \
        -Xclang -fcuda-include-gpubinary -Xclang "$out/kernel.ptx" -c \
        "$source" -o "$out/$name.o"
      clang++-22 "${common[@]}" "$out/$name.o" -lMIOpen -lamdhip64 \
        -o "$out/nvidia/$name"
      rm "$out/$name.o"
    fi
    echo "$name: built"
  done
  cd "$here"
}

run() {
  local folder failed=0 begin text
  folder=$(cd "$1" && pwd)
  shift
  local names=("$@")
  ((${#names[@]})) || for client in "${clients[@]}"; do names+=("${client%% *}"); done
  mkdir -p "$folder/output" && cd "$folder/output"
  for name in "${names[@]}"; do
    local sample=
    if [[ ${TESSERA_DEVICE:-} == emulated* ]]; then
      case $name in
      conv_bench | rnn_bench | benchmark_wino | layerwise | alexnet | resnet)
        sample=${TESSERA_EMULATOR_GROUPS:-1}
        ;;
      esac
    fi
    begin=$SECONDS
    # shellcheck disable=SC2046
    if TESSERA_EMULATOR_GROUPS=$sample "$folder/$name" $(arguments "$name") >"$name.txt" 2>"$name.err" &&
        tr -s '\n ' ' ' <"$name.txt" | grep -qE -- "$(expected "$name")"; then
      text=ok
    else
      text="FAILED: $(tail -n 1 "$name.err")"
      failed=1
    fi
    printf '%-16s %4d s  %s%s\n' "$name" $((SECONDS - begin)) "${sample:+(sample of $sample) }" "$text"
  done
  return $failed
}

case ${1:-} in
build | run) "$@" ;;
*) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
