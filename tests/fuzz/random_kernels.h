/* Kernels with addresses among their parameters, where `kernels` asks for them: of device memory,
 * held against copies, memsets, allocations and frees (SC501, SC502), and of buffers, held against
 * what copies, frees and the host do there. With kernels=order they are put in order and waited
 * for.
 *
 * A kernel is a use of one byte for each address, which merely reads (random_device.h); of a buffer
 * it is a copy of one byte that goes nowhere. It does nothing. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_KERNELS_H
#define SC_TESTS_FUZZ_RANDOM_KERNELS_H

enum { KERNEL_ADDRESSES = 3, FLAG_BYTES = 64 /* and less are no buffer to the library */ };

/* Of three addresses, of a number that is none, and of a structure with one more address. */
static const char idle_kernel_text[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry idle(\n"
    "    .param .u64 first,\n    .param .u32 number,\n    .param .u64 second,\n"
    "    .param .align 8 .b8 packed[16])\n"
    "{\n    ret;\n}\n";

static CUfunction idle_kernel;

static void load_kernel(void)
{
    CUmodule module;
    CHECK(cuModuleLoadData(&module, idle_kernel_text));
    CHECK(cuModuleGetFunction(&idle_kernel, module, "idle"));
}

struct launch_uses {
    int slot, count, device_count, host_count;
    CUdeviceptr addresses[KERNEL_ADDRESSES];
    struct device_use device[KERNEL_ADDRESSES];
    struct copy host[KERNEL_ADDRESSES];
};

/* The library asks about an address once. */
static bool takes_address(struct launch_uses *launch, CUdeviceptr address)
{
    for (int i = 0; i < launch->count; i++)
        if (launch->addresses[i] == address)
            return false;
    launch->addresses[launch->count++] = address;
    return true;
}

static void take_device_address(struct launch_uses *launch, int at)
{
    struct device_use use = use_of(at, launch->slot, true);
    use.size_bytes = 1;
    use.offset += one_in(4) ? (size_t)below(DEVICE_BLOCK_BYTES / 4) : 0;
    use.is_kernel = true;
    if (takes_address(launch, address_of_use(&use)))
        launch->device[launch->device_count++] = use;
}

static void pick_device_address(struct launch_uses *launch)
{
    int at = below(DEVICE_BLOCKS);
    if (world.watches_device && shared.blocks[at].alive)
        take_device_address(launch, at);
}

static void draw_device_address(struct launch_uses *launch)
{
    int at = below(DEVICE_BLOCKS);
    if (can_use_device(at) && shared.blocks[at].alive)
        take_device_address(launch, at);
}

static void take_host_address(struct launch_uses *launch, int at)
{
    struct copy copy = {.direction = KERNEL, .slot = launch->slot, .buffer = at};
    const struct buffer *buffer = &world.buffers[copy.buffer];
    if (buffer->size_bytes <= FLAG_BYTES)
        return;
    copy.stream = world.slots[copy.slot].stream;
    copy.life = buffer->life;
    copy.size_bytes = 1;
    copy.offset = one_in(2) ? 0 : (size_t)below((int)buffer->size_bytes);
    copy.address = (uintptr_t)buffer->bytes + copy.offset;
    if (takes_address(launch, copy.address))
        launch->host[launch->host_count++] = copy;
}

static void pick_host_address(struct launch_uses *launch)
{
    int at = pick_buffer(below(KINDS));
    if (at != NOBODY)
        take_host_address(launch, at);
}

static void draw_host_address(struct launch_uses *launch)
{
    int at = pick_buffer(below(KINDS));
    if (at != NOBODY && !capture.open && world.copy_count + KERNEL_ADDRESSES <= COPIES_MAX &&
        count_in_flight(at) + KERNEL_ADDRESSES <= PER_BUFFER_MAX)
        take_host_address(launch, at);
}

/* What orders one of them may be work that the others come behind. */
static void order_before_launch(const struct launch_uses *launch)
{
    for (int round = 0; round < launch->count; round++) {
        for (int i = 0; i < launch->device_count; i++)
            order_before_use(&launch->device[i]);
        for (int i = 0; i < launch->host_count && world.correct; i++)
            avoid_conflicts(&launch->host[i]);
    }
}

/* What is no address that is known, and what was given twice, is nothing. */
static void call_kernel(const struct launch_uses *launch)
{
    struct {
        uint64_t number;
        CUdeviceptr address;
    } packed = {(uintptr_t)world.scratch, 0};
    CUdeviceptr first = launch->addresses[0], second = first;
    unsigned number = (unsigned)draw();
    void *parameters[] = {&first, &number, &second, &packed};
    if (launch->count > 1)
        second = launch->addresses[1];
    if (launch->count > 2)
        packed.address = launch->addresses[2];
    CHECK(cuLaunchKernel(idle_kernel, 1, 1, 1, 1, 1, 1, 0, world.slots[launch->slot].handle,
                         parameters, NULL));
}

static void say_uses(const char *what, const struct launch_uses *launch)
{
    say("%s on slot %d; node %d", what, launch->slot, world.oracle.node_count);
    for (int i = 0; i < launch->device_count; i++)
        say("  of device block %d at %zu", launch->device[i].block, launch->device[i].offset);
    for (int i = 0; i < launch->host_count; i++)
        say("  of buffer %d at %zu", launch->host[i].buffer, launch->host[i].offset);
}

static void judge_uses(struct launch_uses *launch, int node)
{
    for (int i = 0; i < launch->device_count; i++)
        judge_use(&launch->device[i], node);
    for (int i = 0; i < launch->host_count; i++) {
        launch->host[i].node = node;
        meet_unordered(&launch->host[i], node);
        meet_unhealed(&launch->host[i], node);
    }
    for (int i = 0; i < launch->host_count; i++)
        seal_for_kernel(&launch->host[i], node);
}

/* The host's come first, with a mark behind them. */
static void keep_uses(struct launch_uses *launch, int node)
{
    for (int i = 0; i < launch->host_count; i++) {
        protect(&launch->host[i]);
        keep_copy(&launch->host[i]);
    }
    if (launch->host_count)
        note_marked(launch->slot);
    for (int i = 0; i < launch->device_count; i++)
        keep_use(launch->device[i], node);
}

static void launch_kernel(struct launch_uses *launch)
{
    order_before_launch(launch);
    say_uses("kernel", launch);
    int stream = enter(launch->slot);
    int node = oracle_add_node(&world.oracle, stream);
    note_unclear(stream);
    judge_uses(launch, node);
    call_kernel(launch);
    keep_uses(launch, node);
    leave(launch->slot);
}

static void act_kernel(void)
{
    struct launch_uses launch = {.slot = pick_slot()};
    int wanted = 1 + below(KERNEL_ADDRESSES);
    for (int i = 0; i < wanted && world.kernels; i++) {
        if (one_in(2))
            draw_device_address(&launch);
        else
            draw_host_address(&launch);
    }
    if (launch.count)
        launch_kernel(&launch);
}

#endif
