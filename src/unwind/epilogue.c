/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: ADD, MOV, POP, RET. */
#include "config.h"

#include "unwind/epilogue.h"

#include <string.h>

#include "unwind/cfi_rule.h"

#define FRAME_MAX 4096 /* bytes; more is not believed */
/* As instructions number them. */
#define RBX       3
#define RBP       5

/* What one instruction is, by its first bytes. */
struct step {
	size_t n;        /* bytes; 0: another one */
	int32_t given;   /* bytes of the frame given back */
	int32_t from;    /* the frame's bytes before the register that is given back */
	bool is_rbp;     /* that is the caller's rbp */
	bool is_c;       /* or another one that C has its callees keep */
	bool is_the_end; /* it returns */
};

/* mov …(%rsp), of a register: a byte of distance, or none. */
static struct step load_at(const uint8_t *code, size_t n)
{
	unsigned reg;
	bool near;

	if (n < 5 || (code[0] & 0xfb) != 0x48 || code[1] != 0x8b || (code[2] & 0x07) != 4 ||
	    code[2] >> 6 > 1 || code[3] != 0x24)
		return (struct step){ .n = 0 };
	reg = (code[2] >> 3 & 7) + (code[0] & 4 ? 8u : 0u);
	near = code[2] >> 6 == 1;
	/* Into rsp: nothing is known then. A word below it is none of the frame's. */
	if (reg == 4 || (near && (int8_t)code[4] < 0))
		return (struct step){ .n = 0 };
	return (struct step){ .n = near ? 5 : 4,
			      .from = near ? (int8_t)code[4] : 0,
			      .is_rbp = reg == RBP,
			      .is_c = reg == RBX || reg >= 12 };
}

static struct step step_at(const uint8_t *code, size_t n)
{
	int32_t wide;

	if (n >= 1 && code[0] == 0xc3)
		return (struct step){ .n = 1, .is_the_end = true };
	if (n >= 2 && code[0] == 0xf3 && code[1] == 0xc3)
		return (struct step){ .n = 2, .is_the_end = true };
	/* pop %rsp is none. */
	if (n >= 1 && code[0] >> 3 == 0x58 >> 3 && code[0] != 0x5c)
		return (struct step){ .n = 1,
				      .given = 8,
				      .is_rbp = (code[0] & 7) == RBP,
				      .is_c = (code[0] & 7) == RBX };
	if (n >= 2 && code[0] == 0x41 && code[1] >> 3 == 0x58 >> 3)
		return (struct step){ .n = 2, .given = 8, .is_c = (code[1] & 7) >= 4 };
	/* add $…, %rsp */
	if (n >= 4 && code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4)
		return (struct step){ .n = 4, .given = (int8_t)code[3] };
	if (n >= 7 && code[0] == 0x48 && code[1] == 0x81 && code[2] == 0xc4) {
		memcpy(&wide, code + 3, sizeof(wide));
		return (struct step){ .n = 7, .given = wide };
	}
	return load_at(code, n);
}

static bool find_rule(enum unwind_arch arch, const uint8_t *code, size_t n, struct cfi_rule *out,
		      bool *is_c)
{
	struct cfi_rule r = { .cfa_kind = CFA_SP, .ra_kind = SLOT_CFA, .ra = -8 };
	struct step s;

	if (arch != UNWIND_X86_64)
		return false;
	for (size_t at = 0; at < n; at += s.n) {
		s = step_at(code + at, n - at);
		if (s.n == 0 || s.given < 0 || s.given > FRAME_MAX)
			return false;
		if (s.is_the_end) {
			r.cfa += 8;
			*out = r;
			return true;
		}
		if (s.is_rbp) {
			r.fp_kind = SLOT_SP;
			r.fp = (int16_t)(r.cfa + s.from);
		}
		*is_c |= s.is_c;
		r.cfa += s.given;
	}
	return false;
}

bool epilogue_rule(enum unwind_arch arch, const uint8_t *code, size_t n, struct cfi_rule *out)
{
	bool is_c = false;

	return find_rule(arch, code, n, out, &is_c);
}

bool epilogue_to_c(enum unwind_arch arch, const uint8_t *code, size_t n, struct cfi_rule *out)
{
	struct cfi_rule r;
	bool is_c = false;

	if (!find_rule(arch, code, n, &r, &is_c) || !is_c)
		return false;
	*out = r;
	return true;
}

bool epilogue_of_signal(enum unwind_arch arch, const uint8_t *code, size_t n, struct cfi_rule *out)
{
	/* mov x8, #__NR_rt_sigreturn; svc #0 */
	static const uint8_t sigreturn[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };

	if (arch != UNWIND_AARCH64 || n < sizeof(sigreturn) ||
	    memcmp(code, sigreturn, sizeof(sigreturn)) != 0)
		return false;
	*out = (struct cfi_rule){
		.cfa = EPILOGUE_ARM_SIGNAL_X0 + 8 * ARM_SP,
		.fp = EPILOGUE_ARM_SIGNAL_X0 + 8 * ARM_FP,
		.ra = EPILOGUE_ARM_SIGNAL_X0 + 8 * ARM_PC,
		.cfa_kind = CFA_AT_SP,
		.fp_kind = SLOT_SP,
		.ra_kind = SLOT_SP,
		.signal = 1,
	};
	return true;
}
