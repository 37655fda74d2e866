/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules about where samples end, what they pass through, and what has no name. */
#include "config.h"

#include "base/fmt.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/findings/findings.h"
#include "query/findings/findings_rules.h"

#include <stdlib.h>
#include <string.h>

/* Of fewer samples shares say little: half of them may be 10 % off. */
#define SAMPLES_FEW  100
#define SAMPLES_NONE 10 /* fewer say nothing of any share */

/* A function with so large a part, twice that of any other, stands out, and so does one with half of everything; where the
 * largest has less than FLAT_SHARE, nothing does. */
#define HOTSPOT_SHARE 0.20
#define FLAT_SHARE    0.05
/* To say that nothing stands out, so many samples must have been spread. */
#define FLAT_SAMPLES  500
/* So many functions that take half of it together are worth a sentence. */
#define FEW_MOST      5u
/* As heavy as another is what has so large a part of it: chance makes the same of two samplings. */
#define AS_HEAVY      0.9

static const struct table *table_of(const struct cpu_case *c)
{
	return &c->a->table;
}

bool cpu_case_is_function(const struct cpu_case *c, uint32_t key)
{
	uint32_t flags = c->a->keys.key[key].flags;

	return !(flags & (FUNCTION_MARK | FUNCTION_COMM)) && !c->is[FRAME_CLASS_IDLE][key] &&
	       strcmp(c->a->keys.key[key].module, TRACER_MODULE) != 0 &&
	       (!(flags & FUNCTION_UNRESOLVED) || flags & FUNCTION_BEGIN);
}

/* The base of shares: all but idle processors. */
static const char *busy(const struct cpu_case *c)
{
	if (c->idle == 0)
		return "";
	return c->many ? " that are not idle" : " that is not idle";
}

static void say_few_samples(struct cpu_case *c)
{
	double n = cpu_case_samples(c, c->whole);
	char text[FMT_COUNTED_SIZE];
	struct finding *f;

	/* Sums of stacks may be of any number of samples, or of all that happened. */
	if (n >= SAMPLES_FEW || metric_is_summed(c->a->profile, c->a->lens.column[0].metric))
		return;
	f = findings_add(c->out, "few-samples", "info", 1,
			 xasprintf("There %s only %s: shares %sare chance.",
				   (int64_t)(n + 0.5) == 1 ? "is" : "are",
				   fmt_counted(text, (int64_t)(n + 0.5), "sample"),
				   n < SAMPLES_NONE ? ""
				   : n < 25         ? "below 20 % "
						    : "below 10 % "));
	f->rank = FINDING_DOUBT;
}

/* Rows of functions by falling self; the caller frees. */
static uint32_t *rows_by_self(const struct cpu_case *c, uint32_t *n)
{
	const struct table *t = table_of(c);
	uint32_t *row = table_ordered(t, c->a->table_keys, ORDER_SELF, 0, false), kept = 0;

	for (uint32_t i = 0; i < t->n_rows; i++)
		if (cpu_case_is_function(c, t->key[row[i]]))
			row[kept++] = row[i];
	*n = kept;
	return row;
}

static int64_t self_of(const struct cpu_case *c, uint32_t row)
{
	return table_of(c)->self[(size_t)row * table_of(c)->n_columns];
}

static const struct key *key_of(const struct cpu_case *c, uint32_t row)
{
	return &c->a->keys.key[table_of(c)->key[row]];
}

static const char *name_of(struct cpu_case *c, uint32_t row)
{
	return cpu_case_name(c, table_of(c)->key[row]);
}

/* Code of a language's own library or interpreter, which says not where in a program something is. */
static bool is_of_language(const char *label)
{
	static const char *const begins[] = { "std::",    "__gnu_cxx::",  "alloc::",   "core::",
					      "<alloc::", "<core::",      "Builtins_", "_PyEval_",
					      "PyEval_",  "_PyFunction_", "v8::",      "<std::",
					      "runtime." };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(label, begins[i], strlen(begins[i])) == 0 ||
		    (strchr(label, ' ') &&
		     strncmp(strchr(label, ' ') + 1, begins[i], strlen(begins[i])) == 0))
			return true;
	return false;
}

bool cpu_case_is_of_language(const struct cpu_case *c, uint32_t key)
{
	return is_of_language(c->a->keys.key[key].label);
}

/* Does the frame say where in the program something is? */
static bool says_where(const struct cpu_case *c, uint32_t key)
{
	const struct key *k = &c->a->keys.key[key];

	return !(k->flags & (FUNCTION_COMM | FUNCTION_MARK)) && k->family != FAMILY_KERNEL &&
	       strcmp(k->module, TRACER_MODULE) != 0 && k->family != FAMILY_LIBC &&
	       !c->is[FRAME_CLASS_LOCK][key] && !c->is[FRAME_CLASS_ALLOC][key] &&
	       !c->is[FRAME_CLASS_COPY][key] && !c->is[FRAME_CLASS_FAULT][key] &&
	       (!(k->flags & FUNCTION_UNRESOLVED) || k->flags & FUNCTION_BEGIN) &&
	       !is_of_language(k->label);
}

/* What a class has in all, and below which function of the program most of it is. */
struct class_sum {
	int64_t weight;
	uint32_t owner; /* a key, or KEY_NONE */
	int64_t of_owner;
};

static bool is_tracer(const struct cpu_case *c, uint32_t key)
{
	return strcmp(c->a->keys.key[key].module, TRACER_MODULE) == 0;
}

/* [n_nodes] what the recorder of the heap took itself at or below each node: operator new() calls it, too. */
static int64_t *tracer_below(const struct cpu_case *c)
{
	const struct calltree *t = c->a->tree;
	int64_t *sum = xcalloc(t->n_nodes, sizeof(*sum));

	for (uint32_t i = t->n_nodes; i-- > 1;) {
		if (is_tracer(c, t->key[i]))
			sum[i] += t->self[(size_t)i * t->n_columns];
		sum[t->parent[i]] += sum[i];
	}
	return sum;
}

/* [n_nodes] is it at or below a frame of the class? The caller frees. */
static bool *nodes_within(const struct cpu_case *c, enum frame_class of)
{
	const struct calltree *t = c->a->tree;
	bool *in = xcalloc(t->n_nodes, sizeof(*in)), leaf = frame_class_is_innermost(of);

	for (uint32_t i = 1; i < t->n_nodes; i++)
		in[i] = c->is[of][t->key[i]] || (!leaf && in[t->parent[i]]);
	return in;
}

/* What ends in frames of a key, or of a class where the key is KEY_NONE, and lies within another class. */
static int64_t self_within(const struct cpu_case *c, uint32_t key, enum frame_class of,
			   enum frame_class within)
{
	const struct calltree *t = c->a->tree;
	bool *in = nodes_within(c, within);
	int64_t sum = 0;

	for (uint32_t i = 1; i < t->n_nodes; i++)
		if (in[i] && (key == KEY_NONE ? c->is[of][t->key[i]] : t->key[i] == key))
			sum += t->self[(size_t)i * t->n_columns];
	free(in);
	return sum;
}

/* What the kernel copies or clears for a page fault is the fault's; other copying of its own is its, where that has a sentence. */
static bool is_of_class(const struct cpu_case *c, enum frame_class of, uint32_t key, bool in_fault)
{
	if (of == FRAME_CLASS_COPY &&
	    (in_fault || (c->said[FRAME_CLASS_KERNEL] && c->is[FRAME_CLASS_KERNEL][key])))
		return false;
	return c->is[of][key];
}

static struct class_sum sum_class(const struct cpu_case *c, enum frame_class of)
{
	const struct calltree *t = c->a->tree;
	uint32_t *owner = xmalloc(t->n_nodes * sizeof(*owner)); /* nearest frame that says where */
	bool *in = xcalloc(t->n_nodes, sizeof(*in)), leaf = frame_class_is_innermost(of);
	int64_t *sum = xcalloc((size_t)c->a->keys.n + 1, sizeof(*sum));
	struct class_sum out = { .owner = KEY_NONE };
	int64_t *tracer = tracer_below(c);
	bool *fault = nodes_within(c, FRAME_CLASS_FAULT);

	owner[0] = KEY_NONE;
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t up = t->parent[i], key = t->key[i];
		bool is = is_of_class(c, of, key, fault[i]);
		int64_t weight = leaf ? t->self[(size_t)i * t->n_columns]
				      : t->total[(size_t)i * t->n_columns] - tracer[i];

		owner[i] = says_where(c, key) ? key : owner[up];
		in[i] = in[up] || is;
		if (!is || (!leaf && in[up]))
			continue;
		out.weight += weight;
		if (owner[i] != KEY_NONE)
			sum[owner[i]] += weight;
	}
	for (uint32_t i = 0; i < c->a->keys.n; i++) {
		if (sum[i] <= out.of_owner)
			continue;
		out.owner = i;
		out.of_owner = sum[i];
	}
	free(owner);
	free(in);
	free(sum);
	free(tracer);
	free(fault);
	return out;
}

/* "; 80.0 % of that in parse()", or "" where no function has a large part; the caller frees. */
static char *under(struct cpu_case *c, const struct class_sum *s)
{
	char *part, *out;

	if (s->owner == KEY_NONE || s->of_owner * 3 < s->weight)
		return xstrdup("");
	part = cpu_case_percent(s->of_owner, s->weight);
	out = xasprintf("; %s of that is called by %s", part, cpu_case_name(c, s->owner));
	free(part);
	return out;
}

#define COPY_SHARE 0.05

/*
 * What is worth a sentence: from which share on, and in which words. What others before them have is not the kernel's, and
 * what the kernel has is not copying.
 */
static const struct {
	enum frame_class of;
	double least;
	const char *rule;
	const char *words; /* behind "12.3 % of the CPU time " */
	const char *many;  /* behind "12.3 % of cycles " */
	const char *view;
} shares[] = {
	{ FRAME_CLASS_LOCK, 0.02, "locks", "is spent on locks", "are of locks", "callers" },
	{ FRAME_CLASS_ALLOC, 0.05, "allocator", "is spent in the allocator", "are in the allocator",
	  "callers" },
	{ FRAME_CLASS_FAULT, 0.03, "page-faults", "is spent on page faults", "are of page faults",
	  "callers" },
	{ FRAME_CLASS_IDLE, 0.05, "idle", "is an idle processor", "are of idle processors", "top" },
	{ FRAME_CLASS_KERNEL, 0.20, "kernel", "is spent in the kernel", "are in the kernel",
	  "callers" },
	{ FRAME_CLASS_COPY, COPY_SHARE, "copying", "copies or sets memory", "copy or set memory",
	  "callers" },
};

#define N_SHARES (sizeof(shares) / sizeof(*shares))

/* How much of what is spent on locks is spent in futexes: " (9.8 % in futex calls)"; the caller frees. */
static char *in_futex(const struct cpu_case *c)
{
	struct class_sum s = sum_class(c, FRAME_CLASS_FUTEX);
	char *share, *out;

	if (s.weight == 0)
		return xstrdup("");
	share = cpu_case_percent(s.weight, c->whole);
	out = xasprintf(" (%s in futex calls)", share);
	free(share);
	return out;
}

/* Is a row of shares worth a sentence with so much weight? */
static bool is_enough(const struct cpu_case *c, size_t i, int64_t weight)
{
	return (double)weight >= shares[i].least * (double)c->whole &&
	       cpu_case_samples(c, weight) >= CPU_SAMPLES_LEAST;
}

/* The kernel's time that is none of locks, allocators and page faults that have a sentence, nor idle. */
static int64_t kernel_beside(const struct cpu_case *c)
{
	const struct calltree *t = c->a->tree;
	bool *told = xcalloc(t->n_nodes, sizeof(*told));
	int64_t sum = 0;

	for (size_t i = 0; i < N_SHARES; i++) {
		bool *in = c->said[shares[i].of] ? nodes_within(c, shares[i].of) : NULL;

		for (uint32_t n = 1; in && n < t->n_nodes; n++)
			told[n] = told[n] || in[n];
		free(in);
	}
	for (uint32_t n = 1; n < t->n_nodes; n++)
		if (c->is[FRAME_CLASS_KERNEL][t->key[n]] && !c->is[FRAME_CLASS_IDLE][t->key[n]] &&
		    !told[n])
			sum += t->self[(size_t)n * t->n_columns];
	free(told);
	return sum;
}

/* The kernel's function, beside those that copy, in which a third of its time or more ends; KEY_NONE: none. */
static uint32_t kernel_function(const struct cpu_case *c, int64_t of, int64_t *self)
{
	uint32_t n, *row = rows_by_self(c, &n), found = KEY_NONE;

	for (uint32_t i = 0; i < n && found == KEY_NONE; i++) {
		uint32_t key = table_of(c)->key[row[i]];

		if (!c->is[FRAME_CLASS_KERNEL][key] || c->is[FRAME_CLASS_COPY][key])
			continue;
		*self = self_of(c, row[i]);
		if (*self * 3 < of)
			break;
		found = key;
	}
	free(row);
	return found;
}

/* What the kernel does in that time: " (76.3 % in chacha_permute, 13.3 % copies memory)"; the caller frees. */
static char *in_kernel(struct cpu_case *c, int64_t kernel)
{
	int64_t self = 0, copies = self_within(c, KEY_NONE, FRAME_CLASS_COPY, FRAME_CLASS_KERNEL) -
				   self_within(c, KEY_NONE, FRAME_CLASS_COPY, FRAME_CLASS_FAULT);
	uint32_t key = kernel_function(c, kernel, &self);
	char *most = cpu_case_percent(self, c->whole), *copied = cpu_case_percent(copies, c->whole),
	     *out;
	bool copied_much = (double)copies >= COPY_SHARE * (double)c->whole;

	if (key == KEY_NONE)
		out = copied_much ? xasprintf(" (%s copies or sets memory)", copied) : xstrdup("");
	else
		out = xasprintf(" (%s in %s%s%s%s)", most, cpu_case_name(c, key),
				copied_much ? ", " : "", copied_much ? copied : "",
				copied_much ? " copies or sets memory" : "");
	free(most);
	free(copied);
	return out;
}

/* The filter that leaves what a class' sentence says; the caller frees. */
static char *class_filter(const struct cpu_case *c, enum frame_class of)
{
	const char *beside = "", *kernel = "";
	int64_t *tracer = tracer_below(c);
	bool with_tracer = tracer[0] > 0;

	free(tracer);
	if (of == FRAME_CLASS_COPY) {
		if (self_within(c, KEY_NONE, FRAME_CLASS_COPY, FRAME_CLASS_FAULT) > 0)
			beside = " !is:fault";
		kernel = c->said[FRAME_CLASS_KERNEL] ? " !is:kernel" : "";
	} else if (of == FRAME_CLASS_KERNEL && c->idle > 0) {
		beside = " !is:idle";
	}
	return xasprintf("is:%s%s%s%s", frame_class_name(of), beside, kernel,
			 with_tracer ? " !in:^libproftop-heap" : "");
}

/* Is what was counted of the kernel by its nature, as switches and most tracepoints are? */
static bool is_of_kernel(const struct cpu_case *c, const struct class_sum *kernel)
{
	return c->many && kernel->weight == c->whole;
}

/* Then it says nothing that it is in the kernel, but who calls that. */
static void say_who_calls(struct cpu_case *c, const struct class_sum *s)
{
	char *percent = cpu_case_percent(s->of_owner, s->weight);

	if (s->owner != KEY_NONE && s->of_owner * 3 >= s->weight)
		findings_add(c->out, "kernel", "callers", (double)s->of_owner / (double)c->whole,
			     xasprintf("%s %s are called by %s.", percent, c->of,
				       cpu_case_name(c, s->owner)));
	free(percent);
}

static void say_class(struct cpu_case *c, size_t i, const struct class_sum *s)
{
	enum frame_class of = shares[i].of;
	char *percent = cpu_case_percent(s->weight, c->whole);
	char *where = of == FRAME_CLASS_IDLE ? xstrdup("") : under(c, s);
	char *more = of == FRAME_CLASS_LOCK     ? in_futex(c)
		     : of == FRAME_CLASS_KERNEL ? in_kernel(c, s->weight)
						: xstrdup("");
	struct finding *f = findings_add(
		c->out, shares[i].rule, shares[i].view, (double)s->weight / (double)c->whole,
		xasprintf("%s %s %s%s%s.", percent, c->of,
			  c->many ? shares[i].many : shares[i].words, more, where));

	free(f->filter);
	f->filter = class_filter(c, of);
	free(percent);
	free(where);
	free(more);
}

/* The kernel and copying come last: what other sentences have is not theirs. */
int find_classes(struct cpu_case *c)
{
	struct class_sum sum[N_SHARES];

	for (size_t i = 0; i < N_SHARES; i++) {
		enum frame_class of = shares[i].of;

		sum[i] = sum_class(c, of);
		if (of == FRAME_CLASS_KERNEL) {
			/* Idle processors run it, too, which is said of them. */
			sum[i].weight -= c->idle;
			c->said[of] = is_enough(c, i, kernel_beside(c));
		} else {
			c->said[of] = is_enough(c, i, sum[i].weight);
		}
	}
	for (size_t i = 0; i < N_SHARES; i++)
		if (shares[i].of == FRAME_CLASS_KERNEL && is_of_kernel(c, &sum[i]))
			say_who_calls(c, &sum[i]);
		else if (c->said[shares[i].of])
			say_class(c, i, &sum[i]);
	return 0;
}

static void say_hotspot(struct cpu_case *c, uint32_t row, int64_t base)
{
	char *share = cpu_case_percent(self_of(c, row), base);
	struct finding *f = findings_add(c->out, "hotspot", "top",
					 (double)self_of(c, row) / (double)c->whole,
					 xasprintf("One function takes %s %s%s by itself: %s.",
						   share, c->of, busy(c), name_of(c, row)));

	f->key_id = key_of(c, row)->id;
	free(share);
}

/* Of n that are named, and n_more that are as heavy as the last of these. */
static void say_few(struct cpu_case *c, const uint32_t *row, uint32_t n, uint32_t n_more,
		    int64_t base)
{
	char *share, *list = xstrdup(""), *more;
	int64_t sum = 0;
	struct finding *f;

	for (uint32_t i = 0; i < n; i++)
		sum += self_of(c, row[i]);
	share = cpu_case_percent(sum, base);
	more = n_more ? xasprintf("; %u more %s as heavy as the last", n_more,
				  n_more == 1 ? "is" : "are")
		      : xstrdup("");

	for (uint32_t i = 0; i < n; i++) {
		char *each = cpu_case_percent(self_of(c, row[i]), base);
		char *longer = xasprintf("%s%s%s (%s)", list,
					 i == 0      ? ""
					 : i + 1 < n ? ", "
						     : " and ",
					 name_of(c, row[i]), each);

		free(list);
		free(each);
		list = longer;
	}
	f = findings_add(c->out, "few-functions", "top", (double)sum / (double)c->whole,
			 xasprintf("%u functions take %s %s%s: %s%s.", n, share, c->of, busy(c),
				   list, more));
	f->key_id = key_of(c, row[0])->id;
	free(share);
	free(more);
	free(list);
}

static void say_flat(struct cpu_case *c, uint32_t row, uint32_t n_half, int64_t base)
{
	char *share = cpu_case_percent(self_of(c, row), base), n[FMT_SIZE];
	struct finding *f = findings_add(
		c->out, "flat", "top", 0.5,
		xasprintf(
			"No function stands out: the first, %s, has %s; %s functions share half %s%s.",
			name_of(c, row), share, fmt_count(n, n_half), c->of, busy(c)));

	f->key_id = key_of(c, row)->id;
	free(share);
}

/* What n functions take that is none of the classes of which there is a sentence. */
static int64_t self_besides(const struct cpu_case *c, const uint32_t *row, uint32_t n)
{
	int64_t most[FEW_MOST] = { 0 }, sum = 0;

	for (size_t i = 0; i < N_SHARES; i++)
		for (uint32_t k = 0; k < n && c->said[shares[i].of]; k++) {
			int64_t in = self_within(c, table_of(c)->key[row[k]], shares[i].of,
						 shares[i].of);

			most[k] = in > most[k] ? in : most[k];
		}
	for (uint32_t k = 0; k < n; k++)
		sum += self_of(c, row[k]) - most[k];
	return sum;
}

/* Has each of n functions a sentence that says what it takes by itself? */
static bool are_told(const struct cpu_case *c, const uint32_t *row, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (!c->told[table_of(c)->key[row[k]]])
			return false;
	return true;
}

/* How many of n rows by falling self come after the first `of` and are as heavy as the last of these. */
static uint32_t n_as_heavy(const struct cpu_case *c, const uint32_t *row, uint32_t n, uint32_t of)
{
	uint32_t n_more = 0;

	while (of > 0 && of + n_more < n &&
	       (double)self_of(c, row[of + n_more]) >= AS_HEAVY * (double)self_of(c, row[of - 1]))
		n_more++;
	return n_more;
}

int find_hotspot(struct cpu_case *c)
{
	uint32_t n, *row = rows_by_self(c, &n), n_half = 0, n_more, n_named;
	int64_t base = c->whole - c->idle, sum = 0, first, second;

	say_few_samples(c);
	if (n == 0 || base <= 0) {
		free(row);
		return 0;
	}
	first = self_of(c, row[0]);
	while (n_half < n && sum < base / 2)
		sum += self_of(c, row[n_half++]);
	second = n > 1 ? self_of(c, row[1]) : 0;
	n_more = n_as_heavy(c, row, n, n_half);
	n_named = n_half + n_more <= FEW_MOST ? n_half + n_more : n_half;
	if ((double)first >= HOTSPOT_SHARE * (double)base &&
	    (first / 2 >= second || (n_half == 1 && n_more == 0)) &&
	    cpu_case_samples(c, first) >= CPU_SAMPLES_LEAST) {
		if (!are_told(c, row, 1) &&
		    (double)self_besides(c, row, 1) >= HOTSPOT_SHARE * (double)base)
			say_hotspot(c, row[0], base);
	} else if (sum >= base / 2 && n_named > 1 && n_named <= FEW_MOST &&
		   cpu_case_samples(c, sum) >= CPU_SAMPLES_LEAST && !are_told(c, row, n_named) &&
		   self_besides(c, row, n_named) >= base / 2) {
		say_few(c, row, n_named, n_half + n_more - n_named, base);
	}
	if ((double)first < FLAT_SHARE * (double)base &&
	    cpu_case_samples(c, base) >= FLAT_SAMPLES && sum >= base / 2)
		say_flat(c, row[0], n_half, base);
	free(row);
	return 0;
}

char *cpu_case_tell(struct cpu_case *c, uint32_t key)
{
	const struct table *t = table_of(c);
	int64_t self = 0;
	char *share, *out;

	for (uint32_t i = 0; i < t->n_rows; i++)
		if (t->key[i] == key)
			self = self_of(c, i);
	if ((double)self < HOTSPOT_SHARE * (double)(c->whole - c->idle))
		return xstrdup("");
	c->told[key] = true;
	share = cpu_case_percent(self, c->whole);
	out = xasprintf("; its own code takes %s", share);
	free(share);
	return out;
}

/* The module's fact in info about what has no name, or NULL; borrowed from the profile. */
static const char *advice_for(const struct cpu_case *c, const char *module)
{
	const struct profile *p = c->a->profile;

	for (uint32_t i = 0; i < c->a->counts.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		if (f.kind == FACT_MISSING &&
		    strcmp(profile_string(p, f.section, NULL), "symbols") == 0 &&
		    strcmp(profile_string(p, f.name, NULL), module) == 0)
			return profile_string(p, f.text, NULL);
	}
	return NULL;
}

/* What ends in code of a module that has no name. */
struct nameless {
	const char *module; /* the profile's */
	int64_t weight;
};

static int by_module(const void *x, const void *y)
{
	const struct nameless *a = x, *b = y;

	return strcmp(a->module, b->module);
}

/* The module in which most of what ends in code without a name ends. */
static struct nameless nameless_module(const struct cpu_case *c)
{
	const struct table *t = table_of(c);
	struct nameless *at = xcalloc((size_t)t->n_rows + 1, sizeof(*at)), most = { "", 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_rows; i++)
		if (c->is[FRAME_CLASS_UNNAMED][t->key[i]])
			at[n++] = (struct nameless){ c->a->keys.key[t->key[i]].module,
						     self_of(c, i) };
	qsort(at, n, sizeof(*at), by_module);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 && strcmp(at[i].module, at[i - 1].module) == 0)
			at[i].weight += at[i - 1].weight;
		if (at[i].weight > most.weight)
			most = at[i];
	}
	free(at);
	return most;
}

/* From which share on what has no name, or a stack that is cut, is worth a sentence. */
#define UNNAMED_SHARE 0.05
#define CUT_SHARE     0.02

/* From which share without names on the other sentences are but about the rest: names are what to get first. */
#define UNNAMED_FIRST 0.25

static void say_unnamed(struct cpu_case *c, int64_t weight)
{
	struct nameless most = nameless_module(c);
	const char *advice = advice_for(c, most.module);
	char *share = cpu_case_percent(weight, c->whole),
	     *part = cpu_case_percent(most.weight, weight);
	struct finding *f =
		findings_add(c->out, "unnamed", "info", (double)weight / (double)c->whole,
			     xasprintf("%s %s %s in code without a name, %s of that in %s%s%s.",
				       share, c->of, c->many ? "end" : "ends", part,
				       *most.module ? most.module : "memory without a known file",
				       advice ? ": " : "", advice ? advice : ""));

	f->rank = (double)weight < UNNAMED_FIRST * (double)c->whole ? FINDING_MISSING
								    : FINDING_DOUBT;
	free(share);
	free(part);
}

/* Stacks that the recorder or the reader cut. */
static void say_cut(struct cpu_case *c)
{
	const struct calltree *t = c->a->tree;
	int64_t cut = 0;
	char *share;
	struct finding *f;

	for (uint32_t i = 1; i < t->n_nodes; i++)
		if (c->a->keys.key[t->key[i]].flags & FUNCTION_MARK && t->outer[i] &&
		    strcmp(c->a->keys.key[t->key[i]].label, "[truncated]") == 0)
			cut += t->total[(size_t)i * t->n_columns];
	if ((double)cut < CUT_SHARE * (double)c->whole ||
	    cpu_case_samples(c, cut) < CPU_SAMPLES_LEAST)
		return;
	share = cpu_case_percent(cut, c->whole);
	f = findings_add(
		c->out, "cut-stacks", "info", (double)cut / (double)c->whole,
		xasprintf(
			"%s %s %s stacks whose outer frames are missing: their callers are not known.",
			share, c->of, c->many ? "have" : "has"));
	f->rank = FINDING_MISSING;
	free(share);
}

static void say_losses(struct cpu_case *c)
{
	uint32_t n = 0;
	char text[FMT_COUNTED_SIZE];
	struct finding *f;

	for (uint32_t i = 0; i < c->a->counts.n_facts; i++)
		n += profile_fact(c->a->profile, i).kind == FACT_LOSS;
	if (n == 0)
		return;
	f = findings_add(c->out, "losses", "info", 0,
			 xasprintf("Not all was recorded or could be read: info has %s about it.",
				   fmt_counted(text, n, "line")));
	f->rank = FINDING_DOUBT;
}

/* From which share on the time that the recorder of the heap took itself puts all shares in doubt. */
#define TRACER_SHARE 0.02

static void say_tracer(struct cpu_case *c)
{
	const struct table *t = table_of(c);
	int64_t sum = 0;
	char *share;
	struct finding *f;

	for (uint32_t i = 0; i < t->n_rows; i++)
		if (is_tracer(c, t->key[i]))
			sum += self_of(c, i);
	if ((double)sum < TRACER_SHARE * (double)c->whole ||
	    cpu_case_samples(c, sum) < CPU_SAMPLES_LEAST)
		return;
	share = cpu_case_percent(sum, c->whole);
	f = findings_add(c->out, "tracer", "top", (double)sum / (double)c->whole,
			 xasprintf("%s %s %s the recorder of the heap, not the program.", share,
				   c->of, c->many ? "are of" : "is"));
	f->rank = FINDING_DOUBT;
	free(f->filter);
	f->filter = xstrdup("!in:^libproftop-heap");
	free(share);
}

int find_missing(struct cpu_case *c)
{
	struct class_sum s = sum_class(c, FRAME_CLASS_UNNAMED);

	if ((double)s.weight >= UNNAMED_SHARE * (double)c->whole &&
	    cpu_case_samples(c, s.weight) >= CPU_SAMPLES_LEAST)
		say_unnamed(c, s.weight);
	say_cut(c);
	say_tracer(c);
	say_losses(c);
	return 0;
}
