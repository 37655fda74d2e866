#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The heap tracer compiles and links for aarch64, without warnings, where there is a cross compiler. Nothing of it is run.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/heap/lib.sh"

cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}
if ! echo '#include <zstd.h>' | "$cc" -E - >/dev/null 2>&1; then
    echo "skipped: there is no $cc that finds zstd.h"
    exit 77
fi
mapfile -t sources < <(cd "$root" && sed -n '/^libproftop_heap_so_SOURCES/,/[^\\]$/p' Makefile.am | grep -o '[a-z0-9_/]*\.c')
[ ${#sources[@]} -gt 30 ] || fault "only ${#sources[@]} sources"
flags=(-O2 -Wall -Wextra -Werror -DHAVE_CONFIG_H -D_GNU_SOURCE -I"$build" -I"$root/src/base" -I"$root/src/unwind" -I"$root/src/wire"
    -I"$root/src/record/heap" -include "$root/src/record/heap/own_malloc.h" -fPIC -fvisibility=hidden
    -fno-omit-frame-pointer -ftls-model=initial-exec)
for source in "${sources[@]}"; do
    "$cc" -c "${flags[@]}" -o "$(basename "$source" .c).o" "$root/$source" || fault "$source does not compile"
done
# The library that it is packed with may not be installed for aarch64.
if echo 'int main(void) { return 0; }' | "$cc" -x c - -o nothing -l:libzstd.a 2>/dev/null; then
    "$cc" -shared -o libproftop-heap.so ./*.o -Wl,-z,defs -Wl,--exclude-libs,ALL -l:libzstd.a -lpthread || fault "it does not link"
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
