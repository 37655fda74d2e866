// SPDX-License-Identifier: GPL-3.0-or-later
const keep = [];
function make(n) { return new Array(n).fill(1.5); }
function grow() { for (let i = 0; i < 3000; i++) keep.push(make(200)); }
function names() { for (let i = 0; i < 20000; i++) keep.push({ name: 'n' + i }); }
grow();
names();
setTimeout(() => keep.length, 0);
