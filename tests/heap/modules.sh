#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Modules that are not as linkers make them: program headers elsewhere than in the first page, an allocator in the
# executable that only other modules' calls can be told of, Go that calls C that calls Go, generated code, another libc.
source=$(cd "$(dirname "$0")" && pwd)
. "$source/lib.sh"
cc=${CC_FOR_TESTS:-gcc}

# exact WHAT: the last record()'s trace has each call that was counted, every stack a root, and none was wrong.
exact() {
    local name
    "$tools/heap_totals" trace.heap >totals || fault "$1: the trace cannot be read"
    sound "$1" totals
    for name in allocs bytes ${also:-}; do
        [ "$(value $name totals)" = "$(value $name counts)" ] || fault "$1: $name $(value $name totals), not $(value $name counts)"
    done
    [ "$(value incomplete totals)" = "${without_root:-0}" ] || fault "$1: $(value incomplete totals) of $(value stacks totals) stacks have no root"
    ! grep 'were compared' log | grep -v ' 0 were wrong' || fault "$1: wrong stacks"
    echo "$1: $(value allocs totals) allocations, $(value stacks totals) stacks"
}

# stack WHAT PATTERN [FILE]: a stack, outermost first, is like this.
stack() {
    "$PROFTOP" export --to folded --metric calls "${3:-trace.heap}" >folded 2>/dev/null
    grep -Eq "$2" folded || fault "$1: no stack is like $2: $(head -n 3 folded)"
}

# --- program headers at the end of the file ---------------------------------------------------
cat >moved.c <<'C'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void *moved_leaf(int i) { void *p = malloc((size_t)i + 1); __asm__ volatile("" : "+r"(p)); return p; }
__attribute__((noinline)) void moved_work(int n) { for (int i = 0; i < n; i++) free(moved_leaf(i % 100)); __asm__ volatile(""); }
#ifdef WHOLE
int main(void) { moved_work(1000); return 3; }
#endif
C
cat >moves.c <<'C'
#include <unistd.h>
void moved_work(int n);
int main(int argc, char **argv)
{
    (void)argv;
    moved_work(1000);
    for (int i = 0; argc > 1 && i < 3000; i++) {
        moved_work(10);
        usleep(1000);
    }
    return 3;
}
C
if command -v python3 >/dev/null; then
    for how in mapped shifted unmapped; do
        "$cc" -O1 -g -shared -fPIC -o libmoved.so moved.c && "$cc" -O1 -g -o moves moves.c -L. -lmoved -Wl,-rpath,"$work" || fault "$how: does not compile"
        python3 "$source/move_headers.py" libmoved.so "$how" || fault "$how: headers are not moved"
        record trace.heap ./moves
        [ $? = 3 ] || fault "$how: ends otherwise: $(cat log)"
        exact "headers $how"
        stack "headers $how" '^moves;(_start;)?.*main;moved_work;moved_leaf 1000$'
        # Attached to, the thread is walked from outside, and the library from inside.
        ./moves more &
        pid=$!
        sleep 0.5
        "$PROFTOP" record --heap -p $pid -o attached.heap --duration 1 >said 2>&1 || fault "$how: attaching: $(cat said)"
        wait $pid
        stack "headers $how, attached to" ';main;moved_work;moved_leaf [0-9]+$' attached.heap
    done
    "$cc" -O1 -g -DWHOLE -o whole moved.c && python3 "$source/move_headers.py" whole mapped
    record trace.heap ./whole
    [ $? = 3 ] || fault "an executable with headers at its end: ends otherwise"
    exact 'an executable with headers at its end'
    stack 'an executable with headers at its end' 'main;moved_work;moved_leaf 1000$'
else
    echo "skipped: python3 moves headers, and is not there"
fi

# --- an allocator in the executable -----------------------------------------------------------
# Its malloc cannot be led elsewhere, as it jumps into itself; a library's calls of it go through the loader's tables.
cat >first.c <<'C'
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static _Alignas(16) char room[8 << 20];
static size_t used;
unsigned long n_allocs, n_frees, n_bytes, n_reallocs;
static int counts = 1;
void *take(size_t n)
{
    size_t *p = (size_t *)(void *)(room + used);
    used += (n + 31) / 16 * 16 + 16;
    *p = n;
    return p + 2;
}
void *count(size_t n) { n_allocs += counts; n_bytes += counts ? n : 0; return take(n); }
/* A jump of two bytes leads to where a jump of five would be put. */
__asm__(".globl malloc\n.type malloc,@function\nmalloc:\n\tnop\n1:\tnop\n\tcmp $1, %rdi\n\tja 2f\n\tadd $1, %rdi\n\tjmp 1b\n2:\tjmp count\n.size malloc, .-malloc");
void free(void *p) { n_frees += p && counts; }
void *calloc(size_t n, size_t m) { return memset(count(n * m), 0, n * m); }
void *realloc(void *p, size_t n)
{
    void *q = count(n);
    n_reallocs += p && counts;
    return p ? memcpy(q, p, n < ((size_t *)p)[-2] ? n : ((size_t *)p)[-2]) : q;
}
void library_work(int n);
int main(void)
{
    n_allocs = n_frees = n_bytes = n_reallocs = 0;
    library_work(1000);
    counts = 0;
    FILE *f = fopen("counts", "w");
    fprintf(f, "allocs %lu\nreallocs %lu\nfrees %lu\nbytes %lu\n", n_allocs, n_reallocs, n_frees, n_bytes);
    fclose(f);
    return 4;
}
C
cat >library.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) void *library_leaf(int i) { void *p = malloc((size_t)i + 2); __asm__ volatile("" : "+r"(p)); return p; }
void library_work(int n)
{
    for (int i = 0; i < n; i++) {
        void *p = realloc(library_leaf(i), (size_t)i * 2 + 2), *q = calloc(2, (size_t)i + 2);
        free(p);
        if (i % 2)
            free(q);
    }
}
C
"$cc" -O1 -g -shared -fPIC -o liblibrary.so library.c && "$cc" -O1 -g -rdynamic -o first first.c -L. -llibrary -Wl,-rpath,"$work" || fault 'first: does not compile'
rm -f trace.heap log
env LD_PRELOAD="$tracer" PROFTOP_OUTPUT="$work/trace.heap" PROFTOP_LOGFILE="$work/log" PROFTOP_CHECK=1 ./first
[ $? = 4 ] || fault "first: ends otherwise"
grep -q 'in the executable: its own calls of it are not recorded' log || fault "first: says $(cat log)"
# Standard output's are calls of libc, which are counted no more, but recorded: those of the library are looked at.
"$tools/heap_totals" trace.heap >totals
sound first totals
"$PROFTOP" export --to folded --metric calls trace.heap 2>/dev/null | grep 'library_' >folded
[ "$(awk '{ n += $NF } END { print n }' folded)" = "$(value allocs counts)" ] || fault "first: $(cat folded), not $(cat counts)"
grep -q 'main;library_work;library_leaf 1000$' folded || fault "first: $(cat folded)"
"$PROFTOP" export --to folded --metric bytes trace.heap 2>/dev/null | awk '/library_/ { n += $NF } END { print n }' >sum
[ "$(cat sum)" = "$(value bytes counts)" ] || fault "first: $(cat sum) bytes, not $(value bytes counts)"
echo "an allocator in the executable: $(value allocs totals) allocations"

# --- one library after the other, at the same addresses -------------------------------------------
# Each call is its own library's, the first one after each dlopen, too.
cat >reused.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    void *last = NULL;
    int n_same = 0;
    for (int i = 0; i < 400; i++) {
        void *library = dlopen(i % 2 ? "./libodd.so" : "./libeven.so", RTLD_NOW);
        void *(*take)(size_t);
        *(void **)&take = dlsym(library, i % 2 ? "take_odd" : "take_even");
        n_same += last == *(void **)&take;
        last = *(void **)&take;
        for (int k = 0; k < 3; k++)
            take(i % 2 ? 1000 : 10);
        dlclose(library);
    }
    return n_same > 300 ? 3 : 4;
}
C
echo '__attribute__((noinline)) void *TAKE(unsigned long n) { void *p = __builtin_malloc(n); __asm__ volatile("" : "+r"(p)); return p; }' >take.c
"$cc" -O1 -g -shared -fPIC -DTAKE=take_even -o libeven.so take.c && "$cc" -O1 -g -shared -fPIC -DTAKE=take_odd -o libodd.so take.c &&
    "$cc" -O1 -g -o reused reused.c -ldl || fault 'reused: does not compile'
record trace.heap ./reused
ended=$?
if [ $ended = 4 ]; then
    echo 'skipped: libraries do not come to the same addresses here'
else
    [ $ended = 3 ] || fault "reused: ends with $ended"
    exact reused
    for metric in calls bytes; do
        "$PROFTOP" export --to folded --metric $metric trace.heap 2>/dev/null | awk '/;take_even [0-9]+$/ { even += $NF } /;take_odd [0-9]+$/ { odd += $NF } END { print even, odd }'
    done >said
    [ "$(tr '\n' ' ' <said)" = '600 600 6000 600000 ' ] || fault "reused: $(tr '\n' ' ' <said)"
fi

# --- Go ---------------------------------------------------------------------------------------
if command -v go >/dev/null; then
    mkdir -p go && cat >go/main.go <<'G'
package main

/*
#include <stdlib.h>
#include <string.h>
extern void goCallback(int);
static void *c_alloc(int n) { void *p = malloc(n); memset(p, 1, n); return p; }
static void c_deep(int n) { void *p = malloc(77); goCallback(n); free(p); }
*/
import "C"
import "sync"

//export goCallback
func goCallback(n C.int) { inner(int(n)) }

//go:noinline
func inner(n int) {
	if n > 1 {
		C.c_deep(C.int(n - 1))
	}
	C.free(C.c_alloc(C.int(n * 10)))
}

//go:noinline
func worker(n int) {
	for i := 0; i < n; i++ {
		C.free(C.c_alloc(C.int(100 + i%50)))
	}
}

//go:noinline
func grow(n int) int {
	var room [512]byte
	room[n%512] = byte(n)
	if n == 0 {
		C.free(C.c_alloc(9))
		return 0
	}
	return grow(n-1) + int(room[(n+1)%512])
}

func main() {
	var w sync.WaitGroup
	for g := 0; g < 4; g++ {
		w.Add(1)
		go func() { defer w.Done(); worker(500); grow(300) }()
	}
	w.Wait()
	worker(100)
	C.c_deep(3)
	C.exit(5)
}
G
    export GOFLAGS=-mod=mod GO111MODULE=off GOCACHE=$work/gocache
    if (cd go && CGO_ENABLED=1 go build -o ../cgo main.go) >build.log 2>&1; then
        record trace.heap ./cgo
        [ $? = 5 ] || fault "cgo: ends otherwise"
        exact 'Go with C'
        stack 'Go with C' ';runtime.goexit[.a-z0-9]*;main.main.(func1|gowrap1);main.worker;.*runtime.asmcgocall[.a-z0-9]*;.*c_alloc 2000$'
        stack 'Go that C called' ';runtime.main;main.main;.*c_deep.*goCallback;.*main.inner;.*goCallback;.*main.inner;.*c_alloc 1$'
    else
        echo "skipped: a Go program with C cannot be built: $(tail -n 1 build.log)"
    fi
else
    echo "skipped: go is not installed"
fi

# --- another libc -----------------------------------------------------------------------------
if command -v musl-gcc >/dev/null; then
    musl-gcc -O1 -g -DWHOLE -Wl,--eh-frame-hdr -o whole moved.c || fault "musl: does not compile"
    rm -f trace.heap
    env LD_PRELOAD="$tracer" PROFTOP_OUTPUT="$work/trace.heap" ./whole
    [ $? = 3 ] || fault "musl: ends otherwise"
    stack musl ';main;moved_work;moved_leaf 1000$'
    echo "musl: $(grep -c . folded) stacks"
else
    echo "skipped: musl-gcc is not installed"
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
