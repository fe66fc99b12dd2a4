# Configure and build one preset. Sourced after say.sh.
# shellcheck shell=bash

# build_preset PRESET TESTS [TARGET…]: TESTS is ON, OFF or KEEP (as the folder was configured before; OFF in a new one).
build_preset() {
  local preset=$1 tests=$2 log=build/logs/build-$1.log
  shift 2
  local configure=(cmake --preset "$preset")
  if [[ $tests != KEEP ]]; then
    configure+=("-DHODEI_WITH_TESTS=$tests")
  elif [[ ! -e build/$preset/CMakeCache.txt ]]; then
    configure+=(-DHODEI_WITH_TESTS=OFF)
  fi
  local build=(cmake --build --preset "$preset")
  (($# == 0)) || build+=(--target "$@")
  if ! run_with_progress "$log" "configuring $preset" "${configure[@]}" ||
    ! run_with_progress "$log" "building $preset" "${build[@]}"; then
    grep -E -A 5 'error:|FAILED:|CMake Error' "$log" | head -n 60 >&2 || true
    tail -n 20 "$log" >&2
    say "building $preset failed; all of its output is in $log"
    return 1
  fi
}
