/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gathered frames are settled level by level: those whose parents are known, then their children, and
 * so on. Within a level look-ups do not depend on each other.
 */
#include "config.h"

#include "formats/folded/folded_stacks.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* A stack deeper than this is no stack; each frame costs much more than its byte. */
#define MOST_FRAMES ((size_t)1 << 18)

static bool ends_with(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);

	return n >= len && memcmp(s + n - len, with, len) == 0;
}

/* The module that a frame's annotation tells of; most tell of none. */
static module_id module_of(struct folded_stacks *f, const char *s, size_t n)
{
	if (ends_with(s, n, "_[k]")) {
		if (f->kernel.v == 0)
			f->kernel = build_module(f->p, "[kernel]", "", FAMILY_KERNEL);
		return f->kernel;
	}
	if (ends_with(s, n, "_[j]")) {
		if (f->jit.v == 0)
			f->jit = build_module(f->p, "[jit]", "", FAMILY_JIT);
		return f->jit;
	}
	return (module_id){ 0 };
}

static location_id new_location(struct folded_stacks *f, const struct build_text *t, string_id name)
{
	bool unknown = t->len == strlen("[unknown]") && memcmp(t->s, "[unknown]", t->len) == 0;
	function_id function = build_function(f->p, name, module_of(f, t->s, t->len),
					      unknown ? FUNCTION_UNRESOLVED : 0, (string_id){ 0 },
					      0);

	return build_symbol_location(f->p, function);
}

/* The location of a frame whose text is the string name. */
static location_id location_of(struct folded_stacks *f, const struct build_text *t, string_id name)
{
	size_t before = f->location_of.n;
	location_id l;

	if (name.v < before && f->location_of.at[name.v] != 0)
		return (location_id){ f->location_of.at[name.v] - 1 };
	l = new_location(f, t, name);
	if (name.v == 0 && t->len > 0) /* there was no room for it: builder_end() will say so */
		return l;
	if (name.v >= before) {
		vec_reserve(&f->location_of, (size_t)name.v + 1);
		memset(f->location_of.at + before, 0,
		       (name.v + 1 - before) * sizeof(*f->location_of.at));
		f->location_of.n = (size_t)name.v + 1;
	}
	f->location_of.at[name.v] = l.v + 1;
	return l;
}

/* Bytes that two texts have in common from the left. */
static size_t common_bytes(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t n = n_a < n_b ? n_a : n_b, i = 0;

	for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
		uint64_t x, y;

		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		if (x != y)
			break;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* Drops the frames of the previous line that this one does not begin with. */
static void keep_common(struct folded_stacks *f, const char *s, size_t n)
{
	size_t same = f->last.n ? common_bytes(f->last_at, f->last_n, s, n) : 0;

	while (f->last.n > 0) {
		size_t end = f->last.at[f->last.n - 1].end;

		if (end < same || (end == same && (same == n || s[same] == ';')))
			break;
		f->last.n--;
	}
	f->last_at = s;
	f->last_n = n;
}

static struct folded_child *child_place(struct folded_stacks *f, stack_id parent, location_id l)
{
	return &f->child[hash_pair(parent.v, l.v) % FOLDED_CACHE];
}

static struct folded_stack gather(struct folded_stacks *f, const struct folded_frame *found)
{
	uint32_t number = (uint32_t)f->frames.n + 1;
	struct folded_frame frame = *found;
	struct folded_level *level;

	if (frame.parent.gathered)
		frame.level = f->frames.at[frame.parent.gathered - 1].level + 1;
	if (frame.level == f->levels.n)
		vec_push(&f->levels, (struct folded_level){ 0 });
	level = &f->levels.at[frame.level];
	if (level->first == 0)
		level->first = number;
	else
		f->frames.at[level->last - 1].next = number;
	level->last = number;
	vec_push(&f->frames, frame);
	return (struct folded_stack){ .gathered = number };
}

/* The child of parent: known, or gathered to be looked up. */
static struct folded_stack find_child(struct folded_stacks *f, struct folded_stack parent,
				      const char *s, size_t n)
{
	struct folded_frame frame = { .text = { s, n, hash_bytes(s, n) }, .parent = parent };
	const struct folded_name *name = &f->name[frame.text.hash % FOLDED_CACHE];
	const struct folded_child *child;

	if (name->s && name->len == n && memcmp(name->s, s, n) == 0) {
		frame.location = name->location;
		frame.named = true;
	}
	if (frame.named && !parent.gathered) {
		child = child_place(f, parent.known, frame.location);
		if (child->stack.v != 0 && child->parent.v == parent.known.v &&
		    child->location.v == frame.location.v)
			return (struct folded_stack){ .known = child->stack };
	}
	return gather(f, &frame);
}

bool folded_stacks_add(struct folded_stacks *f, const char *s, size_t n, struct folded_stack *out)
{
	struct folded_last last = { 0 };
	size_t from = 0;

	keep_common(f, s, n);
	if (f->last.n > 0) {
		last = f->last.at[f->last.n - 1];
		from = last.end + 1;
	}
	while (f->last.n == 0 || last.end < n) {
		const char *mark = from < n ? memchr(s + from, ';', n - from) : NULL;

		if (f->last.n == MOST_FRAMES)
			return false;
		last.end = mark ? (size_t)(mark - s) : n;
		last.stack = find_child(f, last.stack, s + from, last.end - from);
		vec_push(&f->last, last);
		from = last.end + 1;
	}
	*out = last.stack;
	return true;
}

/* n > 0. */
static void name_frames(struct folded_stacks *f, struct folded_frame *const *frame, uint32_t n)
{
	struct build_text text[BUILD_BATCH];
	string_id name[BUILD_BATCH];
	uint32_t i = 0;

	do
		text[i] = frame[i]->text;
	while (++i < n);
	build_strings(f->p, text, n, name);
	for (i = 0; i < n; i++) {
		frame[i]->location = location_of(f, &text[i], name[i]);
		if (name[i].v == 0)
			continue;
		f->name[text[i].hash % FOLDED_CACHE] = (struct folded_name){
			.s = profile_string(f->p, name[i], NULL),
			.len = (uint32_t)text[i].len,
			.location = frame[i]->location,
		};
	}
}

static void find_locations(struct folded_stacks *f)
{
	struct folded_frame *frame[BUILD_BATCH];
	uint32_t n = 0;

	for (size_t i = 0; i < f->frames.n; i++) {
		if (f->frames.at[i].named)
			continue;
		frame[n++] = &f->frames.at[i];
		if (n == BUILD_BATCH) {
			name_frames(f, frame, n);
			n = 0;
		}
	}
	if (n > 0)
		name_frames(f, frame, n);
}

/* Settles frames of a level from number on, BUILD_BATCH at most; returns the next one, or 0. */
static uint32_t settle_some(struct folded_stacks *f, uint32_t number)
{
	struct folded_frame *frame[BUILD_BATCH];
	location_id location[BUILD_BATCH];
	stack_id parent[BUILD_BATCH], stack[BUILD_BATCH];
	uint32_t n = 0;

	do {
		frame[n] = &f->frames.at[number - 1];
		location[n] = frame[n]->location;
		parent[n] = folded_stacks_of(f, frame[n]->parent);
		number = frame[n++]->next;
	} while (number != 0 && n < BUILD_BATCH);
	build_stacks(f->p, parent, location, n, stack);
	for (uint32_t i = 0; i < n; i++) {
		frame[i]->stack = stack[i];
		*child_place(f, parent[i], location[i]) =
			(struct folded_child){ parent[i], location[i], stack[i] };
	}
	return number;
}

void folded_stacks_settle(struct folded_stacks *f)
{
	find_locations(f);
	for (size_t i = 0; i < f->levels.n; i++)
		for (uint32_t number = f->levels.at[i].first; number != 0;)
			number = settle_some(f, number);
	/* what was gathered of the previous line are its innermost frames */
	for (size_t i = f->last.n; i > 0 && f->last.at[i - 1].stack.gathered; i--) {
		struct folded_stack *s = &f->last.at[i - 1].stack;

		*s = (struct folded_stack){ .known = folded_stacks_of(f, *s) };
	}
}

void folded_stacks_clear(struct folded_stacks *f)
{
	vec_clear(&f->frames);
	vec_clear(&f->levels);
}

void folded_stacks_shorten(struct folded_stacks *f)
{
	uint32_t *to, n;

	if (!build_shorten(f->p, &to, &n))
		return;
	memset(f->child, 0, sizeof(f->child));
	folded_stacks_clear(f);
	vec_clear(&f->last);
	f->last_n = 0;
	free(to);
}

void folded_stacks_keep(struct folded_stacks *f)
{
	if (f->last_at != f->kept.at && f->last_n > 0) {
		vec_reserve(&f->kept, f->last_n);
		memcpy(f->kept.at, f->last_at, f->last_n);
	}
	f->last_at = f->kept.at;
}

void folded_stacks_init(struct folded_stacks *f, struct profile *p)
{
	memset(f, 0, sizeof(*f));
	f->p = p;
}

void folded_stacks_done(struct folded_stacks *f)
{
	vec_done(&f->location_of);
	vec_done(&f->frames);
	vec_done(&f->levels);
	vec_done(&f->last);
	vec_done(&f->kept);
}
