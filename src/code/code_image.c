/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "code/code_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/task.h"
#include "code/module_links.h"
#include "code/packed_code.h"
#include "elf/demangle.h"
#include "elf/elf_file.h"
#include "elf/elf_relocate.h"
#include "elf/elf_symtab.h"
#include "elf/function_starts.h"
#include "elf/module_layout.h"
#include "elf/segments.h"
#include "elf/symtab.h"
#include "symbols/image.h"
#include "symbols/inline_lookup.h"
#include "symbols/jit/jit_dump.h"
#include "symbols/kallsyms.h"
#include "symbols/search/debug_file_search.h"
#include "symbols/search/own_file.h"
#include "symbols/space/dso.h"

#define KCORE_PATH "/proc/kcore"
#define NOTES_PATH "/sys/kernel/notes"

struct code_image {
	struct dso_table *dsos; /* of one, so that its kind is known; owned */
	struct dso dso;
	struct debug_file_search search;
	struct image image; /* files; the mapped one is image.runtime */
	enum dso_kind kind;
	struct symtab *symbols;         /* by location address; or NULL; owned */
	struct function_starts *starts; /* where there are no symbols; or NULL; owned */
	struct inline_lookup *lines;    /* or NULL; owned */
	struct segments layout;         /* of a kernel module */
	struct module_links *links;     /* of it; or NULL; owned */
	uint64_t base;                  /* of a kernel: shown address of location address 0 */
	struct kallsyms *kallsyms;      /* of the running kernel, for kcore; or NULL; owned */
	struct elf_file *kcore;         /* or NULL; owned */
	struct jit_dump *dump;          /* or NULL; owned */
	char *dump_path;                /* owned */
	struct packed_code *packed;     /* what packs have of it; or NULL; owned */
	char *why;                      /* no bytes; owned */
	int64_t built_ns;               /* when the file was changed last; 0: not known */
};

/* Of the calls that were inlined at an address so many are told, the outermost ones. */
#define FRAMES_MOST 64u

static struct build_id id_of_hex(const char *hex)
{
	uint8_t bytes[20] = { 0 };
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n && i < sizeof(bytes); i++) {
		char two[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		bytes[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	return build_id_of(bytes, n < sizeof(bytes) ? n : sizeof(bytes));
}

/* jit-123.dump, /tmp/perf-123.map: whose it is. */
static int32_t pid_in(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	name += strcspn(name, "0123456789");
	return (int32_t)strtol(name, NULL, 10);
}

/* What the module is, as when it was mapped. */
static void find_dso(struct code_image *i, const struct profile *p, module_id m)
{
	const struct module *module = profile_module(p, m);
	struct mapping_event e = { .path = profile_string(p, module->path, NULL),
				   .executable = true,
				   .length = 1,
				   .pid = module->family == FAMILY_KERNEL ? -1 : 0 };
	uint64_t bias;

	e.build_id = id_of_hex(profile_string(p, module->build_id, NULL));
	i->dsos = dso_table_new();
	i->dso = dso_table_get(i->dsos, dso_table_add(i->dsos, &e, &bias));
	i->kind = i->dso.kind;
	if (i->kind == DSO_JIT_DUMP)
		i->dso.pid = pid_in(e.path);
	i->dso.seen_in = -1;
}

static bool has_code(const struct elf_file *f)
{
	const struct elf_section *text = f ? elf_file_section(f, ".text") : NULL;

	return f && (!text || text->type != SHT_NOBITS);
}

static char *why_no_file(const struct code_image *i)
{
	char want[BUILD_ID_HEX_BYTES], have[BUILD_ID_HEX_BYTES];

	build_id_hex(want, &i->dso.build_id);
	build_id_hex(have, &i->image.other_id);
	if (i->image.runtime)
		return xasprintf("%s has no code in it, only debug information; --symbols DIR "
				 "says where the program is",
				 elf_file_name(i->image.runtime));
	if (i->image.other)
		return xasprintf("%s has build-id %s, recorded was %s; --symbols DIR says where "
				 "the recorded file is",
				 i->image.other, i->image.other_id.n ? have : "none", want);
	if (i->dso.build_id.n > 0)
		return xasprintf("no file of %s with build-id %s was found; --symbols DIR says "
				 "where it is",
				 i->dso.path, want);
	return xasprintf("%s was not found; --symbols DIR says where it is", i->dso.path);
}

static void open_file(struct code_image *i)
{
	const struct elf_file *named;

	if (i->kind == DSO_VDSO)
		image_open_vdso(&i->search, &i->dso, &i->image);
	else
		image_open(&i->search, &i->dso, &i->image);
	if (!i->image.runtime || !has_code(i->image.runtime))
		i->why = why_no_file(i);
	named = image_named(&i->image);
	if (named) {
		i->symbols = elf_symtab_load(named, image_layout(&i->image),
					     named == i->image.mini);
		symtab_seal(i->symbols);
	}
	if (i->image.runtime)
		i->starts = function_starts_new(i->image.runtime);
	if (image_layout(&i->image))
		i->lines = inline_lookup_new(&i->image);
}

static bool is_named(struct symtab *t, uint64_t address, const char *function)
{
	const struct symbol *s = symtab_find(t, address);

	return s && strcmp(s->name, function) == 0;
}

/* The recording's base was one of these, which the profile does not say: the function's name tells. */
static void open_vmlinux(struct code_image *i, const char *function, uint64_t address)
{
	static const char *const references[] = { "_text", "_stext", "" };
	uint64_t value;

	for (size_t k = 0; k < sizeof(references) / sizeof(references[0]); k++) {
		struct symtab *t = elf_symtab_load_kernel(i->image.runtime, references[k], &value);

		if (!t)
			continue;
		symtab_seal(t);
		if (!i->symbols || is_named(t, address, function)) {
			symtab_free(i->symbols);
			i->symbols = t;
			i->base = value;
			t = NULL;
		}
		symtab_free(t);
		if (i->symbols && is_named(i->symbols, address, function))
			break;
	}
	i->lines = inline_lookup_new_kernel(&i->image, i->base);
}

/* Is the kernel that runs the recorded one? */
static bool is_running_kernel(const struct code_image *i)
{
	uint8_t notes[4096];
	struct build_id id = { .n = 0 };
	int fd = open(NOTES_PATH, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, notes, sizeof(notes)) : -1;

	if (fd >= 0)
		close(fd);
	return n > 0 && build_id_from_notes(notes, (size_t)n, false, &id) &&
	       build_id_equal(&id, &i->dso.build_id);
}

static bool kallsym_is(struct kallsyms *k, uint64_t address, const char *function)
{
	const struct kallsym *s = kallsyms_find(k, address);

	return s && strcmp(s->name, function) == 0;
}

/* The code as it is in memory, with what the kernel has patched in. */
static void open_kcore(struct code_image *i, const char *function, uint64_t address)
{
	static const char *const references[] = { "_text", "_stext" };
	uint64_t value;

	if (!is_running_kernel(i) || kallsyms_load("/proc/kallsyms", &i->kallsyms, NULL) != 0 ||
	    kallsyms_hidden(i->kallsyms) || elf_file_open(KCORE_PATH, &i->kcore, NULL) != 0)
		return;
	for (size_t k = 0; k < 2; k++)
		if (kallsyms_value(i->kallsyms, references[k], &value) &&
		    kallsym_is(i->kallsyms, value + address, function)) {
			i->base = value;
			return;
		}
	elf_file_close(i->kcore);
	i->kcore = NULL;
}

static void open_kernel(struct code_image *i, const char *function, uint64_t address)
{
	struct utsname u;

	/* A name to look for; the build-id says whether it is the file. */
	if (uname(&u) == 0)
		i->search.release = xstrdup(u.release);
	image_open_kernel(&i->search, &i->dso, &i->image);
	if (i->image.runtime)
		open_vmlinux(i, function, address);
	else
		open_kcore(i, function, address);
	if (!i->kcore && !has_code(i->image.runtime))
		i->why = xasprintf(
			"the kernel's code needs a vmlinux with its build-id (--symbols DIR), or "
			"/proc/kcore of the same kernel, which root may read");
}

static void open_kernel_module(struct code_image *i)
{
	struct elf_file *named;

	image_open(&i->search, &i->dso, &i->image);
	if (!i->image.runtime || elf_file_type(i->image.runtime) != ET_REL) {
		i->why = why_no_file(i);
		return;
	}
	module_layout_take(&i->layout, i->image.runtime);
	named = image_named(&i->image) ? image_named(&i->image) : i->image.runtime;
	i->symbols = elf_symtab_load_module(named);
	if (i->symbols)
		symtab_seal(i->symbols);
	i->lines = inline_lookup_new_module(&i->image);
	i->links = module_links_new(i->image.runtime);
}

static bool try_dump(void *arg, const char *path, bool trusted)
{
	struct code_image *i = arg;

	(void)trusted;
	if (jit_dump_load(path, &i->dump, NULL) != 0)
		return false;
	i->dump_path = xstrdup(path);
	return true;
}

static void open_live(struct code_image *i, const char *function, uint64_t address)
{
	switch (i->kind) {
	case DSO_FILE:
	case DSO_VDSO:
		open_file(i);
		break;
	case DSO_KERNEL:
		open_kernel(i, function, address);
		break;
	case DSO_KMODULE:
		open_kernel_module(i);
		break;
	case DSO_JIT_DUMP:
		debug_file_search_jit_dump(&i->search, &i->dso, try_dump, i);
		if (!i->dump)
			i->why = xasprintf("%s was not found, and nothing else has this code",
					   i->dso.path);
		break;
	case DSO_JIT:
		i->why = xstrdup("it is generated code, of which only a jitdump keeps the bytes");
		break;
	case DSO_KSYMBOL:
		i->why = xstrdup("the bytes of BPF programs are not in the recording");
		break;
	case DSO_NOTHING:
		i->why = xstrdup("no file has this code");
		break;
	}
}

static int64_t changed_ns(const struct elf_file *f)
{
	struct stat st;

	if (!f || stat(elf_file_name(f), &st) != 0)
		return 0;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

struct code_image *code_image_open(const struct profile *p, module_id m,
				   const struct resolver_options *o, const char *function,
				   uint64_t address)
{
	struct code_image *i = xcalloc(1, sizeof(*i));

	debug_file_search_init(&i->search, o);
	find_dso(i, p, m);
	i->packed = packed_code_open(p, m);
	if (i->packed && packed_code_has(i->packed))
		return i;
	open_live(i, function, address);
	i->built_ns = changed_ns(i->image.runtime);
	/* Where it was packed there was a better reason. */
	if (i->packed && i->why && packed_code_why(i->packed)) {
		free(i->why);
		i->why = xstrdup(packed_code_why(i->packed));
	}
	packed_code_free(i->packed);
	i->packed = NULL;
	return i;
}

void code_image_free(struct code_image *i)
{
	if (!i)
		return;
	inline_lookup_free(i->lines);
	symtab_free(i->symbols);
	function_starts_free(i->starts);
	segments_done(&i->layout);
	module_links_free(i->links);
	kallsyms_free(i->kallsyms);
	elf_file_close(i->kcore);
	jit_dump_free(i->dump);
	image_close(&i->image);
	debug_file_search_done(&i->search);
	dso_table_free(i->dsos);
	packed_code_free(i->packed);
	free(i->dump_path);
	free(i->why);
	free(i);
}

const char *code_image_why(const struct code_image *i)
{
	return i->why;
}

bool code_image_packed(const struct code_image *i)
{
	return i->packed != NULL;
}

bool code_image_unverified(const struct code_image *i)
{
	return i->packed ? packed_code_flags(i->packed) & PACKED_UNVERIFIED : i->image.unverified;
}

const char *code_image_path(const struct code_image *i)
{
	if (i->packed)
		return packed_code_path(i->packed);
	if (i->dump_path)
		return i->dump_path;
	if (i->kcore)
		return KCORE_PATH;
	return i->image.runtime ? elf_file_name(i->image.runtime) : "";
}

struct build_id code_image_build_id(const struct code_image *i)
{
	if (i->dso.build_id.n > 0 || !i->image.runtime)
		return i->dso.build_id;
	return *elf_file_build_id(i->image.runtime);
}

int64_t code_image_built_ns(const struct code_image *i)
{
	return i->built_ns;
}

static const struct elf_file *file_of(const struct code_image *i)
{
	return i->kcore ? i->kcore : i->image.runtime;
}

uint16_t code_image_machine(const struct code_image *i)
{
	if (i->packed)
		return packed_code_machine(i->packed);
	if (i->dump)
		return (uint16_t)jit_dump_head(i->dump)->machine;
	return file_of(i) ? elf_file_machine(file_of(i)) : EM_NONE;
}

bool code_image_is64(const struct code_image *i)
{
	if (i->packed)
		return packed_code_flags(i->packed) & PACKED_IS64;
	return i->dump ? code_image_machine(i) != EM_386 : file_of(i) && elf_file_is64(file_of(i));
}

bool code_image_swapped(const struct code_image *i)
{
	if (i->packed)
		return packed_code_flags(i->packed) & PACKED_SWAPPED;
	return i->dump ? jit_dump_head(i->dump)->swapped
		       : file_of(i) && elf_file_swapped(file_of(i));
}

static bool find_generated(const struct code_image *i, uint64_t address, struct code_extent *out)
{
	size_t n;
	const struct jit_place *place = jit_dump_places(i->dump, &n);

	for (size_t k = 0; k < n; k++) {
		if (address < place[k].offset || address - place[k].offset >= place[k].size)
			continue;
		*out = (struct code_extent){ place[k].offset, place[k].offset + place[k].size,
					     jit_dump_name(i->dump, address) };
		return true;
	}
	return false;
}

/* The unwind tables say where functions begin: where an answer changes, one ends. */
static bool find_by_tables(struct code_image *i, uint64_t address, struct code_extent *out)
{
	uint64_t begin, other, low = address, high, step = 16, from;

	if (!i->starts || !function_starts_find(i->starts, address, &begin) ||
	    !elf_file_offset_of(i->image.runtime, begin, &from))
		return false;
	for (high = low + step; function_starts_find(i->starts, high, &other) && other == begin;
	     step *= 2) {
		low = high;
		high += step;
		if (high < low || step > (UINT64_C(1) << 40))
			return false;
	}
	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;

		if (function_starts_find(i->starts, mid, &other) && other == begin)
			low = mid;
		else
			high = mid;
	}
	*out = (struct code_extent){ from, high, NULL };
	return true;
}

bool code_image_function(struct code_image *i, uint64_t address, struct code_extent *out)
{
	const struct symbol *s;
	const struct kallsym *k;

	if (i->packed)
		return packed_code_function(i->packed, address, out);
	if (i->dump)
		return find_generated(i, address, out);
	if (i->kcore) {
		k = kallsyms_find(i->kallsyms, i->base + address);
		if (!k)
			return false;
		*out = (struct code_extent){ k->start - i->base, k->end - i->base, k->name };
		return true;
	}
	s = i->symbols ? symtab_find(i->symbols, address) : NULL;
	if (!s || s->end <= s->start)
		return find_by_tables(i, address, out);
	*out = (struct code_extent){ s->start, s->end, s->name };
	return true;
}

static uint8_t *read_dump(const struct code_image *i, uint64_t begin, size_t n)
{
	uint8_t *bytes;
	int fd;

	if (own_file_open(i->dump_path, &fd, NULL) != 0)
		return NULL;
	bytes = xmalloc(n + 1);
	if (pread(fd, bytes, n, (off_t)begin) != (ssize_t)n) {
		free(bytes);
		bytes = NULL;
	}
	close(fd);
	return bytes;
}

/* Of a module: in the section that was put there. */
static uint8_t *read_module(const struct code_image *i, uint64_t begin, size_t n)
{
	const struct elf_section *s;
	uint64_t shown;

	if (!segments_address(&i->layout, begin, &shown))
		return NULL;
	for (uint32_t k = 1; (s = elf_file_section_at(i->image.runtime, k)) != NULL; k++) {
		uint64_t base = elf_relocate_base(i->image.runtime, s);

		if ((s->flags & SHF_EXECINSTR) && shown >= base && shown - base < s->size &&
		    n <= s->size - (shown - base))
			return elf_file_read(i->image.runtime, s->offset + (shown - base), n);
	}
	return NULL;
}

uint8_t *code_image_read(const struct code_image *i, uint64_t begin, size_t n)
{
	const struct elf_file *f = file_of(i);
	uint64_t offset = begin;

	if (i->why)
		return NULL;
	if (i->packed)
		return packed_code_read(i->packed, begin, n);
	if (i->dump)
		return read_dump(i, begin, n);
	if (!f)
		return NULL;
	if (i->kind == DSO_KMODULE)
		return read_module(i, begin, n);
	if (i->kind == DSO_KERNEL && !elf_file_offset_of(f, i->base + begin, &offset))
		return NULL;
	return elf_file_read(f, offset, n);
}

uint64_t code_image_shown(const struct code_image *i, uint64_t address)
{
	uint64_t shown;

	if (i->packed)
		return packed_code_shown(i->packed, address);
	if (i->kind == DSO_KERNEL)
		return i->base + address;
	if (i->kind == DSO_KMODULE || i->dump || !i->image.runtime)
		return address;
	return elf_file_address_of(i->image.runtime, address, &shown) ? shown : address;
}

/* The other way round; false: outside. */
static bool from_shown(const struct code_image *i, uint64_t shown, uint64_t *address)
{
	if (i->kind == DSO_KERNEL) {
		*address = shown - i->base;
		return shown >= i->base;
	}
	if (i->kind == DSO_KMODULE || i->dump || !i->image.runtime) {
		*address = shown;
		return true;
	}
	return elf_file_offset_of(i->image.runtime, shown, address);
}

char *code_image_link(const struct code_image *i, uint64_t address, size_t n)
{
	uint64_t shown;

	return i->links && segments_address(&i->layout, address, &shown)
		       ? module_links_name(i->links, shown, n)
		       : NULL;
}

char *code_image_note(struct code_image *i, uint64_t shown)
{
	struct code_extent e;
	const struct symbol *s;
	uint64_t address;
	char *name, *out;

	if (i->packed)
		return packed_code_note(i->packed, shown);
	if (!from_shown(i, shown, &address) || !code_image_function(i, address, &e) || !e.name)
		return NULL;
	s = i->symbols ? symtab_find(i->symbols, address) : NULL;
	name = demangle(e.name, DEMANGLE_BARE);
	if (s && s->kind == SYMBOL_PLT)
		out = xasprintf("%s@plt", name ? name : e.name);
	else if (address == e.begin)
		out = xstrdup(name ? name : e.name);
	else
		out = xasprintf("%s+0x%llx", name ? name : e.name,
				(unsigned long long)(address - e.begin));
	free(name);
	return out;
}

/* One answer of debug information, as texts. */
struct answer {
	struct inline_reader *reader;
	code_take *take;
	void *arg;
};

/* inline_take */
static void tell_frames(void *arg, size_t which, const struct inline_frame *f, size_t n)
{
	const struct answer *a = arg;
	struct code_frame out[FRAMES_MOST];

	for (size_t i = 0; i < n; i++) {
		bool file = f[i].file != INLINE_NONE;

		out[i] = (struct code_frame){
			.name = i > 0 ? inline_reader_function(a->reader, f[i].function)->name
				      : NULL,
			.file = file ? inline_reader_file(a->reader, f[i].file) : NULL,
			.md5 = file ? inline_reader_md5(a->reader, f[i].file) : NULL,
			.line = f[i].line,
		};
	}
	a->take(a->arg, which, out, n);
}

int code_image_frames(struct code_image *i, const uint64_t *addresses, size_t n, code_take *take,
		      void *arg, struct progress *progress)
{
	struct answer a = { .take = take, .arg = arg };
	size_t n_groups;
	int rc = 0;

	if (i->packed)
		packed_code_frames(i->packed, addresses, n, take, arg);
	if (i->packed || !i->lines || n == 0)
		return 0;
	n_groups = inline_lookup_ask(i->lines, addresses, n);
	if (n_groups == 0)
		return 0;
	a.reader = inline_reader_new(i->lines, FRAMES_MOST);
	for (size_t k = 0; k < n_groups && rc == 0; k++) {
		inline_reader_answer(a.reader, k, tell_frames, &a);
		rc = progress_cancelled(progress) ? -ECANCELED : 0;
	}
	inline_reader_free(a.reader);
	return rc;
}
