#!/usr/bin/env python3
"""Compiles the Triton kernels here to the PTX next to it, for a GPU that need not be present.

    pip install triton==3.9.0
    testdata/corpus/make_triton.py

Their expected results are in internal/corpus/compiled.go.
"""
import os
import pathlib

os.environ |= {"TRITON_DEFAULT_FP_FUSION": "1", "TRITON_DISABLE_LINE_INFO": "1"}
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(out, x, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.jit
def layernorm(out, x, weight, bias, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = tl.zeros((), tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mean += tl.sum(tl.load(x + row * n + cols, mask=cols < n, other=0.0), axis=0)
    mean /= n
    var = tl.zeros((), tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        d = tl.where(cols < n, tl.load(x + row * n + cols, mask=cols < n, other=0.0) - mean, 0.0)
        var += tl.sum(d * d, axis=0)
    scale = 1 / tl.sqrt(var / n + eps)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < n
        y = (tl.load(x + row * n + cols, mask=mask) - mean) * scale
        tl.store(out + row * n + cols, y * tl.load(weight + cols, mask=mask) + tl.load(bias + cols, mask=mask), mask=mask)


@triton.jit
def histogram(out, x, n, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + cols, mask=cols < n, other=0), 1, mask=cols < n)


@triton.jit
def scan(out, x, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + cols, mask=cols < n, other=0)
    tl.store(out + tl.program_id(0) * n + cols, tl.cumsum(v, axis=0), mask=cols < n)


@triton.jit
def matmul(c, a, b, k, stride_a, stride_b, stride_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    pa, pb = a + m[:, None] * stride_a + ks[None, :], b + ks[:, None] * stride_b + n[None, :]
    acc = tl.zeros((BM, BN), tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32)
    for _ in range(0, k, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc, out_dtype=acc.dtype)
        pa += BK
        pb += BK * stride_b
    tl.store(c + m[:, None] * stride_c + n[None, :], acc)


@triton.jit
def specialized(c, a, b, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[k, n], strides=[n, 1], block_shape=[BK, BN])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for at in tl.range(0, k, BK, warp_specialize=True):
        acc = tl.dot(da.load([i, at]), db.load([at, j]), acc)
    dc.store([i, j], acc)


@triton.jit
def scaled(c, a, sa, b, sb, k, stride_a, stride_b, stride_sa, stride_sb, stride_c,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FORMAT: tl.constexpr, PACKED: tl.constexpr, EACH: tl.constexpr):
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    ks, each = tl.arange(0, BK // PACKED), tl.arange(0, BK // EACH)
    pa, pb = a + m[:, None] * stride_a + ks[None, :], b + n[None, :] * stride_b + ks[:, None]
    qa, qb = sa + m[:, None] * stride_sa + each[None, :], sb + n[:, None] * stride_sb + each[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, k, BK):
        acc = tl.dot_scaled(tl.load(pa), tl.load(qa), FORMAT, tl.load(pb), tl.load(qb), FORMAT, acc)
        pa += BK // PACKED
        pb += BK // PACKED
        qa += BK // EACH
        qb += BK // EACH
    tl.store(c + m[:, None] * stride_c + n[None, :], acc)


@triton.jit
def attention(out, q, k, v, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + d[None, :])
    most, total = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        keys = start + tl.arange(0, BN)
        scores = tl.dot(queries, tl.load(k + keys[None, :] * D + d[:, None]))
        top = tl.maximum(most, tl.max(scores, 1))
        p, rescale = tl.exp(scores - top[:, None]), tl.exp(most - top)
        values = tl.load(v + keys[:, None] * D + d[None, :])
        total = total * rescale + tl.sum(p, 1)
        acc = acc * rescale[:, None] + tl.dot(p.to(values.dtype), values)
        most = top
    tl.store(out + rows[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def transpose(out, x, m, n, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    b = tl.make_tensor_descriptor(out, shape=[n, m], strides=[m, 1], block_shape=[BN, BM])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    b.store([j, i], a.load([i, j]).T)


def make(name, kernel, sm, types, warps=4, **constants):
    names = kernel.arg_names
    signature = dict(zip(names, types.split())) | {n: "constexpr" for n in constants}
    built = triton.compile(ASTSource(fn=kernel, signature=signature, constexprs=constants),
                           target=GPUTarget("cuda", sm, 32), options={"num_warps": warps})
    head = f"// triton {triton.__version__}: {kernel.__name__}({types}), {constants}, sm_{sm}, {warps} warps, {built.metadata.shared} bytes of shared memory\n"
    (pathlib.Path(__file__).parent / f"{name}.ptx").write_text(head + built.asm["ptx"].strip() + "\n")
    print(name)


if __name__ == "__main__":
    make("triton_softmax_80", softmax, 80, "*fp32 *fp32 i32 i32", BLOCK=256)
    make("triton_layernorm_90", layernorm, 90, "*fp32 *fp32 *fp32 *fp32 i32 fp32", BLOCK=128)
    make("triton_histogram_80", histogram, 80, "*i32 *i32 i32", BLOCK=256)
    make("triton_scan_80", scan, 80, "*i32 *i32 i32", BLOCK=256)
    for of, types in {"f16": "*fp32 *fp16 *fp16", "bf16": "*fp32 *bf16 *bf16", "tf32": "*fp32 *fp32 *fp32", "s8": "*i32 *i8 *i8"}.items():
        make(f"triton_matmul_{of}_80", matmul, 80, types + " i32 i32 i32 i32", BM=64, BN=64, BK=32)
    make("triton_transpose_90", transpose, 90, "*fp32 *fp32 i32 i32", BM=32, BN=32)
    for sm in (90, 100):
        for of, types in {"f16": "*fp32 *fp16 *fp16", "tf32": "*fp32 *fp32 *fp32", "e4m3": "*fp32 *fp8e4nv *fp8e4nv"}.items():
            make(f"triton_matmul_{of}_{sm}", matmul, sm, types + " i32 i32 i32 i32", BM=64, BN=64, BK=32)
    make("triton_matmul_warps_100", specialized, 100, "*fp32 *fp16 *fp16 i32 i32 i32", BM=128, BN=64, BK=32)
    strides = " i32 i32 i32 i32 i32 i32"
    make("triton_scaled_mxfp8_100", scaled, 100, "*fp32 *fp8e4nv *u8 *fp8e4nv *u8" + strides, BM=128, BN=64, BK=128, FORMAT="e4m3", PACKED=1, EACH=32)
    make("triton_scaled_nvfp4_100", scaled, 100, "*fp32 *u8 *fp8e4nv *u8 *fp8e4nv" + strides, BM=128, BN=64, BK=128, FORMAT="e2m1", PACKED=2, EACH=16)
    for sm in (80, 90, 100):
        make(f"triton_attention_{sm}", attention, sm, "*fp32 *fp16 *fp16 *fp16 i32", D=64, BM=64, BN=32)
