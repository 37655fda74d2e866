/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way out when a signal ends us; see terminal_restore.h.
 *
 * The state below is the one mutable global of this room: a signal handler is given nothing else.
 * It changes only while the handlers are not installed.
 */
#include "config.h"

#include "tui/term/terminal_restore.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Signals that do not end a program, or that nobody can catch. */
static const int harmless[] = { SIGCHLD, SIGCONT, SIGKILL, SIGSTOP, SIGTSTP,
				SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH };

/* Signals of faults: what was done is done again when the handler returns. */
static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };

/* Signals have the numbers 1 to N_SIGNALS - 1. */
#define N_SIGNALS 65

static struct {
	int fd;                          /* whose modes are saved */
	bool have_modes;                 /* are they? */
	struct termios modes;            /* of the terminal before us */
	char bytes[512];                 /* what to write */
	size_t n;                        /* bytes of it */
	char stack[1 << 16];             /* for the handler: ours may have overflown */
	bool ours[N_SIGNALS];            /* which signals we catch */
	struct sigaction old[N_SIGNALS]; /* what happened before us */
} rescue;

static bool is_among(int number, const int *signals, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (signals[i] == number)
			return true;
	return false;
}

static bool is_fault(int number)
{
	return is_among(number, faults, sizeof(faults) / sizeof(faults[0]));
}

static void handle(int number, siginfo_t *info, void *context)
{
	ssize_t ignored = write(STDOUT_FILENO, rescue.bytes, rescue.n);

	(void)ignored;
	(void)context;
	if (rescue.have_modes)
		tcsetattr(rescue.fd, TCSANOW, &rescue.modes);
	sigaction(number, &rescue.old[number], NULL);
	if (!is_fault(number) || info->si_code <= 0)
		raise(number);
}

/* Catches a signal that would end us: a fault whoever waits for it, another only if nobody does. */
static void catch (int number)
{
	struct sigaction action = { .sa_sigaction = handle,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	struct sigaction *old = &rescue.old[number];

	sigemptyset(&action.sa_mask);
	rescue.ours[number] = false;
	if (is_among(number, harmless, sizeof(harmless) / sizeof(harmless[0])))
		return;
	/* numbers that the C library keeps for itself are refused */
	if (sigaction(number, NULL, old) < 0)
		return;
	if (!is_fault(number) && number != SIGABRT &&
	    ((old->sa_flags & SA_SIGINFO) || old->sa_handler != SIG_DFL))
		return;
	rescue.ours[number] = sigaction(number, &action, NULL) == 0;
}

void terminal_restore_prepare(int fd)
{
	rescue.fd = fd;
	rescue.n = 0;
	rescue.have_modes = tcgetattr(fd, &rescue.modes) == 0;
}

void terminal_restore_add(const char *sequence)
{
	size_t n = strlen(sequence);

	if (n > sizeof(rescue.bytes) - rescue.n)
		return;
	memcpy(rescue.bytes + rescue.n, sequence, n);
	rescue.n += n;
}

void terminal_restore_arm(void)
{
	stack_t stack = { .ss_sp = rescue.stack, .ss_size = sizeof(rescue.stack) }, old;

	if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE))
		sigaltstack(&stack, NULL);
	for (int i = 1; i < N_SIGNALS; i++)
		catch (i);
}

void terminal_restore_modes(void)
{
	if (rescue.have_modes)
		tcsetattr(rescue.fd, TCSANOW, &rescue.modes);
}

void terminal_restore_done(void)
{
	struct sigaction now;

	for (int i = 1; i < N_SIGNALS; i++) {
		if (!rescue.ours[i])
			continue;
		rescue.ours[i] = false;
		if (sigaction(i, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
		    now.sa_sigaction == handle)
			sigaction(i, &rescue.old[i], NULL);
	}
}
