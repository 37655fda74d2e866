#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What findings say of ten programs with one thing planted in each: by hand, as it needs a quiet machine. Exits with 1 where a rule is
# missing that should speak, or one speaks that should not; doc/findings.md has a measurement.
set -uo pipefail

proftop=$(realpath "${PROFTOP:-./proftop}")
source=$(cd "${srcdir:-.}" && pwd)
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99

"${CC:-gcc}" -g -O2 -fno-omit-frame-pointer -pthread -o planted "$source/tests/interop/planted.c" || exit 77
wrong=0
# plant NAME RULES: the rules that may speak, as words; * behind one that need not.
plant() {
    local name=$1 rule said
    "$proftop" record -F 1999 -o x.data -- ./planted "$name" 2>/dev/null || exit 77
    "$proftop" report --view findings --json x.data >x.json || exit 1
    said=$(sed -n 's/.*"rule": "\([^"]*\)".*/\1/p' x.json)
    printf '%-10s %s\n' "$name" "$(echo "$said" | tr '\n' ' ')"
    sed -n 's/.*"sentence": "\(.*\)", "share".*/    \1/p' x.json
    for rule in $2; do
        case $rule in
            *'*') ;;
            *) grep -qx "$rule" <<<"$said" || { echo "  missing: $rule" && wrong=1; } ;;
        esac
    done
    for rule in $said; do
        case " $2 " in
            *" $rule "* | *" $rule* "*) ;;
            *) echo "  not planted: $rule" && wrong=1 ;;
        esac
    done
}
plant sleeps few-samples
plant alike 'flat*'
plant burns hotspot
plant locks 'locks kernel*'
plant allocates allocator
plant copies copying
plant touches page-faults
plant recurses 'recursion hotspot*'
# The kernel copies what it made.
plant reads 'kernel hotspot* few-functions* copying*'
plant phases 'phase few-functions* hotspot*'
exit $wrong
