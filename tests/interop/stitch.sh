#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --stitch: stacks of which a part was copied, against the whole ones of the same samples; skipped where perf cannot record.
. "$(dirname "$0")/compare.sh"
compare stitch.py --call-graph dwarf,4096 -- "$@"
