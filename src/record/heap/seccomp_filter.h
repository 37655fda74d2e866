/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a filter of system calls, as programs give it to seccomp(2), makes of a call: asked before it is in force. */
#ifndef PROFTOP_RECORD_HEAP_SECCOMP_FILTER_H
#define PROFTOP_RECORD_HEAP_SECCOMP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seccomp_data;
struct sock_filter;

/*
 * Would this call be made, and nothing else happen? at[n] is the filter; one that the kernel would not take allows
 * everything, as it never comes into force.
 */
bool seccomp_filter_allows(const struct sock_filter *at, size_t n, const struct seccomp_data *call);

#endif
