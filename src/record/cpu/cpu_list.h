/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of cpus as the kernel writes them: "0-3,8". */
#ifndef PROFTOP_RECORD_CPU_CPU_LIST_H
#define PROFTOP_RECORD_CPU_CPU_LIST_H

#include <stddef.h>

struct err;

struct cpu_list {
	int *at; /* each once; a VEC, which ends with vec_done() */
	size_t n, cap;
};

/*
 * All that are online, rising, by /sys/devices/system/cpu/online, or where there is none, as in a bare root directory, by /proc/stat,
 * or those that this process may run on. Never none.
 */
void cpu_list_online(const char *sys, const char *stat, struct cpu_list *out);

/* Those of text that are online, as it has them, or with NULL all that are, rising. -EINVAL or -ENODEV with a sentence. */
int cpu_list_read(const char *text, struct cpu_list *out, struct err *e);

#endif
