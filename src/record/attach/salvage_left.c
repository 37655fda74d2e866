/* SPDX-License-Identifier: GPL-3.0-or-later */
/* As shared_memory.c looks for sets; what a head says is not taken at its word: heap_salvage() asks the trace that it names. */
#include "config.h"

#include "record/attach/heap_salvage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/heap/trace/shared_memory.h"

/* Paths of traces; owned. */
struct paths {
	char **at;
	size_t n, cap;
};

/* The trace of the set whose first segment this is, if nobody has it and it holds something; NULL. The caller frees. */
static char *trace_of(int id)
{
	struct kept_head *h = shmat(id, NULL, SHM_RDONLY);
	struct shmid_ds ds;
	char *path = NULL;

	if (h == (void *)-1)
		return NULL;
	if (h->magic == KEPT_MAGIC && h->first == id && atomic_load(&h->state) == KEPT_IN_USE &&
	    shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_nattch == 1 && h->path[0] == '/')
		path = xstrndup(h->path, strnlen(h->path, KEPT_PATH));
	shmdt(h);
	return path;
}

static void find(struct paths *p)
{
	struct shm_info info;
	int most = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);

	for (int i = 0; i <= most; i++) {
		struct shmid_ds ds;
		int id = shmctl(i, SHM_STAT, &ds);
		char *path = NULL;

		if (id >= 0 && ds.shm_perm.uid == geteuid() && ds.shm_perm.__key == IPC_PRIVATE &&
		    (ds.shm_perm.mode & 0777) == 0600 && ds.shm_nattch == 0 &&
		    ds.shm_segsz > KEPT_HEAD)
			path = trace_of(id);
		if (path)
			vec_push(p, path);
	}
}

size_t heap_salvage_left(size_t least)
{
	struct paths p = { 0 };
	size_t n = 0;

	find(&p);
	for (size_t i = 0; i < p.n; i++) {
		struct err e = ERR_INIT;

		if (p.n >= least && heap_salvage(p.at[i], HEAP_STOP_GONE, 0, &e) > 0)
			n++;
		free(p.at[i]);
	}
	vec_done(&p);
	return n;
}
