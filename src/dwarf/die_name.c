/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What functions are called; see die_name.h. */
#include "config.h"

#include "dwarf/die_name.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/hash.h"
#include "base/mem.h"
#include "dwarf/die_entry.h"
#include "dwarf/line_table.h"

/* Something that names stand in: a namespace, a class, a function; looked at when it is asked for. */
struct scope {
	uint64_t offset;
	uint32_t parent; /* scope around it; of scope 0, the unit: itself */
	bool namespace;  /* is what it is */
};

/* The entry of a function or type, and the scope that it stands in. */
struct scoped {
	uint64_t entry;
	uint32_t scope;
};

struct die_scopes {
	VEC(struct scope) all;
	VEC(struct scoped) of; /* by entry */
};

/* What one entry on the way says. */
struct hop {
	struct die_place origin;        /* abstract instance, or nowhere */
	struct die_place specification; /* declaration, or nowhere */
};

/* Takes what the entry says and nobody before it said. */
static void take_attr(struct die_reader *r, struct die_unit *u, unsigned name,
		      const struct die_value *v, struct die_named *n, struct hop *h)
{
	switch (name) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		if (!n->linkage_name)
			n->linkage_name = die_value_string(u, v);
		break;
	case DW_AT_name:
		if (!n->name)
			n->name = die_value_string(u, v);
		break;
	case DW_AT_decl_file:
		if (!n->declared)
			n->declared = line_file_path(r, u, die_value_number(u, v));
		break;
	case DW_AT_decl_line:
		if (n->declared_line == 0)
			n->declared_line = (uint32_t)die_value_number(u, v);
		break;
	case DW_AT_abstract_origin:
		h->origin = die_value_place(r, u, v);
		break;
	case DW_AT_specification:
		h->specification = die_value_place(r, u, v);
		break;
	default:
		break;
	}
}

static struct hop take_entry(struct die_reader *r, const struct die_place *p, struct die_named *n)
{
	struct hop h = { { NULL, 0 }, { NULL, 0 } };
	struct die_unit *u = p->unit;
	const struct die_attr *attr;
	const uint8_t *at;
	struct die d;

	if (r->work <= 0 || !die_at(p, &d) || !d.abbrev)
		return h;
	attr = die_abbrev_attrs(u->abbrevs, d.abbrev);
	at = d.attrs;
	for (uint32_t i = 0; i < d.abbrev->n_attrs && at; i++, attr++) {
		struct die_value v = { at, attr->form, attr->value };

		if (v.form == DW_FORM_indirect)
			v.form = (unsigned)die_uleb(&v.at, d.next);
		r->work--;
		take_attr(r, u, attr->name, &v, n, &h);
		at = die_form_skip(u, attr->form, at, d.next);
	}
	return h;
}

static struct hop follow(struct die_reader *r, struct die_place p, struct die_named *n)
{
	struct hop first = { { NULL, 0 }, { NULL, 0 } }, h;

	for (unsigned i = 0; p.unit && i < NAME_HOPS_MAX; i++) {
		h = take_entry(r, &p, n);
		if (i == 0)
			first = h;
		/* A member's definition stands outside its class, its declaration inside. */
		n->entry = p.offset;
		n->unit = p.unit;
		p = h.origin.unit ? h.origin : h.specification;
	}
	return first;
}

static bool same_entry(const void *things, uint32_t value, const void *key)
{
	const struct die_reader *r = things;
	const struct die_place *p = key;

	return r->named.at[value]->offset == p->offset &&
	       r->named.at[value]->file_number == p->unit->file->number;
}

/* The entry that an inlined call or an instance is one of; itself, when there is no other. */
static struct die_place origin_of(struct die_reader *r, const struct die_place *p)
{
	struct die_place origin = { NULL, 0 };
	struct die_value v;
	struct die d;

	if (die_at(p, &d) && d.abbrev && die_find(p->unit, &d, DW_AT_abstract_origin, &v))
		origin = die_value_place(r, p->unit, &v);
	return origin.unit ? origin : *p;
}

const struct die_named *die_name(struct die_reader *r, const struct die_place *p)
{
	struct die_place origin = origin_of(r, p);
	uint64_t hash = hash_u64(origin.offset ^ (uint64_t)origin.unit->file->number << 56);
	uint32_t at = map_find(&r->by_entry, hash, same_entry, r, &origin);
	struct die_named *n;

	r->work--;
	if (at != MAP_NONE)
		return r->named.at[at];
	n = xcalloc(1, sizeof(*n));
	n->offset = origin.offset;
	n->file_number = origin.unit->file->number;
	follow(r, origin, n);
	map_add(&r->by_entry, hash, (uint32_t)r->named.n);
	vec_push(&r->named, n);
	return n;
}

void die_names_forget(struct die_reader *r)
{
	for (size_t i = 0; i < r->named.n; i++)
		free(r->named.at[i]);
	vec_done(&r->named);
	map_done(&r->by_entry);
}

void die_scopes_free(struct die_scopes *s)
{
	if (!s)
		return;
	vec_done(&s->all);
	vec_done(&s->of);
	free(s);
}

static bool makes_scope(unsigned tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_subprogram:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

static uint32_t add_scope(struct die_unit *u, const struct die *d, uint32_t parent)
{
	vec_push(&u->scopes->all,
		 ((struct scope){ .offset = die_offset(u, d->at),
				  .parent = parent,
				  .namespace = d->abbrev->tag == DW_TAG_namespace }));
	return (uint32_t)u->scopes->all.n - 1;
}

/* Where a walk over scopes has come to. */
struct scope_walk {
	uint32_t around[SCOPE_DEPTH_MAX]; /* scope of each level */
	unsigned depth;
};

/* What to read after an entry that is not the end of a list; NULL: damaged. */
static const uint8_t *visit_scope(struct die_reader *r, struct die_unit *u, struct scope_walk *w,
				  const struct die *d)
{
	unsigned tag = d->abbrev->tag;
	uint32_t scope = w->around[w->depth];

	if (makes_scope(tag) && tag != DW_TAG_namespace)
		vec_push(&u->scopes->of, ((struct scoped){ die_offset(u, d->at), scope }));
	if (!d->abbrev->children)
		return d->next;
	if ((!makes_scope(tag) && tag != DW_TAG_lexical_block) || w->depth + 1 == SCOPE_DEPTH_MAX)
		return die_skip_children(r, u, d);
	w->around[++w->depth] = makes_scope(tag) ? add_scope(u, d, scope) : scope;
	return d->next;
}

/* Collects the scopes of the unit's functions: a walk over all that may hold functions. */
static void collect_scopes(struct die_reader *r, struct die_unit *u)
{
	struct scope_walk w = { .depth = 0 };
	const uint8_t *at, *end;
	struct die d;

	u->scopes = xcalloc(1, sizeof(*u->scopes));
	if (!die_unit_load(u))
		return;
	end = die_bytes(u, u->end);
	if (!die_read(u, die_bytes(u, u->first), end, &d) || !d.abbrev || !d.abbrev->children)
		return;
	w.around[0] = add_scope(u, &d, 0);
	at = d.next;
	while (at && at < end && r->work-- > 0 && die_read(u, at, end, &d)) {
		if (d.abbrev) {
			at = visit_scope(r, u, &w, &d);
			continue;
		}
		at = d.next;
		if (w.depth-- == 0)
			return;
	}
}

static const struct scoped *find_scoped(const struct die_scopes *s, uint64_t entry)
{
	size_t low = 0;

	BISECT(low, s->of.n, i, s->of.at[i].entry < entry);
	return low < s->of.n && s->of.at[low].entry == entry ? &s->of.at[low] : NULL;
}

/*
 * A type without a name that can be called is that of a lambda, which only its place tells from others
 * of the function. Where gcc names it, "<lambda(int)>" becomes "{lambda(int)}" as demanglers have it.
 */
static char *scope_name(const struct scope *s, const struct die_named *is,
			const struct die_named *f)
{
	const char *kind = f->name && strncmp(f->name, "operator()", 10) == 0 ? "lambda" : "type";
	const char *slash;
	size_t n;

	if (!is->name && s->namespace)
		return xstrdup("(anonymous namespace)");
	if (!is->name && is->declared && is->declared_line > 0) {
		slash = strrchr(is->declared, '/');
		return xasprintf("{%s at %s:%u}", kind, slash ? slash + 1 : is->declared,
				 is->declared_line);
	}
	if (!is->name)
		return xasprintf("{%s}", kind);
	n = strlen(is->name);
	if (n < 8 || strncmp(is->name, "<lambda", 7) != 0 || is->name[n - 1] != '>')
		return xstrdup(is->name);
	return xasprintf("{%.*s}", (int)(n - 2), is->name + 1);
}

/* The scope around one: a definition that stands by itself belongs where it was declared. */
static uint32_t scope_around(const struct die_unit *u, const struct scope *s,
			     const struct die_named *is)
{
	const struct scoped *declared = is->unit == u && is->entry != s->offset
						? find_scoped(u->scopes, is->entry)
						: NULL;

	return declared ? declared->scope : s->parent;
}

static bool is_cplusplus(const struct die_unit *u)
{
	switch (u->language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

char *die_scope_path(struct die_reader *r, const struct die_named *f, struct die_named *around)
{
	struct die_unit *u = f->unit;
	const struct scope *at;
	const struct scoped *s;
	char *path = NULL;
	uint32_t number;

	*around = (struct die_named){ .name = NULL };
	if (!u || !is_cplusplus(u))
		return NULL;
	if (!u->scopes)
		collect_scopes(r, u);
	s = find_scoped(u->scopes, f->entry);
	number = s ? s->scope : 0;
	for (unsigned i = 0; number != 0 && i < SCOPE_DEPTH_MAX; i++) {
		struct die_named is = { .name = NULL };
		char *name, *longer;

		at = &u->scopes->all.at[number];
		follow(r, (struct die_place){ u, at->offset }, &is);
		if (i == 0)
			*around = is;
		name = scope_name(at, &is, f);
		number = scope_around(u, at, &is);
		longer = path ? xasprintf("%s::%s", name, path) : xstrdup(name);
		free(name);
		free(path);
		path = longer;
	}
	return path;
}
