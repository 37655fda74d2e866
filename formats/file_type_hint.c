/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signs by which files are known. What has a sign here is not a folded file either, however many of
 * its lines end in a number.
 */
#include "config.h"

#include "formats/file_type_hint.h"

#include "formats/text_signs.h"

#include <stdbool.h>
#include <string.h>

#define SVG "an SVG picture"

struct sign {
	const char *magic; /* the first bytes */
	size_t n;          /* how many */
	const char *what;
};

#define SIGN(magic, what) \
	{ \
		magic, sizeof(magic) - 1, what \
	}

/* clang-format off */
static const struct sign signs[] = {
	SIGN("\x7f" "ELF", "an ELF file (a program, not a profile)"),
	SIGN("#!", "a script"),
	SIGN("\x1f\x8b", "gzip data inside packed data"),
	SIGN("\x28\xb5\x2f\xfd", "zstd data inside packed data"),
	SIGN("\xfd" "7zXZ", "xz data inside packed data"),
	SIGN("SQLite format 3", "an SQLite database"),
	SIGN("!<arch>\n", "an archive of objects"),
	SIGN("%PDF-", "a PDF document"),
	SIGN("\x89PNG", "a PNG picture"),
	SIGN("memray\0", "a memray file"),
	SIGN("\x04\x22\x4d\x18", "lz4 data, as memray writes"),
	SIGN("FLR\0", "a Java flight recording"),
	SIGN("gmon", "gprof data"),
	SIGN("# callgrind format", "callgrind text"),
	SIGN("version: ", "callgrind text"),
	SIGN("events: ", "callgrind text"),
	SIGN("--- cpuprofile", "a V8 profile"),
	SIGN("SIMPLEPERF", "a report of simpleperf (protobuf)"),
	SIGN("\x17\x08\x44" "tracing", "a trace of trace-cmd"),
	SIGN("JAVA PROFILE", "a heap dump of Java (hprof)"),
	SIGN("Nettrace", "a trace of .NET"),
	SIGN("NYTProf ", "a profile of Perl (NYTProf)"),
	SIGN("\x04\x08{", "a dump of Ruby (Marshal, as of stackprof)"),
	SIGN("\0\0\0\0\3\0\0\0", "a CPU profile of gperftools"),
	SIGN("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", "a CPU profile of gperftools"),
	SIGN("{(\3\0\0\0", "a profile of Python (cProfile)"),
	SIGN("{)\3", "a profile of Python (cProfile)"),
	SIGN("\xfb(\3\0\0\0", "a profile of Python (cProfile)"),
	SIGN("\xfb\xa9\3", "a profile of Python (cProfile)"),
	SIGN("{\xa9\3", "a profile of Python (cProfile)"),
	SIGN("\xfb)\3", "a profile of Python (cProfile)"),
	SIGN("<!DOCTYPE html", "HTML"),
	SIGN("<!doctype html", "HTML"),
	SIGN("<html", "HTML"),
	SIGN("<svg", SVG),
	SIGN("MOJ", "a profile of samples of austin (MOJO)"),
};
/* clang-format on */
#define N_PROGRAMS 2 /* of them, first */

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The first bytes are an object or an array whose first element is no plain word. */
static bool is_json(const uint8_t *b, size_t n)
{
	size_t i = 1;

	if (n == 0 || (b[0] != '{' && b[0] != '['))
		return false;
	while (i < n && is_blank(b[i]))
		i++;
	if (i == n)
		return n > 1 || b[0] == '{';
	if (b[0] == '{')
		return b[i] == '"' || b[i] == '}';
	return b[i] == '{' || b[i] == '"' ||
	       (b[i] == '[' && i + 1 < n && !(b[i + 1] & 0x80) &&
		strchr("{[\"0123456789 \n", b[i + 1]) != NULL);
}

/* perf script: an indented hexadecimal address, a blank, more. */
static bool is_perf_frame(const uint8_t *b, size_t n)
{
	size_t i = 0, digits;

	while (i < n && (b[i] == ' ' || b[i] == '\t'))
		i++;
	if (i == 0)
		return false;
	for (digits = 0; i < n && ((b[i] >= '0' && b[i] <= '9') || (b[i] >= 'a' && b[i] <= 'f'));
	     i++)
		digits++;
	return digits >= 4 && i + 1 < n && b[i] == ' ' && b[i + 1] != ' ' && b[n - 1] == ')';
}

/* Text with a header line that ends in a colon and frames below it, as perf script writes it. */
static bool is_perf_script(const uint8_t *b, size_t n)
{
	bool header = false;

	for (size_t at = 0; at < n;) {
		const uint8_t *nl = memchr(b + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - (b + at)) : n - at;

		while (len > 0 && is_blank(b[at + len - 1]))
			len--;
		if (header && is_perf_frame(b + at, len))
			return true;
		header = len > 0 && b[at + len - 1] == ':';
		at = nl ? (size_t)(nl - b) + 1 : n;
	}
	return false;
}

/*
 * pprof's Profile begins with sample_type, a ValueType of two varints (google/pprof, proto/profile.proto); Perfetto's Trace with
 * a packet. Both are field 1 of bytes.
 */
static const char *protobuf(const uint8_t *b, size_t n)
{
	size_t second;

	if (n < 8 || b[0] != 0x0a || b[1] == 0)
		return NULL;
	second = 2 + (size_t)b[1];
	if (b[1] >= 2 && b[1] <= 12 && b[2] == 0x08)
		return second < n && (b[second] == 0x0a || b[second] == 0x12)
			       ? "a pprof profile (protobuf)"
			       : NULL;
	if (!(b[1] & 0x80) && second < n && b[second] == 0x0a)
		return "a trace of Perfetto (protobuf)";
	return NULL;
}

static bool stands_in(const uint8_t *b, size_t n, const char *text)
{
	return memmem(b, n, text, strlen(text)) != NULL;
}

/* XML is known by its first elements. */
static const char *xml(const uint8_t *b, size_t n)
{
	size_t first = n < 4096 ? n : 4096;

	if (stands_in(b, first, "<StackWindow") && b[0] == '<')
		return "a stack view of PerfView (XML)";
	if (n < 5 || memcmp(b, "<?xml", 5) != 0)
		return NULL;
	if (stands_in(b, first, "<svg"))
		return SVG;
	if (stands_in(b, first, "<trace-query-result"))
		return "an export of Instruments (xctrace, XML)";
	return stands_in(b, first, "<trace-toc")
		       ? "a table of contents of Instruments (xctrace, XML)"
		       : "XML";
}

#define ZIP_NAME_AT 30 /* of its first member, whose length stands 4 bytes before */

/* What is in a zip archive, by the name of its first member. */
static const char *zip(const uint8_t *b, size_t n)
{
	size_t len = n > ZIP_NAME_AT ? (size_t)(b[26] | b[27] << 8) : 0;

	if (n < 4 || memcmp(b, "PK\3\4", 4) != 0)
		return NULL;
	if (len > n - ZIP_NAME_AT)
		len = n - ZIP_NAME_AT;
	if (len >= 4 && memcmp(b + ZIP_NAME_AT + len - 4, ".etl", 4) == 0)
		return "a zip archive with a trace of Windows (ETW)";
	if (len > 0 && stands_in(b + ZIP_NAME_AT, len, ".trace/"))
		return "a zip archive with a trace of Instruments";
	return "a zip archive";
}

/*
 * ETW's files are buffers of one size. The first has its size, how much of it is used (WMI_BUFFER_HEADER, 72 bytes), and an event
 * about the file, whose head ends in 0xc0 (SYSTEM_TRACE_HEADER of evntrace.h).
 */
static bool is_etw(const uint8_t *b, size_t n)
{
	uint32_t size, used;

	if (n < 76)
		return false;
	memcpy(&size, b, sizeof(size));
	memcpy(&used, b + 4, sizeof(used));
	return size >= 1024 && size <= (1u << 24) && size % 1024 == 0 && used >= 72 &&
	       used <= size && (b[74] == 1 || b[74] == 2) && b[75] == 0xc0;
}

static bool has_sign(const struct sign *s, const uint8_t *bytes, size_t n)
{
	return n >= s->n && memcmp(bytes, s->magic, s->n) == 0;
}

const char *file_type_hint_like(const uint8_t *bytes, size_t n)
{
	const char *what;
	size_t i = 0;

	for (size_t k = 0; k < sizeof(signs) / sizeof(*signs); k++)
		if (has_sign(&signs[k], bytes, n))
			return signs[k].what;
	if (zip(bytes, n))
		return zip(bytes, n);
	if (is_etw(bytes, n))
		return "a trace of Windows (ETW)";
	if (xml(bytes, n))
		return xml(bytes, n);
	while (i < n && is_blank(bytes[i]))
		i++;
	if (is_json(bytes + i, n - i))
		return text_signs_of_json((const char *)bytes + i, n - i);
	what = memchr(bytes, '\0', n) ? protobuf(bytes, n) : text_signs_of((const char *)bytes, n);
	return what || !is_perf_script(bytes, n) ? what : "the text of perf script";
}

bool file_type_hint_like_text(const uint8_t *bytes, size_t n)
{
	size_t odd = 0;

	for (size_t i = 0; i < n; i++)
		odd += (bytes[i] < 0x20 && !is_blank(bytes[i]) && bytes[i] != 0x1b) ||
		       bytes[i] == 0x7f;
	return odd <= n / 50 + 1;
}

bool file_type_hint_like_program(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < N_PROGRAMS; i++)
		if (has_sign(&signs[i], bytes, n))
			return true;
	return false;
}
