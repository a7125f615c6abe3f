/* What the parts of correct_programs.c share: numbers, failures, random choice.
 *
 * A worker is a thread that makes one random step after the other. A buffer is a run of bytes, of
 * the host's or the device's, with a shadow: what it has to hold when everything that was issued is
 * done. A slot is a buffer of each kind, and has one worker at a time. A lane is a stream of a
 * worker; what was issued on it is numbered, and a point is such a number. With STRESS_DEVICES=4
 * the lanes of a worker are of four devices in turn, and so are the buffers of the device's.
 *
 * A file each: world.h the memory, lanes.h the order, then what a step may be: copies.h, touches.h,
 * graphs.h, blocks.h, handing.h, signals.h, children.h, calls.h.
 */
#ifndef SC_TESTS_STRESS_H
#define SC_TESTS_STRESS_H

#include <cuda_runtime_api.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    THREADS_MAX = 64,
    DEVICES_MAX = 8,
    LANES = 5,
    READERS = 4,
    OWNED_MAX = 512, /* slots of one worker */
    BLOCKS = 6,
    GRAPHS = 3,
    NODES_MAX = 6,
    SLOT_BYTES_MAX = 64 << 10,
    TRACE = 12,
};

struct worker;

struct lane {
    cudaStream_t stream;
    cudaEvent_t event; /* recorded anew each time: who waits for it waits for its latest record */
    uint64_t issued, done;
    int device;
    bool captures; /* a capture may be begun on it */
};

/* Something that was issued: by its number on a lane of the owner, or, where it was issued by the
 * owner before, by an event. Neither: nothing. */
struct point {
    struct lane *lane;
    uint64_t number;
    cudaEvent_t event;
};

struct buffer {
    unsigned char *bytes;
    unsigned char *wanted;
    size_t size_bytes;
    struct point writer;           /* the latest that writes it, ordered after all before it */
    struct point readers[READERS]; /* those since then that read it */
    bool pageable;
};

enum memory { PINNED, PORTABLE, REGISTERED, HEAP, PAGEABLE, MEMORIES };

struct slot {
    unsigned number;
    enum memory memory;
    struct buffer host, device;
    int home;                        /* the device that has it */
    cudaEvent_t events[DEVICES_MAX]; /* of each device: behind what its former owner issued there */
    unsigned named;                  /* by so many graphs, so that it stays where it is */
};

/* A slot that a worker obtains and gives back. */
struct block {
    struct slot slot; /* host.bytes is NULL: none */
    unsigned char *base, *mapped;
    size_t base_bytes, mapped_bytes;
};

enum node_kind { NODE_UP, NODE_DOWN, NODE_SET, NODE_HOST };

struct node {
    enum node_kind kind;
    struct slot *slot;
    size_t from, to, size_bytes; /* from: in the source; to: in the destination */
    unsigned char value;
    bool on_host; /* what is set */
    cudaGraphNode_t handle;
};

struct graph {
    cudaGraph_t graph;
    cudaGraphExec_t exec; /* NULL: none */
    struct node nodes[NODES_MAX];
    unsigned count;
    struct point latest; /* launch */
    bool by_hand;        /* its nodes have handles */
    bool calls_host;
};

struct worker {
    unsigned number;
    pthread_t thread;
    uint64_t random;
    atomic_ulong steps;
    _Atomic(const char *) action;
    const char *trace[TRACE];
    struct lane lanes[LANES];
    struct slot *slots[OWNED_MAX];
    unsigned owned;
    struct block blocks[BLOCKS];
    struct graph graphs[GRAPHS];
    sem_t *told;             /* in pinned memory: a host function posts it */
    volatile uint64_t *beat; /* in pinned memory: the signal handler counts there */
    volatile uint64_t beats;
    volatile sig_atomic_t may_jump;
    sigjmp_buf jump;
    timer_t timer;
    int pipe[2], socket[2];
};

extern const char *repeat_line; /* how this run is made again */
extern uint64_t seed;

static int device_count = 1;

static __thread struct worker *me;
static __thread int here; /* the current device */

/* ---- failures ---- */

/* Says what is wrong in one line and how to make it again in another, and ends the process. From
 * any thread, also from a signal handler. */
static __attribute__((format(printf, 1, 2), noreturn, unused)) void fail(const char *format, ...)
{
    static atomic_flag failing = ATOMIC_FLAG_INIT;
    char text[600];
    va_list arguments;

    if (atomic_flag_test_and_set(&failing))
        for (;;)
            pause();
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (me)
        dprintf(2, "WRONG: thread %u, step %lu, %s: %s\n", me->number, atomic_load(&me->steps),
                atomic_load(&me->action), text);
    else
        dprintf(2, "WRONG: %s\n", text);
    for (unsigned i = 0; me && i < TRACE; i++) {
        const char *before = me->trace[(atomic_load(&me->steps) + i) % TRACE];
        dprintf(2, "%s%s", i ? ", " : "  steps before: ", before ? before : "-");
    }
    dprintf(2, "\n  again: %s\n", repeat_line);
    _exit(1);
}

#define MUST(call) must((int)(call), #call, __FILE__, __LINE__)

static inline void must(int result, const char *call, const char *file, int line)
{
    if (result != 0)
        fail("%s:%d: %s returned %d (errno %d)", file, line, call, result, errno);
}

/* What the legacy stream is, and whose memory is made. */
static inline void on_device(int device)
{
    if (here != device)
        MUST(cudaSetDevice(device));
    here = device;
}

/* ---- random choice ---- */

static inline uint64_t mixed(uint64_t value)
{
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

static inline uint64_t random_word(void)
{
    me->random += 0x9e3779b97f4a7c15;
    return mixed(me->random);
}

static inline size_t below(size_t limit)
{
    return (size_t)(random_word() % limit);
}

static inline bool one_in(unsigned count)
{
    return below(count) == 0;
}

/* Small ones and large ones alike, 1 to most. */
static inline size_t any_size(size_t most)
{
    size_t size = 1 + (size_t)(random_word() >> (64 - 1 - below(17)));
    return size < most ? size : 1 + below(most);
}

/* ---- bytes ---- */

/* What `key` stands for, byte by byte. */
static inline void make_bytes(unsigned char *bytes, size_t size_bytes, uint64_t key)
{
    for (size_t i = 0; i < size_bytes; i += 8) {
        uint64_t word = mixed(key + i);
        memcpy(bytes + i, &word, size_bytes - i < 8 ? size_bytes - i : 8);
    }
}

static inline uint64_t digest_of(const unsigned char *bytes, size_t size_bytes)
{
    uint64_t digest = size_bytes;
    for (size_t i = 0; i < size_bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size_bytes - i < 8 ? size_bytes - i : 8);
        digest = (digest ^ word) * 0x9e3779b97f4a7c15;
        digest ^= digest >> 29;
    }
    return digest;
}

/* Compares without a mistake of its own: the first difference is told with what is there now. */
static inline void expect_bytes(const unsigned char *bytes, const unsigned char *wanted,
                                size_t size_bytes, const char *what)
{
    if (memcmp(bytes, wanted, size_bytes) == 0)
        return;
    size_t first = 0, wrong = 0;
    for (size_t i = size_bytes; i-- > 0;) {
        if (bytes[i] != wanted[i]) {
            first = i;
            wrong++;
        }
    }
    fail("%s: %zu of %zu bytes are wrong, the first one at %p is %02x and not %02x (offset %zu)",
         what, wrong, size_bytes, (const void *)(bytes + first), bytes[first], wanted[first],
         first);
}

static inline void *memory_of(size_t size_bytes)
{
    void *bytes = malloc(size_bytes ? size_bytes : 1);
    if (!bytes)
        fail("out of memory");
    return bytes;
}

#endif
