/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small profile with all that a profile of samples can have: for what must lose nothing. */
#ifndef PROFTOP_TESTS_SUPPORT_MADE_EVERYTHING_H
#define PROFTOP_TESTS_SUPPORT_MADE_EVERYTHING_H

struct profile;

/* The caller frees it. */
struct profile *made_everything(void);
/* The same of one thread of a script: its frames have no addresses, only those that call no others are at other lines than declared. */
struct profile *made_script(void);

#endif
