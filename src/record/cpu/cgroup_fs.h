/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The control groups that events know, as the kernel shows them in a file system. */
#ifndef PROFTOP_RECORD_CPU_CGROUP_FS_H
#define PROFTOP_RECORD_CPU_CGROUP_FS_H

struct perf_attr;
struct perf_put;

/* Where the hierarchy is mounted whose groups events can be of; NULL: nowhere. The caller frees. */
char *cgroup_fs_root(void);

/* All groups that there are now, as CGROUP records of time 0. a: of the event whose trailer they get. */
void cgroup_fs_tell(const struct perf_attr *a, struct perf_put *to);

#endif
