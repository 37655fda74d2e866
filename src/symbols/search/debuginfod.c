/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Debug files from servers; see debuginfod.h. The functions are those of debuginfod_find_debuginfo(3). */
#include "config.h"

#include "symbols/search/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "elf/build_id.h"

#define LIBRARY   "libdebuginfod.so.1"
#define PATIENCE  10 /* seconds until the first byte */
#define URLS_NAME "DEBUGINFOD_URLS"

typedef int progress_fn(void *client, long done, long total);

struct debuginfod {
	void *library; /* dlopen(3) */
	void *client;  /* the library's */
	/* by enum server_file */
	int (*find[2])(void *client, const unsigned char *id, int id_bytes, char **path);
	int (*find_source)(void *client, const unsigned char *id, int id_bytes, const char *source,
			   char **path);
	void (*end)(void *client);
	void (*set_data)(void *client, void *data);
};

/* A request under way. */
struct request {
	debuginfod_tick *tick;
	void *arg;
	time_t begun; /* of CLOCK_MONOTONIC */
	bool stopped; /* by tick */
	bool late;    /* PATIENCE is over */
};

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

#ifdef ONE_FILE
/* A library of the machine would bring its C library into a program that has another one in itself. */
static bool load(struct debuginfod *s, struct err *e)
{
	(void)s;
	err_set(e, -ENOTSUP,
		"the proftop that is one file has no HTTP client: debuginfod-find debuginfo FILE fetches into the cache that is read here");
	return false;
}
#else
/* ISO C knows no way from an object's address to a function's, POSIX does. */
static void find_symbol(void *library, const char *name, void *function)
{
	void *at = dlsym(library, name);

	memcpy(function, &at, sizeof(at));
}

/* The library gives no argument along but what is set as the client's data. */
static struct request *request_of(void *client)
{
	void *(*get_data)(void *);
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);

	find_symbol(library, "debuginfod_get_user_data", &get_data);
	dlclose(library);
	return get_data(client);
}

static int on_progress(void *client, long done, long total)
{
	struct request *r = request_of(client);

	/* Without a total, done counts turns of the library's loop. */
	if (total <= 0 && now() - r->begun > PATIENCE)
		r->late = true;
	if (!r->tick(r->arg, total > 0 ? (uint64_t)done : 0, total > 0 ? (uint64_t)total : 0))
		r->stopped = true;
	return r->late || r->stopped;
}

static bool load(struct debuginfod *s, struct err *e)
{
	void *(*begin)(void);
	void (*set_progress)(void *client, progress_fn *fn);
	void *(*get_data)(void *client);

	s->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!s->library) {
		err_set(e, -ENOENT, "libdebuginfod is not installed");
		return false;
	}
	find_symbol(s->library, "debuginfod_begin", &begin);
	find_symbol(s->library, "debuginfod_end", &s->end);
	find_symbol(s->library, "debuginfod_find_debuginfo", &s->find[SERVER_DEBUG_FILE]);
	find_symbol(s->library, "debuginfod_find_executable", &s->find[SERVER_PROGRAM]);
	find_symbol(s->library, "debuginfod_find_source", &s->find_source);
	find_symbol(s->library, "debuginfod_set_progressfn", &set_progress);
	find_symbol(s->library, "debuginfod_set_user_data", &s->set_data);
	find_symbol(s->library, "debuginfod_get_user_data", &get_data);
	if (begin && s->end && s->find[0] && s->find[1] && set_progress && s->set_data && get_data)
		s->client = begin();
	if (!s->client) {
		err_set(e, -ENOTSUP, "libdebuginfod is too old or cannot begin");
		return false;
	}
	set_progress(s->client, on_progress);
	return true;
}
#endif

struct debuginfod *debuginfod_new(struct err *e)
{
	const char *urls = getenv(URLS_NAME);
	struct debuginfod *s;

	if (!urls || !*urls) {
		err_set(e, -EINVAL, "there is no server to ask: set " URLS_NAME);
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	if (load(s, e))
		return s;
	debuginfod_free(s);
	return NULL;
}

void debuginfod_free(struct debuginfod *s)
{
	if (!s)
		return;
	if (s->client)
		s->end(s->client);
	/* The library stays: HTTP clients leave things behind that must outlive it. */
	free(s);
}

/* What the library answered. */
static int answered(const struct request *r, int fd, char *found, char **path)
{
	if (fd < 0)
		return r->stopped ? -ECANCELED : r->late ? -ETIMEDOUT : fd;
	close(fd);
	if (!found)
		return -ENOENT;
	*path = found;
	return 0;
}

int debuginfod_fetch(struct debuginfod *s, const struct build_id *id, enum server_file what,
		     debuginfod_tick *tick, void *arg, char **path)
{
	struct request r = { .tick = tick, .arg = arg, .begun = now() };
	char *found = NULL;
	int fd;

	s->set_data(s->client, &r);
	fd = s->find[what](s->client, id->bytes, id->n, &found);
	return answered(&r, fd, found, path);
}

int debuginfod_fetch_source(struct debuginfod *s, const struct build_id *id, const char *source,
			    debuginfod_tick *tick, void *arg, char **path)
{
	struct request r = { .tick = tick, .arg = arg, .begun = now() };
	char *found = NULL;
	int fd;

	if (!s->find_source)
		return -ENOTSUP;
	s->set_data(s->client, &r);
	fd = s->find_source(s->client, id->bytes, id->n, source, &found);
	return answered(&r, fd, found, path);
}
