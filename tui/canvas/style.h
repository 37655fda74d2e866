/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a cell means; theme.c says how that looks in 256, 16, 8 colours and in none.
 *
 * X(enum, name in config and golden screens)
 */
#ifndef PROFTOP_TUI_CANVAS_STYLE_H
#define PROFTOP_TUI_CANVAS_STYLE_H

#include <stdint.h>

/* clang-format off */
#define STYLES(X) \
	X(NORMAL,         "normal") \
	X(DIM,            "dim")             /* what matters less: arguments, modules, noise */ \
	X(TITLE,          "title")           /* row 0: where am I */ \
	X(TAB,            "tab")             /* row 1: a view that could be chosen */ \
	X(TAB_ACTIVE,     "tab-active") \
	X(HEADER,         "header")          /* column titles */ \
	X(HEADER_SORTED,  "header-sorted") \
	X(NUMBER,         "number") \
	X(HOT,            "hot")             /* numbers and names of hot rows */ \
	X(BAR,            "bar") \
	X(SPARK,          "spark")           /* activity row, sparklines */ \
	X(SPARK_RANGE,    "spark-range")     /* the part of it inside the selected range */ \
	X(LANE_1,         "lane-1")          /* functions of threads over time */ \
	X(LANE_2,         "lane-2") \
	X(LANE_3,         "lane-3") \
	X(LANE_4,         "lane-4") \
	X(LANE_5,         "lane-5") \
	X(LANE_6,         "lane-6") \
	X(RULE,           "rule") \
	X(STATUS,         "status")          /* full text of the selection, filter and search line */ \
	X(PROMPT,         "prompt") \
	X(ERROR,          "error") \
	X(HINT_KEY,       "hint-key") \
	X(HINT,           "hint") \
	X(MARK,           "mark")            /* remarks among frames: [truncated] */ \
	X(FAMILY_UNKNOWN, "unknown")         /* six families of modules, in enum family's order */ \
	X(FAMILY_PROGRAM, "program") \
	X(FAMILY_LIBRARY, "library") \
	X(FAMILY_LIBC,    "libc") \
	X(FAMILY_KERNEL,  "kernel") \
	X(FAMILY_JIT,     "jit") \
	X(FLAME_UNKNOWN,  "flame-unknown")   /* the same as background of flame graph cells */ \
	X(FLAME_PROGRAM,  "flame-program") \
	X(FLAME_LIBRARY,  "flame-library") \
	X(FLAME_LIBC,     "flame-libc") \
	X(FLAME_KERNEL,   "flame-kernel") \
	X(FLAME_JIT,      "flame-jit") \
	X(FLAME_MERGED,   "flame-merged")    /* the cell that counts narrow siblings */ \
	X(HEAT_1,         "heat-1")          /* cells of a heat map, from little to most */ \
	X(HEAT_2,         "heat-2") \
	X(HEAT_3,         "heat-3") \
	X(HEAT_4,         "heat-4") \
	X(HEAT_5,         "heat-5") \
	X(HEAT_6,         "heat-6") \
	X(HEAT_7,         "heat-7") \
	X(HEAT_8,         "heat-8") \
	X(WORSE,          "worse")           /* numbers and bars of comparisons: it became more */ \
	X(BETTER,         "better")          /* it became less */ \
	X(DIFF_WORSE_3,   "diff-worse-3")    /* flame cells of comparisons, from much more to much less */ \
	X(DIFF_WORSE_2,   "diff-worse-2") \
	X(DIFF_WORSE_1,   "diff-worse-1") \
	X(DIFF_SAME,      "diff-same")       /* within the noise */ \
	X(DIFF_BETTER_1,  "diff-better-1") \
	X(DIFF_BETTER_2,  "diff-better-2") \
	X(DIFF_BETTER_3,  "diff-better-3")
/* clang-format on */

enum style {
#define X(name, text) STYLE_##name,
	STYLES(X)
#undef X
		N_STYLES
};

/* Added to a style. */
#define STYLE_SELECTED 0x100u /* under the cursor */
#define STYLE_MATCH    0x200u /* matches the search */
#define STYLE_ALT      0x400u /* every other sibling of a flame graph */
#define STYLE_BOLD     0x800u

#define STYLE_OF(s) ((enum style)((s)&0xffu))

#endif
