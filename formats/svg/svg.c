/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call tree from the top down, children by falling weight: of deep stacks what is next to the root is seen first. Nothing comes from elsewhere: style and script are inside. Without scripts it is
 * a picture with titles. Frames too narrow to be seen are left out, as there may be millions, and said.
 */
#include "config.h"

#include "formats/svg/svg.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/mem.h"
#include "formats/svg/svg_script.h"
#include "formats/write/text_out.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INNER     (SVG_WIDTH - 2 * SVG_SIDE)
#define TOP       44 /* above the frames: title and buttons */
#define BOTTOM    24 /* below: what is left out */
/* Narrower ones are left out: a tenth of a unit. */
#define NARROWEST (SVG_FULL / (INNER * 10))
#define FONT      "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
/* A change of so much of what is the larger is coloured at full strength. */
#define STRONG    0.5

struct writer {
	const struct analysis *a;
	const struct calltree *tree;
	struct text_out out;
	uint32_t levels; /* of frames that are drawn, with the one of everything */
	uint32_t n_narrow;
};

/* Where a node is in the whole. */
struct span {
	int64_t x, w; /* in SVG_FULL parts */
};

/* Geometry. */

/* Its part of the whole by its weight before it; what is below nothing is nothing. */
static int64_t parts_of(const struct writer *w, int64_t weight)
{
	int64_t whole = w->tree->total[0];

	/* where some are negative, parts are more than the whole */
	weight = weight < whole ? weight : whole;
	return whole > 0 && weight > 0 ? (int64_t)((__int128)weight * SVG_FULL / whole) : 0;
}

/* at, and weight where it is something. */
static int64_t sum_of(int64_t at, int64_t weight)
{
	int64_t sum;

	if (weight <= 0)
		return at;
	return __builtin_add_overflow(at, weight, &sum) ? INT64_MAX : sum;
}

/*
 * Left edges of all nodes: of a node's children one after the other by weight. What a node has itself is at the right of them.
 * [n_nodes]; the caller frees.
 */
static int64_t *left_edges(const struct calltree *t)
{
	int64_t *at = xcalloc(t->n_nodes, sizeof(*at)), *next = xcalloc(t->n_nodes, sizeof(*next));

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t up = t->parent[i];
		int64_t weight = t->total[(size_t)i * t->n_columns];

		at[i] = next[up];
		next[i] = at[i];
		next[up] = sum_of(next[up], weight);
	}
	free(next);
	return at;
}

static struct span span_of(const struct writer *w, const int64_t *left, uint32_t node)
{
	int64_t total = w->tree->total[(size_t)node * w->tree->n_columns];
	struct span s = { .x = parts_of(w, left[node]) };

	s.w = parts_of(w, sum_of(left[node], total)) - s.x;
	return s;
}

/* Text. */

static void put(struct writer *w, const char *s)
{
	text_out(&w->out, s);
}

static void put_name(struct writer *w, const char *s)
{
	text_out_xml(&w->out, s, strlen(s));
}

/* A length in units of the picture, to a hundredth. */
static void put_length(struct writer *w, int64_t hundredths)
{
	text_out_scaled(&w->out, hundredths, 100);
}

static void put_attribute(struct writer *w, const char *name, int64_t v)
{
	text_out_char(&w->out, ' ');
	put(w, name);
	put(w, "=\"");
	text_out_int(&w->out, v);
	text_out_char(&w->out, '"');
}

/* Colours. */

static const char *colour_class(const struct writer *w, uint32_t node)
{
	static const char *const classes[N_FAMILIES] = {
		[FAMILY_UNKNOWN] = "u", [FAMILY_PROGRAM] = "p", [FAMILY_LIBRARY] = "l",
		[FAMILY_LIBC] = "c",    [FAMILY_KERNEL] = "k",  [FAMILY_JIT] = "j",
	};
	const struct key *k;

	if (node == 0)
		return "u";
	k = &w->a->keys.key[w->tree->key[node]];
	return k->flags & FUNCTION_COMM ? "u" : classes[k->family];
}

/* Neighbours differ a little: by their names, so that a function looks the same everywhere. */
static unsigned shade(const struct writer *w, uint32_t node)
{
	const char *label = node ? w->a->keys.key[w->tree->key[node]].label : "";

	return (unsigned)(hash_bytes(label, strlen(label)) >> 32) % 4;
}

/* What a node's numbers are on both sides, and what is said of the change. */
static enum change_verdict change_of(const struct writer *w, uint32_t node,
				     struct noise_delta *delta)
{
	const struct diff *d = w->a->diff;

	diff_delta(d, w->tree->key[node], PART_TOTAL,
		   &w->tree->total[(size_t)node * w->tree->n_columns], delta);
	return node == 0 ? diff_whole_verdict(d) : diff_verdict(&d->nodes, delta);
}

/* Red grew, blue shrank; pale where only one run a side says so; grey is what chance explains. */
static void put_change_colour(struct writer *w, uint32_t node)
{
	struct noise_delta delta;
	enum change_verdict verdict = change_of(w, node, &delta);
	double most = fmax(delta.before, delta.after), change = diff_change(&delta);
	double part = most > 0 ? fmin(fabs(change) / most / STRONG, 1) : 0;
	int pale = (int)lrint(225 - (verdict == VERDICT_OWN ? 60 : 155) * part);
	char fill[32];

	if (verdict == VERDICT_NOISE)
		snprintf(fill, sizeof(fill), "rgb(225,225,225)");
	else if (change > 0)
		snprintf(fill, sizeof(fill), "rgb(245,%d,%d)", pale, pale);
	else
		snprintf(fill, sizeof(fill), "rgb(%d,%d,245)", pale, pale);
	put(w, fill);
}

/* Frames. */

static const char *label_of(const struct writer *w, uint32_t node)
{
	return node ? w->a->keys.key[w->tree->key[node]].label : "all";
}

static void put_weight(struct writer *w, int64_t weight)
{
	enum unit unit = metric_unit(w->a->profile, w->a->lens.column[0].metric);
	char text[FMT_SIZE];

	put(w, fmt_weight(text, weight, unit, w->a->weights.scale[0]));
}

static void put_share(struct writer *w, int64_t weight)
{
	char text[FMT_SIZE];

	put(w, fmt_percent(text, weight, w->tree->total[0]));
	put(w, " %");
}

/* "1.20 s before, 1.60 s after: +400 ms (+33.3 %), within noise" */
static void put_change(struct writer *w, uint32_t node)
{
	static const char *const verdicts[] = {
		[VERDICT_NOISE] = ", within noise",
		[VERDICT_OWN] = ", or one of the two runs differs so of itself",
		[VERDICT_BEYOND] = "",
	};
	struct noise_delta delta;
	enum change_verdict verdict = change_of(w, node, &delta);
	enum unit unit = w->a->diff->unit;
	char text[FMT_SIZE];

	put(w, fmt_amount(text, delta.before, unit));
	put(w, " before, ");
	put(w, fmt_amount(text, delta.after, unit));
	put(w, " after: ");
	put(w, fmt_change(text, diff_change(&delta), unit));
	if (delta.before > 0) {
		put(w, " (");
		put(w, fmt_change_percent(text, diff_change(&delta), delta.before));
		put(w, " %)");
	}
	put(w, verdicts[verdict]);
}

static void put_title(struct writer *w, uint32_t node)
{
	const struct calltree *t = w->tree;
	const int64_t *total = &t->total[(size_t)node * t->n_columns];
	const char *module = node ? w->a->keys.key[t->key[node]].module : "";

	put(w, "<title>");
	put_name(w, label_of(w, node));
	put(w, "\n");
	if (w->a->diff) {
		put_change(w, node);
	} else {
		put_weight(w, total[0]);
		put(w, ", ");
		put_share(w, total[0]);
		put(w, "; self ");
		put_weight(w, t->self[(size_t)node * t->n_columns]);
		put(w, ", ");
		put_share(w, t->self[(size_t)node * t->n_columns]);
	}
	if (*module) {
		put(w, "\n");
		put_name(w, module);
	}
	put(w, "</title>");
}

/* As much of the name as fits into so many letters. */
static void put_label(struct writer *w, const char *label, size_t room)
{
	size_t n = strlen(label), cut = n;

	if (n > room)
		for (cut = room - 2; cut > 0 && (label[cut] & 0xc0) == 0x80; cut--)
			;
	text_out_xml(&w->out, label, cut);
	if (cut < n)
		put(w, "..");
}

static void put_frame(struct writer *w, uint32_t node, struct span s)
{
	int64_t x = SVG_SIDE * 100 + s.x * INNER / (SVG_FULL / 100);
	int64_t width = s.w * INNER / (SVG_FULL / 100);
	int64_t y = TOP + (int64_t)w->tree->depth[node] * SVG_ROW;
	int64_t room = (int64_t)(((double)width / 100 - 6) / SVG_CHAR);

	put(w, "<g");
	put_attribute(w, "data-x", s.x);
	put_attribute(w, "data-w", s.w);
	put_attribute(w, "data-l", w->tree->depth[node]);
	put(w, ">");
	put_title(w, node);
	put(w, "<rect x=\"");
	put_length(w, x);
	put(w, "\" width=\"");
	put_length(w, width > 50 ? width - 40 : 10);
	put(w, "\"");
	put_attribute(w, "y", y);
	if (w->a->diff) {
		put(w, " fill=\"");
		put_change_colour(w, node);
	} else {
		put(w, " class=\"");
		put(w, colour_class(w, node));
		text_out_int(&w->out, shade(w, node));
	}
	put(w, "\"/>");
	if (room >= 3) {
		put(w, "<text x=\"");
		put_length(w, x + 300);
		put(w, "\"");
		put_attribute(w, "y", y + 13);
		put(w, ">");
		put_label(w, label_of(w, node), (size_t)room);
		put(w, "</text>");
	}
	put(w, "</g>\n");
}

/* Goes through what is wide enough; without out only counts. */
static void go_through(struct writer *w, const int64_t *left, bool draw)
{
	const struct calltree *t = w->tree;

	w->levels = draw ? w->levels : 1;
	for (uint32_t i = 0; i < t->n_nodes;) {
		struct span s = span_of(w, left, i);

		if (s.w < NARROWEST && i > 0) {
			w->n_narrow += draw ? 0 : t->end[i] - i;
			i = t->end[i];
			continue;
		}
		if (draw)
			put_frame(w, i, s);
		else if (t->depth[i] + 1 > w->levels)
			w->levels = t->depth[i] + 1;
		i++;
	}
}

/* The whole. */

static void put_style(struct writer *w)
{
	/* hue and saturation of each family; shades differ in lightness */
	static const char *const hues[][2] = { { "u", "0,0%" },   { "p", "34,90%" },
					       { "l", "95,45%" }, { "c", "170,45%" },
					       { "k", "12,80%" }, { "j", "270,55%" } };

	put(w, "<style>\ntext{font:12px " FONT ";fill:#111}\n#frames rect{height:");
	text_out_int(&w->out, SVG_ROW - 1);
	put(w, "px}\n#frames g{cursor:pointer}\n#frames g:hover rect{stroke:#000;stroke-width:.6}\n"
	       ".above{opacity:.5}\n.match rect{fill:#e600e6!important}\n.hidden{display:none}\n"
	       ".button{cursor:pointer;fill:#036}\n#title{font-size:15px}\n");
	for (size_t i = 0; i < sizeof(hues) / sizeof(*hues); i++)
		for (int k = 0; k < 4; k++) {
			put(w, ".");
			put(w, hues[i][0]);
			text_out_int(&w->out, k);
			put(w, "{fill:hsl(");
			put(w, hues[i][1]);
			put(w, ",");
			text_out_int(&w->out, 66 + 4 * k);
			put(w, "%)}");
		}
	put(w, "\n</style>\n");
}

static void put_script(struct writer *w)
{
	put(w, "<script><![CDATA[\n");
	for (size_t i = 0; svg_script[i]; i++) {
		put(w, svg_script[i]);
		put(w, "\n");
	}
	put(w, "]]></script>\n");
}

static void put_heading(struct writer *w)
{
	const struct profile *p = w->a->profile;
	char *metric = metric_name(p, w->a->lens.column[0].metric);
	char *filter = w->a->lens.filter ? filter_text(w->a->lens.filter) : xstrdup("");

	put(w, "<text id=\"title\" x=\"10\" y=\"18\">");
	for (uint32_t i = 0; i < w->a->counts.n_parts && i < 4; i++) {
		const char *path = profile_string(p, profile_part(p, (part_id){ i })->path, NULL);
		const char *slash = strrchr(path, '/');

		put(w, i ? " + " : "");
		put_name(w, slash && slash[1] ? slash + 1 : path);
	}
	put(w, ": ");
	if (!w->a->diff) {
		put_weight(w, w->tree->total[0]);
		put(w, " of ");
	}
	put_name(w, metric);
	if (*filter) {
		put(w, ", filter ");
		put_name(w, filter);
	}
	put(w, "</text>\n");
	put(w, "<text id=\"reset\" class=\"button hidden\" x=\"10\" y=\"37\">reset zoom</text>\n"
	       "<text id=\"search\" class=\"button hidden\" x=\"1190\" y=\"37\" "
	       "text-anchor=\"end\">search</text>\n"
	       "<text id=\"details\" x=\"100\" y=\"37\"> </text>\n"
	       "<text id=\"matched\" x=\"1080\" y=\"37\" text-anchor=\"end\"> </text>\n");
	free(metric);
	free(filter);
}

static void put_footer(struct writer *w, int64_t y)
{
	char n[FMT_COUNTED_SIZE];

	put(w, "<text x=\"10\" opacity=\".6\"");
	put_attribute(w, "y", y);
	put(w, ">proftop " VERSION);
	if (w->a->diff)
		put(w,
		    "; red grew, blue shrank; pale: or one of two runs differs so of itself; grey: "
		    "noise; widths are both sides together");
	if (w->n_narrow > 0) {
		put(w, "; not drawn: ");
		put(w, fmt_counted(n, w->n_narrow, "frame"));
		put(w, " narrower than 0.1 px");
	}
	put(w, "</text>\n");
}

static void put_all(struct writer *w)
{
	int64_t *left = left_edges(w->tree), height;

	go_through(w, left, false);
	height = TOP + (int64_t)w->levels * SVG_ROW + BOTTOM;
	put(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	       "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\"");
	put_attribute(w, "width", SVG_WIDTH);
	put_attribute(w, "height", height);
	put(w, " viewBox=\"0 0 ");
	text_out_int(&w->out, SVG_WIDTH);
	put(w, " ");
	text_out_int(&w->out, height);
	put(w, "\">\n");
	put_style(w);
	put_script(w);
	put(w, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	put_heading(w);
	put(w, "<g id=\"frames\">\n");
	go_through(w, left, true);
	put(w, "</g>\n");
	put_footer(w, height - BOTTOM + 16);
	put(w, "</svg>\n");
	free(left);
}

static int write_svg(const struct analysis *a, const struct write_options *o, FILE *to,
		     struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int rc;

	(void)o;
	w->a = a;
	w->tree = analysis_tree((struct analysis *)a);
	text_out_init(&w->out, to);
	if (!w->tree || w->tree->total[0] <= 0) {
		free(w);
		return err_set(e, -ENODATA,
			       "there is nothing to draw: no sample passes the filter");
	}
	put_all(w);
	rc = text_out_done(&w->out, e);
	free(w);
	return rc;
}

const struct format format_svg = {
	.name = "svg",
	.title = "a flame graph as a picture that can be searched and zoomed into",
	.one_event = true,
	.inlined = true,
	.holds = HOLDS(STACKS) | HOLDS(THREADS) | HOLDS(MODULES),
	.write = write_svg,
};

const struct format format_svg_diff = {
	.name = "svg-diff",
	.title = "the same of two sides: red grew, blue shrank",
	.compares = true,
	.inlined = true,
	.write = write_svg,
};
