// The kernels of kernels/cuda and naive.cu in OpenCL C: same algorithms, types, arguments and work-groups. Where
// clang has contracted a·b + c for PTX, fma says so, for results are compared bit by bit.

// y = a·x + y
kernel void saxpy(int n, float a, global const float *x, global float *y) {
  int i = get_global_id(0);
  if (i < n)
    y[i] = fma(a, x[i], y[i]);
}

// C = alpha·A·B + beta·C, a thread for each element.
kernel void naive(int m, int n, int k, float alpha, global const float *a, global const float *b, float beta, global float *c) {
  int row = get_global_id(1), col = get_global_id(0);
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; i++)
    sum = fma(a[row * k + i], b[i * n + col], sum);
  c[row * n + col] = fma(c[row * n + col], beta, alpha * sum);
}

#define TILE 16

// … through tiles in local memory.
kernel void sgemm(int m, int n, int k, float alpha, global const float *a, global const float *b, float beta, global float *c) {
  local float as[TILE][TILE], bs[TILE][TILE];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_group_id(1) * TILE + ty, col = get_group_id(0) * TILE + tx;
  float sum = 0;
  for (int t = 0; t < k; t += TILE) {
    as[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0;
    bs[ty][tx] = t + ty < k && col < n ? b[(t + ty) * n + col] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; i++)
      sum = fma(as[ty][i], bs[i][tx], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && col < n)
    c[row * n + col] = fma(c[row * n + col], beta, alpha * sum);
}

// out[y·w + x] = the number of steps z = z² + c that stay within |z| ≤ 2, at most limit.
kernel void mandelbrot(float left, float top, float step, int w, int h, int limit, global int *out) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  float cr = fma((float)x, step, left), ci = fma(-(float)y, step, top);
  float zr = 0, zi = 0;
  int n = 0;
  while (n < limit) {
    float ii = zi * zi;
    if (fma(zr, zr, ii) > 4)
      break;
    float rr_ii = fma(zr, zr, -ii);
    zi = fma(zi, 2 * zr, ci);
    zr = rr_ii + cr;
    n++;
  }
  out[y * w + x] = n;
}
