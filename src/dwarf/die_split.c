/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Split units; see die_split.h. */
#include "config.h"

#include "dwarf/die_split.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/consulted_files.h"
#include "base/mem.h"
#include "dwarf/debug_parts.h"
#include "dwarf/die_unit.h"

#define COLUMNS_MAX  16u /* of an index */
#define INDEX_HEADER 16u /* bytes */

/* Sections' numbers in an index that both versions share; 8 is another thing in each. */
enum { SECT_INFO = 1, SECT_ABBREV = 3, SECT_LINE = 4, SECT_STR_OFFSETS = 6, SECT_RNGLISTS = 8 };

bool die_is_skeleton(const struct die_unit *u)
{
	return u->dwo_name && !u->split;
}

static uint32_t index_number(struct dwarf_file *f, uint64_t at)
{
	return (uint32_t)dwarf_number_at(f, DWARF_CU_INDEX, at, 4);
}

/* The row of a unit in the index of a .dwp, from 1; 0: it is not there. */
static uint32_t find_row(struct dwarf_file *f, uint64_t id, uint64_t n_slots)
{
	uint64_t at = id & (n_slots - 1), step = (id >> 32 & (n_slots - 1)) | 1;

	for (uint64_t i = 0; i < n_slots; i++, at = (at + step) & (n_slots - 1)) {
		uint64_t slot = INDEX_HEADER + at * 8;
		uint32_t row = index_number(f, INDEX_HEADER + n_slots * 8 + at * 4);

		if (row == 0)
			return 0;
		if (dwarf_number_at(f, DWARF_CU_INDEX, slot, 8) == id)
			return row;
	}
	return 0;
}

static int section_of(uint32_t sect, uint32_t version)
{
	switch (sect) {
	case SECT_INFO:
		return DWARF_INFO;
	case SECT_ABBREV:
		return DWARF_ABBREV;
	case SECT_LINE:
		return DWARF_LINE;
	case SECT_STR_OFFSETS:
		return DWARF_STR_OFFSETS;
	case SECT_RNGLISTS:
		return version == 5 ? DWARF_RNGLISTS : -1;
	default:
		return -1;
	}
}

/* Where the unit's parts of each section begin; false when it is not in the .dwp. */
static bool find_parts(struct dwarf_file *f, uint64_t id, uint64_t *add)
{
	uint32_t version = index_number(f, 0), n_columns = index_number(f, 4);
	uint64_t n_units = index_number(f, 8), n_slots = index_number(f, 12), at, row;

	if (version != 2)
		version = (uint32_t)dwarf_number_at(f, DWARF_CU_INDEX, 0, 2);
	if ((version != 2 && version != 5) || n_columns > COLUMNS_MAX || n_slots == 0 ||
	    (n_slots & (n_slots - 1)) != 0 || n_slots > f->section[DWARF_CU_INDEX].n)
		return false;
	row = find_row(f, id, n_slots);
	if (row == 0 || row > n_units)
		return false;
	at = INDEX_HEADER + n_slots * 12;
	for (uint64_t i = 0; i < n_columns; i++) {
		int s = section_of(index_number(f, at + i * 4), version);

		if (s >= 0)
			add[s] = index_number(f, at + (row * n_columns + i) * 4);
	}
	return true;
}

/* The next .dwp that is there; false: there are no more. */
static bool open_dwp(struct die_split *s, const struct debug_parts *places)
{
	struct dwarf_file *f = NULL;
	char *path;

	while (!f && s->n_tried < places->all.n) {
		path = xasprintf("%s.dwp", places->all.at[s->n_tried++]);
		consulted_files_note(places->consulted, path);
		f = dwarf_file_open_split(path);
		free(path);
	}
	if (!f)
		return false;
	f->number = 2 + s->n_opened++;
	vec_push(&s->dwp, f);
	return true;
}

/* The first .dwp need not be the right one: it may be left from an older build. */
static struct die_unit *open_in_dwp(struct die_split *s, struct die_reader *r,
				    const struct debug_parts *places,
				    const struct die_unit *skeleton)
{
	for (size_t i = 0; i < s->dwp.n || open_dwp(s, places); i++) {
		uint64_t add[N_DWARF_SECTIONS] = { 0 };

		if (find_parts(s->dwp.at[i], skeleton->dwo_id, add))
			return die_unit_open_split(r, s->dwp.at[i], add[DWARF_INFO], skeleton, add);
	}
	return NULL;
}

/* The unit with the skeleton's number among those of a .dwo. */
static struct die_unit *find_in_dwo(struct die_reader *r, struct dwarf_file *f,
				    const struct die_unit *skeleton)
{
	struct die_unit *u, head;
	struct die_index x;

	die_index_read(&x, f);
	for (size_t i = 0; i < x.offsets.n && r->work-- > 0; i++) {
		if (!die_unit_header(f, x.offsets.at[i], &head) || head.type == DW_UT_split_type)
			continue;
		u = die_unit_open_split(r, f, x.offsets.at[i], skeleton, NULL);
		if (u && u->dwo_id == skeleton->dwo_id) {
			die_index_done(&x);
			return u;
		}
		die_unit_free(u);
	}
	die_index_done(&x);
	return NULL;
}

static struct die_unit *try_dwo(struct die_split *s, struct die_reader *r,
				const struct debug_parts *places, char *path,
				const struct die_unit *skeleton)
{
	struct die_unit *u = NULL;

	consulted_files_note(places->consulted, path);
	s->dwo = dwarf_file_open_split(path);
	free(path);
	if (!s->dwo)
		return NULL;
	s->dwo->number = 2 + s->n_opened++;
	u = find_in_dwo(r, s->dwo, skeleton);
	if (!u)
		die_split_close(s, r, NULL);
	return u;
}

/* Where the compiler put it, or else beside the program: in the directory that its name says, or in none. */
static struct die_unit *open_dwo(struct die_split *s, struct die_reader *r,
				 const struct debug_parts *places, const struct die_unit *skeleton)
{
	const char *name = skeleton->dwo_name, *dir = skeleton->comp_dir;
	const char *last = strrchr(name, '/');
	struct die_unit *u;

	u = try_dwo(s, r, places,
		    name[0] == '/' || !dir ? xstrdup(name) : xasprintf("%s/%s", dir, name),
		    skeleton);
	for (size_t i = 0; i < places->all.n && !u; i++) {
		const char *program = places->all.at[i], *slash = strrchr(program, '/');
		int n = slash ? (int)(slash + 1 - program) : 0;

		if (name[0] != '/')
			u = try_dwo(s, r, places, xasprintf("%.*s%s", n, program, name), skeleton);
		if (!u && last)
			u = try_dwo(s, r, places, xasprintf("%.*s%s", n, program, last + 1),
				    skeleton);
	}
	return u;
}

struct die_unit *die_split_open(struct die_split *s, struct die_reader *r,
				const struct debug_parts *places, const struct die_unit *skeleton)
{
	struct die_unit *u = open_in_dwp(s, r, places, skeleton);

	if (!u)
		u = open_dwo(s, r, places, skeleton);
	if (!u)
		s->n_missing++;
	/* Names of files are in a table of its own, if it has one. */
	if (u && u->line_offset == UINT64_MAX && u->file->section[DWARF_LINE].n > 0)
		u->line_offset = u->add[DWARF_LINE];
	return u;
}

void die_split_close(struct die_split *s, struct die_reader *r, struct die_unit *u)
{
	die_unit_free(u);
	die_reader_leave(r, s->dwo);
	dwarf_file_close(s->dwo);
	s->dwo = NULL;
}

void die_split_done(struct die_split *s)
{
	for (size_t i = 0; i < s->dwp.n; i++)
		dwarf_file_close(s->dwp.at[i]);
	vec_done(&s->dwp);
	dwarf_file_close(s->dwo);
}
