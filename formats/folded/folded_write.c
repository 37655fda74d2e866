/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call tree as folded text, sorted, without ever holding all the lines.
 *
 * Names that print alike make one line, so the tree is merged by printed name first. Then each node
 * is two things among its siblings: its own line, and all lines below it, which begin with its name
 * and ';'. As no name holds a ';', putting these in order at every node puts all lines in order.
 */
#include "config.h"

#include "formats/folded/folded_write.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/folded/folded_line.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/frame_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A printed name; its rank says where its own line and the lines below it sort. */
struct name {
	char *text; /* owned */
	uint32_t rank_own, rank_below;
};

/* A node of the merged tree; node 0 is the root. */
struct node {
	uint32_t parent, name;
	uint32_t first, next; /* child and sibling, 0: none */
	int64_t self[2];      /* counts; of a comparison before and after */
};

/* What is still to be printed: a node's own line, or what is below it. */
struct item {
	uint32_t node;
	uint32_t rank;
	size_t path; /* bytes of the path that the node continues */
	bool below;
};

/* The frames that a key is printed as: a run of part_names. */
struct parts {
	size_t first;
	uint32_t n;
	bool made;
};

struct writer {
	const struct analysis *a;
	bool collapse;                /* names as stackcollapse-perf.pl prints them */
	struct write_options options; /* marks, only with collapse */
	struct map by_text;           /* of indices of names */
	struct map by_parent;         /* of indices of nodes, by parent and name */
	VEC(struct name) names;
	VEC(struct node) nodes;
	VEC(uint32_t) part_names;  /* runs of indices of names */
	struct parts *parts_of[2]; /* [keys.n] what is printed for each; [1]: in Java's threads */
	VEC(struct item) todo;
	VEC(char) path;
	bool look_counted; /* the next line is to say that names that end in numbers are names */
};

/* Nothing in a name may look like the end of it. */
static void hide_separators(char *name)
{
	for (char *c = name; *c; c++)
		if (*c == ';')
			*c = ':';
}

/* Cuts at the first '(' from there on that does not open "(anonymous namespace)". */
static void cut_arguments(char *s)
{
	static const char anonymous[] = "(anonymous namespace)";

	for (char *at = strchr(s, '('); at; at = strchr(at + 1, '(')) {
		if (strncmp(at, anonymous, sizeof(anonymous) - 1) == 0)
			continue;
		*at = '\0';
		return;
	}
}

/* Has it ".(" with ")." behind it, as lambdas of the Java compiler have? */
static bool has_java_lambda(const char *s)
{
	const char *open = strstr(s, ".(");

	return open && strstr(open + 2, ").");
}

/* One part of a label, in place. What begins the whole name, as "(main chunk)", is no argument. */
static void tidy(char *name, bool java, bool first)
{
	size_t len = strlen(name);
	bool is_plt = len > 4 && strcmp(name + len - 4, "@plt") == 0;
	char *to = name;

	hide_separators(name);
	if (!has_java_lambda(name)) {
		cut_arguments(first && *name ? name + 1 : name);
		/* perf puts this behind names without arguments; there is room where these were */
		if (is_plt && strlen(name) < len)
			strcat(name, "@plt");
	}
	for (const char *c = name; *c; c++)
		if (*c != '"' && *c != '\'')
			*to++ = *c;
	*to = '\0';
	if (java && name[0] == 'L' && strchr(name, '/'))
		memmove(name, name + 1, strlen(name));
}

char *folded_collapse_frame(const char *label, bool java)
{
	char *rest, *part, *all = NULL, *copy;

	copy = rest = xstrdup(label);
	while ((part = rest)) {
		char *arrow = strstr(part, "->"), *longer;

		rest = arrow ? arrow + 2 : NULL;
		if (arrow)
			*arrow = '\0';
		if (arrow && !*rest)
			rest = NULL; /* nothing follows the last arrow */
		tidy(part, java, part == copy);
		longer = all ? xasprintf("%s;%s%s", all, part, strstr(part, "_[i]") ? "" : "_[i]")
			     : xstrdup(part);
		free(all);
		all = longer;
	}
	free(copy);
	return all;
}

char *folded_collapse_comm(const char *comm)
{
	char *name = xstrdup(comm);

	hide_separators(name);
	for (char *c = name; *c; c++)
		if (*c == ' ')
			*c = '_';
	return name;
}

static bool same_text(const void *things, uint32_t value, const void *key)
{
	return strcmp(((const struct name *)things)[value].text, key) == 0;
}

/* The printed name of n bytes, as an index of names. */
static uint32_t add_name(struct writer *w, const char *s, size_t n)
{
	struct name name = { .text = text_clean(s, n, false) };
	uint64_t hash = hash_bytes(name.text, strlen(name.text));
	uint32_t i = map_find(&w->by_text, hash, same_text, w->names.at, name.text);

	if (i != MAP_NONE) {
		free(name.text);
		return i;
	}
	i = (uint32_t)w->names.n;
	map_add(&w->by_text, hash, i);
	vec_push(&w->names, name);
	return i;
}

/* perf's own file of symbols for generated code, or the images that jitdump was made into. */
static bool is_jit_path(const char *path)
{
	const char *at = strstr(path, "/tmp/perf-"), *name = strrchr(path, '/');
	size_t digits = at ? strspn(at + 10, "0123456789") : 0, n = strlen(path);

	if (digits > 0 && strncmp(at + 10 + digits, ".map", 4) == 0)
		return true;
	return name && strncmp(name, "/jitted-", 8) == 0 && strcmp(path + n - 3, ".so") == 0;
}

/* "[kernel.kallsyms]", "[vdso]", "…/vmlinux-6.1", "…/nf_tables.ko": what FlameGraph or inferno mark. */
static bool is_kernel_path(const char *path)
{
	const char *image = strstr(path, "vmlinux");
	size_t n = strlen(path);

	if (strstr(path, "unknown"))
		return false;
	if (path[0] == '[' || (n > 3 && strcmp(path + n - 3, ".ko") == 0))
		return true;
	for (; image; image = strstr(image + 1, "vmlinux")) {
		const char *c = image + strlen("vmlinux");

		while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		       (*c >= '0' && *c <= '9') || *c == '-' || *c == '_' || *c == '.')
			c++;
		if (*c == '\0')
			return true;
	}
	return false;
}

static module_id module_of(const struct writer *w, const struct key *key)
{
	uint32_t id = key->id & ~KEY_OF_MODULE;

	return key->id & KEY_OF_MODULE
		       ? (module_id){ id }
		       : profile_function(w->a->profile, (function_id){ id })->module;
}

static const char *mark_of(const struct writer *w, const struct key *key)
{
	const struct profile *p = w->a->profile;
	const struct module *m;
	const char *path;
	bool jit;

	if ((key->flags & (FUNCTION_COMM | FUNCTION_MARK)) || key->id == ID_NONE ||
	    !(w->options.mark_kernel || w->options.mark_jit))
		return "";
	m = profile_module(p, module_of(w, key));
	path = profile_string(p, m->path, NULL);
	jit = is_jit_path(path) || (m->family == FAMILY_JIT && strncmp(path, "[perf-", 6) == 0);
	if (w->options.mark_kernel && !jit && is_kernel_path(path))
		return "_[k]";
	return w->options.mark_jit && jit ? "_[j]" : "";
}

/* As add_name(), with the mark behind it. */
static uint32_t add_part(struct writer *w, const char *s, size_t n, const char *mark)
{
	char *marked;
	uint32_t name;

	if (*mark == '\0' || (strcmp(mark, "_[j]") == 0 && memmem(s, n, "_[j]", 4)))
		return add_name(w, s, n);
	marked = xasprintf("%.*s%s", (int)n, s, mark);
	name = add_name(w, marked, strlen(marked));
	free(marked);
	return name;
}

/* One frame by the name that views have for it. */
static struct parts whole_part(struct writer *w, const struct key *key)
{
	struct parts parts = { .made = true, .first = w->part_names.n, .n = 1 };
	char *name = xstrdup(key->label);

	hide_separators(name);
	vec_push(&w->part_names, add_name(w, name, strlen(name)));
	free(name);
	return parts;
}

/* The frames that are printed for a key: of what has no symbol those that others print, "[module]". */
static struct parts make_parts(struct writer *w, const struct key *key, bool java)
{
	struct parts parts = { .made = true, .first = w->part_names.n };
	char *s = NULL, *at, *end, *made;
	const char *label;

	if (!w->collapse)
		return whole_part(w, key);
	made = key->flags & FUNCTION_BEGIN ? frame_id_made_label(w->a->profile, module_of(w, key))
					   : NULL;
	label = made ? made : key->label;
	s = key->flags & FUNCTION_COMM ? folded_collapse_comm(label)
				       : folded_collapse_frame(label, java);
	for (at = s; at; at = end ? end + 1 : NULL) {
		end = strchr(at, ';');
		vec_push(&w->part_names, add_part(w, at, end ? (size_t)(end - at) : strlen(at),
						  parts.n == 0 ? mark_of(w, key) : ""));
		parts.n++;
	}
	free(s);
	free(made);
	return parts;
}

static struct parts parts_of(struct writer *w, uint32_t key, bool java)
{
	struct parts *known = &w->parts_of[java][key];

	if (!known->made)
		*known = make_parts(w, &w->a->keys.key[key], java);
	return *known;
}

static bool same_node(const void *things, uint32_t value, const void *key)
{
	const struct node *n = (const struct node *)things + value, *k = key;

	return n->parent == k->parent && n->name == k->name;
}

/* The child of parent with that name. */
static uint32_t add_node(struct writer *w, uint32_t parent, uint32_t name)
{
	struct node node = { .parent = parent, .name = name };
	uint64_t hash = hash_pair(parent, name);
	uint32_t i = map_find(&w->by_parent, hash, same_node, w->nodes.at, &node);

	if (i != MAP_NONE)
		return i;
	i = (uint32_t)w->nodes.n;
	node.next = w->nodes.at[parent].first;
	w->nodes.at[parent].first = i;
	map_add(&w->by_parent, hash, i);
	vec_push(&w->nodes, node);
	return i;
}

/* What ends in a node of the tree; runs of a side add up. */
static void add_counts(struct writer *w, uint32_t node, uint32_t from)
{
	const struct lens *l = &w->a->lens;
	const int64_t *self = &w->a->tree->self[(size_t)from * w->a->tree->n_columns];
	int64_t *to = w->nodes.at[node].self;

	if (!lens_compares(l)) {
		to[0] += self[0];
		return;
	}
	for (int side = 0; side < N_SIDES; side++)
		for (uint32_t i = 0; i < l->sides.n_runs[side]; i++)
			to[side] += self[lens_side(l, (enum side)side) + i];
}

static bool weighs(const struct node *n)
{
	return n->self[0] != 0 || n->self[1] != 0;
}

/* Node 0 is the root; the tree's nodes come with parents first. */
static void merge(struct writer *w)
{
	const struct calltree *t = w->a->tree;
	uint32_t *merged = xcalloc(t->n_nodes, sizeof(*merged));
	bool java = false;

	vec_push(&w->nodes, (struct node){ .parent = 0 });
	add_counts(w, 0, 0);
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		const struct key *key = &w->a->keys.key[t->key[i]];
		uint32_t node = merged[t->parent[i]];
		struct parts parts;

		if (t->parent[i] == 0)
			java = (key->flags & FUNCTION_COMM) && strcmp(key->label, "java") == 0;
		parts = parts_of(w, t->key[i], java);
		for (uint32_t k = 0; k < parts.n; k++)
			node = add_node(w, node, w->part_names.at[parts.first + k]);
		merged[i] = node;
		add_counts(w, node, i);
	}
	free(merged);
}

/* Orders indices 2 i (own) and 2 i + 1 (below) of names by the bytes that lines then begin with. */
static int by_bytes(const void *a, const void *b, void *names)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const unsigned char *s = (const unsigned char *)((struct name *)names)[i / 2].text;
	const unsigned char *t = (const unsigned char *)((struct name *)names)[k / 2].text;
	int c, d;

	while (*s && *s == *t) {
		s++;
		t++;
	}
	c = *s ? *s : i % 2 ? ';' : -1;
	d = *t ? *t : k % 2 ? ';' : -1;
	return c - d;
}

static void rank_names(struct writer *w)
{
	uint32_t n = (uint32_t)w->names.n * 2;
	uint32_t *order = xreallocarray(NULL, n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n > 0)
		qsort_r(order, n, sizeof(*order), by_bytes, w->names.at);
	for (uint32_t i = 0; i < n; i++) {
		struct name *name = &w->names.at[order[i] / 2];

		*(order[i] % 2 ? &name->rank_below : &name->rank_own) = i;
	}
	free(order);
}

static int by_falling_rank(const void *a, const void *b)
{
	const struct item *i = a, *k = b;

	return i->rank < k->rank ? 1 : i->rank > k->rank ? -1 : 0;
}

/* Puts what is below node on the pile, what comes first on its top. */
static void pile_children(struct writer *w, uint32_t node)
{
	size_t before = w->todo.n;

	for (uint32_t c = w->nodes.at[node].first; c != 0; c = w->nodes.at[c].next) {
		const struct name *name = &w->names.at[w->nodes.at[c].name];
		struct item i = { .node = c, .rank = name->rank_own, .path = w->path.n };

		if (weighs(&w->nodes.at[c]))
			vec_push(&w->todo, i);
		i.rank = name->rank_below;
		i.below = true;
		if (w->nodes.at[c].first != 0)
			vec_push(&w->todo, i);
	}
	if (w->todo.n > before)
		qsort(w->todo.at + before, w->todo.n - before, sizeof(*w->todo.at),
		      by_falling_rank);
}

/* Does a line that ends in this name end in two numbers then? */
static bool ends_in_number(const struct writer *w, const struct node *n)
{
	char *line = xasprintf("%s%s 1", n->parent ? "x;" : "", w->names.at[n->name].text);
	struct folded_line l;
	bool is_two = folded_line_read(line, strlen(line), 2, &l) == FOLDED_STACK;

	free(line);
	return is_two;
}

/* Would readers take the numbers at the ends of all names for first counts of two? */
static bool look_counted(const struct writer *w)
{
	for (size_t i = 1; i < w->nodes.n; i++)
		if (weighs(&w->nodes.at[i]) && !ends_in_number(w, &w->nodes.at[i]))
			return false;
	return !weighs(&w->nodes.at[0]);
}

/* A count as if both sides had as much in all: truncated, as difffolded.pl -n does it. */
static int64_t equalised(const struct writer *w, int64_t count)
{
	const struct lens *l = &w->a->lens;
	double total[N_SIDES] = { 0 };

	for (int side = 0; side < N_SIDES; side++)
		for (uint32_t i = 0; i < l->sides.n_runs[side]; i++)
			total[side] +=
				(double)w->a->weights.total[lens_side(l, (enum side)side) + i];
	return total[0] > 0 ? (int64_t)((__int128)count * (int64_t)total[1] / (int64_t)total[0])
			    : 0;
}

/* The counts at the end of a line. */
static void print_counts(const struct writer *w, const int64_t *self, FILE *to)
{
	const struct lens *l = &w->a->lens;
	int64_t before = l->sides.normalise == NORMALISE_TOTAL ? equalised(w, self[0]) : self[0];
	char count[FMT_SIZE], second[FMT_SIZE];

	fmt_exact(count, before, w->a->weights.scale[0]);
	if (lens_compares(l))
		fprintf(to, " %s %s\n", count,
			fmt_exact(second, self[1], w->a->weights.scale[lens_side(l, SIDE_AFTER)]));
	else
		fprintf(to, " %s\n", count);
}

/* One frame behind blanks: readers would take it for a line of a table. */
static bool looks_indented(const struct writer *w)
{
	return (w->path.at[0] == ' ' || w->path.at[0] == '\t') &&
	       !memchr(w->path.at, ';', w->path.n);
}

static void print_line(struct writer *w, const int64_t *self, FILE *to)
{
	/* a frame without a name at the end is dropped by flamegraph.pl and us, unless it is alone */
	if (w->path.n > 0)
		fwrite(w->path.at, 1, w->path.n, to);
	if (w->path.n == 0 || w->look_counted || looks_indented(w))
		fputc(';', to);
	w->look_counted = false;
	print_counts(w, self, to);
}

static void print_all(struct writer *w, FILE *to)
{
	if (weighs(&w->nodes.at[0]))
		print_line(w, w->nodes.at[0].self, to);
	pile_children(w, 0);
	while (w->todo.n > 0 && !ferror(to)) {
		struct item i = w->todo.at[--w->todo.n];
		const struct node *node = &w->nodes.at[i.node];
		const char *name = w->names.at[node->name].text;
		size_t len = strlen(name);

		vec_reserve(&w->path, i.path + len + 1);
		w->path.n = i.path;
		memcpy(w->path.at + w->path.n, name, len);
		w->path.n += len;
		if (!i.below) {
			print_line(w, node->self, to);
			continue;
		}
		w->path.at[w->path.n++] = ';';
		pile_children(w, i.node);
	}
}

/* Is there an input whose names are as perf gives them? */
static bool is_raw(const struct analysis *a)
{
	for (uint32_t i = 0; i < a->counts.n_parts; i++) {
		string_id format = profile_part(a->profile, (part_id){ i })->format;

		if (strcmp(profile_string(a->profile, format, NULL), "folded") != 0)
			return true;
	}
	return false;
}

int folded_write(const struct analysis *a, const struct write_options *o, FILE *to, struct err *e)
{
	struct writer w = { .a = a, .collapse = is_raw(a) && !(o && o->whole_names) };

	if (o)
		w.options = *o;
	for (int java = 0; java < 2; java++)
		w.parts_of[java] = xcalloc(a->keys.n, sizeof(*w.parts_of[java]));
	merge(&w);
	rank_names(&w);
	w.look_counted = look_counted(&w);
	print_all(&w, to);
	for (size_t i = 0; i < w.names.n; i++)
		free(w.names.at[i].text);
	for (int java = 0; java < 2; java++)
		free(w.parts_of[java]);
	map_done(&w.by_text);
	map_done(&w.by_parent);
	vec_done(&w.names);
	vec_done(&w.part_names);
	vec_done(&w.nodes);
	vec_done(&w.todo);
	vec_done(&w.path);
	errno = 0;
	if (fflush(to) != 0 || ferror(to))
		return err_set(e, errno ? -errno : -EIO, "cannot write folded stacks: %s",
			       strerror(errno ? errno : EIO));
	return 0;
}
