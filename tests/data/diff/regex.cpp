// SPDX-License-Identifier: GPL-3.0-or-later
// A program that searches by a regular expression, sorts, and looks things up; with an argument it searches twice.
#include <algorithm>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

static size_t search(const std::vector<std::string> &lines)
{
	static const std::regex pattern("([a-z]+)-([0-9]+)x?(a|b)* and");
	std::smatch match;
	size_t n = 0;

	for (const std::string &line : lines)
		n += std::regex_search(line, match, pattern);
	return n;
}

int main(int argc, char **argv)
{
	std::mt19937 lot(1);
	std::vector<std::string> lines, sorted;
	std::map<std::string, size_t> count;
	size_t n = 0;

	for (int i = 0; i < 200000; i++)
		lines.push_back("these are words and a word" + std::to_string(lot() % 1000) + "-" + std::to_string(lot()) + "xab and so on");
	for (int i = 0; i < 2; i++) {
		sorted = lines;
		std::sort(sorted.begin(), sorted.end());
	}
	n += search(lines);
	if (argc > 1)
		n += search(lines);
	for (int i = 0; i < 1; i++)
		for (const std::string &line : lines)
			count[line]++;
	(void)argv;
	return n + count.size() == 0;
}
