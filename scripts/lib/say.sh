# Progress lines with the time since the script began. Sourced; everything goes to stderr, so that data on stdout stays
# clean.
# shellcheck shell=bash

say_started=$SECONDS

# say WORDS…: one line of progress, "[  12s] building".
say() { printf '[%4ds] %s\n' "$((SECONDS - say_started))" "$*" >&2; }

# die WORDS…: says what went wrong and ends the script.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# run_with_progress LOG WHAT COMMAND…: runs the command with its output in LOG; while it runs, says every 20 seconds that
# it still does and what the last line of its output was. Answers with the command's exit code.
run_with_progress() {
  local log=$1 what=$2
  shift 2
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null &
  local pid=$! code=0 next=$((SECONDS + 20))
  while kill -0 "$pid" 2>/dev/null; do
    if ((SECONDS >= next)); then
      say "  $what: $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-100)"
      next=$((SECONDS + 20))
    fi
    sleep 0.2
  done
  wait "$pid" || code=$?
  return "$code"
}
