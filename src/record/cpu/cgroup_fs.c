/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events are of the hierarchy of version 1 that has the controller perf_event, where there is one, else of
 * version 2 (cgroups(7)). Samples have the number that is in the handle of the group's directory.
 */
#include "config.h"

#include "record/cpu/cgroup_fs.h"

#include <fcntl.h>
#include <fts.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/abi/perf_put.h"

char *cgroup_fs_root(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	bool is_first = false;
	char *root = NULL;

	while (mounts && !is_first && (m = getmntent(mounts))) {
		is_first = strcmp(m->mnt_type, "cgroup") == 0 && hasmntopt(m, "perf_event");
		if (!is_first && (root || strcmp(m->mnt_type, "cgroup2") != 0))
			continue;
		free(root);
		root = xstrdup(m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return root;
}

/* The number of the group with the directory; false: the kernel does not say. */
static bool number_of(const char *path, uint64_t *number)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(*number)];
	} h = { .handle = { .handle_bytes = sizeof(*number) } };
	int mount_id;

	if (name_to_handle_at(AT_FDCWD, path, &h.handle, &mount_id, 0) < 0 ||
	    h.handle.handle_bytes != sizeof(*number))
		return false;
	memcpy(number, h.handle.f_handle, sizeof(*number));
	return true;
}

static void put_group(const struct perf_attr *a, const char *dir, size_t n_root,
		      struct perf_put *to)
{
	const struct perf_trailer none = { 0 };
	struct perf_cgroup g = { .path = dir + n_root };

	if (*g.path == '\0')
		g.path = "/";
	g.path_len = strlen(g.path);
	if (number_of(dir, &g.number))
		perf_put_cgroup(to, a, &g, &none);
}

void cgroup_fs_tell(const struct perf_attr *a, struct perf_put *to)
{
	char *root = cgroup_fs_root();
	char *const paths[] = { root, NULL };
	FTS *tree = root ? fts_open(paths, FTS_PHYSICAL | FTS_NOSTAT | FTS_XDEV, NULL) : NULL;
	FTSENT *at;

	while (tree && (at = fts_read(tree)))
		if (at->fts_info == FTS_D)
			put_group(a, at->fts_path, strlen(root), to);
	if (tree)
		fts_close(tree);
	free(root);
}
