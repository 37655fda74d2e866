#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Copied stacks: proftop against perf script, frame by frame; skipped where perf cannot record.
. "$(dirname "$0")/compare.sh"
compare dwarf_stacks.py --call-graph dwarf -- "$@"
