/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a folded file of a given size and kind, the same each time.
 *
 * bench_folded MEGABYTES [KIND]
 *
 * repeated  stacks of a program of 4,000 functions, next to each other in the file as a collapsing
 *           tool leaves them, sorted by path: the default
 * distinct  hardly a stack twice, of 1,000 functions, in random order
 * names     hardly a function twice
 * short     lines of 8 bytes, of 600 stacks
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

/* What the next line depends on. */
struct state {
	uint64_t seed;
	uint32_t stack[DEPTH_MAX]; /* the last line's */
	int depth;
};

static uint32_t next_random(struct state *s)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return (uint32_t)(s->seed >> 32);
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

/* Siblings share most of their path. */
static size_t put_repeated(char *line, struct state *s)
{
	int keep = s->depth ? s->depth - 1 - (int)(next_random(s) % 4) : 0;
	size_t n = 0;

	s->depth = keep > 2 ? keep : 2;
	s->stack[0] = 1;
	s->stack[1] = next_random(s) % 1000 ? s->stack[1] % 40 : next_random(s) % 40;
	do
		s->stack[s->depth++] = next_random(s) % N_FUNCTIONS;
	while (s->depth < DEPTH_MAX && next_random(s) % 3);
	for (int i = 0; i < s->depth; i++) {
		if (i)
			line[n++] = ';';
		n += put_name(line + n, s->stack[i]);
	}
	return n + (size_t)sprintf(line + n, " %u\n", 1 + next_random(s) % 1000);
}

static size_t put_distinct(char *line, struct state *s)
{
	size_t n = (size_t)sprintf(line, "main");

	for (int i = 0; i < 4; i++)
		n += (size_t)sprintf(line + n, ";f%03u", next_random(s) % 1000);
	return n + (size_t)sprintf(line + n, " 1\n");
}

static size_t put_names(char *line, struct state *s)
{
	uint32_t a = next_random(s), b = next_random(s), c = next_random(s);

	return (size_t)sprintf(line, "a%x;b%x;c%x 1\n", a & 0xffffff, b & 0xffffff, c & 0xffffff);
}

static size_t put_short(char *line, struct state *s)
{
	uint32_t a = next_random(s);

	return (size_t)sprintf(line, "%c;%c%c %u\n", 'a' + a % 6, 'a' + a / 6 % 10,
			       'a' + a / 60 % 10, 1 + a / 600 % 9);
}

static const struct {
	const char *name;
	size_t (*put)(char *line, struct state *s);
} kinds[] = {
	{ "repeated", put_repeated },
	{ "distinct", put_distinct },
	{ "names", put_names },
	{ "short", put_short },
};

int main(int argc, char **argv)
{
	uint64_t want = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 1000000;
	const char *kind = argc > 2 ? argv[2] : kinds[0].name;
	struct state state = { .seed = 88172645463325252u };
	static char line[LINE_BYTES];
	size_t k = 0;

	while (k < sizeof(kinds) / sizeof(*kinds) && strcmp(kinds[k].name, kind) != 0)
		k++;
	if (k == sizeof(kinds) / sizeof(*kinds)) {
		fprintf(stderr, "bench_folded: %s: is no kind of folded file\n", kind);
		return 2;
	}
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	while (want > 0) {
		size_t n = kinds[k].put(line, &state);

		if (fwrite(line, 1, n, stdout) != n)
			return EXIT_FAILURE;
		want -= n < want ? n : want;
	}
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
