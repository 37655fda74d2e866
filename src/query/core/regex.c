/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PCRE2 with limits on everything that a pattern can make it use.
 *
 * The limits: compiling is bounded by the pattern's length and PCRE2's own limit on nesting; a match
 * by steps, memory and the JIT's stack; all matches of one expression by how often that happened.
 */
#include "config.h"

#include "query/core/regex.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#define MOST_PATTERN_BYTES 65536
#define MOST_STEPS         100000
#define MOST_HEAP_KIB      8192
#define JIT_STACK_BYTES    ((size_t)256 << 10)
/* So many matches may hit a limit before the expression is given up. */
#define MOST_FAILURES      100

struct regex {
	pcre2_code *code;             /* owned, as are the following */
	pcre2_match_data *match;      /* no captures are wanted: one pair */
	pcre2_match_context *context; /* the limits */
	pcre2_jit_stack *stack;       /* NULL without JIT */
	unsigned n_failures;          /* matches that hit a limit */
};

/* Bytes after a backslash that belong to it: a letter, and what it has in braces (\p{Lu}). */
static size_t escape_len(const char *s)
{
	const char *close;

	if (s[0] == '\0')
		return 0;
	if (s[1] != '{' || !strchr("pPxNogk", s[0]))
		return 1;
	close = strchr(s, '}');
	return close ? (size_t)(close - s) + 1 : 1;
}

static bool has_capital(const char *pattern)
{
	size_t len = strlen(pattern), used;

	for (size_t i = 0; i < len; i += used) {
		uint32_t cp = text_decode(pattern + i, len - i, &used);

		if (cp == '\\')
			used = 1 + escape_len(pattern + i + 1);
		else if ((cp >= 'A' && cp <= 'Z') || (cp > 0x7f && iswupper((wint_t)cp)))
			return true;
	}
	return false;
}

static pcre2_code *compile(const char *pattern, struct err *e)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
			   PCRE2_DOLLAR_ENDONLY;
	PCRE2_SIZE at = 0, len = strlen(pattern);
	pcre2_code *code;
	char why[128];
	int rc = 0;

	if (len > MOST_PATTERN_BYTES) {
		err_set(e, -EINVAL, "regular expression is longer than %d bytes",
			MOST_PATTERN_BYTES);
		return NULL;
	}
	if (!has_capital(pattern))
		options |= PCRE2_CASELESS;
	code = pcre2_compile((PCRE2_SPTR)pattern, len, options, &rc, &at, NULL);
	if (code)
		return code;
	if (pcre2_get_error_message(rc, (PCRE2_UCHAR *)why, sizeof(why)) < 0)
		strcpy(why, "unknown error");
	err_set(e, -EINVAL, "bad regular expression \"%s\": %s at character %zu", pattern, why,
		at + 1);
	return NULL;
}

struct regex *regex_new(const char *pattern, struct err *e)
{
	pcre2_code *code = compile(pattern, e);
	struct regex *r;

	if (!code)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	r->code = code;
	r->match = pcre2_match_data_create(1, NULL);
	r->context = pcre2_match_context_create(NULL);
	if (!r->match || !r->context)
		mem_fail(sizeof(*r));
	pcre2_set_match_limit(r->context, MOST_STEPS);
	pcre2_set_depth_limit(r->context, MOST_STEPS);
	pcre2_set_heap_limit(r->context, MOST_HEAP_KIB);
	/* Without JIT (refused by the system, or too large a pattern) the interpreter does it. */
	if (pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0)
		r->stack = pcre2_jit_stack_create(JIT_STACK_BYTES / 8, JIT_STACK_BYTES, NULL);
	if (r->stack)
		pcre2_jit_stack_assign(r->context, NULL, r->stack);
	return r;
}

void regex_free(struct regex *r)
{
	if (!r)
		return;
	pcre2_jit_stack_free(r->stack);
	pcre2_match_context_free(r->context);
	pcre2_match_data_free(r->match);
	pcre2_code_free(r->code);
	free(r);
}

bool regex_matches(struct regex *r, const char *s, size_t len)
{
	int rc;

	if (r->n_failures >= MOST_FAILURES)
		return false;
	rc = pcre2_match(r->code, (PCRE2_SPTR)s, len, 0, 0, r->match, r->context);
	if (rc < 0 && rc != PCRE2_ERROR_NOMATCH)
		r->n_failures++;
	return rc >= 0;
}

bool regex_gave_up(const struct regex *r)
{
	return r->n_failures > 0;
}
