/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For each function a slot near its module has a stub, to which the function's first bytes jump, and the instructions
 * that were there before, which the hook calls in its place:
 *
 *	0   movabs $hooked, %r9      the sixth argument: struct hooked, at the slot's end
 *	10  notrack jmp *24(slot)    the hook
 *	24  the hook's address
 *	32  endbr64, the moved instructions, a jump to the rest of the function
 *
 * The stub leaves the stack alone, so that the hook returns to the function's caller and finds it on the stack. Moved
 * instructions have no unwind tables; an unwinder that is called there by a signal ends at them.
 */
#include "config.h"

#include "record/heap/patch/patch_allocators.h"

#include "heaptrace/heap_records.h"
#include "record/heap/hooks/got.h"
#include "record/heap/hooks/hooks.h"
#include "record/heap/hooks/real_calls.h"
#include "record/heap/patch/code_module.h"
#include "record/heap/patch/patched_hooks.h"
#include "record/heap/trace/kernel_stat.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_file.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES  UINT64_C(4096)
#define MAX_MODULES 256u
#define SLOT_BYTES  192u
#define HOOK_AT     24u
#define MOVED_AT    32u
#define NEAR_STEP   (UINT64_C(1) << 20)
#define NEAR_STEPS  1900u /* of a jump's 2 GiB, what a module of some 100 MB leaves */
#define MAX_TOLD    32u
#define MAX_LATE    64u
#define MOST_TRIES  4096u
#define TOLD_BYTES  400u

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

struct slot {
	uint8_t bytes[MOVED_AT + CODE_MOVED_BYTES];
	struct hooked hooked;
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct slot) == SLOT_BYTES, "slots are as long as they are said to be");

/* What people are told: kept for the traces of children. */
static struct {
	char text[MAX_TOLD][TOLD_BYTES];
	uint32_t n;
	bool installed; /* code was changed, or not for a reason that was told */
	/* What the program began with was looked at. Libraries that initialize before ours allocate earlier. */
	_Atomic bool is_begun;
} told;

/* A library that was opened late, whose code leads to us. */
struct late {
	struct live_module *module;
	struct slot *slots;
	size_t bytes;
	uint64_t jump_at; /* one of its jumps, */
	uint64_t jump_to; /* to one of the slots */
};

static struct {
	uint64_t begun_with
		[MAX_MODULES]; /* bases of what was there when the others were looked at */
	uint32_t n_begun_with;
	_Atomic uint32_t n_tries; /* to do so on a stack that says nothing */
	_Atomic uint64_t n_seen;  /* recorder.modules.n_come when there was none left to look at */
	struct late of[MAX_LATE];
	uint32_t n;
} late;

/* --- telling --------------------------------------------------------------------------------- */

static void append(char *to, const char *text)
{
	size_t n = strlen(to), more = strlen(text);

	more = more < TOLD_BYTES - 1 - n ? more : TOLD_BYTES - 1 - n;
	memcpy(to + n, text, more);
	to[n + more] = '\0';
}

static void append_number(char *to, size_t v)
{
	char digits[24];
	size_t i = sizeof(digits) - 1;

	digits[i] = '\0';
	do
		digits[--i] = (char)('0' + v % 10);
	while (v /= 10);
	append(to, digits + i);
}

/* A line that begins with these words. NULL: there are too many. */
static char *begin_line(const char *what, const char *where)
{
	char *line = told.n < MAX_TOLD ? told.text[told.n] : NULL;

	if (!line)
		return NULL;
	line[0] = '\0';
	append(line, what);
	append(line, " in ");
	append(line, where);
	return line;
}

static const char *name_of(const struct code_module *m, const char *path)
{
	return m->is_executable ? "the executable" : path;
}

static void tell_refused(const struct code_module *m, const char *path, const char *why,
			 const char *name)
{
	char *line = begin_line(code_module_allocator(m), name_of(m, path));

	if (!line)
		return;
	append(line, ": its own calls of it are not recorded, as ");
	if (name) {
		append(line, name);
		append(line, " cannot be led to the recorder: ");
	}
	append(line, why);
	if (m->comes_first && !m->is_executable)
		append(line, "; where LD_PRELOAD names it behind the recorder, they are");
	told.n++;
}

static void tell_done(const struct code_module *m, const char *path)
{
	char *line = begin_line(code_module_allocator(m), name_of(m, path));

	if (!line)
		return;
	append(line, ": ");
	append_number(line, m->n);
	append(line, " functions, by their first bytes, lead to the recorder");
	if (m->is_stripped && m->is_executable)
		append(line, "; it has no symbol table, and what it does not export is not seen");
	told.n++;
}

static void tell_rumour(const struct code_module *m, const char *path)
{
	const char *name = code_module_rumour(m);
	char *line = name ? begin_line(name, name_of(m, path)) : NULL;

	if (!line)
		return;
	append(line, ": not recorded, as it has no symbol table (it was stripped)");
	told.n++;
}

static void tell(const char *text)
{
	struct heap_record r = { .type = HEAP_REC_NOTE };

	r.text[0] = (struct heap_text){ (const uint8_t *)text, strlen(text) };
	tracer_writer_record(&r);
	tracer_log_info(&recorder.options, text, NULL);
}

void patch_allocators_tell(void)
{
	for (uint32_t i = 0; i < told.n; i++)
		tell(told.text[i]);
}

/* Tells what was added since there were n, unless it is known: libraries may come and go often. */
static void tell_since(uint32_t n)
{
	uint32_t end = told.n;

	told.n = n;
	for (uint32_t i = n; i < end; i++) {
		uint32_t k = 0;

		while (k < told.n && strcmp(told.text[k], told.text[i]) != 0)
			k++;
		if (k < told.n)
			continue;
		memmove(told.text[told.n], told.text[i], TOLD_BYTES);
		tell(told.text[told.n++]);
	}
}

/* --- doing it -------------------------------------------------------------------------------- */

#if defined(__x86_64__)

/* Why nothing is changed in a program that runs. */
static const char while_running[] =
	"code is not changed while a program runs (of one that begins under the recorder it is: --heap -- COMMAND)";

/* Memory that the module's jumps reach: below it, as the heap of the program grows above the executable. */
static struct slot *map_near(const struct code_module *m, size_t bytes)
{
	uint64_t begin = UINT64_MAX;

	for (size_t i = 0; i < m->n_phdr; i++)
		if (m->phdr[i].p_type == PT_LOAD && m->base + m->phdr[i].p_vaddr < begin)
			begin = m->base + m->phdr[i].p_vaddr;
	begin &= ~(PAGE_BYTES - 1);
	for (uint64_t i = 1; i < NEAR_STEPS && begin > (i + 1) * NEAR_STEP; i++) {
		uint64_t at = begin - i * NEAR_STEP;
		void *p = (void *)syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (p == (void *)at)
			return p;
		/* Kernels that do not know the flag put it elsewhere. */
		if (p != MAP_FAILED)
			tracer_unmap(p, bytes);
	}
	return NULL;
}

static bool fill_slot(struct slot *s, const struct code_function *f)
{
	static const uint8_t load[] = { 0x49, 0xb9 };                   /* movabs …, %r9 */
	static const uint8_t jump[] = { 0x3e, 0xff, 0x25, 7, 0, 0, 0 }; /* notrack jmp *7(%rip) */
	const struct hooked *hooked = &s->hooked;
	const void *hook = patched_hooks_for(f->match.function);

	memset(s->bytes, 0xcc, sizeof(s->bytes));
	memcpy(s->bytes, load, sizeof(load));
	memcpy(s->bytes + sizeof(load), &hooked, sizeof(hooked));
	memcpy(s->bytes + sizeof(load) + sizeof(hooked), jump, sizeof(jump));
	memcpy(s->bytes + HOOK_AT, &hook, sizeof(hook));
	s->hooked = (struct hooked){ .function = f->match.function,
				     .original = s->bytes + MOVED_AT,
				     .shift = f->match.shift };
	return code_write_moved(&f->move, (uint64_t)(s->bytes + MOVED_AT), s->bytes + MOVED_AT) > 0;
}

/* The pages of the jump's bytes: [*begin, end). */
static uint64_t pages_of(const struct code_function *f, uint64_t *begin)
{
	uint64_t at = f->move.code.address + f->move.plan.at;

	*begin = at & ~(PAGE_BYTES - 1);
	return (at + CODE_JUMP_BYTES + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* Makes the code of all functions before the n-th writable, or what it was. False: the kernel does not. */
static bool protect(const struct code_module *m, size_t n, int more)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t begin, end = pages_of(&m->function[i], &begin);

		if (!m->function[i].forwards &&
		    mprotect((void *)begin, end - begin, PROT_READ | PROT_EXEC | more)) {
			if (more)
				protect(m, i, 0);
			return false;
		}
	}
	return true;
}

/*
 * Does another library stand between our hooks and the allocator, as one that wraps malloc does? What it calls in turn has
 * hooks, too, by its code.
 */
static bool is_wrapped(const struct code_module *m)
{
	const void *next = *(const void **)&real.malloc;

	return next && !code_module_has(m, (uint64_t)next, 1, 0) && !got_is_of_libc(next);
}

/* Our hooks of libc's names, which stand before some of these functions, go on behind the jump. */
static void write_jumps(const struct code_module *m, struct slot *slots)
{
	recorder.nests |= is_wrapped(m);
	for (size_t i = 0; i < m->n; i++) {
		const struct code *code = &m->function[i].move.code;
		uint64_t at = code->address + m->function[i].move.plan.at;
		uint8_t jump[CODE_JUMP_BYTES];

		if (m->function[i].forwards || !code_write_jump(jump, at, (uint64_t)&slots[i]))
			continue;
		memcpy((void *)at, jump, sizeof(jump));
		recorder.nests |= real_calls_replace((const void *)code->address,
						     slots[i].hooked.original);
	}
}

/* Does the processor compare where calls return to with where they came from? From <asm/prctl.h>. */
static bool have_shadow_stacks(void)
{
	uint64_t features = 0;

	return syscall(SYS_arch_prctl, 0x5005, &features) == 0 && (features & 1);
}

/* NULL, or why nothing was changed. *made is what the slots are in. */
static const char *change(const struct code_module *m, struct late *made)
{
	size_t bytes = (m->n * sizeof(struct slot) + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	struct slot *slots = map_near(m, bytes);
	uint8_t jump[CODE_JUMP_BYTES];
	const char *why = NULL;
	sigset_t all, had;

	if (!slots)
		return "there is no memory near it";
	for (size_t i = 0; i < m->n && !why; i++)
		if (m->function[i].move.plan.calls && have_shadow_stacks())
			why = "shadow stacks are on";
	for (size_t i = 0; i < m->n && !why; i++)
		if (!m->function[i].forwards &&
		    (!fill_slot(&slots[i], &m->function[i]) ||
		     !code_write_jump(jump, m->function[i].move.code.address, (uint64_t)&slots[i])))
			why = "it is too far from memory that is free";
	if (!why && mprotect(slots, bytes, PROT_READ | PROT_EXEC))
		why = "the system lets no code be made";
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &had);
	if (!why && !protect(m, m->n, PROT_WRITE))
		why = "the system lets no code be changed";
	if (!why) {
		write_jumps(m, slots);
		protect(m, m->n, 0);
	}
	sigprocmask(SIG_SETMASK, &had, NULL);
	if (why)
		tracer_unmap(slots, bytes);
	for (size_t i = 0; i < m->n && !why; i++)
		if (!m->function[i].forwards)
			*made = (struct late){ made->module, slots, bytes,
					       m->function[i].move.code.address +
						       m->function[i].move.plan.at,
					       (uint64_t)&slots[i] };
	return why;
}

#else

static const char while_running[] = "code is changed on x86_64 only";

static const char *change(const struct code_module *m, struct late *made)
{
	(void)m;
	(void)made;
	return "code is changed on x86_64 only";
}

#endif

/* --- which modules --------------------------------------------------------------------------- */

struct pass {
	struct code_module *module; /* scratch */
	bool running;               /* the program runs: nothing is changed */
	bool disturbed;             /* some thread may be at what is to be changed */
	uint32_t n;                 /* modules seen */
	bool own_seen;              /* what comes now is behind us in the loader's order */
	bool is_first_refused; /* an allocator that comes first, and calls nobody of its name */
};

static bool is_own(const struct code_module *m)
{
	return code_module_has(m, (uint64_t)&told, 1, 0);
}

/* Does no other thread run, but ours? Two links of the directory's own, and one for each. */
static bool is_alone(void)
{
	struct stat st;

	return kernel_stat("/proc/self/task", &st) == 0 &&
	       st.st_nlink == 3u + atomic_load(&recorder.writer_runs);
}

/*
 * Does what comes first call the next one of its name, which is ours? Tried, as nothing else tells: our hook then gives
 * memory of the pool.
 */
static bool passes_on(const struct code_module *m)
{
	void *(*allocate)(size_t);
	void (*give_back)(void *);
	struct tracer_internal was;
	size_t room;
	bool passes;
	void *p;

	*(const void **)&allocate = code_module_exported(m, "malloc");
	*(const void **)&give_back = code_module_exported(m, "free");
	if (!m->comes_first || !allocate || !give_back)
		return false;
	was = tracer_thread_internal(TRACER_POOL);
	p = allocate(1);
	passes = p && real_pool_has(p, &room);
	give_back(p);
	tracer_thread_resume(&was);
	return passes;
}

/* Why the functions of a module are left as they are. */
static void refuse(struct pass *pass, const char *path, const char *why, const char *name)
{
	const struct code_module *m = pass->module;

	if (!pass->running && passes_on(m))
		return;
	tell_refused(m, path, why, name);
	pass->is_first_refused |= m->comes_first && code_module_exported(m, "malloc") &&
				  code_module_exported(m, "free");
}

static void do_module(struct pass *pass, const char *path, struct late *made)
{
	struct code_module *m = pass->module;
	const char *why = m->why;

	if (m->n == 0) {
		if (m->is_executable && m->is_stripped)
			tell_rumour(m, path);
		return;
	}
	if (!pass->running && !recorder.options.code)
		refuse(pass, path, "no code is to be changed (--no-patch, PROFTOP_CODE=0)", NULL);
	else if (why)
		refuse(pass, path, why, m->why_name);
	else if (pass->running)
		refuse(pass, path, while_running, NULL);
	else if (!is_alone())
		refuse(pass, path, "other threads may run already", NULL);
	else if ((why = change(m, made)))
		refuse(pass, path, why, NULL);
	else
		tell_done(m, path);
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct pass *pass = arg;
	struct code_module *m = pass->module;
	const char *path = info->dlpi_name;
	struct late made;
	int fd;

	(void)size;
	memset(m, 0, sizeof(*m));
	m->base = info->dlpi_addr;
	m->phdr = info->dlpi_phdr;
	m->n_phdr = info->dlpi_phnum;
	m->is_executable = pass->n == 0;
	if (pass->n++ == MAX_MODULES)
		return 1;
	late.begun_with[late.n_begun_with++ % MAX_MODULES] = m->base;
	pass->own_seen |= is_own(m);
	m->comes_first = !pass->own_seen;
	if (m->is_executable)
		path = "/proc/self/exe";
	if (!path || *path != '/' || is_own(m))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	code_module_read(m, fd);
	close(fd);
	do_module(pass, path, &made);
	/* Of a library, its calls go by the loader's tables, which are led to us. */
	return pass->running;
}

/* Calls of other modules reach an allocator that comes first by the loader's tables, which can lead here. */
static void lead_by_tables(void)
{
	if (real_calls_take_first(got_original))
		got_patch();
}

static void visit_all(bool running)
{
	struct pass pass = { .module = tracer_map(sizeof(*pass.module)), .running = running };

	if (!pass.module)
		return;
	dl_iterate_phdr(visit, &pass);
	tracer_unmap(pass.module, sizeof(*pass.module));
	if (pass.is_first_refused && !running)
		lead_by_tables();
}

void patch_allocators_install(void)
{
	told.installed = true;
	visit_all(false);
	atomic_store(&told.is_begun, true);
	patch_allocators_tell();
}

void patch_allocators_look(void)
{
	if (told.installed)
		return;
	told.n = 0;
	visit_all(true);
	atomic_store(&told.is_begun, true);
}

const char *patch_allocators_unseen(void)
{
	return told.n && !told.installed ? told.text[0] : "";
}

/* --- what is opened later -------------------------------------------------------------------- */

/* Does its code still lead to us? Not where it was loaded once more. */
static bool is_led(const struct late *l)
{
	uint8_t jump[CODE_JUMP_BYTES];

	return live_module_is_there(l->module) && code_write_jump(jump, l->jump_at, l->jump_to) &&
	       memcmp((const void *)l->jump_at, jump, sizeof(jump)) == 0;
}

/* Slots of libraries that are gone, or have come again, are nobody's. */
static void let_go(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < late.n; i++) {
		struct late *l = &late.of[i];

		if (!l->module->was_looked_at && is_led(l))
			l->module->was_looked_at = true;
		if (l->module->was_looked_at)
			late.of[n++] = *l;
		else
			tracer_unmap(l->slots, l->bytes);
	}
	late.n = n;
}

/* Does a moved instruction call? It may be under way, on a stack that nobody knows. */
static bool may_be_called(const struct code_module *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->function[i].move.plan.calls)
			return true;
	return false;
}

static void do_late(struct pass *pass, struct live_module *module)
{
	struct code_module *m = pass->module;
	struct late made = { .module = module };
	int fd = open(module->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	memset(m, 0, sizeof(*m));
	m->base = module->bias;
	m->phdr = module->phdr;
	m->n_phdr = module->n_phdr;
	code_module_read(m, fd);
	close(fd);
	if (!m->why && late.n == MAX_LATE)
		m->why = "there are too many libraries";
	if (!m->why && (pass->disturbed || may_be_called(m)))
		m->why = "it was opened later, and may be at work";
	do_module(pass, module->path, &made);
	if (made.slots)
		late.of[late.n++] = made;
}

/* Was the module there when the others were looked at? Then it is not looked at now. */
static bool began_with(const struct live_module *m)
{
	for (uint32_t i = 0; i < late.n_begun_with && i < MAX_MODULES; i++) {
		if (late.begun_with[i] != m->bias)
			continue;
		/* What comes there again is another one. */
		late.begun_with[i] = UINT64_MAX;
		return true;
	}
	return false;
}

/* Nobody was interrupted at what is to be changed, as far as the stack says. */
static bool is_undisturbed(const struct live_walk *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->frame[i].about.exact || live_walk_pc(w, i) == HEAP_IP_UNKNOWN ||
		    live_walk_pc(w, i) == HEAP_IP_ELIDED)
			return false;
	return w->n > 0;
}

bool patch_allocators_are_late(const struct live_walk *w)
{
	uint64_t n = atomic_load_explicit(&recorder.modules.n_come, memory_order_relaxed);

	return atomic_load_explicit(&told.is_begun, memory_order_relaxed) &&
	       atomic_load_explicit(&late.n_seen, memory_order_relaxed) != n &&
	       (is_undisturbed(w) || atomic_fetch_add(&late.n_tries, 1) % MOST_TRIES == 0);
}

void patch_allocators_late(const struct live_walk *w)
{
	struct pass pass = { .running = !told.installed };
	uint32_t n_told = told.n;

	pass.disturbed = !is_undisturbed(w);
	pass.module = tracer_map(sizeof(*pass.module));
	if (!pass.module)
		return;
	let_go();
	for (uint32_t i = 0; i < recorder.modules.n; i++) {
		struct live_module *m = &recorder.modules.at[i];

		if (!m->loaded || m->is_memory || m->was_looked_at)
			continue;
		m->was_looked_at = true;
		if (m->path && strchr(m->path, '/') && !began_with(m))
			do_late(&pass, m);
	}
	atomic_store(&late.n_seen, recorder.modules.n_come);
	tracer_unmap(pass.module, sizeof(*pass.module));
	tell_since(n_told);
}
