//go:build linux || darwin

// Package addresses ends the process with a message, before other packages are initialised, if ulimit -v allows fewer addresses
// than Go maps for itself. Go would end it with a trace, now or in the middle of its work. Import it for that effect alone.
package addresses

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Least is the least limit in bytes. A Go process maps about 1.5 GB without touching it, more on hosts with many cores.
const Least = 2 << 30

func init() {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err == nil && uint64(limit.Cur) < Least {
		fmt.Fprintf(os.Stderr, "gemu: ulimit -v allows %d bytes of addresses, and gemu needs %d, most of which take no memory; raise the limit: ulimit -v %d\n", limit.Cur, Least, 3000000)
		os.Exit(2)
	}
}
