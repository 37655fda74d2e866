#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The heap tracer compiles and links for aarch64, without warnings, where there is a cross compiler; and tests of what it is
# made of are run there, where there is qemu, with a few lines in the place of Criterion.
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

# What walks stacks, keeps them and writes blocks. Not the tracer: under qemu 7.2 a thread that it starts hangs.
plain=(tests/heap/plain_main.c tests/test_heap_wire.c tests/test_own_stack.c tests/test_stack_trie.c tests/test_stitch.c tests/test_tracer_clock.c tests/test_tracer_throttle.c
    tests/test_walk.c)
mapfile -t rooms < <(cd "$root" && ls src/base/*.c src/unwind/*.c src/wire/*.c)
flags=(-O2 -Wall -Wextra -Werror -DHAVE_CONFIG_H -D_GNU_SOURCE -I"$build" -I"$root/src/base" -I"$root/src/unwind" -I"$root/src/wire"
    -I"$root/src/record/heap" -I"$root/tests" -I"$root/tests/fuzz" -I"$root/tests/heap/plain" -fno-omit-frame-pointer
    -Wno-unused-parameter -Wno-unused-but-set-variable)
echo '#include <dwarf.h>' | "$cc" -E - >/dev/null 2>&1 || flags+=(-idirafter /usr/include)
mkdir plain
for source in "${plain[@]}" "${rooms[@]}" src/record/heap/{stack_trie,tracer_clock,tracer_memory,tracer_sample,tracer_throttle}.c tests/fuzz/fuzz_cfi.c tests/fuzz/fuzz_vary.c; do
    "$cc" -c "${flags[@]}" -o "plain/$(basename "$source" .c).o" "$root/$source" || fault "$source does not compile"
done
"$cc" -static -o plain/all plain/*.o -lm -lpthread || fault "the tests do not link"
qemu=${AARCH64_QEMU:-}
for name in qemu-aarch64-static qemu-aarch64; do
    [ -n "$qemu" ] || qemu=$(command -v $name)
done
if [ -z "$qemu" ]; then
    echo "not run: there is no qemu-aarch64"
elif [ "$faults" = 0 ]; then
    timeout 300 "$qemu" plain/all >said || fault "tests fail there: $(grep -v ^passed said)"
    tail -n 1 said
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
