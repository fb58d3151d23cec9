// Reads recordings of gemu: tables of columns in blocks (docs/recording.md). A damaged or hostile file gives a RecordingError.

import { inflateSync } from 'fflate';

/** RecordingError is an error in a recording, with the offset of its block in bytes. */
export class RecordingError extends Error {
  constructor(
    readonly offset: number,
    reason: string,
  ) {
    super(`at byte ${offset}: ${reason}`);
    this.name = 'RecordingError';
  }
}

/** Numbers is a column of numbers of at most 32 bits. */
export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int8Array | Int16Array | Int32Array;

/** Wide is a column of numbers of 64 bits: the low and the high half of each, without their sign. */
export interface Wide {
  lo: Uint32Array;
  hi: Uint32Array;
}

const magic = 'gemurec';
const oldestVersion = 1;
const newestVersion = 2;
const headerBytes = 32;
const descriptorBytes = 24;
const columnTable = 0xffff;
const directoryTable = 0xfffe;
const maxBlockBytes = 64 << 20;
const maxBlockRows = 1 << 20;
const maxBlocks = 1 << 22;
const maxColumns = 1 << 16;
/** maxInflation is the largest ratio of bytes to deflated bytes: a match of 258 bytes takes at least two bits. */
const maxInflation = 4 * 258;
/** maxDecodedBytes bounds the memory of all decoded columns: a small file can claim very large tables. */
export const maxDecodedBytes = 512 << 20;

const arrays = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i8: Int8Array, i16: Int16Array, i32: Int32Array } as const;
const sizes = { u8: 1, u16: 2, u32: 4, u64: 8, i8: 1, i16: 2, i32: 4, i64: 8, text: 8 } as const;

/** ColumnType is the type of a column. */
export type ColumnType = keyof typeof sizes;

/** Encoding is how a block stores a column. */
enum Encoding {
  Constant, // all values are base
  Plain, // value i is base + stored number i, which is unsigned
  Differences, // value i is value i-1 + stored number i, which is signed
  Texts, // the length of each text in 4 bytes, then all texts in UTF-8
}

interface StoredColumn {
  encoding: number;
  width: number;
  flags: number;
  stored: number; // number of stored bytes
  plain: number; // number of bytes after inflation
  sum: number;
  baseLo: number;
  baseHi: number;
  at: number; // offset in the file
}

interface Block {
  offset: number;
  table: number;
  first: number; // rows of the table in earlier blocks
  rows: number;
  columns: StoredColumn[];
  end: number; // offset of the next block
}

const crcTable = (() => {
  const t = new Uint32Array(256);
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    t[n] = c;
  }
  return t;
})();

/** crc32 returns the CRC-32 (IEEE) of the concatenated parts. */
export function crc32(...parts: Uint8Array[]): number {
  let c = 0xffffffff;
  for (const b of parts) for (let i = 0; i < b.length; i++) c = crcTable[(c ^ b[i]) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

/** Column is a column of a table. */
export interface Column {
  name: string;
  type: ColumnType;
}

/** Table is a table of a recording. Missing columns read as zeros and empty texts. */
export class Table {
  readonly columns: Column[] = [];
  rows = 0;
  /** blocks is the blocks of the table, in the order of the rows. */
  readonly blocks: Block[] = [];
  private readonly decoded = new Map<string, Numbers | Wide | string[]>();

  constructor(
    readonly name: string,
    private readonly file: Recording,
  ) {}

  /** numbers returns a column of numbers of at most 32 bits. */
  numbers(name: string): Numbers {
    return this.column(name, (t) => t !== 'text' && sizes[t] <= 4, () => new Uint8Array(this.rows)) as Numbers;
  }

  /** wide returns a column of numbers of 64 bits. */
  wide(name: string): Wide {
    return this.column(name, (t) => t === 'u64' || t === 'i64', () => ({ lo: new Uint32Array(this.rows), hi: new Uint32Array(this.rows) })) as Wide;
  }

  /** counts returns a column of numbers of 64 bits that must be below 2^53, such as numbers of rows. */
  counts(name: string): Float64Array {
    const { lo, hi } = this.wide(name);
    const list = new Float64Array(lo.length);
    for (let i = 0; i < list.length; i++) {
      if (hi[i] >= 1 << 21) throw new RecordingError(this.blocks[0].offset, `column ${name} of table ${this.name} has a number that is too large`);
      list[i] = hi[i] * 2 ** 32 + lo[i];
    }
    return list;
  }

  /** texts returns a column of texts. */
  texts(name: string): string[] {
    return this.column(name, (t) => t === 'text', () => new Array<string>(this.rows).fill('')) as string[];
  }

  private column(name: string, fits: (t: ColumnType) => boolean, missing: () => Numbers | Wide | string[]): Numbers | Wide | string[] {
    let values = this.decoded.get(name);
    const i = this.columns.findIndex((c) => c.name === name);
    const type = i < 0 ? undefined : this.columns[i].type;
    if (type !== undefined && !fits(type)) {
      throw new RecordingError(this.blocks[0]?.offset ?? 0, `column ${name} of table ${this.name} has the type ${type}, which does not fit its use`);
    }
    if (values === undefined) {
      this.file.reserve(this.rows * (type ? sizes[type] : 8));
      values = type === undefined ? missing() : this.decode(i, type);
      this.decoded.set(name, values);
    }
    return values;
  }

  private decode(i: number, type: ColumnType): Numbers | Wide | string[] {
    if (type === 'text') {
      const list: string[] = [];
      for (const b of this.blocks) this.file.decodeTexts(b, i, list);
      return list;
    }
    const wide = { lo: new Uint32Array(this.rows), hi: new Uint32Array(type === 'u64' || type === 'i64' ? this.rows : 0) };
    for (const b of this.blocks) this.file.decodeNumbers(b, i, wide);
    if (type === 'u64' || type === 'i64') return wide;
    return type === 'u32' ? wide.lo : new arrays[type](wide.lo); // conversion truncates
  }
}

/** Recording is a recording in memory. */
export class Recording {
  readonly version: number;
  /** complete reports whether the file has its end. Otherwise only the blocks written completely can be read. */
  readonly complete: boolean;
  readonly tables = new Map<string, Table>();
  private readonly view: DataView;
  private reserved = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 8 || this.ascii(0, 7) !== magic) throw new RecordingError(0, 'this is not a recording of gemu');
    this.version = bytes[7];
    if (this.version < oldestVersion || this.version > newestVersion) {
      throw new RecordingError(0, `the recording has format version ${this.version}; this page reads versions ${oldestVersion} to ${newestVersion}`);
    }
    const { complete, offsets } = this.readDirectory();
    this.complete = complete;
    const blocks = offsets.map((at) => this.readHeader(at));
    if (blocks.length === 0) throw new RecordingError(8, 'the recording ends before its first block');
    this.readSchema(blocks[0]);
    const tables = [...this.tables.values()];
    for (const b of blocks.slice(1)) {
      const t = tables[b.table];
      if (t === undefined) throw new RecordingError(b.offset, `a block belongs to the unknown table ${b.table}`);
      if (b.first !== t.rows || b.columns.length !== t.columns.length) {
        throw new RecordingError(b.offset, `a block of the table ${t.name} does not continue the blocks before it`);
      }
      t.rows += b.rows;
      t.blocks.push(b);
    }
  }

  /** table returns a table; an empty table if the recording has none with this name. */
  table(name: string): Table {
    return this.tables.get(name) ?? new Table(name, this);
  }

  /** names returns the names of the values of a column, by value. */
  names(table: string, column: string): string[] {
    const e = this.table('enumerations');
    if (e.rows > 1 << 16) throw new RecordingError(e.blocks[0].offset, 'the table enumerations has too many rows');
    const [tables, columns, values, names] = [e.texts('table'), e.texts('column'), e.numbers('value'), e.texts('name')];
    const list: string[] = [];
    for (let i = 0; i < tables.length; i++) if (tables[i] === table && columns[i] === column) list[values[i]] = names[i];
    return list;
  }

  /** reserve counts bytes that are to be allocated, and throws an error if all are too many. */
  reserve(bytes: number): void {
    this.reserved += bytes;
    if (this.reserved > maxDecodedBytes) {
      throw new RecordingError(0, 'the recording is too large for the page: record fewer events (--max-events), or a part (--cta, --warps)');
    }
  }

  private ascii(at: number, n: number): string {
    return String.fromCharCode(...this.bytes.subarray(at, at + n));
  }

  /** count reads a number of 64 bits that must be below 2^53; a larger number is returned as infinity. */
  private count(at: number): number {
    const hi = this.view.getUint32(at + 4, true);
    return hi >= 1 << 21 ? Infinity : hi * 2 ** 32 + this.view.getUint32(at, true);
  }

  private readDirectory(): { complete: boolean; offsets: number[] } {
    const size = this.bytes.length;
    if (size >= 24 && this.ascii(size - 8, 8) === magic + '\n') {
      const at = this.count(size - 16);
      const b = this.readHeader(at);
      if (b.table !== directoryTable || b.columns.length !== 4) {
        throw new RecordingError(at, 'the directory is missing at the place that the end of the file states');
      }
      if (b.rows > size / headerBytes) throw new RecordingError(at, 'the directory has more blocks than the file has room for');
      const offset = { lo: new Uint32Array(b.rows), hi: new Uint32Array(b.rows) };
      this.decodeNumbers(b, 0, offset);
      return { complete: true, offsets: Array.from(offset.lo, (lo, i) => offset.hi[i] * 2 ** 32 + lo) };
    }
    const offsets: number[] = [];
    for (let at = 8; ; ) {
      let b: Block;
      try {
        b = this.readHeader(at);
      } catch {
        break; // the last block is not whole
      }
      if (b.table === directoryTable) break; // and the end of the file is missing
      offsets.push(at);
      at = b.end;
    }
    return { complete: false, offsets };
  }

  private readHeader(at: number): Block {
    const { view, bytes } = this;
    if (!(at <= bytes.length - headerBytes)) throw new RecordingError(Math.min(at, bytes.length), 'the file ends in the header of a block');
    const size = view.getUint32(at + 4, true);
    const columns = view.getUint16(at + 10, true);
    const b: Block = {
      offset: at,
      table: view.getUint16(at + 8, true),
      rows: view.getUint32(at + 12, true),
      first: this.count(at + 16),
      columns: [],
      end: at + headerBytes + size,
    };
    if (this.ascii(at, 4) !== 'gblk') throw new RecordingError(at, 'no block header at this place');
    if (size > maxBlockBytes || b.end > bytes.length) throw new RecordingError(at, 'the file ends in a block');
    if (b.rows === 0) throw new RecordingError(at, 'a block has no rows');
    if (b.rows > (b.table === directoryTable ? maxBlocks : maxBlockRows) || columns * descriptorBytes > size) {
      throw new RecordingError(at, 'a block has more rows or columns than its size allows');
    }
    let next = at + headerBytes + columns * descriptorBytes;
    if (crc32(bytes.subarray(at, at + 24), bytes.subarray(at + headerBytes, next)) !== view.getUint32(at + 24, true)) {
      throw new RecordingError(at, 'the header of a block is damaged: its checksum is wrong');
    }
    for (let i = 0; i < columns; i++) {
      const d = at + headerBytes + i * descriptorBytes;
      const c: StoredColumn = {
        encoding: bytes[d],
        width: bytes[d + 1],
        flags: view.getUint16(d + 2, true),
        stored: view.getUint32(d + 4, true),
        plain: view.getUint32(d + 8, true),
        sum: view.getUint32(d + 12, true),
        baseLo: view.getUint32(d + 16, true),
        baseHi: view.getUint32(d + 20, true),
        at: next,
      };
      if (next + c.stored > b.end || c.plain > maxBlockBytes) throw new RecordingError(at, 'a column is longer than its block');
      b.columns.push(c);
      next += Math.ceil(c.stored / 8) * 8;
    }
    return b;
  }

  private readSchema(b: Block): void {
    if (b.table !== columnTable || b.columns.length !== 3) throw new RecordingError(b.offset, 'the first block must list the columns of the tables');
    if (b.rows > maxColumns) throw new RecordingError(b.offset, `${b.rows} columns; a recording has at most ${maxColumns}`);
    const [tables, columns, types] = [0, 1, 2].map((i) => {
      const list: string[] = [];
      this.decodeTexts(b, i, list);
      return list;
    });
    tables.forEach((name, i) => {
      let t = this.tables.get(name);
      if (t === undefined) this.tables.set(name, (t = new Table(name, this)));
      if (!(types[i] in sizes)) throw new RecordingError(b.offset, `column ${columns[i]} of table ${name} has the unknown type ${JSON.stringify(types[i])}`);
      t.columns.push({ name: columns[i], type: types[i] as ColumnType });
    });
  }

  /** inflated returns the stored bytes of a column, inflated, after checks of its descriptor. */
  private inflated(b: Block, c: StoredColumn, isText: boolean): Uint8Array {
    const fail = (reason: string): never => {
      throw new RecordingError(b.offset, reason);
    };
    if (c.flags & ~1) fail(`unknown flags ${c.flags} of a column`);
    if (c.encoding > Encoding.Texts) fail(`unknown encoding ${c.encoding} of a column`);
    if ((c.encoding === Encoding.Texts) !== isText) fail('a column has values of another type than the schema states');
    if (c.plain > maxInflation * c.stored) fail('a column is larger than its stored bytes can hold');
    if (isText) {
      if (c.plain < 4 * b.rows) fail('the size of a column of texts is wrong');
    } else if (c.encoding === Encoding.Constant ? c.plain !== 0 : ![1, 2, 4, 8].includes(c.width) || c.plain !== b.rows * c.width) {
      fail('the size of a column does not match its number of values');
    }
    const stored = this.bytes.subarray(c.at, c.at + c.stored);
    if (crc32(stored) !== c.sum) fail('a column is damaged: its checksum is wrong');
    if (!(c.flags & 1)) {
      if (c.stored !== c.plain) fail('the stored size of an uncompressed column differs from its size');
      return stored;
    }
    let out: Uint8Array;
    try {
      out = inflateSync(stored, { out: new Uint8Array(c.plain + 1) });
    } catch (e) {
      return fail(`a column cannot be decompressed: ${(e as Error).message}`);
    }
    if (out.length !== c.plain) fail('a column has another size after decompression than its descriptor states');
    return out;
  }

  /** decodeNumbers decodes a column of a block into the rows of the block. It leaves out the high halves if to.hi is empty. */
  decodeNumbers(b: Block, i: number, to: Wide): void {
    const c = b.columns[i];
    const bytes = this.inflated(b, c, false);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const first = b.table === directoryTable ? 0 : b.first;
    const wide = to.hi.length > 0;
    let [lo, hi] = [c.baseLo, c.baseHi];
    if (c.encoding === Encoding.Constant) {
      to.lo.fill(lo, first, first + b.rows);
      if (wide) to.hi.fill(hi, first, first + b.rows);
      return;
    }
    const signed = c.encoding === Encoding.Differences;
    for (let k = 0, at = 0; k < b.rows; k++, at += c.width) {
      let [dLo, dHi] = [0, 0];
      switch (c.width) {
        case 1:
          dLo = signed ? view.getInt8(at) : bytes[at];
          break;
        case 2:
          dLo = signed ? view.getInt16(at, true) : view.getUint16(at, true);
          break;
        default:
          dLo = signed ? view.getInt32(at, true) : view.getUint32(at, true);
      }
      if (c.width === 8) {
        dHi = view.getUint32(at + 4, true);
        dLo >>>= 0;
      } else if (dLo < 0) {
        dHi = 0xffffffff;
        dLo >>>= 0;
      }
      const sum = (signed ? lo : c.baseLo) + dLo;
      const high = ((signed ? hi : c.baseHi) + dHi + (sum > 0xffffffff ? 1 : 0)) >>> 0;
      to.lo[first + k] = sum; // stores modulo 2^32
      if (wide) to.hi[first + k] = high;
      if (signed) [lo, hi] = [sum >>> 0, high];
    }
  }

  /** decodeTexts appends the texts of a column of a block. */
  decodeTexts(b: Block, i: number, to: string[]): void {
    const c = b.columns[i];
    this.reserve(c.plain);
    const bytes = this.inflated(b, c, true);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const utf8 = new TextDecoder();
    let at = 4 * b.rows;
    for (let k = 0; k < b.rows; k++) {
      const n = view.getUint32(4 * k, true);
      if (n > bytes.length - at) throw new RecordingError(b.offset, 'a text is longer than its column');
      to.push(utf8.decode(bytes.subarray(at, at + n)));
      at += n;
    }
  }
}
