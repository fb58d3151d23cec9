// host runs a kernel on the first OpenCL device, as often as it is asked to.
//
//	host SOURCE KERNEL DIMENSIONS GLOBAL… LOCAL… ARGUMENT…
//
// An argument is i:NUMBER, f:BITS of a float in hexadecimal, or b:FILE, a buffer with what the file has. For each
// character of standard input it fills the buffers again, runs the kernel, and prints how many nanoseconds that
// took by the device's profile. In the end it writes the buffers back to their files.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, int code) {
  fprintf(stderr, "host: %s: error %d\n", what, code);
  exit(1);
}

static void try(cl_int code, const char *what) {
  if (code != CL_SUCCESS)
    fail(what, code);
}

static char *readAll(const char *name, size_t *size) {
  FILE *f = fopen(name, "rb");
  if (!f)
    fail(name, 0);
  fseek(f, 0, SEEK_END);
  *size = ftell(f);
  rewind(f);
  char *data = calloc(1, *size + 1);
  if (!data || fread(data, 1, *size, f) != *size)
    fail(name, 0);
  fclose(f);
  return data;
}

typedef struct {
  const char *file;
  char *data;
  size_t size;
  cl_mem memory;
} buffer;

int main(int argc, char **argv) {
  if (argc < 4)
    fail("usage", argc);
  int dims = atoi(argv[3]);
  if (dims < 1 || dims > 3 || argc < 4 + 2 * dims)
    fail("dimensions", dims);
  size_t global[3], local[3];
  for (int i = 0; i < dims; i++) {
    global[i] = strtoull(argv[4 + i], 0, 10);
    local[i] = strtoull(argv[4 + dims + i], 0, 10);
  }
  char **args = argv + 4 + 2 * dims;
  int count = argc - 4 - 2 * dims;

  cl_int err;
  cl_platform_id platform;
  cl_device_id device;
  try(clGetPlatformIDs(1, &platform, 0), "clGetPlatformIDs");
  try(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0), "clGetDeviceIDs");
  char name[256] = "", version[256] = "";
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, 0);
  clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version - 1, version, 0);
  printf("%s, %s\n", version, name);
  cl_context context = clCreateContext(0, 1, &device, 0, 0, &err);
  try(err, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &err);
  try(err, "clCreateCommandQueue");
  size_t size;
  const char *source = readAll(argv[1], &size);
  cl_program program = clCreateProgramWithSource(context, 1, &source, &size, &err);
  try(err, "clCreateProgramWithSource");
  try(clBuildProgram(program, 1, &device, "", 0, 0), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, argv[2], &err);
  try(err, "clCreateKernel");

  buffer *buffers = calloc(count + 1, sizeof *buffers);
  int n = 0;
  for (int i = 0; i < count; i++) {
    const char *value = args[i] + 2;
    switch (args[i][0]) {
    case 'i': {
      cl_int v = strtol(value, 0, 10);
      try(clSetKernelArg(kernel, i, sizeof v, &v), args[i]);
      break;
    }
    case 'f': {
      cl_uint v = strtoul(value, 0, 16);
      try(clSetKernelArg(kernel, i, sizeof v, &v), args[i]);
      break;
    }
    case 'b': {
      buffer *b = &buffers[n++];
      b->file = value;
      b->data = readAll(value, &b->size);
      b->memory = clCreateBuffer(context, CL_MEM_READ_WRITE, b->size, 0, &err);
      try(err, "clCreateBuffer");
      try(clSetKernelArg(kernel, i, sizeof b->memory, &b->memory), args[i]);
      break;
    }
    default:
      fail(args[i], 0);
    }
  }
  fflush(stdout);
  while (getchar() != EOF) {
    for (buffer *b = buffers; b < buffers + n; b++)
      try(clEnqueueWriteBuffer(queue, b->memory, CL_TRUE, 0, b->size, b->data, 0, 0, 0), "clEnqueueWriteBuffer");
    cl_event event;
    try(clEnqueueNDRangeKernel(queue, kernel, dims, 0, global, local, 0, 0, &event), "clEnqueueNDRangeKernel");
    try(clFinish(queue), "clFinish");
    cl_ulong start, end;
    try(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, 0), "clGetEventProfilingInfo");
    try(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, 0), "clGetEventProfilingInfo");
    clReleaseEvent(event);
    printf("%llu\n", (unsigned long long)(end - start));
    fflush(stdout);
  }
  for (buffer *b = buffers; b < buffers + n; b++) {
    try(clEnqueueReadBuffer(queue, b->memory, CL_TRUE, 0, b->size, b->data, 0, 0, 0), "clEnqueueReadBuffer");
    FILE *f = fopen(b->file, "wb");
    if (!f || fwrite(b->data, 1, b->size, f) != b->size || fclose(f))
      fail(b->file, 0);
  }
  return 0;
}
