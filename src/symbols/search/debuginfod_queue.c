/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fetching of debug files; see debuginfod_queue.h.
 *
 * A server that does not answer is asked no more: each further question would take as long.
 */
#include "config.h"

#include "symbols/search/debuginfod_queue.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "elf/build_id.h"
#include "profile/builder.h"
#include "symbols/search/debuginfod.h"

struct debuginfod_queue {
	struct profile *p;         /* borrowed */
	capture_id capture;        /* whose facts are written */
	struct progress *progress; /* borrowed */
	struct debuginfod *server; /* owned; NULL: there is none, or it cannot be asked */
	struct err no_server;      /* why */
	const char *name;          /* of the module whose file comes */
	size_t done, total;        /* modules, the present one among the done */
	size_t n_found;            /* files that came or were kept */
	size_t n_late;             /* of these, of modules whose program itself was missing */
	int trouble;               /* why no more is asked; -errno, 0: none */
	uint64_t last_mebibytes;   /* that were told of the file */
};

struct debuginfod_queue *debuginfod_queue_new(struct profile *p, capture_id c, size_t n_modules,
					      struct progress *progress)
{
	struct debuginfod_queue *g = xcalloc(1, sizeof(*g));

	g->p = p;
	g->capture = c;
	g->progress = progress;
	g->total = n_modules;
	g->no_server = (struct err)ERR_INIT;
	g->server = debuginfod_new(&g->no_server);
	return g;
}

void debuginfod_queue_free(struct debuginfod_queue *g)
{
	if (!g)
		return;
	debuginfod_free(g->server);
	err_clear(&g->no_server);
	free(g);
}

void debuginfod_queue_next(struct debuginfod_queue *g, module_id m)
{
	progress_set(g->progress, g->done++, g->total);
	g->name = profile_string(g->p, profile_module(g->p, m)->name, NULL);
	g->last_mebibytes = UINT64_MAX;
}

/* debuginfod_tick: says how far it is, a mebibyte at a time. */
static bool tell(void *arg, uint64_t done_bytes, uint64_t total_bytes)
{
	struct debuginfod_queue *g = arg;
	uint64_t mebibytes = done_bytes >> 20;
	char done[FMT_SIZE], total[FMT_SIZE];

	if (progress_cancelled(g->progress))
		return false;
	if (mebibytes == g->last_mebibytes)
		return true;
	g->last_mebibytes = mebibytes;
	fmt_bytes(done, (int64_t)(done_bytes & INT64_MAX));
	fmt_bytes(total, (int64_t)(total_bytes & INT64_MAX));
	builder_begin(g->p);
	build_fact(g->p, g->capture, "symbols", "debug files", FACT_PLAIN,
		   "fetching that of %s, module %zu of %zu: %s%s%s", g->name, g->done, g->total,
		   total_bytes ? done : "waiting for an answer", total_bytes ? " of " : "",
		   total_bytes ? total : "");
	builder_end(g->p);
	return true;
}

int debuginfod_queue_debug_file(struct debuginfod_queue *g, const struct build_id *id,
				bool lacks_program, char **path)
{
	int rc;

	if (!g->server || g->trouble)
		return -ECANCELED;
	rc = debuginfod_fetch(g->server, id, SERVER_DEBUG_FILE, tell, g, path);
	if (rc == -ENOENT && lacks_program)
		rc = debuginfod_fetch(g->server, id, SERVER_PROGRAM, tell, g, path);
	g->n_found += rc == 0;
	g->n_late += rc == 0 && lacks_program;
	if (rc < 0 && rc != -ENOENT && rc != -ECANCELED)
		g->trouble = rc;
	return rc;
}

bool debuginfod_queue_shared(struct debuginfod_queue *g, const struct build_id *id)
{
	char *path = NULL;

	if (debuginfod_fetch(g->server, id, SERVER_DEBUG_FILE, tell, g, &path) != 0)
		return false;
	free(path);
	return true;
}

/* Copied stacks were walked long before by what was there then, and are not walked again. */
static void state_late(const struct debuginfod_queue *g)
{
	build_fact(g->p, g->capture, "symbols", "debug files", FACT_PLAIN,
		   "%zu of %zu came from the servers in DEBUGINFOD_URLS; %zu for programs that are "
		   "missing here, too late for walking copied stacks through them: let "
		   "debuginfod-find executable BUILD-ID get them, and open again",
		   g->n_found, g->total, g->n_late);
}

void debuginfod_queue_state(const struct debuginfod_queue *g)
{
	builder_begin(g->p);
	if (g->no_server.code)
		build_fact(g->p, g->capture, "symbols", "debug files", FACT_MISSING,
			   "missing for %zu module%s: %s", g->total, g->total == 1 ? "" : "s",
			   err_text(&g->no_server));
	else if (g->trouble)
		build_fact(g->p, g->capture, "symbols", "debug files", FACT_MISSING,
			   "%zu of %zu came from the servers in DEBUGINFOD_URLS; then %s, and no "
			   "more was asked",
			   g->n_found, g->total,
			   g->trouble == -ETIMEDOUT ? "nothing came for a while"
						    : strerror(-g->trouble));
	else if (g->n_late)
		state_late(g);
	else
		build_fact(g->p, g->capture, "symbols", "debug files", FACT_PLAIN,
			   "%zu of %zu came from the servers in DEBUGINFOD_URLS", g->n_found,
			   g->total);
	builder_end(g->p);
}
