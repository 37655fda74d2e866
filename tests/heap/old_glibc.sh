#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Stacks where the C library has no _dl_find_object, as glibc before 2.35: the library looks for a name that is nowhere instead. And
# what the library of the one file needs of glibc, where it was built.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/heap/lib.sh"

usual=$tracer
tracer=$work/libproftop-heap.so
LC_ALL=C sed 's/_dl_find_object/_dl_find_nobody/g' "$usual" >"$tracer"
cmp -s "$usual" "$tracer" && fault "the library does not look for _dl_find_object"
for one in 'single 2000' 'threads 200' 'deep 300' 'signals 200' 'libraries 20'; do
    # shellcheck disable=SC2086
    compare exact $one
    [ "$(value incomplete totals)" = 0 ] || fault "$one: $(value incomplete totals) stacks end early"
    [ "$(value nodes totals)" -gt 10 ] || fault "$one: $(value nodes totals) frames in all stacks"
done

# glibc 2.17 is that of CentOS 7.
one=$build/heap_library.so
if [ -e "$one" ]; then
    newer=$(readelf -W --dyn-syms "$one" | grep -oE '@GLIBC_[0-9.]+' | tr -d '@' | sort -Vu | sed -n '/^GLIBC_2\.17$/,$p' | grep -vx 'GLIBC_2.17')
    [ -z "$newer" ] || fault "the library of the one file needs $newer"
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
