#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Proves what doc/design.md says of the tree: who may include whom, where the outside libraries are
# seen, that every file has its line there. `floors.sh ROOT` checks; `floors.sh --self-test ROOT`
# plants one fault of each kind in a copy and wants each to be found; make check does both.
set -uo pipefail

faults=0
fault() {
    printf '%s\n' "$*"
    faults=$((faults + 1))
}

sources() { find src formats tui tests demo -name '*.[ch]' | LC_ALL=C sort; }

# Who may include from where, besides their own room; tests are one room.
rooms='
src/base:
src/profile: src/base
src/unwind: src/base
src/wire: src/base
src/query: src/base src/profile src/unwind src/wire
src/resolve: src/base src/profile src/unwind src/wire
formats: src/base src/profile src/unwind src/wire src/query src/resolve
src/record: src/base src/profile src/unwind src/wire src/query src/resolve src/record/heap
src/record/cpu: src/base src/profile src/unwind src/wire src/query src/resolve
src/record/heap: src/base src/unwind src/wire
tui: src/base src/profile src/query
src/cli: src/base src/profile src/unwind src/wire src/query src/resolve formats src/record src/record/cpu tui
tests: src/base src/profile src/unwind src/wire src/query src/resolve formats src/record src/record/cpu src/record/heap tui src/cli
demo:
'

check_rooms() {
    local line
    while read -r line; do
        fault "$line"
    done < <(sources | xargs awk -v rooms="$rooms" '
        function room_of(path) {
            if (path ~ /^tests\//) return "tests"
            if (path ~ /^formats\//) return "formats"
            sub(/\/[^\/]*$/, "", path)
            return path
        }
        function name_of(path) {
            sub(/.*\//, "", path)
            return path
        }
        BEGIN {
            n = split(rooms, lines, "\n")
            for (i = 1; i <= n; i++)
                if (lines[i] ~ /:/) {
                    room = lines[i]
                    sub(/:.*/, "", room)
                    sees[room] = " " room substr(lines[i], length(room) + 2) " "
                }
            for (i = 1; i < ARGC; i++) {
                name = name_of(ARGV[i])
                if (name in home) print ARGV[i] ": there is " home[name] " already; file names are unique"
                home[name] = ARGV[i]
            }
        }
        /^[ \t]*#[ \t]*include[ \t]+"/ {
            split($0, part, "\"")
            name = part[2]
            room = room_of(FILENAME)
            if (name == "config.h") next
            if (!(name in home)) {
                print FILENAME ": includes \"" name "\", which is no file of this project"
                next
            }
            target = room_of(home[name])
            if (!(room in sees)) print FILENAME ": " room " is no room that doc/design.md knows"
            else if (!index(sees[room], " " target " "))
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
    only '#[[:space:]]*include[[:space:]]*<(n?curses|term|ncursesw/.*)\.h>' '^tui/term\.c$|^tests/' \
        'only tui/term.c sees curses'
    only '#[[:space:]]*include[[:space:]]*<(libelf|gelf|elfutils/.*)\.h>' \
        '^src/resolve/(elf_file|libdw_units)\.c$|^tests/' 'only src/resolve/elf_file.c sees libelf, and libdw_units.c libdw'
    only '#[[:space:]]*include[[:space:]]*<dwarf\.h>' '^src/(resolve|unwind)/|^tests/' \
        'only src/resolve and src/unwind see the constants of DWARF'
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

# doc/design.md has lines "* `src/base/arena` …": one for each module, which is a .c, a .h or both.
check_design() {
    local line
    while read -r line; do
        fault "$line"
    done < <(sources | sed 's/\.[ch]$//' | uniq | awk '
        FILENAME == "-" { module[$1] = 1; next }
        match($0, /^\* `(src|formats|tui|tests|demo)\/[^`]+` ./) {
            split($0, part, "`")
            lines[part[2]]++
        }
        END {
            for (m in module) if (lines[m] != 1) print m ": " lines[m] + 0 " lines in doc/design.md, not one"
            for (m in lines) if (!(m in module)) print "doc/design.md: " m " is no file"
        }' - doc/design.md)
}

# A header must compile as the only thing included.
check_headers() {
    local file flags=(-fsyntax-only -std=gnu17 -D_GNU_SOURCE -x c -)
    while read -r file; do
        printf '#include "%s"\n' "${file##*/}" |
            ${CC:-cc} -I"${file%/*}" $(printf -- ' -I%s' src/* src/record/*/ formats formats/*/ tui) ${FLOORS_CFLAGS:-} "${flags[@]}" ||
            fault "$file: does not compile alone"
    done < <(sources | grep '\.h$')
}

check_all() {
    check_rooms
    check_outside
    check_sizes
    check_design
    [ -n "${FLOORS_NO_CC:-}" ] || check_headers
}

# --- does it find faults? -------------------------------------------------------------------

# Plants a fault with a shell command in a fresh copy and wants a message that has TEXT.
plant() {
    local what=$1 text=$2 command=$3 copy said
    copy=$(mktemp -d)
    cp -r src formats tui tests demo doc "$copy/"
    chmod -R u+w "$copy"
    (cd "$copy" && eval "$command")
    said=$(cd "$copy" && check_all 2>&1)
    if [[ $said == *"$text"* ]]; then
        echo "found: $what"
    else
        fault "not found: $what"
    fi
    rm -rf "$copy"
}

self_test() {
    local FLOORS_NO_CC=1
    export FLOORS_NO_CC
    plant 'base includes profile' 'src/base must not see src/profile' \
        'echo "#include \"profile.h\"" >>src/base/mem.c'
    plant 'query includes resolve, on its own floor' 'src/query must not see src/resolve' \
        'echo "#include \"resolver.h\"" >>src/query/lens.h'
    plant 'a format includes the terminal' 'formats must not see tui' 'echo "#include \"tui.h\"" >>formats/format.h'
    plant 'the terminal includes a format' 'tui must not see formats' 'echo "#include \"format.h\"" >>tui/view.h'
    plant 'a header that is nowhere' 'no file of this project' 'echo "#include \"nowhere.h\"" >>src/base/mem.c'
    plant 'curses outside term.c' 'only tui/term.c' 'echo "#include <curses.h>" >>tui/canvas.c'
    plant 'libelf outside its file' 'sees libelf' 'echo "#include <gelf.h>" >>src/cli/main.c'
    plant 'perf_event_open outside record' 'perf_event_open' 'echo "int n = SYS_perf_event_open;" >>src/cli/main.c'
    plant 'a changed umask' 'of all threads' 'echo "int n = umask(0);" >>src/cli/main.c'
    plant 'two files of one name' 'file names are unique' 'cp src/base/mem.c tui/mem.c'
    plant 'a file without its line' 'stray: 0 lines' 'cp src/base/mem.c src/base/stray.c'
    plant 'a line without its file' 'is no file' 'rm -f src/base/map.c src/base/map.h'
    plant 'a long file' 'more than 800' 'yes "" | head -801 >>src/base/mem.c'
    plant 'no SPDX line' 'SPDX' 'sed -i 1d src/base/mem.c'
    FLOORS_NO_CC=
    plant 'a header that leans on others' 'does not compile alone' 'echo "struct x { uint99_t y; };" >src/base/err.h'
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
