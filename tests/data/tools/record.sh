#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records the files of this folder anew, in the current directory: profiles of small programs, by their own tools. Needs go, node, and
# py-spy, pyinstrument and memray (pip). What the tools say of them is made anew by tests/interop/own_tools.sh with OWN_TOOLS=write.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/work* .
go build -trimpath -o gowork work.go
./gowork .
node --cpu-prof --cpu-prof-interval 4000 --cpu-prof-name=node.cpuprofile work.js
node --cpu-prof --cpu-prof-interval 2000 --cpu-prof-name=node2.cpuprofile work_heap.js
node --heap-prof --heap-prof-interval=32768 --heap-prof-name=node.heapprofile work_heap.js
py-spy record -r 50 -f speedscope -o py-spy.speedscope.json -- python3 work.py
py-spy record -r 50 -f raw -o py-spy.folded -- python3 work.py
pyinstrument -r speedscope -o pyinstrument.speedscope.json work.py
memray run -q -f -o memray.bin work.py
memray transform -f -o memray.speedscope.json speedscope memray.bin
