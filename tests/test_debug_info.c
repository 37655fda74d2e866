/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Our indexes of debug information against libdw's own slow answers (dwarf_getscopes, which walks
 * the unit for each address), over this very program and over a captured one if it is there.
 */
#include "debug_info.h"

#include <criterion/criterion.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FRAMES 64

/* What libdw says: innermost first. */
static size_t reference_frames(Dwarf *dw, Dwarf_Addr pc, struct debug_frame *out)
{
	Dwarf_Die cu, innermost, *scopes = NULL;
	Dwarf_Attribute attr;
	Dwarf_Word n = 0;
	size_t got = 0;
	int n_scopes;

	if (!dwarf_addrdie(dw, pc, &cu))
		return 0;
	/* The innermost one's own parents: dwarf_getscopes() itself goes on in the abstract instance. */
	n_scopes = dwarf_getscopes(&cu, pc, &scopes);
	if (n_scopes > 0) {
		innermost = scopes[0];
		free(scopes);
		n_scopes = dwarf_getscopes_die(&innermost, &scopes);
	}
	for (int i = 0; i < n_scopes && got < MAX_FRAMES; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		out[got] = (struct debug_frame){ .name = dwarf_diename(&scopes[i]) };
		if (tag == DW_TAG_inlined_subroutine &&
		    dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attr), &n) == 0)
			out[got].line = (uint32_t)n; /* of the frame outside it */
		got++;
		if (tag == DW_TAG_subprogram)
			break;
	}
	free(scopes);
	return got;
}

static bool frames_agree(Dwarf *dw, struct debug_info *d, Dwarf_Addr pc, size_t *only_ours)
{
	struct debug_frame ours[MAX_FRAMES], theirs[MAX_FRAMES];
	size_t n_theirs = reference_frames(dw, pc, theirs);
	size_t n_ours = debug_info_frames(d, pc, ours, MAX_FRAMES);

	/* dwarf_getscopes() does not look into functions that stand inside types inside functions. */
	if (n_theirs == 0) {
		*only_ours += n_ours > 0 && ours[0].name;
		return true;
	}
	if (n_ours != n_theirs)
		return false;
	for (size_t i = 0; i < n_ours; i++) {
		if (!ours[i].name != !theirs[i].name ||
		    (ours[i].name && strcmp(ours[i].name, theirs[i].name) != 0))
			return false;
		if (i > 0 && ours[i].line != theirs[i - 1].line)
			return false;
	}
	return true;
}

static bool line_agrees(Dwarf *dw, struct debug_info *d, Dwarf_Addr pc)
{
	struct debug_frame ours[MAX_FRAMES] = { 0 };
	Dwarf_Die cu;
	Dwarf_Line *row = NULL;
	int line = 0;
	size_t n = debug_info_frames(d, pc, ours, MAX_FRAMES);

	if (dwarf_addrdie(dw, pc, &cu))
		row = dwarf_getsrc_die(&cu, pc);
	if (row)
		dwarf_lineno(row, &line);
	return n == 0 ? line == 0 : ours[0].line == (uint32_t)line;
}

struct tally {
	size_t n, n_frames_differ, n_lines_differ, n_inlined, n_only_ours;
};

/* Every `step`th address of each unit's code. */
static void compare(const char *path, Dwarf_Addr step, struct tally *t)
{
	int fd = open(path, O_RDONLY);
	Dwarf *dw = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	struct debug_info *d = dw ? debug_info_new(dw) : NULL;
	struct debug_frame frames[MAX_FRAMES];
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (d && dwarf_get_units(dw, cu, &cu, NULL, NULL, &die, NULL) == 0) {
		Dwarf_Addr base, begin, end;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0)
			/* begin 0: a function that the linker dropped */
			for (Dwarf_Addr pc = begin; begin && pc < end; pc += step) {
				t->n++;
				t->n_frames_differ += !frames_agree(dw, d, pc, &t->n_only_ours);
				t->n_lines_differ += !line_agrees(dw, d, pc);
				t->n_inlined += debug_info_frames(d, pc, frames, MAX_FRAMES) > 1;
			}
	}
	debug_info_free(d);
	dwarf_end(dw);
	if (fd >= 0)
		close(fd);
}

Test(debug_info, agrees_with_libdw)
{
	struct tally t = { 0 };

	compare("/proc/self/exe", 61, &t);
	if (t.n == 0) {
		printf("skipped: this program has no debug information\n");
		return;
	}
	cr_expect_eq(t.n_frames_differ, 0, "%zu of %zu", t.n_frames_differ, t.n);
	cr_expect_eq(t.n_lines_differ, 0, "%zu of %zu", t.n_lines_differ, t.n);
	cr_expect_lt(t.n_only_ours, t.n / 10, "libdw has no function for %zu of %zu", t.n_only_ours,
		     t.n);
}

/* Any files, fully: PROFTOP_TEST_DEBUG_INFO="FILE…". */
Test(debug_info, given_files, .timeout = 3600)
{
	const char *given = getenv("PROFTOP_TEST_DEBUG_INFO");
	char *files = given ? strdup(given) : NULL, *save = NULL;

	for (char *f = files ? strtok_r(files, " ", &save) : NULL; f;
	     f = strtok_r(NULL, " ", &save)) {
		struct tally t = { 0 };

		compare(f, 37, &t);
		printf("%s: %zu addresses, %zu inlined, %zu frames differ, %zu lines differ\n", f,
		       t.n, t.n_inlined, t.n_frames_differ, t.n_lines_differ);
		cr_expect_eq(t.n_frames_differ + t.n_lines_differ, 0);
	}
	free(files);
}

/* When there are more frames than room, the outermost ones are kept. */
Test(debug_info, keeps_outermost)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	Dwarf *dw = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	struct debug_info *d = dw ? debug_info_new(dw) : NULL;
	struct debug_frame all[MAX_FRAMES], two[2];
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (d && dwarf_get_units(dw, cu, &cu, NULL, NULL, &die, NULL) == 0) {
		Dwarf_Addr base, begin, end;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0)
			for (Dwarf_Addr pc = begin; pc < end; pc += 97) {
				size_t n = debug_info_frames(d, pc, all, MAX_FRAMES);

				if (n < 2)
					continue;
				cr_assert_eq(debug_info_frames(d, pc, two, 2), 2);
				cr_expect_eq(two[1].function, all[n - 1].function);
				cr_expect_eq(two[0].function, all[n - 2].function);
			}
	}
	debug_info_free(d);
	dwarf_end(dw);
	if (fd >= 0)
		close(fd);
}
