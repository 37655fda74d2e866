#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A killed recording says neither its host nor the kernel's build-id: the running kernel's names are used where its code is as long
# as that of the recorded one, and no names otherwise. Skipped where perf cannot record all of the system.
. "$(dirname "$0")/compare.sh"
needs perf python3
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
perf record -q -e cpu-clock:k -a -m 4 -F 999 -o "$dir/x.data" -- sleep 60 >/dev/null 2>&1 &
perf=$!
# A busy machine may have it write the first samples late: it is killed when they are there.
samples=0
for _ in {1..100}; do
    sleep 0.2
    kill -0 "$perf" 2>/dev/null || break
    cp "$dir/x.data" "$dir/begun.data" 2>/dev/null || continue
    samples=$("$proftop" info --json "$dir/begun.data" 2>/dev/null | sed -n 's/^"samples": \([0-9]*\),/\1/p')
    [ "${samples:-0}" -lt 20 ] || break
done
sleeper=$(ps -o pid= --ppid "$perf")
kill -9 "$perf" 2>/dev/null
wait "$perf" 2>/dev/null
# shellcheck disable=SC2086 # one number, or none
[ -z "$sleeper" ] || kill $sleeper
[ "${samples:-0}" -ge 20 ] || skip 'perf does not record all cpus here'

# The length of the kernel's code stands before its name: of another kernel it is another one.
python3 - "$dir" <<'EOF' || skip 'perf tells no mapping of the kernel here'
import sys
data = bytearray(open(sys.argv[1] + '/x.data', 'rb').read())
at = data.find(b'[kernel.kallsyms]_')
if at < 0:
    sys.exit(1)
length = int.from_bytes(data[at - 16:at - 8], 'little') + 0x1000
data[at - 16:at - 8] = length.to_bytes(8, 'little')
open(sys.argv[1] + '/other.data', 'wb').write(data)
EOF
status=0
if ! "$proftop" info "$dir/x.data" | grep -q '\[kernel\].*have no name'; then
    if "$proftop" info "$dir/other.data" | grep -q '\[kernel\].*have no name'; then
        :
    else
        echo 'a recording of another kernel has the names of the running one:'
        "$proftop" report "$dir/other.data" | head -8
        status=1
    fi
else
    "$proftop" info "$dir/x.data" | grep '\[kernel\]'
    skip 'the running kernel tells no names, or has modules'
fi

# Started anew with another kernel, the machine has its files still: those that were recorded without a build-id, too.
${CC:-cc} -O1 -g -o "$dir/prog" "$here/prog.c" -lpthread || exit 99
if perf record -q -B -N -e cpu-clock -F 997 -o "$dir/now.data" -- "$dir/prog" 0.2 >/dev/null 2>&1 && python3 - "$dir" <<'EOF'; then
import os, sys
data = bytearray(open(sys.argv[1] + '/now.data', 'rb').read())
release = os.uname().release.encode() + b'\0'
at = data.rfind(release)
if at < 0:
    sys.exit(1)
data[at:at + len(release) - 1] = b'2.6.18'.ljust(len(release) - 1, b'x')
open(sys.argv[1] + '/before.data', 'wb').write(data)
EOF
    # Functions of the program's own, and of the kernel.
    own() { "$proftop" report --json "$1" | grep -o "\"name\": \"[^\"]*\", \"module\": \"$2\"" | sort; }
    own "$dir/now.data" prog >"$dir/now"
    own "$dir/before.data" prog >"$dir/before"
    if [ ! -s "$dir/now" ] || ! cmp -s "$dir/now" "$dir/before"; then
        echo 'after a start with another kernel a program without build-id has other names:'
        diff "$dir/now" "$dir/before" | head -5
        status=1
    fi
    if "$proftop" info "$dir/before.data" | grep '\[kernel\]' | grep -v 'another kernel than the recorded one runs'; then
        echo 'a recording of another kernel has the names of the running one'
        status=1
    fi
fi
exit $status
