// SPDX-License-Identifier: GPL-3.0-or-later
// A program to record: generics, closures, traits, collections.
use std::collections::HashMap;
use std::time::{Duration, Instant};

trait Shape {
    fn area(&self) -> f64;
}

struct Circle(f64);
struct Square(f64);

impl Shape for Circle {
    #[inline(never)]
    fn area(&self) -> f64 {
        (0..50).fold(self.0, |a, i| a + f64::from(i).sin() * self.0)
    }
}

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> f64 {
        (0..50).fold(self.0, |a, i| a + f64::from(i).cos() * self.0)
    }
}

#[inline(never)]
fn sum_areas<'a>(shapes: impl Iterator<Item = &'a Box<dyn Shape>>) -> f64 {
    shapes.map(|s| s.area()).sum()
}

#[inline(never)]
fn count_words(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word.to_owned()).or_insert(0) += 1;
    }
    counts
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(0.2);
    let begin = Instant::now();
    let text: String = (0..2000).map(|i| format!("word{} ", i * 7919 % 313)).collect();
    let mut sum = 0.0;
    while begin.elapsed() < Duration::from_secs_f64(seconds) {
        let shapes: Vec<Box<dyn Shape>> = (0..100)
            .map(|i| -> Box<dyn Shape> {
                if i % 2 == 0 { Box::new(Circle(f64::from(i))) } else { Box::new(Square(1.0)) }
            })
            .collect();
        sum += sum_areas(shapes.iter()) + count_words(&text).len() as f64;
    }
    std::process::exit(i32::from(sum < 0.0));
}
