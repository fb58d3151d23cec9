// gemu.h: run PTX kernels on the CPU, from C.
//
// A function that returns an int returns 0 on success, and otherwise one of the numbers below; gemu_last_error then
// returns a description. All functions may be called from any thread at any time, except in observers (gemu_observer) and
// between gemu_start and gemu_stop. Environment variables set the mode and other options: see docs/libraries.md.

#ifndef GEMU_H
#define GEMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Handles, and addresses of device memory. A device address is not an address of the host.
typedef uint64_t gemu_module;
typedef uint64_t gemu_kernel;
typedef uint64_t gemu_address;

// Error numbers, as in the CUDA driver API.
enum gemu_result {
	GEMU_OK = 0,
	GEMU_INVALID_VALUE = 1,       // invalid argument, extent, or address of a copy
	GEMU_OUT_OF_MEMORY = 2,
	GEMU_NOT_INITIALIZED = 3,     // in a child of fork
	GEMU_NO_BINARY = 209,         // the image has no PTX for the device
	GEMU_INVALID_PTX = 218,
	GEMU_INVALID_SOURCE = 300,    // no CUDA C++, or no compiler for it
	GEMU_FILE_NOT_FOUND = 301,
	GEMU_INVALID_HANDLE = 400,
	GEMU_NOT_FOUND = 500,         // no such kernel or variable
	GEMU_ILLEGAL_ADDRESS = 700,   // a trap: bounds, use after free, read-only memory
	GEMU_TIMEOUT = 702,           // a trap: deadlock, endless loop, too many steps; or gemu_interrupt
	GEMU_ASSERT = 710,            // a trap: assertion
	GEMU_STACK_OVERFLOW = 714,    // a trap
	GEMU_MISALIGNED_ADDRESS = 716,
	GEMU_INVALID_SPACE = 717,     // a trap: address of another state space
	GEMU_INVALID_PC = 718,        // a trap: branch or call to nowhere
	GEMU_LAUNCH_FAILED = 719,     // a trap of any other kind
	GEMU_NOT_PERMITTED = 800,     // the device is busy: in an observer, or between gemu_start and gemu_stop
	GEMU_NOT_SUPPORTED = 801,     // legal PTX that gemu does not run
	GEMU_UNKNOWN = 999
};

// gemu_value is a register of a warp at an instruction. The arrays have one element per lane.
typedef struct {
	const char *name;    // of the register, as in the PTX
	const char *type;    // such as ".u32"
	const uint64_t *low; // bits 0 to 63
	const uint64_t *high; // bits 64 to 127 of .b128; NULL otherwise
} gemu_value;

// gemu_event is an instruction that a warp has executed. Its arrays are valid only during the call of the observer; its
// strings stay valid.
typedef struct {
	uint32_t cta[3];         // the block
	uint32_t warp;           // within the block
	uint32_t pc;             // index of the instruction within its function, from 0
	uint32_t line, column;   // place of the instruction in the PTX
	const char *function;    // the function that contains it
	const char *instruction; // its text
	uint64_t active;         // lanes of the warp that are active here
	uint64_t lanes;          // the lanes that execute the instruction: the active lanes for which the guard holds
	uint32_t n_results;      // number of registers written
	uint32_t n_sources;      // number of registers read, in the order of the operands
	const gemu_value *results; // values after the instruction; for calls and barriers, the values before it
	const gemu_value *sources; // values before the instruction
	const uint64_t *addresses; // of loads, stores and atomics, one per lane; NULL otherwise
	const char *space;         // the state space of the access, such as ".global"; "" is generic
	uint32_t bytes;            // bytes of the access per lane
} gemu_event;

// gemu_observer is called for every instruction of every warp. Calls do not overlap. The device is busy during a call:
// an observer must not call any function below except ptx_run, gemu_last_error, gemu_get_error, gemu_abi_version,
// gemu_compile, gemu_interrupt, gemu_report, gemu_get_recording, gemu_forget and gemu_statistics. The events of one block come in the order of
// execution. Blocks may run in parallel: GEMU_WORKERS=1 makes the order of all events the same in every run.
typedef void (*gemu_observer)(const gemu_event *event, void *user);

// gemu_launch_params holds the parameters of a launch.
typedef struct {
	gemu_kernel kernel;
	uint32_t grid[3], block[3]; // extents: 0 counts as 1
	uint32_t shared_bytes;      // dynamic shared memory: up to that of the device for a block, less the kernel's own
	void **args;                // pointers to the arguments, as for cuLaunchKernel
	gemu_observer observer;     // may be NULL
	void *user;                 // for the observer
} gemu_launch_params;

// gemu_run is a launch that advances when gemu_next is called.
typedef uint64_t gemu_run;

// gemu_outcome is a handle of the results of a launch; 0 is none.
typedef uint64_t gemu_outcome;

// The kinds of step.
enum gemu_step_kind {
	GEMU_STEP_INSTRUCTION = 0, // a warp has executed an instruction; the results of a call or barrier come later
	GEMU_STEP_RETURN = 1,      // lanes have returned from the call in event, with its results
	GEMU_STEP_WAIT = 2,        // lanes wait at a barrier, or for other lanes of their warp
	GEMU_STEP_RELEASE = 3,     // lanes continue after a wait, with the results of the barrier
	GEMU_STEP_SPLIT = 4,       // lanes of a warp split diverge
	GEMU_STEP_RECONVERGE = 5,  // diverged lanes reconverge
	GEMU_STEP_EXIT = 6,        // lanes have ended
	GEMU_STEP_TRAP = 7,        // the launch ends with a fault: see message
	GEMU_STEP_CTA = 8,         // a block begins
	GEMU_STEP_CTA_END = 9,     // a block has ended
	GEMU_STEP_EFFECT = 10      // an asynchronous operation is issued, reads or writes: effect, accesses, results
};

// The former name of GEMU_STEP_RECONVERGE.
#define GEMU_STEP_JOIN GEMU_STEP_RECONVERGE

// The kinds of access.
enum gemu_access_kind { GEMU_LOAD = 0, GEMU_STORE = 1, GEMU_ATOMIC = 2, GEMU_ZERO = 3 };

// gemu_access is an access of lanes to memory, with all information that a log has about it (docs/trace.md).
typedef struct {
	uint32_t kind;             // an enum gemu_access_kind
	uint32_t bytes;            // per lane; 0 for GEMU_ZERO, where stored holds lengths
	const char *space;         // such as ".global"; "" is generic
	uint64_t lanes;            // the accessing lanes
	const uint64_t *addresses; // one per lane
	uint32_t n_stored;         // number of elements that are stored, or that atomics combine with the memory
	uint32_t n_compared;       // number of elements that .cas compares with the memory; elements have up to 64 bits
	const uint64_t *stored;    // 64 values for each element, one per lane; NULL if there are none
	const uint64_t *compared;  // as stored
	uint64_t left_out;         // bit i: element i of stored is not stored, because it is _ in the vector operand
	const void *data;          // of GEMU_STEP_EFFECT: the bytes written; NULL otherwise
} gemu_access;

// The phases of an asynchronous operation.
enum gemu_effect_now { GEMU_EFFECT_ISSUED = 1, GEMU_EFFECT_READS = 2, GEMU_EFFECT_WRITES = 4 };

// gemu_step is one step of a launch.
typedef struct {
	uint32_t kind;        // an enum gemu_step_kind
	gemu_event event;     // place and lanes of the step; instruction is NULL for steps of blocks
	const char *unit;     // functional unit of the instruction, such as "fp"; "" if none
	uint32_t depth;       // call depth of the lanes
	int32_t reconverge;   // pc of their reconvergence point; -1: unknown
	int32_t barrier;      // of waits and releases: 0 to 15; 16: the cluster's barrier; -1: other lanes of the warp
	uint32_t generation;  // of a release: number of earlier completions of the barrier
	const char *message;  // of a trap; NULL otherwise
	uint32_t n_accesses;  // number of accesses of the instruction or the asynchronous operation
	uint32_t effect_now;  // of an asynchronous operation: a set of enum gemu_effect_now
	uint64_t effect;      // of an asynchronous operation: its number in the block
	const gemu_access *accesses;
} gemu_step;

// gemu_counts holds the counts of a launch.
typedef struct {
	double seconds;
	int64_t thread_instructions; // executed by threads
	int64_t warp_instructions;   // issued to warps
	int64_t lane_slots;          // active lanes, summed over warp_instructions
	int64_t branches;            // executed by warps
	int64_t divergent_branches;  // branches at which a warp split diverged
} gemu_counts;

// GEMU_ABI_VERSION is the version of the binary interface in this header. Each release with an addition has the next
// number. An addition is a function, a number of an enum, or a member at the end of a structure that begins with its
// size. Nothing is removed, and names, numbers and the layout of structures without a size keep their meaning: a program
// works with every library whose version is at least that of the program's header.
#define GEMU_ABI_VERSION 4

// The kinds of error.
enum gemu_error_kind {
	GEMU_ERROR_NONE = 0,        // no call of the thread has failed
	GEMU_ERROR_CALL = 1,        // a wrong call: arguments, handles, extents, order of calls; or not enough memory
	GEMU_ERROR_PTX = 2,         // the image is not PTX, or not valid PTX
	GEMU_ERROR_UNSUPPORTED = 3, // legal PTX that gemu does not run, or a call that it does not support
	GEMU_ERROR_FAULT = 4,       // a fault of a kernel (a trap), also at a limit of steps or time
	GEMU_ERROR_INTERNAL = 5     // a fault of gemu: in check mode, a compact result is wrong
};

// gemu_error describes a failed call. Texts are "" and numbers are 0 where an error has no such property. All texts
// are valid until the thread's next call of gemu_get_error.
typedef struct {
	size_t size;             // set by the caller: sizeof(gemu_error)
	uint32_t number;         // an enum gemu_result: the result of the failed call
	uint32_t kind;           // an enum gemu_error_kind
	const char *message;     // the complete description, in several lines, as gemu_last_error returns it
	const char *reason;      // the description without its place, in a line
	const char *fault;       // kind of the fault, such as "out-of-bounds access"
	const char *file;        // file or module of the PTX; a module loaded from memory has a name of its own
	uint32_t line, column;   // place of the instruction or problem in the PTX, from 1
	const char *text;        // this line of the PTX
	const char *source;      // "file:line:column" of the .loc in force
	const char *kernel;      // the launched kernel
	const char *function;    // the function that contains the instruction
	const char *instruction; // its opcode, such as "ld.global.u32"
	uint32_t cta[3];         // of a fault: the block
	int32_t warp;            // the warp within the block; -1 if the error has none
	uint32_t thread[3];      // the first faulting thread, within the block
	uint64_t lanes;          // the lanes of the warp that caused the fault
	uint64_t active;         // the active lanes of the warp
	uint64_t address;        // of an access: the address of the first faulting lane
	uint32_t bytes;          // of an access: its bytes per lane; 0 if the fault is no access
	uint32_t n_problems;     // of invalid PTX: number of problems; this structure describes the first
} gemu_error;

#ifndef GEMU_TYPES_ONLY

// gemu_abi_version returns the GEMU_ABI_VERSION of the library. A program that needs a newer function compares it with its
// own GEMU_ABI_VERSION. The function works at any time, also in a child of fork.
int gemu_abi_version(void);

// gemu_release frees memory that the caller must free, such as the text of gemu_report. free does the same in a program that uses
// the C library with which libgemu was built; on Windows a program may have another one. NULL is allowed. The function works at
// any time, also in a child of fork.
void gemu_release(void *memory);

// ptx_run runs the first kernel of a PTX module on host memory: addresses of global memory are addresses of the caller.
// args[i] is the 64-bit value of parameter i, not a pointer to it; a narrower parameter takes its low bytes. bx to bz
// are the extents of a block, gx to gz the extents of the grid, shared_bytes is the size of dynamic shared memory. It
// returns when the kernel has ended. Errors are printed to standard error, including accesses to memory that the
// process does not have. Modules are cached by content.
int ptx_run(const char *ptx, int n_args, void *args[], int bx, int by, int bz, int gx, int gy, int gz, int shared_bytes);

// gemu_last_error describes the last failed call of this thread; "" if none has failed. If an environment variable is wrong, all
// calls fail for that reason. The text is valid until the
// thread's next call.
const char *gemu_last_error(void);

// gemu_get_error describes the last failed call of this thread, with its place. error->size must be sizeof(gemu_error) in the
// header with which the program was built: sizes from that of version 1 of the interface to 4096 are allowed. The function stores
// no more than size bytes, and members that are newer than the library become 0. If error is NULL or has another size, the function
// returns GEMU_INVALID_VALUE, stores nothing, and the last error stays as it is. If no call works, because an environment variable
// is wrong, the function describes that.
int gemu_get_error(gemu_error *error);

// The following functions work on device memory and check every access. Use ptx_run for kernels that access host
// memory.

// gemu_load loads a module of size bytes of PTX, or a zero-terminated text if size is 0.
int gemu_load(const void *ptx, size_t size, gemu_module *module);

// gemu_unload unloads a module. It waits for its launches in other threads. Handles of its kernels and addresses of its variables
// are invalid from then on. GEMU_INVALID_HANDLE if there is no such module.
int gemu_unload(gemu_module module);

// gemu_load_named is gemu_load with a name for messages, such as that of the file. name may be NULL: then the module has a
// name made from a hash of the PTX, as with gemu_load.
int gemu_load_named(const char *name, const void *ptx, size_t size, gemu_module *module);

// gemu_compile makes PTX of a file of CUDA C++ with the first of these compilers that is on the path: nvcc, clang-19,
// clang-20, clang-21, clang-18, clang. clang needs no headers of CUDA: it gets gemu's small header, which has device code only.
// arguments are further arguments of the compiler, such as "-DN=8", with a NULL at the end; NULL is none. flags is 0 or
// GEMU_KEEP_BRANCHES, with which the compiler is clang and the PTX has the branches of the source. *messages are the warnings
// and errors of the compiler. The caller must free both texts with free; *ptx is NULL if the call fails. Errors are
// GEMU_FILE_NOT_FOUND and GEMU_INVALID_SOURCE. Other calls can run meanwhile, also on the device.
int gemu_compile(const char *file, const char *const *arguments, uint32_t flags, char **ptx, char **messages);
#define GEMU_KEEP_BRANCHES 1

// gemu_describe returns the kernels of a module with their parameters, and its variables, as JSON: gemu-module/1 of
// docs/json.md. The caller must free the text with free. *json is NULL if the call fails.
int gemu_describe(gemu_module module, char **json);

// gemu_get_kernel finds a kernel by name; NULL means the first.
int gemu_get_kernel(gemu_module module, const char *name, gemu_kernel *kernel);

// gemu_get_variable finds a .global or .const variable. size may be NULL.
int gemu_get_variable(gemu_module module, const char *name, gemu_address *address, size_t *size);

// gemu_alloc allocates zeroed device memory.
int gemu_alloc(size_t size, gemu_address *address);

// gemu_free frees memory of gemu_alloc, or ends the sharing of memory of gemu_share, which stays the caller's: only then may the
// caller release it. It waits for launches of other threads. A later access of a kernel to the address is a trap.
// GEMU_INVALID_VALUE if address is not the first byte of such memory, was freed, or is 0. If the function fails with
// GEMU_NOT_PERMITTED, because of gemu_start or in an observer, kernels can still access the memory.
int gemu_free(gemu_address address);

// gemu_share makes size bytes of the caller's memory device memory without a copy: kernels and the caller share the bytes, and
// accesses of kernels are checked against its bounds. The address on the device does not depend on the host's. host must be a
// multiple of 16, and the memory must stay accessible until gemu_free. With GEMU_READ_ONLY in flags a store of a kernel is a trap.
// name is the name in messages; NULL is a number, as with gemu_alloc. The same memory may be shared several times.
int gemu_share(void *host, size_t size, uint32_t flags, const char *name, gemu_address *address);
#define GEMU_READ_ONLY 1

// gemu_copy_in copies size bytes of the caller to device memory, and gemu_copy_out copies in the other direction. The bytes must lie
// within one allocation, shared memory or variable: otherwise the result is GEMU_INVALID_VALUE, and nothing is copied. Both wait for
// launches of other threads that have begun or wait. Memory of gemu_share needs no copy: the caller has the same bytes.
int gemu_copy_in(gemu_address to, const void *from, size_t size);
int gemu_copy_out(void *to, gemu_address from, size_t size);

// gemu_launch runs a kernel and waits for it. counts may be NULL; *counts does not change if the function fails.
int gemu_launch(const gemu_launch_params *params, gemu_counts *counts);

// gemu_launch_with is gemu_launch with options of the launch, and with its results as data. options holds pairs
// NAME=VALUE between white space, such as "mode=check sanitize=race,init time_limit=5s":
//   mode, engine, policy, reconverge, async, workers, steps, time_limit, sm: as the environment variables GEMU_MODE,
//     GEMU_ENGINE and so on (docs/libraries.md); without an option, the variable applies
//   warp: lanes of a warp: 1, 2, 4, 8, 16, 32 (the default) or 64. GEMU_STATS and gemu_statistics add up the counts of
//     launches of all widths
//   seed: the schedule: each number runs the warps in another order, the same in every run; 0 is the default
//   structure: 1 counts the value structure for the reports "structure" and "statistics"; 0 is the default. If GEMU_STATS is set,
//     it is always counted
//   profile: 1 counts executions, divergence and memory accesses for the report "profile"; 0 is the default
//   record: events, or some of results, accesses, memory, stack, source, or all: the parts of a recording for gemu_get_recording
//   regfile, machine: as GEMU_REGFILE and GEMU_MACHINE, for the members models and machines of the report "statistics"
//   id: a number from 1 for gemu_interrupt
//   sanitize: some of race, init, bounds, sync, or all, for the report "findings". Device memory counts as initialised
//     when the launch begins. The sanitizers of GEMU_SANITIZE observe the launch in addition
// An unknown, repeated or wrong option is GEMU_INVALID_VALUE, and nothing runs. options may be NULL, which is "".
// time_limit=0 means no limit. If outcome is not NULL, the function stores a handle there for gemu_report, also after a
// fault of the kernel; it stores 0 if the launch did not begin. The caller must release the handle with gemu_forget.
// sanitize, structure, profile, record, regfile and machine need an outcome. counts may be NULL; *counts does not change if the function fails.
int gemu_launch_with(const gemu_launch_params *params, const char *options, gemu_counts *counts, gemu_outcome *outcome);

// gemu_interrupt stops the launches in flight that have the option id=N, from another thread, and does not wait for their end.
// Each fails with GEMU_TIMEOUT and the kind GEMU_ERROR_CALL. The result is GEMU_NOT_FOUND if no such call is in
// progress. A call that waits for a launch of another thread executes no instruction, but returns only when that has ended. The
// function works while the device is busy.
int gemu_interrupt(uint64_t id);

// gemu_report returns a result of a launch as JSON; docs/json.md documents the fields. The reports are:
//   "statistics": the counts of the launch (gemu-statistics/2); after a fault they are 0
//   "run": the counts, the trap and the findings (gemu-run/2)
//   "findings": the findings of its sanitizers (gemu-findings/1), up to the fault if there was one; with the option sanitize
//   "structure": the value structure by instruction (gemu-structure/2); with the option structure, not after a fault
//   "profile": counts by line, loop and call (gemu-profile/2), up to the fault; with the option profile. The classes u, a and g of
//     lines are 0 without the option structure
// GEMU_NOT_FOUND if the launch has no such report. The caller must free the text with free. *json is NULL if the call fails.
int gemu_report(gemu_outcome outcome, const char *name, char **json);

// gemu_get_recording returns the recording of a launch with the option record, as gemu record writes it to a file:
// docs/recording.md describes it, and has readers. After a fault it has the events up to the fault. The caller must free *data
// with free; it is NULL if the call fails. GEMU_NOT_FOUND if the launch was not recorded.
int gemu_get_recording(gemu_outcome outcome, void **data, size_t *size);

// gemu_forget releases an outcome. 0 is allowed and has no effect.
int gemu_forget(gemu_outcome outcome);

// gemu_start_with is gemu_start with the options of gemu_launch_with, without id and the options that need an outcome.
int gemu_start_with(const gemu_launch_params *params, const char *options, gemu_run *run);

// gemu_start prepares a launch for gemu_next; observer must be NULL. Until gemu_stop, only gemu_next, gemu_read,
// gemu_read_shared, ptx_run, gemu_last_error, gemu_get_error, gemu_abi_version, gemu_compile, gemu_report, gemu_get_recording,
// gemu_forget and gemu_statistics work.
int gemu_start(const gemu_launch_params *params, gemu_run *run);

// gemu_next runs the launch until max_steps steps have happened or the launch ends. It stores the steps in steps and
// their number in n. If *n is max_steps, it returns GEMU_OK. Otherwise the launch has ended, and it returns the result of
// the launch; later calls store 0 and return the same result. Arrays in steps are valid until the next call; strings stay
// valid.
int gemu_next(gemu_run run, gemu_step *steps, size_t max_steps, size_t *n);

// gemu_read reads device memory in the state after the last step. gemu_read_shared reads the shared memory of a block in
// flight. block is the linear index of the block, from an offset in its shared memory.
int gemu_read(gemu_run run, void *to, gemu_address from, size_t size);
int gemu_read_shared(gemu_run run, uint32_t block, void *to, uint64_t from, size_t size);

// gemu_stop ends the launch if it has not ended. counts may be NULL. The counts of a launch that was stopped or has
// failed are 0.
int gemu_stop(gemu_run run, gemu_counts *counts);

// gemu_descriptors describes the data of the program for the machines of GEMU_MACHINE with ldesc=program or xmem=program, in
// place of the descriptions of earlier calls. json is a text as docs/json.md describes it (gemu-descriptors/1), with the device
// addresses of buffers as "base"; NULL is none. It has an effect on launches that begin later. A wrong text is
// GEMU_INVALID_VALUE; the error has its line.
int gemu_descriptors(const char *json);

// gemu_statistics returns the counts of all launches of this process so far, by kernel, as JSON: the text that
// GEMU_STATS=FILE writes. It includes the value structure if that variable is set. The caller must free the text with
// free. It is NULL if memory is exhausted.
char *gemu_statistics(void);

#endif // GEMU_TYPES_ONLY

#ifdef __cplusplus
}
#endif

#endif
