/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a walk to a node: by the hash of the whole stack in the cache, by the trie when that
 * does not know it; and the ways around for stacks that the quick walk cannot take.
 */
#include "config.h"

#include "record/heap/stack/live_stack.h"

#include "heaptrace/heap_records.h"
#include "record/heap/patch/patch_allocators.h"
#include "record/heap/stack/live_go.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/tracer_thread.h"
#include "unwind/cfi.h"
#include "unwind/epilogue.h"
#include "unwind/walk.h"

#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES    4096u
#define FOREIGN_BYTES (1u << 20) /* as much of a stack that is not the thread's own is walked */
#define OWN_MOST_BYTES \
	(64u << 20) /* no more of a thread's stack is looked for below what is known */
#define FULL_MAX_FRAMES (1u << 18) /* as many small ones as a stack of 8 MiB has */

extern void *__libc_stack_end __attribute__((weak));

/* Scratch memory of full walks; used with the slow lock held. */
struct full_walk {
	struct walker *walker;
	struct cfi_rule alone; /* of the code that was looked up last */
	struct walk_frame frame[FULL_MAX_FRAMES];
	uint64_t pc[WALK_MAX_FRAMES];
	bool exact[WALK_MAX_FRAMES];
	uint64_t epoch;  /* of the recorder, when the walker's rules were found */
	size_t n_frames; /* of frame, innermost first; 0: there was no walk */
	uint32_t n;      /* of pc and exact, innermost first */
	bool complete;
};

static struct full_walk *full;

struct find_rule {
	uint64_t pc;
	struct live_found found;
};

static bool is_quick(const struct cfi_rule *r)
{
	if (r->cfa_kind != CFA_SP || r->cfa < 8 || r->ra_kind != SLOT_CFA || r->signal)
		return false;
	/* AArch64 has it anywhere in a frame. */
	if (UNWIND_HERE == UNWIND_X86_64
		    ? r->ra != -8
		    : r->ra > -8 || r->ra < -8 * UINT8_MAX || r->ra % 8 != 0 || r->cfa + r->ra < 0)
		return false;
	/* A slot below sp has been popped already; one of 0 would say that fp is not saved. */
	return r->fp_kind == SLOT_SAME ||
	       (r->fp_kind == SLOT_CFA && r->fp <= -8 && r->cfa + r->fp >= 0 && r->fp % 8 == 0);
}

static struct live_found rule_of(const struct cfi_rule *r, uint64_t pc)
{
	struct live_found f = { .quick = { .pc = pc, .kind = LIVE_RULE }, .full = *r };

	if (r->ra_kind == SLOT_UNDEFINED) {
		f.quick.kind = LIVE_END;
	} else if (r->cfa_kind == CFA_GENERAL || r->cfa_kind == CFA_REGISTER) {
		f.quick.kind = LIVE_COMPLEX;
	} else if (is_quick(r)) {
		f.quick.kind = LIVE_SP;
		f.quick.cfa = r->cfa;
		f.quick.fp = r->fp_kind == SLOT_SAME ? 0 : r->fp;
		f.quick.ra = (uint8_t)(-r->ra / 8);
	}
	return f;
}

static struct live_module *module_at(uint64_t pc)
{
	bool gone = false;
	struct live_module *m = live_modules_at(&recorder.modules, pc, &gone);

	if (gone)
		atomic_fetch_add_explicit(&recorder.rules_epoch, 1, memory_order_relaxed);
	return m;
}

/*
 * The rule of code without tables, by what it does when it is returned to, where that is told better so than by frame
 * pointers: Go's code that C called, and CPython's trampolines (`call *%rcx`), which interpreters never change. Other
 * generated code may be replaced by other code at the same place. AArch64: what handlers of signals return to. pc is 1 less
 * than a return address.
 */
static bool rule_of_code(const struct live_module *m, uint64_t pc, struct cfi_rule *out)
{
	const uint8_t *code = (const uint8_t *)(pc + 1);
	size_t n = PAGE_BYTES - (uintptr_t)code % PAGE_BYTES;

	n = n < EPILOGUE_BYTES ? n : EPILOGUE_BYTES;
	if (UNWIND_HERE == UNWIND_AARCH64 && tracer_readable(code, n) &&
	    epilogue_of_signal(UNWIND_HERE, code, n, out))
		return true;
	if ((m && !m->is_go) || !tracer_readable(code - 2, n + 2))
		return false;
	if (m)
		return epilogue_to_c(UNWIND_HERE, code, n, out);
	return code[-2] == 0xff && code[-1] == 0xd1 && epilogue_rule(UNWIND_HERE, code, n, out);
}

/*
 * As a walk in full looks it up; generated code is in no module: frame pointers may lead on. *alone is where a rule is
 * put.
 */
static struct walk_module tables_of(struct live_module *m, uint64_t pc, struct cfi_rule *alone)
{
	const struct cfi_rule *rule = rule_of_code(m, pc, alone) ? alone : NULL;

	if (!m)
		return (struct walk_module){ .mapped = true, .alone = rule };
	return (struct walk_module){
		.alone = rule,
		.cfi = live_module_cfi(m),
		.bias = m->bias,
		.entry = m->entry,
		.mapped = true,
		.keeps_fp = m->is_go,
	};
}

static enum live_kind kind_without_rule(const struct walk_module *m, uint64_t pc)
{
	switch (m->cfi ? walk_start_kind(m, pc - m->bias) : WALK_START_NONE) {
	case WALK_START:
		return LIVE_END;
	case WALK_START_GIVEN:
		return LIVE_GIVEN;
	case WALK_START_NONE:
		break;
	}
	return m->cfi && m->keeps_fp ? LIVE_GO : LIVE_FP;
}

static void find_rule(void *arg)
{
	struct find_rule *f = arg;
	struct walk_module m;
	struct cfi_rule rule, alone;

	f->found = (struct live_found){ .quick = { .pc = f->pc, .kind = LIVE_FP } };
	/* Compiling rules takes memory of the tracer's own, which is not without end. */
	if (tracer_memory_left() < (8u << 20))
		return;
	m = tables_of(module_at(f->pc), f->pc, &alone);
	if (m.cfi && cfi_find(m.cfi, f->pc - m.bias, &rule))
		f->found = rule_of(&rule, f->pc);
	else if (m.alone)
		f->found = rule_of(m.alone, f->pc);
	else
		f->found.quick.kind = (uint8_t)kind_without_rule(&m, f->pc);
}

/* A walk through new code takes many locks: signals are blocked at the first, and until it is over. */
static void hold_signals(void)
{
	struct tracer_tls *tls = &tracer_tls;

	if (tls->holds_signals)
		return;
	tls->held_signals = tracer_signals_block();
	tls->holds_signals = true;
}

static __attribute__((noinline)) void release_signals(void)
{
	tracer_tls.holds_signals = false;
	tracer_signals_restore(tracer_tls.held_signals);
}

/* A handler that comes once they are restored finds no trace of it. */
static inline void end_walk(void)
{
	if (__builtin_expect(tracer_tls.holds_signals, 0))
		release_signals();
}

struct live_found live_stack_find_rule(uint64_t pc)
{
	struct find_rule f = { .pc = pc };

	hold_signals();
	/* Not to be had now: empty, to be asked for again. */
	if (!tracer_run_slow(find_rule, &f))
		f.found = (struct live_found){ .quick = { .kind = LIVE_FP } };
	return f.found;
}

static bool readable(uint64_t address)
{
	return tracer_readable((const void *)address, 1);
}

/*
 * Of the main thread, whose stack grows: as far as it may. Not by pthread_getattr_np, which reads /proc
 * with stdio here and, for other threads, takes a lock that the program may hold while it allocates.
 */
static void main_bounds(struct live_walk *w)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit))
		return;
	/* Other libcs do not tell. What the kernel put there for the program lies above all frames. */
	w->stack_high = &__libc_stack_end ? ((uint64_t)__libc_stack_end + 7) & ~UINT64_C(7)
					  : getauxval(AT_RANDOM) & ~UINT64_C(7);
	if (w->stack_high == 0)
		return;
	w->stack_low = w->stack_high - (limit.rlim_cur < (1u << 30) ? limit.rlim_cur : (1u << 30));
}

/* Of another thread: what libc knows of it lies at the upper end of its stack. */
static void thread_bounds(struct live_walk *w, uint64_t sp)
{
	uint64_t end = (uint64_t)__builtin_thread_pointer();

	if (sp >= end || end - sp > FOREIGN_BYTES)
		return;
	for (uint64_t page = sp & ~UINT64_C(4095); page < end; page += PAGE_BYTES)
		if (!readable(page))
			return;
	w->stack_high = end & ~UINT64_C(7);
	w->stack_low = sp & ~UINT64_C(4095);
}

void live_stack_begin(struct live_walk *w, uint64_t sp)
{
	w->n = 0;
	w->stack_low = w->stack_high = w->stack_gap = 0;
	if (recorder.pid == (pid_t)syscall(SYS_gettid))
		main_bounds(w);
	/* Where another thread forked, the child's main thread is on the stack of that. */
	if (sp < w->stack_low || sp >= w->stack_high)
		thread_bounds(w, sp);
}

/* Is sp, which is below what is known of the thread's own stack, on it? Then more is known. */
static bool extends_stack(struct live_walk *w, uint64_t sp)
{
	uint64_t page = w->stack_low;

	if (sp >= w->stack_low || sp <= w->stack_gap || w->stack_low - sp > OWN_MOST_BYTES)
		return false;
	while (page > sp) {
		page -= PAGE_BYTES;
		if (!readable(page)) {
			w->stack_gap = page + PAGE_BYTES - 1;
			return false;
		}
		w->stack_low = page;
	}
	return true;
}

/* The memory above sp that is safe to read. */
static struct unwind_memory stack_above(const struct tracer_thread *t, uint64_t sp)
{
	uint64_t end = t->walk->stack_high;

	if (sp < t->walk->stack_low || sp >= end)
		for (end = sp; end - sp < FOREIGN_BYTES && readable(end);)
			end = (end | (PAGE_BYTES - 1)) + 1;
	return (struct unwind_memory){ .address = sp, .bytes = (const uint8_t *)sp, .n = end - sp };
}

/* A stack that frame pointers lead to, in one of two places: nothing asks where they come from that is not one of them. */
struct next_stack {
	struct unwind_memory memory[2]; /* the thread's own as it was walked, a goroutine's */
	uint64_t own_sp;                /* where the own one was left */
};

static const struct unwind_memory *next_stack(const struct unwind_memory *from, uint64_t sp,
					      uint64_t fp)
{
	struct next_stack *next = from->next_arg;
	struct unwind_memory *own = &next->memory[0], *other = &next->memory[1];
	struct live_go_stack go;
	uint64_t word[2] = { 0 };

	if (from != other) {
		if (!unwind_load(from, sp, &word[0]) || !unwind_load(from, sp + 8, &word[1]))
			return NULL;
		next->own_sp = sp;
	} else if (fp >= next->own_sp && unwind_has(own, fp)) {
		return own;
	} else if (fp < sp) {
		return NULL;
	}
	if (!live_go_stack_at(word, fp, &go))
		return NULL;
	*other = *own;
	other->address = go.low;
	other->bytes = (const uint8_t *)go.low;
	other->n = go.high - go.low;
	other->also = NULL;
	return other;
}

/* Of the thread's own stack what is in use: all above a page that is found by halving. */
static struct unwind_memory own_stack(const struct tracer_thread *t)
{
	static const uint64_t page = PAGE_BYTES;
	uint64_t end = t->walk->stack_high, low = t->walk->stack_low / page, high = end / page;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (readable(middle * page))
			high = middle;
		else
			low = middle + 1;
	}
	low *= page;
	return (struct unwind_memory){ .address = low,
				       .bytes = (const uint8_t *)low,
				       .n = low < end ? end - low : 0 };
}

static struct walk_module cfi_at(void *arg, uint64_t pc)
{
	struct full_walk *w = arg;

	return tables_of(module_at(pc), pc, &w->alone);
}

struct walk_full {
	struct tracer_thread *t;
	struct walk_start from;
	struct unwind_regs regs; /* somewhere within the tracer */
};

/* Keeps n frames from *f on, the middle left out when they are too many. */
static void keep_frames(struct full_walk *w, const struct walk_frame *f, size_t n)
{
	uint32_t half = WALK_MAX_FRAMES / 2 - 1;

	w->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (n >= WALK_MAX_FRAMES && i == half) {
			w->pc[w->n] = HEAP_IP_ELIDED;
			w->exact[w->n++] = false;
			i = n - half;
		}
		w->pc[w->n] = f[i].pc;
		/* The first may be what handlers of signals return to, when one ended by a jump to the hook. */
		w->exact[w->n++] = i ? f[i].exact : f[i].signal;
	}
}

/* The stack outward of the function that called the hook, with all registers, into `full`. */
static void walk_full(void *arg)
{
	struct walk_full *a = arg;
	struct unwind_memory memory = stack_above(a->t, a->regs.at[unwind_sp(UNWIND_HERE)]), own;
	enum walk_end end = WALK_UNREADABLE;
	struct next_stack next;
	uint64_t missing;
	size_t n, i = 0;

	/* On another stack: a handler's may lead back to the thread's own. */
	if (memory.address + memory.n != a->t->walk->stack_high) {
		own = own_stack(a->t);
		memory.also = &own;
	}
	if (!full)
		full = tracer_map(sizeof(*full));
	if (!full)
		return;
	full->n_frames = 0;
	if (tracer_memory_left() < (8u << 20))
		return;
	if (!full->walker)
		full->walker = walker_new(UNWIND_HERE);
	if (full->epoch != atomic_load_explicit(&recorder.rules_epoch, memory_order_relaxed))
		walker_flush(full->walker);
	full->epoch = atomic_load_explicit(&recorder.rules_epoch, memory_order_relaxed);
	memory.next = next_stack;
	memory.next_arg = &next;
	next.memory[0] = memory;
	n = walk_stack(full->walker, &a->regs, &next.memory[0], cfi_at, full, full->frame,
		       FULL_MAX_FRAMES, &end, &missing);
	while (i < n && full->frame[i].pc != a->from.pc)
		i++;
	full->n_frames = n;
	full->complete = end == WALK_COMPLETE && i < n;
	keep_frames(full, full->frame + i, n - i);
	if (i == n) {
		full->pc[0] = a->from.pc;
		full->exact[0] = false;
		full->n = 1;
	}
}

/* The registers of this very function; its caller's frames restore what they saved. */
#if defined(__x86_64__)
#define CAPTURE(regs) \
	do { \
		uint64_t rbx_, rbp_, rsp_, r12_, r13_, r14_, r15_, rip_; \
		__asm__ volatile("movq %%rbx, %0\n\tmovq %%rbp, %1\n\tmovq %%rsp, %2\n\t" \
				 "movq %%r12, %3\n\tmovq %%r13, %4\n\tmovq %%r14, %5\n\t" \
				 "movq %%r15, %6\n\tleaq 0(%%rip), %7" \
				 : "=m"(rbx_), "=m"(rbp_), "=m"(rsp_), "=m"(r12_), "=m"(r13_), \
				   "=m"(r14_), "=m"(r15_), "=r"(rip_)); \
		(regs)->known = 0; \
		unwind_reg_set((regs), X86_RBX, rbx_); \
		unwind_reg_set((regs), X86_RBP, rbp_); \
		unwind_reg_set((regs), X86_RSP, rsp_); \
		unwind_reg_set((regs), X86_R12, r12_); \
		unwind_reg_set((regs), X86_R13, r13_); \
		unwind_reg_set((regs), X86_R14, r14_); \
		unwind_reg_set((regs), X86_R15, r15_); \
		unwind_reg_set((regs), X86_RIP, rip_); \
	} while (0)
#elif defined(__aarch64__)
#define CAPTURE(regs) \
	do { \
		uint64_t saved_[14]; /* x19 … x30, sp, pc */ \
		__asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, #16]\n\t" \
				 "stp x23, x24, [%0, #32]\n\tstp x25, x26, [%0, #48]\n\t" \
				 "stp x27, x28, [%0, #64]\n\tstp x29, x30, [%0, #80]\n\t" \
				 "mov x9, sp\n\tadr x10, .\n\tstp x9, x10, [%0, #96]" \
				 : \
				 : "r"(saved_) \
				 : "x9", "x10", "memory"); \
		(regs)->known = 0; \
		for (unsigned i_ = 0; i_ < 14; i_++) \
			unwind_reg_set((regs), ARM_X19 + i_, saved_[i_]); \
	} while (0)
#endif

/* Walks in full and takes that for the thread's stack. */
static void take_full(void *arg)
{
	struct walk_full *a = arg;

	walk_full(a);
	if (full)
		live_walk_replace(a->t->walk, full->pc, full->exact, full->n, full->complete);
}

/* Compares what the quick walk found with a full one. */
static void compare_full(void *arg)
{
	struct walk_full *a = arg;
	const struct live_walk *w = a->t->walk;
	uint32_t n = w->n;
	bool complete = n && live_walk_pc(w, 0) != HEAP_IP_UNKNOWN, same;

	walk_full(a);
	if (!full)
		return;
	n -= !complete;
	same = full->n == n && full->complete == complete;
	for (uint32_t i = 0; same && i < n; i++)
		same = live_walk_pc(w, w->n - 1 - i) == full->pc[i] &&
		       w->frame[w->n - 1 - i].about.exact == full->exact[i];
	atomic_fetch_add_explicit(&recorder.n_checked, 1, memory_order_relaxed);
	if (!same)
		atomic_fetch_add_explicit(&recorder.n_wrong, 1, memory_order_relaxed);
}

static __attribute__((noinline)) void run_full(struct tracer_thread *t,
					       const struct walk_start *from, void (*fn)(void *))
{
	struct walk_full a = { .t = t, .from = *from };

	CAPTURE(&a.regs);
	tracer_run_slow(fn, &a);
}

/* Makes the nodes of remembered frame i and all inward of it, whose caller's node is given; the innermost one's, or 0. */
static uint32_t make_nodes(struct live_walk *w, uint32_t i, uint32_t node)
{
	struct stack_trie *trie = &recorder.trie;

	hold_signals();
	if (!tracer_lock(&trie->lock))
		return 0;
	for (; i < w->n; i++) {
		struct walk_about *f = &w->frame[i].about;

		node = stack_trie_child(trie, node, live_walk_pc(w, i) << 1 | f->exact);
		if (!node)
			break;
		f->node = node;
	}
	tracer_unlock(&trie->lock);
	return node;
}

/* The node of the stack that was walked last, looked up or made frame by frame. */
static uint32_t find_node(struct live_walk *w)
{
	uint32_t i = w->n, node = 0;

	while (i && !w->frame[i - 1].about.node)
		i--;
	if (i)
		node = w->frame[i - 1].about.node;
	for (; i < w->n; i++) {
		struct walk_about *f = &w->frame[i].about;

		f->node = stack_trie_find(&recorder.trie, node, live_walk_pc(w, i) << 1 | f->exact);
		if (!f->node)
			return make_nodes(w, i, node);
		node = f->node;
	}
	return node;
}

static void look_for_code(void *arg)
{
	patch_allocators_late(arg);
}

/* The stack leads through what was not on any other one, so far as this thread knows. */
static __attribute__((noinline)) void look_late(struct tracer_thread *t)
{
	if (patch_allocators_are_late(t->walk))
		tracer_run_slow(look_for_code, t->walk);
}

static __attribute__((noinline)) uint32_t stack_missed(struct tracer_thread *t,
						       const struct stack_key *key)
{
	int kept = errno;
	uint32_t node = find_node(t->walk);

	look_late(t);
	if (node)
		stack_cache_put(&recorder.stacks, key, node, t->n_missed++);
	errno = kept;
	return node;
}

/* The node of the stack that was walked last. */
static inline uint32_t node_of(struct tracer_thread *t)
{
	const struct live_walk *w = t->walk;
	struct stack_key key = { .hash = w->frame[w->n - 1].hash,
				 .callers = live_walk_callers(w),
				 .pc = live_walk_pc(w, w->n - 1) };
	uint32_t node = stack_cache_find(&recorder.stacks, &key);

	return __builtin_expect(node != 0, 1) ? node : stack_missed(t, &key);
}

static __attribute__((noinline)) void flush(struct tracer_thread *t, uint64_t epoch)
{
	live_walk_flush(t->walk);
	t->rules_epoch = epoch;
}

static bool walk(struct live_walk *w, const struct walk_start *from)
{
	bool extended;
	int kept;

	if (__builtin_expect(live_walk(w, from) == WALK_DONE, 1))
		return true;
	kept = errno;
	extended = extends_stack(w, from->sp);
	errno = kept;
	return extended && live_walk(w, from) == WALK_DONE;
}

/* Rules of code that was unloaded are not believed. */
static inline void renew_rules(struct tracer_thread *t)
{
	uint64_t epoch = atomic_load_explicit(&recorder.rules_epoch, memory_order_relaxed);

	if (__builtin_expect(epoch != t->rules_epoch, 0))
		flush(t, epoch);
}

uint32_t live_stack(struct tracer_thread *t, const struct walk_start *from)
{
	uint32_t node = 0;

	renew_rules(t);
	if (__builtin_expect(!walk(t->walk, from), 0))
		run_full(t, from, take_full);
	else if (__builtin_expect(recorder.options.check != 0, 0) &&
		 t->n_walks++ % recorder.options.check == 0)
		run_full(t, from, compare_full);
	if (__builtin_expect(t->walk->n != 0, 1)) {
		/* Something that was unloaded is here again. */
		if (__builtin_expect(atomic_load_explicit(&recorder.rules_epoch,
							  memory_order_relaxed) != t->rules_epoch,
				     0))
			look_late(t);
		node = node_of(t);
	}
	end_walk();
	return node;
}

/* --- within a hook --------------------------------------------------------------------------- */

/* Where this library begins and ends in memory, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(uint64_t pc)
{
	return pc >= (uint64_t)__ehdr_start && pc < (uint64_t)_end;
}

struct look_within {
	struct walk_full walk;
	uint64_t sp;
	enum live_within is;
};

/* A walk from inside of it outward. */
struct look {
	uint64_t inner_pc; /* of the frame before */
	bool interrupted;  /* one of those passed was */
	bool found;
};

/* True: the look is over. */
static bool look_at(struct look *l, uint64_t sp_wanted, uint64_t pc, uint64_t sp, bool exact)
{
	if (sp == sp_wanted && is_ours(l->inner_pc))
		return l->found = true;
	l->interrupted |= exact;
	l->inner_pc = pc;
	return false;
}

static enum live_within seen(const struct look *l, bool complete)
{
	if (l->found)
		return l->interrupted ? LIVE_INTERRUPTED : LIVE_WITHIN;
	return complete ? LIVE_LEFT : LIVE_WITHIN_UNKNOWN;
}

static void look_full(void *arg)
{
	struct look_within *a = arg;
	struct look l = { .found = false };
	size_t i = 0;

	walk_full(&a->walk);
	if (!full || full->n_frames == 0)
		return;
	while (i < full->n_frames && full->frame[i].pc != a->walk.from.pc)
		i++;
	while (i < full->n_frames &&
	       !look_at(&l, a->sp, full->frame[i].pc, full->frame[i].sp, full->frame[i].exact))
		i++;
	a->is = seen(&l, full->complete);
}

enum live_within live_stack_within(struct tracer_thread *t, const struct walk_start *from,
				   uint64_t sp)
{
	struct look_within a = { { .t = t, .from = *from }, sp, LIVE_WITHIN_UNKNOWN };
	const struct live_walk *w = t->walk;
	struct look l = { .found = false };

	renew_rules(t);
	if (!walk(t->walk, from)) {
		CAPTURE(&a.walk.regs);
		tracer_run_slow(look_full, &a);
		end_walk();
		return a.is;
	}
	end_walk();
	for (uint32_t i = w->n; i-- > 0;)
		if (look_at(&l, sp, live_walk_pc(w, i), w->frame[i].sp, w->frame[i].about.exact))
			break;
	return seen(&l, w->n && live_walk_pc(w, 0) != HEAP_IP_UNKNOWN);
}
