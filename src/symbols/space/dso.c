/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What mappings are of; see dso.h. Paths as perf and the kernel write them.
 */
#include "config.h"

#include "symbols/space/dso.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "elf/build_id.h"

#define KERNEL_PATH  "[kernel.kallsyms]"
#define JIT_PATH_MAX 64
#define HELD_MAX     4096 /* open files */

struct entry {
	struct dso dso;
	module_id module; /* {ID_NONE}: no sample yet */
};

/* A build-id that the recording's header gives. */
struct header_id {
	const char *key; /* as dso_key() makes it; in the arena */
	struct build_id id;
};

struct dso_table {
	pthread_mutex_t lock; /* guards entry, by_module, and what is in them */
	VEC(struct entry) entry;
	uint32_t kernel;         /* number + 1 of the kernel itself; 0: not told yet */
	VEC(uint32_t) by_module; /* module_id → number + 1; 0: not ours */
	VEC(struct header_id) header_id;
	struct map entries_by_key;    /* into entry; same_entry */
	struct map header_ids_by_key; /* into header_id */
	struct arena arena;           /* strings */
	bool hold;                    /* files are opened when they are mapped */
	uint32_t n_held;              /* and so many are open */
};

static bool starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Is path a kernel module's file? *n is the length of its name without .ko and packing. */
static bool is_ko(const char *path, size_t *n)
{
	const char *name = path_last_part(path), *ko = strstr(name, ".ko");

	for (; ko; ko = strstr(ko + 1, ".ko")) {
		const char *rest = ko + 3;

		if (*rest == '\0' || strcmp(rest, ".xz") == 0 || strcmp(rest, ".gz") == 0 ||
		    strcmp(rest, ".zst") == 0) {
			*n = (size_t)(ko - name);
			return *n > 0;
		}
	}
	return false;
}

/* Memory without a file, where code can only have been generated. */
static bool is_anonymous(const char *path)
{
	static const char *const prefixes[] = { "//anon", "/anon_hugepage", "/dev/zero", "/SYSV",
						"[heap]", "[stack",         "[anon" };

	if (path[0] == '\0')
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (starts(path, prefixes[i]))
			return true;
	}
	return false;
}

/* jit-PID.dump: where a process writes the code that it generates. */
static bool is_jit_dump(const char *path)
{
	const char *name = path_last_part(path);
	size_t digits = starts(name, "jit-") ? strspn(name + 4, "0123456789") : 0;

	return digits > 0 && strcmp(name + 4 + digits, ".dump") == 0;
}

static bool is_library(const char *name)
{
	const char *so = strstr(name, ".so");

	for (; so; so = strstr(so + 1, ".so")) {
		if (so[3] == '\0' || so[3] == '.' || so[3] == ' ')
			return true;
	}
	return false;
}

static enum family family_of_file(const char *path)
{
	static const char *const libc[] = { "libc.so",  "libc-2.",    "ld-linux", "ld-2.",
					    "ld-musl",  "libpthread", "libm.so",  "libm-2.",
					    "libmvec",  "librt.so",   "librt-2.", "libdl.so",
					    "libdl-2.", "ld.so",      "ld64.so",  "libresolv",
					    "libc.musl" };
	const char *name = path_last_part(path);

	/* Programs are run from memory too, but it is mostly where JITs write what they run. */
	if (starts(name, "jitted-") || starts(path, "/memfd:"))
		return FAMILY_JIT;
	for (size_t i = 0; i < sizeof(libc) / sizeof(libc[0]); i++) {
		if (starts(name, libc[i]))
			return FAMILY_LIBC;
	}
	return is_library(name) ? FAMILY_LIBRARY : FAMILY_PROGRAM;
}

/* What a mapping is of, but for the strings, which are borrowed from m or from jit. */
static struct dso classify(const struct mapping_event *m, char jit[JIT_PATH_MAX])
{
	struct dso d = { .path = m->path,
			 .reference = "",
			 .build_id = m->build_id,
			 .is_data = !m->executable,
			 .pid = -1,
			 .seen_in = m->pid };

	if (starts(m->path, KERNEL_PATH) || starts(m->path, "[guest.kernel.kallsyms")) {
		bool guest = m->path[1] == 'g';

		d.kind = guest ? DSO_NOTHING : DSO_KERNEL;
		d.family = FAMILY_KERNEL;
		d.path = guest ? "[guest.kernel.kallsyms]" : KERNEL_PATH;
		d.reference = guest ? "" : m->path + strlen(KERNEL_PATH);
		d.reference_value = m->file_offset;
		d.text_bytes = m->text_bytes;
	} else if (m->pid < 0 && m->path[0] != '[' && m->path[0] != '/' && m->path[0] != '\0') {
		d.kind = DSO_KSYMBOL;
		d.family = FAMILY_KERNEL;
	} else if (m->pid < 0) {
		d.kind = DSO_KMODULE;
		d.family = FAMILY_KERNEL;
		d.reference_value = m->start;
	} else if (starts(m->path, "[vdso")) {
		d.kind = DSO_VDSO;
		d.family = FAMILY_LIBC;
	} else if (is_jit_dump(m->path)) {
		d.kind = DSO_JIT_DUMP;
		d.family = FAMILY_JIT;
		d.pid = m->pid;
	} else if (is_anonymous(m->path)) {
		/* perf renames executable ones to the file that may name what is in them. */
		d.kind = m->executable ? DSO_JIT : DSO_NOTHING;
		d.family = FAMILY_JIT;
		d.pid = m->pid;
		snprintf(jit, JIT_PATH_MAX, "/tmp/perf-%ld.map", (long)m->pid);
		if (m->executable)
			d.path = jit;
	} else if (m->path[0] == '[') {
		d.kind = DSO_NOTHING;
		d.family = starts(m->path, "[v") ? FAMILY_KERNEL : FAMILY_UNKNOWN;
	} else {
		d.kind = DSO_FILE;
		d.family = family_of_file(m->path);
		d.code_offset = m->file_offset;
	}
	return d;
}

static uint64_t bias_of(const struct dso *d, const struct mapping_event *m)
{
	switch (d->kind) {
	case DSO_FILE:
	case DSO_JIT_DUMP:
		return m->start - m->file_offset;
	case DSO_KERNEL:
		return m->file_offset;
	case DSO_KSYMBOL:
	case DSO_KMODULE:
	case DSO_VDSO:
		return m->start;
	case DSO_JIT:
	case DSO_NOTHING:
		break;
	}
	return 0;
}

/*
 * By what header build-ids are found: a module of the kernel as "[name]" with '_' for '-', which is
 * how kallsyms spells it; everything else by its path. In the arena.
 */
static const char *dso_key(struct arena *a, const char *path, bool kernel)
{
	size_t n;
	char *key;

	if (kernel && (starts(path, KERNEL_PATH) || starts(path_last_part(path), "vmlinux")))
		return KERNEL_PATH;
	if (!is_ko(path, &n))
		return arena_strndup(a, path, strlen(path));
	key = arena_alloc(a, n + 3);
	key[0] = '[';
	for (size_t i = 0; i < n; i++)
		key[i + 1] = path_last_part(path)[i] == '-' ? '_' : path_last_part(path)[i];
	key[n + 1] = ']';
	key[n + 2] = '\0';
	return key;
}

static uint64_t hash_text(const char *s)
{
	return hash_bytes(s, strlen(s));
}

static bool same_header_id(const void *things, uint32_t value, const void *key)
{
	const struct dso_table *t = things;

	return strcmp(t->header_id.at[value].key, key) == 0;
}

static bool same_entry(const void *things, uint32_t value, const void *key)
{
	const struct dso_table *t = things;
	const struct dso *a = &t->entry.at[value].dso, *b = key;

	if (a->kind == DSO_NOTHING && a->is_data != b->is_data)
		return false;
	return a->kind == b->kind && a->pid == b->pid && a->reference_value == b->reference_value &&
	       a->build_id.n == b->build_id.n &&
	       memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.n) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

struct dso_table *dso_table_new(void)
{
	struct dso_table *t = xcalloc(1, sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	arena_init(&t->arena);
	return t;
}

void dso_table_hold(struct dso_table *t)
{
	t->hold = true;
}

void dso_table_free(struct dso_table *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	for (size_t i = 0; i < t->entry.n; i++)
		if (t->entry.at[i].dso.held)
			close(t->entry.at[i].dso.held - 1);
	vec_done(&t->entry);
	vec_done(&t->by_module);
	vec_done(&t->header_id);
	map_done(&t->entries_by_key);
	map_done(&t->header_ids_by_key);
	arena_done(&t->arena);
	free(t);
}

void dso_table_build_id(struct dso_table *t, const char *path, const struct build_id *id,
			bool kernel)
{
	const char *key = dso_key(&t->arena, path, kernel);
	uint64_t hash = hash_text(key);
	struct header_id h = { .key = key, .id = build_id_of(id->bytes, id->n) };

	if (h.id.n == 0 ||
	    map_find(&t->header_ids_by_key, hash, same_header_id, t, key) != MAP_NONE)
		return;
	map_add(&t->header_ids_by_key, hash, (uint32_t)t->header_id.n);
	vec_push(&t->header_id, h);
	/* Pipes tell build-ids at the end; entries are not found by theirs then, but named by it. */
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->entry.n; i++) {
		struct dso *d = &t->entry.at[i].dso;
		bool ours = d->kind == DSO_KERNEL ? key[0] == '[' && strcmp(key, KERNEL_PATH) == 0
						  : strcmp(d->path, path) == 0;

		if (ours && d->build_id.n == 0)
			d->build_id = h.id;
	}
	pthread_mutex_unlock(&t->lock);
}

/* A regular file, without waiting for whatever else the name may be of; a descriptor + 1, or 0. */
static int hold(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd + 1;
}

/* The file as the process has it mapped, else what it sees by that name, else what we do. */
static int hold_mapped(struct dso_table *t, const struct mapping_event *m)
{
	char *ways[] = { xasprintf("/proc/%ld/map_files/%" PRIx64 "-%" PRIx64, (long)m->pid,
				   m->start, m->start + m->length),
			 xasprintf("/proc/%ld/root%s", (long)m->pid, m->path), xstrdup(m->path) };
	int held = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!held && t->n_held < HELD_MAX)
			held = hold(ways[i]);
		free(ways[i]);
	}
	t->n_held += held > 0;
	return held;
}

static uint32_t add(struct dso_table *t, const struct dso *d, const struct mapping_event *m)
{
	uint64_t hash = hash_text(d->path);
	uint32_t i = map_find(&t->entries_by_key, hash, same_entry, t, d);
	struct entry e = { .dso = *d, .module = { ID_NONE } };

	if (i != MAP_NONE)
		return i;
	e.dso.path = arena_strndup(&t->arena, d->path, strlen(d->path));
	e.dso.reference = arena_strndup(&t->arena, d->reference, strlen(d->reference));
	if (t->hold && m && d->kind == DSO_FILE && m->path[0] == '/')
		e.dso.held = hold_mapped(t, m);
	pthread_mutex_lock(&t->lock);
	i = (uint32_t)t->entry.n;
	vec_push(&t->entry, e);
	if (t->kernel == 0 && e.dso.kind == DSO_KERNEL)
		t->kernel = i + 1;
	pthread_mutex_unlock(&t->lock);
	map_add(&t->entries_by_key, hash, i);
	return i;
}

uint32_t dso_table_add(struct dso_table *t, const struct mapping_event *m, uint64_t *bias)
{
	char jit[JIT_PATH_MAX];
	struct dso d = classify(m, jit);

	if (d.build_id.n > 0)
		d.build_id = build_id_of(d.build_id.bytes, d.build_id.n);
	if (d.build_id.n == 0 && t->header_id.n > 0 && d.kind != DSO_JIT && d.kind != DSO_NOTHING) {
		struct arena scratch = { 0 };
		const char *key = dso_key(&scratch, d.path, d.kind == DSO_KERNEL);
		uint32_t i = map_find(&t->header_ids_by_key, hash_text(key), same_header_id, t,
				      key);

		if (i != MAP_NONE)
			d.build_id = t->header_id.at[i].id;
		arena_done(&scratch);
	}
	*bias = bias_of(&d, m);
	return add(t, &d, m);
}

uint32_t dso_table_add_special(struct dso_table *t, const char *path, enum family family)
{
	struct dso d = {
		.path = path, .reference = "", .kind = DSO_NOTHING, .pid = -1, .seen_in = -1
	};

	d.family = family;
	return add(t, &d, NULL);
}

module_id dso_table_module(const struct dso_table *t, uint32_t dso)
{
	return t->entry.at[dso].module;
}

void dso_table_set_module(struct dso_table *t, uint32_t dso, module_id m)
{
	pthread_mutex_lock(&t->lock);
	t->entry.at[dso].module = m;
	while (t->by_module.n <= m.v)
		vec_push(&t->by_module, 0);
	/* The first dso of a module stays: they differ in where the kernel put it at most. */
	if (t->by_module.at[m.v] == 0)
		t->by_module.at[m.v] = dso + 1;
	pthread_mutex_unlock(&t->lock);
}

size_t dso_table_n(const struct dso_table *t)
{
	return t->entry.n;
}

struct dso dso_table_get(const struct dso_table *t, uint32_t dso)
{
	return t->entry.at[dso].dso;
}

bool dso_table_kernel(struct dso_table *t, struct dso *out)
{
	bool found;

	pthread_mutex_lock(&t->lock);
	found = t->kernel != 0;
	if (found)
		*out = t->entry.at[t->kernel - 1].dso;
	pthread_mutex_unlock(&t->lock);
	return found;
}

bool dso_table_of_module(struct dso_table *t, module_id m, struct dso *out)
{
	bool found = false;

	pthread_mutex_lock(&t->lock);
	if (m.v < t->by_module.n && t->by_module.at[m.v] > 0) {
		*out = t->entry.at[t->by_module.at[m.v] - 1].dso;
		found = true;
	}
	pthread_mutex_unlock(&t->lock);
	return found;
}
