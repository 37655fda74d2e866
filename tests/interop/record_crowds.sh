#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# proftop record of many threads, of threads and processes that come and go while it looks, and with few files: each is watched,
# once. Skipped where nobody may sample. Nothing here counts on time: what is waited for is seen.
set -u
here=$(cd "$(dirname "$0")" && pwd)
proftop=$(realpath "${PROFTOP:-./proftop}")
. "$here/record_lib.sh"
${CC:-cc} -O1 -g -o crowd "$here/crowd.c" -lpthread || exit 99

# number FILE RECORDS: how many of these records there are.
number() {
    "$proftop" info "$1" | sed -n "s/^ *$2 *//p" | tr -d ,
}

# at_least NUMBER FILE RECORDS
at_least() {
    local n
    n=$(number "$2" "$3")
    [ "${n:-0}" -ge "$1" ] || fault "line ${BASH_LINENO[0]}: ${n:-0} records of $3 instead of $1"
}

# sampled FILE: threads that have samples.
sampled() {
    "$proftop" report --view threads --json "$1" | sed -n 's/^"threads": \([0-9]*\),.*/\1/p'
}

# started: by $recorder, as $pid.
started() { pid=$(pgrep -P "$recorder" -x crowd); }

end_target() {
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
}

# From their start, and while they run.
"$proftop" record -e cpu-clock -F 99 -o crowd.data -- ./crowd nap 2000 2>err &
recorder=$!
wait_until started
wait_until has_threads "$pid" 2001
kill -USR1 "$pid"
wait "$recorder" || fault "2000 threads: $(cat err)"
at_least 2000 crowd.data FORK
./crowd nap 2000 &
pid=$!
wait_until has_threads "$pid" 2001
record 0 -e cpu-clock -p "$pid" --duration 100ms -o crowd.data
at_least 2001 crowd.data COMM
end_target

# More events than files may be open, by a limit that cannot be raised: each thread is sampled, and what it starts.
nobodys=
if [ "$(id -u)" = 0 ]; then
    nobodys='setpriv --reuid=65534 --regid=65534 --clear-groups'
    $nobodys true 2>/dev/null || nobodys=none
fi
mkdir -m 777 nobody
cp "$proftop" crowd nobody
chmod 755 .
few="$nobodys prlimit --nofile=$((64 + 4 * $(nproc))) nobody/proftop"
if [ "$nobodys" != none ] && $few record -e cpu-clock:u -o nobody/few -- true >out 2>err; then
    $nobodys nobody/crowd wake 200 &
    pid=$!
    wait_until has_threads "$pid" 201
    : >err
    $few record -e cpu-clock:u -c 500000 -g off -p "$pid" -o nobody/few 2>err &
    recorder=$!
    wait_until grep -q 'recording to' err
    [ "$(ls "/proc/$recorder/fd" | wc -l)" -lt 200 ] || fault 'the limit of files does not hold'
    kill -USR1 "$pid"
    wait "$pid"
    wait "$recorder" || fault "few files: $(cat err)"
    n=$(sampled nobody/few)
    [ "${n:-0}" -ge 400 ] || fault "of 400 threads ${n:-0} have samples"
else
    echo 'nobody may not record here: few files are not tried'
fi

# Threads that start each other while 2,000 others are opened.
./crowd relay 2000 5 &
pid=$!
wait_until has_threads "$pid" 2001
begin relay.data -p "$pid"
wait_until has relay.data relayed
end_recording
end_target

# What is started meanwhile by many is counted once: one cpu has no more time than passes.
taskset -c 0 ./crowd grow 8 &
pid=$!
wait_until has_threads "$pid" 1500
record 0 -e cpu-clock -c 1000000 -C 0 -p "$pid" --duration 1s -o once
end_target
"$proftop" report --json -n 1 once >out
python3 - out <<'END' || fault "threads are counted twice: $(head -c 400 out)"
import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(r["columns"][0]["total"] > 1.1 * (r["end_ns"] - r["begin_ns"]))
END

# Threads that go between being listed and being opened.
./crowd churn &
pid=$!
for _ in 1 2 3 4 5; do
    record 0 -e cpu-clock -p "$pid" --duration 50ms -o churn
done
end_target

# Processes that live for a moment, one after the other, and all at once; one that becomes itself again and again.
record 0 -e cpu-clock -o short -- sh -c 'i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i + 1)); done'
at_least 500 short FORK
at_least 500 short EXIT
# Most have no sample, which is said; of one that runs for long, nothing is.
says err 'processes and threads that end before their first sample have none'
record 0 -e cpu-clock -o long -- sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done'
grep -q 'before their first sample' "$dir/err" && fault "a program that runs for long: $(cat "$dir/err")"
# Without copies of stacks no ring runs over.
record 0 -e cpu-clock -c 500000 -g off -o forks -- ./crowd forks 1000
at_least 1000 forks FORK
at_least 1000 forks EXIT
n=$(sampled forks)
[ "${n:-0}" -ge 1000 ] || fault "of 1000 processes ${n:-0} have samples"
record 0 -e cpu-clock:u -c 500000 -o execs -- ./crowd execs 200
at_least 201 execs COMM
"$proftop" report --json -n 0 --metric samples execs >out
python3 - out <<'END' || fault "execs: $(head -c 600 out)"
import json, sys
r = json.load(open(sys.argv[1]))
burnt = sum(row["total"][0] for row in r["rows"] if row["name"] == "become_again")
# 201 times 3 ms of the cpu, by halves, and no more than the rest.
sys.exit(not 201 * 5 <= burnt <= r["samples"])
END
[ "$faults" = 0 ] || exit 1
