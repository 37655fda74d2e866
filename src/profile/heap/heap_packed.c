/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "profile/heap/heap_packed.h"

#include "base/err.h"
#include "base/tmpfile.h"
#include "profile/store.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Every column: which, element, most elements. */
#define COLUMNS(X) \
	X(group, struct heap_group, STORE_MOST_IDS / HEAP_GROUP + 1) \
	X(step, uint8_t, STORE_MOST_IDS) \
	X(size, uint16_t, STORE_MOST_IDS) \
	X(origin, uint16_t, STORE_MOST_IDS) \
	X(high, uint16_t, STORE_MOST_IDS) \
	X(release, uint32_t, STORE_MOST_IDS) \
	X(end, uint32_t, STORE_MOST_IDS) \
	X(wide, uint32_t[HEAP_GROUP], STORE_MOST_IDS / HEAP_GROUP + 1) \
	X(large, struct heap_large, STORE_MOST_IDS)

void heap_packed_init(struct heap_packed *t)
{
	*t = (struct heap_packed){ 0 };
#define INIT(name, type, most) column_init(&t->name, sizeof(type), most);
	COLUMNS(INIT)
#undef INIT
}

void heap_packed_done(struct heap_packed *t)
{
#define DONE(name, type, most) column_done(&t->name);
	COLUMNS(DONE)
#undef DONE
}

void heap_packed_clear(struct heap_packed *t)
{
	t->n = t->n_ends = t->n_wide = t->n_large = t->n_quick = t->n_told = 0;
}

void heap_packed_columns(const struct heap_packed *t, struct heap_columns *c)
{
	c->n_allocations = t->n;
	c->n_large = t->n_large;
	c->group = t->group.base;
	c->step = t->step.base;
	c->size = t->size.base;
	c->origin = t->origin.base;
	c->high = t->high.base;
	c->release = t->release.base;
	c->end = t->end.base;
	c->wide = t->wide.base;
	c->large = t->large.base;
}

int heap_packed_to_files(struct heap_packed *t, const char *what, struct err *e)
{
	struct column *const columns[] = {
#define COLUMN(name, type, most) &t->name,
		COLUMNS(COLUMN)
#undef COLUMN
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		int fd, rc;

		if (columns[i]->in_file)
			continue;
		fd = tmpfile_open(what, e);
		if (fd < 0)
			return fd;
		rc = column_to_file(columns[i], fd);
		if (rc < 0) {
			close(fd);
			return err_set(e, rc, "%s: no temporary file could be used: %s", what,
				       strerror(-rc));
		}
	}
	return 0;
}

static int room(struct column *c, uint64_t n)
{
	n = n < c->n_max ? n : c->n_max;
	return n * c->element_bytes <= c->usable_bytes ? 0 : column_extend(c, n);
}

/* Of rows, and of their ends, that a group may have from row n on. */
static int group_room(struct heap_packed *t, uint64_t n)
{
	struct column *const by_row[] = { &t->step, &t->size, &t->origin };
	int rc = room(&t->group, n / HEAP_GROUP + 1);

	/* It is told of to readers, who come back to it: it must not be NULL. */
	if (rc == 0)
		rc = room(&t->wide, 1);
	if (rc == 0)
		rc = room(&t->end, (uint64_t)t->n_ends + HEAP_GROUP);
	for (size_t i = 0; i < sizeof(by_row) / sizeof(*by_row) && rc == 0; i++)
		rc = room(by_row[i], n + HEAP_GROUP);
	if (rc == 0 && t->high.base)
		rc = room(&t->high, n + HEAP_GROUP);
	if (rc == 0 && t->release.base)
		rc = room(&t->release, n + HEAP_GROUP);
	return rc;
}

static size_t left_of(uint64_t n)
{
	return STORE_MOST_IDS - n < HEAP_GROUP ? (size_t)(STORE_MOST_IDS - n) : HEAP_GROUP;
}

static int begin_group(struct heap_packed *t, uint32_t begin)
{
	uint32_t n = t->n;
	int rc = n < STORE_MOST_IDS ? group_room(t, n) : -EFBIG;

	if (rc < 0)
		return rc;
	if (t->high.base)
		memset(&STORE_AT(uint16_t, t->high, n), 0, left_of(n) * sizeof(uint16_t));
	if (t->release.base)
		memset(&STORE_AT(uint32_t, t->release, n), 0xff, left_of(n) * sizeof(uint32_t));
	STORE_AT(struct heap_group, t->group,
		 n / HEAP_GROUP) = (struct heap_group){ .begin = begin, .end = t->n_ends };
	t->begin = begin;
	t->n_quick = n + (uint32_t)left_of(n);
	return 0;
}

static uint32_t *wide_of(const struct heap_packed *t, uint32_t place)
{
	return (uint32_t *)t->wide.base + (size_t)place * HEAP_GROUP;
}

/* The group's rows begin too far from each other for steps. */
static int widen(struct heap_packed *t, struct heap_group *g)
{
	uint32_t n = t->n % HEAP_GROUP, first = t->n - n, *to;
	int rc = room(&t->wide, (uint64_t)t->n_wide + 1);

	if (rc < 0)
		return rc;
	to = wide_of(t, t->n_wide++);
	for (uint32_t i = 0; i < n; i++)
		to[i] = g->begin + STORE_AT(uint8_t, t->step, first + i);
	__atomic_store_n(&g->wide, t->n_wide, __ATOMIC_RELEASE);
	t->n_quick = 0;
	return 0;
}

static int note_large(struct heap_packed *t, uint64_t size)
{
	int rc = room(&t->large, (uint64_t)t->n_large + 1);

	if (rc == 0)
		STORE_AT(struct heap_large, t->large, t->n_large++) = (struct heap_large){ t->n,
											   size };
	return rc;
}

int heap_packed_add_any(struct heap_packed *t, uint32_t begin, uint64_t size, uint32_t origin)
{
	uint32_t n = t->n;
	struct heap_group *g;
	int rc = n % HEAP_GROUP == 0 ? begin_group(t, begin) : 0;

	if (rc < 0)
		return rc;
	g = &STORE_AT(struct heap_group, t->group, n / HEAP_GROUP);
	if (!g->wide && begin - g->begin > UINT8_MAX)
		rc = widen(t, g);
	if (rc == 0 && origin > UINT16_MAX && !t->high.base)
		rc = room(&t->high, (uint64_t)(n - n % HEAP_GROUP) + HEAP_GROUP);
	if (rc == 0 && size >= HEAP_SIZE_FAR)
		rc = note_large(t, size);
	if (rc < 0)
		return rc;
	if (g->wide)
		wide_of(t, g->wide - 1)[n % HEAP_GROUP] = begin;
	else
		STORE_AT(uint8_t, t->step, n) = (uint8_t)(begin - g->begin);
	STORE_AT(uint16_t, t->size, n) = size < HEAP_SIZE_FAR ? (uint16_t)size : HEAP_SIZE_FAR;
	STORE_AT(uint16_t, t->origin, n) = (uint16_t)origin;
	if (t->high.base)
		STORE_AT(uint16_t, t->high, n) = (uint16_t)(origin >> 16);
	STORE_AT(uint32_t, t->end, t->n_ends++) = END_NEVER;
	t->last = begin;
	t->n = n + 1;
	return 0;
}

int heap_packed_with_release(struct heap_packed *t)
{
	uint64_t n = (uint64_t)(t->n / HEAP_GROUP + 1) * HEAP_GROUP;
	int rc;

	if (t->release.base)
		return 0;
	rc = room(&t->release, n);
	if (rc == 0)
		memset(t->release.base, 0xff, t->release.usable_bytes);
	return rc;
}

void heap_packed_release(struct heap_packed *t, uint32_t row, uint32_t by)
{
	__atomic_store_n(&STORE_AT(uint32_t, t->release, row), by, __ATOMIC_RELAXED);
}
