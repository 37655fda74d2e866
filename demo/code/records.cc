// SPDX-License-Identifier: GPL-3.0-or-later
// For the screens of the tour: inlined functions, templates and a lambda.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

struct Record { int id; double weight; std::string name; };

static inline double score(const Record &r, double base)
{
	double s = base;
	for (int i = 1; i <= 8; i++)
		s += r.weight / i + (r.id % i) * 0.5;
	return s;
}

static double sum_scores(const std::vector<Record> &all, double base)
{
	double sum = 0;
	for (const Record &r : all)
		sum += score(r, base);
	return sum;
}

static void __attribute__((noinline)) build(std::vector<Record> &all, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		all.push_back({ (int)(i * 2654435761u % 1000), i * 0.25, "record " + std::to_string(i) });
	std::sort(all.begin(), all.end(),
		  [](const Record &a, const Record &b) { return a.id < b.id; });
}

int main(int argc, char **argv)
{
	double sum = 0;
	for (int round = 0; round < 60; round++) {
		std::vector<Record> all;
		build(all, 20000);
		for (int k = 0; k < 20; k++)
			sum += sum_scores(all, k);
	}
	printf("%g\n", sum);
	return argc > 100;
}
