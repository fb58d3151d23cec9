package record

// This file writes recordings: rows in blocks, and a directory of the blocks.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"slices"
	"unsafe"
)

// Version is the version of the format. In version 1, accesses of surfaces are in the space global and have sectors, and
// fetches of textures have no accesses.
const Version = 2

// oldestVersion is the first version that Open reads.
const oldestVersion = 1

// magic is the name of the format. It is the beginning of a file, before the version, and the end of the file.
const magic = "gemurec"

// A block is
//
//	byte 0–3    blockMagic
//	byte 4–7    number of bytes after this header of 32 bytes
//	byte 8–9    number of the table
//	byte 10–11  number of columns
//	byte 12–15  number of rows
//	byte 16–23  number of rows of the table in earlier blocks
//	byte 24–27  CRC-32 (IEEE) of the bytes before, and of the descriptors
//	byte 28–31  zero
//	then        the descriptors of all columns
//	then        the stored bytes of each column, each filled up to a multiple of 8 bytes
const (
	blockMagic       = "gblk"
	blockHeaderBytes = 32
	maxBlockBytes    = 64 << 20
	maxBlockRows     = 1 << 20
	maxBlocks        = 1 << 22 // maximum number of rows of the directory
	maxTextBytes     = 8 << 20 // a block is written when its texts reach this number of bytes
)

// Numbers of tables that are part of the layout.
const (
	columnTable    = 0xffff // table, column and type of all columns, as three columns of texts
	directoryTable = 0xfffe // offset in the file, table, first row and rows of each block
)

// Numbers of rows at which a block is written. Tests lower them.
var (
	blockRows     = 1 << 16
	blockDataRows = 1 << 20 // for the table data, whose rows are bytes
)

// writer writes tables. After the first error of the underlying writer, every method returns this error and writes nothing.
type writer struct {
	out        io.Writer
	err        error
	written    uint64
	tables     []tableWriter
	compressed bool
	deflater   deflater

	directory [4][]uint64 // the columns of the directory
}

// tableWriter holds the rows of a table that are not written yet.
type tableWriter struct {
	first   uint64 // number of rows in earlier blocks
	pending []byte // rows as in memory, which are not in numbers yet; only of tables without texts
	numbers [][]uint64
	texts   [][]string
	rows    int
	bytes   int // number of bytes of texts
}

// pendingBytes is the size of tableWriter.pending at which its rows are moved to columns: they are still in the cache of the core.
const pendingBytes = 16 << 10

// newWriter begins a recording. With compressed, columns are deflated; without, readers can map plain columns into memory.
func newWriter(out io.Writer, compressed bool) (*writer, error) {
	w := &writer{out: out, compressed: compressed, tables: make([]tableWriter, len(schemas))}
	for i, s := range schemas {
		w.tables[i].numbers = make([][]uint64, len(s.columns))
		w.tables[i].texts = make([][]string, len(s.columns))
	}
	w.write(append([]byte(magic), Version))
	var names [3][]string
	for _, s := range schemas {
		for _, c := range s.columns {
			names[0], names[1], names[2] = append(names[0], s.name), append(names[1], c.Name), append(names[2], string(c.Type))
		}
	}
	w.writeBlock(columnTable, 0, len(names[0]), []storedColumn{encodeTexts(names[0]), encodeTexts(names[1]), encodeTexts(names[2])})
	for _, s := range schemas {
		for _, c := range s.columns {
			for v, name := range s.enums[c.Name] {
				addRow(w, &EnumerationRow{s.name, c.Name, uint8(v), name})
			}
		}
	}
	return w, w.err
}

// bytes returns the number of bytes written so far.
func (w *writer) bytes() uint64 { return w.written }

// rows returns the number of rows of a table so far.
func rows[Row any](w *writer) uint64 {
	t := &w.tables[tableNumber[Row]()]
	return t.first + uint64(t.rows)
}

// addRow adds a row to its table and returns its number.
func addRow[Row any](w *writer, row *Row) (number uint64) {
	i := tableNumber[Row]()
	t := &w.tables[i]
	if schemas[i].hasTexts {
		t.addFields(schemas[i], reflect.ValueOf(row).Elem())
	} else {
		t.pending = append(t.pending, unsafe.Slice((*byte)(unsafe.Pointer(row)), unsafe.Sizeof(*row))...)
		if len(t.pending) >= pendingBytes {
			t.transpose(schemas[i])
		}
	}
	number = t.first + uint64(t.rows)
	if t.rows++; t.rows >= blockRows || t.bytes >= maxTextBytes {
		w.flushAt(i)
	}
	return number
}

// addFields adds the fields of a row to the columns of its table.
func (t *tableWriter) addFields(s *schema, row reflect.Value) {
	for k := range s.columns {
		switch f := row.Field(k); {
		case f.CanUint():
			t.numbers[k] = append(t.numbers[k], f.Uint())
		case f.CanInt():
			t.numbers[k] = append(t.numbers[k], uint64(f.Int()))
		default:
			t.texts[k] = append(t.texts[k], f.String())
			t.bytes += f.Len()
		}
	}
}

// transpose moves the pending rows to the columns of their table.
func (t *tableWriter) transpose(s *schema) {
	size := int(s.row.Size())
	n := len(t.pending) / size
	if n == 0 {
		return
	}
	for k := range s.columns {
		before := len(t.numbers[k])
		t.numbers[k] = slices.Grow(t.numbers[k], n)[:before+n]
		s.columns[k].read(t.numbers[k][before:], t.pending[s.row.Field(k).Offset:], size)
	}
	t.pending = t.pending[:0]
}

// read reads values of the column: each stands in the bytes of its type, in the host's order, size bytes after the one before.
func (c *Column) read(values []uint64, b []byte, size int) {
	switch c.Type {
	case U8:
		for i := range values {
			values[i] = uint64(b[i*size])
		}
	case I8:
		for i := range values {
			values[i] = uint64(int8(b[i*size]))
		}
	case U16:
		for i := range values {
			values[i] = uint64(binary.NativeEndian.Uint16(b[i*size:]))
		}
	case U32:
		for i := range values {
			values[i] = uint64(binary.NativeEndian.Uint32(b[i*size:]))
		}
	case I32:
		for i := range values {
			values[i] = uint64(int32(binary.NativeEndian.Uint32(b[i*size:])))
		}
	case U64, I64:
		for i := range values {
			values[i] = binary.NativeEndian.Uint64(b[i*size:])
		}
	default:
		panic("record: a column of type " + string(c.Type))
	}
}

// flushAt writes the rows of table i, which is full. With the table events it writes all tables, so that all tables of a file
// without its end are complete up to the same event.
func (w *writer) flushAt(i int) {
	if i != eventTable {
		w.flush(i)
		return
	}
	for k := range w.tables {
		w.flush(k)
	}
}

// addData adds bytes to the table data and returns the number of the first.
func (w *writer) addData(b []byte) (first uint64) {
	i := tableNumber[DataRow]()
	t := &w.tables[i]
	first = t.first + uint64(t.rows)
	for len(b) > 0 {
		n := min(len(b), blockDataRows-t.rows)
		for _, x := range b[:n] {
			t.numbers[0] = append(t.numbers[0], uint64(x))
		}
		if t.rows += n; t.rows == blockDataRows {
			w.flush(i)
		}
		b = b[n:]
	}
	return first
}

// flush writes the rows of a table as a block.
func (w *writer) flush(i int) {
	t := &w.tables[i]
	if t.rows == 0 {
		return
	}
	t.transpose(schemas[i])
	var columns []storedColumn
	for k, c := range schemas[i].columns {
		if c.Type == Text {
			columns = append(columns, encodeTexts(t.texts[k]))
			t.texts[k] = t.texts[k][:0]
		} else {
			columns = append(columns, w.encode(t.numbers[k], c.Type))
			t.numbers[k] = t.numbers[k][:0]
		}
	}
	first, n := t.first, t.rows
	t.first, t.rows, t.bytes = first+uint64(n), 0, 0
	w.writeBlock(i, first, n, columns)
}

// encode encodes a column: for mapping it is plain, as wide as its type, and without a base.
func (w *writer) encode(values []uint64, t Type) storedColumn {
	if w.compressed {
		return encodeNumbers(values, t.IsSigned())
	}
	c := storedColumn{encoding: plain, width: t.bytes()}
	for _, v := range values {
		c.stored = appendNumber(c.stored, v, c.width)
	}
	c.plain = uint32(len(c.stored))
	return c
}

// writeBlock writes a block.
func (w *writer) writeBlock(table int, first uint64, rows int, columns []storedColumn) {
	if table != directoryTable {
		for i, v := range []uint64{w.written, uint64(table), first, uint64(rows)} {
			w.directory[i] = append(w.directory[i], v)
		}
	}
	var descriptors, body []byte
	for i := range columns {
		if w.compressed {
			w.deflater.deflate(&columns[i])
		}
		descriptors = columns[i].appendDescriptor(descriptors)
		body = append(body, columns[i].stored...)
		body = append(body, make([]byte, -len(columns[i].stored)&7)...)
	}
	size := len(descriptors) + len(body)
	b := append([]byte(nil), blockMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = binary.LittleEndian.AppendUint16(b, uint16(table))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(columns)))
	b = binary.LittleEndian.AppendUint32(b, uint32(rows))
	b = binary.LittleEndian.AppendUint64(b, first)
	b = binary.LittleEndian.AppendUint32(b, headerSum(b, descriptors))
	b = binary.LittleEndian.AppendUint32(b, 0)
	if size > maxBlockBytes && w.err == nil {
		w.err = fmt.Errorf("a block of %d bytes is larger than the format allows", size)
	}
	w.write(append(b, descriptors...))
	w.write(body)
}

// headerSum returns the checksum of the header of a block, up to the checksum itself, and of its descriptors.
func headerSum(header, descriptors []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(header), crc32.IEEETable, descriptors)
}

// write writes bytes to the file.
func (w *writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.written += uint64(len(b))
	}
}

var errClosed = errors.New("the recording is closed")

// close writes the remaining rows and the directory. It does not close the underlying writer.
func (w *writer) close() error {
	for i := range w.tables {
		w.flush(i)
	}
	at := w.written
	var columns []storedColumn
	for _, c := range w.directory {
		columns = append(columns, encodeNumbers(c, false))
	}
	w.writeBlock(directoryTable, 0, len(w.directory[0]), columns)
	w.write(append(binary.LittleEndian.AppendUint64(nil, at), magic+"\n"...))
	err := w.err
	if err == nil {
		w.err = errClosed
	}
	return err
}
