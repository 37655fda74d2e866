// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program to record for the bench, as wide as such programs are: services that answer requests through layers
// of std::function, each layer of each service of a type of its own. Stacks are some 35 frames deep, of functions
// that are nearly all different, of thousands of call sites, and between two frames are three or four inlined ones.
//
// Each service is a unit: it is compiled with -DSERVICE=0, 1, … and -DSERVICES=N, and linked.
//
// services SECONDS
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iomanip>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

struct Request {
	std::string path;
	std::map<std::string, std::string> headers;
	std::vector<std::variant<long, double, std::string>> arguments;
	uint64_t state = 88172645463325252u;

	uint32_t random()
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return static_cast<uint32_t>(state >> 32);
	}
};
using Handler = std::function<long(Request &)>;

template <int Service> Handler service();

namespace {

// --- the layers that a request passes on its way to what it asks for --------------------------------------------

template <typename Call> long logged(Request &request, Call call)
{
	const long answer = std::invoke(call);

	if (answer % 4099 == 0)
		request.headers["log"] = std::to_string(answer);
	return answer;
}

template <typename Call> long guarded(Request &request, Call call)
{
	struct Undo {
		Request &request;
		size_t n;
		~Undo() { request.arguments.resize(n); }
	} undo{ request, request.arguments.size() };

	request.arguments.emplace_back(static_cast<long>(undo.n));
	return std::invoke(call);
}

template <int Service, int Level> struct Layer {
	Handler next;

	// With a frame of its own.
	__attribute__((noinline)) long forward(Request &request) const { return next(request) + 1; }

	// Each kind of layer calls on through other functions of the library.
	long operator()(Request &request) const
	{
		if constexpr (Level % 5 == 0)
			return logged(request, [&] { return forward(request) + Level; });
		else if constexpr (Level % 5 == 1)
			return guarded(request, [&] { return forward(request) ^ Service; });
		else if constexpr (Level % 5 == 2)
			return std::visit([&](auto &first) { return forward(request) + static_cast<long>(sizeof(first)); },
					  request.arguments.front());
		else if constexpr (Level % 5 == 3)
			return std::accumulate(request.arguments.begin(), request.arguments.begin() + 1, 0L,
					       [&](long sum, auto &) { return sum + forward(request); });
		else
			return std::apply([&](long a, long b) { return a + b * forward(request); },
					  std::make_tuple(long{ Service }, long{ Level } % 2 + 1));
	}
};

// --- what services do -------------------------------------------------------------------------------------------

template <int Service> struct Record {
	std::string name;
	int number = Service;
	double amount = 0;
	std::array<char, 8 + Service % 7 * 8> rest{};

	bool operator<(const Record &o) const { return std::tie(name, number) < std::tie(o.name, o.number); }
};

template <int Service> std::vector<Record<Service>> make(Request &request, int n)
{
	std::vector<Record<Service>> records;

	std::generate_n(std::back_inserter(records), n, [&] {
		Record<Service> r;

		r.name = "record " + std::to_string(request.random() % 997);
		r.number = static_cast<int>(request.random() % 1000);
		r.amount = request.random() / 65536.0;
		return r;
	});
	return records;
}

template <int Service> struct Sorting {
	long operator()(Request &request) const
	{
		auto records = make<Service>(request, 60);

		std::sort(records.begin(), records.end());
		std::stable_sort(records.begin(), records.end(), [](auto &a, auto &b) { return a.amount < b.amount; });
		return std::lower_bound(records.begin(), records.end(), 1000.0, [](auto &r, double a) { return r.amount < a; }) -
		       records.begin();
	}
};

template <int Service> struct Grouping {
	long operator()(Request &request) const
	{
		std::map<std::string, std::vector<Record<Service>>> groups;
		std::unordered_map<int, std::set<std::string>> names;

		for (auto &r : make<Service>(request, 50)) {
			names[r.number % 16].insert(r.name);
			groups[r.name].push_back(std::move(r));
		}
		return std::accumulate(groups.begin(), groups.end(), static_cast<long>(names.size()), [](long sum, auto &group) {
			return std::accumulate(group.second.begin(), group.second.end(), sum,
					       [](long s, auto &r) { return s + r.number; });
		});
	}
};

template <int Service> struct Formatting {
	long operator()(Request &request) const
	{
		std::ostringstream out;

		for (auto &r : make<Service>(request, 20))
			out << std::setw(12) << r.name << ' ' << std::setprecision(4) << r.amount << ' ' << r.number << '\n';
		return static_cast<long>(out.str().size());
	}
};

template <int Service> struct Scheduling {
	long operator()(Request &request) const
	{
		auto later = [](const Record<Service> &a, const Record<Service> &b) { return a.number < b.number; };
		std::priority_queue<Record<Service>, std::deque<Record<Service>>, decltype(later)> queue(later);
		std::list<Record<Service>> done;

		for (auto &r : make<Service>(request, 40))
			queue.push(std::move(r));
		for (; !queue.empty(); queue.pop())
			if (done.size() < 20 || queue.top().number % 2)
				done.push_back(queue.top());
		done.sort([](auto &a, auto &b) { return a.amount < b.amount; });
		return std::count_if(done.begin(), done.end(), [](auto &r) { return r.number > 500; });
	}
};

// A value of a document, and a printer that visits it.
template <int Service> struct Document {
	using Value = std::variant<long, std::string, std::vector<Document>, std::map<std::string, Document>>;
	Value value;

	static Document grow(Request &request, int depth)
	{
		if (depth == 0)
			return request.random() % 2 ? Document{ Value(static_cast<long>(request.random() % 100000)) } :
						      Document{ Value("text " + std::to_string(request.random() % 1000)) };
		if (request.random() % 2) {
			std::vector<Document> list;

			std::generate_n(std::back_inserter(list), 3, [&] { return grow(request, depth - 1); });
			return Document{ Value(std::move(list)) };
		}
		std::map<std::string, Document> members;

		for (int i = 0; i < 3; i++)
			members.emplace("member " + std::to_string(i), grow(request, depth - 1));
		return Document{ Value(std::move(members)) };
	}
	void print(std::string &out) const
	{
		std::visit(Printer{ out }, value);
	}
	struct Printer {
		std::string &out;

		void operator()(long number) const { out += std::to_string(number); }
		void operator()(const std::string &text) const { out.append("\"").append(text).append("\""); }
		void operator()(const std::vector<Document> &list) const
		{
			std::for_each(list.begin(), list.end(), [&](auto &each) { (out += '['), each.print(out), (out += ']'); });
		}
		void operator()(const std::map<std::string, Document> &members) const
		{
			std::for_each(members.begin(), members.end(),
				      [&](auto &member) { out += member.first + ':', member.second.print(out); });
		}
	};
};

template <int Service> struct Printing {
	long operator()(Request &request) const
	{
		std::string out;

		Document<Service>::grow(request, 3).print(out);
		return static_cast<long>(out.size());
	}
};

// --- services ---------------------------------------------------------------------------------------------------

template <int Service, typename Work, int... Levels> Handler stack_up(std::integer_sequence<int, Levels...>)
{
	Handler handler = Work();

	((handler = Layer<Service, Levels>{ std::move(handler) }), ...);
	return handler;
}

template <int Service, typename... Works> Handler choice_of()
{
	constexpr int depth = 13 + Service * 5 % 7;
	std::vector<Handler> ways{ stack_up<Service, Works>(std::make_integer_sequence<int, depth>())... };

	return [ways](Request &request) { return ways[request.random() % ways.size()](request); };
}

} // namespace

template <> Handler service<SERVICE>()
{
	return choice_of<SERVICE, Sorting<SERVICE>, Grouping<SERVICE>, Formatting<SERVICE>, Scheduling<SERVICE>,
			 Printing<SERVICE>>();
}

#if SERVICE == 0
template <int... Services> std::vector<Handler> all(std::integer_sequence<int, Services...>)
{
	return { service<Services>()... };
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	const auto begin = std::chrono::steady_clock::now();
	const auto services = all(std::make_integer_sequence<int, SERVICES>());
	Request request;
	long sum = 0;

	while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
		request.arguments.assign(1, static_cast<long>(request.random()));
		sum += services[request.random() % services.size()](request);
	}
	std::printf("%ld\n", sum);
}
#endif
