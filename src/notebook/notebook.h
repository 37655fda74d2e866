/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a person keeps of a profile: saved views, and notes on functions, sites and nodes.
 *
 * There are three files of it (page.h). Beside the profile, FILE.proftop; where that cannot be written, one of the
 * state directory, which is called by the profile's whole path; and views for every profile in the user's
 * configuration. What the state directory has goes before what is beside, and both before what is for all. A pack brings
 * its own notes and views, which are never changed: what is beside goes before them. Where several files are open, all this
 * is of one of them; notes of the others are seen where that one has none, and are never changed.
 */
#ifndef PROFTOP_NOTEBOOK_NOTEBOOK_H
#define PROFTOP_NOTEBOOK_NOTEBOOK_H

#include "base/map.h"
#include "notebook/page.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

/* In the order in which they are asked. */
enum notebook_page { PAGE_STATE, PAGE_BESIDE, PAGE_PACKED, PAGE_OTHERS, PAGE_ALL, N_PAGES };

struct notebook {
	struct note_page page[N_PAGES];
	char *path[N_PAGES]; /* NULL: there is no such file; owned */
	struct map notes;    /* of all but the last page, by name: page * NOTES_OF_PAGE + index */
	bool has_nodes;      /* some of them are on nodes */
	char *complaint;     /* what is wrong in the files, or NULL; owned */
	/* which file of the user's own directories may not be read, as where $HOME is another user's: of interest
	   only to who asks for what may be in it; or NULL; owned */
	char *barred;
};

/*
 * Reads the files that belong to a profile; NULL: it is no file, so that only views for all are there. What cannot be
 * read is said in complaint. Ends with notebook_done().
 */
void notebook_open(struct notebook *b, const char *profile);
void notebook_done(struct notebook *b);

/* What a pack brings: n bytes of text; path is the pack's, for what is said of it. */
void notebook_take_packed(struct notebook *b, const char *path, const char *text, size_t n);
/*
 * Notes of another file that is open, too, each with the file's name before its text; packed is what that file brings
 * itself, n bytes, or NULL.
 */
void notebook_add_other(struct notebook *b, const char *profile, const char *packed, size_t n);
/* Is this note of such a file? */
bool notebook_is_others(const struct notebook *b, const struct note *n);
/* All views and notes of this profile, as a pack is to have them; NULL: there are none. The caller frees. b may be NULL. */
char *notebook_text(const struct notebook *b);

/* Borrowed until something is put in; NULL: there is none. *where, which may be NULL, is whose it is. */
const struct saved_view *notebook_view(const struct notebook *b, const char *name,
				       enum notebook_page *where);
/* "a, b, c": names of all of them, or "none yet"; the caller frees. */
char *notebook_view_names(const struct notebook *b);

/*
 * Saves a view for this profile or for all, in place of one of that name there. *path, which may be NULL, is the file
 * that it is in now, borrowed. -errno with a sentence.
 */
int notebook_put_view(struct notebook *b, const struct saved_view *v, bool for_all,
		      const char **path, struct err *e);
/* Takes a view of that page away; -errno with a sentence. */
int notebook_drop_view(struct notebook *b, const char *name, enum notebook_page where,
		       struct err *e);

/* Does it have notes? b may be NULL. */
bool notebook_has_notes(const struct notebook *b);

/*
 * The note on something: of is a word of --group, or NOTE_OF_…. A note without a module is on all that are
 * called so. NULL: none. Borrowed until something is put in. b may be NULL.
 */
const struct note *notebook_note(const struct notebook *b, const char *of, const char *name,
				 const char *module);
/* Puts a note in, in place of the one on the same thing; one without text takes that away. */
int notebook_put_note(struct notebook *b, const struct note *n, const char **path, struct err *e);

#endif
