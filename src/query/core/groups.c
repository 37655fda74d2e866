/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys are made from strings' ids, as equal strings have equal ids in a profile: the group of a
 * function is a pair of numbers.
 */
#include "config.h"

#include "query/core/groups.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "profile/sample_rows.h"
#include "query/core/captures.h"
#include "query/core/frame_ids.h"
#include "query/core/name_rules.h"
#include "query/core/order.h"
#include "query/core/source_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What kind of thing a group is of, so that a thread and a function of one name are two. */
enum group_kind {
	GROUP_OF_CODE,
	GROUP_OF_COMM,
	GROUP_OF_MARK,
	GROUP_OF_ROWS,
	GROUP_OF_LINES,
	GROUP_OF_NUMBERED /* of struct name_rules' apart: a is the function */
};

/* Are what has no line of its own functions? */
static bool are_functions(const struct groups *k)
{
	return k->grouping == GROUP_FUNCTION || k->grouping == GROUP_LINE;
}

/* Things with equal groups have one key. */
struct group {
	enum group_kind kind;
	uint32_t a; /* string id of the name, module, file; or what tells rows apart */
	uint32_t b; /* string id of the module's name; or what else does */
};

/* Keys being made. */
struct maker {
	struct groups *k;
	const struct profile *p;
	VEC(struct key) keys;
	VEC(struct group) groups;       /* of each key */
	struct map by_group;            /* key numbers */
	const struct name_rules *names; /* or NULL */
	bool compares;                  /* see groups_init_compared() */
	struct source_names sources;    /* of GROUP_FILE and _LINE */
	string_id *file_of;             /* [n_functions] of GROUP_FILE; owned */
	VEC(const char *) texts;        /* with rules: what names count as; the keys' own */
	struct map by_text;             /* numbers of texts */
	bool *several;  /* [n_modules] may what is called as this module be several builds? Owned */
	uint32_t *host; /* [n_captures] string_id of each, while keys of hosts are made */
	uint32_t *file; /* [n_captures] likewise, while keys of captures are made */
};

static bool same_group(const void *things, uint32_t value, const void *key)
{
	const struct maker *m = things;
	const struct group *a = &m->groups.at[value], *b = key;

	return a->a == b->a && a->b == b->b && a->kind == b->kind;
}

/* The key of a group; what describes it is the first member's. */
static uint32_t put_key(struct maker *m, struct group g, struct key described)
{
	uint64_t hash = hash_u64(hash_pair(g.a, g.b) + g.kind);
	uint32_t n = map_find(&m->by_group, hash, same_group, m, &g);

	if (n != MAP_NONE)
		return n;
	n = (uint32_t)m->keys.n;
	vec_push(&m->keys, described);
	vec_push(&m->groups, g);
	map_add(&m->by_group, hash, n);
	return n;
}

static const char *text(const struct maker *m, string_id s)
{
	return profile_string(m->p, s, NULL);
}

static const char *made_label(struct maker *m, char *label)
{
	const char *kept = arena_strndup(&m->k->made, label, strlen(label));

	free(label);
	return kept;
}

static bool same_text(const void *things, uint32_t value, const void *key)
{
	return strcmp(((const struct maker *)things)->texts.at[value], key) == 0;
}

/* name_rules_apply() and its like. */
typedef char *apply_fn(const struct name_rules *r, const char *name);

/* The number of a text among such; *text becomes one that stays. */
static uint32_t number_text(struct maker *m, const char **text)
{
	uint64_t hash = hash_bytes(*text, strlen(*text));
	uint32_t n = map_find(&m->by_text, hash, same_text, m, *text);

	if (n == MAP_NONE) {
		n = (uint32_t)m->texts.n;
		vec_push(&m->texts, arena_strndup(&m->k->made, *text, strlen(*text)));
		map_add(&m->by_text, hash, n);
	}
	*text = m->texts.at[n];
	return n;
}

/* With rules, what a name counts as: its number among such, and the text of it. */
static uint32_t ruled(struct maker *m, apply_fn *apply, const char **name)
{
	char *text = apply(m->names, *name);
	uint32_t n;

	*name = text;
	n = number_text(m, name);
	free(text);
	return n;
}

/* Where a function begins is all there is to the name of one without a symbol. */
static char *apply_strictly(const struct name_rules *r, const char *name)
{
	struct name_rules strict = *r;

	strict.loose = false;
	return name_rules_apply(&strict, name);
}

/* Where rows are modules; with the row's label. */
static struct group group_of_module(struct maker *m, const struct module *module,
				    const char **label)
{
	struct group g = { GROUP_OF_CODE, module->name.v, 0 };

	*label = module->name.v ? text(m, module->name) : "[no module]";
	if (m->names)
		g.a = ruled(m, name_rules_apply_module, label);
	return g;
}

/*
 * Where functions of a module begin tells them apart in one build of it alone: under GROUP_FUNCTION, what has no symbol is
 * of the module's one row where rows may be of several builds.
 */
static bool is_of_one_row(const struct maker *m, const struct function *f)
{
	return are_functions(m->k) && f->flags & FUNCTION_BEGIN && m->several[f->module.v];
}

static uint32_t key_of_function(struct maker *m, uint32_t id)
{
	const struct function *f = profile_function(m->p, (function_id){ id });
	const struct module *module = profile_module(m->p, f->module);
	struct group g = { GROUP_OF_CODE, f->name.v, module->name.v };
	struct key key = {
		.label = text(m, f->name),
		.module = text(m, module->name),
		.id = id,
		.flags = f->flags,
		.family = module->family,
	};

	if (f->flags & FUNCTION_COMM) {
		g.kind = GROUP_OF_COMM;
		g.a = m->names ? ruled(m, name_rules_apply_thread, &key.label) : g.a;
	} else if (f->flags & FUNCTION_MARK && !are_functions(m->k)) {
		g.kind = GROUP_OF_MARK;
	} else if (m->k->grouping == GROUP_MODULE) {
		g = group_of_module(m, module, &key.label);
		key.module = "";
		key.flags = 0;
	} else if (m->k->grouping == GROUP_FILE) {
		string_id file = m->file_of[id];

		key.label = "[no file]";
		if (file.v)
			file = source_names_file(&m->sources, file, &key.label);
		g = (struct group){ GROUP_OF_CODE, file.v, 0 };
		key.flags = 0;
	} else if (m->names && name_rules_now(m->names, id)) {
		key.label = name_rules_now(m->names, id);
		g.a = number_text(m, &key.label);
		g.b = ruled(m, name_rules_apply_module, &key.module);
	} else if (m->names && !(f->flags & FUNCTION_MARK)) {
		g.a = ruled(m, f->flags & FUNCTION_BEGIN ? apply_strictly : name_rules_apply,
			    &key.label);
		g.b = ruled(m, name_rules_apply_module, &key.module);
	}
	if (m->names && m->names->apart && g.kind == GROUP_OF_CODE &&
	    name_rules_numbered(key.label))
		g = (struct group){ GROUP_OF_NUMBERED, id, 0 };
	return put_key(m, g, key);
}

static uint32_t key_of_module(struct maker *m, uint32_t id)
{
	const struct module *module = profile_module(m->p, (module_id){ id });
	struct group g = { GROUP_OF_CODE, 0, 0 };
	struct key key = {
		.module = "",
		.id = KEY_OF_MODULE | id,
		.family = module->family,
	};

	if (m->k->grouping == GROUP_MODULE) {
		g = group_of_module(m, module, &key.label);
	} else {
		key.label = "[no file]";
	}
	return put_key(m, g, key);
}

/* A made-up label of a module and the key that has it. */
struct made_key {
	const char *label;  /* "[libc.so.6]" */
	const char *module; /* "libc.so.6" */
};

static bool same_made(const void *things, uint32_t value, const void *key)
{
	const struct maker *m = things;
	const struct key *a = &m->keys.at[value];
	const struct made_key *b = key;

	return strcmp(a->label, b->label) == 0 && strcmp(a->module, b->module) == 0;
}

static uint64_t hash_made(const char *label, const char *module)
{
	return hash_u64(hash_bytes(label, strlen(label)) + hash_bytes(module, strlen(module)));
}

/* The made-up label of a module that is taken for another: "[app-1.3]". Takes the label; the caller frees the new one. */
static char *relabel(struct maker *m, char *label, struct made_key *k)
{
	const char *was = k->module;

	ruled(m, name_rules_apply_module, &k->module);
	if (strcmp(was, k->module) != 0) {
		free(label);
		label = xasprintf("[%s]", k->module);
	}
	k->label = label;
	return label;
}

/*
 * Unnamed frames of a module are as those of a function with their made-up name, so that a row stays
 * one row while names are found out.
 */
static void keys_of_unnamed(struct maker *m)
{
	struct map made = { 0 };
	struct groups *k = m->k;

	for (uint32_t i = 0; i < m->keys.n; i++)
		if (m->keys.at[i].flags & FUNCTION_UNRESOLVED)
			map_add(&made, hash_made(m->keys.at[i].label, m->keys.at[i].module), i);
	for (uint32_t i = 0; i < k->n_modules; i++) {
		const struct module *module = profile_module(m->p, (module_id){ i });
		char *label = frame_id_made_label(m->p, (module_id){ i });
		struct made_key seek = { label, text(m, module->name) };
		uint64_t hash;
		uint32_t n;

		if (m->names && m->names->paired.n)
			label = relabel(m, label, &seek);
		hash = hash_made(seek.label, seek.module);
		n = map_find(&made, hash, same_made, m, &seek);

		k->of_module[i] = n;
		if (n != MAP_NONE) {
			free(label);
			continue;
		}
		k->of_module[i] = (uint32_t)m->keys.n;
		vec_push(&m->keys, ((struct key){ .label = made_label(m, label),
						  .module = seek.module,
						  .id = KEY_OF_MODULE | i,
						  .flags = FUNCTION_UNRESOLVED,
						  .family = module->family }));
		map_add(&made, hash, k->of_module[i]);
	}
	map_done(&made);
}

/* A name of modules. */
struct build {
	uint32_t name;               /* as a group of modules has it */
	const struct module *module; /* the first of that name */
	bool several;                /* others are of other builds, or may be */
};

struct builds {
	VEC(struct build) all;
	struct map by_name; /* → all */
};

static bool same_build_name(const void *things, uint32_t value, const void *name)
{
	return ((const struct builds *)things)->all.at[value].name == *(const uint32_t *)name;
}

/* May two modules be of different builds, or are their names, of which those of functions are made? */
static bool builds_differ(const struct module *a, const struct module *b)
{
	return a->build_id.v != b->build_id.v || a->name.v != b->name.v ||
	       (a->build_id.v == 0 && a->path.v != b->path.v);
}

/* Takes note of a module's build. What no recording of several knows the build of may have changed between them. */
static uint32_t note_build(struct maker *m, struct builds *b, uint32_t id, bool compared)
{
	const struct module *module = profile_module(m->p, (module_id){ id });
	const char *label;
	uint32_t name = group_of_module(m, module, &label).a;
	uint32_t n = map_find(&b->by_name, hash_u64(name), same_build_name, b, &name);

	if (n == MAP_NONE) {
		n = (uint32_t)b->all.n;
		vec_push(&b->all,
			 ((struct build){ name, module, compared && module->build_id.v == 0 }));
		map_add(&b->by_name, hash_u64(name), n);
	} else if (builds_differ(b->all.at[n].module, module)) {
		b->all.at[n].several = true;
	}
	return n;
}

static void find_builds(struct maker *m, bool compared)
{
	uint32_t n = m->k->n_modules, *build = xmalloc(n * sizeof(*build));
	struct builds b = { 0 };

	m->several = xcalloc(n, sizeof(*m->several));
	for (uint32_t i = 0; i < n; i++)
		build[i] = note_build(m, &b, i, compared);
	for (uint32_t i = 0; i < n; i++)
		m->several[i] = b.all.at[build[i]].several;
	vec_done(&b.all);
	map_done(&b.by_name);
	free(build);
}

static uint32_t key_of_line(struct maker *m, const struct frame *f, uint32_t at, uint32_t module)
{
	const struct module *of = profile_module(m->p, (module_id){ module });
	struct key key = { .module = text(m, of->name),
			   .id = KEY_OF_LINE | at,
			   .family = of->family };
	struct group g = { GROUP_OF_LINES, 0, f->line };
	const char *file = "";
	uint64_t hash;
	uint32_t n;

	if (f->file)
		g.a = source_names_file(&m->sources, (string_id){ f->file }, &file).v;
	hash = hash_u64(hash_pair(g.a, g.b) + g.kind);
	n = map_find(&m->by_group, hash, same_group, m, &g);
	if (n != MAP_NONE)
		return n;
	key.label = made_label(m, xasprintf("%s:%u", file, (unsigned)f->line));
	return put_key(m, g, key);
}

/* [n] The runs of locations as they are now: others may become known meanwhile. The caller frees. */
static const struct frame **runs_now(const struct location_columns *l, uint32_t n)
{
	const struct frame **runs = xmalloc(((size_t)n + 1) * sizeof(*runs));

	for (uint32_t i = 0; i < n; i++)
		runs[i] = location_frames(l, i);
	return runs;
}

/*
 * By locations, which are in the order of the input: frames are in the order in which threads found them, and in another one in an
 * index and a pack. Lines of a header are in several modules: the first one is named.
 */
static void make_line_keys(struct maker *m, uint32_t n_locations)
{
	struct groups *k = m->k;
	const struct frame **runs;
	struct location_columns l;

	profile_locations(m->p, &l);
	runs = runs_now(&l, n_locations);
	for (uint32_t i = 0; i < n_locations; i++) {
		const struct frame *run = runs[i];
		uint32_t end = run ? (uint32_t)(run - l.frames) + run->n_more + 1 : 0;

		k->n_frames = end > k->n_frames ? end : k->n_frames;
		for (uint32_t n = 0; run && n <= run->n_more; n++)
			if (run[n].line > 0)
				source_names_add(&m->sources, (string_id){ run[n].file },
						 (module_id){ l.module[i] });
	}
	source_names_make(&m->sources, m->compares);
	k->of_frame = xmalloc(((size_t)k->n_frames + 1) * sizeof(*k->of_frame));
	for (uint32_t i = 0; i < k->n_frames; i++)
		k->of_frame[i] = KEY_NONE;
	for (uint32_t i = 0; i < n_locations; i++) {
		const struct frame *run = runs[i];
		uint32_t at = run ? (uint32_t)(run - l.frames) : 0;

		for (uint32_t end = run ? at + run->n_more : 0; run && at <= end; at++)
			if (l.frames[at].line > 0 && at < KEY_OF_LINE)
				k->of_frame[at] = key_of_line(m, &l.frames[at], at, l.module[i]);
	}
	free(runs);
}

/* The files of functions, before the first of these has a key. Their files may become known meanwhile: those as they are now. */
static void name_files(struct maker *m)
{
	m->file_of = xmalloc(m->k->n_functions * sizeof(*m->file_of));
	for (uint32_t i = 0; i < m->k->n_functions; i++) {
		const struct function *f = profile_function(m->p, (function_id){ i });

		m->file_of[i] = function_file(f);
		source_names_add(&m->sources, m->file_of[i], f->module);
	}
	source_names_make(&m->sources, m->compares);
}

static void make_frame_keys(struct maker *m, const struct profile_counts *counts)
{
	struct groups *k = m->k;

	k->of_function = xmalloc(k->n_functions * sizeof(*k->of_function));
	k->of_module = xmalloc(k->n_modules * sizeof(*k->of_module));
	if (k->grouping == GROUP_FILE)
		name_files(m);
	/* Modules first where they are groups: their ids do not change while functions are found. */
	for (uint32_t i = 0; i < k->n_modules && !are_functions(k); i++)
		k->of_module[i] = key_of_module(m, i);
	if (are_functions(k))
		find_builds(m, counts->n_captures > 1);
	for (uint32_t i = 0; i < k->n_functions; i++)
		if (!is_of_one_row(m, profile_function(m->p, (function_id){ i })))
			k->of_function[i] = key_of_function(m, i);
	if (k->grouping == GROUP_LINE)
		make_line_keys(m, counts->n_locations);
	/* The last: these keys are of no group. */
	if (are_functions(k))
		keys_of_unnamed(m);
	for (uint32_t i = 0; i < k->n_functions; i++) {
		const struct function *f = profile_function(m->p, (function_id){ i });

		if (is_of_one_row(m, f))
			k->of_function[i] = k->of_module[f->module.v];
	}
}

/* The name a thread had last: of a main thread what its process is called, else of the newest entry. */
static string_id last_name(const struct maker *m, const struct thread *t)
{
	const struct process *process = profile_process(m->p, t->process);
	string_id name = { 0 };

	if (t->tid >= 0 && t->tid == process->pid)
		name = process_name(process);
	return name.v ? name : t->name;
}

/* A thread is one row under its last name, a nameless one without a tid a row by itself. */
static uint32_t key_of_thread(struct maker *m, uint32_t id)
{
	const struct thread *t = profile_thread(m->p, (thread_id){ id });
	string_id name = last_name(m, t);
	struct group g = { GROUP_OF_ROWS, t->process.v, (uint32_t)t->tid };
	struct key key = { .label = text(m, name), .module = "", .id = id };
	uint32_t n;

	if (t->tid < 0)
		g = (struct group){ GROUP_OF_COMM, t->process.v, t->name.v };
	if (*key.label == '\0')
		key.label = "[no name]";
	n = put_key(m, g, key);
	if (name.v)
		m->keys.at[n].label = key.label;
	return n;
}

static uint32_t key_of_process(struct maker *m, uint32_t thread)
{
	process_id id = profile_thread(m->p, (thread_id){ thread })->process;
	string_id name = process_name(profile_process(m->p, id));
	struct key key = { .label = name.v ? text(m, name) : "[no name]",
			   .module = "",
			   .id = id.v };

	return put_key(m, (struct group){ GROUP_OF_ROWS, id.v, 0 }, key);
}

/* All threads, of whatever process, while they had the name; the key's id is the name's. */
static uint32_t key_of_comm(struct maker *m, uint32_t thread)
{
	string_id name = profile_thread(m->p, (thread_id){ thread })->name;
	struct key key = { .label = name.v ? text(m, name) : "[no name]",
			   .module = "",
			   .id = name.v };
	struct group g = { GROUP_OF_COMM, 0, name.v };

	/* 0 is of those without a name. */
	if (name.v && m->names)
		g.b = ruled(m, name_rules_apply_thread, &key.label) + 1;
	return put_key(m, g, key);
}

/* Of equal path, as groups of several captures may be; the key's id is the path's. */
static uint32_t key_of_cgroup(struct maker *m, uint32_t thread)
{
	uint32_t id = profile_thread(m->p, (thread_id){ thread })->cgroup;
	struct key key = { .label = "[unknown]", .module = "", .id = ID_NONE };
	string_id path;

	if (id == ID_NONE)
		return put_key(m, (struct group){ GROUP_OF_MARK, 0, 0 }, key);
	path = cgroup_path(profile_cgroup(m->p, (cgroup_id){ id }));
	key.label = path.v ? text(m, path) : "[no name]";
	key.id = path.v;
	return put_key(m, (struct group){ GROUP_OF_ROWS, path.v, 0 }, key);
}

static uint32_t key_of_labels(struct maker *m, uint32_t thread)
{
	string_id labels = profile_thread(m->p, (thread_id){ thread })->labels;
	struct key key = { .label = labels.v ? text(m, labels) : "[no label]",
			   .module = "",
			   .id = labels.v };

	return put_key(m, (struct group){ GROUP_OF_ROWS, labels.v, 0 }, key);
}

static uint32_t key_of_event(struct maker *m, uint32_t id)
{
	const struct event *e = profile_event(m->p, (event_id){ id });
	struct key key = { .label = text(m, e->name), .module = "", .id = id };

	return put_key(m, (struct group){ GROUP_OF_ROWS, id, 0 }, key);
}

static uint32_t key_of_cpu(struct maker *m, uint32_t id)
{
	struct key key = { .label = made_label(m, xasprintf("cpu %u", id)),
			   .module = "",
			   .id = id };

	return put_key(m, (struct group){ GROUP_OF_ROWS, id, 0 }, key);
}

static uint32_t n_cpus(const struct profile *p, const struct profile_counts *counts)
{
	struct sample_rows *rows = xmalloc(sizeof(*rows));
	struct sample_columns columns;
	uint32_t n = 0, n_rows;

	profile_samples_of(p, counts, &columns);
	for (uint64_t row = 0; columns.cpu; row += n_rows) {
		n_rows = sample_rows_next(rows, &columns, row, counts->n_samples, ROWS_CPU);
		if (n_rows == 0)
			break;
		for (uint32_t i = 0; i < n_rows; i++)
			if (rows->cpu[i] != CPU_NONE && rows->cpu[i] >= n)
				n = rows->cpu[i] + 1u;
	}
	free(rows);
	return n;
}

/* Of a comparison, files of both sides are one row when they are called alike, in whichever directories. */
static uint32_t key_of_capture(struct maker *m, uint32_t id)
{
	struct key key = { .label = "[unknown]", .module = "", .id = id };
	struct group g = { GROUP_OF_ROWS, id, 0 };

	if (m->file[id] == ID_NONE)
		return put_key(m, g, key);
	key.label = text(m, (string_id){ m->file[id] });
	if (m->compares) {
		key.label = path_last_part(key.label);
		g = (struct group){ GROUP_OF_COMM, number_text(m, &key.label), 0 };
	}
	return put_key(m, g, key);
}

static uint32_t key_of_host(struct maker *m, uint32_t id)
{
	string_id host = { m->host[id] };
	struct key key = { .label = "[unknown]", .module = "", .id = ID_NONE };

	if (host.v == 0)
		return put_key(m, (struct group){ GROUP_OF_MARK, 0, 0 }, key);
	key.label = text(m, host);
	key.id = id;
	return put_key(m, (struct group){ GROUP_OF_ROWS, host.v, 0 }, key);
}

static void make_row_keys(struct maker *m, uint32_t n,
			  uint32_t (*key_of)(struct maker *m, uint32_t id))
{
	struct groups *k = m->k;
	struct key unknown = { .label = "[unknown]", .module = "", .id = ID_NONE };

	k->n_ids = n + 1;
	k->of_id = xmalloc(k->n_ids * sizeof(*k->of_id));
	for (uint32_t i = 0; i < n; i++)
		k->of_id[i] = key_of(m, i);
	k->of_id[n] = put_key(m, (struct group){ GROUP_OF_MARK, 0, 0 }, unknown);
}

static void make_capture_keys(struct maker *m, const struct profile_counts *counts)
{
	struct groups *k = m->k;

	if (k->grouping == GROUP_HOST)
		m->host = captures_hosts(m->p, counts);
	else
		m->file = captures_files(m->p, counts);
	make_row_keys(m, counts->n_captures, m->host ? key_of_host : key_of_capture);
	free(m->host);
	free(m->file);
	k->n_threads = counts->n_threads;
	k->capture_of_thread = xcalloc((size_t)k->n_threads + 1, sizeof(*k->capture_of_thread));
	for (uint32_t i = 0; i < k->n_threads; i++) {
		process_id process = profile_thread(m->p, (thread_id){ i })->process;

		k->capture_of_thread[i] = profile_process(m->p, process)->capture.v;
	}
	k->first_sample = xcalloc((size_t)counts->n_captures + 1, sizeof(*k->first_sample));
	for (uint32_t i = 0; i < counts->n_captures; i++)
		k->first_sample[i] = profile_capture(m->p, (capture_id){ i })->first_sample;
}

uint32_t groups_of_sample_capture(const struct groups *k, uint32_t thread, uint64_t row)
{
	uint32_t low = 0, high = k->n_ids - 1;

	if (thread < k->n_threads)
		return groups_of_thread_capture(k, thread);
	/* The last capture that begins at the row or before. */
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (k->first_sample[mid] <= row)
			low = mid + 1;
		else
			high = mid;
	}
	return groups_of_row(k, low > 0 ? low - 1 : ID_NONE);
}

static void init(struct groups *k, const struct profile *p, const struct profile_counts *counts,
		 enum grouping grouping, const struct name_rules *names, bool compares)
{
	struct maker m = {
		.k = k, .p = p, .names = names, .compares = compares, .sources = { .p = p }
	};

	*k = (struct groups){ .grouping = grouping };
	arena_init(&k->made);
	switch (grouping) {
	case GROUP_FUNCTION:
	case GROUP_MODULE:
	case GROUP_FILE:
	case GROUP_LINE:
		k->n_functions = counts->n_functions;
		k->n_modules = counts->n_modules;
		make_frame_keys(&m, counts);
		break;
	case GROUP_THREAD:
		make_row_keys(&m, counts->n_threads, key_of_thread);
		break;
	case GROUP_PROCESS:
		make_row_keys(&m, counts->n_threads, key_of_process);
		break;
	case GROUP_COMM:
		make_row_keys(&m, counts->n_threads, key_of_comm);
		break;
	case GROUP_EVENT:
		make_row_keys(&m, counts->n_events, key_of_event);
		break;
	case GROUP_CGROUP:
		make_row_keys(&m, counts->n_threads, key_of_cgroup);
		break;
	case GROUP_LABELS:
		make_row_keys(&m, counts->n_threads, key_of_labels);
		break;
	case GROUP_CAPTURE:
	case GROUP_HOST:
		make_capture_keys(&m, counts);
		break;
	case GROUP_CPU:
		make_row_keys(&m, n_cpus(p, counts), key_of_cpu);
		break;
	}
	k->key = m.keys.at;
	k->n = (uint32_t)m.keys.n;
	order_rank(k);
	vec_done(&m.groups);
	vec_done(&m.texts);
	map_done(&m.by_group);
	map_done(&m.by_text);
	source_names_done(&m.sources);
	free(m.file_of);
	free(m.several);
}

void groups_init(struct groups *k, const struct profile *p, const struct profile_counts *counts,
		 enum grouping grouping)
{
	init(k, p, counts, grouping, NULL, false);
}

void groups_init_named(struct groups *k, const struct profile *p,
		       const struct profile_counts *counts, enum grouping grouping,
		       const struct name_rules *names)
{
	init(k, p, counts, grouping, names, false);
}

void groups_init_compared(struct groups *k, const struct profile *p,
			  const struct profile_counts *counts, enum grouping grouping,
			  const struct name_rules *names)
{
	init(k, p, counts, grouping, names, true);
}

void groups_done(struct groups *k)
{
	free(k->key);
	free(k->rank);
	free(k->of_function);
	free(k->of_module);
	free(k->of_frame);
	free(k->of_id);
	free(k->capture_of_thread);
	free(k->first_sample);
	arena_done(&k->made);
	*k = (struct groups){ 0 };
}

int32_t key_tid(const struct groups *k, const struct profile *p, uint32_t key)
{
	uint32_t id = k->key[key].id;

	return k->grouping == GROUP_THREAD && id != ID_NONE
		       ? profile_thread(p, (thread_id){ id })->tid
		       : -1;
}

int32_t key_pid(const struct groups *k, const struct profile *p, uint32_t key)
{
	process_id process = { k->key[key].id };

	if ((k->grouping != GROUP_THREAD && k->grouping != GROUP_PROCESS) || process.v == ID_NONE)
		return -1;
	if (k->grouping == GROUP_THREAD)
		process = profile_thread(p, (thread_id){ process.v })->process;
	return profile_process(p, process)->pid;
}

const char *key_detail(const struct groups *k, const struct profile *p, uint32_t key,
		       char out[FMT_SIZE])
{
	int32_t tid = key_tid(k, p, key), pid = key_pid(k, p, key);

	out[0] = '\0';
	if (tid >= 0)
		snprintf(out, FMT_SIZE, "tid %d", tid);
	else if (k->grouping == GROUP_PROCESS && pid >= 0)
		snprintf(out, FMT_SIZE, "pid %d", pid);
	return out;
}
