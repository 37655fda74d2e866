/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts: proc(5), perf_event_open(2). */
#include "config.h"

#include "record/cpu/build_id_cache.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "perf/abi/perf_abi.h"
#include "perf/abi/perf_put.h"

/* More are begun anew with. */
#define FILES_MAX 65536

/* When and how large a file was: it may be written to between two mappings. All 0: its name is of another file, or none. */
struct age {
	uint64_t written_ns, bytes;
};

struct known_file {
	struct perf_file_id file;
	struct age age;
	struct build_id id;
	uint64_t turn; /* in which its age was seen last; 0: it was not */
};

struct build_id_cache {
	VEC(struct known_file) known;
	struct map by_file; /* into known */
	/* of records that come together: a file that many of them are of is looked at once */
	uint64_t turn;
};

struct build_id_cache *build_id_cache_new(void)
{
	struct build_id_cache *f = xcalloc(1, sizeof(*f));

	f->turn = 1;
	return f;
}

void build_id_cache_free(struct build_id_cache *f)
{
	if (!f)
		return;
	vec_done(&f->known);
	map_done(&f->by_file);
	free(f);
}

static bool same_file(const void *things, uint32_t value, const void *key)
{
	const struct perf_file_id *a = &((const struct known_file *)things)[value].file, *b = key;

	return a->major == b->major && a->minor == b->minor && a->inode == b->inode &&
	       a->generation == b->generation;
}

static struct age age_of(const struct perf_mmap *m)
{
	struct stat st;

	if (stat(m->path, &st) != 0 || (uint64_t)st.st_ino != m->file.inode)
		return (struct age){ 0 };
	return (struct age){ (uint64_t)st.st_mtim.tv_sec * 1000000000u +
				     (uint64_t)st.st_mtim.tv_nsec,
			     (uint64_t)st.st_size };
}

static bool read_id(const char *path, struct build_id *id)
{
	struct elf_file *f;

	if (elf_file_open(path, &f, NULL) != 0)
		return false;
	*id = *elf_file_build_id(f);
	elf_file_close(f);
	return id->n > 0;
}

/* As the process sees the file, which need not have a name any more; when it has ended, as we do, if that is the same file. */
static struct build_id read_mapped(const struct perf_mmap *m, const struct age *age)
{
	char *mapped = xasprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, m->tid, m->start,
				 m->start + m->length);
	char *seen = xasprintf("/proc/%d/root%s", m->tid, m->path);
	struct build_id id = { .n = 0 };

	if (!read_id(mapped, &id) && !read_id(seen, &id) && age->bytes > 0)
		read_id(m->path, &id);
	free(mapped);
	free(seen);
	return id;
}

struct build_id build_id_cache_of(struct build_id_cache *f, const struct perf_mmap *m)
{
	uint64_t hash = hash_u64(m->file.inode ^ (uint64_t)m->file.minor << 40);
	uint32_t at = map_find(&f->by_file, hash, same_file, f->known.at, &m->file);
	struct known_file file = { .file = m->file }, *k;

	if (at != MAP_NONE && f->known.at[at].turn == f->turn)
		return f->known.at[at].id;
	file.age = age_of(m);
	file.turn = file.age.bytes > 0 ? f->turn : 0;
	if (at == MAP_NONE) {
		if (f->known.n == FILES_MAX) {
			vec_clear(&f->known);
			map_done(&f->by_file);
		}
		file.id = read_mapped(m, &file.age);
		map_add(&f->by_file, hash, (uint32_t)f->known.n);
		vec_push(&f->known, file);
		return file.id;
	}
	k = &f->known.at[at];
	k->turn = file.turn;
	if (file.age.bytes > 0 && memcmp(&file.age, &k->age, sizeof(file.age)) != 0) {
		k->age = file.age;
		k->id = read_mapped(m, &k->age);
	}
	return k->id;
}

static void fill(struct build_id_cache *f, uint8_t *at, const struct perf_record *r)
{
	char path[PATH_MAX];
	struct perf_mmap m;
	struct build_id id;

	/* Of what the kernel marked for another recording m.file is told, too. */
	if (r->type != PERF_REC_MMAP2 || !perf_mmap_decode(r, 0, &m) || m.n_build_id > 0 ||
	    !m.executable || m.file.inode == 0 || m.path_len == 0 || m.path[0] != '/' ||
	    m.path_len >= sizeof(path))
		return;
	memcpy(path, m.path, m.path_len);
	path[m.path_len] = '\0';
	m.path = path;
	id = build_id_cache_of(f, &m);
	perf_put_build_id(at, id.bytes, id.n);
}

void build_id_cache_fill(struct build_id_cache *f, uint8_t *records, size_t n)
{
	struct perf_record r;

	f->turn++;
	for (size_t at = 0; at < n && perf_record_at(records + at, false, &r) > 0; at += r.size)
		fill(f, records + at, &r);
}
