#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What findings say of ten programs with one thing planted in each (tests/interop/planted.c): the rule that names it speaks, and no
# other. Reads the recordings of tests/data/planted. --record makes recordings of its own instead, on a quiet machine, and --keep DIR
# leaves these as packs in a directory, as those of tests/data/planted were made; doc/findings.md has what one such run said.
source=$(cd "${srcdir:-.}" && pwd)
made=$source/tests/data/planted
keep=
case ${1:-} in
    --record) made= ;;
    --keep) made= keep=$(realpath "$2") || exit 1 ;;
esac
# shellcheck source=tests/cli_lib.sh
. "$source/tests/cli_lib.sh"
proftop=$(realpath "$proftop" 2>/dev/null || command -v "$proftop")
[ "$made" ] || ${CC:-gcc} -g -O2 -fno-omit-frame-pointer -pthread -o planted "$source/tests/interop/planted.c" || exit 77

# plant NAME RULE SENTENCE…: only that rule speaks ("": none), as often as there are sentences; each has the extended expression.
plant() {
    local name=$1 rule=$2 rules want='' sentence file=$made/$1.pack
    shift 2
    if [ ! "$made" ]; then
        file=$name.data
        "$proftop" record -F 997 -o "$file" -- ./planted "$name" >/dev/null 2>&1 || exit 77
        [ ! "$keep" ] || "$proftop" pack --without command,host,environment,cgroups,labels,paths,sources,code \
            -o "$keep/$name.pack" "$file" 2>/dev/null || fault "$name was not packed"
    fi
    run 0 report --view findings --json "$file"
    rules=$(sed -n 's/.*"rule": "\([^"]*\)".*/\1/p' out | tr '\n' ' ')
    printf '%-10s %s\n' "$name" "$rules"
    sed -n 's/.*"sentence": "\(.*\)", "share".*/\1/p' out >sentences
    sed 's/^/    /' sentences
    for sentence; do
        want="$want$rule "
        grep -qE -- "$sentence" sentences || fault "$name: no \"$sentence\""
    done
    [ "$rules" = "$want" ] || fault "$name: \"$rules\", not \"$want\""
}

plant sleeps few-samples '^There (is|are) only '
plant alike ''
plant burns hotspot '^One function takes (4|5)[0-9.]* % of the CPU time by itself: burn\.$'
plant locks locks 'is spent on locks.* is called by contend\.$'
plant allocates allocator 'is spent in the allocator; [0-9.]* % of that is called by allocate\.$'
plant copies copying 'copies or sets memory; [0-9.]* % of that is called by copy\.$'
plant touches page-faults 'is spent on page faults; [0-9.]* % of that is called by touch\.$'
plant recurses recursion '^walk[a-z.0-9]* calls itself, up to 1[0-9] deep: .*; its own code takes 9[0-9.]* %\.$'
plant reads kernel 'is spent in the kernel \([0-9.]* % in chacha.*\); [0-9.]* % of that is called by read_random\.$'
plant phases phase '^From the start to [0-9.]* ms, load runs: ' '^From [0-9.]* ms to the end, compute runs: '
exit $((faults > 0))
