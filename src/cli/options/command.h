/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One verb of the command line: one file, one const entry in main.c's table. */
#ifndef PROFTOP_CLI_OPTIONS_COMMAND_H
#define PROFTOP_CLI_OPTIONS_COMMAND_H

#include <stdint.h>

struct options;

/* Exit statuses; the public contract. */
enum status {
	STATUS_GOOD = 0,
	STATUS_NO = 1,      /* the answer to --fail-if and the like */
	STATUS_USAGE = 2,   /* also: the output could not be written */
	STATUS_UNUSABLE = 3 /* an input that gives nothing */
};

/* Sets of verbs, for the options that they take. */
#define ON_EXPLORE 0x01u
#define ON_REPORT  0x02u
#define ON_EXPORT  0x04u
#define ON_INFO    0x08u
#define ON_RECORD  0x10u
#define ON_TELL    0x20u
#define ON_DIFF    0x40u
#define ON_LIVE    0x80u
#define ON_DOCTOR  0x100u
#define ON_COMPARE 0x200u
#define ON_PACK    0x400u
#define ON_ALL     0x7ffu

struct command {
	const char *name;     /* the verb; "" for none */
	const char *synopsis; /* what follows the verb */
	const char *summary;  /* one line for --help */
	uint32_t verb;        /* one of ON_… */

	/* Does it, talks to the user, and returns the exit status. */
	enum status (*run)(const struct options *o);
};

extern const struct command cmd_compare;
extern const struct command cmd_detach;
extern const struct command cmd_diff;
extern const struct command cmd_doctor;
extern const struct command cmd_explore;
extern const struct command cmd_export;
extern const struct command cmd_info;
extern const struct command cmd_live;
extern const struct command cmd_mark;
extern const struct command cmd_pack;
extern const struct command cmd_pause;
extern const struct command cmd_record;
extern const struct command cmd_report;
extern const struct command cmd_resume;

#endif
