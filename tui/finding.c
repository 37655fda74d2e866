/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Picking one of many matches; see finding.h. */
#include "config.h"

#include "finding.h"

void finding_start(struct finding *f, uint32_t from, int step)
{
	*f = (struct finding){ .from = from, .step = step };
}

void finding_add(struct finding *f, uint32_t place)
{
	f->n++;
	if (f->step < 0 || f->n == 1)
		f->other = place;
	if (f->step < 0 ? place >= f->from : f->number > 0)
		return;
	if (f->step < 0 || place > f->from || (f->step == 0 && place == f->from)) {
		f->target = place;
		f->number = f->n;
	}
}

uint32_t finding_end(struct finding *f)
{
	if (f->number == 0 && f->n > 0) {
		f->target = f->other;
		f->number = f->step < 0 ? f->n : 1;
	}
	return f->number;
}
