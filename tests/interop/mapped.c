/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that generates code and names it in /tmp/perf-PID.map, by the pid that it knows itself by.
 * usage: mapped SECONDS; it works half of the time in that code and half in a function of its own.
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

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void own_function(uint64_t n)
{
	for (volatile uint64_t i = 0; i < n; i++)
		;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*fn)(uint64_t);
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	if (!f || code == MAP_FAILED)
		return 1;
	memcpy(code, spin, sizeof(spin));
	memcpy(&fn, &code, sizeof(fn));
	fprintf(f, "%lx %zx jit_mapped\n", (unsigned long)(uintptr_t)code, sizeof(spin));
	fclose(f);
	while (now() < end) {
		fn(200000);
		own_function(100000);
	}
	return 0;
}
