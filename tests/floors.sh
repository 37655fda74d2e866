#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Proves what doc/design.md says of the tree: who may include whom, where the outside libraries are
# seen, that every file has its line there. `floors.sh ROOT` checks; `floors.sh --self-test ROOT`
# plants one fault of each kind in a copy and wants each to be found.
set -uo pipefail

faults=0
fault() {
    printf '%s\n' "$*"
    faults=$((faults + 1))
}

sources() { find src formats tui tests demo -name '*.[ch]' | LC_ALL=C sort; }

# The room of a file: its folder, but the tests are one room and see everything.
room_of() {
    case $1 in
        tests/*) echo tests ;;
        *) dirname "$1" ;;
    esac
}

# Rooms that a room may include from, besides itself.
may_see() {
    case $1 in
        src/base) echo '' ;;
        src/profile | src/unwind | src/wire) echo src/base ;;
        src/query | src/resolve) echo src/base src/profile src/unwind src/wire ;;
        formats | src/record) echo src/base src/profile src/unwind src/wire src/query src/resolve ;;
        src/record/heap) echo src/base src/unwind src/wire ;;
        tui) echo src/base src/profile src/query ;;
        src/cli | tests) echo src/base src/profile src/unwind src/wire src/query src/resolve formats src/record tui src/cli ;;
        demo) echo '' ;;
        *) echo none ;;
    esac
}

check_rooms() {
    local file room name target allowed
    declare -A home=()
    while read -r file; do
        name=${file##*/}
        [ -z "${home[$name]:-}" ] || fault "$file: there is ${home[$name]} already; file names are unique"
        home[$name]=$file
    done < <(sources)
    while read -r file name; do
        room=$(room_of "$file")
        [ "$name" = config.h ] && continue
        target=${home[$name]:-}
        if [ -z "$target" ]; then
            fault "$file: includes \"$name\", which is no file of this project"
            continue
        fi
        target=$(room_of "$target")
        allowed=" $room $(may_see "$room") "
        [[ $allowed == *" $target "* ]] || fault "$file: $room must not see $target (\"$name\")"
    done < <(sources | xargs grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' |
        sed -E 's/^([^:]+):.*"([^"]+)"$/\1 \2/')
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
        '^src/resolve/(elf_file|debug_info)\.c$|^tests/' 'only src/resolve/{elf_file,debug_info}.c see libelf and libdw'
    only '#[[:space:]]*include[[:space:]]*<dwarf\.h>' '^src/(resolve|unwind)/|^tests/' \
        'only src/resolve and src/unwind see the constants of DWARF'
    only 'perf_event_open[[:space:]]*\([^2]|(SYS|__NR)_perf_event_open' '^src/record/|^tests/' \
        'only src/record calls perf_event_open'
    only '#[[:space:]]*include[[:space:]]*<(vterm|criterion/.*)\.h>' '^tests/' 'only tests see Criterion and libvterm'
}

check_sizes() {
    local n file
    while read -r n file; do
        [ "$n" -le 800 ] || fault "$file: $n lines; the most is 800"
    done < <(sources | xargs wc -l | grep -v ' total$')
    while read -r file; do
        head -n 1 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' ||
            fault "$file: does not begin with its SPDX line"
    done < <(sources)
}

# doc/design.md has lines "* `src/base/arena` …": one for each module, which is a .c, a .h or both.
check_design() {
    local module n
    while read -r module; do
        # shellcheck disable=SC2016
        n=$(grep -c -F "* \`$module\` " doc/design.md)
        [ "$n" = 1 ] || fault "$module: $n lines in doc/design.md, not one"
    done < <(sources | sed 's/\.[ch]$//' | uniq)
    while read -r module; do
        [ -e "$module.c" ] || [ -e "$module.h" ] || fault "doc/design.md: $module is no file"
    done < <(grep -oE '^\* `(src|formats|tui|tests|demo)/[^`]+`' doc/design.md | sed -E 's/^\* `(.*)`/\1/')
}

# A header must compile as the only thing included.
check_headers() {
    local file flags=(-fsyntax-only -std=gnu17 -D_GNU_SOURCE -x c -)
    while read -r file; do
        printf '#include "%s"\n' "${file##*/}" |
            ${CC:-cc} -I"${file%/*}" $(printf -- ' -I%s' src/* formats tui) ${FLOORS_CFLAGS:-} "${flags[@]}" ||
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
    local what=$1 text=$2 command=$3 copy
    copy=$(mktemp -d)
    cp -r src formats tui tests demo doc "$copy/"
    chmod -R u+w "$copy"
    (cd "$copy" && eval "$command")
    if (cd "$copy" && check_all 2>&1) | grep -qF -- "$text"; then
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
    plant 'libelf outside its files' 'libelf and libdw' 'echo "#include <gelf.h>" >>src/cli/main.c'
    plant 'perf_event_open outside record' 'perf_event_open' 'echo "int n = SYS_perf_event_open;" >>src/cli/main.c'
    plant 'two files of one name' 'file names are unique' 'cp src/base/mem.c tui/mem.c'
    plant 'a file without its line' 'stray: 0 lines' 'cp src/base/mem.c src/base/stray.c'
    plant 'a line without its file' 'is no file' 'rm -f src/base/map.c src/base/map.h'
    plant 'a long file' 'the most is 800' 'yes "" | head -801 >>src/base/mem.c'
    plant 'no SPDX line' 'SPDX' 'sed -i 1d src/base/mem.c'
    FLOORS_NO_CC=
    plant 'a header that leans on others' 'does not compile alone' 'echo "struct x { uint99_t y; };" >src/base/err.h'
}

if [ "${1:-}" = --self-test ]; then
    cd "${2:-${srcdir:-.}}" || exit 2
    self_test
else
    cd "${1:-${srcdir:-.}}" || exit 2
    check_all
fi
[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
