#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The command line from outside: exit statuses, sentences, pipes, full disks, JSON, and that report,
# export and screens say the same numbers.
# shellcheck source=tests/cli_lib.sh
. "$(dirname "$0")/cli_lib.sh"

cat >small.folded <<'TEXT'
main;parse;read_number 30
main;parse 10
main;sort;sort;compare 40
main;sort 5
main 5
other;read_number 10
TEXT

# --- help, usage ----------------------------------------------------------------------------

run 0 --help
says out 'usage:'
says out 'proftop report'
run 0 report --help
says out '--json'
run 0 --version
says out 'proftop 0.'
run 2
says err 'no file was given'
one_sentence
for arguments in '--frobnicate x' 'report --view nothing small.folded' 'report --group nothing small.folded' \
    'report -n x small.folded' 'export small.folded' 'export --to nothing small.folded' 'report --sort x small.folded' \
    'report --view tree --sort self small.folded' 'report --sort leaked small.folded' \
    'report -f fn:( small.folded' 'report --event nothing small.folded' 'report - -' \
    'report --view butterfly small.folded' 'report --view butterfly --function nothing small.folded' \
    'report --view tree --group thread small.folded' '--color pink small.folded'; do
    # shellcheck disable=SC2086 # words
    run 2 $arguments
    one_sentence
    [ -s out ] && fault "proftop $arguments: an answer and an error"
done

# Files are for diff, not for compare.
run 2 compare small.folded small.folded
one_sentence
says err 'proftop diff BEFORE AFTER'

# words that are no file and no verb, or nearly one
for arguments in 'reprot small.folded' 'inf small.folded' 'contrast small.folded small.folded' 'xport'; do
    # shellcheck disable=SC2086
    run 2 $arguments
    one_sentence
    says err 'there is no command and no file'
done
run 2 reprot small.folded
says err 'did you mean: proftop report'
run 3 nothing_here
one_sentence
cp small.folded inf
run 0 inf
rm inf

# --- unusable input -------------------------------------------------------------------------

: >empty
head -c 4096 /dev/urandom >random
printf '\x7fELF and more' >elf
printf 'no count here\nnor here\n' >words
printf 'total 88\ndrwxr-xr-x 2 root root 4096 Nov 22 00:31 .\ndrwxr-xr-x 5 root root 4096 Nov 22 00:31 ..\n' >listing
mkdir folder
for input in empty random elf words listing folder /nonexistent; do
    for verb in report info 'export --to folded' '--keys q'; do
        # shellcheck disable=SC2086
        run 3 $verb "$input"
        one_sentence
        says err "$input"
    done
done
run 3 report small.folded empty
says err empty
printf 'a\033]52;c;QUJD\007b' >$'name\033[2Jx'
run 3 report $'name\033[2Jx'
grep -q $'\033' err && fault 'an escape sequence reached standard error'

# --- answers --------------------------------------------------------------------------------

run 0 report small.folded
says out '100 samples'
says out 'compare'
run 0 info small.folded
says out 'small.folded: folded'
"$proftop" report - <small.folded >piped 2>&1 || fault 'standard input does not work'
says piped 'compare'
"$proftop" small.folded >fallback 2>err </dev/null || fault 'no terminal, no report'
says fallback 'compare'
one_sentence
grep -v '^#' fallback >a
run 0 report small.folded
grep -v '^#' out | cmp -s - a || fault 'the fallback is not the report'

cat >more.folded <<'TEXT'
main;parse 50
extra 50
TEXT
run 0 report --json small.folded more.folded
says out '"total": 200'
says out '{"name": "parse", "self": [60], "total": [90], "samples": 60}'
# Of many files the report names the first ones.
for i in 1 2 3 4 5; do echo "main;parse $i" >"many$i.folded"; done
run 0 report many?.folded
says out '# many1.folded, many2.folded, many3.folded and 2 more: 15 samples'
run 0 report --view butterfly --function '^parse$' --json small.folded
says out '{"role": "caller", "name": "main", "total": [40], "share_of_function": [1.000000]}'
says out '{"role": "callee", "name": "read_number", "total": [30], "share_of_function": [0.750000]}'

# a name as the table has it is that function, whatever it reads as an expression
printf '%s\n' 'main;burn(long) 3' 'main;burn(long)::step 5' 'main;at[](int) 2' >named.folded
run 0 report --view butterfly --function 'burn(long)' --json named.folded
says out '"role": "function", "name": "burn(long)"'
run 0 report --view callers --function 'burn(long)' named.folded
grep -q step out && fault "another function than the one of that name: $(cat out)"
run 0 report --view callers --function 'at[](int)' named.folded
says out 'at[](int)'
run 0 report --view callers --function 'burn.long' named.folded
says out 'burn(long)::step'
run 2 report --view callers --function 'burn(int)' named.folded
says err 'matches "burn(int)"'
run 2 report --view callers --function 'at[](' named.folded

# rows of a limited width, and counts that need a wide column
awk 'BEGIN { n = "f"; for (i = 0; i < 40; i++) n = n "::part_" i; print n "(int, int) 1234567890123"; print n ";b 1" }' >wide.folded
for view in top tree callers; do
    for width in 40 60 100; do
        run 0 report --view $view --ascii --width $width wide.folded
        awk -v most=$width '!/^#/ && length($0) > most { exit 1 }' out || fault "report --view $view --width $width: $(cat out)"
    done
    run 0 report --view $view wide.folded
    says out 'part_39(int, int)'
done
run 0 report wide.folded
says out '  1,234,567,890,123  f::part_0'
run 2 report --width 7 wide.folded
one_sentence

# an expression that takes too long is said to: the names it gave up on do not match
awk 'BEGIN { n = "a"; for (i = 0; i < 12; i++) n = n n; print "main;" n "! 5"; print "main;b 3" }' >slow.folded
for expression in 'fn:(a+)+$' '!fn:(a+)+$'; do
    run 0 report -f "$expression" slow.folded
    says err 'took too long'
    one_sentence
    says out '# the filter took too long on some names'
    run 0 report --json -f "$expression" slow.folded
    says out '"gave_up": "'
    run 0 export --to folded -f "$expression" slow.folded
    says err 'took too long'
    run 0 -f "$expression" --keys '' --screen 120x20 slow.folded
    says out 'inexact, a term takes too long'
done
run 0 report --json -f 'fn:b' slow.folded
grep -q gave_up out && fault 'a quick expression is said to take too long'
run 0 --keys '/(a+)+$<Enter>' --screen 120x20 slow.folded
says out 'inexact, it takes too long'

gzip -c <more.folded >more.gz
"$proftop" report --json small.folded - <more.gz >out 2>err || fault 'a packed pipe beside a file does not work'
says out '"total": 200'

printf 'evil\033]52;c;QUJD\007\342\200\256name;b 3\n' >evil.folded
for view in top tree callers flame threads info; do
    run 0 report --view $view -n 0 --min 0 evil.folded
    LC_ALL=C grep -q $'[\001-\010\013-\037\177]' out && fault "report --view $view sends control characters"
    run 0 report --json --view $view evil.folded
    LC_ALL=C grep -q $'[\001-\011\013-\037\177-\377]' out && fault "report --json --view $view is not plain ASCII"
done

# --- pipes, full disks, whole files -----------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 60000; i++) print "a;function_with_a_long_name_" i " 1" }' >many.folded
"$proftop" report -n 0 many.folded 2>err | head -n 3 >out
[ "${PIPESTATUS[0]}" = 0 ] || fault 'report | head fails'
[ -s err ] && fault "report | head complains: $(cat err)"
"$proftop" export --to folded many.folded 2>err | head -n 1 >out
[ "${PIPESTATUS[0]}" = 0 ] || fault 'export | head fails'
if [ -c /dev/full ]; then
    for verb in 'report -n 0' 'export --to folded' info 'report --json' --help --version; do
        # shellcheck disable=SC2086
        "$proftop" $verb many.folded >/dev/full 2>err
        [ $? = 2 ] || fault "$verb >/dev/full: not status 2"
        says err 'standard output'
        one_sentence
    done
fi
run 0 export --to folded -o written many.folded
sort many.folded | cmp -s - <(sort written) || fault 'export -o differs from what it was given'
run 2 export --to folded -o /nonexistent/x many.folded
says err /nonexistent/x
echo old >kept
run 3 export --to folded -o kept empty
[ "$(cat kept)" = old ] || fault 'a failed export touched its output'
"$proftop" report small.folded >&- 2>err
[ $? = 2 ] || fault 'a closed standard output is not noticed'

# a view that the file has nothing for
run 2 report --view nothing small.folded
says err 'top, tree, callers, butterfly, flame, threads, timeline, info, memory, findings, annotate, heat, leaks, lifetimes, sizes, temporaries, handoffs, reallocs, waste, blocks or allocators'
run 0 --view memory --screen 100x20 small.folded
says out '[1 top]'
says out 'the memory view wants a recording of a heap; this is top'

# rows that other views do not have
run 2 report --view top --group stack small.folded
says err '--group stack is for memory and the tables of heaps'
run 2 report --view top --group size small.folded
says err '--group size is for --view allocators'
run 2 diff --report --group stack small.folded small.folded
says err '--group stack and size are for the tables of one heap'

# what would be ignored, or leaves nothing, is said
run 0 help
says out 'usage:'
run 2 report --view tree --function main small.folded
one_sentence
says err '--function goes with --view butterfly, callers or annotate'
run 2 report -f '!' small.folded
says err 'filter term "!" has no expression'
run 2 report -f 'a module:' small.folded
says err 'filter term "module:" has no expression'
printf '%s\n' 'a 1 1.0: 3 cycles:' '' 'a 1 2.5: 3 cycles:' '' >timed.txt
run 0 report --time 9,10 timed.txt
says err 'behind the end of the recording, which is 1.50 s long'
run 0 report --time 1,10 timed.txt
[ -s err ] && fault "a time inside of the recording: $(cat err)"

# a locale that is not UTF-8 gets ASCII, wherever it goes
printf 'gr\303\266\303\237e;b 1\n' >names
LC_ALL=C "$proftop" report --view tree names >out
LC_ALL=C grep -q '[^ -~]' out && fault "no ASCII in the C locale: $(cat out)"
run 0 report --view tree names
says out 'größe'

# fractions of samples are counted, not lost
printf 'a;b 0.5\na;c 2.25\n' >fractions
run 0 report fractions
says out '# fractions: 2.75 samples'
grep -qE ' 2\.25  c$' out && grep -qE ' 0\.50  b$' out || fault "fractions of samples: $(cat out)"
run 0 report --json fractions
says out '"samples": 2.75,'
says out '"name": "b", "self": [0.5], "total": [0.5], "samples": 0.5'
run 0 info fractions
says out '2.75 samples'
run 0 --screen 80x10 fractions
says out '2.75 samples'
run 0 --screen 120x10 --keys 'j Enter' fractions
says err 'the key is written <Enter>'
run 0 --screen 120x10 --keys '6' fractions
says out '2.75 samples'

# --- the same numbers everywhere --------------------------------------------------------------

# text of perf script: marks, numbers, addresses, and time on the cpu although another event is busier
printf '%s\n' 'a b  7/8 1.5: 3 cycles:' $'\t f0 k+0x1 ([kernel.kallsyms])' $'\t 2 j (/tmp/perf-7.map)' \
    $'\t 3 [unknown] (/lib/x.so)' '' 'c  9 1.6: 1 faults:' '' 'c  9 1.7: 1 faults:' '' >script.txt
while read -r flags line; do
    run 0 export --to folded ${flags//,/ } script.txt
    [ "$(cat out)" = "$line" ] || fault "export $flags of perf script: $(cat out)"
done <<'TEXT'
--all a_b;[x.so];j_[j];k_[k] 3
--kernel a_b;[x.so];j;k_[k] 3
--jit a_b;[x.so];j_[j];k 3
--pid a_b-7;[x.so];j;k 3
--tid a_b-7/8;[x.so];j;k 3
--addrs,--tid a_b-7/8;[x.so <3>];j;k 3
--event,faults c 2
--filter,event:faults c 2
TEXT
run 0 export --to folded script.txt
says err 'only cycles was written, not faults; --event NAME chooses one'
says err 'folded has no room for single samples, times, modules and addresses: left out'
run 0 export --to folded --event faults script.txt
one_sentence
# Of several events each verb takes the same, whichever comes first.
printf '%s\n' 'a 7 1.5: 1 faults:' $'\t f page (/bin/x)' '' 'a 7 1.6: 9 cycles:' $'\t f0 work (/bin/x)' '' >two.txt
run 0 export --to folded two.txt
[ "$(cat out)" = 'a;work 9' ] || fault "export takes another event than the views: $(cat out)"
says err 'only cycles was written, not faults; --event NAME chooses one'
run 0 report two.txt
says out ' of cycles,'
says out '# not shown: faults; --event NAME shows one'
run 0 --screen 80x10 two.txt
says out ' cycles '
run 0 report -f event:faults two.txt
says out ' of faults,'
run 0 export --to folded small.folded
[ ! -s err ] || fault "export says more than it left out: $(cat err)"
# what the name of the output says is packed, and is read as it was
run 0 export --to speedscope -o packed.json.gz script.txt
gzip -t packed.json.gz || fault 'an export to .gz is not packed'
run 0 report --event cycles packed.json.gz
says out 'x.so'
# weights of 0 are no missing samples
sed 's/ 3 cycles/ 0 cycles/; /faults/d' script.txt >zeroes.txt
run 0 report zeroes.txt
says out '# each of these samples weighs 0; --metric samples counts them'
run 0 --screen 100x12 zeroes.txt
says out 'each sample weighs 0'
run 0 report --metric samples zeroes.txt
! grep -q 'weighs 0' out || fault "counts of samples weigh: $(cat out)"
# a path that no stack has, and transforms that leave no frame: the samples are there all the same
for filter in 'focus-path:x;y' merge:.; do
    run 0 report -f "$filter" script.txt
    says out '# no frame is left by the filter'
    run 0 -f "$filter" --screen 100x12 script.txt
    says out 'no frame is left by the filter: & edits it'
done
# a module that is made one frame, and the row of a thread, have no code
run 0 --keys .Cu --screen 100x12 script.txt
says out 'this frame has no code of its own'
run 0 --keys 2u --screen 100x12 script.txt
says out 'no function is selected'
run 2 report --pid small.folded

run 0 export --to folded small.folded
sort small.folded | cmp -s - <(sort out) || fault 'folded does not survive reading and writing'

cat >compare.py <<'TEXT'
import json, re, subprocess, sys
proftop, path = sys.argv[1], sys.argv[2]
extra = sys.argv[3:]
def run(*args):
    return subprocess.run([proftop, *args, *extra, path], check=True, capture_output=True, text=True).stdout
self_of, total_of = {}, {}
for line in run("export", "--to", "folded", "--no-inline").splitlines():
    stack, count = line.rsplit(" ", 1)
    frames, count = stack.split(";"), float(count)
    self_of[frames[-1]] = self_of.get(frames[-1], 0) + count
    for f in set(frames):
        total_of[f] = total_of.get(f, 0) + count
top = json.loads(run("report", "--json", "--no-inline"))
rows = {}
for r in top["rows"]:
    s, t = rows.get(r["name"], (0, 0))
    rows[r["name"]] = (s + r["self"][0], t + r["total"][0])
faults = []
if abs(sum(s for s, t in rows.values()) - top["columns"][0]["total"]) > 1e-6:
    faults.append("selfs do not add up to the total")
for name, (s, t) in rows.items():
    if abs(self_of.get(name, 0) - s) > 1e-6:
        faults.append(f"{name}: self {s}, exported {self_of.get(name, 0)}")
    if abs(total_of.get(name, 0) - t) > 1e-6:
        faults.append(f"{name}: total {t}, exported {total_of.get(name, 0)}")
tree = json.loads(run("report", "--json", "--view", "tree", "--min", "0"))
tree_self, below = {}, [0] * len(tree["rows"])
for i, r in enumerate(tree["rows"]):
    tree_self[r["name"]] = tree_self.get(r["name"], 0) + r["self"][0]
    if r["parent"] is not None:
        if r["parent"] >= i: faults.append("a parent after its child")
        below[r["parent"]] += r["total"][0]
for i, r in enumerate(tree["rows"]):
    if abs(r["self"][0] + below[i] - r["total"][0]) > 1e-6:
        faults.append(f"tree: {r['name']}: self and children are not its total")
if tree["left_out"]: faults.append("--min 0 leaves rows out")
callers = json.loads(run("report", "--json", "--view", "callers", "--min", "0"))
for r in callers["rows"]:
    if r["depth"] == 0 and abs(r["self"][0] - self_of.get(r["name"], 0)) > 1e-6 and len(self_of) == len(rows):
        faults.append(f"callers: {r['name']}: {r['self'][0]}")
screen = run("--keys", "", "--screen", "160x50")
text = run("report", "-n", "8")
shown = 0
for line in text.splitlines():
    m = re.match(r" *([0-9.]+) +([0-9.]+) +([0-9,]+)  (\S+)", line)
    if not m or "(" in line or "<" in line: continue
    hits = [l for l in screen.splitlines() if re.search(r"(^|\s)" + re.escape(m[4]) + r"(\s|$)", l)]
    if not hits: faults.append(f"the screen has no {m[4]}"); continue
    if not any(m[1] in h.split() and m[3] in h for h in hits): faults.append(f"the screen has other numbers: {line} | {hits[0]}")
    shown += 1
if not shown: faults.append("no row of the report was found on the screen")
for f in faults[:10]: print(f)
sys.exit(bool(faults))
TEXT
if command -v python3 >/dev/null 2>&1; then
    python3 compare.py "$proftop" small.folded || fault 'small.folded: views disagree'
    if [ -e "$data/demo.data" ]; then
        python3 compare.py "$proftop" "$data/demo.data" || fault 'demo.data: views disagree'
        python3 compare.py "$proftop" "$data/demo.data" -f 'comm:indexer' || fault 'demo.data, filtered: views disagree'
    fi
else
    echo 'skipped: no python3 to compare numbers with'
fi

# What was lost is in the header of live: lines, or the rest of a recording that was cut.
live_of() {
    timeout 60 "$proftop" live --keys '' --screen 120x6 - <"$1" >out 2>err || fault "live of $1: $(cat err)"
    says out "$2"
}
printf 'a;b 5\nnothing\nc 3\n' >bad.folded
live_of bad.folded '● ended · lost 1'
# The code of a function: shares of instructions are those that perf annotate 6.1 prints of this file.
if [ -e "$data/demo.data" ]; then
    run 0 report --view heat "$data/demo.data"
    says out 'down a column, '
fi

# A heap of one moment has no graph over time.
if [ -e "$data/tools/go.heap.pb.gz" ]; then
    run 0 --view memory --screen 100x20 "$data/tools/go.heap.pb.gz"
    says out 'when the profile was taken'
    grep -q ' 0 ns\| 0 s' out && fault "times of a heap without any: $(cat out)"
fi

if [ -e "$data/demo.data" ]; then
    run 0 report --symbols "$data" --view annotate --function match_length "$data/demo.data"
    says out '27.1    27.1         173d:  cmpb    %dl, (%rdi, %rcx)'
    says out '24.5    24.5         1740:  je      0x1730'
    run 0 report --symbols "$data" --view annotate --json "$data/demo.data"
    python3 - out <<'CODE' || fault 'annotate --json: sums'
import json, sys
j = json.load(open(sys.argv[1]))
code = [c for b in j["blocks"] for c in b["code"]]
assert j["view"] == "annotate" and j["function"] == "match_length" and len(code) == 16
assert sum(c["self"][0] for c in code) == j["code_self"][0] == j["self"][0] > 0
assert [c["target"] for c in code if c["text"].startswith("jmp")] == ["0x1745"]
CODE
    run 2 report --symbols "$data" --view annotate --function match_length -f comm:nobody "$data/demo.data"
    one_sentence
    run 0 --symbols "$data" --keys '/match_length<Enter>u' --screen 100x24 "$data/demo.data"
    says out '[annotate]'
    says out 'cmpb    %dl, (%rdi, %rcx)'
    run 0 report --view annotate --function '^.demo.$' "$data/demo.data"
    says out 'no file of /opt/demo/demo with build-id 32643c'
    run 2 report --source-map x "$data/demo.data"
    one_sentence
fi

if [ -e "$data/demo.data" ]; then
    head -c 60000 "$data/demo.data" >cut.data
    live_of cut.data '● ended · lost: see info'
    live_of "$data/demo.data" '● ended · lost 0'
fi

# Without a terminal a signal ends what is waited for, not what was seen: here the writer ends by it, too.
live_ends_by() {
    rm -f err # what the one before said there would be taken for its word
    mkfifo fed
    env --default-signal=INT,TERM "$proftop" live - <fed >out 2>err &
    exec 3>fed
    cat small.folded >&3
    until grep -qs 'or with Ctrl-C' err; do kill -0 $! || break; sleep 0.1; done
    kill -"$1" $!
    exec 3>&-
    wait $! || fault "live that SIG$1 ended: exit status $?"
    says out "$2"
    rm fed
}
live_ends_by INT 'read_number'
live_ends_by TERM 'read_number'

# What live saves of a stream says what the file says, in every report, and its report has the numbers that live showed.
live_saves() {
    local saved rows=0 name
    rm -f proftop-live-*
    timeout 60 "$proftop" live --symbols "$data" --keys "$1w" --screen 120x40 - <"$data/demo.data" >seen 2>err ||
        fault "live: $(cat err)"
    saved=$(echo proftop-live-*.perf.txt)
    run 0 export --symbols "$data" --to folded ${2:+--filter "$2"} "$data/demo.data"
    mv out expected
    run 0 export --to folded "$saved"
    cmp -s out expected || fault "live saved after \"$1\": $(diff expected out | head -3)"
    for name in top tree callers threads; do
        run 0 report --symbols "$data" --view $name -n 0 --min 0 ${2:+--filter "$2"} "$data/demo.data"
        grep -v '^#' out >expected
        run 0 report --view $name -n 0 --min 0 "$saved"
        grep -v '^#' out | cmp -s - expected || fault "$name of what live saved after \"$1\": $(grep -v '^#' out | diff expected - | head -5)"
    done
    run 0 report -n 0 --min 0 "$saved"
    while read -r self total _ name _; do
        grep -qE "^ +$self +$total +[0-9,]+  $name( |\$)" out ||
            fault "live showed $self $total $name, and the report of what it saved: $(grep -F "$name" out)"
        rows=$((rows + 1))
    done < <(sed -n '5,38s/[^ -~]//gp' seen | grep -E '^ +[0-9]+\.[0-9] ')
    [ $rows -ge 10 ] || fault "live showed $rows rows: $(cat seen)"
}
if [ -e "$data/demo.data" ]; then
    live_saves '' ''
    live_saves '&!fn:match_length time:0.5,2<Enter>' '!fn:match_length time:0.5,2'
fi

# What is wrong in the command line is found before anything is touched.
echo kept >was_there
for arguments in '-C x' '-C 0-' '-C 99999999' '-C' '-F x' '-F 0' '-c 0' '-F 9 -c 9' '-g foo' '-g dwarf,x' '-z 99' '-e nothing' \
    '-p x' '-t 0' '-p 1 -a' '--duration x' '--max-size x' '--max-overhead 5%' '--sample 1k' '--heap -F 9' '--heap --cull x' \
    '--heap --duration x' '--heap --keep newest' '--nothing' '--cpu=0'; do
    # shellcheck disable=SC2086 # several words
    run 2 record -o was_there $arguments -- true
    one_sentence
    grep -qsx kept was_there && [ ! -e was_there.old ] || fault "record $arguments touched the file"
done

# What live keeps nothing of takes no room, and what stays of a trace is for recordings that are files.
run 2 live --max-size 1M -- true
one_sentence
grep -q 'keeps no file of CPU samples' err || fault "live --max-size: $(cat err)"
run 2 live --heap --max-size 1M --keep newest -- true
one_sentence
grep -q -e '--keep is an option of other commands' err || fault "live --keep: $(cat err)"

# Where nothing can be written, nothing is run, and nothing is read.
for arguments in '-o none/x' '--heap -o none/x' '--heap -o none/%p' '--heap -o /proc/x' '--heap -o small.folded/x' '--heap -o -' \
    '--heap -p 1 -o none/x'; do
    # shellcheck disable=SC2086 # several words
    run 2 record $arguments $([[ $arguments == *-p* ]] || echo "-- touch ran")
    one_sentence
    [ ! -e ran ] || fault "record $arguments ran its command"
done
mkdir closed && cd closed && ln -s /nowhere/x link && run 2 record -o link/x -- true && cd .. || exit 1
ls -A | grep -q '^\.proftop' && fault "a trial is left: $(ls -A)"
run 2 export --to folded -o none/x small.folded
says err 'none/x: cannot be written: No such file'
# What cannot be opened is not opened: the place is looked at first.
run 2 report -o none/x nothing_here
says err 'none/x: cannot be written: No such file'
run 2 diff --report --junit none/x small.folded small.folded
says err 'none/x: cannot be written: No such file'

# An empty name comes of an unset variable, and does not mean what is meant without it.
for arguments in 'record -o' 'record --heap -o' 'record -e' 'live -e' 'report -e' 'report --symbols' 'export --to folded -o' 'diff --junit'; do
    # shellcheck disable=SC2086
    run 2 $arguments '' small.folded
    one_sentence
    says err 'and what it was given is empty'
done

# Of no process at all, the whole machine would be recorded.
for option in -p -t -C -G; do
    run 2 record $option ''
    one_sentence
done
run 2 record -p 1,
one_sentence

# What is no file was meant otherwise, and what is no number is a name.
for arguments in 'live 4711' 'live python3 app.py'; do
    # shellcheck disable=SC2086
    run 3 $arguments
    one_sentence
    says err 'there is no such file; a process is watched by proftop live -p PID'
done

# What belongs to samples alone is named by what was given.
for arguments in '-a all-cpus' '-C0 cpus' '-F100 freq' '--off-cpu off-cpu'; do
    run 2 live --heap "${arguments% *}" -- true
    one_sentence
    says err "proftop: --${arguments#* } is for CPU samples: without --heap"
done

# A program is no recording that has only begun: that is said at once, whatever its size, and how it is run.
printf '\177ELF\2\1\1' >small_program
printf '#!/bin/sh\n' >small_script
run 3 live small_program
one_sentence
says err 'small_program: not a profile, but a program; '
says err ': proftop live -- ./small_program'
run 3 live ./small_script
says err 'proftop live -- ./small_script'

for arguments in 'live -p server' 'live --heap -p server' 'record --heap -p server' 'mark -p server x'; do
    # shellcheck disable=SC2086
    run 2 $arguments
    one_sentence
    says err 'pgrep NAME prints those of a name'
done
for arguments in 'live --heap -p 1,2' 'record --heap -p 1 -p 2'; do
    # shellcheck disable=SC2086
    run 2 $arguments
    one_sentence
    says err 'one process at a time'
done
run 2 live -a -p 1
one_sentence
says err 'live wants one of a command'
# Both kinds at once: of a command, to a directory.
run 2 live --cpu --heap -p 1
one_sentence
says err 'proftop live --cpu --heap -- COMMAND'
for arguments in '-p 1' '-a' '-o - -- true' '--cull x -- true' '--keep newest -- true'; do
    # shellcheck disable=SC2086 # several words
    run 2 record --cpu --heap $arguments
    one_sentence
    [ ! -e perf.data ] || fault "record --cpu --heap $arguments made something"
done
run 2 record --cpu --cull 10ms -- true
says err 'are for recordings of heaps'

# A recording does not take the place of what is no file.
mkdir place
run 2 record -o place -- true
one_sentence
says err 'place is there already and cannot be moved'
[ -d place ] || fault "the directory is gone"

# --- packs with counts of different parts add up --------------------------------------------------
printf 'a 1.5\n' >halves.folded
printf 'b 2\n' >whole.folded
run 0 pack halves.folded
run 0 pack whole.folded
run 0 report halves.folded whole.folded
tail -n +2 out >expected
run 0 report halves.folded.pack whole.folded.pack
tail -n +2 out | cmp -s expected - || fault "packs of fractions and of whole counts: $(cat out)"

# --- pack: elsewhere, without symbols, the same bytes -------------------------------------------

if [ -e "$data/demo.data" ]; then
    mkdir here there
    cp "$data/demo.data" here/x.data
    run 0 pack --symbols "$data" -o there/x.data here/x.data
    says err 'has the command line'
    for view in top tree callers threads timeline flame; do
        (cd here && run 0 report --symbols "$data" --view $view -n 0 --min 0 x.data && cp out ../expected)
        (cd there && HOME=/nonexistent run 0 report --view $view -n 0 --min 0 x.data && cp out ../packed)
        cmp -s expected packed || fault "a pack's $view is another one: $(diff expected packed | head -3)"
    done
    (cd here && run 0 --symbols "$data" --keys '2' --screen 120x40 x.data && cp out ../expected)
    (cd there && HOME=/nonexistent run 0 --keys '2' --screen 120x40 x.data && cp out ../packed)
    cmp -s expected packed || fault "a pack's screen is another one: $(diff expected packed | head -3)"
    (cd here && run 0 pack x.data) && [ -e here/x.pack ] || fault 'a pack of x.data is not x.pack'
    run 2 pack --without secrets here/x.data
    one_sentence
    run 2 pack here/x.data there/x.data
    says err 'pack each'
    run 2 pack - <here/x.data
fi

# --- annotate of a difference; ~ in names of files that screens write ---------------------------

if [ -e "$data/demo.data" ]; then
    run 0 diff --report --view annotate --symbols "$data" "$data/demo.data" "$data/demo.data"
    says out 'BEFORE   AFTER'
    run 2 diff --report --markdown --view annotate --symbols "$data" "$data/demo.data" "$data/demo.data"
    says err "difference's annotate is text"
    # Both sides of a function are what report says of each, and its instructions add up to them.
    for half in 0,1.5 1.5,; do
        "$proftop" report --json --view annotate --function match_length --symbols "$data" -f "time:$half" "$data/demo.data" >"half$half.json"
    done
    run 0 diff --json --view annotate --function match_length --symbols "$data" --a time:0,1.5 --b time:1.5, "$data/demo.data"
    python3 "$source/tests/json_schema.py" "$source/tests/diff_schema.json" <out || fault 'diff --json --view annotate: its shape'
    python3 - out half0,1.5.json half1.5,.json <<'SIDES' || fault 'diff --json --view annotate: both sides'
import json, sys
both, *half = [json.load(open(name)) for name in sys.argv[1:]]
code = both["annotate"]["blocks"][0]["code"]
for side, one in enumerate(half):
    assert both["annotate"]["self"][side] == one["self"][0] > 0
    assert [c["self"][side] for c in code] == [c["self"][0] for c in one["blocks"][0]["code"]]
    assert sum(c["self"][side] for c in code) == one["code_self"][0]
SIDES
fi
printf 'main;f 3\n' >tilde.folded
HOME=$PWD run 0 --keys 'w~/at_home.folded<Enter>' tilde.folded
[ -e at_home.folded ] || fault '~/at_home.folded is not in the home directory'
run 0 --screen 60x20 --keys 'w/nonexistent/a/long/path/that/needs/more/than/one/row/of/the/screen/end.folded<Enter>' tilde.folded
says out 'No such file'

# --- saved views and notes ----------------------------------------------------------------------

export XDG_CONFIG_HOME=$PWD/config XDG_STATE_HOME=$PWD/state
mkdir noted
printf 'main;run;parse 30\nmain;run;write 10\nmain;idle 60\n' >noted/x.folded
run 0 --keys '&!fn:idle<Enter>sVsbusy<Enter>' noted/x.folded
says noted/x.folded.proftop 'view busy view=top filter=!fn:idle sort=total'
run 0 report --view-name busy noted/x.folded
says out 'filter: !fn:idle'
run 0 report --view-name busy -f fn:parse noted/x.folded
says out 'filter: !fn:idle fn:parse'
run 0 --view-name busy --screen 80x20 noted/x.folded
says out 'filter  !fn:idle'
# A view shown in place of another; Esc goes back.
run 0 --keys '&parse<Enter>V<Enter>' noted/x.folded
says out 'filter  !fn:idle'
run 0 --keys '&parse<Enter>V<Enter><Esc>' noted/x.folded
says out 'filter  fn:parse'
# It is written over, and goes, only when asked twice.
run 0 --keys '5Vsbusy<Enter>' noted/x.folded
says out 'Enter again writes over it'
says noted/x.folded.proftop 'view busy view=top'
run 0 --keys '5Vsbusy<Enter><Enter>' noted/x.folded
says noted/x.folded.proftop 'view busy view=flame'
run 0 --keys 'Vd' noted/x.folded
says noted/x.folded.proftop 'view busy'
run 0 --keys 'Vdd' noted/x.folded
grep -q busy noted/x.folded.proftop && fault 'a deleted view is still there'
# What it is zoomed into, in that view alone.
run 0 --keys '2*jj<Enter>Vszoomed<Enter>' noted/x.folded
says noted/x.folded.proftop 'view zoomed view=tree sort=total zoom=focus-path:main;run'
run 0 --view-name zoomed --screen 80x20 noted/x.folded
says out '› run '
run 0 --keys '5V<Enter>' --screen 80x20 noted/x.folded
says out '› run '
run 0 --view-name zoomed --view top --screen 80x20 noted/x.folded
grep -q '› run ' out && fault 'another view than the saved one is zoomed'
run 0 --keys 'Vdd' noted/x.folded
run 0 --keys '2Vs<Tab>calls<Enter>' noted/x.folded
says config/proftop/views 'view calls view=tree'
run 2 report --view-name nix noted/x.folded
one_sentence
says err 'there are: calls'

run 0 --keys '/parse<Enter>;slow "since" 1.2<Enter>' noted/x.folded
says out '¶'
says noted/x.folded.proftop 'note of=function name=parse text="slow \"since\" 1.2"'
run 0 --keys '2*/write<Enter>;<Tab>here<Enter>' --screen 100x20 noted/x.folded
says noted/x.folded.proftop 'note of=node name=focus-path:main;run;write text=here'
run 0 --keys '2*/write<Enter><Esc>' --screen 100x20 noted/x.folded
says out '¶ here'
# The line has room in a narrow screen, and Tab is named where there is something to choose.
run 0 --keys '/idle<Enter>;typed' --screen 40x12 noted/x.folded
says out 'note on idle: typed'
grep -q 'Tab:' out && fault 'Tab for one thing'
run 0 --keys '2*/write<Enter>;<Backspace><Backspace><Backspace><Backspace>typed' --screen 40x12 noted/x.folded
says out 'note on this write: typed'
says out 'Tab: wherever it is'
run 0 report noted/x.folded
says out '# note on parse: slow "since" 1.2'
run 0 report --json noted/x.folded
says out '"note": "slow \"since\" 1.2"'
run 0 report --json --view tree noted/x.folded
says out '"note": "here"'
# In tables of a heap, in comparisons, and in packs unless they are left out there.
printf 'main;run;parse 60\nmain;run;write 10\n' >noted/w.folded
run 0 diff --report noted/w.folded noted/x.folded
says out '# note on parse: slow "since" 1.2'
run 0 diff --json noted/w.folded noted/x.folded
says out '"note": "slow \"since\" 1.2"'
run 0 pack -o noted/x.pack noted/x.folded
says err 'notes and saved views'
run 0 report --view-name calls noted/x.pack
run 0 report noted/x.pack
says out '# note on parse: slow "since" 1.2'
run 0 pack --without notes -o noted/bare.pack noted/x.folded
grep -q 'notes and saved' err && fault 'notes that were left out are named'
run 0 report noted/bare.pack
grep -q '# note on' out && fault 'notes are in a pack without them'
# Wrong lines cost no others, and stay.
printf '# mine\nview a b=c\nview -x\nnote of=function name="parse\nnonsense\nview good filter=fn:parse\nview bad filter=wat:x\n' >noted/x.folded.proftop
run 0 report --view-name good noted/x.folded
says err 'x.folded.proftop:2:'
says err '3 more lines are wrong'
run 2 report --view-name bad noted/x.folded
says err 'view "bad" of'
run 0 --keys 'Vsnew<Enter>' noted/x.folded
for line in '# mine' 'view a b=c' 'view -x' nonsense 'view good' 'view new'; do says noted/x.folded.proftop "$line"; done
# A file that is none of ours is not written over; nor is a pipe waited for.
head -c 2000000 /dev/zero >noted/x.folded.proftop
run 0 --keys ';no<Enter>' noted/x.folded
says out 'too large'
[ "$(stat -c %s noted/x.folded.proftop)" = 2000000 ] || fault 'a large file was written over'
rm noted/x.folded.proftop
mkfifo noted/x.folded.proftop
run 0 report noted/x.folded
rm noted/x.folded.proftop
unset XDG_CONFIG_HOME XDG_STATE_HOME

# --- push and pull: what a store of files gives back has the same totals ----------------------

if command -v curl >/dev/null && [ -e "$data/demo.data" ]; then
    cat >store.py <<'TEXT'
import http.server, sys
files = {}
class Store(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        files[self.path] = self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(204); self.end_headers()
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(files[self.path])
server = http.server.HTTPServer(('127.0.0.1', 0), Store)
print(server.server_port, flush=True)
server.serve_forever()
TEXT
    coproc STORE { exec python3 store.py 2>/dev/null; }
    read -r port <&"${STORE[0]}"
    "$proftop" export --symbols "$data" --to pprof "$data/demo.data" 2>err |
        curl -s --noproxy '*' --data-binary @- "http://127.0.0.1:$port/x.pb.gz"
    curl -s --noproxy '*' "http://127.0.0.1:$port/x.pb.gz" | "$proftop" report -n 0 --min 0 - >out 2>err
    kill "$STORE_PID"
    run_rows() { sed -n '/^ *[0-9]/p' "$1" | awk '{ print $1, $2, $4 }' | sort; }
    mv out pulled
    run 0 report --symbols "$data" -n 0 --min 0 "$data/demo.data"
    cmp -s <(run_rows out) <(run_rows pulled) || fault "pushed and pulled: $(diff <(run_rows out) <(run_rows pulled) | head -5)"
fi

# A heap profile is shown as a heap, but sums that are asked for by name are a table.
run 0 export --to pprof -o heap.pb "$data/heap_profile/tcmalloc.heap"
run 0 report heap.pb
says out 'STILL LIVE'
run 0 report -e alloc_space heap.pb
says out 'FUNCTION'
run 0 report --view annotate -e alloc_space -e alloc_objects heap.pb
says out '#    alloc_space   alloc_objects'

# Five questions of doc/operations.md, one after the other on a recording: the hottest line of all, its caller, only this thread,
# only this second, without the allocator. A key with a name is one key.
hot=$source/tests/data/annotate
run 0 report --symbols "$hot" --group line -n 0 --min 0 "$hot/rust.data"
line=$(awk '$4 ~ /^[a-z_]+\.rs:[0-9]+$/ { print $4 ", " $1 " %"; exit }' out)
[ -n "$line" ] || fault "no line: $(head -5 out)"
for cols in 80x24 120x40; do
    typed=
    for step in "U|the hottest line: $line of all" 'c|[3 callers]' '6<Enter>|[2 tree]' 'TAA|filter  time:' 't.a|!is:alloc'; do
        typed+=${step%%|*}
        run 0 --symbols "$hot" --keys "$typed" --screen "$cols" "$hot/rust.data"
        says out "${step#*|}"
    done
    keys=$(sed 's/<[A-Za-z]*>/k/g' <<<"$typed")
    [ ${#keys} -le 12 ] || fault "${#keys} keys: $typed"
    # And back to where one was.
    run 0 --symbols "$hot" --keys 'jjU<Esc>' --screen "$cols" "$hot/rust.data"
    says out '[1 top]'
    row=$(grep -F " ▸ " out)
    run 0 --symbols "$hot" --keys 'jj' --screen "$cols" "$hot/rust.data"
    says out "$row"
done
# Functions without names keep all of their digits in a run of calls, or are left out of it.
printf 'main;[cc1plus+0x19202b0];[cc1plus+0x191efd0] 5\nmain;b 5\n' >stripped.folded
for cols in {40..80}; do
    run 0 --screen "${cols}x12" --keys '2ee' stripped.folded
    ! grep -qE ' 0?x[0-9a-f]+|[^1]9202b0' out || fault "$cols columns: $(grep -E '9202b0' out)"
done

# Of a program without lines not a line of libc, and its hottest instruction; of one that waits for the kernel its own line.
run 0 --symbols "$data" --keys U --screen 80x24 "$data/demo.data"
says out ' › match_length '
says out ' ▸   27.1     27.1 '
run 0 --keys U --screen 80x24 "$data/planted/touches.pack"
says out 'the hottest line: planted.c:104'

# A side that lacks the line, or has it under another path, has no share in the sentence.
run 0 diff --metric samples --symbols "$hot" --keys U --screen 120x40 "$hot/rust.data" "$hot/aarch64.data"
grep -qE 'the hottest line: [a-z]+\.[a-z]+:[0-9]+, (before|after) [0-9.]+ % of all' out || fault "both sides: $(grep hottest out)"

# A thread of which samples have several labels is one.
run 0 info --json "$data/samply/threads.json.gz"
says out '"threads": 6,'

# What does not fit into the row above the keys is cut, but no number loses a part of its unit.
for cols in $(seq 20 60); do
    run 0 --view timeline --keys '' --screen "${cols}x14" "$data/annotate/rust.data"
    ! tail -n 2 out | head -n 1 | grep -qE '[0-9] (m|µ|n|k|M|G|T|[0-9.]+)$' || fault "a number is cut in $cols columns: $(tail -n 2 out)"
done

[ $faults = 0 ] || { echo "$faults faults"; exit 1; }
echo 'all as promised'
