#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Code that a program generates, in stacks of its heap: names by perf-PID.map and by a jitdump, and stacks that go on below it.
source=$(cd "$(dirname "$0")" && pwd)
. "$source/lib.sh"
cc=${CC_FOR_TESTS:-gcc}

# stack WHAT PATTERN: a stack of trace.heap, outermost first, is like this.
stack() {
    "$PROFTOP" export --to folded --metric calls trace.heap >folded 2>/dev/null
    grep -Eq "$2" folded || fault "$1: no stack is like $2: $(head -n 3 folded)"
}

# Trampolines as CPython 3.12 writes them, without a frame pointer, and as 3.13 does; what they call does not keep it either.
cat >generates.c <<'C'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
typedef void fn(int, int, int, void (*)(int));
static const unsigned char code[2][16] = {
    { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 }, /* sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
    { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3 },                   /* push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret */
};
static char *room;
__attribute__((noinline)) void called(int n)
{
    /* rbp is used for something else. */
    register uintptr_t other __asm__("rbp") = (uintptr_t)n * 7 + 1;
    __asm__ volatile("" : "+r"(other));
    for (int i = 0; i < n; i++) {
        void *p = malloc((size_t)i + 1);
        __asm__ volatile("" : "+r"(other), "+r"(p));
        free(p);
    }
    __asm__ volatile("" : "+r"(other));
}
__attribute__((noinline)) void interprets(void)
{
    for (int i = 0; i < 2; i++)
        ((fn *)(void *)(room + 4096 * i))(100 * (i + 1), 0, 0, called);
    __asm__ volatile("");
}
static void write_map(void)
{
    char path[64];
    FILE *f;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    f = fopen(path, "w");
    for (int i = 0; i < 2; i++)
        fprintf(f, "%lx %x py::function_%d:/somewhere.py\n", (unsigned long)(room + 4096 * i), 16, i);
    fclose(f);
}
static void write_dump(void)
{
    char path[64];
    uint32_t head[10] = { 0x4a695444, 1, 40, 62, 0, 0 };
    struct timespec t;
    int fd;
    snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    head[5] = (uint32_t)getpid();
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, zero = 0;
    memcpy(&head[6], &now, 8);
    memcpy(&head[8], &zero, 8);
    write(fd, head, 40);
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        exit(99);
    for (int i = 0; i < 2; i++) {
        char name[32];
        int n = snprintf(name, sizeof(name), "dumped_%d", i) + 1;
        uint32_t id = 0, total = (uint32_t)(16 + 40 + n + 16);
        uint64_t at = (uint64_t)(room + 4096 * i), size = 16, index = (uint64_t)i;
        uint32_t ids[2] = { (uint32_t)getpid(), (uint32_t)getpid() };
        write(fd, &id, 4), write(fd, &total, 4), write(fd, &now, 8), write(fd, ids, 8), write(fd, &at, 8), write(fd, &at, 8),
            write(fd, &size, 8), write(fd, &index, 8), write(fd, name, (size_t)n), write(fd, code[i], 16);
    }
}
int main(int argc, char **argv)
{
    (void)argc;
    room = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++)
        memcpy(room + 4096 * i, code[i], 16);
    mprotect(room, 8192, PROT_READ | PROT_EXEC);
    if (strcmp(argv[1], "map") == 0)
        write_map();
    if (strcmp(argv[1], "dump") == 0)
        write_dump();
    interprets();
    printf("%d\n", (int)getpid());
    return 3;
}
C
"$cc" -O1 -g -fomit-frame-pointer -Wno-unused-result -o generates generates.c || fault "it does not compile"
for how in map dump none; do
    record trace.heap ./generates $how >pid
    [ $? = 3 ] || fault "$how: ends otherwise: $(cat log)"
    "$tools/heap_totals" trace.heap >totals
    sound "$how" totals
    [ "$(value incomplete totals)" = 0 ] || fault "$how: $(value incomplete totals) stacks have no root"
    ! grep 'were compared' log | grep -v ' 0 were wrong' || fault "$how: wrong stacks"
    case $how in
    map) names=('py::function_0:/somewhere.py' 'py::function_1:/somewhere.py') ;;
    dump) names=(dumped_0 dumped_1) ;;
    none) names=() ;;
    esac
    for i in "${!names[@]}"; do
        stack "$how" "main;interprets;${names[i]};called $((i + 1))00\$"
    done
    # Without either, it is code of no file.
    [ "$how" != none ] || stack none 'main;interprets;\[[^;]*;called 300$'
    echo "$how: $(grep -c . folded) stacks"
    rm -f "/tmp/perf-$(cat pid).map"
done

# Functions written in Python are in stacks of what they allocate.
n_pythons=0
for python in python3.12 python3.13 python3.14 ~/.pyenv/versions/3.1[2-9]*/bin/python3; do
    # Not by a script that finds it.
    python=$("$python" -X perf -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null) || continue
    case " ${pythons:-} " in *" $python "*) continue ;; esac
    pythons="${pythons:-} $python"
    n_pythons=$((n_pythons + 1))
    rm -f trace.heap log
    PYTHONMALLOC=malloc PYTHON_JIT=0 record trace.heap "$python" -X perf -c '
import os
def inner(n): return [bytes(1000 + i) for i in range(n)]
def outer(n): return [inner(100) for i in range(n)]
outer(30)
print(os.getpid())' >pid
    "$tools/heap_totals" trace.heap >totals
    stack "$python" 'main;.*py::<module>:.*py::outer:.*py::inner:.*;[^;]* [0-9]+$'
    [ $(($(value incomplete totals) * 100)) -le "$(value stacks totals)" ] || fault "$python: $(value incomplete totals) of $(value stacks totals) stacks have no root"
    ! grep 'were compared' log | grep -v ' 0 were wrong' || fault "$python: wrong stacks: $(grep compared log)"
    echo "$python: $(value stacks totals) stacks, $(value incomplete totals) without a root"
    rm -f "/tmp/perf-$(cat pid).map"
done
[ $n_pythons -gt 0 ] || echo "skipped: no Python has -X perf"

if command -v node >/dev/null; then
    check=0 record trace.heap node --perf-basic-prof --no-sparkplug -e '
function makes(n) { let all = []; for (let i = 0; i < n; i++) all.push(Buffer.alloc(20000 + i)); return all; }
let n = 0; for (let i = 0; i < 300; i++) n += makes(30).length; console.log(process.pid)' >pid
    stack node ';[^;]*makes[^;]*;'
    "$tools/heap_totals" trace.heap >totals
    echo "node: $(value stacks totals) stacks, $(value incomplete totals) without a root"
    rm -f "/tmp/perf-$(cat pid).map"
else
    echo "skipped: node is not installed"
fi

# Compiled methods, whose names the JVM writes as it ends.
if command -v javac >/dev/null && java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -version >java.out 2>&1; then
    cat >Makes.java <<'JAVA'
import java.nio.ByteBuffer;
public class Makes {
    static long made;
    static ByteBuffer makes(int n) { ByteBuffer b = ByteBuffer.allocateDirect(1000 + n % 100); made += b.capacity(); return b; }
    static void outer(int n) { for (int i = 0; i < n; i++) makes(i); }
    public static void main(String[] a) { for (int i = 0; i < 300; i++) outer(200); System.out.println(ProcessHandle.current().pid()); }
}
JAVA
    javac Makes.java >java.out 2>&1 || fault "it does not compile: $(cat java.out)"
    check=0 record trace.heap java -XX:+UnlockDiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit Makes >pid
    stack java ';JavaMain;.*;[^;]* Makes\.makes[^;]*;.*Unsafe_AllocateMemory'
    "$tools/heap_totals" trace.heap >totals
    echo "java: $(value stacks totals) stacks, $(value incomplete totals) without a root"
    rm -f "/tmp/perf-$(cat pid).map"
else
    echo "skipped: no JVM writes a map of its methods"
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
