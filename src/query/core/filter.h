/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is looked at: a list of terms, each with a text form, so that a view can be reproduced on the
 * command line (-f) and pasted into a bug report.
 *
 *   term      = ["!"] kind ":" value        several terms are separated by blanks, all must hold
 *   value     = word without blanks, or "quoted" with \" and \\ inside
 *
 * Predicates on samples (negated by "!"):
 *   thread:RE process:RE comm:RE   name matches        pid:N[,N…] tid:N[,N…] cpu:N[-M][,…]
 *   cgroup:RE                      path of the control group that the thread was in matches
 *   label:RE                       what the program said that it did matches: label:request=list
 *   capture:N[,N-M…]               of the N-th input, counted from 1
 *   host:RE                        of the machine that the input was recorded on
 *   event:RE                       event's name        time:A,B   seconds since the capture's start,
 *                                  A in and B out; either may be missing; units ns, us, ms, s, m, h
 *   fn:RE module:RE file:RE        some frame of the stack matches. A word without "kind:" is fn:.
 *   leaf:RE in:RE                  the innermost frame matches: its function, its module
 *   is:CLASS                       what a stack is known to do, see frame_class.h: is:idle, is:kernel, is:lock, is:alloc, …
 *   depth:N[-M]                    the stack has so many frames
 *   size:A,B lifetime:A,B alive:A[,B] freed:A,B freed-in:RE block:WORD stack-calls:A,B stack-bytes:A,B stack-leaked:A,B
 *   stack-leaked-percent:A,B stack-first:A,B stack-last:A,B stack-span:A,B
 *                                  of allocations: see block_filter.h; samples pass
 * Transforms of stacks (no "!"; applied in the order given, as each changes what the next one sees):
 *   focus:RE                       stacks start at the outermost frame that matches; others are dropped,
 *                                  from totals, threads and times, too
 *   merge:RE                       matching frames vanish, their cost goes to their caller
 *   collapse:RE                    what is below a matching frame is folded into it
 *   recursion:direct               a frame that calls itself is one frame
 *   recursion:all                  from the outermost to the innermost occurrence is one frame
 *   focus-path:A;B;C               only stacks that begin with these frames (exact names), from C on;
 *                                  \; and \\ stand for ; and \ in names
 *   merge-path:A;B;C               the frame at the end of this one path vanishes, its cost goes to its caller
 *   focus-module:RE                only frames of these modules stay; stacks without any are dropped, as by focus
 *   collapse-module:RE             frames that follow each other within such a module are one frame, "[module]"
 *
 * Thread names that stand as root frames are no functions: only focus-path sees them.
 *
 * "a::b" is a word even where a is a kind. Any other unknown "kind:" is an error.
 *
 * Regular expressions are PCRE2, UTF, matched anywhere, smart-case: case counts only when the
 * expression has a capital letter. Names are matched as they are, demangled, with arguments.
 */
#ifndef PROFTOP_QUERY_CORE_FILTER_H
#define PROFTOP_QUERY_CORE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct filter;
struct term;

/* Parses; -EINVAL with a sentence that names the term. "" is the empty filter. Caller frees *out. */
int filter_parse(const char *text, struct filter **out, struct err *e);
struct filter *filter_copy(const struct filter *f);
void filter_free(struct filter *f);

/* Adds the terms of text at the end. On failure f is unchanged. */
int filter_add(struct filter *f, const char *text, struct err *e);
/* Takes the last term away; false when there was none. */
bool filter_pop(struct filter *f);
/* Do the terms of text, in canonical form, stand in f one after the other? f may be NULL. */
bool filter_has(const struct filter *f, const char *text);
/* Takes them away where they were added last; false, and f is unchanged, when they are not there. */
bool filter_take(struct filter *f, const char *text);

/*
 * The stretch of time that all time terms but negated ones let pass, in ns since the start: [*from, *to),
 * *to INT64_MAX where none says. False, and everything, without such terms. f may be NULL.
 */
bool filter_times(const struct filter *f, int64_t *from_ns, int64_t *to_ns);
/* Do its terms let samples of an event of this name pass? f may be NULL. */
bool filter_has_event(const struct filter *f, const char *name);
/* Does a term say which event samples are of? f may be NULL. */
bool filter_names_event(const struct filter *f);
/* Takes the terms away that let only one stretch of time pass ("!time:" stays), and returns their text,
 * "" if there were none; the caller frees. */
char *filter_take_times(struct filter *f);

/* f may be NULL: none. */
size_t filter_n_terms(const struct filter *f);
/* One term's text, in canonical form; borrowed until f changes. */
const char *filter_term(const struct filter *f, size_t i);
/* All of them as they are evaluated, [filter_n_terms]; borrowed likewise. f may be NULL. */
const struct term *filter_terms(const struct filter *f, size_t *n);
/* All terms; the caller frees. filter_parse() of it gives an equal filter. */
char *filter_text(const struct filter *f);

/* A value as it must be written after "kind:": quoted where needed. The caller frees. */
char *filter_quote(const char *value);
/*
 * A name as a regular expression that matches only it, anchored; the caller frees. Of a name that is
 * not UTF-8, what stands before the damage counts.
 */
char *filter_exact(const char *name);
/*
 * The first term whose expression took too long on some name, which then counts as not matching, so that
 * what passes the filter is not to be trusted; NULL when there is none. Borrowed as filter_term(). f may be NULL.
 */
const char *filter_gave_up(const struct filter *f);

#endif
