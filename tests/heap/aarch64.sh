#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The heap tracer compiles and links for aarch64, without warnings, where there is a cross compiler; and tests of what it is
# made of are run there, where there is qemu, with a few lines in the place of Criterion; and programs under the tracer,
# each call of which is counted.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/heap/lib.sh"

cc=("${AARCH64_CC:-aarch64-linux-gnu-gcc}")
# ./bootstrap static aarch64 leaves the libraries of such a machine there.
sysroot=$root/build-static-aarch64/sysroot
[ ! -e "$sysroot/usr/include/zstd.h" ] || cc+=("--sysroot=$sysroot")
if ! echo '#include <zstd.h>' | "${cc[@]}" -E - >/dev/null 2>&1; then
    echo "skipped: there is no ${cc[0]} that finds zstd.h"
    exit 77
fi
mapfile -t sources < <(cd "$root" && cat src/record/heap/local.mk src/record/heap/*/local.mk | sed -n '/^libproftop_heap_so_SOURCES/,/[^\\]$/p' | grep -o '[a-z0-9_/]*\.c')
[ ${#sources[@]} -gt 30 ] || fault "only ${#sources[@]} sources"
flags=(-O2 -Wall -Wextra -Werror -DHAVE_CONFIG_H -D_GNU_SOURCE -I"$build" -I"$root/src"
    -include "$root/src/record/heap/own_malloc.h" -fPIC -fvisibility=hidden
    -fno-omit-frame-pointer -ftls-model=initial-exec)
for source in "${sources[@]}"; do
    "${cc[@]}" -c "${flags[@]}" -o "$(basename "$source" .c).o" "$root/$source" || fault "$source does not compile"
done
# The library that it is packed with may not be installed for aarch64.
if echo 'int main(void) { return 0; }' | "${cc[@]}" -x c - -o nothing -l:libzstd.a 2>/dev/null; then
    "${cc[@]}" -shared -o libproftop-heap.so ./*.o -Wl,-z,defs -Wl,--exclude-libs,ALL -l:libzstd.a -lpthread || fault "it does not link"
fi

# What walks stacks, keeps them and writes blocks.
plain=(tests/plain/plain_main.c tests/heaptrace/test_heap_wire.c tests/support/test_own_stack.c tests/record/test_stack_trie.c tests/unwind/test_stitch.c tests/record/test_pass_cost.c tests/record/test_tracer_clock.c tests/record/test_tracer_throttle.c
    tests/unwind/test_walk.c)
mapfile -t rooms < <(cd "$root" && ls src/base/*.c src/unwind/*.c src/heaptrace/*.c src/perf/abi/*.c)
flags=(-O2 -Wall -Wextra -Werror -DHAVE_CONFIG_H -D_GNU_SOURCE -I"$build" -I"$root/src"
    -I"$root" -I"$root/tests/plain" -fno-omit-frame-pointer
    -Wno-unused-parameter -Wno-unused-but-set-variable)
echo '#include <dwarf.h>' | "${cc[@]}" -E - >/dev/null 2>&1 || flags+=(-idirafter /usr/include)
mkdir plain
# Return addresses are signed, as qemu's processor can.
pac=(-mbranch-protection=pac-ret+leaf)
for source in "${plain[@]}" "${rooms[@]}" src/record/heap/{stack/stack_trie,trace/pass_cost,trace/tracer_clock,trace/shared_memory,trace/tracer_lock,trace/tracer_memory,trace/tracer_sample,trace/tracer_throttle}.c tests/fuzz/fuzz_cfi.c tests/fuzz/fuzz_vary.c; do
    signed=()
    [[ $source != *own_stack.c ]] || signed=("${pac[@]}")
    "${cc[@]}" -c "${flags[@]}" "${signed[@]}" -o "plain/$(basename "$source" .c).o" "$root/$source" || fault "$source does not compile"
done
"${cc[@]}" -static -o plain/all plain/*.o -lm -lpthread || fault "the tests do not link"
qemu=${AARCH64_QEMU:-}
for name in qemu-aarch64-static qemu-aarch64; do
    [ -n "$qemu" ] || qemu=$(command -v $name)
done
if [ -z "$qemu" ]; then
    echo "not run: there is no qemu-aarch64"
elif [ "$faults" = 0 ]; then
    timeout 300 "$qemu" plain/all >said 2>&1 || fault "tests fail there: $(cat said)"
    tail -n 1 said
fi

# exact PROGRAM WORK N: recorded there, it is as it is without us, and what it does is in the trace to the call.
exact() {
    local plain traced name
    rm -f trace.heap counts log
    timeout -k 5 120 "$qemu" "./$@" >plain.out 2>&1
    plain=$?
    timeout -k 5 120 "$qemu" -E LD_PRELOAD="$work/libproftop-heap.so $work/count_shim.so" -E COUNT_SHIM=counts -E PROFTOP_CHECK=1 \
        -E PROFTOP_OUTPUT="$work/trace.heap" -E PROFTOP_LOGFILE="$work/log" "./$@" >traced.out 2>&1
    traced=$?
    [ "$plain" = "$traced" ] && cmp -s plain.out traced.out || fault "$*: ends with $traced, not $plain, and prints $(head -c 300 traced.out)"
    "$tools/heap_totals" trace.heap >totals || fault "$*: the trace cannot be read"
    sound "$*" totals
    # Also through handlers of signals, which return to code without unwind tables.
    [ "$(value ended totals)" = 1 ] && [ "$(value incomplete totals)" = 0 ] || fault "$*: $(tr '\n' ' ' <totals)"
    grep -q '^.* [1-9][0-9]* stacks were compared with full walks, 0 were wrong' log || fault "$*: $(grep compared log)"
    for name in allocs reallocs frees bytes; do
        [ "$(value $name totals)" = "$(value $name counts)" ] || fault "$*: $name $(value $name totals), not $(value $name counts)"
    done
    echo "$*: $(value allocs totals) allocations, $(value stacks totals) stacks"
}
# With the loader and the libc of one directory: those of two versions of glibc do not know each other's structures.
loader=$("${cc[@]}" -print-file-name=ld-linux-aarch64.so.1)
if [ -n "$qemu" ] && [ "$faults" = 0 ] && [ -e libproftop-heap.so ] && [ -e "$loader" ]; then
    flags=(-O2 -D_GNU_SOURCE -I"$root/src" -I"$root/tests/heap" -fPIC)
    loader=$(realpath -s "$loader")
    "${cc[@]}" -shared "${flags[@]}" -o count_shim.so "$root/tests/heap/count_shim.c" &&
        "${cc[@]}" "${flags[@]}" -pie -o heap_work "$root"/tests/heap/heap_work.c "$root"/tests/heap/works_*.c -lpthread \
            -Wl,--dynamic-linker="$loader" -Wl,-rpath,"${loader%/*}" || fault "programs do not link"
    # Not `clone`: qemu makes a fork of a clone that shares memory, so that the counts of the library stay in the child.
    # The same where return addresses are signed, and where frames have no frame pointers.
    "${cc[@]}" "${flags[@]}" "${pac[@]}" -pie -o heap_signed "$root"/tests/heap/heap_work.c "$root"/tests/heap/works_*.c -lpthread \
        -Wl,--dynamic-linker="$loader" -Wl,-rpath,"${loader%/*}" || fault "signed programs do not link"
    "${cc[@]}" "${flags[@]}" -fomit-frame-pointer -pie -o heap_lean "$root"/tests/heap/heap_work.c "$root"/tests/heap/works_*.c -lpthread \
        -Wl,--dynamic-linker="$loader" -Wl,-rpath,"${loader%/*}" || fault "programs without frame pointers do not link"
    # hint #25: sign x30
    [ "$(od -An -v -tx4 -w4 heap_signed | grep -c d503233f)" -gt 20 ] || fault "no return address is signed"
    for work_of in 'heap_signed single 500' 'heap_signed deep 300' 'heap_signed signals 200' 'heap_signed longjmp 100' \
        'heap_signed contexts 100' 'heap_lean single 500' 'heap_lean deep 300' 'heap_lean signals 200'; do
        # shellcheck disable=SC2086
        exact $work_of
    done
    for work_of in 'single 2000' 'threads 500' 'short-threads 30' 'deep 300' 'signals 200' 'altstack 100' 'longjmp 100' \
        'contexts 100' 'fork 5' 'vfork 5' 'sizes 1' 'errno 50'; do
        # shellcheck disable=SC2086
        exact heap_work $work_of
    done
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
