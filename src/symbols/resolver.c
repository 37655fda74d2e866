/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw addresses → locations with names; see resolver.h.
 *
 * Locating is hot: most addresses of a recording were asked for before. A direct-mapped cache knows
 * them by space and address, with the times between which the answer holds and the stamp that the
 * space had; what changes a space changes its stamp (address_space.h). Naming (symbolize.h) shares nothing with
 * locating but the table of dsos, which has a lock, and the profile.
 */
#include "config.h"

#include "symbols/resolver.h"

#include <stdlib.h>

#include "base/huge_alloc.h"
#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/segments.h"
#include "profile/builder.h"
#include "symbols/embedded_symbols.h"
#include "symbols/image.h"
#include "symbols/jit/jit_code.h"
#include "symbols/kernel_names.h"
#include "symbols/search/debug_file_search.h"
#include "symbols/space/address_space.h"
#include "symbols/space/dso.h"
#include "symbols/stack_unwinder.h"
#include "symbols/symbolize.h"

#define CACHE_MIN ((size_t)1 << 12)
#define CACHE_MAX ((size_t)1 << 18)
#define PIDS      64u /* recently seen processes; a power of two */

/* A known answer. */
struct known {
	uint64_t address;  /* what was asked for, minus one for return addresses */
	int64_t from, to;  /* good for times in [from, to) */
	uint32_t stamp;    /* good while its space has it; 0: empty */
	uint32_t location; /* location_id */
};

/* A process seen lately, so that its space is not looked up. */
struct seen {
	int32_t pid;
	uint32_t space; /* SPACE_NONE: empty */
};

/* What is shown of addresses that no mapping has. */
enum nowhere { NOWHERE_UNKNOWN, NOWHERE_GUEST, NOWHERE_GUEST_KERNEL, NOWHERE_HYPERVISOR };
#define N_NOWHERES 4

struct resolver {
	struct profile *p;                 /* borrowed */
	capture_id capture;                /* whose addresses these are */
	struct spaces *spaces;             /* owned */
	struct dso_table *dsos;            /* owned */
	struct jit_code *generated;        /* over the spaces; owned */
	struct debug_file_search finder;   /* for naming */
	struct embedded_symbols *recorded; /* symbols; owned */
	struct symbolize *naming;          /* owned; touched by the thread that names only */
	struct kernel_names *kernel;       /* made with the first name asked for; owned */
	struct stack_unwinder *unwinder;   /* made with the first stack; owned */
	struct known *cache;               /* [cache_mask + 1]; owned */
	size_t cache_mask;                 /* slots are a power of two */
	size_t n_misses;                   /* since the cache got its size */
	struct seen seen[PIDS];            /* by pid modulo PIDS */
	uint32_t nowhere[N_NOWHERES];      /* dso of each */
};

static void forget_seen(struct resolver *r)
{
	for (size_t i = 0; i < PIDS; i++)
		r->seen[i].space = SPACE_NONE;
}

struct resolver *resolver_new(struct profile *p, capture_id c, const struct resolver_options *o)
{
	struct resolver *r = xcalloc(1, sizeof(*r));

	r->p = p;
	r->capture = c;
	r->spaces = spaces_new();
	r->dsos = dso_table_new();
	if (o->hold_files)
		dso_table_hold(r->dsos);
	debug_file_search_init(&r->finder, o);
	r->recorded = embedded_symbols_new();
	r->finder.recorded = r->recorded;
	r->generated = jit_code_new(&r->finder);
	r->naming = symbolize_new(p, c, r->dsos, &r->finder);
	r->cache = huge_alloc_table_new(CACHE_MIN * sizeof(*r->cache));
	r->cache_mask = CACHE_MIN - 1;
	forget_seen(r);
	r->nowhere[NOWHERE_UNKNOWN] = dso_table_add_special(r->dsos, "[unknown]", FAMILY_UNKNOWN);
	r->nowhere[NOWHERE_GUEST] = dso_table_add_special(r->dsos, "[guest]", FAMILY_UNKNOWN);
	r->nowhere[NOWHERE_GUEST_KERNEL] = dso_table_add_special(r->dsos, "[guest.kernel.kallsyms]",
								 FAMILY_KERNEL);
	r->nowhere[NOWHERE_HYPERVISOR] = dso_table_add_special(r->dsos, "[hypervisor]",
							       FAMILY_KERNEL);
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	stack_unwinder_free(r->unwinder);
	kernel_names_free(r->kernel);
	jit_code_free(r->generated);
	symbolize_free(r->naming);
	debug_file_search_done(&r->finder);
	embedded_symbols_free(r->recorded);
	dso_table_free(r->dsos);
	spaces_free(r->spaces);
	huge_alloc_table_free(r->cache, (r->cache_mask + 1) * sizeof(*r->cache));
	free(r);
}

void resolver_build_id(struct resolver *r, const char *path, const struct build_id *id, bool kernel)
{
	dso_table_build_id(r->dsos, path, id, kernel);
}

void resolver_kernel_release(struct resolver *r, const char *release)
{
	free(r->finder.release);
	r->finder.release = xstrdup(release);
}

void resolver_symbols(struct resolver *r, const char *path, uint64_t address, uint64_t offset,
		      struct symtab *t)
{
	embedded_symbols_add(r->recorded, path, address, offset, t);
}

void resolver_declared(struct resolver *r, const char *path, const char *file, uint32_t line)
{
	embedded_symbols_declare(r->recorded, path, file, line);
}

void resolver_clock(struct resolver *r, const struct resolver_clock *c)
{
	jit_code_clock(r->generated, c);
}

/* A process that generates code maps the file in which it says so. */
static void look_for_dump(struct resolver *r, const struct mapping_event *m, uint32_t number)
{
	struct dso d = dso_table_get(r->dsos, number);

	if (d.kind == DSO_JIT_DUMP && jit_code_dump(r->generated, m->pid, m->time_ns, &d, number))
		spaces_changed(r->spaces);
}

void resolver_map(struct resolver *r, const struct mapping_event *m)
{
	uint64_t end = m->length > UINT64_MAX - m->start ? UINT64_MAX : m->start + m->length;
	uint64_t bias;
	uint32_t dso;

	/* Some recordings give the kernel no length: it is all there is then. */
	if (m->length == 0 && m->pid <= 0)
		end = UINT64_MAX;
	if (end <= m->start)
		return;
	dso = dso_table_add(r->dsos, m, &bias);
	spaces_map(r->spaces, spaces_of(r->spaces, m->pid), m->time_ns, m->start, end, dso, bias);
	look_for_dump(r, m, dso);
}

/* Of the segments the lowest is what others are counted from, in the file's own addresses. */
static void map_segments(struct resolver *r, const struct mapping_event *m,
			 const struct segments *file)
{
	struct mapping_event part = *m;
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < file->all.n; i++)
		if (file->all.at[i].address < lowest)
			lowest = file->all.at[i].address;
	for (size_t i = 0; i < file->all.n; i++) {
		part.start = file->all.at[i].address - lowest;
		part.length = file->all.at[i].file_bytes;
		part.file_offset = file->all.at[i].offset;
		resolver_map(r, &part);
	}
}

bool resolver_map_image(struct resolver *r, const struct mapping_event *m)
{
	const struct dso d = { .path = m->path,
			       .reference = "",
			       .build_id = m->build_id,
			       .kind = DSO_FILE,
			       .pid = -1,
			       .seen_in = -1 };
	struct segments file = { 0 };
	struct image image;
	bool found;

	image_open(&r->finder, &d, &image);
	segments_take(&file, image_layout(&image));
	image_close(&image);
	found = file.all.n > 0;
	map_segments(r, m, &file);
	segments_done(&file);
	return found;
}

void resolver_fork(struct resolver *r, int32_t pid, int32_t parent_pid, int64_t time_ns)
{
	uint32_t parent;

	if (pid == parent_pid)
		return;
	parent = spaces_of(r->spaces, parent_pid);
	spaces_fork(r->spaces, spaces_of(r->spaces, pid), parent, time_ns);
	jit_code_fork(r->generated, pid, parent_pid, time_ns);
}

void resolver_exec(struct resolver *r, int32_t pid, int64_t time_ns)
{
	spaces_exec(r->spaces, spaces_of(r->spaces, pid), time_ns);
	jit_code_exec(r->generated, pid, time_ns);
}

void resolver_follow(struct resolver *r)
{
	if (jit_code_follow(r->generated, r->dsos))
		spaces_changed(r->spaces);
}

void resolver_end(struct resolver *r, const int32_t *pids, size_t n)
{
	spaces_end(r->spaces, pids, n);
	forget_seen(r);
}

size_t resolver_n_spaces(const struct resolver *r)
{
	return spaces_n(r->spaces);
}

size_t resolver_n_mappings(const struct resolver *r)
{
	return spaces_n_mappings(r->spaces);
}

size_t resolver_n_mapped(const struct resolver *r)
{
	return dso_table_n(r->dsos);
}

static module_id module_of(struct resolver *r, uint32_t dso)
{
	module_id m = dso_table_module(r->dsos, dso);
	char hex[BUILD_ID_HEX_BYTES];
	struct dso d;

	if (m.v != ID_NONE)
		return m;
	d = dso_table_get(r->dsos, dso);
	m = build_module(r->p, d.path, build_id_hex(hex, &d.build_id), d.family);
	dso_table_set_module(r->dsos, dso, m);
	return m;
}

/* More slots once there were as many misses as slots: the working set does not fit. */
static void grow_cache(struct resolver *r)
{
	size_t n = (r->cache_mask + 1) * 4;

	r->n_misses = 0;
	if (n > CACHE_MAX)
		return;
	huge_alloc_table_free(r->cache, (r->cache_mask + 1) * sizeof(*r->cache));
	r->cache = huge_alloc_table_new(n * sizeof(*r->cache));
	r->cache_mask = n - 1;
}

static uint32_t space_of(struct resolver *r, int32_t pid)
{
	struct seen *s = &r->seen[(uint32_t)pid % PIDS];

	if (s->pid != pid || s->space == SPACE_NONE) {
		s->pid = pid;
		s->space = spaces_of(r->spaces, pid);
	}
	return s->space;
}

/* The high bits of a product depend on all bits below. */
static size_t slot_of(const struct resolver *r, uint32_t space, uint64_t address)
{
	uint64_t x = (address ^ (uint64_t)space << 44) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(x >> 32) & r->cache_mask;
}

/* May the code that a process generated be what is meant? Not where a library was mapped since. */
static bool may_be_generated(struct resolver *r, const struct sighting *s)
{
	struct dso d;

	if (s->dso == SPACE_NONE)
		return true;
	d = dso_table_get(r->dsos, s->dso);
	return d.family == FAMILY_JIT;
}

static location_id locate_anew(struct resolver *r, uint32_t space, int32_t pid, int64_t time,
			       uint64_t address)
{
	struct address_space_stamps stamps = spaces_stamps(r->spaces, space);
	struct sighting s;
	struct known k = { .address = address };
	module_id m;

	spaces_look(r->spaces, space, time, address, &s);
	if (space != SPACE_KERNEL && may_be_generated(r, &s))
		jit_code_look(r->generated, pid, time, address, &s);
	k.from = s.from;
	k.to = s.to;
	if (s.dso == SPACE_NONE) {
		k.stamp = stamps.empty;
		m = module_of(r, r->nowhere[NOWHERE_UNKNOWN]);
	} else {
		k.stamp = stamps.found;
		m = module_of(r, s.dso);
		address -= s.bias;
	}
	k.location = build_location(r->p, m, address).v;
	if (++r->n_misses > r->cache_mask)
		grow_cache(r);
	r->cache[slot_of(r, space, k.address)] = k;
	return (location_id){ k.location };
}

static location_id locate_nowhere(struct resolver *r, enum nowhere w, uint64_t address)
{
	return build_location(r->p, module_of(r, r->nowhere[w]), address);
}

/* Without a time everything that was told so far counts. */
static int64_t lookup_time(int64_t time_ns)
{
	return time_ns == TIME_NONE || time_ns == INT64_MAX ? INT64_MAX - 1 : time_ns;
}

location_id resolver_locate(struct resolver *r, int32_t pid, int64_t time_ns, uint64_t ip,
			    enum cpu_mode mode, bool return_address)
{
	uint64_t address = ip - return_address;
	struct address_space_stamps stamps;
	const struct known *k;
	uint32_t space;

	time_ns = lookup_time(time_ns);
	switch (mode) {
	case MODE_USER:
		space = space_of(r, pid);
		break;
	case MODE_KERNEL:
		space = SPACE_KERNEL;
		break;
	case MODE_GUEST_USER:
		return locate_nowhere(r, NOWHERE_GUEST, address);
	case MODE_GUEST_KERNEL:
		return locate_nowhere(r, NOWHERE_GUEST_KERNEL, address);
	case MODE_HYPERVISOR:
	default:
		return locate_nowhere(r, NOWHERE_HYPERVISOR, address);
	}
	k = &r->cache[slot_of(r, space, address)];
	stamps = spaces_stamps(r->spaces, space);
	if (k->address == address && (k->stamp == stamps.found || k->stamp == stamps.empty) &&
	    time_ns >= k->from && time_ns < k->to)
		return (location_id){ k->location };
	return locate_anew(r, space, pid, time_ns, address);
}

int64_t resolver_before_exec(struct resolver *r, int32_t pid, int64_t time_ns, uint64_t ip)
{
	uint32_t space = space_of(r, pid);
	const struct known *k = &r->cache[slot_of(r, space, ip)];
	int64_t time = lookup_time(time_ns);
	struct sighting s;

	if (k->address == ip && k->stamp == spaces_stamps(r->spaces, space).found &&
	    time >= k->from && time < k->to)
		return time_ns;
	spaces_look(r->spaces, space, time, ip, &s);
	return s.dso != SPACE_NONE ? time_ns : spaces_before_exec(r->spaces, space, time);
}

static struct stack_unwinder *unwinder_of(struct resolver *r, enum unwind_arch arch)
{
	if (!r->unwinder)
		r->unwinder = stack_unwinder_new(r->spaces, r->generated, r->dsos, &r->finder, arch,
						 r->finder.options->read_code);
	return r->unwinder;
}

size_t resolver_walk_stack(struct resolver *r, int32_t pid, int64_t time_ns, enum unwind_arch arch,
			   const struct unwind_regs *regs, const struct unwind_memory *m,
			   struct walk_frame *out, size_t max, struct resolver_walk *how)
{
	struct unwind_place at = { space_of(r, pid), pid, lookup_time(time_ns) };
	struct unwound end;
	size_t n;

	n = stack_unwinder_walk(unwinder_of(r, arch), &at, regs, m, out, max, &end);
	how->end = end.end;
	how->module.v = ID_NONE;
	if (end.dso != SPACE_NONE)
		how->module = module_of(r, end.dso);
	return n;
}

bool resolver_rule(struct resolver *r, int32_t pid, int64_t time_ns, enum unwind_arch arch,
		   uint64_t ip, struct cfi_rule *out)
{
	struct unwind_place at = { space_of(r, pid), pid, lookup_time(time_ns) };

	return stack_unwinder_rule(unwinder_of(r, arch), &at, ip, out);
}

bool resolver_is_32(struct resolver *r, int32_t pid, int64_t time_ns, enum unwind_arch arch,
		    uint64_t ip)
{
	struct unwind_place at = { space_of(r, pid), pid, lookup_time(time_ns) };

	return stack_unwinder_is_32(unwinder_of(r, arch), &at, ip);
}

const char *resolver_kernel_symbol(struct resolver *r, int64_t time_ns, uint64_t address,
				   uint64_t *offset)
{
	struct sighting s;

	spaces_look(r->spaces, SPACE_KERNEL, lookup_time(time_ns), address, &s);
	if (s.dso == SPACE_NONE)
		return NULL;
	if (!r->kernel)
		r->kernel = kernel_names_new(&r->finder, r->dsos);
	return kernel_names_find(r->kernel, s.dso, address - s.bias, offset);
}

bool resolver_knows(const struct resolver *r, int32_t pid)
{
	uint32_t space = spaces_find(r->spaces, pid);

	return space != SPACE_NONE && spaces_any(r->spaces, space);
}

uint32_t resolver_age(const struct resolver *r, int32_t pid, int64_t time_ns)
{
	return jit_code_age(r->generated, pid, lookup_time(time_ns));
}

void resolver_facts(const struct resolver *r)
{
	jit_code_facts(r->generated, r->p, r->capture);
}

int resolver_inline_ahead(struct resolver *r, bool *few, struct progress *progress)
{
	*few = false;
	return r->finder.options->no_inlines ? 0 : symbolize_inline_ahead(r->naming, few, progress);
}

int resolver_inline(struct resolver *r, struct progress *progress)
{
	return r->finder.options->no_inlines ? 0 : symbolize_inline(r->naming, progress);
}

int resolver_name(struct resolver *r, struct progress *progress)
{
	return symbolize_run(r->naming, progress);
}

int resolver_fetch(struct resolver *r, struct progress *progress)
{
	return symbolize_fetch(r->naming, progress);
}
