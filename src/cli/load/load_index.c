/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When an index is read and written; see load_index.h.
 *
 * Its key has three things: what must be equal (the identity), when it was written, and the files that were consulted. Its name is
 * made of the path and the options, so that two ways to read a file do not drive each other's index out.
 */
#include "config.h"

#include "cli/load/load_index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/consulted_files.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/pack_numbers.h"
#include "base/task.h"
#include "cli/load/index_cache.h"
#include "cli/options/options.h"
#include "formats/format.h"
#include "formats/pack/index_file.h"
#include "formats/pack/pack_write.h"
#include "symbols/resolver.h"
#include "tui/app/settings.h"

/* Reading that takes less is as well done again. */
#define LEAST_NS    INT64_C(1000000000)
/* An index has each stack built twice. Where reading takes no more cpu than that for each, it is as fast. */
#define STACK_NS    INT64_C(3000)
/* A file that was changed so lately may change again with the same time. */
#define SETTLED_NS  INT64_C(100000000)
/* Of its content: the head, the end, and blocks between. */
#define END_BYTES   ((size_t)65536)
#define BLOCK_BYTES ((size_t)4096)
#define N_BLOCKS    16

struct load_index {
	char *path;     /* owned */
	char *name;     /* in the cache; owned */
	int dir;        /* of the cache */
	struct stat st; /* of the file, before it is read */
	bool settled;
	int64_t begin_cpu_ns; /* of the process, before the file is read */
	pack_bytes identity;
	struct consulted_files *consulted; /* borrowed */
	const struct profile *profile;     /* that is written */
	struct progress progress;          /* of that */
	struct task *task;                 /* or NULL */
};

static const char *asked(void)
{
	const char *said = getenv("PROFTOP_CACHE");

	return said ? said : "";
}

bool load_index_wanted(const struct options *o)
{
	struct settings s;
	bool wanted;

	if (o->no_cache || strcmp(asked(), "no") == 0)
		return false;
	settings_init(&s);
	/* what is wrong in it, the screens say */
	settings_read(&s, NULL, NULL);
	wanted = s.cache;
	settings_done(&s);
	return wanted;
}

/* The identity. */

static void put_text(pack_bytes *b, const char *s)
{
	pack_put_text(b, s ? s : "", s ? strlen(s) : 0);
}

static void put_state(pack_bytes *b, const struct stat *st)
{
	pack_put(b, st->st_dev);
	pack_put(b, st->st_ino);
	pack_put(b, (uint64_t)st->st_size);
	pack_put_signed(b, st->st_mtim.tv_sec);
	pack_put_signed(b, st->st_mtim.tv_nsec);
	pack_put_signed(b, st->st_ctim.tv_sec);
	pack_put_signed(b, st->st_ctim.tv_nsec);
}

/* A program that was built anew may read the file otherwise. */
static void put_program(pack_bytes *b)
{
	struct utsname u;
	struct stat st;

	put_text(b, PACKAGE_VERSION);
	if (stat("/proc/self/exe", &st) == 0)
		put_state(b, &st);
	if (uname(&u) != 0)
		return;
	put_text(b, u.nodename);
	put_text(b, u.release);
	put_text(b, u.version);
	put_text(b, u.machine);
}

/* All that says how a file is read, and where symbols are looked for. */
static void put_options(pack_bytes *b, const struct read_options *r)
{
	static const char *const environment[] = { "HOME", "XDG_CACHE_HOME", "DEBUGINFOD_URLS",
						   "DEBUGINFOD_CACHE_PATH", "PERF_CONFIG" };
	const struct resolver_options *o = r->resolve;
	char *here = o->n_symbol_dirs > 0 || o->sysroot ? getcwd(NULL, 0) : NULL;

	put_text(b, here);
	free(here);
	put_text(b, o->sysroot);
	pack_put(b, o->n_symbol_dirs);
	for (size_t i = 0; i < o->n_symbol_dirs; i++)
		put_text(b, o->symbol_dirs[i]);
	put_text(b, r->fields);
	pack_put(b, r->root_names);
	pack_put(b, (o->addresses ? 1u : 0) | (o->no_inlines ? 2u : 0) |
			    (o->debug_servers ? 4u : 0) | (o->same_machine ? 8u : 0) |
			    (r->stitch ? 16u : 0) | (r->addresses ? 32u : 0) |
			    (r->as_printed ? 64u : 0));
	for (size_t i = 0; i < sizeof(environment) / sizeof(*environment); i++)
		put_text(b, getenv(environment[i]));
}

static bool put_content(pack_bytes *b, int fd, uint64_t offset, size_t n)
{
	uint8_t *bytes = xmalloc(n);
	ssize_t got = pread(fd, bytes, n, (off_t)offset);

	if (got >= 0)
		pack_put(b, hash_bytes(bytes, (size_t)got));
	free(bytes);
	return got >= 0;
}

/* Times can be set back: some of the file is looked at, too. */
static bool put_samples_of(pack_bytes *b, const char *path, uint64_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool good = fd >= 0 && put_content(b, fd, 0, END_BYTES) &&
		    put_content(b, fd, size > END_BYTES ? size - END_BYTES : 0, END_BYTES);

	for (uint64_t k = 1; k <= N_BLOCKS && good && size > 2 * END_BYTES; k++)
		good = put_content(b, fd, size / (N_BLOCKS + 1) * k, BLOCK_BYTES);
	if (fd >= 0)
		close(fd);
	return good;
}

static char *name_of(const char *path, const struct read_options *r)
{
	char *whole = realpath(path, NULL), *name;
	pack_bytes b = { 0 };
	struct hash128 h;

	put_text(&b, whole);
	put_text(&b, path);
	put_options(&b, r);
	h = hash_bytes_128(b.at, b.n);
	name = xasprintf("%016" PRIx64 "%016" PRIx64 ".index", h.high, h.low);
	vec_done(&b);
	free(whole);
	return name;
}

/* Is it longer ago than times are exact? */
static bool is_settled(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - st->st_ctim.tv_sec) * INT64_C(1000000000) + now.tv_nsec -
		       st->st_ctim.tv_nsec >
	       SETTLED_NS;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

struct load_index *load_index_new(const char *path, const struct read_options *r)
{
	struct load_index *i;
	struct stat st;
	int dir;

	if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return NULL;
	dir = index_cache_open();
	if (dir < 0)
		return NULL;
	i = xcalloc(1, sizeof(*i));
	i->path = xstrdup(path);
	i->name = name_of(path, r);
	i->dir = dir;
	i->st = st;
	i->settled = is_settled(&st);
	i->begin_cpu_ns = cpu_ns();
	i->consulted = r->resolve->consulted;
	put_text(&i->identity, path);
	put_program(&i->identity);
	put_options(&i->identity, r);
	put_state(&i->identity, &st);
	if (put_samples_of(&i->identity, path, (uint64_t)st.st_size))
		return i;
	load_index_free(i, false);
	return NULL;
}

/* Reading. */

/* Does the key say that nothing has changed? *written is when it was. */
static bool fits(const struct load_index *i, const struct index_file *f, int64_t *written)
{
	size_t n, n_identity;
	const uint8_t *key = index_file_key(f, &n);
	struct bytes b = bytes_over(key, n, false);
	const char *identity = pack_take_text(&b, &n_identity);

	*written = pack_take_signed(&b);
	return !b.bad && n_identity == i->identity.n &&
	       memcmp(identity, i->identity.at, n_identity) == 0 && consulted_files_same(&b);
}

static void tell(struct profile *p, capture_id c, int64_t written)
{
	time_t at = (time_t)written;
	char day[32] = "";
	struct tm t;

	if (localtime_r(&at, &t))
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M", &t);
	builder_begin(p);
	build_fact(p, c, "file", "index", FACT_PLAIN, "read from the index of %s", day);
	builder_end(p);
}

int load_index_read(struct load_index *i, struct profile *p, capture_id c,
		    struct progress *progress)
{
	int fd = index_cache_find(i->dir, i->name), rc = -EBADMSG;
	struct index_file *f = fd < 0 ? NULL : index_file_open(fd);
	int64_t written;

	if (fd < 0)
		return 0;
	if (f && fits(i, f, &written))
		rc = index_file_read(f, p, c, progress);
	if (rc == 0)
		tell(p, c, written);
	index_file_close(f);
	/* the next reading of the file writes it anew */
	if (rc == -EBADMSG)
		index_cache_remove(i->dir, i->name);
	return rc == 0 ? 1 : rc == -EBADMSG ? 0 : rc;
}

/* Writing. */

static bool is_as_it_was(const struct load_index *i)
{
	pack_bytes before = { 0 }, now = { 0 };
	struct stat st;
	bool same;

	if (stat(i->path, &st) != 0)
		return false;
	put_state(&before, &i->st);
	put_state(&now, &st);
	same = before.n == now.n && memcmp(before.at, now.at, now.n) == 0;
	vec_done(&before);
	vec_done(&now);
	return same;
}

static bool make_key(const struct load_index *i, pack_bytes *key)
{
	pack_put_text(key, (const char *)i->identity.at, i->identity.n);
	pack_put_signed(key, time(NULL));
	return consulted_files_put(i->consulted, key);
}

static int write_index(void *arg)
{
	struct load_index *i = arg;
	pack_bytes key = { 0 };
	char *temporary;
	FILE *f;
	int rc;

	f = make_key(i, &key) ? index_cache_begin(i->dir, i->name, &temporary) : NULL;
	if (f) {
		rc = pack_write_index(i->profile, &key, index_cache_most(i->dir), f, &i->progress,
				      NULL);
		index_cache_end(i->dir, i->name, f, temporary, rc == 0 && is_as_it_was(i));
	}
	vec_done(&key);
	return 0;
}

/* Does opening the index save some of the time that reading took? */
static bool pays(const struct load_index *i, const struct profile *p, int64_t took_ns)
{
	struct profile_counts c;

	if (strcmp(asked(), "always") == 0)
		return true;
	profile_counts_read(p, &c);
	return took_ns >= LEAST_NS && cpu_ns() - i->begin_cpu_ns >= STACK_NS * c.n_stacks;
}

void load_index_write(struct load_index *i, const struct profile *p, int64_t took_ns)
{
	if (!i || !pays(i, p, took_ns) || !i->settled || !is_as_it_was(i) || !pack_index_can(p))
		return;
	i->profile = p;
	i->task = task_start(write_index, i, -1);
}

void load_index_free(struct load_index *i, bool finish)
{
	if (!i)
		return;
	if (!finish)
		progress_cancel(&i->progress);
	task_join(i->task);
	close(i->dir);
	vec_done(&i->identity);
	free(i->name);
	free(i->path);
	free(i);
}
