/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks with the tables of what was mapped.
 *
 * A walker's cache knows pcs, not times: it is good for one space, while its stamps stand and within
 * the times for which all that it looked up holds. A few are kept, as recordings of many processes
 * switch between them.
 */
#include "config.h"

#include "symbols/stack_unwinder.h"

#include "base/mem.h"
#include "elf/elf_file.h"
#include "elf/frame_tables.h"
#include "symbols/image.h"
#include "symbols/jit/jit_code.h"
#include "symbols/space/address_space.h"
#include "symbols/space/dso.h"
#include "unwind/cfi.h"
#include "unwind/epilogue.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define N_WALKERS 8

/* The unwind tables of a dso. */
struct tables {
	bool tried; /* opened, or found that there is nothing to open */
	struct frame_tables frames;
	uint64_t entry;   /* where the program begins, or 0 */
	uint64_t init[2]; /* where _init and _fini begin, which have no CFI; or 0 */
	bool keeps_fp;    /* see walk.h */
	bool is_32;       /* it is a 32-bit program or library */
};

struct cached_walker {
	struct walker *walker; /* NULL: unused; owned */
	uint32_t space;
	struct address_space_stamps stamps; /* of the space, when the cache was last empty */
	int64_t from, to;                   /* times for which it holds */
	uint64_t used;                      /* when, in walks: the least used makes room */
};

struct stack_unwinder {
	const struct spaces *spaces;
	const struct jit_code *generated; /* over the spaces */
	struct dso_table *dsos;
	const struct debug_file_search *finder;
	enum unwind_arch arch;
	resolver_read_code *read_code; /* or NULL */
	VEC(struct tables) tables;     /* by dso */
	struct cached_walker cache[N_WALKERS];
	uint64_t n_walks;
};

/* A walk under way. */
struct way {
	struct stack_unwinder *u;
	struct cached_walker *w;
	struct unwind_place at;
	struct cfi_rule alone; /* of the pc that was looked up last, where it has no tables */
};

struct stack_unwinder *stack_unwinder_new(const struct spaces *spaces, const struct jit_code *g,
					  struct dso_table *dsos, const struct debug_file_search *f,
					  enum unwind_arch arch, resolver_read_code *read_code)
{
	struct stack_unwinder *u = xcalloc(1, sizeof(*u));

	u->spaces = spaces;
	u->generated = g;
	u->dsos = dsos;
	u->finder = f;
	u->arch = arch;
	u->read_code = read_code;
	return u;
}

void stack_unwinder_free(struct stack_unwinder *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->tables.n; i++)
		frame_tables_done(&u->tables.at[i].frames);
	vec_done(&u->tables);
	for (size_t i = 0; i < N_WALKERS; i++)
		walker_free(u->cache[i].walker);
	free(u);
}

/* Where a section of code begins, or 0. */
static uint64_t begin_of(const struct elf_file *f, const char *name)
{
	const struct elf_section *s = elf_file_section(f, name);

	return s && s->flags & SHF_EXECINSTR ? s->address : 0;
}

static void open_tables(struct stack_unwinder *u, const struct dso *d, struct tables *t)
{
	enum unwind_arch arch;
	struct image i;

	if (d->kind == DSO_VDSO)
		image_open_vdso(u->finder, d, &i);
	else
		image_open(u->finder, d, &i);
	t->is_32 = i.runtime && !elf_file_is64(i.runtime);
	if (i.runtime && frame_tables_arch(i.runtime, &arch) && arch == u->arch) {
		frame_tables_take(&t->frames, i.runtime, i.debug);
		t->entry = elf_file_entry(i.runtime);
		t->init[0] = begin_of(i.runtime, ".init");
		t->init[1] = begin_of(i.runtime, ".fini");
		t->keeps_fp = elf_file_section(i.runtime, ".gopclntab") ||
			      elf_file_section(i.runtime, ".go.buildinfo");
	}
	image_close(&i);
}

/* The rule before the first instruction of a function that is called, but has no CFI. */
static const struct cfi_rule *first_rule(const struct stack_unwinder *u, const struct tables *t,
					 uint64_t address)
{
	static const struct cfi_rule called = {
		.cfa_kind = CFA_SP, .cfa = 8, .ra_kind = SLOT_CFA, .ra = -8
	};
	bool first = address != 0 && (address == t->init[0] || address == t->init[1]);

	return first && u->arch == UNWIND_X86_64 ? &called : NULL;
}

static struct tables *tables_of(struct stack_unwinder *u, uint32_t dso)
{
	struct tables *t;
	struct dso d;

	while (u->tables.n <= dso)
		vec_push(&u->tables, ((struct tables){ .tried = false }));
	t = &u->tables.at[dso];
	if (t->tried)
		return t;
	t->tried = true;
	d = dso_table_get(u->dsos, dso);
	if (d.kind == DSO_FILE || d.kind == DSO_VDSO)
		open_tables(u, &d, t);
	return t;
}

/* What lies there: what is mapped, and over memory without a file the code that was generated. */
static void look(struct way *way, uint64_t pc, struct sighting *s)
{
	spaces_look(way->u->spaces, way->at.space, way->at.time, pc, s);
	if (s->dso == SPACE_NONE || dso_table_get(way->u->dsos, s->dso).family == FAMILY_JIT)
		jit_code_look(way->u->generated, way->at.pid, way->at.time, pc, s);
}

/* Of code without tables: pc is 1 less than a return address. */
static const struct cfi_rule *read_rule(struct way *way, uint64_t pc)
{
	const struct stack_unwinder *u = way->u;
	uint8_t code[EPILOGUE_BYTES];
	size_t n = u->read_code ? u->read_code(way->at.pid, pc + 1, code, sizeof(code)) : 0;

	return epilogue_rule(u->arch, code, n, &way->alone) ? &way->alone : NULL;
}

static struct walk_module find_tables(void *arg, uint64_t pc)
{
	struct way *way = arg;
	struct walk_module m = { .mapped = false };
	struct sighting s;
	struct tables *t;
	uint64_t address;

	look(way, pc, &s);
	if (s.from > way->w->from)
		way->w->from = s.from;
	if (s.to < way->w->to)
		way->w->to = s.to;
	if (s.dso == SPACE_NONE)
		return m;
	m.mapped = true;
	m.cfi = jit_code_rules(way->u->generated, s.dso, way->u->arch, pc - s.bias, &address);
	if (m.cfi) {
		m.bias = pc - address;
		return m;
	}
	t = tables_of(way->u, s.dso);
	if (!t->frames.cfi)
		m.alone = read_rule(way, pc);
	if (!t->frames.cfi || !segments_address(&t->frames.segments, pc - s.bias, &address))
		return m;
	m.cfi = t->frames.cfi;
	m.alone = first_rule(way->u, t, address);
	m.entry = t->entry;
	m.keeps_fp = t->keeps_fp;
	m.bias = pc - address;
	return m;
}

static bool is_good(const struct cached_walker *w, struct address_space_stamps now, int64_t time)
{
	return w->stamps.found == now.found && w->stamps.empty == now.empty && time >= w->from &&
	       time < w->to;
}

/* The walker of a space, empty if what it knew does not hold now. */
static struct cached_walker *walker_of(struct stack_unwinder *u, uint32_t space, int64_t time)
{
	struct address_space_stamps now = spaces_stamps(u->spaces, space);
	struct cached_walker *w = &u->cache[0];

	for (size_t i = 0; i < N_WALKERS; i++) {
		struct cached_walker *c = &u->cache[i];

		if (c->walker && c->space == space) {
			w = c;
			break;
		}
		if (c->used < w->used)
			w = c;
	}
	w->used = ++u->n_walks;
	if (w->walker && w->space == space && is_good(w, now, time))
		return w;
	if (!w->walker)
		w->walker = walker_new(u->arch);
	walker_flush(w->walker);
	w->space = space;
	w->stamps = now;
	w->from = INT64_MIN;
	w->to = INT64_MAX;
	return w;
}

/* Is it memory that nothing can be executed in, such as a stack? What leads there is no return address. */
static bool is_data(const struct stack_unwinder *u, uint32_t dso)
{
	struct dso d;

	if (dso == SPACE_NONE)
		return false;
	d = dso_table_get(u->dsos, dso);
	return d.kind == DSO_NOTHING && d.is_data;
}

size_t stack_unwinder_walk(struct stack_unwinder *u, const struct unwind_place *at,
			   const struct unwind_regs *regs, const struct unwind_memory *m,
			   struct walk_frame *out, size_t max, struct unwound *how)
{
	struct way way = { .u = u, .at = *at };
	struct sighting s;
	uint64_t missing;
	size_t n;

	way.w = walker_of(u, at->space, at->time);
	n = walk_stack(way.w->walker, regs, m, find_tables, &way, out, max, &how->end, &missing);
	how->dso = SPACE_NONE;
	if (how->end != WALK_NO_CFI && how->end != WALK_NO_MODULE)
		return n;
	look(&way, missing, &s);
	if (n > 1 && is_data(u, s.dso) && out[n - 1].pc - !out[n - 1].exact == missing) {
		how->end = WALK_UNREADABLE;
		return n - 1;
	}
	how->dso = s.dso;
	return n;
}

bool stack_unwinder_is_32(struct stack_unwinder *u, const struct unwind_place *at, uint64_t pc)
{
	struct way way = { .u = u, .at = *at };
	struct sighting s;

	look(&way, pc, &s);
	return s.dso != SPACE_NONE && tables_of(u, s.dso)->is_32;
}

bool stack_unwinder_rule(struct stack_unwinder *u, const struct unwind_place *at, uint64_t pc,
			 struct cfi_rule *out)
{
	struct way way = { .u = u, .at = *at };

	way.w = walker_of(u, at->space, at->time);
	return walk_rule(way.w->walker, pc, find_tables, &way, out);
}
