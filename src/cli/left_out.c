/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the program that is one file leaves out of the libraries that it is linked with: their own objects are not taken, as these
 * functions are there already. All are weak: where another version of a library needs more of such an object, the linker takes
 * the object, and its functions come before these.
 */
#include <stddef.h>
#include <stdint.h>

#define LEFT_OUT __attribute__((weak, visibility("hidden")))

/* --- capstone: all processors but the one that this runs on; 5 MB ----------------------------- */

#define ERR_ARCH 2 /* CS_ERR_ARCH of capstone.h, as where capstone was built without a processor */

/* As cs_arch_init and cs_arch_option of capstone's cs.c take them. */
#define PROCESSOR(name) \
	LEFT_OUT int name##_global_init(void *handle); \
	LEFT_OUT int name##_option(void *handle, int type, size_t value); \
	int name##_global_init(void *handle) \
	{ \
		(void)handle; \
		return ERR_ARCH; \
	} \
	int name##_option(void *handle, int type, size_t value) \
	{ \
		(void)handle; \
		(void)type; \
		(void)value; \
		return ERR_ARCH; \
	}

#ifdef __x86_64__
PROCESSOR(AArch64)
#else
PROCESSOR(X86)
#endif
PROCESSOR(ARM)
PROCESSOR(EVM)
PROCESSOR(M680X)
PROCESSOR(M68K)
PROCESSOR(Mips)
PROCESSOR(PPC)
PROCESSOR(Sparc)
PROCESSOR(SystemZ)
PROCESSOR(TMS320C64x)
PROCESSOR(XCore)

/* --- zstd: frames that were packed before its version 1.0; 0.1 MB ----------------------------- */

#define UNKNOWN_FRAME ((size_t)-10) /* prefix_unknown of zstd_errors.h: no recording is packed so */

/* As zstd_legacy.h calls them. */
#define OLD_ZSTD(version) \
	LEFT_OUT void *ZSTD##version##_createDCtx(void); \
	LEFT_OUT size_t ZSTD##version##_freeDCtx(void *d); \
	LEFT_OUT size_t ZSTD##version##_decompress_usingDict(void); \
	LEFT_OUT size_t ZSTD##version##_getFrameParams(void); \
	LEFT_OUT void ZSTD##version##_findFrameSizeInfoLegacy(const void *from, size_t n, \
							      size_t *size, uint64_t *bound); \
	LEFT_OUT void *ZBUFF##version##_createDCtx(void); \
	LEFT_OUT size_t ZBUFF##version##_freeDCtx(void *d); \
	LEFT_OUT size_t ZBUFF##version##_decompressInitDictionary(void); \
	LEFT_OUT size_t ZBUFF##version##_decompressContinue(void); \
	/* Something that is not NULL, which would be too little memory. */ \
	void *ZSTD##version##_createDCtx(void) \
	{ \
		return (void *)(uintptr_t)&left_out; \
	} \
	size_t ZSTD##version##_freeDCtx(void *d) \
	{ \
		(void)d; \
		return 0; \
	} \
	size_t ZSTD##version##_decompress_usingDict(void) \
	{ \
		return UNKNOWN_FRAME; \
	} \
	size_t ZSTD##version##_getFrameParams(void) \
	{ \
		return UNKNOWN_FRAME; \
	} \
	void ZSTD##version##_findFrameSizeInfoLegacy(const void *from, size_t n, size_t *size, \
						     uint64_t *bound) \
	{ \
		(void)from; \
		(void)n; \
		*size = UNKNOWN_FRAME; \
		*bound = UINT64_MAX - 1; /* ZSTD_CONTENTSIZE_ERROR */ \
	} \
	void *ZBUFF##version##_createDCtx(void) \
	{ \
		return (void *)(uintptr_t)&left_out; \
	} \
	size_t ZBUFF##version##_freeDCtx(void *d) \
	{ \
		(void)d; \
		return 0; \
	} \
	size_t ZBUFF##version##_decompressInitDictionary(void) \
	{ \
		return 0; \
	} \
	size_t ZBUFF##version##_decompressContinue(void) \
	{ \
		return UNKNOWN_FRAME; \
	}

static const char left_out;
OLD_ZSTD(v05)
OLD_ZSTD(v06)
OLD_ZSTD(v07)

/* --- capstone: x86's instructions in Intel's syntax, as we show AT&T's; 0.1 MB ------------------ */

LEFT_OUT void X86_Intel_printInst(void);
void X86_Intel_printInst(void)
{
}

/* --- bzip2: packing; 0.04 MB ------------------------------------------------------------------ */

LEFT_OUT void BZ2_bsInitWrite(void);
LEFT_OUT void BZ2_compressBlock(void);
void BZ2_bsInitWrite(void)
{
}

void BZ2_compressBlock(void)
{
}

/* --- PCRE2: its compiler to machine code; 0.24 MB ---------------------------------------------- */

#define JIT_BAD_OPTION (-45) /* PCRE2_ERROR_JIT_BADOPTION: patterns are interpreted */

LEFT_OUT int pcre2_jit_compile_8(void *code, uint32_t options);
LEFT_OUT int pcre2_jit_match_8(void);
LEFT_OUT void *pcre2_jit_stack_create_8(size_t begin, size_t most, void *context);
LEFT_OUT void pcre2_jit_stack_assign_8(void *context, void *callback, void *data);
LEFT_OUT void pcre2_jit_stack_free_8(void *stack);
LEFT_OUT void _pcre2_jit_free_8(void *code, void *memory);
LEFT_OUT size_t _pcre2_jit_get_size_8(void *code);
LEFT_OUT const char *_pcre2_jit_get_target_8(void);
LEFT_OUT int _pcre2_jit_check_exec_8(void);

int pcre2_jit_compile_8(void *code, uint32_t options)
{
	(void)code;
	(void)options;
	return JIT_BAD_OPTION;
}

int pcre2_jit_match_8(void)
{
	return JIT_BAD_OPTION;
}

void *pcre2_jit_stack_create_8(size_t begin, size_t most, void *context)
{
	(void)begin;
	(void)most;
	(void)context;
	return NULL;
}

void pcre2_jit_stack_assign_8(void *context, void *callback, void *data)
{
	(void)context;
	(void)callback;
	(void)data;
}

void pcre2_jit_stack_free_8(void *stack)
{
	(void)stack;
}

void _pcre2_jit_free_8(void *code, void *memory)
{
	(void)code;
	(void)memory;
}

size_t _pcre2_jit_get_size_8(void *code)
{
	(void)code;
	return 0;
}

const char *_pcre2_jit_get_target_8(void)
{
	return "none";
}

int _pcre2_jit_check_exec_8(void)
{
	return JIT_BAD_OPTION;
}
