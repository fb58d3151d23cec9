package dram

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	"gemu/machine/cache"
)

// Structure is a buffer of a program, for the placement of its pages. The zero value is unknown memory.
type Structure struct {
	Name  string // name of the buffer
	Base  uint64 // first address
	Bytes uint64 // size
}

// Placement decides where data are in memory: the frame of each page, and the zone, channel, bank and row of each physical address. Another
// module can add one (Policy).
type Placement interface {
	// Frame returns the frame of a page of a structure. It is called once for each page, at its first access. No two pages may have the
	// same frame.
	Frame(page uint64, of *Structure) (frame uint64)
	// Zone returns the zone of a physical address, on a machine with zones (Spec.Zones).
	Zone(addr uint64) int
	// Map returns the place of a physical address. With zones, its channel is that in the zone: its remainder by the channels of a zone.
	Map(addr uint64) Place
}

// Policy makes placements. Another module can make one.
type Policy struct {
	Name string // name in parameters
	Doc  string // the frame of a page, for help
	// New returns the placement of pages in an empty memory with an address map.
	New func(s *Spec, m *Map) Placement
}

// PagesSyntax describes the values of the parameter "pages" besides the names of policies.
var PagesSyntax = []string{
	"identity: the frame of a page has its number",
	"random:SEED: random frames, which the number SEED selects",
	"first-touch: ascending frames, in the order of the first accesses",
}

// standard is a placement by Spec.Pages.
type standard struct {
	m      *Map
	zones  int
	next   uint64            // number of frames that are used
	frames uint64            // number of frames in the memory
	random *rand.Rand        // nil: frames in ascending order
	moved  map[uint64]uint64 // if random: frames that the shuffle has exchanged, by position
	same   bool              // identity
}

// newStandard returns the placement of Spec.Pages.
func newStandard(s *Spec, m *Map) (*standard, error) {
	p := &standard{m: m, zones: max(s.Zones, 1), frames: m.Bytes / uint64(s.PageBytes)}
	kind, value, hasValue := strings.Cut(s.Pages, ":")
	switch {
	case s.Pages == "identity":
		p.same = true
		return p, nil
	case s.Pages == "first-touch":
	case kind == "random" && hasValue:
		seed, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("pages = %s: want random:SEED with a number from 0 to 2^64-1", s.Pages)
		}
		p.random, p.moved = rand.New(rand.NewPCG(seed, 0)), map[uint64]uint64{}
	default:
		return nil, fmt.Errorf("pages = %s: want identity, random:SEED or first-touch", s.Pages)
	}
	if p.frames == 0 {
		return nil, fmt.Errorf("page = %d: the memory has %d bytes; want a page that fits", s.PageBytes, m.Bytes)
	}
	return p, nil
}

// Frame implements Placement. The random frames are a permutation of all frames: each page takes the next step of a shuffle of them (Fisher
// and Yates). Pages beyond the last frame follow it, which is an error of Pages.
func (p *standard) Frame(page uint64, _ *Structure) uint64 {
	if p.same {
		return page
	}
	frame := p.next
	if p.next++; p.random != nil && frame < p.frames {
		next, other := frame, frame+p.random.Uint64N(p.frames-frame)
		frame = p.at(other)
		p.moved[other] = p.at(next)
	}
	return frame
}

// at returns the frame at a position of the shuffle.
func (p *standard) at(position uint64) uint64 {
	if frame, ok := p.moved[position]; ok {
		return frame
	}
	return position
}

// Zone implements Placement: the exclusive or of all digits of the number of the address's line.
func (p *standard) Zone(addr uint64) int { return cache.XOR(addr/lineBytes, p.zones) }

// Map implements Placement.
func (p *standard) Map(addr uint64) Place { return p.m.Place(addr) }

// Pages is the table of the pages of a memory. A page gets its frame at its first access.
type Pages struct {
	Placement
	// Structure returns the buffer of an address, for the placement of its page; nil: the placement does not know buffers.
	Structure func(addr uint64) Structure

	bits      uint   // of an address in a page
	frames    uint64 // number of frames in the memory; 0: no limit, because pages have their own numbers
	of        map[uint64]uint64
	used      map[uint64]bool // frames
	twice     bool            // two pages have the same frame
	beyond    bool            // a page has a frame beyond the memory
	lastPage  uint64          // page of the latest access, and its frame
	lastFrame uint64
	channels  int // of a zone
	zones     int
}

// NewPages returns the table of an empty memory. The spec must pass its Check.
func NewPages(s Spec) *Pages {
	m, err := s.AddressMap()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	p := &Pages{bits: uint(bits.TrailingZeros(uint(s.PageBytes))), of: map[uint64]uint64{}, used: map[uint64]bool{}, zones: max(s.Zones, 1)}
	p.channels = m.Channels / p.zones
	p.frames = m.Bytes >> p.bits
	if s.Policy != nil {
		p.Placement = s.Policy.New(&s, m)
		return p
	}
	standard, err := newStandard(&s, m)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	if standard.same {
		p.frames = 0
	}
	p.Placement = standard
	return p
}

// Physical returns the physical address of a virtual address.
func (p *Pages) Physical(addr uint64) uint64 {
	if p.frames == 0 {
		return addr
	}
	page := addr >> p.bits
	if page != p.lastPage || len(p.of) == 0 {
		p.lastPage, p.lastFrame = page, p.frame(page, addr)
	}
	return p.lastFrame<<p.bits | addr&(1<<p.bits-1)
}

// Place returns the place of a virtual address.
func (p *Pages) Place(addr uint64) Place {
	physical := p.Physical(addr)
	place := p.Map(physical)
	if p.zones > 1 {
		place.Channel = p.Zone(physical)*p.channels + place.Channel%p.channels
	}
	return place
}

// frame returns the frame of a page.
func (p *Pages) frame(page, addr uint64) uint64 {
	frame, ok := p.of[page]
	if ok {
		return frame
	}
	of := new(Structure)
	if p.Structure != nil {
		*of = p.Structure(addr)
	}
	frame = p.Frame(page, of)
	p.twice = p.twice || p.used[frame]
	p.beyond = p.beyond || frame >= p.frames
	p.used[frame], p.of[page] = true, frame
	return frame
}

// Err returns an error if there are more pages than frames, or if two pages have the same frame, so that places are those of another memory.
func (p *Pages) Err() error {
	switch {
	case p.twice:
		return errors.New("the placement of pages has given a frame to two pages")
	case p.beyond:
		return fmt.Errorf("the L2 transfers data of %d pages of %d bytes, and the memory has %d frames: want a larger dram.rows, dram.row, dram.banks or dram.channels", len(p.of), 1<<p.bits, p.frames)
	}
	return nil
}
