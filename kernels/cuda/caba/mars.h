// The data of a map-reduce program in the shape of Mars (He et al. 2008).
#ifndef MARS
#define MARS
#include "../gemu.h"

// An entry of a directory: the offset and the size of a key, and those of its value, in bytes.
struct record {
  uint key, keySize, value, valueSize;
};

#endif
