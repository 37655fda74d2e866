/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions are those by symbol that hold the addresses of locations. Their instructions are asked for in debug information, a
 * module at once, as annotate() asks for those of one function. Of sources, lines near any position of a frame or of an instruction
 * stay: more than one annotation shows, and never less.
 */
#include "config.h"

#include "code/code_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/compare.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/task.h"
#include "code/annotate.h"
#include "code/code_image.h"
#include "code/disassembler.h"
#include "code/packed_code.h"
#include "code/source_file.h"
#include "code/source_programs.h"

/* Lines between two positions that annotations show, and those around one, as annotate.c has them. */
#define GAP_LINES     40u
#define CONTEXT_LINES 2u

/* Of a frame: the last one is not written, and keeps files apart that have the same last part of their paths. */
#define FRAME_WORDS 4u

/* A source file that something refers to. */
struct file {
	const char *path; /* in texts */
	bool compiled; /* debug information of a module that is here has it; else only the profile names it */
	source_programs programs; /* of those that are opened here */
	VEC(uint32_t) lines;      /* positions in it */
};

/* What the file has sources under, where only last parts of paths stay: of which file, and in which attachment. */
struct base_name {
	const char *name; /* in texts */
	char *found;      /* the file that was opened; NULL: none was; owned */
	bool shared;      /* by several files: lines of none can be told from those of another */
};

/* Where code of one module is, by address. */
struct place {
	uint64_t address;
	uint32_t location;
};

struct leading {
	uint64_t shown;
	const char *note;
};

struct hosted {
	struct code_extent at;
	uint8_t *bytes; /* [n] owned; NULL: cannot be read, or left out */
	size_t n;
	size_t first, n_instructions; /* in addresses */
};

typedef VEC(uint32_t) numbers;

/* Texts and positions of one module, each once. */
struct module_maker {
	struct archive_maker *of;
	struct code_image *image;
	uint32_t module; /* module_id */
	const struct place *places;
	size_t n_places;
	VEC(struct hosted) functions;
	VEC(uint64_t) addresses; /* of instructions */
	uint32_t *position;      /* [addresses.n] number + 1 of each, or 0; owned */
	VEC(const char *) strings;
	struct map by_text;
	VEC(uint32_t) position_at; /* where each begins in frames */
	numbers frames; /* of each position: count, and name, file, line, and place in files + 1 of each */
	struct map by_frames;
	VEC(struct leading) notes;
	struct map by_shown;
};

struct archive_maker {
	struct code_archive *out;
	const struct profile *p;
	const struct code_archive_wish *wish;
	struct location_columns locations;
	VEC(struct file) files;
	struct map by_path;
	struct arena texts;
	VEC(struct base_name) names;
	struct map by_name;
	uint64_t n_code_bytes, n_text_bytes;
	uint64_t n_module_bytes; /* of attachments */
};

/* Files. */

static bool same_file(const void *things, uint32_t value, const void *key)
{
	const struct archive_maker *m = things;

	return strcmp(m->files.at[value].path, key) == 0;
}

static struct file *file_of(struct archive_maker *m, const char *path)
{
	size_t n = strlen(path);
	uint64_t hash = hash_bytes(path, n);
	uint32_t at = map_find(&m->by_path, hash, same_file, m, path);
	struct file f = { .compiled = false };

	if (at == MAP_NONE) {
		f.path = arena_strndup(&m->texts, path, n);
		at = (uint32_t)m->files.n;
		map_add(&m->by_path, hash, at);
		vec_push(&m->files, f);
	}
	return &m->files.at[at];
}

static void mark(struct file *f, uint32_t line)
{
	if (line > 0 && (f->lines.n == 0 || f->lines.at[f->lines.n - 1] != line))
		vec_push(&f->lines, line);
}

/* The positions of frames, and where their functions are declared. */
static void mark_frames(struct archive_maker *m, uint32_t n_locations)
{
	const char *path;

	for (uint32_t i = 0; i < n_locations; i++) {
		const struct frame *f = location_frames(&m->locations, i);

		for (uint32_t k = 0; f && k <= f->n_more; k++) {
			path = profile_string(m->p, (string_id){ f[k].file }, NULL);
			if (*path)
				mark(file_of(m, path), f[k].line);
		}
	}
}

static void mark_functions(struct archive_maker *m, uint32_t n_functions)
{
	for (uint32_t i = 0; i < n_functions; i++) {
		const struct function *f = profile_function(m->p, (function_id){ i });
		const char *path = profile_string(m->p, function_file(f), NULL);

		if (*path)
			mark(file_of(m, path), function_line(f));
	}
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return COMPARE(a, b);
}

static const char *shown_path(const struct archive_maker *m, const char *path)
{
	return m->wish->paths ? path : path_last_part(path);
}

/* Stretches of lines around marks: [2] of each, first and last. */
static void stretches_of(const struct file *f, uint32_t n_lines, numbers *out)
{
	for (size_t i = 0; i < f->lines.n; i++) {
		uint32_t line = f->lines.at[i], from, to;

		if (line > n_lines)
			break;
		from = line > CONTEXT_LINES ? line - CONTEXT_LINES : 1;
		to = n_lines - line < CONTEXT_LINES ? n_lines : line + CONTEXT_LINES;
		if (out->n > 0 && from <= out->at[out->n - 1] + GAP_LINES) {
			out->at[out->n - 1] = to;
		} else {
			vec_push(out, from);
			vec_push(out, to);
		}
	}
}

static void put_source(struct archive_maker *m, const struct file *f, const struct source_file *s)
{
	struct code_archive_source out = { .path = xstrdup(shown_path(m, f->path)) };
	const char *found = shown_path(m, s->path);
	numbers stretches = { 0 };
	uint32_t next = 1;

	pack_put_text(&out.bytes, found, strlen(found));
	pack_put(&out.bytes, s->state);
	pack_put(&out.bytes, s->n_lines);
	stretches_of(f, s->n_lines, &stretches);
	pack_put(&out.bytes, stretches.n / 2);
	for (size_t i = 0; i < stretches.n; i += 2) {
		pack_put(&out.bytes, stretches.at[i] - next);
		pack_put(&out.bytes, stretches.at[i + 1] - stretches.at[i] + 1);
		for (uint32_t k = stretches.at[i]; k <= stretches.at[i + 1]; k++) {
			const char *text = source_file_line(s, k);

			pack_put_text(&out.bytes, text ? text : "", text ? strlen(text) : 0);
			out.n_lines++;
		}
		next = stretches.at[i + 1] + 1;
	}
	source_programs_put(&f->programs, s, &out.bytes);
	m->out->n_lines += out.n_lines;
	m->n_text_bytes += out.bytes.n;
	vec_push(&m->out->sources, out);
	vec_done(&stretches);
}

/* Base names. */

static bool same_name(const void *things, uint32_t value, const void *key)
{
	const struct archive_maker *m = things;

	return strcmp(m->names.at[value].name, key) == 0;
}

static uint32_t find_name(const struct archive_maker *m, const char *path)
{
	const char *name = shown_path(m, path);

	return map_find(&m->by_name, hash_bytes(name, strlen(name)), same_name, m, name);
}

/* Two paths are of one file where the same one was opened for both. Lines of a pack have none. */
static void note_name(struct archive_maker *m, const char *path, const struct source_file *s)
{
	const char *name = shown_path(m, path);
	char *found = s->state != SOURCE_MISSING && !s->number ? realpath(s->path, NULL) : NULL;
	uint32_t at = find_name(m, path);

	if (at == MAP_NONE) {
		map_add(&m->by_name, hash_bytes(name, strlen(name)), (uint32_t)m->names.n);
		vec_push(&m->names, ((struct base_name){ .name = name, .found = found }));
		return;
	}
	if (!found || !m->names.at[at].found || strcmp(found, m->names.at[at].found) != 0)
		m->names.at[at].shared = true;
	free(found);
}

/* Takes out the sources whose names several files share. */
static void drop_shared(struct archive_maker *m)
{
	struct code_archive *out = m->out;
	size_t n = 0;

	for (size_t i = 0; i < out->sources.n; i++) {
		struct code_archive_source *s = &out->sources.at[i];

		if (!m->names.at[find_name(m, s->path)].shared) {
			out->sources.at[n++] = *s;
			continue;
		}
		out->n_files_shared++;
		out->n_lines -= s->n_lines;
		free(s->path);
		vec_done(&s->bytes);
	}
	out->sources.n = n;
}

static int put_sources(struct archive_maker *m, struct progress *progress)
{
	struct source_options where = m->wish->where->sources;

	where.packed = m->p;
	for (size_t i = 0; i < m->files.n; i++) {
		struct file *f = &m->files.at[i];
		struct source_program first = source_programs_first(&f->programs);
		struct source_file s = { .state = SOURCE_MISSING };

		if (progress_cancelled(progress))
			return -ECANCELED;
		if (m->n_text_bytes > CODE_ARCHIVE_MOST) {
			m->out->n_files_out += f->lines.n > 0;
			if (!m->wish->paths)
				note_name(m, f->path, &s);
			continue;
		}
		where.told_only = !f->compiled;
		source_file_open(&s, f->path, &where, first.has_md5 ? first.md5 : NULL,
				 first.built_ns);
		if (s.state == SOURCE_MISSING && !f->compiled && f->lines.n > 0 &&
		    f->path[0] == '/' && access(f->path, F_OK) == 0)
			m->out->n_files_untold++;
		if (!m->wish->paths)
			note_name(m, f->path, &s);
		if (f->lines.n > 0)
			qsort(f->lines.at, f->lines.n, sizeof(*f->lines.at), by_number);
		if (s.state != SOURCE_MISSING && f->lines.n > 0)
			put_source(m, f, &s);
		source_file_done(&s);
	}
	if (!m->wish->paths)
		drop_shared(m);
	return 0;
}

/* Texts of a module. */

static bool same_text(const void *things, uint32_t value, const void *key)
{
	const struct module_maker *m = things;

	return strcmp(m->strings.at[value], key) == 0;
}

/* The number + 1 of a text; 0 of NULL. */
static uint32_t text_of(struct module_maker *m, const char *text)
{
	size_t n;
	uint64_t hash;
	uint32_t at;

	if (!text)
		return 0;
	n = strlen(text);
	hash = hash_bytes(text, n);
	at = map_find(&m->by_text, hash, same_text, m, text);
	if (at == MAP_NONE) {
		at = (uint32_t)m->strings.n;
		map_add(&m->by_text, hash, at);
		vec_push(&m->strings, arena_strndup(&m->of->texts, text, n));
	}
	return at + 1;
}

static size_t words_of(const uint32_t *frames)
{
	return 1 + FRAME_WORDS * (size_t)frames[0];
}

static bool same_frames(const void *things, uint32_t value, const void *key)
{
	const struct module_maker *m = things;
	const uint32_t *a = m->frames.at + m->position_at.at[value], *b = key;

	return a[0] == b[0] && memcmp(a, b, words_of(a) * sizeof(*a)) == 0;
}

/* code_take */
static void take_frames(void *arg, size_t which, const struct code_frame *f, size_t n)
{
	struct module_maker *m = arg;
	size_t begin = m->frames.n;
	uint64_t hash;
	uint32_t at;

	vec_push(&m->frames, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		vec_push(&m->frames, text_of(m, f[i].name));
		vec_push(&m->frames, text_of(m, f[i].file ? shown_path(m->of, f[i].file) : NULL));
		vec_push(&m->frames, f[i].line);
		vec_push(&m->frames,
			 f[i].file ? (uint32_t)(file_of(m->of, f[i].file) - m->of->files.at) + 1
				   : 0);
	}
	hash = hash_bytes(m->frames.at + begin, (m->frames.n - begin) * sizeof(uint32_t));
	at = map_find(&m->by_frames, hash, same_frames, m, m->frames.at + begin);
	if (at != MAP_NONE) {
		m->frames.n = begin;
		m->position[which] = at + 1;
		return;
	}
	at = (uint32_t)m->position_at.n;
	vec_push(&m->position_at, (uint32_t)begin);
	map_add(&m->by_frames, hash, at);
	m->position[which] = at + 1;
	for (size_t i = 0; i < n; i++) {
		struct file *file = f[i].file ? file_of(m->of, f[i].file) : NULL;

		if (!file)
			continue;
		mark(file, f[i].line);
		file->compiled |= !code_image_packed(m->image);
		source_programs_note(&file->programs, m->module, m->image, f[i].md5);
	}
}

/* Code of a module. */

static void find_functions(struct module_maker *m)
{
	struct code_extent at;

	for (size_t i = 0; i < m->n_places; i++) {
		const struct hosted *last = m->functions.n > 0
						    ? &m->functions.at[m->functions.n - 1]
						    : NULL;
		uint64_t address = m->places[i].address;

		if (last && address >= last->at.begin && address < last->at.end)
			continue;
		if (code_image_function(m->image, address, &at))
			vec_push(&m->functions, ((struct hosted){ .at = at }));
	}
}

static int by_begin(const void *x, const void *y)
{
	const struct hosted *a = x, *b = y;

	return COMPARE(a->at.begin, b->at.begin);
}

static void sort_functions(struct module_maker *m)
{
	size_t n = 0;

	if (m->functions.n > 0)
		qsort(m->functions.at, m->functions.n, sizeof(*m->functions.at), by_begin);
	for (size_t i = 0; i < m->functions.n; i++)
		if (n == 0 || m->functions.at[n - 1].at.begin != m->functions.at[i].at.begin)
			m->functions.at[n++] = m->functions.at[i];
	m->functions.n = n;
}

static bool same_shown(const void *things, uint32_t value, const void *key)
{
	const struct module_maker *m = things;

	return m->notes.at[value].shown == *(const uint64_t *)key;
}

static void add_note(struct module_maker *m, uint64_t shown)
{
	uint64_t hash = hash_u64(shown);
	struct leading n = { shown, NULL };
	char *note;

	if (map_find(&m->by_shown, hash, same_shown, m, &shown) != MAP_NONE)
		return;
	note = code_image_note(m->image, shown);
	if (note)
		n.note = arena_strndup(&m->of->texts, note, strlen(note));
	free(note);
	map_add(&m->by_shown, hash, (uint32_t)m->notes.n);
	vec_push(&m->notes, n);
}

/* Is it the address of an instruction of the function, shown from there on? */
static bool is_inside(const struct module_maker *m, const struct hosted *f, uint64_t shown,
		      uint64_t to)
{
	size_t low = f->first;

	if (to < shown || to - shown >= f->at.end - f->at.begin)
		return false;
	to = f->at.begin + (to - shown);
	BISECT(low, m->addresses.n, i, m->addresses.at[i] < to);
	return low < m->addresses.n && m->addresses.at[low] == to;
}

static void decode(struct module_maker *m, struct disassembler *dis, struct hosted *f)
{
	uint64_t shown = code_image_shown(m->image, f->at.begin), at_shown = shown;
	VEC(uint64_t) jumps = { 0 };
	const uint8_t *at = f->bytes;
	size_t left = f->n;
	struct decoded d;

	f->first = m->addresses.n;
	while (dis && disassembler_next(dis, &at, &left, &at_shown, &d)) {
		uint64_t leads = d.target != CODE_NO_TARGET ? d.target : d.refers;

		vec_push(&m->addresses, f->at.begin + (d.address - shown));
		if (leads == CODE_NO_TARGET)
			continue;
		if (d.target != CODE_NO_TARGET && d.flow != FLOW_CALL)
			vec_push(&jumps, leads);
		else
			add_note(m, leads);
	}
	f->n_instructions = m->addresses.n - f->first;
	/* Jumps inside have the number of an instruction, and need no name. */
	for (size_t i = 0; i < jumps.n; i++)
		if (!is_inside(m, f, shown, jumps.at[i]))
			add_note(m, jumps.at[i]);
	vec_done(&jumps);
}

static void read_functions(struct module_maker *m)
{
	struct archive_maker *of = m->of;
	struct disassembler *dis = code_image_swapped(m->image)
					   ? NULL
					   : disassembler_new(code_image_machine(m->image),
							      code_image_is64(m->image));

	for (size_t i = 0; i < m->functions.n; i++) {
		struct hosted *f = &m->functions.at[i];
		uint64_t n = f->at.end - f->at.begin;

		n = n < CODE_IMAGE_MOST ? n : CODE_IMAGE_MOST;
		of->n_code_bytes += n;
		if (of->n_code_bytes > CODE_ARCHIVE_MOST) {
			of->n_code_bytes -= n;
			of->out->n_functions_out++;
			continue;
		}
		f->bytes = code_image_read(m->image, f->at.begin, (size_t)n);
		f->n = f->bytes ? (size_t)n : 0;
		of->out->n_functions += f->bytes != NULL;
		decode(m, dis, f);
	}
	disassembler_free(dis);
}

/* The bytes. */

static void put_runs(const struct module_maker *m, const struct hosted *f, pack_bytes *out)
{
	for (size_t i = f->first, end = f->first + f->n_instructions, next; i < end; i = next) {
		uint64_t to = f->at.begin + f->n;

		for (next = i + 1; next < end && m->position[next] == m->position[i]; next++)
			;
		if (next < end)
			to = m->addresses.at[next];
		pack_put(out, to - m->addresses.at[i]);
		pack_put(out, m->position[i]);
	}
}

static void put_functions(struct module_maker *m, pack_bytes *out)
{
	uint64_t before = 0;
	pack_bytes runs = { 0 };

	pack_put(out, m->functions.n);
	for (size_t i = 0; i < m->functions.n; i++) {
		const struct hosted *f = &m->functions.at[i];

		pack_put(out, f->at.begin - before);
		before = f->at.begin;
		pack_put(out, f->at.end - f->at.begin);
		pack_put_signed(out,
				(int64_t)(code_image_shown(m->image, f->at.begin) - f->at.begin));
		pack_put(out, text_of(m, f->at.name));
		pack_put_text(out, (const char *)f->bytes, f->n);
		vec_clear(&runs);
		put_runs(m, f, &runs);
		pack_put_text(out, (const char *)runs.at, runs.n);
	}
	vec_done(&runs);
}

static int by_shown(const void *x, const void *y)
{
	const struct leading *a = x, *b = y;

	return COMPARE(a->shown, b->shown);
}

static void put_notes(struct module_maker *m, pack_bytes *out)
{
	uint64_t before = 0;
	size_t n = 0;

	for (size_t i = 0; i < m->notes.n; i++)
		if (m->notes.at[i].note)
			m->notes.at[n++] = m->notes.at[i];
	if (n > 0)
		qsort(m->notes.at, n, sizeof(*m->notes.at), by_shown);
	pack_put(out, n);
	for (size_t i = 0; i < n; i++) {
		pack_put(out, m->notes.at[i].shown - before);
		before = m->notes.at[i].shown;
		pack_put(out, text_of(m, m->notes.at[i].note));
	}
}

static void put_module(struct module_maker *m, pack_bytes *out)
{
	const char *why = code_image_why(m->image), *path = code_image_path(m->image);
	unsigned flags = (code_image_is64(m->image) ? PACKED_IS64 : 0) |
			 (code_image_swapped(m->image) ? PACKED_SWAPPED : 0) |
			 (code_image_unverified(m->image) ? PACKED_UNVERIFIED : 0);
	pack_bytes rest = { 0 };

	path = shown_path(m->of, path);
	why = why && m->of->wish->paths ? why : "";
	pack_put_text(out, why, strlen(why));
	pack_put_text(out, path, strlen(path));
	pack_put(out, code_image_machine(m->image));
	pack_put(out, flags);
	/* Strings come first, and are known last. */
	pack_put(&rest, m->position_at.n);
	for (size_t i = 0; i < m->position_at.n; i++) {
		const uint32_t *frames = m->frames.at + m->position_at.at[i];

		pack_put(&rest, frames[0]);
		for (size_t k = 1; k < words_of(frames); k++)
			if (k % FRAME_WORDS != 0)
				pack_put(&rest, frames[k]);
	}
	put_functions(m, &rest);
	put_notes(m, &rest);
	pack_put(out, m->strings.n);
	for (size_t i = 0; i < m->strings.n; i++)
		pack_put_text(out, m->strings.at[i], strlen(m->strings.at[i]));
	pack_put_bytes(out, rest.at, rest.n);
	vec_done(&rest);
}

static void module_done(struct module_maker *m)
{
	for (size_t i = 0; i < m->functions.n; i++)
		free(m->functions.at[i].bytes);
	vec_done(&m->functions);
	vec_done(&m->addresses);
	vec_done(&m->strings);
	vec_done(&m->position_at);
	vec_done(&m->frames);
	vec_done(&m->notes);
	map_done(&m->by_text);
	map_done(&m->by_frames);
	map_done(&m->by_shown);
	free(m->position);
	code_image_free(m->image);
}

/* A place whose function has a name, by which a kernel's base is known. */
static const char *name_in(const struct archive_maker *m, const struct place *places, size_t n,
			   uint64_t *address)
{
	*address = places[0].address;
	for (size_t i = 0; i < n; i++) {
		uint32_t f = location_function(&m->locations, places[i].location);

		if (f == ID_NONE)
			continue;
		*address = places[i].address;
		return profile_string(m->p, profile_function(m->p, (function_id){ f })->name, NULL);
	}
	return "";
}

static int make_module(struct archive_maker *of, module_id module, const struct place *places,
		       size_t n, struct progress *progress)
{
	struct module_maker m = { .of = of, .module = module.v, .places = places, .n_places = n };
	struct code_archive_module out = { .module = module };
	uint64_t address;
	const char *name = name_in(of, places, n, &address);
	int rc = 0;

	m.image = code_image_open(of->p, module, of->wish->where->symbols, name, address);
	if (!code_image_why(m.image)) {
		find_functions(&m);
		sort_functions(&m);
		read_functions(&m);
	}
	/* Functions whose ends nothing tells, or whose code is not here, have sources too. */
	for (size_t i = 0; i < n; i++)
		vec_push(&m.addresses, places[i].address);
	m.position = xcalloc(m.addresses.n + 1, sizeof(*m.position));
	rc = code_image_frames(m.image, m.addresses.at, m.addresses.n, take_frames, &m, progress);
	if (rc == 0 && of->wish->code)
		put_module(&m, &out.bytes);
	of->n_module_bytes += out.bytes.n;
	if (of->n_module_bytes > CODE_ARCHIVE_ATTACHED) {
		of->n_module_bytes -= out.bytes.n;
		of->out->n_functions_out += m.functions.n;
		vec_done(&out.bytes);
	} else if (rc == 0 && of->wish->code) {
		vec_push(&of->out->modules, out);
	}
	module_done(&m);
	return rc;
}

/* Places of all locations, by module and address. */
struct placed {
	uint32_t module;
	struct place at;
};

static int by_module(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;

	return COMPARE(a->module, b->module) ?: COMPARE(a->at.address, b->at.address) ?:
	       COMPARE(a->at.location, b->at.location);
}

static int make_modules(struct archive_maker *m, uint32_t n_locations, struct progress *progress)
{
	VEC(struct placed) all = { 0 };
	VEC(struct place) places = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < n_locations; i++)
		if (m->locations.module[i] != 0 && m->locations.address[i] != 0)
			vec_push(&all, ((struct placed){ m->locations.module[i],
							 { m->locations.address[i], i } }));
	if (all.n > 0)
		qsort(all.at, all.n, sizeof(*all.at), by_module);
	for (size_t from = 0, to; from < all.n && rc == 0; from = to) {
		vec_clear(&places);
		for (to = from; to < all.n && all.at[to].module == all.at[from].module; to++)
			vec_push(&places, all.at[to].at);
		rc = progress_cancelled(progress)
			     ? -ECANCELED
			     : make_module(m, (module_id){ all.at[from].module }, places.at,
					   places.n, progress);
	}
	vec_done(&all);
	vec_done(&places);
	return rc;
}

int code_archive_make(struct code_archive *out, const struct profile *p,
		      const struct code_archive_wish *wish, struct progress *progress)
{
	struct archive_maker m = { .out = out, .p = p, .wish = wish };
	struct profile_counts counts;
	int rc;

	*out = (struct code_archive){ .n_functions = 0 };
	profile_counts_read(p, &counts);
	profile_locations(p, &m.locations);
	mark_frames(&m, counts.n_locations);
	mark_functions(&m, counts.n_functions);
	rc = wish->code || wish->sources ? make_modules(&m, counts.n_locations, progress) : 0;
	if (rc == 0 && wish->sources)
		rc = put_sources(&m, progress);
	for (size_t i = 0; i < m.files.n; i++) {
		vec_done(&m.files.at[i].lines);
		vec_done(&m.files.at[i].programs);
	}
	vec_done(&m.files);
	map_done(&m.by_path);
	for (size_t i = 0; i < m.names.n; i++)
		free(m.names.at[i].found);
	vec_done(&m.names);
	map_done(&m.by_name);
	arena_done(&m.texts);
	return rc;
}

void code_archive_done(struct code_archive *a)
{
	for (size_t i = 0; i < a->modules.n; i++)
		vec_done(&a->modules.at[i].bytes);
	for (size_t i = 0; i < a->sources.n; i++) {
		vec_done(&a->sources.at[i].bytes);
		free(a->sources.at[i].path);
	}
	vec_done(&a->modules);
	vec_done(&a->sources);
}
