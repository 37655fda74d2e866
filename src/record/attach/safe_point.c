/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Symbols that libraries export tell functions apart. One without a name that was called from outside of libc was jumped
 * to by a function that has one (aligned_alloc() is so), so it may be any: nothing that it calls is safe.
 */
#include "config.h"

#include "record/attach/safe_point.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#include "base/mem.h"
#include "base/path.h"
#include "record/attach/remote.h"
#include "record/attach/thread_state.h"
#include "unwind/walk.h"

#define MOST_STACK  (UINT64_C(8) << 20)
#define MOST_FRAMES 4096u
#define NEAR_BYTES \
	(UINT64_C(64) << 10) /* a handler of a signal and what it interrupted are on one stack */

/*
 * Beginnings of names of functions of libc that hold locks which loading a library and beginning a thread take, or
 * are amid what these change.
 */
static const char *const held[] = {
	"malloc",
	"calloc",
	"realloc",
	"free",
	"cfree",
	"memalign",
	"aligned_alloc",
	"posix_memalign",
	"valloc",
	"pvalloc",
	"__libc_malloc",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_free",
	"__libc_memalign",
	"__libc_valloc",
	"__libc_pvalloc",
	"__libc_dl",
	"__libc_thread",
	"__default_morecore",
	"sbrk",
	"__sbrk",
	"brk",
	"__brk",
	"mallinfo",
	"mallopt",
	"dl",
	"_dl_",
	"__dl",
	"pthread_create",
	"pthread_exit",
	"pthread_join",
	"pthread_tryjoin",
	"pthread_timedjoin",
	"pthread_clockjoin",
	"pthread_detach",
	"pthread_getattr_default",
	"pthread_setattr_default",
	"thrd_",
	"setuid",
	"setgid",
	"seteuid",
	"setegid",
	"setreuid",
	"setregid",
	"setresuid",
	"setresgid",
	"setgroups",
	"initgroups",
	"fork",
	"vfork",
	"_Fork",
	"__fork",
	"__vfork",
	"__libc_fork",
	"exit",
	"_exit",
	"quick_exit",
	"abort",
	"__cxa_",
	"on_exit",
	"at_quick_exit",
	"__register_atfork",
	"posix_spawn",
	"system",
	"popen",
	"__tls_get",
	"daemon",
};

/* Waits of libc that hold nothing. */
static const char *const waits[] = {
	"read",
	"write",
	"poll",
	"ppoll",
	"select",
	"pselect",
	"epoll_wait",
	"epoll_pwait",
	"accept",
	"accept4",
	"recv",
	"recvfrom",
	"recvmsg",
	"nanosleep",
	"clock_nanosleep",
	"sleep",
	"usleep",
	"pause",
	"sigsuspend",
	"sigwait",
	"sigwaitinfo",
	"sigtimedwait",
	"pthread_cond_wait",
	"pthread_cond_timedwait",
	"pthread_cond_clockwait",
	"sem_wait",
	"sem_timedwait",
	"sem_clockwait",
	"wait",
	"wait4",
	"waitpid",
	"waitid",
	"connect",
	"syscall",
};

static bool is_held(const char *name)
{
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (strncmp(name, held[i], strlen(held[i])) == 0)
			return true;
	return false;
}

static bool is_wait(const char *name)
{
	while (*name == '_')
		name++;
	if (strncmp(name, "libc_", 5) == 0)
		name += 5;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (strcmp(name, waits[i]) == 0)
			return true;
	return false;
}

static struct walk_module find_module(void *arg, uint64_t pc)
{
	struct remote *r = arg;
	struct remote_module *m = remote_module_at(r, pc);
	struct walk_module found = { .mapped = remote_map_at(r, pc) != NULL };

	if (m)
		found.cfi = remote_cfi(r, m, &found.bias);
	return found;
}

/* What a look at the frames, innermost first, has come to. */
struct look {
	struct remote *r;
	struct remote_module *executable;
	bool exe_allocates; /* an allocator is linked into the executable */
	bool held;          /* a frame must not be there */
	bool unnamed; /* the outermost so far is in libc, and in which function is not known */
	bool in_futex; /* the thread is in a system call that only semaphores, conditions and joins make */
	bool left;  /* frames left libc */
	bool waits; /* the innermost are a wait that holds nothing */
};

/* Has something other than libc malloc? */
static bool allocates(struct look *l, struct remote_module *m)
{
	return remote_symbol(l->r, m, "malloc") != 0;
}

static void look_at_libc(struct look *l, struct remote_module *m, const struct walk_frame *f,
			 uint64_t pc)
{
	const char *name = remote_symbol_at(l->r, m, pc, is_held);

	/* What waits so holds nothing, whatever it is part of. */
	if (l->in_futex && !l->left)
		return;
	l->unnamed = !name && !f->signal;
	if (!name)
		return;
	l->held |= is_held(name);
	name = remote_symbol_at(l->r, m, pc, is_wait);
	if (!l->left)
		l->waits = is_wait(name);
}

static void look_at(struct look *l, const struct walk_frame *f)
{
	uint64_t pc = f->pc - !f->exact;
	struct remote_module *m = remote_module_at(l->r, pc);
	const char *file = m ? path_last_part(remote_module_path(m)) : "";
	enum glibc_part part = remote_glibc_part(file);

	if (part == GLIBC_LIBC || part == GLIBC_PTHREAD) {
		look_at_libc(l, m, f, pc);
		return;
	}
	l->held |= l->unnamed;
	l->unnamed = false;
	l->left = true;
	if (!m)
		return;
	if (part == GLIBC_DL || strncmp(file, "ld-", 3) == 0 || strncmp(file, "ld.so", 5) == 0)
		l->held = true;
	else if (m != l->executable)
		l->held |= allocates(l, m);
}

/* A stack of handlers may be too small for what a call needs there. */
static bool on_other_stack(const struct walk_frame *f, size_t i, size_t n)
{
	return f[i].signal && (i + 1 == n || f[i + 1].sp - f[i].sp > NEAR_BYTES);
}

static bool walk(struct look *l, const struct user_regs_struct *user, struct walker *walker)
{
	struct unwind_regs regs = thread_unwind_regs(user);
	uint64_t sp = thread_sp(user);
	const struct remote_map *map = remote_map_at(l->r, sp);
	struct walk_frame *frame = xcalloc(MOST_FRAMES, sizeof(*frame));
	struct unwind_memory memory = { .address = sp };
	enum walk_end end = WALK_UNREADABLE;
	uint64_t missing, n = map ? map->end - sp : 0;
	uint8_t *stack;
	size_t n_frames;

	n = n < MOST_STACK ? n : MOST_STACK;
	stack = xmalloc(n + 1);
	memory.bytes = stack;
	if (n && remote_read(l->r, sp, stack, n)) {
		memory.n = n;
		n_frames = walk_stack(walker, &regs, &memory, find_module, l->r, frame, MOST_FRAMES,
				      &end, &missing);
		for (size_t i = 0; i < n_frames; i++) {
			look_at(l, &frame[i]);
			l->held |= on_other_stack(frame, i, n_frames);
		}
	}
	free(stack);
	free(frame);
	return end == WALK_COMPLETE;
}

bool safe_point(struct remote *r, const struct user_regs_struct *regs)
{
	struct look l = { .r = r, .executable = remote_executable(r) };
	struct walker *walker = walker_new(UNWIND_HERE);
	int operation;
	bool complete;

	/* Locks of the allocator and of the loader wait with FUTEX_WAIT instead. */
	l.in_futex = thread_in_futex(r, regs, &operation) &&
		     (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	l.waits = l.in_futex;
	l.exe_allocates = l.executable && allocates(&l, l.executable);
	complete = walk(&l, regs, walker);
	walker_free(walker);
	/* Where all is in libc, a thread begins or ends. */
	if (l.held || !l.left)
		return false;
	return l.waits || (complete && !l.exe_allocates);
}
