# SPDX-License-Identifier: GPL-3.0-or-later
# What the tests of the command line share: sourced by them, it ends in a scratch directory of their own.
set -uo pipefail

proftop=${PROFTOP:-./proftop}
source=$(cd "${srcdir:-.}" && pwd)
data=$source/tests/data
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C.UTF-8
unset NO_COLOR
faults=0

fault() {
    printf 'FAIL: %s\n' "$*"
    faults=$((faults + 1))
}

# run STATUS ARGUMENT…: runs proftop (its $run_verb, if there is one) and wants that exit status; leaves ./out and ./err.
run() {
    local want=$1 got
    shift
    # shellcheck disable=SC2086 # one word or none
    timeout 60 "$proftop" ${run_verb:-} "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ] || fault "proftop ${run_verb:-} $*: exit status $got, not $want: $(head -c 300 err)"
}

# says FILE TEXT: the file has that text.
says() { grep -qF -- "$2" "$1" || fault "no \"$2\" in: $(head -c 700 "$1")"; }

# One sentence on standard error: one line, no more.
one_sentence() { [ "$(wc -l <err)" = 1 ] || fault "not one line: $(cat err)"; }
