/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything is found in the tables that the loader itself uses, in memory, while it may not take modules away
 * (dl_iterate_phdr holds its lock). A module may be half loaded then: its slots are changed by a later look.
 */
#include "config.h"

#include "record/heap/hooks/got.h"

#include "record/heap/patch/allocators.h"
#include "record/heap/trace/tracer_lock.h"
#include "record/heap/trace/tracer_thread.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES UINT64_C(4096)
#define MAX_HOOKS  96u
#define BUSY_MS    20u
#define OWN_PREFIX "proftop_"

#if defined(__x86_64__)
#define R_SLOT R_X86_64_JUMP_SLOT
#define R_GLOB R_X86_64_GLOB_DAT
#define R_WORD R_X86_64_64
#elif defined(__aarch64__)
#define R_SLOT R_AARCH64_JUMP_SLOT
#define R_GLOB R_AARCH64_GLOB_DAT
#define R_WORD R_AARCH64_ABS64
#endif

/* The loader's tables of one module. */
struct module {
	uint64_t base;               /* added to addresses of the file */
	uint64_t begin, end;         /* in memory */
	uint64_t relro, relro_end;   /* pages that the loader made read-only; 0: none */
	uint64_t text, text_end;     /* code */
	const ElfW(Sym) * symbols;   /* all of them */
	const char *names;           /* of symbols */
	const uint32_t *hash;        /* DT_GNU_HASH, or NULL */
	const ElfW(Word) * old_hash; /* DT_HASH, or NULL */
	const ElfW(Rela) * rela[2];  /* slots of functions; others */
	size_t n_rela[2];            /* of each */
};

struct hook {
	const char *name;
	uint64_t to;       /* our function */
	uint64_t original; /* what calls lead to without us */
};

/* Belongs to `lock`, but for `adds`. */
static struct {
	struct hook hook[MAX_HOOKS];
	uint32_t n;
	uint64_t first_letters[4]; /* a bit for each first byte of a name */
	uint64_t own;              /* base of this library */
	_Atomic uint64_t adds;     /* modules that had ever been loaded, at the last look */
	uint32_t looks_left;       /* at modules that may have been half loaded */
	bool patched;
	struct tracer_lock lock;
} got;

/* What the stubs jump to. */
__attribute__((visibility("hidden"))) void *got_real_dlsym, *got_real_dlvsym;
void got_jump_dlsym(void) __attribute__((visibility("hidden")));
void got_jump_dlvsym(void) __attribute__((visibility("hidden")));
void got_before_dlsym(void) __attribute__((visibility("hidden")));

/* --- a module's tables ----------------------------------------------------------------------- */

/* Of the dynamic section, which the loader has relocated in most modules. */
static uint64_t address_of(const struct module *m, uint64_t v)
{
	return v < m->base ? v + m->base : v;
}

static void read_dynamic(struct module *m, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		uint64_t at = address_of(m, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			m->symbols = (const ElfW(Sym) *)at;
		else if (d->d_tag == DT_STRTAB)
			m->names = (const char *)at;
		else if (d->d_tag == DT_GNU_HASH)
			m->hash = (const uint32_t *)at;
		else if (d->d_tag == DT_HASH)
			m->old_hash = (const ElfW(Word) *)at;
		else if (d->d_tag == DT_JMPREL)
			m->rela[0] = (const ElfW(Rela) *)at;
		else if (d->d_tag == DT_RELA)
			m->rela[1] = (const ElfW(Rela) *)at;
		else if (d->d_tag == DT_PLTRELSZ)
			m->n_rela[0] = d->d_un.d_val / sizeof(ElfW(Rela));
		else if (d->d_tag == DT_RELASZ)
			m->n_rela[1] = d->d_un.d_val / sizeof(ElfW(Rela));
	}
}

/* False: nothing is to be found there. */
static bool read_module(const struct dl_phdr_info *info, struct module *m)
{
	const ElfW(Phdr) *dynamic = NULL;

	*m = (struct module){ .base = info->dlpi_addr, .begin = UINT64_MAX };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = m->base + p->p_vaddr, end = at + p->p_memsz;

		if (p->p_type == PT_DYNAMIC)
			dynamic = p;
		if (p->p_type == PT_GNU_RELRO) {
			m->relro = at & ~(PAGE_BYTES - 1);
			m->relro_end = end & ~(PAGE_BYTES - 1);
		}
		if (p->p_type != PT_LOAD)
			continue;
		m->begin = at < m->begin ? at : m->begin;
		m->end = end > m->end ? end : m->end;
		if (p->p_flags & PF_X) {
			m->text = m->text ? m->text : at;
			m->text_end = end;
		}
	}
	if (!dynamic)
		return false;
	read_dynamic(m, (const ElfW(Dyn) *)(m->base + dynamic->p_vaddr));
	for (unsigned i = 0; i < 2; i++)
		if (!m->rela[i])
			m->n_rela[i] = 0;
	return m->symbols && m->names;
}

static bool is_defined(const struct module *m, const ElfW(Sym) * s, const char *name)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value && type == STT_FUNC &&
	       ELF64_ST_VISIBILITY(s->st_other) != STV_HIDDEN &&
	       strcmp(m->names + s->st_name, name) == 0;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

/* By DT_GNU_HASH: buckets, a Bloom filter, chains whose last hash is odd. */
static const ElfW(Sym) * find_by_hash(const struct module *m, const char *name)
{
	uint32_t n = m->hash[0], first = m->hash[1], words = m->hash[2];
	const uint32_t *bucket = m->hash + 4 + 2 * words, *chain = bucket + n;
	uint32_t h = hash_of(name), i = n ? bucket[h % n] : 0;

	for (; i >= first && i; i++) {
		if ((chain[i - first] | 1) == (h | 1) && is_defined(m, &m->symbols[i], name))
			return &m->symbols[i];
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

static const ElfW(Sym) * find_symbol(const struct module *m, const char *name)
{
	if (m->hash)
		return find_by_hash(m, name);
	for (uint32_t i = 1, n = m->old_hash ? m->old_hash[1] : 0; i < n; i++)
		if (is_defined(m, &m->symbols[i], name))
			return &m->symbols[i];
	return NULL;
}

/* --- our hooks and what they stand before ---------------------------------------------------- */

struct search {
	const char *name;
	uint64_t found;
};

static bool is_own(const struct dl_phdr_info *info)
{
	uint64_t here = (uint64_t)&got;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && here - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

static int search_in(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const ElfW(Sym) * symbol;
	struct module m;

	(void)size;
	if (is_own(info) || !read_module(info, &m))
		return 0;
	symbol = find_symbol(&m, s->name);
	s->found = symbol ? m.base + symbol->st_value : 0;
	return symbol != NULL;
}

void *got_original(const char *name)
{
	struct search s = { .name = name };

	dl_iterate_phdr(search_in, &s);
	return (void *)s.found;
}

/* Of this library and libc, which comes first? What is loaded into a running program comes last. */
static int first_of_both(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool *own = arg;
	struct module m;

	(void)size;
	*own = is_own(info);
	return *own || (read_module(info, &m) && find_symbol(&m, "__libc_start_main"));
}

bool got_is_preloaded(void)
{
	bool own = false;

	dl_iterate_phdr(first_of_both, &own);
	return own;
}

struct inside {
	uint64_t address;
	bool is_libc;   /* it is in libc */
	bool is_called; /* its module calls allocators */
};

/* Do calls of these names, by the loader's tables, come to us and to an allocator? */
static bool is_of_allocators(const char *name)
{
	struct allocator_match match;

	return allocator_find(name, &match) &&
	       (match.naming == NAMED_AS_LIBC || match.naming == NAMED_AS_OPERATOR);
}

static int look_inside(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct inside *in = arg;
	struct module m;

	(void)size;
	if (!read_module(info, &m) || in->address - m.begin >= m.end - m.begin)
		return 0;
	/* libc's own are called by its other functions, not by each other. */
	in->is_libc = find_symbol(&m, "__libc_start_main");
	if (in->is_libc)
		return 1;
	for (unsigned which = 0; which < 2; which++)
		for (size_t i = 0; i < m.n_rela[which] && !in->is_called; i++)
			in->is_called = is_of_allocators(
				m.names + m.symbols[ELF64_R_SYM(m.rela[which][i].r_info)].st_name);
	return 1;
}

bool got_calls_allocators(const void *function)
{
	struct inside in = { .address = (uint64_t)function };

	if (function)
		dl_iterate_phdr(look_inside, &in);
	return in.is_called;
}

bool got_is_of_libc(const void *function)
{
	struct inside in = { .address = (uint64_t)function };

	dl_iterate_phdr(look_inside, &in);
	return in.is_libc;
}

static void add_hook(const char *name, uint64_t to, uint64_t original)
{
	uint8_t first = (uint8_t)name[0];

	if (got.n == MAX_HOOKS || !to)
		return;
	got.hook[got.n++] = (struct hook){ name, to, original };
	got.first_letters[first / 64] |= UINT64_C(1) << first % 64;
}

/* Every function that this library exports is a hook of that name. */
static int find_own(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module m;
	uint32_t n_buckets, first, last = 0;
	const uint32_t *bucket, *chain;

	(void)size;
	(void)arg;
	if (!is_own(info) || !read_module(info, &m) || !m.hash)
		return 0;
	got.own = m.base;
	n_buckets = m.hash[0];
	first = m.hash[1];
	bucket = m.hash + 4 + 2 * m.hash[2];
	chain = bucket + n_buckets;
	for (uint32_t i = 0; i < n_buckets; i++)
		last = bucket[i] > last ? bucket[i] : last;
	while (last >= first && !(chain[last - first] & 1))
		last++;
	for (uint32_t i = first; i <= last; i++) {
		const char *name = m.names + m.symbols[i].st_name;

		if (is_defined(&m, &m.symbols[i], name))
			add_hook(name, m.base + m.symbols[i].st_value, 0);
	}
	return 1;
}

static void find_hooks(void)
{
	if (got.n)
		return;
	dl_iterate_phdr(find_own, NULL);
	for (uint32_t i = 0; i < got.n; i++)
		got.hook[i].original = (uint64_t)got_original(got.hook[i].name);
	got_real_dlsym = got_original("dlsym");
	got_real_dlvsym = got_original("dlvsym");
	if (got_real_dlsym)
		add_hook("dlsym", (uint64_t)got_jump_dlsym, (uint64_t)got_real_dlsym);
	if (got_real_dlvsym)
		add_hook("dlvsym", (uint64_t)got_jump_dlvsym, (uint64_t)got_real_dlvsym);
}

static const struct hook *hook_of(const char *name)
{
	uint8_t first = (uint8_t)name[0];

	if (!(got.first_letters[first / 64] >> first % 64 & 1))
		return NULL;
	for (uint32_t i = 0; i < got.n; i++)
		if (strcmp(got.hook[i].name, name) == 0)
			return &got.hook[i];
	return NULL;
}

/* --- slots ----------------------------------------------------------------------------------- */

static bool take_hex(const char **s, const char *end, uint64_t *v)
{
	const char *begin = *s;

	for (*v = 0; *s < end; ++*s) {
		char c = **s;

		if (c >= '0' && c <= '9')
			*v = *v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*v = *v << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	return *s > begin;
}

/* "from-to rw…": is this the line of address, and is the memory not writable? */
static bool line_says_sealed(const char *line, const char *end, uint64_t address, bool *covers)
{
	uint64_t from, to;

	*covers = false;
	if (!take_hex(&line, end, &from) || line == end || *line++ != '-' ||
	    !take_hex(&line, end, &to) || end - line < 3)
		return false;
	*covers = address >= from && address < to;
	return *covers && line[2] != 'w';
}

/* Has the loader made the page of address read-only already? By /proc/self/maps. */
static bool is_sealed(uint64_t address)
{
	char text[4096];
	size_t n = 0;
	ssize_t got_bytes;
	bool covers = false, sealed = false;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && !covers && (got_bytes = read(fd, text + n, sizeof(text) - n)) > 0) {
		char *line = text, *end;

		n += (size_t)got_bytes;
		while (!covers && (end = memchr(line, '\n', n - (size_t)(line - text)))) {
			sealed = line_says_sealed(line, end, address, &covers);
			line = end + 1;
		}
		n -= (size_t)(line - text);
		memmove(text, line, n);
		if (n == sizeof(text))
			break;
	}
	if (fd >= 0)
		close(fd);
	return sealed;
}

/* What a pass over all modules does, and with what. */
struct pass {
	bool (*change)(const struct module *m, const ElfW(Rela) * r, uint64_t had, uint64_t *now);
	uint32_t n_changed;
	uint32_t n_open; /* slots that the loader may be about to seal: left alone */
};

static void store(uint64_t slot, uint64_t value)
{
	atomic_store_explicit((_Atomic uint64_t *)slot, value, memory_order_release);
}

/* One slot. *sealed: -1 until it is known whether the module's protected pages are read-only. */
static void visit(struct pass *p, const struct module *m, const ElfW(Rela) * r, int *sealed)
{
	uint64_t slot = m->base + r->r_offset, page = slot & ~(PAGE_BYTES - 1), now;
	bool protected = slot >= m->relro && slot < m->relro_end;

	if ((slot & 7) || slot < m->begin || slot + 8 > m->end)
		return;
	if (!p->change(m, r, *(const uint64_t *)slot, &now))
		return;
	if (protected && *sealed < 0)
		*sealed = is_sealed(slot);
	if (protected && !*sealed) {
		p->n_open++;
		return;
	}
	if (protected && mprotect((void *)page, PAGE_BYTES, PROT_READ | PROT_WRITE))
		return;
	store(slot, now);
	if (protected)
		mprotect((void *)page, PAGE_BYTES, PROT_READ);
	p->n_changed++;
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct pass *p = arg;
	struct module m;
	int sealed = -1;

	(void)size;
	atomic_store(&got.adds, info->dlpi_adds);
	if (is_own(info) || !read_module(info, &m))
		return 0;
	for (unsigned which = 0; which < 2; which++)
		for (size_t i = 0; i < m.n_rela[which]; i++)
			if (ELF64_R_SYM(m.rela[which][i].r_info))
				visit(p, &m, &m.rela[which][i], &sealed);
	return 0;
}

static bool is_slot(const ElfW(Rela) * r)
{
	uint64_t type = ELF64_R_TYPE(r->r_info);

	return (type == R_SLOT || type == R_GLOB || type == R_WORD) && r->r_addend == 0;
}

/* To our hook: from what the loader found, or will find at the first call, or from nothing for our own names. */
static bool to_hook(const struct module *m, const ElfW(Rela) * r, uint64_t had, uint64_t *now)
{
	const ElfW(Sym) *s = &m->symbols[ELF64_R_SYM(r->r_info)];
	const char *name = m->names + s->st_name;
	const struct hook *h = is_slot(r) ? hook_of(name) : NULL;
	bool later;

	if (!h || had == h->to)
		return false;
	later = ELF64_R_TYPE(r->r_info) == R_SLOT && s->st_shndx == SHN_UNDEF && had >= m->text &&
		had < m->text_end;
	*now = h->to;
	if (strncmp(name, OWN_PREFIX, sizeof(OWN_PREFIX) - 1) == 0)
		return had == 0;
	return h->original && (had == h->original || later);
}

/* Back. The program's marks stay with us: it looks whether they lead anywhere, and calls them then. */
static bool from_hook(const struct module *m, const ElfW(Rela) * r, uint64_t had, uint64_t *now)
{
	const char *name = m->names + m->symbols[ELF64_R_SYM(r->r_info)].st_name;
	const struct hook *h = is_slot(r) ? hook_of(name) : NULL;

	if (!h || had != h->to || strncmp(name, OWN_PREFIX, sizeof(OWN_PREFIX) - 1) == 0)
		return false;
	*now = h->original;
	return true;
}

static uint32_t patch(void)
{
	struct pass p = { .change = to_hook };

	find_hooks();
	dl_iterate_phdr(visit_module, &p);
	/* Loading takes a while: so many looks of the writer. */
	got.looks_left = p.n_open ? 10 : got.looks_left;
	got.patched = true;
	return p.n_changed;
}

uint32_t got_patch(void)
{
	uint32_t n;

	if (!tracer_lock(&got.lock))
		return 0;
	got.looks_left = 0;
	n = patch();
	tracer_unlock(&got.lock);
	return n;
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_adds;
	return 1;
}

void got_patch_new(void)
{
	uint64_t adds = 0;

	dl_iterate_phdr(count_adds, &adds);
	if (adds == atomic_load(&got.adds) && got.looks_left == 0)
		return;
	/* Whoever has it may wait for the loader's lock, which the caller holds: the next look will do. */
	if (!tracer_lock_within(&got.lock, BUSY_MS))
		return;
	if (got.patched) {
		/* What was just added may not be ready: two more looks. */
		got.looks_left = adds != atomic_load(&got.adds) ? 2
				 : got.looks_left               ? got.looks_left - 1
								: 0;
		patch();
	}
	tracer_unlock(&got.lock);
}

void got_restore(void)
{
	struct pass p = { .change = from_hook };

	if (!tracer_lock(&got.lock))
		return;
	if (got.patched)
		dl_iterate_phdr(visit_module, &p);
	got.patched = false;
	tracer_unlock(&got.lock);
}

/* --- dlsym ----------------------------------------------------------------------------------- */

/*
 * A program that loads a plugin asks for its functions next: the moment to lead the plugin's calls. Whose
 * question it is, dlsym knows by its return address; so it is jumped to.
 */
void got_before_dlsym(void)
{
	struct tracer_internal was;
	int kept = errno;

	if (!tracer_is_on() || !tracer_thread_is_idle())
		return;
	was = tracer_thread_internal(TRACER_INTERNAL);
	got_patch_new();
	tracer_thread_resume(&was);
	errno = kept;
}

#if defined(__x86_64__)
#define STUB(name, real) \
	__asm__(".text\n.hidden " name "\n.globl " name "\n.type " name ",@function\n" name \
		":\n\t" \
		".cfi_startproc\n\tendbr64\n\t" \
		"pushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\tpushq %rsi\n\t.cfi_adjust_cfa_offset 8\n\t" \
		"pushq %rdx\n\t.cfi_adjust_cfa_offset 8\n\tcall got_before_dlsym\n\t" \
		"popq %rdx\n\t.cfi_adjust_cfa_offset -8\n\tpopq %rsi\n\t.cfi_adjust_cfa_offset -8\n\t" \
		"popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\tjmpq *" real "(%rip)\n\t" \
		".cfi_endproc\n.size " name ", .-" name "\n")
#elif defined(__aarch64__)
#define STUB(name, real) \
	__asm__(".text\n.hidden " name "\n.globl " name "\n.type " name ",%function\n" name \
		":\n\t" \
		".cfi_startproc\n\tstp x29, x30, [sp, #-48]!\n\t.cfi_def_cfa_offset 48\n\t" \
		".cfi_offset 29, -48\n\t.cfi_offset 30, -40\n\tmov x29, sp\n\t" \
		"stp x0, x1, [sp, #16]\n\tstr x2, [sp, #32]\n\tbl got_before_dlsym\n\t" \
		"ldp x0, x1, [sp, #16]\n\tldr x2, [sp, #32]\n\tldp x29, x30, [sp], #48\n\t" \
		".cfi_restore 29\n\t.cfi_restore 30\n\t.cfi_def_cfa_offset 0\n\t" \
		"adrp x16, " real "\n\tldr x16, [x16, :lo12:" real "]\n\tbr x16\n\t" \
		".cfi_endproc\n.size " name ", .-" name "\n")
#endif
STUB("got_jump_dlsym", "got_real_dlsym");
STUB("got_jump_dlvsym", "got_real_dlvsym");
