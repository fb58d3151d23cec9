// gemu.h: run PTX kernels on the CPU, from C.
//
// Functions that return an int give 0 if all went well and otherwise one of the
// numbers below; gemu_last_error then says in words what happened. All functions may
// be called from any thread at any time, but for observers and between gemu_start and gemu_stop: see there.
// Environment variables set the mode and more: see docs/libraries.md.

#ifndef GEMU_H
#define GEMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Handles, and addresses of device memory, which are no addresses of the host.
typedef uint64_t gemu_module;
typedef uint64_t gemu_kernel;
typedef uint64_t gemu_address;

// What went wrong; the numbers are those of the CUDA driver API.
enum gemu_result {
	GEMU_OK = 0,
	GEMU_INVALID_VALUE = 1,       // an argument, an extent, an address of a copy
	GEMU_OUT_OF_MEMORY = 2,
	GEMU_NOT_INITIALIZED = 3,     // in a child of fork
	GEMU_NO_BINARY = 209,         // the image has no PTX that the device runs
	GEMU_INVALID_PTX = 218,
	GEMU_INVALID_HANDLE = 400,
	GEMU_NOT_FOUND = 500,         // no such kernel or variable
	GEMU_ILLEGAL_ADDRESS = 700,   // a trap: bounds, use after free, read-only memory
	GEMU_TIMEOUT = 702,           // a trap: deadlock, endless loop, too many steps
	GEMU_ASSERT = 710,            // a trap: assertion
	GEMU_STACK_OVERFLOW = 714,    // a trap
	GEMU_MISALIGNED_ADDRESS = 716,
	GEMU_INVALID_SPACE = 717,     // a trap: address of another state space
	GEMU_INVALID_PC = 718,        // a trap: branch or call to nowhere
	GEMU_LAUNCH_FAILED = 719,     // a trap: any other
	GEMU_NOT_PERMITTED = 800,     // in an observer
	GEMU_NOT_SUPPORTED = 801,     // legal PTX that gemu does not run
	GEMU_UNKNOWN = 999
};

// gemu_value is a register of a warp, at an instruction. The arrays have one element
// per lane.
typedef struct {
	const char *name;    // of the register, as in the PTX
	const char *type;    // as ".u32"
	const uint64_t *low; // bits 0 to 63
	const uint64_t *high; // bits 64 to 127 of .b128; NULL otherwise
} gemu_value;

// gemu_event is an instruction that a warp has executed. What it points to is only
// good during the call that brings it, but for the strings, which stay.
typedef struct {
	uint32_t cta[3];         // the block
	uint32_t warp;           // within the block
	uint32_t pc;             // number of the instruction within its function, from 0
	uint32_t line, column;   // of it in the PTX
	const char *function;    // that it is in
	const char *instruction; // its text
	uint64_t active;         // lanes of the warp that are active here
	uint64_t lanes;          // of them those that the guard lets execute it
	uint32_t n_results;      // registers it writes …
	uint32_t n_sources;      // … and reads, in the order of its operands
	const gemu_value *results; // with the values after it; those of calls and barriers before it
	const gemu_value *sources; // with the values before it
	const uint64_t *addresses; // of loads, stores and atomics: one per lane; NULL otherwise
	const char *space;         // the state space of the access, as ".global"; "" is generic
	uint32_t bytes;            // that a lane accesses
} gemu_event;

// gemu_observer is called for every instruction of every warp. Calls do not overlap.
// An observer may not use the device, which is busy: of the functions below only
// ptx_run, gemu_last_error and gemu_statistics work in it.
// Events of one block are in the order of execution. Blocks may run side by side:
// GEMU_WORKERS=1 makes the order of all events the same in every run.
typedef void (*gemu_observer)(const gemu_event *event, void *user);

// gemu_launch_params describes a launch.
typedef struct {
	gemu_kernel kernel;
	uint32_t grid[3], block[3]; // extents: 0 counts as 1
	uint32_t shared_bytes;      // of dynamic shared memory
	void **args;                // pointers to the arguments, as cuLaunchKernel has them
	gemu_observer observer;     // may be NULL
	void *user;                 // for the observer
} gemu_launch_params;

// gemu_run is a launch that goes on as it is asked to.
typedef uint64_t gemu_run;

// What a step is.
enum gemu_step_kind {
	GEMU_STEP_INSTRUCTION = 0, // a warp has executed an instruction; of a call or barrier the results come later
	GEMU_STEP_RETURN = 1,      // lanes are back from the call that event is about, with its results
	GEMU_STEP_WAIT = 2,        // lanes wait at a barrier, or for others of their warp
	GEMU_STEP_RELEASE = 3,     // they go on: results of the barrier
	GEMU_STEP_SPLIT = 4,       // lanes of a warp split diverge
	GEMU_STEP_RECONVERGE = 5,  // diverged lanes reconverge
	GEMU_STEP_EXIT = 6,        // lanes have ended
	GEMU_STEP_TRAP = 7,        // the launch ends by a fault: message
	GEMU_STEP_CTA = 8,         // a block begins
	GEMU_STEP_CTA_END = 9,     // … has ended
	GEMU_STEP_EFFECT = 10      // an asynchronous operation is issued, or does something: effect, accesses, results
};

// The former name of GEMU_STEP_RECONVERGE.
#define GEMU_STEP_JOIN GEMU_STEP_RECONVERGE

// What an access does.
enum gemu_access_kind { GEMU_LOAD = 0, GEMU_STORE = 1, GEMU_ATOMIC = 2, GEMU_ZERO = 3 };

// gemu_access is what lanes do to memory: all that a commit log has of it (docs/trace.md).
typedef struct {
	uint32_t kind;             // of enum gemu_access_kind
	uint32_t bytes;            // of a lane; 0 of GEMU_ZERO, whose stored are lengths
	const char *space;         // as ".global"; "" is generic
	uint64_t lanes;            // that do it
	const uint64_t *addresses; // one per lane
	uint32_t n_stored;         // elements that are stored, or that atomics combine with what is there …
	uint32_t n_compared;       // … and that .cas compares with what is there; elements have up to 64 bits
	const uint64_t *stored;    // 64 each, one per lane; NULL if there are none
	const uint64_t *compared;
	uint64_t left_out;         // elements of stored, bit 0 for the first, that a vector with _ does not store
	const void *data;          // of GEMU_STEP_EFFECT: bytes that are written; else NULL
} gemu_access;

// What an asynchronous operation does.
enum gemu_effect_now { GEMU_EFFECT_ISSUED = 1, GEMU_EFFECT_READS = 2, GEMU_EFFECT_WRITES = 4 };

// gemu_step is something that has happened in a launch.
typedef struct {
	uint32_t kind;        // of enum gemu_step_kind
	gemu_event event;     // where; instruction is NULL of blocks, and lanes those that the step is about
	const char *unit;     // functional unit of the instruction, as "fp"; "" if there is none
	uint32_t depth;       // calls that the lanes are in
	int32_t reconverge;   // pc before which they wait for other lanes of their warp; -1: none is known
	int32_t barrier;      // of waits: 0 to 15; 16: that of the cluster; -1: lanes of the warp
	uint32_t generation;  // of a release, how often the barrier had completed before
	const char *message;  // of a trap; else NULL
	uint32_t n_accesses;  // what the instruction has done to memory, or an asynchronous operation does
	uint32_t effect_now;  // of an asynchronous operation: of enum gemu_effect_now
	uint64_t effect;      // … its number in the block
	const gemu_access *accesses;
} gemu_step;

// gemu_counts is what a launch has counted.
typedef struct {
	double seconds;
	int64_t thread_instructions; // executed by threads
	int64_t warp_instructions;   // issued to warps
	int64_t lane_slots;          // active lanes, summed over warp_instructions
	int64_t branches;            // executed by warps
	int64_t divergent_branches;  // of them those that split a warp
} gemu_counts;

#ifndef GEMU_TYPES_ONLY

// ptx_run runs the first kernel of a PTX module on memory of the host: addresses of
// global memory are addresses of the caller's. args[i] is the 64-bit value of
// parameter i, not a pointer to it; a narrower parameter takes its low bytes. bx to bz
// are the extents of a block, gx to gz those of the grid, shared_bytes is the size of
// dynamic shared memory. It returns when the kernel has ended. Errors, also that of an
// access to memory that the process does not have, are printed to standard error.
// Modules are cached by content.
int ptx_run(const char *ptx, int n_args, void *args[], int bx, int by, int bz, int gx, int gy, int gz, int shared_bytes);

// gemu_last_error describes the error of the last call of this thread that has
// failed; "" if none has. It is good until the thread's next call.
const char *gemu_last_error(void);

// The functions that follow work on device memory, whose every access is checked:
// kernels that are to read the host's memory are for ptx_run.

// gemu_load loads a module of size bytes of PTX, or of a text that ends with a zero if
// size is 0.
int gemu_load(const void *ptx, size_t size, gemu_module *module);
int gemu_unload(gemu_module module);

// gemu_get_kernel finds a kernel by name; NULL means the first.
int gemu_get_kernel(gemu_module module, const char *name, gemu_kernel *kernel);

// gemu_get_variable finds a .global or .const variable. size may be NULL.
int gemu_get_variable(gemu_module module, const char *name, gemu_address *address, size_t *size);

// gemu_alloc allocates device memory, all zero.
int gemu_alloc(size_t size, gemu_address *address);
int gemu_free(gemu_address address);
int gemu_copy_in(gemu_address to, const void *from, size_t size);
int gemu_copy_out(void *to, gemu_address from, size_t size);

// gemu_launch runs a kernel and waits for it. counts may be NULL.
int gemu_launch(const gemu_launch_params *params, gemu_counts *counts);

// gemu_start readies a launch that gemu_next runs; its observer must be NULL. Until gemu_stop no other
// function works but gemu_next, gemu_read, gemu_read_shared, gemu_last_error and gemu_statistics.
int gemu_start(const gemu_launch_params *params, gemu_run *run);

// gemu_next runs the launch until room steps have happened, and tells how many have: fewer than
// room where it has ended, then 0. What steps point to is good until the next call, but for the
// strings, which stay. What it gives is GEMU_OK, or by what the launch has ended, in each call from then on.
int gemu_next(gemu_run run, gemu_step *steps, size_t room, size_t *n);

// gemu_read reads device memory as the last step has left it; gemu_read_shared shared memory, from an
// offset on, of a block that is under way: its linear index.
int gemu_read(gemu_run run, void *to, gemu_address from, size_t size);
int gemu_read_shared(gemu_run run, uint32_t block, void *to, uint64_t from, size_t size);

// gemu_stop ends the launch where it is, if it has not ended. counts may be NULL; what a launch that
// was stopped has counted is 0.
int gemu_stop(gemu_run run, gemu_counts *counts);

// gemu_statistics is what the launches of this process have counted so far, by kernel,
// as JSON: the text that GEMU_STATS=FILE writes, with the structure of values if that
// variable is set. The caller frees it with free. NULL if there is no memory.
char *gemu_statistics(void);

#endif // GEMU_TYPES_ONLY

#ifdef __cplusplus
}
#endif

#endif
