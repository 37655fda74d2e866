/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screens of o's files, whichever verb they are for: what live shows is a profile that grows. */
#ifndef PROFTOP_CLI_CMD_EXPLORE_H
#define PROFTOP_CLI_CMD_EXPLORE_H

#include "command.h"

enum status explore(const struct options *o);

#endif
