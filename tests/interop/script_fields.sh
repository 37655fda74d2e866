#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Any fields that perf script -F may print open, and hold the same stacks; skipped where perf cannot record.
. "$(dirname "$0")/compare.sh"
needs perf
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export PERF_BUILDID_DIR=$dir
${CC:-cc} -O1 -fno-omit-frame-pointer -o "$dir/prog" "$here/prog.c" -lpthread || exit 99

# Stacks without the name of a thread, which not all fields tell.
stacks() {
    "$proftop" export --to folded --metric samples "$1" 2>"$dir/said" |
        awk '{ n = $NF; sub(/ [0-9]*$/, ""); sub(/^(:[0-9]+|prog[^;]*|a_[^;]*|[^;]*worker[^;]*|perf[^;]*|true);/, ""); count[$0] += n }
            END { for (s in count) print s, count[s] }' | sort
}

status=0
for chains in -g ''; do
    perf record -q -e cpu-clock -F 997 $chains -o "$dir/x.data" -- "$dir/prog" 0.2 >/dev/null 2>&1 || skip 'perf does not record here'
    perf script --no-inline -i "$dir/x.data" -F comm,tid,time,event,ip,sym 2>/dev/null >"$dir/all.txt"
    stacks "$dir/all.txt" >"$dir/all"
    for fields in comm,tid comm,pid pid,tid comm tid period comm,period comm,tid,period period,event event time misc,comm,tid '' comm,tid,time; do
        for more in ip,sym ip,sym,dso ip,sym,symoff; do
            perf script --no-inline -i "$dir/x.data" -F "${fields:+$fields,}$more" 2>/dev/null >"$dir/some.txt"
            stacks "$dir/some.txt" >"$dir/some"
            # Where modules are told, frames without a symbol are called by them.
            if [ "$more" = ip,sym,dso ]; then
                [ "$(awk '{ n += $NF } END { print n }' "$dir/some")" = "$(awk '{ n += $NF } END { print n }' "$dir/all")" ] && continue
            else
                cmp -s "$dir/all" "$dir/some" && continue
            fi
            echo "-F ${fields:+$fields,}$more of a recording with '$chains' does not hold the same stacks:"
            cat "$dir/said"
            diff "$dir/all" "$dir/some" | head -5
            status=1
        done
    done
done
perf report --stdio -i "$dir/x.data" >"$dir/report.txt" 2>/dev/null
if "$proftop" report "$dir/report.txt" >/dev/null 2>"$dir/said" || ! grep -q 'the output of perf report; open the perf.data that it was made of$' "$dir/said"; then
    echo 'the output of perf report is not refused by its name:'
    cat "$dir/said"
    status=1
fi
exit $status
