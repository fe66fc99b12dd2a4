# The Debian 12 packages that Hodei is built, tested and checked with, and a way to have them. Sourced after say.sh.
# shellcheck shell=bash

# What `cmake --preset release` needs to make the hodei binary.
# shellcheck disable=SC2034  # used by the scripts that source this
build_packages=(
  g++ cmake ninja-build ccache mold pkg-config
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libabsl-dev libre2-dev libc-ares-dev
  libssl-dev libboost1.81-dev zlib1g-dev
  libsqlite3-dev libzstd-dev libseccomp-dev libarchive-dev libgoogle-perftools-dev
  prometheus-cpp-dev
  libyaml-cpp-dev nlohmann-json3-dev libcli11-dev
  libfmt-dev
  # Archives of what libarchive needs, for the static worker.
  nettle-dev liblzma-dev libbz2-dev liblz4-dev libacl1-dev libattr1-dev
)

# What the tests need besides.
# shellcheck disable=SC2034
test_packages=(clang-format libgtest-dev libgmock-dev libbenchmark-dev python3 python3-yaml sqlite3 faketime prometheus openssl
  docker.io  # real containers; the tests start an engine of their own
  openssh-server  # workers over ssh; the tests start a daemon of their own
  iproute2  # who listens where
  zsh fish  # their completion
)

# What microVMs and scripts/firecracker/build-rootfs need. The kernel is only downloaded, never installed.
# shellcheck disable=SC2034
microvm_packages=(qemu-system-x86 cpio e2fsprogs kmod lz4 xz-utils zstd python3)

# What the fuzz targets need besides.
# shellcheck disable=SC2034
fuzz_packages=(clang libclang-rt-14-dev)

# What `tools/dev lint` and `tools/dev format` need besides.
# shellcheck disable=SC2034
lint_packages=(clang-format clang-tidy shellcheck python3)

# missing_packages NAME…: those that are not installed, one per line.
missing_packages() {
  local have
  have=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p' || true)
  printf '%s\n' "$@" | grep -vxF -f <(printf '%s\n' "$have") || true
}

# as_root COMMAND…: runs it as root, through sudo when need be.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@" || die "sudo asks for a password or refuses; run as root: $*"
  else
    die "this needs root and there is no sudo; run as root: $*"
  fi
}

# need_packages NAME…: installs those that are missing, without questions. Costs nothing when none is.
need_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) && return 0
  command -v apt-get >/dev/null || die "there is no apt-get here; install what matches: ${missing[*]}"
  say "installing ${#missing[@]} packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! run_with_progress "$log" 'apt-get update' as_root apt-get -q update ||
    ! run_with_progress "$log" 'apt-get install' as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get -q -y --no-install-recommends install "${missing[@]}"; then
    tail -n 30 "$log" >&2
    rm -f "$log"
    die "could not install: ${missing[*]}"
  fi
  rm -f "$log"
}

# need_node: Node.js and npm by any road: some machines have them from elsewhere, and Debian's npm would fight with that.
need_node() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    need_packages nodejs npm
  fi
}
