/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and instructions for views, without files: the cost of whatever function is asked for, spread over them. */
#include "config.h"

#include "tests/support/stage.h"

#include "code/annotation.h"
#include "query/analysis.h"

#include <string.h>

/* Parts of the function's cost, in thousandths. */
struct part {
	int self, total;
};

static const struct {
	uint32_t line;
	const char *text;
	struct part part;
} lines[] = {
	{ 40, "bool Parser::parse_record(Slice in)", { 0, 0 } },
	{ 41, "{", { 0, 0 } },
	{ 42, "\tRecord r = { .kind = in[0] };", { 20, 20 } },
	{ 43, "", { 0, 0 } },
	{ 44, "\twhile (const char *end = find(in, ';')) {", { 250, 430 } },
	{ 45, "\t\tr.fields.push_back(in.take(end));", { 0, 320 } },
	{ 46, "\t\tif (r.fields.size() > limit)", { 130, 130 } },
	{ 47,
	  "\t\t\treturn false; /* a record longer than this is none: see the limits of the format in doc/records */",
	  { 0, 0 } },
	{ 48, "\t}", { 90, 90 } },
	{ 49, "\treturn commit(r);", { 10, 10 } },
	{ 50, "}", { 0, 0 } },
};

static const struct {
	uint32_t of; /* of lines */
	struct annotation_inline is;
	struct part part;
} inlines[] = {
	{ 4,
	  { "find(Slice, char)", "/src/slice.h", "slice.h", "\treturn memchr(in.at, c, in.n);", 18,
	    1, 0 },
	  { 180, 180 } },
	{ 5,
	  { "std::vector<Slice, std::allocator<Slice> >::push_back(Slice&&)",
	    "/usr/include/c++/12/bits/stl_vector.h", "stl_vector.h",
	    "\t  emplace_back(std::move(__x));", 1294, 1, 0 },
	  { 60, 320 } },
	{ 5,
	  { "Slice& std::vector<Slice, std::allocator<Slice> >::emplace_back<Slice>(Slice&&)",
	    "/usr/include/c++/12/bits/vector.tcc", "vector.tcc", NULL, 123, 2, 0 },
	  { 260, 260 } },
};

static const struct {
	uint64_t shown;
	const char *text, *note;
	uint32_t of; /* of lines */
	enum code_flow flow;
	uint32_t target; /* in this table */
	struct part part;
} code[] = {
	{ 0x4130, "pushq   %rbp", NULL, 0, FLOW_ON, ANNOTATION_NONE, { 0, 0 } },
	{ 0x4131, "movzbl  (%rdi), %eax", NULL, 2, FLOW_ON, ANNOTATION_NONE, { 20, 20 } },
	{ 0x4134, "movl    $0x3b, %esi", NULL, 4, FLOW_ON, ANNOTATION_NONE, { 60, 60 } },
	{ 0x4139, "callq   0x3f20", "memchr@plt", 4, FLOW_CALL, ANNOTATION_NONE, { 10, 190 } },
	{ 0x413e, "testq   %rax, %rax", NULL, 4, FLOW_ON, ANNOTATION_NONE, { 180, 180 } },
	{ 0x4141, "je      0x4162", NULL, 4, FLOW_BRANCH, 12, { 0, 0 } },
	{ 0x4147, "cmpq    %rbx, 0x18(%rsp)", NULL, 5, FLOW_ON, ANNOTATION_NONE, { 60, 60 } },
	{ 0x414c, "je      0x4155", NULL, 5, FLOW_BRANCH, 9, { 0, 0 } },
	{ 0x414e, "movups  %xmm0, (%rbx)", NULL, 5, FLOW_ON, ANNOTATION_NONE, { 260, 260 } },
	{ 0x4155, "cmpq    %r12, %rdx", NULL, 6, FLOW_ON, ANNOTATION_NONE, { 130, 130 } },
	{ 0x4158, "ja      0x416a", NULL, 6, FLOW_BRANCH, 13, { 0, 0 } },
	{ 0x415e, "jmp     0x4134", NULL, 8, FLOW_JUMP, 2, { 90, 90 } },
	{ 0x4162, "callq   0x4500", "commit(Record&)", 9, FLOW_CALL, ANNOTATION_NONE, { 10, 10 } },
	{ 0x416a, "popq    %rbp", NULL, 10, FLOW_ON, ANNOTATION_NONE, { 0, 0 } },
	{ 0x416b, "retq", NULL, 10, FLOW_RETURN, ANNOTATION_NONE, { 0, 0 } },
};

#define N(table) (sizeof(table) / sizeof((table)[0]))

static uint32_t numbers_of(struct annotation *a, struct part p)
{
	uint32_t n;
	int64_t *at;

	if (p.total == 0)
		return ANNOTATION_NONE;
	n = annotation_add_numbers(a);
	at = a->numbers.at + (size_t)n * 2 * a->n_columns;
	for (uint32_t c = 0; c < a->n_columns; c++) {
		at[c] = (int64_t)((__int128)a->total[c] * p.self / 1000);
		at[a->n_columns + c] = (int64_t)((__int128)a->total[c] * p.total / 1000);
	}
	return n;
}

/* The function's own numbers, from the table. */
static void take_numbers(struct annotation *a, const struct analysis *an)
{
	const struct table *t = &an->table;

	a->n_columns = an->weights.n_columns;
	memcpy(a->scale, an->weights.scale, sizeof(a->scale));
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct key *k = &an->table_keys->key[t->key[i]];

		if (k->id != a->wish.key_id)
			continue;
		a->function = arena_strndup(&a->texts, k->label, strlen(k->label));
		a->module = k->module;
		for (uint32_t c = 0; c < a->n_columns; c++) {
			a->self[c] = t->self[(size_t)i * t->n_columns + c];
			a->total[c] = t->total[(size_t)i * t->n_columns + c];
			/* It calls others. */
			a->code_self[c] = a->total[c] - a->total[c] * 18 / 100;
		}
	}
}

static void add_lines(struct annotation *a)
{
	vec_push(&a->files, ((struct annotation_file){
				    .path = "/src/parser.cc",
				    .name = "parser.cc",
				    .found = "/src/parser.cc",
				    .warning = "/src/parser.cc is not what was compiled (its MD5 "
					       "differs): lines may be others" }));
	for (uint32_t i = 0; i < N(lines); i++) {
		struct annotation_source s = { .line = lines[i].line,
					       .text = lines[i].text,
					       .first_inline = (uint32_t)a->inlines.n };

		s.numbers = numbers_of(a, lines[i].part);
		for (uint32_t k = 0; k < N(inlines); k++) {
			struct annotation_inline in = inlines[k].is;

			if (inlines[k].of != i)
				continue;
			in.numbers = numbers_of(a, inlines[k].part);
			vec_push(&a->inlines, in);
			s.n_inlines++;
		}
		vec_push(&a->sources, s);
	}
}

struct annotation *stage_code(const struct analysis *an, const struct code_wish *wish, bool sources)
{
	struct annotation *a = annotation_new();

	a->wish = *wish;
	a->scoped = wish->path != 0;
	take_numbers(a, an);
	if (sources)
		add_lines(a);
	vec_push(&a->blocks, ((struct annotation_block){ .function = "Parser::parse_record(Slice)",
							 .module = "service",
							 .path = "/bin/service",
							 .n = N(code) }));
	for (uint32_t i = 0; i < N(code); i++) {
		struct annotation_code c = { .shown = code[i].shown,
					     .text = code[i].text,
					     .note = code[i].note,
					     .flow = code[i].flow,
					     .target = code[i].target,
					     .source = sources ? code[i].of : ANNOTATION_NONE };

		c.numbers = numbers_of(a, code[i].part);
		if (sources) {
			c.path = "/src/parser.cc";
			c.line = lines[code[i].of].line;
			c.at = lines[code[i].of].text;
		}
		vec_push(&a->code, c);
	}
	return a;
}
