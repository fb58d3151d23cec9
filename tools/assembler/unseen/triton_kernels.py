"""Compiles Triton kernels to PTX in many configurations, for GPUs that need not be there.

    triton_kernels.py OUT FIRST LAST    configurations FIRST to LAST-1 of an endless list

Each line of its output names a file of PTX; its first line is the configuration. What Triton
itself does not compile is counted on standard error.
"""

import collections
import hashlib
import os
import pathlib
import random
import sys

os.environ |= {"TRITON_DISABLE_LINE_INFO": "1", "TRITON_ALWAYS_COMPILE": "1"}
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource
from triton.language.extra import libdevice

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "corpus"))
import make_triton  # the kernels of testdata/corpus, in further configurations


@triton.jit
def unary(out, x, n, F: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1)
    tl.store(out + i, F(v).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def binary(out, x, y, n, F: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i, mask=i < n, other=1), tl.load(y + i, mask=i < n, other=2)
    tl.store(out + i, F(a, b).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def cast(out, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def reduce(out, x, n, F: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=j[None, :] < n, other=0)
    r = F(v, AXIS)
    tl.store(out + (j if AXIS == 0 else i), r.to(out.dtype.element_ty))


@triton.jit
def scanned(out, x, n, F: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * n + j[None, :]
    tl.store(out + at, F(tl.load(x + at, mask=j[None, :] < n, other=0), AXIS).to(out.dtype.element_ty), mask=j[None, :] < n)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def affine(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def recurrence(out, a, b, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, affine, reverse=REVERSE)
    tl.store(out + i, h)


@triton.jit
def ordered(out, x, DESCENDING: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.flip(tl.sort(tl.load(x + at), descending=DESCENDING), 1))


@triton.jit
def binned(out, x, BINS: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * N + tl.arange(0, N))
    tl.atomic_add(out + tl.arange(0, BINS), tl.histogram(v, BINS))


@triton.jit
def gathered(out, x, index, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 1))


@triton.jit
def atomics(out, x, n, OP: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if OP == "cas":
        tl.store(out + i, tl.atomic_cas(out + i % 16, v, v + 1, sem=SEM, scope=SCOPE))
    elif OP == "add":
        tl.store(x + i, tl.atomic_add(out + i % 16, v, mask=i < n, sem=SEM, scope=SCOPE), mask=i < n)
    elif OP == "max":
        tl.atomic_max(out + i % 16, v, mask=i < n, sem=SEM, scope=SCOPE)
    elif OP == "min":
        tl.atomic_min(out + i % 16, v, mask=i < n, sem=SEM, scope=SCOPE)
    elif OP == "xchg":
        tl.store(x + i, tl.atomic_xchg(out + i % 16, v, mask=i < n, sem=SEM, scope=SCOPE), mask=i < n)
    elif OP == "and":
        tl.atomic_and(out + i % 16, v, mask=i < n, sem=SEM, scope=SCOPE)
    else:
        tl.atomic_xor(out + i % 16, v, mask=i < n, sem=SEM, scope=SCOPE)


@triton.jit
def dropout(out, x, n, p, seed, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.rand(seed, i) if KIND == 0 else tl.randn(seed, i) if KIND == 1 else tl.randint(seed, i).to(tl.float32)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(r > p, v / (1 - p), 0.0).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def interleaved(out, x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    c = tl.interleave(a, b)
    lo, hi = tl.split(tl.join(a * b, a + b))
    tl.store(out + tl.arange(0, 2 * N), c)
    tl.store(out + 2 * N + i, lo)
    tl.store(out + 3 * N + tl.arange(0, 2 * N), tl.cat(lo, hi, can_reorder=True))


@triton.jit
def normed_back(dx, dw, dy, x, w, mean, rstd, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    part = tl.zeros((BLOCK,), tl.float32)
    weight = tl.load(w + cols, mask=mask, other=0).to(tl.float32)
    for row in range(tl.program_id(0) * ROWS, tl.program_id(0) * ROWS + ROWS):
        xv, g = tl.load(x + row * n + cols, mask=mask, other=0).to(tl.float32), tl.load(dy + row * n + cols, mask=mask, other=0).to(tl.float32)
        r = tl.load(rstd + row)
        xhat = tl.where(mask, (xv - tl.load(mean + row)) * r, 0.0)
        wg = tl.where(mask, weight * g, 0.0)
        d = (wg - (xhat * (tl.sum(xhat * wg, axis=0) / n) + tl.sum(wg, axis=0) / n)) * r
        tl.store(dx + row * n + cols, d.to(dx.dtype.element_ty), mask=mask)
        part += g * xhat
    tl.atomic_add(dw + cols, part, mask=mask)


@triton.jit
def entropy(loss, logits, label, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most, total = -float("inf"), 0.0
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        v = tl.load(logits + row * n + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
        top = tl.maximum(most, tl.max(v, 0))
        total = total * tl.exp(most - top) + tl.sum(tl.exp(v - top), 0)
        most = top
    at = tl.load(label + row)
    tl.device_assert((at >= 0) & (at < n), "a label")
    tl.store(loss + row, most + tl.log(total) - tl.load(logits + row * n + at).to(tl.float32))


@triton.jit
def rope(x, cos, sin, n, HALF: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, HALF)
    c, s = tl.load(cos + row * HALF + i), tl.load(sin + row * HALF + i)
    a, b = tl.load(x + row * 2 * HALF + i).to(tl.float32), tl.load(x + row * 2 * HALF + HALF + i).to(tl.float32)
    tl.store(x + row * 2 * HALF + i, (a * c - b * s).to(x.dtype.element_ty))
    tl.store(x + row * 2 * HALF + HALF + i, (b * c + a * s).to(x.dtype.element_ty))


@triton.jit
def grouped(c, a, b, m, n, k, sam, sbk, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACT: tl.constexpr, PRECISION: tl.constexpr):
    """Triton's tutorial 3: with masks, in an order that reuses the cache, and a function of the result."""
    pid, across = tl.program_id(0), tl.cdiv(n, BN)
    first = pid // (GROUP * across) * GROUP
    size = min(tl.cdiv(m, BM) - first, GROUP)
    pm, pn = first + pid % (GROUP * across) % size, pid % (GROUP * across) // size
    rm, rn, rk = (pm * BM + tl.arange(0, BM)) % m, (pn * BN + tl.arange(0, BN)) % n, tl.arange(0, BK)
    pa, pb = a + rm[:, None] * sam + rk[None, :], b + rk[:, None] * sbk + rn[None, :]
    acc = tl.zeros((BM, BN), tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32)
    for at in range(0, tl.cdiv(k, BK)):
        x, y = tl.load(pa, mask=rk[None, :] < k - at * BK, other=0), tl.load(pb, mask=rk[:, None] < k - at * BK, other=0)
        acc = tl.dot(x, y, acc, out_dtype=acc.dtype, input_precision=PRECISION)
        pa += BK
        pb += BK * sbk
    if ACT:
        acc = tl.where(acc >= 0, acc, acc // 8 if acc.dtype == tl.int32 else acc * 0.01)
    im, jn = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    tl.store(c + im[:, None] * scm + jn[None, :], acc.to(c.dtype.element_ty), mask=(im[:, None] < m) & (jn[None, :] < n))


@triton.jit
def described(c, a, b, m, n, k, tiles, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIAL: tl.constexpr, FLATTEN: tl.constexpr):
    """Triton's tutorial 9: persistent, by tensor maps that the kernel makes."""
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=FLATTEN, warp_specialize=SPECIAL):
        i, j = tile % tl.cdiv(m, BM) * BM, tile // tl.cdiv(m, BM) * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for at in range(tl.cdiv(k, BK)):
            acc = tl.dot(da.load([i, at * BK]), db.load([j, at * BK]).T, acc)
        dc.store([i, j], acc.to(c.dtype.element_ty))


@triton.jit
def causal(out, lse, q, k, v, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Triton's tutorial 6, forwards."""
    start = tl.program_id(0) * BM
    head = tl.program_id(1).to(tl.int64) * n * D
    rows, d = start + tl.arange(0, BM), tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + d[None, :], mask=rows[:, None] < n, other=0)
    most, total = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for at in range(0, start + BM, BN):
        keys = at + tl.arange(0, BN)
        s = tl.dot(queries, tl.load(k + head + keys[None, :] * D + d[:, None], mask=keys[None, :] < n, other=0)) * (scale * 1.44269504)
        s = tl.where(rows[:, None] >= keys[None, :], s, -1e6)
        top = tl.maximum(most, tl.max(s, 1))
        p, alpha = tl.math.exp2(s - top[:, None]), tl.math.exp2(most - top)
        w = tl.load(v + head + keys[:, None] * D + d[None, :], mask=keys[:, None] < n, other=0)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(w.dtype), w, acc * alpha[:, None])
        most = top
    tl.store(out + head + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty), mask=rows[:, None] < n)
    tl.store(lse + tl.program_id(1) * n + rows, most + tl.math.log2(total), mask=rows < n)


@triton.jit
def scaled(c, a, sa, b, sb, k, FA: tl.constexpr, FB: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A multiplication with a scale for each 32 elements; PA and PB are how many lie in a byte."""
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    ka, kb, ks = tl.arange(0, BK // PA), tl.arange(0, BK // PB), tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, tl.cdiv(k, BK)):
        x = tl.load(a + m[:, None] * (k // PA) + at * (BK // PA) + ka[None, :])
        y = tl.load(b + (at * (BK // PB) + kb)[:, None] * BN + n[None, :])
        u = tl.load(sa + m[:, None] * (k // 32) + at * (BK // 32) + ks[None, :])
        w = tl.load(sb + n[:, None] * (k // 32) + at * (BK // 32) + ks[None, :])
        acc = tl.dot_scaled(x, u, FA, y, w, FB, acc)
    tl.store(c + m[:, None] * BN + n[None, :], acc)


@triton.jit
def printed(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.device_print("x", v)
    tl.device_assert(v == v, "not NaN")


def function(text, arguments):
    """A Triton function of an expression. Triton reads functions' sources from files."""
    path = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / "triton_functions"
    path.mkdir(exist_ok=True)
    name = "f_" + "".join(c if c.isalnum() else f"{ord(c):x}" for c in text)[:60] + hashlib.sha256(text.encode()).hexdigest()[:6]
    file = path / f"{name}.py"
    file.write_text(f"import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n\n@triton.jit\ndef {name}({arguments}):\n    return {text}\n")
    scope = {"__name__": name}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope[name]


FLOATS, INTS = ["fp16", "bf16", "fp32", "fp64"], ["i8", "i16", "i32", "i64", "u8", "u32", "u64"]
SMALL = ["fp8e4nv", "fp8e5"]
ONE = {  # functions of a single number, and their types
    "tl.exp(a) tl.log(a) tl.sin(a) tl.cos(a) tl.sqrt(a) tl.sqrt_rn(a) tl.rsqrt(a) tl.exp2(a) tl.log2(a) tl.erf(a) tl.floor(a) tl.ceil(a) tl.abs(a) tl.sigmoid(a)": ["fp32", "fp64"],
    "-a a*a a+1 a//3 a%5 a<<2 a>>1 ~a a^7 a|12 tl.abs(a) tl.umulhi(a.to(tl.uint32),77)": INTS,
    "a*2.5 -a 1.0/a tl.maximum(a,0.0) tl.clamp(a,-1.0,1.0) tl.where(a>0,a,a*0.1)": FLOATS,
    **{" ".join(f"libdevice.{f}(a)" for f in "tanh sinh cosh asin acos atan log1p expm1 cbrt rcbrt erfc erfinv lgamma tgamma j0 y1 rint round trunc logb cospi sinpi exp10 isnan signbit normcdf".split()): ["fp32", "fp64"]},
}
TWO = {
    "a+b a-b a*b tl.minimum(a,b) tl.maximum(a,b) (a<b) (a==b)|(a>=b)": FLOATS + INTS,
    "a/b tl.fma(a,b,a) tl.maximum(a,b,propagate_nan=tl.PropagateNan.ALL)": ["fp16", "fp32", "fp64"],
    "a//b a%b a&b a^b a<<b a>>b tl.cdiv(a,b)": INTS,
    "libdevice.pow(a,b) libdevice.fmod(a,b) libdevice.atan2(a,b) libdevice.hypot(a,b) libdevice.copysign(a,b) libdevice.nextafter(a,b) tl.div_rn(a,b)": ["fp32"],
    "tl.umulhi(a,b)": ["u32", "u64"],
}


def draw(r):
    """A kernel, the types of its parameters, and its constants."""
    pick = r.choice
    block = lambda: pick([32, 64, 128, 256, 512, 1024])
    kind = pick(["unary", "unary", "unary", "binary", "binary", "binary", "cast", "cast", "reduce", "reduce", "scanned", "recurrence", "ordered", "binned", "gathered", "atomics", "atomics", "dropout", "interleaved",
                 "normed_back", "entropy", "rope", "grouped", "grouped", "grouped", "grouped", "described", "described", "causal", "causal", "scaled", "printed", "softmax", "layernorm", "transpose", "matmul", "attention"])
    if kind in ("unary", "binary"):
        texts, types = pick(list((ONE if kind == "unary" else TWO).items()))
        t = pick(types)
        f = function(pick(texts.split()), "a" if kind == "unary" else "a, b")
        return (unary if kind == "unary" else binary), f"*{t} *{t}" + ("" if kind == "unary" else f" *{t}") + " i32", {"F": f, "BLOCK": block()}
    every = FLOATS + INTS + SMALL
    if kind == "cast":
        return cast, f"*{pick(every)} *{pick(every)} i32", {"BLOCK": block()}
    if kind == "reduce":
        t = pick(FLOATS + INTS[:4])
        f = function(pick(["tl.sum(v,x)", "tl.max(v,x)", "tl.min(v,x)", "tl.argmax(v,x)", "tl.argmin(v,x)", "tl.xor_sum(v.to(tl.int32,bitcast=False),x)"]), "v, x: tl.constexpr")
        return reduce, f"*{t} *{t} i32", {"F": f, "AXIS": pick([0, 1]), "M": pick([8, 16, 64]), "N": pick([16, 32, 128])}
    if kind == "scanned":
        t = pick(["fp32", "fp64", "i32", "i64", "fp16"])
        f = function(pick(["tl.cumsum(v,x)", "tl.cumprod(v,x)", "tl.cumsum(v,x,reverse=True)"]), "v, x: tl.constexpr")
        return scanned, f"*{t} *{t} i32", {"F": f, "AXIS": pick([0, 1]), "M": pick([8, 32]), "N": pick([32, 128])}
    if kind == "recurrence":
        return recurrence, "*fp32 *fp32 *fp32", {"N": block(), "REVERSE": pick([False, True])}
    if kind == "ordered":
        t = pick(["fp32", "i32", "i16", "fp16", "i64"])
        return ordered, f"*{t} *{t}", {"DESCENDING": pick([False, True]), "M": pick([1, 4, 16]), "N": pick([32, 128])}
    if kind == "binned":
        return binned, "*i32 *i32", {"BINS": pick([16, 64, 256]), "N": block()}
    if kind == "gathered":
        t = pick(["fp32", "i32", "i64", "fp16"])
        return gathered, f"*{t} *{t} *i32", {"M": pick([4, 16]), "N": pick([32, 64])}
    if kind == "atomics":
        op = pick(["cas", "add", "add", "max", "min", "xchg", "and", "xor"])
        t = pick({"add": ["fp16", "bf16", "fp32", "fp64", "i32", "i64"], "max": ["fp32", "i32", "u32", "i64"], "min": ["fp32", "i32", "u64"]}.get(op, ["i32", "i64", "u32"]))
        return atomics, f"*{t} *{t} i32", {"OP": op, "SEM": pick(["relaxed", "acquire", "release", "acq_rel"]), "SCOPE": pick(["gpu", "cta", "sys"]), "BLOCK": block()}
    if kind == "dropout":
        t = pick(["fp32", "fp16"])
        return dropout, f"*{t} *{t} i32 fp32 i32", {"KIND": pick([0, 1, 2]), "BLOCK": block()}
    if kind == "interleaved":
        t = pick(["fp32", "i16", "fp16", "i64"])
        return interleaved, f"*{t} *{t} *{t}", {"N": block()}
    t = pick(["fp16", "bf16", "fp32"])
    if kind == "normed_back":
        return normed_back, f"*{t} *fp32 *{t} *{t} *{t} *fp32 *fp32 i32", {"ROWS": pick([1, 4]), "BLOCK": block()}
    if kind == "entropy":
        return entropy, f"*fp32 *{t} *i32 i32", {"BLOCK": block()}
    if kind == "rope":
        return rope, f"*{t} *fp32 *fp32 i32", {"HALF": pick([16, 32, 64])}
    tile = lambda: {"BM": pick([16, 32, 64, 128]), "BN": pick([16, 32, 64, 128]), "BK": pick([16, 32, 64])}
    if kind == "grouped":
        x = pick(["fp16", "bf16", "fp32", "i8", "fp8e4nv", "fp8e5", "fp64"])
        c = "i32" if x == "i8" else "fp64" if x == "fp64" else pick(["fp32", "fp16"])
        return grouped, f"*{c} *{x} *{x} i32 i32 i32 i32 i32 i32", tile() | {"GROUP": pick([1, 4, 8]), "ACT": pick([0, 1]), "PRECISION": pick(["tf32", "tf32x3", "ieee"]) if x == "fp32" else "tf32"}
    if kind == "described":
        x = pick(["fp16", "bf16", "fp8e4nv", "fp8e5"])
        return described, f"*{pick(['fp16', 'fp32'])} *{x} *{x} i32 i32 i32 i32", {"BM": pick([64, 128]), "BN": pick([32, 64, 128]), "BK": pick([32, 64]), "SPECIAL": pick([False, False, True]), "FLATTEN": pick([False, True])}
    if kind == "causal":
        x = pick(["fp16", "bf16"])
        return causal, f"*{x} *fp32 *{x} *{x} *{x} i32 fp32", {"D": pick([32, 64, 128]), "BM": pick([32, 64, 128]), "BN": pick([32, 64])}
    if kind == "scaled":
        fa, fb = pick(["e2m1", "e4m3", "e5m2", "bf16", "fp16"]), pick(["e2m1", "e4m3", "e5m2"])
        types = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}
        return scaled, f"*fp32 *{types[fa]} *u8 *{types[fb]} *u8 i32", {"FA": fa, "FB": fb, "PA": 2 if fa == "e2m1" else 1, "PB": 2 if fb == "e2m1" else 1, "BM": pick([32, 128]), "BN": pick([32, 64, 128]), "BK": pick([64, 128])}
    if kind == "printed":
        return printed, f"*{pick(['fp32', 'i32', 'i64', 'fp16'])} i32", {"BLOCK": block()}
    if kind == "softmax":
        return make_triton.softmax, "*fp32 *fp32 i32 i32", {"BLOCK": block()}
    if kind == "layernorm":
        return make_triton.layernorm, "*fp32 *fp32 *fp32 *fp32 i32 fp32", {"BLOCK": block()}
    if kind == "transpose":
        x = pick(["fp32", "fp16", "i32", "u8"])
        return make_triton.transpose, f"*{x} *{x} i32 i32", {"BM": pick([32, 64]), "BN": pick([32, 64])}
    if kind == "matmul":
        x = pick(["fp16", "bf16", "fp32", "i8", "fp8e4nv"])
        return make_triton.matmul, f"*{'i32' if x == 'i8' else 'fp32'} *{x} *{x} i32 i32 i32 i32", tile()
    return make_triton.attention, "*fp32 *fp16 *fp16 *fp16 i32", {"D": pick([16, 32, 64]), "BM": pick([32, 64]), "BN": pick([32, 64])}


def main(out, first, last):
    CUDABackend.make_cubin = lambda self, src, *_: b""
    failed = collections.Counter()
    for i in range(int(first), int(last)):
        r = random.Random(i)
        kernel, types, constants = draw(r)
        sm, warps = r.choice([75, 80, 86, 89, 90, 100, 120]), r.choice([1, 2, 4, 4, 8])
        options = {"num_warps": warps, "num_stages": r.choice([1, 2, 3, 4]), "enable_fp_fusion": r.choice([False, True]), "debug": r.choice([False, False, True])}
        aligned = r.choice([False, True])  # pointers and sizes are multiples of 16, as the run-time specialises
        names = kernel.arg_names
        signature = dict(zip(names, types.split())) | dict.fromkeys(constants, "constexpr")
        attrs = {(j,): [["tt.divisibility", 16]] for j, t in enumerate(types.split()) if t[0] == "*" or t == "i32"} if aligned else {}
        shown = {n: getattr(c, "__name__", c) for n, c in constants.items()}
        try:
            built = triton.compile(ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attrs), target=GPUTarget("cuda", sm, 32), options=options)
        except Exception as e:  # anything that Triton cannot do on this GPU
            failed[f"{type(e).__name__}: {(str(e).splitlines() or [''])[-1][:80]}"] += 1
            continue
        path = pathlib.Path(out) / f"{i:05}_{kernel.__name__}_{sm}.ptx"
        path.write_text(f"// triton {triton.__version__}: {kernel.__name__}({types}), {shown}, sm_{sm}, {options}\n// shared {built.metadata.shared}\n" + built.asm["ptx"].strip() + "\n")
        print(path, flush=True)
    for e, n in failed.most_common(12):
        print(f"Triton does not compile {n}: {e}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
