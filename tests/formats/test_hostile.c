/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs that are made to break readers: nesting, cycles, claims, and packed data that grows without end. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "profile/profile.h"
#include "tests/support/read_rows.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Is read, or refused with the file's name; never anything else. */
static void read_or_refuse(const char *format, const char *what, const void *bytes, size_t n)
{
	struct err e = ERR_INIT;
	int rc;
	struct profile *p = read_bytes_as(format_by_name(format), bytes, n, &rc, &e);

	cr_expect(rc == 0 || (rc == -EBADMSG && strstr(err_text(&e), "x: ")), "%s, %s: %d %s",
		  format, what, rc, err_text(&e));
	profile_free(p);
	err_clear(&e);
}

static char *repeat(const char *before, const char *each, size_t times, const char *after,
		    size_t *n)
{
	size_t n_before = strlen(before), n_each = strlen(each), n_after = strlen(after);
	char *text = xmalloc(n_before + n_each * times + n_after + 1), *at = text + n_before;

	memcpy(text, before, n_before);
	for (size_t i = 0; i < times; i++, at += n_each)
		memcpy(at, each, n_each);
	memcpy(at, after, n_after + 1);
	*n = n_before + n_each * times + n_after;
	return text;
}

Test(hostile, json_nested_a_million_times, .timeout = 120)
{
	static const struct {
		const char *format, *before, *each;
	} cases[] = {
		{ "speedscope", "{\"shared\":{\"frames\":", "[" },
		{ "speedscope", "{\"profiles\":[{\"samples\":", "[" },
		{ "firefox",
		  "{\"meta\":{\"interval\":1},\"threads\":[{\"stackTable\":", "{\"data\":[" },
		{ "v8", "{\"nodes\":", "[" },
		{ "v8", "{\"head\":", "{\"children\":[" },
		{ "chrome-trace", "{\"traceEvents\":[{\"args\":", "{\"data\":" },
		{ "otlp", "{\"resourceProfiles\":", "[" },
		{ "otlp", "{\"dictionary\":{\"stackTable\":[{\"locationIndices\":", "[" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		size_t n;
		char *text = repeat(cases[i].before, cases[i].each, 1000000, "", &n);

		read_or_refuse(cases[i].format, "nested", text, n);
		free(text);
	}
}

/* A tree of nodes as deep as it is large, and nodes, frames and stacks that lead to themselves. */
Test(hostile, depth_and_cycles, .timeout = 120)
{
	static const struct {
		const char *what, *format, *text;
	} cycles[] = {
		{ "nodes below each other", "v8",
		  "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"a\"},\"children\":[2]},{\"id\":2,"
		  "\"callFrame\":{\"functionName\":\"b\"},\"children\":[1,2]}],\"samples\":[1,2],"
		  "\"timeDeltas\":[1,1],\"endTime\":9}" },
		{ "frames that are their own parents", "chrome-trace",
		  "{\"traceEvents\":[],\"stackFrames\":{\"1\":{\"name\":\"a\",\"parent\":2},\"2\":{\"name\":\"b\","
		  "\"parent\":1},\"3\":{\"name\":\"c\",\"parent\":3}},\"samples\":[{\"sf\":1,\"ts\":1},{\"sf\":3,"
		  "\"ts\":2},{\"sf\":2,\"ts\":3}]}" },
		{ "stacks before each other", "firefox",
		  "{\"meta\":{\"interval\":1},\"threads\":[{\"name\":\"w\",\"pid\":1,\"tid\":1,\"samples\":{\"stack\":"
		  "[0,1,2],\"time\":[1,2,3]},\"stringArray\":[\"f\"],\"stackTable\":{\"frame\":[0,0,0],\"prefix\":"
		  "[1,0,2]},\"frameTable\":{\"func\":[0]},\"funcTable\":{\"name\":[0]}}]}" },
		{ "indexes of 64 bits", "speedscope",
		  "{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\","
		  "\"samples\":[[18446744073709551615,-1,4294967296],[0,1e300]],\"weights\":[1e300,-5]}]}" },
		{ "millions of samples that are claimed", "firefox",
		  "{\"meta\":{\"interval\":1},\"threads\":[{\"samples\":{\"length\":4294967296,\"stack\":[],"
		  "\"time\":[]},\"stackTable\":{\"length\":4294967296},\"stringArray\":[]}]}" },
	};
	size_t n;
	char *text = repeat(
		"{\"head\":", "{\"functionName\":\"a\",\"hitCount\":1,\"id\":7,\"children\":[",
		100000, "", &n);

	read_or_refuse("v8", "deep", text, n);
	free(text);
	text = repeat("[", "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"a\"},", 100000,
		      "", &n);
	read_or_refuse("chrome-trace", "deep", text, n);
	free(text);
	text = repeat("[", "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9,\"name\":\"a\"},",
		      100000, "", &n);
	read_or_refuse("chrome-trace", "deep and whole", text, n);
	free(text);
	for (size_t i = 0; i < N(cycles); i++)
		read_or_refuse(cycles[i].format, cycles[i].what, cycles[i].text,
			       strlen(cycles[i].text));
}

/* Lengths and numbers of protobuf and of words that no file holds. */
Test(hostile, claims)
{
#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1
	static const struct {
		const char *format;
		const uint8_t *bytes;
		size_t n;
	} cases[] = {
		/* a string of 2^63 bytes; samples of packed ids of 2^32 bytes; a field without an end */
		{ "pprof", BYTES("\x32\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
				 "ab") },
		{ "pprof",
		  BYTES("\x0a\x04\x08\x01\x10\x02\x12\xff\xff\xff\xff\x0f\x0a\xff\xff\xff\xff\x0f") },
		{ "pprof", BYTES("\x12\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01") },
		{ "otlp", BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x12") },
		{ "otlp", BYTES("\xff\xff\xff\xff\x0a\x02\x12\x00") },
		{ "otlp", BYTES("\x12\x08\x3a\x06\x0a\x04\xff\xff\xff\xff") },
		/* 2^32 - 1 addresses, and as many samples */
		{ "cpuprofile",
		  BYTES("\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff") },
		{ "cpuprofile",
		  BYTES("\0\0\0\0\3\0\0\0\0\0\0\0\xff\xff\xff\x7f\0\0\0\0\xff\xff\xff\xff\1\0\0\0\1\0\0\0") },
	};

	for (size_t i = 0; i < N(cases); i++)
		read_or_refuse(cases[i].format, "claim", cases[i].bytes, cases[i].n);
	for (size_t i = 0; i < 2; i++) {
		const char *text =
			i ? "events: Ir\nfl=a\nfn=f\n1 18446744073709551615\n2 9223372036854775807\n"
			    "3 9223372036854775807\ncfn=g\ncalls=18446744073709551615 1\n1 1\n"
			  : "events: Ir\nfl=a\nfn=(18446744073709551615) f\n+18446744073709551615 5\n"
			    "-1 5\ncfn=(18446744073709551615)\ncalls=1 1\n1 9223372036854775807\n";

		read_or_refuse("callgrind", "claim", text, strlen(text));
	}
}

/* 4 MB of one byte in some 4 kB of gzip: read as a stream, or whole within what memory allows. */
Test(hostile, packed_data_that_grows, .timeout = 120)
{
	static const struct {
		const char *format;
		char byte;
	} cases[] = {
		{ "speedscope", ' ' },  { "firefox", '[' }, { "chrome-trace", ' ' },
		{ "otlp", ' ' },        { "pprof", '\0' },  { "callgrind", '\n' },
		{ "cpuprofile", '\0' },
	};
	size_t n = (size_t)4 << 20, room = compressBound(n) + 64;
	uint8_t *plain = xmalloc(n), *packed = xmalloc(room);

	for (size_t i = 0; i < N(cases); i++) {
		z_stream z = { 0 };

		memset(plain, cases[i].byte, n);
		cr_assert_eq(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
		z.next_in = plain;
		z.avail_in = (unsigned)n;
		z.next_out = packed;
		z.avail_out = (unsigned)room;
		cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
		read_or_refuse(cases[i].format, "grows", packed, room - z.avail_out);
		deflateEnd(&z);
	}
	free(plain);
	free(packed);
}
