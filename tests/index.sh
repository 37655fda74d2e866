#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Indexes of the cache directory: the second reading says what the first one said, and what has changed since, or is not
# ours, is not used.
# shellcheck source=tests/cli_lib.sh
. "$(dirname "$0")/cli_lib.sh"

export HOME=$dir XDG_CACHE_HOME=$dir/cache PROFTOP_CACHE=always
unset DEBUGINFOD_URLS XDG_CONFIG_HOME
cache=$dir/cache/proftop
used='read from the index of'

# What is younger than some milliseconds has no index.
settle() { sleep 0.15; }
# is_used WANT WHAT: the file is read from its index, or not. Reading it leaves a new one.
is_used() {
    "$proftop" info x.data >info 2>&1 </dev/null
    if grep -q "$used" info; then
        [ "$1" = yes ] || fault "$2: the index is used"
    else
        [ "$1" = no ] || fault "$2: the index is not used"
    fi
}
fresh() {
    cp "$data/demo.data" x.data
    settle
    "$proftop" info x.data >/dev/null 2>&1 </dev/null
    is_used yes "$1, before"
}

# --- the same answers -------------------------------------------------------------------------

cp "$data/demo.data" x.data
settle
for view in top tree callers timeline findings; do
    run 0 report --no-cache --json --view $view x.data
    mv out first
    run 0 report --json --view $view x.data
    cmp -s first out || fault "$view: the reading that leaves an index: $(diff first out | head -n 4)"
    run 0 report --json --view $view x.data
    cmp -s first out || fault "$view: the index: $(diff first out | head -n 4)"
done
for to in perf-script samples-csv pprof; do
    run 0 export --no-cache --to $to -o first x.data
    run 0 export --to $to -o second x.data
    run 0 export --to $to -o second x.data
    cmp -s first second || fault "export --to $to"
done
run 0 --no-cache --keys '5j<Enter>' x.data
mv out first
run 0 --keys '5j<Enter>' x.data
cmp -s first out || fault "a screen: $(diff first out | head -n 4)"
run 0 info --no-cache x.data
mv out first
run 0 info x.data
says out "$used"
diff first <(grep -v "$used" out) >changes || fault "info: $(head changes)"
printf 'main;read 3\nmain;write 4\n' >x.folded
settle
run 0 report x.folded
mv out first
run 0 report x.folded
cmp -s first out || fault 'folded stacks'
run 0 info x.folded
says out "$used"

# --- whose it is ------------------------------------------------------------------------------

[ "$(stat -c %a "$cache")" = 700 ] || fault "the directory: $(stat -c %a "$cache")"
find "$cache" -type f ! -perm 0600 | grep . && fault 'files that others may read'
find "$cache" -type f ! -name '*.index' | grep . && fault 'files that were not finished'
rm -r "$cache"
mkdir elsewhere
ln -s "$dir/elsewhere" "$cache"
run 0 report x.data
[ -z "$(ls elsewhere)" ] || fault 'a link was followed'
rm "$cache"
mkdir -m 0770 "$cache"
run 0 report x.data
[ -z "$(ls "$cache")" ] || fault 'others may write to the directory'
chmod 700 "$cache"
fresh 'a file that others may write to'
chmod 622 "$cache"/*
is_used no 'a file that others may write to'
fresh 'a link'
for f in "$cache"/*; do
    mv "$f" elsewhere/
    ln -s "$dir/elsewhere/${f##*/}" "$f"
done
is_used no 'a link'

# --- what has changed -------------------------------------------------------------------------

fresh 'longer'
printf x >>x.data
settle
is_used no 'longer'
fresh 'other content of the same size and time'
cp -p x.data before
printf x | dd of=x.data bs=1 seek=3000 conv=notrunc status=none
touch -r before x.data
settle
is_used no 'other content of the same size and time'
fresh 'another time'
touch -d '2020-01-01' x.data
settle
is_used no 'another time'
fresh 'another file of the same content'
cp x.data y
settle
mv y x.data
is_used no 'another file of the same content'

# Symbols: a file that is there now, and was not. What was found is used again then.
fresh 'a file of symbols'
mkdir symbols
"$proftop" report --symbols symbols x.data >/dev/null 2>&1
"$proftop" info --symbols symbols x.data >info 2>&1
says info "$used"
printf 'not it' >symbols/demo
"$proftop" info --symbols symbols x.data >info 2>&1
grep -q "$used" info && fault 'symbols that came are not looked at'
"$proftop" info --symbols symbols x.data >info 2>&1
says info "$used"
is_used yes 'without the option'

# --- damage -----------------------------------------------------------------------------------

rm "$cache"/*
fresh 'damage'
run 0 report --json x.data
mv out first
index=$(ls "$cache"/*)
size=$(stat -c %s "$index")
for at in 0 20 60 $((size / 3)) $((size / 2)) $((size - 2)); do
    printf '\377' | dd of="$index" bs=1 seek="$at" conv=notrunc status=none
    run 0 report --json x.data
    cmp -s first out || fault "damaged at $at"
    is_used yes "written anew, damaged at $at"
done
truncate -s $((size / 2)) "$index"
run 0 report --json x.data
cmp -s first out || fault 'cut'
is_used yes 'written anew, cut'

# --- when there is none -----------------------------------------------------------------------

rm "$cache"/*
run 0 report --no-cache x.data
PROFTOP_CACHE=no run 0 report x.data
PROFTOP_CACHE='' run 0 report x.data
mkdir -p .config/proftop
echo 'set cache = no' >.config/proftop/config
run 0 report x.data
rm .config/proftop/config
"$proftop" report - <x.data >out 2>err || fault "standard input: $(cat err)"
run 0 diff --report x.data x.data
[ -z "$(ls "$cache")" ] || fault "indexes that nobody wanted: $(ls "$cache")"

# What was not used for longest goes; what a killed program began, too.
truncate -s 3G "$cache/old.index"
touch -d '2020-01-01' "$cache/old.index"
touch -d '2020-01-01' "$cache/x.index.1.new"
run 0 report x.data
[ "$(ls "$cache" | wc -l)" = 1 ] && [ ! -e "$cache/old.index" ] || fault "too much is kept: $(ls "$cache")"

[ $faults = 0 ] || exit 1
echo 'index: all good'
