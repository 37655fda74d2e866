# SPDX-License-Identifier: GPL-3.0-or-later
import time, json, re
def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)
def parse(k):
    s = json.dumps([{"a": i, "b": [str(j) for j in range(8)]} for i in range(200)])
    for _ in range(k): json.loads(s)
def match(k):
    r = re.compile(r"(a|b)*c")
    for _ in range(k): r.search("ababababab" * 40)
end = time.time() + 2.5
while time.time() < end:
    fib(16); parse(10); match(20)
