#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two runs of a program before and after a planted change, recorded by perf, and of one with a planted leak: what was planted
# is the first row and the first reason, and nothing of the rest is beyond noise.
set -uo pipefail

proftop=${PROFTOP:-./proftop}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
faults=0

fault() {
    printf 'FAIL: %s\n' "$*"
    faults=$((faults + 1))
}

cat >"$dir/work.c" <<'TEXT'
#include <stdint.h>
#include <stdlib.h>
static volatile uint64_t sink;
static void *volatile keep;
#define WORK(name) \
	__attribute__((noinline)) static void name(unsigned n) \
	{ \
		uint64_t x = n; \
		for (unsigned i = 0; i < n; i++) \
			x = x * 6364136223846793005u + i; \
		sink += x; \
	}
WORK(read_header) WORK(read_body) WORK(hash_it) WORK(compress_it) WORK(write_out)
__attribute__((noinline)) static void cache_insert(int leaks)
{
	keep = malloc(1000);
	if (!leaks)
		free(keep);
}
int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]), changed = argc > 2;
	for (int i = 0; i < rounds; i++) {
		read_header(2000);
		read_body(changed ? 15000 : 9000);
		hash_it(8000);
		compress_it(15000);
		write_out(5000);
		cache_insert(changed && i % 4 == 0);
	}
	return 0;
}
TEXT
# shellcheck disable=SC2086 # the compiler may have options
${CC:-cc} -O1 -g -fno-omit-frame-pointer -o "$dir/work" "$dir/work.c" 2>/dev/null || {
    echo 'skipped: no compiler'
    exit 77
}

record() { perf record -q -e cpu-clock:u -F 1999 -g -o "$dir/$1" -- "$dir/work" "${@:2}" >/dev/null 2>&1; }

planted_change() {
    local function
    record before.data 30000 && record again.data 30000 && record after.data 30000 changed || {
        echo 'skipped: perf cannot record here'
        return
    }
    "$proftop" diff --report "$dir/before.data" "$dir/after.data" >"$dir/out" || fault 'diff failed'
    grep -v '^#' "$dir/out" | head -1 | grep -q 'read_body' || fault "the first row is another: $(grep -v '^#' "$dir/out" | head -3)"
    grep -q '# *1\. .*read_body.*in itself' "$dir/out" || fault "the first reason is another: $(grep '1\.' "$dir/out")"
    for function in hash_it compress_it write_out; do
        grep -q "noise  $function" "$dir/out" || fault "$function is beyond noise: $(grep $function "$dir/out")"
    done
    "$proftop" diff --fail-if 'self(^read_body$) > +20%' "$dir/before.data" "$dir/after.data" 2>/dev/null
    [ $? = 1 ] || fault '--fail-if does not see the change'
    "$proftop" diff --normalise total --fail-if 'self(_) > +1%' "$dir/before.data" "$dir/again.data" || fault 'noise fails'
}

# One recording of twenty may differ by chance, and machines change their speed: three tries.
for _ in 1 2 3; do
    faults=0
    planted_change
    [ $faults = 0 ] && break
done

if "$proftop" record --heap -o "$dir/before.heap" -- "$dir/work" 2000 >/dev/null 2>&1 &&
    "$proftop" record --heap -o "$dir/after.heap" -- "$dir/work" 2000 changed >/dev/null 2>&1; then
    "$proftop" diff --report --metric leaked "$dir/before.heap" "$dir/after.heap" >"$dir/out" || fault 'diff of heaps failed'
    grep -v '^#' "$dir/out" | head -1 | grep -q '+500 kB.*cache_insert' || fault "the leak is not the first row: $(cat "$dir/out")"
    grep -q '# *1\. +500 kB.*cache_insert' "$dir/out" || fault 'the leak is not the first reason'
    "$proftop" diff --fail-if 'leaked > +400kB' "$dir/before.heap" "$dir/after.heap" 2>/dev/null
    [ $? = 1 ] || fault '--fail-if does not see the leak'
    "$proftop" diff --fail-if 'leaked > +600kB' "$dir/before.heap" "$dir/after.heap" || fault 'a leak that is small enough fails'
else
    echo 'skipped: the heap cannot be recorded here'
fi

[ $faults = 0 ] || { echo "$faults faults"; exit 1; }
echo 'what was planted was found'
