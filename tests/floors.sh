#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Proves what doc/architecture.md says of the tree: which room may include which, where the outside libraries are
# seen, that each room's README names its files. `floors.sh ROOT` checks; `floors.sh --self-test ROOT`
# plants one fault of each kind in a copy and wants each to be found; make check does both.
set -uo pipefail

faults=0
fault() {
    printf '%s\n' "$*"
    faults=$((faults + 1))
}

sources() { find src formats tui tests demo -name '*.[ch]' | LC_ALL=C sort; }

# Which rooms a room may include besides itself; tests are one room. A name that ends in / stands for all rooms below it.
rooms='
src/base:
src/profile: src/base src/profile/heap
src/profile/heap: src/base src/profile
src/unwind: src/base
src/heaptrace: src/base
src/perf/abi: src/base
src/input: src/base
src/notebook: src/base
src/elf: src/base src/unwind
src/dwarf: src/base src/elf
src/symbols/space: src/base src/profile src/elf
src/symbols/search: src/base src/profile src/elf src/symbols/space
src/symbols/jit: src/base src/profile src/unwind src/symbols/space src/symbols/search
src/symbols: src/base src/profile src/unwind src/elf src/dwarf src/symbols/
src/perf/records: src/base src/profile src/perf/abi src/symbols
src/perf/callchain: src/base src/profile src/unwind src/symbols src/perf/abi src/perf/records
src/perf/tracepoint: src/base src/profile src/symbols src/perf/records src/perf/callchain
src/perf/ingest: src/base src/profile src/symbols src/perf/abi src/perf/records src/perf/callchain src/perf/tracepoint
src/perf/file: src/base src/profile src/input src/elf src/symbols src/symbols/search src/perf/abi src/perf/records src/perf/ingest
src/heaptrace/read: src/base src/profile/ src/profile src/input src/symbols src/heaptrace
src/query/core: src/base src/profile src/profile/heap
src/query/tree: src/base src/profile src/query/core
src/query/heap: src/base src/profile src/profile/heap src/query/core src/query/tree
src/query/findings: src/base src/profile src/profile/heap src/query src/query/core src/query/tree src/query/heap
src/query/live: src/base src/profile src/query src/query/core src/query/tree
src/query/diff: src/base src/profile src/profile/heap src/query src/query/core src/query/tree src/query/heap
src/query: src/base src/profile src/query/
src/code: src/base src/profile src/elf src/symbols src/symbols/ src/query src/query/
formats: src/base src/profile/ src/profile src/input src/elf src/symbols src/heaptrace/ src/perf/ formats/
formats/bytehound: src/base src/profile/ src/profile src/input src/symbols src/symbols/space formats
formats/memray: src/base src/profile src/input formats
formats/heap_profile: src/base src/profile src/input src/symbols src/symbols/space formats
formats/heaptrack: src/base src/profile/ src/profile src/input src/elf src/symbols src/symbols/space src/query/ src/query formats
formats/json: src/base src/input
formats/write: src/base src/profile/ src/profile src/query/ src/query formats
formats/folded: src/base src/profile src/input src/query/ src/query formats
formats/perf_script: src/base src/profile/ src/profile src/input src/query/ src/query formats formats/write
formats/callgrind: src/base src/profile src/input src/query formats formats/write
formats/cpuprofile: src/base src/profile src/input src/elf src/symbols formats
formats/firefox: src/base src/profile src/input src/elf src/symbols src/query formats formats/json formats/write
formats/speedscope: src/base src/profile src/input src/query formats formats/json formats/write
formats/pack: src/base src/profile/ src/profile src/input src/symbols/search formats
formats/svg: src/base src/profile src/query/ src/query formats formats/write
formats/valgrind: src/base src/profile/ src/profile src/input formats formats/json
formats/v8: src/base src/profile src/input src/query formats formats/json formats/write
formats/samples: src/base src/profile src/query formats formats/write
formats/pprof: src/base src/profile/ src/profile src/input src/elf src/symbols src/query/ src/query formats formats/write formats/proto
formats/proto: src/base
formats/otlp: src/base src/profile src/input formats formats/json formats/proto
src/record/heap: src/base src/unwind src/heaptrace src/record/heap/
src/record/heap/hooks: src/base src/unwind src/heaptrace src/record/heap src/record/heap/
src/record/heap/stack: src/base src/unwind src/heaptrace src/record/heap src/record/heap/
src/record/heap/patch: src/base src/unwind src/heaptrace src/record/heap src/record/heap/
src/record/heap/trace: src/base src/unwind src/heaptrace src/record/heap src/record/heap/
src/record/attach: src/base src/unwind src/heaptrace src/record/heap/trace
src/record/cpu: src/base src/profile src/unwind src/elf src/symbols src/perf/abi src/perf/records src/perf/callchain src/perf/ingest
tui/canvas: src/base
tui/contract: src/base src/query/ src/query tui/canvas
tui/term: src/base tui/canvas tui/contract
tui/rows: src/base src/notebook src/profile src/query/ src/query tui/canvas tui/contract
tui/views: src/code src/base src/notebook src/profile/ src/profile src/query/ src/query tui/canvas tui/contract tui/rows
tui/app: src/code src/base src/notebook src/profile/ src/profile src/query/ src/query tui/canvas tui/contract tui/term tui/rows tui/views
src/cli/options: src/base src/notebook src/profile src/query/ src/query
src/cli/load: src/code src/base src/profile/ src/profile src/input src/query/ src/query src/symbols formats/ formats src/record/attach tui/app src/cli/options
src/cli/report: src/code src/base src/notebook src/profile src/query/ src/query tui/canvas tui/contract src/cli/options
src/cli/diff: src/base src/profile src/query/ src/query tui/contract src/cli/options src/cli/report
src/cli/record: src/base src/input src/heaptrace src/perf/records src/record/attach src/record/cpu src/cli/options
src/cli/live: src/base src/heaptrace src/record/attach src/record/cpu tui/app src/cli/options src/cli/load src/cli/record
src/cli: src/code src/base src/notebook src/profile src/query/ src/query formats formats/pack formats/write src/record/attach src/record/cpu tui/app tui/contract src/cli/
tests: src/ formats/ formats tui/ demo
demo:
'

check_rooms() {
    local line
    while read -r line; do
        fault "$line"
    done < <(sources | xargs awk -v rooms="$rooms" '
        function room_of(path) {
            if (path ~ /^tests\//) return "tests"
            sub(/\/[^\/]*$/, "", path)
            return path
        }
        function may(room, target,   i, n, name) {
            n = split(sees[room], name, " ")
            for (i = 1; i <= n; i++)
                if (name[i] == target || (name[i] ~ /\/$/ && index(target, name[i]) == 1)) return 1
            return 0
        }
        BEGIN {
            n = split(rooms, lines, "\n")
            for (i = 1; i <= n; i++)
                if (lines[i] ~ /:/) {
                    room = lines[i]
                    sub(/:.*/, "", room)
                    sees[room] = room " " substr(lines[i], length(room) + 2)
                }
            for (i = 1; i < ARGC; i++) is_file[ARGV[i]] = 1
        }
        /^[ \t]*#[ \t]*include[ \t]+"/ {
            split($0, part, "\"")
            name = part[2]
            room = room_of(FILENAME)
            beside = FILENAME
            sub(/[^\/]*$/, name, beside)
            if (name == "config.h" || name ~ /\.pb-c\.h$/) next
            if (name !~ /\// && room == "tests" && (beside in is_file)) next
            path = ("src/" name) in is_file ? "src/" name : name
            if (name !~ /\// || !(path in is_file)) {
                print FILENAME ": includes \"" name "\", which is no file of this project by its room"
                next
            }
            target = room_of(path)
            if (!(room in sees)) print FILENAME ": " room " is no room that tests/floors.sh knows"
            else if (!may(room, target))
                print FILENAME ": " room " must not see " target " (\"" name "\")"
        }')
}

# only PATTERN in files that match ALLOWED: everything else must not have it.
only() {
    local pattern=$1 allowed=$2 why=$3 file
    while read -r file; do
        [[ $file =~ $allowed ]] || fault "$file: $why"
    done < <(sources | xargs grep -lE "$pattern")
}

check_outside() {
    only '#[[:space:]]*include[[:space:]]*<(n?curses|term|ncursesw/.*)\.h>' '^tui/term/term\.c$|^tests/' \
        'only tui/term/term.c sees curses'
    only '#[[:space:]]*include[[:space:]]*<(libelf|gelf|elfutils/.*)\.h>' \
        '^src/elf/elf_file\.c$|^src/dwarf/libdw_units\.c$|^tests/' 'only src/elf/elf_file.c sees libelf, and src/dwarf/libdw_units.c libdw'
    only '#[[:space:]]*include[[:space:]]*<capstone' '^src/code/disassembler\.c$' 'only src/code/disassembler.c sees capstone'
    only '#[[:space:]]*include[[:space:]]*<dwarf\.h>' '^src/(elf|dwarf|symbols|unwind)/|^tests/' \
        'only src/elf, src/dwarf, src/symbols and src/unwind see the constants of DWARF'
    only 'perf_event_open[[:space:]]*\([^2]|(SYS|__NR)_perf_event_open' '^src/record/cpu/|^tests/' \
        'only src/record/cpu calls perf_event_open'
    only '\<umask[[:space:]]*\([^2]' '^tests/' 'umask() is of all threads: files are made with the mode they should have'
    only '#[[:space:]]*include[[:space:]]*<(vterm|criterion/.*)\.h>' '^tests/' 'only tests see Criterion and libvterm'
}

check_sizes() {
    local line
    while read -r line; do
        fault "$line"
    done < <(sources | xargs awk '
        FNR == 1 && !/SPDX-License-Identifier: GPL-3.0-or-later/ { print FILENAME ": does not begin with its SPDX line" }
        FNR == 801 { print FILENAME ": more than 800 lines" }')
}

# A room's README.md has a line "* `arena`: …" for each module there, which is a .c, a .h or both.
check_readmes() {
    local line
    while read -r line; do
        fault "$line"
    done < <({
        find src formats tui -name '*.[ch]' | sed 's/\.[ch]$//' | LC_ALL=C sort -u
        find src formats tui -name README.md | xargs grep -Ho '^\* `[a-z0-9_]*`: .' /dev/null
    } | awk '
        !/README\.md:/ { module[$1] = 1; next }
        {
            room = $0
            sub(/\/README\.md:.*/, "", room)
            split($0, part, "`")
            lines[room "/" part[2]]++
        }
        END {
            for (m in module) if (lines[m] != 1) print m ": " lines[m] + 0 " lines in the README.md of its room, not one"
            for (m in lines) if (!(m in module)) print m ": is no file, though the README.md there has a line for it"
        }')
}

# A header must compile as the only thing included: check_headers ROOM…
check_headers() {
    local file flags=(-fsyntax-only -std=gnu17 -D_GNU_SOURCE -x c -)
    while read -r file; do
        printf '#include "%s"\n' "${file#src/}" |
            ${CC:-cc} -Isrc -I. ${FLOORS_CFLAGS:-} "${flags[@]}" ||
            fault "$file: does not compile alone"
    done < <(find "$@" -name '*.h' | LC_ALL=C sort)
}

check_text() {
    check_rooms
    check_outside
    check_sizes
    check_readmes
}

check_all() {
    check_text
    check_headers src formats tui tests demo
}

# --- does it find faults? -------------------------------------------------------------------

# One fault of each kind: what it is, what must be said of it, and the shell command that plants it.
plants=(
    'base includes profile' 'src/base/mem.c: src/base must not see src/profile'
    'echo "#include \"profile/profile.h\"" >>src/base/mem.c'
    'query includes symbols, beside it' 'src/query/core must not see src/symbols'
    'echo "#include \"symbols/resolver.h\"" >>src/query/core/lens.h'
    'a format includes the terminal' 'formats must not see tui/app' 'echo "#include \"tui/app/tui.h\"" >>formats/format.h'
    'a view includes a format' 'tui/views must not see formats' 'echo "#include \"formats/format.h\"" >>tui/views/flame_view.h'
    'the canvas includes a view' 'tui/canvas must not see tui/views' 'echo "#include \"tui/views/flame_view.h\"" >>tui/canvas/canvas.h'
    'a header that is nowhere' '"base/nowhere.h", which is no file of this project' 'echo "#include \"base/nowhere.h\"" >>src/base/mem.c'
    'a header without its room' '"mem.h", which is no file of this project' 'echo "#include \"mem.h\"" >>src/base/arena.c'
    'a room that nobody knows' 'src/attic is no room' 'mkdir src/attic && echo "#include \"base/mem.h\"" >src/attic/stray.c'
    'curses outside term.c' 'canvas.c: only tui/term/term.c sees curses' 'echo "#include <curses.h>" >>tui/canvas/canvas.c'
    'libelf outside its file' 'main.c: only src/elf/elf_file.c sees libelf' 'echo "#include <gelf.h>" >>src/cli/main.c'
    'perf_event_open outside record' 'main.c: only src/record/cpu calls perf_event_open' 'echo "int n = SYS_perf_event_open;" >>src/cli/main.c'
    'a changed umask' 'main.c: umask() is of all threads' 'echo "int n = umask(0);" >>src/cli/main.c'
    'a file without its line' 'src/base/stray: 0 lines' 'cp src/base/arena.c src/base/stray.c'
    'a line without its file' 'src/base/map: is no file' 'rm -f src/base/map.c src/base/map.h'
    'a long file' 'tui/canvas/canvas.c: more than 800' 'yes "" | head -801 >>tui/canvas/canvas.c'
    'no SPDX line' 'src/base/mem.c: does not begin with its SPDX line' 'sed -i 1d src/base/mem.c'
    'a header that leans on others' 'src/base/err.h: does not compile alone' 'echo "struct x { uint99_t y; };" >src/base/err.h'
)

# Plants all faults in one copy, and wants each to be found.
self_test() {
    local copy said i
    copy=$(mktemp -d)
    cp -r src formats tui tests demo doc "$copy/"
    chmod -R u+w "$copy"
    for ((i = 2; i < ${#plants[@]}; i += 3)); do
        (cd "$copy" && eval "${plants[i]}")
    done
    said=$(cd "$copy" && { check_text; check_headers src/base; } 2>&1)
    for ((i = 0; i < ${#plants[@]}; i += 3)); do
        if [[ $said == *"${plants[i + 1]}"* ]]; then
            echo "found: ${plants[i]}"
        else
            fault "not found: ${plants[i]}"
        fi
    done
    rm -rf "$copy"
}

if [ "${1:-}" = --self-test ]; then
    cd "${2:-.}" || exit 2
    self_test
elif [ -n "${1:-}" ]; then
    cd "$1" || exit 2
    check_all
else
    cd "${srcdir:-.}" || exit 2
    check_all
    self_test
fi
[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
