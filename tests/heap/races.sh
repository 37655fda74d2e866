#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What threads of the heap tracer do to each other, by a compiler's thread sanitizer: the tracer without its hooks, as a
# program whose threads tell it of blocks. Each way of recording is to give no report, and every event is to be in the trace.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/heap/lib.sh"

cc=${CC:-gcc}
read -ra sanitized <<<"$cc -fsanitize=thread"
# Its memory wants to be where it is not when addresses are random.
fixed=(setarch -R)
if ! echo 'int main(void) { return 0; }' | "${sanitized[@]}" -x c - -o nothing 2>/dev/null || ! "${fixed[@]}" ./nothing 2>/dev/null; then
    echo "skipped: there is no thread sanitizer that works here"
    exit 77
fi
mapfile -t sources < <(cd "$root" && cat src/record/heap/local.mk src/record/heap/*/local.mk | sed -n '/^libproftop_heap_so_SOURCES/,/[^\\]$/p' | grep -o '[a-z0-9_/]*\.c' |
    grep -v -E 'hooks/hooks_(alloc|process|range)\.c')
[ ${#sources[@]} -gt 30 ] || fault "only ${#sources[@]} sources"
flags=(-g -O1 -w -DHAVE_CONFIG_H -D_GNU_SOURCE -I"$build" -I"$root/src"
    -fno-omit-frame-pointer -fno-optimize-sibling-calls)
mkdir objects
for source in "${sources[@]}"; do
    "${sanitized[@]}" -c "${flags[@]}" -include "$root/src/record/heap/own_malloc.h" -o "objects/$(basename "$source" .c).o" "$root/$source" ||
        fault "$source does not compile"
done
"${sanitized[@]}" "${flags[@]}" "$root/tests/heap/races.c" objects/*.o -o races -lzstd -lpthread -ldl || fault "it does not link"

# races N VARIABLE…: the races of N pairs a thread, with these variables.
races() {
    local pairs=$1
    shift
    rm -f trace.heap
    env TSAN_OPTIONS=exitcode=9 PROFTOP_LOGFILE="$work/log" PROFTOP_OUTPUT="$work/trace.heap" "$@" "${fixed[@]}" ./races "$pairs" >said 2>reports ||
        fault "$*: ends with $?: $(grep -m 3 SUMMARY reports)"
    "$tools/heap_totals" trace.heap >totals || fault "$*: the trace cannot be read"
    echo "$*: $(tr '\n' ' ' <totals)"
}

# exact VARIABLE…: and every event is there.
exact() {
    local allocs reallocs left
    races 4000 "$@"
    read -r allocs reallocs left <said
    sound "$*" totals
    [ "$(value allocs totals) $(value reallocs totals) $(value live totals)" = "$((allocs + reallocs)) $reallocs $left" ] ||
        fault "$*: $allocs allocations, $reallocs reallocations and $left blocks left are $(value allocs totals) $(value reallocs totals) $(value live totals)"
    [ "$(value threads totals)" = 12 ] || fault "$*: $(value threads totals) threads, not 12"
}
exact PROFTOP_CHECK=0 PROFTOP_ADDRESSES=1
[ "$(value evicted totals)" -gt 100 ] || fault "only $(value evicted totals) evicted"
exact PROFTOP_CULL=1ms
exact PROFTOP_CULL=1ms PROFTOP_ADDRESSES=1
exact PROFTOP_CHECK=0
exact PROFTOP_FREE_STACKS=1 PROFTOP_CHECK=10
races 4000 PROFTOP_SAMPLE=4k
races 4000 PROFTOP_MAX_OVERHEAD=5%

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
