/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stack of the file is a frame and the stack that it is on. Frames are named by functions, with a library or a source file; Gecko's by
 * one text: "name (in library)", "name (file:line:column)", or a name.
 */
#include "config.h"

#include "formats/firefox/firefox_stacks.h"

#include "formats/firefox/firefox_native.h"
#include "formats/named_frames.h"

#include <stdlib.h>
#include <string.h>

/* Stacks are made in the order of the table where there are at most so many of them for a sample. */
#define WORTH_ORDER 8
/* Those that a thread has used are listed up to one in so many; beyond, forgetting all of them costs little more. */
#define WORTH_LIST  32
#define AHEAD       8 /* stacks of the table */
/* Frames without a category that stand within one that has. */
#define MOST_BARE   64

static uint32_t at(const firefox_indexes *v, uint32_t i)
{
	return i < v->n ? v->at[i] : FIREFOX_NONE;
}

static string_id string_at(const struct firefox_stacks *s, uint32_t i)
{
	return (string_id){ i < s->tables->strings.n ? s->tables->strings.at[i] : 0 };
}

/* Frames of processed profiles. */

/* Of Linux the code id is the build-id; elsewhere it is something else. */
static const char *build_id(const struct firefox_stacks *s, const struct firefox_lib *l)
{
	size_t n;
	const char *id = profile_string(s->p, l->code_id, &n);

	return n >= 32 && strspn(id, "0123456789abcdef") == n ? id : "";
}

/* The number of a function's library, or none of the text's. */
static uint32_t lib_of(const struct firefox_stacks *s, uint32_t func)
{
	uint32_t lib = at(&s->tables->resource_lib, at(&s->tables->func_resource, func));

	return s->libs && s->libs->n > 0 ? at(s->libs, lib) : lib;
}

/* The module of a library, or {0}. */
static module_id module_of(struct firefox_stacks *s, uint32_t lib)
{
	const struct firefox_lib *l;
	const char *path;

	if (lib >= s->text->libs.n)
		return (module_id){ 0 };
	l = &s->text->libs.at[lib];
	path = profile_string(s->p, l->path.v ? l->path : l->name, NULL);
	return build_module(s->p, path, build_id(s, l),
			    strstr(path, ".so") || strstr(path, ".dylib") || strstr(path, ".dll")
				    ? FAMILY_LIBRARY
			    : strstr(path, "[kernel") || strstr(path, ".ko") ? FAMILY_KERNEL
									     : FAMILY_PROGRAM);
}

static string_id file_of(struct firefox_stacks *s, uint32_t func)
{
	uint32_t source = at(&s->tables->func_source, func);

	if (source != FIREFOX_NONE)
		return string_at(s, at(&s->tables->source_file, source));
	return string_at(s, at(&s->tables->func_file, func));
}

static uint32_t line_or_0(uint32_t line)
{
	return line == FIREFOX_NONE ? 0 : line;
}

/* Has a frame no name but its address, which samply writes as one? */
static bool is_nameless(const struct firefox_stacks *s, uint32_t frame, string_id name)
{
	size_t n;
	const char *text = profile_string(s->p, name, &n);

	return at(&s->tables->frame_address, frame) != FIREFOX_NONE &&
	       at(&s->tables->frame_symbol, frame) == FIREFOX_NONE && n > 2 && text[0] == '0' &&
	       text[1] == 'x' && strspn(text + 2, "0123456789abcdefABCDEF") == n - 2;
}

static location_id processed_location(struct firefox_stacks *s, uint32_t frame)
{
	uint32_t func = at(&s->tables->frame_func, frame), lib = lib_of(s, func);
	module_id module = module_of(s, lib);
	struct named_frame f = { .name = string_at(s, at(&s->tables->func_name, func)),
				 .file = file_of(s, func),
				 .line = line_or_0(at(&s->tables->frame_line, frame)),
				 .declared = line_or_0(at(&s->tables->func_line, func)) };

	if (module.v && is_nameless(s, frame, f.name))
		return firefox_native_locate(s->native, lib, at(&s->tables->frame_address, frame),
					     module);
	return module.v ? named_frame_location_in(s->p, &f, module)
			: named_frame_location(s->p, &f);
}

/* Frames of Gecko's. */

/* Where a text that ends in ")" has its last " (", or NULL. */
static const char *last_parenthesis(const char *text, size_t n)
{
	size_t i = n;

	if (n < 4 || text[n - 1] != ')')
		return NULL;
	while (i-- > 1)
		if (text[i] == '(' && text[i - 1] == ' ')
			return text + i - 1;
	return NULL;
}

/* The length without "[12]" behind a parenthesis, the number of the source in a table of newer profiles. */
static size_t without_source(const char *text, size_t n)
{
	size_t i = n;

	if (n < 4 || text[n - 1] != ']')
		return n;
	for (i = n - 1; i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9';)
		i--;
	return i < n - 1 && i > 1 && text[i - 1] == '[' && text[i - 2] == ')' ? i - 1 : n;
}

/* Takes ":12" from the end of *n bytes; false: there is none. */
static bool take_number(const char *text, size_t *n, uint32_t *out)
{
	size_t i = *n;

	while (i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9')
		i--;
	if (i == *n || i == 0 || text[i - 1] != ':' || *n - i > 9)
		return false;
	*out = (uint32_t)strtoul(text + i, NULL, 10);
	*n = i - 1;
	return true;
}

static location_id located(struct firefox_stacks *s, const char *text, size_t n, uint32_t line)
{
	const char *open = last_parenthesis(text, n);
	struct named_frame f = { .line = line };
	const char *inner = open ? open + 2 : NULL;
	size_t n_inner = open ? n - (size_t)(inner - text) - 1 : 0;
	uint32_t first, second;

	f.name = build_string(s->p, text, open ? (size_t)(open - text) : n);
	if (open && n_inner > 3 && memcmp(inner, "in ", 3) == 0) {
		string_id path = build_string(s->p, inner + 3, n_inner - 3);

		return named_frame_location_in(
			s->p, &f,
			build_module(s->p, profile_string(s->p, path, NULL), "", FAMILY_LIBRARY));
	}
	if (open && take_number(inner, &n_inner, &first)) {
		if (take_number(inner, &n_inner, &second))
			first = second;
		f.declared = first;
		f.file = build_string(s->p, inner, n_inner);
	} else {
		f.name = build_string(s->p, text, n);
	}
	return named_frame_location(s->p, &f);
}

/* Frames that stand below others have addresses to return to. */
static bool *find_calls(const struct firefox_stacks *s)
{
	const struct firefox_tables *t = s->tables;
	bool *calls = xcalloc(s->n_locations + 1, sizeof(*calls));

	for (uint32_t i = 0; i < t->frame.n; i++) {
		uint32_t frame = at(&t->frame, at(&t->prefix, i));

		if (frame < s->n_locations)
			calls[frame] = true;
	}
	return calls;
}

/* Of a text that is an address in a library of the process; {ID_NONE} of others: code that was made there has names. */
static location_id native_location(struct firefox_stacks *s, uint32_t frame, const char *text,
				   size_t n)
{
	uint32_t lib, address;

	if (n < 3 || n > 18 || memcmp(text, "0x", 2) != 0 ||
	    strspn(text + 2, "0123456789abcdefABCDEF") != n - 2)
		return (location_id){ ID_NONE };
	lib = firefox_native_lib_at(s->native, s->process, strtoull(text + 2, NULL, 16), &address);
	if (lib == FIREFOX_NONE)
		return (location_id){ ID_NONE };
	if (!s->calls)
		s->calls = find_calls(s);
	return firefox_native_locate(s->native, lib, address - (s->calls[frame] && address > 0),
				     module_of(s, lib));
}

static location_id gecko_location(struct firefox_stacks *s, uint32_t frame)
{
	size_t n;
	const char *text = profile_string(s->p, string_at(s, at(&s->tables->frame_location, frame)),
					  &n);

	location_id native = native_location(s, frame, text, n);

	if (native.v != ID_NONE)
		return native;
	return located(s, text, without_source(text, n),
		       line_or_0(at(&s->tables->frame_line, frame)));
}

/* Stacks. */

static uint32_t location_of(struct firefox_stacks *s, uint32_t frame)
{
	const struct firefox_tables *t = s->tables;
	bool gecko = t->frame_location.n > 0;

	if (frame >= s->n_locations)
		return ID_NONE;
	if (s->location[frame] == ID_NONE)
		s->location[frame] =
			(gecko ? gecko_location(s, frame) : processed_location(s, frame)).v;
	return s->location[frame];
}

static void know(struct firefox_stacks *s, uint32_t index, stack_id stack)
{
	s->stack[index] = stack.v;
	s->many = s->many || s->known.n > s->tables->frame.n / WORTH_LIST;
	if (s->many)
		vec_done(&s->known);
	else
		vec_push(&s->known, index);
}

void firefox_stack_fetch(const struct firefox_stacks *s, uint32_t index)
{
	if (index < s->tables->frame.n)
		__builtin_prefetch(&s->stack[index]);
}

uint32_t firefox_stack_category(const struct firefox_stacks *s, uint32_t index)
{
	const struct firefox_tables *t = s->tables;
	uint32_t category = FIREFOX_NONE;

	for (unsigned i = 0; i < MOST_BARE && category == FIREFOX_NONE && index < t->frame.n; i++) {
		category = t->stack_category.n > 0 ? at(&t->stack_category, index)
						   : at(&t->frame_category, t->frame.at[index]);
		index = at(&t->prefix, index);
	}
	return category;
}

stack_id firefox_stack(struct firefox_stacks *s, uint32_t index)
{
	const struct firefox_tables *t = s->tables;
	stack_id stack = s->root;

	if (index < t->frame.n && s->stack[index] != ID_NONE)
		return (stack_id){ s->stack[index] };
	vec_clear(&s->path);
	while (index < t->frame.n && s->stack[index] == ID_NONE && s->path.n <= t->frame.n) {
		vec_push(&s->path, index);
		index = at(&t->prefix, index);
	}
	/* stacks that are on each other in a circle are nothing, and no sample goes round it again */
	if (s->path.n > t->frame.n) {
		s->n_odd++;
		while (s->path.n > 0)
			know(s, s->path.at[--s->path.n], stack);
		return stack;
	}
	if (index < t->frame.n)
		stack.v = s->stack[index];
	else
		s->n_odd += index != FIREFOX_NONE;
	while (s->path.n > 0) {
		uint32_t location;

		index = s->path.at[--s->path.n];
		location = location_of(s, t->frame.at[index]);
		if (location != ID_NONE)
			stack = build_stack(s->p, stack, (location_id){ location });
		else
			s->n_odd++;
		know(s, index, stack);
	}
	return stack;
}

static uint32_t *unknown(size_t n)
{
	uint32_t *ids = xmalloc((n + 1) * sizeof(*ids));

	for (size_t i = 0; i <= n; i++)
		ids[i] = ID_NONE;
	return ids;
}

void firefox_stacks_init(struct firefox_stacks *s, struct profile *p,
			 const struct firefox_text *text, const struct firefox_tables *tables,
			 const firefox_indexes *libs, struct firefox_native *native)
{
	*s = (struct firefox_stacks){
		.p = p, .text = text, .tables = tables, .libs = libs, .native = native
	};
	s->n_locations = tables->frame_location.n > 0 ? tables->frame_location.n
						      : tables->frame_func.n;
	s->location = unknown(s->n_locations);
	s->stack = unknown(tables->frame.n);
}

/* Only what the last thread used is forgotten, as a file may have many threads and large tables that all of them share. */
void firefox_stacks_begin(struct firefox_stacks *s, stack_id root)
{
	for (size_t i = 0; s->many && i < s->tables->frame.n; i++)
		s->stack[i] = ID_NONE;
	for (size_t i = 0; i < s->known.n; i++)
		s->stack[s->known.at[i]] = ID_NONE;
	s->many = false;
	vec_clear(&s->known);
	s->root = root;
}

/* Prefetches what makes a stack, where the one that it is on is known. */
static void fetch(struct firefox_stacks *s, size_t i)
{
	const struct firefox_tables *t = s->tables;
	uint32_t prefix, frame;

	if (i >= t->frame.n)
		return;
	prefix = at(&t->prefix, (uint32_t)i);
	frame = t->frame.at[i];
	if (prefix < t->frame.n && frame < s->n_locations && s->stack[prefix] != ID_NONE)
		build_stack_fetch(s->p, (stack_id){ s->stack[prefix] },
				  (location_id){ s->location[frame] });
}

void firefox_stacks_of(struct firefox_stacks *s, const struct firefox_series *samples)
{
	const struct firefox_tables *t = s->tables;
	struct firefox_cursor cursor = firefox_series_begin(samples);
	bool *used;

	if (samples->n < t->frame.n / WORTH_ORDER)
		return;
	used = xcalloc(t->frame.n, sizeof(*used));
	for (size_t i = 0; i < samples->n; i++) {
		uint32_t stack = firefox_series_next_index(&cursor);

		if (stack < t->frame.n)
			used[stack] = true;
	}
	for (size_t i = t->frame.n; i-- > 0;)
		if (used[i] && at(&t->prefix, (uint32_t)i) < i)
			used[t->prefix.at[i]] = true;
	for (size_t i = 0; i < t->frame.n; i++) {
		fetch(s, i + AHEAD);
		if (used[i])
			firefox_stack(s, (uint32_t)i);
	}
	free(used);
}

void firefox_stacks_done(struct firefox_stacks *s)
{
	free(s->location);
	free(s->calls);
	free(s->stack);
	vec_done(&s->path);
	vec_done(&s->known);
}
