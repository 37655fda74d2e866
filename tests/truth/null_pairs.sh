#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records six real programs again and again and compares each run with the next of the same program, and three with three: whatever is
# beyond noise is wrong.
# null_pairs.sh PROFTOP [PAIRS]: so many pairs of each program, 10 unless told. Programs that are not installed are left out.
# Recordings stay in $TRUTH_DIR (./diff-truth), so that another proftop can judge the same ones: nothing is recorded that is there.
set -euo pipefail
proftop=$(realpath "$1") pairs=${2:-10} dir=${TRUTH_DIR:-diff-truth} freq=${TRUTH_FREQ:-999}
mkdir -p "$dir"
cd "$dir"

if [ ! -e ready ]; then
    # head ends the others' writing.
    { find /usr/include -type f -name '*.h' | sort | xargs cat 2>/dev/null || true; } | head -c 7000000 >text
    for _ in 1 2 3 4 5 6 7 8; do cat text; done >text8
    printf '#include <%s>\n' algorithm functional iostream map random regex string unordered_map vector >unit.cpp
    printf 'int f(const std::string &s) { std::smatch m; return std::regex_search(s, m, std::regex("a+b*")); }\n' >>unit.cpp
    cat >work.py <<'TEXT'
import json, random, re
random.seed(1)
words = ["".join(random.choice("abcdefgh") for _ in range(random.randint(2, 9))) for _ in range(180000)]
count = {}
for word in words: count[word] = count.get(word, 0) + 1
json.loads(json.dumps(count))
re.findall(r"\b[a-d]+\b", " ".join(words))
for _ in range(4): sorted(words, key=lambda w: (len(w), w[::-1]))
TEXT
    cat >work.sql <<'TEXT'
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i+1 from n where i<800000)
    insert into t select i, (i*7919)%100003, 'row '||((i*31)%9973) from n;
create index tb on t(b);
select c, count(*) n from t group by c order by n desc, c limit 5;
select sum(x.b*y.a) from t x join t y on x.b=y.a where x.c>'row 5';
TEXT
    touch ready
fi

record() { # NAME COMMAND…
    local name=$1
    shift
    command -v "$1" >/dev/null || return 0
    [ -s "$name.$round.data" ] || "$proftop" record -F "$freq" -o "$name.$round.data" -- "$@" >/dev/null 2>&1 || true
}

for round in $(seq 1 $((2 * pairs))); do
    record gxx g++ -O1 -c unit.cpp -o /dev/null
    record python python3 work.py
    record sqlite sqlite3 :memory: -init work.sql .quit
    record xz xz -6 -T1 -k -c text
    record gofmt gofmt -l "$(go env GOROOT 2>/dev/null || echo /usr/lib/go)/src/net"
    record rg rg -a -j1 -c '(?i)\b\w+ing\b.*\bof\b.*\d' text8 text8 text8 text8 text8 text8 text8 text8 text8 text8
done

# Of several runs a side, the sides take turns.
for runs in 1 3; do
    echo "| program, $runs a side | null pairs | with a row beyond noise | with the total beyond noise | with either | totals differ by up to |"
    echo "|---|---:|---:|---:|---:|---:|"
    for name in gxx python sqlite xz gofmt rg; do
        for first in $(seq 1 $((2 * runs)) $((2 * pairs - 2 * runs + 1))); do
            before=() after=()
            for round in $(seq "$first" 2 $((first + 2 * runs - 1))); do
                before+=("$name.$round.data") after+=("$name.$((round + 1)).data")
            done
            ls "${before[@]}" "${after[@]}" >/dev/null 2>&1 || continue
            "$proftop" diff --json -n 0 "${before[@]}" -- "${after[@]}" 2>/dev/null
        done | python3 -c '
import json, sys
text, read, at, pairs = sys.stdin.read(), json.JSONDecoder(), 0, []
while at < len(text):
    pair, at = read.raw_decode(text, at)
    at += len(text[at:]) - len(text[at:].lstrip())
    pairs.append(pair)
# What is all of the program is judged as the total, and counted as that.
whole = lambda r, t: all(r["total"][side] >= 0.99 * t[side] for side in ("before", "after"))
rows = [any(r[k]["beyond_noise"] for r in p["rows"] if not whole(r, p["total"]) for k in ("self", "total")) for p in pairs]
totals = [p["total"] for p in pairs]
most = max((abs(t["change"] / t["before"]) for t in totals), default=0)
wrong = [t["beyond_noise"] for t in totals]
either = [r or w for r, w in zip(rows, wrong)]
print(f"| {sys.argv[1]} | {len(pairs)} | {sum(rows)} | {sum(wrong)} | {sum(either)} | {100 * most:.0f} % |")' "$name"
    done
    echo
done
