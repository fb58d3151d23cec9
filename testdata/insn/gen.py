#!/usr/bin/env python3
"""Writes the generated conformance cases of this directory.

    python3 gen.py          writes them
    python3 gen.py --check  says which of them differ, and exits with 1 if any do

Every expected value is computed here, with integers and fractions of unlimited
size, from the pseudo-code of the PTX manual and from IEEE 754. Where neither
says what a result is (integer division by zero, which zero .sat gives for -0)
there is no case.

The parts: numbers, how a module is written, corner values, then a function per
family of instructions, in the order of the manual.
"""

import os
import sys
from fractions import Fraction
from math import isqrt

HERE = os.path.dirname(os.path.abspath(__file__))


# ---------------------------------------------------------------- numbers

class Float:
    """A binary floating-point format. Its values are handled as their bits."""

    def __init__(self, name, width, frac):
        self.name, self.width, self.frac = name, width, frac
        self.bias = (1 << (width - frac - 2)) - 1
        self.emin = 1 - self.bias
        self.sign = 1 << (width - 1)
        self.inf = ((1 << (width - frac - 1)) - 1) << frac
        self.nan = self.sign - 1  # the canonical NaN
        self.max = self.inf - 1
        self.min_normal = 1 << frac
        self.one = self.bias << frac

    def is_nan(self, x):
        return x & ~self.sign > self.inf

    def is_inf(self, x):
        return x & ~self.sign == self.inf

    def is_zero(self, x):
        return x & ~self.sign == 0

    def is_subnormal(self, x):
        return 0 < x & ~self.sign < self.min_normal

    def negative(self, x):
        return x & self.sign != 0

    def value(self, x):
        """The number that finite bits stand for."""
        mag = x & ~self.sign
        e = max(mag >> self.frac, 1)
        v = (mag - ((e - 1) << self.frac)) * Fraction(2) ** (e - self.bias - self.frac)
        return -v if self.negative(x) else v

    def round(self, v, mode, zero_sign=0):
        """Bits of the number v in a rounding mode (IEEE 754, 4.3); an exact zero
        takes the sign that is given."""
        if v == 0:
            return zero_sign and self.sign
        neg, mag = v < 0, abs(v)
        e = max(floor_log2(mag), self.emin)
        q = mag / Fraction(2) ** (e - self.frac)
        n = q.numerator // q.denominator
        rest = q - n
        up = {"rn": rest > Fraction(1, 2) or rest == Fraction(1, 2) and n & 1,
              "rz": False, "rm": neg and rest > 0, "rp": not neg and rest > 0}[mode]
        bits = ((e + self.bias - 1) << self.frac) + n + bool(up)
        if bits >= self.inf:
            toward_inf = mode == "rn" or mode == ("rm" if neg else "rp")
            bits = self.inf if toward_inf else self.max
        return bits | (self.sign if neg else 0)

    def of(self, v, mode="rn"):
        return self.round(Fraction(v), mode)

    def flush(self, x):
        """A subnormal as the zero of its sign."""
        return x & self.sign if self.is_subnormal(x) else x

    def text(self, x):
        """Bits as they stand in a case line."""
        if x == NAN:
            return x
        if x & ~self.sign == self.inf:
            return "-inf" if self.negative(x) else "inf"
        if not self.is_nan(x) and self.width >= 32:
            v = self.value(x)
            if v == 0:
                return "-0" if self.negative(x) else "0"
            if v.denominator <= 8 and abs(v) < 10000:
                return repr(float(v)).removesuffix(".0")
        return "0%s%0*x" % ("d" if self.width == 64 else "f", self.width // 4, x)


NAN = "nan"  # any NaN


class Unsaid(Exception):
    """The manual does not say what the result is."""


F16 = Float("f16", 16, 10)
BF16 = Float("bf16", 16, 7)
F32 = Float("f32", 32, 23)
F64 = Float("f64", 64, 52)
FLOATS = {"f16": F16, "f32": F32, "f64": F64}
ROUNDINGS = ("rn", "rz", "rm", "rp")


def floor_log2(v):
    e = v.numerator.bit_length() - v.denominator.bit_length()
    return e if v >= Fraction(2) ** e else e - 1


def sqrt_number(v):
    """A number that every rounding of every format takes where it takes the
    root of v: the root itself, or one between the same neighbours."""
    if v == 0:
        return v
    # With 140 bits behind the first the neighbours are closer than any format's.
    shift = 2 * (140 - floor_log2(v) // 2)
    scaled = v * Fraction(2) ** shift
    n = isqrt(scaled.numerator // scaled.denominator)
    exact = n * n == scaled
    return (Fraction(n) if exact else Fraction(2 * n + 1, 2)) / Fraction(2) ** (shift // 2)


def unsigned(v, n):
    return v & ((1 << n) - 1)


def signed(v, n):
    v = unsigned(v, n)
    return v - (1 << n) if v >> (n - 1) else v


def width(t):
    return int("".join(c for c in t.split("x")[0] if c.isdigit()))


def integer(v, t):
    """Bits read by an integer type."""
    return signed(v, width(t)) if t[0] == "s" else unsigned(v, width(t))


def bounds(t):
    n = width(t)
    return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if t[0] == "s" else (0, (1 << n) - 1)


def clamp(v, t):
    lo, hi = bounds(t)
    return min(max(v, lo), hi)


# ---------------------------------------------------------------- modules

LANES = 32  # threads of a case line with buffers


def value_text(v, t):
    if t in FLOATS:
        return FLOATS[t].text(v)
    n = width(t)
    v = integer(v, t)
    return str(v) if -10000 < v < 10000 else "0x%x" % unsigned(v, n)


def list_text(values, t):
    """Values, with what repeats at least three times written once."""
    out, i = [], 0
    while i < len(values):
        j = i
        while j < len(values) and values[j] == values[i]:
            j += 1
        text = value_text(values[i], t)
        out += ["%s*%d" % (text, j - i)] if j - i > 2 else [text] * (j - i)
        i = j
    return " ".join(out)


def reg_type(t, wide):
    """The type of a register for values of a type."""
    if t == "f16":
        return "b16"
    return t.replace("8", "16") if wide and t in ("u8", "s8", "b8") else t


class Module:
    """A .ptx file in the making."""

    def __init__(self, name, sections, about, version="8.0", target="sm_90"):
        self.name = name
        self.text = [
            "// Manual %s: %s" % (sections, about),
            "// Written by gen.py, which computes the expected values; do not edit.",
            ".version " + version, ".target " + target, ".address_size 64",
        ]
        modules.append(self)

    def add(self, text):
        self.text += ["", text.strip("\n")]

    def lanes(self, name, ins, out, code, rows, outs=1, regs="", uniform=0, lanes=LANES, options="", wide=True):
        """A kernel that computes row i in thread i: from buffers of the input
        types ("u32 f32": %a, %b, …) it makes %d, or %d0, %d1, … of type out.
        Rows are (inputs, outputs); those of an output None are left out. With
        uniform, that many of the rows run also with kernel parameters in place
        of buffers. Bytes are held in 16-bit registers if wide."""
        ins = ins.split()
        rows = [(a, r if isinstance(r, tuple) else (r,)) for a, r in rows]
        rows = [(a, r) for a, r in rows if None not in r]
        assert rows and all(len(a) == len(ins) and len(r) == outs for a, r in rows), name
        names = "abcef"[:len(ins)]
        dests = ["%d"] if outs == 1 else ["%%d%d" % i for i in range(outs)]
        decls = ["\t.reg .%s %%%s;" % (reg_type(t, wide), n) for n, t in zip(names, ins)]
        decls += ["\t.reg .%s %s;" % (reg_type(out, wide), ", ".join(dests))]
        decls += ["\t.reg .%s;" % r for r in regs.split("; ") if r]
        body = ["\t" + line.strip() for line in code.strip().split("\n")]

        size = width(out) // 8
        stores = ["\tst.global.%s [%%p+%d], %s;" % (mem_type(out), i * size, d) for i, d in enumerate(dests)]
        text = [".visible .entry %s(%s, .param .u64 out)" % (name, ", ".join(".param .u64 " + n for n in names)), "{"]
        text += decls + ["\t.reg .u32 %i;", "\t.reg .u64 %p;", "\tmov.u32 %i, %tid.x;"]
        for n, t in zip(names, ins):
            text += ["\tld.param.u64 %%p, [%s];" % n, "\tmad.wide.u32 %%p, %%i, %d, %%p;" % (width(t) // 8),
                     "\tld.global.%s %%%s, [%%p];" % (mem_type(t), n)]
        text += body
        text += ["\tld.param.u64 %p, [out];", "\tmad.wide.u32 %%p, %%i, %d, %%p;" % (size * outs)] + stores + ["\tret;", "}"]
        for i in range(0, len(rows), lanes):
            part = rows[i:i + lanes]
            args = ["%s{%s}" % (t, list_text([a[j] for a, _ in part], t)) for j, t in enumerate(ins)]
            want = list_text([v for _, r in part for v in r], out)
            text += ["// run block=%d%s: %s(%s) == %s %s" % (len(part), options and " " + options, name, ", ".join(args), out, want)]
        self.add("\n".join(text))

        if not uniform:
            return
        text = [".visible .entry %s_uniform(%s, .param .u64 out)" % (name, ", ".join(".param .%s %s" % (mem_type(t), n) for n, t in zip(names, ins))), "{"]
        text += decls + ["\t.reg .u64 %p;"]
        text += ["\tld.param.%s %%%s, [%s];" % (mem_type(t), n, n) for n, t in zip(names, ins)]
        text += body + ["\tld.param.u64 %p, [out];"] + stores + ["\tret;", "}"]
        step = max(1, (len(rows) - 1) // uniform)
        for a, r in rows[step // 2::step][:uniform]:
            args = ", ".join(value_text(v, t) for v, t in zip(a, ins))
            text += ["// run: %s_uniform(%s) == %s %s" % (name, args, out, list_text(r, out))]
        self.add("\n".join(text))


def mem_type(t):
    return "b16" if t == "f16" else t


modules = []


def rows1(f, values):
    return rowsn(f, [(a,) for a in values])


def rowsn(f, tuples):
    """Rows of a function of bits; what it leaves unsaid is left out."""
    rows = []
    for t in tuples:
        try:
            r = f(*t)
        except Unsaid:
            continue
        rows.append((t, r))
    return rows


def cross(*lists):
    out = [()]
    for values in lists:
        out = [t + (v,) for t in out for v in values]
    return out


# ---------------------------------------------------------------- corner values

class Random:
    """xorshift64*: the same numbers with every version of Python."""

    def __init__(self, seed):
        self.s = seed * 0x9E3779B97F4A7C15 & (1 << 64) - 1 or 1

    def bits(self, n):
        s = self.s
        s ^= s >> 12
        s ^= s << 25 & (1 << 64) - 1
        s ^= s >> 27
        self.s = s
        return (s * 0x2545F4914F6CDD1D & (1 << 64) - 1) >> (64 - n)

    def pick(self, values):
        return values[self.bits(32) % len(values)]


def corners(n):
    """Corner values of n bits."""
    return [0, 1, (1 << n) - 1, (1 << (n - 1)) - 1, 1 << (n - 1), (1 << (n - 1)) + 1,
            1 << n // 2, (1 << n // 2) - 1, 0x5A3C96E1F00FD287 >> (64 - n), 2, (1 << n) - 2]


def int_pairs(n):
    few = corners(n)[:6]
    r = Random(n)
    return cross(few, few) + [(r.bits(n), r.bits(n)) for _ in range(8)] + [
        (a, b) for a, b in cross(corners(n)[6:9], corners(n)[6:9])] + [(2, 1 << n - 1), ((1 << n) - 2, 3), (7, 1 << n - 2)]


def int_triples(n):
    few = [0, 1, (1 << n) - 1, (1 << (n - 1)) - 1, 1 << (n - 1)]
    r = Random(n + 100)
    return cross(few[1:], few[1:], few[:1] + few[2:])[::2] + [(r.bits(n), r.bits(n), r.bits(n)) for _ in range(16)]


def float_corners(f):
    return [0, f.sign, f.one, f.one | f.sign, f.inf, f.inf | f.sign, f.nan & ~(1 << f.frac - 1) | 1, f.nan | f.sign,
            1, 1 | f.sign, f.min_normal - 1, f.min_normal | f.sign, f.max, f.max | f.sign,
            f.of(3), f.of(Fraction(-1, 3))]


def float_pairs(f):
    """Pairs near each other in size, of every relation of exponents that rounds."""
    r = Random(f.width)
    out = []
    for gap in list(range(0, f.frac + 4)) + [2 * f.frac, 2 * f.frac + 3]:
        e = f.bias + r.bits(4) - 8
        a = e << f.frac | r.bits(f.frac)
        b = max(e - gap, 0) << f.frac | r.bits(f.frac)
        s = r.bits(2)
        a, b = a | (f.sign if s & 1 else 0), b | (f.sign if s & 2 else 0)
        out.append((a, b) if r.bits(1) else (b, a))
    return out


# ---------------------------------------------------------------- 9.7.1 integer arithmetic

INTS = ("u16", "u32", "u64", "s16", "s32", "s64")


def both(f):
    """A function of two integers as one of the halves of packed words."""
    return lambda *args: sum((f(*(a >> i & 0xffff for a in args)) & 0xffff) << i for i in (0, 16))


def on(t, f):
    """A function of integers as one of bits of type t, its result wrapped."""
    def g(*args):
        r = f(*(integer(a, t) for a in args))
        return None if r is None else unsigned(r, width(t))
    return g


def halves(n):
    """Packed pairs of corner values."""
    c = [x for x in (0, 1, 0xffff, 0x7fff, 0x8000, 0x1234)]
    return [(a | b << 16, c[(i * 5 + 1) % 6] | c[(i * 7 + 3) % 6] << 16) for i, (a, b) in enumerate(cross(c, c))]


def arithmetic(name, section, about, f, types=INTS, pairs=int_pairs, form="%s.%s"):
    m = Module(name, section, about)
    for t in types:
        m.lanes("%s_%s" % (name, t), t + " " + t, t, (form + " %%d, %%a, %%b;") % (name, t), rowsn(on(t, f), pairs(width(t))), uniform=2)
    return m


def gen_integer():
    add = arithmetic("add", "9.7.1.1", "integer add. Results modulo 2^n; .sat clamps.", lambda a, b: a + b)
    sub = arithmetic("sub", "9.7.1.2", "integer sub. Results modulo 2^n; .sat clamps.", lambda a, b: a - b)
    for m, f in (add, lambda a, b: a + b), (sub, lambda a, b: a - b):
        m.lanes(m.name + "_sat_s32", "s32 s32", "s32", m.name + ".sat.s32 %d, %a, %b;",
                rowsn(on("s32", lambda a, b: clamp(f(a, b), "s32")), int_pairs(32)), uniform=2)
    for t in "u16x2", "s16x2":
        add.lanes("add_" + t, "b32 b32", "b32", "add.%s %%d, %%a, %%b;" % t, rowsn(both(lambda a, b: a + b), halves(16)), uniform=1)

    m = Module("mul", "9.7.1.3", "integer mul.")
    for t in INTS:
        n = width(t)
        for mode, f in ("lo", lambda a, b: a * b), ("hi", lambda a, b: a * b >> n):
            m.lanes("mul_%s_%s" % (mode, t), t + " " + t, t, "mul.%s.%s %%d, %%a, %%b;" % (mode, t), rowsn(on(t, f), int_pairs(n)), uniform=2)
        if n < 64:
            wide = t[0] + str(2 * n)
            m.lanes("mul_wide_" + t, t + " " + t, wide, "mul.wide.%s %%d, %%a, %%b;" % t,
                    rowsn(lambda a, b: unsigned(integer(a, t) * integer(b, t), 2 * n), int_pairs(n)), uniform=2)

    m = Module("mad", "9.7.1.4", "integer mad; mad.hi.sat.s32 clamps the sum.")
    for t in INTS:
        n = width(t)
        for mode, f in ("lo", lambda a, b, c: a * b + c), ("hi", lambda a, b, c: (a * b >> n) + c):
            m.lanes("mad_%s_%s" % (mode, t), " ".join([t] * 3), t, "mad.%s.%s %%d, %%a, %%b, %%c;" % (mode, t), rowsn(on(t, f), int_triples(n)), uniform=2)
        if n < 64:
            wide = t[0] + str(2 * n)
            m.lanes("mad_wide_" + t, "%s %s %s" % (t, t, wide), wide, "mad.wide.%s %%d, %%a, %%b, %%c;" % t,
                    rowsn(lambda a, b, c: unsigned(integer(a, t) * integer(b, t) + c, 2 * n),
                          [(a, b, corners(2 * n)[i % 11]) for i, (a, b) in enumerate(int_pairs(n))]), uniform=2)
    m.lanes("mad_hi_sat_s32", "s32 s32 s32", "s32", "mad.hi.sat.s32 %d, %a, %b, %c;",
            rowsn(on("s32", lambda a, b, c: clamp((a * b >> 32) + c, "s32")), int_triples(32)), uniform=2)

    # The operands are 24-bit numbers in 32-bit registers: others have no case.
    def numbers24(t):
        values = [0, 1, 0x7fffff, 0x123456] + ([0xffffffff, 0xff800000, 0xff800001] if t == "s32" else [0xffffff, 0x800000, 0x800001])
        return cross(values, values)
    m = Module("mul24", "9.7.1.5, 9.7.1.6", "mul24 and mad24 of 24-bit numbers: bits 47..16 and 31..0 of the product.")
    for t in "u32", "s32":
        for mode, shift in ("lo", 0), ("hi", 16):
            m.lanes("mul24_%s_%s" % (mode, t), t + " " + t, t, "mul24.%s.%s %%d, %%a, %%b;" % (mode, t),
                    rowsn(on(t, lambda a, b: a * b >> shift), numbers24(t)), uniform=1)
            triples = [(a, b, corners(32)[i % 11]) for i, (a, b) in enumerate(numbers24(t))]
            m.lanes("mad24_%s_%s" % (mode, t), " ".join([t] * 3), t, "mad24.%s.%s %%d, %%a, %%b, %%c;" % (mode, t),
                    rowsn(on(t, lambda a, b, c: integer(a * b >> shift, t) + c), triples), uniform=1)
    m.lanes("mad24_hi_sat_s32", "s32 s32 s32", "s32", "mad24.hi.sat.s32 %d, %a, %b, %c;",
            rowsn(on("s32", lambda a, b, c: clamp((a * b >> 16) + c, "s32")), triples + [(a, b, 0x7fffffff) for a, b in numbers24("s32")[20:30]]))

    m = Module("sad", "9.7.1.7", "sad: the sum wraps.")
    for t in INTS:
        m.lanes("sad_" + t, " ".join([t] * 3), t, "sad.%s %%d, %%a, %%b, %%c;" % t,
                rowsn(on(t, lambda a, b, c: c + (b - a if a < b else a - b)), int_triples(width(t))), uniform=2)

    # Division rounds toward zero, as the C that is compiled to it; by zero it is
    # unspecified, and so is the quotient that does not fit (minimum / -1).
    def div(a, b):
        if b == 0:
            raise Unsaid
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    def unfit(f):
        def g(a, b):
            if b == -1 and a in (-1 << 15, -1 << 31, -1 << 63):
                raise Unsaid
            return f(a, b)
        return g

    def div_pairs(n):
        return int_pairs(n) + cross([(1 << n - 1) - 1, (1 << n) - 7, 100, 1 << n - 2], [7, (1 << n) - 7, 3, 1 << n // 2])
    arithmetic("div", "9.7.1.8", "integer div.", unfit(div), pairs=div_pairs)
    arithmetic("rem", "9.7.1.9", "integer rem: what div leaves.", unfit(lambda a, b: a - b * div(a, b)), pairs=div_pairs)

    for name, section, f in ("abs", "9.7.1.10", abs), ("neg", "9.7.1.11", lambda a: -a):
        m = Module(name, section, "integer %s. The minimum has no opposite: it wraps to itself." % name)
        for t in "s16", "s32", "s64":
            m.lanes("%s_%s" % (name, t), t, t, "%s.%s %%d, %%a;" % (name, t), rows1(on(t, f), corners(width(t))), uniform=2)

    for name, section, f in ("min", "9.7.1.12", min), ("max", "9.7.1.13", max):
        m = arithmetic(name, section, "integer %s; .relu raises what is negative to 0." % name, f)
        m.lanes(name + "_relu_s32", "s32 s32", "s32", name + ".relu.s32 %d, %a, %b;",
                rowsn(on("s32", lambda a, b: max(f(a, b), 0)), int_pairs(32)), uniform=2)
        for t in "u16x2", "s16x2":
            h = lambda a, b: f(integer(a, t), integer(b, t))
            m.lanes("%s_%s" % (name, t), "b32 b32", "b32", "%s.%s %%d, %%a, %%b;" % (name, t), rowsn(both(h), halves(16)), uniform=1)
        m.lanes(name + "_relu_s16x2", "b32 b32", "b32", name + ".relu.s16x2 %d, %a, %b;",
                rowsn(both(lambda a, b: max(f(signed(a, 16), signed(b, 16)), 0)), halves(16)), uniform=1)


def gen_bits():
    def words(n):
        r = Random(n + 7)
        return corners(n) + [1 << i for i in range(2, n, 7)] + [(1 << n) - 1 ^ (1 << i) - 1 for i in range(3, n, 11)] + [
            (1 << i) - 1 for i in range(5, n, 9)] + [r.bits(n) for _ in range(4)]

    m = Module("popc", "9.7.1.14", "popc.")
    for n in 32, 64:
        m.lanes("popc_b%d" % n, "b%d" % n, "u32", "popc.b%d %%d, %%a;" % n, rows1(lambda a: bin(a).count("1"), words(n)), uniform=2)
    m = Module("clz", "9.7.1.15", "clz.")
    for n in 32, 64:
        m.lanes("clz_b%d" % n, "b%d" % n, "u32", "clz.b%d %%d, %%a;" % n, rows1(lambda a: n - a.bit_length(), words(n)), uniform=2)

    def bfind(a, t, shiftamt):
        n = width(t)
        if integer(a, t) < 0:
            a = unsigned(~a, n)
        if a == 0:
            return 0xffffffff
        return n - a.bit_length() if shiftamt else a.bit_length() - 1
    m = Module("bfind", "9.7.1.16", "bfind.")
    for t in "u32", "u64", "s32", "s64":
        for op in "bfind", "bfind.shiftamt":
            m.lanes("%s_%s" % (op.replace(".", "_"), t), t, "u32", "%s.%s %%d, %%a;" % (op, t),
                    rows1(lambda a: bfind(a, t, op != "bfind"), words(width(t))), uniform=2)

    def fns(mask, base, offset):
        offset = signed(offset, 32)
        if offset == 0:
            return base if mask >> base & 1 else 0xffffffff
        count, pos = abs(offset) - 1, base
        while 0 <= pos < 32:
            if mask >> pos & 1:
                if count == 0:
                    return pos
                count -= 1
            pos += 1 if offset > 0 else -1
        return 0xffffffff
    m = Module("fns", "9.7.1.17", "fns. The first four values are the manual's examples.")
    m.lanes("fns_b32", "b32 u32 s32", "u32", "fns.b32 %d, %a, %b, %c;", rowsn(fns, [
        (0xaaaaaaaa, 3, 1), (0xaaaaaaaa, 3, unsigned(-1, 32)), (0xaaaaaaaa, 2, 1), (0xaaaaaaaa, 2, unsigned(-1, 32))] + cross(
        [0, 0xffffffff, 0x80000001, 0x00ff0f10], [0, 5, 31], [unsigned(i, 32) for i in (0, 1, -1, 2, -2, 16, 32, 33, -32)])), uniform=2)

    m = Module("brev", "9.7.1.18", "brev.")
    for n in 32, 64:
        m.lanes("brev_b%d" % n, "b%d" % n, "b%d" % n, "brev.b%d %%d, %%a;" % n,
                rows1(lambda a: int("{:0{}b}".format(a, n)[::-1], 2), words(n)), uniform=2)

    def field_part(x, n):
        """A start or length: the low 8 bits, says the manual. For 64 bits ptxas
        makes shifts that use all 32; what is above n changes nothing."""
        return x & 0xff if n == 32 else min(x, n)

    def bfe(a, b, c, t):
        n = width(t)
        pos, length = field_part(b, n), field_part(c, n)
        sbit = 0 if t[0] == "u" or length == 0 else a >> min(pos + length - 1, n - 1) & 1
        return sum((a >> pos + i & 1 if i < length and pos + i < n else sbit) << i for i in range(n))

    def bfi(a, b, c, d, n):
        pos, length = field_part(c, n), field_part(d, n)
        for i in range(length):
            if pos + i < n:
                b = b & ~(1 << pos + i) | (a >> i & 1) << pos + i
        return b
    # In 8 bits 0x104 is 4, 0x100 is 0.
    def fields(n):
        return cross([0, 1, 8, n - 1, n, n + 1, 255, 0x100 + 4], [0, 1, 7, n - 1, n, n + 1, 255, 0x100]) + [(0x80000004, 8), (4, 0x80000008), (0xffffffff, 1), (0, 0xffffff00)]
    m = Module("bfe", "9.7.1.19", "bfe, with start and length up to and beyond the width.")
    for t in "u32", "u64", "s32", "s64":
        n = width(t)
        values = words(n)[8:] + [0x80000000 << n - 32, (1 << n) - 1]
        m.lanes("bfe_" + t, t + " u32 u32", t, "bfe.%s %%d, %%a, %%b, %%c;" % t,
                rowsn(lambda a, b, c: bfe(a, b, c, t), [(values[i * 5 % len(values)], b, c) for i, (b, c) in enumerate(fields(n))]), uniform=2)
    m = Module("bfi", "9.7.1.20", "bfi, with start and length up to and beyond the width.")
    for n in 32, 64:
        values = words(n)
        m.lanes("bfi_b%d" % n, "b%d b%d u32 u32" % (n, n), "b%d" % n, "bfi.b%d %%d, %%a, %%b, %%c, %%e;" % n,
                rowsn(lambda a, b, c, d: bfi(a, b, c, d, n),
                      [(values[i * 5 % len(values)], values[(i * 7 + 2) % len(values)], c, d) for i, (c, d) in enumerate(fields(n))]), uniform=2)

    def szext(a, b, mode, t):
        b1 = b & 0x1f
        too_large = b >= 32 and mode == "clamp"
        mask = 0 if too_large else unsigned(-1 << b1, 32)
        negative = b1 != 0 and not too_large and t == "s32" and a >> (b1 - 1 & 0x1f) & 1
        return a & ~mask | (mask if negative else 0)
    m = Module("szext", "9.7.1.21", "szext.")
    for mode, t in cross(("clamp", "wrap"), ("u32", "s32")):
        m.lanes("szext_%s_%s" % (mode, t), t + " u32", t, "szext.%s.%s %%d, %%a, %%b;" % (mode, t),
                rowsn(lambda a, b: szext(a, b, mode, t), cross([0xffffffff, 0x80000000, 0x12345678, 0x00a5], [0, 1, 8, 31, 32, 33, 40, 0x80000001])), uniform=2)

    def bmsk(a, b, mode):
        a1, b1 = a & 0x1f, b & 0x1f
        mask0 = unsigned(-1 << a1, 32)
        mask1 = unsigned(-1 << a1 + b1, 32)
        sum_overflow, position_overflow, width_overflow = a1 + b1 >= 32, False, False
        if mode == "clamp":
            if a >= 32:
                position_overflow, mask0 = True, 0
            if b >= 32:
                width_overflow = True
        if sum_overflow or position_overflow or width_overflow:
            mask1 = 0
        elif b1 == 0:
            mask1 = 0xffffffff
        return mask0 & ~mask1
    m = Module("bmsk", "9.7.1.22", "bmsk.")
    for mode in "clamp", "wrap":
        m.lanes("bmsk_" + mode, "b32 b32", "b32", "bmsk.%s.b32 %%d, %%a, %%b;" % mode,
                rowsn(lambda a, b: bmsk(a, b, mode), [(1, 2)] + cross([0, 1, 16, 31, 32, 33, 0xffffffff], [0, 1, 15, 31, 32, 33, 0x80000000])), uniform=2)

    def dot(n, atype, btype, select):
        def f(a, b, c):
            va = [integer(a >> i, atype[0] + str(32 // n)) for i in range(0, 32, 32 // n)]
            vb = [integer(b >> i, btype[0] + "8") for i in range(0, 32, 8)]
            return unsigned(c + sum(x * y for x, y in zip(va, vb[select:])), 32)
        return f
    r = Random(4)
    triples = cross([0xffffffff, 0x80808080, 0x7f7f7f7f, 0x80007fff], [0xffffffff, 0x80808080, 0x7f7f7f7f, 0x807f01ff], [0, 0xffffffff]) + [
        (r.bits(32), r.bits(32), r.bits(32)) for _ in range(16)]
    m = Module("dp4a", "9.7.1.23", "dp4a.")
    m2 = Module("dp2a", "9.7.1.24", "dp2a.")
    for atype, btype in cross(("u32", "s32"), ("u32", "s32")):
        c = "u32" if atype == btype == "u32" else "s32"
        m.lanes("dp4a_%s_%s" % (atype, btype), "b32 b32 " + c, c, "dp4a.%s.%s %%d, %%a, %%b, %%c;" % (atype, btype),
                rowsn(dot(4, atype, btype, 0), triples), uniform=1)
        for mode in "lo", "hi":
            m2.lanes("dp2a_%s_%s_%s" % (mode, atype, btype), "b32 b32 " + c, c, "dp2a.%s.%s.%s %%d, %%a, %%b, %%c;" % (mode, atype, btype),
                     rowsn(dot(2, atype, btype, 0 if mode == "lo" else 2), triples), uniform=1)


# ---------------------------------------------------------------- 9.7.2 extended precision

def gen_carry():
    m = Module("carry", "9.7.2", "add.cc, addc, sub.cc, subc, mad.cc, madc: the carry, seen through addc and subc of zeros.")
    for t in "u32", "s32", "u64", "s64":
        n = width(t)

        def chain(*parts):
            """Sums of numbers of n bits, each with the carry of the one before."""
            out, carry = [], 0
            for p in parts:
                s = p + carry
                out.append(unsigned(s, n))
                carry = s >> n
            return tuple(out)

        # sub.cc and subc: what is borrowed is the sign of the difference. The flag
        # is 1 if nothing is: ptxas makes a sum with the complement of them.
        def borrow(*parts):
            out, b = [], 0
            for x, y in parts:
                out.append(unsigned(x - y - b, n))
                b = 1 if x < y + b else 0
            return tuple(out)
        pairs = int_pairs(n)
        m.lanes("add_cc_" + t, t + " " + t, t, """add.cc.%s %%d0, %%a, %%b;
            addc.%s %%d1, 0, 0;""" % (t, t), rowsn(lambda a, b: chain(a + b, 0), pairs), outs=2, uniform=2)
        m.lanes("addc_cc_" + t, t + " " + t, t, """add.cc.%s %%d0, %%a, %%a;
            addc.cc.%s %%d1, %%a, %%b;
            addc.%s %%d2, 0, 0;""" % (t, t, t), rowsn(lambda a, b: chain(a + a, a + b, 0), pairs), outs=3, uniform=2)
        m.lanes("sub_cc_" + t, t + " " + t, t, """sub.cc.%s %%d0, %%a, %%b;
            subc.%s %%d1, 0, 0;""" % (t, t), rowsn(lambda a, b: borrow((a, b), (0, 0)), pairs), outs=2, uniform=2)
        m.lanes("subc_cc_" + t, t + " " + t, t, """sub.cc.%s %%d0, %%b, %%a;
            subc.cc.%s %%d1, %%a, %%b;
            subc.%s %%d2, 0, 0;""" % (t, t, t), rowsn(lambda a, b: borrow((b, a), (a, b), (0, 0)), pairs), outs=3, uniform=2)

        def complement(b):
            return (1 << n) - 1 - b
        m.lanes("sub_addc_" + t, t + " " + t, t, """sub.cc.%s %%d0, %%a, %%b;
            addc.cc.%s %%d1, %%a, %%b;
            subc.cc.%s %%d2, %%b, %%a;
            addc.%s %%d3, 0, 0;""" % (t, t, t, t),
                rowsn(lambda a, b: chain(a + complement(b) + 1, a + b, b + complement(a), 0), pairs), outs=4, uniform=2)
        for half in "lo", "hi":
            def part(a, b):
                p = integer(a, t) * integer(b, t)
                return unsigned(p >> n if half == "hi" else p, n)
            m.lanes("mad_%s_cc_%s" % (half, t), " ".join([t] * 3), t, """mad.%s.cc.%s %%d0, %%a, %%b, %%c;
                addc.%s %%d1, 0, 0;""" % (half, t, t), rowsn(lambda a, b, c: chain(part(a, b) + c, 0), int_triples(n)), outs=2)
            m.lanes("sub_madc_%s_%s" % (half, t), " ".join([t] * 3), t, """sub.cc.%s %%d0, %%a, %%b;
                madc.%s.cc.%s %%d1, %%a, %%b, %%c;
                subc.%s %%d2, %%c, %%a;""" % (t, half, t, t), rowsn(lambda a, b, c: chain(a + complement(b) + 1, part(a, b) + c, c + complement(a)), int_triples(n)), outs=3, uniform=1)
            m.lanes("madc_%s_cc_%s" % (half, t), " ".join([t] * 3), t, """add.cc.%s %%d0, %%a, %%b;
                madc.%s.cc.%s %%d1, %%a, %%b, %%c;
                madc.%s.%s %%d2, %%a, %%c, %%b;""" % (t, half, t, half, t),
                    rowsn(lambda a, b, c: chain(a + b, part(a, b) + c, part(a, c) + b), int_triples(n)), outs=3, uniform=1)

    m = Module("carry_wide", "9.7.2", "chains of carries: sums, differences and products wider than a register, as in the manual's examples.")

    def limbs(v, n, k):
        return tuple(v >> n * i & (1 << n) - 1 for i in range(k))
    wide = [0, 1, (1 << 128) - 1, (1 << 127) - 1, 1 << 127, (1 << 64) - 1, 1 << 64, 0xffffffff00000000ffffffff00000000, 0x0123456789abcdeffedcba9876543210]

    def split(pairs, k=2):
        return [limbs(a, 64, k) + limbs(b, 64, k) for a, b in pairs]
    for op, sign in ("add", 1), ("sub", -1):
        m.lanes("%s128_of_32" % op, "u64 u64 u64 u64", "u32", """mov.b64 {%%x0, %%x1}, %%a;
            mov.b64 {%%x2, %%x3}, %%b;
            mov.b64 {%%y0, %%y1}, %%c;
            mov.b64 {%%y2, %%y3}, %%e;
            %s.cc.u32 %%d0, %%x0, %%y0;
            %sc.cc.u32 %%d1, %%x1, %%y1;
            %sc.cc.u32 %%d2, %%x2, %%y2;
            %sc.u32 %%d3, %%x3, %%y3;""" % (op, op, op, op),
                rowsn(lambda a0, a1, b0, b1: limbs((a0 | a1 << 64) + sign * (b0 | b1 << 64), 32, 4), split(cross(wide, wide[1:]))),
                outs=4, regs="b32 %x<4>, %y<4>", uniform=2)
        m.lanes("%s128_of_64" % op, "u64 u64 u64 u64", "u64", """%s.cc.u64 %%d0, %%a, %%c;
            %sc.u64 %%d1, %%b, %%e;""" % (op, op),
                rowsn(lambda a0, a1, b0, b1: limbs((a0 | a1 << 64) + sign * (b0 | b1 << 64), 64, 2), split(cross(wide, wide[1:]))), outs=2, uniform=2)
    factors = [0, 1, (1 << 64) - 1, 1 << 63, (1 << 32) - 1, 1 << 32, 0xffffffff00000001, 0x0123456789abcdef]
    m.lanes("mul64_manual", "u64 u64", "u32", """// The example of 9.7.2.6, with r4 and r5 in %x0, %x1, r6 and r7 in %y0, %y1.
        mov.b64 {%x0, %x1}, %a;
        mov.b64 {%y0, %y1}, %b;
        mul.lo.u32 %d0, %x0, %y0;
        mul.hi.u32 %d1, %x0, %y0;
        mad.lo.cc.u32 %d1, %x1, %y0, %d1;
        madc.hi.u32 %d2, %x1, %y0, 0;
        mad.lo.cc.u32 %d1, %x0, %y1, %d1;
        madc.hi.cc.u32 %d2, %x0, %y1, %d2;
        addc.u32 %d3, 0, 0;
        mad.lo.cc.u32 %d2, %x1, %y1, %d2;
        madc.hi.u32 %d3, %x1, %y1, %d3;""", rowsn(lambda a, b: limbs(a * b, 32, 4), cross(factors, factors)), outs=4, regs="b32 %x<2>, %y<2>", uniform=2)
    m.lanes("mul64_wide", "u64 u64", "u64", """mul.lo.u64 %d0, %a, %b;
        mul.hi.u64 %d1, %a, %b;""", rowsn(lambda a, b: limbs(a * b, 64, 2), cross(factors, factors)), outs=2)
    m.lanes("guarded", "u32 u32", "u32", """// A guard that is false leaves the carry as it is.
        setp.gt.u32 %q, %a, 99;
        mov.u32 %d0, 0;
        add.cc.u32 %t, 0, 0;
    @%q add.cc.u32 %d0, %a, %b;
        addc.u32 %d1, 0, 0;""", rowsn(lambda a, b: limbs(a + b, 32, 2) if a > 99 else (0, 0),
                                      cross([1, 99, 100, 0xffffffff, 0x80000000], [0, 1, 0x80000000, 0xffffffff])), outs=2, regs="pred %q; u32 %t")


# ---------------------------------------------------------------- 9.7.3 floating point

def opposite(mode):
    """The rounding mode for the magnitudes of negative numbers."""
    return {"rm": "rp", "rp": "rm"}.get(mode, mode)


class Arithmetic:
    """IEEE operations of a format in one rounding mode, with .ftz and .sat."""

    def __init__(self, f, mode="rn", ftz=False, sat=False):
        self.f, self.mode, self.ftz, self.sat = f, mode, ftz, sat

    def __call__(self, op, *args):
        if self.ftz:
            args = tuple(self.f.flush(a) for a in args)
        return self.finish(op(self, *args))

    def finish(self, r):
        f = self.f
        if self.ftz and r != self.nan():
            r = f.flush(r)
        if self.sat:
            if r == self.nan():
                return 0
            if r == f.sign:
                raise Unsaid  # which zero
            if f.negative(r):
                return 0
            return min(r, f.one)
        return r

    def nan(self):
        """Single precision has one NaN as a result; in double precision the
        payload of an operand may come through, in half it is not said."""
        return self.f.nan if self.f is F32 else NAN

    def round(self, v, zero_sign=0):
        f = self.f
        r = f.round(v, self.mode, zero_sign)
        if self.ftz and v and r & ~f.sign == f.min_normal:
            # Flushed if it rounds to less where there are smaller normal numbers
            # (IEEE 754, 7.5, tininess after rounding), as in the code of ptxas
            # for div.ftz and cvt.ftz.f32.f64.
            up = 1 << f.bias
            if f.value(f.round(abs(v) * up, self.mode if v > 0 else opposite(self.mode))) < f.value(f.min_normal) * up:
                return r & f.sign
        return r

    def sum_zero(self, sa, sb):
        """The sign of an exact zero sum of terms with these signs (IEEE 754, 6.3)."""
        return sa if sa == sb else self.mode == "rm"

    def add(self, a, b):
        f = self.f
        if f.is_nan(a) or f.is_nan(b) or f.is_inf(a) and f.is_inf(b) and a != b:
            return self.nan()
        if f.is_inf(a) or f.is_inf(b):
            return a if f.is_inf(a) else b
        return self.round(f.value(a) + f.value(b), self.sum_zero(f.negative(a), f.negative(b)))

    def sub(self, a, b):
        return self.nan() if self.f.is_nan(b) else self.add(a, b ^ self.f.sign)

    def mul(self, a, b):
        f = self.f
        sign = (a ^ b) & f.sign
        if f.is_nan(a) or f.is_nan(b) or f.is_inf(a) and f.is_zero(b) or f.is_zero(a) and f.is_inf(b):
            return self.nan()
        if f.is_inf(a) or f.is_inf(b):
            return f.inf | sign
        return self.round(f.value(a) * f.value(b), sign != 0)

    def fma(self, a, b, c):
        f = self.f
        sign = (a ^ b) & f.sign
        if f.is_nan(a) or f.is_nan(b) or f.is_nan(c) or f.is_inf(a) and f.is_zero(b) or f.is_zero(a) and f.is_inf(b):
            return self.nan()
        if f.is_inf(a) or f.is_inf(b):
            return self.nan() if f.is_inf(c) and f.negative(c) != (sign != 0) else f.inf | sign
        if f.is_inf(c):
            return c
        return self.round(f.value(a) * f.value(b) + f.value(c), self.sum_zero(sign != 0, f.negative(c)))

    def div(self, a, b):
        f = self.f
        sign = (a ^ b) & f.sign
        if f.is_nan(a) or f.is_nan(b) or f.is_inf(a) and f.is_inf(b) or f.is_zero(a) and f.is_zero(b):
            return self.nan()
        if f.is_inf(a) or f.is_zero(b):
            return f.inf | sign
        if f.is_inf(b):
            return sign
        return self.round(f.value(a) / f.value(b), sign != 0)

    def rcp(self, a):
        return self.div(self.f.one, a)

    def sqrt(self, a):
        f = self.f
        if f.is_nan(a) or f.negative(a) and not f.is_zero(a):
            return self.nan()
        if f.is_inf(a) or f.is_zero(a):
            return a
        return self.round(sqrt_number(f.value(a)))


def near(f, v, *steps):
    """Bits of a number and of its neighbours so many steps away."""
    x = f.of(v)
    return [x + s for s in steps]


def add_pairs(f):
    u = Fraction(2) ** -f.frac  # the step above 1
    half = u / 2
    top = f.value(f.max)
    top_half = (top - f.value(f.max - 1)) / 2
    b = f.of
    pairs = [(b(1), b(half)), (b(1 + u), b(half)), (b(1), b(half * (1 + u))), (b(1), b(half * (1 - half))), (b(1), b(-half)), (b(1), b(-half / 2)),
             (b(1 + u), b(-half)), (b(1), b(-half / 2 * (1 + u))), (b(-1), b(-half)), (b(2), b(-u)), (b(2), b(-half)),
             (f.max, f.max), (f.max, b(top_half)), (f.max, f.of(top_half) - 1), (f.max | f.sign, b(-top_half)), (f.max, 1), (f.max, 1 | f.sign),
             (f.min_normal, 1 | f.sign), (f.min_normal, f.min_normal - 1 | f.sign), (f.min_normal - 1, 1), (1, 1), (1, 1 | f.sign),
             (f.min_normal - 1, f.min_normal - 1), (f.min_normal | f.sign, f.min_normal), (b(1), b(-1)), (b(Fraction(1, 3)), b(Fraction(2, 3)))]
    return pairs + float_pairs(f)


def mul_pairs(f):
    u = Fraction(2) ** -f.frac
    b = f.of
    least = f.value(1)
    pairs = [(b(1 + u), b(1 + u)), (b(1 + u), b(1 - u / 2)), (b(2 - u), b(2 - u)), (b(Fraction(3, 2)), b(1 + u)), (b(-1 - u), b(1 + u)),
             (f.max, b(2)), (f.max, b(1 + u)), (f.max | f.sign, b(2)), (f.max, b(1 - u / 2)), (f.max, f.max),
             (1, b(Fraction(1, 2))), (3, b(Fraction(1, 2))), (1, b(Fraction(3, 4))), (1 | f.sign, b(Fraction(1, 2))), (1, b(Fraction(1, 4))), (1, 1), (1, 1 | f.sign),
             (1, b(1 / least) if 1 / least < f.value(f.max) else f.max), (f.min_normal, b(Fraction(1, 2))), (f.min_normal + 1, b(Fraction(1, 2))),
             (f.min_normal, b(1 - u / 2)), (f.min_normal, b(1 - u)), (f.min_normal - 1, b(1 + u)), (f.min_normal - 1, b(2)), (b(Fraction(1, 3)), b(3)), (b(Fraction(1, 10)), b(10))]
    r = Random(f.width + 1)
    spread = min(f.bias.bit_length() - 1, 6)  # of exponents
    for _ in range(24):
        e = r.bits(spread) - (1 << spread - 1)
        pairs.append(((f.bias + e) << f.frac | r.bits(f.frac) | r.bits(1) * f.sign, (f.bias + r.bits(spread) - (1 << spread - 1)) << f.frac | r.bits(f.frac)))
    # Products in the subnormal numbers and about the largest.
    for total in (f.emin - f.frac - 1, f.emin - 5, f.emin - 1, f.bias):
        for _ in range(3):
            e = total // 2 + r.bits(3)
            pairs.append(((f.bias + e) << f.frac | r.bits(f.frac), max(f.bias + total - e, 0) << f.frac | r.bits(f.frac) | r.bits(1) * f.sign))
    # Products just below the least normal number: they round to it, or not.
    below = [(b(x), f.min_normal + 1) for x in (1 - u, u - 1, 1 - u / 2 * 3, u / 2 * 3 - 1, 1 - u / 2 * 5)]
    return pairs + below


def div_pairs(f):
    u = Fraction(2) ** -f.frac
    b = f.of
    pairs = [(b(1), b(3)), (b(2), b(3)), (b(-1), b(3)), (b(10), b(3)), (b(1), b(1 + u)), (b(1), b(1 - u / 2)), (b(1 + u), b(1 - u / 2)), (b(2 - u), b(1 + u)),
             (b(6), b(3)), (b(7), b(7)), (f.max, f.max), (f.max, f.max - 1), (f.max, b(Fraction(1, 2))), (f.max, 1), (f.max | f.sign, b(1 - u / 2)),
             (1, b(2)), (3, b(2)), (1, b(3)), (1 | f.sign, b(2)), (1, f.max), (b(1), f.max), (f.min_normal, b(2)), (f.min_normal, b(3)), (f.min_normal + 1, b(2)),
             (1, 1), (3, 1), (1, 3), (f.min_normal, 1), (f.min_normal - 1, f.min_normal), (f.min_normal, f.min_normal - 1)]
    # Quotients just below the least normal number.
    big = 1 / f.value(f.min_normal)
    below = [(b(1 - u / 2), b(big)), (b(1 - u), b(big)), (b(1 - u), b(big * (1 - u / 2))), (b(u - 1), b(big * (1 - u / 2)))]
    return pairs + mul_pairs(f)[26:50] + below


def specials(f):
    c = float_corners(f)
    return cross(c[:14], c[:14])


def fma_triples(f):
    u = Fraction(2) ** -f.frac
    b = f.of
    out = []
    # a*b and what is left of it after rounding: exact cancellation.
    for x, y in mul_pairs(f)[26:40]:
        p = Arithmetic(f).mul(x, y)
        out += [(x, y, p ^ f.sign), (x, y, p)]
    r = Random(f.width + 2)
    # c at every distance from the product.
    for gap in (-2 * f.frac - 3, -2 * f.frac, -f.frac - 2, -f.frac - 1, -f.frac, -5, -1, 0, 1, 5, f.frac - 1, f.frac, f.frac + 1, f.frac + 2, 2 * f.frac + 2):
        x = (f.bias << f.frac | r.bits(f.frac)) | r.bits(1) * f.sign
        y = f.bias << f.frac | r.bits(f.frac)
        out.append((x, y, max(f.bias + gap, 0) << f.frac | r.bits(f.frac) | r.bits(1) * f.sign))
    out += [(b(1 + u), b(1 + u), b(-1)), (b(1 + u), b(1 - u / 2), b(-1)), (f.max, b(2), f.max | f.sign), (f.max, f.max, f.inf | f.sign), (f.max, b(1), f.max), (f.max, b(2), f.inf | f.sign),
            (1, b(Fraction(1, 2)), 0), (1, b(Fraction(1, 2)), f.sign), (1, b(Fraction(1, 2)), 1), (1, 1, 1), (1, 1, b(1)), (1, 1 | f.sign, b(1)), (f.min_normal, b(Fraction(1, 2)), f.min_normal),
            (f.min_normal, f.min_normal, f.min_normal), (f.min_normal, b(1), 1 | f.sign), (b(2), b(3), b(-6)), (b(-2), b(3), b(6)),
            (0, b(1), f.sign), (f.sign, b(1), f.sign), (0, f.sign, 0), (0, b(5), 0), (f.sign, b(5), 0),
            (f.inf, 0, b(1)), (f.inf, b(1), f.inf | f.sign), (f.inf, b(-1), f.inf | f.sign), (b(1), b(1), f.inf), (f.inf, 0, f.nan), (b(1), f.nan, b(1)), (f.nan, b(1), b(1)), (b(1), b(1), f.nan)]
    # The sum lies just beside the middle of two neighbours: one rounding after
    # the other goes wrong.
    k = f.frac // 2
    out += [(b(1 + Fraction(2) ** -k), b(1 + Fraction(2) ** -(f.frac + 1 - k)), 1), (b(1 + Fraction(2) ** -k), b(1 + Fraction(2) ** -(f.frac + 1 - k)), 1 | f.sign),
            (b(1 + Fraction(2) ** -k), b(1 + Fraction(2) ** -(f.frac + 1 - k)), f.min_normal), (b(1 + Fraction(2) ** -k), b(1 - Fraction(2) ** -(f.frac + 1 - k)), f.min_normal | f.sign)]
    if f is F32:
        out.append((0x39800001, 0x397FFFFE, 0x3F800001))
    return out


def one_operand(f, op):
    u = Fraction(2) ** -f.frac
    out = float_corners(f) + [2, 3, f.min_normal, f.min_normal + 1, f.max - 1, f.of(2), f.of(4), f.of(Fraction(1, 4)), f.of(10), f.of(100), f.of(1 + u), f.of(1 + 2 * u), f.of(1 - u / 2), f.of(2 - u)]
    if op == "rcp":
        e = -f.emin
        out += [f.of(Fraction(2) ** e), f.of(Fraction(2) ** e) + 1, f.of(Fraction(2) ** e) + 1 | f.sign, f.of(Fraction(2) ** (e + 1)), f.of(Fraction(2) ** (e + 1)) + 1, 1 << f.frac - 2, 1 << f.frac - 1, (1 << f.frac - 2) + 1, (1 << f.frac - 2) - 1, f.of(Fraction(2) ** (e + 1)) | f.sign]
    r = Random(f.width + 3)
    for _ in range(20):
        x = r.bits(f.width - 1) % f.inf
        out.append(x if op == "sqrt" else x | r.bits(1) * f.sign)
    if op == "sqrt":
        # Squares, and their neighbours.
        for n in (3, 5, (1 << f.frac // 2) + 1, (1 << f.frac // 2) - 1):
            out += near(f, n * n, -1, 0, 1)
        out += [f.sign | 1, f.sign | f.min_normal]
    return out


def gen_float():
    binary = ("add", add_pairs), ("sub", lambda f: [(a, b ^ f.sign) for a, b in add_pairs(f)]), ("mul", mul_pairs), ("div", div_pairs)
    sections = {"add": "9.7.3.3", "sub": "9.7.3.4", "mul": "9.7.3.5", "fma": "9.7.3.6", "mad": "9.7.3.7", "div": "9.7.3.8", "rcp": "9.7.3.13", "sqrt": "9.7.3.15"}

    def group(m, op, f, suffix, rows_of, ins, uniform=0):
        """A kernel that does an operation in the four rounding modes."""
        mods = [s for s in suffix.split(".") if s]
        code = "\n".join("%s.%s%s.%s %%d%d, %s;" % (op, mode, suffix, f.name, i, ", ".join("%" + "abc"[j] for j in range(len(ins)))) for i, mode in enumerate(ROUNDINGS))
        fn = {"mad": "fma"}.get(op, op)
        units = [Arithmetic(f, mode, "ftz" in mods, "sat" in mods) for mode in ROUNDINGS]
        rows = rowsn(lambda *t: tuple(u(getattr(Arithmetic, fn), *t) for u in units), rows_of)
        m.lanes(op + suffix.replace(".", "_") + "_" + f.name, " ".join(ins), f.name, code, rows, outs=4, uniform=uniform, lanes=16)

    about = "%s.f%d in the rounding modes rn, rz, rm, rp (the four values of each thread)."
    for f in F32, F64:
        t = f.name
        for op, pairs in binary:
            m = Module("%s_%s" % (op, t), sections[op], about % (op, f.width))
            group(m, op, f, "", pairs(f) + specials(f)[::3], [t, t], uniform=4)
            if op != "div":
                u = Arithmetic(f)
                m.lanes("%s_%s_default" % (op, t), "%s %s" % (t, t), t, "%s.%s %%d, %%a, %%b; // rounds to nearest even" % (op, t),
                        rowsn(lambda a, b: u(getattr(Arithmetic, op), a, b), specials(f)[1::3] + pairs(f)[:13]), uniform=1)
            if f is F32:
                group(m, op, f, ".ftz", pairs(f) + specials(f)[1::4], [t, t], uniform=2)
                if op != "div":
                    group(m, op, f, ".sat", pairs(f)[:40] + specials(f)[2::4], [t, t], uniform=2)
                    group(m, op, f, ".ftz.sat", pairs(f)[:26:2] + specials(f)[3::8], [t, t])
        for op in "fma", "mad":
            m = Module("%s_%s" % (op, t), sections[op], about % (op, f.width) + (" The same as fma." if op == "mad" else ""))
            triples = fma_triples(f)
            c = float_corners(f)
            every = triples + [(c[i % 14], c[i * 3 % 13], c[i * 5 % 11]) for i in range(48)]
            if op == "mad":
                every = triples[::2]
            group(m, op, f, "", every, [t, t, t], uniform=4)
            if f is F32:
                least = f.min_normal
                # Sums just below the least normal number: they round to it, or not.
                below = [(f.one - 1, least, 0), (f.one - 2, least + 1, 0), (f.one - 3, least + 1, 0), (f.one - 3 | f.sign, least + 1, 0), (f.of(2) - 2, least + 1, least | f.sign)]
                group(m, op, f, ".ftz", every[::2] + below, [t, t, t], uniform=2)
                group(m, op, f, ".sat", every[1::2], [t, t, t])
                group(m, op, f, ".ftz.sat", every[::5], [t, t, t])
        for op in "rcp", "sqrt":
            m = Module("%s_%s" % (op, t), sections[op], about % (op, f.width))
            group(m, op, f, "", [(a,) for a in one_operand(f, op)], [t], uniform=3)
            if f is F32:
                group(m, op, f, ".ftz", [(a,) for a in one_operand(f, op)], [t], uniform=2)

    # Two single-precision numbers in a 64-bit register.
    def pack(lo, hi):
        return lo | hi << 32
    m = Module("f32x2", "9.7.3.3 to 9.7.3.6", "add, sub, mul and fma of packed pairs, in the rounding modes rn, rz, rm, rp.", "8.6", "sm_100")
    for op, rows_of in (("add", add_pairs(F32) + specials(F32)[::5]), ("sub", add_pairs(F32)[::2]), ("mul", mul_pairs(F32) + specials(F32)[::5]), ("fma", fma_triples(F32))):
        for ftz in "", ".ftz":
            n = len(rows_of[0])
            tuples = [tuple(pack(x, y) for x, y in zip(a, b)) for a, b in zip(rows_of, rows_of[1:] + rows_of[:1])]
            units = [Arithmetic(F32, mode, ftz != "") for mode in ROUNDINGS]

            def f(*t):
                lo, hi = [x & 0xffffffff for x in t], [x >> 32 for x in t]
                return tuple(pack(u(getattr(Arithmetic, op), *lo), u(getattr(Arithmetic, op), *hi)) for u in units)
            code = "\n".join("%s.%s%s.f32x2 %%d%d, %s;" % (op, mode, ftz, i, ", ".join("%" + c for c in "abc"[:n])) for i, mode in enumerate(ROUNDINGS))
            m.lanes("%s%s_f32x2" % (op, ftz.replace(".", "_")), " ".join(["b64"] * n), "b64", code, rowsn(f, tuples), outs=4, uniform=2, lanes=16)


def relu(f, r):
    """What .relu makes of a result."""
    if r in (NAN, f.nan):
        return r
    if r == f.sign:
        raise Unsaid  # which zero
    return 0 if f.negative(r) else r


def gen_half():
    sections = {"add": "9.7.4.1", "sub": "9.7.4.2", "mul": "9.7.4.3", "fma": "9.7.4.4"}
    for f in F16, BF16:
        for op in sections:
            suffixes = ["", ".ftz", ".sat", ".ftz.sat"] if f is F16 else [""]
            if op == "fma":
                suffixes += [".relu", ".ftz.relu"] if f is F16 else [".relu", ".rz", ".rm", ".rp", ".rm.relu"]
            m = Module("%s_%s" % (op, f.name), sections[op], "%s.%s and %s.%sx2." % (op, f.name, op, f.name))
            n = 3 if op == "fma" else 2
            rows_of = {"add": lambda: add_pairs(f), "sub": lambda: [(a, b ^ f.sign) for a, b in add_pairs(f)], "mul": lambda: mul_pairs(f), "fma": lambda: fma_triples(f)}[op]()
            if n == 2:
                rows_of = rows_of + specials(f)[::3]
            c = float_corners(f)
            if n == 3:
                rows_of = rows_of + [(c[i % 14], c[i * 3 % 13], c[i * 5 % 11]) for i in range(48)]
            for suffix in suffixes:
                mods = suffix.split(".")
                mode = mods[1] if len(mods) > 1 and mods[1] in ROUNDINGS else "rn"
                rest = suffix if mode == "rn" else suffix.removeprefix("." + mode)
                unit = Arithmetic(f, mode, "ftz" in mods, "sat" in mods)

                def one(*t):
                    r = unit(getattr(Arithmetic, op), *t)
                    return relu(f, r) if "relu" in mods else r

                def pair(*t):
                    lo, hi = one(*[x & 0xffff for x in t]), one(*[x >> 16 for x in t])
                    if NAN in (lo, hi):
                        raise Unsaid  # which NaN
                    return lo | hi << 16
                name = op + suffix.replace(".", "_") + "_" + f.name
                operands = ", ".join("%" + x for x in "abc"[:n])
                m.lanes(name, " ".join(["b16"] * n), "b16", "%s.%s%s.%s %%d, %s;" % (op, mode, rest, f.name, operands), rowsn(lambda *t: said(one(*t)), rows_of), uniform=2)
                pairs = [tuple(x | y << 16 for x, y in zip(a, b)) for a, b in zip(rows_of, rows_of[5:] + rows_of[:5])]
                m.lanes(name + "x2", " ".join(["b32"] * n), "b32", "%s.%s%s.%sx2 %%d, %s;" % (op, mode, rest, f.name, operands), rowsn(pair, pairs[::2]), uniform=2)

    m = Module("half_unary", "9.7.4.5, 9.7.4.6, 9.7.4.9, 9.7.4.10", "neg, abs; ex2 where it is exact, tanh where the manual's table has it; the upper half of a pair has the operand of another thread.")
    for f in F16, BF16:
        numbers = [x for x in float_corners(f) if not f.is_nan(x)]
        powers = [f.of(n) for n in (0, 1, -1, 3, -7, 10, -14)] + [f.sign, f.inf, f.inf | f.sign]
        power = lambda x: f.inf if x == f.inf else 0 if x == f.inf | f.sign else f.of(Fraction(2) ** int(f.value(x)))
        table = {f.inf | f.sign: f.one | f.sign, f.sign: f.sign, 0: 0, f.inf: f.one}
        ops = [("neg", "", numbers, lambda x: x ^ f.sign), ("abs", "", numbers, lambda x: x & ~f.sign), ("ex2.approx", ".ftz" if f is BF16 else "", powers, power), ("tanh.approx", "", list(table), table.get)]
        if f is F16:
            ops += [("neg", ".ftz", numbers, lambda x: f.flush(x) ^ f.sign), ("abs", ".ftz", numbers, lambda x: f.flush(x) & ~f.sign)]
        for op, ftz, args, g in ops:
            name = (op + ftz).replace(".", "_") + "_" + f.name
            m.lanes(name, "b16", "b16", "%s%s.%s %%d, %%a;" % (op, ftz, f.name), rows1(g, args), uniform=1)
            m.lanes(name + "x2", "b32", "b32", "%s%s.%sx2 %%d, %%a;" % (op, ftz, f.name), rows1(lambda x: g(x & 0xffff) | g(x >> 16) << 16, [a | b << 16 for a, b in zip(args, args[1:] + args[:1])]), uniform=1)


def said(r):
    """A result, if the manual says which it is."""
    if r == NAN:
        raise Unsaid  # which NaN
    return r


def minmax(f, name, nan=False, xorsign=False, absolute=False, ftz=False):
    """min and max of two floats; the manual: a NaN gives way to a number, unless
    .NaN is there; +0 is greater than -0."""
    def g(*args):
        if ftz:
            args = [f.flush(a) for a in args]
        sign = args[0] ^ args[1] if xorsign else 0
        if absolute:
            args = [a & ~f.sign for a in args]
        numbers = [a for a in args if not f.is_nan(a)]
        if not numbers or nan and len(numbers) < len(args):
            return NAN if f is F64 else f.nan
        key = lambda x: (f.value(x) if not f.is_inf(x) else (-1 if f.negative(x) else 1) * (f.value(f.max) + 1), not f.negative(x))
        r = (min if name == "min" else max)(numbers, key=key)
        return r & ~f.sign | sign & f.sign if xorsign else r
    return g


def gen_minmax():
    for name, section in ("min", "9.7.3.11"), ("max", "9.7.3.12"):
        m = Module(name + "_f32", section, "%s.f32: NaNs, zeros, .ftz, .NaN, .xorsign.abs." % name, "8.0", "sm_90")
        c = [x for x in float_corners(F32) if not F32.is_nan(x)] + [F32.nan, 0x7f800001]
        for mods in "", ".ftz", ".NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs":
            f = minmax(F32, name, ".NaN" in mods, ".xorsign" in mods, ".abs" in mods, ".ftz" in mods)
            rows = rowsn(f, cross(c, c)[len(mods) % 2::2])
            m.lanes(name + mods.replace(".", "_") + "_f32", "f32 f32", "f32", "%s%s.f32 %%d, %%a, %%b;" % (name, mods), rows, uniform=3)
        m = Module(name + "_f64", section, "%s.f64: NaNs and zeros." % name)
        c = [x for x in float_corners(F64) if not F64.is_nan(x)] + [F64.nan, F64.inf + 1]
        m.lanes(name + "_f64", "f64 f64", "f64", name + ".f64 %d, %a, %b;", rowsn(minmax(F64, name), cross(c, c)), uniform=3)
        for f, all_mods in (F16, ("", ".ftz", ".NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs")), (BF16, ("", ".NaN", ".NaN.xorsign.abs")):
            m = Module("%s_%s" % (name, f.name), {"min": "9.7.4.7", "max": "9.7.4.8"}[name], "%s.%s and %s.%sx2: NaNs, zeros, modifiers." % (name, f.name, name, f.name))
            c = [x for x in float_corners(f) if not f.is_nan(x)] + [f.nan, f.inf + 1]
            for mods in all_mods:
                pick = minmax(f, name, ".NaN" in mods, ".xorsign" in mods, ".abs" in mods, ".ftz" in mods)
                args = cross(c, c)[len(mods) % 2::2]
                m.lanes(name + mods.replace(".", "_") + "_" + f.name, "b16 b16", "b16", "%s%s.%s %%d, %%a, %%b;" % (name, mods, f.name), rowsn(pick, args), uniform=2)
                pairs = [tuple(x | y << 16 for x, y in zip(a, b)) for a, b in zip(args, args[7:] + args[:7])]
                m.lanes(name + mods.replace(".", "_") + "_%sx2" % f.name, "b32 b32", "b32", "%s%s.%sx2 %%d, %%a, %%b;" % (name, mods, f.name),
                        rowsn(lambda a, b: pick(a & 0xffff, b & 0xffff) | pick(a >> 16, b >> 16) << 16, pairs[::2]), uniform=2)
        m = Module(name + "3_f32", section, "%s.f32 of three operands." % name, "8.8", "sm_100")
        c = [0, F32.sign, F32.one, F32.of(-2), F32.inf, F32.nan, 1]
        for mods in "", ".NaN", ".abs", ".ftz":
            m.lanes(name + "3" + mods.replace(".", "_"), "f32 f32 f32", "f32", "%s%s.f32 %%d, %%a, %%b, %%c;" % (name, mods),
                    rowsn(minmax(F32, name, ".NaN" in mods, False, ".abs" in mods, ".ftz" in mods), cross(c, c, c)[len(mods)::5]), uniform=1)


def gen_float_bits():
    def classes(f, x):
        nan, inf, sub = f.is_nan(x), f.is_inf(x), f.is_subnormal(x)
        return (not nan and not inf, inf, not nan, nan, not nan and not inf and not sub, sub)
    m = Module("testp", "9.7.3.1", "testp.finite .infinite .number .notanumber .normal .subnormal, in this order; zeros are normal.")
    ops = "finite infinite number notanumber normal subnormal".split()
    for f in F32, F64:
        t = f.name
        code = "\n".join("testp.%s.%s %%q, %%a;\nselp.u32 %%d%d, 1, 0, %%q;" % (op, t, i) for i, op in enumerate(ops))
        m.lanes("testp_" + t, t, "u32", code, rows1(lambda x: tuple(map(int, classes(f, x))), float_corners(f) + [f.min_normal, f.inf + 1, f.inf + 1 | f.sign, f.min_normal - 1 | f.sign, f.max - 1]),
                outs=6, regs="pred %q", uniform=3, lanes=16)

    m = Module("copysign", "9.7.3.2", "copysign: the sign of a, the rest of b.")
    for f in F32, F64:
        t = f.name
        c = [x for x in float_corners(f) if not f.is_nan(x)]
        m.lanes("copysign_" + t, t + " " + t, t, "copysign.%s %%d, %%a, %%b;" % t,
                rowsn(lambda a, b: NAN if f.is_nan(b) else a & f.sign | b & ~f.sign, cross(c, c)[::2] + [(f.nan | f.sign, f.one), (f.nan, f.one | f.sign), (f.one, f.nan)]), uniform=2)

    # A NaN gives an unspecified NaN in f32, itself in f64.
    for name, section, g in ("abs", "9.7.3.9", lambda f, x: x & ~f.sign), ("neg", "9.7.3.10", lambda f, x: x ^ f.sign):
        m = Module(name + "_float", section, "%s.f32, .ftz and .f64." % name)
        for f in F32, F64:
            for ftz in ("", ".ftz")[:1 + (f is F32)]:
                m.lanes(name + ftz.replace(".", "_") + "_" + f.name, f.name, f.name, "%s%s.%s %%d, %%a;" % (name, ftz, f.name),
                        rows1(lambda x: NAN if f.is_nan(x) else g(f, f.flush(x) if ftz else x), float_corners(f) + [f.min_normal, f.max - 1]), uniform=2)


def gen_approx():
    """The values that the tables of special operands give."""
    m = Module("approx", "9.7.3.8 to 9.7.3.22", "the approximate functions at the operands for which the manual's tables give the result.")
    f, inf, nan = F32, F32.inf, F32.nan
    minus = f.sign
    normal, sub = f.of(Fraction(-7, 2)), 5

    def table(op, *rows, fmt=F32):
        m.lanes(op.replace(".", "_"), fmt.name, fmt.name, op + " %d, %a;", [((a,), r) for a, r in rows], uniform=len(rows) // 2)

    for ftz in "", ".ftz":
        small = [(sub, ftz)] if ftz else []
        table("rcp.approx%s.f32" % ftz, (inf | minus, minus), (minus, inf | minus), (0, inf), (inf, 0), (nan, NAN),
              *[(s | x, inf | s) for x, _ in small for s in (0, minus)])
        table("sqrt.approx%s.f32" % ftz, (inf | minus, NAN), (normal, NAN), (minus, minus), (0, 0), (inf, inf), (nan, NAN),
              *[(s | x, s) for x, _ in small for s in (0, minus)])
        table("rsqrt.approx%s.f32" % ftz, (inf | minus, NAN), (normal, NAN), (minus, inf | minus), (0, inf), (inf, 0), (nan, NAN),
              *[(s | x, inf | s) for x, _ in small for s in (0, minus)])
        table("sin.approx%s.f32" % ftz, (inf | minus, NAN), (minus, minus), (0, 0), (inf, NAN), (nan, NAN),
              *[(s | x, s) for x, _ in small for s in (0, minus)])
        table("cos.approx%s.f32" % ftz, (inf | minus, NAN), (minus, f.one), (0, f.one), (inf, NAN), (nan, NAN), (sub, f.one), (sub | minus, f.one))
        table("lg2.approx%s.f32" % ftz, (inf | minus, NAN), (normal, NAN), (minus, inf | minus), (0, inf | minus), (inf, inf), (nan, NAN),
              *[(s | x, inf | minus) for x, _ in small for s in (0, minus)])
        table("ex2.approx%s.f32" % ftz, (inf | minus, 0), (minus, f.one), (0, f.one), (inf, inf), (nan, NAN), (sub, f.one), (sub | minus, f.one),
              (f.of(1000), inf), (f.of(-1000), 0))
    table("tanh.approx.f32", (inf | minus, f.one | minus), (sub | minus, sub | minus), (minus, minus), (0, 0), (sub, sub), (inf, f.one), (nan, NAN))
    d = F64
    for op in "rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64":
        negative = [(d.inf | d.sign, d.sign if op[1] == "c" else NAN)] + ([] if op[1] == "c" else [(d.of(-2), NAN)])
        table(op, *negative, (d.sign | 5, d.inf | d.sign), (d.sign, d.inf | d.sign), (0, d.inf), (5, d.inf), (d.inf, 0), (d.nan, NAN), fmt=d)
    table("rsqrt.approx.f64", (d.inf | d.sign, NAN), (d.of(-2), NAN), (d.sign, d.inf | d.sign), (0, d.inf), (d.inf, 0), (d.nan, NAN), fmt=d)

    # For |b| above 2^126 the quotient is 0, of an infinity NaN.
    big = [f.of(Fraction(2) ** 126) + 1, f.of(Fraction(2) ** 127), f.max]
    rows = [((a, b), r) for b in big for a, r in ((f.one, 0), (inf, NAN), (inf | minus, NAN), (f.max, 0))]
    for ftz in "", ".ftz":
        m.lanes("div_approx%s_f32" % ftz.replace(".", "_"), "f32 f32", "f32", "div.approx%s.f32 %%d, %%a, %%b;" % ftz, rows, uniform=2)


# ---------------------------------------------------------------- 9.7.6 comparison and selection

ORDERED = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
           "lo": lambda a, b: a < b, "ls": lambda a, b: a <= b, "hi": lambda a, b: a > b, "hs": lambda a, b: a >= b}
SIGNED_CMP = ("eq", "ne", "lt", "le", "gt", "ge")
UNSIGNED_CMP = SIGNED_CMP + ("lo", "ls", "hi", "hs")
FLOAT_CMP = SIGNED_CMP + ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
BOOLS = {"and": lambda t, c: t & c, "or": lambda t, c: t | c, "xor": lambda t, c: t ^ c}


def comparisons(t):
    return {"b": ("eq", "ne"), "u": UNSIGNED_CMP, "s": SIGNED_CMP, "f": FLOAT_CMP}[t[0]]


def compare(cmp, t, a, b, ftz=False):
    """a cmp b. Comparisons with a NaN are false, those that end in u true."""
    if t[0] != "f":
        return int(ORDERED[cmp](integer(a, t), integer(b, t)))
    f = FLOATS[t]
    if ftz:
        a, b = f.flush(a), f.flush(b)
    unordered = f.is_nan(a) or f.is_nan(b)
    if cmp in ("num", "nan"):
        return int(unordered == (cmp == "nan"))
    if unordered:
        return int(cmp.endswith("u"))
    real = lambda x: f.value(x) if not f.is_inf(x) else Fraction(10) ** 400 * (-1 if f.negative(x) else 1)
    return int(ORDERED[cmp.removesuffix("u")](real(a), real(b)))


def compared(t):
    """Pairs that are compared."""
    if t[0] == "f":
        f = FLOATS[t]
        c = [0, f.sign, f.one, f.one | f.sign, f.one + 1, f.inf, f.inf | f.sign, f.nan, f.inf + 1 | f.sign, 1, 1 | f.sign, f.min_normal - 1]
        return cross(c, c)[::3] + [(x, x) for x in c]
    n = width(t)
    c = corners(n)[:6]
    return cross(c, c) + [(0x1234, 0x1234), (1 << n // 2, (1 << n // 2) - 1)]


def gen_compare():
    m = Module("setp", "9.7.6.2", "setp: every comparison of every type, the results as the bits of a number.", "8.0", "sm_90")
    # For each comparison a bit, the first the lowest.
    for t in ("b16", "b32", "b64") + INTS + ("f32", "f64"):
        for ftz in ("", ".ftz")[:1 + (t == "f32")]:
            ops = comparisons(t)
            code = "mov.u32 %d, 0;\n" + "\n".join("setp.%s%s.%s %%q, %%a, %%b;\nselp.u32 %%t, %d, 0, %%q;\nor.b32 %%d, %%d, %%t;" % (op, ftz, t, 1 << i) for i, op in enumerate(ops))
            rows = rowsn(lambda a, b: sum(compare(op, t, a, b, ftz != "") << i for i, op in enumerate(ops)), compared(t))
            m.lanes("setp_%s%s" % (t, ftz.replace(".", "_")), t + " " + t, "u32", "// " + " ".join(ops) + "\n" + code, rows, regs="pred %q; b32 %t", uniform=2)

    m = Module("setp_bool", "9.7.6.2", "setp with a Boolean operator: p = (a cmp b) op c, q = !(a cmp b) op c; the sink.")
    predicates = "setp.ne.u32 %%c0, %%c, 0;\n"
    select = "selp.u32 %d0, 1, 0, %q;\nselp.u32 %d1, 1, 0, %r;"
    for t, cmp in ("s32", "lt"), ("u64", "hi"), ("f32", "leu"), ("b16", "eq"):
        pairs = compared(t)[:: 5]
        for op in BOOLS:
            for neg in "", "!":
                rows = rowsn(lambda a, b, c: tuple(BOOLS[op](x, c ^ (neg == "!")) for x in (compare(cmp, t, a, b), 1 - compare(cmp, t, a, b))),
                             [(a, b, i & 1) for i, (a, b) in enumerate(pairs)] + [(a, b, i & 1 ^ 1) for i, (a, b) in enumerate(pairs)])
                m.lanes("setp_%s_%s_%s%s" % (cmp, op, t, "_not" if neg else ""), "%s %s u32" % (t, t), "u32",
                        (predicates + "setp.%s.%s.%s %%%%q|%%%%r, %%%%a, %%%%b, %s%%%%c0;\n" % (cmp, op, t, neg)).replace("%%", "%") + select, rows,
                        outs=2, regs="pred %c0, %q, %r", uniform=1)
    rows = rowsn(lambda a, b: (int(a < b), int(a >= b), int(a < b), int(a >= b)), [(1, 2), (2, 1), (7, 7), (0, 0xffffffff)])
    m.lanes("setp_two", "u32 u32", "u32", """setp.lt.u32 %q|%r, %a, %b;
        selp.u32 %d0, 1, 0, %q;
        selp.u32 %d1, 1, 0, %r;
        setp.lt.u32 %q|_, %a, %b;
        setp.lt.u32 _|%r, %a, %b;
        selp.u32 %d2, 1, 0, %q;
        selp.u32 %d3, 1, 0, %r;""", rows, outs=4, regs="pred %q, %r", uniform=1)
    rows = rowsn(lambda a, b: (int(not (a < b)), int(a < b)), [(1, 2), (2, 1)])
    m.lanes("setp_in_place", "u32 u32", "u32", """// The operand c is also a destination.
        setp.ne.u32 %q, %a, %a;
        setp.lt.or.u32 %q|%r, %a, %b, %q;
        setp.eq.xor.u32 %r|%q, %a, %a, %q;
        selp.u32 %d0, 1, 0, %r;
        selp.u32 %d1, 1, 0, %q;""", rows, outs=2, regs="pred %q, %r", uniform=1)

    m = Module("set", "9.7.6.1", "set: all ones or 1.0f for true.")
    for s in ("b16", "b32", "b64") + INTS + ("f32", "f64"):
        for i, op in enumerate(comparisons(s)):
            d = ("u32", "s32", "f32")[i % 3]
            ftz = ".ftz" if s == "f32" and i % 2 else ""
            true = F32.one if d == "f32" else 0xffffffff
            rows = rowsn(lambda a, b: true * compare(op, s, a, b, ftz != ""), compared(s)[i % 3::3])
            m.lanes("set_%s%s_%s_%s" % (op, ftz.replace(".", "_"), d, s), s + " " + s, d, "set.%s%s.%s.%s %%d, %%a, %%b;" % (op, ftz, d, s), rows, uniform=1)
    for d, op, neg in ("u32", "and", ""), ("f32", "or", "!"), ("s32", "xor", "!"):
        true = F32.one if d == "f32" else 0xffffffff
        rows = rowsn(lambda a, b, c: true * BOOLS[op](compare("le", "s32", a, b), c ^ (neg == "!")), [(a, b, c) for a, b in compared("s32")[::7] for c in (0, 1)])
        m.lanes("set_le_%s_%s_s32" % (op, d), "s32 s32 u32", d, "setp.ne.u32 %%q, %%c, 0;\nset.le.%s.%s.s32 %%d, %%a, %%b, %s%%q;" % (op, d, neg), rows, regs="pred %q", uniform=1)

    m = Module("selp", "9.7.6.3, 9.7.6.4", "selp, and slct, which selects by c >= 0 (a NaN is not; with .ftz a subnormal is a zero).")
    for t in ("b16", "b32", "b64") + INTS + ("f32", "f64"):
        n = width(t)
        a, b = (corners(n)[8], corners(n)[4]) if t[0] != "f" else (FLOATS[t].of(Fraction(1, 3)), FLOATS[t].inf + 5)
        m.lanes("selp_" + t, "%s %s u32" % (t, t), "b%d" % n, "setp.ne.u32 %%q, %%c, 0;\nselp.%s %%d, %%a, %%b, %%q;" % t,
                rowsn(lambda x, y, c: x if c else y, cross([a, b], [b, a], [0, 1])) if t[0] != "f" else
                [((x, y, c), x if c else y) for x, y, c in cross([a, b], [b, a], [0, 1])], regs="pred %q", uniform=1)
        m.lanes("slct_%s_s32" % t, "%s %s s32" % (t, t), "b%d" % n, "slct.%s.s32 %%d, %%a, %%b, %%c;" % t,
                rowsn(lambda x, y, c: x if signed(c, 32) >= 0 else y, cross([a], [b], [0, 1, 0x7fffffff, 0x80000000, 0xffffffff])), uniform=1)
        for ftz in "", ".ftz":
            def slct(x, y, c):
                c = F32.flush(c) if ftz else c
                return x if not F32.is_nan(c) and (F32.is_zero(c) or not F32.negative(c)) else y
            m.lanes("slct%s_%s_f32" % (ftz.replace(".", "_"), t), "%s %s f32" % (t, t), "b%d" % n, "slct%s.%s.f32 %%d, %%a, %%b, %%c;" % (ftz, t),
                    rowsn(slct, cross([a], [b], float_corners(F32))), uniform=1)


# ---------------------------------------------------------------- 9.7.8 logic and shift

def gen_logic():
    for name, section, f in ("and", "9.7.8.1", lambda a, b: a & b), ("or", "9.7.8.2", lambda a, b: a | b), ("xor", "9.7.8.3", lambda a, b: a ^ b):
        m = Module(name, section, name + ".")
        for n in 16, 32, 64:
            m.lanes("%s_b%d" % (name, n), "b%d b%d" % (n, n), "b%d" % n, "%s.b%d %%d, %%a, %%b;" % (name, n), rowsn(f, int_pairs(n)[::2]), uniform=2)
        code = "setp.ne.u32 %q, %a, 0;\nsetp.ne.u32 %r, %b, 0;\n" + name + ".pred %q, %q, %r;\nselp.u32 %d, 1, 0, %q;"
        m.lanes(name + "_pred", "u32 u32", "u32", code, rowsn(f, cross((0, 1), (0, 1))), regs="pred %q, %r", uniform=2)
    m = Module("not", "9.7.8.4, 9.7.8.5", "not and cnot.")
    for n in 16, 32, 64:
        t = "b%d" % n
        m.lanes("not_" + t, t, t, "not.%s %%d, %%a;" % t, rows1(lambda a: a ^ (1 << n) - 1, corners(n)), uniform=1)
        m.lanes("cnot_" + t, t, t, "cnot.%s %%d, %%a;" % t, rows1(lambda a: int(a == 0), corners(n)), uniform=2)
    m.lanes("not_pred", "u32", "u32", "setp.ne.u32 %q, %a, 0;\nnot.pred %q, %q;\nselp.u32 %d, 1, 0, %q;", rows1(lambda a: 1 - a, (0, 1)), regs="pred %q", uniform=1)

    # F(0xF0, 0xCC, 0xAA) is the table of F.
    def lop3(a, b, c, lut):
        return sum((lut >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))
    words = [(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA), (0, 0, 0), (0xffffffff, 0xffffffff, 0xffffffff), (0x12345678, 0x9abcdef0, 0x0f1e2d3c), (0xffff0000, 0xff00ff00, 0x00ff00ff)]
    m = Module("lop3", "9.7.8.6", "lop3 with the manual's tables and others; the form with a Boolean operator.", "8.2", "sm_70")
    for lut in 0x80, 0xFE, 0x40, 0x1A, 0x00, 0xFF, 0xF0, 0xCC, 0xAA, 0x96, 0xE8, 0xCA, 0x01, 0x3F:
        m.lanes("lop3_%02x" % lut, "b32 b32 b32", "b32", "lop3.b32 %%d, %%a, %%b, %%c, 0x%02X;" % lut, rowsn(lambda a, b, c: lop3(a, b, c, lut), words), uniform=1)
    for op in "or", "and":
        for neg in "", "!":
            rows = rowsn(lambda a, b, c, q: (lop3(a, b, c, 0x80), BOOLS[op](int(lop3(a, b, c, 0x80) != 0), q ^ (neg == "!"))), [w + (q,) for w in words for q in (0, 1)])
            m.lanes("lop3_%s%s" % (op, "_not" if neg else ""), "b32 b32 b32 u32", "b32", """setp.ne.u32 %%q, %%e, 0;
                lop3.%s.b32 %%d0|%%r, %%a, %%b, %%c, 0x80, %s%%q;
                selp.b32 %%d1, 1, 0, %%r;""" % (op, neg), rows, outs=2, regs="pred %q, %r", uniform=1)
    m.lanes("lop3_sink", "b32 b32 b32", "b32", """setp.ne.u32 %q, 1, 1;
        lop3.or.b32 _|%q, %a, %b, %c, 0xFE, %q;
        selp.b32 %d, 1, 0, %q;""", rowsn(lambda a, b, c: int(a | b | c != 0), words), regs="pred %q", uniform=1)

    amounts = [0, 1, 5, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 255, 256, 0x80000000, 0xffffffff]
    values = lambda n: [(1 << n) - 1, 1 << n - 1, 0x5A3C96E1F00FD287 >> 64 - n]
    m = Module("shl", "9.7.8.8", "shl: an amount beyond the width is the width.")
    for n in 16, 32, 64:
        m.lanes("shl_b%d" % n, "b%d u32" % n, "b%d" % n, "shl.b%d %%d, %%a, %%b;" % n, rowsn(lambda a, b: unsigned(a << min(b, n), n), cross(values(n), amounts)), uniform=3)
    m = Module("shr", "9.7.8.9", "shr: an amount beyond the width is the width; .s types fill with the sign.")
    for t in ("b16", "b32", "b64") + INTS:
        n = width(t)
        m.lanes("shr_" + t, t + " u32", t, "shr.%s %%d, %%a, %%b;" % t,
                rowsn(lambda a, b: unsigned(integer(a, t) >> min(b, n), n), cross(values(n) + [(1 << n - 1) - 1], amounts)[::1 if t[0] == "s" else 2]), uniform=2)
    m = Module("shf", "9.7.8.7", "shf.")
    for d, mode in cross("lr", ("clamp", "wrap")):
        def shf(a, b, c):
            n = min(c, 32) if mode == "clamp" else c & 0x1f
            return unsigned(b << n | (a >> 32 - n), 32) if d == "l" else unsigned(b << 32 - n | a >> n, 32)
        m.lanes("shf_%s_%s" % (d, mode), "b32 b32 u32", "b32", "shf.%s.%s.b32 %%d, %%a, %%b, %%c;" % (d, mode),
                rowsn(shf, [(a, b, c) for a, b in ((0x89abcdef, 0x01234567), (0xffffffff, 0), (0, 0xffffffff)) for c in amounts]), uniform=2)


# ---------------------------------------------------------------- 9.7.9 movement and conversion

def gen_prmt():
    m = Module("prmt", "9.7.9.7", "prmt: bytes chosen by selectors, and the modes.")

    def choose(a, b, selectors):
        bytes8 = [(a | b << 32) >> 8 * i & 0xff for i in range(8)]
        out = 0
        for i, s in enumerate(selectors):
            v = bytes8[s & 7]
            if s & 8:
                v = 0xff if v & 0x80 else 0
            out |= v << 8 * i
        return out
    # The manual's table: source bytes of b3, b2, b1, b0 for c = 0, 1, 2, 3.
    modes = {"f4e": ("3210", "4321", "5432", "6543"), "b4e": ("5670", "6701", "7012", "0123"), "rc8": ("0000", "1111", "2222", "3333"),
             "ecl": ("3210", "3211", "3222", "3333"), "ecr": ("0000", "1110", "2210", "3210"), "rc16": ("1010", "3232", "1010", "3232")}
    words = [(0x83828180, 0x07060504), (0x03020100, 0x87868584), (0xffffffff, 0), (0x12345678, 0x9abcdef0)]
    m.lanes("prmt_generic", "b32 b32 b32", "b32", "prmt.b32 %d, %a, %b, %c;",
            rowsn(lambda a, b, c: choose(a, b, [c >> i & 15 for i in (0, 4, 8, 12)]),
                  [(a, b, c) for a, b in words for c in (0x3210, 0x7654, 0x0123, 0x5140, 0xfedc, 0x8888, 0xba98, 0x0c84, 0x7777, 0xffff3210, 0x6420, 0x37bf)]), uniform=3)
    m.lanes("prmt_constant", "b32 b32", "b32", "prmt.b32 %d, %a, %b, 0x5410;", rowsn(lambda a, b: choose(a, b, (0, 1, 4, 5)), words), uniform=1)
    for mode, table in modes.items():
        m.lanes("prmt_" + mode, "b32 b32 b32", "b32", "prmt.b32.%s %%d, %%a, %%b, %%c;" % mode,
                rowsn(lambda a, b, c: choose(a, b, [int(s) for s in reversed(table[c & 3])]), [(a, b, c) for a, b in words for c in (0, 1, 2, 3, 0xfffffffc, 7)]), uniform=2)


ALL_INTS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")


def to_int(v, rnd):
    """The integer that a number rounds to."""
    n = v.numerator // v.denominator
    rest = v - n
    if rnd == "rni":
        return n + (rest > Fraction(1, 2) or rest == Fraction(1, 2) and n & 1)
    if rnd == "rzi":
        return n + (rest > 0 and v < 0)
    return n + (rnd == "rpi" and rest > 0)


def gen_cvt_int():
    m = Module("cvt_int", "9.7.9.21", "cvt between integers: extended by the sign of the source type, or cut off; .sat clamps.")

    def superset(d, a):
        return bounds(d)[0] <= bounds(a)[0] and bounds(d)[1] >= bounds(a)[1]
    for a, d in cross(ALL_INTS, ALL_INTS):
        n = width(a)
        values = corners(n) + ([0x7f, 0x80, 0xff, 0x100, 0xff80, 0xff7f] if n > 8 else []) + ([0x7fff, 0x8000, 0xffff, 0x10000, 0xffff8000, 0xffff7fff] if n > 16 else []) + (
            [0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0xffffffff80000000, 0xffffffff7fffffff] if n > 32 else [])
        m.lanes("cvt_%s_%s" % (d, a), a, d, "cvt.%s.%s %%d, %%a;" % (d, a), rows1(lambda x: unsigned(integer(x, a), width(d)), values), uniform=1)
        if not superset(d, a):
            m.lanes("cvt_sat_%s_%s" % (d, a), a, d, "cvt.sat.%s.%s %%d, %%a;" % (d, a), rows1(lambda x: unsigned(clamp(integer(x, a), d), width(d)), values), uniform=1)

    m = Module("cvt_wide", "9.4.1, 9.7.9.21", "cvt with registers wider than its types: the source is cut off, the result extended as its type says.")
    for a, d, ra, rd in cross(("u8", "s8", "u16", "s16"), ("u8", "s8", "u16", "s16"), ("u32", "b64"), ("b32", "u64")):
        n, k = width(d), width(rd)
        values = [0, 0x7f, 0x80, 0xff, 0x17f, 0x7fff, 0x8000, 0xffff, 0x12345, 0xdeadbe80]
        m.lanes("cvt_%s_%s_in_%s_%s" % (d, a, rd, ra), ra, rd, "cvt.%s.%s %%d, %%a;" % (d, a),
                rows1(lambda x: unsigned(integer(integer(x, a), d), k), values))
    for a, d in cross(("u32", "s32"), ("u32", "s32", "u16", "s8")):
        m.lanes("cvt_%s_%s_in_b64_b64" % (d, a), "b64", "b64", "cvt.%s.%s %%d, %%a;" % (d, a),
                rows1(lambda x: unsigned(integer(integer(x, a), d), 64), [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x1ffffffff, 0x123456789abcdef0, 0xffffff80]))
    m.lanes("cvt_f32_f16_in_b32", "b32", "f32", "cvt.f32.f16 %d, %a; // the low half holds the number", rows1(lambda x: F32.of(F16.value(x & 0xffff)), [0x3c00, 0xffffc000, 0x12340001]), uniform=1)
    m.lanes("cvt_f16_f32_in_b32", "f32", "b32", "cvt.rn.f16.f32 %t, %a;\ncvt.u32.u16 %d, %t; // of the result the low half is looked at",
            rows1(lambda x: F16.of(F32.value(x)), [F32.one, F32.of(-2), F32.of(65504)]), regs="b32 %t")

    m = Module("cvt_pack", "9.7.9.22", "cvt.pack: saturated a above b, and c above them.", "8.0", "sm_90")
    pairs = cross([0, 1, 7, 0x80, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff8, 0xffff7fff], [2, 0x7f, 0x10000, 0x80000000, 0xffffff7f])
    for d in "u16", "s16":
        m.lanes("cvt_pack_" + d, "s32 s32", "b32", "cvt.pack.sat.%s.s32 %%d, %%a, %%b;" % d,
                rowsn(lambda a, b: unsigned(clamp(signed(a, 32), d), 16) << 16 | unsigned(clamp(signed(b, 32), d), 16), pairs), uniform=1)
    for d in "u2", "s2", "u4", "s4", "u8", "s8":
        n = width(d)
        m.lanes("cvt_pack_" + d, "s32 s32 b32", "b32", "cvt.pack.sat.%s.s32.b32 %%d, %%a, %%b, %%c;" % d,
                rowsn(lambda a, b, c: unsigned(c << 2 * n | unsigned(clamp(signed(a, 32), d), n) << n | unsigned(clamp(signed(b, 32), d), n), 32),
                      [(a, b, (0x89abcdef, 0, 0xffffffff)[i % 3]) for i, (a, b) in enumerate(pairs)]), uniform=1)


def gen_cvt_float():
    m = Module("cvt_float_int", "9.7.9.21", "cvt of floats to integers: rounded (rni, rzi, rmi, rpi), then clamped. A NaN gives 0, or 1 << n-1 if either type has 64 bits.")
    for f, d in cross((F16, F32, F64), ALL_INTS):
        n = width(d)
        lo, hi = bounds(d)
        numbers = [Fraction(x, 4) for x in (0, 1, 2, 3, 4, 5, 6, 7, 10, -1, -2, -3, -4, -5, -6, -7, -10)] + [Fraction(x) + s for x in (lo, hi) for s in (-1, Fraction(-1, 2), 0, Fraction(1, 2), 1)]
        top = f.value(f.max)
        values = [f.of(v) for v in numbers if abs(v) <= top] + [f.of(hi) - 1 if hi < top else f.max, f.inf, f.inf | f.sign, f.nan, f.inf + 1 | f.sign, f.max, f.max | f.sign, f.sign, 1, 1 | f.sign]
        values = list(dict.fromkeys(values))
        for ftz in ("", ".ftz")[:1 + (f is F32)]:
            def convert(x, rnd):
                if f.is_nan(x):
                    return 1 << n - 1 if f is F64 or n == 64 else 0
                if f.is_inf(x):
                    return unsigned(lo if f.negative(x) else hi, n)
                return unsigned(clamp(to_int(f.value(f.flush(x) if ftz else x), rnd), d), n)
            rnds = ("rni", "rzi", "rmi", "rpi")
            code = "\n".join("cvt.%s%s.%s.%s %%d%d, %%a;" % (rnd, ftz, d, f.name, i) for i, rnd in enumerate(rnds))
            m.lanes("cvt_%s%s_%s" % (d, ftz.replace(".", "_"), f.name), f.name, d, code, rows1(lambda x: tuple(convert(x, rnd) for rnd in rnds), values), outs=4, uniform=0 if ftz else 3, lanes=16)

    m = Module("cvt_int_float", "9.7.9.21", "cvt of integers to floats in the rounding modes rn, rz, rm, rp.")
    for a, f in cross(ALL_INTS, (F16, F32, F64)):
        n = width(a)
        k = f.frac + 1
        values = corners(n) + [v for v in (((1 << k) + 1), (1 << k) + 2, (1 << k) + 3, (1 << k) - 1, (3 << k) + 1, (3 << k) + 2, (5 << k) + 5, 65504, 65519, 65520, 65535) if v < 1 << n]
        values += [unsigned(-v, n) for v in values[11:]] + [Random(n).bits(n)]
        code = "\n".join("cvt.%s.%s.%s %%d%d, %%a;" % (rnd, f.name, a, i) for i, rnd in enumerate(ROUNDINGS))
        m.lanes("cvt_%s_%s" % (f.name, a), a, f.name, code, rows1(lambda x: tuple(f.round(Fraction(integer(x, a)), rnd) for rnd in ROUNDINGS), list(dict.fromkeys(values))), outs=4, uniform=1, lanes=16)
    m.lanes("cvt_sat_f32_s32", "s32", "f32", "cvt.rn.sat.f32.s32 %d, %a;", rows1(lambda x: 0 if signed(x, 32) <= 0 else F32.one, corners(32)), uniform=1)

    m = Module("cvt_float", "9.7.9.21", "cvt between floats: to narrower ones in the rounding modes rn, rz, rm, rp; .ftz, .sat.", "8.0", "sm_90")

    def narrow(src, dst, rnd, ftz=False, sat=False):
        unit = Arithmetic(dst, rnd, ftz and dst is F32, sat)

        def g(x):
            if ftz and src is F32 and dst is not F16:
                x = src.flush(x) # ptxas leaves .ftz out where the result is f16
            if src.is_nan(x):
                r = unit.nan()
            elif src.is_inf(x):
                r = dst.inf | (dst.sign if src.negative(x) else 0)
            else:
                r = unit.round(src.value(x), src.negative(x))
            return unit.finish(r)
        return g

    def halfway(src, dst):
        """Numbers at and beside the middle of neighbours in the narrower format."""
        out = []
        for low in (dst.one, dst.one + 1, dst.max, 0, 1, dst.min_normal - 1, dst.min_normal, dst.max - 1):
            a = dst.value(low)
            b = dst.value(low + 1) if low != dst.max else 2 * a - dst.value(low - 1)
            mid = (a + b) / 2
            for v in (a, mid, (a + mid) / 2, (b + mid) / 2, b):
                x = src.of(v)
                if src.value(x) == v:
                    out += [x]
                    if v == mid:
                        out += [x + 1, x - 1]
        r = Random(src.width)
        out += [src.of(dst.value(r.bits(dst.width - 1) % dst.inf) * (1 + Fraction(r.bits(20), 1 << 24))) for _ in range(12)]
        return [x | (src.sign if i % 3 == 2 else 0) for i, x in enumerate(out)] + float_corners(src)
    for src, dst in (F64, F32), (F32, F16), (F64, F16):
        for mods in ("", ".sat") + ((".ftz", ".ftz.sat") if src is F32 or dst is F32 else ()):
            fs = [narrow(src, dst, rnd, ".ftz" in mods, ".sat" in mods) for rnd in ROUNDINGS]
            code = "\n".join("cvt.%s%s.%s.%s %%d%d, %%a;" % (rnd, mods, dst.name, src.name, i) for i, rnd in enumerate(ROUNDINGS))
            m.lanes("cvt%s_%s_%s" % (mods.replace(".", "_"), dst.name, src.name), src.name, dst.name, code, rows1(lambda x: tuple(g(x) for g in fs), halfway(src, dst)), outs=4, uniform=0 if mods else 4, lanes=16)
    for src, dst in (F32, F64), (F16, F32), (F16, F64), (F32, F32), (F64, F64), (F16, F16):
        ftzs = ("", ".ftz") if F32 in (src, dst) else ("",)
        for ftz in ftzs:
            for sat in "", ".sat":
                if src is dst and ftz + sat == "":
                    g = lambda x: NAN if src.is_nan(x) else x
                else:
                    g = narrow(src, dst, "rn", ftz != "", sat != "")
                m.lanes("cvt%s%s_%s_%s" % (ftz.replace(".", "_"), sat.replace(".", "_"), dst.name, src.name), src.name, dst.name, "cvt%s%s.%s.%s %%d, %%a;" % (ftz, sat, dst.name, src.name),
                        rows1(g, float_corners(src) + [src.of(Fraction(1, 3)), src.min_normal, src.one + 1, src.max - 1]), uniform=1)

    m = Module("cvt_round", "9.7.9.21", "cvt of a float to an integral number of its own type: rni, rzi, rmi, rpi. The sign stays, also of zeros.")
    for f in F16, F32, F64:
        numbers = [Fraction(x, 4) for x in range(0, 15)] + [Fraction(2) ** f.frac - Fraction(1, 2), Fraction(2) ** (f.frac - 1) + Fraction(1, 2), Fraction(2) ** (f.frac - 1) + Fraction(3, 2), Fraction(2) ** f.frac + 1, Fraction(2) ** (f.frac + 1)]
        values = [f.of(v) | s for v in numbers for s in (0, f.sign)] + [x for x in float_corners(f) if not f.is_zero(x)]
        for ftz in ("", ".ftz")[:1 + (f is F32)]:
            def integral(x, rnd):
                if f.is_nan(x):
                    return f.nan if f is F32 else NAN
                if f.is_inf(x):
                    return x
                return f.of(abs(to_int(f.value(f.flush(x) if ftz else x), rnd))) | x & f.sign
            rnds = ("rni", "rzi", "rmi", "rpi")
            code = "\n".join("cvt.%s%s.%s.%s %%d%d, %%a;" % (rnd, ftz, f.name, f.name, i) for i, rnd in enumerate(rnds))
            m.lanes("cvt%s_%s" % (ftz.replace(".", "_"), f.name), f.name, f.name, code, rows1(lambda x: tuple(integral(x, rnd) for rnd in rnds), values[::1 if not ftz else 2]), outs=4, uniform=2, lanes=16)
    m.lanes("cvt_rni_sat_f32", "f32", "f32", "cvt.rni.sat.f32.f32 %d, %a;", [((F32.of(v),), F32.of(r)) for v, r in ((Fraction(1, 4), 0), (Fraction(1, 2), 0), (Fraction(3, 4), 1), (1, 1), (5, 1), (-3, 0))] + [((F32.nan,), 0)], uniform=1)

    # bf16: numbers are given as their bits, for the case lines know no bf16.
    m = Module("cvt_bf16", "9.7.9.21", "cvt of f32 to bf16 and f16 with .relu and .satfinite, single and packed; bf16 to f32.", "8.6", "sm_100")
    for dst in BF16, F16:
        for rnd in "rn", "rz":
            for mods in "", ".relu", ".satfinite", ".relu.satfinite":
                def convert(x):
                    f = F32
                    if f.is_nan(x):
                        return dst.nan
                    if f.is_inf(x):
                        r = dst.inf | (dst.sign if f.negative(x) else 0)
                    else:
                        r = dst.round(f.value(x), rnd, f.negative(x))
                    if "relu" in mods and dst.negative(r):
                        if r == dst.sign:
                            raise Unsaid
                        return 0
                    if "satfinite" in mods and dst.is_inf(r):
                        r -= 1
                    return r
                values = halfway(F32, dst)
                name = "%s_%s%s" % (dst.name, rnd, mods.replace(".", "_"))
                if not (dst is F16 and mods == "" ):
                    m.lanes("cvt_" + name, "f32", "b16", "cvt.%s%s.%s.f32 %%d, %%a;" % (rnd, mods, dst.name), rows1(convert, values), uniform=1)
                pairs = [(a, b) for a, b in zip(values, values[7:] + values[:7])]
                m.lanes("cvt_x2_" + name, "f32 f32", "b32", "cvt.%s%s.%sx2.f32 %%d, %%a, %%b;" % (rnd, mods, dst.name), rowsn(lambda a, b: convert(a) << 16 | convert(b), pairs[::2]), uniform=1)
    m.lanes("cvt_f32_bf16", "b16", "f32", "cvt.f32.bf16 %d, %a;", rows1(lambda x: NAN if BF16.is_nan(x) else x << 16, float_corners(BF16) + [0x3f81, 0x0001, 0x8042]), uniform=2)

    m = Module("cvt_bf16_all", "9.7.9.21", "cvt between bf16 and the integers, f16 and f64, in all rounding modes; to an integral bf16.", "8.6", "sm_100")
    f = BF16

    def store(x):
        return f.nan if x == NAN else x
    for t in ALL_INTS:
        n = width(t)
        lo, hi = bounds(t)
        values = list(dict.fromkeys([f.of(Fraction(v, 4)) for v in (0, 1, 2, 3, 6, 10, 500, -1, -2, -6, -10, -500)] + [f.of(v) for v in (lo, hi, hi // 2, hi // 2 + 1)] + [f.inf, f.inf | f.sign, f.nan, f.max, 1, 1 | f.sign]))

        def to_integer(x, rnd):
            if f.is_nan(x):
                return 1 << n - 1 if n == 64 else 0
            if f.is_inf(x):
                return unsigned(lo if f.negative(x) else hi, n)
            return unsigned(clamp(to_int(f.value(x), rnd), t), n)
        rnds = ("rni", "rzi", "rmi", "rpi")
        m.lanes("cvt_%s_bf16" % t, "b16", t, "\n".join("cvt.%s.%s.bf16 %%d%d, %%a;" % (rnd, t, i) for i, rnd in enumerate(rnds)), rows1(lambda x: tuple(to_integer(x, rnd) for rnd in rnds), values), outs=4, uniform=1, lanes=16, wide=False)
        values = list(dict.fromkeys(corners(n) + [v for v in (256, 257, 258, 259, 384 + 1, 65535, 0x1018000, 0x1008000) if v < 1 << n]))
        m.lanes("cvt_bf16_%s" % t, t, "b16", "\n".join("cvt.%s.bf16.%s %%d%d, %%a;" % (rnd, t, i) for i, rnd in enumerate(ROUNDINGS)), rows1(lambda x: tuple(f.round(Fraction(integer(x, t)), rnd) for rnd in ROUNDINGS), values), outs=4, uniform=1, lanes=16, wide=False)
    for g in F16, F64:
        gs = [narrow(g, f, rnd) for rnd in ROUNDINGS]
        m.lanes("cvt_bf16_" + g.name, g.name, "b16", "\n".join("cvt.%s.bf16.%s %%d%d, %%a;" % (rnd, g.name, i) for i, rnd in enumerate(ROUNDINGS)), rows1(lambda x: tuple(store(h(x)) for h in gs), halfway(g, f)), outs=4, uniform=2, lanes=16)
    gs = [narrow(f, F16, rnd) for rnd in ROUNDINGS]
    m.lanes("cvt_f16_bf16", "b16", "f16", "\n".join("cvt.%s.f16.bf16 %%d%d, %%a;" % (rnd, i) for i, rnd in enumerate(ROUNDINGS)), rows1(lambda x: tuple(h(x) for h in gs), float_corners(f) + [f.of(65504), f.of(65536), f.of(Fraction(1, 1 << 24)), f.of(Fraction(3, 1 << 25)), f.of(Fraction(1, 1 << 26)), 0x4201]), outs=4, uniform=2, lanes=16)
    m.lanes("cvt_f64_bf16", "b16", "f64", "cvt.f64.bf16 %d, %a;", rows1(narrow(f, F64, "rn"), float_corners(f)), uniform=2)

    def integral_bf16(x, rnd):
        if f.is_nan(x) or f.is_inf(x):
            return f.nan if f.is_nan(x) else x
        return f.of(abs(to_int(f.value(x), rnd))) | x & f.sign
    rnds = ("rni", "rzi", "rmi", "rpi")
    m.lanes("cvt_bf16_bf16", "b16", "b16", "\n".join("cvt.%s.bf16.bf16 %%d%d, %%a;" % (rnd, i) for i, rnd in enumerate(rnds)), rows1(lambda x: tuple(integral_bf16(x, rnd) for rnd in rnds), [f.of(Fraction(v, 4)) | z for v in range(0, 12) for z in (0, f.sign)] + float_corners(f)), outs=4, uniform=2, lanes=16)


# ---------------------------------------------------------------- 9.7.9 memory

def gen_memory():
    """Loads and stores of every type from every space into registers of every
    width. Eight bytes go from the parameter to the space byte by byte."""
    m = Module("ld_extend", "9.4.1, 9.7.9.8", "ld from every space: what is narrower than its register is extended as its type says.", "8.3", "sm_90")
    m.add(".const .align 8 .b8 cdata[8] = {0x80, 0xff, 0x7f, 0x81, 0xf0, 0xde, 0xbc, 0x9a};\n.global .align 8 .b8 gdata[8] = {0x80, 0xff, 0x7f, 0x81, 0xf0, 0xde, 0xbc, 0x9a};")
    fixed = 0x9abcdef0817fff80

    def own(space):
        """A variable of the kernel with the eight bytes."""
        return "\n".join(["\t.%s .align 8 .b8 data[8];" % space] + ["\tshr.u64 %%t, %%v, %d;\n\tst.%s.u8 [data+%d], %%t;" % (8 * i, space, i) for i in range(8)])
    # name: how the eight bytes come to lie at "data", and the space of the loads
    spaces = [
        ("global", "", "global", "gdata"), ("global_ptr", "\tmov.u64 %b, gdata;", "global", "%b"),
        ("const", "", "const", "cdata"), ("const_ptr", "\tmov.u64 %b, cdata;", "const", "%b"),
        ("param", "", "param", "a"), ("param_entry", "", "param::entry", "a"),
        ("shared", own("shared"), "shared", "data"),
        ("local", own("local"), "local", "data"),
        ("generic_global", "\tcvta.global.u64 %b, gdata;", "", "%b"),
        ("generic_const", "\tcvta.const.u64 %b, cdata;", "", "%b"),
        ("generic_shared", own("shared") + "\n\tcvta.shared.u64 %b, data;", "", "%b"),
        ("generic_local", own("local") + "\n\tcvta.local.u64 %b, data;", "", "%b"),
        ("generic_param", "\tcvta.param.u64 %b, a;", "", "%b"),
    ]
    for name, setup, space, base in spaces:
        lines, want = [], []
        for reg in 16, 32, 64:
            for t in ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"):
                n = width(t)
                if n > reg:
                    continue
                off = {8: (1, 2, 0)[reg // 32], 16: (2, 6)[reg // 32 & 1], 32: (0, 4)[reg // 64], 64: 0}[n]
                lines.append("\tld%s.%s %%r%d, [%s+%d];" % ("." + space if space else "", t, reg, base, off))
                if reg == 16:
                    lines.append("\tmov.b32 %r32, {%r16, 0};\n\tmov.b64 %r64, {%r32, 0};")
                elif reg == 32:
                    lines.append("\tmov.b64 %r64, {%r32, 0};")
                lines.append("\tst.global.b64 [%%o+%d], %%r64;" % (8 * len(want)))
                want.append(unsigned(integer(fixed >> 8 * off, t), reg))
        m.add("\n".join([".visible .entry ld_%s(.param .u64 a, .param .u64 out)" % name, "{", "\t.reg .b16 %r16;", "\t.reg .b32 %r32;", "\t.reg .b64 %r64, %v, %t, %b, %o;",
                         "\tld.param.u64 %o, [out];", "\tld.param.u64 %v, [a];"] + ([setup] if setup else []) + lines + ["\tret;", "}",
                         "// run: ld_%s(0x%x) == u64 %s" % (name, fixed, list_text(want, "u64"))]))

    m = Module("st_narrow", "9.4.1, 9.7.9.11", "st to every space: of a register wider than the type the low part is stored, and nothing beside it.")
    for name, decl, base, space in (
            ("global", "", "%p", "global"), ("shared", "\t.shared .align 8 .b8 data[24];", "data", "shared"), ("local", "\t.local .align 8 .b8 data[24];", "data", "local"),
            ("generic_global", "\tcvta.global.u64 %b, %p;", "%b", ""), ("generic_shared", "\t.shared .align 8 .b8 data[24];\n\tcvta.shared.u64 %b, data;", "%b", ""),
            ("generic_local", "\t.local .align 8 .b8 data[24];\n\tcvta.local.u64 %b, data;", "%b", "")):
        dot = "." + space if space else ""
        lines = ["\tst%s.u64 [%s+%d], -1;" % (dot, base, i) for i in (0, 8, 16)]
        image = bytearray(b"\xff" * 24)
        value = 0x0123456789abcdef
        for at, t, reg in (1, "u8", 16), (3, "s8", 32), (5, "b8", 64), (8, "u16", 16), (10, "s16", 32), (14, "b16", 64), (16, "u32", 32), (20, "s32", 64):
            lines.append("\tst%s.%s [%s+%d], %%r%d;" % (dot, t, base, at, reg))
            image[at:at + width(t) // 8] = unsigned(value, width(t)).to_bytes(width(t) // 8, "little")
        if base != "%p":
            for i in 0, 8, 16:
                lines += ["\tld%s.b64 %%t, [%s+%d];" % (dot, base, i), "\tst.global.b64 [%%p+%d], %%t;" % i]
        text = [".visible .entry st_%s(.param .u64 a, .param .u64 out)" % name, "{", "\t.reg .b16 %r16;", "\t.reg .b32 %r32;", "\t.reg .b64 %r64, %t, %b, %p;", "\tld.param.u64 %p, [out];", "\tld.param.u64 %r64, [a];",
                "\tcvt.u32.u64 %r32, %r64;", "\tcvt.u16.u64 %r16, %r64;"] + ([decl] if decl else []) + lines + ["\tret;", "}"]
        m.add("\n".join(text + ["// run: st_%s(0x%x) == u8 %s" % (name, value, " ".join("0x%02x" % b for b in image))]))

    # Registers of the threads that address by themselves, so that addresses are
    # uniform, contiguous, strided, backwards and scattered.
    m = Module("ld_pattern", "9.7.9.8, 9.7.9.11", "addresses across a warp: uniform, contiguous, strided, backwards, scattered, under a guard.")
    for t, size in ("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8):
        r = "u16" if size == 1 else t
        data = [unsigned(0x9E3779B97F4A7C15 * (i + 1) >> 5, 8 * size) for i in range(64)]
        patterns = [("uniform", "mov.u32 %j, 5;", lambda i: 5), ("contiguous", "mov.u32 %j, %i;", lambda i: i), ("strided", "mul.lo.u32 %j, %i, 3;", lambda i: 3 * i % 64),
                    ("backwards", "sub.u32 %j, 40, %i;", lambda i: 40 - i), ("scattered", "mad.lo.u32 %j, %i, %i, %i;\n\tand.b32 %j, %j, 63;", lambda i: i * i + i & 63), ("paired", "shr.u32 %j, %i, 1;", lambda i: i // 2)]
        for name, code, f in patterns:
            n = 20
            text = [".visible .entry ld_%s_%s(.param .u64 a, .param .u64 out)" % (name, t), "{", "\t.reg .u32 %i, %j;", "\t.reg .u64 %p;", "\t.reg ." + r + " %v;", "\tmov.u32 %i, %tid.x;", "\t" + code,
                    "\tld.param.u64 %p, [a];", "\tmad.wide.u32 %%p, %%j, %d, %%p;" % size, "\tld.global.%s %%v, [%%p];" % t,
                    "\tld.param.u64 %p, [out];", "\tmad.wide.u32 %%p, %%i, %d, %%p;" % size, "\tst.global.%s [%%p], %%v;" % t, "\tret;", "}",
                    "// run block=%d: ld_%s_%s(%s{%s}) == %s %s" % (n, name, t, t, list_text(data, t), t, list_text([data[f(i)] for i in range(n)], t))]
            m.add("\n".join(text))
            if name in ("uniform", "paired"):
                continue  # several threads would write one place
            out = [0] * 64
            for i in range(n):
                if i % 3 != 1:
                    out[f(i)] = data[i]
            # Scattered places may coincide: those that do are left to no case.
            places = [f(i) for i in range(n) if i % 3 != 1]
            if len(set(places)) < len(places):
                continue
            text = [".visible .entry st_%s_%s(.param .u64 a, .param .u64 out)" % (name, t), "{", "\t.reg .u32 %i, %j, %k;", "\t.reg .pred %q;", "\t.reg .u64 %p;", "\t.reg ." + r + " %v;", "\tmov.u32 %i, %tid.x;", "\t" + code,
                    "\trem.u32 %k, %i, 3;", "\tsetp.eq.u32 %q, %k, 1;",
                    "\tld.param.u64 %p, [a];", "\tmad.wide.u32 %%p, %%i, %d, %%p;" % size, "\tld.global.%s %%v, [%%p];" % t,
                    "\tld.param.u64 %p, [out];", "\tmad.wide.u32 %%p, %%j, %d, %%p;" % size, "@!%%q st.global.%s [%%p], %%v;" % t, "\tret;", "}",
                    "// run block=%d: st_%s_%s(%s{%s}, @%s{0*64}) == %s %s" % (n, name, t, t, list_text(data[:n], t), t, t, list_text(out, t))]
            m.add("\n".join(text))


def gen_reg16():
    """A 16-bit register holds 16 bits, whatever wrote them: every way to write
    one, read by every kind of instruction."""
    m = Module("reg16", "9.4, 9.7.1", "16-bit registers: each kernel writes one in its way, then reads it as signed, unsigned and untyped.")
    writers = [  # from the 32-bit %a
        ("ld_s16", "st.local.u32 [m], %a;\nld.local.s16 %h, [m];", lambda a: a), ("ld_u16", "st.local.u32 [m], %a;\nld.local.u16 %h, [m];", lambda a: a),
        ("ld_s8", "st.local.u32 [m], %a;\nld.local.s8 %h, [m];", lambda a: signed(a, 8)), ("ld_v2_s16", "st.local.u32 [m], %a;\nld.local.v2.s16 {%h, %g}, [m];", lambda a: a),
        ("cvt_s16", "cvt.s16.s32 %h, %a;", lambda a: a), ("cvt_u16", "cvt.u16.u32 %h, %a;", lambda a: a), ("cvt_s8", "cvt.s8.s32 %h, %a;", lambda a: signed(a, 8)),
        ("unpack", "mov.b32 {%g, %h}, %a;", lambda a: a >> 16), ("add_s16", "cvt.u16.u32 %h, %a;\nadd.s16 %h, %h, %h;", lambda a: a + a), ("sub_u16", "cvt.u16.u32 %h, %a;\nsub.u16 %h, 0, %h;", lambda a: -a),
        ("neg", "cvt.u16.u32 %h, %a;\nneg.s16 %h, %h;", lambda a: -a), ("not", "cvt.u16.u32 %h, %a;\nnot.b16 %h, %h;", lambda a: ~a), ("shl", "cvt.u16.u32 %h, %a;\nshl.b16 %h, %h, 4;", lambda a: a << 4),
        ("shr", "cvt.u16.u32 %h, %a;\nshr.s16 %h, %h, 1;", lambda a: signed(a, 16) >> 1), ("mul", "cvt.u16.u32 %h, %a;\nmul.lo.s16 %h, %h, 3;", lambda a: a * 3),
        ("min", "cvt.u16.u32 %h, %a;\nmin.s16 %h, %h, 5;", lambda a: min(signed(a, 16), 5)), ("selp", "cvt.u16.u32 %h, %a;\nsetp.gt.s32 %q, %a, 0;\nselp.s16 %h, %h, -2, %q;", lambda a: a if signed(a, 32) > 0 else -2),
        ("mov", "mov.s16 %h, -3;", lambda a: -3), ("f16", "cvt.rzi.s16.f32 %h, 0fC1200000; // -10", lambda a: -10),
    ]
    readers = [
        ("cvt.u32.u16 %d0, %h;", lambda h: h), ("cvt.s32.s16 %d1, %h;", lambda h: signed(h, 16)), ("mov.b32 %d2, {%h, 0};", lambda h: h), ("mov.b32 %d3, {1, %h};", lambda h: h << 16 | 1),
        ("mul.wide.u16 %d4, %h, %h;", lambda h: h * h), ("mul.wide.s16 %d5, %h, 3;", lambda h: signed(h, 16) * 3), ("shr.u16 %g, %h, 4;\ncvt.u32.u16 %d6, %g;", lambda h: h >> 4),
        ("div.u16 %g, %h, 7;\ncvt.u32.u16 %d7, %g;", lambda h: h // 7), ("setp.lt.u16 %q, %h, 0x8000;\nselp.u32 %d8, 1, 0, %q;", lambda h: h < 0x8000), ("setp.lt.s16 %q, %h, 0;\nselp.u32 %d9, 1, 0, %q;", lambda h: h >= 0x8000),
        ("mov.b16 %g, %h;\nsetp.eq.b16 %q, %g, %h;\nselp.u32 %d10, 1, 0, %q;", lambda h: 1), ("max.u16 %g, %h, 2;\ncvt.u32.u16 %d11, %g;", lambda h: max(h, 2)),
        ("mul.hi.u16 %g, %h, %h;\ncvt.u32.u16 %d12, %g;", lambda h: h * h >> 16), ("cvt.rn.f32.u16 %f, %h;\ncvt.rzi.u32.f32 %d13, %f;", lambda h: h),
    ]
    values = [0, 1, 0x7fff, 0x8000, 0xffff, 0x12348001, 0x8000ffff, 0xfffe0080, 0x00ff0100]
    for name, code, f in writers:
        rows = rows1(lambda a: tuple(unsigned(int(g(unsigned(f(a), 16))), 32) for _, g in readers), values)
        local = ".local .align 8 .b8 m[8];\n" if "[m]" in code else ""
        m.lanes("reg16_" + name, "u32", "u32", local + code + "\n" + "\n".join(r for r, _ in readers), rows, outs=len(readers), regs="b16 %g, %h; pred %q; f32 %f", uniform=1, lanes=9)


def gen_atomics():
    """Each thread has a place of its own: the old value and what is left."""
    def wrap(t, f):
        return lambda a, b: unsigned(f(integer(a, t), integer(b, t)), width(t))

    def add_float(f, flush):
        """Rounds to nearest even; f32 in global memory flushes subnormals."""
        unit = Arithmetic(f, "rn", flush)

        def g(a, b):
            r = unit(Arithmetic.add, a, b)
            return NAN if f.is_nan(r if r != NAN else f.nan) else r
        return g
    ops = []  # name, type, function, pairs
    logic = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "exch": lambda a, b: b}
    for op, f in logic.items():
        for t in ("b32", "b64"):
            ops.append((op, t, f, int_pairs(width(t))[::4]))
    for t in "u32", "s32", "u64", "s64":
        n = width(t)
        if t != "s64":  # which .add does not have
            ops.append(("add", t, wrap(t, lambda a, b: a + b), int_pairs(n)[::3]))
        ops += [("min", t, wrap(t, min), int_pairs(n)[::3]), ("max", t, wrap(t, max), int_pairs(n)[::3])]
    counts = cross([0, 1, 5, 6, 7, 0xffffffff, 0x80000000], [0, 6, 0xffffffff])
    ops += [("inc", "u32", lambda r, s: 0 if r >= s else r + 1, counts), ("dec", "u32", lambda r, s: s if r == 0 or r > s else r - 1, counts)]
    spaces = [("global", ".global", "global", "scratch", ""), ("shared", ".shared", "shared", "own", ""), ("shared_cta", ".shared::cta", "shared", "own", ""),
              ("generic_global", "", "global", "scratch", "cvta.global.u64 %g, %g;\n"), ("generic_shared", "", "shared", "own", "cvta.shared.u64 %g, %g;\n")]
    orders = ["", ".relaxed", ".acquire", ".release", ".acq_rel", ".relaxed.cta", ".acq_rel.gpu", ".release.sys", ".acquire.cta", ".cta", ".gpu", ".sys"]
    m = Module("atom", "9.7.13.5", "atom: the value before and the value after, for every operation, type and space.", "8.4", "sm_90")
    r = Module("red", "9.7.13.6", "red: the value after, for every operation, type and space.", "8.4", "sm_90")
    for x in m, r:
        x.add(".global .align 16 .b8 scratch[1024];")
    order = 0

    def sub(text, **values):
        for k, v in values.items():
            text = text.replace("$" + k, str(v))
        return text
    for name, dot, space, base, cvta in spaces:
        own = ".shared .align 16 .b8 own[1024];\n" if space == "shared" else ""
        place = own + "mov.u64 %g, $base;\nmad.wide.u32 %g, %i, $size, %g;\nst.$space.$mem [%g], %a;\n" + cvta
        load = "\nld$plain.$t $to, [%g];"
        common = {"base": base, "space": space, "plain": dot.replace("::cta", ""), "dot": dot}
        every = ops + [("add", f.name, add_float(f, space == "global" and f is F32), add_pairs(f)[::3] + specials(f)[::11]) for f in (F32, F64)]
        for op, t, f, pairs in every:
            if name in ("shared_cta", "generic_shared") and t not in ("u32", "f32", "b64"):
                continue
            order += 1
            sem = orders[order % len(orders)]
            common.update(size=width(t) // 8, mem=mem_type(t), sem=sem, op=op)
            rows = [(p, (p[0], v)) for p, v in rowsn(f, pairs)]
            m.lanes("atom_%s_%s_%s" % (op, t, name), "%s %s" % (t, t), t, sub(place + "atom$sem$dot.$op.$t %d0, [%g], %b;" + load, to="%d1", t=t, **common), rows, outs=2, regs="u64 %g")
            if op != "exch" and "acq" not in sem:
                r.lanes("red_%s_%s_%s" % (op, t, name), "%s %s" % (t, t), t, sub(place + "red$sem$dot.$op.$t [%g], %b;" + load, to="%d", t=t, **common), rowsn(f, pairs), regs="u64 %g")
        for t in "b16", "b32", "b64":
            n = width(t)
            triples = [(5, 5, 9), (5, 6, 9), (unsigned(-1, n), unsigned(-1, n), 0), (0, 1 << n - 1, 1)]
            common.update(size=n // 8, mem=t)
            m.lanes("atom_cas_%s_%s" % (t, name), " ".join([t] * 3), t, sub(place + "atom$dot.cas.$t %d0, [%g], %b, %c;" + load, to="%d1", t=t, **common),
                    rowsn(lambda a, b, c: (a, c if a == b else a), triples), outs=2, regs="u64 %g")
        if name not in ("global", "shared"):
            continue
        wide = sub(own + "mov.u64 %g, $base;\nmad.wide.u32 %g, %i, 16, %g;\nst.$space.v2.b64 [%g], {%a, %b};\nmov.b128 %x, {%c, %e};\n$$\nmov.b128 {%d0, %d1}, %z;\nld.$space.v2.b64 {%d2, %d3}, [%g];", base=base, space=space)
        rows = [((1, 2, 3, 4), (1, 2, 3, 4)), ((0, 1 << 63, (1 << 64) - 1, 7), (0, 1 << 63, (1 << 64) - 1, 7))]
        m.lanes("atom_exch_b128_" + name, "b64 b64 b64 b64", "b64", wide.replace("$$", "atom%s.exch.b128 %%z, [%%g], %%x;" % dot), rows, outs=4, regs="u64 %g; b128 %x, %z")
        rows = [((1, 2, 1, 2), (1, 2, 77, 88)), ((1, 2, 1, 3), (1, 2, 1, 2)), ((1, 2, 0, 2), (1, 2, 1, 2))]
        m.lanes("atom_cas_b128_" + name, "b64 b64 b64 b64", "b64", wide.replace("$$", "mov.u64 %%t, 77;\nmov.u64 %%u, 88;\nmov.b128 %%y, {%%t, %%u};\natom%s.cas.b128 %%z, [%%g], %%x, %%y;" % dot), rows, outs=4, regs="u64 %g, %t, %u; b128 %x, %y, %z")


def gen_warp():
    def shfl(mode, a, b, c):
        """The results of 32 lanes; None where a lane beyond them is read."""
        out = []
        for lane in range(len(a)):
            bval, cval, mask = b[lane] & 31, c[lane] & 31, c[lane] >> 8 & 31
            max_lane = lane & mask | cval & ~mask & 31
            min_lane = lane & mask
            j, ok = {"up": (lane - bval, lane - bval >= max_lane), "down": (lane + bval, lane + bval <= max_lane), "bfly": (lane ^ bval, (lane ^ bval) <= max_lane),
                     "idx": (min_lane | bval & ~mask & 31, (min_lane | bval & ~mask & 31) <= max_lane)}[mode]
            if not ok:
                j = lane
            out.append((a[j], int(ok)) if j < len(a) else None)
        return out

    def segments(width, mode):
        return (32 - width) << 8 | (0 if mode == "up" else 31)
    r = Random(32)
    data = [r.bits(32) for _ in range(32)]
    m = Module("shfl", "9.7.9.5, 9.7.9.6", "shfl: the value and whether the source lane is in range, in segments of 32, 8 and 2 lanes and with other bounds.", "6.2", "sm_60")
    for sync in ".sync", "":
        for mode in "up", "down", "bfly", "idx":
            rows = []
            bounds_ = [segments(32, mode), segments(8, mode), segments(2, mode), segments(16, mode) & ~31 | 5]
            for c in bounds_:
                for b in (0, 1, 3, 16, 31, 33) if c == bounds_[0] else (1, 5):
                    rows.append(([b] * 32, [c] * 32))
            rows.append(([i * 7 + 3 for i in range(32)], [bounds_[0]] * 32))
            rows.append(([31 - i for i in range(32)], [bounds_[1]] * 32))
            every = []
            for b, c in rows:
                got = shfl(mode, data, b, c)
                if None in got:
                    continue
                every += [((data[i], b[i], c[i]), got[i]) for i in range(32)]
            member = ", -1" if sync else ""
            m.lanes("shfl%s_%s" % (sync.replace(".", "_"), mode), "b32 u32 u32", "b32", "shfl%s.%s.b32 %%d0|%%q, %%a, %%b, %%c%s;\nselp.b32 %%d1, 1, 0, %%q;" % (sync, mode, member), every, outs=2, regs="pred %q", options="warp=32")
            m.lanes("shfl%s_%s_plain" % (sync.replace(".", "_"), mode), "b32 u32 u32", "b32", "shfl%s.%s.b32 %%d, %%a, %%b, %%c%s;" % (sync, mode, member), [(a, o[0]) for a, o in every[32:96]], options="warp=32")
    # Constants as in the manual's scans; twenty threads; two warps.
    rows = []
    n = 20
    got = shfl("up", data[:n], [2] * n, [0] * n)
    rows = [((data[i],), got[i]) for i in range(n)]
    m.lanes("shfl_constants", "b32", "b32", "shfl.sync.up.b32 %d0|%q, %a, 2, 0x0, 0xfffff;\nselp.b32 %d1, 1, 0, %q;", rows, outs=2, regs="pred %q", options="warp=32")
    rows = [((x,), y) for h in (0, 32) for x, y in zip(range(h, h + 32), [v for v, _ in shfl("bfly", list(range(h, h + 32)), [9] * 32, [31] * 32)])]
    m.lanes("shfl_two_warps", "b32", "b32", "shfl.sync.bfly.b32 %d, %a, 9, 31, 0xffffffff;", rows, lanes=64, options="warp=32")
    # Lanes of a branch among themselves.
    got = [v for v, _ in shfl("idx", data, [(i & 16) + (i * 3 & 15) for i in range(32)], [31] * 32)]
    m.lanes("shfl_branch", "b32", "b32", """mov.u32 %l, %laneid;
        mul.lo.u32 %s, %l, 3;
        and.b32 %s, %s, 15;
        setp.ge.u32 %q, %l, 16;
    @%q bra high;
        shfl.sync.idx.b32 %d, %a, %s, 31, 0x0000ffff;
        bra done;
    high:
        add.u32 %s, %s, 16;
        shfl.sync.idx.b32 %d, %a, %s, 31, 0xffff0000;
    done:""", [((data[i],), got[i]) for i in range(32)], regs="pred %q; u32 %l, %s", options="warp=32")

    m = Module("vote", "9.7.13.8, 9.7.13.9, 9.7.13.11", "vote and activemask.", "6.2", "sm_60")
    ballots = [[0] * 32, [1] * 32, [int(i == 5) for i in range(32)], [int(i != 31) for i in range(32)], [i & 1 for i in range(32)], [int(i < 16) for i in range(32)]]
    for sync in ".sync", "":
        member = ", -1" if sync else ""
        for neg in "", "!":
            rows = []
            for b in ballots:
                p = [x ^ (neg == "!") for x in b]
                out = (int(all(p)), int(any(p)), int(all(p) or not any(p)), sum(x << i for i, x in enumerate(p)))
                rows += [((x,), out) for x in b]
            code = "setp.ne.u32 %q, %a, 0;\n" + "\n".join("vote%s.%s.pred %%r, %s%%q%s;\nselp.u32 %%d%d, 1, 0, %%r;" % (sync, mode, neg, member, i) for i, mode in enumerate(("all", "any", "uni"))) + "\nvote%s.ballot.b32 %%d3, %s%%q%s;" % (sync, neg, member)
            m.lanes("vote%s%s" % (sync.replace(".", "_"), "_not" if neg else ""), "u32", "u32", code, rows, outs=4, regs="pred %q, %r", options="warp=32")
    # Twenty threads: those that are not there do not vote.
    p = [int(i % 3 != 0) for i in range(20)]
    m.lanes("vote_partial", "u32", "u32", """setp.ne.u32 %q, %a, 0;
        activemask.b32 %d0;
        vote.sync.ballot.b32 %d1, %q, %d0;
        vote.sync.all.pred %r, %q, 0xfffff;
        selp.u32 %d2, 1, 0, %r;
        setp.lt.u32 %q, %a, 2;
        vote.sync.uni.pred %r, %q, 0xfffff;
        selp.u32 %d3, 1, 0, %r;""", [((x,), (0xfffff, sum(y << i for i, y in enumerate(p)), 0, 1)) for x in p], outs=4, regs="pred %q, %r", options="warp=32")
    # Each branch sees its own lanes.
    low = [int(i % 5 < 2) for i in range(32)]
    mask = sum(x << i for i, x in enumerate(low))
    m.lanes("vote_branch", "u32", "u32", """setp.ne.u32 %q, %a, 0;
        mov.u32 %l, %laneid;
        and.b32 %l, %l, 1;
        setp.eq.u32 %r, %l, 0;
    @%q bra other;
        activemask.b32 %d0;
        vote.ballot.b32 %d1, %r;
        bra done;
    other:
        activemask.b32 %d0;
        vote.sync.ballot.b32 %d1, !%r, $mask;
    done:""".replace("$mask", "0x%x" % mask), [((x,), (mask, mask & 0xaaaaaaaa) if x else (~mask & 0xffffffff, ~mask & 0x55555555)) for x in low], outs=2, regs="pred %q, %r; u32 %l", options="warp=32")

    m = Module("match", "9.7.13.10", "match.any and match.all.", "6.2", "sm_70")
    sets = [[7] * 32, list(range(32)), [i // 4 for i in range(32)], [i * i % 5 for i in range(32)], [3] * 31 + [4]]
    for n in 32, 64:
        rows_any, rows_all = [], []
        for values in sets:
            values = [v << n - 8 for v in values]
            same = int(len(set(values)) == 1)
            rows_any += [((v,), sum((w == v) << i for i, w in enumerate(values))) for v in values]
            rows_all += [((v,), (0xffffffff * same, same, 0xffffffff * same)) for v in values]
        m.lanes("match_any_b%d" % n, "b%d" % n, "b32", "match.any.sync.b%d %%d, %%a, -1;" % n, rows_any, options="warp=32")
        m.lanes("match_all_b%d" % n, "b%d" % n, "b32", "match.all.sync.b%d %%d0|%%q, %%a, -1;\nselp.b32 %%d1, 1, 0, %%q;\nmatch.all.sync.b%d %%d2, %%a, 0xffffffff;" % (n, n), rows_all, outs=3, regs="pred %q", options="warp=32")
    values = [i % 3 for i in range(20)]
    m.lanes("match_partial", "b32", "b32", "match.any.sync.b32 %d, %a, 0xfffff;", [((v,), sum((w == v) << i for i, w in enumerate(values))) for v in values], options="warp=32")

    m = Module("redux", "9.7.13.12", "redux.", "7.0", "sm_80")
    sets = [[r.bits(32) for _ in range(32)], [0xffffffff] * 32, list(range(32)), [0x80000000] + [0x7fffffff] * 31, [unsigned(i - 16, 32) for i in range(32)], [5], [0x10000 << i for i in range(12)]]

    def fold(values, f, t):
        out = integer(values[0], t)
        for v in values[1:]:
            out = f(out, integer(v, t))
        return unsigned(out, 32)
    for op, t, f in [(op, t, f) for t in ("u32", "s32") for op, f in (("add", lambda a, b: a + b), ("min", min), ("max", max))] + [
            ("and", "b32", lambda a, b: a & b), ("or", "b32", lambda a, b: a | b), ("xor", "b32", lambda a, b: a ^ b)]:
        for values in sets:
            # A kernel for each number of threads: the mask says how many.
            n = len(values)
            name = "redux_%s_%s_%d" % (op, t, n)
            rows = [((v,), fold(values, f, t)) for v in values]
            if n < 32:
                m.lanes(name, t, t, "redux.sync.%s.%s %%d, %%a, 0x%x;" % (op, t, (1 << n) - 1), rows, options="warp=32")
        rows = [((v,), fold(values, f, t)) for values in sets[:5] for v in values]
        m.lanes("redux_%s_%s" % (op, t), t, t, "redux.sync.%s.%s %%d, %%a, 0xffffffff;" % (op, t), rows, options="warp=32")
    values = sets[0]
    odd, even = fold(values[1::2], max, "s32"), fold(values[::2], min, "s32")
    m.lanes("redux_branch", "s32", "s32", """mov.u32 %l, %laneid;
        and.b32 %l, %l, 1;
        setp.eq.u32 %q, %l, 0;
    @%q bra even;
        redux.sync.max.s32 %d, %a, 0xaaaaaaaa;
        bra done;
    even:
        redux.sync.min.s32 %d, %a, 0x55555555;
    done:""", [((v,), odd if i & 1 else even) for i, v in enumerate(values)], regs="pred %q; u32 %l", options="warp=32")

    m = Module("redux_f32", "9.7.13.12", "redux.min and .max of f32: NaNs are left out unless .NaN is there; +0 is greater than -0.", "8.6", "sm_100a")
    f = F32
    sets = [[f.of(Fraction(i * 37 % 64 - 32, 4)) for i in range(32)], [f.nan] * 32, [f.nan] * 31 + [f.of(-3)], [f.inf | f.sign] + [f.of(2)] * 31, [0, f.sign] * 16, [f.of(-5)] + [f.of(i) for i in range(31)]]
    for op, g in ("min", min), ("max", max):
        for mods in "", ".abs", ".NaN", ".abs.NaN":
            h = minmax(f, op, ".NaN" in mods, False, ".abs" in mods)
            rows = [((v,), h(*values)) for values in sets for v in values]
            m.lanes("redux_%s%s" % (op, mods.replace(".", "_")), "f32", "f32", "redux.sync.%s%s.f32 %%d, %%a, 0xffffffff;" % (op, mods), rows, options="warp=32")

    m = Module("sreg", "chapter 10", "special registers of one-dimensional blocks and grids.", "7.0", "sm_70")
    for name, reg, f in [(n, n, f) for n, f in (("tid", lambda t, c, b, g: t), ("ntid", lambda t, c, b, g: b), ("ctaid", lambda t, c, b, g: c), ("nctaid", lambda t, c, b, g: g))]:
        text = [".visible .entry %s(.param .u64 out)" % name, "{", "\t.reg .u32 %r<8>;", "\t.reg .u64 %o;"]
        text += ["\tmov.u32 %%r%d, %%%s.%s;" % (i, reg, c) for i, c in enumerate("xyz")]
        text += ["\tmov.u32 %r3, %tid.x;", "\tmov.u32 %r4, %ctaid.x;", "\tmov.u32 %r5, %ntid.x;", "\tmad.lo.u32 %r3, %r4, %r5, %r3;", "\tld.param.u64 %o, [out];", "\tmad.wide.u32 %o, %r3, 12, %o;",
                 "\tst.global.u32 [%o], %r0;", "\tst.global.u32 [%o+4], %r1;", "\tst.global.u32 [%o+8], %r2;", "\tret;", "}"]
        rest = (0, 0) if name in ("tid", "ctaid") else (1, 1)
        for block, grid in (5, 1), (33, 1), (3, 4):
            want = [v for c in range(grid) for t in range(block) for v in (f(t, c, block, grid),) + rest]
            text.append("// run block=%d grid=%d: %s() == u32 %s" % (block, grid, name, list_text(want, "u32")))
        m.add("\n".join(text))
    # By the lane: %laneid and the masks, with a warp and a part of one.
    code = "\n".join("mov.u32 %%d%d, %%%s;" % (i, n) for i, n in enumerate(("laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "warpid", "nwarpid")))
    for n in 32, 45:
        rows = []
        for i in range(n):
            lane, low = i % 32, (1 << i % 32) - 1
            rows.append(((i,), (lane, 1 << lane, low | 1 << lane, low, 0xffffffff ^ low, 0xffffffff ^ (low | 1 << lane), i // 32, (n + 31) // 32)))
        m.lanes("lanemasks_%d" % n, "u32", "u32", code, rows, outs=8, lanes=n, options="warp=32")
    m.add(""".visible .entry sreg_use(.param .u64 out)
{
	.reg .u32 %r, %i;
	.reg .u16 %h;
	.reg .u64 %o, %w;
	.reg .v4 .u32 %v;
	ld.param.u64 %o, [out];
	mov.u32 %i, %tid.x;
	mad.wide.u32 %o, %i, 16, %o;
	cvt.u64.u32 %w, %tid.x; // mov and cvt read special registers
	st.global.u32 [%o], %w;
	mov.u16 %h, %tid.x; // as PTX 1.x had them
	cvt.u32.u16 %r, %h;
	st.global.u32 [%o+4], %r;
	mov.u32 %v.x, %ntid.x; // a component of a vector register
	mov.u32 %v.w, %nctaid.y;
	add.u32 %r, %v.x, %v.w;
	st.global.u32 [%o+8], %r;
	mov.u32 %r, %tid.w;
	st.global.u32 [%o+12], %r;
	ret;
}
// run block=3: sreg_use() == u32 0 0 4 0 1 1 4 0 2 2 4 0""")


def gen_index():
    """Operands that come from the thread's index: x = base + tid * stride, and a
    uniform u. The results are uniform, affine or neither."""
    m = Module("tid_operand", "9.7", "operands that are affine in %tid.x (x = base + tid * stride) and uniform (u), in whole warps and under a guard.", "8.0", "sm_90")
    s32 = lambda v: signed(v, 32)
    ops = [  # %x, %y = x + 3 tid, %u
        ("add_xu", "add.u32 %d, %x, %u;", lambda x, y, u: x + u), ("add_xy", "add.s32 %d, %x, %y;", lambda x, y, u: x + y), ("sub_xu", "sub.u32 %d, %x, %u;", lambda x, y, u: x - u),
        ("sub_xy", "sub.u32 %d, %x, %y;", lambda x, y, u: x - y), ("sub_ux", "sub.s32 %d, %u, %x;", lambda x, y, u: u - x), ("mul_xu", "mul.lo.u32 %d, %x, %u;", lambda x, y, u: x * u), ("mul_xy", "mul.lo.s32 %d, %x, %y;", lambda x, y, u: x * y),
        ("mad_xuy", "mad.lo.u32 %d, %x, %u, %y;", lambda x, y, u: x * u + y), ("mad_uux", "mad.lo.s32 %d, %u, %u, %x;", lambda x, y, u: u * u + x), ("mul_hi", "mul.hi.u32 %d, %x, %u;", lambda x, y, u: x * u >> 32),
        ("shl", "and.b32 %t, %u, 31;\nshl.b32 %d, %x, %t;", lambda x, y, u: x << (u & 31)), ("shl_2", "shl.b32 %d, %x, 2;", lambda x, y, u: x << 2), ("shr_u", "shr.u32 %d, %x, 2;", lambda x, y, u: x >> 2), ("shr_s", "shr.s32 %d, %x, 2;", lambda x, y, u: s32(x) >> 2),
        ("shr_x", "shr.u32 %d, %u, %x;", lambda x, y, u: u >> min(x, 32)), ("neg", "neg.s32 %d, %x;", lambda x, y, u: -x), ("not", "not.b32 %d, %x;", lambda x, y, u: ~x), ("abs", "abs.s32 %d, %x;", lambda x, y, u: abs(s32(x))),
        ("min_u", "min.u32 %d, %x, %u;", lambda x, y, u: min(x, u)), ("max_s", "max.s32 %d, %x, %u;", lambda x, y, u: max(s32(x), s32(u))), ("min_s", "min.s32 %d, %x, %y;", lambda x, y, u: min(s32(x), s32(y))),
        ("and_u", "and.b32 %d, %x, %u;", lambda x, y, u: x & u), ("and_low", "and.b32 %d, %x, 7;", lambda x, y, u: x & 7), ("and_high", "and.b32 %d, %x, 0xfffffff8;", lambda x, y, u: x & 0xfffffff8), ("or_u", "or.b32 %d, %x, %u;", lambda x, y, u: x | u),
        ("xor_u", "xor.b32 %d, %x, %u;", lambda x, y, u: x ^ u), ("xor_ones", "xor.b32 %d, %x, -1;", lambda x, y, u: ~x), ("selp_u", "setp.lt.u32 %q, %u, 6;\nselp.b32 %d, %x, %y, %q;", lambda x, y, u: x if u < 6 else y),
        ("selp_x", "setp.lt.u32 %q, %x, %u;\nselp.b32 %d, %x, %y, %q;", lambda x, y, u: x if x < u else y), ("setp_u", "setp.lt.u32 %q, %x, %u;\nselp.b32 %d, 1, 0, %q;", lambda x, y, u: int(x < u)),
        ("setp_s", "setp.ge.s32 %q, %x, %u;\nselp.b32 %d, 1, 0, %q;", lambda x, y, u: int(s32(x) >= s32(u))), ("setp_eq", "setp.eq.u32 %q, %x, %u;\nselp.b32 %d, 1, 0, %q;", lambda x, y, u: int(x == u)), ("set_ne", "set.ne.u32.u32 %d, %x, %u;", lambda x, y, u: -int(x != u)),
        ("wide_u", "mul.wide.u32 %w, %x, 4;\nshr.u64 %w, %w, 1;\ncvt.u32.u64 %d, %w;", lambda x, y, u: x * 4 >> 1), ("wide_s", "mul.wide.s32 %w, %x, %u;\nshr.s64 %w, %w, 32;\ncvt.u32.u64 %d, %w;", lambda x, y, u: s32(x) * s32(u) >> 32),
        ("cvt_u64", "cvt.u64.u32 %w, %x;\nadd.u64 %w, %w, %w;\nshr.u64 %w, %w, 4;\ncvt.u32.u64 %d, %w;", lambda x, y, u: 2 * x >> 4), ("cvt_s64", "cvt.s64.s32 %w, %x;\nshr.s64 %w, %w, 28;\ncvt.u32.u64 %d, %w;", lambda x, y, u: s32(x) >> 28),
        ("cvt_u16", "cvt.u16.u32 %h, %x;\nadd.u16 %h, %h, %h;\ncvt.u32.u16 %d, %h;", lambda x, y, u: 2 * x & 0xffff), ("cvt_s8", "cvt.s8.s32 %h, %x;\ncvt.s32.s16 %d, %h;", lambda x, y, u: signed(x, 8)),
        ("add64", "cvt.u64.u32 %w, %x;\nmov.b64 %w, {%x, %u};\nadd.u64 %w, %w, %w;\nmov.b64 {_, %d}, %w;", lambda x, y, u: 2 * (x | u << 32) >> 32), ("div", "div.u32 %d, %x, 10;", lambda x, y, u: x // 10), ("rem", "rem.u32 %d, %x, 10;", lambda x, y, u: x % 10),
        ("carry", "add.cc.u32 %t, %x, %u;\naddc.u32 %d, %y, 0;", lambda x, y, u: y + (x + u >> 32)), ("popc", "popc.b32 %d, %x;", lambda x, y, u: bin(x).count("1")), ("prmt", "prmt.b32 %d, %x, %u, 0x5410;", lambda x, y, u: x & 0xffff | u << 16),
        ("bfe", "bfe.u32 %d, %x, 4, 8;", lambda x, y, u: x >> 4 & 255), ("float", "cvt.rn.f32.u32 %f, %u;\nadd.f32 %f, %f, 0f3F800000;\nmov.b32 %d, %f;\nadd.u32 %d, %d, %x;", lambda x, y, u: F32.round(F32.value(F32.of(u)) + 1, "rn") + x),
        ("move", "mov.u32 %t, %x;\nmov.b32 %d, %t;", lambda x, y, u: x), ("twice", "add.u32 %d, %x, %u;\nadd.u32 %d, %d, %d;\nsub.u32 %d, %d, %x;", lambda x, y, u: 2 * (x + u) - x),
    ]
    bases = [(0, 1, 5), (100, unsigned(-4, 32), 4), (0x7ffffff0, 1, 0x7ffffff8), (0xfffffff0, 2, 0xffffffff), (64, 0, 3), (0, 0x10000001, 0x12345678)]
    n = 37
    for i, (name, code, f) in enumerate(ops):
        for guard in "", "_guarded":
            text = [".visible .entry %s%s(.param .u32 base, .param .u32 stride, .param .u32 u, .param .u64 out)" % (name, guard), "{", "\t.reg .b32 %x, %y, %u, %d, %t, %i;", "\t.reg .b64 %w, %p;", "\t.reg .b16 %h;", "\t.reg .f32 %f;", "\t.reg .pred %q, %g;",
                    "\tld.param.u32 %x, [base];", "\tld.param.u32 %t, [stride];", "\tld.param.u32 %u, [u];", "\tmov.u32 %i, %tid.x;", "\tmad.lo.u32 %x, %i, %t, %x;", "\tmad.lo.u32 %y, %i, 3, %x;"]
            lines = code.split("\n")
            if guard:
                text += ["\tadd.u32 %d, %y, 1;", "\tand.b32 %t, %i, 5;", "\tsetp.ne.u32 %g, %t, 1;"] + ["@%g\t" + line for line in lines]
            else:
                text += ["\t" + line for line in lines]
            text += ["\tld.param.u64 %p, [out];", "\tmad.wide.u32 %p, %i, 4, %p;", "\tst.global.u32 [%p], %d;", "\tret;", "}"]
            for j in ((i, i + 2, i + 3) if not guard else (i + 1, i + 4)):
                base, stride, u = bases[j % len(bases)]
                want = []
                for k in range(n):
                    x = unsigned(base + k * stride, 32)
                    y = unsigned(x + 3 * k, 32)
                    want.append(unsigned(f(x, y, u) if not guard or k & 5 != 1 else y + 1, 32))
                text.append("// run block=%d: %s%s(%s) == u32 %s" % (n, name, guard, ", ".join(value_text(v, "u32") for v in (base, stride, u)), list_text(want, "u32")))
            m.add("\n".join(text))


def gen_sreg_3d():
    m = Module("sreg_3d", "chapter 10", "special registers of blocks and grids of two and three dimensions; the threads of a warp go along x, then y, then z.", "7.0", "sm_70")
    names = ["%%%s.%s" % (r, c) for r in ("tid", "ntid", "ctaid", "nctaid") for c in "xyz"]
    index = """	mov.u32 %x, %ctaid.z;
	mov.u32 %y, %nctaid.y;
	mov.u32 %z, %ctaid.y;
	mad.lo.u32 %x, %x, %y, %z;
	mov.u32 %y, %nctaid.x;
	mov.u32 %z, %ctaid.x;
	mad.lo.u32 %x, %x, %y, %z; // the number of the CTA
	mov.u32 %y, %ntid.z;
	mov.u32 %z, %tid.z;
	mad.lo.u32 %x, %x, %y, %z;
	mov.u32 %y, %ntid.y;
	mov.u32 %z, %tid.y;
	mad.lo.u32 %x, %x, %y, %z;
	mov.u32 %y, %ntid.x;
	mov.u32 %z, %tid.x;
	mad.lo.u32 %x, %x, %y, %z; // and of the thread in the grid"""

    def threads(block, grid):
        for cz, cy, cx in cross(*(range(n) for n in reversed(grid))):
            for z, y, x in cross(*(range(n) for n in reversed(block))):
                yield (x, y, z), (cx, cy, cz)

    def kernel(name, regs, cases, want):
        text = [".visible .entry %s(.param .u64 out)" % name, "{", "\t.reg .u32 %x, %y, %z, %v;", "\t.reg .u64 %o;", index, "\tld.param.u64 %o, [out];", "\tmad.wide.u32 %%o, %%x, %d, %%o;" % (4 * len(regs))]
        for i, r in enumerate(regs):
            text += ["\tmov.u32 %%v, %s;" % r, "\tst.global.u32 [%%o+%d], %%v;" % (4 * i)]
        text += ["\tret;", "}"]
        for block, grid in cases:
            values = [v for i, (t, c) in enumerate(threads(block, grid)) for v in want(i, t, c, block, grid)]
            dims = lambda d: "x".join(map(str, d))
            text.append("// run block=%s grid=%s%s: %s() == u32 %s" % (dims(block), dims(grid), " warp=32" if "%laneid" in regs else "", name, list_text(values, "u32")))
        m.add("\n".join(text))
    kernel("vectors", names, [((3, 2, 1), (1, 1, 1)), ((2, 3, 2), (1, 1, 1)), ((2, 1, 2), (2, 1, 2)), ((3, 2, 1), (2, 2, 1))], lambda i, t, c, block, grid: t + block + c + grid)

    def lanes(i, t, c, block, grid):
        n = i % (block[0] * block[1] * block[2])
        return n % 32, n // 32, 1 << n % 32
    kernel("lanes", ["%laneid", "%warpid", "%lanemask_eq"], [((5, 4, 3), (1, 1, 1)), ((16, 3, 1), (1, 2, 1)), ((1, 40, 1), (1, 1, 1))], lanes)


# ---------------------------------------------------------------- main

def generate():
    gen_integer()
    gen_bits()
    gen_carry()
    gen_float()
    gen_half()
    gen_minmax()
    gen_float_bits()
    gen_approx()
    gen_compare()
    gen_logic()
    gen_prmt()
    gen_cvt_int()
    gen_cvt_float()
    gen_memory()
    gen_reg16()
    gen_atomics()
    gen_warp()
    gen_index()
    gen_sreg_3d()


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit("usage: gen.py [--check]")
    generate()
    stale = []
    for m in modules:
        path = os.path.join(HERE, m.name + ".ptx")
        text = "\n".join(m.text) + "\n"
        old = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                old = f.read()
        if old == text:
            continue
        stale.append(m.name + ".ptx")
        if not check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
    if check and stale:
        sys.exit("not what gen.py writes: " + " ".join(stale))


if __name__ == "__main__":
    main()
