// The reader, against the dump of tables by gemu record, which is written in Go; and hostile files.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 as zlibCRC32 } from 'node:zlib';
import { type Numbers, Recording, RecordingError, type Wide } from '../src/recording.ts';
import { gemu, kernel, record } from './gemu.ts';

/** parse parses CSV with quoted fields. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const field = /("(?:[^"]|"")*"|[^,\n]*)(,|\n|$)/y;
  while (field.lastIndex < text.length) {
    const m = field.exec(text)!;
    row.push(m[1].startsWith('"') ? m[1].slice(1, -1).replaceAll('""', '"') : m[1]);
    if (m[2] !== ',') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

const runs: [string, string[]][] = [
  ['if and else', [kernel('ifelse'), '-g', '2', '-b', '40', '-a', 'u32[80]', 'u32[80]=iota']],
  ['lock', [kernel('spin'), '-g', '1', '-b', '8', '--reconverge', 'its', '-a', 'u32[1]', 'u32[1]']],
  ['deadlock', [kernel('barbranch'), '-g', '1', '-b', '32', '-a', 'u32[64]', '16']],
  ['workload', ['@mandelbrot', '--max-events', '3000']],
];

for (const [name, args] of runs) {
  test(`the reader agrees with gemu record --table: ${name}`, () => {
    const { file, bytes } = record(...args);
    const rec = new Recording(bytes);
    assert.ok(rec.complete);
    let cells = 0;
    for (const t of rec.tables.values()) {
      if (t.rows === 0 || t.rows > 40_000) continue;
      const [head, ...rows] = parse(gemu('record', file, '--table', t.name));
      assert.equal(rows.length, t.rows, t.name);
      assert.deepEqual(head, ['row', ...t.columns.map((c) => c.name)]);
      t.columns.forEach(({ name, type }, i) => {
        const names = rec.names(t.name, name);
        const texts = type === 'text' ? t.texts(name) : undefined;
        const wide: Wide | undefined = type === 'u64' || type === 'i64' ? t.wide(name) : undefined;
        const numbers: Numbers | undefined = texts || wide ? undefined : t.numbers(name);
        rows.forEach((r, k) => {
          const want = r[i + 1];
          cells++;
          if (texts) assert.equal(texts[k], want, `${t.name}.${name}[${k}]`);
          else if (wide) {
            const v = BigInt.asUintN(64, (BigInt(wide.hi[k]) << 32n) | BigInt(wide.lo[k]));
            assert.equal(v, BigInt.asUintN(64, BigInt(want)), `${t.name}.${name}[${k}]`);
          } else if (names.length) assert.equal(names[numbers![k]], want, `${t.name}.${name}[${k}]`);
          else assert.equal(BigInt(numbers![k]), BigInt(want), `${t.name}.${name}[${k}]`);
        });
      });
    }
    assert.ok(cells > 500);
  });
}

const read = (bytes: Uint8Array): Recording => {
  const rec = new Recording(bytes);
  for (const t of rec.tables.values()) {
    for (const c of t.columns) {
      if (c.type === 'text') t.texts(c.name);
      else if (c.type === 'u64' || c.type === 'i64') t.wide(c.name);
      else t.numbers(c.name);
    }
  }
  return rec;
};

test('a damaged file gives an error with its place, or reads as before', () => {
  const { bytes } = record(kernel('ifelse'), '-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota');
  read(bytes);
  let refused = 0;
  for (let i = 0; i < bytes.length; i++) {
    const copy = bytes.slice();
    copy[i] ^= 1 << i % 8;
    try {
      read(copy);
    } catch (e) {
      assert.ok(e instanceof RecordingError, `byte ${i}: ${(e as Error).stack}`);
      refused++;
    }
  }
  assert.ok(refused > bytes.length / 2, `${refused} of ${bytes.length}`); // the rest is padding, and the end of the file
});

test('a changed byte of a column is found by its checksum', () => {
  const { bytes } = record(kernel('ifelse'), '-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota');
  let changed = 0;
  for (const t of new Recording(bytes).tables.values()) {
    for (const c of t.blocks[0]?.columns ?? []) {
      if (c.stored === 0) continue;
      const copy = bytes.slice();
      copy[c.at + (c.stored >> 1)] ^= 1;
      assert.throws(() => read(copy), /at byte \d+: a column is damaged: its checksum is wrong/);
      changed++;
    }
  }
  assert.ok(changed > 30);
});

test('a shortened file reads up to its last whole block', () => {
  const { bytes } = record(kernel('ifelse'), '-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota');
  for (let n = 0; n < bytes.length; n += 7) {
    try {
      const rec = read(bytes.subarray(0, n));
      assert.ok(!rec.complete);
    } catch (e) {
      assert.ok(e instanceof RecordingError, `${n} bytes: ${(e as Error).stack}`);
    }
  }
  assert.throws(() => new Recording(new Uint8Array([1, 2, 3])), /not a recording/);
  const newer = bytes.slice();
  newer[7] = 3;
  assert.throws(() => new Recording(newer), /format version 3/);
});

interface StoredColumn {
  encoding: number;
  width: number;
  base: bigint;
  stored: Uint8Array;
}

/** block returns a block of a recording with uncompressed columns, after docs/recording.md. */
function block(table: number, rows: number, columns: StoredColumn[], first = 0n): Uint8Array {
  const pad = (n: number) => Math.ceil(n / 8) * 8;
  const size = columns.reduce((sum, c) => sum + 24 + pad(c.stored.length), 0);
  const b = new Uint8Array(32 + size);
  const v = new DataView(b.buffer);
  b.set(new TextEncoder().encode('gblk'));
  v.setUint32(4, size, true);
  v.setUint16(8, table, true);
  v.setUint16(10, columns.length, true);
  v.setUint32(12, rows, true);
  v.setBigUint64(16, first, true);
  let at = 32 + 24 * columns.length;
  columns.forEach((c, i) => {
    const d = 32 + 24 * i;
    b.set([c.encoding, c.width], d);
    v.setUint32(d + 4, c.stored.length, true);
    v.setUint32(d + 8, c.stored.length, true);
    v.setUint32(d + 12, zlibCRC32(c.stored), true);
    v.setBigUint64(d + 16, c.base, true);
    b.set(c.stored, at);
    at += pad(c.stored.length);
  });
  const check = Buffer.concat([b.subarray(0, 24), b.subarray(32, 32 + 24 * columns.length)]);
  v.setUint32(24, zlibCRC32(check), true);
  return b;
}

function texts(...list: string[]): StoredColumn {
  const lengths = new Uint32Array(list.map((t) => t.length));
  return { encoding: 3, width: 0, base: 0n, stored: Buffer.concat([new Uint8Array(lengths.buffer), Buffer.from(list.join(''))]) };
}

/** file returns a recording with a table t of one column x, without its end. */
const file = (type: string, ...blocks: Uint8Array[]): Uint8Array =>
  new Uint8Array(Buffer.concat([Buffer.from('gemurec\x02', 'latin1'), block(0xffff, 1, [texts('t'), texts('x'), texts(type)]), ...blocks]));

test('numbers of 64 bits in each encoding and width', () => {
  const values = (...list: bigint[]) => list.map((v) => BigInt.asUintN(64, v));
  const x = (c: StoredColumn, rows: number) => {
    const { lo, hi } = new Recording(file('u64', block(0, rows, [c]))).table('t').wide('x');
    return Array.from(lo, (l, i) => (BigInt(hi[i]) << 32n) | BigInt(l));
  };
  const base = 0xfffffffffn;
  const bytes = (a: ArrayBufferView) => new Uint8Array(a.buffer);
  assert.deepEqual(x({ encoding: 0, width: 0, base, stored: new Uint8Array() }, 3), [base, base, base]);
  assert.deepEqual(x({ encoding: 1, width: 1, base, stored: new Uint8Array([0, 1, 255]) }, 3), values(base, base + 1n, base + 255n));
  assert.deepEqual(x({ encoding: 1, width: 4, base, stored: bytes(new Uint32Array([1, 0xffffffff])) }, 2), values(base + 1n, base + 0xffffffffn));
  assert.deepEqual(x({ encoding: 1, width: 8, base: 5n, stored: bytes(new BigUint64Array([1n << 40n, 2n ** 64n - 2n])) }, 2), values(5n + (1n << 40n), 3n));
  for (const [width, array, least] of [
    [1, Int8Array, -128],
    [2, Int16Array, -32768],
    [4, Int32Array, -(2 ** 31)],
  ] as const) {
    const d = [0, 1, least, -1, -least - 1];
    let v = base;
    const want = d.map((k) => (v = BigInt.asUintN(64, v + BigInt(k))));
    assert.deepEqual(x({ encoding: 2, width, base, stored: bytes(new array(d)) }, 5), want, `width ${width}`);
    assert.deepEqual(x({ encoding: 2, width, base: 0n, stored: bytes(new array([-1, 1])) }, 2), [2n ** 64n - 1n, 0n]);
  }
  assert.deepEqual(x({ encoding: 2, width: 8, base, stored: bytes(new BigInt64Array([-base, 1n << 50n])) }, 2), [0n, 1n << 50n]);
  const narrow = new Recording(file('i16', block(0, 2, [{ encoding: 1, width: 4, base: 0n, stored: bytes(new Uint32Array([0xffff, 0x17fff])) }])));
  assert.deepEqual([...narrow.table('t').numbers('x')], [-1, 0x7fff]); // truncated to the type
});

test('wrong descriptors are refused', () => {
  const constant = { encoding: 0, width: 0, base: 0n, stored: new Uint8Array() };
  const refuse = (type: string, reason: RegExp, ...blocks: Uint8Array[]) => assert.throws(() => read(file(type, ...blocks)), reason);
  refuse('u64', /unknown encoding 4/, block(0, 1, [{ ...constant, encoding: 4 }]));
  refuse('text', /another type/, block(0, 1, [constant]));
  refuse('u64', /does not match its number of values/, block(0, 2, [{ encoding: 1, width: 1, base: 0n, stored: new Uint8Array(3) }]));
  refuse('u64', /does not match its number of values/, block(0, 1, [{ encoding: 1, width: 3, base: 0n, stored: new Uint8Array(3) }]));
  refuse('text', /longer than its column/, block(0, 1, [{ encoding: 3, width: 0, base: 0n, stored: new Uint8Array([9, 0, 0, 0, 65]) }]));
  refuse('u7', /unknown type/);
  refuse('u64', /unknown table 1/, block(1, 1, [constant]));
  refuse('u64', /does not continue/, block(0, 1, [constant], 7n));
  refuse('u64', /does not continue/, block(0, 1, [constant, constant]));
  // A column of equal values takes 24 bytes for 2^20 rows.
  const many = Array.from({ length: 100 }, (_, i) => block(0, 1 << 20, [constant], BigInt(i) << 20n));
  refuse('u64', /too large for the page/, ...many);
});
