/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One file of saved views and notes: a line each, so that a person can read and mend it.
 *
 *   view NAME key=value …   keys: view, filter, group, sort, event, metric, function, zoom (a focus-path: term)
 *   note key=value …        keys: of, name, module, text
 *   # comment
 *
 * A value with blanks, quotes or control characters is "quoted"; \" \\ \n \t and \xHH stand for themselves inside.
 * Lines that are wrong are left out. When the file is written again, each line that was not changed stays as it is, in its
 * place: comments and wrong lines too.
 */
#ifndef PROFTOP_NOTEBOOK_PAGE_H
#define PROFTOP_NOTEBOOK_PAGE_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

/* X(field, key): what a view says, as options of the command line do. */
/* clang-format off */
#define SAVED_VIEW_KEYS(X) \
	X(view,     "view") \
	X(filter,   "filter") \
	X(group,    "group") \
	X(sort,     "sort") \
	X(event,    "event") \
	X(metric,   "metric") \
	X(function, "function") \
	X(zoom,     "zoom")
#define NOTE_KEYS(X) \
	X(of,     "of") \
	X(name,   "name") \
	X(module, "module") \
	X(text,   "text")
/* clang-format on */

/* Texts are owned; NULL: it does not say. Their meaning is the reader's to check. */
struct saved_view {
	char *name;
#define X(field, key) char *field;
	SAVED_VIEW_KEYS(X)
#undef X
	size_t line; /* of its page */
};

/* What a note is of when it is not of a grouping's key: one node of the call tree, whose name is its focus-path: term; … */
#define NOTE_OF_NODE "node"
/* … or an allocation site, whose name is "function file:line". */
#define NOTE_OF_SITE "site"

struct note {
#define X(field, key) char *field;
	NOTE_KEYS(X)
#undef X
	size_t line; /* of its page */
};

/* As the file has it, or is to have it. */
struct page_line {
	char *text; /* [n], maybe with NULs, and a NUL behind; NULL: it was taken away; owned */
	size_t n;
};

struct note_page {
	VEC(struct saved_view) views;
	VEC(struct note) notes;
	VEC(struct page_line) lines; /* all of the file */
};

void saved_view_done(struct saved_view *v);
struct saved_view saved_view_copy(const struct saved_view *v);
void note_done(struct note *n);

/* Letters, digits, "-", "_" and "." of any script: a word for command lines. -EINVAL with a sentence otherwise. */
int saved_view_check_name(const char *name, struct err *e);

/* "name view=flame filter=…", as a line of the file has it; the caller frees. */
char *saved_view_text(const struct saved_view *v);

/* Zeroed is empty. */
void page_done(struct note_page *p);

/*
 * Adds n bytes of a file called path. Lines that are wrong make -EINVAL and "PATH:LINE: …" of the first of them; the
 * others are taken all the same.
 */
int page_parse(struct note_page *p, const char *text, size_t n, const char *path, struct err *e);

/* Reads a file into an empty page; 0 when there is none. -errno with a sentence; lines that are good are taken then, too. */
int page_read(struct note_page *p, const char *path, struct err *e);

/* Nobody else changes a file who asks for it, too, from before it is read until it is written. */
struct page_lock {
	int fd;      /* of the file, or -1 */
	bool is_new; /* it was made for this */
};

/*
 * Waits for the file, at most some seconds. One that is not there is made, with its directory, if so asked, else there is nothing to
 * lock. -errno with a sentence; otherwise ends with page_unlock(), which takes a file away that was made and not written.
 */
int page_lock(struct page_lock *l, const char *path, bool make, struct err *e);
void page_unlock(struct page_lock *l, const char *path);

/* Writes a locked file: beside, with the mode of the old one, and renames it. -errno with a sentence. */
int page_write(const struct note_page *p, const struct page_lock *l, const char *path,
	       struct err *e);

/* All lines, as the file would have them; the caller frees. */
char *page_text(const struct note_page *p, size_t *n);

/* Index of the view or of the note of the same thing, or SIZE_MAX. */
size_t page_find_view(const struct note_page *p, const char *name);
size_t page_find_note(const struct note_page *p, const struct note *like);

/* Puts a copy in, in place of what has its name; -EFBIG with a sentence when the page is full. */
int page_put_view(struct note_page *p, const struct saved_view *v, struct err *e);
int page_put_note(struct note_page *p, const struct note *n, struct err *e);
/* False when it is not there. */
bool page_drop_view(struct note_page *p, const char *name);
bool page_drop_note(struct note_page *p, const struct note *like);

#endif
