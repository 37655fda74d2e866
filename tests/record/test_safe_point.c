/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program is stopped at each instruction of calls that nobody may come into: never is one taken for a safe place. */
#include "config.h"

#include "record/attach/safe_point.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "record/attach/remote.h"
#include "record/attach/tracee.h"

#define N_SEEN (1u << 20)

/* Functions of libc within which the allocator, or what threads come from, is not whole. */
static const char *const closed[] = {
	"malloc", "calloc", "realloc",        "free",         "aligned_alloc",
	"sbrk",   "dlopen", "posix_memalign", "pthread_join", "pthread_create",
};
#define N_CLOSED (sizeof(closed) / sizeof(closed[0]))

/* A call that goes on: where it returns to, and where the stack is then. */
struct call {
	const char *name; /* NULL: none goes on */
	uint64_t ra, sp;
};

/* One thread that is led from instruction to instruction. */
struct steps {
	pid_t pid, tid;
	struct remote *r;
	uint64_t entry[N_CLOSED];
	const struct remote_map *exe; /* the code of the executable */
	struct call call;             /* of a closed function */
	struct call own;              /* of a thread: of the function that it was made for */
	bool ended;                   /* of a thread: that function returned */
	bool seen[N_SEEN];            /* places that were judged, by a hash of them */
	unsigned n_closed, n_open, n_wrong;
};

static int next_stop(pid_t tid)
{
	int status = 0;

	cr_assert_eq(waitpid(tid, &status, __WALL), tid);
	return status;
}

static bool stopped_by(int status, int signal)
{
	return WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

static pid_t start(const char *what)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(600);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(HEAP_HOST, HEAP_HOST, what, NULL);
		_exit(127);
	}
	cr_assert(stopped_by(next_stop(pid), SIGTRAP), "%s does not run", HEAP_HOST);
	return pid;
}

/* Finds anew what is mapped, and where closed functions are. */
static void look(struct steps *s)
{
	struct err e = ERR_INIT;
	struct remote_module *libc, *exe;

	if (s->r)
		cr_assert_eq(remote_look(s->r, &e), 0);
	else
		cr_assert_eq(remote_open(s->pid, &s->r, &e), 0);
	err_clear(&e);
	libc = remote_module_named(s->r, "libc.so.6");
	exe = remote_executable(s->r);
	cr_assert(libc && exe);
	for (size_t i = 0; i < N_CLOSED; i++)
		cr_assert(s->entry[i] = remote_symbol(s->r, libc, closed[i]));
}

static bool in_executable(const struct steps *s, uint64_t pc)
{
	const struct remote_map *m = remote_map_at(s->r, pc);

	return m && m->runs && strcmp(m->path, HEAP_HOST) == 0;
}

static void enter(const struct steps *s, struct call *c, const char *name,
		  const struct user_regs_struct *regs)
{
	c->name = name;
	c->sp = regs->rsp + 8;
	cr_assert(remote_read(s->r, regs->rsp, &c->ra, sizeof(c->ra)));
}

static bool returned(struct call *c, const struct user_regs_struct *regs)
{
	if (!c->name || regs->rip != c->ra || regs->rsp != c->sp)
		return false;
	c->name = NULL;
	return true;
}

/* Which calls go on where the thread is. */
static void follow(struct steps *s, const struct user_regs_struct *regs)
{
	returned(&s->call, regs);
	s->ended |= returned(&s->own, regs);
	for (size_t i = 0; i < N_CLOSED && !s->call.name; i++)
		if (regs->rip == s->entry[i])
			enter(s, &s->call, closed[i], regs);
	if (s->tid != s->pid && !s->own.name && !s->ended && in_executable(s, regs->rip))
		enter(s, &s->own, "the thread's function", regs);
}

static bool any_name(const char *name)
{
	return name != NULL;
}

/* The same instruction with as much stack in the same call is the same place. */
static bool is_new(struct steps *s, const struct user_regs_struct *regs)
{
	uint64_t place = hash_u64(regs->rip) ^ hash_u64(regs->rsp) ^
			 hash_u64((uintptr_t)s->call.name);
	bool *seen = &s->seen[place % N_SEEN];

	if (*seen)
		return false;
	return *seen = true;
}

static void judge(struct steps *s, const struct user_regs_struct *regs)
{
	bool safe = safe_point(s->r, regs), outside = s->tid != s->pid && !s->own.name;
	const char *name = s->call.name ? s->call.name
			   : outside    ? "beginning or ending a thread"
					: NULL;

	if (name && safe && s->n_wrong++ < 20)
		cr_log_error("safe at %#llx in %s (frame %s)", (unsigned long long)regs->rip, name,
			     remote_symbol_at(s->r, remote_module_at(s->r, regs->rip), regs->rip,
					      any_name));
	s->n_closed += name != NULL;
	/* A program that computes can be come into. */
	if (!name && in_executable(s, regs->rip)) {
		s->n_open++;
		if (!safe && s->n_wrong++ < 20)
			cr_log_error("not safe at %#llx, in the program's own code",
				     (unsigned long long)regs->rip);
	}
}

/* From where the thread is to its next SIGSTOP, or its end. */
static void step_on(struct steps *s)
{
	struct user_regs_struct regs;
	int status;

	for (;;) {
		cr_assert_eq(ptrace(PTRACE_GETREGS, s->tid, NULL, &regs), 0);
		follow(s, &regs);
		if (is_new(s, &regs))
			judge(s, &regs);
		if (ptrace(PTRACE_SINGLESTEP, s->tid, NULL, NULL))
			break;
		status = next_stop(s->tid);
		if (!stopped_by(status, SIGTRAP))
			break;
	}
}

static void end(struct steps *s)
{
	kill(s->pid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		continue;
	remote_free(s->r);
	cr_assert_eq(s->n_wrong, 0, "%u places are taken for what they are not", s->n_wrong);
	cr_assert(s->n_closed > 3000 && s->n_open > 100, "%u and %u instructions", s->n_closed,
		  s->n_open);
	free(s);
}

Test(safe_point, never_within_calls_of_the_allocator)
{
	struct steps *s = xcalloc(1, sizeof(*s));

	s->pid = s->tid = start("calls");
	cr_assert_eq(ptrace(PTRACE_CONT, s->pid, NULL, NULL), 0);
	cr_assert(stopped_by(next_stop(s->pid), SIGSTOP));
	look(s);
	step_on(s);
	end(s);
}

Test(safe_point, never_where_a_thread_begins_or_ends)
{
	struct steps *s = xcalloc(1, sizeof(*s));
	int status;

	s->pid = start("thread");
	cr_assert_eq(ptrace(PTRACE_SETOPTIONS, s->pid, NULL, (void *)PTRACE_O_TRACECLONE), 0);
	cr_assert_eq(ptrace(PTRACE_CONT, s->pid, NULL, NULL), 0);
	status = next_stop(s->pid);
	cr_assert_eq(status >> 8, SIGTRAP | PTRACE_EVENT_CLONE << 8);
	cr_assert_eq(ptrace(PTRACE_GETEVENTMSG, s->pid, NULL, &s->tid), 0);
	cr_assert(stopped_by(next_stop(s->tid), SIGSTOP));
	cr_assert_eq(ptrace(PTRACE_CONT, s->pid, NULL, NULL), 0);
	look(s);
	step_on(s);
	end(s);
}

/* Waits in a restartable sequence, and begins it again when the kernel breaks it off. */
static void wait_in_sequence(void)
{
	uint8_t *thread;

	__asm__("movq %%fs:0, %0" : "=r"(thread));
	__asm__ volatile(".pushsection .data.rel, \"aw\"\n\t.balign 32\n"
			 "3:\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n"
			 "5:\tleaq 3b(%%rip), %%rax\n\tmovq %%rax, (%0)\n"
			 "1:\tpause\n\tjmp 1b\n"
			 "2:\t.long %c1\n"
			 "4:\tjmp 5b\n"
			 :
			 : "r"(thread + __rseq_offset + offsetof(struct rseq, rseq_cs)),
			   "i"(RSEQ_SIG)
			 : "rax", "memory");
}

/* Is it ever, of so many times that it is stopped? */
static bool is_in_sequence(void (*wait)(void), unsigned tries)
{
	struct remote *r = NULL;
	struct tracee *t = NULL;
	struct err e = ERR_INIT;
	pid_t pid = fork();
	bool found = false;

	if (pid == 0) {
		alarm(60);
		wait();
		_exit(1);
	}
	cr_assert_eq(remote_open(pid, &r, &e), 0);
	for (unsigned i = 0; i < tries && !found; i++) {
		cr_assert_eq(tracee_stop(r, pid, &t, &e), 0, "%s", err_text(&e));
		found = tracee_in_sequence(t);
		tracee_release(t);
		sched_yield();
	}
	remote_free(r);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return found;
}

static void wait_for_nothing(void)
{
	for (;;)
		pause();
}

Test(safe_point, never_within_a_restartable_sequence)
{
	cr_assert(!is_in_sequence(wait_for_nothing, 50));
	if (__rseq_size == 0)
		cr_skip_test("this machine has none");
	cr_assert(is_in_sequence(wait_in_sequence, 100000));
}
