/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a text input as UTF-8, a block at a time.
 *
 * UTF-8 is passed as it is, valid or not, without a byte order mark at its beginning; UTF-16 with a
 * byte order mark is converted. NULs become U+0001, as names end at a NUL. A line longer than LINES_MOST_BYTES is not held but marked. The end of
 * the input ends a line.
 */
#ifndef PROFTOP_INPUT_LINES_H
#define PROFTOP_INPUT_LINES_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input;
struct task;

#define LINES_MOST_BYTES ((size_t)64 << 20)

/* The next block of a packed file, unpacked on another thread while this one is taken. */
struct lines_ahead {
	struct task *task; /* NULL: there is none */
	VEC(char) text;    /* room for what is left of the last line, then the block */
	ssize_t got;       /* bytes of the block, or what input_read() returned */
	struct err damage; /* why it returned that */
};

enum lines_encoding { LINES_UTF8, LINES_UTF16LE, LINES_UTF16BE };

struct lines {
	struct input *in; /* borrowed */
	VEC(char) text;   /* lines not handed out yet, the last one perhaps in part */
	size_t at;        /* where the next line begins in text */
	size_t searched;  /* no newline lies between at and here */
	uint8_t *raw;     /* UTF-16 not converted yet; owned; NULL for UTF-8 */
	size_t raw_n;     /* 0 to 3 bytes of it, between blocks */
	enum lines_encoding encoding;
	bool begun;    /* the byte order mark is behind us */
	bool ended;    /* the input is */
	bool skipping; /* within a line that is too long */
	uint64_t n;    /* lines handed out: the number of the last one, from 1 */
	/* Of the input, whose own may be ahead: input_offset() and input_file_done() at the end of text. */
	uint64_t offset, file_done;
	struct lines_ahead ahead;
};

/* Zeroed but for the input, which nobody else reads or asks how far it is until lines_done(). */
void lines_init(struct lines *l, struct input *in);
void lines_done(struct lines *l);

/*
 * Reads the next block: 1 when there was one, 0 at the end, -errno. Lines handed out before are
 * gone. After 0 or an error the last line, which has no newline, can be had with lines_next().
 */
int lines_fill(struct lines *l, struct err *e);

/*
 * The next line of the block, without its newline; false when there is none until the next fill.
 * *s is NULL for a line that was too long. Borrowed until the next fill.
 */
bool lines_next(struct lines *l, const char **s, size_t *n);

/*
 * The lines that lines_next() would hand out, as far as they are whole: one text of n bytes, which ends in a newline. For formats whose
 * lines are so short that a call for each takes longer than they do. False: there is none, or the next one is too long. Those that were
 * taken, n_lines of n bytes, are then passed over.
 */
bool lines_peek(const struct lines *l, const char **s, size_t *n);
void lines_pass(struct lines *l, size_t n, uint64_t n_lines);

/* Which encoding the first bytes show, and how many of them are its mark. */
enum lines_encoding lines_encoding_of(const uint8_t *bytes, size_t n, size_t *mark);

/*
 * Converts n bytes of UTF-16 to UTF-8 at out, which has room for 2 n bytes. What is no character
 * becomes U+FFFD. Half a character at the end is left, *taken says what was used; but all is used
 * when last. Returns the bytes written.
 */
size_t lines_from_utf16(const uint8_t *bytes, size_t n, bool big_endian, bool last, char *out,
			size_t *taken);

#endif
