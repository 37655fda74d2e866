/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the app does when two sides are compared. */
#ifndef PROFTOP_TUI_APP_APP_COMPARE_H
#define PROFTOP_TUI_APP_APP_COMPARE_H

struct analysis;
struct app;

/* The next metric that both sides have. */
void app_compare_metric(struct app *a);
/* Makes the sides equal by the next thing that they can be made equal by; says so where nothing is compared. */
void app_compare_equalise(struct app *a);
/* Says what most functions did, of a comparison that has just come and shows what was measured. */
void app_compare_tell(struct app *a);
/* What sizes are of: both sides, before, after, the change. */
void app_compare_size(struct app *a);

/*
 * "= none", "not normalised", "not normalised (typical +48.0 %)", the same and " · 7 of 104 beyond noise": the right end of row 0 in ever longer forms, at
 * most so many; what sides are made equal by is in all of them. Returns how many; the caller frees them.
 */
int app_compare_titles(const struct analysis *an, char **out, int most);

#endif
