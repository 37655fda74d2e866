/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of one module: its bytes, the extent of its functions, its debug information. Files are found as for
 * symbols (symbols/search), and only one with the recorded build-id counts. Addresses are those of
 * locations (resolver.h).
 */
#ifndef PROFTOP_CODE_CODE_IMAGE_H
#define PROFTOP_CODE_CODE_IMAGE_H

#include "elf/build_id.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_image;
struct progress;
struct resolver_options;

/* Of a function so many bytes are shown. */
#define CODE_IMAGE_MOST ((uint64_t)4 << 20)

/* A function's code. */
struct code_extent {
	uint64_t begin, end; /* [begin, end) */
	const char *name;    /* of its symbol, mangled; NULL: it has none; borrowed */
};

/* Never NULL. function is a name that the symbol at address should have: by it a kernel's base is known. */
struct code_image *code_image_open(const struct profile *p, module_id m,
				   const struct resolver_options *o, const char *function,
				   uint64_t address);
void code_image_free(struct code_image *i);

/* Why there are no bytes; a sentence, borrowed; NULL: there are. */
const char *code_image_why(const struct code_image *i);
/* What there is of it comes from a pack. */
bool code_image_packed(const struct code_image *i);
/* The file was taken though no build-id was recorded. */
bool code_image_unverified(const struct code_image *i);
/* The file that has the code; "" where it is none; borrowed. */
const char *code_image_path(const struct code_image *i);
/* The build-id that was recorded, else that of the file; n 0: neither is known. */
struct build_id code_image_build_id(const struct code_image *i);
/* When that was written, in ns since 1970; 0: unknown. */
int64_t code_image_built_ns(const struct code_image *i);
uint16_t code_image_machine(const struct code_image *i); /* EM_… */
bool code_image_is64(const struct code_image *i);
bool code_image_swapped(const struct code_image *i);

/* The function at an address; false when nothing says where it begins and ends. */
bool code_image_function(struct code_image *i, uint64_t address, struct code_extent *out);
/* n bytes from begin, the caller's to free; NULL when they are not all there. */
uint8_t *code_image_read(const struct code_image *i, uint64_t begin, size_t n);
/* An address as objdump prints it. */
uint64_t code_image_shown(const struct code_image *i, uint64_t address);
/* "name" or "name+0x10" of what is at an address as it is shown, demangled; NULL: unknown. The caller frees. */
/* What the kernel fills into the n bytes at an address when it loads a module; the caller frees. NULL: nothing, or no module. */
char *code_image_link(const struct code_image *i, uint64_t address, size_t n);
char *code_image_note(struct code_image *i, uint64_t shown);

/* A position in a function, or in what was inlined into it. */
struct code_frame {
	const char *name;   /* of the function; NULL: not known, as of the outermost one */
	const char *file;   /* NULL: not known */
	const uint8_t *md5; /* [16] of the file when it was compiled; NULL: not told */
	uint32_t line;      /* 0: not known */
};

/* Frames at addresses[which], outermost first; all borrowed until it returns. Not called where nothing is known. */
typedef void code_take(void *arg, size_t which, const struct code_frame *frames, size_t n);

/* Asks debug information for n addresses, in any order of answers. 0 or -ECANCELED. */
int code_image_frames(struct code_image *i, const uint64_t *addresses, size_t n, code_take *take,
		      void *arg, struct progress *progress);

#endif
