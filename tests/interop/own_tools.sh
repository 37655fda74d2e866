#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of other tools against what tools of theirs say of them: each tests/data/tools/FILE has FILE.tsv beside it, with self and total of
# each function as `go tool pprof -top` or speedscope's table shows them. tests/data/tools/record.sh recorded the files.
# SPEEDSCOPE names dist/release of the npm package speedscope: with chromium, its own code opens what proftop exports, too.
# OWN_TOOLS=write makes the tables anew: with go and with that, and with PROFILER_CLI, the command of the Firefox Profiler's command line tool.
. "$(dirname "$0")/compare.sh"
needs python3
exec python3 "$here/own_tools.py" "$proftop" "$here/../data"
