// Arrays, textures and surfaces.

#include <vector>

#include "check.h"

__global__ void turned(cudaTextureObject_t t, float *out, int w, int h)
{
	int x = threadIdx.x, y = threadIdx.y;
	out[y * w + x] = tex2D<float>(t, w - x - 0.5f, h - y - 0.5f);
}

__global__ void halfway(cudaTextureObject_t t, float *out, int n)
{
	out[threadIdx.x] = tex1D<float>(t, (threadIdx.x + 1.0f) / n);
}

__global__ void brighten(cudaSurfaceObject_t s, int w, int h)
{
	int x = threadIdx.x, y = threadIdx.y;
	uchar4 v = surf2Dread<uchar4>(s, x * 4, y);
	surf2Dwrite(make_uchar4(v.x + 1, v.y + 2, v.z + 3, v.w + 4), s, x * 4, y);
}

__global__ void linear(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x) + 1; }

__global__ void normalized(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex1Dfetch<float4>(t, threadIdx.x); }

__global__ void normalized_array(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex1D<float4>(t, threadIdx.x); }

__global__ void volume(cudaTextureObject_t t, int *out)
{
	int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	out[i] = tex3D<int>(t, threadIdx.x, threadIdx.y, threadIdx.z);
}

static cudaTextureObject_t texture(cudaResourceDesc &r, cudaTextureFilterMode filter, bool normalized, cudaTextureReadMode read = cudaReadModeElementType)
{
	cudaTextureDesc d = {};
	d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
	d.filterMode = filter;
	d.readMode = read;
	d.normalizedCoords = normalized;
	cudaTextureObject_t t;
	CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	return t;
}

int main()
{
	const int w = 16, h = 8;
	std::vector<float> image(w * h), got(w * h);
	for (int i = 0; i < w * h; i++)
		image[i] = i * 0.5f;
	float *out;
	CHECK(cudaMalloc(&out, w * h * sizeof(float)));
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	cudaArray_t array;
	CHECK(cudaMallocArray(&array, &f, w, h));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice));
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	cudaTextureObject_t t = texture(r, cudaFilterModePoint, false);
	turned<<<1, dim3(w, h)>>>(t, out, w, h);
	CHECK(cudaMemcpy(got.data(), out, w * h * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < w * h; i++)
		EXPECT(got[i] == image[w * h - 1 - i]);
	cudaResourceDesc same;
	CHECK(cudaGetTextureObjectResourceDesc(&same, t));
	EXPECT(same.resType == cudaResourceTypeArray && same.res.array.array == array);
	cudaTextureDesc how;
	CHECK(cudaGetTextureObjectTextureDesc(&how, t));
	EXPECT(how.addressMode[0] == cudaAddressModeClamp && how.filterMode == cudaFilterModePoint && how.normalizedCoords == 0 && how.readMode == cudaReadModeElementType);
	CHECK(cudaDestroyTextureObject(t));
	cudaChannelFormatDesc f2;
	cudaExtent e;
	CHECK(cudaArrayGetInfo(&f2, &e, nullptr, array));
	EXPECT(f2.x == 32 && f2.y == 0 && f2.f == cudaChannelFormatKindFloat && e.width == w && e.height == h && e.depth == 0);

	// Copies that continue from row to row.
	std::vector<float> some(40);
	for (int i = 0; i < 40; i++)
		some[i] = 1000 + i;
	CHECK(cudaMemcpyToArray(array, 5 * sizeof(float), 2, some.data(), 40 * sizeof(float), cudaMemcpyHostToDevice));
	for (int i = 0; i < 40; i++)
		image[2 * w + 5 + i] = some[i];
	std::vector<float> part(w * h - 3);
	CHECK(cudaMemcpyFromArray(part.data(), array, 3 * sizeof(float), 0, part.size() * sizeof(float), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < part.size(); i++)
		EXPECT(part[i] == image[3 + i]);
	cudaArray_t second;
	CHECK(cudaMallocArray(&second, &f, w, h));
	CHECK(cudaMemcpy2DArrayToArray(second, 0, 0, array, 0, 0, w * sizeof(float), h, cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpyArrayToArray(second, 0, 1, array, 4, 0, 20 * sizeof(float), cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpy2DFromArray(got.data(), w * sizeof(float), second, 0, 0, w * sizeof(float), h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < w * h; i++)
		EXPECT(got[i] == image[i >= w && i < w + 20 ? i - w + 1 : i]);
	FAILS(cudaErrorInvalidValue, cudaMemcpyToArray(array, 0, h - 1, some.data(), 40 * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaFreeArray(second));
	CHECK(cudaFreeArray(array));

	// Between texels, with normalized coordinates.
	CHECK(cudaMallocArray(&array, &f, w));
	CHECK(cudaMemcpyToArray(array, 0, 0, image.data(), w * sizeof(float), cudaMemcpyHostToDevice));
	r.res.array.array = array;
	t = texture(r, cudaFilterModeLinear, true);
	halfway<<<1, w - 1>>>(t, out, w);
	CHECK(cudaMemcpy(got.data(), out, (w - 1) * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < w - 1; i++)
		EXPECT(got[i] == (image[i] + image[i + 1]) / 2);
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeArray(array));

	std::vector<uchar4> pixels(w * h), after(w * h);
	for (int i = 0; i < w * h; i++)
		pixels[i] = make_uchar4(i, i + 1, i + 2, i + 3);
	f = cudaCreateChannelDesc<uchar4>();
	CHECK(cudaMallocArray(&array, &f, w, h, cudaArraySurfaceLoadStore));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
	r.res.array.array = array;
	cudaSurfaceObject_t s;
	CHECK(cudaCreateSurfaceObject(&s, &r));
	brighten<<<1, dim3(w, h)>>>(s, w, h);
	CHECK(cudaMemcpy2DFromArray(after.data(), w * 4, array, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < w * h; i++)
		EXPECT(after[i].x == (unsigned char)(i + 1) && after[i].y == (unsigned char)(i + 3) && after[i].z == (unsigned char)(i + 5) && after[i].w == (unsigned char)(i + 7));
	CHECK(cudaGetSurfaceObjectResourceDesc(&same, s));
	EXPECT(same.res.array.array == array);
	CHECK(cudaDestroySurfaceObject(s));
	CHECK(cudaFreeArray(array));

	int *numbers;
	CHECK(cudaMalloc(&numbers, 32 * sizeof(int)));
	CHECK(cudaMemset(numbers, 1, 32 * sizeof(int)));
	r = {};
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = numbers;
	r.res.linear.desc = cudaCreateChannelDesc<int>();
	r.res.linear.sizeInBytes = 32 * sizeof(int);
	t = texture(r, cudaFilterModePoint, false);
	linear<<<1, 32>>>(t, (int *)out);
	CHECK(cudaMemcpy(got.data(), out, 32 * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		EXPECT(((int *)got.data())[i] == 0x01010102);
	CHECK(cudaGetTextureObjectResourceDesc(&same, t));
	EXPECT(same.res.linear.devPtr == numbers && same.res.linear.sizeInBytes == 128 && same.res.linear.desc.x == 32 && same.res.linear.desc.f == cudaChannelFormatKindSigned);
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaMemset(numbers, 51, 16));
	r.res.linear.desc = cudaCreateChannelDesc<uchar4>();
	t = texture(r, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
	normalized<<<1, 8>>>(t, (float4 *)out);
	CHECK(cudaMemcpy(got.data(), out, 8 * sizeof(float4), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		EXPECT(got[i] == (i < 16 ? 51 : 1) / 255.0f);
	CHECK(cudaDestroyTextureObject(t));

	// A format with integers that represent floats.
	cudaChannelFormatDesc unorm = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4);
	CHECK(cudaMallocArray(&array, &unorm, 8));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, numbers, 32, 32, 1, cudaMemcpyDeviceToDevice));
	CHECK(cudaArrayGetInfo(&f2, &e, nullptr, array));
	EXPECT(f2.f == cudaChannelFormatKindUnsignedNormalized8X4 && f2.w == 8);
	r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	t = texture(r, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
	normalized_array<<<1, 8>>>(t, (float4 *)out);
	CHECK(cudaMemcpy(got.data(), out, 8 * sizeof(float4), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		EXPECT(got[i] == (i < 16 ? 51 : 1) / 255.0f);
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeArray(array));
	unorm.f = cudaChannelFormatKindUnsignedNormalized8X2;
	FAILS(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &unorm, 8));

	std::vector<int> box(4 * 3 * 2), seen(box.size());
	for (size_t i = 0; i < box.size(); i++)
		box[i] = i * i;
	cudaMemcpy3DParms p = {};
	f = cudaCreateChannelDesc<int>();
	p.extent = make_cudaExtent(4, 3, 2);
	CHECK(cudaMalloc3DArray(&array, &f, p.extent));
	p.srcPtr = make_cudaPitchedPtr(box.data(), 4 * sizeof(int), 4, 3);
	p.dstArray = array;
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&p));
	r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	t = texture(r, cudaFilterModePoint, false);
	volume<<<1, dim3(4, 3, 2)>>>(t, (int *)out);
	CHECK(cudaMemcpy(seen.data(), out, box.size() * sizeof(int), cudaMemcpyDeviceToHost));
	EXPECT(seen == box);
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeArray(array));

	f = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
	FAILS(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &f, w, h));
	puts("ok");
}
