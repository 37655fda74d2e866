/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that generates code and writes a jitdump of it: two functions at one address, one after the
 * other, a third that moves, and a fourth with unwind tables that calls the third. usage: jitter DIR SECONDS-EACH; prints the dump's name.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret */
static const uint8_t spin[] = { 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };

/*
 * Calls its second argument with the first, and keeps no frame pointer while it does: push %rbp; push
 * %rbx; sub $40,%rsp; mov $-1,%rbp; call *%rsi; add $40,%rsp; pop %rbx; pop %rbp; ret
 */
static const uint8_t calls[] = { 0x55, 0x53, 0x48, 0x83, 0xec, 0x28, 0x48, 0xc7, 0xc5, 0xff, 0xff,
				 0xff, 0xff, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x28, 0x5b, 0x5d, 0xc3 };

/* The rules of it, and of spin: steps of pc and where the CFA is, counted from %rsp. */
static const uint8_t calls_rules[] = { 0x41, 0x0e, 16,   0x86, 2,  0x41, 0x0e, 24, 0x83, 3,    0x44,
				       0x0e, 64,   0x4d, 0x0e, 24, 0x41, 0x0e, 16, 0x41, 0x0e, 8 };

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

/* A length, then so many bytes: what there is and zeroes (DW_CFA_nop), which align what follows. */
static void put_entry(FILE *f, const void *bytes, uint32_t n)
{
	uint32_t whole = (4 + n + 7) / 8 * 8;

	put32(f, whole - 4);
	fwrite(bytes, n, 1, f);
	for (uint32_t i = 4 + n; i < whole; i++)
		fputc(0, f);
}

/* Unwind tables of code of code_n bytes: .eh_frame, and .eh_frame_hdr behind it as perf wants them. */
static void tables(FILE *f, uint32_t code_n, const uint8_t *rules, uint32_t rules_n)
{
	/* version 1, "zR", code in 1s, data in -8s, pc in 16; pc-relative; CFA %rsp + 8, pc at -8 */
	static const uint8_t cie[] = { 0,    0,  0, 0,    1,    'z', 'R', 0,    1,
				       0x78, 16, 1, 0x1b, 0x0c, 7,   8,   0x90, 1 };
	uint32_t cie_n = (4 + sizeof(cie) + 7) / 8 * 8, fde_n = (4 + 13 + rules_n + 7) / 8 * 8;
	uint32_t words[3] = { cie_n + 4, 0 - ((code_n + 7) / 8 * 8 + cie_n + 8), code_n };
	uint32_t head[5] = { 0x3b031b01, 0 - (cie_n + fde_n + 4 + 4), 1 };
	uint8_t fde[256] = { 0 };

	memcpy(fde, words, sizeof(words));
	memcpy(fde + 13, rules, rules_n);
	head[3] = 0 - ((code_n + 7) / 8 * 8 + cie_n + fde_n + 4);
	head[4] = 0 - (fde_n + 4);
	prefix(f, 4, 16 + 24 + cie_n + fde_n + 4 + sizeof(head));
	put64(f, cie_n + fde_n + 4 + sizeof(head));
	put64(f, sizeof(head));
	put64(f, 0);
	put_entry(f, cie, sizeof(cie));
	put_entry(f, fde, 13 + rules_n);
	put32(f, 0);
	fwrite(head, sizeof(head), 1, f);
}

/* What is told of a function. */
struct function {
	const uint8_t *code;
	uint32_t n; /* bytes of it */
	uint64_t index;
	const char *name, *file;
	uint32_t line;
	bool has_tables;
	const uint8_t *rules; /* of the tables */
	uint32_t n_rules;     /* bytes of them */
};

static void load(FILE *f, const void *at, const struct function *fn)
{
	uint32_t n = (uint32_t)strlen(fn->name) + 1, m = (uint32_t)strlen(fn->file) + 1;

	prefix(f, 2, 16 + 16 + 16 + m);
	put64(f, (uintptr_t)at);
	put64(f, 1);
	put64(f, (uintptr_t)at);
	put32(f, fn->line);
	put32(f, 0);
	fwrite(fn->file, m, 1, f);
	if (fn->has_tables)
		tables(f, fn->n, fn->rules, fn->n_rules);
	prefix(f, 0, 16 + 40 + n + fn->n);
	put32(f, (uint32_t)getpid());
	put32(f, (uint32_t)getpid());
	put64(f, (uintptr_t)at);
	put64(f, (uintptr_t)at);
	put64(f, fn->n);
	put64(f, fn->index);
	fwrite(fn->name, n, 1, f);
	fwrite(fn->code, fn->n, 1, f);
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

__attribute__((noinline)) static void run(const void *code, const void *callee, double seconds)
{
	void (*volatile fn)(uint64_t, const void *);
	uint64_t end = now() + (uint64_t)(seconds * 1e9);

	memcpy((void *)&fn, &code, sizeof(fn));
	while (now() < end)
		fn(200000, callee);
}

static const struct function functions[] = {
	{ spin, sizeof(spin), 0, "jit_first", "first.js", 10, false, NULL, 0 },
	{ spin, sizeof(spin), 1, "jit_second", "second.js", 20, false, NULL, 0 },
	{ spin, sizeof(spin), 2, "jit_third", "third.js", 30, true, calls_rules, 0 },
	{ calls, sizeof(calls), 3, "jit_fourth", "fourth.js", 40, true, calls_rules,
	  sizeof(calls_rules) },
};

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
	load(f, code, &functions[0]);
	run(code, NULL, seconds);
	load(f, code, &functions[1]);
	run(code, NULL, seconds);
	/* As a JIT that never lets memory be written and run at once: the kernel tells the mapping anew. */
	memcpy(code + 512, spin, sizeof(spin));
	load(f, code + 512, &functions[2]);
	mprotect(code, page, PROT_READ | PROT_WRITE);
	mprotect(code, page, PROT_READ | PROT_EXEC);
	run(code + 512, NULL, seconds);
	mprotect(code, page, PROT_READ | PROT_WRITE);
	memcpy(code + 1024, spin, sizeof(spin));
	memcpy(code + 2048, calls, sizeof(calls));
	mprotect(code, page, PROT_READ | PROT_EXEC);
	move(f, code + 512, code + 1024, 2);
	run(code + 1024, NULL, seconds);
	load(f, code + 2048, &functions[3]);
	run(code + 2048, code + 1024, seconds);
	puts(path);
	return fclose(f) != 0;
}
