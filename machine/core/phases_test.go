package core_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/ptx"
)

// recordCluster runs a program with clusters, and records its instructions.
func recordCluster(t *testing.T, text string, grid, cluster, block int, c stream.Consumer) {
	t.Helper()
	recordLaunch(t, text, 90, &interp.Launch{Grid: ptx.Dim(grid), Cluster: ptx.Dim(cluster), Block: ptx.Dim(block)}, stream.NewRecorder(c))
}

// phasesProgram returns a kernel with four mbarriers from %m on, the buffer in %b, and %tid.x in %t.
func phasesProgram(body string) string {
	return `.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 in)
{
	.shared .align 128 .b8 tile[4096];
	.shared .align 8 .b64 full[4];
	.reg .u32 %t, %m, %s, %rank, %x<4>;
	.reg .u64 %b, %q, %state;
	.reg .pred %p, %first;
` + body + "\tret;\n}\n"
}

// randomPhases returns a kernel whose threads wait at mbarriers and at the barrier of the cluster.
func randomPhases(rng *rand.Rand, cluster, block int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `	mov.u32 %%t, %%tid.x;
	ld.param.u64 %%b, [in];
	mov.u32 %%m, full;
	mov.u32 %%s, tile;
	mov.u32 %%rank, %%cluster_ctarank;
	setp.eq.u32 %%first, %%t, 0;
	@%%first mbarrier.init.shared.b64 [%%m], %d;
	@%%first mbarrier.init.shared.b64 [%%m+8], 1;
	@%%first mbarrier.init.shared.b64 [%%m+16], %d;
	@%%first mbarrier.init.shared.b64 [%%m+24], 1;
	barrier.cluster.arrive;
	barrier.cluster.wait;
`, block, block)
	var used [4]int // phases of each mbarrier
	wait := func(i int) {
		fmt.Fprintf(&b, "W%d_%d:\n\tmbarrier.try_wait.parity.shared.b64 %%p, [%%m+%d], %d;\n\t@!%%p bra W%d_%d;\n", i, used[i], 8*i, used[i]%2, i, used[i])
		used[i]++
	}
	for range 2 + rng.IntN(8) {
		switch rng.IntN(8) {
		case 0: // all threads arrive
			b.WriteString("\tmbarrier.arrive.shared.b64 %state, [%m];\n")
			wait(0)
		case 1: // a bulk copy, or two
			n := 1 + rng.IntN(2)
			fmt.Fprintf(&b, "\t@%%first mbarrier.arrive.expect_tx.shared.b64 %%state, [%%m+8], %d;\n", 256*n)
			for i := range n {
				fmt.Fprintf(&b, "\tadd.u64 %%q, %%b, %d;\n\t@%%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+%d], [%%q], 256, [%%m+8];\n", 256*rng.IntN(16), 256*i)
			}
			wait(1)
		case 2: // copies of all threads, or none
			copies := ""
			if rng.IntN(2) == 0 {
				copies = fmt.Sprintf("\tmul.wide.u32 %%q, %%t, 16;\n\tadd.u64 %%q, %%q, %%b;\n\tmad.lo.u32 %%x2, %%t, 16, %%s;\n\tcp.async.%s.shared.global [%%x2], [%%q], 16;\n", []string{"ca", "cg"}[rng.IntN(2)])
			}
			b.WriteString(copies + "\tcp.async.mbarrier.arrive.noinc.shared.b64 [%m+16];\n")
			wait(2)
		case 3: // an arrival of another CTA
			fmt.Fprintf(&b, "\tadd.u32 %%x0, %%rank, 1;\n\trem.u32 %%x0, %%x0, %d;\n\tmapa.shared::cluster.u32 %%x0, %%m, %%x0;\n\t@%%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%%x0+24];\n", cluster)
			wait(3)
			b.WriteString("\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n") // no CTA is a phase ahead
		case 4: // a store to another CTA
			fmt.Fprintf(&b, "\t@%%first mbarrier.arrive.expect_tx.shared.b64 %%state, [%%m+8], 4;\n\tadd.u32 %%x0, %%rank, 1;\n\trem.u32 %%x0, %%x0, %d;\n\tmapa.shared::cluster.u32 %%x1, %%s, %%x0;\n\tmapa.shared::cluster.u32 %%x0, %%m, %%x0;\n\t@%%first st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%%x1], %%x0, [%%x0+8];\n", cluster)
			wait(1)
			b.WriteString("\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n")
		case 7:
			b.WriteString("\tbarrier.cluster.arrive;\n\tadd.u32 %x1, %x1, 1;\n\tbarrier.cluster.wait;\n")
		case 5:
			fmt.Fprintf(&b, "\tmul.wide.u32 %%q, %%t, %d;\n\tadd.u64 %%q, %%q, %%b;\n\tld.global.u32 %%x3, [%%q];\n\tadd.u32 %%x3, %%x3, 1;\n", 4*(1+rng.IntN(3)))
		case 6:
			b.WriteString("\tbar.sync 0;\n")
		}
	}
	b.WriteString("\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n")
	return phasesProgram(b.String())
}

// TestPhasesAgainstNaive compares random programs with mbarriers and clusters with the naive machine.
func TestPhasesAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 9))
	for i := range part.Count(12, 12, 400) {
		cluster, block := 1+rng.IntN(3), []int{1, 32, 64, 96}[rng.IntN(4)]
		text, spec := randomPhases(rng, cluster, block), randomSpec(rng)
		sms := 1 + rng.IntN(3)
		resident := (cluster+sms-1)/sms + rng.IntN(2)
		room, base, spread := rng.IntN(12), 1+rng.Int64N(200), uint64(rng.IntN(100))
		c, _ := agree(t, func() core.Config {
			return config(spec, sms, resident, cache.Shape{Sets: 4, Ways: 2}, &slow{room: room, base: base, spread: spread})
		})
		recordCluster(t, text, cluster*(1+rng.IntN(3)), cluster, block, c)
		if t.Failed() {
			t.Fatalf("program %d, clusters of %d, blocks of %d: %s\n%+v, %d SMs, %d CTAs, memory %d %d %d", i, cluster, block, text, spec, sms, resident, room, base, spread)
		}
	}
}

// TestPhases has the cycle and the slot of each issue, and the number of cycles, by hand, for the machine of TestSequences.
func TestPhases(t *testing.T) {
	for _, test := range []struct {
		name    string
		body    string
		cluster int
		want    []string
		cycles  int64
	}{
		// Warp 1 has two products more, in 14 and 20, and arrives in 21. Warp 0 waits from 18 on; warp 1 does not wait.
		{name: "the barrier of the cluster", cluster: 2,
			body: "\tmov.u32 %rank, %cluster_ctarank;\n\tsetp.eq.u32 %p, %rank, 0;\n\t@%p bra L;\n\tmul.lo.u32 %x0, %x0, 3;\n\tmul.lo.u32 %x0, %x0, 3;\nL:\n\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n",
			want: []string{"0:0", "1:1", "4:0", "5:1", "8:0", "9:1", "13:0", "14:1", "18:0", "20:1", "21:1", "26:1", "28:0", "31:1"}, cycles: 32},
		// The copy is issued in 11, taken in 12, and has its data in 62. The first test fails; the second, in 22, waits.
		{name: "a bulk copy", cluster: 1,
			body: "\tld.param.u64 %b, [in];\n\tmbarrier.init.shared.b64 [full], 1;\n\tmbarrier.arrive.expect_tx.shared.b64 %state, [full], 16;\n\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%b], 16, [full];\nW:\n\tmbarrier.try_wait.shared.b64 %p, [full], %state;\n\t@!%p bra W;\n",
			want: []string{"0:0", "1:0", "6:0", "11:0", "12:0", "17:0", "22:0", "69:0", "74:0"}, cycles: 75},
		// The copy is issued in 6, taken in 7, and has its data in 57.
		{name: "copies of threads", cluster: 1,
			body: "\tld.param.u64 %b, [in];\n\tmbarrier.init.shared.b64 [full], 1;\n\tcp.async.ca.shared.global [tile], [%b], 16;\n\tcp.async.mbarrier.arrive.noinc.shared.b64 [full];\nW:\n\tmbarrier.try_wait.parity.shared.b64 %p, [full], 0;\n\t@!%p bra W;\n",
			want: []string{"0:0", "1:0", "6:0", "7:0", "8:0", "13:0", "18:0", "64:0", "69:0"}, cycles: 70},
		// The store is issued in 15, and arrives in 27. The second test, in 26, waits.
		{name: "a store to shared memory", cluster: 1,
			body: "\tmbarrier.init.shared.b64 [full], 1;\n\tmbarrier.arrive.expect_tx.shared.b64 %state, [full], 4;\n\tmapa.shared::cluster.u32 %x0, tile, 0;\n\tmapa.shared::cluster.u32 %x1, full, 0;\n\tst.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%x0], 1, [%x1];\nW:\n\tmbarrier.try_wait.shared.b64 %p, [full], %state;\n\t@!%p bra W;\n",
			want: []string{"0:0", "5:0", "10:0", "11:0", "15:0", "16:0", "21:0", "26:0", "34:0", "39:0"}, cycles: 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := simple()
			var got []string
			spec.Policy = watched(spec.Policy, &got)
			m := core.New(config(spec, 1, 2, cache.Shape{Sets: 4, Ways: 2}, memory.NewFixed(50)))
			recordCluster(t, phasesProgram(test.body), test.cluster, test.cluster, 1, m)
			if m.Err() != nil {
				t.Fatal(m.Err())
			}
			if l := m.Launches()[0]; !slices.Equal(got, test.want) || l.Cycles != test.cycles {
				t.Errorf("%q in %d cycles, want %q in %d", got, l.Cycles, test.want, test.cycles)
			}
		})
	}
}
