// SPDX-License-Identifier: GPL-3.0-or-later
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function parse(k) { const s = JSON.stringify(Array.from({length: 300}, (_, i) => ({a: i, b: [1, 2, String(i)]}))); let x; for (let i = 0; i < k; i++) x = JSON.parse(s); return x; }
const keep = [];
function grow(k) { for (let i = 0; i < k; i++) keep.push({i, s: 'x'.repeat(i % 50)}); }
const end = Date.now() + 1500;
while (Date.now() < end) { fib(18); parse(20); grow(5); }
