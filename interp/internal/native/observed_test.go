package native

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// TestLoggedAccesses checks the log of loads and stores, lane by lane: an entry has all addresses and the state of the warp, and of a
// store the stored bytes and the bytes before it; without an entry, because a lane is outside the window, the window is closed or the
// log is full, machine code exits before the access.
func TestLoggedAccesses(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 11))
	outcomes := map[string]int{}
	for range part.Count(3000, 6000, 200000) {
		r := newAccessHarness(rand.New(rand.NewPCG(rng.Uint64(), 0)), rng, []string{"element", "vector", "local", "fixed"}[rng.IntN(4)])
		if !CanLog(r.in, r.access) {
			continue
		}
		m := append(masks, rng.Uint32()|1, regfile.Full)[rng.IntN(len(masks)+2)]
		exits := make([]byte, len(r.prog.Instrs))
		exits[0] = MayLog
		c := New(r.prog).WithExits(exits)
		changed := false
		ctx := &Context{Mask: m, ReconvergeAt: int32(rng.IntN(9)) - 1, CountLimit: 1 << 40, Count: rng.Int64N(1000)}
		ctx.ExitBranches = rng.Int64N(10)
		before := *ctx
		ctx.SetMemory(r.hits, r.shared, &changed)
		ctx.SetLocal(r.local, r.localFrom, r.localTo, r.frame)
		if !c.Ready(ctx) {
			t.Fatal("the host does not execute the code")
		}
		var addresses [regfile.Lanes]uint64
		least, most := ^uint64(0), uint64(0)
		for lane := range addresses {
			if r.access.Addr == code.NoSlot {
				addresses[lane] = r.access.Offset
			} else if r.access.Addr == code.R {
				addresses[lane] = uint64(r.file.Src32(r.in.A)[lane] + uint32(r.access.Offset))
			} else {
				addresses[lane] = r.file.Src64(r.in.A)[lane] + r.access.Offset
			}
			if m>>lane&1 != 0 {
				least, most = min(least, addresses[lane]), max(most, addresses[lane])
			}
		}
		log := NewAccessLog(1, r.access.Store)
		window := AccessWindow{Begin: least, Last: most - least}
		switch rng.IntN(6) {
		case 0:
			window.Begin++
		case 1:
			window.Begin, window.Last = window.Begin-16, window.Last+15
		case 2:
			window.Begin, window.Last = 0, 1<<63-1
		}
		word := int64(rng.IntN(4) / 3)
		if word != 0 || rng.IntN(2) == 0 {
			window.Closed = &word
		}
		marks, marked := []byte(nil), true // all loaded bytes have the mark
		bytes := uint64(r.access.Size * len(r.access.Elems))
		if size := window.Last + bytes; window.Last < 1<<20 && (bytes < 3 || bytes%4 == 0) && rng.IntN(2) == 0 {
			marks = make([]byte, size)
			mark := byte(rng.IntN(2) * 255)
			window.Mark, window.Bytes, window.Marks = uint32(mark)*0x01010101, uint32(bytes), &marks[0]
			for i := range marks {
				marks[i] = mark
			}
			at, lane := rng.Uint64N(size), bits.TrailingZeros32(m) // a byte with another mark, mostly one that a lane loads
			if offset := addresses[lane] - window.Begin + rng.Uint64N(bytes); offset < size && rng.IntN(4) > 0 {
				at = offset
			}
			if rng.IntN(2) == 0 {
				marks[at] ^= 1 << rng.IntN(8)
			}
			for lane, addr := range addresses {
				if begin := addr - window.Begin; m>>lane&1 != 0 && begin <= window.Last {
					for _, b := range marks[begin:][:bytes] {
						marked = marked && b == mark
					}
				}
			}
		}
		quiet := int64(rng.IntN(4) / 3)
		if quiet != 0 || rng.IntN(2) == 0 {
			window.Quiet = &quiet
		}
		open, logged, full := rng.IntN(8) > 0, rng.IntN(4) > 0, rng.IntN(8) == 0
		memory := []byte(nil)
		if size := window.Last + bytes; r.access.Store && window.Last < 1<<20 {
			memory = make([]byte, size)
			for i := range memory {
				memory[i] = byte(rng.Uint32())
			}
			window.Memory, window.Bytes = &memory[0], uint32(bytes)
		} else if r.access.Store {
			logged = false
		}
		if open {
			log.Open(0, window, logged)
		}
		first := rng.IntN(logCapacity)
		if log.used = uint64(first) * uint64(LoggedAccessBytes); full {
			log.used = log.limit
		}
		ctx.SetLog(log)
		inside := true
		for lane, addr := range addresses {
			if offset := addr - window.Begin; m>>lane&1 != 0 && (offset>>63 != 0 || window.Last>>63 != 0 || offset > window.Last) {
				inside = false
			}
		}
		var stored [regfile.Lanes][]byte // later instructions may change the registers
		for lane := range stored {
			for _, e := range r.access.Elems {
				v := []byte(nil)
				switch {
				case !r.access.Store:
				case e.Slot == code.R:
					v = binary.LittleEndian.AppendUint32(v, r.file.Src32(e.Row)[lane])
				default:
					v = binary.LittleEndian.AppendUint64(v, r.file.Src64(e.Row)[lane])
				}
				stored[lane] = append(stored[lane], v[:min(len(v), r.access.Size)]...)
			}
		}
		c.RunBlock(ctx, r.file, 0)
		says := fmt.Sprintf("%+v, lanes %#x, addresses %#x, window %#x+%#x, open %v, closed by %d, full %v", *r.access, m, addresses, window.Begin, window.Last, open, word, full)
		used := int(log.used) / int(LoggedAccessBytes)
		if !inside || !open || word != 0 && !(marks != nil && marked) || full {
			outcomes[fmt.Sprintf("exit: inside %v, open %v, closed by %d, full %v, marks %v", inside, open, word, full, marks != nil)]++
			if ctx.PC != 0 || ctx.Reason != Observed || log.used%uint64(LoggedAccessBytes) != 0 || !full && used != first || full && used != logCapacity {
				t.Fatalf("%s: stopped at %d for %d, and the log has %d entries", says, ctx.PC, ctx.Reason, used)
			}
			continue
		}
		logged = logged && quiet == 0
		outcomes[fmt.Sprintf("no exit: logged %v, quiet %d, closed by %d", logged, quiet, word)]++
		if ctx.Reason == Observed {
			t.Fatalf("%s: it exits before the load", says)
		}
		if !logged {
			if used != first {
				t.Fatalf("%s: the log has %d entries", says, used)
			}
			continue
		}
		list := log.Take()
		if len(list) != first+1 || log.used != 0 {
			t.Fatalf("%s: %d entries", says, len(list))
		}
		count := before.Count + int64(r.prog.Blocks[0].Sources.Len())
		for lane, addr := range addresses {
			if !r.access.Store || m>>lane&1 == 0 {
				continue
			}
			before := memory[addr-window.Begin:][:bytes]
			if s := log.Stored(first); !slices.Equal(s.Before[lane][:bytes], before) || !slices.Equal(s.AppendStored(nil, r.access, lane), stored[lane]) {
				t.Fatalf("%s: lane %d stores %x over %x, logged are %x over %x", says, lane, stored[lane], before, s.AppendStored(nil, r.access, lane), s.Before[lane])
			}
			outcomes[fmt.Sprintf("stored %d elements of %d bytes", len(r.access.Elems), r.access.Size)]++
		}
		if e := list[first]; e.Count != count || e.ExitBranches != before.ExitBranches || e.Mask != m || e.ReconvergeAt != before.ReconvergeAt || e.Number() != 0 || !slices.Equal(e.Addresses[:], addresses[:]) {
			t.Fatalf("%s: the entry is %+v, want count %d, %d exits, reconvergence at %d", says, e, count, before.ExitBranches, before.ReconvergeAt)
		}
	}
	t.Logf("%v", outcomes)
	if len(outcomes) < 24 {
		t.Errorf("only %v", outcomes)
	}
}
