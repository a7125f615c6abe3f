// timeout: 300
// cflags: -fno-builtin-malloc -fno-builtin-free
/* Random programs of batch copies through the whole library, on the simulated GPU:
 *
 *   LD_LIBRARY_PATH=out/sim LD_PRELOAD=out/libsafecopy.so out/tests/fuzz/random_batches [N [SEED]]
 *
 * N programs, in turn in both modes and on devices that read the sources of batches early or late
 * (random_jobs.h). What must arrive and what must be reported is told by the contract of batches,
 * whenever the driver reads, save for what it completes in the call. A program of the class
 * `correct` does before everything that would be a hazard what establishes the order, and then none
 * may be reported.
 */
#include "random_batch_world.h"

#include "random_ledger.h"

#include "random_batch_order.h"

#include "random_batch_device.h"

#include "random_batch_memory.h"

#include "random_batch_picks.h"

#include "random_batch_copies.h"

#include "random_batch_calls.h"

#include "random_batch_extras.h"

#include "random_jobs.h"

static const struct setting settings[] = {
    {"strict", "late=1:late_limit=2ms:late_batch=1", NULL, 0},
    {"fix", "late=1:late_limit=2ms", NULL, 0},
    {"report", "late=1:late_limit=2ms:late_batch=1", NULL, 0},
    {"strict", "delay=20us:seed=%", NULL, 0},
    {"fix", "late=1:late_limit=2ms:late_batch=1:pageable_access=1", NULL, 0},
    {"report", "delay=0", NULL, 0},
    {"strict", "late=1:late_limit=2ms:pageable_access=1", NULL, 0},
    {"fix", "delay=20us:seed=%:late_batch=1", NULL, 0},
    {"report", "late=1:late_limit=2ms:pageable_access=1", NULL, 0},
    {"strict", "late=1:late_limit=2ms", NULL, 0},
    /* Later ones come behind, so that those above stay what they are in once_wrong. */
    {"strict", "late=1:late_limit=2ms:late_batch=1", "device=1", SHARED},
    {"report", "late=1:late_limit=2ms", "device=1", SHARED},
    {"fix", "delay=20us:seed=%", "device=1", SHARED},
    {"report", "delay=20us:seed=%:late_batch=1", "device=1", SHARED},
    {"strict", "delay=5us:bandwidth=500M:pageable_access=1", "device=1", SHARED},
};

/* ---- the menu ---- */

static void act_record(void)
{
    do_record(below(STREAMS), below(EVENTS));
}

static void act_wait(void)
{
    do_wait(below(STREAMS), below(EVENTS));
}

static void act_sync(void)
{
    switch (below(5)) {
    case 0:
        do_context_sync();
        break;
    case 1:
        do_stream_sync(below(STREAMS));
        break;
    case 2:
        do_stream_query(below(STREAMS));
        break;
    case 3:
        do_event_sync(below(EVENTS));
        break;
    default:
        ask_event(below(EVENTS));
        break;
    }
}

static const struct {
    int weight;
    void (*run)(void);
} menu[] = {
    {40, act_batch},  {8, act_record}, {6, act_wait},         {6, act_sync},
    {30, act_touch},  {10, act_free},  {4, act_renew},        {6, act_local},
    {5, act_refused}, {2, act_fill},   {20, act_fill_shared}, /* the last one, where blocks are
                                                                 shared */
};

static void act(void)
{
    int total = 0;
    for (size_t i = 0; i < sizeof menu / sizeof *menu - !world.shares_device; i++)
        total += menu[i].weight;
    int choice = below(total);
    size_t at = 0;
    while (choice >= menu[at].weight)
        choice -= menu[at++].weight;
    menu[at].run();
}

/* ---- programs ---- */

static void start_device(void)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&world.device, SOURCE_BYTES + RESULT_BYTES));
    fill_random(world.source, SOURCE_BYTES);
    CHECK(cuMemcpyHtoD(world.device, world.source, SOURCE_BYTES));
    if (world.shares_device)
        make_shared_blocks();
    CHECK(cuCtxSynchronize());
}

static void begin_program(uint64_t seed)
{
    world.random = world.seed = seed;
    world.correct = below(10) < 4;
    world.op_count = world.arrival_count = world.block_count = 0;
    world.result_used = 0;
    device_uses.count = 0;
    oracle_begin(&world.oracle);
    if (trace)
        printf("seed %llu, %s:\n", (unsigned long long)seed,
               world.correct ? "correct" : "with hazards");
    for (int slot = 0; slot < STREAMS; slot++) {
        bool blocking = one_in(3);
        CHECK(cuStreamCreate(&world.slots[slot].handle,
                             blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
        world.slots[slot].stream =
            oracle_add_stream(&world.oracle, blocking ? ORACLE_BLOCKING : ORACLE_NONBLOCKING, 0);
    }
    note_all_clear();
    for (int event = 0; event < EVENTS; event++) {
        CHECK(cuEventCreate(&world.events[event].handle, CU_EVENT_DISABLE_TIMING));
        world.events[event].node = ORACLE_NONE;
    }
    for (int at = 0; at < BUFFERS; at++)
        add_buffer(at, at % KINDS);
}

static void end_program(void)
{
    do_context_sync();
    CHECK(cuMemcpyDtoH(world.landed, world.device + SOURCE_BYTES, RESULT_BYTES));
    for (int i = 0; i < world.arrival_count && data_is_defined(); i++) {
        const struct arrival *arrival = &world.arrivals[i];
        compare("what the device got from node", arrival->node, world.landed + arrival->offset,
                world.results + arrival->offset, arrival->size_bytes);
    }
    check_shared_blocks();
    for (int at = 0; at < BUFFERS; at++) {
        struct buffer *buffer = &world.buffers[at];
        if (!buffer->alive)
            continue;
        check_buffer(at);
        buffer->alive = false;
        give_memory(buffer->kind, buffer->bytes, buffer->size_bytes, true);
    }
    for (int i = 0; i < world.block_count; i++) {
        const struct block *block = &world.blocks[i];
        check_block(i);
        give_memory(block->kind, block->bytes, block->size_bytes, true);
    }
    for (int slot = 0; slot < STREAMS; slot++)
        CHECK(cuStreamDestroy(world.slots[slot].handle));
    for (int event = 0; event < EVENTS; event++)
        CHECK(cuEventDestroy(world.events[event].handle));
    check_ledger();
}

static void run_program(uint64_t seed)
{
    begin_program(seed);
    for (int left = 8 + below(40); left > 0 && world.oracle.node_count < NODES_ENOUGH; left--)
        act();
    check_ledger();
    end_program();
}

static void run(unsigned long count, uint64_t seed, const char *mode, unsigned kinds)
{
    world.shares_device = kinds & SHARED;
    world.exact = strcmp(mode, "fix") != 0;
    world.is_in_place = strstr(getenv("SIM_GPU"), "pageable_access=1");
    world.healed = strcmp(mode, "report") != 0;
    start_device();
    for (unsigned long i = 0; i < count; i++)
        run_program(seed + i);
}

/* The driver's own thread stores into a page that is guarded, and was taken for the program's. */
static const struct once_wrong once_wrong[] = {{911091604, 0}};

int main(int argc, char **argv)
{
    static const struct lot programs = {
        .settings = settings,
        .setting_count = sizeof settings / sizeof *settings,
        .program_count = 6000,
        .run = run,
        .once_wrong = once_wrong,
        .once_wrong_count = sizeof once_wrong / sizeof *once_wrong,
    };
    return run_lot(argc, argv, &programs);
}
