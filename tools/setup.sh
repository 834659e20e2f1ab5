#!/usr/bin/env bash
# Installs the Debian packages that are needed to build Tessera. Safe to run
# again: if nothing is missing it only says so, in well under a second.
#
# usage: tools/setup.sh [--dev|--ci|--docs]
#   --dev    also the developers' tools: clang-format, clang-tidy, sanitizers
#   --ci     also the tools that make and check the Debian package and the wheel
#   --docs   also the tools with which tools/docs.sh builds the site
#
# Needs Debian 12 with its security archive (LLVM 22 comes from there), and root
# or sudo only when something is missing.
set -euo pipefail

packages=(
  # The build: clang-22 uses the C++ library of g++'s packages; HIP programs for
  # several chips need clang-offload-bundler of clang-tools-22.
  ca-certificates git cmake ninja-build ccache clang-22 clang-tools-22 lld-22
  python3
  # MLIR, LLVM and LLD with their archives and tools (mlir-tblgen, lit,
  # FileCheck), and what the archives need when linked statically.
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev
  zlib1g-dev libzstd-dev libz3-dev
  # Our dependencies: databases, log, tests (one uses pkg-config, one numpy),
  # HIP's headers.
  libsqlite3-dev libspdlog-dev libgtest-dev pkg-config python3-numpy
  libamdhip64-dev
)
# ONNX models: the library that reads them, and Python's for tests to write
# them. They are optional for the build, so a machine that cannot have them is
# no error.
model_packages=(libonnx-dev libprotobuf-dev python3-onnx)
developer_packages=(
  clang-format-22 clang-tidy-22 libclang-rt-22-dev codespell pre-commit
  openmpi-bin   # For a test of dnn-tune; without it that test is left out.
)
package_packages=(dpkg-dev file lintian python3-venv)
site_packages=(
  doxygen graphviz furo python3-breathe python3-myst-parser python3-sphinx
)
llvm_series=22.1   # CMake's find_package requires exactly this version.

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

case "${1-}" in
  "") ;;
  --dev) packages+=("${developer_packages[@]}") ;;
  --ci) packages+=("${package_packages[@]}") ;;
  --docs) packages+=("${site_packages[@]}") ;;
  *) fail "unknown argument '$1' (usage: tools/setup.sh [--dev|--ci|--docs])" ;;
esac

command -v dpkg-query >/dev/null || fail "this script needs Debian's dpkg; \
on another system install these by its means: ${packages[*]}"

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Leaves those of its arguments that are not installed in `missing`.
find_missing() {
  missing=()
  local package
  for package; do
    is_installed "$package" || missing+=("$package")
  done
}

as_root=()
# Runs apt-get without showing its hundreds of lines, unless it fails.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q \
    -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1 </dev/null ||
    { cat "$log" >&2; say "'apt-get $1' failed; see above"; return 1; }
}

# Installs its arguments, or says why it cannot.
install() {
  say "installing $# packages: $*"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      say "this is neither root nor is there sudo; run as root: \
apt-get install $*"
      return 1
    }
    as_root=(sudo)
  fi
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  say "updating the package lists"
  apt update || return 1
  say "downloading and unpacking; from nothing this takes some minutes"
  apt install -y --no-install-recommends "$@"
}

find_missing "${packages[@]}"
if [ ${#missing[@]} -gt 0 ]; then
  find_missing "${packages[@]}" "${model_packages[@]}"
  install "${missing[@]}" || true
  find_missing "${packages[@]}"
  [ ${#missing[@]} -eq 0 ] || install "${missing[@]}" ||
    fail "packages are missing: ${missing[*]}. LLVM 22 needs Debian 12 with the \
archive bookworm-security in its sources"
fi
find_missing "${model_packages[@]}"
[ ${#missing[@]} -eq 0 ] || install "${missing[@]}" ||
  say "ONNX models will not be read without: ${missing[*]}"

version=$(dpkg-query -W -f='${Version}' llvm-22-dev)
version=${version#*:}
[[ $version == "$llvm_series".* ]] ||
  fail "llvm-22-dev is version $version, but the build needs $llvm_series"
say "all ${#packages[@]} packages are installed (LLVM ${version%%-*})"
