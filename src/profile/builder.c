/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pen, and what stacks are made of: strings, modules, functions, locations, the trie.
 *
 * Interning: a map from the hash of a key to the id, checked against the columns where the key is
 * kept. What does not fit any more becomes id 0, which always exists, and makes the profile sticky.
 */
#include "config.h"

#include "profile/builder.h"

#include "base/hash.h"
#include "base/mem.h"
#include "profile/compact.h"
#include "profile/store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void builder_begin(struct profile *p)
{
	pthread_mutex_lock(&p->pen);
}

int builder_end(struct profile *p)
{
	int sticky = p->sticky;
	struct store_rows folded;
	bool replaced = compact_rows(p, &folded);

	store_rows_pack(p);
	store_publish(p, replaced ? &folded : NULL, NULL, NULL);
	pthread_mutex_unlock(&p->pen);
	return sticky;
}

void build_watch(struct profile *p, const struct build_watch *w)
{
	vec_push(&p->watches, *w);
}

void build_watch_end(struct profile *p, const void *arg)
{
	for (size_t i = 0; i < p->watches.n; i++)
		if (p->watches.at[i].arg == arg)
			p->watches.at[i--] = p->watches.at[--p->watches.n];
}

void store_tell_stacks(const struct profile *p, const uint32_t *to, uint32_t n)
{
	for (size_t i = 0; i < p->watches.n; i++)
		if (p->watches.at[i].stacks)
			p->watches.at[i].stacks(p->watches.at[i].arg, to, n);
}

void store_tell_allocations(const struct profile *p, const uint32_t *to, uint32_t n)
{
	for (size_t i = 0; i < p->watches.n; i++)
		if (p->watches.at[i].allocations)
			p->watches.at[i].allocations(p->watches.at[i].arg, to, n);
}

/* Strings. */

struct string_key {
	const char *s;
	size_t len;
};

static bool same_string(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct string_key *k = key;
	const uint32_t *end = p->string_end.base;
	const char *text = p->text.base;

	return end[value + 1] - end[value] - 1 == k->len &&
	       memcmp(text + end[value], k->s, k->len) == 0;
}

/* Bytes of text, and strings, that only facts may take: what did not fit can still be said. */
#define FACTS_BYTES   ((uint64_t)64 << 10)
#define FACTS_STRINGS 1024u

/* spare: of these two, what is to stay free; 0 or 1 times as many. */
static string_id put_string(struct profile *p, const char *s, size_t len, uint64_t hash,
			    unsigned spare)
{
	uint64_t spare_bytes = spare * FACTS_BYTES, spare_strings = spare * FACTS_STRINGS;
	struct string_key key = { s, len };
	uint32_t n = p->now.n_strings, at, id;
	char *text;

	if (len == 0)
		return (string_id){ 0 };
	id = map_find(&p->strings_by_text, hash, same_string, p, &key);
	if (id != MAP_NONE)
		return (string_id){ id };
	at = STORE_AT(uint32_t, p->string_end, n);
	if (len >= STORE_MOST_TEXT ||
	    !store_room(p, &p->text, (uint64_t)at + len + 1 + spare_bytes) ||
	    !store_room(p, &p->string_end, (uint64_t)n + 2 + spare_strings) ||
	    !store_room(p, &p->string_function, (uint64_t)n + 1 + spare_strings)) {
		p->sticky = -EFBIG;
		return (string_id){ 0 };
	}
	text = (char *)p->text.base + at;
	memcpy(text, s, len);
	text[len] = '\0';
	STORE_AT(uint32_t, p->string_end, n + 1) = at + (uint32_t)len + 1;
	map_add(&p->strings_by_text, hash, n);
	p->now.n_strings++;
	return (string_id){ n };
}

string_id build_string(struct profile *p, const char *s, size_t len)
{
	return put_string(p, s, len, hash_bytes(s, len), 1);
}

string_id build_string_of_fact(struct profile *p, const char *s, size_t len)
{
	return put_string(p, s, len, hash_bytes(s, len), 0);
}

void build_strings(struct profile *p, const struct build_text *text, uint32_t n, string_id *out)
{
	uint32_t likely[BUILD_BATCH];

	assert(n <= BUILD_BATCH);
	for (uint32_t i = 0; i < n; i++)
		map_fetch(&p->strings_by_text, text[i].hash);
	for (uint32_t i = 0; i < n; i++) {
		likely[i] = map_likely(&p->strings_by_text, text[i].hash);
		if (likely[i] != MAP_NONE)
			__builtin_prefetch(&STORE_AT(uint32_t, p->string_end, likely[i]));
	}
	for (uint32_t i = 0; i < n; i++)
		if (likely[i] != MAP_NONE)
			__builtin_prefetch((char *)p->text.base +
					   STORE_AT(uint32_t, p->string_end, likely[i]));
	for (uint32_t i = 0; i < n; i++)
		out[i] = put_string(p, text[i].s, text[i].len, text[i].hash, 1);
}

string_id build_cstring(struct profile *p, const char *s)
{
	return build_string(p, s, strlen(s));
}

/* Modules. */

static bool same_module(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct module *m = &STORE_AT(struct module, p->modules, value), *k = key;

	return m->path.v == k->path.v && m->build_id.v == k->build_id.v;
}

/* A kernel module's file: ….ko, perhaps packed. *len becomes the length of what is before ".ko". */
static bool is_kernel_module(const char *name, size_t *len)
{
	const char *ko = strstr(name, ".ko");

	if (!ko || ko == name ||
	    (ko[3] != '\0' && strcmp(ko + 3, ".xz") != 0 && strcmp(ko + 3, ".zst") != 0 &&
	     strcmp(ko + 3, ".gz") != 0))
		return false;
	*len = (size_t)(ko - name);
	return true;
}

/* What screens show of a path: its last part; code of the kernel in brackets. */
static string_id module_name(struct profile *p, const char *path, enum family family)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), n_deleted = sizeof(deleted) - 1;
	const char *from = path;
	char bracketed[256];

	if (strcmp(path, "[kernel.kallsyms]") == 0 || strcmp(path, "[kernel.kallsyms]_text") == 0 ||
	    strcmp(path, "[kernel.kallsyms]_stext") == 0)
		return build_cstring(p, "[kernel]");
	if (n > n_deleted && strcmp(path + n - n_deleted, deleted) == 0)
		n -= n_deleted;
	if (path[0] != '[' && strncmp(path, "//", 2) != 0)
		for (size_t i = 0; i + 1 < n; i++)
			if (path[i] == '/')
				from = path + i + 1;
	n -= (size_t)(from - path);
	if (family == FAMILY_KERNEL && is_kernel_module(from, &n) && n < sizeof(bracketed) - 2) {
		snprintf(bracketed, sizeof(bracketed), "[%.*s]", (int)n, from);
		return build_cstring(p, bracketed);
	}
	return build_string(p, from, n);
}

module_id build_module(struct profile *p, const char *path, const char *build_id,
		       enum family family)
{
	struct module key = { .family = family };
	uint32_t n = p->now.n_modules, id;
	uint64_t hash;

	key.path = build_cstring(p, path);
	key.build_id = build_cstring(p, build_id);
	if (key.path.v == 0 && key.build_id.v == 0)
		return (module_id){ 0 };
	hash = hash_pair(key.path.v, key.build_id.v);
	id = map_find(&p->modules_by_path, hash, same_module, p, &key);
	if (id != MAP_NONE)
		return (module_id){ id };
	if (!store_room(p, &p->modules, (uint64_t)n + 1))
		return (module_id){ 0 };
	key.name = module_name(p, path, family);
	STORE_AT(struct module, p->modules, n) = key;
	map_add(&p->modules_by_path, hash, n);
	p->now.n_modules++;
	return (module_id){ n };
}

/*
 * Functions. Most names are one function's: it is noted with the name and needs no place in the map. Static functions of
 * several files may have one name in a module: the first has its place by name and module, the others by their file, too.
 */

static bool same_name(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct function *f = &STORE_AT(struct function, p->functions, value), *k = key;

	return f->name.v == k->name.v && f->module.v == k->module.v &&
	       ((f->flags ^ k->flags) & (FUNCTION_COMM | FUNCTION_AFTER)) == 0;
}

static bool same_function(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct function *k = key;

	return same_name(p, value, k) &&
	       STORE_AT(struct function, p->functions, value).file.v == k->file.v;
}

void build_apart(struct profile *p, bool (*numbered)(const char *name), bool after)
{
	p->numbered = numbered;
	p->after = numbered && after;
}

static uint64_t hash_name(const struct function *f)
{
	return hash_pair(f->name.v, f->module.v ^ (f->flags & (FUNCTION_COMM | FUNCTION_AFTER))
							  << 26);
}

static uint64_t hash_function(const struct function *f)
{
	return hash_u64(hash_name(f) + f->file.v);
}

/* The first function of that name in the module, or MAP_NONE. */
static uint32_t find_name(const struct profile *p, const struct function *key)
{
	uint32_t first = STORE_AT(uint32_t, p->string_function, key->name.v);

	if (first == 0 || same_name(p, first - 1, key))
		return first == 0 ? MAP_NONE : first - 1;
	return map_find(&p->functions_by_name, hash_name(key), same_name, p, key);
}

/* The function, or MAP_NONE; *first is find_name(). What is declared nowhere yet is the one that is asked for. */
static uint32_t find_function(const struct profile *p, const struct function *key, uint32_t *first)
{
	const struct function *f;

	*first = find_name(p, key);
	if (*first == MAP_NONE || key->file.v == 0)
		return *first;
	f = &STORE_AT(struct function, p->functions, *first);
	if (f->file.v == 0 || f->file.v == key->file.v)
		return *first;
	return map_find(&p->functions_by_name, hash_function(key), same_function, p, key);
}

/* What is numbered is known of a function that is there, and of another one its name says it. */
static bool is_numbered(const struct profile *p, uint32_t id, string_id name)
{
	if (id != MAP_NONE)
		return STORE_AT(struct function, p->functions, id).flags & FUNCTION_NUMBERED;
	return p->numbered && p->numbered(profile_string(p, name, NULL));
}

/* Says where a function is declared, if nobody has said so yet. */
static void declare(struct profile *p, uint32_t id, string_id file, uint32_t line)
{
	struct function *f = &STORE_AT(struct function, p->functions, id);

	if (f->file.v != 0 || file.v == 0)
		return;
	__atomic_store_n(&f->line, line, __ATOMIC_RELAXED);
	__atomic_store_n(&f->file.v, file.v, __ATOMIC_RELEASE);
	p->now.resolution++;
}

function_id build_function(struct profile *p, string_id name, module_id module, uint32_t flags,
			   string_id file, uint32_t line)
{
	struct function key = {
		.name = name, .module = module, .flags = flags, .file = file, .line = line
	};
	uint32_t n = p->now.n_functions, id, first, *of_string;

	assert(name.v < p->now.n_strings && module.v < p->now.n_modules);
	id = find_function(p, &key, &first);
	if ((id == MAP_NONE || p->after) && is_numbered(p, first, name)) {
		key.flags |= FUNCTION_NUMBERED | (p->after ? FUNCTION_AFTER : 0);
		id = p->after ? find_function(p, &key, &first) : id;
	}
	if (id != MAP_NONE) {
		declare(p, id, file, line);
		return (function_id){ id };
	}
	if (!store_room(p, &p->functions, (uint64_t)n + 1) ||
	    !store_room(p, &p->symbols, (uint64_t)n + 1))
		return (function_id){ 0 };
	STORE_AT(struct function, p->functions, n) = key;
	STORE_AT(uint32_t, p->symbols, n) = ID_NONE;
	of_string = &STORE_AT(uint32_t, p->string_function, name.v);
	if (*of_string == 0)
		*of_string = n + 1;
	else
		map_add(&p->functions_by_name,
			first == MAP_NONE ? hash_name(&key) : hash_function(&key), n);
	p->now.n_functions++;
	return (function_id){ n };
}

/* Locations. */

struct location_key {
	uint32_t module;
	uint64_t address;
};

static bool same_location(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct location_key *k = key;

	return STORE_AT(uint64_t, p->loc_address, value) == k->address &&
	       STORE_AT(uint32_t, p->loc_module, value) == k->module;
}

/* A new location, or ID_NONE when there is no room. */
static uint32_t add_location(struct profile *p, uint32_t module, uint64_t address,
			     uint32_t function)
{
	uint32_t n = p->now.n_locations;

	if (!store_room(p, &p->loc_module, (uint64_t)n + 1) ||
	    !store_room(p, &p->loc_address, (uint64_t)n + 1) ||
	    !store_room(p, &p->loc_function, (uint64_t)n + 1) ||
	    !store_room(p, &p->loc_inlines, (uint64_t)n + 1))
		return ID_NONE;
	/* elements are zero until written: what stays so takes no memory */
	if (module != 0)
		STORE_AT(uint32_t, p->loc_module, n) = module;
	if (address != 0)
		STORE_AT(uint64_t, p->loc_address, n) = address;
	STORE_AT(uint32_t, p->loc_function, n) = function;
	p->now.n_locations++;
	return n;
}

location_id build_location(struct profile *p, module_id module, uint64_t address)
{
	struct location_key key = { module.v, address };
	uint64_t hash = hash_u64(address ^ hash_u64(module.v));
	uint32_t id;

	assert(module.v < p->now.n_modules);
	id = map_find(&p->locations_by_address, hash, same_location, p, &key);
	if (id != MAP_NONE)
		return (location_id){ id };
	id = add_location(p, module.v, address, ID_NONE);
	if (id == ID_NONE)
		return (location_id){ 0 };
	map_add(&p->locations_by_address, hash, id);
	return (location_id){ id };
}

location_id build_symbol_location(struct profile *p, function_id f)
{
	uint32_t *symbol = &STORE_AT(uint32_t, p->symbols, f.v), id;

	assert(f.v < p->now.n_functions);
	if (*symbol != ID_NONE)
		return (location_id){ *symbol };
	id = add_location(p, STORE_AT(struct function, p->functions, f.v).module.v, 0, f.v);
	if (id == ID_NONE)
		return (location_id){ 0 };
	*symbol = id;
	return (location_id){ id };
}

location_id build_comm_location(struct profile *p, string_id comm)
{
	function_id f = build_function(p, comm, (module_id){ 0 }, FUNCTION_COMM, (string_id){ 0 },
				       0);

	return build_symbol_location(p, f);
}

location_id build_root_location(struct profile *p, string_id comm, int32_t pid, int32_t tid,
				enum root_names names)
{
	char pid_text[16] = "?", tid_text[16] = "?", *name;
	const char *text = profile_string(p, comm, NULL);
	location_id l;

	if (names == ROOT_COMM)
		return build_comm_location(p, comm);
	if (pid >= 0)
		snprintf(pid_text, sizeof(pid_text), "%d", pid);
	if (tid >= 0)
		snprintf(tid_text, sizeof(tid_text), "%d", tid);
	name = names == ROOT_PID ? xasprintf("%s-%s", text, pid_text)
				 : xasprintf("%s-%s/%s", text, pid_text, tid_text);
	l = build_comm_location(p, build_cstring(p, name));
	free(name);
	return l;
}

void build_location_function(struct profile *p, location_id l, function_id f)
{
	uint32_t *function = &STORE_AT(uint32_t, p->loc_function, l.v);

	assert(l.v < p->now.n_locations && f.v < p->now.n_functions);
	if (*function != ID_NONE)
		return;
	__atomic_store_n(function, f.v, __ATOMIC_RELEASE);
	p->now.resolution++;
}

function_id build_location_declared(struct profile *p, location_id l, string_id file, uint32_t line)
{
	uint32_t *function = &STORE_AT(uint32_t, p->loc_function, l.v);
	struct function f;
	function_id declared;

	assert(l.v < p->now.n_locations && *function < p->now.n_functions);
	f = STORE_AT(struct function, p->functions, *function);
	declared = build_function(p, f.name, f.module, f.flags & FUNCTION_KEPT, file, line);
	if (declared.v == *function || declared.v == 0)
		return (function_id){ *function };
	__atomic_store_n(function, declared.v, __ATOMIC_RELEASE);
	p->now.resolution++;
	return declared;
}

void build_location_inlines(struct profile *p, location_id l, const struct frame *frames,
			    uint32_t n)
{
	uint32_t *inlines = &STORE_AT(uint32_t, p->loc_inlines, l.v), first = p->n_frames;

	assert(l.v < p->now.n_locations && n > 0);
	if (*inlines != 0 || !store_room(p, &p->frames, (uint64_t)first + n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct frame *to = &STORE_AT(struct frame, p->frames, first + i);

		assert(frames[i].function < p->now.n_functions);
		*to = frames[i];
		to->n_more = n - 1 - i;
	}
	p->n_frames += n;
	build_location_function(p, l, (function_id){ frames[0].function });
	__atomic_store_n(inlines, first + 1, __ATOMIC_RELEASE);
	p->now.resolution++;
}

location_id build_frames_location(struct profile *p, const struct frame *frames, uint32_t n)
{
	module_id m = STORE_AT(struct function, p->functions, frames[0].function).module;
	uint32_t id = add_location(p, m.v, 0, ID_NONE);

	if (id == ID_NONE)
		return (location_id){ 0 };
	build_location_inlines(p, (location_id){ id }, frames, n);
	return (location_id){ id };
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line;
}

bool build_location_has_frames(const struct profile *p, location_id l, const struct frame *frames,
			       uint32_t n)
{
	uint32_t inlines = STORE_AT(uint32_t, p->loc_inlines, l.v);
	const struct frame *own;

	assert(l.v < p->now.n_locations && n > 0);
	if (inlines == 0)
		return false;
	own = &STORE_AT(struct frame, p->frames, inlines - 1);
	if (own->n_more != n - 1)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!same_frame(&own[i], &frames[i]))
			return false;
	return true;
}

struct frames_key {
	const struct frame *frames; /* [n] */
	uint32_t n;
};

static bool same_frames(const void *things, uint32_t value, const void *key)
{
	const struct frames_key *k = key;

	return build_location_has_frames(things, (location_id){ value }, k->frames, k->n);
}

location_id build_shared_frames_location(struct profile *p, const struct frame *frames, uint32_t n)
{
	struct frames_key key = { frames, n };
	uint64_t hash = n;
	location_id l;
	uint32_t id;

	for (uint32_t i = 0; i < n; i++)
		hash = hash_u64(hash + hash_pair(frames[i].function, frames[i].file) +
				hash_u64(frames[i].line));
	id = map_find(&p->locations_by_frames, hash, same_frames, p, &key);
	if (id != MAP_NONE)
		return (location_id){ id };
	l = build_frames_location(p, frames, n);
	/* Location 0 stands in where there was no room. */
	if (build_location_has_frames(p, l, frames, n))
		map_add(&p->locations_by_frames, hash, l.v);
	return l;
}

/*
 * Stacks.
 *
 * Most look-ups want the child that was wanted before: it is noted with its location beside its parent. Most nodes
 * of a trie have no other one: then it needs no place in the map either.
 */

struct stack_key {
	uint32_t parent;   /* stack_id */
	uint32_t location; /* location_id */
};

static bool same_stack(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct stack_key *k = key;

	return STORE_AT(uint32_t, p->trie.parent, value) == k->parent &&
	       STORE_AT(uint32_t, p->trie.location, value) == k->location;
}

/* A new node, or the root when there is no room. */
static uint32_t add_stack(struct profile *p, struct stack_key key)
{
	uint32_t n = p->now.n_stacks;

	if (!store_room(p, &p->trie.parent, (uint64_t)n + 1) ||
	    !store_room(p, &p->trie.location, (uint64_t)n + 1) ||
	    !store_room(p, &p->trie.child, (uint64_t)n + 1))
		return 0;
	STORE_AT(uint32_t, p->trie.parent, n) = key.parent;
	STORE_AT(uint32_t, p->trie.location, n) = key.location;
	/* Written before it is read, or the kernel would make its page twice. */
	STORE_AT(struct store_child, p->trie.child, n) = (struct store_child){ 0 };
	p->now.n_stacks++;
	return n;
}

/* Another child of a stack; the root when there is no room. */
static uint32_t add_sibling(struct profile *p, struct stack_key key, uint64_t hash,
			    struct store_child noted)
{
	struct stack_index *x = &p->trie.by_parent;
	uint32_t id;

	/* before anything is changed, as a table grows by what the trie says */
	stack_index_reserve(x, &p->trie, p->now.n_stacks, 2);
	id = add_stack(p, key);
	if (id == 0)
		return 0;
	if (!noted.mapped)
		stack_index_add(x, hash_pair(key.parent, noted.location), noted.stack);
	stack_index_add(x, hash, id);
	return id;
}

static stack_id build_hashed_stack(struct profile *p, stack_id parent, location_id l, uint64_t hash)
{
	struct store_child *child = &STORE_AT(struct store_child, p->trie.child, parent.v);
	struct stack_key key = { parent.v, l.v };
	bool alone = child->stack == 0;
	uint32_t id = MAP_NONE;

	assert(parent.v < p->now.n_stacks && l.v < p->now.n_locations && p->trie.child.base);
	if (child->location == l.v && !alone)
		return (stack_id){ child->stack };
	if (alone)
		id = add_stack(p, key);
	else if (child->mapped)
		id = stack_index_find(&p->trie.by_parent, &p->trie, hash, parent.v, l.v);
	if (id == MAP_NONE)
		id = add_sibling(p, key, hash, *child);
	if (id != 0)
		*child = (struct store_child){ id, l.v & INT32_MAX, !alone };
	return (stack_id){ id };
}

/*
 * Frames of a stack were made one after the other when it came first, so that the node behind the last one is tried before
 * the map is.
 */
stack_id build_stack(struct profile *p, stack_id parent, location_id l)
{
	struct stack_key key = { parent.v, l.v };
	uint32_t next = p->trie.last + 1;

	if (next >= p->now.n_stacks || !same_stack(p, next, &key))
		next = build_hashed_stack(p, parent, l, hash_pair(parent.v, l.v)).v;
	p->trie.last = next;
	return (stack_id){ next };
}

void build_stack_fetch(const struct profile *p, stack_id parent, location_id l)
{
	if (parent.v >= p->now.n_stacks)
		return;
	__builtin_prefetch(&STORE_AT(struct store_child, p->trie.child, parent.v), 1);
	stack_index_fetch(&p->trie.by_parent, hash_pair(parent.v, l.v));
}

void build_stacks(struct profile *p, const stack_id *parent, const location_id *l, uint32_t n,
		  stack_id *out)
{
	uint64_t hash[BUILD_BATCH];

	assert(n <= BUILD_BATCH);
	for (uint32_t i = 0; i < n; i++) {
		hash[i] = hash_pair(parent[i].v, l[i].v);
		stack_index_fetch(&p->trie.by_parent, hash[i]);
		__builtin_prefetch(&STORE_AT(struct store_child, p->trie.child, parent[i].v));
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t likely = stack_index_likely(&p->trie.by_parent, hash[i]);

		if (likely != MAP_NONE) {
			__builtin_prefetch(&STORE_AT(uint32_t, p->trie.parent, likely));
			__builtin_prefetch(&STORE_AT(uint32_t, p->trie.location, likely));
			__builtin_prefetch(&STORE_AT(struct store_child, p->trie.child, likely));
		}
	}
	for (uint32_t i = 0; i < n; i++)
		out[i] = build_hashed_stack(p, parent[i], l[i], hash[i]);
}

/* Chains: more of them than that are looked up frame by frame. */
#define MOST_CHAINS ((size_t)1 << 20)

static bool same_chain(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct hash128 *own = &p->trie.chains.at[value].hash, *k = key;

	return own->low == k->low && own->high == k->high;
}

stack_id build_find_chain(struct profile *p, struct hash128 hash)
{
	uint32_t i = map_find(&p->trie.by_chain, hash.high, same_chain, p, &hash);

	return (stack_id){ i == MAP_NONE ? 0 : p->trie.chains.at[i].stack };
}

void build_fetch_chain(const struct profile *p, struct hash128 hash)
{
	map_fetch(&p->trie.by_chain, hash.high);
}

void build_note_chain(struct profile *p, struct hash128 hash, stack_id stack)
{
	struct store_chain chain = { hash, stack.v };

	if (stack.v == 0 || p->trie.chains.n == MOST_CHAINS)
		return;
	map_add(&p->trie.by_chain, hash.high, (uint32_t)p->trie.chains.n);
	vec_push(&p->trie.chains, chain);
}

void build_stacks_end(struct profile *p)
{
	store_trie_close(&p->trie);
}

/*
 * Climbs for as long as the children that are noted are the right ones, or there are none yet. False at the end
 * of the chain; else its next frame is to be looked up.
 */
static bool climb(struct profile *p, struct build_chain *c)
{
	const struct store_child *children = p->trie.child.base;
	uint32_t stack = c->stack.v, i = 0;

	if (c->n == 0)
		return false; /* its locations may be nowhere */
	for (; i < c->n; i++) {
		const struct store_child *child = &children[stack];

		if (child->stack == 0)
			stack = build_stack(p, (stack_id){ stack }, (location_id){ c->location[i] })
					.v;
		else if (child->location == c->location[i])
			stack = child->stack;
		else
			break;
	}
	c->stack.v = stack;
	c->location += i;
	c->n -= i;
	return c->n > 0;
}

void build_chains(struct profile *p, struct build_chain *chain, uint32_t n)
{
	struct build_chain *waiting[BUILD_BATCH];
	stack_id stack[BUILD_BATCH];
	location_id l[BUILD_BATCH];
	uint32_t n_waiting = 0;

	assert(n <= BUILD_BATCH);
	for (uint32_t i = 0; i < n; i++)
		if (climb(p, &chain[i]))
			waiting[n_waiting++] = &chain[i];
	for (; n_waiting > 0; n_waiting = n) {
		for (uint32_t i = 0; i < n_waiting; i++) {
			stack[i] = waiting[i]->stack;
			l[i].v = *waiting[i]->location++;
			waiting[i]->n--;
		}
		build_stacks(p, stack, l, n_waiting, stack);
		n = 0;
		for (uint32_t i = 0; i < n_waiting; i++) {
			waiting[i]->stack = stack[i];
			if (climb(p, waiting[i]))
				waiting[n++] = waiting[i];
		}
	}
}
