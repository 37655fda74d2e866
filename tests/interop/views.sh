#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The text of every view and its --json have the same rows with the same numbers: of a heap that is recorded here, of samples, and of
# the heaps of other tools.
# Skipped without python3.
set -u
here=$(cd "$(dirname "$0")" && pwd)
proftop=$(realpath "${PROFTOP:-./proftop}")
command -v python3 >/dev/null 2>&1 || { echo 'skipped: python3 is not installed'; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"${CC_FOR_TESTS:-gcc}" -O1 -g -fno-builtin-malloc -o "$dir/four_places" "$here/../heap/four_places.c" || exit
timeout 60 "$proftop" record --heap --free-stacks -o "$dir/four.heap" -- "$dir/four_places" 1000 >"$dir/recorded" 2>&1 || { cat "$dir/recorded"; exit 1; }
files=("$dir/four.heap" "$here"/../data/demo.data "$here"/../data/tools/{go.heap.pb.gz,node.heapprofile,memray.speedscope.json})
corpus=${CORPUS:-$here/../../../shared/corpus}
if [ -d "$corpus" ]; then
    files+=("$corpus/massif-visualizer/massif.out.32406" "$corpus/made/massif/massif.out.alloc" "$corpus"/made/dhat/{alloc,rs}.json
        "$corpus"/made/heaptrack/{alloc,rs,threads}.zst "$corpus"/made/heaptrack/alloc_raw.raw.zst)
else
    echo 'no corpus: files of heaptrack, massif and DHAT are not looked at'
fi
exec python3 "$here/views.py" "$proftop" "${files[@]}"
