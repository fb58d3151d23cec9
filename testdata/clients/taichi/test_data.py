"""Fields, arrays, structures and matrices."""

import numpy as np
import taichi as ti


def test_fields():
    numbers = ti.field(ti.i32, (8, 16))
    vectors = ti.Vector.field(3, ti.f32, 100)

    @ti.kernel
    def fill():
        for i, j in numbers:
            numbers[i, j] = i * 100 + j
        for i in vectors:
            vectors[i] = ti.Vector([i, i + 1, i + 2]) * 0.5

    @ti.kernel
    def total() -> ti.i32:
        sum = 0
        for i, j in numbers:
            sum += numbers[i, j]
        return sum

    fill()
    n = np.arange(100)
    assert (numbers.to_numpy() == np.arange(8)[:, None] * 100 + np.arange(16)).all()
    assert (vectors.to_numpy() == np.stack([n, n + 1, n + 2], 1) * 0.5).all()
    numbers.fill(7)
    assert numbers[3, 4] == 7 and total() == 7 * 128
    numbers.from_numpy(np.ones((8, 16), np.int32))
    assert total() == 128


def test_arrays():
    grid, pairs = ti.ndarray(ti.f32, (64, 64)), ti.Vector.ndarray(2, ti.f32, 100)
    host = np.zeros(33)

    @ti.kernel
    def fill(grid: ti.types.ndarray(), pairs: ti.types.ndarray(), host: ti.types.ndarray()):
        for i, j in grid:
            grid[i, j] = i + j
        for i in pairs:
            pairs[i] = ti.Vector([i, 2 * i])
        for i in range(host.shape[0]):
            host[i] += i

    fill(grid, pairs, host)
    copy = ti.Vector.ndarray(2, ti.f32, 100)
    copy.copy_from(pairs)
    assert (grid.to_numpy() == np.arange(64)[:, None] + np.arange(64)).all()
    assert (host == np.arange(33)).all()
    assert (copy.to_numpy() == np.arange(100)[:, None] * [1, 2]).all()


def test_structures():
    @ti.dataclass
    class Particle:
        position: ti.math.vec3
        mass: ti.f32

        @ti.func
        def energy(self):
            return 0.5 * self.mass * self.position.dot(self.position)

    particles = Particle.field(shape=100)
    energies = ti.field(ti.f32, 100)

    @ti.kernel
    def fill():
        for i in particles:
            particles[i] = Particle(position=ti.math.vec3(i, 1, 2), mass=2.0)
        for i in particles:
            energies[i] = particles[i].energy()

    @ti.kernel
    def heavier(p: Particle) -> Particle:
        return Particle(position=p.position * 2, mass=p.mass + 1)

    fill()
    assert (energies.to_numpy() == np.arange(100.0) ** 2 + 5).all()
    p = heavier(Particle(position=[1, 2, 3], mass=4))
    assert list(p.position) == [2, 4, 6] and p.mass == 5


def test_matrices():
    n = 20
    a = np.random.default_rng(1).random((n, 3, 3)) + np.eye(3)
    A, U, S, V, inverse, Q, R = (ti.Matrix.field(3, 3, ti.f64, n) for _ in range(7))
    determinant = ti.field(ti.f64, n)
    values = ti.Vector.field(3, ti.f64, n)
    A.from_numpy(a)

    @ti.kernel
    def decompose():
        for i in A:
            U[i], S[i], V[i] = ti.svd(A[i], ti.f64)
            Q[i], R[i] = ti.polar_decompose(A[i], ti.f64)
            values[i], _ = ti.sym_eig(A[i] + A[i].transpose(), ti.f64)
            inverse[i] = A[i].inverse()
            determinant[i] = A[i].determinant()

    decompose()
    product = U.to_numpy() @ S.to_numpy() @ V.to_numpy().transpose(0, 2, 1)
    np.testing.assert_allclose(product, a, atol=1e-6)
    np.testing.assert_allclose(Q.to_numpy() @ R.to_numpy(), a, atol=1e-6)
    np.testing.assert_allclose(np.sort(values.to_numpy()), np.linalg.eigvalsh(a + a.transpose(0, 2, 1)), atol=1e-6)
    np.testing.assert_allclose(inverse.to_numpy(), np.linalg.inv(a))
    np.testing.assert_allclose(determinant.to_numpy(), np.linalg.det(a))


def test_quantised():
    small, wide = ti.types.quant.int(5, True), ti.types.quant.int(19, False)
    fixed = ti.types.quant.fixed(16, max_value=2.0)
    x, y, z, bit = ti.field(small), ti.field(wide), ti.field(fixed), ti.field(ti.types.quant.int(1, False))
    packed = ti.BitpackedFields(max_num_bits=64)
    packed.place(x, y, z)
    ti.root.dense(ti.i, 100).place(packed)
    ti.root.quant_array(ti.i, 128, max_num_bits=32).place(bit)

    @ti.kernel
    def fill():
        for i in x:
            x[i], y[i], z[i] = i % 16 - 8, i * 5000, i * 0.01
        for i in range(128):
            bit[i] = i % 3 == 0

    fill()
    for i in 0, 7, 55, 99:
        assert x[i] == i % 16 - 8 and y[i] == i * 5000 and abs(z[i] - i * 0.01) < 1e-4
    assert [bit[i] for i in range(9)] == [1, 0, 0] * 3


def test_graph():
    @ti.kernel
    def step(a: ti.types.ndarray(ndim=1), n: ti.i32):
        for i in a:
            a[i] = a[i] * 2 + n

    array = ti.graph.Arg(ti.graph.ArgKind.NDARRAY, "a", ti.i32, ndim=1)
    number = ti.graph.Arg(ti.graph.ArgKind.SCALAR, "n", ti.i32)
    builder = ti.graph.GraphBuilder()
    builder.dispatch(step, array, number)
    builder.dispatch(step, array, number)
    a = ti.ndarray(ti.i32, 10)
    builder.compile().run({"a": a, "n": 3})
    assert (a.to_numpy() == 9).all()


def test_sparse_matrix():
    builder = ti.linalg.SparseMatrixBuilder(10, 10, max_num_triplets=100)

    @ti.kernel
    def diagonal(b: ti.types.sparse_matrix_builder()):
        for i in range(10):
            b[i, i] += 2.0

    diagonal(builder)
    v = ti.ndarray(ti.f32, 10)
    v.fill(3)
    assert ((builder.build() @ v).to_numpy() == 6).all()
