/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/report/report_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/options/query_options.h"
#include "cli/report/json_out.h"
#include "cli/report/report.h"
#include "notebook/notebook.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter_term.h"
#include "query/heap/footprint.h"
#include "query/heap/heap_table.h"

static const struct note *note_of_key(const struct notebook *notes, const struct groups *keys,
				      uint32_t key)
{
	bool of_comm;

	if (!notebook_has_notes(notes) || key == KEY_NONE)
		return NULL;
	of_comm = keys->key[key].flags & FUNCTION_COMM;
	return notebook_note(notes, grouping_name(of_comm ? GROUP_COMM : keys->grouping),
			     keys->key[key].label, keys->key[key].module);
}

/* Of the node that a row of the call tree is. */
static const struct note *note_of_node(const struct report *r, size_t row)
{
	const struct note *note;
	VEC(const char *) names = { 0 };
	uint32_t at = (uint32_t)row;
	char *path;

	for (; at != ROW_NONE && r->rows.at[at].key != KEY_NONE; at = r->rows.at[at].parent)
		vec_push(&names, r->keys->key[r->rows.at[at].key].label);
	mem_reverse(names.at, names.n, sizeof(*names.at));
	path = term_path(TERM_FOCUS_PATH, names.at, names.n);
	note = notebook_note(r->notes, NOTE_OF_NODE, path, NULL);
	free(path);
	vec_done(&names);
	return note;
}

static const struct note *note_of_row(const struct report *r, size_t i)
{
	const struct report_row *row = &r->rows.at[i];
	bool of_nodes = r->view == VIEW_KIND_TREE || r->view == VIEW_KIND_FLAME;
	const struct note *note = NULL;

	if (!notebook_has_notes(r->notes) || row->key == KEY_NONE)
		return NULL;
	if (of_nodes && r->notes->has_nodes)
		note = note_of_node(r, i);
	return note ? note : note_of_key(r->notes, report_keys(r, row), row->key);
}

/* Of the site at a line, else of the function that it is in. */
static const struct note *note_of_place(const struct report *r, const struct footprint *f,
					uint32_t of, uint32_t file, uint32_t line)
{
	const struct key *key;
	const char *path = profile_string(f->profile, (string_id){ file }, NULL);
	const struct note *note;
	char *clean, *name;

	if (!notebook_has_notes(r->notes) || of == KEY_NONE)
		return NULL;
	key = &f->rows->key[of];
	path = path_last_part(path);
	clean = text_clean(path, strlen(path), false);
	name = line ? xasprintf("%s %s:%u", key->label, clean, line) : xstrdup(key->label);
	note = notebook_note(r->notes, NOTE_OF_SITE, name, key->module);
	free(name);
	free(clean);
	return note ? note : note_of_key(r->notes, f->rows, of);
}

static const struct note *note_of_site(const struct report *r, const struct footprint_site *site)
{
	return note_of_place(r, r->analysis->footprint, site->key, site->file, site->line);
}

static const struct note *note_of_heap_row(const struct report *r, const struct heap_table_row *row)
{
	return note_of_place(r, r->heap->footprint, row->key, row->file, row->line);
}

const char *report_notes_function(const struct report *r, const char *name, const char *module)
{
	const struct note *note = notebook_note(r->notes, grouping_name(GROUP_FUNCTION), name,
						module);

	return note ? note->text : NULL;
}

static bool same_pointer(const void *things, uint32_t value, const void *key)
{
	return ((const struct note *const *)things)[value] == key;
}

/* Each once. */
struct told {
	VEC(const struct note *) notes;
	struct map index;
};

static void tell(struct told *t, const struct note *note, bool ascii, FILE *to)
{
	char *name, *text;
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)note);

	if (!note || map_find(&t->index, hash, same_pointer, t->notes.at, note) != MAP_NONE)
		return;
	map_add(&t->index, hash, (uint32_t)t->notes.n);
	vec_push(&t->notes, note);
	name = text_clean(note->name, strlen(note->name), ascii);
	text = text_clean(note->text, strlen(note->text), ascii);
	fprintf(to, "# note on %s: %s\n", name, text);
	free(text);
	free(name);
}

static void told_done(struct told *t)
{
	vec_done(&t->notes);
	map_done(&t->index);
}

static bool is_shown(const struct report *r, size_t i)
{
	return r->max_rows <= 0 || i < (uint64_t)r->max_rows;
}

void report_notes_text(const struct report *r, FILE *to)
{
	struct told t = { .index = { 0 } };
	const struct footprint *f = r->analysis->footprint;

	if (!notebook_has_notes(r->notes))
		return;
	if (r->view == VIEW_KIND_MEMORY && f)
		for (uint32_t i = 0; i < f->n_sites && is_shown(r, i); i++)
			tell(&t, note_of_site(r, &f->site[i]), r->ascii, to);
	else if (r->heap)
		for (size_t i = 0; i < r->heap->rows.n && is_shown(r, i); i++)
			tell(&t, note_of_heap_row(r, &r->heap->rows.at[i]), r->ascii, to);
	else
		for (size_t i = 0; i < r->rows.n; i++)
			tell(&t, note_of_row(r, i), r->ascii, to);
	told_done(&t);
}

void report_notes_keys_text(const struct notebook *notes, const struct groups *keys,
			    const uint32_t *key, size_t n, bool ascii, FILE *to)
{
	struct told t = { .index = { 0 } };

	for (size_t i = 0; i < n; i++)
		tell(&t, note_of_key(notes, keys, key[i]), ascii, to);
	told_done(&t);
}

static void put(struct json_out *j, const struct note *note)
{
	if (note)
		json_put_text(j, "note", note->text);
}

void report_notes_row_json(const struct report *r, size_t row, struct json_out *j)
{
	put(j, note_of_row(r, row));
}

void report_notes_key_json(const struct notebook *notes, const struct groups *keys, uint32_t key,
			   struct json_out *j)
{
	put(j, note_of_key(notes, keys, key));
}

void report_notes_heap_json(const struct report *r, const struct heap_table_row *row,
			    struct json_out *j)
{
	put(j, note_of_heap_row(r, row));
}

void report_notes_site_json(const struct report *r, const struct footprint_site *site,
			    struct json_out *j)
{
	put(j, note_of_site(r, site));
}
