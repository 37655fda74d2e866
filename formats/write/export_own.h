/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A member "proftop" of JSON formats: what others have no place for and ignore, and proftop wants back. */
#ifndef PROFTOP_FORMATS_WRITE_EXPORT_OWN_H
#define PROFTOP_FORMATS_WRITE_EXPORT_OWN_H

struct analysis;
struct export_series;
struct text_out;

/* "proftop":{"metric":"cycles","kind":"weighted","thread":"python3","process":"python3","pid":812,"tid":813} */
void export_own_put(struct text_out *o, const struct analysis *a, const struct export_series *s);

#endif
