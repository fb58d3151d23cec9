package kim_test

import (
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/models/kim"
	"gemu/probe"
	"gemu/ptx"
)

type classShares = affinetrack.ClassCounts

// TestClassesOfThePapersExample has the classes of the paper's example (figure 1) derived by hand, for a warp of all
// 512 threads. %ctaid.x and %tid.x are no progressions over four blocks, and mad uses them; its result, the index of
// the thread, is a progression. y is random.
func TestClassesOfThePapersExample(t *testing.T) {
	const ctas, threads = 4, 128
	var f kim.Figure2
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{&f}})
	y := make([]uint32, ctas*threads)
	above := 0
	for i := range y {
		y[i] = uint32(i * i * 2654435761 >> 7 % 1000)
		if 3*y[i] > 1000 {
			above++
		}
	}
	b, err := interp.NewBuffer(dev, y)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("threshold.ptx", []byte(kernels.Lookup("threshold").PTX()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Launch(t.Context(), "ex_gpsimt_kernel", ptx.Dim(ctas), ptx.Dim(threads), b, 3); err != nil {
		t.Fatal(err)
	}
	part := float64(above) / (ctas * threads)
	want := kim.Groups{
		LoadAddresses: classShares{Affine: 1}, LoadData: classShares{Generic: 1},
		StoreAddresses: classShares{Affine: 2}, StoreData: classShares{Uniform: 1, Generic: 1},
		RegisterReads: classShares{Uniform: 5, Affine: 5, Generic: 5}, RegisterWrites: classShares{Uniform: 5, Affine: 3, Generic: 4},
		Instructions: classShares{Uniform: 8, Affine: 5, Generic: 5},
		Parts:        14 + (1 - part) + 3*part,
	}
	want.Active[9] = 14
	want.Active[int((1-part)*10)]++
	want.Active[int(part*10)] += 3
	got := f.Groups()
	if diff := cmp.Diff(want.Parts, got.Parts); want.Parts-got.Parts > 1e-9 || got.Parts-want.Parts > 1e-9 {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	got.Parts = want.Parts
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// entry is a thread's execution of an instruction.
type entry struct {
	index, n int
}

// values has values by thread.
type values map[int]*big.Int

// record has the complete execution of a launch, value by value, thread by thread.
type record struct {
	instrs map[int]*ptx.Instr
	done   map[[2]int]int // instruction and thread: executions
	active map[entry]int
	reads  map[entry][]values
	writes map[entry][]values
	addrs  map[entry]values
	types  map[entry][2][]ptx.Type
}

func (r *record) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnReturn | probe.OnWake, Values: true, Addresses: true, InOrder: true}
}
func (r *record) OnEvent(*probe.Event) {}

type recordCTA struct {
	*record
	base int
}

func (r *record) CTA(l *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	return &recordCTA{r, index * l.Block.Count()}
}

func (c *recordCTA) OnEvent(e *probe.Event) {
	c.instrs[e.Index] = e.Instr
	for lane := range 64 {
		thread := c.base + e.Warp*32 + lane
		key := [2]int{e.Index, thread}
		lanes := e.Active
		if e.Kind != probe.OnAfter {
			lanes = e.Lanes
		}
		if lanes>>lane&1 == 0 {
			continue
		}
		at := entry{e.Index, c.done[key]}
		if e.Kind == probe.OnAfter {
			c.done[key]++
			c.active[at]++
		} else {
			at.n--
		}
		if e.Lanes>>lane&1 == 0 {
			continue
		}
		note := func(m map[entry][]values, list []probe.Value, side int) {
			if m[at] == nil {
				m[at] = make([]values, len(list))
				for i := range list {
					m[at][i] = values{}
					both := c.types[at]
					both[side] = append(both[side], list[i].Type)
					c.types[at] = both
				}
			}
			for i := range list {
				m[at][i][thread] = new(big.Int).SetUint64(list[i].Low[lane])
			}
		}
		deferred := e.Instr.Call != nil || e.Instr.Form.Class == ptx.ClassBarrier
		if e.Kind == probe.OnAfter {
			note(c.reads, e.Reads, 0)
			if len(e.Accesses) > 0 && e.Accesses[0].Lanes>>lane&1 != 0 {
				if c.addrs[at] == nil {
					c.addrs[at] = values{}
				}
				c.addrs[at][thread] = new(big.Int).SetUint64(e.Accesses[0].Addr[lane])
			}
		}
		if deferred == (e.Kind != probe.OnAfter) {
			note(c.writes, e.Writes, 1)
		}
	}
}

// classify tries all strides that agree with the first two threads.
func classify(v values, width int) affinetrack.Class {
	if len(v) == 0 {
		return affinetrack.Unknown
	}
	var threads []int
	for t := range v {
		threads = append(threads, t)
	}
	slices.Sort(threads)
	mod := new(big.Int).Lsh(big.NewInt(1), uint(width))
	first := threads[0]
	off := func(t int, s *big.Int) bool {
		want := new(big.Int).Mul(big.NewInt(int64(t-first)), s)
		want.Add(want, v[first]).Sub(want, v[t])
		return want.Mod(want, mod).Sign() != 0
	}
	fits := func(s *big.Int) bool {
		return !slices.ContainsFunc(threads, func(t int) bool { return off(t, s) })
	}
	if fits(new(big.Int)) {
		return affinetrack.Uniform
	}
	d := threads[1] - first
	k := bits.TrailingZeros(uint(d))
	delta := new(big.Int).Sub(v[threads[1]], v[first])
	if new(big.Int).Mod(delta, big.NewInt(1<<k)).Sign() != 0 {
		return affinetrack.Generic
	}
	delta.Rsh(delta, uint(k))
	small := new(big.Int).Rsh(mod, uint(k))
	s := delta.Mul(delta, new(big.Int).ModInverse(big.NewInt(int64(d>>k)), small))
	for range 1 << k {
		if fits(s) {
			return affinetrack.Affine
		}
		s = new(big.Int).Add(s, small)
	}
	return affinetrack.Generic
}

// groups classifies a record.
func (r *record) groups(threads int) (n kim.Groups) {
	for at, active := range r.active {
		instr := r.instrs[at.index]
		part := float64(active) / float64(threads)
		n.Parts += part
		for i := range n.Active {
			if 10*active <= (i+1)*threads {
				n.Active[i]++
				break
			}
		}
		class, data := affinetrack.Uniform, affinetrack.Unknown
		side := func(list []values, types []ptx.Type, n *classShares) {
			for i, v := range list {
				width := min(types[i].Bits(), 64)
				if types[i] == ptx.Pred {
					c := classify(v, 64)
					if c != affinetrack.Uniform {
						class = affinetrack.Generic
					}
					continue
				}
				c := classify(v, width)
				n.Count(c)
				class, data = max(class, c), max(data, c)
			}
		}
		side(r.reads[at], r.types[at][0], &n.RegisterReads)
		data = affinetrack.Unknown
		side(r.writes[at], r.types[at][1], &n.RegisterWrites)
		address := classify(r.addrs[at], 64)
		space, _ := instr.Space()
		switch {
		case space == ptx.Param:
		case instr.Form.Affine == ptx.AffineLoad:
			n.LoadAddresses.Count(address)
			n.LoadData.Count(data)
		case instr.Form.Affine == ptx.AffineStore:
			// Addresses of these kernels are in registers.
			data = affinetrack.Uniform
			for i, v := range r.reads[at][1:] {
				data = max(data, classify(v, r.types[at][0][i+1].Bits()))
			}
			n.StoreAddresses.Count(address)
			n.StoreData.Count(data)
		}
		switch c := instr.Form.Class; {
		case c == ptx.ClassControl || c == ptx.ClassBarrier || c == ptx.ClassMisc:
			class = affinetrack.Uniform
		case c == ptx.ClassMemory:
			class = address
		case class == affinetrack.Affine && (c == ptx.ClassFP || c == ptx.ClassSFU) && !instr.OperandType(0).IsInt():
			class = affinetrack.Generic
		}
		n.Instructions.Count(class)
	}
	return n
}

// TestClassesFromRecordedValues compares with a classification of all recorded values of a launch.
func TestClassesFromRecordedValues(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
	}{{"mfilt", 9}, {"bfs", 70}, {"sgemm", 17}} {
		t.Run(c.name, func(t *testing.T) {
			var f kim.Figure2
			r := &record{}
			w := kernels.Lookup(c.name)
			s, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{}), c.size)
			if err != nil {
				t.Fatal(err)
			}
			var want kim.Groups
			threads := 0
			finish := func() {
				if threads > 0 {
					add(&want, r.groups(threads))
				}
			}
			s.Prepare = func(l *interp.Launch) {
				finish() // the launch before
				*r = record{instrs: map[int]*ptx.Instr{}, done: map[[2]int]int{}, active: map[entry]int{}, reads: map[entry][]values{}, writes: map[entry][]values{}, addrs: map[entry]values{}, types: map[entry][2][]ptx.Type{}}
				threads = l.Grid.Count() * l.Block.Count()
				l.Mode, l.Probes = interp.Vector, []probe.Probe{&f, r}
			}
			if err := w.Run(s); err != nil {
				t.Fatal(err)
			}
			finish()
			got := f.Groups()
			if d := got.Parts - want.Parts; d > 1e-6 || d < -1e-6 {
				t.Errorf("parts %v, want %v", got.Parts, want.Parts)
			}
			got.Parts = want.Parts
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-record +got):\n%s", diff)
			}
		})
	}
}

// add adds up the groups of launches.
func add(n *kim.Groups, o kim.Groups) {
	for _, pair := range [][2]*classShares{
		{&n.LoadAddresses, &o.LoadAddresses}, {&n.StoreAddresses, &o.StoreAddresses}, {&n.LoadData, &o.LoadData}, {&n.StoreData, &o.StoreData},
		{&n.RegisterReads, &o.RegisterReads}, {&n.RegisterWrites, &o.RegisterWrites}, {&n.Instructions, &o.Instructions},
	} {
		pair[0].Add(*pair[1])
	}
	for i, k := range o.Active {
		n.Active[i] += k
	}
	n.Parts += o.Parts
}
