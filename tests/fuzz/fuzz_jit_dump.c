/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a jitdump, with all that it says asked for. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "symbols/jit/jit_dump.h"
#include "symbols/jit/jit_unwind.h"
#include "unwind/cfi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a place says of its code. */
static void ask(const struct jit_dump *d, const struct jit_place *p)
{
	uint32_t line = 0;
	const char *name = jit_dump_name(d, p->offset), *file;

	if (p->size == 0 || p->address + p->size < p->address || !name || strlen(name) > 4096)
		abort();
	if (jit_dump_index(d, p->offset) >= jit_dump_n(d))
		abort();
	file = jit_dump_source(d, p->offset, &line);
	if (file && !*file)
		abort();
}

static void find_rules(struct jit_unwind *u, const struct jit_place *p, uint64_t step)
{
	for (uint64_t at = 0; at < p->size && at < 16 * step; at += step) {
		struct cfi_rule rule, again;
		uint64_t address;
		struct cfi *c = jit_unwind_find(u, UNWIND_X86_64, p->offset + at, &address);

		if (c && cfi_find(c, address, &rule) != cfi_find(c, address, &again))
			abort();
	}
}

void fuzz_jit_dump(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	const struct jit_place *p;
	struct jit_unwind *u;
	struct jit_dump *d;
	char path[64];
	size_t n_places;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	if (jit_dump_load(path, &d, NULL) == 0) {
		p = jit_dump_places(d, &n_places);
		for (size_t i = 0; i < n_places; i++)
			ask(d, &p[i]);
		u = jit_unwind_new(d);
		for (size_t i = 0; i < n_places && i < 100; i++)
			find_rules(u, &p[i], 1 + n % 7);
		jit_unwind_free(u);
		jit_dump_free(d);
	}
	close(fd);
}
