#include "../gemu.h"

#pragma clang fp contract(off)

#define LIGHT 0.57735026f // each coordinate of the direction to the light

struct vector {
  float x, y, z;
};

struct sphere {
  struct vector centre;
  float radius;
  struct vector colour;
  float mirror; // share of the light that is reflected
};

GEMU_INLINE struct vector add(struct vector a, float f, struct vector b) {
  struct vector v = {a.x + f * b.x, a.y + f * b.y, a.z + f * b.z};
  return v;
}

GEMU_INLINE float dot(struct vector a, struct vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

GEMU_INLINE struct vector unit(struct vector v) {
  float length = sqrtf(dot(v, v));
  struct vector u = {v.x / length, v.y / length, v.z / length};
  return u;
}

// The distance of a sphere along a ray, or a large number.
GEMU_INLINE float distance(struct sphere s, struct vector from, struct vector towards) {
  struct vector v = add(from, -1.0f, s.centre);
  float b = dot(v, towards), root = b * b - (dot(v, v) - s.radius * s.radius);
  if (root <= 0)
    return 1e9f;
  float t = -b - sqrtf(root);
  return t > 1e-3f ? t : 1e9f;
}

// A picture of spheres above a chequered plane (Whitted 1980), with three reflections at most: a thread computes a pixel.
extern "C" __global__ void ray(int width, int height, int n, const struct sphere *spheres, uint *pixels) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  struct vector from = {0, 1.5f, -6}, towards = {(float)(2 * x - width) / (float)height, (float)(height - 2 * y) / (float)height - 0.25f, 2}, sum = {0, 0, 0};
  struct vector light = {LIGHT, LIGHT, -LIGHT};
  towards = unit(towards);
  float share = 1;
  for (int bounce = 0; bounce < 4; bounce++) {
    float nearest = 1e9f, mirror = 0.25f;
    int hit = -1;
    for (int i = 0; i < n; i++) {
      float t = distance(spheres[i], from, towards);
      if (t < nearest) {
        nearest = t;
        hit = i;
      }
    }
    if (towards.y < 0 && from.y / -towards.y < nearest && from.y > 1e-3f) {
      nearest = from.y / -towards.y;
      hit = n;
    }
    if (hit < 0) {
      struct vector sky = {0.5f, 0.7f, 1};
      sum = add(sum, share * (0.5f + 0.5f * towards.y), sky);
      break;
    }
    struct vector place = add(from, nearest, towards), up = {0, 1, 0}, colour = {0.9f, 0.9f, 0.9f};
    if (hit < n) {
      up = unit(add(place, -1.0f, spheres[hit].centre));
      colour = spheres[hit].colour;
      mirror = spheres[hit].mirror;
    } else {
      place.y = 0;
      if ((int)rintf(place.x) + (int)rintf(place.z) & 1)
        colour.x = colour.y = colour.z = 0.2f;
    }
    float bright = fmaxf(dot(up, light), 0.0f);
    for (int i = 0; i < n && bright > 0; i++)
      if (distance(spheres[i], place, light) < 1e9f)
        bright = 0;
    sum = add(sum, share * (1 - mirror) * (0.2f + 0.8f * bright), colour);
    share = share * mirror;
    towards = add(towards, -2 * dot(towards, up), up);
    from = place;
  }
  uint red = min((int)(255 * sum.x), 255), green = min((int)(255 * sum.y), 255), blue = min((int)(255 * sum.z), 255);
  pixels[y * width + x] = red | green << 8 | blue << 16;
}
