/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MD5 (RFC 1321), by which .debug_line of DWARF 5 knows source files. No library that is linked has it with
 * a header, and it protects nothing here.
 */
#ifndef PROFTOP_CODE_MD5_H
#define PROFTOP_CODE_MD5_H

#include <stddef.h>
#include <stdint.h>

#define MD5_BYTES 16

void md5_of(const void *bytes, size_t n, uint8_t out[MD5_BYTES]);

#endif
