package hostmem

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestCgroupLimits uses files as in cgroups(7) and the kernel's cgroup-v1/memory.rst and cgroup-v2.rst.
func TestCgroupLimits(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []uint64
	}{
		{"none", nil, nil},
		{"version 2", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n", "sys/fs/cgroup/a/memory.max": "max\n"}, []uint64{1000}},
		{"above", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "2000\n"}, []uint64{2000}},
		{"in a container", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "3000\n"}, []uint64{3000}},
		{"of a host's path", map[string]string{"proc/self/cgroup": "0::/docker/x\n", "sys/fs/cgroup/memory.max": "3000\n"}, []uint64{3000}},
		{"version 1", map[string]string{"proc/self/cgroup": "5:cpu,cpuacct:/a\n4:memory:/a\n0::/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "4000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, []uint64{4000}},
		{"version 1 in a container", map[string]string{"proc/self/cgroup": "4:memory:/docker/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "5000\n"}, []uint64{5000}},
		{"out of the namespace", map[string]string{"proc/self/cgroup": "0::/../x\n", "sys/fs/cgroup/memory.max": "6000\n"}, []uint64{6000}},
		{"bad", map[string]string{"proc/self/cgroup": "x\n0:\n0::/a\n", "sys/fs/cgroup/a/memory.max": "many\n"}, nil},
	} {
		root := fstest.MapFS{}
		for name, text := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		var got []uint64
		for _, l := range groupLimits(root) {
			got = append(got, l.Bytes)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestUntouchedMemoryIsFree: reserved memory takes no memory of the host, and touched memory does.
func TestUntouchedMemoryIsFree(t *testing.T) {
	mapped, touched := used()
	b, err := Reserve(1 << 32)
	if err != nil {
		skipUnlessOvercommitted(t, err)
	}
	defer Release(b)
	m, u := used()
	if m < mapped+1<<32 || u > touched+64<<20 {
		t.Errorf("reserved: %d and %d bytes more", m-mapped, int64(u-touched))
	}
	for i := 0; i < 64<<20; i += pageSize {
		b[i] = 1
	}
	if _, u = used(); u < touched+48<<20 {
		t.Errorf("touched: %s", fmt.Sprint(int64(u-touched)))
	}
}

// skipUnlessOvercommitted skips a test for which the host refused to reserve memory. It fails the test if the host
// allows processes to reserve more than it has (proc_sys_vm(5)) and the process has no limit.
func skipUnlessOvercommitted(t *testing.T, err error) {
	t.Helper()
	mode, bad := os.ReadFile("/proc/sys/vm/overcommit_memory")
	if bad != nil || strings.TrimSpace(string(mode)) == "2" || slices.ContainsFunc(limits(), func(l Limit) bool { return l.mapped }) {
		t.Skip(err)
	}
	t.Fatal(err)
}
