/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/report/report_memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/report/json_out.h"
#include "cli/report/report.h"
#include "cli/report/report_info.h"
#include "cli/report/report_notes.h"
#include "query/analysis.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/resident.h"
#include "query/core/filter.h"

/* Sites whose stacks are in the text. */
#define MOST_STACKS 10u

/* A part of the peak that is not worth a word. */
#define LEAST_EXCESS 0.0005

/* Columns of a number in a file; on a terminal it is as many as the widest has. */
#define NUMBER_COLS 12

/* Where width is limited: what names keep, what they need before there is room for modules, what these take. */
#define NAME_COLS_MIN   24
#define MODULE_ROOM_MIN 48
#define MODULE_COLS     24

/* In front of the frames of a stack; and what its title leaves for a name, where width is limited. */
#define FRAME_INDENT 4
#define TITLE_COLS   40

static bool counts(int column)
{
	return column == FOOTPRINT_CALLS || column == FOOTPRINT_TEMPORARY;
}

/* How many of the sites the report's limits leave. */
static uint32_t n_shown(const struct report *r)
{
	uint32_t n = r->analysis->footprint->n_sites;

	return r->max_rows > 0 && r->max_rows < n ? (uint32_t)r->max_rows : n;
}

static const char *cell(const struct footprint *f, const int64_t *sum, int column,
			char out[FMT_SIZE + 1])
{
	char number[FMT_SIZE];

	fmt_weight(number, sum[column], counts(column) ? UNIT_COUNT : UNIT_BYTES, f->scale[column]);
	snprintf(out, FMT_SIZE + 1, "%s%s", f->manner.sampled ? "~" : "", number);
	return out;
}

/* How the table is laid out. */
struct layout {
	int cols[FOOTPRINT_N_COLUMNS]; /* of each number; 0: it is left out */
	size_t name;                   /* of the name and the module together; 0: unlimited */
	bool ascii;
};

/* The titles in the order of the columns, those of footprint_column_name() as screens have them. */
static const char *title(const struct footprint *f, int column, char out[FMT_SIZE])
{
	const char *name = column == FOOTPRINT_LEAKED && f->manner.lives_on
				   ? "still live"
				   : footprint_column_name((enum footprint_column)column);
	size_t n = strlen(name);

	for (size_t i = 0; i <= n; i++)
		out[i] = (char)toupper((unsigned char)name[i]);
	return out;
}

static int number_cols(const struct report *r, int column)
{
	const struct footprint *f = r->analysis->footprint;
	char text[FMT_SIZE + 1];
	size_t most = strlen(title(f, column, text)), n = strlen(cell(f, f->total, column, text));

	most = n > most ? n : most;
	for (uint32_t i = 0; i < n_shown(r); i++) {
		n = strlen(cell(f, f->site[i].sum, column, text));
		most = n > most ? n : most;
	}
	return (int)most + 1; /* a gap, and room for the # before the first title */
}

/* What lives to the end of a program that has ended has leaked: equal sums are of the same blocks, and are said once. */
static bool live_is_leaked(const struct footprint *f)
{
	return f->lens.cursor_ns == INT64_MAX && !f->manner.lives_on && !f->manner.goes_on &&
	       f->total[FOOTPRINT_LIVE] == f->total[FOOTPRINT_LEAKED];
}

/* What is missed least goes where width is limited. */
static void make_layout(const struct report *r, struct layout *l)
{
	static const int least_missed[] = { FOOTPRINT_TEMPORARY, FOOTPRINT_CALLS, FOOTPRINT_BYTES };
	size_t taken = 2, width = (size_t)(r->width > 0 ? r->width : 0);

	*l = (struct layout){ .ascii = r->ascii };
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++) {
		if ((c == FOOTPRINT_LIVE && live_is_leaked(r->analysis->footprint)) ||
		    !footprint_knows(r->analysis->footprint, (enum footprint_column)c))
			continue;
		l->cols[c] = width > 0 ? number_cols(r, c) : NUMBER_COLS;
		taken += (size_t)l->cols[c] + 1;
	}
	for (size_t i = 0; width > 0 && i < 3 && taken + NAME_COLS_MIN > width; i++) {
		if (l->cols[least_missed[i]] == 0)
			continue;
		taken -= (size_t)l->cols[least_missed[i]] + 1;
		l->cols[least_missed[i]] = 0;
	}
	if (width > 0)
		l->name = width > taken + NAME_COLS_MIN ? width - taken : NAME_COLS_MIN;
}

/* "parser.cc:118", or "" where the line is not known. The caller frees. */
static char *source_text(const struct footprint *f, const struct footprint_site *site, bool ascii)
{
	const char *path = profile_string(f->profile, (string_id){ site->file }, NULL);
	char *name, *out;

	if (site->line == 0)
		return xstrdup("");
	path = path_last_part(path);
	name = text_clean(path, strlen(path), ascii);
	out = xasprintf("%s:%u", name, site->line);
	free(name);
	return out;
}

/* A name with source and module behind it, in as many columns. */
static void put_place(const struct layout *l, const char *name, const char *source,
		      const char *module, FILE *to)
{
	bool brief = l->name > 0 && l->name < MODULE_ROOM_MIN;
	char *behind = text_fold_name(brief ? "" : module, l->name > 0 ? MODULE_COLS : 0, l->ascii);
	size_t taken = (*behind ? 2 + text_width(behind, strlen(behind)) : 0) +
		       (*source ? 2 + text_width(source, strlen(source)) : 0);
	size_t room = l->name > taken + NAME_COLS_MIN / 2 ? l->name - taken : NAME_COLS_MIN / 2;
	char *folded = text_fold_name(name, l->name > 0 ? room : 0, l->ascii);

	fprintf(to, "%s%s%s%s%s\n", folded, *source ? "  " : "", source, *behind ? "  " : "",
		behind);
	free(folded);
	free(behind);
}

static void put_row(const struct footprint *f, const struct layout *l, const int64_t *sum,
		    const char *label, const char *source, const char *module, FILE *to)
{
	char text[FMT_SIZE + 1];

	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
		if (l->cols[c] > 0)
			fprintf(to, "%*s ", l->cols[c], cell(f, sum, c, text));
	fputc(' ', to);
	put_place(l, label, source, module, to);
}

/* What is resident beyond the sites, where that is known. */
static void put_beyond(const struct footprint *f, const struct layout *l, FILE *to)
{
	struct resident_beyond beyond;
	char text[FMT_SIZE];
	bool below;

	if (!resident_beyond(f, &beyond))
		return;
	below = (l->cols[FOOTPRINT_PEAK] > 0 && beyond.peak < 0) ||
		(l->cols[FOOTPRINT_LIVE] > 0 && beyond.live < 0);
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
		if (l->cols[c] > 0)
			fprintf(to, "%*s ", l->cols[c],
				c == FOOTPRINT_PEAK   ? fmt_bytes(text, beyond.peak)
				: c == FOOTPRINT_LIVE ? fmt_bytes(text, beyond.live)
						      : "-");
	fprintf(to, " %s\n", below ? RESIDENT_BEYOND "  " RESIDENT_BELOW : RESIDENT_BEYOND);
}

static void put_titles(const struct footprint *f, const struct layout *l, FILE *to)
{
	char text[FMT_SIZE], line[FOOTPRINT_N_COLUMNS * FMT_SIZE];
	size_t n = 0;

	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
		if (l->cols[c] > 0)
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%*s ", l->cols[c],
					      title(f, c, text));
	if (line[0] == ' ')
		line[0] = '#';
	fprintf(to, "%s %s\n", line, footprint_rows_title(f));
}

/* A frame, on its way to text or JSON. */
struct frame_told {
	const char *name, *module;
	const char *file; /* "": not known */
	uint32_t line;
};

typedef void frame_fn(void *arg, const struct frame_told *frame);

static struct frame_told tell(const struct footprint *f, uint32_t function, uint32_t module,
			      string_id file, uint32_t line)
{
	const struct key *key = &f->keys.key[groups_of_frame(&f->keys, function, module)];

	return (struct frame_told){ key->label, key->module, profile_string(f->profile, file, NULL),
				    line };
}

/* Says the frames of one place in the code, innermost first. */
static void each_frame_of(const struct footprint *f, const struct location_columns *l,
			  uint32_t location, frame_fn *fn, void *arg)
{
	const struct frame *run = f->lens.inlines ? location_frames(l, location) : NULL;
	uint32_t function = location_function(l, location);
	struct frame_told told;

	for (uint32_t i = run ? run->n_more + 1 : 0; i-- > 0;) {
		told = tell(f, run[i].function, l->module[location], (string_id){ run[i].file },
			    run[i].line);
		fn(arg, &told);
	}
	if (run)
		return;
	told = tell(f, function, l->module[location], (string_id){ 0 }, 0);
	fn(arg, &told);
}

/* Says the frames of a stack, innermost first. */
static void each_frame(const struct footprint *f, uint32_t stack, frame_fn *fn, void *arg)
{
	struct location_columns l;
	struct stack_columns s;

	profile_locations(f->profile, &l);
	profile_stacks_of(f->profile, &f->counts, &s);
	for (; stack != 0; stack = s.parent[stack])
		each_frame_of(f, &l, s.location[stack], fn, arg);
}

/*
 * Blocks that glibc frees after the recording's end, or keeps until the process is gone: a frame of its own, and why nobody has to
 * search for a leak.
 */
static const struct {
	const char *frame, *why;
} kept_by_libc[] = {
	{ "_IO_file_doallocate",
	  "libc gives up the buffers of standard input, output and error with the process, after the recording's end; fclose frees those of other files" },
	{ "_dl_allocate_tls",
	  "libc keeps the memory of ended threads for the next ones, until the process is gone" },
};

/* Where frames are printed. */
struct stack_text {
	FILE *to;
	bool ascii;
	int width; /* 0: unlimited */
	const char
		*kept; /* why libc has the block, by a frame that was printed; NULL: it has not */
};

/* Does libc's symbol, with or without a version, have that name? */
static bool is_symbol(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	return strncmp(symbol, name, n) == 0 && (symbol[n] == '\0' || symbol[n] == '@');
}

static const char *why_kept(const char *symbol)
{
	for (size_t i = 0; i < sizeof(kept_by_libc) / sizeof(*kept_by_libc); i++)
		if (is_symbol(symbol, kept_by_libc[i].frame))
			return kept_by_libc[i].why;
	return NULL;
}

/* What stands behind the name of a frame: where it is in the source, and the module. The caller frees. */
static char *behind_frame(const struct frame_told *frame, bool ascii)
{
	char line[FMT_SIZE] = "", *text, *clean;

	if (frame->line > 0)
		snprintf(line, sizeof(line), ":%u", frame->line);
	text = xasprintf("%s%s%s%s%s", frame->line > 0 ? "  " : "",
			 frame->line == 0 ? "" : path_last_part(frame->file), line,
			 *frame->module ? "  " : "", frame->module);
	clean = text_clean(text, strlen(text), ascii);
	free(text);
	return clean;
}

static void put_text_frame(void *arg, const struct frame_told *frame)
{
	struct stack_text *t = arg;
	char *behind = behind_frame(frame, t->ascii), *name;
	int room = t->width - FRAME_INDENT - (int)text_width(behind, strlen(behind));

	if (room < NAME_COLS_MIN)
		room = NAME_COLS_MIN;
	if (!t->kept)
		t->kept = why_kept(frame->name);
	name = text_fold_name(frame->name, t->width > 0 ? (size_t)room : 0, t->ascii);
	fprintf(t->to, "%*s%s%s\n", FRAME_INDENT, "", name, behind);
	free(name);
	free(behind);
}

/* The stack at which each of the first sites allocated most. */
static void put_stacks(const struct report *r, FILE *to)
{
	const struct footprint *f = r->analysis->footprint;
	uint32_t n = n_shown(r) < MOST_STACKS ? n_shown(r) : MOST_STACKS;
	struct stack_text t = { to, r->ascii, r->stack_width, NULL };

	for (uint32_t i = 0; i < n && f->site[i].stack != 0 && !ferror(to); i++) {
		const char *label = f->rows->key[f->site[i].key].label;
		char *name = text_fold_name(label, r->stack_width > 0 ? TITLE_COLS : 0, r->ascii);
		char *source;

		source = source_text(f, &f->site[i], r->ascii);
		fprintf(to, "\n# %s%s%s: the stack that allocated most there, innermost first\n",
			name, *source ? "  " : "", source);
		free(source);
		free(name);
		t.kept = NULL;
		each_frame(f, f->site[i].stack, put_text_frame, &t);
		if (t.kept && f->site[i].sum[FOOTPRINT_LEAKED] > 0)
			fprintf(to, "# %s\n", t.kept);
	}
}

/* A line with a text of the recording's, if there is one. */
static void put_remark(const char *before, const char *text, const char *behind, bool ascii,
		       FILE *to)
{
	char *clean = text ? text_clean(text, strlen(text), ascii) : NULL;

	if (clean)
		fprintf(to, "# %s%s%s\n", before, clean, behind);
	free(clean);
}

static void put_manner(const struct footprint *f, bool ascii, FILE *to)
{
	char text[FMT_SIZE], n[FMT_COUNTED_SIZE];

	if (f->manner.sampled)
		fprintf(to,
			"# estimated: not every allocation was recorded; the peak is right to within %s %%, with 95 %% confidence%s",
			fmt_percent(text, (int64_t)(f->error * 1e6), 1000000),
			f->excess >= LEAST_EXCESS ? "" : "\n");
	if (f->manner.sampled && f->excess >= LEAST_EXCESS)
		fprintf(to,
			"; as the highest of many estimates, it is too high by up to %s %% more\n",
			fmt_percent(text, (int64_t)(f->excess * 1e6), 1000000));
	if (f->manner.culled_ns > 0)
		fprintf(to,
			"# culled: blocks that lived less than %s are in BYTES, CALLS and TEMPORARY alone\n",
			fmt_ns(text, f->manner.culled_ns));
	if (f->manner.attached)
		fputs("# attached to a running program: what it had allocated before is not known\n",
		      to);
	if (f->manner.n_gone > 0)
		fprintf(to,
			"# %s of processes that ended before the others: what they held then is leaked, and live no more\n",
			fmt_counted(n, f->manner.n_gone, "heap"));
	if (f->manner.lacks & HEAP_LACKS_CALLS)
		fputs("# snapshots: single blocks are not known, nor which were freed\n", to);
	if (f->manner.lacks & HEAP_LACKS_TIMES && !f->manner.clock)
		fputs("# the file does not say when memory was allocated: there is no memory over time\n",
		      to);
	put_remark("times are none: ", f->manner.clock, "", ascii, to);
	put_remark("paused ", f->manner.paused, "", ascii, to);
	put_remark("the process became ", f->manner.became,
		   ", which has a trace of its own if it could be recorded", ascii, to);
	put_remark("stopped: ", f->manner.stopped, "", ascii, to);
	put_remark("", f->manner.goes_on, "", ascii, to);
}

bool report_memory_column(const char *name, enum footprint_column *out)
{
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++) {
		if (strcmp(footprint_column_name((enum footprint_column)c), name) != 0)
			continue;
		*out = (enum footprint_column)c;
		return true;
	}
	return false;
}

void report_memory_text(const struct report *r, FILE *to)
{
	const struct footprint *f = r->analysis->footprint;
	char text[FMT_SIZE];
	struct layout l;

	put_manner(f, r->ascii, to);
	if (f->peak.time_ns != TIME_NONE && !(f->manner.lacks & HEAP_LACKS_TIMES))
		fprintf(to, "# the %s is %s s after the start\n",
			f->peak.n > 1 ? "highest of the processes' peaks" : "peak",
			fmt_exact(text, f->peak.time_ns, 1000000000));
	make_layout(r, &l);
	put_titles(f, &l, to);
	put_row(f, &l, f->total, "(everything)", "", "", to);
	put_beyond(f, &l, to);
	for (uint32_t i = 0; i < n_shown(r) && !ferror(to); i++) {
		const struct key *key = &f->rows->key[f->site[i].key];
		char *source = source_text(f, &f->site[i], r->ascii);
		char *behind = footprint_rows_behind(f, i);

		put_row(f, &l, f->site[i].sum, key->label, source, behind, to);
		free(behind);
		free(source);
	}
	if (n_shown(r) < f->n_sites)
		fprintf(to, "# %s more sites are left out; -n 0 shows all\n",
			fmt_count(text, (int64_t)f->n_sites - n_shown(r)));
	put_stacks(r, to);
}

static void put_json_frame(void *arg, const struct frame_told *frame)
{
	struct json_out *j = arg;

	json_begin(j, NULL, '{', false);
	json_put_text(j, "name", frame->name);
	json_put_text(j, "module", frame->module);
	if (frame->line > 0) {
		json_put_text(j, "file", frame->file);
		json_put_int(j, "line", frame->line);
	}
	json_end(j, '}');
}

static void put_sums(struct json_out *j, const struct footprint *f, const int64_t *sum)
{
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
		if (footprint_knows(f, (enum footprint_column)c))
			json_put_weight(j, footprint_column_name((enum footprint_column)c), sum[c],
					f->scale[c]);
	if (f->in_range)
		json_put_int(j, "change", sum[FOOTPRINT_CHANGE]);
}

/* Only what there is to say. */
static void put_manner_json(struct json_out *j, const struct footprint *f)
{
	if (f->manner.sampled) {
		json_put_bool(j, "estimated", true);
		json_put_double(j, "peak_error", f->error);
		json_put_double(j, "peak_excess", f->excess);
	}
	if (f->manner.culled_ns > 0)
		json_put_int(j, "culled_ns", f->manner.culled_ns);
	if (f->manner.attached)
		json_put_bool(j, "attached", true);
	if (f->manner.lives_on)
		json_put_bool(j, "lives_on", true);
	if (f->manner.lacks & HEAP_LACKS_LIFETIMES)
		json_put_bool(j, "no_lifetimes", true);
	if (f->manner.lacks & HEAP_LACKS_THREADS)
		json_put_bool(j, "no_threads", true);
	if (f->manner.clock)
		json_put_text(j, "clock", f->manner.clock);
	if (f->manner.n_gone > 0)
		json_put_int(j, "gone", f->manner.n_gone);
	if (f->manner.paused)
		json_put_text(j, "paused", f->manner.paused);
	if (f->manner.became)
		json_put_text(j, "became", f->manner.became);
	if (f->manner.stopped)
		json_put_text(j, "stopped", f->manner.stopped);
	if (f->manner.goes_on)
		json_put_bool(j, "being_written", true);
}

void report_memory_json(const struct report *r, FILE *to)
{
	const struct footprint *f = r->analysis->footprint;
	char *filter = f->lens.filter ? filter_text(f->lens.filter) : NULL;
	struct json_out j = { .to = to };
	struct resident_beyond beyond;

	json_begin(&j, NULL, '{', true);
	json_put_text(&j, "proftop", VERSION);
	json_put_text(&j, "view", "memory");
	json_put_text(&j, "filter", filter ? filter : "");
	json_put_text(&j, "group", footprint_rows_name(f));
	json_put_int(&j, "duration_ns", f->whole_ns);
	if (f->peak.time_ns != TIME_NONE)
		json_put_int(&j, "peak_ns", f->peak.time_ns);
	put_manner_json(&j, f);
	if (report_info_facts(r->analysis->profile, FACT_LOSS) > 0)
		json_put_bool(&j, "lost", true);
	json_begin(&j, "total", '{', false);
	put_sums(&j, f, f->total);
	json_end(&j, '}');
	if (resident_beyond(f, &beyond)) {
		json_begin(&j, "resident_beyond_live", '{', false);
		json_put_int(&j, "live", beyond.live);
		json_put_int(&j, "peak", beyond.peak);
		json_end(&j, '}');
	}
	json_begin(&j, "rows", '[', true);
	for (uint32_t i = 0; i < n_shown(r) && !ferror(to); i++) {
		const struct key *key = &f->rows->key[f->site[i].key];

		json_begin(&j, NULL, '{', false);
		json_put_text(&j, "name", key->label);
		json_put_text(&j, "module", key->module);
		if (key_tid(f->rows, f->profile, f->site[i].key) >= 0)
			json_put_int(&j, "tid", key_tid(f->rows, f->profile, f->site[i].key));
		if (f->site[i].line > 0) {
			string_id file = { f->site[i].file };

			json_put_text(&j, "file", profile_string(f->profile, file, NULL));
			json_put_int(&j, "line", f->site[i].line);
		}
		put_sums(&j, f, f->site[i].sum);
		json_begin(&j, "stack", '[', false);
		each_frame(f, f->site[i].stack, put_json_frame, &j);
		json_end(&j, ']');
		report_notes_site_json(r, &f->site[i], &j);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	free(filter);
}
