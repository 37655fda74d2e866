/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that "print fmt" makes of fields, for each thing that it may say, and for what it must not. */
#include "config.h"

#include "base/arena.h"
#include "perf/tracepoint/print_fmt.h"
#include "perf/tracepoint/trace_field.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 2000

/* All little-endian: see raw. */
static const struct trace_field fields[] = {
	{ .name = "pid", .offset = 0, .size = 4, .is_signed = true },
	{ .name = "state", .offset = 4, .size = 8, .is_signed = true },
	{ .name = "flags", .offset = 12, .size = 8 },
	{ .name = "comm", .offset = 20, .size = 8, .meaning = TRACE_TEXT, .text = true },
	{ .name = "path", .offset = 28, .size = 4, .meaning = TRACE_DYNAMIC, .text = true },
	{ .name = "list", .offset = 32, .size = 6, .element = 2, .meaning = TRACE_BYTES },
	{ .name = "small", .offset = 38, .size = 1, .is_signed = true },
	{ .name = "at", .offset = 39, .size = 8, .meaning = TRACE_ADDRESS },
	{ .name = "odd", .offset = 0, .size = 3 },
	{ .name = "beyond", .offset = 4000, .size = 4 },
};

static const uint8_t raw[] = "\xf9\xff\xff\xff"             /* pid -7 */
			     "\x02\0\0\0\0\0\0\0"           /* state 2 */
			     "\x05\0\0\0\0\0\0\x80"         /* flags */
			     "cat\0\0\0\0\0"                /* comm */
			     "\x2f\0\x05\0"                 /* path: 5 bytes at 47 */
			     "\x01\0\x02\0\xff\xff"         /* list */
			     "\x80"                         /* small -128 */
			     "\0\x10\0\x81\xff\xff\xff\xff" /* at */
			     "/etc";

static const struct {
	const char *fmt, *line; /* line NULL: not understood; "": nothing known */
} lines[] = {
	{ "\"\"", "" },
	{ "\"a\" \"b\\n%%\\\"c\"", "ab %\"c" },
	{ "\"%d %u %x %ld\", REC->pid, REC->pid, REC->pid, REC->pid", "-7 4294967289 fffffff9 -7" },
	{ "\"%llx %lu\", REC->flags, REC->flags", "8000000000000005 9223372036854775813" },
	{ "\"%hhd %hu %c\", REC->small, REC->small, 65", "-128 65408 A" },
	{ "\"%s|%s|%s\", REC->comm, __get_str(path), \"x\"", "cat|/etc|x" },
	{ "\"%-6s|%6s|%.2s|%*d|%-4d|%04x\", REC->comm, REC->comm, REC->comm, 5, 42, 42, 42",
	  "cat   |   cat|ca|   42|42  |002a" },
	{ "\"%p %px %pK\", REC->at, REC->at, (void *)REC->at",
	  "0xffffffff81001000 0xffffffff81001000 0xffffffff81001000" },
	{ "\"%pS %ps %pF %pf\", (void *)REC->at, REC->at, REC->at + 16, REC->at + 0x1f",
	  "work+0x0 work work+0x10 work" },
	{ "\"%pB %pBb %pSR\", REC->at + 0x20, REC->at + 1, REC->at + 1",
	  "work+0x20 work+0x1 work+0x1" },
	{ "\"%pB %pS %ps\", REC->at, REC->at + 0x20, REC->pid",
	  "0xffffffff81001000 0xffffffff81001020 0xfffffffffffffff9" },
	{ "\"%p %6p|\", REC->state - 2, 0", "(nil)  (nil)|" },
	{ "\"%-6ps|%12pS\", REC->at, REC->at", "work  |    work+0x0" },
	{ "\"%pI4 %d\", REC->at, REC->pid", "? -7" },
	{ "\"%d %d %d\", REC->list[0], REC->list[1 + 1], REC->list[REC->state]", "1 65535 65535" },
	{ "\"%d\", REC->list[3]", "" },
	{ "\"%d %d\", REC->list[3], 1", "? 1" },
	{ "\"%d\", 1 + 2 * 3 - 4 / 2 % 3 << 1", "10" },
	{ "\"%d\", 10 - 3 - 2", "5" },
	{ "\"%d\", (1 | 2 ^ 3 & 6) == 1 && !(0 || 5 < 4)", "1" },
	{ "\"%d %d\", REC->pid < 0, REC->flags < 0UL", "1 0" },
	{ "\"%d\", REC->pid < 1UL ? 1 : 2", "2" },
	{ "\"%d\", 7 / (REC->pid + 7)", "" },
	{ "\"%d\", -9223372036854775807LL - 1 != 0 ? (-9223372036854775807LL - 1) / -1 : 3", "0" },
	{ "\"%u\", (u8)REC->pid", "249" },
	{ "\"%d\", (int)(unsigned long)REC->pid", "-7" },
	{ "\"%lx\", (unsigned long)(unsigned int)REC->pid", "fffffff9" },
	{ "\"%lx\", ((unsigned long long)((REC->flags) >> 63))", "1" },
	{ "\"%s\", REC->state ? REC->pid > 0 ? \"a\" : \"b\" : \"c\"", "b" },
	{ "\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" }, { (1UL << (2)), \"C\" }, { 8, \"D\" })",
	  "A|C|0x8000000000000000" },
	{ "\"%s\", __print_flags(REC->state, \"+\", { 0, \"none\" }, { 2, \"two\" }, { 0, ((void *)0) })",
	  "two" },
	{ "\"%s\", __print_flags(REC->state & (1 | 2 | 4), \"|\", { 1, \"A\" }, { 2, \"B\" }, { 4, \"C\" })",
	  "B" },
	{ "\"%s %s\", __print_symbolic(REC->state, { 1, \"one\" }, { 2, \"two\" }), "
	  "__print_symbolic(REC->pid, { 1, \"one\" })",
	  "two 0xfffffffffffffff9" },
	{ "\"%s\", __print_symbolic(REC->state, { A_NAME, \"one\" }, { 2, \"two\" })", "two" },
	{ "\"%s %s\", __print_hex(REC->list, 3), __print_hex_str(__get_dynamic_array(path), 2)",
	  "01 00 02 2f65" },
	{ "\"%s\", __print_array(REC->list, 3, 2)", "{0x1,0x2,0xffff}" },
	{ "\"%s\", __print_array(REC->list, 4, 2)", "" },
	{ "\"%d\", __get_dynamic_array_len(path)", "5" },
	{ "\"%p %d\", (((struct page *)vmemmap_base) + (REC->state)), REC->pid", "? -7" },
	{ "\"%d %d\", jiffies_to_msecs(f(\")\"), 2), REC->pid", "? -7" },
	{ "\"%s\", REC->at", "0xffffffff81001000" },
	{ "\"%d %s\", REC->odd, REC->comm", "? cat" },
	{ "\"%d\", REC->beyond", "" },
	{ "\"%d\"", NULL },
	{ "\"%d %\", 1", NULL },
	{ "\"%n\", 1", NULL },
	{ "\"%d\", REC->nothing", NULL },
	{ "\"%d\", (1", NULL },
	{ "\"%d\", 1 +", NULL },
	{ "\"%d\", 08x", NULL },
	{ "\"%d\", 1) 2", NULL },
	{ "\"%s\", __get_str(nothing)", NULL },
	{ "\"%s\", __print_symbolic(1, { 1 })", NULL },
	{ "\"open", NULL },
	{ "", NULL },
};

/* A function of 32 bytes at what "at" holds. */
static const char *find(void *arg, uint64_t address, uint64_t *offset)
{
	uint64_t from = *(const uint64_t *)arg;

	*offset = address - from;
	return *offset < 32 ? "work" : NULL;
}

static bool line_of(const char *fmt, size_t n, char *out, size_t max, bool *known)
{
	struct trace_raw r = { raw, sizeof(raw), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
	uint64_t at = 0xffffffff81001000;
	struct print_symbols symbols = { find, &at };
	size_t left = PARTS;
	struct arena a;
	const struct print_fmt *f;

	arena_init(&a);
	f = print_fmt_new(fmt, n, fields, sizeof(fields) / sizeof(*fields), &a, &left);
	*known = f && print_fmt_text(f, &r, &symbols, out, max);
	arena_done(&a);
	return f != NULL;
}

Test(print_fmt, lines)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char out[200] = "";
		bool known, good = line_of(lines[i].fmt, strlen(lines[i].fmt), out, sizeof(out),
					   &known);

		cr_expect_eq(good, lines[i].line != NULL, "%s", lines[i].fmt);
		if (good && (known || *lines[i].line))
			cr_expect_str_eq(out, lines[i].line, "%s: %s", lines[i].fmt, out);
		if (good && !*lines[i].line && strcmp(lines[i].fmt, "\"\"") != 0)
			cr_expect_not(known, "%s: %s", lines[i].fmt, out);
	}
}

/* Text that is cut anywhere, and lines without room. */
Test(print_fmt, cut)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		for (size_t n = 0; n <= strlen(lines[i].fmt); n++) {
			/* Exactly as large, so that a step too far is seen by sanitizers. */
			char *fmt = malloc(n ? n : 1), *out = malloc(1 + n % 9);
			bool known;

			memcpy(fmt, lines[i].fmt, n);
			line_of(fmt, n, out, 1 + n % 9, &known);
			if (known)
				cr_expect_leq(strlen(out), n % 9);
			free(fmt);
			free(out);
		}
	}
}

/* before, piece over and over, behind. */
static const struct {
	const char *what, *before, *piece, *behind;
} deep[] = {
	{ "parentheses", "\"%d\", ", "(", "1" },
	{ "minus", "\"%d\", ", "-", "1" },
	{ "casts", "\"%d\", ", "(int)", "1" },
	{ "choices", "\"%d\", ", "REC->pid ? 1 : ", "1" },
	{ "a long sum", "\"%d\", 1", "+REC->pid", "" },
	{ "many arguments", "\"%d\"", ", 1", "" },
	{ "many flags", "\"%s\", __print_flags(1, \"\"", ", {1,\"\"}", ")" },
	{ "an open call", "\"%s\", f(", "(", "" },
};

Test(print_fmt, bounds)
{
	for (size_t i = 0; i < sizeof(deep) / sizeof(*deep); i++) {
		size_t n = strlen(deep[i].piece), times = 100000;
		char *fmt = calloc(1, n * times + 100), *at = fmt, out[100];
		bool known;

		at += sprintf(at, "%s", deep[i].before);
		for (size_t k = 0; k < times; k++, at += n)
			memcpy(at, deep[i].piece, n);
		strcpy(at, deep[i].behind);
		cr_expect_not(line_of(fmt, strlen(fmt), out, sizeof(out), &known), "%s",
			      deep[i].what);
		free(fmt);
	}
}
