/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way out of a crash; see rescue.h.
 *
 * The state below is the one mutable global of this room: a signal handler is given nothing else.
 * It changes only while the handlers are not installed.
 */
#include "config.h"

#include "rescue.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define N_FATAL (sizeof(fatal) / sizeof(fatal[0]))

static struct {
	int fd;                        /* whose modes are saved */
	bool have_modes;               /* are they? */
	struct termios modes;          /* of the terminal before us */
	char bytes[512];               /* what to write */
	size_t n;                      /* bytes of it */
	struct sigaction old[N_FATAL]; /* what happened before us */
	char stack[1 << 16];           /* for the handler: ours may have overflown */
} rescue;

static void handle(int number, siginfo_t *info, void *context)
{
	size_t i = 0;
	ssize_t ignored = write(STDOUT_FILENO, rescue.bytes, rescue.n);

	(void)ignored;
	(void)context;
	if (rescue.have_modes)
		tcsetattr(rescue.fd, TCSANOW, &rescue.modes);
	while (i < N_FATAL && fatal[i] != number)
		i++;
	if (i < N_FATAL)
		sigaction(number, &rescue.old[i], NULL);
	/* a fault happens again on return; what was sent has to be sent again */
	if (info->si_code <= 0)
		raise(number);
}

void rescue_prepare(int fd)
{
	rescue.fd = fd;
	rescue.n = 0;
	rescue.have_modes = tcgetattr(fd, &rescue.modes) == 0;
}

void rescue_add(const char *sequence)
{
	size_t n = strlen(sequence);

	if (n > sizeof(rescue.bytes) - rescue.n)
		return;
	memcpy(rescue.bytes + rescue.n, sequence, n);
	rescue.n += n;
}

void rescue_arm(void)
{
	struct sigaction action = { .sa_sigaction = handle,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	stack_t stack = { .ss_sp = rescue.stack, .ss_size = sizeof(rescue.stack) }, old;

	sigemptyset(&action.sa_mask);
	if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE))
		sigaltstack(&stack, NULL);
	for (size_t i = 0; i < N_FATAL; i++)
		sigaction(fatal[i], &action, &rescue.old[i]);
}

void rescue_done(void)
{
	struct sigaction now;

	for (size_t i = 0; i < N_FATAL; i++)
		if (sigaction(fatal[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
		    now.sa_sigaction == handle)
			sigaction(fatal[i], &rescue.old[i], NULL);
}
