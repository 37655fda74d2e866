/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Short tables: a name is looked up in those only to which its first letters lead. */
#include "config.h"

#include "record/heap/patch/allocators.h"

#include "heaptrace/heap_events.h"

#include <stddef.h>
#include <string.h>

#define NO       ALLOCATOR_NONE
#define N(table) (sizeof(table) / sizeof((table)[0]))

/* name, act, kind, block, size, count */
static const struct allocator_function of_libc[] = {
	{ "malloc", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "calloc", ACT_ALLOC, HEAP_CALLOC, NO, 1, 0 },
	{ "realloc", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "free", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "cfree", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "posix_memalign", ACT_ALLOC_AT, HEAP_ALIGNED, 0, 2, NO },
	{ "aligned_alloc", ACT_ALLOC, HEAP_ALIGNED, NO, 1, NO },
	{ "memalign", ACT_ALLOC, HEAP_ALIGNED, NO, 1, NO },
	{ "valloc", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "pvalloc", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "reallocarray", ACT_REALLOC, HEAP_MALLOC, 0, 2, 1 },
	{ "free_sized", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "free_aligned_sized", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
};

/* What jemalloc has besides, in all its namings. */
static const struct allocator_function of_jemalloc[] = {
	{ "mallocx", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "rallocx", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "xallocx", ACT_RESIZE, HEAP_MALLOC, 0, 1, NO },
	{ "dallocx", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "sdallocx", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	/* What its operator delete calls when it knows the size; jemalloc's own prefix is always there. */
	{ "je_sdallocx_noflags", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
};

/* operator new and delete; St11align_val_t and size_t are arguments. */
static const struct allocator_function of_cxx[] = {
	{ "_Znwm", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "_Znam", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "_ZnwmRKSt9nothrow_t", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "_ZnamRKSt9nothrow_t", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "_ZnwmSt11align_val_t", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "_ZnamSt11align_val_t", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "_ZdlPv", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdaPv", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdlPvm", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdaPvm", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdlPvRKSt9nothrow_t", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdaPvRKSt9nothrow_t", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdlPvSt11align_val_t", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdaPvSt11align_val_t", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdlPvmSt11align_val_t", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdaPvmSt11align_val_t", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdlPvSt11align_val_tRKSt9nothrow_t", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "_ZdaPvSt11align_val_tRKSt9nothrow_t", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
};

/* Behind mi_, and with a heap as another first argument behind mi_heap_. */
static const struct allocator_function of_mimalloc_heaps[] = {
	{ "malloc", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "zalloc", ACT_ALLOC, HEAP_CALLOC, NO, 0, NO },
	{ "malloc_small", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "calloc", ACT_ALLOC, HEAP_CALLOC, NO, 1, 0 },
	{ "mallocn", ACT_ALLOC, HEAP_MALLOC, NO, 1, 0 },
	{ "malloc_aligned", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "malloc_aligned_at", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "zalloc_aligned", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "zalloc_aligned_at", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "calloc_aligned", ACT_ALLOC, HEAP_ALIGNED, NO, 1, 0 },
	{ "calloc_aligned_at", ACT_ALLOC, HEAP_ALIGNED, NO, 1, 0 },
	{ "realloc", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "reallocn", ACT_REALLOC, HEAP_MALLOC, 0, 2, 1 },
	{ "reallocf", ACT_REALLOC_OR_FREE, HEAP_MALLOC, 0, 1, NO },
	{ "rezalloc", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "recalloc", ACT_REALLOC, HEAP_MALLOC, 0, 2, 1 },
	{ "realloc_aligned", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "realloc_aligned_at", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "rezalloc_aligned", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "rezalloc_aligned_at", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "recalloc_aligned", ACT_REALLOC, HEAP_MALLOC, 0, 2, 1 },
	{ "alloc_new", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "alloc_new_n", ACT_ALLOC, HEAP_MALLOC, NO, 1, 0 },
};

/* Behind mi_ only. */
static const struct allocator_function of_mimalloc[] = {
	{ "zalloc_small", ACT_ALLOC, HEAP_CALLOC, NO, 0, NO },
	{ "recalloc_aligned_at", ACT_REALLOC, HEAP_MALLOC, 0, 2, 1 },
	{ "reallocarray", ACT_REALLOC, HEAP_MALLOC, 0, 2, 1 },
	{ "new", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "new_nothrow", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "new_n", ACT_ALLOC, HEAP_MALLOC, NO, 1, 0 },
	{ "new_aligned", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "new_aligned_nothrow", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "new_realloc", ACT_REALLOC, HEAP_MALLOC, 0, 1, NO },
	{ "new_reallocn", ACT_REALLOC, HEAP_MALLOC, 0, 2, 1 },
	{ "posix_memalign", ACT_ALLOC_AT, HEAP_ALIGNED, 0, 2, NO },
	{ "memalign", ACT_ALLOC, HEAP_ALIGNED, NO, 1, NO },
	{ "aligned_alloc", ACT_ALLOC, HEAP_ALIGNED, NO, 1, NO },
	{ "valloc", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "pvalloc", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "free", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "cfree", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "free_size", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "free_size_aligned", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "free_aligned", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
};

/* What tcmalloc has besides those of libc, behind tc_. */
static const struct allocator_function of_tcmalloc[] = {
	{ "malloc_skip_new_handler", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "new", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "newarray", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "new_nothrow", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "newarray_nothrow", ACT_ALLOC, HEAP_MALLOC, NO, 0, NO },
	{ "new_aligned", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "newarray_aligned", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "new_aligned_nothrow", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "newarray_aligned_nothrow", ACT_ALLOC, HEAP_ALIGNED, NO, 0, NO },
	{ "delete", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "deletearray", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "delete_sized", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "deletearray_sized", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "delete_nothrow", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "deletearray_nothrow", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "delete_aligned", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "deletearray_aligned", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "delete_sized_aligned", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "deletearray_sized_aligned", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "delete_aligned_nothrow", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
	{ "deletearray_aligned_nothrow", ACT_FREE, HEAP_MALLOC, 0, NO, NO },
};

static const struct allocator_function *look_up(const struct allocator_function *table, size_t n,
						const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}
#define LOOK_UP(table, name) look_up(table, N(table), name)

/* What a prefix of its own leaves of the name; NULL: it begins otherwise. */
static const char *after(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

static bool take(struct allocator_match *m, const struct allocator_function *f,
		 enum allocator_naming naming)
{
	if (f)
		*m = (struct allocator_match){ .function = f, .naming = naming };
	return f != NULL;
}

static bool find_jemalloc(const char *rest, enum allocator_naming naming, struct allocator_match *m)
{
	return take(m, LOOK_UP(of_libc, rest), naming) ||
	       take(m, LOOK_UP(of_jemalloc, rest), naming);
}

static bool find_mimalloc(const char *rest, struct allocator_match *m)
{
	const char *of_heap = after(rest, "heap_");

	if (of_heap) {
		if (!take(m, LOOK_UP(of_mimalloc_heaps, of_heap), NAMED_MI))
			return false;
		m->shift = 1;
		return true;
	}
	return take(m, LOOK_UP(of_mimalloc_heaps, rest), NAMED_MI) ||
	       take(m, LOOK_UP(of_mimalloc, rest), NAMED_MI);
}

bool allocator_find(const char *name, struct allocator_match *m)
{
	const char *rest;

	if ((rest = after(name, "_rjem_")))
		return find_jemalloc(rest, NAMED_RJEM, m);
	if ((rest = after(name, "je_")))
		return find_jemalloc(rest, NAMED_JE, m);
	if ((rest = after(name, "mi_")))
		return find_mimalloc(rest, m);
	if ((rest = after(name, "tc_")))
		return take(m, LOOK_UP(of_libc, rest), NAMED_TC) ||
		       take(m, LOOK_UP(of_tcmalloc, rest), NAMED_TC);
	if (after(name, "_Zn") || after(name, "_Zd"))
		return take(m, LOOK_UP(of_cxx, name), NAMED_AS_OPERATOR);
	/* They begin with one of these. */
	if (!strchr("acdfmprsvx", name[0]) || name[0] == '\0')
		return false;
	return take(m, LOOK_UP(of_libc, name), NAMED_AS_LIBC) ||
	       take(m, LOOK_UP(of_jemalloc, name), NAMED_AS_JEMALLOC);
}

const char *allocator_name(enum allocator_naming naming)
{
	switch (naming) {
	case NAMED_AS_LIBC:
	case NAMED_AS_OPERATOR:
	case N_ALLOCATOR_NAMINGS:
		break;
	case NAMED_AS_JEMALLOC:
	case NAMED_JE:
	case NAMED_RJEM:
		return "jemalloc";
	case NAMED_MI:
		return "mimalloc";
	case NAMED_TC:
		return "tcmalloc";
	}
	return "an allocator";
}
