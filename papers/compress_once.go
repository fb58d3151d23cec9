package papers

// This file has the experiment "compress once": the encodings of registers travel to memory. docs/compress-once.md defines the columns and
// interpretations.

import (
	"maps"
	"slices"
	"strconv"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/codec"
	"gemu/machine/stream"
	"gemu/models/gscalar"
	"gemu/ptx"
)

// Interpretations of the tables.
const (
	onceHeadline = "headline"
	onceCopies   = "copies"
	onceAssist   = "assist"
	onceSingle   = "registers of 32 bits"
	onceNoEnd    = "without the end"
	oncePages    = "pages"
)

// Names of the rows that summarise programs.
const (
	onceLarge        = "large"    // mean of the programs of CABA
	onceMean         = "mean"     // mean of all programs
	onceCompressible = "mean≥1.1" // mean of the programs with a ratio of at least 1.1 with BDI
	onceAll          = "all"      // quotients of the sums over all programs
)

// onceProgram is a program of the experiment.
type onceProgram struct {
	name, workload string
	size           int  // 0: the default
	large          bool // of CABA: its data exceed the L2
}

// oncePrograms are the programs of CABA, and the other workloads of the library.
func oncePrograms() (list []onceProgram) {
	for i := range cabaPrograms {
		p := &cabaPrograms[i]
		list = append(list, onceProgram{p.name, p.workload, p.size, true})
	}
	for _, w := range kernels.All() {
		if !slices.ContainsFunc(list, func(p onceProgram) bool { return p.workload == w.Name }) {
			list = append(list, onceProgram{name: w.Name, workload: w.Name})
		}
	}
	return list
}

// onceRows returns the programs and their summaries.
func onceRows(summaries ...string) (rows []Row) {
	for _, p := range oncePrograms() {
		rows = append(rows, Row{Name: p.name, Workload: p.workload, Size: p.size, Values: map[string]float64{}})
	}
	for _, name := range summaries {
		rows = append(rows, Row{Name: name, Values: map[string]float64{}, Summary: true})
	}
	return rows
}

// onceCounts are the counts of a program, or their sums over all programs.
type onceCounts struct {
	origins, drain [machine.Origins]machine.OriginCounts // of transferred lines; of lines that are dirty at the end
	typed          onceTyped
	assists        [onceDesigns]onceAssists
	metadata       [onceMetadatas]machine.MetadataCounts
	transfers      int64 // of lines, without those of the end
	instructions   int64 // warp instructions of the program
}

// add adds the counts of o.
func (c *onceCounts) add(o *onceCounts) {
	for i := range c.origins {
		c.origins[i].Add(&o.origins[i])
		c.drain[i].Add(&o.drain[i])
	}
	c.typed.add(&o.typed)
	for i := range c.assists {
		c.assists[i].compress += o.assists[i].compress
		c.assists[i].decompress += o.assists[i].decompress
	}
	for i := range c.metadata {
		c.metadata[i].Lookups += o.metadata[i].Lookups
		c.metadata[i].Hits += o.metadata[i].Hits
		c.metadata[i].Writes += o.metadata[i].Writes
	}
	c.transfers += o.transfers
	c.instructions += o.instructions
}

// lines returns the lines by origin, with those of the end unless the interpretation leaves them out.
func (c *onceCounts) lines(r *Interpretation) [machine.Origins]machine.OriginCounts {
	list := c.origins
	if r.Name != onceNoEnd {
		for i := range list {
			list[i].Add(&c.drain[i])
		}
	}
	return list
}

// warpInstructions counts the instructions of warps.
type warpInstructions int64

func (n *warpInstructions) BeginLaunch(*stream.Launch)      {}
func (n *warpInstructions) EndLaunch(*stream.Launch, error) {}
func (n *warpInstructions) CTA(_ *stream.Launch, c *stream.CTA) {
	for i := range c.Warps {
		*n += warpInstructions(c.Warps[i].Instructions)
	}
}

// onceMachine is the machine of the experiment.
func onceMachine() machine.Spec {
	spec, _ := machine.Find("caba")
	spec.L1Lines = true
	return spec
}

// onceRun runs a program.
func onceRun(m *Meter, p onceProgram) (*onceCounts, error) {
	return measureOnce(m, "compress-once "+p.workload, func() (*onceCounts, error) {
		on := machine.New(onceMachine(), 0)
		counts := machine.NewCompression(on)
		metadata := newOnceMetadata(on)
		assists, err := newOnceAssists(m.ctx, on)
		if err != nil {
			return nil, err
		}
		defer assists.sandbox.Close()
		var instructions warpInstructions
		recorder := stream.NewDataRecorder(stream.Consumers{on, &instructions})
		recorder.Encode(gscalar.NewEncodings())
		if err := m.run(p.workload, p.size, func(*interp.Launch) {}, recorder); err != nil {
			return nil, err
		}
		if err := m.verify.machine(on); err != nil {
			return nil, err
		}
		if err := counts.Verify(); err != nil {
			return nil, err
		}
		if assists.err != nil {
			return nil, assists.err
		}
		out := &onceCounts{instructions: int64(instructions), metadata: metadata.counts(), assists: assists.counts()}
		list := counts.Buffers()
		for i := range list {
			b := &list[i]
			for o := range out.origins {
				out.origins[o].Add(&b.ByOrigin[o])
				out.drain[o].Add(&b.DrainByOrigin[o])
			}
		}
		out.typed = typedCounts(on.Launches(), list)
		total := counts.Total()
		out.transfers = total.Reads + total.Writes
		return out, nil
	})
}

// onceMeasure returns a Table.Measure of the values of counts, with their means and sums over programs.
func onceMeasure(values func(c *onceCounts, r *Interpretation) map[string]float64) func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
	return func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		list := oncePrograms()
		if !row.Summary {
			p := list[slices.IndexFunc(list, func(p onceProgram) bool { return p.workload == row.Workload })]
			c, err := onceRun(m, p)
			if err != nil {
				return nil, err
			}
			return values(c, r), nil
		}
		var all onceCounts
		sums, n := map[string]float64{}, map[string]float64{}
		for _, p := range list {
			c, err := onceRun(m, p)
			if err != nil {
				return nil, err
			}
			all.add(c)
			if row.Name == onceLarge && !p.large || row.Name == onceCompressible && onceRatio(c, r) < 1.1 {
				continue
			}
			for name, v := range values(c, r) {
				sums[name] += v
				n[name]++
			}
		}
		if row.Name == onceAll {
			return values(&all, r), nil
		}
		for name := range sums {
			sums[name] /= n[name]
		}
		return sums, nil
	}
}

// onceRatio returns bursts without compression by bursts with BDI.
func onceRatio(c *onceCounts, r *Interpretation) float64 {
	lines, bdi := int64(0), int64(0)
	for _, o := range c.lines(r) {
		lines += o.Lines
		bdi += o.BDI
	}
	return ratioOfBursts(codec.LineBursts*lines, bdi)
}

// ratioOfBursts returns bursts without compression by those with it; 1 if nothing was transferred.
func ratioOfBursts(raw, bursts int64) float64 {
	if bursts == 0 {
		return 1
	}
	return float64(raw) / float64(bursts)
}

// compressOnce returns the experiment.
func compressOnce() *Paper {
	return &Paper{Name: "compress-once", Experiment: true, Title: "Compress once: the encodings of registers travel to memory (docs/compress-once.md)",
		Tables: []*Table{onceBursts(), onceOrigin(), onceLost(), onceAssistTable(), onceMetadataTable(), onceTypes()}}
}

// Tables "bursts", "origin" and "lost".

// minSavings is the share of bursts that BDI must save for a share of its savings to be a value.
const minSavings = 0.01

// onceBurstsWith returns the bursts of lines with codec once and a base, under an interpretation.
func onceBurstsWith(lines *[machine.Origins]machine.OriginCounts, b codec.Base, r *Interpretation) (bursts int64) {
	for o := range lines {
		c := &lines[o]
		switch {
		case r.Name == onceAssist:
			bursts += c.OnceOrBDI[b]
		case r.Name == onceSingle && b == codec.SharedBase:
			bursts += c.Single
		case r.Name == onceCopies && machine.Origin(o) == machine.Copied:
			bursts += c.Bytewise
		default:
			bursts += c.Once[b]
		}
	}
	return bursts
}

func onceBursts() *Table {
	ratio := func(name, first, second, doc string) Column {
		return Column{Name: name, Head: [2]string{first, second}, Digits: 2, Doc: "bursts without compression by bursts " + doc, NotRanked: true}
	}
	kept := func(name, second, doc string) Column {
		return Column{Name: name, Head: [2]string{"kept", second}, Digits: 1, Doc: "bursts saved " + doc + ", share of those that BDI saves; none if BDI saves less than 1 %", NotRanked: true}
	}
	return &Table{
		Name: "bursts", Title: "bursts of memory without compression by bursts with it, and the share of BDI's savings",
		Columns: []Column{
			ratio("once", "", "once", "in forms of codec once"),
			ratio("zero", "", "zero", "with a zero base in addition"),
			ratio("sign", "", "sign", "with sign and magnitude in addition"),
			ratio("bdi", "", "BDI", "in forms of BDI"),
			ratio("byte_wise", "byte-", "wise", "in byte-wise forms, of all lines"),
			kept("kept", "", "by codec once"),
			kept("kept_zero", "zero", "with a zero base in addition"),
			kept("kept_sign", "sign", "with sign and magnitude in addition"),
		},
		Rows: onceRows(onceLarge, onceMean, onceCompressible, onceAll),
		Interpretations: []Interpretation{
			{onceHeadline, "lines without a form of codec once are raw; lines that are dirty at the end count as written"},
			{onceCopies, "copies by the host have byte-wise forms"},
			{onceAssist, "assist warps compress lines without a form by BDI"},
			{onceSingle, "stores of one register of 32 bits alone are encoded (columns once and kept)"},
			{onceNoEnd, "lines that are dirty at the end do not count"},
		},
		Measure: onceMeasure(func(c *onceCounts, r *Interpretation) map[string]float64 {
			lines := c.lines(r)
			raw, bdi, bytewise := int64(0), int64(0), int64(0)
			for _, o := range lines {
				raw += codec.LineBursts * o.Lines
				bdi += o.BDI
				bytewise += o.Bytewise
			}
			values := map[string]float64{"bdi": ratioOfBursts(raw, bdi), "byte_wise": ratioOfBursts(raw, bytewise)}
			for b, names := range [codec.Bases][2]string{{"once", "kept"}, {"zero", "kept_zero"}, {"sign", "kept_sign"}} {
				n := onceBurstsWith(&lines, codec.Base(b), r)
				values[names[0]] = ratioOfBursts(raw, n)
				if float64(raw-bdi) >= minSavings*float64(raw) && raw > bdi {
					values[names[1]] = share(raw-n, raw-bdi)
				}
			}
			return values
		}),
	}
}

func onceOrigin() *Table {
	var columns []Column
	for o := range machine.Origins {
		columns = append(columns, Column{Name: o.String(), Head: [2]string{"", o.String()}, Digits: 1, Stack: "origin", Series: o.String(), Doc: "transferred lines of origin " + o.String() + ", share of all", NotRanked: true})
	}
	for n := 1; n <= codec.LineBursts; n++ {
		digit := strconv.Itoa(n)
		columns = append(columns, Column{Name: "bursts" + digit, Head: [2]string{"bursts", digit}, Digits: 1, Stack: "bursts", Series: digit, Doc: "lines of origin registers whose form takes so many bursts, share of the lines of this origin", NotRanked: true})
	}
	return &Table{
		Name: "origin", Title: "transferred lines by the origin of their last change",
		Columns:         columns,
		Rows:            onceRows(onceLarge, onceMean, onceAll),
		Interpretations: []Interpretation{{onceHeadline, "lines that are dirty at the end count as written"}, {onceNoEnd, "they do not count"}},
		Measure: onceMeasure(func(c *onceCounts, r *Interpretation) map[string]float64 {
			lines := c.lines(r)
			all := int64(0)
			for _, o := range lines {
				all += o.Lines
			}
			values := map[string]float64{}
			for o := range lines {
				values[machine.Origin(o).String()] = share(lines[o].Lines, all)
			}
			if of := &lines[machine.FromRegisters]; of.Lines > 0 {
				for n := 1; n <= codec.LineBursts; n++ {
					values["bursts"+strconv.Itoa(n)] = share(of.ByBursts[n], of.Lines)
				}
			}
			return values
		}),
	}
}

func onceLost() *Table {
	column := func(name, doc string) Column {
		return Column{Name: name, Head: [2]string{"", name}, Digits: 1, Doc: doc, NotRanked: true}
	}
	var columns []Column
	columns = append(columns, column("kept", "bursts saved by codec once, share of BDI's savings"))
	for _, o := range []machine.Origin{machine.Copied, machine.StoredWhole, machine.StoredParts} {
		columns = append(columns, column(o.String(), "bursts that BDI saves in lines of origin "+o.String()+", share of all that it saves"))
	}
	columns = append(columns,
		column("weaker", "bursts that BDI saves in lines of origin registers and codec once does not, share of BDI's savings"),
		column("stronger", "bursts that codec once saves in lines of origin registers and BDI does not, share of BDI's savings, negative"),
		column("sign", "as column weaker, with sign and magnitude"))
	return &Table{
		Name: "lost", Title: "savings of BDI that codec once does not have, by origin, % of BDI's savings",
		Note:            "The columns from kept to stronger add up to 100. Programs in which BDI saves less than 1 % have no values.",
		Columns:         columns,
		Rows:            onceRows(onceLarge, onceMean, onceAll),
		Interpretations: []Interpretation{{onceHeadline, "lines that are dirty at the end count as written"}, {onceNoEnd, "they do not count"}},
		Measure: onceMeasure(func(c *onceCounts, r *Interpretation) map[string]float64 {
			lines := c.lines(r)
			var all machine.OriginCounts
			for o := range lines {
				all.Add(&lines[o])
			}
			saved := codec.LineBursts*all.Lines - all.BDI
			if saved <= 0 || float64(saved) < minSavings*float64(codec.LineBursts*all.Lines) {
				return map[string]float64{}
			}
			values := map[string]float64{"kept": share(codec.LineBursts*all.Lines-all.Once[codec.SharedBase], saved)}
			for _, o := range []machine.Origin{machine.Copied, machine.StoredWhole, machine.StoredParts} {
				values[o.String()] = share(lines[o].Once[codec.SharedBase]-lines[o].BDI, saved)
			}
			of := &lines[machine.FromRegisters]
			values["weaker"] = share(of.Weaker[codec.SharedBase], saved)
			values["stronger"] = -share(of.Stronger[codec.SharedBase], saved)
			values["sign"] = share(of.Weaker[codec.SignMagnitude], saved)
			return values
		}),
	}
}

// Table "types".

// typedAlgorithm returns the algorithm for lines of a type, by the rule of docs/compress-once.md.
func typedAlgorithm(t ptx.Type) codec.Codec {
	switch {
	case t.IsFloat():
		return codec.CPack
	case t.Bits() < 32:
		return codec.FPC
	}
	return codec.BDI
}

// onceTyped are bursts by the choice of the algorithm.
type onceTyped struct{ lines, byType, byBuffer, byEncoding, byLine int64 }

func (c *onceTyped) add(o *onceTyped) {
	c.lines += o.lines
	c.byType += o.byType
	c.byBuffer += o.byBuffer
	c.byEncoding += o.byEncoding
	c.byLine += o.byLine
}

// typedCounts returns the bursts of buffers. A buffer without accesses of a type is raw by type.
func typedCounts(launches []*machine.Launch, buffers []machine.CompressedBuffer) (out onceTyped) {
	requests := map[stream.Buffer]map[ptx.Type]int64{}
	for _, l := range launches {
		for _, u := range l.Uses {
			instr, _ := l.Program.At(u.Instr)
			t := instr.Type()
			if t.Bits() == 0 {
				continue
			}
			if requests[u.Buffer] == nil {
				requests[u.Buffer] = map[ptx.Type]int64{}
			}
			requests[u.Buffer][t] += l.Instrs[u.Instr].Requests
		}
	}
	for i := range buffers {
		b := &buffers[i]
		n := b.BurstCounts
		n.Add(&b.Drain)
		var origins machine.OriginCounts
		for o := range b.ByOrigin {
			origins.Add(&b.ByOrigin[o])
			origins.Add(&b.DrainByOrigin[o])
		}
		out.lines += n.Reads + n.Writes
		of := map[codec.Codec]int64{codec.BDI: n.BDI, codec.FPC: n.FPC, codec.CPack: n.CPack}
		out.byBuffer += min(n.BDI, n.FPC, n.CPack)
		out.byLine += n.Best
		out.byEncoding += origins.OnceOrBDI[codec.SharedBase]
		most, bursts := int64(0), n.Bursts()
		counts := requests[b.Buffer]
		for _, t := range slices.Sorted(maps.Keys(counts)) { // in their order, so that the result does not depend on that of a map
			if k := counts[t]; k > most {
				most, bursts = k, of[typedAlgorithm(t)]
			}
		}
		out.byType += bursts
	}
	return out
}

func onceTypes() *Table {
	column := func(name, doc string) Column {
		return Column{Name: name, Head: [2]string{"", name}, Digits: 2, Doc: "bursts without compression by bursts with " + doc, NotRanked: true}
	}
	return &Table{
		Name: "types", Title: "choice of an algorithm by the type of a buffer, and by the encodings of registers",
		Columns: []Column{
			column("type", "the algorithm of the type of each buffer: floats C-Pack, integers of 32 and 64 bits BDI, narrower types FPC"),
			column("buffer", "the best of the three for each buffer, in hindsight"),
			column("encoding", "codec once, and BDI for lines without its form"),
			column("line", "the best of the three for each line"),
		},
		Rows:            onceRows(onceLarge, onceMean, onceCompressible, onceAll),
		Interpretations: []Interpretation{{onceHeadline, "lines that are dirty at the end count as written"}},
		Measure: onceMeasure(func(c *onceCounts, _ *Interpretation) map[string]float64 {
			t, raw := &c.typed, codec.LineBursts*c.typed.lines
			return map[string]float64{"type": ratioOfBursts(raw, t.byType), "buffer": ratioOfBursts(raw, t.byBuffer), "encoding": ratioOfBursts(raw, t.byEncoding), "line": ratioOfBursts(raw, t.byLine)}
		}),
	}
}
