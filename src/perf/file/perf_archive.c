/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Archives of symbol files; see perf_archive.h. Of the tar (POSIX ustar, with GNU's and pax's long
 * names) only files that have a build-id in their name are kept: .../BUILD-ID/elf, and also debug,
 * kallsyms or vdso there, and .build-id/XX/REST.debug.
 *
 * libarchive would read it in 100 lines less, and brings libxml2 and ICU along: 1.9 ms of a processor at each start, which takes
 * 2 ms without.
 */
#include "config.h"

#include "perf/file/perf_archive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/consulted_files.h"
#include "base/err.h"
#include "base/fmt.h"
#include "base/task.h"
#include "input/input.h"
#include "profile/builder.h"
#include "symbols/resolver.h"
#include "symbols/search/file_archive.h"

#define BLOCK          512u
#define LONG_NAME_MAX  65536u
#define KEPT_MAX       (UINT64_C(4) << 30)  /* bytes of files with a build-id */
#define UNPACKED_MAX   (UINT64_C(32) << 30) /* of everything */
#define PIECE          ((size_t)1 << 16)
#define SHORT_NAME_MAX 64 /* BUILD-ID/kallsyms */

/* A tar being read. */
struct tar {
	struct file_archive *attic;
	struct input *in;
	const struct progress *progress;
	uint64_t kept, unpacked; /* bytes */
	char *long_name;         /* of the next member, or NULL; owned */
};

/* A member's header. */
struct member {
	char name[260]; /* or what is left of it */
	uint64_t size;
	char type;
};

static int fail(const struct tar *t, struct err *e, const char *what)
{
	return err_set(e, -EBADMSG, "%s: %s", input_name(t->in), what);
}

/* Exactly n bytes. */
static int take(struct tar *t, void *to, size_t n, struct err *e)
{
	ssize_t got = input_read_full(t->in, to, n, e);

	t->unpacked += n;
	if (progress_cancelled(t->progress))
		return -ECANCELED;
	if (t->unpacked > UNPACKED_MAX)
		return fail(t, e, "is too large to be an archive of symbols");
	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : fail(t, e, "ends inside a file");
}

/* A number in octal digits, or binary if it is large (GNU). */
static uint64_t number(const uint8_t *field, size_t n)
{
	uint64_t v = 0;

	if (field[0] & 0x80) {
		for (size_t i = n - 8; i < n; i++)
			v = v << 8 | field[i];
		return v;
	}
	for (size_t i = 0; i < n && field[i] != '\0'; i++) {
		if (field[i] >= '0' && field[i] <= '7')
			v = v << 3 | (uint64_t)(field[i] - '0');
	}
	return v;
}

/* False at the end, which is a block of zeros. */
static bool decode(const uint8_t block[BLOCK], struct member *m)
{
	const char *prefix = (const char *)block + 345;
	bool ustar = memcmp(block + 257, "ustar\0", 6) == 0;
	int n = ustar ? (int)strnlen(prefix, 155) : 0;

	if (block[0] == '\0')
		return false;
	snprintf(m->name, sizeof(m->name), "%.*s%s%.*s", n, prefix, n ? "/" : "",
		 (int)strnlen((const char *)block, 100), (const char *)block);
	m->size = number(block + 124, 12);
	m->type = (char)block[156];
	return true;
}

static bool is_id(const char *s, size_t n)
{
	return n >= 8 && n <= 40 && n % 2 == 0 && strspn(s, "0123456789abcdef") >= n;
}

/* "…/BUILD-ID/elf" → "BUILD-ID/elf"; "….build-id/XX/REST.debug" → "XXREST/debug". False: another. */
static bool short_name(const char *path, char out[SHORT_NAME_MAX])
{
	static const char *const kinds[] = { "elf", "debug", "kallsyms", "vdso" };
	const char *file = strrchr(path, '/'), *dir = file;
	size_t n;

	if (!file || file == path)
		return false;
	while (dir > path && dir[-1] != '/')
		dir--;
	n = (size_t)(file - dir);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!is_id(dir, n) || strcmp(file + 1, kinds[i]) != 0)
			continue;
		snprintf(out, SHORT_NAME_MAX, "%.*s/%s", (int)n, dir, kinds[i]);
		return true;
	}
	n = strlen(file + 1);
	if (file - dir != 2 || n < 6 + 6 || strcmp(file + 1 + n - 6, ".debug") != 0 ||
	    !is_id(file + 1, n - 6))
		return false;
	snprintf(out, SHORT_NAME_MAX, "%.2s%.*s/debug", dir, (int)(n - 6), file + 1);
	return true;
}

/* The content of a member and what fills its last block; keep: into the attic. */
static int take_content(struct tar *t, uint64_t size, bool keep, struct err *e)
{
	uint64_t left = size + (BLOCK - size % BLOCK) % BLOCK, padding = left - size;
	uint8_t *piece = xmalloc(PIECE);
	int rc = 0;

	while (left > 0 && rc == 0) {
		size_t n = left < PIECE ? (size_t)left : PIECE;
		size_t used = left - n >= padding ? n : (size_t)(left - padding);

		rc = take(t, piece, n, e);
		left -= n;
		if (rc == 0 && keep && left + n > padding)
			rc = file_archive_put(t->attic, piece, used, e);
	}
	free(piece);
	return rc;
}

/* pax: "LENGTH path=NAME\n" among such lines. */
static char *path_of_pax(const char *text, size_t n)
{
	for (size_t at = 0; at < n;) {
		char *blank;
		unsigned long length = strtoul(text + at, &blank, 10);
		size_t begin = (size_t)(blank - text) + 1;

		if (*blank != ' ' || length > n - at || at + length <= begin)
			return NULL;
		if (at + length - begin > 5 && memcmp(text + begin, "path=", 5) == 0)
			return xstrndup(text + begin + 5, at + length - begin - 6);
		at += length;
	}
	return NULL;
}

/* The name of the next member, which is too long for its header. */
static int take_long_name(struct tar *t, const struct member *m, struct err *e)
{
	size_t whole = (size_t)(m->size + (BLOCK - m->size % BLOCK) % BLOCK);
	char *text = xmalloc(whole + 1);
	int rc = take(t, text, whole, e);

	text[m->size] = '\0';
	if (rc == 0) {
		free(t->long_name);
		t->long_name = m->type == 'L' ? xstrdup(text) : path_of_pax(text, (size_t)m->size);
	}
	free(text);
	return rc;
}

static int take_member(struct tar *t, const struct member *m, struct err *e)
{
	const char *name = t->long_name ? t->long_name : m->name;
	char kept[SHORT_NAME_MAX];
	bool keep = (m->type == '0' || m->type == '\0') && short_name(name, kept);
	int rc = 0;

	if (m->size > UNPACKED_MAX)
		return fail(t, e, "holds a file of an impossible size");
	if ((m->type == 'L' || m->type == 'x') && m->size <= LONG_NAME_MAX)
		return take_long_name(t, m, e);
	if (keep) {
		t->kept += m->size;
		rc = t->kept > KEPT_MAX ? fail(t, e, "holds more than 4 GiB of symbols")
					: file_archive_begin(t->attic, kept, e);
	}
	if (rc == 0)
		rc = take_content(t, m->size, keep, e);
	free(t->long_name);
	t->long_name = NULL;
	return rc;
}

/* file_archive_fill */
static int fill(struct file_archive *a, void *arg, struct err *e)
{
	struct tar t = { .attic = a, .progress = arg };
	uint8_t block[BLOCK];
	struct member m;
	int rc = input_open(file_archive_path(a), &t.in, e);

	if (rc < 0)
		return rc;
	while (rc == 0 && (rc = take(&t, block, BLOCK, e)) == 0) {
		if (!decode(block, &m))
			break;
		rc = take_member(&t, &m, e);
	}
	free(t.long_name);
	input_close(t.in);
	return rc;
}

static void try_one(struct perf_archives *a, const char *path, const struct resolver_options *o,
		    struct progress *progress)
{
	struct stat st;

	consulted_files_note(o->consulted, path);
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		vec_push(&a->all, file_archive_new(path, fill, progress));
}

void perf_archives_find(struct perf_archives *a, const char *name, const struct resolver_options *o,
			struct progress *progress)
{
	static const char *const ends[] = { "bz2", "gz", "xz", "zst" };
	char *path;

	for (size_t i = 0; i < o->n_symbol_dirs; i++)
		try_one(a, o->symbol_dirs[i], o, progress);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		path = xasprintf("%s.tar.%s", name, ends[i]);
		try_one(a, path, o, progress);
		free(path);
	}
	path = xasprintf("%s.tar", name);
	try_one(a, path, o, progress);
	free(path);
}

void perf_archives_done(struct perf_archives *a)
{
	for (size_t i = 0; i < a->all.n; i++)
		file_archive_free(a->all.at[i]);
	vec_done(&a->all);
}

void perf_archives_facts(const struct perf_archives *a, struct profile *p, capture_id c)
{
	for (size_t i = 0; i < a->all.n; i++) {
		struct file_archive *one = a->all.at[i];
		const char *trouble = file_archive_trouble(one);
		char n[FMT_COUNTED_SIZE];

		if (trouble)
			build_fact(p, c, "symbols", file_archive_path(one), FACT_MISSING,
				   "read of it: %s by build-id; then: %s",
				   fmt_counted(n, (int64_t)file_archive_n(one), "file"), trouble);
		else if (file_archive_n(one) > 0)
			build_fact(p, c, "symbols", file_archive_path(one), FACT_PLAIN,
				   "an archive of %s by build-id",
				   fmt_counted(n, (int64_t)file_archive_n(one), "file"));
	}
}
