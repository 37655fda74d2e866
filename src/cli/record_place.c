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
	char *directory = known_directory(path ? path : "");
	int why = try_out(directory);

	if (why == ENOENT && access(directory, F_OK) != 0)
		say("%s: there is no directory %s", path ? path : "a recording", directory);
	else if (why)
		say("%s: nothing can be written to %s: %s", path ? path : "a recording", directory,
		    strerror(why));
	free(directory);
	return why == 0;
}

bool record_make_way(const char *path)
{
	struct stat st;
	char *old;
	bool done;

	if (strchr(path, '%') || lstat(path, &st))
		return true;
	old = xasprintf("%s.old", path);
	done = S_ISREG(st.st_mode) && rename(path, old) == 0;
	if (!done)
		say("%s is there already and cannot be moved out of the way", path);
	free(old);
	return done;
}
