#!/usr/bin/env bash
# Packs what a machine with an NVIDIA GPU needs into one archive:
#
#   tools/dev/gpu_host_bundle.sh [ARCHIVE]     default build/gpu-host/tessera-gpu-host.tar.xz
#
# The programs are those of the preset gpu-host, which must be built or is built
# here; docs/guides/gpu-host.md says how to run them there.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=build/gpu-host
archive=${1:-$build/tessera-gpu-host.tar.xz}
programs=(call-overhead dnn-driver dnn-sweep dnn-tune ConformancePtx-O0 ConformancePtx-O3)
limit_mib=60

[[ -f $build/build.ninja ]] || cmake --preset gpu-host
ninja -C "$build" tessera tessera-hip-on-cuda tessera-torch "${programs[@]}"

# Only glibc may be missing there; the extension of PyTorch takes PyTorch's libstdc++.
for file in "${programs[@]/#/$build/bin/}" "$build"/lib/{libMIOpen.so.1,libtessera-{compiler,hip-on-cuda}.so,tessera-compile-worker}; do
  if objdump -p "$file" | awk '/NEEDED/ {print $2}' |
      grep -vE '^(lib(c|m|dl|pthread|rt)\.so\.|ld-linux|libMIOpen\.so\.1|libamdhip64\.so\.5)'; then
    echo "$file needs the above, which the GPU host may not have" >&2
    exit 1
  fi
done

# Links are followed: libMIOpen.so.1 is a link, and so is lib/hip-on-cuda's
# library.
files=("${programs[@]/#/bin/}" lib/libMIOpen.so.1 lib/libtessera-compiler.so
  lib/tessera-compile-worker lib/libtessera-hip-on-cuda.so lib/hip-on-cuda lib/libtessera-torch.so)
tar --transform 's,^,tessera/,' --exclude __pycache__ --exclude bench/results -chf - -C "$build" "${files[@]}" \
  -C "$PWD/tools" bench -C "$PWD/capi" python/tessera |
  xz -6 -T2 >"$archive"
size=$(stat -c %s "$archive")
echo "$archive: $((size >> 20)) MiB"
((size >> 20 <= limit_mib))
