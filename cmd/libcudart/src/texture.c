// Textures and surfaces.

#include <string.h>

#include "cudart.h"

enum { array, mipmap, linear, pitch2D }; // cudaResourceType

// Flags of a CUDA_TEXTURE_DESC.
enum { asIntegers = 1, normalized = 2, srgb = 0x10, noTrilinear = 0x20, seamless = 0x40 };

static int convert_resource(const struct cudaResourceDesc *p, CUDA_RESOURCE_DESC *to)
{
	if (p == NULL)
		return invalidValue;
	*to = (CUDA_RESOURCE_DESC){.resType = p->resType};
	switch (p->resType) {
	case array: case mipmap:
		to->res.array = p->res.array.array; // both are handles
		return 0;
	case linear:
		to->res.linear.devPtr = address(p->res.linear.devPtr);
		to->res.linear.sizeInBytes = p->res.linear.sizeInBytes;
		return format_of(&p->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
	case pitch2D:
		to->res.pitch2D.devPtr = address(p->res.pitch2D.devPtr);
		to->res.pitch2D.width = p->res.pitch2D.width;
		to->res.pitch2D.height = p->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = p->res.pitch2D.pitchInBytes;
		return format_of(&p->res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
	}
	return invalidValue;
}

// convert_resource_back converts a resource of the driver to the API's structure.
static void convert_resource_back(const CUDA_RESOURCE_DESC *r, struct cudaResourceDesc *to)
{
	*to = (struct cudaResourceDesc){.resType = r->resType};
	switch (r->resType) {
	case array: case mipmap:
		to->res.array.array = r->res.array;
		break;
	case linear:
		to->res.linear.devPtr = pointer(r->res.linear.devPtr);
		to->res.linear.desc = channels_of(r->res.linear.format, r->res.linear.numChannels);
		to->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
		break;
	case pitch2D:
		to->res.pitch2D.devPtr = pointer(r->res.pitch2D.devPtr);
		to->res.pitch2D.desc = channels_of(r->res.pitch2D.format, r->res.pitch2D.numChannels);
		to->res.pitch2D.width = r->res.pitch2D.width;
		to->res.pitch2D.height = r->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
		break;
	}
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *res, const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *view)
{
	CUDA_RESOURCE_DESC r;
	if (texture == NULL || t == NULL)
		return RESULT(invalidValue);
	ENTER();
	int e = convert_resource(res, &r);
	if (e == 0 && view != NULL)
		e = notSupported;
	if (e != 0)
		return RESULT(e);
	CUDA_TEXTURE_DESC d = {
		.filterMode = t->filterMode, .maxAnisotropy = t->maxAnisotropy, .mipmapFilterMode = t->mipmapFilterMode,
		.mipmapLevelBias = t->mipmapLevelBias, .minMipmapLevelClamp = t->minMipmapLevelClamp, .maxMipmapLevelClamp = t->maxMipmapLevelClamp,
		.flags = (t->readMode == 0 ? asIntegers : 0) | (t->normalizedCoords ? normalized : 0) | (t->sRGB ? srgb : 0) |
			 (t->disableTrilinearOptimization ? noTrilinear : 0) | (t->seamlessCubemap ? seamless : 0),
	};
	for (int i = 0; i < 3; i++)
		d.addressMode[i] = t->addressMode[i];
	memcpy(d.borderColor, t->borderColor, sizeof d.borderColor);
	return RESULT(cuTexObjectCreate(texture, &r, &d, NULL));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) { RETURN(cuTexObjectDestroy(texture)); }

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *res)
{
	CUDA_RESOURCE_DESC r;
	ENTER();
	int e = surface == NULL ? invalidValue : convert_resource(res, &r);
	return RESULT(e != 0 ? e : cuSurfObjectCreate(surface, &r));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { RETURN(cuSurfObjectDestroy(surface)); }

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *res, cudaTextureObject_t texture)
{
	CUDA_RESOURCE_DESC r;
	ENTER();
	int e = res == NULL ? invalidValue : cuTexObjectGetResourceDesc(&r, texture);
	if (e == 0)
		convert_resource_back(&r, res);
	return RESULT(e);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *res, cudaSurfaceObject_t surface)
{
	CUDA_RESOURCE_DESC r;
	ENTER();
	int e = res == NULL ? invalidValue : cuSurfObjectGetResourceDesc(&r, surface);
	if (e == 0)
		convert_resource_back(&r, res);
	return RESULT(e);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *t, cudaTextureObject_t texture)
{
	CUDA_TEXTURE_DESC d;
	ENTER();
	int e = t == NULL ? invalidValue : cuTexObjectGetTextureDesc(&d, texture);
	if (e != 0)
		return RESULT(e);
	*t = (struct cudaTextureDesc){
		.filterMode = d.filterMode, .readMode = (d.flags & asIntegers) == 0, .sRGB = (d.flags & srgb) != 0,
		.normalizedCoords = (d.flags & normalized) != 0, .maxAnisotropy = d.maxAnisotropy, .mipmapFilterMode = d.mipmapFilterMode,
		.mipmapLevelBias = d.mipmapLevelBias, .minMipmapLevelClamp = d.minMipmapLevelClamp, .maxMipmapLevelClamp = d.maxMipmapLevelClamp,
		.disableTrilinearOptimization = (d.flags & noTrilinear) != 0, .seamlessCubemap = (d.flags & seamless) != 0,
	};
	for (int i = 0; i < 3; i++)
		t->addressMode[i] = d.addressMode[i];
	memcpy(t->borderColor, d.borderColor, sizeof d.borderColor);
	return RESULT(0);
}
