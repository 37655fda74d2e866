/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What libzstd has for levels above the tracer's, and is left out of every recorded program: 0.3 MB. The linker takes no object of
 * the static library of which all functions are there already. All are weak: where another version of libzstd needs more of such
 * an object, the linker takes the object, and its functions come before these.
 *
 * Should one be called all the same, the frame is right, and larger: it finds no repetitions.
 */
#include <stddef.h>
#include <stdint.h>

#define LEFT_OUT __attribute__((weak, visibility("hidden")))

/* As ZSTD_blockCompressor of zstd_compress_internal.h: returns how many bytes at the end of a block repeat nothing. */
#define FINDER(name) \
	LEFT_OUT size_t ZSTD_compressBlock_##name(void *state, void *found, uint32_t *repeated, \
						  const void *from, size_t n); \
	size_t ZSTD_compressBlock_##name(void *state, void *found, uint32_t *repeated, \
					 const void *from, size_t n) \
	{ \
		(void)state; \
		(void)found; \
		(void)repeated; \
		(void)from; \
		return n; \
	}

/* What prepares for dictionaries, of which we have none. */
#define PREPARER(name) \
	LEFT_OUT uint32_t ZSTD_##name(void); \
	uint32_t ZSTD_##name(void) \
	{ \
		return 0; \
	}

/* zstd_double_fast.c */
FINDER(doubleFast)
FINDER(doubleFast_dictMatchState)
FINDER(doubleFast_extDict)
PREPARER(fillDoubleHashTable)

/* zstd_lazy.c */
FINDER(greedy)
FINDER(greedy_dedicatedDictSearch)
FINDER(greedy_dedicatedDictSearch_row)
FINDER(greedy_dictMatchState)
FINDER(greedy_dictMatchState_row)
FINDER(greedy_extDict)
FINDER(greedy_extDict_row)
FINDER(greedy_row)
FINDER(lazy)
FINDER(lazy_dedicatedDictSearch)
FINDER(lazy_dedicatedDictSearch_row)
FINDER(lazy_dictMatchState)
FINDER(lazy_dictMatchState_row)
FINDER(lazy_extDict)
FINDER(lazy_extDict_row)
FINDER(lazy_row)
FINDER(lazy2)
FINDER(lazy2_dedicatedDictSearch)
FINDER(lazy2_dedicatedDictSearch_row)
FINDER(lazy2_dictMatchState)
FINDER(lazy2_dictMatchState_row)
FINDER(lazy2_extDict)
FINDER(lazy2_extDict_row)
FINDER(lazy2_row)
FINDER(btlazy2)
FINDER(btlazy2_dictMatchState)
FINDER(btlazy2_extDict)
PREPARER(dedicatedDictSearch_lazy_loadDictionary)
PREPARER(insertAndFindFirstIndex)
PREPARER(row_update)

/* zstd_opt.c */
FINDER(btopt)
FINDER(btopt_dictMatchState)
FINDER(btopt_extDict)
FINDER(btultra)
FINDER(btultra_dictMatchState)
FINDER(btultra_extDict)
FINDER(btultra2)
PREPARER(updateTree)
