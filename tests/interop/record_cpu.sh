#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# proftop record of CPU samples: what it writes is what perf sees, and what goes wrong ends well. Skipped where
# nobody may sample. Machines may be as busy as they like: programs run for an amount of cpu time, and what happens
# beside them is waited for.
set -u
here=$(cd "$(dirname "$0")" && pwd)
proftop=$(realpath "${PROFTOP:-./proftop}")
. "$here/record_lib.sh"
${CC:-cc} -O0 -g -o shares "$here/shares.c" -lpthread || exit 99

# The usual: to perf.data, with the command's status, opened without being named.
record 7 -e cpu-clock -- sh -c './shares 0.3; exit 7'
says err 'in perf.data'
"$proftop" report -n 0 >out 2>err || fault "report: $(cat err)"
says out share_8
says out small_ones
record 137 -o killed -- sh -c 'kill -9 $$'
record 127 -o none -- "$dir/nowhere"
says err 'No such file'
record 126 -o none -- "$dir"

# What became of a command is in the last header of live.
for end in 'kill -9 $$:killed by SIGKILL' 'exit 3:exited with 3' 'exit 130:exited with 130' 'exit 0:exited ·'; do
    timeout 60 "$proftop" live --keys '' --screen 120x6 -- sh -c "${end%:*}" >out 2>err || fault "live of $end: $(cat err)"
    says out ") ${end#*:}"
done

# It writes where standard output is no terminal, and all of it.
timeout 60 "$proftop" live --keys '' --screen 120x6 -- seq 30000 >out 2>err
[ "$(sed -n '1p;30000p' out | tr '\n' ' ')" = '1 30000 ' ] || fault "live's command wrote: $(head -c 300 out)"
timeout 60 "$proftop" live --keys '' --screen 120x6 -- sh -c 'seq 30000 >&2' >out 2>err
says err 'the command wrote 16'
[ "$(grep -cx '[0-9]*' err)" -lt 14000 ] || fault "live printed $(wc -l <err) lines of 30000"
[ "$(tail -n 1 err)" = 30000 ] || fault "live left out the end: $(tail -n 1 err)"
timeout 60 "$proftop" live --keys '' --screen 120x6 -- "$dir/nowhere" >out 2>err
[ $? = 127 ] || fault "live of what is not there: $(cat out)"
says err 'No such file'

# The stacks, each way.
for how in unwound unwound,8192 dwarf dwarf,4096 fp; do
    record 0 -e cpu-clock -g "$how" -o "x.$how" -- ./shares 0.3
    "$proftop" report --view tree -n 0 --min 1 "x.$how" >out 2>err
    says out large_ones
    "$proftop" info "x.$how" >out
    grep -q '^? broken' out && fault "$how: $(grep broken out)"
done
# Too small a copy is said with the option that makes it larger.
for how in unwound dwarf; do
    record 0 -e cpu-clock -g "$how,64" -o "small.$how" -- ./shares 0.3
    "$proftop" info "small.$how" >out
    says out "record with a larger --call-graph $how,SIZE"
done
record 0 -e cpu-clock -g off -o flat -- ./shares 0.3
"$proftop" info flat | grep -q 'average depth *1.0' || fault 'stacks without being asked for'
record 0 -e cpu-clock -z 0 -o plain -- ./shares 0.3
"$proftop" info plain | grep -q compressed && fault 'packed at level 0'

# Events: several, and those of kernel and user apart.
record 0 -e cpu-clock:u,page-faults -o two -- ./shares 0.3
"$proftop" info two >out
says out cpu-clock:u
says out page-faults
if [ -r /sys/kernel/tracing/events/sched/sched_switch/id ]; then
    record 0 -e sched:sched_switch -o switches -- sleep 0.1
    "$proftop" report --fields prev_comm -n 0 switches >out 2>err
    says out prev_comm=sleep
    if command -v perf >/dev/null 2>&1; then
        perf script -i switches >out 2>err
        [ -s err ] && fault "perf script of tracepoints: $(head -3 err)"
        says out prev_comm=sleep
    fi
    # Formats of all lengths: perf wants whole words behind the records of a pipe.
    if command -v perf >/dev/null 2>&1; then
        for event in fork exec exit wait; do
            "$proftop" record -e "sched:sched_process_$event" -o - -- sh -c 'sleep 0; exit' 2>err >piped
            perf script -i - <piped >out 2>err || fault "perf script of $event in a pipe: $(cat err)"
            says out "sched:sched_process_$event"
        done
    fi
    record 0 -e 'sched:sched_process_*' -o patterns -- sh -c 'sleep 0; exit'
    "$proftop" info patterns >out
    says out 'sched:sched_process_exec '
    says out 'sched:sched_process_fork '
    record 2 -e 'sched:no_such_*' -o none -- true
    says err "sched:no_such_* matches none of the kernel's"
fi
record 0 --off-cpu -e cpu-clock -o waits -- sleep 0.2
"$proftop" report --event offcpu waits >out 2>err
says out clock_nanosleep

# Through a pipe, with tracepoints where there are any; a reader that goes ends it.
"$proftop" record -e cpu-clock -o - -- sh -c './shares 0.5; echo said' 2>err >piped
says err said
"$proftop" report -n 0 - <piped >out 2>err || fault "piped: $(cat err)"
says out large_ones
if command -v perf >/dev/null 2>&1; then
    perf script -i - <piped >out 2>err
    [ -s err ] && fault "perf script of a pipe: $(head -3 err)"
    says out share_8
fi
"$proftop" record -e cpu-clock -o - -a 2>err | head -c 1000 >/dev/null
says err 'Broken pipe'

# Of a machine, what processors do when they have nothing to do is no news, unless that is asked for.
timeout 60 "$proftop" live -e cpu-clock -a --duration 300ms </dev/null >out 2>err || fault "live -a: $(cat err)"
says out '# filter: !is:idle'
grep -Eq ' (pv_)?native_safe_halt ' out && fault "live -a shows idle processors: $(head -8 out)"
timeout 60 "$proftop" live -e cpu-clock -a --filter 'fn:.' --duration 300ms </dev/null >out 2>err || fault "live -a of all: $(cat err)"
grep -q 'is:idle' out && fault "a filter is not the one that was given: $(head -4 out)"

# Are more stacks than a hundredth without their files? One may fall into the moment of an exec.
without_files() {
    local share
    share=$(sed -n 's/^? no file  *\([0-9.]*\) % of stacks.*/\1/p' out)
    awk -v share="${share:-0}" 'BEGIN { exit !(share > 1) }'
}

# What is gone by the time it is looked at: a program that was deleted, one of another mount namespace.
cp shares gone
./gone 600 &
pid=$!
begin x.gone -p "$pid"
wait_until has x.gone share_8
rm gone
before=$(ran "$pid")
wait_until has_run "$pid" $((before + 50))
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait "$recorder" || fault "deleted: $(cat err)"
"$proftop" info x.gone >out
without_files && fault "deleted: $(grep 'no file' out)"
if unshare -m true 2>/dev/null; then
    record 0 -e cpu-clock -o x.hidden -- unshare -m sh -c \
        'mkdir m && mount -t tmpfs tmpfs m && cp shares m/hidden && m/hidden 0.5'
    "$proftop" info x.hidden >out
    without_files && fault "in a namespace: $(grep 'no file' out)"
fi

# What runs already; limits end the recording and not the command.
./shares 600 &
pid=$!
begin attached -p "$pid"
wait_until has attached share_8
end_recording
begin one -t "$pid"
wait_until has one share_8
end_recording
"$proftop" report --view threads --json one | grep -q '^"threads": 1,' || fault 'not one thread'
record 0 -p "$pid" --duration 300ms -o attached
# A command beside it is not recorded: it is how long.
record 3 -p "$pid" -o timed -- sh -c 'sleep 0.5; exit 3'
"$proftop" report --view threads -n 0 --json timed >out
says out '"shares"'
grep -qE '"name": "(sh|sleep|proftop)"' out && fault "what times a recording is in it: $(cat out)"
record 2 -p "$pid" -a -o timed
record 2 --cpu --heap -p "$pid" -o both -- true
kill -9 "$pid"
wait "$pid" 2>/dev/null
# When the time is up, the command is asked to end. That it does is what was wanted, and what it exits with is its own.
record 0 --duration 100ms -o sized -- sleep 1000
record 0 -a --duration 100ms -o sized -- sleep 1000
record 3 --duration 100ms -g off -z 0 -o sized -- sh -c 'trap "exit 3" TERM; while :; do ./shares 0.01; done'
# Files have no byte more than they may, and all that was recorded by then.
for how in 'dwarf,32768 -z 0' 'dwarf,65528 -z 1' 'unwound -z 0' 'unwound -z 1'; do
    # shellcheck disable=SC2086
    record 0 -e cpu-clock -F 2000 -g $how --max-size 24k -o sized -- ./shares 0.7
    says err 'no sample more fits'
    size=$(stat -c %s sized)
    [ "$size" -le 24576 ] || fault "$how: a file of $size bytes"
    case $how in unwound*) [ "$size" -ge 24000 ] || fault "$how: a file of $size bytes" ;; esac
    "$proftop" info sized >out 2>err2 || fault "$how: $(cat err2)"
    grep -qE "^ *cpu-clock +$(sed -n 's/.*recorded \([0-9,]*\) sample.*/\1/p' err) sample" out || fault "$how: $(grep cpu-clock out)"
done
record 3 -e cpu-clock --max-size 1k -o sized -- true
says err 'more than the file may have'

# The file ends when the time is up, though the command has not, as it does not heed what it is told: whoever follows it is not kept waiting.
mkfifo go
"$proftop" record -e cpu-clock --duration 100ms -o timed -- sh -c 'trap "" TERM; ./shares 0.3; read -r line <go' 2>err &
recorder=$!
until grep -q recorded err; do sleep 0.05; done
for _ in $(seq 100); do
    open=$(find "/proc/$recorder/fd" -lname '*/timed' 2>/dev/null)
    [ -z "$open" ] && break
    sleep 0.05
done
[ -z "$open" ] || fault 'the file is open though its recording has ended'
kill -0 "$recorder" || fault 'the recorder did not wait for its command'
echo >go
wait "$recorder" || fault "the command ended with $?"
"$proftop" report -n 0 timed >out
says out share_8

# live of a file that grows shows in the end what the report of it says: of ours, and of perf's.
grown() {
    until [ -s "$1" ]; do sleep 0.05; done
    "$proftop" live --screen 120x12 "$1" >seen 2>err || fault "live $1: $(cat err)"
    wait "$2"
    "$proftop" report -n 3 "$1" >out
    grep -q '● ended' seen || fault "live $1 does not say that it ended: $(head -1 seen)"
    while read -r self total samples function _; do
        grep -qE "$self .*$total .* $samples .*$function" seen ||
            fault "live $1: no \"$self $total $samples $function\" in $(cat seen)"
    done < <(grep -v '^#' out)
}
"$proftop" record -e cpu-clock -o ours.growing -- ./shares 1 2>/dev/null &
grown ours.growing $!
if command -v perf >/dev/null 2>&1; then
    perf record -q -e cpu-clock -g -o perfs.growing -- ./shares 1 >/dev/null 2>&1 &
    grown perfs.growing $!
fi

# Each so many events: of a clock nanoseconds. What is no event of the machine's, or contradicts itself, is said.
record 0 -e cpu-clock:u -c 2000000 -o counted -- ./shares 0.3
"$proftop" report --json -n 1 counted >out
python3 - out <<'END' || fault "-c 2000000: $(head -c 300 out)"
import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(r["samples"] == 0 or r["columns"][0]["total"] != r["samples"] * 2000000)
END
if [ "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" -lt 1000000 ]; then
    record 0 -e cpu-clock -F 1000000 -o fast -- ./shares 0.1
    says err 'the most that kernel.perf_event_max_sample_rate allows'
fi
record 2 -c 5 -F 9 -o none -- true
says err 'cannot both be'
record 2 -e no_unit/event=1,umask=2/u -o none -- true
says err 'no unit "no_unit"'

# Control groups: those that there were, and one that is made meanwhile; of one alone.
urgent=$(chrt -f 1 echo -r 1 2>/dev/null) # what a group is called is told once, and lost where we come too late
root=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { one = $2 } $3 == "cgroup2" && !two { two = $2 } END { print one ? one : two }' /proc/self/mounts)
group=proftop-$$
# in_group NAME: a program that takes some cpu time in the group.
in_group() {
    sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" 0.3' sh "$root/$1" ./shares || fault "cannot run in $1"
}
if [ -n "$root" ] && mkdir "$root/$group" 2>/dev/null; then
    # shellcheck disable=SC2086
    begin groups.data -a -F 499 $urgent
    in_group "$group"
    mkdir "$root/$group/later" && in_group "$group/later"
    rmdir "$root/$group/later"
    end_recording
    "$proftop" report --group cgroup groups.data >out
    grep -q " /$group\$" out || fault "no group: $(cat out)"
    grep -q " /$group/later\$" out || fault "no group that was made meanwhile: $(cat out)"
    "$proftop" report --group process -f "cgroup:^/$group" groups.data >out
    says out shares
    if command -v perf >/dev/null; then
        perf report -i groups.data --sort cgroup --stdio 2>/dev/null | grep -Eq " /$group( |\$)" || fault 'perf does not see the group'
    fi
    begin one.data -G "$group" -F 499
    in_group "$group"
    end_recording
    "$proftop" report --group cgroup -n 0 one.data | grep -v '^#' >out
    [ "$(grep -c "/$group\$" out)" = "$(grep -c . out)" ] || fault "-G records others: $(cat out)"
    rmdir "$root/$group"
else
    echo 'no control group can be made here: not tried'
fi

# 32-bit programs have stacks by their frame pointers.
cat >deep.s <<'END'
.globl _start
_start: xor %ebp, %ebp
        call outermost
        mov $1, %eax
        xor %ebx, %ebx
        int $0x80
.type outermost, @function
outermost: push %ebp
        mov %esp, %ebp
        call innermost
        pop %ebp
        ret
.type innermost, @function
innermost: push %ebp
        mov %esp, %ebp
        mov $1500000000, %ecx
again:  dec %ecx
        jnz again
        pop %ebp
        ret
END
if [ "$(uname -m)" = x86_64 ] && as --32 -o deep.o deep.s 2>/dev/null && ld -m elf_i386 -o deep deep.o && ./deep; then
    record 0 -e cpu-clock:u -o deep.data -- ./deep
    "$proftop" report --view tree --min 0 -n 0 deep.data >out
    says out outermost
    "$proftop" info deep.data >out
    says out 'complete                  100.0 %'
fi

# Unwind tables that are packed, as debug information is, and nowhere else.
if ${CC:-cc} -O1 -g -gz -fomit-frame-pointer -fno-unwind-tables -fno-asynchronous-unwind-tables -o packed \
    "$here/shares.c" -lpthread 2>err && readelf -tW packed 2>err | grep -A 2 '[.]debug_frame' | grep -q COMPRESSED; then
    record 0 -e cpu-clock:u -o packed.data -- ./packed 0.3
    "$proftop" report --view tree --min 1 -n 0 packed.data >out
    says out main
    grep -qF '[no unwind tables]' out && fault "packed tables were not read: $(head -9 out)"
fi

# Code that is made at run time has no tables; what a trampoline does next is read where it runs.
cat >trampoline.c <<'END'
#include <string.h>
#include <sys/mman.h>
#include <time.h>
static const unsigned char code[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
__attribute__((noinline)) static void burn(void)
{
	for (volatile unsigned i = 0; i < 10000000; i++)
		;
}
__attribute__((noinline)) static void begin(void (*through)(void (*)(void)))
{
	through(burn);
	__asm__ volatile("" ::: "memory");
}
int main(void)
{
	void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, code, sizeof(code));
	/* Long enough to be asked for it while it runs. */
	while (clock() < 2 * CLOCKS_PER_SEC)
		begin((void (*)(void (*)(void)))at);
	return 0;
}
END
if [ "$(uname -m)" = x86_64 ] && ${CC:-cc} -O1 -g -fomit-frame-pointer -o trampoline trampoline.c; then
    record 0 -e cpu-clock:u -o trampoline.data -- ./trampoline
    "$proftop" report -f leaf:burn --view tree --min 1 -n 0 trampoline.data >out
    says out begin
    says out main
fi

# Stacks of Go's routines end where these begin.
cat >work.go <<'END'
package main

//go:noinline
func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ s<<3
	}
	return s
}

func main() {
	done := make(chan int)
	go func() { done <- work(400000000) }()
	<-done
}
END
if command -v go >/dev/null 2>&1 && GOCACHE=$dir/cache GOFLAGS=-mod=mod go build -o work work.go >out 2>&1; then
    record 0 -e cpu-clock:u -o work.data -- ./work
    "$proftop" report -f leaf:main.work --view tree --min 0 -n 0 work.data >out
    says out goexit
    grep -qF '[no unwind tables]' out && fault "a routine of Go has no end: $(head -9 out)"
fi

# A recorder that is killed leaves what it wrote.
./shares 600 &
pid=$!
begin dead -p "$pid"
wait_until has dead share_8
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
"$proftop" report dead >out 2>err || fault "dead: $(cat err)"
says out share_8
# The target is killed: its recording ends by itself.
begin orphan -p "$pid"
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait "$recorder" || fault "orphan ends with $?"
says err 'recorded'

# Signals: without a command they end the recording; with one, the first is the command's.
for signal in INT TERM HUP; do
    begin told -a
    kill -"$signal" "$recorder"
    wait "$recorder" || fault "$signal: ends with $?"
    says err 'recorded'
    "$proftop" info told >out || fault "$signal: no file"
    cp told whole
done
"$proftop" record -e cpu-clock -o told -- sh -c 'trap "exit 9" TERM; : >ready; while :; do sleep 0.1; done' 2>err &
recorder=$!
wait_until [ -e ready ]
kill -TERM "$recorder"
wait "$recorder"
[ $? = 9 ] || fault "the command did not get the signal"
says err 'recorded'
"$proftop" record -e cpu-clock -o told -- sh -c 'trap "" TERM; echo $$ >goes_on; exec sleep 600' 2>err &
recorder=$!
wait_until [ -s goes_on ]
kill -TERM "$recorder"
wait_until has_no_signals "$recorder"
kill -TERM "$recorder"
wait_until grep -q recorded err
kill -9 "$(cat goes_on)" || fault 'a command that goes on has ended'
wait "$recorder"
[ $? = 137 ] || fault 'the status is not that of the command that goes on'

# Wishes that cannot be had.
record 3 -p 4194303
says err 'there is no process 4194303'
record 3 -t 4194303
says err 'there is no thread 4194303'
record 2 -p 12x
record 2
record 2 -e nothing -- true
says err 'there is no event "nothing"'
record 2 -e sched:nothing -- true
record 2 -g sideways -- true
record 2 -F 0 -- true
record 3 -C 9999 -a
says err 'there is no cpu 9999'
record 3 -G no/such/group
says err 'there is no control group'
record 2 --sample 1M -- true
record 2 --heap -F 99 -- true
record 2 -o "$dir/no/such/directory" -- true

# A priority of real time is the recorder's alone.
if chrt -f 1 true 2>/dev/null; then
    record 0 -r 1 -o urgent -- chrt -p 0
    says out SCHED_OTHER
    begin urgent -r 1 -a
    chrt -p "$recorder" | grep -q SCHED_FIFO || fault "no priority: $(chrt -p "$recorder")"
    end_recording
fi

# What is refused leaves what was there as it was, by whatever it is refused.
refused() {
    local want=$1
    shift
    echo new >"$place/kept"
    echo older >"$place/kept.old"
    record "$want" -o "$place/kept" "$@"
    [ "$(ls -A "$place") $(cat "$place/kept" "$place/kept.old")" = 'kept
kept.old new
older' ] || fault "refused: $*: $(head "$place"/*)"
}
mkdir place
place=place
refused 3 -p 4194303
refused 3 -a -C 9999
refused 127 -- "$dir/nowhere"
refused 126 -- "$dir"
if mount -t tmpfs -o size=12k tmpfs place 2>/dev/null; then
    refused 3 -e cpu-clock -z 0 -a
    says err 'No space left'
    umount place
fi
record 0 -o place/kept -- true
[ "$(cat place/kept.old)" = new ] && [ "$(ls -A place | wc -l)" = 2 ] || fault "not refused: $(ls -A place)"

# Whoever may not is told so, and gets what there is without the kernel.
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] && command -v setpriv >/dev/null; then
    chmod 755 "$dir"
    mkdir -m 777 nobody
    cp "$proftop" nobody/proftop
    as_nobody() {
        local want=$1 got
        shift
        setpriv --reuid=65534 --regid=65534 --clear-groups nobody/proftop record -o nobody/x "$@" >out 2>err
        got=$?
        [ "$got" = "$want" ] || fault "nobody's record $* ended with $got, not $want: $(cat err)"
    }
    # However little may be locked, each cpu has a ring, and stacks have room.
    (ulimit -l 64 && as_nobody 0 -- ./shares 0.3 && exit $((faults > 0))) || fault "64 kB may be locked: $(cat err)"
    setpriv --reuid=65534 --regid=65534 --clear-groups nobody/proftop info nobody/x | grep -q truncated && fault 'stacks have no room'
    as_nobody 3 -r 1 -- true
    says err '-r 1 cannot be had'
    as_nobody 0 -- ./shares 0.3
    says err 'what the kernel does is left out: kernel.perf_event_paranoid is above 1'
    setpriv --reuid=65534 --regid=65534 --clear-groups nobody/proftop report -n 0 nobody/x >out 2>err
    says out large_ones
    as_nobody 3 -a
    says err 'only root may watch whole cpus'
    says err 'programs of your own can be watched: -- COMMAND, or -p PID'
    as_nobody 3 -p "$$"
    says err 'it runs with the rights of someone else'
    as_nobody 3 -e context-switches -- true
    says err 'it happens in the kernel'
    as_nobody 3 -e cpu-clock:k -- true
    # root of a user namespace has no more rights than whoever made it
    if setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur true 2>/dev/null; then
        setpriv --reuid=65534 --regid=65534 --clear-groups \
            unshare -Ur nobody/proftop record -o nobody/x -- ./shares 0.3 >out 2>err ||
            fault "root of a user namespace records nothing: $(cat err)"
        says err 'what the kernel does is left out'
        setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur nobody/proftop record -o nobody/x -a >out 2>err
        says err 'this is a user namespace'
    fi
fi

"$proftop" doctor >out 2>err || fault "doctor ends with $?: $(cat err)"
says out 'perf_event_paranoid'
if command -v script >/dev/null; then
    # Advice is in lines of the terminal's width.
    script -qefc "stty cols 60; '$proftop' doctor" /dev/null </dev/null >out 2>err
    says out 'characters'
    tr -d '\r' <out | grep '^ \{25\}.\{36\}' && fault 'lines of doctor are longer than the terminal is wide'
fi
if [ -d nobody ]; then
    [ "$(setpriv --reuid=65534 --regid=65534 --clear-groups nobody/proftop doctor | grep -c '^?.* no$')" -ge 2 ] ||
        fault 'nobody may do everything, says doctor'
fi

# A full disk ends the recording and not the command; what was written before can be opened.
mkdir small
for how in 'dwarf -z 0' 'dwarf -z 1' 'unwound -z 0'; do
    mount -t tmpfs -o size=256k tmpfs small 2>/dev/null || break
    # shellcheck disable=SC2086
    record 5 -e cpu-clock -F 9999 -g $how -o small/x -- sh -c './shares 0.5; exit 5'
    says err 'No space left on device'
    says err 'are lost'
    said=$(sed -n 's/.*recorded \([0-9,]*\) sample.*/\1/p' err)
    [ "${said:-0}" != 0 ] || fault "$how: nothing was kept: $(cat err)"
    "$proftop" info small/x >out 2>err || fault "full: $(cat err)"
    grep -qE "^ *cpu-clock +$said sample" out || fault "$how: $said samples are said to be recorded: $(grep cpu-clock out)"
    wait_until umount small
done

# Rings that nobody reads run over: what was lost is counted. 1.5 seconds are 90 MB, and no rings
# are so large.
./shares 600 &
pid=$!
begin lost -p "$pid" -F 2000 -g dwarf,32768
kill -STOP "$recorder"
before=$(ran "$pid")
wait_until has_run "$pid" $((before + 150))
kill -CONT "$recorder"
tells_lost() { "$proftop" info lost | grep -q '^? *lost\|LOST'; }
wait_until tells_lost
"$proftop" live --screen 120x12 lost >seen 2>/dev/null &
watcher=$!
end_recording
says err "lost, as the kernel's rings were full"
# Whoever watches sees as many lost as the recorder counts.
wait "$watcher" || fault "live of what loses ends with $?"
says seen "lost $(sed -n 's/.*: \([0-9,]*\) records\{0,1\} lost, as.*/\1/p' err) "
kill -9 "$pid"
wait "$pid" 2>/dev/null

# So is what was lost at the very end, which no record behind it tells.
./shares 600 &
pid=$!
begin lost -p "$pid" -c 250000 -g dwarf,65528
kill -STOP "$recorder"
wait_until grep -q '^State:.*T' "/proc/$recorder/status"
before=$(ran "$pid")
wait_until has_run "$pid" $((before + 300))
kill -9 "$pid"
wait "$pid" 2>/dev/null
kill -CONT "$recorder"
wait "$recorder" || fault "lost at the end: $(cat err)"
told=$(sed -n 's/.*: \([0-9,]*\) records\{0,1\} lost, as.*/\1/p; s/.*recorded \([0-9,]*\) sample.*/\1/p' err | tr -d , | paste -sd+)
# Of 12,000; what a busy host takes from the machine is no time of the clock's.
[ "$((told))" -ge 9000 ] || fault "3 s are 12,000 samples, of which are told: $told"
"$proftop" info lost >out
says out "$(sed -n 's/.*: \([0-9,]*\) records\{0,1\} lost, as.*/\1/p' err) events lost"

# A process goes on without its first thread.
cat >leader.c <<'END'
#include <pthread.h>
#include <unistd.h>
static void *go_on(void *arg)
{
	for (volatile unsigned i = 0;; i++)
		;
	return arg;
}
int main(void)
{
	pthread_t t;

	alarm(600);
	return pthread_create(&t, NULL, go_on, NULL) || (pthread_exit(NULL), 0);
}
END
${CC:-cc} -O0 -o leader leader.c -lpthread || exit 99
./leader &
pid=$!
wait_until grep -q '^State:.*Z' "/proc/$pid/status"
begin headless -p "$pid"
wait_until has headless go_on
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait "$recorder" || fault "headless ends with $?"

# Several -p add up, and who is named twice is sampled once. Of two processes one ends: it is no reason to look for its
# end again and again.
n_events() { find "/proc/$recorder/fd" -lname '*perf_event*' | wc -l; }
./shares 600 &
pid=$!
./shares 600 &
other=$!
begin both -p "$pid,$other"
commas=$(n_events)
end_recording
begin both -p "$pid" -p "$other" -p "$pid"
[ "$commas" -gt 0 ] && [ "$(n_events)" = "$commas" ] || fault "by one -p $commas events are open, by three $(n_events)"
kill -9 "$other"
wait "$other" 2>/dev/null
spent=$(ran "$recorder") before=$(ran "$pid")
wait_until has_run "$pid" $((before + 100))
spent=$(($(ran "$recorder") - spent))
[ "$spent" -lt 50 ] || fault "beside 100 ticks of what is recorded, the recorder took $spent"
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait "$recorder" || fault "both ends with $?"

# perf takes it, too.
if command -v perf >/dev/null 2>&1; then
    for how in unwound dwarf fp; do
        perf script -i "x.$how" >out 2>err
        [ -s err ] && fault "perf script of $how: $(head -3 err)"
        says out share_8
        perf report --stdio -i "x.$how" >out 2>err
        [ -s err ] && fault "perf report of $how: $(head -3 err)"
    done
    # How a stack ends that was cut is no frame.
    perf script -F ip -i small.unwound >out 2>err
    [ -s out ] || fault "perf script has no stacks of small.unwound: $(head -3 err)"
    grep -qE '^ *[0-9a-f]$' out && fault "frames that are none: $(grep -E '^ *[0-9a-f]$' out | sort | uniq -c)"
    # Other readers refuse packed records whose head does not say what perf's does: but for level, ratio and size, all.
    cat >packing.py <<'END'
import struct, sys
d = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", d, 40)
bits = [n for n in range(256) if d[72 + n // 8] >> n % 8 & 1]
print(struct.unpack_from("<2I", d, struct.unpack_from("<Q", d, at + size + 16 * bits.index(27))[0]))
END
    if perf record -q -z -e cpu-clock -o theirs -- ./shares 0.1 2>err; then
        [ "$(python3 packing.py theirs)" = "$(python3 packing.py x.unwound)" ] ||
            fault "packed as $(python3 packing.py x.unwound), and by perf $(python3 packing.py theirs)"
    fi
    # What asks for build-ids of all processes spoils what others record.
    perf evlist -v -i whole 2>/dev/null | grep -q 'build_id: 1' && fault 'build-ids of every process are asked for'
    perf script -i dead >out 2>err
    [ -s err ] && fault "perf script of what a killed recorder left: $(head -3 err)"
    says out share_8
fi

# So does hotspot; what is packed only where it was built with zstd.
parser=$(ls /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser 2>/dev/null | head -n 1)
if [ -n "$parser" ]; then
    "$parser" --input plain --output parsed 2>err || fault "hotspot's parser ends with $?"
    grep -E 'unsupported|unhandled|not available' err >out && fault "hotspot's parser: $(head -3 out)"
    [ "$(grep -c share_8 parsed)" -ge 1 ] || fault "hotspot's parser knows of no share_8"
fi
[ "$faults" = 0 ] || exit 1
