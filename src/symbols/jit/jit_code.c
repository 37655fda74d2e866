/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Generated code over time; see jit_code.h. Its addresses in its module are offsets in the dump, so that
 * code which came to an address later is another location.
 */
#include "config.h"

#include "symbols/jit/jit_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "profile/builder.h"
#include "symbols/jit/jit_dump.h"
#include "symbols/jit/jit_unwind.h"
#include "symbols/search/debug_file_search.h"
#include "symbols/search/resolver_options.h"
#include "symbols/space/dso.h"

/* How a dump's times became the recording's. */
enum timing {
	TIMING_SAME,    /* one clock */
	TIMING_CPU,     /* the recording says how cpu time stamps become its times */
	TIMING_SHIFTED, /* other clocks, which the mapping of the dump ties together */
	TIMING_NONE     /* nothing ties them together: all of it counts from the mapping on */
};

/* A process that has a dump, and when its code came. */
struct jit_process {
	int32_t pid;
	VEC(int64_t) times; /* rising */
};

/* A dump, read or not. */
struct known_dump {
	char *path; /* as recorded; owned */
	int32_t pid;
	uint32_t dso;              /* its number */
	int64_t mapped_ns;         /* when the process said that it has it */
	struct jit_dump *dump;     /* NULL: it was not read; owned */
	struct jit_unwind *unwind; /* NULL: it has no unwind tables; owned */
	size_t n_places;           /* of code in it, which are in spaces */
	enum timing timing;
	struct err reason; /* why it was not read; code 0: it was */
};

struct jit_code {
	const struct debug_file_search *finder; /* borrowed */
	struct spaces *spaces;                  /* of generated code only; owned */
	struct resolver_clock clock;            /* of the recording */
	VEC(struct jit_process) process;
	VEC(struct known_dump) dump;
};

struct jit_code *jit_code_new(const struct debug_file_search *f)
{
	struct jit_code *g = xcalloc(1, sizeof(*g));

	g->finder = f;
	g->spaces = spaces_new();
	return g;
}

void jit_code_free(struct jit_code *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->process.n; i++)
		vec_done(&g->process.at[i].times);
	for (size_t i = 0; i < g->dump.n; i++) {
		jit_unwind_free(g->dump.at[i].unwind);
		jit_dump_free(g->dump.at[i].dump);
		free(g->dump.at[i].path);
		err_clear(&g->dump.at[i].reason);
	}
	vec_done(&g->process);
	vec_done(&g->dump);
	spaces_free(g->spaces);
	free(g);
}

void jit_code_clock(struct jit_code *g, const struct resolver_clock *c)
{
	g->clock = *c;
}

static struct jit_process *find_process(const struct jit_code *g, int32_t pid)
{
	for (size_t i = 0; i < g->process.n; i++)
		if (g->process.at[i].pid == pid)
			return &g->process.at[i];
	return NULL;
}

static bool was_read(const struct jit_code *g, int32_t pid, const char *path)
{
	for (size_t i = 0; i < g->dump.n; i++)
		if (g->dump.at[i].pid == pid && strcmp(g->dump.at[i].path, path) == 0)
			return true;
	return false;
}

/* What try_dump() found. */
struct search {
	struct jit_dump *dump;
	struct err e; /* the first failure */
};

static bool try_dump(void *arg, const char *path, bool trusted)
{
	struct search *s = arg;

	(void)trusted;
	return jit_dump_load(path, &s->dump, s->e.code ? NULL : &s->e) == 0;
}

static enum timing timing_of(const struct jit_code *g, const struct jit_dump_head *h,
			     int64_t mapped_ns)
{
	if (h->cpu_clock && g->clock.cpu_mult > 0)
		return TIMING_CPU;
	if (!h->cpu_clock && g->clock.monotonic)
		return TIMING_SAME;
	/* The unit of cpu time stamps is unknown. */
	return h->cpu_clock || h->time == 0 || mapped_ns == INT64_MIN ? TIMING_NONE
								      : TIMING_SHIFTED;
}

/* As the kernel's time_zero, time_mult and time_shift are meant (linux/perf_event.h). */
static uint64_t time_of_cpu(const struct resolver_clock *c, uint64_t stamp)
{
	uint64_t low = stamp & ((UINT64_C(1) << c->cpu_shift) - 1);

	return c->cpu_zero + (stamp >> c->cpu_shift) * c->cpu_mult +
	       (low * c->cpu_mult >> c->cpu_shift);
}

static int64_t time_of(const struct jit_code *g, enum timing how, const struct jit_dump_head *h,
		       uint64_t time, int64_t mapped_ns)
{
	switch (how) {
	case TIMING_SAME:
		break;
	case TIMING_CPU:
		time = time_of_cpu(&g->clock, time);
		break;
	case TIMING_SHIFTED:
		/* Unsigned: nonsense wraps. */
		time = (uint64_t)mapped_ns + (time - h->time);
		break;
	case TIMING_NONE:
		return mapped_ns;
	}
	return time < INT64_MAX ? (int64_t)time : INT64_MAX - 1;
}

static int by_time(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Puts the code of a dump where it was, as far as that was not done. */
static void place_more(struct jit_code *g, struct known_dump *d)
{
	size_t n;
	const struct jit_place *place = jit_dump_places(d->dump, &n);
	const struct jit_dump_head *head = jit_dump_head(d->dump);
	struct jit_process *p = find_process(g, d->pid);
	uint32_t space = spaces_of(g->spaces, d->pid);

	if (!p) {
		vec_push(&g->process, ((struct jit_process){ .pid = d->pid }));
		p = &g->process.at[g->process.n - 1];
	}
	d->timing = timing_of(g, head, d->mapped_ns);
	for (size_t i = d->n_places; i < n; i++) {
		int64_t time = time_of(g, d->timing, head, place[i].time, d->mapped_ns);

		spaces_map(g->spaces, space, time, place[i].address,
			   place[i].address + place[i].size, d->dso,
			   place[i].address - place[i].offset);
		vec_push(&p->times, time);
	}
	d->n_places = n;
	if (!d->unwind && jit_dump_has_tables(d->dump))
		d->unwind = jit_unwind_new(d->dump);
	if (p->times.n > 0)
		qsort(p->times.at, p->times.n, sizeof(*p->times.at), by_time);
}

/* Looks for a dump's file, and puts its code where it was; else says why not. */
static void read_dump(struct jit_code *g, struct known_dump *dump, const struct dso *d)
{
	struct search s = { .e = ERR_INIT };

	debug_file_search_jit_dump(g->finder, d, try_dump, &s);
	err_clear(&dump->reason);
	dump->dump = s.dump;
	if (s.dump) {
		err_clear(&s.e);
		place_more(g, dump);
		return;
	}
	dump->reason = s.e;
	if (!s.e.code)
		err_set(&dump->reason, -1,
			"%s was not looked for, as it is of another "
			"machine; --symbols DIR says where it is",
			d->path);
}

bool jit_code_dump(struct jit_code *g, int32_t pid, int64_t time_ns, const struct dso *d,
		   uint32_t number)
{
	struct known_dump dump = {
		.pid = pid, .dso = number, .mapped_ns = time_ns, .reason = ERR_INIT
	};

	if (was_read(g, pid, d->path))
		return false;
	dump.path = xstrdup(d->path);
	read_dump(g, &dump, d);
	vec_push(&g->dump, dump);
	return dump.n_places > 0;
}

bool jit_code_follow(struct jit_code *g, const struct dso_table *dsos)
{
	bool any = false;

	for (size_t i = 0; i < g->dump.n; i++) {
		struct known_dump *d = &g->dump.at[i];
		size_t n = d->n_places;

		if (d->dump && jit_dump_more(d->dump)) {
			place_more(g, d);
		} else if (!d->dump && d->reason.code != -1) {
			/* Its program has mapped it, and may not have written its head yet; that of another machine is not looked for. */
			struct dso of = dso_table_get(dsos, d->dso);

			read_dump(g, d, &of);
		}
		any = any || d->n_places > n;
	}
	return any;
}

void jit_code_fork(struct jit_code *g, int32_t pid, int32_t parent_pid, int64_t time_ns)
{
	/* Only what has to do with processes that generate code is kept. */
	if (spaces_find(g->spaces, parent_pid) == SPACE_NONE &&
	    spaces_find(g->spaces, pid) == SPACE_NONE)
		return;
	spaces_fork(g->spaces, spaces_of(g->spaces, pid), spaces_of(g->spaces, parent_pid),
		    time_ns);
}

void jit_code_exec(struct jit_code *g, int32_t pid, int64_t time_ns)
{
	if (spaces_find(g->spaces, pid) != SPACE_NONE)
		spaces_exec(g->spaces, spaces_of(g->spaces, pid), time_ns);
}

void jit_code_look(const struct jit_code *g, int32_t pid, int64_t time_ns, uint64_t address,
		   struct sighting *s)
{
	uint32_t space = pid > 0 && g->process.n > 0 ? spaces_find(g->spaces, pid) : SPACE_NONE;
	struct sighting mine;

	if (space == SPACE_NONE)
		return;
	spaces_look(g->spaces, space, time_ns, address, &mine);
	if (mine.dso != SPACE_NONE) {
		s->dso = mine.dso;
		s->bias = mine.bias;
	}
	/* The answer holds while neither changes. */
	s->from = mine.from > s->from ? mine.from : s->from;
	s->to = mine.to < s->to ? mine.to : s->to;
}

struct cfi *jit_code_rules(const struct jit_code *g, uint32_t dso, enum unwind_arch arch,
			   uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < g->dump.n; i++)
		if (g->dump.at[i].dso == dso && g->dump.at[i].unwind)
			return jit_unwind_find(g->dump.at[i].unwind, arch, offset, address);
	return NULL;
}

uint32_t jit_code_age(const struct jit_code *g, int32_t pid, int64_t time_ns)
{
	const struct jit_process *p = g->process.n > 0 ? find_process(g, pid) : NULL;
	size_t low = 0;

	if (!p)
		return 0;
	BISECT(low, p->times.n, i, p->times.at[i] <= time_ns);
	return (uint32_t)low + 1;
}

void jit_code_facts(const struct jit_code *g, struct profile *p, capture_id c)
{
	static const char *const how[] = {
		[TIMING_SAME] = "by the recording's own clock",
		[TIMING_CPU] = "by the cpu's time stamps",
		[TIMING_SHIFTED] =
			"the recording has another clock: times are those since the dump was "
			"begun, which may be off a little; perf record -k 1 avoids it",
		[TIMING_NONE] =
			"the recording has another clock, so that all of it counts from the "
			"beginning and later code hides earlier; perf record -k 1 avoids it",
	};

	for (size_t i = 0; i < g->dump.n; i++) {
		const struct known_dump *d = &g->dump.at[i];
		bool cut = d->dump && jit_dump_cut(d->dump), lost = cut || d->timing == TIMING_NONE;
		char count[FMT_COUNTED_SIZE];

		if (d->reason.code)
			build_fact(p, c, "generated code", d->path, FACT_MISSING, "not read: %s",
				   err_text(&d->reason));
		else
			build_fact(p, c, "generated code", d->path, lost ? FACT_LOSS : FACT_PLAIN,
				   "%s pieces of code%s, %s",
				   fmt_count(count, (int64_t)d->n_places),
				   cut ? " up to its damaged end" : "", how[d->timing]);
	}
}
