/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of tracepoints by made-up format files of both byte orders, and what samples show of them. */
#include "config.h"

#include "perf/tracepoint/trace_field.h"
#include "perf/tracepoint/trace_fields.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char switch_format[] =
	"name: sched_switch\nID: 314\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long long big;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"prev_comm=%s field:int no;\toffset:0;\tsize:4;\tsigned:0;\", REC->prev_comm\n";

static const char open_format[] =
	"name: open\nID: 7\nformat:\n"
	"\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] other;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:void * at;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u8 mac[6];\toffset:24;\tsize:6;\tsigned:0;\n"
	"\tfield:signed char small;\toffset:30;\tsize:1;\tsigned:1;\n"
	"\tfield:unsigned long __probe_ip;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:int beyond;\toffset:4000;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%s %s\", __get_str(name), __print_hex(REC->mac, 6)\n";

static void sized(struct made *m, const char *text)
{
	made_u64(m, strlen(text));
	made_bytes(m, text, strlen(text));
}

static void put_tracing(struct made *m)
{
	made_bytes(m,
		   "\x17\x08\x44tracing"
		   "0.6",
		   14);
	made_bytes(m, m->big ? "\1" : "\0", 1);
	made_bytes(m, "\x8", 1);
	made_u32(m, 4096);
	made_bytes(m, "header_page", 12);
	sized(m, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	made_bytes(m, "header_event", 13);
	sized(m, "# compressed entry header\n");
	made_u32(m, 0);
	made_u32(m, 2);
	made_bytes(m, "sched", 6);
	made_u32(m, 1);
	sized(m, switch_format);
	made_bytes(m, "probe", 6);
	made_u32(m, 1);
	sized(m, open_format);
	made_u32(m, 0);
}

static void put_switch(struct made *m)
{
	made_u64(m, 314);
	made_bytes(m, "bash\0garbage....", 16);
	made_u32(m, (uint32_t)-5);
	made_u32(m, 0);
	made_u64(m, UINT64_C(10000000000000000000));
}

static void put_open(struct made *m)
{
	made_u64(m, 7);
	made_u32(m, 5 << 16 | 40);
	made_u32(m, 3 << 16 | (45 - 16));
	made_u64(m, 0xffffffff81000000);
	made_bytes(m, "\x01\x02\x03\x04\x05\xff\x80\0", 8);
	made_u64(m, 0x401000);
	made_bytes(m, "/etc\0ab\0", 8);
}

static const struct {
	uint64_t id;
	const char *list, *text; /* text "": nothing to show */
} shown[] = {
	{ 314, "all", "prev_comm=bash prev_pid=-5 big=10000000000000000000" },
	{ 314, "prev_pid", "prev_pid=-5" },
	{ 314, "big,prev_comm,unknown", "big=10000000000000000000 prev_comm=bash" },
	{ 314, "prev", "" },
	{ 314, "common_pid", "" },
	{ 314, ",,", "" },
	{ 315, "all", "" },
	{ 7, "all",
	  "name=/etc other=ab at=0xffffffff81000000 mac=0102030405ff small=-128 "
	  "__probe_ip=0x401000" },
	{ 7, "beyond", "" },
	{ 7, "print", "/etc 01 02 03 04 05 ff" },
	{ 314, "print", "prev_comm=bash field:int no;\toffset:0;\tsize:4;\tsigned:0;" },
};

Test(trace_fields, of_both_byte_orders)
{
	for (int big = 0; big < 2; big++) {
		struct made m = { .big = big }, raw[2] = { { .big = big }, { .big = big } };
		struct trace_fields *t;
		char out[200], *names;

		put_tracing(&m);
		put_switch(&raw[0]);
		put_open(&raw[1]);
		t = trace_fields_new(m.bytes.at, m.bytes.n);
		cr_assert_not_null(t);
		cr_expect_str_eq(trace_fields_event(t, 314), "sched:sched_switch");
		cr_expect_str_eq(trace_fields_event(t, 7), "probe:open");
		cr_expect_null(trace_fields_event(t, 8));
		names = trace_fields_names(t, 314);
		cr_expect_str_eq(names, "prev_comm prev_pid big");
		free(names);
		for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
			const struct made *r = &raw[shown[i].id == 7];
			struct trace_raw raw_of = { r->bytes.at, r->bytes.n, made_swaps(r) };
			bool any = trace_fields_text(t, shown[i].id, &raw_of, shown[i].list, NULL,
						     out, sizeof(out));

			cr_expect_eq(any, *shown[i].text != '\0', "%s", shown[i].list);
			cr_expect_str_eq(out, shown[i].text, "%s: %s", shown[i].list, out);
		}
		trace_fields_free(t);
		made_done(&m);
		made_done(&raw[0]);
		made_done(&raw[1]);
	}
}

Test(trace_fields, cut_samples_and_short_room)
{
	struct made m = { 0 }, raw = { 0 };
	struct trace_fields *t;

	put_tracing(&m);
	put_open(&raw);
	t = trace_fields_new(m.bytes.at, m.bytes.n);
	for (size_t n = 0; n <= raw.bytes.n; n++) {
		for (size_t max = 1; max < 120; max++) {
			/* Exactly as large, so that a step too far is seen by sanitizers. */
			uint8_t *cut = malloc(n ? n : 1);
			char *out = malloc(max);

			struct trace_raw raw_of = { cut, n, false };

			memcpy(cut, raw.bytes.at, n);
			trace_fields_text(t, 7, &raw_of, "all", NULL, out, max);
			cr_expect_lt(strlen(out), max);
			trace_fields_text(t, 7, &raw_of, "print", NULL, out, max);
			cr_expect_lt(strlen(out), max);
			free(cut);
			free(out);
		}
	}
	trace_fields_free(t);
	made_done(&m);
	made_done(&raw);
}

Test(trace_fields, damaged_formats_are_survived)
{
	struct made m = { 0 }, raw = { 0 };

	put_tracing(&m);
	put_switch(&raw);
	for (size_t i = 0; i < m.bytes.n * 4; i++) {
		static const uint8_t with[] = { 0xff, 0x80, 0x02 };
		size_t n = i % 4 == 3 ? i / 4 : m.bytes.n;
		uint8_t *copy = malloc(n ? n : 1);
		struct trace_fields *t;
		char out[64];

		memcpy(copy, m.bytes.at, n);
		if (i % 4 < 3)
			copy[i / 4] ^= with[i % 4];
		t = trace_fields_new(copy, n);
		if (t) {
			struct trace_raw raw_of = { raw.bytes.at, raw.bytes.n, false };

			trace_fields_text(t, 314, &raw_of, "print", NULL, out, sizeof(out));
			cr_expect_lt(strlen(out), sizeof(out));
		}
		trace_fields_free(t);
		free(copy);
	}
	cr_expect_null(trace_fields_new("not tracing data", 16));
	made_done(&m);
	made_done(&raw);
}
