// SPDX-License-Identifier: GPL-3.0-or-later
// A program to record whose functions take known shares of its time, through what Rust makes of stacks: closures that are
// inlined, trait objects, sorting of the library, and panics that are caught. For ten minutes at most.
use std::panic::{catch_unwind, resume_unwind};
use std::time::Instant;

// As std::hint has it from Rust 1.66 on.
fn black_box<T>(x: T) -> T {
    let x = std::mem::ManuallyDrop::new(x);
    unsafe { std::mem::ManuallyDrop::into_inner(std::ptr::read_volatile(&x)) }
}

const UNIT: u32 = 3000;

#[inline(never)]
fn burn(n: u32, state: &mut u64) {
    // By lot, or samples that come as often as rounds do would see the same part of each.
    for _ in 0..n / 2 + (*state >> 33) as u32 % n {
        *state = black_box(state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407));
    }
}

#[inline(always)]
fn times<F: FnMut()>(n: u32, mut f: F) {
    for _ in 0..n {
        f();
    }
}

#[inline(never)]
fn share_1(state: &mut u64) {
    times(1, || burn(UNIT, state));
    black_box(state);
}

#[inline(never)]
fn share_4(state: &mut u64) {
    times(4, || burn(UNIT, state));
    black_box(state);
}

trait Work {
    fn work(&self, state: &mut u64);
}

struct Dynamic(u32);

impl Work for Dynamic {
    #[inline(never)]
    fn work(&self, state: &mut u64) {
        times(self.0, || burn(UNIT, state));
        black_box(state);
    }
}

#[inline(never)]
fn sorted(state: &mut u64) {
    let mut v: Vec<u64> = (0..400u64).map(|i| i.wrapping_mul(*state)).collect();
    v.sort_by(|a, b| (a ^ 5).cmp(&(b ^ 5)));
    black_box(&v);
}

struct Guard<'a>(&'a mut u64);

impl Drop for Guard<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        times(2, || burn(UNIT, self.0));
        black_box(&self.0);
    }
}

#[inline(never)]
fn fails(depth: u32, state: &mut u64) {
    if depth == 0 {
        resume_unwind(Box::new(1u32));
    }
    let guard = Guard(state);
    fails(depth - 1, guard.0);
    black_box(&guard);
}

#[inline(never)]
fn caught(state: u64) -> u64 {
    let result = catch_unwind(|| {
        let mut state = state;
        fails(2, &mut state);
    });
    black_box(result.is_err() as u64)
}

fn main() {
    let begun = Instant::now();
    let work: Box<dyn Work> = black_box(Box::new(Dynamic(3)));
    let mut state = 1u64;
    while begun.elapsed().as_secs() < 600 {
        share_1(&mut state);
        share_4(&mut state);
        work.work(&mut state);
        sorted(&mut state);
        state ^= caught(state);
    }
}
