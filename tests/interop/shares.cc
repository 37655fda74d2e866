// SPDX-License-Identifier: GPL-3.0-or-later
// A program to record whose functions take known shares of its time, through what C++ makes of stacks: templates that are
// inlined, destructors while an exception is on its way, and what catches it. For as many seconds of the cpu as said.
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace shares {

constexpr unsigned unit = 3000;
volatile uint64_t sink;

double now()
{
	timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return double(t.tv_sec) + double(t.tv_nsec) / 1e9;
}

__attribute__((noinline)) void burn(unsigned n, uint64_t &state)
{
	// By lot, or samples that come as often as rounds do would see the same part of each.
	for (unsigned i = n / 2 + unsigned(state >> 33) % n; i > 0; i--)
		state = state * 6364136223846793005u + 1442695040888963407u;
	sink = state;
}

template <typename F> __attribute__((always_inline)) inline void times(unsigned n, F &&f)
{
	for (volatile unsigned i = 0; i < n; i = i + 1)
		f();
}

template <unsigned N> __attribute__((noinline)) void share(uint64_t &state)
{
	times(N, [&] { burn(unit, state); });
	sink = state + N;
}

struct guard {
	uint64_t &state;
	__attribute__((noinline)) ~guard()
	{
		times(2, [&] { burn(unit, state); });
		sink = state;
	}
};

__attribute__((noinline)) void fail(unsigned depth, uint64_t &state)
{
	if (depth == 0)
		throw state;
	fail(depth - 1, state);
	sink = state;
}

__attribute__((noinline)) void unwound(uint64_t &state)
{
	guard g{state};

	fail(8, state);
	sink = state;
}

__attribute__((noinline)) void fails(uint64_t &state)
{
	try {
		unwound(state);
	} catch (uint64_t caught) {
		times(3, [&] { burn(unit, caught); });
	}
	// Long enough on the way to be seen there.
	times(20, [&] {
		try {
			fail(12, state);
		} catch (uint64_t caught) {
			sink = caught;
		}
	});
}

__attribute__((noinline)) void both(uint64_t &state)
{
	share<1>(state);
	share<4>(state);
	sink = state;
}

} // namespace shares

using namespace shares;

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	uint64_t state = 1;

	while (now() < end) {
		both(state);
		fails(state);
	}
}
