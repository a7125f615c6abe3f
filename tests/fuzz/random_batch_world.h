/* What a random program of batch copies consists of, and what the contract says of its operations:
 * docs/hazards.md, "Which memory counts as in flight". A part of random_batches.c.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_WORLD_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_WORLD_H

#include "oracle.h"
#include "random_codes.h"

#include <cuda.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    STREAMS = 4,
    EVENTS = 3,
    BUFFERS = 9,
    BUFFER_BYTES = 256 * 1024,
    PAGE = 4096,
    SNAPSHOT_MAX = 32 * 1024,
    COMPARED_WHOLE = 16 * 1024, /* of a pageable source without a snapshot */
    OPS_MAX = 1024,
    PER_BUFFER_MAX = 8, /* of more operations at a time the library keeps a count */
    NODES_ENOUGH = ORACLE_NODES_MAX - 96,
    BLOCKS = 64,
    SOURCE_BYTES = 512 * 1024, /* of the device's memory: what copies from it read */
    RESULT_BYTES = 4 * 1024 * 1024,
    NOBODY = -1,
};

/* Blocks of the heap; pages of mmap; pinned; a registered block; managed. */
enum { HEAP, PAGES, PINNED, REGISTERED, MANAGED, KINDS };
static const char *const kind_names[KINDS] = {"heap", "mapped", "pinned", "registered", "managed"};

enum { H2D, D2H };

/* A kind of programs, of which copies have blocks of the device's memory in common. The others draw
 * as if there were none. */
enum { SHARED = 1 };

/* How an overwritten source is found: not at all for certain, when it is known done, or by the
 * touch. */
enum finding { UNCERTAIN, COMPARED, GUARDED };

struct buffer {
    bool alive;
    bool is_crowded; /* more is in flight than the library tells apart */
    int kind;
    int life; /* a name of its own for every life of the slot */
    size_t size_bytes;
    unsigned char *bytes;
    unsigned char expected[BUFFER_BYTES];
};

/* The bytes of a copy's side in one buffer. */
struct area {
    int buffer, life;
    size_t offset, width, pitch, rows;
};

/* One side of a copy, on host memory. */
struct op {
    int node, slot, stream, direction;
    struct area area;
    CUmemcpySrcAccessOrder order;
    bool tracked;
    bool is_3d;      /* of such a batch, of however many rows */
    bool is_fragile; /* nobody would heal it: it is learnt of first */
    enum finding finding;
    bool is_unsure;       /* whether its pages are guarded still */
    bool is_hit;          /* a touch has waited for it, or was told of */
    bool is_compared;     /* for the last time */
    size_t result_offset; /* of a source: where its bytes go to, or a copy of them for the oracle */
};

/* A block that got its memory after a free: nobody else may write to it. */
struct block {
    int kind;
    unsigned char *bytes;
    size_t size_bytes;
    unsigned char fill;
};

/* Bytes that are to arrive in the device's memory. */
struct arrival {
    int node;
    size_t offset, size_bytes;
};

static struct world {
    uint64_t random, seed;
    int thread;         /* there is one */
    bool correct;       /* this program's class */
    bool healed;        /* mode=fix */
    bool shares_device; /* the kind of programs that do (SHARED) */
    bool is_in_place;   /* the device uses pageable memory in place */
    bool exact;         /* guards last until the host knows, and not only until completion */
    int op_count, arrival_count, block_count, lives;
    size_t result_used;
    CUdeviceptr device; /* sources, then results */
    struct oracle oracle;
    struct {
        CUstream handle;
        int stream;      /* of the oracle */
        bool is_unclear; /* behind a wait, host memory may be about to change in order */
    } slots[STREAMS];
    struct {
        CUevent handle;
        int node;
    } events[EVENTS];
    struct buffer buffers[BUFFERS];
    struct op ops[OPS_MAX];
    struct arrival arrivals[OPS_MAX];
    struct block blocks[BLOCKS];
    unsigned char source[SOURCE_BYTES];
    unsigned char landed[RESULT_BYTES];
    unsigned char results[RESULT_BYTES]; /* what should be there */
} world;

#include "random_words.h"

#include "random_device_uses.h"

static bool data_is_defined(void)
{
    return world.healed || world.correct;
}

static void expect(int code, bool sure, const struct op *op)
{
    say("  %s: %s of node %d, %zu bytes at %zu of buffer %d", sure ? "expected" : "possible",
        code_names[code], op->node, op->area.width * op->area.rows, op->area.offset,
        op->area.buffer);
    tally(code, sure);
}

/* ---- areas ---- */

static size_t hull_of(const struct area *area)
{
    return area->pitch * (area->rows - 1) + area->width;
}

static bool has_byte(const struct area *area, size_t offset)
{
    if (offset < area->offset)
        return false;
    size_t into = offset - area->offset;
    return into / area->pitch < area->rows && into % area->pitch < area->width;
}

static bool meet(const struct area *a, const struct area *b)
{
    if (a->buffer != b->buffer || a->life != b->life)
        return false;
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < b->rows; j++) {
            size_t in_a = a->offset + i * a->pitch, in_b = b->offset + j * b->pitch;
            if (in_a < in_b + b->width && in_b < in_a + a->width)
                return true;
        }
    return false;
}

static bool is_same_area(const struct area *a, const struct area *b)
{
    return a->buffer == b->buffer && a->life == b->life && a->offset == b->offset &&
           a->width == b->width && a->rows == b->rows && (a->rows == 1 || a->pitch == b->pitch);
}

static uintptr_t address_of(const struct area *area)
{
    return (uintptr_t)world.buffers[area->buffer].bytes + area->offset;
}

static bool share_a_page(const struct area *a, const struct area *b)
{
    uintptr_t in_a = address_of(a), in_b = address_of(b);
    return in_a / PAGE <= (in_b + hull_of(b) - 1) / PAGE &&
           in_b / PAGE <= (in_a + hull_of(a) - 1) / PAGE;
}

/* Is all of the page within the hull? */
static bool has_page_of(const struct area *area, size_t offset)
{
    uintptr_t start = address_of(area);
    uintptr_t page = ((uintptr_t)world.buffers[area->buffer].bytes + offset) / PAGE * PAGE;
    return page >= start && page + PAGE <= start + hull_of(area);
}

static void pack(unsigned char *to, const struct area *area)
{
    const unsigned char *from = world.buffers[area->buffer].expected + area->offset;
    for (size_t row = 0; row < area->rows; row++)
        memcpy(to + row * area->width, from + row * area->pitch, area->width);
}

static void unpack(const struct area *area, const unsigned char *from)
{
    unsigned char *to = world.buffers[area->buffer].expected + area->offset;
    for (size_t row = 0; row < area->rows; row++)
        memcpy(to + row * area->pitch, from + row * area->width, area->width);
}

/* ---- operations ---- */

static bool in_flight(const struct op *op)
{
    return op->tracked && !world.oracle.nodes[op->node].done;
}

static bool is_on(const struct op *op, int buffer)
{
    return op->area.buffer == buffer && op->area.life == world.buffers[buffer].life;
}

static int count_in_flight(int buffer)
{
    int count = 0;
    for (int i = 0; i < world.op_count; i++)
        count += in_flight(&world.ops[i]) && is_on(&world.ops[i], buffer);
    return count;
}

static bool is_changed(const struct op *op)
{
    const unsigned char *now = world.buffers[op->area.buffer].expected + op->area.offset;
    const unsigned char *then = world.results + op->result_offset;
    for (size_t row = 0; row < op->area.rows; row++)
        if (memcmp(now + row * op->area.pitch, then + row * op->area.width, op->area.width) != 0)
            return true;
    return false;
}

/* In mode=fix a large pageable source in one piece is read from snapshots where it has a part of a
 * page only. Have those bytes changed? */
static bool is_edge_changed(const struct op *op)
{
    const struct buffer *buffer = &world.buffers[op->area.buffer];
    bool has_edges = world.healed && op->finding == GUARDED && !op->is_3d && !op->is_unsure &&
                     (buffer->kind == HEAP || buffer->kind == PAGES);
    for (size_t i = 0; has_edges && i < op->area.width; i++)
        if (buffer->expected[op->area.offset + i] != world.results[op->result_offset + i] &&
            !has_page_of(&op->area, op->area.offset + i))
            return true;
    return false;
}

/* Of a source, for the last time. One that a guard looks after may be compared as well, where the
 * guard let pages go. */
static void compare_source(struct op *op)
{
    if (op->direction != H2D || op->is_compared)
        return;
    op->is_compared = true;
    if (is_changed(op))
        expect(OVERWRITTEN, op->finding == COMPARED || is_edge_changed(op), op);
}

static void know(const struct oracle_set *set)
{
    for (int i = 0; i < world.op_count; i++)
        if (in_flight(&world.ops[i]) && set->has[world.ops[i].node])
            compare_source(&world.ops[i]);
    oracle_know(&world.oracle, set);
}

#endif
