package strip

// This file records and draws the addresses of loads, stores and atomics: the sectors of global memory, and the banks of shared
// memory.

import (
	"fmt"
	"html"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"gemu/internal/coalesce"
	"gemu/probe"
	"gemu/ptx"
)

// MaxAccesses is the largest number of instructions whose accesses are recorded and drawn.
const MaxAccesses = 12

// Access is an access of an instruction to global or shared memory, when the first warp executes it first.
type Access struct {
	Line   int       // line in the PTX
	Text   string    // PTX without the semicolon
	Space  ptx.Space // ptx.Global or ptx.Shared
	Bytes  int       // bytes of each lane
	Lanes  uint64    // accessing lanes
	Atomic bool
	Addr   [64]uint64 // address of each lane, in the space
}

// AccessRecorder is a probe that records the first access of each instruction by the first warp of the first launch.
type AccessRecorder struct {
	mu     sync.Mutex
	launch *probe.LaunchInfo
	list   map[int]*Access // by index of the instruction
	more   bool
}

// NewAccessRecorder returns a probe without accesses.
func NewAccessRecorder() *AccessRecorder { return &AccessRecorder{list: map[int]*Access{}} }

// Accesses returns the accesses, in the order of the program. more reports whether further instructions access memory.
func (r *AccessRecorder) Accesses() (list []*Access, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var indices []int
	for i := range r.list {
		indices = append(indices, i)
	}
	slices.Sort(indices)
	for _, i := range indices {
		list = append(list, r.list[i])
	}
	return list, r.more
}

// Subscription returns the accesses with their addresses.
func (r *AccessRecorder) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnAccess, Addresses: true, InOrder: true}
}

// OnEvent notes the first launch.
func (r *AccessRecorder) OnEvent(e *probe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == probe.OnLaunch && r.launch == nil {
		r.launch = e.Launch
	}
}

// CTA returns the sink that records the first CTA of the first launch.
func (r *AccessRecorder) CTA(l *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l != r.launch || index != 0 {
		return nil
	}
	return (*accessSink)(r)
}

// accessSink records accesses of the first warp.
type accessSink AccessRecorder

// OnEvent records an access.
func (s *accessSink) OnEvent(e *probe.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Kind != probe.OnAccess || e.Warp != 0 || s.list[e.Index] != nil {
		return
	}
	a := &e.Accesses[len(e.Accesses)-1]
	if a.Lanes == 0 || a.Bulk() || a.Surface || a.Bytes == 0 {
		return
	}
	x := &Access{Line: int(e.Instr.Pos.Line), Text: strings.TrimSuffix(e.Instr.Format(e.Func), ";"), Bytes: a.Bytes, Lanes: a.Lanes, Atomic: a.Kind == probe.AccessAtomic}
	for m := a.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m) & 63
		space, _, offset, ok := a.PlaceOf(lane)
		if !ok || space != ptx.Global && space != ptx.Shared || x.Space != 0 && space != x.Space {
			return
		}
		x.Space, x.Addr[lane] = space, a.Addr[lane]
		if space == ptx.Shared {
			x.Addr[lane] = offset
		}
	}
	if len(s.list) >= MaxAccesses {
		s.more = true
		return
	}
	s.list[e.Index] = x
}

// units returns the numbers of the sectors (of coalesce.SectorBytes) or words (of coalesce.BankBytes) that lanes access, in ascending
// order.
func (a *Access) units(lanes, size uint64) (list []uint64) {
	for m := lanes; m != 0; m &= m - 1 {
		at := a.Addr[bits.TrailingZeros64(m)&63]
		for n := at / size; n <= (at+uint64(a.Bytes)-1)/size; n++ {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// usedIn returns the ranges of bytes of a sector that lanes access, each from its first byte up to the byte after its last.
func (a *Access) usedIn(sector uint64) (ranges [][2]int) {
	var used [coalesce.SectorBytes]bool
	for m := a.Lanes; m != 0; m &= m - 1 {
		for i := range uint64(a.Bytes) {
			if at := a.Addr[bits.TrailingZeros64(m)&63] + i; at/coalesce.SectorBytes == sector {
				used[at%coalesce.SectorBytes] = true
			}
		}
	}
	for i, is := range used {
		switch n := len(ranges); {
		case !is:
		case n > 0 && ranges[n-1][1] == i:
			ranges[n-1][1]++
		default:
			ranges = append(ranges, [2]int{i, i + 1})
		}
	}
	return ranges
}

// usedBytes returns the number of different bytes that the lanes access.
func (a *Access) usedBytes() (n int) {
	for _, sector := range a.units(a.Lanes, coalesce.SectorBytes) {
		for _, r := range a.usedIn(sector) {
			n += r[1] - r[0]
		}
	}
	return n
}

// passes returns the passes of an access to shared memory.
func (a *Access) passes() int64 {
	var c coalesce.Conflicts
	n, _ := c.Passes(a.Addr[:], a.Lanes, a.Bytes, a.Atomic)
	return n
}

// Describe says the access in words.
func (a *Access) Describe() string {
	lanes := counted(bits.OnesCount64(a.Lanes), "lane")
	if a.Space == ptx.Shared {
		return fmt.Sprintf("%s need %s of shared memory: %s", lanes, counted(len(a.units(a.Lanes, coalesce.BankBytes)), "word"), strings.Replace(counted(int(a.passes()), "pass"), "passs", "passes", 1))
	}
	sectors := len(a.units(a.Lanes, coalesce.SectorBytes))
	return fmt.Sprintf("%s touch %s: %d bytes, of which %d are used", lanes, counted(sectors, "sector"), sectors*coalesce.SectorBytes, a.usedBytes())
}

// AccessSVG draws accesses as a picture with a title. more says that the kernel has further accesses.
func AccessSVG(title string, list []*Access, more bool) []byte {
	d := &svg{}
	d.y = svgMargin
	d.lines("h", title, 0)
	var alternative strings.Builder
	for _, a := range list {
		d.y += 10
		d.lines("h", fmt.Sprintf("line %d: %s", a.Line, a.Text), 0)
		d.lines("", a.Describe(), 0)
		fmt.Fprintf(&alternative, "Line %d, %s: %s. ", a.Line, a.Text, a.Describe())
		if a.Space == ptx.Shared {
			d.banks(a)
		} else {
			d.sectors(a)
		}
	}
	switch {
	case len(list) == 0:
		d.lines("", "The first warp accesses neither global nor shared memory.", 0)
	case more:
		d.lines("s", fmt.Sprintf("Further instructions access memory; the first %d are shown.", MaxAccesses), 0)
	}
	return d.file(title, strings.TrimSpace(alternative.String()))
}

// The measures of pictures of accesses, in pixels.
const (
	accessLeft  = svgMargin + 66
	accessWidth = svgWidth - svgMargin - accessLeft
	accessDrop  = 56 // height of the lines from lanes to sectors
	accessBox   = 16 // height of a sector
)

// sectors draws lanes, sectors, and a line from each lane to each of its sectors.
func (d *svg) sectors(a *Access) {
	lanes := max(32, bits.Len64(a.Lanes))
	pitch := float64(accessWidth) / float64(lanes)
	d.y += 14
	d.laneNumbers(lanes, pitch)
	d.text("s", svgMargin, d.y-2, "lane")
	top := d.y + 10
	sectors := a.units(a.Lanes, coalesce.SectorBytes)
	width := min(float64(accessWidth)/float64(len(sectors)), 4*pitch)
	bottom := top + 5 + accessDrop
	var links strings.Builder
	for m := a.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		x := accessLeft + (float64(lane)+.5)*pitch
		fmt.Fprintf(d, `<circle class="b1" cx="%s" cy="%s" r="4"/>`, number(x), number(top))
		for _, n := range a.units(1<<lane, coalesce.SectorBytes) {
			i, _ := slices.BinarySearch(sectors, n)
			to := accessLeft + float64(i)*width + width*(float64(a.Addr[lane]%coalesce.SectorBytes)+float64(a.Bytes)/2)/coalesce.SectorBytes
			if n != a.Addr[lane]/coalesce.SectorBytes {
				to = accessLeft + float64(i)*width + 2
			}
			fmt.Fprintf(&links, "M%s %sL%s %s", number(x), number(top+4), number(to), number(bottom))
		}
	}
	fmt.Fprintf(d, "\n"+`<path class="p1 k" d="%s"/>`+"\n", links.String())
	for i := range sectors {
		fmt.Fprintf(d, `<rect class="b2 o" x="%s" y="%s" width="%s" height="%d"/>`, number(accessLeft+float64(i)*width), number(bottom), number(width-1.5), accessBox)
	}
	fmt.Fprintf(d, "\n"+`<path class="p2" stroke-width="%d" d="`, accessBox)
	for i, n := range sectors {
		scale := (width - 1.5) / coalesce.SectorBytes
		for _, r := range a.usedIn(n) {
			fmt.Fprintf(d, "M%s %sh%s", number(accessLeft+float64(i)*width+float64(r[0])*scale), number(bottom+accessBox/2.), number(float64(r[1]-r[0])*scale))
		}
	}
	d.WriteString("\"/>\n")
	d.text("s", svgMargin, bottom+accessBox-4, "sector")
	d.y = bottom + accessBox
	last := -100.0
	for i, n := range sectors {
		if x := accessLeft + float64(i)*width; x-last >= 52 {
			d.text("s", x, d.y+14, fmt.Sprintf("+%d", (n-sectors[0])*coalesce.SectorBytes))
			last = x
		}
	}
	d.text("s", svgMargin, d.y+14, "byte")
	d.y += 18
}

// banks draws the words that each bank delivers, one above another.
func (d *svg) banks(a *Access) {
	const square, gap = 7, 1
	pitch := float64(accessWidth) / coalesce.Banks
	words := a.units(a.Lanes, coalesce.BankBytes)
	height := map[uint64]int{}
	most := 0
	for _, w := range words {
		height[w%coalesce.Banks]++
		most = max(most, height[w%coalesce.Banks])
	}
	d.y += 6
	base := d.y + float64(most*(square+gap))
	var stack strings.Builder
	at := map[uint64]int{}
	for _, w := range words {
		bank := w % coalesce.Banks
		at[bank]++
		fmt.Fprintf(&stack, "M%s %sh%s", number(accessLeft+float64(bank)*pitch+1), number(base-float64(at[bank]*(square+gap))+square/2.), number(pitch-3))
	}
	fmt.Fprintf(d, `<path class="p2" stroke-width="%d" d="%s"/>`+"\n", square, stack.String())
	d.text("s", svgMargin, base-2, "words")
	fmt.Fprintf(d, `<path class="w" d="M%d %sh%d"/>`+"\n", accessLeft, number(base), accessWidth)
	d.y = base + 15
	d.laneNumbers(coalesce.Banks, pitch)
	d.text("s", svgMargin, d.y-2, "bank")
	d.y += 4
}

// laneNumbers writes the numbers of lanes or banks: each fourth.
func (d *svg) laneNumbers(n int, pitch float64) {
	for i := 0; i < n; i++ {
		if i%4 == 0 || i == n-1 {
			d.text("s m", accessLeft+(float64(i)+.5)*pitch, d.y-2, fmt.Sprint(i))
		}
	}
}

// file returns the picture as a file, with its text alternative.
func (d *svg) file(title, alternative string) []byte {
	height := d.y + svgMargin
	return []byte(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" height="%.0f" role="img" aria-labelledby="t d"><title id="t">%s</title><desc id="d">%s</desc>`+"\n",
		svgWidth, height, svgWidth, height, html.EscapeString(title), html.EscapeString(alternative)) +
		svgStyle + fmt.Sprintf(`<rect class="c" width="%d" height="%.0f"/>`+"\n", svgWidth, height) + d.String() + "</svg>\n")
}
