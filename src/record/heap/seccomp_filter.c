/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's filters are programs of the classic BPF machine (bpf(4)), of which seccomp(2) takes a part. */
#include "config.h"

#include "seccomp_filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

struct machine {
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
};

/* A word of the call at a byte offset. False: the kernel takes no such filter. */
static bool load_word(const struct seccomp_data *call, uint32_t at, uint32_t *to)
{
	if (at % 4 || at > sizeof(*call) - sizeof(*to))
		return false;
	memcpy(to, (const uint8_t *)call + at, sizeof(*to));
	return true;
}

static bool load(struct machine *m, const struct sock_filter *i, const struct seccomp_data *call,
		 uint32_t *to)
{
	switch (BPF_MODE(i->code)) {
	case BPF_ABS:
		return load_word(call, i->k, to);
	case BPF_LEN:
		*to = sizeof(*call);
		return true;
	case BPF_IMM:
		*to = i->k;
		return true;
	case BPF_MEM:
		if (i->k >= BPF_MEMWORDS)
			return false;
		*to = m->memory[i->k];
		return true;
	}
	return false;
}

static bool compute(struct machine *m, const struct sock_filter *i)
{
	uint32_t by = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		m->a += by;
		return true;
	case BPF_SUB:
		m->a -= by;
		return true;
	case BPF_MUL:
		m->a *= by;
		return true;
	case BPF_DIV:
		/* The kernel ends the filter there with 0, which is to kill. */
		m->a = by ? m->a / by : 0;
		return by != 0;
	case BPF_AND:
		m->a &= by;
		return true;
	case BPF_OR:
		m->a |= by;
		return true;
	case BPF_XOR:
		m->a ^= by;
		return true;
	case BPF_LSH:
		m->a <<= by & 31;
		return true;
	case BPF_RSH:
		m->a >>= by & 31;
		return true;
	case BPF_NEG:
		m->a = -m->a;
		return true;
	}
	return false;
}

/* By how many instructions a jump goes on from the next one. */
static uint32_t jump(const struct machine *m, const struct sock_filter *i)
{
	uint32_t with = BPF_SRC(i->code) == BPF_X ? m->x : i->k;
	bool yes = false;

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		return i->k;
	case BPF_JEQ:
		yes = m->a == with;
		break;
	case BPF_JGT:
		yes = m->a > with;
		break;
	case BPF_JGE:
		yes = m->a >= with;
		break;
	case BPF_JSET:
		yes = (m->a & with) != 0;
		break;
	}
	return yes ? i->jt : i->jf;
}

/* Everything but jumps and the end. False: no filter has it. */
static bool step(struct machine *m, const struct sock_filter *i, const struct seccomp_data *call)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		return load(m, i, call, &m->a);
	case BPF_LDX:
		return load(m, i, call, &m->x);
	case BPF_ST:
	case BPF_STX:
		if (i->k >= BPF_MEMWORDS)
			return false;
		m->memory[i->k] = BPF_CLASS(i->code) == BPF_ST ? m->a : m->x;
		return true;
	case BPF_ALU:
		return compute(m, i);
	case BPF_MISC:
		if (BPF_MISCOP(i->code) == BPF_TAX)
			m->x = m->a;
		else
			m->a = m->x;
		return true;
	}
	return false;
}

bool seccomp_filter_allows(const struct sock_filter *at, size_t n, const struct seccomp_data *call)
{
	struct machine m = { 0 };

	/* Jumps go ahead only: that ends. */
	for (uint64_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &at[pc];
		uint32_t result;

		if (BPF_CLASS(i->code) == BPF_RET) {
			result = (BPF_RVAL(i->code) == BPF_A ? m.a : i->k) &
				 SECCOMP_RET_ACTION_FULL;
			return result == SECCOMP_RET_ALLOW || result == SECCOMP_RET_LOG;
		}
		if (BPF_CLASS(i->code) == BPF_JMP)
			pc += jump(&m, i);
		else if (!step(&m, i, call))
			return false;
	}
	return true;
}
