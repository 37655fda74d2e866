/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as the debug information of a file, and addresses looked up in it. The first HEAD bytes say
 * how the rest is divided into sections and which addresses are asked.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "dwarf/debug_info.h"
#include "tests/support/made_dwarf.h"

#include <stdlib.h>
#include <string.h>

#define HEAD        32
#define N_ADDRESSES 64
#define MAX_FRAMES  8

struct asked {
	struct debug_reader *reader;
	uint64_t sum; /* of all that was answered */
};

static void add_text(struct asked *a, const char *s)
{
	for (; s && *s; s++)
		a->sum = a->sum * 31 + (uint8_t)*s;
}

/* debug_take */
static void take(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	struct asked *a = arg;

	if (which >= N_ADDRESSES || n == 0 || n > MAX_FRAMES)
		abort();
	for (size_t i = 0; i < n; i++) {
		struct debug_frame f = frames[i];
		char *scope = debug_info_scope(a->reader, &f);

		add_text(a, f.linkage_name);
		add_text(a, f.name);
		add_text(a, f.file);
		add_text(a, f.declared);
		add_text(a, scope);
		a->sum += f.line + f.declared_line + f.function;
		free(scope);
	}
}

static uint64_t answer(struct debug_info *d, const uint64_t *addresses)
{
	struct debug_plan *p = debug_plan_new(d, addresses, N_ADDRESSES);
	struct asked a = { .reader = debug_reader_new(d, MAX_FRAMES) };

	for (size_t i = 0; i < debug_plan_n_groups(p); i++)
		debug_reader_answer(a.reader, p, i, take, &a);
	debug_reader_free(a.reader);
	debug_plan_free(p);
	return a.sum;
}

void fuzz_debug_info(const uint8_t *bytes, size_t n)
{
	uint64_t addresses[N_ADDRESSES];
	struct made_dwarf m = { 0 };
	const uint8_t *at = bytes + HEAD;
	struct debug_info *d;
	size_t left, size;

	if (n < HEAD)
		return;
	left = n - HEAD;
	for (unsigned i = 0; i < N_MADE; i++) {
		size = (size_t)bytes[2 * i] | (size_t)bytes[2 * i + 1] << 8;
		size = size < left ? size : left;
		put_bytes(&m.section[i], at, size);
		at += size;
		left -= size;
	}
	for (unsigned i = 0; i < N_ADDRESSES; i++)
		addresses[i] = ((uint64_t)bytes[HEAD - 2] << 8 | bytes[HEAD - 1]) +
			       (uint64_t)i * bytes[HEAD - 3];
	d = debug_info_of(made_dwarf_elf(&m));
	made_dwarf_done(&m);
	if (!d)
		return;
	/* Whoever asks first or again, the answer is the same. */
	if (answer(d, addresses) != answer(d, addresses))
		abort();
	debug_info_free(d);
}
