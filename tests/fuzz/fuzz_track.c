// timeout: 240
/* Random programs against the tracker, compared with an oracle that knows no vector clocks.
 *
 * A program is a string of bytes, four to an action: copies, other work, records, waits,
 * synchronises, frees, touches of the host, over two contexts with their legacy stream and three
 * more streams each; in half of the programs one of the contexts has no blocking stream at first.
 * The oracle (oracle.h) must agree with the tracker on which operations conflict at every issue,
 * which are in flight at every free, which hold ends next, and that nothing is left.
 *
 * The buffers are real memory, though nothing protects it: what the tracker wants protected is
 * written into a model of the pages, and a touch of the host looks there whether it would fault.
 * Bytes change by the hand of the host and of the device, and the tracker must find exactly the
 * sources that the host has changed under an operation as far as copies were made of them. Where
 * the kernel reads no memory for the tracker (qemu-user) nobody changes any.
 *
 *   fuzz_track [programs] [seed]    program i has the seed `seed + i`
 */
#include "common/hazard_words.h"
#include "common/pages.h"
#include "common/points.h"
#include "common/shape.h"
#include "common/unsure.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/comparisons.h"
#include "track/events.h"
#include "track/guarded.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/inflight_calls.h"
#include "track/op_info.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/staging.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/track_streams.h"
#include "track/track_views.h"
#include "track/tracker.h"

#include "oracle.h"
#include "tests/emulator.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 8, /* streams at a time: 0 and 1 are the contexts' legacy streams */
    EVENTS = 8,
    BUFFERS = 6,
    PAGE_BYTES = 0x1000,
    PAGES = 4, /* of a buffer */
    BUFFER_BYTES = PAGES * PAGE_BYTES,
    STAGING_SLOTS = 2, /* of each size */
    ACTIONS_MAX = 96,
};

struct action {
    uint8_t code, a, b, c;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* ---- the oracle's world ---- */

struct copy {
    int node;
    int stream;
    int buffer;
    int range; /* which life of the buffer's range, 0: none */
    bool tracked;
    bool complete;
    bool released; /* its pages may be touched, and stay protected until they are */
    bool landed;   /* what the device writes */
    struct sc_op_info info;
    struct sc_slot *slot;
    struct sc_slot *edge; /* of what lies before the guarded pages */
    bool stable;
    bool guarded[PAGES];              /* of its buffer */
    bool was_seen[PAGES];             /* when the page was let go */
    unsigned char seen[BUFFER_BYTES]; /* what a source had there, or at issue in its slot */
};

struct buffer {
    int range;
    enum sc_buffer_kind kind;
    bool unguardable;
};

struct hold {
    uint32_t id;
    enum sc_hold_kind kind;
    uintptr_t address;
    size_t size_bytes;
    bool ended;
    bool waits_for[ACTIONS_MAX]; /* copies */
};

static struct world {
    struct oracle graph;
    uint32_t ids[ORACLE_STREAMS_MAX]; /* of the graph's streams */
    struct copy copies[ACTIONS_MAX];
    struct hold holds[ACTIONS_MAX];
    struct buffer buffers[BUFFERS];
    enum sc_access pages[BUFFERS][PAGES]; /* as the kernel would have been told */
    struct sc_slot *staged[2 * STAGING_SLOTS];
    bool guard_until_known;
    bool heals; /* takes snapshots, and takes nothing down without a hold */
    int copy_count, hold_count, ranges_made;
    int slots[SLOTS];
    int events[EVENTS]; /* the node of the record */
    bool point_taken;
    struct sc_point point;
    struct oracle_set point_nodes;
    char complaint[256];
} world;

static struct sc_track tracker;
static struct sc_staging staging;
static unsigned char memory[BUFFERS][BUFFER_BYTES] __attribute__((aligned(PAGE_BYTES)));
static FILE *trace;

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain(const char *format, ...)
{
    va_list arguments;
    if (world.complaint[0])
        return;
    va_start(arguments, format);
    vsnprintf(world.complaint, sizeof world.complaint, format, arguments);
    va_end(arguments);
}

static void out_of_memory(void)
{
    fputs("no memory\n", stderr);
    exit(2);
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list arguments;
    if (!trace)
        return;
    va_start(arguments, format);
    vfprintf(trace, format, arguments);
    va_end(arguments);
    fputc('\n', trace);
}

static uintptr_t buffer_address(int buffer)
{
    return (uintptr_t)memory[buffer];
}

static uintptr_t event_handle(int event)
{
    return 0x1000 + (uintptr_t)event * 16;
}

static bool in_flight(const struct copy *copy)
{
    return copy->tracked && !world.graph.nodes[copy->node].done;
}

/* ---- host memory ---- */

static bool writes_host(const struct sc_op_info *info)
{
    return info->direction == SC_D2H || info->direction == SC_MEMSET;
}

static bool share_a_byte(const struct sc_shape *a, const struct sc_shape *b)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < b->rows; j++) {
            uintptr_t start_a = a->address + i * a->pitch_bytes;
            uintptr_t start_b = b->address + j * b->pitch_bytes;
            if (start_a < start_b + b->width_bytes && start_b < start_a + a->width_bytes)
                return true;
        }
    return false;
}

static struct sc_shape shape_in(int buffer, uint8_t choice)
{
    static const struct {
        size_t offset, width, pitch, rows;
    } shapes[16] = {
        {0x0000, 0x4000, 0x4000, 1}, {0x0000, 0x2000, 0x2000, 1}, {0x2000, 0x2000, 0x2000, 1},
        {0x0800, 0x1000, 0x1000, 1}, {0x17ff, 0x1, 0x1, 1},       {0x1800, 0x1, 0, 1},
        {0x0000, 0x100, 0x400, 16},  {0x0100, 0x100, 0x400, 16},  {0x0300, 0x100, 0x400, 15},
        {0x0080, 0x100, 0x400, 8},   {0x2000, 0x200, 0x800, 4},   {0x0000, 0x40, 0x600, 10},
        {0x0300, 0x180, 0x600, 3},   {0x0f00, 0x400, 0x400, 2},   {0x0300, 0x500, 0x500, 1},
        {0x0000, 0x4000, 0x4000, 1},
    };
    return (struct sc_shape){buffer_address(buffer) + shapes[choice % 16].offset,
                             shapes[choice % 16].width, shapes[choice % 16].pitch,
                             shapes[choice % 16].rows};
}

static size_t hull_bytes(const struct sc_shape *shape)
{
    return (shape->rows - 1) * shape->pitch_bytes + shape->width_bytes;
}

/* Frees go by the hull: from the first byte of the first row to the last of the last. */
static bool lies_in(const struct sc_op_info *info, uintptr_t address, size_t size_bytes)
{
    const struct sc_shape *shape = &info->shape;
    return shape->address < address + size_bytes && address < shape->address + hull_bytes(shape);
}

static bool equal_copies(const struct copy *a, const struct copy *b)
{
    const struct sc_shape *p = &a->info.shape;
    const struct sc_shape *q = &b->info.shape;
    return a->stream == b->stream && a->range == b->range && a->info.kind == b->info.kind &&
           a->info.direction == b->info.direction && p->address == q->address &&
           p->width_bytes == q->width_bytes && p->pitch_bytes == q->pitch_bytes &&
           p->rows == q->rows;
}

static bool is_heap(enum sc_buffer_kind kind)
{
    return kind == SC_REGISTERED || kind == SC_PAGEABLE;
}

/* ---- comparing ---- */

/* The copies' numbers travel in ticks. */
static void compare(const char *what, const struct sc_ops *found, const bool *expected)
{
    bool seen[ACTIONS_MAX] = {false};
    unsigned count = 0;
    for (int i = 0; i < world.copy_count; i++)
        count += expected[i];
    if (found->count != count)
        complain("%s: %u operations, not %u", what, found->count, count);
    for (unsigned i = 0; i < sc_ops_count_kept(found); i++) {
        const struct sc_op_info *info = &found->ops[i];
        const struct copy *copy = &world.copies[info->ticks];
        if (!expected[info->ticks] || seen[info->ticks])
            complain("%s: copy %d is wrong here", what, (int)info->ticks);
        if (info->ticket.stream != world.ids[copy->stream] ||
            info->ticket.number != copy->info.ticket.number ||
            memcmp(&info->shape, &copy->info.shape, sizeof info->shape) != 0)
            complain("%s: copy %d is described wrongly", what, (int)info->ticks);
        seen[info->ticks] = true;
    }
}

static void find_in_flight(uintptr_t address, size_t size_bytes, bool *expected)
{
    for (int i = 0; i < world.copy_count; i++)
        expected[i] =
            in_flight(&world.copies[i]) && lies_in(&world.copies[i].info, address, size_bytes);
}

/* `by_reaper`: leave out pinned memory, which is given back elsewhere. */
static bool is_held(uintptr_t address, size_t size_bytes, bool by_reaper)
{
    for (int i = 0; i < world.hold_count; i++)
        if (!world.holds[i].ended && world.holds[i].address < address + size_bytes &&
            address < world.holds[i].address + world.holds[i].size_bytes &&
            !(by_reaper && world.holds[i].kind == SC_HOLD_FREE_PINNED))
            return true;
    return false;
}

static void compare_buffer(int buffer)
{
    bool expected[ACTIONS_MAX] = {false};
    bool watched = is_held(buffer_address(buffer), BUFFER_BYTES, false);
    SC_OPS(found);
    struct sc_range_info range = sc_track_find_range(&tracker, buffer_address(buffer) + 1);
    if (!range.range != !world.buffers[buffer].range ||
        (range.range &&
         (range.kind != world.buffers[buffer].kind || range.address != buffer_address(buffer))))
        complain("the range of buffer %d is wrong", buffer);
    find_in_flight(buffer_address(buffer), BUFFER_BYTES, expected);
    LOCKED(&tracker,
           sc_inflight_find_in(&tracker.inflight, buffer_address(buffer), BUFFER_BYTES, &found));
    compare("in flight", &found, expected);
    for (int i = 0; i < world.copy_count; i++)
        watched |= expected[i] && is_heap(world.copies[i].info.kind);
    if (watched && !sc_track_may_have(&tracker, SC_NEAR_HEAP, buffer_address(buffer), BUFFER_BYTES))
        complain("buffer %d may well be busy", buffer);
    if (sc_track_is_held(&tracker, buffer_address(buffer), BUFFER_BYTES, SC_HOLDS_REAPERS) !=
        is_held(buffer_address(buffer), BUFFER_BYTES, true))
        complain("buffer %d is held, or not", buffer);
}

static bool is_complete(const struct copy *copy)
{
    return copy->complete || world.graph.nodes[copy->node].done;
}

/* Of each stream only the last operation counts. */
static unsigned count_awaited(const struct hold *hold)
{
    unsigned count = 0;
    for (int i = 0; i < world.copy_count; i++) {
        bool last = hold->waits_for[i] && !is_complete(&world.copies[i]);
        for (int j = i + 1; j < world.copy_count; j++)
            last &= !hold->waits_for[j] || world.copies[j].stream != world.copies[i].stream;
        count += last;
    }
    return count;
}

static void compare_watch(void)
{
    bool watch = false;
    unsigned awaited = 0;
    for (int i = 0; i < world.copy_count; i++)
        watch |= in_flight(&world.copies[i]) && is_heap(world.copies[i].info.kind);
    for (int i = 0; i < world.hold_count; i++) {
        watch |= !world.holds[i].ended;
        awaited += world.holds[i].ended ? 0 : count_awaited(&world.holds[i]);
    }
    if ((atomic_load(&tracker.front.libc_watch) != 0) != watch)
        complain("libc_watch is %d", !watch);
    if (LOCKED(&tracker, sc_holds_count_awaited(&tracker.holds)) != awaited)
        complain("holds wait for %u tickets, not %u",
                 LOCKED(&tracker, sc_holds_count_awaited(&tracker.holds)), awaited);
}

/* ---- bytes: who changed them ---- */

static bool changes_bytes = true;

static void fill(uintptr_t address, size_t size_bytes, int value)
{
    if (changes_bytes)
        memset((void *)address, value, size_bytes);
}

/* The device writes, some time between the issue and the moment when it is complete. */
static void land(struct copy *copy)
{
    const struct sc_shape *shape = &copy->info.shape;
    if (copy->landed || !in_flight(copy) || !writes_host(&copy->info))
        return;
    copy->landed = true;
    for (size_t row = 0; row < shape->rows; row++)
        fill(shape->address + row * shape->pitch_bytes, shape->width_bytes,
             4 + (int)copy->info.ticks % 3);
}

/* The bytes of the shape on one page of its buffer; none where the end is not behind the start. */
static uintptr_t part_on_page(const struct copy *copy, int page, uintptr_t *end)
{
    uintptr_t start = buffer_address(copy->buffer) + (uintptr_t)page * PAGE_BYTES;
    uintptr_t shape_end = copy->info.shape.address + hull_bytes(&copy->info.shape);
    *end = shape_end < start + PAGE_BYTES ? shape_end : start + PAGE_BYTES;
    return copy->info.shape.address > start ? copy->info.shape.address : start;
}

static void see_page(struct copy *copy, int page)
{
    uintptr_t end;
    uintptr_t start = part_on_page(copy, page, &end);
    if (copy->info.direction != SC_H2D || !copy->stable || copy->slot || start >= end)
        return;
    copy->was_seen[page] = true;
    memcpy(copy->seen + (start - copy->info.shape.address), (const void *)start, end - start);
}

/* Of the rows, from one address to the other. What lies between them is nobody's. */
static bool is_as_seen(const struct copy *copy, uintptr_t from, uintptr_t to)
{
    const struct sc_shape *shape = &copy->info.shape;
    bool same = true;
    for (size_t row = 0; row < shape->rows; row++) {
        uintptr_t start = shape->address + row * shape->pitch_bytes;
        uintptr_t end = start + shape->width_bytes < to ? start + shape->width_bytes : to;
        start = start > from ? start : from;
        if (start < end)
            same &= memcmp((const void *)start, copy->seen + (start - shape->address),
                           end - start) == 0;
    }
    return same;
}

/* As far as there is anything to compare with. */
static bool is_overwritten(const struct copy *copy)
{
    uintptr_t source = copy->info.shape.address;
    bool same = true;
    if (!in_flight(copy) || !copy->stable)
        return false;
    if (copy->slot)
        same = is_as_seen(copy, source, source + hull_bytes(&copy->info.shape));
    if (copy->edge)
        same &= memcmp((const void *)source, copy->seen, copy->info.edge_bytes[0]) == 0;
    for (int page = 0; page < PAGES; page++) {
        uintptr_t end;
        uintptr_t start = part_on_page(copy, page, &end);
        same &= !copy->was_seen[page] || is_as_seen(copy, start, end);
    }
    return !same;
}

static void unguard(struct copy *copy)
{
    memset(copy->guarded, 0, sizeof copy->guarded);
}

/* The tracker knows it no more. */
static void forget_copy(struct copy *copy)
{
    copy->tracked = false;
    unguard(copy);
}

/* From now on the bytes there change in order. Sources beside them on the same pages are compared
 * as well, and once more later if they are unchanged. */
static void seal(uintptr_t address, size_t size_bytes)
{
    bool expected[ACTIONS_MAX] = {false};
    uintptr_t start = address & -(uintptr_t)PAGE_BYTES;
    uintptr_t end = (address + size_bytes + PAGE_BYTES - 1) & -(uintptr_t)PAGE_BYTES;
    SC_OPS(overwritten);
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        expected[i] = lies_in(&copy->info, start, end - start) && is_overwritten(copy);
        if (expected[i] || (in_flight(copy) && lies_in(&copy->info, address, size_bytes)))
            copy->stable = false;
    }
    LOCKED(&tracker, sc_inflight_seal(&tracker.inflight, address, size_bytes, &overwritten));
    compare("overwritten at a seal", &overwritten, expected);
}

/* The host knows these nodes to be done; ends the point. */
static void know(const struct oracle_set *nodes, struct sc_point *point)
{
    bool expected[ACTIONS_MAX] = {false};
    SC_OPS(overwritten);
    for (int i = 0; i < world.copy_count; i++)
        if (nodes->has[world.copies[i].node])
            land(&world.copies[i]);
    for (int i = 0; i < world.copy_count; i++)
        expected[i] = nodes->has[world.copies[i].node] && is_overwritten(&world.copies[i]);
    oracle_know(&world.graph, nodes);
    struct sc_comparisons comparisons;
    sc_track_compare_sources(&tracker, point, &comparisons);
    sc_track_note_known(&tracker, point, &comparisons, &overwritten);
    compare("overwritten", &overwritten, expected);
    for (int i = 0; i < world.copy_count; i++)
        if (!in_flight(&world.copies[i]))
            unguard(&world.copies[i]);
}

/* ---- pages ---- */

static bool is_guarded(const struct copy *copy)
{
    bool guarded = false;
    for (int page = 0; page < PAGES; page++)
        guarded |= copy->guarded[page];
    return guarded;
}

static void obey(const struct sc_access_change *change)
{
    uintptr_t first = (change->address - buffer_address(0)) / PAGE_BYTES;
    uintptr_t count = change->size_bytes / PAGE_BYTES;
    if (change->address < buffer_address(0) || first + count > BUFFERS * PAGES ||
        (change->address | change->size_bytes) % PAGE_BYTES)
        complain("%zu bytes at %zx are to be protected", change->size_bytes,
                 (size_t)change->address);
    for (uintptr_t page = first; page < first + count && !world.complaint[0]; page++)
        world.pages[page / PAGES][page % PAGES] = change->access;
}

static void settle(void)
{
    struct sc_access_change change;
    while (LOCKED(&tracker, sc_guarded_apply(&tracker.inflight, 0, &change)))
        if (change.size_bytes)
            obey(&change);
}

static enum sc_access wanted(int buffer, int page)
{
    enum sc_access least = SC_ACCESS_ALL;
    for (int i = 0; i < world.copy_count; i++)
        if (world.copies[i].buffer == buffer && world.copies[i].guarded[page] &&
            world.copies[i].info.access > least)
            least = world.copies[i].info.access;
    return least;
}

static void compare_pages(void)
{
    settle();
    for (int buffer = 0; buffer < BUFFERS; buffer++)
        for (int page = 0; page < PAGES; page++)
            if (world.pages[buffer][page] != wanted(buffer, page))
                complain("page %d of buffer %d has access %d, not %d", page, buffer,
                         (int)world.pages[buffer][page], (int)wanted(buffer, page));
}

/* ---- touches ---- */

static bool is_protected_from(const struct copy *copy, enum sc_touch touch)
{
    return in_flight(copy) && is_guarded(copy) &&
           (touch == SC_TOUCH_WRITE || writes_host(&copy->info));
}

static bool forbids(const struct copy *copy, enum sc_touch touch)
{
    return is_protected_from(copy, touch) && !copy->released;
}

static void let_go(uintptr_t address, size_t size_bytes, enum sc_touch touch, bool keep_copies)
{
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        bool is_protected = is_protected_from(copy, touch);
        for (int page = 0; page < PAGES && is_protected; page++) {
            uintptr_t start = buffer_address(copy->buffer) + (uintptr_t)page * PAGE_BYTES;
            if (!copy->guarded[page] || start >= address + size_bytes ||
                address >= start + PAGE_BYTES)
                continue;
            if (keep_copies && !copy->released)
                see_page(copy, page);
            copy->guarded[page] = false;
        }
    }
    LOCKED(&tracker, sc_guarded_unprotect(&tracker.inflight, address, size_bytes, touch,
                                          keep_copies, SC_NO_VERDICT_NEIGHBOURS));
}

static void find_touched(uintptr_t address, size_t size_bytes, enum sc_touch touch, bool *expected)
{
    struct sc_shape touched = {address, size_bytes, size_bytes, 1};
    for (int i = 0; i < world.copy_count; i++)
        expected[i] =
            forbids(&world.copies[i], touch) && share_a_byte(&world.copies[i].info.shape, &touched);
}

/* As the guard does: whom the touch hurts is waited for and guarded no more, and the pages of
 * those that it passes by are let go. */
static void settle_touch(uintptr_t address, size_t size_bytes, enum sc_touch touch)
{
    SC_OPS(found);
    do {
        bool expected[ACTIONS_MAX] = {false};
        find_touched(address, size_bytes, touch, expected);
        LOCKED(&tracker,
               sc_guarded_find_touched(&tracker.inflight, address, size_bytes, touch, &found));
        compare("touched", &found, expected);
        LOCKED(&tracker, sc_guarded_end(&tracker.inflight, &found));
        for (unsigned i = 0; i < sc_ops_count_kept(&found); i++) {
            say("  it is early for copy %d", (int)found.ops[i].ticks);
            unguard(&world.copies[found.ops[i].ticks]);
        }
    } while (found.count && !world.complaint[0]);
    let_go(address, size_bytes, touch, true);
    compare_pages();
}

/* A byte at an end of a shape, the one beside it, or the whole hull. */
static size_t pick_touched(const struct action *action, uintptr_t *address)
{
    int buffer = action->b % BUFFERS;
    struct sc_shape shape = shape_in(buffer, action->c);
    uintptr_t last = shape.address + hull_bytes(&shape) - 1;
    const uintptr_t bytes[] = {shape.address, shape.address - 1, last, last + 1};
    unsigned which = action->a / 2 % 8;
    *address = which < 4 ? bytes[which] : shape.address;
    if (*address < buffer_address(buffer))
        *address = buffer_address(buffer) + PAGE_BYTES;
    if (*address >= buffer_address(buffer) + BUFFER_BYTES)
        *address = buffer_address(buffer);
    return which < 4 ? 1 : hull_bytes(&shape);
}

/* From page to page: each that is protected faults at the first byte that is touched there. */
static void fault_and_touch(int buffer, uintptr_t address, size_t size_bytes, enum sc_touch touch,
                            int value)
{
    enum sc_access enough = touch == SC_TOUCH_WRITE ? SC_ACCESS_ALL : SC_ACCESS_READ;
    for (uintptr_t at = address, next; at < address + size_bytes; at = next) {
        enum sc_access *access = &world.pages[buffer][(at - buffer_address(buffer)) / PAGE_BYTES];
        next = (at & -(uintptr_t)PAGE_BYTES) + PAGE_BYTES;
        if (next > address + size_bytes)
            next = address + size_bytes;
        if (*access > enough)
            settle_touch(at, 1, touch);
        if (*access > enough)
            complain("a touch does not come through");
        if (touch == SC_TOUCH_WRITE && value >= 0)
            fill(at, next - at, value);
    }
}

/* A value of -1 writes what is there. */
static int value_in(const struct action *action)
{
    return action->a / 16 % 4 - 1;
}

static void do_touch(const struct action *action)
{
    uintptr_t address;
    size_t size_bytes = pick_touched(action, &address);
    enum sc_touch touch = action->a & 1 ? SC_TOUCH_WRITE : SC_TOUCH_READ;
    say("the host %s %zu bytes at %zx of buffer %d", touch == SC_TOUCH_READ ? "reads" : "writes",
        size_bytes, (size_t)(address - buffer_address(action->b % BUFFERS)), action->b % BUFFERS);
    fault_and_touch(action->b % BUFFERS, address, size_bytes, touch, value_in(action));
}

/* The whole interval at once, before the kernel looks at it. */
static void do_system_call(const struct action *action)
{
    uintptr_t address;
    size_t size_bytes = pick_touched(action, &address);
    enum sc_touch touch = action->a & 1 ? SC_TOUCH_WRITE : SC_TOUCH_READ;
    say("a system call %s %zu bytes at %zx of buffer %d",
        touch == SC_TOUCH_READ ? "reads" : "writes", size_bytes,
        (size_t)(address - buffer_address(action->b % BUFFERS)), action->b % BUFFERS);
    settle_touch(address, size_bytes, touch);
    if (touch == SC_TOUCH_WRITE && value_in(action) >= 0)
        fill(address, size_bytes, value_in(action));
}

/* A synchronous copy into the buffer: the driver writes it, in order. */
static void do_seal(const struct action *action)
{
    uintptr_t address;
    size_t size_bytes = pick_touched(action, &address);
    say("a synchronous copy writes %zu bytes at %zx of buffer %d", size_bytes,
        (size_t)(address - buffer_address(action->b % BUFFERS)), action->b % BUFFERS);
    seal(address, size_bytes);
    fill(address, size_bytes, 7);
}

/* The driver is about to look at pages; or they may not be protected at all; or the process ends.
 */
static void do_let_go(const struct action *action)
{
    int buffer = action->b % BUFFERS;
    uintptr_t address;
    size_t size_bytes = pick_touched(action, &address);
    switch (action->a / 16 % 8) {
    case 0:
        say("all pages are let go");
        for (int i = 0; i < world.copy_count; i++)
            unguard(&world.copies[i]);
        LOCKED(&tracker, sc_guarded_end_all(&tracker.inflight));
        break;
    case 1:
        say("buffer %d may not be guarded", buffer);
        for (int i = 0; i < world.copy_count; i++)
            if (world.copies[i].buffer == buffer)
                unguard(&world.copies[i]);
        LOCKED(&tracker, sc_guarded_set(&tracker.inflight, buffer_address(buffer), BUFFER_BYTES,
                                        SC_GUARDING_FORBIDDEN));
        world.buffers[buffer].unguardable = true;
        break;
    default:
        say("the driver looks at %zu bytes at %zx of buffer %d", size_bytes,
            (size_t)(address - buffer_address(buffer)), buffer);
        let_go(address, size_bytes, SC_TOUCH_WRITE, true);
    }
}

/* ---- actions ---- */

static int stream_in(uint8_t slot)
{
    return world.slots[slot % SLOTS];
}

static uint32_t id_of(int stream)
{
    return world.ids[stream];
}

static void add_stream(int slot, enum oracle_kind kind, int context)
{
    static const enum sc_stream_kind kinds[] = {[ORACLE_NONBLOCKING] = SC_STREAM_NONBLOCKING,
                                                [ORACLE_BLOCKING] = SC_STREAM_BLOCKING,
                                                [ORACLE_LEGACY] = SC_STREAM_LEGACY};
    int stream = oracle_add_stream(&world.graph, kind, context);
    uint32_t legacy = kind == ORACLE_LEGACY ? 0 : id_of(world.slots[context]);
    world.ids[stream] =
        sc_track_add_stream(&tracker, kinds[kind], legacy, 0x100u + (unsigned)slot, context);
    world.slots[slot] = stream;
}

static bool conflict(const struct copy *earlier, const struct copy *later,
                     const struct oracle_set *before)
{
    return in_flight(earlier) && earlier->stream != later->stream && !before->has[earlier->node] &&
           (writes_host(&earlier->info) || writes_host(&later->info)) && !earlier->info.unsure &&
           !later->info.unsure && share_a_byte(&earlier->info.shape, &later->info.shape);
}

/* Pages of a registration that begins in the middle of one are not its own. */
static void choose_guard(struct copy *copy)
{
    struct sc_op_info *info = &copy->info;
    uintptr_t start = info->shape.address & -(uintptr_t)PAGE_BYTES;
    uintptr_t end = info->shape.address + hull_bytes(&info->shape) + PAGE_BYTES - 1;
    end &= -(uintptr_t)PAGE_BYTES;
    if (info->kind == SC_REGISTERED && start == buffer_address(copy->buffer)) {
        start += PAGE_BYTES;
        info->shares_pages = true;
    }
    if (start >= end)
        return;
    info->access = writes_host(info) ? SC_ACCESS_NONE : SC_ACCESS_READ;
    info->guard_address = start;
    info->guard_bytes = end - start;
    for (uintptr_t page = start; page < end; page += PAGE_BYTES)
        copy->guarded[(page - buffer_address(copy->buffer)) / PAGE_BYTES] = true;
}

/* An operation keeps its slot until it is forgotten, and the device reads it until it is complete.
 */
static bool is_free(const struct sc_slot *slot)
{
    for (int i = 0; i < world.copy_count; i++)
        if ((world.copies[i].slot == slot || world.copies[i].edge == slot) &&
            (in_flight(&world.copies[i]) || !is_complete(&world.copies[i])))
            return false;
    return true;
}

/* What the device is still to write cannot be snapshotted, nor anything of its range. */
static bool is_in_the_way(const struct copy *writer, const struct copy *copy,
                          const struct sc_shape *shape)
{
    const struct sc_shape *written = &writer->info.shape;
    bool meet = written->address < shape->address + hull_bytes(shape) &&
                shape->address < written->address + hull_bytes(written);
    return in_flight(writer) && writes_host(&writer->info) &&
           ((copy->range && writer->range == copy->range) || (writer->range == 0 && meet));
}

static bool may_take_slot(const struct copy *copy, const struct sc_shape *shape)
{
    size_t size_bytes = shape->rows * shape->width_bytes;
    for (int i = 0; i < world.copy_count; i++)
        if (is_in_the_way(&world.copies[i], copy, shape))
            return false;
    for (int i = 0; i < 2 * STAGING_SLOTS; i++)
        if (is_free(world.staged[i]) &&
            size_bytes <= staging.classes[world.staged[i]->size_class].slot_bytes)
            return true;
    return false;
}

static struct sc_slot *take_slot(const struct copy *copy, const struct sc_shape *shape)
{
    const struct sc_fold no_fold = {0, 0};
    const struct sc_slot_source source = {copy->info.ticket.stream, copy->info.range,
                                          copy->info.kind, shape, &no_fold};
    bool expected = may_take_slot(copy, shape);
    struct sc_slot *slot = NULL;
    struct sc_staging_block missing;
    int result = sc_track_take_slot(&tracker, &staging, &source, &slot, &missing);
    if (result == -ENOSPC && expected) { /* other streams may have kept one */
        sc_staging_release_all_kept(&tracker.order);
        result = sc_track_take_slot(&tracker, &staging, &source, &slot, &missing);
    }
    if ((slot != NULL) != expected || (slot != NULL) != (result == 0))
        complain("a slot was %s", slot ? "handed out" : "not to be had");
    else if (slot && !is_free(slot))
        complain("a slot was handed out that is still read");
    return slot;
}

/* The first page is not guarded: what the copy reads there may be sent from a snapshot. */
static void take_edge(struct copy *copy)
{
    struct sc_op_info *info = &copy->info;
    struct sc_shape edge = {info->shape.address, info->guard_address - info->shape.address, 0, 1};
    if (!world.heals || !info->stable || !info->shares_pages || !info->guard_bytes ||
        info->direction != SC_H2D || info->shape.rows != 1 ||
        info->guard_address <= info->shape.address)
        return;
    copy->edge = info->edges[0] = take_slot(copy, &edge);
    info->edge_bytes[0] = (uint32_t)edge.width_bytes;
    if (copy->edge) {
        memcpy(copy->edge->bytes, (const void *)edge.address, edge.width_bytes);
        memcpy(copy->seen, (const void *)edge.address, edge.width_bytes);
    }
}

/* In the order of the library: the snapshot, or else the guard. `choice` has four bits. */
static void protect_copy(struct copy *copy, unsigned choice)
{
    struct sc_op_info *info = &copy->info;
    info->stable = copy->range != 0 && choice % 4 != 3;
    if (world.heals && info->stable && info->direction == SC_H2D && choice & 8)
        copy->slot = info->slot = take_slot(copy, &info->shape);
    if (copy->slot) {
        for (size_t row = 0; row < info->shape.rows; row++)
            memcpy((char *)copy->slot->bytes + row * info->shape.width_bytes,
                   (const void *)(info->shape.address + row * info->shape.pitch_bytes),
                   info->shape.width_bytes);
        memcpy(copy->seen, (const void *)info->shape.address, hull_bytes(&info->shape));
    } else if (copy->range && !world.buffers[copy->buffer].unguardable && choice / 2 != 2) {
        choose_guard(copy);
        take_edge(copy);
    }
}

/* Behind an operation that is still to write them the bytes are not there yet. */
static bool is_stable(const struct copy *copy)
{
    bool stable = copy->info.stable && copy->info.direction == SC_H2D;
    for (int i = 0; i < world.copy_count && stable; i++)
        stable = !in_flight(&world.copies[i]) || !writes_host(&world.copies[i].info) ||
                 !lies_in(&world.copies[i].info, copy->info.shape.address,
                          hull_bytes(&copy->info.shape));
    return stable;
}

/* Whose record becomes the new copy's. One that still reads the source itself keeps its record
 * where the new one reads a snapshot. */
static struct copy *predecessor_of(const struct copy *copy)
{
    struct copy *latest = NULL;
    for (int i = 0; i < world.copy_count; i++)
        if (world.copies[i].tracked && equal_copies(&world.copies[i], copy))
            latest = &world.copies[i];
    bool stays = latest && copy->slot && !latest->slot && !is_complete(latest);
    return stays ? NULL : latest;
}

static void issue_copy(struct copy *copy, const bool *conflicts)
{
    bool overwritten[ACTIONS_MAX] = {false};
    SC_ISSUED(issued);
    struct sc_order_call call;
    struct copy *predecessor = predecessor_of(copy);
    if (predecessor)
        overwritten[predecessor - world.copies] = is_overwritten(predecessor);
    copy->stable = is_stable(copy);
    if (copy->info.shares_pages && !copy->edge)
        see_page(copy, 0);
    sc_track_begin_call(&tracker, copy->info.ticket.stream, &call);
    sc_track_issue(&tracker, &call, &copy->info, 1, &issued);
    compare("conflicts at issue", &issued.conflicts, conflicts);
    compare("overwritten at issue", &issued.overwritten, overwritten);
    if (predecessor)
        forget_copy(predecessor);
}

static struct copy *draw_copy(const struct action *action)
{
    static const enum sc_direction directions[4] = {SC_H2D, SC_D2H, SC_H2D, SC_MEMSET};
    struct copy *copy = &world.copies[world.copy_count];
    memset(copy, 0, sizeof *copy);
    copy->stream = stream_in(action->a);
    copy->buffer = action->b % BUFFERS;
    copy->range = world.buffers[copy->buffer].range;
    copy->tracked = true;
    copy->info = (struct sc_op_info){
        .api = "copy",
        .shape = shape_in(copy->buffer, action->c),
        .ticket.stream = id_of(copy->stream),
        .direction = directions[action->b / 64],
        .kind = world.buffers[copy->buffer].kind,
        .ticks = (uint64_t)world.copy_count,
        .range = sc_track_find_range(&tracker, buffer_address(copy->buffer)).range,
        .access = SC_ACCESS_ALL,
        .unsure = action->a & 0x40 ? SC_UNSURE_WAITS : 0,
    };
    return copy;
}

/* What would come before work issued now, which is not. */
static void reach_next(int stream, struct oracle_set *before)
{
    struct oracle_stream *on = &world.graph.streams[stream], kept = *on;
    oracle_reach(&world.graph, oracle_add_node(&world.graph, stream), before);
    world.graph.node_count--;
    *on = kept;
}

/* A call that touches the bytes itself is no operation. */
static void do_meet(const struct action *action)
{
    const struct copy *call = draw_copy(action);
    struct oracle_set before = {{false}};
    bool met[ACTIONS_MAX] = {false}, awaited[ACTIONS_MAX] = {false};
    SC_OPS(found);
    reach_next(call->stream, &before);
    for (int i = 0; i < world.copy_count; i++) {
        const struct copy *copy = &world.copies[i];
        met[i] = conflict(copy, call, &before);
        awaited[i] = met[i] && !copy->slot && !is_complete(copy);
    }
    say("a call on stream %d: buffer %d, %s", call->stream, call->buffer,
        sc_hazard_direction_string(call->info.direction));
    sc_track_conflicts(&tracker, &call->info, false, &found);
    compare("met", &found, met);
    sc_track_conflicts(&tracker, &call->info, true, &found);
    compare("awaited", &found, awaited);
}

static void do_copy(const struct action *action)
{
    struct copy *copy = draw_copy(action);
    struct oracle_set before = {{false}};
    bool expected[ACTIONS_MAX] = {false};
    SC_OPS(conflicts);
    copy->node = oracle_add_node(&world.graph, copy->stream);
    oracle_reach(&world.graph, copy->node, &before);
    for (int i = 0; i < world.copy_count; i++)
        expected[i] = conflict(&world.copies[i], copy, &before);
    sc_track_conflicts(&tracker, &copy->info, false, &conflicts);
    compare("conflicts", &conflicts, expected);
    if (writes_host(&copy->info))
        seal(copy->info.shape.address, hull_bytes(&copy->info.shape));
    protect_copy(copy, action->c / 16);
    say("copy %d: stream %d, buffer %d, %s, shape %d%s%s%s", world.copy_count, copy->stream,
        copy->buffer, sc_hazard_direction_string(copy->info.direction), action->c % 16,
        copy->info.stable ? "" : ", behind a kernel", copy->slot ? ", from a snapshot" : "",
        copy->info.guard_bytes ? copy->edge ? ", guarded, with an edge" : ", guarded" : "");
    issue_copy(copy, expected);
    world.copy_count++;
    if (action->a & 0x80)
        land(copy);
}

/* The driver refuses a copy that was to read a snapshot. */
static void do_refused_copy(const struct action *action)
{
    struct copy *copy = draw_copy(action);
    if (!copy->range)
        return;
    struct sc_slot *slot = take_slot(copy, &copy->info.shape);
    say("a copy that is refused%s", slot ? ", a slot goes back" : "");
    if (slot)
        LOCKED(&tracker, sc_staging_put_back(slot));
}

static void do_work(const struct action *action)
{
    say("work: stream %d", stream_in(action->a));
    oracle_add_node(&world.graph, stream_in(action->a));
    LOCKED(&tracker, sc_order_note_work(&tracker.order, id_of(stream_in(action->a))));
}

/* Records the event as wrappers do on a stream without ties. False: it has some, or the event
 * stands for more than a number. */
static bool record_simply(uint32_t stream, int event)
{
    return !sc_order_is_tied(&tracker.order, stream, SC_TIE_KIND | SC_TIE_DUE | SC_TIE_JOINED) &&
           sc_events_set_simple(&tracker.events, event_handle(event), stream,
                                sc_order_issued(&tracker.order, stream), 0);
}

static void do_record(const struct action *action)
{
    int event = action->b % EVENTS;
    struct sc_order_call call;
    struct sc_point point;
    if (action->c & 1 && record_simply(id_of(stream_in(action->a)), event)) {
        say("simple record: stream %d, event %d", stream_in(action->a), event);
        world.events[event] = oracle_add_record(&world.graph, stream_in(action->a));
        return;
    }
    sc_track_begin_record(&tracker, id_of(stream_in(action->a)), &call, &point);
    sc_track_end_record(&tracker, &call, true);
    say("record: stream %d, event %d", stream_in(action->a), event);
    world.events[event] = oracle_add_record(&world.graph, stream_in(action->a));
    sc_track_set_event(&tracker, event_handle(event), &point);
}

static void do_wait(const struct action *action)
{
    int event = action->b % EVENTS;
    say("wait: stream %d, event %d", stream_in(action->a), event);
    oracle_add_wait(&world.graph, stream_in(action->a), world.events[event]);
    struct sc_event_number number;
    struct sc_wait wait;
    if (action->c & 1 &&
        !sc_order_is_tied(&tracker.order, id_of(stream_in(action->a)), SC_TIE_KIND | SC_TIE_DUE) &&
        sc_track_known_event(&tracker, event_handle(event), &number))
        return; /* as wrappers of simple waits, which have nothing to note */
    sc_track_begin_wait(&tracker, id_of(stream_in(action->a)), event_handle(event), &wait);
    sc_track_end_wait(&tracker, &wait, true);
}

/* Events of contexts, with all streams there. */
static void do_context_record(const struct action *action)
{
    int event = action->b % EVENTS;
    int legacy = world.slots[action->a % 2];
    struct sc_point point =
        LOCKED(&tracker, sc_order_context_record(&tracker.order, id_of(legacy)));
    say("record: context %d, event %d", action->a % 2, event);
    world.events[event] = oracle_add_context_record(&world.graph, legacy);
    sc_track_set_event(&tracker, event_handle(event), &point);
}

static void do_context_wait(const struct action *action)
{
    int event = action->b % EVENTS;
    int legacy = world.slots[action->a % 2];
    say("wait: context %d, event %d", action->a % 2, event);
    oracle_add_context_wait(&world.graph, legacy, world.events[event]);
    struct sc_point point = sc_track_event_point(&tracker, event_handle(event));
    LOCKED(&tracker, sc_order_note_context_wait(&tracker.order, id_of(legacy), &point));
    sc_track_release_point(&tracker, &point);
}

/* A successful query is the same to the tracker, here and below. */
static void do_event_sync(const struct action *action)
{
    int event = action->b % EVENTS;
    struct oracle_set reached = {{false}};
    struct sc_point point = sc_track_event_point(&tracker, event_handle(event));
    say("synchronise event %d", event);
    oracle_reach(&world.graph, world.events[event], &reached);
    know(&reached, &point);
}

/* What a synchronise of this scope waits for, as of now. */
static void reach_scope(int stream, enum sc_scope scope, struct oracle_set *reached)
{
    static const enum oracle_scope scopes[] = {[SC_SCOPE_STREAM] = ORACLE_STREAM_SCOPE,
                                               [SC_SCOPE_LEGACY] = ORACLE_LEGACY_SCOPE,
                                               [SC_SCOPE_CONTEXT] = ORACLE_CONTEXT_SCOPE};
    oracle_reach_scope(&world.graph, stream, scopes[scope], reached);
}

/* The tracker is not told of a wait for a stream, or a context, that is settled. */
static void settled(int stream, const struct oracle_set *nodes)
{
    for (int i = 0; i < world.copy_count; i++)
        if (nodes->has[world.copies[i].node] && in_flight(&world.copies[i]))
            complain("stream %d is settled, and copy %d of it in flight", stream, i);
    oracle_know(&world.graph, nodes);
}

static void sync_scope(int stream, enum sc_scope scope)
{
    struct oracle_set reached;
    reach_scope(stream, scope, &reached);
    if ((scope == SC_SCOPE_STREAM && sc_order_is_all_known(&tracker.order, id_of(stream))) ||
        (scope == SC_SCOPE_CONTEXT && sc_track_is_context_known(&tracker, id_of(stream)))) {
        settled(stream, &reached);
    } else {
        struct sc_point point = sc_track_sync_point(&tracker, id_of(stream), scope);
        know(&reached, &point);
    }
}

static void do_stream_sync(const struct action *action)
{
    int stream = stream_in(action->a);
    bool legacy = world.graph.streams[stream].kind == ORACLE_LEGACY;
    say("synchronise %sstream %d", legacy ? "legacy " : "", stream);
    sync_scope(stream, legacy && action->b & 1 ? SC_SCOPE_LEGACY : SC_SCOPE_STREAM);
}

static void do_legacy_sync(const struct action *action)
{
    say("synchronise legacy of context %d", action->a % 2);
    sync_scope(world.slots[action->a % 2], SC_SCOPE_LEGACY);
}

static void do_context_sync(const struct action *action)
{
    say("synchronise context %d", action->a % 2);
    sync_scope(world.slots[action->a % 2], SC_SCOPE_CONTEXT);
}

/* A synchronise that takes its time: other actions come between its start and its return. */
static void do_slow_sync(const struct action *action)
{
    if (!world.point_taken) {
        enum sc_scope scope = (enum sc_scope)(action->b % 3);
        int stream = stream_in(action->a);
        say("begin to synchronise scope %d of stream %d", (int)scope, stream);
        world.point = sc_track_sync_point(&tracker, id_of(stream), scope);
        reach_scope(stream, scope, &world.point_nodes);
    } else if (action->c % 4) {
        say("end that synchronise");
        know(&world.point_nodes, &world.point);
    } else {
        say("that synchronise fails");
        sc_track_release_point(&tracker, &world.point);
    }
    world.point_taken = !world.point_taken;
}

static void do_recycle(const struct action *action)
{
    int slot = 2 + action->a % (SLOTS - 2);
    enum oracle_kind kind = action->b & 1 ? ORACLE_BLOCKING : ORACLE_NONBLOCKING;
    int context = action->b >> 1 & 1;
    say("destroy stream %d; stream %d is %sblocking, context %d", world.slots[slot],
        world.graph.stream_count, kind == ORACLE_BLOCKING ? "" : "non-", context);
    sc_track_remove_stream(&tracker, id_of(world.slots[slot]));
    add_stream(slot, kind, context);
}

static void do_event_destroy(const struct action *action)
{
    say("destroy event %d", action->b % EVENTS);
    world.events[action->b % EVENTS] = ORACLE_NONE;
    LOCKED(&tracker,
           sc_events_forget(&tracker.events, &tracker.order, event_handle(action->b % EVENTS)));
}

/* Another allocation at the same address; pageable memory has no range. */
static void renew_buffer(int buffer, uint8_t choice)
{
    static const enum sc_buffer_kind kinds[4] = {SC_PINNED, SC_REGISTERED, SC_PINNED, SC_PAGEABLE};
    enum sc_buffer_kind kind = kinds[choice % 4];
    world.buffers[buffer] =
        (struct buffer){kind == SC_PAGEABLE ? 0 : ++world.ranges_made, kind, false};
    if (kind != SC_PAGEABLE)
        sc_track_add_range(&tracker, buffer_address(buffer), BUFFER_BYTES, kind, 0, 0);
}

/* The driver takes the range back behind our back: what is on it stays in flight, on no range. */
static void do_replace_range(const struct action *action)
{
    int buffer = action->b % BUFFERS;
    say("replace the range of buffer %d by one of kind %d", buffer, action->c % 4);
    for (int i = 0; i < world.copy_count; i++)
        if (world.copies[i].buffer == buffer)
            world.copies[i].range = 0;
    if (action->a & 1 || action->c % 4 == 3)
        LOCKED(&tracker, sc_inflight_remove_range_at(&tracker.inflight, buffer_address(buffer)));
    renew_buffer(buffer, action->c);
}

static void remember_hold(const struct sc_deallocation *request, const bool *expected)
{
    struct hold *hold = &world.holds[world.hold_count++];
    *hold = (struct hold){.id = request->held,
                          .kind = request->kind,
                          .address = request->address,
                          .size_bytes = request->size_bytes};
    for (int i = 0; i < world.copy_count; i++) /* the device reads the slot, not the memory */
        hold->waits_for[i] =
            expected[i] && (!world.copies[i].slot || sc_hold_is_drivers(request->kind));
}

/* Memory between the rows of a copy is held, too, and is nobody's mistake. */
static void take_down(struct sc_deallocation *request)
{
    const struct sc_shape taken = {request->address, request->size_bytes, request->size_bytes, 1};
    bool expected[ACTIONS_MAX] = {false}, hurt[ACTIONS_MAX];
    bool any = is_held(request->address, request->size_bytes, false);
    find_in_flight(request->address, request->size_bytes, expected);
    for (int i = 0; i < world.copy_count; i++) {
        any |= expected[i];
        hurt[i] = expected[i] && share_a_byte(&world.copies[i].info.shape, &taken);
    }
    bool full = request->kind != SC_HOLD_WAIT && request->max_held_bytes == 0;
    sc_track_deallocate(&tracker, request);
    compare("take down", &request->found, hurt);
    if ((request->held != 0) != (request->hold && any && !full))
        complain("take down: hold %u", request->held);
    if (request->must_wait != (request->hold && any && full))
        complain("take down: must_wait is %d", request->must_wait);
    for (int i = 0; i < world.copy_count && !request->must_wait; i++)
        if (expected[i])
            forget_copy(&world.copies[i]);
    if (request->held)
        remember_hold(request, expected);
}

static void do_free(const struct action *action)
{
    static const enum sc_hold_kind kinds[4] = {SC_HOLD_FREE, SC_HOLD_UNMAP, SC_HOLD_FREE_PINNED,
                                               SC_HOLD_WAIT};
    int buffer = action->b % BUFFERS;
    SC_DEALLOCATION request = {
        .address = buffer_address(buffer),
        .size_bytes = BUFFER_BYTES,
        .hold = world.heals || action->a & 1,
        .kind = kinds[action->a / 2 % 4],
        .max_held_bytes = action->a >> 5 ? UINT64_MAX : 0,
    };
    say("free buffer %d, %s, kind %d, max_held %s; then it has kind %d", buffer,
        request.hold ? "hold" : "no hold", (int)request.kind,
        request.max_held_bytes ? "enough" : "0", action->c % 4);
    take_down(&request);
    if (request.must_wait)
        return;
    LOCKED(&tracker, sc_inflight_remove_range_at(&tracker.inflight, request.address));
    renew_buffer(buffer, action->c);
}

static void do_unmap_part(const struct action *action)
{
    SC_DEALLOCATION request = {
        .address = buffer_address(action->b % BUFFERS) + (action->c % 16) * 0x400u,
        .size_bytes = 0x200 + (size_t)(action->c / 16) * 0x400,
        .hold = world.heals || action->a & 1,
        .kind = SC_HOLD_UNMAP,
        .max_held_bytes = UINT64_MAX,
    };
    say("unmap %zx bytes at %zx of buffer %d, %s", request.size_bytes,
        (size_t)(request.address - buffer_address(action->b % BUFFERS)), action->b % BUFFERS,
        request.hold ? "hold" : "no hold");
    take_down(&request);
}

/* The device is done with a copy and all before it on its stream; the host does not know. */
static void do_complete(const struct action *action)
{
    if (world.copy_count == 0)
        return;
    int last = action->a % world.copy_count;
    const struct copy *copy = &world.copies[last];
    bool recycled = true;
    for (int slot = 0; slot < SLOTS; slot++)
        recycled &= world.slots[slot] != copy->stream;
    if (recycled && !in_flight(copy))
        return;
    say("copy %d is complete", last);
    for (int i = 0; i <= last; i++)
        if (world.copies[i].stream == copy->stream) {
            land(&world.copies[i]);
            world.copies[i].complete = true;
            world.copies[i].released = !world.guard_until_known;
        }
    sc_track_note_complete(&tracker, id_of(copy->stream), copy->info.ticket.number);
}

static bool is_ready(const struct hold *hold)
{
    bool ready = !hold->ended && count_awaited(hold) == 0;
    for (const struct hold *older = world.holds; older < hold; older++)
        ready &= older->ended || older->address >= hold->address + hold->size_bytes ||
                 hold->address >= older->address + older->size_bytes;
    return ready;
}

/* What is complete on memory that goes back has no owner any more. */
static void forget_complete(const struct hold *hold)
{
    bool there[ACTIONS_MAX] = {false};
    if (hold->kind == SC_HOLD_WAIT)
        return;
    find_in_flight(hold->address, hold->size_bytes, there);
    for (int i = 0; i < world.copy_count; i++)
        if (there[i] && is_complete(&world.copies[i]))
            forget_copy(&world.copies[i]);
}

static void do_reap(const struct action *action)
{
    int at = 0;
    (void)action;
    struct sc_release release = sc_track_take_ready(&tracker, 0);
    while (at < world.hold_count && !is_ready(&world.holds[at]))
        at++;
    if (release.hold != (at < world.hold_count ? world.holds[at].id : 0)) {
        complain("hold %u is ready, not hold %d", release.hold, at);
        return;
    }
    if (!release.hold)
        return;
    say("give back hold %d", at);
    if (release.kind != world.holds[at].kind || release.address != world.holds[at].address ||
        release.size_bytes != world.holds[at].size_bytes)
        complain("hold %d is described wrongly", at);
    world.holds[at].ended = true;
    forget_complete(&world.holds[at]);
    LOCKED(&tracker, sc_holds_end(&tracker.holds, release.hold));
}

/* The weights add up to 256: every value of `code` is an action. */
static const struct {
    unsigned weight;
    void (*run)(const struct action *action);
} menu[] = {
    {54, do_copy},          {12, do_work},        {20, do_record},      {22, do_wait},
    {4, do_context_record}, {4, do_context_wait}, {10, do_event_sync},  {10, do_stream_sync},
    {4, do_legacy_sync},    {4, do_context_sync}, {10, do_slow_sync},   {10, do_recycle},
    {4, do_event_destroy},  {14, do_free},        {5, do_unmap_part},   {5, do_replace_range},
    {8, do_complete},       {5, do_reap},         {22, do_touch},       {5, do_system_call},
    {3, do_seal},           {10, do_let_go},      {3, do_refused_copy}, {8, do_meet},
};

static void perform(const struct action *action)
{
    unsigned choice = action->code;
    for (size_t i = 0; i < sizeof menu / sizeof *menu; i++) {
        if (choice < menu[i].weight) {
            menu[i].run(action);
            return;
        }
        choice -= menu[i].weight;
    }
}

/* ---- programs ---- */

/* Little of it, so that it runs out. */
static void begin_staging(void)
{
    static unsigned char *bytes[SC_STAGING_CLASSES];
    static struct sc_slot *records[SC_STAGING_CLASSES];
    struct sc_slot *slot;
    unsigned left[SC_STAGING_CLASSES] = {0};
    static const size_t sizes[SC_STAGING_CLASSES] = {1, BUFFER_BYTES};
    sc_staging_init(&staging, &tracker.order, BUFFER_BYTES);
    for (int c = 0; c < SC_STAGING_CLASSES; c++) {
        struct sc_staging_block block;
        if (!sc_staging_next_block(&staging, sizes[c], &block))
            abort();
        if (!bytes[c])
            bytes[c] = malloc(block.bytes);
        if (!records[c])
            records[c] = malloc(block.record_bytes);
        if (!bytes[c] || !records[c])
            out_of_memory();
        sc_staging_add(&staging, &block, bytes[c], records[c]);
    }
    while ((slot = sc_staging_take(&staging, 1)) != NULL)
        if (left[slot->size_class] < STAGING_SLOTS)
            world.staged[slot->size_class * STAGING_SLOTS + left[slot->size_class]++] = slot;
    for (int i = 0; i < 2 * STAGING_SLOTS; i++)
        sc_staging_release(world.staged[i], &world.staged[i]->ticket);
}

static void begin_world(const struct action *first)
{
    memset(world.complaint, 0, sizeof world.complaint);
    memset(world.pages, 0, sizeof world.pages);
    memset(memory, 0, sizeof memory);
    oracle_begin(&world.graph);
    world.copy_count = world.hold_count = world.ranges_made = 0;
    world.point_taken = false;
    if (sc_track_init(&tracker))
        out_of_memory();
    tracker.inflight.guards.page_mask = PAGE_BYTES - 1;
    tracker.inflight.guard_until_known = world.guard_until_known = first->c & 1;
    world.heals = first->c & 6;
    begin_staging();
    add_stream(0, ORACLE_LEGACY, 0);
    add_stream(1, ORACLE_LEGACY, 1);
    for (int slot = 2; slot < SLOTS; slot++) {
        bool is_blocking = slot < 6 && !(first->c & 8 && slot % 2);
        add_stream(slot, is_blocking ? ORACLE_BLOCKING : ORACLE_NONBLOCKING, slot % 2);
    }
    for (int event = 0; event < EVENTS; event++)
        world.events[event] = ORACLE_NONE;
    for (int buffer = 0; buffer < BUFFERS; buffer++)
        renew_buffer(buffer, (uint8_t)buffer);
}

/* With both contexts idle nothing may be left. */
static void end_world(void)
{
    struct action none = {0};
    if (world.point_taken)
        sc_track_release_point(&tracker, &world.point);
    sync_scope(world.slots[0], SC_SCOPE_CONTEXT);
    sync_scope(world.slots[1], SC_SCOPE_CONTEXT);
    for (int buffer = 0; buffer < BUFFERS; buffer++)
        compare_buffer(buffer);
    for (int i = 0; i < world.hold_count; i++)
        do_reap(&none);
    compare_watch();
    compare_pages();
    if (tracker.inflight.guards.pool.live || tracker.inflight.copies.live)
        complain("pages are left protected, or copies of them kept");
    if (tracker.holds.oldest || tracker.holds.held_bytes || tracker.inflight.ops.live)
        complain("something is left");
    LOCKED(&tracker, sc_staging_end(&staging));
    for (int i = 2; i < world.graph.stream_count; i++)
        if (sc_order_stream(&tracker.order, id_of(i))->references)
            complain("stream %d is still referred to", i);
    destroy_track(&tracker);
}

/* True if the tracker agrees with the oracle; otherwise world.complaint says where not. */
static bool run_program(const struct action *actions, size_t count)
{
    static const struct action none;
    begin_world(count ? &actions[0] : &none);
    for (size_t i = 0; i < count && !world.complaint[0]; i++) {
        perform(&actions[i]);
        compare_buffer(actions[i].b % BUFFERS);
        compare_watch();
        compare_pages();
    }
    end_world();
    return !world.complaint[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct action actions[ACTIONS_MAX];
    size_t count = size_bytes / sizeof *actions;
    if (count > ACTIONS_MAX)
        count = ACTIONS_MAX;
    memcpy(actions, data, count * sizeof *actions);
    if (!run_program(actions, count)) {
        fprintf(stderr, "%s\n", world.complaint);
        abort();
    }
    return 0;
}

#ifdef SC_FUZZ_STANDALONE

static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

/* Half of the programs keep to few streams, events, buffers and shapes: their actions meet more
 * often. */
static size_t make_program(uint64_t seed, struct action *actions)
{
    uint64_t state = seed;
    size_t count = 8 + next_random(&state) % (ACTIONS_MAX - 7);
    unsigned variety = next_random(&state) % 2 ? 3 + next_random(&state) % 6 : 256;
    uint64_t few_a = next_random(&state);
    uint64_t few_b = next_random(&state);
    uint64_t few_c = next_random(&state);
    for (size_t i = 0; i < count; i++) {
        uint64_t word = next_random(&state);
        unsigned pick_a = (unsigned)(word >> 32) % variety;
        unsigned pick_b = (unsigned)(word >> 40) % variety;
        unsigned pick_c = (unsigned)(word >> 48) % variety;
        memcpy(&actions[i], &word, sizeof actions[i]);
        if (pick_a < 8)
            actions[i].a = (uint8_t)((actions[i].a & ~7u) | (few_a >> pick_a * 8 & 7));
        if (pick_b < 8)
            actions[i].b = (uint8_t)(few_b >> pick_b * 8);
        if (pick_c < 8)
            actions[i].c = (uint8_t)((actions[i].c & ~15u) | (few_c >> pick_c * 8 & 15));
    }
    return count;
}

/* Leaves out what can be left out, in ever smaller pieces. */
static size_t minimise(struct action *actions, size_t count)
{
    struct action shorter[ACTIONS_MAX];
    for (size_t piece = ACTIONS_MAX / 2; piece > 0; piece /= 2)
        for (size_t at = 0; at + piece <= count;) {
            memcpy(shorter, actions, at * sizeof *actions);
            memcpy(shorter + at, actions + at + piece, (count - at - piece) * sizeof *actions);
            if (run_program(shorter, count - piece)) {
                at++;
            } else {
                count -= piece;
                memcpy(actions, shorter, count * sizeof *actions);
            }
        }
    return count;
}

static void report_failure(uint64_t seed, struct action *actions, size_t count)
{
    count = minimise(actions, count);
    trace = stdout;
    printf(
        "seed %llu fails; shortest form (streams 0 and 1 are legacy, 2 and 4 blocking, 3 and 5 in "
        "half of the programs, 6 and 7 non-blocking, context = number %% 2):\n",
        (unsigned long long)seed);
    run_program(actions, count);
    printf("%s\n", world.complaint);
}

/* A sanitizer makes a program take up to twenty times as long. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { PROGRAMS = 2000 };
#else
enum { PROGRAMS = 10000 };
#endif

int main(int argc, char **argv)
{
    unsigned long programs = argc > 1 ? strtoul(argv[1], NULL, 0) : PROGRAMS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    struct action actions[ACTIONS_MAX];
    changes_bytes = kernel_peeks();
    for (unsigned long i = 0; i < programs; i++) {
        size_t count = make_program(seed + i, actions);
        if (!run_program(actions, count)) {
            report_failure(seed + i, actions, count);
            printf("%lu passed, 1 failed\n", i);
            return EXIT_FAILURE;
        }
    }
    printf("%lu passed, 0 failed\n", programs);
    return EXIT_SUCCESS;
}

#endif
