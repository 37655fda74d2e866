/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What names the addresses of one dso; see symbol_source.h. */
#include "config.h"

#include "symbols/symbol_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/consulted_files.h"
#include "base/err.h"
#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "elf/elf_symtab.h"
#include "elf/function_starts.h"
#include "elf/symtab.h"
#include "symbols/embedded_symbols.h"
#include "symbols/image.h"
#include "symbols/inline_lookup.h"
#include "symbols/jit/jit_dump.h"
#include "symbols/jit/jit_map.h"
#include "symbols/kallsyms.h"
#include "symbols/search/debug_file_search.h"
#include "symbols/space/dso.h"

#define NOTES_PATH    "/sys/kernel/notes"
#define KALLSYMS_PATH "/proc/kallsyms"
#define MODULES_PATH  "/proc/modules"
#define NOTES_MAX     65536

struct kernel {
	bool loaded;               /* kallsyms were looked for */
	struct kallsyms *kallsyms; /* NULL: there are none */
	bool live;                 /* they are the running kernel's, perhaps of another boot */
	char *reason;              /* why there are none, or NULL */
};

struct symbol_source {
	struct symtab *symbols;    /* or NULL */
	bool owned;                /* symbols is ours and not the recording's */
	struct kallsyms *kallsyms; /* the kernel's, or NULL; borrowed */
	char *module;              /* only kallsyms of this kernel module; NULL: only of none */
	uint64_t add;              /* to an address of the dso, to look it up in either */
	bool kernel;               /* names of the kernel are not demangled */
	struct jit_map *jit;       /* or NULL */
	struct jit_dump *dump;     /* or NULL */
	struct function_starts *begins; /* of functions without symbols, or NULL */
	struct inline_lookup *inlines;  /* or NULL */
	char *whole;                    /* the name of every address, or NULL */
	const char *declared;           /* where whole begins in its source, or NULL; borrowed */
	uint32_t declared_line;         /* in it */
	char *reason;                   /* see symbol_source_reason() */
	bool lacks_debug_file;          /* see symbol_source_lacks_debug_file() */
	bool lacks_inlines;             /* see symbol_source_lacks_inlines() */
	bool lacks_file;                /* see symbol_source_lacks_file() */
	bool unverified;                /* see symbol_source_unverified() */
};

struct kernel *kernel_new(void)
{
	return xcalloc(1, sizeof(struct kernel));
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	kallsyms_free(k->kallsyms);
	free(k->reason);
	free(k);
}

/* debug_file_search_try: the first that can be used. */
static bool try_kallsyms(void *arg, const char *path, bool trusted)
{
	struct kernel *k = arg;
	struct kallsyms *found;

	(void)trusted;
	if (kallsyms_load(path, &found, NULL) != 0)
		return false;
	if (kallsyms_n(found) == 0 || kallsyms_hidden(found)) {
		if (kallsyms_n(found) > 0 && !k->reason)
			k->reason = xasprintf("all addresses in %s are 0 (kptr_restrict was on)",
					      path);
		kallsyms_free(found);
		return false;
	}
	k->kallsyms = found;
	return true;
}

static bool running_build_id(struct build_id *id)
{
	FILE *f = fopen(NOTES_PATH, "re");
	uint8_t *bytes;
	size_t n;
	bool found;

	if (!f)
		return false;
	bytes = xmalloc(NOTES_MAX);
	n = fread(bytes, 1, NOTES_MAX, f);
	fclose(f);
	found = build_id_from_notes(bytes, n, false, id);
	free(bytes);
	return found;
}

/* Is the code of the kernel whose symbols these are as long as that of the recorded one, as far as perf tells? */
static bool has_length(struct kallsyms *k, const struct dso *d)
{
	uint64_t begin, end;

	return d->text_bytes == 0 || !*d->reference ||
	       (kallsyms_value(k, d->reference, &begin) && kallsyms_value(k, "_etext", &end) &&
		end - begin == d->text_bytes);
}

/* The running kernel's symbols, if it is the one that was recorded. */
static void try_running(struct kernel *k, const struct debug_file_search *f, const struct dso *d)
{
	char want[BUILD_ID_HEX_BYTES], have[BUILD_ID_HEX_BYTES];
	struct build_id id = { .n = 0 };
	struct consulted_files *c = f->options->consulted;
	bool same;

	consulted_files_note(c, NOTES_PATH);
	consulted_files_note(c, KALLSYMS_PATH);
	consulted_files_note(c, MODULES_PATH);
	same = running_build_id(&id) && build_id_equal(&id, &d->build_id);

	build_id_hex(want, &d->build_id);
	build_id_hex(have, &id);
	if (d->build_id.n == 0)
		same = f->options->same_machine && !f->options->other_kernel;
	if (same)
		k->live = try_kallsyms(k, KALLSYMS_PATH, true);
	if (k->live && (d->build_id.n > 0 || has_length(k->kallsyms, d)))
		return;
	if (k->live) {
		kallsyms_free(k->kallsyms);
		k->kallsyms = NULL;
		k->live = false;
		k->reason = xstrdup(
			"the recording does not say which kernel it was, and the code of "
			"the running one is of another length");
	}
	if (same)
		return;
	if (k->reason)
		return;
	if (d->build_id.n == 0)
		k->reason = xstrdup(f->options->other_kernel
					    ? "another kernel than the recorded one runs"
					    : "the recording does not say which kernel it was");
	else
		k->reason = xasprintf("no copy of kallsyms with build-id %s; the running kernel "
				      "has %s",
				      want, id.n ? have : "none");
}

static void kernel_load(struct kernel *k, const struct debug_file_search *f, const struct dso *d)
{
	if (k->loaded)
		return;
	k->loaded = true;
	debug_file_search_kallsyms(f, d, try_kallsyms, k);
	if (!k->kallsyms)
		try_running(k, f, d);
}

static void give_reason(struct symbol_source *s, const struct kernel *k)
{
	s->reason = xstrdup(k->reason ? k->reason : "no kernel symbols can be read");
}

static void open_kernel(struct symbol_source *s, const struct debug_file_search *f,
			const struct dso *d, struct kernel *k)
{
	struct image i;
	uint64_t value;

	s->kernel = true;
	image_open_kernel(f, d, &i);
	if (i.runtime && (s->symbols = elf_symtab_load_kernel(i.runtime, d->reference, &value))) {
		s->owned = true;
		s->inlines = inline_lookup_new_kernel(&i, value);
		symtab_seal(s->symbols);
		s->reason = xasprintf("outside every symbol of %s", elf_file_name(i.runtime));
	}
	image_close(&i);
	if (s->symbols)
		return;
	kernel_load(k, f, d);
	if (!k->kallsyms) {
		give_reason(s, k);
		return;
	}
	s->kallsyms = k->kallsyms;
	/* Addresses are distances from the reference symbol, wherever that was at the time. */
	if (d->reference_value == 0)
		s->add = 0;
	else if (!*d->reference || !kallsyms_value(k->kallsyms, d->reference, &s->add))
		s->add = d->reference_value;
	s->reason = xstrdup("outside every symbol of the kernel");
}

/* "[nf_tables]" or ".../nf-tables.ko.xz" → nf_tables, as kallsyms has it. */
static char *module_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
	size_t n;
	char *name;

	if (*from == '[')
		from++;
	n = strcspn(from, "]");
	if (strstr(from, ".ko"))
		n = (size_t)(strstr(from, ".ko") - from);
	name = xstrndup(from, n);
	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
	return name;
}

/* Were the kernel's parts where kallsyms has them? Not if it was booted again since. */
static bool same_boot(const struct kernel *k, const struct dso *main_kernel)
{
	uint64_t value;

	if (!k->live)
		return true;
	return main_kernel && *main_kernel->reference &&
	       kallsyms_value(k->kallsyms, main_kernel->reference, &value) &&
	       value == main_kernel->reference_value;
}

/* A module's file is not linked: its code is told apart by section. */
static void open_module_file(struct symbol_source *s, const struct image *i)
{
	s->inlines = inline_lookup_new_module(i);
	if (s->kallsyms)
		return;
	s->symbols = elf_symtab_load_module(image_named(i) ? image_named(i) : i->runtime);
	if (!s->symbols)
		return;
	s->owned = true;
	symtab_seal(s->symbols);
}

static void open_kernel_module(struct symbol_source *s, const struct debug_file_search *f,
			       const struct dso *d, struct kernel *k, const struct dso *main_kernel)
{
	struct image i;

	s->kernel = true;
	if (main_kernel)
		kernel_load(k, f, main_kernel);
	if (k->kallsyms && same_boot(k, main_kernel)) {
		s->kallsyms = k->kallsyms;
		s->add = d->reference_value;
		s->module = module_name(d->path);
	}
	image_open(f, d, &i);
	if (i.runtime && elf_file_type(i.runtime) == 1 /* ET_REL */)
		open_module_file(s, &i);
	image_close(&i);
	if (s->symbols || s->kallsyms)
		s->reason = xstrdup("outside every symbol of the module");
	else
		give_reason(s, k);
}

/* Why no file could be used. */
static char *why_none(const struct debug_file_search *f, const struct dso *d, const struct image *i)
{
	char want[BUILD_ID_HEX_BYTES], have[BUILD_ID_HEX_BYTES];

	build_id_hex(want, &d->build_id);
	build_id_hex(have, &i->other_id);
	if (i->runtime)
		return xasprintf("it is stripped, and no debug file %s%s was found",
				 d->build_id.n ? "with build-id " : "of it", want);
	if (i->other)
		return xasprintf("%s has build-id %s, recorded was %s", i->other,
				 i->other_id.n ? have : "none", want);
	if (d->build_id.n > 0)
		return xasprintf("no file with build-id %s was found", want);
	if (!f->options->same_machine)
		return xstrdup("recorded without build-id, perhaps elsewhere; --symbols DIR says "
			       "where its files are");
	return xstrdup("its file is not there any more, or was in a container that is gone; "
		       "--symbols DIR says where its files are");
}

/* What is out of an archive has a number for a name. */
static const char *shown_name(const struct dso *d, const struct elf_file *f)
{
	const char *name = elf_file_name(f);

	return strncmp(name, "/proc/self/fd/", 14) == 0 ? d->path : name;
}

static void open_image(struct symbol_source *s, const struct debug_file_search *f,
		       const struct dso *d, const struct image *i)
{
	const struct elf_file *named = image_named(i);

	s->lacks_file = !i->runtime;
	s->lacks_debug_file = d->kind == DSO_FILE && d->build_id.n > 0 &&
			      (!named || named == i->mini || !elf_symtab_has_symtab(named));
	s->lacks_inlines = d->kind == DSO_FILE && d->build_id.n > 0 && !image_described(i);
	s->begins = i->runtime && d->kind == DSO_FILE ? function_starts_new(i->runtime) : NULL;
	if (!named) {
		s->reason = why_none(f, d, i);
		return;
	}
	s->symbols = elf_symtab_load(named, image_layout(i), named == i->mini);
	s->inlines = inline_lookup_new(i);
	s->owned = true;
	s->unverified = i->unverified;
	symtab_seal(s->symbols);
	if (elf_symtab_has_symtab(named))
		s->reason = xasprintf("outside every symbol of %s", shown_name(d, named));
	else
		s->reason = why_none(f, d, i);
}

/* What try_jit_map() found. */
struct jit_search {
	struct jit_map *map;
	struct err e; /* the first failure that was not absence */
};

static bool try_jit_map(void *arg, const char *path, bool trusted)
{
	struct jit_search *j = arg;

	(void)trusted;
	return jit_map_load(path, &j->map, &j->e) == 0;
}

static void open_jit(struct symbol_source *s, const struct debug_file_search *f,
		     const struct dso *d)
{
	struct jit_search j = { .e = ERR_INIT };

	debug_file_search_jit_map(f, d, try_jit_map, &j);
	s->jit = j.map;
	if (s->jit)
		s->reason = xasprintf("not in %s", d->path);
	else
		s->reason = xasprintf(
			"generated code without a map, as node --perf-basic-prof, python3 -X perf and java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit write one (%s)",
			j.e.code ? err_text(&j.e) : d->path);
	err_clear(&j.e);
}

/* What try_jit_dump() found. */
struct dump_search {
	struct jit_dump *dump;
	struct err e; /* the first failure */
};

static bool try_jit_dump(void *arg, const char *path, bool trusted)
{
	struct dump_search *j = arg;

	(void)trusted;
	return jit_dump_load(path, &j->dump, j->e.code ? NULL : &j->e) == 0;
}

static void open_jit_dump(struct symbol_source *s, const struct debug_file_search *f,
			  const struct dso *d)
{
	struct dump_search j = { .e = ERR_INIT };

	debug_file_search_jit_dump(f, d, try_jit_dump, &j);
	s->dump = j.dump;
	s->reason = s->dump ? xasprintf("not in %s", d->path)
			    : xstrdup(j.e.code ? err_text(&j.e) : "its jitdump was not found");
	err_clear(&j.e);
}

/* Where there is nothing better. */
static void use_recorded(struct symbol_source *s, const struct debug_file_search *f,
			 const struct dso *d)
{
	uint64_t add;
	bool has = s->symbols || s->kallsyms || !f->recorded;
	struct symtab *t = has ? NULL : embedded_symbols_find(f->recorded, d, &add);

	if (!t)
		return;
	s->symbols = t;
	s->add = add;
	s->kernel = d->family == FAMILY_KERNEL;
	free(s->reason);
	s->reason = xstrdup("outside every symbol that the recording has of it");
}

/* Why code of no module that has symbols has no name; resolver.c names the ones that are not of mappings. */
static const char *nowhere(const char *path)
{
	if (strcmp(path, "[unknown]") == 0)
		return "no mapping says what was there";
	if (strncmp(path, "[guest", 6) == 0 || strcmp(path, "[hypervisor]") == 0)
		return "symbols of guests and hypervisors are not looked for";
	return "it is memory of no file";
}

struct symbol_source *symbol_source_open(const struct debug_file_search *f, const struct dso *d,
					 struct kernel *k, const struct dso *main_kernel)
{
	struct symbol_source *s = xcalloc(1, sizeof(*s));
	struct image i = { .runtime = NULL };

	switch (d->kind) {
	case DSO_FILE:
		image_open(f, d, &i);
		open_image(s, f, d, &i);
		break;
	case DSO_VDSO:
		image_open_vdso(f, d, &i);
		open_image(s, f, d, &i);
		break;
	case DSO_KERNEL:
		open_kernel(s, f, d, k);
		break;
	case DSO_KMODULE:
		open_kernel_module(s, f, d, k, main_kernel);
		break;
	case DSO_JIT:
		open_jit(s, f, d);
		break;
	case DSO_JIT_DUMP:
		open_jit_dump(s, f, d);
		break;
	case DSO_KSYMBOL:
		s->whole = xstrdup(d->path);
		if (f->recorded)
			s->declared = embedded_symbols_declared(f->recorded, d->path,
								&s->declared_line);
		s->reason = xstrdup("");
		break;
	case DSO_NOTHING:
		s->reason = xstrdup(nowhere(d->path));
		break;
	}
	image_close(&i);
	use_recorded(s, f, d);
	return s;
}

void symbol_source_free(struct symbol_source *s)
{
	if (!s)
		return;
	if (s->owned)
		symtab_free(s->symbols);
	jit_map_free(s->jit);
	jit_dump_free(s->dump);
	function_starts_free(s->begins);
	inline_lookup_free(s->inlines);
	free(s->module);
	free(s->whole);
	free(s->reason);
	free(s);
}

static enum name_form find_of_kernel(struct symbol_source *s, uint64_t address, const char **name)
{
	const struct kallsym *sym = kallsyms_find(s->kallsyms, address);

	if (!sym || (s->module == NULL) != (sym->module == NULL) ||
	    (s->module && strcmp(sym->module, s->module) != 0))
		return NAME_NONE;
	*name = sym->name;
	return NAME_PLAIN;
}

enum name_form symbol_source_find(struct symbol_source *s, uint64_t address, const char **name)
{
	const struct symbol *sym;
	const char *jit;

	if (s->whole) {
		*name = s->whole;
		return NAME_PLAIN;
	}
	if (s->jit && (jit = jit_map_find(s->jit, address))) {
		*name = jit;
		return NAME_PLAIN;
	}
	/* Its program may still write it. */
	if (s->dump && ((jit = jit_dump_name(s->dump, address)) ||
			(jit_dump_more(s->dump) && (jit = jit_dump_name(s->dump, address))))) {
		*name = jit;
		return NAME_MANGLED;
	}
	if (s->kallsyms)
		return find_of_kernel(s, address + s->add, name);
	sym = s->symbols ? symtab_find(s->symbols, address + s->add) : NULL;
	if (!sym)
		return NAME_NONE;
	*name = sym->name;
	if (sym->kind == SYMBOL_PLT)
		return NAME_PLT;
	return s->kernel ? NAME_PLAIN : NAME_MANGLED;
}

uint64_t symbol_source_offset(struct symbol_source *s, uint64_t address)
{
	const struct kallsym *of_kernel;
	const struct symbol *sym;

	if (s->whole)
		return address;
	address += s->add;
	if (s->kallsyms) {
		of_kernel = kallsyms_find(s->kallsyms, address);
		return of_kernel ? address - of_kernel->start : 0;
	}
	sym = s->symbols ? symtab_find(s->symbols, address) : NULL;
	return sym ? address - sym->start : 0;
}

bool symbol_source_begin(struct symbol_source *s, uint64_t address, uint64_t *begin)
{
	return s->begins && function_starts_find(s->begins, address, begin);
}

const char *symbol_source_declared(const struct symbol_source *s, uint64_t address, uint32_t *line)
{
	if (s->declared)
		*line = s->declared_line;
	return s->dump ? jit_dump_source(s->dump, address, line) : s->declared;
}

struct inline_lookup *symbol_source_take_inlines(struct symbol_source *s)
{
	struct inline_lookup *i = s->inlines;

	s->inlines = NULL;
	return i;
}

const char *symbol_source_reason(const struct symbol_source *s)
{
	return s->reason;
}

bool symbol_source_lacks_debug_file(const struct symbol_source *s)
{
	return s->lacks_debug_file;
}

bool symbol_source_lacks_inlines(const struct symbol_source *s)
{
	return s->lacks_inlines;
}

bool symbol_source_lacks_file(const struct symbol_source *s)
{
	return s->lacks_file;
}

bool symbol_source_unverified(const struct symbol_source *s)
{
	return s->unverified;
}

uint64_t symbol_source_bytes(const struct symbol_source *s)
{
	return (s->owned ? symtab_bytes(s->symbols) : 0) +
	       (s->begins ? function_starts_bytes(s->begins) : 0);
}
