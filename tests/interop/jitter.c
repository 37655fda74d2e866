/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that generates code and writes a jitdump of it: two functions at one address, one after the
 * other, and a third that moves. usage: jitter DIR SECONDS-EACH; prints the dump's name.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret */
static const uint8_t spin[] = { 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put32(FILE *f, uint32_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static void put64(FILE *f, uint64_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static void prefix(FILE *f, uint32_t id, uint32_t size)
{
	put32(f, id);
	put32(f, size);
	put64(f, now());
}

static void load(FILE *f, const void *at, uint64_t index, const char *name, const char *file,
		 uint32_t line)
{
	uint32_t n = (uint32_t)strlen(name) + 1, m = (uint32_t)strlen(file) + 1;

	prefix(f, 2, 16 + 16 + 16 + m);
	put64(f, (uintptr_t)at);
	put64(f, 1);
	put64(f, (uintptr_t)at);
	put32(f, line);
	put32(f, 0);
	fwrite(file, m, 1, f);
	prefix(f, 0, 16 + 40 + n + (uint32_t)sizeof(spin));
	put32(f, (uint32_t)getpid());
	put32(f, (uint32_t)getpid());
	put64(f, (uintptr_t)at);
	put64(f, (uintptr_t)at);
	put64(f, sizeof(spin));
	put64(f, index);
	fwrite(name, n, 1, f);
	fwrite(spin, sizeof(spin), 1, f);
	fflush(f);
}

static void move(FILE *f, const void *from, const void *to, uint64_t index)
{
	prefix(f, 1, 16 + 48);
	put32(f, (uint32_t)getpid());
	put32(f, (uint32_t)getpid());
	put64(f, (uintptr_t)to);
	put64(f, (uintptr_t)from);
	put64(f, (uintptr_t)to);
	put64(f, sizeof(spin));
	put64(f, index);
	fflush(f);
}

static void head(FILE *f)
{
	put32(f, 0x4a695444);
	put32(f, 1);
	put32(f, 40);
	put32(f, 62);
	put32(f, 0);
	put32(f, (uint32_t)getpid());
	put64(f, now());
	put64(f, 0);
	fflush(f);
}

__attribute__((noinline)) static void run(const void *code, double seconds)
{
	void (*volatile fn)(uint64_t);
	uint64_t end = now() + (uint64_t)(seconds * 1e9);

	memcpy((void *)&fn, &code, sizeof(fn));
	while (now() < end)
		fn(200000);
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	double seconds = argc > 2 ? atof(argv[2]) : 0.2;
	char path[4096];
	uint8_t *code;
	void *marker;
	FILE *f;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", argc > 1 ? argv[1] : "/tmp", getpid());
	f = fopen(path, "w+");
	if (!f)
		return 1;
	head(f);
	marker = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	code = mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (marker == MAP_FAILED || code == MAP_FAILED)
		return 1;
	memcpy(code, spin, sizeof(spin));
	load(f, code, 0, "jit_first", "first.js", 10);
	run(code, seconds);
	load(f, code, 1, "jit_second", "second.js", 20);
	run(code, seconds);
	/* As a JIT that never lets memory be written and run at once: the kernel tells the mapping anew. */
	memcpy(code + 512, spin, sizeof(spin));
	load(f, code + 512, 2, "jit_third", "third.js", 30);
	mprotect(code, page, PROT_READ | PROT_WRITE);
	mprotect(code, page, PROT_READ | PROT_EXEC);
	run(code + 512, seconds);
	mprotect(code, page, PROT_READ | PROT_WRITE);
	memcpy(code + 1024, spin, sizeof(spin));
	mprotect(code, page, PROT_READ | PROT_EXEC);
	move(f, code + 512, code + 1024, 2);
	run(code + 1024, seconds);
	puts(path);
	return fclose(f) != 0;
}
