package papers

// This file has the assist instructions and the metadata of the experiment "compress once". docs/compress-once.md defines the columns.

import (
	"context"
	"fmt"

	"gemu/machine"
	"gemu/machine/assist"
	"gemu/machine/codec"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
)

// onceAssists are warp instructions of assist routines.
type onceAssists struct{ compress, decompress int64 }

// The designs whose assist instructions are counted.
const (
	onceCABA    = iota // CABA-BDI
	onceShared         // codec once with BDI for other lines
	onceSigned         // the same with sign and magnitude
	onceDesigns        // number of designs
)

// lineState is how a line is stored.
type lineState uint8

const (
	stateBDI  lineState = iota // in its form of BDI, or raw if it has none; also that of a copy
	stateRaw                   // raw: a part was written, or an atomic was executed
	stateOnce                  // in its form of codec once
)

// onceDesign counts the assist instructions of a design.
type onceDesign struct {
	onceAssists
	once  bool       // with codec once
	base  codec.Base // of codec once
	lines stream.Table[lineState]
	hints map[int]codec.Encoding // encoding of the previous form of BDI, by multiprocessor
}

// onceCosts has the assist instructions of all designs.
type onceCosts struct {
	ctx      context.Context
	sandbox  *assist.Sandbox
	costs    map[assistPath]int64
	designs  [onceDesigns]onceDesign
	err      error
	now, new codec.Line // of the access in progress
}

// assistPath determines the instructions of a routine: its event, the encoding of the previous form, and that of the line.
type assistPath struct {
	event      assist.Event
	hint, line codec.Encoding
}

// newOnceAssists counts the assist instructions of a machine's accesses to its L2.
func newOnceAssists(ctx context.Context, on *machine.Machine) (*onceCosts, error) {
	sandbox, err := assist.NewSandbox(assist.Standard()...)
	if err != nil {
		return nil, err
	}
	c := &onceCosts{ctx: ctx, sandbox: sandbox, costs: map[assistPath]int64{}}
	for i := range c.designs {
		c.designs[i].hints = map[int]codec.Encoding{}
	}
	c.designs[onceShared].once = true
	c.designs[onceSigned].once, c.designs[onceSigned].base = true, codec.SignMagnitude
	on.OnL2(c.access)
	on.OnHostWrite(func(written stream.LineRange) {
		for i := range c.designs {
			c.designs[i].lines.Clear(written)
		}
	})
	return c, nil
}

// counts returns the instructions of the designs.
func (c *onceCosts) counts() (list [onceDesigns]onceAssists) {
	for i := range c.designs {
		list[i] = c.designs[i].onceAssists
	}
	return list
}

// cost returns the instructions of the routine of an event for a line.
func (c *onceCosts) cost(event assist.Event, line *codec.Line, hint, e codec.Encoding) int64 {
	key := assistPath{event, hint, e}
	n, ok := c.costs[key]
	if !ok && c.err == nil {
		r, in := c.sandbox.Store(codec.BDI), *line
		if event == assist.Fill {
			r = c.sandbox.Fill(codec.BDI, e)
			codec.BDI.Encode(&in, line)
		}
		outcomes, err := c.sandbox.Run(c.ctx, r, []codec.Line{in}, []codec.Encoding{hint})
		if err == nil {
			err = r.Check(line, hint, &outcomes[0])
		}
		if err != nil {
			c.err = fmt.Errorf("assist routine %s: %w", r.Name(), err)
			return 0
		}
		n = int64(outcomes[0].Instructions)
		c.costs[key] = n
	}
	return n
}

// decompress returns the instructions that decompress the smallest form of a line; 0 if it has none.
func (c *onceCosts) decompress(line *codec.Line) int64 {
	_, e := codec.BDI.Size(line)
	if e == codec.Raw {
		return 0
	}
	return c.cost(assist.Fill, line, 0, e)
}

// compress returns the instructions that compress a line on a multiprocessor.
func (c *onceCosts) compress(d *onceDesign, sm int, line *codec.Line) int64 {
	hint, e := d.hints[sm], codec.Raw
	var form codec.Line
	if codec.EncodeBDI(&form, line, hint) < codec.LineBytes {
		e = codec.Encoding(form[0])
		d.hints[sm] = e
	}
	return c.cost(assist.Store, line, hint, e)
}

// access counts the routines of an access to the L2.
func (c *onceCosts) access(a *machine.L2Access) {
	if a.Local || c.err != nil {
		return
	}
	known := a.Bytes((*stream.Line)(&c.now))
	if a.Content != nil && a.Content.Known() {
		c.new = c.now
		(*stream.Line)(&c.new).Write(a.Content)
	}
	for i := range c.designs {
		c.designs[i].access(c, a, known)
	}
}

// access counts the routines of an access; known: the bytes before it are known.
func (d *onceDesign) access(c *onceCosts, a *machine.L2Access, known bool) {
	state := d.lines.At(a.Line)
	switch {
	case a.Kind == probe.AccessLoad:
		if known && *state == stateBDI {
			d.onceAssists.decompress += c.decompress(&c.now)
		}
	case a.Kind == probe.AccessAtomic || a.Content == nil || !a.Content.Known():
		*state = stateRaw
	case a.Content.Bytes == stream.WholeLine:
		if d.once && a.Content.Registers.Size(d.base) < codec.LineBytes {
			*state = stateOnce
			return
		}
		*state = stateBDI
		d.onceAssists.compress += c.compress(d, a.SM, &c.new)
	case known && *state == stateOnce:
		*state = stateBDI
		d.onceAssists.compress += c.compress(d, a.SM, &c.new)
	case known && *state == stateBDI:
		if _, e := codec.BDI.Size(&c.now); e == codec.Raw {
			*state = stateRaw
			return
		}
		d.onceAssists.decompress += c.decompress(&c.now)
		d.onceAssists.compress += c.compress(d, a.SM, &c.new)
	default:
		*state = stateRaw
	}
}

func onceAssistTable() *Table {
	column := func(name, first, second, doc string) Column {
		return Column{Name: name, Head: [2]string{first, second}, Digits: 1, Doc: doc, NotRanked: true}
	}
	per := ", for 1000 instructions of the program"
	return &Table{
		Name: "assist", Title: "warp instructions of assist routines for 1000 instructions of the program",
		Columns: []Column{
			column("caba_compress", "CABA", "compress", "instructions that compress, with CABA-BDI"+per),
			column("caba_decompress", "CABA", "decompress", "instructions that decompress, with CABA-BDI"+per),
			column("once_compress", "once", "compress", "instructions that compress, with codec once and BDI for other lines"+per),
			column("once_decompress", "once", "decompress", "instructions that decompress, with codec once and BDI for other lines"+per),
			column("saved", "saved", "", "assist instructions that codec once saves, share of those of CABA-BDI"),
			column("saved_store", "saved", "compress", "instructions that compress and that codec once saves, share of those of CABA-BDI"),
			column("saved_sign", "saved", "sign", "as saved, with sign and magnitude"),
		},
		Rows:            onceRows(onceLarge, onceMean, onceCompressible, onceAll),
		Interpretations: []Interpretation{{onceHeadline, "assist warps compress lines without a form of codec once by BDI"}},
		Measure: onceMeasure(func(c *onceCounts, _ *Interpretation) map[string]float64 {
			caba, once, signed := c.assists[onceCABA], c.assists[onceShared], c.assists[onceSigned]
			per := func(n int64) float64 { return 1000 * float64(n) / float64(max(c.instructions, 1)) }
			values := map[string]float64{
				"caba_compress": per(caba.compress), "caba_decompress": per(caba.decompress),
				"once_compress": per(once.compress), "once_decompress": per(once.decompress),
			}
			if all := caba.compress + caba.decompress; all > 0 {
				values["saved"] = share(all-once.compress-once.decompress, all)
				values["saved_sign"] = share(all-signed.compress-signed.decompress, all)
			}
			if caba.compress > 0 {
				values["saved_store"] = share(caba.compress-once.compress, caba.compress)
			}
			return values
		}),
	}
}

// The caches of metadata that are counted.
const (
	metadataBDI       = iota // of forms of BDI
	metadataOnce             // of forms of codec once
	metadataBDIPages         // of forms of BDI, with a bit for each page
	metadataOncePages        // of forms of codec once, with a bit for each page
	onceMetadatas            // number of caches
)

// pageLines is the number of lines of a page of 4 KB.
const pageLines = 4096 / stream.LineBytes

// onceMetadata counts the caches of metadata of a machine's transfers.
type onceMetadata struct {
	caches [onceMetadatas]struct {
		machine.MetadataCounts
		cache *memory.MetadataCache
		pages map[uint64]bool // whether a line of the page has had a form; none: no line was transferred
	}
	bdi, once *machine.StoredBursts // in forms of BDI, and of codec once, which copies do not have
}

// newOnceMetadata counts the transfers of a machine.
func newOnceMetadata(on *machine.Machine) *onceMetadata {
	c := &onceMetadata{
		bdi:  machine.NewStoredBursts(on, codec.BDI.Bursts),
		once: machine.NewStoredBursts(on, func(*codec.Line) int { return codec.LineBursts }),
	}
	for i := range c.caches {
		md := machine.MetadataOfCABA
		c.caches[i].cache, c.caches[i].pages = memory.NewMetadataCache(md.Shape(), md.Lines()), map[uint64]bool{}
	}
	on.OnTransfer(c.transfer)
	on.OnHostWrite(func(written stream.LineRange) {
		for i := range c.caches {
			for page, had := range c.caches[i].pages {
				if !had && page*pageLines < written.End && (page+1)*pageLines > written.First {
					delete(c.caches[i].pages, page)
				}
			}
		}
	})
	return c
}

func (c *onceMetadata) counts() (list [onceMetadatas]machine.MetadataCounts) {
	for i := range c.caches {
		list[i] = c.caches[i].MetadataCounts
	}
	return list
}

// transfer looks up the bursts of a line in each cache.
func (c *onceMetadata) transfer(t *machine.Transfer) {
	bdi, once := codec.LineBursts, codec.LineBursts
	var line codec.Line
	if t.Bytes((*stream.Line)(&line)) {
		bdi = codec.BDI.Bursts(&line)
		_, registers := t.Origin()
		once = codec.Bursts(registers.Size(codec.SharedBase))
	}
	bdiChanged, onceChanged := c.bdi.Transfer(t, bdi), c.once.Transfer(t, once)
	for i := range c.caches {
		m := &c.caches[i]
		bursts, changed := bdi, bdiChanged
		if i == metadataOnce || i == metadataOncePages {
			bursts, changed = once, onceChanged
		}
		if i == metadataBDIPages || i == metadataOncePages {
			page := t.Line / pageLines
			had, known := m.pages[page]
			for k := uint64(0); i == metadataBDIPages && !known && !had && k < pageLines; k++ { // copies have forms of BDI
				if t.BytesOf(page*pageLines+k, (*stream.Line)(&line)) {
					had = codec.BDI.Bursts(&line) < codec.LineBursts
				}
			}
			had = had || bursts < codec.LineBursts
			if m.pages[page] = had; !had {
				continue
			}
		}
		m.Lookups++
		left, hit := m.cache.LookUp(t.Line, t.Write, changed)
		if hit {
			m.Hits++
		}
		if left >= 0 {
			m.Writes++
		}
	}
}

func onceMetadataTable() *Table {
	column := func(name, first, second, doc string) Column {
		return Column{Name: name, Head: [2]string{first, second}, Digits: 1, Doc: doc, NotRanked: true}
	}
	return &Table{
		Name: "md", Title: "the cache of metadata of 8 KB in 4 ways, with forms of BDI and of codec once",
		Columns: []Column{
			column("bdi_hits", "BDI", "hits", "lookups that hit, with forms of BDI, share of lookups"),
			column("once_hits", "once", "hits", "lookups that hit, with forms of codec once, share of lookups"),
			column("bdi", "BDI", "bursts", "bursts of metadata, with forms of BDI, for 1000 transferred lines"),
			column("once", "once", "bursts", "bursts of metadata, with forms of codec once, for 1000 transferred lines"),
		},
		Rows: onceRows(onceLarge, onceMean, onceAll),
		Interpretations: []Interpretation{
			{onceHeadline, "each transfer of a line looks up its bursts; lines that are dirty at the end do not count"},
			{oncePages, "pages of 4 KB in which no line has had a form need no lookup"},
		},
		Measure: onceMeasure(func(c *onceCounts, r *Interpretation) map[string]float64 {
			bdi, once := &c.metadata[metadataBDI], &c.metadata[metadataOnce]
			if r.Name == oncePages {
				bdi, once = &c.metadata[metadataBDIPages], &c.metadata[metadataOncePages]
			}
			values := map[string]float64{}
			for _, m := range []struct {
				name string
				of   *machine.MetadataCounts
			}{{"bdi", bdi}, {"once", once}} {
				if m.of.Lookups > 0 {
					values[m.name+"_hits"] = share(m.of.Hits, m.of.Lookups)
				}
				if c.transfers > 0 {
					values[m.name] = 1000 * float64(m.of.Lookups-m.of.Hits+m.of.Writes) / float64(c.transfers)
				}
			}
			return values
		}),
	}
}
