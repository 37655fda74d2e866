/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is the same for all kinds of processors. */
#include "config.h"

#include "record/attach/thread_state.h"

#include <sys/syscall.h>

bool thread_would_notice(long number)
{
	switch (number) {
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_io_getevents:
		return true;
	default:
		return false;
	}
}
