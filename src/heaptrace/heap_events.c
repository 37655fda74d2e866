/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events to columns and back; both ways go through the same state, which starts anew in each block. */
#include "config.h"

#include "heaptrace/heap_events.h"

#define NEAR (UINT64_C(1) << 20) /* ids less far back are told by their distance */

const uint8_t heap_event_columns[HEAP_N_EVENT_COLUMNS] = {
	0,
	HEAP_COL_OP,
	HEAP_COL_TIME,
	HEAP_COL_SIZE,
	HEAP_COL_STACK,
	HEAP_COL_REF,
	HEAP_COL_ADDRESS,
	HEAP_COL_LOOSE,
	HEAP_COL_RANGE,
	HEAP_COL_EARLY,
};

/* The most that one event adds to each column. */
static const uint8_t worst[HEAP_N_EVENT_COLUMNS] = {
	[HEAP_COL_OP] = 1,     [HEAP_COL_TIME] = 10,  [HEAP_COL_SIZE] = 10,
	[HEAP_COL_STACK] = 5,  [HEAP_COL_REF] = 10,   [HEAP_COL_ADDRESS] = 10,
	[HEAP_COL_LOOSE] = 10, [HEAP_COL_RANGE] = 10, [HEAP_COL_EARLY] = 10,
};
#define RANGE_NUMBERS 5 /* kind, address, size, old address, old size */

static uint64_t turn(uint64_t address)
{
	return address >> 3 | address << 61;
}

static uint64_t turn_back(uint64_t turned)
{
	return turned << 3 | turned >> 61;
}

static uint8_t op_of(uint8_t byte)
{
	return byte & HEAP_OP_MASK;
}

static bool is_realloc(unsigned op)
{
	return op == HEAP_REALLOC || op == HEAP_REALLOC_ADDRESS;
}

static bool takes_id(unsigned op)
{
	return op == HEAP_ALLOC || is_realloc(op);
}

static bool has_stack(unsigned op)
{
	return op != HEAP_EVICT && op != HEAP_GAP;
}

static bool is_free(unsigned op)
{
	return op == HEAP_FREE || op == HEAP_FREE_ADDRESS;
}

void heap_event_writer_init(struct heap_event_writer *w, void *memory, uint32_t max,
			    uint32_t thread, uint64_t first_id, uint64_t time)
{
	uint8_t *at = memory;

	*w = (struct heap_event_writer){ .max = max, .addresses = true };
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++) {
		/* 16: numbers are put only where 10 bytes are left. */
		w->column[i] = heap_out_over(at, (size_t)max * worst[i] + 16);
		at = w->column[i].end;
	}
	w->state.time = time;
	w->state.next_id = first_id;
	w->state.ref = first_id;
	w->block = (struct heap_block){
		.type = HEAP_BLOCK_EVENTS,
		.thread = thread,
		.first_time = time,
		.last_time = time,
		.first_id = first_id,
	};
}

static void put(struct heap_event_writer *w, enum heap_column_id column, uint64_t v)
{
	heap_put_number(&w->column[column], v);
}

/* Addresses of allocations and loose ones each follow their own kind. */
static void put_address(struct heap_event_writer *w, enum heap_column_id column, uint64_t *last,
			uint64_t address)
{
	uint64_t turned = turn(address);

	put(w, column, heap_zigzag(turned - *last));
	*last = turned;
}

static void put_ref(struct heap_event_writer *w, uint64_t id)
{
	struct heap_event_state *s = &w->state;

	if (id < s->next_id && s->next_id - 1 - id < NEAR) {
		put(w, HEAP_COL_REF, (s->next_id - 1 - id) << 1);
		return;
	}
	/* 63 bits are enough: ids are less than 2^62 apart. */
	put(w, HEAP_COL_REF, heap_zigzag(id - s->ref) << 1 | 1);
	s->ref = id;
}

static void put_size_and_address(struct heap_event_writer *w, const struct heap_event *e,
				 uint8_t *op)
{
	struct heap_event_state *s = &w->state;

	if (e->size != s->size) {
		*op |= HEAP_OP_HAS_SIZE;
		put(w, HEAP_COL_SIZE, e->size);
		s->size = e->size;
	}
	if (w->addresses)
		put_address(w, HEAP_COL_ADDRESS, &s->address, e->address);
	*op = (uint8_t)(*op | (e->kind & 3u) << HEAP_OP_FAMILY);
	s->next_id++;
	w->block.n_allocs++;
	w->block.bytes += e->size;
}

static void put_range(struct heap_event_writer *w, const struct heap_event *e)
{
	put(w, HEAP_COL_RANGE, e->kind);
	put(w, HEAP_COL_RANGE, e->address);
	put(w, HEAP_COL_RANGE, e->size);
	put(w, HEAP_COL_RANGE, e->old_address);
	put(w, HEAP_COL_RANGE, e->old_size);
}

static bool is_full(const struct heap_event_writer *w, unsigned op)
{
	const struct heap_out *range = &w->column[HEAP_COL_RANGE];

	if (w->n == w->max)
		return true;
	return op == HEAP_RANGE && range->end - range->at < 10 * RANGE_NUMBERS;
}

bool heap_event_writer_has_room(const struct heap_event_writer *w, uint32_t n)
{
	const struct heap_out *range = &w->column[HEAP_COL_RANGE];

	return w->max - w->n >= n && range->end - range->at >= 10 * RANGE_NUMBERS * (ptrdiff_t)n;
}

bool heap_write_event(struct heap_event_writer *w, const struct heap_event *e)
{
	struct heap_event_state *s = &w->state;
	uint8_t op = e->op;

	if (is_full(w, op))
		return false;
	if (e->time > s->time) {
		op |= HEAP_OP_HAS_TIME;
		put(w, HEAP_COL_TIME, e->time - s->time);
		s->time = w->block.last_time = e->time;
	}
	if (has_stack(op_of(op)) && e->stack != s->stack[is_free(op_of(op))]) {
		op |= HEAP_OP_HAS_STACK;
		put(w, HEAP_COL_STACK, e->stack);
		s->stack[is_free(op_of(op))] = e->stack;
	}
	if (op_of(op) == HEAP_FREE || op_of(op) == HEAP_EVICT)
		put_ref(w, e->id);
	if (op_of(op) == HEAP_REALLOC)
		put_ref(w, e->old_id);
	if (op_of(op) == HEAP_FREE_ADDRESS || op_of(op) == HEAP_REALLOC_ADDRESS)
		put_address(w, HEAP_COL_LOOSE, &s->loose, e->old_address);
	if (op_of(op) == HEAP_EVICT)
		put_address(w, HEAP_COL_LOOSE, &s->loose, e->address);
	if (op_of(op) == HEAP_RANGE)
		put_range(w, e);
	if (op_of(op) == HEAP_GAP) {
		put(w, HEAP_COL_REF, e->size);
		s->next_id += e->size;
	}
	w->block.n_frees += is_free(op_of(op)) || is_realloc(op_of(op));
	if (is_realloc(op_of(op)))
		put(w, HEAP_COL_EARLY, e->early);
	if (takes_id(op_of(op)))
		put_size_and_address(w, e, &op);
	heap_put_u8(&w->column[HEAP_COL_OP], op);
	w->block.n = ++w->n;
	return true;
}

void heap_event_reader_init(struct heap_event_reader *r, const struct heap_block *b,
			    const struct heap_in column[HEAP_N_EVENT_COLUMNS])
{
	*r = (struct heap_event_reader){ .n_left = b->n };
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++)
		r->column[i] = column[i];
	r->has_addresses = heap_block_column(b, HEAP_COL_ADDRESS) != NULL;
	r->has_early = heap_block_column(b, HEAP_COL_EARLY) != NULL;
	r->state.time = b->first_time;
	r->state.next_id = b->first_id;
	r->state.ref = b->first_id;
}

static uint64_t take_address(struct heap_event_reader *r, enum heap_column_id column,
			     uint64_t *last)
{
	*last += heap_unzigzag(heap_take_number(&r->column[column]));
	return turn_back(*last);
}

static uint64_t take_ref(struct heap_event_reader *r)
{
	struct heap_event_state *s = &r->state;
	uint64_t v = heap_take_number(&r->column[HEAP_COL_REF]);

	if (v & 1) {
		s->ref += heap_unzigzag(v >> 1);
		return s->ref;
	}
	if (v >> 1 >= s->next_id)
		r->column[HEAP_COL_REF].bad = true;
	return s->next_id - 1 - (v >> 1);
}

/* What all ops have. */
static void take_common(struct heap_event_reader *r, uint8_t op, struct heap_event *e)
{
	struct heap_event_state *s = &r->state;
	uint32_t *stack = &s->stack[is_free(op_of(op))];

	if (op & HEAP_OP_HAS_TIME) {
		uint64_t passed = heap_take_number(&r->column[HEAP_COL_TIME]);

		if (passed > UINT64_MAX - s->time)
			r->column[HEAP_COL_TIME].bad = true;
		s->time += passed;
	}
	if (op & HEAP_OP_HAS_STACK) {
		uint64_t node = heap_take_number(&r->column[HEAP_COL_STACK]);

		if (node > UINT32_MAX)
			r->column[HEAP_COL_STACK].bad = true;
		*stack = (uint32_t)node;
	}
	e->time = s->time;
	e->stack = has_stack(op_of(op)) ? *stack : 0;
}

static void take_allocation(struct heap_event_reader *r, uint8_t op, struct heap_event *e)
{
	struct heap_event_state *s = &r->state;

	if (op & HEAP_OP_HAS_SIZE)
		s->size = heap_take_number(&r->column[HEAP_COL_SIZE]);
	e->size = s->size;
	if (r->has_addresses)
		e->address = take_address(r, HEAP_COL_ADDRESS, &s->address);
	e->kind = op >> HEAP_OP_FAMILY;
	e->id = s->next_id++;
}

static void take_range(struct heap_event_reader *r, struct heap_event *e)
{
	struct heap_in *in = &r->column[HEAP_COL_RANGE];
	uint64_t kind = heap_take_number(in);

	if (kind > HEAP_BREAK)
		in->bad = true;
	e->kind = (uint8_t)kind;
	e->address = heap_take_number(in);
	e->size = heap_take_number(in);
	e->old_address = heap_take_number(in);
	e->old_size = heap_take_number(in);
}

static void take_gap(struct heap_event_reader *r, struct heap_event *e)
{
	e->id = r->state.next_id;
	e->size = heap_take_number(&r->column[HEAP_COL_REF]);
	if (e->size > HEAP_MAX_GAP)
		r->column[HEAP_COL_REF].bad = true;
	r->state.next_id += e->size;
}

static void take_early(struct heap_event_reader *r, struct heap_event *e)
{
	if (r->has_early)
		e->early = heap_take_number(&r->column[HEAP_COL_EARLY]);
	if (e->early > e->time)
		r->column[HEAP_COL_EARLY].bad = true;
}

static void take_rest(struct heap_event_reader *r, uint8_t op, struct heap_event *e)
{
	struct heap_event_state *s = &r->state;

	switch (op_of(op)) {
	case HEAP_ALLOC:
		take_allocation(r, op, e);
		break;
	case HEAP_FREE:
		e->id = take_ref(r);
		break;
	case HEAP_FREE_ADDRESS:
		e->old_address = take_address(r, HEAP_COL_LOOSE, &s->loose);
		break;
	case HEAP_REALLOC:
		e->old_id = take_ref(r);
		take_early(r, e);
		take_allocation(r, op, e);
		break;
	case HEAP_REALLOC_ADDRESS:
		e->old_address = take_address(r, HEAP_COL_LOOSE, &s->loose);
		take_early(r, e);
		take_allocation(r, op, e);
		break;
	case HEAP_EVICT:
		e->id = take_ref(r);
		e->address = take_address(r, HEAP_COL_LOOSE, &s->loose);
		break;
	case HEAP_RANGE:
		take_range(r, e);
		break;
	case HEAP_GAP:
		take_gap(r, e);
		break;
	default:
		r->bad = true;
	}
}

/* One event after the other, each looked at whether it is good. */
static size_t read_carefully(struct heap_event_reader *r, struct heap_event *out, size_t max)
{
	size_t n = 0;

	while (n < max && r->n_left && !r->bad) {
		uint8_t op = heap_take_u8(&r->column[HEAP_COL_OP]);
		struct heap_event *e = &out[n];

		*e = (struct heap_event){ .op = op_of(op) };
		take_common(r, op, e);
		take_rest(r, op, e);
		for (unsigned i = 1; i < HEAP_N_EVENT_COLUMNS; i++)
			r->bad |= r->column[i].bad;
		if (r->bad)
			break;
		r->n_left--;
		n++;
	}
	return n;
}

/*
 * heap_take_number(), with the numbers of up to four bytes in line, and without asking for each byte whether it
 * is the last: of most columns nobody could foretell that, processors neither.
 */
static inline uint64_t take(struct heap_in *in)
{
	const uint8_t *p = in->at;
	struct heap_in rest;
	uint64_t v;

	if (in->end - p >= 4) {
		uint32_t w = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			     (uint32_t)p[3] << 24;
		uint32_t last = ~w &
				0x80808080u; /* its lowest bit is the top one of the last byte */

		if (last) {
			in->at = p + (__builtin_ctz(last) >> 3) + 1;
			w &= last ^ (last - 1);
			return (w & 0x7fu) | (w >> 1 & 0x7fu << 7) | (w >> 2 & 0x7fu << 14) |
			       (w >> 3 & 0x7fu << 21);
		}
	}
	/* A copy, so that the cursor itself may stay in registers. */
	rest = *in;
	v = heap_take_long_number(&rest);
	*in = rest;
	return v;
}

/* take_common(), take_allocation() and take_ref() of the two ops that nearly all events are of. */
static inline void take_usual(struct heap_event_reader *l, uint8_t op, struct heap_event *e)
{
	struct heap_event_state *s = &l->state;
	bool frees = op_of(op) == HEAP_FREE;
	uint64_t v, old = s->time;

	if (op & HEAP_OP_HAS_TIME)
		s->time += take(&l->column[HEAP_COL_TIME]);
	l->column[HEAP_COL_TIME].bad |= s->time < old;
	if (op & HEAP_OP_HAS_STACK) {
		v = take(&l->column[HEAP_COL_STACK]);
		l->column[HEAP_COL_STACK].bad |= v > UINT32_MAX;
		s->stack[frees] = (uint32_t)v;
	}
	*e = (struct heap_event){ .op = op_of(op), .time = s->time, .stack = s->stack[frees] };
	if (!frees) {
		if (op & HEAP_OP_HAS_SIZE)
			s->size = take(&l->column[HEAP_COL_SIZE]);
		if (l->has_addresses)
			s->address += heap_unzigzag(take(&l->column[HEAP_COL_ADDRESS]));
		e->address = l->has_addresses ? turn_back(s->address) : 0;
		e->size = s->size;
		e->kind = op >> HEAP_OP_FAMILY;
		e->id = s->next_id++;
		return;
	}
	v = take(&l->column[HEAP_COL_REF]);
	if (v & 1)
		s->ref += heap_unzigzag(v >> 1);
	else
		l->column[HEAP_COL_REF].bad |= v >> 1 >= s->next_id;
	e->id = v & 1 ? s->ref : s->next_id - 1 - (v >> 1);
}

/* Usual events until another comes; what is bad is noticed at the end. */
static size_t read_usual(struct heap_event_reader *r, struct heap_event *out, size_t max)
{
	struct heap_event_reader l = *r;
	struct heap_in *ops = &l.column[HEAP_COL_OP];
	size_t n = 0;

	while (n < max && l.n_left && ops->at != ops->end &&
	       (op_of(*ops->at) == HEAP_ALLOC || op_of(*ops->at) == HEAP_FREE)) {
		take_usual(&l, *ops->at++, &out[n++]);
		l.n_left--;
	}
	for (unsigned i = 1; i < HEAP_N_EVENT_COLUMNS; i++)
		if (l.column[i].bad)
			return 0;
	*r = l;
	return n;
}

size_t heap_read_events(struct heap_event_reader *r, struct heap_event *out, size_t max)
{
	size_t n = 0, taken;

	while (n < max && r->n_left && !r->bad) {
		struct heap_in ops = r->column[HEAP_COL_OP];
		uint8_t op = op_of(heap_take_u8(&ops));

		if (op != HEAP_ALLOC && op != HEAP_FREE) {
			n += read_carefully(r, out + n, 1);
			continue;
		}
		taken = read_usual(r, out + n, max - n);
		/* Nothing: one of them is bad, but maybe not the first. */
		n += taken ? taken : read_carefully(r, out + n, max - n);
	}
	return n;
}
