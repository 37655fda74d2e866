#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds a C++ program with much debug information, for the bench: dwarf_units.sh DIR UNITS makes DIR/units.
# About 1 MB of it and 3 s of compiling a unit; units that are there are kept.
set -eu
dir=$1
units=$2
mkdir -p "$dir"

unit() {
    cat <<END
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace unit$1 {
template <int N> struct Key { std::string text; int n = N; bool operator<(const Key &o) const { return std::tie(text, n) < std::tie(o.text, o.n); } };
template <int N> using Value = std::variant<int, double, std::string, std::vector<Key<N>>>;
template <int N> struct Step {
	std::map<Key<N>, Value<N>> ordered;
	std::unordered_map<std::string, std::vector<Value<N>>> hashed;
	std::vector<std::function<double(const Key<N> &)>> calls;
	__attribute__((noinline)) double fill(std::mt19937 &random)
	{
		double sum = 0;
		for (int i = 0; i < 40; i++) {
			Key<N> k{ "key " + std::to_string(random() % 1000) };
			ordered[k] = Value<N>(double(i));
			hashed[k.text].push_back(Value<N>(k.text));
			calls.push_back([k, i](const Key<N> &o) { return double(k < o) + i; });
		}
		for (auto &[k, v] : ordered)
			for (size_t c = 0; c < calls.size(); c += 7)
				sum += calls[c](k) + std::visit([](auto &x) { return double(sizeof(x)); }, v);
		return sum;
	}
	__attribute__((noinline)) double sorted()
	{
		std::vector<Key<N>> keys;
		for (auto &e : hashed)
			keys.push_back({ e.first });
		std::sort(keys.begin(), keys.end());
		std::stable_sort(keys.begin(), keys.end(), [](auto &a, auto &b) { return b.text < a.text; });
		return std::accumulate(keys.begin(), keys.end(), 0.0, [](double s, auto &k) { return s + k.text.size(); });
	}
};
template <int N> __attribute__((noinline)) double run(std::mt19937 &random)
{
	Step<N> s;
	double sum = s.fill(random) + s.sorted();
	if constexpr (N > 0)
		sum += run<N - 1>(random);
	return sum;
}
double start(unsigned seed)
{
	std::mt19937 random(seed);
	return run<0>(random);
}
}
END
}

{
    echo '#include <chrono>'
    echo '#include <cstdlib>'
    for ((i = 0; i < units; i++)); do echo "namespace unit$i { double start(unsigned); }"; done
    echo 'int main(int argc, char **argv) { const double seconds = argc > 1 ? std::atof(argv[1]) : 1; double sum = 0;'
    echo 'auto begin = std::chrono::steady_clock::now(); unsigned n = 0;'
    echo 'do { n++;'
    for ((i = 0; i < units; i++)); do echo "sum += unit$i::start(n);"; done
    echo '} while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds); return sum < 0; }'
} >"$dir/main.cc"
for ((i = 0; i < units; i++)); do [ -s "$dir/unit$i.cc" ] || unit $i >"$dir/unit$i.cc"; done
printf '%s\n' main $(seq -f 'unit%.0f' 0 $((units - 1))) | xargs -P 2 -I{} sh -c \
    "[ -s '$dir/{}.o' ] || { ${CXX:-c++} -std=c++17 -g -O2 -c '$dir/{}.cc' -o '$dir/{}.tmp' && mv '$dir/{}.tmp' '$dir/{}.o'; }"
${CXX:-c++} -o "$dir/units" "$dir"/*.o -lpthread
