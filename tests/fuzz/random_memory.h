/* Memory that comes and goes: blocks of the heap, pinned allocations, registrations, and who gets
 * the memory next.
 *
 * In mode=report a freed block is really freed while the device still writes to it. The malloc
 * right behind the free then returns the same block, because this thread has freed no other of its
 * size: the bytes stay the program's, and the heap stays whole. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_MEMORY_H
#define SC_TESTS_FUZZ_RANDOM_MEMORY_H

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

/* A block may be of the next size, if what was left of it was none. */
static void *new_block(size_t size_bytes)
{
    void *bytes;
    do {
        bytes = malloc(size_bytes);
        if (!bytes)
            fail("no memory");
    } while (!world.healed && malloc_usable_size(bytes) != size_bytes);
    return bytes;
}

static void *take_block(size_t size_bytes)
{
    struct pool *pool = world.healed ? NULL : pool_of(size_bytes);
    return pool && pool->count ? pool->blocks[--pool->count] : new_block(size_bytes);
}

static void keep_block(void *bytes, size_t size_bytes)
{
    struct pool *pool = pool_of(size_bytes);
    if (malloc_usable_size(bytes) != size_bytes)
        return;
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
    CUdeviceptr managed = 0;
    void *bytes = NULL;
    buffer->kind = kind;
    buffer->life = buffer->memory = ++world.lives;
    buffer->size_bytes = pick_size(kind);
    need_permission();
    if (kind == PINNED) {
        CHECK(cuMemHostAlloc(&bytes, buffer->size_bytes, 0));
    } else if (kind == MANAGED) {
        CHECK(cuMemAllocManaged(&managed, buffer->size_bytes, CU_MEM_ATTACH_GLOBAL));
        bytes = (void *)(uintptr_t)managed;
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

/* The device reads the snapshot: what uses the freed memory all the same need not come after the
 * copy. Memory that goes back to the driver waits for it, and a launch with that. */
static bool does_without(const struct copy *copy, int code)
{
    return code < 0 && copy->snapshot == YES;
}

/* Counts one hazard for each operation in flight; -1 as code: by direction. They are the library's
 * affair from now on. */
static struct taken take_down(int buffer, int code)
{
    struct taken taken = {0};
    if (world.correct)
        learn_all_on(buffer);
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        if (!is_on(copy, buffer) || !in_flight(copy))
            continue;
        int which = code >= 0 ? code : writes_host(copy) ? FREED_DESTINATION : FREED_SOURCE;
        expect(which, true, copy);
        forget_copy(copy);
        if (!is_ordered(copy) || does_without(copy, code))
            continue;
        taken.written |= writes_host(copy);
        taken.nodes[taken.count++] = copy->node;
    }
    return taken;
}

static void unregister_corpse(const void *bytes)
{
    for (int i = 0; i < corpse_count; i++)
        if (corpses[i].bytes == bytes) {
            learn_ghosts_of(corpses[i].memory);
            corpses[i].usable = world.healed;
        }
}

static void unregister(void *bytes)
{
    need_permission();
    CHECK(cuMemHostUnregister(bytes));
    know_context();
}

static void unregister_stale(void)
{
    while (world.stale_count) {
        void *bytes = world.stale[--world.stale_count];
        say("unregister what was freed");
        unregister_corpse(bytes);
        unregister(bytes);
    }
}

/* Whether a launch comes after a copy of what it names follows from the copy's snapshot. */
static void learn_unsure(int buffer)
{
    for (int i = 0; i < world.copy_count; i++)
        if (is_named(world.buffers[buffer].memory) && is_on(&world.copies[i], buffer) &&
            in_flight(&world.copies[i]) && world.copies[i].snapshot == MAYBE)
            learn(&world.copies[i]);
}

static void act_free(void)
{
    int at = pick_buffer(REGISTERED);
    if (at == NOBODY || world.block_count == BLOCKS || !can_bury(&world.buffers[at]))
        return;
    struct buffer *buffer = &world.buffers[at];
    learn_unsure(at);
    struct taken taken = take_down(at, -1);
    say("free buffer %d", at);
    buffer->alive = false;
    bury(buffer, &taken);
    give_to_another(buffer->bytes, buffer->size_bytes, world.healed || taken.count == 0);
    world.stale[world.stale_count++] = buffer->bytes;
    if (one_in(2)) {
        unregister_stale();
        add_buffer(at, REGISTERED);
    }
}

static void check_buffer(int at)
{
    const struct buffer *buffer = &world.buffers[at];
    volatile unsigned char *bytes = buffer->bytes;
    touch_beside(at, false);
    if (data_is_defined())
        compare("buffer", at, buffer->bytes, buffer->expected, buffer->size_bytes);
    else
        for (size_t i = 0; i < buffer->size_bytes; i++)
            (void)bytes[i];
}

static void act_unregister(void)
{
    int at = pick_buffer(one_in(3) ? MAPPED : REGISTERED);
    if (at == NOBODY || !can_bury(&world.buffers[at]))
        return;
    struct buffer *buffer = &world.buffers[at];
    int kind = buffer->kind;
    take_down(at, UNREGISTERED);
    say("unregister buffer %d", at);
    note_freed(buffer->memory);
    unregister(buffer->bytes);
    check_buffer(at);
    memset(buffer->bytes, 0xDB, buffer->size_bytes);
    if (one_in(3)) {
        need_permission();
        CHECK(cuMemHostRegister(buffer->bytes, buffer->size_bytes, 0));
        say("register buffer %d again", at);
        /* The driver takes this for other memory: a launch that names the former is its context's
         * end. */
        buffer->life = buffer->memory = ++world.lives;
        write_buffer(buffer);
        return;
    }
    memset(buffer->expected, 0xDB, buffer->size_bytes);
    bury(buffer, &(struct taken){0});
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
    if (at == NOBODY || !can_bury(&world.buffers[at]))
        return;
    struct taken taken = take_down(at, FREED_PINNED);
    say("free pinned buffer %d", at);
    need_permission();
    bury(&world.buffers[at], &taken);
    CHECK(cuMemFreeHost(world.buffers[at].bytes));
    if (taken.count == 0 || !world.healed)
        know_context();
    world.buffers[at].alive = false;
    if (one_in(2))
        add_buffer(at, PINNED);
}

/* That waits for the device, and programs lean on it: whatever is in flight there is done then.
 * KNOWN: what graphs name of such memory is not followed over its free. */
static void act_free_managed(void)
{
    int at = pick_buffer(MANAGED);
    if (at == NOBODY || is_named(world.buffers[at].memory) || capture.open)
        return;
    say("free managed buffer %d", at);
    for (int i = 0; i < world.copy_count; i++)
        if (is_on(&world.copies[i], at) && in_flight(&world.copies[i]))
            compare_source(&world.copies[i]);
    CHECK(cuMemFree((CUdeviceptr)(uintptr_t)world.buffers[at].bytes));
    know_context();
    world.buffers[at].alive = false;
    if (one_in(2))
        add_buffer(at, MANAGED);
}

static void act_renew_bytes(void)
{
    int at = pick_buffer(pick_kind());
    if (at == NOBODY || count_in_flight(at))
        return;
    say("read and write buffer %d", at);
    check_buffer(at);
    write_buffer(&world.buffers[at]);
}

#endif
