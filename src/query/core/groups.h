/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What makes two frames the same row, and what that row is called.
 *
 * A key is a number that stands for all the frames (or threads, processes, …) of one group. Under
 * GROUP_FUNCTION that is all functions of equal name and equal module name, so that two builds of a
 * library, or the same program in two captures, fall together.
 */
#ifndef PROFTOP_QUERY_CORE_GROUPS_H
#define PROFTOP_QUERY_CORE_GROUPS_H

#include "base/arena.h"
#include "profile/profile.h"
#include "query/core/lens.h"

#include <stdint.h>

#define KEY_NONE      UINT32_MAX
#define KEY_OF_MODULE ((uint32_t)1 << 31)
#define KEY_OF_LINE   ((uint32_t)1 << 30)

struct key {
	const char *label;  /* function, module, thread name, …; untrusted; lives with the keys */
	const char *module; /* name of the module, "" when it says nothing; profile's */
	uint32_t id;        /* first function, thread, … of the group: stable while p grows; */
			    /* KEY_OF_MODULE | module_id for frames that have no function yet; */
	/* KEY_OF_LINE | index in location_columns.frames of a frame at a line, of the first location with it */
	uint32_t flags; /* FUNCTION_… of that function, else 0 */
	enum family family;
};

/* Is the id of a key a line's? */
static inline bool key_is_line(uint32_t id)
{
	return (id & (KEY_OF_LINE | KEY_OF_MODULE)) == KEY_OF_LINE;
}

struct groups {
	struct key *key; /* [n]; owned */
	uint32_t *rank;  /* [n] place of each by label, then module, then age; owned */
	uint32_t n;
	enum grouping grouping;
	uint32_t *of_function; /* [n_functions] key of each; NULL for sample groupings; owned */
	uint32_t *of_module;   /* [n_modules] key of frames there without a function; owned */
	uint32_t n_functions;
	uint32_t n_modules;
	/* Of GROUP_LINE: [n_frames] key of each frame of locations' runs, KEY_NONE: its line is not known; owned */
	uint32_t *of_frame;
	uint32_t n_frames;
	/*
	 * For sample groupings: [n_ids] key of each thread (GROUP_THREAD, _PROCESS, _COMM, _CGROUP, _LABELS), event, cpu or
	 * capture (GROUP_CAPTURE, _HOST); the last is for samples that know none. Owned.
	 */
	uint32_t *of_id;
	uint32_t n_ids;
	/* Of GROUP_CAPTURE and _HOST: the capture of each thread, and the first row of each capture; owned */
	uint32_t *capture_of_thread; /* [n_threads] */
	uint32_t n_threads;
	uint64_t *first_sample; /* [n_ids - 1] */
	struct arena made;      /* labels that are not the profile's */
};

/* The key of a frame whose function may be ID_NONE or newer than the keys. */
static inline uint32_t groups_of_frame(const struct groups *k, uint32_t function, uint32_t module)
{
	return function < k->n_functions ? k->of_function[function] : k->of_module[module];
}

/* The key of a frame of a location's run: by its line where lines are grouped. */
static inline uint32_t groups_of_run(const struct groups *k, const struct location_columns *l,
				     const struct frame *f, uint32_t module)
{
	size_t at = (size_t)(f - l->frames);

	if (k->of_frame && at < k->n_frames && k->of_frame[at] != KEY_NONE)
		return k->of_frame[at];
	return groups_of_frame(k, f->function, module);
}

/* The key of a location as one frame: its function, or the line there. */
static inline uint32_t groups_of_location(const struct groups *k, const struct location_columns *l,
					  uint32_t location)
{
	const struct frame *run = k->of_frame ? location_frames(l, location) : NULL;

	return run ? groups_of_run(k, l, run, l->module[location])
		   : groups_of_frame(k, location_function(l, location), l->module[location]);
}

/* The key of a thread, event or cpu; of ID_NONE, and of what is newer than the keys, that of what is not known. */
static inline uint32_t groups_of_row(const struct groups *k, uint32_t id)
{
	return k->of_id[id < k->n_ids ? id : k->n_ids - 1];
}

/* Are ids those of captures? */
static inline bool groups_of_captures(const struct groups *k)
{
	return k->grouping == GROUP_CAPTURE || k->grouping == GROUP_HOST;
}

/* The key of a thread's capture; of ID_NONE that of what is not known. */
static inline uint32_t groups_of_thread_capture(const struct groups *k, uint32_t thread)
{
	return groups_of_row(k, thread < k->n_threads ? k->capture_of_thread[thread] : ID_NONE);
}

/* That of a row of samples, which of unknown threads stand behind their capture's first one. */
uint32_t groups_of_sample_capture(const struct groups *k, uint32_t thread, uint64_t row);

/* Makes the keys for what lies below counts. Comm frames keep keys of their own in any grouping. */
void groups_init(struct groups *k, const struct profile *p, const struct profile_counts *counts,
		 enum grouping grouping);
/* The same, where functions (of GROUP_FUNCTION) are one whose names are the same by rules; NULL: that are equal. */
void groups_init_named(struct groups *k, const struct profile *p,
		       const struct profile_counts *counts, enum grouping grouping,
		       const struct name_rules *names);
/*
 * Of a lens that compares: files of one name (GROUP_CAPTURE) are one, too, in whichever directories, and source files (GROUP_FILE,
 * _LINE) of two builds (source_names.h).
 */
void groups_init_compared(struct groups *k, const struct profile *p,
			  const struct profile_counts *counts, enum grouping grouping,
			  const struct name_rules *names);
void groups_done(struct groups *k);

/* The thread that a key stands for, or -1. */
int32_t key_tid(const struct groups *k, const struct profile *p, uint32_t key);
/* The process that a key, or the key's thread, stands for, or -1. */
int32_t key_pid(const struct groups *k, const struct profile *p, uint32_t key);
/* "pid 812", "tid 813": what stands behind a label where labels alone are ambiguous; "" else. */
const char *key_detail(const struct groups *k, const struct profile *p, uint32_t key,
		       char out[FMT_SIZE]);

#endif
