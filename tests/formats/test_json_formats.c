/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles that are JSON: speedscope's, V8's and the Firefox Profiler's. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/firefox/firefox_series.h"
#include "formats/firefox/firefox_text.h"
#include "formats/format.h"
#include "formats/json/json_stream.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/lens.h"
#include "query/tree/table.h"
#include "tests/fuzz/fuzz.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* A file, and what becomes of it. */
struct file {
	const char *what;
	const char *format;
	const char *text;
	const char *event; /* NULL: the one that opens */
	const char *rows;  /* function:module/self/total of each, by function */
	const char *loss;  /* a part of what info says is lost, or NULL */
};

static const struct file files[] = {
	{ "frames behind the profiles, a weight with a fraction", "speedscope",
	  "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[{\"type\":"
	  "\"sampled\",\"name\":\"t\",\"unit\":\"seconds\",\"startValue\":0,\"endValue\":3,\"samples\":"
	  "[[0,1],[0],[]],\"weights\":[1.5,1,0.5]}],\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":"
	  "\"/x/a.py\",\"line\":3},{\"name\":\"f\",\"file\":\"/x/b.py\"}]}}",
	  NULL, "f:b.py/1500000000/1500000000 main:a.py/1000000000/2500000000 ", NULL },
	{ "events: each stretch is of the stack that is open", "speedscope",
	  "{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[{\"type\":\"evented\","
	  "\"name\":\"t\",\"unit\":\"none\",\"startValue\":0,\"endValue\":10,\"events\":[{\"type\":\"O\","
	  "\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":2},{\"type\":\"C\",\"frame\":1,\"at\":5},"
	  "{\"type\":\"C\",\"frame\":0,\"at\":9}]}]}",
	  NULL, "a:/6/9 b:/3/3 ", NULL },
	{ "a frame that ends before those inside of it, and one that never ends", "speedscope",
	  "{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[{\"type\":\"evented\","
	  "\"unit\":\"none\",\"startValue\":0,\"endValue\":10,\"events\":[{\"type\":\"O\",\"frame\":0,"
	  "\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":1},{\"type\":\"C\",\"frame\":0,\"at\":3},{\"type\":"
	  "\"O\",\"frame\":1,\"at\":4}]}]}",
	  NULL, "a:/1/3 b:/8/8 ", "end out of order" },
	{ "what one profile leaves open is not open in the next", "speedscope",
	  "{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[{\"type\":\"evented\","
	  "\"unit\":\"none\",\"endValue\":2,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0}]},{\"type\":"
	  "\"evented\",\"unit\":\"none\",\"endValue\":5,\"events\":[{\"type\":\"O\",\"frame\":1,\"at\":0},{"
	  "\"type\":\"C\",\"frame\":0,\"at\":1}]}]}",
	  NULL, "a:/2/2 b:/5/5 ", "end out of order" },
	{ "a sample without a weight, and one of a frame that is not there", "speedscope",
	  "{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"sampled\",\"unit\":"
	  "\"bytes\",\"samples\":[[0],[7],[0]],\"weights\":[5,3]}]}",
	  NULL, "a:/5/5 ", "without a weight" },
	{ "two profiles are two threads with frames of their own", "speedscope",
	  "{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"sampled\",\"name\":\"x\","
	  "\"unit\":\"none\",\"samples\":[[0]],\"weights\":[1]},{\"type\":\"sampled\",\"name\":\"y\","
	  "\"unit\":\"none\",\"samples\":[[0]],\"weights\":[2]}]}",
	  NULL, "a:/3/3 ", NULL },
	{ "a sample lasts until the next one, the last to the end", "v8",
	  "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"url\":\"\",\"lineNumber\":-1},"
	  "\"children\":[2]},{\"id\":2,\"callFrame\":{\"functionName\":\"main\",\"url\":"
	  "\"file:///x/m.js\",\"lineNumber\":4},\"children\":[3]},{\"id\":3,\"callFrame\":{"
	  "\"functionName\":\"\",\"url\":\"file:///x/m.js\",\"lineNumber\":7}}],\"startTime\":1000,"
	  "\"endTime\":1100,\"samples\":[2,3,1],\"timeDeltas\":[10,20,30]}",
	  NULL, "(anonymous):m.js/30000/30000 main:m.js/20000/50000 ", NULL },
	{ "nested nodes, ids behind children, hits without samples", "v8",
	  "{\"head\":{\"functionName\":\"(root)\",\"children\":[{\"functionName\":\"a\",\"hitCount\":2,"
	  "\"children\":[{\"functionName\":\"b\",\"hitCount\":3,\"children\":[],\"id\":3}],\"id\":2}],"
	  "\"id\":1}}",
	  NULL, "a:/2/5 b:/3/3 ", NULL },
	{ "of old profiles a moment behind the last sample is the end", "v8",
	  "{\"head\":{\"functionName\":\"(root)\",\"children\":[{\"functionName\":\"a\",\"hitCount\":2,"
	  "\"children\":[],\"id\":2}],\"id\":1},\"startTime\":163140,\"endTime\":163141,\"samples\":["
	  "2,2],\"timestamps\":[163140599286,163140599296,163140599326]}",
	  NULL, "a:/40000/40000 ", NULL },
	{ "a heap profile", "v8",
	  "{\"head\":{\"callFrame\":{\"functionName\":\"(root)\"},\"selfSize\":0,\"id\":1,\"children\":[{"
	  "\"callFrame\":{\"functionName\":\"keep\",\"url\":\"a.js\",\"lineNumber\":0},\"selfSize\":640,"
	  "\"id\":2,\"children\":[]}]},\"samples\":[{\"size\":640,\"nodeId\":2,\"ordinal\":1}]}",
	  "live", "keep:a.js/640/640 ", NULL },
	{ "chunks of two threads in a trace, whose ids come behind them", "chrome-trace",
	  "{\"traceEvents\":[{\"args\":{\"data\":{\"startTime\":100}},\"name\":\"Profile\",\"pid\":7,"
	  "\"tid\":8,\"id\":\"0x1\",\"ph\":\"P\"},{\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{"
	  "\"callFrame\":{\"functionName\":\"f\"},\"id\":1},{\"callFrame\":{\"functionName\":\"g\"},"
	  "\"id\":2,\"parent\":1}],\"samples\":[1,2]},\"timeDeltas\":[1,2]}},\"name\":\"ProfileChunk\","
	  "\"pid\":7,\"tid\":9,\"id\":\"0x1\",\"ph\":\"P\"},{\"name\":\"ProfileChunk\",\"pid\":7,\"id\":"
	  "\"0x1\",\"tid\":9,\"args\":{\"data\":{\"cpuProfile\":{\"samples\":[2,1]},\"timeDeltas\":[4,8],"
	  "\"endTime\":120}}},{\"name\":\"ProfileChunk\",\"pid\":7,\"tid\":5,\"id\":\"0x2\",\"args\":{"
	  "\"data\":{\"cpuProfile\":{\"nodes\":[{\"callFrame\":{\"functionName\":\"h\"},\"id\":1}],"
	  "\"samples\":[1,1]},\"timeDeltas\":[1,6]}}}]}",
	  NULL, "f:/7000/19000 g:/12000/12000 h:/6000/6000 ", NULL },
	{ "durations that begin and end, and whole ones, with sources", "chrome-trace",
	  "{\"traceEvents\":[{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":10,\"name\":\"a\",\"args\":{"
	  "\"filename\":\"/x/a.py\",\"line\":3}},{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":12.5,\"dur\":4,"
	  "\"name\":\"b\"},{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":12.5,\"dur\":5,\"name\":\"c\"},{"
	  "\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":20},{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":1}]}",
	  "time", "a:a.py/5000/10000 b:/4000/4000 c:/1000/5000 ", NULL },
	{ "threads apart, an end of what is around others, one that never ends, no end of the array",
	  "chrome-trace",
	  "[{\"ph\":\"B\",\"pid\":1,\"tid\":140737353971520,\"ts\":0,\"name\":\"a\"},{\"ph\":\"B\","
	  "\"pid\":1,\"tid\":140737353971520,\"ts\":1,\"name\":\"b\"},{\"ph\":\"B\",\"pid\":1,\"tid\":3,"
	  "\"ts\":\"1\",\"name\":\"d\"},{\"ph\":\"E\",\"pid\":1,\"tid\":140737353971520,\"ts\":3,"
	  "\"name\":\"a\"},{\"ph\":\"E\",\"pid\":1,\"tid\":140737353971520,\"ts\":4,\"name\":\"b\"},{"
	  "\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":5,\"dur\":2,\"name\":\"e\"},\n",
	  "time", "a:/1000/3000 b:/2000/2000 d:/4000/6000 e:/2000/2000 ", "not nested" },
	{ "ends of the innermost of their name, of any, and of what is not open", "chrome-trace",
	  "[{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"a\"},{\"ph\":\"B\",\"pid\":1,\"ti"
	  "d\":1,\"ts\":1,\"name\":\"b\"},{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":2,\"name\":\"a\""
	  "},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4,\"name\":\"b\"},{\"ph\":\"E\",\"pid\":1,\"t"
	  "id\":1,\"ts\":5},{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":6,\"name\":\"b\"},{\"ph\":\"E"
	  "\",\"pid\":1,\"tid\":1,\"ts\":7,\"name\":\"a\"},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\""
	  ":8,\"name\":\"b\"}]",
	  "time", "a:/4000/5000 b:/3000/5000 ", "not nested" },
	{ "samples of stackFrames", "chrome-trace",
	  "{\"traceEvents\":[],\"samples\":[{\"pid\":1,\"tid\":\"2\",\"ts\":\"10\",\"sf\":1},{\"pid\":1,"
	  "\"tid\":\"2\",\"ts\":\"14\",\"sf\":\"x\"},{\"pid\":1,\"tid\":\"2\",\"ts\":\"20\",\"sf\":9}],"
	  "\"stackFrames\":{\"1\":{\"name\":\"f\"},\"x\":{\"name\":\"g\",\"parent\":1}}}",
	  "cpu", "f:/4000/10000 g:/6000/6000 ", "not in the file" },
	{ "processed, shared tables, times as deltas, one sample without a stack", "firefox",
	  "{\"meta\":{\"interval\":1,\"preprocessedProfileVersion\":57},\"libs\":[{\"name\":\"x.so\","
	  "\"path\":\"/lib/x.so\"}],\"threads\":[{\"name\":\"w\",\"pid\":\"12\",\"tid\":\"13.1\",\"samples\":"
	  "{\"stack\":[1,0,null],\"timeDeltas\":[1,2,3]}}],\"shared\":{\"stringArray\":[\"main\",\"f\","
	  "\"a.js\"],\"stackTable\":{\"frame\":[0,1],\"prefix\":[null,0]},\"frameTable\":{\"func\":[0,1],"
	  "\"line\":[null,9]},\"funcTable\":{\"name\":[0,1],\"resource\":[0,-1],\"fileName\":[null,2],"
	  "\"lineNumber\":[null,8]},\"resourceTable\":{\"lib\":[0],\"name\":[0]}}}",
	  NULL, "f:a.js/1/1 main:x.so/1/2 ", NULL },
	{ "processed, weights and the use of processors", "firefox",
	  "{\"meta\":{\"interval\":1,\"sampleUnits\":{\"threadCPUDelta\":\"\xc2\xb5s\"}},\"threads\":[{"
	  "\"name\":\"w\",\"pid\":1,\"tid\":1,\"samples\":{\"stack\":[0,0],\"time\":[1,2],\"weight\":[2,3],"
	  "\"threadCPUDelta\":[null,40],\"weightType\":\"samples\"},\"stringArray\":[\"f\"],\"stackTable\":"
	  "{\"frame\":[0],\"prefix\":[null]},\"frameTable\":{\"func\":[0]},\"funcTable\":{\"name\":[0]}}]}",
	  "cpu", "f:/40000/40000 ", NULL },
	{ "Gecko's, data before the schema, a circle of stacks, a process below", "firefox",
	  "{\"meta\":{\"interval\":1,\"stackwalk\":1},\"threads\":[{\"name\":\"g\",\"tid\":4,\"pid\":4,"
	  "\"samples\":{\"data\":[[0,1.0,9],[1,2.0],[2,3.0],[null,4.0]],\"schema\":{\"stack\":0,\"time\":1}},"
	  "\"stackTable\":{\"data\":[[null,0],[0,1],[2,1]],\"schema\":{\"prefix\":0,\"frame\":1}},"
	  "\"frameTable\":{\"schema\":{\"location\":0,\"line\":5},\"data\":[[0],[1,[2,{}],0,0,0,7]]},"
	  "\"stringTable\":[\"run (in /bin/x)\",\"onload (https://e.org/p.js:12:3)\"]}],\"processes\":[{"
	  "\"threads\":[{\"name\":\"h\",\"tid\":5,\"pid\":5,\"samples\":{\"schema\":{\"stack\":0,\"time\":1},"
	  "\"data\":[[0,1.0]]},\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[[null,0]]},"
	  "\"frameTable\":{\"schema\":{\"location\":0},\"data\":[[0]]},\"stringTable\":[\"x y (z)\"]}]}]}",
	  NULL, "onload:p.js/1/1 run:x/1/2 x y (z):/1/1 ", "not in the file" },
	{ "a circle of stacks, told once for all samples that are on it", "firefox",
	  "{\"meta\":{\"interval\":1},\"threads\":[{\"name\":\"w\",\"pid\":1,\"tid\":1,\"samples\":{"
	  "\"stack\":[0,1,2,0,1,2,3],\"time\":[1,2,3,4,5,6,7]},\"stringArray\":[\"f\",\"g\"],"
	  "\"stackTable\":{\"frame\":[0,0,0,1],\"prefix\":[1,2,0,null]},\"frameTable\":{\"func\":[0,1]},"
	  "\"funcTable\":{\"name\":[0,1]}}]}",
	  NULL, "g:/1/1 ", "1 of stacks" },
};

/* Markers of Firefox, processed and Gecko's: moments, intervals, halves of them, and one without a name. */
static const char *const marked[] = {
	"{\"meta\":{\"interval\":1,\"categories\":[{\"name\":\"Other\"},{\"name\":\"GC / CC\"}]},"
	"\"threads\":[{\"name\":\"w\",\"pid\":1,\"tid\":1,\"samples\":{\"stack\":[0,1,2],"
	"\"time\":[1,2,3]},\"markers\":{\"name\":[1,1,2,2,3,1,9],\"startTime\":[1,2,3,null,5,7,1],"
	"\"endTime\":[null,2.5,null,6,null,null,null],\"phase\":[0,1,2,3,3,2,0],"
	"\"category\":[0,1,1,1,0,0,0]},\"stringArray\":[\"f\",\"tick\",\"load\",\"late\"],"
	"\"stackTable\":{\"frame\":[0,1,2],\"prefix\":[null,0,1]},\"frameTable\":{\"func\":[0,0,0],"
	"\"category\":[0,1,null]},\"funcTable\":{\"name\":[0]}}]}",
	"{\"meta\":{\"interval\":1,\"categories\":[{\"name\":\"Other\"},{\"name\":\"GC / CC\"}]},"
	"\"threads\":[{\"name\":\"w\",\"pid\":1,\"tid\":1,\"samples\":{\"schema\":{\"stack\":0,"
	"\"time\":1},\"data\":[[0,1],[1,2],[2,3]]},\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,"
	"\"endTime\":2,\"phase\":3,\"category\":4,\"data\":5},\"data\":[[1,1,null,0,0],"
	"[1,2,2.5,1,1,{\"type\":\"x\",\"a\":[1]}],[2,3,null,2,1],[2,null,6,3,1],[3,5,null,3,0],"
	"[1,7,null,2,0],[9,1,null,0,0]]},\"stringTable\":[\"f\",\"tick\",\"load\",\"late\"],"
	"\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[[null,0],[0,1],[1,2]]},"
	"\"frameTable\":{\"schema\":{\"location\":0,\"category\":1},\"data\":[[0,0],[0,1],[0,null]]}}]}",
};

static const struct format *probe(const char *text, size_t n)
{
	struct input *in = input_of_bytes(text, n, "x.json");
	struct err e = ERR_INIT;
	const struct format *f = format_probe(in, &e);

	err_clear(&e);
	input_close(in);
	return f;
}

static struct profile *read_as(const struct format *f, const char *text, size_t n, int *rc,
			       struct err *e)
{
	struct input *in = input_of_bytes(text, n, "x.json");
	struct profile *p = profile_new();
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x.json", f->name);
	builder_end(p);
	*rc = f->read(in, p, c, NULL, NULL, e);
	input_close(in);
	return p;
}

static char *rows_by(const struct profile *p, enum grouping grouping, const char *event)
{
	struct profile_counts counts;
	char *out = xstrdup("");
	struct analysis *a;
	struct lens lens;

	lens_init(&lens, p);
	profile_counts_read(p, &counts);
	for (uint32_t i = 0; event && i < counts.n_events; i++)
		if (!strcmp(profile_string(p, profile_event(p, (event_id){ i })->name, NULL),
			    event))
			lens.column[0].metric = (struct metric){ { i }, MEASURE_WEIGHT, false };
	lens.grouping = grouping;
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	table_sort(&a->table, a->table_keys, ORDER_LABEL, 0, false);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct key *k = &a->table_keys->key[a->table.key[i]];
		char *more = xasprintf("%s%s:%s/%ld/%ld ", out, k->label, k->module,
				       (long)a->table.self[i], (long)a->table.total[i]);

		free(out);
		out = more;
	}
	analysis_free(a);
	lens_done(&lens);
	return out;
}

static char *rows_of(const struct profile *p, const char *event)
{
	return rows_by(p, GROUP_FUNCTION, event);
}

/* Is there a loss with such a text, or with NULL, none? */
static bool has_loss(const struct profile *p, const char *text)
{
	struct profile_counts counts;
	bool any = false, this = false;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		any |= f.kind == FACT_LOSS;
		this |= f.kind == FACT_LOSS && text &&
			strstr(profile_string(p, f.text, NULL), text);
	}
	return text ? this : !any;
}

Test(json_formats, what_files_say)
{
	for (size_t i = 0; i < N(files); i++) {
		const struct file *f = &files[i];
		const struct format *format = probe(f->text, strlen(f->text));
		struct err e = ERR_INIT;
		struct profile *p;
		char *rows;
		int rc;

		cr_assert(format && !strcmp(format->name, f->format), "%s: taken for %s", f->what,
			  format ? format->name : "nothing");
		p = read_as(format, f->text, strlen(f->text), &rc, &e);
		cr_assert_eq(rc, 0, "%s: %s", f->what, err_text(&e));
		rows = rows_of(p, f->event);
		cr_expect_str_eq(rows, f->rows, "%s: %s", f->what, rows);
		cr_expect(has_loss(p, f->loss), "%s: losses", f->what);
		free(rows);
		profile_free(p);
	}
}

/* Wherever it ends, it is read or refused with the file and where; and it says that something is missing. */
Test(json_formats, cut_at_each_offset)
{
	for (size_t i = 0; i < N(files); i++) {
		const struct format *format = format_by_name(files[i].format);

		for (size_t n = 1; n < strlen(files[i].text); n++) {
			struct err e = ERR_INIT;
			int rc;
			struct profile *p = read_as(format, files[i].text, n, &rc, &e);

			/* an array of events may end behind any of them */
			if (rc == 0)
				cr_expect(has_loss(p, "at offset") || files[i].text[0] == '[',
					  "%s, %zu bytes", files[i].what, n);
			else
				cr_expect(rc == -EBADMSG && strstr(err_text(&e), "x.json: ") &&
						  (strstr(err_text(&e), "offset") ||
						   files[i].text[0] == '['),
					  "%s, %zu bytes: %d %s", files[i].what, n, rc,
					  err_text(&e));
			profile_free(p);
			err_clear(&e);
		}
	}
}

Test(json_formats, hostile_bytes, .timeout = 300)
{
	for (size_t i = 0; i < N(files); i++)
		fuzz_vary(fuzz_json, files[i].text, strlen(files[i].text), 150);
	for (size_t i = 0; i < N(marked); i++)
		fuzz_vary(fuzz_json, marked[i], strlen(marked[i]), 150);
}

/* Whole, but with nothing to show. */
Test(json_formats, refused)
{
	static const struct {
		const char *format, *text, *what;
	} cases[] = {
		{ "speedscope", "{\"shared\":{\"frames\":[]},\"profiles\":[]}",
		  "without a sample" },
		{ "chrome-trace", "[{\"ph\":\"i\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"x\"}]",
		  "neither durations nor a profile" },
		{ "firefox", "{\"meta\":{\"interval\":1},\"threads\":[]}", "without a sample" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		const struct format *format = probe(cases[i].text, strlen(cases[i].text));
		struct err e = ERR_INIT;
		struct profile *p;
		int rc;

		cr_assert(format && !strcmp(format->name, cases[i].format), "%s", cases[i].text);
		p = read_as(format, cases[i].text, strlen(cases[i].text), &rc, &e);
		cr_expect(rc == -EBADMSG && strstr(err_text(&e), cases[i].what), "%d %s", rc,
			  err_text(&e));
		profile_free(p);
		err_clear(&e);
	}
}

/* The name of a sample's outermost frame. */
static const char *outermost(const struct profile *p, uint32_t sample)
{
	struct sample_columns samples;
	struct stack_columns stacks;
	struct location_columns places;
	uint32_t at;

	profile_samples(p, &samples);
	profile_stacks(p, &stacks);
	profile_locations(p, &places);
	for (at = samples.stack[sample]; stacks.parent[at] != 0;)
		at = stacks.parent[at];
	at = location_function(&places, stacks.location[at]);
	return profile_string(p, profile_function(p, (function_id){ at })->name, NULL);
}

/* Stacks of tables that threads share begin with each thread's own name. */
Test(json_formats, threads_that_share_tables)
{
	static const char text[] =
		"{\"meta\":{\"interval\":1},\"shared\":{\"stringArray\":[\"f\"],\"stackTable\":{\"frame\":"
		"[0,0],\"prefix\":[null,0]},\"frameTable\":{\"func\":[0]},\"funcTable\":{\"name\":[0]}},"
		"\"threads\":[{\"name\":\"one\",\"pid\":1,\"tid\":1,\"samples\":{\"stack\":[1],\"time\":[1]}},"
		"{\"name\":\"two\",\"pid\":1,\"tid\":2,\"samples\":{\"stack\":[1,0],\"time\":[2,3]}}]}";
	struct err e = ERR_INIT;
	int rc;
	struct profile *p = read_as(format_by_name("firefox"), text, sizeof(text) - 1, &rc, &e);

	cr_assert_eq(rc, 0, "%s", err_text(&e));
	cr_expect_str_eq(outermost(p, 0), "one");
	cr_expect_str_eq(outermost(p, 1), "two");
	cr_expect_str_eq(outermost(p, 2), "two");
	profile_free(p);
}

static bool count_taken(void *n, const struct firefox_thread *t)
{
	*(size_t *)n += t->samples[FIREFOX_SAMPLES].stack.n;
	return true;
}

/* Threads are shown while the rest is read where nothing that they need comes behind them, and what comes once more is nobody's. */
Test(json_formats, threads_are_taken_when_they_are_whole)
{
#define TABLES \
	"\"stackTable\":{\"frame\":[0,0],\"prefix\":[null,0]},\"frameTable\":{\"func\":[0]},\"funcTable\":" \
	"{\"name\":[0]},\"stringArray\":[\"f\"]"
#define SHARED  "\"shared\":{" TABLES "}"
#define THREADS "\"threads\":[{\"samples\":{\"stack\":[1]}},{\"samples\":{\"stack\":[1,0]}}]"
#define OWN     "\"threads\":[{\"samples\":{\"stack\":[1]}," TABLES "}]"
	static const struct {
		const char *text;
		size_t taken;
		const char *rows;
	} cases[] = {
		{ "{\"meta\":{\"interval\":1}," SHARED "," THREADS "}", 3, "f:/3/3 " },
		{ "{\"meta\":{\"interval\":1}," THREADS "," SHARED "}", 0, "f:/3/3 " },
		{ "{" SHARED "," THREADS ",\"meta\":{\"interval\":1}}", 0, "f:/3/3 " },
		{ "{\"meta\":{\"interval\":1}," SHARED "," THREADS "," SHARED "," THREADS "," SHARED
		  "}",
		  6, "f:/6/6 " },
		{ "{\"meta\":{\"interval\":1}," OWN "}", 1, "f:/1/1 " },
	};
#undef TABLES
#undef SHARED
#undef THREADS
#undef OWN

	for (size_t i = 0; i < N(cases); i++) {
		size_t n = strlen(cases[i].text), taken = 0;
		struct input *in = input_of_bytes(cases[i].text, n, "x.json");
		struct firefox_text t = { .take = count_taken, .arg = &taken };
		struct profile *p = profile_new();
		struct json_end end;
		struct err e = ERR_INIT;
		char *rows;
		int rc;

		cr_assert_eq(firefox_text_read(&t, p, in, &end, NULL, &e), 0);
		cr_expect_eq(taken, cases[i].taken, "%zu: %zu", i, taken);
		firefox_text_done(&t);
		free(end.why);
		profile_free(p);
		input_close(in);
		p = read_as(format_by_name("firefox"), cases[i].text, n, &rc, &e);
		cr_assert_eq(rc, 0, "%s", err_text(&e));
		rows = rows_of(p, NULL);
		cr_expect_str_eq(rows, cases[i].rows, "%zu: %s", i, rows);
		free(rows);
		profile_free(p);
		fuzz_vary(fuzz_json, cases[i].text, n, 50);
	}
}

/* Samples of speedscope are kept as what differs from the one before, of frames of any number. */
Test(json_formats, samples_of_speedscope_share_outer_frames)
{
	static const char samples[] =
		"[0,65534,65535],[0,65534,65535],[0,65534,69999],[0],[],"
		"[0,65534,70000,1],[0,65534,70000],[0,65534],[65536,0],[1,1,1],[1]";
	size_t room = 70000 * 20 + 1000, n;
	char *text = xmalloc(room), *rows;
	struct err e = ERR_INIT;
	struct profile *p;
	int rc;

	n = (size_t)snprintf(
		text, room,
		"{\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[%s],"
		"\"weights\":[1,2,4,8,16,32,64,128,256,512,1024]}],\"shared\":{\"frames\":[",
		samples);
	for (int i = 0; i < 70000; i++)
		n += (size_t)snprintf(text + n, room - n, "%s{\"name\":\"f%d\"}", i ? "," : "", i);
	n += (size_t)snprintf(text + n, room - n, "]}}");
	p = read_as(format_by_name("speedscope"), text, n, &rc, &e);
	cr_assert_eq(rc, 0, "%s", err_text(&e));
	rows = rows_of(p, NULL);
	cr_expect_str_eq(rows, "f0:/264/399 f1:/1536/1536 f65534:/128/135 f65535:/3/3 "
			       "f65536:/0/256 f69999:/4/4 ");
	cr_expect(has_loss(p, "2 rows of frames that are not in the file"));
	free(rows);
	profile_free(p);
	free(text);
}

/* What is nested without end is no reason to fail. */
/* The lines that samples of V8 were at: in files how many of a node's, in chunks of a trace that of each. */
Test(json_formats, lines_of_v8)
{
	static const struct {
		const char *format, *text, *rows;
	} cases[] = {
		{ "v8",
		  "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\",\"url\":\"a.js\",\"lineNumber\":0},"
		  "\"children\":[2]},{\"id\":2,\"callFrame\":{\"functionName\":\"g\",\"url\":\"a.js\","
		  "\"lineNumber\":4},\"positionTicks\":[{\"line\":6,\"ticks\":2},{\"line\":7,\"ticks\":1}]}],"
		  "\"startTime\":0,\"endTime\":5,\"samples\":[2,2,2,2,1],\"timeDeltas\":[0,1,1,1,1]}",
		  "a.js:1:a.js/1000/5000 a.js:5:a.js/1000/1000 a.js:6:a.js/2000/2000 a.js:7:a.js/1000/1000 " },
		{ "v8",
		  "{\"nodes\":[{\"id\":2,\"hitCount\":5,\"callFrame\":{\"functionName\":\"g\",\"url\":\"a.js\","
		  "\"lineNumber\":4},\"positionTicks\":[{\"line\":6,\"ticks\":2},{\"line\":5,\"ticks\":1},{}]}]}",
		  "a.js:5:a.js/3/3 a.js:6:a.js/2/2 " },
		{ "chrome-trace",
		  "[{\"name\":\"ProfileChunk\",\"pid\":7,\"tid\":9,\"id\":1,\"ph\":\"P\",\"args\":{\"data\":{"
		  "\"cpuProfile\":{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\",\"url\":\"a.js\","
		  "\"lineNumber\":0}}],\"samples\":[1,1]},\"timeDeltas\":[1,2],\"lines\":[3,0]}}},"
		  "{\"name\":\"ProfileChunk\",\"pid\":7,\"tid\":9,\"id\":1,\"args\":{\"data\":{"
		  "\"cpuProfile\":{\"samples\":[1]},\"timeDeltas\":[4],\"lines\":[9],\"endTime\":10}}}]",
		  "a.js:1:a.js/4000/4000 a.js:3:a.js/2000/2000 a.js:9:a.js/3000/3000 " },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct err e = ERR_INIT;
		struct profile *p;
		char *rows;
		int rc;

		p = read_as(format_by_name(cases[i].format), cases[i].text, strlen(cases[i].text),
			    &rc, &e);
		cr_assert_eq(rc, 0, "%s", err_text(&e));
		rows = rows_by(p, GROUP_LINE, NULL);
		cr_expect_str_eq(rows, cases[i].rows, "%zu: %s", i, rows);
		free(rows);
		profile_free(p);
	}
}

Test(json_formats, nested_deeply)
{
	size_t n = 1000000;
	char *text = xmalloc(2 * n + 64),
	     *at = text + sprintf(text, "{\"meta\":{\"interval\":1},\"x\":");
	struct err e = ERR_INIT;
	struct profile *p;
	int rc;

	memset(at, '[', n);
	memset(at + n, ']', n);
	at[2 * n] = '}';
	p = read_as(format_by_name("firefox"), text, (size_t)(at - text) + 2 * n + 1, &rc, &e);
	cr_expect(rc == -EBADMSG && strstr(err_text(&e), "without a sample"), "%d %s", rc,
		  err_text(&e));
	profile_free(p);
	err_clear(&e);
	free(text);
}

/* Converters of one recording by perf: what functions did themselves is the same in all. */
Test(json_formats, the_same_recording_in_three_formats)
{
	static const char *const paths[] = { "/made/gecko/fp_threads.gecko.json",
					     "/made/gecko/fp_threads.gecko.json.gz" };
	char *first = NULL;

	if (access(CORPUS "/made/gecko", R_OK) != 0)
		cr_skip("skipped: no corpus");
	for (size_t i = 0; i < N(paths); i++) {
		char *path = xasprintf("%s%s", CORPUS, paths[i]), *rows;
		struct profile *p = profile_new();
		struct err e = ERR_INIT;
		struct input *in;
		capture_id c;

		cr_assert_eq(input_open(path, &in, &e), 0);
		builder_begin(p);
		c = build_capture(p, path, "firefox");
		builder_end(p);
		cr_assert_eq(format_by_name("firefox")->read(in, p, c, NULL, NULL, &e), 0);
		rows = rows_of(p, NULL);
		cr_expect(strstr(rows, "mapwork():threads/528/553 "), "%s", rows);
		cr_expect(!first || !strcmp(first, rows));
		free(first);
		first = rows;
		input_close(in);
		profile_free(p);
		free(path);
	}
	free(first);
}

/*
 * Frames as samply leaves them: an address in a library, and no name but that. Those of a file that is here, by its build-id, are named;
 * those of another build, of no build-id, and of no file are "[name]", and info says so. Names of the text stay.
 */
Test(json_formats, addresses_in_libraries_are_named)
{
	static const char form[] =
		"{\"meta\":{\"interval\":1,\"preprocessedProfileVersion\":57},\"libs\":["
		"{\"name\":\"demo\",\"path\":\"%s/demo\","
		"\"codeId\":\"32643c76f7d37e7439ba4965b451d2d48106f28e\"},"
		"{\"name\":\"demo\",\"path\":\"%s/demo\","
		"\"codeId\":\"00643c76f7d37e7439ba4965b451d2d48106f28e\"},"
		"{\"name\":\"gone.so\",\"path\":\"/gone/gone.so\",\"codeId\":null}],"
		"\"threads\":[{\"name\":\"w\",\"pid\":1,\"tid\":1,\"samples\":{\"stack\":"
		"[1,2,3,4,5],\"time\":[1,2,3,4,5],\"weight\":[1,2,4,8,16]},\"stringArray\":[\"0x1511\","
		"\"0x1751\",\"0x10\",\"plain\",\"0x1d\"],\"resourceTable\":{\"lib\":[0,1,2],"
		"\"name\":[0,0,0]},\"stackTable\":{\"frame\":[0,1,2,3,4,5],\"prefix\":[null,0,0,0,0,0]},"
		"\"frameTable\":{\"address\":[5393,5969,5969,16,5393,-1],\"nativeSymbol\":[null,null,null,"
		"null,0,null],\"func\":[0,1,2,3,4,5]},\"funcTable\":{\"name\":[0,1,1,2,3,4],"
		"\"resource\":[0,0,1,2,0,0]}}]}";
	char *dir = realpath(TEST_DATA, NULL), *text = xasprintf(form, dir, dir);
	const struct format *f = format_by_name("firefox");
	struct err e = ERR_INIT;
	struct profile *p;
	char *rows;
	int rc;

	p = read_as(f, text, strlen(text), &rc, &e);
	cr_assert_eq(rc, 0, "%s", err_text(&e));
	rows = rows_of(p, NULL);
	cr_expect_str_eq(rows,
			 "0x1d:demo/16/16 [demo]:demo/2/2 [gone.so]:gone.so/4/4 "
			 "pack_block:demo/1/1 parse_line:demo/0/31 plain:demo/8/8 ",
			 "%s", rows);
	cr_expect(has_loss(p, "1 address without a name: no file here has its build-id, 00643c76"));
	cr_expect(has_loss(p, "1 address without a name: the profile has no build-id of it"));
	profile_free(p);
	free(rows);
	free(text);
	free(dir);
}

/* Markers are numbers and times on the timeline of their thread; categories are labels of what is in them. */
Test(json_formats, markers_and_categories_of_firefox)
{
	static const struct {
		const char *filter, *event;
		int64_t total;
	} sums[] = {
		{ "", "samples", 3 },
		{ "label:^category=GC", "samples", 2 },
		{ "", "markers", 5 },
		{ "fn:^tick$", "markers", 3 },
		{ "module:markers", "markers", 5 },
		{ "label:GC", "markers", 2 },
		{ "", "marker-time", 3500000 },
		{ "fn:^load$", "marker-time", 3000000 },
		{ "time:,0.0025", "markers", 3 },
	};

	for (size_t i = 0; i < N(marked); i++) {
		struct err e = ERR_INIT;
		int rc;
		struct profile *p = read_as(format_by_name("firefox"), marked[i], strlen(marked[i]),
					    &rc, &e);

		cr_assert_eq(rc, 0, "%s", err_text(&e));
		cr_expect(has_loss(p, "2 without their begin or end"));
		for (size_t k = 0; k < N(sums); k++) {
			struct analysis *a;
			struct lens lens;
			struct metric m;

			lens_init(&lens, p);
			cr_assert_eq(metric_find(p, sums[k].event, "", &m, &e), 0, "%s",
				     err_text(&e));
			lens_choose(&lens, p, m);
			cr_assert_eq(filter_parse(sums[k].filter, &lens.filter, &e), 0);
			cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
			cr_expect_eq(a->weights.total[0], sums[k].total, "%zu: %s of %s: %ld", i,
				     sums[k].event, sums[k].filter, (long)a->weights.total[0]);
			analysis_free(a);
			lens_done(&lens);
		}
		profile_free(p);
	}
}

/* Each process of Gecko's has its own beginning, and its own libraries at the addresses that are its frames. */
Test(json_formats, processes_of_gecko)
{
#define ID "\"codeId\":\"00112233445566778899aabbccddeeff00112233\""
#define THREAD(tid, samples, stacks, frames, strings) \
	"\"threads\":[{\"tid\":" tid ",\"pid\":" tid \
	",\"samples\":{\"schema\":{\"stack\":0,\"time\":1},\"data\":[" samples "]}," \
	"\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[" stacks \
	"]},\"frameTable\":{\"schema\":{\"location\":0}," \
	"\"data\":[" frames "]},\"stringTable\":[" strings "]}]"
	static const char text[] =
		"{\"meta\":{\"interval\":1,\"stackwalk\":1,\"startTime\":1000.5},\"libs\":[{\"name\":\"a.so\",\"path\":"
		"\"/none/a.so\",\"start\":4096,\"end\":8192,\"offset\":0," ID "}]," THREAD(
			"1", "[0,1.0]", "[null,0]", "[0]",
			"\"0x1010\"") ",\"processes\":[{\"libs\":[{\"name\":\"\",\"path\":\"\",\"start\":12288,\"end\":16384," ID
				      "},{\"name\":\"b.so\",\"path\":\"/none/b.so\",\"start\":4096,\"end\":8192}]," THREAD(
					      "2", "[0,1.0],[2,2.0],[3,3.0],[4,4.0]",
					      "[null,0],[null,1],[1,2],[null,3],[null,4]",
					      "[0],[1],[2],[3],[4]",
					      "\"0x3010\",\"0x1010\",\"0x2000\",\"go (x.js:5:1)[3]\",\"0x3fff\"") ",\"meta\":{\"startTime\":"
														  "1250.5}}]}";
#undef ID
#undef THREAD
	struct sample_columns c;
	struct err e = ERR_INIT;
	struct profile *p;
	char *rows;
	int rc;

	p = read_as(format_by_name("firefox"), text, sizeof(text) - 1, &rc, &e);
	cr_assert_eq(rc, 0, "%s", err_text(&e));
	rows = rows_of(p, NULL);
	cr_expect_str_eq(rows, "0x2000:/1/1 [a.so]:a.so/3/3 [b.so]:b.so/0/1 go:x.js/1/1 ");
	profile_samples(p, &c);
	cr_expect_eq(c.time_ns[0], 1000000);
	cr_expect_eq(c.time_ns[1], 251000000, "%ld", (long)c.time_ns[1]);
	free(rows);
	profile_free(p);
	fuzz_vary(fuzz_json, text, sizeof(text) - 1, 150);
}

/* Each number as it was, to its last bit, and nothing where there was none or no more. */
Test(json_formats, series_of_firefox_are_exact)
{
	const double given[] = { 0,
				 1,
				 -1,
				 -0.0,
				 NAN,
				 10.501472,
				 10.501473,
				 0.1,
				 1.0 / 3,
				 -2.5,
				 1e9 - 1,
				 1e9,
				 999999999.999999,
				 123456789.123456,
				 1e15,
				 -1e15,
				 9007199254740993.0,
				 5e-324,
				 1.7976931348623157e308,
				 UINT32_MAX,
				 4294967294.0 };
	struct firefox_series s = { 0 }, repeated = { 0 };
	struct firefox_cursor c;

	for (size_t i = 0; i < 1000 * N(given); i++)
		firefox_series_add(&s, given[i % N(given)]);
	c = firefox_series_begin(&s);
	for (size_t i = 0; i < 1000 * N(given); i++) {
		double x = firefox_series_next(&c), want = given[i % N(given)];

		cr_assert(isnan(want) ? isnan(x) : memcmp(&x, &want, sizeof(x)) == 0,
			  "%zu: %.17g, not %.17g", i, x, want);
	}
	cr_expect(isnan(firefox_series_next(&c)));
	cr_expect_eq(firefox_series_next_index(&c), FIREFOX_NONE);
	firefox_series_done(&s);

	firefox_series_add_index(&s, FIREFOX_NONE);
	firefox_series_add_index(&s, FIREFOX_NONE - 1);
	firefox_series_add_index(&s, 0);
	c = firefox_series_begin(&s);
	cr_expect_eq(firefox_series_next_index(&c), FIREFOX_NONE);
	cr_expect_eq(firefox_series_next_index(&c), FIREFOX_NONE - 1);
	cr_expect_eq(firefox_series_next_index(&c), 0);
	for (size_t i = 0; i < 1000; i++)
		firefox_series_add(&repeated, 10.501472);
	cr_expect_lt(repeated.bytes.n, 1010, "%zu bytes for what is the same", repeated.bytes.n);
	firefox_series_done(&repeated);
	firefox_series_done(&s);
}
