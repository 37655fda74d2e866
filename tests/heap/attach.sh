#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records programs that run already: comes into them and leaves them again, at any moment, and compares what the
# traces add up to with a library that counts each call exactly, and what the programs do with what they do alone.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/host.sh"
export PROFTOP_CHECK=1

# counts WHAT "allocs reallocs frees bytes": of totals.
counts() {
    local got
    got="$(value allocs totals) $(value reallocs totals) $(value frees totals) $(value bytes totals)"
    echo "$1: $got"
    [ "$got" = "$2" ] || fault "$1: the trace has $got, not $2"
}

# Exact: what threads that were there before did while they were recorded, by a count of each call.
for n in 1 8 100; do
    host "$tools/count_shim.so" "$n"
    ask work 3000
    ask hold 0
    attach "$n.heap"
    ask work 3000
    wanted=${answer#did }
    [ "$wanted" != "0 0 0 0" ] || fault "nothing was counted"
    detach
    ask work 3000
    whole "$n threads" "$n.heap"
    counts "$n threads" "$wanted"
    # What was there before is unknown: its frees are nothing. What is left behind may be freed later.
    attach again.heap
    ask drop 0
    ask hold 0
    wanted=${answer#did }
    detach
    ask drop 0
    whole "$n threads, again" again.heap
    counts "$n threads, again" "${wanted% * *} 0 ${wanted##* }"
    end_host "bad 0 0 0 0"
done

# What a program still holds when the recording ends is no leak; of one that ended meanwhile it is.
for how in detach end; do
    host '' 1
    attach held.heap
    ask hold 0
    [ $how = end ] || detach
    end_host "bad 0 0 0 0"
    [ $how = detach ] || leave
    "$PROFTOP" report --view memory held.heap >said
    "$PROFTOP" report --metric leaked held.heap >>said
    "$PROFTOP" report --view memory --json held.heap >>said
    case $how in
    detach)
        [ "$(grep -c 'STILL LIVE\|malloc still live\|"lives_on": true' said)" = 3 ] || fault "detached: $(head -n 8 said)"
        if grep 'LEAKED\|malloc leaked' said; then fault "what is still live is said to have leaked"; fi
        ;;
    end)
        [ "$(grep -c 'LEAKED\|malloc leaked' said)" = 2 ] || fault "ended: $(head -n 8 said)"
        if grep -i 'still live\|lives_on' said; then fault "what has leaked is said to live"; fi
        ;;
    esac
done

# A library that is loaded meanwhile, marks from within and from outside, a child, a pause.
host '' 2
attach plugin.heap
ask load 500 "$tools/heap_plugin.so"
[ "$answer" = "loaded 1 0 0 0" ] || fault "a plugin: $answer"
ask fork 500
[ "$answer" = "forked 1 0 0 0" ] || fault "a child: $answer"
ask mark
"$PROFTOP" mark -p "$pid" 'from outside' || fault "mark -p ends with $?"
"$PROFTOP" pause -p "$pid" || fault "pause -p ends with $?"
ask work 2000
"$PROFTOP" resume -p "$pid" || fault "resume -p ends with $?"
"$PROFTOP" record --heap -p "$pid" -o twice.heap 2>twice.err && fault "recorded twice at once"
grep -q 'being recorded already' twice.err || fault "recording twice: $(cat twice.err)"
detach
whole "a plugin" plugin.heap
allocs=$(value allocs totals)
[ "$allocs" -ge 500 ] && [ "$allocs" -lt 600 ] || fault "a plugin's 500 allocations: $allocs"
[ "$(grep -c '^MARK.*from within\|^MARK.*from outside' totals)" = 2 ] || fault "marks: $(grep ^MARK totals)"
[ "$(grep -c '^SWITCH' totals)" = 2 ] || fault "pause and resume: $(grep ^SWITCH totals)"
"$PROFTOP" mark -p "$pid" late 2>late.err && fault "a mark without a recording"
grep -q 'not being recorded now' late.err || fault "a late mark: $(cat late.err)"
"$PROFTOP" mark -p 4194305 nobody 2>nobody.err && fault "a mark in a process that is none"
grep -q 'there is no such process' nobody.err || fault "a mark in a process that is none: $(cat nobody.err)"
end_host "bad 0 0 0 0"

# Many times, under stress; by time, too.
host '' busy
for i in {1..50}; do
    attach busy.heap
    [ $((i % 10)) = 0 ] && sleep 0.2
    detach
    whole "busy, $i" busy.heap
    [ "$faults" -lt 5 ] || break
done
timeout 60 "$PROFTOP" record --heap -p "$pid" -o timed.heap --duration 500ms 2>said || fault "--duration: $(cat said)"
whole "--duration" timed.heap
[ "$(value allocs totals)" -gt 100 ] || fault "--duration: $(value allocs totals) allocations"
# Of a command: its trace ends, and then it does.
timeout 60 "$PROFTOP" record --heap -o command.heap --duration 500ms -- bash -c 'while :; do x=$(printf %d 1); done' 2>said ||
    fault "--duration of a command: $(cat said)"
"$PROFTOP" info command.heap >said || fault "--duration of a command: $(cat said)"
grep -q 'stopped  *because it was told to' said || fault "--duration of a command: $(cat said)"
# One that does not end by SIGTERM is waited for, which is said, until somebody says twice that it is not to be.
"$PROFTOP" record --heap -o stays.heap --duration 300ms -- bash -c 'trap "" TERM; echo $$ >stays; while :; do x=$(printf %d 1); done' 2>said &
waits=$!
for _ in {1..300}; do
    grep -q 'does not end by SIGTERM' said && break
    sleep 0.1
done
stays=$(cat stays)
grep -q "the command (pid $stays) does not end by SIGTERM" said || fault "--duration of one that stays: $(cat said)"
for _ in 1 2; do
    kill -0 $waits || fault "--duration of one that stays: it is not waited for"
    kill -INT $waits
    sleep 0.2
done
wait $waits || fault "--duration of one that stays: ends with $?"
kill -9 "$stays" || fault "--duration of one that stays: it was ended"
"$PROFTOP" info stays.heap | grep -q 'stopped  *because it was told to' || fault "--duration of one that stays: $("$PROFTOP" info stays.heap)"
maps=$(wc -l <"/proc/$pid/maps")
# Whoever attaches is killed, at any moment: the program goes on.
orphans=0
for i in {1..40}; do
    "$PROFTOP" record --heap -p "$pid" -o "killed.$i.heap" 2>said 8>&- 9<&- &
    recorder=$!
    sleep "0.0$((i % 10))$((i / 10))"
    kill -9 "$recorder"
    wait "$recorder" 2>/dev/null
    kill -0 "$pid" || break
    # Whatever it came to; without it, the process would record for a minute more.
    "$PROFTOP" detach -p "$pid" 2>/dev/null && orphans=$((orphans + 1))
done
echo "of 40 that were killed, $orphans had begun to record"
echo x >&8
end_host "faults 0 0 0 0"
[ "$maps" -lt 200 ] || fault "50 times left $maps mappings"

# Waits in system calls end as they would.
for what in nanosleep poll epoll select sigwait semop sem; do
    "$tools/heap_host" wait "$what" | tail -n 1 >alone
    host '' wait "$what"
    attach "$what.heap"
    leave
    read -r -t 60 answer <&9
    [ "$answer" = "$(cat alone)" ] || fault "$what: $answer, alone: $(cat alone)"
    wait "$pid"
    exec 8>&- 9<&-
done

# The program ends while it is recorded: in order, and killed.
host '' 4
attach exits.heap
ask work 3000
end_host "bad 0 0 0 0"
wait "$recorder" || fault "the program ended, the recorder with $?"
whole "the program ended" exits.heap
"$PROFTOP" info exits.heap | grep -q 'stopped .*the program ended' || fault "the program ended, and the trace does not say so"
[ "$(value allocs totals)" -gt 5000 ] || fault "the program ended: $(value allocs totals) allocations"
host '' 4
attach killed.heap
ask work 3000
sleep 0.5
kill -9 "$pid"
wait "$recorder" || fault "the program was killed, the recorder ends with $?"
wait "$pid" 2>/dev/null
exec 8>&- 9<&-
"$PROFTOP" info killed.heap | grep -q '^  stopped .*gone without a word: all' || fault "the program was killed, and the trace does not say that it went"
"$tools/heap_totals" killed.heap >totals
[ "$(value bad totals) $(value allocs totals)" != "0 0" ] || fault "the program was killed: $(cat totals)"

# What cannot be attached to is told in a sentence, and left alone.
refused() {
    local text=$1
    shift
    "$PROFTOP" record --heap -p "$@" -o refused.heap 2>said
    [ $? = 3 ] || fault "$*: ends with another status"
    grep -q -e "$text" said || fault "$*: says $(cat said)"
    [ ! -e refused.heap ] || fault "$*: there is a trace"
}
refused 'there is no process' 999999
refused 'is this one\|is being recorded\|may not\|part of the kernel\|other files' 2
sleep 60 &
pid=$!
kill -STOP "$pid"
for _ in {1..50}; do grep -q '^State:.T' "/proc/$pid/status" && break; sleep 0.1; done
refused 'is stopped: continue it' "$pid"
kill -9 "$pid"
wait "$pid" 2>/dev/null
printf 'int main(void) { for (;;) __builtin_ia32_pause(); }\n' >still.c
if ${CC:-cc} -static -o still still.c 2>/dev/null; then
    ./still &
    pid=$!
    sleep 0.1
    refused 'statically linked' "$pid"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
fi
cat >shares.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	if (vfork() == 0)
		for (dprintf(1, "%d\n", (int)getpid());;)
			pause();
	return 0;
}
END
if ${CC:-cc} -o shares shares.c 2>/dev/null; then
    : >child
    ./shares >child &
    parent=$!
    until read -r pid <child; do sleep 0.05; done
    refused 'shares the memory of process' "$pid"
    kill -9 "$pid"
    wait "$parent"
fi
# One whose only thread holds the loader's lock is given up after a while, and goes on as if nothing had been.
cat >inside.c <<'END'
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <unistd.h>
static int within(struct dl_phdr_info *info, size_t n, void *arg)
{
	char c;
	(void)info, (void)n, (void)arg;
	return write(1, "within\n", 7) == 7 && read(0, &c, 1) == 1 ? c : 1;
}
int main(void)
{
	printf("%d\n", dl_iterate_phdr(within, NULL));
	return 5;
}
END
if ${CC:-cc} -o inside inside.c 2>/dev/null; then
    mkfifo go_on
    ./inside <go_on >inside.out &
    pid=$!
    exec 7>go_on
    until [ -s inside.out ]; do sleep 0.05; done
    refused 'no thread of it came to a place where it may load a library' "$pid"
    grep -q proftop-heap "/proc/$pid/maps" && fault "given up: the library is in the process"
    grep -q '^TracerPid:.0$' "/proc/$pid/status" || fault "given up: the process is still traced"
    printf A >&7
    exec 7>&-
    wait "$pid"
    [ "$? $(tr '\n' ' ' <inside.out)" = "5 within 65 " ] || fault "given up: the program prints $(cat inside.out)"
fi
# Threads that forbade themselves something before: one that may not read the clock lives on, not recorded, and that is said;
# one in a sandbox is a reason to stay out.
cat >forbids.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
static int ends[2];
static void work(void *was)
{
	for (int i = 1; i <= 1000; i++) {
		char *volatile p = was ? realloc(was, (size_t)i) : malloc((size_t)i);

		was = NULL;
		p = realloc(p, 3000);
		free(p);
	}
}
static void *limited(void *how)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { 1, &all };
	void *p;

	if (strcmp(how, "sandbox") == 0 ? prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)
					: prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		_exit(3);
	/* The first block is one that was recorded, of another thread. */
	if (write(1, "r\n", 2) == 2 && read(ends[0], &p, sizeof(p)) == sizeof(p))
		work(p);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	char c;
	void *p;

	if (argc < 2 || pipe(ends) || pthread_create(&thread, NULL, limited, argv[1]) || read(0, &c, 1) != 1)
		return 2;
	work(NULL);
	p = malloc(77);
	if (write(ends[1], &p, sizeof(p)) != sizeof(p) || pthread_join(thread, NULL))
		return 4;
	return 5;
}
END
if [ "$(uname -m)" = x86_64 ] && ${CC:-cc} -o forbids forbids.c -lpthread 2>/dev/null; then
    for how in clock sandbox; do
        rm -f go_on ready
        mkfifo go_on
        ./forbids $how <go_on >ready &
        pid=$!
        exec 7>go_on
        until [ -s ready ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
        if [ $how = sandbox ]; then
            refused 'has a thread in a sandbox (seccomp), [0-9]*, ' "$pid"
        else
            attach forbids.heap
        fi
        printf A >&7
        exec 7>&-
        wait "$pid"
        status=$?
        [ $status = 5 ] || fault "a thread that forbade itself the $how: the program ends with $status"
    done
    wait "$recorder"
    "$tools/heap_totals" forbids.heap >totals || fault "no clock: the trace cannot be read"
    [ "$(value lost totals)" -ge 3000 ] && [ "$(value reallocs totals)" = 1000 ] || fault "no clock: $(tr '\n' ' ' <totals)"
    "$PROFTOP" info forbids.heap | grep -q '^! note .*a thread is not recorded: .*PR_SET_TSC' || fault "no clock: info says $("$PROFTOP" info forbids.heap)"
fi
"$PROFTOP" record --heap -p nobody 2>said && fault "-p nobody"
grep -q 'wants the number' said || fault "-p nobody says: $(cat said)"
"$PROFTOP" record --heap -p 1 --duration soon 2>said && fault "--duration soon"
grep -q -e '--duration wants' said || fault "--duration soon says: $(cat said)"

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
