#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Time off the cpu: proftop against the switches that perf script prints; skipped where perf cannot record them.
. "$(dirname "$0")/compare.sh"
compare offcpu.py --switch-events -- "$@"
