/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line of the text of perf script. What its fields are depends on -F, so that a line is known by
 * its shape alone:
 *
 *   COMM PID[/TID] [CPU] FLAGS TIME: PERIOD EVENT: REST     a header; most parts may be missing
 *   <tab or blanks> ADDRESS NAME+0xOFFSET (MODULE)          a frame, the innermost first
 *   <blanks> FILE:LINE                                      the source position of the frame above
 */
#ifndef PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_LINE_H
#define PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_LINE_H

#include "profile/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Behind the name of an event: its numbers are bytes. */
#define SCRIPT_BYTES ":bytes"
/* What begins our remark of times that are not exact. */
#define SCRIPT_TIMES "# times: "

/* A piece of a line; borrowed from it. */
struct span {
	const char *s;
	size_t n;
};

enum script_kind {
	SCRIPT_BLANK,   /* ends a sample */
	SCRIPT_COMMENT, /* begins with '#' */
	SCRIPT_HEADER,  /* begins a sample */
	SCRIPT_RECORD,  /* the header of a record that is no sample (--show-mmap-events) */
	SCRIPT_FRAME,
	SCRIPT_POSITION, /* where the frame above is in the source */
	SCRIPT_ODD       /* none of these */
};

struct script_header {
	struct span comm; /* n = 0: not in the text */
	int32_t pid, tid; /* -1: not in the text; a number alone is the tid */
	uint16_t cpu;     /* CPU_NONE: not in the text */
	int64_t time_ns;  /* TIME_NONE: not in the text */
	int64_t period;
	bool has_period;   /* it is in the text; else it is 0 */
	struct span event; /* without the ':' behind it; n = 0: not in the text */
	struct span rest; /* what follows: the only frame, the fields of a tracepoint, or nothing */
	bool has_frame;   /* rest begins with an address, right-aligned as perf has it */
};

struct script_frame {
	struct span address; /* as written; n = 0: not in the text */
	uint64_t pc;         /* its value */
	struct span name;    /* without the offset; n = 0 or "[unknown]": no symbol */
	struct span module;  /* without the parentheses; n = 0: not in the text */
	bool inlined;        /* "(inlined)" stands for the module */
};

/*
 * What a line is, without its newline; blanks and a carriage return at its end are ignored. h is
 * filled in for a header, f for a frame. in_sample: there is a header above, and no blank line since.
 */
enum script_kind script_line_read(const char *s, size_t n, bool in_sample, struct script_header *h,
				  struct script_frame *f);

/*
 * The same of a text whose headers have neither time nor cpu nor event, as of -F comm,tid,ip,sym: any line but an indented
 * one is a header, of a sample if frames follow or it has_frame. What has no header at all (-F ip,sym) is a frame below a
 * blank line, or one that has_frame.
 */
enum script_kind script_loose_read(const char *s, size_t n, bool in_sample, struct script_header *h,
				   struct script_frame *f);

/* Which of the two a text is of, by its first headers and frames; false while neither has come. */
bool script_text_is_loose(const char *text, size_t n, bool *loose);

/* Is it a frame as perf indents it, by a tab and to 16 columns? No other text has that. */
bool script_is_indented(const char *s, size_t n);

/* A frame that stands alone, as behind a header; false when it is none. */
bool script_frame_read(const char *s, size_t n, struct script_frame *f);

/* FILE:LINE; false when it says nothing ("??:0", "libc.so.6[1234]"). */
bool script_position_read(const char *s, size_t n, struct span *file, uint32_t *line);

#endif
