#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every file of the corpus that is no recording of perf: it opens, and its events sum up to what a reading of our own in Python, or what
# its own tool printed, says; or it is refused with one sentence. A new file of a known format needs no new line here.
# Skipped without the corpus (../shared/corpus) or python3.
set -u
here=$(cd "$(dirname "$0")" && pwd)
proftop=${PROFTOP:-./proftop}
corpus=${CORPUS:-$here/../../../shared/corpus}
command -v python3 >/dev/null 2>&1 || { echo 'skipped: python3 is not installed'; exit 77; }
[ -d "$corpus" ] || { echo 'skipped: no corpus'; exit 77; }
exec python3 "$here/corpus_formats.py" "$(cd "$(dirname "$proftop")" && pwd)/$(basename "$proftop")" "$(cd "$corpus" && pwd)"
