#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records the files of this folder anew, in the current directory: profiles of small programs, by their own tools. Needs go, node,
# java, jfrconv (async-profiler 4), chromium, and py-spy, pyinstrument and memray (pip). What the tools say of them is made anew by
# tests/interop/own_tools.sh with OWN_TOOLS=write.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/[wW]ork* "$here"/otlp.go .
go build -trimpath -o gowork work.go
./gowork .
go mod init otlp && go get go.opentelemetry.io/collector/pdata/pprofile github.com/google/pprof/profile
go run otlp.go go.cpu.pb.gz go.cpu.otlp
go run otlp.go go.heap.pb.gz go.heap.otlp
go run otlp.go go.mutex.pb.gz go.mutex.otlp.json
javac Work.java
java -XX:StartFlightRecording=filename=work.jfr,settings=profile Work
jfrconv -o pprof work.jfr jfr.cpu.pb.gz
jfrconv -o pprof --alloc --total work.jfr jfr.alloc.pb.gz
node --cpu-prof --cpu-prof-interval 4000 --cpu-prof-name=node.cpuprofile work.js
node --cpu-prof --cpu-prof-interval 2000 --cpu-prof-name=node2.cpuprofile work_heap.js
node --heap-prof --heap-prof-interval=32768 --heap-prof-name=node.heapprofile work_heap.js
py-spy record -r 50 -f speedscope -o py-spy.speedscope.json -- python3 work.py
py-spy record -r 50 -f raw -o py-spy.folded -- python3 work.py
pyinstrument -r speedscope -o pyinstrument.speedscope.json work.py
memray run -q -f -o memray.bin work.py
memray transform -f -o memray.speedscope.json speedscope memray.bin
# Paths are those of this folder, and of a system's Python.
py-spy record -r 100 -f chrometrace -o all.json -- python3 work.py
sed 's|"[^"]*/work\.py"|"work.py"|g; s|"/[^"]*/lib/python|"/usr/lib/python|g' all.json >py-spy.trace.json
# Without what it tells of the machine, and of the page's path.
chromium --headless --no-sandbox --disable-gpu --user-data-dir=chromium --trace-startup='-*,disabled-by-default-v8.cpu_profiler' \
    --trace-startup-file="$PWD/all.json" --trace-startup-format=json --trace-startup-duration=2 --timeout=3000 --dump-dom work.html
python3 -c 'import json, sys; json.dump({"traceEvents": json.load(open("all.json"))["traceEvents"]}, sys.stdout, separators=(",", ":"))' |
    sed 's|file://[^"]*/|file:///srv/|g' >chromium.trace.json
