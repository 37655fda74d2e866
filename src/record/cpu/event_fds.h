/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Open events, however many: more than a process may have files open.
 *
 * The limit (RLIMIT_NOFILE) is one of a table of files, and a thread may have a table of its own. So where the table of the
 * process is full by half, a thread takes a copy of it, keeps the events there and does what is asked of them; the process closes
 * its own and has room again. These threads sleep but for that, and end with the process, however it ends.
 */
#ifndef PROFTOP_RECORD_CPU_EVENT_FDS_H
#define PROFTOP_RECORD_CPU_EVENT_FDS_H

#include <stddef.h>

struct event_fds;

/* Keeps so many in each table at most; 0: half of what may be open. */
struct event_fds *event_fds_new(size_t most);
/* Closes all. NULL is fine. */
void event_fds_free(struct event_fds *f);

/* Takes fd, which is open in the process until room is made the next time. */
void event_fds_add(struct event_fds *f, int fd);

/*
 * Is as much open as should be in one table? Then room is made. 0, also where there was no need; -errno: there can be none, and
 * all is as it was.
 */
int event_fds_make_room(struct event_fds *f);

size_t event_fds_count(const struct event_fds *f);

/* Calls each of all, one after the other, wherever they are kept; ends at the first that is not 0, which is returned. */
typedef int event_file_fn(int fd, void *arg);
int event_fds_each(struct event_fds *f, event_file_fn *each, void *arg);

#endif
