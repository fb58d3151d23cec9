package hostmem

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// noReserve makes the kernel not count untouched memory.
const noReserve = unix.MAP_NORESERVE

// memoryLimits returns the physical memory and the limits of the process's control groups.
func memoryLimits() []Limit {
	list := groupLimits(os.DirFS("/"))
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err == nil {
		list = append(list, Limit{Bytes: uint64(s.Totalram) * uint64(s.Unit), Name: "physical memory"})
	}
	return list
}

// groupLimits returns the limits of the process's control groups, of version 1 and 2 (cgroups(7)): of its own group and
// its ancestors. In a container, the path in /proc may not exist; then the container's group is the root.
func groupLimits(root fs.FS) (list []Limit) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(parts) < 3 {
			continue
		}
		top, file := "sys/fs/cgroup", "memory.max"
		for c := range strings.SplitSeq(parts[1], ",") {
			if c == "memory" {
				top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
			}
		}
		if parts[1] != "" && file == "memory.max" {
			continue // a different controller of version 1
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			text, err := fs.ReadFile(root, path.Join(top, at, file))
			if n, bad := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && n < 1<<60 { // "max", or practically unlimited
				list = append(list, Limit{Bytes: n, Name: "the control group's memory limit"})
			}
			if at == "/" {
				break
			}
		}
	}
	return list
}

// used returns the number of bytes that the process has mapped, and the number that it has touched.
func used() (mapped, touched uint64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(text), &mapped, &touched)
	}
	if err != nil {
		n, _ := goMemory()
		return n, n
	}
	page := uint64(os.Getpagesize())
	return mapped * page, touched * page
}

// zero returns whole pages to the kernel: pages of private memory without a file are zero afterwards (madvise(2)).
func zero(b []byte) {
	if unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		ZeroTouched(b)
	}
}
