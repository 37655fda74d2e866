#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records real programs: each ends as it does without us and prints the same, proftop opens what was recorded,
# and no stack was wrong. What is not installed is skipped, and said to be.
. "$(dirname "$0")/lib.sh"

have() {
    command -v "$1" >/dev/null 2>&1 && return
    echo "skipped: $1 is not installed"
    return 1
}

# build NAME COMMAND…: false, with a sentence, where it does not compile.
build() {
    local name=$1
    shift
    "$@" >build.log 2>&1 && return
    echo "skipped: $name cannot be built: $(tail -n 1 build.log)"
    return 1
}

# opens WHAT FILE: proftop reads it, and its totals are sound.
opens() {
    "$PROFTOP" report "$2" >report.txt 2>said || fault "$1: proftop says $(cat said)"
    "$tools/heap_totals" "$2" >totals || fault "$1: the trace cannot be read"
    sound "$1" totals
}

# same WHAT COMMAND…: recorded, it is as it is without us; its largest trace has more than $least allocations (0).
same() {
    local what=$1 plain traced largest
    shift
    rm -f ./*.heap log
    timeout 120 "$@" >plain.out 2>plain.err </dev/null
    plain=$?
    timeout 240 env LD_PRELOAD="$tracer" PROFTOP_OUTPUT="$work/%p.heap" PROFTOP_LOGFILE="$work/log" PROFTOP_CHECK=41 "$@" >traced.out 2>traced.err </dev/null
    traced=$?
    [ "$plain" = "$traced" ] || fault "$what: ends with $traced, not $plain: $(tail -n 3 traced.err)"
    cmp -s plain.out traced.out || fault "$what: prints other things: $(diff plain.out traced.out | head -n 3)"
    cmp -s plain.err traced.err || fault "$what: complains of other things: $(diff plain.err traced.err | head -n 3)"
    grep 'were compared' log 2>/dev/null | grep -v ' 0 were wrong' >wrong && fault "$what: $(head -n 1 wrong)"
    # shellcheck disable=SC2012
    largest=$(ls -S ./*.heap 2>/dev/null | head -n 1)
    if [ -z "$largest" ]; then
        [ "${least:-0}" = none ] || fault "$what: nothing was recorded"
        echo "$what: not recorded"
        return
    fi
    opens "$what" "$largest"
    [ "${least:-0}" = none ] || [ "$(value allocs totals)" -gt "${least:-0}" ] || fault "$what: only $(value allocs totals) allocations"
    echo "$what: $(value allocs totals) allocations by $(value threads totals) threads, $(value stacks totals) stacks, $(value incomplete totals) without a root"
}

cat >prog.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    void *p[100];
    for (int i = 0; i < 100; i++)
        p[i] = malloc((size_t)i + 1);
    for (int i = 0; i < 50; i++)
        free(p[i]);
    puts("done");
    return 3;
}
C
cat >throws.cc <<'C'
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static thread_local std::vector<std::string> kept;
static std::map<int, std::string> global{{1, "a string that is longer than what fits into it"}};
static int deep(int n)
{
    std::string s(static_cast<size_t>(n) * 10 + 20, 'x');
    if (n == 0)
        throw std::runtime_error("at the bottom of it all, where words are long");
    return deep(n - 1) + static_cast<int>(s.size());
}
static void work(int n)
{
    for (int i = 0; i < n; i++) {
        try {
            deep(i % 20);
        } catch (const std::exception &e) {
            kept.push_back(e.what());
        }
        if (i % 100 == 99)
            kept.clear();
    }
}
int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, 500);
    for (auto &t : threads)
        t.join();
    work(100);
    std::printf("%zu %zu\n", kept.size(), global.size());
    return 5;
}
C

# Compilers: the driver's children allocate.
cc=${CC_FOR_TESTS:-gcc}
have "$cc" && least=1000 same "$cc" "$cc" -O2 -c -o prog.o prog.c
if have g++; then
    least=100000 same 'g++' g++ -O1 -c -o throws.o throws.cc
    build 'a C++ program' g++ -O1 -g -o throws throws.cc -lpthread && least=4000 same 'exceptions in threads' ./throws
    if [ -e throws ]; then
        record trace.heap ./throws >/dev/null
        "$tools/heap_totals" trace.heap >totals || fault "exceptions: the trace cannot be read"
        for name in allocs reallocs frees bytes; do
            [ "$(value $name totals)" = "$(value $name counts)" ] || fault "exceptions: $name $(value $name totals), not $(value $name counts)"
        done
    fi
fi

have python3 && least=100 same python3 python3 -c '
import json, threading, subprocess
def work(): return [json.loads(json.dumps({"a": list(range(100)), "b": "x" * i})) for i in range(300)]
t = [threading.Thread(target=work) for _ in range(4)]
[x.start() for x in t]; [x.join() for x in t]
print(len(work()), subprocess.run(["echo", "child"], capture_output=True).stdout)'
have node && least=1000 same node node -e '
const m = new Map(); for (let i = 0; i < 50000; i++) m.set("k" + i, Buffer.alloc(i % 300));
setTimeout(() => console.log(m.size), 50)'
have sqlite3 && least=1000 same sqlite3 sqlite3 :memory: '
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) insert into t select i, hex(i * 7919) from n;
create index x on t(b); select count(*), max(b), sum(length(b)) from t where b > "3"; delete from t where a % 3 = 0; select count(*) from t;'
have perl && least=1000 same perl perl -e 'my %h; $h{$_ % 5000} .= "x" x ($_ % 50) for 1..50000; print scalar(keys %h), "\n"; exit 4'
have git && {
    git init -q repository && (
        cd repository && git config user.email a@b && git config user.name a && cp ../prog.c ../throws.cc . && git add . && git commit -qm one
    ) && least=100 same git git -C repository log --stat -p
}
have java && {
    cat >Prog.java <<'J'
public class Prog {
    public static void main(String[] a) throws Exception {
        StringBuilder s = new StringBuilder();
        Thread[] t = new Thread[4];
        for (int i = 0; i < 4; i++) { t[i] = new Thread(() -> { long n = 0; for (int k = 0; k < 300000; k++) n += ("x" + k).hashCode(); }); t[i].start(); }
        for (Thread x : t) x.join();
        System.out.println("done");
        System.exit(6);
    }
}
J
    least=100 same java java Prog.java
}
have rustc && {
    cat >prog.rs <<'R'
use std::thread;
fn main() {
    let t: Vec<_> = (0..4).map(|i| thread::spawn(move || { let mut v: Vec<String> = Vec::new(); for k in 0..1000 { v.push(format!("{i} {k}")); } v.len() })).collect();
    let n: usize = t.into_iter().map(|x| x.join().unwrap()).sum();
    std::panic::set_hook(Box::new(|_| ()));
    let r = std::panic::catch_unwind(|| { let v: Vec<i32> = Vec::new(); v[n] });
    println!("{n} {}", r.is_err());
    std::process::exit(9);
}
R
    build 'a Rust program' rustc -g -o rust prog.rs && least=3000 same 'a Rust program' ./rust
}
have go && {
    cat >prog.go <<'G'
package main
import ("fmt"; "os"; "os/user"; "sync")
func main() {
	var w sync.WaitGroup
	for i := 0; i < 20; i++ { w.Add(1); go func() { defer w.Done(); m := map[int]string{}; for k := 0; k < 1000; k++ { m[k] = fmt.Sprint(k) } }() }
	w.Wait()
	u, err := user.Current()
	fmt.Println(u.Uid, err)
	os.Exit(8)
}
G
    export GOFLAGS=-mod=mod GO111MODULE=off
    if CGO_ENABLED=0 build 'a Go program' go build -o go-static prog.go; then
        least=none same 'a static Go program' ./go-static
    fi
    CGO_ENABLED=1 build 'a Go program with C' go build -o go-dynamic prog.go && least=none same 'a Go program with C' ./go-dynamic
}

# Another libc, no loader at all, an allocator inside of the program.
have musl-gcc && build 'a musl program' musl-gcc -o musl prog.c && least=none same 'a musl program' ./musl
build 'a static program' "$cc" -static -o static prog.c && least=none same 'a static program' ./static
cat >inside.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char room[1 << 20];
static size_t used;
void *malloc(size_t n)
{
    size_t *p = (size_t *)(void *)(room + used);
    used += (n + 31) / 16 * 16 + 16;
    *p = n;
    return p + 2;
}
void free(void *p)
{
    if (p && ((char *)p < room || (char *)p >= room + sizeof(room)))
        abort();
}
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n)
{
    void *q = malloc(n);
    free(p);
    return p ? memcpy(q, p, n < ((size_t *)p)[-2] ? n : ((size_t *)p)[-2]) : q;
}
int main(void)
{
    char *p = reallocarray(strdup("some words"), 100, 2), *q = NULL;
    size_t n = 0;
    FILE *f = fmemopen("a line\n", 7, "r");
    printf("%s %d %s", p, (int)getline(&q, &n, f), q);
    free(p);
    free(q);
    return 4;
}
C
build 'an allocator of its own' "$cc" -o inside inside.c && least=none same 'an allocator of its own' ./inside
build 'an allocator of its own, at fixed addresses' "$cc" -no-pie -fno-pie -o inside inside.c && least=none same 'an allocator of its own, at fixed addresses' ./inside
build 'jemalloc' "$cc" -o with-jemalloc prog.c -ljemalloc && least=90 same 'jemalloc' ./with-jemalloc
for allocator in jemalloc tcmalloc_minimal mimalloc; do
    build "$allocator" "$cc" -o with prog.c -Wl,--no-as-needed "-l$allocator" && least=90 same "$allocator" ./with
done

# Whose first allocation is made with the lock of locales held, in a constructor that runs before the recorder's.
cat >first.c <<'C'
#define _GNU_SOURCE
#include <locale.h>
#include <stdio.h>
#include <unistd.h>
#ifdef LIBRARY
locale_t first;
__attribute__((constructor)) static void begin(void) { first = newlocale(LC_ALL_MASK, "POSIX", (locale_t)0); }
#else
extern locale_t first;
int main(void)
{
    alarm(60);
    printf("%d %s\n", first != NULL, setlocale(LC_ALL, "C"));
    return 3;
}
#endif
C
build 'a library with a locale' "$cc" -shared -fPIC -DLIBRARY -o libfirst.so first.c &&
    build 'a program with it' "$cc" -o first first.c -L. -lfirst -Wl,-rpath,"$work" && least=0 same 'a locale first of all' ./first

# refused WHAT COMMAND…: proftop record runs it, and says that there is no trace, and why ($why).
refused() {
    local what=$1
    shift
    "$@" >said.out 2>said.err
    [ $? = 3 ] || fault "$what: ends with another status, and says $(cat said.err)"
    [ "$(cat said.out)" = done ] || fault "$what: prints $(cat said.out)"
    grep -q "nothing was recorded: $why" said.err || fault "$what: says $(cat said.err)"
}
# The sanitizer wants to be the first library, unless it is told otherwise; the sentence says how.
if build 'a program with the address sanitizer' "$cc" -fsanitize=address -o sanitized prog.c; then
    ASAN_OPTIONS=detect_leaks=0 "$PROFTOP" record --heap -o refused.heap -- ./sanitized >said.out 2>said.err &&
        fault "a sanitized program: ends well without being told"
    grep -q 'nothing was recorded: ./sanitized is built with the address sanitizer.*verify_asan_link_order=0' said.err || fault "a sanitized program: says $(cat said.err)"
    ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 same 'a sanitized program' ./sanitized
fi
if [ -x static ]; then
    why='./static is statically linked' refused 'a static program' "$PROFTOP" record --heap -o refused.heap -- ./static
    printf '#!%s/static\n' "$work" >script && chmod +x script
    why="$work/static, which runs the script ./script, is statically linked" refused 'a script of it' "$PROFTOP" record --heap -o refused.heap -- ./script
    (PATH=$work:$PATH why="$work/static is statically linked" refused 'a static program of the path' "$PROFTOP" record --heap -o refused.heap -- static
        exit $faults) || faults=$((faults + 1))
fi
if printf 'package main\nimport "os"\nfunc main() { println("x"); os.Stdout.WriteString("done\\n"); os.Exit(3) }\n' >gone.go &&
    GOCACHE=$work/gocache build 'a Go program' go build -o gone gone.go; then
    why='./gone is a Go program' refused 'a Go program' "$PROFTOP" record --heap -o refused.heap -- ./gone
fi
# Its loader finds one library too few.
build 'a library' "$cc" -shared -o libgone.so -x c /dev/null && build 'a program with it' "$cc" -o lacks prog.c -Wl,--no-as-needed -L. -lgone &&
    "$PROFTOP" record --heap -o refused.heap -- ./lacks >said.out 2>said.err
grep -q 'nothing was recorded: ./lacks ended before it began (status 127)' said.err || fault "a library too few: says $(cat said.err)"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1 && build 'a setuid program' "$cc" -o setuid prog.c; then
    chmod 4755 setuid && chmod 755 . && mkdir -m 777 -p free
    if setpriv --reuid 65534 --clear-groups test -r "$PROFTOP" 2>/dev/null && ! findmnt -no OPTIONS -T . 2>/dev/null | grep -qw nosuid; then
        (cd free && why='../setuid runs with the rights of others' refused 'a setuid program' setpriv --reuid 65534 --clear-groups "$PROFTOP" record --heap -o refused.heap -- ../setuid) || faults=$((faults + 1))
    else
        echo "skipped: a setuid program cannot be run here"
    fi
else
    echo "skipped: a setuid program wants root and setpriv"
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
