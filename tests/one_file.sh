#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program that is one file (./bootstrap static), in a root directory that has nothing else: reports, screens on all terminals
# that it describes itself, a live view; and recording a heap where /tmp may not be run from. tests/one_file.sh FILE
set -uo pipefail

file=${1:-${ONE_FILE:-}}
source=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "$file" ] || [ ! -x "$file" ]; then
    echo "skipped: no one-file program; ./bootstrap static makes it"
    exit 77
fi
file=$(realpath "$file")
faults=0
fault() {
    printf 'FAIL: %s\n' "$*"
    faults=$((faults + 1))
}

# With a mount namespace of its own, and so no trace of what is mounted here.
if [ "${ONE_FILE_INSIDE:-}" != 1 ]; then
    user=()
    [ "$(id -u)" = 0 ] || user=(--map-root-user)
    unshare "${user[@]}" --mount true 2>/dev/null || { echo "skipped: no mount namespace"; exit 77; }
    ONE_FILE_INSIDE=1 exec unshare "${user[@]}" --mount "$0" "$file"
fi

dir=$(mktemp -d)
tm() { tmux -S "$dir/socket" -f /dev/null "$@"; }
finish() {
    tm kill-server 2>/dev/null
    umount -l "$dir"/root/proc "$dir"/root/dev "$dir"/noexec "$dir"/bare 2>/dev/null
    rm -rf --one-file-system "$dir"
}
trap finish EXIT
root=$dir/root
mkdir -p "$root"/{proc,dev,tmp} "$dir/noexec"
cp "$file" "$root/proftop"
cp "$source/tests/data/demo.data" "$source/tests/data/demo" "$root/"
mount --bind /proc "$root/proc"
mount --bind /dev "$root/dev"
inside() { env -i PATH="$PATH" LANG=en_US.UTF-8 TERM="${term:-xterm}" chroot "$root" /proftop "$@"; }

file "$file" 2>/dev/null | grep -q 'dynamically linked' && fault "it is linked dynamically"
readelf -lW "$file" | grep -qE ' (INTERP|DYNAMIC) ' && fault "it needs a loader"
bytes=$(stat -c %s "$file")
[ "$bytes" -le $((6 << 20)) ] || fault "it has $bytes bytes, more than 6 MiB"

# As the usual program prints it; this machine may have a file for the library, too.
inside report --symbols / demo.data >"$dir/report" 2>"$dir/err" || fault "report: $(cat "$dir/err")"
grep -q 'match_length' "$dir/report" || fault "report without names: $(head -c 500 "$dir/report")"
if [ -x "${PROFTOP:-}" ]; then
    (cd "$root" && LC_ALL=C.UTF-8 "$PROFTOP" report --symbols . demo.data) | grep -v 'libc' | tr -s ' ' |
        diff - <(grep -v 'libc' "$dir/report" | tr -s ' ') || fault "report differs from $PROFTOP's"
fi
inside --screen 100x16 demo.data | grep -q '▸' || fault "no screen in UTF-8"

# wait_for TEXT, within 10 s
wait_for() {
    for _ in $(seq 1000); do
        tm capture-pane -t one -p | grep -qF -- "$1" && return 0
        sleep 0.01
    done
    fault "no '$1' on a screen of ${term:-xterm}: $(tm capture-pane -t one -p | head -n 5)"
    return 1
}
if command -v tmux >/dev/null; then
    tm new-session -d -s keep "sleep 1000"
    for term in xterm xterm-256color screen screen-256color tmux tmux-256color linux vt100 xterm-ghostty; do
        tm new-session -d -s one -x 80 -y 12 \
            "env -i PATH='$PATH' LANG=en_US.UTF-8 TERM=$term chroot '$root' /proftop demo.data 2>&1; sleep 100"
        wait_for '1,142 samples' && tm send-keys -t one '/ä日' && wait_for '/ä日'
        tm kill-session -t one
    done
    term=nonsense
    inside demo.data 2>&1 | grep -q SELF || fault "no report where the terminal is unknown"
    term=xterm
    if inside doctor | grep -q '^  own programs *yes'; then
        sh -c 'while :; do :; done' &
        busy=$!
        sleep 0.5 # until it is a program of its own
        tm new-session -d -s one -x 80 -y 12 \
            "env -i PATH='$PATH' LANG=C.UTF-8 TERM=xterm chroot '$root' /proftop live -p $busy 2>&1; sleep 100"
        wait_for '● live' && wait_for '▸'
        tm kill-session -t one
        kill $busy
    else
        echo "not run: live, as nothing may be sampled here"
    fi
else
    echo "not run: the screens, as there is no tmux"
fi

# Nor does it need /proc or /dev, or a place to write to, even to record.
mkdir "$dir/bare"
cp "$file" "$dir/bare/proftop"
cp "$source/tests/data/demo.data" "$dir/bare/"
mount --bind "$dir/bare" "$dir/bare" && mount -o remount,ro,bind "$dir/bare" || fault "no directory for a test that is read only"
bare() { env -i PATH="$PATH" TERM=xterm chroot "$dir/bare" /proftop "$@"; }
bare report demo.data 2>"$dir/err" | grep -q '\[demo\]' || fault "report without /proc: $(cat "$dir/err")"
bare doctor | grep -q '/proc  *not there' || fault "doctor does not say that there is no /proc"
bare record --heap -p 1 -o /x.heap 2>"$dir/err" && fault "a heap was recorded without /proc"
if "$file" doctor | grep -q '^  own programs *yes'; then
    bare record -o - -- /proftop report demo.data >"$dir/bare.data" 2>"$dir/err" || fault "record without /proc: $(cat "$dir/err")"
    "$file" info "$dir/bare.data" >"$dir/out" 2>&1 || fault "recorded without /proc: $(cat "$dir/out")"
    bare live -- /proftop report demo.data </dev/null >"$dir/out" 2>"$dir/err" || fault "live without /proc: $(cat "$dir/err")"
    # its own output, and what a report says of it
    [ "$(grep -c ' samples\? of cpu-clock' "$dir/out")" = 2 ] || fault "live without /proc: $(cat "$dir/out" "$dir/err")"
fi

# The library goes where code may be run from, and is gone afterwards.
if "$file" doctor | grep -q '^  of commands *yes'; then
    mount -t tmpfs -o noexec nodev "$dir/noexec" || fault "no file system for a test"
    mkdir "$dir/home"
    cd "$dir/home" || exit 1
    TMPDIR=$dir/noexec "$file" record --heap -o "$dir/x.heap" -- /bin/sh -c 'exec /bin/ls /' >"$dir/out" 2>"$dir/err" ||
        fault "record --heap: $(cat "$dir/err")"
    "$file" report --event malloc "$dir/x.heap" 2>&1 | grep -q 'allocations of malloc' || fault "no heap: $(cat "$dir/err")"
    [ -z "$(ls -A "$dir/noexec")" ] || fault "left behind: $(ls "$dir/noexec")"
    left=$(find /tmp /var/tmp /dev/shm -maxdepth 1 -name 'proftop-library-*' -newer "$dir/home" 2>/dev/null)
    [ -z "$left" ] || fault "left behind: $left"
    # What lives on keeps its library, and the next recording removes it.
    mkdir "$dir/tmp"
    TMPDIR=$dir/tmp "$file" record --heap --children -o "$dir/y.%p.heap" -- /bin/sh -c '/bin/sleep 100 & echo $!' >"$dir/pid" 2>"$dir/err"
    grep -q "process $(cat "$dir/pid") still runs" "$dir/err" || fault "nothing said of what lives on: $(cat "$dir/err")"
    [ -e "$dir"/tmp/proftop-library-*/libproftop-heap.so ] || fault "the library was taken from under a process"
    kill "$(cat "$dir/pid")"
fi

# Each run has a library of its own; a process gets one of them, and is not recorded twice at once.
if "$file" doctor | grep -q '^  of what runs already *yes'; then
    sh -c 'while :; do sleep 0.1; done' &
    busy=$!
    "$file" record --heap -p $busy -o "$dir/first.heap" 2>"$dir/first" &
    recorder=$!
    for _ in $(seq 500); do
        grep -q 'recording the heap of' "$dir/first" && break
        sleep 0.02
    done
    "$file" record --heap -p $busy --duration 1s -o "$dir/second.heap" 2>"$dir/err" && fault "recorded twice at once"
    grep -q 'being recorded already' "$dir/err" || fault "recorded twice at once: $(cat "$dir/err")"
    kill -INT $recorder
    wait $recorder || fault "record --heap -p: $(cat "$dir/first")"
    "$file" record --heap -p $busy --duration 100ms -o "$dir/second.heap" 2>"$dir/err" || fault "recorded again: $(cat "$dir/err")"
    n=$(awk '/proftop-library-/ { print $6 }' "/proc/$busy/maps" | sort -u | wc -l)
    [ "$n" = 1 ] || fault "there are $n libraries in a process that was recorded twice"
    kill $busy
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
echo "one file of $bytes bytes"
