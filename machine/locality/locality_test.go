package locality

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/interp"
	"gemu/machine/dispatch"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// kernelText returns PTX with kernels whose first instructions put tid.x, tid.y, ctaid.x, ctaid.y, ntid.x, nctaid.x, and the parameters
// into %tx, %ty, %cx, %cy, %nx, %gx, %a, %b and %n.
func kernelText(bodies map[string]string) string {
	text := ".version 8.0\n.target sm_80\n.address_size 64\n"
	for name, body := range bodies {
		text += fmt.Sprintf(`.entry %s(.param .u64 a, .param .u64 b, .param .u32 n)
{
	.reg .pred %%p;
	.reg .u32 %%tx, %%ty, %%cx, %%cy, %%nx, %%gx, %%n, %%i, %%k, %%s, %%v;
	.reg .u64 %%a, %%b, %%q;
	mov.u32 %%tx, %%tid.x;
	mov.u32 %%ty, %%tid.y;
	mov.u32 %%cx, %%ctaid.x;
	mov.u32 %%cy, %%ctaid.y;
	mov.u32 %%nx, %%ntid.x;
	mov.u32 %%gx, %%nctaid.x;
	ld.param.u64 %%a, [a];
	ld.param.u64 %%b, [b];
	ld.param.u32 %%n, [n];
%s
	ret;
}
`, name, body)
	}
	return text
}

// kernels: histo is the loop of Parboil's histo (thesis, figure 13): the grid has several rows of CTAs, which all read the whole image.
// rows has each CTA of a row read the same 64 bytes of a, and each thread write a word of its own. stencil reads a word, and those before
// and after it. lists follows indices. square reads words from the square of the CTA's index on. product reads a row of y and a row of x. In strides each CTA has a stride of its own. words and bytes read a word
// or a byte of their own. overlap reads a word from 16 times the CTA's index on. In threads the distance of threads depends on the CTA. In
// slope threads 0 and 3 read addresses whose distance, 4, is no multiple of 3; in slopes CTAs 0 and 3 do. twice reads its
// own word twice.
var kernels = kernelText(map[string]string{
	"histo": `	mad.lo.u32 %i, %cx, %nx, %tx;
	mul.lo.u32 %s, %nx, %gx;
LOOP:
	setp.ge.u32 %p, %i, %n;
	@%p ret;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.v4.u8 {%v, %v, %v, %k}, [%q];
	add.u32 %i, %i, %s;
	bra LOOP;`,
	"rows": `	mad.lo.u32 %i, %cy, 16, %ty;
	mul.lo.u32 %i, %i, %n;
	mov.u32 %k, 0;
LOOP:
	add.u32 %v, %i, %k;
	mad.wide.u32 %q, %v, 4, %a;
	ld.global.u32 %v, [%q];
	add.u32 %k, %k, 1;
	setp.lt.u32 %p, %k, %n;
	@%p bra LOOP;
	mad.lo.u32 %i, %cx, 16, %i;
	add.u32 %i, %i, %tx;
	mad.wide.u32 %q, %i, 4, %b;
	st.global.u32 [%q], %v;`,
	"stencil": `	mad.lo.u32 %i, %cx, %nx, %tx;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u32 %v, [%q];
	ld.global.u32 %v, [%q+4];
	ld.global.u32 %v, [%q+8];
	mad.wide.u32 %q, %i, 4, %b;
	st.global.u32 [%q], %v;`,
	"lists": `	mad.lo.u32 %i, %cx, %nx, %tx;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u32 %v, [%q];
	mad.wide.u32 %q, %v, 4, %b;
	ld.global.u32 %v, [%q];`,
	"product": `	mad.lo.u32 %i, %cy, 16, %ty;
	mul.lo.u32 %i, %i, %n;
	mad.lo.u32 %s, %cx, 16, %tx;
	mul.lo.u32 %s, %s, %n;
	mov.u32 %k, 0;
LOOP:
	add.u32 %v, %i, %k;
	mad.wide.u32 %q, %v, 4, %a;
	ld.global.u32 %v, [%q];
	add.u32 %v, %s, %k;
	mad.wide.u32 %q, %v, 4, %a;
	ld.global.u32 %v, [%q];
	add.u32 %k, %k, 1;
	setp.lt.u32 %p, %k, %n;
	@%p bra LOOP;`,
	"square": `	mul.lo.u32 %i, %cx, %cx;
	mad.lo.u32 %i, %i, %nx, %tx;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u32 %v, [%q];`,
	"strides": `	mad.lo.u32 %i, %cx, 1024, %tx;
	add.u32 %s, %cx, 1;
	mov.u32 %k, 0;
LOOP:
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u32 %v, [%q];
	mad.lo.u32 %i, %s, 64, %i;
	add.u32 %k, %k, 1;
	setp.lt.u32 %p, %k, %n;
	@%p bra LOOP;`,
	"words": `	mad.lo.u32 %i, %cx, %nx, %tx;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u32 %v, [%q];`,
	"bytes": `	mad.lo.u32 %i, %cx, %nx, %tx;
	cvt.u64.u32 %q, %i;
	add.u64 %q, %q, %a;
	ld.global.u8 %v, [%q];`,
	"overlap": `	mad.lo.u32 %i, %cx, 16, %tx;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u32 %v, [%q];`,
	"threads": `	add.u32 %s, %cx, 1;
	mul.lo.u32 %i, %tx, %s;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u32 %v, [%q];`,
	"slope": `	mul.lo.u32 %i, %tx, %tx;
	shr.u32 %i, %i, 3;
	mad.wide.u32 %q, %i, 4, %a;
	setp.eq.u32 %p, %tx, 0;
	@%p bra READ;
	setp.ne.u32 %p, %tx, 3;
	@%p ret;
READ:
	ld.global.u8 %v, [%q];`,
	"slopes": `	setp.eq.u32 %p, %cx, 0;
	@%p bra READ;
	setp.ne.u32 %p, %cx, 3;
	@%p ret;
READ:
	shr.u32 %i, %cx, 1;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u8 %v, [%q];`,
	"twice": `	mad.lo.u32 %i, %cx, %nx, %tx;
	mad.wide.u32 %q, %i, 4, %a;
	ld.global.u32 %v, [%q];
	ld.global.u32 %v, [%q];`,
})

// inferred runs a kernel and returns the descriptors, the shape of groups for 4 multiprocessors, and the launch.
func inferred(t *testing.T, kernel string, grid, block ptx.Dim3, n int, workers int) ([]Descriptor, *Launch) {
	t.Helper()
	d := interp.NewDevice(interp.Config{Workers: workers})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(kernels))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := d.Alloc(1 << 16)
	b, _ := d.Alloc(1 << 16)
	r := rand.New(rand.NewPCG(1, 1))
	if kernel == "lists" {
		for i := range 1 << 14 {
			a.Bytes()[4*i], a.Bytes()[4*i+1] = byte(r.Uint32()), byte(r.Uint32N(32))
		}
	}
	var launch *Launch
	var forms []Form
	fitter := NewFitter(func(_ *probe.LaunchInfo, list []Form) { forms = list })
	collector := NewCollector(func(l *Launch) { launch = l })
	l := &interp.Launch{Kernel: kernel, Grid: grid, Block: block, Args: []any{a, b, n}, Mode: interp.Vector, Probes: []probe.Probe{fitter, stream.NewRecorder(collector)}}
	if _, err := m.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return Infer(launch, forms), launch
}

// TestInfer has descriptors by hand. That of histo is the annotation of the thesis (section 3.3.2): the C-tile is a column of CTAs
// (1, GridSize.y, 1), the D-tile has the elements of a block in each of Y_len rows, whose stride is X_len, and the map is (1,0,0).
func TestInfer(t *testing.T) {
	for _, c := range []struct {
		kernel      string
		grid, block ptx.Dim3
		n           int
		want        []string
	}{
		// X_len = 5·64 = 320 elements; 1920 elements have Y_len = 6 rows.
		{"histo", ptx.Dim(5, 3), ptx.Dim(64), 1920, []string{"INTER_THREAD COACCESSED REGULAR, D-tile (64,6,1) of 4 bytes, stride 320, C-tile (1,3,1), map (1,0,0)"}},
		{"rows", ptx.Dim(4, 3), ptx.Dim(16, 16), 64, []string{
			"INTER_THREAD COACCESSED REGULAR, D-tile (1024,1,1) of 4 bytes, C-tile (4,1,1), map (0,1,0)",
			// A line of 128 bytes holds two rows of 64 bytes, which are those of two CTAs, but no CTA accesses a word of another.
			"NO_REUSE REGULAR, D-tile (16,16,1) of 4 bytes, stride 64, C-tile (1,1,1), map (1,2,0)",
		}},
		// Each warp has 16 threads in x and 2 in y: 16 lines of the rows of x in an access, and 2 of y.
		{"product", ptx.Dim(3, 3), ptx.Dim(16, 16), 32, []string{
			"INTER_THREAD COACCESSED REGULAR, D-tile (512,1,1) of 4 bytes, C-tile (1,3,1), map (1,0,0)",
			"INTER_THREAD COACCESSED REGULAR, D-tile (512,1,1) of 4 bytes, C-tile (3,1,1), map (0,1,0)",
		}},
		{"stencil", ptx.Dim(8), ptx.Dim(64), 0, []string{
			"INTER_THREAD NEARBY REGULAR, D-tile (66,1,1) of 4 bytes, C-tile (8,1,1), map (1,0,0)", // with its halo
			"NO_REUSE REGULAR, D-tile (64,1,1) of 4 bytes, C-tile (1,1,1), map (1,0,0)",
		}},
		// Two CTAs, and two warps of a CTA, have words in the same line, but none in common.
		{"words", ptx.Dim(8), ptx.Dim(16), 0, []string{"NO_REUSE REGULAR, D-tile (16,1,1) of 4 bytes, C-tile (1,1,1), map (1,0,0)"}},
		{"bytes", ptx.Dim(8), ptx.Dim(64), 0, []string{"NO_REUSE REGULAR, D-tile (64,1,1) of 1 bytes, C-tile (1,1,1), map (1,0,0)"}},
		// CTA i reads words 16·i to 16·i + 16: the last is the first of the next CTA.
		{"overlap", ptx.Dim(8), ptx.Dim(17), 0, []string{"INTER_THREAD NEARBY REGULAR, D-tile (17,1,1) of 4 bytes, C-tile (8,1,1), map (1,0,0)"}},
		{"lists", ptx.Dim(8), ptx.Dim(64), 0, []string{"INTER_THREAD COACCESSED IRREGULAR", "NO_REUSE REGULAR, D-tile (64,1,1) of 4 bytes, C-tile (1,1,1), map (1,0,0)"}},
		{"twice", ptx.Dim(8), ptx.Dim(64), 0, []string{"INTRA_THREAD REGULAR, D-tile (64,1,1) of 4 bytes, C-tile (1,1,1), map (1,0,0)"}},
	} {
		for _, workers := range []int{1, 4} {
			list, _ := inferred(t, c.kernel, c.grid, c.block, c.n, workers)
			var got []string
			for i := range list {
				got = append(got, list[i].String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, %d workers:\n%q, want\n%q", c.kernel, workers, got, c.want)
			}
		}
	}
}

// TestTiles merges axes of a form by hand.
func TestTiles(t *testing.T) {
	// 16 threads of 4 bytes in 16 rows of 192 elements; a loop goes on 16 rows: 128 rows in 8 steps. Then a loop over 3 planes of 65536 elements.
	f := Form{Affine: true, Bytes: 4, Thread: [3]int64{4, 768}, High: [3]int{15, 15}}
	for z := range int64(3) {
		for k := range int64(8) {
			f.Steps = append(f.Steps, 16*768*k+4*65536*z)
		}
	}
	d := Descriptor{Regular: true, forms: []Form{f}}
	d.tiles([3]int{1, 1, 1})
	if d.DTile != (ptx.Dim3{X: 16, Y: 128, Z: 3}) || d.Stride != 192 || !d.Regular {
		t.Errorf("%+v", d)
	}
}

// TestSiblings: the nine accesses of a stencil, and the two copies of an unrolled loop, have one D-tile. 32×8 threads in rows of 100
// elements access 34 elements in 10 rows. A loop of 4 steps with two copies accesses 8 elements.
func TestSiblings(t *testing.T) {
	var stencil []Form
	for _, row := range []int64{400, -400, 0} {
		for column := range int64(3) {
			stencil = append(stencil, Form{Affine: true, Bytes: 4, Thread: [3]int64{4, 400}, High: [3]int{31, 7}, Steps: []int64{0}, Base: 1000 + row + 4*column})
		}
	}
	d := Descriptor{forms: stencil}
	d.tiles([3]int{1, 1, 1})
	if d.DTile != (ptx.Dim3{X: 34, Y: 10, Z: 1}) || d.Stride != 100 || d.form.Base != 600 {
		t.Errorf("%+v", d)
	}
	loop := Form{Affine: true, Bytes: 4, Steps: []int64{0, 8, 16, 24}}
	second := loop
	second.Base = 4
	d = Descriptor{forms: []Form{second, loop}}
	d.tiles([3]int{1, 1, 1})
	if d.DTile != (ptx.Dim3{X: 8, Y: 1, Z: 1}) || d.Stride != 0 {
		t.Errorf("%+v", d)
	}
}

// TestNoForm: addresses that are not affine in a CTA, in ctaid, or in the same way for all CTAs, have no form.
func TestNoForm(t *testing.T) {
	for _, c := range []struct {
		kernel   string
		grid     int
		n        int
		wantForm bool
	}{{"lists", 1, 0, false}, {"threads", 1, 0, true}, {"threads", 2, 0, false}, {"slope", 1, 0, false}, {"slopes", 4, 0, false}, {"square", 2, 0, true}, {"square", 4, 0, false}, {"strides", 1, 3, true}, {"strides", 2, 1, true}, {"strides", 2, 3, false}} {
		list, l := inferred(t, c.kernel, ptx.Dim(c.grid), ptx.Dim(64), c.n, 1)
		last := 0 // the buffer with the highest address is that of the access in question
		for i := range list {
			if list[i].Buffer.Base > list[last].Buffer.Base {
				last = i
			}
		}
		if list[last].Regular != c.wantForm {
			t.Errorf("%s of %s: %s", c.kernel, l.Grid, &list[last])
		}
	}
}

// TestClusters has the shapes of algorithm 1 by hand: fixture F5 of histo, and merged tiles.
func TestClusters(t *testing.T) {
	tile := func(x, y, z int) Descriptor {
		return Descriptor{Type: InterThread, CTile: ptx.Dim3{X: x, Y: y, Z: z}}
	}
	for _, c := range []struct {
		grid ptx.Dim3
		sms  int
		list []Descriptor
		want ptx.Dim3
	}{
		{ptx.Dim(15, 7), 15, []Descriptor{tile(1, 7, 1)}, ptx.Dim(1, 7)},
		{ptx.Dim(8, 7), 15, []Descriptor{tile(1, 7, 1)}, ptx.Dim(1, 4)}, // 16 tiles
		{ptx.Dim(4, 8), 15, []Descriptor{tile(4, 8, 1)}, ptx.Dim(1, 2)}, // 4×8: 1 tile, 4×4: 2, 2×4: 4, 2×2: 8, 1×2: 16
		{ptx.Dim(64, 64), 15, []Descriptor{tile(2, 1, 1), tile(1, 4, 1)}, ptx.Dim(2, 4)},
		{ptx.Dim(64, 64), 15, []Descriptor{tile(4, 1, 1), tile(6, 1, 1), tile(16, 1, 1)}, ptx.Dim(16)},
		{ptx.Dim(16, 2), 15, []Descriptor{tile(2, 1, 1), tile(1, 2, 1)}, ptx.Dim(2)}, // the merged tiles would be 8
		{ptx.Dim(64), 15, []Descriptor{{Type: NoReuse, CTile: ptx.Dim(1)}}, ptx.Dim(1)},
	} {
		if got := Clusters(c.grid, c.list, c.sms); got != c.want {
			t.Errorf("grid %s: %s, want %s", c.grid, got, c.want)
		}
	}
}

// TestWorkingSets: histo on 4 multiprocessors, by hand. A column of 3 CTAs reads 6 parts of 256 bytes, which are 12 lines. The grid has 4 columns
// of 3 CTAs. In rotation CTA i is on multiprocessor i modulo 4, which is its column. With a grid of 5 columns each
// multiprocessor has CTAs of 3 columns.
func TestWorkingSets(t *testing.T) {
	for _, c := range []struct {
		columns  int
		policy   string
		wantSets float64
	}{
		{4, "rotation", 12}, {4, "cluster:1x3", 12},
		// Four multiprocessors have the CTAs 0 4 8 12, 1 5 9 13, 2 6 10 14 and 3 7 11: columns 0 4 3 2, 1 0 4 3, 2 1 0 4, 3 2 1.
		{5, "rotation", 12 * 15 / 4.0},
		// Columns 0 to 3 are whole; the CTAs of column 4 are on the multiprocessors 0, 1 and 2.
		{5, "cluster:1x3", 12 * 7 / 4.0},
	} {
		_, l := inferred(t, "histo", ptx.Dim(c.columns, 3), ptx.Dim(64), c.columns*64*6, 3)
		p, err := dispatch.Find(c.policy, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Measure(p, 4)
		if err != nil || got != c.wantSets {
			t.Errorf("%d columns, %s: %v, %v; want %v", c.columns, c.policy, got, err, c.wantSets)
		}
		// A second, naive count.
		sets := make([]map[uint64]bool, 4)
		of, _ := dispatch.Assign(p, &dispatch.Launch{Grid: l.Grid, SMs: 4, Places: 1})
		total := 0
		for _, cta := range l.Requests {
			for _, w := range cta.Warps {
				for _, x := range w.Transactions {
					set := &sets[of[cta.Index]]
					if *set == nil {
						*set = map[uint64]bool{}
					}
					if !(*set)[x.Line] {
						(*set)[x.Line] = true
						total++
					}
				}
			}
		}
		if float64(total)/4 != got {
			t.Errorf("%d columns, %s: %v, counted %v", c.columns, c.policy, got, float64(total)/4)
		}
	}
}

// TestShapes: the shapes of a grid of three dimensions are 4·4·4 less the single CTA and the grid; fewer if extents repeat.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		grid ptx.Dim3
		want int
	}{{ptx.Dim(8, 8, 8), 62}, {ptx.Dim(8, 8), 14}, {ptx.Dim(8), 2}, {ptx.Dim(4), 1}, {ptx.Dim(3, 2), 4}, {ptx.Dim(1), 0}} {
		if got := Shapes(c.grid); len(got) != c.want {
			t.Errorf("%s: %d shapes %v, want %d", c.grid, len(got), got, c.want)
		}
	}
}

// TestZones has placements by hand. In twice, CTA i accesses 256 bytes from 256·i on, which are two lines. With the zone in bits 7 and 8 its
// first byte is in zone 2i modulo 4, and its second line in the next: half of the lines are local. From bit 8 on both lines are in zone i
// modulo 4 of bits 8 and 9. The lowest bit of those with all lines local is 8.
func TestZones(t *testing.T) {
	list, l := inferred(t, "twice", ptx.Dim(8), ptx.Dim(64), 0, 2)
	z := NewZones(4)
	if part := z.Partition(l, list); !slices.Equal(part, []int{0, 1, 2, 3, 0, 1, 2, 3}) || z.bits[list[0].Buffer] != 8 {
		t.Errorf("CTAs in zones %v, bits %v", part, z.bits)
	}
	if got := z.Of(list[0].Buffer.Base+0x380, list[0].Buffer); got != 3 {
		t.Errorf("zone %d, want 3", got)
	}
	if got := z.Of(0x180, stream.Buffer{}); got != 3 { // bits 7 and 8
		t.Errorf("zone %d of an unknown buffer, want 3", got)
	}
	z.bits[list[0].Buffer] = 7 // a buffer keeps its place
	if part := z.Partition(l, list); !slices.Equal(part, []int{0, 2, 0, 2, 0, 2, 0, 2}) {
		t.Errorf("CTAs in zones %v with bit 7", part)
	}
	// Two descriptors of a buffer have the same place: a second launch has the same zones.
	list, l = inferred(t, "product", ptx.Dim(4, 8), ptx.Dim(16, 16), 32, 2)
	z = NewZones(4)
	first := z.Partition(l, list)
	if again := z.Partition(l, list); !slices.Equal(first, again) || len(z.bits) != 1 || len(list) != 2 {
		t.Errorf("CTAs in zones %v, and then %v", first, again)
	}
	// Three tiles are fewer than four zones: four parts of the grid.
	list, l = inferred(t, "histo", ptx.Dim(3, 3), ptx.Dim(64), 1920, 2)
	if part := NewZones(4).Partition(l, list); !slices.Equal(part, []int{0, 0, 0, 1, 1, 2, 2, 3, 3}) {
		t.Errorf("CTAs in zones %v", part)
	}
	// An irregular buffer first: four parts of the grid.
	list, l = inferred(t, "lists", ptx.Dim(8), ptx.Dim(64), 0, 2)
	if part := NewZones(4).Partition(l, list); list[0].Regular || !slices.Equal(part, []int{0, 0, 1, 1, 2, 2, 3, 3}) {
		t.Errorf("CTAs in zones %v", part)
	}
}

// TestPageZones has placements of whole pages by hand. In twice, CTA i accesses 256 bytes from 256·i on. With 64 CTAs these are 16 KB: four pages, one for
// each zone. With 32 CTAs they are two pages, so all CTAs of a page would be in the zone of the page: those beyond a quarter go to the next zones.
func TestPageZones(t *testing.T) {
	parts := func(ctas int) ([]int, *Zones, stream.Buffer) {
		list, l := inferred(t, "twice", ptx.Dim(ctas), ptx.Dim(64), 0, 2)
		z := NewPageZones(4, 4096)
		return z.Partition(l, list), z, list[0].Buffer
	}
	part, z, buffer := parts(64)
	first := int(buffer.Base >> 12 % 4)
	for cta, zone := range part {
		if want := int((buffer.Base+uint64(256*cta))>>12) % 4; zone != want && buffer.Base%4096 == 0 {
			t.Errorf("CTA %d is in zone %d, want %d", cta, zone, want)
		}
	}
	if bit, ok := z.Bit(buffer); !ok || bit != 12 {
		t.Errorf("bit %d, %v", bit, ok)
	}
	part, z, buffer = parts(32)
	count := [4]int{}
	for _, zone := range part {
		count[zone]++
	}
	if count != [4]int{8, 8, 8, 8} || part[0] != first && buffer.Base>>12%4 == uint64(first) {
		t.Errorf("CTAs in zones %v", part)
	}
	for bytes, want := range map[uint64][2]uint{0: {12, 12}, 1: {12, 12}, 32<<10 - 1: {12, 12}, 32 << 10: {12, 13}, 1 << 20: {12, 18}, 1<<20 + 5: {12, 18}} {
		if low, high := z.limits(stream.Buffer{Bytes: bytes}); low != want[0] || high != want[1] {
			t.Errorf("a buffer of %d bytes: bits %d to %d, want %v", bytes, low, high, want)
		}
	}
}

// TestNearbyLines: a line is shared by neighbours only if its CTAs differ by at most 1 in each dimension.
func TestNearbyLines(t *testing.T) {
	for _, c := range []struct {
		low, high [3]int32
		want      bool
	}{{[3]int32{1, 1, 1}, [3]int32{2, 2, 2}, true}, {[3]int32{0, 0, 0}, [3]int32{2, 0, 0}, false}, {[3]int32{0, 3, 0}, [3]int32{0, 5, 0}, false}, {[3]int32{0, 0, 7}, [3]int32{0, 0, 9}, false}} {
		if l := (Line{low: c.low, high: c.high}); l.isNearby() != c.want {
			t.Errorf("%v to %v: %v", c.low, c.high, l.isNearby())
		}
	}
}

// TestShares compares the search with all pairs of accesses, for random forms.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	found := [3]int{}
	for range 3000 {
		grid := [3]int{1 + r.IntN(4), 1 + r.IntN(3), 1}
		d := Descriptor{Regular: true}
		for range 1 + r.IntN(2) {
			f := Form{Affine: true, Bytes: 1 << r.IntN(3), Base: int64(r.IntN(64)), High: [3]int{r.IntN(4), r.IntN(2), 0}, Steps: []int64{0}}
			f.Thread = [3]int64{int64(r.IntN(9) - 2), int64(r.IntN(40)), 0}
			f.CTA = [3]int64{int64(r.IntN(60) - 10), int64(r.IntN(100)), 0}
			for k := range r.IntN(3) {
				f.Steps = append(f.Steps, int64(8*k+8))
			}
			if len(d.forms) == 1 { // with equal factors the search is exact
				f.CTA, f.Thread, f.High = d.forms[0].CTA, d.forms[0].Thread, d.forms[0].High
			}
			d.forms = append(d.forms, f)
		}
		type access struct {
			at   [3]int
			byte int64
		}
		var all []access
		for _, f := range d.forms {
			for cx := range grid[0] {
				for cy := range grid[1] {
					for tx := range f.High[0] + 1 {
						for ty := range f.High[1] + 1 {
							for _, s := range f.Steps {
								for b := range f.Bytes {
									all = append(all, access{[3]int{cx, cy, tx + 8*ty}, f.Base + f.CTA[0]*int64(cx) + f.CTA[1]*int64(cy) + f.Thread[0]*int64(tx) + f.Thread[1]*int64(ty) + s + int64(b)})
								}
							}
						}
					}
				}
			}
		}
		want := [3]bool{} // two CTAs, two CTAs of a row, two threads of a CTA
		for i := range all {
			for k := range i {
				if a, b := all[i], all[k]; a.byte == b.byte {
					row := a.at[1] == b.at[1]
					want[0] = want[0] || a.at[0] != b.at[0] || !row
					want[1] = want[1] || a.at[0] != b.at[0] && row
					want[2] = want[2] || a.at[0] == b.at[0] && row && a.at[2] != b.at[2]
				}
			}
		}
		got := [3]bool{d.shareAlong([3]bool{true, true, true}, grid), d.shareAlong([3]bool{true}, grid), d.shareInCTA(grid)}
		if got != want {
			t.Fatalf("grid %v, %+v: %v, want %v", grid, d.forms, got, want)
		}
		for i, shared := range want {
			if shared {
				found[i]++
			}
		}
	}
	for i, n := range found {
		if n < 300 || n > 2700 {
			t.Errorf("case %d: %d of 3000 forms share data: the test shows little", i, n)
		}
	}
}

// TestPlaces has the zone bits of buffers by hand, for 4 CTAs in 4 zones.
func TestPlaces(t *testing.T) {
	a, b := stream.Buffer{Name: "a", Base: 0x10000000, Bytes: 1 << 16}, stream.Buffer{Name: "b", Base: 0x20000000, Bytes: 1 << 16}
	launch := func(addr ...uint64) *Launch { // CTA i accesses address i; addresses from b on are in b
		l := &Launch{Launch: &stream.Launch{LaunchInfo: &probe.LaunchInfo{Grid: ptx.Dim(4)}, Buffers: []stream.Buffer{a, b}}, CTAs: make([][]int32, 4)}
		for i, x := range addr {
			line := Line{Number: x / stream.LineBytes}
			if x >= b.Base {
				line.Buffer = 1
			}
			l.CTAs[i%4] = append(l.CTAs[i%4], int32(len(l.Lines)))
			l.Lines = append(l.Lines, line)
		}
		return l
	}
	// CTA i has the 256 bytes from 256·i on in a: from bit 8 on, all are in zone i. CTA 0, in zone 0, accesses the first line of b, which is
	// in zone 0 for each bit: the lowest bit wins.
	first := Descriptor{Buffer: a, Regular: true, CTile: ptx.Dim(1), form: Form{Affine: true, Base: int64(a.Base), CTA: [3]int64{256}, Steps: []int64{0}}}
	z := NewZones(4)
	if part := z.Partition(launch(a.Base, a.Base+256, a.Base+512, a.Base+768, a.Base+128, a.Base+384, a.Base+640, a.Base+896, b.Base), []Descriptor{first, {Buffer: b}}); !slices.Equal(part, []int{0, 1, 2, 3}) || z.bits[a] != 8 || z.bits[b] != 7 {
		t.Errorf("CTAs in zones %v, bits %v", part, z.bits)
	}
	// A buffer with two descriptors has one place. CTA i accesses a line 1024·i bytes from the first on, but its D-tile begins 256·i bytes
	// from the first on: only from bit 12 on, where all are in zone 0, do all four agree in one bit.
	z = NewZones(4)
	if part := z.Partition(launch(a.Base, a.Base+1024, a.Base+2048, a.Base+3072), []Descriptor{first, {Buffer: a}}); !slices.Equal(part, []int{0, 0, 0, 0}) || z.bits[a] != 12 {
		t.Errorf("CTAs in zones %v, bits %v", part, z.bits)
	}
}
