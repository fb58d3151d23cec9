package interp

// This file checks launches of clusters as a whole: their refusals, and their independence of the host's
// cores.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// clusterKernels: passed hands a number on from CTA to CTA of a cluster, through shared memory of the next
// CTA, and draws a ticket of the grid; the remaining kernels state their required clusters.
const clusterKernels = `.version 9.0
.target sm_90
.address_size 64
.entry passed(.param .u64 out)
{
	.shared .u32 s;
	.reg .u32 %r, %n, %x, %a, %c, %k;
	.reg .u64 %o;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	mov.u32 %r, %cluster_ctarank;
	mov.u32 %n, %cluster_nctarank;
	mov.u32 %c, %clusterid.x;
	st.shared.u32 [s], 0;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	setp.eq.u32 %p, %r, 0;
	@%p bra GO;
WAIT:
	ld.acquire.cluster.shared.u32 %x, [s];
	setp.eq.u32 %p, %x, 0;
	@%p bra WAIT;
GO:
	@!%p bra ON;
	mov.u32 %x, 1;
ON:
	atom.global.add.u32 %k, [%o], 1;
	mad.lo.u32 %x, %x, 3, %r;
	add.u32 %a, %r, 1;
	setp.eq.u32 %p, %a, %n;
	@%p bra LAST;
	mapa.shared::cluster.u32 %a, s, %a;
	st.release.cluster.shared::cluster.u32 [%a], %x;
LAST:
	mad.lo.u32 %c, %c, %n, %r;
	mad.wide.u32 %o, %c, 8, %o;
	st.global.u32 [%o+8], %x;
	st.global.u32 [%o+12], %k;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
}
.entry steals(.param .u64 out)
{
	.shared .align 16 .u32 answer[4];
	.shared .align 8 .u64 bar;
	.reg .u32 %r, %x, %me, %k, %phase;
	.reg .u64 %o, %p;
	.reg .b128 %h;
	.reg .pred %first, %done, %more;
	ld.param.u64 %o, [out];
	mov.u32 %r, %cluster_ctarank;
	mov.u32 %me, %ctaid.x;
	sub.u32 %x, %me, %r;
	setp.eq.u32 %first, %r, 0;
	mbarrier.init.shared::cta.b64 [bar], 1;
	fence.mbarrier_init.release.cluster;
	mov.u32 %phase, 0;
WORK:
	mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	@%first clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [answer], [bar];
	add.u32 %k, %x, %r;
	mad.wide.u32 %p, %k, 4, %o;
	st.global.u32 [%p], %me;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], %phase;
	@!%done bra WAIT;
	xor.b32 %phase, %phase, 1;
	ld.shared.b128 %h, [answer];
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %more, %h;
	clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %h;
	@%more bra WORK;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
}
.entry two() .reqnctapercluster 2 { ret; }
.entry said() .explicitcluster { ret; }
.entry few() .maxclusterrank 4 { ret; }
.entry blocks(.param .u64 out) .reqntid 2, 1, 1 .reqnctapercluster 2, 2 .blocksareclusters
{
	.reg .u64 %o;
	ld.param.u64 %o, [out];
	red.global.add.u32 [%o], 1;
	ret;
}
.entry large(.param .u64 out)
{
	.shared .b8 s[200000];
	.reg .u32 %x;
	ld.shared.u32 %x, [s];
	ret;
}
`

// TestImpossibleClusters shows the reason for which each impossible launch of clusters is refused.
func TestImpossibleClusters(t *testing.T) {
	dev := NewDevice(Config{HostMemory: 3 << 20})
	m, err := dev.Load("clusters.ptx", []byte(clusterKernels))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kernel        string
		grid, cluster ptx.Dim3
		text          string // part of the refusal's text; "": the launch runs
	}{
		{"two", ptx.Dim(4), ptx.Dim3{}, ""},
		{"two", ptx.Dim(4), ptx.Dim(2), ""},
		{"two", ptx.Dim(4), ptx.Dim(4), "requires clusters of (2,1,1) (.reqnctapercluster), not (4,1,1)"},
		{"two", ptx.Dim(3), ptx.Dim3{}, "a grid of (3,1,1) cannot be divided into clusters of (2,1,1)"},
		{"said", ptx.Dim(4), ptx.Dim3{}, "must be launched with clusters (.explicitcluster)"},
		{"said", ptx.Dim(4), ptx.Dim(1), ""},
		{"few", ptx.Dim(8), ptx.Dim(8), "allows clusters of at most 4 CTAs (.maxclusterrank), not (8,1,1)"},
		{"few", ptx.Dim(8), ptx.Dim(4), ""},
		{"few", ptx.Dim(8), ptx.Dim3{}, ""},
		{"said", ptx.Dim(32), ptx.Dim(16), ""},
		{"said", ptx.Dim(32), ptx.Dim(32), "cluster (32,1,1) is too large: at most 16 CTAs"},
		{"said", ptx.Dim(8, 8, 8), ptx.Dim(4, 4, 2), "cluster (4,4,2) is too large: at most 16 CTAs"},
		{"said", ptx.Dim(8), ptx.Dim(2, 0), "cluster (2,0,1) is empty"},
		{"said", ptx.Dim(8, 3), ptx.Dim(2, 2), "a grid of (8,3,1) cannot be divided into clusters of (2,2,1)"},
	} {
		_, err := m.Run(context.Background(), &Launch{Kernel: c.kernel, Grid: c.grid, Block: ptx.Dim(1), Cluster: c.cluster})
		var refused *LaunchError
		switch {
		case c.text == "" && err != nil:
			t.Errorf("%s, grid %v, cluster %v: %v", c.kernel, c.grid, c.cluster, err)
		case c.text != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.text)):
			t.Errorf("%s, grid %v, cluster %v: got %v, want %q", c.kernel, c.grid, c.cluster, err, c.text)
		}
	}
	output, err := NewBuffer(dev, []uint32{0})
	if err != nil {
		t.Fatal(err)
	}
	// All CTAs of a cluster are admitted together.
	if _, err := m.Run(context.Background(), &Launch{Kernel: "large", Grid: ptx.Dim(16), Block: ptx.Dim(1), Cluster: ptx.Dim(16), Args: []any{output}}); err == nil || !strings.Contains(err.Error(), "a cluster of 16 CTAs: a CTA can take") {
		t.Errorf("16 CTAs of 200000 bytes in 3 MiB: %v", err)
	}
	if _, err := m.Run(context.Background(), &Launch{Kernel: "large", Grid: ptx.Dim(16), Block: ptx.Dim(1), Cluster: ptx.Dim(8), Args: []any{output}}); err != nil {
		t.Error(err)
	}
	// If blocks are clusters, the grid is a grid of clusters.
	r, err := m.Run(context.Background(), &Launch{Kernel: "blocks", Grid: ptx.Dim(3, 2), Block: ptx.Dim(2), Args: []any{output}})
	if err != nil {
		t.Fatal(err)
	}
	if n := Slice[uint32](output)[0]; n != 3*2*4*2 || r.Grid != ptx.Dim(6, 4) || r.Cluster != ptx.Dim(2, 2) {
		t.Errorf("%d threads in %v, clusters of %v", n, r.Grid, r.Cluster)
	}
	// Host memory may lie at the address of rank 1's shared memory.
	if _, err := dev.Map(mem.SharedAddress(1)+64, make([]byte, 64), "", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(context.Background(), &Launch{Kernel: "two", Grid: ptx.Dim(2), Block: ptx.Dim(1)}); err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("host memory in the way: %v", err)
	}
	if _, err := m.Run(context.Background(), &Launch{Kernel: "said", Grid: ptx.Dim(2), Block: ptx.Dim(1), Cluster: ptx.Dim(1)}); err != nil {
		t.Error(err)
	}
}

// TestClustersDoNotDependOnWorkers: clusters have the same results with any number of workers, and in every
// mode; the CTAs of a cluster hand on the expected numbers.
func TestClustersDoNotDependOnWorkers(t *testing.T) {
	const ctas = 80
	var first []uint32
	for _, workers := range []int{1, 2, 3, 8} {
		for _, mode := range Modes() {
			name := mode.String()
			t.Run(fmt.Sprintf("%s with %d workers", name, workers), func(t *testing.T) {
				dev := NewDevice(Config{Workers: workers})
				m, err := dev.Load("clusters.ptx", []byte(clusterKernels))
				if err != nil {
					t.Fatal(err)
				}
				output, err := NewBuffer(dev, make([]uint32, 2+2*ctas))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := m.Run(t.Context(), &Launch{Kernel: "passed", Grid: ptx.Dim(ctas), Block: ptx.Dim(1), Cluster: ptx.Dim(5), Args: []any{output}, Mode: mode}); err != nil {
					t.Fatal(err)
				}
				got := Slice[uint32](output)
				want := uint32(0)
				for i := range ctas {
					if i%5 == 0 {
						want = 1
					}
					if want = want*3 + uint32(i%5); got[2+2*i] != want {
						t.Fatalf("cta %d has %d, want %d", i, got[2+2*i], want)
					}
				}
				if first == nil {
					first = slices.Clone(got)
				} else if !slices.Equal(got, first) {
					t.Error("the order of tickets differs")
				}
			})
		}
	}
}

// TestCancelledCTAs: the CTA that takes over the work of a cancelled cluster depends on neither the mode nor
// the number of workers; the work of each cluster is done, some of it by further clusters.
func TestCancelledCTAs(t *testing.T) {
	for _, size := range []int{1, 2} {
		var first []uint32
		for _, workers := range []int{1, 2, 8} {
			for _, mode := range Modes() {
				name := mode.String()
				dev := NewDevice(Config{Workers: workers})
				m, err := dev.Load("clusters.ptx", []byte(clusterKernels))
				if err != nil {
					t.Fatal(err)
				}
				output, err := NewBuffer(dev, slices.Repeat([]uint32{1 << 31}, 60))
				if err != nil {
					t.Fatal(err)
				}
				var poll func() (done, total int64)
				_, err = m.Run(t.Context(), &Launch{
					Kernel: "steals", Grid: ptx.Dim(60), Block: ptx.Dim(1), Cluster: ptx.Dim(size), Args: []any{output}, Mode: mode,
					Progress: func(p func() (int64, int64)) func() { poll = p; return func() {} },
				})
				if err != nil {
					t.Fatal(err)
				}
				if done, total := poll(); done != 60 || total != 60 {
					t.Errorf("%d of %d CTAs have ended", done, total)
				}
				got := Slice[uint32](output)
				stolen := 0
				for i, by := range got {
					switch {
					case int(by)%size != i%size || by >= 60:
						t.Fatalf("%s, %d workers: cta %d was worked for by %d", name, workers, i, by)
					case int(by) != i:
						stolen++
					}
				}
				if stolen != 60-16 {
					t.Errorf("%s, %d workers: %d CTAs were taken over, want all but the 16 that begin at once", name, workers, stolen)
				}
				if first == nil {
					first = slices.Clone(got)
				} else if !slices.Equal(got, first) {
					t.Errorf("%s, %d workers: %v, before %v", name, workers, got, first)
				}
			}
		}
	}
}
