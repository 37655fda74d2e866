/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stat(2) and its kin by the kernel's numbers: glibc exports functions of these names since 2.33 only. The kernel's structure is that
 * of the C libraries on x86_64 and aarch64. 0, or -1 with errno.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_KERNEL_STAT_H
#define PROFTOP_RECORD_HEAP_TRACE_KERNEL_STAT_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int kernel_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

static inline int kernel_stat(const char *path, struct stat *st)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

static inline int kernel_lstat(const char *path, struct stat *st)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

#endif
