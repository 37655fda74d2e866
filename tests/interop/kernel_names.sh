#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A killed recording says neither its host nor the kernel's build-id: the running kernel's names are used where its code is as long
# as that of the recorded one, and no names otherwise. Skipped where perf cannot record all of the system.
. "$(dirname "$0")/compare.sh"
proftop=${PROFTOP:-./proftop}
command -v perf >/dev/null 2>&1 || skip 'perf is not installed'
command -v python3 >/dev/null 2>&1 || skip 'python3 is not installed'
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
perf record -q -e cpu-clock:k -a -m 4 -F 999 -o "$dir/x.data" -- sleep 30 >/dev/null 2>&1 &
perf=$!
sleep 1
kill -9 "$perf" 2>/dev/null
wait "$perf" 2>/dev/null
sleep 0.1
[ -s "$dir/x.data" ] || skip 'perf does not record all cpus here'

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
exit $status
