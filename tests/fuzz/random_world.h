/* What a random program consists of, what was said of it so far, and how that is told.
 *
 * A limit of the library that programs keep clear of is marked KNOWN, with the reason. A part of
 * random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_WORLD_H
#define SC_TESTS_FUZZ_RANDOM_WORLD_H

#include "oracle.h"
#include "random_codes.h"

#include <cuda.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    THREADS = 4,
    STREAMS = 9, /* slot 0 is the legacy stream, 1 to THREADS the per-thread ones */
    OWN_STREAM = 1 + THREADS,
    PEER_SLOTS = 2, /* behind all others, of the second context (random_peers.h) */
    EVENTS = 4,
    BUFFERS = 8,
    SMALL_BYTES = 8192,
    BUFFER_BYTES = 300 * 1024,
    PAGES_MAX = BUFFER_BYTES / 4096 + 2,
    MAPPED_BYTES = PAGES_MAX * 4096,
    BLOCKS = 128,
    PER_BUFFER_MAX = 8, /* of more operations at a time the library keeps a count */
    NODES_ENOUGH = ORACLE_NODES_MAX - 96,
    COPIES_MAX = 512,
    POOL_SIZES = 32, /* in mode=report */
    POOL_STEP = 16,
    POOL_SMALLEST = 520,
    POOL_MAX = 256,
    SOURCE_BYTES = 512 * 1024, /* of the device's memory: what D2H copies read */
    DEVICE_BYTES = 4 * 1024 * 1024,
    PLACE_BYTES = 1024, /* behind those: what each stream writes, and nobody reads */
    NOBODY = -1,
};

/* Blocks of the heap; pinned allocations; registrations of mapped pages, or of parts of them; in
 * programs that have it managed memory. */
enum { REGISTERED, PINNED, MAPPED, KINDS, MANAGED = KINDS };
static const char *const kind_names[] = {"registered", "pinned", "mapped and registered",
                                         "managed"};
enum { H2D, D2H, MEMSET, KERNEL }; /* that has an address there */
static const char *const direction_names[] = {"H2D", "D2H", "memset", "kernel"};

/* Kinds of programs, beside what all of them do: what they do as well. The others draw as if there
 * were none of it. */
enum {
    POOLS = 1,
    NODES = 2,
    PEERS = 4,
    OF_MANAGED = 8,
    ROWS = 16,
    TOLD = 32,
    SIMPLE = 64,
    ALONE = 128 /* no stream is a blocking one, so that the legacy stream is by itself */
};

enum surely { NO, MAYBE, YES };
enum kernels { KERNELS_OFF, KERNELS_REPORTED, KERNELS_ORDERED }; /* the option */

struct slot {
    CUstream handle;
    int stream; /* of the oracle */
    int owner;  /* the only thread that can name it, or NOBODY */
};

struct event {
    CUevent handle;
    int node; /* of the record */
};

struct buffer {
    bool alive;
    int kind;
    int life;   /* a name of its own for every life of the slot */
    int memory; /* the same, where registering again is no new life */
    size_t size_bytes;
    unsigned char *bytes;
    unsigned char expected[BUFFER_BYTES];
};

/* Of a copy with gaps (random_rows.h). */
struct rows {
    int count, slices; /* rows in a slice; 0: all of its bytes */
    size_t row_bytes, pitch, slice_bytes;
};

struct copy {
    int node, slot, stream, buffer, life, direction;
    size_t offset, size_bytes; /* with the gaps */
    struct rows rows;
    bool tracked;
    struct graph *graph; /* that was launched, or NULL */
    int told;            /* of its node there */
    bool across;         /* the other side is a buffer, too */
    bool keeps_source; /* the device reads the source itself: out of a snapshot it would be another
                          copy, or the library takes none for such a call */
    /* Of random_touches.h. */
    uintptr_t address;
    size_t device_offset; /* where a source goes to */
    enum surely snapshot, stable;
    bool compared, changed; /* against a snapshot, for the last time */
    bool hit;               /* as its guard would, if it is one */
    bool unsure;            /* whether its pages are still guarded */
    bool waited;            /* by a touch, until it was complete */
    bool tainted;           /* what the device gets is not defined */
    struct page_state {
        bool guarded, kept; /* `kept`: what is there is compared in the end */
        bool stepped;       /* whether it is guarded still, behind a read beside, is not known */
    } pages[PAGES_MAX];
};

/* A block that got its memory after a free: nobody else may write to it. */
struct block {
    unsigned char *bytes;
    size_t size_bytes;
    unsigned char fill;
    bool checked;
};

static struct world {
    uint64_t random;
    uint64_t seed;
    bool correct; /* this program's class */
    bool healed;  /* mode=fix */
    bool watches_device;
    unsigned kinds;
    enum kernels kernels;
    bool exact; /* guards last until the host knows, and not only until completion */
    int thread, thread_count, slot_count, event_count, buffer_count;
    int copy_count, block_count, stale_count, lives;
    int detour; /* the stream of random_captures.h, or ORACLE_NONE */
    size_t device_used;
    bool unclear[ORACLE_STREAMS_MAX], family_unclear; /* work that may write host memory */
    bool unmarked[STREAMS + PEER_SLOTS];              /* per-thread streams with more than copies */
    CUdeviceptr device;
    struct oracle oracle;
    struct slot slots[STREAMS + PEER_SLOTS];
    struct event events[EVENTS];
    struct buffer buffers[BUFFERS];
    struct copy copies[COPIES_MAX];
    struct block blocks[BLOCKS];
    void *stale[BLOCKS]; /* freed, still registered */
    unsigned char scratch[256];
    unsigned char source[SOURCE_BYTES];
    unsigned char landed[DEVICE_BYTES];
    unsigned char expected[DEVICE_BYTES];
} world;

#include "random_words.h"

static int kind_count(void)
{
    return world.kinds & OF_MANAGED ? KINDS + 1 : KINDS;
}

static int pick_kind(void)
{
    return below(kind_count());
}

static bool data_is_defined(void)
{
    return world.healed || world.correct;
}

static void expect(int code, bool sure, const struct copy *copy)
{
    say("  %s: %s of the copy of node %d", sure ? "expected" : "possible", code_names[code],
        copy->node);
    tally(code, sure);
}

/* ---- the graph ---- */

static enum oracle_scope scope_of(int stream)
{
    return stream == world.slots[0].stream ? ORACLE_LEGACY_SCOPE : ORACLE_STREAM_SCOPE;
}

static bool in_flight(const struct copy *copy)
{
    return copy->tracked && !world.oracle.nodes[copy->node].done;
}

static bool is_on(const struct copy *copy, int buffer)
{
    return copy->buffer == buffer && copy->life == world.buffers[buffer].life;
}

static bool is_known_done(int node)
{
    return node == ORACLE_NONE || world.oracle.nodes[node].done;
}

#endif
