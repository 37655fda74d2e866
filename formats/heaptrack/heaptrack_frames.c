/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/heaptrack/heaptrack_frames.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "elf/demangle.h"
#include "elf/elf_file.h"
#include "formats/format.h"
#include "symbols/resolver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The process that mappings are said to be of: the file names none. */
#define THE_PID 1

/* Segments of one module that are taken. */
#define MOST_SEGMENTS 64

/* Of "::h" and 16 digits. */
#define HASH_CHARS 19

#define VDSO_NAME "linux-vdso.so"

/* A path that modules were loaded from, and its file. */
struct object {
	char *path;           /* owned */
	struct elf_file *elf; /* owned; NULL: it cannot be opened */
};

struct heaptrack_frames {
	struct profile *p;
	capture_id capture;
	struct resolver_options options;
	struct resolver *resolver;  /* NULL while no module was seen */
	VEC(struct object) objects; /* that were mapped */
	struct map by_path;         /* of objects */
	VEC(uint32_t) strings;      /* string_id */
	VEC(uint32_t) modules;      /* module_id by number of its string, ID_NONE: not asked for */
	VEC(uint32_t) pointers;     /* location_id */
	VEC(uint32_t) nodes;        /* stack_id */
	VEC(struct frame) frames;   /* of the pointer that is being made */
	location_id unknown;        /* of what is not there; {ID_NONE}: none came yet */
	char *program;              /* owned; NULL: not told */
	int64_t listing;            /* which list of modules is being told, from 1 */
	uint64_t n_nameless;        /* pointers without a function */
};

struct heaptrack_frames *heaptrack_frames_new(struct profile *p, capture_id c,
					      const struct read_options *o)
{
	struct heaptrack_frames *f = xcalloc(1, sizeof(*f));

	f->p = p;
	f->capture = c;
	f->unknown.v = ID_NONE;
	if (o && o->resolve)
		f->options = *o->resolve;
	return f;
}

void heaptrack_frames_free(struct heaptrack_frames *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->objects.n; i++) {
		elf_file_close(f->objects.at[i].elf);
		free(f->objects.at[i].path);
	}
	vec_done(&f->objects);
	map_done(&f->by_path);
	vec_done(&f->strings);
	vec_done(&f->modules);
	vec_done(&f->pointers);
	vec_done(&f->nodes);
	vec_done(&f->frames);
	resolver_free(f->resolver);
	free(f->program);
	free(f);
}

/* Strings and modules. */

void heaptrack_frames_string(struct heaptrack_frames *f, const char *s, size_t n)
{
	vec_push(&f->strings, build_string(f->p, s, n).v);
	vec_push(&f->modules, ID_NONE);
}

void heaptrack_frames_program(struct heaptrack_frames *f, const char *s, size_t n)
{
	if (!f->program)
		f->program = xstrndup(s, n);
}

static enum family family_of(const char *path)
{
	static const char *const libc[] = { "libc.so", "libc-2.",  "ld-linux", "libpthread",
					    "libm.so", "libdl.so", "librt.so", "ld-musl" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(libc) / sizeof(*libc); i++)
		if (strncmp(name, libc[i], strlen(libc[i])) == 0)
			return FAMILY_LIBC;
	return strstr(name, ".so") ? FAMILY_LIBRARY : FAMILY_PROGRAM;
}

/* By the number of its string; 0 is none. */
static module_id module_of(struct heaptrack_frames *f, uint64_t string)
{
	const char *path;
	uint32_t *known;

	if (string == 0)
		return (module_id){ 0 };
	known = &f->modules.at[string - 1];
	if (*known == ID_NONE) {
		path = profile_string(f->p, (string_id){ f->strings.at[string - 1] }, NULL);
		*known = build_module(f->p, path, "", family_of(path)).v;
	}
	return (module_id){ *known };
}

static bool same_path(const void *things, uint32_t value, const void *key)
{
	return strcmp(((const struct object *)things)[value].path, key) == 0;
}

static struct object *object_of(struct heaptrack_frames *f, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	uint32_t known = map_find(&f->by_path, hash, same_path, f->objects.at, path);
	struct object o = { 0 };

	if (known != MAP_NONE)
		return &f->objects.at[known];
	o.path = xstrdup(path);
	if (path[0] == '/' && elf_file_open(path, &o.elf, NULL) < 0)
		o.elf = NULL;
	map_add(&f->by_path, hash, (uint32_t)f->objects.n);
	vec_push(&f->objects, o);
	return &f->objects.at[f->objects.n - 1];
}

static void map_segment(struct heaptrack_frames *f, const char *path, const struct elf_file *elf,
			uint64_t load, uint64_t address, uint64_t bytes)
{
	struct mapping_event m = { .time_ns = f->listing,
				   .pid = THE_PID,
				   .start = load + address,
				   .length = bytes,
				   .path = path,
				   .executable = true };

	if (!elf || !elf_file_offset_of(elf, address, &m.file_offset))
		m.file_offset = address;
	if (bytes > 0 && m.start <= UINT64_MAX - bytes)
		resolver_map(f->resolver, &m);
}

/* Lists of modules are told anew whenever a library was loaded; what was before is void then. */
static void begin_listing(struct heaptrack_frames *f)
{
	f->listing++;
	if (f->resolver)
		resolver_exec(f->resolver, THE_PID, f->listing);
}

bool heaptrack_frames_module(struct heaptrack_frames *f, const char *name, size_t n,
			     struct fields rest)
{
	const struct elf_file *elf = NULL;
	uint64_t load, address, bytes;
	char *path;

	if (n == 1 && *name == '-') {
		begin_listing(f);
		return true;
	}
	if (!fields_hex(&rest, &load))
		return false;
	if (!f->resolver)
		f->resolver = resolver_new(f->p, f->capture, &f->options);
	if (n == 1 && *name == 'x' && f->program)
		path = xstrdup(f->program);
	else if (n >= strlen(VDSO_NAME) && strncmp(name, VDSO_NAME, strlen(VDSO_NAME)) == 0)
		path = xstrdup("[vdso]");
	else
		path = xstrndup(name, n);
	elf = object_of(f, path)->elf;
	for (int i = 0; i < MOST_SEGMENTS && fields_hex(&rest, &address); i++) {
		if (!fields_hex(&rest, &bytes))
			break;
		map_segment(f, path, elf, load, address, bytes);
	}
	free(path);
	return true;
}

/* Pointers. */

static function_id unnamed(struct heaptrack_frames *f, module_id m, uint64_t address)
{
	const char *name = profile_string(f->p, profile_module(f->p, m)->name, NULL);
	char *text = f->options.addresses
			     ? xasprintf("[%s <%" PRIx64 ">]", *name ? name : "unknown", address)
			     : xasprintf("[%s]", *name ? name : "unknown");
	function_id id = build_function(f->p, build_cstring(f->p, text), m, FUNCTION_UNRESOLVED,
					(string_id){ 0 }, 0);

	free(text);
	return id;
}

/* The length of a name without the hash that Rust's old mangling ends in: "::h" and 16 digits. */
static size_t without_hash(const char *s, size_t n)
{
	if (n <= HASH_CHARS || memcmp(s + n - HASH_CHARS, "::h", 3) != 0)
		return n;
	for (size_t i = n - HASH_CHARS + 3; i < n; i++)
		if (fields_digit(s[i]) > 15)
			return n;
	return n - HASH_CHARS;
}

/* heaptrack demangles C++ and Rust's old names; the new ones are left to the reader. */
static function_id named(struct heaptrack_frames *f, uint32_t string, module_id m)
{
	string_id name = { f->strings.at[string - 1] };
	size_t n, plain_n;
	const char *text = profile_string(f->p, name, &n);
	char *plain = text[0] == '_' && (text[1] == 'R' || text[1] == 'Z')
			      ? demangle(text, DEMANGLE_FULL)
			      : NULL;

	plain_n = without_hash(text, n);
	if (plain)
		name = build_cstring(f->p, plain);
	else if (plain_n < n)
		name = build_string(f->p, text, plain_n);
	free(plain);
	return build_function(f->p, name, m, 0, (string_id){ 0 }, 0);
}

/* The next frame of a line; false at its end. A number that is no string's makes it bad. */
static bool take_frame(struct heaptrack_frames *f, struct fields *rest, module_id m,
		       uint64_t address, bool *bad)
{
	struct frame frame = { 0 };
	uint64_t function, file = 0;
	uint32_t line = 0;

	if (!fields_hex(rest, &function))
		return false;
	if (fields_hex(rest, &file) && !fields_u32(rest, &line))
		*bad = true;
	if (function > f->strings.n || file > f->strings.n) {
		*bad = true;
		return false;
	}
	frame.function = function > 0 ? named(f, (uint32_t)function, m).v
				      : unnamed(f, m, address).v;
	frame.file = file > 0 ? f->strings.at[file - 1] : 0;
	frame.line = line;
	vec_push(&f->frames, frame);
	return true;
}

bool heaptrack_frames_pointer(struct heaptrack_frames *f, struct fields rest)
{
	uint64_t address = 0, module = 0;
	bool bad = !fields_hex(&rest, &address) || !fields_hex(&rest, &module);
	module_id m;

	if (module > f->strings.n) {
		bad = true;
		module = 0;
	}
	m = module_of(f, module);
	vec_clear(&f->frames);
	while (take_frame(f, &rest, m, address, &bad))
		;
	if (f->frames.n == 0) {
		vec_push(&f->frames, ((struct frame){ .function = unnamed(f, m, address).v }));
		f->n_nameless++;
	}
	/* From innermost, as the file has them, to outermost first. */
	mem_reverse(f->frames.at, f->frames.n, sizeof(*f->frames.at));
	vec_push(&f->pointers, build_frames_location(f->p, f->frames.at, (uint32_t)f->frames.n).v);
	return !bad;
}

/* Nodes. */

static location_id unknown_location(struct heaptrack_frames *f)
{
	if (f->unknown.v == ID_NONE)
		f->unknown = build_symbol_location(f->p, unnamed(f, (module_id){ 0 }, 0));
	return f->unknown;
}

static bool add_node(struct heaptrack_frames *f, location_id l, uint64_t parent)
{
	bool good = parent <= f->nodes.n;
	stack_id above = { good && parent > 0 ? f->nodes.at[parent - 1] : 0 };

	vec_push(&f->nodes, build_stack(f->p, above, l).v);
	return good;
}

bool heaptrack_frames_node(struct heaptrack_frames *f, uint64_t pointer, uint64_t parent)
{
	bool known = pointer > 0 && pointer <= f->pointers.n;
	location_id l = known ? (location_id){ f->pointers.at[pointer - 1] } : unknown_location(f);

	/* A pointer of 0 is one that heaptrack could not tell. */
	return add_node(f, l, parent) && (known || pointer == 0);
}

bool heaptrack_frames_node_at(struct heaptrack_frames *f, uint64_t address, uint64_t parent)
{
	location_id l = f->resolver ? resolver_locate(f->resolver, THE_PID, f->listing, address,
						      MODE_USER, false)
				    : unknown_location(f);

	return add_node(f, l, parent);
}

void heaptrack_frames_bad_node(struct heaptrack_frames *f)
{
	add_node(f, unknown_location(f), 0);
}

uint32_t heaptrack_frames_n(const struct heaptrack_frames *f)
{
	return (uint32_t)f->nodes.n;
}

stack_id heaptrack_frames_stack(const struct heaptrack_frames *f, uint32_t node)
{
	return (stack_id){ node > 0 ? f->nodes.at[node - 1] : 0 };
}

int heaptrack_frames_name(struct heaptrack_frames *f, struct progress *progress)
{
	int rc = f->resolver ? resolver_name(f->resolver, progress) : 0;

	return rc == 0 && f->resolver ? resolver_inline(f->resolver, progress) : rc;
}

void heaptrack_frames_tell(const struct heaptrack_frames *f)
{
	char n[FMT_SIZE], all[FMT_SIZE];

	if (f->n_nameless > 0)
		build_fact(f->p, f->capture, "symbols", "addresses", FACT_MISSING,
			   "%s of %s have no function in the file",
			   fmt_count(n, (int64_t)f->n_nameless),
			   fmt_count(all, (int64_t)f->pointers.n));
	if (f->resolver)
		build_fact(f->p, f->capture, "symbols", "raw file", FACT_PLAIN,
			   "names are of the files as they are now: it has no build-ids");
}
