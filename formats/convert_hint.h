/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which command makes a file that opens of one that does not, for the error sentence. */
#ifndef PROFTOP_FORMATS_CONVERT_HINT_H
#define PROFTOP_FORMATS_CONVERT_HINT_H

/* what: as of file_type_hint_like(). A sentence without its end, or NULL where nothing is known. */
const char *convert_hint(const char *what);

#endif
