package trace

// This file encodes records of the binary format. Nearly all entries of a log are records, so they have an encoder of their own
// instead of the field tables of wire.go. The tables read records, and encode all other entries.

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The field numbers of records, values and accesses; entryRecord is that of a record in an entry.
const (
	entryRecord = 5

	recordKind     = 1
	recordCTA      = 2
	recordWarp     = 3
	recordSeq      = 4
	recordCode     = 5
	recordLine     = 6
	recordName     = 7
	recordLanes    = 8
	recordActive   = 9
	recordNumbers  = 10
	recordDepth    = 11
	recordResults  = 12
	recordAccesses = 13
	recordNote     = 14

	valueName      = 1
	valueBits      = 2
	valueStructure = 3
	valueBase      = 4
	valueHigh      = 5
	valueStride    = 6
	valueList      = 7
	valueListHigh  = 8

	accessKind    = 1
	accessSpace   = 2
	accessBytes   = 3
	accessLanes   = 4
	accessAddr    = 5
	accessStore   = 6
	accessCompare = 7
	accessData    = 8
)

// boundOfRecord is the number of bytes that most records with their lengths, but without lists, do not exceed. encodeRecord makes
// room for them at once.
const boundOfRecord = 256

// encodeRecord appends a record as an entry, with its length. It omits the parts that follow from its code, which may be nil.
func encodeRecord(b []byte, r *Record, code *Code) []byte {
	size := 1 // bytes that the lengths of the entry and of its record probably take: most have fewer than 128 bytes
	for i := range r.Results {
		size = max(size, lengthOfList(r.Results[i].List))
	}
	for i := range r.Accesses {
		size = max(size, lengthOfList(r.Accesses[i].Addr.List))
		for k := range r.Accesses[i].Store {
			size = max(size, lengthOfList(r.Accesses[i].Store[k].List))
		}
	}
	b, entry := beginDelimited(slices.Grow(b, boundOfRecord), size)
	b, record := beginDelimited(append(b, tagOf(entryRecord, protowire.BytesType)), size)
	b = encodeNumber(b, recordKind, uint64(r.Kind))
	b = encodeNumber(b, recordCTA, r.CTA)
	b = encodeNumber(b, recordWarp, r.Warp)
	b = encodeNumber(b, recordSeq, r.Seq)
	b = encodeNumber(b, recordCode, r.Code)
	if code == nil {
		b = encodeNumber(b, recordLine, r.Line)
		b = encodeText(b, recordName, r.Name)
	}
	b = encodeMask(b, recordLanes, r.Lanes)
	if r.Active != r.Lanes {
		b = encodeMask(b, recordActive, r.Active)
	}
	if r.Numbers != nil {
		b = encodeValue(b, recordNumbers, r.Numbers, "", 0)
	}
	b = encodeNumber(b, recordDepth, r.Depth)
	for i := range r.Results {
		v := &r.Results[i]
		name, width := v.Name, v.Bits
		if code != nil && i < len(code.Writes) && name == code.Writes[i].Name && width == code.Writes[i].Bits {
			name, width = "", 0
		}
		b = encodeValue(b, recordResults, v, name, width)
	}
	for i := range r.Accesses {
		b = encodeAccess(b, recordAccesses, &r.Accesses[i])
	}
	b = encodeText(b, recordNote, r.Note)
	return endDelimited(endDelimited(b, record, size), entry, size)
}

// lengthOfList returns the number of bytes that the length of a list probably takes. It looks at the first element only.
func lengthOfList(list []uint64) int {
	if len(list) > 12 && len(list)*protowire.SizeVarint(list[0]) >= 128 {
		return 2
	}
	return 1
}

// encodeValue appends a value as field n, with a name and a width if they do not follow from the context.
func encodeValue(b []byte, n protowire.Number, v *Value, name string, width uint64) []byte {
	size := lengthOfList(v.List)
	b, start := beginDelimited(append(b, tagOf(n, protowire.BytesType)), size)
	b = encodeText(b, valueName, name)
	b = encodeNumber(b, valueBits, width)
	b = encodeNumber(b, valueStructure, uint64(v.Structure))
	b = encodeNumber(b, valueBase, v.Base)
	b = encodeNumber(b, valueHigh, v.High)
	b = encodeNumber(b, valueStride, protowire.EncodeZigZag(v.Stride))
	b = encodeList(b, valueList, v.List, size)
	b = encodeList(b, valueListHigh, v.ListHigh, size)
	return endDelimited(b, start, size)
}

// encodeAccess appends an access as field n. It omits the widths of addresses and elements, which follow from the access.
func encodeAccess(b []byte, n protowire.Number, a *Access) []byte {
	size := lengthOfList(a.Addr.List)
	for k := range a.Store {
		size = max(size, lengthOfList(a.Store[k].List))
	}
	b, start := beginDelimited(append(b, tagOf(n, protowire.BytesType)), size)
	b = encodeNumber(b, accessKind, uint64(a.Kind))
	b = encodeText(b, accessSpace, a.Space)
	b = encodeNumber(b, accessBytes, a.Bytes)
	b = encodeNumber(b, accessLanes, a.Lanes)
	b = encodeValue(b, accessAddr, &a.Addr, a.Addr.Name, 0)
	for k := range a.Store {
		b = encodeValue(b, accessStore, &a.Store[k], a.Store[k].Name, 0)
	}
	for k := range a.Compare {
		b = encodeValue(b, accessCompare, &a.Compare[k], a.Compare[k].Name, 0)
	}
	if len(a.Data) > 0 {
		b = protowire.AppendBytes(append(b, tagOf(accessData, protowire.BytesType)), a.Data)
	}
	return endDelimited(b, start, size)
}

// encodeNumber appends field n, unless its number is 0. Its tag is 8·n, because the wire type of varints is 0.
func encodeNumber(b []byte, n byte, v uint64) []byte {
	if v >= 1<<7 {
		return encodeLongNumber(b, n<<3, v)
	}
	if v != 0 {
		b = append(b, n<<3, byte(v))
	}
	return b
}

// encodeLongNumber appends a tag and a number of at least seven bits.
func encodeLongNumber(b []byte, tag byte, v uint64) []byte {
	b = append(b, tag)
	for ; v >= 1<<7; v >>= 7 {
		b = append(b, byte(v)|1<<7)
	}
	return append(b, byte(v))
}

// encodeMask appends field n, a mask of lanes in eight bytes, unless it is 0.
func encodeMask(b []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.LittleEndian.AppendUint64(append(b, tagOf(n, protowire.Fixed64Type)), v)
}

// encodeText appends field n, unless its text is empty.
func encodeText(b []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(append(b, tagOf(n, protowire.BytesType)), s)
}

// encodeList appends field n, unless its list is empty. size is the number of bytes that its length probably takes.
func encodeList(b []byte, n protowire.Number, list []uint64, size int) []byte {
	if len(list) == 0 {
		return b
	}
	b, start := beginDelimited(append(b, tagOf(n, protowire.BytesType)), size)
	return endDelimited(appendVarints(b, list), start, size)
}

// beginDelimited leaves a gap of size bytes for the length of the message that the caller appends next, and returns the place of
// this message.
func beginDelimited(b []byte, size int) (to []byte, start int) {
	var gap [2]byte
	b = append(b, gap[:size]...)
	return b, len(b)
}

// endDelimited sets the length of the message from start on, for which beginDelimited has left a gap of size bytes. It moves the
// message if its length takes more bytes or fewer.
func endDelimited(b []byte, start, size int) []byte {
	n := len(b) - start
	if n < 1<<7 && size == 1 {
		b[start-1] = byte(n)
		return b
	}
	return endLong(b, start, size)
}

// endLong is endDelimited for any length and gap.
func endLong(b []byte, start, size int) []byte {
	n := len(b) - start
	needed := protowire.SizeVarint(uint64(n))
	if needed > size {
		b = append(b, make([]byte, needed-size)...)
	}
	if needed != size {
		copy(b[start-size+needed:], b[start:start+n])
		b = b[:start-size+needed+n]
	}
	protowire.AppendVarint(b[:start-size], uint64(n))
	return b
}

// appendVarints appends a list of varints.
func appendVarints(b []byte, list []uint64) []byte {
	n := len(b)
	size := binary.MaxVarintLen64 * (len(list) + 1) // a varint of up to 8 bytes is stored as 8 bytes
	b = slices.Grow(b, size)[:n+size]
	for _, v := range list {
		if v >= 1<<56 {
			n = len(protowire.AppendVarint(b[:n], v))
			continue
		}
		// Spread the groups of 7 bits over bytes.
		x := v&0x0fffffff | v&0xfffffff0000000<<4
		x = x&0x00003fff00003fff | x&0x0fffc0000fffc000<<2
		x = x&0x007f007f007f007f | x&0x3f803f803f803f80<<1
		k := protowire.SizeVarint(v)
		binary.LittleEndian.PutUint64(b[n:], x|0x8080808080808080&(1<<(8*k-8)-1))
		n += k
	}
	return b[:n]
}
