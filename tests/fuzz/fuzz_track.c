/* Random programs against the tracker, compared with an oracle that knows no vector clocks.
 *
 * A program is a string of bytes, four to an action: copies, other work, records, waits,
 * synchronises, frees, over two contexts with their legacy stream and three more streams each.
 * The oracle (oracle.h) must agree with the tracker on which operations conflict at every issue,
 * which are in flight at every free, which hold ends next, and that nothing is left.
 *
 *   fuzz_track [programs] [seed]    program i has the seed `seed + i`
 */
#include "track/track.h"

#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 8, /* streams at a time: 0 and 1 are the contexts' legacy streams */
    EVENTS = 8,
    BUFFERS = 6,
    BUFFER_BYTES = 0x1000,
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
    struct sc_op_info info;
};

struct buffer {
    int range;
    enum sc_buffer_kind kind;
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
    int copy_count, hold_count, ranges_made;
    int slots[SLOTS];
    int events[EVENTS]; /* the node of the record */
    bool point_taken;
    struct sc_point point;
    struct oracle_set point_nodes;
    char complaint[256];
} world;

static struct sc_track tracker;
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
    return (uintptr_t)0x7f0000000000 + (uintptr_t)buffer * BUFFER_BYTES;
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

/* Frees go by the hull: from the first byte of the first row to the last of the last. */
static bool lies_in(const struct sc_op_info *info, uintptr_t address, size_t size_bytes)
{
    const struct sc_shape *shape = &info->shape;
    uintptr_t end = shape->address + (shape->rows - 1) * shape->pitch_bytes + shape->width_bytes;
    return shape->address < address + size_bytes && address < end;
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
    for (unsigned i = 0; i < found->count && i < SC_TRACK_OPS_MAX; i++) {
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
    struct sc_ops found;
    struct sc_range_info range = sc_track_find_range(&tracker, buffer_address(buffer) + 1);
    if (!range.range != !world.buffers[buffer].range ||
        (range.range &&
         (range.kind != world.buffers[buffer].kind || range.address != buffer_address(buffer))))
        complain("the range of buffer %d is wrong", buffer);
    find_in_flight(buffer_address(buffer), BUFFER_BYTES, expected);
    sc_track_in_flight(&tracker, buffer_address(buffer), BUFFER_BYTES, &found);
    compare("in flight", &found, expected);
    for (int i = 0; i < world.copy_count; i++)
        watched |= expected[i] && is_heap(world.copies[i].info.kind);
    if (watched && !sc_track_may_be_busy(&tracker, buffer_address(buffer), BUFFER_BYTES))
        complain("buffer %d may well be busy", buffer);
    if (sc_track_is_held(&tracker, buffer_address(buffer), BUFFER_BYTES) !=
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
    if ((atomic_load(&tracker.libc_watch) != 0) != watch)
        complain("libc_watch is %d", !watch);
    if (sc_track_awaited(&tracker, NULL, 0) != awaited)
        complain("holds wait for %u tickets, not %u", sc_track_awaited(&tracker, NULL, 0), awaited);
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

static struct sc_shape shape_in(int buffer, uint8_t choice)
{
    static const struct {
        size_t offset, width, pitch, rows;
    } shapes[16] = {
        {0x000, 0x1000, 0x1000, 1}, {0x000, 0x800, 0x800, 1}, {0x800, 0x800, 0x800, 1},
        {0x200, 0x400, 0x400, 1},   {0x5ff, 0x1, 0x1, 1},     {0x600, 0x1, 0, 1},
        {0x000, 0x40, 0x100, 16},   {0x040, 0x40, 0x100, 16}, {0x0c0, 0x40, 0x100, 15},
        {0x020, 0x40, 0x100, 8},    {0x800, 0x80, 0x200, 4},  {0x000, 0x10, 0x180, 10},
        {0x0c0, 0x60, 0x180, 3},    {0x3c0, 0x100, 0x100, 2}, {0x0c0, 0x140, 0x140, 1},
        {0x000, 0x1000, 0x1000, 1},
    };
    return (struct sc_shape){buffer_address(buffer) + shapes[choice % 16].offset,
                             shapes[choice % 16].width, shapes[choice % 16].pitch,
                             shapes[choice % 16].rows};
}

static bool conflict(const struct copy *earlier, const struct copy *later,
                     const struct oracle_set *before)
{
    return in_flight(earlier) && earlier->stream != later->stream && !before->has[earlier->node] &&
           (writes_host(&earlier->info) || writes_host(&later->info)) &&
           share_a_byte(&earlier->info.shape, &later->info.shape);
}

static void do_copy(const struct action *action)
{
    static const enum sc_direction directions[4] = {SC_H2D, SC_D2H, SC_H2D, SC_MEMSET};
    struct copy *copy = &world.copies[world.copy_count];
    struct oracle_set before = {{false}};
    bool expected[ACTIONS_MAX] = {false};
    struct sc_ops conflicts;
    struct sc_issued issued;
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
    };
    say("copy %d: stream %d, buffer %d, %s, shape %d", world.copy_count, copy->stream, copy->buffer,
        sc_hazard_direction_string(copy->info.direction), action->c % 16);
    copy->node = oracle_add_node(&world.graph, copy->stream);
    oracle_reach(&world.graph, copy->node, &before);
    for (int i = 0; i < world.copy_count; i++)
        expected[i] = conflict(&world.copies[i], copy, &before);
    sc_track_conflicts(&tracker, &copy->info, &conflicts);
    compare("conflicts", &conflicts, expected);
    sc_track_issue(&tracker, &copy->info, &issued);
    compare("conflicts at issue", &issued.conflicts, expected);
    for (int i = 0; i < world.copy_count; i++)
        world.copies[i].tracked &= !equal_copies(&world.copies[i], copy);
    world.copy_count++;
}

static void do_work(const struct action *action)
{
    say("work: stream %d", stream_in(action->a));
    oracle_add_node(&world.graph, stream_in(action->a));
    sc_track_work(&tracker, id_of(stream_in(action->a)));
}

static void do_record(const struct action *action)
{
    int event = action->b % EVENTS;
    struct sc_point point = sc_track_record_point(&tracker, id_of(stream_in(action->a)));
    say("record: stream %d, event %d", stream_in(action->a), event);
    world.events[event] = oracle_add_node(&world.graph, stream_in(action->a));
    sc_track_set_event(&tracker, event_handle(event), &point);
}

static void do_wait(const struct action *action)
{
    int event = action->b % EVENTS;
    say("wait: stream %d, event %d", stream_in(action->a), event);
    oracle_add_wait(&world.graph, stream_in(action->a), world.events[event]);
    sc_track_wait(&tracker, id_of(stream_in(action->a)), event_handle(event));
}

/* A successful query is the same to the tracker, here and below. */
static void do_event_sync(const struct action *action)
{
    int event = action->b % EVENTS;
    struct oracle_set reached = {{false}};
    struct sc_point point = sc_track_event_point(&tracker, event_handle(event));
    say("synchronise event %d", event);
    oracle_reach(&world.graph, world.events[event], &reached);
    oracle_know(&world.graph, &reached);
    sc_track_known(&tracker, &point, NULL);
}

/* What a synchronise of this scope waits for, as of now. */
static void reach_scope(int stream, enum sc_scope scope, struct oracle_set *reached)
{
    static const enum oracle_scope scopes[] = {[SC_SCOPE_STREAM] = ORACLE_STREAM_SCOPE,
                                               [SC_SCOPE_LEGACY] = ORACLE_LEGACY_SCOPE,
                                               [SC_SCOPE_CONTEXT] = ORACLE_CONTEXT_SCOPE};
    oracle_reach_scope(&world.graph, stream, scopes[scope], reached);
}

static void sync_scope(int stream, enum sc_scope scope)
{
    struct oracle_set reached;
    struct sc_point point = sc_track_point(&tracker, id_of(stream), scope);
    reach_scope(stream, scope, &reached);
    oracle_know(&world.graph, &reached);
    sc_track_known(&tracker, &point, NULL);
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
        world.point = sc_track_point(&tracker, id_of(stream), scope);
        reach_scope(stream, scope, &world.point_nodes);
    } else if (action->c % 4) {
        say("end that synchronise");
        oracle_know(&world.graph, &world.point_nodes);
        sc_track_known(&tracker, &world.point, NULL);
    } else {
        say("that synchronise fails");
        sc_track_forget_point(&tracker, &world.point);
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
    sc_track_forget_event(&tracker, event_handle(action->b % EVENTS));
}

/* Another allocation at the same address; pageable memory has no range. */
static void renew_buffer(int buffer, uint8_t choice)
{
    static const enum sc_buffer_kind kinds[4] = {SC_PINNED, SC_REGISTERED, SC_PINNED, SC_PAGEABLE};
    enum sc_buffer_kind kind = kinds[choice % 4];
    world.buffers[buffer] = (struct buffer){kind == SC_PAGEABLE ? 0 : ++world.ranges_made, kind};
    if (kind != SC_PAGEABLE)
        sc_track_add_range(&tracker, buffer_address(buffer), BUFFER_BYTES, kind, 0);
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
        sc_track_remove_range(&tracker, buffer_address(buffer));
    renew_buffer(buffer, action->c);
}

static void remember_hold(const struct sc_take_down *request, const bool *expected)
{
    struct hold *hold = &world.holds[world.hold_count++];
    *hold = (struct hold){.id = request->held,
                          .kind = request->kind,
                          .address = request->address,
                          .size_bytes = request->size_bytes};
    memcpy(hold->waits_for, expected, sizeof hold->waits_for);
}

static void take_down(struct sc_take_down *request)
{
    bool expected[ACTIONS_MAX] = {false};
    bool any = is_held(request->address, request->size_bytes, false);
    find_in_flight(request->address, request->size_bytes, expected);
    for (int i = 0; i < world.copy_count; i++)
        any |= expected[i];
    bool full = request->kind != SC_HOLD_WAIT && request->max_held_bytes == 0;
    sc_track_take_down(&tracker, request);
    compare("take down", &request->found, expected);
    if ((request->held != 0) != (request->hold && any && !full))
        complain("take down: hold %u", request->held);
    if (request->must_wait != (request->hold && any && full))
        complain("take down: must_wait is %d", request->must_wait);
    for (int i = 0; i < world.copy_count && !request->must_wait; i++)
        world.copies[i].tracked &= !expected[i];
    if (request->held)
        remember_hold(request, expected);
}

static void do_free(const struct action *action)
{
    static const enum sc_hold_kind kinds[4] = {SC_HOLD_FREE, SC_HOLD_UNMAP, SC_HOLD_FREE_PINNED,
                                               SC_HOLD_WAIT};
    int buffer = action->b % BUFFERS;
    struct sc_take_down request = {
        .address = buffer_address(buffer),
        .size_bytes = BUFFER_BYTES,
        .hold = action->a & 1,
        .kind = kinds[action->a / 2 % 4],
        .max_held_bytes = action->a >> 5 ? UINT64_MAX : 0,
    };
    say("free buffer %d, %s, kind %d, max_held %s; then it has kind %d", buffer,
        request.hold ? "hold" : "no hold", (int)request.kind,
        request.max_held_bytes ? "enough" : "0", action->c % 4);
    take_down(&request);
    if (request.must_wait)
        return;
    sc_track_remove_range(&tracker, request.address);
    renew_buffer(buffer, action->c);
}

static void do_unmap_part(const struct action *action)
{
    struct sc_take_down request = {
        .address = buffer_address(action->b % BUFFERS) + (action->c % 16) * 0x100u,
        .size_bytes = 0x80 + (size_t)(action->c / 16) * 0x100,
        .hold = action->a & 1,
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
        world.copies[i].complete |= world.copies[i].stream == copy->stream;
    sc_track_complete(&tracker, id_of(copy->stream), copy->info.ticket.number);
}

static bool is_ready(const struct hold *hold)
{
    bool ready = !hold->ended && count_awaited(hold) == 0;
    for (const struct hold *older = world.holds; older < hold; older++)
        ready &= older->ended || older->address >= hold->address + hold->size_bytes ||
                 hold->address >= older->address + older->size_bytes;
    return ready;
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
    sc_track_end_hold(&tracker, release.hold);
}

/* The weights add up to 256: every value of `code` is an action. */
static const struct {
    unsigned weight;
    void (*run)(const struct action *action);
} menu[] = {
    {64, do_copy},       {20, do_work},         {30, do_record},       {34, do_wait},
    {12, do_event_sync}, {12, do_stream_sync},  {4, do_legacy_sync},   {6, do_context_sync},
    {12, do_slow_sync},  {20, do_recycle},      {4, do_event_destroy}, {18, do_free},
    {5, do_unmap_part},  {5, do_replace_range}, {5, do_complete},      {5, do_reap},
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

static void begin_world(void)
{
    memset(world.complaint, 0, sizeof world.complaint);
    world.graph.node_count = world.graph.stream_count = world.copy_count = 0;
    world.hold_count = world.ranges_made = 0;
    world.point_taken = false;
    if (sc_track_init(&tracker)) {
        fputs("no memory\n", stderr);
        exit(2);
    }
    add_stream(0, ORACLE_LEGACY, 0);
    add_stream(1, ORACLE_LEGACY, 1);
    for (int slot = 2; slot < SLOTS; slot++)
        add_stream(slot, slot < 6 ? ORACLE_BLOCKING : ORACLE_NONBLOCKING, slot % 2);
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
        sc_track_forget_point(&tracker, &world.point);
    sync_scope(world.slots[0], SC_SCOPE_CONTEXT);
    sync_scope(world.slots[1], SC_SCOPE_CONTEXT);
    for (int buffer = 0; buffer < BUFFERS; buffer++)
        compare_buffer(buffer);
    for (int i = 0; i < world.hold_count; i++)
        do_reap(&none);
    compare_watch();
    if (sc_track_has_holds(&tracker) || tracker.holds.held_bytes || tracker.inflight.ops.live)
        complain("something is left");
    for (int i = 2; i < world.graph.stream_count; i++)
        if (sc_order_stream(&tracker.order, id_of(i))->references)
            complain("stream %d is still referred to", i);
    sc_track_destroy(&tracker);
}

/* True if the tracker agrees with the oracle; otherwise world.complaint says where not. */
static bool run_program(const struct action *actions, size_t count)
{
    begin_world();
    for (size_t i = 0; i < count && !world.complaint[0]; i++) {
        perform(&actions[i]);
        compare_buffer(actions[i].b % BUFFERS);
        compare_watch();
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

/* Half of the programs keep to few streams, events and buffers: their actions meet more often. */
static size_t make_program(uint64_t seed, struct action *actions)
{
    uint64_t state = seed;
    size_t count = 8 + next_random(&state) % (ACTIONS_MAX - 7);
    unsigned variety = next_random(&state) % 2 ? 3 + next_random(&state) % 6 : 256;
    uint64_t few_a = next_random(&state);
    uint64_t few_b = next_random(&state);
    for (size_t i = 0; i < count; i++) {
        uint64_t word = next_random(&state);
        unsigned pick_a = (unsigned)(word >> 32) % variety;
        unsigned pick_b = (unsigned)(word >> 48) % variety;
        memcpy(&actions[i], &word, sizeof actions[i]);
        if (pick_a < 8)
            actions[i].a = (uint8_t)((actions[i].a & ~7u) | (few_a >> pick_a * 8 & 7));
        if (pick_b < 8)
            actions[i].b = (uint8_t)(few_b >> pick_b * 8);
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
    printf("seed %llu fails; shortest form (streams 0 and 1 are legacy, 2 to 5 blocking, 6 and 7 "
           "non-blocking, context = number %% 2):\n",
           (unsigned long long)seed);
    run_program(actions, count);
    printf("%s\n", world.complaint);
}

int main(int argc, char **argv)
{
    unsigned long programs = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    struct action actions[ACTIONS_MAX];
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
