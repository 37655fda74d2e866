/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * capstone's static library refers to the tables of all processors, 5 MB of them. The program that is one file disassembles for
 * the processor that it runs on, and has these functions for the others, so that the linker takes none of their tables. They
 * refuse, as capstone does where it was built without a processor: cs_open() gives CS_ERR_ARCH.
 */
#include <stddef.h>

#define ERR_ARCH 2 /* CS_ERR_ARCH of capstone.h */

/* As cs_arch_init and cs_arch_option of capstone's cs.c take them. */
#define REFUSE(processor) \
	int processor##_global_init(void *handle); \
	int processor##_option(void *handle, int type, size_t value); \
	int processor##_global_init(void *handle) \
	{ \
		(void)handle; \
		return ERR_ARCH; \
	} \
	int processor##_option(void *handle, int type, size_t value) \
	{ \
		(void)handle; \
		(void)type; \
		(void)value; \
		return ERR_ARCH; \
	}

#ifdef __x86_64__
REFUSE(AArch64)
#else
REFUSE(X86)
#endif
REFUSE(ARM)
REFUSE(EVM)
REFUSE(M680X)
REFUSE(M68K)
REFUSE(Mips)
REFUSE(PPC)
REFUSE(Sparc)
REFUSE(SystemZ)
REFUSE(TMS320C64x)
REFUSE(XCore)
