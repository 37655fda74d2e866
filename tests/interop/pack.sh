#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A pack of a C++ program's recording shows in an empty root directory, without programs and sources, what the recording shows
# where it was made: every screen, every report, annotations of every function; and what --without leaves out is nowhere in it.
# Skipped without a compiler, or where nothing can be recorded; where no root directory can be changed, programs and sources are
# moved away.
set -uo pipefail

proftop=$(realpath "${PROFTOP:-./proftop}")
source=$(cd "${srcdir:-.}" && pwd)
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
export HOME=$dir LC_ALL=C.UTF-8
faults=0
fault() {
    printf 'FAIL: %s\n' "$*"
    faults=$((faults + 1))
}

mkdir code here there
cp "$source/demo/code/records.cc" code/
${CXX:-g++} -g -O2 -o code/records code/records.cc 2>/dev/null || {
    echo 'skipped: no C++ compiler'
    exit 77
}
timeout -s INT 2 "$proftop" record -o here/x -- code/records >/dev/null 2>&1
[ -s here/x ] || {
    echo 'skipped: nothing can be recorded here'
    exit 77
}
timeout 60 "$proftop" pack -o there/x here/x 2>said || fault "pack: $(cat said)"
grep -q 'lines of source and instructions (--without .*sources,code leaves out)' said ||
    fault "pack does not list sources and code: $(cat said)"

# An empty root: the program, and its libraries where no recording looks for them.
mkdir -p there/none there/tmp
cp "$proftop" there/none/proftop
ldd "$proftop" | sed -nE 's/^.*=> (\/[^ ]+) .*/\1/p; s/^[[:space:]]*(\/[^ ]+) \(.*/\1/p' | xargs -I{} cp -L {} there/none/
loader=$(basename "$(ldd "$proftop" | sed -nE 's/^[[:space:]]*(\/[^ ]+) \(.*/\1/p' | head -n 1)")
change=
for how in 'chroot' 'unshare -r chroot'; do
    # shellcheck disable=SC2086 # words
    $how there "/none/$loader" --library-path /none /none/proftop --version >/dev/null 2>&1 && change=$how && break
done
here() { (cd here && timeout 60 "$proftop" "$@"); }
if [ -n "$change" ]; then
    # shellcheck disable=SC2086 # words
    there() { timeout 60 $change there "/none/$loader" --library-path /none /none/proftop "$@"; }
else
    echo 'no root directory can be changed: only the program and its source are away'
    there() { (cd there && mv ../code ../away && timeout 60 "$proftop" "$@" && mv ../away ../code); }
fi

n=0
# The file's format is that of the pack, and nothing else differs.
same() {
    here "$@" x 2>err.here | sed 's/"format": "perf.data"/"format": "pack"/' >out.here
    there "$@" x 2>err.there >out.there
    cmp -s out.here out.there || fault "$*: $(diff out.here out.there | head -n 6)"
    [ -s out.here ] || fault "$*: nothing: $(cat err.here)"
    n=$((n + 1))
}
for view in top tree callers flame threads timeline findings annotate; do
    same report --view $view
    same report --view $view --json
done
same export --to folded
same export --to folded --inline
here report -n 0 --json x | sed -n 's/^{"name": "\(.*\)", "module.*/\1/p' | sed 's/[][\.*^$+?(){}|]/\\&/g' | sort -u | head -n 40 >names
[ "$(wc -l <names)" -ge 5 ] || fault "functions: $(head names)"
while read -r name; do
    same report --view annotate --function "^$name\$" --json
done <names
# Screens, of the hottest function, of its instructions, and where a terminal has no colours.
for keys in '' '2*' 3 5 u ua uaa '2eu'; do
    same --keys "$keys" --screen 120x40
    same --keys "$keys" --screen 80x24 --color never
    same --keys "$keys" --screen 40x10
done

# What is left out is not in the file; what is left shows as without it.
mkdir -p bare
timeout 60 "$proftop" pack --without sources,code -o bare/x here/x 2>said || fault "pack: $(cat said)"
grep -qE 'sources,code|lines of source' said && fault "what was left out is listed: $(cat said)"
[ "$(stat -c %s bare/x)" -lt "$(stat -c %s there/x)" ] || fault 'a pack without code is no smaller'
mv code away
(cd bare && timeout 60 "$proftop" report --view annotate --function main x) >out 2>err || fault "annotate: $(cat err)"
grep -qE '^ +[0-9a-f]+:  mov' out && fault 'instructions of main were left out and are here'
(cd bare && timeout 60 "$proftop" report --view top -n 5 x) >out 2>err || fault "top: $(cat err)"
mv away code

# Code that is damaged costs the code, not the rest.
cat >damage.py <<'END'
import struct, sys
d = bytearray(open(sys.argv[1], "rb").read())
at = 16
while at < len(d):
    section, _, n, packed = struct.unpack_from("<IIQQ", d, at)
    if section == 13:
        d[at + 24 + packed // 2] ^= 255
    at += 24 + packed
open(sys.argv[2], "wb").write(d)
END
if python3 damage.py there/x bare/cut 2>/dev/null; then
    timeout 60 "$proftop" report --view top -n 5 bare/cut >out 2>err || fault "damaged code: $(cat err)"
    timeout 60 "$proftop" info bare/cut >out 2>err || fault "damaged code: $(cat err)"
    grep -q 'section 13 at offset .* is damaged' out || fault "damaged code is not told: $(cat out)"
fi
[ -n "$change" ] && echo "$n reports and screens of a pack in an empty root are those of the recording"
[ $faults = 0 ]
