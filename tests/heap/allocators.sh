#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records programs with allocators of their own, from the beginning and while they run: as libraries, where each
# call must be in the trace, and linked into the executable, where that they are not must be said.
. "$(dirname "$0")/lib.sh"

cat >own.c <<'EOT'
#include <stdlib.h>
#include <unistd.h>
static void work(void)
{
	for (size_t i = 1; i <= 1000; i++) {
		void *p = malloc(i);

		__asm__ volatile("" : : "r"(p) : "memory");
		p = realloc(p, 2 * i);
		__asm__ volatile("" : : "r"(p) : "memory");
		free(p);
	}
}
int main(void)
{
	char c;

	while (read(0, &c, 1) == 1) {
		work();
		if (write(1, &c, 1) != 1)
			return 1;
	}
	return 0;
}
EOT

# holds WHAT: the calls of work(), at least; the allocator's and libstdc++'s own may come on top.
holds() {
    local name
    for name in bad lost unmatched double cut; do
        [ "$(value "$name" totals)" = 0 ] || fault "$1: $name is $(value "$name" totals)"
    done
    [ "$(value reallocs totals)" -ge 1000 ] && [ "$(value reallocs totals)" -le 1010 ] &&
        [ "$(value allocs totals)" -ge 2000 ] && [ "$(value allocs totals)" -le 2050 ] || fault "$1: $(tr '\n' ' ' <totals)"
    echo "$1: $(tr '\n' ' ' <totals)"
}

# with LIBRARY: one of them as a library.
with() {
    local pid recorder
    ${CC:-cc} -O1 -o own own.c "-l$1" 2>/dev/null || {
        echo "skipped: $1 is not there"
        return
    }
    rm -f own.heap in
    printf x | timeout 60 env LD_PRELOAD="$tracer" PROFTOP_OUTPUT="$work/own.heap" ./own >said || fault "$1: ends with $?"
    "$tools/heap_totals" own.heap >totals || fault "$1: the trace cannot be read"
    holds "$1"
    mkfifo in
    ./own <in >said &
    pid=$!
    exec 8>in
    # Until it is itself, and not yet the shell that becomes it.
    for _ in {1..200}; do [ "$(readlink "/proc/$pid/exe")" = "$work/own" ] && break; sleep 0.05; done
    "$PROFTOP" record --heap -p "$pid" -o running.heap 2>log 8>&- &
    recorder=$!
    for _ in {1..300}; do grep -qs 'recording the heap of' log && break; sleep 0.05; done
    printf x >&8
    for _ in {1..300}; do [ -s said ] && break; sleep 0.05; done
    kill -INT "$recorder"
    wait "$recorder" || fault "$1, running: $(cat log)"
    exec 8>&-
    wait "$pid" || fault "$1, running: ends with $?"
    "$tools/heap_totals" running.heap >totals || fault "$1, running: the trace cannot be read"
    holds "$1, running"
}

for library in jemalloc mimalloc tcmalloc tcmalloc_minimal; do
    with "$library"
done

if ${CC:-cc} -O1 -o own own.c -l:libjemalloc.a -lstdc++ -lm -lpthread -ldl 2>/dev/null; then
    rm -f own.heap log
    printf x | timeout 60 env LD_PRELOAD="$tracer" PROFTOP_OUTPUT="$work/own.heap" PROFTOP_LOGFILE="$work/log" ./own >said ||
        fault "jemalloc in the executable: ends with $?"
    grep -q 'allocator is linked into the executable' log || fault "jemalloc in the executable: $(cat log)"
    "$tools/heap_totals" -r own.heap | grep -q '^NOTE.*linked into the executable' || fault "jemalloc in the executable: no note"
    echo "jemalloc in the executable: told"
else
    echo "skipped: there is no static jemalloc"
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
