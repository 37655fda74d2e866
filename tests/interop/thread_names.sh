#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What threads of nested shells are called when, against perf script: FORK and COMM records of several cpus are not in the order of
# their times in a file, and those of `perf record --threads` are in several. Skipped where perf cannot record.
. "$(dirname "$0")/compare.sh"
needs perf
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
perf record -q -e cpu-clock -a -o "$dir/trial.data" -- true >/dev/null 2>&1 || skip 'perf does not record all cpus here'

cat >"$dir/nest.sh" <<'EOF'
work() { local i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; /bin/true; }
if [ "$1" -gt 0 ]; then
    work
    (work; (work; bash "$0" $(($1 - 1)) & wait) & wait) &
    bash "$0" $(($1 - 1))
    wait
fi
EOF

# "NAME COUNT", by perf and by proftop; names of processes and of mere numbers. perf calls nobody -1.
names() {
    PERF_BUILDID_DIR=$dir perf script -G -i "$1" -F comm,tid 2>/dev/null | sed 's/ *-*[0-9]* *$//; s/^ *//; s/ /_/g; s/;/:/g' >"$dir/comms"
    sed 's/^:-1_*$/:-1/' "$dir/comms" | sort | uniq -c | awk '{ print $2, $1 }' | sort >"$dir/perf"
    "$proftop" export --to folded --metric samples "$1" 2>"$dir/said" | sed 's/^\([^; ]*\)[; ].* \([0-9]*\)$/\1 \2/' |
        awk '{ n[$1] += $2 } END { for (name in n) print name, n[name] }' | sort >"$dir/ours"
}

status=0
for options in '-m 4096' '--threads' '-g'; do
    # shellcheck disable=SC2086 # several options
    perf record -q -e cpu-clock -a -F 4999 $options -o "$dir/x.data" -- bash "$dir/nest.sh" 6 >/dev/null 2>&1 || {
        echo "perf does not record with $options"
        continue
    }
    names "$dir/x.data"
    if ! diff "$dir/perf" "$dir/ours"; then
        echo "names of threads with $options by perf (<) and by proftop (>) differ"
        cat "$dir/said"
        status=1
    fi
    rm -rf "$dir/x.data" "$dir/x.data.old"
done
exit $status
