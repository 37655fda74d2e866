#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What tracepoints print of themselves (--fields print) against perf script, over the corpus; skipped without either.
here=$(cd "$(dirname "$0")" && pwd)
for tool in python3 perf; do
    command -v $tool >/dev/null 2>&1 || {
        echo "skipped: $tool is not installed"
        exit 77
    }
done
python3 "$here/trace_print.py" "${PROFTOP:-./proftop}" "${CORPUS:-$here/../../../shared/corpus}"
