/* What the probes share: how a question is put to the driver, and how its answer is told.
 *
 * A question is a function that makes driver calls and tells in lines what came of them:
 *
 *     static void q3(void)
 *     {
 *         say("Q3 a copy behind 100 ms:");
 *         launch_spin(spin_kernel, stream, 100);
 *         say(" takes %.3f ms,", MS(cuMemcpyHtoD(dev, pinned, 64)));
 *         say(" a query says %d", (int)cuStreamQuery(stream));
 *         end_line();
 *     }
 *
 * and stands in the list that main() hands to ask_all(). A call whose result is the answer is told
 * as a number; one that only has to succeed is made by TRY(), which shows in the line that it did
 * not, as {name=CUresult}.
 *
 * Questions are answered in child processes, since CUDA does not survive a fork and an answer may
 * be that the process dies. A child that dies or takes too long costs the line it was at, which the
 * parent ends with what became of it. A question that is worth going on with behind that line
 * divides itself into parts by begin_part().
 *
 * Not shared: what a probe's questions find (streams, memory), which is in its own file; a probe
 * NAME.c is linked with what there is in the folder NAME. asking_cupti.h adds libcupti,
 * asking_calls.h tables of calls.
 */
#ifndef TESTS_GPU_ASKING_H
#define TESTS_GPU_ASKING_H

/* Sources include this before any other header, so that it may ask for GNU extensions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KB 1024UL
#define MB (1024UL * KB)
#define LEGACY ((CUstream)0)

/* ---- asking ---- */

struct question {
    const char *name; /* a number, or a word */
    void (*ask)(void);
    const char *text;  /* where the answer is one line: "Qname text:" begins it */
    bool ends_context; /* a shared child cannot go on after it */
};

struct inquiry {
    const char *program;
    const struct question *questions;
    size_t count;
    CUresult (*set_up)(void);     /* in a new child; NULL where each question does it by itself */
    unsigned question_s, total_s; /* limits; a total of 0 is none */
    bool share_child;             /* a child goes on with the next question */
    bool in_sections;             /* between the question's name and the time that it took */
    bool untimed;                 /* no times are told: the output is compared */
};

/* Asks the questions that the arguments name, without any all of them. Returns main()'s result. */
int ask_all(const struct inquiry *inquiry, int argc, char **argv);

/* In a question: its name, and whether part `number` (from 1) is to be answered now. False for the
 * parts that an earlier child has answered, or died of. */
const char *asked(void);
bool begin_part(unsigned number);

/* ---- telling ---- */

/* A line is written when it is ended, by end_line() or a newline at the end of what is said. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
void end_line(void);

/* Tells of a failed call, named up to its parenthesis; hands the result on. */
CUresult check(const char *call, CUresult rc);
#define TRY(call) check(#call, (call))

const char *yes_no(bool yes);

/* "4K", "64M", "100": good until seven more have been made. */
const char *size_text(size_t size_bytes);

/* ---- time ---- */

uint64_t now_ns(void);
double ms_since(uint64_t start_ns);
void sleep_ms(unsigned ms);

/* The time of one call as an expression; its result is told when it failed. */
#define MS(call)                                                                                   \
    __extension__({                                                                                \
        uint64_t begin_ns_ = now_ns();                                                             \
        CUresult rc_ = (call);                                                                     \
        double took_ = ms_since(begin_ns_);                                                        \
        check(#call, rc_);                                                                         \
        took_;                                                                                     \
    })

/* Nanoseconds that a statement takes, the mean of `times`; `i` counts in it. */
#define NS_EACH(times, statement)                                                                  \
    __extension__({                                                                                \
        uint64_t begin_ns_ = now_ns();                                                             \
        for (unsigned i = 0; i < (unsigned)(times); i++) {                                         \
            statement;                                                                             \
        }                                                                                          \
        (double)(now_ns() - begin_ns_) / (times);                                                  \
    })

/* For qsort() of doubles. */
int by_value(const void *a, const void *b);

/* ---- what the driver is asked with ---- */

extern CUdevice device;   /* 0 */
extern CUcontext primary; /* of it, and current */

/* cuInit, `device` and `primary`. */
CUresult enter_primary(void);

/* New ones, told when they cannot be had. Blocks have BLOCK_BYTES. */
enum { BLOCK_BYTES = 64 << 10 };
CUstream new_stream(unsigned flags);
CUevent new_event(void); /* without timing */
CUdeviceptr device_block(void);
void *pinned_block(void);

/* Kernels `spin`, which takes a time in nanoseconds, and `empty`. */
extern const char kernels_ptx[];

/* A kernel of the current context, from a module of its own; NULL when that fails. */
CUfunction load_kernel(const char *name, CUmodule *module);
CUresult launch(CUfunction empty_kernel, CUstream stream);
void launch_spin(CUfunction spin_kernel, CUstream stream, unsigned ms);

/* A host function that sleeps for (uintptr_t)ms, and one that does nothing. */
void CUDA_CB sleeper(void *ms);
void CUDA_CB nothing(void *unused);

void settle(void); /* waits for the context */
CUdeviceptr uva(const void *host);

/* Anonymous memory, touched; NULL when there is none. */
unsigned char *map_pages(size_t size_bytes);
void unmap_pages(void *p, size_t size_bytes);

/* A call that another thread makes, with the context current, or none if that is NULL. */
struct thread_call {
    CUresult (*call)(void *arg);
    void *arg;
    CUcontext context;
    CUresult result;
};
void *run_thread_call(void *thread_call); /* for pthread_create() */
CUresult on_other_thread(CUresult (*call)(void *), void *arg, CUcontext context);

/* The CUDA runtime of this toolkit; NULL where there is none. */
void *open_runtime(void);

#endif
