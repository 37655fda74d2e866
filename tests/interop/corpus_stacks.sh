#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Copied stacks of the corpus against what its own project expects of them; skipped where there is no corpus.
. "$(dirname "$0")/compare.sh"
needs python3
python3 "$here/corpus_stacks.py" "$proftop" "${CORPUS:-$here/../../../shared/corpus}"
