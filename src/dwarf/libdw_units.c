/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What comes back from the child is numbers and offsets of text, which are checked as if a stranger had sent them. */
#include "config.h"

#include "dwarf/libdw_units.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "base/try_in_child.h"

#define TEXT_BYTES (1u << 20)
#define SECONDS    10 /* of a processor, that libdw has for it */
#define N_STRINGS  4

struct told {
	uint32_t string[N_STRINGS]; /* offsets in text; 0: none */
	uint32_t line, declared_line;
	uint64_t function;
};

/* Shared with the child. */
struct work {
	struct libdw_ask ask;
	uint32_t n_units;
	uint32_t n_frames[LIBDW_MOST];
	struct told frame[LIBDW_MOST][LIBDW_FRAMES];
	uint32_t n_text;
	char text[TEXT_BYTES]; /* the first byte is nobody's */
};

static uint32_t put_text(struct work *w, const char *s)
{
	size_t n = s ? strlen(s) + 1 : 0;
	uint32_t at = w->n_text;

	if (n == 0 || n > TEXT_BYTES - w->n_text)
		return 0;
	memcpy(w->text + at, s, n);
	w->n_text += (uint32_t)n;
	return at;
}

/* libdw leaves paths relative to where the unit was compiled. */
static uint32_t put_path(struct work *w, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute a;
	const char *dir = NULL;
	uint32_t at;

	if (path && path[0] != '/' && dwarf_attr(unit, DW_AT_comp_dir, &a))
		dir = dwarf_formstring(&a);
	at = dir ? put_text(w, dir) : 0;
	if (at == 0)
		return put_text(w, path);
	w->text[w->n_text - 1] = '/';
	return put_text(w, path) ? at : 0;
}

static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, name, &a) ? dwarf_formstring(&a) : NULL;
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, &v) && v <= UINT32_MAX
		       ? (uint32_t)v
		       : 0;
}

static const char *file_number(Dwarf_Die *unit, uint32_t number)
{
	Dwarf_Files *files;
	size_t n;

	return dwarf_getsrcfiles(unit, &files, &n) ? NULL
						   : dwarf_filesrc(files, number, NULL, NULL);
}

/* Where a function is described once, whoever inlines it. */
static uint64_t origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die origin;

	if (dwarf_attr(die, DW_AT_abstract_origin, &a) && dwarf_formref_die(&a, &origin))
		return dwarf_dieoffset(&origin);
	return dwarf_dieoffset(die);
}

static void put_frame(struct work *w, size_t i, Dwarf_Die *unit, Dwarf_Die *die, const char *file,
		      uint32_t line)
{
	uint32_t *n = &w->n_frames[i];
	const char *linkage = string_of(die, DW_AT_linkage_name);
	struct told *f;
	int declared = 0;

	if (*n == LIBDW_FRAMES) {
		memmove(&w->frame[i][0], &w->frame[i][1], (LIBDW_FRAMES - 1) * sizeof(*f));
		--*n;
	}
	f = &w->frame[i][(*n)++];
	*f = (struct told){ .line = line, .function = origin_of(die) };
	f->string[0] = put_text(w, linkage ? linkage : string_of(die, DW_AT_MIPS_linkage_name));
	f->string[1] = put_text(w, dwarf_diename(die));
	f->string[2] = put_path(w, unit, file);
	f->string[3] = put_path(w, unit, dwarf_decl_file(die));
	if (dwarf_decl_line(die, &declared) == 0 && declared > 0)
		f->declared_line = (uint32_t)declared;
}

static void answer_one(struct work *w, Dwarf_Die *unit, size_t i)
{
	Dwarf_Addr address = w->ask.addresses[i];
	Dwarf_Line *at = dwarf_getsrc_die(unit, address);
	const char *file = at ? dwarf_linesrc(at, NULL, NULL) : NULL;
	Dwarf_Die *around = NULL, *scopes = NULL;
	int line = 0, n;

	if (at)
		dwarf_lineno(at, &line);
	if (dwarf_getscopes(unit, address, &around) > 0 &&
	    (n = dwarf_getscopes_die(&around[0], &scopes)) > 0)
		for (int k = 0; k < n; k++) {
			int tag = dwarf_tag(&scopes[k]);

			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
				continue;
			put_frame(w, i, unit, &scopes[k], file, (uint32_t)line);
			if (tag == DW_TAG_subprogram)
				break;
			file = file_number(unit, number_of(&scopes[k], DW_AT_call_file));
			line = (int)number_of(&scopes[k], DW_AT_call_line);
		}
	free(around);
	free(scopes);
}

static bool is_asked(const struct libdw_ask *q, uint64_t unit)
{
	for (size_t i = 0; i < q->n_units; i++)
		if (q->units[i] == unit)
			return true;
	return false;
}

/* In the child. */
static void try_units(void *arg)
{
	const struct rlimit some = { SECONDS, SECONDS };
	struct work *w = arg;
	int fd = open(w->ask.path, O_RDONLY | O_CLOEXEC);
	Dwarf *d = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	Dwarf_Off at = 0, next;
	size_t head;

	setrlimit(RLIMIT_CPU, &some);
	for (; d && dwarf_nextcu(d, at, &next, &head, NULL, NULL, NULL) == 0; at = next) {
		Dwarf_Die unit;

		if (!is_asked(&w->ask, at) || !dwarf_offdie(d, at + head, &unit))
			continue;
		w->n_units++;
		for (size_t i = 0; i < w->ask.n; i++)
			if (w->n_frames[i] == 0 && dwarf_haspc(&unit, w->ask.addresses[i]) == 1)
				answer_one(w, &unit, i);
	}
}

static const char *take_text(const struct work *w, uint32_t at, struct arena *strings)
{
	if (at == 0 || at >= TEXT_BYTES)
		return NULL;
	return arena_strndup(strings, w->text + at, strnlen(w->text + at, TEXT_BYTES - 1 - at));
}

static struct libdw_frame frame_of(const struct work *w, const struct told *f,
				   struct arena *strings)
{
	return (struct libdw_frame){
		.linkage_name = take_text(w, f->string[0], strings),
		.name = take_text(w, f->string[1], strings),
		.file = take_text(w, f->string[2], strings),
		.declared = take_text(w, f->string[3], strings),
		.line = f->line,
		.declared_line = f->declared_line,
		.function = f->function,
	};
}

struct libdw_answer *libdw_units_answer(const struct libdw_ask *q, struct arena *strings)
{
	struct work *w = xcalloc(1, sizeof(*w));
	struct libdw_answer *a = NULL;

	w->ask = *q;
	w->n_text = 1;
	if (try_in_child_run(try_units, w, sizeof(*w)) == 0 && w->n_units > 0) {
		a = xcalloc(1, sizeof(*a));
		a->n_units = w->n_units <= q->n_units ? w->n_units : (uint32_t)q->n_units;
		for (size_t i = 0; i < q->n; i++) {
			uint32_t n = w->n_frames[i];

			a->n_frames[i] = n < LIBDW_FRAMES ? n : LIBDW_FRAMES;
			for (uint32_t k = 0; k < a->n_frames[i]; k++)
				a->frame[i][k] = frame_of(w, &w->frame[i][k], strings);
		}
	}
	free(w);
	return a;
}
