#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program that is one file (./bootstrap static) in root directories of other systems, as debootstrap makes them: a report, a
# screen, a live view, a recording of the cpu, heaps from the start and of what runs. Nothing in them is changed but /tmp, and they
# have no terminfo meanwhile. A table of what was seen. tests/roots.sh FILE DIRECTORY…
set -uo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -lt 2 ] || [ ! -x "$1" ]; then
    echo "usage: tests/roots.sh FILE DIRECTORY…" >&2
    exit 2
fi
# With a mount namespace of its own, and so no trace of what is mounted here.
if [ "${ROOTS_INSIDE:-}" != 1 ]; then
    ROOTS_INSIDE=1 exec unshare --mount "$0" "$@"
fi
file=$(realpath "$1")
shift

dir=$(mktemp -d)
root=$(mktemp -d) # where each is mounted; never removed with what is in it
tm() { tmux -S "$dir/socket" -f /dev/null "$@"; }
finish() {
    tm kill-server 2>/dev/null
    umount -R -l "$root" 2>/dev/null
    rmdir "$root"
    rm -rf "$dir"
}
trap finish EXIT
mkdir "$dir/none"
tm new-session -d -s keep 'sleep 1000'

path=/usr/bin:/bin:/usr/sbin:/sbin
inside() { env -i PATH=$path LANG=C.UTF-8 TERM=xterm-256color chroot "$root" "$@"; }

# mounted DIRECTORY: as root, with a /tmp of its own that has the program and a recording
mounted() {
    mount --bind "$1" "$root" && mount --bind /proc "$root/proc" && mount --bind /dev "$root/dev" &&
        mount -t tmpfs tmp "$root/tmp" || return
    for terminfo in usr/share/terminfo lib/terminfo usr/lib/terminfo etc/terminfo; do
        [ ! -d "$root/$terminfo" ] || mount --bind "$dir/none" "$root/$terminfo"
    done
    cp "$file" "$root/tmp/proftop"
    cp "$source/tests/data/demo.data" "$source/tests/data/demo" "$root/tmp/"
}

# shows TEXT COMMAND…: it is on the screen of that command within 10 s
shows() {
    local text=$1 i
    shift
    tm new-session -d -s one -x 80 -y 24 "env -i PATH=$path LANG=C.UTF-8 TERM=xterm-256color chroot '$root' $*; sleep 100"
    for i in $(seq 500); do
        tm capture-pane -t one -p | grep -qF -- "$text" && break
        sleep 0.02
    done
    tm capture-pane -t one -p >"$dir/screen"
    tm kill-session -t one
    grep -qF -- "$text" "$dir/screen"
}

# The C library of the root directory, by what it says of itself.
libc_of() {
    local libc
    libc=$(find "$root/lib/" "$root/usr/lib/" -maxdepth 2 \( -name 'libc.so.6' -o -name 'ld-musl-*.so.1' \) 2>/dev/null | head -n 1)
    [ -n "$libc" ] || { echo none; return; }
    case $libc in
        *musl*) echo "musl $(strings "$libc" | grep -xE '1\.[0-9]+\.[0-9]+' | head -n 1)" ;;
        *) echo "glibc $(strings "$libc" | sed -n 's/^GNU C Library.* version \([0-9.]*[0-9]\).*/\1/p')" ;;
    esac
}

faults=0
cell() {
    if "${@:2}" >>"$dir/log" 2>&1; then
        row+=" | yes"
    else
        row+=" | NO"
        faults=$((faults + 1))
        printf '%s, %s:\n' "$name" "$1"
        tail -n 8 "$dir/log"
        grep . "$dir/screen" | head -n 8
    fi
}
report() { inside /tmp/proftop report --symbols /tmp /tmp/demo.data | grep -q match_length; }
screen() { shows '1,142 samples' /tmp/proftop /tmp/demo.data; }
live() { shows "▸" /tmp/proftop live -- sh -c "'while :; do :; done'" && grep -q "● live" "$dir/screen"; }
cpu() {
    inside /tmp/proftop record -o /tmp/x.data -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' &&
        inside /tmp/proftop report /tmp/x.data >"$dir/cpu" && cat "$dir/cpu" && grep -q 'samples of' "$dir/cpu" &&
        ! grep -A 1 'SELF %' "$dir/cpu" | grep -q 'unknown'
}
# A program of the system itself.
heap() {
    inside /tmp/proftop record --heap -o /tmp/x.heap -- ls -R /etc && inside /tmp/proftop report --event malloc /tmp/x.heap | tee "$dir/heap" &&
        grep -q 'allocations of malloc' "$dir/heap"
}
# What runs for a while and allocates: a shell that makes strings.
running() {
    local pid status
    # exec: $! is then the shell in there
    (exec env -i PATH=$path chroot "$root" sh -c 'while :; do set -- a$1; [ ${#1} -lt 500 ] || set -- a; sleep 0.01; done') &
    pid=$!
    sleep 0.5
    inside /tmp/proftop record --heap -p $pid --duration 2s -o /tmp/y.heap
    status=$?
    kill $pid
    # musl: a sentence
    [ $status = 0 ] && inside /tmp/proftop info /tmp/y.heap || { [[ $libc == musl* ]] && grep -q 'uses the C library musl' "$dir/log"; }
}
printf '| root directory | C library | report | screen | live | record | record --heap | --heap -p |\n|---|---|---|---|---|---|---|---|\n' >"$dir/table"
for directory in "$@"; do
    name=$(basename "$directory")
    : >"$dir/log"
    mounted "$directory" || { echo "$directory cannot be mounted"; faults=$((faults + 1)); continue; }
    libc=$(libc_of)
    row="| $name | $libc"
    cell report report
    cell screen screen
    cell live live
    cell record cpu
    cell 'record --heap' heap
    cell '--heap -p' running
    echo "$row |" >>"$dir/table"
    umount -R -l "$root"
done
cat "$dir/table"
[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
