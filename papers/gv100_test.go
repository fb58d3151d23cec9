package papers

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
)

// TestAccessCounts counts a kernel by hand. A CTA is one warp. Thread i loads 4 bytes at 8·i twice: 256 bytes, so 8 sectors,
// the second time for nothing new. All 81 CTAs load the same; the last is on the first one's multiprocessor. Lanes below 8
// store 4 bytes each side by side: a sector. The store to shared memory at 128·i has every lane in the same bank: 32 passes.
// No lane executes the last load.
func TestAccessCounts(t *testing.T) {
	const src = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .u32 %i, %x, %o;
	.reg .u64 %a, %b, %c;
	.reg .pred %p, %q;
	.shared .align 16 .b8 s[4096];
	mov.u32 %i, %tid.x;
	ld.param.u64 %a, [in];
	ld.param.u64 %b, [out];
	mul.wide.u32 %c, %i, 8;
	add.u64 %a, %a, %c;
	ld.volatile.global.u32 %x, [%a];
	ld.volatile.global.u32 %x, [%a];
	mul.wide.u32 %c, %i, 4;
	add.u64 %b, %b, %c;
	setp.lt.u32 %p, %i, 8;
	@%p st.global.u32 [%b], %x;
	mov.u32 %o, s;
	mad.lo.u32 %o, %i, 128, %o;
	st.shared.u32 [%o], %x;
	setp.gt.u32 %q, %i, 99;
	@%q ld.global.u32 %x, [%a];
	ret;
}`
	watch := newAccessProbe()
	dev := interp.NewDevice(interp.Config{})
	m, err := dev.Load("k.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	in, errIn := dev.Alloc(256)
	out, errOut := dev.Alloc(32)
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	for range 2 {
		if _, err := m.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(81), Block: ptx.Dim(32), Args: []any{in, out}, Probes: []probe.Probe{watch}}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]*accessCounts{"k": {launches: 2, loads: 2 * 81 * 16, stores: 2 * 81, first: 2 * 81 * 8, placed: 2 * 80 * 8, distinct: 2 * 8, shared: 2 * 81, passes: 2 * 81 * 32}}
	if diff := cmp.Diff(want, watch.kernels, cmp.AllowUnexported(accessCounts{})); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// TestCountersOfGPU runs three short launches of the comparison. The program alone determines these counts, so they must be
// the GPU's.
func TestCountersOfGPU(t *testing.T) {
	part.SkipShort(t)
	m := NewMeter(t.Context(), 0, 0, nil)
	defer m.Close()
	for _, c := range []struct{ table, row, column string }{
		{"sectors", "dct2D", "l1_reads"}, {"sectors", "dct2D", "l1_writes"}, {"sectors", "dct2D", "l2_reads"}, {"sectors", "dct2D", "distinct"}, {"shared", "dct2D", "instructions"},
		{"sectors", "forward", "l2_writes"}, {"sectors", "adjust", "l2_writes"}, {"shared", "forward", "instructions"},
		{"sectors", "hotspot", "l2_writes"}, {"sectors", "hotspot", "distinct"}, {"shared", "hotspot", "instructions"},
	} {
		table := Named("gv100").Table(c.table)
		for i := range table.Rows {
			row := &table.Rows[i]
			if row.Name != c.row {
				continue
			}
			if got, err := table.Measure(m, row, &table.Interpretations[0]); err != nil || got[c.column] != row.Values[c.column] {
				t.Errorf("%s of %s: %v, want %v, %v", c.column, c.row, got[c.column], row.Values[c.column], err)
			}
		}
	}
}

// TestEveryRowOfGPU: each row of the counters has a workload or a reason for its absence, and the kernels exist.
func TestEveryRowOfGPU(t *testing.T) {
	rows := readRows(gv100Values, nil)
	for _, row := range rows {
		k, found := gv100Kernels[row.Name]
		if _, absent := gv100Absent[row.Name]; absent == found {
			t.Errorf("%s: workload %v, absent %v", row.Name, found, absent)
		}
		if found {
			m, err := ptx.Parse(k.workload, []byte(kernels.Lookup(k.workload).PTX()))
			if err != nil || m.Lookup(k.kernel) == nil {
				t.Errorf("%s: no kernel %s, %v", row.Name, k.kernel, err)
			}
		}
	}
	if n := len(gv100Kernels) + len(gv100Absent); n != len(rows) || n != 25 {
		t.Errorf("%d rows, %d kernels or reasons, want 25", len(rows), n)
	}
}

// TestCyclesOfGPU: the cycles of a short kernel, with the assumed numbers, are within a factor of two of those of the GPU (docs/gv100.md has
// the comparison of all), at least those of its instructions on the 320 schedulers, and no fewer on the machine at the slow end of the
// ranges. Each other row with a workload has cycles or a reason.
func TestCyclesOfGPU(t *testing.T) {
	table := Named("gv100").Table("cycles")
	m := NewMeter(t.Context(), 0, 0, nil)
	defer m.Close()
	measured := 0
	for i := range table.Rows {
		row := &table.Rows[i]
		if (row.Workload == "") == (row.Absent == "") || row.Values["cycles"] <= 0 {
			t.Errorf("%s: workload %q, absent %q, %v", row.Name, row.Workload, row.Absent, row.Values)
		}
		if row.Absent == "" {
			measured++
		}
		if row.Name != "dct2D" || !part.TryAll() { // seconds of CPU time
			continue
		}
		shared := Named("gv100").Table("shared")
		k := slices.IndexFunc(shared.Rows, func(r Row) bool { return r.Name == row.Name })
		var cycles []float64
		for j := range table.Interpretations {
			got, err := table.Measure(m, row, &table.Interpretations[j])
			if err != nil {
				t.Fatal(err)
			}
			if ratio := got["cycles"] / row.Values["cycles"]; got["ratio"] != ratio || got["cycles"] < shared.Rows[k].Values["instructions"]/320 {
				t.Errorf("%s: %v, want a ratio of %v", table.Interpretations[j].Name, got, ratio)
			}
			cycles = append(cycles, got["cycles"])
		}
		if ratio := cycles[0] / row.Values["cycles"]; ratio < 0.5 || ratio > 2 || cycles[2] < cycles[0] {
			t.Errorf("cycles %v, want about %v", cycles, row.Values["cycles"])
		}
	}
	if measured != 15 {
		t.Errorf("%d kernels with cycles, want 15", measured)
	}
}
