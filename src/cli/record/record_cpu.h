/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop record, but for --heap alone: CPU samples of a command, of processes, threads or everything, to a perf.data. */
#ifndef PROFTOP_CLI_RECORD_RECORD_CPU_H
#define PROFTOP_CLI_RECORD_RECORD_CPU_H

#include "cli/options/command.h"

struct record_job;

/* Records until the command ends, or what runs does, or Ctrl-C or a limit; the command's exit status if there is one. */
enum status record_cpu(const struct record_job *j);

#endif
