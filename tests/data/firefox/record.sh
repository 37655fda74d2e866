#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records gecko.json.gz anew, in the current directory: Firefox's own profile (Gecko's) of a page, with threads of two processes below the
# main one. Needs firefox (153 was used). gecko.tsv has the samples of each thread that end in each library, as the profiler's own code
# (npm: @firefox-devtools/profiler-cli) counts them; PROFILER_CLI=profiler-cli OWN_TOOLS=write tests/interop/own_tools.sh makes it anew.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cp "$here/../tools/work.html" .
mkdir -p user home
HOME=$PWD/home MOZ_PROFILER_STARTUP=1 MOZ_PROFILER_STARTUP_FEATURES=js,leaf,stackwalk,cpu MOZ_PROFILER_STARTUP_FILTERS=GeckoMain \
    MOZ_PROFILER_STARTUP_INTERVAL=40 MOZ_PROFILER_SHUTDOWN=$PWD/all.json \
    firefox --headless --no-remote --profile "$PWD/user" --screenshot "$PWD/page.png" "file://$PWD/work.html"
python3 "$here/trim.py" <all.json | sed 's|file://[^"]*/|file:///srv/|g' | gzip -9n >gecko.json.gz
