// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of C++: exceptions through frames, lambdas, sorting, trees, a regex that recurses.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <numeric>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace work {

volatile double sink;

struct Guard {
	~Guard() { sink = sink + 1; }
};

__attribute__((noinline)) int thrower(int n)
{
	Guard guard;

	if (n == 0)
		throw std::runtime_error("at the bottom");
	return thrower(n - 1) + 1;
}

__attribute__((noinline)) void exceptions()
{
	for (int i = 0; i < 20; i++) {
		try {
			sink = sink + thrower(i);
		} catch (const std::exception &e) {
			sink = sink + e.what()[0];
		}
	}
}

template <typename F> __attribute__((noinline)) double apply(F f, int n)
{
	return n ? apply(f, n - 1) + f(n) : f(0);
}

__attribute__((noinline)) void lambdas()
{
	double base = sink;
	std::function<double(int)> indirect = [&](int n) {
		double s = base;
		for (int i = 0; i < 200; i++)
			s += i * n;
		return s;
	};

	sink = apply([&](int n) { return indirect(n) + 1; }, 20);
}

__attribute__((noinline)) void sorting()
{
	std::vector<std::string> words;
	std::map<std::string, int> count;

	for (int i = 0; i < 400; i++)
		words.push_back("word " + std::to_string(i * 7919 % 1000));
	std::sort(words.begin(), words.end(), [](const std::string &a, const std::string &b) { return b < a; });
	for (const auto &w : words)
		count[w]++;
	sink = sink + std::accumulate(count.begin(), count.end(), 0.0,
				      [](double s, const auto &p) { return s + p.second; });
}

__attribute__((noinline)) void matching()
{
	static const std::regex nested("((a|b)*c|(a*b*)*d)+e?");
	std::string text;

	for (int i = 0; i < 10; i++)
		text += i % 4 ? "ab" : "c";
	sink = sink + std::regex_search(text, nested);
}

} // namespace work

int main(int argc, char **argv)
{
	const double seconds = argc > 2 ? std::atof(argv[2]) : 0.2;

	// Of the cpu: a busy machine is to give no fewer samples.
	do {
		work::exceptions();
		work::lambdas();
		work::sorting();
		work::matching();
	} while (double(std::clock()) / CLOCKS_PER_SEC < seconds);
	return 0;
}
