/* What the host does to buffers under operations, and what should be said of it.
 *
 * The model is the guard's contract, page by page: pages that hold nothing but the buffer are
 * protected from issue until the host knows the operation done; a touch of its bytes there is a
 * hazard, waits in mode=fix, and ends the guard of the operation; a touch beside them lets the page
 * go, unless it is one of few reads, and whether an operation that has only a part of it guards it
 * again is not known from then on. Small sources are snapshotted instead, and sources on pages that
 * were let go, or never guarded, are compared when they are known done. Where that depends on what
 * the oracle does not follow (work that may write host memory), a hazard may be reported and need
 * not.
 *
 * Bytes are touched one by one from the first on, so that it is known which one faults. A part of
 * random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_GUARD_H
#define SC_TESTS_FUZZ_RANDOM_GUARD_H

enum { PAGE = 4096, SNAPSHOT_MAX = 32 * 1024, SNAPSHOT_LARGE = 256 * 1024, MAPPED_HEADER = 16 };

static uintptr_t page_of(uintptr_t address)
{
    return address & -(uintptr_t)PAGE;
}

static bool writes_host(const struct copy *copy)
{
    return copy->direction == D2H || copy->direction == MEMSET;
}

/* ---- is anything at work that may write what a copy reads? ---- */

/* The stream of the detours stands for the legacy one. */
static bool is_family(int stream)
{
    return stream == world.detour || world.oracle.streams[stream].kind != ORACLE_NONBLOCKING;
}

static void note_unclear(int stream)
{
    world.unclear[stream] = true;
    world.family_unclear |= is_family(stream);
}

static void note_clear(int stream)
{
    if (!is_family(stream))
        world.unclear[stream] = false;
}

static void note_all_clear(void)
{
    memset(world.unclear, 0, sizeof world.unclear);
    world.family_unclear = false;
}

static enum surely is_clear(int stream)
{
    if (stream == world.detour)
        return MAYBE;
    return (is_family(stream) ? world.family_unclear : world.unclear[stream]) ? MAYBE : YES;
}

/* ---- how a copy is protected when it is issued ---- */

static struct page_state *state_of(struct copy *copy, uintptr_t page)
{
    return &copy->pages[(page - page_of(copy->address)) / PAGE];
}

/* glibc maps a large block by itself, with a header before it. */
static bool is_own_mapping(const struct buffer *buffer)
{
    return (uintptr_t)buffer->bytes % PAGE == MAPPED_HEADER &&
           ((const size_t *)(const void *)buffer->bytes)[-1] & 2;
}

enum { BLOCK = 2 << 20, COMPARED_WHOLE = 16 << 10 };

/* Blocks of which pages were let go, of this program and of those before it in the process. Two may
 * have the same place. */
static bool let_go_before[1 << 16];

static bool *place_of(uintptr_t page)
{
    return &let_go_before[page / BLOCK * 0x9E3779B97F4A7C15u >> 48];
}

/* Of the first page or the last one the copy has a part only. */
static bool is_disputed_edge(const struct copy *copy, uintptr_t page)
{
    return (page < copy->address || page + PAGE > end_of(copy)) && *place_of(page);
}

/* A small source is compared as a whole. */
static bool is_disputed(const struct copy *copy, uintptr_t page)
{
    bool small = copy->direction == H2D && end_of(copy) - copy->address <= COMPARED_WHOLE;
    return is_disputed_edge(copy, page) ||
           (small && (is_disputed_edge(copy, page_of(copy->address)) ||
                      is_disputed_edge(copy, page_of(end_of(copy) - 1))));
}

/* Of managed memory none is, and of a source the first and the last page are compared, or all of a
 * small one. */
static void choose_managed_pages(struct copy *copy)
{
    bool small = copy->size_bytes <= COMPARED_WHOLE;
    uintptr_t first = page_of(copy->address), last = page_of(end_of(copy) - 1);
    for (uintptr_t page = first; page <= last; page += PAGE) {
        bool kept = copy->stable && (small || page == first || page == last);
        *state_of(copy, page) = (struct page_state){.kept = kept};
    }
}

static void choose_pages(struct copy *copy)
{
    const struct buffer *buffer = &world.buffers[copy->buffer];
    if (buffer->kind == MANAGED) {
        choose_managed_pages(copy);
        return;
    }
    uintptr_t start = (uintptr_t)buffer->bytes;
    uintptr_t end = start + buffer->size_bytes;
    bool outward = buffer->kind == PINNED || is_own_mapping(buffer);
    for (uintptr_t page = page_of(copy->address); page < end_of(copy); page += PAGE) {
        bool own = outward || (page >= start && page + PAGE <= end);
        bool disputed = is_disputed(copy, page);
        state_of(copy, page)->guarded = own;
        state_of(copy, page)->kept = (!own || disputed) && copy->stable;
        copy->unsure |= own && disputed;
    }
}

static bool is_guarded(const struct copy *copy)
{
    bool guarded = false;
    for (int i = 0; i < PAGES_MAX; i++)
        guarded |= copy->pages[i].guarded;
    return in_flight(copy) && guarded;
}

static bool guards_page(struct copy *copy, uintptr_t page, bool write)
{
    return in_flight(copy) && (write || writes_host(copy)) &&
           reaches_into(copy, page, page + PAGE) && state_of(copy, page)->guarded;
}

static void unguard(struct copy *copy)
{
    for (int i = 0; i < PAGES_MAX; i++)
        copy->pages[i].guarded = false;
}

/* ---- what is compared in the end ---- */

static bool differs(const struct copy *copy, uintptr_t start, uintptr_t end)
{
    const unsigned char *now = world.buffers[copy->buffer].expected + copy->offset;
    const unsigned char *then = world.expected + copy->device_offset;
    size_t first = start > copy->address ? start - copy->address : 0;
    size_t last = (end < end_of(copy) ? end : end_of(copy)) - copy->address;
    bool found = false;
    for (int run = 0; run < run_count(copy) && !found; run++) {
        struct span span = run_at(copy, run);
        size_t from = span.offset > first ? span.offset : first;
        size_t to = span.offset + span.size_bytes < last ? span.offset + span.size_bytes : last;
        found = from < to && memcmp(now + from, then + from, to - from) != 0;
    }
    return found;
}

static bool kept_page_differs(struct copy *copy)
{
    bool found = false;
    for (uintptr_t page = page_of(copy->address); page < end_of(copy); page += PAGE)
        found |= state_of(copy, page)->kept && differs(copy, page, page + PAGE);
    return found;
}

static bool is_found_changed(struct copy *copy)
{
    if (copy->direction != H2D || copy->compared)
        return false;
    return copy->snapshot != NO ? differs(copy, 0, UINTPTR_MAX) : kept_page_differs(copy);
}

/* For the last time. */
/* KNOWN: of more than eight sources that one call finds changed the library keeps a count. */
enum { FOUND_MAX = 8, FOUND_ALONE = -COPIES_MAX };
static int found_at_once = FOUND_ALONE;

static void compare_source(struct copy *copy)
{
    if (copy->direction != H2D || copy->compared)
        return;
    copy->compared = true;
    copy->changed = differs(copy, 0, UINTPTR_MAX);
    if (copy->snapshot == YES && copy->changed)
        expect(OVERWRITTEN, found_at_once == FOUND_ALONE || found_at_once++ < FOUND_MAX, copy);
    if (copy->snapshot == NO && kept_page_differs(copy))
        expect(OVERWRITTEN, copy->stable == YES && world.exact && !copy->unsure, copy);
}

/* One that may have had a snapshot or a guard: the one would find that the bytes changed, the other
 * has found the touch, and beside its pages that the bytes changed, too. */
static void conclude(struct copy *copy)
{
    bool both = copy->hit && copy->changed;
    if (copy->snapshot == MAYBE && (copy->hit || copy->changed))
        expect(OVERWRITTEN, both && world.exact && !copy->unsure, copy);
    if (copy->snapshot == MAYBE && both)
        expect(OVERWRITTEN, false, copy);
    unguard(copy);
}

static void forget_copy(struct copy *copy)
{
    if (!in_flight(copy))
        return;
    conclude(copy);
    copy->tracked = false;
}

static void know(const struct oracle_set *set)
{
    found_at_once = 0;
    for (int i = 0; i < world.copy_count; i++)
        if (in_flight(&world.copies[i]) && set->has[world.copies[i].node]) {
            compare_source(&world.copies[i]);
            conclude(&world.copies[i]);
        }
    found_at_once = FOUND_ALONE;
    oracle_know(&world.oracle, set);
}

/* From now on the bytes there change in order. Sources beside them may be on pages that will be
 * protected, and are compared while they can be read; if they are unchanged, once more later. */
static void seal(const struct copy *writer)
{
    uintptr_t start = page_of(writer->address), end = page_of(end_of(writer) + PAGE - 1);
    found_at_once = 0;
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        bool same = in_flight(copy) && reaches_into(copy, writer->address, end_of(writer));
        bool near = in_flight(copy) && reaches_into(copy, start, end) && is_found_changed(copy);
        if (same || near)
            compare_source(copy);
    }
    found_at_once = FOUND_ALONE;
}

/* A kernel may write what lies behind its address. What comes before it is compared, and what
 * changes there later may be the kernel's doing. `node`: the launch. */
static void seal_for_kernel(const struct copy *use, int node)
{
    struct oracle_set before = {{false}};
    oracle_reach(&world.oracle, node, &before);
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        if (in_flight(copy) && before.has[copy->node] && copy->buffer == use->buffer &&
            copy->life == use->life && end_of(copy) > use->address)
            compare_source(copy);
    }
}

/* ---- touches ---- */

static int code_of_hit(const struct copy *copy, bool write)
{
    if (writes_host(copy))
        return write ? WRITTEN_EARLY : READ_EARLY;
    return copy->graph ? GRAPH_OVERWRITTEN : OVERWRITTEN;
}

/* The copy is waited for if it is guarded, and guarded no more. */
static void hit(struct copy *copy, uintptr_t page, bool write)
{
    if (copy->snapshot == MAYBE)
        copy->hit = true;
    else
        expect(code_of_hit(copy, write),
               world.exact && !copy->unsure && !state_of(copy, page)->stepped, copy);
    if (state_of(copy, page)->stepped)
        return;
    copy->waited |= !copy->unsure;
    unguard(copy);
}

/* Behind a read that has left the page guarded, or has not. */
static void note_hits(uintptr_t address, uintptr_t end, bool write)
{
    uintptr_t page = page_of(address);
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        if (guards_page(copy, page, write) && state_of(copy, page)->stepped &&
            !has_byte_in(copy, address, address + 1) && has_byte_in(copy, address, end))
            hit(copy, page, write);
    }
}

/* Where a destination is guarded, a source on the same page cannot be read. */
static bool is_hidden(uintptr_t page)
{
    bool hidden = false;
    for (int i = 0; i < world.copy_count; i++)
        hidden |= writes_host(&world.copies[i]) && guards_page(&world.copies[i], page, true);
    return hidden;
}

static void let_go(struct copy *copy, uintptr_t page, bool hidden, bool write)
{
    struct page_state *state = state_of(copy, page);
    state->guarded = !write;
    state->stepped = !write;
    *place_of(page) = true;
    state->kept |= copy->stable && !copy->compared;
    copy->unsure |= hidden && copy->direction == H2D;
}

/* A touch from this address to the end of the page, or less: only the first byte faults. */
static void fault(uintptr_t address, bool write)
{
    uintptr_t page = page_of(address);
    bool hidden = is_hidden(page);
    enum surely faults = NO;
    for (int i = 0; i < world.copy_count; i++)
        if (guards_page(&world.copies[i], page, write)) {
            bool sure = world.copies[i].snapshot == NO && !world.copies[i].unsure &&
                        !state_of(&world.copies[i], page)->stepped;
            faults = sure || faults == YES ? YES : MAYBE;
        }
    for (int i = 0; i < world.copy_count && faults != NO; i++) {
        struct copy *copy = &world.copies[i];
        if (!is_guarded(copy) || (!write && !writes_host(copy)))
            continue;
        copy->unsure |=
            faults == MAYBE && copy->snapshot == NO && reaches_into(copy, page, page + PAGE);
        if (has_byte_in(copy, address, address + 1))
            hit(copy, page, write);
        else if (guards_page(copy, page, write))
            let_go(copy, page, hidden, write);
    }
}

/* A snapshot reads its source in the call; small pinned buffers share pages, and one of those may
 * be a destination. */
static void read_source(const struct copy *copy)
{
    for (uintptr_t page = page_of(copy->address); page < end_of(copy); page += PAGE) {
        uintptr_t first = first_byte_in(copy, page, page + PAGE);
        if (copy->snapshot == YES && first)
            fault(first, false);
        for (int i = 0; i < world.copy_count; i++)
            if (guards_page(&world.copies[i], page, false))
                world.copies[i].unsure = *place_of(page) = true;
    }
}

/* What a graph copies is guarded where it can be, and neither snapshotted nor compared. */
static void protect_launched(struct copy *copy)
{
    copy->snapshot = copy->stable = NO;
    memset(copy->pages, 0, sizeof copy->pages);
    choose_pages(copy);
}

static void protect(struct copy *copy)
{
    bool writers = false, overlap = false;
    copy->address = (uintptr_t)world.buffers[copy->buffer].bytes + copy->offset;
    for (int i = 0; i < world.copy_count; i++) {
        const struct copy *other = &world.copies[i];
        bool writer = in_flight(other) && writes_host(other) && is_on(other, copy->buffer);
        writers |= writer;
        overlap |= writer && reaches_into(other, copy->address, end_of(copy));
    }
    copy->snapshot = copy->stable = NO;
    if (copy->direction == H2D && !overlap)
        copy->stable = is_clear(copy->stream);
    if (copy->direction == H2D && !writers && world.healed && !copy->keeps_source &&
        may_have_snapshot(copy, SNAPSHOT_LARGE))
        copy->snapshot = is_clear(copy->stream);
    /* Of a large source the cheaper way is taken, as it was measured. */
    bool is_sure = may_have_snapshot(copy, SNAPSHOT_MAX) && !writes_what_is_freed();
    if (copy->snapshot == YES && !is_sure)
        copy->snapshot = MAYBE;
    if (copy->snapshot == MAYBE)
        copy->stable = NO; /* if it is not snapshotted, it is not stable either */
    memset(copy->pages, 0, sizeof copy->pages);
    if (copy->snapshot != YES)
        choose_pages(copy);
    if (copy->snapshot != NO)
        read_source(copy);
}

/* What was written under a copy that has neither a snapshot nor waited for the writer may get to
 * the device. */
static void taint(uintptr_t start, uintptr_t end)
{
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        bool safe = copy->snapshot == YES || copy->waited || world.oracle.nodes[copy->node].done ||
                    copy->direction != H2D;
        if (safe || !has_byte_in(copy, start, end) ||
            copy->life != world.buffers[copy->buffer].life)
            continue;
        copy->tainted = true;
        if (copy->graph)
            taint_cells(start, end);
    }
}

static void touch_bytes(struct buffer *buffer, size_t start, size_t end, bool write,
                        unsigned char change)
{
    volatile unsigned char *bytes = buffer->bytes;
    for (size_t i = start; i < end; i++)
        if (write) {
            buffer->expected[i] ^= change;
            bytes[i] = buffer->expected[i];
        } else {
            unsigned char found = bytes[i];
            if (data_is_defined() && found != buffer->expected[i])
                fail("the host read %02x, not %02x, at %zu of buffer %d", found,
                     buffer->expected[i], i, (int)(buffer - world.buffers));
        }
}

/* Page by page, in the model and then in the buffer. */
static void touch(int at, size_t offset, size_t size_bytes, bool write, unsigned char change)
{
    struct buffer *buffer = &world.buffers[at];
    uintptr_t base = (uintptr_t)buffer->bytes;
    for (size_t from = offset, to; from < offset + size_bytes; from = to) {
        to = page_of(base + from) + PAGE - base;
        if (to > offset + size_bytes)
            to = offset + size_bytes;
        fault(base + from, write);
        note_hits(base + from, base + to, write);
        if (write && change)
            taint(base + from, base + to);
        touch_bytes(buffer, from, to, write, change);
    }
}

/* Touches in any order that hurt nobody: pages are let go, as there are others on them. */
static void touch_beside(int at, bool write)
{
    uintptr_t base = (uintptr_t)world.buffers[at].bytes;
    for (uintptr_t from = base; from < base + world.buffers[at].size_bytes;
         from = page_of(from) + PAGE)
        fault(from, write);
}

#endif
