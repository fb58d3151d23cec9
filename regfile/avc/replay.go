package avc

import "fmt"

// Schedule says how the streams of warps are interleaved, and where their words lie.
type Schedule struct {
	Regs       int  // registers of a thread: how many warps are resident
	Greedy     bool // the same warp until it ends, in place of one instruction of each in turn
	WarpByWarp bool // a warp's words lie side by side, in place of a word's warps
	WholeCTAs  bool // only as many warps are resident as make whole CTAs, at least one
}

// The multiprocessor of table 2.
const (
	MaxWarps  = 48
	Registers = 512 // of a vector each
)

// Resident is how many warps of a thread's registers are resident: at least one.
func Resident(regs int) int { return max(1, min(MaxWarps, Registers/max(regs, 1))) }

// Outcome is what a replay has counted.
type Outcome struct {
	Stats
	Instructions int64 // of warps
}

// PerInstruction is traffic by instructions: blocks of 128 bytes to each of a warp.
func (o *Outcome) PerInstruction() float64 {
	if o.Instructions == 0 {
		return 0
	}
	return float64(o.Traffic()) / float64(o.Instructions)
}

// slot is a place for a resident warp.
type slot struct {
	warp    *Warp
	start   int64             // the turn in which it began
	next    int               // access
	written map[uint32]uint32 // by word: lanes that the warp has stored to
}

// Replay runs the launches of a kernel through caches. Each load has to give what was
// recorded, in lanes that the warp has stored to: an error is a bug of the caches.
func Replay(k *Kernel, c Config, s Schedule) (*Outcome, error) {
	r := &replay{caches: NewCaches(c), schedule: s}
	r.frame = LineVectors
	for _, l := range k.Launches {
		for _, w := range l.Warps {
			for i := range w.Accesses {
				for int(w.Accesses[i].Word) >= r.frame {
					r.frame *= 2
				}
			}
		}
	}
	for _, l := range k.Launches {
		if err := r.launch(l, r.access); err != nil {
			return nil, fmt.Errorf("BUG: %s: %w", k.Name, err)
		}
	}
	return &Outcome{r.caches.Stats, r.instructions}, nil
}

type replay struct {
	caches       *Caches
	schedule     Schedule
	frame        int // blocks of a warp, with WarpByWarp
	slots        []slot
	instructions int64
}

// launch runs the warps of a launch: those that are resident, and as each ends another in its slot. What
// they do next is done by access.
func (r *replay) launch(l *Recording, access func(at int, s *slot) error) error {
	n := Resident(r.schedule.Regs)
	if r.schedule.WholeCTAs && l.PerCTA > 0 {
		n = max(l.PerCTA, n/l.PerCTA*l.PerCTA)
	}
	r.slots = make([]slot, n)
	warps := l.Warps
	fill := func(s *slot, turn int64) {
		*s = slot{start: turn}
		if len(warps) > 0 {
			s.warp, s.written = warps[0], map[uint32]uint32{}
			r.instructions += warps[0].Instructions
			warps = warps[1:]
		}
	}
	for i := range r.slots {
		fill(&r.slots[i], 0)
	}
	first := 0
	for {
		// The slot that does something next: an access, or its warp ends. In one turn
		// they come in order. Greedily the present one goes on alone, and then the one behind it.
		at, turn := -1, int64(0)
		for k := range r.slots {
			i := (first + k) % len(r.slots)
			s := &r.slots[i]
			if s.warp == nil {
				continue
			}
			t := s.start + s.warp.Instructions
			if s.next < len(s.warp.Accesses) {
				t = s.start + s.warp.Accesses[s.next].Step
			}
			if at < 0 || t < turn {
				at, turn = i, t
			}
			if r.schedule.Greedy {
				first = at
				break
			}
		}
		if at < 0 {
			return nil
		}
		s := &r.slots[at]
		if s.next == len(s.warp.Accesses) {
			fill(s, turn)
			if r.schedule.Greedy {
				first = at + 1
			}
			continue
		}
		if err := access(at, s); err != nil {
			return err
		}
	}
}

// access does the next access of a slot.
func (r *replay) access(at int, s *slot) error {
	a := &s.warp.Accesses[s.next]
	s.next++
	block := uint64(a.Word)*uint64(len(r.slots)) + uint64(at)
	if r.schedule.WarpByWarp {
		block = uint64(at)*uint64(r.frame) + uint64(a.Word)
	}
	d := s.warp.Vector(a)
	if a.Store {
		r.caches.Write(block, a.Mask, &d)
		s.written[a.Word] |= a.Mask
		return nil
	}
	got := r.caches.Read(block, a.Mask)
	for lane := range Lanes {
		if a.Mask&s.written[a.Word]>>lane&1 != 0 && got[lane] != d[lane] {
			return fmt.Errorf("word %d, lane %d: %#x was stored, and the caches have %#x", a.Word, lane, d[lane], got[lane])
		}
	}
	return nil
}
