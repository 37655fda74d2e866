/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Legacy CPU profiles into the model: addresses are named by the files that the text of mappings names, or by the file itself. */
#include "config.h"

#include "formats/cpuprofile/cpuprofile.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/task.h"
#include "elf/build_id.h"
#include "formats/cpuprofile/cpuprofile_text.h"
#include "formats/facts.h"
#include "formats/named_frames.h"
#include "input/input.h"
#include "input/whole_input.h"
#include "symbols/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The process that mappings are said to be of: the file names none. */
#define THE_PID   1
#define NS_PER_US 1000
#define BATCH     4096
#define PATH_MOST 4096

struct reader {
	struct profile *p;
	capture_id capture;
	struct cpuprofile_text t;
	struct resolver *resolver;
	struct map by_address; /* of t.names */
	uint32_t *named;       /* [t.names.n] location_id, ID_NONE: not asked for yet; owned */
	event_id samples, cpu;
	uint64_t n_mappings;
	uint64_t n_empty; /* stacks without an address */
	uint64_t n_large; /* that make a sum too large */
	uint64_t n_rows;
};

/* Names that the file has. */

static bool same_address(const void *things, uint32_t value, const void *key)
{
	return ((const struct cpuprofile_name *)things)[value].address == *(const uint64_t *)key;
}

static void index_names(struct reader *r)
{
	r->named = xmalloc((r->t.names.n + 1) * sizeof(*r->named));
	for (uint32_t i = 0; i < r->t.names.n; i++) {
		uint64_t address = r->t.names.at[i].address, hash = hash_u64(address);

		r->named[i] = ID_NONE;
		if (map_find(&r->by_address, hash, same_address, r->t.names.at, &address) ==
		    MAP_NONE)
			map_add(&r->by_address, hash, i);
	}
}

/* "com.example.run (Main.java:12)" has its source behind it. */
static location_id location_named(struct reader *r, const struct cpuprofile_name *name)
{
	const char *open = r->t.is_java && name->n ? memrchr(name->s, '(', name->n) : NULL;
	struct named_frame f = { 0 };
	size_t n = name->n;

	if (open && open > name->s && name->s[n - 1] == ')') {
		const char *colon = memrchr(open, ':', (size_t)(name->s + n - open));
		const char *end = colon ? colon : name->s + n - 1;

		f.file = build_string(r->p, open + 1, (size_t)(end - open) - 1);
		for (const char *d = end + 1; colon && *d >= '0' && *d <= '9' && f.line < 1u << 27;
		     d++)
			f.line = 10 * f.line + (uint32_t)(*d - '0');
		n = (size_t)(open - name->s);
	}
	while (n > 0 && name->s[n - 1] == ' ')
		n--;
	f.name = build_string(r->p, name->s, n);
	if (!r->t.n_binary)
		return named_frame_location(r->p, &f);
	return named_frame_location_in(
		r->p, &f, named_frame_object(r->p, build_string(r->p, r->t.binary, r->t.n_binary)));
}

static uint32_t name_of(const struct reader *r, uint64_t address)
{
	return map_find(&r->by_address, hash_u64(address), same_address, r->t.names.at, &address);
}

/* Where nothing says what an address is of, it is its own name, as in pprof. */
static location_id location_of_address(struct reader *r, uint64_t address)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "0x%" PRIx64, address);
	function_id f = build_function(r->p, build_string(r->p, name, (size_t)n), (module_id){ 0 },
				       FUNCTION_UNRESOLVED, (string_id){ 0 }, 0);

	return build_symbol_location(r->p, f);
}

static location_id locate(struct reader *r, uint64_t address, bool is_caller)
{
	uint32_t i = name_of(r, address);

	/* names of callers are those of where they go on */
	if (i == MAP_NONE && is_caller)
		i = name_of(r, address + 1);
	if (i == MAP_NONE && r->n_mappings == 0)
		return location_of_address(r, address);
	if (i == MAP_NONE)
		return resolver_locate(r->resolver, THE_PID, TIME_NONE, address, MODE_USER, false);
	if (r->named[i] == ID_NONE)
		r->named[i] = location_named(r, &r->t.names.at[i]).v;
	return (location_id){ r->named[i] };
}

/* Mappings. */

/* "55d0-55d8 r-xp 00001000 fd:00 17 /bin/x" */
static void add_mapping(struct reader *r, const char *line, size_t n)
{
	char text[PATH_MOST + 128], perms[8], path[PATH_MOST];
	uint64_t start, limit, offset;
	struct mapping_event m = { .time_ns = INT64_MIN, .pid = THE_PID, .executable = true };

	if (n >= sizeof(text))
		return;
	memcpy(text, line, n);
	text[n] = '\0';
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &start,
		   &limit, perms, &offset, path) != 5 ||
	    limit <= start || !strchr(perms, 'x'))
		return;
	m.start = start;
	m.length = limit - start;
	m.file_offset = offset;
	m.path = path;
	resolver_map(r->resolver, &m);
	r->n_mappings++;
}

static void add_mappings(struct reader *r)
{
	const char *text = r->t.rest, *line;
	size_t n = r->t.is_java ? 0 : r->t.n_rest, n_line;

	while (cpuprofile_text_line(&text, &n, &line, &n_line))
		add_mapping(r, line, n_line);
}

/* Samples. */

static void add_row(struct reader *r, struct sample *s, event_id event, uint64_t count,
		    uint64_t each)
{
	s->event = event;
	if (__builtin_mul_overflow(count, each, &s->weight) || build_sample(r->p, s) < 0)
		r->n_large++;
	else
		r->n_rows++;
}

static bool has_period(const struct reader *r)
{
	return !r->t.is_raw || r->t.period_us > 1;
}

static void add_stack(struct reader *r, const struct cpuprofile_stack *k)
{
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };

	if (k->count == 0)
		return;
	r->n_empty += k->n == 0;
	for (uint32_t i = k->n; i-- > 0;)
		s.stack = build_stack(r->p, s.stack,
				      locate(r, r->t.addresses.at[k->first + i], i > 0));
	add_row(r, &s, r->samples, k->count, 1);
	if (has_period(r))
		add_row(r, &s, r->cpu, k->count, r->t.period_us * NS_PER_US);
}

static int add_stacks(struct reader *r, struct progress *progress)
{
	int rc = 0;

	builder_begin(r->p);
	r->samples = build_summed_event(r->p, "samples", UNIT_COUNT);
	if (has_period(r)) {
		r->cpu = build_summed_event(r->p, "cpu", UNIT_NS);
		build_event_default(r->p, r->cpu);
	}
	add_mappings(r);
	for (size_t i = 0; i < r->t.stacks.n && rc == 0; i++) {
		add_stack(r, &r->t.stacks.at[i]);
		if (i % BATCH != BATCH - 1)
			continue;
		rc = builder_end(r->p);
		builder_begin(r->p);
		if (progress_cancelled(progress))
			rc = -ECANCELED;
	}
	if (builder_end(r->p) < 0 && rc == 0)
		rc = -EFBIG;
	return rc;
}

/* What `info` says. */

static void tell(struct reader *r, const char *cut)
{
	struct profile *p = r->p;
	capture_id c = r->capture;
	char text[FMT_SIZE];

	builder_begin(p);
	build_fact(p, c, "file", "stacks", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)r->t.stacks.n));
	build_fact(p, c, "file", "period", FACT_PLAIN, "%s",
		   has_period(r) ? fmt_ns(text, (int64_t)r->t.period_us * NS_PER_US)
				 : "google-pprof --raw leaves it out");
	build_fact(p, c, "file", "times", FACT_PLAIN, "the format has none");
	if (r->t.n_handler > 0)
		build_fact(p, c, "file", "frames left out", FACT_PLAIN,
			   "%" PRIu64 " of the profiler's signal handler", r->t.n_handler);
	if (!r->t.is_java && r->n_mappings == 0 && r->t.names.n == 0)
		build_fact(p, c, "symbols", "mappings", FACT_MISSING,
			   "none in this file: addresses have no names");
	if (cut)
		build_fact(p, c, "losses", "rest of the file", FACT_LOSS, "%s", cut);
	else if (r->t.cut)
		build_fact(p, c, "losses", "rest of the file", FACT_LOSS,
			   "ends within a stack at offset %zu", r->t.cut_at);
	facts_loss(p, c, "empty stacks", r->n_empty, "stack", "without an address");
	facts_loss(p, c, "sums", r->n_large, "value", "left out, as the sum would be too large");
	builder_end(p);
}

static int read_stacks(struct reader *r, struct input *in, const char *cut,
		       const struct read_options *o, struct progress *progress, struct err *e)
{
	struct resolver_options options = { 0 };
	int rc;

	if (o && o->resolve)
		options = *o->resolve;
	r->resolver = resolver_new(r->p, r->capture, &options);
	index_names(r);
	rc = add_stacks(r, progress);
	if (rc == 0 && r->n_rows == 0)
		return err_set(
			e, -EBADMSG,
			r->t.cut ? "%s: ends within a stack at offset %zu, before its first sample"
				 : "%s: is a CPU profile without a sample",
			input_name(in), r->t.cut_at);
	if (rc == -EFBIG)
		err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	if (rc != -ECANCELED)
		tell(r, cut);
	if (rc == 0)
		rc = resolver_name(r->resolver, progress);
	if (rc == 0)
		rc = resolver_fetch(r->resolver, progress);
	if (rc == 0)
		rc = resolver_inline(r->resolver, progress);
	return rc;
}

static int read_cpuprofile(struct input *in, struct profile *p, capture_id c,
			   const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p, .capture = c };
	struct whole_input file = { 0 };
	int rc = whole_input_read(&file, in, progress, e);

	if (rc == 0 && !cpuprofile_text_read(&r.t, file.bytes, file.n))
		rc = err_set(e, -EBADMSG, "%s: ends before the head of its CPU profile",
			     input_name(in));
	else if (rc == 0)
		rc = read_stacks(&r, in, file.cut, o, progress, e);
	if (rc == -ECANCELED)
		err_set(e, rc, "%s: reading was stopped", input_name(in));
	resolver_free(r.resolver);
	map_done(&r.by_address);
	free(r.named);
	cpuprofile_text_done(&r.t);
	whole_input_done(&file);
	return rc;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return cpuprofile_text_begins(bytes, n) ? FORMAT_SURE + 20 : 0;
}

const struct format format_cpuprofile = {
	.name = "cpuprofile",
	.title = "legacy CPU profiles of gperftools and Java (pprof's old format)",
	.probe = probe,
	.read = read_cpuprofile,
};
