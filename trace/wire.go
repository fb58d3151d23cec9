package trace

// This file implements the binary format: the fields of the messages and their encoding. trace.proto describes the same
// messages for programs outside gemu.

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is a field of a message whose Go type is T.
type field[T any] struct {
	number protowire.Number
	name   string
	typ    string // type in the .proto file
	wire   protowire.Type
	append func(b []byte, f *field[T], t *T) []byte // appends the field of t to b; nil for types that only records have: see encode.go
	set    func(t *T, n uint64, b []byte) error     // sets the field of t: to n for varints and fixed-size fields, to b for length-delimited fields
}

// tag appends the tag of the field.
func (f *field[T]) tag(b []byte) []byte { return append(b, tagOf(f.number, f.wire)) }

// tagOf returns the tag of a field. The number of a field is less than 16, so its tag takes a byte.
func tagOf(n protowire.Number, wire protowire.Type) byte { return byte(protowire.EncodeTag(n, wire)) }

// message is a list of fields, numbered from 1.
type message[T any] []field[T]

// append appends a message.
func (m message[T]) append(b []byte, t *T) []byte {
	for i := range m {
		b = m[i].append(b, &m[i], t)
	}
	return b
}

// parse parses a message. It ignores unknown fields, which come from newer writers.
func (m message[T]) parse(b []byte, t *T) error {
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v uint64
		var data []byte
		switch wire {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, wire, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if number < 1 || int(number) > len(m) {
			continue
		}
		f := &m[number-1]
		if f.wire != wire {
			if f.wire == protowire.BytesType && wire == protowire.VarintType && f.typ == "repeated uint64" { // unpacked
				if err := f.set(t, 0, protowire.AppendVarint(nil, v)); err != nil {
					return err
				}
				continue
			}
			return fmt.Errorf("field %s has the wrong type", f.name)
		}
		if err := f.set(t, v, data); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// The following functions return fields of various types. address returns the address of the field in a Go value.

// number returns a numeric field.
func number[T any](n protowire.Number, name string, address func(t *T) *uint64) field[T] {
	return field[T]{n, name, "uint64", protowire.VarintType,
		func(b []byte, f *field[T], t *T) []byte {
			if v := *address(t); v != 0 {
				b = protowire.AppendVarint(f.tag(b), v)
			}
			return b
		},
		func(t *T, v uint64, _ []byte) error { *address(t) = v; return nil },
	}
}

// mask returns a field with a mask of lanes, which takes eight bytes.
func mask[T any](n protowire.Number, name string, address func(t *T) *uint64) field[T] {
	return field[T]{n, name, "fixed64", protowire.Fixed64Type,
		nil,
		func(t *T, v uint64, _ []byte) error { *address(t) = v; return nil },
	}
}

// signed returns a signed numeric field.
func signed[T any](n protowire.Number, name string, address func(t *T) *int64) field[T] {
	return field[T]{n, name, "sint64", protowire.VarintType,
		nil,
		func(t *T, v uint64, _ []byte) error { *address(t) = protowire.DecodeZigZag(v); return nil },
	}
}

// text returns a field with a text.
func text[T any](n protowire.Number, name string, address func(t *T) *string) field[T] {
	return field[T]{n, name, "string", protowire.BytesType,
		func(b []byte, f *field[T], t *T) []byte {
			if s := *address(t); s != "" {
				b = protowire.AppendString(f.tag(b), s)
			}
			return b
		},
		func(t *T, _ uint64, b []byte) error { *address(t) = string(b); return nil },
	}
}

// data returns a field with bytes.
func data[T any](n protowire.Number, name string, address func(t *T) *[]byte) field[T] {
	return field[T]{n, name, "bytes", protowire.BytesType,
		nil,
		func(t *T, _ uint64, b []byte) error { *address(t) = bytes.Clone(b); return nil },
	}
}

// ranges returns a field with Ranges as text: "0-3,7".
func ranges[T any](n protowire.Number, name string, address func(t *T) *Ranges) field[T] {
	return field[T]{n, name, "string", protowire.BytesType,
		func(b []byte, f *field[T], t *T) []byte {
			if r := *address(t); len(r) > 0 {
				b = protowire.AppendString(f.tag(b), r.String())
			}
			return b
		},
		func(t *T, _ uint64, b []byte) error { return address(t).UnmarshalText(b) },
	}
}

// filterOf returns a field with a Filter, omitted if it is zero.
func filterOf[T any](n protowire.Number, name string, address func(t *T) *Filter) field[T] {
	return field[T]{n, name, "Filter", protowire.BytesType,
		func(b []byte, f *field[T], t *T) []byte {
			if x := address(t); !x.IsZero() {
				b = appendMessage(b, f.number, filterMessage, x)
			}
			return b
		},
		func(t *T, _ uint64, b []byte) error { return filterMessage.parse(b, address(t)) },
	}
}

// texts returns a field with a list of texts.
func texts[T any](n protowire.Number, name string, address func(t *T) *[]string) field[T] {
	return field[T]{n, name, "repeated string", protowire.BytesType,
		func(b []byte, f *field[T], t *T) []byte {
			for _, s := range *address(t) {
				b = protowire.AppendString(f.tag(b), s)
			}
			return b
		},
		func(t *T, _ uint64, b []byte) error { *address(t) = append(*address(t), string(b)); return nil },
	}
}

// numbers returns a field with a list of numbers.
func numbers[T any](n protowire.Number, name string, address func(t *T) *[]uint64) field[T] {
	return field[T]{n, name, "repeated uint64", protowire.BytesType,
		func(b []byte, f *field[T], t *T) []byte {
			return encodeList(b, f.number, *address(t), 1)
		},
		func(t *T, _ uint64, b []byte) error {
			for len(b) > 0 {
				v, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return protowire.ParseError(n)
				}
				*address(t), b = append(*address(t), v), b[n:]
			}
			return nil
		},
	}
}

// appendMessage appends an embedded message with its length.
func appendMessage[T any](b []byte, n protowire.Number, m message[T], t *T) []byte {
	return delimited(append(b, tagOf(n, protowire.BytesType)), func(b []byte) []byte { return m.append(b, t) })
}

// delimited appends a length and a message of this length, which appendContent appends.
func delimited(b []byte, appendContent func(b []byte) []byte) []byte {
	b, start := beginDelimited(b, 1)
	return endDelimited(appendContent(b), start, 1)
}

// optional returns a field with a message that may be absent.
func optional[T, U any](n protowire.Number, name, typ string, m message[U], address func(t *T) **U) field[T] {
	return field[T]{n, name, typ, protowire.BytesType,
		func(b []byte, f *field[T], t *T) []byte {
			if u := *address(t); u != nil {
				b = appendMessage(b, f.number, m, u)
			}
			return b
		},
		func(t *T, _ uint64, b []byte) error { *address(t) = new(U); return m.parse(b, *address(t)) },
	}
}

// required returns a field with a message that is always present.
func required[T, U any](n protowire.Number, name, typ string, m message[U], address func(t *T) *U) field[T] {
	return field[T]{n, name, typ, protowire.BytesType,
		nil,
		func(t *T, _ uint64, b []byte) error { return m.parse(b, address(t)) },
	}
}

// repeated returns a field with a list of messages.
func repeated[T, U any](n protowire.Number, name, typ string, m message[U], address func(t *T) *[]U) field[T] {
	return field[T]{n, name, "repeated " + typ, protowire.BytesType,
		func(b []byte, f *field[T], t *T) []byte {
			for i := range *address(t) {
				b = appendMessage(b, f.number, m, &(*address(t))[i])
			}
			return b
		},
		func(t *T, _ uint64, b []byte) error {
			*address(t) = append(*address(t), *new(U))
			return m.parse(b, &(*address(t))[len(*address(t))-1])
		},
	}
}

// The messages.
var (
	headerMessage = message[Header]{
		number(1, "version", func(h *Header) *uint64 { return &h.Version }),
		text(2, "by", func(h *Header) *string { return &h.Simulator }),
		texts(3, "lacks", func(h *Header) *[]string { return &h.Missing }),
		filterOf(4, "filter", func(h *Header) *Filter { return &h.Filter }),
	}
	filterMessage = message[Filter]{
		text(1, "kernel", func(f *Filter) *string { return &f.Kernel }),
		ranges(2, "ctas", func(f *Filter) *Ranges { return &f.CTAs }),
		ranges(3, "warps", func(f *Filter) *Ranges { return &f.Warps }),
		ranges(4, "lines", func(f *Filter) *Ranges { return &f.Lines }),
		texts(5, "classes", func(f *Filter) *[]string { return &f.Classes }),
	}
	launchMessage = message[Launch]{
		number(1, "number", func(l *Launch) *uint64 { return &l.Number }),
		text(2, "kernel", func(l *Launch) *string { return &l.Kernel }),
		text(3, "file", func(l *Launch) *string { return &l.File }),
		numbers(4, "grid", func(l *Launch) *[]uint64 { return &l.Grid }),
		numbers(5, "block", func(l *Launch) *[]uint64 { return &l.Block }),
		numbers(6, "cluster", func(l *Launch) *[]uint64 { return &l.Cluster }),
		number(7, "warp_size", func(l *Launch) *uint64 { return &l.WarpSize }),
		text(8, "reconverge", func(l *Launch) *string { return &l.Reconverge }),
	}
	registerMessage = message[Register]{
		text(1, "name", func(r *Register) *string { return &r.Name }),
		number(2, "bits", func(r *Register) *uint64 { return &r.Bits }),
		text(3, "type", func(r *Register) *string { return &r.Type }),
	}
	codeMessage = message[Code]{
		number(1, "index", func(c *Code) *uint64 { return &c.Index }),
		text(2, "func", func(c *Code) *string { return &c.Func }),
		number(3, "line", func(c *Code) *uint64 { return &c.Line }),
		number(4, "column", func(c *Code) *uint64 { return &c.Column }),
		text(5, "class", func(c *Code) *string { return &c.Class }),
		text(6, "text", func(c *Code) *string { return &c.Text }),
		repeated(7, "writes", "Register", registerMessage, func(c *Code) *[]Register { return &c.Writes }),
		repeated(8, "reads", "Register", registerMessage, func(c *Code) *[]Register { return &c.Reads }),
		texts(9, "flags", func(c *Code) *[]string { return &c.Flags }),
	}
	ctaMessage = message[CTA]{
		number(1, "number", func(c *CTA) *uint64 { return &c.Number }),
		numbers(2, "id", func(c *CTA) *[]uint64 { return &c.ID }),
	}
	valueMessage = message[Value]{
		text(valueName, "name", func(v *Value) *string { return &v.Name }),
		number(valueBits, "bits", func(v *Value) *uint64 { return &v.Bits }),
		number(valueStructure, "structure", func(v *Value) *uint64 { return (*uint64)(&v.Structure) }),
		number(valueBase, "base", func(v *Value) *uint64 { return &v.Base }),
		number(valueHigh, "high", func(v *Value) *uint64 { return &v.High }),
		signed(valueStride, "stride", func(v *Value) *int64 { return &v.Stride }),
		numbers(valueList, "list", func(v *Value) *[]uint64 { return &v.List }),
		numbers(valueListHigh, "list_high", func(v *Value) *[]uint64 { return &v.ListHigh }),
	}
	accessMessage = message[Access]{
		number(accessKind, "kind", func(a *Access) *uint64 { return (*uint64)(&a.Kind) }),
		text(accessSpace, "space", func(a *Access) *string { return &a.Space }),
		number(accessBytes, "bytes", func(a *Access) *uint64 { return &a.Bytes }),
		number(accessLanes, "lanes", func(a *Access) *uint64 { return &a.Lanes }),
		required(accessAddr, "addr", "Value", valueMessage, func(a *Access) *Value { return &a.Addr }),
		repeated(accessStore, "store", "Value", valueMessage, func(a *Access) *[]Value { return &a.Store }),
		repeated(accessCompare, "compare", "Value", valueMessage, func(a *Access) *[]Value { return &a.Compare }),
		data(accessData, "data", func(a *Access) *[]byte { return &a.Data }),
	}
	recordMessage = message[Record]{
		number(recordKind, "kind", func(r *Record) *uint64 { return (*uint64)(&r.Kind) }),
		number(recordCTA, "cta", func(r *Record) *uint64 { return &r.CTA }),
		number(recordWarp, "warp", func(r *Record) *uint64 { return &r.Warp }),
		number(recordSeq, "seq", func(r *Record) *uint64 { return &r.Seq }),
		number(recordCode, "code", func(r *Record) *uint64 { return &r.Code }),
		number(recordLine, "line", func(r *Record) *uint64 { return &r.Line }),
		text(recordName, "name", func(r *Record) *string { return &r.Name }),
		mask(recordLanes, "lanes", func(r *Record) *uint64 { return &r.Lanes }),
		mask(recordActive, "active", func(r *Record) *uint64 { return &r.Active }),
		optional(recordNumbers, "numbers", "Value", valueMessage, func(r *Record) **Value { return &r.Numbers }),
		number(recordDepth, "depth", func(r *Record) *uint64 { return &r.Depth }),
		repeated(recordResults, "results", "Value", valueMessage, func(r *Record) *[]Value { return &r.Results }),
		repeated(recordAccesses, "accesses", "Access", accessMessage, func(r *Record) *[]Access { return &r.Accesses }),
		text(recordNote, "note", func(r *Record) *string { return &r.Note }),
	}
	endMessage = message[End]{
		number(1, "number", func(e *End) *uint64 { return &e.Number }),
		text(2, "error", func(e *End) *string { return &e.Error }),
	}
	finishMessage = message[Finish]{number(1, "records", func(f *Finish) *uint64 { return &f.Records })}

	entryMessage = message[entryUnion]{
		optional(1, "header", "Header", headerMessage, func(e *entryUnion) **Header { return &e.header }),
		optional(2, "launch", "Launch", launchMessage, func(e *entryUnion) **Launch { return &e.launch }),
		optional(3, "code", "Code", codeMessage, func(e *entryUnion) **Code { return &e.code }),
		optional(4, "cta", "CTA", ctaMessage, func(e *entryUnion) **CTA { return &e.cta }),
		optional(entryRecord, "record", "Record", recordMessage, func(e *entryUnion) **Record { return &e.record }),
		optional(6, "end", "End", endMessage, func(e *entryUnion) **End { return &e.end }),
		optional(7, "finish", "Finish", finishMessage, func(e *entryUnion) **Finish { return &e.finish }),
	}

	placeMessage = message[Place]{
		number(1, "launch", func(p *Place) *uint64 { return &p.Launch }),
		number(2, "cta", func(p *Place) *uint64 { return &p.CTA }),
		number(3, "offset", func(p *Place) *uint64 { return &p.Offset }),
		number(4, "skip", func(p *Place) *uint64 { return &p.FrameOffset }),
		number(5, "kind", func(p *Place) *uint64 { return (*uint64)(&p.Kind) }),
		number(6, "records", func(p *Place) *uint64 { return &p.Records }),
		number(7, "at", func(p *Place) *uint64 { return &p.Position }),
	}
	indexMessage = message[index]{repeated(1, "places", "Place", placeMessage, func(x *index) *[]Place { return &x.places })}
)

// entryUnion is the message form of an Entry.
type entryUnion struct {
	header *Header
	launch *Launch
	code   *Code
	cta    *CTA
	record *Record
	end    *End
	finish *Finish
}

// protobuf is the codec of the binary format.
type protobuf struct{}

// append appends an entry. It omits the parts of a record that follow from its code.
func (protobuf) append(b []byte, e Entry, code *Code) []byte {
	if r, ok := e.(*Record); ok {
		return encodeRecord(b, r, code)
	}
	var all entryUnion
	switch e := e.(type) {
	case *Header:
		all.header = e
	case *Launch:
		all.launch = e
	case *Code:
		all.code = e
	case *CTA:
		all.cta = e
	case *End:
		all.end = e
	case *Finish:
		all.finish = e
	}
	return delimited(b, func(b []byte) []byte { return entryMessage.append(b, &all) })
}

// parse parses an entry.
func (protobuf) parse(b []byte) (Entry, error) {
	var all entryUnion
	if err := entryMessage.parse(b, &all); err != nil {
		return nil, err
	}
	var found Entry
	n := 0
	for _, e := range []Entry{all.header, all.launch, all.code, all.cta, all.record, all.end, all.finish} {
		if !isNilEntry(e) {
			found = e
			n++
		}
	}
	if n != 1 {
		return nil, fmt.Errorf("an entry must have one kind, but has %d", n)
	}
	return found, nil
}

// isNilEntry reports whether an entry is a nil pointer.
func isNilEntry(e Entry) bool {
	switch e := e.(type) {
	case *Header:
		return e == nil
	case *Launch:
		return e == nil
	case *Code:
		return e == nil
	case *CTA:
		return e == nil
	case *Record:
		return e == nil
	case *End:
		return e == nil
	case *Finish:
		return e == nil
	}
	return true
}
