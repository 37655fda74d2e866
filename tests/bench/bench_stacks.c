/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program to record for the bench: some threads that burn time about thirty frames deep, on call
 * paths that keep changing. Built with frame pointers.
 *
 * bench_stacks SECONDS THREADS [WAYS [few]]
 *
 * With WAYS each thread goes so many ways instead, and the seconds of cpu that all took are printed. With "few" paths
 * are a fifth longer and an eighth as many.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long paths are, and how they change. */
struct shape {
	uint32_t shortest, longest; /* below longest */
	uint32_t turn;              /* a step in so many is another one */
	uint32_t again;             /* and one in so many of each sixth works twice */
};
static const struct shape many = { 24, 36, 30, 16 }, few = { 36, 41, 300, 64 };

/* Neither inlined nor given another name. */
#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noipa))
#endif

/* What one thread walks with. */
struct walk {
	uint64_t seed;
	struct shape shape;
	uint64_t sum; /* so that nothing is optimised away */
	int seconds;
	long ways; /* 0: as many as there is time for */
};

typedef void step_fn(struct walk *w, int left);

static uint32_t next_random(struct walk *w)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return (uint32_t)(w->seed >> 32);
}

/* Forty functions that call one another; the deepest works. */
/* clang-format off */
#define STEPS(X) \
	X(accept_client) X(read_request) X(check_rights) X(route_path) X(load_session) X(open_store) \
	X(scan_index) X(read_page) X(decode_row) X(match_row) X(sort_rows) X(merge_runs) X(hash_join) \
	X(plan_query) X(cost_plan) X(walk_tree) X(split_node) X(write_page) X(log_change) X(sync_log) \
	X(pack_block) X(unpack_block) X(check_sum) X(copy_bytes) X(grow_table) X(find_slot) X(free_slot) \
	X(make_reply) X(format_number) X(escape_text) X(render_list) X(render_item) X(send_reply) \
	X(wait_lock) X(run_task) X(steal_task) X(visit_edge) X(relax_edge) X(push_heap) X(pop_heap)
/* clang-format on */

#define X(name) static step_fn name;
STEPS(X)
#undef X

static step_fn *const steps[] = {
#define X(name) name,
	STEPS(X)
#undef X
};
#define N_STEPS (sizeof(steps) / sizeof(steps[0]))

FRAME static void work(struct walk *w)
{
	uint64_t sum = w->sum;

	/* A leaf has a frame of its own only when it asks. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	for (int i = 0; i < 400; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	w->sum = sum;
}

/* Mostly the same step at a depth, now and then another: many paths, few of them hot. */
static inline __attribute__((always_inline)) void go_on(struct walk *w, int left)
{
	uint32_t turn = next_random(w) % w->shape.turn ? 0 : next_random(w) % 4;

	if (left <= 0)
		work(w);
	else
		steps[((uint32_t)left * 7 + turn * 13) % N_STEPS](w, left - 1);
}

/* Now and then a step works twice, so that paths branch below it too. */
#define X(name) \
	FRAME static void name(struct walk *w, int left) \
	{ \
		go_on(w, left); \
		if (left > 0 && left % 6 == 0 && next_random(w) % w->shape.again == 0) \
			go_on(w, left - 1); \
		w->sum++; \
	}
STEPS(X)
#undef X

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *run(void *arg)
{
	struct walk *w = arg;
	double until = now(CLOCK_MONOTONIC) + w->seconds;

	for (long i = 0; w->ways ? i < w->ways : now(CLOCK_MONOTONIC) < until; i++)
		go_on(w, (int)(w->shape.shortest +
			       next_random(w) % (w->shape.longest - w->shape.shortest)));
	return NULL;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 1, n = argc > 2 ? atoi(argv[2]) : 2;
	struct walk *walks = calloc(n > 0 ? (size_t)n : 1, sizeof(*walks));
	pthread_t *threads = calloc(n > 0 ? (size_t)n : 1, sizeof(*threads));
	uint64_t sum = 0;

	if (!walks || !threads || n < 1)
		return EXIT_FAILURE;
	for (int i = 0; i < n; i++) {
		walks[i].seed = 88172645463325252u + (uint64_t)i * 7919;
		walks[i].seconds = seconds;
		walks[i].shape = argc > 4 && strcmp(argv[4], "few") == 0 ? few : many;
		walks[i].ways = argc > 3 ? atol(argv[3]) : 0;
		if (pthread_create(&threads[i], NULL, run, &walks[i]))
			return EXIT_FAILURE;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		sum += walks[i].sum;
	}
	if (walks[0].ways)
		printf("%.3f\n", now(CLOCK_PROCESS_CPUTIME_ID));
	else
		printf("%llu\n", (unsigned long long)sum);
	free(walks);
	free(threads);
	return EXIT_SUCCESS;
}
