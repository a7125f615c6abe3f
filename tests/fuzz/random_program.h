/* One random program over the CUDA driver API, and what should be said of it.
 *
 * Threads take turns, so the order of calls is the program's own; the oracle draws the same calls
 * into its graph and counts the hazards that must be reported. A program of the class `correct`
 * does before every free and every conflicting operation something that establishes the order, and
 * then none may be reported. Memory is checked where it is defined: in a correct program, and in
 * mode=fix in every program, all operations happen as if each were done at once when it was issued.
 *
 * In mode=report a freed block is really freed while the device still writes to it. The malloc
 * right behind the free then returns the same block, because this thread has freed no other of its
 * size: the bytes stay the program's, and the heap stays whole. Include once.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_PROGRAM_H
#define SC_TESTS_FUZZ_RANDOM_PROGRAM_H

#include "oracle.h"

#include <cuda.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
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
    EVENTS = 4,
    BUFFERS = 8,
    SMALL_BYTES = 8192,
    BUFFER_BYTES = 300 * 1024,
    PAGES_MAX = BUFFER_BYTES / 4096 + 2,
    MAPPED_BYTES = PAGES_MAX * 4096,
    BLOCKS = 128,
    PER_BUFFER_MAX = 8, /* of more operations at a time the library keeps a count */
    NODES_ENOUGH = ORACLE_NODES_MAX - 64,
    POOL_SIZES = 32, /* in mode=report */
    POOL_STEP = 16,
    POOL_SMALLEST = 520,
    POOL_MAX = 256,
    SOURCE_BYTES = 512 * 1024, /* of the device's memory: what D2H copies read */
    DEVICE_BYTES = 4 * 1024 * 1024,
    NOBODY = -1,
};

/* Blocks of the heap; pinned allocations; registrations of mapped pages, or of parts of them. */
enum { REGISTERED, PINNED, MAPPED, KINDS };
static const char *const kind_names[KINDS] = {"registered", "pinned", "mapped and registered"};
enum { H2D, D2H, MEMSET };
static const char *const direction_names[] = {"H2D", "D2H", "memset"};

enum { CODES = 8 };
static const char *const code_names[CODES] = {"SC101", "SC102", "SC103", "SC105",
                                              "SC201", "SC202", "SC203", "SC204"};
enum {
    FREED_SOURCE,
    FREED_DESTINATION,
    UNREGISTERED,
    FREED_PINNED,
    OVERWRITTEN,
    READ_EARLY,
    WRITTEN_EARLY,
    UNORDERED
};

enum surely { NO, MAYBE, YES };

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
    int life; /* a name of its own for every life of the slot */
    size_t size_bytes;
    unsigned char *bytes;
    unsigned char expected[BUFFER_BYTES];
};

struct copy {
    int node, slot, stream, buffer, life, direction;
    size_t offset, size_bytes;
    bool tracked;
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
    bool exact;   /* guards last until the host knows, and not only until completion */
    int thread, thread_count, slot_count, event_count, buffer_count;
    int copy_count, block_count, stale_count, lives;
    size_t device_used;
    bool unclear[ORACLE_STREAMS_MAX], family_unclear; /* work that may write host memory */
    CUdeviceptr device;
    struct oracle oracle;
    struct slot slots[STREAMS];
    struct event events[EVENTS];
    struct buffer buffers[BUFFERS];
    struct copy copies[ORACLE_NODES_MAX];
    struct block blocks[BLOCKS];
    void *stale[BLOCKS]; /* freed, still registered */
    unsigned char scratch[256];
    unsigned char source[SOURCE_BYTES];
    unsigned char landed[DEVICE_BYTES];
    unsigned char expected[DEVICE_BYTES];
} world;

/* Over all programs: how many hazards must be reported, and how many may be. */
static unsigned long least[CODES], most[CODES];
static bool trace;

/* ---- words ---- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list arguments;
    if (!trace)
        return;
    printf("  thread %d: ", world.thread);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void fail(const char *format, ...)
{
    va_list arguments;
    printf("seed %llu: ", (unsigned long long)world.seed);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
    _exit(1);
}

#define CHECK(call) check((call), #call)
static void check(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS)
        fail("%s returned %d", call, (int)result);
}

static uint64_t draw(void)
{
    uint64_t mixed = world.random += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static int below(int limit)
{
    return (int)(draw() % (unsigned)limit);
}

static bool one_in(int chances)
{
    return below(chances) == 0;
}

static void fill_random(unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (unsigned char)(i % 8 ? bytes[i - i % 8] * 3 + i : draw());
}

static void compare(const char *what, int which, const unsigned char *found,
                    const unsigned char *expected, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        if (found[i] != expected[i])
            fail("%s %d: byte %zu of %zu is %02x, not %02x", what, which, i, size_bytes, found[i],
                 expected[i]);
}

static bool data_is_defined(void)
{
    return world.healed || world.correct;
}

static void expect(int code, bool sure, const struct copy *copy)
{
    say("  %s: %s of the copy of node %d", sure ? "expected" : "possible", code_names[code],
        copy->node);
    least[code] += sure;
    most[code]++;
    if (world.correct)
        fail("a hazard in a correct program");
}

/* ---- the graph ---- */

static int add_node(int slot)
{
    return oracle_add_node(&world.oracle, world.slots[slot].stream);
}

static enum oracle_scope scope_of(int slot)
{
    return slot == 0 ? ORACLE_LEGACY_SCOPE : ORACLE_STREAM_SCOPE;
}

static bool in_flight(const struct copy *copy)
{
    return copy->tracked && !world.oracle.nodes[copy->node].done;
}

static bool is_on(const struct copy *copy, int buffer)
{
    return copy->buffer == buffer && copy->life == world.buffers[buffer].life;
}

#include "random_touches.h"

static void know_scope(int slot, enum oracle_scope scope)
{
    struct oracle_set set;
    oracle_reach_scope(&world.oracle, world.slots[slot].stream, scope, &set);
    know(&set);
}

static int count_in_flight(int buffer)
{
    int count = 0;
    for (int i = 0; i < world.copy_count; i++)
        count += in_flight(&world.copies[i]) && is_on(&world.copies[i], buffer);
    return count;
}

/* ---- calls that order or wait; each is drawn into the graph as it succeeds ---- */

static void do_record(int slot, int event)
{
    say("record event %d on slot %d", event, slot);
    world.events[event].node = add_node(slot);
    CHECK(cuEventRecord(world.events[event].handle, world.slots[slot].handle));
}

static void know_event(int event)
{
    struct oracle_set set = {{false}};
    oracle_reach(&world.oracle, world.events[event].node, &set);
    know(&set);
}

static void do_event_sync(int event)
{
    say("synchronise event %d", event);
    CHECK(cuEventSynchronize(world.events[event].handle));
    know_event(event);
}

static bool do_event_query(int event)
{
    CUresult result = cuEventQuery(world.events[event].handle);
    say("query event %d: %d", event, (int)result);
    if (result == CUDA_SUCCESS)
        know_event(event);
    else if (result != CUDA_ERROR_NOT_READY)
        CHECK(result);
    return result == CUDA_SUCCESS;
}

static void do_stream_sync(int slot)
{
    say("synchronise slot %d", slot);
    CHECK(cuStreamSynchronize(world.slots[slot].handle));
    know_scope(slot, scope_of(slot));
    note_clear(slot);
}

static bool do_stream_query(int slot)
{
    CUresult result = cuStreamQuery(world.slots[slot].handle);
    say("query slot %d: %d", slot, (int)result);
    if (result == CUDA_SUCCESS) {
        know_scope(slot, scope_of(slot));
        note_clear(slot);
    } else if (result != CUDA_ERROR_NOT_READY)
        CHECK(result);
    return result == CUDA_SUCCESS;
}

static void do_context_sync(void)
{
    say("synchronise the context");
    CHECK(cuCtxSynchronize());
    know_scope(0, ORACLE_CONTEXT_SCOPE);
    note_all_clear();
}

static void raise_flag(void *semaphore)
{
    sem_post(semaphore);
}

static void raise_flag_of_stream(CUstream stream, CUresult status, void *semaphore)
{
    (void)stream;
    if (status == CUDA_SUCCESS)
        sem_post(semaphore);
}

static void do_callback(int slot)
{
    static sem_t called;
    struct oracle_set set;
    bool old = one_in(3);
    say("%s on slot %d, wait for it", old ? "callback" : "host function", slot);
    sem_init(&called, 0, 0);
    add_node(slot);
    note_unclear(slot);
    oracle_reach_scope(&world.oracle, world.slots[slot].stream, scope_of(slot), &set);
    if (old)
        CHECK(cuStreamAddCallback(world.slots[slot].handle, raise_flag_of_stream, &called, 0));
    else
        CHECK(cuLaunchHostFunc(world.slots[slot].handle, raise_flag, &called));
    sem_wait(&called);
    know(&set);
}

/* Synchronous copies of pageable memory wait for the legacy stream. */
static void do_sync_copy(void)
{
    bool down = one_in(2);
    say("synchronous copy %s", down ? "from the device" : "to the device");
    add_node(0);
    if (down)
        CHECK(cuMemcpyDtoH(world.scratch, world.device, sizeof world.scratch));
    else
        CHECK(cuMemcpyHtoD(world.device + DEVICE_BYTES, world.scratch, sizeof world.scratch));
    know_scope(0, ORACLE_LEGACY_SCOPE);
}

/* Asynchronous copies of pageable memory: to the device they are staged in the call, from it they
 * are complete when they return. */
static void do_pageable_copy(int slot, bool down)
{
    CUstream stream = world.slots[slot].handle;
    say("pageable copy %s on slot %d", down ? "from the device" : "to the device", slot);
    add_node(slot);
    if (down) {
        CHECK(cuMemcpyDtoHAsync(world.scratch, world.device, sizeof world.scratch, stream));
        know_scope(slot, scope_of(slot));
    } else {
        CHECK(cuMemcpyHtoDAsync(world.device + DEVICE_BYTES, world.scratch, sizeof world.scratch,
                                stream));
    }
}

static void do_work(int slot)
{
    bool wait = slot == 0 && one_in(2);
    say("device memset on slot %d%s", slot, wait ? ", the synchronous one" : "");
    add_node(slot);
    if (wait)
        CHECK(cuMemsetD8(world.device + DEVICE_BYTES, 7, 64));
    else
        CHECK(cuMemsetD8Async(world.device + DEVICE_BYTES, 7, 64, world.slots[slot].handle));
}

/* On the legacy stream a wait is work, unless the simulated driver drops it because the event is
 * complete: with other work right behind it the two are one. */
static void do_wait(int slot, int event)
{
    say("slot %d waits for event %d", slot, event);
    oracle_add_wait(&world.oracle, world.slots[slot].stream, world.events[event].node);
    note_unclear(slot);
    CHECK(cuStreamWaitEvent(world.slots[slot].handle, world.events[event].handle, 0));
    if (slot == 0)
        do_work(slot);
}

/* ---- picking ---- */

static bool can_name(int slot)
{
    return world.slots[slot].owner == NOBODY || world.slots[slot].owner == world.thread;
}

static int pick_slot(void)
{
    int slot;
    do
        slot = one_in(4) ? below(OWN_STREAM) : OWN_STREAM + below(STREAMS - OWN_STREAM);
    while (slot >= world.slot_count || !can_name(slot));
    return slot;
}

static int pick_event(void)
{
    return below(world.event_count);
}

/* A live buffer of the kind, or NOBODY. */
static int pick_buffer(int kind)
{
    int buffer = below(world.buffer_count);
    for (int i = 0; i < world.buffer_count; i++, buffer = (buffer + 1) % world.buffer_count)
        if (world.buffers[buffer].alive && world.buffers[buffer].kind == kind)
            return buffer;
    return NOBODY;
}

/* ---- what a correct program does first ---- */

static void poll_event(int event)
{
    while (!do_event_query(event))
        usleep(200);
}

/* One of the ways to learn that a copy is done. Some of them do not serve every copy. */
static void try_to_learn(const struct copy *copy)
{
    int slot = copy->slot;
    int event = pick_event();
    bool nameable = world.slots[slot].stream == copy->stream && can_name(slot);
    int way = below(nameable ? 10 : 3);
    if (way == 0) {
        do_context_sync();
    } else if (way == 1) {
        do_stream_sync(0);
    } else if (way == 2) {
        do_sync_copy();
    } else if (way <= 4) {
        do_stream_sync(slot);
    } else if (way <= 6) {
        do_record(slot, event);
        if (way == 5)
            do_event_sync(event);
        else
            poll_event(event);
    } else if (way == 7) {
        do_callback(slot);
    } else if (way == 8) {
        do_pageable_copy(slot, true);
    } else {
        int other = pick_slot();
        do_record(slot, event);
        do_wait(other, event);
        do_stream_sync(other);
    }
}

static void learn(const struct copy *copy)
{
    for (int attempt = 0; attempt < 3 && in_flight(copy); attempt++)
        try_to_learn(copy);
    if (in_flight(copy))
        do_context_sync();
}

static void learn_all_on(int buffer)
{
    for (int i = 0; i < world.copy_count; i++)
        if (is_on(&world.copies[i], buffer) && in_flight(&world.copies[i]))
            learn(&world.copies[i]);
}

/* ---- operations ---- */

static bool share_a_byte(const struct copy *a, const struct copy *b)
{
    return a->buffer == b->buffer && a->life == b->life && a->offset < b->offset + b->size_bytes &&
           b->offset < a->offset + a->size_bytes;
}

/* `before`: all that `later` comes after. */
static bool conflict(const struct copy *earlier, const struct copy *later,
                     const struct oracle_set *before)
{
    return in_flight(earlier) && earlier->stream != later->stream && !before->has[earlier->node] &&
           (writes_host(earlier) || writes_host(later)) && share_a_byte(earlier, later);
}

/* The same bytes again on the same stream: the earlier one counts no more. */
static bool is_repeated(const struct copy *a, const struct copy *b)
{
    return a->stream == b->stream && a->direction == b->direction && a->buffer == b->buffer &&
           a->life == b->life && a->offset == b->offset && a->size_bytes == b->size_bytes;
}

/* What would come before work issued now: a node that is not there yet has the same edges. */
static void reach_next(int slot, struct oracle_set *before)
{
    int last = world.oracle.streams[world.slots[slot].stream].last;
    memset(before, 0, sizeof *before);
    oracle_reach(&world.oracle, add_node(slot), before);
    world.oracle.node_count--;
    world.oracle.streams[world.slots[slot].stream].last = last;
}

static void order_before(const struct copy *copy, int slot)
{
    struct oracle_set before;
    bool nameable = world.slots[copy->slot].stream == copy->stream && can_name(copy->slot);
    int event = pick_event();
    if (!nameable || one_in(3)) {
        learn(copy);
        return;
    }
    do_record(copy->slot, event);
    if (one_in(3)) {
        int other = pick_slot();
        do_wait(other, event);
        do_record(other, event);
    }
    do_wait(slot, event);
    reach_next(slot, &before);
    if (!before.has[copy->node])
        fail("the generator did not order what it ordered");
}

static void avoid_conflicts(const struct copy *later)
{
    struct oracle_set before;
    for (int i = 0; i < world.copy_count; i++) {
        reach_next(later->slot, &before);
        if (conflict(&world.copies[i], later, &before))
            order_before(&world.copies[i], later->slot);
    }
}

/* Draws the copy, and counts what it runs into. */
static void draw_copy(struct copy *copy)
{
    struct oracle_set before = {{false}};
    protect(copy);
    if (writes_host(copy))
        seal(copy);
    copy->node = add_node(copy->slot);
    oracle_reach(&world.oracle, copy->node, &before);
    for (int i = 0; i < world.copy_count; i++)
        if (conflict(&world.copies[i], copy, &before)) {
            expect(UNORDERED, true, &world.copies[i]);
            if (world.healed)
                oracle_heal(&world.oracle, copy->node, world.copies[i].node);
        }
    for (int i = 0; i < world.copy_count; i++)
        if (in_flight(&world.copies[i]) && is_repeated(&world.copies[i], copy)) {
            compare_source(&world.copies[i]);
            forget_copy(&world.copies[i]);
        }
    copy->tracked = true;
    copy->device_offset = world.device_used;
    world.copies[world.copy_count++] = *copy;
}

static void issue(const struct copy *copy)
{
    struct buffer *buffer = &world.buffers[copy->buffer];
    CUstream stream = world.slots[copy->slot].handle;
    unsigned char *bytes = buffer->bytes + copy->offset;
    unsigned char *shadow = buffer->expected + copy->offset;
    unsigned char value = (unsigned char)draw();
    size_t from = (size_t)below((int)(SOURCE_BYTES - copy->size_bytes));
    if (copy->direction == H2D) {
        CHECK(cuMemcpyHtoDAsync(world.device + world.device_used, bytes, copy->size_bytes, stream));
        memcpy(world.expected + world.device_used, shadow, copy->size_bytes);
        world.device_used += copy->size_bytes;
    } else if (copy->direction == D2H) {
        CHECK(cuMemcpyDtoHAsync(bytes, world.device + from, copy->size_bytes, stream));
        memcpy(shadow, world.source + from, copy->size_bytes);
    } else {
        CHECK(cuMemsetD8Async((CUdeviceptr)(uintptr_t)bytes, value, copy->size_bytes, stream));
        memset(shadow, value, copy->size_bytes);
        say("  with %02x", value);
    }
}

/* Few different ranges, so that they meet often. */
static void pick_bytes(struct copy *copy)
{
    size_t size_bytes = world.buffers[copy->buffer].size_bytes;
    if (one_in(3)) {
        copy->offset = 0;
        copy->size_bytes = size_bytes;
    } else if (one_in(3)) {
        copy->offset = (size_t)below((int)size_bytes);
        copy->size_bytes = 1 + (size_t)below((int)(size_bytes - copy->offset));
    } else {
        copy->offset = size_bytes / 4 * (size_t)below(4);
        copy->size_bytes = size_bytes / 4 * (size_t)(1 + below(2));
    }
    if (copy->size_bytes > size_bytes - copy->offset)
        copy->size_bytes = size_bytes - copy->offset;
}

static void act_copy(void)
{
    struct copy copy = {.direction = below(7) % 3, .slot = pick_slot()};
    copy.buffer = pick_buffer(copy.direction == MEMSET ? PINNED : below(KINDS));
    if (copy.buffer == NOBODY || count_in_flight(copy.buffer) == PER_BUFFER_MAX)
        return;
    copy.stream = world.slots[copy.slot].stream;
    copy.life = world.buffers[copy.buffer].life;
    pick_bytes(&copy);
    if (world.device_used + copy.size_bytes > DEVICE_BYTES)
        return;
    if (world.correct)
        avoid_conflicts(&copy);
    say("%s on slot %d, buffer %d, %zu bytes at %zu; node %d", direction_names[copy.direction],
        copy.slot, copy.buffer, copy.size_bytes, copy.offset, world.oracle.node_count);
    draw_copy(&copy);
    issue(&copy);
}

/* ---- blocks of the heap ---- */

/* In mode=report blocks are of sizes that malloc keeps by size and thread (up to 1 KB) and that
 * hardly anybody else uses, and those that are done with are never left to malloc. */
static struct pool {
    int count;
    void *blocks[POOL_MAX];
} pools[POOL_SIZES];

static size_t pick_size(int kind)
{
    size_t step = (size_t)below(POOL_SIZES);
    if (!world.healed && kind == REGISTERED)
        return POOL_SMALLEST + step * POOL_STEP;
    if (one_in(5))
        return BUFFER_BYTES - (size_t)below(BUFFER_BYTES - SMALL_BYTES);
    if (kind != REGISTERED && one_in(5))
        return 8 * (size_t)(1 + below(8));
    return one_in(2) ? 64 + step * 16 : (step + 1) * (SMALL_BYTES / POOL_SIZES);
}

static struct pool *pool_of(size_t size_bytes)
{
    return &pools[(size_bytes - POOL_SMALLEST) / POOL_STEP];
}

static void *take_block(size_t size_bytes)
{
    struct pool *pool = world.healed ? NULL : pool_of(size_bytes);
    void *bytes = pool && pool->count ? pool->blocks[--pool->count] : malloc(size_bytes);
    if (!bytes)
        fail("no memory");
    return bytes;
}

static void keep_block(void *bytes, size_t size_bytes)
{
    struct pool *pool = pool_of(size_bytes);
    if (pool->count == POOL_MAX)
        fail("too many blocks");
    pool->blocks[pool->count++] = bytes;
}

/* Until a block that is freed is the one that malloc returns next. */
static void make_room(size_t size_bytes)
{
    bool returned = false;
    while (!returned) {
        void *bytes = malloc(size_bytes);
        uintptr_t freed = (uintptr_t)bytes;
        free(bytes);
        bytes = malloc(size_bytes);
        returned = (uintptr_t)bytes == freed;
        keep_block(bytes, size_bytes);
    }
}

/* Nothing is in flight here. */
static void give_block(void *bytes, size_t size_bytes)
{
    free(bytes);
    if (!world.healed)
        keep_block(malloc(size_bytes), size_bytes);
}

/* Somebody else gets the memory, if it is there to be had. */
static void give_to_another(void *bytes, size_t size_bytes, bool checked)
{
    struct block *block = &world.blocks[world.block_count++];
    if (!world.healed)
        make_room(size_bytes);
    free(bytes);
    *block = (struct block){malloc(size_bytes), size_bytes, (unsigned char)draw(), checked};
    if (!world.healed && block->bytes != bytes)
        fail("malloc did not return the block that was just freed");
    memset(block->bytes, block->fill, size_bytes);
}

/* ---- memory comes and goes ---- */

static void write_buffer(struct buffer *buffer)
{
    touch_beside((int)(buffer - world.buffers), true);
    fill_random(buffer->expected, buffer->size_bytes);
    memcpy(buffer->bytes, buffer->expected, buffer->size_bytes);
}

/* Every other time all of the pages, or else a part that need not begin with one. */
static void *map_pages(size_t *size_bytes)
{
    size_t offset = one_in(2) ? 0 : 16 * (size_t)below(64);
    unsigned char *pages =
        mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        fail("no memory");
    if (one_in(2)) {
        offset = 0;
        *size_bytes = page_of(*size_bytes + PAGE - 1);
    }
    return pages + offset;
}

static void unmap_pages(void *bytes)
{
    munmap((void *)page_of((uintptr_t)bytes), MAPPED_BYTES);
}

static void add_buffer(int at, int kind)
{
    struct buffer *buffer = &world.buffers[at];
    void *bytes = NULL;
    buffer->kind = kind;
    buffer->life = ++world.lives;
    buffer->size_bytes = pick_size(kind);
    if (kind == PINNED) {
        CHECK(cuMemHostAlloc(&bytes, buffer->size_bytes, 0));
    } else if (kind == MAPPED) {
        bytes = map_pages(&buffer->size_bytes);
        CHECK(cuMemHostRegister(bytes, buffer->size_bytes, 0));
    } else {
        bytes = take_block(buffer->size_bytes);
        CHECK(cuMemHostRegister(bytes, buffer->size_bytes, 0));
    }
    buffer->bytes = bytes;
    buffer->alive = true;
    say("buffer %d is %zu %s bytes at %p", at, buffer->size_bytes, kind_names[kind], bytes);
    write_buffer(buffer);
}

/* Counts one hazard for each operation in flight; -1 as code: by direction. They are the library's
 * affair from now on. */
static int take_down(int buffer, int code)
{
    int count = 0;
    if (world.correct)
        learn_all_on(buffer);
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        if (!is_on(copy, buffer) || !in_flight(copy))
            continue;
        int which = code >= 0 ? code : copy->direction == H2D ? FREED_SOURCE : FREED_DESTINATION;
        expect(which, true, copy);
        forget_copy(copy);
        count++;
    }
    return count;
}

static void unregister(void *bytes)
{
    CHECK(cuMemHostUnregister(bytes));
    know_scope(0, ORACLE_CONTEXT_SCOPE);
}

static void unregister_stale(void)
{
    while (world.stale_count) {
        say("unregister what was freed");
        unregister(world.stale[--world.stale_count]);
    }
}

static void act_free(void)
{
    int at = pick_buffer(REGISTERED);
    if (at == NOBODY || world.block_count == BLOCKS)
        return;
    struct buffer *buffer = &world.buffers[at];
    int hurt = take_down(at, -1);
    say("free buffer %d", at);
    buffer->alive = false;
    give_to_another(buffer->bytes, buffer->size_bytes, world.healed || hurt == 0);
    world.stale[world.stale_count++] = buffer->bytes;
    if (one_in(2)) {
        unregister_stale();
        add_buffer(at, REGISTERED);
    }
}

static void check_buffer(int at)
{
    const struct buffer *buffer = &world.buffers[at];
    touch_beside(at, false);
    if (data_is_defined())
        compare("buffer", at, buffer->bytes, buffer->expected, buffer->size_bytes);
}

static void act_unregister(void)
{
    int at = pick_buffer(one_in(3) ? MAPPED : REGISTERED);
    if (at == NOBODY)
        return;
    struct buffer *buffer = &world.buffers[at];
    int kind = buffer->kind;
    take_down(at, UNREGISTERED);
    say("unregister buffer %d", at);
    unregister(buffer->bytes);
    check_buffer(at);
    memset(buffer->bytes, 0xDB, buffer->size_bytes);
    if (one_in(3)) {
        CHECK(cuMemHostRegister(buffer->bytes, buffer->size_bytes, 0));
        say("register buffer %d again", at);
        buffer->life = ++world.lives;
        write_buffer(buffer);
        return;
    }
    if (kind == MAPPED)
        unmap_pages(buffer->bytes);
    else
        give_block(buffer->bytes, buffer->size_bytes);
    buffer->alive = false;
    if (world.stale_count == 0 && one_in(2))
        add_buffer(at, kind);
}

static void act_free_pinned(void)
{
    int at = pick_buffer(PINNED);
    if (at == NOBODY)
        return;
    int count = take_down(at, FREED_PINNED);
    say("free pinned buffer %d", at);
    CHECK(cuMemFreeHost(world.buffers[at].bytes));
    if (count == 0 || !world.healed)
        know_scope(0, ORACLE_CONTEXT_SCOPE);
    world.buffers[at].alive = false;
    if (one_in(2))
        add_buffer(at, PINNED);
}

static void act_renew_bytes(void)
{
    int at = pick_buffer(below(KINDS));
    if (at == NOBODY || count_in_flight(at))
        return;
    say("read and write buffer %d", at);
    check_buffer(at);
    write_buffer(&world.buffers[at]);
}

/* ---- the host touches bytes that are in flight ---- */

struct span {
    size_t offset, size_bytes;
};

static int pick_copy_on(int buffer)
{
    int found = NOBODY;
    for (int i = 0, seen = 0; i < world.copy_count; i++)
        if (in_flight(&world.copies[i]) && is_on(&world.copies[i], buffer) && one_in(++seen))
            found = i;
    return found;
}

/* Of the bytes of a copy all, a part, the first or the last, or one beside. */
static struct span pick_span_at(const struct copy *copy)
{
    size_t last = copy->offset + copy->size_bytes - 1;
    switch (below(7)) {
    case 0:
    case 1:
        return (struct span){copy->offset, copy->size_bytes};
    case 2: {
        size_t skipped = (size_t)below((int)copy->size_bytes);
        return (struct span){copy->offset + skipped, copy->size_bytes - skipped};
    }
    case 3:
        return (struct span){copy->offset, 1};
    case 4:
        return (struct span){last, 1};
    case 5:
        return (struct span){copy->offset ? copy->offset - 1 : 0, 1};
    default:
        return (struct span){last + 1 < world.buffers[copy->buffer].size_bytes ? last + 1 : last,
                             1};
    }
}

static struct span pick_span(int buffer)
{
    size_t size_bytes = world.buffers[buffer].size_bytes;
    int copy = pick_copy_on(buffer);
    if (copy != NOBODY && !one_in(5))
        return pick_span_at(&world.copies[copy]);
    size_t offset = one_in(2) ? 0 : (size_t)below((int)size_bytes);
    return (struct span){offset, 1 + (size_t)below((int)(size_bytes - offset))};
}

/* Would the touch reach bytes of a destination without a fault on one of them? */
static bool is_missed(struct copy *copy, uintptr_t start, uintptr_t end)
{
    bool missed = copy->unsure;
    for (uintptr_t from = start; from < end; from = page_of(from) + PAGE) {
        uintptr_t to = page_of(from) + PAGE < end ? page_of(from) + PAGE : end;
        bool guarded =
            has_byte_in(copy, page_of(from), to) && state_of(copy, page_of(from))->guarded;
        missed |= has_byte_in(copy, from, to) && !(guarded && has_byte_in(copy, from, from + 1));
    }
    return missed;
}

/* A correct program learns first of all that it might hurt; one with hazards of what nobody could
 * heal, so that all bytes stay defined. */
static void avoid_touching(int buffer, const struct span *span, bool write)
{
    uintptr_t start = (uintptr_t)world.buffers[buffer].bytes + span->offset;
    uintptr_t end = start + span->size_bytes;
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        bool early = in_flight(copy) && is_on(copy, buffer) && has_byte_in(copy, start, end) &&
                     (write || writes_host(copy));
        if (early &&
            (world.correct || (writes_host(copy) && !copy->waited && is_missed(copy, start, end))))
            learn(copy);
    }
}

static void act_touch(void)
{
    int at = pick_buffer(below(KINDS));
    bool write = one_in(2);
    if (at == NOBODY)
        return;
    struct span span = pick_span(at);
    unsigned char change = write && !one_in(8) ? (unsigned char)(1 + below(3)) : 0;
    avoid_touching(at, &span, write);
    say("%s %zu bytes at %zu of buffer %d%s", write ? "write" : "read", span.size_bytes,
        span.offset, at, write && !change ? ", unchanged" : "");
    touch(at, span.offset, span.size_bytes, write, change);
}

/* ---- host functions touch buffers in the order of their stream ---- */

static struct host_touch {
    volatile unsigned char *bytes;
    size_t size_bytes;
    bool write;
    unsigned char values[BUFFER_BYTES]; /* to write, or read */
    sem_t called;
} host_touch;
static unsigned char function_reads[BUFFER_BYTES]; /* what it should */

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

static void touch_in_order(void *argument)
{
    struct host_touch *touch = argument;
    for (size_t i = 0; i < touch->size_bytes; i++)
        if (touch->write)
            touch->bytes[i] = touch->values[i];
        else
            touch->values[i] = touch->bytes[i];
    sem_post(&touch->called);
}

static void copy_in_order(int slot, int buffer, int direction)
{
    struct copy copy = {.direction = direction, .slot = slot, .buffer = buffer};
    copy.stream = world.slots[slot].stream;
    copy.life = world.buffers[buffer].life;
    copy.size_bytes = world.buffers[buffer].size_bytes;
    if (world.device_used + copy.size_bytes > DEVICE_BYTES)
        return;
    say("%s of it in order; node %d", direction_names[direction], world.oracle.node_count);
    draw_copy(&copy);
    issue(&copy);
}

/* What is on the stream before the function is done when it starts. */
static void end_function(int slot, int at)
{
    struct buffer *buffer = &world.buffers[at];
    struct oracle_set set;
    oracle_reach_scope(&world.oracle, world.slots[slot].stream, scope_of(slot), &set);
    CHECK(cuLaunchHostFunc(world.slots[slot].handle, touch_in_order, &host_touch));
    if (!host_touch.write)
        memcpy(function_reads, buffer->expected, buffer->size_bytes);
    know(&set);
    touch_beside(at, host_touch.write);
    if (host_touch.write)
        memcpy(buffer->expected, host_touch.values, buffer->size_bytes);
    if (one_in(2))
        copy_in_order(slot, at, host_touch.write ? H2D : D2H);
    wait_for(&host_touch.called);
    if (!host_touch.write && data_is_defined())
        compare("what a function read of buffer", at, host_touch.values, function_reads,
                buffer->size_bytes);
    do_context_sync();
}

/* A function that writes a source or reads a destination, with copies on its stream before it and
 * behind it: nothing of that is a hazard. */
static void act_function_that_touches(void)
{
    int at = pick_buffer(below(KINDS));
    int slot = pick_slot();
    if (at == NOBODY)
        return;
    struct buffer *buffer = &world.buffers[at];
    learn_all_on(at);
    say("a function on slot %d that touches buffer %d", slot, at);
    host_touch.bytes = buffer->bytes;
    host_touch.size_bytes = buffer->size_bytes;
    host_touch.write = one_in(2);
    sem_init(&host_touch.called, 0, 0);
    if (one_in(2))
        copy_in_order(slot, at, one_in(2) ? H2D : D2H);
    if (host_touch.write)
        fill_random(host_touch.values, buffer->size_bytes);
    add_node(slot);
    note_unclear(slot);
    end_function(slot, at);
}

/* ---- streams and events come and go ---- */

static void make_stream(int slot)
{
    bool blocking = one_in(2);
    struct slot *made = &world.slots[slot];
    CHECK(cuStreamCreate(&made->handle, blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    made->stream =
        oracle_add_stream(&world.oracle, blocking ? ORACLE_BLOCKING : ORACLE_NONBLOCKING, 0);
    made->owner = NOBODY;
    say("slot %d is a %sblocking stream", slot, blocking ? "" : "non-");
}

static void act_recycle_stream(void)
{
    int slot = OWN_STREAM + below(world.slot_count - OWN_STREAM);
    if (world.oracle.stream_count == ORACLE_STREAMS_MAX)
        return;
    say("destroy the stream of slot %d", slot);
    CHECK(cuStreamDestroy(world.slots[slot].handle));
    make_stream(slot);
}

static void make_event(int event)
{
    CHECK(cuEventCreate(&world.events[event].handle, CU_EVENT_DISABLE_TIMING));
    world.events[event].node = ORACLE_NONE;
}

static void act_recycle_event(void)
{
    int event = pick_event();
    say("destroy event %d and create another", event);
    CHECK(cuEventDestroy(world.events[event].handle));
    make_event(event);
}

/* ---- the menu ---- */

static void act_record(void)
{
    do_record(pick_slot(), pick_event());
}

static void act_wait(void)
{
    do_wait(pick_slot(), pick_event());
}

static void act_event_sync(void)
{
    do_event_sync(pick_event());
}

static void act_event_query(void)
{
    do_event_query(pick_event());
}

static void act_stream_sync(void)
{
    do_stream_sync(pick_slot());
}

static void act_stream_query(void)
{
    do_stream_query(pick_slot());
}

static void act_callback(void)
{
    do_callback(pick_slot());
}

static void act_pageable_copy(void)
{
    do_pageable_copy(pick_slot(), one_in(3));
}

static void act_work(void)
{
    do_work(pick_slot());
}

static const struct {
    int weight;
    void (*run)(void);
} menu[] = {
    {96, act_copy},          {24, act_record},
    {28, act_wait},          {8, act_event_sync},
    {5, act_event_query},    {6, act_stream_sync},
    {5, act_stream_query},   {2, do_context_sync},
    {3, do_sync_copy},       {4, act_callback},
    {5, act_pageable_copy},  {8, act_work},
    {12, act_free},          {5, act_unregister},
    {8, act_free_pinned},    {8, act_renew_bytes},
    {4, act_recycle_stream}, {2, act_recycle_event},
    {36, act_touch},         {6, act_function_that_touches},
};

static void act(void)
{
    int total = 0;
    for (size_t i = 0; i < sizeof menu / sizeof *menu; i++)
        total += menu[i].weight;
    int choice = below(total);
    for (size_t i = 0; i < sizeof menu / sizeof *menu; i++) {
        if (choice < menu[i].weight) {
            menu[i].run();
            return;
        }
        choice -= menu[i].weight;
    }
}

/* ---- threads take turns ---- */

static struct {
    CUcontext context;
    bool over;
    sem_t turn[THREADS], done;
    pthread_t threads[THREADS];
} baton;

static void *live(void *argument)
{
    sem_t *turn = argument;
    CHECK(cuCtxSetCurrent(baton.context));
    for (wait_for(turn); !baton.over; wait_for(turn)) {
        act();
        sem_post(&baton.done);
    }
    return NULL;
}

/* The main thread is number 0. */
static void give_turn(int thread)
{
    world.thread = thread;
    if (thread == 0) {
        act();
        return;
    }
    sem_post(&baton.turn[thread]);
    wait_for(&baton.done);
    world.thread = 0;
}

static void start_threads(void)
{
    sem_init(&baton.done, 0, 0);
    for (int i = 1; i < THREADS; i++) {
        sem_init(&baton.turn[i], 0, 0);
        pthread_create(&baton.threads[i], NULL, live, &baton.turn[i]);
    }
}

static void end_threads(void)
{
    baton.over = true;
    for (int i = 1; i < THREADS; i++) {
        sem_post(&baton.turn[i]);
        pthread_join(baton.threads[i], NULL);
    }
}

/* ---- programs ---- */

static void start_device(bool healed)
{
    CUdevice device = 0;
    world.healed = healed;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&baton.context, device));
    CHECK(cuCtxSetCurrent(baton.context));
    /* The first part is what D2H copies read, the last is for work that nobody looks at. */
    CHECK(cuMemAlloc(&world.device, DEVICE_BYTES + SOURCE_BYTES));
    fill_random(world.source, SOURCE_BYTES);
    CHECK(cuMemcpyHtoD(world.device, world.source, SOURCE_BYTES));
    CHECK(cuCtxSynchronize()); /* staged when the copy returned; non-blocking streams do not wait */
    start_threads();
}

static void begin_program(uint64_t seed)
{
    world.random = world.seed = seed;
    world.correct = below(10) < 3;
    world.thread = world.copy_count = world.block_count = world.stale_count = 0;
    world.oracle.node_count = world.oracle.stream_count = 0;
    world.device_used = SOURCE_BYTES;
    note_all_clear();
    world.thread_count = 2 + below(THREADS - 1);
    world.slot_count = OWN_STREAM + 1 + below(STREAMS - OWN_STREAM);
    world.event_count = 2 + below(EVENTS - 1);
    world.buffer_count = 4 + below(BUFFERS - 3);
    if (trace)
        printf("seed %llu, %s:\n", (unsigned long long)seed,
               world.correct ? "correct" : "with hazards");
    for (int slot = 0; slot < OWN_STREAM; slot++)
        world.slots[slot] = (struct slot){
            slot        ? CU_STREAM_PER_THREAD
            : one_in(2) ? NULL
                        : CU_STREAM_LEGACY,
            oracle_add_stream(&world.oracle, slot ? ORACLE_BLOCKING : ORACLE_LEGACY, 0),
            slot ? slot - 1 : NOBODY};
    for (int slot = OWN_STREAM; slot < world.slot_count; slot++)
        make_stream(slot);
    for (int event = 0; event < world.event_count; event++)
        make_event(event);
    for (int buffer = 0; buffer < world.buffer_count; buffer++)
        add_buffer(buffer, buffer % KINDS);
}

static void check_device(void)
{
    size_t size_bytes = world.device_used - SOURCE_BYTES;
    if (size_bytes == 0)
        return;
    CHECK(cuMemcpyDtoH(world.landed, world.device + SOURCE_BYTES, size_bytes));
    for (int i = 0; i < world.copy_count && data_is_defined(); i++) {
        const struct copy *copy = &world.copies[i];
        if (copy->direction == H2D && !copy->tainted)
            compare("what the device got from node", copy->node,
                    world.landed + (copy->device_offset - SOURCE_BYTES),
                    world.expected + copy->device_offset, copy->size_bytes);
    }
}

static void give_back_buffer(int at)
{
    struct buffer *buffer = &world.buffers[at];
    if (!buffer->alive)
        return;
    check_buffer(at);
    buffer->alive = false;
    if (buffer->kind == PINNED) {
        CHECK(cuMemFreeHost(buffer->bytes));
        return;
    }
    if (buffer->kind == MAPPED) {
        CHECK(cuMemHostUnregister(buffer->bytes));
        unmap_pages(buffer->bytes);
    } else if (one_in(2)) {
        CHECK(cuMemHostUnregister(buffer->bytes));
        give_block(buffer->bytes, buffer->size_bytes);
    } else {
        give_block(buffer->bytes, buffer->size_bytes);
        CHECK(cuMemHostUnregister(buffer->bytes));
    }
}

static void end_program(void)
{
    world.thread = 0;
    do_context_sync();
    unregister_stale();
    check_device();
    for (int buffer = 0; buffer < world.buffer_count; buffer++)
        give_back_buffer(buffer);
    for (int i = 0; i < world.block_count; i++) {
        const struct block *block = &world.blocks[i];
        for (size_t at = 0; at < block->size_bytes && block->checked; at++)
            if (block->bytes[at] != block->fill)
                fail("block %d: byte %zu of %zu was overwritten", i, at, block->size_bytes);
        give_block(block->bytes, block->size_bytes);
    }
    for (int slot = OWN_STREAM; slot < world.slot_count; slot++)
        CHECK(cuStreamDestroy(world.slots[slot].handle));
    for (int event = 0; event < world.event_count; event++)
        CHECK(cuEventDestroy(world.events[event].handle));
}

static void run_program(uint64_t seed)
{
    begin_program(seed);
    int actions = 8 + below(72);
    while (actions-- > 0 && world.oracle.node_count < NODES_ENOUGH)
        give_turn(below(world.thread_count));
    end_program();
}

#endif
