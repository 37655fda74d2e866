/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters of system calls, run over a call as the kernel runs them. */
#include "config.h"

#include "seccomp_filter.h"

#include <criterion/criterion.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

#define LOAD(at)       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define END(action)    BPF_STMT(BPF_RET | BPF_K, action)
#define IF(op, k)      BPF_JUMP(BPF_JMP | (op) | BPF_K, k, 0, 1)
#define COMPUTE(op, k) BPF_STMT(BPF_ALU | (op) | BPF_K, k)
#define ALLOW          SECCOMP_RET_ALLOW
#define KILL           SECCOMP_RET_KILL_PROCESS

/* Of call 7 with the argument 0x1234_0000_00f0. */
static const struct {
	const char *what;
	struct sock_filter at[8];
	size_t n;
	bool allows;
} cases[] = {
	{ "allows all", { END(ALLOW) }, 1, true },
	{ "kills", { END(KILL) }, 1, false },
	{ "logs and allows", { END(SECCOMP_RET_LOG) }, 1, true },
	{ "an error instead", { END(SECCOMP_RET_ERRNO | 1) }, 1, false },
	{ "a handler instead", { END(SECCOMP_RET_TRAP) }, 1, false },
	{ "with data", { END(ALLOW | 0xffff) }, 1, true },
	{ "its number", { LOAD(0), IF(BPF_JEQ, 7), END(ALLOW), END(KILL) }, 4, true },
	{ "another number", { LOAD(0), IF(BPF_JEQ, 8), END(ALLOW), END(KILL) }, 4, false },
	{ "numbers from there on", { LOAD(0), IF(BPF_JGE, 7), END(KILL), END(ALLOW) }, 4, false },
	{ "numbers above", { LOAD(0), IF(BPF_JGT, 7), END(KILL), END(ALLOW) }, 4, true },
	{ "the architecture", { LOAD(4), IF(BPF_JEQ, 99), END(ALLOW), END(KILL) }, 4, true },
	{ "a bit of an argument",
	  { LOAD(16), IF(BPF_JSET, 0x10), END(KILL), END(ALLOW) },
	  4,
	  false },
	{ "a bit that is not", { LOAD(16), IF(BPF_JSET, 0x08), END(KILL), END(ALLOW) }, 4, true },
	{ "its upper half", { LOAD(20), IF(BPF_JEQ, 0x1234), END(ALLOW), END(KILL) }, 4, true },
	{ "masked",
	  { LOAD(16), COMPUTE(BPF_AND, 0xf), IF(BPF_JEQ, 0), END(ALLOW), END(KILL) },
	  5,
	  true },
	{ "shifted",
	  { LOAD(16), COMPUTE(BPF_RSH, 4), IF(BPF_JEQ, 0xf), END(ALLOW), END(KILL) },
	  5,
	  true },
	{ "by way of memory",
	  { LOAD(0), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LD | BPF_IMM, 0),
	    BPF_STMT(BPF_LD | BPF_MEM, 3), IF(BPF_JEQ, 7), END(ALLOW), END(KILL) },
	  7,
	  true },
	{ "by way of x",
	  { LOAD(0), BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_LD | BPF_IMM, 7),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1), END(ALLOW), END(KILL) },
	  6,
	  true },
	{ "what it computed",
	  { LOAD(0), COMPUTE(BPF_MUL, 0), BPF_STMT(BPF_RET | BPF_A, 0) },
	  3,
	  false },
	{ "a jump", { BPF_STMT(BPF_JMP | BPF_JA, 1), END(KILL), END(ALLOW) }, 3, true },
	{ "divides by nothing",
	  { BPF_STMT(BPF_LDX | BPF_IMM, 0), BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), END(ALLOW) },
	  3,
	  false },
	/* The kernel takes none of these: what is said of them does not matter, that nothing else happens does. */
	{ "loads what is not there", { LOAD(64), END(ALLOW) }, 2, false },
	{ "loads between words", { LOAD(2), END(ALLOW) }, 2, false },
	{ "memory that is not there", { BPF_STMT(BPF_ST, 16), END(ALLOW) }, 2, false },
	{ "jumps away", { BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), END(KILL) }, 2, true },
	{ "is empty", { END(KILL) }, 0, true },
};

Test(seccomp_filter, cases)
{
	static const struct seccomp_data call = { .nr = 7,
						  .arch = 99,
						  .args = { UINT64_C(0x1234000000f0) } };

	for (size_t i = 0; i < N(cases); i++)
		cr_expect_eq(seccomp_filter_allows(cases[i].at, cases[i].n, &call), cases[i].allows,
			     "%s", cases[i].what);
}
