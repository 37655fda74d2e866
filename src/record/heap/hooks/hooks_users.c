/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls by which a program changes its user, its groups or its capabilities. libc has each of its threads make the call that
 * one of them was asked for, and ends the program where they fare differently. Our thread would, as capabilities belong to
 * threads: it is ended before such a call, and the one that is begun afterwards is what its maker has become.
 */
#include "config.h"

#include "record/heap/hooks/hooks_users.h"

#include "record/heap/hooks/real_calls.h"
#include "record/heap/trace/tracer_loop.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <netdb.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default"), noinline))

int capset(cap_user_header_t header, const cap_user_data_t data);

/* X(name, parameters, arguments, the kernel's call, which is made where libc's is not known) */
#define USER_CALLS(X) \
	X(setuid, (uid_t a), (a), syscall(SYS_setuid, a)) \
	X(setgid, (gid_t a), (a), syscall(SYS_setgid, a)) \
	X(seteuid, (uid_t a), (a), syscall(SYS_setresuid, -1, a, -1)) \
	X(setegid, (gid_t a), (a), syscall(SYS_setresgid, -1, a, -1)) \
	X(setreuid, (uid_t a, uid_t b), (a, b), syscall(SYS_setreuid, a, b)) \
	X(setregid, (gid_t a, gid_t b), (a, b), syscall(SYS_setregid, a, b)) \
	X(setresuid, (uid_t a, uid_t b, uid_t c), (a, b, c), syscall(SYS_setresuid, a, b, c)) \
	X(setresgid, (gid_t a, gid_t b, gid_t c), (a, b, c), syscall(SYS_setresgid, a, b, c)) \
	X(setgroups, (size_t n, const gid_t *list), (n, list), syscall(SYS_setgroups, n, list)) \
	X(initgroups, (const char *user, gid_t group), (user, group), failed())

static long failed(void)
{
	errno = ENOSYS;
	return -1;
}

#define X(name, parameters, arguments, otherwise) \
	HOOK int name parameters \
	{ \
		struct loop_pause p; \
		int ret; \
\
		if (!real_calls_ready() || !real.name) \
			return (int)otherwise; \
		p = tracer_loop_pause(); \
		ret = real.name arguments; \
		tracer_loop_go_on(&p); \
		return ret; \
	}
USER_CALLS(X)
#undef X

/* Of the calling thread only; libc's calls that follow are made by our thread, too, where nobody sees them begin. */
HOOK int capset(cap_user_header_t header, const cap_user_data_t data)
{
	struct loop_pause p;
	int ret;

	if (!real_calls_ready() || !real.capset)
		return (int)syscall(SYS_capset, header, data);
	p = tracer_loop_pause_alone();
	ret = real.capset(header, data);
	tracer_loop_go_on(&p);
	return ret;
}

bool hooks_users_changes(int option)
{
	return option == PR_SET_KEEPCAPS || option == PR_SET_SECUREBITS ||
	       option == PR_CAPBSET_DROP || option == PR_CAP_AMBIENT;
}
