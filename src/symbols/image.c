/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ELF files of a dso; see image.h. */
#include "config.h"

#include "symbols/image.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/consulted_files.h"
#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/elf_decompress.h"
#include "elf/elf_file.h"
#include "elf/elf_symtab.h"
#include "symbols/search/debug_file_search.h"
#include "symbols/space/dso.h"

#define MINI_MAX ((size_t)64 << 20) /* of unpacked MiniDebugInfo */
#define VDSO_MAX ((size_t)1 << 20)

/* A search under way. */
struct opening {
	const struct dso *d;
	struct image *i;
	bool need_symtab; /* files without .symtab are no use (debug files, vmlinux) */
};

/* Remembers the first file that is somebody else's. */
static void note_other(struct image *i, const char *path, const struct elf_file *f)
{
	if (i->other)
		return;
	i->other = xstrdup(path);
	i->other_id = *elf_file_build_id(f);
}

static bool is_right(const struct opening *o, const char *path, const struct elf_file *f,
		     bool trusted)
{
	if (o->d->build_id.n == 0)
		return trusted;
	if (build_id_equal(&o->d->build_id, elf_file_build_id(f)))
		return true;
	note_other(o->i, path, f);
	return false;
}

/* Does f hold what was mapped, and not just what describes it? */
static bool is_runtime(const struct elf_file *f)
{
	const struct elf_section *text = elf_file_section(f, ".text");

	if (elf_file_type(f) == ET_REL)
		return true;
	return elf_symtab_has_dynsym(f) || !text || text->type != SHT_NOBITS;
}

/* Has i names for addresses, and what was inlined there? */
static bool has_all(const struct image *i)
{
	return i->runtime && image_described(i) &&
	       (elf_symtab_has_symtab(i->runtime) || (i->debug && elf_symtab_has_symtab(i->debug)));
}

/* Does f tell more than what was mapped does? */
static bool adds(const struct image *i, const struct elf_file *f)
{
	return (elf_symtab_has_symtab(f) && !(i->runtime && elf_symtab_has_symtab(i->runtime))) ||
	       (elf_file_debug_info(f) && !image_described(i));
}

/* debug_file_search_try: keeps what is missing still; stops when nothing is. */
static bool try_file(void *arg, const char *path, bool trusted)
{
	struct opening *o = arg;
	struct image *i = o->i;
	struct elf_file *f;
	bool symtab;

	if (o->d->build_id.n == 0 && !trusted)
		return false;
	if (elf_file_open(path, &f, NULL) != 0)
		return false;
	symtab = elf_symtab_has_symtab(f);
	if (!is_right(o, path, f, trusted) || (o->need_symtab && !symtab)) {
		elf_file_close(f);
		return false;
	}
	if (!i->runtime && is_runtime(f)) {
		i->runtime = f;
		i->unverified = o->d->build_id.n == 0;
	} else if (!i->debug && adds(i, f)) {
		i->debug = f;
	} else {
		elf_file_close(f);
	}
	return has_all(i);
}

/* What try_linked() checks a candidate against. */
struct link_check {
	struct image *i;
	uint32_t crc; /* what the link says */
};

/* debug_file_search_try: a debug file by name counts if its build-id or else its CRC says so. */
static bool try_linked(void *arg, const char *path, bool trusted)
{
	struct link_check *c = arg;
	const struct build_id *want = elf_file_build_id(c->i->runtime);
	struct elf_file *f;
	bool right;

	if (!trusted || strcmp(path, elf_file_name(c->i->runtime)) == 0 ||
	    elf_file_open(path, &f, NULL) != 0)
		return false;
	right = adds(c->i, f);
	if (right && (want->n == 0 || elf_file_build_id(f)->n == 0)) {
		uint32_t crc;

		right = elf_debuglink_crc(path, &crc) && crc == c->crc;
	} else if (right) {
		right = build_id_equal(want, elf_file_build_id(f));
	}
	if (!right) {
		elf_file_close(f);
		return false;
	}
	c->i->debug = f;
	return true;
}

/* MiniDebugInfo: a small ELF file in a section, packed with xz (GDB manual). */
static void open_mini(struct image *i)
{
	const struct elf_section *s = elf_file_section(i->runtime, ".gnu_debugdata");
	size_t n = 0, m = 0;
	uint8_t *packed = s ? elf_file_read_section(i->runtime, s, &n) : NULL;
	void *bytes = packed ? elf_decompress_open(packed, n, MINI_MAX, &m) : NULL;

	free(packed);
	if (bytes)
		elf_file_of_bytes(bytes, m, elf_file_name(i->runtime), &i->mini, NULL);
}

/* debug_file_search_try: all of them; which one has the units is seen when they are wanted. */
static bool take_place(void *arg, const char *path, bool trusted)
{
	struct image *i = arg;

	if (trusted)
		debug_parts_add(&i->parts, path);
	return false;
}

/* debug_file_search_try: the first file with the build-id that was asked for. */
static bool try_shared(void *arg, const char *path, bool trusted)
{
	struct debug_parts *p = arg;
	struct elf_file *f;

	(void)trusted;
	if (elf_file_open(path, &f, NULL) != 0)
		return false;
	if (build_id_equal(&p->shared_id, elf_file_build_id(f)) && elf_file_debug_info(f))
		p->shared = xstrdup(path);
	elf_file_close(f);
	return p->shared != NULL;
}

/*
 * Debug information that dwz made smaller: where is what it moved out of it? A link that is relative holds where the
 * file was made: the one described may be a copy of it elsewhere, as perf keeps them.
 */
static void find_shared(const struct debug_file_search *f, const struct dso *d,
			const struct elf_file *described, struct debug_parts *p)
{
	const char *const beside[] = { elf_file_name(described), d->path };

	for (size_t i = 0; i < 2 && !p->shared; i++) {
		char *name = elf_file_altlink(described, beside[i], &p->shared_id);
		struct dso shared = {
			.path = name, .kind = DSO_FILE, .build_id = p->shared_id, .seen_in = -1
		};

		if (name)
			consulted_files_note(f->options->consulted, name);
		if (name && !try_shared(p, name, true))
			debug_file_search_elf(f, &shared, try_shared, p);
		free(name);
	}
}

/* The program is stripped, wholly or of its debug information: where is the rest? */
static void open_debug(const struct debug_file_search *f, struct opening *o)
{
	struct link_check c = { .i = o->i };
	struct image *i = o->i;
	struct dso known;
	char *name;

	/* Not recorded, but the file that stands for it knows its debug file. */
	if (o->d->build_id.n == 0 && elf_file_build_id(i->runtime)->n > 0) {
		known = *o->d;
		known.build_id = *elf_file_build_id(i->runtime);
		debug_file_search_elf(f, &known, try_file,
				      &(struct opening){ .d = &known, .i = i });
		if (i->debug)
			return;
	}
	name = elf_file_debuglink(i->runtime, &c.crc);
	if (name)
		debug_file_search_debuglink(f, o->d, elf_file_name(i->runtime), name, try_linked,
					    &c);
	free(name);
	if (!i->debug && !elf_symtab_has_symtab(i->runtime))
		open_mini(i);
}

void image_open(const struct debug_file_search *f, const struct dso *d, struct image *out)
{
	struct opening o = { .d = d, .i = out };
	const struct elf_file *described;

	*out = (struct image){ .parts = { .consulted = f->options->consulted } };
	debug_file_search_elf(f, d, try_file, &o);
	if (out->runtime && !out->debug && !has_all(out))
		open_debug(f, &o);
	described = image_described(out);
	if (described)
		find_shared(f, d, described, &out->parts);
	/* Skeletons have their addresses there; whole units of DWARF 5 may, too. */
	if (described && elf_file_section(described, ".debug_addr"))
		debug_file_search_split(f, d, elf_file_name(described), take_place, out);
}

/* A copy of the vdso of this process; NULL when it has none. */
static void *own_vdso(size_t *n)
{
	const ElfW(Ehdr) *h = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	void *copy;

	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	/* The section headers are the last thing in it. */
	*n = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
	if (h->e_shnum == 0 || *n > VDSO_MAX)
		return NULL;
	copy = xmalloc(*n);
	memcpy(copy, h, *n);
	return copy;
}

void image_open_vdso(const struct debug_file_search *f, const struct dso *d, struct image *out)
{
	struct opening o = { .d = d, .i = out };
	struct elf_file *own;
	size_t n = 0;
	void *bytes;

	*out = (struct image){ .runtime = NULL };
	debug_file_search_vdso(f, d, try_file, &o);
	if (out->runtime)
		return;
	bytes = own_vdso(&n);
	if (!bytes ||
	    elf_file_of_bytes(bytes, n, "the vdso of the running kernel", &own, NULL) != 0)
		return;
	if (is_right(&o, elf_file_name(own), own,
		     f->options->same_machine && !f->options->other_kernel)) {
		out->runtime = own;
		out->unverified = d->build_id.n == 0;
	} else {
		elf_file_close(own);
	}
}

void image_open_kernel(const struct debug_file_search *f, const struct dso *d, struct image *out)
{
	struct opening o = { .d = d, .i = out, .need_symtab = true };

	*out = (struct image){ .runtime = NULL };
	/* Without a build-id to compare, any vmlinux would do as well or as badly. */
	if (d->build_id.n > 0)
		debug_file_search_vmlinux(f, d, try_file, &o);
}

void image_close(struct image *i)
{
	elf_file_close(i->runtime);
	elf_file_close(i->debug);
	elf_file_close(i->mini);
	debug_parts_done(&i->parts);
	free(i->other);
	*i = (struct image){ .runtime = NULL };
}

struct elf_file *image_named(const struct image *i)
{
	struct elf_file *const all[] = { i->runtime, i->debug, i->mini };

	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		if (all[k] && elf_symtab_has_symtab(all[k]))
			return all[k];
	}
	return i->runtime && elf_symtab_has_dynsym(i->runtime) ? i->runtime : NULL;
}

struct elf_file *image_described(const struct image *i)
{
	if (i->debug && elf_file_debug_info(i->debug))
		return i->debug;
	return i->runtime && elf_file_debug_info(i->runtime) ? i->runtime : NULL;
}

struct elf_file *image_layout(const struct image *i)
{
	return i->runtime ? i->runtime : i->debug;
}
