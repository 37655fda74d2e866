#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# proftop diff from outside: what is compared, what is said of it, and what it refuses.
# shellcheck source=tests/cli_lib.sh
. "$(dirname "$0")/cli_lib.sh"
run_verb=diff
corpus=$source/../shared/corpus

cat >before.folded <<'TEXT'
main;parse;read 1000
main;parse 2000
main;sort;cmp 5000
main;io 1500
main;old 20
TEXT
cat >after.folded <<'TEXT'
main;parse;read 1040
main;parse 2500
main;sort;cmp 4950
main;io 1510
main;new 40
TEXT
cat >two.folded <<'TEXT'
main;parse;read 1000 1040
main;parse 2000 2500
main;sort;cmp 5000 4950
main;io 1500 1510
main;old 20 0
main;new 0 40
TEXT

# --- what is first, what is noise -------------------------------------------------------------

run 0 --report before.folded after.folded
says out '# before.folded → after.folded: samples, not normalised'
says out '# total 9,520 → 10,040: +520'
says out '# 2 subtrees explain the change beyond noise'
says out '1. parse, called by main, grew from 3,000 to 3,540: +540 ± '
says out '  2. new, called by main, is new: +40 ± '
says out '# together +580 of +520; the other -60 is in smaller changes and noise'
grep -v '^#' out >rows
sed -n 1p rows | grep -q '+500 .*+25\.0.*2,000.*2,500.*+540 *parse$' || fault "the first row: $(head -1 rows)"
grep -q 'new .*new$' rows || fault 'new functions are not called new'
grep -q 'gone .*old$' rows || fault 'gone functions are not called gone'
grep -q 'noise  cmp$' rows || fault 'one per cent of five thousand is not called noise'
# After them only functions that did not change themselves.
awk '$1 == 0 { idle = 1; next } idle { exit 1 }
    / noise / { seen = 1; next } seen { exit 1 }' rows || fault 'noise does not come last'
grep -q '^ *0 *0 *0 *+520[ ~?] .*main$' rows || fault 'what main calls is not its change'
run 0 --report --ascii before.folded after.folded
LC_ALL=C grep -q '[^ -~]' out && fault '--ascii is not ASCII'

# What a function does itself may begin and end without its being new or gone.
printf 'm;f;g 500\nm;h 400\nm;h;g 100\n' >idle.folded
printf 'm;f 300\nm;f;g 500\nm;h;g 100\n' >busy.folded
run 0 --report idle.folded busy.folded
grep -v '^#' out | grep -q 'from 0 .* f$' || fault "f is no function that is new: $(cat out)"
grep -v '^#' out | grep -q -- '-100\.0 .* h$' || fault "h is no function that is gone: $(cat out)"
run 0 --report --view tree idle.folded busy.folded
grep -q -e ' new ' -e ' gone ' out && fault "no place is new or gone: $(cat out)"

printf 'm;a 5\nm;b -3\n' >broken.folded
run 0 --report broken.folded after.folded
says out '# something was lost or could not be read'
run 0 --json broken.folded after.folded
says out '"lost": true'
run 0 --report before.folded after.folded
grep -q 'was lost' out && fault 'whole files are said to have lost something'

# Counts in nanoseconds are no samples: whoever reads intervals is told.
printf 'm;a 3700000001\nm;b 1200000000\nm;c 50000000\n' >ns.folded
run 0 --report ns.folded <(sed 's/1$/9/' ns.folded)
says out '# the counts are more than samples are: if they are times or bytes'
printf 'm;a 12000\nm;b 14000\nm;c 5000\n' >thousands.folded
run 0 --report thousands.folded <(sed 's/12000/13000/' thousands.folded)
says out '# the counts are all multiples of 1,000: if they are times or bytes'
sed 's/12000/13000/' thousands.folded >others.folded
run 0 --json thousands.folded others.folded
says out '"doubt": "the counts are all multiples of 1,000: if they'
run 0 --view info --keys '' --screen 200x40 thousands.folded others.folded
says out 'the counts are all multiples of 1,000: if they are times or bytes'
run 1 --any --fail-if 'self(a) > +1%' thousands.folded others.folded
says err 'the counts are all multiples of 1,000: if they'
run 0 --markdown thousands.folded others.folded
says out '**Doubtful**: the counts are all multiples of 1,000: if they'
run 0 --json before.folded after.folded
grep -q '"doubt"' out && fault 'counts of samples are doubted in JSON'
run 0 --report before.folded after.folded
grep -q 'the counts are' out && fault 'counts of samples are doubted'

# --- the same numbers by other ways -----------------------------------------------------------

run 0 --report before.folded after.folded
sed 1d out >direct
run 0 --report two.folded
says out '# before → after: '
sed 1d out | diff - direct >/dev/null || fault 'two counts in a line are not as two files'
run 0 --report before.folded -- after.folded
sed 1d out | diff - direct >/dev/null || fault 'one run on either side of -- is not as two files'
cat before.folded >merged.folded
run 0 --report --a capture:1 --b capture:2 before.folded after.folded
[ -s out ] || fault 'filters beside two files give nothing'
run 0 --report before.folded before.folded
says out '# nothing differs'
says err 'the same file'
grep -qv '^#' out && fault 'a file differs from itself'
for view in top tree callers threads; do
    run 0 --report --view $view before.folded before.folded
    grep -qv '^#' out && fault "a file differs from itself in $view"
    run 0 --markdown --view $view before.folded before.folded
    grep -q '^| *[+-][0-9]' out && fault "a file differs from itself as Markdown, in $view"
done
run 0 --report --view butterfly --function parse before.folded before.folded
grep -v '^#' out | grep -q '[+-][1-9]' && fault 'a file differs from itself in a butterfly'

# --- many files, and parts of many -------------------------------------------------------------

# More files than runs: those that are put together are made equally large, so that equal files are equal, whatever their number.
for i in {1..45}; do
    cp before.folded many-$i.folded
done
run 0 --report many-{1..10}.folded -- many-{11..45}.folded
says err 'the 10 files before are compared as 6 runs of 1 or 2 files each, made equally large'
says err 'the 35 files after are compared as 22 runs of 1 or 2 files each, made equally large'
grep -q '^# total \([0-9,]*\) → \1: +0 ± .* noise$' out || fault "equal files of other numbers differ: $(grep '^# total' out)"
grep -v '^#' out | grep -v '^ *+*0 ' | grep -q . && fault 'functions of equal files differ'
# What one file a run says of 14 and 14, and of 20 and 20.
for i in {1..20}; do
    printf 'main;f %d\nmain;g %d\n' $((1000 + i * 7 % 13)) $((500 + i * 5 % 11)) >old-$i.folded
    printf 'main;f %d\nmain;g %d\n' $((1000 + i * 5 % 13)) $((700 + i * 7 % 11)) >new-$i.folded
done
run 0 --report old-{1..14}.folded -- new-{1..14}.folded
grep -q '+200 .* +39.*\(50[0-9]\|51[0-9]\) .* g$' out || fault "g of 14 and 14 files: $(grep ' g$' out)"
run 0 --report old-{1..20}.folded -- new-{1..20}.folded
grep -q ' +39\..* g$' out || fault "g of 20 and 20 files: $(grep ' g$' out)"
grep -q 'noise  f$' out || fault "f of 20 and 20 files: $(grep ' f$' out)"
# Parts of more than two files.
run 0 --report --a capture:1-2 --b capture:3 before.folded before.folded after.folded
says out '# total 19,040 → 10,040: '
run 0 --report --a fn:parse --b fn:sort before.folded before.folded after.folded
says out '# total 9,540 → 14,950: '
run 2 --report before.folded before.folded after.folded
says err '3 files are given: of several runs a side, -- stands between BEFORE and AFTER'

# --- folded stacks with two counts -------------------------------------------------------------

export_to() { timeout 60 "$proftop" export --to folded-diff "$@" 2>err </dev/null || fault "export $*: $(cat err)"; }
export_to before.folded after.folded >exported.folded
sort two.folded | diff - exported.folded || fault 'exported counts are others'
run 0 --report exported.folded
sed 1d out | diff - direct >/dev/null || fault 'what was exported compares otherwise'
# The rule of difffolded.pl -n, by another hand: count1 * total2 / total1, truncated.
awk '{ c[NR] = $(NF - 1); d[NR] = $NF; $NF = $(NF - 1) = ""; s[NR] = $0; a += c[NR]; b += d[NR] }
    END { for (i = 1; i <= NR; i++) { sub(/ +$/, "", s[i]); printf "%s %d %d\n", s[i], int(c[i] * b / a), d[i] } }' \
    exported.folded >expected
export_to --normalise total before.folded after.folded | diff expected - || fault 'equalised counts are others'
export_to --a fn:parse --b fn:sort before.folded | grep -qx 'main;sort;cmp 0 5000' || fault 'parts of a file are not exported'
run 2 --report --to folded-diff before.folded after.folded
timeout 60 "$proftop" export --to folded-diff before.folded >/dev/null 2>err && fault 'one side is exported as two'
one_sentence

# --- machines whose speed differs ----------------------------------------------------------------

# at_speed SPEED CMP: a run of a program at a speed, of which one function is so large.
at_speed() { awk -v s="$1" -v c="$2" 'BEGIN {
    n = split("read 4000 parse 3000 sort 5000 hash 2500 write 2000 scan 1500 r2 4000 p2 3000 s2 5000 h2 2500 w2 2000 c2 1500", f, " ")
    for (i = 1; i < n; i += 2) printf "main;%s %d\n", f[i], s * f[i + 1]
    printf "main;cmp %d\n", s * c }'; }
at_speed 1 3000 >fast.folded
at_speed 1.5 4200 >slow.folded
run 0 --report fast.folded slow.folded
says out ': samples, not normalised'
says out '# 12 of 13 functions grew by about 50.0 % (95 %'
says out ': host slower, or more work?'
says out '# measured values; --normalise typical scales by that'
says out '# total 39,000 → 60,300'
# Functions follow a machine of so much less speed unlike: one run a side tells nothing. Three do, and where speeds differ less, one does.
grep -v '^#' out | grep -qv -e ' run? ' -e ' noise ' && fault "one run of a much slower machine is believed: $(grep -v '^#' out)"
run 0 --report fast.folded <(at_speed 1.05 4200)
[ "$(grep -v '^#' out | grep -vc -e ' run? ' -e ' noise ')" = 1 ] || fault "other functions than the changed one are beyond noise: $(grep -v '^#' out)"
run 0 --report fast.folded slow.folded
grep -v '^#' out | sed -n 1p | grep -q '+110\.0 .* cmp$' || fault "the first row is not what changed, as measured: $(grep -v '^#' out)"
run 0 --report slow.folded fast.folded
says out '12 of 13 functions shrank by about 33.3 %'
says out ': host faster, or less work?'
run 0 --report --normalise typical fast.folded slow.folded
says out 'normalised by what most functions did'
says out '# scaled by 1/1.50; the measured total is 39,000 → 60,300 (+54.6 %), which --normalise none compares'
grep -v '^#' out | sed -n 1p | grep -q '+40\.0 .* cmp$' || fault "the first row is not what changed: $(grep -v '^#' out)"
[ "$(grep -v '^#' out | grep -vc ' noise ')" = 2 ] || fault "other functions than the changed one are beyond noise: $(grep -v '^#' out)"
# Screens, Markdown and the gate have the same numbers.
run 0 --markdown fast.folded slow.folded
says out 'not normalised'
says out '12 of 13 functions grew'
run 0 --screen 110x14 --keys '' fast.folded slow.folded
says out 'not normalised (typical +50.0 %)'
run 0 --fail-if 'self(cmp) > +100%' fast.folded slow.folded
says err 'run? one run a side does not tell if it fails on self(cmp) > +100%; --runs 3 of record or compare does, --any lets it fail'
three=(fast.folded fast.folded fast.folded -- slow.folded slow.folded slow.folded)
run 1 --fail-if 'self(cmp) > +100%' "${three[@]}"
run 1 --any --fail-if 'self(cmp) > +100%' fast.folded slow.folded
# What is said of it is true by whatever else sides are made equal.
run 0 --report --normalise total fast.folded slow.folded
says out '# that is as measured: made equal by total, most functions still differ by -3.0 %; --normalise typical scales by that'
run 0 --report --normalise total fast.folded <(at_speed 1.5 3000)
says out '# that is as measured: made equal by total, most functions are alike'
grep -q 'scales' out && fault 'there is something to take off of what is alike'
at_speed 1.5 3000 >longer.folded
run 0 --normalise total --screen 110x20 --keys 8 fast.folded longer.folded
says out 'made equal by total, most functions are alike'
grep -q 'functions grew' out && fault 'sides that were made equal seem to differ by how long they were'
run 0 --markdown --normalise samples fast.folded slow.folded
says out 'That is as measured: made equal by samples, most functions still differ by -3.0 %'
run 1 --fail-if 'total > +20%' "${three[@]}"
run 0 --fail-if 'total > +20%' --normalise typical fast.folded slow.folded
run 1 --fail-if 'self(.) > +30%' --normalise typical "${three[@]}"
says err 'self of cmp'
run 0 --screen 110x14 --keys '=' fast.folded slow.folded
says out 'normalised by typical (+50.0 %)'
run 0 --screen 110x14 --keys '==' fast.folded slow.folded
says out 'normalised by total'
grep -q 'typical' out && fault 'what was measured is told of numbers that are made equal'
run 0 --report before.folded after.folded
says out 'not normalised'
grep -q 'alike' out && fault 'what is noise is called a common change'
printf 'main;a 1000\nmain;b 2000\n' >few.folded
cp few.folded as_few.folded
run 2 --report --normalise typical few.folded as_few.folded
one_sentence
says err 'too few functions have enough samples'
# Three runs a side at any speed: what changed is found, and nothing else.
for i in 1:1 2:1.6 3:0.7; do
    at_speed "${i#*:}" 3000 | awk -v i="${i%:*}" '{ print $1, int($2 * (1 + (NR * 7 + i * 5) % 5 / 100)) }' >"fast-${i%:*}.folded"
    at_speed "${i#*:}" 4200 | awk -v i="${i%:*}" '{ print $1, int($2 * (1 + (NR * 3 + i * 2) % 5 / 100)) }' >"slow-${i%:*}.folded"
done
run 0 --report --normalise typical fast-1.folded fast-2.folded fast-3.folded -- slow-1.folded slow-2.folded slow-3.folded
says out 'differ alike from run to run, by up to'
grep -v '^#' out | sed -n 1p | grep -q '+4.\.. .* cmp$' || fault "three runs: the first row is not what changed: $(cat out)"
[ "$(grep -v '^#' out | grep -vc ' noise ')" = 2 ] || fault "three runs: other functions are beyond noise: $(cat out)"
run 0 --report fast-1.folded fast-2.folded fast-3.folded -- slow-1.folded slow-2.folded slow-3.folded
says out 'not normalised'
says out "(95 % of the total and all together, the total's interval 97.5 %, each row's interval "

# --- a second call of what many functions are below --------------------------------------------

# Recorded of tests/data/diff/regex.cpp: most functions are std::regex's, and nothing else became slower.
regex=("$data/diff/regex-once.folded.gz" "$data/diff/regex-twice.folded.gz")
for names in '' --loose-names; do
    # shellcheck disable=SC2086 # one word or none
    run 0 --report $names -n 0 "${regex[@]}"
    says out ': samples, not normalised'
    says out '# total 878 → 1,270: +392'
    says out '# one subtree explains the change'
    says out ' search, called by __libc_start_call_main > main, grew from 404 to 811: +407 ± '
    says out ', in what it calls'
    says out '# together +407 of +392; the other -15 is in smaller changes and noise'
    grep -Eq 'alike|functions (grew|shrank)' out && fault 'what is below one caller is taken for all of the program'
    grep -v '^#' out | sed -n 1p | grep -q '+257 .* std::__detail::_Executor<.*>::_M_dfs$' || fault "the first row: $(grep -v '^#' out | head -1)"
    grep -v '^#' out | grep -e 'sort' -e 'memcmp' -e '_Rb_tree' | grep -qv ' noise ' && fault "what did not change is beyond noise: $(grep -e sort -e memcmp out)"
    grep -q '+407   *noise  search$' out || fault "the search did not double: $(grep 'search$' out)"
done
run 0 --view info --keys '' --screen 160x40 "${regex[@]}"
says out '+392 ± 261, from 878 to 1,270'
says out 'one subtree explains the change'
says out 'together +407 of +392'
grep -Eq 'alike|functions (grew|shrank)' out && fault 'info takes it for all of the program'
# Without colours too, the other change says what it is.
for colour in '' 1; do
    NO_COLOR=$colour run 0 --view top --keys '' --screen 120x40 "${regex[@]}"
    grep -Eq '[+]406  std::__detail::__regex_algo_impl<…>  +noise' out || fault "a total beyond noise has a mark: $(grep regex_algo out)"
    grep -Eq '[+]392  main  +noise' out || fault "the total of main, which is everything, has another mark than that: $(grep ' main ' out)"
    grep -Eq ' -2~ std::__introsort_loop<…>  +noise' out || fault "a total within noise has no mark: $(grep introsort out)"
done
# The flame graph writes a change beside what is beyond noise only: the search, and nothing of what did not change.
run 0 --view flame --keys '' --screen 160x40 "${regex[@]}"
says out 'not normalised · 2 of 58 beyond noise'
says out '▏search +100.7 %'
sed -n '/▏search/,/^ *$/p' out | grep -Eq '(sort|memcmp|_Rb_tree|_M_er[a-z]*)[^▏]* [-+][0-9.]+ %' && fault "the flame graph colours what did not change: $(cat out)"
run 0 --view flame --keys '/search<Enter>' --screen 160x40 "${regex[@]}"
says out '+407 (+100.7 %) ± '
says out 'from 404 to 811  search'
# The gate says the same of the same numbers, and fails on what grew alone.
run 1 --fail-if 'total > +20%' "${regex[@]}"
says err '+392 +- 261 (+44.6 %), from 878 to 1,270'
grep -q 'run?' err && fault "the gate is not sure of what is beyond noise: $(cat err)"
run 0 --json "${regex[@]}"
grep -q '"total": {"before": 878, "after": 1270, .*"verdict": "beyond"}' out || fault 'the total of twice the search is not beyond noise'
run 1 --fail-if 'self(.) > +1%' "${regex[@]}"
[ "$(grep -c ': it fails on' err)" = 2 ] || fault "the gate does not fail on two functions: $(cat err)"
says err '+257 +- 211 (+87.7 %), from 293 to 550'
run 1 --fail-if 'total(^search$) > +50%' "${regex[@]}"
run 0 --fail-if 'self(sort) > +1%' --fail-if 'self(sort|memcmp) < -1%' --fail-if 'total(sort) > +1%' "${regex[@]}"

# What changed beyond what the machine explains says nothing of how fast that was: what else there is hardly changed.
printf 'main;%s\n' 'mix 453' 'walk 239' 'matrix 180' 'sort 110' 'count 200' >once.folded
printf 'main;%s\n' 'mix 450' 'walk 265' 'matrix 340' 'sort 100' 'count 200' >twice.folded
run 0 --report once.folded twice.folded
says out '# total 1,182 → 1,355: +173 ± 134 (+14.6 %)'
grep -q 'run?' out && fault "one function explains the change, and the total is in doubt: $(cat out)"

# All that there is took 8.7 % longer: one run a side cannot tell whether the machine did, and report, screen and gate say so of the same
# numbers. The gate does not fail on what it cannot tell, but never lets it pass in silence.
printf 'main;%s\n' 'big 10000' 'small 10' 'gone 400' >quick.folded
printf 'main;%s\n' 'big 11000' 'small 12' 'new 300' >slower.folded
run 0 --report quick.folded slower.folded
says out '# total 10,410 → 11,312: +902 ± 2,502 (+8.7 %) run?'
says out '# the total and 1 more changed, or one run differs so of itself (run?, ?): three runs a side tell'
run 0 --view info --keys '' --screen 160x40 quick.folded slower.folded
says out '+902 ± 2,502, from 10,410 to 11,312, run? the program changed, or one run differs so of itself'
run 0 --markdown --fail-if 'total > +5%' quick.folded slower.folded
says out '- **run?** <code>total &#62; +5%</code>; total changed by +902'
says out '10,410 → 11,312, +902 (+8.7 %) run?, not normalised'
says out 'The total changed, or one run differs so of itself (run?)'
says err 'total changed by +902 +- 2,502 (+8.7 %), from 10,410 to 11,312: run? one run a side does not tell if it fails on total > +5%'
run 0 --junit - --fail-if 'total > +5%' quick.folded slower.folded
says out '<skipped message="total changed by +902'
run 1 --any --fail-if 'total > +5%' quick.folded slower.folded
says err 'from 10,410 to 11,312: it fails on total > +5%'
run 0 --fail-if 'total > +9%' quick.folded slower.folded
# An amount after is no change, and three runs a side know by how much the machine's speed differs.
run 1 --fail-if 'total > 11000' quick.folded slower.folded
grep -q 'run?' err && fault "what was measured after is called a change: $(cat err)"
run 1 --report --fail-if 'total > +5%' quick.folded quick.folded quick.folded -- slower.folded slower.folded slower.folded
says out '# total 10,410 → 11,312: +902'
grep -q '^# total.*run?' out err && fault "three runs are not enough: $(grep '# total' out)"
# Runs of a side differ in speed by 2 %, and the sides by 3 %: the total is what the runs say of it, whatever functions do besides.
for i in a b c d e f g h i j k l m; do echo "main;caller_$(($(printf %d "'$i") % 5));$i 2000"; done >same.folded
for i in 98 100 102 101 103 105; do awk -v i="$i" '{ print $1, $2 * i / 100 }' same.folded >"speed-$i.folded"; done
run 0 --report --fail-if 'total > +1%' speed-98.folded speed-100.folded speed-102.folded -- speed-101.folded speed-103.folded speed-105.folded
says out '# total 26,000 → 26,780: +780 ± 1,'
grep -q '^# total.* noise$' out || fault "runs that differ so of themselves are a verdict: $(grep '# total' out)"
# Where a dozen functions were as fast as before, the total tells of the program.
{ cat same.folded && echo 'main;more 4000'; } >grown.folded
run 0 --report same.folded grown.folded
says out '# total 26,000 → 30,000: +4,000'
grep -q '^# total.*run?' out && fault "a dozen functions say nothing: $(grep '# total' out)"

# Of one run a side, a dozen samples that only one of them has may be a burst: a lock that spun, a collector that ran. Many are not.
printf 'main;%s\n' 'a 110' 'b 100' 'c 90' 'd 75' 'e 60' 'f 50' >quiet.folded
{ cat quiet.folded && printf 'main;spin 12\n'; } >spun.folded
run 0 --report quiet.folded spun.folded
grep -q ' run? *spin$' out || fault "a burst is a verdict: $(grep 'spin$' out)"
{ cat quiet.folded && printf 'main;spin 60\n'; } >more.folded
run 0 --report quiet.folded more.folded
grep 'spin$' out | grep -q -e noise -e 'run?' && fault "what is new with many samples is noise: $(grep 'spin$' out)"

# Three runs a side: what is gone from all of them is no noise, nor is it run by run.
for i in 156 150 151; do printf 'main;a 9000\nmain;b 7000\nmain;gone %d\n' $i; done | split -l 3 - with.
for i in 1 2 3; do printf 'main;a 90%d0\nmain;b 70%d0\n' $i $((4 - i)) >"without.$i"; done
run 0 --report with.aa with.ab with.ac -- without.1 without.2 without.3
grep ' gone$' out | grep -q noise && fault "what is gone is noise: $(cat out)"
grep -v '^#' out | sed -n 1p | grep -q ' gone$' || fault "what is gone is not first: $(cat out)"

# --- lambdas that moved by a line -------------------------------------------------------------

printf 'main;run<(lambda at x.cc:12:3)> 1000\nmain;run<(lambda at x.cc:40:3)> 900\nmain;f 800\n' >lines.folded
printf 'main;run<(lambda at x.cc:13:3)> 1500\nmain;run<(lambda at x.cc:41:3)> 900\nmain;f 800\n' >moved.folded
run 0 --report lines.folded moved.folded
says out '# run<(lambda at x.cc:12:3)> before is taken for run<(lambda at x.cc:13:3)> after: renamed?'
says out '1. run<(lambda at x.cc:13:3)>, called by main, grew from 1,000 to 1,500: +500'
grep -v '^#' out | sed -n 1p | grep -q '+500 .*1,000 .*1,500 .*13:3)>.*(renamed?)$' || fault "the first row: $(grep -v '^#' out | head -1)"
run 0 --json lines.folded moved.folded
says out '"renamed": ['
run 0 --view info --keys '' --screen 120x40 lines.folded moved.folded
says out 'run<(lambda at x.cc:12:3)> before, run<(lambda at x.cc:13:3)> after'
for view in top tree; do
    run 0 --view $view --keys '' --screen 120x40 lines.folded moved.folded
    grep -q '13:3)>  .* renamed?$' out || fault "$view does not mark what was renamed: $(cat out)"
    grep -q '41:3)>  .* renamed? noise$' out || fault "$view does not mark what was renamed and is noise: $(cat out)"
    grep -q ' f  .* noise$' out || fault "$view marks what was not renamed: $(cat out)"
done
run 0 --keys '' --screen 120x40 --no-pairs lines.folded moved.folded
grep -q 'renamed' out && fault '--no-pairs marks functions on the screen'
run 0 --keys '' --screen 120x40 quiet.folded spun.folded
grep -q ' spin  .* run?$' out || fault "the screen takes a burst for a verdict or for noise: $(cat out)"
run 0 --report --no-pairs lines.folded moved.folded
grep -q 'renamed' out && fault '--no-pairs pairs functions'

# Long names fold, but not what tells them apart; the gate's do, too.
deep='run<int>::operator()(std::vector<double, std::allocator<double> >&, std::map<int, double, std::less<int> >&)::{lambda'
pair='each<std::vector<double, std::allocator<double> >, std::vector<double, std::allocator<double> >, (lambda at x.cc'
printf '%s\n' "main;$deep()#1};a 1000" "main;$pair:12:3)> 900" >deep.folded
printf '%s\n' "main;$deep()#2};a 1000" "main;$pair:13:3)> 1900" >deeper.folded
run 0 --report --width 120 deep.folded deeper.folded
says out '# run<…>::operator()(std::vector<…>&, std::map<…>&)::{lambda()#1} before is taken for run<…>'
grep -q "^# each<.*:12:3)> before is taken for each<.*:13:3)> after" out || fault "what tells renamed functions apart is folded: $(grep each out)"
run 1 --any --fail-if 'self(each) > +3%' deep.folded deeper.folded
says err 'self of each<…> changed by +1,000'

# The second of two lambdas has the first one's line before: that is no change of either.
printf 'main;run<(lambda at x.cc:%d:3)> %d\n' 12 200 13 600 >near.folded
printf 'main;run<(lambda at x.cc:%d:3)> %d\n' 13 200 14 600 >nearer.folded
run 0 --report near.folded nearer.folded
says out '# nothing differs'
says out '# run<(lambda at x.cc:12:3)> before is taken for run<(lambda at x.cc:13:3)> after: renamed?'
says out '# run<(lambda at x.cc:13:3)> before is taken for run<(lambda at x.cc:14:3)> after: renamed?'
run 0 --report nearer.folded near.folded
says out '# nothing differs'
# Behind a new one, by what they call.
printf 'main;main.run.func%d;%s %d\n' 1 a 300 2 b 300 >two.closures
printf 'main;main.run.func%d;%s %d\n' 1 c 300 2 a 300 3 b 300 >three.closures
run 0 --report two.closures three.closures
says out '1. main.run.func1, called by main, is new: +300'
says out '# together +300 of +300: nothing is left'
# What calls it, or is called by it, is counted where nothing changed itself; Markdown has the cause, too.
run 0 --markdown two.closures three.closures
says out '1. main.run.func1, called by main, is new: +300'
says out 'together +300 of +300: nothing is left'
run 0 --report three.closures two.closures
says out '1. main.run.func1 (before), called by main, is gone: -300'
# Three that are alike: one is new, nobody knows which.
printf 'main;main.run.func%d %d\n' 1 300 2 300 >two.alike
printf 'main;main.run.func%d %d\n' 1 300 2 300 3 300 >three.alike
run 0 --report two.alike three.alike
says out '# which of those that are called main.run.func but for a number are the same on both sides cannot be told'
says out '1. main.run.func3, called by main, or another that differs in its number (renamed?), is new: +300'
run 0 --view info --keys '' --screen 120x40 two.alike three.alike
says out 'which of main.run.func, but for a number, are the same cannot be told'

# --- earlier runs ------------------------------------------------------------------------------

# history_run FILE SEED GC WORK: work_3 has so much more, gc as much as is said, the others a per cent of their own.
history_run() {
    awk -v seed="$2" -v gc="$3" -v work="$4" 'BEGIN {
        for (i = 0; i < 24; i++)
            printf "main;caller_%d;work_%d %d\n", i % 4, i, (i == 3 ? work : 1) * (3000 + 30 * ((seed * 7 + i * 5) % 13 - 6) / 6)
        printf "main;caller_1;gc %d\n", 3000 * gc
    }' >"$1"
}
i=0
for gc in 1.0 1.3 0.8 1.2 0.7 1.1 0.9 1.35; do
    history_run "early.$i" "$i" "$gc" 1
    run_verb=report run 0 --history early.d "early.$i"
    i=$((i + 1))
done
[ "$(find early.d -name '*.run' | wc -l)" = 8 ] || fault "not each run was noted: $(ls early.d)"
history_run hb 20 0.8 1
history_run ha 21 1.25 1.3
run 0 --report hb ha
grep ' gc$' out | grep -q 'run?' && fault "without earlier runs gc is known to vary: $(cat out)"
grep ' work_3$' out | grep -q -e noise -e 'run?' && fault "work_3 did not change: $(cat out)"
run 0 --report --history early.d hb ha
says out '# history: 8 earlier runs; by these, intervals of '
grep -q ' run?   *gc$' out || fault "what gc varies by is not known: $(cat out)"
grep ' work_3$' out | grep -q -e noise -e 'run?' && fault "with earlier runs work_3 did not change: $(cat out)"
[ "$(find early.d -name '*.run' | wc -l)" = 10 ] || fault "the compared runs were not noted: $(ls early.d)"
# They are compared with what was before them, however often that is asked.
run 0 --json --history early.d hb ha
says out '"history": {'
grep -q '"runs": 8' out || fault "the compared runs speak for themselves: $(cat out)"
[ "$(find early.d -name '*.run' | wc -l)" = 10 ] || fault "runs were noted twice: $(ls early.d)"
run 0 --history early.d --keys '' --screen 120x40 hb ha
grep -q ' gc  .* run?$' out || fault "the screen knows nothing of earlier runs: $(cat out)"
# Screens add runs, too, each once; and a filter does not let the compared runs speak for themselves.
run 0 --history screens.d --keys '' --screen 120x40 hb ha
[ "$(find screens.d -name '*.run' | wc -l)" = 2 ] || fault "screens do not add their runs: $(ls screens.d)"
run 0 --history screens.d --keys '/gc<Enter>=' --screen 120x40 ha hb
[ "$(find screens.d -name '*.run' | wc -l)" = 2 ] || fault "screens add runs twice: $(ls screens.d)"
run 0 --history screens.d --keys '' --screen 120x40 -f fn:gc hb early.1
[ "$(find screens.d -name '*.run' | wc -l)" = 2 ] || fault "screens add what a filter leaves of runs: $(ls screens.d)"
run 0 --json --history early.d -f fn:work hb ha
grep -q '"runs": 8' out || fault "below a filter the compared runs speak for themselves: $(cat out)"
# Of another program, and too few, they say nothing.
printf 'main;other 900\nmain;thing 800\nmain;gc 700\n' >hc
printf 'main;other 900\nmain;thing 800\nmain;gc 500\n' >hd
run 0 --report --history early.d hc hd
says out '# history: 0 earlier runs of this program; 4 are needed'
# Without times, runs of equal weights are told apart by their stacks.
printf 'main;a 600\nmain;b 400\nmain;c 50\n' >swap.a
printf 'main;a 400\nmain;b 600\nmain;c 50\n' >swap.b
printf 'main;a 610\nmain;b 390\nmain;c 51\n' >swap.c
cp swap.a swap.again
run 0 --report --history swap.d swap.a swap.c
run 0 --report --history swap.d --map a=other swap.again swap.c
[ "$(find swap.d -name '*.run' | wc -l)" = 2 ] || fault "a run of another name is noted twice: $(ls swap.d)"
run 0 --report --history swap.d swap.b swap.c
says out '# history: 1 earlier run of this program'
[ "$(find swap.d -name '*.run' | wc -l)" = 3 ] || fault "a run of the same weights is not noted: $(ls swap.d)"
run 0 --report --history swap.d -f fn:b swap.b swap.c
says out '# history: 1 earlier run of this program'
# What cannot be read is left out with a word; what is no run is left alone.
: >early.d/notes
head -c 100 "early.d/$(ls early.d | head -1)" >early.d/00000000000000aa.run
mkdir early.d/00000000000000ab.run
ln -s /dev/zero early.d/00000000000000ac.run
run 0 --report --history early.d hb ha
says out '# history: 8 earlier runs'
says err 'proftop: left out of the history: early.d/00000000000000aa.run: line 6: the file ends too early'
says err 'proftop: left out of the history: 2 more files of early.d'
run 2 --report --history hb hb ha
says err 'hb: '
run 0 --report --history other.d -f fn:gc hb ha
says err 'the runs are not added to other.d: a filter or a grouping is given'
[ ! -e other.d ] || fault 'runs of a filter were noted'
run_verb=report run 2 --history early.d -f fn:gc hb
says err '--history notes whole runs'

# --- JSON ------------------------------------------------------------------------------------

cat >check.py <<'TEXT'
import json, math, subprocess, sys
proftop = sys.argv[1]
def run(*args):
    return json.loads(subprocess.run([proftop, "diff", "--json", *args], stdout=subprocess.PIPE, check=True).stdout)
faults = []
def near(a, b): return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6)
before, after = sys.argv[2], sys.argv[3]
has_typical = run("--normalise", "none", before, after)["typical"] and run("--normalise", "none", after, after)["typical"]
for how in ("none", "typical", "total", "samples"):
    if how == "typical" and not has_typical: continue
    d, r = run("--normalise", how, before, after), run("--normalise", how, after, before)
    if not near(sum(x["self"]["change"] for x in d["rows"]), d["total"]["change"]):
        faults.append(f"{how}: changes of self do not add up to that of the whole")
    back = {(x["name"], x.get("module")): x for x in r["rows"]}
    for x in d["rows"]:
        y = back.get((x["name"], x.get("module")))
        if y is None: faults.append(f"{how}: {x['name']} is not there the other way round"); continue
        for part in ("self", "total"):
            if not near(x[part]["change"], -y[part]["change"]): faults.append(f"{how}: {x['name']} {part}")
            if x[part]["beyond_noise"] != y[part]["beyond_noise"]: faults.append(f"{how}: {x['name']} {part}: noise")
    for view in ("top", "tree", "callers", "threads"):
        same = run("--normalise", how, "--view", view, "--min", "0", after, after)
        if same["rows"] or same["total"]["change"] or same["beyond_noise"] or same["explanation"]["reasons"]:
            faults.append(f"{how}, {view}: something differs from itself")
    threads = run("--normalise", how, "--view", "threads", "--min", "0", before, after)["rows"]
    if not near(sum(x["total"]["change"] for x in threads if x["depth"] == 0), d["total"]["change"]):
        faults.append(f"{how}: changes of processes do not add up to that of the whole")
    for i, x in enumerate(threads):
        below = [y["total"]["change"] for y in threads if y["parent"] == i]
        if below and not near(sum(below), x["total"]["change"]): faults.append(f"{how}: threads of {x['name']}")
    tree = run("--normalise", how, "--view", "tree", "--min", "0", before, after)
    below = [0.0] * len(tree["rows"])
    for i, x in enumerate(tree["rows"]):
        if x["parent"] is not None: below[x["parent"]] += x["total"]["change"]
    for i, x in enumerate(tree["rows"]):
        if not near(below[i] + x["self"]["change"], x["total"]["change"]): faults.append(f"{how}: tree: {x['name']}")
for f in faults[:10]: print(f)
sys.exit(bool(faults))
TEXT
if command -v python3 >/dev/null 2>&1; then
    for view in top tree callers threads 'butterfly --function parse'; do
        # shellcheck disable=SC2086 # two words
        run 0 --json --view $view before.folded after.folded
        python3 "$source/tests/json_schema.py" "$source/tests/diff_schema.json" <out || fault "JSON of $view"
    done
    python3 check.py "$proftop" before.folded after.folded || fault 'before and after'
    n=0
    if [ -e "$data/demo.data" ]; then
        run 0 --json --metric samples --a time:0,1.5 --b time:1.5, "$data/demo.data"
        python3 "$source/tests/json_schema.py" "$source/tests/diff_schema.json" <out || fault 'JSON of halves of demo.data'
    fi
    for pair in "$corpus/made/perf/truth_fp.data $corpus/made/perf/truth_dwarf.data" \
        "$corpus/made/perf/fp_threads.data $corpus/made/perf/delay.data" \
        "$corpus/made/perf/java.data $corpus/made/perf/python311.data" \
        "$corpus/made/perf/sys_wide_g.data $corpus/made/perf/per_thread.data" \
        "$corpus/FlameGraph/test/results/perf-cycles-instructions-01-collapsed-all.txt $corpus/FlameGraph/test/results/perf-dd-stacks-01-collapsed-all.txt" \
        "$corpus/FlameGraph/test/results/perf-dd-stacks-01-collapsed-pid.txt $corpus/FlameGraph/test/results/perf-dd-stacks-01-collapsed-tid.txt"; do
        # shellcheck disable=SC2086 # two files
        set -- $pair
        if [ -e "$1" ] && [ -e "$2" ]; then
            python3 check.py "$proftop" "$1" "$2" || fault "$1 and $2"
            n=$((n + 1))
        fi
    done
    echo "$n pairs of recordings were compared"
else
    echo 'skipped: no python3 to read JSON with'
fi

# --- conditions, for CI --------------------------------------------------------------------------

run 0 --fail-if 'total > +9%' --fail-if 'self(cmp) < -3%' before.folded after.folded
[ -s out ] && fault 'a report that nobody asked for'
[ -s err ] && fault 'sentences though nothing failed'
run 1 --any --fail-if 'total > +5%' before.folded after.folded
says err 'total changed by +520'
one_sentence
run 1 --fail-if 'self(parse|cmp|read) > +3%' before.folded after.folded
says err 'self of parse changed by +500'
one_sentence
run 0 --fail-if 'self(^io$) > +0.5%' before.folded after.folded
run 1 --fail-if 'self(^io$) > +0.5%' --any before.folded after.folded
run 0 --fail-if 'total > 12000' before.folded after.folded
run 1 --fail-if 'total > 10000' --report before.folded after.folded
says out '# total 9,520'
run 0 --fail-if 'self(zzz) > +1' before.folded after.folded
says err 'matches no function'
for condition in 'total' 'total > ' 'total > 5%' 'total > +5 q' 'self > 5' '> 5' 'self(() > 5' 'self(a > 5' 'leaked > +1MB' \
    'total > 5MB' 'total >> 5' 'total > +5% and more'; do
    run 2 --fail-if "$condition" before.folded after.folded
    one_sentence
done
run 2 --junit - before.folded after.folded
run 2 --junit - --report --fail-if 'total > 1' before.folded after.folded
run 2 --json --markdown before.folded after.folded
run 1 --any --markdown --fail-if 'total > +5%' before.folded after.folded
says out '- **fails:** total changed by +520'
says out '| +500 | +25.0 |'
grep -q 'cmp' out && fault 'Markdown shows noise'
printf 'main;a<b>|`c`;"&" 10\nmain;x 1000\n' >nasty.folded
printf 'main;a<b>|`c`;"&" 900\nmain;x 1000\n' >nastier.folded
run 1 --junit junit.xml --fail-if 'self(.) > +1%' --fail-if 'total > +900%' --fail-if 'self(zzz) > 1' nasty.folded nastier.folded
if command -v python3 >/dev/null 2>&1; then
    python3 "$source/tests/junit_check.py" 3 1 1 <junit.xml || fault 'JUnit XML'
    sed 's/ classname="[^"]*"//' junit.xml | python3 "$source/tests/junit_check.py" 3 1 1 >/dev/null && fault 'JUnit XML is not checked'
    run 1 --any --json --fail-if 'total > +5%' before.folded after.folded
    python3 "$source/tests/json_schema.py" "$source/tests/diff_schema.json" <out || fault 'JSON with conditions'
fi
if command -v xmllint >/dev/null 2>&1; then
    xmllint --noout --schema "$source/tests/junit.xsd" junit.xml 2>xsd || fault "JUnit XML: $(head -3 xsd)"
    sed 's/ classname="[^"]*"//' junit.xml | xmllint --noout --schema "$source/tests/junit.xsd" - 2>/dev/null && fault 'the schema takes anything'
fi
run 1 --markdown --fail-if 'total > 1' nasty.folded nastier.folded
grep -q 'a<b>' out && fault 'Markdown has HTML of names'

# --- screens ------------------------------------------------------------------------------------

for view in top tree callers butterfly flame threads; do
    run 0 --view "$view" --keys '' --screen 100x14 before.folded after.folded
    says out 'before.folded → after.folded'
    says out 'not normalised · 2 of'
done
run 0 --keys '=' --screen 100x14 fast.folded slow.folded
says out 'normalised by typical'
run 0 --keys '=' --screen 100x14 before.folded after.folded
says out 'normalised by total'
run 0 --keys '==' --screen 100x14 before.folded after.folded
says out 'normalised by samples'
run 0 --keys '%' --screen 100x14 before.folded after.folded
says out '+500'
run 0 --keys 'dm' --screen 100x14 before.folded after.folded
run 0 --keys 't<Enter>&fn:parse<Enter>=d' --screen 60x10 two.folded
run 0 before.folded after.folded
says err 'this is the report instead'
says out '# total 9,520'

# --- names ---------------------------------------------------------------------------------------

printf 'old_name;parse.isra.0 1000\nold_name;vec<int>::push 500\n' >early.folded
printf 'new_name;parse 1000\nnew_name;vec<long>::push 500\n' >late.folded
run 0 --report early.folded late.folded
says out '--map OLD=NEW joins what was renamed'
run 0 --report --loose-names --map old_name=new_name early.folded late.folded
says out '# nothing differs'
[ -s err ] && fault "names that are there: $(cat err)"
run 2 --report --map nonsense early.folded late.folded
one_sentence
run 0 --report --map nobody=new_name early.folded late.folded
one_sentence
says err '--map nobody=new_name changes nothing: no function, module or thread here is called "nobody"'
says out 'old_name'
run 0 --report --map 'vec<…>::push=push' early.folded late.folded
one_sentence
run 0 --report --loose-names --map 'vec<…>::push=push' early.folded late.folded
[ -s err ] && fault "a name that is there when it is loose: $(cat err)"

# --- programs of two names ------------------------------------------------------------------------

# of PROGRAM FUNCTION:COUNT…: text of perf script, of a program that calls functions of itself.
of() {
    local program=$1 one i
    shift
    for one in "$@"; do
        for ((i = 0; i < ${one#*:}; i++)); do
            printf '%s 7 1.%06d: 1 cycles:\n\t1 %s+0x1 (/opt/%s)\n\t2 main+0x2 (/opt/%s)\n\n' \
                "${program:0:15}" $i "${one%:*}" "$program" "$program"
        done
    done
}
of app-with-a-long-name-1.9 parse:300 sort:400 >early.txt
of app-with-a-long-name-1.10 parse:600 sort:400 >late.txt
run 0 --report early.txt late.txt
says out '# app-with-a-long-name-1.9 before is taken for app-with-a-long-name-1.10 after'
grep -q '+300 .* 300 .* 600 .*parse' out || fault "one program of two versions: $(cat out)"
grep -q 'only .* in functions that both sides have' out && fault 'programs that are paired are called different'
# A run is one of the history by whatever name: of the other version, of --map, of its own.
run 0 --report --history versions.d early.txt late.txt
run 0 --report --history versions.d --no-pairs early.txt late.txt
run 0 --report --history versions.d --map sort=order early.txt late.txt
run_verb=report run 0 --history versions.d early.txt
[ "$(find versions.d -name '*.run' | wc -l)" = 2 ] || fault "a run of another name is added twice: $(ls versions.d)"
run 0 --report --group module early.txt late.txt
grep -q '+300 .* 700 .* 1,000 .*app-with-a-long-name-1.10' out || fault "modules of two versions: $(cat out)"
# Commands are paired as programs are, in screens, too; numbers of threads are not.
run 0 --report --group comm early.txt late.txt
grep -q '+300 .* 700 .* 1,000 .*app-with-a-long$' out || fault "commands of two versions: $(cat out)"
[ -s err ] && fault "there are numbers in names: $(cat err)"
run 0 --report --group process early.txt late.txt
one_sentence
says err '--group comm and --view threads compare those of equal names'
if command -v python3 >/dev/null 2>&1; then
    of lib parse:300 | sed 's|/opt/lib|/opt/old.so|' >moved-1.txt
    of lib parse:400 | sed 's|parse+0x1 (/opt/lib)|parse+0x1 (/opt/new.so)|; s|/opt/lib|/opt/old.so|' >moved-2.txt
    run 0 --json --no-pairs moved-1.txt moved-2.txt
    python3 "$source/tests/json_schema.py" "$source/tests/diff_schema.json" <out || fault 'JSON of what moved'
    says out '"moved": {"to": "module", "gone": true, "note": "now in new.so"}'
fi
run 0 --report --no-pairs early.txt late.txt
grep -q 'new .*parse' out || fault '--no-pairs pairs'
says out '# only 0.0 % is in functions that both sides have'
run 0 --screen 120x10 --keys '' early.txt late.txt
says out '(app-with-a-long-name-1.9 = app-with-a-long-name-1.10)'
run 1 --fail-if 'self(parse) > +50%' early.txt late.txt
of spin parse:300 sort:400 >early.txt
of twist parse:300 sort:500 >late.txt
run 0 --report early.txt late.txt
says out '# spin before is taken for twist after'
run 0 --report --group comm early.txt late.txt
grep -q '+100 .* 700 .* 800 .*twist$' out || fault "commands of paired programs: $(cat out)"
run 0 --report --group comm --no-pairs early.txt late.txt
grep -q 'gone .*spin$' out || fault "--no-pairs pairs commands: $(cat out)"
export_to early.txt late.txt | grep -qx 'twist;main;parse 300 300' || fault 'paired programs are exported as two'
export_to --no-pairs early.txt late.txt | grep -qx 'spin;main;parse 300 0' || fault 'export --no-pairs pairs'
of twist weave:300 sort:10 >late.txt
run 0 --report early.txt late.txt
grep -q 'is taken for' out && fault 'programs of other functions are paired'
says out 'in functions that both sides have: of different programs?'
of spin2 weave:300 knot:10 >late.txt
run 0 --report early.txt late.txt
grep -q 'is taken for' out && fault 'a name alone pairs'

# --- metrics of few places -------------------------------------------------------------------------

# The same program, of which few samples are of the other event, and those in other places.
for side in early:parse late:sort; do
    { of app parse:300 sort:400; of app "${side#*:}:5" | sed 's/cycles:/faults:/'; } >"${side%:*}.txt"
done
run 0 --report --event faults early.txt late.txt
grep -q 'of different programs' out && fault 'one program is called two, by a metric of few places'
says out 'new'

# --- what cannot be compared ------------------------------------------------------------------

for arguments in 'before.folded' '--a fn:x before.folded' 'before.folded after.folded before.folded' 'before.folded --' \
    '--a fn:x --b fn:y before.folded -- after.folded' '--normalise nothing before.folded after.folded' \
    '--normalise time before.folded after.folded' '--event nothing before.folded after.folded' \
    '--view flame before.folded after.folded' '--a fn:( --b fn:x before.folded' '--a fn:nothing --b fn:parse before.folded' \
    '--view butterfly --function nothing before.folded after.folded' '--view butterfly before.folded after.folded'; do
    # shellcheck disable=SC2086 # several words
    run 2 --report $arguments
    one_sentence
done
run 3 before.folded missing.folded
one_sentence
run 0 --report before.folded before.folded
says err 'before.folded and before.folded are the same file: it is compared with itself'
one_sentence
ln -s before.folded link.folded
run 0 --report before.folded link.folded
says err 'are the same file'
cp before.folded copy.folded
run 0 --report before.folded copy.folded
[ -s err ] && fault "a copy is called the same file: $(cat err)"
says out '# nothing differs'
: >empty.folded
run 3 --report before.folded empty.folded
one_sentence
run 2 --report --a fn:main --b fn:nobody before.folded
says err 'there is nothing in fn:nobody to compare'
one_sentence
printf 'm;a 30\nm;a;b 50\nm;b 20\n' >over.folded
run 0 --report --a fn:a --b fn:b over.folded
one_sentence
says err 'the sides overlap: 50 samples are on both, 62.5 % of fn:a and 71.4 % of fn:b'
# A recording of control groups; perf report --sort cgroup says 35.90, 29.49 and 33.33 % of 78 samples.
run 0 --report --metric samples --a 'cgroup:^/web$' --b cgroup:^/batch "$data/perf_data/cgroups.data"
says out '# total 28 → 26: -2'
run 2 --report --a cgroup:^/web --b cgroup:^/none "$data/perf_data/cgroups.data"
says err 'there is nothing in cgroup:^/none to compare'
run 0 --report --a fn:a --b '!fn:a' over.folded
[ -s err ] && fault "sides without an overlap: $(cat err)"
of app parse:300 | sed 's/ 1 cycles:/ 100 cycles:/' >cycles.txt
of app parse:300 | sed 's/ 1 cycles:/ 100 cpu-clock:/' >clock.txt
run 2 --report cycles.txt clock.txt
# Sides that say their events themselves: what both have are numbers of samples, or time.
printf 'x 7 1.1: 5 cycles:\n\t1 a+0x1 (/m)\n\nx 7 1.2: 9 instructions:\n\t1 a+0x1 (/m)\n\nx 7 1.3: 9 instructions:\n\t1 a+0x1 (/m)\n\n' >events.txt
run 0 --report --a event:cycles --b event:instructions events.txt
says out '# total 1 → 2: +1'
run 2 --report --metric period --a event:cycles --b event:instructions events.txt
run 2 --report cycles.txt clock.txt
says err 'there is no common metric: cycles.txt has cycles, clock.txt has cpu-clock; --metric samples'
one_sentence
run 0 --report --metric samples cycles.txt clock.txt
says out '# nothing differs'
run 0 --report before.folded clock.txt
says out 'samples'
run 2 --report --event cycles cycles.txt clock.txt
says err 'there is nothing of "cycles" in clock.txt; it has cpu-clock'
one_sentence
printf 'other;program 100\nquite;another 900\n' >other.folded
run 0 --report before.folded other.folded
says out '# only 0.0 % is in functions that both sides have'
printf 'main;parse 100000\n' >large.folded
run 0 --report before.folded large.folded
says out '# the totals are far apart'

# --- recording what is compared ----------------------------------------------------------------

run_verb=compare
for words in '-- true' '-- true --' '-- -- true' 'true -- true -- false' '--runs 0 -- true -- true' '--runs x -- true -- true' \
    '--runs 101 -- true -- true' '--report -o no/such/file -- true -- true' '--keep-runs no/such/dir -- true -- true'; do
    # shellcheck disable=SC2086 # several words
    run 2 $words
    one_sentence
done
run_verb=record
run 2 --runs 3 -p 1
run 2 --runs 3 -o - -- true
run 2 --runs three -- true

[ $faults = 0 ] || { echo "$faults faults"; exit 1; }
echo 'all as promised'
