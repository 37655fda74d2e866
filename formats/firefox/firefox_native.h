/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of Firefox profiles that have an address in a library and no name, as samply leaves them: named by files that are here. */
#ifndef PROFTOP_FORMATS_FIREFOX_FIREFOX_NATIVE_H
#define PROFTOP_FORMATS_FIREFOX_FIREFOX_NATIVE_H

#include "formats/firefox/firefox_text.h"
#include "profile/builder.h"

struct firefox_native;
struct progress;
struct resolver_options;

/* Borrows p and text; options may be NULL. */
struct firefox_native *firefox_native_new(struct profile *p, capture_id c,
					  const struct firefox_text *text,
					  const struct resolver_options *options);
void firefox_native_free(struct firefox_native *n);

/*
 * Which library of the text is at an address in memory of a process (an index of its starts), and where in its image that is; FIREFOX_NONE:
 * none. Asked first when all libraries have been read.
 */
uint32_t firefox_native_lib_at(struct firefox_native *n, uint32_t process, uint64_t address,
			       uint32_t *in_image);

/*
 * The location of an address in library lib of the text, counted from where it was loaded: of a return address it is the instruction
 * before. Without its file it is "[name]" of module m. Wants the pen.
 */
location_id firefox_native_locate(struct firefox_native *n, uint32_t lib, uint32_t address,
				  module_id m);

/* Names what was located; see resolver_name(). 0 or -ECANCELED, -EFBIG. */
int firefox_native_name(struct firefox_native *n, struct progress *progress);

/* Says which files are not here. Wants the pen. */
void firefox_native_tell(struct firefox_native *n);

#endif
