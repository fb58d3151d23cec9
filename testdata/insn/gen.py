#!/usr/bin/env python3
"""Writes the generated conformance cases of this directory.

    python3 gen.py          writes them
    python3 gen.py --check  says which of them differ, and exits with 1 if any do

Every expected value is computed here, with integers and fractions of unlimited size, from the
pseudo-code of the PTX manual and from IEEE 754. Where neither defines a result (integer division by
zero, which zero .sat gives for -0) there is no case.

The parts: numbers, how a module is written, corner values, then a function per
family of instructions, in the order of the manual.
"""

import functools
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
    """The manual does not define the result."""


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
    """A number that rounds in every format and mode as the root of v: the root itself, or a number
    between the same neighbours."""
    if v == 0:
        return v
    # With 140 bits after the first the neighbours are closer than in any format.
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
    """Values, in which a value that repeats at least three times is written once."""
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
        """A kernel that computes row i in thread i: from buffers of the input types ("u32 f32": %a,
        %b, …) it makes %d, or %d0, %d1, … of type out. Rows are (inputs, outputs); rows with an
        output None are left out. With uniform, this number of rows also run with kernel parameters
        in place of buffers. Bytes are held in 16-bit registers if wide."""
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
    """Rows of a function of bits; undefined results are left out."""
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
    """Pairs of similar size, with every relation of exponents that leads to rounding."""
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
    """A function of two integers as a function of the halves of packed words."""
    return lambda *args: sum((f(*(a >> i & 0xffff for a in args)) & 0xffff) << i for i in (0, 16))


def on(t, f):
    """A function of integers as a function of bits of type t, with a wrapped result."""
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

    m = Module("packed_int", "9.7.1.1, 9.7.1.2, 9.7.1.11 to 9.7.1.13", "packed bytes: add, sub, neg, min, max; add.sat of halves and of .u32.", "9.2", "sm_120a")
    r = Random(84)
    words = [0, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x80007fff, 0x7fff8000, 0x01ff807f, 0xff017f80, 0x12345678] + [r.bits(32) for _ in range(5)]
    pairs = cross(words, words)[::2]

    def packed(t, f, sat=False, relu=False):
        e, n = t.split("x")[0], width(t)

        def g(*args):
            d = 0
            for i in range(0, 32, n):
                x = f(*(integer(a >> i, e) for a in args))
                x = clamp(x, e) if sat else x
                d |= unsigned(max(x, 0) if relu else x, n) << i
            return d
        return g
    for t in "u8x4", "s8x4", "u16x2", "s16x2":
        for op, mods, f in (("add", "", lambda a, b: a + b), ("add", ".sat", lambda a, b: a + b), ("sub", "", lambda a, b: a - b), ("sub", ".sat", lambda a, b: a - b),
                            ("min", "", min), ("max", "", max), ("min", ".relu", min), ("max", ".relu", max)):
            if "relu" in mods and t[0] == "u" or "16" in t and (op, mods) != ("add", ".sat"):
                continue
            m.lanes("%s%s_%s" % (op, mods.replace(".", "_"), t), "b32 b32", "b32", "%s%s.%s %%d, %%a, %%b;" % (op, mods, t), rowsn(packed(t, f, "sat" in mods, "relu" in mods), pairs), uniform=2)
    m.lanes("neg_s8x4", "b32", "b32", "neg.s8x4 %d, %a;", rows1(packed("s8x4", lambda a: -a), words), uniform=2)
    m.lanes("add_sat_u32", "u32 u32", "u32", "add.sat.u32 %d, %a, %b;", rowsn(lambda a, b: min(a + b, 0xffffffff), int_pairs(32)), uniform=2)

    def clmad(a, b, c, shift):
        p = 0
        for i in range(64):
            p ^= (b << i) * (a >> i & 1)
        return unsigned(p >> shift, 64) ^ c
    m = Module("clmad", "9.7.1.5 (of PTX ISA 9.3)", "clmad: products without carries.", "9.3", "sm_90")
    for mode, shift in ("lo", 0), ("hi", 64):
        m.lanes("clmad_" + mode, "u64 u64 u64", "u64", "clmad.%s.u64 %%d, %%a, %%b, %%c;" % mode,
                rowsn(lambda a, b, c: clmad(a, b, c, shift), int_triples(64)[::2] + [(r.bits(64), r.bits(64), r.bits(64)) for _ in range(24)]), uniform=2)

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

    # The operands are 24-bit numbers in 32-bit registers: larger numbers have no case.
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

    # Division rounds toward zero, like the C that is compiled to it; division by zero is unspecified, and so is
    # the quotient that does not fit (minimum / -1).
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
        """A start or length: the low 8 bits, says the manual. For 64 bits ptxas makes shifts that
        use all 32; bits above n change nothing."""
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
            """Sums of numbers of n bits, each with the carry of the previous sum."""
            out, carry = [], 0
            for p in parts:
                s = p + carry
                out.append(unsigned(s, n))
                carry = s >> n
            return tuple(out)

        # sub.cc and subc: the borrow is the sign of the difference. The flag is 1 without a borrow: ptxas adds
        # the complement.
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
    """IEEE operations of a format in a rounding mode, with .ftz and .sat."""

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

    def nan(self, *operands):
        """Single precision has a single NaN as a result, for half precision the manual does not
        define it. In double precision it is the NaN of an operand, made quiet: the manual does not
        say which, an H200 takes the first in this order."""
        f = self.f
        if f is F64:
            return next((quiet(f, x) for x in operands if f.is_nan(x)), f.inf | f.sign | 1 << f.frac - 1)
        return f.nan if f is F32 else NAN

    def round(self, v, zero_sign=0):
        f = self.f
        r = f.round(v, self.mode, zero_sign)
        if self.ftz and v and r & ~f.sign == f.min_normal:
            # Flushed if rounding without the lower bound of the exponent gives less (IEEE 754, 7.5, tininess
            # after rounding), as in the code of ptxas for div.ftz and cvt.ftz.f32.f64.
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
            return self.nan(b, a)
        if f.is_inf(a) or f.is_inf(b):
            return a if f.is_inf(a) else b
        return self.round(f.value(a) + f.value(b), self.sum_zero(f.negative(a), f.negative(b)))

    def sub(self, a, b):
        return self.nan(b) if self.f.is_nan(b) else self.add(a, b ^ self.f.sign)

    def mul(self, a, b):
        f = self.f
        sign = (a ^ b) & f.sign
        if f.is_nan(a) or f.is_nan(b) or f.is_inf(a) and f.is_zero(b) or f.is_zero(a) and f.is_inf(b):
            return self.nan(b, a)
        if f.is_inf(a) or f.is_inf(b):
            return f.inf | sign
        return self.round(f.value(a) * f.value(b), sign != 0)

    def fma(self, a, b, c):
        f = self.f
        sign = (a ^ b) & f.sign
        if f.is_nan(a) or f.is_nan(b) or f.is_nan(c) or f.is_inf(a) and f.is_zero(b) or f.is_zero(a) and f.is_inf(b):
            return self.nan(b, c, a)
        if f.is_inf(a) or f.is_inf(b):
            return self.nan() if f.is_inf(c) and f.negative(c) != (sign != 0) else f.inf | sign
        if f.is_inf(c):
            return c
        return self.round(f.value(a) * f.value(b) + f.value(c), self.sum_zero(sign != 0, f.negative(c)))

    def div(self, a, b):
        f = self.f
        sign = (a ^ b) & f.sign
        if f.is_nan(a) or f.is_nan(b) or f.is_inf(a) and f.is_inf(b) or f.is_zero(a) and f.is_zero(b):
            return self.nan(a, b)
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
            return self.nan(a)
        if f.is_inf(a) or f.is_zero(a):
            return a
        return self.round(sqrt_number(f.value(a)))


def quiet(f, x):
    """A NaN made quiet."""
    return x | 1 << f.frac - 1


def convert_nan(src, dst, x, ftz=False):
    """A NaN in another format: the manual does not define it. An H200 keeps its sign and the upper
    bits of its payload if either format is f64."""
    if F64 not in (src, dst):
        return dst.nan if dst is F32 else NAN
    if ftz and src is F32:
        x = src.nan
    payload, wider = x & (1 << src.frac) - 1, dst.frac - src.frac
    payload = payload << wider if wider > 0 else payload >> -wider
    return quiet(dst, dst.inf | (dst.sign if src.negative(x) else 0) | payload)


def near(f, v, *steps):
    """Bits of a number and of its neighbours at the given distances."""
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
    # a*b and its rounding error: exact cancellation.
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
    # The sum is just next to the middle of two neighbours: rounding twice is wrong.
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


def gen_mixed():
    """Mixed precision, and fma.oob: with the OOB NaN, which the manual does not name, as a factor, an operation on halves is zero."""
    def widen(f, x):
        if f.is_nan(x):
            return F32.nan
        sign = F32.sign if f.negative(x) else 0
        return F32.inf | sign if f.is_inf(x) else F32.round(f.value(x), "rn", sign)
    sections = {"add": "9.7.5.1", "sub": "9.7.5.2", "fma": "9.7.5.3"}
    for op, section in sections.items():
        m = Module(op + "_mixed", section, op + " of mixed precision.", "8.6", "sm_100")
        for f in F16, BF16:
            h = float_corners(f) + [f.of(Fraction(n, 3)) for n in (1, -2, 100)]
            r = Random(f.frac + len(op))
            c = float_corners(F32) + [F32.of(Fraction(n, 7)) for n in (1, -2, 1000)]
            if op == "fma":
                rows = [(h[i % len(h)], h[i * 5 % 17], c[i * 7 % len(c)]) for i in range(80)] + [(f.one + r.bits(f.frac), f.one + r.bits(f.frac) | r.bits(1) * f.sign, F32.of(Fraction(r.bits(24), 1 << r.bits(5)))) for _ in range(32)]
            else:
                rows = [(h[i % len(h)], c[i * 7 % len(c)]) for i in range(80)] + [(f.one + r.bits(f.frac), F32.of(Fraction(r.bits(24) | 1, 1 << 12 + r.bits(5)))) for _ in range(24)]
            for mode, sat in ("rn", ""), ("rz", ""), ("rm", ""), ("rp", ""), ("rn", ".sat"), ("rm", ".sat"):
                unit = Arithmetic(F32, mode, False, sat != "")
                one = lambda *t: unit(getattr(Arithmetic, op), *[widen(f, x) for x in t[:-1]], t[-1])
                n = len(rows[0])
                m.lanes("%s_%s%s_%s" % (op, mode, sat.replace(".", "_"), f.name), "b16 " * (n - 1) + "f32", "f32",
                        "%s.%s%s.f32.%s %%d, %s;" % (op, mode, sat, f.name, ", ".join("%" + x for x in "abc"[:n])), rowsn(one, rows), uniform=2)
            if op != "fma":
                unit = Arithmetic(F32)
                m.lanes("%s_%s" % (op, f.name), "b16 f32", "f32", "%s.f32.%s %%d, %%a, %%b;" % (op, f.name), rowsn(lambda a, b: unit(getattr(Arithmetic, op), widen(f, a), b), rows[::3]))

    oob = 0x7ff7
    m = Module("fma_oob", "9.7.4.4", "fma.oob.", "8.1", "sm_90")
    for f in F16, BF16:
        c = [f.one, f.of(-3), f.of(Fraction(1, 3)), oob, f.sign, 1, f.max, oob - 1, oob | f.sign]
        rows = cross(c[:5], c[:5], c[:5])[::2] + [(c[i % 9], c[i * 2 % 7], c[i * 4 % 9]) for i in range(24)]
        for suffix in ("", ".sat", ".relu") if f is F16 else ("", ".relu", ".rz"):
            mods = suffix.split(".")
            unit = Arithmetic(f, "rz" if "rz" in mods else "rn", False, "sat" in mods)

            def one(*t):
                if oob in (t[0] & 0x7fff, t[1] & 0x7fff):
                    return 0
                r = unit(Arithmetic.fma, *t)
                return said(relu(f, r) if "relu" in mods else r)
            text = "fma%s.oob%s.%%s %%%%d, %%%%a, %%%%b, %%%%c;" % (".rz" if "rz" in mods else ".rn", suffix.replace(".rz", ""))
            name = "fma_oob" + suffix.replace(".", "_") + "_" + f.name
            m.lanes(name, "b16 b16 b16", "b16", text % f.name, rowsn(one, rows), uniform=2)
            pairs = [tuple(x | y << 16 for x, y in zip(a, b)) for a, b in zip(rows, rows[7:] + rows[:7])]
            m.lanes(name + "x2", "b32 b32 b32", "b32", text % (f.name + "x2"), rowsn(lambda *t: one(*[x & 0xffff for x in t]) | one(*[x >> 16 for x in t]) << 16, pairs), uniform=2)


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
            return quiet(f, args[-1]) if f is F64 else f.nan
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

    # A NaN gives an unspecified NaN in f32, itself in f64: an H200 makes it quiet, and in f32 the canonical one.
    for name, section, g in ("abs", "9.7.3.9", lambda f, x: x & ~f.sign), ("neg", "9.7.3.10", lambda f, x: x ^ f.sign):
        m = Module(name + "_float", section, "%s.f32, .ftz and .f64." % name)
        for f in F32, F64:
            for ftz in ("", ".ftz")[:1 + (f is F32)]:
                m.lanes(name + ftz.replace(".", "_") + "_" + f.name, f.name, f.name, "%s%s.%s %%d, %%a;" % (name, ftz, f.name),
                        rows1(lambda x: (quiet(f, x) if f is F64 else f.nan) if f.is_nan(x) else g(f, f.flush(x) if ftz else x), float_corners(f) + [f.min_normal, f.max - 1]), uniform=2)


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
    return FLOAT_CMP if t == "bf16" else {"b": ("eq", "ne"), "u": UNSIGNED_CMP, "s": SIGNED_CMP, "f": FLOAT_CMP}[t[0]]


def compare(cmp, t, a, b, ftz=False):
    """a cmp b. Comparisons with a NaN are false, comparisons that end in u true."""
    if "f" not in t:
        return int(ORDERED[cmp](integer(a, t), integer(b, t)))
    f = BF16 if t == "bf16" else FLOATS[t]
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
    if "f" in t:
        f = BF16 if t == "bf16" else FLOATS[t]
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

    gen_compare_half()
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


def gen_compare_half():
    """setp and set of halves; .ftz is of f16 only."""
    pairs = {t: [(a, b) for a, b in compared(t)] for t in ("f16", "bf16")}
    m = Module("setp_half", "9.7.7.2", "setp of halves: every comparison, the results as the bits of a number; of packed ones p is that of the low halves, q of the high ones.")
    for t in "f16", "bf16":
        for ftz in ("", ".ftz")[:1 + (t == "f16")]:
            name = t + ftz.replace(".", "_")
            holds = lambda op, a, b: compare(op, t, a, b, ftz != "")
            each = lambda a, b: sum(holds(op, a, b) << i for i, op in enumerate(FLOAT_CMP))
            code = "mov.u32 %d, 0;\n" + "\n".join("setp.%s%s.%s %%q, %%a, %%b;\nselp.u32 %%t, %d, 0, %%q;\nor.b32 %%d, %%d, %%t;" % (op, ftz, t, 1 << i) for i, op in enumerate(FLOAT_CMP))
            m.lanes("setp_" + name, "b16 b16", "u32", "// " + " ".join(FLOAT_CMP) + "\n" + code, rowsn(each, pairs[t]), regs="pred %q; b32 %t", uniform=2)
            packed = [(a[0] | b[0] << 16, a[1] | b[1] << 16) for a, b in zip(pairs[t], pairs[t][7:] + pairs[t][:7])]
            code = "mov.u32 %d0, 0;\nmov.u32 %d1, 0;\n" + "\n".join("""setp.%s%s.%sx2 %%q|%%r, %%a, %%b;
                selp.u32 %%t, %d, 0, %%q;
                or.b32 %%d0, %%d0, %%t;
                selp.u32 %%t, %d, 0, %%r;
                or.b32 %%d1, %%d1, %%t;""" % (op, ftz, t, 1 << i, 1 << i) for i, op in enumerate(FLOAT_CMP))
            m.lanes("setp_x2_" + name, "b32 b32", "u32", code, rowsn(lambda a, b: (each(a & 0xffff, b & 0xffff), each(a >> 16, b >> 16)), packed),
                    outs=2, regs="pred %q, %r; b32 %t", uniform=2)
    for t, cmp in ("f16", "lt"), ("bf16", "geu"):
        some = pairs[t][::5]
        packed = [(a[0] | b[0] << 16, a[1] | b[1] << 16) for a, b in zip(some, some[3:] + some[:3])]
        for op in BOOLS:
            for neg in "", "!":
                f = lambda a, b, c: BOOLS[op](compare(cmp, t, a & 0xffff, b & 0xffff), c ^ (neg == "!"))
                suffix = "%s_%s_%s%s" % (t, cmp, op, "_not" if neg else "")
                m.lanes("setp_bool_" + suffix, "b16 b16 u32", "u32", "setp.ne.u32 %%r, %%c, 0;\nsetp.%s.%s.%s %%q, %%a, %%b, %s%%r;\nselp.u32 %%d, 1, 0, %%q;" % (cmp, op, t, neg),
                        rowsn(f, [p + (c,) for p in some for c in (0, 1)]), regs="pred %q, %r")
                m.lanes("setp_x2_bool_" + suffix, "b32 b32 u32", "u32", """setp.ne.u32 %%r, %%c, 0;
                        setp.%s.%s.%sx2 %%q|%%r, %%a, %%b, %s%%r; // c is also a destination
                        selp.u32 %%d0, 1, 0, %%q;
                        selp.u32 %%d1, 1, 0, %%r;""" % (cmp, op, t, neg),
                        rowsn(lambda a, b, c: (f(a, b, c), f(a >> 16, b >> 16, c)), [p + (c,) for p in packed for c in (0, 1)]), outs=2, regs="pred %q, %r", uniform=1)
    # The guard is a destination: where it does not hold, nothing is written.
    one = F16.one
    rows = rowsn(lambda g, t, u: ((int(t & 0xffff == u & 0xffff), int(t >> 16 == u >> 16)) * 2 if g else (0, 1, 1, 0)) + (int(t & 0xffff == u & 0xffff), int(t >> 16 == u >> 16)),
                 cross([0, 1], [one, one << 16, one << 16 | one], [one, one << 16, one << 16 | one]))
    m.lanes("setp_x2_guard", "u32 b32 b32", "u32", """setp.ne.u32 %q, %a, 0;
        setp.eq.u32 %r, %b, %b;
    @%q setp.eq.f16x2 %q|%r, %b, %c;
        selp.u32 %d0, 1, 0, %q;
        selp.u32 %d1, 1, 0, %r;
        setp.ne.u32 %r, %a, 0;
        setp.eq.u32 %q, %b, %b;
    @%r setp.eq.f16x2 %q|%r, %b, %c;
        selp.u32 %d2, 1, 0, %q;
        selp.u32 %d3, 1, 0, %r;
        setp.eq.f16x2 %q|_, %b, %c;
        setp.eq.f16x2 _|%r, %b, %c;
        selp.u32 %d4, 1, 0, %q;
        selp.u32 %d5, 1, 0, %r;""", rows, outs=6, regs="pred %q, %r", uniform=2)

    m = Module("set_half", "9.7.7.1", "set from and to halves: 1.0 or all ones for true.")
    true = {"f16": F16.one, "bf16": BF16.one, "u16": 0xffff, "s16": 0xffff, "u32": 0xffffffff, "s32": 0xffffffff}
    out = lambda d: "b%d" % (16 if d in ("f16", "bf16", "u16", "s16") else 32)
    raw = lambda s: "b16" if s in ("f16", "bf16") else s
    for d in "f16", "bf16":
        for s in ("b16", "b32", "b64") + INTS + ("f16", "f32", "f64"):
            for i, op in enumerate(comparisons(s)):
                if i % 3 != (d == "bf16") and s not in ("f16", "b16"):
                    continue
                ftz = ".ftz" if d == "f16" and s in ("f16", "f32") and i % 2 else ""
                m.lanes("set_%s%s_%s_%s" % (op, ftz.replace(".", "_"), d, s), "%s %s" % (raw(s), raw(s)), out(d), "set.%s%s.%s.%s %%d, %%a, %%b;" % (op, ftz, d, s),
                        rowsn(lambda a, b: true[d] * compare(op, s, a, b, ftz != ""), compared(s)[i % 4::4]), uniform=1)
    for s in "f16", "bf16":
        for i, op in enumerate(FLOAT_CMP):
            for j, d in enumerate(("u16", "s16", "u32", "s32") + (("bf16",) if s == "bf16" else ())):
                if (i + j) % 2:
                    continue
                ftz = ".ftz" if s == "f16" and (i + j) % 4 else ""
                m.lanes("set_%s%s_%s_%s" % (op, ftz.replace(".", "_"), d, s), "b16 b16", out(d), "set.%s%s.%s.%s %%d, %%a, %%b;" % (op, ftz, d, s),
                        rowsn(lambda a, b: true[d] * compare(op, s, a, b, ftz != ""), pairs[s][(i + j) % 4::4]))
            d = ("u32", "s32", s + "x2")[i % 3]
            ftz = ".ftz" if s == "f16" and i % 2 else ""
            yes = true[s] if "x2" in d else 0xffff
            f = lambda a, b: yes * compare(op, s, a, b, ftz != "")
            some = pairs[s][i % 3::3]
            m.lanes("set_%s%s_%s_%sx2" % (op, ftz.replace(".", "_"), d, s), "b32 b32", "b32", "set.%s%s.%s.%sx2 %%d, %%a, %%b;" % (op, ftz, d, s),
                    rowsn(lambda a, b: f(a & 0xffff, b & 0xffff) | f(a >> 16, b >> 16) << 16, [(a[0] | b[0] << 16, a[1] | b[1] << 16) for a, b in zip(some, some[5:] + some[:5])]), uniform=1)
    for d, s, op, neg in ("f16", "s32", "and", ""), ("u16", "f16", "or", "!"), ("bf16", "bf16", "xor", ""), ("f16x2", "f16x2", "and", "!"), ("s32", "bf16x2", "xor", "!"):
        t, n = s.removesuffix("x2"), 2 if "x2" in s else 1
        yes = true[t] if "x2" in d else 0xffff if n == 2 else true[d]
        f = lambda a, b, c: yes * BOOLS[op](compare("le", t, a, b), c ^ (neg == "!"))
        some = compared(t)[::6]
        rows = [p + (c,) for p in some for c in (0, 1)]
        if n == 2:
            rows = [(a[0] | b[0] << 16, a[1] | b[1] << 16, c) for a, b in zip(some, some[5:] + some[:5]) for c in (0, 1)]
            g = lambda a, b, c: f(a & 0xffff, b & 0xffff, c) | f(a >> 16, b >> 16, c) << 16
        else:
            g = f
        b = "b%d" % (width(s) * n)
        m.lanes("set_le_%s_%s_%s" % (op, d, s), "%s %s u32" % (b, b), out(d), "setp.ne.u32 %%q, %%c, 0;\nset.le.%s.%s.%s %%d, %%a, %%b, %s%%q;" % (op, d, s, neg), rowsn(g, rows), regs="pred %q", uniform=1)


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
                return 0 if sat else convert_nan(src, dst, x, ftz)
            elif src.is_inf(x):
                r = dst.inf | (dst.sign if src.negative(x) else 0)
            else:
                r = unit.round(src.value(x), src.negative(x))
            return unit.finish(r)
        return g

    def halfway(src, dst):
        """Numbers at and next to the middle of neighbours in the narrower format."""
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
                    g = lambda x: NAN if src is F16 and src.is_nan(x) else x
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
                    return {F16: NAN, F32: f.nan, F64: quiet(f, x)}[f]
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
    for mods in "", "_rn", "_rz":
        m.lanes("cvt%s_f32_bf16" % mods, "b16", "f32", "cvt%s.f32.bf16 %%d, %%a;" % mods.replace("_", "."), rows1(lambda x: x << 16, float_corners(BF16) + [0x3f81, 0x0001, 0x8042]), uniform=2)

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

class Codes:
    """A format of a few bits as the list of the meanings of its codes: numbers, "inf" and "nan"
    (manual 5.2.2 to 5.2.4)."""

    def __init__(self, name, width, value):
        self.name, self.width = name, width
        self.values = [value(c) for c in range(1 << width)]
        finite = [(v, c) for c, v in enumerate(self.values) if isinstance(v, Fraction)]
        self.sign = 0 if name in ("ue8m0", "s2f6", "ue5m3") else 1 << width - 1
        self.max = max(finite)[1]
        self.min = min(finite)[1]
        self.has_nan = "nan" in self.values
        # By magnitude, of each sign: -0 is a number of its own.
        self.positive = sorted((v, c) for v, c in finite if v > 0 or c == 0)
        self.negative = sorted((-v, c) for v, c in finite if v < 0 or v == 0 and (c == self.sign or name == "s2f6"))

    def code(self, v, mode="rn", negative_zero=False, random=0):
        """The code of a number, saturated: nearest of all, ties to even codes."""
        neg = v < 0 or v == 0 and negative_zero
        numbers = self.negative if neg else self.positive
        below = [n for n in numbers if n[0] <= abs(v)]
        above = [n for n in numbers if n[0] > abs(v)]
        if not below or not above:
            return (below[-1] if below else above[0])[1]
        (low, a), (high, b) = below[-1], above[0]
        part = (abs(v) - low) / (high - low)
        up = {"rn": part > Fraction(1, 2) or part == Fraction(1, 2) and a & 1, "rz": False, "rp": part > 0,
              "rs": (part.numerator << 16) // part.denominator + random >= 1 << 16}[mode]
        return b if up else a

    def of(self, f, x, mode="rn", relu=False, scale=0, random=0):
        """The code of bits of another format."""
        if f.is_nan(x):
            if self.has_nan:
                raise Unsaid  # which NaN
            return self.max
        if self.name == "ue8m0" and f.negative(x):
            raise Unsaid
        if relu and f.negative(x):
            return 0
        if f.is_inf(x):
            return self.min if f.negative(x) else self.max
        return self.code(f.value(x) / Fraction(2) ** scale, mode, f.negative(x), random)

    def boundaries(self):
        """Its numbers, the middles between them, and the numbers next to these."""
        out = []
        numbers = [v for v, _ in self.positive]
        for low, high in zip(numbers, numbers[1:]):
            middle = (low + high) / 2
            out += [low, middle, middle * (1 + Fraction(1, 1 << 20)), middle * (1 - Fraction(1, 1 << 20)), low + (high - low) / 4]
        top = numbers[-1]
        return out + [top, top * (1 + Fraction(1, 1 << 20)), top * Fraction(17, 16), top * 2, numbers[1] / 4]


def minifloat(exp, frac, special=""):
    bias = (1 << exp - 1) - 1

    def value(c):
        mag = c & (1 << exp + frac) - 1
        e, m = mag >> frac, mag & (1 << frac) - 1
        if special == "ieee" and e == (1 << exp) - 1:
            return "nan" if m else "inf"
        if special == "nan" and mag == (1 << exp + frac) - 1:
            return "nan"
        v = Fraction(m + (1 << frac if e else 0)) * Fraction(2) ** (max(e, 1) - bias - frac)
        return -v if c >> exp + frac else v
    return value


E5M2 = Codes("e5m2", 8, minifloat(5, 2, "ieee"))
E4M3 = Codes("e4m3", 8, minifloat(4, 3, "nan"))
E3M2 = Codes("e3m2", 6, minifloat(3, 2))
E2M3 = Codes("e2m3", 6, minifloat(2, 3))
E2M1 = Codes("e2m1", 4, minifloat(2, 1))
UE8M0 = Codes("ue8m0", 8, lambda c: "nan" if c == 255 else Fraction(2) ** (c - 127))
S2F6 = Codes("s2f6", 8, lambda c: Fraction(signed(c, 8), 64))
TF32 = Float("tf32", 19, 10)


UE5M3 = Codes("ue5m3", 8, lambda c: "nan" if c == 255 else Fraction(c & 7 | (8 if c >> 3 else 0)) * Fraction(2) ** (max(c >> 3, 1) - 18))


class Packed:
    """The numbers that a register holds, as (number or "inf", whether negative) or "nan", and the code of one."""

    def __init__(self, name, elem, count, width=0):
        self.name, self.elem, self.count, self.width = name, elem, count, width or elem.width

    def numbers(self, x, ftz=False):
        return [self.number(x >> i * self.width & (1 << self.elem.width) - 1, ftz) for i in range(self.count)]

    def number(self, c, ftz):
        f = self.elem
        if isinstance(f, Float):
            if f.is_nan(c):
                return "nan"
            if ftz:
                c = f.flush(c)
            return ("inf" if f.is_inf(c) else f.value(c)), f.negative(c)
        v = f.values[c]
        return v if v == "nan" else (v, c & f.sign != 0)

    def code(self, n, mode, fin=False):
        """The code of a number that is rounded once. Which NaN of 8 bits a result is, the manual leaves open."""
        f = self.elem
        if isinstance(f, Float):
            if n == "nan":
                return f.nan
            sign = f.sign if n[1] else 0
            return f.inf | sign if n[0] == "inf" else f.round(n[0], mode, sign)
        if n == "nan":
            raise Unsaid
        v, neg = n
        sign = f.sign if neg else 0
        top = f.values[f.max]
        step = top - f.values[f.max - 1]
        if v == "inf" or abs(v) > top + step / 2 or abs(v) == top + step / 2 and f.max & 1:
            if fin:
                return f.max | sign
            if "inf" not in f.values:
                raise Unsaid
            return f.max + 1 | sign
        return f.code(v, mode, neg)


def packed_sum(a, b, mode):
    if a == "nan" or b == "nan" or a[0] == b[0] == "inf" and a[1] != b[1]:
        return "nan"
    if "inf" in (a[0], b[0]):
        return a if a[0] == "inf" else b
    v = a[0] + b[0]
    if v == 0:
        return v, a[1] and b[1] or (a[1] or b[1] or a[0] != 0) and mode == "rm"
    return v, v < 0


def packed_product(a, b):
    if a == "nan" or b == "nan" or {0, "inf"} == {a[0], b[0]}:
        return "nan"
    return ("inf" if "inf" in (a[0], b[0]) else a[0] * b[0]), a[1] != b[1]


def packed_op(op, mode, x):
    if op == "mul":
        return packed_product(*x)
    if op == "fma":
        return packed_sum(packed_product(x[0], x[1]), x[2], mode)
    return packed_sum(x[0], x[1] if op == "add" or x[1] == "nan" else (x[1][0] if x[1][0] == "inf" else -x[1][0], not x[1][1]), mode)


def gen_packed():
    f32x2, f16x2, bf16x2 = Packed("f32x2", F32, 2), Packed("f16x2", F16, 2), Packed("bf16x2", BF16, 2)
    m = Module("mixed_pairs", "of PTX 9.4, 9.7.5", "arithmetic on pairs of numbers of different types.", "9.4", "sm_107a")
    r = Random(975)

    def words(t, n):
        """Pairs of corner values and of numbers of similar magnitude."""
        f = t.elem
        corners = float_corners(f)
        one = lambda i: corners[i * 7 % len(corners)] if i % 3 == 0 else f.of(Fraction(r.bits(12) - 2048, 1 << r.bits(4)))
        return [one(i) << f.width | one(i + 5) for i in range(n)]

    def pairs(op, mods, d, *sources, mode="rn"):
        def one(*words):
            x = [t.numbers(w, "ftz" in mods) for t, w in zip(sources, words)]
            out = 0
            for i in range(2):
                n = [v[i] for v in x]
                if sources[0].elem.width == sources[-1].elem.width == 16:  # the second is converted
                    n[1] = d.number(d.code(n[1], "rn"), False)
                c = d.code(packed_op(op, mode, n), mode)
                if "ftz" in mods and not d.elem.is_nan(c):
                    c = d.elem.flush(c)
                out |= c << i * d.elem.width
            return out
        rows = list(zip(*[words(t, 90) for t in sources]))
        size = lambda t: "b%d" % (2 * t.elem.width)
        types = [t.name for t in (d,) + sources]
        m.lanes("_".join([op] + [x for x in mods.split(".") if x] + types), " ".join(map(size, sources)), size(d),
                "%s%s.%s %%d, %s;" % (op, mods, ".".join(types), ", ".join("%" + x for x in "abc"[:len(sources)])), rowsn(one, rows), uniform=1)

    for h in f16x2, bf16x2:
        for op in "add", "sub", "fma":
            for mode in "", "rn", "rz", "rm", "rp":
                if mode or op != "fma":
                    pairs(op, mode and "." + mode, f32x2, h, *[f32x2] * (2 if op == "fma" else 1), mode=mode or "rn")
        for op in "add", "sub", "mul":
            pairs(op, ".rz.ftz" if h is f16x2 else ".rz", h, f32x2, f32x2, mode="rz")
    pairs("mul", "", bf16x2, bf16x2, f16x2)
    pairs("mul", "", f16x2, f16x2, bf16x2)

    m = Module("mixed_fours", "of PTX 9.4, 9.7.6", "arithmetic on fours of numbers of 8, 6 and 4 bits.", "9.4", "sm_100a")
    results = [Packed("e4m3x4", E4M3, 4), Packed("e5m2x4", E5M2, 4)]
    types = results + [Packed("e3m2x4", E3M2, 4, 8), Packed("e2m3x4", E2M3, 4, 8), Packed("e2m1x4", E2M1, 4), Packed("e2m1p4x4", E2M1, 4, 8), Packed("ue8m0x4", UE8M0, 4)]

    def four(t):
        return sum((r.bits(5) + 112 if t.name == "ue8m0x4" and r.bits(2) else r.bits(t.elem.width)) << i * t.width for i in range(4))

    def fours(op, mods, d, *named):
        sources = list(named) + ([] if op == "mul" else [d])

        def one(*words):
            x = [t.numbers(w) for t, w in zip(sources, words)]
            return sum(d.code(packed_op(op, "rn", [v[i] for v in x]), "rn", "satfinite" in mods) << 8 * i for i in range(4))
        rows = [tuple(map(four, sources)) for _ in range(64)]
        name = "_".join([op] + [x for x in mods.split(".") if x] + [d.name] + [t.name for t in named])
        m.lanes(name, " ".join("b%d" % (4 * t.width) for t in sources), "b32",
                "%s%s.%s.%s %%d, %s;" % (op, mods, d.name, ".".join(t.name for t in named), ", ".join("%" + x for x in "abc"[:len(sources)])), rowsn(one, rows), uniform=1)

    for d in results:
        for i, t in enumerate(types):
            fours("add", (".satfinite", ".rn.satfinite", "", ".rn")[i % 4], d, t)
            fours("sub", (".rn", ".satfinite", ".rn.satfinite")[i % 3], d, t)
            fours("mul", (".satfinite", ".rn", ".rn.satfinite")[i % 3], d, t, types[(i * 3 + 1) % 7])
            fours("mul", ".rn.satfinite", d, types[(i * 2 + 3) % 7], t)
            fours("fma", (".rn.satfinite", "", ".satfinite")[i % 3], d, t, types[(i * 5 + 2) % 7])

    m = Module("set_packed", "of PTX 9.4, 9.7.7.1", "set on packed integers.", "9.4", "sm_107a")
    tests = {"eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__,
             "lo": int.__lt__, "ls": int.__le__, "hi": int.__gt__, "hs": int.__ge__}
    near = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7f80]
    words32 = [(sum(r.pick(near) << 16 * i & 0xffff << 16 * i for i in range(2)), sum(r.pick(near) << 16 * i & 0xffff << 16 * i for i in range(2))) for _ in range(48)]
    words32 += [(x, x ^ 1 << r.bits(5)) for x in [r.bits(32) for _ in range(8)]] + [(0x01020304, 0x01020304)]
    for name, n in ("u8x4", 8), ("s8x4", 8), ("u16x2", 16), ("s16x2", 16):
        for cmp, test in tests.items():
            if name[0] == "s" and cmp in ("lo", "ls", "hi", "hs"):
                continue
            cut = lambda x, i: signed(x >> i & (1 << n) - 1, n) if name[0] == "s" else x >> i & (1 << n) - 1
            one = lambda a, b: sum(((1 << n) - 1) << i for i in range(0, 32, n) if test(cut(a, i), cut(b, i)))
            m.lanes("set_%s_%s" % (cmp, name), "b32 b32", "b32", "set.%s.%s %%d, %%a, %%b;" % (cmp, name), rowsn(one, words32), uniform=1)

    m = Module("cvt_scaled", "of PTX 9.4, 9.7.10.24", "cvt to and from .ue5m3x2, which has no sign, and with one scale, which divides.", "9.4", "sm_107a")

    def code(to, f, x, mode, relu, fin, scale, pzo=False):
        if scale is not None:
            if scale == 255:
                if to.has_nan:
                    raise Unsaid
                return to.max
            x = f.flush(x)
        if f.is_nan(x):
            if to.has_nan:
                raise Unsaid
            return to.max
        if to is UE5M3 and f.negative(x):
            raise Unsaid
        if relu and f.negative(x):
            return 0
        if to is UE5M3 and not fin:
            if f.is_inf(x) or mode == "rz" and f.value(x) / Fraction(2) ** ((scale or 127) - 127) > to.values[to.max]:
                raise Unsaid
        if f.is_inf(x):
            return to.max | (to.sign if f.negative(x) else 0)
        v = f.value(x) / Fraction(2) ** ((127 if scale is None else scale) - 127)
        if to is UE5M3 and not fin and v > to.values[to.max]:
            raise Unsaid
        c = to.code(v, mode, f.negative(x))
        return 0 if pzo and c == to.sign else c

    scales = [127, 128, 126, 120, 134, 0, 254, 255]
    for to in E4M3, E5M2, E2M3, E3M2, E2M1, UE5M3:
        step, out = (4, "b8") if to is E2M1 else (8, "b16")
        for src in F32, F16, BF16:
            values = [src.of(v) for v in to.boundaries()]
            values = values[::max(1, len(values) // 40)] + [x | src.sign for x in values[::97]]
            values += [0, src.sign, src.inf, src.inf | src.sign, 1, 1 | src.sign, src.min_normal - 1, src.min_normal, src.max]
            both = list(zip(values, values[7:] + values[:7]))
            if to is UE5M3:
                forms = [("rn", ".satfinite", False), ("rz", ".satfinite", True), ("rp", ".satfinite", False), ("rn", "", True), ("rp", "", False), ("rz", "", False)]
            else:
                forms = [("rn", ".satfinite", True), ("rz", ".satfinite.relu", True), ("rn", ".satfinite.pzo", True)]
            for mode, mods, scaled in forms:
                if scaled:
                    rows = [t + (scales[i % 8],) for i, t in enumerate(both)]
                else:
                    rows = [t + (None,) for t in both]
                one = lambda a, b, k: code(to, src, a, mode, "relu" in mods, "fin" in mods, k, "pzo" in mods) << step | code(to, src, b, mode, "relu" in mods, "fin" in mods, k, "pzo" in mods)
                rows = rowsn(one, rows)
                if src is not F32:
                    rows = [((a << 16 | b, k), v) for (a, b, k), v in rows]
                rows = [(t if scaled else t[:-1], v) for t, v in rows]
                ins = "f32 f32" if src is F32 else "b32"
                m.lanes("cvt_%s%s_%sx2_%s%s" % (mode, mods.replace(".", "_"), to.name, src.name, "_scaled" if scaled else ""), ins + (" b8" if scaled else ""), out,
                        "cvt.%s%s%s.%sx2.%s %%d, %s;" % (mode, mods, ".scaled::n1::ue8m0" if scaled else "", to.name, src.name if src is F32 else src.name + "x2",
                                                        ", ".join("%" + x for x in "abc"[:len(rows[0][0])])), rows, uniform=0 if scaled and src is F32 else 1, wide=False)  # ptxas 13.5 fails inside with a scale from a parameter
    codes = [c << 8 | (c * 37 + 11) % 255 for c in range(255)]
    for f in F16, BF16:
        wide = lambda x, s=0: f.round(UE5M3.values[x >> 8] * Fraction(2) ** ((s >> 8) - 127 if s else 0), "rn", 0) << 16 | f.round(UE5M3.values[x & 255] * Fraction(2) ** ((s & 255) - 127 if s else 0), "rn", 0)
        m.lanes("cvt_%sx2_ue5m3x2" % f.name, "b16", "b32", "cvt.rn.%sx2.ue5m3x2 %%d, %%a;" % f.name, rowsn(wide, [(x,) for x in codes]), uniform=1, wide=False)
    m.lanes("cvt_scaled_ue5m3x2", "b16 b16", "b32", "cvt.rn.scaled::n2::ue8m0.bf16x2.ue5m3x2 %d, %a, %b;",
            rowsn(wide, [(x, [0x7f7f, 0x8000, 0x7e81, 0x7085][i % 4]) for i, x in enumerate(codes[::3])]), uniform=1, wide=False)


def gen_cvt_narrow():
    spread = lambda values, n: values[::max(1, len(values) // n)]
    beside = [0, F32.sign, F32.inf, F32.inf | F32.sign, F32.nan, 1, F32.max, F32.max | F32.sign, F32.min_normal | F32.sign]

    # From f32 and halves.
    m = Module("cvt_narrow", "9.7.9.21", "cvt to two numbers of 8, 6 or 4 bits: the nearest, ties to even, and the largest for what is larger. a is the upper one.", "9.1", "sm_100a")
    for to in E4M3, E5M2, E2M3, E3M2, E2M1:
        step = to.width if to is E2M1 else 8
        out = "b8" if to is E2M1 else "b16"
        for src in F32, F16, BF16:
            values = [src.of(v) for v in to.boundaries()]
            values = spread(values, 120 if src is F32 else 60) + [x | src.sign for x in values[::7]]
            values += [0, src.sign, src.inf, src.inf | src.sign, 1, src.max, src.max | src.sign] + ([] if to.has_nan else [src.nan, src.nan | src.sign])
            pairs = list(zip(values, values[11:] + values[:11]))
            for mods in "", ".relu":
                pair = lambda a, b: to.of(src, a, relu=mods != "") << step | to.of(src, b, relu=mods != "")
                name = "cvt_%sx2_%s%s" % (to.name, src.name, mods.replace(".", "_"))
                if src is F32:
                    m.lanes(name, "f32 f32", out, "cvt.rn.satfinite%s.%sx2.f32 %%d, %%a, %%b;" % (mods, to.name), rowsn(pair, pairs[:: 3 if mods else 1]), uniform=1, wide=False)
                else:
                    m.lanes(name, "b32", out, "cvt.rn.satfinite%s.%sx2.%sx2 %%d, %%a;" % (mods, to.name, src.name),
                            rows1(lambda x: pair(x >> 16, x & 0xffff), [a << 16 | b for a, b in pairs[:: 3 if mods else 1]]), uniform=1, wide=False)

    # To halves: all codes.
    def widen(v, c, f, relu=False, scale=0, fin=False):
        if v == "nan":
            raise Unsaid  # which NaN
        neg = v != "inf" and v < 0
        if v == "inf":
            return f.inf - fin
        if relu and neg:
            return 0
        r = f.round(v * Fraction(2) ** scale, "rn", 0)
        return f.max | r & f.sign if fin and f.is_inf(r) else r

    m = Module("cvt_wide_narrow", "9.7.9.21", "cvt of two numbers of 8, 6 or 4 bits to halves: all codes; with a scale.", "9.2", "sm_100a")
    for src in E4M3, E5M2, E2M3, E3M2, E2M1, S2F6:
        step = 4 if src is E2M1 else 8
        reg = "b8" if src is E2M1 else "b16"
        n = len(src.values)
        codes = [c << step | (c * 37 + 11) % n for c in range(n)]
        if src is E2M1:
            codes = list(range(256))
        for f in (F16, BF16) if src is not S2F6 else (BF16,):
            def number(c, relu=False, scale=0, fin=False):
                v = src.values[c]
                if v == "inf" or v == "nan":
                    return widen(v, c, f, relu, scale, fin)
                if v == 0 and c:
                    return 0 if relu else f.sign
                if src.sign and c & src.sign and v == "inf":
                    raise Unsaid
                return widen(v, c, f, relu, scale, fin)
            # -inf has the sign of its code.
            def signed_number(c, relu=False, scale=0, fin=False):
                if src.values[c] == "inf" and c & src.sign:
                    return 0 if relu else f.inf - fin | f.sign
                return number(c, relu, scale, fin)
            both = lambda x, **k: signed_number(x >> step, **k) << 16 | signed_number(x & (1 << step) - 1, **k)
            m.lanes("cvt_%sx2_%sx2" % (f.name, src.name), reg, "b32", "cvt.rn.%sx2.%sx2 %%d, %%a;" % (f.name, src.name), rows1(both, codes), uniform=2, wide=False)
            m.lanes("cvt_relu_%sx2_%sx2" % (f.name, src.name), reg, "b32", "cvt.rn.relu.%sx2.%sx2 %%d, %%a;" % (f.name, src.name), rows1(lambda x: both(x, relu=True), codes[::5]), uniform=1, wide=False)
            if f is F16:
                continue
            scales = [0x7f7f, 0x8000, 0x7e81, 0x00fe, 0xfe01, 0x7085]
            for mods in "", ".satfinite", ".relu":
                def scaled(x, s):
                    k = dict(relu=mods == ".relu", fin=mods == ".satfinite")
                    return signed_number(x >> step, scale=(s >> 8) - 127, **k) << 16 | signed_number(x & (1 << step) - 1, scale=(s & 255) - 127, **k)
                m.lanes("cvt_scaled_%sx2%s" % (src.name, mods.replace(".", "_")), reg + " b16", "b32", "cvt.rn%s.scaled::n2::ue8m0.bf16x2.%sx2 %%d, %%a, %%b;" % (mods, src.name),
                        rowsn(scaled, [(x, scales[i % 6]) for i, x in enumerate(codes[::3])]), uniform=1, wide=False)

    m = Module("cvt_fixed", "9.7.9.21", "cvt to .s2f6x2: fixed point with 6 bits behind the point; with a scale, which divides.", "9.1", "sm_100a")
    values = [F32.of(v) for v in S2F6.boundaries()]
    values = spread(values, 90) + [x | F32.sign for x in values[::4]] + beside + [F32.of(v) for v in (-2, Fraction(-255, 128), Fraction(-257, 128), 3, 100, -100)]
    pairs = list(zip(values, values[13:] + values[:13]))
    scales = [0x7f7f, 0x807e, 0x8281, 0x0001, 0xfe7f, 0x7d80]
    for mods in "", ".relu":
        g = lambda x, s=127: S2F6.of(F32, x, relu=mods != "", scale=s - 127)
        m.lanes("cvt_s2f6x2_f32" + mods.replace(".", "_"), "f32 f32", "b16", "cvt.rn.satfinite%s.s2f6x2.f32 %%d, %%a, %%b;" % mods, rowsn(lambda a, b: g(a) << 8 | g(b), pairs), uniform=1)
        m.lanes("cvt_scaled_s2f6x2_f32" + mods.replace(".", "_"), "f32 f32 b16", "b16", "cvt.rn.satfinite%s.scaled::n2::ue8m0.s2f6x2.f32 %%d, %%a, %%b, %%c;" % mods,
                rowsn(lambda a, b, s: g(a, s >> 8) << 8 | g(b, s & 255), [p + (scales[i % 6],) for i, p in enumerate(pairs)]), uniform=1)
        halves = [(a & 0xffff0000) | b >> 16 for a, b in pairs]
        h = lambda x, s=127: S2F6.of(BF16, x, relu=mods != "", scale=s - 127)
        m.lanes("cvt_s2f6x2_bf16x2" + mods.replace(".", "_"), "b32", "b16", "cvt.rn.satfinite%s.s2f6x2.bf16x2 %%d, %%a;" % mods, rows1(lambda x: h(x >> 16) << 8 | h(x & 0xffff), halves), uniform=1)
        m.lanes("cvt_scaled_s2f6x2_bf16x2" + mods.replace(".", "_"), "b32 b16", "b16", "cvt.rn.satfinite%s.scaled::n2::ue8m0.s2f6x2.bf16x2 %%d, %%a, %%b;" % mods,
                rowsn(lambda x, s: h(x >> 16, s >> 8) << 8 | h(x & 0xffff, s & 255), [(x, scales[i % 6]) for i, x in enumerate(halves)]), uniform=1)

    m = Module("cvt_scale", "9.7.9.21", "cvt to and from .ue8m0x2, powers of two.", "8.6", "sm_100a")
    exps = [F32.of(Fraction(2) ** n) for n in (-149, -128, -127, -126, -125, -1, 0, 1, 126, 127)]
    values = [y for x in exps for y in (x, x + 1, max(x - 1, 0))] + [0, F32.inf, F32.max, 0x00400000, 0x00400001, 0x003fffff] + [F32.of(Fraction(n, 7)) for n in (1, 10, 100, 12345)]
    pairs = list(zip(values, values[5:] + values[:5]))
    for mode in "rz", "rp":
        for fin in "", ".satfinite":
            def scale(f, x):
                if not fin and (f.is_inf(x) or mode == "rp" and f.value(x) > Fraction(2) ** 127):
                    return 0xff
                return UE8M0.of(f, x, mode)
            m.lanes("cvt_%s%s_ue8m0x2_f32" % (mode, fin.replace(".", "_")), "f32 f32", "b16", "cvt.%s%s.ue8m0x2.f32 %%d, %%a, %%b;" % (mode, fin), rowsn(lambda a, b: scale(F32, a) << 8 | scale(F32, b), pairs), uniform=1)
            halves = [(a & 0xffff0000) | b >> 16 for a, b in pairs]
            m.lanes("cvt_%s%s_ue8m0x2_bf16x2" % (mode, fin.replace(".", "_")), "b32", "b16", "cvt.%s%s.ue8m0x2.bf16x2 %%d, %%a;" % (mode, fin),
                    rows1(lambda x: scale(BF16, x >> 16) << 8 | scale(BF16, x & 0xffff), halves), uniform=1)
    half = lambda c: widen(UE8M0.values[c], c, BF16)
    m.lanes("cvt_bf16x2_ue8m0x2", "b16", "b32", "cvt.rn.bf16x2.ue8m0x2 %d, %a;", rows1(lambda x: half(x >> 8) << 16 | half(x & 255), [c << 8 | (c * 37 + 11) % 255 for c in range(255)]), uniform=2)

    m = Module("cvt_tf32", "9.7.9.21", "cvt to .tf32: the upper 19 bits of an f32.", "8.6", "sm_100a")
    r = Random(19)
    values = beside + [F32.one | x for x in (0x1000, 0x1001, 0xfff, 0x3000, 0x2fff, 0x3001, 0x5000, 0x1800, 0x7fe000, 0x7ff000, 0x7fefff)]
    values += [x | F32.sign for x in values[9:]] + [0x1000, 0xfff, 0x3000, 0x7fffff, 0x7fefff, 0x7f7fefff, 0x7f7ff000, 0x7f7fe000, 0xff7ff001] + [r.bits(31) % F32.inf | r.bits(1) << 31 for _ in range(24)]
    for mode in "rn", "rz", "rna":
        for mods in ("", ".satfinite") if mode == "rna" else ("", ".satfinite", ".relu", ".relu.satfinite"):
            def tf32(x):
                if F32.is_nan(x):
                    raise Unsaid  # which NaN
                sign = F32.sign if F32.negative(x) else 0
                if F32.is_inf(x):
                    d = TF32.inf
                else:
                    v = abs(F32.value(x))
                    d = TF32.round(v, mode if mode != "rna" else "rn")
                    if mode == "rna" and v != 0:
                        low = TF32.round(v, "rz")
                        next_up = TF32.value(low + 1) if low < TF32.max else 2 * TF32.value(TF32.max) - TF32.value(TF32.max - 1)
                        d = low + (2 * v >= TF32.value(low) + next_up)
                if "satfinite" in mods:
                    d = min(d, TF32.max)
                return 0 if "relu" in mods and sign else d << 13 | sign
            m.lanes("cvt_tf32_%s%s" % (mode, mods.replace(".", "_")), "f32", "b32", "cvt.%s%s.tf32.f32 %%d, %%a;" % (mode, mods), rows1(tf32, values), uniform=1)

    # The random bits of .rs: two numbers have 16 each, of which .f16 takes 13; of
    # four, two share 16, the first in reverse; .e2m1 takes them from both halves.
    m = Module("cvt_random", "9.7.9.21", "cvt.rs: away from zero where the random bits carry out of what is lost.", "8.7", "sm_100a")
    r = Random(23)
    reverse = lambda x: int("{:016b}".format(x)[::-1], 2)
    bits = [0, 0xffffffff, 0x80008000, 0x7fff7fff, 0x10001000, 0x00010001, 0xffff0000] + [r.bits(32) for _ in range(25)]
    for f in F16, BF16:
        for mods in "", ".relu", ".satfinite":
            def rounded(x, random):
                if F32.is_nan(x):
                    raise Unsaid
                neg = F32.negative(x)
                if neg and mods == ".relu":
                    return 0
                if F32.is_inf(x):
                    d = f.max if mods == ".satfinite" else f.inf
                else:
                    v = abs(F32.value(x))
                    d = f.round(v, "rz")
                    low = f.value(d)
                    step = f.value(d + 1) - low if d < f.max else low - f.value(d - 1)
                    part = (v - low) / step
                    d += part >= 1 or (part.numerator << 16) // part.denominator + random >= 1 << 16
                    if mods == ".satfinite":
                        d = min(d, f.max)
                return d | (f.sign if neg else 0)

            def pair(a, b, c):
                up, low = c >> 16, c & 0xffff
                if f is F16:
                    up, low = (up & 0x1fff) << 3, (low & 0x1fff) << 3
                return rounded(a, up) << 16 | rounded(b, low)
            near = [F32.of(v) for v in (1, Fraction(1, 3), Fraction(-2, 3), Fraction(100000, 3), 65504, 65519, 65520, Fraction(1, 3 << 14), Fraction(-5, 3 << 20))] + [x for x in beside if not F32.is_nan(x)]
            if f is BF16:
                near += [0x3f808000, 0x3f80ffff, 0x7f7f8000, 0x00008000, 0x80018000]
            rows = [(near[i % len(near)], near[(i * 5 + 3) % len(near)], bits[i % len(bits)]) for i in range(96)]
            m.lanes("cvt_rs_%sx2%s" % (f.name, mods.replace(".", "_")), "f32 f32 b32", "b32", "cvt.rs%s.%sx2.f32 %%d, %%a, %%b, %%c;" % (mods, f.name), rowsn(pair, rows), uniform=2)
    for to in E4M3, E5M2, E2M3, E3M2, E2M1:
        step = 4 if to is E2M1 else 8
        values = [F32.of(v) for v in to.boundaries()]
        values = spread(values, 40) + [x | F32.sign for x in values[::9]] + [x for x in beside if not F32.is_nan(x)]
        for mods in "", ".relu":
            def four(a, b, e, f, c):
                upper, lower = c >> 16, c & 0xffff
                if to is E2M1:
                    upper, lower = c >> 24 << 8 | c >> 8 & 255, (c >> 16 & 255) << 8 | c & 255
                parts = ((a, reverse(upper)), (b, upper), (e, reverse(lower)), (f, lower))
                return sum(to.of(F32, x, "rs", mods != "", random=y) << step * (3 - i) for i, (x, y) in enumerate(parts))
            n = len(values)
            rows = [tuple(values[(i * k + k) % n] for k in (1, 3, 7, 5)) + (bits[i % len(bits)],) for i in range(128)]
            m.lanes("cvt_rs_%sx4%s" % (to.name, mods.replace(".", "_")), "f32 f32 f32 f32 b32", "b16" if to is E2M1 else "b32",
                    "cvt.rs%s.satfinite.%sx4.f32 %%d, {%%a, %%b, %%c, %%e}, %%f;" % (mods, to.name), rowsn(four, rows), uniform=2)


def gen_memory():
    """Loads and stores of every type from every space into registers of every
    width. Eight bytes go from the parameter to the space byte by byte."""
    m = Module("ld_extend", "9.4.1, 9.7.9.8", "ld from every space: what is narrower than its register is extended as its type says.", "8.3", "sm_90")
    m.add(".const .align 8 .b8 cdata[8] = {0x80, 0xff, 0x7f, 0x81, 0xf0, 0xde, 0xbc, 0x9a};\n.global .align 8 .b8 gdata[8] = {0x80, 0xff, 0x7f, 0x81, 0xf0, 0xde, 0xbc, 0x9a};")
    fixed = 0x9abcdef0817fff80

    def own(space):
        """A variable of the kernel with the eight bytes."""
        return "\n".join(["\t.%s .align 8 .b8 data[8];" % space] + ["\tshr.u64 %%t, %%v, %d;\n\tst.%s.u8 [data+%d], %%t;" % (8 * i, space, i) for i in range(8)])
    # name: the way in which the eight bytes reach "data", and the space of the loads
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
                continue  # several threads would write the same place
            out = [0] * 64
            for i in range(n):
                if i % 3 != 1:
                    out[f(i)] = data[i]
            # Scattered places may coincide: coinciding places have no case.
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
    """A 16-bit register holds 16 bits after every kind of write: each is read by every kind of
    instruction."""
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
    """Each thread has a place of its own: the old value and the final value."""
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


def gen_atomics_half():
    """Each thread has a place of its own, as in gen_atomics; NaN has no case."""
    formats = {"f16": F16, "bf16": BF16}

    def combine(f, op):
        unit = Arithmetic(f, "rn")

        def g(a, b):
            if f.is_nan(a) or f.is_nan(b):
                raise Unsaid
            if op == "add":
                r = unit(Arithmetic.add, a, b)
                if r == NAN:
                    raise Unsaid
                return r
            key = lambda x: (f.value(x) if not f.is_inf(x) else Fraction(2) ** 200 * (-1 if f.negative(x) else 1), not f.negative(x))
            return (min if op == "min" else max)(a, b, key=key)
        return g

    def words(f, op, packed):
        """Pairs of elements as in memory, of one or two numbers."""
        g = combine(f, op)
        rows = rowsn(g, add_pairs(f)[::2] + specials(f)[::9])
        if not packed:
            return rows
        return [((a | c << 16, b | d << 16), v | w << 16) for ((a, b), v), ((c, d), w) in zip(rows, rows[1:])]
    m = Module("atom_half", "9.7.13.5, 9.7.13.6", "atom and red of half precision: the value before and the value after.", "8.4", "sm_90")
    m.add(".global .align 16 .b8 scratch[1024];")
    spaces = [("global", ".global", "global", "scratch", ""), ("shared", ".shared", "shared", "own", ""),
              ("generic_global", "", "global", "scratch", "cvta.global.u64 %g, %g;\n"), ("generic_shared", "", "shared", "own", "cvta.shared.u64 %g, %g;\n")]
    orders = ["", ".relaxed.gpu", ".acq_rel.sys", ".release.cta", ".acquire.cluster", ".gpu"]
    n = 0
    for (name, dot, space, base, cvta), (t, f), packed in cross(spaces, list(formats.items()), [False, True]):
        n += 1
        sem, rsem = orders[n % len(orders)], ["", ".relaxed.gpu", ".release.cta"][n % 3]
        size, b, typ = (4, "b32", t + "x2") if packed else (2, "b16", t)
        own = ".shared .align 16 .b8 own[1024];\n" if space == "shared" else ""
        place = own + "mov.u64 %%g, %s;\nmad.wide.u32 %%g, %%i, %d, %%g;\nst.%s.%s [%%g], %%a;\n" % (base, size, space, b) + cvta
        load = "\nld%s.%s " % (dot, b) + "%s, [%%g];"
        hint = n % 4 == 1 and space == "global"
        atom = "atom%s%s.add.noftz%s.%s %%d0, [%%g], %%b%s;" % (sem, dot, ".L2::cache_hint" if hint else "", typ, ", %h" if hint else "")
        if hint:
            place += "createpolicy.fractional.L2::evict_last.b64 %h, 0.5;\n"
        rows = words(f, "add", packed)
        m.lanes("atom_add_%s_%s" % (typ, name), b + " " + b, b, place + atom + load % "%d1", [(p, (p[0], v)) for p, v in rows], outs=2, regs="u64 %g, %h")
        m.lanes("red_add_%s_%s" % (typ, name), b + " " + b, b, place + "red%s%s.add.noftz.%s [%%g], %%b;" % (rsem, dot, typ) + load % "%d", rows, regs="u64 %g, %h")

    def vectors(m, name, opcode, elem, rows, count, atom):
        """A kernel whose thread i runs an instruction on the elements from i * count on: the values
        before, which are also in the buffer, and the values after."""
        mem = {2: "b16", 4: "b32", 8: "b64"}[elem]
        regs = lambda n: "{" + ", ".join("%%%s%d" % (n, i) for i in range(count)) + "}" if count > 1 else "%%%s0" % n
        text = [".visible .entry %s(.param .u64 b, .param .u64 out)" % name, "{", "\t.reg .%s %%x<8>, %%y<8>;" % mem, "\t.reg .u32 %i;", "\t.reg .u64 %p, %o;",
                "\tmov.u32 %i, %tid.x;", "\tld.param.u64 %p, [b];", "\tmad.wide.u32 %%p, %%i, %d, %%p;" % (elem * count)]
        text += ["\tld.global.%s %%x%d, [%%p+%d];" % (mem, i, i * elem) for i in range(count)]
        text += ["\tld.param.u64 %o, [out];", "\tmad.wide.u32 %%o, %%i, %d, %%o;" % (elem * count * (2 if atom else 1))]
        text += ["\t%s;" % opcode.replace("$d", regs("y")).replace("$b", regs("x")).replace("$a", "[%o]")]
        if atom:
            text += ["\tst.global.%s [%%o+%d], %%y%d;" % (mem, (count + i) * elem, i) for i in range(count)]
        text += ["\tret;", "}"]
        threads = len(rows) // count
        first, want = [], []
        for i in range(threads):
            part = rows[i * count:(i + 1) * count]
            first += [a for (a, _), _ in part] + ([0] * count if atom else [])
            want += [v for _, v in part] + ([a for (a, _), _ in part] if atom else [])
        sources = [b for (_, b), _ in rows[:threads * count]]
        text += ["// run block=%d: %s(%s{%s}, @%s{%s}) == %s %s" % (threads, name, mem, list_text(sources, mem), mem, list_text(first, mem), mem, list_text(want, mem))]
        m.add("\n".join(text))
    v = Module("atom_vector", "9.7.13.5, 9.7.13.6", "vector atom and red: each element by itself.", "8.4", "sm_90")
    k = 0
    for (t, f), packed, count, op in cross(list(formats.items()), [False, True], [2, 4, 8], ["add", "min", "max"]):
        if packed and count == 8:
            continue
        k += 1
        typ = t + ("x2" if packed else "")
        rows, elem = words(f, op, packed)[:24], 4 if packed else 2
        vectors(v, "atom_%s_%s_v%d" % (op, typ, count), "atom%s.global.%s.noftz.v%d.%s $d, $a, $b" % (orders[k % 6], op, count, typ), elem, rows, count, True)
        vectors(v, "red_%s_%s_v%d" % (op, typ, count), "red%s.%s.noftz.v%d.%s $a, $b" % (["", ".relaxed.sys"][k % 2], op, count, typ), elem, rows, count, False)
    single = Arithmetic(F32, "rn", True)
    rows = [r for r in rowsn(lambda a, b: single(Arithmetic.add, a, b), add_pairs(F32)[::2]) if r[1] != NAN and not F32.is_nan(r[1])]
    for count in 2, 4:
        vectors(v, "atom_add_f32_v%d" % count, "atom.global.add.v%d.f32 $d, $a, $b" % count, 4, rows[:24], count, True)
        vectors(v, "red_add_f32_v%d" % count, "red.add.v%d.f32 $a, $b" % count, 4, rows[:24], count, False)

    mm = Module("multimem", "9.7.9.14", "multimem at an address that stands for one place.", "8.6", "sm_100a")
    red = [("add", "u32", 4, lambda a, b: unsigned(a + b, 32)), ("add", "u64", 8, lambda a, b: unsigned(a + b, 64)),
           ("min", "s32", 4, lambda a, b: unsigned(min(signed(a, 32), signed(b, 32)), 32)), ("max", "s64", 8, lambda a, b: unsigned(max(signed(a, 64), signed(b, 64)), 64)),
           ("and", "b32", 4, lambda a, b: a & b), ("xor", "b64", 8, lambda a, b: a ^ b), ("or", "b32", 4, lambda a, b: a | b)]
    for op, t, elem, f in red:
        vectors(mm, "red_%s_%s" % (op, t), "multimem.red.relaxed.sys.global.%s.%s $a, $b" % (op, t), elem, rowsn(f, int_pairs(8 * elem)[::3]), 1, False)
    for t, count, op in ("f16x2", 1, "add"), ("bf16x2", 4, "add"), ("f16", 8, "add"), ("f16x2", 2, "max"), ("bf16", 4, "min"):
        f, packed = formats[t.removesuffix("x2")], t.endswith("x2")
        vectors(mm, "red_%s_%s_v%d" % (op, t, count), "multimem.red.%s%s.%s $a, $b" % (op, ".v%d" % count if count > 1 else "", t), 4 if packed else 2, words(f, op, packed)[:16], count, False)
    vectors(mm, "red_add_f32_v4", "multimem.red.release.gpu.add.v4.f32 $a, $b", 4, rows[:24], 4, False)
    def copies(n):
        return [((a, b), b) for a, b in int_pairs(n)[::3]]
    for t, elem, count in ("u32", 4, 1), ("b64", 8, 1), ("f16x2", 4, 4), ("f32", 4, 2), ("bf16", 2, 8):
        vectors(mm, "st_%s_%d" % (t, count), "multimem.st%s.%s $a, $b" % (".v%d" % count if count > 1 else "", t), elem, copies(8 * elem), count, False)

    # The loaded value is stored: $d goes back to its place.
    for t, elem, count, op in ("u32", 4, 1, "add"), ("b64", 8, 1, "and"), ("s64", 8, 1, "min"), ("f16x2", 4, 2, "add.acc::f32"), ("f32", 4, 4, "add"), ("bf16", 2, 4, "max"):
        vectors(mm, "ld_reduce_%s_%s_%d" % (op.split(".")[0], t, count), "multimem.ld_reduce.acquire.gpu.global.%s%s.%s $d, $a" % (op, ".v%d" % count if count > 1 else "", t), elem,
                [((a, b), a) for a, b in int_pairs(8 * elem)[::3]], count, True)


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
    # Twenty threads: absent threads do not vote.
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
            # A kernel for each number of threads, which the mask states.
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
    # By lane: %laneid and the masks, with a whole warp and a part of a warp.
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


# ---------------------------------------------------------------- 9.7.18 video

def gen_video():
    """Several instructions in each kernel, their types, selectors and second operations
    drawn at random, on the same rows."""
    r = Random(9718)
    signs = ("u32", "s32")

    def choice(p, value, other=""):
        """The value in p of eight draws."""
        return value if r.bits(3) < p else other

    def values(n):
        """Words of which parts are corner values."""
        out = []
        for _ in range(n):
            v = [r.bits(32), r.pick([0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x80000001]), r.pick([0x7f, 0x80, 0xff, 0]) * 0x1010101,
                 sum(r.pick([0x7f, 0x80, 0xff, 0, 1]) << 8 * i for i in range(4)), sum(r.pick([0x7fff, 0x8000, 0xffff, 0, 1]) << 16 * i for i in range(2))]
            out.append(r.pick(v))
        return out

    def part(sel):
        """Bits and position of the part of a register that a selector names."""
        n = {"": 32, "h": 16, "b": 8}[sel[1:2]]
        return n, n * int(sel[2:] or 0)

    def source(v, t, sel):  # partSelectSignExtend
        n, at = part(sel)
        return integer(v >> at & (1 << n) - 1, t[0] + str(n))

    compare = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
               "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
    basic = {"vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vabsdiff": lambda a, b: abs(a - b), "vmin": min, "vmax": max,
             "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1}

    def finish(tmp, sat, dt, dsel, op2, c):  # optSaturate, optSecOp, optMerge
        tmp = signed(tmp, 34)
        n, at = part(dsel)
        if sat:
            tmp = clamp(tmp, dt[0] + str(n))
        third = integer(c, dt)
        if op2 in (".min", ".max") and not bounds(dt)[0] <= tmp <= bounds(dt)[1]:
            raise Unsaid  # is it cut to 32 bits before?
        tmp = {"": tmp, ".add": tmp + third, ".min": min(tmp, third), ".max": max(tmp, third)}[op2]
        if dsel:
            m = (1 << n) - 1
            tmp = (tmp & m) << at | c & ~(m << at)
        return unsigned(tmp, 32)

    def kernels(m, name, count, draw):
        """Kernels of four instructions that draw makes: the text and the function of each."""
        for k in range(count):
            drawn = [draw() for _ in range(4)]
            text = "\n".join(t.replace("%d", "%%d%d" % i) for i, (t, _) in enumerate(drawn))
            rows = rowsn(lambda a, b, c: tuple(f(a, b, c) for _, f in drawn), list(zip(values(48), values(48), values(48))))[:LANES]
            assert len(rows) >= 8, name
            m.lanes("%s_%d" % (name, k), "b32 b32 b32", "b32", text, rows, outs=4, uniform=1)

    parts = ["", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]

    def tail():
        """What a scalar instruction does with its result: a selector, a second operation or neither."""
        dsel, op2 = r.pick([("", "")] * 2 + [(p, "") for p in parts[2:]] + [("", ".add"), ("", ".min"), ("", ".max")])
        return dsel, op2, ", %c" if dsel or op2 else ""

    def scalar(op):
        def draw():
            dt, at, bt, asel, bsel, sat = r.pick(signs), r.pick(signs), r.pick(signs), r.pick(parts), r.pick(parts), choice(4, ".sat")
            dsel, op2, c = tail()
            return ("%s.%s.%s.%s%s%s %%d%s, %%a%s, %%b%s%s;" % (op, dt, at, bt, sat, op2, dsel, asel, bsel, c),
                    lambda a, b, c: finish(basic[op](source(a, at, asel), source(b, bt, bsel)), sat, dt, dsel, op2, c))
        return draw
    m = Module("video", "9.7.18.1", "scalar video instructions: selectors, saturation, second operations.")
    for op in "vadd", "vsub", "vabsdiff", "vmin", "vmax":
        kernels(m, op, 8, scalar(op))

    def shift(op):
        def draw():
            dt, at, asel, bsel, sat, mode = r.pick(signs), r.pick(signs), r.pick(parts), r.pick(parts), choice(4, ".sat"), r.pick(["clamp", "wrap"])
            dsel, op2, c = tail()

            def f(a, b, c):
                x, n = source(a, at, asel), source(b, "u32", bsel)
                n = n & 31 if mode == "wrap" else min(n, 32)
                return finish(x << n if op == "vshl" else x >> n, sat, dt, dsel, op2, c)
            return "%s.%s.%s.u32%s.%s%s %%d%s, %%a%s, %%b%s%s;" % (op, dt, at, sat, mode, op2, dsel, asel, bsel, c), f
        return draw
    for op in "vshl", "vshr":
        kernels(m, op, 8, shift(op))

    def vset():
        at, bt, asel, bsel, cmp = r.pick(signs), r.pick(signs), r.pick(parts), r.pick(parts), r.pick(list(compare))
        dsel, op2, c = tail()
        return ("vset.%s.%s.%s%s %%d%s, %%a%s, %%b%s%s;" % (at, bt, cmp, op2, dsel, asel, bsel, c),
                lambda a, b, c: finish(int(compare[cmp](source(a, at, asel), source(b, bt, bsel))), "", "u32", dsel, op2, c))
    kernels(m, "vset", 8, vset)
    m.lanes("vadd_constants", "b32", "b32", "vadd.s32.s32.s32 %d0, %a.b1, -5;\nvsub.u32.u32.u32.sat.add %d1, 100, %a.h1, 7;\nvshl.s32.s32.u32.clamp %d2, %a, 3;",
            rows1(lambda a: (unsigned(source(a, "s32", ".b1") - 5, 32), unsigned(max(100 - (a >> 16), 0) + 7, 32), unsigned(a << 3, 32)), values(16)), outs=3)

    def vmad(wide=False):
        dt, at, bt, asel, bsel, sat, scale = r.pick(signs), r.pick(signs), r.pick(signs), r.pick(parts), r.pick(parts), choice(4, ".sat"), r.pick(["", ".shr7", ".shr15"])
        if wide:
            at, bt, asel, bsel, sat = "u32", "u32", "", "", ".sat"
        po, na, nb, nc = r.pick([(".po", "", "", ""), ("", "", "", ""), ("", "-", "", ""), ("", "", "-", ""), ("", "-", "-", ""), ("", "", "", "-"), ("", "-", "-", "-")])
        final = at == "s32" or bt == "s32" or na != nb or nc == "-"

        def f(a, b, c):
            tmp = source(a, at, asel) * source(b, bt, bsel)
            lsb = 0
            if po:
                lsb = 1
            elif na != nb:
                tmp, lsb = ~tmp, 1
            elif nc:
                c, lsb = unsigned(~c, 32), 1
            tmp += integer(c, "s32" if final else "u32") + lsb
            tmp >>= {"": 0, ".shr7": 7, ".shr15": 15}[scale]
            return unsigned(clamp(tmp, "s32" if final else "u32") if sat else tmp, 32)
        return "vmad.%s.%s.%s%s%s%s %%d, %s%%a%s, %s%%b%s, %s%%c;" % (dt, at, bt, po, sat, scale, na, asel, nb, bsel, nc), f
    m = Module("vmad", "9.7.18.1.3", "vmad: plus one, negated operands, scales, saturation.")
    kernels(m, "vmad", 24, vmad)
    products = m

    def simd(op, lanes):
        n = 32 // lanes
        letter = "h" if lanes == 2 else "b"

        def draw():
            dt, at, bt, sat, add = r.pick(signs), r.pick(signs), r.pick(signs), choice(4, ".sat"), choice(3, ".add")
            if add or op == "vset":
                sat = ""
            wanted = [i for i in range(lanes) if r.bits(2)] or [0]
            mask = "" if len(wanted) == lanes and r.bits(1) else "." + letter + "".join(str(i) for i in reversed(wanted))
            chosen = [[r.bits(32) % (2 * lanes) for _ in range(lanes)] if r.bits(1) else list(range(base, base + lanes)) for base in (0, lanes)]
            sels = ["" if c == list(range(base, base + lanes)) and r.bits(1) else "." + letter + "".join(str(i) for i in reversed(c)) for c, base in zip(chosen, (0, lanes))]
            cmp = r.pick(list(compare))
            work = compare[cmp] if op == "vset" else basic[op]

            def f(a, b, c):
                both = a | b << 32
                t = []
                for i in range(lanes):
                    x, y = (integer(both >> n * s[i] & (1 << n) - 1, k[0] + str(n)) for s, k in zip(chosen, (at, bt)))
                    v = int(work(x, y))
                    t.append(clamp(v, dt[0] + str(n)) if sat else v)
                if add:
                    return unsigned(c + sum(t[i] for i in wanted), 32)
                return sum(unsigned(t[i] if i in wanted else c >> n * i, n) << n * i for i in range(lanes))
            if op == "vset":
                return "vset%d.%s.%s.%s%s %%d%s, %%a%s, %%b%s, %%c;" % (lanes, at, bt, cmp, add, mask, *sels), f
            return "%s%d.%s.%s.%s%s%s %%d%s, %%a%s, %%b%s, %%c;" % (op, lanes, dt, at, bt, sat, add, mask, *sels), f
        return draw
    for lanes in 2, 4:
        m = Module("video%d" % lanes, "9.7.18.2", "SIMD video instructions of %d lanes: masks, permuted elements, saturation, accumulation." % lanes)
        for op in list(basic) + ["vset"]:
            kernels(m, "%s%d" % (op, lanes), 6, simd(op, lanes))
    kernels(products, "vmad_wide", 4, lambda: vmad(wide=True))  # products that take all 64 bits


# ---------------------------------------------------------------- matrices

class Small:
    """A floating-point format of a factor: its values and exponents, by bits."""

    def __init__(self, exp, frac, special="ieee", shift=0):
        self.exp, self.frac, self.special, self.shift = exp, frac, special, shift

    def read(self, v):
        """A number, "inf", "-inf" or "nan"; and its exponent, of a subnormal the least."""
        v = v >> self.shift & (1 << self.exp + self.frac + 1) - 1
        sign = -1 if v >> self.exp + self.frac else 1
        e, m = v >> self.frac & (1 << self.exp) - 1, v & (1 << self.frac) - 1
        if self.special == "ieee" and e == (1 << self.exp) - 1:
            return ("nan" if m else "inf" if sign > 0 else "-inf"), 0
        if self.special == "nan" and e == (1 << self.exp) - 1 and m == (1 << self.frac) - 1:
            return "nan", 0
        at = max(e, 1) - (1 << self.exp - 1) + 1
        return sign * Fraction(m + (e > 0) * (1 << self.frac), 1 << self.frac) * Fraction(2) ** at, at


FACTORS = {
    "f16": Small(5, 10), "bf16": Small(8, 7), "tf32": Small(8, 10, shift=13), "f32": Small(8, 23),
    "e5m2": Small(5, 2), "e4m3": Small(4, 3, "nan"), "e3m2": Small(3, 2, ""), "e2m3": Small(2, 3, ""), "e2m1": Small(2, 1, "", 2),
}


def toward_zero(v):
    return -(-v.numerator // v.denominator) if v < 0 else v.numerator // v.denominator


def tensor_block(a, b, c, fraction, result, to, least=None):
    """c and the products of a and b, each (value, exponent), as tensor cores add them: cut to a
    number of bits after the point of the largest, or of a term with the exponent least, then
    rounded, for f32 to a number of bits of the result. See docs/tensor.md."""
    terms, infinite = [c], set()
    for (x, ex), (y, ey) in zip(a, b):
        if isinstance(x, str) or isinstance(y, str):
            if "nan" in (x, y) or 0 in (x, y):
                return to.nan
            sign = lambda v: v[0] == "-" if isinstance(v, str) else v < 0
            infinite.add(sign(x) != sign(y))
        else:
            terms.append((x * y, ex + ey))
    if c[0] == "nan":
        return to.nan
    if isinstance(c[0], str):
        infinite.add(c[0] == "-inf")
    if infinite:
        return to.nan if len(infinite) > 1 else to.inf | (to.sign if True in infinite else 0)
    least = least or {23: -133, 10: -21}[to.frac]
    unit = Fraction(2) ** (max([least] + [e for v, e in terms if v != 0]) - fraction)
    total = sum(toward_zero(v / unit) for v, _ in terms) * unit
    if total == 0:
        return 0
    if to is F16:
        v = to.round(total, "rn")
    else:
        v = to.inf | (to.sign if total < 0 else 0) if abs(total) >= Fraction(2) ** 128 else to.round(total, "rz") >> 23 - result << 23 - result
    return 0 if v == to.sign else v


# How tensor cores add, by compute capability and type: products in a block, bits after the point, bits of the
# result, and the least exponent of sums of f32 and of f16. Factors of at most 8 bits are e4m3.
ADDERS = {
    (70, "f16"): (4, 23, 23, -131, -19), (75, "f16"): (8, 24, 23, -132, -20), (90, "f16"): (16, 25, 23, -133, -21),
    (80, "tf32"): (4, 24, 23, -132, None), (90, "tf32"): (8, 25, 23, -133, None),
    (89, "e4m3"): (16, 13, 13, -132, -20), (90, "e4m3"): None, (120, "e4m3"): (32, 25, 23, -133, -21),
}
SINCE = {"bf16": 80, "tf32": 80, "e4m3": 89, "e5m2": 89, "e3m2": 120, "e2m3": 120, "e2m1": 120}


def adder_of(sm, t):
    t = {"bf16": "f16", "f16": "f16", "tf32": "tf32"}.get(t, "e4m3")
    return ADDERS[max(key for key in ADDERS if key[1] == t and key[0] <= sm)]


def narrowed(v, t):
    """A number of type t as f16, which has it."""
    x, _ = FACTORS[t].read(v)
    return {"nan": F16.nan, "inf": F16.inf, "-inf": F16.inf | F16.sign}[x] if isinstance(x, str) else F16.round(x, "rn")


def tensor_dot(a, b, c, ta, tb, tc, td, sm=86):
    """A row of A times a column of B plus an element of C, in bits, on a device of compute
    capability sm: 8.6 is the default. A missing feature is as on the first device with it."""
    sm = max(sm, SINCE.get(ta, 0), SINCE.get(tb, 0))
    how = adder_of(sm, ta)
    if how is None:  # halves of f16, and c added to their sum
        total = 0
        for rest in (0, 1), (2, 3):
            part = [k for k in range(len(a)) if k % 4 in rest]
            total = tensor_dot([narrowed(a[k], ta) for k in part], [narrowed(b[k], tb) for k in part], total, "f16", "f16", td, td, sm)
        return ieee_sum(c, total, FLOATS[td])
    if td == "f16" and tc == "f32":  # of wmma
        return converted(tensor_dot(a, b, c, ta, tb, tc, tc, sm), F32, F16)
    if td == "f32" and tc == "f16" and sm >= 75:
        c, tc = converted(c, F16, F32), td
    block, fraction, result, *least = how
    for k in range(0, len(a), block):
        x, y = [FACTORS[ta].read(v) for v in a[k:k + block]], [FACTORS[tb].read(v) for v in b[k:k + block]]
        c, tc = tensor_block(x, y, FACTORS[tc].read(c), fraction, result, FLOATS[td], least[td == "f16"]), td
    return c


def converted(v, of, to):
    if of.is_nan(v):
        return to.nan
    sign = to.sign if v & of.sign else 0
    if of.is_inf(v):
        return to.inf | sign
    return to.round(of.value(v), "rn") if of.value(v) != 0 else sign


def ieee_sum(x, y, f):
    """x + y, rounded to nearest."""
    if f.is_nan(x) or f.is_nan(y) or f.is_inf(x) and f.is_inf(y) and x != y:
        return f.nan
    if f.is_inf(x) or f.is_inf(y):
        return x if f.is_inf(x) else y
    total = f.value(x) + f.value(y)
    return f.round(total, "rn") if total != 0 else x & y & f.sign


def ieee_fma(x, y, z):
    """x y + z of f16 numbers x and y and an f32 number z, as f32."""
    if F16.is_nan(x) or F16.is_nan(y) or F32.is_nan(z):
        return F32.nan
    sign = (x ^ y) & F16.sign
    if F16.is_inf(x) or F16.is_inf(y):
        if F16.is_zero(x) or F16.is_zero(y):
            return F32.nan
        return ieee_sum(F32.inf | (F32.sign if sign else 0), z, F32)
    if F32.is_inf(z):
        return z
    total = F16.value(x) * F16.value(y) + F32.value(z)
    if total != 0:
        return F32.round(total, "rn")
    return F32.sign if sign and z == F32.sign else 0


def quarter_dot(a, b, c, tc, td, sm=86):
    """The same of mma.m8n8k4: in f32 from 8.0 on, and before as Volta does."""
    if sm < 80:
        block, fraction, result, *least = ADDERS[70, "f16"]
        return tensor_block([FACTORS["f16"].read(v) for v in a], [FACTORS["f16"].read(v) for v in b], FACTORS[tc].read(c), fraction, result, FLOATS[td], least[td == "f16"])
    start = c if tc == "f32" else converted(c, F16, F32)
    if td == "f32":
        s = 0
        for x, y in zip(a, b):
            s = ieee_fma(x, y, s)
        return ieee_sum(start, s, F32)
    for k in range(0, len(a), 2):
        first = ieee_fma(a[k], b[k], F32.sign)  # a product with its sign
        start = ieee_sum(start, ieee_fma(a[k + 1], b[k + 1], first), F32)
    return converted(start, F32, F16)


def fused_dot(a, b, c, mode):
    """The same of f64: a chain of fused multiply-adds."""
    for x, y in zip(a, b):
        if any(F64.is_nan(v) or F64.is_inf(v) for v in (x, y, c)):
            raise Unsaid
        exact = F64.value(x) * F64.value(y) + F64.value(c)
        if exact == 0:
            raise Unsaid
        c = F64.round(exact, mode)
    return c


def integer_dot(a, b, c, ta, tb, saturate):
    v = integer(c, "s32") + sum(integer(x, ta) * integer(y, tb) for x, y in zip(a, b))
    return unsigned(clamp(v, "s32") if saturate else v, 32)


def mixed(lane, index, seed):
    """What register number index holds in a lane: as the kernels compute it."""
    x = unsigned(lane * 0x9E3779B1 + seed + index * 0x85EBCA77, 32)
    x ^= x >> 15
    x = unsigned(x * 0x2C1B3C6D, 32)
    return x ^ x >> 12


def mixing(reg, index, seed="%seed"):
    return """
        add.u32 %%x, %s, 0x%x;
        mad.lo.u32 %%x, %%lane, 0x9E3779B1, %%x;
        shr.u32 %%y, %%x, 15;
        xor.b32 %%x, %%x, %%y;
        mul.lo.u32 %%x, %%x, 0x2C1B3C6D;
        shr.u32 %%y, %%x, 12;
        xor.b32 %s, %%x, %%y;""" % (seed, unsigned(index * 0x85EBCA77, 32), reg)


class Matrix:
    """An operand of mma: how many registers a lane has of it, and where its elements are
    (manual 9.7.14.5.1 to 9.7.14.5.13). Each group of four lanes has rows; a lane some
    neighbours of a row, then of the row eight below, then further along."""

    def __init__(self, rows, cols, bits, kind="", turned=False):
        self.rows, self.cols, self.bits, self.kind, self.turned = rows, cols, bits, kind, turned
        self.count = 4 if kind else 1
        self.elems = rows * cols * self.count // 32
        self.regs = self.elems * bits // max(bits, 32)

    def at(self, lane, i):
        if self.kind:  # of mma.m8n8k4 with f16: matrix, row and column
            part, low, high = lane % 16 // 4, lane % 4, lane // 16 * 4
            if self.kind == "row":
                return part, low + high, i
            if self.kind == "col":
                return part, i + high, low
            return part, (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)
        w = 2 if self.turned == "sum" else max(32 // self.bits, 1)
        tall = self.rows // 8
        return 0, lane // 4 + i // w % tall * 8, lane % 4 * w + i % w + i // w // tall * 4 * w

    def fill(self, registers):
        """The matrix that registers[lane][i] hold."""
        m = {}
        per = max(32 // self.bits, 1)
        for lane in range(32):
            for i in range(self.elems):
                at = self.at(lane, i)
                assert at not in m
                m[at] = registers[lane][i // per] >> i % per * self.bits & (1 << self.bits) - 1
        return m

    def empty(self, m):
        """The registers that hold a matrix, lane by lane."""
        per = max(32 // self.bits, 1)
        return [sum(m[self.at(lane, r * per + k)] << k * self.bits for k in range(per)) for lane in range(32) for r in range(self.regs)]


class Metadata:
    """The metadata of a sparse A of 16 rows of k elements: half of each chunk is there (manual
    9.7.14.6.1, 9.7.14.6.2)."""

    def __init__(self, k, t, bits, ordered, selector, rng):
        self.chunk = 2 if t == "tf32" else 8 if bits == 4 else 4
        self.selector, self.k, self.wide = selector, k, bits >= 16
        self.sharing = k // self.chunk // 4
        meant = [0b0100, 0b1110] if t == "tf32" else [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
        if not ordered and t != "tf32":
            meant += [0b0001, 0b0010, 0b0110, 0b0011, 0b0111, 0b1011]
        has = lambda lane: lane % 4 // self.sharing == selector  # further lanes hold values without meaning
        self.words = [sum(rng.pick(meant) << 4 * i for i in range(8)) if has(lane) else 0 for lane in range(32)]

    def columns(self, row):
        """The columns of the elements of a row, in the order in which registers hold them."""
        out = []
        for q in range(self.k // self.chunk):
            if self.wide:
                lane, at = row % 8 * 4 + (self.selector if self.sharing == 1 else 2 * self.selector + q // 4), row // 8 * 16 + q % 4 * 4
            else:
                lane, at = row % 8 * 4 + row // 8 + (2 * self.selector if self.sharing == 2 else q // 8 * 2), q % 8 * 4
            v = self.words[lane] >> at & 15
            picks = {2: [v >> 3], 4: [v & 3, v >> 2], 8: [2 * (v & 3), 2 * (v & 3) + 1, 2 * (v >> 2), 2 * (v >> 2) + 1]}[self.chunk]
            out += [q * self.chunk + i for i in picks]
        return out


class Scaling:
    """The scales of 16 rows of A and 8 columns of B, count for each (manual 9.7.14.3): bytes of
    registers, from a byte on, of the lanes that thread-id selects."""

    def __init__(self, kind, count, selectors, rng):
        self.kind, self.count = kind, count
        self.byte_a, self.thread_a, self.byte_b, self.thread_b = selectors
        pick = (lambda: rng.bits(3) + 124) if kind == "ue8m0" else (lambda: rng.bits(1) << 7 | 0x30 + rng.bits(4))
        self.a = [sum(pick() << 8 * i for i in range(4)) for _ in range(32)]
        self.b = [sum(pick() << 8 * i for i in range(4)) for _ in range(32)]

    def read(self, word, first):
        """Scales (value, exponent): the uppermost bit of ue4m3 is not looked at."""
        out = []
        for i in range(self.count):
            v = word >> 8 * (first + i) & 255
            out.append((Fraction(2) ** (v - 127), v - 127) if self.kind == "ue8m0" else FACTORS["e4m3"].read(v & 127))
        return out

    def rows(self, r):
        return self.read(self.a[r % 8 * 4 + 2 * self.thread_a + r // 8], self.byte_a)

    def cols(self, c):
        return self.read(self.b[c * 4 + self.thread_b], self.byte_b)


DOUBLED = [int(2 * Small(2, 1, "").read(v)[0]) for v in range(16)]  # twice the values


def scaled_dot(a, b, c, ta, tb, sa, sb, packed):
    """A row times a column with scales, plus c of f32: see docs/tensor.md."""
    block = lambda k: k * len(sa) // len(a)
    if not packed:
        scale = lambda v, s: v if isinstance(v[0], str) else (v[0] * s[0], v[1] + s[1])
        x = [scale(FACTORS[ta].read(v), sa[block(k)]) for k, v in enumerate(a)]
        y = [scale(FACTORS[tb].read(v), sb[block(k)]) for k, v in enumerate(b)]
        for k in range(0, len(a), 32):
            c = tensor_block(x[k:k + 32], y[k:k + 32], FACTORS["f32"].read(c), 25, 23, F32)
        return c
    x, y = [[DOUBLED[v] for v in m] for m in (a, b)]
    terms, also = [], [-139]
    for k in range(0, len(a), 16):
        (p, ep), (q, eq) = sa[block(k)], sb[block(k)]
        products = [x[i] * y[i] for i in range(k, k + 16)]
        terms.append((Fraction(sum(products), 4) * p * q, ep + eq))
        also += [ep + eq] * (any(products) and p != 0 and q != 0)  # even if they add up to zero
    return tensor_block(terms, [(Fraction(1), 0)] * len(terms), FACTORS["f32"].read(c), 35, 23, F32, max(also))


def mma_kernel(module, name, opcode, shape, types, container=0, layouts=("row", "col"), cases=(), dot=None, meta=None, scaling=None, sms=()):
    """A kernel with one mma, whose registers are mixed of the lane's number and a seed, with some
    bits cleared (and) and set (or): cases are those pairs, of A, B and C. dot is the function of a
    row, a column and an element, with scaling also of their scales; meta makes the metadata of a
    sparse A; sms lists the compute capabilities of the cases' devices, which dot also gets."""
    m, n, k = shape
    td, ta, tb, tc = types
    bits = container or (1 if ta == "b1" else 32 if ta == "tf32" else int("".join(c for c in ta if c.isdigit())) if ta[0] in "sufb" else 8)
    width_of = lambda t: int(t[1:])
    if m == 8 and ta == "f16":
        a, b = Matrix(8, 4, 16, layouts[0]), Matrix(8, 4, 16, "row" if layouts[1] == "col" else "col")
        kinds = {"f16": "row", "f32": "sum"}
        c, d = Matrix(8, 8, width_of(tc), kinds[tc]), Matrix(8, 8, width_of(td), kinds[td])
    else:
        a, b = Matrix(m, k // 2 if meta else k, bits), Matrix(n, k, bits)
        c, d = Matrix(m, n, width_of(tc), turned="sum"), Matrix(m, n, width_of(td), turned="sum")
    extra = (", .param .u64 meta" if meta else "") + (", .param .u64 sa, .param .u64 sb" if scaling else "")
    text = [".visible .entry %s(.param .u32 seed, %s%s, .param .u64 out)" % (name, ", ".join(".param .u32 %s%s" % (o, w) for o in "abc" for w in ("and", "or")), extra), "{",
            "\t.reg .u32 %lane, %seed, %x, %y, %and, %or, %l;", "\t.reg .u64 %p;"]
    reg = lambda o, x: ".reg .f64" if x.bits == 64 else ".reg .%s" % {"c": tc, "d": td}.get(o, "b32") if x.bits == 32 and o in "cd" else ".reg .b32"
    for o, x in zip("abcd", (a, b, c, d)):
        text.append("\t%s %%%s<%d>;" % (reg(o, x), o, x.regs))
    body = "mov.u32 %lane, %laneid;\nld.param.u32 %seed, [seed];\n"
    index, first = 0, {}
    for o, x in zip("abc", (a, b, c)):
        body += "ld.param.u32 %%and, [%sand];\nld.param.u32 %%or, [%sor];\n" % (o, o)
        first[o] = index
        for r in range(x.regs):
            body += mixing("%x", index) + "\nand.b32 %x, %x, %and;\nor.b32 %x, %x, %or;\n"
            index += 1
            if x.bits == 64:
                body += "mov.b32 %l, %x;\n" + mixing("%x", index) + "\nmov.b64 %%%s%d, {%%x, %%l};\n" % (o, r)
                index += 1
            else:
                body += "mov.b32 %%%s%d, %%x;\n" % (o, r)
    vector = lambda o, x: "{%s}" % ", ".join("%%%s%d" % (o, i) for i in range(x.regs))
    rest = ""
    if meta:
        data = meta(bits, Random(len(name) * 31 + k))
        text.append("\t.reg .b32 %e;")
        body += "ld.param.u64 %p, [meta];\nmad.wide.u32 %p, %lane, 4, %p;\nld.global.b32 %e, [%p];\n"
        rest = ", %%e, %d" % data.selector
    if scaling:
        scales = scaling(Random(len(name) * 17 + k))
        text += ["\t.reg .b32 %sa, %sb;", "\t.reg .u16 %ba, %tb;"]
        for o in ("sa", "sb"):
            body += "ld.param.u64 %%p, [%s];\nmad.wide.u32 %%p, %%lane, 4, %%p;\nld.global.b32 %%%s, [%%p];\n" % (o, o)
        body += "mov.u16 %%ba, %d;\nmov.u16 %%tb, %d;\n" % (scales.byte_a, scales.thread_b)
        rest += ", %%sa, {%%ba, %d}, %%sb, {%d, %%tb}" % (scales.thread_a, scales.byte_b)
    body += "%s %s, %s, %s, %s%s;\n" % (opcode, vector("d", d), vector("a", a), vector("b", b), vector("c", c), rest)
    size = max(d.bits, 32) // 8
    body += "ld.param.u64 %%p, [out];\nmad.wide.u32 %%p, %%lane, %d, %%p;\n" % (size * d.regs)
    body += "".join("st.global.b%d [%%p+%d], %%d%d;\n" % (8 * size, i * size, i) for i in range(d.regs)) + "ret;"
    text += ["\t" + line.strip() for line in body.split("\n") if line.strip()] + ["}"]
    for number, case in enumerate(cases):
        seed = number * 1000003 + len(name)
        sm = sms[number] if sms else 0
        on = {"sm": sm} if sm else {}
        held = {}
        for o, x, (keep, put) in zip("abc", (a, b, c), case):
            index = first[o]
            held[o] = [[] for _ in range(32)]
            for _ in range(x.regs):
                for lane in range(32):
                    v = mixed(lane, index, seed) & keep | put
                    held[o][lane].append(v << 32 | mixed(lane, index + 1, seed) if x.bits == 64 else v)
                index += 2 if x.bits == 64 else 1
        ma, mb, mc = a.fill(held["a"]), b.fill(held["b"]), c.fill(held["c"])
        md = {}
        try:
            for part, row, col in mc:
                at = data.columns(row) if meta else range(k)
                more = (scales.rows(row), scales.cols(col)) if scaling else ()
                md[part, row, col] = dot([ma[part, row, i] for i in range(len(at))], [mb[part, col, i] for i in at], mc[part, row, col], *more, **on)
        except Unsaid:
            continue
        want = list_text(d.empty(md), "u%d" % (8 * size))
        more = "".join(", u32{%s}" % list_text(w, "u32") for w in ([data.words] if meta else []) + ([scales.a, scales.b] if scaling else []))
        text.append("// run block=32%s: %s(%d, %s%s) == u%d %s" % (" sm=%d" % sm if sm else "", name, seed, ", ".join("0x%x, 0x%x" % (w & 0xffffffff, o) for w, o in case), more, 8 * size, want))
    module.add("\n".join(text))


def gen_mma():
    every = (0xFFFFFFFF, 0)
    near = {  # signs and fractions of any value, exponents of a few
        "f16": (0x8FFF8FFF, 0x30003000), "bf16": (0x81FF81FF, 0x3E003E00), "tf32": (0x81FFFFFF, 0x3E000000), "f32": (0x83FFFFFF, 0x3C000000),
        "e4m3": (0xBFBFBFBF, 0), "e5m2": (0xBFBFBFBF, 0), "e3m2": every, "e2m3": every, "e2m1": every,
    }
    wide = {"f16": (0xBFFFBFFF, 0), "bf16": (0x9FFF9FFF, 0x20002000), "tf32": (0x9FFFFFFF, 0x20000000), "f32": (0x9FFFFFFF, 0x20000000)}

    def float_cases(ta, tb, tc):
        pick = lambda *tables: [next(x[t] for x in tables if t in x) for t in (ta, tb, tc)]
        return [pick(near), pick(wide, near), [every] * 3, [near[ta], near[tb], wide.get(tc, every)]]

    m = Module("mma_half", "9.7.14.5.14", "mma of f16, bf16 and tf32", "8.8")
    for al, bl in cross(["row", "col"], ["row", "col"]):
        for td, tc in (("f32", "f32"), ("f16", "f16"), ("f32", "f16")):
            if (al, bl) != ("row", "col") and (td, tc) == ("f32", "f16"):
                continue
            cases = float_cases("f16", "f16", tc)
            mma_kernel(m, "m8n8k4_%s_%s_%s_%s" % (al, bl, td, tc), "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s" % (al, bl, td, tc), (8, 8, 4), (td, "f16", "f16", tc),
                       layouts=(al, bl), cases=cases[:2], dot=lambda a, b, c, tc=tc, td=td: quarter_dot(a, b, c, tc, td))
    for k, t, tc in ((8, "f16", "f32"), (8, "f16", "f16"), (16, "f16", "f32"), (16, "f16", "f16"), (8, "bf16", "f32"), (16, "bf16", "f32"), (4, "tf32", "f32"), (8, "tf32", "f32")):
        mma_kernel(m, "m16n8k%d_%s_%s" % (k, t, tc), "mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s" % (k, tc, t, t, tc), (16, 8, k), (tc, t, t, tc),
                   cases=float_cases(t, t, tc), dot=lambda a, b, c, t=t, tc=tc: tensor_dot(a, b, c, t, t, tc, tc))

    m = Module("mma_narrow", "9.7.14.5.14", "mma of floats of 8 and fewer bits", "8.8", "sm_120a")
    for k, ta, tb, tc in ((16, "e4m3", "e4m3", "f32"), (16, "e5m2", "e4m3", "f16"), (32, "e4m3", "e4m3", "f32"), (32, "e4m3", "e5m2", "f32"), (32, "e5m2", "e5m2", "f16")):
        mma_kernel(m, "m16n8k%d_%s_%s_%s" % (k, ta, tb, tc), "mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s" % (k, tc, ta, tb, tc), (16, 8, k), (tc, ta, tb, tc),
                   cases=float_cases(ta, tb, tc)[::2], dot=lambda a, b, c, ta=ta, tb=tb, tc=tc: tensor_dot(a, b, c, ta, tb, tc, tc))
    for ta, tb, tc in (("e3m2", "e2m3", "f32"), ("e2m1", "e4m3", "f32"), ("e2m3", "e2m1", "f16"), ("e2m1", "e2m1", "f32")):
        mma_kernel(m, "f8f6f4_%s_%s_%s" % (ta, tb, tc), "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.%s.%s.%s.%s" % (tc, ta, tb, tc), (16, 8, 32), (tc, ta, tb, tc), container=8,
                   cases=float_cases(ta, tb, tc)[:1], dot=lambda a, b, c, ta=ta, tb=tb, tc=tc: tensor_dot(a, b, c, ta, tb, tc, tc))

    m = Module("mma_generations", "9.7.14.5.14", "mma of floats, as generations of devices add them", "8.8", "sm_120a")

    def generations(shape, ta, tb, tc, sms, masks=None):
        name = "m%dn%dk%d_%s_%s_%s%s" % (shape + (ta, tb, tc, "_tiny" if masks else ""))
        dot = (lambda a, b, c, sm: quarter_dot(a, b, c, tc, tc, sm)) if shape == (8, 8, 4) else lambda a, b, c, sm: tensor_dot(a, b, c, ta, tb, tc, tc, sm)
        mma_kernel(m, name, "mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s" % (shape + (tc, ta, tb, tc)), shape, (tc, ta, tb, tc),
                   cases=[masks or float_cases(ta, tb, tc)[0]] * len(sms), dot=dot, sms=sms)

    for tc in "f32", "f16":
        generations((8, 8, 4), "f16", "f16", tc, (70, 75, 90))
        generations((16, 8, 8), "f16", "f16", tc, (75, 90))
        generations((16, 8, 16), "f16", "f16", tc, (90, 120))
        generations((16, 8, 16), "e5m2", "e4m3", tc, (90, 120))
        generations((16, 8, 32), "e4m3", "e5m2", tc, (89, 90, 103, 120))
    generations((16, 8, 4), "tf32", "tf32", "f32", (90,))
    generations((16, 8, 8), "tf32", "tf32", "f32", (90,))
    # Products of about 2^-149, all of which are below the least exponent.
    generations((16, 8, 16), "bf16", "bf16", "f32", (80, 90), masks=[(0x81FF81FF, 0x1A001A00)] * 2 + [(0, 0)])

    m = Module("mma_int", "9.7.14.5.14", "mma of integers and bits", "8.8")
    for shape, pairs in (((8, 8, 16), "8"), ((16, 8, 16), "8"), ((16, 8, 32), "8"), ((8, 8, 32), "4"), ((16, 8, 32), "4"), ((16, 8, 64), "4")):
        for ta, tb in cross(["s" + pairs, "u" + pairs], ["s" + pairs, "u" + pairs]):
            if shape[:2] == (8, 8) or ta == tb or shape[2] == 32:
                for sat in ("", ".satfinite"):
                    mma_kernel(m, "m%dn%dk%d_%s_%s%s" % (shape + (ta, tb, sat.replace(".", "_"))), "mma.sync.aligned.m%dn%dk%d.row.col%s.s32.%s.%s.s32" % (shape + (sat, ta, tb)), shape, ("s32", ta, tb, "s32"),
                               cases=[[every] * 3] if not sat else [[every, every, (0x800003FF, 0x7FFFFC00)]], dot=lambda a, b, c, ta=ta, tb=tb, sat=sat: integer_dot(a, b, c, ta, tb, sat))
    for shape in ((8, 8, 128), (16, 8, 128), (16, 8, 256)):
        for op, f in (("xor", lambda x, y: x ^ y), ("and", lambda x, y: x & y)):
            mma_kernel(m, "m%dn%dk%d_%s" % (shape + (op,)), "mma.sync.aligned.m%dn%dk%d.row.col.s32.b1.b1.s32.%s.popc" % (shape + (op,)), shape, ("s32", "b1", "b1", "s32"),
                       cases=[[every] * 3], dot=lambda a, b, c, f=f: unsigned(c + sum(map(f, a, b)), 32))

    m = Module("mma_f64", "9.7.14.5.14", "mma of f64", "8.8")
    finite = (0x803FFFFF, 0x3FC00000)
    for shape in ((8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)):
        for rnd in ("",) + ROUNDINGS if shape == (8, 8, 4) else ("", "rz"):
            mma_kernel(m, "m%dn%dk%d%s" % (shape + (rnd and "_" + rnd,)), "mma.sync.aligned.m%dn%dk%d.row.col%s.f64.f64.f64.f64" % (shape + (rnd and "." + rnd,)), shape, ("f64",) * 4,
                       cases=[[finite] * 3], dot=lambda a, b, c, rnd=rnd or "rn": fused_dot(a, b, c, rnd))


    m = Module("mma_sparse", "9.7.14.6.3", "mma.sp", "8.8", "sm_120a")

    def sparse(k, ta, tb, tc, selector, ordered, kind="", container=0, sat=""):
        integers = tc == "s32"
        dot = (lambda a, b, c: integer_dot(a, b, c, ta, tb, sat)) if integers else (lambda a, b, c: tensor_dot(a, b, c, ta, tb, tc, tc))
        cases = [[every, every, (0x800003FF, 0x7FFFFC00) if sat else every]] if integers else float_cases(ta, tb, tc)[:1]
        mma_kernel(m, "m16n8k%d_%s%s_%s_%s_%d%s" % (k, kind and "f8f6f4_", ta, tb, tc, selector, "_ordered" if ordered else ""),
                   "mma.sp%s.sync.aligned.m16n8k%d.row.col%s%s.%s.%s.%s.%s" % ("::ordered_metadata" if ordered else "", k, kind, sat, tc, ta, tb, tc), (16, 8, k), (tc, ta, tb, tc), container=container,
                   cases=cases, dot=dot, meta=lambda bits, rng: Metadata(k, ta, bits, ordered, selector, rng))

    sparse(16, "f16", "f16", "f32", 2, False)
    sparse(16, "bf16", "bf16", "f32", 1, True)
    sparse(32, "f16", "f16", "f16", 1, True)
    sparse(32, "bf16", "bf16", "f32", 0, False)
    sparse(8, "tf32", "tf32", "f32", 3, False)
    sparse(16, "tf32", "tf32", "f32", 1, True)
    sparse(64, "e4m3", "e5m2", "f32", 0, False)
    sparse(64, "e5m2", "e4m3", "f16", 0, True)
    sparse(64, "e2m1", "e3m2", "f32", 0, True, kind=".kind::f8f6f4", container=8)
    sparse(32, "s8", "u8", "s32", 1, False)
    sparse(64, "u8", "s8", "s32", 0, True, sat=".satfinite")
    sparse(64, "s4", "s4", "s32", 1, True)
    sparse(128, "u4", "s4", "s32", 0, False)

    m = Module("mma_scale", "9.7.14.3", "mma with block_scale", "9.1", "sm_120a")

    def scaled(kind, ta, tb, stype, count, selectors, written=True, ordered=False):
        packed = kind != "mxf8f6f4"
        k = (64 if packed else 32) * (2 if ordered else 1)
        mma_kernel(m, "%s_%s_%s_%s_%dX%s" % (kind, ta, tb, stype, count, "_sparse" if ordered else ""),
                   "mma%s.sync.aligned.m16n8k%d.row.col.kind::%s.block_scale%s.f32.%s.%s.f32.%s" % (".sp::ordered_metadata" if ordered else "", k, kind, ".scale_vec::%dX" % count if written else "", ta, tb, stype),
                   (16, 8, k), ("f32", ta, tb, "f32"), container=4 if packed else 8, cases=[[near[ta], near[tb], (0x87FFFFFF, 0x3C000000)]],
                   dot=lambda a, b, c, sa, sb: scaled_dot(a, b, c, ta, tb, sa, sb, packed),
                   meta=(lambda bits, rng: Metadata(k, ta, bits, True, 0, rng)) if ordered else None, scaling=lambda rng: Scaling(stype, count, selectors, rng))

    scaled("mxf8f6f4", "e4m3", "e5m2", "ue8m0", 1, (0, 0, 0, 0), written=False)
    scaled("mxf8f6f4", "e2m1", "e3m2", "ue8m0", 1, (3, 1, 2, 3))
    scaled("mxf4", "e2m1", "e2m1", "ue8m0", 2, (2, 1, 0, 2), written=False)
    scaled("mxf4nvf4", "e2m1", "e2m1", "ue8m0", 2, (0, 0, 2, 1))
    scaled("mxf4nvf4", "e2m1", "e2m1", "ue8m0", 4, (0, 1, 0, 3))
    scaled("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4, (0, 0, 0, 0))
    scaled("mxf8f6f4", "e5m2", "e2m3", "ue8m0", 1, (1, 1, 3, 1), ordered=True)
    scaled("mxf4", "e2m1", "e2m1", "ue8m0", 2, (0, 1, 2, 0), ordered=True)
    scaled("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4, (0, 1, 0, 2), ordered=True)


class Stored:
    """A matrix in memory: elements of some bits, its rows or columns a stride apart."""

    def __init__(self, rows, cols, bits, layout, extra, rng, keep, put):
        self.rows, self.cols, self.bits, self.layout = rows, cols, bits, layout
        self.lines, self.length = (rows, cols) if layout == "row" else (cols, rows)
        self.stride = self.length + extra
        self.cells = [rng.bits(bits) & keep | put for _ in range(self.lines * self.stride)]

    def place(self, r, c):
        return r * self.stride + c if self.layout == "row" else c * self.stride + r

    def at(self, r, c):
        return self.cells[self.place(r, c)]

    def text(self):
        """The buffer of a case."""
        bits, cells = self.bits, self.cells
        if bits < 8:
            per = 8 // bits
            bits, cells = 8, [sum(v << i * bits for i, v in enumerate(cells[k:k + per])) for k in range(0, len(cells), per)]
        return "u%d{%s}" % (bits, list_text(cells, "u%d" % bits))


def wmma_kernel(module, name, shape, types, layouts, extras, masks, dot, opcode="wmma.mma.sync.aligned", suffix="", kinds=None, spaces=("", ".global", "", ".global"), scale=False):
    """D = A·B + C by wmma, whose matrices are in memory with the given layouts and extra strides,
    None for the default of an accumulator; dot as in mma_kernel."""
    m, n, k = shape
    td, ta, tb, tc = types
    bits = lambda t: 1 if t == "b1" else 32 if t == "tf32" else int(t.lstrip("bfsu"))
    rng = Random(len(name) * 7919 + m * n + k)
    sizes = ((m, k), (k, n), (m, n), (m, n))
    fields = [Stored(r, c, bits(t), l, e or 0, rng, keep, put) for (r, c), t, l, e, (keep, put) in zip(sizes, (ta, tb, tc, td), layouts, extras, masks + [(0, 0)])]
    a, b, c, d = fields
    regs = [max(r * cc * bits(t) // 32 // max(bits(t), 32), 1) for (r, cc), t in zip(sizes, (ta, tb, tc, td))]
    if ta == "f16":
        regs[:2] = 8, 8
    shaped = "m%dn%dk%d" % shape
    text = [".visible .entry %s(%s, .param .u64 out)" % (name, ", ".join(".param .u64 p" + o for o in "abc")), "{", "\t.reg .u64 %p, %shared;", "\t.reg .u32 %s, %l;", "\t.reg .b64 %x, %y;"]
    kind = lambda t: t if t in ("f64", "f32", "s32") else "b32"
    for o, t, count in zip("abcd", (ta, tb, tc, td), regs):
        text.append("\t.reg .%s %%%s<%d>;" % (kind(t), o, count))
    vector = lambda o, count: "{%s}" % ", ".join("%%%s%d" % (o, i) for i in range(count))
    body = []

    def stride(o, x, extra):
        if extra is None:
            return ""
        if o in "ad":  # in a register
            body.append("mov.u32 %%s, %d;" % x.stride)
            return ", %s"
        return ", %d" % x.stride

    for o, x, t, count, e, space in zip("abc", fields, (ta, tb, tc), regs, extras, spaces):
        body.append("ld.param.u64 %%p, [p%s];" % o)
        where = "[%p]"
        if space == ".shared":  # copied there, eight bytes at a time
            size = len(x.cells) * x.bits // 8
            text.append("\t.shared .align 32 .b8 tile_%s[%d];" % (o, size))
            body += ["mov.u32 %l, %laneid;", "mul.lo.u32 %l, %l, 8;", "cvt.u64.u32 %y, %l;", "add.u64 %p, %p, %y;", "mov.u64 %%shared, tile_%s;" % o, "add.u64 %shared, %shared, %y;"]
            for at in range(0, size, 256):
                body += ["ld.global.b64 %%x, [%%p+%d];" % at, "st.shared.b64 [%%shared+%d], %%x;" % at]
            body.append("bar.sync 0;")
            where = "[tile_%s]" % o
        s = stride(o, x, e)
        body.append("wmma.load.%s.sync.aligned.%s.%s%s.%s %s, %s%s;" % (o, x.layout, shaped, space, t, vector(o, count), where, s))
    if scale:
        body += ["add.f32 %%c%d, %%c%d, %%c%d;" % (i, i, i) for i in range(regs[2])]
    mid = "%s.%s" % (td, tc) if ta == "f16" else ".".join(types)
    if ta != "b1":
        shaped += suffix if ta == "f64" else ""
        mid += suffix if ta != "f64" else ""
    body.append("%s.%s.%s.%s.%s %s, %s, %s, %s;" % (opcode, layouts[0], layouts[1], shaped, mid, vector("d", regs[3]), vector("a", regs[0]), vector("b", regs[1]), vector("c", regs[2])))
    body.append("ld.param.u64 %p, [out];")
    s = stride("d", d, extras[3])
    body.append("wmma.store.d.sync.aligned.%s.m%dn%dk%d%s.%s [%%p], %s%s;" % ((layouts[3],) + shape + (spaces[3], td, vector("d", regs[3]), s)))
    body.append("ret;")
    text += ["\t" + line for line in body] + ["}"]
    d.cells = [int("a5" * (d.bits // 8), 16)] * len(d.cells)  # which result buffers begin with
    for r in range(m):
        for cc in range(n):
            e = c.at(r, cc)
            if scale:
                e = F32.round(2 * F32.value(e), "rn")
            d.cells[d.place(r, cc)] = dot([a.at(r, i) for i in range(k)], [b.at(i, cc) for i in range(k)], e)
    last = (d.lines - 1) * d.stride + d.length
    text.append("// run block=32: %s(%s) == u%d %s" % (name, ", ".join(x.text() for x in fields[:3]), d.bits, list_text(d.cells[:last], "u%d" % d.bits)))
    module.add("\n".join(text))


def fragment_kernel(module, name, shape, matrix, layout, t, at):
    """The registers of wmma.load: memory holds a different number at every place, and element i of
    a lane is the element in row and column at(lane, i)."""
    m, n, k = shape
    rows, cols = {"a": (m, k), "b": (k, n), "c": (m, n)}[matrix]
    bits = int(t.lstrip("bfsu"))
    x = Stored(rows, cols, bits, layout, 0, Random(rows), 0, 0)
    x.cells = [(i * 37 + 11) % (1 << min(bits, 16)) for i in range(len(x.cells))]
    per = 32 // bits
    regs = 8 if t == "f16" and matrix != "c" else rows * cols * bits // 1024
    kind = t if t in ("f32", "s32") else "b32"
    text = [".visible .entry %s(.param .u64 pa, .param .u64 out)" % name, "{", "\t.reg .u64 %p;", "\t.reg .u32 %lane;", "\t.reg .%s %%d<%d>;" % (kind, regs),
            "\tmov.u32 %lane, %laneid;", "\tld.param.u64 %p, [pa];",
            "\twmma.load.%s.sync.aligned.%s.m%dn%dk%d.global.%s {%s}, [%%p];" % ((matrix, layout) + shape + (t, ", ".join("%%d%d" % i for i in range(regs)))),
            "\tld.param.u64 %p, [out];", "\tmad.wide.u32 %%p, %%lane, %d, %%p;" % (4 * regs)]
    text += ["\tst.global.%s [%%p+%d], %%d%d;" % (kind, 4 * i, i) for i in range(regs)] + ["\tret;", "}"]
    want = [sum(x.at(*at(lane, r * per + i)) << i * bits for i in range(per)) for lane in range(32) for r in range(regs)]
    text.append("// run block=32: %s(%s) == u32 %s" % (name, x.text(), list_text(want, "u32")))
    module.add("\n".join(text))


def gen_wmma():
    m = Module("wmma", "9.7.14.4", "wmma", "8.8")
    f16, bf16, tf32, f32 = (0x8FFF, 0x3000), (0x81FF, 0x3E00), (0x81FFFFFF, 0x3E000000), (0x83FFFFFF, 0x3C000000)
    f64 = (0x803FFFFFFFFFFFFF, 0x3FC0000000000000)
    accumulator = {"f16": f16, "f32": f32}
    square, wide, tall = (16, 16, 16), (8, 32, 16), (32, 8, 16)
    for name, shape, t, td, tc, layouts, extras, spaces in (
            ("f16_square", square, "f16", "f32", "f32", "row col row row", (8, None, 4, 12), ("", ".global", "", ".global")),
            ("f16_square_shared", square, "f16", "f16", "f16", "col row col row", (None, None, None, None), ("", ".shared", ".global", "")),
            ("f16_wide", wide, "f16", "f16", "f32", "row row row col", (None, 8, None, 8), ("", "", "", "")),
            ("f16_tall", tall, "f16", "f32", "f16", "col col col row", (8, None, 8, None), (".global", "", "", "")),
            ("bf16_square", square, "bf16", "f32", "f32", "row col col col", (None, None, None, None), ("", "", "", "")),
            ("bf16_wide", wide, "bf16", "f32", "f32", "col row row row", (None, None, None, None), ("", "", "", "")),
            ("tf32_row", (16, 16, 8), "tf32", "f32", "f32", "row col row row", (4, None, None, None), ("", "", "", "")),
            ("tf32_col", (16, 16, 8), "tf32", "f32", "f32", "col row col col", (None, 4, None, None), ("", "", "", ""))):
        factor = {"f16": f16, "bf16": bf16, "tf32": tf32}[t]
        wmma_kernel(m, name, shape, (td, t, t, tc), layouts.split(), extras, [factor, factor, accumulator[tc]],
                    lambda a, b, c, t=t, td=td, tc=tc: tensor_dot(a, b, c, t, t, tc, td), spaces=spaces, scale=name == "bf16_square")
    for name, layouts, rnd in (("f64_row", "row col row col", ""), ("f64_col", "col row col row", "rz")):
        wmma_kernel(m, name, (8, 8, 4), ("f64",) * 4, layouts.split(), (None, 2, None, None), [f64] * 3, lambda a, b, c, rnd=rnd or "rn": fused_dot(a, b, c, rnd), suffix=rnd and "." + rnd)
    every = lambda n: ((1 << n) - 1, 0)
    large = (0x800003FF, 0x7FFFFC00)
    for name, shape, t, layouts, sat in (("s8_square", square, "s8", "row col row col", ""), ("u8_tall", tall, "u8", "col row col row", ".satfinite"), ("s8_wide", wide, "s8", "row row row row", ""),
                                         ("s4", (8, 8, 32), "s4", "row col row row", ""), ("u4", (8, 8, 32), "u4", "row col col row", ".satfinite")):
        wmma_kernel(m, name, shape, ("s32", t, t, "s32"), layouts.split(), (16 if t == "s8" else None, None, None, None), [every(width(t))] * 2 + [large if sat else every(32)],
                    lambda a, b, c, t=t, sat=sat: integer_dot(a, b, c, t, t, sat), suffix=sat)
    for op, f in (("xor", lambda x, y: x ^ y), ("and", lambda x, y: x & y)):
        wmma_kernel(m, "b1_" + op, (8, 8, 128), ("s32", "b1", "b1", "s32"), ["row", "col", "row", "col"], (128, None, None, None), [every(1)] * 2 + [every(32)],
                    lambda a, b, c, f=f: unsigned(c + sum(map(f, a, b)), 32), opcode="wmma.mma.%s.popc.sync.aligned" % op)

    # Fragments of sm_80 and later, which equal the fragments of mma: see docs/tensor.md.
    fragment_kernel(m, "fragment_a", square, "a", "row", "f16", lambda l, i: (l // 4 + i // 2 % 2 * 8, l % 4 * 2 + i % 2 + i // 4 % 2 * 8))
    fragment_kernel(m, "fragment_b", square, "b", "col", "f16", lambda l, i: (l % 4 * 2 + i % 2 + i // 2 % 2 * 8, l // 4 + i // 4 % 2 * 8))
    fragment_kernel(m, "fragment_c", square, "c", "row", "f32", lambda l, i: (l // 4 + i // 2 % 2 * 8, l % 4 * 2 + i % 2 + i // 4 * 8))
    fragment_kernel(m, "fragment_wide_c", wide, "c", "col", "s32", lambda l, i: (l % 4 * 2 + i % 2, l // 4 + i // 2 * 8))
    fragment_kernel(m, "fragment_tall_a", tall, "a", "row", "s8", lambda l, i: (l // 4 + i // 4 * 8, l % 4 * 4 + i % 4))
# How tensor cores add for a warpgroup, which only compute capability 9.0 has, as ADDERS has it: see
# docs/tensor.md.
GROUP_ADDERS = {"f16": (16, 25, 23, -133, -21), "tf32": (8, 25, 23, -133, None), "e4m3": (32, 13, 13, -133, -21)}


@functools.cache
def factor(t, v):
    return FACTORS[t].read(v)


def group_dot(a, b, c, ta, tb, td):
    """A row of A times a column of B plus an element of D, in bits."""
    block, fraction, result, *least = GROUP_ADDERS[{"bf16": "f16", "f16": "f16", "tf32": "tf32"}.get(ta, "e4m3")]
    for k in range(0, len(a), block):
        x, y = [factor(ta, v) for v in a[k:k + block]], [factor(tb, v) for v in b[k:k + block]]
        c = tensor_block(x, y, FACTORS[td].read(c), fraction, result, FLOATS[td], least[td == "f16"])
    return c


def descriptor(start, lead, stride, swizzle, base=0):
    """A matrix descriptor (manual 9.7.15.5.1.2.2); swizzle is the bytes of a row of the pattern."""
    return start >> 4 | lead >> 4 << 16 | stride >> 4 << 32 | base << 49 | {16: 0, 128: 1, 64: 2, 32: 3}[swizzle] << 62


def shared_place(desc, row, col, bits, across):
    """The bit where an element of a matrix is that lies in shared memory, with rows of its
    elements side by side or, across, columns: in units of 16 bytes, eight of which are below
    each other in an atom, a row of the swizzling pattern apart."""
    field = lambda at: (desc >> at & 0x3FFF) << 4
    width, lead, stride = (16, 128, 64, 32)[desc >> 62], field(16), field(32)
    per = 128 // bits
    if across:
        line, block, unit, within = col % 8, col // 8, row // per, row % per
        step = (block * lead, unit * stride) if width == 16 else (block * stride, unit * 16 // width * lead + unit * 16 % width)
    else:
        line, block, unit, within = row % 8, row // 8, col // per, col % per
        step = (block * stride, unit * (lead if width == 16 else 16))
    at = field(0) + line * width + sum(step)
    if width > 16:
        at ^= ((at >> 7) - (desc >> 49 & 7)) % (width // 16) << 4
    return at * 8 + within * bits


SHARED_WORDS = 4096


class Sparse:
    """The metadata of A: the stored elements (manual 9.7.15.6): of a pair of threads, or of all
    four of a group for elements of 8 bits. A chunk has four bits of it: two of two for the first
    and the second of four elements; of tf32 one of two values."""

    def __init__(self, selector=0):
        self.selector = selector

    def words(self, bits, seed):
        valid = [0b0100, 0b1110] if bits == 32 else [second << 2 | first for first in range(4) for second in range(4) if first != second]
        return [sum(valid[(mixed(t, 2000, seed) >> 3 * i) % len(valid)] << 4 * i for i in range(8)) for t in range(128)]

    def columns(self, bits, words, warp, row, k):
        """Where the stored elements of a row of a warp are."""
        quad = words[32 * warp + row % 8 * 4:][:4]
        high = row >= 8
        if bits == 8:
            all = quad[high] | quad[2 + high] << 32
        else:
            all = quad[2 * self.selector] >> 16 * high & 0xFFFF | (quad[2 * self.selector + 1] >> 16 * high & 0xFFFF) << 16
        if bits == 32:
            return [2 * i + {0b0100: 0, 0b1110: 1}[all >> 4 * i & 15] for i in range(k // 2)]
        return [4 * (i // 2) + (all >> 2 * i & 3) for i in range(k // 2)]


def wgmma_kernel(module, name, opcode, n, k, types, registers=False, trans=(0, 0), signs=None, cases=(), dot=None, sparse=None, unless=False):
    """A kernel with a single wgmma.mma_async, with unless by a negated predicate. Shared memory is
    full of words that are mixed of their number and a seed, with some bits cleared and set, and so
    are registers; cases are the descriptors, those pairs for shared memory, A in registers and D,
    and whether D is added. Each thread leaves a number made of all its registers of D."""
    td, ta, tb = types
    bits = 1 if ta == "b1" else 32 if ta == "tf32" else int("".join(c for c in ta if c.isdigit())) if ta[0] in "sufb" else 8
    width_of = int(td[1:])
    regs = 16 * n // 32 * width_of // 32
    text = [".visible .entry %s(.param .u32 seed, .param .u64 da, .param .u64 db, %s, .param .u32 add, .param .u64 out)" % (name, ", ".join(".param .u32 %s%s" % (o, w) for o in "sad" for w in ("and", "or")) + (", .param .u64 meta" if sparse else "")), "{",
            "\t.shared .align 1024 .b8 s[%d];" % (4 * SHARED_WORDS), "\t.reg .u32 %m, %t, %lane, %seed, %x, %y, %and, %or, %s, %h;", "\t.reg .u64 %p, %da, %db;", "\t.reg .pred %q, %add;",
            "\t.reg .%s %%d<%d>;" % ("b32" if width_of == 16 else td, regs), "\t.reg .b32 %a<4>;"]
    body = """
        mov.u32 %t, %tid.x;
        ld.param.u32 %seed, [seed];
        ld.param.u32 %and, [sand];
        ld.param.u32 %or, [sor];
        mov.u32 %lane, %t;
        mov.u32 %s, s;
        mad.lo.u32 %s, %t, 4, %s;
        fill:""" + mixing("%x", 1000) + """
        and.b32 %%x, %%x, %%and;
        or.b32 %%x, %%x, %%or;
        st.shared.u32 [%%s], %%x;
        add.u32 %%lane, %%lane, 128;
        add.u32 %%s, %%s, 512;
        setp.lt.u32 %%q, %%lane, %d;
        @%%q bra fill;
        mov.u32 %%lane, %%t;""" % SHARED_WORDS
    index = {"a": 0, "d": 4}
    for o, count in (("a", 4 if registers else 0), ("d", regs)):
        body += "\nld.param.u32 %%and, [%sand];\nld.param.u32 %%or, [%sor];\n" % (o, o) if count else ""
        for r in range(count):
            body += mixing("%x", index[o] + r) + "\nand.b32 %%x, %%x, %%and;\nor.b32 %%x, %%x, %%or;\nmov.b32 %%%s%d, %%x;\n" % (o, r)
    body += """
        mov.u32 %s, s;
        shr.u32 %s, %s, 4;
        cvt.u64.u32 %p, %s;
        ld.param.u64 %da, [da];
        add.u64 %da, %da, %p;
        ld.param.u64 %db, [db];
        add.u64 %db, %db, %p;
        ld.param.u32 %x, [add];
        setp.ne.u32 %add, %x, 0;
        """ + ("ld.param.u64 %p, [meta];\nmad.wide.u32 %p, %t, 4, %p;\nld.global.u32 %m, [%p];" if sparse else "") + """
        fence.proxy.async;
        bar.sync 0;
        wgmma.fence.sync.aligned;
        """
    vector = lambda o, count: "{%s}" % ", ".join("%%%s%d" % (o, i) for i in range(count))
    operands = [vector("d", regs), vector("a", 4) if registers else "%da", "%db"] + (["%m", str(sparse.selector)] if sparse else []) + ["!%q" if unless else "%add"]
    if signs:
        operands += map(str, signs)
        if bits == 16:
            operands += map(str, trans[1:] if registers else trans)
    body += "not.pred %q, %add;\n" if unless else ""
    body += "%s %s;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nmov.u32 %%h, 0;\n" % (opcode, ", ".join(operands))
    for r in range(regs):
        body += "mov.b32 %%x, %%d%d;\nmad.lo.u32 %%h, %%h, 0x01000193, %%x;\n" % r
    body += "ld.param.u64 %p, [out];\nmad.wide.u32 %p, %t, 4, %p;\nst.global.u32 [%p], %h;\nret;"
    text += ["\t" + line.strip() for line in body.split("\n") if line.strip()] + ["}"]
    for number, (da, db, masks, add) in enumerate(cases):
        seed = number * 1000003 + len(name)
        memory = [mixed(w, 1000, seed) & masks[0][0] | masks[0][1] for w in range(SHARED_WORDS)]
        held = lambda o, count: [[mixed(t, index[o] + r, seed) & masks[1 + (o == "d")][0] | masks[1 + (o == "d")][1] for r in range(count)] for t in range(128)]
        element = lambda at: memory[at // 32] >> at % 32 & (1 << bits) - 1
        wide, words = (k // 2, sparse.words(bits, seed)) if sparse else (k, [])
        a = {(row, i): element(shared_place(da, row, i, bits, trans[0])) for row in range(64) for i in range(wide)} if not registers else {}
        b = {(col, i): element(shared_place(db, col, i, bits, trans[1])) for col in range(n) for i in range(k)}
        if registers:
            part = Matrix(16, wide, bits)
            for warp, list in ((w, held("a", 4)[32 * w:32 * w + 32]) for w in range(4)):
                a.update({(16 * warp + row, i): v for (_, row, i), v in part.fill(list).items()})
        if signs:
            flip = lambda m, sign: {at: v ^ (1 << bits - 1 if sign < 0 else 0) for at, v in m.items()}
            a, b = flip(a, signs[0]), flip(b, signs[1])
        sums, hashes = Matrix(16, n, width_of, turned="sum"), []
        sums.at = lambda lane, i: (0, lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8)
        for warp in range(4):
            c = sums.fill(held("d", regs)[32 * warp:32 * warp + 32])
            d = {}
            columns = [sparse.columns(bits, words, warp, row, k) if sparse else range(k) for row in range(16)]
            for part, row, col in c:
                d[part, row, col] = dot([a[16 * warp + row, i] for i in range(wide)], [b[col, i] for i in columns[row]], c[part, row, col] if add else 0)
            list = sums.empty(d)
            for lane in range(32):
                h = 0
                for v in list[lane * regs:lane * regs + regs]:
                    h = unsigned(h * 0x01000193 + v, 32)
                hashes.append(h)
        pairs = ", ".join("0x%x, 0x%x" % (keep & 0xFFFFFFFF, put) for keep, put in masks)
        meta = ", u32{%s}" % " ".join("0x%x" % w for w in words) if sparse else ""
        text.append("// run block=128: %s(%d, 0x%x, 0x%x, %s%s, %d) == u32 %s" % (name, seed, da, db, pairs, meta, add, list_text(hashes, "u32")))
    module.add("\n".join(text))


def gen_wgmma():
    every = (0xFFFFFFFF, 0)
    near = {"f16": (0x8FFF8FFF, 0x30003000), "bf16": (0x81FF81FF, 0x3E003E00), "tf32": (0x81FFFFFF, 0x3E000000), "f32": (0x83FFFFFF, 0x3C000000), "e4m3": (0xBFBFBFBF, 0), "e5m2": (0xBFBFBFBF, 0)}
    m = dense = Module("wgmma", "9.7.15.5.2", "wgmma.mma_async", "8.4", "sm_90a")
    sparse = Module("wgmma_sparse", "9.7.15.6.3", "wgmma.mma_async.sp", "8.4", "sm_90a")
    # Without swizzling and with each pattern, in rows: distinguishable strides, an atom that does not begin at
    # a multiple of its size, and a part of it further along k.
    rows = [(descriptor(0x100, 0x90, 0x1B0, 16), descriptor(0x2000, 0x210, 0xA0, 16)), (descriptor(0, 0x10, 0x100, 32), descriptor(0x2000, 0x10, 0x300, 32)),
            (descriptor(0x20, 0x10, 0x200, 64), descriptor(0x2800, 0, 0x400, 64)), (descriptor(0x460, 0x10, 0x400, 128), descriptor(0x3000, 0x10, 0x800, 128)),
            (descriptor(0x180, 0x10, 0x400, 128, 3), descriptor(0x3080, 0x10, 0x200, 64, 1))]
    across = [(descriptor(0x100, 0x810, 0x90, 16), descriptor(0x2000, 0x110, 0xA0, 16)), (descriptor(0, 0x100, 0x600, 32), descriptor(0x2000, 0x300, 0x100, 32)),
              (descriptor(0x200, 0x400, 0x200, 64), descriptor(0x2800, 0x200, 0x400, 64)), (descriptor(0, 0x400, 0x800, 128), descriptor(0x1400, 0x400, 0x800, 128))]

    # A last case has small factors, whose sums are cut below the least exponent.
    def floats(name, n, k, types, pairs, full=False, **options):
        td, ta, tb = types
        m, sp = (sparse, ".sp") if options.get("sparse") else (dense, "")
        cases = [(da, db, [near[ta], near[ta], near.get(td, (0x8FFF8FFF, 0x30003000))] if not full or i % 2 == 0 else [every] * 3, i % 3 != 1) for i, (da, db) in enumerate(pairs)]
        if small := options.pop("small", None):
            cases.append((*pairs[0], [small, small, (0, 0)], 0))
        wgmma_kernel(m, name, "wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s.%s.%s" % ((sp, n, k) + types), n, k, types, signs=options.pop("signs", (1, 1)), cases=cases,
                     dot=lambda a, b, c: group_dot(a, b, c, ta, tb, td), **options)

    floats("f16_rows", 16, 16, ("f32", "f16", "f16"), rows)
    floats("f16_columns", 16, 16, ("f32", "f16", "f16"), across, trans=(1, 1))
    floats("f16_unless", 8, 16, ("f32", "f16", "f16"), rows[:2], unless=True)
    floats("f16_half", 24, 16, ("f16", "f16", "f16"), [(0, across[3][1]), (0, across[1][1])], registers=True, trans=(0, 1), signs=(-1, 1), full=True, small=(0x88018801, 0))
    floats("bf16_mixed", 40, 16, ("f32", "bf16", "bf16"), [(rows[2][0], across[2][1])], trans=(0, 1), signs=(-1, -1))
    floats("bf16_held", 8, 16, ("f32", "bf16", "bf16"), [(0, rows[3][1]), (0, rows[0][1])], registers=True, signs=(1, -1), full=True, small=(0x83FF83FF, 0x18001800))
    floats("tf32_rows", 8, 8, ("f32", "tf32", "tf32"), rows[1:3], signs=(-1, 1), full=True)
    floats("tf32_held", 16, 8, ("f32", "tf32", "tf32"), rows[3:4], registers=True, small=(0x83FFFFFF, 0x18000000))
    floats("e4m3", 8, 32, ("f32", "e4m3", "e4m3"), rows[:2], full=True)
    floats("e5m2_e4m3", 8, 32, ("f16", "e5m2", "e4m3"), rows[3:4], registers=True, signs=(1, -1))
    floats("e4m3_e5m2", 16, 32, ("f32", "e4m3", "e5m2"), rows[2:3], registers=True)
    for n, ta, tb, sat, held, (da, db) in ((16, "s8", "s8", ".satfinite", False, rows[2]), (8, "u8", "s8", "", True, rows[0]), (256, "s8", "u8", "", True, rows[1]), (48, "u8", "u8", ".satfinite", False, rows[4])):
        da, db = (da, descriptor(0, 0x10, 0x180, 32)) if n > 16 else (da, db)
        wgmma_kernel(m, "n%d_%s_%s%s" % (n, ta, tb, sat.replace(".", "_")), "wgmma.mma_async.sync.aligned.m64n%dk32%s.s32.%s.%s" % (n, sat, ta, tb), n, 32, ("s32", ta, tb), registers=held,
                     cases=[(da, db, [every, every, (0x800003FF, 0x7FFFFC00) if sat else every], 1)], dot=lambda a, b, c, ta=ta, tb=tb, sat=sat: integer_dot(a, b, c, ta, tb, sat))
    for held in (False, True):
        wgmma_kernel(m, "bits_held" if held else "bits", "wgmma.mma_async.sync.aligned.m64n%dk256.s32.b1.b1.and.popc" % (8 if held else 16), 8 if held else 16, 256, ("s32", "b1", "b1"), registers=held,
                     cases=[rows[3 * held] + ([every] * 3, not held)], dot=lambda a, b, c: unsigned(c + sum(x & y for x, y in zip(a, b)), 32))

    long = [(descriptor(0x100, 0x90, 0x1B0, 16), descriptor(0x2000, 0x210, 0xA0, 16)), (descriptor(0, 0x10, 0x100, 32), descriptor(0x2000, 0x10, 0x200, 64)),
            (descriptor(0x20, 0x10, 0x200, 64), descriptor(0x2840, 0x10, 0x400, 128))]
    floats("f16", 16, 32, ("f32", "f16", "f16"), long, sparse=Sparse(1))
    floats("f16_columns", 16, 32, ("f16", "f16", "f16"), [across[1]], trans=(1, 1), signs=(-1, 1), sparse=Sparse(0))
    floats("bf16_held", 8, 32, ("f32", "bf16", "bf16"), long[1:2], registers=True, signs=(1, -1), full=True, sparse=Sparse(0))
    floats("tf32", 8, 16, ("f32", "tf32", "tf32"), long[1:2], signs=(-1, -1), sparse=Sparse(1))
    floats("tf32_held", 16, 16, ("f32", "tf32", "tf32"), long[2:], registers=True, full=True, sparse=Sparse(0))
    floats("e4m3_e5m2", 8, 64, ("f32", "e4m3", "e5m2"), long[1:2], sparse=Sparse())
    floats("e5m2_held", 8, 64, ("f16", "e5m2", "e5m2"), long[2:], registers=True, full=True, sparse=Sparse())
    for n, ta, tb, sat, held in ((8, "u8", "s8", "", True), (96, "s8", "s8", ".satfinite", False)):
        wgmma_kernel(sparse, "n%d_%s_%s%s" % (n, ta, tb, sat.replace(".", "_")), "wgmma.mma_async.sp.sync.aligned.m64n%dk64%s.s32.%s.%s" % (n, sat, ta, tb), n, 64, ("s32", ta, tb), registers=held,
                     cases=[(long[1][0], long[1][1], [every, every, (0x800003FF, 0x7FFFFC00) if sat else every], 1)], dot=lambda a, b, c, ta=ta, tb=tb, sat=sat: integer_dot(a, b, c, ta, tb, sat), sparse=Sparse())


# ---------------------------------------------------------------- 9.7.16 tensor memory

# How tensor cores of the fifth generation add: see docs/tensor.md.
TENSOR_ADDERS = {"f16": (16, 25, 23, -133, -21), "tf32": (8, 25, 23, -133, None), "e4m3": (32, 25, 23, -133, -21)}


def fifth_dot(a, b, c, ta, tb, td, less=0):
    """A row of A times a column of B plus an element of D divided by 2^less, in bits."""
    block, fraction, result, *least = TENSOR_ADDERS[{"bf16": "f16", "f16": "f16", "tf32": "tf32"}.get(ta, "e4m3")]
    acc, at = FACTORS[td].read(c)
    acc = acc, at
    if not isinstance(acc[0], str):
        acc = acc[0] / 2 ** less, at - less
    for k in range(0, len(a), block):
        x, y = [factor(ta, v) for v in a[k:k + block]], [factor(tb, v) for v in b[k:k + block]]
        c = tensor_block(x, y, acc, fraction, result, FLOATS[td], least[td == "f16"])
        acc = FACTORS[td].read(c)
    return c


TENSOR_SWIZZLES = {16: 0, 32: 6, 64: 4, 128: 2, "pairs": 1}


def tensor_descriptor(start, lead, stride, swizzle, base=0):
    """A shared memory descriptor (manual 9.7.16.4.1)."""
    return start >> 4 | lead >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | base << 49 | TENSOR_SWIZZLES[swizzle] << 61


def tensor_place(desc, row, col, bits, across):
    """The bit where an element of a matrix is that such a descriptor describes."""
    mode = {v: k for k, v in TENSOR_SWIZZLES.items()}[desc >> 61]
    if mode != "pairs":
        return shared_place(desc & (1 << 46) - 1 | (desc >> 49 & 7) << 49 | {16: 0, 128: 1, 64: 2, 32: 3}[mode] << 62, row, col, bits, across)
    field = lambda at: (desc >> at & 0x3FFF) << 4
    per = 128 // bits
    at = field(0) + col % 4 * 128 + col // 4 * field(32) + row // per // 8 * field(16) + row // per % 8 * 16
    at ^= (at >> 7 & 3) << 5
    return at * 8 + row % per * bits


class Fifth:
    """The tensor memory and the shared memory of a CTA or of a pair."""

    def __init__(self, ctas, seed, masks, keep):
        self.shared = [[mixed(w + (r << 16), 1000, seed) & keep[0] | keep[1] for w in range(SHARED_WORDS)] for r in range(ctas)]
        self.cells = [[[mixed(r * 128 + lane + (c // 4 << 12), 3000 + c % 4, seed) & masks[c // 4][0] | masks[c // 4][1] for c in range(4 * len(masks))] for lane in range(128)] for r in range(ctas)]

    def element(self, rank, desc, row, col, bits, across=False):
        at = tensor_place(desc, row, col, bits, across)
        return self.shared[rank][at // 32] >> at % 32 & (1 << bits) - 1

    def narrow(self, rank, desc, row, col, of):
        """An element of less than 8 bits with padding after it: 16 of them in 16 bytes."""
        at = tensor_place(desc, row, col // 16 * 16, 8, False)
        all = sum(self.shared[rank][at // 32 + i] << 32 * i for i in range(4))
        v = all >> of * (col % 16) & (1 << of) - 1
        return v << 2 if of == 4 else v

    def hashes(self):
        out = []
        for cta in self.cells:
            for lane in cta:
                h = 0
                for v in lane:
                    h = unsigned(h * 0x01000193 + v, 32)
                out.append(h)
        return out


TENSOR_TYPES = {"f16": {"f16": 0, "bf16": 1}, "tf32": {"tf32": 2}, "i8": {"u8": 0, "s8": 1}, "mxf4": {"e2m1": 1}, "mxf4nvf4": {"e2m1": 1}, "ti16": {"s1z4m11": 3}}
TENSOR_NARROW = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
TENSOR_K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64, "ti16": 16}
TENSOR_BITS_OF = {"f16": 16, "tf32": 32, "f8f6f4": 8, "i8": 8, "mxf8f6f4": 8, "mxf4": 4, "mxf4nvf4": 4, "ti16": 16}


class FifthMma:
    """A tcgen05.mma: its instruction descriptor (manual 9.7.16.4.2), and its effect."""

    def __init__(self, kind, m, n, types, ws=False, sparse=False, pair=False, negate=(0, 0), across=(0, 0), saturate=0, vec=0, scale_type="ue8m0", ids=(0, 0), less=0, long=False, shifted=False, half=None):
        """With long, K is twice that of the kind; with shifted, rows of A come from the row above; half is which half of
        the indices B is decompressed from."""
        self.long, self.shifted, self.half = long, shifted, half
        self.kind, self.m, self.n, self.types, self.ws, self.sparse, self.pair = kind, m, n, types, ws, sparse, pair
        self.negate, self.across, self.saturate, self.vec, self.scale_type, self.ids, self.less = negate, across, saturate, vec, scale_type, ids, less
        self.bits, self.k = TENSOR_BITS_OF[kind], TENSOR_K[kind] * (2 if sparse else 1) * (2 if long else 1)
        td, ta, tb = types
        codes = TENSOR_TYPES.get(kind, TENSOR_NARROW)
        d = sparse << 2 | codes[ta] << 7 | codes[tb] << 10 | negate[0] << 13 | negate[1] << 14 | across[0] << 15 | across[1] << 16 | n >> 3 << 17
        if vec:
            d |= ids[1] << 4 | (scale_type == "ue8m0") << 23 | m >> 7 << 27 | ids[0] << 29 | long << 31
        else:
            d |= long << 29 | saturate << 3 | {"f16": 0, "f32": 1, "s32": 2}[td] << 4 | m >> 4 << 24
        self.desc = d

    def place(self, row, col):
        """The CTA, the lane and the column of an element of D: layouts A to G (manual 9.7.16.10.5)."""
        n = self.n
        if self.ws and self.m == 32:
            return 0, row + 32 * (col // (n // 4)), col % (n // 4)
        if self.ws and self.m == 64:
            return 0, row + 64 * (col // (n // 2)), col % (n // 2)
        if self.pair and self.m == 128 and not self.sparse:
            return row // 64, row % 64 + 64 * (col // (n // 2)), col % (n // 2)
        if self.pair and self.m == 128:
            return row // 64, row % 64 // 16 * 32 + row % 16, col
        if not self.pair and not self.ws and self.m == 64:
            return 0, row // 16 * 32 + row % 16, col
        return row // 128, row % 128, col

    def run(self, t, da, db, d_at, add, a_at=None, meta_at=None, scales=None, lane=0, disabled=(), mask=None, shift=0):
        """lane is that which D, A and metadata begin at; scales the columns of both."""
        td, ta, tb = self.types
        bits, stored = self.bits, self.k // 2 if self.sparse else self.k
        integers = self.kind == "i8"
        magnitude = lambda v: -(v & 0x7FF) if v >> 15 else v & 0x7FF
        small = lambda of: {"e2m3": 6, "e3m2": 6, "e2m1": 4}.get(of, 0) if bits == 8 else 0
        shared = lambda rank, desc, row, col, of, across: t.narrow(rank, desc, row, col, small(of)) if small(of) else t.element(rank, desc, row, col, bits, across)
        flip = lambda v, of, sign: v if not sign else v ^ (8 if bits == 4 else 1 << {"e2m1": 5, "e2m3": 5, "e3m2": 5}.get(of, bits - 1))
        cut = lambda v: v << 2 if bits == 4 else v
        per_b = self.n // 2 if self.pair else self.n
        b = {}
        for col in range(self.n):
            for i in range(self.k):
                if self.half is not None:  # three bits of a row of 48 bytes
                    where = [192 * self.half + 3 * i + j for j in range(3)]
                    where = [tensor_place(db & ~(1 << 53), col % per_b, w // 8, 8, False) + w % 8 for w in where]
                    b[col, i] = sum((t.shared[col // per_b][p // 32] >> p % 32 & 1) << j for j, p in enumerate(where))
                    continue
                v = flip(shared(col // per_b, db, (col % per_b) + shift, i, tb, self.across[1]), tb, self.negate[1])
                b[col, i] = 0 if mask and mask[col] else v
        before = [[row[:] for row in cta] for cta in t.cells]
        a_rows = {}
        for row in range(self.m):
            for col in range(self.n):
                rank, l, c = self.place(row, col)
                l += lane
                if rank * 128 + l in disabled:
                    continue
                key = row if a_at is None else (rank, l)
                if key not in a_rows:
                    if a_at is None:
                        vs = [shared(rank, da, row % (self.m // 2 if self.pair else self.m), i, ta, self.across[0]) for i in range(stored)]
                    else:
                        held = before[rank][l]
                        if self.shifted and row % (self.m // 2 if self.pair else self.m):
                            held = before[rank][self.place(row - 1, col)[1] + lane]
                        vs = [held[a_at + i * bits // 32] >> i * bits % 32 & (1 << bits) - 1 for i in range(stored)]
                    a_rows[key] = [flip(v, ta, self.negate[0]) for v in vs]
                va, at = a_rows[key], range(self.k)
                if self.sparse:
                    above = self.shifted and row % (self.m // 2 if self.pair else self.m)
                    at = self.stored(before[rank], meta_at, self.place(row - 1, col)[1] + lane if above else l)
                vb = [b[col, i] for i in at]
                if self.half is not None:  # from the table of eight columns, which is in the lane of its number
                    table = before[rank][l // 32 * 32 + col // 8][meta_at:][:2]
                    vb = [flip(table[v // 4] >> v % 4 * 8 & 255, tb, self.negate[1]) for v in vb]
                acc = before[rank][l][d_at + c] if add else 0
                if td == "f16":
                    acc &= 0xFFFF
                if self.kind == "ti16":
                    d = unsigned(acc + sum(magnitude(x) * magnitude(y) for x, y in zip(va, vb)), 32)
                elif integers:
                    d = integer_dot(va, vb, acc, ta, tb, self.saturate)
                elif self.vec:
                    s = Scaling.__new__(Scaling)
                    s.kind, s.count = self.scale_type, self.vec
                    rows = self.m // 2 if self.pair else self.m
                    folded = rows == 64  # layout B, of a pair
                    own = row % rows
                    sa = s.read(before[rank][l // 32 * 32 + own % 32][scales[0] + own // 32], self.ids[0])
                    own = col % (self.n // 2) if folded else col
                    sb = s.read(before[rank][l // 32 * 32 + own % 32][scales[1] + own // 32], self.ids[1])
                    d = scaled_dot(va, vb, acc, ta, tb, sa, sb, bits == 4)
                else:
                    d = fifth_dot(va, vb, acc, ta, tb, td, self.less)
                t.cells[rank][l][d_at + c] = d

    def stored(self, lanes, meta_at, l):
        """Where the stored elements of a sparse A are in its row (manual 9.7.16.10.8): of 16 and 32
        bits, lanes 0 to 7 of 16 have the first half of all rows, in halves of a word rows 0 to 7 and 8
        to 15; else a lane has its row."""
        out = []
        if self.bits >= 16:
            halves = [lanes[l // 16 * 16 + 8 * half + l % 8][meta_at] >> 16 * (l // 8 % 2) & 0xFFFF for half in range(2)]
            all = halves[0] | halves[1] << 16
        else:
            all = lanes[l][meta_at] | lanes[l][meta_at + 1] << 32
        chunk = {32: 2, 4: 8}.get(self.bits, 4)
        for i in range(self.k // chunk):
            v = all >> 4 * i & 15
            if chunk == 2:
                out.append(2 * i + {0b0100: 0, 0b1110: 1}[v])
            elif chunk == 4:
                out += [4 * i + (v & 3), 4 * i + (v >> 2)]
            else:
                out += [8 * i + 2 * (v & 3), 8 * i + 2 * (v & 3) + 1, 8 * i + 2 * (v >> 2), 8 * i + 2 * (v >> 2) + 1]
        return out


def tensor_kernel(module, name, columns, text_of, cases, pair=False, commit=None):
    """A kernel of 128 threads, or of a pair of CTAs: shared memory and a number of columns of
    tensor memory are full of words that are mixed, with some bits cleared and set, of tensor memory
    by four columns; then a single thread executes text_of; then each thread combines all words of
    its lane into a number. cases are descriptors, the instruction descriptor, masks of tensor
    memory and of shared memory, whether D is added, and a function of what it does to a Fifth."""
    g = 2 if pair else 1
    head = [".visible .entry %s(.param .u32 seed, .param .u64 da, .param .u64 db, .param .u32 idesc, .param .u64 masks, .param .u32 sand, .param .u32 sor, .param .u32 add, .param .u64 out)" % name, "{",
            "\t.shared .align 1024 .b8 s[%d];" % (4 * SHARED_WORDS), "\t.shared .align 8 .b64 bar;", "\t.shared .align 4 .b32 where;",
            "\t.reg .u32 %t, %r, %w, %lane, %seed, %x, %y, %and, %or, %s, %h, %c, %v<8>;", "\t.reg .b32 %tm, %tl, %idesc;", "\t.reg .u64 %p, %m, %da, %db;", "\t.reg .pred %q, %add, %zero, %first;"]
    fill = ""
    for i in range(4):
        fill += mixing("%v" + str(i), 3000 + i) + "\nand.b32 %%v%d, %%v%d, %%and;\nor.b32 %%v%d, %%v%d, %%or;" % (i, i, i, i)
    body = """
        mov.u32 %t, %tid.x;
        mov.u32 %r, %cluster_ctarank;
        shr.u32 %w, %t, 5;
        ld.param.u32 %seed, [seed];
        setp.eq.u32 %zero, %w, 0;
        setp.eq.u32 %first, %t, 0;
        @%first mbarrier.init.shared.b64 [bar], 1;
        @%zero tcgen05.alloc.cta_group::G.sync.aligned.shared::cta.b32 [where], 512;
        @%zero tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned;
        ld.param.u32 %and, [sand];
        ld.param.u32 %or, [sor];
        mad.lo.u32 %lane, %r, 65536, %t;
        mov.u32 %s, s;
        mad.lo.u32 %s, %t, 4, %s;
        mov.u32 %c, 0;
        fill:""" + mixing("%v0", 1000) + """
        and.b32 %v0, %v0, %and;
        or.b32 %v0, %v0, %or;
        st.shared.u32 [%s], %v0;
        add.u32 %lane, %lane, 128;
        add.u32 %s, %s, 512;
        add.u32 %c, %c, 128;
        setp.lt.u32 %q, %c, WORDS;
        @%q bra fill;
        bar.sync 0;
        ld.shared.u32 %tm, [where];
        shl.b32 %tl, %w, 21;
        add.u32 %tl, %tl, %tm;
        ld.param.u64 %m, [masks];
        mad.lo.u32 %lane, %r, 128, %t;
        mov.u32 %c, 0;
        more:
        ld.global.v2.u32 {%and, %or}, [%m];""" + fill + """
        tcgen05.st.sync.aligned.32x32b.x4.b32 [%tl], {%v0, %v1, %v2, %v3};
        add.u64 %m, %m, 8;
        add.u32 %lane, %lane, 4096;
        add.u32 %tl, %tl, 4;
        add.u32 %c, %c, 4;
        setp.lt.u32 %q, %c, COLUMNS;
        @%q bra more;
        tcgen05.wait::st.sync.aligned;
        mov.u32 %s, s;
        shr.u32 %s, %s, 4;
        and.b32 %s, %s, 0x3fff;
        cvt.u64.u32 %p, %s;
        ld.param.u64 %da, [da];
        add.u64 %da, %da, %p;
        ld.param.u64 %db, [db];
        add.u64 %db, %db, %p;
        ld.param.u32 %idesc, [idesc];
        ld.param.u32 %x, [add];
        setp.ne.u32 %add, %x, 0;
        fence.proxy.async;
        tcgen05.fence::before_thread_sync;
        """ + ("barrier.cluster.arrive;\nbarrier.cluster.wait;" if pair else "bar.sync 0;") + """
        tcgen05.fence::after_thread_sync;
        mad.lo.u32 %x, %r, 128, %t;
        setp.ne.u32 %q, %x, 0;
        @%q bra wait;
        TEXT
        """ + (commit or ("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 3;" if pair else "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];")) + """
        wait:
        @!%first bra done;
        look:
        mbarrier.try_wait.parity.shared.b64 %q, [bar], 0;
        @!%q bra look;
        done:
        bar.sync 0;
        tcgen05.fence::after_thread_sync;
        shl.b32 %tl, %w, 21;
        add.u32 %tl, %tl, %tm;
        mov.u32 %h, 0;
        mov.u32 %c, 0;
        read:
        tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%tl];
        tcgen05.wait::ld.sync.aligned;
        HASH
        add.u32 %tl, %tl, 8;
        add.u32 %c, %c, 8;
        setp.lt.u32 %q, %c, COLUMNS;
        @%q bra read;
        ld.param.u64 %p, [out];
        mad.lo.u32 %x, %r, 128, %t;
        mad.wide.u32 %p, %x, 4, %p;
        st.global.u32 [%p], %h;
        """ + ("barrier.cluster.arrive;\nbarrier.cluster.wait;" if pair else "bar.sync 0;") + """
        @%zero tcgen05.dealloc.cta_group::G.sync.aligned.b32 %tm, 512;
        ret;"""
    body = body.replace("::G", "::%d" % g).replace("WORDS", str(SHARED_WORDS)).replace("COLUMNS", str(columns)).replace("TEXT", text_of)
    body = body.replace("HASH", "\n".join("mad.lo.u32 %%h, %%h, 0x01000193, %%v%d;" % i for i in range(8)))
    lines = head + ["\t" + line.strip() for line in body.split("\n") if line.strip()] + ["}"]
    for number, (da, db, idesc, masks, keep, add, do) in enumerate(cases):
        seed = number * 1000003 + len(name)
        masks = list(masks) + [(0xFFFFFFFF, 0)] * (columns // 4 - len(masks))
        t = Fifth(g, seed, masks, keep)
        do(t)
        lines.append("// run block=128%s: %s(%d, 0x%x, 0x%x, 0x%x, u32{%s}, 0x%x, 0x%x, %d) == u32 %s" % (
            " grid=2 cluster=2" if pair else "", name, seed, da, db, idesc, " ".join("0x%x" % v for m in masks for v in m), keep[0], keep[1], add, list_text(t.hashes(), "u32")))
    module.add("\n".join(lines))


NEAR = {"f16": (0x8FFF8FFF, 0x30003000), "bf16": (0x81FF81FF, 0x3E003E00), "tf32": (0x81FFFFFF, 0x3E000000), "f32": (0x83FFFFFF, 0x3C000000),
        "e4m3": (0xBFBFBFBF, 0), "e5m2": (0xBFBFBFBF, 0), "e2m3": (0xFFFFFFFF, 0), "e3m2": (0xFFFFFFFF, 0), "e2m1": (0xFFFFFFFF, 0), "s1z4m11": (0x87FF87FF, 0)}


def gen_fifth():
    every = (0xFFFFFFFF, 0)
    new = lambda name, sections, about, target="sm_100a": Module(name, sections, about, "8.8", target)

    def mma(m, name, x, pairs, d_at=0, a_at=None, meta_at=None, scales=None, lane=0, disabled=(), zero=None, keep=None, columns=None, extra="", full=False, adds=(1, 0), unless=False, dropped=None, after=lambda text: text, commit=None):
        """A kernel with a single multiplication, D from column d_at on. With unless, the predicate
        is negated; dropped is a scale-input-d that has no effect."""
        td, ta, tb = x.types
        pair = ".cta_group::%d" % (2 if x.pair else 1)
        at = lambda c, lane=lane: "[%%tm+0x%x]" % (c + (lane << 16))
        extra = (".ashift" if x.shifted else "") + (".decompress::lut::b" if x.half is not None else "") + extra
        op = "tcgen05.mma" + (".ws" if x.ws else "") + (".sp" if x.sparse else "") + pair + ".kind::" + x.kind + (".block_scale" + extra if x.vec else extra)
        operands = [at(d_at), at(a_at) if a_at is not None else "%da", "%db"] + ([at(meta_at)] if x.sparse or x.half is not None else []) + ["%idesc"]
        if x.vec:
            operands += [at(c, 0) for c in scales]
        words = [sum(1 << i for i in range(32) if 32 * w + i in disabled) for w in range(8 if x.pair else 4)]
        if disabled:
            operands.append("{%s}" % ", ".join("%%v%d" % i for i in range(len(words))))
        operands.append("!%q" if unless else "%add")
        if x.less or dropped:
            operands.append(str(x.less or dropped))
        if zero is not None:
            operands.append("%m")
        text = "".join("mov.b32 %%v%d, 0x%x;\n" % w for w in enumerate(words) if disabled)
        text += "not.pred %q, %add;\n" if unless else ""
        text += ("mov.u64 %%m, 0x%x;\n" % zero[0] if zero is not None else "") + "%s %s;" % (op, ", ".join(operands))
        fold = {(32, True): 4, (64, True): 2}.get((x.m, x.ws), 2 if x.pair and x.m == 128 and not x.sparse else 1)
        columns = columns or max(d_at + x.n // fold, 32, *(c + 8 for c in (a_at or 0, meta_at or 0)))
        columns = (columns + 7) // 8 * 8
        masks = [every] * (columns // 4)
        def region(c, n, mask):
            for i in range(c // 4, (c + n + 3) // 4):
                masks[i] = mask
        if not full:
            region(d_at, x.n // fold, NEAR.get(td, every if not x.saturate else (0x800003FF, 0x7FFFFC00)))
        if a_at is not None and not full:
            region(a_at, 8, NEAR.get(ta, every))
        if x.half is not None:
            region(meta_at, 4, (0xBFBFBFBF, 0))
        elif meta_at is not None:
            region(meta_at, 4, (0, 0x4EE4E44E) if x.kind == "tf32" else (0x55555555, 0x88888888))
        for c in scales or ():
            region(c, 8, (0x07070707, 0x7C7C7C7C) if x.scale_type == "ue8m0" else (0x8F8F8F8F, 0x30303030))
        keep = keep or (NEAR["s1z4m11"] if x.kind == "ti16" else every if full else NEAR.get(ta, every))
        mask, shift = (zero[1], zero[2]) if zero is not None else (None, 0)
        cases = [(da, db, x.desc, masks, keep, add, lambda t, da=da, db=db, add=add: x.run(t, da, db, d_at, add, a_at, meta_at, scales, lane, disabled, mask, shift))
                 for (da, db), add in zip(pairs, list(adds) * len(pairs))]
        tensor_kernel(m, name, columns, after(text), cases, x.pair, commit)

    D = tensor_descriptor
    # Without swizzling and with each pattern: distinguishable strides, an atom that does not begin at a
    # multiple of its size, and a part of it further along k.
    rows = [(D(0x100, 0x90, 0x120, 16), D(0x3000, 0x210, 0xA0, 16)), (D(0, 0x10, 0x100, 32), D(0x3000, 0x10, 0x300, 32)),
            (D(0x20, 0x10, 0x200, 64), D(0x3000, 0, 0x200, 64)), (D(0x460, 0x10, 0x400, 128), D(0x3400, 0x10, 0x400, 128)), (D(0x180, 0x10, 0x300, 128, 3), D(0x3080, 0x10, 0x200, 64, 1))]
    columns = [(D(0x100, 0x410, 0x90, 16), D(0x2800, 0x110, 0xA0, 16)), (D(0, 0x100, 0x600, 32), D(0x3000, 0x300, 0x100, 32)),
               (D(0x200, 0x400, 0x200, 64), D(0x2C00, 0x200, 0x400, 64)), (D(0, 0x400, 0x800, 128), D(0x2000, 0x400, 0x800, 128))]

    m = new("tcgen05_mma", "9.7.16.10.9.1", "tcgen05.mma")
    X = FifthMma
    mma(m, "f16_rows", X("f16", 64, 8, ("f32", "f16", "f16")), rows)
    mma(m, "f16_columns", X("f16", 64, 16, ("f32", "f16", "f16"), across=(1, 1)), columns, d_at=8)
    mma(m, "f16_half", X("f16", 128, 8, ("f16", "f16", "f16"), negate=(1, 0)), [rows[0], rows[1]], full=True)
    mma(m, "bf16_held", X("f16", 128, 16, ("f32", "bf16", "bf16"), negate=(0, 1), across=(0, 1)), [columns[2]], a_at=16)
    mma(m, "f16_lower", X("f16", 64, 24, ("f32", "f16", "bf16"), less=3), [rows[1]], d_at=8, a_at=0, lane=16, disabled=(17, 30, 48, 127, 5), adds=(1,))
    mma(m, "tf32", X("tf32", 64, 8, ("f32", "tf32", "tf32"), negate=(1, 1), less=15), rows[1:3], full=True)
    mma(m, "tf32_columns", X("tf32", 64, 32, ("f32", "tf32", "tf32"), across=(1, 1)), [(D(0, 0x400, 0x200, "pairs"), D(0x1000, 0x400, 0x400, "pairs"))])
    mma(m, "tf32_held", X("tf32", 128, 8, ("f32", "tf32", "tf32")), rows[3:4], d_at=16, a_at=4)
    mma(m, "e4m3_e5m2", X("f8f6f4", 64, 8, ("f32", "e4m3", "e5m2"), negate=(1, 0)), rows[:2], full=True)
    mma(m, "e5m2_across", X("f8f6f4", 64, 16, ("f16", "e5m2", "e4m3"), across=(1, 1)), [(D(0, 0x10, 0x200, 64), D(0x2000, 0x10, 0x80, 16))])
    mma(m, "e2m1_e3m2", X("f8f6f4", 64, 8, ("f32", "e2m1", "e3m2"), negate=(1, 1)), rows[1:2])
    mma(m, "e2m3_held", X("f8f6f4", 64, 8, ("f32", "e2m3", "e2m1")), rows[2:3], d_at=8, a_at=0)
    mma(m, "s8_u8", X("i8", 64, 16, ("s32", "s8", "u8"), saturate=1), rows[1:2])
    mma(m, "u8_held", X("i8", 128, 8, ("s32", "u8", "s8")), rows[2:3], d_at=8, a_at=0)
    mma(m, "f16_unless", X("f16", 64, 8, ("f32", "f16", "f16"), less=1), rows[1:3], unless=True)
    mma(m, "s8_dropped", X("i8", 64, 8, ("s32", "s8", "s8")), rows[1:3], unless=True, dropped=17)

    m = new("tcgen05_mma_scaled", "9.7.16.10.7", "tcgen05.mma with .block_scale")
    scaled = dict(d_at=0, scales=(32, 40), columns=48)
    mma(m, "mxf8", X("mxf8f6f4", 128, 8, ("f32", "e4m3", "e5m2"), vec=1, ids=(2, 1)), rows[1:2], **scaled)
    mma(m, "mxf6", X("mxf8f6f4", 128, 8, ("f32", "e3m2", "e2m1"), vec=1, ids=(0, 3), negate=(0, 1)), rows[2:3], extra=".block32", **scaled)
    mma(m, "mxf4", X("mxf4", 128, 8, ("f32", "e2m1", "e2m1"), vec=2, ids=(2, 0)), rows[1:2], **scaled)
    mma(m, "nvf4", X("mxf4nvf4", 128, 8, ("f32", "e2m1", "e2m1"), vec=4, scale_type="ue4m3", negate=(1, 0)), rows[2:3], extra=".scale_vec::4X", **scaled)
    mma(m, "nvf4_held", X("mxf4nvf4", 128, 40, ("f32", "e2m1", "e2m1"), vec=4), rows[1:2], d_at=0, a_at=40, scales=(48, 56), columns=64, extra=".block16", adds=(1,))

    m = new("tcgen05_mma_sparse", "9.7.16.10.8", "tcgen05.mma.sp")
    long = [(D(0x100, 0x90, 0x120, 16), D(0x3000, 0x210, 0xA0, 16)), (D(0, 0x10, 0x100, 32), D(0x3000, 0x10, 0x200, 64)), (D(0x20, 0x10, 0x200, 64), D(0x3000, 0x10, 0x400, 128))]
    mma(m, "f16", X("f16", 64, 8, ("f32", "f16", "f16"), sparse=True), long, meta_at=12)
    mma(m, "bf16_lower", X("f16", 64, 8, ("f32", "bf16", "bf16"), sparse=True), long[1:2], meta_at=12, a_at=16, lane=16)
    mma(m, "f16_wide", X("f16", 128, 8, ("f16", "f16", "f16"), sparse=True), long[2:3], meta_at=8)
    mma(m, "tf32", X("tf32", 64, 8, ("f32", "tf32", "tf32"), sparse=True), long[1:2], meta_at=8)
    mma(m, "e4m3", X("f8f6f4", 64, 8, ("f32", "e4m3", "e5m2"), sparse=True), long[1:2], meta_at=8)
    mma(m, "s8", X("i8", 128, 8, ("s32", "s8", "s8"), sparse=True), long[2:3], meta_at=8)
    mma(m, "mxf8", X("mxf8f6f4", 128, 8, ("f32", "e4m3", "e4m3"), sparse=True, vec=1, ids=(1, 2)), long[1:2], meta_at=8, **scaled)
    mma(m, "nvf4", X("mxf4nvf4", 128, 8, ("f32", "e2m1", "e2m1"), sparse=True, vec=4, scale_type="ue4m3"), long[2:3], meta_at=8, extra=".scale_vec::4X", **scaled)

    m = new("tcgen05_mma_ws", "9.7.16.10.9.3", "tcgen05.mma.ws")
    wide = (D(0x20, 0x10, 0x100, 32), D(0x1800, 0x10, 0x100, 32))
    mma(m, "f16_32", X("f16", 32, 64, ("f32", "f16", "f16"), ws=True), [wide], adds=(1,))
    mma(m, "f16_64", X("f16", 64, 64, ("f32", "f16", "f16"), ws=True), [wide], a_at=32, adds=(1,))
    mma(m, "s8_128", X("i8", 128, 64, ("s32", "s8", "s8"), ws=True), [wide], adds=(1,))
    mma(m, "e4m3_sparse", X("f8f6f4", 32, 64, ("f32", "e4m3", "e4m3"), ws=True, sparse=True), [(wide[0], D(0x1000, 0x10, 0x200, 64))], meta_at=16, a_at=20, adds=(1,))

    def spans(descriptor, n, m):
        """The mask of the examples of the manual: runs of use + 1 zero bits and skip + 1 set bits."""
        parts, out = 128 // m, []
        ones, zeros = (descriptor >> 40 & 255) + 1, (descriptor >> 48 & 255) + 1
        for i in range(parts):
            run = ([1] * ones + [0] * zeros if descriptor >> 32 + i & 1 else [0] * zeros + [1] * ones) * n
            out += run[descriptor >> 8 * i & 255:][:n // parts]
        return out if descriptor >> 39 & 1 else [0] * n
    for size, z in ((32, 1 << 0 | 2 << 8 | 1 << 16 | 3 << 24 | 5 << 32 | 1 << 39 | 2 << 40 | 3 << 48 | 2 << 56), (64, 3 << 32 | 1 << 39 | 4 << 40 | 1 << 48 | 8 << 56), (128, 1 << 39 | 0 << 40 | 6 << 48 | 3)):
        mma(m, "zero_%d" % size, X("i8", size, 64, ("s32", "u8", "u8"), ws=True), [wide], zero=(z, spans(z, 64, size), z >> 56 & 63), adds=(1,))

    m = new("tcgen05_mma_pair", "9.7.16.10.5", "tcgen05.mma of a pair of CTAs")
    mma(m, "f16_256", X("f16", 256, 16, ("f32", "f16", "f16"), pair=True), rows[1:2], disabled=(3, 127, 128, 200), adds=(1,))
    mma(m, "f16_128", X("f16", 128, 16, ("f32", "f16", "f16"), pair=True, across=(1, 1)), [columns[3]], adds=(1,))
    mma(m, "s8_held", X("i8", 128, 32, ("s32", "s8", "u8"), pair=True), rows[1:2], a_at=16, adds=(1,))
    mma(m, "s8_sparse", X("i8", 128, 32, ("s32", "s8", "s8"), pair=True, sparse=True), [(long[1][0], D(0x2000, 0x10, 0x200, 64))], meta_at=32, columns=40, adds=(1,))
    mma(m, "mxf4_256", X("mxf4", 256, 16, ("f32", "e2m1", "e2m1"), pair=True, vec=2, ids=(0, 2)), rows[1:2], extra=".scale_vec::2X", adds=(0,), **scaled)
    mma(m, "mxf8_128", X("mxf8f6f4", 128, 32, ("f32", "e5m2", "e4m3"), pair=True, vec=1, ids=(3, 2)), rows[1:2], extra=".scale_vec::1X", adds=(1,), **scaled)

    # Copies: all rows are different.
    m = new("tcgen05_cp", "9.7.16.9", "tcgen05.cp and tcgen05.shift")

    def copy(name, shape, multicast, packed="", desc=None, pair=False, column=4, lane=0):
        rows_, bits = [int(v.rstrip("b")) for v in shape.split("x")]
        lanes = {"": lambda r: [32 * r if rows_ == 4 else r], "warpx2::02_13": lambda r: [r, r + 64],
                 "warpx2::01_23": lambda r: [r + 32 * (r // 32), r + 32 * (r // 32) + 32], "warpx4": lambda r: [r, r + 32, r + 64, r + 96]}[multicast]
        of = {"": 8, "b6x16_p32": 6, "b4x16_p64": 4}[packed]
        op = "tcgen05.cp.cta_group::%d.%s%s%s" % (2 if pair else 1, shape, "." + multicast if multicast else "", ".b8x16." + packed if packed else "")

        def do(t):
            for rank in range(len(t.cells)):
                for r in range(rows_):
                    for w in range(bits // 32):
                        b = [t.element(rank, desc, r, 4 * w + i, 8) if of == 8 else t.narrow(rank, desc, r, 4 * w + i, of) for i in range(4)]
                        for l in lanes(r):
                            t.cells[rank][l + lane][column + w] = sum(v << 8 * i for i, v in enumerate(b))
        tensor_kernel(m, name, 16, "%s [%%tm+0x%x], %%da;" % (op, column + (lane << 16)), [(desc, 0, 0, [every] * 4, every, 0, do)], pair)

    copy("rows_256", "128x256b", "", desc=D(0x100, 0x90, 0x120, 16))
    copy("rows_256_pair", "128x256b", "", desc=D(0x40, 0, 0x200, 64), pair=True)
    copy("four", "4x256b", "", desc=D(0x200, 0x50, 0, 16), lane=31)
    copy("rows_128", "128x128b", "", desc=D(0x30, 0, 0x400, 128))
    copy("rows_128_packed", "128x128b", "", "b6x16_p32", desc=D(0x10, 0, 0x100, 32))
    copy("apart", "64x128b", "warpx2::02_13", desc=D(0x100, 0, 0x90, 16))
    copy("beside", "64x128b", "warpx2::01_23", "b4x16_p64", desc=D(0x100, 0, 0x190, 16))
    copy("four_times", "32x128b", "warpx4", desc=D(0x100, 0, 0x80, 16))
    copy("four_times_pair", "32x128b", "warpx4", desc=D(0x80, 0, 0x80, 16), pair=True)

    def down(t):
        for r in range(len(t.cells)):
            before = [row[:] for row in t.cells[r]]
            for l in range(33, 64):
                t.cells[r][l][4:12] = before[l - 1][4:12]
    tensor_kernel(m, "shift", 16, "tcgen05.shift.cta_group::1.down [%tm+0x200004];", [(0, 0, 0, [every] * 4, every, 0, down)])

    gen_fifth_newer(mma, D, rows, columns, long)
    gen_fifth_tiles(new)


def gen_fifth_newer(mma, D, rows, columns, long):
    """tcgen05 of PTX 9.4 (sections of its manual)."""
    X = FifthMma
    m = Module("tcgen05_mma_newer", "9.7.18.10 of PTX 9.4", "tcgen05.mma of sm_107", "9.4", "sm_107a")
    ti16 = ("s32", "s1z4m11", "s1z4m11")
    mma(m, "ti16_rows", X("ti16", 64, 8, ti16, negate=(1, 0)), rows[1:3], extra=".collector::b::fill")
    mma(m, "ti16_held", X("ti16", 128, 16, ti16, negate=(0, 1)), rows[2:3], d_at=16, a_at=0, extra=".collector::a::use.collector::b::lastuse")
    mma(m, "ti16_columns", X("ti16", 64, 16, ti16, across=(1, 1)), columns[1:2], adds=(1,))
    mma(m, "ti16_sparse", X("ti16", 64, 8, ti16, sparse=True), long[1:2], meta_at=12)
    mma(m, "ti16_ws", X("ti16", 32, 64, ti16, ws=True), [(D(0x20, 0x10, 0x100, 32), D(0x1800, 0x10, 0x100, 32))], adds=(1,), extra=".collector::b2::fill")
    mma(m, "ti16_pair", X("ti16", 256, 32, ti16, pair=True), rows[1:2], adds=(1,), disabled=(3, 200))
    mma(m, "f16_kept", X("f16", 64, 8, ("f32", "f16", "f16"), less=2), rows[1:2], extra=".collector::a::fill.collector::b::use")
    mma(m, "mxf8_kept", X("mxf8f6f4", 128, 8, ("f32", "e4m3", "e5m2"), vec=1, ids=(2, 1)), rows[1:2], d_at=0, scales=(32, 40), columns=48, extra=".block32.collector::b::discard")
    # K of 64.
    mma(m, "e4m3_long", X("f8f6f4", 128, 16, ("f32", "e4m3", "e5m2"), long=True), [(D(0x100, 0x90, 0x120, 16), D(0x3000, 0x210, 0xA0, 16))], adds=(1,))
    mma(m, "mxf8_long", X("mxf8f6f4", 128, 8, ("f32", "e4m3", "e4m3"), vec=1, ids=(1, 2), long=True), [(D(0x20, 0x10, 0x200, 64), D(0x3000, 0x10, 0x400, 128))], d_at=0, scales=(32, 40), columns=48, adds=(1,))
    mma(m, "ti16_above", X("ti16", 128, 16, ti16, shifted=True), rows[2:3], d_at=16, a_at=0, extra=".collector::b::use")
    # B of indices into tables.
    kept = [(D(0x100, 0x90, 0x120, 16), D(0x3000, 0x210, 0xA0, 16)), (D(0x20, 0x10, 0x200, 64), D(0x3000, 0x10, 0x400, 128) | 1 << 53)]
    mma(m, "table", X("f8f6f4", 128, 16, ("f32", "e5m2", "e4m3"), long=True, half=0, negate=(0, 1)), kept[:1], meta_at=24, columns=32, extra=".collector::b::fill")
    mma(m, "table_second", X("f8f6f4", 128, 32, ("f16", "e4m3", "e4m3"), long=True, half=1), kept[1:], meta_at=36, columns=56, a_at=40, adds=(1,))
    mma(m, "table_scaled", X("mxf8f6f4", 128, 24, ("f32", "e4m3", "e4m3"), vec=1, ids=(3, 0), long=True, half=1), kept[1:], meta_at=26, d_at=0, scales=(32, 40), columns=48, adds=(1,), extra=".block32")
    mma(m, "table_pair", X("f8f6f4", 256, 32, ("f32", "e4m3", "e4m3"), pair=True, long=True, half=0), kept[:1], meta_at=32, columns=40, adds=(0,))

    m = Module("tcgen05_commit", "9.7.18.12 of PTX 9.4", "tcgen05.commit", "9.4", "sm_107a")
    pair = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster::%db.b64 [bar], %s;"
    for n, mask in ((16, "3"), (32, "%x")):
        mma(m, "mask_%d" % n, X("f16", 256, 16, ("f32", "f16", "f16"), pair=True), rows[1:2], adds=(1,), after=lambda text: text + "\nmov.u32 %x, 3;", commit=pair % (n, mask))
    # A may change as soon as it has been read; the multiplication uses the old values.
    def overwritten(text):
        return """{
            .shared .align 8 .b64 read;
            mbarrier.init.shared.b64 [read], 1;
            %s
            tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared::read::mma::a.b64 [read];
            again:
            mbarrier.try_wait.parity.shared.b64 %%q, [read], 0;
            @!%%q bra again;
            mov.u32 %%s, s;
            add.u32 %%c, %%s, 0x2000;
            clear:
            st.shared.u32 [%%s], 0;
            add.u32 %%s, %%s, 4;
            setp.lt.u32 %%q, %%s, %%c;
            @%%q bra clear;
            fence.proxy.async;
            }""" % text
    mma(m, "read_a", X("f16", 64, 8, ("f32", "f16", "f16")), rows[1:2], adds=(1,), after=overwritten)
    mma(m, "read_a_sparse", X("f8f6f4", 128, 8, ("f32", "e4m3", "e5m2"), sparse=True), long[2:3], meta_at=8, adds=(1,), after=overwritten)

    # Rows of A taken from the row above.
    m = Module("tcgen05_ashift", "9.7.18.10.10.1 of PTX 9.4", "tcgen05.mma with .ashift", "8.8", "sm_100a")
    mma(m, "f16", X("f16", 128, 8, ("f32", "f16", "f16"), shifted=True), rows[1:2], d_at=16, a_at=0, extra=".collector::a::lastuse")
    mma(m, "s8_pair", X("i8", 256, 32, ("s32", "s8", "u8"), pair=True, shifted=True), rows[1:2], a_at=32, adds=(1,))
    mma(m, "f16_folded", X("f16", 128, 16, ("f32", "f16", "f16"), pair=True, shifted=True), rows[1:2], a_at=32, adds=(1,))
    mma(m, "e4m3_sparse", X("f8f6f4", 128, 8, ("f32", "e4m3", "e4m3"), sparse=True, shifted=True), long[1:2], meta_at=8, a_at=16)
    mma(m, "s8_sparse_half", X("i8", 128, 32, ("s32", "s8", "s8"), pair=True, sparse=True, shifted=True), [(long[1][0], D(0x2000, 0x10, 0x200, 64))], a_at=40, meta_at=32, columns=48, adds=(1,))


def gen_fifth_tiles(new):
    """tcgen05.ld and .st: a warp stores in a shape, and all is loaded by lanes, or vice versa."""
    m = new("tcgen05_ld", "9.7.16.8", "tcgen05.ld and tcgen05.st", "sm_103a")

    def at(shape, reg, lane):
        if shape == "32x32b":
            return lane, reg
        if shape == "16x32bx2":
            return lane % 16, reg + (lane >= 16) * 1000
        if shape == "16x64b":  # pairs of lanes have a column of rows eight apart
            return lane // 4 + lane % 2 * 8, 2 * reg + lane // 2 % 2
        if shape == "16x128b":
            return lane // 4 + reg % 2 * 8, reg // 2 * 4 + lane % 4
        return lane // 4 + reg // 2 % 2 * 8, reg // 4 * 8 + lane % 4 * 2 + reg % 2

    for number, (shape, num, packed, lane, split) in enumerate((
            ("32x32b", 1, False, 0, 0), ("32x32b", 8, True, 0, 0), ("16x64b", 1, False, 16, 0), ("16x64b", 4, True, 0, 0), ("16x128b", 2, False, 0, 0), ("16x128b", 1, True, 16, 0),
            ("16x256b", 1, False, 16, 0), ("16x256b", 2, True, 0, 0), ("16x32bx2", 4, False, 0, 12), ("16x32bx2", 2, True, 16, 8))):
        regs = num * {"16x128b": 2, "16x256b": 4}.get(shape, 1)
        name = "t%s_x%d%s" % (shape, num, "_packed" if packed else "")
        width_ = 2 if packed else 1
        vector = "{%s}" % ", ".join("%%v%d" % i for i in range(regs))
        last = ", %d" % split if split else ""
        half = "%d, " % split if split else ""
        body = """
            mov.u32 %t, %tid.x;
            mov.u64 %a, where;
            cvta.shared.u64 %a, %a;
            shr.u32 %w, %t, 5;
            mov.u32 %lane, %t;
            mov.u32 %seed, SEED;
            setp.eq.u32 %zero, %w, 0;
            @%zero tcgen05.alloc.cta_group::1.sync.aligned.b32 [%a], 64;
            bar.sync 0;
            ld.shared.u32 %tm, [where];
            shl.b32 %tl, %w, 21;
            add.u32 %tl, %tl, %tm;
            """ + "".join(mixing("%%v%d" % i, i) for i in range(regs)) + """
            tcgen05.st.sync.aligned.SHAPE.NUMUNPACK.b32 [%tl+AT], HALFVECTOR;
            tcgen05.wait::st.sync.aligned;
            tcgen05.ld.sync.aligned.SHAPE.NUMPACK.b32 VECTOR, [%tl+AT]LAST;
            tcgen05.wait::ld.sync.aligned;
            mov.u32 %h, 0;
            """ + "".join("mad.lo.u32 %%h, %%h, 0x01000193, %%v%d;\n" % i for i in range(regs)) + """
            mov.u32 %c, 0;
            read:
            tcgen05.ld.sync.aligned.32x32b.x4.b32 {%v0, %v1, %v2, %v3}, [%tl];
            mad.lo.u32 %h, %h, 0x01000193, %v0;
            mad.lo.u32 %h, %h, 0x01000193, %v1;
            mad.lo.u32 %h, %h, 0x01000193, %v2;
            mad.lo.u32 %h, %h, 0x01000193, %v3;
            tcgen05.wait::ld.sync.aligned;
            add.u32 %tl, %tl, 4;
            add.u32 %c, %c, 4;
            setp.lt.u32 %q, %c, 64;
            @%q bra read;
            ld.param.u64 %p, [out];
            mad.wide.u32 %p, %t, 4, %p;
            st.global.u32 [%p], %h;
            bar.sync 0;
            @%zero tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 64;
            ret;"""
        column = 3
        for a, b in (("SHAPE", shape), ("NUMUNPACK", "x%d%s" % (num, ".unpack::16b" if packed else "")), ("NUMPACK", "x%d%s" % (num, ".pack::16b" if packed else "")), ("VECTOR", vector), ("HALF", half),
                     ("LAST", last), ("AT", "0x%x" % (lane << 16 | column)), ("SEED", str(number + 5))):
            body = body.replace(a, b)
        text = [".visible .entry %s(.param .u64 out)" % name, "{", "\t.shared .align 4 .b32 where;", "\t.reg .u32 %%t, %%w, %%lane, %%seed, %%x, %%y, %%h, %%c, %%tm, %%tl, %%v<%d>;" % max(regs, 4), "\t.reg .u64 %p, %a;", "\t.reg .pred %q, %zero;"]
        text += ["\t" + line.strip() for line in body.split("\n") if line.strip()] + ["}"]
        cells = [[0] * 64 for _ in range(128)]
        held = [[mixed(t, i, number + 5) for i in range(regs)] for t in range(128)]
        for t in range(128):
            for i in range(regs):
                row, c = at(shape, i, t % 32)
                c, second = c % 1000 * width_, c >= 1000
                row, c = t // 32 * 32 + lane + row, column + c + second * split
                if packed:
                    cells[row][c], cells[row][c + 1] = held[t][i] & 0xFFFF, held[t][i] >> 16
                else:
                    cells[row][c] = held[t][i]
        hashes = []
        for t in range(128):
            h = 0
            for v in held[t] + cells[t]:
                h = unsigned(h * 0x01000193 + v, 32)
            hashes.append(h)
        text.append("// run block=128: %s() == u32 %s" % (name, list_text(hashes, "u32")))
        m.add("\n".join(text))

    # .red: the loaded values of a lane, combined.
    for number, (shape, op, mods, typ) in enumerate((("32x32b", "min", "", "u32"), ("16x32bx2", "max", "", "s32"), ("32x32b", "max", ".abs.NaN", "f32"), ("32x32b", "min", ".abs", "f32"), ("16x32bx2", "max", "", "f32"))):
        name = "red_%d_%s_%s" % (number, op, typ)
        values = [1.5, -2.25, 0.0, 3.0, -7.5, float("inf"), -0.5, 100.0]
        word = lambda l, i: F32.nan + 5 if typ == "f32" and (l * 7 + i) % 11 == 0 else F32.of(Fraction(values[(l * 5 + i * 3) % 8])) if typ == "f32" and values[(l * 5 + i * 3) % 8] != float("inf") else F32.inf if typ == "f32" else mixed(l, i, 77)
        text = [".visible .entry %s(.param .u64 in, .param .u64 out)" % name, "{", "\t.shared .align 4 .b32 where;", "\t.reg .u32 %t, %tm, %v<4>, %h;", "\t.reg .%s %%r;" % typ, "\t.reg .%s %%x<4>;" % typ, "\t.reg .u64 %p;"]
        body = """
            tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 32;
            mov.u32 %t, %tid.x;
            ld.param.u64 %p, [in];
            mad.wide.u32 %p, %t, 16, %p;
            ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%p];
            ld.shared.u32 %tm, [where];
            tcgen05.st.sync.aligned.32x32b.x4.b32 [%tm], {%v0, %v1, %v2, %v3};
            tcgen05.wait::st.sync.aligned;
            """ + ("tcgen05.ld.red.sync.aligned.32x32b.x4.%s%s.%s {%%x0, %%x1, %%x2, %%x3}, %%r, [%%tm];" % (op, mods, typ) if shape == "32x32b" else
                   "tcgen05.ld.red.sync.aligned.16x32bx2.x2.%s%s.%s {%%x0, %%x1}, %%r, [%%tm], 2;" % (op, mods, typ)) + """
            tcgen05.wait::ld.sync.aligned;
            ld.param.u64 %p, [out];
            mad.wide.u32 %p, %t, 4, %p;
            st.global.TYPE [%p], %r;
            tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 32;
            ret;""".replace("TYPE", typ)
        text += ["\t" + line.strip() for line in body.split("\n") if line.strip()] + ["}"]
        words = [[word(l, i) for i in range(4)] for l in range(32)]
        want = []
        for l in range(32):
            held = words[l] if shape == "32x32b" else words[l % 16][2 * (l // 16):][:2]
            if typ == "f32":
                if ".abs" in mods:
                    held = [v & 0x7FFFFFFF for v in held]
                numbers = [v for v in held if not F32.is_nan(v)]
                if len(numbers) < len(held) and "NaN" in mods or not numbers:
                    want.append(F32.nan)
                    continue
                key = lambda v: (float("-inf") if F32.negative(v) else float("inf")) if F32.is_inf(v) else F32.value(v)
                want.append((min if op == "min" else max)(numbers, key=lambda v: (key(v), not F32.negative(v))))
            else:
                key = lambda v: integer(v, typ)
                want.append((min if op == "min" else max)(held, key=key))
        text.append("// run block=32: %s(u32{%s}) == u32 %s" % (name, " ".join("0x%x" % v for w in words for v in w), list_text(want, "u32")))
        m.add("\n".join(text))


def signed_tiles(memory):
    """ldmatrix of signed elements of 4 bits (manual of PTX 9.4, 9.7.16.5.15): rows of eight bytes, in the order of 5·i modulo 32."""
    m = Module("ldmatrix_signed", "9.7.16.5.15 of PTX 9.4", "ldmatrix of signed elements of 4 bits", "9.4", "sm_90a")
    for space, num in ((".shared", 1), (".shared::cta", 2), (".shared", 4), ("", 2)):
        name = "x%d%s" % (num, space.replace(".", "_").replace("::", "_") or "_generic")
        address = "%at" if space else "%p"
        text = [".visible .entry %s(.param .u64 in, .param .u64 out)" % name, "{", "\t.shared .align 8 .b8 rows[256];", "\t.reg .b32 %d<4>, %lane, %at, %x;", "\t.reg .b64 %p, %v;", "\t.reg .pred %q;"]
        body = """
            mov.u32 %%lane, %%laneid;
            ld.param.u64 %%p, [in];
            mad.wide.u32 %%p, %%lane, 8, %%p;
            ld.global.b64 %%v, [%%p];
            mov.u32 %%x, rows;
            mad.lo.u32 %%at, %%lane, 8, %%x;
            st.shared.b64 [%%at], %%v;
            bar.sync 0;
            mul.lo.u32 %%at, %%lane, 5;
            and.b32 %%at, %%at, 31;
            mad.lo.u32 %%at, %%at, 8, %%x;
            setp.ge.u32 %%q, %%lane, %d;
            @%%q mov.u32 %%at, 0xfffffff1;
            cvt.u64.u32 %%p, %%at;
            cvta.shared.u64 %%p, %%p;
            ldmatrix.sync.aligned.m8n16.x%d%s.s8.s4 {%s}, [%s];
            ld.param.u64 %%p, [out];
            mad.wide.u32 %%p, %%lane, %d, %%p;""" % (8 * num, num, space, ", ".join("%%d%d" % i for i in range(num)), address, 4 * num)
        text += ["\t" + line.strip() for line in body.strip().split("\n")] + ["\tst.global.b32 [%%p+%d], %%d%d;" % (4 * i, i) for i in range(num)] + ["\tret;", "}"]
        element = lambda i, col: signed(memory[i * 5 % 32 * 8 + col // 2] >> col % 2 * 4 & 15, 4) & 255
        want = [sum(element(8 * r + lane // 4, lane % 4 * 4 + k) << 8 * k for k in range(4)) for lane in range(32) for r in range(num)]
        text.append("// run block=32: %s(u8{%s}) == u32 %s" % (name, list_text(memory[:256], "u8"), list_text(want, "u32")))
        m.add("\n".join(text))


def gen_tiles():
    """ldmatrix, stmatrix and movmatrix: memory holds numbers that tell every place."""
    m = Module("ldmatrix", "9.7.14.5.15", "ldmatrix", "8.8", "sm_100a")
    memory = [(i * 37 + i // 256 * 101 + 11) % 256 for i in range(32 * 16)]
    # The addresses are the rows in the order of 5·i modulo 32: a wrong lane gives a different result.
    row = lambda i: memory[i * 5 % 32 * 16:][:16]

    def packed(r, bits, i):
        v = sum(b << 8 * k for k, b in enumerate(r)) >> bits * i & (1 << bits) - 1
        return v << 2 if bits == 4 else v

    def load(shape, trans, num, bits, lane, reg):
        if shape == "m8n8":
            pairs = [(lane // 4, lane % 4 * 2 + k) for k in range(2)]
            if trans:
                pairs = [(lane % 4 * 2 + k, lane // 4) for k in range(2)]
            return sum((row(8 * reg + r)[2 * c] | row(8 * reg + r)[2 * c + 1] << 8) << 16 * k for k, (r, c) in enumerate(pairs))
        if shape == "m8n16":
            return sum(packed(row(8 * reg + lane // 4), bits, lane % 4 * 4 + k) << 8 * k for k in range(4))
        at = lambda k: (16 * (reg // 2) + lane % 4 * 4 + reg % 2 * 2 + k % 2, lane // 4 + k // 2 * 8)
        return sum(packed(row(at(k)[0]), bits, at(k)[1]) << 8 * k for k in range(4))

    forms = [("m8n8", t, n, 16, "b16") for t in ("", ".trans") for n in (1, 2, 4)] + [("m16n16", ".trans", n, 8, "b8") for n in (1, 2)]
    forms += [("m8n16", "", n, b, f) for b, f in ((6, "b8x16.b6x16_p32"), (4, "b8x16.b4x16_p64")) for n in (1, 2, 4)]
    forms += [("m16n16", ".trans", n, b, f) for b, f in ((6, "b8x16.b6x16_p32"), (4, "b8x16.b4x16_p64")) for n in (1, 2)]
    signed_tiles(memory)
    for space in (".shared", ""):
        for shape, trans, num, bits, fmt in forms:
            if not space and (shape, num) != ("m8n8", 2):
                continue
            regs = num * (2 if shape == "m16n16" else 1)
            name = "%s_x%d%s_%s%s" % (shape, num, trans.replace(".", "_"), fmt.replace(".", "_"), "" if space else "_generic")
            text = [".visible .entry %s(.param .u64 in, .param .u64 out)" % name, "{", "\t.shared .align 16 .b8 rows[512];", "\t.reg .b32 %d<4>, %v<4>, %lane, %at;", "\t.reg .u64 %p;",
                    "\tmov.u32 %lane, %laneid;", "\tld.param.u64 %p, [in];", "\tmad.wide.u32 %p, %lane, 16, %p;", "\tld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%p];",
                    "\tmov.u32 %at, rows;", "\tmad.lo.u32 %at, %lane, 16, %at;", "\tst.shared.v4.b32 [%at], {%v0, %v1, %v2, %v3};", "\tbar.sync 0;",
                    "\tmul.lo.u32 %at, %lane, 5;", "\tand.b32 %at, %at, 31;", "\tmul.lo.u32 %at, %at, 16;", "\tmov.u32 %v0, rows;", "\tadd.u32 %at, %at, %v0;"]
            providers = num * (16 if shape == "m16n16" else 8)
            if providers < 32:  # the remaining lanes' addresses are ignored
                text += ["\t{", "\t.reg .pred %q;", "\tsetp.ge.u32 %%q, %%lane, %d;" % providers, "\t@%q mov.u32 %at, 0xfffffff1;", "\t}"]
            address = "%at"
            if not space:
                text += ["\tcvt.u64.u32 %p, %at;", "\tcvta.shared.u64 %p, %p;"]
                address = "%p"
            text += ["\tldmatrix.sync.aligned.%s.x%d%s%s.%s {%s}, [%s];" % (shape, num, trans, space, fmt, ", ".join("%%d%d" % i for i in range(regs)), address),
                     "\tld.param.u64 %p, [out];", "\tmad.wide.u32 %%p, %%lane, %d, %%p;" % (4 * regs)]
            text += ["\tst.global.b32 [%%p+%d], %%d%d;" % (4 * i, i) for i in range(regs)] + ["\tret;", "}"]
            want = [load(shape, trans, num, bits, lane, r) for lane in range(32) for r in range(regs)]
            text.append("// run block=32: %s(u8{%s}) == u32 %s" % (name, list_text(memory, "u8"), list_text(want, "u32")))
            m.add("\n".join(text))

    m = Module("stmatrix", "9.7.14.5.16, 9.7.14.5.17", "stmatrix and movmatrix", "8.8", "sm_100a")
    value = lambda lane, r: mixed(lane, r, 7)
    for shape, trans, num, fmt in [("m8n8", t, n, "b16") for t in ("", ".trans") for n in (1, 2, 4)] + [("m16n8", ".trans", n, "b8") for n in (1, 2, 4)]:
        name = "%s_x%d%s" % (shape, num, trans.replace(".", "_"))
        text = [".visible .entry %s(.param .u64 out)" % name, "{", "\t.shared .align 16 .b8 rows[512];", "\t.reg .b32 %d<4>, %lane, %at, %x, %y, %seed, %z;", "\t.reg .u64 %p;", "\tmov.u32 %lane, %laneid;", "\tmov.u32 %seed, 7;"]
        for r in range(num):
            text += ["\t" + line.strip() for line in mixing("%%d%d" % r, r).strip().split("\n")]
        text += ["\tmov.u32 %at, rows;", "\tmad.lo.u32 %z, %lane, 16, %at;", "\tmov.u32 %x, 0;", "\tst.shared.v4.b32 [%z], {%x, %x, %x, %x};", "\tbar.sync 0;",
                 "\tmul.lo.u32 %x, %lane, 5;", "\tand.b32 %x, %x, 31;", "\tmad.lo.u32 %at, %x, 16, %at;",
                 "\tstmatrix.sync.aligned.%s.x%d%s.shared.%s [%%at], {%s};" % (shape, num, trans, fmt, ", ".join("%%d%d" % i for i in range(num))), "\tbar.sync 0;",
                 "\tld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%z];", "\tld.param.u64 %p, [out];", "\tmad.wide.u32 %p, %lane, 16, %p;", "\tst.global.v4.b32 [%p], {%d0, %d1, %d2, %d3};", "\tret;", "}"]
        want = [0] * 512
        for lane in range(32):
            for r in range(num):
                for k in range(4):
                    i, col = (lane // 4, lane % 4 * 4 + k)
                    if trans:
                        i, col = (lane % 4 * 2 + k // 2, lane // 4 * 2 + k % 2) if shape == "m8n8" else (lane % 4 * 2 + k % 2, lane // 4 + k // 2 * 8)
                    want[(8 * r + i) * 5 % 32 * 16 + col] = value(lane, r) >> 8 * k & 255
        text.append("// run block=32: %s() == u8 %s" % (name, list_text(want, "u8")))
        m.add("\n".join(text))
    text = [".visible .entry move(.param .u64 out)", "{", "\t.reg .b32 %d0, %lane, %x, %y, %seed;", "\t.reg .u64 %p;", "\tmov.u32 %lane, %laneid;", "\tmov.u32 %seed, 7;"]
    text += ["\t" + line.strip() for line in mixing("%d0", 0).strip().split("\n")]
    text += ["\tmovmatrix.sync.aligned.m8n8.trans.b16 %d0, %d0;", "\tld.param.u64 %p, [out];", "\tmad.wide.u32 %p, %lane, 4, %p;", "\tst.global.b32 [%p], %d0;", "\tret;", "}"]
    element = lambda r, c: value(r * 4 + c // 2, 0) >> 16 * (c % 2) & 0xFFFF
    want = [element(lane % 4 * 2, lane // 4) | element(lane % 4 * 2 + 1, lane // 4) << 16 for lane in range(32)]
    text.append("// run block=32: move() == u32 %s" % list_text(want, "u32"))
    m.add("\n".join(text))


# ---------------------------------------------------------------- textures and surfaces

class Image:
    """Texels with a sampler, in the form of a case line. Sampling follows the CUDA C++ Programming
    Guide, "Texture Fetching": sums of texels, with weights of 8 fractional bits, exact and rounded
    once. Where the guide is silent docs/textures.md has gemu's choice; there is no case without
    either."""

    def __init__(self, geom, form, *extents, texels=None, seed=1, **options):
        self.geom, self.form, self.options = geom, form, options
        kind, _, channels = form.partition("x")
        self.kind, self.bits, self.channels = kind[0], int(kind[1:]), int(channels or 1)
        self.extents = extents
        self.spatial = {"1d": 1, "a1d": 1, "linear": 1, "3d": 3}.get(geom, 2)
        self.size = list(extents[-self.spatial:])[::-1]
        self.layers = {"cube": 6, "acube": 6 * extents[0]}.get(geom, extents[0] if geom[0] == "a" else 1)
        self.levels, self.samples = options.get("levels", 1), options.get("samples", 1)
        if texels is None:
            r = Random(seed)
            n = sum(self.count(level) for level in range(self.levels)) * self.channels
            texels = [self.made(r) for _ in range(n)]
        self.texels = texels

    def made(self, r):
        if self.kind != "f":
            return r.bits(self.bits)
        f = F16 if self.bits == 16 else F32
        return f.of(Fraction(r.bits(self.bits // 2) - (1 << self.bits // 2 - 1), 64))

    def extent(self, level):
        return [max(n >> level, 1) for n in self.size]

    def count(self, level):
        n = self.layers * self.samples
        for e in self.extent(level):
            n *= e
        return n

    def text(self, what="tex"):
        typ = {"u": "u", "s": "s", "f": "f"}[self.kind] + str(self.bits)
        values = [signed(v, self.bits) if self.kind == "s" else v for v in self.texels]
        if self.kind == "f":
            form = F16 if self.bits == 16 else F32
            listed = " ".join(form.text(v) for v in values)
        else:
            listed = list_text(values, typ)
        options = "".join(",%s" % k if v is True else ",%s=%s" % (k, v) for k, v in self.options.items())
        return "%s.%s(%s[%s]{%s}%s)" % (what, self.geom, self.form, "x".join(map(str, self.extents)), listed, options)

    def floats(self):
        return self.kind == "f" or "float" in self.options and self.bits < 32

    def raw(self, level, layer, sample, at, channel):
        first = sum(self.count(i) for i in range(level))
        e = (self.extent(level) + [1, 1])[:3]
        x, y, z = (list(at) + [0, 0])[:3]
        i = (((layer * e[2] + z) * e[1] + y) * e[0] + x) * self.samples + sample
        return self.texels[(first + i) * self.channels + channel]

    def value(self, level, layer, sample, at, channel):
        """A channel of a texel as a number; outside the image at is None."""
        if at is None or channel >= self.channels:
            border = [Fraction(c) for c in self.options.get("border", "0:0:0:0").split(":")]
            if at is None and channel < self.channels:
                return border[channel] if self.geom != "linear" else Fraction(0)
            return Fraction(channel == 3 and not (at is None and self.geom == "linear"))
        v = self.raw(level, layer, sample, at, channel)
        if self.kind == "f":
            return (F16 if self.bits == 16 else F32).value(v)
        if self.floats() and self.kind == "s":
            most = (1 << self.bits - 1) - 1
            return Fraction(max(signed(v, self.bits), -most), most)
        if self.floats():
            return Fraction(v, (1 << self.bits) - 1)
        return Fraction(signed(v, self.bits) if self.kind == "s" else v)

    def mode(self, i):
        modes = self.options.get("address", "clamp").split(":")
        mode = modes[min(i, len(modes) - 1)]
        return mode if "norm" in self.options or mode not in ("wrap", "mirror") else "clamp"

    def inside(self, u, n, mode):
        """A coordinate in texels, brought into an image that is repeated."""
        k = u // n
        if mode == "wrap":
            return u - k * n
        if mode == "mirror":
            return (k + 1) * n - u if k % 2 else u - k * n
        return u

    def place(self, i, n, mode, linear):
        if 0 <= i < n:
            return i
        if mode == "border" or self.geom == "linear" or mode == "ogl" and linear:
            return None
        if mode == "wrap":
            return i % n
        return min(max(i, 0), n - 1)

    def between(self, i, u, n):
        mode = self.mode(i)
        u = self.inside(u, n, mode)
        if mode == "ogl":
            u = min(max(u, 0), n)
        b = u - Fraction(1, 2)
        k = b.numerator // b.denominator
        w = Fraction(floor_of((b - k) * 256 + Fraction(1, 2)), 256)
        return [(self.place(k, n, mode, True), 1 - w), (self.place(k + 1, n, mode, True), w)]

    def neighbours(self, i, u, n):
        if self.options.get("filter") == "linear":
            return [(p, w) for p, w in self.between(i, u, n) if w]
        u = self.inside(u, n, self.mode(i))
        return [(self.place(min(floor_of(u), n - 1) if self.mode(i) == "mirror" else floor_of(u), n, self.mode(i), False), Fraction(1))]

    def taps(self, level, u, offset=(0, 0, 0)):
        """(texel or None, weight) of a level, for coordinates as the program has them."""
        out = [((), Fraction(1))]
        for i, n in enumerate(self.extent(level)):
            c = u[i] * n if "norm" in self.options else u[i]
            out = [(None if at is None or p is None else at + (p,), w * v) for at, w in out for p, v in self.neighbours(i, c + offset[i], n)]
        return out

    def whole(self, u, offset=(0, 0, 0)):
        at = [self.place(c + o, n, self.mode(i), False) for i, (c, o, n) in enumerate(zip(u, offset, self.size))]
        return [(None if None in at else tuple(at), Fraction(1))]

    def result(self, taps, layer=0, sample=0, level=0, compare=None):
        """The result of tex for taps of a level, or for (level, tap) pairs."""
        out = []
        for channel in range(4):
            v = Fraction(0)
            for at, w in taps:
                l = level
                if at is not None and isinstance(at[0], str):
                    l, at = int(at[0]), at[1]
                x = self.value(l, layer, sample, at, channel)
                if compare is not None:
                    x = Fraction(compare <= x)
                v += w * x
            out.append(F32.of(v) if self.floats() else int(v) & 0xffffffff)
        return out

    def level_of(self, lod):
        bounds = self.options.get("lod", "0:1000").split(":")
        if "nan" in bounds:
            return Fraction(0)
        low, high = [Fraction(x) for x in bounds]
        lod = min(max(lod + Fraction(str(self.options.get("bias", 0))), low), high)
        return Fraction(floor_of(min(max(lod, 0), self.levels - 1) * 256 + Fraction(1, 2)), 256)

    def mip(self, lod, u):
        l = self.level_of(lod)
        if self.options.get("mip") != "linear":
            k = floor_of(l + Fraction(1, 2))
            return [((str(k), at), w) for at, w in self.taps(k, u)]
        k, b = floor_of(l), l - floor_of(l)
        both = [((str(k), at), w * (1 - b)) for at, w in self.taps(k, u)]
        return both + ([((str(k + 1), at), w * b) for at, w in self.taps(k + 1, u)] if b else [])


def floor_of(v):
    v = Fraction(v)
    return v.numerator // v.denominator


def face_of(x, y, z):
    """The face of a cube, and the coordinates on it from 0 to 1 (CUDA C++ Programming Guide,
    Cubemap Textures)."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if ax > ay and ax > az:
        face, m, s, t = (0, x, -z, -y) if x >= 0 else (1, -x, z, -y)
    elif ay > ax and ay > az:
        face, m, s, t = (2, y, x, z) if y >= 0 else (3, -y, x, -z)
    else:
        face, m, s, t = (4, z, x, -y) if z >= 0 else (5, -z, -x, -y)
    return face, (s / m + 1) / 2, (t / m + 1) / 2


def gen_texture():
    m = Module("texture", "9.7.10", "textures, by handles.", version="8.8", target="sm_90")
    words = {"f32": "f32", "s32": "b32", "u32": "b32"}

    def kernel(name, ins, code, outs=4, regs=""):
        """Inputs %a, %b, … of the types, by thread, of texture %t; results %d0 …, of 32 bits."""
        names = "abcefgh"[:len(ins)]
        text = [".visible .entry %s(.param .u64 t, %s, .param .u64 out)" % (name, ", ".join(".param .u64 " + n for n in names)), "{",
                "\t.reg .u64 %t, %p;", "\t.reg .u32 %i;", "\t.reg .b32 %%d<%d>;" % outs]
        text += ["\t.reg .%s %%%s;" % (words[t], n) for n, t in zip(names, ins)] + ["\t.reg .%s;" % r for r in regs.split("; ") if r]
        text += ["\tmov.u32 %i, %tid.x;", "\tld.param.u64 %t, [t];"]
        for n, t in zip(names, ins):
            text += ["\tld.param.u64 %%p, [%s];" % n, "\tmad.wide.u32 %p, %i, 4, %p;", "\tld.global.%s %%%s, [%%p];" % (words[t], n)]
        text += ["\t" + line.strip() for line in code.strip().split("\n")]
        text += ["\tld.param.u64 %%p, [out];\n\tmad.wide.u32 %%p, %%i, %d, %%p;" % (4 * outs)]
        text += ["\tst.global.b32 [%%p+%d], %%d%d;" % (4 * i, i) for i in range(outs)] + ["\tret;", "}"]
        m.add("\n".join(text))

    def case(name, image, ins, rows, floats=None):
        """Rows are inputs, as numbers, and results, as bits."""
        t = "f32" if (image.floats() if floats is None else floats) else "u32"
        args = []
        for i, typ in enumerate(ins):
            bits = [F32.of(Fraction(a[i])) if typ == "f32" else a[i] for a, _ in rows]
            args.append("%s{%s}" % (typ, list_text(bits, typ)))
        want = list_text([v for _, r in rows for v in r], t)
        m.text.append("// run block=%d: %s(%s, %s) == %s %s" % (len(rows), name, image.text(), ", ".join(args), t, want))

    def numbers(*values):
        return [F32.value(F32.of(Fraction(v))) for v in values]

    four = "{%d0, %d1, %d2, %d3}"
    line = numbers("0.5", "0.75", "1", "1.501953125", "1.50390625", "1.505859375", "2.3", "3.9", "4.6", "4.99", "5", "7.25", "0", "-0.1", "-0.75", "-3.3", "1e20", "-1e20", "0.499", "2.998046875")
    unit = numbers("0", "0.1", "0.125", "0.3", "0.7", "0.95", "0.999", "1", "1.05", "1.3", "1.95", "2", "2.7", "-0.05", "-0.4", "-1", "-1.7", "-2.3", "7.9", "1e-30")

    # One dimension: the nearest texel, and a point between two texels.
    kernel("one", ["f32"], "tex.1d.v4.f32.f32 %s, [%%t, {%%a}];" % four)
    for options in ({}, {"filter": "linear"}, {"filter": "linear", "address": "border", "border": "2:0:0:0"}, {"address": "border"},
                    {"filter": "linear", "address": "ogl", "border": "-3:0:0:0"}, {"filter": "linear", "address": "wrap"}):
        image = Image("1d", "f32", 5, seed=3, **options)
        case("one", image, ["f32"], [((u,), image.result(image.taps(0, (u,)))) for u in line])
    for options in ({"address": "wrap"}, {"address": "mirror"}, {"address": "wrap", "filter": "linear"}, {"address": "mirror", "filter": "linear"},
                    {"address": "border", "border": "1.5:-1:0:0", "filter": "linear"}):
        image = Image("1d", "f32x2", 4, seed=4, norm=True, **options)
        case("one", image, ["f32"], [((u,), image.result(image.taps(0, (u,)))) for u in unit])
    # An image of a single row is a line.
    for options in ({}, {"filter": "linear", "address": "wrap:border"}, {"filter": "linear", "address": "border", "border": "2:0:0:0"}):
        image = Image("1d", "f32", 5, seed=3, norm=True, **options)
        row = Image("2d", "f32", 1, 5, texels=image.texels, norm=True, **options)
        rows = [((u,), image.result(image.taps(0, (u,)))) for u in unit]
        case("one", row, ["f32"], rows)
    # Sums that doubles do not hold.
    for big in (Fraction(2) ** 90, Fraction(11184814)):  # three quarters of the latter are half-way between two numbers
        image = Image("1d", "f32", 2, texels=[F32.of(big), F32.of(Fraction(1, 2) ** 60)], filter="linear")
        case("one", image, ["f32"], [((u,), image.result(image.taps(0, (u,)))) for u in numbers("0.75", "1", "1.25", "1.45", "1.5")])

    # Two dimensions, in every format.
    kernel("two", ["f32", "f32"], "tex.2d.v4.f32.f32 %s, [%%t, {%%a, %%b}];" % four)
    pairs = [(line[i], line[(7 * i + 3) % len(line)]) for i in range(len(line)) if abs(line[i]) < 100][:14]
    for form, options in (("u8x4", {"float": True, "filter": "linear"}), ("s8x2", {"float": True, "filter": "linear"}), ("u16", {"float": True, "filter": "linear"}),
                          ("s16x4", {"float": True, "filter": "linear", "address": "border", "border": "0.25:-0.5:1:0.75"}), ("f16x4", {"filter": "linear"}),
                          ("u8x4", {"float": True}), ("f32x4", {"address": "border:clamp"})):
        image = Image("2d", form, 3, 5, seed=len(form) + len(options), **options)
        case("two", image, ["f32", "f32"], [(p, image.result(image.taps(0, p))) for p in pairs])
    image = Image("2d", "u8", 3, 5, seed=6, pitch=32, float=True, filter="linear")
    case("two", image, ["f32", "f32"], [(p, image.result(image.taps(0, p))) for p in pairs])

    # Integers, and coordinates that are.
    kernel("integers", ["s32", "s32"], "tex.2d.v4.u32.s32 %s, [%%t, {%%a, %%b}];" % four)
    places = [(0, 0), (4, 2), (2, 1), (-1, 1), (5, 1), (1, -7), (1, 3), (0x7fffffff, 0), (-0x80000000, 2)]
    for form, options in (("u8x4", {}), ("s8x2", {}), ("s16", {}), ("u32x2", {"address": "border", "border": "7:9:0:0"}), ("s32x4", {"address": "border", "border": "-7.9:3e9:0:0"})):
        image = Image("2d", form, 3, 5, seed=9, **options)
        rows = []
        for p in places:
            r = image.result(image.whole(p))
            if form[0] == "s" and None in [t[0] for t in image.whole(p)]:
                r = [min(max(int(image.value(0, 0, 0, None, c)), -1 << 31), (1 << 31) - 1) & 0xffffffff for c in range(4)]
            rows.append((p, r))
        case("integers", image, ["s32", "s32"], rows)
    kernel("lines", ["s32"], "tex.1d.v4.s32.s32 %s, [%%t, {%%a}];" % four)
    image = Image("linear", "s16x2", 6, seed=2)
    case("lines", image, ["s32"], [((i,), image.result(image.whole((i,)))) for i in (0, 1, 5, 6, -1, 100000)])

    # Three dimensions, layers, cubes.
    kernel("three", ["f32", "f32", "f32"], "tex.3d.v4.f32.f32 %s, [%%t, {%%a, %%b, %%c, %%c}];" % four)
    triples = [(unit[i], unit[(3 * i + 1) % 20], unit[(7 * i + 2) % 20]) for i in range(12)]
    for options in ({"filter": "linear", "address": "wrap:mirror:clamp"}, {"address": "mirror:wrap:border"}):
        image = Image("3d", "u8", 2, 3, 4, seed=5, float=True, norm=True, **options)
        case("three", image, ["f32"] * 3, [(p, image.result(image.taps(0, p))) for p in triples])
    kernel("layers", ["u32", "f32", "f32"], """
        tex.a1d.v4.f32.f32 %s, [%%t, {%%a, %%b}];""" % four)
    image = Image("a1d", "f32", 3, 4, seed=7, filter="linear")
    case("layers", image, ["u32", "f32", "f32"], [((l, u, 0), image.result(image.taps(0, (u,)), layer=min(l, 2))) for l, u in zip((0, 1, 2, 3, 0xffffffff, 1), line[:6])])
    kernel("planes", ["u32", "f32", "f32"], "tex.a2d.v4.f32.f32 %s, [%%t, {%%a, %%b, %%c, %%c}];" % four)
    image = Image("a2d", "u16", 2, 3, 4, seed=8, float=True, filter="linear")
    case("planes", image, ["u32", "f32", "f32"], [((i % 3, p[0], p[1]), image.result(image.taps(0, p), layer=min(i % 3, 1))) for i, p in enumerate(pairs)])
    kernel("cube", ["f32", "f32", "f32"], "tex.cube.v4.f32.f32 %s, [%%t, {%%a, %%b, %%c, %%c}];" % four)
    directions = [p for p in [(4, 1, 2), (-4, 1, 2), (1, 4, 3), (1, -4, -3), (1, 2, 4), (3, 2, -4), (8, -7, 5), (-8, -7, 5), (1, -8, 7.5), (0, 0, 2), (0, -0.5, 0), (16, 15, -15), (1, 1, -16)]]
    for options in ({}, {"filter": "linear"}):
        image = Image("cube", "u8x2", 4, 4, seed=10, float=True, norm=True, **options)
        rows = []
        for p in directions:
            face, s, t = face_of(*map(Fraction, p))
            rows.append((p, image.result(image.taps(0, (s, t)), layer=face)))
        case("cube", image, ["f32"] * 3, rows)
    kernel("cubes", ["u32", "f32", "f32", "f32"], "tex.acube.v4.f32.f32 %s, [%%t, {%%a, %%b, %%c, %%e}];" % four)
    image = Image("acube", "u8", 2, 2, 2, seed=11, float=True, norm=True)
    rows = []
    for i, p in enumerate(directions[:8]):
        face, s, t = face_of(*map(Fraction, p))
        rows.append(((i % 3,) + p, image.result(image.taps(0, (s, t)), layer=6 * min(i % 3, 1) + face)))
    case("cubes", image, ["u32"] + ["f32"] * 3, rows)
    kernel("samples", ["u32", "s32", "s32"], "tex.2dms.v4.u32.s32 %s, [%%t, {%%a, %%b, %%c, %%c}], {-1, 1};" % four)
    image = Image("2dms", "u8x2", 2, 3, seed=12, samples=4)
    case("samples", image, ["u32", "s32", "s32"], [((s, x, y), image.result(image.whole((x, y), (-1, 1)), sample=s)) for s in range(4) for x, y in ((1, 0), (3, -1), (0, 4))])

    # Halves, offsets, depths, and whether texels are there.
    kernel("halves", ["f32", "f32"], """
        tex.2d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%t, {%a, %b}];
        mov.b32 %d0, {%h0, %h1};
        mov.b32 %d1, {%h2, %h3};
        tex.2d.v2.f16x2.f32 {%d2, %d3}|%q, [%t, {%a, %b}], {1, -2};
        selp.u32 %d4, 1, 0, %q;""", outs=5, regs="b16 %h<4>; pred %q")
    image = Image("2d", "u8x4", 4, 4, seed=13, float=True, filter="linear")
    rows = []
    for p in pairs[:10]:
        there, moved = image.result(image.taps(0, p)), image.result(image.taps(0, p, (1, -2)))
        h = [[F16.of(F32.value(v)) for v in r] for r in (there, moved)]
        rows.append((p, [h[0][0] | h[0][1] << 16, h[0][2] | h[0][3] << 16, h[1][0] | h[1][1] << 16, h[1][2] | h[1][3] << 16, 1]))
    case("halves", image, ["f32", "f32"], rows, floats=False)
    kernel("depth", ["f32", "f32", "f32"], """
        tex.2d.v4.f32.f32 {%d0, _, _, _}, [%t, {%a, %b}], %c;
        tex.base.2d.v4.f32.f32 {%d1, _, _, %d2}, [%t, {%a, %b}], {-8, 7}, %c;""", outs=3)
    image = Image("2d", "f32", 4, 4, seed=14, filter="linear", norm=True, address="wrap")
    rows = []
    for i, p in enumerate(pairs[:10]):
        f = Fraction([-200, 3, 80, -20][i % 4])
        moved = image.result(image.taps(0, p, (-8, 7)), compare=f)
        rows.append((p + (f,), [image.result(image.taps(0, p), compare=f)[0], moved[0], moved[3]]))
    case("depth", image, ["f32"] * 3, rows)

    image = Image("2d", "f32", 1, 4, texels=[F32.of(Fraction(n)) for n in (1, 2, 3, 2)])
    case("depth", image, ["f32"] * 3, [((Fraction(i), 0, 2), [image.result(image.taps(0, (i, 0), o), compare=2)[c] for o, c in (((0, 0), 0), ((-8, 7), 0), ((-8, 7), 3))]) for i in range(4)])

    # Levels of detail.
    kernel("level", ["f32", "f32", "f32"], "tex.level.2d.v4.f32.f32 %s, [%%t, {%%a, %%b}], %%c;" % four)
    lods = numbers(0, "0.3", "0.5", "0.75", 1, "1.49", "1.5", "2.7", 5, -2, "0.001", "0.001953125")
    for options in ({}, {"filter": "linear", "mip": "linear"}, {"mip": "linear", "bias": "0.25", "lod": "0.5:1.5"}, {"lod": "nan:1"}, {"lod": "0.5:nan"}):
        image = Image("2d", "u8x2", 4, 8, seed=15, levels=3, float=True, norm=True, address="wrap", **options)
        rows = [((unit[i], unit[i + 5], l), image.result(image.mip(l, (unit[i], unit[i + 5])))) for i, l in enumerate(lods)]
        case("level", image, ["f32"] * 3, rows)
    kernel("grad", ["f32", "f32", "f32", "f32"], "tex.grad.2d.v4.f32.f32 %s, [%%t, {%%a, %%b}], {%%c, 0f00000000}, {0f00000000, %%e};" % four)
    image = Image("2d", "u8x2", 4, 8, seed=16, levels=3, float=True, norm=True, mip="linear")
    rows = []
    for i, (k, l) in enumerate(((0, 0), (1, 0), (0, 2), (2, 1), (-3, 1), (7, 7))):  # derivatives span 2**k and 2**l texels
        p = (unit[i], unit[i + 5], Fraction(2) ** k / 8, Fraction(2) ** l / 4)
        rows.append((p, image.result(image.mip(Fraction(max(k, l)), p[:2]))))
    case("grad", image, ["f32"] * 4, rows)

    # The four texels of a footprint, counter-clockwise from the lower left.
    kernel("gather", ["f32", "f32"], """
        tld4.g.2d.v4.f32.f32 %s, [%%t, {%%a, %%b}];
        tld4.r.2d.v4.u32.f32 {%%d4, %%d5, %%d6, %%d7}, [%%t, {%%a, %%b}], {2, -1};""" % four, outs=8)
    image = Image("2d", "u8x2", 4, 4, seed=17, norm=True, address="wrap")
    rows = []
    for p in [(unit[i], unit[(3 * i + 1) % 20]) for i in range(16)]:
        def corners_of(offset, channel):
            x, y = [[q for q, _ in image.between(i, p[i] * 4 + offset[i], 4)] for i in range(2)]
            return [image.raw(0, 0, 0, (x[i], y[k]), channel) for i, k in ((0, 1), (1, 1), (1, 0), (0, 0))]
        rows.append((p, corners_of((0, 0), 1) + corners_of((2, -1), 0)))
    case("gather", image, ["f32", "f32"], rows)

    # Queries of textures (manual 5.3, tables 12 and 13).
    queries = ["width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size", "num_mipmap_levels", "num_samples",
               "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2"]
    code = ["txq.%s.b32 %%d%d, [%%t];" % (q, i) for i, q in enumerate(queries)]
    code += ["txq.level.width.b32 %d13, [%t], %a;", "txq.level.height.b32 %d14, [%t], 1;", "istypep.texref %q, %t;", "selp.u32 %d15, 1, 0, %q;",
             "istypep.surfref %q, %t;", "selp.u32 %d16, 1, 0, %q;"]
    kernel("queries", ["u32"], "\n".join(code), outs=17, regs="pred %q")
    for image, want in ((Image("2d", "u8x4", 4, 8, seed=1, levels=3, float=True, norm=True, filter="linear", address="wrap:border"),
                         (8, 4, 0, 0x10d2, 0x10b5, 1, 0, 3, 1, 1, 0, 3, 3, 2, 2, 1, 0)),
                        (Image("3d", "f16", 2, 3, 4, levels=2, norm=True, address="mirror:clamp:ogl"), (4, 3, 2, 0x10dd, 0x10b0, 1, 0, 2, 1, 0, 2, 1, 4, 2, 1, 1, 0))):
        case("queries", image, ["u32"], [((image.levels - 1,), want)], floats=False)
    m.add("// What cannot be.\n" + "\n".join("// trap block=1: %s" % t for t in (
        'two(1, f32{0}, f32{0}) "0x1 is neither the handle of a texture, surface or sampler"',
        'two(%s, f32{0}, f32{0}) "texture x f32[2]: a 2d instruction on a 1d texture"' % Image("1d", "f32", 2, texels=[0, 0]).text(),
        'two(%s, f32{0}, f32{0}) "surface x f32[1x2]: it is not a .texref"' % Image("2d", "f32", 1, 2, texels=[0, 0]).text("surf"),
        'halves(%s, f32{0}, f32{0}) "it has integer texels and cannot give .f16"' % Image("2d", "u8", 1, 2, texels=[0, 0]).text(),
        'samples(%s, u32{4}, s32{0}, s32{0}) "sample 4 of 4"' % Image("2dms", "u8x2", 2, 3, seed=12, samples=4).text(),
        'queries(%s, u32{1}) "it has 1 levels and no level 1"' % Image("2d", "u8", 1, 2, texels=[0, 0]).text(),
    )))


def gen_coordinate_length():
    """Vectors of coordinates that are longer than their geometry needs: "with the extra elements
    being ignored" (manual 9.7.10.3)."""
    m = Module("coordinate_length", "9.7.10, 9.7.11", "vectors of coordinates longer than the geometry.", version="8.0", target="sm_80")
    # Names and numbers of the coordinates in a vector, and extents.
    geometries = {"1d": ("x", "4"), "a1d": ("zx", "2x4"), "2d": ("xy", "3x4"), "3d": ("xyz", "2x3x4"), "a2d": ("zxy", "2x3x4")}

    def vectors(names, words, spare):
        """The vectors of a legal length that have these coordinates, the rest filled with spare words."""
        for n in (1, 2, 4):
            if n >= len(names):
                yield "{%s}" % ", ".join([words[c] for c in names] + spare[:n - len(names)])

    for geom, (names, extents) in geometries.items():
        sizes = ([int(n) for n in extents.split("x")][::-1] + [1, 1])[:3]
        if geom == "a1d":
            sizes = [sizes[0], 1, sizes[1]]
        texels = [(z * sizes[1] + y) * sizes[0] + x + 50 for z in range(sizes[2]) for y in range(sizes[1]) for x in range(sizes[0])]
        threads = len(texels)
        # Where thread i looks.
        head = [".reg .u32 %i, %x, %y, %z, %s, %d<4>, %e<3>;", ".reg .f32 %fx, %fy, %fz, %fs, %g<3>;", ".reg .b32 %r<4>;", ".reg .u64 %t, %p;",
                ".reg .v4 .u32 %v;", ".reg .v2 .u32 %w;", ".reg .v4 .f32 %q;", ".reg .v2 .f32 %u;", "mov.u32 %i, %tid.x;",
                "rem.u32 %%x, %%i, %d;" % sizes[0], "div.u32 %%y, %%i, %d;" % sizes[0], "rem.u32 %%y, %%y, %d;" % sizes[1],
                "div.u32 %%z, %%i, %d;" % (sizes[0] * sizes[1]), "mul.lo.u32 %s, %x, 4;"]
        for c in "xyz":
            head += ["cvt.rn.f32.u32 %%f%s, %%%s;" % (c, c), "add.f32 %%f%s, %%f%s, 0f3F400000;" % (c, c)]
        for i in range(3):
            head += ["mov.u32 %%e%d, %d;" % (i, 70 + i), "mov.b32 %%g%d, 0f42%d0000;" % (i, 10 * i + 10)]
        whole, real = {c: "%" + c for c in "xyz"}, {"x": "%fx", "y": "%fy", "z": "%fz"}
        if geom[0] == "a":
            real["z"] = "%z"  # the index of a layer
        integers, floats = list(vectors(names, whole, ["%e0", "%e1", "%e2"])), list(vectors(names, real, ["%g0", "%g1", "%g2"]))
        integers += list(vectors(names, whole, ["-1", "12", "0x7fffffff"]))[1:]
        floats += list(vectors(names, real, ["0fFF800000", "1e9", "-1.0"]))[1:]
        code, results = [], 0

        def fetched(register):
            nonlocal results
            code.append("st.global.u32 [%%p+%d], %s;" % (4 * results, register))
            results += 1

        def texture(opcode, at, more="", register="%d0"):
            code.append("%s {%%d0, %%d1, %%d2, %%d3}, [%%t, %s]%s;" % (opcode, at, more))
            fetched(register)

        gradient = "{%s}" % ", ".join(["0f00000000"] * {"1d": 1, "a1d": 1, "3d": 4}.get(geom, 2))
        for at in integers:
            texture("tex.%s.v4.u32.s32" % geom, at)
            texture("tex.level.%s.v4.u32.s32" % geom, at, ", 0")
        for at in floats:
            texture("tex.%s.v4.u32.f32" % geom, at)
            texture("tex.level.%s.v4.u32.f32" % geom, at, ", 0f00000000")
            texture("tex.grad.%s.v4.u32.f32" % geom, at, ", %s, %s" % (gradient, gradient))
            if geom in ("2d", "a2d"):
                texture("tld4.r.%s.v4.u32.f32" % geom, at, register="%d3")  # the texel in the upper left, as for the texels above
        for register, size in (("%w", 2), ("%v", 4)):
            if size >= len(names):
                code.extend("mov.u32 %s.%s, %s;" % (register, "xyzw"[i], ([whole[c] for c in names] + ["%e0", "%e1", "%e2"])[i]) for i in range(size))
                texture("tex.%s.v4.u32.s32" % geom, register)
        if geom[0] != "a":  # whose vectors hold an index, too
            for register, size in (("%u", 2), ("%q", 4)):
                if size >= len(names):
                    code.extend("mov.f32 %s.%s, %s;" % (register, "xyzw"[i], ([real[c] for c in names] + ["%g0", "%g1", "%g2"])[i]) for i in range(size))
                    texture("tex.%s.v4.u32.f32" % geom, register)
        # Offsets, which move back to the texel.
        if geom in ("1d", "2d", "a1d"):
            spatial = names.replace("z", "")
            for more in vectors(spatial, {"x": "-1", "y": "0"}, ["5", "-6", "7"]):
                texture("tex.%s.v4.u32.s32" % geom, "{%s}" % ", ".join("%r3" if c == "x" else whole[c] for c in names), ", " + more)
        head += ["add.u32 %r3, %x, 1;", "ld.param.u64 %t, [t];", "ld.param.u64 %p, [out];", "mad.wide.u32 %%p, %%i, %d, %%p;" % (4 * results)]
        m.add("\n".join([".visible .entry texture_%s(.param .u64 t, .param .u64 out)" % geom, "{"] + ["\t" + l for l in head + code + ["ret;"]] + ["}"]))
        m.text.append("// run block=%d: texture_%s(tex.%s(u32[%s]{%s})) == u32 %s" %
                      (threads, geom, geom, extents, list_text(texels, "u32"), " ".join("%d*%d" % (v, results) for v in texels)))

        # Surfaces, where x counts bytes, except in texels (.p).
        code, added = [], 0
        head[-3:] = ["ld.param.u64 %t, [t];"]
        scaled = dict(whole, x="%s")
        for at, texel in zip(list(vectors(names, scaled, ["%e0", "%e1", "%e2"])) + list(vectors(names, scaled, ["-1", "12", "0x7fffffff"]))[1:], integers):
            code += ["suld.b.%s.b32.trap %%r0, [%%t, %s];" % (geom, at), "add.u32 %r0, %r0, 1;", "sust.b.%s.b32.trap [%%t, %s], %%r0;" % (geom, at),
                     "add.u32 %r0, %r0, 20;", "sust.p.%s.b32.trap [%%t, %s], %%r0;" % (geom, texel)]
            added += 21
            if geom[0] != "a":
                code += ["sured.b.add.%s.u32.trap [%%t, %s], 300;" % (geom, at), "sured.p.add.%s.b32.trap [%%t, %s], 4000;" % (geom, texel)]
                added += 4300
        for register, size in (("%w", 2), ("%v", 4)):
            if size >= len(names):
                code.extend("mov.u32 %s.%s, %s;" % (register, "xyzw"[i], ([scaled[c] for c in names] + ["%e0", "%e1", "%e2"])[i]) for i in range(size))
                code += ["suld.b.%s.b32.trap %%r0, [%%t, %s];" % (geom, register), "add.u32 %r0, %r0, 50000;", "sust.b.%s.b32.trap [%%t, %s], %%r0;" % (geom, register)]
                added += 50000
        m.add("\n".join([".visible .entry surface_%s(.param .u64 t)" % geom, "{"] + ["\t" + l for l in head + code + ["ret;"]] + ["}"]))
        m.text.append("// run block=%d: surface_%s(@surf.%s(u32[%s]{%s})) == u32 %s" %
                      (threads, geom, geom, extents, list_text(texels, "u32"), list_text([v + added for v in texels], "u32")))

    # Before version 1.2 the brackets may be missing.
    m = Module("coordinate_bracket", "9.7.10.3", "addresses without brackets, in old versions.", version="1.1", target="sm_11")
    m.text[:] = [l for l in m.text if not l.startswith(".address_size")]
    m.add(""".tex .u32 t;
.shared .u32 s[4];
.entry old
{
	.param .u32 out;
	.reg .u32 %r<4>, %x, %zero, %p;
	.reg .v4 .u32 %v;
	.reg .f32 %f, %g;
	cvt.u32.u16 %x, %tid.x;
	mov.u32 %zero, 0;
	tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, t, {%x, %zero, %zero, %zero};
	st.shared.u32 s+4, %r0;
	ld.shared.u32 %r1, s+4;
	cvt.rn.f32.u32 %f, %x;
	add.f32 %f, %f, 0f3F000000;
	mov.f32 %g, 0f41100000;
	tex.1d.v4.u32.f32 %v, t, {%f, %g, %g, %g};
	ld.param.u32 %p, out;
	mul.lo.u32 %x, %x, 8;
	add.u32 %p, %p, %x;
	st.global.u32 %p, %r1;
	st.global.u32 %p+4, %v.x;
	exit;
}
// run block=1: old(t=tex.1d(u32[3]{7 8 9})) == u32 7 7""")


def gen_surface():
    m = Module("surface", "9.7.11", "surfaces, by handles.", version="8.8", target="sm_90")

    def kernel(name, code, regs=""):
        m.add("\n".join([".visible .entry %s(.param .u64 s, .param .u64 xs, .param .u64 out)" % name, "{", "\t.reg .u64 %s, %p, %w<4>;",
                         "\t.reg .u32 %i, %x, %y, %z, %d<8>;", "\t.reg .b16 %h<4>;", "\tmov.u32 %i, %tid.x;", "\tld.param.u64 %s, [s];",
                         "\tld.param.u64 %p, [xs];", "\tmad.wide.u32 %p, %i, 12, %p;", "\tld.global.u32 %x, [%p];", "\tld.global.u32 %y, [%p+4];",
                         "\tld.global.u32 %z, [%p+8];", "\tld.param.u64 %p, [out];", "\tmad.wide.u32 %p, %i, 16, %p;"]
                        + ["\t" + line.strip() for line in code.strip().split("\n")] + ["\tret;", "}"]))

    def line(name, surface, at, want, typ, result=False, trap=None):
        args = "%s%s, s32{%s}" % ("@" if result else "", surface, list_text([c for p in at for c in p], "s32"))
        if result and trap is None:
            args += ", u32{0*%d}" % (4 * len(at))
        if trap:
            m.text.append('// trap block=%d: %s(%s) "%s"' % (len(at), name, args, trap))
        else:
            m.text.append("// run block=%d: %s(%s) == %s %s" % (len(at), name, args, typ, list_text(want, typ)))

    # Bytes, by the three treatments of places out of bounds.
    def load(data, width, at, n, clamp):
        """n bytes of rows of width bytes."""
        x, y, h = at[0], at[1], len(data) // width
        if 0 <= x <= width - n and 0 <= y < h:
            return data[y * width + x:][:n]
        if clamp == "zero":
            return [0] * n
        x, y = min(max(x, 0), width - n), min(max(y, 0), h - 1)
        x -= x % n
        return data[y * width + x:][:n]

    data = [i * 7 + 3 for i in range(32)]
    word = lambda b: sum(v << (8 * i) for i, v in enumerate(b))
    image = "surf.2d(u8x4[2x4]{%s})" % list_text(data, "u8")
    at = [(0, 0, 0), (12, 1, 0), (4, 1, 0), (-4, 0, 0), (16, 1, 0), (8, -1, 0), (8, 2, 0), (0x7ffffffc, 0, 0)]
    for clamp in ("clamp", "zero"):
        kernel("load_" + clamp, """
            suld.b.2d.b32.%s %%d0, [%%s, {%%x, %%y}];
            suld.b.2d.cg.v2.b8.%s {%%h0, %%h1}, [%%s, {%%x, %%y}];
            cvt.u32.u16 %%d1, %%h0;
            cvt.u32.u16 %%d2, %%h1;
            suld.b.2d.v2.b16.%s {%%h0, %%h1}, [%%s, {%%x, %%y}];
            mov.b32 %%d3, {%%h0, %%h1};
            st.global.v4.u32 [%%p], {%%d0, %%d1, %%d2, %%d3};""" % (clamp, clamp, clamp))
        want = []
        for p in at:
            four, two = load(data, 16, p, 4, clamp), load(data, 16, p, 2, clamp)
            want += [word(four)] + two + [word(four)]
        line("load_" + clamp, image, at, want, "u32")
    kernel("wide", """
        suld.b.2d.v2.b64.trap {%w0, %w1}, [%s, {%x, %y}];
        st.global.v2.u64 [%p], {%w0, %w1};""")
    line("wide", image, [(0, 0, 0), (0, 1, 0)], [word(data[i:i + 8]) for i in (0, 8, 16, 24)], "u64")
    line("wide", image, [(16, 1, 0)], None, None, trap="out-of-bounds access: surface x u8x4[2x4]: 16 bytes at x = 16, y = 1 (x in bytes)")
    line("wide", image, [(0, 2, 0)], None, None, trap="out-of-bounds access: surface x")
    line("wide", image, [(8, 0, 0)], None, None, trap="out-of-bounds access: surface x")
    line("load_zero", image, [(2, 0, 0)], None, None, trap="misaligned access: surface x u8x4[2x4]: 4 bytes at x = 2, y = 0 (x in bytes)")
    line("wide", "surf.1d(u8[16])", [(0, 0, 0)], None, None, trap="bad surface access: surface x u8[16]: a 2d instruction on a 1d surface")
    line("wide", "tex.2d(u8[1x16])", [(0, 0, 0)], None, None, trap="bad surface access: texture x u8[1x16]: it is not a .surfref")

    # Geometries: where texels lie.
    for geom, extents, coord in (("1d", "6", "{%x}"), ("3d", "2x3x2", "{%x, %y, %z, %z}"), ("a1d", "3x4", "{%y, %x}"), ("a2d", "2x3x2", "{%z, %x, %y, %y}")):
        kernel("store_" + geom, """
            suld.b.%s.b16.zero %%h0, [%%s, %s];
            add.s16 %%h0, %%h0, 1000;
            sust.b.%s.wb.b16.zero [%%s, %s], %%h0;""" % (geom, coord, geom, coord))
        sizes = [int(n) for n in extents.split("x")][::-1]
        texels = list(range(100, 100 + (sizes + [1, 1])[0] * (sizes + [1, 1])[1] * (sizes + [1, 1])[2]))
        surface = "surf.%s(u16[%s]{%s})" % (geom, extents, list_text(texels, "u16"))
        at = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 2, 1), (2, 1, 1), (-2, 0, 0), (0, 3, 0), (0, 0, 2), (40, 0, 0)]
        want = list(texels)
        sizes = (sizes + [1, 1])[:3]
        if geom == "1d":
            at = [(x, 0, 0) for x in (0, 4, 10, 12, -2)]
        if geom == "a1d":
            at = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 2, 0), (6, 1, 0), (-2, 0, 0), (0, 3, 0), (40, 0, 0)]
        for x, y, z in at:
            if 0 <= x < 2 * sizes[0] and 0 <= y < sizes[1] and 0 <= z < sizes[2]:
                want[(z * sizes[1] + y) * sizes[0] + x // 2] += 1000
        line("store_" + geom, surface, at, want, "u16", result=True)
    kernel("face", """
        mov.u32 %d0, 77;
        cvt.u16.u32 %h0, %d0;
        sust.b.a2d.b8.clamp [%s, {%z, %x, %y, %y}], %h0;""")
    want = [0] * 24
    for at in ((1, 1, 0), (0, 1, 5), (0, 0, 5)):
        want[at[2] * 4 + at[1] * 2 + at[0]] = 77
    line("face", "surf.cube(u8[2x2])", [(1, 1, 0), (0, 1, 5), (-9, -9, 9)], want, "u8", result=True)

    # Formatted stores.
    kernel("format", """
        mov.b32 %d0, 0f3F000000;
        mov.b32 %d1, 0fBF19999A;
        mov.b32 %d2, 0f40000000;
        sust.p.1d.v4.b32.trap [%s, {%x}], {%d0, %d1, %d2, %y};""")
    texel = [F32.of(Fraction(1, 2)), 0xbf19999a, F32.of(Fraction(2))]
    def encoded(form, bits, values):
        out = []
        for v in values:
            if form[0] == "f":
                out.append(F16.of(F32.value(v)) if bits == 16 else v)
                continue
            low, high = bounds(form[0] + str(bits))
            if "float" in form:
                x = F32.value(v) * high
                x = min(max(x, max(low, -high)), high)
                n = floor_of(x)
                n += x - n > Fraction(1, 2) or x - n == Fraction(1, 2) and n % 2 == 1
            else:
                n = min(max(signed(v, 32) if form[0] == "s" else v, low), high)
            out.append(unsigned(n, bits))
        return out
    for form, bits in (("u float", 8), ("s float", 8), ("u float", 16), ("f", 16), ("u", 8), ("s", 16), ("u", 32)):
        typ = form[0] + str(bits)
        y = 300
        values = encoded(form, bits, texel + [y])
        surface = "surf.1d(%sx4[3]{7*12}%s)" % (typ, ",float" if "float" in form else "")
        fill = F16.of(7) if typ == "f16" else 7
        line("format", surface, [(1, y, 0)], [fill] * 4 + [signed(v, bits) if form[0] == "s" else v for v in values] + [fill] * 4, typ, result=True)

    # Reductions: bytes and texels.
    kernel("reduce", """
        add.s32 %d0, %y, 0;
        sured.b.add.1d.u32.zero [%s, {%x}], %d0;
        sured.b.min.1d.s32.zero [%s, {%z}], %d0;
        cvt.s64.s32 %w0, %d0;
        sured.b.max.1d.u64.clamp [%s, {16}], %w0;
        sured.b.or.1d.b32.trap [%s, {24}], %d0;
        sured.p.max.1d.b32.trap [%s, {7}], %d0;""")
    at = [(0, 5, 4), (0, -3, 4), (0, 70000, 8), (-4, 9, 4), (0, 0x7fffffff, 40)]
    before = [1, 10, 20, 3, 4, 0, 6, signed(0xfffffff0, 32)]
    want = list(before)
    want[0] = sum(y for x, y, z in at if x == 0) + 1 & 0xffffffff
    want[1] = min([10] + [y for x, y, z in at if z == 4])
    want[2] = min(20, 70000)
    wide = max([4] + [unsigned(y, 64) for _, y, _ in at])
    want[4], want[5] = wide & 0xffffffff, wide >> 32
    for _, y, _ in at:
        want[6] |= unsigned(y, 32)
    want[7] = max([-16] + [y for _, y, _ in at])
    line("reduce", "surf.1d(s32[8]{%s})" % list_text(before, "s32"), at, [signed(unsigned(v, 32), 32) for v in want], "s32", result=True)
    line("reduce", "surf.1d(f32[8])", [(0, 1, 0)], None, None, trap="its texels are not integers of 4 bytes")

    queries = ["width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout"]
    kernel("queries", "\n".join("suq.%s.b32 %%d%d, [%%s];" % (q, i) for i, q in enumerate(queries)) + """
        mov.u32 %d7, 9;
        st.global.v4.u32 [%p], {%d0, %d1, %d2, %d3};
        st.global.v4.u32 [%p+16], {%d4, %d5, %d6, %d7};""")
    line("queries", "surf.a2d(s16x2[5x3x4])", [(0, 0, 0)], [4, 3, 0, 0x10d8, 0x10b2, 5, 0, 9], "u32")


# ---------------------------------------------------------------- tensors

TENSOR_BITS = {"u8": 8, "u16": 16, "f16": 16, "bf16": 16, "u32": 32, "s32": 32, "f32": 32, "f32.ftz": 32, "tf32": 32,
               "tf32.ftz": 32, "u64": 64, "s64": 64, "f64": 64, "b4x16": 4, "b4x16_p64": 4, "b6x16_p32": 6}

# Swizzles as CuTe defines them: Swizzle<B, M, S> adds B bits from M + S on, modulo 2, to the bits from M on, of
# the address of a byte. The widths are the widths of spans.
SWIZZLES = {"32": (32, 1, 4, 3), "64": (64, 2, 4, 3), "96": (96, 1, 4, 3), "128": (128, 3, 4, 3), "128/32": (128, 2, 5, 2),
            "128/32/8": (128, 2, 5, 2), "128/64": (128, 1, 6, 1)}


def swizzled(kind, addr):
    if not kind:
        return addr
    _, b, m, s = SWIZZLES[kind]
    mask = ((1 << b) - 1) << m
    if kind.endswith("/8") and addr >> 7 & 1:
        addr ^= 8
    return addr ^ addr >> s & mask


def bits_at(memory, first, n):
    v = sum(memory[first // 8 + i] << 8 * i for i in range((first % 8 + n + 7) // 8))
    return v >> first % 8 & (1 << n) - 1


def put_bits(memory, first, n, v):
    for i in range(n):
        at = first + i
        memory[at // 8] = memory[at // 8] & ~(1 << at % 8) | (v >> i & 1) << at % 8


class Tensor:
    """A tensor map (manual 5.5). Extents are given as arrays have them, and kept with the
    innermost first, as the manual counts dimensions."""

    def __init__(self, typ, dims, box=None, strides=None, steps=None, swizzle="", fill="", offset=0, mode="", channels=0, pixels=0, lower=(), upper=()):
        self.typ, self.bits, self.dims = typ, TENSOR_BITS[typ], dims[::-1]
        self.fill, self.swizzle, self.offset, self.mode = fill, swizzle, offset, mode
        self.box = box[::-1] if box else [channels]
        self.pixels, self.lower, self.upper = pixels, (list(lower)[::-1] + [0] * 3)[:3], (list(upper)[::-1] + [0] * 3)[:3]
        self.steps = steps[::-1] if steps else [1] * len(dims)
        self.strides = strides[::-1] if strides else []
        at = self.dims[0] * self.bits // 8
        while not strides and len(self.strides) < len(dims) - 1:
            self.strides.append(at)
            at *= self.dims[len(self.strides)]
        parts = ["%s[%s]" % (typ, "x".join(map(str, dims)))]
        for name, value in [("box", box), ("strides", strides), ("steps", steps), ("lower", lower), ("upper", upper)]:
            if value:
                parts.append("%s=%s" % (name, "x".join(map(str, value))))
        for name, value in [("swizzle", swizzle), ("fill", fill), ("offset", offset), ("mode", mode), ("channels", channels), ("pixels", pixels)]:
            if value:
                parts.append("%s=%s" % (name, value))
        self.spec = "tma(1,%s)" % ",".join(parts)

    def rows(self, at, offsets=(), gather=False):
        """The coordinates at which rows of the box begin, as they follow in shared memory."""
        if gather:
            return [(at[0], y) for y in at[1:]]
        if not self.mode:
            rows = [tuple()]
            for d in range(len(self.dims) - 1, 0, -1):
                rows = [(at[d] + i,) + r for r in rows for i in range(0, self.box[d], self.steps[d])]
            return [(at[0],) + r for r in rows]
        # All pixels of the bounding box in their order, from the first on (5.5.4, 5.5.5).
        space = len(self.dims) - 2
        shift, wide = 0, self.mode != "im2col"
        if wide:
            shift = offsets[1]
        ranges = [range(self.lower[d] + (shift if d == 0 else 0), self.dims[d + 1] + self.upper[d] + (shift if d == 0 else 0)) for d in range(1 if wide else space)]
        first = list(at[1:-1])
        first[0] += shift

        def pixels():
            pos, image = first, at[-1]
            while True:
                yield tuple(pos), image
                pos = list(pos)
                for d, r in enumerate(ranges):
                    pos[d] += self.steps[d + 1]
                    if pos[d] < r.stop:
                        break
                    pos[d] = r.start
                else:
                    image += 1

        count, group, halo = self.pixels, self.pixels, 0
        if wide:
            halo = offsets[0]
        if self.mode == "im2col::w::128":
            count, group = 128, 32
        source = pixels()
        line = [next(source) for _ in range(count + halo)]
        order = [line[g + i] for g in range(0, count, group) for i in range(group + halo)]
        add = (0,) * 3 if wide else tuple(offsets) + (0,) * 3
        return [(at[0],) + tuple(p + add[d] for d, p in enumerate(pos)) + (n,) for pos, n in order]

    def elements(self, at, dst, offsets=(), gather=False, store=False):
        """For each element its bit in global memory, None if it is outside, and in shared memory."""
        padded = "_p" in self.typ
        inner = self.box[0] * (8 if padded else self.bits) // 8
        pitch = max(inner, SWIZZLES[self.swizzle][0]) if self.swizzle else inner
        for r, row in enumerate(self.rows(at, offsets, gather)):
            for i in range(self.box[0]):
                c = (row[0] + i,) + row[1:]
                where = None
                if all(0 <= x < n for x, n in zip(c, self.dims)):
                    where = 8 * (self.offset + sum(x * s for x, s in zip(c[1:], self.strides))) + c[0] * self.bits
                if padded and store:
                    bit = 8 * i
                elif padded:
                    bit = i // 16 * 128 + i % 16 * self.bits
                else:
                    bit = i * self.bits
                yield where, 8 * swizzled(self.swizzle, dst + r * pitch + bit // 8) + bit % 8

    def filled(self):
        if not self.fill:
            return 0
        return {"f16": 0x7ff7, "bf16": 0x7ff7, "f64": 0x7ff8 << 48, "tf32": 0x7fffe000, "tf32.ftz": 0x7fffe000}.get(self.typ, 0x7fffffff)

    def loaded(self, v):
        if self.typ.endswith(".ftz"):
            v = F32.flush(v)
        if self.typ.startswith("tf32"):
            v = 0x7fffe000 if F32.is_nan(v) else v if F32.is_inf(v) else Float("tf32", 19, 10).round(F32.value(v), "rn", v >> 31) << 13
        return v

    def load(self, memory, shared, at, dst, **how):
        """Loads into shared memory, and returns the number of bytes reported to the mbarrier."""
        n = 0
        for where, bit in self.elements(at, dst, **how):
            put_bits(shared, bit, self.bits, self.filled() if where is None else self.loaded(bits_at(memory, where, self.bits)))
            n += self.bits
        return n // 8

    def store(self, memory, shared, at, src, combine=lambda a, b: b, **how):
        for where, bit in self.elements(at, src, store=True, **how):
            if where is not None:
                put_bits(memory, where, self.bits, combine(bits_at(memory, where, self.bits), bits_at(shared, bit, self.bits)))


def array_text(values):
    """Values of .u32, with ranges and repetitions."""
    out, i = [], 0
    while i < len(values):
        j = k = i
        while j < len(values) and values[j] == values[i]:
            j += 1
        while k < len(values) and values[k] == values[i] + k - i:
            k += 1
        if k - i > 3 and k > j and values[i] < 1 << 31:
            out.append("%d..%d" % (values[i], values[k - 1]))
        elif j - i > 2:
            out.append("0x%x*%d" % (values[i], j - i))
        else:
            out += ["0x%x" % values[i] if values[i] > 9999 else str(values[i])] * (j - i)
        i = max(j, k if k - i > 3 and k > j and values[i] < 1 << 31 else j)
    return " ".join(out)


def words_of(memory):
    return [int.from_bytes(memory[i:i + 4], "little") for i in range(0, len(memory), 4)]


def bytes_of(words):
    return bytearray(b"".join(w.to_bytes(4, "little") for w in words))


# Operands that override properties of a tensor map (manual of PTX 9.4, 9.7.10.28.5.2): the address in argument
# 1, 16 times shift bytes further on; then also extents in registers of 16 bits or 8, and strides.
OVERRIDE_ADDRESS, OVERRIDE_SHAPE, OVERRIDE_BYTES = "address", "shape", "bytes"


def override_params(override, dims):
    names = ["shift"] if override else []
    if override in (OVERRIDE_SHAPE, OVERRIDE_BYTES):
        names += ["n%d" % i for i in range(dims)] + ["l%d" % i for i in range(1, dims)] + (["high"] if dims > 1 else [])
    return names


def override_code(override, dims, buffer):
    """Declarations and instructions of the operands, and the operands themselves."""
    if not override:
        return [], ""
    code, text = ["\t.reg .u64 %at;", "\t.reg .u32 %shift;", "\tld.param.u64 %%at, [%s];" % buffer, "\tld.param.u32 %shift, [shift];", "\tmad.wide.u32 %at, %shift, 16, %at;"], "%at, "
    if override == OVERRIDE_ADDRESS:
        return code, text
    sizes = ["n%d" % i for i in range(dims)]
    kind = "16" if override == OVERRIDE_SHAPE else "8"
    code += ["\t.reg .b%s %%%s;\n\tld.param.u%s %%%s, [%s];" % (kind, n, kind, n, n) for n in sizes]
    text += "{%s}, " % ", ".join("%" + n for n in sizes)
    if dims > 1:
        lows = ["l%d" % i for i in range(1, dims)]
        code += ["\t.reg .b32 %%%s;\n\tld.param.u32 %%%s, [%s];" % (n, n, n) for n in lows] + ["\t.reg .b16 %high;\n\tld.param.u16 %high, [high];"]
        text += "{%s}, %%high, " % ", ".join("%" + n for n in lows)
    return code, text


def override_numbers(override, t, high=0):
    """What the parameters are for the extents and strides of a tensor."""
    if not override:
        return []
    if override == OVERRIDE_ADDRESS:
        return [t.offset // 16]
    return [t.offset // 16] + t.dims + [s // 16 & 0xffffffff for s in t.strides] + ([high] if t.strides else [])


def tensor_load(m, name, coordinates, instruction, offsets=0, mask=False, override="", report=""):
    """A kernel that loads a box to dst in shared memory that is all 0xee, and gives words of it; with a report
    its predicate then."""
    xs = ["x%d" % i for i in range(coordinates)]
    fs = ["f%d" % i for i in range(offsets)]
    params = [".param .align 64 .b8 map[128]", ".param .u64 src"] + [".param .u32 " + x for x in xs] + [".param .u16 " + f for f in fs]
    params += [".param .u32 " + x for x in override_params(override, coordinates)]
    declared, with_operands = override_code(override, coordinates, "src")
    k = {False: "", True: ", %k", 32: ", 1"}[mask]
    params += [".param .u32 dst", ".param .u32 bytes", ".param .u32 words", ".param .u64 out"]
    m.add("\n".join([".visible .entry %s(%s)" % (name, ", ".join(params)), "{",
        "\t.shared .align 1024 .b8 box[9216];", "\t.shared .align 8 .b64 full;", "\t.reg .u64 %m, %o;",
        "\t.reg .u32 %t, %i, %n, %d, %a, %v, %b, " + ", ".join("%" + x for x in xs) + ";", "\t.reg .u16 %" + ", %".join(["k"] + fs) + ";", "\t.reg .pred %p, %q;",
        "\tmov.u32 %t, %tid.x;", "\tld.param.u32 %n, [words];", "\tld.param.u32 %d, [dst];", "\tmov.u32 %a, box;", "\tadd.u32 %d, %d, %a;",
        "\tmov.u32 %i, %t;", "FILL:", "\tsetp.ge.u32 %p, %i, %n;", "\t@%p bra FILLED;", "\tmad.lo.u32 %a, %i, 4, %d;", "\tst.shared.u32 [%a], 0xeeeeeeee;", "\tadd.u32 %i, %i, 32;",
        "\tbra FILL;", "FILLED:", "\tbar.sync 0;", "\tsetp.ne.u32 %q, %t, 0;", "\t@%q bra WAIT;"]
        + ["\tld.param.u32 %%%s, [%s];" % (x, x) for x in xs] + ["\tld.param.u16 %%%s, [%s];" % (f, f) for f in fs]
        + declared
        + ["\tld.param.u32 %b, [bytes];", "\tmov.u64 %m, map;", "\tcvta.param.u64 %m, %m;", "\tmov.u16 %k, 1;",
        "\tmbarrier.init%s.shared.b64 [full], 1;" % (".layout::v1" if report else ""), "\tmbarrier.arrive.expect_tx.shared.b64 _, [full], %b;",
        "\t%s [%%d], [%%m, %s{%s}], [full]%s%s;" % (instruction, with_operands, ", ".join("%" + x for x in xs), fs and ", {%s}" % ", ".join("%" + f for f in fs) or "", k)]
        + ["LOOK:"] + (["\tmbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 %p|%q, [full], 0;"] if report else ["\tmbarrier.try_wait.parity.shared.b64 %p, [full], 0;"])
        + ["\t@!%p bra LOOK;"]
        + (["\tld.param.u64 %o, [out];", "\tmad.wide.u32 %o, %n, 4, %o;", "\tselp.u32 %v, 1, 0, %q;", "\tst.global.u32 [%o], %v;"] if report else [])
        + ["WAIT:", "\tbar.sync 0;",
        "\tmov.u32 %i, %t;", "COPY:", "\tsetp.ge.u32 %p, %i, %n;", "\t@%p ret;", "\tmad.lo.u32 %a, %i, 4, %d;", "\tld.shared.u32 %v, [%a];", "\tld.param.u64 %o, [out];", "\tmad.wide.u32 %o, %i, 4, %o;",
        "\tst.global.u32 [%o], %v;", "\tadd.u32 %i, %i, 32;", "\tbra COPY;", "}"]))


def tensor_store(m, name, coordinates, instructions, override=""):
    """A kernel that stores a box from src in shared memory that is filled with words, by the
    instruction that op chooses."""
    xs = ["x%d" % i for i in range(coordinates)]
    declared, with_operands = override_code(override, coordinates, "tensor")
    params = [".param .align 64 .b8 map[128]", ".param .u64 tensor"] + [".param .u32 " + x for x in xs + override_params(override, coordinates)] + [".param .u32 op", ".param .u32 src", ".param .u64 from", ".param .u32 words"]
    m.add("\n".join([".visible .entry %s(%s)" % (name, ", ".join(params)), "{",
        "\t.shared .align 1024 .b8 box[9216];", "\t.reg .u64 %m, %o;", "\t.reg .u32 %t, %i, %n, %d, %a, %v, %op, " + ", ".join("%" + x for x in xs) + ";", "\t.reg .pred %p, %q;",
        "\tmov.u32 %t, %tid.x;", "\tld.param.u32 %n, [words];", "\tld.param.u32 %op, [op];", "\tld.param.u32 %d, [src];", "\tmov.u32 %a, box;", "\tadd.u32 %d, %d, %a;",
        "\tmov.u32 %i, %t;", "FILL:", "\tsetp.ge.u32 %p, %i, %n;", "\t@%p bra FILLED;", "\tld.param.u64 %o, [from];", "\tmad.wide.u32 %o, %i, 4, %o;", "\tld.global.u32 %v, [%o];", "\tmad.lo.u32 %a, %i, 4, %d;",
        "\tst.shared.u32 [%a], %v;", "\tadd.u32 %i, %i, 32;", "\tbra FILL;", "FILLED:",
        "\tfence.proxy.async.shared::cta;", "\tbar.sync 0;", "\tsetp.ne.u32 %q, %t, 0;", "\t@%q bra DONE;"]
        + ["\tld.param.u32 %%%s, [%s];" % (x, x) for x in xs] + ["\tmov.u64 %m, map;", "\tcvta.param.u64 %m, %m;"] + declared
        + ["\tsetp.eq.u32 %%p, %%op, %d;\n\t@%%p %s [%%m, %s{%s}], [%%d];" % (i, text, with_operands, ", ".join("%" + x for x in xs)) for i, text in enumerate(instructions)]
        + ["\tcp.async.bulk.commit_group;", "\tcp.async.bulk.wait_group 0;", "DONE:", "\tret;", "}"]))


def load_case(name, t, at, words, memory, dst=0, options="warp=32", text="", spec="", override="", report=None, **how):
    """A case line of a load; memory is words of the source, text how it is written. A spec is the
    map's; its properties are then overridden by the properties of t. A report is 1 or 0."""
    shared = bytearray(b"\xee" * 16384)
    bytes_told = t.load(bytes_of(memory), shared, at, dst, **how)
    want = words_of(shared[dst:dst + 4 * words])
    numbers = list(at) + list(how.get("offsets", ())) + override_numbers(override, t) + [dst, bytes_told, words]
    if report is not None:
        want.append(report)
    return "// run block=32 %s: %s(%s, u32{%s}, %s) == u32 %s" % (options, name, spec or t.spec, text or array_text(memory), ", ".join(map(str, numbers)), array_text(want))


def store_case(name, t, at, memory, source, op=0, src=0, options="warp=32", combine=lambda a, b: b, spec="", override="", **how):
    """A case line of a store or reduction; memory is words of the tensor, source the words in
    shared memory."""
    result, shared = bytes_of(memory), bytearray(src) + bytes_of(source)
    t.store(result, shared, at, src, combine, **how)
    numbers = list(at) + override_numbers(override, t) + [op, src]
    return "// run block=32 %s: %s(%s, @u32{%s}, %s, u32{%s}, %d) == u32 %s" % (
        options, name, spec or t.spec, array_text(memory), ", ".join(map(str, numbers)), array_text(source), len(source), array_text(words_of(result)))


def gen_tensor_load():
    m = Module("tensor_load", "5.5, 9.7.9.25.5", "tiles of tensors, to shared memory.", "8.8", "sm_100a")
    copy = "cp.async.bulk.tensor.%dd.shared::%s.global%s.mbarrier::complete_tx::bytes%s"
    iota = lambda n: list(range(n))
    tensor_load(m, "load_1d", 1, copy % (1, "cta", ".tile", ""))
    line = Tensor("u32", [20], [8])
    m.text += [load_case("load_1d", line, [x], 10, iota(20)) for x in (4, -3, 15, 40)]
    tensor_load(m, "load_2d", 2, copy % (2, "cluster", "", ""))
    sheet = iota(8 * 64)
    cases = [
        (Tensor("u32", [4, 12], [3, 8], strides=[64], offset=16), [5, 2], 0, "warp=4"),  # present and absent parts
        (Tensor("u32", [4, 12], [3, 8], strides=[64], steps=[2, 1]), [-2, -1], 128, "warp=32"),
        (Tensor("u32", [8, 8], [8, 8], swizzle="32"), [0, 0], 0, "warp=64"),
        (Tensor("u32", [8, 8], [4, 8], swizzle="32"), [1, 3], 128, "warp=32"),
        (Tensor("u32", [8, 16], [8, 16], swizzle="64"), [0, 0], 0, "warp=32"),
        (Tensor("u32", [8, 16], [8, 8], swizzle="64"), [8, 0], 384, "warp=32"),  # rows of half a span
        (Tensor("u32", [8, 24], [5, 24], swizzle="96"), [0, 1], 0, "warp=32"),
        (Tensor("u32", [12, 32], [9, 32], swizzle="128"), [0, 0], 0, "warp=32"),
        (Tensor("u32", [8, 32], [2, 28], swizzle="128"), [3, 5], 384, "warp=8"),
        (Tensor("u32", [8, 32], [5, 32], swizzle="128/32"), [0, 0], 0, "warp=32"),
        (Tensor("u32", [8, 32], [5, 32], swizzle="128/32/8"), [0, 0], 0, "warp=32"),
        (Tensor("u32", [8, 32], [4, 32], swizzle="128/64"), [0, 0], 0, "warp=32"),
    ]
    for t, at, dst, options in cases:
        pitch = max(4 * t.box[0], SWIZZLES[t.swizzle][0] if t.swizzle else 0) // 4
        rows = -(-t.box[1] // t.steps[1])
        m.text.append(load_case("load_2d", t, at, pitch * rows + 2, sheet[:t.offset // 4 + t.strides[0] * t.dims[1] // 4], dst, options))
    # Elements of further types.
    words = [random32(i) for i in range(64)]
    for typ, dims, box, fill in [("u8", [4, 32], [2, 16], ""), ("u16", [4, 16], [2, 8], ""), ("f16", [2, 16], [3, 8], "nan"), ("bf16", [2, 16], [3, 8], "nan"),
                                 ("u64", [2, 4], [3, 4], ""), ("f64", [2, 4], [3, 4], "nan"), ("f32", [2, 8], [3, 4], "nan"), ("b4x16", [4, 64], [2, 32], "")]:
        t = Tensor(typ, dims, box, fill=fill)
        m.text.append(load_case("load_2d", t, [2, 1], box[0] * box[1] * t.bits // 32 + 1, words[:t.strides[0] * dims[0] // 4]))
    floats = [F32.of(1), 0x3f801000, 0x3f801001, 0x3f803000, 0x00000001, 0x807fffff, 0x007ff000, 0x7f7fffff, 0xff7ff000, 0x7f800000, 0x7f800001, 0xffc12345,
              0x80000000, 0x3f802fff, 0xbf801000, 0x00800fff]
    for typ in ("f32.ftz", "tf32", "tf32.ftz"):
        t = Tensor(typ, [4, 4], [4, 4], fill="nan" if typ == "tf32" else "")
        m.text.append(load_case("load_2d", t, [0, 1], 16, floats))
    for typ, swizzle in [("b4x16_p64", ""), ("b4x16_p64", "128"), ("b6x16_p32", ""), ("b6x16_p32", "128/32")]:
        t = Tensor(typ, [2, 128], [2, 128], swizzle=swizzle)
        m.text.append(load_case("load_2d", t, [0, 0], 64, words[:t.strides[0] * 2 // 4]))
    for dims, extents, box, at in [(3, [3, 4, 4], [2, 2, 4], [0, 3, 1]), (4, [2, 2, 3, 4], [2, 2, 2, 4], [1, 2, 0, 1]), (5, [2, 2, 2, 3, 4], [2, 1, 2, 3, 4], [0, -1, 1, 1, 0])]:
        tensor_load(m, "load_%dd" % dims, dims, copy % (dims, "cluster", ".tile", ".multicast::cluster" if dims == 4 else ".cta_group::1" if dims == 5 else ""), mask=dims == 4)
        t = Tensor("u32", extents, box)
        size, rows = 1, 1
        for n in extents:
            size *= n
        for n in box[:-1]:
            rows *= n
        m.text.append(load_case("load_%dd" % dims, t, at, 4 * rows, iota(size)))
    steps = Tensor("u32", [4, 6, 4], [3, 5, 4], steps=[2, 3, 1])
    m.text.append(load_case("load_3d", steps, [0, 1, 0], 20, iota(96)))
    tensor_load(m, "gather", 5, "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes")
    t = Tensor("u32", [10, 8], [1, 4], fill="")
    m.text.append(load_case("gather", t, [2, 5, 0, 9, 12], 18, iota(80), gather=True))
    t = Tensor("u16", [8, 64], [1, 64], swizzle="128")
    m.text.append(load_case("gather", t, [8, 7, 7, 1, -1], 128, iota(256), dst=128, gather=True))
    # Impossible maps.
    good = "tma(1,u32[4x8],box=2x4)"
    src = "u32{0..31}"
    for spec, source, at, dst, what in [
        ("tma(1,u32[4x8x4],box=1x2x4)", "u32{0..127}", "0, 0", 0, "a tensor map of 3 dimensions in a copy of 2"),
        (good, "u32{0..23}", "4, 2", 0, "of the box at {4, 2}"),
        (good, src, "0, 0", 64, "misaligned"),
        ("tma(1,u32[4x16],box=4x16)", "u32{0..63}", "0, 0", 9088, "out-of-bounds"),
        ("tma(1,u32[4x8],box=2x3)", src, "0, 0", 0, "want a multiple of 16 bytes"),
        ("tma(1,u32[4x8],box=2x8,swizzle=64,strides=24)", src, "0, 0", 0, "want a multiple of 16 below"),
        ("tma(1,u32[4x8],box=2x8,swizzle=32,steps=9x1)", src, "0, 0", 0, "a traversal stride of 9"),
        ("tma(1,u32[4x32],box=2x32,swizzle=64)", src, "0, 0", 0, "128 bytes, and a swizzle of 64"),
        ("tma(1,u32[4x8],box=2x4,offset=4)", src, "0, 0", 0, "want a multiple of 16"),
        ("tma(1,u32[4x8],box=2x4,fill=nan)", src, "0, 0", 0, "NaN cannot fill the elements outside a tensor of .u32"),
        ("tma(1,b4x16[4x64],box=2x32)", src, "1, 0", 0, "want a multiple of 2"),
        ("tma(1,b4x16_p64[2x128],box=2x128)", src, "64, 0", 0, "want a multiple of 128"),
    ]:
        m.text.append('// trap block=32 warp=32: load_2d(%s, %s, %s, %d, 32, 8) "%s"' % (spec, source, at, dst, what))
    m.text.append('// trap block=32 warp=32: gather(%s, %s, 0, 0, 1, 2, 3, 0, 64, 16) "a box of 2 rows in a copy of four"' % (good, src))


def gen_tensor_im2col():
    m = Module("tensor_im2col", "5.5.4, 5.5.5, 9.7.9.25.5", "pixels of images, to shared memory as columns.", "8.8", "sm_100a")
    copy = "cp.async.bulk.tensor.%dd.shared::cluster.global.%s.mbarrier::complete_tx::bytes"

    def case(name, dims, at, offsets, words, **how):
        t = Tensor("u16", dims, **how)
        size = 1
        for n in dims:
            size *= n
        m.text.append(load_case(name, t, at, words, list(range(1000, 1000 + size // 2)), offsets=offsets))

    tensor_load(m, "line", 3, copy % (3, "im2col"), 1)
    case("line", [2, 6, 8], [0, -1, 0], [1], 36, mode="im2col", channels=8, pixels=9, lower=[-1], upper=[-1])
    case("line", [3, 6, 16], [8, 0, 1], [2], 40, mode="im2col", channels=8, pixels=10, upper=[-2], steps=[1, 2, 1])
    tensor_load(m, "image", 4, copy % (4, "im2col"), 2)
    for offsets in ([0, 0], [1, 2]):
        case("image", [2, 4, 5, 8], [0, 2, 1, 0], offsets, 80, mode="im2col", channels=8, pixels=20, lower=[-1, -1], upper=[-1, -1])
    case("image", [2, 5, 7, 8], [0, -1, -1, 0], [2, 1], 96, mode="im2col", channels=8, pixels=24, lower=[-1, -1], upper=[-1, -1], steps=[1, 2, 2, 1])
    case("image", [2, 4, 4, 32], [0, 0, 0, 1], [0, 0], 144, mode="im2col", channels=32, pixels=9, swizzle="64")
    tensor_load(m, "volume", 5, copy % (5, "im2col"), 3)
    case("volume", [2, 3, 2, 3, 8], [0, 1, -1, 2, 0], [1, 0, 1], 64, mode="im2col", channels=8, pixels=16, lower=[-1, -1, -1], upper=[0, -1, -1])
    tensor_load(m, "row", 4, copy % (4, "im2col::w"), 2)
    for at, offsets in (([0, 3, 1, 0], [2, 0]), ([0, -3, 0, 1], [0, 1])):
        case("row", [3, 2, 7, 32], at, offsets, 196, mode="im2col::w", channels=32, pixels=10, lower=[-1], upper=[0], steps=[1, 1, 2, 1], swizzle="64")
    tensor_load(m, "row128", 3, copy % (3, "im2col::w::128"), 2)
    case("row128", [18, 9, 32], [0, 2, 1], [2, 0], 36 * 16, mode="im2col::w::128", channels=32, pixels=1, swizzle="64")
    src = "u16{0..319}"
    for name, spec, source, numbers, what in [
        ("image", "tma(1,u16[2x4x5x8],channels=8,pixels=4,mode=im2col,lower=0x0,upper=-1x-1)", src, "0, 4, 0, 0, 0, 0", "outside of the bounding box from 0 to 3"),
        ("image", "tma(1,u16[2x4x5x8],channels=8,pixels=4,mode=im2col)", src, "0, 0, 0, 0, 256, 0", "an offset of 256, at most 255"),
        ("image", "tma(1,u16[2x4x5x8],channels=8,pixels=4,mode=im2col,upper=-4x0)", src, "0, 0, 0, 0, 0, 0", "an empty bounding box in dimension 2"),
        ("image", "tma(1,u16[2x4x5x8],box=1x1x2x8)", src, "0, 0, 0, 0, 0, 0", "a tensor map for .tile in a copy of .im2col"),
        ("row", "tma(1,u16[2x4x5x32],channels=32,pixels=4,mode=im2col::w)", "u16{0..1279}", "0, 0, 0, 0, 0, 0", "a swizzle of 0 bytes for .im2col::w"),
        ("row", "tma(1,u16[2x4x5x32],channels=32,pixels=4,mode=im2col::w,swizzle=64)", "u16{0..1279}", "0, 0, 0, 0, 0, 32", "a halo of 0 and an offset of 32"),
    ]:
        m.text.append('// trap block=32 warp=32: %s(%s, %s, %s, 0, 64, 16) "%s"' % (name, spec, source, numbers, what))


def gen_tensor_store():
    m = Module("tensor_store", "5.5, 9.7.9.25.5", "boxes from shared memory to tensors, and reductions.", "8.8", "sm_100a")
    store = "cp.async.bulk.tensor.%dd.global.shared::cta%s.bulk_group"
    tensor_store(m, "store_2d", 2, [store % (2, "")])
    blank = [0xffffffff] * 64
    source = [random32(i) for i in range(128)]
    for t, at, src in [
        (Tensor("u32", [4, 12], [3, 8], strides=[64], offset=16), [6, 2], 0),
        (Tensor("u16", [8, 16], [8, 16], swizzle="32"), [8, 0], 128),
        (Tensor("u32", [6, 8], [5, 8], steps=[2, 1], swizzle="32"), [0, 1], 0),
        (Tensor("u8", [2, 64], [2, 64], swizzle="128/64"), [0, 0], 0),
        (Tensor("b4x16", [4, 64], [2, 32]), [34, 3], 0),
        (Tensor("b6x16_p32", [2, 128], [2, 128], swizzle="128"), [0, 0], 0),
        (Tensor("tf32", [2, 8], [2, 4]), [3, 0], 0),
    ]:
        m.text.append(store_case("store_2d", t, at, blank, source, src=src))
    tensor_store(m, "store_3d", 3, [store % (3, ".tile")])
    m.text.append(store_case("store_3d", Tensor("u32", [2, 3, 8], [2, 2, 4]), [2, 1, 0], blank, source))
    tensor_store(m, "scatter", 5, ["cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"])
    m.text.append(store_case("scatter", Tensor("u32", [8, 8], [1, 4]), [6, 5, 0, 9, 3], blank, source, gather=True))
    tensor_store(m, "pixels", 4, [store % (4, ".im2col_no_offs")])
    m.text.append(store_case("pixels", Tensor("u16", [2, 3, 3, 8], mode="im2col", channels=8, pixels=5, upper=[-1, -1]), [0, 1, 1, 0], blank + blank, source, offsets=[0, 0]))
    for spec, at, what in [
        ("tma(1,u32[4x8],box=2x4)", "-1, 0", "coordinate 0 is -1, in a store"),
        ("tma(1,b4x16_p64[2x128],box=2x128)", "0, 0", "cannot be stored to"),
        ("tma(1,u32[2x32],box=2x32,swizzle=128/32/8)", "0, 0", "halves of 16 bytes exchanged, in a store"),
        ("tma(1,u32[4x32],box=2x4)", "0, 2", "out-of-bounds"),
    ]:
        m.text.append('// trap block=32 warp=32: store_2d(%s, u32{0..63}, %s, 0, 0, u32{0..63}, 64) "%s"' % (spec, at, what))

    ops = ["add", "min", "max", "inc", "dec", "and", "or", "xor"]
    tensor_store(m, "reduce", 2, ["cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.bulk_group" % op for op in ops])

    def integers(t, signed_type):
        n = TENSOR_BITS[t]
        of = (lambda v: signed(v, n)) if signed_type else (lambda v: v)
        back = lambda v: v & (1 << n) - 1
        return {"add": lambda a, b: back(a + b), "min": lambda a, b: back(min(of(a), of(b))), "max": lambda a, b: back(max(of(a), of(b))),
                "inc": lambda a, b: 0 if a >= b else a + 1, "dec": lambda a, b: b if a == 0 or a > b else a - 1,
                "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}

    def floats(f, flush):
        def add(a, b):
            if flush:
                a, b = f.flush(a), f.flush(b)
            r = f.round(f.value(a) + f.value(b), "rn", f.negative(a) and f.negative(b))
            return f.flush(r) if flush else r
        return {"add": add, "min": lambda a, b: a if f.value(a) <= f.value(b) else b, "max": lambda a, b: a if f.value(a) >= f.value(b) else b}

    table = {"u32": (integers("u32", False), ops), "s32": (integers("s32", True), ["add", "min", "max", "and"]), "u64": (integers("u64", False), ["add", "min", "xor"]),
             "s64": (integers("s64", True), ["max", "or"]), "f32": (floats(F32, True), ["add"]), "f16": (floats(F16, False), ["add", "min", "max"]),
             "bf16": (floats(BF16, False), ["add", "max"])}
    for typ, (how, names) in table.items():
        t = Tensor(typ, [2, 128 // TENSOR_BITS[typ] * 2], [2, 128 // TENSOR_BITS[typ]])
        f = {"f32": F32, "f16": F16, "bf16": BF16}.get(typ)
        before, more = [random32(i + 7) for i in range(16)], [random32(i + 31) for i in range(8)]
        if f:
            values = [f.of(v) for v in (1, -2, Fraction(3, 8), 1000, -7, 12)] + [3, f.sign | f.min_normal, f.min_normal - 1]
            def packed(n, k):
                vs = [values[(i * k + 1) % len(values)] for i in range(n * 32 // f.width)]
                return [sum(vs[i * 32 // f.width + j] << j * f.width for j in range(32 // f.width)) for i in range(n)]
            before, more = packed(16, 2), packed(8, 5)
        elif typ == "u32":
            before, more = [0, 5, 6, 7, 0xffffffff, 3, 9, 0] * 2, [7, 5, 5, 9, 0xffffffff, 0, 8, 1]
        for op in names:
            m.text.append(store_case("reduce", t, [1, 0], before, more, op=ops.index(op), combine=how[op]))
    for typ, op in [("f32", 1), ("u8", 0), ("f64", 0), ("s64", 0), ("s32", 3)]:
        m.text.append('// trap block=32 warp=32: reduce(tma(1,%s[2x32],box=1x16), u32{0..63}, 0, 0, %d, 0, u32{0..63}, 64) "this reduction is not defined for elements of .%s"' % (typ, op, typ))


def gen_tensor_newer():
    m = Module("tensor_newer", "of PTX 9.4, 9.7.10.28.1.3, 9.7.10.28.5 and 9.7.10.19", "copies of tensors that override properties of the map, report what they find, or go to many CTAs.", "9.5", "sm_107a")
    load = "cp.async.bulk.tensor.%dd.shared::%s.global%s.mbarrier::complete_tx::bytes%s"
    sheet = list(range(400))
    address = ".override::global_address"
    # The map's own address, if it is overridden, is outside all tensors: at the end of the buffer.
    def map_of(t, dims, box, strides=None, **how):
        return Tensor(t, dims, box, strides=strides, offset=16 * 99, **how).spec

    for name, dst, mods, mask, override in [("cluster", "cluster", "", False, OVERRIDE_ADDRESS), ("cta", "cta", ".cta_group::1", False, OVERRIDE_ADDRESS),
                                            ("many16", "cluster", ".multicast::cluster::16b", True, ""), ("many32", "cluster", ".multicast::cluster::32b", 32, OVERRIDE_ADDRESS)]:
        tensor_load(m, name, 2, load % (2, dst, "", mods) + (address if override else ""), mask=mask, override=override)
        t = Tensor("u32", [8, 12], [5, 8], swizzle="32", offset=32 if override else 0)
        m.text.append(load_case(name, t, [3, 4], 40, sheet, override=override, spec=override and map_of("u32", [8, 12], [5, 8], swizzle="32")))
    tensor_load(m, "rows", 5, load % (2, "cta", ".tile::gather4", "") + address, override=OVERRIDE_ADDRESS)
    m.text.append(load_case("rows", Tensor("u32", [10, 8], [1, 4], offset=64), [2, 5, 0, 9, 12], 18, sheet, spec=map_of("u32", [10, 8], [1, 4]), override=OVERRIDE_ADDRESS, gather=True))
    tensor_load(m, "line", 4, load % (4, "cluster", ".im2col::w", "") + address, 2, override=OVERRIDE_ADDRESS)
    image = dict(mode="im2col::w", channels=32, pixels=5, swizzle="64")
    m.text.append(load_case("line", Tensor("u16", [1, 2, 5, 32], offset=48, **image), [0, 3, 1, 0], 112, sheet, spec=map_of("u16", [1, 2, 5, 32], None, **image), override=OVERRIDE_ADDRESS, offsets=[2, 0]))
    # Extents and strides, in registers of 16 bits and of 8.
    for dims, extents, strides, box in [(1, [5], None, [8]), (2, [3, 6], [48], [4, 8]), (3, [2, 3, 5], [160, 32], [2, 4, 8]), (4, [2, 1, 3, 4], [96, 96, 32], [2, 2, 3, 4]),
                                        (5, [2, 1, 2, 2, 7], [256, 128, 64, 32], [2, 1, 2, 2, 8])]:
        for kind in (OVERRIDE_SHAPE, OVERRIDE_BYTES):
            name = "shape_%s_%d" % (kind, dims)
            attribute = ".override::global_dim" + ("_stride" if dims > 1 else "")
            tensor_load(m, name, dims, load % (dims, "cta" if kind == OVERRIDE_SHAPE else "cluster", "", "") + address + attribute, override=kind)
            t = Tensor("u32", extents, box, strides=strides, offset=80)
            words = 1
            for n in box:
                words *= n
            m.text.append(load_case(name, t, [0] * dims, words, sheet, spec=map_of("u32", [9] * dims, box, strides=[16] * (dims - 1)), override=kind))
    # An extent of one has a stride of at least 2^36 bytes, which no access reaches.
    far = Tensor("u32", [1, 1, 6], [1, 1, 8], strides=[48, 48])
    m.text.append(load_case("shape_shape_3", far, [0, 0, 0], 8, sheet, spec=map_of("u32", [9, 9, 9], [1, 1, 8], strides=[16, 16]), override=OVERRIDE_SHAPE).replace(", 3, 3, 0,", ", 3, 3, 0x73,"))

    # Stores and reductions.
    store = "cp.async.bulk.tensor.%dd.global.shared::cta%s.bulk_group"
    blank, source = [0xffffffff] * 64, [random32(i) for i in range(128)]
    tensor_store(m, "store", 2, [store % (2, "") + address], OVERRIDE_ADDRESS)
    m.text.append(store_case("store", Tensor("u32", [3, 12], [3, 8], offset=64), [6, 1], blank, source, spec=Tensor("u32", [3, 12], [3, 8], offset=240).spec, override=OVERRIDE_ADDRESS))
    tensor_store(m, "store_shape", 2, [store % (2, ".tile") + address + ".override::global_dim_stride"], OVERRIDE_BYTES)
    m.text.append(store_case("store_shape", Tensor("u32", [3, 6], [4, 8], strides=[48], offset=32), [0, 0], blank, source, spec=Tensor("u32", [9, 9], [4, 8], strides=[16]).spec, override=OVERRIDE_BYTES))
    tensor_store(m, "scatter", 5, [store % (2, ".tile::scatter4") + address], OVERRIDE_ADDRESS)
    m.text.append(store_case("scatter", Tensor("u32", [7, 8], [1, 4], offset=32), [6, 5, 0, 9, 3], blank, source, spec=Tensor("u32", [7, 8], [1, 4]).spec, override=OVERRIDE_ADDRESS, gather=True))
    tensor_store(m, "pixels", 4, [store % (4, ".im2col_no_offs::w")])
    pixels = Tensor("u16", [2, 1, 3, 16], mode="im2col::w", channels=16, pixels=4, swizzle="64", upper=[-1])
    m.text += [store_case("pixels", pixels, at, blank, source, offsets=[0, 0]) for at in ([0, 1, 0, 0], [0, 0, 0, 0])]
    wrap = lambda f: lambda a, b: f(a, b) & 0xffffffff
    ops = [("add", wrap(lambda a, b: a + b)), ("min", min), ("max", max), ("inc", lambda a, b: 0 if a >= b else a + 1), ("dec", lambda a, b: b if a == 0 or a > b else a - 1),
           ("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)]
    reduce = "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s%s.bulk_group"
    before, more = [random32(i + 7) for i in range(64)], [random32(i + 31) for i in range(128)]
    tensor_store(m, "reduce_rows", 5, [reduce % (2, op, ".tile::scatter4") for op, _ in ops])
    tensor_store(m, "reduce_pixels", 4, [reduce % (4, op, ".im2col_no_offs::w") for op, _ in ops])
    tensor_store(m, "reduce_shape", 2, [reduce % (2, op, "") + address + ".override::global_dim_stride" for op, _ in ops], OVERRIDE_SHAPE)
    for i, (_, combine) in enumerate(ops):
        m.text.append(store_case("reduce_rows", Tensor("u32", [8, 8], [1, 4]), [6, 5, 0, 9, 3], before, more, op=i, combine=combine, gather=True))
        m.text.append(store_case("reduce_pixels", Tensor("u32", [2, 1, 3, 8], mode="im2col::w", channels=8, pixels=4, swizzle="64"), [0, 1, 0, 0], before, more, op=i, combine=combine, offsets=[0, 0]))
        m.text.append(store_case("reduce_shape", Tensor("u32", [3, 6], [4, 8], strides=[48], offset=32), [0, 0], before, more, op=i, combine=combine, spec=Tensor("u32", [9, 9], [4, 8], strides=[16]).spec, override=OVERRIDE_SHAPE))

    # Reports: of each 16 bytes of the tensor the first element that is copied, or each byte.
    patterns = {"per_16bytes::80000000": (0x80000000, 32), "per_16bytes::8000": (0x8000, 16), "per_16bytes::80": (0x80, 8), "per_16bytes::8": (8, 4), "per_element::ff": (255, 8)}
    for i, (pattern, (value, bits)) in enumerate(patterns.items()):
        name = "report_%d" % i
        tensor_load(m, name, 2, load % (2, "cluster" if i % 2 else "cta", "", ".mbarrier::report::validity::" + pattern), report=pattern)
        typ = {32: "f32", 16: "f16", 8: "u8", 4: "b4x16"}[bits]
        each = 128 // bits * 2  # elements of a row: 32 bytes
        t = Tensor(typ, [3, each], [2, each], fill="nan" if bits in (32, 16) else "")
        for byte, fitting in [(0, 1), (16, 1), (4, 0), (48, 1), (64, 0)]:  # row 2 is not copied
            memory = bytearray([1] * 96)
            put_bits(memory, 8 * byte, bits, value)
            m.text.append(load_case(name, t, [0, 0], 16, words_of(memory), report=int(fitting or pattern == "per_element::ff" and byte < 64)))
        memory = bytearray([1] * 96)  # nothing is looked at that is filled in
        m.text.append(load_case(name, t, [0, 2], 16, words_of(memory), report=0))
    start = Tensor("f32", [2, 12], [2, 8])
    for at, byte, want in [(1, 4, 1), (1, 8, 0), (1, 16, 1), (1, 0, 0), (1, 20, 0), (-1, 0, 1), (-1, 4, 0), (8, 80, 1), (8, 84, 0)]:
        memory = bytearray([1] * 96)
        put_bits(memory, 8 * byte, 32, 0x80000000)
        m.text.append(load_case("report_0", start, [at, 0], 16, words_of(memory), report=want))
    tensor_load(m, "report_none", 2, load % (2, "cta", "", ".mbarrier::report::disabled"), report="disabled")
    m.text.append(load_case("report_none", Tensor("f32", [2, 8], [2, 8]), [0, 0], 16, [0x80000000] * 16, report=0))
    tensor_load(m, "report_old", 2, load % (2, "cta", "", ".mbarrier::report::validity::per_element::ff"))

    # Options without a visible effect, and impossible options.
    m.add("""
.visible .entry hints(.param .align 64 .b8 map[128], .param .u64 src, .param .u64 out)
{
	.reg .u64 %m, %s, %c, %o;
	.reg .b16 %n<3>;
	.reg .b32 %l, %x<5>;
	mov.u64 %m, map;
	cvta.param.u64 %m, %m;
	ld.param.u64 %s, [src];
	ld.param.u64 %o, [out];
	mov.b16 %n0, 2;
	mov.b16 %n1, 3;
	mov.b16 %n2, 0;
	mov.b32 %l, 4;
	mov.b32 %x0, 0;
	createpolicy.fractional.L2::evict_last.b64 %c, 1.0;
	cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint.override::global_address [%m, %s, {%x0, %x0}], %c;
	cp.async.bulk.prefetch.tensor.2d.L2.global.L2::evict_last [%m, {%x0, %x0}];
	cp.async.bulk.prefetch.tensor.2d.L2.global.L2::evict_last.override::global_address.override::global_dim_stride [%m, %s, {%n0, %n1}, {%l}, %n2, {%x0, %x0}];
	cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4.L2::evict_last [%m, {%x0, %x0, %x0, %x0, %x0}];
	applypriority.async.bulk.tensor.2d.global.bulk_group.L2::evict_normal [%m, {%x0, %x0}];
	applypriority.async.bulk.tensor.2d.bulk_group.L2::evict_normal.override::global_address [%m, %s, {%x0, %x0}];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ld.global.u32 %x0, [%s];
	st.global.u32 [%o], %x0;
	ret;
}
""")
    m.text.append("// run block=1 warp=32: hints(tma(1,u32[4x8],box=2x4), u32{7..38}) == u32 7")
    spec = "tma(1,u32[9x9],box=4x8,strides=16)"
    for name, numbers, what in [
        ("shape_shape_2", "0, 0, 0, 6, 0, 3, 0", "an extent of 0 elements in dimension 1 by .override"),
        ("shape_shape_2", "0, 0, 0, 256, 3, 3, 0", "an extent of 256 elements in dimension 0 by .override"),
        ("shape_shape_2", "0, 1, 0, 6, 3, 3, 0", "coordinates other than zero in a copy that overrides extents"),
        ("shape_shape_2", "0, 0, 0, 6, 3, 3, 1", "out-of-bounds"),
        ("shape_shape_2", "0, 0, 98, 6, 3, 3, 0", "out-of-bounds"),
    ]:
        m.text.append('// trap block=32 warp=32: %s(%s, u32{0..399}, %s, 0, 128, 32) "%s"' % (name, spec, numbers, what))
    m.text.append('// trap block=32 warp=32: report_old(%s, u32{0..399}, 0, 0, 0, 128, 32) "a copy with a report needs an mbarrier of .layout::v1"' % spec)
    m.add("""
.visible .entry misplaced(.param .align 64 .b8 map[128], .param .u64 src, .param .u64 out)
{
	.shared .align 128 .b8 box[128];
	.shared .align 8 .b64 full;
	.reg .u64 %m, %s;
	.reg .b32 %x;
	mov.u64 %m, map;
	cvta.param.u64 %m, %m;
	ld.param.u64 %s, [src];
	add.u64 %s, %s, 8;
	mov.b32 %x, 0;
	mbarrier.init.shared.b64 [full], 1;
	cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address [box], [%m, %s, {%x, %x}], [full];
	ret;
}
""")
    m.text.append('// trap block=1 warp=32: misplaced(tma(1,u32[4x8],box=2x4), u32{0..399}) "by .override::global_address, want a multiple of 16"')


def random32(i):
    """Bits of no particular kind."""
    return (i * 0x9e3779b1 ^ i * i * 0x85ebca6b ^ 0x5bd1e995) & 0xffffffff


# ---------------------------------------------------------------- structured sparse vectors

HASH = 0x01000193


def hashed(words):
    h = 0
    for v in words:
        h = unsigned(h * HASH + v, 32)
    return h


def registers_of(values, bits):
    """Registers with fields of the given numbers of bits from the lowest on, the rest zeros."""
    per = 32 // bits
    return [sum(v << j * bits for j, v in enumerate(values[i:i + per])) for i in range(0, len(values), per)]


SPARSE_TYPES = {8: ["u8", "s8", E5M2, E4M3, E3M2, E2M3], 16: [F16, BF16]}


def sparse_number(t, v, absolute):
    """What orders elements: (number, whether it is no -0), or None for a NaN."""
    if isinstance(t, str):
        n = integer(v, t)
        return (abs(n) if absolute else n), True
    if isinstance(t, Float):
        n = "nan" if t.is_nan(v) else "inf" if t.is_inf(v) else t.value(v)
    else:
        n = t.values[v]
    if n == "nan":
        return None
    negative = v & t.sign != 0 and not absolute
    n = float("inf") if n == "inf" else abs(n)
    return (-n if negative else n), not negative


def sparse_choice(t, group, least, absolute):
    """The indices of the two elements that spcompress keeps; None where the manual leaves that open."""
    keys = [sparse_number(t, v, absolute) for v in group]
    nans = [i for i in range(4) if keys[i] is None]
    rest = sorted((i for i in range(4) if keys[i] is not None), key=lambda i: keys[i], reverse=not least)
    k = 2 - len(nans)
    if k < 0 or 0 < k < len(rest) and keys[rest[k - 1]] == keys[rest[k]]:
        return None
    return sorted(nans + rest[:k])


def named(prefix, count):
    return "{%s}" % ", ".join("%%%s%d" % (prefix, i) for i in range(count))


def hash_lines(*vectors):
    return ["mov.u32 %h, 0;"] + ["mad.lo.u32 %%h, %%h, 0x%x, %%%s%d;" % (HASH, prefix, i) for prefix, count in vectors for i in range(count)]


def load_lines(buffer, prefix, count, stride=0):
    return ["ld.param.u64 %%p, [%s];" % buffer, "mad.wide.u32 %%p, %%t, %d, %%p;" % (4 * (stride or count))] + ["ld.global.u32 %%%s%d, [%%p+%d];" % (prefix, i, 4 * i) for i in range(count)]


def gen_sparse():
    """spcompress and spdecompress: a thread has its own elements, and descriptor; the results of
    each .num are combined into a number."""
    m = Module("spcompress", "of PTX 9.4, 9.7.10.30", "spcompress, where it says what is kept; what is kept is in its order", "9.4", "sm_107a")
    rng = Random(94)
    nums = [1, 2, 4, 8, 16, 32, 64]
    for bits in 8, 16:
        types = SPARSE_TYPES[bits]
        per = 32 // bits

        def element(t):
            if isinstance(t, str):
                return rng.bits(8) if rng.bits(1) else rng.pick([0, 1, 127, 128, 129, 255])
            if rng.bits(2):
                return rng.bits(t.width)
            top = 1 << t.width - 1
            return rng.pick([0, top, 1, top + 1, top - 1, 2 * top - 1, top // 2, t.inf if isinstance(t, Float) else 3, (t.inf if isinstance(t, Float) else 3) + top])

        threads = []
        for n, t in enumerate(types):
            for op in range(4):
                values = []
                while len(values) < 128 * per:
                    group = [element(t) for _ in range(4)]
                    if sparse_choice(t, group, op & 2, op & 1):
                        values += group
                threads.append((n << 2 | op, t, op, values))
        data = [w for _, _, _, values in threads for w in registers_of(values, bits)]
        for index in 2, 4:
            name = "b%d_b%d" % (bits, index)
            body = ["mov.u32 %t, %tid.x;"] + load_lines("desc", "s", 1)
            for i, num in enumerate(nums):
                meta = (num * index + bits - 1) // bits
                body += load_lines("data", "a", 2 * num, 128)
                body += ["spcompress.b%d.b%d.sp::2:4.x%d %s, %s, %s, %%s0;" % (bits, index, num, named("d", meta), named("c", num), named("a", 2 * num))]
                body += hash_lines(("d", meta), ("c", num)) + ["ld.param.u64 %p, [out];", "mad.wide.u32 %%p, %%t, %d, %%p;" % (4 * len(nums)), "st.global.u32 [%%p+%d], %%h;" % (4 * i)]
            want = []
            for _, t, op, values in threads:
                for num in nums:
                    kept, at = [], []
                    for g in range(0, 2 * num * per, 4):
                        two = sparse_choice(t, values[g:g + 4], op & 2, op & 1)
                        at += two
                        kept += [values[g + i] for i in two]
                    want.append(hashed(registers_of(at, index) + registers_of(kept, bits)))
            text = [".visible .entry %s(.param .u64 desc, .param .u64 data, .param .u64 out)" % name, "{", "\t.reg .b32 %t, %h, %s<1>, %a<128>, %c<64>, %d<32>;", "\t.reg .b64 %p;"] + ["\t" + line for line in body] + ["\tret;", "}"]
            text.append("// run block=%d: %s(u32{%s}, u32{%s}) == u32 %s" % (len(threads), name, list_text([d for d, _, _, _ in threads], "u32"), list_text(data, "u32"), list_text(want, "u32")))
            m.add("\n".join(text))

    m = Module("spdecompress", "of PTX 9.4, 9.7.10.31", "spdecompress; of several elements with one index the last counts", "9.4", "sm_107a")
    for bits in 8, 16:
        for index in 2, 4:
            for source, target in (1, 2), (1, 4), (1, 8), (1, 16), (2, 4), (2, 8), (2, 16), (4, 8), (4, 16):
                if source * bits > 32 or index == 2 and target > 4:
                    continue
                name = "b%d_b%d_%d_%d" % (bits, index, source, target)
                fit = [n for n in nums if 32 <= target * bits * n <= 4096]
                ceil = lambda v: (v + 31) // 32
                most = fit[-1]
                ms, cs, ds = ceil(source * index * most), ceil(source * bits * most), ceil(target * bits * most)
                body = ["mov.u32 %t, %tid.x;"]
                for i, num in enumerate(fit):
                    count, meta, kept = (ceil(v * num) for v in (target * bits, source * index, source * bits))
                    body += load_lines("meta", "m", meta, ms) + load_lines("data", "c", kept, cs)
                    body += ["spdecompress.b%d.b%d.sp::%d:%d.x%d %s, %s, %s;" % (bits, index, source, target, num, named("d", count), named("m", meta), named("c", kept))]
                    body += hash_lines(("d", count)) + ["ld.param.u64 %p, [out];", "mad.wide.u32 %%p, %%t, %d, %%p;" % (4 * len(fit)), "st.global.u32 [%%p+%d], %%h;" % (4 * i)]
                all_meta, all_data, want = [], [], []
                for _ in range(3):
                    at = [rng.bits(8) % min(target, 1 << index) for _ in range(ms * 32 // index)]
                    stored = [rng.bits(bits) for _ in range(cs * 32 // bits)]
                    all_meta += registers_of(at, index)
                    all_data += registers_of(stored, bits)
                    for num in fit:
                        dense = [0] * (target * num)
                        for n in range(num):
                            for s in range(source):
                                dense[n * target + at[n * source + s]] = stored[n * source + s]
                        want.append(hashed(registers_of(dense, bits)))
                text = [".visible .entry %s(.param .u64 meta, .param .u64 data, .param .u64 out)" % name, "{", "\t.reg .b32 %%t, %%h, %%m<%d>, %%c<%d>, %%d<%d>;" % (ms, cs, ds), "\t.reg .b64 %p;"] + ["\t" + line for line in body] + ["\tret;", "}"]
                text.append("// run block=3: %s(u32{%s}, u32{%s}) == u32 %s" % (name, list_text(all_meta, "u32"), list_text(all_data, "u32"), list_text(want, "u32")))
                m.add("\n".join(text))

    # Loads of tensor memory that compress. No two numbers of a group have the same magnitude.
    m = Module("tcgen05_ld_spcompress", "of PTX 9.4, 9.7.18.8.3", "tcgen05.ld.spcompress and tcgen05.ld.red.spcompress", "9.4", "sm_107a")
    held = []
    for lane in range(32):
        values = []
        while len(values) < 128:
            group = [rng.bits(32) if rng.bits(2) else rng.pick([0, F32.sign, F32.inf, F32.inf | F32.sign, F32.nan, F32.nan - 5, F32.one, 1]) for _ in range(4)]
            numbers = [v & ~F32.sign for v in group if not F32.is_nan(v)]
            if 2 <= len(numbers) == len(set(numbers)):
                values += group
        held.append(values)
    held[5] = [F32.nan if i % 4 < 2 else v if not F32.is_nan(v) else i for i, v in enumerate(held[5])]
    variants = [(num, op, absolute, red, nan) for num in nums[2:] + [128] for op in ("min", "max") for absolute in ("", ".abs") for red, nan in (("", ""), (".red", ""), (".red", ".NaN"))]
    words = [v for values in held for v in values]
    for part in [variants[i:i + 24] for i in range(0, len(variants), 24)]:
        name = "x%d_x%d" % (part[0][0], part[-1][0])
        body = ["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 128;", "mov.u32 %t, %tid.x;"] + load_lines("data", "a", 128)
        body += ["ld.shared.u32 %tm, [where];", "tcgen05.st.sync.aligned.32x32b.x128.b32 [%%tm], %s;" % named("a", 128), "tcgen05.wait::st.sync.aligned;", "ld.param.u64 %p, [out];", "mad.wide.u32 %%p, %%t, %d, %%p;" % (4 * len(part))]
        want = [[] for _ in range(32)]
        for i, (num, op, absolute, red, nan) in enumerate(part):
            meta, first = (num + 31) // 32, (128 - num) // 4 * 4
            body += ["tcgen05.ld%s.spcompress.sync.aligned.32x32b.x%d.%s.sp::2:4%s%s.f32.b2 %s, %s, %s[%%tm+%d];" % (red, num, op, absolute, nan, named("d", meta), named("c", num // 2), "%q, " if red else "", first), "tcgen05.wait::ld.sync.aligned;"]
            body += hash_lines(("d", meta), ("c", num // 2))
            if red:
                body += ["mad.lo.u32 %%h, %%h, 0x%x, %%q;" % HASH]
            body += ["st.global.u32 [%%p+%d], %%h;" % (4 * i)]
            for lane, values in enumerate(held):
                values = values[first:first + num]
                at, kept = [], []
                for g in range(0, num, 4):
                    two = sparse_choice(F32, values[g:g + 4], op == "min", absolute)
                    at += two
                    kept += [values[g + j] for j in two]
                out = registers_of(at, 2) + kept
                if red:
                    numbers = [v & ~F32.sign if absolute else v for v in values if not F32.is_nan(v)]
                    if nan and len(numbers) < num or not numbers:
                        out.append(F32.nan)
                    else:
                        out.append((min if op == "min" else max)(numbers, key=lambda v: sparse_number(F32, v, False)))
                want[lane].append(hashed(out))
        text = [".visible .entry %s(.param .u64 data, .param .u64 out)" % name, "{", "\t.shared .align 4 .b32 where;", "\t.reg .b32 %t, %h, %q, %tm, %a<128>, %c<64>, %d<4>;", "\t.reg .b64 %p;"]
        text += ["\t" + line for line in body + ["tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 128;"]] + ["\tret;", "}"]
        text.append("// run block=32: %s(u32{%s}) == u32 %s" % (name, list_text(words, "u32"), list_text([h for l in want for h in l], "u32")))
        m.add("\n".join(text))


# ---------------------------------------------------------------- main

def generate():
    gen_integer()
    gen_bits()
    gen_carry()
    gen_float()
    gen_half()
    gen_mixed()
    gen_packed()
    gen_minmax()
    gen_float_bits()
    gen_approx()
    gen_compare()
    gen_logic()
    gen_prmt()
    gen_cvt_int()
    gen_cvt_float()
    gen_cvt_narrow()
    gen_memory()
    gen_reg16()
    gen_atomics()
    gen_atomics_half()
    gen_warp()
    gen_index()
    gen_sreg_3d()
    gen_video()
    gen_mma()
    gen_wmma()
    gen_wgmma()
    gen_fifth()
    gen_tiles()
    gen_sparse()
    gen_texture()
    gen_coordinate_length()
    gen_surface()
    gen_tensor_load()
    gen_tensor_im2col()
    gen_tensor_store()
    gen_tensor_newer()


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
