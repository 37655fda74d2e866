/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is not in its place yet; see live_rules.h. */
#include "config.h"

#include "record/heap/stack/live_rules.h"

void live_rules_fill(struct live_rules *r, uint64_t pc)
{
	struct live_found f = r->find(pc);
	uint32_t slot = live_rules_slot(pc);

	r->quick[slot] = f.quick;
	r->full[slot] = f.full;
}
