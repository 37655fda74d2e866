/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text to base64 between the bytes of OSC 52; see osc52.h. */
#include "config.h"

#include "tui/term/osc52.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What terminals take in one sequence. */
#define MAX_BASE64 74994u

/* RFC 4648; the caller frees. */
static char *base64(const char *s, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = xmalloc((n + 2) / 3 * 4 + 1), *at = out;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t v = (uint32_t)(uint8_t)s[i] << 16;

		v |= left > 1 ? (uint32_t)(uint8_t)s[i + 1] << 8 : 0;
		v |= left > 2 ? (uint32_t)(uint8_t)s[i + 2] : 0;
		*at++ = digits[v >> 18];
		*at++ = digits[v >> 12 & 63];
		*at++ = left > 1 ? digits[v >> 6 & 63] : '=';
		*at++ = left > 2 ? digits[v & 63] : '=';
	}
	*at = '\0';
	return out;
}

char *osc52_sequence(const char *text, bool in_tmux)
{
	size_t n = strlen(text);
	char *code, *out;

	if (n > MAX_BASE64 / 4 * 3)
		return NULL;
	code = base64(text, n);
	/* escapes are doubled inside a passthrough */
	out = in_tmux ? xasprintf("\033]52;c;%s\a\033Ptmux;\033\033]52;c;%s\a\033\\", code, code)
		      : xasprintf("\033]52;c;%s\a", code);
	free(code);
	return out;
}
