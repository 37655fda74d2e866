/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a folded file of a given size, the same each time: stacks of a program of 4,000 functions, next to
 * each other in the file as a collapsing tool leaves them, sorted by path.
 *
 * bench_folded MEGABYTES
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FUNCTIONS 4000
#define DEPTH_MAX   40
#define LINE_BYTES  4096

static const char *const words[] = {
	"parse",  "render",  "commit", "socket", "buffer", "index",   "visit",
	"encode", "resolve", "queue",  "worker", "cache",  "table",   "stream",
	"header", "token",   "schema", "vector", "ledger", "planner",
};
#define N_WORDS (sizeof(words) / sizeof(words[0]))

static uint32_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t)(*seed >> 32);
}

/* Short names of C and long ones of C++. */
static size_t put_name(char *to, uint32_t function)
{
	const char *a = words[function % N_WORDS], *b = words[function / N_WORDS % N_WORDS];
	const char *c = words[function / (N_WORDS * N_WORDS) % N_WORDS];

	switch (function % 3) {
	case 0:
		return (size_t)sprintf(to, "app::%s_%s::%s(int, char const*)", a, b, c);
	case 1:
		return (size_t)sprintf(to, "%s_%s_%s", a, b, c);
	default:
		return (size_t)sprintf(to, "%s_%s", c, a);
	}
}

int main(int argc, char **argv)
{
	uint64_t want = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 1000000, done = 0;
	uint64_t seed = 88172645463325252u;
	uint32_t stack[DEPTH_MAX];
	int depth = 0;
	static char line[LINE_BYTES];

	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	while (done < want) {
		size_t n = 0;
		int keep = depth ? depth - 1 - (int)(next_random(&seed) % 4) : 0;

		/* Siblings share most of their path. */
		depth = keep > 2 ? keep : 2;
		stack[0] = 1;
		stack[1] = next_random(&seed) % 1000 ? stack[1] % 40 : next_random(&seed) % 40;
		do
			stack[depth++] = next_random(&seed) % N_FUNCTIONS;
		while (depth < DEPTH_MAX && next_random(&seed) % 3);
		for (int i = 0; i < depth; i++) {
			if (i)
				line[n++] = ';';
			n += put_name(line + n, stack[i]);
		}
		n += (size_t)sprintf(line + n, " %u\n", 1 + next_random(&seed) % 1000);
		if (fwrite(line, 1, n, stdout) != n)
			return EXIT_FAILURE;
		done += n;
	}
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
