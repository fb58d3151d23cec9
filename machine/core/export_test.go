package core

import "fmt"

// CheckAssists returns an error if a controller of assist warps of a machine exceeds its limits, or if its counts contradict its table.
func CheckAssists(m *Machine) error {
	for _, r := range m.runs {
		for _, s := range r.sms {
			if s.assists == nil {
				continue
			}
			if err := s.assists.check(len(s.schedulers)); err != nil {
				return fmt.Errorf("multiprocessor %d after cycle %d: %w", s.number, m.now, err)
			}
		}
	}
	return nil
}

// check returns an error if a limit is exceeded.
func (a *assists) check(width int) error {
	low, stores, deployed := 0, len(a.unsent)+len(a.combined), 0
	blocked := uint64(0)
	var misses [maxSlots]int
	for p := range a.table {
		for slot := range a.table[p] {
			q := &a.table[p][slot]
			list := q.waiting
			for _, w := range q.waiting {
				if w.staged > 0 || w.next > 0 {
					return fmt.Errorf("slot %d has instructions of a second assist warp of priority %d in the instruction buffer", slot, p)
				}
			}
			if w := q.deployed; w != nil {
				list = append([]*assistWarp{w}, list...)
				deployed++
				if w.staged < 0 || w.staged > width || w.next+w.staged > len(w.Path) {
					return fmt.Errorf("%d staged instructions after %d of %d", w.staged, w.next, len(w.Path))
				}
				if p == 0 {
					low += w.staged
				} else {
					blocked |= 1 << slot
				}
			}
			if (len(list) > 0) != (a.used[p]>>slot&1 > 0) {
				return fmt.Errorf("slot %d has %d assist warps of priority %d, used %x", slot, len(list), p, a.used[p])
			}
			for _, w := range list {
				if w.slot != slot || priority(w.high) != p {
					return fmt.Errorf("an assist warp of slot %d is in the table of slot %d", w.slot, slot)
				}
				if w.miss {
					misses[slot]++
				}
				if w.store != nil && !w.merges {
					stores++
				}
			}
		}
	}
	switch {
	case low > stagedLow || low != a.low:
		return fmt.Errorf("%d staged instructions of low priority, counted %d", low, a.low)
	case blocked != a.blocked:
		return fmt.Errorf("parents %x wait, counted %x", blocked, a.blocked)
	case deployed != len(a.deployed):
		return fmt.Errorf("%d deployed assist warps, counted %d", deployed, len(a.deployed))
	case stores != a.buffered:
		return fmt.Errorf("%d stores in the buffer, counted %d", stores, a.buffered)
	}
	for slot, n := range misses {
		if n > maxMisses || n != a.misses[slot].warps {
			return fmt.Errorf("slot %d has %d assist warps for misses, counted %d", slot, n, a.misses[slot].warps)
		}
	}
	return nil
}
