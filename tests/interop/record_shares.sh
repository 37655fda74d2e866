#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What proftop record samples against what perf record does of the same program at the same time; skipped where perf
# cannot record.
. "$(dirname "$0")/compare.sh"
compare record_shares.py -g -- "$@"
