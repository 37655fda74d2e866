/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files in places where anybody may write; see own_file.h. */
#include "config.h"

#include "symbols/search/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

static int check(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, -ENOENT, "%s is not a regular file", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(e, -EPERM, "%s belongs to another user", path);
	return 0;
}

int own_file_open(const char *path, int *fd, struct err *e)
{
	int f = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	if (f < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	rc = check(f, path, e);
	if (rc < 0)
		close(f);
	else
		*fd = f;
	return rc;
}
