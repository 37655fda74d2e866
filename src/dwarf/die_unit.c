/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units of .debug_info; see die_unit.h. */
#include "config.h"

#include "dwarf/die_unit.h"

#include <dwarf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "dwarf/die_entry.h"
#include "dwarf/die_name.h"
#include "dwarf/line_table.h"

#define UNITS_MAX   (1u << 22) /* of a file */
#define HEADER_MAX  44u        /* bytes of the longest header */
#define CODE_MAX    10u        /* bytes of an entry's code */
#define TABLES_KEEP 64u        /* abbreviation tables that a reader holds before it is emptied */
#define UNITS_KEEP  256u       /* likewise, units */
#define ATTRS_MAX   (1u << 22) /* of all tables that a reader holds; units of others are damaged */

/* Type of a unit and what follows its kind's header in DWARF 5. */
static void take_type(struct die_unit *u, struct bytes *b)
{
	u->type = take_u8(b);
	u->sizes.address = take_u8(b);
	u->abbrev_offset = u->sizes.offset == 8 ? take_u64(b) : take_u32(b);
	switch (u->type) {
	case DW_UT_skeleton:
	case DW_UT_split_compile:
		u->dwo_id = take_u64(b);
		break;
	case DW_UT_type:
	case DW_UT_split_type:
		take_bytes(b, 8u + u->sizes.offset);
		break;
	default:
		break;
	}
}

bool die_unit_header(struct dwarf_file *f, uint64_t offset, struct die_unit *u)
{
	struct lazy_bytes *s = &f->section[DWARF_INFO];
	uint64_t left = offset < s->n ? s->n - offset : 0, length;
	struct bytes b;

	*u = (struct die_unit){ .file = f,
				.addr_file = f,
				.offset = offset,
				.line_offset = UINT64_MAX,
				.type = DW_UT_compile,
				.sizes.offset = 4 };
	if (left > HEADER_MAX)
		left = HEADER_MAX;
	if (!lazy_need(s, offset, left))
		return false;
	b = bytes_over(s->at + offset, (size_t)left, f->swap);
	length = take_u32(&b);
	if (length == UINT32_MAX) {
		u->sizes.offset = 8;
		length = take_u64(&b);
	} else if (length >= 0xfffffff0) {
		return false;
	}
	if (b.bad || length > s->n - die_offset(u, b.at))
		return false;
	u->end = die_offset(u, b.at) + length;
	u->sizes.version = u->version = (uint8_t)take_u16(&b);
	if (u->version >= 5) {
		take_type(u, &b);
	} else {
		u->abbrev_offset = u->sizes.offset == 8 ? take_u64(&b) : take_u32(&b);
		u->sizes.address = take_u8(&b);
	}
	u->first = die_offset(u, b.at);
	return !b.bad && u->version >= 2 && u->version <= 5 && u->first < u->end &&
	       (u->sizes.address == 4 || u->sizes.address == 8);
}

void die_index_begin(struct die_index *x, struct dwarf_file *f)
{
	*x = (struct die_index){ .file = f };
	pthread_mutex_init(&x->lock, NULL);
}

void die_index_reach(struct die_index *x, uint64_t offset)
{
	uint64_t n = x->file->section[DWARF_INFO].n;
	struct die_unit u;

	while (x->next < n && x->next <= offset && x->offsets.n < UNITS_MAX) {
		/* One of a kind that nobody knows can be stepped over, one that lies about its length not. */
		if (die_unit_header(x->file, x->next, &u)) {
			vec_push(&x->offsets, x->next);
		} else {
			x->n_damaged++;
			if (u.end > x->next)
				vec_push(&x->declined, x->next);
		}
		x->next = u.end > x->next ? u.end : n;
	}
	if (x->next >= n || x->offsets.n == UNITS_MAX)
		atomic_store_explicit(&x->whole, true, memory_order_release);
}

void die_index_read(struct die_index *x, struct dwarf_file *f)
{
	die_index_begin(x, f);
	die_index_reach(x, UINT64_MAX);
}

void die_index_done(struct die_index *x)
{
	vec_done(&x->offsets);
	vec_done(&x->declined);
	if (x->file)
		pthread_mutex_destroy(&x->lock);
}

/* NULL: there is no room for it. */
static struct die_abbrevs *abbrevs_of(struct die_reader *r, const struct die_unit *u)
{
	struct die_abbrevs *a;

	for (size_t i = r->tables.n; i-- > 0;) {
		a = r->tables.at[i];
		if (a->file == u->file && a->offset == u->abbrev_offset &&
		    memcmp(&a->sizes, &u->sizes, sizeof(a->sizes)) == 0)
			return a;
	}
	r->work -= (int64_t)r->tables.n;
	if (r->n_attrs > ATTRS_MAX || r->work <= 0)
		return NULL;
	a = xmalloc(sizeof(*a));
	die_abbrevs_read(a, u->file, u->abbrev_offset, u->sizes, 0);
	r->work -= (int64_t)a->work;
	r->n_attrs += a->all.n + a->attrs.n;
	vec_push(&r->tables, a);
	return a;
}

/* Places in other sections that the unit's own entry names. */
static void read_bases(struct die_unit *u, const struct die *d)
{
	struct die_value v;

	if (die_find(u, d, DW_AT_str_offsets_base, &v))
		u->str_offsets_base = die_value_number(u, &v);
	if (die_find(u, d, DW_AT_addr_base, &v) || die_find(u, d, DW_AT_GNU_addr_base, &v))
		u->addr_base = die_value_number(u, &v);
	if (die_find(u, d, DW_AT_rnglists_base, &v))
		u->rnglists_base = die_value_number(u, &v);
	if (die_find(u, d, DW_AT_GNU_ranges_base, &v))
		u->ranges_base = die_value_number(u, &v);
}

/* What the unit's own entry says; strings and addresses need the bases first. */
static void read_facts(struct die_unit *u, const struct die *d)
{
	struct die_value v;

	read_bases(u, d);
	if (die_find(u, d, DW_AT_stmt_list, &v))
		u->line_offset = u->add[DWARF_LINE] + die_value_number(u, &v);
	if (die_find(u, d, DW_AT_language, &v))
		u->language = (uint16_t)die_value_number(u, &v);
	if (die_find(u, d, DW_AT_comp_dir, &v))
		u->comp_dir = die_value_string(u, &v);
	if (die_find(u, d, DW_AT_low_pc, &v))
		die_value_address(u, &v, &u->low_pc);
	if (die_find(u, d, DW_AT_GNU_dwo_id, &v))
		u->dwo_id = die_value_number(u, &v);
	if (die_find(u, d, DW_AT_dwo_name, &v) || die_find(u, d, DW_AT_GNU_dwo_name, &v))
		u->dwo_name = die_value_string(u, &v);
}

/* Split units without bases of their own have the tables that follow the first header. */
static void default_bases(struct die_unit *u)
{
	uint64_t wide = u->sizes.offset == 8 ? 12 : 4;

	u->str_offsets_base = u->add[DWARF_STR_OFFSETS] + (u->version >= 5 ? wide + 4 : 0);
	u->rnglists_base = u->add[DWARF_RNGLISTS] + wide + 8;
}

static bool open_entry(struct die_reader *r, struct die_unit *u)
{
	struct die_place own = { u, u->first };
	struct die d;

	u->abbrevs = abbrevs_of(r, u);
	if (!u->abbrevs || u->abbrevs->bad || !die_at(&own, &d) || !d.abbrev)
		return false;
	read_facts(u, &d);
	return true;
}

bool die_unit_glance(struct die_reader *r, struct dwarf_file *f, uint64_t offset,
		     struct die_abbrevs *a, struct die_unit *u, struct die *d)
{
	struct die_place own = { u, 0 };
	const uint8_t *at;
	uint64_t left;

	*a = (struct die_abbrevs){ .bad = true };
	if (!die_unit_header(f, offset, u))
		return false;
	own.offset = u->first;
	left = u->end - u->first;
	if (left > CODE_MAX)
		left = CODE_MAX;
	if (!lazy_need(&f->section[DWARF_INFO], u->first, left))
		return false;
	at = die_bytes(u, u->first);
	die_abbrevs_read(a, f, u->abbrev_offset, u->sizes, die_uleb(&at, at + left));
	r->work -= (int64_t)a->work;
	u->abbrevs = a;
	if (a->bad || !die_at(&own, d) || !d->abbrev)
		return false;
	read_facts(u, d);
	return true;
}

struct unit_key {
	const struct dwarf_file *file;
	uint64_t offset;
};

static bool same_unit(const void *things, uint32_t value, const void *key)
{
	const struct die_reader *r = things;
	const struct unit_key *k = key;

	return r->units.at[value]->offset == k->offset && r->units.at[value]->file == k->file;
}

struct die_unit *die_unit_open(struct die_reader *r, struct dwarf_file *f, uint64_t offset)
{
	struct unit_key key = { f, offset };
	uint64_t hash = hash_u64(offset ^ (uint64_t)f->number << 56);
	uint32_t at = map_find(&r->by_place, hash, same_unit, r, &key);
	struct die_unit *u;

	if (at == MAP_NONE) {
		u = xmalloc(sizeof(*u));
		/* Damaged ones are kept too, so that they are looked at once. */
		if (!die_unit_header(f, offset, u) || !open_entry(r, u)) {
			r->n_damaged++;
			u->abbrevs = NULL;
			u->offset = offset;
		}
		at = (uint32_t)r->units.n;
		map_add(&r->by_place, hash, at);
		vec_push(&r->units, u);
	}
	u = r->units.at[at];
	return u->abbrevs ? u : NULL;
}

struct die_unit *die_unit_open_split(struct die_reader *r, struct dwarf_file *f, uint64_t offset,
				     const struct die_unit *skeleton, const uint64_t *add)
{
	struct die_unit *u = xmalloc(sizeof(*u));

	if (!die_unit_header(f, offset, u)) {
		free(u);
		return NULL;
	}
	u->split = true;
	if (add)
		memcpy(u->add, add, sizeof(u->add));
	u->abbrev_offset += u->add[DWARF_ABBREV];
	u->addr_file = skeleton->file;
	u->addr_base = skeleton->addr_base;
	u->ranges_base = skeleton->ranges_base;
	u->low_pc = skeleton->low_pc;
	default_bases(u);
	if (open_entry(r, u))
		return u;
	die_unit_free(u);
	return NULL;
}

void die_unit_free(struct die_unit *u)
{
	if (!u)
		return;
	line_files_free(u->files);
	die_scopes_free(u->scopes);
	free(u);
}

bool die_unit_load(struct die_unit *u)
{
	if (!u->whole)
		u->whole = lazy_need(&u->file->section[DWARF_INFO], u->offset, u->end - u->offset);
	return u->whole;
}

/* Where the last unit that begins at an offset or before is; false when there is none. */
static bool find_unit(const struct die_index *x, uint64_t offset, uint64_t *out)
{
	size_t low = 0;

	BISECT(low, x->offsets.n, i, x->offsets.at[i] <= offset);
	if (low > 0)
		*out = x->offsets.at[low - 1];
	return low > 0;
}

/* The same, of an index that may have to be added to. */
static bool unit_before(struct die_index *x, uint64_t offset, uint64_t *out)
{
	bool found;

	if (atomic_load_explicit(&x->whole, memory_order_acquire))
		return find_unit(x, offset, out);
	pthread_mutex_lock(&x->lock);
	die_index_reach(x, offset);
	found = find_unit(x, offset, out);
	pthread_mutex_unlock(&x->lock);
	return found;
}

/* The unit of an index that holds an offset; nowhere, when none does or it is damaged. */
static struct die_place place_in(struct die_reader *r, struct die_index *x, uint64_t offset)
{
	struct die_unit *u;
	uint64_t unit;

	if (!unit_before(x, offset, &unit))
		return (struct die_place){ NULL, 0 };
	if (r->foreign && (!r->own || r->own->offset != unit))
		r->foreign(r->arg);
	u = die_unit_open(r, x->file, unit);
	if (!u || offset < u->first || offset >= u->end)
		return (struct die_place){ NULL, 0 };
	return (struct die_place){ u, offset };
}

struct die_place die_unit_of(struct die_reader *r, struct die_unit *u, uint64_t offset)
{
	if (offset >= u->first && offset < u->end)
		return (struct die_place){ u, offset };
	if (u->split)
		return (struct die_place){ NULL, 0 };
	return place_in(r, u->file == r->main->file ? r->main : r->alt, offset);
}

struct die_place die_unit_of_alt(struct die_reader *r, uint64_t offset)
{
	return r->alt ? place_in(r, r->alt, offset) : (struct die_place){ NULL, 0 };
}

bool die_reader_full(const struct die_reader *r)
{
	return r->tables.n > TABLES_KEEP || r->units.n > UNITS_KEEP;
}

void die_reader_empty(struct die_reader *r)
{
	for (size_t i = 0; i < r->units.n; i++)
		die_unit_free(r->units.at[i]);
	for (size_t i = 0; i < r->tables.n; i++) {
		die_abbrevs_done(r->tables.at[i]);
		free(r->tables.at[i]);
	}
	vec_done(&r->units);
	vec_done(&r->tables);
	r->n_attrs = 0;
	map_done(&r->by_place);
	die_names_forget(r);
}

void die_reader_leave(struct die_reader *r, const struct dwarf_file *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->tables.n; i++) {
		struct die_abbrevs *a = r->tables.at[i];

		if (a->file != f) {
			r->tables.at[kept++] = a;
			continue;
		}
		r->n_attrs -= a->all.n + a->attrs.n;
		die_abbrevs_done(a);
		free(a);
	}
	r->tables.n = kept;
	die_names_forget(r);
}

void die_reader_done(struct die_reader *r)
{
	die_reader_empty(r);
	vec_done(&r->paths);
	vec_done(&r->md5);
	map_done(&r->by_path);
	arena_done(&r->text);
}
