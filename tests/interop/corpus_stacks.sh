#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Copied stacks of the corpus against what its own project expects of them; skipped where there is no corpus.
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null 2>&1 || {
    echo 'skipped: python3 is not installed'
    exit 77
}
python3 "$here/corpus_stacks.py" "${PROFTOP:-./proftop}" "${CORPUS:-$here/../../../shared/corpus}"
