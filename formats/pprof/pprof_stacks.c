/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A location of the file becomes one of the model when a sample needs it first. One with an address in a file is at
 * that address there, so that it can be named by symbols where the profile has none; but several locations of the file
 * may be at one address with other lines each (merged profiles, generated code): these, and those without an address,
 * are frames with names and positions only. Equal ones are one location, in whichever file they are, so that files of one
 * program share their stacks.
 */
#include "config.h"

#include "formats/pprof/pprof_stacks.h"

#include "base/err.h"
#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/demangle.h"
#include "formats/pprof/pprof_samples.h"
#include "formats/pprof/pprof_tables.h"
#include "query/core/regex.h"
#include "symbols/resolver.h"

#include <stdlib.h>
#include <string.h>

/* The process that mappings are said to be of: a profile names none. */
#define THE_PID 1

/* What drop_frames makes of a location. */
enum fate { FATE_UNKNOWN, FATE_STAYS, FATE_DROPPED, FATE_CUT };

struct judged {
	uint32_t cut; /* location_id without the frames that are dropped; FATE_CUT only */
	enum fate fate;
};

struct pprof_stacks {
	struct profile *p;
	capture_id capture;
	const struct pprof_tables *t;
	struct resolver_options options;
	struct resolver *resolver; /* NULL while nothing is mapped */
	uint32_t *module;   /* [mappings] module_id; ID_NONE: a file that was not asked for yet */
	uint32_t *function; /* [functions] function_id of each in its first module, or ID_NONE */
	uint32_t *location; /* [locations] location_id; ID_NONE: not asked for yet */
	struct judged *judged;     /* [locations] NULL: nothing is dropped */
	struct regex *drop, *keep; /* NULL: nothing is dropped, or kept in spite */
	VEC(struct frame) frames;  /* of the location that is being made, outermost first */
	pprof_frames path;         /* of the row that is being made into a stack, innermost first */
	pprof_frames walked;       /* the same of the last one that was walked frame by frame */
	VEC(stack_id) stacks;      /* [walked.n] up to each frame, outermost first */
	location_id unknown; /* what frames without a location are; {ID_NONE}: none came yet */
};

/* Modules. */

static struct build_id read_build_id(struct pprof_string s)
{
	struct build_id id = { .n = 0 };

	for (size_t i = 0; i + 1 < s.n && id.n < sizeof(id.bytes); i += 2) {
		char digits[3] = { s.s[i], s.s[i + 1], '\0' }, *end;
		unsigned long byte = strtoul(digits, &end, 16);

		if (end != digits + 2)
			return (struct build_id){ .n = 0 };
		id.bytes[id.n++] = (uint8_t)byte;
	}
	return id;
}

static void map_file(struct pprof_stacks *s, const struct pprof_mapping *m)
{
	struct pprof_string path = pprof_string(s->t, m->path);
	char *text = xstrndup(path.s, path.n);
	struct mapping_event event = { .time_ns = INT64_MIN,
				       .pid = THE_PID,
				       .start = m->start,
				       .length = m->limit - m->start,
				       .file_offset = m->offset,
				       .path = text,
				       .build_id = read_build_id(pprof_string(s->t, m->build_id)),
				       .executable = true };

	if (!s->resolver)
		s->resolver = resolver_new(s->p, s->capture, &s->options);
	resolver_map(s->resolver, &event);
	free(text);
}

/* Is it a file's code, which can be looked for? */
static bool is_file(const struct pprof_stacks *s, const struct pprof_mapping *m)
{
	struct pprof_string path = pprof_string(s->t, m->path);

	return path.n > 1 && path.s[0] == '/' && m->limit > m->start &&
	       !memchr(path.s, '\0', path.n);
}

static void add_mappings(struct pprof_stacks *s)
{
	for (size_t i = 0; i < s->t->mappings.n; i++) {
		const struct pprof_mapping *m = &s->t->mappings.at[i];
		struct pprof_string path = pprof_string(s->t, m->path);
		char *text;

		s->module[i] = ID_NONE;
		if (is_file(s, m)) {
			map_file(s, m);
			continue;
		}
		text = xstrndup(path.s, path.n);
		s->module[i] = build_module(s->p, text, "",
					    strncmp(text, "[kernel", 7) == 0 ? FAMILY_KERNEL
									     : FAMILY_UNKNOWN)
				       .v;
		free(text);
	}
}

/* Functions. */

static function_id new_function(struct pprof_stacks *s, const struct pprof_function *f, module_id m)
{
	struct pprof_string name = pprof_string(s->t, f->name), file = pprof_string(s->t, f->file);
	char *text, *plain;
	function_id id;

	if (name.n == 0)
		name = pprof_string(s->t, f->system_name);
	text = name.n ? xstrndup(name.s, name.n) : xstrdup("[unknown]");
	plain = demangle(text, DEMANGLE_FULL);
	id = build_function(s->p, build_cstring(s->p, plain ? plain : text), m,
			    name.n ? 0 : FUNCTION_UNRESOLVED, build_string(s->p, file.s, file.n),
			    f->line > 0 && f->line < UINT32_MAX ? (uint32_t)f->line : 0);
	free(plain);
	free(text);
	return id;
}

static uint32_t function_of(struct pprof_stacks *s, uint64_t id, module_id m)
{
	static const struct pprof_function nameless = { .name = -1, .system_name = -1, .file = -1 };
	const struct pprof_function *f = pprof_function(s->t, id);
	uint32_t *known = f ? &s->function[f - s->t->functions.at] : NULL;
	function_id made;

	if (known && *known != ID_NONE &&
	    profile_function(s->p, (function_id){ *known })->module.v == m.v)
		return *known;
	made = new_function(s, f ? f : &nameless, m);
	if (known && *known == ID_NONE)
		*known = made.v;
	return made.v;
}

/* Locations. */

/* The frames of a location, without the n_less innermost, into s->frames. */
static void make_frames(struct pprof_stacks *s, const struct pprof_location *l, uint32_t n_less,
			module_id m)
{
	vec_clear(&s->frames);
	for (uint32_t i = l->n_lines; i-- > n_less;) {
		const struct pprof_line *line = &s->t->lines.at[l->first + i];
		const struct pprof_function *f = pprof_function(s->t, line->function);
		struct pprof_string file = pprof_string(s->t, f ? f->file : -1);
		struct frame frame = { .function = function_of(s, line->function, m) };

		frame.file = build_string(s->p, file.s, file.n).v;
		frame.line = line->line > 0 && line->line < UINT32_MAX ? (uint32_t)line->line : 0;
		vec_push(&s->frames, frame);
	}
}

/* Of what has no address: its mapping says no more than which module it is of. */
static module_id build_file_module(struct pprof_stacks *s, const struct pprof_mapping *m)
{
	struct pprof_string path = pprof_string(s->t, m->path);
	struct build_id id = read_build_id(pprof_string(s->t, m->build_id));
	char hex[BUILD_ID_HEX_BYTES], *text = xstrndup(path.s, path.n);
	module_id module = build_module(s->p, text, build_id_hex(hex, &id),
					strstr(text, ".so") ? FAMILY_LIBRARY : FAMILY_PROGRAM);

	free(text);
	return module;
}

static module_id module_of(struct pprof_stacks *s, const struct pprof_location *l)
{
	const struct pprof_mapping *m = pprof_mapping(s->t, l->mapping);
	uint32_t *module = m ? &s->module[m - s->t->mappings.at] : NULL;

	if (!module)
		return (module_id){ 0 };
	if (*module == ID_NONE)
		*module = build_file_module(s, m).v;
	return (module_id){ *module };
}

/* At its address in a file, or {ID_NONE}. */
static location_id at_address(struct pprof_stacks *s, const struct pprof_location *l)
{
	const struct pprof_mapping *m = pprof_mapping(s->t, l->mapping);

	if (l->address == 0 || !m || !is_file(s, m) || l->address < m->start ||
	    l->address >= m->limit)
		return (location_id){ ID_NONE };
	return resolver_locate(s->resolver, THE_PID, TIME_NONE, l->address, MODE_USER, false);
}

static location_id of_frames(struct pprof_stacks *s)
{
	return build_shared_frames_location(s->p, s->frames.at, (uint32_t)s->frames.n);
}

static location_id new_location(struct pprof_stacks *s, const struct pprof_location *l)
{
	struct location_columns c;
	location_id at = at_address(s, l);

	profile_locations(s->p, &c);
	if (l->n_lines == 0)
		return at.v != ID_NONE ? at : build_location(s->p, module_of(s, l), l->address);
	make_frames(s, l, 0, at.v != ID_NONE ? (module_id){ c.module[at.v] } : module_of(s, l));
	if (at.v == ID_NONE)
		return of_frames(s);
	/* another file of the same program has named it so */
	if (build_location_has_frames(s->p, at, s->frames.at, (uint32_t)s->frames.n))
		return at;
	if (location_function(&c, at.v) != ID_NONE)
		return of_frames(s);
	build_location_inlines(s->p, at, s->frames.at, (uint32_t)s->frames.n);
	return at;
}

static uint32_t unknown_location(struct pprof_stacks *s)
{
	function_id f;

	if (s->unknown.v == ID_NONE) {
		f = build_function(s->p, build_cstring(s->p, "[unknown]"), (module_id){ 0 },
				   FUNCTION_UNRESOLVED, (string_id){ 0 }, 0);
		s->unknown = build_symbol_location(s->p, f);
	}
	return s->unknown.v;
}

static location_id locate(struct pprof_stacks *s, uint32_t i)
{
	if (i == PPROF_NOWHERE)
		return (location_id){ unknown_location(s) };
	if (s->location[i] == ID_NONE)
		s->location[i] = new_location(s, &s->t->locations.at[i]).v;
	return (location_id){ s->location[i] };
}

/* Dropped frames. */

/* A name as drop_frames means it: without arguments. */
static size_t bare_length(const struct pprof_string *name)
{
	const char *open = name->n ? memchr(name->s, '(', name->n) : NULL;

	return open && open > name->s ? (size_t)(open - name->s) : name->n;
}

static bool is_dropped(struct pprof_stacks *s, uint64_t function)
{
	const struct pprof_function *f = pprof_function(s->t, function);
	struct pprof_string name = pprof_string(s->t, f ? f->name : -1);
	size_t n = bare_length(&name);

	return n > 0 && regex_matches(s->drop, name.s, n) &&
	       !(s->keep && regex_matches(s->keep, name.s, n));
}

/* The frames inside of the outermost that is dropped go with it. */
static enum fate judge(struct pprof_stacks *s, uint32_t i)
{
	struct judged *k = &s->judged[i];
	const struct pprof_location *l = &s->t->locations.at[i];
	uint32_t line = l->n_lines;

	if (k->fate != FATE_UNKNOWN)
		return k->fate;
	k->fate = FATE_STAYS;
	while (line > 0 && !is_dropped(s, s->t->lines.at[l->first + line - 1].function))
		line--;
	if (line == 0)
		return k->fate;
	k->fate = line == l->n_lines ? FATE_DROPPED : FATE_CUT;
	if (k->fate == FATE_CUT) {
		make_frames(s, l, line, module_of(s, l));
		k->cut = of_frames(s).v;
	}
	return k->fate;
}

/* How many outer frames the path has of those that were walked last. */
static size_t n_walked(const struct pprof_stacks *s)
{
	size_t least = s->path.n < s->walked.n ? s->path.n : s->walked.n, n = 0;

	while (n < least && s->path.at[s->path.n - 1 - n] == s->walked.at[s->walked.n - 1 - n])
		n++;
	return n;
}

/* Frame by frame: stacks that are new mostly share their outer frames with the one before. */
static stack_id walk_path(struct pprof_stacks *s)
{
	pprof_frames last = s->walked;
	stack_id stack = { 0 };

	s->stacks.n = n_walked(s);
	if (s->stacks.n > 0)
		stack = s->stacks.at[s->stacks.n - 1];
	for (size_t i = s->stacks.n; i < s->path.n; i++) {
		stack = build_stack(s->p, stack, locate(s, s->path.at[s->path.n - 1 - i]));
		vec_push(&s->stacks, stack);
	}
	s->walked = s->path;
	s->path = last;
	return stack;
}

/* Where nothing is dropped: files of one program share whole stacks. */
static stack_id whole_stack(struct pprof_stacks *s, const struct pprof_row *row)
{
	stack_id stack = build_find_chain(s->p, row->stack);

	if (stack.v != 0)
		return stack;
	pprof_row_frames(s->t, row, &s->path);
	if (s->path.n == 0)
		return stack;
	stack = walk_path(s);
	build_note_chain(s->p, row->stack, stack);
	return stack;
}

/*
 * Stacks end where the first frame is dropped, seen from the root; but not before a frame that stays has been seen, so that
 * no stack is dropped whole.
 */
static stack_id cut_stack(struct pprof_stacks *s, const struct pprof_row *row)
{
	stack_id stack = { 0 };
	bool stays = false;

	pprof_row_frames(s->t, row, &s->path);
	for (size_t i = s->path.n; i-- > 0;) {
		uint32_t at = s->path.at[i];
		enum fate fate = at == PPROF_NOWHERE ? FATE_STAYS : judge(s, at);

		if (fate == FATE_DROPPED && stays)
			break;
		stays = stays || fate == FATE_STAYS;
		if (fate == FATE_CUT && stays)
			return build_stack(s->p, stack, (location_id){ s->judged[at].cut });
		stack = build_stack(s->p, stack, locate(s, at));
	}
	return stack;
}

stack_id pprof_stack(struct pprof_stacks *s, const struct pprof_row *row)
{
	return s->drop ? cut_stack(s, row) : whole_stack(s, row);
}

/* A regular expression of the file, which matches whole names; a bad one drops nothing, and that is said. */
static struct regex *whole_regex(struct pprof_stacks *s, int64_t index, const char *what)
{
	struct pprof_string text = pprof_string(s->t, index);
	struct err e = ERR_INIT;
	struct regex *r;
	char *whole;

	if (text.n == 0)
		return NULL;
	whole = xasprintf("^(?-i:%.*s)$", (int)(text.n < INT32_MAX ? text.n : 0), text.s);
	r = regex_new(whole, &e);
	if (!r)
		build_fact(s->p, s->capture, "losses", what, FACT_LOSS, "%s: nothing is dropped",
			   err_text(&e));
	err_clear(&e);
	free(whole);
	return r;
}

static void set_all(uint32_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ids[i] = ID_NONE;
}

struct pprof_stacks *pprof_stacks_new(struct profile *p, capture_id c, const struct pprof_tables *t,
				      const struct resolver_options *options)
{
	struct pprof_stacks *s = xcalloc(1, sizeof(*s));

	s->p = p;
	s->capture = c;
	s->t = t;
	s->unknown = (location_id){ ID_NONE };
	if (options)
		s->options = *options;
	s->options.same_machine = false; /* nothing says on which machine it was recorded */
	s->module = xcalloc(t->mappings.n + 1, sizeof(*s->module));
	s->function = xcalloc(t->functions.n + 1, sizeof(*s->function));
	s->location = xcalloc(t->locations.n + 1, sizeof(*s->location));
	set_all(s->function, t->functions.n);
	set_all(s->location, t->locations.n);
	add_mappings(s);
	s->drop = whole_regex(s, t->drop, "drop_frames");
	s->judged = s->drop ? xcalloc(t->locations.n + 1, sizeof(*s->judged)) : NULL;
	s->keep = s->drop ? whole_regex(s, t->keep, "keep_frames") : NULL;
	return s;
}

int pprof_stacks_name(struct pprof_stacks *s, struct progress *progress)
{
	int rc = s->resolver ? resolver_name(s->resolver, progress) : 0;

	if (rc == 0 && s->resolver)
		rc = resolver_fetch(s->resolver, progress);
	return rc == 0 && s->resolver ? resolver_inline(s->resolver, progress) : rc;
}

void pprof_stacks_free(struct pprof_stacks *s)
{
	if (!s)
		return;
	resolver_free(s->resolver);
	regex_free(s->drop);
	regex_free(s->keep);
	vec_done(&s->frames);
	vec_done(&s->path);
	vec_done(&s->walked);
	vec_done(&s->stacks);
	free(s->module);
	free(s->function);
	free(s->location);
	free(s->judged);
	free(s);
}
