/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Line tables; see line_table.h. */
#include "config.h"

#include "dwarf/line_table.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "dwarf/die_entry.h"

#define FORMATS_MAX 32u /* of DWARF 5's descriptions of an entry */

/* A table's header, and where its parts are. */
struct line_header {
	struct die_unit like;  /* the unit, with the sizes that hold in the table */
	struct bytes rest;     /* directories, files */
	struct bytes program;  /* the opcodes */
	const uint8_t *n_args; /* of standard opcodes, from 1 */
	uint8_t version;
	uint8_t min_bytes;   /* of an instruction */
	int8_t line_base;    /* what the least special opcode adds to the line */
	uint8_t line_range;  /* of special opcodes; not 0 */
	uint8_t opcode_base; /* the first special opcode */
};

struct line_file {
	struct die_value name;
	uint64_t dir;       /* in dirs */
	const char *path;   /* put together, NULL: not yet; the reader's */
	const uint8_t *md5; /* [16] in the section; NULL: not told */
};

/* As in the header; names are looked at only when a path is asked for. */
struct line_files {
	struct die_unit like;        /* what names are read with */
	VEC(struct die_value) dirs;  /* at NULL: without a name */
	VEC(struct line_file) files; /* by number */
};

/* Where the program has come to. */
struct line_row {
	uint64_t address;
	uint32_t file, line;
};

/* A program under way. */
struct line_run {
	const struct line_header *h;
	struct line_row now;    /* the registers */
	struct line_row last;   /* the row before, if in_sequence */
	bool in_sequence;       /* there is one */
	struct line_want *want; /* sorted */
	size_t n, at;           /* the first that is not below last */
};

static uint64_t take_uleb(struct bytes *b)
{
	const uint8_t *at = b->at;
	uint64_t v = die_uleb(&at, b->end);

	if (at)
		b->at = at;
	else
		b->bad = true;
	return v;
}

static uint64_t take_offset(struct bytes *b, const struct line_header *h)
{
	return h->like.sizes.offset == 8 ? take_u64(b) : take_u32(b);
}

/* All of a unit's table, by its first field. */
static bool open_table(const struct die_unit *u, struct line_header *h, struct bytes *b)
{
	struct lazy_bytes *s = &u->file->section[DWARF_LINE];
	uint64_t at = u->line_offset, length = dwarf_number_at(u->file, DWARF_LINE, at, 4);

	h->like = *u;
	h->like.sizes.offset = 4;
	at += 4;
	if (length == UINT32_MAX) {
		h->like.sizes.offset = 8;
		length = dwarf_number_at(u->file, DWARF_LINE, at, 8);
		at += 8;
	}
	if (u->line_offset >= s->n || length == 0 || !lazy_need(s, at, length))
		return false;
	*b = bytes_over(s->at + at, (size_t)length, u->file->swap);
	return true;
}

static bool read_header(const struct die_unit *u, struct line_header *h)
{
	struct bytes b;
	uint64_t length;

	*h = (struct line_header){ .version = 0 };
	if (!open_table(u, h, &b))
		return false;
	h->version = (uint8_t)take_u16(&b);
	if (h->version >= 5) {
		h->like.sizes.address = take_u8(&b);
		take_u8(&b);
	}
	length = take_offset(&b, h);
	if (b.bad || h->version < 2 || h->version > 5 || length > bytes_left(&b))
		return false;
	h->program = b;
	take_bytes(&h->program, (size_t)length);
	b.end = h->program.at;
	h->min_bytes = take_u8(&b);
	if (h->version >= 4)
		take_u8(&b); /* operations of an instruction: no machine here has more than 1 */
	take_u8(&b);         /* what is a statement is not asked */
	h->line_base = (int8_t)take_u8(&b);
	h->line_range = take_u8(&b);
	h->opcode_base = take_u8(&b);
	h->n_args = take_bytes(&b, h->opcode_base ? h->opcode_base - 1u : 0);
	h->rest = b;
	return !b.bad && h->line_range > 0 && h->opcode_base > 0;
}

/* What lies from the last row up to here is of the last row. */
static void give_out(struct line_run *r, uint64_t end)
{
	if (r->at < r->n && r->want[r->at].address >= end)
		return;
	for (; r->at < r->n && r->want[r->at].address < end; r->at++) {
		r->want[r->at].file = r->last.file;
		r->want[r->at].line = r->last.line;
	}
}

static void seek(struct line_run *r, uint64_t address)
{
	size_t low = 0;

	BISECT(low, r->n, i, r->want[i].address < address);
	r->at = low;
}

static inline void add_row(struct line_run *r)
{
	if (r->in_sequence && r->now.address > r->last.address)
		give_out(r, r->now.address);
	else if (!r->in_sequence || r->now.address < r->last.address)
		seek(r, r->now.address);
	r->in_sequence = true;
	r->last = r->now;
}

static void begin_sequence(struct line_run *r)
{
	r->now = (struct line_row){ .file = 1, .line = 1 };
	r->in_sequence = false;
}

static void run_extended(struct line_run *r, struct bytes *b)
{
	uint64_t n = take_uleb(b);
	struct bytes args;
	const uint8_t *at;

	if (n == 0 || n > bytes_left(b)) {
		b->bad = true;
		return;
	}
	args = bytes_over(b->at, (size_t)n, b->swap);
	take_bytes(b, (size_t)n);
	switch (take_u8(&args)) {
	case DW_LNE_end_sequence:
		if (r->in_sequence && r->now.address > r->last.address)
			give_out(r, r->now.address);
		begin_sequence(r);
		break;
	case DW_LNE_set_address:
		at = take_bytes(&args, (size_t)n - 1);
		if (at && (n == 5 || n == 9))
			r->now.address = dwarf_number(r->h->like.file, at, (unsigned)n - 1);
		break;
	default:
		break;
	}
}

static void run_standard(struct line_run *r, struct bytes *b, uint8_t opcode)
{
	const uint8_t *at = b->at;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(r);
		break;
	case DW_LNS_advance_pc:
		r->now.address += take_uleb(b) * r->h->min_bytes;
		break;
	case DW_LNS_advance_line:
		r->now.line += (uint32_t)die_sleb(&at, b->end);
		if (at)
			b->at = at;
		else
			b->bad = true;
		break;
	case DW_LNS_set_file:
		r->now.file = (uint32_t)take_uleb(b);
		break;
	case DW_LNS_const_add_pc:
		r->now.address += (uint64_t)((255 - r->h->opcode_base) / r->h->line_range) *
				  r->h->min_bytes;
		break;
	case DW_LNS_fixed_advance_pc:
		r->now.address += take_u16(b);
		break;
	default:
		for (unsigned i = 0; i < r->h->n_args[opcode - 1]; i++)
			take_uleb(b);
		break;
	}
}

void line_table_find(struct die_reader *reader, const struct die_unit *u, struct line_want *w,
		     size_t n)
{
	struct line_header h;
	struct line_run r = { .h = &h, .want = w, .n = n };
	struct bytes b;

	if (!read_header(u, &h))
		return;
	b = h.program;
	/* Its length is the most that it can cost. */
	reader->work -= (int64_t)bytes_left(&b);
	begin_sequence(&r);
	while (reader->work > 0 && !b.bad && b.at < b.end) {
		uint8_t opcode = *b.at++;

		if (opcode >= h.opcode_base) {
			unsigned special = opcode - h.opcode_base;

			r.now.address += (uint64_t)(special / h.line_range) * h.min_bytes;
			r.now.line += (uint32_t)(h.line_base + (int)(special % h.line_range));
			add_row(&r);
		} else if (opcode == 0) {
			run_extended(&r, &b);
		} else {
			run_standard(&r, &b, opcode);
		}
	}
}

static void read_old_files(struct line_files *f, struct bytes *b, const char *comp_dir)
{
	struct line_file none = { .dir = 0 };

	/* Directory 0 is where it was compiled; there is no file 0. */
	vec_push(&f->dirs, ((struct die_value){ (const uint8_t *)comp_dir, DW_FORM_string, 0 }));
	while (!b->bad && f->dirs.n < LINE_FILES_MAX && bytes_left(b) && *b->at) {
		struct die_value v = { b->at, DW_FORM_string, 0 };

		if (take_cstr(b))
			vec_push(&f->dirs, v);
	}
	take_u8(b);
	vec_push(&f->files, none);
	while (!b->bad && f->files.n < LINE_FILES_MAX && bytes_left(b) && *b->at) {
		struct line_file one = { .name = { b->at, DW_FORM_string, 0 } };

		take_cstr(b);
		one.dir = take_uleb(b);
		take_uleb(b);
		take_uleb(b);
		if (!b->bad)
			vec_push(&f->files, one);
	}
}

/* DWARF 5's description of what an entry consists of. */
struct line_format {
	uint64_t content; /* DW_LNCT_… */
	unsigned form;    /* DW_FORM_… */
};

static size_t take_formats(struct bytes *b, struct line_format *out)
{
	size_t n = take_u8(b), kept = 0;

	for (size_t i = 0; i < n && !b->bad; i++) {
		struct line_format one = { take_uleb(b), 0 };

		one.form = (unsigned)take_uleb(b);
		if (kept < FORMATS_MAX)
			out[kept++] = one;
	}
	if (n > FORMATS_MAX)
		b->bad = true;
	return kept;
}

static uint64_t small_number(const struct die_unit *like, unsigned form, struct bytes b)
{
	int n = die_form_bytes(form, like->sizes);

	if (form == DW_FORM_udata)
		return take_uleb(&b);
	return n > 0 && n <= 8 ? dwarf_number(like->file, b.at, (unsigned)n) : 0;
}

/* Adds entries to files, or else to dirs. */
static void read_new_entries(struct line_files *f, struct bytes *b, bool files)
{
	struct line_format format[FORMATS_MAX];
	size_t n_formats = take_formats(b, format);
	uint64_t n = take_uleb(b);

	for (uint64_t i = 0; i < n && i < LINE_FILES_MAX && !b->bad; i++) {
		struct line_file one = { .dir = 0 };
		const uint8_t *before = b->at, *next;

		for (size_t k = 0; k < n_formats && !b->bad; k++) {
			next = die_form_skip(&f->like, format[k].form, b->at, b->end);
			if (!next) {
				b->bad = true;
				return;
			}
			if (format[k].content == DW_LNCT_path)
				one.name = (struct die_value){ b->at, format[k].form, 0 };
			if (format[k].content == DW_LNCT_directory_index)
				one.dir = small_number(&f->like, format[k].form, *b);
			if (format[k].content == DW_LNCT_MD5 && format[k].form == DW_FORM_data16)
				one.md5 = b->at;
			b->at = next;
		}
		/* Entries of no bytes could be any number. */
		if (b->at == before)
			return;
		if (files)
			vec_push(&f->files, one);
		else
			vec_push(&f->dirs, one.name);
	}
}

static struct line_files *read_files(const struct die_unit *u)
{
	struct line_files *f = xcalloc(1, sizeof(*f));
	struct line_header h;

	if (!read_header(u, &h))
		return f;
	f->like = h.like;
	if (h.version >= 5) {
		read_new_entries(f, &h.rest, false);
		read_new_entries(f, &h.rest, true);
	} else {
		read_old_files(f, &h.rest, u->comp_dir);
	}
	return f;
}

void line_files_free(struct line_files *f)
{
	if (!f)
		return;
	vec_done(&f->dirs);
	vec_done(&f->files);
	free(f);
}

static const char *text_of(const struct line_files *f, const struct die_value *v)
{
	return v->at ? die_value_string(&f->like, v) : NULL;
}

/* The file's name after the directories that it is relative to. */
static char *put_together(const struct line_files *f, const struct line_file *one)
{
	const char *name = text_of(f, &one->name), *dir = NULL, *root = NULL;

	if (!name)
		return NULL;
	if (one->dir < f->dirs.n)
		dir = text_of(f, &f->dirs.at[one->dir]);
	if (f->dirs.n > 0 && one->dir > 0)
		root = text_of(f, &f->dirs.at[0]);
	if (name[0] == '/' || !dir || !*dir)
		return xstrdup(name);
	if (dir[0] == '/' || !root || !*root)
		return xasprintf("%s/%s", dir, name);
	return xasprintf("%s/%s/%s", root, dir, name);
}

static bool same_path(const void *things, uint32_t value, const void *key)
{
	const struct die_reader *r = things;

	return strcmp(r->paths.at[value], key) == 0;
}

const char *line_path_keep(struct die_reader *r, const char *path)
{
	size_t n = strlen(path);
	uint64_t hash = hash_bytes(path, n);
	uint32_t at = map_find(&r->by_path, hash, same_path, r, path);

	if (at == MAP_NONE) {
		at = (uint32_t)r->paths.n;
		map_add(&r->by_path, hash, at);
		vec_push(&r->paths, arena_strndup(&r->text, path, n));
		vec_push(&r->md5, NULL);
	}
	return r->paths.at[at];
}

/* The first unit that tells it counts: two of one path would be of different times. */
static void keep_md5(struct die_reader *r, const char *path, const uint8_t *md5)
{
	uint32_t at = map_find(&r->by_path, hash_bytes(path, strlen(path)), same_path, r, path);
	uint8_t *kept;

	if (at == MAP_NONE || r->md5.at[at])
		return;
	kept = arena_alloc(&r->text, LINE_MD5_BYTES);
	memcpy(kept, md5, LINE_MD5_BYTES);
	r->md5.at[at] = kept;
}

const uint8_t *line_path_md5(const struct die_reader *r, const char *path)
{
	uint32_t at = map_find(&r->by_path, hash_bytes(path, strlen(path)), same_path, r, path);

	return at == MAP_NONE ? NULL : r->md5.at[at];
}

const char *line_file_path(struct die_reader *r, struct die_unit *u, uint64_t number)
{
	struct line_file *one;
	char *path;

	if (u->line_offset == UINT64_MAX)
		return NULL;
	if (!u->files) {
		u->files = read_files(u);
		r->work -= (int64_t)(u->files->files.n + u->files->dirs.n);
	}
	if (number >= u->files->files.n)
		return NULL;
	one = &u->files->files.at[number];
	if (!one->path && (path = put_together(u->files, one)) != NULL) {
		one->path = line_path_keep(r, path);
		if (one->md5)
			keep_md5(r, path, one->md5);
		free(path);
	}
	return one->path;
}
