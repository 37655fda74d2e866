/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program worth profiling for three seconds: it makes up a log of requests, parses it, counts by
 * path, sorts the counts and packs a report, on two threads. Every function does real work and
 * none is inlined, so that each shows in a profile with its own share. Built with frame pointers.
 */
#define _GNU_SOURCE /* pthread_setname_np */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS    3.0
#define N_LINES    4096
#define LINE_BYTES 64
#define N_BUCKETS  1024
#define PACK_BYTES (N_LINES * 16)

/* Neither inlined nor given another name. */
#ifdef __clang__
#define STEP __attribute__((noinline))
#else
#define STEP __attribute__((noipa))
#endif

/* Compilers leave a leaf without a frame, and then its caller is missing in the profile. */
#define LEAF() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

struct record {
	uint32_t path, status, bytes;
};

struct bucket {
	uint32_t path;
	uint64_t hits, bytes;
};

/* What one thread works on. */
struct shop {
	uint64_t seed;
	char lines[N_LINES][LINE_BYTES];
	struct record records[N_LINES];
	struct bucket buckets[N_BUCKETS];
	uint8_t packed[PACK_BYTES];
	uint64_t checksum;
};

static uint32_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t)(*seed >> 32);
}

STEP static char *put_number(char *at, uint32_t n)
{
	char digits[12];
	int i = 0;

	LEAF();
	do {
		digits[i++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (i > 0)
		*at++ = digits[--i];
	return at;
}

STEP static void write_log(struct shop *s)
{
	for (int i = 0; i < N_LINES; i++) {
		char *at = s->lines[i];

		at = put_number(at, next_random(&s->seed) % 5000);
		*at++ = ' ';
		at = put_number(at, next_random(&s->seed) % 10 ? 200 : 404);
		*at++ = ' ';
		at = put_number(at, next_random(&s->seed) % 100000);
		*at = '\0';
	}
}

STEP static uint32_t parse_number(const char **at)
{
	uint32_t n = 0;

	LEAF();
	while (**at >= '0' && **at <= '9')
		n = n * 10 + (uint32_t)(*(*at)++ - '0');
	while (**at == ' ')
		++*at;
	return n;
}

STEP static struct record parse_line(const char *line)
{
	struct record r;

	r.path = parse_number(&line);
	r.status = parse_number(&line);
	r.bytes = parse_number(&line);
	return r;
}

STEP static void parse_log(struct shop *s)
{
	for (int i = 0; i < N_LINES; i++)
		s->records[i] = parse_line(s->lines[i]);
}

STEP static uint32_t hash_path(uint32_t path)
{
	uint32_t h = 2166136261u;

	LEAF();
	for (int round = 0; round < 16; round++)
		h = (h ^ ((path >> (round & 15)) & 0xff)) * 16777619u;
	return h;
}

STEP static struct bucket *find_bucket(struct shop *s, uint32_t path)
{
	return &s->buckets[hash_path(path) % N_BUCKETS];
}

STEP static void count_records(struct shop *s)
{
	memset(s->buckets, 0, sizeof(s->buckets));
	for (int i = 0; i < N_LINES; i++) {
		struct bucket *b = find_bucket(s, s->records[i].path);

		b->path = s->records[i].path;
		b->hits++;
		b->bytes += s->records[i].bytes;
	}
}

STEP static void swap_buckets(struct bucket *a, struct bucket *b)
{
	struct bucket t = *a;

	LEAF();
	*a = *b;
	*b = t;
}

/* Recursive on purpose: a profile should show what recursion looks like. */
STEP static void sort_buckets(struct bucket *b, int n)
{
	int last = 0;

	if (n < 2)
		return;
	swap_buckets(b, b + n / 2);
	for (int i = 1; i < n; i++)
		if (b[i].bytes > b[0].bytes)
			swap_buckets(&b[++last], &b[i]);
	swap_buckets(b, b + last);
	sort_buckets(b, last);
	sort_buckets(b + last + 1, n - last - 1);
}

STEP static size_t match_length(const uint8_t *a, const uint8_t *b, size_t most)
{
	size_t n = 0;

	LEAF();
	while (n < most && a[n] == b[n])
		n++;
	return n;
}

/* Looks back for the longest repetition, as packers do. */
STEP static size_t pack_block(struct shop *s, const uint8_t *in, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n && out + 2 < PACK_BYTES;) {
		size_t best = 1;

		for (size_t back = 1; back <= 24 && back <= i; back++) {
			size_t length = match_length(in + i, in + i - back,
						     n - i < 64 ? n - i : 64);

			best = length > best ? length : best;
		}
		s->packed[out++] = in[i];
		s->packed[out++] = (uint8_t)best;
		i += best;
	}
	return out;
}

STEP static uint64_t checksum(const uint8_t *p, size_t n)
{
	uint64_t a = 1, b = 0;

	LEAF();
	for (size_t i = 0; i < n; i++) {
		a = (a + p[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

STEP static void write_report(struct shop *s)
{
	size_t n = pack_block(s, (const uint8_t *)s->buckets, sizeof(s->buckets));

	s->checksum ^= checksum(s->packed, n);
}

STEP static void handle_batch(struct shop *s)
{
	write_log(s);
	parse_log(s);
	count_records(s);
	sort_buckets(s->buckets, N_BUCKETS);
	write_report(s);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

STEP static void serve(struct shop *s, double until)
{
	while (now() < until)
		handle_batch(s);
}

/* The other thread only parses and counts. */
STEP static void *index_in_background(void *arg)
{
	struct shop *s = arg;
	double until = now() + SECONDS;

	write_log(s);
	while (now() < until) {
		parse_log(s);
		count_records(s);
	}
	return NULL;
}

int main(void)
{
	struct shop *front = calloc(1, sizeof(*front)), *back = calloc(1, sizeof(*back));
	pthread_t thread;
	bool two;

	if (!front || !back)
		return EXIT_FAILURE;
	front->seed = 88172645463325252u;
	back->seed = 362436069521288629u;
	two = pthread_create(&thread, NULL, index_in_background, back) == 0;
	if (two)
		pthread_setname_np(thread, "indexer");
	serve(front, now() + SECONDS);
	if (two)
		pthread_join(thread, NULL);
	printf("checksum %016llx\n", (unsigned long long)front->checksum);
	free(front);
	free(back);
	return EXIT_SUCCESS;
}
