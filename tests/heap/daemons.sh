#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that fork again and again, that change their users, and that lose the recorder's thread: each ends as it would without
# us and prints the same, and what is recorded is whole.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/host.sh"

# same WHAT COMMAND…: with what is in the environment now it is as without us.
same() {
    local what=$1 plain
    shift
    (unset LD_PRELOAD "${!PROFTOP_@}" && timeout 60 "$@") >plain.out 2>plain.err <<<go
    plain=$?
    timeout 60 "$@" >traced.out 2>traced.err <<<go
    traced=$?
    [ "$plain" = "$traced" ] || fault "$what: ends with $traced, not $plain"
    cmp -s plain.out traced.out || fault "$what: prints other things: $(head -c 300 traced.out)"
}

# --- forks: 40,000 calls are more than what can be noted before somebody writes. The second child is recorded where asked.
while read -r how kids whose; do
    rm -f trace*.heap log
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/trace.heap PROFTOP_LOGFILE=$work/log PROFTOP_CHILDREN=$kids \
        same "$how, children $kids" "$tools/heap_work" "$how" 40000
    n=0
    for trace in trace*.heap; do
        "$tools/heap_totals" "$trace" >totals || fault "$how, children $kids: $trace cannot be read"
        sound "$how, children $kids: $trace" totals
        [ "$(value allocs totals)" -lt 40000 ] || n=$((n + 1))
    done
    echo "$how, children $kids: $(echo trace*.heap | wc -w) traces, $n of the second child"
    [ "$n" = "$whose" ] || fault "$how, children $kids: $n traces of the second child, not $whose: $(cat log)"
done <<'END'
daemon-fork 0 0
daemon-fork 1 1
daemon-spawn 0 0
daemon-spawn 1 1
daemon-vfork 0 0
daemon-vfork 1 1
daemon-thread 0 0
daemon-thread 1 1
daemon-libc 0 0
daemon-libc 1 1
daemon-fork-raw 0 0
daemon-fork-raw 1 0
daemon-raw-fork 0 0
daemon-raw-fork 1 0
END

# Without --children, children that allocated are mentioned, whether they have ended or go on, and each process once: as the
# program that it became, where it did.
cat >forks.c <<'EOT'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void work(void)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(100);

		__asm__ volatile("" : : "r"(p) : "memory");
		free(p);
	}
}
int main(int argc, char **argv)
{
	pid_t pid;

	(void)argc;
	work();
	pid = fork();
	/* A daemon's child forks again and ends: nobody waits for the daemon, which goes on for as long as there is that file. */
	if (pid > 0)
		return waitpid(pid, NULL, 0) != pid;
	if (strcmp(argv[1], "daemon") == 0 && fork() > 0)
		_exit(0);
	if (strcmp(argv[1], "idle") != 0)
		work();
	if (strcmp(argv[1], "exec") == 0)
		execl("/bin/true", "true", (char *)0);
	while (strcmp(argv[1], "daemon") == 0 && access("goes-on", F_OK) == 0)
		usleep(10000);
	_exit(0);
}
EOT
${CC:-cc} -O1 -o forks forks.c || fault "forks.c cannot be compiled"
while read -r how what; do
    touch goes-on
    timeout 60 "$PROFTOP" record --heap -o forks.heap -- ./forks "$how" </dev/null >/dev/null 2>log || fault "a child, $how: ends with $?"
    rm goes-on
    if [ "$what" = nothing ]; then
        if grep 'not recorded' log; then fault "a child, $how: is mentioned"; fi
    else
        grep -q "not recorded: $what; --children records it, too$" log || fault "a child, $how: $(cat log)"
    fi
    timeout 60 "$PROFTOP" record --heap --children -o forks.heap -- ./forks "$how" </dev/null >/dev/null 2>log || fault "a child, $how, --children: ends with $?"
    if grep 'not recorded' log; then fault "a child, $how: was to be recorded"; fi
    if [ "$how" != daemon ] && grep 'still recorded' log; then fault "a child, $how: ended, and still runs"; fi
    rm -f forks*.heap*
done <<'END'
work 1 process that it forked (forks)
daemon 1 process that it forked (forks)
exec 1 program that it ran (true)
idle nothing
END

# A daemon that goes on when its recording has ended is mentioned: nobody lists what it traces later.
touch goes-on
timeout 60 "$PROFTOP" record --heap --children -o forks.heap -- ./forks daemon </dev/null >/dev/null 2>log || fault "a daemon, --children: ends with $?"
rm goes-on
grep -q "still recorded: 1 process that it forked (forks); traces of it and of what it starts later are written beside .*/forks.heap$" log ||
    fault "a daemon that goes on is not mentioned: $(cat log)"
rm -f forks*.heap*

# Parents that are at work while their children begin, and children that a handler of signals forks in the middle of a note:
# each process has what it did, and nothing of another one's.
for how in daemon-busy daemon-handler; do
    for kids in 0 1; do
        rm -f ./*.heap ./*.counts log
        timeout 60 env LD_PRELOAD="$tracer $tools/count_shim.so" COUNT_SHIM=%p.counts PROFTOP_OUTPUT="$work/%p.heap" PROFTOP_LOGFILE="$work/log" \
            PROFTOP_CHILDREN=$kids "$tools/heap_work" "$how" 60 >traced.out || { [ $? = 3 ] || fault "$how, children $kids: ends otherwise"; }
        n=0
        for trace in *.heap; do
            "$tools/heap_totals" "$trace" >totals || fault "$how, children $kids: $trace cannot be read"
            # A child frees what its parent had.
            [ "$(value bad totals) $(value lost totals) $(value double totals) $(value backward totals)" = "0 0 0 0" ] || fault "$how, children $kids: $(tr '\n' ' ' <totals)"
            counts=${trace%.heap}.counts
            [ -e "$counts" ] || continue
            n=$((n + 1))
            [ "$(value allocs totals) $(value bytes totals)" = "$(value allocs "$counts") $(value bytes "$counts")" ] ||
                fault "$how, children $kids: $trace has $(value allocs totals) allocations of $(value bytes totals), not $(tr '\n' ' ' <"$counts")"
        done
        [ "$how$kids" != daemon-busy1 ] || [ $n = 61 ] || fault "$how, children $kids: $n traces"
        echo "$how, children $kids: $n traces compared"
    done
done
rm -f ./*.heap ./*.counts

# --- users, groups and capabilities, from one thread and from several; by the calls of heap_users.c. Where libc ends a program
# whose threads fare differently, it does so without us.
users="u U0U g G r R e E s S i ku KcR kcR cR cu Cu Cs CS Ci Ce Cg Cr CG xg xG xi bu du au cSgR kSEcRc yU0 zu fU cs kg ce dR bR"
for threads in '' 2 '0 thread' '2 thread'; do
    for calls in $users; do
        rm -f trace*.heap log
        # shellcheck disable=SC2086
        LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/trace.heap PROFTOP_LOGFILE=$work/log \
            same "$calls $threads" "$tools/heap_users" "$calls" $threads
        for trace in trace*.heap; do
            "$tools/heap_totals" "$trace" >totals || fault "$calls $threads: $trace cannot be read"
        done
        # What comes after the call is there, too.
        "$tools/heap_totals" trace.2.heap >totals
        [ "$traced" != 7 ] || [ "$(value ended totals)" = 1 ] || fault "$calls $threads: the trace has no end"
    done
done
echo "users: $(echo $users | wc -w) times 4 done"
# Traces that a program begins as another user are listed, and that it may not begin one is said.
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
    for rights in 755 777; do
        chmod 711 "$work"
        mkdir place && chmod $rights place
        "$PROFTOP" record --heap -o place/x.heap -- setpriv --reuid=65534 --clear-groups id -u >said 2>log || fault "another user, $rights: ends with $?"
        [ "$(cat said)" = 65534 ] || fault "another user, $rights: prints $(cat said)"
        grep -q ' of setpriv in .*/place/x.heap$' log || fault "another user, $rights: the first trace is not listed: $(cat log)"
        if [ $rights = 777 ]; then
            grep -q ' of id in .*/place/x.2.heap$' log || fault "another user: the second trace is not listed: $(cat log)"
        else
            grep -q 'not recorded: .*/place/x.2.heap: Permission denied' log || fault "another user: no trace, and nobody says so: $(cat log)"
        fi
        rm -rf place
    done
else
    echo "skipped: nobody becomes another user here"
fi
# And those that a program begins where the recorder's log is out of its sight.
# shellcheck disable=SC2016 # the command's own variable
hides='mount -t tmpfs none "${PROFTOP_LOGFILE%/*}" && exec "$0" single 10'
if unshare -m mount -t tmpfs none "$work" 2>/dev/null; then
    mkdir place
    "$PROFTOP" record --heap -o place/x.heap -- unshare -m sh -c "$hides" "$tools/heap_work" >/dev/null 2>log || fault "another namespace: ends with $?"
    "$tools/heap_totals" place/x.3.heap >totals || fault "another namespace: the last trace cannot be read"
    grep -q 'recorded .* in .*/place/x.3.heap$' log || fault "another namespace: the last trace is not listed: $(cat log)"
    # The same where traces have names by their programs.
    (cd place && "$PROFTOP" record --heap -- unshare -m sh -c "$hides" "$tools/heap_work") >/dev/null 2>log
    grep -q 'recorded .* of heap_work in .*/place/proftop.heap_work.[0-9]*.heap$' log || fault "another namespace: the last trace has a name, and is not listed: $(cat log)"
    # What another recording left there is not taken for one of these.
    cp place/x.3.heap place/y.2.heap
    "$PROFTOP" record --heap -o place/y.heap -- "$tools/heap_work" single 10 >/dev/null 2>log
    [ "$(grep -c recorded log)" = 1 ] || fault "an older trace is listed: $(cat log)"
    rm -rf place
else
    echo "skipped: nothing can be mounted here"
fi
for calls in ku kcR cR CS xg bu; do
    mkfifo in out
    "$tools/heap_users" $calls <in >out 2>traced.err &
    pid=$!
    exec 8>in 9<out
    attach users.heap
    echo >&8
    cat <&9 >traced.out
    wait "$pid"
    traced=$?
    exec 8>&- 9<&-
    leave
    "$tools/heap_users" $calls <<<go >plain.out
    [ $traced = 7 ] || fault "$calls, attached: ends with $traced"
    cmp -s plain.out traced.out || fault "$calls, attached: prints other things: $(head -c 300 traced.out)"
    "$tools/heap_totals" users.heap >totals || fault "$calls, attached: the trace cannot be read"
    [ "$(value allocs totals)" -ge 20000 ] || fault "$calls, attached: $(value allocs totals) allocations"
    rm -f in out
done

# --- the recorder's thread: ended by somebody, and held up. The program goes on, whatever it fills.
for how in end hold; do
    rm -f trace.heap log in out
    mkfifo in out
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/trace.heap PROFTOP_LOGFILE=$work/log "$tools/heap_users" kkkkkkkk 2 <in >traced.out &
    pid=$!
    exec 8>in
    for _ in {1..100}; do
        tid=$(grep -ls '^proftop-heap$' /proc/$pid/task/*/comm | cut -d/ -f5)
        [ -z "$tid" ] || break
        sleep 0.1
    done
    "$tools/heap_hold" $how "$tid" <out >held 8>&- &
    holder=$!
    exec 7>out
    for _ in {1..100}; do
        kill -0 $holder 2>/dev/null && ! grep -q done held || break
        sleep 0.1
    done
    echo >&8
    exec 8>&-
    for _ in {1..600}; do
        [ "$(grep -c '^Cap' traced.out)" = 5 ] && break
        sleep 0.1
    done
    [ "$(grep -c '^Cap' traced.out)" = 5 ] || fault "a thread that somebody has to $how: the program comes no further"
    exec 7>&-
    wait $holder
    held=$?
    wait $pid
    ended=$?
    [ $ended = 7 ] || fault "a thread that somebody has to $how: the program ends with $ended"
    [ $held != 77 ] || { echo "skipped: nobody may $how a thread here" && continue; }
    [ $how = hold ] || grep -q "thread was ended by somebody" log || fault "a thread that was ended: $(cat log)"
    "$tools/heap_totals" trace.heap >totals || fault "a thread that somebody has to $how: the trace cannot be read"
    [ $how = hold ] || [ "$(value ended totals) $(value lost totals)" = "1 0" ] || fault "a thread that was ended: $(tr '\n' ' ' <totals)"
    echo "$how: $(tr '\n' ' ' <totals)"
done

# Held up for a moment only, while signals end each wait of a program whose ring is full, it goes on, and all is there.
rm -f trace.heap log counts held out
mkfifo out
LD_PRELOAD="$tracer $tools/count_shim.so" COUNT_SHIM=counts PROFTOP_OUTPUT=$work/trace.heap PROFTOP_LOGFILE=$work/log PROFTOP_CULL=1ms \
    "$tools/heap_work" storm 30000 >traced.out &
pid=$!
for _ in {1..100}; do
    tid=$(grep -ls '^proftop-heap$' /proc/$pid/task/*/comm | cut -d/ -f5)
    [ -z "$tid" ] || break
    sleep 0.05
done
"$tools/heap_hold" hold "$tid" <out >held &
holder=$!
exec 7>out
sleep 1
exec 7>&-
wait $holder
held=$?
wait $pid || fault "a thread that is held for a moment: the program ends with $?"
if [ $held = 77 ]; then
    echo "skipped: nobody may hold a thread here"
else
    [ $held = 0 ] || fault "a thread that is held for a moment: holding it ends with $held"
    "$tools/heap_totals" trace.heap >totals || fault "a thread that is held for a moment: the trace cannot be read"
    sound "a thread that is held for a moment" totals
    [ "$(value ended totals) $(value allocs totals)" = "1 $(value allocs counts)" ] ||
        fault "a thread that is held for a moment: $(tr '\n' ' ' <totals), not $(tr '\n' ' ' <counts), $(cat log)"
fi

[ $faults = 0 ] || { echo "$faults faults"; exit 1; }
