package race

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// shiftingCopy copies n words, a word per thread, from x + 4*from to y + 4*to, or adds 1 to the words there by atomic operations.
const shiftingCopy = `.version 7.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 x, .param .u64 y, .param .u32 from, .param .u32 to, .param .u32 n)
{
	.reg .u32 %r<8>; .reg .u64 %rd<4>; .reg .pred %p;
	ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];
	ld.param.u32 %r3, [from]; ld.param.u32 %r4, [to]; ld.param.u32 %r5, [n];
	mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 32, %r0;
	setp.ge.u32 %p, %r1, %r5;
	@%p ret;
	add.u32 %r3, %r3, %r1; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd0, %rd0, %rd2;
	add.u32 %r4, %r4, %r1; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd1, %rd1, %rd3;
	ld.global.u32 %r2, [%rd0];
	st.global.u32 [%rd1], %r2;
	ret;
}
.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 from, .param .u32 to, .param .u32 n)
{
	.reg .u32 %r<8>; .reg .u64 %rd<4>; .reg .pred %p;
	ld.param.u64 %rd1, [y]; ld.param.u32 %r4, [to]; ld.param.u32 %r5, [n];
	mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 32, %r0;
	setp.ge.u32 %p, %r1, %r5;
	@%p ret;
	add.u32 %r4, %r4, %r1; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd1, %rd1, %rd3;
	red.global.add.u32 [%rd1], 1;
	ret;
}
`

// operationSequence is a random sequence of launches and operations of the host on some lines.
type operationSequence struct {
	list  []sequenceOperation
	words int // words of each buffer
}

type sequenceOperation struct {
	order          probe.HostOrder
	kind           probe.Events // OnLaunch: words are read from one buffer and written to another; or OnHostRead or OnHostWrite
	adds           bool         // the launch adds to words of the written buffer instead
	read, written  int          // buffers
	from, to, size int          // words
}

// accesses reports whether the operation reads or writes a word of a buffer.
func (o *sequenceOperation) accesses(buffer, word int) (reads, writes bool) {
	reads = o.kind != probe.OnHostWrite && !o.adds && buffer == o.read && word >= o.from && word < o.from+o.size
	writes = o.kind != probe.OnHostRead && buffer == o.written && word >= o.to && word < o.to+o.size
	return reads, writes
}

const sequenceBuffers = 3

// randomSequence returns a sequence of n operations.
func randomSequence(rng *rand.Rand, n int) *operationSequence {
	s := &operationSequence{words: []int{96, 96, 2*pageWords + 40}[rng.IntN(3)]}
	lines := 1 + rng.IntN(3)
	clocks := make([]uint64, lines)
	known := make([][]uint64, lines) // by line, the operations before the next
	for i := range known {
		known[i] = make([]uint64, lines)
	}
	ended := make([]uint64, lines)
	join := func(to, from []uint64) {
		for i := range to {
			to[i] = max(to[i], from[i])
		}
	}
	for i := range n {
		line := rng.IntN(lines)
		for k := range known { // events of other lines
			if rng.IntN(4) < 3 {
				join(known[line], known[k])
			}
		}
		if rng.IntN(6) == 0 { // the host waits for a line
			join(ended, known[rng.IntN(lines)])
		}
		join(known[line], ended)
		clocks[line]++
		known[line][line] = clocks[line]
		o := sequenceOperation{order: probe.HostOrder{Line: line, Clock: clocks[line], Before: slices.Clone(known[line]), Ended: slices.Clone(ended), Name: "an operation", Stream: fmt.Sprint(i)}}
		o.kind = []probe.Events{probe.OnLaunch, probe.OnLaunch, probe.OnLaunch, probe.OnHostRead, probe.OnHostWrite}[rng.IntN(5)]
		o.read = rng.IntN(sequenceBuffers)
		if o.written = rng.IntN(sequenceBuffers); o.written == o.read && o.kind == probe.OnLaunch {
			o.written = (o.read + 1) % sequenceBuffers
		}
		o.size = 1 + rng.IntN(min(s.words, 48))
		switch o.kind {
		case probe.OnLaunch:
			o.adds = rng.IntN(3) == 0
			o.from, o.to = rng.IntN(s.words-o.size+1), rng.IntN(s.words-o.size+1)
		default:
			if rng.IntN(2) == 0 {
				o.size = s.words
			}
			o.from = rng.IntN(s.words - o.size + 1)
			o.to = o.from
		}
		s.list = append(s.list, o)
	}
	return s
}

// firstRace returns the first operation that is in a race with an earlier operation, or -1.
func (s *operationSequence) firstRace() int {
	for i := range s.list {
		a := &s.list[i]
		for k := range i {
			b := &s.list[k]
			if a.order.IsAfter(&b.order) || a.order.EndedBefore(&b.order) || a.adds && b.adds {
				continue
			}
			for buffer := range sequenceBuffers {
				for word := range s.words {
					aReads, aWrites := a.accesses(buffer, word)
					if bReads, bWrites := b.accesses(buffer, word); aWrites && (bReads || bWrites) || aReads && bWrites {
						return i
					}
				}
			}
		}
	}
	return -1
}

// allocations collects the allocations of a device.
type allocations struct{ list []*probe.Allocation }

func (a *allocations) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAlloc}
}
func (a *allocations) OnEvent(e *probe.Event) { a.list = append(a.list, e.Memory) }

func (a *allocations) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

// found runs the sequence and returns the first operation with a race, or -1, and the pairs of operations found in a race.
func (s *operationSequence) found(t *testing.T, eager bool, look func(p *Probe)) (first int, pairs []string) {
	t.Helper()
	first = -1
	tool, memory := New(nil, 0), &allocations{}
	tool.eager = eager
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{memory}})
	m, err := dev.Load("copy.ptx", []byte(shiftingCopy))
	if err != nil {
		t.Fatal(err)
	}
	var buffers []*interp.Buffer
	for range sequenceBuffers {
		b, err := dev.Alloc(4 * s.words)
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, b)
	}
	memory.list = memory.list[len(memory.list)-sequenceBuffers:]
	for i := range s.list {
		o := &s.list[i]
		tool.log = &finding.Log{}
		if o.kind == probe.OnLaunch {
			kernel := "copy"
			if o.adds {
				kernel = "add"
			}
			l := &interp.Launch{Kernel: kernel, Grid: ptx.Dim((o.size + 31) / 32), Block: ptx.Dim(32), Order: &o.order, Mode: interp.Vector, Probes: []probe.Probe{tool},
				Args: []any{buffers[o.read], buffers[o.written], uint32(o.from), uint32(o.to), uint32(o.size)}}
			if _, err := m.Run(context.Background(), l); err != nil {
				t.Fatal(err)
			}
		} else {
			buffer := o.read
			if o.kind == probe.OnHostWrite {
				buffer = o.written
			}
			tool.OnEvent(&probe.Event{Kind: o.kind, Memory: memory.list[buffer], Offset: uint64(4 * o.from), Bytes: 4 * o.size, Order: &o.order})
		}
		for _, f := range tool.log.Findings() {
			if first < 0 {
				first = i
			}
			pairs = append(pairs, f.Place.Stream+" after "+f.OtherPlace.Stream)
		}
		look(tool)
	}
	slices.Sort(pairs)
	return first, slices.Compact(pairs)
}

// TestOperationsFindTheSame compares deferred with immediate recording, and both with the definition of a race, over random launches and
// operations of the host that are ordered in part.
func TestOperationsFindTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 5))
	races, none, retired := 0, 0, 0 // retired: lists of an allocation
	for range part.Count(1000, 1000, 20000) {
		s := randomSequence(rng, 2+rng.IntN(14))
		want := s.firstRace()
		put, pairs := s.found(t, false, func(p *Probe) {
			for _, s := range p.history.shadows {
				retired = max(retired, len(s.retired))
			}
		})
		noted, notedPairs := s.found(t, true, func(*Probe) {})
		if put != want || noted != want {
			t.Fatalf("operation %d has the first race, with deferred accesses %d, with accesses recorded at once %d, in %+v", want, put, noted, s)
		}
		if !slices.Equal(pairs, notedPairs) {
			t.Fatalf("found %s, and recorded at once %s, in %+v", strings.Join(pairs, ", "), strings.Join(notedPairs, ", "), s)
		}
		if want >= 0 {
			races++
		} else {
			none++
		}
	}
	if t.Logf("races in %d sequences, none in %d; at most %d retired lists", races, none, retired); races < 40 || none < 40 || retired < 3 {
		t.Errorf("races in %d sequences, none in %d; at most %d retired lists", races, none, retired)
	}
}

// TestRetiredMemory checks that lists that no later list replaces are recorded at last: because of their number, or of their memory.
func TestRetiredMemory(t *testing.T) {
	for _, words := range []int{2 * pageWords, 64 * pageWords} {
		s := &operationSequence{words: words}
		for i := range 8 * mostRetired {
			clock := uint64(i + 1)
			s.list = append(s.list, sequenceOperation{order: probe.HostOrder{Clock: clock, Before: []uint64{clock}}, kind: probe.OnLaunch, written: 1, to: i, size: 1})
		}
		most, recorded := 0, 0
		s.found(t, false, func(p *Probe) {
			for alloc, s := range p.history.shadows {
				bytes := 0
				for i := range s.retired {
					bytes += s.retired[i].memory()
				}
				if limit := mostRetiredBytes(uint64(len(alloc.Data))); bytes > limit || len(s.retired) > mostRetired {
					t.Fatalf("%d words: %d retired lists have %d bytes, want at most %d and %d", words, len(s.retired), bytes, mostRetired, limit)
				}
				if most = max(most, len(s.retired)); most > 1 && len(s.retired) == 0 {
					recorded++
				}
			}
		})
		if most < 4 || (most == mostRetired) != (words > 2*pageWords) || recorded < 7 {
			t.Errorf("%d words: there are at most %d retired lists, recorded %d times", words, most, recorded)
		}
	}
}
