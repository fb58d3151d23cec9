package machine

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/probe"
)

// EventStream is the stream of events of a CTA. A CTA without subscribers has none.
type EventStream struct {
	CTA          *CTA
	Sinks        []Subscriber
	Subscription probe.Subscription // union of the subscriptions of Sinks

	Unions       []EventUnion // instruction events received by any sink, by the set of sinks with a reduced event set
	ReducedSinks uint64       // value of the warp's ReducedSinks when the present instruction began
	Current      int          // index of the event's receiver

	Step            probe.Event          // event of an instruction, before and after it
	StepPlace       EventPlace           // place of Step
	AccessPlaces    []*AccessPlace       // places of Accesses
	Accesses        []probe.Access       // buffer for the accesses of Step
	Texels          []probe.Texel        // buffer for the texels of Step
	Mbarriers       []probe.MbarrierUse  // uses of mbarriers by the instruction of Step so far
	EffectUse       [1]probe.MbarrierUse // buffer for the use of an mbarrier by Effect
	Reads           []probe.Value        // buffer for the registers that the instruction of Step reads
	Writes          []probe.Value        // buffer for the registers that the instruction of Step writes
	Rows            []code.Row           // buffer for the rows of Step's operations
	SplitEvent      probe.Event          // event of a warp split, which need not be the running split
	SplitPlace      EventPlace           // place of SplitEvent
	Event           probe.Event          // every further event
	EventPlace      EventPlace           // place of Event
	Groups          []probe.LaneGroup    // buffer for the groups of Event
	PreviousSinks   []Subscriber         // buffer for the sinks of the previous CTA
	ValueBuffer     []probe.Value        // buffer for the values of Event and SplitEvent
	AccessList      probe.AccessList     // list of late accesses
	AccessListPlace AccessListPlace      // place of AccessList
	Effect          probe.Effect         // effect of Event
	Segments        []probe.Segment      // buffer for the segments of Effect
	Copies          probe.Copies         // copies of Event

	Materialised probe.Value // value of an event of a materialisation

	Filtered AccessScope // that of the latest CTA with this stream
	StopErr  error       // error with which the launch must end; nil: none
}

// AccessScope identifies CTAs of a launch. A lasting condition for loads (probe.AccessCondition.Lasting) holds in CTAs with the same AccessScope.
type AccessScope struct {
	Turn   int               // Observation.Turn
	Shared *probe.Allocation // the shared memory of the CTA
}

// Subscriber is a sink with the subscription of its probe.
type Subscriber struct {
	probe.Sink
	Subscription probe.Subscription
	Probe        *ProbeState    // the probe
	Selected     []probe.Events // received events, by instruction; nil: all
	Reduced      []probe.Events // events in warps for which the sink has reduced its event set, by instruction; nil: it reduces none
}

// EventUnion is the union of the instruction events of all sinks in some warps.
type EventUnion struct {
	ReducedSinks uint64            // the warps: those with this value of WarpProgress.ReducedSinks
	Selected     []probe.Events    // events by instruction; nil: all
	Next         []int32           // by instruction: the next instruction, itself included, with an event for a sink
	Buffer       []probe.Events    // array for Selected
	Native       *ObservedCode     // machine code for warps with this union; nil: they run in Go
	NativeKnown  bool              // Native and Sole are determined
	Sole         []*SoleAccess     // by instruction: its only access, if the exit from Native before it has no other event; else nil
	Log          *native.AccessLog // log of Native; nil if it logs no loads
	Loggable     []LoggableAccess  // by number of the window in Log: the instruction
}

// LoggableAccess is an instruction whose loads or stores machine code may execute without an exit.
type LoggableAccess struct {
	*SoleAccess
	Rest   int32  // the number of PTX instructions from it to the end of its block
	Late   uint64 // the sinks that receive the logged accesses: a bit for each index in EventStream.Sinks
	Listed uint64 // the sinks of Late that receive lists (probe.AccessReceiver); all others receive events
	Asked  bool   // the sinks have been asked for their conditions, in this turn of the launch
	Lasts  bool   // the conditions are lasting ones (probe.AccessCondition.Lasting)
}

// AccessListPlace is the place of a list of late loads and stores.
type AccessListPlace struct {
	Stream *EventStream
	Warp   *Warp
	Union  *EventUnion
	Logged []native.LoggedAccess // the log; accesses after its first len(Steps) entries have no events, because a sink has ended the launch
	Steps  []int64               // by index of the log: probe.Event.Step
	Places []int32               // by index of the list: the index of the log
}

// CloseWindows ends the conditions of the union's sinks for loads; with keep, only those that end with their CTA.
func (u *EventUnion) CloseWindows(keep bool) {
	for i := range u.Loggable {
		if x := &u.Loggable[i]; x.Asked && !(keep && x.Lasts) {
			x.Asked = false
			u.Log.Close(i)
		}
	}
}

// SoleAccess is an instruction whose only event is OnAccess, of the single load, store or atomic to which it is lowered.
type SoleAccess struct {
	Source   *code.Source
	Instr    *code.Instr
	Accesses []probe.Access // the accesses of EventStream.Step: one
	Place    AccessPlace    // place of Accesses
}

// IsStore reports whether the access is a store.
func (x *SoleAccess) IsStore() bool { return x.Accesses[0].Kind == probe.AccessStore }

// ObservedCode is machine code that exits before the instructions with events.
type ObservedCode struct {
	*native.Code
	Sources []int32 // by pc of an exit: the first PTX instruction with an event there; -1: no exit
	Windows []int32 // by pc: the number of the window of a load that the code may log; -1: it may not log
	Loads   []int32 // by window: the PTX instruction
}

// ProbeState is a probe with its subscription.
type ProbeState struct {
	probe.Probe
	Subscription probe.Subscription
}

// IsSubscribed reports whether a sink of the CTA subscribes to events of a kind.
func (c *CTA) IsSubscribed(kind probe.Events) bool {
	return c.Stream != nil && c.Stream.Subscription.Events&kind != 0
}

// Source returns the PTX instruction with an index, or nil if the index is negative.
func (k *Kernel) Source(i int32) *code.Source {
	if i < 0 {
		return nil
	}
	return &k.Sources[i]
}

// SourceAt returns the index of the next PTX instruction of lanes at a pc, or -1 at the end of the function.
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

// NextSource is SourceAt for a warp split that may be inside a block, with the WarpSplit.Uncounted given as uncounted.
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

// UncountedSource returns the next PTX instruction of a warp split at a pc inside a block, or the end of the block's
// PTX instructions if it has executed all.
func (k *Kernel) UncountedSource(b *code.Block, pc, uncounted int32) int32 {
	first := b.Sources.End - uncounted
	if k.Instrs[pc].Src != first { // first was executed together with earlier PTX instructions
		first++
	}
	return first
}

// accessedSources is the set of memory accesses of one PTX instruction.
type accessedSources struct {
	Folded []*code.Instr // instructions executed before a launch begins
	Run    []int32       // pcs of the instructions executed in the kernel
	Start  int32         // first pc in the block of this or a later PTX instruction
}

// AccessKinds has the kinds of access of operations that access memory without a code.Access: on surfaces and mbarriers.
var AccessKinds = map[code.Op]probe.AccessKind{
	code.SurfaceLoad: probe.AccessLoad, code.SurfaceStore: probe.AccessStore, code.SurfaceReduce: probe.AccessAtomic,
	code.MbarrierInit: probe.AccessStore, code.MbarrierInval: probe.AccessStore, code.MbarrierArrive: probe.AccessAtomic, code.MbarrierTx: probe.AccessAtomic,
	code.MbarrierTest: probe.AccessLoad, code.MbarrierParity: probe.AccessLoad, code.MbarrierLayout: probe.AccessLoad, code.MbarrierMany: probe.AccessAtomic,
}

// Accesses returns the memory accesses of each PTX instruction, by its index.
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
	Instr *code.Instr      // the lowered instruction of the access
	Late  *AccessListPlace // the list of an access that has happened; nil if it is about to happen
	Entry int              // index of the access in Late.Logged

	// The fields of mem.Access besides probe.Request.
	Tolerate probe.Tolerance
	Hardware int
	Unit     uint64
}
