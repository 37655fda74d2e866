/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A unit becomes one location with inlined frames at its address, so that --no-inline and the like
 * work. Where the same address of a module has been called otherwise (generated code, other
 * processes), or is not in the text, its frames become locations without an address.
 */
#include "config.h"

#include "formats/perf_script/perf_script_frames.h"

#include "base/hash.h"
#include "formats/perf_script/perf_script_line.h"

#include <stdlib.h>
#include <string.h>

/* Frames that one address stands for; what is beyond is left out. */
#define MOST_INLINED 256

/* A frame of a unit, and where it is in the source. */
struct parts {
	struct frame at[MOST_INLINED]; /* outermost first once made */
	uint32_t n;
};

struct text_key {
	const char *s;
	size_t n;
};

static bool same_text(const void *things, uint32_t value, const void *key)
{
	const struct script_unit *u = (const struct script_unit *)things + value;
	const struct text_key *k = key;

	return u->n == k->n && memcmp(u->s, k->s, k->n) == 0;
}

static bool is(struct span t, const char *text)
{
	return t.n == strlen(text) && memcmp(t.s, text, t.n) == 0;
}

static bool has_prefix(struct span t, const char *with)
{
	size_t n = strlen(with);

	return t.n >= n && memcmp(t.s, with, n) == 0;
}

static bool contains(struct span t, const char *text)
{
	return t.n > 0 && memmem(t.s, t.n, text, strlen(text));
}

static struct span base_name(struct span path)
{
	const char *slash = path.n ? memrchr(path.s, '/', path.n) : NULL;

	if (slash)
		path = (struct span){ slash + 1, (size_t)(path.s + path.n - slash - 1) };
	return path;
}

static enum family family_of(struct span path)
{
	struct span name = base_name(path);

	if (is(path, "[vdso]") || is(path, "[vsyscall]") || is(path, "[vectors]"))
		return FAMILY_LIBRARY;
	if (is(path, "[heap]") || is(path, "[stack]") || is(path, "[anon]") ||
	    has_prefix(path, "//anon") || has_prefix(path, "anon_inode:"))
		return FAMILY_JIT;
	if (has_prefix(path, "[") || has_prefix(path, "bpf_prog_"))
		return FAMILY_KERNEL;
	if (has_prefix(name, "vmlinux") ||
	    (name.n > 3 && memcmp(name.s + name.n - 3, ".ko", 3) == 0) || contains(name, ".ko."))
		return FAMILY_KERNEL;
	if (has_prefix(name, "perf-") || has_prefix(name, "jitted-") || contains(path, "/memfd:"))
		return FAMILY_JIT;
	if (has_prefix(name, "libc.so") || has_prefix(name, "libc-") ||
	    has_prefix(name, "ld-linux") || has_prefix(name, "ld-2.") ||
	    has_prefix(name, "libpthread") || has_prefix(name, "libm.so"))
		return FAMILY_LIBC;
	return contains(name, ".so") ? FAMILY_LIBRARY : FAMILY_PROGRAM;
}

static module_id module_of(struct script_frames *f, struct span path)
{
	module_id m;
	char *text;

	if (path.n == 0 || is(path, "inlined"))
		return (module_id){ 0 };
	if (is(path, "[unknown]"))
		return build_module(f->p, "[unknown]", "", FAMILY_UNKNOWN);
	text = xstrndup(path.s, path.n);
	m = build_module(f->p, text, "", family_of(path));
	free(text);
	return m;
}

/* Of a file that is gone: what collapsing cuts at brackets would be half of that word. */
static struct span without_deleted(struct span path)
{
	static const char deleted[] = " (deleted)";
	size_t n = sizeof(deleted) - 1;

	if (path.n > n && memcmp(path.s + path.n - n, deleted, n) == 0)
		path.n -= n;
	return path;
}

/* "[libc.so.6]": a frame of that module without a symbol; address may be empty. The caller frees. */
static char *unknown_name(const struct read_options *o, const char *module, size_t n_module,
			  const char *address, size_t n_address)
{
	struct span m = base_name(without_deleted((struct span){ module, n_module }));
	bool bracketed = m.n > 0 && m.s[0] == '[';

	if (n_module == 0 || is(m, "[unknown]"))
		m = (struct span){ "unknown", strlen("unknown") };
	else if (bracketed && !o->as_printed)
		/* As the module is called, and as recordings have it. */
		return is(m, "[kernel.kallsyms]") || is(m, "[kernel.kallsyms]_text") ||
				       is(m, "[kernel.kallsyms]_stext")
			       ? xstrdup("[kernel]")
			       : xstrndup(m.s, m.n);
	if (o->addresses && n_address > 0)
		return xasprintf("[%.*s <%.*s>]", (int)m.n, m.s, (int)n_address, address);
	return xasprintf("[%.*s]", (int)m.n, m.s);
}

static function_id unknown_function(struct script_frames *f, const struct script_frame *t,
				    module_id module)
{
	char *name = unknown_name(&f->options, t->module.s, t->module.n, t->address.s,
				  t->address.n);
	function_id id = build_function(f->p, build_cstring(f->p, name), module,
					FUNCTION_UNRESOLVED, (string_id){ 0 }, 0);

	free(name);
	return id;
}

/* Is it what proftop writes of a function without a symbol, "[libz.so.1+0x3f20]"? */
static bool is_begin(const struct script_frames *f, struct span name, module_id module)
{
	size_t n, at;
	const char *of = profile_string(f->p, profile_module(f->p, module)->name, &n);

	if (n == 0 || name.n < n + strlen("[+0x0]") || name.s[0] != '[' ||
	    name.s[name.n - 1] != ']' || memcmp(name.s + 1, of, n) != 0 ||
	    memcmp(name.s + 1 + n, "+0x", 3) != 0)
		return false;
	at = n + strlen("[+0x");
	while (at < name.n - 1 && strchr("0123456789abcdef", name.s[at]))
		at++;
	return at == name.n - 1;
}

static void add_part(struct script_frames *f, struct parts *parts, struct span name,
		     module_id module, string_id file, uint32_t line)
{
	uint32_t flags = is_begin(f, name, module) ? FUNCTION_UNRESOLVED | FUNCTION_BEGIN : 0;
	function_id id;

	if (parts->n == MOST_INLINED)
		return;
	id = build_function(f->p, build_string(f->p, name.s, name.n), module, flags, file, 0);
	parts->at[parts->n++] = (struct frame){ .function = id.v, .file = file.v, .line = line };
}

/* Where "->" divides callers from callees in a name, which it does not in operator-> and before a type ("fn() -> i32"); NULL. */
static const char *find_arrow(struct span name)
{
	static const char operator[] = "operator";
	size_t from = 0;

	for (;;) {
		const char *arrow = name.n > from ? memmem(name.s + from, name.n - from, "->", 2)
						  : NULL;
		size_t at = arrow ? (size_t)(arrow - name.s) : 0;

		if (!arrow)
			return NULL;
		if (at > 0 && at + 2 < name.n && arrow[-1] != ' ' &&
		    !(at >= sizeof(operator) - 1 &&
		      memcmp(arrow - (sizeof(operator) - 1), operator, sizeof(operator) - 1) == 0))
			return arrow;
		from = at + 2;
	}
}

/* The frames that one line stands for, outermost first. */
static void add_line(struct script_frames *f, struct parts *parts, const struct script_frame *t,
		     module_id module, string_id file, uint32_t line)
{
	struct span name = t->name;

	if (name.n == 0 || is(name, "[unknown]")) {
		if (parts->n < MOST_INLINED)
			parts->at[parts->n++] = (struct frame){
				.function = unknown_function(f, t, module).v,
				.file = file.v,
				.line = line,
			};
		return;
	}
	while (!f->options.as_printed) {
		const char *arrow = find_arrow(name);
		size_t n = arrow ? (size_t)(arrow - name.s) : 0;

		if (!arrow)
			break;
		add_part(f, parts, (struct span){ name.s, n }, module, (string_id){ 0 }, 0);
		name = (struct span){ arrow + 2, name.n - n - 2 };
	}
	add_part(f, parts, name, module, file, line);
}

/* Takes the last line from *t. */
static struct span last_line(struct span *t)
{
	size_t end = t->n > 0 && t->s[t->n - 1] == '\n' ? t->n - 1 : t->n;
	const char *nl = end > 0 ? memrchr(t->s, '\n', end) : NULL;
	size_t from = nl ? (size_t)(nl + 1 - t->s) : 0;
	struct span line = { t->s + from, end - from };

	t->n = from;
	return line;
}

/* All frames of a unit; *where is the outermost line. */
static void read_parts(struct script_frames *f, struct span text, struct parts *parts,
		       struct script_frame *where, module_id *module)
{
	string_id file = { 0 };
	uint32_t number = 0;
	bool first = true;

	while (text.n > 0) {
		struct span line = last_line(&text), path;
		struct script_frame t;
		uint32_t n;

		if (!script_frame_read(line.s, line.n, &t)) {
			if (!script_position_read(line.s, line.n, &path, &n))
				continue;
			file = build_string(f->p, path.s, path.n);
			number = n;
			continue;
		}
		if (first) {
			*where = t;
			*module = module_of(f, t.module);
		}
		first = false;
		add_line(f, parts, &t, *module, file, number);
		file = (string_id){ 0 };
		number = 0;
	}
}

/* Makes an address one location with all its frames. False when it has other names already. */
static bool place(struct script_frames *f, module_id module, uint64_t pc, const struct parts *parts,
		  location_id *out)
{
	location_id l = build_location(f->p, module, pc);
	struct location_columns columns;
	uint32_t known;

	profile_locations(f->p, &columns);
	known = location_function(&columns, l.v);
	if (known != ID_NONE) {
		*out = l;
		return known == parts->at[0].function && parts->n == 1 &&
		       !location_frames(&columns, l.v);
	}
	build_location_function(f->p, l, (function_id){ parts->at[0].function });
	if (parts->n > 1 || parts->at[0].line > 0)
		build_location_inlines(f->p, l, parts->at, parts->n);
	*out = l;
	return true;
}

static struct script_unit new_unit(struct script_frames *f, const char *s, size_t n)
{
	struct script_unit u = { .n = n, .first = (uint32_t)f->locations.n, .n_locations = 1 };
	struct script_frame where = { 0 };
	struct parts parts;
	module_id module = { 0 };
	location_id l;

	parts.n = 0;
	u.s = arena_strndup(&f->texts, s, n);
	read_parts(f, (struct span){ s, n }, &parts, &where, &module);
	if (where.address.n > 0 && parts.n > 0 && place(f, module, where.pc, &parts, &l)) {
		vec_push(&f->locations, l);
		return u;
	}
	for (uint32_t i = 0; i < parts.n; i++) {
		l = build_symbol_location(f->p, (function_id){ parts.at[i].function });
		vec_push(&f->locations, l);
	}
	u.n_locations = parts.n;
	return u;
}

const struct script_unit *script_frames_unit(struct script_frames *f, const char *s, size_t n)
{
	struct text_key key = { s, n };
	uint64_t hash = hash_bytes(s, n);
	uint32_t i = map_find(&f->by_text, hash, same_text, f->units.at, &key);

	if (i == MAP_NONE) {
		struct script_unit u = new_unit(f, s, n);

		i = (uint32_t)f->units.n;
		map_add(&f->by_text, hash, i);
		vec_push(&f->units, u);
	}
	return &f->units.at[i];
}

void script_frames_init(struct script_frames *f, struct profile *p, const struct read_options *o)
{
	*f = (struct script_frames){ .p = p };
	if (o)
		f->options = *o;
}

void script_frames_done(struct script_frames *f)
{
	map_done(&f->by_text);
	vec_done(&f->units);
	vec_done(&f->locations);
	arena_done(&f->texts);
}
