// SPDX-License-Identifier: GPL-3.0-or-later
// A small program with a profile of each kind: work DIRECTORY.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"sync"
	"time"
)

var keep [][]byte

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func sorted(n int) int {
	x := make([]int, n)
	for i := range x {
		x[i] = (i * 7919) % n
	}
	sort.Ints(x)
	return x[0]
}

func grow(n int) {
	for i := 0; i < n; i++ {
		keep = append(keep, make([]byte, 4096))
	}
}

func write(dir, name string) {
	f, err := os.Create(dir + "/go." + name + ".pb.gz")
	if err != nil {
		panic(err)
	}
	pprof.Lookup(name).WriteTo(f, 0)
	f.Close()
}

func main() {
	var lock sync.Mutex
	var done sync.WaitGroup
	dir := os.Args[1]
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	f, _ := os.Create(dir + "/go.cpu.pb.gz")
	pprof.StartCPUProfile(f)
	for i := 0; i < 3; i++ {
		done.Add(1)
		go func() {
			for end := time.Now().Add(2500 * time.Millisecond); time.Now().Before(end); {
				lock.Lock()
				fib(24)
				sorted(20000)
				grow(3)
				lock.Unlock()
			}
			done.Done()
		}()
	}
	done.Wait()
	pprof.StopCPUProfile()
	f.Close()
	runtime.GC()
	write(dir, "heap")
	write(dir, "mutex")
}
