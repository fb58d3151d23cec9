// Values of registers: their class over lanes, their formula, and their text by type.

import { type Lanes, members } from './lanes.ts';
import type { Register, WarpModel } from './model.ts';

/** ValueClass is the structure of a value over lanes; none if no lane has a value. */
export type ValueClass = 'uniform' | 'affine' | 'generic' | 'none';

/** smallestClassified is the least number of lanes whose class means something: any two values at an integral distance are affine. */
export const smallestClassified = 3;

/** Structure is the class of the values of some lanes. */
export interface Structure {
  class: ValueClass;
  /** base is the value of lane 0 by the formula base + stride × lane, modulo two to the width. */
  base: bigint;
  /** stride is the difference from lane to lane, of an affine value; otherwise 0. */
  stride: bigint;
  /** lanes is the number of lanes with a value. */
  lanes: number;
  /** few reports that the class is of fewer than smallestClassified lanes. */
  few: boolean;
}

const none: Structure = { class: 'none', base: 0n, stride: 0n, lanes: 0, few: true };

/** structureOf returns the class of the values of lanes, each of the given number of bits. */
export function structureOf(lanes: Lanes, bits: number, value: (lane: number) => bigint): Structure {
  const list = members(lanes);
  if (list.length === 0) return none;
  const values = list.map(value);
  const few = list.length < smallestClassified;
  const width = Math.min(bits, 64);
  if (values.every((v) => v === values[0])) return { class: 'uniform', base: values[0], stride: 0n, lanes: list.length, few };
  const generic: Structure = { class: 'generic', base: 0n, stride: 0n, lanes: list.length, few };
  if (bits === 1 || bits > 64) return generic;
  const gap = BigInt(list[1] - list[0]);
  const difference = BigInt.asIntN(width, values[1] - values[0]);
  if (difference % gap !== 0n) return generic;
  const stride = difference / gap;
  const base = BigInt.asUintN(width, values[0] - stride * BigInt(list[0]));
  for (let i = 1; i < list.length; i++) {
    if (BigInt.asUintN(width, base + stride * BigInt(list[i])) !== values[i]) return generic;
  }
  return { class: 'affine', base, stride, lanes: list.length, few };
}

const float32 = new DataView(new ArrayBuffer(8));

/** float returns the number with the given bits as a text; undefined if the width is no width of a float. */
function float(bits: bigint, width: number): string | undefined {
  float32.setBigUint64(0, bits, true);
  if (width === 32) return shortFloat(float32.getFloat32(0, true), 7);
  if (width === 64) return shortFloat(float32.getFloat64(0, true), 12);
  return undefined;
}

function shortFloat(x: number, digits: number): string {
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x < 0 ? '-∞' : '∞';
  return String(Number(x.toPrecision(digits)));
}

/** isPointer guesses that a number of 64 bits is an address: it is shown in hexadecimal. */
const isPointer = (v: bigint, bits: number): boolean => bits === 64 && v >= 0x1000000n;

/** Base is the base in which numbers are shown. */
export type Base = 10 | 16;

/** baseOf returns the base in which a register is shown: addresses are always in hexadecimal. */
export function baseOf(m: WarpModel, r: Register, hex: boolean): Base {
  return hex || (m.launch.isAddress(r) && !r.type.startsWith('.f')) ? 16 : 10;
}

/** formatValue returns a value of a register as a text. type is the type in PTX, such as .f32; in base 16 it is the bits that count. */
export function formatValue(v: bigint, type: string, bits: number, base: Base = 10): string {
  if (bits === 1) return v ? '1' : '0';
  if (base === 16) return hex(v);
  if (type.startsWith('.f')) return float(v, bits) ?? hex(v);
  if (bits > 64) return hex(v);
  if (isPointer(v, bits) && !type.startsWith('.s')) return hex(v);
  const signed = BigInt.asIntN(bits, v);
  // An untyped number shortly below two to the width is more readable as a negative number.
  return type.startsWith('.s') || (type.startsWith('.b') && signed < 0n && signed > -65536n) ? signed.toString().replace('-', '−') : v.toString();
}

/** short shortens a value for a cell: a decimal number by rounding, others to their last digits. */
export function short(text: string, most: number): string {
  if (text.length <= most) return text;
  const x = Number(text.replace('−', '-'));
  if (Number.isFinite(x) && !/^0x/.test(text)) {
    for (let digits = most; digits > 0; digits--) {
      const rounded = Number(x.toPrecision(digits));
      const fits = [String(rounded), rounded.toExponential(digits - 1).replace('e+', 'e').replace(/\.?0*e/, 'e')].find((s) => s.length <= most);
      if (fits) return text.startsWith('−') ? fits.replace('-', '−') : fits;
    }
  }
  return tail(text, most);
}

/** tail shortens a text to its last characters. */
export const tail = (text: string, most: number): string => (text.length <= most ? text : '…' + text.slice(-(most - 1)));

function hex(v: bigint): string {
  return '0x' + v.toString(16);
}

/** formula returns a uniform value, or the formula of an affine value: "0x10000000 + 4 · lane". */
export function formula(s: Structure, type: string, bits: number, numbers: Base = 10): string {
  if (s.class === 'uniform') return formatValue(s.base, type, bits, numbers);
  if (s.class !== 'affine') return '';
  // The bits of a float are affine only by their integers: the formula is of bits.
  const base = type.startsWith('.f') ? hex(s.base) : formatValue(s.base, type, bits, numbers);
  const step = (n: bigint) => (numbers === 16 && n > 9n ? hex(n) : String(n));
  const stride = s.stride < 0n ? `− ${step(-s.stride)}` : `+ ${step(s.stride)}`;
  return `${s.base === 0n ? (s.stride < 0n ? '0 ' + stride : step(s.stride)) : `${base} ${stride}`} · lane`;
}
