# SPDX-License-Identifier: GPL-3.0-or-later
# What the trials of proftop record share: sourced by them, with $proftop set. Each ends with: [ "$faults" = 0 ] || exit 1
dir=$(mktemp -d) || exit 99
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
faults=0

fault() {
    echo "FAULT: $*"
    faults=$((faults + 1))
}

# says FILE TEXT: the file has the text.
says() {
    grep -qF -- "$2" "$dir/$1" || fault "line ${BASH_LINENO[0]}: $1 does not say \"$2\": $(head -5 "$dir/$1")"
}

# record STATUS OPTION…: records, with what is said in $dir/err.
record() {
    local want=$1 got
    shift
    "$proftop" record "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    [ "$got" = "$want" ] || fault "record $* ended with $got, not $want: $(cat "$dir/err")"
}

# wait_until COMMAND…: until it succeeds; a fault after two minutes.
wait_until() {
    local end=$((SECONDS + 120))
    until "$@"; do
        if [ $SECONDS -gt $end ]; then
            fault "line ${BASH_LINENO[0]}: waited in vain for: $*; $(tail -3 "$dir/err")"
            ps -o pid,ppid,stat,wchan:20,time,args -g "$(ps -o pgid= $$)" | tail -n 20
            return 1
        fi
        sleep 0.1
    done
}

# begin FILE OPTION…: a recording beside us, as $recorder, which has begun when this returns.
begin() {
    : >"$dir/err"
    "$proftop" record -e cpu-clock -o "$@" 2>"$dir/err" &
    recorder=$!
    wait_until grep -q 'recording to' "$dir/err"
}

# end_recording: by a signal, as people do.
end_recording() {
    kill -INT "$recorder"
    wait "$recorder" || fault "line ${BASH_LINENO[0]}: the recording ends with $?: $(cat "$dir/err")"
}

# has FILE FUNCTION: is it in the report of the recording so far?
has() {
    "$proftop" report -n 0 "$1" 2>/dev/null | grep -qF "$2"
}

has_no_signals() { grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$1/status"; }
has_threads() { [ "$(ls "/proc/$1/task" | wc -l)" -ge "$2" ]; }

# Hundredths of a second that a process has run.
ran() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
has_run() { [ "$(ran "$1")" -ge "$2" ]; }

"$proftop" record -o "$dir/trial" -- true >/dev/null 2>"$dir/err" || {
    echo "skipped: $(tail -1 "$dir/err")"
    exit 77
}
cd "$dir" || exit 99
