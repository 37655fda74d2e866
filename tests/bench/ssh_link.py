#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""proftop over a slow link: bytes a second, and the time from a key to the screen; doc/ssh.md has a measurement.

    ssh_link.py relay HOST PORT         for ssh -o ProxyCommand: 100 kB/s and 75 ms each way, counted in $LINK_COUNT
    ssh_link.py screen COLSxROWS SECONDS COMMAND...     runs a command on a terminal of that size and types

The relay holds each piece back until the link would have carried it, so that no queueing discipline of the kernel is needed.
"""
import fcntl, os, pty, selectors, socket, statistics, struct, sys, termios, threading, time

RATE = 100_000  # bytes a second, each way
DELAY = 0.075   # s, each way


def carry(read, write, counts, way):
    """One way of the link, until its end. A piece leaves when those before it have, and comes DELAY later."""
    queue, ready = [], threading.Condition()

    def deliver():
        while True:
            with ready:
                while not queue:
                    ready.wait()
                due, piece = queue.pop(0)
            time.sleep(max(0, due - time.monotonic()))
            if not piece:
                os._exit(0)
            write(piece)

    threading.Thread(target=deliver, daemon=True).start()
    free = time.monotonic()
    while True:
        piece = read(4096)
        counts[way] += len(piece)
        free = max(free, time.monotonic()) + len(piece) / RATE
        with ready:
            queue.append((free + DELAY, piece))
            ready.notify()
        # as a full queue of a router: half a second
        time.sleep(max(0, free - time.monotonic() - 0.5))
        if not piece:
            return


def relay(host, port):
    s = socket.create_connection((host, int(port)))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    counts, path = [0, 0], os.environ.get("LINK_COUNT")

    def write_counts():
        while path:
            with open(path + ".new", "w") as f:
                f.write(f"{counts[0]} {counts[1]}\n")
            os.rename(path + ".new", path)
            time.sleep(0.1)

    threading.Thread(target=write_counts, daemon=True).start()
    threading.Thread(target=carry, args=(lambda n: os.read(0, n), s.sendall, counts, 0), daemon=True).start()
    carry(s.recv, lambda b: os.write(1, b), counts, 1)
    time.sleep(1)


def screen(size, seconds, command):
    cols, rows = map(int, size.split("x"))
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
    sel = selectors.DefaultSelector()
    sel.register(fd, selectors.EVENT_READ)
    total, at = 0, []

    def read_for(t):
        nonlocal total
        end, first = time.monotonic() + t, None
        while (left := end - time.monotonic()) > 0:
            if not sel.select(left):
                continue
            try:
                total += len(os.read(fd, 65536))
            except OSError:  # the program has ended
                break
            first = first or time.monotonic()
        return first

    read_for(8)
    begun, before = time.monotonic(), total
    read_for(float(seconds))
    rate = (total - before) / (time.monotonic() - begun)
    # z stops updates, so that what comes is the key's
    os.write(fd, b"z")
    read_for(2)
    waits = []
    for i in range(20):
        sent = time.monotonic()
        os.write(fd, b"j" if i % 2 == 0 else b"k")
        first = read_for(0.7)
        if first:
            waits.append((first - sent) * 1000)
    os.write(fd, b"qq")
    read_for(1)
    print(f"{size}: {rate:.0f} B/s; key to screen: median {statistics.median(waits):.0f} ms, most {max(waits):.0f} ms, of {len(waits)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["relay"]:
        relay(*sys.argv[2:4])
    elif sys.argv[1:2] == ["screen"] and len(sys.argv) > 4:
        screen(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        sys.exit(__doc__)
