package trace

// This file implements the index of a log: positions of entries at which a reader can begin.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// index holds the places of all launches, of their ends, and of CTAs at distances of about a megabyte (frameBytes) of
// entries.
type index struct{ places []Place }

// PlaceKind is the kind of entry at a Place.
type PlaceKind uint64

// The kinds of place.
const (
	CTAPlace    PlaceKind = iota // a CTA entry
	LaunchPlace                  // a Launch entry
	EndPlace                     // the End of a launch
	placeKinds
)

// Place is the position of an entry. In a Binary log, Offset is the offset of the entry's zstd frame in the file, and FrameOffset
// the offset of the entry in the decompressed frame. In all other logs, Offset is the offset of the entry in the file.
type Place struct {
	Launch, CTA         uint64    // number of the launch; linear index of the CTA, 0 unless Kind is CTAPlace
	Offset, FrameOffset uint64    // in bytes; FrameOffset is 0 in logs without frames
	Kind                PlaceKind // entry at the place
	Records             uint64    // number of records before the entry in the log
	Position            uint64    // number of bytes of entries before the entry, decompressed
}

// placeWords has the words of a text index for places of launches and ends. A place of a text index is a line: index LAUNCH CTA
// OFFSET RECORDS. For launches and ends, CTA is "launch" or "end".
var placeWords = [placeKinds]string{"", "launch", "end"}

func (p *Place) appendLine(b []byte) []byte {
	part := placeWords[p.Kind]
	if part == "" {
		part = strconv.FormatUint(p.CTA, 10)
	}
	return fmt.Appendf(b, "%s %d %s %d %d\n", indexWord, p.Launch, part, p.Offset, p.Records)
}

// indexWord begins the lines of an index.
const indexWord = "index"

// parseLine parses a line of an index. ok is false for all other lines, and for lines of an index of version 1.
func (p *Place) parseLine(line string) (ok bool) {
	w := strings.Fields(line)
	if len(w) != 5 || w[0] != indexWord {
		return false
	}
	if k := slices.Index(placeWords[1:], w[2]); k >= 0 {
		p.Kind, w[2] = PlaceKind(k+1), "0"
	}
	for i, number := range []*uint64{&p.Launch, &p.CTA, &p.Offset, &p.Records} {
		n, err := strconv.ParseUint(w[i+1], 10, 64)
		if err != nil {
			return false
		}
		*number = n
	}
	p.Position = p.Offset
	return true
}

// ReadIndex reads the index at the end of a log. It returns nil if there is none: in Bare logs, logs of version
// 1, and truncated logs.
func ReadIndex(r io.ReaderAt, size int64) ([]Place, error) {
	var tail [16]byte
	if size < 24 {
		return nil, nil
	}
	if _, err := r.ReadAt(tail[:], size-16); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint64(tail[:]))
	if string(tail[8:]) != indexMagic || n < 24 || n > min(size, maxEntry) {
		return textIndex(r, size)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-n); err != nil {
		return nil, err
	}
	x := &index{}
	if err := indexMessage.parse(b[8:n-16], x); err != nil {
		return nil, err
	}
	return x.checked(), nil
}

// textIndex reads the index of a text log: the lines after the finish entry.
func textIndex(r io.ReaderAt, size int64) ([]Place, error) {
	head := make([]byte, len(magic))
	if _, err := r.ReadAt(head, 0); err != nil || string(head) != magic {
		return nil, err
	}
	for n := min(size, 1<<16); ; n = min(size, 4*n) {
		b := make([]byte, n)
		if _, err := r.ReadAt(b, size-n); err != nil {
			return nil, err
		}
		position := bytes.LastIndex(b, []byte("\nfinish "))
		if position < 0 && (n == size || n > maxEntry || !bytes.Contains(b, []byte("\n"+indexWord+" "))) {
			return nil, nil
		}
		if position < 0 {
			continue
		}
		x := &index{}
		for i, line := range strings.Split(strings.TrimSpace(string(b[position:])), "\n") {
			var p Place
			switch {
			case i == 0: // finish
			case !p.parseLine(line):
				return nil, nil
			default:
				x.places = append(x.places, p)
			}
		}
		return x.checked(), nil
	}
}

// checked returns the places if they have valid kinds, ascend, and begin with a launch. Otherwise it returns nil, as for
// indices of version 1, which do not begin with a launch.
func (x *index) checked() []Place {
	for i, p := range x.places {
		if p.Kind >= placeKinds || i == 0 && p.Kind != LaunchPlace || i > 0 && (p.Position <= x.places[i-1].Position || p.Records < x.places[i-1].Records || p.Offset < x.places[i-1].Offset) {
			return nil
		}
	}
	return x.places
}
