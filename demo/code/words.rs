// SPDX-License-Identifier: GPL-3.0-or-later
// For the screens of the tour: a map, and a sieve with bounds checks.
use std::collections::HashMap;
#[inline(never)]
fn count(words: &[String]) -> HashMap<&str, u64> {
    let mut m = HashMap::new();
    for w in words {
        *m.entry(w.as_str()).or_insert(0) += w.bytes().map(|b| b as u64).sum::<u64>();
    }
    m
}
#[inline(never)]
fn sieve(n: usize) -> usize {
    let mut v = vec![true; n];
    let mut i = 2;
    while i * i < n {
        if v[i] {
            let mut j = i * i;
            while j < n {
                v[j] = false;
                j += i;
            }
        }
        i += 1;
    }
    v.iter().filter(|x| **x).count()
}
fn main() {
    let words: Vec<String> = (0..50000).map(|i| format!("word{}", i % 977)).collect();
    let mut t = 0u64;
    for _ in 0..40 {
        t += count(&words).values().sum::<u64>();
        t += sieve(2_000_000) as u64;
    }
    println!("{}", t);
}
