package machine

import (
	"gemu/interp/internal/code"
	"gemu/probe"
)

// EventStream is the events of a CTA. There is none where nobody wants to know.
type EventStream struct {
	CTA          *CTA
	Sinks        []Subscriber
	Subscription probe.Subscription // of all of them

	Unions       []EventUnion // by which sinks have eased a warp, what any of them is told of instructions
	ReducedSinks uint64       // as warp.eased, when the instruction began that is told of
	Current      int          // the sink that is told

	Step          probe.Event // of an instruction, before and after
	StepPlace     EventPlace
	AccessPlaces  []*AccessPlace // of accesses
	Accesses      []probe.Access // room for those of step
	Texels        []probe.Texel
	Reads         []probe.Value
	Writes        []probe.Value
	Rows          []code.Row  // and for those of its operations
	Event         probe.Event // of anything else
	EventPlace    EventPlace  // of event
	Groups        []probe.LaneGroup
	PreviousSinks []Subscriber    // room for the sinks of the CTA before
	ValueBuffer   []probe.Value   // room for those of event
	Effect        probe.Effect    // of event
	Segments      []probe.Segment // room for those of effect

	Materialised probe.Value

	StopErr error // the launch is to end with it
}

// Subscriber is a sink, and what the probe that it is of wants.
type Subscriber struct {
	probe.Sink
	Subscription probe.Subscription
	Watcher      *ProbeState    // the probe
	Selected     []probe.Events // what it is told of instructions; nil: all
	Reduced      []probe.Events // … of warps that it has eased; nil: it eases none
}

// EventUnion is what somebody is told of instructions in warps that these sinks have eased.
type EventUnion struct {
	ReducedSinks uint64
	Selected     []probe.Events // nil: all
	Next         []int32        // by instruction, the first from it on of which somebody is told something
	Buffer       []probe.Events
}

// ProbeState is a probe, and what it wants.
type ProbeState struct {
	probe.Probe
	Subscription probe.Subscription
}

// IsSubscribed reports whether somebody wants to be told of events of a kind.
func (c *CTA) IsSubscribed(kind probe.Events) bool {
	return c.Stream != nil && c.Stream.Subscription.Events&kind != 0
}

// Source is the PTX instruction with an index, nil if it is below zero.
func (k *Kernel) Source(i int32) *code.Source {
	if i < 0 {
		return nil
	}
	return &k.Sources[i]
}

// SourceAt is the PTX instruction that lanes at a pc come to next; -1 if it is the end of
// the function.
func (k *Kernel) SourceAt(pc int32) int32 {
	if pc == NoBlock {
		return -1
	}
	if src := k.Instrs[pc].Src; src >= 0 && pc != k.Block(pc).First {
		return src
	}
	for {
		b := k.Block(pc)
		switch end := k.End(b); {
		case b.Sources.Len() > 0:
			return b.Sources.First
		case end.Op != code.Jump:
			return -1
		}
		pc = b.Next
	}
}

// NextSource is SourceAt for a warp split that has yet to execute so many PTX instructions of
// its block, if it has executed some; else owed is 0.
func (k *Kernel) NextSource(pc, uncounted int32) int32 {
	if uncounted == 0 {
		return k.SourceAt(pc)
	}
	b := k.Block(pc)
	if first := k.UncountedSource(b, pc, uncounted); first < b.Sources.End {
		return first
	}
	return k.SourceAt(b.Next)
}

// UncountedSource is the first of the PTX instructions of a block that a warp split at a pc in it has
// yet to execute, after some others; the end of them if it has executed all.
func (k *Kernel) UncountedSource(b *code.Block, pc, uncounted int32) int32 {
	first := b.Sources.End - uncounted
	if k.Instrs[pc].Src != first { // it was executed together with others
		first++
	}
	return first
}

// accessedSources is the instructions that access memory, of a PTX instruction.
type accessedSources struct {
	Folded []*code.Instr // a launch has executed them before it began
	Run    []int32       // the pcs of the others
	Start  int32         // the pc in the block from which on there is what is part of the PTX instruction, or behind it
}

// AccessKinds are what instructions do to memory that have no code.Access: on surfaces, and
// on mbarriers.
var AccessKinds = map[code.Op]probe.AccessKind{
	code.SurfaceLoad: probe.AccessLoad, code.SurfaceStore: probe.AccessStore, code.SurfaceReduce: probe.AccessAtomic,
	code.MbarrierInit: probe.AccessStore, code.MbarrierInval: probe.AccessStore, code.MbarrierArrive: probe.AccessAtomic, code.MbarrierTx: probe.AccessAtomic,
	code.MbarrierTest: probe.AccessLoad, code.MbarrierParity: probe.AccessLoad, code.MbarrierLayout: probe.AccessLoad, code.MbarrierMany: probe.AccessAtomic,
}

// Accesses are the instructions that access memory, by PTX instruction.
func (k *Kernel) Accesses() []accessedSources {
	if k.accessOf == nil {
		k.accessOf = make([]accessedSources, len(k.Sources))
		accesses := func(instr *code.Instr) bool {
			_, ok := AccessKinds[instr.Op]
			return instr.Src >= 0 && (ok || instr.Op == code.TextureFetch || instr.Op.Signature().Side == code.AccessSide)
		}
		for i := range k.Fixed {
			if instr := &k.Fixed[i].Instr; accesses(instr) {
				list := &k.accessOf[instr.Src].Folded
				*list = append(*list, instr)
			}
		}
		for i := range k.Instrs {
			if instr := &k.Instrs[i]; accesses(instr) {
				list := &k.accessOf[instr.Src].Run
				*list = append(*list, int32(i))
			}
		}
		for i := range k.Blocks {
			b := &k.Blocks[i]
			pc := b.First
			for src := b.Sources.First; src < b.Sources.End; src++ {
				for pc < b.Last && k.Instrs[pc].Src < src {
					pc++
				}
				k.accessOf[src].Start = pc
			}
		}
	}
	return k.accessOf
}

// AccessPlace is the place of an access in the machine.
type AccessPlace struct {
	Warp  *Warp
	Instr *code.Instr // the operation of the machine that accesses memory

	// The rest of the request: see mem.Access.
	Tolerate probe.Tolerance
	Hardware int
	Unit     uint64
}
