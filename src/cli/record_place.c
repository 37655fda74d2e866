/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "record_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "say.h"

struct record_move {
	char *path, *old; /* from where to where; owned */
	char *aside;      /* where what was there is until all is known; NULL: nothing was; owned */
};

static void drop(struct record_move *m)
{
	free(m->path);
	free(m->old);
	free(m->aside);
}

static void say_stuck(const char *path)
{
	say("%s is there already and cannot be moved out of the way", path);
}

/* What there is of path before its last component, or before the one with the first percent sign; the caller frees. */
static char *known_directory(const char *path)
{
	size_t n = strcspn(path, "%");

	while (n > 0 && path[n - 1] != '/')
		n--;
	return n > 0 ? xstrndup(path, n) : xstrdup(".");
}

/* A file of one page is made and goes again: so a full disk, and one where nobody may write, are found as well. 0 or errno. */
static int try_out(const char *directory)
{
	char *trial = xasprintf("%s/.proftop-XXXXXX", directory);
	uint8_t page[4096] = { 0 };
	int fd = mkostemp(trial, O_CLOEXEC), why = fd < 0 ? errno : 0;
	ssize_t n;

	if (fd >= 0) {
		unlink(trial);
		n = write(fd, page, sizeof(page));
		if (n != (ssize_t)sizeof(page))
			why = n < 0 ? errno : ENOSPC;
		close(fd);
	}
	free(trial);
	return why;
}

bool record_place_check(const char *path)
{
	struct stat st;
	char *directory = known_directory(path ? path : "");
	bool stuck = path && !strchr(path, '%') && lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
	int why = stuck ? EEXIST : try_out(directory);

	if (stuck)
		say_stuck(path);
	else if (why == ENOENT && access(directory, F_OK) != 0)
		say("%s: there is no directory %s", path ? path : "a recording", directory);
	else if (why)
		say("%s: nothing can be written to %s: %s", path ? path : "a recording", directory,
		    strerror(why));
	free(directory);
	return why == 0;
}

bool record_place_move(struct record_place *p, const char *path)
{
	struct record_move m = { .path = xstrdup(path), .old = xasprintf("%s.old", path) };
	char *aside = xasprintf("%s.XXXXXX", m.old);
	int fd = access(m.old, F_OK) == 0 ? mkostemp(aside, O_CLOEXEC) : -1;

	/* A recording that is refused yet is not to cost what was kept before. */
	if (fd >= 0 && close(fd) == 0 && rename(m.old, aside) == 0) {
		m.aside = aside;
		aside = NULL;
	} else if (fd >= 0) {
		unlink(aside);
	}
	free(aside);
	if (rename(m.path, m.old) == 0) {
		vec_push(p, m);
		return true;
	}
	if (m.aside)
		(void)!rename(m.aside, m.old);
	drop(&m);
	return false;
}

bool record_place_clear(struct record_place *p, const char *path)
{
	struct stat st;

	if (strchr(path, '%') || lstat(path, &st))
		return true;
	if (S_ISREG(st.st_mode) && record_place_move(p, path))
		return true;
	say_stuck(path);
	return false;
}

static void done(struct record_place *p)
{
	for (size_t i = 0; i < p->n; i++)
		drop(&p->at[i]);
	vec_done(p);
}

void record_place_keep(struct record_place *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i].aside)
			unlink(p->at[i].aside);
	done(p);
}

void record_place_undo(struct record_place *p)
{
	for (size_t i = p->n; i-- > 0;) {
		const struct record_move *m = &p->at[i];

		/* What came to be there meanwhile stays. */
		if (access(m->path, F_OK) == 0 || rename(m->old, m->path) != 0) {
			if (m->aside)
				unlink(m->aside);
		} else if (m->aside) {
			(void)!rename(m->aside, m->old);
		}
	}
	done(p);
}
