/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of callgrind.out, one by one, into tables. */
#include "config.h"

#include "formats/callgrind/callgrind_text.h"

#include "base/hash.h"
#include "profile/builder.h"

#include <string.h>

/* A piece of a line. */
struct span {
	const char *s;
	size_t n;
};

static struct span without_blanks(struct span t)
{
	while (t.n > 0 && (t.s[0] == ' ' || t.s[0] == '\t')) {
		t.s++;
		t.n--;
	}
	while (t.n > 0 && strchr(" \t\r", t.s[t.n - 1]))
		t.n--;
	return t;
}

/* Takes a prefix off the text. */
static bool takes(struct span *t, const char *prefix)
{
	size_t n = strlen(prefix);

	if (t->n < n || memcmp(t->s, prefix, n) != 0)
		return false;
	*t = without_blanks((struct span){ t->s + n, t->n - n });
	return true;
}

/* Takes a word off the text; empty at its end. */
static struct span word(struct span *t)
{
	struct span w = { t->s, 0 };

	while (w.n < t->n && t->s[w.n] != ' ' && t->s[w.n] != '\t')
		w.n++;
	*t = without_blanks((struct span){ t->s + w.n, t->n - w.n });
	return w;
}

/* Decimal, or hexadecimal behind 0x; false for all else. */
static bool number(struct span w, uint64_t *out)
{
	bool hex = w.n > 2 && w.s[0] == '0' && (w.s[1] == 'x' || w.s[1] == 'X');
	uint64_t base = hex ? 16 : 10, x = 0;

	if (w.n == 0)
		return false;
	for (size_t i = hex ? 2 : 0; i < w.n; i++) {
		unsigned char c = (unsigned char)w.s[i];
		uint64_t digit = c >= '0' && c <= '9' ? (uint64_t)(c - '0') : UINT64_MAX;

		if (hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (uint64_t)(c | 0x20) - 'a' + 10;
		if (digit == UINT64_MAX || __builtin_mul_overflow(x, base, &x) ||
		    __builtin_add_overflow(x, digit, &x))
			return false;
	}
	*out = x;
	return true;
}

/* "*", "+3" and "-3" are told by what was before. */
static bool number_after(struct span w, uint64_t before, uint64_t *out)
{
	struct span rest = { w.s + 1, w.n - 1 };

	if (w.n == 1 && w.s[0] == '*') {
		*out = before;
		return true;
	}
	if (w.n > 1 && (w.s[0] == '+' || w.s[0] == '-')) {
		if (!number(rest, out))
			return false;
		*out = w.s[0] == '+' ? before + *out : before - *out;
		return true;
	}
	return number(w, out);
}

static string_id text_of(struct callgrind_text *t, struct span s)
{
	/* what valgrind does not know the file of */
	if (s.n == 3 && memcmp(s.s, "???", 3) == 0)
		s.n = 0;
	return s.n > 0 ? build_string(t->text.p, s.s, s.n) : (string_id){ 0 };
}

/* Names. */

struct name_key {
	enum callgrind_kind kind;
	uint64_t number;
};

static bool same_name(const void *things, uint32_t value, const void *key)
{
	const struct callgrind_name *n = &((const struct callgrind_name *)things)[value];
	const struct name_key *k = key;

	return n->kind == k->kind && n->number == k->number;
}

/* "name", "(12) name", or "(12)" of a name that was given before. */
static string_id name_of(struct callgrind_text *t, enum callgrind_kind kind, struct span s)
{
	const char *close = s.n > 2 && s.s[0] == '(' ? memchr(s.s, ')', s.n) : NULL;
	struct name_key key = { .kind = kind };
	uint64_t hash;
	struct span rest;
	uint32_t at;

	if (!close || !number((struct span){ s.s + 1, (size_t)(close - s.s) - 1 }, &key.number))
		return text_of(t, s);
	rest = without_blanks((struct span){ close + 1, s.n - (size_t)(close - s.s) - 1 });
	hash = hash_u64(key.number * N_CALLGRIND_KINDS + kind);
	at = map_find(&t->by_number, hash, same_name, t->names.at, &key);
	if (rest.n == 0) {
		t->n_unnamed += at == MAP_NONE;
		return at == MAP_NONE ? text_of(t, s) : t->names.at[at].name;
	}
	if (at == MAP_NONE) {
		at = (uint32_t)t->names.n;
		vec_push(&t->names, ((struct callgrind_name){ kind, key.number, { 0 } }));
		map_add(&t->by_number, hash, at);
	}
	t->names.at[at].name = text_of(t, rest);
	return t->names.at[at].name;
}

static bool same_function(const void *things, uint32_t value, const void *key)
{
	const struct callgrind_function *f = &((const struct callgrind_function *)things)[value],
					*k = key;

	return f->name.v == k->name.v && f->file.v == k->file.v && f->object.v == k->object.v;
}

static uint32_t function_of(struct callgrind_text *t, string_id name, string_id file,
			    string_id object)
{
	struct callgrind_function f = { .name = name, .file = file, .object = object };
	uint64_t hash = hash_u64(hash_pair(name.v, file.v) ^ object.v);
	uint32_t at = map_find(&t->by_function, hash, same_function, t->functions.at, &f);

	if (at == MAP_NONE) {
		at = (uint32_t)t->functions.n;
		vec_push(&t->functions, f);
		map_add(&t->by_function, hash, at);
	}
	return at;
}

/* Costs. */

static bool same_item(const void *things, uint32_t value, const void *key)
{
	const struct callgrind_item *i = &((const struct callgrind_item *)things)[value], *k = key;

	return i->thread == k->thread && i->function == k->function && i->callee == k->callee &&
	       i->file.v == k->file.v && i->line == k->line;
}

static uint32_t item_of(struct callgrind_text *t, const struct callgrind_item *k)
{
	uint64_t hash = hash_u64(hash_pair(k->function, k->callee) ^ hash_pair(k->line, k->file.v) ^
				 k->thread);
	uint32_t at = map_find(&t->by_item, hash, same_item, t->items.at, k);

	if (at != MAP_NONE)
		return at;
	at = (uint32_t)t->items.n;
	vec_push(&t->items, *k);
	map_add(&t->by_item, hash, at);
	vec_reserve(&t->costs, t->costs.n + t->n_events);
	memset(t->costs.at + t->costs.n, 0, t->n_events * sizeof(*t->costs.at));
	t->costs.n += t->n_events;
	return at;
}

/* Adds a cost to an item's; what functions cost by themselves adds up to the event's total, too. */
static void add_cost(struct callgrind_text *t, uint32_t item, uint32_t event, int64_t cost)
{
	int64_t *to = &t->costs.at[(size_t)item * t->n_events + event], sum, total;

	if (cost < 0) {
		t->n_negative++;
		return;
	}
	if (__builtin_add_overflow(*to, cost, &sum) ||
	    __builtin_add_overflow(t->event[event].total, cost, &total)) {
		t->n_large++;
		return;
	}
	*to = sum;
	if (t->items.at[item].callee == CALLGRIND_NONE)
		t->event[event].total = total;
}

/* The numbers of a line; columns that are missing are zero. */
static bool take_costs(struct callgrind_text *t, struct span s, int64_t *cost)
{
	for (uint32_t i = 0; i < t->n_columns; i++) {
		struct span w = word(&s);
		uint64_t x = 0;

		if (w.n > 1 && w.s[0] == '-' && t->is_xdebug) {
			cost[i] = -1;
			continue;
		}
		if (w.n > 0 && !number_after(w, (uint64_t)t->cost[i], &x))
			return false;
		if (x > INT64_MAX) {
			t->n_large++;
			x = 0;
		}
		cost[i] = (int64_t)x;
	}
	return true;
}

static uint32_t line_of(const struct callgrind_text *t, const uint64_t *position)
{
	uint64_t line = t->line_at == CALLGRIND_NONE ? 0 : position[t->line_at];

	return line < UINT32_MAX ? (uint32_t)line : 0;
}

static bool take_positions(const struct callgrind_text *t, struct span *s, uint64_t *position)
{
	for (uint32_t i = 0; i < t->n_positions; i++)
		if (!number_after(word(s), t->position[i], &position[i]))
			return false;
	return true;
}

static const char *take_cost_line(struct callgrind_text *t, struct span s)
{
	int64_t cost[CALLGRIND_EVENTS], calls = t->calls;
	struct callgrind_item item = { .thread = t->thread,
				       .function = t->function,
				       .callee = t->is_call ? t->called : CALLGRIND_NONE,
				       .file = t->file };
	uint64_t position[2];
	bool any = t->is_call;
	uint32_t at;

	t->calls = 0;
	t->is_call = false;
	if (t->n_events == 0)
		return "has costs of no event";
	if (!take_positions(t, &s, position))
		return "has no position";
	if (!take_costs(t, s, cost))
		return "has no cost";
	memcpy(t->position, position, sizeof(position));
	memcpy(t->cost, cost, t->n_columns * sizeof(*cost));
	if (t->function == CALLGRIND_NONE)
		return "belongs to no function";
	for (uint32_t i = 0; i < t->n_columns; i++)
		any |= cost[i] != 0;
	/* the positions of jumps cost nothing */
	if (!any)
		return NULL;
	item.line = line_of(t, position);
	at = item_of(t, &item);
	if (__builtin_add_overflow(t->items.at[at].calls, calls, &t->items.at[at].calls))
		t->items.at[at].calls = INT64_MAX;
	for (uint32_t i = 0; i < t->n_columns; i++)
		if (t->column[i] != CALLGRIND_NONE)
			add_cost(t, at, t->column[i], cost[i]);
	return NULL;
}

/* "calls=3 51": the next line has what they cost. */
static const char *take_calls(struct callgrind_text *t, struct span s)
{
	uint64_t n, position[2];

	if (!number(word(&s), &n) || n > INT64_MAX)
		return "has no number of calls";
	if (t->called == CALLGRIND_NONE)
		return "calls no function";
	/* none where a part before this one has the call */
	t->calls = (int64_t)n;
	t->is_call = true;
	if (take_positions(t, &s, position)) {
		struct callgrind_function *f = &t->functions.at[t->called];

		f->line = f->line ? f->line : line_of(t, position);
	}
	return NULL;
}

/* The head. */

/* Xdebug's "Time_(10ns)" and pprof's "cpu(ms)" have the unit behind the name; pprof's MB are of 1,024 kB. */
static struct callgrind_event event_named(struct callgrind_text *t, struct span w)
{
	static const struct {
		const char *name;
		enum unit unit;
		int64_t each;
	} units[] = {
		{ "ns)", UNIT_NS, 1 },          { "us)", UNIT_NS, 1000 },
		{ "ms)", UNIT_NS, 1000000 },    { "s)", UNIT_NS, 1000000000 },
		{ "bytes)", UNIT_BYTES, 1 },    { "B)", UNIT_BYTES, 1 },
		{ "kB)", UNIT_BYTES, 1 << 10 }, { "MB)", UNIT_BYTES, 1 << 20 },
		{ "GB)", UNIT_BYTES, 1 << 30 }, { "count)", UNIT_COUNT, 1 },
	};
	struct callgrind_event e = { .unit = UNIT_COUNT, .each = 1 };
	const char *open = memchr(w.s, '(', w.n);
	struct span unit = { open, open ? w.n - (size_t)(open - w.s) : 0 };
	int64_t each = 0;

	if (open) {
		takes(&unit, "(");
		for (; unit.n > 0 && *unit.s >= '0' && *unit.s <= '9' && each < 1000000000;
		     unit.n--)
			each = 10 * each + (*unit.s++ - '0');
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units) && open && open > w.s; i++) {
		if (unit.n != strlen(units[i].name) || memcmp(unit.s, units[i].name, unit.n) != 0)
			continue;
		e.unit = units[i].unit;
		e.each = units[i].each * (each ? each : 1);
		w.n = (size_t)(open - w.s);
		w.n -= w.n > 1 && w.s[w.n - 1] == '_';
	}
	e.name = build_string(t->text.p, w.s, w.n);
	return e;
}

/* Those of one name in different units are different events: the later one has its unit in its name. */
static uint32_t event_of(struct callgrind_text *t, struct span w)
{
	struct callgrind_event named = event_named(t, w);
	string_id whole = build_string(t->text.p, w.s, w.n);
	bool taken = false;

	for (uint32_t i = 0; i < t->n_events; i++) {
		const struct callgrind_event *e = &t->event[i];

		if (e->name.v != named.name.v && e->name.v != whole.v)
			continue;
		if (e->unit == named.unit && e->each == named.each)
			return i;
		taken = true;
	}
	named.name = taken ? whole : named.name;
	/* rows of costs are as long as there were events when the first came */
	if (t->n_events == CALLGRIND_EVENTS || t->items.n > 0)
		return CALLGRIND_NONE;
	t->event[t->n_events] = named;
	return t->n_events++;
}

static const char *take_events(struct callgrind_text *t, struct span s)
{
	struct span w;

	t->n_columns = 0;
	while ((w = word(&s)).n > 0) {
		uint32_t event = event_of(t, w);

		if (t->n_columns == CALLGRIND_EVENTS)
			return "has too many events";
		t->cost[t->n_columns] = 0;
		t->column[t->n_columns++] = event;
		if (event == CALLGRIND_NONE)
			return "has an event that the first part has not";
	}
	return t->n_columns > 0 ? NULL : "names no event";
}

static const char *take_position_names(struct callgrind_text *t, struct span s)
{
	struct span w;

	t->n_positions = 0;
	t->line_at = CALLGRIND_NONE;
	while ((w = word(&s)).n > 0 && t->n_positions < 2) {
		if (w.n == 4 && memcmp(w.s, "line", 4) == 0)
			t->line_at = t->n_positions;
		t->n_positions++;
	}
	if (t->n_positions == 0)
		return "names no position";
	t->has_lines |= t->line_at != CALLGRIND_NONE;
	return NULL;
}

static void set_thread(struct callgrind_text *t, int64_t number)
{
	for (size_t i = 0; i < t->threads.n; i++)
		if (t->threads.at[i] == number) {
			t->thread = (uint32_t)i;
			return;
		}
	t->thread = (uint32_t)t->threads.n;
	vec_push(&t->threads, number);
}

static void take_totals(struct callgrind_text *t, struct span s)
{
	int64_t cost[CALLGRIND_EVENTS];

	if (!take_costs(t, s, cost))
		return;
	t->n_totals++;
	for (uint32_t i = 0; i < t->n_columns; i++)
		if (t->column[i] != CALLGRIND_NONE &&
		    __builtin_add_overflow(t->totals[t->column[i]], cost[i],
					   &t->totals[t->column[i]]))
			t->totals[t->column[i]] = INT64_MAX;
}

/* "key: value"; false for what is none. *problem: what is wrong with it, or NULL. */
static bool take_head(struct callgrind_text *t, struct span s, const char **problem)
{
	uint64_t n;

	*problem = NULL;
	if (takes(&s, "events:")) {
		*problem = take_events(t, s);
	} else if (takes(&s, "positions:")) {
		*problem = take_position_names(t, s);
	} else if (takes(&s, "creator:")) {
		t->creator = text_of(t, s);
		t->is_xdebug = takes(&s, "xdebug");
	} else if (takes(&s, "cmd:")) {
		t->command = text_of(t, s);
	} else if (takes(&s, "pid:")) {
		t->pid = number(s, &n) && n <= INT32_MAX ? (int64_t)n : 0;
	} else if (takes(&s, "thread:")) {
		set_thread(t, number(s, &n) && n <= INT32_MAX ? (int64_t)n : 0);
	} else if (takes(&s, "part:")) {
		t->n_parts++;
	} else if (takes(&s, "totals:")) {
		take_totals(t, s);
	} else if (takes(&s, "summary:")) {
		/* the end of cachegrind.out; callgrind has it in the head of each part */
		if (t->has_description && t->creator.v == 0 && t->items.n > 0)
			take_totals(t, s);
	} else if (takes(&s, "desc:")) {
		t->has_description = true;
	} else {
		return takes(&s, "version:") || takes(&s, "event:") || takes(&s, "rcalls");
	}
	return true;
}

/* The body. */

static void take_called(struct callgrind_text *t, struct span s)
{
	string_id name = name_of(t, CALLGRIND_FUNCTION, s);

	t->called = function_of(t, name, t->has_called_file ? t->called_file : t->file,
				t->has_called_object ? t->called_object : t->object);
	t->has_called_file = t->has_called_object = false;
}

/* "fn=(12) name" and the like; false for what is none. */
static bool take_name(struct callgrind_text *t, struct span s)
{
	if (takes(&s, "fl=") || takes(&s, "fi=") || takes(&s, "fe=")) {
		t->file = name_of(t, CALLGRIND_FILE, s);
	} else if (takes(&s, "fn=")) {
		string_id name = name_of(t, CALLGRIND_FUNCTION, s);

		t->function = function_of(t, name, t->file, t->object);
		t->called = CALLGRIND_NONE;
	} else if (takes(&s, "ob=")) {
		t->object = name_of(t, CALLGRIND_OBJECT, s);
	} else if (takes(&s, "cob=")) {
		t->called_object = name_of(t, CALLGRIND_OBJECT, s);
		t->has_called_object = true;
	} else if (takes(&s, "cfi=") || takes(&s, "cfl=")) {
		t->called_file = name_of(t, CALLGRIND_FILE, s);
		t->has_called_file = true;
	} else if (takes(&s, "cfn=")) {
		take_called(t, s);
	} else if (takes(&s, "jfi=")) {
		name_of(t, CALLGRIND_FILE, s);
	} else if (takes(&s, "jfn=")) {
		name_of(t, CALLGRIND_FUNCTION, s);
	} else if (takes(&s, "jump=") || takes(&s, "jcnd=")) {
		t->n_jumps++;
	} else {
		return false;
	}
	return true;
}

/* What is wrong with the line, or NULL. */
static const char *take_line(struct callgrind_text *t, struct span s)
{
	const char *problem = NULL;

	if (s.n == 0 || s.s[0] == '#')
		return NULL;
	if ((s.s[0] >= '0' && s.s[0] <= '9') || s.s[0] == '+' || s.s[0] == '-' || s.s[0] == '*')
		return take_cost_line(t, s);
	if (takes(&s, "calls="))
		return take_calls(t, s);
	if (take_name(t, s) || take_head(t, s, &problem))
		return problem;
	return "is not of this format";
}

void callgrind_text_take(void *reader, bool ended)
{
	struct callgrind_text *t = reader;
	const char *s;
	size_t n;

	(void)ended;
	while (lines_next(&t->text.lines, &s, &n)) {
		const char *problem = s ? take_line(t, without_blanks((struct span){ s, n }))
					: "is too long";

		if (problem)
			text_read_complain(&t->text, problem);
	}
}

void callgrind_text_init(struct callgrind_text *t)
{
	t->function = t->called = CALLGRIND_NONE;
	t->n_positions = 1;
	t->has_lines = true;
	set_thread(t, 0);
}

void callgrind_text_done(struct callgrind_text *t)
{
	vec_done(&t->threads);
	vec_done(&t->functions);
	vec_done(&t->items);
	vec_done(&t->costs);
	vec_done(&t->names);
	map_done(&t->by_number);
	map_done(&t->by_function);
	map_done(&t->by_item);
}
