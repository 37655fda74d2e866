/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that a recording brings beside its samples, by kind and name. The model does not read them. */
#include "config.h"

#include "base/hash.h"
#include "profile/store.h"

#include <stdlib.h>
#include <string.h>

struct key {
	enum attachment_kind kind;
	const char *name;
	size_t n;
};

static uint64_t hash_of(const struct key *k)
{
	return hash_u64(hash_bytes(k->name, k->n) + k->kind);
}

static bool same(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct store_attachment *a = &p->attachments.at[value];
	const struct key *k = key;

	return a->kind == k->kind && a->n_name == k->n && memcmp(a->name, k->name, k->n) == 0;
}

void build_attachment(struct profile *p, enum attachment_kind kind, const char *name,
		      uint8_t *bytes, size_t n)
{
	struct key k = { kind, name, strlen(name) };
	struct store_attachment a = { .kind = kind, .bytes = bytes, .n = n, .next = MAP_NONE };
	uint64_t hash = hash_of(&k);
	uint32_t first, id;

	pthread_mutex_lock(&p->publication);
	id = (uint32_t)p->attachments.n;
	first = map_find(&p->attachments_by_name, hash, same, p, &k);
	if (first == MAP_NONE) {
		a.name = xstrdup(name);
		a.n_name = k.n;
		a.last = id;
		map_add(&p->attachments_by_name, hash, id);
	} else {
		p->attachments.at[p->attachments.at[first].last].next = id;
		p->attachments.at[first].last = id;
	}
	vec_push(&p->attachments, a);
	pthread_mutex_unlock(&p->publication);
}

const uint8_t *profile_attachment(const struct profile *p, enum attachment_kind kind,
				  const char *name, uint32_t *cursor, size_t *n)
{
	struct profile *mutable = (struct profile *)p;
	struct key k = { kind, name, strlen(name) };
	const uint8_t *bytes = NULL;
	uint32_t at;

	pthread_mutex_lock(&mutable->publication);
	at = *cursor == 0 ? map_find(&p->attachments_by_name, hash_of(&k), same, p, &k)
			  : p->attachments.at[*cursor - 1].next;
	if (at != MAP_NONE) {
		bytes = p->attachments.at[at].bytes;
		*n = p->attachments.at[at].n;
		*cursor = at + 1;
	}
	pthread_mutex_unlock(&mutable->publication);
	return bytes;
}

/* Its build-id, or its path where it has none. */
const char *profile_code_name(const struct profile *p, module_id m)
{
	const struct module *module = profile_module(p, m);
	const char *id = profile_string(p, module->build_id, NULL);

	return *id ? id : profile_string(p, module->path, NULL);
}

void store_attachments_done(struct profile *p)
{
	for (size_t i = 0; i < p->attachments.n; i++) {
		free(p->attachments.at[i].name);
		free(p->attachments.at[i].bytes);
	}
	vec_done(&p->attachments);
	map_done(&p->attachments_by_name);
}
