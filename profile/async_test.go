package profile

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// ofFile runs a kernel of a file of the repository, and returns the counts of the instructions whose opcode
// contains part, in order.
func ofFile(t *testing.T, name, part string, launch func(dev *interp.Device, mod *interp.Module) *interp.Launch) (list []Counts) {
	t.Helper()
	src, err := os.ReadFile("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	p := New()
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{p}})
	mod, err := dev.Load(name, src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Run(t.Context(), launch(dev, mod)); err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Profile().Functions() {
		for i := range f.Instrs {
			if in := &f.Instrs[i]; strings.Contains(in.Text, part) && in.Execs > 0 {
				list = append(list, in.Counts)
			}
		}
	}
	return list
}

// alloc allocates memory of a device.
func alloc(t *testing.T, dev *interp.Device, bytes int) *interp.Buffer {
	t.Helper()
	b, err := dev.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMulticastIsReadOnce: a multicast copy is read once.
func TestMulticastIsReadOnce(t *testing.T) {
	list := ofFile(t, "testdata/control/clusters_async.ptx", ".multicast", func(dev *interp.Device, _ *interp.Module) *interp.Launch {
		return &interp.Launch{Kernel: "multicast", Grid: ptx.Dim(4), Block: ptx.Dim(32), Cluster: ptx.Dim(4), Args: []any{alloc(t, dev, 32), 11, alloc(t, dev, 48)}}
	})
	var got []Traffic
	for i := range list {
		got = append(got, list[i].Global)
	}
	want := []Traffic{{Requests: 1, Bytes: 32, Sectors: 1, Ideal: 1, Lines: 1}, {Requests: 1, Bytes: 16, Sectors: 1, Ideal: 1, Lines: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBulkCopiesOfLanes: equal bulk copies of several lanes are separate requests.
func TestBulkCopiesOfLanes(t *testing.T) {
	p := profiled(t, kernel(`
	.reg .u64 %m;
	.shared .align 8 .u64 full;
	setp.lt.u32 %q, %t, 3;
	@!%q bra END;
	setp.eq.u32 %q, %t, 0;
	mov.u32 %j, full;
	@%q mbarrier.init.shared.b64 [%j], 1;
	bar.warp.sync 7;
	shl.b32 %i, %t, 10;
	add.u32 %i, %i, %s;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%i], [%p], 1024, [%j];	// copy
	@%q mbarrier.arrive.expect_tx.shared.b64 %m, [%j], 3072;
WAIT:
	mbarrier.test_wait.parity.shared.b64 %q, [%j], 0;
	@!%q bra WAIT;
END:
`), nil)
	if want, got := (Traffic{Requests: 3, Bytes: 3072, Sectors: 96, Ideal: 96, Lines: 24}), marked(p)["copy"].Global; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
