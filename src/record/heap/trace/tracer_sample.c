/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exponential distances: -mean * ln(u), with a logarithm of our own so that libm is not drawn in. */
#include "config.h"

#include "record/heap/trace/tracer_sample.h"

#include <string.h>

/* ln(x) for 0 < x <= 1, to about 1e-9: x = m * 2^e with m around 1, and the series of 2 artanh(z). */
static double natural_log(double x)
{
	static const double ln_2 = 0.693147180559945309417;
	uint64_t bits;
	double m, z, z2;
	int e;

	memcpy(&bits, &x, sizeof(bits));
	e = (int)(bits >> 52) - 1023;
	bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
	memcpy(&m, &bits, sizeof(m));
	if (m > 1.4142135623730951) {
		m /= 2;
		e++;
	}
	z = (m - 1) / (m + 1);
	z2 = z * z;
	return e * ln_2 +
	       2 * z *
		       (1 + z2 * (1.0 / 3 +
				  z2 * (1.0 / 5 + z2 * (1.0 / 7 + z2 * (1.0 / 9 + z2 / 11)))));
}

void tracer_sample_draw(struct tracer_thread *t, uint64_t mean)
{
	double u, bytes;

	if (t->seed == 0)
		t->seed = (tracer_ticks(&recorder.clock) ^ (uint64_t)(uintptr_t)t) | 1;
	/* xorshift64*; the upper 53 bits are good ones. */
	t->seed ^= t->seed >> 12;
	t->seed ^= t->seed << 25;
	t->seed ^= t->seed >> 27;
	u = (double)((t->seed * UINT64_C(0x2545f4914f6cdd1d) >> 11) + 1) / 9007199254740992.0;
	bytes = -natural_log(u) * (double)mean;
	t->sample_left = bytes < 1e18 ? (uint64_t)bytes : UINT64_C(1000000000000000000);
	t->sample_mean = mean;
}

uint64_t tracer_sample_follow(struct tracer_thread *t, uint64_t mean, uint64_t *ticks)
{
	const struct sample_rate *r = &recorder.rate;

	if (mean == SAMPLE_CHANGES) {
		/* First the time, then what was decided for it: what is decided later is of a later time. */
		*ticks = tracer_ticks_after(&recorder.clock) >> recorder.tick_shift;
		atomic_store_explicit(&t->decided_ticks, *ticks, memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		mean = atomic_load(*ticks < atomic_load(&r->at) ? &r->before : &r->after);
	}
	if (mean && mean != t->sample_mean)
		tracer_sample_draw(t, mean);
	return mean;
}
