package record

// This file reads recordings.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sort"
	"sync"
	"unsafe"
)

// Error is an error in a recording, with its place.
type Error struct {
	Name   string // name of the file
	Offset uint64 // offset of the block in bytes
	Err    error  // reason
}

// Error returns name, place and reason.
func (e *Error) Error() string { return fmt.Sprintf("%s: at byte %d: %v", e.Name, e.Offset, e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrNoRecording reports a file that does not begin as a recording does.
var ErrNoRecording = errors.New("this is not a recording")

// IsRecording reports whether a file that begins with these bytes is a recording, of any version.
func IsRecording(head []byte) bool {
	return len(head) > len(magic) && string(head[:len(magic)]) == magic
}

// File is a recording that is read.
type File struct {
	// Version is the version of the file's format.
	Version int
	// Complete reports whether the file has its end. Otherwise the recording process has not closed it (yet), and only the
	// blocks written completely can be read.
	Complete bool

	name   string
	r      io.ReaderAt
	size   uint64
	tables []*Table

	mu          sync.Mutex
	cache       []cachedColumn // the latest decoded columns, the oldest first
	cachedBytes uint64         // size of the columns in cache
}

// MaxReadBytes is the largest result of a call of Read, RowsOf, Table.ReadNumbers and Table.ReadTexts: 1 GiB. They return an error for
// more, so that a small file with many equal rows cannot take all memory. Read large tables in parts.
const MaxReadBytes = 1 << 30

// maxEnumerations is the number of rows of the table enumerations that are read: a file may claim any number.
const maxEnumerations = 1 << 16

// maxCachedBytes is the largest size of the decoded columns kept by a File, not counting the latest column.
const maxCachedBytes = 64 << 20

// maxColumns is the largest number of columns, summed over all tables.
const maxColumns = 1 << 16

type cachedColumn struct {
	block  *block
	column int
	values any // []uint64 or []string
	bytes  uint64
}

// Table is a table of a recording.
type Table struct {
	Name    string   // name, such as events
	Columns []Column // columns, in the order of the file
	Rows    uint64   // number of rows
	Bytes   uint64   // size of its blocks in the file

	file   *File
	blocks []*block
}

// block is a block of a table.
type block struct {
	offset  uint64         // offset in the file in bytes
	first   uint64         // number of rows of the table in earlier blocks
	rows    int            // number of rows
	columns []storedColumn // descriptors
	at      []uint64       // by column: offset of the stored bytes in the file
	sizes   []uint32       // by column: number of stored bytes
}

// Open reads the directory of a recording. name is its name in errors.
func Open(name string, r io.ReaderAt, size int64) (*File, error) {
	f := &File{name: name, r: r, size: uint64(size)}
	var head [8]byte
	if size < 8 {
		return nil, &Error{name, 0, ErrNoRecording}
	}
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if !IsRecording(head[:]) {
		return nil, &Error{name, 0, ErrNoRecording}
	}
	if f.Version = int(head[7]); f.Version < oldestVersion || f.Version > Version {
		return nil, &Error{name, 0, fmt.Errorf("the recording has format version %d; this gemu reads versions %d to %d", head[7], oldestVersion, Version)}
	}
	blocks, err := f.readDirectory()
	if err != nil {
		return nil, err
	}
	if err := f.readBlocks(blocks); err != nil {
		return nil, err
	}
	return f, nil
}

// listedBlock is a row of the directory.
type listedBlock struct{ offset, table, first, rows uint64 }

// readBlocks reads the headers of all blocks.
func (f *File) readBlocks(blocks []listedBlock) error {
	for i, listed := range blocks {
		at := listed.offset
		b, table, err := f.readHeader(at)
		if err == nil && listed != b.listed(table) {
			err = errors.New("the header of a block differs from its entry in the directory")
		}
		if err != nil {
			return &Error{f.name, at, err}
		}
		if i == 0 {
			if table != columnTable {
				return &Error{f.name, at, errors.New("the first block must list the columns of the tables")}
			}
			if err := f.readSchema(b); err != nil {
				return &Error{f.name, at, err}
			}
			continue
		}
		if table >= len(f.tables) {
			return &Error{f.name, at, fmt.Errorf("a block belongs to the unknown table %d", table)}
		}
		t := f.tables[table]
		if b.first != t.Rows || len(b.columns) != len(t.Columns) {
			return &Error{f.name, at, fmt.Errorf("a block of the table %s does not continue the blocks before it", t.Name)}
		}
		t.Rows += uint64(b.rows)
		t.Bytes += b.end() - b.offset
		t.blocks = append(t.blocks, b)
	}
	if len(blocks) == 0 {
		return &Error{f.name, 8, errors.New("the recording ends before its first block")}
	}
	return nil
}

// trailerBytes is the size of the end of a file: the offset of the directory, and magic.
const trailerBytes = 16

// listed returns the row of the directory for a block.
func (b *block) listed(table int) listedBlock {
	return listedBlock{b.offset, uint64(table), b.first, uint64(b.rows)}
}

// readDirectory returns all blocks. If the file has no end, it finds the blocks by reading their headers in sequence.
func (f *File) readDirectory() (blocks []listedBlock, err error) {
	var tail [trailerBytes]byte
	if f.size >= 8+trailerBytes {
		if _, err := f.r.ReadAt(tail[:], int64(f.size-trailerBytes)); err != nil {
			return nil, err
		}
	}
	if string(tail[8:]) != magic+"\n" {
		for at := uint64(8); ; {
			b, table, err := f.readHeader(at)
			if err != nil || table == directoryTable { // the last block is not whole, or the end of the directory is missing
				return blocks, nil
			}
			blocks = append(blocks, b.listed(table))
			at = b.end()
		}
	}
	f.Complete = true
	at := binary.LittleEndian.Uint64(tail[:])
	b, table, err := f.readHeader(at)
	switch {
	case err != nil:
	case table != directoryTable || len(b.columns) != len(writer{}.directory):
		err = errors.New("the directory is missing at the place that the end of the file states")
	case uint64(b.rows) > f.size/blockHeaderBytes:
		err = errors.New("the directory has more blocks than the file has room for")
	}
	var columns [len(writer{}.directory)][]uint64
	for i := range columns {
		if err == nil {
			columns[i], err = f.numbersOf(b, i, U64)
		}
	}
	if err != nil {
		return nil, &Error{f.name, at, err}
	}
	for i, offset := range columns[0] {
		blocks = append(blocks, listedBlock{offset, columns[1][i], columns[2][i], columns[3][i]})
	}
	return blocks, nil
}

// end returns the offset of the next block.
func (b *block) end() uint64 {
	last := len(b.at) - 1
	if last < 0 {
		return b.offset + blockHeaderBytes
	}
	return b.at[last] + uint64(b.sizes[last]+7)&^7
}

// readHeader reads the header and the descriptors of a block.
func (f *File) readHeader(at uint64) (*block, int, error) {
	var h [blockHeaderBytes]byte
	if at > f.size || f.size-at < blockHeaderBytes {
		return nil, 0, io.ErrUnexpectedEOF
	}
	if _, err := f.r.ReadAt(h[:], int64(at)); err != nil {
		return nil, 0, err
	}
	le := binary.LittleEndian
	size, table, columns := le.Uint32(h[4:]), int(le.Uint16(h[8:])), int(le.Uint16(h[10:]))
	b := &block{offset: at, first: le.Uint64(h[16:]), rows: int(le.Uint32(h[12:]))}
	switch {
	case string(h[:4]) != blockMagic:
		return nil, 0, errors.New("no block header at this place")
	case b.rows == 0:
		return nil, 0, errors.New("a block has no rows")
	case size > maxBlockBytes || uint64(size) > f.size-at-blockHeaderBytes:
		return nil, 0, io.ErrUnexpectedEOF
	case b.rows > maxBlockRows && table != directoryTable, b.rows > maxBlocks, columns*descriptorBytes > int(size):
		return nil, 0, errors.New("a block has more rows or columns than its size allows")
	}
	descriptors := make([]byte, columns*descriptorBytes)
	if _, err := f.r.ReadAt(descriptors, int64(at+blockHeaderBytes)); err != nil {
		return nil, 0, err
	}
	if headerSum(h[:24], descriptors) != le.Uint32(h[24:]) {
		return nil, 0, errors.New("the header of a block is damaged: its checksum is wrong")
	}
	next := uint64(len(descriptors))
	for i := range columns {
		var c storedColumn
		n := c.parseDescriptor(descriptors[i*descriptorBytes:])
		if next+uint64(n) > uint64(size) || c.plain > maxBlockBytes {
			return nil, 0, errors.New("a column is longer than its block")
		}
		b.columns, b.at, b.sizes = append(b.columns, c), append(b.at, at+blockHeaderBytes+next), append(b.sizes, n)
		next += uint64(n+7) &^ 7
	}
	return b, table, nil
}

// readSchema sets the tables by their names, columns and types.
func (f *File) readSchema(b *block) error {
	if len(b.columns) != 3 {
		return errors.New("the block of columns must have 3 columns")
	}
	if b.rows > maxColumns {
		return fmt.Errorf("%d columns; a recording has at most %d", b.rows, maxColumns)
	}
	var lists [3][]string
	for i := range lists {
		c, err := f.readStored(b, i)
		if err != nil {
			return err
		}
		if lists[i], err = c.texts(b.rows); err != nil {
			return err
		}
	}
	for i, name := range lists[0] {
		if len(f.tables) == 0 || f.tables[len(f.tables)-1].Name != name {
			f.tables = append(f.tables, &Table{Name: name, file: f})
		}
		t, c := f.tables[len(f.tables)-1], Column{lists[1][i], Type(lists[2][i])}
		if !slices.Contains([]Type{U8, U16, U32, U64, I8, I16, I32, I64, Text}, c.Type) {
			return fmt.Errorf("column %s of table %s has the unknown type %q", c.Name, name, c.Type)
		}
		t.Columns = append(t.Columns, c)
	}
	return nil
}

// readStored reads the stored bytes of a column.
func (f *File) readStored(b *block, i int) (*storedColumn, error) {
	c := b.columns[i]
	c.stored = make([]byte, b.sizes[i])
	_, err := f.r.ReadAt(c.stored, int64(b.at[i]))
	return &c, err
}

func (f *File) numbersOf(b *block, i int, t Type) ([]uint64, error) {
	c, err := f.readStored(b, i)
	if err != nil {
		return nil, err
	}
	return c.numbers(t, b.rows)
}

// decoded returns the values of a column of a block. It decodes them unless they are in the cache.
func (f *File) decoded(t *Table, b *block, i int) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := range f.cache {
		if f.cache[k].block == b && f.cache[k].column == i {
			return f.cache[k].values, nil
		}
	}
	c, err := f.readStored(b, i)
	if err != nil {
		return nil, err
	}
	var values any
	size := sizeOfValue(t.Columns[i].Type) * uint64(b.rows)
	if t.Columns[i].Type == Text {
		values, err = c.texts(b.rows)
		size += uint64(c.plain)
	} else {
		values, err = c.numbers(t.Columns[i].Type, b.rows)
	}
	if err != nil {
		return nil, &Error{f.name, b.offset, fmt.Errorf("column %s of table %s: %w", t.Columns[i].Name, t.Name, err)}
	}
	for f.cachedBytes > 0 && f.cachedBytes+size > maxCachedBytes {
		f.cachedBytes -= f.cache[0].bytes
		f.cache = slices.Delete(f.cache, 0, 1)
	}
	f.cache = append(f.cache, cachedColumn{b, i, values, size})
	f.cachedBytes += size
	return values, nil
}

// sizeOfValue returns the size in bytes of a decoded value of a type; for a text, without its letters.
func sizeOfValue(t Type) uint64 {
	if t == Text {
		return uint64(unsafe.Sizeof(""))
	}
	return 8
}

// checkSize returns an error if n rows of the given columns, each of size bytes without its texts, take more than MaxReadBytes.
func (t *Table) checkSize(from, n, size uint64, columns ...Column) error {
	total := n * size
	for k := t.blockOf(from); k < len(t.blocks) && t.blocks[k].first < from+n; k++ {
		for _, c := range columns {
			if i := t.column(c.Name); i >= 0 && c.Type == Text {
				total += uint64(t.blocks[k].columns[i].plain)
			}
		}
	}
	if total <= MaxReadBytes {
		return nil
	}
	return fmt.Errorf("table %s: %d rows take more than %d bytes; read them in parts", t.Name, n, MaxReadBytes)
}

// Tables returns the tables, in the order of the file.
func (f *File) Tables() []*Table { return slices.Clone(f.tables) }

// Table returns the table with a name; nil if there is none.
func (f *File) Table(name string) *Table {
	for _, t := range f.tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// column returns the index of a column; -1 if there is none.
func (t *Table) column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// ReadNumbers returns the values of a column of numbers for n rows from a row on; fewer at the table's end. Values of signed types
// are sign-extended to 64 bits.
func (t *Table) ReadNumbers(column string, from, n uint64) ([]uint64, error) {
	return read[uint64](t, column, from, n)
}

// ReadTexts returns the values of a column of texts.
func (t *Table) ReadTexts(column string, from, n uint64) ([]string, error) {
	return read[string](t, column, from, n)
}

func read[V uint64 | string](t *Table, column string, from, n uint64) (list []V, err error) {
	i := t.column(column)
	if i < 0 {
		return nil, fmt.Errorf("table %s has no column %s", t.Name, column)
	}
	_, wantText := any(*new(V)).(string)
	if wantText != (t.Columns[i].Type == Text) {
		return nil, fmt.Errorf("column %s of table %s has the type %s", column, t.Name, t.Columns[i].Type)
	}
	n = min(n, t.Rows-min(from, t.Rows))
	if err := t.checkSize(from, n, sizeOfValue(t.Columns[i].Type), t.Columns[i]); err != nil {
		return nil, err
	}
	for k := t.blockOf(from); n > 0; k++ {
		b := t.blocks[k]
		all, err := t.file.decoded(t, b, i)
		if err != nil {
			return list, err
		}
		values := all.([]V)[from-b.first:]
		values = values[:min(uint64(len(values)), n)]
		list = append(list, values...)
		from, n = from+uint64(len(values)), n-uint64(len(values))
	}
	return list, nil
}

// blockOf returns the index of the block that contains a row.
func (t *Table) blockOf(row uint64) int {
	return sort.Search(len(t.blocks), func(i int) bool { return t.blocks[i].first+uint64(t.blocks[i].rows) > row })
}

// Search returns the first row whose value in an ascending column is at least a value; Rows if there is none. The columns event
// and access ascend in all tables, and step ascends within a launch.
func (t *Table) Search(column string, value, from, to uint64) (row uint64, err error) {
	to = min(to, t.Rows)
	from = min(from, to)
	n := sort.Search(int(to-from), func(i int) bool {
		v, e := t.ReadNumbers(column, from+uint64(i), 1)
		if e != nil && err == nil {
			err = e
		}
		return e == nil && v[0] >= value
	})
	return from + uint64(n), err
}

// Read returns n rows of the table of a type of row, from a row on; fewer at the table's end. Columns that the file lacks are zero.
func Read[Row any](f *File, from, n uint64) ([]Row, error) {
	s := schemas[tableNumber[Row]()]
	t := f.Table(s.name)
	if t == nil || from >= t.Rows {
		return nil, nil
	}
	n = min(n, t.Rows-from)
	if err := t.checkSize(from, n, uint64(s.row.Size()), s.columns...); err != nil {
		return nil, err
	}
	list := make([]Row, n)
	const part = 1 << 16 // rows whose columns are decoded at a time
	for done := uint64(0); done < n; done += part {
		if err := readRows(f, t, s, list[done:min(n, done+part)], from+done); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readRows reads rows of a table from a row on.
func readRows[Row any](f *File, t *Table, s *schema, list []Row, from uint64) error {
	for i, c := range s.columns {
		k := t.column(c.Name)
		if k < 0 {
			continue
		}
		if t.Columns[k].Type == Text != (c.Type == Text) {
			return &Error{f.name, 0, fmt.Errorf("column %s of table %s has the type %s, not %s", c.Name, t.Name, t.Columns[k].Type, c.Type)}
		}
		if c.Type == Text {
			values, err := t.ReadTexts(c.Name, from, uint64(len(list)))
			if err != nil {
				return err
			}
			for j, v := range values {
				reflect.ValueOf(&list[j]).Elem().Field(i).SetString(v)
			}
			continue
		}
		values, err := t.ReadNumbers(c.Name, from, uint64(len(list)))
		if err != nil {
			return err
		}
		for j, v := range values {
			if field := reflect.ValueOf(&list[j]).Elem().Field(i); c.Type.IsSigned() {
				field.SetInt(int64(v))
			} else {
				field.SetUint(v)
			}
		}
	}
	return nil
}

// RowsOf returns the rows of a table whose column event, or the given column, has a value: the parts of an event.
func RowsOf[Row any](f *File, column string, value uint64) ([]Row, error) {
	t := f.Table(schemas[tableNumber[Row]()].name)
	if t == nil {
		return nil, nil
	}
	from, err := t.Search(column, value, 0, t.Rows)
	if err != nil {
		return nil, err
	}
	to, err := t.Search(column, value+1, from, t.Rows)
	if err != nil {
		return nil, err
	}
	return Read[Row](f, from, to-from)
}

// Enumeration returns the names of the values of a column, by value; an empty map if they have none.
func (f *File) Enumeration(table, column string) (map[uint8]string, error) {
	list, err := Read[EnumerationRow](f, 0, maxEnumerations)
	names := map[uint8]string{}
	for _, x := range list {
		if x.Table == table && x.Column == column {
			names[x.Value] = x.Name
		}
	}
	return names, err
}
