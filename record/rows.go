package record

// This file adds the rows that both a Recorder and FromLog write: values, accesses and ends of launches. It also applies the
// limits of a recording.

import (
	"fmt"
	"io"
	"math/bits"

	"gemu/internal/coalesce"
	"gemu/trace"
)

// tables is a recording under construction.
type tables struct {
	w         *writer
	options   Options
	maxEvents uint64 // 0: no limit
	maxBytes  uint64 // 0: no limit
	full      string // text of the limit that was reached; "": none

	images     map[[32]byte]uint64 // rows of the table data, by SHA-256 of the contents
	imageBytes uint64              // number of recorded bytes of images
	imagesCut  bool                // an image was shortened or left out because of maxBytes

	lines     coalesce.Lines
	conflicts coalesce.Conflicts
}

func newTables(out io.Writer, simulator string, o Options) (*tables, error) {
	w, err := newWriter(out, !o.Uncompressed)
	if err != nil {
		return nil, err
	}
	t := &tables{w: w, options: o, maxEvents: limit(o.MaxEvents, DefaultMaxEvents), maxBytes: limit(o.MaxBytes, DefaultMaxBytes), images: map[[32]byte]uint64{}}
	addRow(w, &RecordingRow{simulator, o.Title, o.Contents.String(), o.Filter.String(), t.maxEvents, t.maxBytes})
	return t, nil
}

// hasRoom reports whether another event may be recorded.
func (t *tables) hasRoom() bool {
	if t.full == "" && t.maxEvents > 0 && rows[EventRow](t.w) >= t.maxEvents {
		t.setFull(fmt.Sprintf("%d events", t.maxEvents))
	}
	return t.full == ""
}

// checkSize ends the recording if the file has reached its limit.
func (t *tables) checkSize() {
	if t.maxBytes > 0 && t.w.bytes() >= t.maxBytes {
		t.setFull(fmt.Sprintf("a file of %d bytes", t.maxBytes))
	}
}

// setFull notes the limit that ends the recording, unless a limit was reached before.
func (t *tables) setFull(limit string) {
	if t.full == "" {
		t.full = limit
	}
}

// addEnd records the end of a launch.
func (t *tables) addEnd(launch uint32, text string) {
	addRow(t.w, &EndRow{launch, rows[EventRow](t.w), oneIf(t.full == ""), text})
}

// laneValue has the columns of a value for the lanes of a warp; rows of several tables have these columns.
type laneValue struct {
	class      Class
	base, high uint64
	stride     int64
	values     uint64
}

// addValue returns the columns of a value. For a generic value it also adds a row for each lane.
func (t *tables) addValue(v *trace.Value) (x laneValue) {
	switch {
	case v.Structure == trace.NoValue:
		x.class = NoValue
	case v.Structure == trace.Uniform:
		x.class, x.base, x.high = Uniform, v.Base, v.High
	case v.Structure == trace.Affine:
		x.class, x.base, x.stride = Affine, v.Base, v.Stride
	case v.Bits == 1:
		x.class, x.base = Mask, v.List[0]
	default:
		x.class, x.values = Generic, rows[ValueRow](t.w)
		for i, low := range v.List {
			row := ValueRow{Low: low}
			if len(v.ListHigh) > 0 {
				row.High = v.ListHigh[i]
			}
			addRow(t.w, &row)
		}
	}
	return x
}

// laneAccess is an access of lanes to a state space.
type laneAccess struct {
	event      uint64
	kind       AccessKind
	space      Space
	bytes      uint64     // bytes accessed by each lane
	lanes      uint64     // accessing lanes; at least one
	addr       [64]uint64 // addresses in the state space, by lane
	lengths    [64]uint64 // accessed bytes by lane: less than bytes at the end of memory; for st.bulk its length
	bulk       bool       // the access of an st.bulk
	frame      bool       // for space Param: parameters of a call
	allocation int32      // row of the table allocations; -1: none
	warpSize   int
	left       []byte // bytes that an atomic has left in global memory, those of the lowest lane first; nil: not recorded
}

// addAccesses records an access of lanes to several state spaces: a row for each. Its stored elements are recorded if all lanes access
// one state space.
func (t *tables) addAccesses(q *laneAccess, lanes [spaceCount]uint64, allocations [spaceCount]int32, a *trace.Access) {
	all := uint64(0)
	for _, m := range lanes {
		all |= m
	}
	for k, m := range lanes {
		if m == 0 {
			continue
		}
		stored := a
		if m != all {
			stored = nil
		}
		q.space, q.lanes, q.allocation = Space(k), m, allocations[k]
		t.addAccess(q, stored)
	}
}

// addAccess records an access. stored has the elements that the access stores; nil if they belong to several accesses.
func (t *tables) addAccess(q *laneAccess, stored *trace.Access) {
	addr := trace.NewValue("", 64, q.lanes, q.addr[:], nil)
	v := t.addValue(&addr)
	row := AccessRow{Event: q.event, Kind: q.kind, Space: q.space, Bytes: uint32(q.bytes), Lanes: q.lanes, Class: v.class, Base: v.base, Stride: v.stride, Values: v.values, Allocation: q.allocation}
	if q.bulk {
		row.Bytes = 0
	}
	t.countTransactions(&row, q)
	at := addRow(t.w, &row)
	if q.space == Global && len(q.left) > 0 {
		addRow(t.w, &WriteRow{at, uint64(len(q.left)), t.w.addData(q.left)})
	}
	if stored == nil {
		return
	}
	for compare, list := range [][]trace.Value{stored.Store, stored.Compare} {
		for i := range list {
			v := t.addValue(&list[i])
			addRow(t.w, &StoreRow{at, uint8(compare), uint8(list[i].Bits), v.class, v.base, v.stride, v.values})
		}
	}
	if len(stored.Data) > 0 {
		addRow(t.w, &WriteRow{at, uint64(len(stored.Data)), t.w.addData(stored.Data)})
	}
}

// countTransactions sets the transactions of an access, as package profile counts them.
func (t *tables) countTransactions(row *AccessRow, q *laneAccess) {
	switch q.space {
	case Shared:
		passes := int64(0)
		if q.bulk || q.bytes > coalesce.LineBytes {
			for m := q.lanes; m != 0; m &= m - 1 {
				passes += coalesce.RangePasses(q.lengths[lowest(m)])
			}
		} else if q.bytes > 0 {
			passes, _ = t.conflicts.Passes(q.addr[:], q.lanes, int(q.bytes), q.kind == Atomic)
		}
		row.Passes = uint32(passes)
	case Const, Param: // kernel parameters are in constant memory; parameters of calls are mostly in registers
		if q.space == Param && q.frame {
			return
		}
		row.Passes = uint32(coalesce.DistinctWords(q.addr[:], q.lanes))
	case Global, Local:
		t.lines.Reset()
		ranges := int64(0)
		for m := q.lanes; m != 0; m &= m - 1 {
			switch lane := lowest(m); {
			case q.space == Local:
				t.lines.TouchLocal(q.addr[lane], int(q.lengths[lane]), lane, q.warpSize)
			case q.bulk || q.lengths[lane] > coalesce.LineBytes: // not coalesced with other lanes
				sectors, _ := coalesce.Range(q.addr[lane], q.lengths[lane])
				ranges += sectors
			default:
				t.lines.Touch(q.addr[lane], int(q.bytes))
			}
		}
		row.Sectors = uint32(int64(t.lines.Sectors()) + ranges)
	}
}

// lowest returns the lowest lane of a set.
func lowest(lanes uint64) int { return bits.TrailingZeros64(lanes) & 63 }
