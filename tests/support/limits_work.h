/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Can a test limit the address space, and measure memory? Sanitizers have reservations of their own, and keep what was given back. */
#ifndef PROFTOP_TESTS_SUPPORT_LIMITS_WORK_H
#define PROFTOP_TESTS_SUPPORT_LIMITS_WORK_H

#if defined(__SANITIZE_ADDRESS__)
#define LIMITS_WORK 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMITS_WORK 0
#endif
#endif
#ifndef LIMITS_WORK
#define LIMITS_WORK 1
#endif

/*
 * Is the address sanitizer in this build? It finds what reads and writes wrong memory, and slows everything: long tests of numbers
 * do a part of their work under it, tests of damaged input a part without it. CI runs both builds.
 */
#define IS_SANITIZED (!LIMITS_WORK)

#endif
