/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libdw reads the debug information; this file keeps what was read so that it is read once.
 *
 * Three indexes of address ranges, each sorted by begin: of units, of a unit's functions, and, as a
 * tree, of a function's inlined calls. DIE trees are hostile input: their depth is limited, and a
 * unit's walk stops after more entries than the section could hold.
 */
#include "config.h"

#include "debug_info.h"

#include "build_id.h"
#include "mem.h"
#include "resolver.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NESTING 64
#define MAX_RANGES  (1u << 20)

/* Addresses [begin, end) that belong to thing number `of`. */
struct span {
	uint64_t begin, end;
	uint32_t of;
};

typedef VEC(struct span) spans;

/* An inlined call, or (node 0 of a function) the function itself. */
struct call {
	uint32_t parent;         /* call it is inlined into; of node 0: itself */
	uint32_t line;           /* of the call in the parent; 0 until named */
	const char *file;        /* likewise, or NULL */
	Dwarf_Die die;           /* of the call, to be named from */
	bool named;              /* most calls of a function are never asked for */
	struct debug_frame what; /* names and number of what was called; position unset */
};

/* A function with code of its own. */
struct function_info {
	Dwarf_Off die;
	bool read;              /* calls have been collected */
	VEC(struct call) calls; /* preorder: parents before children */
	spans ranges;           /* of calls, children after parents; not sorted */
};

/* Something that names stand in: a namespace, a class, a function. */
struct scope {
	const char *name; /* libdw's, or one of ours; NULL: a type without one */
	const char *file; /* of a type without a name: where it is declared, or NULL */
	int line;         /* likewise, or 0 */
	uint32_t parent;  /* scope around it; of scope 0, the unit: itself */
};

/* A function's entry and the scope that it stands in. */
struct scoped {
	Dwarf_Off entry;
	uint32_t scope;
};

struct info_unit {
	Dwarf_Die die;   /* of the unit, the split one where there is one */
	bool read;       /* functions have been collected */
	spans ranges;    /* of functions, sorted by begin */
	uint64_t widest; /* longest of them: how far back a search must look */
	VEC(struct function_info) functions;
	Dwarf_Lines *lines; /* libdw's; NULL: none */
	size_t n_lines;
	Dwarf_Files *files; /* libdw's; NULL: none */
	size_t n_files;
	bool scopes_read; /* scopes have been collected */
	VEC(struct scope) scopes;
	VEC(struct scoped) scoped; /* by entry */
};

struct debug_info {
	Dwarf *dw;
	Elf *elf; /* of debug_info_open(): owned, like dw then; else NULL */
	int fd;   /* likewise */
	VEC(struct info_unit) units;
	spans ranges; /* of units, sorted by begin */
	uint64_t widest;
};

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static uint64_t sort_spans(struct span *at, size_t n)
{
	uint64_t widest = 0;

	if (n)
		qsort(at, n, sizeof(*at), by_begin);
	for (size_t i = 0; i < n; i++)
		if (at[i].end - at[i].begin > widest)
			widest = at[i].end - at[i].begin;
	return widest;
}

/* The narrowest span that holds address, or NULL. */
static const struct span *find_span(const struct span *at, size_t n, uint64_t widest,
				    uint64_t address)
{
	const struct span *best = NULL;
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (at[mid].begin <= address)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0 && address - at[low].begin < widest) {
		if (address >= at[low].end)
			continue;
		if (!best || at[low].end - at[low].begin < best->end - best->begin)
			best = &at[low];
	}
	return best;
}

/* Adds the ranges of a DIE as those of thing number `of`; false: it has no code. */
static bool add_ranges(spans *to, Dwarf_Die *die, uint32_t of)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	size_t before = to->n;

	while (to->n - before < MAX_RANGES && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0)
		if (end > begin && begin != 0)
			vec_push(to, ((struct span){ begin, end, of }));
	return to->n > before;
}

static void add_unit(struct debug_info *d, Dwarf_Die *die, Dwarf_Die *split)
{
	uint32_t n = (uint32_t)d->units.n;
	bool is_split = split->addr != NULL;

	/* The skeleton has the addresses, the split unit the functions. */
	if (!add_ranges(&d->ranges, die, n) && !(is_split && add_ranges(&d->ranges, split, n)))
		return;
	vec_push(&d->units, ((struct info_unit){ .die = is_split ? *split : *die }));
}

struct debug_info *debug_info_new(Dwarf *dw)
{
	struct debug_info *d = xcalloc(1, sizeof(*d));
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	d->dw = dw;
	while (dwarf_get_units(dw, cu, &cu, NULL, &type, &die, &split) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton || type == DW_UT_partial)
			add_unit(d, &die, &split);
	d->widest = sort_spans(d->ranges.at, d->ranges.n);
	return d;
}

static bool has_build_id(Elf *elf, const struct build_id *want)
{
	const void *bytes;
	ssize_t n = want->n ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;

	return want->n == 0 || (n == want->n && memcmp(bytes, want->bytes, want->n) == 0);
}

struct debug_info *debug_info_open(const char *path, const struct build_id *want)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf *elf = NULL;
	Dwarf *dw = NULL;
	struct debug_info *d;

	elf_version(EV_CURRENT);
	if (fd >= 0)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && has_build_id(elf, want))
		dw = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!dw) {
		elf_end(elf);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	d = debug_info_new(dw);
	d->elf = elf;
	d->fd = fd;
	return d;
}

static void unit_done(struct info_unit *u)
{
	for (size_t i = 0; i < u->functions.n; i++) {
		vec_done(&u->functions.at[i].calls);
		vec_done(&u->functions.at[i].ranges);
	}
	vec_done(&u->functions);
	vec_done(&u->ranges);
	vec_done(&u->scopes);
	vec_done(&u->scoped);
}

void debug_info_free(struct debug_info *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->units.n; i++)
		unit_done(&d->units.at[i]);
	vec_done(&d->units);
	vec_done(&d->ranges);
	if (d->elf) {
		dwarf_end(d->dw);
		elf_end(d->elf);
		close(d->fd);
	}
	free(d);
}

/* Entries that may have functions with code below them. */
static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return true;
	default:
		return false;
	}
}

/* Collects the unit's functions with code: a walk over its entries, types' insides left out. */
static void collect_functions(struct info_unit *u)
{
	Dwarf_Die up[MAX_NESTING], die;
	int depth = 0;
	bool more = dwarf_child(&u->die, &die) == 0;

	while (more) {
		int tag = dwarf_tag(&die);
		bool own = tag == DW_TAG_subprogram &&
			   add_ranges(&u->ranges, &die, (uint32_t)u->functions.n);

		if (own)
			vec_push(&u->functions,
				 ((struct function_info){ .die = dwarf_dieoffset(&die) }));
		/* Functions inside functions are found when calls are; most have none. */
		if (!own && holds_functions(tag) && depth < MAX_NESTING &&
		    dwarf_haschildren(&die)) {
			up[depth] = die;
			if (dwarf_child(&up[depth], &die) == 0) {
				depth++;
				continue;
			}
			die = up[depth];
		}
		more = dwarf_siblingof(&die, &die) == 0;
		while (!more && depth > 0) {
			die = up[--depth];
			more = dwarf_siblingof(&die, &die) == 0;
		}
	}
}

static void read_unit(struct info_unit *u)
{
	u->read = true;
	collect_functions(u);
	u->widest = sort_spans(u->ranges.at, u->ranges.n);
	if (dwarf_getsrclines(&u->die, &u->lines, &u->n_lines) != 0)
		u->lines = NULL;
	if (dwarf_getsrcfiles(&u->die, &u->files, &u->n_files) != 0)
		u->files = NULL;
}

static uint64_t attr_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) != 0)
		return 0;
	return value;
}

static const char *attr_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attr));
}

/* Names of a function or call, and the entry that all its instances come from. */
static struct debug_frame name_of(Dwarf_Die *die)
{
	struct debug_frame f = { .function = (uint64_t)(uintptr_t)die->addr };
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	int line = 0;

	f.linkage_name = attr_string(die, DW_AT_linkage_name);
	if (!f.linkage_name)
		f.linkage_name = attr_string(die, DW_AT_MIPS_linkage_name);
	f.name = attr_string(die, DW_AT_name);
	f.declared = dwarf_decl_file(die);
	if (dwarf_decl_line(die, &line) == 0 && line > 0)
		f.declared_line = (uint32_t)line;
	origin = *die;
	if (dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, &origin))
		f.function = (uint64_t)(uintptr_t)origin.addr;
	/* A member's definition stands outside its class, its declaration inside. */
	if (dwarf_attr(&origin, DW_AT_specification, &attr))
		dwarf_formref_die(&attr, &origin);
	f.entry = dwarf_dieoffset(&origin);
	return f;
}

/* Reads what is called, and from where in its parent. */
static void name_call(const struct info_unit *u, struct call *c)
{
	uint64_t file = attr_number(&c->die, DW_AT_call_file);

	c->named = true;
	c->what = name_of(&c->die);
	c->line = (uint32_t)attr_number(&c->die, DW_AT_call_line);
	if (u->files && file < u->n_files)
		c->file = dwarf_filesrc(u->files, (size_t)file, NULL, NULL);
}

/* Collects the inlined calls below a function, in preorder. */
static void collect_calls(struct function_info *f, Dwarf_Die *top)
{
	struct {
		Dwarf_Die die;
		uint32_t call;
	} up[MAX_NESTING];
	Dwarf_Die die;
	uint32_t call = 0;
	int depth = 0;
	bool more = dwarf_child(top, &die) == 0;

	while (more) {
		int tag = dwarf_tag(&die);
		uint32_t n = (uint32_t)f->calls.n, inner = call;
		bool open = tag == DW_TAG_lexical_block;

		if (tag == DW_TAG_inlined_subroutine && add_ranges(&f->ranges, &die, n)) {
			vec_push(&f->calls, ((struct call){ .parent = call, .die = die }));
			inner = n;
			open = true;
		}
		if (open && depth < MAX_NESTING) {
			up[depth].die = die;
			up[depth].call = call;
			if (dwarf_child(&up[depth].die, &die) == 0) {
				depth++;
				call = inner;
				continue;
			}
			die = up[depth].die;
		}
		more = dwarf_siblingof(&die, &die) == 0;
		while (!more && depth > 0) {
			die = up[--depth].die;
			call = up[depth].call;
			more = dwarf_siblingof(&die, &die) == 0;
		}
	}
}

static void read_function(struct debug_info *d, const struct info_unit *u, struct function_info *f)
{
	Dwarf_Die die;
	Dwarf *dw = dwarf_cu_getdwarf(u->die.cu);

	f->read = true;
	if (!dwarf_offdie(dw ? dw : d->dw, f->die, &die))
		return;
	vec_push(&f->calls, ((struct call){ .die = die }));
	collect_calls(f, &die);
}

/* The innermost call that holds address: children stand after their parents. */
static uint32_t innermost_call(const struct function_info *f, uint64_t address)
{
	uint32_t best = 0;

	for (size_t i = 0; i < f->ranges.n; i++)
		if (address >= f->ranges.at[i].begin && address < f->ranges.at[i].end &&
		    f->ranges.at[i].of > best)
			best = f->ranges.at[i].of;
	return best;
}

/* File and line of the address itself; line 0 when the table has none. */
static void find_line(const struct info_unit *u, uint64_t address, const char **file,
		      uint32_t *line)
{
	size_t low = 0, high = u->n_lines;
	Dwarf_Addr at;
	Dwarf_Line *row;
	bool end = true;
	int n = 0;

	*file = NULL;
	*line = 0;
	while (u->lines && low < high) {
		size_t mid = low + (high - low) / 2;

		row = dwarf_onesrcline(u->lines, mid);
		if (row && dwarf_lineaddr(row, &at) == 0 && at <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!u->lines || low == 0)
		return;
	row = dwarf_onesrcline(u->lines, low - 1);
	if (!row || dwarf_lineendsequence(row, &end) != 0 || end || dwarf_lineno(row, &n) != 0)
		return;
	*file = dwarf_linesrc(row, NULL, NULL);
	*line = n > 0 ? (uint32_t)n : 0;
}

static struct info_unit *find_unit(struct debug_info *d, uint64_t address)
{
	const struct span *s = find_span(d->ranges.at, d->ranges.n, d->widest, address);
	struct info_unit *u = s ? &d->units.at[s->of] : NULL;

	if (u && !u->read)
		read_unit(u);
	return u;
}

size_t debug_info_frames(struct debug_info *d, uint64_t address, struct debug_frame *out,
			 size_t max)
{
	struct info_unit *u = find_unit(d, address);
	const struct span *s;
	struct function_info *f;
	const char *file;
	uint32_t line, call;
	size_t n = 0;

	if (!u || max == 0)
		return 0;
	find_line(u, address, &file, &line);
	s = find_span(u->ranges.at, u->ranges.n, u->widest, address);
	f = s ? &u->functions.at[s->of] : NULL;
	if (f && !f->read)
		read_function(d, u, f);
	if (!f || f->calls.n == 0) {
		out[0] = (struct debug_frame){ .file = file, .line = line };
		return line ? 1 : 0;
	}
	for (call = innermost_call(f, address);; call = f->calls.at[call].parent) {
		/* Past max, inner frames give way. */
		if (n == max)
			memmove(out, out + 1, --n * sizeof(*out));
		if (!f->calls.at[call].named)
			name_call(u, &f->calls.at[call]);
		out[n] = f->calls.at[call].what;
		out[n].file = file;
		out[n++].line = line;
		if (call == 0)
			return n;
		file = f->calls.at[call].file;
		line = f->calls.at[call].line;
	}
}

static bool makes_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_subprogram:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

static uint32_t add_scope(struct info_unit *u, Dwarf_Die *die, uint32_t parent)
{
	uint32_t n = (uint32_t)u->scopes.n;
	struct scope s = { .name = dwarf_diename(die), .parent = parent };

	if (!s.name && dwarf_tag(die) == DW_TAG_namespace)
		s.name = "(anonymous namespace)";
	if (!s.name && dwarf_decl_line(die, &s.line) == 0)
		s.file = dwarf_decl_file(die);
	vec_push(&u->scopes, s);
	return n;
}

/* Collects the scopes of the unit's functions: a walk over all that may hold functions. */
static void collect_scopes(struct info_unit *u)
{
	struct {
		Dwarf_Die die;
		uint32_t scope;
	} up[MAX_NESTING];
	Dwarf_Die die;
	uint32_t scope = add_scope(u, &u->die, 0);
	int depth = 0;
	bool more = dwarf_child(&u->die, &die) == 0;

	while (more) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			vec_push(&u->scoped, ((struct scoped){ dwarf_dieoffset(&die), scope }));
		if ((makes_scope(tag) || tag == DW_TAG_lexical_block) && depth < MAX_NESTING &&
		    dwarf_haschildren(&die)) {
			up[depth].die = die;
			up[depth].scope = scope;
			if (dwarf_child(&up[depth].die, &die) == 0) {
				if (makes_scope(tag))
					scope = add_scope(u, &up[depth].die, scope);
				depth++;
				continue;
			}
			die = up[depth].die;
		}
		more = dwarf_siblingof(&die, &die) == 0;
		while (!more && depth > 0) {
			die = up[--depth].die;
			scope = up[depth].scope;
			more = dwarf_siblingof(&die, &die) == 0;
		}
	}
}

static bool is_cplusplus(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

/* The unit that an entry lies in, or NULL: units are kept in the section's order. */
static struct info_unit *unit_of_entry(struct debug_info *d, Dwarf_Off entry)
{
	size_t low = 0, high = d->units.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (dwarf_dieoffset(&d->units.at[mid].die) <= entry)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &d->units.at[low - 1] : NULL;
}

static const struct scoped *find_scoped(const struct info_unit *u, Dwarf_Off entry)
{
	size_t low = 0, high = u->scoped.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (u->scoped.at[mid].entry < entry)
			low = mid + 1;
		else
			high = mid;
	}
	return low < u->scoped.n && u->scoped.at[low].entry == entry ? &u->scoped.at[low] : NULL;
}

/*
 * A type without a name that can be called is that of a lambda, which only its place tells from others
 * of the function. Where gcc names it, "<lambda(int)>" becomes "{lambda(int)}" as demanglers have it.
 */
static char *scope_name(const struct scope *s, const struct debug_frame *f)
{
	const char *name = s->name, *slash = s->file ? strrchr(s->file, '/') : NULL;
	const char *kind = f->name && strncmp(f->name, "operator()", 10) == 0 ? "lambda" : "type";
	size_t n = name ? strlen(name) : 0;

	if (!name && s->file)
		return xasprintf("{%s at %s:%d}", kind, slash ? slash + 1 : s->file, s->line);
	if (!name)
		return xasprintf("{%s}", kind);
	if (n < 8 || strncmp(name, "<lambda", 7) != 0 || name[n - 1] != '>')
		return xstrdup(name);
	return xasprintf("{%.*s}", (int)(n - 2), name + 1);
}

char *debug_info_scope(struct debug_info *d, const struct debug_frame *f)
{
	struct info_unit *u = unit_of_entry(d, f->entry);
	const struct scoped *s;
	char *path = NULL;
	int depth = 0;

	if (!u || !is_cplusplus(&u->die))
		return NULL;
	if (!u->scopes_read)
		collect_scopes(u);
	u->scopes_read = true;
	s = find_scoped(u, f->entry);
	for (uint32_t at = s ? s->scope : 0; at != 0 && depth++ < MAX_NESTING;
	     at = u->scopes.at[at].parent) {
		char *name, *longer;

		name = scope_name(&u->scopes.at[at], f);
		longer = path ? xasprintf("%s::%s", name, path) : xstrdup(name);
		free(name);
		free(path);
		path = longer;
	}
	return path;
}
