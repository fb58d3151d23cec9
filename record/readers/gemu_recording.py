"""Reads recordings of gemu (docs/recording.md) as NumPy arrays.

    import gemu_recording
    run = gemu_recording.open("run.gemu")
    len(run.events)                     # number of rows
    run.events.lanes                    # a column, as an array; of texts, a list
    run.events.read("step", 100, 50)    # rows 100 to 149
    run.names("events", "kind")         # names of the values of a column
    run.lanes("results", 7)             # value of each lane in row 7 of a table with class, base, stride and values

Columns of an uncompressed recording that are stored as they are stay in the file's memory map. All other columns are decoded, and
kept. Errors in a file raise RecordingError with the place, and so does a call that would return more than MAX_READ_BYTES: read long
columns in parts. The module needs NumPy alone.
"""

import builtins
import mmap
import struct
import sys
import zlib

import numpy as np

OLDEST_VERSION, VERSION = 1, 2
MAGIC = b"gemurec"

_HEADER = struct.Struct("<4sIHHIQII")  # of a block
_DESCRIPTOR = struct.Struct("<BBHIIIQ")  # of a column
_CONSTANT, _PLAIN, _DIFFERENCES, _TEXTS = range(4)
_DEFLATED = 1
_COLUMN_TABLE, _DIRECTORY_TABLE = 0xFFFF, 0xFFFE
_MAX_INFLATION = 4 * 258  # a match of 258 bytes takes at least two bits
_MAX_COLUMNS = 1 << 16
MAX_READ_BYTES = 1 << 30  # of a call that reads a column
_MAX_BLOCK_ROWS, _MAX_BLOCKS, _MAX_COLUMN_BYTES = 1 << 20, 1 << 22, 64 << 20
_TYPES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "text": None}


class RecordingError(Exception):
    """An error in a recording, with its place."""


class _Column:
    """A column of a block: its descriptor, and the place of its stored bytes."""

    def __init__(self, fields, at):
        self.encoding, self.width, self.flags, self.stored, self.plain, self.sum, self.base = fields
        self.at = at


class _Block:
    """The header of a block."""

    def __init__(self, data, at):
        if len(data) - at < _HEADER.size:
            raise RecordingError(f"at byte {at}: the file ends in the header of a block")
        magic, size, self.table, columns, self.rows, self.first, check, _ = _HEADER.unpack_from(data, at)
        descriptors = at + _HEADER.size
        if magic != b"gblk":
            raise RecordingError(f"at byte {at}: no block header at this place")
        if size > len(data) - descriptors or columns * _DESCRIPTOR.size > size:
            raise RecordingError(f"at byte {at}: the file ends in a block")
        if self.rows == 0 or self.rows > (_MAX_BLOCKS if self.table == _DIRECTORY_TABLE else _MAX_BLOCK_ROWS):
            raise RecordingError(f"at byte {at}: a block has more rows than the format allows")
        next_at = descriptors + columns * _DESCRIPTOR.size
        if zlib.crc32(data[descriptors:next_at], zlib.crc32(data[at : at + 24])) != check:
            raise RecordingError(f"at byte {at}: the header of a block is damaged: its checksum is wrong")
        self.at, self.columns = at, []
        for i in range(columns):
            c = _Column(_DESCRIPTOR.unpack_from(data, descriptors + i * _DESCRIPTOR.size), next_at)
            if c.at + c.stored > descriptors + size or c.plain > _MAX_COLUMN_BYTES:
                raise RecordingError(f"at byte {at}: a column is longer than its block")
            self.columns.append(c)
            next_at += (c.stored + 7) & ~7
        self.end = descriptors + size


class Table:
    """A table of a recording. Its columns are attributes."""

    def __init__(self, recording, name):
        self._recording, self.label = recording, name
        self.types = {}  # of columns by name, in the order of the file
        self._rows = 0
        self._blocks = []
        self._whole = {}

    def __repr__(self):
        return f"<table {self.label}: {self._rows} rows, columns {' '.join(self.types)}>"

    def __len__(self):
        return self._rows

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.types:
            raise AttributeError(f"table {self.label} has no column {name}")
        return self[name]

    def __getitem__(self, name):
        """Returns a whole column."""
        if name not in self._whole:
            self._whole[name] = self.read(name)
        return self._whole[name]

    def read(self, name, start=0, count=None):
        """Returns count values of a column from row start on: an array, or a list of texts."""
        if name not in self.types:
            raise KeyError(f"table {self.label} has no column {name}")
        stop = self._rows if count is None else min(self._rows, start + count)
        index, kind = list(self.types).index(name), self.types[name]
        size, blocks = (8 if kind == "text" else np.dtype(_TYPES[kind]).itemsize), []
        total = max(stop - start, 0) * size
        for b in self._blocks:
            if b.first < stop and b.first + b.rows > start:
                blocks.append(b)
                total += b.columns[index].plain * (kind == "text")
        if total > MAX_READ_BYTES:
            raise RecordingError(f"table {self.label}: {stop - start} rows take more than {MAX_READ_BYTES} bytes; read them in parts")
        parts = []
        for b in blocks:
            values = self._recording._decode(b, index, kind)
            parts.append(values[max(start - b.first, 0) : stop - b.first])
        if kind == "text":
            return [text for part in parts for text in part]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, _TYPES[kind])


class Recording:
    """A recording. Its tables are attributes."""

    def __init__(self, data):
        self._data = data
        if len(data) < 8 or data[:7] != MAGIC:
            raise RecordingError("this is not a recording")
        self.version = data[7]
        if not OLDEST_VERSION <= self.version <= VERSION:
            raise RecordingError(f"the recording has format version {self.version}; this module reads versions {OLDEST_VERSION} to {VERSION}")
        self.tables = {}
        self.complete, blocks = self._directory()
        if not blocks:
            raise RecordingError("the recording ends before its first block")
        if len(blocks[0].columns) != 3:
            raise RecordingError("the block of columns must have 3 columns")
        if blocks[0].rows > _MAX_COLUMNS:
            raise RecordingError(f"{blocks[0].rows} columns; a recording has at most {_MAX_COLUMNS}")
        lists = [self._decode(blocks[0], i, "text") for i in range(3)]
        for table, column, kind in zip(*lists):
            if kind not in _TYPES:
                raise RecordingError(f"column {column} of table {table} has the unknown type {kind}")
            self.tables.setdefault(table, Table(self, table)).types[column] = kind
        tables = list(self.tables.values())
        for b in blocks[1:]:
            if b.table >= len(tables) or len(b.columns) != len(tables[b.table].types) or b.first != tables[b.table]._rows:
                raise RecordingError(f"at byte {b.at}: a block does not continue the blocks before it")
            tables[b.table]._blocks.append(b)
            tables[b.table]._rows += b.rows

    def _directory(self):
        """Returns whether the file has its end, and its blocks."""
        data = self._data
        if len(data) >= 24 and data[-8:] == MAGIC + b"\n":
            directory = _Block(data, struct.unpack_from("<Q", data, len(data) - 16)[0])
            if directory.table != _DIRECTORY_TABLE:
                raise RecordingError("the directory is missing at the place that the end of the file states")
            if directory.rows > len(data) // _HEADER.size:
                raise RecordingError("the directory has more blocks than the file has room for")
            return True, [_Block(data, int(at)) for at in self._decode(directory, 0, "u64")]
        blocks, at = [], 8
        while at < len(data):
            try:
                block = _Block(data, at)
            except RecordingError:  # the last block is not whole
                break
            if block.table == _DIRECTORY_TABLE:  # and its place is missing
                break
            blocks.append(block)
            at = block.end
        return False, blocks

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.tables:
            raise AttributeError(f"the recording has no table {name}")
        return self.tables[name]

    def _decode(self, block, index, kind):
        """Returns the values of a column of a block."""
        c, rows = block.columns[index], block.rows
        if c.plain > _MAX_INFLATION * c.stored:
            raise RecordingError(f"at byte {block.at}: a column is larger than its stored bytes can hold")
        stored = memoryview(self._data)[c.at : c.at + c.stored]
        if zlib.crc32(stored) != c.sum:
            raise RecordingError(f"at byte {block.at}: a column is damaged: its checksum is wrong")
        if c.flags & _DEFLATED:
            try:
                stored = zlib.decompressobj(-15).decompress(stored, c.plain + 1)  # no more than it should have
            except zlib.error as error:
                raise RecordingError(f"at byte {block.at}: a column cannot be decompressed: {error}") from None
        if len(stored) != c.plain:
            raise RecordingError(f"at byte {block.at}: the stored size of an uncompressed column differs from its size")
        want = 0 if c.encoding == _CONSTANT else rows * c.width
        if c.encoding > _TEXTS or (c.encoding == _TEXTS) != (kind == "text") or c.plain < 4 * rows * (kind == "text"):
            raise RecordingError(f"at byte {block.at}: a column has values of another type than the schema states")
        if kind != "text" and (c.plain != want or c.encoding != _CONSTANT and c.width not in (1, 2, 4, 8)):
            raise RecordingError(f"at byte {block.at}: the size of a column does not match its number of values")
        if kind == "text":
            lengths, all_texts, texts, at = np.frombuffer(stored, "<u4", rows), bytes(stored[4 * rows :]), [], 0
            if int(lengths.sum(dtype="u8")) > len(all_texts):
                raise RecordingError(f"at byte {block.at}: a text is longer than its column")
            for n in lengths.tolist():
                texts.append(all_texts[at : at + n].decode("utf-8", "replace"))
                at += n
            return texts
        to = np.dtype(_TYPES[kind])
        if c.encoding == _CONSTANT:
            return np.full(rows, np.uint64(c.base).astype(to), to)
        if c.encoding == _PLAIN:
            values = np.frombuffer(stored, f"<u{c.width}", rows)
            if c.base == 0 and values.dtype.itemsize == to.itemsize:
                return values.view(to)
            return (values.astype("<u8") + np.uint64(c.base)).astype(to)
        if c.encoding == _DIFFERENCES:
            values = np.frombuffer(stored, f"<i{c.width}", rows).astype("<i8").view("<u8")
            return (np.cumsum(values, dtype="<u8") + np.uint64(c.base)).astype(to)
        raise RecordingError(f"at byte {block.at}: unknown encoding {c.encoding} of a column")

    def names(self, table, column):
        """Returns the names of the values of a column, by value."""
        e = self.enumerations
        return {int(v): n for t, c, v, n in zip(e["table"], e["column"], e["value"], e["name"]) if t == table and c == column}

    def lanes(self, table, row):
        """Returns the value of each lane in a row of a table with class, base, stride and values, by lane. The lanes are those of
        the row, or of its access. Values are modulo 2^64: reduce them to the width of the register."""
        t = self.tables[table]
        if "lanes" in t.types:
            lanes = int(t.lanes[row])
        else:  # of the access
            lanes = int(self.accesses.lanes[int(t.access[row])])
        members = [i for i in range(64) if lanes >> i & 1]
        kind, base = self.names(table, "class")[int(t["class"][row])], int(t.base[row])
        if kind == "uniform":
            return {i: base for i in members}
        if kind == "affine":
            return {i: (base + i * int(t.stride[row])) % 2**64 for i in members}
        if kind == "mask":
            return {i: base >> i & 1 for i in members}
        if kind == "generic":
            return dict(zip(members, self.tables["values"].read("low", int(t["values"][row]), len(members)).tolist()))
        return {}


def open(name):
    """Maps a recording into memory."""
    with builtins.open(name, "rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            data = b""
    return Recording(data)


def _print_all(name):
    """Prints each value of each table in a line."""
    for table in open(name).tables.values():
        for column in table.types:
            for row, value in enumerate(table[column]):
                print(f"{table.label}.{column}[{row}] = {value}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: gemu_recording.py FILE.gemu")
    try:
        _print_all(sys.argv[1])
    except (RecordingError, OSError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
