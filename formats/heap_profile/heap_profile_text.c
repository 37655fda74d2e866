/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/heap_profile/heap_profile_text.h"

#include "profile/builder.h"

#include <string.h>

/* What of a line is left. */
struct rest {
	const char *s, *end;
};

static void skip_blanks(struct rest *r)
{
	while (r->s < r->end && (*r->s == ' ' || *r->s == '\t'))
		r->s++;
}

static bool take(struct rest *r, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(r->end - r->s) < n || memcmp(r->s, text, n) != 0)
		return false;
	r->s += n;
	return true;
}

static bool take_decimal(struct rest *r, uint64_t *to)
{
	uint64_t v = 0;
	const char *from;

	skip_blanks(r);
	for (from = r->s; r->s < r->end && *r->s >= '0' && *r->s <= '9'; r->s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*r->s - '0'), &v))
			return false;
	*to = v;
	return r->s > from;
}

/* Digits without "0x". */
static bool take_digits(struct rest *r, uint64_t *to)
{
	uint64_t v = 0;
	const char *from;

	for (from = r->s; r->s < r->end; r->s++) {
		unsigned char c = (unsigned char)*r->s;
		unsigned digit = c >= '0' && c <= '9'   ? c - (unsigned)'0'
				 : c >= 'a' && c <= 'f' ? c - (unsigned)'a' + 10
				 : c >= 'A' && c <= 'F' ? c - (unsigned)'A' + 10
							: 16;

		if (digit > 15)
			break;
		if (v >> 60 != 0)
			return false;
		v = v << 4 | digit;
	}
	*to = v;
	return r->s > from;
}

static bool take_address(struct rest *r, uint64_t *to)
{
	skip_blanks(r);
	return take(r, "0x") && take_digits(r, to);
}

/* "13: 1595680 [47: 25845]". */
static bool take_numbers(struct rest *r, uint64_t number[N_HEAP_PROFILE_NUMBERS])
{
	static const char *const behind[N_HEAP_PROFILE_NUMBERS] = { ":", "[", ":", "]" };

	for (int i = 0; i < N_HEAP_PROFILE_NUMBERS; i++) {
		if (!take_decimal(r, &number[i]))
			return false;
		skip_blanks(r);
		if (!take(r, behind[i]))
			return false;
	}
	return true;
}

/* Kinds behind the '@' of a head; those with a slash have the rate of sampling there. */
static const struct {
	const char *text;
	enum heap_profile_kind kind;
	unsigned twice; /* the rate stands there times this */
} kinds[] = {
	{ "heapprofile", HEAP_PROFILE_EXACT, 1 },    { "heapz_v2/", HEAP_PROFILE_SAMPLED, 1 },
	{ "heap_v2/", HEAP_PROFILE_SAMPLED, 1 },     { "heap/", HEAP_PROFILE_SAMPLED, 2 },
	{ "growthz", HEAP_PROFILE_GROWTH, 1 },       { "growth", HEAP_PROFILE_GROWTH, 1 },
	{ "fragmentationz", HEAP_PROFILE_EXACT, 1 },
};

static bool take_kind(struct heap_profile_text *t, struct rest *r)
{
	skip_blanks(r);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!take(r, kinds[i].text))
			continue;
		if (kinds[i].kind == HEAP_PROFILE_SAMPLED && !take_decimal(r, &t->rate))
			return false;
		t->kind = kinds[i].kind;
		t->rate /= kinds[i].twice;
		return true;
	}
	return false;
}

static bool take_head(struct heap_profile_text *t, struct rest r)
{
	uint64_t sums[N_HEAP_PROFILE_NUMBERS];

	if (take(&r, "heap profile:")) {
		if (!take_numbers(&r, sums))
			return false;
		skip_blanks(&r);
		return take(&r, "@") && take_kind(t, &r);
	}
	if (!take(&r, "heap_v2/") || !take_decimal(&r, &t->rate) || r.s != r.end)
		return false;
	t->kind = HEAP_PROFILE_SAMPLED;
	t->jemalloc = true;
	return true;
}

bool heap_profile_text_is_head(const char *s, size_t n)
{
	struct heap_profile_text t = { 0 };
	struct rest r = { s, s + n };

	return take_head(&t, r) || take(&r, "--- symbol");
}

/* Samples. */

static bool take_addresses(struct heap_profile_text *t, struct rest *r,
			   struct heap_profile_sample *s)
{
	uint64_t address;

	s->first = t->addresses.n;
	while (take_address(r, &address))
		vec_push(&t->addresses, address);
	s->n = t->addresses.n - s->first;
	skip_blanks(r);
	return r->s == r->end;
}

static const char *take_sample(struct heap_profile_text *t, struct rest r)
{
	struct heap_profile_sample s = { 0 };

	if (!take_numbers(&r, s.number))
		return "has no four numbers";
	skip_blanks(&r);
	if (!take(&r, "@"))
		return "has no stack";
	if (!take_addresses(t, &r, &s)) {
		t->addresses.n = s.first;
		return "has something in its stack that is no address";
	}
	vec_push(&t->samples, s);
	return NULL;
}

/* A stack of jemalloc's, whose numbers follow. */
static const char *take_stack(struct heap_profile_text *t, struct rest r)
{
	struct heap_profile_sample s = { 0 };
	bool without = t->open;

	if (t->open)
		t->samples.n--;
	t->open = false;
	if (!take_addresses(t, &r, &s)) {
		t->addresses.n = s.first;
		return "has something in its stack that is no address";
	}
	vec_push(&t->samples, s);
	t->open = true;
	return without ? "is behind a stack without numbers" : NULL;
}

/* "  t*: 46: 2207 [0: 0]": of all threads, or "t7:" of one. Before the first stack it is of all stacks. */
static const char *take_thread(struct heap_profile_text *t, struct rest r)
{
	uint64_t number[N_HEAP_PROFILE_NUMBERS], thread;

	if (!take(&r, "*:")) {
		if (!take_decimal(&r, &thread) || !take(&r, ":") || !take_numbers(&r, number))
			return "has no numbers of a thread";
		t->n_threads++;
		return NULL;
	}
	if (!take_numbers(&r, number))
		return "has no four numbers";
	if (!t->open)
		return t->samples.n > 0 ? "is behind no stack" : NULL;
	memcpy(t->samples.at[t->samples.n - 1].number, number, sizeof(number));
	t->open = false;
	return NULL;
}

/* Names. */

/* A name without "+0x5f" at its end. */
static size_t without_offset(const char *s, size_t n)
{
	for (size_t i = n; i-- > 1;)
		if (s[i] == 'x' && i >= 2 && s[i - 1] == '0' && s[i - 2] == '+')
			return i - 2;
	return n;
}

/* "#	0x4a5c1f	main.main+0x5f	/x/main.go:12"; other comments are passed over. */
static void take_comment(struct heap_profile_text *t, struct rest r)
{
	struct heap_profile_name name = { .n_samples = t->samples.n };
	const char *from, *colon;
	uint64_t line;

	if (!take_address(&r, &name.address))
		return;
	skip_blanks(&r);
	for (from = r.s; r.s < r.end && *r.s != '\t';)
		r.s++;
	if (r.s == from)
		return;
	name.name = build_string(t->p, from, without_offset(from, (size_t)(r.s - from))).v;
	skip_blanks(&r);
	colon = memrchr(r.s, ':', (size_t)(r.end - r.s));
	if (colon) {
		struct rest number = { colon + 1, r.end };

		name.file = build_string(t->p, r.s, (size_t)(colon - r.s)).v;
		if (take_decimal(&number, &line) && line < UINT32_MAX)
			name.line = (uint32_t)line;
	}
	vec_push(&t->names, name);
}

/* "0x000055e5639c4195 large<0000000000001184>" of jeprof --raw: of the address of the call, one less than in stacks. */
static const char *take_symbol(struct heap_profile_text *t, struct rest r)
{
	struct heap_profile_name name = { 0 };
	const char *angle;
	size_t n;

	if (take(&r, "---")) {
		t->in_symbols = false;
		return NULL;
	}
	if (take(&r, "binary="))
		return NULL;
	if (!take_address(&r, &name.address) || name.address == UINT64_MAX)
		return "has no address";
	skip_blanks(&r);
	n = (size_t)(r.end - r.s);
	angle = n > 0 && r.end[-1] == '>' ? memrchr(r.s, '<', n) : NULL;
	if (angle && (size_t)(r.end - angle) == 18)
		n = (size_t)(angle - r.s);
	if (n == 0 || (n > 2 && memcmp(r.s, "0x", 2) == 0))
		return NULL;
	name.address++;
	name.name = build_string(t->p, r.s, n).v;
	vec_push(&t->names, name);
	return NULL;
}

/* "55e5639c4000-55e5639c5000 r-xp 00001000 fe:00 10363766    /bin/prog"; what has no file is passed over. */
static const char *take_map(struct heap_profile_text *t, struct rest r)
{
	struct heap_profile_map m = { 0 };
	char rights[4];

	skip_blanks(&r);
	if (r.s == r.end || take(&r, "build="))
		return NULL;
	if (!take_digits(&r, &m.start) || !take(&r, "-") || !take_digits(&r, &m.end) ||
	    !take(&r, " ") || r.end - r.s < 5)
		return "is no mapping";
	memcpy(rights, r.s, sizeof(rights));
	r.s += sizeof(rights);
	skip_blanks(&r);
	if (!take_digits(&r, &m.offset))
		return "is no mapping";
	m.executable = rights[2] == 'x';
	r.s = memchr(r.s, '/', (size_t)(r.end - r.s));
	if (!r.s || m.end <= m.start)
		return NULL;
	m.path = build_string(t->p, r.s, (size_t)(r.end - r.s)).v;
	vec_push(&t->maps, m);
	return NULL;
}

const char *heap_profile_text_line(struct heap_profile_text *t, const char *s, size_t n)
{
	struct rest r = { s, s + n };

	while (r.end > r.s && (r.end[-1] == '\r' || r.end[-1] == ' '))
		r.end--;
	if (t->in_symbols)
		return take_symbol(t, r);
	if (t->in_maps)
		return take_map(t, r);
	skip_blanks(&r);
	if (r.s == r.end)
		return NULL;
	if (t->kind == HEAP_PROFILE_UNKNOWN) {
		if (take(&r, "--- symbol"))
			t->in_symbols = true;
		else if (!take(&r, "--- ") && !take_head(t, r))
			return "is no head of a heap profile";
		return NULL;
	}
	if (take(&r, "MAPPED_LIBRARIES:") || take(&r, "--- Memory map: ---")) {
		t->in_maps = true;
		return NULL;
	}
	if (take(&r, "#")) {
		take_comment(t, r);
		return NULL;
	}
	if (!t->jemalloc)
		return take_sample(t, r);
	if (take(&r, "@"))
		return take_stack(t, r);
	return take(&r, "t") ? take_thread(t, r) : "is no stack and of no thread";
}

void heap_profile_text_end(struct heap_profile_text *t)
{
	if (t->open)
		t->samples.n--;
	t->open = false;
}

void heap_profile_text_done(struct heap_profile_text *t)
{
	vec_done(&t->samples);
	vec_done(&t->addresses);
	vec_done(&t->names);
	vec_done(&t->maps);
}
