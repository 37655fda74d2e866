/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "notebook/notebook.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/hash.h"

/* More than a page may have. */
#define NOTES_OF_PAGE 100000u

static char *base_directory(const char *variable, const char *below_home)
{
	const char *base = getenv(variable), *home = getenv("HOME");

	if (base && base[0] == '/')
		return xstrdup(base);
	return home && home[0] == '/' ? xasprintf("%s/%s", home, below_home) : NULL;
}

/* The path as one name: "%home%me%perf.data.proftop". */
static char *state_path(const char *profile)
{
	char *base = base_directory("XDG_STATE_HOME", ".local/state");
	char *whole = realpath(profile, NULL), *path = NULL;

	for (char *s = whole; s && *s; s++)
		if (*s == '/')
			*s = '%';
	if (base && whole)
		path = xasprintf("%s/proftop/notes/%s.proftop", base, whole);
	free(whole);
	free(base);
	return path;
}

static size_t n_without_slashes(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return n;
}

/* Of a link, beside the file that it leads to: that is what others open, and what is copied. */
static char *beside_path(const char *profile)
{
	char *name = xasprintf("%.*s", (int)n_without_slashes(profile), profile), *out, *real;
	struct stat st;

	real = lstat(name, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(name, NULL) : NULL;
	out = xasprintf("%s.proftop", real ? real : name);
	free(real);
	free(name);
	return out;
}

static void index_notes(struct notebook *b)
{
	size_t n = 0;

	map_done(&b->notes);
	b->notes = (struct map){ 0 };
	b->has_nodes = false;
	for (int i = PAGE_STATE; i <= PAGE_OTHERS; i++)
		n += b->page[i].notes.n;
	/* Of two on the same thing the first is found: nothing moves any more. */
	map_reserve(&b->notes, n);
	for (int i = PAGE_STATE; i <= PAGE_OTHERS; i++)
		for (size_t k = 0; k < b->page[i].notes.n; k++) {
			const char *name = b->page[i].notes.at[k].name;

			b->has_nodes |= strcmp(b->page[i].notes.at[k].of, NOTE_OF_NODE) == 0;
			map_add(&b->notes, hash_bytes(name, strlen(name)),
				(uint32_t)i * NOTES_OF_PAGE + (uint32_t)k);
		}
}

static void complain(struct notebook *b, const struct err *e)
{
	if (!b->complaint)
		b->complaint = xstrdup(err_text(e));
}

static void bar(struct notebook *b, const struct err *e)
{
	if (!b->barred)
		b->barred = xstrdup(err_text(e));
}

static void read_page(struct notebook *b, enum notebook_page i)
{
	struct err e = ERR_INIT;

	page_done(&b->page[i]);
	b->page[i] = (struct note_page){ 0 };
	if (b->path[i] && page_read(&b->page[i], b->path[i], &e)) {
		if (i != PAGE_BESIDE && (e.code == -EACCES || e.code == -EPERM))
			bar(b, &e);
		else
			complain(b, &e);
	}
	err_clear(&e);
}

/* What is of the profile alone. */
static void read_own(struct notebook *b, const char *profile)
{
	struct stat st;

	if (profile && strcmp(profile, "-") != 0 && stat(profile, &st) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && strlen(profile) < PATH_MAX) {
		b->path[PAGE_STATE] = state_path(profile);
		b->path[PAGE_BESIDE] = beside_path(profile);
	}
	read_page(b, PAGE_STATE);
	read_page(b, PAGE_BESIDE);
	index_notes(b);
}

void notebook_open(struct notebook *b, const char *profile)
{
	char *config = base_directory("XDG_CONFIG_HOME", ".config");

	*b = (struct notebook){ 0 };
	read_own(b, profile);
	if (config)
		b->path[PAGE_ALL] = xasprintf("%s/proftop/views", config);
	free(config);
	read_page(b, PAGE_ALL);
}

void notebook_take_packed(struct notebook *b, const char *path, const char *text, size_t n)
{
	struct err e = ERR_INIT;

	b->path[PAGE_PACKED] = xstrdup(path);
	if (page_parse(&b->page[PAGE_PACKED], text, n, path, &e))
		complain(b, &e);
	err_clear(&e);
	index_notes(b);
}

/* What several files say of one thing is one text. */
static int put_other(struct note_page *page, const struct note *n, const char *file, struct err *e)
{
	size_t at = page_find_note(page, n);
	struct note named = *n;
	int rc;

	named.text = xasprintf("%s%s%s: %s", at == SIZE_MAX ? "" : page->notes.at[at].text,
			       at == SIZE_MAX ? "" : "; ", file, n->text);
	rc = page_put_note(page, &named, e);
	free(named.text);
	return rc;
}

void notebook_add_other(struct notebook *b, const char *profile, const char *packed, size_t n)
{
	struct notebook other = { 0 };
	struct err e = ERR_INIT;

	read_own(&other, profile);
	if (packed)
		notebook_take_packed(&other, profile, packed, n);
	for (int i = PAGE_STATE; i <= PAGE_PACKED; i++)
		for (size_t k = 0; k < other.page[i].notes.n; k++) {
			const struct note *note = &other.page[i].notes.at[k];

			/* Those that another page of the same file hides are none. */
			if (notebook_note(&other, note->of, note->name, note->module) == note &&
			    put_other(&b->page[PAGE_OTHERS], note, profile, &e)) {
				complain(b, &e);
				err_clear(&e);
			}
		}
	if (!b->complaint) {
		b->complaint = other.complaint;
		other.complaint = NULL;
	}
	notebook_done(&other);
	index_notes(b);
}

bool notebook_is_others(const struct notebook *b, const struct note *n)
{
	const struct note_page *p = &b->page[PAGE_OTHERS];

	return p->notes.n > 0 && n >= p->notes.at && n < p->notes.at + p->notes.n;
}

char *notebook_text(const struct notebook *b)
{
	struct note_page all = { 0 };
	char *text = NULL;
	size_t n;

	/* What does not go in is one too many: readers would not take it either. */
	for (int i = PAGE_STATE; b && i <= PAGE_PACKED; i++) {
		const struct note_page *p = &b->page[i];

		for (size_t k = 0; k < p->views.n; k++)
			if (page_find_view(&all, p->views.at[k].name) == SIZE_MAX)
				page_put_view(&all, &p->views.at[k], NULL);
		for (size_t k = 0; k < p->notes.n; k++)
			if (page_find_note(&all, &p->notes.at[k]) == SIZE_MAX)
				page_put_note(&all, &p->notes.at[k], NULL);
	}
	if (all.lines.n > 0)
		text = page_text(&all, &n);
	page_done(&all);
	return text;
}

void notebook_done(struct notebook *b)
{
	for (int i = 0; i < N_PAGES; i++) {
		page_done(&b->page[i]);
		free(b->path[i]);
	}
	map_done(&b->notes);
	free(b->complaint);
	free(b->barred);
	*b = (struct notebook){ 0 };
}

const struct saved_view *notebook_view(const struct notebook *b, const char *name,
				       enum notebook_page *where)
{
	for (int i = 0; i < N_PAGES; i++) {
		size_t at = page_find_view(&b->page[i], name);

		if (at == SIZE_MAX)
			continue;
		if (where)
			*where = (enum notebook_page)i;
		return &b->page[i].views.at[at];
	}
	return NULL;
}

char *notebook_view_names(const struct notebook *b)
{
	char *all = NULL;

	for (int i = 0; i < N_PAGES; i++)
		for (size_t k = 0; k < b->page[i].views.n; k++) {
			char *longer = xasprintf("%s%s%s", all ? all : "", all ? ", " : "",
						 b->page[i].views.at[k].name);

			free(all);
			all = longer;
			if (strlen(all) > 400) /* a sentence, not a book */
				return all;
		}
	return all ? all : xstrdup("none yet");
}

/* A change of a page, which somebody else may have written since it was read. */
struct change {
	const struct saved_view *view; /* to be put in, or NULL */
	const struct note *note;       /* likewise */
	const char *drop_view;         /* to be taken away, or NULL */
	const struct note *drop_note;  /* likewise */
};

/* Makes the change in what the file has now. */
static int change_fresh(struct note_page *fresh, const struct page_lock *l, const char *path,
			const struct change *c, struct err *e)
{
	struct err read = ERR_INIT;
	bool changed = c->view || c->note;
	int rc = page_read(fresh, path, &read);

	/* Wrong lines are kept; a file that cannot be read is not written over. */
	if (rc && rc != -EINVAL) {
		err_set(e, rc, "%s", err_text(&read));
		err_clear(&read);
		return rc;
	}
	err_clear(&read);
	rc = 0;
	if (c->view)
		rc = page_put_view(fresh, c->view, e);
	if (!rc && c->note)
		rc = page_put_note(fresh, c->note, e);
	if (c->drop_view)
		changed |= page_drop_view(fresh, c->drop_view);
	if (c->drop_note)
		changed |= page_drop_note(fresh, c->drop_note);
	return rc || !changed || l->fd < 0 ? rc : page_write(fresh, l, path, e);
}

static int change_page(struct notebook *b, enum notebook_page i, const struct change *c,
		       struct err *e)
{
	struct note_page fresh = { 0 };
	struct page_lock lock;
	int rc = page_lock(&lock, b->path[i], c->view || c->note, e);

	if (rc)
		return rc;
	rc = change_fresh(&fresh, &lock, b->path[i], c, e);
	page_unlock(&lock, b->path[i]);
	if (rc) {
		page_done(&fresh);
		return rc;
	}
	page_done(&b->page[i]);
	b->page[i] = fresh;
	index_notes(b);
	return 0;
}

static bool is_forbidden(int rc)
{
	return rc == -EACCES || rc == -EPERM || rc == -EROFS || rc == -ENOENT ||
	       rc == -ENAMETOOLONG;
}

/* Beside the profile, else in the state directory; *where is which. */
static int change_own(struct notebook *b, const struct change *put, const struct change *drop,
		      enum notebook_page *where, struct err *e)
{
	struct err beside = ERR_INIT;
	int rc;

	*where = PAGE_BESIDE;
	if (!b->path[PAGE_BESIDE])
		return err_set(e, -EINVAL,
			       "what is shown is no file, so that nothing can be kept beside it");
	rc = change_page(b, PAGE_BESIDE, put, &beside);
	if (rc == 0) {
		/* What was written there while this could not be is out of date now. */
		if (b->path[PAGE_STATE] &&
		    b->page[PAGE_STATE].views.n + b->page[PAGE_STATE].notes.n > 0)
			change_page(b, PAGE_STATE, drop, NULL);
	} else if (is_forbidden(rc) && b->path[PAGE_STATE]) {
		*where = PAGE_STATE;
		rc = change_page(b, PAGE_STATE, put, e);
	} else {
		err_set(e, rc, "%s", err_text(&beside));
	}
	err_clear(&beside);
	return rc;
}

int notebook_put_view(struct notebook *b, const struct saved_view *v, bool for_all,
		      const char **path, struct err *e)
{
	struct change put = { .view = v }, drop = { .drop_view = v->name };
	enum notebook_page where = PAGE_ALL;
	int rc = saved_view_check_name(v->name, e);

	if (rc)
		return rc;
	if (!for_all)
		rc = change_own(b, &put, &drop, &where, e);
	else if (b->path[PAGE_ALL])
		rc = change_page(b, PAGE_ALL, &put, e);
	else
		rc = err_set(e, -EINVAL, "there is no home directory to keep views in");
	if (!rc && path)
		*path = b->path[where];
	return rc;
}

int notebook_drop_view(struct notebook *b, const char *name, enum notebook_page where,
		       struct err *e)
{
	struct change drop = { .drop_view = name };

	if (where == PAGE_PACKED)
		return err_set(e, -EPERM, "the view %s is in the pack %s, which is not changed",
			       name, b->path[where]);
	return change_page(b, where, &drop, e);
}

bool notebook_has_notes(const struct notebook *b)
{
	return b && b->notes.n > 0;
}

struct sought {
	const char *of, *name, *module;
};

static const struct note *note_at(const struct notebook *b, uint32_t value)
{
	return &b->page[value / NOTES_OF_PAGE].notes.at[value % NOTES_OF_PAGE];
}

static bool is_sought(const void *things, uint32_t value, const void *key)
{
	const struct note *n = note_at(things, value);
	const struct sought *s = key;

	return strcmp(n->name, s->name) == 0 && strcmp(n->of, s->of) == 0 &&
	       (!n->module || !s->module || strcmp(n->module, s->module) == 0);
}

const struct note *notebook_note(const struct notebook *b, const char *of, const char *name,
				 const char *module)
{
	const struct sought s = { of, name, module };
	uint32_t at;

	if (!notebook_has_notes(b))
		return NULL;
	at = map_find(&b->notes, hash_bytes(name, strlen(name)), is_sought, b, &s);
	/* One without text hides one of a pack. */
	return at == MAP_NONE || !*note_at(b, at)->text ? NULL : note_at(b, at);
}

/* From wherever it is, or from both. */
static int drop_note(struct notebook *b, const struct note *n, const char **path, struct err *e)
{
	const struct change drop = { .drop_note = n };

	for (int i = PAGE_STATE; i <= PAGE_BESIDE; i++) {
		int rc;

		if (page_find_note(&b->page[i], n) == SIZE_MAX)
			continue;
		rc = change_page(b, (enum notebook_page)i, &drop, e);
		if (rc)
			return rc;
		if (path)
			*path = b->path[i];
	}
	return 0;
}

int notebook_put_note(struct notebook *b, const struct note *n, const char **path, struct err *e)
{
	struct note hides = *n; /* by an empty text, what a pack brings */
	const struct change put = { .note = &hides }, drop = { .drop_note = n };
	enum notebook_page where;
	int rc;

	if (!n->text || !*n->text) {
		rc = drop_note(b, n, path, e);
		if (rc || page_find_note(&b->page[PAGE_PACKED], n) == SIZE_MAX)
			return rc;
		hides.text = (char *)"";
	}
	rc = change_own(b, &put, &drop, &where, e);
	if (!rc && path)
		*path = b->path[where];
	return rc;
}
