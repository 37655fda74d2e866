// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Calls, sorts and allocates. */
public class Work {
	static long fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static int sorted() {
		Random r = new Random(1);
		int[] a = new int[1000000];

		for (int i = 0; i < a.length; i++)
			a[i] = r.nextInt();
		Arrays.sort(a);
		return a[7];
	}

	static int kept() {
		List<byte[]> l = new ArrayList<>();

		for (int i = 0; i < 2000; i++)
			l.add(new byte[10000]);
		return l.size();
	}

	public static void main(String[] args) {
		long sum = 0;

		for (int i = 0; i < 3; i++)
			sum += fib(38) + sorted() + kept();
		System.out.println(sum);
	}
}
