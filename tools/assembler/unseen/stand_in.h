// What the random programs of csmith want of their runtime.
#include <limits.h>
#include <stdint.h>
static volatile uint32_t crc32_context = 0xffffffff;
static void crc32_gentab(void) {}
static void transparent_crc(uint64_t value, const char *name, int print) { crc32_context = (crc32_context << 5) ^ (crc32_context >> 7) ^ (uint32_t)value ^ name[0]; }
static void transparent_crc_bytes(const void *data, int size, const char *name, int print) {
  for (int i = 0; i < size; i++)
    transparent_crc(((const char *)data)[i], name, print);
}
static void platform_main_begin(void) {}
static void platform_main_end(uint32_t sum, int print) { crc32_context = sum; }
#define printf(...) 0
