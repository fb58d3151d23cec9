package cli

// This file is "gemu machine --show locality": which CTAs share data, and which order of CTAs brings them together.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gemu/machine"
	"gemu/machine/dispatch"
	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

var localityPart = machinePart{name: "locality", doc: "which CTAs access the same data, the tiles of each buffer, and groups of CTAs that share data, on the first machine", extra: true, begin: beginLocality}

// localityView collects the lines of launches, by kernel, grid and block.
type localityView struct {
	spec     machine.Spec
	reported bool // launches are reported, not only kept for the further machines
	forms    map[*probe.LaunchInfo][]locality.Form
	groups   []*localityGroup
	// further machines, which receive all launches again after the last one, when the best shapes are known
	machines [3]*machine.Machine
	policies [3]*dispatch.Policy // of the launch in progress
	kept     []keptLaunch        // launches for these machines
	total    int                 // transactions of these launches
	ended    bool                // the further machines have run
}

// Further machines.
const (
	bestMachine  = iota // groups of the best shape
	orderMachine        // the dispatcher of the first machine, with CTAs that begin group by group (--order)
	tileMachine         // groups of the shape of the tiles
)

// keptLaunch is a launch for the further machines.
type keptLaunch struct {
	*stream.Launch
	ctas  []*stream.CTA
	group *localityGroup // nil: a launch before the reported one
}

// maxKept is the maximum number of transactions of all launches that are kept.
const maxKept = 1 << 23

// localityGroup is the launches of a kernel with the same extents.
type localityGroup struct {
	kernel      string
	grid, block ptx.Dim3
	launches    int
	tooLarge    bool // lines were not kept
	unmeasured  bool // the launches have too many transactions for the further machines
	own         machine.Counts
	counts      [3]machine.Counts // of the further machines
	clusters    bool              // the CTAs are in clusters, whose order has no shape here
	ordered     bool              // the launch has an order of CTAs
	ownLines    float64           // working sets, as sums of all launches: of the dispatcher of the first machine
	rotation    float64
	pairs       float64
	byTiles     float64
	shapes      []locality.Shape
	orders      []float64 // by index in shapes: working sets of the dispatcher of the first machine, with CTAs that begin group by group
	best        ptx.Dim3  // shape with the smallest sum; (1,1,1) if the first machine's dispatcher has the smallest
	tiles       ptx.Dim3  // shape of algorithm 1 for the tiles of the first launch
	descriptors []locality.Descriptor
	err         error
}

func beginLocality(in *machineRun) machineView {
	v := &localityView{spec: in.specs[0], reported: in.flags.Launch == 0, forms: map[*probe.LaunchInfo][]locality.Form{}}
	for i := range v.machines {
		spec := v.spec
		spec.Dispatcher = &dispatch.Policy{Name: "groups", New: func(l *dispatch.Launch) dispatch.Dispatcher { return v.policies[i].New(l) }}
		v.machines[i] = machine.New(spec, in.flags.Regs)
	}
	in.onReported(func() { v.reported = true })
	own := in.machines[0]
	in.probes = append(in.probes, locality.NewFitter(func(l *probe.LaunchInfo, list []locality.Form) { v.forms[l] = list }))
	in.consumers = append(in.consumers, locality.NewCollector(func(l *locality.Launch) { v.add(l, own.Launches()) }))
	return v
}

// dispatcher is that of the first machine.
func (v *localityView) dispatcher() *dispatch.Policy {
	return cmp.Or(v.spec.Dispatcher, dispatch.Rotation)
}

// orderText is a shape as a value of --order.
func orderText(shape ptx.Dim3) string { return dispatch.Clusters(shape).Name }

// ordered is the dispatcher of the first machine, with CTAs that begin in groups of a shape.
func (v *localityView) ordered(shape ptx.Dim3) *dispatch.Policy {
	return dispatch.Ordered(v.dispatcher(), orderText(shape), dispatch.Group(shape))
}

// add adds a launch to its group. own has the launches of the first machine, this launch as the last.
func (v *localityView) add(l *locality.Launch, own []*machine.Launch) {
	forms := v.forms[l.LaunchInfo]
	delete(v.forms, l.LaunchInfo)
	if !v.reported {
		v.keep(l, nil)
		return
	}
	i := slices.IndexFunc(v.groups, func(g *localityGroup) bool {
		return g.kernel == l.Kernel.Name && g.grid == l.Grid && g.block == l.Block
	})
	isFirst := i < 0
	if isFirst {
		i = len(v.groups)
		v.groups = append(v.groups, &localityGroup{kernel: l.Kernel.Name, grid: l.Grid, block: l.Block})
	}
	g := v.groups[i]
	g.launches++
	g.own.Add(&own[len(own)-1].Counts)
	if g.tooLarge = g.tooLarge || l.TooLarge; g.tooLarge || g.err != nil {
		return
	}
	measure := func(p *dispatch.Policy) float64 {
		n, err := l.Measure(p, v.spec.SMs)
		g.err = cmp.Or(g.err, err)
		return n
	}
	g.ownLines += measure(v.dispatcher())
	g.rotation += measure(dispatch.Rotation)
	g.pairs += measure(dispatch.Pairs)
	shapes, err := l.MeasureShapes(v.spec.SMs)
	g.err = cmp.Or(g.err, err)
	if isFirst {
		g.clusters, g.ordered = l.Cluster.Count() > 1, l.Dispatch != nil
		g.shapes, g.orders = shapes, make([]float64, len(shapes))
		g.descriptors = locality.Infer(l, forms)
		g.tiles = locality.Clusters(l.Grid, g.descriptors, v.spec.SMs)
	} else {
		for i := range shapes {
			g.shapes[i].WorkingSet += shapes[i].WorkingSet
		}
	}
	for i := range shapes {
		g.orders[i] += measure(v.ordered(shapes[i].Dim3))
	}
	g.byTiles += measure(dispatch.Clusters(g.tiles))
	if !v.keep(l, g) {
		g.unmeasured = true
	}
}

// keep keeps a launch of a group for the further machines. It returns false if the launches are too large.
func (v *localityView) keep(l *locality.Launch, g *localityGroup) bool {
	for _, c := range l.Requests {
		for w := range c.Warps {
			v.total += len(c.Warps[w].Transactions)
		}
	}
	if g != nil && g.unmeasured || l.Requests == nil || v.total > maxKept {
		v.total = max(v.total, maxKept+1) // a later launch would find another L2
		v.kept = nil
		return false
	}
	v.kept = append(v.kept, keptLaunch{l.Launch, l.Requests, g})
	return true
}

// end chooses the best shapes and runs the further machines, once.
func (v *localityView) end() {
	if v.ended {
		return
	}
	v.ended = true
	for _, g := range v.groups {
		g.best = ptx.Dim(1)
		least := g.ownLines
		for _, s := range g.shapes {
			if s.WorkingSet < least {
				least, g.best = s.WorkingSet, s.Dim3
			}
		}
	}
	for _, l := range v.kept {
		g := l.group
		if v.policies = [3]*dispatch.Policy{v.dispatcher(), v.dispatcher(), v.dispatcher()}; g == nil {
			g = &localityGroup{best: ptx.Dim(1)}
		} else {
			v.policies[tileMachine] = dispatch.Clusters(g.tiles)
		}
		if g.unmeasured {
			continue
		}
		if g.best != ptx.Dim(1) {
			v.policies[bestMachine], v.policies[orderMachine] = dispatch.Clusters(g.best), v.ordered(g.best)
		}
		for i, m := range v.machines {
			m.BeginLaunch(l.Launch)
			for _, c := range l.ctas {
				m.CTA(l.Launch, c)
			}
			m.EndLaunch(l.Launch, nil)
			list := m.Launches()
			g.counts[i].Add(&list[len(list)-1].Counts)
		}
	}
	v.kept = nil
}

// orderLines returns the working set of the first machine with the CTAs in groups of the best shape, as a sum.
func (g *localityGroup) orderLines() float64 {
	for i, s := range g.shapes {
		if s.Dim3 == g.best {
			return g.orders[i]
		}
	}
	return g.ownLines
}

// machineLocalityJSON is the locality of the launches of a kernel with the same extents.
type machineLocalityJSON struct {
	Kernel      string                  `json:"kernel"`                 // name of the kernel
	Grid        [3]int                  `json:"grid"`                   // number of CTAs in each dimension
	Launches    int                     `json:"launches"`               // number of launches
	TooLarge    bool                    `json:"too_large,omitempty"`    // the launches have too many CTAs or access too many lines; the further fields are empty
	Own         float64                 `json:"own"`                    // lines that a multiprocessor accesses, as the mean of all, with the dispatcher of the machine
	Rotation    float64                 `json:"rotation"`               // the same for the dispatcher rotation
	Pairs       float64                 `json:"pairs"`                  // the same for the dispatcher pairs
	Shapes      []machineShapeJSON      `json:"shapes"`                 // the same for groups of CTAs
	Best        [3]int                  `json:"best"`                   // shape of the groups with the fewest lines in all launches; (1,1,1) if none has fewer than own
	OrderLines  float64                 `json:"order_lines"`            // lines that a multiprocessor accesses with the machine's dispatcher if CTAs begin in groups of the best shape (--order)
	Tiles       [3]int                  `json:"tiles"`                  // shape of the groups that the descriptors select; (1,1,1) if they select none
	TileLines   float64                 `json:"tile_lines"`             // lines that a multiprocessor accesses with these groups
	Counts      machine.Counts          `json:"counts"`                 // counts of the first machine
	BestCounts  *machine.Counts         `json:"best_counts,omitempty"`  // its counts with groups of the best shape
	OrderCounts *machine.Counts         `json:"order_counts,omitempty"` // its counts if CTAs begin in groups of the best shape
	TileCounts  *machine.Counts         `json:"tile_counts,omitempty"`  // its counts with groups of the shape of the descriptors
	Descriptors []machineDescriptorJSON `json:"descriptors"`            // descriptor of each buffer, most accesses first
}

// machineShapeJSON is the working set of groups of CTAs.
type machineShapeJSON struct {
	Shape [3]int  `json:"shape"` // CTAs of a group in each dimension
	Lines float64 `json:"lines"` // lines that a multiprocessor accesses, as the mean of all
}

// machineDescriptorJSON is a Locality Descriptor.
type machineDescriptorJSON struct {
	Buffer  string `json:"buffer"`            // name of the buffer
	Base    uint64 `json:"base"`              // its first address
	Bytes   uint64 `json:"bytes"`             // its size
	Type    string `json:"type"`              // INTRA_THREAD, INTER_THREAD or NO_REUSE
	Sharing string `json:"sharing,omitempty"` // COACCESSED or NEARBY, of INTER_THREAD
	Regular bool   `json:"regular"`           // the addresses are affine; if not, the further fields but ctile have no meaning
	Element int    `json:"element"`           // bytes of an element
	Stride  int64  `json:"stride"`            // elements from a row of the D-tile to the next; 0 if it is contiguous
	DTile   [3]int `json:"dtile"`             // elements of the D-tile
	CTile   [3]int `json:"ctile"`             // CTAs of the C-tile
	Map     [3]int `json:"map"`               // ranks of x, y and z in the order of C-tiles along the data; 0: the data do not depend on the dimension
}

func (v *localityView) addJSON(r *machineReport) error {
	v.end()
	r.Locality = []machineLocalityJSON{}
	for _, g := range v.groups {
		j := machineLocalityJSON{Kernel: g.kernel, Grid: g.grid.Dims(), Launches: g.launches, TooLarge: g.tooLarge, Counts: g.own, Shapes: []machineShapeJSON{}, Descriptors: []machineDescriptorJSON{}}
		if !g.tooLarge {
			n := float64(g.launches)
			j.Rotation, j.Pairs, j.Best, j.Tiles = g.rotation/n, g.pairs/n, g.best.Dims(), g.tiles.Dims()
			j.Own, j.OrderLines, j.TileLines = g.ownLines/n, g.orderLines()/n, g.byTiles/n
			for _, s := range g.shapes {
				j.Shapes = append(j.Shapes, machineShapeJSON{s.Dims(), s.WorkingSet / n})
			}
			for i := range g.descriptors {
				d := &g.descriptors[i]
				j.Descriptors = append(j.Descriptors, machineDescriptorJSON{d.Buffer.Name, d.Buffer.Base, d.Buffer.Bytes, string(d.Type), string(d.Sharing), d.Regular, d.Element, d.Stride, d.DTile.Dims(), d.CTile.Dims(), d.Map})
			}
			if !g.unmeasured {
				j.BestCounts, j.OrderCounts, j.TileCounts = &g.counts[bestMachine], &g.counts[orderMachine], &g.counts[tileMachine]
			}
		}
		r.Locality = append(r.Locality, j)
	}
	return nil
}

// localityRow is a dispatcher with its working set, and its counts if they were measured.
type localityRow struct {
	name   string
	lines  float64
	counts *machine.Counts
}

// rows returns the dispatchers of a group: that of the machine first, then those with a name, then the shapes with the fewest lines, at most
// top. left is the number of further shapes.
func (v *localityView) rows(g *localityGroup, top int) (list []localityRow, left int) {
	n := float64(g.launches)
	list = append(list, localityRow{v.name(g) + ", of this machine", g.ownLines / n, &g.own})
	if v.dispatcher() != dispatch.Rotation {
		list = append(list, localityRow{"rotation", g.rotation / n, nil})
	}
	if v.dispatcher() != dispatch.Pairs {
		list = append(list, localityRow{"pairs", g.pairs / n, nil})
	}
	if g.tiles != ptx.Dim(1) {
		list = append(list, localityRow{dispatch.Clusters(g.tiles).Name + ", by the tiles below", g.byTiles / n, g.measured(tileMachine)})
	}
	shapes := slices.Clone(g.shapes)
	slices.SortStableFunc(shapes, func(a, b locality.Shape) int { return cmp.Compare(a.WorkingSet, b.WorkingSet) })
	left = len(shapes) - min(len(shapes), top)
	for _, x := range shapes[:len(shapes)-left] {
		r := localityRow{dispatch.Clusters(x.Dim3).Name, x.WorkingSet / n, nil}
		if x.Dim3 == g.best {
			r.counts = g.measured(bestMachine)
		}
		list = append(list, r)
	}
	return list, left
}

// name is the dispatcher of the first machine with the order of the launch.
func (v *localityView) name(g *localityGroup) string {
	if g.ordered {
		return v.dispatcher().Name + " with --order"
	}
	return v.dispatcher().Name
}

// measured returns the counts of a further machine; nil if they were not measured.
func (g *localityGroup) measured(machine int) *machine.Counts {
	if g.unmeasured {
		return nil
	}
	return &g.counts[machine]
}

// failure returns why the group has no working sets; "" if it has.
func (g *localityGroup) failure() string {
	switch {
	case g.tooLarge:
		return "the launch has too many CTAs, or accesses too many lines: run it with a smaller input"
	case g.err != nil:
		return g.err.Error()
	}
	return ""
}

// localityColumns are the counts of a dispatcher: hits of both caches and reads of memory.
func localityColumns() []*machineColumn {
	return []*machineColumn{&machineColumns[2], &machineColumns[4], &machineColumns[5]}
}

// cells formats a row: its working set, the change from that of the machine, and the counts.
func (r *localityRow) cells(own float64) []string {
	change := ""
	if percent := math.Round(1000*(r.lines/own-1)) / 10; own > 0 && percent != 0 {
		change = fmt.Sprintf("%+.1f %%", percent)
	}
	list := []string{fmt.Sprintf("%.1f", r.lines), change}
	for _, c := range localityColumns() {
		if r.counts == nil {
			list = append(list, "-")
		} else {
			list = append(list, c.text(r.counts))
		}
	}
	return list
}

// print prints the row.
func (r *localityRow) print(s *screen, own float64) {
	cells := r.cells(own)
	text := fitted(cells[0], -10) + fitted(cells[1], -10)
	for i, c := range localityColumns() {
		text += fitted(cells[2+i], -c.width)
	}
	s.printf("%s  %s\n", text, r.name)
}

// page returns a section for each kernel: the working sets of dispatchers, and the descriptors.
func (v *localityView) page(r *machineReport) (list []pageSection) {
	for _, g := range v.groups {
		section := pageSection{fmt.Sprintf("Locality of %s, grid %s, on %s", g.kernel, g.grid, v.spec.Name), []string{}, []pageBlock{}}
		if text := g.failure(); text != "" {
			section.Notes = append(section.Notes, text)
			list = append(list, section)
			continue
		}
		rows, left := v.rows(g, r.flags.Top)
		sets := pageBlock{Title: "Lines that a multiprocessor accesses, as the mean of all", Notes: []string{}, Bars: &pageBars{Series: []string{"lines"}}, Table: &pageTable{Head: []pageHead{{Name: "dispatcher", Text: true}, {Name: "lines/SM"}, {Name: "change"}}}}
		for _, c := range localityColumns() {
			sets.Table.Head = append(sets.Table.Head, pageHead{Name: c.name, Doc: c.doc})
		}
		for i := range rows {
			cells := rows[i].cells(rows[0].lines)
			sets.Bars.addBar(rows[i].name, strings.TrimSpace(cells[0]+" "+cells[1]), rows[i].lines)
			sets.Table.Rows = append(sets.Table.Rows, append([]string{rows[i].name}, cells...))
		}
		if left > 0 {
			sets.Notes = append(sets.Notes, fmt.Sprintf("%d more shapes of groups have more lines (--top).", left))
		}
		if g.best == ptx.Dim(1) {
			sets.Notes = append(sets.Notes, "No group of CTAs has fewer lines than "+v.name(g)+".")
		} else {
			sets.Notes = append(sets.Notes, fmt.Sprintf("Fewest lines: --sweep dispatch=%s gives the CTAs of a group to one SM.", orderText(g.best)))
		}
		tiles := pageBlock{Title: "Tiles, from the addresses of the first launch", Notes: []string{}}
		if len(g.descriptors) == 0 {
			tiles.Notes = append(tiles.Notes, "None: the first launch accesses no line of global memory.")
		} else {
			tiles.Table = &pageTable{Head: []pageHead{{Name: "buffer", Text: true}, {Name: "bytes"}, {Name: "descriptor", Text: true}}}
			for i := range g.descriptors {
				d := &g.descriptors[i]
				tiles.Table.Rows = append(tiles.Table.Rows, []string{bufferText(d.Buffer.Name, d.Buffer.Base), fmt.Sprint(d.Buffer.Bytes), d.String()})
			}
		}
		section.Blocks = append(section.Blocks, sets, tiles)
		list = append(list, section)
	}
	return list
}

func (v *localityView) print(r *machineReport, s *screen) {
	for _, g := range v.groups {
		s.heading(fmt.Sprintf("locality of %s, grid %s, on %s", g.kernel, g.grid, v.spec.Name))
		if text := g.failure(); text != "" {
			s.printf("%s\n", text)
			continue
		}
		s.printf("%s\n", s.paint(dim, "lines/SM    change  L1 hits  L2 hits      read  dispatcher"))
		rows, left := v.rows(g, r.flags.Top)
		for i := range rows {
			rows[i].print(s, rows[0].lines)
		}
		if left > 0 {
			s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", left)))
		}
		if g.best == ptx.Dim(1) {
			s.printf("no group of CTAs has fewer lines than %s\n", v.name(g))
		} else {
			v.recommend(s, g, g.measured(bestMachine), g.measured(orderMachine))
		}
		s.printf("\ntiles, from the addresses of the first launch\n")
		if len(g.descriptors) == 0 {
			s.printf("  none: the first launch accesses no line of global memory\n")
		}
		for i := range g.descriptors {
			d := &g.descriptors[i]
			s.printf("  %s, %d bytes\n    %s\n", bufferText(d.Buffer.Name, d.Buffer.Base), d.Buffer.Bytes, d)
		}
	}
}

// recommend prints how to run with the best groups, and what that changes. The counts are nil if they were not measured.
func (v *localityView) recommend(s *screen, g *localityGroup, best, order *machine.Counts) {
	text := orderText(g.best)
	s.printf("fewest lines: --sweep dispatch=%s gives the CTAs of a group to one SM\n", text)
	if best != nil && best.Reads >= g.own.Reads {
		s.printf("  reads of memory do not fall: %d sectors, and %d with it\n", g.own.Reads, best.Reads)
	}
	if g.clusters || order == nil {
		return
	}
	if g.orderLines() >= g.ownLines && order.L1Hits <= g.own.L1Hits {
		s.printf("--order %s, which begins the CTAs of a group one after another, helps neither lines nor L1 hits\n", text)
		return
	}
	s.printf("--order %s begins the CTAs of a group one after another, with the dispatcher %s:\n", text, v.dispatcher().Name)
	n := float64(g.launches)
	row := localityRow{v.ordered(g.best).Name, g.orderLines() / n, order}
	row.print(s, g.ownLines/n)
}
