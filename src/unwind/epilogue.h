/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code without unwind tables that returns as soon as it is returned to, as trampolines do: what is left to be done
 * says where its frame lies.
 */
#ifndef PROFTOP_UNWIND_EPILOGUE_H
#define PROFTOP_UNWIND_EPILOGUE_H

#include "unwind/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_rule;

/* More than this of code is never looked at. */
#define EPILOGUE_BYTES 64

/*
 * The rule at a return address, of the n bytes of code there. False: they do more than to give the frame back and to
 * return, or that is not known of the architecture.
 */
bool epilogue_rule(enum unwind_arch arch, const uint8_t *code, size_t n, struct cfi_rule *out);

/*
 * The same of code that also gives registers back which the C ABI has its callees keep, besides the frame pointer: code
 * of a language without such registers does so only where C calls it.
 */
bool epilogue_to_c(enum unwind_arch arch, const uint8_t *code, size_t n, struct cfi_rule *out);

/*
 * The rule of the code that handlers of signals return to, where the n bytes are that: on AArch64 Linux gives it no tables, so
 * that it is known by its instructions. Its frame has the registers of what was interrupted, x0 so many bytes above sp.
 */
#define EPILOGUE_ARM_SIGNAL_X0 312
bool epilogue_of_signal(enum unwind_arch arch, const uint8_t *code, size_t n, struct cfi_rule *out);

#endif
