// Kernels on textures and surfaces, in the ways that CUDA C++ has of them. Arrays are layered,
// cubic, mipmapped; objects are arguments.

// resize makes a picture of w×h bytes of another: bilinear, with a normalised texture.
extern "C" __global__ void resize(cudaTextureObject_t image, cudaSurfaceObject_t to, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h)
		return;
	float4 c = tex2D<float4>(image, (x + 0.5f) / w, (y + 0.5f) / h);
	uchar4 b = make_uchar4(c.x * 255 + 0.5f, c.y * 255 + 0.5f, c.z * 255 + 0.5f, c.w * 255 + 0.5f);
	surf2Dwrite(b, to, x * 4, y);
}

// blur is a box of 3×3 texels, whole ones, of a surface that clamps.
extern "C" __global__ void blur(cudaSurfaceObject_t from, float *to, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h)
		return;
	float sum = 0;
	for (int j = -1; j <= 1; j++)
		for (int i = -1; i <= 1; i++)
			sum += surf2Dread<float>(from, (x + i) * 4, y + j, cudaBoundaryModeClamp);
	to[y * w + x] = sum / 9;
}

// levels looks at a mipmap, at a table in linear memory, and at the layers of an array.
extern "C" __global__ void levels(cudaTextureObject_t mip, cudaTextureObject_t table, cudaTextureObject_t layers, float *to, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float u = (float)i / n;
	int4 t = tex1Dfetch<int4>(table, i);
	to[i] = tex2DLod<float>(mip, u, 1 - u, 3 * u) + t.y * tex1DLayered<float>(layers, i + 0.25f, i % 3);
}
