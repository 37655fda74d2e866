/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the entry (FDE) for a pc and keeps the rules made of it.
 *
 * Entries are found through .eh_frame_hdr's sorted table where there is a sane one, else through an
 * index made by one pass over the section; .debug_frame always needs the pass. The rules of an
 * entry are compiled on first use into one growing array.
 */
#include "config.h"

#include "unwind/cfi.h"

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/compare.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "unwind/cfi_program.h"
#include "unwind/leb.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdlib.h>

/* An entry as the index knows it. */
struct fde {
	uint64_t begin;  /* first pc */
	uint64_t offset; /* of the entry in its section */
};

/* One of the two kinds of section. */
struct frames {
	struct cfi_section section;
	bool is_debug;         /* .debug_frame: other ids, absolute CIE offsets */
	VEC(struct fde) index; /* by begin; made when first needed */
	bool indexed;
};

/* An entry whose rules have been compiled. */
struct compiled {
	uint64_t id;         /* which entry: offset << 1 | is it of .debug_frame */
	uint64_t begin, end; /* pcs */
	uint32_t first, n;   /* rules; n 0: the program is malformed */
};

struct cfi {
	struct frames eh, debug;
	struct cfi_section hdr;   /* .eh_frame_hdr; n 0 when there is none or it is not sane */
	uint64_t hdr_n;           /* entries of its table */
	const uint8_t *hdr_table; /* [hdr_n] of two 32-bit offsets from the section's address */
	enum unwind_arch arch;
	pthread_mutex_t lock; /* of everything below, and of the indexes */
	VEC(struct cfi_rule) rules;
	VEC(struct compiled) entries;
	struct map by_id; /* struct compiled's id → entries */
};

/* A pointer by its encoding (LSB 10.5.1). The cursor must lie in the section. */
static uint64_t take_encoded(struct bytes *b, uint8_t encoding, const struct cfi_section *s,
			     uint64_t data_base)
{
	uint64_t here = s->address + (uint64_t)(b->at - s->bytes), v = 0;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = take_u64(b);
		break;
	case DW_EH_PE_uleb128:
		v = take_uleb(b);
		break;
	case DW_EH_PE_sleb128:
		v = (uint64_t)take_sleb(b);
		break;
	case DW_EH_PE_udata2:
		v = take_u16(b);
		break;
	case DW_EH_PE_sdata2:
		v = (uint64_t)(int16_t)take_u16(b);
		break;
	case DW_EH_PE_udata4:
		v = take_u32(b);
		break;
	case DW_EH_PE_sdata4:
		v = (uint64_t)(int32_t)take_u32(b);
		break;
	default:
		b->bad = true;
	}
	switch (encoding & 0x70) {
	case 0:
		return v;
	case DW_EH_PE_pcrel:
		return v + here;
	case DW_EH_PE_datarel:
		return v + data_base;
	default:
		b->bad = true;
		return 0;
	}
}

/*
 * The entry's body at offset: cursor after length and id. *id_at is where the id stands, *next the
 * offset of the next entry. False at a terminator or when malformed.
 */
static bool take_entry(const struct frames *f, uint64_t offset, struct bytes *body, uint64_t *id,
		       uint64_t *id_at, uint64_t *next)
{
	const struct cfi_section *s = &f->section;
	struct bytes b;
	uint64_t length;
	bool wide;

	if (offset >= s->n)
		return false;
	b = bytes_over(s->bytes + offset, s->n - offset, false);
	length = take_u32(&b);
	wide = length == UINT32_MAX;
	if (wide)
		length = take_u64(&b);
	if (b.bad || length == 0 || length > bytes_left(&b))
		return false;
	*id_at = (uint64_t)(b.at - s->bytes);
	*next = *id_at + length;
	*body = bytes_over(b.at, (size_t)length, false);
	*id = wide && f->is_debug ? take_u64(body) : take_u32(body);
	if (!wide && f->is_debug && *id == UINT32_MAX)
		*id = UINT64_MAX;
	return !body->bad;
}

static bool is_cie(const struct frames *f, uint64_t id)
{
	return f->is_debug ? id == UINT64_MAX : id == 0;
}

/* Reads what the augmentation says; false when it cannot be skipped safely. */
static bool take_augmentation(const struct frames *f, struct bytes *b, const char *aug,
			      struct cfi_entry *e)
{
	uint64_t n;
	struct bytes data;

	if (*aug == '\0')
		return true;
	if (*aug != 'z')
		return false;
	n = take_uleb(b);
	data = *b;
	if (!take_bytes(b, (size_t)n))
		return n == 0;
	data.end = b->at;
	for (const char *c = aug + 1; *c; c++) {
		uint8_t encoding;

		if (*c == 'R') {
			e->encoding = take_u8(&data);
		} else if (*c == 'L') {
			take_u8(&data);
		} else if (*c == 'P') {
			encoding = take_u8(&data);
			take_encoded(&data, encoding & 0x7f, &f->section, 0);
		} else if (*c == 'S') {
			e->signal = true;
		} else if (*c != 'B' && *c != 'G') {
			break;
		}
	}
	return !data.bad;
}

static bool take_cie(const struct frames *f, uint64_t offset, struct cfi_entry *e, bool *z)
{
	struct bytes b;
	uint64_t id, id_at, next;
	const char *aug;
	uint8_t version;

	if (!take_entry(f, offset, &b, &id, &id_at, &next) || !is_cie(f, id))
		return false;
	version = take_u8(&b);
	aug = take_cstr(&b);
	if (b.bad || !aug || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4 && (take_u8(&b) != 8 || take_u8(&b) != 0))
		return false;
	e->code_align = take_uleb(&b);
	e->data_align = take_sleb(&b);
	e->ra = version == 1 ? take_u8(&b) : (unsigned)(take_uleb(&b) & 0xffff);
	e->encoding = DW_EH_PE_absptr;
	*z = *aug == 'z';
	if (!take_augmentation(f, &b, aug, e))
		return false;
	e->initial = b;
	return !b.bad;
}

/* Decodes the entry at offset with its CIE. */
static bool take_fde(const struct frames *f, uint64_t offset, struct cfi_entry *e)
{
	struct bytes b;
	uint64_t id, id_at, next, n;
	bool z = false;

	*e = (struct cfi_entry){ 0 };
	if (!take_entry(f, offset, &b, &id, &id_at, &next) || is_cie(f, id))
		return false;
	if (!take_cie(f, f->is_debug ? id : id_at - id, e, &z))
		return false;
	e->begin = take_encoded(&b, e->encoding & 0x7f, &f->section, 0);
	n = take_encoded(&b, e->encoding & 0x0f, &f->section, 0);
	e->end = e->begin + n;
	if (z) {
		uint64_t skip = take_uleb(&b);

		take_bytes(&b, (size_t)skip);
	}
	e->program = b;
	return !b.bad && e->end > e->begin;
}

static int by_begin(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	return COMPARE(x->begin, y->begin) ?: COMPARE(x->offset, y->offset);
}

static void make_index(struct frames *f)
{
	uint64_t offset = 0, next, id, id_at;
	struct cfi_entry e;
	struct bytes b;

	f->indexed = true;
	for (; offset < f->section.n; offset = next) {
		if (!take_entry(f, offset, &b, &id, &id_at, &next)) {
			/* A terminator in mid-section (several inputs linked) is no end. */
			next = offset + 4;
			if (f->is_debug || f->section.n - offset < 4 ||
			    memcmp(f->section.bytes + offset, "\0\0\0\0", 4) != 0)
				break;
			continue;
		}
		/* begin 0: of a function that the linker dropped. */
		if (!is_cie(f, id) && take_fde(f, offset, &e) && e.begin != 0)
			vec_push(&f->index, ((struct fde){ e.begin, offset }));
	}
	if (f->index.n)
		qsort(f->index.at, f->index.n, sizeof(*f->index.at), by_begin);
}

/* The offset of the last entry that begins at or before pc; false: none. */
static bool search_index(struct frames *f, uint64_t pc, uint64_t *offset)
{
	size_t low = 0;

	if (!f->indexed)
		make_index(f);
	BISECT(low, f->index.n, i, f->index.at[i].begin <= pc);
	if (low == 0)
		return false;
	*offset = f->index.at[low - 1].offset;
	return true;
}

/* Column 0 (begin) or 1 (entry) of row i of the header's table, as addresses. */
static uint64_t hdr_cell(const struct cfi *c, uint64_t i, unsigned column)
{
	int32_t v;

	memcpy(&v, c->hdr_table + i * 8 + column * 4, sizeof(v));
	return c->hdr.address + (uint64_t)(int64_t)v;
}

/* Takes the header's table if it has the one encoding that linkers write and is sorted. */
static void use_hdr(struct cfi *c, const struct cfi_section *hdr)
{
	struct bytes b = bytes_over(hdr->bytes, hdr->n, false);
	uint8_t frame, count, table;
	uint64_t n;

	if (hdr->n == 0 || take_u8(&b) != 1)
		return;
	frame = take_u8(&b);
	count = take_u8(&b);
	table = take_u8(&b);
	if (count != DW_EH_PE_udata4 || table != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return;
	take_encoded(&b, frame & 0x7f, hdr, hdr->address);
	n = take_u32(&b);
	if (b.bad || n == 0 || n > bytes_left(&b) / 8)
		return;
	c->hdr = *hdr;
	c->hdr_table = b.at;
	for (uint64_t i = 1; i < n; i++)
		if (hdr_cell(c, i - 1, 0) > hdr_cell(c, i, 0))
			return;
	c->hdr_n = n;
}

static bool search_hdr(const struct cfi *c, uint64_t pc, uint64_t *offset)
{
	uint64_t low = 0, at;

	BISECT(low, c->hdr_n, i, hdr_cell(c, i, 0) <= pc);
	if (low == 0)
		return false;
	at = hdr_cell(c, low - 1, 1) - c->eh.section.address;
	*offset = at;
	return at < c->eh.section.n;
}

/* The entry that covers pc, in whichever section has it. */
static bool find_fde(struct cfi *c, uint64_t pc, struct cfi_entry *e, uint64_t *id)
{
	uint64_t offset;

	if (c->hdr_n && search_hdr(c, pc, &offset) && take_fde(&c->eh, offset, e) &&
	    pc >= e->begin && pc < e->end) {
		*id = offset << 1;
		return true;
	}
	if (!c->hdr_n && search_index(&c->eh, pc, &offset) && take_fde(&c->eh, offset, e) &&
	    pc < e->end) {
		*id = offset << 1;
		return true;
	}
	if (search_index(&c->debug, pc, &offset) && take_fde(&c->debug, offset, e) && pc < e->end) {
		*id = offset << 1 | 1;
		return true;
	}
	return false;
}

static bool add_rule(void *arg, const struct cfi_row *row)
{
	struct cfi *c = arg;
	struct compiled *to = &c->entries.at[c->entries.n - 1];
	struct cfi_rule rule = cfi_rule_of(row, c->arch);

	rule.begin = (uint32_t)(row->begin - to->begin);
	vec_push(&c->rules, rule);
	to->n++;
	return true;
}

/* The compiled form of entry e. Borrowed until the next one is compiled. */
static const struct compiled *compile(struct cfi *c, const struct cfi_entry *e, uint64_t id)
{
	uint32_t i = (uint32_t)c->entries.n;

	vec_push(&c->entries, ((struct compiled){ id, e->begin, e->end, (uint32_t)c->rules.n, 0 }));
	if (e->end - e->begin > UINT32_MAX || !cfi_run(e, c->arch, add_rule, c)) {
		c->rules.n = c->entries.at[i].first;
		c->entries.at[i].n = 0;
	}
	map_add(&c->by_id, hash_u64(id), i);
	return &c->entries.at[i];
}

static bool same_entry(const void *things, uint32_t value, const void *key)
{
	const struct cfi *c = things;

	return c->entries.at[value].id == *(const uint64_t *)key;
}

static bool search_rules(const struct cfi *c, const struct compiled *entry, uint64_t pc,
			 struct cfi_rule *out)
{
	const struct cfi_rule *rules;
	uint32_t low = 0, high = entry->n;

	if (high == 0)
		return false;
	rules = &c->rules.at[entry->first];
	BISECT(low, high, i, rules[i].begin <= pc - entry->begin);
	if (low == 0)
		return false;
	*out = rules[low - 1];
	return true;
}

bool cfi_find(struct cfi *c, uint64_t pc, struct cfi_rule *out)
{
	const struct compiled *entry;
	struct cfi_entry e;
	uint64_t id;
	uint32_t known;
	bool found = false;

	pthread_mutex_lock(&c->lock);
	if (find_fde(c, pc, &e, &id)) {
		known = map_find(&c->by_id, hash_u64(id), same_entry, c, &id);
		entry = known == MAP_NONE ? compile(c, &e, id) : &c->entries.at[known];
		found = search_rules(c, entry, pc, out);
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

/* As find_fde(), for any thread. */
static bool entry_at(struct cfi *c, uint64_t pc, struct cfi_entry *e)
{
	uint64_t id;
	bool found;

	pthread_mutex_lock(&c->lock);
	found = find_fde(c, pc, e, &id);
	pthread_mutex_unlock(&c->lock);
	return found;
}

bool cfi_function(struct cfi *c, uint64_t pc, uint64_t *begin, uint64_t *end)
{
	struct cfi_entry e;

	if (!entry_at(c, pc, &e))
		return false;
	*begin = e.begin;
	*end = e.end;
	return true;
}

struct row_at {
	uint64_t pc;
	struct cfi_row *out;
	bool found;
};

static bool keep_row_at(void *arg, const struct cfi_row *row)
{
	struct row_at *r = arg;

	if (r->pc < row->begin || r->pc >= row->end)
		return true;
	*r->out = *row;
	r->found = true;
	return false;
}

bool cfi_row_at(struct cfi *c, uint64_t pc, struct cfi_row *out)
{
	struct row_at r = { .pc = pc, .out = out };
	struct cfi_entry e;

	if (entry_at(c, pc, &e))
		cfi_run(&e, c->arch, keep_row_at, &r);
	return r.found;
}

struct each {
	enum unwind_arch arch;
	cfi_each_fn *fn;
	void *arg;
	uint64_t entry_begin;
	bool stopped;
};

static bool hand_out(void *arg, const struct cfi_row *row)
{
	struct each *e = arg;
	struct cfi_rule rule = cfi_rule_of(row, e->arch);

	rule.begin = (uint32_t)(row->begin - e->entry_begin);
	e->stopped = !e->fn(e->arg, row->begin, row->end, &rule);
	return !e->stopped;
}

static size_t each_of(struct frames *f, struct each *each)
{
	struct cfi_entry e;
	size_t n_bad = 0;

	if (!f->indexed)
		make_index(f);
	for (size_t i = 0; i < f->index.n && !each->stopped; i++) {
		take_fde(f, f->index.at[i].offset, &e);
		each->entry_begin = e.begin;
		n_bad += !cfi_run(&e, each->arch, hand_out, each);
	}
	return n_bad;
}

size_t cfi_each(struct cfi *c, cfi_each_fn *fn, void *arg)
{
	struct each each = { .arch = c->arch, .fn = fn, .arg = arg };
	size_t n_bad;

	pthread_mutex_lock(&c->lock);
	n_bad = each_of(&c->eh, &each);
	n_bad += each_of(&c->debug, &each);
	pthread_mutex_unlock(&c->lock);
	return n_bad;
}

struct cfi *cfi_new(const struct cfi_sections *s)
{
	struct cfi *c = xcalloc(1, sizeof(*c));

	c->arch = s->arch;
	c->eh.section = s->eh_frame;
	c->debug.section = s->debug_frame;
	c->debug.is_debug = true;
	pthread_mutex_init(&c->lock, NULL);
	use_hdr(c, &s->eh_frame_hdr);
	return c;
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	vec_done(&c->eh.index);
	vec_done(&c->debug.index);
	vec_done(&c->rules);
	vec_done(&c->entries);
	map_done(&c->by_id);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
