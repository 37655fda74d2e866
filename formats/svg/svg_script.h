/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The script inside of a picture. */
#ifndef PROFTOP_FORMATS_SVG_SVG_SCRIPT_H
#define PROFTOP_FORMATS_SVG_SVG_SCRIPT_H

/* Geometry that the writer and the script share, in units of the picture. */
#define SVG_WIDTH 1200
#define SVG_SIDE  10      /* left and right of the frames */
#define SVG_ROW   18      /* from one row of frames to the next */
#define SVG_CHAR  7.2     /* width of a letter */
#define SVG_FULL  1000000 /* frames say where they are in such parts of the whole */

/* Lines of ECMAScript, NULL-terminated; nothing in them needs to be escaped in CDATA. */
extern const char *const svg_script[];

#endif
