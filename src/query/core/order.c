/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/order.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A key and how its label begins, most significant byte first. */
struct ranked {
	uint64_t beginning;
	uint32_t key;
};

static uint64_t beginning_of(const char *label)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < sizeof(bytes) && label[i]; i++)
		bytes |= (uint64_t)(uint8_t)label[i] << 8 * (sizeof(bytes) - 1 - i);
	return bytes;
}

static int by_label(const void *a, const void *b, void *keys)
{
	const struct ranked *x = a, *y = b;
	const struct key *key = keys;
	int cmp;

	if (x->beginning != y->beginning)
		return x->beginning < y->beginning ? -1 : 1;
	cmp = strcmp(key[x->key].label, key[y->key].label);
	if (cmp == 0)
		cmp = strcmp(key[x->key].module, key[y->key].module);
	return cmp ? cmp : (x->key > y->key) - (x->key < y->key);
}

void order_rank(struct groups *k)
{
	struct ranked *order = xreallocarray(NULL, k->n, sizeof(*order));

	k->rank = xreallocarray(NULL, k->n, sizeof(*k->rank));
	for (uint32_t i = 0; i < k->n; i++)
		order[i] = (struct ranked){ beginning_of(k->key[i].label), i };
	if (k->n > 0)
		qsort_r(order, k->n, sizeof(*order), by_label, k->key);
	for (uint32_t i = 0; i < k->n; i++)
		k->rank[order[i].key] = i;
	free(order);
}
