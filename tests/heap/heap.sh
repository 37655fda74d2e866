#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records programs that do all that programs do to a heap, and compares: what they print and how they end
# with a run of their own, what the trace adds up to with a library that counts each call exactly, and
# stacks with full walks. Run by make check; needs nothing but what was built.
source=$(cd "$(dirname "$0")" && pwd)
. "$source/lib.sh"

# sums FILE: what each column of a reader's adds up to.
sums() {
    local metric
    for metric in calls bytes leaked freed temporary; do
        "$PROFTOP" export --to folded --metric $metric "$1" 2>/dev/null | awk -v m=$metric '{ n += $NF } END { printf "%s %.0f\n", m, n }'
    done
}
compare exact single 20000
compare exact threads 5000
compare exact pass 20000
check=0 compare exact many 1000003
[ "$(value evicted totals)" -gt 1000 ] || fault "many: only $(value evicted totals) evicted"
compare exact short-threads 100
# Threads that end before the recorder could ask for their names have them.
compare exact brief-names 100
"$tools/heap_totals" -r trace.heap | awk '/^THREAD .*"brief-/ { n++ } END { exit n != 100 }' ||
    fault "brief-names: $("$tools/heap_totals" -r trace.heap | grep '^THREAD ' | grep -vc '"brief-') threads of other names"
compare exact fork 10
compare exact vfork 10
compare exact signals 500
compare exact altstack 500
compare exact longjmp 500
compare exact contexts 500
compare exact deep 3000
compare exact deep 10000
compare exact errno 500
compare exact descriptors 500
compare exact ranges 100
[ "$(value ranges totals)" = 400 ] || fault "ranges: $(value ranges totals) of 400"
compare alive switch 50
# calloc, 2 * 50, and the buffer of standard output, which comes when nothing is recorded.
[ "$(value allocs totals) $(value frees totals)" = "101 101" ] || fault "switch: $(tr '\n' ' ' <totals)"
# Pauses that are over before the writer looks: each is told, with its time; so many that they cannot be are said to be.
compare alive pauses 300
# One is the buffer of standard output.
[ "$(value allocs totals) $(value frees totals)" = "301 300" ] || fault "pauses: $(tr '\n' ' ' <totals)"
"$tools/heap_totals" -r trace.heap | grep -c '^SWITCH' | grep -qx 600 || fault "pauses: $("$tools/heap_totals" -r trace.heap | grep -c '^SWITCH') of 600 switches"
"$PROFTOP" info trace.heap | grep -q 'paused .*300 times' || fault "pauses: info says $("$PROFTOP" info trace.heap)"
check=0 compare alive pauses 1000000
[ "$(value allocs totals)" = 1000001 ] || fault "many pauses: $(tr '\n' ' ' <totals)"
[ "$("$tools/heap_totals" -r trace.heap | grep -c '^SWITCH')" = 2000000 ] ||
    "$PROFTOP" info trace.heap | grep -q 'so often that not each time is told' || fault "many pauses: nothing says that some are not told"
PROFTOP_PAUSED=1 PROFTOP_TOGGLE_SIGNAL=10 record trace.heap "$tools/heap_work" toggle 50 >/dev/null || fault "toggle: ends with $?"
"$tools/heap_totals" trace.heap >totals
[ "$(value allocs totals) $(value frees totals)" = "50 50" ] || fault "toggle: $(tr '\n' ' ' <totals)"
compare exact marks 30
"$tools/heap_totals" -r trace.heap | awk '/^MARK/ { n += index($0, "\"phase " (n + 0) "\"") > 0 } END { exit n != 30 }' ||
    fault "marks: $("$tools/heap_totals" -r trace.heap | grep -c "^MARK") of 30, or out of order"
# More marks than there is room for between two looks of the writer: whoever sets one waits, none is lost.
check=0 compare exact marks 1000000
[ "$("$tools/heap_totals" -r trace.heap | awk '/^MARK/ { n++; wrong += index($0, "\"phase " (n - 1) "\"") == 0 } END { print n, wrong + 0 }')" = "1000000 0" ] ||
    fault "many marks: $("$tools/heap_totals" -r trace.heap | grep -c '^MARK') of 1000000, or out of order"
compare exact exit 500
compare cut abort 500
compare cut exec 500

# Frees have stacks when asked to, the same that a full walk finds.
PROFTOP_FREE_STACKS=1 record trace.heap "$tools/heap_work" single 2000 >/dev/null
grep -q ' 0 were wrong' log || fault "stacks of frees: $(cat log)"

# Sampling: what was recorded tells how many bytes were allocated, within five standard deviations; those are
# at most sqrt(bytes * mean), as no block is larger than the mean. Frees of what was not recorded are not either.
for seed in 1 2 3; do
    PROFTOP_SAMPLE=8k record trace.heap "$tools/heap_work" single 200000 >/dev/null
    "$tools/heap_totals" trace.heap >totals
    sound "sampling, $seed" totals
    awk -v real="$(value bytes counts)" -v told="$(value estimate totals)" -v n="$(value allocs totals)" 'BEGIN {
        bound = 5 * sqrt(real * 8192)
        printf "sampling: %d of %d bytes told by %d allocations, bound %d\n", told, real, n, bound
        exit !(told - real < bound && real - told < bound && n > 1000)
    }' || fault "sampling is biased"
done
PROFTOP_SAMPLE=1G PROFTOP_SAMPLE_EXACT=1000 record trace.heap "$tools/heap_work" single 20000 >/dev/null
"$tools/heap_totals" trace.heap >totals
sound "sampling with exact ones" totals
[ "$(value allocs totals)" -gt 100 ] || fault "sampling: no large blocks: $(value allocs totals)"
[ "$(value bytes totals)" -ge $((1000 * $(value allocs totals))) ] || fault "sampling: small blocks too"

# As many allocations as cost no more than a part of the program's own time: the rate changes while eight threads run, and
# what was recorded tells all bytes, within five of the deviations that theory has.
"$tools/heap_work" threads 600000 >plain.out
for most in 10% 1%; do
    check=0 PROFTOP_MAX_OVERHEAD=$most record trace.heap "$tools/heap_work" threads 600000 >traced.out || fault "an overhead of $most: ends with $?"
    cmp -s plain.out traced.out || fault "an overhead of $most: the program prints other things"
    "$tools/heap_totals" trace.heap >totals
    sound "an overhead of $most" totals
    [ "$(value rates totals)" -ge 2 ] || fault "an overhead of $most: $(value rates totals) rates"
    awk -v real="$(value bytes counts)" -v told="$(value estimate totals)" -v sigma="$(value deviation totals)" -v of="$most" 'BEGIN {
        printf "an overhead of %s: %.0f of %.0f bytes told, deviation %.0f\n", of, told, real, sigma
        exit !(told - real <= 5 * sigma && real - told <= 5 * sigma && sigma > 0 && sigma < real / 10)
    }' || fault "an overhead of $most: what was sampled is biased"
    # What proftop makes of it is what the simple reader does.
    sums trace.heap | awk -v told="$(value estimate totals)" '$1 == "bytes" { d = $2 - told; same = d * d <= told * told * 1e-8 + 1e4 } END { exit !same }' ||
        fault "an overhead of $most: proftop tells $(sums trace.heap | tr '\n' ' '), not $(value estimate totals)"
    "$PROFTOP" info trace.heap | grep -q "sampling *at $(value rates totals) rates: .*one in" ||
        fault "an overhead of $most: info says $("$PROFTOP" info trace.heap | grep sampling)"
done

# Memory in use: what the kernel says, all of it or what is cheap to know. Shared pages make PSS less than RSS.
usage() { "$tools/heap_totals" -r trace.heap | awk '/^USAGE/ { n++; rss = $3; pss = $4; anon = $5 } END { print (n > 0), (rss > 0), (pss > 0), (pss <= rss), (anon > 0) }'; }
record trace.heap "$tools/heap_work" single 2000 >/dev/null
if [ -r /proc/self/smaps_rollup ]; then
    [ "$(usage)" = "1 1 1 1 1" ] || fault "usage: $("$tools/heap_totals" -r trace.heap | grep ^USAGE)"
fi
PROFTOP_PSS=0 record trace.heap "$tools/heap_work" single 2000 >/dev/null
[ "$(usage)" = "1 1 0 1 1" ] || fault "usage without PSS: $("$tools/heap_totals" -r trace.heap | grep ^USAGE)"

# Culling: what is freed soon is not among the events, but all that the trace says adds up to the same; blocks
# that live long are there all the same.
for work_of in 'single 20000' 'threads 5000' 'pass 20000' 'deep 3000' 'longjmp 500'; do
    for threshold in 10s 100us; do
        # shellcheck disable=SC2086
        PROFTOP_CULL=$threshold compare exact $work_of
        [ "$threshold $work_of" != '10s pass 20000' ] || continue # others free them
        [ "$threshold" = 100us ] || [ "$(value culled totals)" -gt 0 ] || fault "culling $work_of: none were culled"
    done
done
PROFTOP_CULL=10s compare exact single 20000
[ "$(value culled totals)" -gt 5000 ] || fault "culling: $(value culled totals) of 20000"
for threshold in 0 20us 200us 10s; do
    PROFTOP_CULL=$threshold record "culled.$threshold" "$tools/heap_work" single 20000 >/dev/null
    sums "culled.$threshold" >"sums.$threshold"
    cmp -s sums.0 "sums.$threshold" || fault "culling by $threshold: $(tr '\n' ' ' <"sums.$threshold"), not $(tr '\n' ' ' <sums.0)"
done
[ "$(value temporary sums.0)" -gt 10 ] || fault "culling: no temporary blocks: $(tr '\n' ' ' <sums.0)"

# Of a sample, a block is not temporary because what its thread did meanwhile is not in it: they would be a thousand.
# One small block that is, in the sample, stands for hundreds: the least of three recordings counts.
least=100000
for _ in 1 2 3; do
    PROFTOP_SAMPLE=64k record sampled.temporary "$tools/heap_work" single 20000 >/dev/null
    sums sampled.temporary >sums.sampled
    n=$(value temporary sums.sampled)
    [ "$n" -ge "$least" ] || least=$n
done
[ "$least" -lt 400 ] || fault "sampling: temporary is $least or more, not about $(value temporary sums.0)"
"$PROFTOP" report sampled.temporary 2>/dev/null | grep -q '^# estimated' || fault "the report of a sample does not say that"
"$PROFTOP" report culled.0 2>/dev/null | grep -q '^# estimated' && fault "the report of a whole trace says that it is a sample"
# On a terminal rows fit.
for width in 80 120; do
    "$PROFTOP" report --ascii --width $width culled.0 2>/dev/null >wide
    grep -q heap_work wide || fault "the report of width $width names nothing: $(cat wide)"
    awk -v most=$width '!/^# / && length($0) > most { exit 1 }' wide || fault "the report of width $width: $(cat wide)"
done

# A largest size: the trace ends in order below it, the program goes on.
"$tools/heap_work" threads 100000 >plain.out
check=0 PROFTOP_MAX_SIZE=400k record trace.heap "$tools/heap_work" threads 100000 >traced.out || fault "a largest size: ends with $?"
cmp -s plain.out traced.out || fault "a largest size: the program prints other things"
"$tools/heap_totals" trace.heap >totals
[ "$(value ended totals)" = 1 ] || fault "a largest size: the trace has no end"
[ "$(value bad totals)" = 0 ] || fault "a largest size: $(value bad totals) bad"
size=$(stat -c %s trace.heap)
[ "$size" -le 409600 ] && [ "$size" -gt 100000 ] || fault "a largest size: $size bytes"
grep -q 'as large as it may be' log || fault "a largest size: the log says nothing"
"$PROFTOP" info trace.heap | grep -q '^! stopped .*as large as it may be' || fault "a largest size: the trace does not say why it stopped"

# The newest events of a trace that may not become larger: no call is missing that is neither there nor said to be
# dropped, proftop tells what came after all that was dropped, as a simple reader has it.
# newest MOST: false where little of it is there.
newest() {
    local most=$1 name of have want
    check=100 PROFTOP_KEEP=newest PROFTOP_MAX_SIZE=$most record newest.heap "$tools/heap_work" threads 100000 >traced.out || fault "the newest: ends with $?"
    cmp -s plain.out traced.out || fault "the newest: the program prints other things"
    "$tools/heap_totals" newest.heap >totals
    [ "$(value ended totals) $(value bad totals) $(value double totals) $(value backward totals)" = "1 0 0 0" ] || fault "the newest: $(tr '\n' ' ' <totals)"
    grep -q ' 0 were wrong' log || fault "the newest: $(cat log)"
    size=$(stat -c %s newest.heap)
    [ "$size" -le $((${most%[kM]} * (${#most} == 2 ? 1048576 : 1024))) ] || fault "the newest: $size bytes of $most"
    for name in allocs frees bytes; do
        of=$name
        have=$(($(value $name totals) + $(value "dropped-$name" totals)))
        want=$(value "$of" counts)
        # A realloc ends a block as well, and the header of a block of events counts ends.
        [ $name != frees ] || have=$((have + $(value reallocs totals))) want=$((want + $(value reallocs counts)))
        [ "$have" = "$want" ] || fault "the newest: $name $have, not $want"
    done
    [ "$(value dropped totals)" -gt 100000 ] || fault "the newest: $(tr '\n' ' ' <totals)"
    sums newest.heap | awk '$1 ~ /calls|bytes|leaked/ { print "kept-" $1, $2 }' | LC_ALL=C sort >told
    grep '^kept-' totals | LC_ALL=C sort | cmp -s - told || fault "the newest: $(tr '\n' ' ' <told), not $(grep ^kept- totals | tr '\n' ' ')"
    "$PROFTOP" info newest.heap | grep -q 'dropped .* to stay below the size' || fault "the newest: info does not say what was dropped"
    [ ! -e newest.heap.new ] || fault "the newest: something is left beside it"
    echo "the newest of $most: $size bytes, $(value kept-calls totals) calls"
    [ "$size" -gt 100000 ] && [ "$(value kept-calls totals)" -gt 1000 ]
}
# That is chance, as all goes of a time of which a part does.
for most in 450k 1M; do
    newest $most || newest $most || newest $most || fault "the newest: little is left of $most"
done

# One of which too little would be left is larger than was asked for, and the log says so.
check=0 PROFTOP_KEEP=newest PROFTOP_MAX_SIZE=100k record small.heap "$tools/heap_work" threads 100000 >/dev/null || fault "a small size: ends with $?"
grep -q 'PROFTOP_MAX_SIZE: 400k' log || fault "a small size: the log says $(cat log)"
"$tools/heap_totals" small.heap >totals
[ "$(value dropped totals)" -gt 100000 ] && [ "$(stat -c %s small.heap)" -le 409600 ] || fault "a small size: $(tr '\n' ' ' <totals)"

# Killed at any moment: what was written is whole, and nearly all that the program knew of is there.
for wait in 0.1 0.3 0.5; do
    rm -f trace.heap progress
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/trace.heap "$tools/heap_work" endless 1000 >progress &
    pid=$!
    # Until it runs and something was written, however slow the machine is.
    for _ in {1..200}; do
        [ -s progress ] && [ "$(stat -c %s trace.heap 2>/dev/null || echo 0)" -gt 2000 ] && break
        sleep 0.1
    done
    sleep "$wait"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    "$tools/heap_totals" trace.heap >totals || fault "killed: the trace cannot be read"
    [ "$(value bad totals)" = 0 ] || fault "killed after $wait s: $(value bad totals) bad"
    echo "killed after $wait s: $(value allocs totals) of $(tail -n 2 progress | head -n 1)"
done

# A full disk: the program ends as ever, the log says why recording stopped, what is there can be read.
# RLIMIT_FSIZE stands for it where no file system can be mounted: there a write fails with EFBIG.
"$tools/heap_work" threads 20000 >plain.out
(
    ulimit -f 64
    trap '' XFSZ
    check=0 record trace.heap "$tools/heap_work" threads 20000 >traced.out
) || fault "a full disk: the program ends with $?"
cmp -s plain.out traced.out || fault "a full disk: the program prints other things"
grep -q 'recording stopped' log || fault "a full disk: the log says nothing: $(cat log)"
"$tools/heap_totals" trace.heap >totals || fault "a full disk: the trace cannot be read"
[ "$(value bad totals)" = 0 ] || fault "a full disk: $(value bad totals) bad"

# proftop record: the command's status, its output, where the trace is, one process only.
"$PROFTOP" record --heap -o out.heap -- "$tools/heap_work" exit 100 >said.out 2>said.err
[ $? = 7 ] || fault "record: not the command's status"
grep -q 'recorded .* in .*/out.heap' said.err || fault "record says: $(cat said.err)"
"$tools/heap_totals" out.heap >totals && sound "record" totals
"$PROFTOP" record --heap -o out.heap -- "$tools/heap_work" single 10 >/dev/null 2>&1
[ -e out.heap.old ] || fault "record: the older trace was not kept"

# Who allocates is told in the order of what is asked for, of what was there at the peak if nothing is.
"$PROFTOP" record --heap -o order.heap -- "$tools/heap_work" threads 2000 >/dev/null 2>&1
for way in '' "--view memory --"{metric,sort}" "{live,peak,bytes,calls,temporary,leaked} '--sort bytes' '--sort leaked'; do
    column=${way##* }
    # shellcheck disable=SC2086 # words
    "$PROFTOP" report $way -n 0 --json order.heap >report.json || fault "$way: report ends with $?"
    grep -o "^{\"name.*\"${column:-peak}\": [0-9]*" report.json | grep -o '[0-9]*$' >column
    [ "$(wc -l <column)" -gt 2 ] && sort -c -nr column || fault "by ${way:-what was there at the peak}: $(tr '\n' ' ' <column)"
done
"$PROFTOP" report --view memory --sort self order.heap >out 2>said
[ "$?/$(wc -l <said)/$(wc -c <out)" = 2/1/0 ] && grep -q 'live, peak, bytes, calls, temporary or leaked' said || fault "an order that memory has not: $(cat said)"
"$PROFTOP" report --view memory --metric freed order.heap >out 2>said
[ "$?/$(wc -l <said)/$(wc -c <out)" = 2/1/0 ] && grep -q 'no column of freed' said || fault "a metric that memory has not: $(cat said)"

# Each frame of a stack has the line of its call, where debug information has it, and not only those with inlined functions.
"$PROFTOP" record --heap -o lines.heap -- "$tools/heap_work" single 2000 >/dev/null 2>&1
"$PROFTOP" report lines.heap >said || fault "lines: report ends with $?"
line=$(sed -n 's/^    work_single  heap_work\.c:\([0-9]*\)  heap_work$/\1/p' said | head -n 1)
sed -n "${line:-1}p" "$source/heap_work.c" | grep -q 'steps(' || fault "lines: of work_single it is ${line:-none}: $(grep -m 1 work_single said)"

# A recording that does not come about leaves what was there as it was, its numbered traces too.
mkdir refused
"$PROFTOP" record --heap -o refused/c.heap -- env "$tools/heap_work" single 10 >/dev/null 2>&1
echo older >refused/c.heap.old
sha1sum refused/* >before
"$PROFTOP" record --heap -o refused/c.heap -- "$work/nowhere" 2>said.err
[ $? = 127 ] && grep -q 'nowhere: No such file' said.err || fault "no such command: $(cat said.err)"
"$PROFTOP" record --heap -o refused/c.heap -- "$work" 2>said.err
[ $? = 126 ] || fault "no command: $(cat said.err)"
"$PROFTOP" record --heap -o refused/c.heap -p 4194303 2>said.err
[ $? = 3 ] || fault "no such process: $(cat said.err)"
sha1sum refused/* | cmp -s - before || fault "refused recordings touch what was there: $(ls refused)"
"$PROFTOP" record --heap -o refused/c.heap -- "$tools/heap_work" single 10 >/dev/null 2>&1
[ "$(cd refused && echo *)" = 'c.2.heap.old c.heap c.heap.old' ] || fault "not refused: $(ls refused)"
rm -rf refused

# How the program ended is in the trace: in order, or what the recorder heard of its death.
for how in 'exit 3' 'kill -9 $$' 'kill -SEGV $$'; do
    "$PROFTOP" record --heap -o how.heap -- sh -c "$how" >/dev/null 2>said.err
    "$PROFTOP" info how.heap | grep '^. stopped'
done >hows
[ "$(sed 's/stopped  */stopped /' hows)" = '  stopped because the program ended
  stopped because the program was killed by SIGKILL: all that it did until then is here
  stopped because the program was killed by SIGSEGV: all that it did until then is here' ] || fault "why it stopped: $(cat hows)"

# Nobody sees a program leave by a system call of its own; its recorder knows that it is gone.
"$PROFTOP" record --heap -o how.heap -- "$tools/heap_work" vanish 100 2>said.err
[ $? = 11 ] || fault "vanish ends otherwise"
"$PROFTOP" info how.heap | grep -q '^  stopped  *because the program was gone without a word: all' || fault "vanished: $("$PROFTOP" info how.heap)"

# While it is written, nothing is lost, and it is said to be so.
mkfifo go_on
"$PROFTOP" record --heap -o how.heap -- sh -c 'read -r line <go_on' 2>/dev/null &
for _ in $(seq 600); do
    "$PROFTOP" info how.heap >hows 2>/dev/null
    grep -q 'goes on .*still being written' hows && break
    sleep 0.1
done
grep -q 'goes on .*still being written' hows || fault "while it is written: $(cat hows)"
grep '^!' hows && fault "while it is written something is lost"
echo >go_on
wait
"$PROFTOP" info how.heap | grep -q 'stopped .*the program ended' || fault "it has been written, and does not say so"

# A chain of execs: a trace for each program, told by its name, and which to open; the next recording moves all of them away, and
# nothing else.
mkdir chain
"$tools/heap_work" single 10 >plain.out
"$PROFTOP" record --heap -o chain/other.2 -- "$tools/heap_work" single 10 >/dev/null 2>&1
for name in chain/c.heap chain/other; do
    "$PROFTOP" record --heap -o "$name" -- env "$tools/heap_work" threads 2000 >said.out 2>said.err
    second=${name/c.heap/c.2.heap}
    [ "$name" = "$second" ] && second=chain/other.3
    grep -q "recorded .* of env in .*/$name\$" said.err || fault "a chain: says nothing of env: $(cat said.err)"
    grep -q "recorded .* of heap_work in .*/$second\$" said.err || fault "a chain: says nothing of the work: $(cat said.err)"
    [ "$(tail -n 1 said.err)" = "proftop: the largest is of heap_work: proftop $work/$second opens it" ] ||
        fault "a chain: which to open: $(tail -n 1 said.err)"
    "$PROFTOP" report "$name" | grep -q '^# .*became .*heap_work' || fault "a chain: the report does not say what became of env"
    "$PROFTOP" record --heap -o "$name" -- env "$tools/heap_work" single 10 >/dev/null 2>&1
    [ -e "$name.old" ] && [ -e "$second.old" ] && [ -e "$name" ] && [ -e "$second" ] || fault "a second chain: $(ls chain)"
done
# A long one is told in three lines: the trace that matters, the others, what to do.
"$PROFTOP" record --heap -o long.heap -- env nice env nice env "$tools/heap_work" threads 2000 >said.out 2>said.err
[ "$(sed 's/[0-9.]* kB/N kB/' said.err)" = "proftop: recorded N kB of heap_work in $work/long.6.heap
proftop: the command exec'd env, nice, heap_work, one trace each: 5 traces more, N kB, from $work/long.heap on
proftop: the largest is of heap_work: proftop $work/long.6.heap opens it" ] || fault "a long chain: $(cat said.err)"
rm -f long*.heap
[ "$(find chain -type f | wc -l)" = 9 ] && [ -e chain/other.2 ] || fault "chains: what is not of them was moved: $(ls chain)"
rm -rf chain
"$PROFTOP" record --heap --children -o kids.heap -- sh -c "$tools/heap_work single 10; $tools/heap_work threads 2000; :" >/dev/null 2>said.err
grep -q 'and 2 traces more of children, .* the largest of heap_work in .*/kids.3.heap$' said.err || fault "children: $(cat said.err)"
rm -f kids*.heap
"$PROFTOP" record --heap -- sh -c "$tools/heap_work single 10; $tools/heap_work single 10; :" >/dev/null 2>said.err
grep -q '^proftop: not recorded: 2 programs that it ran (heap_work); --children records them, too$' said.err ||
    fault "record: programs that were left alone: $(cat said.err)"
[ "$(find . -name 'proftop.*.heap' | wc -l)" = 1 ] || fault "record: children were recorded: $(ls)"
rm -f proftop.*.heap
"$PROFTOP" record --heap --children -- sh -c "$tools/heap_work single 10; $tools/heap_work single 10; :" >/dev/null 2>&1
[ "$(find . -name 'proftop.*.heap' | wc -l)" = 3 ] || fault "record --children: $(ls)"

# What libc itself keeps to the end is explained: the buffer of standard output, and the memory of a thread that has ended.
cat >kept.c <<'EOT'
#include <pthread.h>
#include <stdio.h>
static void *nothing(void *arg)
{
	return arg;
}
int main(void)
{
	pthread_t t;

	puts("said");
	return pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL);
}
EOT
if ${CC:-cc} -O1 -pthread -o kept kept.c; then
    "$PROFTOP" record --heap -o kept.heap -- ./kept >said 2>said.err || fault "what libc keeps: ends with $?"
    "$PROFTOP" report --view memory kept.heap >said
    grep -q '^# libc gives up the buffers of standard input' said || fault "the buffer of standard output: $(cat said)"
    grep -q '^# libc keeps the memory of ended threads' said || fault "the memory of a thread: $(cat said)"
    rm -f kept.heap
fi

# Children of forks: 200 of them, each with a whole trace of its own of the same calls, and the parent's is as ever.
rm -f proftop.*.heap
compare exact fork 200
mkdir forks
PROFTOP_CHILDREN=1 check=0 record forks/%p.heap "$tools/heap_work" fork 200 >traced.out || fault "200 children: ends with $?"
cmp -s plain.out traced.out || fault "200 children: the program prints other things"
[ "$(find forks -name '*.heap' | wc -l)" = 201 ] || fault "200 children: $(find forks -name '*.heap' | wc -l) traces"
for trace in forks/*.heap; do
    "$tools/heap_totals" "$trace" >totals || fault "$trace cannot be read"
    sound "$trace" totals
    echo "$(value ended totals) $(value allocs totals) $(value bytes totals)"
done | LC_ALL=C sort | uniq -c | LC_ALL=C sort -rn >kinds
grep -q '^ *200 1 ' kinds && [ "$(wc -l <kinds)" = 2 ] || fault "200 children: $(cat kinds)"
rm -rf forks

# Children that outlive it: its trace is of its own calls, theirs are whole, too. The pipe ends with the last of them.
mkdir orphans
"$tools/heap_work" orphans 50 | cat >plain.out
PROFTOP_CHILDREN=1 check=0 record orphans/%p.heap "$tools/heap_work" orphans 50 2>&1 | cat >traced.out
cmp -s plain.out traced.out || fault "50 orphans: prints other things: $(head -c 300 traced.out)"
for trace in orphans/*.heap; do
    "$tools/heap_totals" "$trace" >totals || fault "$trace cannot be read"
    sound "$trace" totals
    echo "$(value ended totals) $(value allocs totals) $(value bytes totals)"
done | LC_ALL=C sort | uniq -c | LC_ALL=C sort -rn >kinds
grep -q '^ *50 1 ' kinds && grep -q "^ *1 1 $(value allocs counts) $(value bytes counts)\$" kinds && [ "$(wc -l <kinds)" = 2 ] ||
    fault "50 orphans: $(cat kinds), not $(tr '\n' ' ' <counts)"
rm -rf orphans

"$PROFTOP" record --heap -- /nonexistent/command >/dev/null 2>said.err
[ $? = 127 ] || fault "record: a command that is not there"
"$PROFTOP" record --heap --sample lots -- true 2>said.err && fault "record --sample lots"
grep -q -e '--sample wants' said.err || fault "record --sample lots says: $(cat said.err)"
"$PROFTOP" record --heap --sample 1k -o sampled.heap -- "$tools/heap_work" single 1000 >/dev/null 2>&1
"$tools/heap_totals" -r sampled.heap | grep -q '^SAMPLING [0-9]* 1024 ' || fault "record --sample: not in the trace"
"$PROFTOP" record --heap --cull 5ms -o culled.heap -- "$tools/heap_work" single 1000 >/dev/null 2>&1
"$tools/heap_totals" -r culled.heap | grep -q '^CULLING [0-9]* 5000 ' || fault "record --cull: not in the trace"
"$PROFTOP" info culled.heap | grep -q 'lived less than 5' || fault "record --cull: info says $("$PROFTOP" info culled.heap)"
"$PROFTOP" record --heap --cull soon -- true 2>said.err && fault "record --cull soon"
grep -q -e '--cull wants' said.err || fault "record --cull soon says: $(cat said.err)"
"$PROFTOP" record --heap --max-size 500k --keep newest -o newest.heap -- "$tools/heap_work" threads 50000 >/dev/null 2>&1
"$tools/heap_totals" newest.heap >totals
[ "$(value dropped totals)" -gt 10000 ] && [ "$(value ended totals)" = 1 ] || fault "record --keep newest: $(tr '\n' ' ' <totals)"
# live shows the heaps of all that a command starts: those that began before it looked, too. The shell's own hold our settings.
blocks() { awk '$NF == "heap_work" { print $3 }' "$1"; }
several="$tools/heap_work single 2000 & $tools/heap_work single 3000 & wait"
"$PROFTOP" record --heap --children -o several.heap -- sh -c "$several" >/dev/null 2>&1
"$PROFTOP" report --view top --group module --metric calls several*.heap >recorded
"$PROFTOP" live --heap --children --view top --group module --metric calls -- sh -c "$several" >seen 2>/dev/null </dev/null
[ -n "$(blocks recorded)" ] && [ "$(blocks seen)" = "$(blocks recorded)" ] || fault "live --children: $(blocks seen) blocks, not $(blocks recorded)"
# Ctrl-C leaves a command that takes no notice of it running, which is said; a second one ends it.
"$PROFTOP" live --heap -- sh -c 'trap "" INT; echo >up; while :; do sleep 0.1; done' >seen 2>said.err </dev/null &
watcher=$!
until [ -e up ]; do sleep 0.05; done
for sentence in 'report comes' 'a second Ctrl-C ends it'; do
    until grep -q "$sentence" said.err || ! kill -0 $watcher; do sleep 0.05; done
    kill -INT $watcher
done
wait $watcher || fault "live of a command that takes no notice of Ctrl-C: $(cat said.err)"
[ -s seen ] || fault 'live of a command that takes no notice of Ctrl-C has no report'
# Who is killed leaves its log behind until the next one comes; that of one that still records stays.
for how in KILL CONT; do
    "$PROFTOP" record --heap -o left.heap -- sh -c 'echo "$PROFTOP_LOGFILE $$" >which; exec sleep 100' >/dev/null 2>&1 &
    recorder=$!
    until [ -s which ]; do sleep 0.05; done
    read -r log pid <which
    rm which
    kill -$how "$recorder"
    [ $how = CONT ] || wait "$recorder" 2>/dev/null
    touch -d '1 hour ago' "${log%/*}"
    "$PROFTOP" record --heap -o next.heap -- true 2>/dev/null
    left=$(ls -d "${log%/*}" 2>/dev/null)
    [ "$how:${left:+there}" = KILL: ] || [ "$how:${left:+there}" = CONT:there ] || fault "a log after SIG$how: $left"
    kill "$pid"
    wait "$recorder" 2>/dev/null
    [ ! -e "${log%/*}" ] || fault "a log after SIG$how, and the end"
done
for least in "255k" "399k --keep newest"; do
    "$PROFTOP" record --heap --max-size $least -o refused.heap -- true 2>said.err && fault "record --max-size $least"
    grep -q "max-size wants ...k or more" said.err && [ ! -e refused.heap ] || fault "record --max-size $least says: $(cat said.err)"
done
"$PROFTOP" record --heap --max-size 500k --keep best -- true 2>said.err && fault "record --keep best"
grep -q -e '--keep wants' said.err || fault "record --keep best says: $(cat said.err)"
"$PROFTOP" record --heap --keep newest -- true 2>said.err && fault "record --keep without --max-size"
grep -q -e '--max-size says' said.err || fault "record --keep without --max-size says: $(cat said.err)"
"$PROFTOP" record --heap --cull 1ms --sample 1k -- true 2>said.err && fault "record --cull and --sample"
grep -q -e '--cull and --sample' said.err || fault "record --cull and --sample says: $(cat said.err)"
"$PROFTOP" record --heap --max-overhead 5% -o kept.heap -- "$tools/heap_work" single 1000 >/dev/null 2>said.err
grep -q 'recording took: [0-9.]*% of the program.s own CPU time, .*5.0%' said.err || fault "record --max-overhead says: $(cat said.err)"
"$tools/heap_totals" -r kept.heap | grep -q '^OVERHEAD [0-9]* 50000 ' || fault "record --max-overhead: not in the trace"
"$tools/heap_totals" -r kept.heap | grep -q '^COST [0-9]* [1-9]' || fault "record --max-overhead: what it took is not in the trace"
"$PROFTOP" info kept.heap | grep -q 'overhead .*% of the program.s own time, .*5% allowed; of that, ' || fault "record --max-overhead: info says $("$PROFTOP" info kept.heap)"
# Both say the same number.
took() { sed -n "s/.*$1 *\\([0-9.]*\\)% of the program.s own.*/\\1/p" "$2" | awk '{ print $1 + 0 }'; }
"$PROFTOP" info kept.heap >info
[ "$(took took: said.err)" = "$(took overhead info)" ] || fault "record --max-overhead: $(took took: said.err)% and $(took overhead info)%"
for bad in lots 0 0.0% 5x %; do
    "$PROFTOP" record --heap --max-overhead $bad -- true 2>said.err && fault "record --max-overhead $bad"
    grep -q -e '--max-overhead wants' said.err || fault "record --max-overhead $bad says: $(cat said.err)"
done
"$PROFTOP" record --heap --cull 1ms --max-overhead 5% -- true 2>said.err && fault "record --cull and --max-overhead"
grep -q -e '--cull and --max-overhead' said.err || fault "record --cull and --max-overhead says: $(cat said.err)"

# PROFTOP_MEMORY: the rows of a trace that is larger are in files, and say the same.
"$PROFTOP" record --heap -o large.heap -- "$tools/heap_work" single 20000 >/dev/null 2>&1
for most in 1k 1G; do
    kept=$(PROFTOP_MEMORY=$most "$PROFTOP" info large.heap | grep -c 'allocations .*are kept in temporary files')
    [ "$most $kept" = "1k 1" ] || [ "$most $kept" = "1G 0" ] || fault "PROFTOP_MEMORY=$most: info says of files: $kept"
    PROFTOP_MEMORY=$most "$PROFTOP" report --no-cache --view memory large.heap >memory.$most
done
cmp -s memory.1k memory.1G && [ -s memory.1k ] || fault "PROFTOP_MEMORY: $(diff memory.1k memory.1G | head -n 5)"
kept=$(PROFTOP_MEMORY=1k TMPDIR=$work/none "$PROFTOP" info large.heap | grep '^! memory')
grep -q "cannot be copied to $work/none: .*set TMPDIR" <<<"$kept" || fault "PROFTOP_MEMORY without a place for files: $kept"

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
