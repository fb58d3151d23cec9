"""Sparse fields: parts become active as lanes write to them, each by a single lane."""

import numpy as np
import taichi as ti


def test_pointers():
    x = ti.field(ti.i32)
    blocks = ti.root.pointer(ti.ij, 8).pointer(ti.ij, 4)
    blocks.dense(ti.ij, 4).place(x)

    @ti.kernel
    def fill():
        for i in range(128):
            x[i, i * 37 % 128] = i

    @ti.kernel
    def count() -> ti.i32:
        n = 0
        for i, j in x:
            n += 1
        return n

    @ti.kernel
    def total() -> ti.i32:
        n = 0
        for i, j in x:
            n += x[i, j]
        return n

    @ti.kernel
    def active(i: ti.i32, j: ti.i32) -> ti.i32:
        return ti.is_active(blocks, [i, j])

    written = {(i // 4, i * 37 % 128 // 4) for i in range(128)}
    for _ in range(2):
        fill()
        assert count() == 16 * len(written) and total() == sum(range(128))
        for i, j in (0, 0), (0, 1), (3, 5):
            assert active(4 * i, 4 * j) == ((i, j) in written)
        ti.root.deactivate_all()
        assert count() == 0


def test_one_block_for_all_lanes():
    x = ti.field(ti.i32)
    ti.root.pointer(ti.i, 4).pointer(ti.i, 4).dense(ti.i, 64).place(x)

    @ti.kernel
    def fill():
        for i in range(1024):
            x[i] = i

    fill()
    assert (x.to_numpy() == np.arange(1024)).all()


def test_bitmasks():
    x = ti.field(ti.f32)
    cells = ti.root.pointer(ti.i, 32).bitmasked(ti.i, 32)
    cells.place(x)

    @ti.kernel
    def fill():
        for i in range(1024):
            if i % 7 == 0:
                x[i] = i

    @ti.kernel
    def drop_even():
        for i in x:
            if i % 2 == 0:
                ti.deactivate(cells, [i])

    @ti.kernel
    def count() -> ti.i32:
        n = 0
        for i in x:
            n += 1
        return n

    fill()
    assert count() == 147
    drop_even()
    assert count() == 73


def test_lists():
    x = ti.field(ti.i32)
    lists = ti.root.dense(ti.i, 16).dynamic(ti.j, 1024, chunk_size=32)
    lists.place(x)
    length = ti.field(ti.i32, 16)

    @ti.kernel
    def one_lane_each():
        for i in range(16):
            for j in range(i * 10):
                ti.append(x.parent(), i, j)
        for i in length:
            length[i] = ti.length(x.parent(), i)

    @ti.kernel
    def many_lanes_each():
        for k in range(3200):
            ti.append(x.parent(), k % 16, k)
        for i in length:
            length[i] = ti.length(x.parent(), i)

    @ti.kernel
    def total() -> ti.i32:
        n = 0
        for i, j in x:
            n += x[i, j]
        return n

    one_lane_each()
    assert length.to_numpy().tolist() == [10 * i for i in range(16)]
    assert total() == sum(sum(range(10 * i)) for i in range(16))
    ti.deactivate_all_snodes()
    many_lanes_each()
    assert (length.to_numpy() == 200).all() and total() == sum(range(3200))
