#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzzes each target, tests/fuzz/fuzz_NAME.c, with libFuzzer and the sanitizers: `make fuzz`.
# SECONDS_EACH (30) says for how long, TARGETS (all) which ones. What is found is left in fuzz/NAME
# of the build directory, as are the inputs worth keeping.
set -eu
src=$1
config=$PWD
shift
clang=$(command -v clang || command -v clang-14 || command -v clang-19) || {
	echo 'fuzz: clang is not installed' >&2
	exit 1
}
includes=(-I"$config" -I"$src/src" -I"$src")
sources=()
for room in base profile unwind input heaptrace perf query elf dwarf symbols; do
	while read -r c; do
		sources+=("$c")
	done < <(find "$src/src/$room" -name '*.c' | sort)
done
while read -r c; do
	sources+=("$c")
done < <(find "$src/formats" -name '*.c' | sort)
# Of the preload library what reads bytes and needs nothing of it.
for name in patch/allocators patch/trampoline patch/elf_symbols trace/tracer_memory patch/x86_code; do
	sources+=("$src/src/record/heap/$name.c")
done
# What protoc-c wrote of messages.
sources+=("$config/profile.pb-c.c" "$config/otlp_profiles.pb-c.c")
# What makes the inputs of a target.
sources+=("$src/tests/support/made_dwarf.c")
targets=${TARGETS:-$(cd "$src/tests/fuzz" && for f in fuzz_*.c; do f=${f#fuzz_}; echo "${f%.c}"; done | grep -vx 'vary\|target')}
flags=(-std=gnu17 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
header=$(find "$src/src" "$src/formats" -name '*.h' -printf '%T@ %p\n' | sort -rn | head -n 1 | cut -d' ' -f2-)
mkdir -p fuzz/objects
for c in "${sources[@]}"; do
	o=fuzz/objects/$(basename "$c" .c).o
	[ "$o" -nt "$c" ] && [ "$o" -nt "$header" ] || "$clang" "${flags[@]}" -fsanitize=fuzzer-no-link,address,undefined \
		"${includes[@]}" -c "$c" -o "$o"
done
failed=0
for t in $targets; do
	mkdir -p "fuzz/$t"
	"$clang" "${flags[@]}" -fsanitize=fuzzer,address,undefined "${includes[@]}" \
		-DFUZZ_TARGET="fuzz_$t" "$src/tests/fuzz/fuzz_$t.c" "$src/tests/fuzz/fuzz_target.c" \
		fuzz/objects/*.o "$@" -o "fuzz/fuzz_$t"
	seeds=()
	[ -d "$src/tests/data/$t" ] && seeds=("$src/tests/data/$t")
	"fuzz/fuzz_$t" -max_total_time="${SECONDS_EACH:-30}" -rss_limit_mb=2048 -timeout=25 \
		-print_final_stats=0 -artifact_prefix="fuzz/$t-" "fuzz/$t" "${seeds[@]}" || failed=1
done
exit $failed
