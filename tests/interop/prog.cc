// SPDX-License-Identifier: GPL-3.0-or-later
// A program to record: templates, lambdas, virtual functions, the standard library.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace shop {

struct Item {
	std::string name;
	int price;
};

struct Visitor {
	virtual ~Visitor() = default;
	virtual void visit(const Item &item) = 0;
};

template <typename T> struct Adder : Visitor {
	T sum{};

	__attribute__((noinline)) void visit(const Item &item) override
	{
		sum += static_cast<T>(item.price);
	}
};

template <typename T> __attribute__((noinline)) T visit_all(const std::vector<Item> &items)
{
	Adder<T> adder;
	Visitor &visitor = adder;

	for (const Item &item : items)
		visitor.visit(item);
	return adder.sum;
}

// Names with brackets that begin no arguments, and an arrow that divides nothing.
struct Cheapest {
	const Item *item = nullptr;

	__attribute__((noinline)) void operator()(const Item &other)
	{
		if (!item || other.price * 3 % 101 < item->price * 3 % 101)
			item = &other;
	}

	__attribute__((noinline)) const Item *operator->() const
	{
		return item;
	}
};

namespace {

__attribute__((noinline)) int cheapest(const std::vector<Item> &items)
{
	Cheapest c;

	for (int i = 0; i < 20; i++)
		for (const Item &item : items)
			c(item);
	return c->price;
}

} // namespace
} // namespace shop

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? std::atof(argv[1]) : 0.2;
	const auto begin = std::chrono::steady_clock::now();
	double sum = 0;

	do {
		std::vector<shop::Item> items;
		std::map<std::string, int> index;
		std::function<void(int)> add = [&](int i) {
			items.push_back({ "item " + std::to_string(i * 7919 % 1000), i });
			index[items.back().name]++;
		};

		for (int i = 0; i < 500; i++)
			add(i);
		std::sort(items.begin(), items.end(), [](const shop::Item &a, const shop::Item &b) {
			return a.name < b.name;
		});
		sum += shop::cheapest(items);
		sum += shop::visit_all<double>(items) + static_cast<double>(shop::visit_all<long>(items));
	} while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
		 seconds);
	return sum < 0;
}
