/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a symbol table says is believed only where memory is what the file is, and names that anybody may choose
 * (malloc) only when they come together.
 */
#include "config.h"

#include "record/heap/patch/code_module.h"

#include "record/heap/patch/elf_symbols.h"

#include <string.h>
#include <unistd.h>

/* As far as a jump of two bytes leads. */
#define NEAR_BYTES   130u
#define MOST_BYTES   (1u << 20) /* no function of an allocator is longer */
#define RUMOUR_BYTES (64u << 20)
#define IMPORT_BYTES 12u /* endbr64, bnd jmp *word(%rip) */
#define MOST_CALLED  64u

bool code_module_has(const struct code_module *m, uint64_t address, uint64_t n, uint32_t flags)
{
	for (size_t i = 0; i < m->n_phdr; i++) {
		const ElfW(Phdr) *p = &m->phdr[i];
		uint64_t within = address - m->base - p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags && within < p->p_memsz &&
		    n <= p->p_memsz - within)
			return true;
	}
	return false;
}

/* What they begin their messages with; gperftools, whose messages come in pieces, has names of properties. */
static const struct {
	const char *has, *allocator;
	size_t before; /* bytes of `has` before TEXTS_SHARE */
} texts[] = { { "<jemalloc>: ", "jemalloc", 3 },
	      { "mimalloc: ", "mimalloc", 2 },
	      { "tcmalloc.max_total_thread_cache_bytes", "tcmalloc", 2 } };

/* So that one search finds all of them. */
#define TEXTS_SHARE "malloc"

/* Is there a text around `hit` in bytes from `at` to `end`? Which, unless `allocator` (or NULL: any) has another. */
static const char *text_around(const uint8_t *at, const uint8_t *end, const uint8_t *hit,
			       const char *allocator)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t n = strlen(texts[i].has), before = texts[i].before;

		if ((allocator && strcmp(allocator, texts[i].allocator) != 0) ||
		    before > (size_t)(hit - at) || n - before > (size_t)(end - hit))
			continue;
		if (memcmp(hit - before, texts[i].has, n) == 0)
			return texts[i].allocator;
	}
	return NULL;
}

static const char *find_text(const uint8_t *at, size_t n, const char *allocator)
{
	const uint8_t *end = at + n, *from = at, *hit;
	const char *found = NULL;

	while (!found &&
	       (hit = memmem(from, (size_t)(end - from), TEXTS_SHARE, strlen(TEXTS_SHARE)))) {
		found = text_around(at, end, hit, allocator);
		from = hit + 1;
	}
	return found;
}

/* The segment's flags, or 0: nothing is loaded from there. */
static uint32_t flags_of(const ElfW(Phdr) * p)
{
	return p->p_type == PT_LOAD ? p->p_flags & (PF_R | PF_W | PF_X) : 0;
}

/*
 * Of which allocator (NULL: any) a segment of no more bytes than `most` has a text. Linkers put texts into segments that
 * are only read, where there are any, and else beside the code: which is not fetched from the disk for them.
 */
static const char *says(const struct code_module *m, const char *allocator, uint64_t most)
{
	const char *found = NULL;
	uint32_t flags = PF_R | PF_X;

	for (size_t i = 0; i < m->n_phdr; i++)
		if (flags_of(&m->phdr[i]) == PF_R)
			flags = PF_R;
	for (size_t i = 0; i < m->n_phdr && !found; i++) {
		const ElfW(Phdr) *p = &m->phdr[i];

		if (flags_of(p) == flags && p->p_filesz <= most)
			found = find_text((const uint8_t *)(m->base + p->p_vaddr), p->p_filesz,
					  allocator);
	}
	return found;
}

static void refuse(struct code_module *m, const char *why, const struct code_function *f)
{
	if (m->why)
		return;
	m->why = why;
	m->why_name = f ? f->name : NULL;
}

/* --- which functions ------------------------------------------------------------------------- */

/* Names that anybody may choose. */
static bool is_common(const struct code_function *f)
{
	return f->match.naming == NAMED_AS_LIBC;
}

static struct code_function *find_named(struct code_module *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->function[i].name, name) == 0)
			return &m->function[i];
	return NULL;
}

/* A symbol with a name that is known. Several symbols of one function are one. */
static void add_symbol(struct code_module *m, const struct elf_symbols *s, size_t i,
		       const struct allocator_match *match)
{
	const Elf64_Sym *symbol = &s->at[i];
	unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
	const char *name = elf_symbols_name(s, i);
	struct code_function f = { .match = *match, .value = symbol->st_value }, *other;

	f.local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || visibility == STV_HIDDEN ||
		  visibility == STV_INTERNAL;
	f.exported = !f.local;
	f.is_resolver = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
	/* What of a library behind us is called by its name comes by the hook of that name. */
	if ((f.exported && !m->comes_first && is_common(&f)) || strlen(name) >= CODE_MAX_NAME)
		return;
	memcpy(f.name, name, strlen(name) + 1);
	f.move.code.address = m->base + symbol->st_value;
	f.move.code.n = symbol->st_size;
	f.move.code.bytes = (const uint8_t *)f.move.code.address;
	other = find_named(m, name);
	if (other && other->value == f.value)
		return;
	f.is_ambiguous = other != NULL;
	if (other)
		other->is_ambiguous = true;
	if (m->n == CODE_MAX_FUNCTIONS)
		refuse(m, "there are too many of its functions", NULL);
	else
		m->function[m->n++] = f;
}

/* Keeps those for which keep() says so. */
static void keep_only(struct code_module *m, bool (*keep)(const struct code_function *f))
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		if (keep(&m->function[i]))
			m->function[n++] = m->function[i];
	m->n = n;
}

static bool is_uncommon(const struct code_function *f)
{
	return !is_common(f);
}

/* Others have functions of such names, too: they are believed of a module only that has the allocator's texts. */
static void keep_known(struct code_module *m)
{
	enum { NOT_ASKED, NO, YES } is_known[N_ALLOCATOR_NAMINGS] = { NOT_ASKED };
	size_t n = 0;

	is_known[NAMED_AS_LIBC] = is_known[NAMED_AS_OPERATOR] = YES;
	for (size_t i = 0; i < m->n; i++) {
		enum allocator_naming naming = m->function[i].match.naming;

		if (is_known[naming] == NOT_ASKED)
			is_known[naming] = says(m, allocator_name(naming), UINT64_MAX) ? YES : NO;
		if (is_known[naming] == YES)
			m->function[n++] = m->function[i];
	}
	m->n = n;
}

static bool is_not_hidden(const struct code_function *f)
{
	return !f->local || !is_common(f);
}

/* By names that no other kind of function has. */
static bool is_marked(const struct code_module *m)
{
	for (size_t i = 0; i < m->n; i++) {
		enum allocator_naming naming = m->function[i].match.naming;

		if (naming != NAMED_AS_LIBC && naming != NAMED_AS_OPERATOR)
			return true;
	}
	return false;
}

/* Are malloc and free of this module what their names say? */
static bool common_are_meant(struct code_module *m)
{
	static const char *const all[] = { "malloc", "calloc", "realloc", "free" };
	bool marked = is_marked(m);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct code_function *f = find_named(m, all[i]);

		if (!f || f->is_ambiguous || (f->local && !marked))
			return false;
	}
	return true;
}

/* Is there a naming of which both ends are there? Operators call the allocator, wherever that is. */
static bool has_core(const struct code_module *m)
{
	bool gives[N_ALLOCATOR_NAMINGS] = { false }, takes[N_ALLOCATOR_NAMINGS] = { false };

	for (size_t i = 0; i < m->n; i++) {
		const struct allocator_match *match = &m->function[i].match;

		gives[match->naming] |= match->function->act == ACT_ALLOC;
		takes[match->naming] |= match->function->act == ACT_FREE;
	}
	for (unsigned i = 0; i < N_ALLOCATOR_NAMINGS; i++)
		if (i != NAMED_AS_OPERATOR && gives[i] && takes[i])
			return true;
	return false;
}

static bool do_the_same(const struct allocator_match *a, const struct allocator_match *b)
{
	const struct allocator_function *f = a->function, *g = b->function;

	return f->act == g->act && f->block + a->shift == g->block + b->shift &&
	       f->size + a->shift == g->size + b->shift &&
	       f->count + a->shift == g->count + b->shift;
}

/* Several names of one function are one function. */
static void join_names(struct code_module *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		size_t j = 0;

		while (j < n && m->function[j].value != m->function[i].value)
			j++;
		if (j == n) {
			m->function[n++] = m->function[i];
			continue;
		}
		if (!do_the_same(&m->function[i].match, &m->function[j].match))
			refuse(m, "two different functions of it have the same code",
			       &m->function[j]);
	}
	m->n = n;
}

static void find_functions(struct code_module *m, const struct elf_symbols *s)
{
	struct allocator_match match;

	for (size_t i = 0; i < s->n; i++)
		if (elf_symbols_is_function(s, i) && allocator_find(elf_symbols_name(s, i), &match))
			add_symbol(m, s, i, &match);
	keep_known(m);
	if (m->n && !common_are_meant(m))
		keep_only(m, is_uncommon);
	if (!is_marked(m))
		keep_only(m, is_not_hidden);
	if (!has_core(m)) {
		m->n = 0;
		m->why = NULL;
	}
	join_names(m);
}

/* --- whether they can be led elsewhere ------------------------------------------------------- */

/* Is the function in memory what it is in the file? */
static bool is_as_in_file(const struct elf_symbols *s, int fd, const struct code_function *f)
{
	uint8_t bytes[4096];
	uint64_t at;

	if (!elf_symbols_offset(s, f->value, f->move.code.n, &at))
		return false;
	for (size_t done = 0; done < f->move.code.n;) {
		size_t n = f->move.code.n - done;

		n = n < sizeof(bytes) ? n : sizeof(bytes);
		if (pread(fd, bytes, n, (off_t)(at + done)) != (ssize_t)n ||
		    memcmp(bytes, f->move.code.bytes + done, n) != 0)
			return false;
		done += n;
	}
	return true;
}

static bool forwards(const struct code_module *m, const struct code_function *f)
{
	uint64_t to;

	if (!code_is_jump(&f->move.code, &to))
		return false;
	for (size_t i = 0; i < m->n; i++)
		if (&m->function[i] != f && m->function[i].move.code.address == to &&
		    do_the_same(&m->function[i].match, &f->match))
			return true;
	return false;
}

/* The function around an address of the module; n 0: no symbol tells. */
static struct code function_around(const struct code_module *m, const struct elf_symbols *s,
				   uint64_t address)
{
	for (size_t i = 0; i < s->n; i++) {
		struct code f = { .address = m->base + s->at[i].st_value, .n = s->at[i].st_size };

		if (elf_symbols_is_function(s, i) && address >= f.address &&
		    address - f.address < f.n && f.n <= MOST_BYTES &&
		    code_module_has(m, f.address, f.n, PF_X | PF_R)) {
			f.bytes = (const uint8_t *)f.address;
			return f;
		}
	}
	return (struct code){ 0 };
}

/* Is it an entry of the table by which other modules are called? */
static bool is_import(const struct code_module *m, uint64_t address)
{
	struct code entry = { .bytes = (const uint8_t *)address, .n = 16, .address = address };
	uint64_t to;
	size_t at = 0;

	return code_module_has(m, address, entry.n, PF_X | PF_R) &&
	       code_next_call(&entry, &at, &to) && at <= IMPORT_BYTES && to == 0;
}

/*
 * Does a function, or one that it calls, call what its compiler cannot know? Else callers that were compiled together
 * with it may count on registers that it leaves alone (gcc's -fipa-ra), and may not align the stack: our hooks would
 * break both.
 */
static bool calls_unknown(const struct code_module *m, const struct elf_symbols *s,
			  const struct code *first)
{
	uint64_t seen[MOST_CALLED] = { first->address }, to;
	size_t n = 1;

	for (size_t k = 0; k < n; k++) {
		struct code f = k == 0 ? *first : function_around(m, s, seen[k]);

		for (size_t at = 0; code_next_call(&f, &at, &to);) {
			size_t i = 0;

			if (to == 0 || is_import(m, to))
				return true;
			while (i < n && seen[i] != to)
				i++;
			if (i == n && n < MOST_CALLED)
				seen[n++] = to;
		}
	}
	return false;
}

static void check_function(struct code_module *m, const struct elf_symbols *s, int fd,
			   struct code_function *f)
{
	const struct code *code = &f->move.code;
	const char *why;

	if (f->is_resolver)
		refuse(m, "it is chosen while the program begins", f);
	else if (code->n == 0 || code->n > MOST_BYTES ||
		 !code_module_has(m, code->address, code->n, PF_X | PF_R))
		refuse(m, "its symbol cannot be believed", f);
	else if (!is_as_in_file(s, fd, f))
		refuse(m, "it is not in memory what it is in the file", f);
	if (m->why)
		return;
	f->forwards = forwards(m, f);
	if (f->forwards)
		return;
	why = code_plan(code, &f->move.plan);
	if (!why && (is_common(f) || f->match.naming == NAMED_AS_OPERATOR) &&
	    !(m->is_stripped && code_module_rumour(m)) && !calls_unknown(m, s, code))
		why = "who calls it may know which registers it leaves alone";
	if (why)
		refuse(m, why, f);
}

/* Functions next to f, from which short jumps could lead into it. */
static void check_neighbour(struct code_module *m, const struct code *other)
{
	for (size_t i = 0; i < m->n && !m->why; i++) {
		const struct code_function *f = &m->function[i];
		const struct code *code = &f->move.code;

		if (f->forwards || other->address == code->address ||
		    other->address + other->n + NEAR_BYTES < code->address ||
		    other->address > code->address + f->move.plan.end + NEAR_BYTES)
			continue;
		if (other->address < code->address + code->n &&
		    other->address + other->n > code->address)
			refuse(m, "another function overlaps it", f);
		else if (!code_stays_out(other, &f->move))
			refuse(m, "the function next to it may jump into it", f);
	}
}

static void check_neighbours(struct code_module *m, const struct elf_symbols *s)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct code_function *f = &m->function[i];

		low = f->value < low ? f->value : low;
		high = f->value > high ? f->value : high;
	}
	for (size_t i = 0; i < s->n && !m->why; i++) {
		const Elf64_Sym *symbol = &s->at[i];
		struct code other = { .address = m->base + symbol->st_value, .n = symbol->st_size };

		if (!elf_symbols_is_function(s, i) || symbol->st_size == 0 ||
		    symbol->st_size > MOST_BYTES ||
		    symbol->st_value + symbol->st_size + NEAR_BYTES < low ||
		    symbol->st_value > high + MOST_BYTES ||
		    !code_module_has(m, other.address, other.n, PF_X | PF_R))
			continue;
		other.bytes = (const uint8_t *)other.address;
		check_neighbour(m, &other);
	}
}

/* All of one segment. What looks like a jump into a function may be no instruction: its own function is read then. */
static void check_segment(struct code_module *m, const struct elf_symbols *s,
			  const struct code *text, const struct trampoline *const *moves, size_t n)
{
	const struct trampoline *hit;

	for (size_t at = 0; (hit = code_hit(text, &at, moves, n)); at++) {
		struct code around = function_around(m, s, text->address + at);

		if (around.n && code_stays_out(&around, hit))
			continue;
		for (size_t i = 0; i < m->n; i++)
			if (&m->function[i].move == hit)
				refuse(m, "something seems to jump into it", &m->function[i]);
		return;
	}
}

/* From anywhere in the module. */
static void check_text(struct code_module *m, const struct elf_symbols *s)
{
	const struct trampoline *moves[CODE_MAX_FUNCTIONS];
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		if (!m->function[i].forwards)
			moves[n++] = &m->function[i].move;
	for (size_t i = 0; i < m->n_phdr && !m->why; i++) {
		const ElfW(Phdr) *p = &m->phdr[i];
		struct code text = { .address = m->base + p->p_vaddr, .n = p->p_memsz };

		if (p->p_type != PT_LOAD || (p->p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
			continue;
		text.bytes = (const uint8_t *)text.address;
		check_segment(m, s, &text, moves, n);
	}
}

static bool calls_madvise(const struct elf_symbols *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].st_shndx == SHN_UNDEF &&
		    strcmp(elf_symbols_name(s, i), "madvise") == 0)
			return true;
	return false;
}

void code_module_read(struct code_module *m, int fd)
{
	struct elf_symbols s;

	m->n = 0;
	m->why = m->why_name = NULL;
	if (!elf_symbols_read(fd, &s))
		return;
	m->is_stripped = s.dynamic;
	m->calls_madvise = m->is_stripped && calls_madvise(&s);
	find_functions(m, &s);
	for (size_t i = 0; i < m->n && !m->why; i++)
		check_function(m, &s, fd, &m->function[i]);
	if (m->n && !m->why)
		check_neighbours(m, &s);
	if (m->n && !m->why)
		check_text(m, &s);
	elf_symbols_drop(&s);
}

const void *code_module_exported(const struct code_module *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->function[i].exported && !m->function[i].is_resolver &&
		    strcmp(m->function[i].name, name) == 0)
			return m->function[i].move.code.bytes;
	return NULL;
}

/* --- for people ------------------------------------------------------------------------------ */

const char *code_module_allocator(const struct code_module *m)
{
	const char *name = allocator_name(NAMED_AS_LIBC);

	for (size_t i = 0; i < m->n; i++) {
		enum allocator_naming naming = m->function[i].match.naming;

		if (naming != NAMED_AS_LIBC && naming != NAMED_AS_OPERATOR)
			return allocator_name(naming);
	}
	return name;
}

const char *code_module_rumour(const struct code_module *m)
{
	/* All of them give memory back by it: where it is not called, megabytes need not be read. */
	return m->calls_madvise ? says(m, NULL, RUMOUR_BYTES) : NULL;
}
