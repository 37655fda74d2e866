/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Enter on rows of tables: the filter terms that say what the row is. */
#include "config.h"

#include "tui/views/row_effects.h"

#include <stdlib.h>

#include "base/mem.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/diff/activity_pairs.h"
#include "tui/rows/row.h"

/* kind:"^name$", quoted as needed; the caller frees. */
static char *exactly(const char *kind, const char *name)
{
	char *regex = filter_exact(name), *value = filter_quote(regex);
	char *term = xasprintf("%s:%s", kind, value);

	free(regex);
	free(value);
	return term;
}

static const char *string_of(const struct scene *s, string_id id)
{
	return profile_string(s->analysis->profile, id, NULL);
}

static char *term_of_process(const struct scene *s, process_id id)
{
	const struct process *p = profile_process(s->analysis->profile, id);

	if (p->pid >= 0)
		return xasprintf("pid:%d", (int)p->pid);
	return exactly("process", string_of(s, process_name(p)));
}

static char *term_of_thread(const struct scene *s, thread_id id)
{
	const struct thread *t = profile_thread(s->analysis->profile, id);

	if (t->tid >= 0)
		return xasprintf("tid:%d", (int)t->tid);
	return exactly("thread", string_of(s, t->name));
}

/* The source file of a key of files: of its first function. */
static const char *file_of(const struct scene *s, const struct key *k)
{
	if (k->id >= s->analysis->counts.n_functions)
		return "";
	return string_of(
		s, function_file(profile_function(s->analysis->profile, (function_id){ k->id })));
}

static const char *module_of(const struct scene *s, const struct key *k)
{
	const struct profile *p = s->analysis->profile;
	module_id m = { k->id & ~KEY_OF_MODULE };

	if (!(k->id & KEY_OF_MODULE))
		m = profile_function(p, (function_id){ k->id })->module;
	return string_of(s, profile_module(p, m)->name);
}

/* Did anything happen in the row itself, not only below it? */
static bool has_self(const struct scene *s, const struct groups *keys, const struct key *k)
{
	const struct table *t = &s->analysis->table;
	uint32_t key = (uint32_t)(k - keys->key);

	for (uint32_t i = 0; keys == s->analysis->table_keys && i < t->n_rows; i++)
		if (t->key[i] == key)
			return t->self[(size_t)i * t->n_columns] != 0;
	return true;
}

/* All captures of the key, by their place on the command line. */
static char *term_of_captures(const struct groups *keys, const struct key *k)
{
	char *term = NULL;

	for (uint32_t i = 0; i + 1 < keys->n_ids; i++) {
		char *longer;

		if (keys->of_id[i] != (uint32_t)(k - keys->key))
			continue;
		longer = term ? xasprintf("%s,%u", term, i + 1) : xasprintf("capture:%u", i + 1);
		free(term);
		term = longer;
	}
	return term;
}

/* The term that only the row's samples pass, or NULL. */
static char *term_of(const struct scene *s, const struct groups *keys, const struct key *k)
{
	if (k->id == ID_NONE)
		return NULL;
	switch (keys->grouping) {
	case GROUP_FUNCTION:
	case GROUP_LINE:
		break;
	case GROUP_MODULE:
		return exactly(has_self(s, keys, k) ? "in" : "module", module_of(s, k));
	case GROUP_FILE:
		return exactly("file", file_of(s, k));
	case GROUP_THREAD:
		return term_of_thread(s, (thread_id){ k->id });
	case GROUP_PROCESS:
		return term_of_process(s, (process_id){ k->id });
	case GROUP_COMM:
		return exactly("comm", string_of(s, (string_id){ k->id }));
	case GROUP_EVENT:
		return exactly("event", k->label);
	case GROUP_CGROUP:
		return exactly("cgroup", k->label);
	case GROUP_LABELS:
		return k->id && k->id != ID_NONE ? exactly("label", k->label) : xstrdup("!label:.");
	case GROUP_CAPTURE:
		return term_of_captures(keys, k);
	case GROUP_HOST:
		return exactly("host", k->label);
	case GROUP_CPU:
		return xasprintf("cpu:%u", k->id);
	}
	return NULL;
}

static bool filter_for(char *term, enum grouping grouping, enum view_kind view, struct effect *out)
{
	if (!term)
		return false;
	out->kind = EFFECT_FILTER;
	out->grouping = grouping;
	out->view = view;
	out->text = term;
	return true;
}

bool row_effects_key(const struct scene *s, const struct groups *keys, uint32_t key,
		     struct effect *out)
{
	const struct key *k = &keys->key[key];

	if (keys->grouping == GROUP_LINE && key_is_line(k->id)) {
		out->kind = EFFECT_OPEN;
		out->view = VIEW_KIND_ANNOTATE;
		out->place = row_line_place(s, k->id);
		return true;
	}
	if (keys->grouping == GROUP_FUNCTION || keys->grouping == GROUP_LINE ||
	    k->flags & (FUNCTION_MARK | FUNCTION_COMM)) {
		out->kind = EFFECT_OPEN;
		out->view = VIEW_KIND_BUTTERFLY;
		out->place = (struct place){ .key_id = k->id };
		return true;
	}
	if (keys->grouping == GROUP_FILE && k->id != ID_NONE && *file_of(s, k) == '\0') {
		out->kind = EFFECT_MESSAGE;
		out->text = xstrdup(
			"no debug information says where these are from; info says what is missing");
		return true;
	}
	return filter_for(term_of(s, keys, k), GROUP_FUNCTION, VIEW_KIND_TOP, out);
}

bool row_effects_heap_row(const struct scene *s, uint32_t key, struct effect *out)
{
	const struct groups *rows = s->analysis->footprint->rows;
	bool opens;

	/* Sites are in a module that is seldom the innermost one. */
	if (rows->grouping == GROUP_MODULE)
		return filter_for(exactly("module", module_of(s, &rows->key[key])), GROUP_FUNCTION,
				  VIEW_KIND_MEMORY, out);
	opens = row_effects_key(s, rows, key, out);
	out->view = VIEW_KIND_MEMORY;
	return opens;
}

void row_effects_heap_rows(const struct scene *s, bool sizes, struct effect *out)
{
	out->kind = EFFECT_GROUP;
	out->grouping = s->analysis->lens.grouping;
	out->heap_rows = s->analysis->lens.heap_rows;
	heap_rows_next(&out->grouping, &out->heap_rows, sizes);
}

bool row_effects_thread(const struct scene *s, uint32_t thread, enum view_kind view,
			struct effect *out)
{
	return filter_for(term_of_thread(s, (thread_id){ thread }), s->analysis->lens.grouping,
			  view, out);
}

bool row_effects_process(const struct scene *s, uint32_t process, enum view_kind view,
			 struct effect *out)
{
	return filter_for(term_of_process(s, (process_id){ process }), s->analysis->lens.grouping,
			  view, out);
}

/* "thread:^(a|b)$": the term for all that is called so; the caller frees. */
static char *any_of(const char *what, const char *const *name, uint32_t n)
{
	char *regex = xstrdup(""), *value, *term;

	for (uint32_t i = 0; i < n; i++) {
		char *one = filter_exact(name[i]),
		     *longer = xasprintf("%s%s%s", regex, i ? "|" : "", one);

		free(one);
		free(regex);
		regex = longer;
	}
	value = filter_quote(regex);
	term = xasprintf("%s:%s", what, value);
	free(value);
	free(regex);
	return term;
}

bool row_effects_named_threads(const struct scene *s, char *const *name, uint32_t n,
			       enum view_kind view, struct effect *out)
{
	return filter_for(any_of("thread", (const char *const *)name, n),
			  s->analysis->lens.grouping, view, out);
}

bool row_effects_named_tasks(const struct scene *s, const struct task_names *processes,
			     const struct task_names *threads, enum view_kind view,
			     struct effect *out)
{
	char *term = any_of("process", processes->at, processes->n), *of, *both;

	if (threads) {
		of = any_of("thread", threads->at, threads->n);
		both = xasprintf("%s %s", term, of);
		free(of);
		free(term);
		term = both;
	}
	return filter_for(term, s->analysis->lens.grouping, view, out);
}

void row_effects_range(const struct time_axis *axis, struct effect *out)
{
	bool has_a = axis->a_ns != TIME_UNMARKED;
	char at[FMT_SIZE];

	if (time_axis_range(axis, &out->from_ns, &out->to_ns)) {
		out->kind = EFFECT_TIME;
		return;
	}
	time_axis_text(at, has_a ? axis->a_ns : axis->b_ns);
	out->kind = EFFECT_MESSAGE;
	out->text = xasprintf("the range %s at %s; %s it", has_a ? "begins" : "ends", at,
			      has_a ? "B ends" : "A begins");
}

/* term may be NULL. */
static void side_of(char *term, const char *otherwise, struct effect *out)
{
	out->kind = term ? EFFECT_SIDE : EFFECT_MESSAGE;
	out->text = term ? term : xstrdup(otherwise);
}

void row_effects_side_key(const struct scene *s, const struct groups *keys, uint32_t key,
			  struct effect *out)
{
	bool samples = keys != &s->analysis->keys;

	side_of(samples ? term_of(s, keys, &keys->key[key]) : NULL,
		"sides are threads, processes, commands, events, cpus, cgroups or labels: o shows them as rows",
		out);
}

void row_effects_side_task(const struct scene *s, uint32_t process, uint32_t thread,
			   struct effect *out)
{
	char *term = NULL;

	if (thread != ID_NONE)
		term = term_of_thread(s, (thread_id){ thread });
	else if (process != ID_NONE)
		term = term_of_process(s, (process_id){ process });
	side_of(term, "whose samples these are is not known", out);
}

void row_effects_side_range(const struct time_axis *axis, struct effect *out)
{
	int64_t from_ns, to_ns;

	side_of(time_axis_range(axis, &from_ns, &to_ns) ? time_axis_term(from_ns, to_ns) : NULL,
		"a side is a range of time: A and B mark its ends first", out);
}
