/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which block is at an address, of the many whose frees come by address. Blocks that lie one behind the other were
 * mostly handed out so, too: a page of addresses takes little more than a bit for each place then, else some bytes a block.
 */
#ifndef PROFTOP_HEAPTRACE_READ_BLOCK_ADDRESSES_H
#define PROFTOP_HEAPTRACE_READ_BLOCK_ADDRESSES_H

#include "base/map.h"
#include "base/mem.h"

#include <stdint.h>

struct address_page;

/* Zeroed: empty. */
struct block_addresses {
	VEC(struct address_page) pages;
	struct map by_key; /* of pages */
	size_t last;       /* page that was asked for last */
};

void block_addresses_done(struct block_addresses *b);

/* id, above 0, is at the address from now on, whatever was there. */
void block_addresses_put(struct block_addresses *b, uint64_t address, uint64_t id);
/* What is at the address, which is nothing from now on; 0: nothing was. */
uint64_t block_addresses_take(struct block_addresses *b, uint64_t address);

#endif
