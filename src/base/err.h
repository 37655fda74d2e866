/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One failure, as one lower-case sentence that names the file and the offset.
 *
 * A caller that does not care passes NULL; a caller that does starts with ERR_INIT and ends with
 * err_clear(). The first failure is kept: a later err_set() on a set err adds nothing.
 */
#ifndef PROFTOP_BASE_ERR_H
#define PROFTOP_BASE_ERR_H

struct err {
	int code;   /* 0, or the negative errno that was returned */
	char *text; /* owned; NULL while code is 0 */
};

#define ERR_INIT \
	{ \
		0, NULL \
	}

/* Fills e (which may be NULL) and returns code, so that a failure is one expression. code < 0. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The sentence, never NULL; borrowed until the next call on e. */
const char *err_text(const struct err *e);

void err_clear(struct err *e);

#endif
