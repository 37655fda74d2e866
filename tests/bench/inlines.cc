// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program to record for the bench, about as such programs are: containers, strings, comparators and
// callbacks whose functions are mostly inlined, a recursive matcher and an evaluator with deep stacks.
//
// inlines SECONDS
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

struct Random {
	uint64_t state = 88172645463325252u;
	uint32_t operator()()
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return static_cast<uint32_t>(state >> 32);
	}
};

struct Account {
	std::string owner;
	std::vector<int> entries;
	std::unique_ptr<Account> left, right;
};
using Tree = std::unique_ptr<Account>;

void insert(Tree &tree, const std::string &owner, int amount)
{
	if (!tree) {
		tree = std::make_unique<Account>();
		tree->owner = owner;
	}
	if (owner < tree->owner)
		insert(tree->left, owner, amount);
	else if (tree->owner < owner)
		insert(tree->right, owner, amount);
	else
		tree->entries.push_back(amount);
}

long fold(const Tree &tree, const std::function<long(const std::vector<int> &)> &each)
{
	return tree ? fold(tree->left, each) + each(tree->entries) + fold(tree->right, each) : 0;
}

long balance(Random &random)
{
	Tree tree;
	std::map<std::string, std::vector<int>> ledger;
	long sum = 0;

	for (int i = 0; i < 8000; i++) {
		const std::string owner = "account " + std::to_string(random() % 997);

		insert(tree, owner, i);
		ledger[owner].push_back(static_cast<int>(random() >> 8));
	}
	for (auto &[owner, entries] : ledger) {
		std::sort(entries.begin(), entries.end(), [](int a, int b) { return (a ^ 7) < (b ^ 7); });
		sum += std::accumulate(entries.begin(), entries.end(), 0L,
				       [&](long s, int e) { return s + e % static_cast<int>(owner.size()); });
	}
	return sum + fold(tree, [](const std::vector<int> &entries) {
		       return std::accumulate(entries.begin(), entries.end(), 0L);
	       });
}

// The library's matcher calls itself for each character: stacks of hundreds of frames.
long match(Random &random)
{
	static const std::regex pattern("(a|b|c)*d+(e|f)?g*");
	long found = 0;

	for (int i = 0; i < 800; i++) {
		std::string text;

		while (text.size() < 40 + random() % 80)
			text.push_back(static_cast<char>('a' + random() % 3));
		found += std::regex_match(text + "ddeggg", pattern);
	}
	return found;
}

long count(Random &random)
{
	std::unordered_map<std::string, int> words;

	for (int i = 0; i < 8000; i++)
		words[std::to_string(random() % 1009)] += i;
	return static_cast<long>(words.size());
}

// Expressions, some fifty deep; between two frames of the evaluator are half a dozen inlined functions.
struct Sum;
struct Product;
using Expression = std::variant<double, std::unique_ptr<Sum>, std::unique_ptr<Product>>;
struct Sum {
	std::vector<Expression> terms;
};
struct Product {
	std::vector<Expression> factors;
};

__attribute__((noinline)) double evaluate(const Expression &e);

struct Evaluator {
	template <typename Each> static double over(const std::vector<Expression> &parts, double start, Each each)
	{
		return std::accumulate(parts.begin(), parts.end(), start, each);
	}
	double operator()(double value) const { return value; }
	double operator()(const std::unique_ptr<Sum> &sum) const
	{
		return over(sum->terms, 0, [](double s, const Expression &e) { return s + evaluate(e); });
	}
	double operator()(const std::unique_ptr<Product> &product) const
	{
		return over(product->factors, 1, [](double p, const Expression &e) { return p * (0.5 + evaluate(e)); });
	}
};

double evaluate(const Expression &e)
{
	return std::visit(Evaluator(), e);
}

Expression grow(Random &random, int depth)
{
	std::vector<Expression> parts;

	if (depth == 0)
		return random() % 100 / 100.0;
	parts.push_back(grow(random, depth - 1));
	for (unsigned i = random() % 3; i > 0; i--)
		parts.push_back(grow(random, static_cast<int>(random() % static_cast<unsigned>(depth)) / 2));
	if (random() % 2)
		return std::make_unique<Sum>(Sum{ std::move(parts) });
	return std::make_unique<Product>(Product{ std::move(parts) });
}

// The same few expressions over and over, as a program that does one thing has them: some hundreds of paths.
long calculate(Random &random)
{
	static const Expression some[] = { grow(random, 56), grow(random, 48), grow(random, 56) };
	long sum = 0;

	for (int i = 0; i < 16000; i++)
		sum += static_cast<long>(evaluate(some[i % 3])) % 7;
	return sum;
}

} // namespace

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	const auto begin = std::chrono::steady_clock::now();
	Random random;
	long sum = 0;

	while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds)
		sum += balance(random) + match(random) + count(random) + calculate(random);
	std::printf("%ld\n", sum);
}
