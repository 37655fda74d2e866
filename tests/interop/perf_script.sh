#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What proftop makes of recordings against what perf script says; skipped where perf cannot record.
. "$(dirname "$0")/compare.sh"
compare perf_script.py -- "$@"
