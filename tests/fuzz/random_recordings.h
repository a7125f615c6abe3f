/* A capture from begin to end: what is captured, on one stream or two, and what happens meanwhile.
 *
 * Other actions come between, by the capturing thread or, if that is the main one, by another: in
 * mode=fix all of them but those that no capture survives, whatever it permits. In mode=report a
 * call that breaks the capture is its last. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_RECORDINGS_H
#define SC_TESTS_FUZZ_RANDOM_RECORDINGS_H

/* ---- nodes ---- */

static bool clash(const struct graph_node *a, const struct graph_node *b)
{
    return a->branch != b->branch && a->memory == b->memory &&
           (a->direction != H2D || b->direction != H2D) && a->offset < b->offset + b->size_bytes &&
           b->offset < a->offset + a->size_bytes;
}

/* Would the order of two branches decide what comes of it? `but`: the node that it stands for, or
 * NOBODY. */
static bool clashes(const struct graph_nodes *nodes, int but, const struct graph_node *node)
{
    bool found = false;
    for (int i = 0; i < nodes->count; i++)
        found |= i != but && clash(node, &nodes->list[i]);
    return found;
}

/* The memory of a node whose direction is known; false if there is none. */
static bool pick_memory(struct graph_node *node)
{
    struct copy copy = {.direction = node->direction};
    bool pageable = copy.direction != MEMSET && one_in(5);
    int at =
        pageable ? below(PAGEABLES) : pick_buffer(copy.direction == MEMSET ? PINNED : pick_kind());
    struct buffer *buffer = pageable ? &pageables[at] : &world.buffers[at == NOBODY ? 0 : at];
    if (at == NOBODY || !buffer->alive)
        return false;
    pick_bytes(&copy, buffer->size_bytes);
    node->buffer = buffer;
    node->memory = buffer->memory;
    node->freed = false;
    node->offset = copy.offset;
    node->size_bytes = copy.size_bytes;
    node->address = (uintptr_t)buffer->bytes + copy.offset;
    return true;
}

static struct cell *add_cell(const struct graph_node *node)
{
    if (cell_count == CELLS || world.device_used + node->size_bytes > DEVICE_BYTES)
        return NULL;
    struct cell *cell = &cells[cell_count++];
    *cell = (struct cell){.size_bytes = node->size_bytes,
                          .device_offset = world.device_used,
                          .address = node->address,
                          .written_by = ORACLE_NONE};
    world.device_used += node->size_bytes;
    return cell;
}

/* What it moves; false if there is no room for it. */
static bool pick_content(struct graph_node *node)
{
    node->cell = node->direction == H2D ? add_cell(node) : NULL;
    if (node->direction == D2H)
        node->device_offset = (size_t)below((int)(SOURCE_BYTES - node->size_bytes));
    else if (node->direction == MEMSET)
        node->value = (unsigned char)draw();
    return node->direction != H2D || node->cell;
}

static void say_node(const char *what, const struct graph_node *node)
{
    bool pageable = is_pageable(node);
    say("%s: %s, %s %d, %zu bytes at %zu", what, direction_names[node->direction],
        pageable ? "pageable" : "buffer",
        (int)(node->buffer - (pageable ? pageables : world.buffers)), node->size_bytes,
        node->offset);
}

/* What the next node of the stream would come after. */
static CUgraphNode last_captured(CUstream stream)
{
    CUstreamCaptureStatus status;
    const CUgraphNode *nodes = NULL;
    size_t count = 0;
    CHECK(cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &count));
    if (count != 1)
        fail("a capturing stream goes on behind %zu nodes", count);
    return nodes[0];
}

/* Do nodes name host memory by unified addresses? A node may be given other memory, also managed
 * memory, which as the host's would be another copy. */
static bool is_unified(void)
{
    return world.kinds & OF_MANAGED;
}

static void capture_copy(const struct graph_node *node, CUstream stream)
{
    void *bytes = (void *)node->address;
    bool is_up = node->direction == H2D;
    CUdeviceptr device = world.device + (is_up ? node->cell->device_offset : node->device_offset);
    if (is_unified())
        CHECK(cuMemcpyAsync(is_up ? device : node->address, is_up ? node->address : device,
                            node->size_bytes, stream));
    else if (is_up)
        CHECK(cuMemcpyHtoDAsync(device, bytes, node->size_bytes, stream));
    else
        CHECK(cuMemcpyDtoHAsync(bytes, device, node->size_bytes, stream));
}

static void capture_node(struct graph *graph, int branch)
{
    struct graph_node node = {.place = next_place(), .branch = branch, .direction = below(7) % 3};
    CUstream stream = world.slots[capture.slots[branch]].handle;
    if (graph->own.count == GRAPH_NODES || graph->own.wait_count || !pick_memory(&node) ||
        clashes(&graph->own, NOBODY, &node) || !pick_content(&node))
        return;
    if (node.direction == MEMSET)
        CHECK(cuMemsetD8Async(node.address, node.value, node.size_bytes, stream));
    else
        capture_copy(&node, stream);
    say_node(branch ? "captured in branch 1" : "captured in branch 0", &node);
    node.name = last_captured(stream);
    graph->own.list[graph->own.count++] = node;
}

/* What the node tells of that was captured last. */
static void note_told(struct graph_nodes *nodes, int told)
{
    for (int i = 0; i < nodes->count; i++)
        if (!nodes->list[i].told)
            nodes->list[i].told = told;
    for (int i = 0; i < nodes->device_count; i++)
        if (!nodes->device[i].told)
            nodes->device[i].told = told;
}

/* KNOWN: of two branches one gets to tell, and what only the other one tells of is not judged; nor
 * is what stands between two records of one event. */
static void capture_record(struct graph *graph)
{
    struct graph_nodes *nodes = &graph->own;
    int event = pick_event();
    if (nodes->record_count == GRAPH_RECORDS || name_event(nodes, event) || nodes->address_count)
        return;
    say("captured: record event %d", event);
    CHECK(cuEventRecordWithFlags(world.events[event].handle, world.slots[capture.slots[0]].handle,
                                 CU_EVENT_RECORD_EXTERNAL));
    nodes->records[nodes->record_count++] = event;
    note_told(nodes, nodes->record_count);
}

/* KNOWN: behind such a node host memory is not judged; and what the graph waits for is taken to
 * come before all nodes, those included that stand before the wait and tell of themselves. */
static void capture_wait(struct graph *graph)
{
    struct graph_nodes *nodes = &graph->own;
    int event = pick_event();
    if (nodes->wait_count == GRAPH_WAITS || name_event(nodes, event) || nodes->address_count ||
        is_told_of(nodes))
        return;
    say("captured: wait for event %d", event);
    CHECK(cuStreamWaitEvent(world.slots[capture.slots[0]].handle, world.events[event].handle,
                            CU_EVENT_WAIT_EXTERNAL));
    note_unclear(world.slots[capture.slots[0]].stream);
    note_other_work(capture.slots[0]);
    nodes->waits[nodes->wait_count++] = event;
}

static void note_run(void *unused)
{
    (void)unused;
    note_function();
    atomic_fetch_add(&hosts_run, 1);
}

/* What would come behind it could wait for it, and is not judged. */
static void capture_host(struct graph *graph)
{
    struct graph_nodes *nodes = &graph->own;
    if (nodes->address_count)
        return;
    say("captured: host function");
    CHECK(cuLaunchHostFunc(world.slots[capture.slots[0]].handle, note_run, NULL));
    nodes->has_host = true;
    note_told(nodes, nodes->record_count + 1);
}

static void capture_work(struct graph *graph, int branch)
{
    if (one_in(2))
        capture_kernel(graph);
    if (world.watches_device) {
        capture_device_node(graph, branch);
        return;
    }
    say("captured in branch %d: device memset", branch);
    CHECK(cuMemsetD8Async(world.device + DEVICE_BYTES, 7, 64,
                          world.slots[capture.slots[branch]].handle));
}

/* ---- what others do meanwhile ---- */

static void act_safe(void)
{
    void (*const actions[])(void) = {act_record, act_wait, act_work, act_copy};
    if (can_name_any())
        actions[below(world.correct ? 3 : 4)]();
}

static void act_sync_copy(void)
{
    if (can_name(0))
        do_sync_copy();
}

static void act_anything(void)
{
    void (*const actions[])(void) = {
        act_copy,        act_copy,         act_copy,           act_record,
        act_wait,        act_event_sync,   act_event_query,    act_work,
        act_stream_sync, act_stream_query, act_callback,       act_pageable_copy,
        act_free,        act_unregister,   act_free_pinned,    act_renew_bytes,
        act_touch,       act_touch,        act_recycle_stream, act_recycle_event,
        act_launch,      act_launch,       act_destroy,        act_instantiate,
        do_context_sync, act_sync_copy,    act_pageable_block, act_touch_at_once,
        act_copy_across,
    };
    if (can_name_any())
        actions[below(sizeof actions / sizeof *actions)]();
}

/* A correct program does only what the capture permits, and in mode=report nothing heals the rest.
 */
static void intrude(void)
{
    bool free_hand =
        world.healed && (!world.correct || capture.mode == CU_STREAM_CAPTURE_MODE_RELAXED);
    int thread = capture.thread == 0 ? below(world.thread_count) : capture.thread;
    if (world.oracle.node_count >= NODES_ENOUGH)
        return;
    run_on(thread, free_hand ? act_anything : act_safe);
}

/* Calls that break the capture where nothing heals it. */
static bool break_capture(void)
{
    CUevent event;
    CUresult wanted = CUDA_SUCCESS, result = CUDA_SUCCESS;
    if (legacy_is_blocked() && one_in(2)) {
        wanted = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        expect_call(LEGACY_IN_CAPTURE, true);
        result = cuMemsetD8Async(device_place(world.slots[0].stream), 7, 64, NULL);
    } else if (is_endangered()) {
        wanted = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        need_permission();
        CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        result = cuEventQuery(event);
        CHECK(cuEventDestroy(event));
    }
    say("a call that should break the capture: %d", (int)result);
    if (result != wanted)
        fail("the call returned %d, not %d", (int)result, (int)wanted);
    return wanted != CUDA_SUCCESS;
}

/* ---- begin and end ---- */

/* Waits in a capture count as work, and as such that may write, too. */
static void wait_in_capture(int waiting, int recorded, CUevent event)
{
    CHECK(cuEventRecord(event, world.slots[recorded].handle));
    CHECK(cuStreamWaitEvent(world.slots[waiting].handle, event, 0));
    note_unclear(world.slots[waiting].stream);
    note_other_work(waiting);
}

static void fork_branch(CUevent event)
{
    int slot = OWN_STREAM + below(STREAMS - OWN_STREAM);
    if (slot >= world.slot_count || slot == capture.slots[0])
        return;
    say("slot %d joins the capture", slot);
    wait_in_capture(slot, capture.slots[0], event);
    capture.slots[1] = slot;
}

static void join_branch(CUevent event)
{
    if (capture.slots[1] != NOBODY)
        wait_in_capture(capture.slots[0], capture.slots[1], event);
}

static void begin_capture(int slot)
{
    static const char *const modes[] = {"global", "thread-local", "relaxed"};
    capture.mode = (CUstreamCaptureMode)below(3);
    capture.thread = world.thread;
    capture.slots[0] = slot;
    capture.slots[1] = NOBODY;
    capture.owes = false;
    say("slot %d begins a capture, %s", slot, modes[capture.mode]);
    meet(slot);
    CHECK(cuStreamBeginCapture(world.slots[slot].handle, capture.mode));
    capture.open = true;
}

static void end_capture(struct graph *graph, bool broken)
{
    CUresult wanted = broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
    CUresult result = cuStreamEndCapture(world.slots[capture.slots[0]].handle, &graph->handle);
    capture.open = capture.owes = false;
    say("the capture has ended: %d", (int)result);
    if (result != wanted || !graph->handle != broken)
        fail("the end of the capture returned %d, not %d", (int)result, (int)wanted);
    if (broken)
        graph->own.count = 0;
}

static void fill_capture(struct graph *graph, CUevent event)
{
    for (int steps = 2 + below(7); steps > 0; steps--) {
        int branch = capture.slots[1] == NOBODY ? 0 : below(2);
        int what = below(world.watches_device ? 10 : 9);
        if (what == 0 || (what == 4 && (world.watches_device || world.kernels)))
            capture_work(graph, branch);
        else if (what == 1 && capture.slots[1] == NOBODY)
            fork_branch(event);
        else if (what == 8 && capture.slots[1] == NOBODY)
            capture_record(graph);
        else if (what == 9 && capture.slots[1] == NOBODY)
            capture_wait(graph);
        else if (what <= 3)
            intrude();
        else
            capture_node(graph, branch);
    }
    if (capture.slots[1] == NOBODY && one_in(5))
        capture_host(graph);
}

static void act_capture(void)
{
    struct graph *graph = pick_graph(is_empty);
    int slot = pick_slot();
    CUevent event;
    if (!graph || slot == 0)
        return;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    graph->own.count = graph->own.record_count = graph->own.wait_count = 0;
    graph->own.device_count = graph->own.address_count = 0;
    graph->own.has_host = false;
    begin_capture(slot);
    graph->is_captured = true;
    fill_capture(graph, event);
    join_branch(event);
    graph->is_captured = false;
    bool breaks = !world.healed && !world.correct && one_in(3);
    end_capture(graph, breaks && break_capture());
    CHECK(cuEventDestroy(event));
    if (graph->handle && graph->own.count == 0)
        destroy_graph(graph);
    else if (graph->handle && one_in(4))
        add_child(graph);
    if (graph->handle && one_in(2))
        instantiate(graph);
}

#endif
